"""Recompute a pasted SIGNATURE = VALUE; table.

A signature says everything that decided a number, so that anybody with the files can compute it
again. A claim holds if the metric gives that value, at the precision it is printed with, under
the same facts: sentences, references, what a token is, sentences left out. How an interval was
drawn (resamples, seed) decides the interval only, and the version of Errata is named where it
differs.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import NamedTuple

from errata import __version__
from errata.core.errors import InputError
from errata.core.signatures import facts_by_name, short_signature, signature_id, signature_ids
from errata.core.stats import MOST_RESAMPLES, Estimate, Progress
from errata.data import Corpus, Hypotheses, Scores
from errata.io.files import read_lines, shown_name
from errata.io.records import parse_integer
from errata.io.scores import MEAN, read_score_file
from errata.metrics import parse
from errata.metrics.base import Metric
from errata.scoring.evaluate import evaluate
from errata.scoring.resampling import KINDS
from errata.tables.table import Column, Table, join_signatures

_NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?"
# As tables, pages and papers print it; * and = are the marks of the best and of ties.
_VALUE = re.compile(
    rf"(?P<value>{_NUMBER})\s*(?P<percent>%|percent)?"
    rf"(?:\s*(?:±|\+/-|\+-)\s*(?P<half>{_NUMBER})"
    rf"|\s*[\[(]\s*(?P<low>{_NUMBER})\s*(?:,|–|\.\.)\s*(?P<high>{_NUMBER})\s*[\])])?"
    r"\s*(?P<sign>%|percent)?\s*[*=]?"
)
# Before a signature in a terminal and in the comment above a table in LaTeX.
_LINE_START = re.compile(r"^(?:%+\s*)?(?:signature:\s*)?")
_CLAIM = re.compile(rf"(?P<signature>.*\S)\s*=\s*{_VALUE.pattern}", re.DOTALL)
_SHORT = re.compile(r"(?P<metric>.*)#(?P<id>[0-9a-f]{8})(?:@(?P<data>[0-9a-f]{8}))?", re.DOTALL)
# What decides how an interval was drawn and not the score itself.
_DRAWN = ("resamples", "seed", "bootstrap")
_LAST_BITS = Decimal("1e-12")
_USUAL_RESAMPLES = (0, 100, 200, 500, 1000, 2000, 5000, 10_000)
REMEDY = (
    "paste it as printed, signature = value: 'm2(beta=0.5...) | sentences:72 | ... = 0.3733', "
    "or 'm2#1a2b3c4d@5e6f7a8b = 37.3 %'"
)


class ClaimedValue(NamedTuple):
    """A number as it was printed, which says how precisely it is known."""

    text: str

    def agrees(self, value: float, scale: int) -> bool:
        """Whether a value, times ``scale``, is this number at its own number of digits."""
        if not math.isfinite(value):
            return False
        number = Decimal(self.text)
        exponent = number.as_tuple().exponent
        assert isinstance(exponent, int)
        # 1 is no rounding of 0.82 that anybody prints.
        last = min(exponent, -1) if scale == 1 and abs(value) <= 1 else exponent
        exact = Decimal(repr(value * scale))
        # The last bits of a sum are not what anybody prints.
        return abs(exact - number) <= Decimal(1).scaleb(last) / 2 + abs(exact) * _LAST_BITS


@dataclass(frozen=True)
class ScoreClaim:
    """A metric, the facts of its signature, and the claimed value.

    ``metric_id`` and ``data_id`` come from a short signature; versions before data had ids
    wrote one id of all facts. ``half``, or ``low`` and ``high``, are an interval if one was pasted.
    ``system`` may name whose score it is.
    """

    metric: Metric
    facts: tuple[str, ...]
    value: ClaimedValue
    percent: bool = False
    metric_id: str = ""
    data_id: str = ""
    half: ClaimedValue | None = None
    low: ClaimedValue | None = None
    high: ClaimedValue | None = None
    system: str = ""
    text: str = ""

    def find_fact(self, name: str) -> str | None:
        """Return what the signature says under a name, or None."""
        return facts_by_name(self.facts).get(name)

    @property
    def tokens(self) -> str | None:
        """What cut the texts into tokens, where the signature says so."""
        return self.find_fact("tokens")

    @property
    def skipped(self) -> str | None:
        """The sentences left out, as ``3,7-9``, where the signature lists them."""
        said = self.find_fact("skip_sentences")
        return None if said is None or "@" in said else said

    @property
    def annotators(self) -> tuple[int, ...]:
        """The annotators whose references were taken, where they are not all."""
        numbers = r" of annotator ([0-9]{1,9}(?:,[0-9]{1,9})*)$"
        found = re.search(numbers, self.find_fact("references") or "")
        return () if found is None else tuple(map(int, found[1].split(",")))

    @property
    def has_interval(self) -> bool:
        """Whether an interval was pasted with the value."""
        return self.half is not None or self.low is not None

    @property
    def value_text(self) -> str:
        """Value and interval as they were pasted."""
        sign = " %" if self.percent else ""
        if self.half is not None:
            return f"{self.value.text} ± {self.half.text}{sign}"
        spread = "" if not (self.low and self.high) else f" [{self.low.text}, {self.high.text}]"
        return f"{self.value.text}{spread}{sign}"

    def percent_factor(self, value: float) -> int:
        """1, or 100 where the number is a percentage: by its sign, or being above 1.

        A score that itself goes to 100 (BLEU) is one already.
        """
        if self.percent:
            return 1 if abs(value) > 1 and self.value.agrees(value, 1) else 100
        large = abs(Decimal(self.value.text)) > 1
        return 100 if large and not self.value.agrees(value, 1) and abs(value) <= 1 else 1


def parse_claim(text: str, *, path: str | None = None, line: int | None = None) -> ScoreClaim:
    """Read ``SIGNATURE = VALUE``; the signature is whole or short.

    ``VALUE`` may be a fraction or per cent (``37.33``, ``0.3733``, ``37.3 %``), with an interval
    (``± 1.2`` or ``[36.1, 38.5]``) or without. Before a tab may stand the name of the system.

    >>> claim = parse_claim("m2(beta=1) | sentences:72 | errata:0.1 = 37.33")
    >>> claim.metric.name, claim.facts, claim.value_text
    ('m2', ('sentences:72', 'errata:0.1'), '37.33')
    """
    system, tab, rest = text.rpartition("\t")
    plain = (rest if tab else text).strip().replace("\N{MINUS SIGN}", "-")
    found = _CLAIM.fullmatch(_LINE_START.sub("", plain))
    if found is None:
        problem = f"{plain[:60]!r} is not a signature and a value"
        raise InputError(problem, path=path, line=line, remedy=REMEDY)
    scorer, *facts = (part.strip() for part in found["signature"].split(" | "))
    short = _SHORT.fullmatch(scorer) if not facts else None
    try:
        metric = _parse_scorer(short["metric"] if short else scorer)
    except InputError as error:
        remedy = _unknown_metric_remedy(scorer, error)
        raise InputError(error.problem, path=path, line=line, remedy=remedy) from None
    return ScoreClaim(
        metric,
        tuple(facts),
        ClaimedValue(found["value"]),
        percent=(found["percent"] or found["sign"]) is not None,
        metric_id=short["id"] if short else "",
        data_id=(short["data"] or "") if short else "",
        half=ClaimedValue(found["half"]) if found["half"] else None,
        low=ClaimedValue(found["low"]) if found["low"] else None,
        high=ClaimedValue(found["high"]) if found["high"] else None,
        system=system.strip(),
        text=found["signature"],
    )


def _parse_scorer(scorer: str) -> Metric:
    """The metric of a signature, or of the head of a column: ``m2 F0.5``."""
    name, _, part = scorer.rpartition(" ")
    if name and part[:1] in "FI" and "(" not in part:
        with suppress(InputError):
            metric = parse(name)
            if metric.headline == part:
                return metric
    return parse(scorer)


def _unknown_metric_remedy(scorer: str, error: InputError) -> str | None:
    from errata.human import RANKERS

    if scorer.partition("(")[0] in RANKERS.names():
        return "scores of metrics are recomputed here; errata rank ranks judgments again"
    return error.remedy


def read_claims(lines: Iterable[str], path: str) -> Iterator[ScoreClaim]:
    """The claims of a file, one a line; empty lines and those that begin with ``#`` are none."""
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.lstrip().startswith("#"):
            yield parse_claim(line, path=path, line=number)


