"""Worker processes and the terminal they are started from."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from errata.cluster import crew
from errata.cluster.crew import Crew, run_processes
from errata.cluster.worker import WorkOrder, interrupted_later
from errata.errors import InputError
from run_folders import planned, tiled_sample

DEAF = """
import signal, sys
from multiprocessing import get_context
from errata.cluster.worker import deaf_to_interrupts

def deaf():
    sys.exit(signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ()))

if __name__ == "__main__":
    for _ in range(2):
        with deaf_to_interrupts():
            child = get_context("spawn").Process(target=deaf)
            child.start()
        child.join()
        print(child.exitcode)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="terminals interrupt otherwise there")
def test_the_first_process_too_is_deaf_to_interrupts(tmp_path: Path) -> None:
    program = tmp_path / "deaf.py"
    program.write_text(DEAF)
    found = subprocess.run([sys.executable, str(program)], capture_output=True, text=True)
    assert (found.stdout.split(), found.stderr) == (["0", "0"], "")


def test_a_fault_of_ours_is_told_once_with_its_place(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A worker that it ended would be replaced, and its sentences looked into."""
    files = tiled_sample(tmp_path / "in")
    folder, manifest = planned(tmp_path / "run", files, "m2")
    with Crew(folder.place, 1) as workers, pytest.raises(RuntimeError) as caught:
        list(run_processes(workers, manifest, [len(manifest.tasks)]))  # of which there is none
    assert str(caught.value).startswith("task 1: IndexError: tuple index out of range (")
    assert "run_task" in caught.value.__notes__[0]
    assert capfd.readouterr().err == ""


def test_a_worker_that_finds_no_plan_says_so(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    files = tiled_sample(tmp_path / "in", 1, ("eager",))
    folder, manifest = planned(tmp_path / "run", files, "m2")
    folder.remove("manifest.json")
    with (
        Crew(folder.place, 1) as workers,
        pytest.raises(InputError, match=r"run: a worker finds no plan .*reach the same folder"),
    ):
        list(run_processes(workers, manifest, [0]))
    assert capfd.readouterr().err == ""


def test_a_worker_that_starts_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says nothing while it starts, however short a life without a sign may be."""
    monkeypatch.setattr(crew, "START_SECONDS", 600.0)
    folder, _ = planned(tmp_path / "run", tiled_sample(tmp_path / "in", 1, ("eager",)), "m2")
    with Crew(folder.place, 1, life=0.001) as workers:
        workers.ask(WorkOrder(0))
        (worker,) = workers._workers
        while not worker.began:
            assert list(workers.answers(0.01)) == [] or worker.began


@pytest.mark.skipif(sys.platform == "win32", reason="terminals interrupt otherwise there")
def test_an_interrupt_may_wait_and_a_second_one_does_not() -> None:
    reached: list[int] = []

    def interrupted(times: int, error: Exception | None = None) -> None:
        with interrupted_later():
            for time in range(times):
                os.kill(os.getpid(), signal.SIGINT)
                reached.append(time)
            if error is not None:
                raise error

    usual = signal.getsignal(signal.SIGINT)
    interrupted(0)
    with pytest.raises(KeyboardInterrupt):
        interrupted(1)
    assert reached == [0]
    with pytest.raises(KeyboardInterrupt):
        interrupted(2)
    assert reached == [0, 0]
    with pytest.raises(ValueError, match="another"):
        interrupted(1, ValueError("another"))
    assert signal.getsignal(signal.SIGINT) is usual
    with ThreadPoolExecutor(1) as pool:  # a thread that nobody interrupts
        pool.submit(interrupted, 0).result()


UNGUARDED = """
import sys
from errata.cluster.driving import finish_run, planned_run
from errata.cluster.engines import EngineSettings
from errata.io.folders import LocalFolder

folder = LocalFolder(sys.argv[1])
finish_run(folder, planned_run(folder), EngineSettings(sys.argv[2], workers=1))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("engine", "told"),
    [
        ("local", "5 worker processes in a row ended before they began"),
        ("dask", "the workers of Dask do not start"),
    ],
)
def test_a_script_without_a_guard_is_told_what_it_lacks(
    tmp_path: Path, engine: str, told: str
) -> None:
    """Every worker would run the script again, and start workers."""
    if engine == "dask":
        pytest.importorskip("distributed")
    files = tiled_sample(tmp_path / "in", 1, ("eager",))
    planned(tmp_path / "run", files, "m2")
    program = tmp_path / "unguarded.py"
    program.write_text(UNGUARDED)
    run = [sys.executable, str(program), str(tmp_path / "run"), engine]
    done = subprocess.run(run, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert told in last
    assert "below if __name__ == '__main__':, in a file" in last
