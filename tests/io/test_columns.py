"""Titles of columns mean the same in every reader."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from errata.core.errors import DataWarning, InputError
from errata.io.columns import ROLES
from errata.io.judgments import read_judgments
from errata.io.judgments.sheets import CRITERIA, read_ratings
from errata.io.scores import read_score_file


@pytest.mark.parametrize(
    ("judge", "sentence"),
    [*product(ROLES["judge"], ["sentence"]), *product(["judge"], ROLES["sentence"])],
)
def test_judges_are_judges_and_no_systems(tmp_path: Path, judge: str, sentence: str) -> None:
    """Judges called evaluators once became systems, and index no sentence."""
    path = tmp_path / "t.csv"
    path.write_text(f"{judge},{sentence},A,B\nann,1,50,80\nbob,1,40,60\nann,2,10,20\n")
    (scores,) = read_score_file(path)
    assert scores.systems == ("A", "B")
    assert scores.sentences is not None
    assert scores.sentences.tolist() == [[45, 10], [70, 20]]
    found = list(read_judgments(path, base=1))
    assert [(j.judge, j.sentence) for j in found] == [("ann", 0), ("bob", 0), ("ann", 1)]
    assert all(j.groups == (("A",), ("B",)) and j.ranks == (2, 1) for j in found)
    path.write_text(f"{judge},A,B\nann,50,80\nbob,40,60\n")
    with pytest.raises(InputError, match="no column says which sentence was rated"):
        read_score_file(path)


@pytest.mark.parametrize("system", ROLES["system"])
def test_titles_of_long_tables(tmp_path: Path, system: str) -> None:
    path = tmp_path / "t.csv"
    for title in ROLES["sentence"]:
        path.write_text(f"{title},{system},score\n0,A,1\n1,A,2\n0,B,3\n1,B,4\n")
        (scores,) = read_score_file(path)
        assert scores.sentences is not None
        assert scores.sentences.tolist() == [[1, 2], [3, 4]]
        assert len(list(read_judgments(path))) == 2


def test_an_index_that_numbers_rows_gives_way_to_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("index,judge,sentence,system,score\n0,x,7,A,1\n1,x,7,B,3\n2,x,9,A,1\n")
    with pytest.warns(DataWarning, match="not read: index"):
        assert [j.sentence for j in read_judgments(path)] == [7, 9]
    path.write_text("index,sentence,system,score\n0,1,A,1\n1,1,B,3\n2,2,A,1\n3,2,B,5\n")
    with pytest.warns(DataWarning, match="not read: index"):
        (scores,) = read_score_file(path)
    assert scores.sentences is not None
    assert scores.sentences.tolist() == [[1, 1], [3, 5]]


def test_titles_of_rated_outputs(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    roles = ("source", "output", *CRITERIA, "system")
    for titles in zip(*(2 * ROLES[role] + ROLES[role][:1] for role in roles), strict=False):
        path.write_text(",".join(titles) + "\nI is,I am,4,3,2,A\n")
        (row,) = read_ratings(path).rows
        assert (row.source, row.output, row.systems) == ("I is", "I am", ("A",))
        assert row.ratings == {"grammer": (4,), "fluency": (3,), "meaning": (2,)}


def test_ratings_of_one_system_are_not_scores_of_several(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("judge,sentence,A\nann,0,3\nbob,0,4\nann,1,5\n")
    (scores,) = read_score_file(path, names=("x", "y", "z"))
    assert (scores.systems, scores.values.tolist()) == (("A",), [4.25])


def test_a_table_without_scores_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("sentence\n0\n1\n")
    with pytest.raises(InputError, match="no column of scores"):
        read_score_file(path)
    path = tmp_path / "t.tsv"
    path.write_text("scorer\tsystem\tsentence\tF0.5\nm2\ta\t0\t0.5\nm2\ta\t1\t0.7\n")
    with pytest.raises(InputError, match="no overall score of a"):
        read_score_file(path)


@pytest.mark.parametrize(
    "title",
    ["n", "idx", "doc", "age", "length", "words", "gold", "timestamp", "fluency", "Unnamed: 4"]
    + ["mean", "total", "sent at", "session", "confidence"],
)
def test_columns_that_are_no_systems_are_refused(tmp_path: Path, title: str) -> None:
    """By their title or, as of "sent at", by their scale: they once were ranked first."""
    path = tmp_path / "t.csv"
    rows = [f"{k},{70 + k},{20 - k},{1_700_000_000 + 10 * k}" for k in range(3)]
    path.write_text("\n".join([f"sentence,A,B,{title}", *rows]) + "\n")
    for read in (read_score_file, lambda path: list(read_judgments(path))):
        with pytest.raises(InputError, match="taken for a system"):
            read(path)


@pytest.mark.parametrize("judge", ["grader", "Reviewer ID", "participant"])
def test_judges_by_other_titles_are_no_systems(tmp_path: Path, judge: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"{judge},sentence,A,B\nann,0,70,20\nann,1,60,30\nbob,0,80,20\nbob,1,6,3\n")
    (scores,) = read_score_file(path)
    assert scores.systems == ("A", "B")
    assert {each.judge for each in read_judgments(path)} == {"ann", "bob"}


def test_scores_on_other_scales_are_read_from_rows(tmp_path: Path) -> None:
    """As the error about the columns says."""
    path = tmp_path / "t.csv"
    path.write_text("sentence,A,B\n0,1,500\n1,2,700\n")
    with pytest.raises(InputError, match=r"give a row per score \(sentence,system,score\)"):
        read_score_file(path)
    path.write_text("sentence,system,score\n0,A,1\n0,B,500\n1,A,2\n1,B,700\n")
    assert read_score_file(path)[0].systems == ("A", "B")
    assert len(list(read_judgments(path))) == 2


@pytest.mark.parametrize("judge", ["", "judge,"])
def test_comments_do_not_make_systems_of_judges_or_comments(tmp_path: Path, judge: str) -> None:
    path = tmp_path / "t.csv"
    who = "ann," if judge else ""
    path.write_text(f"{judge}sentence,A,B,comment\n{who}0,70,20,x\n{who}1,60,30,y\n{who}2,6,3,y\n")
    with pytest.warns(DataWarning, match="not read: comment"):
        (scores,) = read_score_file(path)
    assert scores.systems == ("A", "B")
    # A text that repeats the names of systems names them, whatever it is called.
    path.write_text("sentence,who,score,second\n0,A,1,5\n0,B,2,6\n1,A,3,7\n1,B,4,8\n")
    assert all(each.systems == ("A", "B") for each in read_score_file(path))
