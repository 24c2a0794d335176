"""Conditions (parsed first), evaluation on files, JUnit, GitHub, Markdown, table.

`docs/gate.md` has the grammar: ``m2 < -0.005``, ``new false alarms > 0 on clean.txt``. A figure
with an interval is tested at its *confident* bound: the build fails if the condition holds for the
whole interval, so that chance alone does not stop it. ``point`` looks at the value alone, and
``cautious`` fails as soon as any part of the interval meets the condition.
"""

from __future__ import annotations

import logging
import math
import operator
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, cast
from xml.etree import ElementTree

from errata.comparison.compare import Comparison, KindChange, ScoredMetric, compare, length_slices
from errata.comparison.paired_tests import Difference
from errata.comparison.tables import comparison_tables
from errata.core.errors import NOTICE, InputError, escape_controls
from errata.core.parameters import require, suggest_name
from errata.core.stats import Interval
from errata.data import Corpus, Hypotheses, original_number
from errata.edits import kind_at
from errata.io import read_corpus, read_hypotheses
from errata.io.atomic import refuse_read_only
from errata.io.files import PathLike
from errata.io.slices import read_slices, sentences_listed_in
from errata.io.stored_runs import read_run
from errata.metrics import Metric, parse
from errata.scoring.decisions import RULES
from errata.tables.table import Column, Table, markdown_line, render

Bound = Literal["confident", "point", "cautious"]
Sign = Literal["<", ">", "<=", ">="]

