"""One answer from tested differences: which outcome holds, and the sentence that says it.

The rules are one decision procedure for every command, page and gate. Differences and scores are in
percent points here, p-values before Holm's correction, which belongs to the families: all others
against the best system, all metrics but the primary one, and all parts (slices and kinds).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from errata.core.stats import Estimate, holm, plural
from errata.tables.table import Answer

PairOutcome = Literal[
    "too_few",
    "mixed",
    "better_but",
    "better",
    "worse",
    "worse_in",
    "equal",
    "undecided",
    "people_better",
    "people_worse",
    "people_tie",
]
RankingOutcome = Literal["too_few", "first", "none", "shared", "people_first", "people_tie"]
MetaOutcome = Literal["too_few", "none", "one", "group"]


@dataclass(frozen=True)
class DecisionRules:
    """The constants of the decisions; ``margin`` is the difference that is worth finding."""

    alpha: float = 0.05  # intervals are of 1 - alpha
    margin: float = 1.0
    sentences: int = 30
    changed: int = 6  # with 5 units no two-sided test can reach .05
    part_sentences: int = 50
    part_errors: int = 20
    named_parts: int = 3
    systems_to_correlate: int = 5
    systems_to_compare: int = 8
    correlation: float = 0.5


RULES = DecisionRules()
# Metrics as papers call them; with other parameters a metric goes by its label.
METRIC_TITLES = {
    "m2": "M2", "errant": "ERRANT", "gleu": "GLEU", "bleu": "BLEU", "imeasure": "I-measure",
    "ter": "TER", "meteor": "METEOR", "cleme": "CLEME", "green": "GREEN", "scribendi": "Scribendi",
    "some": "SOME", "impara": "IMPARA", "bertscore": "BERTScore", "edits": "edits F",
}  # fmt: skip


@dataclass(frozen=True)
class PointDifference:
    """New minus old by one metric in percent points, with its interval and its p-value."""

    name: str
    difference: Estimate
    p: float

    @property
    def interval_sign(self) -> int:
        """1 or -1 where the interval lies above or below 0, else 0."""
        return (self.difference.low > 0) - (self.difference.high < 0)


@dataclass(frozen=True)
class PartDifference(PointDifference):
    """The same in a slice or for a kind, with its size; ``changed`` sentences differ in it."""

    sentences: int = 0
    errors: int = 0
    changed: int = 0


@dataclass(frozen=True)
class PeoplesChoice:
    """What people prefer: ``preference`` is 1 for the new system, -1 for the old one, else 0.

    ``share`` of ``comparisons`` without ties went to the new system.
    """

    preference: int
    share: float
    comparisons: int
    p: float


@dataclass(frozen=True)
class ComparedPair:
    """Everything that decides about a new system against an old one.

    ``interval90`` and ``error`` (the standard deviation of the resamples) belong to the
    primary difference; ``changed`` sentences have other counts in it.
    """

    old: str
    new: str
    sentences: int
    changed: int
    primary: PointDifference
    interval90: tuple[float, float]
    error: float
    others: Sequence[PointDifference] = ()
    parts: Sequence[PartDifference] = ()
    people: PeoplesChoice | None = None


# ---- How numbers are written.


def points(value: float, *, signed: bool = True) -> str:
    """A number of percent points with one decimal.

    >>> points(4.81), points(-0.5), points(-0.04), points(81.65, signed=False)
    ('+4.8', '−0.5', '0.0', '81.7')
    """
    rounded = _rounded(value, 1)
    if float(rounded) == 0:
        return "0.0"
    sign = "\N{MINUS SIGN}" if value < 0 else "+" if signed else ""
    return sign + rounded.lstrip("-")


def _rounded(value: float, digits: int) -> str:
    """Halves as printed go away from 0: 81.65 is a little less in binary, and 81.7 to readers."""
    return f"{value + math.copysign(1e-9, value):.{digits}f}"


def p_value(p: float) -> str:
    """A p-value as papers print it.

    >>> p_value(0.0234), p_value(0.0004)
    ('p = .023', 'p < .001')
    """
    return "p < .001" if p < 0.001 else f"p = {p:.3f}".replace(" 0.", " .")


def correlation(r: float) -> str:
    """A correlation with two decimals, without a sign at 0."""
    text = _rounded(r, 2)
    return text.replace("-", "" if float(text) == 0 else "\N{MINUS SIGN}")


def listed(names: Sequence[str], most: int | None = None) -> str:
    """Names in a row; those beyond ``most`` are counted.

    >>> listed(["a"]), listed(["a", "b", "c"]), listed(["a", "b", "c", "d"], 2)
    ('a', 'a, b and c', 'a, b and 2 more')
    """
    shown = list(names)
    if most is not None and len(shown) > most:
        shown = [*shown[:most], f"{len(names) - most} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _measured(each: PointDifference, rules: DecisionRules) -> str:
    d = each.difference
    interval = f"{100 - 100 * rules.alpha:g} % interval {points(d.low)} to {points(d.high)}"
    return f"{each.name} {points(d.value)} points ({interval}, {p_value(each.p)})"


def _parts_text(parts: Sequence[PartDifference], rules: DecisionRules) -> str:
    named = [
        f"{part.name} ({points(part.difference.value)} points, {points(part.difference.low)} to "
        f"{points(part.difference.high)})"
        for part in parts
    ]
    return listed(named, rules.named_parts)


# ---- Two systems.


def clear_signs(several: Sequence[PointDifference], rules: DecisionRules = RULES) -> list[int]:
    """Which differences are clear after Holm's correction over them: 1 up, -1 down, else 0."""
    adjusted = holm([each.p for each in several]).tolist() if several else []
    return [
        each.interval_sign if p < rules.alpha else 0
        for each, p in zip(several, adjusted, strict=True)
    ]


