"""Scores as JSON, as TSV, and as others publish them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from errata.core.errors import DataWarning, InputError
from errata.data import Scores
from errata.io import read_published_scores, read_scores, write_scores

FLOAT = st.floats(width=64)
NAME = st.text(
    st.characters(exclude_characters="\t\r\n", exclude_categories=["Cs"]), min_size=1, max_size=5
)


@st.composite
def all_scores(draw: st.DrawFn) -> Scores:
    systems = draw(st.lists(NAME, min_size=1, max_size=3, unique=True))
    n, k, b = len(systems), draw(st.integers(0, 3)), draw(st.integers(0, 3))

    def array(*shape):
        return draw(hnp.arrays(np.float64, shape, elements=FLOAT))

    def part(*shape):
        whole = hnp.arrays(np.int64, shape, elements=st.integers(-(2**53), 2**53))
        return draw(whole) if draw(st.booleans()) else array(*shape)

    def parts(*shape):
        return {name: part(*shape) for name in draw(st.lists(NAME, max_size=2, unique=True))}

    return Scores(
        draw(NAME),
        tuple(systems),
        array(n),
        array(n, k) if draw(st.booleans()) else None,
        parts(n),
        array(b, n) if draw(st.booleans()) else None,
        parts(n, k),
        draw(NAME),
        tuple(draw(st.lists(NAME, max_size=2))),
        tuple(draw(st.lists(NAME, max_size=2))),
        draw(NAME),
        draw(NAME),
    )


def assert_same(a: Scores, b: Scores) -> None:
    for name in ("scorer", "systems", "headline", "context", "notes", "name", "label"):
        assert getattr(a, name) == getattr(b, name)
    for name in ("values", "sentences", "resampled"):
        x, y = getattr(a, name), getattr(b, name)
        assert (x is None) == (y is None)
        if x is not None:
            np.testing.assert_array_equal(x, y, strict=True)
    for name in ("parts", "sentence_parts"):
        x, y = getattr(a, name), getattr(b, name)
        assert list(x) == list(y)
        for key in x:
            assert x[key].shape == y[key].shape
            # Of no numbers JSON cannot say whether they are whole.
            np.testing.assert_array_equal(x[key], y[key], strict=bool(x[key].size))


@settings(max_examples=150, deadline=None)
@given(all_scores(), st.sampled_from(["s.json", "s.json.gz"]))
def test_json_round_trip_is_exact(tmp_path_factory, scores, name):
    path = tmp_path_factory.getbasetemp() / name
    write_scores(scores, path)
    assert_same(scores, read_scores(path))


SCORES = Scores(
    "m2(beta=0.5)",
    ("A", "B"),
    np.array([1 / 3, math.nan]),
    np.array([[0.1, 0.2, math.inf], [0.0, math.nan, 1.0]]),
    {"P": np.array([0.5, 0.25]), "TP": np.array([3.0, 4.0])},
    sentence_parts={
        "TP": np.array([[1.0, 2, 0], [4, 0, 0]]),
        "annotator": np.array([[0.0, 1, 0], [0, 0, 1]]),
    },
    headline="F0.5",
    name="m2",
)


def test_tsv_keeps_all_figures(tmp_path):
    write_scores(SCORES, tmp_path / "s.tsv")
    lines = (tmp_path / "s.tsv").read_text().splitlines()
    assert lines[0] == "scorer\tsystem\tsentence\tF0.5\tP\tTP\tannotator"
    assert lines[1] == "m2(beta=0.5)\tA\t\t0.3333333333333333\t0.5\t3.0\t"
    assert lines[2] == "m2(beta=0.5)\tA\t0\t0.1\t\t1.0\t0.0"
    assert_same(SCORES, read_scores(tmp_path / "s.tsv"))


HEADING = "scorer\tsystem\tsentence\tF\n"
BAD_FILES = [
    ("s.json", "[1]", "not a file of scores"),
    ("s.json", '{"format": "errata scores 1"}', "no 'scorer'"),
    ("s.json", '{"format": "errata scores 1", "systems": ["A"], "values": [1, 2]}', "no 'scorer'"),
    ("s.json", "[" * 100_000, "not JSON"),
    ("s.tsv", "", "heading"),
    ("s.tsv", HEADING + "m\tA\t\t1\nm\tA\t\t1\n", "s.tsv:3: .* two scores"),
    ("s.tsv", HEADING + "m\tA\t\t1\nn\tB\t\t1\n", "2 scorers"),
    ("s.tsv", HEADING + "m\tA\tx\t1\n", "s.tsv:2: 'x'"),
    ("s.tsv", HEADING + "m\tA\t\t1\nm\tB\t0\t1\n", "no overall score of B"),
    ("s.txt", "", ".json or .tsv"),
]


def test_bad_files(tmp_path):
    for name, content, problem in BAD_FILES:
        (tmp_path / name).write_text(content)
        with pytest.raises(InputError, match=problem):
            read_scores(tmp_path / name)


def test_two_columns_of_one_name_need_json(tmp_path):
    scores = Scores("m", ("A",), np.array([1.0]), parts={"F": np.array([2.0])}, headline="F")
    with pytest.raises(InputError, match="two columns"):
        write_scores(scores, tmp_path / "s.tsv")


def test_names_with_tabs_need_json(tmp_path):
    scores = Scores("m", ("A\tB",), np.array([1.0]))
    with pytest.raises(InputError, match="holds a tab"):
        write_scores(scores, tmp_path / "s.tsv")
    write_scores(scores, tmp_path / "s.json")
    assert read_scores(tmp_path / "s.json").systems == ("A\tB",)


def test_published_tables(data_sets):
    folder = next(data_sets.glob("nusnlp/gecmetrics/*/scores"))
    scores = read_published_scores(
        folder / "system_scores_metrics" / "m2score.txt.gz",
        sentence_path=folder / "sentence_scores_metrics" / "m2score.txt.gz",
    )
    assert scores.scorer == "m2score"
    assert (scores["AMU"], scores["CAMB"], len(scores)) == (0.3501, 0.3733, 13)
    assert scores.sentences.shape == (13, 1312)
    assert scores.sentences[scores.systems.index("INPUT"), :5].tolist() == [1, 1, 0, 0, 1]
    human = read_published_scores(folder / "system_scores_humans" / "expected_wins.txt.gz")
    assert (human["AMU"], human.systems[0], human.sentences) == (0.628, "AMU", None)
    alone = read_published_scores(sentence_path=folder / "sentence_scores_metrics" / "gleu.txt.gz")
    assert alone.systems[0] == "INPUT"
    assert np.isnan(alone.values).all()


def row(*cells: object) -> str:
    return "\t".join(map(str, cells)) + "\n"


def test_published_tables_that_do_not_fit(tmp_path):
    systems, sentences = tmp_path / "systems", tmp_path / "sentences"
    systems.write_text(row("m", "l", "t", "A", 1) + row("m", "l", "t", "B", 2))
    sentences.write_text(
        row("m", "l", "t", "B", 0, 1)
        + row("m", "l", "t", "A", 1, 0.5)
        + row("m", "l", "t", "B", 1, 0.25)
    )
    with pytest.warns(DataWarning, match="1 of 2 sentences have no score of A"):
        scores = read_published_scores(systems, sentence_path=sentences)
    np.testing.assert_array_equal(scores.sentences, [[math.nan, 0.5], [1, 0.25]])
    with pytest.raises(InputError, match="systems:1: 5 columns; a table of sentence scores has 6"):
        read_published_scores(sentence_path=systems)
    sentences.write_text(row("m", "l", "t", "A", 0, 1) + row("m", "l", "t", "A", 0, 1))
    with pytest.raises(InputError, match=r"sentences:2: .* two scores for one sentence"):
        read_published_scores(sentence_path=sentences)
    sentences.write_text(row("m", "l", "t", "A", 99999999, 1))
    with pytest.raises(InputError, match="without large gaps"):
        read_published_scores(sentence_path=sentences)
    sentences.write_text(row("other", "l", "t", "A", 0, 1) + row("other", "l", "t", "B", 0, 1))
    with pytest.raises(InputError, match=r"2 scorers, .*: m, other"):
        read_published_scores(systems, sentence_path=sentences)
    with pytest.raises(InputError, match="no table given"):
        read_published_scores()
