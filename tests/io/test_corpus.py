"""From the files a user names to a corpus and systems."""

from __future__ import annotations

from pathlib import Path

import pytest

import errata.io
from errata.core.errors import DataWarning, InputError
from errata.data import Corpus
from errata.io import read_hypotheses
from errata.io.outputs import system_name
from errata.io.slices import MOST_VALUES, NO_VALUE, read_slices


def test_system_names_come_from_file_names():
    files = ("a/AMU", "AMU.txt", "x/AMU.out.gz", "run.v1.2", "-", ".txt", "ours.m2")
    names = ["AMU", "AMU", "AMU", "run.v1.2", "stdin", ".txt", "ours"]
    assert [system_name(path) for path in files] == names


def test_hypotheses_are_guarded_with_a_corpus(tmp_path):
    corpus = Corpus.from_texts(["He go home .", "Fine ."])
    (tmp_path / "empty").write_text("He goes home .\n\n")
    with pytest.warns(DataWarning, match=r"empty:2: the line is empty"):
        read_hypotheses(tmp_path / "empty", corpus=corpus)
    (tmp_path / "long").write_text("He go home .\nFine .\n\n")
    assert len(read_hypotheses(tmp_path / "long")) == 3
    with pytest.raises(InputError, match=r"long:3: 3 lines, but the corpus has 2 .* is blank"):
        read_hypotheses(tmp_path / "long", corpus=corpus)


def test_slices_are_read(tmp_path: Path) -> None:
    corpus = Corpus.from_texts(["a", "b", "c"])
    table = tmp_path / "slices.tsv"
    table.write_text("domain\tlevel\nnews\tA1\nmail\t\nnews\tB2\n")
    read = read_slices(table, corpus)
    assert read == {"domain": ("news", "mail", "news"), "level": ("A1", NO_VALUE, "B2")}
    left = read_slices(table, corpus.without_sentences(1))
    assert left["domain"] == ("news", "news")
    many = Corpus.from_texts(["a"] * (MOST_VALUES + 1))
    table.write_text("id\n1\n" + "".join(f"{i + 1}\n" for i in range(MOST_VALUES)))
    assert len({*read_slices(table, many)["id"]}) == MOST_VALUES
    for text, said, given in (
        ("domain\nnews\n", "1 rows below the header, but the corpus has 3", corpus),
        ("domain\tdomain\na\tb\nc\td\ne\tf\n", "two columns are called 'domain'", corpus),
        ("domain\t\na\tb\nc\td\ne\tf\n", "a column has no name", corpus),
        ("domain\n", "a header and a row per sentence", corpus),
        ("id\n" + "".join(f"{i}\n" for i in range(len(many))), "201 different values", many),
    ):
        table.write_text(text)
        with pytest.raises(Exception, match=said):
            read_slices(table, given)


def test_every_name_is_there_and_nothing_else() -> None:
    assert sorted(errata.io._WHERE) == errata.io.__all__ == dir(errata.io)
    for name in errata.io.__all__:
        assert getattr(errata.io, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'read_xml'"):
        errata.io.read_xml  # noqa: B018
