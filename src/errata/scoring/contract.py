"""Validate inputs, counts and choices."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np

from errata.core.errors import ErrataError, InputError
from errata.core.exact_sums import quantize
from errata.core.parallel import leave_core_to, usual_threads
from errata.core.registry import contract_error, plugin_errors, with_origin
from errata.core.stats import Floats, Ints, Progress
from errata.data import Corpus, Hypotheses
from errata.io.checks import raise_first_error
from errata.io.checks.alignment import check_alignment_once, check_text_alignment
from errata.metrics.base import Metric

# ---- Outputs in the forms that callers have, and inputs that cannot be scored.


def as_systems(given: object) -> list[Hypotheses]:
    """Outputs as people have them: with names or without, as sentences or as `Hypotheses`."""
    if isinstance(given, Hypotheses):
        return [given]
    if isinstance(given, Mapping):
        return [
            replace(each, system=str(name))
            if isinstance(each, Hypotheses)
            else Hypotheses(str(name), _lines(f"{name}: ", each))
            for name, each in given.items()
        ]
    if isinstance(given, str | bytes):
        return [Hypotheses("hypotheses", _lines("", given))]
    several: list[Any] = list(given) if isinstance(given, Iterable) else [given]
    if several and all(isinstance(each, str) for each in several):
        return [Hypotheses("hypotheses", tuple(several))]
    odd = [each for each in several if not isinstance(each, Hypotheses)]
    if odd:
        raise InputError(
            "systems are Hypotheses or sentences, not Hypotheses together with texts"
            if isinstance(odd[0], str)
            else f"a system is Hypotheses or a list of sentences, not a {type(odd[0]).__name__}",
            remedy="name several systems in a dict: {'ours': sentences, 'theirs': sentences}",
        )
    return several


def _lines(whose: str, given: Any) -> tuple[str, ...]:
    """Sentences of a system, refusing the text of one that would be taken for its characters."""
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        what = "a single text" if isinstance(given, str | bytes) else f"a {type(given).__name__}"
        raise InputError(
            f"{whose}{what} is no list of sentences",
            remedy="give a list of them, one per source; errata.io.read_hypotheses reads a file",
        )
    sentences = tuple(given)
    odd = [each for each in sentences if not isinstance(each, str)]
    if odd:
        raise InputError(f"{whose}a sentence is a text, not a {type(odd[0]).__name__}")
    return sentences


def check_inputs(metric: Metric, corpus: Corpus, systems: Sequence[Hypotheses]) -> None:
    """Refuse what no score can be made of."""
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
    if metric.columns == "none":
        return
    if not corpus.most_references:
        raise InputError(
            f"there are no references, and {metric.name} needs them",
            remedy="give corrected texts (--refs) or an M2 file (--gold)",
        )
    without = np.flatnonzero(corpus.edits.sizes == 0)
    if len(without):
        number = corpus.number(int(without[0]))
        raise InputError(
            f"sentence {number} has no reference, and {metric.name} needs one",
            remedy="give references or leave the sentence out",
        )


# What of `About.needs` comes with the corpus: to count by it alone costs nothing but time.
GIVEN = {"gold edits", "references", "gold edits or references"}
MANY = 16_384  # sentences, before it pays to do two things beside one another


def validate_counts(
    metric: Metric,
    corpus: Corpus,
    systems: Sequence[Hypotheses],
    *,
    guard: bool,
    threads: int | None = None,
    progress: Progress | None = None,
    part: bool = False,
) -> list[Floats]:
    """The counts ``[sentence, reference, k]`` of every system, checked; for `scores_of`.

    Of a ``part`` of a corpus they are unsettled where only the whole settles them.
    """
    check_inputs(metric, corpus, systems)

    def count(progress: Progress | None) -> list[Floats]:
        with plugin_errors(metric):
            unsettled = metric.unsettled if part else None
            if unsettled is not None:
                return unsettled.count_all(corpus, systems, threads=threads, progress=progress)
            counts = metric.count_all(corpus, systems, threads=threads, progress=progress)
            _check_counts(metric, corpus, systems, counts, contract_error)
        return [quantize(each) for each in counts]

    needs = {*metric.about.needs}
    if guard and threads != 1 and len(corpus) > MANY and needs and needs <= GIVEN:
        return _guarded_beside(corpus, systems, count, progress, usual_threads(threads))
    for hypotheses in systems if guard else ():
        check_alignment_once(corpus, hypotheses)
    return count(progress)


def _guarded_beside(
    corpus: Corpus,
    systems: Sequence[Hypotheses],
    count: Callable[[Progress], list[Floats]],
    progress: Progress | None,
    threads: int,
) -> list[Floats]:
    """Count while another thread checks whether the outputs fit; its errors come first.

    Counting ends at the next sign of progress once an output is to be refused. An interruption
    waits for nothing but the output that is being looked at.
    """
    failed: Exception | None = None
    with ThreadPoolExecutor(1) as pool:
        looking = [
            pool.submit(check_text_alignment, corpus, hypotheses, threads=threads)
            for hypotheses in systems
        ]

        def watched(done: int, total: int) -> None:
            for each in looking:
                if each.done():
                    raise_first_error(each.result())
            if progress is not None:
                progress(done, total)

        try:
            try:
                with leave_core_to(looking[-1]):
                    counts = count(watched)
            except Exception as error:
                failed = error
            for hypotheses, each in zip(systems, looking, strict=True):
                check_alignment_once(corpus, hypotheses, each.result(), stacklevel=5)
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


def _misfit_error(metric: Metric, problem: str, remedy: str | None = None) -> ErrataError:
    """The error for counts that were made elsewhere, which are input."""
    return InputError(f"{with_origin(metric)}: {problem}", remedy=remedy)


def check_given(
    metric: Metric, corpus: Corpus, systems: Sequence[Hypotheses], counts: Sequence[Floats]
) -> None:
    """Refuse counts that were made elsewhere and are not what the contract says."""
    _check_counts(metric, corpus, systems, counts, _misfit_error)


def validate_choice(metric: Metric, counts: Floats, choice: Ints) -> Ints:
    """The choice of references, which must be there."""
    good = isinstance(choice, np.ndarray) and choice.ndim == 2 and choice.dtype.kind == "i"
    if not good or choice.shape[1] != len(counts) or not len(choice):
        raise contract_error(
            metric,
            "choose must give whole numbers [draw, sentence]",
            "see errata.testing.check_metric",
        )
    if (choice < -1).any() or (choice >= counts.shape[1]).any():
        raise contract_error(metric, "choose gave a reference that is not there")
    missing = np.isnan(counts[:, :, 0])
    if not missing.any():  # nor was one taken
        return choice
    taken = missing[np.arange(len(counts)), choice] & (choice >= 0)
    if taken.any():
        sentence = int(taken.any(axis=0).argmax()) + 1
        raise contract_error(metric, f"choose took a missing reference in sentence {sentence}")
    return choice
