"""Reference sets: operations, agreement, annotators as systems."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from command import errata
from errata.core.errors import InputError
from errata.data import Corpus, Edit, Hypotheses, Reference
from errata.datasets import sample_corpus
from errata.metrics import parse
from errata.references.study import (
    annotators_as_systems,
    curve_facts,
    reference_curve,
    self_check,
    study_references,
)
from toy import Toy

CORPUS = Corpus(
    ("He go home .", "Fine .", "I likes tea ."),
    (
        (Reference(0, text="He goes home ."), Reference(1, text="He went home now .")),
        (Reference(0, text="Fine ."), Reference(1, text="Fine .")),
        (Reference(0, (Edit(1, 2, "like"),)),),
    ),
)


def test_study() -> None:
    study = study_references(CORPUS, names=("ann", "bob"))
    ann, bob = study.sets
    assert (ann.name, ann.sentences, ann.changed) == ("ann", 3, 2 / 3)
    assert ann.ster == pytest.approx(2 / 3)
    assert (bob.sentences, bob.insertions, bob.substitutions) == (2, 0.5, 0.5)
    (pair,) = study.pairs
    assert (pair.first, pair.second, pair.sentences) == ("ann", "bob", 2)
    assert (pair.identical, pair.identical_unchanged, pair.ster) == (0.5, 1.0, 1.0)
    (worst,) = study.disagreements
    assert (worst.sentence, worst.distance) == (0, 0.5)


def test_annotators_as_systems_meet_only_the_others() -> None:
    ann, bob = annotators_as_systems(CORPUS, Toy(), names=("ann", "bob"), resamples=0)
    assert (ann.systems, bob.systems) == (("ann",), ("bob",))
    assert ann["ann"] == bob["bob"] == 0.5  # of the two sentences both corrected, one is the same
    with pytest.raises(InputError, match="against the others"):
        annotators_as_systems(CORPUS.keep_annotators(0), Toy())


def test_self_check() -> None:
    assert [s.values[0] for s in self_check(CORPUS, Toy())] == [1.0, 1.0]
    sample = self_check(sample_corpus(), parse("gleu"))
    np.testing.assert_allclose([s.values[0] for s in sample], 1.0, rtol=1e-12)


def test_of_many_subsets_twenty_are_tried() -> None:
    texts = [[f"a word {k} ." for _ in range(3)] for k in range(8)]
    corpus = Corpus.from_texts(["a word ."] * 3, texts)
    points = reference_curve(corpus, Toy(), [Hypotheses("A", ("a word 1 .",) * 3)])
    assert [point.subsets for point in points] == [8, 20, 20, 20, 20, 20, 8, 1]


def test_curve() -> None:
    systems = [Hypotheses("A", ("He went home now .", "Fine .", "x"))]
    one, two = reference_curve(CORPUS, Toy(), systems)
    assert (one.references, one.subsets, two.subsets) == (1, 2, 1)
    assert one.values == ((0.5 + 1.0) / 2,)  # alone ann accepts one of two, bob both
    assert two.values == (1.0,)


def test_curve_takes_the_edits_that_came_with_an_output() -> None:
    """Found anew they would be others; and those of two origins are not set side by side."""
    own = Hypotheses("A", ("He goes home .", "Fine .", "x"), ((Edit(0, 2, "He goes"),), (), ()))
    text = Hypotheses("B", own.sentences)
    metric = parse("edits")
    assert reference_curve(CORPUS, metric, [own])[1].values == (0.0,)
    assert reference_curve(CORPUS, metric, [text])[1].values > (0.5,)
    assert curve_facts(CORPUS, metric, [own]) == ("edits:given", "sentences:2", "references:2")
    with pytest.raises(InputError, match="the edits of A came with the file"):
        reference_curve(CORPUS, metric, [own, text])


@pytest.mark.slow
def test_expert_rewrites(data_sets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sakaguchi et al. 2016, Table 4: expert minimal edits, 38.7 % identical, sTER 1.7."""
    from errata.datasets import fetch
    from errata.io import read_text

    monkeypatch.setenv("ERRATA_DATA", str(data_sets))
    merged = set(map(int, read_text(fetch.path("sakaguchi16", "merged_ids"))))
    sets = [read_text(fetch.path("sakaguchi16", f"expert_minimal{x}")) for x in "AB"]
    keep = [i for i in range(len(sets[0])) if i + 1 not in merged]
    texts = [[s[i] for i in keep] for s in sets]
    study = study_references(Corpus.from_texts(texts[0], texts), threads=1)
    assert len(keep) == 1278
    assert round(100 * study.pairs[0].identical, 1) == 38.7
    assert round(study.pairs[0].ster, 3) == 1.674


def test_command_from_files(tmp_path: Path) -> None:
    for name, text in (("s", "He go .\n"), ("r", "He goes .\n")):
        (tmp_path / name).write_text(text)
    line = ("references", "--source", "s", "--refs", "r")
    assert "one reference set" in errata(*line, cwd=tmp_path, code=2).stderr
    assert "What annotators change" in errata(*line, "--refs", "s", cwd=tmp_path).stdout


def test_annotators_are_called_as_their_files(tmp_path: Path) -> None:
    """In every table that names them."""
    for name, text in (("s", "a b c"), ("x.txt", "a d c"), ("y.txt", "a d e")):
        (tmp_path / name).write_text(f"{text} .\nf g .\n")
    given = ("references", "--source", "s", "--refs", "x.txt", "--refs", "y.txt", "-m", "gleu")
    done = errata(*given, "--resamples", "0", "--json", cwd=tmp_path)
    tables = [table["rows"] for table in json.loads(done.stdout)["tables"]]
    named = [{row["annotator"] for row in rows} for rows in tables if "annotator" in rows[0]]
    assert len(named) > 1
    assert all(names == {"x.txt", "y.txt"} for names in named), named
