"""Tokenisation, quotation marks and case: does an output follow its sources, line by line?

A part of a file in another convention costs as many points as a bad system would, and is nobody's
fault but the file's. Lines are judged one by one, and the finding names their share.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from errata.io.checks.findings import Finding

__all__ = ["check_conventions"]

# A mark after a word: glued to it as in print, or apart as a tokeniser leaves it.
GLUED = re.compile(r"\w[.,;:!?](?=\s|$)")
APART = re.compile(r"\s[.,;:!?](?=\s|$)")
CURLY = re.compile("[‘’“”]")
STRAIGHT = re.compile("['\"`]")
# So many lines, and this share of those that can show it, must differ before it is said.
FEWEST, SHARE = 5, 0.1

Test = Callable[[str], bool]


def check_conventions(sources: Sequence[str], lines: Sequence[str], path: str) -> list[Finding]:
    """Lines in another convention than their sources, where they are more than a few.

    >>> sources = ["He go , and I stay ."] * 20
    >>> found = check_conventions(sources, [*sources[:10], *["He goes, and I stay."] * 10], "out")
    >>> found[0].problem
    'the sources have spaces before punctuation, the output has not in 10 of 20 lines (50 %)'
    """
    kinds = (
        (
            _apart,
            _glued,
            "spaces before punctuation",
            "tokenise both alike; scores compare tokens",
            "tokenisation",
        ),
        (
            _straight,
            _curly,
            "straight quotation marks",
            "write them as the sources do; scores compare characters",
            "quotes",
        ),
    )
    findings = []
    for usual, other, what, remedy, code in kinds:
        for here, there, sides in (
            (usual, other, ("sources have", "output has")),
            (other, usual, ("output has", "sources have")),
        ):
            found, asked = _differing(sources, lines, here, there)
            if found >= max(FEWEST, SHARE * asked):
                problem = f"the {sides[0]} {what}, the {sides[1]} not in {_share(found, asked)}"
                findings.append(Finding("warning", path, None, problem, remedy, code))
    found, asked = _differing(sources, lines, _cased, _lower)
    if found >= max(FEWEST, SHARE * asked):
        problem = f"the output is in lower case, the sources are not, in {_share(found, asked)}"
        remedy = "restore the case; scores compare it"
        findings.append(Finding("warning", path, None, problem, remedy, "case"))
    return findings


def _differing(
    sources: Sequence[str], lines: Sequence[str], here: Test, there: Test
) -> tuple[int, int]:
    """Lines that go one way and their sources the other, and those that go either way."""
    found = asked = 0
    for source, line in zip(sources, lines, strict=True):
        if here(source):
            other = there(line)
            found += other
            asked += other or here(line)
    return found, asked


def _apart(line: str) -> bool:
    return APART.search(line) is not None and GLUED.search(line) is None


def _glued(line: str) -> bool:
    return GLUED.search(line) is not None and APART.search(line) is None


def _straight(line: str) -> bool:
    return STRAIGHT.search(line) is not None and CURLY.search(line) is None


def _curly(line: str) -> bool:
    return CURLY.search(line) is not None and STRAIGHT.search(line) is None


def _cased(line: str) -> bool:
    return line != line.lower()


def _lower(line: str) -> bool:
    return not _cased(line) and not line.isspace() and line != ""


def _share(found: int, asked: int) -> str:
    return f"{found} of {asked} lines ({100 * found / asked:.0f} %)"
