"""The answers of comparisons, rankings and meta-evaluations: outcomes and sentences.

Worked examples of the specification (`specs/cases/verdicts`), typed again; the file itself is read
where it is there.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.comparison.paired_tests import TwoSystems, swap_p_values
from errata.core.stats import Estimate, Floats, percentiles
from errata.io import read_corpus, read_hypotheses
from errata.metrics import parse
from errata.scoring.accumulator import chosen_counts
from errata.scoring.decisions import (
    Answer,
    ComparedPair,
    DecisionRules,
    JudgedMetric,
    PartDifference,
    PeoplesChoice,
    PeoplesRanking,
    PointDifference,
    RankedSystem,
    decide_metrics,
    decide_pair,
    decide_ranking,
    points,
    worse_parts,
)

CASES = Path(__file__).resolve().parents[3] / "shared/specs/cases/verdicts/verdicts.json"


def difference(name: str, d: float, lo: float, hi: float, p: float) -> PointDifference:
    return PointDifference(name, Estimate(d, lo, hi), p)


def part(name: str, d: float, lo: float, hi: float, p: float, size: int = 5000) -> PartDifference:
    return PartDifference(name, Estimate(d, lo, hi), p, size, size, size // 4)


def pair(d: float, lo: float, hi: float, p: float, **more: Any) -> ComparedPair:
    known = {"old": "v1", "new": "v2", "sentences": 1312, "changed": 402, "error": 0.9, **more}
    known.setdefault("interval90", (lo, hi))
    return ComparedPair(primary=difference("M2", d, lo, hi, p), **known)


def test_a_clear_gain() -> None:
    assert decide_pair(pair(4.8, 3.1, 6.4, 0.0001)) == Answer(
        "better", "v2 is better than v1: M2 +4.8 points (95 % interval +3.1 to +6.4, p < .001)."
    )


def test_a_loss_names_the_worst_parts() -> None:
    parts = [part(f"s{k}", -k, -k - 1, -0.5, 0.001) for k in range(1, 6)]
    found = decide_pair(pair(-4.8, -6.4, -3.1, 0.002, parts=parts))
    assert found == Answer(
        "worse",
        "v2 is worse than v1: M2 −4.8 points (95 % interval −6.4 to −3.1, p = .002). Worst in "
        "s5 (−5.0 points, −6.0 to −0.5), s4 (−4.0 points, −5.0 to −0.5), "
        "s3 (−3.0 points, −4.0 to −0.5) and 2 more.",
    )


@pytest.mark.parametrize(
    ("change", "outcome"),
    [
        ({"sentences": 29}, "too_few"),
        ({"changed": 5}, "too_few"),
        ({}, "undecided"),
        ({"interval90": (-0.9, 0.9)}, "equal"),
        ({"parts": [part("email", -4.2, -6.5, -2.1, 0.0001)]}, "worse_in"),
        ({"parts": [part("email", -4.2, -6.5, -2.1, 0.0001, 49)]}, "undecided"),
        ({"others": [difference("GLEU", -1.9, -2.8, -1.0, 0.0002)]}, "undecided"),
        (
            {
                "others": [
                    difference("GLEU", -1.9, -2.8, -1.0, 0.0002),
                    difference("BLEU", 1.9, 1.0, 2.8, 0.0002),
                ]
            },
            "mixed",
        ),
        ({"people": PeoplesChoice(-1, 0.38, 640, 0.0001)}, "people_worse"),
        ({"people": PeoplesChoice(0, 0.5, 640, 0.9)}, "people_tie"),
    ],
)
def test_outcomes_without_a_clear_difference(change: dict[str, Any], outcome: str) -> None:
    assert decide_pair(pair(0.5, -1.2, 2.2, 0.4, **change)).outcome == outcome


def test_test_and_interval_have_to_agree() -> None:
    for lo, p in ((0.1, 0.06), (-0.1, 0.04)):
        found = decide_pair(pair(1.2, lo, 2.2, p))
        assert found.outcome == "undecided"
        assert "(borderline)" in found.sentence


def test_needed_sentences_are_named_where_there_are_fewer() -> None:
    few = decide_pair(pair(5.81, -0.46, 11.53, 0.0763, sentences=72, changed=61, error=3.059))
    assert few.sentence.endswith(
        "Detecting a difference of 5.8 points would take about 160 sentences like these."
    )
    many = decide_pair(pair(5.81, -0.46, 11.53, 0.0763, sentences=72, changed=61, error=1.5))
    assert "Detecting" not in many.sentence


@given(
    st.floats(-8, 8),
    st.floats(0.1, 6),
    st.floats(0.0001, 1),
    st.integers(0, 60),
    st.integers(0, 12),
)
def test_exchanged_systems(d: float, width: float, p: float, sentences: int, changed: int) -> None:
    one = pair(d, d - width, d + width, p, sentences=sentences, changed=changed)
    other = pair(-d, -d - width, -d + width, p, sentences=sentences, changed=changed)
    turned = {"better": "worse", "worse": "better"}
    found = decide_pair(one).outcome
    assert decide_pair(other).outcome == turned.get(found, found)


def test_parts_are_one_family() -> None:
    """Of forty parts with p = .01 none is clear, and one of them alone is."""
    several = [part(f"s{k}", -3, -4, -2, 0.01) for k in range(40)]
    assert worse_parts(several) == []
    assert worse_parts(several[:1]) == several[:1]
    strict = DecisionRules(alpha=0.001)
    assert worse_parts(several[:1], strict) == []


def test_people_agree_or_not() -> None:
    liked = PeoplesChoice(1, 0.62, 640, 0.0001)
    agreed = decide_pair(pair(4.8, 3.1, 6.4, 0.0001, people=liked))
    assert agreed.outcome == "people_better"
    assert agreed.sentence.startswith(
        "People prefer v2 to v1 (62 % of 640 comparisons without ties, p < .001). "
        "The metrics agree: v2 is better"
    )
    unclear = decide_pair(pair(0.5, -1.2, 2.2, 0.4, people=liked))
    assert "The metrics cannot tell: " in unclear.sentence


SYSTEMS = [
    RankedSystem("rac", 36.2),
    RankedSystem("amu", 35.0, difference("M2", 1.2, 0.3, 2.4, 0.01)),
    RankedSystem("cuui", 30.1, difference("M2", 6.1, 4.0, 9.2, 0.001)),
]


def test_rankings() -> None:
    assert decide_ranking("M2", 1312, SYSTEMS) == Answer(
        "first",
        "rac is best of 3 systems by M2: 36.2, 1.2 points ahead of amu (95 % interval +0.3 to "
        "+2.4, p = .010).",
    )
    tied = [SYSTEMS[0], replace(SYSTEMS[1], behind=difference("M2", 1.2, -0.3, 2.4, 0.3))]
    assert decide_ranking("M2", 1312, [*tied, SYSTEMS[2]]).sentence == (
        "rac and amu share first place by M2 (36.2, 35.0): the differences are not significant. "
        "The other one is significantly lower."
    )
    assert decide_ranking("M2", 1312, tied).outcome == "none"
    assert decide_ranking("M2", 29, tied).outcome == "too_few"
    others = decide_ranking("M2", 1312, SYSTEMS, firsts=[("GLEU", "amu"), ("BLEU", "rac")])
    assert others.sentence.endswith(" GLEU puts amu first.")


@pytest.mark.parametrize(
    ("first", "link"),
    [("rac", "The metrics agree. "), ("amu", "The metrics say otherwise; trust the people. ")],
)
def test_people_come_first_in_rankings(first: str, link: str) -> None:
    people = PeoplesRanking(True, first, 0.9, "cuui", 0.5)
    found = decide_ranking("M2", 1312, SYSTEMS, people=people)
    assert found.outcome == "people_first"
    assert f"significantly different). {link}rac is best" in found.sentence
    apart = decide_ranking("M2", 1312, SYSTEMS, people=replace(people, clear=False))
    assert apart.outcome == "people_tie"


def test_which_metric_to_report() -> None:
    r = [Estimate(0.9, 0.6, 0.99), Estimate(0.4, -0.2, 0.7), Estimate(-0.1, -0.5, 0.4)]
    metrics = [JudgedMetric(name, each, 0.2) for name, each in zip("abc", r, strict=True)]
    assert decide_metrics(4, metrics).outcome == "too_few"
    assert decide_metrics(12, metrics) == Answer(
        "one",
        "Report a: a (r = 0.90) over 12 systems. It cannot be separated from b on 12 systems. "
        "Avoid c here (r = −0.10).",
    )
    assert decide_metrics(12, metrics[1:]).outcome == "none"
    assert decide_metrics(7, [replace(metrics[0], r=Estimate(0.9, -0.1, 1))]).outcome == "none"


def test_points_have_no_sign_at_0_and_halves_go_up() -> None:
    assert [points(x) for x in (-0.049, 0.05, -81.65)] == ["0.0", "+0.1", "−81.7"]


def answer_of(kind: str, data: dict[str, Any]) -> Answer:
    people = data.get("people")
    if kind == "meta":
        metrics = [
            JudgedMetric(m["name"], Estimate(m["r"], m["lo"], m["hi"]), m["p"])
            for m in data["metrics"]
        ]
        return decide_metrics(data["systems"], metrics)

    def tested(each: dict[str, Any], name: str) -> PointDifference:
        return difference(name, each["d"], each["lo"], each["hi"], each["p"])

    if kind == "board":
        best, *others = data["systems"]
        ranked = [RankedSystem(best["name"], best["score"])]
        for each in others:
            behind = tested({"d": best["score"] - each["score"], **each}, data["metric"])
            ranked.append(RankedSystem(each["name"], each["score"], behind))
        firsts = [(each["metric"], each["system"]) for each in data.get("firsts", ())]
        told = people and PeoplesRanking(*people.values())
        return decide_ranking(data["metric"], data["n"], ranked, firsts=firsts, people=told)
    parts = []
    for each in data.get("parts", ()):
        known = part(*[each[key] for key in ("name", "d", "lo", "hi", "p", "n")])
        parts.append(replace(known, errors=each["errors"], changed=each["k"]))
    if people:
        side = int(math.copysign(people["clear"], people["d"]))
        people = PeoplesChoice(side, people["pref"] / 100, people["n"], people["p"])
    primary, known = data["primary"], [data[name] for name in ("old", "new", "n", "k")]
    interval, others = (primary["lo90"], primary["hi90"]), data.get("others", ())
    tests = [tested(each, each["name"]) for each in others]
    first = tested(primary, data["metric"])
    return decide_pair(ComparedPair(*known, first, interval, primary["se"], tests, parts, people))


@pytest.mark.skipif(not CASES.exists(), reason="the specification is not here")
def test_examples_of_the_specification() -> None:
    cases = json.loads(CASES.read_text("utf-8"))
    assert len(cases) >= 14
    for case in cases:
        assert answer_of(case["kind"], case["input"]) == Answer(
            case["outcome"], case["sentence"]
        ), case["example"]


@pytest.mark.long
@pytest.mark.parametrize("sentences", [100, 300, 1312])
def test_false_alarms_are_about_5_in_100(sentences: int, conll14: Path) -> None:
    """Two real systems whose sentences are exchanged at random are as good as each other."""
    corpus = read_corpus(gold=conll14 / "conll14st-test.m2")
    data = next(place for place in conll14.parents if (place / "nusnlp").is_dir())
    folder = next(data.glob("grammatical/evaluation/*/data/original/official_submissions"))
    m2 = parse("m2")
    one, other = (
        chosen_counts(counts, m2.choose(counts))
        for name in ("CAMB", "AMU")
        for counts in [m2.count(corpus, read_hypotheses(folder / name))]
    )
    rng = np.random.default_rng(11)

    def figures(totals: Floats) -> dict[str, Floats]:
        return {"F": m2.score(totals)}

    found: Counter[str] = Counter()
    for case in range(2000):
        which = rng.permutation(len(corpus))[:sentences]
        coins = rng.random((sentences, 1)) < 0.5
        old = np.where(coins, one[which], other[which])
        new = np.where(coins, other[which], one[which])
        p = swap_p_values({0: TwoSystems(figures, old, new)}, sentences, trials=999, rng=case)
        weights = rng.multinomial(sentences, np.full(sentences, 1 / sentences), 500)
        drawn = 100 * (m2.score(weights @ new) - m2.score(weights @ old))
        d = 100 * float(m2.score(new.sum(0)) - m2.score(old.sum(0)))
        low, high = percentiles(drawn).tolist()
        changed, tested = int((old != new).any(axis=1).sum()), (d, low, high, p[0]["F"])
        more = {"interval90": tuple(percentiles(drawn, 0.9).tolist()), "error": float(drawn.std())}
        answer = decide_pair(pair(*tested, sentences=sentences, changed=changed, **more))
        found[answer.outcome] += 1
    assert 0.03 <= (found["better"] + found["worse"]) / 2000 <= 0.07, found
