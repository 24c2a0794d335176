"""Comparisons of two systems as tables: figures, edits, kinds, difficulty, slices, sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from errata.comparison.compare import Comparison, KindChange, SentenceChange
from errata.comparison.edits import ChangeCounts
from errata.comparison.paired_tests import Difference
from errata.core.errors import InputError
from errata.core.stats import Interval, plural
from errata.data import Edit, original_number
from errata.edits import extract
from errata.tables.cells import Cell
from errata.tables.table import Table, joined_signatures

# What is counted per 1,000 words of the source, and is headed so.
PER_1000 = {"false alarms": "alarms per 1,000 words", "edits": "edits per 1,000 words"}
CHANGES = {
    "missed_right": "missed → right",
    "wrong_right": "wrong → right",
    "right_missed": "right → missed",
    "right_wrong": "right → wrong",
    "missed_wrong": "missed → wrong",
    "wrong_missed": "wrong → missed",
    "new_alarms": "new false alarm",
    "alarms_gone": "false alarm gone",
}
MOVES = ("gained", "lost", "new alarms", "alarms gone")
SIGNED = "+.4f"
FORMATS = {"difference": SIGNED, "p (Holm)": ".4f", "p": ".4f"}
LEAD = ("F", "edits")  # what the figure that a kind or slice is shown by begins with


def comparison_tables(
    found: Comparison, *, largest: int = 10, every_figure: bool = False
) -> list[Table]:
    """Everything that changed, in the order in which one would ask.

    ``largest`` sentences are shown that got better, and as many that got worse; ``every_figure``
    adds P, R, success and false alarms of every kind and slice, for programs to read.
    """
    tables = [difference_table(found)] if found.differences else []
    tables.append(rate_table(found))
    if found.judged:
        tables.append(_change_table(found))
    tables.append(_kind_table(found))
    if found.bands:
        tables.append(_band_table(found))
    tables.append(_slice_table(found))
    if every_figure:
        tables += [_figures_table(found, "kind"), _figures_table(found, "slice")]
    return [*tables, *sentence_change_tables(found, largest=largest)]


def _title(found: Comparison, what: str) -> str:
    return f"{found.system} against {found.base}: {what}"


def _interval(found: Comparison) -> str:
    return f"{found.confidence * 100:g} % interval"


def _cells(each: Difference) -> tuple[Cell, ...]:
    change = each.difference
    interval = Interval(change.low, change.high)
    return each.old, each.new, change.value, interval, each.p_holm, each.p


def _columns(found: Comparison) -> tuple[str, ...]:
    return "old", "new", "difference", _interval(found), "p (Holm)", "p"


def _trimmed(table: Table, found: Comparison) -> Table:
    """The table without the columns of what was not drawn."""
    for column in (_interval(found), "p (Holm)", "p") if table.rows else ():
        table = table.without_empty(column)
    return table


def difference_table(found: Comparison) -> Table:
    """Every metric: old, new, their difference with its interval, and its p-values."""
    notes = [f"note: {note}" for note in found.notes]
    table = Table(
        ("metric", *_columns(found)),
        tuple((each.label, *_cells(each)) for each in found.differences),
        title=_title(found, "metrics"),
        name=f"{found.system}_metrics",
        caption="\n".join(notes),
        formats=FORMATS,
        signature=joined_signatures(
            filter(None, (*(each.signature for each in found.differences), found.tests))
        ),
    )
    return _trimmed(table, found)


def rate_table(found: Comparison) -> Table:
    """False alarms, clean sentences touched, sentences changed, and the mean over kinds."""
    rows = tuple((PER_1000.get(each.label, each.label), *_cells(each)) for each in found.rates)
    notes = () if found.differences else found.notes
    table = Table(
        ("figure", *_columns(found)),
        rows,
        title=_title(found, "what a reader meets"),
        name=f"{found.system}_rates",
        caption="\n".join(f"note: {note}" for note in notes),
        formats=FORMATS,
        row_formats=dict.fromkeys(PER_1000.values(), ".2f"),
        signature=found.edits,
    )
    return _trimmed(table, found)


def _change_table(found: Comparison) -> Table:
    counts, gained = found.counts._asdict(), found.counts.gained
    apart = f"{found.differing} of {found.size} sentences were written differently."
    return Table(
        ("change", "edits"),
        tuple((shown, counts[field]) for field, shown in CHANGES.items()),
        title=_title(found, f"{gained} {plural('error', gained)} gained, {found.counts.lost} lost"),
        name=f"{found.system}_changes",
        caption=apart,
        rules=frozenset({1, 3, 5}),
        signature=found.edits,
    )


def _lead(figures: Mapping[str, Difference]) -> str:
    """The figure that stands for the others: F, or the number of edits."""
    return next(name for name in figures if name.startswith(LEAD))


def _moves(counts: ChangeCounts, judged: bool) -> tuple[Cell, ...]:
    return (counts.gained, counts.lost, counts.new_alarms, counts.alarms_gone) if judged else ()


def _formats(found: Comparison, what: str) -> dict[str, str]:
    """Digits of a table of one figure: of what is counted per 1,000 words, two decimals."""
    if what not in PER_1000:
        return FORMATS
    shown = dict.fromkeys(("old", "new", _interval(found)), ".2f")
    return FORMATS | shown | {"difference": "+.2f"}


def _kind_table(found: Comparison) -> Table:
    def busiest(kind: KindChange) -> tuple[float, ...]:
        gap = kind.figures[_lead(kind.figures)].difference.value
        return -sum(kind.changes), -abs(gap) if gap == gap else 0.0

    # What a narrow terminal leaves out stands last.
    first, last = (MOVES[:2], ("errors", *MOVES[2:])) if found.judged else ((), ())
    rows = tuple(
        (
            kind.kind or "-",
            *_moves(kind.changes, found.judged)[:2],
            *_cells(kind.figures[_lead(kind.figures)]),
            *((kind.errors,) if found.judged else ()),
            *_moves(kind.changes, found.judged)[2:],
        )
        for kind in sorted(found.kinds, key=busiest)
    )
    what = _lead(found.kinds[0].figures) if found.kinds else "edits"
    table = Table(
        ("kind", *first, *_columns(found), *last),
        rows,
        title=_title(found, f"{PER_1000.get(what, what)} by kind of edit"),
        name=f"{found.system}_kinds",
        formats=_formats(found, what),
        signature=found.edits,
    )
    return _trimmed(table, found)


def _band_table(found: Comparison) -> Table:
    rows = tuple(
        (
            band.name,
            Interval(band.low, band.high),
            band.errors,
            band.old_right,
            band.new_right,
            band.changes.gained,
            band.changes.lost,
        )
        for band in found.bands
    )
    return Table(
        ("errors that are", "difficulty", "errors") + ("old right", "new right", "gained", "lost"),
        rows,
        title=_title(found, "errors by difficulty"),
        name=f"{found.system}_difficulty",
        formats={"difficulty": ".2f"},
        signature=found.edits,
    )


def _slice_table(found: Comparison) -> Table:
    first, later = (MOVES[:2], MOVES[2:]) if found.judged else ((), ())
    rows = tuple(
        (
            each.column,
            each.value,
            *_moves(each.changes, found.judged)[:2],
            *_cells(each.figures[_lead(each.figures)]),
            each.sentences,
            *_moves(each.changes, found.judged)[2:],
        )
        for each in found.slices
    )
    what = _lead(found.slices[0].figures) if found.slices else "edits"
    columns = [each.column for each in found.slices]
    last = {max(i for i, name in enumerate(columns) if name == each) for each in columns}
    table = Table(
        ("slice", "value", *first, *_columns(found), "sentences", *later),
        rows,
        title=_title(found, f"{PER_1000.get(what, what)} by slice"),
        name=f"{found.system}_slices",
        formats=_formats(found, what),
        rules=frozenset(last),
        signature=found.edits,
    )
    return _trimmed(table, found)


def _figures_table(found: Comparison, what: str) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for kind in found.kinds if what == "kind" else ():
        rows += [(kind.kind or "-", name, *_cells(each)) for name, each in kind.figures.items()]
    for part in found.slices if what == "slice" else ():
        of = (part.column, part.value)
        rows += [(*of, name, *_cells(each)) for name, each in part.figures.items()]
    named = ("kind",) if what == "kind" else ("slice", "value")
    table = Table(
        (*named, "figure", *_columns(found)),
        tuple(rows),
        title=_title(found, f"every figure by {what}"),
        name=f"{found.system}_{what}_figures",
        formats=FORMATS,
        signature=found.edits,
    )
    return _trimmed(table, found)


def sentence_change_tables(found: Comparison, *, largest: int = 10) -> list[Table]:
    """The sentences that got better and those that got worse; without references, those apart."""
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
    metrics = tuple(each.label for each in found.differences[:1])
    rows = tuple(
        (
            original_number(found.skipped, each.sentence),
            each.gain if found.judged else each.size,
            *(each.scores.get(label) for label in metrics),
            word_diff(each.old, each.new),
            each.source,
        )
        for each in shown
    )
    number = len(several)
    text = "written differently" if word == "apart" else f"that got {word}"
    more = f", the largest {len(shown)} of them" if len(shown) < number else ""
    return Table(
        ("sentence", "gain" if found.judged else "words", *metrics, "old to new", "source"),
        rows,
        title=_title(found, f"{number} {plural('sentence', number)} {text}{more}"),
        name=f"{found.system}_{word}",
        formats={"gain": "+d"} | dict.fromkeys(metrics, SIGNED),
        widths={"old to new": 52, "source": 52},
        signature=found.edits,
    )


def edit_change_table(found: Comparison, sources: Sequence[str]) -> Table:
    """Every error and false alarm whose state changed, a row each."""
    rows: list[tuple[Cell, ...]] = [
        (
            original_number(found.skipped, change.sentence),
            change.name,
            change.kind or "-",
            change.annotator,
            *_place(change.edit, sources[change.sentence]),
            change.before,
            change.after,
            change.difficulty,
        )
        for change in found.changes
    ]
    return Table(
        ("sentence", "change", "kind", "annotator", "start", "end", "source", "correction")
        + ("old", "new", "difficulty"),
        tuple(rows),
        title=_title(found, "every edit that changed"),
        name=f"{found.system}_edits",
        formats={"difficulty": ".2f"},
        widths={"source": 24, "correction": 24},
        signature=found.edits,
    )


def _place(edit: Edit, source: str) -> tuple[Cell, ...]:
    tokens = " ".join(source.split()[edit.start : edit.end])
    return edit.start, edit.end, tokens, " || ".join(edit.replacements)


def word_diff(old: str, new: str) -> str:
    """Two texts in one, with what goes in ``[-…-]`` and what comes in ``{+…+}``.

    >>> word_diff("He go to home .", "He goes home now .")
    'He [-go-] {+goes+} [-to-] home {+now+} .'
    """
    tokens, shown, at = old.split(), [], 0
    for edit in extract(old, new):
        shown += tokens[at : edit.start]
        gone = " ".join(tokens[edit.start : edit.end])
        shown += [f"[-{gone}-]"] * bool(gone) + [f"{{+{edit.replacement}+}}"] * bool(
            edit.replacement
        )
        at = edit.end
    return " ".join([*shown, *tokens[at:]])


def comparison_as_table(comparison: Comparison, *, table: str | None = None) -> Table:
    """Return the first table of a comparison, or the one with a name."""
    everything = comparison_tables(comparison, largest=len(comparison.sentences), every_figure=True)
    known = {each.name.removeprefix(f"{comparison.system}_"): each for each in everything}
    if table is not None and table not in known:
        raise InputError(
            f"a comparison has no table {table!r}", remedy=f"it has: {', '.join(known)}"
        )
    return everything[0] if table is None else known[table]
