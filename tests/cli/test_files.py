"""Files as users give them: converted, checked, and as lists, patterns and folders."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from command import errata, run
from errata.cli.main import warn_about_unquoted_pattern
from errata.core.errors import DataWarning
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
    done = run("convert gold.m2 -o out", cwd=gold, code=2)
    assert "gold.m2:6: annotator 1" in done.stderr  # has no reference of the sentence
    assert [path.name for path in gold.iterdir()] == ["gold.m2"]
    done = run("convert gold.m2 -o out --missing 'He goes home .'", cwd=gold, code=2)
    assert "gold.m2:1" in done.stderr
    run("convert gold.m2 -o out --missing <none>", cwd=gold)
    assert read_text(gold / "out.src") == ("He go  home .", "It  is é .")
    assert read_text(gold / "out.ref0") == ("He goes home .", "It  is é .")
    assert read_text(gold / "out.ref1") == ("He went home now .", "<none>")
    run("convert gold.m2 -o out --copy-missing --force", cwd=gold)
    assert read_text(gold / "out.ref1") == ("He went home now .", "It  is é .")
    first = run("convert gold.m2 --annotator 0", cwd=gold).stdout
    assert first == "He goes home .\nIt  is é .\n"
    source = run("convert - --only-source", cwd=gold, stdin=GOLD).stdout
    assert source == "He go  home .\nIt  is é .\n"
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


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    for name, text in (
        ("t.src", "He go .\nI am .\n"),
        ("t.ref0", "He goes .\nI am .\n"),
        ("t.ref1", "He went .\nI am .\n"),
        ("t.ref2", "He goes .\nI was .\n"),
        ("out/A.txt", "He goes .\nI am .\n"),
        ("out/B.txt", "He gone .\nI am .\n"),
        ("out/.hidden", "no output\n"),
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_references_as_pattern_folder_or_repeated_option(texts: Path) -> None:
    (texts / "people").mkdir()
    for old, new in (("t.ref0", "1.txt"), ("t.ref1", "9.txt"), ("t.ref2", "10.txt")):
        (texts / "people" / new).write_text((texts / old).read_text())
    run = ("score", "--source", "t.src", "out", "-m", "gleu", "-m", "m2", "--signature", "full")
    for many in (("--refs", "t.ref?"), ("--refs=people",), ("--refs", "people/*.txt")):
        done = errata(*run, *many, cwd=texts)
        assert not done.stderr
        repeated = (f"--refs=t.ref{k}" for k in range(3))
        assert done.stdout == errata(*run, *repeated, cwd=texts).stdout
    (texts / "empty").mkdir()
    for nothing in ("none*", "empty"):
        assert "no reference file" in errata(*run, "--refs", nothing, cwd=texts, code=2).stderr


SUSPICIOUS = """
--refs people/1.txt people/2.txt people/3.txt out   | people/2.txt, people/3.txt
out --refs=people/1.txt people/2.txt                | people/2.txt
--refs t.ref0 t.ref1 out                            | t.ref1
--refs t.ref0 t.ref1 -m gleu out/A.txt              | t.ref1
--refs people/1.txt people/2.txt --source t.src     | people/2.txt
--refs people/1.txt two=people/2.txt out            |
--refs people/1.txt -m gleu people/2.txt out        |
--refs people/1.txt --refs people/2.txt out         |
--refs t.ref0 t.ref1 -m gleu --source t.src         |
"""


def test_references_of_an_unquoted_pattern_cause_a_warning(
    texts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (texts / "people").mkdir()
    for name in "123":
        (texts / "people" / f"{name}.txt").write_text("He goes .\nI am .\n")
    monkeypatch.chdir(texts)
    for line in SUSPICIOUS.strip().splitlines():
        given, _, suspects = (part.strip() for part in line.partition("|"))
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always", DataWarning)
            warn_about_unquoted_pattern(given.split())
        assert [str(w.message).partition(":")[0] for w in seen] == [suspects] * bool(suspects), line


def test_folders_of_outputs(texts: Path) -> None:
    run = ("--source", "t.src", "--refs", "t.ref0")
    for name in ("score", "difficulty", "check"):
        more = ["-m", "gleu"] if name == "score" else []
        one = errata(name, *run, "out", *more, cwd=texts)
        assert one.stdout == errata(name, *run, "out/A.txt", "out/B.txt", *more, cwd=texts).stdout
    (texts / "empty").mkdir()
    done = errata("score", *run, "empty", code=2, cwd=texts)
    assert "no file in the folder" in done.stderr
    done = errata("score", *run, "ours=out", code=2, cwd=texts)
    assert "cannot have the name of one" in done.stderr


def test_folders_inside_a_folder_are_named(texts: Path) -> None:
    (texts / "out" / "more").mkdir()
    line = ("score", "--source", "t.src", "--refs", "t.ref0", "out", "-m", "gleu", "--resamples", 0)
    said = errata(*line, cwd=texts).stderr
    assert "warning: out: not read, being no files: more; name a folder inside it" in said


REST = "REQUIRED|||-NONE-|||0"
EDITED = f"S He go home .\nA 1 2|||V|||goes|||{REST}\n\nS I is fine .\nA 1 2|||V|||am|||{REST}\n"
CHECKED = {
    "gold.m2": EDITED,
    "bad.m2": EDITED.replace("1 2", "1 9"),
    "two.m2": f"S He go home .\nS I am .\nA 1 2|||V|||goes|||{REST}\n\n",
    "many.m2": "\n".join(f"S a\nA 0 1|||X|||a|||{REST}\n" for _ in range(9)),
    "s.txt": "He go home .\nI is fine .\n",
    "good.txt": "He goes home .\nI is fine .\n",
    "gap.txt": "He go home !\n\n",
    "short.txt": "He go home .\n",
}


@pytest.mark.parametrize(
    ("line", "code", "findings"),
    [
        ("gold.m2 good.txt", 0, "0 errors, 0 warnings, 0 notes\n"),
        ("gold.m2 gap.txt", 0, "warning  gap.txt:2  [empty-line]"),
        ("gold.m2 gap.txt --strict", 2, "warning  gap.txt:2  [empty-line]"),
        ("gold.m2 nowhere.txt", 2, "error  nowhere.txt  [unreadable]"),
        ("--gold gold.m2 --source good.txt s.txt", 2, "error  good.txt:1  [swapped]"),
        ("--gold gold.m2 --source s.txt good.txt", 0, "0 errors, 0 warnings, 0 notes\n"),
        ("--source s.txt --refs short.txt", 2, "error  short.txt:2  [line-count]"),
        ("gold.m2 good.txt other=good.txt", 0, "[same-text]"),
        ("gold.m2 good.txt good.txt", 2, "[same-name]"),
        ("bad.m2 good.txt", 2, "error  bad.m2:2 ... error  bad.m2:5"),
        ("many.m2", 0, "[identity-edit] ... and 8 more like it: lines 4, 7, 10, 13, 16, ..."),
        ("--gold two.m2 --compatible", 0, "[several-sources]"),
    ],
)
def test_findings(tmp_path: Path, line: str, code: int, findings: str) -> None:
    for name, text in CHECKED.items():
        (tmp_path / name).write_text(text)
    done = run(f"check {line}", cwd=tmp_path, code=code)
    assert done.stderr == ""
    assert all(finding in done.stdout for finding in findings.split(" ... "))
    # --compatible gives a sentence edits of another: the file has no two spaces in them.
    assert "[double-space]" not in done.stdout
