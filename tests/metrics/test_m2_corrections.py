"""The corrections of gold edits that outputs can have."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.data import Edit, Hypotheses, Reference, ReferenceTable
from errata.io.m2 import scan_m2_text
from errata.metrics.m2 import M2
from errata.metrics.m2.matching import _reachable_corrections
from m2_texts import line

ODD = ["a", "a b", "a  b", " a", "a ", "", "\ta", "a\tb", "a\u00a0b", "é b", "é  b", "\u3000"]
ODD += ["a\x1fb", "a\x7fb", "中 文", "  ", "a \u00a0", "\x85", "\ud800 b", "\ud800  b", "a\u2028b"]
ODD += ["\x1c", "a \x00 b"]


@given(
    st.lists(
        st.tuples(st.sampled_from(ODD), st.lists(st.sampled_from(ODD), max_size=3), st.booleans()),
        max_size=6,
    )
)
def test_corrections_are_those_without_irregular_space(
    drawn: list[tuple[str, list[str], bool]],
) -> None:
    edits = tuple(Edit(0, 1, text, "", tuple(others)) for text, others, _ in drawn)
    table = ReferenceTable.of([[Reference(0, edits)]])
    wanted, ends = [], [0]
    for edit, (_, _, stays) in enumerate(drawn):
        if stays:
            for text in table.all_replacements(edit):
                parts = text.split()
                if len(parts) < 2 or " ".join(parts) == text.strip():
                    wanted.append(text)
            ends.append(len(wanted))
    found, at = _reachable_corrections(table, np.array([stays for *_, stays in drawn], np.bool_))
    assert list(found) == wanted
    assert at.tolist() == ends


def edit(span: str, correction: str) -> str:
    return line(span, correction)


@pytest.mark.parametrize(
    ("edits", "output", "counts"),
    [
        ([edit("1 2", "x y")], "a x y c", [1, 1, 1]),
        ([edit("1 2", "x\ty")], "a x y c", [0, 1, 1]),
        ([edit("1 2", "x\u00a0y")], "a x y c", [0, 1, 1]),
        ([edit("1 2", "q||x  y")], "a x y c", [0, 1, 1]),
        ([edit("0 1", "x||y")] * 2 + [edit("2 3", "z")], "a b z", [1, 1, 2]),
        ([edit("0 1", "é")] * 2 + [edit("2 3", "z")], "a b z", [1, 1, 2]),
    ],
)
def test_what_irregular_corrections_count(edits: list[str], output: str, counts: list[int]) -> None:
    corpus = scan_m2_text("\n".join(["S a b c", *edits, ""])).corpus
    assert M2().count(corpus, Hypotheses("A", (output,))).tolist() == [[counts]]
