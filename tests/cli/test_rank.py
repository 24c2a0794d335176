"""errata rank, agree and plan, as a user runs them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from command import errata, errata_process
from errata.data import Judgment
from errata.io.judgments import write_judgments
from human_data import grundkiewicz_file, sakaguchi_file

FULL = ("--signature", "full")


def tables(*arguments: str | Path) -> dict[str, list[dict[str, object]]]:
    found = json.loads(errata(*arguments, "--json").stdout)
    return {table["name"]: table["rows"] for table in found["tables"]}


def test_rank_as_published() -> None:
    found = tables("rank", grundkiewicz_file(), "--unit", "pairs", "--head-to-head")
    ranking = found["ranking"]
    assert [row["system"] for row in ranking] == [
        "AMU",
        "RAC",
        "CAMB",
        "CUUI",
        "POST",
        "UFC",
        "PKU",
        "UMC",
        "IITB",
        "SJTU",
        "INPUT",
        "NTHU",
        "IPN",
    ]
    assert [row["cluster"] for row in ranking] == [1] + 4 * [2] + 7 * [3] + [4]
    assert ranking[0]["range"] == [1, 1]
    first: Any = found["head_to_head"][0]
    printed = ("RAC", 0.44, 0.01), ("CAMB", 0.47, 0.1), ("CUUI", 0.46, 0.05), ("UFC", 0.34, 0.01)
    for system, share, level in printed:  # Table 3d, first row
        assert round(first[system]["value"], 2) == share
        assert first[system]["p"] <= level


@pytest.mark.parametrize(
    "method",
    ["expected_wins", "trueskill(runs=20)", "trueskill_meanfield", "bradley_terry", "net_wins"],
)
def test_rank_the_sample(method: str) -> None:
    rows = tables("rank", "--sample", "--ranker", method, "--resamples", "50")["ranking"]
    assert [row["system"] for row in rows] == ["fluent", "eager", "cautious", "nothing", "noisy"]


def test_rank_balanced() -> None:
    text = errata(
        "rank",
        "--sample",
        "--balanced",
        "--value",
        "mean",
        "--unit",
        "pairs",
        "--resamples",
        "200",
        *FULL,
    ).stdout
    assert "value:mean | unit:pairs | resamples:200 | balanced | seed:0" in text
    message = errata(
        "rank", "--sample", "--balanced", "--unit", "pairs", "--ranker", "trueskill", code=2
    ).stderr
    assert "draw freely" in message


def test_rank_without_resamples_leaves_intervals_out() -> None:
    (table,) = json.loads(errata("rank", "--sample", "--resamples", 0, "--json").stdout)["tables"]
    assert table["name"] == "ranking"
    assert table["columns"] == ["rank", "system", "Expected Wins", "wins", "ties", "losses"]
    assert [*table["rows"][0].values()][0::3] == [1, 542]
    full = tables("rank", "--sample", "--resamples", "40")["ranking"]
    for one, other in zip(table["rows"], full, strict=True):
        assert {key: value for key, value in one.items() if key != "rank"} == {
            key: other[key] for key in one if key != "rank"
        }
    assert "unit:" not in table["signature"]
    headed = json.loads(
        errata("rank", "--sample", "--resamples", 0, "--head-to-head", "--json").stdout
    )
    assert [row["row"] for row in headed["tables"][1]["rows"]] == [
        r["system"] for r in table["rows"]
    ]


@pytest.mark.parametrize(
    "line", ["score -m bleu", "meta -m bleu", "difficulty", "refs -m bleu", "stress bleu", "rank"]
)
def test_no_resamples_leave_intervals_out_of_every_command(line: str) -> None:
    done = json.loads(errata(*line.split(), "--sample", "--resamples", 0, "--json").stdout)
    for table in done["tables"]:
        assert not [
            column for column in table["columns"] if "interval" in column or "95 %" in column
        ]
    said = errata(*line.split(), "--sample", "--resamples", 0, "--confidence", ".9", code=2).stderr
    assert "--confidence goes with --resamples above 0" in said


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("--confidence .9", "--confidence goes with --resamples above 0"),
        ("--unit pairs", "--unit goes with --resamples above 0"),
        ("--balanced", "--balanced goes with --resamples above 0"),
        ("--order mean_rank", "--order goes with --resamples above 0"),
        ("--figure x.svg", "--figure goes with --resamples above 0"),
        ("--value mean", "--value goes with --resamples above 0"),
    ],
)
def test_what_is_drawn_goes_with_resamples(option: str, said: str) -> None:
    message = errata("rank", "--sample", "--resamples", 0, *option.split(), code=2).stderr
    assert said in message


def test_rank_prints_cluster_lines_and_the_signature() -> None:
    text = errata("rank", "--sample", "--resamples", "200", *FULL).stdout
    assert text.count("┄┄┄") >= 1
    assert "signature: expected_wins(denominator='all', ties='ignored') | members:all" in text
    assert "unit:sentences | resamples:200 | seed:0" in text
    for form, mark in (("latex", r"\midrule"), ("markdown", "| cluster |"), ("tsv", "cluster\t")):
        assert mark in errata("rank", "--sample", "--resamples", "40", "--format", form).stdout


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_plots_are_the_same_every_time(tmp_path: Path, ending: str) -> None:
    files = [tmp_path / f"{name}.{ending}" for name in "ab"]
    for file in files:
        errata("rank", "--sample", "--resamples", "100", "--figure", file)
    first, second = (file.read_bytes() for file in files)
    assert first == second
    if ending == "svg":
        assert b"fluent" in first
        assert b"rank range" in first
    else:
        assert first.startswith(b"\x89PNG")
    message = errata("rank", "--sample", "--figure", tmp_path / "x.doc", code=2).stderr
    assert "use a name in .svg" in message
    message = errata("rank", "missing", "--figure", tmp_path / "x.doc", code=2).stderr
    assert "use a name in .svg" in message  # said before a long file is read


def test_a_name_is_not_a_formula(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    write_judgments(
        [Judgment("ann", i, (("$A_1$",), ("B",)), (1, 1 + i % 2)) for i in range(4)], path
    )
    errata("rank", path, "--resamples", "40", "--figure", tmp_path / "x.svg")
    assert ">$A_1$</text>" in (tmp_path / "x.svg").read_text(encoding="utf-8")


def test_missing_matplotlib_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "matplotlib").mkdir()
    (tmp_path / "matplotlib" / "__init__.py").write_text("raise ImportError('gone')")
    path = f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    result = errata_process(
        "rank", "--sample", "--figure", tmp_path / "x.svg", env={"PYTHONPATH": path}, code=2
    )
    assert "matplotlib is not installed; run: pip install 'errata-gec[plot]'" in result.stderr


def test_rank_refuses_shifted_labels() -> None:
    outputs = grundkiewicz_file().parent / "original" / "official_submissions"
    file = sakaguchi_file("Ctrl_merged.csv")
    assert "off by one" in errata("rank", file, "--outputs", outputs, code=2).stderr
    assert "under two labels" in errata("rank", file, "--resamples", "40").stderr
    relabelled = errata(
        "rank", file, "--outputs", outputs, "--labels", "text", "--resamples", "40", *FULL
    )
    assert "corrected" in relabelled.stderr
    assert "comparisons:26052" in relabelled.stdout


def test_agree() -> None:
    found = tables("agree", grundkiewicz_file())
    assert [round(float(row["value"]), 4) for row in found["agreement"]] == [  # type: ignore[arg-type]
        0.2927,
        0.4552,
        0.2923,
    ]
    assert found["agreement_matrix"][6]["annotator07"] is None  # too few
    assert found["judges"][0]["median seconds"] == pytest.approx(33.7585)
    assert found["judge_correlations"][0]["ρ others"] == pytest.approx(0.7033, abs=1e-4)
    weighted = tables("agree", "--sample", "--chance", "cohen", "--kappa-weights", "quadratic")
    assert float(weighted["agreement"][0]["value"]) > 0.5  # type: ignore[arg-type]


def test_agree_with_one_judge(tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl"
    write_judgments([Judgment("ann", 0, (("A",), ("B",)), (1, 2))], path)
    assert "judge_correlations" not in tables("agree", path)


def test_plan() -> None:
    found = tables("plan", "--sample", "--systems", "eager", "cautious", "--simulations", "100")
    values = {row["figure"]: row["value"] for row in found["plan"]}
    assert values["systems"] == "eager > cautious"
    assert values["rankings in the pilot"] == 183
    assert len(found["next_pairs"]) == 10
    clear = tables("plan", "--sample", "--systems", "fluent", "noisy", "--simulations", "100")
    needed = {row["figure"]: row["value"] for row in clear["plan"]}["rankings needed"]
    assert needed == [None, 19]  # the smallest campaign tried
    assert "plan" not in tables("plan", "--sample")
    assert "nothing is known of" in errata("plan", "--sample", "--systems", "a", "b", code=2).stderr


@pytest.mark.parametrize("command", ["rank", "agree", "plan"])
def test_bad_use(command: str, tmp_path: Path) -> None:
    assert "no judgments given" in errata(command, code=2).stderr
    assert "no judgment by eve" in errata(command, "--sample", "--leave-out", "eve", code=2).stderr
    assert "--sample takes no files" in errata(command, "x", "--sample", code=2).stderr
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"judge": "ann", "sentence": 0, "groups": [["A"]], "ranks": [0]}\n')
    assert "bad.jsonl:1: " in errata(command, bad, code=2).stderr
    assert "Example" in errata(command, "--help").stdout


def test_rank_reads_standard_input_and_several_files(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    write_judgments([Judgment("ann", i, (("A",), ("B",)), (1, 1 + i % 2)) for i in range(9)], path)
    more = tmp_path / "b.jsonl"
    more.write_text(path.read_text("utf-8").replace("ann", "bob"), "utf-8")
    assert "rankings:18" in errata("rank", path, more, "--resamples", "40", *FULL).stdout
    assert "given twice" in errata("rank", path, path, code=2).stderr
    copy = tmp_path / "c.jsonl"
    copy.write_bytes(path.read_bytes())
    assert "9 of 9 judgments" in errata("rank", path, copy, code=2).stderr
    piped = errata("rank", "-", *FULL, stdin=path.read_text("utf-8"))
    assert "rankings:9" in piped.stdout
