"""From counts to scores, the same way for every metric.

The only caller of `Metric.count`, `choose` and `score`: the corpus score is the score of the
chosen counts summed over sentences (mean over draws), sentence scores are the scores of the
chosen counts, and the bootstrap multiplies them with multinomial weights.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from errata import __version__
from errata.data import Corpus, Hypotheses, Scores
from errata.errors import InputError
from errata.metrics.base import Metric
from errata.numbers import BLOCK, Floats, Ints, Progress, bootstrap_weights

__all__ = [
    "bootstrap",
    "count_systems",
    "draw_totals",
    "evaluate",
    "join_counts",
    "pick",
    "sentence_scores",
]


def evaluate(
    metric: Metric,
    corpus: Corpus,
    systems: Sequence[Hypotheses],
    *,
    resamples: int = 1000,
    rng: int | np.random.Generator = 0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Scores:
    """Score systems with one metric: overall, per sentence, and in bootstrap resamples.

    ``rng`` seeds the bootstrap; with the same seed every metric sees the same resamples.
    ``threads`` defaults to the number of cores. ``progress`` is called with (done, total).

    >>> from errata import Corpus, Hypotheses, parse
    >>> corpus = Corpus.from_texts(["He go home ."], [["He goes home ."]])
    >>> scores = evaluate(parse("m2"), corpus, [Hypotheses("A", ("He goes home .",))])
    >>> scores["A"]
    1.0
    """
    _check(metric, corpus, systems)
    corpus = metric.adapt(corpus, systems, progress)
    counts = count_systems(metric, corpus, systems, threads=threads, progress=progress)
    values, parts, picked = [], [], []
    for each in counts:
        choice = metric.choose(each)
        totals = draw_totals(each, choice)
        values.append(metric.score(totals).mean())
        parts.append({name: part.mean(axis=0) for name, part in metric.parts(totals).items()})
        picked.append(pick(each, choice))
    alone = [sentence_scores(metric, each) for each in counts]
    for _, more in alone:
        if "reference" in more:
            positions = more.pop("reference")
            # With one reference there is no choice, and its column need not be the first (GLEU).
            if corpus.most_references > 1:
                more["annotator"] = _annotators(corpus, positions)
    seed = rng if isinstance(rng, int) else "generator"
    return Scores(
        scorer=repr(metric),
        systems=tuple(h.system for h in systems),
        values=np.array(values),
        sentences=np.stack([scores for scores, _ in alone]),
        parts=_counts(_gather(parts), metric.counted),
        sentence_parts=_counts(
            _gather([more for _, more in alone]), metric.counted | {"annotator"}
        ),
        resampled=bootstrap(metric, picked, resamples, rng) if resamples else None,
        headline=metric.headline,
        name=metric.name,
        label=metric.label,
        context=(
            *metric.context(corpus),
            f"sentences:{len(corpus)}",
            _references(corpus),
            *((f"resamples:{resamples}", f"seed:{seed}") if resamples else ()),
            f"errata:{__version__}",
        ),
        notes=metric.notes(corpus),
    )


def _check(metric: Metric, corpus: Corpus, systems: Sequence[Hypotheses]) -> None:
    if not systems:
        raise InputError("there is no system to score", remedy="give at least one output file")
    if not len(corpus):
        raise InputError("the corpus is empty", remedy="give at least one sentence")
    for hypotheses in systems:
        if len(hypotheses) != len(corpus):
            raise InputError(
                f"{hypotheses.system} has {len(hypotheses)} sentences, the corpus {len(corpus)}",
                remedy="one line per source sentence",
            )
    if metric.needs_references:
        if not corpus.most_references:
            raise InputError(
                f"there are no references, and {metric.name} needs them",
                remedy="give corrected texts (--refs) or an M2 file (--gold)",
            )
        bare = next((i for i, refs in enumerate(corpus.references) if not refs), None)
        if bare is not None:
            raise InputError(
                f"sentence {bare + 1} has no reference, and {metric.name} needs one",
                remedy="give references or leave the sentence out",
            )


def _references(corpus: Corpus) -> str:
    sizes = {len(refs) for refs in corpus.references}
    kept = f" of annotator {','.join(map(str, corpus.kept))}" if corpus.kept else ""
    return f"references:{min(sizes)}" + (f"-{max(sizes)}" if len(sizes) > 1 else "") + kept


def _annotators(corpus: Corpus, positions: Floats) -> Floats:
    """The numbers of the annotators whose references were taken; NaN where none was."""
    return np.array(
        [
            np.nan if at < 0 else refs[int(at)].annotator
            for refs, at in zip(corpus.references, positions.tolist(), strict=True)
        ]
    )


def _counts(parts: dict[str, Floats], counted: frozenset[str]) -> dict[str, Floats | Ints]:
    """Parts that count something as whole numbers, where they are whole."""
    return {
        name: part.astype(np.int64)
        if name in counted and bool((part == np.round(part)).all())
        else part
        for name, part in parts.items()
    }


def _gather(rows: list[dict[str, Floats]]) -> dict[str, Floats]:
    return {name: np.stack([row[name] for row in rows]) for name in rows[0]}


def count_systems(
    metric: Metric,
    corpus: Corpus,
    systems: Sequence[Hypotheses],
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> list[Floats]:
    """The counts ``[sentence, reference, k]`` of every system, chunk by chunk, in threads."""
    metric.prepare(corpus, systems, progress)
    corpus = metric.adapt(corpus, systems, progress)
    starts = np.cumsum([0, *map(len, corpus.batches)])
    jobs = [
        (chunk, hypotheses[int(a) : int(b)])
        for hypotheses in systems
        for chunk, a, b in zip(corpus.batches, starts[:-1], starts[1:], strict=True)
    ]
    done, lock = 0, threading.Lock()

    def run(job: tuple[Corpus, Hypotheses]) -> Floats:
        nonlocal done
        counts = metric.count(*job)
        with lock:
            done += len(job[0])
            if progress is not None:
                progress(done, len(corpus) * len(systems))
        return counts

    workers = threads or os.cpu_count() or 1
    if workers == 1 or len(jobs) == 1:
        parts = [run(job) for job in jobs]
    else:
        with ThreadPoolExecutor(workers) as pool:
            parts = list(pool.map(run, jobs))
    n = len(corpus.batches)
    return [join_counts(parts[i : i + n]) for i in range(0, len(parts), n)]


def join_counts(parts: Sequence[Floats]) -> Floats:
    """Put counts of consecutive chunks together; missing references are NaN.

    >>> join_counts([np.ones((1, 1, 3)), np.ones((2, 2, 3))]).shape
    (3, 2, 3)
    """
    if len(parts) == 1:
        return parts[0]
    most = max(part.shape[1] for part in parts)
    padded = [
        np.pad(part, ((0, 0), (0, most - part.shape[1]), (0, 0)), constant_values=np.nan)
        for part in parts
    ]
    return np.concatenate(padded)


def draw_totals(counts: Floats, choice: Ints) -> Floats:
    """Chosen counts summed over sentences, for each draw: ``[draw, k]``."""
    known = np.nan_to_num(counts)
    step = max(1, BLOCK // max(1, counts.shape[0]))
    blocks = [
        sum(
            (
                (choice[i : i + step] == r).astype(np.float64) @ known[:, r]
                for r in range(counts.shape[1])
            ),
            np.zeros(counts.shape[2]),
        )
        for i in range(0, len(choice), step)
    ]
    return np.concatenate(blocks)


def pick(counts: Floats, choice: Ints) -> Floats:
    """Chosen counts of each sentence, mean over draws: ``[sentence, k]``."""
    picked = np.zeros((counts.shape[0], counts.shape[2]))
    for r in range(counts.shape[1]):
        share = (choice == r).mean(axis=0)
        picked += share[:, None] * np.nan_to_num(counts[:, r])
    return picked


def sentence_scores(metric: Metric, counts: Floats) -> tuple[Floats, dict[str, Floats]]:
    """Scores and further figures of every sentence scored alone (mean over draws)."""
    choice = metric.choose_sentences(counts)
    rows = np.arange(counts.shape[0])
    scores = np.zeros(choice.shape)
    for draw, chosen in enumerate(choice):
        there = chosen >= 0
        scores[draw, there] = metric.score_sentences(counts[rows[there], chosen[there]])
    weight = (choice >= 0).sum(axis=0)
    mean = np.where(weight > 0, scores.sum(axis=0) / np.maximum(weight, 1), np.nan)
    more = dict(metric.sentence_parts(pick(counts, choice)))
    if metric.by_annotator and len(choice) == 1 and counts.shape[1] > 1:
        more["reference"] = choice[0].astype(np.float64)
    return mean, more


def bootstrap(
    metric: Metric, picked: Sequence[Floats], resamples: int, rng: int | np.random.Generator
) -> Floats:
    """Overall scores in bootstrap resamples of the sentences: ``[resample, system]``.

    The choice of reference stays as it is; sums over resampled sentences are one matrix product
    of multinomial weights and counts.
    """
    n, k = picked[0].shape
    stacked = np.concatenate(picked, axis=1)
    blocks = [weights @ stacked for weights in bootstrap_weights(n, resamples, rng)]
    totals = np.concatenate(blocks).reshape(resamples, len(picked), k)
    return metric.score(totals)
