"""What cannot be computed, or not in a day, ends in one line before anything is drawn."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import click
import pytest

from command import errata, errata_process
from errata.cli import options

FEW = ("--resamples", "39")


@pytest.mark.parametrize("command", ["rank", "score", "meta", "refs", "stress", "difficulty"])
def test_resamples_are_bounded(command: str) -> None:
    sample = ("gleu",) if command == "stress" else ("--sample",)
    for many in ("1000001", "99999999999999999999"):
        refused = errata(command, *sample, "--resamples", many, code=2)
        assert "more than 1,000,000" in refused.stderr
        assert "--no-limits" in refused.stderr
        assert len(refused.stderr.splitlines()) == 1


def test_the_bound_can_be_lifted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(options, "MOST_RESAMPLES", 50)
    errata("rank", "--sample", "--resamples", "51", code=2)
    for order in (("--no-limits", "--resamples", "51"), ("--resamples", "51", "--no-limits")):
        assert "resamples:51" in errata(*("rank", "--sample", "--signature", "full"), *order).stdout


@pytest.mark.parametrize("command", ["score", "meta"])
def test_intervals_from_few_resamples_are_marked(command: str) -> None:
    given = (command, "--sample", "-m", "gleu", "--resamples")
    assert "intervals are too narrow" in errata(*given, "39").stderr
    assert errata(*given, "40").stderr == ""


@pytest.mark.parametrize(
    ("resamples", "confidence", "said"),
    [
        (0, 0.95, ""),
        (1, 0.95, "1 resample cannot show what lies in 95 % of cases"),
        (39, 0.95, "39 resamples cannot"),
        (40, 0.95, ""),
        (199, 0.99, "in 99 % of cases"),
        (200, 0.99, ""),
        (39, 0.95, "too narrow; use --resamples 1000"),
        (1000, 0.999, "too narrow; use --resamples 2000"),
        (2000, 0.999, ""),
        (1000, 0.9999999999, "too narrow; use a lower --confidence"),
    ],
)
def test_how_many_resamples_are_few(resamples: int, confidence: float, said: str) -> None:
    with click.Context(click.Command("any")), warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        options._bootstrap(resamples, 7, confidence)
    assert [said in str(each.message) for each in found] == ([True] if said else [])


@pytest.mark.parametrize("unit", ["pairs", "rankings", "sentences", "judges"])
def test_no_plan_from_one_judgment(tmp_path: Path, unit: str) -> None:
    one = {"judge": "a", "sentence": 0, "systems": ["A", "B"], "ranks": [1, 2]}
    (tmp_path / "one.jsonl").write_text(json.dumps(one) + "\n")
    refused = errata("plan", tmp_path / "one.jsonl", "--systems", "A", "B", "--unit", unit, code=2)
    assert "only one unit" in refused.stderr or "a pilot of one" in refused.stderr


def test_a_plan_from_little_is_marked(tmp_path: Path) -> None:
    lines = [
        json.dumps({"judge": "a", "sentence": s, "systems": ["A", "B"], "ranks": [1, 1 + s % 3]})
        for s in range(9)
    ]
    (tmp_path / "few.jsonl").write_text("\n".join(lines) + "\n")
    given = ("plan", tmp_path / "few.jsonl", "--systems", "A", "B", "--simulations", "50")
    assert "note: a pilot of 9 sentences is small" in errata(*given).stdout
    assert "is small" not in (
        errata("plan", "--sample", "--systems", "eager", "noisy", "--simulations", "50").stdout
    )


@pytest.mark.parametrize("largest", ["inf", "nan", "1e300", "0.5"])
def test_the_largest_campaign_is_a_number(largest: str) -> None:
    given = ("plan", "--sample", "--systems", "eager", "noisy", "--largest", largest)
    assert "--largest" in errata(*given, code=2).stderr


@pytest.mark.parametrize("ties", ["davidson", "rao_kupper"])
def test_ties_only_have_another_remedy(tmp_path: Path, ties: str) -> None:
    lines = [
        json.dumps({"judge": "a", "sentence": s, "systems": ["A", "B"], "ranks": [1, 1]})
        for s in range(3)
    ]
    (tmp_path / "ties.jsonl").write_text("\n".join(lines) + "\n")
    for prior in (0.0, 0.1):
        ranker = f"bradley_terry(ties={ties}, prior={prior})"
        refused = errata("rank", tmp_path / "ties.jsonl", "--ranker", ranker, code=2)
        assert "nobody beat anybody" in refused.stderr
        assert "prior=0.1" not in refused.stderr.partition(";")[2]
    errata("rank", tmp_path / "ties.jsonl", "--ranker", "bradley_terry(ties=half)")


@pytest.mark.slow
def test_many_systems_need_little_memory(tmp_path: Path) -> None:
    """600 systems had 8 GB of counts at a time; a limit of 2 GB of address space is enough."""
    import numpy as np

    rng = np.random.default_rng(0)
    lines = []
    for s in range(1500):
        shown = [f"s{k:03}" for k in rng.choice(600, 5, replace=False)]
        ranks = rng.integers(1, 6, 5).tolist()
        lines.append(json.dumps({"judge": "a", "sentence": s, "systems": shown, "ranks": ranks}))
    (tmp_path / "many.jsonl").write_text("\n".join(lines) + "\n")
    done = errata_process("rank", tmp_path / "many.jsonl", "--resamples", "200", "--json")
    assert len(json.loads(done.stdout)["tables"][0]["rows"]) == 600
