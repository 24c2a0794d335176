"""From sums to scores: the figures, and what is said beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from errata import __version__
from errata.data import Corpus, Scores
from errata.io.skipping import skip_fact
from errata.metrics import METRICS
from errata.metrics.base import Metric
from errata.numbers import Floats, Ints, Seed, seed_name
from errata.plugins import origin
from errata.resampling import DrawnKind

__all__ = [
    "SaidOfScores",
    "assembled",
    "corpus_facts",
    "different_draws",
    "drawn_facts",
    "facts_said",
    "whole_context",
]


class SaidOfScores(NamedTuple):
    """What scores say beside their numbers: of the data, of the sentences left out, to readers."""

    context: tuple[str, ...]
    notes: tuple[str, ...]
    skipped: tuple[int, ...]


def assembled(
    metric: Metric,
    systems: Sequence[str],
    totals: Sequence[Floats],
    resampled: Floats | None,
    drawn: tuple[str, ...],
    told: SaidOfScores,
    alone: Sequence[tuple[Floats, dict[str, Floats | Ints]]] = (),
) -> Scores:
    """The scores of summed counts ``[draw, k]`` of each system, with what is said of them.

    ``alone`` are the scores and the figures of the sentences of each system, if they are wanted.
    """
    METRICS.refuse_disguise(metric)
    values = [metric.score(each).mean() for each in totals]
    parts = _gather(
        [{name: _over_draws(part) for name, part in metric.parts(each).items()} for each in totals]
    )
    return Scores(
        scorer=repr(metric),
        systems=tuple(systems),
        values=np.array(values),
        sentences=np.stack([scores for scores, _ in alone]) if alone else None,
        parts=parts,
        resampled=resampled,
        sentence_parts=_gather([more for _, more in alone]) if alone else {},
        headline=metric.headline,
        context=whole_context(metric, *told.context, *drawn),
        notes=(*told.notes, *_undefined(systems, values)),
        name=metric.name,
        label=metric.label,
        skipped=told.skipped,
        shares=_shares(metric, parts),
    )


def whole_context(metric: Metric, *facts: str) -> tuple[str, ...]:
    """What stands after the metric in a signature: where it is from, facts, and by which Errata."""
    return (*origin(type(metric)), *facts, f"errata:{__version__}")


def different_draws(totals: Floats) -> Floats:
    """Totals ``[draw, k]``; of draws that are all alike, one."""
    return totals[:1] if bool((totals == totals[:1]).all()) else totals


def drawn_facts(
    resamples: int, rng: Seed, kind: DrawnKind | None, *, documents: bool = False
) -> tuple[str, ...]:
    """What a signature says of resamples; ``documents``: blocks are of these.

    >>> drawn_facts(9, 0, "blocks", documents=True)
    ('resamples:9', 'seed:0', 'bootstrap:blocks of documents')
    """
    if not resamples:
        return ()
    of = " of documents" if kind == "blocks" and documents else ""
    return (f"resamples:{resamples}", f"seed:{seed_name(rng)}", f"bootstrap:{kind}{of}")


def corpus_facts(corpus: Corpus) -> tuple[str, ...]:
    """What every signature says of a corpus: its size, references, and how it was read."""
    sizes = corpus.edit_places.sizes
    return facts_said(
        len(corpus), int(sizes.min()), int(sizes.max()), corpus.kept, corpus.skipped, corpus.tokens
    )


def facts_said(
    sentences: int,
    fewest: int,
    most: int,
    kept: Sequence[int] = (),
    skipped: tuple[int, ...] = (),
    tokens: str = "as_is",
) -> tuple[str, ...]:
    """The same, of what is known of a corpus.

    >>> facts_said(1312, 2, 3)
    ('sentences:1312', 'references:2-3')
    """
    whose = f" of annotator {','.join(map(str, kept))}" if kept else ""
    spread = f"-{most}" if most > fewest else ""
    return (
        f"sentences:{sentences}",
        f"references:{fewest}{spread}{whose}",
        *skip_fact(skipped),
        *((f"tokens:{tokens}",) if tokens != "as_is" else ()),
    )


def _shares(metric: Metric, parts: Mapping[str, Floats | Ints]) -> tuple[str, ...]:
    """Which figures are shares of one: the score and its fractions, but for what are sums."""
    if not metric.about.share:
        return ()
    fractions = (name for name, part in parts.items() if part.dtype.kind == "f")
    return metric.headline, *(name for name in fractions if name not in metric.about.amounts)


def _undefined(systems: Sequence[str], values: Sequence[float]) -> tuple[str, ...]:
    """What a reader must know of scores that are no numbers."""
    without = [name for name, value in zip(systems, values, strict=True) if not np.isfinite(value)]
    return (f"no score, being no number: {', '.join(without)}",) if without else ()


def _over_draws(part: Floats | Ints) -> Floats | Ints:
    """The mean over draws; whole numbers stay whole where there is one draw."""
    if len(part) == 1:
        only: Floats | Ints = part[0]
        return only
    mean: Floats = part.mean(axis=0)
    return mean


def _gather(rows: list[dict[str, Floats | Ints]]) -> dict[str, Floats | Ints]:
    def column(name: str) -> Floats | Ints:
        stacked: Any = np.stack([row[name] for row in rows])
        return stacked  # type: ignore[no-any-return]

    return {name: column(name) for name in rows[0]}
