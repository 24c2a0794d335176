"""`errata convert` as a user runs it."""

from __future__ import annotations

from pathlib import Path

import pytest

from command import Done, errata
from errata.io import read_m2, read_text

GOLD = (
    "S He go  home .\nA 1 2|||V|||goes|||REQUIRED|||-NONE-|||0\n"
    "A 1 2|||V|||went||goes|||REQUIRED|||-NONE-|||1\nA 3 3|||P|||now|||REQUIRED|||-NONE-|||1\n"
    "\nS It  is é .\nA -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0\n"
)


def convert(*arguments: object, cwd: Path, stdin: str = "") -> Done:
    return errata("convert", *arguments, cwd=cwd, stdin=stdin, code=None)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "gold.m2").write_text(GOLD)
    return tmp_path


def test_m2_to_texts(folder):
    assert convert("gold.m2", "-o", "out", "--missing", "<none>", cwd=folder).returncode == 0
    assert read_text(folder / "out.src") == ("He go  home .", "It  is é .")
    assert read_text(folder / "out.ref0") == ("He goes home .", "It  is é .")
    assert read_text(folder / "out.ref1") == ("He went home now .", "<none>")
    assert convert("gold.m2", "-o", "out", "--copy-missing", "--force", cwd=folder).returncode == 0
    assert read_text(folder / "out.ref1") == ("He went home now .", "It  is é .")


def test_a_missing_reference_needs_a_word(folder):
    done = convert("gold.m2", "-o", "out", cwd=folder)
    assert done.returncode == 2
    assert done.stderr.startswith("errata: gold.m2:6: annotator 1 has no reference")
    assert sorted(path.name for path in folder.iterdir()) == ["gold.m2"]
    done = convert("gold.m2", "-o", "out", "--missing", "He goes home .", cwd=folder)
    assert "gold.m2:1: the correction is 'He goes home .', the mark" in done.stderr


def test_one_annotator_to_standard_output(folder):
    assert convert("gold.m2", "--annotator", 0, cwd=folder).stdout == (
        "He goes home .\nIt  is é .\n"
    )
    assert convert("-", "--only-source", cwd=folder, stdin=GOLD).stdout == (
        "He go  home .\nIt  is é .\n"
    )
    done = convert("gold.m2", "--annotator", 7, cwd=folder)
    assert (done.returncode, "no annotator 7; there are: 0, 1" in done.stderr) == (2, True)
    assert convert("gold.m2", cwd=folder).returncode == 2


def test_text_to_m2(folder):
    (folder / "s").write_text("He go home .\nFine .\n")
    (folder / "r0").write_text("He goes home .\nFine .\n")
    (folder / "r1").write_text("<none>\nIt is fine .\n")
    done = convert(
        "--source",
        "s",
        "--refs",
        "r0",
        "--refs",
        "r1",
        "--missing",
        "<none>",
        "-o",
        "new.m2.gz",
        cwd=folder,
    )
    assert (done.returncode, done.stderr) == (0, "")
    corpus = read_m2(folder / "new.m2.gz")
    assert [[r.annotator for r in refs] for refs in corpus.references] == [[0], [0, 1]]
    assert corpus.references[1][0].edits == ()
    (edit,) = corpus.references[0][0].edits
    assert (edit.start, edit.end, edit.replacement) == (1, 2, "goes")
    assert [
        [r.corrected(s) for r in refs]
        for s, refs in zip(corpus.sources, corpus.references, strict=True)
    ] == [["He goes home ."], ["Fine .", "It is fine ."]]


def test_overlapping_edits_cannot_become_text(folder):
    (folder / "bad.m2").write_text(
        "S a\n\nS a b\nA 0 2|||X|||x|||REQUIRED|||-NONE-|||0\n"
        "A 1 2|||X|||y|||REQUIRED|||-NONE-|||0\n"
    )
    done = convert("bad.m2", "--annotator", 0, cwd=folder)
    assert done.returncode == 2
    assert "warning: bad.m2:5: " in done.stderr
    assert "errata: bad.m2:3: edit 1-2 'y' overlaps" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["gold.m2", "--source", "s"],
        ["gold.m2", "--refs", "r"],
        ["--source", "s"],
        ["--source", "s", "--refs", "r", "--only-source"],
    ],
)
def test_usage_errors(folder, arguments):
    done = convert(*arguments, cwd=folder)
    assert done.returncode == 2
    assert "Usage:" in done.stderr


def test_help_has_examples(folder):
    assert "errata convert gold.m2 -o gold" in convert("--help", cwd=folder).stdout


def test_conll14_there_and_back(conll14, tmp_path):
    gold = conll14 / "conll14st-test.m2"
    assert convert(gold, "-o", "c", "--missing", "<none>", cwd=tmp_path).returncode == 0
    assert [s.split() for s in read_text(tmp_path / "c.src")] == [
        s.split() for s in read_text(conll14 / "conll14st-test.tok.src")
    ]
    assert (
        convert(
            "--source",
            "c.src",
            "--refs",
            "c.ref0",
            "--refs",
            "c.ref1",
            "--missing",
            "<none>",
            "-o",
            "c.m2",
            cwd=tmp_path,
        ).returncode
        == 0
    )
    ours, theirs = read_m2(tmp_path / "c.m2"), read_m2(gold)
    assert ours.sources == theirs.sources
    for source, mine, their in zip(ours.sources, ours.references, theirs.references, strict=True):
        assert [(r.annotator, r.corrected(source).split()) for r in mine] == [
            (r.annotator, r.corrected(source).split()) for r in their
        ]
