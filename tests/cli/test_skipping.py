"""--skip-sentences: the numbers are those of files that never had these sentences."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from collecting import fill_with_sample
from command import run, tables
from errata.core.errors import DataWarning, InputError
from errata.data import Corpus, Hypotheses
from errata.datasets import sample_corpus, sample_systems
from errata.datasets.load import SAMPLE_SYSTEMS
from errata.io import read_score_file, read_scores, write_scores
from errata.io.scores import drop_sentences
from errata.io.slices import read_skipped, skip_signature
from errata.scoring.evaluate import evaluate

OUT = (2, 6, 7, 8, 71)  # 3,7-9,72
SKIP = "--skip-sentences 3,7-9,72"
OUTPUTS = " ".join(f"{name}.txt" for name in SAMPLE_SYSTEMS)
TEXTS = "--source source.txt --refs reference0.txt --refs reference1.txt"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample, and in `fewer` the same without five sentences."""
    folder = fill_with_sample(tmp_path_factory.mktemp("skipping"))
    fewer = folder / "fewer"
    fewer.mkdir()
    for path in (*folder.glob("*.txt"), folder / "gold.m2"):
        end = "\n\n" if path.suffix == ".m2" else "\n"
        parts = path.read_text("utf-8").removesuffix(end).split(end)
        kept = [part for i, part in enumerate(parts) if i not in OUT]
        (fewer / path.name).write_text(end.join(kept) + end, "utf-8")
    left = []
    for row in map(json.loads, (folder / "judgments.jsonl").read_text("utf-8").splitlines()):
        if row["sentence"] not in OUT:
            now = row["sentence"] - sum(i < row["sentence"] for i in OUT)
            left.append(json.dumps(row | {"sentence": now}) + "\n")
    (fewer / "judgments.jsonl").write_text("".join(left), "utf-8")
    (folder / "out.txt").write_text("# left out\n72\n\n 7-8 , 9 # three\n3\n")
    return folder


def rows(line: str, cwd: Path) -> list[object]:
    return [(name, table["rows"]) for name, table in tables(line, cwd=cwd).items()]


@pytest.mark.parametrize(
    "line",
    [
        f"score --gold gold.m2 {OUTPUTS} --resamples 30",
        f"references {TEXTS} --resamples 20 --worst 0 -m gleu eager.txt",
        f"difficulty --gold gold.m2 {OUTPUTS} --resamples 0 --examples 0",
        "rank judgments.jsonl --resamples 30",
        "agree judgments.jsonl",
        "plan judgments.jsonl",
        "stress gleu --gold gold.m2 --resamples 0",
        f"check --gold gold.m2 {OUTPUTS}",
        f"check {TEXTS} {OUTPUTS}",
        f"meta {TEXTS} {OUTPUTS} -m gleu --judgments judgments.jsonl --resamples 30 --over both",
    ],
)
def test_as_if_the_files_had_never_had_them(made: Path, line: str) -> None:
    first = -1 if line.startswith("check") else 0  # findings of whole files are of whole files
    fewer = rows(line, made / "fewer")[first:]
    assert rows(f"{line} --skip-sentences out.txt", made)[first:] == fewer
    done = run(f"{line} {SKIP} --json", cwd=made)
    found = json.loads(done.stdout)["tables"]
    assert [(table["name"], table["rows"]) for table in found][first:] == fewer
    assert "skip_sentences:3,7-9,72" in found[0]["signature"]
    if "judgments.jsonl" in line:
        count, left = ((made / f"{name}judgments.jsonl").read_text() for name in ("", "fewer/"))
        assert f"note: {count.count(chr(10)) - left.count(chr(10))} judgments" in done.stderr


