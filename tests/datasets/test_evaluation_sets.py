"""Corpora with their outputs: folders, names of public data, and lists in TOML."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from errata.core.errors import DataWarning, InputError
from errata.datasets.evaluation_sets import evaluation_files, read_evaluation_sets
from errata.io.corpus import CorpusFiles
from errata.io.slices import read_skipped

GOLD = "S He go home .\nA 1 2|||V|||goes|||REQUIRED|||-NONE-|||0\n\n"


@pytest.fixture
def essays(tmp_path: Path) -> Path:
    folder = tmp_path / "essays"
    (folder / "outputs").mkdir(parents=True)
    (folder / "gold.m2").write_text(GOLD)
    (folder / "outputs" / "A.txt").write_text("He goes home .\n")
    (folder / "outputs" / "B.txt").write_text("He went home .\n")
    return folder


@pytest.fixture
def exams(tmp_path: Path) -> Path:
    folder = tmp_path / "exams"
    (folder / "refs").mkdir(parents=True)
    (folder / "source.txt").write_text("She like it .\n")
    for k in (0, 2, 10):
        (folder / "refs" / f"ref{k}.txt").write_text(f"She likes it{'!' * k} .\n")
    return folder


def test_a_folder_of_gold_and_one_of_texts(essays: Path, exams: Path) -> None:
    one, two = read_evaluation_sets([str(essays), f"tests={exams}"])
    assert (one.name, two.name, one.corpus.name) == ("essays", "tests", "essays")
    assert [h.system for h in one.systems] == ["A", "B"]
    assert [r.text for r in two.corpus.references[0]] == [
        f"She likes it{'!' * k} ." for k in (0, 2, 10)
    ]
    assert two.systems == ()


def test_references_beside_the_source_and_compressed_gold(essays: Path, exams: Path) -> None:
    (exams / "refs" / "ref0.txt").rename(exams / "ref0.txt")
    for file in (exams / "refs").iterdir():
        file.unlink()
    (exams / "refs").rmdir()
    assert evaluation_files(str(exams))[0].references == (str(exams / "ref0.txt"),)
    (essays / "gold.m2.gz").write_bytes(gzip.compress((essays / "gold.m2").read_bytes()))
    (essays / "gold.m2").unlink()
    assert len(read_evaluation_sets([str(essays)])[0].corpus) == 1


def test_gold_beside_texts_is_taken_and_it_is_said(essays: Path) -> None:
    (essays / "ref0.txt").write_text("He goes home .\n")
    with pytest.warns(DataWarning, match=r"gold\.m2 is read, and the reference texts"):
        assert evaluation_files(str(essays))[0].references == ()


TOML = """
[essays]
gold = "essays/gold.m2"
outputs = ["essays/outputs/*.txt"]

