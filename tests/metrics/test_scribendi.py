"""Scribendi, fluency and Harper: the paper's figures, the rule, and no sentence twice."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import errata.models as lm
from errata.core.errors import InputError
from errata.data import Corpus, Hypotheses
from errata.metrics.fluency import Fluency
from errata.metrics.grammar_errors import Harper
from errata.metrics.scribendi import Scribendi, levenshtein_distance_ratio, token_sort_ratio
from errata.models.checkers import detokenize
from errata.scoring.evaluate import evaluate
from errata.testing import check_metric
from fake_lm import FakeModel
from scored import scored

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "scribendi.json").read_text("utf-8"))


@pytest.fixture
def fake() -> FakeModel:
    model = FakeModel()
    lm.register("fake", lambda options: model)
    return model


def score(source: str, hypothesis: str, **fields: object) -> float:
    metric = Scribendi(model="fake", **fields)  # type: ignore[arg-type]
    corpus = Corpus.from_texts([source])
    return scored(metric, corpus, [Hypotheses("A", (hypothesis,))])["A"]


def test_ratios_of_the_papers() -> None:
    for name, ratio in (
        ("token_sort_ratio", token_sort_ratio),
        ("levenshtein_distance_ratio", levenshtein_distance_ratio),
    ):
        for case in GOLDEN[name]:
            value = 100 * ratio(case["source"], case["hypothesis"])
            assert f"{value:.{case['digits']}f}" == case["value"]
    for case in GOLDEN["fuzzywuzzy"]:  # rounds to whole per cent
        assert token_sort_ratio(case["source"], case["hypothesis"], "fuzzywuzzy") == case["value"]
    assert token_sort_ratio("...", "!!!") == 1.0  # punctuation alone
    assert levenshtein_distance_ratio("...", "!!!") == 0.0
    assert levenshtein_distance_ratio("xx go", "xx up") == token_sort_ratio("xx go", "xx up") == 0.6


def slow_ldr(a: str, b: str) -> float:
    """The recurrence of the public reimplementations, substitution at cost 2."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        new = [i]
        for j, y in enumerate(b, 1):
            new.append(min(new[-1] + 1, row[j] + 1, row[j - 1] + (0 if x == y else 2)))
        row = new
    return 1 - row[-1] / (len(a) + len(b)) if a or b else 1.0


@settings(max_examples=200)
@given(st.text("abc .", max_size=15), st.text("abc .", max_size=15))
def test_ldr_is_the_slow_recurrence(a: str, b: str) -> None:
    assert_allclose(levenshtein_distance_ratio(a, b), slow_ldr(a, b), rtol=0, atol=1e-12)


GO, WENT = "He go home every day .", "He went home every day ."
HAPPY, SO_HAPPY = "He go home happily", "He go home so happily"


@pytest.mark.parametrize(
    ("source", "hypothesis", "fields", "value"),
    [
        (GO, GO, {}, 0),
        (GO, "He goes home every day .", {}, -1),  # as bad: PPL(s) <= PPL(h)
        (GO, WENT, {}, 1),
        (GO, "Nobody ever knew why .", {}, -1),  # fluent, but another sentence
        (WENT, GO, {}, -1),
        ("xx go", "xx up", {"threshold": 0.6}, 1),  # the threshold is inclusive
        ("xx go", "xx up", {"threshold": 0.61}, -1),
        (GO, "", {}, -1),
        ("", WENT, {}, -1),
        ("", "", {}, 0),
        (GO, f"{GO} ", {}, 0),
        (GO, GO.replace(" ", "  ", 1), {}, -1),
        # One more likely word: 7/4 nats per token become 8/5, and 7 nats become 8.
        (HAPPY, SO_HAPPY, {}, 1),
        (HAPPY, SO_HAPPY, {"perplexity": "sum"}, -1),
    ],
)
def test_a_sentence_is_worse_the_same_or_better(
    fake: FakeModel, source: str, hypothesis: str, fields: dict[str, Any], value: int
) -> None:
    assert score(source, hypothesis, **fields) == value
    assert len(fake.asked) == len(set(fake.asked))


@pytest.mark.parametrize("reward", [0.0, 50.0])
def test_repetition_is_minus_one_whatever_the_model_says(reward: float) -> None:
    """Table 4 of the paper: a model that loves the repetition does not save it."""

    class Biased(FakeModel):
        def log_probs(self, sentences):  # type: ignore[no-untyped-def]
            return np.array([[-60.0 + reward * s.startswith("He He"), 6.0] for s in sentences])

    lm.register("biased", lambda options: Biased())
    case = GOLDEN["repetition"]
    corpus = Corpus.from_texts([case["source"]])
    hypotheses = [Hypotheses("repeat", (case["prediction"],))]
    scores = scored(Scribendi(model="biased"), corpus, hypotheses)
    assert scores["repeat"] == -1
    assert f"{100 * token_sort_ratio(case['source'], case['prediction']):.1f}" == case["TSR"]
    assert (
        f"{100 * levenshtein_distance_ratio(case['source'], case['prediction']):.1f}" == case["LDR"]
    )
    fate = "strayed" if reward else "worsened"
    assert scores.parts[fate].tolist() == [1.0]


