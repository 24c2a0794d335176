"""Counts and choices of metrics, checked in every run: as the contract says, or refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from errata.data import Corpus, Hypotheses
from errata.errors import ErrataError, InputError
from errata.evaluation.given import check_inputs
from errata.io.checks.findings import refused
from errata.io.checks.lines import check_once, settle_once, unlike_lines
from errata.metrics.base import Metric
from errata.metrics.unsettled import unsettled_of
from errata.numbers import Floats, Ints, Progress
from errata.plugins import attributed, blamed, fault
from errata.sums import summable
from errata.workers import beside, usual_threads

__all__ = ["check_given", "checked_choice", "checked_counts"]

# What of `About.needs` comes with the corpus: to count by it alone costs nothing but time.
GIVEN = {"gold edits", "references", "gold edits or references"}
MANY = 16_384  # sentences, before it pays to do two things beside one another


def checked_counts(
    metric: Metric,
    corpus: Corpus,
    systems: Sequence[Hypotheses],
    *,
    guard: bool = True,
    threads: int | None = None,
    progress: Progress | None = None,
    part: bool = False,
) -> list[Floats]:
    """The counts ``[sentence, reference, k]`` of every system, checked; for `scores_of`.

    Of a ``part`` of a corpus they are unsettled where only the whole settles them.
    """
    check_inputs(metric, corpus, systems)

    def counted(progress: Progress | None) -> list[Floats]:
        with blamed(metric):
            unsettled = unsettled_of(metric) if part else None
            if unsettled is not None:
                return unsettled.count_all(corpus, systems, threads=threads, progress=progress)
            counts = metric.count_all(corpus, systems, threads=threads, progress=progress)
            _check_counts(metric, corpus, systems, counts, fault)
        return [summable(each) for each in counts]

    needs = {*metric.about.needs}
    if guard and threads != 1 and len(corpus) > MANY and needs and needs <= GIVEN:
        return _guarded_beside(corpus, systems, counted, progress, usual_threads(threads))
    for hypotheses in systems if guard else ():
        check_once(corpus, hypotheses)
    return counted(progress)


def _guarded_beside(
    corpus: Corpus,
    systems: Sequence[Hypotheses],
    counted: Callable[[Progress], list[Floats]],
    progress: Progress | None,
    threads: int,
) -> list[Floats]:
    """Count while another thread looks whether the outputs fit; what it finds is said first.

    Counting ends at the next sign of progress once an output is to be refused. An interruption
    waits for nothing but the output that is being looked at.
    """
    failed: Exception | None = None
    with ThreadPoolExecutor(1) as pool:
        looking = [
            pool.submit(unlike_lines, corpus, hypotheses, threads=threads) for hypotheses in systems
        ]

        def watched(done: int, total: int) -> None:
            for each in looking:
                if each.done():
                    refused(each.result())
            if progress is not None:
                progress(done, total)

        try:
            try:
                with beside(looking[-1]):
                    counts = counted(watched)
            except Exception as error:
                failed = error
            for hypotheses, each in zip(systems, looking, strict=True):
                settle_once(corpus, hypotheses, each.result())
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    if failed is not None:
        raise failed
    return counts


def _check_counts(
    metric: Metric,
    corpus: Corpus,
    systems: Sequence[Hypotheses],
    counts: Sequence[Floats],
    wrong: Callable[..., ErrataError],
) -> None:
    """Refuse counts that are not what the contract says, in every run and from wherever."""
    if len(counts) != len(systems):
        raise wrong(metric, f"counts of {len(counts)} systems for {len(systems)}")
    wanted = (len(corpus), len(metric.statistics))
    for hypotheses, each in zip(systems, counts, strict=True):
        whose = f"counts of {hypotheses.system}"
        if not isinstance(each, np.ndarray) or each.dtype != np.float64:
            kind = each.dtype if isinstance(each, np.ndarray) else type(each).__name__
            raise wrong(metric, f"{whose} are {kind}", "count must return float64 arrays")
        if each.ndim != 3 or (each.shape[0], each.shape[2]) != wanted or 0 in each.shape[1:]:
            raise wrong(
                metric,
                f"{whose} have the shape {each.shape}, which does not fit "
                f"{wanted[0]} sentences and {wanted[1]} statistics",
                "counts are [sentence, reference, statistic]",
            )
        # Most often all is well, which is seen column by column in a fifth of the time.
        missing = np.isnan(each[:, :, 0])
        columns = (np.isnan(each[:, :, k]) for k in range(1, each.shape[2]))
        if (
            all(np.array_equal(missing, column) for column in columns)
            and not np.isinf(each).any()
            and not missing.all(axis=1).any()
        ):
            continue
        missing = np.isnan(each)
        partly = missing.any(axis=2) != missing.all(axis=2)
        bad = partly | np.isinf(each).any(axis=2) | missing.all(axis=(1, 2)).reshape(-1, 1)
        if bad.any():
            raise wrong(
                metric,
                f"{whose} are no numbers in sentence {int(bad.any(axis=1).argmax()) + 1}",
                "only the statistics of a reference that is missing are NaN, and then all",
            )


def _misfit(metric: Metric, problem: str, remedy: str | None = None) -> ErrataError:
    """The error for counts that were made elsewhere, which are input."""
    return InputError(f"{attributed(metric)}: {problem}", remedy=remedy)


def check_given(
    metric: Metric, corpus: Corpus, systems: Sequence[Hypotheses], counts: Sequence[Floats]
) -> None:
    """Refuse counts that were made elsewhere and are not what the contract says."""
    _check_counts(metric, corpus, systems, counts, _misfit)


def checked_choice(metric: Metric, counts: Floats, choice: Ints) -> Ints:
    """The choice of references, which must be there."""
    good = isinstance(choice, np.ndarray) and choice.ndim == 2 and choice.dtype.kind == "i"
    if not good or choice.shape[1] != len(counts) or not len(choice):
        raise fault(
            metric,
            "choose must give whole numbers [draw, sentence]",
            "see errata.testing.check_metric",
        )
    if (choice < -1).any() or (choice >= counts.shape[1]).any():
        raise fault(metric, "choose gave a reference that is not there")
    missing = np.isnan(counts[:, :, 0])
    if not missing.any():  # nor was one taken
        return choice
    taken = missing[np.arange(len(counts)), choice] & (choice >= 0)
    if taken.any():
        sentence = int(taken.any(axis=0).argmax()) + 1
        raise fault(metric, f"choose took a missing reference in sentence {sentence}")
    return choice
