"""``errata compare``: what it reads and prints, its gate, the script of the Action, the plug-in."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from command import refused, run, tables
from errata.datasets import sample_corpus
from errata.io.stored_runs import read_run

FEW = ("--resamples", "20", "--trials", "20")


def compared(folder: Path, *arguments: object) -> dict[str, Any]:
    return tables("compare", *arguments, cwd=folder)


def test_keys_are_the_same_where_there_is_nothing_to_say(tmp_path: Path) -> None:
    """A clean sentence that one system touches, beside a metric called like a column."""
    (tmp_path / "clean.m2").write_text("S All fine .\n\n")
    (tmp_path / "a.txt").write_text("All fine .\n")
    (tmp_path / "b.txt").write_text("All is fine .\n")
    found = compared(tmp_path, "--gold", "clean.m2", "a.txt", "b.txt", "-m", "edits", *FEW)
    assert found["b_worse"]["columns"] == ["sentence", "gain", "edits", "old to new", "source"]
    (row,) = found["b_worse"]["rows"]
    assert (row["gain"], row["edits"], row["old to new"]) == (-1, -1.0, "All {+is+} fine .")
    assert found["b_better"]["rows"] == []
    rates = {row["figure"]: row["new"] for row in found["b_rates"]["rows"]}
    assert rates == {
        "alarms per 1,000 words": 1000 / 3,
        "clean sentences touched": 1.0,
        "sentences changed": 1.0,
    }
    mended = compared(tmp_path, "--source", "b.txt", "--refs", "a.txt", "b.txt", "n=a.txt", *FEW)
    assert mended["n_changes"]["title"] == "n against b: 1 error gained, 0 lost"
    same = compared(tmp_path, "--source", "a.txt", "a.txt", "c=a.txt", *FEW)
    assert same["c_kinds"]["rows"] == []
    assert same["c_kinds"]["columns"][1:] == same["c_rates"]["columns"][1:]


ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "src" / "errata" / "datasets" / "sample"
KIND = "R:INFL"


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output of a system, the same again, and one with every right edit undone."""
    path = tmp_path_factory.mktemp("gate")
    for name, copy in (("gold.m2", "gold.m2"), ("nothing.txt", "worse.txt")):
        shutil.copy(SAMPLE / name, path / copy)
    for copy in ("old.txt", "same.txt"):
        shutil.copy(SAMPLE / "eager.txt", path / copy)
    pairs = zip(sample_corpus().sources, sample_corpus().references, strict=True)
    clean = [source for source, several in pairs if not any(r.edits for r in several)]
    (path / "clean.txt").write_text("\n".join(clean[:2]) + "\n", "utf-8")
    return path


COMPARE = "compare --gold gold.m2 -m m2 -m edits --resamples 60 --trials 20"
CONDITIONS = (
    *("--fail-if", "m2 < -0.005", "--fail-if", f"{KIND} recall < 0.8"),
    *("--fail-if", "new false alarms > 0 on clean.txt"),
)


def test_a_regression_of_one_kind_fails_and_no_change_passes(gate: Path) -> None:
    same = tables(f"{COMPARE} old.txt same.txt", *CONDITIONS, cwd=gate)["gate"]["rows"]
    assert [row["verdict"] for row in same] == ["passed"] * 3
    worse = tables(f"{COMPARE} old.txt worse.txt", *CONDITIONS, cwd=gate, code=1)
    assert next(iter(worse)) == "gate"
    rows = worse["gate"]["rows"]
    assert [row["verdict"] for row in rows] == ["FAILED", "FAILED", "passed"]
    assert rows[1]["value"] == 0.0


def test_what_build_servers_read(gate: Path, tmp_path: Path) -> None:
    files = f"--junit {tmp_path}/junit --markdown {tmp_path}/summary --annotate"
    done = run(f"{COMPARE} old.txt worse.txt {files}", *CONDITIONS, cwd=gate, code=1)
    suite = ElementTree.parse(tmp_path / "junit").getroot()
    assert suite.attrib == {"tests": "3", "failures": "2", "errors": "0", "skipped": "0"}
    cases = suite.findall("testsuite/testcase")
    assert next(case.get("name") for case in cases) == "m2 < -0.005"
    assert [case.find("failure") is not None for case in cases] == [True, True, False]
    text = (tmp_path / "summary").read_text("utf-8")
    assert text.startswith("## Errata: failed\n")
    assert "| FAILED | m2 \\< -0.005 | worse |" in text
    lines = [line for line in done.stderr.splitlines() if line.startswith("::")]
    assert [line.split(" ")[0] for line in lines] == ["::error", "::error", "::notice"]
    assert f"{KIND} recall is 0" in lines[1]


