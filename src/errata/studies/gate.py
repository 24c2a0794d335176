"""A gate: conditions on what changed between two systems, under which a build is to fail.

A condition is written as people say it::

    m2 < -0.005                        the change of a metric, new minus old
    m2 score < 0.4                     the score of the new system itself
    R:VERB:SVA recall < 0.8            a figure of one kind of edit, of the new system
    change of R:SPELL precision < 0    the same figure, new minus old
    false alarms > 12                  per 1,000 words; also: clean sentences touched
    new false alarms > 0               how many edits changed so; also: lost edits, gained edits
    lost edits of R:SPELL > 2          the same of one kind
    new false alarms > 0 on clean.txt  on the sentences of a file, or of a slice: on domain=mail

What has an interval is held against its *confident* bound: the build fails where the condition
holds of the whole interval, so that chance alone does not stop it. ``point`` looks at the value
alone, and ``cautious`` fails as soon as any part of the interval meets the condition.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from errata.edits import kind_at
from errata.errors import InputError
from errata.numbers import Interval
from errata.parameters import nearest, require
from errata.studies.compared_parts import KindChange
from errata.studies.comparison import Comparison
from errata.studies.paired_tests import Difference

__all__ = ["Condition", "GateBound", "HeldCondition", "check_gate", "parse_condition"]

GateBound = Literal["confident", "point", "cautious"]
Sign = Literal["<", ">", "<=", ">="]

_SIGNS: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}
_CONDITION = re.compile(
    r"\s*(?P<figure>[^<>]+?)\s*(?P<sign><=|>=|<|>)\s*"
    r"(?P<number>[-+−]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)\s*(?P<percent>%)?"
    r"(?:\s+on\s+(?P<where>.+?))?\s*",
    re.IGNORECASE | re.DOTALL,
)
# What people call the figures of a kind, and what tables do.
_FIGURES = {"recall": "R", "precision": "P", "r": "R", "p": "P", "success": "success"}
_COUNTS = {
    "new false alarms": "new_alarms",
    "false alarms gone": "alarms_gone",
    "lost edits": "lost",
    "gained edits": "gained",
    "spoilt edits": "right_wrong",
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
class HeldCondition:
    """A condition held against one system: the figure, its interval, and whether it fails.

    ``sentences`` are those that a count is made of, from 0 in the ``comparison`` behind it, which
    may be of a part of the corpus.
    """

    condition: Condition
    system: str
    figure: str
    value: float
    interval: Interval
    bound: GateBound
    failed: bool
    sentences: tuple[int, ...] = ()
    comparison: Comparison | None = field(default=None, repr=False, compare=False)


def parse_condition(text: str) -> Condition:
    """Read a condition; what is no condition is refused with what one looks like.

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
    bound: GateBound = "confident",
) -> tuple[HeldCondition, ...]:
    """Hold every condition against every system.

    ``compared`` gives the comparisons on the sentences that a condition names after ``on``, which
    is empty for all of them; it is called once for each.
    """
    require("bound", bound, GateBound)
    places = {where: compared(where) for where in dict.fromkeys(c.where for c in conditions)}
    return tuple(
        _held(condition, comparison, bound)
        for condition in conditions
        for comparison in places[condition.where]
    )


def _held(condition: Condition, comparison: Comparison, bound: GateBound) -> HeldCondition:
    name, value, interval, sentences = _figure(condition, comparison)
    if math.isnan(value):
        raise InputError(
            f"{condition.text!r}: there is no {condition.figure} to hold it against",
            remedy="there may be no such edits in these sentences; leave the condition out, or "
            "give sentences that have some",
        )
    if bound != "point" and math.isnan(interval.low) and not _is_count(condition.figure):
        raise InputError(
            f"{condition.text!r} is held against an interval, and there is none without resamples "
            "that have something to count",
            remedy="give --resamples, or --bound point",
        )
    below = condition.sign[0] == "<"
    if bound == "point" or math.isnan(interval.low):
        looked_at = value
    elif bound == "confident":  # the end that is furthest from failing
        looked_at = interval.high if below else interval.low
    else:
        looked_at = interval.low if below else interval.high
    failed = _SIGNS[condition.sign](looked_at, condition.threshold)
    return HeldCondition(
        condition, comparison.system, name, value, interval, bound, failed, sentences, comparison
    )


