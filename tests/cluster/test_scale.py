"""``errata scale`` as users run it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from command import errata, refused
from errata.io.scores import read_score_file
from run_folders import SampleFiles, tiled_sample


@pytest.fixture
def files(tmp_path: Path) -> SampleFiles:
    return tiled_sample(tmp_path / "in", 2, ("eager", "noisy"))


def without_order(printed: str) -> object:
    def plain(value: object) -> object:
        if isinstance(value, dict):
            return {key: plain(each) for key, each in value.items()}
        if isinstance(value, list):
            return [plain(each) for each in value]
        if isinstance(value, str) and "order:" in value:
            return "\n".join(
                " | ".join(fact for fact in line.split(" | ") if not fact.startswith("order:"))
                for line in value.splitlines()
            )
        return value

    return plain(json.loads(printed))


def compare_with_score(
    place: Path,
    inputs: Sequence[object],
    *cut: object,
    options: Sequence[str] = ("-m", "m2", "-m", "gleu", "--resamples", "50"),
    whole: Sequence[object] = (),
) -> str:
    """Compare a run with `errata score` of the same inputs, or of ``whole``; return its notes."""
    scaled = errata("scale", "run", "--run", place, *inputs, *options, *cut, "--json")
    scored = errata("score", *(whole or inputs), *options, "--json")
    assert without_order(scaled.stdout) == without_order(scored.stdout)
    return scaled.stderr


LOOP = ("--engine", "loop", "--shard-sentences")


def test_plan_task_status_reduce_clean(files: SampleFiles, tmp_path: Path) -> None:
    run = ("--run", tmp_path / "run")

    def rows(command: str, *more: object) -> list[list[Any]]:
        (table,) = json.loads(errata("scale", command, *run, *more, "--json").stdout)["tables"]
        assert table["title"] == {"clean": "Removed", "status": "Run", "plan": "Plan"}[command]
        return [[*row.values()] for row in table["rows"]]

    plan = (*files.arguments, "-m", "m2", "--shard-sentences", "50")
    assert rows("plan", *plan) == [["gold", 144, 2, 3, 44, 50]]
    assert "3 tasks" in errata("scale", "plan", *run, *plan).stdout
    errata("scale", "task", *run, "--index", "1")
    assert "tasks to be counted: 0,2; not reduced" in errata("scale", "status", *run).stdout
    ((*row, seconds, left, memory),) = rows("status")
    assert row == ["gold", 3, 1, 0, 144, 50]
    assert left == pytest.approx(94 * seconds / 50)
    assert 20 < memory < 1e6
    missing = errata("scale", "reduce", *run, code=2)
    assert "2 of 3 tasks are not counted; count them: errata scale run" in missing.stderr
    for job in ("0", "1"):
        errata("scale", "task", *run, "--of", "2", env={"SLURM_ARRAY_TASK_ID": job})
    reduced = errata("scale", "reduce", *run)
    assert "eager" in reduced.stdout
    path = tmp_path / "run" / "result.json"
    whole = tmp_path / "whole"
    errata("scale", "run", "--run", whole, *files.arguments, "-m", "m2", "--engine", "loop")
    scores, other = (read_score_file(str(place)) for place in (path, whole / "result.json"))
    np.testing.assert_array_equal(scores[0].values, other[0].values)
    for said in ("0 of 3 tasks counted now, 3 before; r", "1 of 3 .*, 2 before; 1 of them again"):
        again = errata("scale", "run", *run, "--engine", "loop")
        assert re.search(said, again.stderr)
        assert again.stdout == reduced.stdout
        next((tmp_path / "run" / "counts").rglob("*.cnt")).write_bytes(b"damaged")
    assert "counts" in errata("scale", "clean", *run).stdout
    assert sorted(each.name for each in path.parent.iterdir()) == ["manifest.json", path.name]
    sizes = [[each.name, 1, each.stat().st_size] for each in (path, path.parent / "manifest.json")]
    assert rows("clean", "--all") == sizes
    assert "there is no run" in errata("scale", "status", *run, code=2).stderr


def test_task_is_chosen_by_index_or_array_job(files: SampleFiles, tmp_path: Path) -> None:
    """SGE counts its jobs from 1, the others from 0."""
    run = ("--run", tmp_path / "run")
    errata("scale", "plan", *run, *files.arguments, "-m", "m2", "--shard-sentences", "50")
    for more, said in (
        (["--index", "3"], "there is no task 3; the run has 3 tasks, numbered from 0"),
        (["--index", "2", "--of", "2"], "there is no job 2 of 2; jobs are numbered from 0"),
        ([], "no task is named; give --index N, or set one of SLURM_ARRAY_TASK_ID"),
    ):
        assert said in errata("scale", "task", *run, *more, code=2).stderr
    counted = tmp_path / "run" / "records" / "00000002.json"
    from_0 = ("SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX", "PBS_ARRAY_INDEX")
    for variable, last in (*((name, "2") for name in from_0), ("SGE_TASK_ID", "3")):
        errata("scale", "task", *run, "--of", "3", env={variable: last})
        assert [*counted.parent.iterdir()] == [counted], variable
        counted.unlink()


def test_wrong_options_are_refused(tmp_path: Path) -> None:
    run = "scale run --run new"
    cases = f"""
        {run} | there is no run in this folder
        {run} --gold gold.m2 | no output to score
        {run} --shard-size many | 'many' is not a size; write it as 64M
        {run} --storage key | is not KEY=VALUE
        {run} --scheduler tcp://127.0.0.1:1 | --scheduler goes with --engine dask
        {run} --engine dask --scheduler tcp://a:1 --life 9 | --life and --scheduler are given
        {run} --engine loop --workers 2 | --workers goes with --engine local|dask
        {run} --engine loop --life 2 | --life goes with --engine local|dask
        {run} --engine loop --allow-failed 2 | --allow-failed goes with --engine local|dask
    """
    assert refused(cases, tmp_path) == []


def test_many_sets_make_one_result_that_others_read(tmp_path: Path) -> None:
    for name, copies in (("essays", 1), ("exams", 2)):
        made = tiled_sample(tmp_path / name, copies)
        (tmp_path / name / "outputs").mkdir()
        for system in made.systems:
            made.output(system).rename(tmp_path / name / "outputs" / f"{system}.txt")
    sets = [text for name in ("essays", "exams") for text in ("--sets", str(tmp_path / name))]
    metrics = ["-m", "m2", "-m", "gleu", "--resamples", "100"]
    done = errata("scale", "run", "--run", tmp_path / "run", *sets, *metrics, "--engine", "loop")
    assert "essays" in done.stdout
    assert "Kendall" in done.stdout
    result = tmp_path / "run" / "result.json"
    across = errata("corpora", tmp_path / "essays", tmp_path / "exams", *metrics, "--json")
    scaled = errata("scale", "run", "--run", tmp_path / "run", "--json")
    wanted = [str(table["rows"]) for table in json.loads(across.stdout)["tables"]]
    for table in json.loads(scaled.stdout)["tables"][:2]:
        assert str(table["rows"]) in wanted
    people = tmp_path / "people.tsv"
    people.write_text("system\tscore\ncautious\t3\neager\t4\nfluent\t5\nnoisy\t2\nnothing\t1\n")
    judged = errata("meta", "--scores", result, "--human", people, "--level", "system")
    assert "exams gleu" in judged.stdout
    changed = errata("compare", "--scores", result, "--old", "nothing")
    assert "essays m2" in changed.stdout
    report = tmp_path / "report.html"
    errata("report", "--scores", result, "-o", report)
    assert "exams m2" in report.read_text(encoding="utf-8")


def test_a_plan_is_not_changed_by_the_way(files: SampleFiles, tmp_path: Path) -> None:
    """What a plan decides is refused where there is a plan already; levels of intervals are not."""
    run = ("--run", tmp_path / "run")
    options = ("-m", "gleu", "--bootstrap", "poisson", "--resamples", "20")
    named = ("--gold", files.gold, *(f"my {name}={files.output(name)}" for name in files.systems))
    compare_with_score(tmp_path / "run", named, *LOOP, "99", options=options)
    done = errata("scale", "run", *run, "--json")
    assert "bootstrap:poisson" in json.loads(done.stdout)["tables"][0]["signature"]
    for idle in (["-m", "bleu"], ["--resamples", "9"], ["--seed", "3"], ["--shard-size", "1k"]):
        refused = errata("scale", "run", *run, *idle, code=2)
        assert (
            f"{idle[0].replace('-m', '--metric')} goes with [NAME=]PATTERN... or --gold"
            in refused.stderr
        )
    narrow = errata("scale", "reduce", *run, "--confidence", "0.5", "--json")
    assert narrow.stdout == errata("scale", "run", *run, "--confidence", "0.5", "--json").stdout
    assert narrow.stdout != done.stdout


def test_what_workers_warn_of_is_said_as_ever(files: SampleFiles, tmp_path: Path) -> None:
    output = files.output("eager")
    lines = output.read_text("utf-8").splitlines()
    output.write_text("\n".join(["", *lines[1:]]) + "\n", encoding="utf-8")
    run = ("scale", "run", "--run", tmp_path / "run", "--gold", files.gold, output, "-m", "m2")
    said = errata(*run).stderr
    assert f"warning: {output}:1: the line is empty" in said
    assert "DataWarning" not in said


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="interrupts differ on Windows")
@pytest.mark.parametrize("engine", ["local", pytest.param("dask", marks=pytest.mark.long)])
def test_interrupt_prints_one_line_and_leaves_no_worker(tmp_path: Path, engine: str) -> None:
    if engine == "dask":
        pytest.importorskip("distributed")
    files = tiled_sample(tmp_path / "in", 1, ("eager",))
    files.hold.touch()  # so that it cannot end before
    run = ["scale", "run", "--run", str(tmp_path / "run"), *files.arguments, "--engine", engine]
    run += ["-m", "m2", "-m", files.slow_metric(), "--shard-sentences", "12", "--workers", "2"]
    with subprocess.Popen(
        [sys.executable, "-m", "errata", *run],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # A shell that runs the tests in the background lets them ignore interrupts.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        while process.poll() is None and files.held < 2:
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGINT)  # to all processes, as a terminal sends it
        _, said = process.communicate(timeout=600)  # which waits until all workers are gone
    assert process.returncode == 130, said
    assert said.strip() == "errata: interrupted"
    files.hold.unlink()
    done = errata("scale", "run", "--run", tmp_path / "run", "--engine", "loop")
    assert "6 of 6 tasks counted now, 0 before" in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="file names are text there")
def test_a_name_that_is_no_text_is_refused(files: SampleFiles, tmp_path: Path) -> None:
    odd = tmp_path / os.fsdecode(b"odd\xff.txt")
    odd.write_bytes(files.output("eager").read_bytes())
    run = ("scale", "plan", "--run", tmp_path / "run", "--gold", files.gold, "-m", "m2")
    refused = errata(*run, f"odd={odd}", code=2)
    assert "the name is not UTF-8, and a plan is; rename the file" in refused.stderr
