"""errata meta through real processes."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from command import errata

NAMES = ["system_level", "pairs", "leave_one_out", "sentence_level"]


def tables(*arguments: str) -> dict[str, list[dict[str, object]]]:
    found = json.loads(errata("meta", *arguments, "--json").stdout)["tables"]
    return {table["name"]: table["rows"] for table in found}


def test_the_sample() -> None:
    found = tables("--sample", "-m", "m2", "-m", "gleu", "--resamples", "100")
    assert list(found)[:4] == NAMES
    assert {row["metric"] for row in found["system_level"]} == {"m2", "gleu"}
    assert [row["convention"] for row in found["sentence_level"]][:4] == [
        "noties",
        "hties",
        "tau_b",
        "accuracy",
    ]
    # Agreement and disagreement add up to what people decided, ties apart.
    rows = found["m2_confusion"]
    assert (
        sum(v for row in rows for v in row.values() if isinstance(v, float))
        == found["sentence_level"][0]["pairs"]
    )


def test_scores_from_files(tmp_path: Path) -> None:
    (tmp_path / "people.tsv").write_text("A\t3\nB\t2\nC\t1\nD\t0\n")
    (tmp_path / "good.tsv").write_text("D\t0.1\nC\t0.2\nB\t0.35\nA\t0.4\n")
    (tmp_path / "bad.tsv").write_text("A\t0.2\nB\t0.1\nC\t0.9\nD\t0.4\n")
    found = tables(
        "--human",
        str(tmp_path / "people.tsv"),
        "--scores",
        str(tmp_path / "good.tsv"),
        "--scores",
        str(tmp_path / "bad.tsv"),
    )
    assert [row["metric"] for row in found["system_level"]] == ["good", "bad"]
    assert found["system_level"][0]["ρ"] == 1.0
    assert "sentence_level" not in found
    left_out = tables(
        "--human",
        str(tmp_path / "people.tsv"),
        "--scores",
        str(tmp_path / "bad.tsv"),
        "--without",
        "C",
    )
    assert left_out["system_level"][0]["r"] != found["system_level"][1]["r"]


def test_published_figures_from_published_files(data_sets: Path) -> None:
    """Chollampatt & Ng 2018, Tables 2 and 3, in one command."""
    scores = next(data_sets.glob("nusnlp/gecmetrics/*/scores"))
    judgments = next(data_sets.glob("grammatical/evaluation/*/data/judgments.xml"))
    pair = "{0}/system_scores_metrics/{1}.txt.gz,{0}/sentence_scores_metrics/{1}.txt.gz"
    found = tables(
        "--judgments",
        str(judgments),
        "--human",
        str(scores / "system_scores_humans/trueskill.txt.gz"),
        "--scores",
        pair.format(scores, "gleu"),
        "--scores",
        pair.format(scores, "m2score"),
        "--resamples",
        "0",
    )
    r = {
        row["metric"]: (round(row["r"], 3), round(row["ρ"], 3))  # type: ignore[call-overload]
        for row in found["system_level"]
    }
    assert r == {"gleu": (0.733, 0.478), "m2score": (0.672, 0.720)}
    values = {(row["metric"], row["convention"]): row["value"] for row in found["sentence_level"]}
    assert values["gleu", "noties"] == pytest.approx(0.38818751125427664)
    assert values["m2score", "hties"] == pytest.approx(0.6169, abs=5e-5)


def test_parts_of_the_ranking() -> None:
    found = json.loads(
        errata(
            "meta",
            "--sample",
            "-m",
            "m2",
            "--resamples",
            "0",
            "--level",
            "system",
            "--window",
            "4",
            "--top",
            "3",
            "--json",
        ).stdout
    )["tables"]
    windows, top = (t["rows"] for t in found if t["name"] == "windows")
    assert [len(row["systems, best first"].split()) for row in windows] == [4, 4]
    assert [len(row["systems, best first"].split()) for row in top] == [2, 3]


def test_plots(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    errata(
        "meta",
        "--sample",
        "-m",
        "m2",
        "-m",
        "gleu",
        "--resamples",
        "0",
        "--scatter",
        str(tmp_path / "scatter.svg"),
        "--outlier",
        "noisy",
        "--map",
        str(tmp_path / "map.png"),
    )
    text = "".join(ElementTree.parse(tmp_path / "scatter.svg").getroot().itertext())
    for name in ("cautious", "eager", "fluent", "noisy", "nothing", "r = ", "without noisy"):
        assert name in text
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((), "no metric to judge"),
        (("--sample", "--convention", "tau"), "unknown convention 'tau'"),
        (("--sample", "--without", "X"), "knows no system 'X'"),
        (("--sample", "--ranker", "elo"), "there is no ranker 'elo'"),
        (("--sample", "--scatter", "x.txt"), "cannot draw into"),
        (("--sample", "--scatter", "x.svg", "--outlier", "X"), "knows no system 'X'"),
        (("--sample", "--top", "9"), "does not fit 5 systems"),
    ],
)
def test_bad_input(arguments: tuple[str, ...], problem: str) -> None:
    result = errata("meta", *arguments, code=None)
    assert result.returncode == 2
    assert problem in result.stderr


def test_sentence_level_needs_judgments(tmp_path: Path) -> None:
    (tmp_path / "s.tsv").write_text("A\t3\nB\t2\n")
    result = errata(
        "meta",
        "--human",
        str(tmp_path / "s.tsv"),
        "--scores",
        str(tmp_path / "s.tsv"),
        "--level",
        "sentence",
        code=None,
    )
    assert result.returncode == 2
    assert "sentence level needs judgments" in result.stderr
