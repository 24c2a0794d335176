"""`check_metric`: the metric contract as a test, for built-in metrics and for yours.

from errata.testing import check_metric

def test_my_metric():
    check_metric(MyMetric())
"""

from __future__ import annotations

import copy
import itertools
import pickle
from dataclasses import FrozenInstanceError, fields
from typing import get_args

import numpy as np

from errata.core.parameters import build, parse_arguments
from errata.core.stats import Floats
from errata.data import Corpus, Edit, Hypotheses, Reference
from errata.metrics.base import Columns, Metric, Scope, join_counts
from errata.scoring.accumulator import SystemAccumulator, chosen_counts
from errata.scoring.evaluate import evaluate

__all__ = ["check_metric", "example_corpus", "example_systems"]


def example_corpus() -> Corpus:
    """A small corpus with what real ones have: two annotators, one, none, nothing to correct."""
    return Corpus(
        (
            "The cat sit on mat .",
            "I likes tea .",
            "Fine as it is .",
            "Yesterday I go home late .",
            "She have went .",
            "Ok",
        ),
        (
            (
                Reference(0, (Edit(2, 3, "sits", "R:VERB:SVA"), Edit(4, 4, "the", "M:DET"))),
                Reference(
                    1, (Edit(2, 3, "sat", "R:VERB:TENSE"), Edit(4, 4, "a", "M:DET", ("the",)))
                ),
            ),
            (Reference(0, (Edit(1, 2, "like", "R:VERB:SVA"),)),),
            (Reference(0, ()), Reference(1, ())),
            (
                Reference(0, (Edit(2, 3, "went", "R:VERB:TENSE"),)),
                Reference(1, (Edit(0, 1, "", "U:ADV"), Edit(2, 3, "went", "R:VERB:TENSE"))),
            ),
            (Reference(1, (Edit(1, 3, "has gone", "R:VERB"),)),),
            (Reference(0, (), implied=True),),
        ),
        name="example",
    )


def example_systems() -> tuple[Hypotheses, ...]:
    """Outputs for `example_corpus`: perfect, unchanged, and one that errs, with an empty line."""
    return (
        Hypotheses(
            "perfect",
            (
                "The cat sits on the mat .",
                "I like tea .",
                "Fine as it is .",
                "Yesterday I went home late .",
                "She has gone .",
                "Ok",
            ),
        ),
        Hypotheses("unchanged", example_corpus().sources),
        Hypotheses(
            "erring",
            (
                "The cats sit on the mat .",
                "I likes the tea",
                "Fine it is .",
                "Yesterday I went to home late .",
                "",
                "Okay !",
            ),
        ),
    )


def check_metric(metric: Metric) -> None:
    """Raise AssertionError with the reason where a metric breaks the contract."""
    corpus, systems = example_corpus(), example_systems()
    _check_value(metric)
    _check_single(metric)
    for hypotheses in systems:
        counts = _check_counts(metric, corpus, hypotheses)
        for reading in (metric, metric.for_sentences):
            _check_choice(reading, counts)
            _check_parts(reading, counts)
            _check_score(reading, counts)
        _check_same_counts(metric, counts, metric.for_sentences.count(corpus, hypotheses))
    _check_together(metric, corpus, systems)
    _check_evaluation(metric, corpus, systems)


def _require(condition: object, metric: Metric, problem: str) -> None:
    if not condition:
        raise AssertionError(f"{metric!r}: {problem}")


def _check_value(metric: Metric) -> None:
    _require(metric.name.isidentifier(), metric, "name must be one word, as in Python")
    name, arguments = parse_arguments(repr(metric))
    _require(name == metric.name, metric, "repr must start with the name")
    _require(build(type(metric), arguments) == metric, metric, "repr must be readable again")
    _require(hash(copy.deepcopy(metric)) == hash(metric), metric, "equal metrics hash alike")
    _require(pickle.loads(pickle.dumps(metric)) == metric, metric, "must survive pickling")
    _require(metric.columns in get_args(Columns), metric, f"columns must be one of {Columns}")
    _require(metric.scope in get_args(Scope), metric, f"scope must be one of {Scope}")
    for field in fields(metric):  # type: ignore[arg-type]
        try:
            setattr(metric, field.name, getattr(metric, field.name))
        except FrozenInstanceError:
            continue
        raise AssertionError(f"{metric!r}: field {field.name} is not frozen; use @parameterised")


