"""The built-in sample is what it says: valid, consistent with itself, and varied."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from errata.data import Corpus
from errata.datasets import sample_corpus, sample_judgments, sample_systems, sample_texts
from errata.io import write_m2
from errata.io.judgments import write_judgments

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "src/errata/datasets/sample"


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return sample_corpus()


def test_the_gold_file_survives_a_round_trip(corpus: Corpus, tmp_path: Path) -> None:
    write_m2(corpus, tmp_path / "again.m2")
    assert (tmp_path / "again.m2").read_bytes() == (FOLDER / "gold.m2").read_bytes()


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
