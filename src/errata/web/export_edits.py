"""Verdicts on edits as files: every verdict, and M2 of what the majority calls good."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import Any, NamedTuple

from errata.collect.items import shown_edits
from errata.data import Corpus, Edit, Reference
from errata.edits import classify_all
from errata.io.m2 import format_m2
from errata.web.database import Database
from errata.web.exports import stored_rows

__all__ = ["LeftOutEdit", "edit_lines", "edits_left_out", "majority_m2"]

EditKey = tuple[int, int, str]  # start, end, replacement


def edit_lines(database: Database, *, blocked: bool) -> Iterator[str]:
    """JSON lines: a verdict of a judge on an edit, with the systems that made it."""
    for stored in stored_rows(database, blocked=blocked):
        for number, edit in enumerate(shown_edits(stored.row.source, stored.texts), 1):
            start, end, replacement, whose = edit
            found: dict[str, Any] = {
                "item": stored.item,
                "sentence": stored.row.number,
                "start": start,
                "end": end,
                "replacement": replacement,
                "systems": sorted(name for k in whose for name in stored.systems[k]),
                "judge": stored.row.name,
                "verdict": None if stored.answer is None else stored.answer[str(number)],
            }
            if stored.row.skip is not None:
                found["skipped"] = True
            yield json.dumps(found, ensure_ascii=False)


def _majorities(
    database: Database, *, blocked: bool
) -> Iterator[tuple[int, str, Counter[EditKey]]]:
    """The judged sentences with their edits: how many more judges call each good than do not."""
    rows = stored_rows(database, blocked=blocked, by_sentence=True)
    for number, several in groupby(rows, key=lambda stored: int(stored.row.number)):
        votes: Counter[EditKey] = Counter()
        source = None
        for stored in several:
            if stored.answer is None or stored.row.purpose == "repeat":
                continue
            source = str(stored.row.source)
            for place, edit in enumerate(shown_edits(source, stored.texts), 1):
                votes[edit[:3]] += 1 if stored.answer[str(place)] == "good" else -1
        if source is not None:
            yield number, source, votes


def majority_m2(database: Database, *, blocked: bool) -> Iterator[str]:
    """M2 of the judged sentences with the edits that more judges call good than do not.

    Of good edits that overlap the one with most votes stands (then the first): edits of an
    annotator must not overlap. `edits_left_out` says which ones do not stand.
    """
    for _, source, votes in _majorities(database, blocked=blocked):
        chosen = tuple(Edit(*key) for key in sorted(_compatible(votes)[0]))
        edits = classify_all([source], [chosen])[0]
        corpus = Corpus((" ".join(source.split()),), ((Reference(0, edits),),))
        yield from format_m2(corpus)


class LeftOutEdit(NamedTuple):
    """A good edit that is not in the M2: its sentence (from 0), votes, and what stands instead."""

    sentence: int
    edit: EditKey
    votes: int
    instead: EditKey


def edits_left_out(database: Database, *, blocked: bool = False) -> list[LeftOutEdit]:
    """The good edits that are not in the M2, because they overlap others."""
    return [
        LeftOutEdit(number, edit, votes[edit], instead)
        for number, _, votes in _majorities(database, blocked=blocked)
        for edit, instead in _compatible(votes)[1]
    ]


def _compatible(votes: Counter[EditKey]) -> tuple[list[EditKey], list[tuple[EditKey, EditKey]]]:
    """The good edits that stand together, and those that do not, each with one in its way."""
    chosen: list[EditKey] = []
    dropped: list[tuple[EditKey, EditKey]] = []
    for key, count in sorted(votes.items(), key=lambda vote: (-vote[1], vote[0])):
        if count <= 0:
            break
        start, end, _ = key
        for other in chosen:
            if (start < other[1] and other[0] < end) or (start, end) == other[:2]:
                dropped.append((key, other))
                break
        else:
            chosen.append(key)
    return chosen, dropped
