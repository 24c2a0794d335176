"""Published tables, recomputed: the files, the verdicts, and the tables themselves."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from command import errata
from errata.core.errors import InputError
from errata.core.stats import Floats
from errata.datasets.catalogue import catalogue
from errata.datasets.load import SAMPLE_FILES, sample_file
from errata.models import register
from errata.reproduce.data import ExperimentData
from errata.reproduce.experiment import (
    MOST_DIGITS,
    KnownDifference,
    Method,
    experiment_names,
    load_experiment,
    parse_experiment,
    read_experiment,
)
from errata.reproduce.run import (
    VERDICTS,
    Reproduction,
    all_measures,
    check_measures,
    compare_with_print,
    reproduce,
    reproduction_tables,
)
from errata.tables.table import render
from small_experiment import SMALL


def run(text: str) -> Reproduction:
    return reproduce([parse_experiment(text, "small.toml")])[0]


# The files


def test_numbers_that_nobody_prints() -> None:
    digits = "0." + "1" * (MOST_DIGITS - 2)
    for sound, refused in (
        (f"1e{MOST_DIGITS}", f"1e{MOST_DIGITS + 1}"),
        (f"1e-{MOST_DIGITS}", f"1e-{MOST_DIGITS + 1}"),
        (digits, f"{digits}1"),
    ):
        file = parse_experiment(SMALL.replace("0.429", sound, 1), "small.toml")
        assert sound in file.tables[0].cells.values()
        with pytest.raises(InputError, match="too many digits"):
            parse_experiment(SMALL.replace("0.429", refused, 1), "small.toml")


def test_files_are_read(tmp_path: Path) -> None:
    path = tmp_path / "small.toml"
    path.write_text(SMALL, encoding="utf-8")
    assert load_experiment(str(path)) == parse_experiment(SMALL, str(path))
    with pytest.raises(InputError, match=r"none\.toml: cannot read"):
        read_experiment(tmp_path / "none.toml")
    with pytest.raises(InputError, match="no experiment 'nothing'; known: chollampatt18"):
        load_experiment("nothing")


@pytest.mark.parametrize("name", experiment_names())
def test_experiments_are_sound(name: str) -> None:
    experiment = load_experiment(name)
    assert experiment.name == name
    assert set(experiment.data) <= set(catalogue())
    assert experiment.tables
    assert experiment.findings
    check_measures(experiment)
    assert len({table.name for table in experiment.tables}) == len(experiment.tables)


def test_every_measure_is_used() -> None:
    used = {t.measure for name in experiment_names() for t in load_experiment(name).tables}
    used |= {
        one.measure
        for name in experiment_names()
        for finding in load_experiment(name).findings
        for one in finding.evidence
    }
    used |= {table.measure for table in parse_experiment(documented(), "mine.toml").tables}
    assert used == set(all_measures())


@pytest.mark.parametrize("name", experiment_names())
def test_every_difference_is_shown_by_figures(name: str) -> None:
    """A reason is a figure of the run, not a sentence."""
    for table in load_experiment(name).tables:
        for key, known in [pair for way in table.known.values() for pair in way.items()]:
            assert known.finding, f"{table.name} {key}: {known.reason}"
        for way in table.ways:
            assert way.finding or not way.tolerance, f"{table.name} {way.origin}: {way.reason}"


SOFTWARE = """
name = "small"
title = "Of a model"
citation = "Nobody. 2025. Nothing. Nowhere."
data = []

[[table]]
name = "one"
title = "Perplexity"
origin = "Table 1"
measure = "sentence_perplexity"
by = ["example", "side"]
matrix = '''
     source  target
he   12.5    13.5
'''
    [table.arguments.examples.he]
    source = "He go home."
    target = "He goes home."
    [[table.way]]
    from = "a model"
    software = "model"
    [[table.known]]
    from = "a model"
    version = "toy@1"
    reason = "it is a toy"
    matrix = '''
        source
    he  {}
    '''