def _is_count(figure: str) -> bool:
    return _counted(figure) is not None


def _counted(figure: str) -> tuple[str, str] | None:
    """The count that a figure names, and of which kind; empty for all kinds."""
    name, _, kind = figure.partition(" of ")
    attribute = _COUNTS.get(name.lower())
    return None if attribute is None else (attribute, kind)


def _figure(
    condition: Condition, comparison: Comparison
) -> tuple[str, float, Interval, tuple[int, ...]]:
    """What is looked at, its value and interval, and the sentences that a count is made of."""
    counted = _counted(condition.figure)
    if counted is not None:
        return condition.figure, *_count(condition, comparison, *counted)
    difference, level = _difference(condition, comparison)
    level = level and not condition.change
    if difference.share:
        _refuse_impossible(condition, 0.0 if level else -1.0)
    if level:
        return condition.figure, difference.new, difference.new_interval, ()
    by = difference.difference
    return f"change of {condition.figure}", by.value, Interval(by.low, by.high), ()


def _refuse_impossible(condition: Condition, least: float) -> None:
    """Refuse what never holds of a share: a gate that cannot fail is a typing error."""
    threshold, sign = condition.threshold, condition.sign
    if {"<": threshold <= least, "<=": threshold < least, ">": threshold >= 1, ">=": threshold > 1}[
        sign
    ]:
        raise InputError(
            f"{condition.text!r} never holds: {condition.figure} is between {least:g} and 1",
            remedy="shares are written as 0.05 or 5 %",
        )


def _count(
    condition: Condition, comparison: Comparison, attribute: str, kind: str
) -> tuple[float, Interval, tuple[int, ...]]:
    if not comparison.judged:
        raise InputError(
            f"{condition.text!r}: without references no edit is right or wrong",
            remedy="give --gold or --refs",
        )
    if condition.change:
        raise InputError(
            f"{condition.text!r}: {condition.figure} are changes already",
            remedy="leave 'change of' out",
        )
    counts = comparison.counts
    if kind:
        counts = _kind(condition, comparison, kind).changes
    wanted = _CHANGES[attribute]
    sentences = dict.fromkeys(
        change.sentence
        for change in comparison.changes
        if change.name in wanted and (not kind or kind in _kinds(change.kind))
    )
    number = float(getattr(counts, attribute))
    return number, Interval(math.nan, math.nan), tuple(sentences)


def _kinds(kind: str) -> set[str]:
    """A kind by all names that it has, from its operation alone to its full name."""
    return {kind_at(kind, tier) for tier in (1, 2, 3)}


_CHANGES = {
    "new_alarms": {"new false alarm"},
    "alarms_gone": {"false alarm gone"},
    "lost": {"right → missed", "right → wrong"},
    "gained": {"missed → right", "wrong → right"},
    "right_wrong": {"right → wrong"},
}


def _difference(condition: Condition, comparison: Comparison) -> tuple[Difference, bool]:
    """What a condition speaks of, and whether its level is meant unless a change is asked for."""
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
        figures = _kind(condition, comparison, kind).figures
        name = _FIGURES.get(word.lower(), word)
        if name in figures:
            return figures[name], True
        raise _unknown(condition, word, [*_FIGURES, *figures])
    known = [*by_label, *rates, *_COUNTS, *(f"{each.kind} recall" for each in comparison.kinds)]
    raise _unknown(condition, figure, known)


def _kind(condition: Condition, comparison: Comparison, name: str) -> KindChange:
    found = comparison.kind(name)
    if found is None:
        raise _unknown(condition, name, [each.kind for each in comparison.kinds])
    return found


def _unknown(condition: Condition, word: str, known: Sequence[str]) -> InputError:
    return InputError(
        f"{condition.text!r}: there is no {word!r} here",
        remedy=f"{nearest(word, known)}known: {', '.join(known[:30])}",
    )
