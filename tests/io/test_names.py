"""What `errata.io` offers, and what asking for it brings along."""

from __future__ import annotations

import pytest

import errata.io
from command import python_process


def test_every_name_is_there_and_nothing_else() -> None:
    assert sorted(errata.io._WHERE) == errata.io.__all__ == dir(errata.io)
    for name in errata.io.__all__:
        assert getattr(errata.io, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'read_xml'"):
        errata.io.read_xml  # noqa: B018


def test_texts_are_read_without_the_readers_of_judgments() -> None:
    program = (
        "import sys, errata.io as io\n"
        "io.read_corpus, io.read_hypotheses, io.read_m2, io.read_text\n"
        "print('errata.io.judgments' in sys.modules)"
    )
    assert python_process(program).stdout == "False\n"
