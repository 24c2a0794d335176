"""Mutated input ends in a result, in one line or in a warning, soon and in little memory."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fuzz_targets import TARGETS, Target
from fuzzing import MEGABYTES, Tally, fuzz_commands, fuzz_reader, megabytes

# Inputs for each reader; the long ones take about three minutes of a processor.
SHORT, LONG = 200, int(os.environ.get("ERRATA_FUZZ", "6000"))


def check(tally: Tally, *, refuses: bool = True) -> None:
    for what, data, fault in tally.faults[:3]:
        print(f"{what}\n{data[:500]!r}\n{fault}")
    assert not tally.faults, f"{len(tally.faults)} faults in {tally.inputs} inputs"
    # Mutations that break everything, or nothing, look for nothing.
    assert tally.refused > tally.inputs * 0.05 or not refuses
    assert tally.read > 0


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_readers(tmp_path: Path, target: Target) -> None:
    check(fuzz_reader(target, SHORT, 1, tmp_path), refuses=target.refuses)


@pytest.mark.slow
def test_command_lines(tmp_path: Path) -> None:
    check(fuzz_commands(80, 1, tmp_path))


@pytest.mark.long
@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_readers_for_long(tmp_path: Path, target: Target) -> None:
    before = megabytes()  # the peak of the process, which other tests may have raised
    check(fuzz_reader(target, LONG, 2, tmp_path), refuses=target.refuses)
    assert megabytes() < max(MEGABYTES, before + 1)


@pytest.mark.long
def test_command_lines_for_long(tmp_path: Path) -> None:
    before = megabytes()
    check(fuzz_commands(4000, 2, tmp_path))
    assert megabytes() < max(MEGABYTES, before + 1)
