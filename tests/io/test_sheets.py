"""Judgments and ratings as people keep them: long tables, pairs, ratings by system or criterion."""

from __future__ import annotations

import csv
import warnings
import zipfile
from pathlib import Path

import pytest
from numpy.testing import assert_allclose

from errata.core.errors import DataWarning, InputError
from errata.data import Judgment
from errata.io import rows
from errata.io.columns import parse_columns
from errata.io.judgments import read_judgments
from errata.io.judgments.sheets import read_ratings
from errata.io.m2 import read_m2
from errata.io.scores import read_score_file

EXPECTED = [
    Judgment("ann", 0, (("A",), ("B",), ("C",)), (2, 1, 2)),
    Judgment("bob", 1, (("A",), ("B",)), (1, 2)),
]


def read(folder: Path, text: str, **more) -> list[Judgment]:
    path = folder / "j.csv"
    path.write_text(text, "utf-8")
    return list(read_judgments(path, **more))


@pytest.mark.parametrize("mark", [",", ";", "\t"])
@pytest.mark.parametrize(
    "text",
    [
        "judge|sentence|system|rank\nann|0|A|2\nann|0|B|1\nbob|1|A|1\nann|0|C|2\nbob|1|B|2\n",
        "judge|sentence|system|score\nann|0|A|3\nann|0|B|5\nbob|1|A|1\nann|0|C|3\nbob|1|B|0.5\n",
        "System|Annotator ID|Segment_id|Rating\nA|ann|0|3\nB|ann|0|4\nC|ann|0|3\n"
        "A|bob|1|9\nB|bob|1|2\n",
    ],
)
def test_one_row_per_output(tmp_path: Path, text: str, mark: str) -> None:
    assert read(tmp_path, text.replace("|", mark)) == EXPECTED


def test_columns_by_option(tmp_path: Path) -> None:
    text = "Who,ID,What,Fluency,Comment\nann,1,A,3,\nann,1,B,5,good\n"
    named = parse_columns(["judge=Who,sentence=ID", "system=What,score=Fluency"])
    with pytest.warns(DataWarning, match="not read: Comment"):
        found = read(tmp_path, text, columns=named, base=1)
    assert found == [Judgment("ann", 0, (("A",), ("B",)), (2, 1))]
    with pytest.raises(InputError, match=r"no column 'who2'; there are: Who, ID"):
        read(tmp_path, text, columns={"judge": "who2"})
    for bad in ("judge", "jugde=x", "judge=", "judge=a,judge=b"):
        with pytest.raises(InputError, match="--columns"):
            parse_columns([bad])


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_better_and_worse(tmp_path: Path, mark: str) -> None:
    text = "sentence|judge|better|worse\n0|ann|A|B\n1|bob|B|C\n".replace("|", mark)
    assert read(tmp_path, text) == [
        Judgment("ann", 0, (("A",), ("B",)), (1, 2)),
        Judgment("bob", 1, (("B",), ("C",)), (1, 2)),
    ]
    with pytest.raises(InputError, match=r"j.csv:2: .*named twice"):
        read(tmp_path, "sentence,judge,better,worse\n0,ann,A,A\n")


def test_ratings_by_system(tmp_path: Path) -> None:
    found = read(tmp_path, "A,B,C\n50.5,75,50.5\n,,\n1,2,\n")
    assert found == [
        Judgment("j", 0, (("A",), ("B",), ("C",)), (2, 1, 2)),
        Judgment("j", 1, (("A",), ("B",), ("C",)), (None, None, None)),
        Judgment("j", 2, (("A",), ("B",), ("C",)), (2, 1, None)),
    ]
    unclear = "judge,sentence,A,B\nann,0,1,2\nann,1,2,1\n"
    with pytest.raises(InputError, match=r"may be ranks .* or ratings.*rank=\*"):
        read(tmp_path, unclear)
    assert [j.ranks for j in read(tmp_path, unclear, columns={"rank": "*"})] == [(1, 2), (2, 1)]
    assert [j.ranks for j in read(tmp_path, unclear, columns={"score": "*"})] == [(2, 1), (1, 2)]


def test_items_are_named_everywhere_or_nowhere(tmp_path: Path) -> None:
    """Merged cells of a spreadsheet stand in their first row only."""
    text = "judge,sentence,item,system,rank\nann,0,{},A,1\nann,0,{},B,2\n"
    assert len(read(tmp_path, text.format("h1", "h1"))) == 1
    assert len(read(tmp_path, text.format("", ""))) == 1
    with pytest.raises(InputError, match=r"j\.csv:3: a row without an item; fill in its name"):
        read(tmp_path, text.format("h1", ""))


def test_a_decimal_comma_is_not_two_ratings(tmp_path: Path) -> None:
    """Apart by tabs, '3,5' may be one rating or those of two people."""
    text = "sentence\tsystem\tscore\n0\tA\t3,5\n0\tB\t4\n1\tA\t2,0\n1\tB\t1,5\n"
    with pytest.raises(InputError, match=r"'3,5' may be one number or the ratings of two people"):
        read(tmp_path, text)
    two = text.replace(",", ", ")
    assert len(read(tmp_path, two.replace("\t4", "\t4, 1"))) == 4  # two people, on two sentences
    with pytest.raises(InputError, match=r"j\.csv:3: 1 rating, and 2 in other rows"):
        read(tmp_path, two)
    judged = text.replace("score", "score\tjudge").replace("\n", "\tx\n")
    judged = judged.replace("judge\tx", "judge")
    with pytest.raises(InputError, match=r"score '3,5' is not a number; write 3\.5"):
        read(tmp_path, judged)