"""


class Toy:
    """A language model that finds every sentence as likely as its length."""

    batch_size = 8

    def __init__(self, version: str) -> None:
        self.revision = f"toy@{version} and more"

    def log_probs(self, sentences: Sequence[str]) -> Floats:
        """One token of the probability e to the minus 2, or 13.5 of the second sentence."""
        return np.array([[-math.log(13.5) if "goes" in s else -2.0, 1.0] for s in sentences])


CLOSE = 'software = "model"\n    tolerance = 0.2\n    reason = "another version"'


@pytest.mark.parametrize(
    ("version", "pinned", "software", "expected"),
    [
        ("1", "7.4", 'software = "model"', ["differs (known)", "exact"]),
        ("1", "7.5", 'software = "model"', ["MISMATCH", "exact"]),
        ("2", "7.4", 'software = "model"', ["unpinned", "unpinned"]),
        ("2", "7.4", CLOSE, ["unpinned", "exact"]),  # a tolerance holds for every version
    ],
)
def test_figures_of_software_are_held_to_its_version(
    version: str, pinned: str, software: str, expected: list[str]
) -> None:
    register("toy", lambda options: Toy(version))
    text = SOFTWARE.format(pinned).replace('software = "model"', software)
    found = reproduce([parse_experiment(text, "small.toml")], model="toy")[0]
    assert [cell.verdict.name for cell in found.tables[0].cells] == expected
    assert {cell.software for cell in found.tables[0].cells} == {f"toy@{version} and more"}
    assert found.ok == ("MISMATCH" not in expected)
    rows = json.loads(render(reproduction_tables([found]), "json"))["tables"][0]["rows"]
    assert rows[0]["software"] == f"toy@{version} and more"


def test_a_model_that_cannot_be_had_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("errata.models.language.find_spec", lambda name: None)
    monkeypatch.setattr("errata.models.checkpoint.find_spec", lambda name: None)
    without = SOFTWARE.format("7.4").replace(
        'software = "model"', 'software = "model"\n    arguments = { model = "gpt2" }'
    )
    for text, model, why in (
        (SOFTWARE.format("7.4"), "trigram", "language model trigram needs pocketsphinx"),
        (SOFTWARE.format("7.4"), "some/model", "language model some/model needs torch"),
        (without, "trigram", "the weights of GPT-2 are not on this machine"),
    ):
        found = reproduce([parse_experiment(text, "small.toml")], model=model)[0]
        for cell in found.tables[0].cells:
            assert cell.verdict.name == "not run"
            assert why in cell.verdict.reason
        assert found.ok


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('name = "small"', "", "small.toml: there is no 'name'"),
        ('name = "small"', 'name = "small"\nfoo = 1', "small.toml:3: foo: unknown key"),
        ('name = "small"', "name = 3", "name: 3 is not a text"),
        ("[[table]]", "[[table", "not TOML"),
        ("-0.225    -", "-0.225", "row BLEU has 1 cells under 2 columns"),
        ("GLEU_0  ?", "BLEU  ?", "the cell BLEU/spearman is given twice"),
        ("M2      0.429", "M2/x      0.429", "has 3 parts and not 2"),
        ("    BLEU  -0.187\n", "    BLAU  -0.187\n", "cell BLAU/spearman is not in the table"),
        (
            '    from = "print"\n    [[table.known]]\n    from = "print"',
            '    from = "print"\n    [[table.known]]\n    from = "other"',
            "unknown way 'other'",
        ),
        ('    from = "print"\n', '    from = "print"\n    tolerance = 0.1\n', "needs its reason"),
        ('origin = "Table 3"', 'origin = "Table 3"\nrounding = "up"', "rounding: 'up' is unknown"),
        ('reason = "', 'finding = "nowhere"\n    reason = "', "there is no finding 'nowhere'"),
        ('measure = "printed_rank_correlation"', 'measure = "magic"', "no measure 'magic'"),
        (
            'by = ["metric", "kind"]',
            'by = ["metric", "sort"]',
            "unexpected keyword argument 'sort'",
        ),
        ("M2      0.429     0.358", "M3      0.429     -", "'M3' is not one of Human, BLEU"),
        ('software = "model"', 'software = "luck"', "software: 'luck' is unknown; use one of"),
        ('    version = "toy@1"\n', "", "known cells of 'a model' need a version"),
        ('    software = "model"\n', "", "known cells of 'a model' have a version"),
    ],
)
def test_what_cannot_be_is_refused(old: str, new: str, message: str) -> None:
    good = SMALL if old in SMALL else SOFTWARE.format("7.4")
    assert old in good
    with pytest.raises(InputError, match=message):
        run(good.replace(old, new, 1))


PAGE = Path(__file__).parents[2] / "docs" / "reproduction.md"


def documented() -> str:
    """The experiment of one's own that the page shows."""
    return PAGE.read_text(encoding="utf-8").partition("```toml\n")[2].partition("```")[0]


def own(folder: Path, text: str) -> Reproduction:
    """It, beside the files of the sample."""
    for name in SAMPLE_FILES:
        with sample_file(name) as path:
            (folder / name).write_bytes(path.read_bytes())
    (folder / "mine.toml").write_text(text, encoding="utf-8")
    return reproduce([load_experiment(str(folder / "mine.toml"))])[0]


