"""What stands below the tables of errata meta: names, notes, limits and signatures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from command import errata
from errata.core.signatures import short_signature
from errata.data import Scores
from errata.io.scores import read_score_files
from errata.meta.matching import match
from errata.meta.system_level import system_level
from errata.tables.table import Table, render


def tables(*arguments: object) -> dict[str, Any]:
    found = json.loads(errata(*arguments, "--json").stdout)["tables"]
    return {table["name"]: table for table in found}


@pytest.mark.parametrize("level", ["system", "sentence"])
def test_edits_that_are_not_of_errant_are_not_called_so(level: str) -> None:
    run = ("meta", "--sample", "-m", "errant(extractor='aligned')", "--resamples", 0)
    table = tables(*run, "--level", level)[f"{level}_level"]
    assert {row["metric"] for row in table["rows"]} == {"edits"}
    assert "note: edits: Errata's own edits, not ERRANT's" in table["caption"]


def test_other_numbers_of_one_name_have_another_signature(tmp_path: Path) -> None:
    def signature(text: str) -> str:
        (tmp_path / "ter.tsv").write_text(text)
        (scores,) = read_score_files([tmp_path / "ter.tsv"])
        return scores.signature

    first = signature("A\t1\nB\t2\n")
    assert first == signature("B\t2\nA\t1.0\n")
    assert len({first, signature("A\t1\nB\t3\n"), signature("A\t1\nC\t2\n")}) == 3


def _scores(name: str, *values: float) -> Scores:
    return Scores(name, tuple("ABCDE")[: len(values)], np.array(values))


def test_a_test_that_is_undefined_is_not_counted_as_hopeless() -> None:
    people = _scores("people", 0.62, 0.57, 0.56, 0.55, 0.3)
    metric = _scores("m", 0.35, 0.21, 0.37, 0.09, 0.01)
    twice = _scores("n", *(2 * metric.values))
    notes = system_level(match(people, [metric, twice]), resamples=0).notes
    assert any("is undefined" in note for note in notes)
    assert not any("are few" in note for note in notes)


def test_three_systems_are_too_few_for_the_test() -> None:
    sides = [_scores("p", 3, 2, 1), _scores("m", 3, 1, 2), _scores("n", 1, 3, 2)]
    notes = system_level(match(sides[0], sides[1:]), resamples=0).notes
    assert "3 systems are too few for Williams' test, which needs 4" in notes


def test_intervals_that_are_not_there_are_not_spoken_of() -> None:
    found = tables("meta", "--sample", "-m", "gleu", "--resamples", 0)
    for name in ("system_level", "sentence_level"):
        assert "intervals over" not in found[name]["caption"]


@pytest.mark.parametrize(
    "line",
    [
        "meta --sample -m gleu -m m2 --resamples 20",
        "agree --sample",
        "plan --sample --systems eager cautious --simulations 50",
    ],
)
def test_every_table_is_signed(line: str) -> None:
    """Each by a line of its own, or by that of the table before it, which has the same."""
    printed = errata(*line.split()).stdout.strip().split("\n\n")
    tables = json.loads(errata(*line.split(), "--json").stdout)["tables"]
    if "answer" in tables[0]:
        printed = printed[1:]
    assert len(printed) == len(tables) > 2
    above = ""
    for text, table in zip(printed, tables, strict=True):
        said = [x for x in text.splitlines() if x.startswith("signature: ")]
        short = " ".join(dict.fromkeys(map(short_signature, table["signature"].split("\n"))))
        assert said == ([] if short == above else [f"signature: {short}"])
        above = short


def test_above_is_the_table_before() -> None:
    one, other = (Table(("a",), ((1,),), signature=text) for text in ("one", "other"))
    lines = render([one, one, other, one]).splitlines()
    said = [line for line in lines if line.startswith("signature: ")]
    assert said == [f"signature: {short_signature(text)}" for text in ("one", "other", "one")]


def test_the_first_lines_say_which_metric_to_report() -> None:
    answer = tables("meta", "--sample", "--level", "system", "--resamples", 200)["system_level"][
        "answer"
    ]
    assert answer["outcome"] == "group"
    assert answer["sentence"].startswith("Report GLEU and M2: GLEU (r = 0.93) and M2 (r = 0.87)")
    assert answer["sentence"].endswith("5 systems are few: treat this as a hint.")
    # Without intervals over systems nothing can be recommended.
    for more in (("--resamples", 0), ("--resamples", 9, "--over", "sentences")):
        found = tables("meta", "--sample", "--level", "system", *more)["system_level"]
        assert "answer" not in found
