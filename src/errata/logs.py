"""Edits a deployed system made, counted without references; tables.

Logs hold sources and outputs, sometimes whether people accepted a change, and which sentences were
known to be clean. All counts are integers that add up, so that logs are counted part by part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from errata.core.errors import InputError
from errata.core.stats import Estimate, Interval, wilson
from errata.edits import extract_all
from errata.io.corpus import CorpusFiles
from errata.io.shards.batches import stream_batches
from errata.io.slices import MOST_VALUES, LogColumns
from errata.tables.cells import Cell
from errata.tables.table import Column, Table

EVERYTHING = ("", "all")  # the part that holds every sentence
# The counts of a part, and of each kind of edit in it ("" stands for all kinds together).
FIGURES = ("sentences", "changed", "edits", "squares", "clean", "alarms", "answered", "accepted")
_Key = tuple[str, str, str, str]  # column, value, kind, figure


@dataclass(frozen=True)
class LogCounts:
    """Counts of logs that can be added: by column and value, kind of edit, and figure.

    >>> one = count_log_edits(["He go ."], ["He goes ."], accepted=[True])
    >>> (one + one).totals().changed
    2
    """

    counts: Mapping[_Key, int]
    extractor: str = "aligned"

    def __add__(self, other: LogCounts) -> LogCounts:
        if self.extractor != other.extractor:
            problem = f"edits found by {self.extractor} and by {other.extractor} do not add up"
            raise InputError(problem, remedy="count all logs with one extractor")
        total = Counter(self.counts)
        total.update(other.counts)
        result = LogCounts(dict(total), self.extractor)
        for column in {key[0] for key in total}:
            if len(result.slice_values(column)) > MOST_VALUES:
                raise InputError(
                    f"the column {column!r} has more than {MOST_VALUES} different values, "
                    "and a slice needs more than a few sentences",
                    remedy="leave it out, or group its values",
                )
        return result

    @property
    def slice_columns(self) -> tuple[str, ...]:
        return tuple(sorted({key[0] for key in self.counts} - {EVERYTHING[0]}))

    def slice_values(self, column: str) -> tuple[str, ...]:
        """Return the values of a column, in order."""
        return tuple(sorted({key[1] for key in self.counts if key[0] == column}))

    def totals(self, column: str = EVERYTHING[0], value: str = EVERYTHING[1]) -> LogPart:
        """Return the counts of the sentences with this value, or of all."""
        return self._log_part(column, value, "")

    def totals_by_kind(
        self, column: str = EVERYTHING[0], value: str = EVERYTHING[1]
    ) -> dict[str, LogPart]:
        """Return the counts for each kind of edit, the frequent ones first.

        ``changed``, ``clean``... count sentences with such an edit; ``alarms`` those marked clean.
        """
        names = {key[2] for key in self.counts if key[:2] == (column, value)} - {""}
        found = {name: self._log_part(column, value, name) for name in names}
        return dict(sorted(found.items(), key=lambda each: (-each[1].edits, each[0])))

    def _log_part(self, column: str, value: str, kind: str) -> LogPart:
        every = {"sentences": "", "clean": ""}  # these are of the part, whatever the kind
        return LogPart(
            *(
                self.counts.get((column, value, every.get(figure, kind), figure), 0)
                for figure in FIGURES
            )
        )


class LogPart(NamedTuple):
    """Counts of a part of logs, or of one kind of edit in it.

    Of ``sentences``, ``changed`` were changed, by ``edits`` (``squares`` is the sum of the squares
    of their number per sentence). Of those marked ``clean``, ``alarms`` were changed. Of the
    changed, ``answered`` say whether the change was accepted, and ``accepted`` were.
    """

    sentences: int
    changed: int
    edits: int
    squares: int
    clean: int
    alarms: int
    answered: int
    accepted: int


def count_log_edits(
    sources: Sequence[str],
    outputs: Sequence[str],
    *,
    accepted: Sequence[bool | None] | None = None,
    clean: Sequence[bool | None] | None = None,
    slices: Mapping[str, Sequence[str]] | None = None,
    extractor: str = "aligned",
) -> LogCounts:
    """Count sentences, their changes, and their marks; None where a mark is missing.

    ``accepted`` says of a change whether somebody took it; it says nothing of a sentence that was
    left alone. ``clean`` marks sentences without errors: any change of them is a false alarm.
    """
    for name, values in (("accepted", accepted), ("clean", clean), *(slices or {}).items()):
        if values is not None and len(values) != len(sources):
            raise InputError(f"{len(values)} values of {name!r} for {len(sources)} sentences")
    every = extract_all(sources, outputs, extractor=extractor)
    counts: Counter[_Key] = Counter()
    for i, edits in enumerate(every):
        changed = sources[i].split() != outputs[i].split()
        is_clean = clean is not None and clean[i] is True
        answer = accepted[i] if accepted is not None and changed else None
        kinds = Counter(edit.kind for edit in edits)
        parts = [EVERYTHING, *((name, values[i]) for name, values in (slices or {}).items())]
        for column, value in parts:
            counts[column, value, "", "sentences"] += 1
            counts[column, value, "", "clean"] += is_clean
            several = {"": len(edits), **kinds} if changed else {}
            for kind, number in several.items():
                for figure, more in _figure_counts(number, is_clean, answer):
                    counts[column, value, kind, figure] += more
    return LogCounts(dict(counts), extractor)


def _figure_counts(edits: int, clean: bool, answer: bool | None) -> Iterator[tuple[str, int]]:
    yield "changed", 1
    yield "edits", edits
    yield "squares", edits * edits
    yield "alarms", int(clean)
    yield "answered", int(answer is not None)
    yield "accepted", int(answer is True)


def edits_per_sentence(part: LogPart, confidence: float = 0.95) -> Estimate:
    """Return edits per sentence with an interval: normal, with the variance between sentences.

    >>> part = count_log_edits(["He go ."] * 4, ["He goes ."] * 2 + ["He go ."] * 2).totals()
    >>> [round(x, 2) for x in edits_per_sentence(part)]
    [0.5, 0.01, 0.99]
    """
    n = part.sentences
    if not n:
        return Estimate(float("nan"), 0.0, float("inf"))
    from scipy.special import ndtri

    mean = part.edits / n
    variance = (part.squares * n - part.edits * part.edits) / (n * n)
    half = float(ndtri((1 + confidence) / 2)) * float(np.sqrt(variance / n))
    return Estimate(mean, max(mean - half, 0.0), mean + half)


SHARE = ".1%"
SHARES = ("change rate", "false alarm rate", "accepted share")
_Part = tuple[str, str]  # a column and its value


def log_tables(counts: LogCounts, *, confidence: float, signature: str = "") -> list[Table]:
    """Return all sentences, each kind of edit, each slice, and each kind in each slice."""
    overall = Table(
        ("figure", "value", "interval"),
        tuple(_overall_rows(counts.totals(), confidence)),
        title="Logs",
        name="logs",
        caption=f"{confidence * 100:g} % intervals: Wilson's for shares of sentences; normal, with "
        "the variance between sentences, for edits per sentence",
        signature=signature,
        row_formats=dict.fromkeys(SHARES, SHARE) | {"edits per sentence": ".3f"},
    )
    tables = [overall, _kind_table(counts, [EVERYTHING], confidence, signature)]
    parts = [
        (column, value) for column in counts.slice_columns for value in counts.slice_values(column)
    ]
    if parts:
        tables.append(_slice_table(counts, parts, confidence, signature))
        tables.append(_kind_table(counts, parts, confidence, signature))
    return tables


def _overall_rows(part: LogPart, confidence: float) -> Iterable[tuple[Cell, ...]]:
    yield "sentences", part.sentences, None
    yield "changed", part.changed, None
    yield "change rate", *_share_cells(part.changed, part.sentences, confidence)
    yield "edits", part.edits, None
    if part.sentences:
        yield "edits per sentence", *_value_and_interval(edits_per_sentence(part, confidence))
    if part.clean:
        yield "marked clean", part.clean, None
        yield "false alarms", part.alarms, None
        yield "false alarm rate", *_share_cells(part.alarms, part.clean, confidence)
    if part.answered:
        yield "answered", part.answered, None
        yield "accepted", part.accepted, None
        yield "accepted share", *_share_cells(part.accepted, part.answered, confidence)


def _value_and_interval(found: Estimate) -> tuple[Cell, Cell]:
    """Return a number and its interval as two cells."""
    return found.value, Interval(found.low, found.high)


def _share_cells(found: int, of: int, confidence: float) -> tuple[Cell, Cell]:
    """Return a share with its interval, or empty cells where there is nothing to share."""
    return _value_and_interval(wilson(found, of, confidence)) if of else (None, None)


def _all_share_cells(part: LogPart, confidence: float) -> tuple[Cell, ...]:
    return (
        *_share_cells(part.changed, part.sentences, confidence),
        *_share_cells(part.alarms, part.clean, confidence),
        part.answered or None,
        *_share_cells(part.accepted, part.answered, confidence),
    )


def _kind_table(
    counts: LogCounts, parts: Sequence[_Part], confidence: float, signature: str
) -> Table:
    """Return a row per kind of edit in each part; rates are of sentences with such an edit."""
    sliced = parts != [EVERYTHING]
    rows = [
        (*((column, value) * sliced), kind or "-", part.edits, *_all_share_cells(part, confidence))
        for column, value in parts
        for kind, part in counts.totals_by_kind(column, value).items()
    ]
    columns = (*(("column", "slice") * sliced), "kind", "edits")
    title = "By slice and kind of edit" if sliced else "By kind of edit"
    return _share_table(
        columns, rows, title, "logs_by_slice_and_kind" if sliced else "logs_by_kind", signature
    )


def _slice_table(
    counts: LogCounts, parts: Sequence[_Part], confidence: float, signature: str
) -> Table:
    rows = []
    for column, value in parts:
        part = counts.totals(column, value)
        rows.append((column, value, part.sentences, *_all_share_cells(part, confidence)))
    return _share_table(
        ("column", "slice", "sentences"), rows, "By slice", "logs_by_slice", signature
    )


def _share_table(
    columns: Sequence[str], rows: Sequence[tuple[Cell, ...]], title: str, name: str, signature: str
) -> Table:
    """Return a table that ends with shares, without those that the logs do not have."""
    heads = [(share, f"{share} interval") for share in SHARES]
    ends = (*heads[0], *heads[1], "answered", *heads[2])
    shown = [
        Column(head, [row[c] for row in rows], SHARE * (head in sum(heads, ())), head in ends)
        for c, head in enumerate((*columns, *ends))
    ]
    return Table.of(shown, title=title, name=name, signature=signature)


def count_text_logs(
    source: str,
    output: str,
    marks: str | None = None,
    *,
    slices: Sequence[str] = (),
    extractor: str = "aligned",
) -> Iterator[LogCounts]:
    """Yield the counts of text files in batches; ``marks`` is a table with a row per sentence."""
    columns = None if marks is None else LogColumns(marks, slices)
    inputs = CorpusFiles(source=source, outputs=(("output", output),))
    for corpus, (system,) in stream_batches(inputs):
        beside = {} if columns is None else columns.take_rows(len(corpus))
        yield count_log_edits(corpus.sources, system.sentences, **beside, extractor=extractor)
    if columns is not None:
        columns.refuse_more_rows()


def count_parquet_logs(
    pattern: str,
    *,
    system: str | None = None,
    slices: Sequence[str] = (),
    extractor: str = "aligned",
) -> Iterator[LogCounts]:
    """Yield the counts of Parquet files in batches; ``system`` chooses one of several."""
    from errata.io.shards.parquet import parquet_rows

    empty = True
    for rows in parquet_rows(CorpusFiles(parquet=pattern), slices=slices):
        known = list(rows.outputs)
        name = known[0] if system is None and len(known) == 1 else system
        if name is None or name not in known:
            raise InputError(
                f"the files contain {len(known)} systems"
                if name is None
                else f"there is no system {name!r}",
                path=rows.path,
                remedy=f"choose one with --for NAME: {', '.join(known) or 'none'}",
            )
        empty = False
        yield count_log_edits(
            rows.sources,
            rows.outputs[name],
            accepted=rows.accepted,
            clean=rows.clean,
            slices=rows.slices,
            extractor=extractor,
        )
    if empty:
        raise InputError("the files hold no row", path=pattern, remedy="name the files of the logs")
