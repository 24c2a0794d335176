"""Scores as JSON and TSV, as others publish them, and as people keep them."""

from __future__ import annotations

import lzma
import math
import sys
import zipfile
from io import StringIO
from itertools import product
from pathlib import Path

import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from command import errata
from errata.core.errors import DataWarning, InputError, MissingExtraError
from errata.data import Scores
from errata.datasets import sample_corpus
from errata.io import read_published_scores, read_scores, read_text, write_scores
from errata.io.atomic import write_lines
from errata.io.columns import ROLES
from errata.io.judgments import read_judgments
from errata.io.judgments.sheets import CRITERIA, read_ratings
from errata.io.scores import read_score_file, read_score_files

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


@pytest.mark.parametrize(
    ("systems", "sentences", "problem"),
    [
        (None, "A 1", r"sentences:1: 5 columns; a table of sentence scores has 6"),
        (None, "A 0 1, A 0 1", r"sentences:2: .* two scores for one sentence"),
        (None, "A 99999999 1", "without large gaps"),
        ("A 1, B 2", "A 0 1, B 0 1", r"2 scorers, .*: m, other"),
        (None, None, "no table given"),
    ],
)
def test_published_tables_that_do_not_fit(tmp_path, systems, sentences, problem):
    with pytest.raises(InputError, match=problem):
        read_published_scores(
            published(tmp_path / "systems", systems, "m"),
            sentence_path=published(tmp_path / "sentences", sentences, "other"),
        )


def published(path: Path, rows: str | None, metric: str) -> Path | None:
    """Write a table of a metric, whose rows are words separated by commas."""
    if rows is None:
        return None
    lines = ("\t".join([metric, "l", "t", *cells.split()]) for cells in rows.split(","))
    path.write_text("\n".join(lines) + "\n")
    return path


def test_sentences_that_some_systems_lack(tmp_path):
    systems = published(tmp_path / "systems", "A 1, B 2", "m")
    sentences = published(tmp_path / "sentences", "B 0 1, A 1 0.5, B 1 0.25", "m")
    with pytest.warns(DataWarning, match="1 of 2 sentences have no score of A"):
        scores = read_published_scores(systems, sentence_path=sentences)
    np.testing.assert_array_equal(scores.sentences, [[math.nan, 0.5], [1, 0.25]])


@pytest.mark.parametrize(
    ("system", "part", "problem"), [("A", "F", "two columns"), ("A\tB", "P", "holds a tab")]
)
def test_what_tsv_cannot_hold_needs_json(tmp_path, system, part, problem):
    scores = Scores("m", (system,), np.array([1.0]), parts={part: np.array([2.0])}, headline="F")
    with pytest.raises(InputError, match=problem):
        write_scores(scores, tmp_path / "s.tsv")


VALUES = [("A", 0.1), ("B", 0.4), ("C", 0.3)]


def written(folder: Path, text: str, name: str = "m.txt") -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize(
    "text",
    [
        "A\t0.1\nB\t0.4\nC\t0.3\n",
        "A,0.1\nB,0.4\nC,0.3\n",
        "A;0,1\nB;0,4\nC;0,3\n",
        "A 0.1\nB 0.4\nC 0.3\n",
        "system,score\nA,0.1\nB,0.4\nC,0.3\n",
        "0.1\tA\n0.4\tB\n0.3\tC\n",
        "# made by hand\nA\t0.1\nB\t0.4\nC\t0.3\n",
        "A,B,C\n0.1,0.4,0.3\n",
        "system,score\nA,0.1\nB,0.4\nC,0.3\n,\n,\n",
    ],
)
def test_two_columns(tmp_path: Path, text: str) -> None:
    (scores,) = read_score_file(written(tmp_path, text))
    assert (scores.scorer, list(scores), scores.sentences) == ("m", VALUES, None)


@pytest.mark.parametrize(("title", "first"), [("", 0), ("Unnamed: 0", 0), ("Nr", 1), ("#", 1)])
def test_row_numbers_are_no_scores(tmp_path: Path, title: str, first: int) -> None:
    rows = "".join(f"{k},{s},{v}\n" for k, (s, v) in enumerate(VALUES, first))
    with pytest.warns(DataWarning, match="not read"):
        (scores,) = read_score_file(written(tmp_path, f"{title},system,score\n{rows}"))
    assert (scores.scorer, list(scores), scores.sentences) == ("m", VALUES, None)
    (scores,) = read_score_file(written(tmp_path, f"{title},A,B\n{first},1,2\n{first + 1},3,5\n"))
    np.testing.assert_array_equal(scores.sentences, [[1, 3], [2, 5]])


