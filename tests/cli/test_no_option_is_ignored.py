"""Options of the commands on people and metrics: each changes what it says it changes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from command import errata


def tables(*arguments: object) -> dict[str, dict[str, Any]]:
    found = json.loads(errata(*arguments, "--json").stdout)["tables"]
    return {table["name"]: table for table in found}


def width(row: dict[str, Any], level: str) -> float:
    low, high = next(value for name, value in row.items() if level in name)
    return float(high - low)


@pytest.mark.parametrize(("command", "table"), [("rank", "ranking"), ("meta", "system_level")])
def test_confidence_widens_intervals(command: str, table: str) -> None:
    run = (command, "--sample", "--resamples", 200)
    wide, narrow = (tables(*run, "--confidence", level)[table]["rows"] for level in ("0.95", "0.5"))
    for one, two in zip(wide, narrow, strict=True):
        assert width(one, "95 %") > width(two, "50 %")


def test_confidence_narrows_ranges_of_ranks() -> None:
    def length(level: str) -> int:
        rows = tables("rank", "--sample", "--resamples", 200, "--confidence", level)["ranking"]
        return sum(row["range"][1] - row["range"][0] for row in rows["rows"])

    assert length("0.5") < length("0.99")


def test_over_decides_what_is_resampled() -> None:
    found = {
        over: tables("meta", "--sample", "-m", "m2", "--resamples", 60, "--over", over)
        for over in ("systems", "sentences", "judgments", "both")
    }
    intervals = {
        over: str(each["system_level"]["rows"][0]["r 95 %"]) for over, each in found.items()
    }
    assert len(set(intervals.values())) == 4
    for over, each in found.items():
        assert f"over:{over}" in each["system_level"]["signature"]


def test_weights_of_agreement() -> None:
    found = [
        tables("agree", "--sample", "--kappa-weights", word)["agreement"]["rows"][0]["value"]
        for word in ("none", "linear", "quadratic")
    ]
    assert found[0] < found[1] < found[2]


def test_power_needs_more_rankings() -> None:
    def needed(power: str) -> float:
        run = ("plan", "--sample", "--systems", "eager", "cautious", "--simulations", 100)
        rows = tables(*run, "--power", power)["plan"]["rows"]
        value = next(row["value"] for row in rows if row["figure"] == "rankings needed")
        return float(value if isinstance(value, int | float) else value[-1] or value[0])

    assert needed("0.5") < needed("0.95")


@pytest.mark.parametrize("word", ["--without", "--hide"])
def test_a_system_left_out_is_nowhere(word: str) -> None:
    run = ("meta", "--sample", "-m", "m2", "--resamples", 20)
    plain, fewer = tables(*run), tables(*run, word, "noisy")
    # Its comparisons are gone at sentence level too.
    pairs = [found["sentence_level"]["rows"][0]["pairs"] for found in (plain, fewer)]
    assert pairs[1] < pairs[0]
    assert "noisy" not in str([table["rows"] for table in fewer.values()])
