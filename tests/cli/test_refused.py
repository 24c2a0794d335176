"""What a command refuses, option by option, and the smaller things it says."""

from __future__ import annotations

import re
import types
from pathlib import Path

import pytest

from command import errata
from errata.cli.running import _fault
from errata.cli.score_files import split_names
from errata.datasets import sample_corpus, sample_systems
from errata.datasets.sample import sample_file
from errata.errors import InputError
from errata.evaluation import evaluate
from errata.metrics import parse
from errata.report.tables.scores import summary_table, told_apart

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


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ("--by-type --compare -m edits", "--compare goes with scores of systems"),
        ("--by-type --by-sentence -m edits", "--by-sentence goes with scores of systems"),
        ("--json --format tsv -m gleu", "--json and --format tsv are given"),
        ("--format table --json -m gleu", "--json and --format table are given"),
        ("--annotator 0 --annotator all -m gleu", "--annotator all and --annotator 0 are given"),
        ("-m m2 -m m2(beta=0.5)", "m2 is given twice"),
        ("-m edits -m errant(extractor=aligned,gold=as_is)", "edits is given twice"),
    ],
)
def test_options_that_contradict_each_other(options: str, problem: str) -> None:
    done = errata("score", "--sample", "--resamples", 100, *options.split(), code=2)
    assert problem in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_options_that_say_the_same_twice() -> None:
    run = ("score", "--sample", "--resamples", 0, "-m", "gleu")
    wanted = errata(*run, "--json").stdout
    assert errata(*run, "--json", "--format", "json").stdout == wanted
    assert errata(*run, "--json", "--annotator", "all", "--annotator", "all").stdout == wanted


def test_a_number_where_a_word_is_wanted() -> None:
    assert repr(parse("m2(version=3.2)")) == repr(parse("m2(version='3.2')"))
    with pytest.raises(InputError, match=r"version=3\.3 should be a str"):
        parse("m2(version=3.3)")


def test_columns_of_one_name_are_numbered() -> None:
    scores = evaluate("gleu", sample_corpus(), sample_systems(), resamples=0)
    table = summary_table([scores, scores, scores])
    assert table.columns == ("system", "GLEU", "GLEU [2]", "GLEU [3]")
    assert [each.label for each in told_apart([scores] * 2)] == ["gleu", "gleu [2]"]


BROKEN = """
def fails(source, hypothesis, references):
    return 1 / 0
def words(source, hypothesis, references):
    return "good"
"""


@pytest.mark.parametrize("name", ["fails", "words"])
def test_a_plug_in_that_fails_is_a_fault(name: str, tmp_path: Path) -> None:
    (tmp_path / "broken_metric.py").write_text(BROKEN)
    done = errata("score", "--sample", "-m", f"broken_metric.py:{name}", cwd=tmp_path, code=70)
    assert f"broken_metric.py:{name} " in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_lines_too_long_to_align_are_named(tmp_path: Path) -> None:
    long = " ".join(map(str, range(9000)))
    (tmp_path / "s.txt").write_text(f"He go .\n{long}\n")
    (tmp_path / "r.txt").write_text(f"He goes .\n{long}\n")
    (tmp_path / "ours.txt").write_text(f"He goes .\n{long} .\n")
    run = ("score", "--source", "s.txt", "-m", "edits", "--resamples", 0)
    said = errata(*run, "--refs", "r.txt", "ours.txt", cwd=tmp_path, code=2).stderr
    assert "sentence 2 of ours has 9001 tokens, its source 9000: too long to align" in said
    said = errata(*run, "--refs", "ours.txt", "ours=r.txt", cwd=tmp_path, code=2).stderr
    assert "reference 0 of sentence 2 has 9001 tokens" in said


def test_two_sentences_in_a_paragraph_name_the_option(tmp_path: Path) -> None:
    (tmp_path / "gold.m2").write_text("S a\nS b\n")
    (tmp_path / "a.txt").write_text("a\n")
    said = errata("score", "--gold", "gold.m2", "a.txt", cwd=tmp_path, code=2).stderr
    assert "--compatible (in Python compatible=True)" in said
