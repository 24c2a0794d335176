"""Lists of files as shells and people write them: patterns, folders."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from command import errata
from errata.cli.main import warn_about_unquoted_pattern
from errata.core.errors import DataWarning


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
