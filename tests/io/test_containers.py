"""Rows, essays and edits are refused where one sentence a line is expected."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command import errata
from errata.io.checks.containers import check_container

SENTENCES = ["He go home .", "I likes it .", "She have a dog ."]
OBJECTS = [json.dumps({"source": s, "output": s}) for s in SENTENCES]
REFUSED = {
    "JSON lines": (OBJECTS, "JSON object"),
    "JSON": (json.dumps([{"a": 1}, {"a": 2}], indent=1).split("\n"), "the file is JSON"),
    "CSV": (["id,Source,Prediction", *(f"{i},{s},{s}" for i, s in enumerate(SENTENCES))], "CSV"),
    "TSV": (["src\tref_1", *(f"{s}\t{s}" for s in SENTENCES)], "CSV"),
    "essays": (["### essay_id = e1", *SENTENCES], "essay heading"),
    "M2": (["S He go .", "A 1 2|||V|||goes|||REQUIRED|||-NONE-|||0", ""], "this is M2"),
}
TEXTS = (
    SENTENCES,
    ["{ a } is a set , and so is { b } .", "[ 1 ] See the first chapter ."],
    ["Source , target , and output are words .", "source , target , and output ."],
    ["### is not a heading", "A 3 4 is a size ."],
    ["S is a letter .", "A 3 4 is a size ."],
    ["source, the", "target"],
    ["", "  "],
    ["[", '"a"', "]"],
    [],
)


@pytest.mark.parametrize("what", REFUSED)
def test_containers_are_refused_in_every_role(what: str, tmp_path: Path) -> None:
    lines, message = REFUSED[what]
    (tmp_path / "odd.txt").write_text("".join(f"{line}\n" for line in lines))
    fine = [SENTENCES[i % 3] for i in range(len(lines))]
    (tmp_path / "fine.txt").write_text("".join(f"{line}\n" for line in fine))
    for roles in (("odd", "fine", "fine"), ("fine", "odd", "fine"), ("fine", "fine", "odd")):
        source, refs, output = (f"{role}.txt" for role in roles)
        run = ("score", "--source", source, "--refs", refs, f"ours={output}", "-m", "gleu")
        done = errata(*run, "--resamples", "0", cwd=tmp_path, code=2)
        assert "odd.txt:1: " in done.stderr
        assert message in done.stderr
        checked = errata("check", *run[1:6], cwd=tmp_path, code=2)
        assert "[container]" in checked.stdout


@pytest.mark.parametrize("lines", TEXTS)
def test_texts_are_no_containers(lines: list[str]) -> None:
    assert check_container(lines, "text") == []


def test_what_is_meant_is_scored(tmp_path: Path) -> None:
    (tmp_path / "odd.txt").write_text("".join(f"{line}\n" for line in OBJECTS))
    run = ("score", "--source", "odd.txt", "--refs", "odd.txt", "ours=odd.txt", "-m", "gleu")
    done = errata(*run, "--no-guard", "--resamples", "0", "--json", cwd=tmp_path)
    assert "JSON object" in done.stderr
    assert json.loads(done.stdout)["tables"][0]["rows"][0]["system"] == "ours"
