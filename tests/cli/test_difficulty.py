"""``errata difficulty``, run as a user runs it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from command import Done, errata
from errata.data import Corpus, Reference
from errata.edits import extract_all
from errata.io import read_m2, write_m2

FULL = ("--signature", "full")
GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "difficulty.json").read_text())


def run(*arguments: object, cwd: Path, code: int = 0) -> Done:
    return errata(*arguments, cwd=cwd, code=code)


def m2(annotators: list[list[list[list[Any]]]]) -> str:
    lines = []
    for i, source in enumerate(GOLDEN["sources"]):
        lines.append(f"S {source}")
        for k, sentences in enumerate(annotators):
            lines += [
                f"A {a} {b}|||{kind}|||{text}|||REQUIRED|||-NONE-|||{k}"
                for a, b, text, kind in sentences[i]
            ]
        lines.append("")
    return "\n".join(lines) + "\n"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """The demo of the released scorer: gold.m2, all.m2 with three systems, texts of them."""
    (tmp_path / "gold.m2").write_text(m2([GOLDEN["gold"]]))
    (tmp_path / "all.m2").write_text(m2(list(GOLDEN["systems"].values())))
    for name, sentences in (
        ("one", ["We have been discussing about it .", "I go to the park tomorrow ."]),
        ("two", ['" We are discussing it . "', "I have went to the park tomorrow ."]),
        ("three", ["We talking it .", "I have to been to the park past ."]),
    ):
        (tmp_path / f"{name}.txt").write_text("".join(s + "\n" for s in sentences))
    return tmp_path


def tables(done: Done) -> dict[str, list[dict[str, Any]]]:
    return {t["name"]: t["rows"] for t in json.loads(done.stdout)["tables"]}


def test_scores_kinds_and_errors(files: Path) -> None:
    done = run(
        "difficulty",
        "--gold",
        "gold.m2",
        "all.m2",
        "--names",
        "0,1,2",
        "--json",
        "--system",
        "0",
        cwd=files,
    )
    found = tables(done)
    scores = {row["system"]: row for row in found["difficulty"]}
    for name, row in GOLDEN["weighted"].items():
        for ours, theirs in (
            ("TP", "TP"),
            ("FP", "FP"),
            ("FN", "FN"),
            ("TN", "TN"),
            ("P", "P"),
            ("R", "R"),
            ("A", "A"),
            ("F0.5", "F05"),
        ):
            assert round(scores[name][ours], 4) == row[theirs]
    assert {
        row["kind"]: [round(row["mean weight"], 2), round(row["SD"], 2), row["frequency"]]
        for row in found["kinds"]
    } == GOLDEN["by_kind"]
    assert found["hardest"][0]["error"] == "tomorrow"
    assert found["easiest"][0]["weight"] == 0
    assert [row["only you"] for row in found["uniqueness"]] == [2, 1, 0]
    assert set(found) >= {"agreement_kappa", "0_only", "0_everyone_but", "0_missed"}


def test_text_outputs_and_names(files: Path) -> None:
    found = tables(
        run(
            "difficulty",
            "--gold",
            "gold.m2",
            "one.txt",
            "zwei=two.txt",
            "three.txt",
            "--format",
            "json",
            cwd=files,
        )
    )
    assert {row["system"] for row in found["difficulty"]} == {"one", "zwei", "three"}
    first = next(row for row in found["difficulty"] if row["system"] == "one")
    assert round(first["TP"], 4) == GOLDEN["weighted"]["0"]["TP"]


def test_weight_files_go_out_and_in(files: Path) -> None:
    run("difficulty", "--gold", "gold.m2", "all.m2", "--write-weights", "w.txt", cwd=files)
    assert (files / "w.txt").read_text() == "3\n" + "".join(
        " ".join(map(str, row)) + "\n" for row in GOLDEN["n_correct"]
    )
    done = run("difficulty", "--gold", "gold.m2", "one.txt", "--weights", "w.txt", *FULL, cwd=files)
    assert "80.00" in done.stdout
    assert "weights:3 systems of w.txt@" in done.stdout
    alone = run("difficulty", "--gold", "gold.m2", "--weights", "w.txt", cwd=files)
    assert "U:NOUN" in alone.stdout


def test_the_map_is_written_and_printed(files: Path) -> None:
    run(
        "difficulty",
        "--gold",
        "gold.m2",
        "all.m2",
        "--figure",
        "map.html",
        "--figure",
        "map.svg",
        cwd=files,
    )
    assert (files / "map.html").read_text().startswith("<!DOCTYPE html>")
    assert "have been" in (files / "map.svg").read_text()
    done = run(
        "difficulty", "--gold", "gold.m2", "all.m2", "--terminal", "--sentences", "2", cwd=files
    )
    assert done.stdout == (
        "2  I [have been → go .67] to [‸ → the .00] park [tomorrow → ∅ 1.00] .\n"
    )


def test_intervals_are_numbers_in_json(files: Path) -> None:
    found = tables(run("difficulty", "--gold", "gold.m2", "all.m2", "--json", cwd=files))
    assert {row["kind"]: row["interval of the mean"] for row in found["kinds"]}["M:DET"] == [0, 0]
    assert found["hardest"][0]["interval"] == [1, 1]
    none = tables(
        run("difficulty", "--gold", "gold.m2", "all.m2", "--json", "--examples", "0", cwd=files)
    )
    assert "hardest" not in none
    assert "easiest" not in none


SHOW = ("difficulty", "--gold", "gold.m2", "all.m2", "--terminal", "--sentences", "2")
NARROW = "2  I [have been → go .67] to\n   [‸ → the .00] park\n   [tomorrow → ∅ 1.00] .\n"


def test_colours_and_width_of_a_terminal(files: Path) -> None:
    for plain in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert errata(*SHOW, cwd=files, terminal=40, env=plain).stdout == NARROW
    coloured = errata(*SHOW, cwd=files, terminal=40).stdout
    assert re.sub("\x1b\\[[0-9;]*m", "", coloured) == NARROW
    assert "\x1b[48;2;" in coloured


def test_a_real_terminal(files: Path) -> None:
    pty = pytest.importorskip("pty")
    outer, inner = pty.openpty()
    environment = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
    environment |= {"TERM": "xterm", "COLUMNS": "40"}
    subprocess.run(
        [sys.executable, "-m", "errata", *SHOW],
        cwd=files,
        stdout=inner,
        env=environment,
        check=True,
        timeout=120,
    )
    os.close(inner)
    shown = b""
    try:
        while part := os.read(outer, 65536):
            shown += part
    except OSError:  # Linux says so that the other end is closed
        pass
    os.close(outer)
    text = shown.decode().replace("\r\n", "\n")
    assert text == errata(*SHOW, cwd=files, terminal=40).stdout


@pytest.mark.parametrize("form", ["table", "tsv", "latex", "markdown"])
def test_formats(files: Path, form: str) -> None:
    done = run("difficulty", "--gold", "gold.m2", "all.m2", "--format", form, cwd=files)
    assert "U:NOUN" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--gold", "gold.m2"], "difficulty needs systems or a weight file"),
        (["--gold", "gold.m2", "all.m2", "--names", "a,b"], "2 names for the edits of 3 systems"),
        (
            ["--gold", "gold.m2", "one.txt", "two.txt", "--names", "a,b"],
            "--names belongs to one M2",
        ),
        (["--gold", "gold.m2", "all.m2", "--annotator", "4"], "gold has no annotator 4"),
        (["--gold", "gold.m2", "all.m2", "--weights", "one.txt"], "one.txt:1: the first line"),
        (["--gold", "gold.m2", "all.m2", "--exclude-own", "--weights", "none"], "leave_out needs"),
        (
            ["--gold", "gold.m2", "all.m2", "--figure", "map.gif"],
            "use a name in .html, .svg, .png or .pdf",
        ),
        (
            ["--gold", "gold.m2", "all.m2", "--figure", "m.html", "--sentences", "3"],
            "no sentences 3",
        ),
        (["--gold", "gold.m2", "all.m2", "--system", "x"], "there is no system 'x'"),
        (
            ["--gold", "gold.m2", "all.m2", "--figure", "no/such/folder.html"],
            "cannot write the file",
        ),
        (["--gold", "gold.m2", "other.m2"], "other.m2:1: source sentence 1 differs"),
        (["--gold", "gold.m2", "all.m2", "--extract", "magic"], "there is no extractor 'magic'"),
    ],
)
def test_what_goes_wrong_is_said_in_one_line(
    files: Path, arguments: list[str], problem: str
) -> None:
    (files / "other.m2").write_text((files / "all.m2").read_text().replace("S We", "S You"))
    done = run("difficulty", *arguments, cwd=files, code=2)
    assert problem in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["all.m2", "--names", "A,,B"], "--names 'A,,B' has an empty name"),
        (["all.m2", "--names", "A,B,A"], "two systems are called 'A'; name them apart"),
        (["A=one.txt", "A=two.txt"], "two.txt: the system 'A' is also in one.txt"),
        (["all.m2", "--a", "inf"], "difficulty: a=inf must be a number"),
        (["all.m2", "--c", "nan"], "difficulty: c=nan must be a number"),
        (["all.m2", "--c", "-3"], "N + c must be positive, but N=3 and c=-3; choose c above -3"),
        (["all.m2", "--c", "-2", "--exclude-own"], "but N=2 and c=-2; choose c above -2"),
    ],
)
def test_names_and_weights_that_make_no_sense(
    files: Path, arguments: list[str], problem: str
) -> None:
    done = run("difficulty", "--gold", "gold.m2", *arguments, cwd=files, code=2)
    assert problem in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_an_annotator_without_lines_corrects_nothing(files: Path) -> None:
    """As in the released scorer; the same warning as that of ``errata score``."""
    lines = m2([GOLDEN["gold"], [GOLDEN["systems"]["1"][0], []]])
    (files / "two.m2").write_text(lines)
    done = run("difficulty", "--gold", "two.m2", "all.m2", "--annotator", "1", cwd=files)
    assert "1 sentences have no annotation by annotator 1" in done.stderr
    assert "annotator 1 of 2" in done.stdout


def test_several_annotators(files: Path) -> None:
    (files / "two.m2").write_text(m2([GOLDEN["gold"], GOLDEN["systems"]["1"]]))
    first = run("difficulty", "--gold", "two.m2", "all.m2", cwd=files).stdout
    assert "annotator 0 of 2" in first
    both = run("difficulty", "--gold", "two.m2", "all.m2", "--annotator", "all", cwd=files).stdout
    assert "annotators 0, 1, the best for each sentence" in both
    done = run(
        "difficulty",
        "--gold",
        "two.m2",
        "all.m2",
        "--annotator",
        "all",
        "--write-weights",
        "w.txt",
        cwd=files,
        code=2,
    )
    assert "one annotator's weights" in done.stderr


def test_the_sample_works(tmp_path: Path) -> None:
    done = run("difficulty", "--sample", "--figure", "map.html", cwd=tmp_path)
    assert "cautious" in done.stdout
    assert "&lt;b&gt;" in (tmp_path / "map.html").read_text()


def test_scores_by_kind_of_edit(files: Path) -> None:
    gold = ("score", "--gold", "gold.m2")
    some = ("--by-type", "-m", "edits", "--tier", "2", "--json")
    done = run(*gold, "one.txt", *some, cwd=files)
    rows = {row["kind"]: row for row in tables(done)["one_by_type"]}
    # The gold kinds are ERRANT's, the extractor's its own: the gold takes those.
    assert set(rows) == {"INFL", "OTHER", "all (micro average)", "mean of kinds (macro average)"}
    assert rows["all (micro average)"]["TP"] == 4
    assert "kinds:gold retyped by aligned" in done.stdout
    bare = run("score", "--source", "one.txt", "two.txt", *some, cwd=files, code=2)
    assert "there are no references, and edits needs them" in bare.stderr
    assert bare.stderr.count("\n") == 1


def test_texts_and_edits_are_not_scored_side_by_side(files: Path) -> None:
    gold = read_m2(files / "gold.m2")
    lines = (files / "one.txt").read_text().splitlines()
    edits = tuple((Reference(0, e),) for e in extract_all(gold.sources, lines))
    write_m2(Corpus(gold.sources, edits), files / "own.m2")
    by_edits = (("score", "-m", "edits"), ("score", "-m", "cleme2"), ("difficulty", "--top", "0"))
    for command in by_edits:
        mixed = (*command, "--gold", "gold.m2", "two.txt", "own.m2")
        refused = run(*mixed, cwd=files, code=2)
        assert "edits of own came with the file (M2), those of two have" in refused.stderr
        assert "--extract NAME" in refused.stderr
        found = run(*mixed, "--extract", "aligned", *FULL, cwd=files)
        assert "outputs='reextracted'" in found.stdout
        assert "edits:extracted" in found.stdout
    both = run(*mixed, "--mixed", *FULL, cwd=files)
    assert "edits:extracted (two), given (own)" in both.stdout
    none = run(
        "score",
        "--gold",
        "gold.m2",
        "own.m2",
        "-m",
        "m2",
        "--extract",
        "aligned",
        cwd=files,
        code=2,
    )
    assert "goes with -m errant, edits, difficulty" in none.stderr


def test_one_system_cannot_say_what_is_hard(files: Path) -> None:
    note = "the weights come from the one system that is scored"
    alone = ("difficulty", "--gold", "gold.m2", "one.txt")
    assert note in run(*alone, cwd=files).stdout
    assert note in run("score", *alone[1:], "-m", "difficulty", cwd=files).stdout
    assert note not in run(*alone, "--weights", "none", cwd=files).stdout
    assert note not in run(*alone, "two.txt", cwd=files).stdout


def test_a_test_needs_resamples(files: Path) -> None:
    two = ("score", "--gold", "gold.m2", "one.txt", "two.txt", "-m", "m2", "--compare")
    refused = run(*two, "--resamples", "0", cwd=files, code=2)
    assert "--resamples 0 leaves nothing to test with" in refused.stderr
    wrong = run("score", "--gold", "gold.m2", "one.txt", "-m", "m2", "--by-type", cwd=files, code=2)
    assert "--by-type goes with -m errant" in wrong.stderr
