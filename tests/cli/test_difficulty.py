"""``errata difficulty`` with the demo of the released scorer."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from command import run
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
    ):
        (tmp_path / f"{name}.txt").write_text("".join(s + "\n" for s in sentences))
    return tmp_path


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


def test_several_annotators(files: Path) -> None:
    """An annotator without lines corrects nothing, as in the released scorer."""
    line = "difficulty --gold two.m2 all.m2"
    assert "annotator 0 of 2" in run(line, cwd=files).stdout
    done = run(f"{line} --annotator 1", cwd=files)
    assert "1 sentences have no annotation by annotator 1" in done.stderr
    assert "annotator 1 of 2" in done.stdout
    assert "annotators 0, 1" in run(f"{line} --annotator all", cwd=files).stdout


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