def test_what_is_left_keeps_its_number() -> None:
    more = "--sample --resamples 0 --skip-sentences 1-60"
    (table,) = tables(f"score -m gleu --by-sentence {more}").values()
    assert [row["sentence"] for row in table["rows"][:12]] == list(range(61, 73))
    found = tables(f"references -m gleu {more}")["disagreements"]["rows"]
    assert {row["sentence"] for row in found} - {None} <= {*range(61, 73)}
    found = tables(f"difficulty {more}")["hardest"]["rows"]
    assert {row["sentence"] for row in found} <= {*range(61, 73)}
    shown = run(f"difficulty {more} --terminal --sentences 50-61").stdout
    assert {line.split("/")[0] for line in shown.splitlines()} == {"61"}


@pytest.mark.parametrize("form", ["json", "tsv"])
def test_printed_sentence_scores_are_read_with_their_numbers(made: Path, form: str) -> None:
    scored = f"{TEXTS} {OUTPUTS} -m gleu {SKIP} --resamples 0"
    printed = run(f"score {scored} --by-sentence --format {form}", cwd=made).stdout
    (made / f"printed.{form}").write_text(printed, "utf-8")
    people = f"--judgments judgments.jsonl --level sentence --resamples 0 {SKIP}"
    read = rows(f"meta --scores gleu=printed.{form} {people}", made)
    assert read == rows(f"meta {scored} {people}", made)


def test_stored_scores_are_placed_where_their_sentences_are(tmp_path: Path) -> None:
    corpus = sample_corpus().without_sentences(*OUT)
    systems = [system.without_sentences(*OUT) for system in sample_systems()]
    scores = evaluate("gleu", corpus, systems, resamples=0)
    assert scores.skipped == OUT
    for name in ("scores.json", "scores.tsv"):
        write_scores(scores, tmp_path / name)
    again = read_scores(tmp_path / "scores.json")
    assert again.skipped == OUT
    np.testing.assert_array_equal(again.sentences, scores.sentences)
    (placed,) = read_score_file(tmp_path / "scores.json")
    with pytest.warns(DataWarning, match="sentences have no score"):
        (table,) = read_score_file(tmp_path / "scores.tsv")
    assert placed.sentences is not None
    assert scores.sentences is not None
    assert np.isnan(placed.sentences[:, OUT]).all()
    np.testing.assert_array_equal(np.delete(placed.sentences, OUT, axis=1), scores.sentences)
    np.testing.assert_array_equal(table.sentences, placed.sentences[:, :-1])  # 72 is the last


def test_means_of_sentence_scores_are_of_what_is_left(tmp_path: Path) -> None:
    (tmp_path / "s.tsv").write_text("A\tB\n1\t4\n2\t5\n6\t0\n")
    (scores,) = read_score_file(tmp_path / "s.tsv")
    fewer = drop_sentences(scores, read_skipped("3"))
    assert (scores.values.tolist(), fewer.values.tolist()) == ([3.0, 3.0], [1.5, 4.5])
    assert "skip_sentences:3" in fewer.context
    assert drop_sentences(scores, read_skipped("4")) is scores


def test_sentences_left_out_twice_keep_their_numbers() -> None:
    corpus = Corpus.from_texts(list("abcdef")).without_sentences(1).without_sentences(1, 3)
    assert corpus.sources == ("a", "d", "f")
    assert [corpus.number(i) for i in range(3)] == [1, 4, 6]
    assert corpus.skipped == (1, 2, 4)
    assert corpus.whole is not None
    assert len(corpus.whole) == 6
    assert corpus[1:].number(0) == 1  # a part counts its own sentences
    with pytest.raises(InputError, match="no sentence 7"):
        Hypotheses("A", tuple("abcdef")).without_sentences(6)


def test_a_long_list_is_signed_by_a_digest() -> None:
    (few,) = skip_signature(range(0, 38, 2))
    assert few.endswith(",35,37")
    (one,), (other,) = skip_signature(range(0, 100, 2)), skip_signature(range(0, 102, 2))
    assert one.startswith("skip_sentences:50 @")
    assert one.split("@") != other.split("@")
    assert read_skipped("2,1,3-3").signature_fact == "skip_sentences:1-3"
