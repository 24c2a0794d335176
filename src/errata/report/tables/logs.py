"""What was counted of logs, as tables: overall, by kind of edit, and by slice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from errata.numbers import Estimate, Interval, wilson
from errata.report.table import Cell, Table
from errata.studies.logs import EVERYTHING, LogCounts, LogPart, edits_per_sentence

__all__ = ["log_tables"]

SHARE = ".1%"
SHARES = ("change rate", "false alarm rate", "accepted share")
_Part = tuple[str, str]  # a column and its value


def log_tables(counts: LogCounts, *, confidence: float = 0.95, signature: str = "") -> list[Table]:
    """All sentences, each kind of edit, each slice, and each kind in each slice."""
    overall = Table(
        ("figure", "value", "interval"),
        tuple(_overall(counts.part(), confidence)),
        title="Logs",
        name="logs",
        caption=f"{confidence * 100:g} % intervals: Wilson's for shares of sentences; normal, with "
        "the variance between sentences, for edits per sentence",
        signature=signature,
        row_formats=dict.fromkeys(SHARES, SHARE) | {"edits per sentence": ".3f"},
    )
    tables = [overall, _kinds(counts, [EVERYTHING], confidence, signature)]
    parts = [(column, value) for column in counts.columns for value in counts.values(column)]
    if parts:
        tables.append(_slices(counts, parts, confidence, signature))
        tables.append(_kinds(counts, parts, confidence, signature))
    return tables


def _overall(part: LogPart, confidence: float) -> Iterable[tuple[Cell, ...]]:
    yield "sentences", part.sentences, None
    yield "changed", part.changed, None
    yield "change rate", *_share(part.changed, part.sentences, confidence)
    yield "edits", part.edits, None
    if part.sentences:
        yield "edits per sentence", *_apart(edits_per_sentence(part, confidence))
    if part.clean:
        yield "marked clean", part.clean, None
        yield "false alarms", part.alarms, None
        yield "false alarm rate", *_share(part.alarms, part.clean, confidence)
    if part.answered:
        yield "answered", part.answered, None
        yield "accepted", part.accepted, None
        yield "accepted share", *_share(part.accepted, part.answered, confidence)


def _apart(found: Estimate) -> tuple[Cell, Cell]:
    """A number and its interval, of which it need not be the middle."""
    return found.value, Interval(found.low, found.high)


def _share(found: int, of: int, confidence: float) -> tuple[Cell, Cell]:
    """A share with its interval, and nothing where there is nothing to share."""
    return _apart(wilson(found, of, confidence)) if of else (None, None)


def _shares(part: LogPart, confidence: float) -> tuple[Cell, ...]:
    return (
        *_share(part.changed, part.sentences, confidence),
        *_share(part.alarms, part.clean, confidence),
        part.answered or None,
        *_share(part.accepted, part.answered, confidence),
    )


def _kinds(counts: LogCounts, parts: Sequence[_Part], confidence: float, signature: str) -> Table:
    """A row per kind of edit in each of the parts; rates are of sentences with such an edit."""
    sliced = parts != [EVERYTHING]
    rows = [
        (*((column, value) * sliced), kind or "-", part.edits, *_shares(part, confidence))
        for column, value in parts
        for kind, part in counts.kinds(column, value).items()
    ]
    columns = (*(("column", "slice") * sliced), "kind", "edits")
    title = "By slice and kind of edit" if sliced else "By kind of edit"
    return _table(
        columns, rows, title, "logs_by_slice_and_kind" if sliced else "logs_by_kind", signature
    )


def _slices(counts: LogCounts, parts: Sequence[_Part], confidence: float, signature: str) -> Table:
    rows = []
    for column, value in parts:
        part = counts.part(column, value)
        rows.append((column, value, part.sentences, *_shares(part, confidence)))
    return _table(("column", "slice", "sentences"), rows, "By slice", "logs_by_slice", signature)


def _table(
    columns: Sequence[str], rows: Sequence[tuple[Cell, ...]], title: str, name: str, signature: str
) -> Table:
    """A table that goes on with shares, without those of which the logs say nothing."""
    heads = [(share, f"{share} interval") for share in SHARES]
    ends = (*heads[0], *heads[1], "answered", *heads[2])
    table = Table(
        (*columns, *ends),
        tuple(rows),
        title=title,
        name=name,
        signature=signature,
        formats={name: SHARE for head in heads for name in head},
    )
    for end in ends:
        table = table.without_empty(end)
    return table
