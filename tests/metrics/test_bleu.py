"""BLEU and TER against sacrebleu, GREEN against its program and a plain count."""

import json
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import TER
from sacrebleu.metrics.bleu import BLEU as SacreBLEU

from conll_texts import SYSTEMS, read_conll, read_table
from errata.core.errors import DataWarning
from errata.data import Corpus, Hypotheses, Reference
from errata.datasets import load_conll14_systems, load_conll14_texts, sample_corpus, sample_systems
from errata.io import read_m2
from errata.metrics.base import describe_data
from errata.metrics.bleu import BLEU, SMOOTH_VALUES
from errata.metrics.green import GREEN
from errata.scoring.evaluate import evaluate
from scored import scored

SENTENCE = st.lists(st.sampled_from(["a", "A", "b", "B", "don't", "x-y", "."]), max_size=8).map(
    " ".join
)
GROUPS = st.lists(
    st.tuples(SENTENCE, st.lists(SENTENCE, min_size=1, max_size=3)), min_size=1, max_size=4
)


@pytest.mark.parametrize("references", ["nusnlp", "m2_missing_to_other"])
def test_recorded_scores(references: str, conll14: Path, submissions: Path, oracles: Path) -> None:
    corpus, systems = read_conll(conll14, submissions)
    if references != "nusnlp":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            corpus = read_m2(conll14 / "conll14st-test.m2")
        # One annotator's text counts once or twice, which is the same where references merge.
        assert {len(refs) for refs in corpus.references} == {1, 2}
    rows = {
        row["system"]: row["sacrebleu_none"]
        for row in read_table(oracles / "gleu" / "bleu_2refs.tsv")
        if row["refset"] == references
    }
    scores = scored(BLEU(), corpus, systems)
    assert {name: f"{scores[name]:.6f}" for name in SYSTEMS} == rows


@pytest.mark.slow
def test_real_text_equals_sacrebleu(conll14: Path, submissions: Path) -> None:
    corpus, systems = read_conll(conll14, submissions)
    texts = [[refs[k].corrected("") for refs in corpus.references] for k in (0, 1)]
    post = next(system for system in systems if system.system == "POST")  # has an empty line
    scores = scored(BLEU(), corpus, [post])
    theirs = SacreBLEU(tokenize="none", force=True).corpus_score(list(post.sentences), texts)
    assert scores["POST"] == pytest.approx(theirs.score, rel=1e-13)
    assert scores.parts["BP"][0] == pytest.approx(theirs.bp, rel=1e-13)
    np.testing.assert_allclose(
        [scores.parts[f"p{n}"][0] for n in (1, 2, 3, 4)], theirs.precisions, rtol=1e-13
    )
    alone = SacreBLEU(tokenize="none", effective_order=True)
    wanted = [
        alone.sentence_score(h, [text[i] for text in texts]).score
        for i, h in enumerate(post.sentences)
    ]
    np.testing.assert_allclose(scores.sentences[0], wanted, rtol=0, atol=1e-11)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(
    GROUPS,
    st.sampled_from(["exp", "floor", "add-k", "none"]),
    st.booleans(),
    st.sampled_from(["none", "13a", "char"]),
    st.sampled_from([2, 4]),
    st.sampled_from([0.0, 0.5]),
)
def test_equals_sacrebleu(
    groups: list[tuple[str, list[str]]],
    smooth: str,
    lowercase: bool,
    tokenize: str,
    n: int,
    value: float,
) -> None:
    value = value if smooth in SMOOTH_VALUES else 0.0
    bleu = BLEU(smooth=smooth, lowercase=lowercase, tokenize=tokenize, n=n, smooth_value=value)
    corpus = Corpus(
        tuple(h for h, _ in groups),
        tuple(tuple(Reference(k, text=text) for k, text in enumerate(refs)) for _, refs in groups),
    )
    output = Hypotheses("A", tuple(h for h, _ in groups))
    most = corpus.most_references
    sets = [[refs[k] if k < len(refs) else None for _, refs in groups] for k in range(most)]

    def theirs(effective: bool) -> SacreBLEU:
        return SacreBLEU(
            smooth_method=smooth,
            lowercase=lowercase,
            tokenize=tokenize,
            force=True,
            max_ngram_order=n,
            effective_order=effective,
            smooth_value=value or None,
        )

    whole = theirs(effective=False)
    statistics = whole._extract_corpus_statistics(list(output.sentences), sets)
    np.testing.assert_array_equal(bleu.count(corpus, output)[:, 0], statistics)
    scores = scored(bleu, corpus, [output])
    wanted = whole.corpus_score(list(output.sentences), sets)
    assert scores["A"] == pytest.approx(wanted.score, rel=1e-12, abs=1e-12)
    assert scores.parts["BP"][0] == pytest.approx(wanted.bp, rel=1e-12)
    assert describe_data(bleu, corpus, ()).context[0] == f"sacrebleu:{whole.get_signature()}"
    alone = theirs(effective=True)
    np.testing.assert_allclose(
        scores.sentences[0],
        [alone.sentence_score(h, refs).score for h, refs in groups],
        rtol=1e-12,
        atol=1e-12,
    )
    assert describe_data(bleu, corpus, ()).context[1].removeprefix("sentence scores:") in str(
        alone.get_signature()
    )


def test_the_signature_is_passed_on() -> None:
    corpus = Corpus(
        ("a b", "c"),
        ((Reference(0, text="a b"), Reference(1, text="a")), (Reference(0, text="c"),)),
    )
    scores = scored(BLEU(), corpus, [Hypotheses("A", ("a b", "c"))])
    assert "nrefs:var|case:mixed|eff:no|tok:none|smooth:exp|version:" in scores.signature
    assert "eff:yes" in describe_data(BLEU(effective=True), corpus, ()).context[0]


TEXTS = st.lists(st.sampled_from("aAbcd"), max_size=6).map(" ".join)


@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS), min_size=1, max_size=4), st.booleans())
def test_figures_are_those_of_sacrebleu(rows: list[tuple[str, str, str]], cased: bool) -> None:
    outputs, first, second = (list(column) for column in zip(*rows, strict=True))
    corpus = Corpus.from_texts(outputs, [first, second])
    scores = scored(f"ter(cased={cased})", corpus, Hypotheses("A", tuple(outputs)))
    official = TER(case_sensitive=cased)
    assert scores.parts["TER"][0] == pytest.approx(
        official.corpus_score(outputs, [first, second]).score
    )
    np.testing.assert_allclose(
        100 * (1 - scores.sentences[0]),
        [official.sentence_score(o, [a, b]).score for o, a, b in rows],
    )


def test_the_sample_as_sacrebleu_scores_it() -> None:
    corpus = sample_corpus().keep_annotators(0)
    references = [
        refs[0].corrected(source)
        for source, refs in zip(corpus.sources, corpus.references, strict=True)
    ]
    scores = scored("ter", corpus, sample_systems())
    for k, system in enumerate(sample_systems()):
        wanted = TER().corpus_score(list(system.sentences), [references]).score
        assert scores.parts["TER"][k] == pytest.approx(wanted)


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


WORD_TEXTS = st.lists(st.sampled_from(["a", "b", "ab", "ba"]), max_size=7).map(" ".join)


@given(
    WORD_TEXTS,
    WORD_TEXTS,
    WORD_TEXTS,
    WORD_TEXTS,
    st.integers(1, 5),
    st.sampled_from(["word", "char"]),
)
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
