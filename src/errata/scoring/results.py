"""Scores with facts, notes and signature context.

What a metric describes of its data (`Metric.describe`) follows from facts that add up over the
parts of a corpus, so the whole need not be there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from errata import __version__
from errata.core.errors import InputError
from errata.core.registry import origin
from errata.core.stats import Floats, Ints, Seed, seed_name
from errata.data import Corpus, Hypotheses, Scores
from errata.data.digest import Covered, corpus_digest
from errata.io.slices import skip_signature
from errata.metrics import METRICS
from errata.metrics.base import Description, Metric, MetricFacts, add_facts
from errata.scoring.resampling import DrawnKind

# ---- From sums to scores: figures, signature and notes.


def build_scores(
    metric: Metric,
    systems: Sequence[str],
    totals: Sequence[Floats],
    resampled: Floats | None,
    drawn: tuple[str, ...],
    described: Description,
    skipped: tuple[int, ...],
    alone: Sequence[tuple[Floats, dict[str, Floats | Ints]]] = (),
) -> Scores:
    """The scores of summed counts ``[draw, k]`` of each system, with signature and notes.

    ``alone`` are the scores and the figures of the sentences of each system, if they are wanted.
    """
    METRICS.refuse_disguise(metric)
    values = [metric.score(each).mean() for each in totals]
    missing = [name for name, value in zip(systems, values, strict=True) if not np.isfinite(value)]
    figures = [metric.figures(each) for each in totals]
    # The mean over draws; whole numbers stay whole where there is one draw.
    parts: dict[str, Any] = {
        name: np.stack([f[name][0] if len(f[name]) == 1 else f[name].mean(axis=0) for f in figures])
        for name in figures[0]
    }
    sentence_parts: dict[str, Any] = {
        name: np.stack([more[name] for _, more in alone]) for name in (alone[0][1] if alone else ())
    }
    # Figures that are shares of one, as the score is, but for what are sums.
    fractions = [name for name, part in parts.items() if part.dtype.kind == "f"]
    fractions = [name for name in fractions if name not in metric.about.amounts]
    notes = [f"no score, being no number: {', '.join(missing)}"] if missing else []
    return Scores(
        scorer=repr(metric),
        systems=tuple(systems),
        values=np.array(values),
        sentences=np.stack([scores for scores, _ in alone]) if alone else None,
        parts=parts,
        resampled=resampled,
        sentence_parts=sentence_parts,
        headline=metric.headline,
        context=whole_context(metric, *described.context, *drawn),
        notes=(*described.notes, *notes),
        name=metric.name,
        label=metric.label,
        skipped=skipped,
        shares=(metric.headline, *fractions) if metric.about.share else (),
    )


def whole_context(metric: Metric, *facts: str) -> tuple[str, ...]:
    """What stands after the metric in a signature: where it is from, facts, and by which Errata."""
    return (*origin(type(metric)), *facts, f"errata:{__version__}")


def different_draws(totals: Floats) -> Floats:
    """Totals ``[draw, k]``; of draws that are all alike, one."""
    return totals[:1] if bool((totals == totals[:1]).all()) else totals


def drawn_facts(
    resamples: int, rng: Seed, kind: DrawnKind | None, *, documents: bool
) -> tuple[str, ...]:
    """What a signature says of resamples; ``documents``: blocks are of these.

    >>> drawn_facts(9, 0, "blocks", documents=True)
    ('resamples:9', 'seed:0', 'bootstrap:blocks of documents')
    """
    if not resamples:
        return ()
    of = " of documents" if kind == "blocks" and documents else ""
    return (f"resamples:{resamples}", f"seed:{seed_name(rng)}", f"bootstrap:{kind}{of}")


def corpus_facts(corpus: Corpus, covered: Covered = "references") -> tuple[str, ...]:
    """Return what every signature says of a corpus: its digest, its size and how it was read."""
    sizes = corpus.edits.sizes
    return signature_facts(
        corpus_digest(corpus, covered),
        len(corpus),
        int(sizes.min()),
        int(sizes.max()),
        corpus.kept,
        corpus.skipped,
        corpus.tokens,
    )


def covered_by(metric: Metric) -> Covered:
    """Return what the digest covers: sources alone where the metric needs no references."""
    return "sources" if metric.columns == "none" else "references"


def signature_facts(
    digest: str,
    sentences: int,
    fewest: int,
    most: int,
    kept: Sequence[int] = (),
    skipped: tuple[int, ...] = (),
    tokens: str = "as_is",
) -> tuple[str, ...]:
    """Return the facts that every signature has, from a corpus's size and settings.

    A ``digest`` that is not known is left out.

    >>> signature_facts("59cd76e3", 1312, 2, 3)
    ('tokens:as_is', 'digest:59cd76e3', 'sentences:1312', 'references:2-3')
    """
    whose = f" of annotator {','.join(map(str, kept))}" if kept else ""
    spread = f"-{most}" if most > fewest else ""
    return (
        f"tokens:{tokens}",
        *((f"digest:{digest}",) if digest else ()),
        f"sentences:{sentences}",
        f"references:{fewest}{spread}{whose}",
        *skip_signature(skipped),
    )


# ---- Facts of a corpus that comes in parts.


@dataclass(frozen=True)
class Facts:
    """Facts of a part of a corpus; ``+`` gives the facts of a part and the one after it.

    ``fewest`` and ``most`` are numbers of references, ``parts`` counts those that have sentences.
    Sentences that were ``skipped`` are numbered in the text of the part with them. ``by_metric``
    are the facts of metrics (`Metric.facts`), by signature. ``digests``, by what they cover,
    belong to the whole corpus and are set when all parts are read.
    """

    systems: tuple[str, ...]
    sentences: int = 0
    fewest: int = 0
    most: int = 0
    kept: tuple[int, ...] = ()
    tokens: str = "as_is"
    skipped: tuple[int, ...] = ()
    parts: int = 0
    by_metric: Mapping[str, MetricFacts] = field(default_factory=dict)
    digests: Mapping[Covered, str] = field(default_factory=dict)

    @classmethod
    def of(cls, metrics: Sequence[Metric], corpus: Corpus, systems: Sequence[Hypotheses]) -> Facts:
        """The facts of one part, after it was counted."""
        names = tuple(each.system for each in systems)
        if not len(corpus):
            return cls(names, skipped=corpus.skipped)
        sizes = corpus.edits.sizes
        return cls(
            names,
            len(corpus),
            int(sizes.min()),
            int(sizes.max()),
            corpus.kept,
            corpus.tokens,
            corpus.skipped,
            1,
            {repr(each): each.facts(corpus, systems) for each in metrics},
        )

    def __add__(self, other: Facts) -> Facts:
        if self.systems != other.systems:
            raise InputError(
                f"a part has the systems {', '.join(self.systems)}, another one "
                f"{', '.join(other.systems)}",
                remedy="count all systems in every part, in one order",
            )
        before = self.sentences + len(self.skipped)
        skipped = (*self.skipped, *(place + before for place in other.skipped))
        if not self.parts or not other.parts:
            return replace(self if self.parts else other, skipped=skipped)
        for what in ("kept", "tokens"):
            if getattr(self, what) != getattr(other, what):
                raise InputError(f"parts of a corpus were read differently ({what})")
        return replace(
            self,
            sentences=self.sentences + other.sentences,
            fewest=min(self.fewest, other.fewest),
            most=max(self.most, other.most),
            skipped=skipped,
            parts=self.parts + other.parts,
            by_metric={
                name: add_facts(own, other.by_metric[name]) for name, own in self.by_metric.items()
            },
        )

    def describe(self, metric: Metric) -> Description:
        """What the metric describes of all parts, with the facts of the corpus."""
        described = metric.describe(self.by_metric[repr(metric)])
        facts = signature_facts(
            self.digests.get(covered_by(metric), ""),
            self.sentences,
            self.fewest,
            self.most,
            self.kept,
            self.skipped,
            self.tokens,
        )
        return described._replace(context=(*described.context, *facts))

    def to_json(self) -> dict[str, Any]:
        """The facts as what JSON holds."""
        known = {name: _as_list(getattr(self, name)) for name in self.__dataclass_fields__}
        # Pairs keep the order of facts, that of the systems: keys of JSON objects may be sorted.
        known["by_metric"] = [
            [metric, [[name, _as_list(fact)] for name, fact in facts.items()]]
            for metric, facts in self.by_metric.items()
        ]
        return known

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Facts:
        """What `to_json` gave."""
        known: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in given.items()
        }
        known["by_metric"] = {
            metric: {
                name: frozenset(fact) if isinstance(fact, list) else fact for name, fact in facts
            }
            for metric, facts in given["by_metric"]
        }
        return cls(**known)


def _as_list(value: Any) -> Any:
    """A tuple or a set as a list."""
    if isinstance(value, frozenset):
        return sorted(value)
    return list(value) if isinstance(value, tuple) else value
