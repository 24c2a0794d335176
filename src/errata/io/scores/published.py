"""The tables of scores that others publish.

Those of nusnlp/gecmetrics (the form of the WMT metrics task) have no heading; their columns are
metric, language pair, test set, system, sentence (in sentence tables only) and score.
"""

from __future__ import annotations

import math

import numpy as np

from errata.data import Scores
from errata.errors import InputError
from errata.io.checks.findings import raise_or_warn
from errata.io.files import PathLike, read_lines, shown_name
from errata.io.scores.checked import add_sentence, figure, scored_twice, sentence_table

__all__ = ["read_published_scores"]


def read_published_scores(
    system_path: PathLike | None = None, *, sentence_path: PathLike | None = None
) -> Scores:
    """Read the published tables of nusnlp/gecmetrics (or of the WMT metrics task).

    Give the table of system scores, of sentence scores, or both of the same metric. Systems stand
    in the order of the system table; without one the overall scores are NaN. A sentence without a
    score is NaN, and warned of.
    """
    if system_path is None and sentence_path is None:
        raise InputError("no table given", remedy="name a table of system or sentence scores")
    names: set[str] = set()
    overall: dict[str, float] = {}
    sentences: dict[str, dict[int, float]] = {}
    if system_path is not None:
        for number, cells in _published_rows(system_path, 5):
            names.add(cells[0])
            if cells[3] in overall:
                raise scored_twice(cells[3], shown_name(system_path), number)
            overall[cells[3]] = figure(cells[4], shown_name(system_path), number)
    if sentence_path is not None:
        for number, cells in _published_rows(sentence_path, 6):
            names.add(cells[0])
            name = shown_name(sentence_path)
            score = figure(cells[5], name, number)
            add_sentence(sentences, cells[3], cells[4], score, name, number)
    if len(names) != 1:
        raise InputError(
            f"scores of {len(names)} metrics: {', '.join(sorted(names))}",
            path=shown_name(sentence_path or system_path or ""),
            remedy="give tables of one metric",
        )
    systems = tuple(overall or sentences)
    table = None
    if sentence_path is not None:
        table = sentence_table(systems, sentences, shown_name(sentence_path))
    return Scores(
        names.pop(), systems, np.array([overall.get(s, math.nan) for s in systems]), table
    )


def _published_rows(path: PathLike, columns: int) -> list[tuple[int, list[str]]]:
    name = shown_name(path)
    lines, findings = read_lines(path)
    raise_or_warn(findings, stacklevel=4)
    rows = [(number, line.split("\t")) for number, line in enumerate(lines, 1)]
    for number, cells in rows:
        if len(cells) != columns:
            kind = "system" if columns == 5 else "sentence"
            raise InputError(
                f"{len(cells)} columns; a table of {kind} scores has {columns}",
                path=name,
                line=number,
                remedy="columns are apart by tabs: metric, "
                "language pair, test set, system, [sentence,] score",
            )
    if not rows:
        raise InputError("the file is empty", path=name, remedy="fetch it again")
    return rows
