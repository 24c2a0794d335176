"""Several hosts: network namespaces with a scheduler and workers of Dask, one of them cut off."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from run_folders import planned, result_of, run_of, tiled_sample, until_records

pytestmark = pytest.mark.long
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
