"""Sums and choices that do not depend on where a corpus is cut."""

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from errata.core.errors import InputError
from errata.core.exact_sums import CHUNK, ExactSums, quantize, select_reference
from errata.core.stats import Floats
from errata.metrics import parse
from errata.metrics.base import Before
from errata.scoring.accumulator import SystemAccumulator

RUNNING = (
    *("m2", "m2(beta=0.333)", "edits", "edits(beta=1)", "difficulty", "difficulty(measure=A)"),
    *("cleme(middle=1.5)", "cleme2", "imeasure(choice=corpus)"),
)


@st.composite
def counts_and_cuts(draw: st.DrawFn) -> tuple[Floats, list[int]]:
    """Counts of up to eight statistics with missing references, and where to cut them."""
    sentences, references = draw(st.integers(1, 12)), draw(st.integers(1, 3))
    share = draw(st.sampled_from([1.0, 1 / 3, 0.1]))
    whole = draw(arrays(np.int64, (sentences, references, 8), elements=st.integers(0, 4)))
    counts = whole * share
    gone = draw(arrays(np.bool_, (sentences, references)))
    gone[:, 0] = False
    counts[gone] = np.nan
    cuts = draw(st.lists(st.integers(0, sentences), max_size=4))
    return quantize(counts), sorted(cuts)


def in_parts(
    signature: str, counts: Floats, cuts: list[int]
) -> tuple[list[list[int]], list[float]]:
    at, choices = SystemAccumulator(parse(signature)), []
    for a, b in itertools.pairwise([0, *cuts, len(counts)]):
        choice, at = at.take(counts[a:b])
        choices.append(choice)
    return np.concatenate(choices, axis=1).tolist(), at.totals[0].tolist()


@pytest.mark.parametrize("signature", RUNNING)
@settings(max_examples=25)
@given(case=counts_and_cuts())
def test_cuts_decide_nothing(signature: str, case: tuple[Floats, list[int]]) -> None:
    counts, cuts = case
    if signature.startswith(("m2", "imeasure")):
        counts = np.ceil(counts)  # they count whole things
    k = len(parse(signature).statistics)
    own = np.resize(counts, (*counts.shape[:2], k)) if k > 8 else counts[..., :k]
    own = np.where(np.isnan(counts[..., :1]), np.nan, np.nan_to_num(own))
    assert in_parts(signature, own, cuts) == in_parts(signature, own, [])


@given(arrays(np.float64, (7, 2, 3), elements=st.floats(-1e6, 1e6)), st.integers(0, 7))
def test_sums_are_exact(values: Floats, cut: int) -> None:
    counts = quantize(values)
    choice = np.array([[0, 1, 1, 0, -1, 1, 0]])
    taken = [counts[i, r] for i, r in enumerate(choice[0].tolist()) if r >= 0]
    parts = ExactSums.of(counts[:cut], choice[:, :cut]) + ExactSums.of(
        counts[cut:], choice[:, cut:]
    )
    wanted = tuple(sum(map(Fraction, column)) for column in np.array(taken).T.tolist())
    assert parts.exactly() == ExactSums.of(counts, choice).exactly() == wanted
    assert parts.floats.tolist() == [[float(each) for each in wanted]]


@pytest.mark.parametrize(
    "choice", [[0, 2, 0], [0, 0], [[0, 0, 0]], [0.0, 0.0, 0.0]], ids=["far", "few", "deep", "float"]
)
@pytest.mark.parametrize("references", [1, 2])
def test_a_choice_that_is_none_is_not_taken(choice: Any, references: int) -> None:
    with pytest.raises(IndexError, match=f"no choice among {references} references of 3"):
        select_reference(np.ones((3, references, 2)), np.array(choice))


@pytest.mark.parametrize("references", [1, 2])
def test_what_is_taken_is_a_copy(references: int) -> None:
    counts = np.arange(6.0 * references).reshape(3, references, 2)
    found = select_reference(counts, np.array([0, references - 1, -1], np.int8))
    np.testing.assert_array_equal(found[:2], [counts[0, 0], counts[1, -1]])
    found[:] = -1
    assert counts.min() == 0


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        pytest.param([2.0**53, 1.0, 2.0], 2**53 + 3, id="beyond what doubles hold"),
        pytest.param([0.1] * 3 * CHUNK, Fraction(0.1) * 3 * CHUNK, id="more than a chunk"),
    ],
)
def test_large_sums_are_exact(values: list[float], wanted: int | Fraction) -> None:
    counts = np.array(values)[:, None, None]
    assert ExactSums.of(counts, np.zeros((1, len(values)), np.int64)).exactly() == (wanted,)


def test_choices_of_the_whole_corpus_hold_all_counts() -> None:
    assert parse("m2(choice=optimal)").scope == "corpus"
    python3 = parse("gleu(references=python3, n=1)")
    assert (python3.scope, python3.for_sentences.scope) == ("corpus", "sentence")
    with pytest.raises(InputError, match="at most 10,000,000"):
        python3.choose(np.ones((2, 2, 4)), Before(9_999_999, (Fraction(0),) * 4))


def test_draws_go_on_where_they_stopped() -> None:
    gleu = parse("gleu(references=official, n=1, draws=5)")
    counts = np.arange(48.0).reshape(6, 2, 4)
    whole = gleu.choose(counts)
    first, at = SystemAccumulator(gleu).take(counts[:4])
    second, at = at.take(counts[4:])
    assert np.concatenate([first, second], axis=1).tolist() == whole.tolist()
    assert at.totals.tolist() == ExactSums.of(counts, whole).floats.tolist()
