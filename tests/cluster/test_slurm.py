"""An array job of a real SLURM, on this machine only, counts the tasks of a run."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from processes import free_port, wait_until
from run_folders import planned, result_of, run_of, tiled_sample

pytestmark = pytest.mark.long
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "sinfo")
CONF = """\
ClusterName=errata
SlurmctldHost=localhost(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket={home}/munge.socket
SlurmUser=root
SlurmdUser=root
StateSaveLocation={home}/state
SlurmdSpoolDir={home}/spool
SlurmctldPidFile={home}/slurmctld.pid
SlurmdPidFile={home}/slurmd.pid
SlurmctldPort={controller}
SlurmdPort={node}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
MpiDefault=none
NodeName=localhost CPUs={cores} State=UNKNOWN
PartitionName=all Nodes=localhost Default=YES MaxTime=INFINITE State=UP
"""


@pytest.fixture
def slurm() -> Iterator[dict[str, str]]:
    """The environment of a SLURM of one node, which ends with the test."""
    path = f"{os.environ['PATH']}:/usr/sbin"
    munged, controller, node, *others = (shutil.which(name, path=path) for name in PROGRAMS)
    if not (munged and controller and node and all(others)) or os.geteuid() != 0:
        pytest.skip("needs SLURM (slurm-wlm, munge) and root")
    home = Path("/run") / f"errata-{secrets.token_hex(4)}"  # munge wants safe folders above it
    for name in ("state", "spool"):
        (home / name).mkdir(parents=True)
    key = home / "munge.key"
    key.write_bytes(secrets.token_bytes(128))
    key.chmod(0o400)
    ports = {name: free_port() for name in ("controller", "node")}
    conf = home / "slurm.conf"
    conf.write_text(CONF.format(home=home, cores=os.cpu_count() or 1, **ports))
    environment = {**os.environ, "SLURM_CONF": str(conf)}
    files = [f"--{name}-file={home}/munge.{name}" for name in ("key", "log", "pid", "seed")]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    processes = []

    def idle() -> bool:
        state = subprocess.run(["sinfo", "-h", "-o", "%t"], env=environment, capture_output=True)
        return state.stdout.strip() == b"idle"

    try:
        for command in (
            [munged, "--foreground", "--force", f"--socket={home}/munge.socket", *files],
            [controller, "-D", "-L", f"{home}/slurmctld.log"],
            [node, "-D", "-N", "localhost", "-L", f"{home}/slurmd.log"],
        ):
            processes.append(subprocess.Popen(command, env=environment, **quiet))  # type: ignore[call-overload]
            if command[0] == munged:
                wait_until((home / "munge.socket").exists)
        try:
            wait_until(idle)
        except AssertionError:
            pytest.skip("SLURM does not start here")
        yield environment
    finally:
        for process in reversed(processes):
            process.kill()
            process.wait()
        shutil.rmtree(home, ignore_errors=True)


def test_an_array_job_makes_the_same_result(slurm: dict[str, str], tmp_path: Path) -> None:
    files = tiled_sample(tmp_path / "in", 3)
    run_of(tmp_path / "loop", files, "m2", "gleu", shard_sentences=27)
    place = tmp_path / "array"
    _, manifest = planned(place, files, "m2", "gleu", shard_sentences=27)
    assert len(manifest.tasks) == 8
    errata = f"{sys.executable} -m errata scale"
    subprocess.run(
        [
            *("sbatch", "--wait", "--array=0-3", "--ntasks=1", "--chdir", str(tmp_path)),
            *("--output", f"{tmp_path}/%a.txt"),
            *("--wrap", f"{errata} task --run {place} --of 4"),
        ],
        env=slurm,
        check=True,
        capture_output=True,
        timeout=300,
    )
    assert len(list((place / "records").glob("*.json"))) == 8
    subprocess.run([*errata.split(), "reduce", "--run", str(place)], check=True)
    assert result_of(place) == result_of(tmp_path / "loop")
