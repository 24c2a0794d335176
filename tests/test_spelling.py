"""Texts as bytes: the same with strings and without."""

from __future__ import annotations

import random
from itertools import takewhile
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import errata.data.tokens
from errata.data import Vocabulary
from errata.data.tokens import (
    Spelled,
    Utf8,
    all_alike,
    differing,
    line_places,
    some_of,
    strings,
    utf8,
)
from errata.kernels import words
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
            patch.setattr(errata.data.tokens, "words", load_pure("words"))
        patch.setattr(errata.data.tokens, "TOGETHER", 3)
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


@pytest.mark.parametrize("way", ["compiled", "plain"])
@given(pairs=st.lists(st.tuples(*[st.text("aé😀", max_size=3)] * 2), max_size=9))
def test_texts_are_told_apart_with_strings_and_without(
    way: str, pairs: list[tuple[str, str]]
) -> None:
    ours, theirs = [a for a, _ in pairs], [b for _, b in pairs]
    wanted = [a != b for a, b in pairs]
    with pytest.MonkeyPatch.context() as patch:
        if way == "plain":
            patch.setattr(errata.data.tokens, "words", load_pure("words"))
        patch.setattr(errata.data.tokens, "NEAR", 2)
        for a in (ours, tuple(ours), Spelled(utf8(ours))):
            for b in (theirs, Spelled(utf8(["before", *theirs]))[1:]):
                found = differing(a, b)
                assert found.dtype == np.bool_
                assert found.tolist() == wanted
                assert all_alike(a, b) == (not any(wanted))
                assert all_alike(a, list(a))
                assert not all_alike(a, [*a, ""])
                assert not all_alike([*a, ""], a)
                kept = some_of(a, found)
                assert isinstance(kept, Spelled) == isinstance(a, Spelled)
                assert strings(kept) == [x for x, y in pairs if x != y]


@pytest.mark.parametrize("way", ["compiled", "plain"])
def test_every_byte_of_every_text_counts(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if way == "plain":
        monkeypatch.setattr(errata.data.tokens, "words", load_pure("words"))
    monkeypatch.setattr(errata.data.tokens, "NEAR", 2)
    texts = ["abc"] * 5
    for i in range(5):
        for k in range(3):
            others = [*texts]
            others[i] = texts[i][:k] + "x" + texts[i][k + 1 :]
            for a, b in ((texts, others), (Spelled(utf8(texts)), Spelled(utf8(others)))):
                assert np.flatnonzero(differing(a, b)).tolist() == [i]
                assert not all_alike(a, b)


@given(TEXTS, st.integers(0, 9))
def test_texts_in_the_same_bytes_are_joined(several: list[str], cut: int) -> None:
    spelled = Spelled(utf8(several))
    assert spelled[:cut].joined(spelled[cut:]).strings() == several
    assert spelled[cut:].joined(spelled[:cut], spelled).strings() == [
        *several[cut:],
        *several[:cut],
        *several,
    ]


@given(st.text("ab\né", max_size=12))
def test_lines_stand_where_line_feeds_end_them(text: str) -> None:
    wanted = text.split("\n")
    assert Spelled(line_places(text.encode())).strings() == (wanted if wanted[-1] else wanted[:-1])


def test_lines_are_made_as_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errata.data.tokens, "FIRST", 2)
    monkeypatch.setattr(errata.data.tokens, "NEAR", 4)
    made: list[int] = []
    true_strings = Spelled.strings

    def counted(self: Spelled) -> list[str]:
        made.append(len(self))
        return true_strings(self)

    monkeypatch.setattr(Spelled, "strings", counted)
    letters = [chr(ord("a") + k) for k in range(12)]
    several = iter(Spelled(utf8(letters)))
    assert (next(several), made) == ("a", [2])
    assert (list(several), made) == (letters[1:], [2, 4, 4, 2])


def test_what_is_spelled_is_not_made_into_bytes_again() -> None:
    where = utf8(["a", "b"])
    assert utf8(Spelled(where)) is where


def test_gathering_is_the_same_both_ways() -> None:
    data, begins, ends = utf8(["He", "", "goes"])
    for kernel in (words, load_pure("words")):
        found = kernel.gather(data, begins[[2, 0, 1]], ends[[2, 0, 1]])
        assert found.tobytes() == b"goes\nHe\n\n"


@pytest.mark.parametrize("kernel", [words, load_pure("words")], ids=["compiled", "plain"])
@given(pairs=st.lists(st.tuples(*[st.text("aè©éê中", max_size=6)] * 2), max_size=9))
def test_what_texts_begin_and_end_with_alike_is_whole_characters(
    kernel: ModuleType, pairs: list[tuple[str, str]]
) -> None:
    ours, theirs = utf8([a for a, _ in pairs]), utf8([b for _, b in pairs])
    wanted = []
    for a, b in pairs:
        before = _alike(a, b)
        behind = _alike(a[before:][::-1], b[before:][::-1])
        wanted.append([len(a[:before].encode()), len(a[len(a) - behind :].encode())])
    assert kernel.common_ends(*ours, *theirs).T.tolist() == wanted
    assert kernel.characters(*ours).tolist() == [len(a) for a, _ in pairs]


def _alike(a: str, b: str) -> int:
    """How many letters two texts begin with alike."""
    return len(list(takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False))))
