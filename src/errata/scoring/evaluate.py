"""Evaluate() and evaluate_batches(): a whole corpus is one part."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from errata.core.errors import InputError
from errata.core.exact_sums import ExactSums
from errata.core.parallel import circles_left, parallel_map
from errata.core.registry import plugin_errors
from errata.core.stats import BLOCK, Floats, Ints, Progress, Seed, bootstrap_weights
from errata.data import Corpus, Hypotheses, Scores
from errata.data.digest import DataDigest
from errata.metrics import METRICS, parse
from errata.metrics.base import Metric, join_counts
from errata.scoring.accumulator import (
    Accumulator,
    CountParts,
    SystemAccumulator,
    check_divisible,
    chosen_counts,
    chosen_counts_by_part,
    count_part,
    sentence_scores,
    settle_parts,
)
from errata.scoring.contract import MANY, as_systems, check_given, validate_choice, validate_counts
from errata.scoring.resampling import (
    LIMITS,
    BootstrapKind,
    BootstrapLimits,
    GrowingHistogram,
    Histogram,
    bootstrap_kind,
    number_document_blocks,
    resample,
)
from errata.scoring.results import (
    Facts,
    build_scores,
    corpus_facts,
    covered_by,
    different_draws,
    drawn_facts,
)

if TYPE_CHECKING:
    from errata.io.shards.counts import CountSpool, SpooledParts

# ---- From counts to scores, the same way for every metric.


def evaluate(
    metric: Metric | str,
    corpus: Corpus,
    systems: Hypotheses | Sequence[Hypotheses] | Sequence[str] | Mapping[str, Sequence[str]],
    *,
    resamples: int = 1000,
    rng: Seed = 0,
    bootstrap: BootstrapKind = "auto",
    guard: bool = True,
    threads: int | None = None,
    progress: Progress | None = None,
    limits: BootstrapLimits = LIMITS,
) -> Scores:
    """Score one or more systems with one metric: overall, per sentence, and in resamples.

    ``metric`` may be its signature (``"m2(beta=1)"``). ``systems`` may be plain sentences, of a
    system then called ``hypotheses``, or a mapping from names to sentences. ``rng`` seeds the
    bootstrap, whose kind the data decide (see `errata.scoring.resampling`); with
    ``bootstrap="sentences"`` and the same seed every metric sees the same resamples. Unless
    ``guard=False``, outputs that do not fit the corpus line by line are refused or cause a warning
    (see `errata.io.check_alignment`). ``threads`` defaults to the number of cores. ``progress`` is
    called with (done, total).

    >>> from errata import Corpus, Hypotheses
    >>> corpus = Corpus.from_texts(["He go home ."], [["He goes home ."]])
    >>> scores = evaluate("m2", corpus, Hypotheses("A", ("He goes home .",)))
    >>> scores["A"]
    1.0
    >>> evaluate("m2", corpus, {"B": ["He go home ."]})["B"]
    0.0
    """
    if isinstance(metric, str):
        metric = parse(metric)
    systems = as_systems(systems)
    counts = validate_counts(
        metric, corpus, systems, guard=guard, threads=threads, progress=progress
    )
    with plugin_errors(metric):
        return _scores_of(
            metric, corpus, systems, counts, resamples, rng, bootstrap, limits, threads=threads
        )


def scores_of(
    metric: Metric,
    corpus: Corpus,
    systems: Sequence[Hypotheses],
    counts: Sequence[Floats],
    *,
    resamples: int = 1000,
    rng: Seed = 0,
    bootstrap: BootstrapKind = "auto",
    limits: BootstrapLimits = LIMITS,
) -> Scores:
    """The scores that follow from counts ``[sentence, reference, k]``, one array per system.

    This is the entry for counts made elsewhere: on other machines, in a cache, or by a study
    that needs them itself.
    """
    check_given(metric, corpus, systems, counts)
    return _scores_of(metric, corpus, systems, counts, resamples, rng, bootstrap, limits)


def _scores_of(
    metric: Metric,
    corpus: Corpus,
    systems: Sequence[Hypotheses],
    counts: Sequence[Floats],
    resamples: int,
    rng: Seed,
    bootstrap: BootstrapKind,
    limits: BootstrapLimits,
    *,
    threads: int | None = 1,
) -> Scores:
    METRICS.refuse_disguise(metric)
    together, alone = _take(metric, corpus, counts, threads, keep=bool(resamples))
    resampled, kind = None, None
    if resamples:
        stacked = np.concatenate([picked for _, picked in together], axis=1)
        histogram = vectors(stacked, bootstrap, limits)
        kind = bootstrap_kind(bootstrap, len(corpus), histogram, limits)
        resampled = resample(
            metric.score,
            [stacked],
            len(systems),
            kind,
            sentences=len(corpus),
            histogram=histogram,
            resamples=resamples,
            rng=rng,
            weights=lambda: resample_weights(corpus, resamples, rng),
            blocks=[number_document_blocks(corpus.documents)] if corpus.documents else None,
        )
    described = metric.describe(metric.facts(corpus, systems))
    return build_scores(
        metric,
        [each.system for each in systems],
        [totals for totals, _ in together],
        resampled,
        drawn_facts(resamples, rng, kind, documents=bool(corpus.documents)),
        described._replace(context=(*described.context, *corpus_facts(corpus, covered_by(metric)))),
        corpus.skipped,
        alone,
    )


def _take(
    metric: Metric, corpus: Corpus, counts: Sequence[Floats], threads: int | None, *, keep: bool
) -> tuple[list[tuple[Floats, Floats]], list[tuple[Floats, dict[str, Floats | Ints]]]]:
    """What sentences take of the counts of each system, together and alone.

    Together: the sums of each draw, and what each sentence took, if that is to be kept.
    """

    def together(each: Floats) -> tuple[Floats, Floats]:
        choice = validate_choice(metric, each, metric.choose(each))
        totals = different_draws(ExactSums.of(each, choice).floats)
        return totals, chosen_counts(each, choice) if keep else np.zeros((0, 0))

    # With one reference there is no choice to speak of.
    several = corpus.most_references > 1 and all(each.shape[1] > 1 for each in counts)
    annotators = corpus.edits.annotators_by_sentence() if several else None
    alone = partial(sentence_scores, metric, annotators=annotators)
    found: list[Any] = parallel_map(
        lambda job: job[0](job[1]),
        [(way, each) for way in (together, alone) for each in counts],
        threads=threads if len(corpus) > MANY else 1,
    )
    return found[: len(counts)], found[len(counts) :]


def vectors(
    stacked: Floats, bootstrap: BootstrapKind = "auto", limits: BootstrapLimits = LIMITS
) -> Histogram | None:
    """The histogram of what sentences took, where the kind of bootstrap may ask for it."""
    if bootstrap not in ("auto", "histogram"):
        return None
    found = Histogram.of(stacked)
    return found.sorted() if len(found) <= limits.most_vectors(stacked.shape[1]) else None


def resample_weights(corpus: Corpus, resamples: int, rng: Seed) -> Iterable[Floats]:
    """Bootstrap weights of the sentences; every metric with one seed sees the same, drawn once."""
    n = len(corpus)
    if not isinstance(rng, int) or n * resamples > BLOCK:
        return bootstrap_weights(n, resamples, rng)
    key = ("bootstrap weights", resamples, rng)
    return corpus.derived(key, lambda: list(bootstrap_weights(n, resamples, rng)))


def score_parts(
    metric: Metric,
    systems: Sequence[str],
    facts: Facts,
    parts: Sequence[CountParts],
    *,
    resamples: int = 1000,
    rng: Seed = 0,
    bootstrap: BootstrapKind = "auto",
    standing: Accumulator | None = None,
    context: tuple[str, ...] = (),
    blocks: Iterable[Floats] | None = None,
    limits: BootstrapLimits = LIMITS,
) -> Scores:
    """The scores of a corpus whose counts come part by part, as `errata.evaluate` gives them.

    ``facts`` of all parts are added up, ``parts`` the counts of every system, which may be
    gone through several times: once where a histogram of them is enough (not at all if
    ``standing`` has read them all), again for Poisson weights, a choice made in rounds, or weights
    that the whole corpus decides.
    ``context`` is what else belongs in the signature; ``blocks`` number the sentences' blocks where
    their documents are known (`number_document_blocks`). Corpora of at most
    ``limits.held`` sentences are put together, system by system.

    >>> from errata import Corpus, Hypotheses
    >>> from errata.metrics import parse
    >>> from errata.scoring.accumulator import count_part
    >>> corpus = Corpus.from_texts(["He go home .", "Fine ."], [["He goes home .", "Fine ."]])
    >>> outputs, m2 = Hypotheses("A", ("He goes home .", "Very fine .")), parse("m2")
    >>> counted = [count_part([m2], corpus[i : i + 1], [outputs[i : i + 1]]) for i in range(2)]
    >>> parts = [[counts[0][0] for counts, _ in counted]]
    >>> score_parts(m2, ["A"], counted[0][1] + counted[1][1], parts)
    <Scores 'm2': A 0.5556>
    """
    if not facts.sentences:
        raise InputError("the corpus is empty", remedy="give at least one sentence")
    if tuple(systems) != facts.systems or len(parts) != len(systems):
        raise InputError(
            f"counts of {len(parts)} systems, and facts of {', '.join(facts.systems)}",
            remedy="give the counts of every system, in their order",
        )
    with plugin_errors(metric):
        described = facts.describe(metric)
        if facts.parts > 1:
            check_divisible(metric)
        parts = settle_parts(metric, [*parts])
        found = (
            _hold_parts(metric, facts, parts)
            if facts.sentences <= limits.held or metric.scope == "corpus"
            else _accumulate_parts(metric, facts, parts, standing, limits)
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
        drawn = (*drawn_facts(resamples, rng, kind, documents=blocks is not None), *context)
        return build_scores(
            metric, systems, found.totals, resampled, drawn, described, facts.skipped, []
        )


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


def _hold_parts(metric: Metric, facts: Facts, parts: Sequence[CountParts]) -> _Held:
    totals, picked = [], []
    for system, each in zip(facts.systems, parts, strict=True):
        counts = _join_parts(each)
        _check_sentences(system, len(counts), facts)
        choice = validate_choice(metric, counts, metric.choose(counts))
        totals.append(different_draws(ExactSums.of(counts, choice).floats))
        picked.append(chosen_counts(counts, choice))
    return _Held(totals, np.concatenate(picked, axis=1))


def _join_parts(parts: CountParts) -> Floats:
    return join_counts([*(each for each in parts if len(each))])


def _check_sentences(system: str, found: int, facts: Facts) -> None:
    if found != facts.sentences:
        raise InputError(
            f"{system} has counts of {found:,} sentences, of {facts.sentences:,} there are",
            remedy="give the counts of all parts, each once",
        )


@dataclass(frozen=True, eq=False)
class _Read:
    """A corpus read part by part; the chosen counts are computed again when needed."""

    starts: tuple[SystemAccumulator, ...]
    ends: tuple[SystemAccumulator, ...]
    parts: Sequence[CountParts]
    tallies: GrowingHistogram | None

    @property
    def totals(self) -> list[Floats]:
        """What each system comes to."""
        return [each.totals for each in self.ends]

    def __iter__(self) -> Iterator[Floats]:
        chosen = (
            chosen_counts_by_part(start, each)
            for start, each in zip(self.starts, self.parts, strict=True)
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


def _accumulate_parts(
    metric: Metric,
    facts: Facts,
    parts: Sequence[CountParts],
    standing: Accumulator | None,
    limits: BootstrapLimits,
) -> _Read:
    start = SystemAccumulator(metric)
    if standing is None or standing.undecided or standing.tallies.limits != limits:
        standing = replace(Accumulator.start(metric, len(parts), limits), undecided=False)
        for counts in zip(*parts, strict=True):
            standing = standing.take(counts)
    _check_sentences("the standing", standing.sentences, facts)
    return _Read((start,) * len(parts), standing.systems, parts, standing.tallies)


# ---- Scores of a corpus that is read once, batch by batch, and never held.

SWEEP = 8  # batches after which is looked for what they left behind


def evaluate_batches(
    metrics: Sequence[Metric],
    batches: Iterable[tuple[Corpus, Sequence[Hypotheses]]],
    *,
    resamples: int = 1000,
    rng: Seed = 0,
    bootstrap: BootstrapKind = "auto",
    guard: bool = True,
    threads: int | None = None,
    read: Callable[[int], None] | None = None,
    limits: BootstrapLimits = LIMITS,
) -> list[Scores]:
    """What each metric says of a corpus that comes in batches, as `errata.evaluate` says it.

    Batches (see `errata.io.shards.batches.stream_batches`) are counted and forgotten; counts are
    put aside, in a temporary file where they are many. Single sentences get no scores. ``read``
    is called with the number of sentences read.

    >>> from errata.metrics import parse
    >>> corpus = Corpus.from_texts(["He go home .", "Fine ."], [["He goes home .", "Fine ."]])
    >>> outputs = Hypotheses("A", ("He goes home .", "Very fine ."))
    >>> batches = ((corpus[i : i + 1], [outputs[i : i + 1]]) for i in range(2))
    >>> evaluate_batches([parse("m2")], batches)
    [<Scores 'm2': A 0.5556>]
    """
    for metric in metrics:
        check_divisible(metric)
    facts: Facts | None = None
    digests = {covered: DataDigest(covered) for covered in map(covered_by, metrics)}
    from errata.io.shards.counts import CountSpool

    with CountSpool() as spool:
        rows = _Rows(metrics, spool, limits)
        for corpus, systems in _sweep_batches(batches):
            counted, found = count_part(metrics, corpus, systems, guard=guard, threads=threads)
            facts = found if facts is None else facts + found
            for digest in digests.values():
                digest.add(corpus)
            rows.add(counted, facts.sentences)
            if bootstrap == "blocks":
                rows.add_documents(corpus)
            if read is not None:
                read(facts.sentences)
        if facts is None:
            raise InputError("the corpus is empty", remedy="give at least one sentence")
        facts = replace(facts, digests={name: each.hexdigest() for name, each in digests.items()})
        return [
            score_parts(
                metric,
                facts.systems,
                facts,
                rows.counts_by_system(m, len(facts.systems)),
                resamples=resamples,
                rng=rng,
                bootstrap=bootstrap,
                standing=rows.standings[m] if rows.standings else None,
                blocks=rows.blocks,
                limits=limits,
            )
            for m, metric in enumerate(metrics)
        ]


def _sweep_batches(
    batches: Iterable[tuple[Corpus, Sequence[Hypotheses]]],
) -> Iterator[tuple[Corpus, Sequence[Hypotheses]]]:
    """The batches, with what earlier ones left behind cleared away once in a while."""
    # What was there before is left alone: to look at all that was imported takes longest.
    frozen = gc.get_freeze_count()
    if not frozen:  # else new garbage would stay frozen with the caller's objects
        gc.freeze()
    try:
        with circles_left():
            for number, batch in enumerate(batches, 1):
                yield batch
                if number % SWEEP == 0:
                    gc.collect()
    finally:
        if not frozen:
            gc.unfreeze()


@dataclass(frozen=True, eq=False)
class FlatParts:
    """Parts of one reference each, ``[sentence, k]``, as often as they are asked for."""

    parts: CountParts

    def __iter__(self) -> Iterator[Floats]:
        return (part[:, 0] for part in self.parts)


class _Rows:
    """The counts of all metrics and systems, put aside, and how they stand where they are many."""

    def __init__(
        self, metrics: Sequence[Metric], spool: CountSpool, limits: BootstrapLimits
    ) -> None:
        self.metrics, self.spool, self.limits = metrics, spool, limits
        self.standings: list[Accumulator] = []
        self.documented: bool | None = None

    def counts_by_system(self, m: int, systems: int) -> list[SpooledParts]:
        """The counts of each system by one metric."""
        return [self.spool.parts_of((m, s)) for s in range(systems)]

    def add(self, counted: Sequence[Sequence[Floats]], sentences: int) -> None:
        """Put the counts of the next part aside, after which there are so many sentences."""
        for m, counts in enumerate(counted):
            for s, each in enumerate(counts):
                self.spool.add((m, s), each)
        if sentences <= self.limits.held:
            return  # few enough to be put together in the end
        systems = len(counted[0])
        if self.standings:
            self.standings = [self._take(m, counted[m]) for m in range(len(counted))]
            return
        for m, metric in enumerate(self.metrics):
            self.standings.append(Accumulator.start(metric, systems, self.limits))
            for counts in zip(*self.counts_by_system(m, systems), strict=True):
                self.standings[m] = self._take(m, counts)

    def add_documents(self, corpus: Corpus) -> None:
        """Put aside which blocks the sentences of a part are in, where documents are known."""
        if not len(corpus):
            return
        if self.documented not in (None, bool(corpus.documents)):
            raise InputError(
                "only some sentences have a document",
                remedy="name the document of every sentence, or of none",
            )
        self.documented = bool(corpus.documents)
        if corpus.documents:
            self.spool.add("blocks", number_document_blocks(corpus.documents)[:, None])

    @property
    def blocks(self) -> FlatParts | None:
        """The blocks of all sentences, where documents are known."""
        return FlatParts(self.spool.parts_of("blocks")) if self.documented else None

    def _take(self, m: int, counts: Sequence[Floats]) -> Accumulator:
        with plugin_errors(self.metrics[m]):
            return self.standings[m].take(counts)
