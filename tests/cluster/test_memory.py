"""What workers and driver of a run hold in memory does not grow with the number of sentences."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from run_folders import tiled_sample

MB = 2**20
WORKER, DRIVER = 250 * MB, 200 * MB
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc"),
]
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


class Peaks(NamedTuple):
    """The most memory that the driver held, and any of its workers."""

    driver: int
    worker: int


def peaks_of(folder: Path, copies: int, *more: str) -> Peaks:
    files = tiled_sample(folder / "in", copies, ("eager",))
    run = ["scale", "run", "--run", str(folder / "run"), *files.arguments, "-m", "m2", "-q"]
    done = subprocess.run(
        [sys.executable, "-c", DRIVEN, *run, "--workers", "2", *more],
        capture_output=True,
        text=True,
        check=True,
    )
    records = [json.loads(p.read_text())["record"] for p in (folder / "run" / "records").iterdir()]
    assert sum(record["sentences"] for record in records) == 72 * copies
    return Peaks(int(done.stderr.split()[-1]), max(record["peak_bytes"] for record in records))


def test_three_times_the_sentences_take_no_more_memory(tmp_path: Path) -> None:
    """Both are above 100,000 sentences, up to which resamples may go by sentences."""
    few, many = (peaks_of(tmp_path / str(n), n, "--shard-size", "1M") for n in (1400, 4200))
    assert many.driver < min(DRIVER, few.driver + 10 * MB)
    assert many.worker < min(WORKER, few.worker + 10 * MB)


@pytest.mark.parametrize("sentences", [100_000, 1_000_000, 10_000_000])
def test_millions_of_sentences(tmp_path: Path, sentences: int) -> None:
    """What is printed is the curve in docs/scale.md."""
    peaks = peaks_of(tmp_path, -(-sentences // 72))
    records = [json.loads(p.read_text())["record"] for p in (tmp_path / "run/records").iterdir()]
    print(
        f"\n{sentences:,} sentences: {sum(record['processor'] for record in records):.0f} s of "
        f"processor time in {len(records)} shards, driver {peaks.driver / MB:.0f} MB, "
        f"worker {peaks.worker / MB:.0f} MB"
    )
    assert peaks.driver < DRIVER
    assert peaks.worker < WORKER
