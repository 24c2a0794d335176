"""What the benchmarks run beside ours gives the numbers of the released scripts."""

from __future__ import annotations

import csv
import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


def plain() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bench_plain", ROOT / "bench" / "plain.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_plain_gleu_is_the_script(conll14: Path, submissions: Path, oracles: Path) -> None:
    references = [conll14 / "refs" / f"conll14st-test.tok.trg{k}" for k in (0, 1)]
    with (oracles / "gleu" / "gleu2016_system.tsv").open(encoding="utf-8") as file:
        rows = {row["system"]: row for row in csv.DictReader(file, delimiter="\t")}
    for system in ("AMU", "POST"):
        score = plain().plain_gleu(
            conll14 / "conll14st-test.tok.src", references, submissions / system
        )
        assert score == pytest.approx(float(rows[system]["port_mean"]), abs=1e-10)


@pytest.mark.long
def test_plain_difficulty_is_the_released_scorer(conll14: Path, oracles: Path) -> None:
    folder = oracles / "difficulty"
    found = plain().plain_difficulty(conll14 / "conll14st-test.m2", folder / "hypotheses.m2.gz")
    scores = json.loads((folder / "scores.json").read_text(encoding="utf-8"))
    expected = scores["conll14_13sys_own_weights"]
    assert len(found) == len(expected) == 13
    for own, theirs in zip(found, expected.values(), strict=True):
        for name, value in own.items():
            assert value == pytest.approx(theirs[name], abs=6e-5), name