def is_testable(part: PartDifference, rules: DecisionRules = RULES) -> bool:
    """Whether a part is large enough to be tested."""
    return (
        part.sentences >= rules.part_sentences
        and part.errors >= rules.part_errors
        and part.changed >= rules.changed
    )


def worse_parts(
    parts: Sequence[PartDifference], rules: DecisionRules = RULES
) -> list[PartDifference]:
    """The parts that got clearly worse, the worst first."""
    tested = [part for part in parts if is_testable(part, rules)]
    signs = clear_signs(tested, rules)
    worse = [part for part, sign in zip(tested, signs, strict=True) if sign < 0]
    return sorted(worse, key=lambda part: part.difference.value)


def decide_pair(pair: ComparedPair, rules: DecisionRules = RULES) -> Answer:
    """The answer on a new system against an old one: people first where people judged."""
    by_metrics = _decide_by_metrics(pair, rules)
    people = pair.people
    if people is None:
        return by_metrics
    share = 100 * (1 - people.share if people.preference < 0 else people.share)
    judged = f"({share:.0f} % of {people.comparisons} comparisons without ties, "
    judged += f"{p_value(people.p)}). "
    if not people.preference:
        said = f"People have no clear preference between {pair.new} and {pair.old} {judged}"
        return Answer("people_tie", f"{said}By the metrics: {by_metrics.sentence}")
    liked, other = (pair.new, pair.old) if people.preference > 0 else (pair.old, pair.new)
    directions = {"better": 1, "better_but": 1, "worse": -1, "mixed": 0}
    direction = directions.get(by_metrics.outcome)
    if direction is None:
        link = "The metrics cannot tell: "
    elif direction == people.preference:
        link = "The metrics agree: "
    else:
        link = "The metrics say otherwise; trust the people: "
    return Answer(
        "people_better" if people.preference > 0 else "people_worse",
        f"People prefer {liked} to {other} {judged}{link}{by_metrics.sentence}",
    )


def _decide_by_metrics(pair: ComparedPair, rules: DecisionRules) -> Answer:
    old, new, primary = pair.old, pair.new, pair.primary
    if pair.sentences < rules.sentences:
        return Answer(
            "too_few",
            f"Too few data to compare {new} and {old}: {pair.sentences} "
            f"{plural('sentence', pair.sentences)}, at least {rules.sentences} are needed.",
        )
    if pair.changed < rules.changed:
        return Answer(
            "too_few",
            f"Too few data to compare {new} and {old}: their scores differ in only {pair.changed} "
            f"{plural('sentence', pair.changed)}, at least {rules.changed} are needed.",
        )
    [sign] = clear_signs([primary], rules)
    disagreement = _disagreement(pair, sign, rules)
    if disagreement is not None:
        return disagreement
    worse = worse_parts(pair.parts, rules)
    if sign > 0 and worse:
        return Answer(
            "better_but",
            f"{new} is better than {old} overall but worse in {_parts_text(worse, rules)}. "
            f"Overall: {_measured(primary, rules)}.",
        )
    if sign > 0:
        return Answer("better", f"{new} is better than {old}: {_measured(primary, rules)}.")
    if sign < 0:
        where = f" Worst in {_parts_text(worse, rules)}." if worse else ""
        return Answer("worse", f"{new} is worse than {old}: {_measured(primary, rules)}.{where}")
    if worse:
        return Answer(
            "worse_in",
            f"{new} is worse than {old} in {_parts_text(worse, rules)}; overall there is no clear "
            f"difference: {_measured(primary, rules)}.",
        )
    low, high = pair.interval90
    if rules.alpha < 0.5 and -rules.margin < low and high < rules.margin:
        unit = "point" if rules.margin == 1 else "points"
        return Answer(
            "equal",
            f"{new} and {old} are equal to within {rules.margin:g} {unit}: {primary.name} "
            f"{points(primary.difference.value)} points ({100 - 200 * rules.alpha:g} % interval "
            f"{points(low)} to "
            f"{points(high)}).",
        )
    return _undecided(pair, rules)