def claims_from_text_or_file(text: str) -> list[ScoreClaim]:
    """Return the claim in a text, or those in the file it names: claims, or scores as printed."""
    if "=" in text:
        return [parse_claim(text)]
    lines = read_lines(text)[0]
    start = next(filter(str.strip, lines), "").lstrip()
    if text != "-" and (start.startswith("{") or ("\t" in start and "=" not in start)):
        return [claim for scores in read_score_file(text) for claim in claims_of_scores(scores)]
    claims = list(read_claims(lines, shown_name(text)))
    if not claims:
        remedy = "write SIGNATURE = VALUE, one a line"
        raise InputError("there is no claim in this file", path=shown_name(text), remedy=remedy)
    return claims


def claims_of_scores(scores: Scores) -> Iterator[ScoreClaim]:
    """What a file of scores claims of its systems: signature and value of each."""
    if MEAN in scores.context:
        problem = "these are scores of sentences, whose mean is no corpus score"
        raise InputError(problem, remedy="give what errata score prints without --by-sentence")
    for system, value in scores:
        yield replace(parse_claim(f"{scores.signature} = {value!r}"), system=system)


@dataclass(frozen=True)
class VerifiedClaim:
    """What came out for a claim: the value, its interval if one was claimed, and what differs.

    ``differences`` are facts under which this would be another score; ``remarks`` what does not
    decide the score itself.
    """

    claim: ScoreClaim
    scores: Scores
    system: str
    equal: bool
    differences: tuple[str, ...]
    remarks: tuple[str, ...]
    low: float = math.nan
    high: float = math.nan

    @property
    def holds(self) -> bool:
        """Whether the value is the claimed one, under the facts that were claimed."""
        return self.equal and not self.differences

    @property
    def value(self) -> float:
        """The score that came out."""
        return self.scores[self.system]

    @property
    def scaled_estimate(self) -> Estimate:
        """Value and interval that came out, per cent where the claim is; no interval, no ends."""
        scale = self.claim.percent_factor(self.value)
        ends = (self.low * scale, self.high * scale) if self.claim.has_interval else ()
        return Estimate(self.value * scale, *(ends or (math.nan, math.nan)))


