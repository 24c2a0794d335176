"""Worker processes: what they report, and interrupts from the terminal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from errata.core.errors import InputError
from errata.scale.executors import ProcessExecutor, defer_sigint, run_processes
from run_folders import planned, tiled_sample

DEAF = """
import signal, sys
from multiprocessing import get_context
from errata.scale.executors import block_sigint

def deaf():
    sys.exit(signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ()))

if __name__ == "__main__":
    for _ in range(2):
        with block_sigint():
            child = get_context("spawn").Process(target=deaf)
            child.start()
        child.join()
        print(child.exitcode)
"""
UNGUARDED = """
import sys
from errata.scale.run import finish_run, planned_run
from errata.scale.executors import EngineSettings
from errata.io.storage import LocalFolder

folder = LocalFolder(sys.argv[1])
finish_run(folder, planned_run(folder), EngineSettings(sys.argv[2], workers=1))
"""
terminal = pytest.mark.skipif(sys.platform == "win32", reason="interrupts differ on Windows")


@pytest.mark.slow
@terminal
def test_first_process_is_deaf_to_interrupts_too(tmp_path: Path) -> None:
    program = tmp_path / "deaf.py"
    program.write_text(DEAF)
    found = subprocess.run([sys.executable, str(program)], capture_output=True, text=True)
    assert (found.stdout.split(), found.stderr) == (["0", "0"], "")


@pytest.mark.slow
def test_faults_are_reported_once_and_the_worker_goes_on(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A worker that a fault ended would be replaced, and its sentences searched."""
    folder, manifest = planned(tmp_path / "run", tiled_sample(tmp_path / "in", 1, ("eager",)), "m2")
    (tmp_path / "run" / "manifest.json").rename(tmp_path / "manifest.json")
    with ProcessExecutor(folder.place, 1) as workers:
        with pytest.raises(InputError, match=r"run: a worker finds no plan .*same folder"):
            list(run_processes(workers, manifest, [0]))
        (tmp_path / "manifest.json").rename(tmp_path / "run" / "manifest.json")
        with pytest.raises(RuntimeError) as caught:
            list(run_processes(workers, manifest, [len(manifest.tasks)]))  # there is none
        assert str(caught.value).startswith("task 1: IndexError: tuple index out of range (")
        assert "run_job" in caught.value.__notes__[0]
        (pid,) = workers.pids
        assert [record.task for record in run_processes(workers, manifest, [0])] == [0]
        assert workers.pids == [pid]
    assert capfd.readouterr().err == ""


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Let an interrupt raise KeyboardInterrupt, also where the tests run in the background."""
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, usual)


@terminal
@pytest.mark.usefixtures("interruptible")
def test_interrupt_waits_and_a_second_one_does_not() -> None:
    reached: list[int] = []

    def interrupted(times: int, error: Exception | None = None) -> None:
        with defer_sigint():
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
    with ThreadPoolExecutor(1) as pool:  # interrupts do not reach other threads
        pool.submit(interrupted, 0).result()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # as in the background: it stays ignored
    interrupted(1)
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


@pytest.mark.slow
@pytest.mark.parametrize(
    ("engine", "problem"),
    [
        ("local", "5 worker processes in a row exited before they began"),
        ("dask", "the workers of Dask do not start"),
    ],
)
def test_script_without_a_guard_is_refused(tmp_path: Path, engine: str, problem: str) -> None:
    """Every worker would run the script again, and start workers."""
    if engine == "dask":
        pytest.importorskip("distributed")
    planned(tmp_path / "run", tiled_sample(tmp_path / "in", 1, ("eager",)), "m2")
    program = tmp_path / "unguarded.py"
    program.write_text(UNGUARDED)
    run = [sys.executable, str(program), str(tmp_path / "run"), engine]
    done = subprocess.run(run, capture_output=True, text=True, timeout=600)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert problem in last
    assert "below if __name__ == '__main__':" in last
