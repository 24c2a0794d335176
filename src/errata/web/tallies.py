"""Figures of the organiser's page that no command prints: who met whom, where judges disagree."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from errata.human.decisions import OutputPairs
from errata.human.head_to_head import HeadToHead
from errata.numbers import Interval, wilson
from errata.report.cells import Cell
from errata.report.table import Table

__all__ = [
    "comparisons_table",
    "disagreement_table",
    "share_passed",
    "share_pasted",
    "without_empty_columns",
]

ROWS_SHOWN = 20  # of disagreements that are shown


def comparisons_table(head: HeadToHead, order: Sequence[int]) -> Table:
    """How often every two systems were compared, ties among them."""
    wins = head.counts.wins
    met = wins + wins.T + head.counts.ties
    rows: list[tuple[Cell, ...]] = [
        (head.systems[a], *(None if a == b else int(met[a, b]) for b in order)) for a in order
    ]
    return Table(
        ("system", *(head.systems[b] for b in order)),
        tuple(rows),
        title="Comparisons of every two systems",
        name="comparisons",
    )


def disagreement_table(
    pairs: OutputPairs, texts: Callable[[Sequence[int]], Mapping[int, str]]
) -> Table:
    """Sentences on which judges differ most: the share of pairs of outputs put in another order.

    Two judges agree on a pair if both prefer the same output, or both call them equal; of a judge
    the first decision on a pair counts. Only what several judges ranked is looked at; ``texts``
    gives the sentences of some numbers.

    >>> from errata.data import Judgment
    >>> from errata.human.decisions import output_pairs
    >>> one = Judgment("ann", 0, (("A",), ("B",)), (1, 2))
    >>> two = Judgment("bo", 0, (("B",), ("A",)), (1, 2))
    >>> disagreement_table(output_pairs([one, two]), lambda some: {0: "He go ."}).rows
    ((0, 'He go .', 2, 1.0),)
    """
    again = pairs.decided_again
    of_key, many = again.codes[:, 0], len(pairs.sentences)
    said = again.first.tallies()
    decided = said.sum(1)
    alike = np.bincount(of_key, (said * (said - 1) / 2).sum(1), minlength=many)
    compared = np.bincount(of_key, decided * (decided - 1) / 2, minlength=many)
    judged = np.zeros((many, len(pairs.judges)), bool)
    judged[pairs.codes[pairs.key, 0], pairs.judge] = True
    judges = judged.sum(1)
    worst: list[tuple[float, int, int]] = []
    for k in np.flatnonzero(alike < compared).tolist():
        share = 1 - float(alike[k]) / float(compared[k])
        worst.append((-share, -int(judges[k]), pairs.sentences[k]))
    worst = sorted(worst)[:ROWS_SHOWN]
    known = texts([sentence for *_, sentence in worst])
    rows = [(number, known.get(number, ""), -many, -share) for share, many, number in worst]
    return Table(
        ("sentence", "text", "judges", "pairs that differ"),
        tuple(rows),
        title="Where judges disagree most",
        name="disagreement",
        formats={"pairs that differ": ".2f"},
    )


def without_empty_columns(table: Table) -> Table:
    """A table without the columns in which nothing stands yet."""
    kept = [c for c in range(len(table.columns)) if any(row[c] is not None for row in table.rows)]
    return replace(
        table,
        columns=tuple(table.columns[c] for c in kept),
        rows=tuple(tuple(row[c] for c in kept) for row in table.rows),
        formats={k: v for k, v in table.formats.items() if table.columns.index(k) in kept},
    )


def share_passed(passed: Sequence[bool]) -> tuple[float | None, Interval | None]:
    """The share of checks that were passed, and Wilson's interval, which has no middle."""
    if not passed:
        return None, None
    found = wilson(sum(passed), len(passed))
    return found.value, Interval(found.low, found.high)


def share_pasted(displays: Sequence[str | None]) -> float | None:
    """The share of answers in which something was pasted.

    >>> share_pasted(['{"pasted": 12}', '{"marks": true}', ""])
    0.3333333333333333
    """
    pasted = [json.loads(each or "{}").get("pasted", 0) > 0 for each in displays]
    return sum(pasted) / len(pasted) if pasted else None
