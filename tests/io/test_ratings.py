"""Rated outputs: the columns of TMU-GFM, what is no rating, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from numpy.testing import assert_allclose

from errata.core.errors import InputError
from errata.io.judgments.sheets import read_ratings

HEAD = "source,output,grammer,fluency,meaning,system\n"


def test_ratings_are_read_with_means_that_leave_out_other(tmp_path: Path) -> None:
    path = tmp_path / "rated.csv"
    path.write_text(HEAD + 'I is .,I am .,"3,4,0","4,4","0,0","a, b"\nHe go .,,1,2,,\n', "utf-8")
    found = read_ratings(path)
    first, second = found.rows
    assert (first.source, first.output, first.systems) == ("I is .", "I am .", ("a", "b"))
    assert (first.mean("grammer"), first.mean("fluency"), first.mean("meaning")) == (3.5, 4, None)
    assert (second.output, second.mean("grammer"), second.mean("meaning")) == ("", 1.0, None)
    assert found.others == {"grammer": 1, "fluency": 0, "meaning": 2}
    assert found.criteria == ("grammer", "fluency")
    assert len(found.sha256) == 64


def test_what_is_no_table_of_ratings_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rated.csv"
    for text, said in (
        (HEAD, "no ratings"),
        ("source,grammer\na,1\n", "rated.csv:1: no column output"),
        ("source,output\na,b\n", "rated.csv:1: no column grammer, fluency or meaning"),
        ("source,output,grammer,grammar\na,b,1,1\n", "grammer, grammar"),
        (HEAD + "a,b,5,1,1,\n", "rated.csv:2: .* '5' in grammer"),
        (HEAD + 'a,b,"1,x",1,1,\n', "'x' in grammer"),
        (HEAD + "a,b,1.5,1,1,\n", "'1.5' in grammer"),
        (HEAD + ",b,1,1,1,\n", "rated.csv:2: .*without a source"),
        (HEAD + 'a,"b\nc",1,1,1,\n', "several lines"),
        (HEAD + "a,b,0,,0,\n", "no output was rated"),
    ):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=said):
            read_ratings(path)


def test_tmu_gfm_is_read_whole(data_sets: Path) -> None:
    """Sizes, zeros, means and deviations as published; the published means are ours."""
    import csv

    path = next(data_sets.glob("tmu-nlp/TMU-GFM-Dataset/*/tmu-gfm-dataset.csv"))
    found = read_ratings(path)
    assert (len(found.rows), found.sources) == (4221, 1378)
    assert found.others == {"grammer": 18, "fluency": 0, "meaning": 84}
    with path.open(encoding="utf-8") as file:
        published = list(csv.DictReader(file))
    for criterion, column in (("grammer", "ave_g"), ("fluency", "ave_f"), ("meaning", "ave_m")):
        ours = [row.mean(criterion) for row in found.rows]  # type: ignore[arg-type]
        assert_allclose(ours, [float(row[column]) for row in published], atol=0.0051)
