"""Whatever is killed, stopped or cut off, the result stays the same; memory is bounded."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from errata.core.errors import InputError
from errata.scale.executors import (
    EngineSettings,
    ProcessExecutor,
    dask_client,
    run_dask,
    run_processes,
)
from processes import children, free_port, lives, wait_until
from run_folders import PlannedRun, SampleFiles, result_of, run_of, tiled_sample, until_records

WORKERS = b"spawn_main"  # in their command lines


def plan(place: Path, files: SampleFiles) -> PlannedRun:
    return PlannedRun.of(place, files, "m2", files.slow_metric(), shard_sentences=12)


@pytest.fixture
def run(tmp_path: Path) -> PlannedRun:
    return plan(tmp_path / "run", tiled_sample(tmp_path / "in", 3, ("eager", "noisy")))


@pytest.fixture
def wanted(run: PlannedRun, tmp_path: Path) -> bytes:
    return plan(tmp_path / "calm", run.files).count().result()


@pytest.mark.slow
def test_killed_worker_costs_its_task_only(run: PlannedRun, wanted: bytes) -> None:
    """Two workers are killed at work, when both have begun."""
    run.files.hold.touch()
    lost: list[str] = []
    with ProcessExecutor(run.folder.place, 2) as crew:

        def kill() -> None:
            wait_until(lambda: run.files.held == 2)
            for pid in crew.pids:
                os.kill(pid, signal.SIGKILL)
            run.files.hold.unlink()

        killer = threading.Thread(target=kill)
        killer.start()
        counted = run_processes(
            crew, run.manifest, run.tasks, lost=lambda error: lost.append(error.why)
        )
        assert sorted(record.task for record in counted) == [*run.tasks]
        killer.join()
    assert lost == ["ended (exit code -9)"] * 2
    assert run.result() == wanted


@contextmanager
def driver(place: Path, *more: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "errata", "scale", "run", "--run", str(place), *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def finished(process: subprocess.Popen[str]) -> str:
    _, err = process.communicate(timeout=600)
    assert process.returncode == 0, err
    return err


@pytest.mark.long
def test_killed_driver_goes_on(run: PlannedRun, wanted: bytes) -> None:
    run.files.slow_metric(0.02)
    with driver(run.place) as process:
        until_records(run.place, 3, process)
        workers = children(process.pid, WORKERS)
        process.kill()
        process.wait()
    assert workers
    wait_until(lambda: not any(map(lives, workers)))  # nobody asks them any more
    done = len(list((run.place / "records").glob("*.json")))
    run.files.slow_metric(0.0)
    with driver(run.place) as process:
        said = finished(process)
    assert f"{18 - done} of 18 tasks counted now, {done} before" in said
    assert result_of(run.place) == wanted


@pytest.mark.long
@pytest.mark.parametrize("records", [0, 2], ids=["starting", "working"])
def test_stopped_worker_is_replaced(records: int, run: PlannedRun, wanted: bytes) -> None:
    run.files.slow_metric(0.02)
    with driver(run.place, "--life", "3") as process:
        until_records(run.place, records, process)
        wait_until(lambda: children(process.pid, WORKERS))
        os.kill(children(process.pid, WORKERS)[0], signal.SIGSTOP)
        said = finished(process)
    # The one that was stopped, and others that a busy machine kept waiting as long.
    lost = said.count("gave no sign of life for ")
    assert lost > 0
    assert f"{lost} workers lost and replaced" in said
    assert result_of(run.place) == wanted


@pytest.mark.long
def test_two_drivers_at_once_make_one_result(run: PlannedRun, wanted: bytes) -> None:
    run.files.slow_metric(0.005)
    with driver(run.place) as one, driver(run.place) as other:
        assert [finished(one), finished(other)]
    assert result_of(run.place) == wanted


@pytest.mark.long
def test_sentence_that_kills_is_named_and_may_be_left_out(tmp_path: Path) -> None:
    files = tiled_sample(tmp_path / "in", 1, ("eager",))
    source = files.read()[0].sources[40]
    metric = files.slow_metric(0.0, deadly=source)
    settings = EngineSettings("local", workers=1)
    with pytest.raises(InputError, match=r"sentence 41 \(from 1\).*--allow-failed 1"):
        run_of(tmp_path / "run", files, metric, shard_sentences=30, settings=settings)
    settings = EngineSettings("local", workers=1, allow_failed=1)
    outcome = run_of(tmp_path / "run", files, metric, shard_sentences=30, settings=settings)
    assert outcome.left_out == (("gold", 41),)
    assert {"sentences:71", "failed:41"} <= {*outcome.sets[0].scores[0].context}


@pytest.mark.long
def test_killed_dask_worker_costs_its_task(run: PlannedRun, wanted: bytes) -> None:
    pytest.importorskip("distributed")
    run.files.slow_metric(0.02)
    with dask_client(workers=2) as client:
        records = run_dask(client, run.folder.place, run.manifest, run.tasks)
        found = [next(records)]
        os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
        found += records
    assert sorted(record.task for record in found) == [*run.tasks]
    assert run.result() == wanted


@contextmanager
def cluster() -> Iterator[tuple[list[subprocess.Popen[bytes]], str]]:
    env = {**os.environ, "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "10s"}
    port = str(free_port())
    address = f"tcp://127.0.0.1:{port}"
    worker = ("worker", address, "--nthreads", "1", "--no-nanny", "--death-timeout", "60")
    processes = []
    try:
        for name, *more in (("scheduler", "--port", port), worker, worker):
            command = [sys.executable, "-m", f"distributed.cli.dask_{name}", *more]
            command += ["--host", "127.0.0.1", "--no-dashboard"]
            quiet = subprocess.DEVNULL
            processes.append(subprocess.Popen(command, stdout=quiet, stderr=quiet, env=env))
        yield processes, address
    finally:
        for process in processes:
            process.kill()
            process.wait()


@pytest.mark.long
def test_host_that_is_cut_off_is_not_waited_for(run: PlannedRun, wanted: bytes) -> None:
    """Its connections stay open, and nothing comes: here its worker is stopped."""
    pytest.importorskip("distributed")
    run.files.slow_metric(0.02)
    with (
        cluster() as (processes, address),
        driver(run.place, "--engine", "dask", "--scheduler", address) as process,
    ):
        until_records(run.place, 4, process)
        os.kill(processes[2].pid, signal.SIGSTOP)
        finished(process)
    assert result_of(run.place) == wanted


@pytest.mark.long
def test_killed_scheduler_is_reported_and_the_run_goes_on(run: PlannedRun, wanted: bytes) -> None:
    pytest.importorskip("distributed")
    run.files.slow_metric(0.02)
    with cluster() as (processes, address):
        with driver(run.place, "--engine", "dask", "--scheduler", address) as process:
            until_records(run.place, 2, process)
            processes[0].kill()
            _, err = process.communicate(timeout=600)
        assert process.returncode == 2
        assert "scheduler of Dask was lost" in err
        assert "run the same command again" in err
    run.files.slow_metric(0.0)
    with (
        cluster() as (_, address),
        driver(run.place, "--engine", "dask", "--scheduler", address) as process,
    ):
        said = finished(process)
    assert " 0 before" not in said
    assert result_of(run.place) == wanted


MB = 2**20
WORKER, DRIVER = 250 * MB, 200 * MB
# The driver by itself: what a parent is told of its children counts their workers in, and what a
# process is told of itself counts its parent in, which it was a copy of at first.
DRIVEN = """
import sys
from pathlib import Path
from errata.cli.main import main
try:
    main()
