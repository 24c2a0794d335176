"""All metrics on all data that people judged: figures, places, ceiling, floor, and the command."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from command import errata
from errata import benchmark
from errata import benchmark as study
from errata.cli import benchmark as cli_benchmark
from errata.core.errors import InputError, MissingExtraError
from errata.data import Judgment, Scores
from errata.datasets import fetch, sample_judgments
from errata.human import compare, rank
from errata.human.agreement import judge_correlations
from errata.human.ranking import ExpectedWins
from errata.io.slices import read_skipped
from errata.meta.matching import match
from errata.meta.sentence_level import calibrated_accuracy, sentence_level
from errata.meta.system_level import system_level
from errata.metrics import parse
from errata.scoring.evaluate import evaluate

SAMPLE = study.sample_judged_set()
RESULTS = [
    evaluate(parse(text), SAMPLE.corpus, SAMPLE.systems, resamples=0) for text in ("gleu", "m2")
]
WHOLE = study.benchmark_set(SAMPLE, RESULTS, resamples=60)


def values(figure: str) -> dict[str, tuple[float, ...]]:
    return {each.metric: tuple(each.value) for each in WHOLE.standings[figure]}  # type: ignore[index]


def test_systems_are_judged_as_by_meta() -> None:
    people = rank(ExpectedWins(), SAMPLE.comparisons, resamples=0)
    found = system_level(match(people, [*RESULTS, study.score_by_length(SAMPLE)]), resamples=60)
    for agreement in found.agreements:
        for kind in ("pearson", "spearman"):
            expected = (agreement.values[kind], *agreement.intervals[kind])
            assert values(kind)[agreement.metric] == pytest.approx(expected)


def test_sentences_are_judged_on_outputs_that_differ() -> None:
    met = SAMPLE.drop_equal_outputs(SAMPLE.comparisons)
    texts = {system.system: system.sentences for system in SAMPLE.systems}
    different = sum(
        weight
        for first, second, sentence, weight in zip(
            met.first, met.second, met.sentence, met.weight, strict=True
        )
        if texts[met.systems[first]][sentence] != texts[met.systems[second]][sentence]
    )
    assert 0 < different == met.total < SAMPLE.comparisons.total
    assert WHOLE.pairs == met.total
    for scores in RESULTS:
        level = sentence_level(met, scores, convention="tau_b", resamples=60)
        assert values("kendall")[scores.label] == pytest.approx(tuple(level.value))
        accuracy = calibrated_accuracy(met, scores).accuracy
        assert values("accuracy")[scores.label][0] == pytest.approx(accuracy)


def test_ceiling_and_floor() -> None:
    met = SAMPLE.drop_equal_outputs(SAMPLE.comparisons)
    judges = judge_correlations(met, ExpectedWins())
    expected = (judges.rest_r.mean(), judges.rest_r.min(), judges.rest_r.max())
    assert tuple(WHOLE.ceiling["pearson"]) == pytest.approx(expected)
    level = sentence_level(met, RESULTS[0], convention="accuracy", resamples=0)
    assert WHOLE.ceiling["accuracy"].value == pytest.approx(level.ceiling)
    ties = float((met.outcome == 0).mean())
    assert WHOLE.ties == pytest.approx(ties)
    assert WHOLE.floor["accuracy"].value == pytest.approx(max(ties, (1 - ties) / 2))
    for figure in ("pearson", "spearman"):
        floor = WHOLE.floor[figure]  # type: ignore[index]
        assert floor.low < floor.value == 0 < floor.high


def test_a_metric_that_says_what_people_say_is_alone_in_the_first_place() -> None:
    rng = np.random.default_rng(0)
    quality = rng.random((5, 60))
    names = tuple(system.system for system in SAMPLE.systems)
    judgments = [
        Judgment(
            judge, i, tuple((n,) for n in names), tuple((-quality[:, i]).argsort().argsort() + 1)
        )
        for i in range(60)
        for judge in "ab"
    ]
    judged = replace(SAMPLE, comparisons=compare(judgments))
    wide = np.pad(quality, ((0, 0), (0, len(SAMPLE.corpus) - 60)))
    oracle = Scores("oracle", names, quality.mean(axis=1), wide)
    noise = Scores("noise", names, rng.random(5), rng.random(wide.shape))
    found = study.benchmark_set(judged, [noise, oracle], resamples=200)
    for figure in ("kendall", "accuracy"):
        place = {each.metric: each.place for each in found.standings[figure]}  # type: ignore[index]
        assert place["oracle"] == 1
        assert (place["noise"] or 0) > 1
    assert found.ceiling["kendall"].value == 1.0


def test_ratings_are_scores_of_systems_and_have_no_judges() -> None:
    names = tuple(system.system for system in SAMPLE.systems)
    table = np.random.default_rng(1).random((5, len(SAMPLE.corpus)))
    rated = Scores("ratings", names, table.mean(axis=1), table)
    found = study.benchmark_set(replace(SAMPLE, ratings=rated), RESULTS, resamples=0)
    assert all(np.isnan(found.ceiling[figure].value) for figure in study.FIGURES)
    people = match(rated, RESULTS).people.values
    expected = float(np.corrcoef(people, match(rated, RESULTS).metrics[0].values)[0, 1])
    assert found.standings["pearson"][0].value.value == pytest.approx(expected)
    assert [each.place for each in found.standings["kendall"]] == [None] * 3  # nothing resampled


def test_an_output_that_nobody_judged_is_left_out_and_said() -> None:
    judged = replace(SAMPLE, comparisons=SAMPLE.comparisons.without("noisy"))
    found = study.benchmark_set(judged, RESULTS, resamples=0)
    assert found.systems == 4
    assert "nobody judged noisy: left out" in found.notes


def test_too_few_resamples_are_said() -> None:
    assert not [note for note in WHOLE.notes if "cannot tell" in note]
    few = study.benchmark_set(SAMPLE, RESULTS, resamples=30)
    assert "30 resamples cannot tell 3 metrics apart at sentence level; use 40 or more" in few.notes
    with pytest.raises(InputError, match="no metric to judge"):
        study.benchmark_set(SAMPLE, [])


def test_scores_are_made_once_and_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []

    def counted(metric: Any, *given: Any, **more: Any) -> Scores:
        calls.append(metric.name)
        if metric.name == "harper":
            raise MissingExtraError("harper-py", "pip install 'errata-gec[harper]'")
        if metric.name == "scribendi":
            raise InputError("cannot load the language model")
        if metric.name == "green":
            raise InputError("sentence 3 has no reference")
        return evaluate(metric, *given, **more)

    monkeypatch.setattr(study, "evaluate", counted)
    made: dict[tuple[str, ...], Scores] = {}
    for judged in (SAMPLE, replace(SAMPLE, name="sample")):
        study.benchmark_scores(parse("gleu"), judged, made)
    assert calls == ["gleu"]
    for name in ("harper", "scribendi"):
        with pytest.raises(study.MetricNotRun):
            study.benchmark_scores(parse(name), SAMPLE, made)
    with pytest.raises(InputError, match="no reference"):  # bad data is no missing extra
        study.benchmark_scores(parse("green"), SAMPLE, made)
    monkeypatch.setitem(cli_benchmark.METRIC_GROUPS, "default", ("gleu", "harper", "scribendi"))
    quick = ("benchmark", "--sample", "--resamples", 0, "--json", "-q")
    tables = json.loads(errata(*quick).stdout)["tables"]
    for said in ("not run: harper: harper-py is not", "not run: scribendi: cannot load"):
        assert said in tables[0]["caption"]
    rows = {row["metric"] for row in tables[1]["rows"]}
    assert rows == {"one judge", "gleu", "length", "chance"}
    more = errata(*quick, "-m", "default", "-m", "bleu").stdout
    assert {row["metric"] for row in json.loads(more)["tables"][1]["rows"]} == rows | {"bleu"}
    monkeypatch.setitem(cli_benchmark.METRIC_GROUPS, "learned", ("bleu", "scribendi"))
    learned = json.loads(errata(*quick, "-m", "learned").stdout)["tables"]
    assert {row["metric"] for row in learned[1]["rows"]} == rows - {"gleu"} | {"bleu"}
    refused = errata(*quick, "-m", "harper", code=2)
    assert "harper-py is not installed" in refused.stderr


def test_sets_not_on_disk_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    quick = ("benchmark", "-m", "gleu", "--resamples", 0, "--json")
    monkeypatch.setenv("ERRATA_DATA", str(tmp_path))
    nothing = errata(*quick, code=2)
    assert "errata data get conll14" in nothing.stderr
    assert not study.is_downloaded("conll14")
    monkeypatch.setattr(benchmark, "is_downloaded", lambda name: name == "conll14")
    monkeypatch.setattr(benchmark, "read_judged_set", lambda name, progress=None, **more: SAMPLE)
    done = errata(*quick)
    assert "left out: napoles15, gmeg-fce" in done.stderr
    assert "two sets are called" in errata(*quick, "conll14", "conll14", code=2).stderr
    assert "--sample takes no files" in errata(*quick, "--sample", "conll14", code=2).stderr


def _folder(place: Path, base: int = 0) -> Path:
    (place / "outputs").mkdir(parents=True)
    (place / "refs").mkdir()
    files = resources.files("errata.datasets") / "sample"
    (place / "source.txt").write_text("\n".join(SAMPLE.corpus.sources) + "\n")
    for k in range(2):
        text = (files / f"reference{k}.txt").read_text("utf-8")
        (place / "refs" / f"{k}.txt").write_text(text)
    for system in SAMPLE.systems:
        (place / "outputs" / system.system).write_text("\n".join(system.sentences) + "\n")
    lines = (files / "judgments.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    moved = [{**row, "sentence": row["sentence"] + base} for row in rows]
    (place / "judgments.jsonl").write_text("".join(json.dumps(row) + "\n" for row in moved))
    return place


QUICK = ("benchmark", "-m", "gleu", "--resamples", 0, "--json", "-q")


def _rows(*line: object) -> list[Any]:
    return [table["rows"] for table in json.loads(errata(*QUICK, *line).stdout)["tables"]]


def test_a_folder_of_ones_own_is_a_set(tmp_path: Path) -> None:
    sets, *figures = _rows(f"ours={_folder(tmp_path / 'a')}")
    assert sets[0]["set"] == "ours"
    assert sets[0]["judges"] == 3
    assert figures[2][0]["ours"]["value"] == pytest.approx(WHOLE.ceiling["kendall"].value)
    from_one = _folder(tmp_path / "b", base=1)
    assert "--base 1" in errata(*QUICK, from_one, code=2).stderr
    assert _rows(f"ours={from_one}", "--base", 1)[1:] == figures
    far = (from_one / "judgments.jsonl").read_text().replace('"sentence": 72', '"sentence": 99')
    (from_one / "judgments.jsonl").write_text(far)
    refused = errata(*QUICK, from_one, "--base", 1, code=2).stderr
    assert "a judgment is on sentence 99, and the corpus has 72" in refused
    (from_one / "judgments.jsonl").unlink()
    assert "no judgments and no ratings" in errata(*QUICK, from_one, code=2).stderr
    rng = np.random.default_rng(0)
    systems = [system.system for system in SAMPLE.systems]
    rated = [systems, *rng.integers(0, 100, (72, 5)).tolist()]
    (from_one / "ratings.csv").write_text("".join(",".join(map(str, r)) + "\n" for r in rated))
    found, pearson, *_ = _rows(from_one)
    assert found[0]["people"] == "ratings"
    assert found[0]["judges"] is None
    assert pearson[0]["b"] is None
    for many in (71, 73):
        (from_one / "ratings.csv").write_text("eager,noisy\n" + "1,2\n" * many)
        refused = errata(*QUICK, from_one, code=2).stderr
        assert f"ratings of {many} sentences, and the corpus has 72" in refused
    (from_one / "ratings.csv").write_text("eager,noisy\n" + "1,2\n" * 72)
    assert "--base goes with judgments" in errata(*QUICK, from_one, "--base", 1, code=2).stderr
    assert "two sets are called" in errata(*QUICK, from_one, f"b={from_one}/", code=2).stderr


def test_sentences_are_left_out_of_every_side(tmp_path: Path) -> None:
    place = _folder(tmp_path / "a")
    assert _rows(place, "--skip-sentences", "2,60-72")[0][0]["sentences"] == 58
    skipped = read_skipped("2,60-72")
    fewer = study.sample_judged_set(skipped)
    assert len(fewer.corpus) == len(fewer.systems[0]) == 58
    kept = [j for j in sample_judgments() if not skipped.skips(j.sentence)]
    assert fewer.comparisons.rankings == len(kept)
    assert "skip_sentences:2,60-72" in " ".join(fewer.comparisons.facts)
    whole = _rows("--sample")
    assert _rows("--sample", "--skip-sentences", "2,60-72")[1:] != whole[1:]


def test_too_few_sentences_are_refused_by_name() -> None:
    few = study.sample_judged_set(read_skipped("3-72"))
    scores = [evaluate(parse("gleu"), few.corpus, few.systems, resamples=0)]
    with pytest.raises(InputError, match="sample: two different outputs of 2 sentences were") as no:
        study.benchmark_set(few, scores)
    assert "5 or more" in str(no.value)


def test_a_set_without_judgments_is_refused() -> None:
    with pytest.raises(InputError, match="jfleg has no judgments; name one of conll14"):
        study.read_judged_set("jfleg")
    for name in study.JUDGED:
        assert {"outputs", "judgments"} <= {*fetch.collection(name).roles}


def test_the_page_has_what_the_command_gives(data_sets: Path) -> None:
    """Values and intervals do not depend on what else is compared; places do."""
    page = (Path(__file__).parents[2] / "docs" / "benchmark.md").read_text("utf-8")
    page = page.partition("## Where people judged systems")[2].partition("## Noteworthy")[0]
    more = ("-m", "gleu", "-m", "m2", "--format", "markdown", "-q")
    now = errata("benchmark", "gmeg-fce", *more, env={"ERRATA_DATA": str(data_sets)}).stdout

    def cells(text: str, metric: str, column: int) -> list[str]:
        found = [line[2:].split(" | ")[column] for line in text.splitlines() if metric in line[:20]]
        return [re.sub(r" \(\d+\)| \|", "", cell).strip() for cell in found]

    for metric in ("| gleu |", "| m2 |", "| length |", "| one judge |", "| chance |"):
        assert len(cells(now, metric, 1)) == 4
        assert cells(page, metric, 3) == cells(now, metric, 1), metric
    for column in range(8):
        assert cells(page, "| gmeg-fce |", column) == cells(now, "| gmeg-fce |", column)
