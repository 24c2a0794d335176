"""Comparisons of two systems as tables: figures, edits, kinds, difficulty, slices, sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from errata.comparison.compare import Comparison, KindChange, SentenceChange
from errata.comparison.edits import CHANGES, ChangeCounts
from errata.comparison.paired_tests import Difference
from errata.core.errors import InputError
from errata.core.stats import Interval, holm, plural
from errata.data import original_number
from errata.edits import extract
from errata.scoring.decisions import is_testable
from errata.tables.table import Column, Table, join_signatures

# Headings of figures that are counted per 1,000 words of the source.
PER_1000 = {"false alarms": "alarms per 1,000 words", "edits": "edits per 1,000 words"}
SIGNED = "+.4f"
LARGE = 10  # numbers from here on are shown with one decimal
LARGEST_PARTS = 8  # in the summary
LEAD = ("F", "edits")  # what the figure that a kind or slice is shown by begins with


def comparison_summary(found: Comparison) -> list[Table]:
    """Return the metrics and the parts, with how many errors were gained and lost."""
    counts = found.counts
    said = [f"{found.differing} of {found.size} sentences were written differently"]
    if found.judged:
        said.append(
            f"{counts.gained} {plural('error', counts.gained)} gained, {counts.lost} lost, "
            f"{counts.new_alarms} new false {plural('alarm', counts.new_alarms)}"
        )
    tables = [difference_table(found) if found.differences else edit_rate_table(found)]
    if any(map(is_testable, found.parts)):
        tables.append(slice_and_kind_table(found, largest=LARGEST_PARTS))
    caption = "\n".join(filter(None, ("; ".join(said), tables[-1].caption)))
    return [*tables[:-1], replace(tables[-1], caption=caption)]


def slice_and_kind_table(found: Comparison, *, largest: int | None = None) -> Table:
    """Return slices and kinds that are large enough to be tested, worst first, in points."""
    tested = sorted(filter(is_testable, found.parts), key=lambda part: part.difference.value)
    adjusted = holm([part.p for part in tested]).tolist()
    rows = list(zip(tested, adjusted, strict=True))[:largest]
    small = len(found.parts) - len(tested)
    more = f"{len(tested) - len(rows)} more with --details; " if len(rows) < len(tested) else ""
    return Table.of(
        [
            Column("part", [part.name for part, _ in rows]),
            Column("points", [part.difference.value for part, _ in rows], "+.1f"),
            Column(
                f"{found.confidence * 100:g} % interval",
                [Interval(part.difference.low, part.difference.high) for part, _ in rows],
                ".1f",
            ),
            Column("p (Holm)", [p for _, p in rows], ".4f"),
            Column("sentences", [part.sentences for part, _ in rows]),
            Column("errors", [part.errors for part, _ in rows]),
        ],
        title=_comparison_title(found, "slices and kinds, worst first"),
        name=f"{found.system}_parts",
        caption=f"{more}{small} {plural('part', small)} too small to test",
        signature=found.edits,
    )


def comparison_tables(
    found: Comparison, *, largest: int = 10, every_figure: bool = False
) -> list[Table]:
    """Return all tables of a comparison, the most important first.

    ``largest`` sentences are shown that got better, and as many that got worse; ``every_figure``
    adds P, R, success and false alarms of every kind and slice, for programs to read.
    """
    tables = [difference_table(found)] if found.differences else []
    if any(map(is_testable, found.parts)):
        tables.append(slice_and_kind_table(found))
    tables.append(edit_rate_table(found))
    if found.judged:
        tables.append(_edit_change_count_table(found))
    tables.append(_kind_table(found))
    if found.bands:
        tables.append(_band_table(found))
    tables.append(_slice_table(found))
    if every_figure:
        tables += [_every_figure_table(found, "kind"), _every_figure_table(found, "slice")]
    return [*tables, *sentence_change_tables(found, largest=largest)]


def _comparison_title(found: Comparison, what: str) -> str:
    return f"{found.system} against {found.base}: {what}"


def _difference_columns(
    found: Comparison, each: Sequence[Difference], figure: str = ""
) -> list[Column]:
    """Return columns of old, new, difference, interval and p-values; empty ones are left out.

    Shares are in percent and figures per 1,000 words have two decimals; of columns with both,
    `_row_formats` says which.
    """
    plain = ".2f" if figure in PER_1000 else ".1p" if all(one.percent for one in each) else ""
    intervals = [Interval(one.difference.low, one.difference.high) for one in each]
    drawn = bool(each)
    return [
        Column("old", [one.old for one in each], plain),
        Column("new", [one.new for one in each], plain),
        Column("difference", [one.difference.value for one in each], f"+{plain}"),
        Column(f"{found.confidence * 100:g} % interval", intervals, plain, drawn),
        Column("p (Holm)", [one.p_holm for one in each], ".4f", drawn),
        Column("p", [one.p for one in each], ".4f", drawn),
    ]


def _row_formats(labels: Sequence[str], each: Sequence[Difference]) -> dict[str, str]:
    """Return the format of each row: percent for shares, one decimal for large numbers."""
    return {
        label: ".2f"
        if one.label in PER_1000 and not one.percent
        else ".1p"
        if one.percent
        else ".1f"
        if max(abs(one.old), abs(one.new)) >= LARGE
        else ".4f"
        for label, one in zip(labels, each, strict=True)
    }


def difference_table(found: Comparison) -> Table:
    """Return old and new score by metric, their difference with its interval, and p-values."""
    labels = [each.label for each in found.differences]
    table = Table.of(
        [Column("metric", labels), *_difference_columns(found, found.differences)],
        title=_comparison_title(found, "metrics, in percent"),
        name=f"{found.system}_metrics",
        row_formats=_row_formats(labels, found.differences),
        notes=found.notes,
        signature=join_signatures(
            filter(None, (*(each.signature for each in found.differences), found.tests))
        ),
    )
    return replace(table, answer=found.answer)


def edit_rate_table(found: Comparison) -> Table:
    """Return false alarms, clean sentences touched, sentences changed, and the mean over kinds."""
    labels = [PER_1000.get(each.label, each.label) for each in found.rates]
    return Table.of(
        [Column("figure", labels), *_difference_columns(found, found.rates)],
        title=_comparison_title(found, "what a reader meets"),
        name=f"{found.system}_rates",
        notes=() if found.differences else found.notes,
        row_formats=_row_formats(labels, found.rates),
        signature=found.edits,
    )


def _edit_change_count_table(found: Comparison) -> Table:
    counts, gained = found.counts._asdict(), found.counts.gained
    apart = f"{found.differing} of {found.size} sentences were written differently."
    return Table(
        ("change", "edits"),
        tuple((shown, counts[field]) for field, shown in CHANGES.items()),
        title=_comparison_title(
            found, f"{gained} {plural('error', gained)} gained, {found.counts.lost} lost"
        ),
        name=f"{found.system}_changes",
        caption=apart,
        rules=frozenset({1, 3, 5}),
        signature=found.edits,
    )


def _main_figure(figures: Mapping[str, Difference]) -> str:
    """Return the name of the figure that a kind or slice is shown by: F, or edits."""
    return next(name for name in figures if name.startswith(LEAD))


def _change_count_columns(changes: Sequence[ChangeCounts]) -> list[Column]:
    """Return columns of errors gained and lost, and of false alarms new and gone."""
    return [
        Column("gained", [each.gained for each in changes]),
        Column("lost", [each.lost for each in changes]),
        Column("new alarms", [each.new_alarms for each in changes]),
        Column("alarms gone", [each.alarms_gone for each in changes]),
    ]


def _kind_table(found: Comparison) -> Table:
    def change_order(kind: KindChange) -> tuple[float, ...]:
        gap = kind.figures[_main_figure(kind.figures)].difference.value
        return -sum(kind.changes), -abs(gap) if gap == gap else 0.0

    kinds = sorted(found.kinds, key=change_order)
    what = _main_figure(kinds[0].figures) if kinds else "edits"
    moves = _change_count_columns([kind.changes for kind in kinds]) if found.judged else []
    errors = [Column("errors", [kind.errors for kind in kinds])] if found.judged else []
    return Table.of(  # what a narrow terminal leaves out comes last
        [
            Column("kind", [kind.kind or "-" for kind in kinds]),
            *moves[:2],
            *_difference_columns(
                found, [kind.figures[_main_figure(kind.figures)] for kind in kinds], what
            ),
            *errors,
            *moves[2:],
        ],
        title=_comparison_title(found, f"{PER_1000.get(what, what)} by kind of edit"),
        name=f"{found.system}_kinds",
        signature=found.edits,
    )


def _band_table(found: Comparison) -> Table:
    bands = found.bands
    return Table.of(
        [
            Column("errors that are", [band.name for band in bands]),
            Column("difficulty", [Interval(band.low, band.high) for band in bands], ".2f"),
            Column("errors", [band.errors for band in bands]),
            Column("old right", [band.old_right for band in bands]),
            Column("new right", [band.new_right for band in bands]),
            *_change_count_columns([band.changes for band in bands])[:2],
        ],
        title=_comparison_title(found, "errors by difficulty"),
        name=f"{found.system}_difficulty",
        signature=found.edits,
    )


def _slice_table(found: Comparison) -> Table:
    slices = found.slices
    what = _main_figure(slices[0].figures) if slices else "edits"
    moves = _change_count_columns([each.changes for each in slices]) if found.judged else []
    return Table.of(
        [
            Column("slice", [each.column for each in slices]),
            Column("value", [each.value for each in slices]),
            *moves[:2],
            *_difference_columns(
                found, [each.figures[_main_figure(each.figures)] for each in slices], what
            ),
            Column("sentences", [each.sentences for each in slices]),
            *moves[2:],
        ],
        title=_comparison_title(found, f"{PER_1000.get(what, what)} by slice"),
        name=f"{found.system}_slices",
        rules={each.column: place for place, each in enumerate(slices)}.values(),
        signature=found.edits,
    )


def _every_figure_table(found: Comparison, what: str) -> Table:
    """Return every figure of each kind, or of each slice."""
    heads = ("kind",) if what == "kind" else ("slice", "value")
    owners: list[tuple[tuple[str, ...], Mapping[str, Difference]]] = (
        [((kind.kind or "-",), kind.figures) for kind in found.kinds]
        if what == "kind"
        else [((each.column, each.value), each.figures) for each in found.slices]
    )
    rows = [(of, name, each) for of, figures in owners for name, each in figures.items()]
    return Table.of(
        [
            *(Column(head, [of[k] for of, _, _ in rows]) for k, head in enumerate(heads)),
            Column("figure", [name for _, name, _ in rows]),
            *_difference_columns(found, [each for _, _, each in rows]),
        ],
        title=_comparison_title(found, f"every figure by {what}"),
        name=f"{found.system}_{what}_figures",
        signature=found.edits,
    )


def sentence_change_tables(found: Comparison, *, largest: int) -> list[Table]:
    """Return sentences that got better and worse; without references, those that differ."""
    if not found.judged:
        return [_sentence_table(found, found.sentences, "apart", largest)]
    return [
        _sentence_table(found, several, word, largest)
        for word, several in (("better", found.better), ("worse", found.worse))
    ]


def _sentence_table(
    found: Comparison, several: Sequence[SentenceChange], word: str, largest: int
) -> Table:
    shown = several[:largest]
    number = len(several)
    text = "written differently" if word == "apart" else f"that got {word}"
    more = f", the largest {len(shown)} of them" if len(shown) < number else ""
    size = (
        Column("gain", [each.gain for each in shown], "+d")
        if found.judged
        else Column("words", [each.size for each in shown])
    )
    return Table.of(
        [
            Column("sentence", [original_number(found.skipped, each.sentence) for each in shown]),
            size,
            *(
                Column(metric.label, [each.scores.get(metric.label) for each in shown], SIGNED)
                for metric in found.differences[:1]
            ),
            Column("old to new", [word_diff(each.old, each.new) for each in shown], width=52),
            Column("source", [each.source for each in shown], width=52),
        ],
        title=_comparison_title(found, f"{number} {plural('sentence', number)} {text}{more}"),
        name=f"{found.system}_{word}",
        signature=found.edits,
    )


def edit_change_table(found: Comparison, sources: Sequence[str]) -> Table:
    """Return a row for every error and false alarm whose state changed."""
    changes = found.changes
    edits = [change.edit for change in changes]
    tokens = [sources[change.sentence].split() for change in changes]
    words = [" ".join(t[e.start : e.end]) for t, e in zip(tokens, edits, strict=True)]
    return Table.of(
        [
            Column("sentence", [original_number(found.skipped, each.sentence) for each in changes]),
            Column("change", [each.name for each in changes]),
            Column("kind", [each.kind or "-" for each in changes]),
            Column("annotator", [each.annotator for each in changes]),
            Column("start", [edit.start for edit in edits]),
            Column("end", [edit.end for edit in edits]),
            Column("source", words, width=24),
            Column("correction", [" || ".join(edit.replacements) for edit in edits], width=24),
            Column("old", [each.before for each in changes]),
            Column("new", [each.after for each in changes]),
            Column("difficulty", [each.difficulty for each in changes], ".2f"),
        ],
        title=_comparison_title(found, "every edit that changed"),
        name=f"{found.system}_edits",
        signature=found.edits,
    )


class DiffPiece(NamedTuple):
    """Words that two texts share, or words deleted and inserted at one place."""

    kept: str = ""
    deleted: str = ""
    inserted: str = ""


def diff_pieces(old: str, new: str) -> list[DiffPiece]:
    """Return the differences of two texts, in order.

    >>> diff_pieces("I go", "I went")[1]
    DiffPiece(kept='', deleted='go', inserted='went')
    """
    tokens, pieces, at = old.split(), [], 0
    for edit in extract(old, new):
        pieces.append(DiffPiece(kept=" ".join(tokens[at : edit.start])))
        deleted = " ".join(tokens[edit.start : edit.end])
        pieces.append(DiffPiece(deleted=deleted, inserted=edit.replacement))
        at = edit.end
    return [piece for piece in (*pieces, DiffPiece(kept=" ".join(tokens[at:]))) if any(piece)]


def word_diff(old: str, new: str) -> str:
    """Return two texts as one, with deleted words in ``[-…-]`` and inserted in ``{+…+}``.

    >>> word_diff("He go to home .", "He goes home now .")
    'He [-go-] {+goes+} [-to-] home {+now+} .'
    """
    words: list[str] = []
    for kept, deleted, inserted in diff_pieces(old, new):
        words += [kept] * bool(kept)
        words += [f"[-{deleted}-]"] * bool(deleted)
        words += [f"{{+{inserted}+}}"] * bool(inserted)
    return " ".join(words)


def comparison_as_table(comparison: Comparison, *, table: str | None = None) -> Table:
    """Return the first table of a comparison, or the one with a name."""
    everything = comparison_tables(comparison, largest=len(comparison.sentences), every_figure=True)
    known = {each.name.removeprefix(f"{comparison.system}_"): each for each in everything}
    if table is not None and table not in known:
        remedy = f"it has: {', '.join(known)}"
        raise InputError(f"a comparison has no table {table!r}", remedy=remedy)
    return everything[0] if table is None else known[table]
