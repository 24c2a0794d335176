"""Metrics against ratings of outputs: correlations over all outputs and within sentences."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from command import errata
from errata.core.errors import DataWarning, InputError
from errata.data import Scores
from errata.io.scores import read_score_files
from errata.meta.matching import match
from errata.meta.sentence_level import RatingLevels, rating_levels, ratings_as_comparisons

SYSTEMS = ("A", "B", "C", "D")


def scores(name: str, table: np.ndarray, systems: tuple[str, ...] = SYSTEMS) -> Scores:
    return Scores(name, systems, np.nanmean(table, axis=1), table)


def drawn(seed: int = 0, sentences: int = 30) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    people = rng.integers(0, 6, (4, sentences)) * 20.0  # with ties
    return people, people + rng.normal(0, 40, people.shape).round(-1)


def levels(people: np.ndarray, metric: np.ndarray, **settings: int) -> RatingLevels:
    return rating_levels(match(scores("people", people), [scores("m", metric)]), **settings)


def test_correlations_are_those_of_scipy() -> None:
    people, metric = drawn()
    found = levels(people, metric, resamples=0).levels[0]
    each = {
        kind: [
            float(correlation(people[:, i], metric[:, i]).statistic)
            for i in range(people.shape[1])
            if np.ptp(people[:, i]) and np.ptp(metric[:, i])
        ]
        for kind, correlation in (("pearson", stats.pearsonr), ("spearman", stats.spearmanr))
    }
    assert found.within["pearson"].value == pytest.approx(np.mean(each["pearson"]))
    assert found.within["spearman"].value == pytest.approx(np.mean(each["spearman"]))
    whole = people.ravel(), metric.ravel()
    assert found.pooled["pearson"].value == pytest.approx(stats.pearsonr(*whole).statistic)
    assert found.pooled["spearman"].value == pytest.approx(stats.spearmanr(*whole).statistic)
    assert np.isnan(found.pooled["pearson"].low)


def test_intervals_are_those_of_resampled_sentences() -> None:
    people, metric = drawn(1)
    found = levels(people, metric, resamples=500, rng=3).levels[0]
    rng = np.random.default_rng(3)
    many = people.shape[1]
    values = []
    for _ in range(500):
        weights = np.bincount(rng.integers(0, many, many), minlength=many)
        taken = np.repeat(np.arange(many), weights)
        values.append(stats.pearsonr(people[:, taken].ravel(), metric[:, taken].ravel()).statistic)
    low, high = np.quantile(values, [0.025, 0.975])
    assert found.pooled["pearson"][1:] == pytest.approx((low, high))
    for figure in (*found.pooled.values(), *found.within.values(), found.accuracy):
        assert figure.low < figure.value < figure.high


def test_what_is_not_rated_is_left_out_and_said() -> None:
    people, metric = drawn()
    gaps = people.copy()
    gaps[2, 5] = gaps[0, 9] = np.nan
    found = levels(gaps, metric, resamples=20)
    stay = [i for i in range(people.shape[1]) if i not in (5, 9)]
    alone = levels(people[:, stay], metric[:, stay], resamples=20, rng=0)
    assert found.levels == alone.levels
    assert (found.sentences, found.outputs) == (28, 112)
    assert "2 sentences lack a rating or a score: left out" in found.notes


def test_ratings_are_comparisons_of_two_outputs_of_a_sentence() -> None:
    table = np.array([[90.0, 50.0], [70.0, 50.0], [np.nan, 20.0]])
    said = ratings_as_comparisons(scores("people", table, ("A", "B", "C")))
    assert said.outcome.tolist() == [1, 0, 1, 1]
    assert said.sentence.tolist() == [0, 1, 1, 1]


def test_what_cannot_be_judged_is_refused() -> None:
    people, metric = drawn()
    with pytest.raises(InputError, match="ratings of 30 sentences and scores of 20"):
        levels(people, metric[:, :20])
    with pytest.raises(InputError, match="0 sentences with ratings"):
        levels(np.where(np.arange(30) % 4 == np.arange(4)[:, None], np.nan, people), metric)
    bare = Scores("m", SYSTEMS, np.arange(4.0))
    with pytest.raises(InputError, match="m has no scores of single sentences"):
        rating_levels(match(scores("people", people), [bare]))
    few = levels(people[:, :3], metric[:, :3], resamples=0)
    assert np.isnan(few.levels[0].accuracy.value)
    assert "3 sentences are too few for 5 folds" in few.notes


def _texts(folder: Path) -> list[object]:
    """A corpus of six sentences and two systems, with ratings by two judges."""
    lines = [f"word{k} is wrong" for k in range(6)]
    (folder / "source").write_text("\n".join(lines) + "\n")
    (folder / "ref").write_text("\n".join(f"word{k} is right" for k in range(6)) + "\n")
    (folder / "A").write_text("\n".join(f"word{k} is right" for k in range(6)) + "\n")
    (folder / "B").write_text("\n".join(lines[:5]) + "\nword5 is right\n")
    rows = [f"{j},{i},{80 + i - 5 * (j == 'y')},{60 - i}" for i in range(6) for j in "xy"]
    (folder / "rated.csv").write_text("\n".join(["judge,sentence,A,B", *rows]) + "\n")
    corpus = ["--source", folder / "source", "--refs", folder / "ref", folder / "A", folder / "B"]
    return [*corpus, "-m", "gleu", "--resamples", 0, "--json", "-q"]


def test_the_command_takes_ratings_of_several_judges(tmp_path: Path) -> None:
    given = _texts(tmp_path)
    done = errata("meta", "--human", tmp_path / "rated.csv", "--level", "sentence", *given)
    (table,) = json.loads(done.stdout)["tables"]
    assert table["name"] == "ratings"
    assert [row["outputs of"] for row in table["rows"]] == ["all sentences", "one sentence"]
    assert table["rows"][1]["r"] == 1.0
    whole = errata("meta", "--human", tmp_path / "rated.csv", *given)
    names = [table["name"] for table in json.loads(whole.stdout)["tables"]]
    assert names == ["system_level", "ratings"]
    assert "means over 2 judges" in whole.stdout
    fewer = errata("meta", "--human", tmp_path / "rated.csv", *given, "--skip-sentences", "1,2")
    assert "8 rated outputs of 4 sentences" in fewer.stdout
    (tmp_path / "rated.csv").write_text("judge,sentence,A,B\nx,0,1,2\nx,0,3,4\n")
    refused = errata("meta", "--human", tmp_path / "rated.csv", *given, code=2)
    assert "x has rated sentence 0 before" in refused.stderr


def test_ratings_of_several_judges_are_their_means(tmp_path: Path) -> None:
    file = tmp_path / "rated.csv"
    file.write_text("annotator,id,A,B\nx,2,40,1\nx,1,10,5\ny,1,20,\n")
    (found,) = read_score_files([str(file)])
    assert found.systems == ("A", "B")
    assert found.sentences.tolist() == [[15.0, 40.0], [5.0, 1.0]]
    assert dict(found) == {"A": 27.5, "B": 3.0}
    assert "ratings are means over 2 judges, each weighing the same" in found.notes


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("judge,A,B\nx,1,2\ny,3,4\nx,5,6\n", 1, "no column says which sentence was rated"),
        ("A,B,C\n,1,2\n,3,4\n", 1, "no rating or score of A"),
        ("A,B\n1,2\nnan,4\n3,3\n", 3, "leave the cell empty"),
    ],
)
def test_tables_of_ratings_that_cannot_be_read(
    tmp_path: Path, text: str, line: int, said: str
) -> None:
    file = tmp_path / "rated.csv"
    file.write_text(text)
    with pytest.raises(InputError, match=said) as refused:
        read_score_files([str(file)])
    assert refused.value.line == line


def test_system_scores_are_no_ratings(tmp_path: Path) -> None:
    given = _texts(tmp_path)
    (tmp_path / "human.tsv").write_text("A\t2\nB\t1\n")
    refused = errata(
        "meta", "--human", tmp_path / "human.tsv", "--level", "sentence", *given, code=2
    )
    assert "sentence level needs judgments" in refused.stderr
    assert "ratings with --human" in refused.stderr


# Of Errata 0.1 on the data: r over all outputs and within sentences, accuracy with ties.
GMEG = {
    "fce": {"m2": (0.536, 0.469, 0.741), "gleu": (0.675, 0.461, 0.809)},
    "wiki": {"m2": (0.371, 0.380, 0.697), "gleu": (0.461, 0.384, 0.785)},
}


@pytest.mark.parametrize("domain", GMEG)
def test_gmeg_by_its_name(domain: str, data_sets: Path) -> None:
    done = errata(
        *("meta", "--data", f"gmeg-{domain}", "-m", "m2", "-m", "gleu"),
        *("--resamples", 0, "--json", "-q"),
        env={"ERRATA_DATA": str(data_sets)},
    )
    tables = {table["name"]: table for table in json.loads(done.stdout)["tables"]}
    assert {"system_level", "sentence_level", "ratings"} < {*tables}
    rows = tables["ratings"]["rows"]
    found = {
        pooled["metric"]: (round(pooled["r"], 3), round(own["r"], 3), round(own["accuracy"], 3))
        for pooled, own in zip(rows[::2], rows[1::2], strict=True)
    }
    assert found == GMEG[domain]


@pytest.mark.parametrize("domain", GMEG)
def test_ratings_of_systems_are_those_released(domain: str, data_sets: Path) -> None:
    folder = next(data_sets.glob("grammarly/GMEG/*/data/dev"))
    lines = (folder / f"{domain}-corpus-scores.csv").read_text().split()[1:]
    with pytest.warns(DataWarning, match="sentences have no score of any system"):
        (rated,) = read_score_files([str(folder / f"{domain}-segment-scores.csv")])
    assert dict(rated) == pytest.approx({k: float(v) for k, v in (x.split(",") for x in lines)})
