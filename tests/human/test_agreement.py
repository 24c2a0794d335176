"""Agreement of judges and of groups: the published figures, and second implementations."""

import ast
import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import krippendorff as reference
import numpy as np
import pytest

from command import errata
from errata.core.errors import DataWarning, InputError
from errata.data import Judgment
from errata.datasets import sample_judgments
from errata.human import compare, parse_ranker
from errata.human.agreement import (
    ChanceModel,
    KappaWeights,
    _outlying_judges,
    group_agreement,
    judge_agreement,
    judge_correlations,
    kappa,
    krippendorff,
    pooled_kappa,
)
from errata.human.output_pairs import output_pairs
from errata.io.judgments import read_judgments
from human_data import grundkiewicz, grundkiewicz_comparisons, sakaguchi_file, submissions


def test_grundkiewicz_table_2(oracles: Path) -> None:
    """.2927 between judges, .4552 within, and all 36 cells with their counts."""
    known = json.loads((oracles / "meta/grundkiewicz_agreement.json").read_text())
    found = judge_agreement(grundkiewicz())
    assert found.between == pytest.approx(known["inter"], abs=1e-12)
    assert found.within == pytest.approx(known["intra"], abs=1e-12)
    assert (f"{found.between:.4f}", f"{found.within:.4f}") == ("0.2927", "0.4552")
    assert len(known["table"]) == 36
    for pair, (value, count) in known["table"].items():
        a, b = (found.judges.index(f"annotator0{n}") for n in pair)
        assert found.counts[a, b] == found.counts[b, a] == count
        if count:
            assert found.kappa[a, b] == pytest.approx(value, abs=1e-12)
    assert found.outsiders == ()


def test_grundkiewicz_table_6(oracles: Path) -> None:
    known = json.loads((oracles / "meta/grundkiewicz_judges.json").read_text())
    found = judge_correlations(grundkiewicz_comparisons(), digits=4)
    assert len(known["pairs_rho_r"]) == 28
    for pair, values in known["pairs_rho_r"].items():
        a, b = (int(n) - 1 for n in pair)
        np.testing.assert_allclose((found.rho[a, b], found.r[a, b]), values, rtol=0, atol=1e-12)
    for j, judge in enumerate(found.judges):
        np.testing.assert_allclose(
            (found.rest_rho[j], found.rest_r[j]), known["loo_rho_r"][judge], rtol=0, atol=1e-12
        )


def experts() -> list[Judgment]:
    """The judgments in highAgreedAMU.txt as computeIAA.py reads them: the first key of a line."""
    read = []
    for line in sakaguchi_file("highAgreedAMU.txt").read_text(encoding="utf-8").splitlines():
        sentence, _, table = line.split("\t")
        key, rankings = next(iter(ast.literal_eval(table).items()))
        groups = tuple(tuple(group.split()) for group in key.split("||"))
        # The script takes 1 off, though the numbers count from 0.
        read += [
            Judgment("expert", int(sentence) - 1, groups, tuple(map(int, ranks)))
            for ranks in rankings
        ]
    return read


def test_sakaguchi_table_7(oracles: Path) -> None:
    """Rows 1 and 2 to the two digits printed; row 3 compares different sentences."""
    known = json.loads((oracles / "meta/sakaguchi_agreement.json").read_text())
    workers = list(
        read_judgments(
            sakaguchi_file("Ctrl_merged.csv"), labels="given", statuses=("Approved", "Rejected")
        )
    )
    for orientation, oracle in (("presented", "as_published_code"), ("consistent", "reoriented")):
        groups = [output_pairs(judged, orientation=orientation) for judged in (workers, experts())]
        often = [
            {key for key, times in zip(g.keys, g.tallies().sum(1), strict=True) if times > 1}
            for g in groups
        ]
        shared = often[0] & often[1]
        for group, row, printed in zip(
            groups, ("nonexpert", "expert"), ((".29", ".43"), (".29", ".45")), strict=True
        ):
            chosen = group.select(np.array([group.keys[k] in shared for k in group.key]))
            plain, weighted = (pooled_kappa(chosen, weights=w) for w in ("none", "quadratic"))
            values = known[oracle][row]
            assert abs(plain.value - values["kappa"]) < 0.0025
            assert abs(weighted.value - values["quadratic"]) < 0.0025
            if row == "nonexpert":
                assert plain.count == values["n"]
            if orientation == "presented":
                assert (f"{plain.value:.2f}"[1:], f"{weighted.value:.2f}"[1:]) == printed


