"""Metric against metric, the command without people, and what stands below the tables."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from command import errata
from errata.core.correlation import kendall, pearson, spearman
from errata.core.errors import InputError
from errata.core.signatures import short_signature
from errata.data import Scores
from errata.io.scores import read_score_files
from errata.meta.matching import match
from errata.meta.metric_matrix import match_metrics, metric_matrix
from errata.meta.system_level import system_level
from errata.tables.table import Table, render

SYSTEMS = ("A", "B", "C", "D", "E")


def _scores(name: str, values: list[float], *, drawn: bool = False) -> Scores:
    given = np.array(values)
    rng = np.random.default_rng(sum(map(ord, name)))
    resampled = given + rng.normal(0, 0.3, (50, len(values))) if drawn else None
    return Scores(f"{name}()", SYSTEMS[: len(values)], given, name=name, resampled=resampled)


M2 = _scores("m2", [0.3, 0.1, 0.4, 0.2, 0.6], drawn=True)
GLEU = _scores("gleu", [0.5, 0.4, 0.6, 0.8, 0.7], drawn=True)
BLEU = _scores("bleu", [9.0, 8.0, 3.0, 2.0, 1.0], drawn=True)
PEOPLE = _scores("wins", [1.0, 2.0, 3.0, 4.0, 4.0], drawn=True)


def test_every_pair_has_its_correlations_whatever_the_order_of_metrics() -> None:
    found = metric_matrix(match_metrics([M2, GLEU, BLEU]), people=False)
    turned = metric_matrix(match_metrics([BLEU, M2, GLEU]), people=False)
    assert found.names == ("m2", "gleu", "bleu")
    for kind, correlation in (("pearson", pearson), ("spearman", spearman), ("kendall", kendall)):
        values, bounds = found.values[kind], found.intervals[kind]  # type: ignore[index]
        assert values[0, 1] == values[1, 0] == float(correlation(M2.values, GLEU.values))
        assert np.diag(values).tolist() == [1, 1, 1]
        np.testing.assert_array_equal(values[1:, 1:], turned.values[kind][[2, 0]][:, [2, 0]])  # type: ignore[index]
        np.testing.assert_array_equal(bounds[0, 2], turned.intervals[kind][0, 1])  # type: ignore[index]


def test_with_people_the_row_is_that_of_the_system_level() -> None:
    paired = match(PEOPLE, [M2, BLEU])
    for over in ("systems", "sentences", "judgments", "both"):
        level = system_level(paired, over=over, resamples=50)  # type: ignore[arg-type]
        found = metric_matrix(paired, over=over, resamples=50)  # type: ignore[arg-type]
        assert found.names == ("people", "m2", "bleu")
        for k, agreement in enumerate(level.agreements, 1):
            assert found.values["pearson"][0, k] == agreement.values["pearson"]
            assert found.intervals["kendall"][0, k] == pytest.approx(agreement.intervals["kendall"])
        resampled = over != "judgments"  # which concern people alone
        assert np.isnan(found.intervals["pearson"][1, 2]).all() != resampled


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(InputError, match="no word from people, and no second metric"):
        match_metrics([M2])
    fewer = _scores("bleu", [1.0, 2.0, 3.0])
    with pytest.raises(InputError, match="D, E: known to only one of m2 and bleu"):
        match_metrics([M2, fewer])
    assert match_metrics([M2, fewer], common=True).systems == ("A", "B", "C")
    with pytest.raises(InputError, match="nobody judged, so intervals over both"):
        metric_matrix(match_metrics([M2, BLEU]), people=False, over="both")
    bare = match_metrics([M2, _scores("gleu", [1.0, 2.0, 3.0, 5.0, 4.0])])
    with pytest.raises(InputError, match="was not resampled"):
        metric_matrix(bare, people=False, over="sentences")


@pytest.mark.parametrize("kind", ["histogram", "poisson", "blocks"])
def test_resamples_of_different_sentences_are_not_compared(kind: str) -> None:
    """Two metrics that saw different sentences would look less alike than they are."""
    first, second = (_scores(name, [0.1, 0.2, 0.3], drawn=True) for name in "ab")
    known = replace(first, context=("bootstrap:sentences",))
    metric_matrix(match_metrics([known, second]), people=False, over="sentences")
    other = replace(first, context=(f"bootstrap:{kind}",))
    with pytest.raises(InputError, match=f"resamples of its own \\(bootstrap:{kind}\\)"):
        metric_matrix(match_metrics([other, second]), people=False, over="sentences")
    metric_matrix(match_metrics([other, second]), people=False)


def test_a_metric_called_people_is_not_taken_for_them() -> None:
    paired = match(PEOPLE, [_scores("people", [1.0, 3.0, 2.0, 5.0, 4.0])])
    assert metric_matrix(paired, resamples=0).names == ("wins()", "people")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "a.tsv").write_text("A\t1\nB\t2\nC\t4\n")
    (tmp_path / "b.tsv").write_text("A\t3\nB\t2\nC\t1\n")
    return tmp_path


def _tables(*arguments: object, **given: Any) -> dict[str, Any]:
    found = json.loads(errata("meta", *arguments, "--json", **given).stdout)["tables"]
    return {table["name"]: table for table in found}


def test_without_people_there_is_the_matrix(files: Path) -> None:
    run = ("--scores", "a.tsv", "--scores", "b.tsv", "--resamples", 0)
    found = _tables(*run, cwd=files)
    assert {*found} == {"matrix_pearson", "matrix_spearman", "matrix"}
    assert found["matrix"]["rows"] == [
        {"first": "a", "second": "b", "r": pytest.approx(-0.98198), "ρ": -1.0, "τ": -1.0}
    ]
    assert "people" not in found["matrix"]["signature"]
    for more, said in (
        (("--window", 2), "--window goes with --judgments or --human"),
        (("--no-tests",), "--tests goes with --judgments or --human"),
        (("--figure", "scatter=x.svg"), "the figure scatter compares metrics with people"),
        (("--level", "sentence"), "sentence level needs judgments"),
    ):
        assert said in errata("meta", *run, *more, cwd=files, code=2).stderr
    alone = errata("meta", *run[:2], cwd=files, code=2).stderr
    assert "no word from people, and no second metric" in alone
    people = ("--human", "b.tsv", "--figure", "significance=x.svg")
    alone = errata("meta", *run[:2], *people, cwd=files, code=2).stderr
    assert "significance compares metrics with each other; give a second one" in alone


def test_common_systems_without_people(files: Path) -> None:
    (files / "c.tsv").write_text("A\t3\nB\t2\nC\t1\nD\t7\n")
    run = ("--scores", "a.tsv", "--scores", "c.tsv", "--resamples", 0)
    assert "--common" in errata("meta", *run, cwd=files, code=2).stderr
    assert _tables(*run, "--common", cwd=files)["matrix"]["rows"][0]["ρ"] == -1.0
    hidden = _tables(*run, "--common", "--hide", "B", cwd=files)["matrix"]["rows"][0]
    assert hidden["r"] == -1.0


def test_a_metric_that_tells_no_system_apart_is_named(files: Path) -> None:
    (files / "same.tsv").write_text("A\t0.5\nB\t0.5\nC\t0.5\n")
    found = _tables("--scores", "a.tsv", "--scores", "same.tsv", "--resamples", 0, cwd=files)
    assert found["matrix"]["rows"][0]["r"] is None
    assert "note: same gives all systems one score, and so has no" in found["matrix"]["caption"]


def test_the_matrix_beside_people_is_asked_for() -> None:
    run = ("--sample", "-m", "gleu", "-m", "m2", "--level", "system", "--resamples", 30)
    assert not {name for name in _tables(*run) if name.startswith("matrix")}
    found = _tables(*run, "--matrix")
    assert found["matrix_pearson"]["columns"] == ["metric", "people", "gleu", "m2"]
    assert found["matrix"]["rows"][0]["r 95 %"]


def test_metrics_of_napoles_et_al_on_twelve_systems(data_sets: Path) -> None:
    """Figure 1: M2 against the two others (printed -.694, -.772), which agree (.949)."""
    env = {"ERRATA_DATA": str(data_sets)}
    few = ("--resamples", 0, "-q")
    texts = errata("score", "--data", "conll14-texts", "-m", "bleu", *few, "--json", env=env)
    found = json.loads(
        errata(
            *("meta", "--data", "conll14", "--without", "INPUT", "-m", "m2", "-m", "imeasure"),
            *("--scores", "-", "--level", "system", "--matrix", *few, "--json"),
            stdin=texts.stdout,
            env=env,
        ).stdout
    )["tables"]
    rows = {row["metric"]: row for t in found if t["name"] == "matrix_pearson" for row in t["rows"]}
    assert rows["m2"]["imeasure"] == pytest.approx(-0.767, abs=5e-4)
    assert rows["m2"]["bleu"] == pytest.approx(-0.759, abs=5e-4)
    assert rows["imeasure"]["bleu"] == pytest.approx(0.983, abs=5e-4)


def tables_of(*arguments: object) -> dict[str, Any]:
    found = json.loads(errata(*arguments, "--json").stdout)["tables"]
    return {table["name"]: table for table in found}


@pytest.mark.parametrize("level", ["system", "sentence"])
def test_edits_that_are_not_of_errant_are_not_called_so(level: str) -> None:
    run = ("meta", "--sample", "-m", "errant(extractor='aligned')", "--resamples", 0)
    table = tables_of(*run, "--level", level)[f"{level}_level"]
    assert {row["metric"] for row in table["rows"]} == {"edits"}
    assert "note: edits: Errata's own edits, not ERRANT's" in table["caption"]


def test_other_numbers_of_one_name_have_another_signature(tmp_path: Path) -> None:
    def signature(text: str) -> str:
        (tmp_path / "ter.tsv").write_text(text)
        (scores,) = read_score_files([tmp_path / "ter.tsv"])
        return scores.signature

    first = signature("A\t1\nB\t2\n")
    assert first == signature("B\t2\nA\t1.0\n")
    assert len({first, signature("A\t1\nB\t3\n"), signature("A\t1\nC\t2\n")}) == 3


def five(name: str, *values: float) -> Scores:
    return Scores(name, tuple("ABCDE")[: len(values)], np.array(values))


def test_a_test_that_is_undefined_is_not_counted_as_hopeless() -> None:
    people = five("people", 0.62, 0.57, 0.56, 0.55, 0.3)
    metric = five("m", 0.35, 0.21, 0.37, 0.09, 0.01)
    twice = five("n", *(2 * metric.values))
    notes = system_level(match(people, [metric, twice]), resamples=0).notes
    assert any("is undefined" in note for note in notes)
    assert not any("are few" in note for note in notes)


def test_three_systems_are_too_few_for_the_test() -> None:
    sides = [five("p", 3, 2, 1), five("m", 3, 1, 2), five("n", 1, 3, 2)]
    notes = system_level(match(sides[0], sides[1:]), resamples=0).notes
    assert "3 systems are too few for Williams' test, which needs 4" in notes


def test_intervals_that_are_not_there_are_not_spoken_of() -> None:
    found = tables_of("meta", "--sample", "-m", "gleu", "--resamples", 0)
    for name in ("system_level", "sentence_level"):
        assert "intervals over" not in found[name]["caption"]


def test_above_is_the_table_before() -> None:
    one, other = (Table(("a",), ((1,),), signature=text) for text in ("one", "other"))
    lines = render([one, one, other, one]).splitlines()
    said = [line for line in lines if line.startswith("signature: ")]
    assert said == [f"signature: {short_signature(text)}" for text in ("one", "other", "one")]


def test_the_first_lines_say_which_metric_to_report() -> None:
    answer = tables_of("meta", "--sample", "--level", "system", "--resamples", 200)["system_level"][
        "answer"
    ]
    assert answer["outcome"] == "group"
    assert answer["sentence"].startswith("Report GLEU and M2: GLEU (r = 0.93) and M2 (r = 0.87)")
    assert answer["sentence"].endswith("5 systems are few: treat this as a hint.")
    # Without intervals over systems nothing can be recommended.
    for more in (("--resamples", 0), ("--resamples", 9, "--over", "sentences")):
        found = tables_of("meta", "--sample", "--level", "system", *more)["system_level"]
        assert "answer" not in found
