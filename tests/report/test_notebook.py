"""Results in a notebook and as data frames: the same table as everywhere."""

from __future__ import annotations

import io
import sys

import numpy as np
import pytest

from errata.core.errors import MissingExtraError
from errata.data import Judgment, Scores
from errata.datasets import sample_corpus, sample_systems
from errata.human import compare, parse_ranker
from errata.human.ranking import Ranking, cluster, rank
from errata.scoring.evaluate import evaluate
from errata.tables.html_table import plain_table_html
from errata.tables.table import Table, pandas_frame, render, table_of


@pytest.fixture(scope="module")
def ranking() -> Ranking:
    judged = [Judgment("ann", i, (("A",), ("B",)), (1, 1 + (i > 0))) for i in range(9)]
    return cluster(rank(parse_ranker("net_wins"), compare(judged), resamples=40))


@pytest.fixture(scope="module")
def gleu() -> Scores:
    return evaluate("gleu", sample_corpus(), sample_systems(), resamples=40)


def test_scores_in_a_notebook_are_escaped() -> None:
    shown = Scores(
        "m2()",
        ("A", "B"),
        np.array([0.5, 0.5]),
        notes=("look <here>",),
        parts={"P": np.array([1.0, 2 / 3]), "gold": np.array([12, 1234567])},
    )._repr_html_()
    assert shown.count("<td>1</td>") == 2  # equal scores share a rank
    for cell in ("1.0000", "0.6667", "12", "1234567"):
        assert f"<td>{cell}</td>" in shown
    assert shown.index("<caption") < shown.index("<thead>")
    assert "look &lt;here&gt;" in shown
    page = Scores("m<b>", ("<script>",), np.array([0.5]))._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "0.5000" in page


def test_notebooks_show_the_table_of_the_report(gleu: Scores, ranking: Ranking) -> None:
    for result in (gleu, ranking):
        assert result._repr_html_() == plain_table_html(table_of(result))
    assert "interval</th>" in gleu._repr_html_()
    assert "<th>cluster</th>" in ranking._repr_html_()


@pytest.mark.parametrize("what", ["scores", "sentences", "ranking"])
def test_frames_are_what_pandas_reads_from_tsv(what: str, gleu: Scores, ranking: Ranking) -> None:
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    how = {"by_sentence": True} if what == "sentences" else {}
    result = ranking if what == "ranking" else gleu
    table = table_of(result, **how)
    read = pandas.read_csv(io.StringIO(render(table, "tsv")), sep="\t")
    frame = result.to_pandas(**how)
    pandas.testing.assert_frame_equal(frame, read, check_exact=True)
    other = result.to_polars(**how)
    assert other.columns == list(frame.columns)
    assert other.schema["system"] == polars.String
    assert other.rows() == [tuple(row) for row in frame.astype(object).values.tolist()]
    assert set(frame["signature"]) == {table.signature}


def test_no_value_and_two_columns_of_one_name() -> None:
    pandas = pytest.importorskip("pandas")
    table = Table(("a", "a", "n"), ((1, None, None), (2, float("nan"), 3)))
    frame = pandas_frame(table)
    assert list(frame.columns) == ["a", "a_2", "n"]
    assert frame["a"].dtype.kind == "i"
    assert pandas.isna(frame["n"][0])
    assert frame["n"][1] == 3


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_what_is_missing_is_named(
    package: str, gleu: Scores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=rf"pip install 'errata-gec\[{package}\]'"):
        getattr(gleu, f"to_{package}")()
    with pytest.raises(TypeError, match="no table of a int"):
        table_of(3)
