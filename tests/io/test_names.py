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


@pytest.mark.parametrize("use", ["read_corpus", "read_hypotheses", "read_m2", "read_text"])
def test_texts_are_read_without_the_readers_of_judgments(use: str) -> None:
    program = f"import sys, errata.io; errata.io.{use}; print('errata.io.judgments' in sys.modules)"
    assert python_process(program).stdout == "False\n"