def test_a_decimal_comma_is_no_separator(tmp_path: Path) -> None:
    (scores,) = read_score_file(written(tmp_path, "team 1,25\nteam 2,35\nteam 3,30\n"))
    assert scores.systems == ("team 1", "team 2", "team 3")


SENTENCES = [[1.0, 0.5], [0.25, 0.75]]


@pytest.mark.parametrize(
    "text",
    [
        "A\t0\t1\nA\t1\t0.5\nB\t0\t0.25\nB\t1\t0.75\n",
        "A\t1\t1\nA\t2\t0.5\nB\t1\t0.25\nB\t2\t0.75\n",  # from 1: nobody has a sentence 0
        "sentence,system,score\n0,A,1\n1,A,0.5\n0,B,0.25\n1,B,0.75\n",
        "A,B\n1,0.25\n0.5,0.75\n",
        "sentence;A;B\n1;1;0,25\n2;0,5;0,75\n",
        "sentence;A;B\n2;0,5;0,75\n1;1;0,25\n",
        "system\t0\t1\nA\t1\t0.5\nB\t0.25\t0.75\n",
    ],
)
def test_sentence_scores(tmp_path: Path, text: str) -> None:
    (scores,) = read_score_file(written(tmp_path, text))
    assert scores.systems == ("A", "B")
    np.testing.assert_array_equal(scores.sentences, SENTENCES)
    # No overall scores: means stand for them, and the signature says so.
    assert (scores.values.tolist(), scores.context) == ([0.75, 0.5], ("total:mean",))


def test_bare_numbers_need_names(tmp_path: Path) -> None:
    path = written(tmp_path, "0.1\n0.4\n0.3\n")
    with pytest.raises(InputError, match="3 scores for 2 names"):
        read_score_file(path, names=["A", "B"])
    (scores,) = read_score_file(path, names=["A", "B", "C"])
    assert list(scores) == VALUES
    with pytest.raises(InputError, match="names its systems itself"):
        read_score_file(written(tmp_path, "A 1\nX 2\n"), names=["A", "B"])
    (scores,) = read_score_file(written(tmp_path, "B 1\nA 2\n"), names=["A", "B"])
    assert list(scores) == [("B", 1.0), ("A", 2.0)]
    (table,) = read_score_file(written(tmp_path, "1 2\n3 4\n"), names=["A", "B"])
    np.testing.assert_array_equal(table.sentences, [[1, 3], [2, 4]])


CELLS = ["nan", "-INF", "1_000", "٠.٢", "true", "0x1", "1e999", "9" * 5000, "n/a", "35 %"]


def test_what_is_no_score_is_neither_a_score_nor_a_title(tmp_path: Path) -> None:
    """NaN had the rank 0.5 once, and gave a correlation of .873."""
    for cell in CELLS:
        for text, line in (
            (f"A\t0.1\nB\t{cell}\nC\t0.3\n", 2),
            (f"system,score\nA,0.1\nB,{cell}\nC,0.3\n", 3),
            (f"A\t{cell}\nB\t0.4\nC\t0.3\n" if cell not in ("true", "0x1", "٠.٢") else "", 1),
        ):
            if text:
                with pytest.raises(InputError, match=f"m.txt:{line}: '") as caught:
                    read_score_file(written(tmp_path, text))
                assert len(str(caught.value)) < 400
    for title in ("F0.5", "M2", "score (%)", "r"):
        (scores,) = read_score_file(written(tmp_path, f"who\t{title}\nA\t0.4\nB\t0.3\n"))
        assert scores.systems == ("A", "B")


