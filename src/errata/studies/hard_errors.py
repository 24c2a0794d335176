"""Which errors are hard, and who corrects them: what stands behind the difficulty measures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from errata.data import Corpus, Edit, Hypotheses
from errata.edits import extract_systems, with_edits
from errata.errors import InputError
from errata.metrics.difficulty import Difficulty, weight
from errata.metrics.difficulty.chunks import (
    CORRECT,
    MODIFIED,
    Chunks,
    WeightedCorpus,
    chunk_references,
    joined_counts,
)
from errata.numbers import Floats, percentiles

__all__ = [
    "DifficultyMap",
    "Error",
    "KindDifficulty",
    "agreement",
    "by_kind",
    "errors",
    "everyone_but",
    "map_difficulty",
    "missed",
    "only",
    "weight_intervals",
]


@dataclass(frozen=True, eq=False)
class DifficultyMap:
    """Every gold chunk of a corpus with its weight and what each system did to it.

    ``flags[s, c]`` holds `MODIFIED` and `CORRECT` of system s on chunk c; ``solved[c]`` of
    ``systems_counted`` systems got chunk c right (these are other systems than ``systems`` where
    the weights come from a file).
    """

    metric: Difficulty
    corpus: Corpus
    systems: tuple[str, ...]
    edits: tuple[tuple[tuple[Edit, ...], ...], ...]
    chunks: Chunks
    flags: NDArray[np.int8]
    solved: Floats
    systems_counted: int
    weights: Floats

    @cached_property
    def right(self) -> NDArray[np.bool_]:
        """Whether system s got chunk c right: ``[s, c]``."""
        return np.asarray((self.flags & CORRECT) > 0)

    @cached_property
    def false_positive(self) -> NDArray[np.bool_]:
        """Whether system s changed chunk c, which is no error, wrongly: ``[s, c]``."""
        wrong = ((self.flags & MODIFIED) > 0) & ~self.right
        return np.asarray(wrong & ~self.chunks.erroneous)

    def edit(self, chunk: int) -> Edit | None:
        """The gold edit of a chunk; None where the chunk is no error."""
        number = int(self.chunks.rows[chunk, 3])
        return self.chunks.edits[int(self.chunks.unit_of[chunk])][number] if number >= 0 else None


@dataclass(frozen=True)
class Error:
    """One gold error: where it is, how hard, and which systems corrected it.

    ``sentence`` counts from 0; ``tokens`` are the learner's at that place.
    """

    sentence: int
    annotator: int
    edit: Edit
    tokens: str
    weight: float
    corrected_by: tuple[str, ...]
    chunk: int


@dataclass(frozen=True)
class KindDifficulty:
    """Mean and sample standard deviation of the weights of one kind of error.

    ``low`` and ``high`` bound the mean in bootstrap resamples of the systems (NaN where the
    systems are not known one by one).
    """

    kind: str
    mean: float
    sd: float
    frequency: int
    low: float
    high: float


def map_difficulty(
    corpus: Corpus, systems: Sequence[Hypotheses], metric: Difficulty | None = None
) -> DifficultyMap:
    """Chunk the references, compare every system with them, and weigh the chunks.

    Without systems the weights must come from a file. Weights are those of all systems: the
    metric's ``leave_out`` concerns scores only.

    >>> gold = Corpus.from_texts(["He go home"], [["He goes home"]])
    >>> found = map_difficulty(gold, [Hypotheses("A", ("He goes home",)),
    ...                               Hypotheses("B", ("He go home",))])
    >>> [(e.tokens, e.weight, e.corrected_by) for e in errors(found)]
    [('go', 0.5, ('A',))]
    """
    metric = metric or Difficulty()
    if not systems and metric.weights in ("systems", "none"):
        raise InputError(
            "difficulty needs systems or a weight file",
            remedy="name one output per system, or give --weights",
        )
    corpus = metric.adapt(corpus, systems)
    gold = with_edits(corpus, metric.gold, metric.extractor)
    chunks = chunk_references(gold, metric.ignore)
    flags = [metric.compare(gold, chunks, hypotheses) for hypotheses in systems]
    stacked = np.stack(flags) if flags else np.zeros((0, len(chunks.rows)), np.int8)
    solved, counted = ((stacked & CORRECT) > 0).sum(axis=0).astype(np.float64), len(systems)
    if isinstance(corpus, WeightedCorpus):
        solved, counted = joined_counts(corpus, chunks), corpus.systems_counted
    plain = replace(metric, leave_out=False)
    return DifficultyMap(
        metric,
        gold,
        tuple(h.system for h in systems),
        tuple(h.edits or () for h in extract_systems(gold, systems, extractor=metric.extractor)),
        chunks,
        stacked,
        solved,
        counted,
        plain.chunk_weights(corpus, chunks),
    )


def errors(found: DifficultyMap) -> list[Error]:
    """All gold errors, in the order of the sentences."""
    unit_of, corpus, chunks = found.chunks.unit_of, found.corpus, found.chunks
    result = []
    for c in np.flatnonzero(chunks.erroneous).tolist():
        u = int(unit_of[c])
        i = int(chunks.sentences[u])
        edit = chunks.edits[u][int(chunks.rows[c, 3])]
        result.append(
            Error(
                i,
                corpus.references[i][int(chunks.references[u])].annotator,
                edit,
                " ".join(corpus.sources[i].split()[edit.start : edit.end]),
                float(found.weights[c]),
                tuple(
                    name
                    for name, right in zip(found.systems, found.right[:, c], strict=True)
                    if right
                ),
                c,
            )
        )
    return result


def by_kind(
    found: DifficultyMap,
    *,
    tier: int = 3,
    resamples: int = 0,
    rng: int | np.random.Generator = 0,
    confidence: float = 0.95,
) -> list[KindDifficulty]:
    """Mean weight, sample SD (0 for a single error) and frequency by kind, hardest first.

    ``tier`` 1 groups by operation (M, R, U), 2 by kind without operation, 3 by full kind, as the
    ``-cat`` of the released scorer. ``resamples`` of the systems give intervals of the means.
    """
    if tier not in (1, 2, 3):
        raise InputError(f"tier {tier} is unknown", remedy="use 1, 2 or 3")
    groups: dict[str, list[int]] = {}
    for error in errors(found):
        kind = error.edit.kind
        name = kind if kind[1:2] != ":" else {1: kind[:1], 2: kind[2:], 3: kind}[tier]
        groups.setdefault(name, []).append(error.chunk)
    shares = _resampled_shares(found, resamples, rng) if resamples else None
    rows = []
    for kind, members in groups.items():
        w = found.weights[members]
        low = high = float("nan")
        if shares is not None:
            means = _as_weights(found, shares @ found.right[:, members].astype(float)).mean(axis=1)
            low, high = percentiles(means, confidence)
        rows.append(
            KindDifficulty(
                kind,
                float(w.mean()),
                float(w.std(ddof=1)) if len(w) > 1 else 0.0,
                len(w),
                float(low),
                float(high),
            )
        )
    return sorted(rows, key=lambda row: (-row.mean, -row.frequency, row.kind))


def weight_intervals(
    found: DifficultyMap,
    members: Sequence[int],
    *,
    resamples: int = 1000,
    rng: int | np.random.Generator = 0,
    confidence: float = 0.95,
) -> Floats:
    """Low and high of the weights of some chunks, ``[chunk, 2]``: bootstrap over the systems.

    A weight of eight systems rests on eight yes-or-no answers; this says how much that is worth.
    """
    shares = _resampled_shares(found, resamples, rng)
    step = max(1, 4_000_000 // resamples)
    blocks = [
        percentiles(
            _as_weights(found, shares @ found.right[:, list(members[k : k + step])]), confidence
        )
        for k in range(0, len(members), step)
    ]
    return np.concatenate([*blocks, np.zeros((0, 2))])


def _resampled_shares(
    found: DifficultyMap, resamples: int, rng: int | np.random.Generator
) -> Floats:
    """How often each system is drawn in each resample: ``[resample, system]``."""
    n = len(found.systems)
    own = found.metric.weights == "systems" and found.systems_counted == n
    if not n or not own or (found.solved != found.right.sum(axis=0)).any():
        raise InputError(
            "intervals of weights need the systems behind the weights",
            remedy="compute the weights from the systems (weights='systems')",
        )
    generator = np.random.default_rng(rng)
    return generator.multinomial(n, np.full(n, 1 / n), size=resamples).astype(np.float64)


def _as_weights(found: DifficultyMap, solved: Floats) -> Floats:
    m = found.metric
    return weight(solved, found.systems_counted, m.a, m.b, m.c)


def only(found: DifficultyMap, system: str) -> list[Error]:
    """The errors that this system alone corrects."""
    return [e for e in errors(found) if e.corrected_by == (_known(found, system),)]


def everyone_but(found: DifficultyMap, system: str) -> list[Error]:
    """The errors that every other system corrects and this one does not."""
    others = tuple(name for name in found.systems if name != _known(found, system))
    return [e for e in errors(found) if others and e.corrected_by == others]


def missed(found: DifficultyMap, system: str) -> list[Error]:
    """The errors that this system leaves or corrects wrongly, easiest first."""
    name = _known(found, system)
    return sorted(
        (e for e in errors(found) if name not in e.corrected_by),
        key=lambda e: (e.weight, e.sentence, e.chunk),
    )


def _known(found: DifficultyMap, system: str) -> str:
    if system not in found.systems:
        raise InputError(
            f"there is no system {system!r}", remedy=f"known: {', '.join(found.systems)}"
        )
    return system


def agreement(found: DifficultyMap) -> tuple[Floats, Floats]:
    """How alike systems are in what they correct: Cohen's kappa and Jaccard, system by system.

    Over all gold errors, each corrected or not. Kappa is 1 for the same decisions and 0 for
    independent ones (NaN where both always decide alike by necessity); Jaccard is the share of
    the errors corrected by either that both correct (NaN where neither corrects any).
    """
    right = found.right[:, found.chunks.erroneous].astype(np.float64)
    total = right.shape[1]
    both = right @ right.T
    mine = right.sum(axis=1)
    either = mine[:, None] + mine[None, :] - both
    with np.errstate(invalid="ignore", divide="ignore"):
        jaccard = np.where(either > 0, both / either, np.nan)
        observed = (total - either + both) / total
        p = mine / total
        expected = p[:, None] * p[None, :] + (1 - p[:, None]) * (1 - p[None, :])
        kappa = np.where(expected < 1, (observed - expected) / (1 - expected), np.nan)
        kappa = np.where(np.abs(kappa) < 1e-12, 0.0, kappa)  # no minus nought
    return kappa, jaccard
