"""What is drawn depends on what files say, not on the order in which they say it."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from command import errata
from errata.datasets import sample_judgments
from errata.io.judgments import write_judgments


def tables(*arguments: object) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(errata(*arguments, "--json").stdout)["tables"]
    return found


def rows(*arguments: object) -> list[list[tuple[str, object]]]:
    """Every row of every table, numbers to twelve digits, in an order of their own."""
    return [
        sorted((str(sorted(_rounded(row).items())), "") for row in table["rows"])
        for table in tables(*arguments)
    ]


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.11g}") + 0.0
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    return [_rounded(each) for each in value] if isinstance(value, list) else value


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """The sample's judgments, and the same with rankings, outputs and names in another order."""
    judgments, rng = list(sample_judgments()), random.Random(3)
    write_judgments(judgments, tmp_path / "given.jsonl")
    given = (tmp_path / "given.jsonl").read_text("utf-8").splitlines()
    shuffled = []
    for line in given:
        ranking = json.loads(line)
        outputs = list(zip(ranking["groups"], ranking["ranks"], strict=True))
        rng.shuffle(outputs)
        for group, _ in outputs:
            rng.shuffle(group)
        ranking["groups"], ranking["ranks"] = ([part[k] for part in outputs] for k in (0, 1))
        shuffled.append(json.dumps(ranking))
    rng.shuffle(shuffled)
    (tmp_path / "shuffled.jsonl").write_text("\n".join(shuffled) + "\n", "utf-8")
    return tmp_path / "given.jsonl", tmp_path / "shuffled.jsonl"


@pytest.mark.parametrize("unit", ["pairs", "rankings", "sentences", "judges"])
@pytest.mark.parametrize("members", ["all", "sample", "expected"])
def test_rank(files: tuple[Path, Path], unit: str, members: str) -> None:
    given = ("--unit", unit, "--members", members, "--resamples", 50, "--head-to-head")
    assert rows("rank", files[0], *given) == rows("rank", files[1], *given)
    assert rows("rank", files[0], *given) != rows("rank", files[0], *given, "--seed", 1)


@pytest.mark.parametrize("unit", ["rankings", "judges"])
def test_balanced_rank(files: tuple[Path, Path], unit: str) -> None:
    given = ("--unit", unit, "--balanced", "--resamples", 40)
    assert rows("rank", files[0], *given) == rows("rank", files[1], *given)


def test_pairs_that_stand_anywhere(files: tuple[Path, Path], tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.csv"
    write_judgments(sample_judgments(), pairs, form="pairwise")
    head, *lines = pairs.read_text("utf-8").splitlines()
    random.Random(1).shuffle(lines)
    mixed = tmp_path / "mixed.csv"
    mixed.write_text("\n".join([head, *lines]) + "\n", "utf-8")
    given = ("--unit", "rankings", "--resamples", 50)
    assert rows("rank", pairs, *given) == rows("rank", mixed, *given)


@pytest.mark.parametrize("over", ["systems", "judgments", "both"])
def test_meta(files: tuple[Path, Path], over: str) -> None:
    given = ("--sample", "-m", "gleu", "-m", "m2", "--resamples", 50, "--over", over)
    given += ("--convention", "noties", "--convention", "calibrated")
    one, two = (rows("meta", *given, "--judgments", file) for file in files)
    assert one == two


def test_score_files(tmp_path: Path) -> None:
    rng = random.Random(5)
    names = [f"s{k:02}" for k in range(20)]  # so many that tests draw swaps
    given: dict[str, list[Path]] = {"given": [], "mixed": []}
    for file in ("people", "one", "two"):
        lines = [f"{name}\t{rng.random()}" for name in names]
        for order, paths in given.items():
            paths.append(tmp_path / order / f"{file}.tsv")
            paths[-1].parent.mkdir(exist_ok=True)
            paths[-1].write_text("\n".join(lines) + "\n")
            rng.shuffle(lines)
    one, two = (
        rows("meta", "--human", people, "--scores", a, "--scores", b, "--resamples", 100)
        for people, a, b in given.values()
    )
    assert one == two


def test_the_seed_deals_the_folds() -> None:
    def calibrated(seed: int) -> object:
        given = ("--sample", "-m", "m2", "--level", "sentence", "--convention", "calibrated")
        return tables("meta", *given, "--seed", seed)[0]["rows"][0]["value"]

    assert len({calibrated(seed) for seed in range(6)}) > 1
    assert calibrated(0) == calibrated(0)