@pytest.mark.slow
def test_a_baseline_is_stored_compared_with_and_renewed(gate: Path, tmp_path: Path) -> None:
    base = tmp_path / "base.json"
    line = f"{COMPARE} --baseline {base}"
    assert not refused(f"{line} old.txt | no baseline", gate)
    level = ("--fail-if", f"{KIND} recall < 0.8", "--junit", tmp_path / "first.xml")
    bad = run(f"{line} worse.txt --update-baseline", *level, cwd=gate, code=1)
    assert "compared with itself" in bad.stderr
    assert not base.exists()
    assert b'failures="1"' in (tmp_path / "first.xml").read_bytes()
    first = tables(f"{line} old.txt --update-baseline", cwd=gate)
    assert {row["difference"] for row in first["old_metrics"]["rows"]} == {0.0}
    assert base.stat().st_size < 20_000
    stored = tables(f"{line} worse.txt", cwd=gate)
    assert stored == tables(f"{COMPARE} old.txt worse.txt", cwd=gate)
    two = f"{line} same.txt worse.txt"
    assert {"same_metrics", "worse_metrics"} <= tables(two, cwd=gate).keys()
    assert not refused(f"{two} --update-baseline | one system", gate)
    failed = run(f"{line} worse.txt --update-baseline", *CONDITIONS, cwd=gate, code=1)
    assert "is stored" not in failed.stderr
    assert read_run(base).system == "old"
    assert "is stored" in run(f"{line} worse.txt --update-baseline", cwd=gate).stderr
    renewed = read_run(base)
    assert renewed.system == "worse"
    scores = tables("score --gold gold.m2 worse.txt -m m2 --resamples 60", cwd=gate)["m2"]
    figure = renewed.figures[0]
    assert (figure.signature, figure.value) == (scores["signature"], scores["rows"][0]["F0.5"])


def test_a_baseline_of_another_corpus_is_refused_and_a_locked_one_stays(
    gate: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = tmp_path / "base.json"
    line = f"{COMPARE} --baseline {base} --update-baseline"
    run(f"{line} old.txt", cwd=gate)
    before = base.read_bytes()
    assert not refused(f"{line} --annotator 0 old.txt | references", gate)
    monkeypatch.setattr("os.access", lambda path, mode: Path(path) != base)
    assert not refused(f"{line} worse.txt | read-only", gate)
    assert base.read_bytes() == before


@pytest.mark.slow
def test_the_script_of_the_action(gate: Path, tmp_path: Path) -> None:
    """The script that action.yml runs, as a real process with its inputs in the environment."""
    bin = tmp_path / "bin"
    bin.mkdir()
    (bin / "errata").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m errata "$@"\n')
    (bin / "errata").chmod(0o755)
    summary = tmp_path / "step summary.md"
    summary.write_text("before\n")

    usual = {"GATE_GOLD": "gold.m2", "GATE_OLD": "old.txt", "GATE_METRICS": "m2\nedits\n"}
    usual |= {"GATE_FAIL_IF": f"m2 < -0.005\n\n{KIND} recall < 0.8\r\n"}
    usual |= {"PATH": f"{bin}:{os.environ['PATH']}", "GITHUB_STEP_SUMMARY": str(summary)}

    def action(new: str, **given: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", str(ROOT / ".github" / "gate.sh")],
            cwd=gate,
            env=os.environ | usual | {"GATE_NEW": new} | given,
            capture_output=True,
            text=True,
            check=False,
        )

    assert action("same.txt").returncode == 0
    failed = action("worse.txt", GATE_JUNIT=str(tmp_path / "j.xml"))
    assert failed.returncode == 1
    assert failed.stderr.count("::error ") == 2
    assert (tmp_path / "j.xml").exists()
    told = summary.read_text("utf-8")
    assert told.startswith("before\n")
    assert "## Errata: passed" in told
    assert "## Errata: failed" in told
    hostile = action("same.txt", GATE_FAIL_IF="$(touch pwned) < 0")
    assert hostile.returncode == 2
    assert not (gate / "pwned").exists()


def test_the_action_names_every_input_of_its_script() -> None:
    given = re.findall(r"^ +(GATE_\w+):", (ROOT / "action.yml").read_text("utf-8"), re.M)
    used = re.findall(r"\bGATE_[A-Z_]+\b", (ROOT / ".github" / "gate.sh").read_text("utf-8"))
    assert {*used} - {"GATE_"} == {*given}
    assert len(given) == 11


@pytest.mark.slow
def test_the_plug_in_fails_a_test(gate: Path, tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        f"""
FILES = dict(gold={str(gate / "gold.m2")!r}, old={str(gate / "old.txt")!r})
FAIL_IF = ["m2 < -0.005", "{KIND} recall < 0.8", "lost edits > 2"]

def test_same(errata_gate):
    found = errata_gate(new={str(gate / "same.txt")!r}, fail_if=FAIL_IF, **FILES)
    assert [each.failed for each in found] == [False] * 3

def test_worse(errata_gate):
    errata_gate(new={str(gate / "worse.txt")!r}, fail_if=FAIL_IF, resamples=50, **FILES)
"""
    )
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    if not any(e.value == "errata.pytest_plugin" for e in entry_points(group="pytest11")):
        options += ["-p", "errata.pytest_plugin"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "1 failed, 1 passed" in done.stdout
    assert "3 of 3 conditions hold" in done.stdout
    assert "sentence " in done.stdout
