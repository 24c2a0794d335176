"""The Dask engine: one small cluster on this machine, shared by all tests here."""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest

from errata.core.errors import ErrataError, InputError
from errata.scale import executors
from errata.scale.executors import EngineSettings, dask_client, run_dask
from errata.scale.shard_job import ShardRecord
from run_folders import PlannedRun, planned, result_of, tiled_sample

pytest.importorskip("distributed")
pytestmark = pytest.mark.slow
REFUSING = '''"""A metric that notes that it was tried, and fails."""
from pathlib import Path
from errata.core.errors import InputError


def refusing(source, hypothesis, references):
    with Path(__file__).with_suffix(".tries").open("a") as file:
        file.write("x")
    raise {error}
'''


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with dask_client(workers=2) as opened:
        yield opened


def listening() -> set[str]:
    sockets = set()
    for path in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            sockets.add(os.readlink(path).removeprefix("socket:[").removesuffix("]"))
    found = set()
    for name in ("tcp", "tcp6"):
        for line in Path(f"/proc/self/net/{name}").read_text().splitlines()[1:]:
            field = line.split()
            if field[3] == "0A" and field[9] in sockets:
                packed = bytes.fromhex(field[1].partition(":")[0])
                found.add(socket.inet_ntoa(packed[-4:][::-1]))
    return found


def test_digits_of_a_loop(client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A task that kills workers of Dask is left to workers of our own."""
    files = tiled_sample(tmp_path / "in", 1, ("eager", "noisy"))
    wanted = PlannedRun.of(tmp_path / "loop", files, "m2", "gleu", shard_sentences=12)
    monkeypatch.chdir(tmp_path)
    run = PlannedRun.of(Path("run"), files, "m2", "gleu", shard_sentences=12)
    given: list[dict[str, Any]] = []
    counted: list[int] = []

    def shared_client(**settings: Any) -> AbstractContextManager[Any]:
        given.append(settings)
        return nullcontext(client)

    def all_but_one(*arguments: Any, lost: Any, **more: Any) -> Iterator[ShardRecord]:
        *others, tasks = arguments
        for record in run_dask(*others, tasks[1:], lost=lost, **more):
            counted.append(record.task)
            yield record
        lost(tasks[0])

    monkeypatch.setattr(executors, "dask_client", shared_client)
    monkeypatch.setattr(executors, "run_dask", all_but_one)
    outcome = run.finish(EngineSettings("dask", workers=5, life=33), counting=True)
    assert given == [{"scheduler": None, "workers": 5, "certificates": None, "life": 33}]
    assert (sorted(counted), outcome.counted, outcome.workers_lost) == ([1, 2, 3, 4, 5], 6, 1)
    assert result_of(run.place) == wanted.count().result()


def test_second_cluster_has_its_own_life(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ERRATA_NEW_HERE", "since then")
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    before = dict(os.environ)
    with dask_client(workers=1, life=33) as other:
        assert other.cluster.scheduler.worker_ttl == 33
        [environment] = other.run(lambda: dict(os.environ)).values()
        assert client.submit(abs, -1).result() == other.submit(abs, -1).result()
    assert dict(os.environ) == before
    assert environment["ERRATA_NEW_HERE"] == "since then"
    assert environment.items() >= executors.ONE_THREAD.items()


def test_nothing_listens_but_on_the_loopback_address(client: Any) -> None:
    known = client.scheduler_info()
    places = [known["address"], *known["workers"]]
    places += [each["nanny"] for each in known["workers"].values()]
    assert {place.rpartition(":")[0] for place in places} == {"tcp://127.0.0.1"}
    if Path("/proc/self/net/tcp").exists():
        assert listening().union(*client.run(listening).values()) == {"127.0.0.1"}


@pytest.mark.parametrize(
    ("error", "tries"),
    [
        ("InputError('bad', path='x.m2', line=3)", 1),
        ("ValueError('bad')", 1),  # of a function, which becomes a PluginError
        ("OSError('bad')", 1 + executors.RETRIES),  # as of a store that is busy
        ("MemoryError('bad')", 1 + executors.RETRIES),
    ],
)
def test_what_may_pass_is_tried_again(client: Any, error: str, tries: int, tmp_path: Path) -> None:
    files = tiled_sample(tmp_path / "in", 1, ("eager",))
    path = files.folder / "refusing.py"
    path.write_text(REFUSING.format(error=error))
    folder, manifest = planned(tmp_path / "run", files, f"{path}:refusing")
    with pytest.raises(Exception, match="bad") as raised:
        list(run_dask(client, folder.place, manifest, [0]))
    assert path.with_suffix(".tries").read_text() == "x" * tries
    if tries == 1:
        assert isinstance(raised.value, ErrataError)
    if error.startswith("InputError"):
        assert isinstance(raised.value, InputError)
        assert (raised.value.path, raised.value.line) == ("x.m2", 3)


@pytest.mark.skipif(sys.platform == "win32", reason="interrupts differ on Windows")
def test_interrupt_waits_for_a_cluster_that_can_be_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    import distributed

    made: list[Any] = []

    class Interrupted(distributed.LocalCluster):
        def __init__(self, **settings: Any) -> None:
            os.kill(os.getpid(), signal.SIGINT)
            super().__init__(**settings)
            made.append(self)

    monkeypatch.setattr(distributed, "LocalCluster", Interrupted)
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt), dask_client(workers=1):
            pytest.fail("it goes on")
    finally:
        signal.signal(signal.SIGINT, usual)
    assert [each.status.name for each in made] == ["closed"]


class FakeClient:
    status = "closed"

    def __init__(self, *workers: str) -> None:
        self.workers = dict.fromkeys(workers)

    def scheduler_info(self) -> dict[str, Any]:
        return {"workers": self.workers}

    def wait_for_workers(self, number: int, timeout: float) -> None:
        assert (number, timeout) == (1, executors.WORKER_SECONDS)
        raise TimeoutError

    def run(self, function: object) -> dict[str, str]:
        raise ModuleNotFoundError("no module errata.scale")


def test_workers_have_the_same_errata(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    address = client.scheduler.address
    with dask_client(scheduler=address, workers=1) as other:
        assert len(other.scheduler_info()["workers"]) == 2
    monkeypatch.setattr(executors, "__version__", "9.9")
    with (
        pytest.raises(InputError, match=r"has Errata .*, this is 9\.9; install the same"),
        dask_client(scheduler=address, workers=1),
    ):
        pytest.fail("it goes on")
    with pytest.raises(InputError, match=r"tcp://a: .* no worker for 60 s; .*dask worker tcp://a"):
        executors._same_versions(FakeClient(), "tcp://a")
    with pytest.raises(InputError, match=r"cannot run this Errata: .*scale; install the same"):
        executors._same_versions(FakeClient("tcp://b"), "tcp://a")


def test_certificates_go_to_dask() -> None:
    security = executors._security(("ca.pem", "our.pem", "key.pem"))
    found = security.get_tls_config_for_role("client")
    assert [found[name] for name in ("ca_file", "cert", "key")] == ["ca.pem", "our.pem", "key.pem"]
    assert security.require_encryption
    assert executors._security(None) is None


def test_lost_scheduler_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executors, "LOOK_SECONDS", 0.0)
    with pytest.raises(InputError, match=r"scheduler of Dask was lost: .*closed; run the same"):
        executors._next(SimpleQueue(), FakeClient())
