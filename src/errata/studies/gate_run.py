"""A gate on files: what is compared, on which sentences, and what the conditions say of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from errata.data import Corpus, Hypotheses
from errata.errors import InputError
from errata.io import read_corpus, read_hypotheses
from errata.io.files import PathLike
from errata.io.runs import read_run
from errata.io.slices import read_slices, sentences_of
from errata.metrics import Metric, parse
from errata.metrics.errant import Edits
from errata.studies.compared_parts import length_slices
from errata.studies.comparison import Comparison, compare
from errata.studies.gate import GateBound, HeldCondition, check_gate, parse_condition

__all__ = ["compare_without", "hold_conditions", "hold_files", "stored_output"]

SliceColumns = Mapping[str, Sequence[str]]
ComparedWithout = Callable[[Sequence[int]], Sequence[Comparison]]


def hold_conditions(
    fail_if: Sequence[str],
    corpus: Corpus,
    columns: SliceColumns | None,
    compared: ComparedWithout,
    *,
    bound: GateBound = "confident",
) -> tuple[HeldCondition, ...]:
    """Hold conditions; ``compared`` compares without some sentences, counted from 0."""

    def part(where: str) -> Sequence[Comparison]:
        kept = {*_sentences(where, corpus, columns)} if where else {*range(len(corpus))}
        return compared([i for i in range(len(corpus)) if i not in kept])

    return check_gate([parse_condition(text) for text in fail_if], part, bound=bound)


def _sentences(where: str, corpus: Corpus, columns: SliceColumns | None) -> Sequence[int]:
    """The sentences that a condition speaks of: of a slice, column=value, or of a file."""
    known: dict[str, Sequence[str]] = {"length": length_slices(corpus), **(columns or {})}
    column, equals, value = where.partition("=")
    if not equals or column not in known:
        return sentences_of(where, corpus)
    found = [i for i, each in enumerate(known[column]) if each == value]
    if not found:
        values = ", ".join(dict.fromkeys(known[column]))
        raise InputError(f"no sentence has {where!r}", remedy=f"{column} is one of: {values}")
    return found


def compare_without(
    left_out: Sequence[int],
    metrics: Sequence[Metric],
    corpus: Corpus,
    base: Hypotheses,
    others: Sequence[Hypotheses],
    *,
    slices: SliceColumns | None = None,
    **settings: Any,
) -> tuple[Comparison, ...]:
    """Compare systems on all sentences but some, counted from 0; ``settings`` as `compare` has."""
    gone = {*left_out}
    columns = None
    if slices is not None:
        columns = {
            name: [value for i, value in enumerate(values) if i not in gone]
            for name, values in slices.items()
        }
    return compare(
        metrics,
        corpus.without_sentences(*left_out),
        base.without_sentences(*left_out),
        [each.without_sentences(*left_out) for each in others],
        slices=columns,
        guard=False,
        **settings,
    )


def stored_output(path: PathLike, corpus: Corpus, new: Sequence[Hypotheses]) -> Hypotheses:
    """The output of a stored run on the same corpus, under a name that no new system has."""
    run = read_run(path)
    run.check(corpus)
    taken = {each.system for each in new}
    name = run.system if run.system not in taken else f"{run.system} of {run.when[:10]}"
    return run.output(corpus, name=name if name not in taken else f"{name} (stored)")


def hold_files(
    *,
    new: PathLike,
    old: PathLike | None = None,
    baseline: PathLike | None = None,
    gold: PathLike | None = None,
    source: PathLike | None = None,
    refs: Sequence[PathLike] = (),
    annotators: Sequence[int] | None = None,
    tokens: str = "as_is",
    fail_if: Sequence[str] = ("m2 < -0.005",),
    metrics: Sequence[str] = ("m2", "edits"),
    slices: PathLike | None = None,
    bound: GateBound = "confident",
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
) -> tuple[tuple[HeldCondition, ...], tuple[Comparison, ...]]:
    """Compare two files and hold conditions: the verdicts, and the comparison behind them.

    The old output is a file or a stored run (``baseline``); the rest is as in ``errata compare``.
    """
    if (old is None) == (baseline is None):
        raise InputError(
            "a gate needs the old output or a baseline, and not both",
            remedy="give old= or baseline=",
        )
    corpus = read_corpus(
        gold=gold, source=source, references=refs, annotators=annotators, tokens=tokens
    )
    latest = read_hypotheses(new, corpus=corpus)
    if old is not None:
        base = read_hypotheses(old, corpus=corpus)
        if base.system == latest.system:
            base = Hypotheses(f"{base.system} (old)", base.sentences, base.edits)
    else:
        base = stored_output(cast(PathLike, baseline), corpus, [latest])
    columns = None if slices is None else read_slices(slices, corpus)
    chosen = [parse(text) for text in metrics]
    keeper = next((each for each in chosen if isinstance(each, Edits)), None)

    def compared(left_out: Sequence[int]) -> tuple[Comparison, ...]:
        return compare_without(
            left_out,
            chosen,
            corpus,
            base,
            [latest],
            edits=keeper,
            slices=columns,
            resamples=resamples,
            trials=0,
            confidence=confidence,
            rng=seed,
        )

    found = compared(())
    held = hold_conditions(
        fail_if, corpus, columns, lambda out: compared(out) if out else found, bound=bound
    )
    return held, found
