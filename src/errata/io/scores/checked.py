"""What readers of score files share: numbers that are numbers, one score a system and sentence."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from errata.errors import InputError
from errata.io.checks.findings import Finding, raise_or_warn
from errata.io.sheet import read_number
from errata.numbers import Floats

__all__ = ["add_sentence", "cells_under", "figure", "scored_twice", "sentence_table"]


def figure(text: str, path: str, line: int, *, comma: bool = False) -> float:
    """The score a cell holds, which must be a finite number."""
    number = read_number(text, comma=comma)
    if number is None:
        raise InputError(
            f"{text[:40]!r} is not a number",
            path=path,
            line=line,
            remedy="write scores as 0.3501; where there is none leave out the system, or leave the "
            "cell empty in a table of sentences",
        )
    return number


def cells_under(head: Sequence[str], line: str, path: str, number: int) -> list[str]:
    """The cells of a line of TSV, one under each heading."""
    cells = line.rstrip("\r\n").split("\t")
    if len(cells) != len(head):
        raise InputError(
            f"{len(cells)} cells under {len(head)} headings",
            path=path,
            line=number,
            remedy="cells are apart by tabs",
        )
    return cells


def scored_twice(system: str, path: str, line: int, sentence: int | None = None) -> InputError:
    """The error for a second score of a system."""
    where = "" if sentence is None else f" for sentence {sentence}"
    return InputError(
        f"the system {system} has two scores{where}", path=path, line=line, remedy="keep one"
    )


def add_sentence(
    sentences: dict[str, dict[int, float]],
    system: str,
    sentence: str,
    score: float,
    path: str,
    line: int,
) -> None:
    """Note the score of a system on a sentence, once."""
    if not (sentence.isascii() and sentence.isdecimal() and len(sentence) < 9):
        raise InputError(
            f"{sentence[:40]!r} is not a sentence number",
            path=path,
            line=line,
            remedy="sentences are counted from 0",
        )
    mine = sentences.setdefault(system, {})
    if int(sentence) in mine:
        raise scored_twice(system, path, line, int(sentence))
    mine[int(sentence)] = score


def sentence_table(
    systems: Sequence[str], sentences: Mapping[str, Mapping[int, float]], path: str
) -> Floats:
    """Scores ``[system, sentence]``, NaN where there is none, which is warned of."""
    if set(systems) != set(sentences):
        odd = ", ".join(sorted(set(systems) ^ set(sentences)))
        raise InputError(
            f"overall scores and sentence scores are not of the same systems: {odd}",
            path=path,
            remedy="give tables that belong together",
        )
    n = max(max(mine) for mine in sentences.values()) + 1
    scores = sum(map(len, sentences.values()))
    if n > 100 * scores:
        raise InputError(
            f"sentence {n - 1}, but there are {scores} scores",
            path=path,
            remedy="sentences are counted from 0 without large gaps",
        )
    table = np.full((len(systems), n), math.nan)
    for s, system in enumerate(systems):
        for sentence, score in sentences[system].items():
            table[s, sentence] = score
    raise_or_warn(
        [
            Finding(
                "warning",
                path,
                None,
                f"{n - len(sentences[system])} of {n} sentences have no score of {system}",
                "they are left out where this system is compared",
                "missing-score",
            )
            for system in systems
            if len(sentences[system]) < n
        ],
        stacklevel=5,
    )
    return table