def test_an_experiment_of_ones_own(tmp_path: Path) -> None:
    result = own(tmp_path, documented())
    names = [cell.verdict.name for table in result.tables for cell in table.cells]
    assert names == ["exact"] * 10
    assert result.count_printed_and_exact() == (10, 10)
    other = tmp_path / "other"
    other.mkdir()
    changed = documented().replace('"eager.txt", ', "").replace("0.967", "0.966", 1)
    names = [cell.verdict.name for table in own(other, changed).tables for cell in table.cells]
    assert names[0] == "different"
    assert names[1:6] == ["exact"] * 5
    both = [load_experiment(str(folder / "mine.toml")) for folder in (tmp_path, other)]
    again = reproduce(both)  # two experiments may call different files by one name
    assert [r.ok for r in again] == [True, False]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('gold = "gold.m2"', 'gold = "none.m2"', r"none\.m2: cannot read"),
        ("[files.ours]", "[files.jfleg]", "files cannot be called 'jfleg'"),
        ('outputs = ["cautious.txt"', "outputs = [1", r"files.ours.outputs\[1\]: 1 is not a text"),
        ('gold = "gold.m2"', "gold = 3", "files.ours.gold: 3 is not a text"),
        (
            'gold = "gold.m2"',
            'gold = "gold.m2"\nbase = 1',
            "sentence 0 is not a whole number from 1",
        ),
        ('judgments = "ours"', 'judgments = "hours"', "there are no judgments 'hours'"),
    ],
)
def test_files_of_ones_own_are_checked(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in documented()
    with pytest.raises(InputError, match=message):
        own(tmp_path, documented().replace(old, new, 1))


def test_where_nothing_was_published_figures_are_different() -> None:
    mine = SMALL.replace("0.429", "0.428", 1)
    for text, name in ((mine, "MISMATCH"), ("published = false\n" + mine, "different")):
        result = run(text)
        assert result.tables[0].cells[0].verdict.name == name
        assert not result.ok


# Verdicts


@pytest.mark.parametrize(
    ("value", "printed", "expected", "given"),
    [
        (0.6907, "0.691", "exact", {}),
        (0.6907, ".691", "exact", {}),
        (-0.0004, "0.000", "exact", {}),
        (0.69151, "0.691", "exact", {"rounding": "truncated"}),
        (0.69151, "0.691", "MISMATCH", {}),
        (0.692, "0.691", "within rounding", {"tolerance": 0.001}),
        (0.693, "0.691", "within tolerance", {"tolerance": 0.002}),
        (0.6931, "0.691", "MISMATCH", {"tolerance": 0.002}),
        (0.75, "0.691", "differs (known)", {"known": "0.75"}),
        (0.76, "0.691", "MISMATCH", {"known": "0.75"}),
        (0.691, "0.691", "MISMATCH", {"known": "0.75"}),
        (14822, "14584", "MISMATCH", {}),
        (14822, "14822", "exact", {}),
        ("1-2", "1-2", "exact", {}),
        ("1-3", "1-2", "MISMATCH", {}),
        ("1-3", "1-2", "MISMATCH", {"tolerance": 5}),
        (0.5, None, "not printed", {}),
        (7.3, "~7", "in words", {}),
        (7.6, "~7", "MISMATCH", {}),
        (0.0151, "=0.015", "not printed", {}),
        (0.0161, "=0.015", "MISMATCH", {}),
        (float("nan"), "0.691", "MISMATCH", {"tolerance": 1}),
    ],
)
def test_verdicts(
    value: float | str, printed: str | None, expected: str, given: dict[str, Any]
) -> None:
    way = Method("w", tolerance=given.get("tolerance", 0.0), reason="r")
    known = KnownDifference(given["known"], "r") if "known" in given else None
    verdict = compare_with_print(value, printed, way, known, given.get("rounding", "half"))
    assert verdict.name == expected
    assert verdict.fails == (expected == "MISMATCH")
    assert expected in VERDICTS


# Runs


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("0.429", "0.428"),
        ("0.429", "-0.429"),
        ("    BLEU  -0.187", "    BLEU  -0.188"),
        ("-0.225    -", "-0.187    -"),
        ('found = "-0.187"', 'found = "-0.225"'),
    ],
)
def test_tampering_shows(old: str, new: str) -> None:
    assert old in SMALL
    result = run(SMALL.replace(old, new, 1))
    assert not result.ok
    assert result.mismatches == 1
    shown_tables = render(reproduction_tables([result]))
    assert "MISMATCH" in shown_tables or "NOT CONFIRMED" in shown_tables


