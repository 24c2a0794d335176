"""GREEN: the official program's numbers, another implementation's, and a plain count."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.data import Corpus, Hypotheses
from errata.datasets import load_conll14_systems, load_conll14_texts
from errata.metrics.green import GREEN
from errata.scoring.evaluate import evaluate
from scored import scored


@pytest.fixture
def conll14_texts(
    data_sets: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Corpus, list[Hypotheses]]:
    monkeypatch.setenv("ERRATA_DATA", str(data_sets))
    return load_conll14_texts(), load_conll14_systems(check=False)


def table(path: Path) -> list[list[str]]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if not line.startswith("#")]


def test_corpus_scores_of_the_official_program(
    conll14_texts: tuple[Corpus, list[Hypotheses]], oracles: Path
) -> None:
    (_, *betas), *rows = table(oracles / "learned" / "green_corpus.tsv")
    assert len(rows) == 10
    for k, beta in enumerate(betas):
        scores = scored(f"green({beta})", *conll14_texts)
        for system, *values in rows:
            assert 100 * scores[system] == pytest.approx(float(values[k]), abs=1e-6)


def test_sentence_scores_of_the_official_program(
    conll14_texts: tuple[Corpus, list[Hypotheses]], oracles: Path
) -> None:
    names, *rows = table(oracles / "learned" / "green_sentences.tsv")
    wanted = np.array(rows, np.float64).T / 100
    scores = scored("green", *conll14_texts).select(names)
    np.testing.assert_allclose(scores.sentences, wanted, rtol=0, atol=1e-8)
    mean = scored("green(total=mean)", *conll14_texts)
    assert f"{100 * mean['AMU']:.6f} {100 * mean['CAMB']:.6f}" == "81.330877 80.915963"


@pytest.mark.parametrize("beta", ["0.5", "2"])
def test_scores_of_another_implementation(beta: str, oracles: Path) -> None:
    """Which takes 1 where there is nothing to be found."""
    kept = json.loads((oracles / "learned" / "gec-metrics-anchors.json").read_text("utf-8"))
    extra, values = kept["green"]["extra sentence"], kept["green"][f"beta={beta}"]
    references = [
        [*several, more]
        for several, more in zip(kept["references"], extra["references"], strict=True)
    ]
    corpus = Corpus.from_texts([*kept["sources"], extra["source"]], references)
    output = Hypotheses("A", (*kept["hypotheses"], extra["hypothesis"]))
    scores = evaluate(f"green(beta={beta}, empty=one)", corpus, output)
    assert 100 * scores["A"] == pytest.approx(values["corpus %"], abs=1e-9)
    np.testing.assert_allclose(100 * scores.sentences[0], values["sentences %"], atol=1e-9)


def regions(source: str, reference: str, output: str, n: int, unit: str) -> tuple[int, int, int]:
    """TP, FP and FN of one order, n-gram by n-gram as the definition has it."""

    def grams(text: str) -> Counter[tuple[str, ...]]:
        tokens = text.split() if unit == "word" else list(text)
        return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))

    several = [grams(text) for text in (source, reference, output)]
    tp = fp = fn = 0
    for gram in set().union(*several):
        s, r, c = (each[gram] for each in several)
        tp += min(s, r, c) + max(0, s - max(r, c)) + max(0, min(r, c) - s)
        fp += max(0, min(s, r) - c) + max(0, c - max(s, r))
        fn += max(0, min(s, c) - r) + max(0, r - max(s, c))
    return tp, fp, fn


texts = st.lists(st.sampled_from(["a", "b", "ab", "ba"]), max_size=7).map(" ".join)


@given(texts, texts, texts, texts, st.integers(1, 5), st.sampled_from(["word", "char"]))
def test_counts_are_those_of_the_definition(
    source: str, first: str, second: str, output: str, n: int, unit: str
) -> None:
    metric = GREEN(n=n, unit=unit)  # type: ignore[arg-type]
    corpus = Corpus.from_texts([source], [[first], [second]])
    counts = metric.count(corpus, Hypotheses("A", (output,)))[0]
    for row, reference in zip(counts, (first, second), strict=True):
        wanted = [regions(source, reference, output, k, unit) for k in range(1, n + 1)]
        assert row.tolist() == [values[what] for what in range(3) for values in wanted]


def test_of_references_that_are_equally_good_fewer_orders_decide_then_the_first() -> None:
    metric = GREEN(n=2, beta=1.0)
    # TP1, TP2, FP1, FP2, FN1, FN2: over both orders 0; over single words the second is better.
    worse, better = [1.0, 0, 3, 1, 3, 1], [3.0, 0, 1, 1, 1, 1]
    missing = [np.nan] * 6
    counts = np.array([[worse, better], [better, better], [better, missing], [missing, worse]])
    assert metric.choose(counts).tolist() == [[1, 0, 0, 1]]


def test_a_text_shorter_than_n_words() -> None:
    corpus = Corpus.from_texts(["Go on"], [["Go on"]])
    right = Hypotheses("A", ("Go on",))
    assert evaluate("green", corpus, right)["A"] == 0.0
    assert evaluate("green(empty=one)", corpus, right)["A"] == 1.0
    assert evaluate("green(n=2)", corpus, right)["A"] == 1.0
