"""Fifteen modern systems and the people of SEEDA (Kobayashi et al. 2024): files as they come."""

import json
from pathlib import Path

import numpy as np
import pytest

from command import errata
from errata.core.correlation import pearson, spearman
from errata.core.errors import DataWarning
from errata.data import Scores
from errata.human import compare
from errata.io import read_corpus, read_hypotheses
from errata.io.judgments import read_judgments
from errata.meta.sentence_level import sentence_levels
from scored import scored

# Recomputed from the table in SEEDA's README: Pearson and Spearman, twelve base systems.
AGREEMENT = {
    ("edit", "m2"): (0.740, 0.769),
    ("edit", "m2(total='mean')"): (0.881, 0.944),
    ("edit", "gleu"): (0.893, 0.895),
    ("sent", "m2"): (0.639, 0.510),
    ("sent", "m2(total='mean')"): (0.817, 0.755),
    ("sent", "gleu"): (0.874, 0.783),
}
# The number of characters as a metric, by scripts that decide ties as SEEDA's do (unit tests of
# gec-metrics 0.1.2): sentence accuracy, and Pearson and Spearman of the means of the subset.
LENGTH = {
    "edit": (0.5365853658536586, 0.4834645229702062, 0.5944055944055945),
    "sent": (0.5455708346658139, 0.4880423593992749, None),
}
# The same with GPT-3.5 and REF-F, fourteen systems; recomputed for GLEU alone of these three.
WITH_BOTH = {("edit", "GLEU"): (-0.220, 0.376), ("sent", "GLEU"): (-0.294, 0.288)}
BEYOND = ("GPT-3.5", "INPUT", "REF-F")  # what the twelve base systems are compared without
NAMES = {"edit": "seeda-edit", "sent": "seeda-sentence"}


@pytest.fixture(scope="module")
def seeda(data_sets: Path) -> Path:
    found = sorted(data_sets.glob("tmu-nlp/SEEDA/*"))
    if not found:
        pytest.skip("needs SEEDA in the data sets")
    return found[0]


@pytest.mark.parametrize("people", ["edit", "sent"])
def test_metrics_agree_with_people_as_published(people: str, data_sets: Path) -> None:
    done = errata(
        *("meta", "--data", f"{NAMES[people]}-base-trueskill", "--level", "system"),
        *("-m", "m2", "-m", "m2(total=mean)", "-m", "gleu", "--resamples", 0, "--json", "-q"),
        env={"ERRATA_DATA": str(data_sets)},
    )
    for row in json.loads(done.stdout)["tables"][0]["rows"]:
        found = round(row["r"], 3), round(row["ρ"], 3)
        assert found == AGREEMENT[people, row["metric"]]


