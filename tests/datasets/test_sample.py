"""The built-in sample is what it says: valid, consistent with itself, and varied."""

from __future__ import annotations

import json
import re
import tomllib
import unicodedata
from itertools import pairwise
from pathlib import Path

import pytest

from errata.data import Corpus, apply_edits
from errata.datasets import sample_corpus, sample_judgments, sample_systems, sample_texts
from errata.datasets.load import sample_file
from errata.io import read_text, write_m2
from errata.io.judgments import write_judgments

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "src/errata/datasets/sample"
KINDS = re.compile(
    r"(M|R|U):(ADJ(:FORM)?|ADV|CONJ|CONTR|DET|MORPH|NOUN(:(INFL|NUM|POSS))?|ORTH|"
    r"OTHER|PART|PREP|PRON|PUNCT|SPELL|VERB(:(FORM|INFL|SVA|TENSE))?|WO)"
)


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return sample_corpus()


def test_every_text_is_tokenised_and_normalised(corpus: Corpus) -> None:
    for path in sorted(FOLDER.glob("*.txt")):
        lines = read_text(path)
        assert len(lines) == len(corpus) >= 64
        for line in lines:
            assert line == " ".join(line.split()), path.name
            assert line == unicodedata.normalize("NFC", line)
            assert line[0].isupper(), line
            assert line.endswith((".", "?", "!", '"')), line
    assert read_text(FOLDER / "source.txt") == corpus.sources
    assert len(set(corpus.sources)) == len(corpus)


def test_the_gold_file_survives_a_round_trip(corpus: Corpus, tmp_path: Path) -> None:
    write_m2(corpus, tmp_path / "again.m2")
    assert (tmp_path / "again.m2").read_bytes() == (FOLDER / "gold.m2").read_bytes()


def test_the_edits_are_sound(corpus: Corpus) -> None:
    for source, references in zip(corpus.sources, corpus.references, strict=True):
        tokens = source.split()
        assert len(references) in {2, 3}
        for reference in references:
            assert not reference.implied
            assert reference.edits is not None
            corrected = apply_edits(tokens, reference.edits)
            assert (corrected != tokens) == bool(reference.edits)
            assert corrected[0][0].isupper()
            assert corrected[-1] in {".", "?", "!", '"'}
            doubled = [word for word, following in pairwise(corrected) if word == following]
            assert not doubled, corrected
            for earlier, later in pairwise(reference.edits):
                assert earlier.end <= later.start
            for edit in reference.edits:
                original = " ".join(tokens[edit.start : edit.end])
                assert KINDS.fullmatch(edit.kind), edit
                assert original not in edit.replacements
                assert len(set(edit.replacements)) == len(edit.replacements)
                before, after = edit.end - edit.start, len(edit.replacement.split())
                if edit.kind[0] == "M":
                    assert after > before
                elif edit.kind[0] == "U":
                    assert after < before
                else:
                    assert before
                    assert after


def test_reference_texts_are_the_first_two_annotators(corpus: Corpus) -> None:
    texts = sample_texts()
    assert texts.sources == corpus.sources
    for source, edits, plain in zip(
        corpus.sources, corpus.references, texts.references, strict=True
    ):
        assert [r.corrected(source) for r in edits[:2]] == [r.text for r in plain]


def test_judgments_group_identical_outputs() -> None:
    outputs = {system.system: system.sentences for system in sample_systems()}
    for judgment in sample_judgments():
        texts = []
        for group in judgment.groups:
            found = {outputs[name][judgment.sentence] for name in group}
            assert len(found) == 1, judgment
            text = found.pop()
            same = {name for name in outputs if outputs[name][judgment.sentence] == text}
            assert set(group) == same, judgment
            texts.append(text)
        assert len(set(texts)) == len(texts), judgment
        given = {rank for rank in judgment.ranks if rank is not None}
        assert given == set(range(1, len(given) + 1)), judgment
        assert len(judgment.groups) != 1


def test_the_judgments_survive_a_round_trip(tmp_path: Path) -> None:
    write_judgments(sample_judgments(), tmp_path / "again.jsonl")
    again = (tmp_path / "again.jsonl").read_text("utf-8").splitlines()
    lines = (FOLDER / "judgments.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line) for line in again] == [json.loads(line) for line in lines]


def test_every_file_is_part_of_the_package() -> None:
    patterns = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"][
        "package-data"
    ]["errata"]
    package = ROOT / "src/errata"
    packed = {path for pattern in patterns for path in package.glob(pattern)}
    assert set(FOLDER.iterdir()) <= packed
    assert package / "datasets/catalogue.toml" in packed


def test_the_readme_says_that_it_is_made_up() -> None:
    with sample_file("README.md") as path:
        text = " ".join(path.read_text("utf-8").split())
    assert "made up" in text
    assert "prove nothing" in text
    assert all(f"`{path.name}`" in text for path in FOLDER.iterdir() if path.name != "README.md")