[exams]
title = "The second"
source = "exams/source.txt"
references = ["exams/refs/ref?.txt", "exams/refs/ref10.txt"]
[exams.outputs]
ours = "exams/refs/ref2.txt"
"""


def test_a_list_in_toml(essays: Path, exams: Path, tmp_path: Path) -> None:
    (tmp_path / "list.toml").write_text(TOML)
    one, two = read_evaluation_sets([str(tmp_path / "list.toml")])
    assert [h.system for h in one.systems] == ["A", "B"]
    assert [h.system for h in two.systems] == ["ours"]
    assert two.corpus.most_references == 3


def test_sentences_are_left_out_by_number(tmp_path: Path) -> None:
    (tmp_path / "s.txt").write_text("a b\nc d\ne f\ng h\n")
    (tmp_path / "skip.txt").write_text("2\n")
    (tmp_path / "list.toml").write_text(
        '[one]\nsource = "s.txt"\nreferences = "s.txt"\noutputs = "s.txt"\nskip = "1"\n'
        '[two]\nsource = "s.txt"\nreferences = "s.txt"\nskip = "skip.txt"\n'
    )
    place = str(tmp_path / "list.toml")
    one, two = read_evaluation_sets([place])
    assert (one.corpus.sources, two.corpus.sources) == (
        ("c d", "e f", "g h"),
        ("a b", "e f", "g h"),
    )
    assert one.systems[0].sentences == one.corpus.sources
    one, two = read_evaluation_sets([place], CorpusFiles(skipped=read_skipped("4")))
    assert (one.corpus.skipped, two.corpus.skipped) == ((0, 3), (1, 3))
    for said, skipped in (
        (": one: there is no sentence 5 to leave out: the text has 4", "5"),
        (": one: all 4 sentences are left out", "1-4"),
    ):
        with pytest.raises(InputError) as error:
            read_evaluation_sets([place], CorpusFiles(skipped=read_skipped(skipped)))
        assert str(error.value).startswith(f"{place}{said}")
    (tmp_path / "skip.txt").write_text("9\n")
    with pytest.raises(InputError, match=r"skip\.txt:1: two: there is no sentence 9"):
        read_evaluation_sets([place])
    (tmp_path / "list.toml").write_text('[one]\ngold = "g"\nsource = "s.txt"\nreferences = "s.txt"')
    with pytest.raises(InputError, match=r"list\.toml: one: both an M2 gold file and reference"):
        read_evaluation_sets([place])


def test_outputs_of_ones_own_on_public_data(
    tmp_path: Path, data_sets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ERRATA_DATA", str(data_sets))
    (tmp_path / "a.toml").write_text('[dev]\ndata = "jfleg"\noutputs = { mine = "mine.txt" }\n')
    (files,) = evaluation_files(str(tmp_path / "a.toml"))
    assert files.outputs == (("mine", str(tmp_path / "mine.txt")),)
    (whole,) = evaluation_files("jfleg")
    assert (files.source, files.references) == (whole.source, whole.references)
    assert len(whole.outputs) == 4


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no corpus in the file; write a table for each"),
        ("[a\n", "1: not TOML"),
        ('[a]\ngold = "x"\n\n[b]\nrefs = "y"\n', "5: b.refs: unknown key; known: gold"),
        ("[a]\ngold = 3\n", "2: a.gold: 3 is not a text or a list of texts"),
        ('gold = "x"\n', "1: gold: 'x' is not a table"),
        ('[a]\ngold = ["x", "y"]\n', "2: a.gold: 2 files; name one"),
        ('[a]\noutputs = "x"\n', "1: a: neither gold nor source"),
        ('[a]\ngold = "x*.m2"\n', "2: a.gold: no file matches x*.m2; paths are relative to"),
        ('[a]\ngold = "x"\noutputs = "' + "[" * 2000 + '*"\n', "3: a.outputs: no file matches ["),
        ('[a]\ngold = "x"\noutputs = "' + "9" * 400 + '*"\n', "3: a.outputs: no file matches 9"),
        ('[a]\ngold = "x"\nskip = 3\n', "3: a.skip: 3 is not a text"),
        ('[a]\ngold = "x"\nskip = ["3"]\n', "3: a.skip: ['3'] is not a text"),
        (
            '[a]\ndata = "jflegg"\n',
            "2: a.data: no collection of data 'jflegg'; did you mean 'jfleg'",
        ),
        ('[a]\ndata = ["jfleg"]\n', "2: a.data: ['jfleg'] is not a text"),
        ('[a]\ndata = "chollampatt18"\n', "chollampatt18 has no corpus: it has human, scores"),
    ],
)
def test_what_is_wrong_in_a_list_is_said_with_its_line(
    text: str, said: str, tmp_path: Path
) -> None:
    (tmp_path / "list.toml").write_text(text)
    with pytest.raises(InputError) as error:
        evaluation_files(str(tmp_path / "list.toml"))
    assert said in str(error.value)


def test_what_is_no_corpus(essays: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for place, said in (
        (str(tmp_path / "empty"), "empty: no corpus in the folder, which has nothing; put gold.m2"),
        ("jflegg", "'jflegg' is no folder, no .toml file and no name of public data; did you mean"),
        (str(tmp_path / "no.toml"), "no.toml"),
    ):
        with pytest.raises(InputError) as error:
            evaluation_files(place)
        assert said in str(error.value)
    (tmp_path / "one.toml").write_text('[a]\ngold = "essays/gold.m2"\n')
    with pytest.raises(InputError, match="'mine' would name every corpus of it"):
        evaluation_files(f"mine={tmp_path / 'one.toml'}")
    with pytest.raises(InputError, match="two corpora are called 'essays'"):
        read_evaluation_sets([str(essays), str(essays)])


def test_a_folder_wins_over_public_data_and_it_is_said(
    essays: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    essays.rename(tmp_path / "jfleg")
    monkeypatch.chdir(tmp_path)
    with pytest.warns(DataWarning, match="jfleg is a folder here and a name of public data"):
        assert evaluation_files("jfleg")[0].gold == "jfleg/gold.m2"
