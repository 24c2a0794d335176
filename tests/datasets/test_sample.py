"""The built-in sample is what it says: valid, consistent with itself, and varied."""

from __future__ import annotations

import json
import re
import tomllib
import unicodedata
from collections import Counter, defaultdict
from datetime import datetime
from itertools import pairwise
from pathlib import Path

import pytest

from errata.data import Corpus, apply_edits
from errata.datasets import sample_corpus, sample_judgments, sample_systems, sample_texts
from errata.datasets.load import SAMPLE_SYSTEMS, sample_file
from errata.io import check_alignment, read_text, write_m2
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


def test_alternatives_give_sentences_too(corpus: Corpus) -> None:
    for source, references in zip(corpus.sources, corpus.references, strict=True):
        for reference in references:
            for edit in reference.edits or ():
                for text in edit.alternatives:
                    assert text == " ".join(text.split())
                    assert text
                    assert text.split()[0][0].isupper() or edit.start > 0, (source, edit)


def test_the_corpus_is_varied(corpus: Corpus) -> None:
    references = [r for refs in corpus.references for r in refs]
    edits = [e for r in references for e in r.edits or ()]
    assert {r.annotator for r in references} == {0, 1, 2}
    present = Counter(r.annotator for r in references)
    assert all(0 < count < len(corpus) for count in present.values())
    assert sum(not r.edits for r in references) >= 10  # noop lines
    assert sum(bool(e.alternatives) for e in edits) >= 10
    assert sum(e.end == 0 for e in edits) >= 3  # insertions at the very start
    assert sum(e.kind == "R:WO" for e in edits) >= 8
    assert sum(not e.replacement for e in edits) >= 20
    assert sum(e.end - e.start > 1 and " " in e.replacement for e in edits) >= 20
    assert len({e.kind for e in edits}) >= 25
    text = " ".join(corpus.sources)
    for piece in ("é", "ï", "ü", "€", "“", '"', "&", "<b>", "?", "!", "n't"):
        assert piece in text
    lengths = [len(source.split()) for source in corpus.sources]
    assert min(lengths) <= 6
    assert max(lengths) >= 30


def test_reference_texts_are_the_first_two_annotators(corpus: Corpus) -> None:
    texts = sample_texts()
    assert texts.sources == corpus.sources
    for source, edits, plain in zip(
        corpus.sources, corpus.references, texts.references, strict=True
    ):
        assert [r.corrected(source) for r in edits[:2]] == [r.text for r in plain]


def test_the_systems_have_different_characters(corpus: Corpus) -> None:
    systems = {system.system: system.sentences for system in sample_systems()}
    assert tuple(systems) == SAMPLE_SYSTEMS
    for system in sample_systems():
        assert not [
            finding for finding in check_alignment(corpus, system) if finding.severity != "note"
        ]
    assert systems["nothing"] == corpus.sources

    def changed(name: str) -> int:
        return sum(a != b for a, b in zip(systems[name], corpus.sources, strict=True))

    def exact(name: str) -> int:
        return sum(
            any(text == r.corrected(source) for r in references)
            for text, source, references in zip(
                systems[name], corpus.sources, corpus.references, strict=True
            )
        )

    assert 0 < changed("cautious") < changed("eager")
    assert changed("cautious") < changed("fluent")
    assert exact("noisy") < exact("nothing") + 5
    assert exact("noisy") < exact("cautious") < exact("eager")
    assert exact("fluent") < exact("eager")


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


def test_judgments_are_varied() -> None:
    judgments = sample_judgments()
    seen: dict[str, list[int]] = defaultdict(list)
    for judgment in judgments:
        seen[judgment.judge].append(judgment.sentence)
        assert judgment.seconds is not None
        assert judgment.seconds > 0
    assert sorted(seen) == ["ana", "bo", "cleo"]
    for sentences in seen.values():
        assert len(set(sentences)) >= 40
        assert max(Counter(sentences).values()) == 2
        assert sum(count == 2 for count in Counter(sentences).values()) >= 5
    assert len(set(seen["ana"]) & set(seen["bo"]) & set(seen["cleo"])) >= 20
    assert len({(j.judge, j.item) for j in judgments}) == len(judgments)
    assert any(not j.groups for j in judgments)
    assert any(None in j.ranks for j in judgments)
    assert any(len(set(j.ranks)) < len(j.ranks) for j in judgments)
    assert any(len(group) > 1 for j in judgments for group in j.groups)
    assert any(0 < sum(map(len, j.groups)) < 5 for j in judgments)
    times = [datetime.fromisoformat(j.time or "") for j in judgments]
    assert times == sorted(times)
    assert all(time.tzinfo is not None for time in times)


def test_judges_like_fluent_and_dislike_noisy() -> None:
    wins: dict[str, Counter[str]] = defaultdict(Counter)
    games: dict[str, Counter[str]] = defaultdict(Counter)
    for judgment in sample_judgments():
        ranked = [
            (rank, name)
            for group, rank in zip(judgment.groups, judgment.ranks, strict=True)
            if rank is not None
            for name in group
        ]
        for rank, name in ranked:
            for other, _ in ranked:
                games[judgment.judge][name] += 1
                wins[judgment.judge][name] += rank < other
    for judge in games:
        rate = {name: wins[judge][name] / games[judge][name] for name in SAMPLE_SYSTEMS}
        assert min(rate, key=rate.__getitem__) == "noisy"
        assert rate["fluent"] > rate["cautious"] > rate["nothing"]


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