def verify_claim(
    claim: ScoreClaim,
    corpus: Corpus,
    systems: Sequence[Hypotheses],
    system: str,
    *,
    confidence: float = 0.95,
    threads: int | None = None,
    progress: Progress | None = None,
) -> VerifiedClaim:
    """Compute the score of a claim again, for ``system`` among those that were scored together.

    >>> corpus = Corpus.from_texts(["He go home ."], [["He goes home ."]])
    >>> done = [Hypotheses("A", ("He goes home .",))]
    >>> verify_claim(parse_claim("m2 = 100.0 %"), corpus, done, "A").holds
    True
    >>> verify_claim(parse_claim("m2() | sentences:2 = 1.0"), corpus, done, "A").differences[:1]
    ('sentences: 2 in the signature, 1 in the files',)
    """
    resamples, seed = _claimed_resampling(claim)
    scores = evaluate(
        claim.metric,
        corpus,
        systems,
        resamples=resamples if claim.has_interval else 0,
        rng=seed,
        bootstrap=next((kind for kind in KINDS if kind == claim.find_fact("bootstrap")), "auto"),
        threads=threads,
        progress=progress,
    )
    value = scores[system]
    scale = claim.percent_factor(value)
    low, high = scores.interval(confidence)[scores.systems.index(system)].tolist()
    equal = claim.value.agrees(value, scale)
    if claim.half is not None:
        equal = equal and claim.half.agrees((high - low) / 2, scale)
    if claim.low is not None and claim.high is not None:
        equal = equal and claim.low.agrees(low, scale) and claim.high.agrees(high, scale)
    scores = replace(scores, context=_context_as_claimed(claim, scores))
    differences, remarks = diff_signatures(claim, scores)
    return VerifiedClaim(claim, scores, system, equal, differences, remarks, low, high)


def _claimed_resampling(claim: ScoreClaim) -> tuple[int, int]:
    """Resamples and seed that a signature speaks of; the usual ones where it does not."""
    given = [claim.find_fact(name) for name in _DRAWN[:2]]
    resamples, seed = (
        usual if text is None else parse_integer(text, 0)
        for text, usual in zip(given, (1000, 0), strict=True)
    )
    too_many = resamples is not None and resamples > MOST_RESAMPLES
    if claim.has_interval and (not resamples or seed is None or too_many):
        problem = f"the interval cannot be computed again from {', '.join(filter(None, given))!r}"
        remedy = "paste the signature of scores with resamples and a seed, or the value alone"
        raise InputError(problem, remedy=remedy)
    return resamples or 0, seed or 0


