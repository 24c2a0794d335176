"""Conditions of a gate: how they are read, what they are held against, what is refused."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.datasets import sample_corpus, sample_systems
from errata.errors import InputError
from errata.studies.comparison import Comparison, compare
from errata.studies.gate import GateBound, HeldCondition, check_gate, parse_condition


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    cautious, eager = (s for s in sample_systems() if s.system in ("cautious", "eager"))
    (found,) = compare(
        ["m2", "gleu(n=2)"], sample_corpus(), cautious, [eager], resamples=100, trials=0
    )
    return found


def held(comparison: Comparison, text: str, bound: GateBound = "point") -> HeldCondition:
    (verdict,) = check_gate([parse_condition(text)], lambda _: [comparison], bound=bound)
    return verdict


@pytest.mark.parametrize(
    ("text", "figure", "sign", "threshold", "change", "where"),
    [
        ("m2 < -0.005", "m2", "<", -0.005, False, ""),
        ("m2<−.5%", "m2", "<", -0.005, False, ""),
        ("new false alarms > 0 on clean.txt", "new false alarms", ">", 0, False, "clean.txt"),
        ("R:VERB:SVA recall < 0.8", "R:VERB:SVA recall", "<", 0.8, False, ""),
        ("change of  R:SPELL precision <= 1e-3", "R:SPELL precision", "<=", 1e-3, True, ""),
        ("m2(beta=1) >= 2 on a file on b.txt", "m2(beta=1)", ">=", 2, False, "a file on b.txt"),
    ],
)
def test_conditions_are_read(
    text: str, figure: str, sign: str, threshold: float, change: bool, where: str
) -> None:
    found = parse_condition(text)
    assert (found.figure, found.sign, found.threshold) == (figure, sign, threshold)
    assert (found.change, found.where) == (change, where)


@pytest.mark.parametrize("text", ["", "m2", "m2 <", "< 3", "m2 = 3", "m2 < x", "m2 < 1 2"])
def test_what_is_no_condition_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="cannot read the condition"):
        parse_condition(text)


def test_figures_are_those_of_the_comparison(comparison: Comparison) -> None:
    m2, gleu = comparison.differences
    spell = comparison.kind("R:SPELL")
    assert spell is not None
    rates = {each.label: each for each in comparison.rates}
    counts = comparison.counts
    assert counts.new_alarms
    assert counts.lost != counts.gained
    for text, value in (
        ("m2 < 0", m2.difference.value),
        ("m2 score < 0", m2.new),
        ("change of m2 score < 0", m2.difference.value),
        ("gleu < 0", gleu.difference.value),
        ("gleu(n=2) score < 0", gleu.new),
        ("R:SPELL recall < 0", spell.figures["R"].new),
        ("change of R:SPELL recall < 0", spell.figures["R"].difference.value),
        ("R:SPELL F0.5 < 0", spell.figures["F0.5"].new),
        ("R:SPELL false alarms < 0", spell.figures["false alarms"].new),
        ("false alarms < 0", rates["false alarms"].new),
        ("clean sentences touched > 1", rates["clean sentences touched"].new),
        ("new false alarms > 0", counts.new_alarms),
        ("lost edits > 0", counts.lost),
        ("gained edits of R:SPELL > 0", spell.changes.gained),
    ):
        assert held(comparison, text).value == value, text


@given(st.floats(-1, 1), st.sampled_from(["<", ">", "<=", ">="]))
def test_bounds_are_ordered(comparison: Comparison, threshold: float, sign: str) -> None:
    """What fails confidently fails at the point, and that cautiously."""
    text = f"m2 {sign} {threshold:.6f}"
    confident, point, cautious = (
        held(comparison, text, bound).failed for bound in ("confident", "point", "cautious")
    )
    assert confident <= point <= cautious


def test_the_confident_bound_is_the_end_furthest_from_failing(comparison: Comparison) -> None:
    by = comparison.differences[0].difference
    assert by.low < by.value < by.high
    between = (by.value + by.high) / 2
    assert held(comparison, f"m2 < {between:.9f}", "point").failed
    assert not held(comparison, f"m2 < {between:.9f}", "confident").failed
    assert held(comparison, f"m2 < {by.high + 1e-6:.9f}", "confident").failed
    assert not held(comparison, f"m2 > {by.low:.9f}", "confident").failed or by.low > 0
    assert held(comparison, f"m2 > {by.value + 1e-6:.9f}", "cautious").failed


def test_a_count_names_its_sentences(comparison: Comparison) -> None:
    verdict = held(comparison, "new false alarms > 0")
    wanted = {c.sentence for c in comparison.changes if c.name == "new false alarm"}
    assert {*verdict.sentences} == wanted
    assert len(wanted) > 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("gleo(n=2) < 0", "no 'gleo.*' here.*did you mean 'gleu"),
        ("R:SPEL recall < 0", "no 'R:SPEL' here.*R:SPELL"),
        ("R:SPELL recal < 0", "no 'recal' here.*recall"),
        ("lost edits of R:NONE > 0", "no 'R:NONE'"),
        ("change of new false alarms > 0", "are changes already"),
    ],
)
def test_unknown_figures_are_refused_and_never_pass(
    comparison: Comparison, text: str, said: str
) -> None:
    with pytest.raises(InputError, match=said):
        held(comparison, text)


def test_without_resamples_only_the_point_is_known() -> None:
    cautious, eager = (s for s in sample_systems() if s.system in ("cautious", "eager"))
    (bare,) = compare("m2", sample_corpus(), cautious, [eager], resamples=0, trials=0)
    assert math.isnan(bare.differences[0].difference.low)
    assert not held(bare, "m2 < 0").failed
    with pytest.raises(InputError, match="none without resamples"):
        held(bare, "m2 < 0", "confident")
    assert held(bare, "new false alarms > 0", "confident").failed


def test_without_references_no_edit_is_wrong() -> None:
    from errata.data import Corpus

    corpus = Corpus(("a b", "c"), ((), ()))
    (bare,) = compare([], corpus, {"old": ["a b", "c"]}, {"new": ["a", "c"]}, resamples=0, trials=0)
    with pytest.raises(InputError, match="without references"):
        held(bare, "new false alarms > 0")
