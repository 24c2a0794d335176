"""The trigram model inside the pocketsphinx wheel."""

import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from errata.core.errors import DataWarning, InputError
from errata.core.stats import Floats
from errata.data import Corpus, Hypotheses
from errata.io import read_corpus, read_hypotheses
from errata.io.tokenisers import tokenise_corpus, tokeniser
from errata.metrics import parse
from errata.models import Options, open_model, perplexity, warn_of_foreign
from errata.models.causal import UNKNOWN, TrigramModel, words
from errata.models.checkers import detokenize
from errata.models.language import drop_memos
from errata.scoring.evaluate import evaluate
from scored import scored

pytest.importorskip("pocketsphinx")


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("He is going school .", ["he", "is", "going", "school"]),
        ("I ca n't , wo n't , it ’s mine !", ["i", "can't", "won't", "it's", "mine"]),
        ("a well-known 'fact' , sister 's", ["a", "well-known", "fact", "sister's"]),
        ("... !", []),
        ("", []),
    ],
)
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
        ["gejdenson", "zzzqqq", "school-zzzqqq", "school zzzqqq"]
    )
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


# Errata's own figures with pocketsphinx 5.1.1; docs/metrics/scribendi.md shows the same.
CONLL14 = {"AMU": 530, "CAMB": 583, "CUUI": 137, "IITB": 16, "INPUT": 0, "IPN": -190, "NTHU": 68}
CONLL14 |= {"PKU": 377, "POST": 60, "RAC": 264, "SJTU": -75, "UFC": 11, "UMC": 210}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::errata.core.errors.DataWarning")  # real files: NTHU, POST
def test_the_thirteen_systems_of_conll_2014(
    conll14: Path, submissions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = read_corpus(source=conll14 / "conll14st-test.tok.src")
    systems = [read_hypotheses(path, corpus=corpus) for path in sorted(submissions.iterdir())]
    asked: list[str] = []
    real = TrigramModel.log_probs

    def count(self: TrigramModel, sentences: Sequence[str]) -> Floats:
        asked.extend(sentences)
        return real(self, sentences)

    monkeypatch.setattr(TrigramModel, "log_probs", count)
    drop_memos("trigram")
    scores = scored(parse("scribendi(model=trigram)"), corpus, systems)
    assert dict(scores) == CONLL14
    changed = {
        text.rstrip()
        for system in systems
        for pair in zip(corpus.sources, system.sentences, strict=True)
        if pair[0].rstrip() != pair[1].rstrip()
        for text in pair
    }
    assert sorted(asked) == sorted(changed)
    again = scored(parse("scribendi(model=trigram, total=mean)"), corpus, systems)
    assert len(asked) == len(changed)
    assert_allclose(again.values, scores.values / 1312)
    drop_memos("trigram")


def test_the_page_shows_these_figures() -> None:
    page = (Path(__file__).parents[2] / "docs" / "metrics" / "scribendi.md").read_text("utf-8")
    for system, value in CONLL14.items():
        row = next(line for line in page.splitlines() if line.startswith(f"| {system} |"))
        assert row.split("|")[3].strip() == str(value).replace("-", "−")


def test_a_run_of_blanks_is_looked_at_once() -> None:
    blanks = " " * 200_000
    assert words(f"it{blanks}is{blanks}'s") == ["it", "is's"]  # each blank with each took hours
    assert detokenize(f"a{blanks}b{blanks}.") == f"a{blanks}b."


@pytest.mark.parametrize("metric", ["fluency(model=trigram)", "scribendi(model=trigram)"])
def test_a_language_it_does_not_know_is_warned_of(metric: str) -> None:
    corpus = Corpus.from_texts(["Der Hund ging gestern nach Hause .", "Ich möchte ein Buch ."])
    out = Hypotheses("A", ("Der Hund geht gestern nach Hause .", "Ich möchte ein Haus ."))
    with pytest.warns(DataWarning, match=r"trigram knows almost no word of the source.*; name one"):
        evaluate(metric, corpus, out)
    letters = tokenise_corpus(corpus, tokeniser("characters"))
    cut = Hypotheses("A", tuple(map(tokeniser("characters"), out.sentences)))
    with pytest.warns(DataWarning, match="cut into characters.*leave out --tokens characters"):
        evaluate(metric, letters, cut)
    english = Corpus.from_texts(["The dog go home yesterday .", "I wants a book ."])
    evaluate(metric, english, Hypotheses("A", ("The dog went home yesterday .", "I want it .")))


@pytest.mark.parametrize(
    ("rows", "warned"),
    [
        ([[-20.0, 4.0]], False),
        ([[-20.0, 7.0]], True),
        ([[-64.0, 4.0]], True),
        ([[0.0, 0.0]], False),
    ],
)
def test_few_bytes_a_token_or_low_probabilities_are_warned_of(
    rows: list[list[float]], warned: bool
) -> None:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        warn_of_foreign("m", ["a" * 16], np.array(rows))
    assert len(said) == warned
