"""``errata compare``: what it reads, what it refuses, and the keys that programs rely on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import command
from command import errata

FEW = ("--resamples", "20", "--trials", "20")


def tables(folder: Path, *arguments: object) -> dict[str, Any]:
    return command.tables("compare", *arguments, cwd=folder)


def test_keys_are_the_same_where_there_is_nothing_to_say(tmp_path: Path) -> None:
    """A clean sentence that one system touches, beside a metric called like a column."""
    (tmp_path / "clean.m2").write_text("S All fine .\n\n")
    (tmp_path / "a.txt").write_text("All fine .\n")
    (tmp_path / "b.txt").write_text("All is fine .\n")
    found = tables(tmp_path, "--gold", "clean.m2", "a.txt", "b.txt", "-m", "edits", *FEW)
    assert found["b_worse"]["columns"] == ["sentence", "gain", "edits", "old to new", "source"]
    (row,) = found["b_worse"]["rows"]
    assert (row["gain"], row["edits"], row["old to new"]) == (-1, -1.0, "All {+is+} fine .")
    assert found["b_better"]["rows"] == []
    rates = {row["figure"]: row["new"] for row in found["b_rates"]["rows"]}
    assert rates == {
        "alarms per 1,000 words": 1000 / 3,
        "clean sentences touched": 1.0,
        "sentences changed": 1.0,
    }
    mended = tables(tmp_path, "--source", "b.txt", "--refs", "a.txt", "b.txt", "n=a.txt", *FEW)
    assert mended["n_changes"]["title"] == "n against b: 1 error gained, 0 lost"
    same = tables(tmp_path, "--source", "a.txt", "a.txt", "c=a.txt", *FEW)
    assert same["c_kinds"]["rows"] == []
    assert same["c_kinds"]["columns"][1:] == same["c_rates"]["columns"][1:]


def test_sentences_keep_their_numbers_where_some_are_left_out(sample: Path) -> None:
    alone = ("--gold", "gold.m2", "--annotator", "0", "-m", "edits")
    some = (*alone, "cautious.txt", "eager.txt", "--by-edit", *FEW)
    every, left = (tables(sample, *some, *skip) for skip in ((), ("--skip-sentences", "1-3,9")))
    numbers, known = ({row["sentence"] for row in t["eager_edits"]["rows"]} for t in (left, every))
    assert numbers == known - {1, 2, 3, 9}


def test_the_score_behind_a_difference_can_be_verified(sample: Path) -> None:
    found = tables(sample, "--gold", "gold.m2", "-m", "m2", "cautious.txt", "eager.txt", *FEW)
    table = found["eager_metrics"]
    signature = table["signature"].split("\n")[0]
    claim = f"{signature} = {table['rows'][0]['new']}"
    errata("verify", claim, "--gold", "gold.m2", "eager.txt", cwd=sample)