@pytest.mark.slow
def test_experts_and_workers_agree_on_the_same_texts() -> None:
    """Row 3 of Table 7 compares different sentences: chance level, and .29 once matched by text."""
    path = sakaguchi_file("Ctrl_merged.csv")
    statuses = ("Approved", "Rejected")
    given = list(read_judgments(path, statuses=statuses, labels="given"))
    with pytest.warns(DataWarning, match="corrected"):
        by_text = list(
            read_judgments(path, statuses=statuses, labels="text", outputs=submissions())
        )

    def between(workers: list[Judgment], shift: int) -> float:
        both = [replace(j, judge="worker") for j in workers] + [
            replace(j, judge="expert", sentence=j.sentence + shift) for j in grundkiewicz()
        ]
        return judge_agreement(both, chance="cohen").between

    assert between(given, -1) == pytest.approx(0.034, abs=5e-4)  # as published
    assert between(by_text, 0) == pytest.approx(0.288, abs=5e-4)
    people = tuple(sorted({j.judge for j in grundkiewicz()}))
    groups = {"experts": people, "crowd": ("*",)}
    ranker = parse_ranker("trueskill_meanfield")
    found = group_agreement([*by_text, *grundkiewicz()], groups, chance="cohen", ranker=ranker)
    assert found.kappa[0, 1] == pytest.approx(0.288, abs=5e-4)
    assert found.kappa.diagonal() == pytest.approx([0.300, 0.267], abs=5e-4)
    assert found.correlations is not None  # printed .917 and .876, of labels one sentence off
    assert found.correlations.rho[0, 1] == pytest.approx(0.923, abs=5e-4)
    assert found.correlations.r[0, 1] == pytest.approx(0.920, abs=5e-4)


def cohen(x: np.ndarray, y: np.ndarray, power: int) -> float:
    """Cohen's κ written out from two lists of ratings."""
    distance = np.abs(x - y) ** power if power else (x != y).astype(float)
    chance = np.array([[abs(a - b) ** power if power else a != b for b in y] for a in x])
    return 1 - distance.mean() / chance.mean()


@pytest.mark.parametrize(("weights", "power"), [("none", 0), ("linear", 1), ("quadratic", 2)])
def test_cohen(weights: str, power: int) -> None:
    rng = np.random.default_rng(3)
    x = rng.integers(-1, 2, 200)
    y = np.where(rng.random(200) < 0.5, x, rng.integers(-1, 2, 200))
    table = np.zeros((3, 3))
    np.add.at(table, (x + 1, y + 1), 1)
    assert kappa(table, weights=weights).value == pytest.approx(cohen(x, y, power), abs=1e-12)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_krippendorff(level: str) -> None:
    """Against the krippendorff package, with missing decisions."""
    rng = np.random.default_rng(5)
    truth = rng.integers(-1, 2, 60)
    ratings = np.where(rng.random((4, 60)) < 0.6, truth, rng.integers(-1, 2, (4, 60))).astype(float)
    ratings[rng.random((4, 60)) < 0.3] = np.nan
    judgments = [
        Judgment(f"j{j}", i, (("A",), ("B",)), (2, int(2 + ratings[j, i])))
        for j in range(4)
        for i in range(60)
        if not np.isnan(ratings[j, i])
    ]
    known = reference.alpha(
        reliability_data=ratings, level_of_measurement=level, value_domain=[-1.0, 0.0, 1.0]
    )
    assert krippendorff(output_pairs(judgments), level=level) == pytest.approx(known, abs=1e-12)
    # A judge's second decision on the same outputs is about that judge, not about agreement.
    again = [*judgments, *judgments[:10]]
    assert krippendorff(output_pairs(again), level=level) == pytest.approx(known, abs=1e-12)


def test_many_tests_are_corrected_for() -> None:
    """One κ of six at two standard errors is chance; alone it would be agreement."""

    def outsiders(others: int) -> tuple[str, ...]:
        n = others + 1
        values, counts = np.full((n, n), 0.9), np.full((n, n), 100.0)
        errors = np.full((n, n), 0.1)
        values[0] = values[:, 0] = 0.0
        values[0, 1] = values[1, 0] = 0.2
        return _outlying_judges(tuple("abcdefg"[:n]), values, counts, errors, 50, 0.95)

    assert outsiders(1) == ()
    assert outsiders(6) == ("a",)


