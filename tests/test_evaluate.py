"""Evaluation against what can be computed by hand."""

from __future__ import annotations

import numpy as np
import pytest

from errata.data import Corpus, Edit, Hypotheses, Reference
from errata.errors import InputError
from errata.evaluation import bootstrap, chosen_counts, draw_totals, evaluate, scores_of
from errata.metrics import parse
from errata.metrics.base import join_counts
from errata.numbers import bootstrap_weights
from errata.testing import example_corpus, example_systems
from toy import Toy


def corpus_of(n: int) -> tuple[Corpus, list[Hypotheses]]:
    sources = [f"w{i}" for i in range(n)]
    corpus = Corpus.from_texts(sources, [[f"r{i}" for i in range(n)]])
    half = tuple(f"r{i}" if i % 2 else f"w{i}" for i in range(n))
    return corpus, [Hypotheses("half", half), Hypotheses("none", tuple(sources))]


def test_the_order_of_batches_is_kept_by_threads() -> None:
    corpus, systems = corpus_of(3000)
    seen: list[tuple[int, int]] = []
    counts = Toy().count_all(
        corpus, systems, threads=3, progress=lambda done, total: seen.append((done, total))
    )
    np.testing.assert_array_equal(counts[0][:, 0, 0], np.arange(3000) % 2)
    assert seen[-1] == (6000, 6000)
    assert len(seen) == 6


def test_scores_and_sentences() -> None:
    scores = evaluate(Toy(), example_corpus(), example_systems(), resamples=50)
    assert scores["perfect"] == 1.0
    assert scores["unchanged"] == pytest.approx(2 / 6)
    assert scores.sentences is not None
    assert scores.sentences[1].tolist() == [0, 0, 1, 0, 0, 1]
    assert scores.sentence_parts["annotator"][0].tolist() == [0, 0, 0, 0, 1, 0]
    assert "references:1-2" in scores.signature
    assert "seed:0" in scores.signature


def test_the_signature_says_whose_references_were_kept() -> None:
    corpus = example_corpus().keep_annotators(1)
    scores = evaluate(Toy(), corpus, example_systems(), resamples=0)
    assert "references:1 of annotator 1 |" in scores.signature
    assert corpus[1:3].kept == (1,)


def test_the_bootstrap_has_the_right_spread() -> None:
    corpus, systems = corpus_of(400)
    scores = evaluate(Toy(), corpus, systems, resamples=4000, rng=1)
    assert scores.resampled is not None
    assert scores.resampled[:, 0].std() == pytest.approx((0.25 / 400) ** 0.5, rel=0.05)
    assert scores.resampled[:, 0].mean() == pytest.approx(0.5, abs=0.002)
    assert not scores.resampled[:, 1].any()
    again = evaluate(Toy(), corpus, systems, resamples=4000, rng=1)
    np.testing.assert_array_equal(scores.resampled, again.resampled)
    assert evaluate(Toy(), corpus, systems, resamples=0).resampled is None


def test_the_bootstrap_in_blocks_is_the_same() -> None:
    corpus, systems = corpus_of(50)
    picked = [chosen_counts(c, Toy().choose(c)) for c in Toy().count_all(corpus, systems)]
    whole = bootstrap(Toy(), picked, bootstrap_weights(50, 30, 3))
    np.testing.assert_array_equal(
        bootstrap(Toy(), picked, bootstrap_weights(50, 30, 3, block=120)), whole
    )


def test_draws_are_summed_one_by_one() -> None:
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 9, (20, 3, 4)).astype(float)
    counts[3, 2] = np.nan
    choice = rng.integers(-1, 2, (7, 20))
    expected = np.array(
        [sum(counts[i, c] for i, c in enumerate(draw) if c >= 0) for draw in choice]
    )
    np.testing.assert_allclose(draw_totals(counts, choice), expected)
    np.testing.assert_allclose(chosen_counts(counts, choice).sum(0), expected.mean(0))
    np.testing.assert_allclose(draw_totals(counts, choice, block=40), expected)


def test_joining_fills_missing_references() -> None:
    joined = join_counts([np.ones((1, 1, 2)), np.ones((1, 3, 2))])
    assert np.isnan(joined[0, 1:]).all()
    assert (joined[1] == 1).all()


@pytest.mark.parametrize(
    ("corpus", "systems", "problem"),
    [
        (Corpus.from_texts(["a"], [["a"]]), [], "no system"),
        (Corpus((), ()), [Hypotheses("A", ())], "empty"),
        (Corpus.from_texts(["a"], [["a"]]), [Hypotheses("A", ("a", "b"))], "A has 2 sentences"),
        (Corpus.from_texts(["a"]), [Hypotheses("A", ("a",))], "there are no references"),
        (
            Corpus(("a", "b"), ((Reference(0, ()),), ())),
            [Hypotheses("A", ("a", "b"))],
            "sentence 2 has no reference",
        ),
        (
            Corpus.from_texts(["a"], [["a"]]),
            [Hypotheses("A", ("a",))] * 2,
            "two systems are called",
        ),
    ],
)
def test_bad_input(corpus: Corpus, systems: list[Hypotheses], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        evaluate(Toy(), corpus, systems)


def test_counts_made_elsewhere_give_the_same_scores() -> None:
    corpus, systems = example_corpus(), example_systems()
    counts = [
        join_counts([Toy().count(corpus[a:b], h[a:b]) for a, b in ((0, 4), (4, 6))])
        for h in systems
    ]
    made = scores_of(Toy(), corpus, systems, counts, resamples=20)
    whole = evaluate(Toy(), corpus, systems, resamples=20)
    assert made.signature == whole.signature
    for name in ("values", "sentences", "resampled"):
        np.testing.assert_array_equal(getattr(made, name), getattr(whole, name))
    with pytest.raises(InputError, match="counts of 2 systems for 3"):
        scores_of(Toy(), corpus, systems, counts[:2])
    with pytest.raises(InputError, match=r"do not fit 6 sentences and 2 statistics"):
        scores_of(Toy(), corpus, systems, [each[:-1] for each in counts])


def test_the_annotator_taken_is_named_whatever_the_order_of_references() -> None:
    one = Reference(1, (Edit(0, 1, "B"),))
    corpus = Corpus(("a",), ((one, Reference(0, (Edit(0, 1, "C"),))),))
    for metric in ("m2", "edits", "difficulty", "imeasure"):
        scores = evaluate(parse(metric), corpus, [Hypotheses("A", ("B",))], resamples=0)
        assert scores.sentence_parts["annotator"].tolist() == [[1]], metric


def test_a_signature_says_whose_references_were_kept() -> None:
    corpus = example_corpus().keep_annotators(0)
    for metric in ("difficulty(gold=reextracted)", "edits(gold=reextracted)", "m2"):
        scores = evaluate(parse(metric), corpus, example_systems(), resamples=0)
        assert "references:1 of annotator 0" in scores.context, metric
