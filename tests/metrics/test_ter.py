"""TER against sacrebleu's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics import TER

from errata.core.errors import InputError
from errata.data import Corpus, Hypotheses
from errata.datasets import sample_corpus, sample_systems
from errata.scoring.evaluate import evaluate
from scored import scored

texts = st.lists(st.sampled_from("aAbcd"), max_size=6).map(" ".join)


@given(st.lists(st.tuples(texts, texts, texts), min_size=1, max_size=4), st.booleans())
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


def test_a_sentence_without_a_reference_is_refused() -> None:
    with pytest.raises(InputError, match="reference"):
        evaluate("ter", Corpus(("a", "b"), ((), ())), Hypotheses("A", ("a", "b")))
