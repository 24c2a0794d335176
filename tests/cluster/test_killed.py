"""Whatever is killed, stopped, full or cut off: the bytes of the result are the same."""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from errata.cluster import dask_engine
from errata.cluster.crew import Crew, run_processes
from errata.cluster.dask_engine import dask_client, run_dask
from errata.cluster.driving import finish_run
from errata.cluster.engines import EngineSettings
from errata.errors import ErrataError, InputError
from run_folders import SampleFiles, planned, result_of, run_of, tiled_sample

pytestmark = pytest.mark.slow
SHARD = 12
REFUSING = '''"""A metric that notes that it was tried, and fails."""
from pathlib import Path
from errata.errors import InputError


def refusing(source, hypothesis, references):
    with Path(__file__).with_suffix(".tries").open("a") as file:
        file.write("x")
    raise {error}
'''


@pytest.fixture
def files(tmp_path: Path) -> SampleFiles:
    return tiled_sample(tmp_path / "in", 3, ("eager", "noisy"))


@pytest.fixture
def wanted(files: SampleFiles, tmp_path: Path) -> bytes:
    """The result of a run that nobody disturbs."""
    run_of(tmp_path / "calm", files, "m2", files.slow_metric(), shard_sentences=SHARD)
    return result_of(tmp_path / "calm")


def test_workers_killed_at_twenty_moments(
    files: SampleFiles, wanted: bytes, tmp_path: Path
) -> None:
    metric = files.slow_metric(0.01)
    folder, manifest = planned(tmp_path / "run", files, "m2", metric, shard_sentences=SHARD)
    rng, killed, lost = random.Random(1), 0, []
    over = threading.Event()
    with Crew(folder.place, 2) as crew:

        def kill() -> None:
            nonlocal killed
            while killed < 20 and not over.wait(rng.uniform(0.3, 1.2)):
                pids = crew.pids
                if pids:
                    with suppress(ProcessLookupError):
                        os.kill(rng.choice(pids), signal.SIGKILL)
                        killed += 1

        killer = threading.Thread(target=kill)
        killer.start()
        records = list(run_processes(crew, manifest, range(len(manifest.tasks)), lost=lost.append))
        # What is over before twenty is counted again until they are reached.
        while killed < 20:
            for task in range(len(manifest.tasks)):
                folder.remove(f"records/{task:08d}.json")
            again = run_processes(crew, manifest, range(len(manifest.tasks)), lost=lost.append)
            records = list(again)
        over.set()
        killer.join()
    assert sorted(record.task for record in records) == list(range(len(manifest.tasks)))
    assert 0 < len(lost) <= killed == 20
    outcome = finish_run(folder, manifest, counting=False)
    assert (outcome.counted, outcome.damaged) == (0, 0)
    assert result_of(tmp_path / "run") == wanted


@contextmanager
def driver(
    place: Path, files: SampleFiles, metric: str, *more: str
) -> Iterator[subprocess.Popen[str]]:
    """``errata scale run`` as a process."""
    outputs = [f"{name}={files.output(name)}" for name in files.systems]
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "errata", "scale", "run", "--run", str(place)),
            *("--gold", str(files.gold), *outputs, "-m", "m2", "-m", metric),
            *("--resamples", "100", "--shard-sentences", str(SHARD), *more),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def until_records(place: Path, number: int) -> None:
    for _ in range(1200):
        if len(list((place / "records").glob("*.json"))) >= number:
            return
        time.sleep(0.05)
    raise AssertionError("no task was counted within a minute")


