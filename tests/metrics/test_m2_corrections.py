"""The corrections of gold edits that outputs can have: the same by strings and by bytes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.data import Hypotheses
from errata.data.edits import EditTexts
from errata.data.tokens import Spelled, utf8
from errata.io.m2 import scan_m2_text
from errata.metrics.m2 import M2
from errata.metrics.m2.matching import _corrections
from m2_texts import line

ODD = ["a", "a b", "a  b", " a", "a ", "", "\ta", "a\tb", "a\u00a0b", "é b", "é  b", "\u3000"]
ODD += ["a\x1fb", "a\x7fb", "中 文", "  ", "a \u00a0", "\x85", "\ud800 b", "\ud800  b", "a\u2028b"]
ODD += ["\x1c", "a \x00 b"]


@st.composite
def edit_words(draw: st.DrawFn) -> EditTexts:
    texts = draw(st.lists(st.sampled_from(ODD), max_size=6))
    some = st.lists(st.sampled_from(ODD), min_size=1, max_size=3).map(tuple)
    places = st.integers(0, len(texts) - 1) if texts else st.nothing()
    others = draw(st.dictionaries(places, some))
    known = Spelled(utf8(texts)) if draw(st.booleans()) else texts
    return EditTexts(np.ones(1, np.uint8), np.zeros(1, np.uint8), known, others)


@given(words=edit_words(), data=st.data())
def test_corrections_are_those_without_irregular_space(
    words: EditTexts, data: st.DataObject
) -> None:
    many = len(words.corrections)
    stay = data.draw(st.lists(st.booleans(), min_size=many, max_size=many))
    wanted, ends = [], [0]
    for edit in range(many):
        if stay[edit]:
            for text in words.replacements(edit):
                parts = text.split()
                if len(parts) < 2 or " ".join(parts) == text.strip():
                    wanted.append(text)
            ends.append(len(wanted))
    found, at = _corrections(words, np.array(stay, np.bool_))
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