def biased_campaign(names: str) -> list[Judgment]:
    """Four judges who see the same differences, and one who turns every ranking round."""
    rng = np.random.default_rng(1)
    read = []
    for i in range(200):
        for judge in ("ann", "bob", "cat", "dan", "eve"):
            quality = np.arange(5, 0, -1) / 2 + rng.normal(size=5)
            order = np.argsort(np.argsort(quality if judge == "eve" else -quality)) + 1
            read.append(Judgment(judge, i, tuple((name,) for name in names), tuple(order.tolist())))
    return read


@pytest.mark.parametrize("names", ["ABCDE", "EDCBA", "CAEBD"])
def test_a_contrary_judge_is_flagged_whatever_the_names(names: str) -> None:
    """Not so the others, even if good systems have early names, where pooled chance is high."""
    read = biased_campaign(names)
    found = judge_agreement(read)
    assert found.outsiders == ("eve",)
    assert (found.kappa[4, :4] < 0).all()
    rest = judge_correlations(compare(read))
    assert (rest.rest_rho[:4] > 0.9).all()
    assert rest.rest_rho[4] < -0.9


def test_judges_who_share_nothing() -> None:
    found = judge_agreement(
        [Judgment("ann", 0, (("A",), ("B",)), (1, 2)), Judgment("bob", 1, (("A",), ("B",)), (1, 2))]
    )
    assert np.isnan(found.kappa[0, 1])
    assert found.counts[0, 1] == 0
    assert np.isnan(found.between)
    assert np.isnan(found.alpha)
    with pytest.raises(InputError, match="only one judge"):
        judge_correlations(compare([Judgment("ann", 0, (("A",), ("B",)), (1, 2))]))
    with pytest.raises(InputError, match="chance 'luck' is unknown"):
        judge_agreement([], chance="luck")


def drawn(seed: int, judges: int = 5, sentences: int = 12) -> list[Judgment]:
    """Rankings of two to four outputs; judges look at some sentences, and at some twice."""
    rng = np.random.default_rng(seed)
    found = []
    for j in range(judges):
        for i in rng.integers(0, sentences, sentences):
            names = rng.permutation(list("ABCD"))[: rng.integers(2, 5)]
            groups = tuple((str(name),) for name in names)
            ranks = tuple(int(r) for r in rng.integers(1, 4, len(names)))
            found.append(Judgment(f"j{j}", int(i), groups, ranks, item=f"{j}-{len(found)}"))
    return found


def decisions(judgments: list[Judgment]) -> list[tuple[str, tuple[int, str, str], int]]:
    """Who said what of which two outputs: written out."""
    rows = []
    for judgment in judgments:
        ranked = [(g[0], r) for g, r in zip(judgment.groups, judgment.ranks, strict=True)]
        for (a, x), (b, y) in combinations(sorted(ranked), 2):
            rows.append((judgment.judge, (judgment.sentence, a, b), (y > x) - (y < x)))
    return rows


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("chance", "weights"), [("pooled", "none"), ("cohen", "quadratic")])
def test_all_pairs_of_decisions_written_out(
    seed: int, chance: ChanceModel, weights: KappaWeights
) -> None:
    judgments = drawn(seed)
    groups = {"x": ("j0", "j1", "j2"), "y": ("j3", "j4")}
    found = group_agreement(judgments, groups, chance=chance, weights=weights)
    rows = decisions(judgments)
    for a, first in enumerate(groups.values()):
        for b, second in enumerate(groups.values()):
            table = np.zeros((3, 3))
            met: dict[tuple[str, object], None] = {}
            shares = np.zeros(3)
            for j, key, one in rows:
                for k, other_key, other in rows:
                    if key == other_key and j in first and k in second and j != k:
                        table[one + 1, other + 1] += 1
                        met[j, key] = met[k, key] = None
            for j, key, one in rows:
                shares[one + 1] += (j, key) in met
            if a == b:
                table /= 2  # each pair of decisions was met both ways round
            pooled = None if chance == "cohen" else shares
            expected = kappa(table, weights=weights, pooled=pooled)
            assert found.counts[a, b] == expected.count == found.counts[b, a]
            assert found.kappa[a, b] == pytest.approx(expected.value, nan_ok=True)


