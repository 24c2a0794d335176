"""What was asked for: metrics, no two alike, with the edits that --extract finds; a system."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

from errata.cli.output import ProgressBar
from errata.errors import InputError
from errata.plugins import origin

if TYPE_CHECKING:
    from errata.cli.inputs import Inputs
    from errata.cli.options import Bootstrap
    from errata.data import Corpus, Hypotheses, Scores
    from errata.metrics import Metric

__all__ = [
    "are_twins",
    "check_old",
    "extracting",
    "finds_edits",
    "refuse_twins",
    "scored_by",
    "scored_in_batches",
]


def are_twins(one: Metric, other: Metric) -> bool:
    """Whether two metrics give the same numbers under one name.

    Without a pipeline of ERRANT's, errant is edits by another name.
    """
    return one == other or (
        type(one) is not type(other)
        and one.label == other.label
        and repr(one).partition("(")[2] == repr(other).partition("(")[2]
        and origin(type(one)) == origin(type(other))
    )


def refuse_twins(metrics: Sequence[Metric]) -> None:
    """Refuse to compute the same numbers twice, in two columns of one name."""
    for one, other in combinations(metrics, 2):
        if are_twins(one, other):
            raise InputError(
                f"{one.label} is given twice", remedy="leave one out, or give it other parameters"
            )


def extracting(metrics: Sequence[Metric], extractor: str) -> list[Metric]:
    """Metrics with the edits of all outputs found by this extractor, where they go by edits."""
    from errata.edits import split_extractor

    split_extractor(extractor)
    if not any(map(finds_edits, metrics)):
        raise InputError(
            "--extract finds edits, and no metric here goes by edits that are found",
            remedy="it goes with -m errant, edits, difficulty, cleme, cleme2, pt_errant or "
            "judge(mode=edit)",
        )
    changed: list[Metric] = []
    for metric in metrics:
        own: Any = metric
        changed.append(own.extracting(extractor) if finds_edits(metric) else metric)
    return changed


def finds_edits(metric: Metric) -> bool:
    """Whether a metric goes by edits that an extractor finds."""
    return callable(getattr(metric, "extracting", None))


def scored_by(
    metrics: Sequence[Metric],
    corpus: Corpus,
    systems: Sequence[Hypotheses],
    bootstrap: Bootstrap,
    threads: int | None = None,
) -> list[Scores]:
    """What each metric says of the systems, with a bar for each that takes long."""
    from errata.evaluation import evaluate

    results = []
    for metric in metrics:
        with ProgressBar(metric.name) as progress:
            results.append(
                evaluate(
                    metric,
                    corpus,
                    systems,
                    resamples=bootstrap.resamples,
                    rng=bootstrap.seed,
                    bootstrap=bootstrap.kind,
                    threads=threads,
                    progress=progress,
                )
            )
    return results


def scored_in_batches(
    metrics: Sequence[Metric],
    inputs: Inputs,
    outputs: tuple[str, ...],
    bootstrap: Bootstrap,
    threads: int | None = None,
) -> list[Scores]:
    """The same of files that are read batch by batch, and never held."""
    from errata.cli.inputs import Inputs
    from errata.io.shards import stream_batches
    from errata.reduction import evaluate_batches

    sharded = inputs.sharded(outputs)
    total = Inputs().size(outputs[:1])
    with ProgressBar("scored") as progress:
        done = 0

        def batches() -> Iterator[tuple[Corpus, list[Hypotheses]]]:
            nonlocal done
            for corpus, systems in stream_batches(sharded):
                yield corpus, systems
                done += sum(map(len, systems[0].sentences)) + len(corpus)
                progress(min(done, total), total)

        return evaluate_batches(
            metrics,
            batches(),
            resamples=bootstrap.resamples,
            rng=bootstrap.seed,
            bootstrap=bootstrap.kind,
            guard=not inputs.no_guard,
            threads=threads,
        )


def check_old(old: str | None, systems: Sequence[Hypotheses]) -> list[str]:
    """The names of the systems, among which is that of --old, if one is given."""
    names = [each.system for each in systems]
    if old is not None and old not in names:
        raise InputError(f"there is no system {old!r}", remedy=f"known: {', '.join(names)}")
    return names