def test_the_command_has_an_exit_code_for_both(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    for text, code in ((SMALL, 0), (SMALL.replace("0.429", "0.430"), 1)):
        path.write_text(text, encoding="utf-8")
        done = errata("reproduce", path, env={"ERRATA_DATA": None}, code=code)
        assert done.stderr.startswith("errata: 1 figure") == bool(done.stderr) == bool(code)


# The real thing


@pytest.fixture(scope="module")
def results(data_sets: Path) -> dict[str, Reproduction]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ERRATA_DATA", str(data_sets))
        found = reproduce([load_experiment(name) for name in experiment_names()])
    return {result.experiment.name: result for result in found}


@pytest.mark.long
def test_all_papers(results: dict[str, Reproduction]) -> None:
    for name, result in results.items():
        wrong = [
            (t.table.name, cell) for t in result.tables for cell in t.cells if cell.verdict.fails
        ]
        assert (name, wrong) == (name, [])
        assert all(one.confirmed for f in result.findings for one in f.evidence)
        assert result.ok


@pytest.mark.long
def test_documentation(results: dict[str, Reproduction]) -> None:
    """The page shows the verdicts and the evidence of a run; ERRANT's types aside."""
    page = (Path(__file__).parents[2] / "docs" / "reproduction.md").read_text(encoding="utf-8")
    tables = reproduction_tables([results[name] for name in experiment_names()], summary=True)
    lines = [
        line
        for line in render(tables, "markdown").splitlines()
        if line.startswith("| ") and "ERRANT" not in line and not line.startswith("| all ")
    ]
    assert len(lines) > 80
    assert [line for line in lines if line not in page] == []


@pytest.mark.long
def test_how_much_is_exact(results: dict[str, Reproduction]) -> None:
    """Of the five papers, without ERRANT; a figure counts once, words and bars not at all."""
    five = [
        result.count_printed_and_exact() for result in results.values() if result.experiment.group
    ]
    printed, exact = (sum(column) for column in zip(*five, strict=True))
    assert printed == 547
    assert exact >= 300


def read_table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


@pytest.mark.long
def test_full_digits(results: dict[str, Reproduction], oracles: Path) -> None:
    """Not only the printed digits: the correlations and p-values of an independent run."""
    human = {"EW": "expected_wins", "TS": "trueskill"}
    result = results["chollampatt18"]
    cells = {
        (t.table.name, cell.key): cell.recomputed
        for t in result.tables
        for cell in t.cells
        if cell.way == "released scores"
    }
    for row in read_table(oracles / "meta" / "chollampatt_system_correlations.tsv"):
        table = {"all13": "table2", "noIPN": "outlier"}.get(row["subset"], "")
        key = (row["metric"], human[row["human"]], row["corr"])
        if (table, key) in cells:
            assert cells.pop((table, key)) == pytest.approx(float(row["value"]), abs=1e-12)
    for row in read_table(oracles / "meta" / "chollampatt_williams.tsv"):
        key4 = (row["higher"], row["lower"], human[row["human"]], row["corr"])
        if row["subset"] == "all13":
            assert cells.pop(("figure2", key4)) == pytest.approx(
                float(row["one_sided_p"]), abs=1e-12
            )
    assert not {table for table, _ in cells} & {"table2", "outlier", "figure2"}


@pytest.mark.slow
def test_percent_changed(data_sets: Path, oracles: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ERRATA_DATA", str(data_sets))
    known = json.loads((oracles / "meta" / "sakaguchi_percent_changed.json").read_text())
    material = ExperimentData()
    whole = ExperimentData.kept_sentences
    # The oracle left out line 48, as the file of merged lines has it by mistake.
    monkeypatch.setattr(ExperimentData, "kept_sentences", lambda self: whole(self, "as written"))
    for key, name in (
        ("EF1", "expert_fluencyA"),
        ("NM2", "turker_minimalB"),
        ("NU1", "released-A"),
        ("sys_CAMB", "CAMB"),
        ("sys_INPUT", "INPUT"),
    ):
        value = all_measures()["changed"](material, "x", {"x": [["source", name]]})
        assert value == pytest.approx(known[key], abs=1e-9)


def test_released_texts_are_one_of_two(data_sets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The 34 merged lines, with the typo mended and not."""
    monkeypatch.setenv("ERRATA_DATA", str(data_sets))
    material = ExperimentData()
    assert len(material.kept_sentences()) == len(material.kept_sentences("as written")) == 1278
    assert set(material.kept_sentences()) ^ set(material.kept_sentences("as written")) == {47, 417}