@pytest.fixture(scope="module")
def table(seeda: Path, conll14: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three columns as the README prints them: of all fifteen systems, in percent, two decimals."""
    metrics = {"M2": "m2", "SentM2": "m2(total=mean)", "GLEU": "gleu"}
    corpus = read_corpus(gold=conll14 / "conll14st-test.m2")
    systems = [read_hypotheses(file) for file in sorted((seeda / "outputs" / "all").iterdir())]
    columns = [100 * scored(text, corpus, systems).values for text in metrics.values()]
    rows = zip(*columns, strict=True)
    lines = ["\t".join(["system", *metrics])]
    for system, row in zip(systems, rows, strict=True):
        lines.append("\t".join([system.system, *(f"{score:.2f}" for score in row)]))
    path = tmp_path_factory.mktemp("seeda") / "table.tsv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("people", ["edit", "sent"])
@pytest.mark.parametrize("beyond", [BEYOND, ("INPUT",)], ids=["12", "14"])
def test_scores_in_a_file_agree_with_people_as_published(
    people: str, beyond: tuple[str, ...], table: Path, seeda: Path
) -> None:
    """Of the README's eleven columns the three whose scores of systems can be had.

    What the other eight correlate with people is known (PT-M2, ERRANT, SentERRANT, PT-ERRANT,
    GoToScorer, Scribendi, SOME and IMPARA), but not the scores that it follows from: neither the
    README nor a copy of its table is among the public files at hand, and the release's own
    ``scores/metric`` holds the word None in place of each. They need the model that SEEDA used
    (bert-base-uncased, SOME's, IMPARA's, GPT-2) or its versions of ERRANT and spaCy.
    """
    names = [line.split("\t")[0] for line in table.read_text().splitlines()[1:]]
    done = errata(
        *("meta", "--human", seeda / "scores" / "human" / f"TS_{people}.txt"),
        *("--names", ",".join(names), "--scores", table, "--level", "system"),
        *(word for system in beyond for word in ("--without", system)),
        *("--resamples", 0, "--json", "-q"),
    )
    rows = {row["metric"]: row for row in json.loads(done.stdout)["tables"][0]["rows"]}
    found = {name: (round(row["r"], 3), round(row["ρ"], 3)) for name, row in rows.items()}
    if len(beyond) > 1:
        texts = {"M2": "m2", "SentM2": "m2(total='mean')", "GLEU": "gleu"}
        assert found == {name: AGREEMENT[people, text] for name, text in texts.items()}
    else:  # GLEU draws references: the table's is up to .02 away
        assert found["GLEU"] == pytest.approx(WITH_BOTH[people, "GLEU"], abs=0.0011)


@pytest.mark.parametrize("people", ["edit", "sent"])
@pytest.mark.parametrize(
    ("ranker", "released"), [("expected_wins", "EW"), ("trueskill_meanfield", "TS")]
)
def test_people_s_scores_are_those_released(
    people: str, ranker: str, released: str, seeda: Path, data_sets: Path
) -> None:
    """Every system behind an output counts (the default); TrueSkill is the WMT's, in the mean."""
    done = errata(
        *("rank", "--data", NAMES[people], "--ranker", ranker, "--resamples", 0, "--json", "-q"),
        env={"ERRATA_DATA": str(data_sets)},
    )
    rows = json.loads(done.stdout)["tables"][0]["rows"]
    headline = {"EW": "Expected Wins", "TS": "TrueSkill"}[released]
    found = {row["system"]: row[headline] for row in rows}
    names = sorted(file.stem for file in (seeda / "outputs" / "all").iterdir())
    numbers = (seeda / "scores" / "human" / f"{released}_{people}.txt").read_text().split()
    assert found == pytest.approx(dict(zip(names, map(float, numbers), strict=True)), abs=0.002)


@pytest.mark.parametrize("people", ["edit", "sent"])
def test_ties_go_as_in_the_scripts(people: str, seeda: Path) -> None:
    names = tuple(sorted(file.stem for file in (seeda / "outputs" / "all").iterdir()))

    def lengths(part: str) -> np.ndarray:
        files = [seeda / "outputs" / part / f"{name}.txt" for name in names]
        return np.array([[len(line) for line in f.read_text().splitlines()] for f in files], float)

    whole, subset = lengths("all"), lengths("subset").mean(axis=1)
    metric = Scores("length", names, whole.mean(axis=1), whole)
    said = compare(read_judgments(seeda / "data" / f"judgments_{people}.xml", base=1))
    with pytest.warns(DataWarning, match="names of systems"):
        found = sentence_levels(said.hide(*BEYOND), [metric], ["seeda", "seeda_tau"], resamples=0)
    accuracy, r, rho = LENGTH[people]
    assert found.levels[0].value.value == pytest.approx(accuracy, rel=1e-12)
    assert found.levels[1].value.value == pytest.approx(2 * accuracy - 1, rel=1e-12)
    assert (found.levels[1].floor, found.levels[0].floor) == (0.0, 0.5)
    ts = np.array((seeda / "scores" / "human" / f"TS_{people}.txt").read_text().split(), float)
    base = [k for k, name in enumerate(names) if name not in BEYOND]
    assert float(pearson(ts[base], subset[base])) == pytest.approx(r, rel=1e-12)
    if rho is not None:
        assert float(spearman(ts[base], subset[base])) == pytest.approx(rho, rel=1e-12)


def test_sentence_means_of_m2(seeda: Path, conll14: Path) -> None:
    """SEEDA's SentM2: INPUT 31.33 as published; REF-F 48.93, where 48.99 is printed."""
    files = [seeda / "outputs" / "all" / f"{name}.txt" for name in ("INPUT", "REF-F")]
    done = errata(
        *("score", "--gold", conll14 / "conll14st-test.m2", *files, "-m", "m2(total=mean)"),
        *("--resamples", 0, "--json", "-q"),
    )
    rows = json.loads(done.stdout)["tables"][0]["rows"]
    assert {row["system"]: round(100 * row["F0.5"], 2) for row in rows} == {
        "INPUT": 31.33,
        "REF-F": 48.93,
    }


def test_the_number_of_the_first_sentence_is_found_out(seeda: Path) -> None:
    """Its judgments count from 1: read from 0 they are about other sentences, and refused."""
    outputs = seeda / "outputs" / "all"
    command = (
        *("meta", "--judgments", seeda / "data" / "judgments_sent.xml", outputs, "-m", "gleu"),
        *("--source", outputs / "INPUT.txt", "--refs", outputs / "REF-M.txt"),
        *("--level", "sentence", "--resamples", 0, "--json", "-q"),
    )
    refused = errata(*command, code=2).stderr
    assert "--base 1" in refused
    rows = json.loads(errata(*command, "--base", 1).stdout)["tables"][0]["rows"]
    assert {row["pairs"] for row in rows} == {33544}
