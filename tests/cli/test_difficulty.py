"""``errata difficulty`` with the demo of the released scorer."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from command import run, tables
from errata.data import Corpus, Reference
from errata.edits import extract_all
from errata.io import read_m2, write_m2

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "difficulty.json").read_text())
ALL = "difficulty --gold gold.m2 all.m2"


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
    (tmp_path / "two.m2").write_text(m2([GOLDEN["gold"], [GOLDEN["systems"]["1"][0], []]]))
    for name, sentences in (
        ("one", ["We have been discussing about it .", "I go to the park tomorrow ."]),
        ("two", ['" We are discussing it . "', "I have went to the park tomorrow ."]),
        ("three", ["We talking it .", "I have to been to the park past ."]),
    ):
        (tmp_path / f"{name}.txt").write_text("".join(s + "\n" for s in sentences))
    return tmp_path


def test_scores_kinds_and_errors_are_those_of_the_released_scorer(files: Path) -> None:
    line = f"{ALL} --names 0,1,2 --system 0"
    found = {name: table["rows"] for name, table in tables(line, cwd=files).items()}
    scores = {row["system"]: row for row in found["difficulty"]}
    for name, row in GOLDEN["weighted"].items():
        assert [round(scores[name][column], 4) for column in ("TP", "A", "F0.5")] == [
            row[column] for column in ("TP", "A", "F05")
        ]
    for row in found["kinds"]:
        assert [round(row["mean weight"], 2), round(row["SD"], 2), row["frequency"]] == (
            GOLDEN["by_kind"][row["kind"]]
        )
    assert {row["kind"]: row["interval of the mean"] for row in found["kinds"]}["M:DET"] == [0, 0]
    assert (found["hardest"][0]["error"], found["hardest"][0]["interval"]) == ("tomorrow", [1, 1])
    assert found["easiest"][0]["weight"] == 0
    assert [row["only you"] for row in found["uniqueness"]] == [2, 1, 0]
    assert set(found) >= {"agreement_kappa", "0_only", "0_everyone_but", "0_missed"}
    assert not {"hardest", "easiest"} & tables(f"{ALL} --examples 0", cwd=files).keys()
    texts = tables("difficulty --gold gold.m2 one.txt zwei=two.txt three.txt", cwd=files)
    by_text = {row["system"]: row["TP"] for row in texts["difficulty"]["rows"]}
    assert by_text.keys() == {"one", "zwei", "three"}
    assert round(by_text["one"], 4) == GOLDEN["weighted"]["0"]["TP"]


def test_weight_files_go_out_and_in(files: Path) -> None:
    run(f"{ALL} --write-weights w.txt", cwd=files)
    counts = "".join(" ".join(map(str, row)) + "\n" for row in GOLDEN["n_correct"])
    assert (files / "w.txt").read_text() == "3\n" + counts
    line = "difficulty --gold gold.m2 one.txt --weights w.txt --signature full"
    done = run(line, cwd=files)
    assert "80.00" in done.stdout
    assert "weights:3 systems of w.txt@" in done.stdout
    assert "U:NOUN" in run("difficulty --gold gold.m2 --weights w.txt", cwd=files).stdout


@pytest.mark.slow
def test_the_map_is_written_and_printed(files: Path) -> None:
    run(f"{ALL} --figure map.html --figure map.svg", cwd=files)
    assert (files / "map.html").read_text().startswith("<!DOCTYPE html>")
    assert "have been" in (files / "map.svg").read_text()
    line = f"{ALL} --terminal --sentences 2"
    assert run(line, cwd=files).stdout == (
        "2  I [have been → go .67] to [‸ → the .00] park [tomorrow → ∅ 1.00] .\n"
    )
    narrow = "2  I [have been → go .67] to\n   [‸ → the .00] park\n   [tomorrow → ∅ 1.00] .\n"
    for plain in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert run(line, cwd=files, terminal=40, env=plain).stdout == narrow
    coloured = run(line, cwd=files, terminal=40).stdout
    assert re.sub("\x1b\\[[0-9;]*m", "", coloured) == narrow
    assert "\x1b[48;2;" in coloured
    pty = pytest.importorskip("pty")
    outer, inner = pty.openpty()
    environment = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
    environment |= {"TERM": "xterm", "COLUMNS": "40"}
    command = [sys.executable, "-m", "errata", *line.split()]
    subprocess.run(command, cwd=files, stdout=inner, env=environment, check=True, timeout=120)
    os.close(inner)
    shown = b""
    try:
        while part := os.read(outer, 65536):
            shown += part
    except OSError:  # so Linux reports that the other end is closed
        pass
    os.close(outer)
    assert shown.decode().replace("\r\n", "\n") == coloured


def test_several_annotators(files: Path) -> None:
    """An annotator without lines corrects nothing, as in the released scorer."""
    line = "difficulty --gold two.m2 all.m2"
    assert "annotator 0 of 2" in run(line, cwd=files).stdout
    done = run(f"{line} --annotator 1", cwd=files)
    assert "1 sentences have no annotation by annotator 1" in done.stderr
    assert "annotator 1 of 2" in done.stdout
    assert "annotators 0, 1" in run(f"{line} --annotator all", cwd=files).stdout


def test_scores_by_kind_of_edit(files: Path) -> None:
    line = "score --gold gold.m2 one.txt --by-type -m edits --tier 2"
    table = tables(line, cwd=files)["one_by_type"]
    rows = {row["kind"]: row for row in table["rows"]}
    # The gold kinds are ERRANT's, the extractor's its own: the gold takes those.
    assert set(rows) == {"INFL", "OTHER", "all (micro average)", "mean of kinds (macro average)"}
    assert rows["all (micro average)"]["TP"] == 4
    assert "kinds:gold retyped by aligned" in table["signature"]


def test_texts_and_edits_are_not_scored_side_by_side(files: Path) -> None:
    gold = read_m2(files / "gold.m2")
    lines = (files / "one.txt").read_text().splitlines()
    edits = tuple((Reference(0, e),) for e in extract_all(gold.sources, lines))
    write_m2(Corpus(gold.sources, edits), files / "own.m2")
    for command in ("score -m edits", "score -m cleme2", "difficulty --examples 0"):
        mixed = f"{command} --gold gold.m2 two.txt own.m2 --signature full"
        refused = run(mixed, cwd=files, code=2)
        for word in ("own", "two", "--extract NAME"):
            assert word in refused.stderr
        found = run(f"{mixed} --extract aligned", cwd=files)
        assert "outputs='reextracted'" in found.stdout
        assert "edits:extracted" in found.stdout
    both = run(f"{mixed} --mixed", cwd=files)
    assert "edits:extracted (two), given (own)" in both.stdout


def test_one_system_causes_a_note_on_its_weights(files: Path) -> None:
    note = "the weights come from the one system that is scored"
    alone = "--gold gold.m2 one.txt"
    assert note in run(f"difficulty {alone}", cwd=files).stdout
    assert note in run(f"score {alone} -m difficulty", cwd=files).stdout
    assert note not in run(f"difficulty {alone} --weights none", cwd=files).stdout
    assert note not in run(f"difficulty {alone} two.txt", cwd=files).stdout
