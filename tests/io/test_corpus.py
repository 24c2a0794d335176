"""From the files a user names to a corpus and systems."""

from __future__ import annotations

from pathlib import Path

import pytest

from errata.core.errors import DataWarning, InputError
from errata.data import Edit, Reference
from errata.io import read_corpus, read_hypotheses
from errata.io.outputs import system_name

M2 = (
    "S He go home .\nA 1 2|||V|||goes|||REQUIRED|||-NONE-|||0\n"
    "A 1 2|||V|||went|||REQUIRED|||-NONE-|||3\n\nS Fine .\n"
    "A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0\n"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "gold.m2").write_text(M2)
    (tmp_path / "s.txt").write_text("He go home .\nFine .\n")
    (tmp_path / "r0.txt").write_text("He goes home .\n\n")
    (tmp_path / "r1.txt").write_text("<none>\nFine .\n")
    return tmp_path


def test_annotators_are_chosen_by_number(folder):
    with pytest.warns(DataWarning, match="gold: 1 sentences have no annotation by annotator 3"):
        corpus = read_corpus(gold=folder / "gold.m2", annotators=[3])
    assert corpus.references == (
        (Reference(3, (Edit(1, 2, "went", "V"),)),),
        (Reference(3, (), implied=True),),
    )
    with pytest.raises(InputError, match="no annotator to keep"):
        read_corpus(gold=folder / "gold.m2", annotators=[])
    with pytest.raises(InputError, match=r"no annotator 1; it has: 0, 3"):
        read_corpus(gold=folder / "gold.m2", annotators=[1])


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("a/AMU", "AMU"),
        ("AMU.txt", "AMU"),
        ("x/AMU.out.gz", "AMU"),
        ("run.v1.2", "run.v1.2"),
        ("-", "stdin"),
        (".txt", ".txt"),
        ("ours.m2", "ours"),
    ],
)
def test_system_names_come_from_file_names(path, name):
    assert system_name(path) == name


def test_hypotheses_are_guarded_with_a_corpus(folder):
    corpus = read_corpus(gold=folder / "gold.m2")
    read_hypotheses(folder / "s.txt", corpus=corpus)
    with pytest.warns(DataWarning, match=r"r0\.txt:2: the line is empty"):
        read_hypotheses(folder / "r0.txt", corpus=corpus)
    (folder / "long").write_text("He go home .\nFine .\n\n")
    assert len(read_hypotheses(folder / "long")) == 3
    with pytest.raises(InputError, match=r"long:3: 3 lines, but the corpus has 2 .* is blank"):
        read_hypotheses(folder / "long", corpus=corpus)


def test_hypotheses_as_edits(folder):
    path = folder / "sys.m2"
    path.write_text(
        "S He go home .\nA 1 2|||V|||goes|||REQUIRED|||-NONE-|||0\n"
        "A 4 4|||P|||!|||REQUIRED|||-NONE-|||0\n\nS Fine .\n"
    )
    hypotheses = read_hypotheses(path, corpus=read_corpus(gold=folder / "gold.m2"))
    assert hypotheses.system == "sys"
    assert hypotheses.sentences == ("He goes home . !", "Fine .")
    assert hypotheses.edits == ((Edit(1, 2, "goes", "V"), Edit(4, 4, "!", "P")), ())


def test_hypotheses_as_edits_of_another_source(folder):
    path = folder / "sys.m2"
    path.write_text("S He go home .\n\nS Other .\n")
    corpus = read_corpus(gold=folder / "gold.m2")
    with pytest.raises(InputError, match=r"sys\.m2:3: source sentence 2 differs"):
        read_hypotheses(path, corpus=corpus)
    path.write_text("S He go home .\n")
    with pytest.raises(InputError, match="1 source sentences, but the corpus has 2"):
        read_hypotheses(path, corpus=corpus)
