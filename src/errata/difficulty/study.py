"""Hard errors, who corrects them; tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np

from errata.core.errors import InputError
from errata.core.exact_sums import ONE_THREAD
from errata.core.stats import BLOCK, Floats, Interval, Ints, Seed, percentiles
from errata.data import Corpus, Edit, Hypotheses
from errata.difficulty.heatmap import weights_origin
from errata.edits import kind_at
from errata.io.corpus import keep_annotators
from errata.metrics.base import describe_data
from errata.metrics.difficulty import DifficultyMap, weight
from errata.scoring.evaluate import scores_of
from errata.scoring.results import corpus_facts
from errata.scoring.tables import score_table
from errata.tables.table import Column, Table, make_signature


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


def gold_errors(found: DifficultyMap, chunks: Ints | None = None) -> list[Error]:
    """Return all gold errors, or the errors of some chunks, in the order of the sentences."""
    every, table = found.chunks, found.corpus.edits
    at = error_chunks(found) if chunks is None else chunks
    unit = every.unit_of[at]
    facts = (at, every.sentences[unit], table.annotators[unit], every.edits[at], found.weights[at])
    result = []
    for c, i, annotator, number, weighs, by in zip(
        *(fact.tolist() for fact in facts), _correcting_systems(found, at), strict=True
    ):
        edit = table.every_edit[number]
        tokens = " ".join(found.corpus.sources[i].split()[edit.start : edit.end])
        result.append(Error(i, annotator, edit, tokens, weighs, by, c))
    return result


def error_chunks(found: DifficultyMap) -> Ints:
    return np.flatnonzero(found.chunks.erroneous)


def _correcting_systems(found: DifficultyMap, chunks: Ints) -> list[tuple[str, ...]]:
    """Return the systems that get each of some chunks right."""
    return [tuple(compress(found.systems, right)) for right in found.right[:, chunks].T.tolist()]


def difficulty_by_kind(
    found: DifficultyMap,
    *,
    tier: int = 3,
    resamples: int = 0,
    rng: int | np.random.Generator = 0,
    confidence: float = 0.95,
) -> list[KindDifficulty]:
    """Return mean weight, sample SD (0 for a single error) and frequency by kind, hardest first.

    ``tier`` 1 groups by operation (M, R, U), 2 by kind without operation, 3 by full kind, as the
    ``-cat`` of the released scorer. ``resamples`` of the systems give intervals of the means.
    """
    groups: dict[str, list[int]] = {}
    at, kinds = error_chunks(found), found.corpus.edits.kinds
    for chunk, edit in zip(at.tolist(), found.chunks.edits[at].tolist(), strict=True):
        groups.setdefault(kind_at(kinds[edit], tier), []).append(chunk)
    draws = _count_system_draws(found, resamples, rng) if resamples else None
    rows = []
    for kind, members in groups.items():
        w = found.weights[members]
        low = high = float("nan")
        if draws is not None:
            right = found.right[:, members].astype(float)
            step = max(1, ONE_THREAD // max(1, right.size))  # resamples at a time
            means = [
                _weights_from_solved(found, draws[i : i + step] @ right).mean(axis=1)
                for i in range(0, len(draws), step)
            ]
            low, high = percentiles(np.concatenate(means), confidence)
        sd = float(w.std(ddof=1)) if len(w) > 1 else 0.0
        rows.append(KindDifficulty(kind, float(w.mean()), sd, len(w), float(low), float(high)))
    return sorted(rows, key=lambda row: (-row.mean, -row.frequency, row.kind))


def weight_intervals(
    found: DifficultyMap,
    members: Sequence[int],
    *,
    resamples: int = 1000,
    rng: int | np.random.Generator = 0,
    confidence: float = 0.95,
) -> Floats:
    """Return low and high of the weights of some chunks, ``[chunk, 2]``, by resampling systems."""
    draws = _count_system_draws(found, resamples, rng)
    step = max(1, BLOCK // 4 // resamples)
    blocks = [
        percentiles(
            _weights_from_solved(found, draws @ found.right[:, list(members[k : k + step])]),
            confidence,
        )
        for k in range(0, len(members), step)
    ]
    return np.concatenate([*blocks, np.zeros((0, 2))])


def _count_system_draws(
    found: DifficultyMap, resamples: int, rng: int | np.random.Generator
) -> Floats:
    """Return how often each system is drawn in each resample: ``[resample, system]``."""
    n = len(found.systems)
    own = found.metric.weights == "systems" and found.tally.systems == n
    if not n or not own or (found.tally.solved != found.right.sum(axis=0)).any():
        remedy = "compute the weights from the systems (weights='systems')"
        raise InputError("intervals of weights need the systems behind the weights", remedy=remedy)
    generator = np.random.default_rng(rng)
    return generator.multinomial(n, np.full(n, 1 / n), size=resamples).astype(np.float64)


def _weights_from_solved(found: DifficultyMap, solved: Floats) -> Floats:
    m = found.metric
    return weight(solved, found.tally.systems, m.a, m.b, m.c)


def only_corrected_by(found: DifficultyMap, system: str) -> list[Error]:
    """Return the errors that this system alone corrects."""
    return [e for e in gold_errors(found) if e.corrected_by == (_require_system(found, system),)]


def missed_only_by(found: DifficultyMap, system: str) -> list[Error]:
    """Return the errors that every other system corrects and this one does not."""
    others = tuple(name for name in found.systems if name != _require_system(found, system))
    return [e for e in gold_errors(found) if others and e.corrected_by == others]


def missed_by(found: DifficultyMap, system: str) -> list[Error]:
    """Return the errors that this system leaves or corrects wrongly, easiest first."""
    name = _require_system(found, system)
    return sorted(
        (e for e in gold_errors(found) if name not in e.corrected_by),
        key=lambda e: (e.weight, e.sentence, e.chunk),
    )


def _require_system(found: DifficultyMap, system: str) -> str:
    if system not in found.systems:
        remedy = f"known: {', '.join(found.systems)}"
        raise InputError(f"there is no system {system!r}", remedy=remedy)
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


def choose_annotators(
    corpus: Corpus, chosen: Sequence[int] = (), *, every: bool
) -> tuple[Corpus, str]:
    """Return a corpus with the chosen annotators, and a remark on who they are.

    If none is chosen, the first one's corrections count (as in the released scorer) where there are
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


