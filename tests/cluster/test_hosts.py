"""Several hosts: network namespaces with a scheduler and workers of Dask, one of them cut off."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from run_folders import SampleFiles, result_of, run_of, tiled_sample

pytestmark = pytest.mark.long
SHARD = 12
SUBNET = "10.213.77"


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


class Hosts:
    """Namespaces on a bridge, named after the process that made them; host k has address k + 1."""

    def __init__(self, number: int) -> None:
        self.mark = f"e{os.getpid() % 100000}"
        self.number = number
        self.started: list[subprocess.Popen[str]] = []

    def __enter__(self) -> Hosts:
        bridge = f"{self.mark}b"
        ip("link", "add", bridge, "type", "bridge")
        ip("link", "set", bridge, "up")
        for k in range(self.number):
            name = self.name(k)
            ip("netns", "add", name)
            ip("link", "add", f"{name}o", "type", "veth", "peer", "name", f"{name}i")
            ip("link", "set", f"{name}o", "master", bridge, "up")
            ip("link", "set", f"{name}i", "netns", name)
            ip("-n", name, "addr", "add", f"{self.address(k)}/24", "dev", f"{name}i")
            ip("-n", name, "link", "set", f"{name}i", "up")
            ip("-n", name, "link", "set", "lo", "up")
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.started:
            process.kill()
            process.communicate()
        for k in range(self.number):
            subprocess.run(["ip", "netns", "delete", self.name(k)], capture_output=True)
        subprocess.run(["ip", "link", "delete", f"{self.mark}b"], capture_output=True)

    def name(self, k: int) -> str:
        return f"{self.mark}h{k}"

    def address(self, k: int) -> str:
        return f"{SUBNET}.{k + 1}"

    def start(self, k: int, *command: str) -> subprocess.Popen[str]:
        """Run something on a host."""
        process = subprocess.Popen(
            ["ip", "netns", "exec", self.name(k), *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.started.append(process)
        return process

    def cut(self, k: int) -> None:
        """Take the cable out."""
        ip("link", "set", f"{self.name(k)}o", "down")


@pytest.fixture
def hosts() -> Iterator[Hosts]:
    pytest.importorskip("distributed")
    if shutil.which("ip") is None or os.geteuid() != 0:
        pytest.skip("hosts as network namespaces need root and the program ip")
    made = Hosts(3)
    try:
        made.__enter__()
    except subprocess.CalledProcessError as error:
        made.__exit__()
        pytest.skip(f"network namespaces cannot be made here: {error.stderr.decode()[:100]}")
    try:
        yield made
    finally:
        made.__exit__()


def test_a_host_that_is_cut_off_is_not_waited_for(hosts: Hosts, tmp_path: Path) -> None:
    files: SampleFiles = tiled_sample(tmp_path / "in", 3, ("eager", "noisy"))
    metric = files.slow_metric()
    run_of(tmp_path / "calm", files, "m2", metric, shard_sentences=SHARD)
    files.slow_metric(0.05)
    python, place = sys.executable, tmp_path / "run"
    address = f"tcp://{hosts.address(0)}:8786"
    os.environ["DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL"] = "10s"
    try:
        hosts.start(
            0,
            *(python, "-m", "distributed.cli.dask_scheduler", "--host", hosts.address(0)),
            *("--port", "8786", "--no-dashboard"),
        )
    finally:
        del os.environ["DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL"]
    for k in (1, 2):
        hosts.start(
            k,
            *(python, "-m", "distributed.cli.dask_worker", address, "--no-dashboard"),
            *("--host", hosts.address(k), "--nthreads", "1", "--death-timeout", "60"),
        )
    outputs = [f"{name}={files.output(name)}" for name in files.systems]
    driver = hosts.start(
        0,
        *(python, "-m", "errata", "scale", "run", "--run", str(place), "--gold", str(files.gold)),
        *(*outputs, "-m", "m2", "-m", metric, "--resamples", "100"),
        *("--shard-sentences", str(SHARD), "--engine", "dask", "--scheduler", address),
    )
    for _ in range(1200):
        if len(list((place / "records").glob("*.json"))) >= 4:
            break
        assert driver.poll() is None, driver.communicate()[1]
        time.sleep(0.1)
    hosts.cut(2)
    _, err = driver.communicate(timeout=300)
    assert driver.returncode == 0, err
    assert result_of(place) == result_of(tmp_path / "calm")
