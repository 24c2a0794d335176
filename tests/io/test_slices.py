"""Tables of slices: a row for every sentence, values by column."""

from __future__ import annotations

from pathlib import Path

import pytest

from errata.data import Corpus
from errata.io.slices import MOST_VALUES, NO_VALUE, read_slices


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