@pytest.mark.parametrize("value", ["true", '"3"', "NaN", "Infinity", "null", '"inf"', "1e999"])
def test_what_is_no_score_in_json(tmp_path: Path, value: str) -> None:
    write_scores(Scores("m", ("A", "B"), np.array([1.0, 2.0])), tmp_path / "s.json")
    stored = (tmp_path / "s.json").read_text()
    path = written(tmp_path, stored.replace("[1.0, 2.0]", f"[1.0, {value}]"), "t.json")
    with pytest.raises(InputError, match=r"t.json"):
        read_score_file(path)
    path = written(tmp_path, stored.replace('"values"', '"values": [3.0, 4.0], "values"'))
    with pytest.raises(InputError, match="the key 'values' stands there twice"):
        read_score_file(path)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("A 1\nA 2\n", "has two scores"),
        ("A 0,1\nB 0,45\nC 0,3\n", r"m\.txt:1: 'A 0,1' may be one score or two cells"),
        ("A\t0,1\nB\t0,45\nC\t0,3\n", r"m\.txt:1: no column of scores; write 0\.1, or put semic"),
        ("0.1\n0.4\n0.3\n", r"3 scores without the systems.*--names"),
        ("# by hand\nA\t0.1\n# today\nB\tx\nC\t0.3\n", r"m\.txt:4: 'x'"),  # remarks are lines
        ("sentence\n0\n1\n", "no column of scores"),
        (HEADING + "m2\ta\t0\t0.5\nm2\ta\t1\t0.7\n", "no overall score of a"),
        ("sentence,A,B\n0,1,500\n1,2,700\n", r"give a row per score \(sentence,system,score\)"),
        *((text, "no scores") for text in (",", ";\n", " ;\n\n", "system,score\n,\n")),
    ],
)
def test_files_that_are_refused(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        read_score_file(written(tmp_path, text))


def test_names(tmp_path: Path) -> None:
    path = written(tmp_path, "A 1\nB 2\n")
    (scores,) = read_score_file(f"ours={path}")
    assert (scores.scorer, scores.name, scores.label) == ("ours",) * 3
    with pytest.raises(InputError, match=r"two inputs hold scores called 'm'.*NAME=FILE"):
        read_score_files([path, path])
    assert len(read_score_files([path, f"ours={path}"])) == 2
    path = written(tmp_path, "Ren\u00e9\t1\nRene\u0301\t2\n")
    with pytest.warns(DataWarning, match="differ in blanks or Unicode form only"):
        read_score_file(path)
    with pytest.warns(DataWarning, match=r"'A\\nB' has a line end or a tab in it"):
        read_score_file(written(tmp_path, '"A\nB",1\nC,2\n'))


def test_two_tables_of_one_metric(tmp_path: Path) -> None:
    systems = written(tmp_path, "A 1\nB 2\n", "s")
    sentences = written(tmp_path, "B,A\n1,0\n0,1\n", "t")
    (scores,) = read_score_file(f"m={systems},{sentences}")
    assert scores.values.tolist() == [1, 2]
    np.testing.assert_array_equal(scores.sentences, [[0, 1], [1, 0]])
    other = written(tmp_path, "A,C\n1,2\n3,4\n", "u")
    with pytest.raises(InputError, match="not of the same systems: B, C"):
        read_score_file(f"{systems},{other}")


def test_lower_is_better(tmp_path: Path) -> None:
    path = written(tmp_path, "A 1\nB 2\n")
    (scores,) = read_score_files([f"wer={path}"], lower=["wer"])
    assert scores.values.tolist() == [-1, -2]
    assert "lower is better" in scores.signature
    assert read_score_files([path], lower=["*"])[0].values.tolist() == [-1, -2]
    with pytest.raises(InputError, match="no scores called 'ter'; there are: wer"):
        read_score_files([f"wer={path}"], lower=["ter"])
    (ranks,) = read_score_file(written(tmp_path, "system,rank\nA,1\nB,2\n"))
    assert ranks.values.tolist() == [-1, -2]


def test_spreadsheets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (("system", "score"), ("A", 0.1), ("B", 0.4), ("C", 0.3), (None, None)):
        book.active.append(row)
    book.save(tmp_path / "m.xlsx")
    (scores,) = read_score_file(tmp_path / "m.xlsx")
    assert list(scores) == VALUES
    with pytest.raises(InputError, match=r"this is a spreadsheet \(.xlsx\)"):
        read_text(tmp_path / "m.xlsx")
    book.create_sheet("more").append(("x", 1))
    book.save(tmp_path / "m.xlsx")
    with pytest.raises(InputError, match=r"2 sheets with content \(Sheet, more\)"):
        read_score_file(tmp_path / "m.xlsx")
    (tmp_path / "cut.xlsx").write_bytes((tmp_path / "m.xlsx").read_bytes()[:500])
    with pytest.raises(InputError, match="cannot read the spreadsheet"):
        read_score_file(tmp_path / "cut.xlsx")
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'errata-gec\[xlsx\]'"):
        read_score_file(tmp_path / "cut.xlsx")


OTHER_FILES = {
    "spreadsheet": b"\xd0\xcf\x11\xe0\xff",
    "zstd": b"\x28\xb5\x2f\xfd\xff",
    "PDF": b"%PDF-1.5\n\xff",
    "xz -d": lzma.compress(b"A 1\n", format=lzma.FORMAT_ALONE),
    "compress;": b"\x1f\x9d\x90abc",
    "lz4": b"\x04\x22\x4d\x18\xff",
    "RAR": b"Rar!\x1a\x07\xff",
    "Parquet": b"PAR1\x15\xff",
    "picture": b"\x89PNG\r\n\x1a\n",
}


@pytest.mark.parametrize("kind", OTHER_FILES)
def test_other_files(tmp_path: Path, kind: str) -> None:
    """Advice on encodings is no help with a spreadsheet."""
    (tmp_path / "f").write_bytes(OTHER_FILES[kind])
    with pytest.raises(InputError, match=kind):
        read_text(tmp_path / "f")


def test_other_spreadsheets(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "s.ods", "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
    for read in (read_score_file, read_text):
        with pytest.raises(InputError, match=r"\.ods.*CSV"):
            read(tmp_path / "s.ods")


@pytest.mark.parametrize("form", ["table", "markdown", "latex", "html"])
def test_tables_for_readers_are_named_as_such(tmp_path: Path, form: str) -> None:
    shown = errata("score", "--sample", "-m", "bleu", "--resamples", 0, "--format", form).stdout
    with pytest.raises(InputError, match=r"holds a table for readers; .* --json"):
        read_score_file(written(tmp_path, shown))


@pytest.mark.parametrize("more", [(), ("--by-sentence",), ("--compare",), ("--safe-cells",)])
def test_odd_names_come_back_from_what_is_printed(tmp_path: Path, more: tuple[str, ...]) -> None:
    """A quotation mark does not swallow the rows that follow it, here and in pandas."""
    names = ['"a', '"b"', 'c"', '""', "+d"]
    corpus = sample_corpus()
    right = [r[0].corrected(s) for r, s in zip(corpus.references, corpus.sources, strict=True)]
    write_lines(corpus.sources, tmp_path / "source.txt")
    for i in range(len(names)):
        write_lines([*right[: 10 * i], *corpus.sources[10 * i :]], tmp_path / f"{i}.txt")
    done = errata(
        *("score", "--source", "source.txt", "--refs", "4.txt", "-m", "gleu", "-m", "m2"),
        *(f"{name}={i}.txt" for i, name in enumerate(names)),
        *("--resamples", 40, "--format", "tsv", *more),
        cwd=tmp_path,
    )
    scores = read_score_file(written(tmp_path, done.stdout))
    assert [each.name for each in scores] == ["gleu", "m2"]
    assert all({*each.systems} == {*names} for each in scores)
    if "--safe-cells" not in more:
        frame = pandas.read_csv(StringIO(done.stdout), sep="\t")
        assert {*frame.system.dropna()} == {*names}
        assert len(frame) == len(done.stdout.splitlines()) - 1


def test_published_human_scores(data_sets: Path) -> None:
    seeda = next(data_sets.glob("tmu-nlp/SEEDA/*"))
    names = sorted(path.stem for path in (seeda / "outputs" / "all").iterdir())
    for path in (seeda / "scores" / "human").iterdir():
        (scores,) = read_score_file(path, names=names)
        assert len(scores) == 15
        assert min(scores, key=lambda pair: pair[1])[0] == "INPUT"
    gmeg = next(data_sets.glob("grammarly/GMEG/*/data/dev"))
    for part in ("fce", "wiki"):
        with pytest.warns(DataWarning, match="sentences have no score of any system"):
            (singles,) = read_score_file(gmeg / f"{part}-segment-scores.csv")
        (overall,) = read_score_file(gmeg / f"{part}-corpus-scores.csv")
        assert singles.systems == overall.systems
        np.testing.assert_allclose(singles.values, overall.values, rtol=1e-12)


@pytest.mark.parametrize(
    ("judge", "sentence"),
    [*product(ROLES["judge"], ["sentence"]), *product(["judge"], ROLES["sentence"])],
)
def test_judges_are_judges_and_no_systems(tmp_path: Path, judge: str, sentence: str) -> None:
    """Judges called evaluators once became systems, and index no sentence."""
    path = written(tmp_path, f"{judge},{sentence},A,B\nann,1,50,80\nbob,1,40,60\nann,2,10,20\n")
    (scores,) = read_score_file(path)
    assert scores.systems == ("A", "B")
    assert scores.sentences is not None
    assert scores.sentences.tolist() == [[45, 10], [70, 20]]
    found = list(read_judgments(path, base=1))
    assert [(j.judge, j.sentence) for j in found] == [("ann", 0), ("bob", 0), ("ann", 1)]
    assert all(j.groups == (("A",), ("B",)) and j.ranks == (2, 1) for j in found)
    path.write_text(f"{judge},A,B\nann,50,80\nbob,40,60\n")
    with pytest.raises(InputError, match="no column says which sentence was rated"):
        read_score_file(path)


@pytest.mark.parametrize("system", ROLES["system"])
def test_titles_of_long_tables(tmp_path: Path, system: str) -> None:
    path = tmp_path / "t.csv"
    for title in ROLES["sentence"]:
        path.write_text(f"{title},{system},score\n0,A,1\n1,A,2\n0,B,3\n1,B,4\n")
        (scores,) = read_score_file(path)
        assert scores.sentences is not None
        assert scores.sentences.tolist() == [[1, 2], [3, 4]]
        assert len(list(read_judgments(path))) == 2


def test_an_index_that_numbers_rows_gives_way_to_a_sentence(tmp_path: Path) -> None:
    path = written(tmp_path, "index,judge,sentence,system,score\n0,x,7,A,1\n1,x,7,B,3\n2,x,9,A,1\n")
    with pytest.warns(DataWarning, match="not read: index"):
        assert [j.sentence for j in read_judgments(path)] == [7, 9]
    path.write_text("index,sentence,system,score\n0,1,A,1\n1,1,B,3\n2,2,A,1\n3,2,B,5\n")
    with pytest.warns(DataWarning, match="not read: index"):
        (scores,) = read_score_file(path)
    assert scores.sentences is not None
    assert scores.sentences.tolist() == [[1, 1], [3, 5]]


def test_titles_of_rated_outputs(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    roles = ("source", "output", *CRITERIA, "system")
    for titles in zip(*(2 * ROLES[role] + ROLES[role][:1] for role in roles), strict=False):
        path.write_text(",".join(titles) + "\nI is,I am,4,3,2,A\n")
        (row,) = read_ratings(path).rows
        assert (row.source, row.output, row.systems) == ("I is", "I am", ("A",))
        assert row.ratings == {"grammer": (4,), "fluency": (3,), "meaning": (2,)}


def test_ratings_of_one_system_are_not_scores_of_several(tmp_path: Path) -> None:
    path = written(tmp_path, "judge,sentence,A\nann,0,3\nbob,0,4\nann,1,5\n")
    (scores,) = read_score_file(path, names=("x", "y", "z"))
    assert (scores.systems, scores.values.tolist()) == (("A",), [4.25])


@pytest.mark.parametrize(
    "title",
    ["n", "idx", "doc", "age", "length", "words", "gold", "timestamp", "fluency", "Unnamed: 4"]
    + ["mean", "total", "sent at", "session", "confidence"],
)
def test_columns_that_are_no_systems_are_refused(tmp_path: Path, title: str) -> None:
    """By their title or, as of "sent at", by their scale: they once were ranked first."""
    path = tmp_path / "t.csv"
    rows = [f"{k},{70 + k},{20 - k},{1_700_000_000 + 10 * k}" for k in range(3)]
    path.write_text("\n".join([f"sentence,A,B,{title}", *rows]) + "\n")
    for read in (read_score_file, lambda path: list(read_judgments(path))):
        with pytest.raises(InputError, match="taken for a system"):
            read(path)


@pytest.mark.parametrize("judge", ["grader", "Reviewer ID", "participant"])
def test_judges_by_other_titles_are_no_systems(tmp_path: Path, judge: str) -> None:
    path = written(
        tmp_path, f"{judge},sentence,A,B\nann,0,70,20\nann,1,60,30\nbob,0,80,20\nbob,1,6,3\n"
    )
    (scores,) = read_score_file(path)
    assert scores.systems == ("A", "B")
    assert {each.judge for each in read_judgments(path)} == {"ann", "bob"}


def test_scores_on_other_scales_are_read_from_rows(tmp_path: Path) -> None:
    path = written(tmp_path, "sentence,system,score\n0,A,1\n0,B,500\n1,A,2\n1,B,700\n")
    assert read_score_file(path)[0].systems == ("A", "B")
    assert len(list(read_judgments(path))) == 2


@pytest.mark.parametrize("judge", ["", "judge,"])
def test_comments_do_not_make_systems_of_judges_or_comments(tmp_path: Path, judge: str) -> None:
    path = tmp_path / "t.csv"
    who = "ann," if judge else ""
    path.write_text(f"{judge}sentence,A,B,comment\n{who}0,70,20,x\n{who}1,60,30,y\n{who}2,6,3,y\n")
    with pytest.warns(DataWarning, match="not read: comment"):
        (scores,) = read_score_file(path)
    assert scores.systems == ("A", "B")
    # A text that repeats the names of systems names them, whatever it is called.
    path.write_text("sentence,who,score,second\n0,A,1,5\n0,B,2,6\n1,A,3,7\n1,B,4,8\n")
    assert all(each.systems == ("A", "B") for each in read_score_file(path))