def _check_single(metric: Metric) -> None:
    single = metric.for_sentences
    _require(type(single) is type(metric), metric, "for_sentences must be the same kind of metric")
    _require(single.for_sentences == single, metric, "for_sentences.for_sentences must be itself")
    _require(single.scope == "sentence", metric, "for_sentences.scope must be 'sentence'")
    _require(
        single.statistics == metric.statistics, metric, "for_sentences must read the same counts"
    )
    _require(single.columns == metric.columns, metric, "for_sentences must read the same columns")


def _check_same_counts(metric: Metric, counts: Floats, own: Floats) -> None:
    """What ``for_sentences`` takes of the metric's counts is what it would count itself."""
    single = metric.for_sentences
    taken, wanted = (chosen_counts(each, single.choose(each)) for each in (counts, own))
    np.testing.assert_array_equal(
        taken, wanted, f"{metric!r}: for_sentences must read the same counts"
    )


def _check_counts(metric: Metric, corpus: Corpus, hypotheses: Hypotheses) -> Floats:
    before = copy.deepcopy((corpus.sources, corpus.references, hypotheses))
    counts = metric.count(corpus, hypotheses)
    _require(
        before == (corpus.sources, corpus.references, hypotheses),
        metric,
        "count must not change its arguments",
    )
    _require(
        counts.dtype == np.float64 and counts.ndim == 3,
        metric,
        "count must return float64 [sentence, reference, k]",
    )
    n, references, k = counts.shape
    _require(
        (n, k) == (len(corpus), len(metric.statistics)) and references >= 1,
        metric,
        f"counts of shape {counts.shape} do not fit {len(corpus)} sentences and statistics "
        f"{metric.statistics}",
    )
    missing = np.isnan(counts)
    _require(
        (missing.any(axis=2) == missing.all(axis=2)).all(),
        metric,
        "a reference is missing (all NaN) or there (no NaN)",
    )
    _require((~missing.all(axis=(1, 2))).all(), metric, "every sentence needs a reference")
    np.testing.assert_array_equal(
        counts, metric.count(corpus, hypotheses), f"{metric!r}: count must be repeatable"
    )
    parts = [metric.count(corpus[a:b], hypotheses[a:b]) for a, b in ((0, 2), (2, 3), (3, 6))]
    joined = join_counts(parts)
    padded = join_counts([counts[:, : joined.shape[1]], np.empty((0, joined.shape[1], k))])
    np.testing.assert_array_equal(
        joined, padded, f"{metric!r}: counts must not depend on the other sentences"
    )
    return counts


def _check_choice(metric: Metric, counts: Floats) -> None:
    before = counts.copy()
    choice = metric.choose(counts)
    np.testing.assert_array_equal(counts, before, f"{metric!r}: choose must not change the counts")
    np.testing.assert_array_equal(
        choice, metric.choose(counts), f"{metric!r}: choose must be repeatable"
    )
    _require(
        choice.ndim == 2 and choice.shape[1] == len(counts) and len(choice) >= 1,
        metric,
        f"choose must return [draw, sentence], not {choice.shape}",
    )
    _require(np.issubdtype(choice.dtype, np.integer), metric, "choose must return integers")
    _require(
        (choice >= -1).all() and (choice < counts.shape[1]).all(),
        metric,
        "choose chose a reference that is not there",
    )
    rows = np.broadcast_to(np.arange(len(counts)), choice.shape)
    taken = counts[rows, choice][choice >= 0]
    _require(not np.isnan(taken).any(), metric, "choose chose a missing reference")


