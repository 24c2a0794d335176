"""Items: outputs grouped, everybody meeting everybody, controls that are visibly worse."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from campaigns import material
from errata.collect import budget
from errata.collect.design import Design
from errata.collect.items import (
    BuiltCampaign,
    CampaignTexts,
    Example,
    build_items,
    choose_sentences,
    coverage,
    different_outputs,
    normalise_space,
    stratum_of,
    wmt_weight,
)
from errata.collect.schedule import SystemStrengths, matchmake, strengths_of
from errata.core.errors import InputError
from errata.data import Judgment
from errata.human import compare, parse_ranker
from errata.human.comparisons import Counts

KINDS = ("rank", "pair", "score", "edits", "correct", "review")


def meetings(built: BuiltCampaign, systems: int) -> np.ndarray:
    met = np.zeros((systems, systems))
    for item in built.items:
        if item.purpose == "main":
            groups = [built.outputs[o.output].systems for o in item.outputs]
            for a, b in combinations(groups, 2):
                for x in a:
                    for y in b:
                        met[int(x[1:]), int(y[1:])] += item.wanted or 0
                        met[int(y[1:]), int(x[1:])] += item.wanted or 0
    return met


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(KINDS),
    st.integers(4, 30),
    st.integers(2, 7),
    st.integers(1, 5),
    st.integers(0, 99),
    st.one_of(st.none(), st.integers(1, 100)),
    st.booleans(),
)
def test_items_are_what_the_design_says(
    kind: str, sentences: int, systems: int, judges: int, seed: int, wanted: int | None, other: bool
) -> None:
    texts = material(sentences, systems, seed)
    design = Design(kind=kind, judges=judges, seed=seed, other_outputs=other)  # type: ignore[arg-type]
    if kind in ("rank", "pair") and all(
        len(different_outputs(texts, i)) < 2 for i in range(sentences)
    ):
        with pytest.raises(InputError, match="no sentence"):
            build_items(design, texts, wanted)
        return
    built = build_items(design, texts, wanted)
    assert built == build_items(design, texts, wanted)
    known = {s.number for s in built.sentences}
    alone: dict[int, int] = {}
    for item in built.items:
        assert item.sentence in known
        shown = [built.outputs[o.output] for o in item.outputs]
        assert all(o.sentence == item.sentence for o in shown)
        texts_shown = [
            normalise_space(o.replacement or s.text)
            for o, s in zip(item.outputs, shown, strict=True)
        ]
        assert len(set(texts_shown)) == len(texts_shown)
        if kind in ("rank", "pair"):
            assert 2 <= len(item.outputs) <= design.outputs
        if item.purpose == "main":
            assert 1 <= (item.wanted or 0) <= max(1, judges) or kind == "correct"
            alone[item.sentence] = alone.get(item.sentence, 0) + (item.wanted or 0)
        else:
            assert item.wanted is None
            assert item.sentence not in alone
    if kind in ("rank", "pair", "edits") and not other:
        assert max(alone.values()) <= max(1, judges)  # enough judges who have not seen it
    for sentence in built.sentences:
        assert 0 <= sentence.probability <= 1
        assert sentence.probability > 0 or sentence.number not in alone


def test_outputs_equal_up_to_blanks_are_one() -> None:
    texts = CampaignTexts(("a b",), {"X": ("a  c",), "Y": (" a c ",), "Z": ("a b",)})
    found = different_outputs(texts, 0)
    assert [o.systems for o in found] == [("X", "Y"), ("Z",)]


def test_sentences_without_difference_are_left_out_and_counted() -> None:
    texts = CampaignTexts(("a b", "c d"), {"X": ("a c", "c d"), "Y": ("a b", "c  d")})
    built = build_items(Design(controls=0), texts)
    assert built.alike == 1
    assert {item.sentence for item in built.items} == {0}
    with pytest.raises(InputError, match="two different outputs"):
        build_items(Design(), CampaignTexts(("a",), {"X": ("a",), "Y": ("a",)}))


def test_balanced_items_let_all_pairs_meet_alike() -> None:
    texts = material(150, 9, 4, sharing=0.0)
    spread = {}
    for policy in ("balanced", "random"):
        built = build_items(Design(policy=policy, outputs=4, controls=0), texts)  # type: ignore[arg-type]
        met = meetings(built, 9)[np.triu_indices(9, 1)]
        spread[policy] = met.max() - met.min()
    assert spread["balanced"] <= 3 < spread["random"]


def test_other_kinds_show_what_was_judged_least_and_writing_has_no_controls() -> None:
    for kind in ("correct", "review"):
        built = build_items(Design(kind=kind), material(40, 3))  # type: ignore[arg-type]
        assert {item.purpose for item in built.items} == {"main"}
    built = build_items(Design(kind="score", overlap=0, controls=0), material(20, 5, 1))
    shown = [o.output for item in built.items for o in item.outputs]
    assert sorted(shown) == list(range(len(built.outputs)))  # each output once


def test_the_overlap_has_its_share() -> None:
    built = build_items(Design(judges=4, controls=0), material(80, 6, 2))
    main = [item.wanted for item in built.items if item.purpose == "main"]
    assert main.count(2) == round(0.25 * len(main))


@pytest.mark.parametrize("kind", ["rank", "pair", "score", "edits"])
def test_controls_hold_a_damaged_copy(kind: str) -> None:
    design = Design(kind=kind, judges=2, quota=60)  # type: ignore[arg-type]
    built = build_items(design, material(60, 5, 3), 60)
    controls = [item for item in built.items if item.purpose == "control"]
    assert len(controls) == 6  # twice the three of a judge
    main = {item.sentence for item in built.items if item.purpose == "main"}
    for item in controls:
        assert item.sentence not in main
        assert item.expected is not None
        spoilt = item.outputs[item.expected["worse"]].replacement
        assert spoilt
        assert sum(bool(o.replacement) for o in item.outputs) == 1
        if kind != "score":
            good = built.outputs[item.outputs[item.expected["better"]].output].text
            assert spoilt != good
            assert set(spoilt.split()) <= set(good.split())  # made of it, and of nothing else


def test_own_examples_come_with_sentences_of_their_own() -> None:
    own = Example("He go .", ("He goes .", "He go go ."), {"worse": 1, "better": 0})
    built = build_items(Design(), material(10, 3), examples=[own])
    example = built.items[0]
    assert (example.purpose, example.sentence) == ("tutorial", 10)
    assert [built.outputs[o.output].text for o in example.outputs] == list(own.outputs)
    with pytest.raises(InputError, match="the same"):
        build_items(Design(), material(10, 3), examples=[Example("a", ("b", "b "), {})])


def test_corrections_are_wanted_for_each_instruction_and_slot() -> None:
    design = Design(kind="correct", instructions=("minimal", "fluency"), slots=2, judges=4)
    built = build_items(design, material(5, 2))
    assert len(built.items) == 10
    assert {(item.policy, item.wanted, item.outputs) for item in built.items} == {
        ("minimal", 2, ()),
        ("fluency", 2, ()),
    }
    budget.check_capacity(design, built)
    with pytest.raises(InputError, match="4 corrections of a sentence need as many judges"):
        budget.check_capacity(Design(kind="correct", slots=4, judges=3), built)


def test_what_will_happen_is_said() -> None:
    design = Design(judges=2, rate=20.0)
    built = build_items(design, material(60, 6, 2))
    found = budget.outlook(design, built)
    shared = [i for i in built.items if i.wanted == 2]
    assert found.common_items == len(shared)
    pairs = sum(len(i.outputs) * (len(i.outputs) - 1) // 2 for i in shared)
    assert found.common_pairs == pairs
    assert found.tasks == round(found.judgments / 0.9)
    assert found.hours == pytest.approx(found.tasks * 54 / 3600)
    assert found.cost == pytest.approx((found.hours or 0) * 20)
    few = budget.outlook(design, build_items(design, material(8, 6, 2)))
    assert any("κ needs 50" in note for note in few.notes)


def test_seconds_are_the_published_ones_until_there_are_own() -> None:
    known = [budget.seconds_per_task(Design(outputs=n)) for n in (2, 3, 4, 5, 6)]
    assert known == [13, 21, 31, 54, 77]
    assert budget.seconds_per_task(Design(), [1.0, 9.0]) == 5
    assert budget.seconds_per_task(Design(kind="edits")) is None
    assert budget.seconds_per_task(Design(kind="edits", seconds=8.0)) == 8


def test_budgets_become_judgments() -> None:
    assert budget.judgments_wanted(Design()) is None
    assert budget.judgments_wanted(Design(rankings=77)) == 77
    assert budget.judgments_wanted(Design(hours=5.4)) == 324  # 360 tasks, a tenth of them checks
    assert budget.judgments_wanted(Design(money=108.0, rate=20.0)) == 324
    with pytest.raises(InputError, match="give seconds"):
        budget.judgments_wanted(Design(kind="edits", hours=1.0))
    with pytest.raises(InputError, match="less than one"):
        budget.judgments_wanted(Design(hours=0.001))
    assert budget.judgments_wanted(Design(hours=1.0, seconds=1e-300)) == 900_000_000
    # Answers of programs take no time at all, which says nothing of people.
    assert budget.judgments_wanted(Design(hours=5.4), [0.0, 0.0, 0.0]) == 324


def test_quotas_that_do_not_suffice_are_refused_with_numbers() -> None:
    design = Design(judges=2, quota=40, rankings=90)
    assert budget.main_tasks(design, 40) == 36
    built = build_items(design, material(120, 5), budget.judgments_wanted(design))
    with pytest.raises(InputError, match=r"give 72 judgments \(36 each.*\), and 90 are wanted"):
        budget.check_capacity(design, built)
    budget.check_capacity(Design(judges=2, quota=50, rankings=90), built)


def ranked(wins: int, losses: int) -> list[Judgment]:
    return [
        Judgment("j", i, (("A",), ("B",), ("C",)), (1, 2, 3) if i < wins else (2, 1, 3))
        for i in range(wins + losses)
    ]


def test_stop_rules_are_looked_at_with_a_share_of_alpha() -> None:
    design = Design(until=("A>B", "clusters=3", "clusters=2"), looks=4)
    assert budget.interim_points(design, 10) == (2, 5, 7, 10)
    clear = budget.check_interim(design, compare(ranked(60, 10)), parse_ranker("net_wins"))
    close = budget.check_interim(design, compare(ranked(36, 34)), parse_ranker("net_wins"))
    assert [look.met for look in clear] == [True, True, True]
    assert [look.met for look in close] == [False, False, True]
    assert {look.confidence for look in clear} == {1 - 0.05 / 4}
    # At 0.95 it would be met, and at 1 - α / K it is not.
    edge = compare(ranked(45, 25))
    assert budget.check_interim(Design(until=("A>B",), looks=1), edge, parse_ranker("net_wins"))[
        0
    ].met
    assert not budget.check_interim(
        Design(until=("A>B",), looks=40), edge, parse_ranker("net_wins")
    )[0].met


def test_rules_name_systems_that_are_there() -> None:
    budget.check_rules(Design(until=("A > B", "clusters=2")), ["A", "B"])
    with pytest.raises(InputError, match="'C', which is no system"):
        budget.check_rules(Design(until=("A>C",)), ["A", "B"])


def test_the_matchmaker_seeks_doubt_and_equals() -> None:
    wins = np.zeros((4, 4))
    wins[0, 1], wins[1, 0] = 40, 38
    wins[0, 2], wins[1, 2] = 60, 60
    wins[0, 3], wins[3, 0] = 2, 2  # hardly known
    standing = strengths_of(Counts(wins, np.zeros((4, 4))))
    assert standing.variance.argmax() == 3
    assert standing.strength[2] == standing.strength.min()
    rng = np.random.default_rng(0)
    drawn = [tuple(sorted(matchmake([[0], [1], [2], [3]], standing, rng))) for _ in range(500)]
    with_three = sum(3 in pair for pair in drawn) / 500
    assert with_three > 0.8
    assert drawn.count((2, 3)) < drawn.count((0, 3))
    shown = np.zeros((4, 4))
    for a, b in drawn:
        shown[a, b] += 1
    assert shown[0, 1] == 0  # met often and known well


def test_one_adaptive_pair_in_five_is_chosen_by_balance() -> None:
    """The pair that never met is found by balance alone: the matchmaker wants the doubtful one."""
    met = np.full((4, 4), 10.0)
    met[0, 1] = met[1, 0] = 0
    standing = SystemStrengths(np.zeros(4), np.array([0.1, 0.1, 0.1, 0.9]), met)
    rng = np.random.default_rng(0)
    draws = [{*matchmake([[0], [1], [2], [3]], standing, rng)} for _ in range(5000)]
    share = sum(draw == {0, 1} for draw in draws) / len(draws)
    assert share == pytest.approx(0.2, abs=4 * (0.2 * 0.8 / 5000) ** 0.5)
    assert all(3 in draw for draw in draws if draw != {0, 1})


def test_variances_are_those_of_the_posterior() -> None:
    """Against the curvature of the log posterior, by differences."""
    rng = np.random.default_rng(2)
    wins = rng.integers(0, 9, (3, 3)).astype(float)
    np.fill_diagonal(wins, 0)
    standing = strengths_of(Counts(wins, np.zeros((3, 3))))

    def log_posterior(x: np.ndarray) -> float:
        apart = x[:, None] - x[None, :]
        return float(-(wins * np.log1p(np.exp(-apart))).sum() - (x**2).sum() / 2)

    step, hessian = 1e-4, np.zeros((3, 3))
    for a in range(3):
        for b in range(3):
            ea, eb = np.eye(3)[a] * step, np.eye(3)[b] * step
            x = standing.strength
            hessian[a, b] = (
                log_posterior(x + ea + eb)
                - log_posterior(x + ea - eb)
                - log_posterior(x - ea + eb)
                + log_posterior(x - ea - eb)
            ) / (4 * step**2)
    assert standing.variance == pytest.approx(np.diag(np.linalg.inv(-hessian)), rel=1e-4)


STRATA = ["short", "short", "long", "long", "long", "long"]


@given(
    st.lists(st.floats(0.01, 10), min_size=1, max_size=30),
    st.integers(1, 60),
    st.integers(1, 3),
    st.integers(0, 2**32),
    st.sampled_from(["all", "uniform", "wmt", "strata"]),
    st.sampled_from(["proportional", "equal"]),
)
def test_as_many_as_wanted_and_none_too_often(
    weights: list[float], wanted: int, most: int, seed: int, sampling: str, allotment: str
) -> None:
    strata = [str(k % 3) for k in range(len(weights))]
    rng = np.random.default_rng(seed)
    found = choose_sentences(  # type: ignore[call-overload, arg-type, unused-ignore]
        sampling, np.array(weights), strata, wanted, rng, most=most, allotment=allotment
    )
    assert found.items.sum() == min(wanted, most * len(weights))
    assert found.items.max() <= most
    assert (found.items[found.probability == 1] >= 1).all()
    assert ((found.probability > 0) & (found.probability <= 1)).all()


@pytest.mark.parametrize("sampling", ["uniform", "wmt", "strata"])
def test_the_probability_of_inclusion_is_what_happens(sampling: str) -> None:
    weights = np.array([4.0, 1.0, 1.0, 1.0, 1.0, 2.0])
    seen = np.zeros(6)
    draws = 4000
    rng = np.random.default_rng(1)
    for _ in range(draws):
        found = choose_sentences(  # type: ignore[arg-type]
            sampling, weights, STRATA, 3, rng, allotment="equal"
        )
        seen += found.items
    assert found.probability.sum() == pytest.approx(3)
    # Four standard errors of a share of 4,000 draws.
    assert np.abs(seen / draws - found.probability).max() < 4 * 0.5 / np.sqrt(draws)
    if sampling == "wmt":  # 3 * 4 / 10 is cut to 1; the others share the rest by their weights
        assert found.probability.tolist() == pytest.approx([1, *[2 / 6] * 4, 4 / 6])
    if sampling == "strata":
        assert found.probability.tolist() == pytest.approx([0.75] * 2 + [0.375] * 4)


def test_the_rule_of_the_wmt() -> None:
    """C(M, 2) / C(Cᵢ, 2): of 13 systems with 13 outputs 5 are covered, with 5 outputs all 13."""
    assert coverage([1] * 13, 5) == 5
    assert coverage([9, 1, 1, 1, 1], 5) == 13
    assert wmt_weight([1] * 13, 5) == pytest.approx(1)
    assert wmt_weight([9, 1, 1, 1, 1], 5) == pytest.approx(10 / 78)
    assert wmt_weight([12, 1], 5) == pytest.approx(10 / 78)


def test_covered_is_the_mean_over_all_choices() -> None:
    from itertools import combinations

    groups = [4, 2, 1, 1, 3]
    exact = np.mean([sum(each) for each in combinations(groups, 3)])
    assert coverage(groups, 3) == pytest.approx(exact)


def test_strata_have_names() -> None:
    assert [stratum_of(n, 2) for n in (9, 10, 30)] == [
        "0-9 tokens, 2 outputs",
        "10-19 tokens, 2 outputs",
        "30+ tokens, 2 outputs",
    ]


def test_nothing_to_choose_from() -> None:
    with pytest.raises(InputError, match="no sentence"):
        choose_sentences("all", np.ones(0), [], 3, np.random.default_rng(0))
