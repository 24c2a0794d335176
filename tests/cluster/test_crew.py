"""How a run treats workers that start slowly, stop, exit, or die of a sentence."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, repeat
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from errata.core.errors import InputError
from errata.scale.executors import (
    STARTS,
    Job,
    ProcessExecutor,
    WorkerLostError,
    defer_sigint,
    isolate_crash,
    processor_time,
    run_processes,
)
from errata.scale.manifest import Manifest
from errata.scale.shard_job import ShardRecord
from run_folders import planned, tiled_sample

LIFE = 0.004  # seconds of the machine's own clock; workers are looked at every millisecond
SLOW, STOPPED = "b" * 100, "-" * 1000
Survives = Callable[[Job], bool]


@pytest.fixture(scope="module")
def manifest(tmp_path_factory: pytest.TempPathFactory) -> Manifest:
    folder = tmp_path_factory.mktemp("plan")
    return planned(folder / "run", tiled_sample(folder / "in"), "m2", shard_sentences=20)[1]


class FakeProcess:
    """A worker process that does one step of its script whenever somebody reads the clock.

    ``b``: uses the processor; ``-``: does nothing; ``x``: exits; ``a``: gives a sign of life;
    ``w``: works from now on, and dies of the orders that it does not survive.
    """

    def __init__(self, pid: int, channel: Connection, script: str, survives: Survives) -> None:
        self.pid, self.channel, self.script, self.survives = pid, channel, iter(script), survives
        self.exitcode: int | None = None
        self.used, self.works = 0, False

    def step(self) -> None:
        if not self.is_alive():
            return
        match next(self.script, "-"):
            case "b":
                self.used += 1
            case "x":
                self.exit(3)
            case "a":
                self.channel.send(("alive", None))
            case "w":
                self.channel.send(("alive", None))
                self.works = True
        if self.works and self.channel.poll():
            order: Job = self.channel.recv()
            if not self.survives(order):
                self.exit(-9)
            elif order.stretch is None:
                record = ShardRecord("", order.task, 20, {}, None, order.left_out, 0.0, 0.0, 0)
                self.channel.send(("done", record))
            else:
                self.channel.send(("done", None))

    def exit(self, code: int) -> None:
        self.exitcode = code
        self.channel.close()

    def is_alive(self) -> bool:
        return self.exitcode is None

    def kill(self) -> None:
        self.exit(-9)

    def join(self, timeout: float | None = None) -> None:
        pass


class Machine:
    """A machine whose processes follow scripts and whose clock advances when somebody reads it."""

    def __init__(
        self,
        *scripts: str,
        tick: float = LIFE / 2,
        tells_processor_time: bool = True,
        survives: Survives = lambda order: True,
    ) -> None:
        self.scripts, self.survives = chain(scripts, repeat("w")), survives
        self.tick, self.tells = tick, tells_processor_time
        self.now = 0.0
        self.processes: list[FakeProcess] = []

    def start(self, *_: object) -> tuple[Any, Connection]:
        ours, theirs = Pipe()
        process = FakeProcess(len(self.processes), theirs, next(self.scripts), self.survives)
        self.processes.append(process)
        return process, ours

    def clock(self) -> float:
        self.now += self.tick
        for process in self.processes:
            process.step()
        return self.now

    def processor_time(self, pid: int) -> int | None:
        return self.processes[pid].used if self.tells else None

    def crew(self, size: int = 1) -> ProcessExecutor:
        given: Any = {"start": self.start, "clock": self.clock}
        return ProcessExecutor("", size, life=LIFE, processor_time=self.processor_time, **given)

    def count(self, manifest: Manifest, **allowed: int) -> tuple[tuple[int, ...], list[str]]:
        """Count one task; return the sentences that were left out, and why workers were lost."""
        lost: list[WorkerLostError] = []
        with self.crew() as crew:
            (record,) = run_processes(crew, manifest, [0], lost=lost.append, **allowed)
        assert record.task == 0
        return record.left_out, [error.why for error in lost]

    def run(self, manifest: Manifest) -> list[str]:
        """Count one task with all its sentences; return why workers were lost."""
        left_out, lost = self.count(manifest)
        assert left_out == ()
        return lost


def test_slow_start_is_not_a_death(manifest: Manifest) -> None:
    machine = Machine(f"{SLOW}w")
    assert machine.run(manifest) == []
    assert machine.now > 40 * LIFE


def test_stopped_start_is_replaced_after_its_life(manifest: Manifest) -> None:
    """It is no death, however often it happens, and the next start gets twice the time."""
    machine = Machine(f"bbb{STOPPED}", *[STOPPED] * STARTS, "w")
    silences = [f"{LIFE * 2**k:g}" for k in range(STARTS + 1)]
    assert machine.run(manifest) == [
        f"gave no sign of life for {seconds} s while it started" for seconds in silences
    ]


def test_slow_starts_get_through_where_processor_times_are_unknown(manifest: Manifest) -> None:
    machine = Machine(*[f"{SLOW}w"] * 9, tells_processor_time=False)
    assert 5 <= len(machine.run(manifest)) < 9


def test_exits_before_work_begins_end_the_run(manifest: Manifest) -> None:
    assert len(Machine(*["bx"] * (STARTS - 1), "w").run(manifest)) == STARTS - 1
    machine = Machine(*["bx"] * (STARTS - 1), STOPPED, "x")  # a silent one changes nothing
    with pytest.raises(InputError) as caught:
        machine.run(manifest)
    assert f"{STARTS} worker processes in a row" in caught.value.problem
    assert "exit code 3" in caught.value.problem
    for remedy in ("if __name__ == '__main__':", "--workers"):
        assert remedy in caught.value.remedy


def test_worker_that_stops_at_work_is_replaced_after_its_life(manifest: Manifest) -> None:
    machine = Machine(STOPPED, f"{SLOW}a{STOPPED}", "w")
    wanted = f"gave no sign of life for {LIFE:g} s"
    assert machine.run(manifest) == [f"{wanted} while it started", wanted]


def test_signs_of_life_count_while_an_answer_is_used() -> None:
    """The time that the caller takes is no silence of the other workers."""
    machine = Machine("", "", tick=0.0)
    with machine.crew(2) as crew:
        for task in (0, 1):
            crew.ask(Job(task))
        first, other = (process.channel for process in machine.processes)
        other.send(("alive", None))
        assert list(crew.answers()) == []
        first.send(("done", "record"))
        answers = []
        for _, answer in crew.answers():
            machine.now += 100 * LIFE
            other.send(("alive", None))
            answers.append(answer)
        assert (answers, list(crew.answers()), crew.busy) == (["record"], [], 1)


def test_processor_time_is_that_of_the_process() -> None:
    def ticks() -> float:
        used = os.times()
        return (used.user + used.system) * os.sysconf("SC_CLK_TCK")

    low, found, high = ticks(), processor_time(os.getpid()), ticks()
    if found is None:
        pytest.skip("the system does not tell")
    assert low - 1 <= found <= high + 1
    assert processor_time(2**30) is None


def dies_of_two(order: Job) -> bool:
    """Survive what is without sentence 3, and, once that is left out, without sentence 7."""
    deadly = 7 if 3 in order.left_out else 3
    start, stop = order.stretch or (0, 20)
    return deadly in order.left_out or not start <= deadly < stop


def test_task_that_is_searched_twice_counts_its_sentences_once(manifest: Manifest) -> None:
    left_out, lost = Machine(survives=dies_of_two).count(manifest, allow_failed=2)
    assert (left_out, lost) == ((3, 7), ["ended (exit code -9)"] * 6)
    for allowed, message in (
        ({"allow_failed": 1}, r"sentence 8 \(from 1\).*--allow-failed 2"),
        ({"allow_failed": 2, "left_out": 2}, r"sentence 4 \(from 1\).*--allow-failed 3"),
    ):
        with pytest.raises(InputError, match=message):
            Machine(survives=dies_of_two).count(manifest, **allowed)


def test_task_whose_sentences_are_not_to_blame_is_given_up(manifest: Manifest) -> None:
    machine = Machine(survives=lambda order: order.stretch not in (None, (0, 20)))
    with pytest.raises(InputError, match=r"task 0: 9 workers .*no sentence.*--shard-size"):
        machine.run(manifest)


def test_no_sentence_is_blamed_for_exits_before_work_begins(manifest: Manifest) -> None:
    """Three workers that began would have the task searched; five in a row that did not, end it."""
    early, late = ["x"] * (STARTS - 1), "ax"
    lost = Machine(*early, late, *early, late).run(manifest)
    assert [why.startswith("ended before it began") for why in lost] == (
        [True] * 4 + [False] + [True] * 4 + [False]
    )


def test_shard_that_nobody_can_read_is_refused() -> None:
    with pytest.raises(InputError, match="--shard-size"):
        isolate_crash(8, lambda start, stop: False, most=1)
    deadly = {1, 4, 5}

    def survives(start: int, stop: int) -> bool:
        return not deadly.intersection(range(start, stop))

    found = [isolate_crash(8, survives, most=most) for most in (1, 2, 9)]
    assert found == [(1,), (1, 4), (1, 4, 5)]


UNGUARDED = """
import sys
from errata.scale.run import finish_run, planned_run
from errata.scale.executors import EngineSettings
from errata.io.storage import Folder

folder = Folder(sys.argv[1])
finish_run(folder, planned_run(folder), EngineSettings("dask", workers=1))
"""
terminal = pytest.mark.skipif(sys.platform == "win32", reason="interrupts differ on Windows")


@pytest.mark.slow
def test_faults_are_reported_once(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
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
def test_script_without_a_guard_is_refused(tmp_path: Path) -> None:
    """Every worker would run the script again, and start workers."""
    pytest.importorskip("distributed")
    planned(tmp_path / "run", tiled_sample(tmp_path / "in", 1, ("eager",)), "m2")
    program = tmp_path / "unguarded.py"
    program.write_text(UNGUARDED)
    run = [sys.executable, str(program), str(tmp_path / "run")]
    done = subprocess.run(run, capture_output=True, text=True, timeout=600)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert "the workers of Dask do not start" in last
    assert "below if __name__ == '__main__':" in last
