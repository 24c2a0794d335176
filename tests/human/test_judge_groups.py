"""Judges in groups: κ and rankings of groups, against single judges and a plain second way."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from command import errata
from errata.data import Judgment
from errata.datasets import sample_judgments
from errata.human import compare, parse_ranker
from errata.human.agreement import (
    ChanceModel,
    KappaWeights,
    group_agreement,
    judge_agreement,
    judge_correlations,
    kappa,
)


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
