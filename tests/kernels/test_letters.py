"""What lines show, against regular expressions and the methods of strings."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.data.tokens import utf8
from errata.io.checks.text import APART, GLUED
from errata.kernels import letters
from pure import load_pure

LINES = st.lists(
    st.text(st.one_of(st.sampled_from("a_B7.,; '\t\"`"), st.characters()), max_size=12)
)
WAYS = ["compiled", "plain"]


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