_SIGNS: dict[str, Any] = {"<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge}
_CONDITION = re.compile(
    r"\s*(?P<figure>[^<>]+?)\s*(?P<sign><=|>=|<|>)\s*"
    r"(?P<number>[-+−]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)\s*(?P<percent>%)?"
    r"(?:\s+on\s+(?P<where>.+?))?\s*",
    re.IGNORECASE | re.DOTALL,
)
# What people call the figures of a kind, and what tables do.
_FIGURES = {"recall": "R", "precision": "P", "r": "R", "p": "P", "success": "success"}
# Counts of edits: their field, and the changes that they count.
_COUNTS = {
    "new false alarms": ("new_alarms", {"new false alarm"}),
    "false alarms gone": ("alarms_gone", {"false alarm gone"}),
    "lost edits": ("lost", {"right → missed", "right → wrong"}),
    "gained edits": ("gained", {"missed → right", "wrong → right"}),
    "spoilt edits": ("right_wrong", {"right → wrong"}),
}
EXAMPLE = "write e.g. 'm2 < -0.005', 'R:SPELL recall < 0.8' or 'new false alarms > 0 on clean.txt'"


@dataclass(frozen=True)
class Condition:
    """What must not be: a ``figure`` below or above a ``threshold``, perhaps only ``where``."""

    text: str
    figure: str
    sign: Sign
    threshold: float
    change: bool = False
    where: str = ""


@dataclass(frozen=True)
class CheckedCondition:
    """A condition checked for one system: the figure, its interval, and whether it fails.

    ``sentences`` are those that a count is made of, from 0 in the ``comparison`` behind it, which
    may be of a part of the corpus. Of ``too_few`` sentences no interval is an argument, and the
    confident bound decides nothing.
    """

    condition: Condition
    system: str
    figure: str
    value: float
    interval: Interval
    bound: Bound
    failed: bool
    sentences: tuple[int, ...] = ()
    comparison: Comparison | None = field(default=None, repr=False, compare=False)
    too_few: bool = False


def parse_condition(text: str) -> Condition:
    """Read a condition; a text that is none is refused with examples.

    >>> parse_condition("R:VERB:SVA recall < 80 % on domain=mail").threshold
    0.8
    >>> parse_condition("change of false alarms > 0.5").change
    True
    """
    found = _CONDITION.fullmatch(text)
    if found is None:
        raise InputError(f"cannot read the condition {text!r}", remedy=EXAMPLE)
    number = float(found["number"].replace("−", "-"))
    figure = " ".join(found["figure"].split())
    change = figure.lower().startswith("change of ")
    return Condition(
        " ".join(text.split()),
        figure[len("change of ") :] if change else figure,
        found["sign"],  # type: ignore[arg-type]  # the pattern has these four
        number / 100 if found["percent"] else number,
        change,
        found["where"] or "",
    )


def check_gate(
    conditions: Sequence[Condition],
    compared: Callable[[str], Sequence[Comparison]],
    *,
    bound: Bound = "confident",
) -> tuple[CheckedCondition, ...]:
    """Check every condition for every system.

    ``compared`` gives the comparisons on the sentences that a condition names after ``on``, which
    is empty for all of them; it is called once for each.
    """
    require("bound", bound, Bound)
    places = {where: compared(where) for where in dict.fromkeys(c.where for c in conditions)}
    return tuple(
        _check_condition(condition, comparison, bound)
        for condition in conditions
        for comparison in places[condition.where]
    )


def _check_condition(
    condition: Condition, comparison: Comparison, bound: Bound
) -> CheckedCondition:
    name, value, interval, sentences = _look_up_figure(condition, comparison)
    counted = _split_count_name(condition.figure) is not None
    if math.isnan(value):
        raise InputError(
            f"{condition.text!r}: there is no {condition.figure} to hold it against",
            remedy="there may be no such edits in these sentences; leave the condition out, or "
            "give sentences that have some",
        )
    if bound != "point" and math.isnan(interval.low) and not counted:
        raise InputError(
            f"{condition.text!r} is tested on an interval, and there is none without resamples "
            "that have something to count",
            remedy="give --resamples, or --bound point",
        )
    below = condition.sign[0] == "<"
    if bound == "point" or math.isnan(interval.low):
        looked_at = value
    else:  # confident: the end that is furthest from failing
        looked_at = interval.high if below == (bound == "confident") else interval.low
    too_few = bound == "confident" and not counted and comparison.size < RULES.sentences
    failed = not too_few and _SIGNS[condition.sign](looked_at, condition.threshold)
    return CheckedCondition(
        condition,
        comparison.system,
        name,
        value,
        interval,
        bound,
        failed,
        sentences,
        comparison,
        too_few,
    )


def _split_count_name(figure: str) -> tuple[str, str] | None:
    """Return the name of a count and its kind (empty for all), or None for another figure."""
    name, _, kind = figure.partition(" of ")
    return (name.lower(), kind) if name.lower() in _COUNTS else None


def _look_up_figure(
    condition: Condition, comparison: Comparison
) -> tuple[str, float, Interval, tuple[int, ...]]:
    """Return the figure tested, its value and interval, and the sentences behind a count."""
    counted = _split_count_name(condition.figure)
    if counted is not None:
        return condition.figure, *_look_up_count(condition, comparison, *counted)
    difference, level = _look_up_difference(condition, comparison)
    level = level and not condition.change
    if difference.share:
        _refuse_impossible_threshold(condition, 0.0 if level else -1.0)
    if level:
        return condition.figure, difference.new, difference.new_interval, ()
    by = difference.difference
    return f"change of {condition.figure}", by.value, Interval(by.low, by.high), ()


def _refuse_impossible_threshold(condition: Condition, least: float) -> None:
    """Refuse a threshold that no share can pass: a gate that cannot fail is a typing error."""
    threshold, sign = condition.threshold, condition.sign
    if {"<": threshold <= least, "<=": threshold < least, ">": threshold >= 1, ">=": threshold > 1}[
        sign
    ]:
        problem = f"{condition.text!r} never holds: {condition.figure} is between {least:g} and 1"
        raise InputError(problem, remedy="shares are written as 0.05 or 5 %")


def _look_up_count(
    condition: Condition, comparison: Comparison, name: str, kind: str
) -> tuple[float, Interval, tuple[int, ...]]:
    if not comparison.judged:
        problem = f"{condition.text!r}: without references no edit is right or wrong"
        raise InputError(problem, remedy="give --gold or --refs")
    if condition.change:
        problem = f"{condition.text!r}: {condition.figure} are changes already"
        raise InputError(problem, remedy="leave 'change of' out")
    counts = comparison.counts
    if kind:
        counts = _look_up_kind(condition, comparison, kind).changes
    attribute, wanted = _COUNTS[name]
    sentences = dict.fromkeys(
        change.sentence
        for change in comparison.changes
        if change.name in wanted
        and (not kind or kind in {kind_at(change.kind, tier) for tier in (1, 2, 3)})
    )
    number = float(getattr(counts, attribute))
    return number, Interval(math.nan, math.nan), tuple(sentences)


def _look_up_difference(condition: Condition, comparison: Comparison) -> tuple[Difference, bool]:
    """Return the figure of a condition, and whether its level is tested and not its change."""
    figure = condition.figure
    by_label = {each.label: each for each in comparison.differences}
    names = [label.partition("(")[0] for label in by_label]  # of two of a name, neither is meant
    by_name = {n: d for n, d in zip(names, by_label.values(), strict=True) if names.count(n) == 1}
    for ending, level in (("", False), (" score", True)):
        name = figure.removesuffix(ending) if figure.lower().endswith(ending) else ""
        found = by_label.get(name) or by_name.get(name)
        if found is not None:
            return found, level
    rates = {each.label: each for each in comparison.rates}
    if figure.lower() in rates:
        return rates[figure.lower()], True
    kind, _, word = figure.rpartition(" ")
    if kind:
        if figure.lower().endswith(" false alarms"):
            kind, word = figure[: -len(" false alarms")], "false alarms"
        figures = _look_up_kind(condition, comparison, kind).figures
        name = _FIGURES.get(word.lower(), word)
        if name in figures:
            return figures[name], True
        raise _unknown_name_error(condition, word, [*_FIGURES, *figures])
    known = [*by_label, *rates, *_COUNTS, *(f"{each.kind} recall" for each in comparison.kinds)]
    raise _unknown_name_error(condition, figure, known)


def _look_up_kind(condition: Condition, comparison: Comparison, name: str) -> KindChange:
    found = comparison.kind(name)
    if found is None:
        raise _unknown_name_error(condition, name, [each.kind for each in comparison.kinds])
    return found


def _unknown_name_error(condition: Condition, word: str, known: Sequence[str]) -> InputError:
    remedy = f"{suggest_name(word, known)}known: {', '.join(known[:30])}"
    return InputError(f"{condition.text!r}: there is no {word!r} here", remedy=remedy)


MEANT = {
    "confident": "a condition fails where it holds of the whole interval",
    "point": "a condition fails where it holds of the value",
    "cautious": "a condition fails where it holds of any part of the interval",
}


def gate_table(verdicts: Sequence[CheckedCondition], *, signature: str = "") -> Table:
    """Return a row per condition and system: the figure, its interval, and the verdict."""
    words = ["too few data" if each.too_few else "passed" for each in verdicts]
    words = ["FAILED" if v.failed else word for v, word in zip(verdicts, words, strict=True)]
    failed, few = words.count("FAILED"), words.count("too few data")
    said = f"{failed} of {len(verdicts)} failed" if failed or few else f"all {len(verdicts)} passed"
    return Table.of(
        [
            Column("verdict", words),
            Column("fails if", [each.condition.text for each in verdicts]),
            Column("system", [each.system for each in verdicts]),
            Column("value", [each.value for each in verdicts], ".4g"),
            Column("interval", [each.interval for each in verdicts], ".4g", optional=True),
        ],
        title=f"Gate: {said}" + (f", {few} with too few data" if few else ""),
        name="gate",
        caption=MEANT[verdicts[0].bound] if verdicts else "",
        signature=signature,
    )


# ---- What a gate tells build servers: JUnit's XML, GitHub's annotations, a summary in Markdown.

SHOWN = 5  # sentences that a message names


def verdict_text(verdict: CheckedCondition) -> str:
    """Return a verdict in a line, and below it the first sentences that a count is made of."""
    low, high = verdict.interval
    between = "" if low != low else f" [{low:.4g}, {high:.4g}]"
    ending = "holds" if verdict.failed else "does not hold"
    if verdict.too_few:
        ending = f"is not decided (fewer than {RULES.sentences} sentences)"
    lines = [
        f"{verdict.system}: {verdict.condition.text!r} {ending}: "
        f"{verdict.figure} is {verdict.value:.4g}{between}"
    ]
    comparison = verdict.comparison
    if comparison is not None and verdict.failed:
        shown = {each.sentence: f": {each.old} → {each.new}" for each in comparison.sentences}
        for i in verdict.sentences[:SHOWN]:
            number = original_number(comparison.skipped, i)
            lines.append(f"  sentence {number}{shown.get(i, '')}")
        if len(verdict.sentences) > SHOWN:
            lines.append(f"  and {len(verdict.sentences) - SHOWN} more")
    return "\n".join(map(escape_controls, lines))


def _escape_xml(text: str) -> str:
    """Escape the two characters that `escape_controls` lets through and XML does not."""
    return text.replace("\ufffe", r"\ufffe").replace("\uffff", r"\uffff")


def junit_xml(verdicts: Sequence[CheckedCondition], seconds: float = 0.0) -> bytes:
    """Return a JUnit test suite with a case for every condition and system."""
    failed = sum(each.failed for each in verdicts)
    skipped = sum(each.too_few for each in verdicts)
    numbers = {"tests": len(verdicts), "failures": failed, "errors": 0, "skipped": skipped}
    counts = {key: str(number) for key, number in numbers.items()}
    suites = ElementTree.Element("testsuites", counts)
    suite = ElementTree.SubElement(
        suites, "testsuite", {"name": "errata gate", "time": f"{seconds:.3f}", **counts}
    )
    for each in verdicts:
        shown = {"classname": f"errata.{each.system}", "name": each.condition.text, "time": "0"}
        attributes = {key: _escape_xml(escape_controls(text)) for key, text in shown.items()}
        case = ElementTree.SubElement(suite, "testcase", attributes)
        if each.failed:
            said = _escape_xml(verdict_text(each))
            failure = ElementTree.SubElement(
                case, "failure", {"message": said.partition("\n")[0], "type": "regression"}
            )
            failure.text = said
        elif each.too_few:
            ElementTree.SubElement(case, "skipped", {"message": _escape_xml(verdict_text(each))})
    ElementTree.indent(suites)
    text: bytes = ElementTree.tostring(suites, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def github_annotations(verdicts: Sequence[CheckedCondition]) -> list[str]:
    """Return lines that GitHub shows at the run: errors for what failed, notices for the rest."""
    lines = []
    for each in verdicts:
        kind, text = "error" if each.failed else "notice", verdict_text(each)
        for character in "%\r\n":  # as its workflow commands require
            text = text.replace(character, f"%{ord(character):02X}")
        lines.append(f"::{kind} title=errata gate::{text}")
    return lines


def gate_summary(
    verdicts: Sequence[CheckedCondition], comparisons: Sequence[Comparison], *, largest: int = 5
) -> str:
    """Return a page in Markdown: pass or fail, the metrics, what got worse."""
    failed = any(each.failed for each in verdicts)
    head = "## Errata: " + ("failed" if failed else "passed" if verdicts else "what changed")
    signature = comparisons[0].edits if comparisons else ""
    tables: list[Table] = [gate_table(verdicts, signature=signature)] if verdicts else []
    for each in comparisons:
        tables += (replace(t, answer=None) for t in comparison_tables(each, largest=largest))
    answers = [markdown_line(each.answer.sentence) for each in comparisons if each.answer]
    return "\n\n".join([head, *answers, render(tables, "markdown")]) + "\n"


# ---- A gate on files: systems, sentences and the verdicts of the conditions.

SliceColumns = Mapping[str, Sequence[str]]


def compare_and_check_gate(
    fail_if: Sequence[Condition],
    metrics: Sequence[Metric],
    corpus: Corpus,
    base: Hypotheses,
    others: Sequence[Hypotheses],
    *,
    slices: SliceColumns | None = None,
    bound: Bound = "confident",
    scored: Sequence[ScoredMetric] = (),
    **settings: Any,
) -> tuple[tuple[Comparison, ...], tuple[CheckedCondition, ...]]:
    """Compare systems (``settings`` as for `compare`) and check conditions.

    The sentences that a condition names are compared once more alone.
    """
    settings["guard"] = False  # outputs were checked when they were read
    whole = compare(metrics, corpus, base, others, slices=slices, scored=scored, **settings)

    def compare_where(where: str) -> tuple[Comparison, ...]:
        named = _condition_sentences(where, corpus, slices) if where else range(len(corpus))
        kept = sorted({*named})
        if len(kept) == len(corpus):
            return whole
        gone = {*range(len(corpus))}.difference(kept)
        return compare(
            metrics,
            corpus.without_sentences(*gone),
            base.without_sentences(*gone),
            [each.without_sentences(*gone) for each in others],
            slices={name: [own[i] for i in kept] for name, own in (slices or {}).items()},
            **settings,
        )

    return whole, check_gate(fail_if, compare_where, bound=bound)


def _condition_sentences(where: str, corpus: Corpus, columns: SliceColumns | None) -> Sequence[int]:
    """Return the sentences that a condition names: a slice, column=value, or a file."""
    known: dict[str, Sequence[str]] = {"length": length_slices(corpus), **(columns or {})}
    column, equals, value = where.partition("=")
    if not equals or column not in known:
        return sentences_listed_in(where, corpus)
    found = [i for i, each in enumerate(known[column]) if each == value]
    if not found:
        values = ", ".join(dict.fromkeys(known[column]))
        raise InputError(f"no sentence has {where!r}", remedy=f"{column} is one of: {values}")
    return found


def read_baseline_output(
    path: PathLike, corpus: Corpus, new: Sequence[Hypotheses], *, update: bool
) -> Hypotheses:
    """Return the output of a stored run, or the new one if there is none yet and ``update``."""
    if update:
        if len(new) > 1:
            raise InputError("a baseline is one system", remedy="give one output")
        refuse_read_only(os.fspath(path))
    if Path(path).exists():
        return read_stored_output(path, corpus, new)
    if not update:
        remedy = "store one: --update-baseline"
        raise InputError("there is no baseline yet", path=os.fspath(path), remedy=remedy)
    message = f"there is no baseline yet: {new[0].system} is compared with itself"
    logging.getLogger(__name__).log(NOTICE, "%s", message)
    return replace(new[0], system=f"{new[0].system} (stored)")


def read_stored_output(path: PathLike, corpus: Corpus, new: Sequence[Hypotheses]) -> Hypotheses:
    """Return the output of a stored run on the same corpus, under a name no new system has."""
    run = read_run(path)
    run.check_corpus(corpus)
    taken = {each.system for each in new}
    name = run.system if run.system not in taken else f"{run.system} of {run.when[:10]}"
    return run.output(corpus, name=name if name not in taken else f"{name} (stored)")


def check_files_gate(
    *,
    new: PathLike,
    old: PathLike | None = None,
    baseline: PathLike | None = None,
    gold: PathLike | None = None,
    source: PathLike | None = None,
    refs: Sequence[PathLike] = (),
    annotators: Sequence[int] | None = None,
    tokens: str = "as_is",
    fail_if: Sequence[str] = ("m2 < -0.005",),
    metrics: Sequence[str] = ("m2", "edits"),
    slices: PathLike | None = None,
    bound: Bound = "confident",
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
) -> tuple[tuple[CheckedCondition, ...], tuple[Comparison, ...]]:
    """Compare two files and return the verdicts on conditions, and the comparison behind them.

    The old output is a file or a stored run (``baseline``); the rest is as in ``errata compare``.
    """
    if (old is None) == (baseline is None):
        remedy = "give old= or baseline="
        raise InputError("a gate needs the old output or a baseline, and not both", remedy=remedy)
    conditions = [parse_condition(text) for text in fail_if]
    corpus = read_corpus(
        gold=gold, source=source, references=refs, annotators=annotators, tokens=tokens
    )
    latest = read_hypotheses(new, corpus=corpus)
    if old is not None:
        base = read_hypotheses(old, corpus=corpus)
        if base.system == latest.system:
            base = Hypotheses(f"{base.system} (old)", base.sentences, base.edits)
    else:
        base = read_stored_output(cast(PathLike, baseline), corpus, [latest])
    columns = None if slices is None else read_slices(slices, corpus)
    found, verdicts = compare_and_check_gate(
        conditions,
        [parse(text) for text in metrics],
        corpus,
        base,
        [latest],
        slices=columns,
        bound=bound,
        resamples=resamples,
        trials=0,
        confidence=confidence,
        rng=seed,
    )
    return verdicts, found
