"""Words of sentences and what lines show, against str.split, a dictionary and searches."""

import random
import re
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import errata.data.tokens
from errata.data import Vocabulary
from errata.data.tokens import Utf8, line_starts, utf8
from errata.io.checks.text import APART, GLUED
from errata.kernels import letters, words
from pure import load_pure

WAYS = ["compiled", "plain"]
ASCII = re.compile(r"[^ \t\n\r\f\v]+")
# White space of one, two and three bytes, its neighbours, and half a character.
ODD = (
    "ab \t\n\x1c\x1f\x85\xa0\x86é\u1680\u1681\u2000\u200a\u200b\u2028\u202f\u205f"
    "\u3000\u3001😀\ud800"
)


@pytest.fixture(params=WAYS)
def kernel(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways of running the kernel, used by vocabularies."""
    which = words if request.param == "compiled" else load_pure("words")
    monkeypatch.setattr(errata.data.tokens, "words", which)
    return str(request.param)


def spelled(texts: list[str], ascii_only: bool) -> list[list[str]]:
    """What a vocabulary makes of texts, spelled out again."""
    vocabulary = Vocabulary()
    tokens = vocabulary.intern(texts, ascii_only=ascii_only)
    distinct = vocabulary.words()
    assert len(set(distinct)) == len(distinct) == len(vocabulary)
    first_seen = list(dict.fromkeys(tokens.ids.tolist()))
    assert first_seen == list(range(len(distinct)))  # numbered in the order of appearance
    return [[distinct[i] for i in tokens[k]] for k in range(len(tokens))]


@pytest.mark.parametrize("way", WAYS)
@given(texts=st.lists(st.text(st.sampled_from(ODD))))
def test_words_are_those_of_split(way: str, texts: list[str]) -> None:
    which = words if way == "compiled" else load_pure("words")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(errata.data.tokens, "words", which)
        assert spelled(texts, False) == [text.split() for text in texts]
        assert spelled(texts, True) == [ASCII.findall(text) for text in texts]


@pytest.mark.slow
def test_every_character_separates_as_it_does_in_split(kernel: str) -> None:
    most = sys.maxunicode + 1 if kernel == "compiled" else 0x3010
    texts = [f"a{chr(c)}b {chr(c)}" for c in range(most)]
    lengths = Vocabulary().intern(texts).lengths
    assert lengths.tolist() == [len(text.split()) for text in texts]


def test_many_words_make_the_table_grow(kernel: str) -> None:
    size = 30_000 if kernel == "compiled" else 5_000
    texts = ["x y", " ".join(f"w{i % (size // 2)}" for i in range(size)), "y z"]
    assert spelled(texts, False) == [text.split() for text in texts]


def test_parts_of_a_long_text_are_numbered_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["a b", "", "b c", "c", "a"]
    whole = Vocabulary().intern(texts)
    monkeypatch.setattr(errata.data.tokens, "INTERNED", 2)
    cut = Vocabulary().intern(iter(texts))
    np.testing.assert_array_equal(whole.ids, cut.ids)
    np.testing.assert_array_equal(whole.offsets, cut.offsets)
    assert whole.ids.dtype == cut.ids.dtype == np.int32


def test_nothing_is_no_word(kernel: str) -> None:
    assert len(Vocabulary().intern([])) == 0
    assert Vocabulary().intern(["", "  "]).lengths.tolist() == [0, 0]


TEXTS = st.lists(st.text(st.sampled_from(["a", " ", "é", "中", "😀", "\ud800", "\udc00"])))


@pytest.mark.parametrize("way", WAYS)
@given(several=TEXTS, order=st.randoms())
def test_bytes_of_texts_are_decoded(way: str, several: list[str], order: random.Random) -> None:
    data, begins, ends = utf8(several)
    cut = [data[a:b].tobytes() for a, b in zip(begins.tolist(), ends.tolist(), strict=True)]
    assert cut == [text.encode(errors="surrogatepass") for text in several]
    places = list(range(len(several)))
    order.shuffle(places)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            errata.data.tokens, "words", words if way == "compiled" else load_pure("words")
        )
        patch.setattr(errata.data.tokens, "DECODED", 3)
        found = Utf8(data, begins[places], ends[places]).decode()
    assert found == [several[i] for i in places]


@given(st.text("ab\né", max_size=12))
def test_lines_begin_after_line_feeds(text: str) -> None:
    data = text.encode()
    wanted = [0, *(k + 1 for k, byte in enumerate(data) if byte == ord("\n"))]
    assert line_starts(data).tolist() == [start for start in wanted if start < len(data)]


LINES = st.lists(
    st.text(st.one_of(st.sampled_from("a_B7.,; '\t\"`"), st.characters()), max_size=12)
)


def shown(lines: list[str], way: str) -> list[int]:
    kernel = letters if way == "compiled" else load_pure("letters")
    return [int(flags) for flags in kernel.show(*utf8(lines))]


def expected(line: str) -> int:
    return (
        letters.APART * (APART.search(line) is not None)
        + letters.GLUED * (GLUED.search(line) is not None)
        + letters.STRAIGHT * any(mark in line for mark in "'\"`")
        + letters.UPPER * (line != line.lower())
        + letters.FILLED * bool(line.strip())
        + letters.UNPRINTABLE * (not line.isprintable())
        + letters.DOUBLED * (re.search(r"\s\s", line) is not None)
    )


@pytest.mark.parametrize("way", WAYS)
@given(lines=LINES)
def test_lines_show_what_searches_find(way: str, lines: list[str]) -> None:
    for line, flags in zip(lines, shown(lines, way), strict=True):
        if line.isascii():
            assert flags == expected(line), line
        else:
            assert flags & letters.BEYOND


@pytest.mark.parametrize("way", WAYS)
def test_every_character_of_ascii(way: str) -> None:
    lines = [template.format(chr(c)) for c in range(128) for template in ("{}", "a{}", "a {} b")]
    assert shown(lines, way) == [expected(line) for line in lines]