finally:
    said = Path("/proc/self/status").read_text().split("VmHWM:")[1].split()
    print(int(said[0]) * 1024, file=sys.stderr)
"""


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
@pytest.mark.parametrize("sentences", [100_000, 1_000_000, 10_000_000])
def test_millions_of_sentences(tmp_path: Path, sentences: int) -> None:
    """What is printed is the curve in docs/scale.md."""
    copies = -(-sentences // 72)
    files = tiled_sample(tmp_path / "in", copies, ("eager",))
    run = ["scale", "run", "--run", str(tmp_path / "run"), *files.arguments, "-m", "m2", "-q"]
    done = subprocess.run(
        [sys.executable, "-c", DRIVEN, *run, "--workers", "2"],
        capture_output=True,
        text=True,
        check=True,
    )
    records = [json.loads(p.read_text())["record"] for p in (tmp_path / "run/records").iterdir()]
    assert sum(record["sentences"] for record in records) == 72 * copies
    driver = int(done.stderr.split()[-1])
    worker = max(record["peak_bytes"] for record in records)
    print(
        f"\n{sentences:,} sentences: {sum(record['processor'] for record in records):.0f} s of "
        f"processor time in {len(records)} shards, driver {driver / MB:.0f} MB, "
        f"worker {worker / MB:.0f} MB"
    )
    assert driver < DRIVER
    assert worker < WORKER