def diff_signatures(claim: ScoreClaim, scores: Scores) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return which facts differ and make it another score, and remarks on the others."""
    short = short_signature(scores.signature)
    unidentified = f"{claim.text} does not identify its data: paste {short} instead"
    if claim.data_id:
        ids = signature_ids(scores.signature)
        differences = []
        if claim.metric_id != ids.metric:
            differences.append(
                f"other settings: #{claim.metric_id} in the signature, #{ids.metric} in the files; "
                "the full signature says which"
            )
        if claim.data_id != ids.data:
            differences.append(
                f"other data: {claim.data_id} in the signature, {ids.data} in the files"
            )
        return tuple(differences), ()
    if claim.metric_id:
        if signature_id(_without_data_id(scores)) == claim.metric_id:
            return (), (unidentified,)
        return (
            f"the short signature #{claim.metric_id} is not that of these files: sentences, "
            "references, parameters, seed or the version of Errata differ; the full signature "
            "tells which",
        ), ()
    if not claim.facts:
        return (), ("the signature names no facts: the value alone was compared",)
    # Versions before data had ids named the tokeniser only where texts were not as they are.
    said, found = {"tokens": "as_is"} | facts_by_name(claim.facts), facts_by_name(scores.context)
    remarks = []
    if "digest" not in said:
        del found["digest"]
        remarks.append(unidentified)
    differences = [
        f"{name}: {_fact_text(said, name)} in the signature, {_fact_text(found, name)} in the files"
        for name in dict.fromkeys((*said, *found))
        if name not in (*_DRAWN, "errata") and said.get(name) != found.get(name)
    ]
    if said.get("errata", __version__) != __version__:
        remarks.append(f"computed by errata {said['errata']}, recomputed by {__version__}")
    return tuple(differences), tuple(remarks)


def _fact_text(facts: dict[str, str], name: str) -> str:
    return "not" if name not in facts else facts[name] or "yes"


def _without_data_id(scores: Scores) -> str:
    """Return a signature as version 0.1.0 wrote it, before signatures identified their data."""
    tokens = [f for f in scores.context if f.startswith("tokens:") and f != "tokens:as_is"]
    others = [f for f in scores.context if not f.startswith(("tokens:", "digest:", "errata:"))]
    others.append("errata:0.1.0")
    at = next(i for i, fact in enumerate(others) if fact.startswith("references:")) + 1
    at += any(fact.startswith("skip_sentences:") for fact in others)
    return " | ".join((scores.scorer, *others[:at], *tokens, *others[at:]))


def _context_as_claimed(claim: ScoreClaim, scores: Scores) -> tuple[str, ...]:
    """The facts of a score with the resamples and the seed that were claimed beside it.

    They decide no score. Of an old short signature they are the usual ones under which it is right.
    """
    *facts, version = (f for f in scores.context if f.partition(":")[0] not in _DRAWN)
    if not claim.metric_id:
        said = facts_by_name(claim.facts)
        drawn = (f"{name}:{said[name]}" for name in _DRAWN if name in said)
        return (*facts, *drawn, version)
    for resamples in () if claim.data_id else _USUAL_RESAMPLES:
        for kind in KINDS[1:]:
            usual = (f"resamples:{resamples}", "seed:0", f"bootstrap:{kind}") if resamples else ()
            context = (*facts, *usual, version)
            if signature_id(_without_data_id(replace(scores, context=context))) == claim.metric_id:
                return context
    return scores.context


def claim_table(checked: Sequence[VerifiedClaim]) -> Table:
    """Whether each claim holds, what came out instead, and which facts differ."""
    return Table.of(
        [
            Column("metric", [each.scores.label for each in checked]),
            Column("system", [each.system for each in checked]),
            Column("printed", [each.claim.value_text for each in checked]),
            Column("recomputed", [each.scaled_estimate for each in checked], ".6g"),
            Column("holds", [each.holds for each in checked]),
            Column("differs", ["; ".join(each.differences) or None for each in checked], width=30),
        ],
        title="Claims recomputed",
        name="claims",
        notes=dict.fromkeys(r for each in checked for r in each.remarks),
        signature=join_signatures(each.scores.signature for each in checked),
    )
