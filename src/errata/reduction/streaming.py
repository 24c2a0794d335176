"""Scores of a corpus that is read once, batch by batch, and never held."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from errata.data import Corpus, Hypotheses, Scores
from errata.errors import InputError
from errata.io.counts import CountSpool, SpooledParts
from errata.metrics.base import Metric
from errata.numbers import Floats, Seed
from errata.plugins import blamed
from errata.reduction.cursor import CountParts, Standing
from errata.reduction.facts import PartFacts
from errata.reduction.parts import check_parts, count_part
from errata.reduction.scoring import scores_of_parts
from errata.resampling import LIMITS, BootstrapKind, BootstrapLimits, document_blocks
from errata.workers import circles_left

__all__ = ["FlatParts", "evaluate_batches"]

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

    Batches (see `errata.io.shards.stream_batches`) are counted and forgotten; counts are put
    aside, in a temporary file where they are many. Scores are without those of single sentences.
    ``read`` is told how many sentences were read.

    >>> from errata.metrics import parse
    >>> corpus = Corpus.from_texts(["He go home .", "Fine ."], [["He goes home .", "Fine ."]])
    >>> outputs = Hypotheses("A", ("He goes home .", "Very fine ."))
    >>> batches = ((corpus[i : i + 1], [outputs[i : i + 1]]) for i in range(2))
    >>> evaluate_batches([parse("m2")], batches)
    [<Scores 'm2': A 0.5556>]
    """
    for metric in metrics:
        check_parts(metric)
    facts: PartFacts | None = None
    with CountSpool() as spool:
        rows = _Rows(metrics, spool, limits)
        for corpus, systems in _swept(batches):
            counted, found = count_part(metrics, corpus, systems, guard=guard, threads=threads)
            facts = found if facts is None else facts + found
            rows.add(counted, facts.sentences)
            if bootstrap == "blocks":
                rows.add_documents(corpus)
            if read is not None:
                read(facts.sentences)
        if facts is None:
            raise InputError("the corpus is empty", remedy="give at least one sentence")
        return [
            scores_of_parts(
                metric,
                facts.systems,
                facts,
                rows.parts(m, len(facts.systems)),
                resamples=resamples,
                rng=rng,
                bootstrap=bootstrap,
                standing=rows.standings[m] if rows.standings else None,
                blocks=rows.blocks,
                limits=limits,
            )
            for m, metric in enumerate(metrics)
        ]


def _swept(
    batches: Iterable[tuple[Corpus, Sequence[Hypotheses]]],
) -> Iterator[tuple[Corpus, Sequence[Hypotheses]]]:
    """The batches, with what earlier ones left behind cleared away once in a while."""
    # What was there before is left alone: to look at all that was imported takes longest.
    frozen = gc.get_freeze_count()
    if not frozen:  # else what is garbage by now would stay frozen with what somebody else froze
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
        self.standings: list[Standing] = []
        self.documented: bool | None = None

    def parts(self, m: int, systems: int) -> list[SpooledParts]:
        """The counts of each system by one metric."""
        return [self.spool.parts((m, s)) for s in range(systems)]

    def add(self, counted: Sequence[Sequence[Floats]], sentences: int) -> None:
        """Put the counts of the next part aside, after which there are so many sentences."""
        for m, counts in enumerate(counted):
            for s, each in enumerate(counts):
                self.spool.add((m, s), each)
        if sentences <= self.limits.held:
            return  # few enough to be put together in the end
        systems = len(counted[0])
        if self.standings:
            self.standings = [self._taken(m, counted[m]) for m in range(len(counted))]
            return
        for m, metric in enumerate(self.metrics):
            self.standings.append(Standing.start(metric, systems, self.limits))
            for counts in zip(*self.parts(m, systems), strict=True):
                self.standings[m] = self._taken(m, counts)

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
            self.spool.add("blocks", document_blocks(corpus.documents)[:, None])

    @property
    def blocks(self) -> FlatParts | None:
        """The blocks of all sentences, where documents are known."""
        return FlatParts(self.spool.parts("blocks")) if self.documented else None

    def _taken(self, m: int, counts: Sequence[Floats]) -> Standing:
        with blamed(self.metrics[m]):
            return self.standings[m].take(counts)
