"""Conditions of a gate: how they are read, what they are held against, what is refused."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.comparison import gate
from errata.comparison.compare import Comparison, compare
from errata.core.errors import InputError
from errata.core.stats import Interval
from errata.datasets import sample_corpus, sample_systems


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    cautious, eager = (s for s in sample_systems() if s.system in ("cautious", "eager"))
    (found,) = compare(
        ["m2", "gleu(n=2)"], sample_corpus(), cautious, [eager], resamples=100, trials=0
    )
    return found


def held(comparison: Comparison, text: str, bound: gate.Bound = "point") -> gate.CheckedCondition:
    (verdict,) = gate.check_gate([gate.parse_condition(text)], lambda _: [comparison], bound=bound)
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
def test_conditions(
    text: str, figure: str, sign: str, threshold: float, change: bool, where: str
) -> None:
    found = gate.parse_condition(text)
    assert (found.figure, found.sign, found.threshold) == (figure, sign, threshold)
    assert (found.change, found.where) == (change, where)


@pytest.mark.parametrize("text", ["", "m2", "m2 <", "< 3", "m2 = 3", "m2 < x", "m2 < 1 2"])
def test_what_is_no_condition_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="cannot read the condition"):
        gate.parse_condition(text)


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
        ("m2 score < 0.1", m2.new),
        ("change of m2 score < 0", m2.difference.value),
        ("gleu < 0", gleu.difference.value),
        ("gleu(n=2) score < 0.1", gleu.new),
        ("R:SPELL recall < 0.1", spell.figures["R"].new),
        ("change of R:SPELL recall < 0", spell.figures["R"].difference.value),
        ("R:SPELL F0.5 < 0.1", spell.figures["F0.5"].new),
        ("R:SPELL false alarms < 0", spell.figures["false alarms"].new),
        ("false alarms < 0", rates["false alarms"].new),
        ("clean sentences touched > 0.9", rates["clean sentences touched"].new),
        ("new false alarms > 0", counts.new_alarms),
        ("lost edits > 0", counts.lost),
        ("gained edits of R:SPELL > 0", spell.changes.gained),
    ):
        assert held(comparison, text).value == value, text


@given(st.floats(-0.99, 0.99), st.sampled_from(["<", ">", "<=", ">="]))
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


def test_few_sentences_decide_nothing() -> None:
    """A gate failed on one sentence, with an interval of no width."""
    corpus, systems = sample_corpus(), sample_systems()
    old, new = systems[0], systems[-1]
    for size, few in ((29, True), (30, False)):
        (found,) = compare(
            "m2", corpus[:size], old[:size], [new[:size]], resamples=20, trials=20, guard=False
        )
        verdict = held(found, "m2 < -0.005", "confident")
        assert (verdict.too_few, verdict.failed) == (few, not few)
        assert held(found, "m2 < -0.005", "point").failed
        assert held(found, "lost edits > 0", "confident").failed
        assert gate.gate_table([verdict]).rows[0][0] == ("too few data" if few else "FAILED")
        suite = ElementTree.fromstring(gate.junit_xml([verdict]))
        assert suite.get("skipped") == str(int(few))
        assert (suite.find(".//skipped") is not None) == few


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("gleo(n=2) < 0", "no 'gleo.*' here.*did you mean 'gleu"),
        ("R:SPEL recall < 0", "no 'R:SPEL' here.*R:SPELL"),
        ("R:SPELL recal < 0", "no 'recal' here.*recall"),
        ("lost edits of R:NONE > 0", "no 'R:NONE'"),
        ("change of new false alarms > 0", "are changes already"),
        ("m2 < -5", "never holds: m2 is between -1 and 1"),
        ("m2 score < -0.005", "never holds: m2 score is between 0 and 1"),
        ("R:SPELL recall > 1", "never holds.*write|shares are written"),
        ("clean sentences touched >= 5", "never holds"),
        ("m2 score <= -0.1", "never holds"),
    ],
)
def test_unknown_figures_never_pass(comparison: Comparison, text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        held(comparison, text)


def test_one_of_two_metrics_of_a_name_must_be_named() -> None:
    cautious, eager = (s for s in sample_systems() if s.system in ("cautious", "eager"))
    (two,) = compare(
        ["gleu(n=2)", "gleu(n=3)"], sample_corpus(), cautious, [eager], resamples=0, trials=0
    )
    with pytest.raises(InputError, match=r"no 'gleu' here.*known: gleu\(n=2\), gleu\(n=3\)"):
        held(two, "gleu < 0")
    assert held(two, "gleu(n=2) < 0").value != held(two, "gleu(n=3) < 0").value


def test_sentences_of_a_part_are_numbered_as_in_the_whole() -> None:
    """Conditions on a part of the corpus, and on kinds in groups, name the sentences they mean."""
    cautious, eager = (s for s in sample_systems() if s.system in ("cautious", "eager"))
    corpus, old, new = (x.without_sentences(*range(10)) for x in (sample_corpus(), cautious, eager))
    (part,) = compare([], corpus, old, [new], tier=2, resamples=0, trials=0, guard=False)
    verdict = held(part, "new false alarms of INFL > 0")
    assert len(verdict.sentences) > 1
    lines = gate.verdict_text(verdict).splitlines()
    named = re.fullmatch(r"  sentence (\d+): (.+) → (.+)", lines[1])
    assert named is not None
    i = int(named[1]) - 1
    assert (named[2], named[3]) == (cautious.sentences[i], eager.sentences[i])
    assert "sentence" not in gate.verdict_text(held(part, "new false alarms of INFL > 999"))


@pytest.mark.parametrize(
    "name", ["a\x00b", "\ufffe\uffff", "\udc80", "]]>&<", "x\n::error::y", "\x85\u202e", "'\"%"]
)
def test_any_name_stands_in_what_build_servers_read(name: str) -> None:
    """XML 1.0 cannot hold every character, and an annotation ends with its line."""
    condition = gate.parse_condition("m2 < 0")
    verdict = gate.CheckedCondition(condition, name, "m2", -1.0, Interval(-1, -1), "point", True)
    suite = ElementTree.fromstring(gate.junit_xml([verdict]))
    (case,) = suite.iter("testcase")
    assert case.get("name") == "m2 < 0"
    (line,) = gate.github_annotations([verdict])
    assert line.startswith("::error title=errata gate::")
    assert len(line.splitlines()) == 1
    assert len(gate.gate_summary([verdict], []).splitlines()) == 9


def test_the_answer_holds_no_markup_in_a_summary() -> None:
    """Names of systems are names of files, and the summary is shown as Markdown."""
    cautious, eager = (s for s in sample_systems() if s.system in ("cautious", "eager"))
    new = replace(eager, system="# <img> *new*")
    (found,) = compare("m2", sample_corpus(), cautious, [new], resamples=100, trials=100)
    assert r"between # \<img> \*new\* and cautious" in gate.gate_summary([], [found])


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
