"""Every experiment on the data sets in miniature; each figure is kept in ``tests/golden``.

The figures mean nothing (the data are invented, see `small_papers`), but each measure is asked in
every way the experiments ask it. After a change that is meant,
``python tests/reproduce/test_small_papers.py`` writes the file anew.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from errata.models import register
from errata.reproduce.data import ExperimentData, UnknownName
from errata.reproduce.experiment import Experiment, experiment_names, parse_experiment
from errata.reproduce.metric_measures import metric_scores
from errata.reproduce.run import Reproduction, all_measures, reproduce
from fake_lm import FakeModel
from small_papers import write_small_papers

GOLDEN = Path(__file__).parents[1] / "golden" / "small_papers.txt"


def _experiment(name: str) -> Experiment:
    """An experiment as it is shipped, with fewer runs and resamples."""
    text = files("errata.reproduce").joinpath(f"experiments/{name}.toml").read_text("utf-8")
    text = text.replace("1000", "15").replace("sentence = 756", "sentence = 6")
    return parse_experiment(text, name)


def _run(folder: Path) -> tuple[Reproduction, ...]:
    write_small_papers(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ERRATA_DATA", str(folder))
        patch.setenv("ERRATA_DATA_CHECK", "off")
        patch.setenv("ERRATA_CACHE", str(folder / "cache"))
        patch.setattr("errata.reproduce.data.is_available", lambda name: False)
        register("fake", FakeModel)
        return reproduce(
            [_experiment(name) for name in experiment_names()], extractor="aligned", model="fake"
        )


def _rows(results: tuple[Reproduction, ...]) -> list[tuple[str, ...]]:
    """What was recomputed, one figure a row, its value last."""
    rows = []
    for result in results:
        name = result.experiment.name
        for table in result.tables:
            for cell in table.cells:
                what = table.table.name, cell.way, "/".join(cell.key), cell.verdict.name
                rows.append((name, *what, _text(cell.recomputed) or cell.verdict.reason))
        for finding in result.findings:
            for one in finding.evidence:
                said = finding.finding.name, one.evidence.what, str(one.confirmed)
                rows.append((name, *said, _text(one.recomputed) or one.reason))
    return rows


def _text(value: float | str | None) -> str:
    return "" if value is None else f"{value:.12g}" if isinstance(value, float) else str(value)


@pytest.mark.slow
def test_every_measure_gives_what_it_gave(tmp_path: Path) -> None:
    before = [tuple(line.split("\t")) for line in GOLDEN.read_text("utf-8").splitlines()]
    now = _rows(_run(tmp_path))
    assert [row[:-1] for row in now] == [row[:-1] for row in before]
    for new, old in zip(now, before, strict=True):
        if new[-1] != old[-1]:
            numbers = [float(row[-1]) for row in (new, old)]
            assert numbers[0] == pytest.approx(numbers[1], rel=1e-9, abs=1e-11), new[:-1]


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ExperimentData]:
    """What measures take, on the data sets in miniature."""
    folder = tmp_path_factory.mktemp("material")
    write_small_papers(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ERRATA_DATA", str(folder))
        patch.setenv("ERRATA_DATA_CHECK", "off")
        found = ExperimentData()
        found.recipes = {"BLEU": {"metric": "bleu", "references": "conll14-texts"}}
        yield found


RANKED = {"judgments": "grundkiewicz15", "ranker": "expected_wins"}


@pytest.mark.parametrize(
    ("measure", "arguments", "message"),
    [
        *(
            (measure, {**arguments, "position": position}, "is not among 1 to 13")
            for measure, arguments in (("ranked_at", RANKED), ("napoles_rank", {"metric": "BLEU"}))
            for position in ("0", "14", "x", "", "-1", "1.0")
        ),
        ("ranked_at", {**RANKED, "position": "1", "judgments": "x"}, "no judgments 'x'"),
        ("place_of", {"metric": "BLAU", "system": "AMU"}, "'BLAU' is not one of BLEU"),
        ("place_of", {"metric": "BLEU", "system": "x"}, "'x' is not one of"),
        ("ranking", {**RANKED, "system": "AMU", "what": "x"}, "'x' is not one of score, range"),
        ("pairs", {"judgments": "main", "ties": "x"}, "'x' is not one of all, only, none"),
        ("judge_kappa", {"first": "mean", "second": "x"}, "'x' is not one of between, within"),
        (
            "printed_cell",
            {"experiment": "napoles15", "table": "x", "cell": "x"},
            "napoles15 has no table 'x'",
        ),
    ],
)
def test_names_that_stand_for_nothing(
    measure: str, arguments: dict[str, str], message: str, material: ExperimentData
) -> None:
    with pytest.raises(UnknownName, match=message):
        all_measures()[measure](material, **arguments)


def test_places_that_agree_with_the_printed_ones(
    material: ExperimentData, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of them where our own ranking is the printed one, the system left out aside."""
    places = [str(place) for place in range(1, 14)]
    ours = [all_measures()["napoles_rank"](material, "BLEU", place) for place in places]
    same = all_measures()["same_places"]
    for systems, found in (
        (ours, 12),
        (["source", *(name for name in ours if name != "source")], 12),
        ([ours[1], ours[0], *ours[2:]], 12 if "source" in ours[:2] else 10),
        ([*ours[1:], ours[0]], 12 if ours[0] == "source" else 0),
    ):
        cells = {(place, "BLEU"): name for place, name in zip(places, systems, strict=True)}
        others = {(place, "other"): name for place, name in zip(places, ours, strict=True)}
        monkeypatch.setattr(material, "printed_cells", lambda *_, known=cells | others: known)
        assert same(material, "BLEU", "source") == found


def test_scores_are_multiplied_and_rounded_where_a_recipe_says_so(
    material: ExperimentData, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = {"metric": "bleu", "references": "conll14-texts"}
    recipes = {"plain": plain, "percent": {**plain, "times": 100, "digits": 1}}
    monkeypatch.setattr(material, "recipes", recipes)
    score = all_measures()["system_score"]
    value = material.scores("bleu", "conll14-texts")["AMU"]
    assert score(material, "plain", "AMU") == value
    assert score(material, "percent", "AMU") == round(100 * value, 1)
    assert metric_scores(material, "plain", "computed")["AMU"] == value
    assert metric_scores(material, "percent", "computed")["AMU"] == round(100 * value, 1)
    same = "c b d e f"
    examples = {"x": {"source": "a b d e f", "edits": [[0, 1, "c"]], "hypotheses": [same]}}
    for recipe, times in (("plain", 1), ("percent", 100)):
        example = all_measures()["example_score"](material, recipe, "x", "1", examples)
        assert example == pytest.approx(100 * times)  # a BLEU is a percentage


def test_references_that_are_nowhere_are_refused(material: ExperimentData) -> None:
    for name in ("x", "NUCLE+x"):
        with pytest.raises(UnknownName, match=f"there are no references '{re.escape(name)}'"):
            material.corpus(name)
    both = material.corpus("NUCLE+E-fluency")
    assert {len(references) for references in both.references} == {4}


def test_what_was_left_out_was_counted_from_one(material: ExperimentData) -> None:
    assert material.left_out_sentences() == {2, 3, 417}
    assert material.left_out_sentences("as written") == {2, 3, 47}


def _write() -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as place:
        os.environ["ERRATA_CACHE"] = str(Path(place) / "cache")
        rows = _rows(_run(Path(place)))
    GOLDEN.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")


if __name__ == "__main__":
    _write()
