"""Which errors are hard, and who corrects them: what stands behind the difficulty measures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np

from errata.data import Corpus, Edit
from errata.edits import kind_at
from errata.errors import InputError
from errata.io.corpus import keep_annotators
from errata.metrics.difficulty.map import DifficultyMap, weight
from errata.numbers import BLOCK, Floats, percentiles
from errata.sums import ONE_THREAD

__all__ = [
    "Error",
    "KindDifficulty",
    "by_kind",
    "correction_agreement",
    "errors",
    "everyone_but",
    "missed",
    "only",
    "weight_intervals",
    "with_annotators",
]


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


def errors(found: DifficultyMap) -> list[Error]:
    """All gold errors, in the order of the sentences."""
    corpus, chunks = found.corpus, found.chunks
    at = np.flatnonzero(chunks.erroneous)
    unit = chunks.unit_of[at]
    columns = (
        at,
        unit,
        chunks.sentences[unit],
        chunks.references[unit],
        chunks.rows[at, 3],
        found.weights[at],
    )
    corrected = [tuple(compress(found.systems, right)) for right in found.right[:, at].T.tolist()]
    result = []
    for c, u, i, r, number, weighs, by in zip(
        *(column.tolist() for column in columns), corrected, strict=True
    ):
        edit = chunks.edits[u][number]
        tokens = " ".join(corpus.sources[i].split()[edit.start : edit.end])
        annotator = corpus.references[i][r].annotator
        result.append(Error(i, annotator, edit, tokens, weighs, by, c))
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
    groups: dict[str, list[int]] = {}
    for error in errors(found):
        groups.setdefault(kind_at(error.edit.kind, tier), []).append(error.chunk)
    shares = _resampled_shares(found, resamples, rng) if resamples else None
    rows = []
    for kind, members in groups.items():
        w = found.weights[members]
        low = high = float("nan")
        if shares is not None:
            right = found.right[:, members].astype(float)
            step = max(1, ONE_THREAD // max(1, right.size))  # resamples at a time
            means = [
                _as_weights(found, shares[i : i + step] @ right).mean(axis=1)
                for i in range(0, len(shares), step)
            ]
            low, high = percentiles(np.concatenate(means), confidence)
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
    step = max(1, BLOCK // 4 // resamples)
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
    own = found.metric.weights == "systems" and found.tally.systems == n
    if not n or not own or (found.tally.solved != found.right.sum(axis=0)).any():
        raise InputError(
            "intervals of weights need the systems behind the weights",
            remedy="compute the weights from the systems (weights='systems')",
        )
    generator = np.random.default_rng(rng)
    return generator.multinomial(n, np.full(n, 1 / n), size=resamples).astype(np.float64)


def _as_weights(found: DifficultyMap, solved: Floats) -> Floats:
    m = found.metric
    return weight(solved, found.tally.systems, m.a, m.b, m.c)


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


def correction_agreement(found: DifficultyMap) -> tuple[Floats, Floats]:
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


def with_annotators(
    corpus: Corpus, chosen: Sequence[int] = (), *, every: bool = False
) -> tuple[Corpus, str]:
    """A corpus with these annotators, and a remark on who they are.

    Where none is chosen, the first one's corrections count, as in the released scorer, if there are
    some for all sentences; with ``every``, all annotators do.
    """
    known = corpus.annotators
    if not known:
        raise InputError("the corpus has no references", remedy="give --gold or --refs")
    if not chosen and not every:
        if not all(any(r.annotator == known[0] for r in refs) for refs in corpus.references):
            return corpus, (
                f"annotators {', '.join(map(str, known))}: annotator {known[0]} has not "
                "corrected every sentence"
            )
        chosen = known[:1]
    names = ", ".join(map(str, chosen or known))
    if len(chosen or known) > 1:
        remark = f"annotators {names}, the best for each sentence"
    else:
        remark = f"annotator {names} of {len(known)}" if len(known) > 1 else ""
    return keep_annotators(corpus, tuple(chosen)) if chosen else corpus, remark