def test_sum_and_mean_and_interval(fake: FakeModel) -> None:
    corpus = Corpus.from_texts(["He go home early .", "I sit .", "Fine .", "We have it ."])
    systems = [Hypotheses("A", ("He went home early .", "I sat .", "Fine .", "We have have it ."))]
    total = evaluate(Scribendi(model="fake"), corpus, systems, resamples=500)
    mean = evaluate(Scribendi(model="fake", total="mean"), corpus, systems, resamples=500)
    assert (total["A"], mean["A"]) == (1.0, 0.25)
    assert total.parts["mean"].tolist() == [0.25]
    assert {name: part.item() for name, part in mean.parts.items()} == {
        "sum": 1.0,
        "improved": 2.0,
        "unchanged": 1.0,
        "worsened": 1.0,
        "strayed": 0.0,
    }
    assert_allclose(total.interval(), 4 * mean.interval())
    low, high = total.interval()[0]
    assert -4 <= low < 1 < high <= 4
    assert total.sentences.tolist() == [[1.0, 1.0, 0.0, -1.0]]


def test_the_parts_of_each_sentence(fake: FakeModel) -> None:
    corpus = Corpus.from_texts(["He go home .", "Fine .", "Fine ."])
    systems = [Hypotheses("A", ("He went home .", "Fine .", ""))]
    scores = scored(Scribendi(model="fake"), corpus, systems)
    shown = {name: part[0] for name, part in scores.sentence_parts.items()}
    assert list(shown) == ["PPL source", "PPL hypothesis", "change", "TSR", "LDR"]
    assert_allclose(shown["PPL source"], [np.exp(2), np.nan, np.nan])
    assert_allclose(shown["PPL hypothesis"], [np.exp(1), np.nan, np.nan])
    assert_allclose(shown["change"], [np.exp(1) - np.exp(2), np.nan, np.nan])
    assert_allclose(shown["TSR"], [token_sort_ratio("he go home", "he went home"), 1, 0])
    assert_allclose(shown["LDR"][1:], [1, 0])
    total = scored(Scribendi(model="fake", perplexity="sum"), corpus, systems)
    assert_allclose(total.sentence_parts["-ln P source"][0], [6, np.nan, np.nan])


def test_the_defaults_are_the_papers() -> None:
    assert repr(Scribendi()) == (
        "scribendi(model='gpt2', revision='', dtype='float32', "
        "perplexity='mean', threshold=0.8, rounding='none', total='sum', level='corpus')"
    )


def test_fluency_by_hand(fake: FakeModel) -> None:
    corpus = Corpus.from_texts(["He go home .", "Fine .", "Well said ."])
    systems = [Hypotheses("A", ("He went home .", "Fine .", ""))]
    scores = scored(Fluency(model="fake"), corpus, systems)
    assert_allclose(scores["A"], np.exp((1 + 0) / 2))  # e² / e, then no change
    ldr = levenshtein_distance_ratio("He go home .", "He went home .")
    tsr = token_sort_ratio("He go home .", "He went home .")
    assert_allclose(scores.parts["LDR"], [(ldr + 1 + 0) / 3])
    assert_allclose(scores.parts["meaning"], [(max(tsr, ldr) + 1 + 0) / 3])
    assert scores.parts["undefined"].tolist() == [1.0]
    assert "cosine" not in scores.parts
    assert len(fake.asked) == len(set(fake.asked)) == 5


@pytest.mark.parametrize(
    ("tokens", "plain"),
    [
        ("It 's , he said ( twice ) : fine !", "It's, he said (twice): fine!"),
        ("a .5 b", "a .5 b"),
        ("We ca n't .", "We can't."),
        ("", ""),
    ],
)
def test_detokenize(tokens: str, plain: str) -> None:
    assert detokenize(tokens) == plain


def test_harper_counts_real_errors() -> None:
    pytest.importorskip("harper")
    corpus = Corpus.from_texts(["He go to school .", "This is an test .", "Fine ."])
    systems = [
        Hypotheses("A", ("He goes to school .", "This is a test .", "Fine .")),
        Hypotheses("B", ("He go to school .", "This is a test .", "Teh fine .")),
    ]
    scores = scored(Harper(), corpus, systems)
    assert scores.parts["before"].tolist() == [2.0, 2.0]
    assert scores.parts["after"].tolist() == [0.0, 2.0]
    assert_allclose(scores.values, [2 / 3, 0.0])
    gone = scored(Harper(), corpus, [Hypotheses("C", ("", "", ""))])
    assert gone["C"] == 0.0
    check_metric(Harper())
    with pytest.raises(InputError, match="dialect='irish'"):
        evaluate(Harper(dialect="irish"), corpus, systems)
