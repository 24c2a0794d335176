"""From counts in parts to scores: the same digits as of the whole, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from errata.data import Scores
from errata.errors import InputError
from errata.evaluation import (
    SaidOfScores,
    assembled,
    checked_choice,
    chosen_counts,
    different_draws,
    draw_totals,
    drawn_facts,
    sentence_scores,
    vectors,
)
from errata.metrics.base import InOrderError, Metric, RoundsError, WholeCountsError, join_counts
from errata.numbers import Floats, Ints, Seed
from errata.plugins import blamed
from errata.reduction.cursor import CountParts, Standing
from errata.reduction.facts import PartFacts
from errata.reduction.running import Reduction, chosen_parts, decides, in_one_go
from errata.reduction.settling import settled_parts
from errata.resampling import (
    LIMITS,
    BootstrapKind,
    BootstrapLimits,
    GrowingHistogram,
    Histogram,
    bootstrap_kind,
    resample,
)

__all__ = ["scores_of_parts"]


def scores_of_parts(
    metric: Metric,
    systems: Sequence[str],
    facts: PartFacts,
    parts: Sequence[CountParts],
    *,
    resamples: int = 1000,
    rng: Seed = 0,
    bootstrap: BootstrapKind = "auto",
    standing: Standing | None = None,
    context: tuple[str, ...] = (),
    blocks: Iterable[Floats] | None = None,
    sentences: bool = False,
    limits: BootstrapLimits = LIMITS,
) -> Scores:
    """The scores of a corpus whose counts come part by part, as `errata.evaluate` gives them.

    ``facts`` are those of all parts added up, ``parts`` the counts of every system, which may be
    gone through several times: once where a histogram of them is enough (not at all if
    ``standing`` has read them all), again for Poisson weights, a choice made in rounds, or weights
    that the whole corpus decides.
    ``context`` is what else belongs in the signature; ``blocks`` are those of the sentences where
    their documents are known (`errata.resampling.document_blocks`); ``sentences`` adds the scores
    of single sentences, which take memory of their own. Corpora of at most ``limits.held``
    sentences are put together, system by system.

    >>> from errata import Corpus, Hypotheses, evaluate
    >>> from errata.metrics import parse
    >>> from errata.reduction import count_part
    >>> corpus = Corpus.from_texts(["He go home .", "Fine ."], [["He goes home .", "Fine ."]])
    >>> outputs, m2 = Hypotheses("A", ("He goes home .", "Very fine .")), parse("m2")
    >>> counted = [count_part([m2], corpus[i : i + 1], [outputs[i : i + 1]]) for i in range(2)]
    >>> parts = [[counts[0][0] for counts, _ in counted]]
    >>> scores = scores_of_parts(m2, ["A"], counted[0][1] + counted[1][1], parts)
    >>> scores, scores.signature == evaluate(m2, corpus, outputs).signature
    (<Scores 'm2': A 0.5556>, True)
    """
    if not facts.sentences:
        raise InputError("the corpus is empty", remedy="give at least one sentence")
    if tuple(systems) != facts.systems or len(parts) != len(systems):
        raise InputError(
            f"counts of {len(parts)} systems, and facts of {', '.join(facts.systems)}",
            remedy="give the counts of every system, in their order",
        )
    said, notes = facts.told(metric)
    told = SaidOfScores((*said, *facts.corpus_facts), notes, facts.skipped)
    with blamed(metric):
        _check_decidable(metric, facts, limits)
        parts = settled_parts(metric, [*parts])
        found = (
            _held(metric, facts, parts)
            if facts.sentences <= limits.held
            else _read(metric, facts, parts, standing, limits)
        )
        resampled, kind = None, None
        if resamples:
            histogram = found.histogram(bootstrap, limits)
            kind = bootstrap_kind(bootstrap, facts.sentences, histogram, limits)
            resampled = resample(
                metric.score,
                found,
                len(systems),
                kind,
                sentences=facts.sentences,
                histogram=histogram,
                resamples=resamples,
                rng=rng,
                blocks=blocks,
            )
        alone = [_alone(metric, each, facts) for each in parts] if sentences else []
        drawn = (*drawn_facts(resamples, rng, kind, documents=blocks is not None), *context)
        return assembled(metric, systems, found.totals, resampled, drawn, told, alone)


def _check_decidable(metric: Metric, facts: PartFacts, limits: BootstrapLimits) -> None:
    """Refuse what only the whole decides, where the whole is not there."""
    error = decides(metric)
    if isinstance(error, WholeCountsError):
        if facts.parts > 1:
            raise error
        return
    whole = facts.sentences <= limits.held or isinstance(error, RoundsError | InOrderError)
    if error is not None and not whole:
        raise error


@dataclass(frozen=True, eq=False)
class _Held:
    """A corpus that is small enough to be put together: what its sentences took."""

    totals: list[Floats]
    stacked: Floats

    def __iter__(self) -> Iterator[Floats]:
        yield self.stacked

    def histogram(self, bootstrap: BootstrapKind, limits: BootstrapLimits) -> Histogram | None:
        """The histogram of what sentences took."""
        return vectors(self.stacked, bootstrap, limits)


def _held(metric: Metric, facts: PartFacts, parts: Sequence[CountParts]) -> _Held:
    totals, picked = [], []
    for system, each in zip(facts.systems, parts, strict=True):
        counts = _joined(each)
        _check_sentences(system, len(counts), facts)
        choice = checked_choice(metric, counts, metric.choose(counts))
        totals.append(different_draws(draw_totals(counts, choice)))
        picked.append(chosen_counts(counts, choice))
    return _Held(totals, np.concatenate(picked, axis=1))


def _joined(parts: CountParts) -> Floats:
    return join_counts([*(each for each in parts if len(each))])


def _check_sentences(system: str, found: int, facts: PartFacts) -> None:
    if found != facts.sentences:
        raise InputError(
            f"{system} has counts of {found:,} sentences, of {facts.sentences:,} there are",
            remedy="give the counts of all parts, each once",
        )


@dataclass(frozen=True, eq=False)
class _Read:
    """A corpus that was read part by part; what its sentences took is made again when asked."""

    starts: tuple[Reduction, ...]
    ends: tuple[Reduction, ...]
    parts: Sequence[CountParts]
    tallies: GrowingHistogram | None

    @property
    def totals(self) -> list[Floats]:
        """What each system comes to."""
        return [each.totals for each in self.ends]

    def __iter__(self) -> Iterator[Floats]:
        chosen = (
            chosen_parts(start, each) for start, each in zip(self.starts, self.parts, strict=True)
        )
        for several in zip(*chosen, strict=True):
            yield np.concatenate(several, axis=1)

    def histogram(self, bootstrap: BootstrapKind, limits: BootstrapLimits) -> Histogram | None:
        """The histogram of what sentences took."""
        if bootstrap not in ("auto", "histogram"):
            return None
        tallies = self.tallies
        if tallies is None:
            width = sum(each.totals.shape[1] for each in self.ends)
            tallies = GrowingHistogram(width, limits)
            for rows in self:
                tallies = tallies.added(Histogram.of(rows))
        return tallies.histogram


def _read(
    metric: Metric,
    facts: PartFacts,
    parts: Sequence[CountParts],
    standing: Standing | None,
    limits: BootstrapLimits,
) -> _Read:
    start = Reduction(metric)
    if decides(metric) is not None:
        ends = tuple(in_one_go(metric, each) for each in parts)
        for system, end in zip(facts.systems, ends, strict=True):
            _check_sentences(system, end.sentences, facts)
        starts = tuple(Reduction(metric, whole=end.whole) for end in ends)
        return _Read(starts, ends, parts, None)
    if standing is None or standing.undecided or standing.tallies.limits != limits:
        standing = replace(Standing.start(metric, len(parts), limits), undecided=False)
        for counts in zip(*parts, strict=True):
            standing = standing.take(counts)
    _check_sentences("the standing", standing.sentences, facts)
    return _Read((start,) * len(parts), standing.systems, parts, standing.tallies)


def _alone(
    metric: Metric, parts: CountParts, facts: PartFacts
) -> tuple[Floats, dict[str, Floats | Ints]]:
    """The scores and the figures of the sentences of one system, part by part."""
    found = [sentence_scores(metric, each) for each in parts if len(each)]
    names = found[0][1]
    more = {name: np.concatenate([figures[name] for _, figures in found]) for name in names}
    return np.concatenate([scores for scores, _ in found]), more
