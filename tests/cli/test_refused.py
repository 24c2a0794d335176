"""What a command refuses, option by option, and the smaller things it says."""

from __future__ import annotations

import re
import types
from pathlib import Path

import pytest

from command import errata
from errata.cli.running import _fault
from errata.cli.score_files import split_names
from errata.datasets.sample import sample_file
from errata.errors import InputError

GOLD = "S He go home .\nA 1 2|||V|||goes|||REQUIRED|||-NONE-|||0\n"


@pytest.mark.parametrize(
    "option",
    [("--annotator", 0), ("--only-source",), ("--copy-missing",), ("--missing", "X")],
    ids=lambda option: option[0],
)
def test_edits_or_texts(option: tuple[object, ...], tmp_path: Path) -> None:
    (tmp_path / "gold.m2").write_text(GOLD)
    (tmp_path / "a.txt").write_text("He goes home .\n")
    arguments = ("convert", "gold.m2", "--extract", "aligned", *option)
    assert "the other options make texts" in errata(*arguments, cwd=tmp_path, code=2).stderr
    if option[0] != "--missing":
        texts = ("convert", "--source", "a.txt", "--refs", "a.txt", *option)
        assert "belong to M2 to text" in errata(*texts, cwd=tmp_path, code=2).stderr


def test_new_edits_go_where_they_are_sent(tmp_path: Path) -> None:
    (tmp_path / "gold.m2").write_text(GOLD)
    arguments = ("convert", "gold.m2", "--extract", "aligned")
    printed = errata(*arguments, cwd=tmp_path).stdout
    done = errata(*arguments, "-o", "x.m2", cwd=tmp_path)
    assert (tmp_path / "x.m2").read_text() == printed
    assert printed.startswith("S He go home .\nA 1 2|||")
    assert "x.m2" in done.stdout


def test_where_a_failure_comes_from() -> None:
    bad = ("score", "--gold", "nowhere.m2", "x.txt")
    assert "Traceback" not in errata(*bad, code=2).stderr
    assert "Traceback" in errata("--traceback", *bad, code=2).stderr
    assert "Traceback" in errata(*bad, code=2, env={"ERRATA_TRACEBACK": "1"}).stderr
    assert "Traceback" not in errata(*bad, code=2).stderr  # of the next run nothing is said


def test_names_are_a_list_or_a_file(tmp_path: Path) -> None:
    (tmp_path / "names").write_text("A \nB\n")
    assert split_names(None) == []
    assert split_names("A, B") == split_names(str(tmp_path / "names")) == ["A", "B"]
    with pytest.raises(InputError, match="has an empty name"):
        split_names("A,,B")


def test_verbose_says_how_long_it_took() -> None:
    said = errata("metrics", "-v").stderr
    seconds = re.search(r"; (\d+\.\d) s$", said.strip())
    assert seconds is not None
    assert float(seconds[1]) < 60


@pytest.mark.parametrize(
    ("module", "whose"),
    [("their_metric", "the plug-in their_metric failed (x.py:2)"), ("__main__", "fault of Errata")],
)
def test_whose_fault_it_is(module: str, whose: str, tmp_path: Path) -> None:
    place = tmp_path / "x.py"
    place.write_text("def fail():\n    return 1 / 0\n")
    theirs = types.ModuleType(module)
    exec(compile(place.read_text(), str(place), "exec"), theirs.__dict__)
    with pytest.raises(ZeroDivisionError) as caught:
        theirs.fail()
    inside = caught.tb.tb_next  # without the frame of this test
    said = _fault(caught.value.with_traceback(inside))
    assert whose in said
    assert "ZeroDivisionError: division by zero" in said


@pytest.mark.parametrize("level", ["sentence", "both", "system"])
def test_scores_of_systems_alone_are_judged_as_such(level: str, tmp_path: Path) -> None:
    names = ("eager", "cautious", "fluent", "noisy", "nothing")
    rows = "".join(f"{name}\t{k / 7}\n" for k, name in enumerate(names))
    (tmp_path / "m.tsv").write_text(f"system\tm\n{rows}", encoding="utf-8")
    with sample_file("judgments.jsonl") as judgments:
        given = ("--judgments", judgments, "--scores", "m.tsv", "--level", level)
        code = 2 if level == "sentence" else 0
        done = errata("meta", *given, "--resamples", 0, cwd=tmp_path, code=code)
    alone = "no sentence scores of m"
    assert (alone in done.stderr) == (level != "system")
    assert ("judged at system level only" in done.stderr) == (level == "both")
    assert ("system level" in done.stdout) == (level != "sentence")
    assert "sentence level" not in done.stdout
