"""The export command holds no form in memory: what it writes waits on the disk."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest
from click.testing import CliRunner

from errata.cli.collect import command
from large_campaign import large_campaign

MEGABYTES = 3.6  # batches of rows, whatever the size of the form


@pytest.mark.parametrize("form", ["jsonl", "details"])
def test_a_form_is_written_without_being_held(tmp_path: Path, form: str) -> None:
    large_campaign(tmp_path / "x.db", judgments_=10_000, systems=12, judges=60).close()
    path = tmp_path / "out.jsonl"
    wanted = ["export", str(tmp_path / "x.db"), "--form", form, "-o", str(path)]
    CliRunner().invoke(command, [*wanted[:-1], str(tmp_path / "first.jsonl")])  # imports aside
    tracemalloc.start()
    try:
        result = CliRunner().invoke(command, wanted)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert result.exit_code == 0, result.output
    written = path.read_bytes()
    assert written.count(b"\n") > 5_000
    print(f"{form}: {len(written) / 1e6:.1f} MB written, {most / 1e6:.1f} MB held")
    assert most < MEGABYTES * 1e6
    assert (tmp_path / "first.jsonl").read_bytes() == written