def test_groups_of_one_judge_are_the_judges() -> None:
    judgments = sample_judgments()
    single = judge_agreement(judgments)
    groups = {f"group {name}": (name,) for name in reversed(single.judges)}
    found = group_agreement(judgments, groups)
    order = [single.judges.index(judges[0]) for judges in groups.values()]
    apart = ~np.eye(len(order), dtype=bool)
    assert found.kappa[apart] == pytest.approx(single.kappa[np.ix_(order, order)][apart])
    assert np.isnan(np.diag(found.kappa)).all()  # nobody to agree with
    ranks = judge_correlations(compare(judgments, keep="judges"))
    assert found.correlations.judges == tuple(groups)
    for mine, theirs in ((found.correlations.rho, ranks.rho), (found.correlations.r, ranks.r)):
        assert mine[apart] == pytest.approx(theirs[np.ix_(order, order)][apart])


def test_a_group_ranks_as_its_judgments_alone_do() -> None:
    judgments = sample_judgments()
    ranker = parse_ranker("net_wins")
    found = group_agreement(judgments, {"two": ("ana", "bo"), "one": ("cleo",)}, ranker=ranker)
    alone = compare([j for j in judgments if j.judge != "cleo"])
    assert found.correlations.scores[0] == pytest.approx(ranker.score(alone.counts()))


def tables(*arguments: object) -> dict[str, Any]:
    done = errata("agree", *arguments, "--json")
    return {table["name"]: table for table in json.loads(done.stdout)["tables"]}


def test_the_command(tmp_path: Path) -> None:
    found = tables("--sample", "--group", "two=ana,bo", "--group", "rest=*")
    plain = tables("--sample")
    assert {name: found[name] for name in plain} == plain  # what was there stays as it was
    (two, rest), (pair,) = found["groups"]["rows"], found["group_pairs"]["rows"]
    assert two["judges"] == 2
    assert two["κ"] == plain["agreement_matrix"]["rows"][0]["bo"]
    assert (rest["judges"], rest["κ"], rest["pairs of decisions"]) == (1, None, 0)
    assert "group:rest=cleo" in found["group_pairs"]["signature"]
    cleo = plain["judge_correlations"]["rows"][2]
    assert (pair["ρ"], pair["r"]) == (cleo["ρ others"], cleo["r others"])
    (tmp_path / "two.txt").write_text("ana\nbo\n")
    named = tables("--sample", "--group", f"two={tmp_path}/two.txt", "--group", "rest=cleo")
    assert named == found
    alone = tables("--sample", "--group", "two=ana,bo")
    assert "group_pairs" not in alone
    assert "left out: cleo" in alone["groups"]["caption"]
    fewer = tables("--sample", "--group", "two=ana,bo", "--group", "rest=*", "--without", "noisy")
    assert "noisy" not in str(fewer["group_rankings"]["rows"])
    assert fewer["group_pairs"]["rows"][0]["r"] != pair["r"]


@pytest.mark.parametrize(
    ("groups", "said"),
    [
        ("ana", "--group 'ana' does not name a group"),
        ("=ana", "--group '=ana' does not name a group"),
        ("a=ana a=bo", "two groups are called 'a'"),
        ("a=", "the group 'a' has no judge"),
        ("a=ana,", "--group 'ana,' has an empty name"),
        ("a=ana b=bo,ana", "the judge 'ana' is in the groups 'a' and 'b'"),
        ("a=ana,ana", "the judge 'ana' is in the group 'a' twice"),
        ("a=anna", "no judgment by 'anna', of the group 'a'; did you mean 'ana'?"),
        ("a=* b=*", "all other judges are in the groups 'a' and 'b'"),
        ("a=ana,bo,cleo b=*", "the group 'b' has no judge"),
        ("system=ana", "a group cannot be called 'system'"),
    ],
)
def test_what_is_no_group_is_refused(groups: str, said: str) -> None:
    given = [word for group in groups.split() for word in ("--group", group)]
    done = errata("agree", "--sample", *given, code=2)
    assert done.stderr.startswith(f"errata: {said}"), done.stderr


def test_a_file_of_judges_may_have_remarks_and_says_its_line(tmp_path: Path) -> None:
    file = tmp_path / "judges.txt"
    file.write_text("ana\n# who came later:\n\nbo\n")
    given = ("agree", "--sample", "--json", "--group", f"two={file}")
    assert "group:two=ana,bo" in errata(*given).stdout
    file.write_text("# nobody\n")
    assert "judges.txt: no name" in errata(*given, code=2).stderr


def test_a_picture_needs_two_groups() -> None:
    done = errata("agree", "--sample", "--group", "a=ana", "--figure", "x.svg", code=2)
    assert "--figure needs two groups or more" in done.stderr
