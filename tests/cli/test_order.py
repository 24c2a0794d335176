"""Results depend on what files contain, not on the order of their lines."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from command import tables
from errata.datasets import sample_judgments
from errata.io.judgments import write_judgments


def rows(line: str, cwd: Path) -> list[list[str]]:
    """Every row of every table, numbers to eleven digits, in an order of their own."""
    return [
        sorted(str(sorted(_rounded(row).items())) for row in table["rows"])
        for table in tables(line, cwd=cwd).values()
    ]


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.11g}") + 0.0
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    return [_rounded(each) for each in value] if isinstance(value, list) else value


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample's judgments, and the same with rankings, outputs and names in another order."""
    folder, rng = tmp_path_factory.mktemp("order"), random.Random(3)
    write_judgments(list(sample_judgments()), folder / "given.jsonl")
    shuffled = []
    for line in (folder / "given.jsonl").read_text("utf-8").splitlines():
        ranking = json.loads(line)
        outputs = list(zip(ranking["groups"], ranking["ranks"], strict=True))
        rng.shuffle(outputs)
        for group, _ in outputs:
            rng.shuffle(group)
        ranking["groups"], ranking["ranks"] = ([part[k] for part in outputs] for k in (0, 1))
        shuffled.append(json.dumps(ranking))
    rng.shuffle(shuffled)
    (folder / "shuffled.jsonl").write_text("\n".join(shuffled) + "\n", "utf-8")
    write_judgments(sample_judgments(), folder / "given.csv", form="pairwise")
    head, *pairs = (folder / "given.csv").read_text("utf-8").splitlines()
    rng.shuffle(pairs)
    (folder / "shuffled.csv").write_text("\n".join([head, *pairs]) + "\n", "utf-8")
    names = [f"s{k:02}" for k in range(20)]  # so many that tests draw swaps
    for file in ("people", "one", "two"):
        lines = [f"{name}\t{rng.random()}" for name in names]
        for order in ("given", "shuffled"):
            (folder / f"{order}-{file}.tsv").write_text("\n".join(lines) + "\n")
            rng.shuffle(lines)
    return folder


@pytest.mark.parametrize(
    "line",
    [
        *(
            f"rank FILE.jsonl --unit {unit} --members {members} --resamples 50 --head-to-head"
            for unit in ("pairs", "rankings", "sentences", "judges")
            for members in ("all", "sample", "expected")
        ),
        *(
            f"rank FILE.jsonl --unit {unit} --balanced --resamples 40"
            for unit in ("rankings", "judges")
        ),
        "rank FILE.csv --unit rankings --resamples 50",
        *(
            f"meta --sample -m gleu -m m2 --resamples 50 --over {over} --convention noties"
            " --convention calibrated --judgments FILE.jsonl"
            for over in ("systems", "judgments", "both")
        ),
        "meta --human FILE-people.tsv --scores a=FILE-one.tsv --scores b=FILE-two.tsv",
    ],
)
def test_the_order_of_lines_changes_nothing(files: Path, line: str) -> None:
    given = rows(line.replace("FILE", "given"), files)
    assert given == rows(line.replace("FILE", "shuffled"), files)
    assert given != rows(line.replace("FILE", "given") + " --seed 1", files)


def test_the_seed_deals_the_folds() -> None:
    def calibrated(seed: int) -> object:
        line = "meta --sample -m m2 --level sentence --convention calibrated --seed"
        return tables(line, seed)["sentence_level"]["rows"][0]["value"]

    assert len({calibrated(seed) for seed in range(6)}) > 1
    assert calibrated(0) == calibrated(0)
