"""``errata rank``, ``agree`` and ``plan``, as a user runs them."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

from command import errata_process, run, tables
from errata.data import Judgment
from errata.datasets import sample_judgments
from errata.io.judgments import write_judgments
from human_data import grundkiewicz_file


def test_rank_without_resamples_has_the_same_scores() -> None:
    (table,) = tables("rank --sample --resamples 0").values()
    assert table["columns"] == ["rank", "system", "Expected Wins", "wins", "ties", "losses"]
    assert [*table["rows"][0].values()][0::3] == [1, 542]
    full = tables("rank --sample --resamples 40")["ranking"]["rows"]
    for one, other in zip(table["rows"], full, strict=True):
        assert one.items() - {("rank", one["rank"])} <= {(k, other.get(k)) for k in one}
    assert "unit:" not in table["signature"]
    headed = tables("rank --sample --resamples 0 --head-to-head")["head_to_head"]["rows"]
    assert [row["row"] for row in headed] == [row["system"] for row in table["rows"]]


def test_signatures_name_what_was_drawn() -> None:
    line = "rank --sample --resamples 200 --signature full"
    text = run(line).stdout
    assert text.count("┄┄┄") >= 1
    assert "expected_wins(denominator='all', ties='ignored') | members:all" in text
    assert "unit:sentences | resamples:200 | seed:0" in text
    text = run(f"{line} --balanced --value mean --unit pairs").stdout
    assert "value:mean | unit:pairs | resamples:200 | balanced | seed:0" in text


def test_a_name_is_not_a_formula(tmp_path: Path) -> None:
    judgments = [Judgment("ann", i, (("$A_1$",), ("B",)), (1, 1 + i % 2)) for i in range(4)]
    write_judgments(judgments, tmp_path / "j.jsonl")
    run("rank j.jsonl --resamples 40 --figure x.svg", cwd=tmp_path)
    assert ">$A_1$</text>" in (tmp_path / "x.svg").read_text(encoding="utf-8")


def test_missing_matplotlib_names_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "matplotlib").mkdir()
    (tmp_path / "matplotlib" / "__init__.py").write_text("raise ImportError('gone')")
    env = {"PYTHONPATH": f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    line = "rank --sample --figure x.svg"
    result = errata_process(*line.split(), cwd=tmp_path, env=env, code=2)
    assert "pip install 'errata-gec[plot]'" in result.stderr


def test_agree_as_published(tmp_path: Path) -> None:
    found = {name: table["rows"] for name, table in tables(f"agree {grundkiewicz_file()}").items()}
    assert [round(row["value"], 4) for row in found["agreement"]] == [0.2927, 0.4552, 0.2923]
    assert found["agreement_matrix"][6]["annotator07"] is None  # too few
    assert found["judges"][0]["median seconds"] == pytest.approx(33.7585)
    assert found["judge_correlations"][0]["ρ others"] == pytest.approx(0.7033, abs=1e-4)
    write_judgments([Judgment("ann", 0, (("A",), ("B",)), (1, 2))], tmp_path / "one.jsonl")
    assert "judge_correlations" not in tables("agree one.jsonl", cwd=tmp_path)


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
    return folder


JUDGED = "meta --sample -m gleu -m m2 --resamples 50 --convention noties --convention calibrated"


@pytest.mark.parametrize(
    "line",
    [
        *(
            f"rank FILE.jsonl --unit {unit} --members {members} --resamples 50 --head-to-head"
            for unit in ("pairs", "rankings", "sentences", "judges")
            for members in ("all", "sample", "expected")
        ),
        "rank FILE.jsonl --unit judges --balanced --resamples 40",
        *(f"{JUDGED} --judgments FILE.jsonl --over {over}" for over in ("systems", "both")),
    ],
)
def test_the_order_of_lines_changes_nothing(files: Path, line: str) -> None:
    given = rows(line.replace("FILE", "given"), files)
    assert given == rows(line.replace("FILE", "shuffled"), files)
    assert given != rows(line.replace("FILE", "given") + " --seed 1", files)