def test_the_pairs_of_one_item_are_not_the_same_item_twice(tmp_path: Path) -> None:
    text = "judge,sentence,item,better,worse\nann,0,h1,A,B\nann,0,h1,A,C\nann,0,h1,C,B\n"
    assert len(read(tmp_path, text)) == 3
    with pytest.warns(DataWarning, match="item 'h1' of ann stands there twice, with other ranks"):
        assert len(read(tmp_path, text + "ann,0,h1,B,A\n")) == 4


LONG = "judge,sentence,system,score\n"
ERRORS = [
    ("judge,system,rank\na,A,1\n", "no column sentence"),
    ("judge,sentence,system,rank\na,0,A,0\n", "j.csv:2: rank '0'"),
    (LONG + "a,0,A,1_0\n", "j.csv:2: score '1_0'"),
    (LONG + "a,0,A,inf\n", "j.csv:2: score 'inf'"),
    (LONG + ",0,A,1\n", "j.csv:2: .*without a judge"),
    (LONG + "a,,A,1\na,1,B,1\n", "j.csv:2: .*without a sentence"),
    (LONG + "a,0,,1\n", "j.csv:2: .*without a name"),
    ("judge,annotator,sentence,system,score\na,b,0,A,1\n", "both be the judge"),
    ("judge,Judge,sentence,system,score\na,b,0,A,1\n", "two columns judge"),
    (LONG, "no judgments"),
    (LONG.replace("judge", "jugde") + "a,0,A,1\n", "'jugde'.*'judge'"),
    ("Anotator,sentence,better,worse\na,0,A,B\n", "'Anotator'"),
]


def test_errors_name_line_and_value(tmp_path: Path) -> None:
    for text, message in ERRORS:
        with pytest.raises(InputError, match=message):
            read(tmp_path, text)


def test_a_stray_cell_far_away_costs_no_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sheet of 5 kB may span 17 thousand million cells, all empty but for a few."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in [["judge", "sentence", "system", "rank"], ["a", 0, "A", 1], ["a", 0, "B", 2]]:
        book.active.append(row)
    book.active.cell(row=1, column=16_384).number_format = "0.00"
    book.save(tmp_path / "wide.xlsx")
    assert len(list(read_judgments(tmp_path / "wide.xlsx"))) == 1
    book.active.cell(row=1_048_576, column=16_384, value="x")
    book.save(tmp_path / "far.xlsx")
    assert rows.MOST_CELLS == 20_000_000
    monkeypatch.setattr(rows, "MOST_CELLS", 400_000)  # which are read sooner
    with pytest.raises(InputError, match="the sheet 'Sheet' spans more than 400,000"):
        list(read_judgments(tmp_path / "far.xlsx"))


def test_formulas_without_values_are_refused(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (("sentence", "A", "B"), (0, 3.5, "=1+1"), (1, 2, 3)):
        book.active.append(row)
    book.save(tmp_path / "j.xlsx")
    with pytest.raises(InputError, match=r"the cell C2 holds a formula whose value is not stored"):
        list(read_judgments(tmp_path / "j.xlsx"))


def test_published_tables_of_judgments(data_sets: Path) -> None:
    jfleg = next(data_sets.glob("keisks/jfleg/*/EACL_exp/mturk/pairwise.csv"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = list(read_judgments(jfleg))
        assert {j.judge for j in found} >= {"annotA"}
        pairs = sum(len(j.groups) * (len(j.groups) - 1) // 2 for j in found)
        assert (len(found), pairs) == (297, 1629)
        gmeg = next(data_sets.glob("grammarly/GMEG/*/data/dev/fce-segment-scores.csv"))
        assert len(list(read_judgments(gmeg))) == 968
        for part in ("edit", "sent"):
            seeda = next(data_sets.glob(f"tmu-nlp/SEEDA/*/data/judgments_{part}.xml"))
            assert len(list(read_judgments(seeda, base=1))) == 600
    tmu = next(data_sets.glob("tmu-nlp/TMU-GFM-Dataset/*/tmu-gfm-dataset.csv"))
    with pytest.warns(DataWarning):
        found = list(read_judgments(tmu, columns={"sentence": "source", "score": "fluency"}))
    assert {j.judge for j in found} == set("12345")
    assert len({j.sentence for j in found}) == 1378


@pytest.mark.parametrize("title", ["mean", "Average", "SD"])
def test_a_column_that_sums_up_is_no_system(title: str, tmp_path: Path) -> None:
    file = tmp_path / "ratings.csv"
    file.write_text(f"A,B,{title}\n50,60,55\n80,20,50\n")
    with pytest.raises(InputError, match=f"the column {title} seems to sum up the others"):
        list(read_judgments(file))


def test_archives_are_named_as_such(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("x.txt", "one")
    for read in (read_judgments, read_score_file, read_m2):
        with pytest.raises(InputError, match="this is a ZIP archive; unpack it first"):
            read(tmp_path / "a.zip")


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
    path = next(data_sets.glob("tmu-nlp/TMU-GFM-Dataset/*/tmu-gfm-dataset.csv"))
    found = read_ratings(path)
    assert (len(found.rows), found.sources) == (4221, 1378)
    assert found.others == {"grammer": 18, "fluency": 0, "meaning": 84}
    with path.open(encoding="utf-8") as file:
        published = list(csv.DictReader(file))
    for criterion, column in (("grammer", "ave_g"), ("fluency", "ave_f"), ("meaning", "ave_m")):
        ours = [row.mean(criterion) for row in found.rows]  # type: ignore[arg-type]
        assert_allclose(ours, [float(row[column]) for row in published], atol=0.0051)
