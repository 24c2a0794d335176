"""METEOR against nltk's own scores of sentences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import errata.metrics.meteor as wordnet
from errata.core.errors import MissingExtraError
from errata.data import Corpus, Hypotheses
from errata.datasets import sample_corpus, sample_systems
from scored import scored

meteor_score = pytest.importorskip("nltk.translate.meteor_score").meteor_score
texts = st.lists(st.sampled_from(["go", "goes", "going", "A", "a", "b"]), max_size=6).map(" ".join)
SETTINGS = {"alpha": 0.7, "beta": 2.0, "gamma": 0.25}


@given(st.lists(st.tuples(texts, texts, texts), min_size=1, max_size=4), st.booleans())
def test_sentences_have_the_scores_of_nltk(rows: list[tuple[str, str, str]], other: bool) -> None:
    outputs, first, second = (list(column) for column in zip(*rows, strict=True))
    corpus = Corpus.from_texts(outputs, [first, second])
    chosen = SETTINGS if other else {}
    given_too = "".join(f", {name}={value}" for name, value in chosen.items())
    systems = Hypotheses("A", tuple(outputs))
    scores = scored(f"meteor(synonyms=none{given_too})", corpus, systems)
    wanted = [
        meteor_score([a.split(), b.split()], o.split(), wordnet=wordnet.Synonyms(), **chosen)
        for o, a, b in rows
    ]
    np.testing.assert_allclose(scores.sentences[0], wanted, rtol=1e-12, atol=1e-12)
    mean = scored(f"meteor(synonyms=none, total=mean{given_too})", corpus, systems)
    assert mean["A"] == pytest.approx(np.mean(wanted), abs=1e-8)


@pytest.mark.slow
def test_synonyms_match_as_in_nltk() -> None:
    known = _wordnet()
    corpus = sample_corpus()
    scores = scored("meteor", corpus, sample_systems())
    for k, system in enumerate(sample_systems()):
        wanted = [
            meteor_score(
                [r.corrected(source).split() for r in references],
                output.split(),
                wordnet=known._reader,  # nltk's own, without our memory of words
            )
            for source, references, output in zip(
                corpus.sources, corpus.references, system.sentences, strict=True
            )
        ]
        np.testing.assert_allclose(scores.sentences[k], wanted, rtol=1e-12)
    plain = scored("meteor(synonyms=none)", corpus, sample_systems())
    assert (scores.values > plain.values).all()
    assert "wordnet:3.0" in scores.signature


def test_a_corpus_is_scored_by_summed_counts() -> None:
    corpus = Corpus.from_texts(["a b c d", "e f"], [["a b x d", "e f"]])
    scores = scored("meteor(synonyms=none)", corpus, {"A": ["a b c d", "e f"]})
    # 5 of 6 words match on both sides, in 3 chunks: a b, d, and e f.
    assert scores["A"] == pytest.approx((1 - 0.5 * (3 / 5) ** 3) * 5 / 6)
    assert scores.parts["chunks"].tolist() == [3]


def test_without_wordnet_the_remedy_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    import nltk.data

    monkeypatch.setattr(wordnet, "DEBIAN", wordnet.Path("/nowhere"))
    monkeypatch.setattr(nltk.data, "path", [])
    with pytest.raises(MissingExtraError, match=r"needs WordNet.*wordnet-base.*synonyms='none'"):
        wordnet.open_wordnet.__wrapped__()


def _wordnet() -> wordnet.Synonyms:
    try:
        return wordnet.open_wordnet()
    except MissingExtraError as missing:
        pytest.skip(str(missing))
