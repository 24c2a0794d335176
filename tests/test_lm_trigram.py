"""The trigram model inside the pocketsphinx wheel."""

from __future__ import annotations

import pytest
from numpy.testing import assert_allclose

from errata.errors import InputError
from errata.lm import Options, open_model, perplexity
from errata.lm.trigram import UNKNOWN, TrigramModel, words
from errata.metrics import parse
from errata.testing import check_metric

pytest.importorskip("pocketsphinx")


@pytest.mark.parametrize(("sentence", "expected"), [
    ("He is going school .", ["he", "is", "going", "school"]),
    ("I ca n't , wo n't , it ’s mine !", ["i", "can't", "won't", "it's", "mine"]),
    ("a well-known 'fact' , sister 's", ["a", "well-known", "fact", "sister's"]),
    ("... !", []), ("", [])])
def test_words(sentence: str, expected: list[str]) -> None:
    assert words(sentence) == expected


def test_known_perplexities() -> None:
    rows = TrigramModel(Options()).log_probs(["He is going school", "He is going to school"])
    assert rows[:, 1].tolist() == [5.0, 6.0]  # the end of the sentence counts
    assert [f"{value:.1f}" for value in perplexity(rows)] == ["125.6", "18.3"]


def test_case_and_punctuation_do_not_count() -> None:
    rows = TrigramModel(Options()).log_probs(["he is going , to school !", "He is going to school"])
    assert rows[0].tolist() == rows[1].tolist()


def test_unknown_words_count_as_the_rarest_known_one() -> None:
    model = TrigramModel(Options())
    known, unknown, hyphen, parts = model.log_probs(
        ["gejdenson", "zzzqqq", "school-zzzqqq", "school zzzqqq"])
    assert known[1] == unknown[1] == 2.0
    assert unknown[0] < UNKNOWN
    assert_allclose(hyphen, parts)
    ngrams, log_math, _ = model._loaded
    assert log_math.log_to_ln(ngrams.prob(["gejdenson"])) == UNKNOWN


def test_no_words_no_tokens() -> None:
    assert TrigramModel(Options()).log_probs(["", " . "]).tolist() == [[0, 0], [0, 0]]
    assert TrigramModel(Options()).log_probs([]).shape == (0, 2)


def test_options_it_does_not_have() -> None:
    with pytest.raises(InputError, match="trigram has no revision, dtype or device"):
        open_model("trigram", Options(dtype="float16"))


@pytest.mark.parametrize("text", ["scribendi(model=trigram)", "fluency(model=trigram)"])
def test_contract(text: str) -> None:
    check_metric(parse(text))