def _disagreement(pair: ComparedPair, sign: int, rules: DecisionRules) -> Answer | None:
    """The answer where metrics are clear in opposite directions."""
    signs = clear_signs(pair.others, rules)
    said = {
        way: [
            f"{each.name} ({points(each.difference.value)} points)"
            for each, own in zip(pair.others, signs, strict=True)
            if own == way
        ]
        for way in (1, -1)
    }
    primary, words = pair.primary, {1: "better", -1: "worse"}
    start = f"The metrics disagree: {pair.new} is"
    if sign and said[-sign]:
        own = f"{primary.name} ({points(primary.difference.value)} points)"
        return Answer(
            "mixed",
            f"{start} {words[sign]} than {pair.old} by {own} but {words[-sign]} by "
            f"{listed(said[-sign])}.",
        )
    if not sign and said[1] and said[-1]:
        return Answer(
            "mixed",
            f"{start} better than {pair.old} by {listed(said[1])} but worse by {listed(said[-1])}; "
            f"{primary.name} shows no clear difference.",
        )
    return None


def _undecided(pair: ComparedPair, rules: DecisionRules) -> Answer:
    primary = pair.primary
    borderline = " (borderline)" if (primary.p < rules.alpha) != bool(primary.interval_sign) else ""
    said = f"No clear difference between {pair.new} and {pair.old}{borderline}: "
    said += f"{_measured(primary, rules)}."
    target = max(abs(primary.difference.value), rules.margin)
    needed = sentences_needed(pair.sentences, pair.error, target)
    if needed > pair.sentences:
        said += f" Detecting a difference of {points(target, signed=False)} points would take "
        said += f"about {needed:,} sentences like these."
    return Answer("undecided", said)


def sentences_needed(sentences: int, error: float, target: float) -> int:
    """How many sentences would show a difference with 80 % power, to two digits, rounded up.

    >>> sentences_needed(72, 3.059, 5.81)
    160
    """
    exact = sentences * (2.8 * error / target) ** 2  # z of .975 and of .80
    if not exact > 0 or not math.isfinite(exact):
        return 0
    step = int(10 ** max(0, math.floor(math.log10(exact)) - 1))
    return math.ceil(exact / step) * step


# ---- Several systems.


@dataclass(frozen=True)
class RankedSystem:
    """A system with its score; ``behind`` is how far the best is ahead, with interval and p."""

    name: str
    score: float
    behind: PointDifference | None = None


@dataclass(frozen=True)
class PeoplesRanking:
    """Whom people rank first; ``clear`` says that nobody else is in the same cluster.

    ``score`` and ``next_score`` are shares of comparisons won; ``tied`` are all that people do not
    separate from the first, itself included.
    """

    clear: bool
    first: str
    score: float
    next: str
    next_score: float
    tied: Sequence[str] = ()


def decide_ranking(
    metric: str,
    sentences: int,
    systems: Sequence[RankedSystem],
    *,
    firsts: Sequence[tuple[str, str]] = (),
    people: PeoplesRanking | None = None,
    rules: DecisionRules = RULES,
) -> Answer:
    """The answer on several systems, the best by the primary metric first.

    ``firsts`` are the best systems by other metrics, as pairs of metric and system.
    """
    best, *rest = systems
    tests = [each.behind for each in rest if each.behind is not None]
    signs = clear_signs(tests, rules)
    tied = [each for each, sign in zip(rest, signs, strict=True) if sign <= 0]
    answer = _ranking_answer(metric, sentences, systems, tied, rules)
    said = answer.sentence
    if answer.outcome != "too_few":
        for other, system in firsts:
            if system != best.name:
                said += f" {other} puts {system} first."
    if people is None:
        return Answer(answer.outcome, said)
    if not people.clear:
        named = listed(people.tied or (people.first, people.next))
        return Answer("people_tie", f"People do not separate {named}. {said}")
    link = "The metrics say otherwise; trust the people. "
    if people.first == best.name:
        link = "The metrics do not contradict this. " if tied else "The metrics agree. "
    shares = f"{people.score:.2f} of comparisons won; next {people.next}, {people.next_score:.2f}"
    ranked = f"People rank {people.first} first ({shares}; significantly different). "
    return Answer("people_first", ranked + link + said)


