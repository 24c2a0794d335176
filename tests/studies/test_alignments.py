"""Alignments to look at: Gotou's chunks, M2's edits, columns that line up, the command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from command import errata
from errata.align import align_columns, chunk_sentences, chunk_text
from errata.data import Corpus, Edit, Hypotheses, Reference
from errata.metrics.difficulty import Difficulty, build_difficulty_map
from errata.tables.cells import display_width

SOURCE = "We discussing about its ."
GOLD = (Edit(1, 1, "have been"), Edit(2, 3, ""), Edit(3, 4, "it"))
QUOTED = (Edit(0, 0, "“"), Edit(1, 1, "are"), GOLD[1], GOLD[2], Edit(5, 5, "”"))
# Example (3) of Gotou et al. with the edits of their Figure 2.
SYSTEMS = [
    Hypotheses("Sys1", ("We have been discussing about it .",), ((GOLD[0], GOLD[2]),)),
    Hypotheses("Sys2", ("“ We are discussing it . ”",), (QUOTED,)),
    Hypotheses("Sys3", ("We talking it .",), ((Edit(1, 3, "talking"), GOLD[2]),)),
]


@pytest.fixture
def figure_2() -> Any:
    corpus = Corpus((SOURCE,), ((Reference(0, GOLD),),))
    metric = Difficulty(matching="elastic", outputs="mixed")
    (found,) = chunk_sentences(build_difficulty_map(corpus, SYSTEMS, metric), [0])
    return found


def test_the_chunks_of_figure_2(figure_2: Any) -> None:
    gold = [(chunk.source, chunk.gold) for chunk in figure_2.chunks]
    assert gold == [
        *(("", ""), ("We", "We"), ("", "have been"), ("discussing", "discussing"), ("", "")),
        *(("about", ""), ("", ""), ("its", "it"), ("", ""), (".", "."), ("", "")),
    ]
    solved = [chunk.solved for chunk in figure_2.chunks]
    assert (solved[2], solved[5], solved[7]) == (1, 1, 3)
    assert [round(figure_2.chunks[k].weight, 4) for k in (2, 5, 7)] == [0.6667, 0.6667, 0]
    bits = ["".join(str(int(c.right[s])) for c in figure_2.chunks) for s in range(3)]
    assert (bits[0][2], bits[0][5], bits[1][2], bits[1][5], bits[2][5]) == ("1", "0", "0", "1", "0")
    assert [c.written[1] for c in figure_2.chunks if c.is_dummy and c.is_worth_showing] == [
        "“",
        "”",
    ]


def test_columns_line_up_whatever_the_letters(figure_2: Any) -> None:
    text = chunk_text(figure_2, [h.system for h in SYSTEMS], number=1)
    title, *rows = text.split("\n")
    assert title == "sentence 1, annotator 0 (3 empty places that nobody filled are not shown)"
    assert rows[1].split()[:3] == ["source", "∅", "We"]
    whole = chunk_text(figure_2, [h.system for h in SYSTEMS], number=1, dummies=True)
    assert len(whole.split("\n")[1].split()) == len(figure_2.chunks)
    wide = align_columns([("a", ["日本語", "x", "e\u0301"]), ("b", ["ab", "yy", "\x1b"])])
    first, second = wide.split("\n")
    assert display_width(first[: first.index("x")]) == display_width(second[: second.index("yy")])
    assert second.endswith("\\x1b")
    assert align_columns([]) == ""


def _tables(*arguments: object, **given: Any) -> dict[str, Any]:
    found = json.loads(errata("align", *arguments, "--json", **given).stdout)["tables"]
    return {table["name"]: table for table in found}


def test_the_command_on_the_example_of_chollampatt_and_ng(tmp_path: Path) -> None:
    for name, text in {
        "source": "Thus , advice from hospital plays the important role for this .",
        "ours": "Thus , advice from hospital plays an important role for this .",
        "reference": "Thus , advice from the hospital plays an important role in this .",
    }.items():
        (tmp_path / name).write_text(text + "\n")
    run = ("--source", "source", "--refs", "reference", "ours")
    shown = errata("align", *run, "-m", "imeasure", cwd=tmp_path).stdout
    rows = [line for line in shown.split("\n") if line.startswith(("source", "hyp", "ref"))]
    assert [row.split()[5] for row in rows] == ["∅", "∅", "the"]
    assert len({row.index("hospital") for row in rows}) == 1
    found = _tables(*run, cwd=tmp_path)
    columns = ("sentence", "system", "annotator", "position", "source", "hypothesis", "reference")
    wanted = dict(zip(columns, (1, "ours", 0, 5, None, None, "the"), strict=True))
    assert found["imeasure"]["rows"][4] == wanted | {"counts as": "FN"}
    assert [row["edit is"] for row in found["m2"]["rows"]] == ["missed", "correct", "missed"]
    errors = [row["gold"] for row in found["difficulty"]["rows"] if row["error"]]
    assert errors == ["the", "an", "in"]


def test_which_sentences_and_which_metrics() -> None:
    found = _tables("--sample", "--sentences", "3,5-6", "-m", "m2")
    assert {row["sentence"] for row in found["m2"]["rows"]} == {3, 5, 6}
    first = _tables("--sample", "-m", "m2", "--skip-sentences", "1")
    assert {row["sentence"] for row in first["m2"]["rows"]} == {2, 3, 4}
    for more, said in (
        (("-m", "gleu"), "gleu has no alignment to show; choose from imeasure, difficulty, m2"),
        (("-m", "m2", "--dummies"), "--dummies goes with -m difficulty"),
        (("--sentences", "80"), "there are no sentences 80 in a corpus of 72"),
        (("--sentences", "3,x"), "cannot read the sentences 'x'"),
        (("-m", "imeasure(references=mix)"), "a mixture of several annotators"),
    ):
        assert said in errata("align", "--sample", *more, code=2).stderr


def test_a_terminal_has_lines_of_its_width() -> None:
    run = ("align", "--sample", "--sentences", "1", "-m", "imeasure", "-m", "m2")
    lines = errata(*run, terminal=60).stdout.split("\n")
    end = next(k for k, line in enumerate(lines) if "signature: " in line)
    rows = [line for line in lines[:end] if line.startswith(("source", "hyp", "ref", "   "))]
    assert len(rows) > 5 * 5  # five systems, and lines that go on below
    assert max(map(display_width, rows)) <= 60
    assert lines[0] == "\x1b[1mimeasure: source, hypothesis and reference aligned\x1b[0m"
