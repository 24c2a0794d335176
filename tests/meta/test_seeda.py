"""Fifteen modern systems and the people of SEEDA (Kobayashi et al. 2024): files as they come."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command import errata

# Recomputed from the table in SEEDA's README: Pearson and Spearman, twelve base systems.
AGREEMENT = {
    ("edit", "m2"): (0.740, 0.769),
    ("edit", "m2(total='mean')"): (0.881, 0.944),
    ("sent", "m2"): (0.639, 0.510),
    ("sent", "m2(total='mean')"): (0.817, 0.755),
}


@pytest.fixture(scope="module")
def seeda(data_sets: Path) -> Path:
    """The folder of SEEDA's release."""
    found = sorted(data_sets.glob("tmu-nlp/SEEDA/*"))
    if not found:
        pytest.skip("needs SEEDA in the data sets")
    return found[0]


@pytest.mark.parametrize("people", ["edit", "sent"])
def test_metrics_agree_with_people_as_published(people: str, seeda: Path, conll14: Path) -> None:
    outputs = seeda / "outputs" / "all"
    names = ",".join(sorted(file.stem for file in outputs.iterdir()))
    done = errata(
        *("meta", "--human", seeda / "scores" / "human" / f"TS_{people}.txt", "--names", names),
        *("--gold", conll14 / "conll14st-test.m2", outputs, "-m", "m2", "-m", "m2(total=mean)"),
        *("--level", "system", "--resamples", 0, "--json", "-q"),
        *("--without", "INPUT", "--without", "REF-F", "--without", "GPT-3.5"),
    )
    for row in json.loads(done.stdout)["tables"][0]["rows"]:
        found = round(row["r"], 3), round(row["ρ"], 3)
        assert found == AGREEMENT[people, row["metric"]]


def test_sentence_means_of_m2(seeda: Path, conll14: Path) -> None:
    """SEEDA's SentM2: INPUT 31.33 as published; REF-F 48.93, where 48.99 is printed."""
    files = [seeda / "outputs" / "all" / f"{name}.txt" for name in ("INPUT", "REF-F")]
    done = errata(
        *("score", "--gold", conll14 / "conll14st-test.m2", *files, "-m", "m2(total=mean)"),
        *("--resamples", 0, "--json", "-q"),
    )
    rows = json.loads(done.stdout)["tables"][0]["rows"]
    assert {row["system"]: round(100 * row["F0.5"], 2) for row in rows} == {
        "INPUT": 31.33,
        "REF-F": 48.93,
    }


def test_the_number_of_the_first_sentence_is_found_out(seeda: Path) -> None:
    """Its judgments count from 1: read from 0 they are about other sentences, and refused."""
    outputs = seeda / "outputs" / "all"
    command = (
        *("meta", "--judgments", seeda / "data" / "judgments_sent.xml", outputs, "-m", "gleu"),
        *("--source", outputs / "INPUT.txt", "--refs", outputs / "REF-M.txt"),
        *("--level", "sentence", "--resamples", 0, "--json", "-q"),
    )
    refused = errata(*command, code=2).stderr
    assert "--base 1" in refused
    rows = json.loads(errata(*command, "--base", 1).stdout)["tables"][0]["rows"]
    assert {row["pairs"] for row in rows} == {33544}
