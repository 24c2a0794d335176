"""Every metric, ours and every variant of it, keeps the contract."""

from __future__ import annotations

from importlib.metadata import EntryPoint, EntryPoints
from typing import Any

import numpy as np
import pytest

from errata.data import Corpus, Hypotheses
from errata.errors import InputError, MissingExtraError
from errata.metrics import BUILTIN, metric_class, metric_names, parse
from errata.metrics.base import Floats, Ints, Metric
from errata.testing import check_metric, example_corpus, example_systems
from toy import Toy

VARIANTS = [
    "m2",
    "m2(beta=1)",
    "m2(choice=optimal)",
    "m2(choice=last)",
    "m2(max_unchanged=0)",
    "errant",
    "errant(mode=detection)",
    "errant(mode=token_detection)",
    "errant(gold=reextracted, types=True)",
    "errant(alternatives=any, duplicates=True)",
    "difficulty",
    "difficulty(weights=none)",
    "difficulty(measure=A)",
    "difficulty(matching=elastic)",
    "difficulty(leave_out=True)",
    "difficulty(gold=reextracted)",
    "difficulty(a=2, b=1, c=3)",
    "imeasure",
    "imeasure(references=mix)",
    "imeasure(aspect=detection, weight=3)",
    "imeasure(choice=corpus)",
    "imeasure(tokenise=none)",
    "gleu",
    "gleu(references=official, draws=20)",
    "gleu(formula=paper)",
    "gleu(brevity=inverse)",
    "gleu(n=2)",
    "gleu2015",
    "gleu2015(version='2016-03')",
    "bleu",
    "bleu(lowercase=True)",
    "bleu(smooth=none)",
    "scribendi(model=trigram)",
    "scribendi(model=trigram, perplexity=sum, total=mean)",
    "fluency(model=trigram)",
    "harper",
]


@pytest.mark.parametrize("text", VARIANTS)
def test_keeps_the_contract(text: str) -> None:
    try:
        check_metric(parse(text))
    except MissingExtraError as missing:
        pytest.skip(str(missing))


@pytest.mark.parametrize("name", BUILTIN)
def test_every_metric_is_in_the_suite(name: str) -> None:
    assert any(text.partition("(")[0] == name for text in VARIANTS)
    assert metric_class(name).name == name
    assert metric_class(name).__doc__


def test_a_sound_metric_passes() -> None:
    check_metric(Toy())


class ChoosesMissing(Toy):
    def choose(self, counts: Floats) -> Ints:
        return np.full((1, len(counts)), counts.shape[1] - 1)


class ForgetsShape(Toy):
    def score(self, totals: Floats) -> Floats:
        return np.atleast_1d(super().score(totals))


class DependsOnNeighbours(Toy):
    def count(self, corpus: Corpus, hypotheses: Hypotheses) -> Floats:
        counts = super().count(corpus, hypotheses)
        counts[..., 1] += len(corpus)
        return counts


class NotANumber(Toy):
    def score(self, totals: Floats) -> Floats:
        with np.errstate(all="ignore"):
            return totals[..., 0] / totals[..., 1]


class LosesASentence(Toy):
    def count(self, corpus: Corpus, hypotheses: Hypotheses) -> Floats:
        return super().count(corpus, hypotheses)[:-1]


class LikesErrors(Toy):
    def score(self, totals: Floats) -> Floats:
        return 1 - super().score(totals)


class ChangesCounts(Toy):
    def choose(self, counts: Floats) -> Ints:
        chosen = super().choose(counts)
        np.nan_to_num(counts, copy=False)
        return chosen


class ChoosesByChance(Toy):
    def choose(self, counts: Floats) -> Ints:
        draws = np.random.default_rng().random((1000, len(counts))) < 0.5
        return np.where(draws, -1, super().choose(counts))


class SumsSentences(Toy):
    def score_sentences(self, picked: Floats) -> Floats:
        return self.score(picked.sum(axis=0))


class ScoresNoSentence(Toy):
    def score_sentences(self, picked: Floats) -> Floats:
        return np.full(len(picked), np.nan)


class SentencePartsOfAnotherShape(Toy):
    def sentence_parts(self, picked: Floats) -> dict[str, Floats]:
        return {"equal": picked}


class SpellsContext(Toy):
    def context(self, corpus: Corpus) -> tuple[str, ...]:
        return "abc"  # type: ignore[return-value]


class NameOfTwoWords(Toy):
    name = "my metric"


@pytest.mark.parametrize(
    ("broken", "problem"),
    [
        (ChoosesMissing, "chose a missing reference"),
        (ForgetsShape, "score must map"),
        (DependsOnNeighbours, "must not depend on the other sentences"),
        (NotANumber, "must be a number"),
        (LosesASentence, "do not fit 6 sentences"),
        (LikesErrors, "must not score below"),
        (ChangesCounts, "choose must not change the counts"),
        (ChoosesByChance, "choose must be repeatable"),
        (SumsSentences, "score_sentences must return a score for each sentence"),
        (ScoresNoSentence, "some sentence must have a score"),
        (SentencePartsOfAnotherShape, "sentence part equal must have a figure for each sentence"),
        (SpellsContext, "context must be a tuple"),
        (NameOfTwoWords, "name must be one word"),
    ],
)
def test_broken_metrics_are_caught(broken: type[Metric], problem: str) -> None:
    with pytest.raises(AssertionError, match=problem):
        check_metric(broken())


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("m3", "no metric 'm3'"),
        ("m2(gamma=1)", "no parameter 'gamma'"),
        ("m2(beta=x)", "should be a float"),
        ("m2(1)", "cannot read"),
        ("m2(", "cannot read"),
        ("m2(beta=[x])", "cannot read"),
        ("m2(**x)", "cannot read"),
        ("", "cannot read"),
        ("m2(choice=best)", "choice='best' is unknown"),
        ("m2(beta=-1)", "beta"),
    ],
)
def test_bad_signatures(text: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem.replace("[", r"\[").replace("(", r"\(")):
        parse(text)


def test_label_shows_what_differs() -> None:
    assert parse("m2").label == "m2"
    assert parse("m2(beta=1)").label == "m2(beta=1.0)"


@pytest.fixture
def plug_ins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Entry points as an installed package would declare them."""
    import errata.metrics as registry

    points = EntryPoints(
        EntryPoint(name, value, "errata.metrics")
        for name, value in (
            ("toy", "toy:Toy"),
            ("m2", "toy:Toy"),
            ("gone", "toy:Gone"),
            ("number", "math:pi"),
        )
    )

    def entry_points(**query: Any) -> EntryPoints:
        return points.select(**query)

    monkeypatch.setattr(registry, "entry_points", entry_points)


@pytest.mark.usefixtures("plug_ins")
def test_plug_ins_are_found() -> None:
    assert metric_names().count("toy") == 1
    assert metric_names().count("m2") == 1
    assert parse("toy(weight=2)").label == "toy(weight=2.0)"
    assert type(parse("m2")).__module__ == "errata.metrics.m2"


@pytest.mark.usefixtures("plug_ins")
@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("gone", "the metric 'gone' of an installed package cannot be loaded from toy:Gone: "),
        ("number", "math:pi of an installed package is not a metric; "),
    ],
)
def test_broken_plug_ins_are_input_errors(name: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        parse(name)


def test_examples_have_every_shape() -> None:
    corpus = example_corpus()
    assert {len(refs) for refs in corpus.references} == {1, 2}
    assert any("" in h.sentences for h in example_systems())