CONTEXT = 6  # tokens shown on either side of an error


def difficulty_tables(
    found: DifficultyMap,
    corpus: Corpus,
    systems: Sequence[Hypotheses],
    *,
    remark: str = "",
    types: str = "as_is",
    tier: int = 3,
    top: int = 5,
    chosen: Sequence[str] = (),
    resamples: int,
    confidence: float,
    rng: Seed,
) -> list[Table]:
    """Return scores, kinds, the ``top`` hardest and easiest errors, and how alike the systems are.

    ``corpus`` and ``systems`` belong to the map, ``remark`` says who annotated; the errors of
    the ``chosen`` systems follow.
    """
    metric = found.metric
    shown = []
    context = describe_data(metric, corpus, systems).context
    signature = make_signature(repr(metric), *context, *corpus_facts(corpus))
    if systems:
        counts = [found.counts(s) for s in range(len(systems))]
        scores = scores_of(metric, corpus, systems, counts, resamples=resamples, rng=rng)
        signature = scores.signature
        shown.append(score_table(scores, confidence=confidence))
    signature += f" | types:{types} | tier:{tier}"
    many = resamples if len(systems) > 1 and metric.weights == "systems" else 0
    kinds = difficulty_by_kind(found, tier=tier, resamples=many, rng=rng, confidence=confidence)
    caption = "; ".join(filter(None, (weights_origin(found), remark)))
    shown.append(kind_table(kinds, caption=caption, signature=signature))
    for title, name, several in hardest_and_easiest(found, top):
        intervals = None
        if many:
            chunks = [error.chunk for error in several]
            intervals = weight_intervals(
                found, chunks, resamples=many, rng=rng, confidence=confidence
            )
        shown.append(
            error_table(
                found, several, title=title, name=name, intervals=intervals, signature=signature
            )
        )
    if len(systems) > 1:
        shown += [
            uniqueness_table(found, signature=signature),
            agreement_table(found, signature=signature),
        ]
    for system in chosen:
        shown += system_error_tables(found, system, top, signature=signature)
    return shown


def kind_table(rows: Sequence[KindDifficulty], *, caption: str = "", signature: str = "") -> Table:
    """Return mean weight, SD and frequency by kind of error (Gotou et al. 2020, Table 4)."""
    intervals = [Interval(row.low, row.high) for row in rows]
    return Table.of(
        [
            Column("kind", [row.kind or "-" for row in rows]),
            Column("mean weight", [row.mean for row in rows], ".3f"),
            Column("SD", [row.sd for row in rows], ".3f"),
            Column("frequency", [row.frequency for row in rows]),
            Column("interval of the mean", intervals, ".3f", optional=True),
        ],
        title="Difficulty by kind of error",
        name="kinds",
        caption=caption,
        signature=signature,
    )