def _check_parts(metric: Metric, counts: Floats) -> None:
    """Choices part by part do not depend on where the parts are cut."""
    if metric.scope == "corpus":
        return
    found = []
    for cuts in ((), (3,), (0, 1, 1, 4), range(1, len(counts))):
        at, choices = SystemAccumulator(metric), []
        for a, b in itertools.pairwise((0, *cuts, len(counts))):
            choice, at = at.take(counts[a:b])
            choices.append(choice)
        found.append((np.concatenate(choices, axis=1), at.totals))
    for choice, totals in found[1:]:
        same = np.array_equal(choice, found[0][0]) and np.array_equal(totals, found[0][1])
        _require(same, metric, f"choose does not keep to scope={metric.scope!r}: cuts change it")


def _check_score(metric: Metric, counts: Floats) -> None:
    totals = np.nan_to_num(counts).cumsum(axis=0)
    scores = metric.score(totals)
    single = np.asarray(metric.score(totals[0, 0]))
    _require(
        scores.shape == totals.shape[:-1] and single.shape == (),
        metric,
        "score must map [..., k] to [...]",
    )
    each = np.array([[float(metric.score(row)) for row in rows] for rows in totals])
    np.testing.assert_allclose(
        scores,
        each,
        rtol=1e-12,
        atol=1e-12,
        err_msg=f"{metric!r}: score must be the same one by one",
    )
    _require(
        np.isfinite(metric.score(np.zeros(counts.shape[2]))),
        metric,
        "the score of nothing at all must be a number",
    )
    for name, part in metric.figures(totals).items():
        _require(part.shape == scores.shape, metric, f"part {name} must have the scores' shape")
        _require(part.dtype.kind in "fi", metric, f"part {name} must be float or whole numbers")
        one = metric.figures(totals[:1])[name]
        _require(one.dtype == part.dtype, metric, f"part {name} must stay what it is, whole or not")


def _check_together(metric: Metric, corpus: Corpus, systems: tuple[Hypotheses, ...]) -> None:
    together = metric.count_all(corpus, systems, threads=2)
    _require(len(together) == len(systems), metric, "count_all must count every system")
    for hypotheses, counts in zip(systems, together, strict=True):
        _require(
            counts.shape[::2] == (len(corpus), len(metric.statistics)),
            metric,
            "count_all must give counts of count's shape",
        )
        np.testing.assert_array_equal(
            counts,
            metric.count_all(corpus, systems[::-1], threads=1)[::-1][systems.index(hypotheses)],
            f"{metric!r}: count_all must not depend on the order of systems, nor on threads",
        )
    fewer = metric.count_all(corpus, systems[:2])
    if not all(map(_equal, fewer, together)):
        return  # its systems meet: what one counts depends on the others
    for hypotheses, counts in zip(systems, together, strict=True):
        _require(
            _equal(counts, metric.count(corpus, hypotheses)),
            metric,
            "count_all must count what count does where systems do not meet",
        )


def _equal(a: Floats, b: Floats) -> bool:
    return bool(np.array_equal(a, b, equal_nan=True))


def _check_evaluation(metric: Metric, corpus: Corpus, systems: tuple[Hypotheses, ...]) -> None:
    facts = metric.facts(corpus, systems)
    _require(
        all(isinstance(fact, int | frozenset) for fact in facts.values()),
        metric,
        "facts must be whole numbers, which are added, or frozen sets, which are united",
    )
    for name, lines in metric.describe(facts)._asdict().items():
        _require(
            isinstance(lines, tuple) and not any("\n" in line for line in lines),
            metric,
            f"the {name} that describe gives must be a tuple of single lines",
        )
    scores = evaluate(metric, corpus, systems, resamples=20, guard=False, threads=1)
    again = evaluate(metric, corpus, systems[::-1], resamples=20, guard=False, threads=2)
    np.testing.assert_array_equal(
        scores.values, again.values[::-1], f"{metric!r}: the order of systems must not matter"
    )
    assert scores.sentences is not None
    _require(
        scores.sentences.shape == (len(systems), len(corpus)),
        metric,
        "there must be a score for every sentence",
    )
    _require(not np.isnan(scores.sentences).all(), metric, "some sentence must have a score")
    _require(
        scores["perfect"] >= scores["unchanged"],
        metric,
        "corrected output must not score below the unchanged source",
    )
    _require(
        scores["perfect"] > scores["erring"],
        metric,
        "corrected output must score above output with new errors",
    )