def too_few_to_rank(systems: int, sentences: int, rules: DecisionRules = RULES) -> str:
    """The sentence on systems that cannot be ranked on so few sentences."""
    return (
        f"Too few data to rank {systems} systems: {sentences} {plural('sentence', sentences)}, at "
        f"least {rules.sentences} are needed."
    )


def _ranking_answer(
    metric: str,
    sentences: int,
    systems: Sequence[RankedSystem],
    tied: Sequence[RankedSystem],
    rules: DecisionRules,
) -> Answer:
    best, *rest = systems
    if sentences < rules.sentences:
        return Answer("too_few", too_few_to_rank(len(systems), sentences, rules))
    top = points(best.score, signed=False)
    if not tied:
        lead = rest[0].behind
        assert lead is not None
        d = lead.difference
        return Answer(
            "first",
            f"{best.name} is best of {len(systems)} systems by {metric}: {top}, "
            f"{points(d.value, signed=False)} points ahead of {rest[0].name} "
            f"({100 - 100 * rules.alpha:g} % interval {points(d.low)} to {points(d.high)}, "
            f"{p_value(lead.p)}).",
        )
    if len(tied) == len(rest):
        others = listed([each.name for each in tied])
        return Answer(
            "none",
            f"No system is ahead: by {metric} the best, {best.name} ({top}), is not significantly "
            f"different from {others}.",
        )
    share = [best, *tied]
    scores = ", ".join(points(each.score, signed=False) for each in share)
    lower = len(rest) - len(tied)
    others = f"The other {lower} are" if lower > 1 else "The other one is"
    return Answer(
        "shared",
        f"{listed([each.name for each in share])} share first place by {metric} ({scores}): the "
        f"differences are not significant. {others} significantly lower.",
    )


# ---- Metrics against people.


@dataclass(frozen=True)
class JudgedMetric:
    """A metric's correlation with people; ``p`` is that of the best metric's lead over it."""

    name: str
    r: Estimate
    p: float = 1.0


def decide_metrics(
    systems: int, metrics: Sequence[JudgedMetric], rules: DecisionRules = RULES
) -> Answer:
    """Which metric to report, the metrics in order of their correlation."""
    if systems < rules.systems_to_correlate:
        return Answer(
            "too_few",
            f"{systems} systems are too few to judge metrics: correlations need at least "
            f"{rules.systems_to_correlate} systems, and {rules.systems_to_compare} to compare "
            "metrics.",
        )
    best, *rest = metrics
    few = systems < rules.systems_to_compare
    if best.r.value < rules.correlation or (few and best.r.low <= 0):
        return Answer(
            "none",
            f"No metric can be recommended on these data: the best, {best.name}, has "
            f"r = {correlation(best.r.value)} ({correlation(best.r.low)} to "
            f"{correlation(best.r.high)}) over {systems} systems.",
        )
    adjusted = holm([each.p for each in rest]).tolist() if rest else []
    lower = [p < rules.alpha for p in adjusted]
    avoided = [
        each
        for each, significant in zip(rest, lower, strict=True)
        if significant or each.r.value < 0 or each.r.high < rules.correlation
    ]
    alike = [each for each in rest if each not in avoided]
    reported = [best]
    if alike and alike[0] is rest[0] and alike[0].r.value >= rules.correlation:
        reported.append(alike[0])
    others = [each.name for each in alike if each not in reported]
    named = listed([each.name for each in reported])
    values = listed([f"{each.name} (r = {correlation(each.r.value)})" for each in reported])
    said = [f"Report {named}: {values} over {systems} systems."]
    if len(reported) > 1:
        nor = f" from each other, nor from {listed(others)}," if others else ""
        said.append(f"They cannot be separated{nor} on {systems} systems.")
    elif others:
        said.append(f"It cannot be separated from {listed(others)} on {systems} systems.")
    if avoided:
        names = listed([each.name for each in avoided])
        shown = ", ".join(f"r = {correlation(each.r.value)}" for each in avoided)
        said.append(f"Avoid {names} here ({shown}).")
    if few:
        said.append(f"{systems} systems are few: treat this as a hint.")
    return Answer("group" if len(reported) > 1 else "one", " ".join(said))
