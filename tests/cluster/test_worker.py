"""Worker processes and the terminal they are started from."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from errata.cluster import crew
from errata.cluster.crew import Crew, run_processes
from errata.cluster.worker import WorkOrder
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
