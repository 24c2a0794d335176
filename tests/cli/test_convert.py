"""``errata convert`` as a user runs it."""

from __future__ import annotations

from pathlib import Path

import pytest

from command import run
from errata.io import read_m2, read_text

GOLD = (
    "S He go  home .\nA 1 2|||V|||goes|||REQUIRED|||-NONE-|||0\n"
    "A 1 2|||V|||went||goes|||REQUIRED|||-NONE-|||1\nA 3 3|||P|||now|||REQUIRED|||-NONE-|||1\n"
    "\nS It  is é .\nA -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0\n"
)


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    (tmp_path / "gold.m2").write_text(GOLD)
    return tmp_path


def test_m2_to_texts(gold: Path) -> None:
    run("convert gold.m2 -o out --missing <none>", cwd=gold)
    assert read_text(gold / "out.src") == ("He go  home .", "It  is é .")
    assert read_text(gold / "out.ref0") == ("He goes home .", "It  is é .")
    assert read_text(gold / "out.ref1") == ("He went home now .", "<none>")
    run("convert gold.m2 -o out --copy-missing --force", cwd=gold)
    assert read_text(gold / "out.ref1") == ("He went home now .", "It  is é .")


def test_a_missing_reference_needs_a_mark(gold: Path) -> None:
    done = run("convert gold.m2 -o out", cwd=gold, code=2)
    assert "gold.m2:6: annotator 1" in done.stderr
    assert [path.name for path in gold.iterdir()] == ["gold.m2"]
    done = run("convert gold.m2 -o out --missing 'He goes home .'", cwd=gold, code=2)
    assert "gold.m2:1" in done.stderr


def test_one_text_goes_to_standard_output(gold: Path) -> None:
    first = run("convert gold.m2 --annotator 0", cwd=gold).stdout
    assert first == "He goes home .\nIt  is é .\n"
    source = run("convert - --only-source", cwd=gold, stdin=GOLD).stdout
    assert source == "He go  home .\nIt  is é .\n"


def test_new_edits_go_where_they_are_sent(gold: Path) -> None:
    printed = run("convert gold.m2 --extract aligned", cwd=gold).stdout
    assert printed.startswith("S He go  home .\nA 1 2|||")
    assert "x.m2" in run("convert gold.m2 --extract aligned -o x.m2", cwd=gold).stdout
    assert (gold / "x.m2").read_text() == printed


def test_text_to_m2(tmp_path: Path) -> None:
    (tmp_path / "s").write_text("He go home .\nFine .\n")
    (tmp_path / "r0").write_text("He goes home .\nFine .\n")
    (tmp_path / "r1").write_text("<none>\nIt is fine .\n")
    line = "convert --source s --refs r0 --refs r1 --missing <none> -o new.m2.gz"
    assert run(line, cwd=tmp_path).stderr == ""
    corpus = read_m2(tmp_path / "new.m2.gz")
    assert [[r.annotator for r in refs] for refs in corpus.references] == [[0], [0, 1]]
    assert corpus.references[1][0].edits == ()
    (edit,) = corpus.references[0][0].edits
    assert (edit.start, edit.end, edit.replacement) == (1, 2, "goes")
    assert [
        [r.corrected(s) for r in refs]
        for s, refs in zip(corpus.sources, corpus.references, strict=True)
    ] == [["He goes home ."], ["Fine .", "It is fine ."]]


def test_overlapping_edits_cannot_become_text(tmp_path: Path) -> None:
    (tmp_path / "bad.m2").write_text(
        "S a\n\nS a b\nA 0 2|||X|||x|||REQUIRED|||-NONE-|||0\n"
        "A 1 2|||X|||y|||REQUIRED|||-NONE-|||0\n"
    )
    done = run("convert bad.m2 --annotator 0", cwd=tmp_path, code=2)
    assert "warning: bad.m2:5: " in done.stderr
    assert "errata: bad.m2:3: edit 1-2 'y'" in done.stderr
