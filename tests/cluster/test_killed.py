"""Whatever is killed, stopped or cut off, the result stays the same; memory is bounded."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
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
from run_folders import (
    PlannedRun,
    SampleFiles,
    planned,
    result_of,
    run_of,
    tiled_sample,
    until_records,
)

WORKERS = b"spawn_main"  # in their command lines


def plan(place: Path, files: SampleFiles) -> PlannedRun:
    """Plan a run of M2 and a slow metric, with 18 tasks."""
    return PlannedRun.of(place, files, "m2", files.slow_metric(), shard_sentences=12)


@pytest.fixture
def run(tmp_path: Path) -> PlannedRun:
    return plan(tmp_path / "run", tiled_sample(tmp_path / "in", 3, ("eager", "noisy")))


@pytest.fixture
def wanted(run: PlannedRun, tmp_path: Path) -> bytes:
    """The result of an undisturbed run."""
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
    """``errata scale run`` as a process."""
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
def cluster() -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A scheduler and two workers of Dask as separate processes, on the loopback address."""
    port = str(free_port())
    address = f"tcp://127.0.0.1:{port}"
    worker = ("worker", address, "--nthreads", "1", "--death-timeout", "60")
    processes = []
    try:
        for name, *more in (("scheduler", "--port", port), worker, worker):
            command = [sys.executable, "-m", f"distributed.cli.dask_{name}", *more]
            command += ["--host", "127.0.0.1", "--no-dashboard"]
            quiet = subprocess.DEVNULL
            processes.append(subprocess.Popen(command, stdout=quiet, stderr=quiet))
        yield processes[0], address
    finally:
        for process in processes:
            process.kill()
            process.wait()


@pytest.mark.long
def test_killed_scheduler_is_reported_and_the_run_goes_on(run: PlannedRun, wanted: bytes) -> None:
    pytest.importorskip("distributed")
    run.files.slow_metric(0.02)
    with cluster() as (scheduler, address):
        with driver(run.place, "--engine", "dask", "--scheduler", address) as process:
            until_records(run.place, 2, process)
            scheduler.kill()
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


Start = Callable[..., subprocess.Popen[str]]
MARK = f"e{os.getpid() % 100000}"  # in the names of the bridge and of the hosts


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


def address(host: int) -> str:
    return f"10.213.77.{host + 1}"


@pytest.fixture
def start() -> Iterator[Start]:
    """Make three hosts on a bridge; yield what starts a Python module on a host."""
    pytest.importorskip("distributed")
    if shutil.which("ip") is None or os.geteuid() != 0:
        pytest.skip("hosts as network namespaces need root and the program ip")
    with ExitStack() as stack:

        def make(*arguments: str, undo: tuple[str, ...] = ()) -> None:
            ip(*arguments)
            if undo:
                stack.callback(subprocess.run, ["ip", *undo], capture_output=True)

        def started(host: int, module: str, *arguments: str) -> subprocess.Popen[str]:
            process = subprocess.Popen(
                ["ip", "netns", "exec", f"{MARK}h{host}", sys.executable, "-m", module, *arguments],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env={**os.environ, "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "10s"},
            )
            stack.callback(process.communicate)
            stack.callback(process.kill)
            return process

        try:
            bridge = f"{MARK}b"
            make("link", "add", bridge, "type", "bridge", undo=("link", "delete", bridge))
            make("link", "set", bridge, "up")
            for host in range(3):
                name = f"{MARK}h{host}"
                make("netns", "add", name, undo=("netns", "delete", name))
                make("link", "add", f"{name}o", "type", "veth", "peer", "name", f"{name}i")
                make("link", "set", f"{name}o", "master", bridge, "up")
                make("link", "set", f"{name}i", "netns", name)
                make("-n", name, "addr", "add", f"{address(host)}/24", "dev", f"{name}i")
                make("-n", name, "link", "set", f"{name}i", "up")
                make("-n", name, "link", "set", "lo", "up")
        except subprocess.CalledProcessError as error:
            pytest.skip(f"network namespaces cannot be made here: {error.stderr.decode()[:100]}")
        yield started


@pytest.mark.long
def test_host_that_is_cut_off_is_not_waited_for(start: Start, tmp_path: Path) -> None:
    files = tiled_sample(tmp_path / "in", 3, ("eager", "noisy"))
    metric, place = files.slow_metric(), tmp_path / "run"
    run_of(tmp_path / "calm", files, "m2", metric, shard_sentences=12)
    planned(place, files, "m2", metric, shard_sentences=12)
    files.slow_metric(0.05)
    scheduler = f"tcp://{address(0)}:8786"
    start(
        *(0, "distributed.cli.dask_scheduler", "--host", address(0), "--port", "8786"),
        "--no-dashboard",
    )
    for host in (1, 2):
        start(
            *(host, "distributed.cli.dask_worker", scheduler, "--host", address(host)),
            *("--nthreads", "1", "--no-dashboard", "--death-timeout", "60"),
        )
    run = ("scale", "run", "--run", str(place), "--engine", "dask", "--scheduler", scheduler)
    driver = start(0, "errata", *run)
    until_records(place, 4, driver)
    ip("link", "set", f"{MARK}h2o", "down")
    _, err = driver.communicate(timeout=600)
    assert driver.returncode == 0, err
    assert result_of(place) == result_of(tmp_path / "calm")


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
