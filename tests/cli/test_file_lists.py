"""Lists of files as shells and people write them: patterns, folders."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import click
import pytest

from command import errata
from errata.cli import score
from errata.cli.main import cli, expand_refs
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


REFS = ("--refs", "t.ref0", "t.ref1", "t.ref2")


@pytest.mark.parametrize("name", ["score", "refs", "difficulty", "check"])
def test_references_as_a_shell_expands_them(texts: Path, name: str) -> None:
    more = ["-m", "gleu"] if name in ("score", "refs") else []
    done = errata(name, "--source", "t.src", *REFS, "out/A.txt", *more, "--json", cwd=texts)
    tables = {table["name"]: table for table in json.loads(done.stdout)["tables"]}
    assert "2 more files are taken for --refs" in done.stderr
    if name == "check":
        assert sum("t.ref" in str(row) for row in tables["files"]["rows"]) == 3
    elif name == "refs":
        assert len(tables["reference_sets"]["rows"]) == 3
    else:
        assert "references:" in next(iter(tables.values()))["signature"]
        assert "ref1" not in done.stdout


def test_which_files_are_references() -> None:
    for given, taken in (
        ("--refs a/r0.txt a/r1.txt a/out.txt", 1),
        ("--refs r0.txt r1.txt x.txt r2.txt", 1),
        ("--refs=r0 r10 r2", 2),
        ("--refs ref.a ref.b ref.c", 2),
        ("--refs R.txt A.txt B.txt", 0),
        ("--refs reference.txt out1.txt out2.txt", 0),
        ("--refs r0.txt ours=r1.txt", 0),
        ("--refs r0.txt -m gleu r1.txt", 0),
        ("--refs r0.txt --refs r1.txt r1.txt", 0),
        ("--refs r0.txt b/r1.txt", 0),
        ("--refs r0.txt -- r1.txt", 0),
        ("out1.txt --refs r0.txt", 0),
    ):
        words = given.split()
        done = expand_refs(words)
        assert len(done) - len(words) == taken, given
        assert [a for a in done if a != "--refs"] == [a for a in words if a != "--refs"], given


def test_a_group_of_commands_has_the_options_of_its_commands() -> None:
    """What --refs names after errata train impara is no system."""
    train = cli.get_command(click.Context(cli), "train")
    given = ["impara", "--source", "src.txt", "--refs", "ref.txt", "-o", "out/new"]
    assert expand_refs(given, train) == given


DOUBTFUL = """
--refs refs/alice.txt refs/bob.txt refs/carol.txt sys.txt   | refs/bob.txt, refs/carol.txt
sys.txt --refs=refs/alice.txt refs/bob.txt                  | refs/bob.txt
--refs people/alice.txt people/bob.txt -m gleu out/sys.txt  | people/bob.txt
--refs references/alice.txt references/bob.txt              | references/bob.txt
--refs alice.txt bob.txt out/sys.txt                        | bob.txt
--refs alice.txt sys.txt ours.txt -m x/m.py:f --json        |
--refs data/alice.txt data/sys.txt --source texts/s.txt     |
--refs data/alice.txt data/sys.txt data/ours.txt            |
--refs refs/alice.txt bob=refs/bob.txt sys.txt              |
--source d/s.txt --refs d/r.txt d/s.txt out/sys.txt         |
--refs refs/alice.txt out/A.txt refs/bob.txt                |
--refs refs/alice.txt --refs refs/bob.txt sys.txt           |
--refs d/t.ref0 d/out d/t.ref1                              | d/t.ref1
--refs t.ref0 -m gleu t.ref1 out                            | t.ref1
t.ref2 --refs t.ref0 t.ref1 out                             | t.ref2
--refs t.ref0 -m gleu people=t.ref1 out                     |
--refs t.ref0 --refs t.ref1 out t.ref1                      |
"""


def test_outputs_that_may_be_references_cause_a_warning() -> None:
    for line in DOUBTFUL.strip().splitlines():
        given, _, doubtful = (part.strip() for part in line.partition("|"))
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always", DataWarning)
            expand_refs(given.split(), score.command)
        assert len(seen) == bool(doubtful), line
        for warning in seen:
            assert str(warning.message).startswith(f"{doubtful} "), line
            assert "write --refs FILE --refs FILE" in str(warning.message)


def test_a_reference_scored_as_a_system_is_warned_of(texts: Path) -> None:
    (texts / "people").mkdir()
    for name in ("alice", "bob"):
        (texts / "people" / f"{name}.txt").write_text("He goes .\nI am .\n")
    run = ("score", "--source", "t.src", "-m", "gleu", "--refs", "people/alice.txt")
    done = errata(*run, "people/bob.txt", "out", cwd=texts)
    assert done.stderr.startswith("warning: people/bob.txt is scored as a system")
    assert not errata(*run, "--refs", "people/bob.txt", "out", cwd=texts).stderr


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