def error_table(
    found: DifficultyMap,
    several: Sequence[Error],
    *,
    title: str,
    name: str,
    intervals: Floats | None = None,
    signature: str = "",
) -> Table:
    """Return errors with their sentence around them; ``intervals`` belong to the weights."""
    bounds = [] if intervals is None else [Interval(*ends) for ends in intervals.tolist()]
    columns = [
        Column("sentence", [found.corpus.number(error.sentence) for error in several]),
        Column("weight", [error.weight for error in several], ".3f"),
        *([] if intervals is None else [Column("interval", bounds, ".2f")]),
        Column("kind", [error.edit.kind or "-" for error in several]),
        Column("error", [error.tokens or "(nothing)" for error in several]),
        Column("correction", [error.edit.replacement or "(nothing)" for error in several]),
        Column("in context", [_error_in_context(found, error) for error in several]),
        Column("corrected by", [", ".join(error.corrected_by) for error in several]),
    ]
    return Table.of(columns, title=title, name=name, signature=signature)


def hardest_and_easiest(found: DifficultyMap, top: int) -> list[tuple[str, str, list[Error]]]:
    """Return title, name and errors of the ``top`` highest and lowest weights.

    Errors of one weight keep the order of the text; the title says how many share the first.
    """
    result: list[tuple[str, str, list[Error]]] = []
    at = error_chunks(found)
    weights = found.weights[at]
    for word, sign in (("hardest", -1), ("easiest", 1)):
        order = np.argsort(sign * weights, kind="stable")
        first = weights[order[:1]]
        alike = int((weights == first).sum())
        share = f" ({alike} weigh {first[0]:.3f})" if alike > 1 else ""
        if top:
            several = gold_errors(found, at[order[:top]])
            result.append((f"The {word} errors{share}", word, several))
    return result


def _error_in_context(found: DifficultyMap, error: Error) -> str:
    tokens = found.corpus.sources[error.sentence].split()
    start, end = error.edit.start, error.edit.end
    before = ["…"] * (start > CONTEXT) + tokens[max(0, start - CONTEXT) : start]
    after = tokens[end : end + CONTEXT] + ["…"] * (end + CONTEXT < len(tokens))
    return " ".join([*before, f"[{' '.join(tokens[start:end])}]", *after])


def uniqueness_table(found: DifficultyMap, *, signature: str = "") -> Table:
    """Return for each system the errors corrected, only by it, and by everyone but it."""
    every = _correcting_systems(found, error_chunks(found))
    by = Counter(every)  # the systems, in their order
    systems = found.systems
    others = [tuple(name for name in systems if name != system) for system in systems]
    corrected = [sum(many for who, many in by.items() if s in who) for s in systems]
    return Table.of(
        [
            Column("system", systems),
            Column("corrected", corrected),
            Column("only you", [by[(system,)] for system in systems]),
            Column("everyone but you", [by[names] if names else 0 for names in others]),
        ],
        title=f"Who corrects what ({len(every)} errors)",
        name="uniqueness",
        signature=signature,
    )


def system_error_tables(
    found: DifficultyMap, system: str, top: int, *, signature: str = ""
) -> list[Table]:
    """Return the errors that only one system corrects, that all others do, and its easy misses."""
    slug = "".join(c if c.isalnum() else "_" for c in system)
    return [
        error_table(
            found,
            several[:top],
            title=f"{system}: {title} ({len(several)})",
            name=f"{slug}_{name}",
            signature=signature,
        )
        for title, name, several in (
            ("errors only you correct", "only", only_corrected_by(found, system)),
            ("errors everyone but you corrects", "everyone_but", missed_only_by(found, system)),
            ("the easiest errors you miss", "missed", missed_by(found, system)),
        )
    ]


def agreement_table(found: DifficultyMap, *, signature: str = "") -> Table:
    """Return Cohen's kappa between systems over what they correct."""
    values, _ = correction_agreement(found)
    systems = range(len(found.systems))
    return Table.of(
        [
            Column("system", found.systems),
            *(
                Column(name, [None if i == j else float(values[i, j]) for i in systems], ".2f")
                for j, name in enumerate(found.systems)
            ),
        ],
        name="agreement_kappa",
        signature=signature,
        title="Agreement on which errors are corrected (Cohen’s kappa)",
    )