def children(pid: int) -> list[int]:
    """The worker processes of a process (and not what multiprocessing keeps beside them)."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            parent = int(path.joinpath("stat").read_text().rpartition(")")[2].split()[1])
            command = path.joinpath("cmdline").read_bytes()
            if parent == pid and b"spawn_main" in command:
                found.append(int(path.name))
    return found


def gone(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True
    return state == "Z"


def finished(process: subprocess.Popen[str]) -> str:
    _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return err


def test_a_driver_that_is_killed_goes_on(files: SampleFiles, wanted: bytes, tmp_path: Path) -> None:
    place = tmp_path / "run"
    metric = files.slow_metric(0.02)
    with driver(place, files, metric) as process:
        until_records(place, 3)
        workers = children(process.pid)
        process.kill()
        process.wait()
    for _ in range(600):  # nobody asks them any more
        if all(map(gone, workers)):
            break
        time.sleep(0.1)
    assert workers
    assert all(map(gone, workers))
    done = len(list((place / "records").glob("*.json")))
    files.slow_metric(0.0)
    with driver(place, files, metric) as process:
        said = finished(process)
    assert f"{18 - done} of 18 tasks counted now, {done} before" in said
    assert result_of(place) == wanted


def test_a_stopped_worker_is_replaced(files: SampleFiles, wanted: bytes, tmp_path: Path) -> None:
    place = tmp_path / "run"
    metric = files.slow_metric(0.02)
    with driver(place, files, metric, "--life", "3") as process:
        until_records(place, 2)
        os.kill(children(process.pid)[0], signal.SIGSTOP)
        said = finished(process)
    # The one that was stopped, and those that a busy machine let wait as long.
    lost = said.count("gave no sign of life for 3 s")
    assert lost > 0
    assert f"{lost} workers lost and replaced" in said
    assert result_of(place) == wanted


def test_two_drivers_at_once_make_one_result(
    files: SampleFiles, wanted: bytes, tmp_path: Path
) -> None:
    place = tmp_path / "run"
    metric = files.slow_metric(0.005)
    with driver(place, files, metric) as one, driver(place, files, metric) as other:
        assert [finished(one), finished(other)]
    assert result_of(place) == wanted


def test_a_sentence_that_kills_is_named_and_may_be_left_out(tmp_path: Path) -> None:
    files = tiled_sample(tmp_path / "in", 1, ("eager",))
    source = files.read()[0].sources[40]
    metric = files.slow_metric(0.0, deadly=source)
    settings = EngineSettings("local", workers=1)
    with pytest.raises(InputError, match=r"sentence 41 \(from 1\).*--allow-failed 1"):
        run_of(tmp_path / "run", files, metric, shard_sentences=30, settings=settings)
    settings = EngineSettings("local", workers=1, allow_failed=1)
    outcome = run_of(tmp_path / "run", files, metric, shard_sentences=30, settings=settings)
    assert outcome.left_out == (("gold", 41),)
    scores = outcome.sets[0].scores[0]
    assert "sentences:71" in scores.context
    assert "failed:41" in scores.context


def listening(pid: int | None = None) -> set[bytes]:
    """The addresses at which a process waits for others."""
    own = pid or os.getpid()
    sockets = set()
    for path in Path(f"/proc/{own}/fd").iterdir():
        with suppress(OSError):
            sockets.add(os.readlink(path).removeprefix("socket:[").removesuffix("]"))
    found = set()
    for name in ("tcp", "tcp6"):
        for line in Path(f"/proc/{own}/net/{name}").read_text().splitlines()[1:]:
            field = line.split()
            if field[3] == "0A" and field[9] in sockets:
                found.add(bytes.fromhex(field[1].partition(":")[0])[-4:][::-1])
    return found


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def looks_around(dask_worker: Any) -> tuple[dict[str, Any], float, dict[str, str]]:
    """What a worker of Dask was told, how often its clock ticks, and its environment."""
    import dask

    told = {name: dask.config.get(name) for name in dask_engine.SETTINGS}
    return told, dask_worker.periodic_callbacks["tick"].callback_time, dict(os.environ)


def imported_before_work() -> set[str]:
    """The modules that a worker of Dask has, of all that the one it was forked from had."""
    return {*sys.modules}


class TestDask:
    @pytest.fixture(autouse=True)
    def _there(self) -> None:
        pytest.importorskip("distributed")

    def test_the_embedded_cluster_gives_the_same(
        self, files: SampleFiles, wanted: bytes, tmp_path: Path
    ) -> None:
        with driver(
            tmp_path / "run", files, files.slow_metric(), "--engine", "dask", "--workers", "2"
        ) as process:
            finished(process)
        assert result_of(tmp_path / "run") == wanted

    def test_its_workers_have_the_life_that_is_asked_for(self) -> None:
        with dask_client(workers=1, life=33) as client:
            assert client.cluster.scheduler.worker_ttl == 33

    def test_its_workers_look_around_seldom_and_keep_their_memory(self) -> None:
        with dask_client(workers=1) as client:
            [(known, ticks, environment)] = client.run(looks_around).values()
        assert known["distributed.worker.profile.enabled"] is False
        assert {name: known[name] for name in dask_engine.SETTINGS} == dask_engine.SETTINGS
        assert ticks == 500  # milliseconds, of a clock that runs
        assert "MALLOC_TRIM_THRESHOLD_" not in environment
        assert environment["OMP_NUM_THREADS"] == "1"

    def test_its_workers_are_forked_from_one_process_that_imports_what_they_need(self) -> None:
        with dask_client(workers=2) as client:
            parents = {*client.run(os.getppid).values()}
            known = client.run(imported_before_work).values()
        assert len(parents) == 1
        assert os.getpid() not in parents
        for modules in known:
            assert {"distributed", "errata.cluster.counting", "numpy"} <= modules
            assert "pandas" not in modules  # as Dask would have it, where it is installed

    def test_its_workers_have_the_environment_of_now(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with dask_client(workers=1):
            pass  # by now there is the process that workers are forked from
        monkeypatch.setenv("ERRATA_NEW_HERE", "since then")
        with dask_client(workers=1) as client:
            assert [*client.run(os.getenv, "ERRATA_NEW_HERE").values()] == ["since then"]

    def test_the_environment_here_stays_as_it_was(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OMP_NUM_THREADS", "4")
        monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
        before = dict(os.environ)
        with dask_client(workers=1) as client:
            [there] = client.run(lambda: dict(os.environ)).values()
        assert dict(os.environ) == before
        assert {name: there[name] for name in dask_engine.ONE_THREAD} == dask_engine.ONE_THREAD

    def test_an_interrupt_waits_until_a_cluster_is_there_that_can_be_closed(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        import distributed

        made: list[Any] = []

        class Interrupted(distributed.LocalCluster):
            def __init__(self, **settings: Any) -> None:
                os.kill(os.getpid(), signal.SIGINT)
                super().__init__(**settings)
                made.append(self)

        monkeypatch.setattr(distributed, "LocalCluster", Interrupted)
        with pytest.raises(KeyboardInterrupt), dask_client(workers=1):
            pytest.fail("it goes on")
        assert [each.status.name for each in made] == ["closed"]

    def test_several_clusters_are_there_at_once(self) -> None:
        with dask_client(workers=1) as one, dask_client(workers=1) as other:
            assert one.submit(abs, -1).result() == other.submit(abs, -1).result()

    def test_nothing_listens_but_on_the_loopback_address(self) -> None:
        with dask_client(workers=1) as client:
            known = client.scheduler_info()
            places = [known["address"], *known["workers"]]
            places += [each["nanny"] for each in known["workers"].values()]
            open_to = {socket.inet_ntoa(place) for place in listening(os.getpid())}
            open_to |= {socket.inet_ntoa(p) for p in client.run(listening)[places[1]]}
        assert [place.rpartition(":")[0] for place in places] == ["tcp://127.0.0.1"] * 3
        assert open_to == {"127.0.0.1"}

    def test_a_scheduler_without_workers_is_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(dask_engine, "WORKER_SECONDS", 1)
        with (
            cluster(workers=0) as (_, address),
            pytest.raises(InputError, match=r"tcp.*no worker for 1 s; start some: dask worker tcp"),
            dask_client(scheduler=address),
        ):
            pass

    def test_workers_have_the_same_errata(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with cluster(workers=1) as (_, address):
            with dask_client(scheduler=address) as client:
                assert len(client.scheduler_info()["workers"]) == 1
            monkeypatch.setattr(dask_engine, "__version__", "9.9")
            with (
                pytest.raises(InputError, match=r"has Errata .*, this is 9\.9; install the same"),
                dask_client(scheduler=address),
            ):
                pass
        (tmp_path / "errata").mkdir()
        (tmp_path / "errata" / "__init__.py").write_text("__version__ = '0.0'\n")
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        with (
            cluster(workers=1) as (_, address),
            pytest.raises(InputError, match=r"cannot run this Errata: .*; install the same"),
            dask_client(scheduler=address),
        ):
            pass

    def test_a_killed_worker_costs_its_task(
        self, files: SampleFiles, wanted: bytes, tmp_path: Path
    ) -> None:
        metric = files.slow_metric(0.02)
        folder, manifest = planned(tmp_path / "run", files, "m2", metric, shard_sentences=SHARD)
        with dask_client(workers=2) as client:
            records = run_dask(client, folder.place, manifest, range(len(manifest.tasks)))
            found = [next(records)]
            os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
            found += records
        assert sorted(r.task for r in found) == list(range(len(manifest.tasks)))
        finish_run(folder, manifest, counting=False)
        assert result_of(tmp_path / "run") == wanted

    @pytest.mark.parametrize(
        ("error", "tries"),
        [
            ("InputError('bad', path='x.m2', line=3)", 1),
            ("ValueError('bad')", 1),  # of a function, which is told as PluginError
            ("OSError('bad')", 1 + dask_engine.RETRIES),  # as of a store that is busy
            ("MemoryError('bad')", 1 + dask_engine.RETRIES),
        ],
    )
    def test_only_what_may_pass_is_tried_again(
        self, error: str, tries: int, tmp_path: Path
    ) -> None:
        files = tiled_sample(tmp_path / "in", 1, ("eager",))
        path = files.folder / "refusing.py"
        path.write_text(REFUSING.format(error=error))
        folder, manifest = planned(tmp_path / "run", files, f"{path}:refusing")
        with dask_client(workers=1) as client, pytest.raises(Exception, match="bad") as raised:
            list(run_dask(client, folder.place, manifest, [0]))
        assert path.with_suffix(".tries").read_text() == "x" * tries
        if tries == 1:
            assert isinstance(raised.value, ErrataError)
        if error.startswith("InputError"):
            assert isinstance(raised.value, InputError)
            assert (raised.value.path, raised.value.line) == ("x.m2", 3)

    def test_a_killed_scheduler_is_said_and_the_run_goes_on(
        self, files: SampleFiles, wanted: bytes, tmp_path: Path
    ) -> None:
        place, metric = tmp_path / "run", files.slow_metric(0.02)
        with cluster() as (scheduler, address):
            options = ("--engine", "dask", "--scheduler", address)
            with driver(place, files, metric, *options) as process:
                until_records(place, 2)
                scheduler.kill()
                _, err = process.communicate(timeout=300)
            assert process.returncode == 2
            assert "scheduler of Dask was lost" in err
            assert "run the same command again" in err
        files.slow_metric(0.0)
        with cluster() as (_, address):
            options = ("--engine", "dask", "--scheduler", address)
            with driver(place, files, metric, *options) as process:
                said = finished(process)
        assert " 0 before" not in said
        assert result_of(place) == wanted


@contextmanager
def cluster(workers: int = 2) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A scheduler and workers of Dask as processes of their own, on the loopback address."""
    address = f"tcp://127.0.0.1:{free_port()}"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    host, port = "127.0.0.1", address.rpartition(":")[2]
    scheduler = subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", host, "--port", port]
        + ["--no-dashboard"],
        **quiet,  # type: ignore[call-overload]
    )
    hands = [
        subprocess.Popen(
            [sys.executable, "-m", "distributed.cli.dask_worker", address, "--host", host]
            + ["--nthreads", "1", "--no-dashboard", "--death-timeout", "30"],
            **quiet,  # type: ignore[call-overload]
        )
        for _ in range(workers)
    ]
    try:
        yield scheduler, address
    finally:
        for process in (scheduler, *hands):
            process.kill()
            process.wait()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of two megabytes."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place)], capture_output=True
    )
    if mounted.returncode:
        pytest.skip("a small disk can be mounted by root only")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_full_disk_is_said_and_the_run_goes_on(
    files: SampleFiles, wanted: bytes, tmp_path: Path, small_disk: Path
) -> None:
    big = small_disk / "big"
    place, metric = small_disk / "run", files.slow_metric()
    folder, manifest = planned(place, files, "m2", metric, shard_sentences=SHARD)
    with suppress(OSError), big.open("wb") as file:
        while True:
            file.write(b"x" * 4096)
    with pytest.raises(InputError, match=r"cannot write the file: No space left.*make room"):
        finish_run(folder, manifest, EngineSettings("local", workers=2))
    assert not (place / "result.json").exists()
    big.unlink()
    finish_run(folder, manifest, EngineSettings("local", workers=2))
    assert result_of(place) == wanted
