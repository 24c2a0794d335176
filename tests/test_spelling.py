"""Texts as bytes: the same with strings and without."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import errata.spelling
from errata.data import Vocabulary
from errata.kernels import words
from errata.spelling import Spelled, Utf8, utf8
from pure import load_pure

TEXTS = st.lists(st.text(st.sampled_from(["a", " ", "é", "中", "😀", "\ud800", "\udc00"])))


@given(TEXTS)
def test_bytes_of_texts_are_those_of_each_by_itself(several: list[str]) -> None:
    data, begins, ends = utf8(several)
    cut = [data[a:b].tobytes() for a, b in zip(begins.tolist(), ends.tolist(), strict=True)]
    assert cut == [text.encode(errors="surrogatepass") for text in several]


@pytest.mark.parametrize("way", ["compiled", "plain"])
@given(several=TEXTS, part=st.slices(6), order=st.randoms())
def test_spelled_texts_are_the_texts(
    way: str, several: list[str], part: slice, order: random.Random
) -> None:
    places = list(range(len(several)))
    order.shuffle(places)
    data, begins, ends = utf8(several)
    texts = [several[i] for i in places]
    with pytest.MonkeyPatch.context() as patch:
        if way == "plain":
            patch.setattr(errata.spelling, "words", load_pure("words"))
        patch.setattr(errata.spelling, "TOGETHER", 3)
        spelled = Spelled(Utf8(data, begins[places], ends[places]))
        assert len(spelled) == len(texts)
        assert list(spelled) == spelled.strings() == texts
        assert [spelled[i] for i in range(len(texts))] == texts
        assert list(spelled[part]) == texts[part]
        odd = np.arange(len(texts)) % 2 == 1
        assert list(spelled.taken(odd)) == texts[1::2]
    mine, theirs = Vocabulary(), Vocabulary()
    assert mine.intern(spelled).ids.tolist() == theirs.intern(texts).ids.tolist()
    assert mine.words() == theirs.words()


def test_what_is_spelled_is_not_made_into_bytes_again() -> None:
    where = utf8(["a", "b"])
    assert utf8(Spelled(where)) is where


def test_gathering_is_the_same_both_ways() -> None:
    data, begins, ends = utf8(["He", "", "goes"])
    for kernel in (words, load_pure("words")):
        found = kernel.gather(data, begins[[2, 0, 1]], ends[[2, 0, 1]])
        assert found.tobytes() == b"goes\nHe\n\n"
