"""--skip-sentences: the numbers are those of files that never had these sentences."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from command import errata
from errata.data import Corpus, Hypotheses
from errata.datasets import sample_corpus, sample_systems
from errata.errors import DataWarning, InputError
from errata.evaluation import evaluate
from errata.io import read_score_file, read_scores, write_scores
from errata.io.scores import skip_scores
from errata.io.skipping import read_skipped, skip_fact

SAMPLE = Path(__file__).parents[2] / "src" / "errata" / "datasets" / "sample"
OUT = (2, 6, 7, 8, 71)  # 3,7-9,72
SYSTEMS = ("eager", "cautious", "fluent", "noisy", "nothing")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample, and in `fewer` the same without five sentences."""
    made = tmp_path_factory.mktemp("skipping")
    fewer = made / "fewer"
    fewer.mkdir()
    for path in SAMPLE.iterdir():
        if path.suffix not in (".txt", ".m2", ".jsonl"):
            continue
        text = path.read_text("utf-8")
        (made / path.name).write_text(text, "utf-8")
        if path.suffix == ".jsonl":
            left = []
            for row in map(json.loads, text.splitlines()):
                if row["sentence"] not in OUT:
                    now = row["sentence"] - sum(i < row["sentence"] for i in OUT)
                    left.append(json.dumps(row | {"sentence": now}))
            (fewer / path.name).write_text("\n".join(left) + "\n", "utf-8")
            continue
        end = "\n\n" if path.suffix == ".m2" else "\n"
        parts = text.removesuffix(end).split(end)
        kept = [part for i, part in enumerate(parts) if i not in OUT]
        (fewer / path.name).write_text(end.join(kept) + end, "utf-8")
    (made / "out.txt").write_text("# left out\n72\n\n 7-8 , 9 # three\n3\n")
    return made


def rows(*arguments: object, cwd: Path) -> list[Any]:
    done = errata(*arguments, "--json", cwd=cwd)
    return [(table["name"], table["rows"]) for table in json.loads(done.stdout)["tables"]]


OUTPUTS = [f"{name}.txt" for name in SYSTEMS]
TEXTS = ["--source", "source.txt", "--refs", "reference0.txt", "--refs", "reference1.txt"]


@pytest.mark.parametrize(
    "line",
    [
        ["score", "--gold", "gold.m2", *OUTPUTS, "--resamples", 30],
        ["refs", *TEXTS, "--resamples", 20, "--worst", 0, "-m", "gleu", "eager.txt"],
        ["difficulty", "--gold", "gold.m2", *OUTPUTS, "--resamples", 0, "--examples", 0],
        ["rank", "judgments.jsonl", "--resamples", 30],
        ["agree", "judgments.jsonl"],
        ["plan", "judgments.jsonl"],
        ["stress", "gleu", "--gold", "gold.m2", "--resamples", 0],
        ["check", "--gold", "gold.m2", *OUTPUTS],
        ["check", *TEXTS, *OUTPUTS],
        ["meta", *TEXTS, *OUTPUTS, "-m", "gleu", "--judgments", "judgments.jsonl"]
        + ["--resamples", 30, "--over", "both"],
    ],
    ids=lambda line: f"{line[0]} {line[1]}",
)
def test_as_if_the_files_had_never_had_them(folder: Path, line: list[object]) -> None:
    named, ranges = (
        rows(*line, "--skip-sentences", given, cwd=folder) for given in ("out.txt", "3,7-9,72")
    )
    fewer = rows(*line, cwd=folder / "fewer")
    if line[0] == "check":  # what is found in a file as a whole is found in the whole file
        named, ranges, fewer = named[-1:], ranges[-1:], fewer[-1:]
    assert named == ranges == fewer
    done = errata(*line, "--skip-sentences", "3,7-9,72", "--json", cwd=folder)
    assert "skip_sentences:3,7-9,72" in json.loads(done.stdout)["tables"][0]["signature"]
    if "judgments.jsonl" in line:
        count = (folder / "judgments.jsonl").read_text().count("\n")
        count -= (folder / "fewer" / "judgments.jsonl").read_text().count("\n")
        assert f"note: {count} judgments are on sentences to be skipped" in done.stderr


def test_what_is_left_keeps_its_number(folder: Path) -> None:
    run = ("--resamples", 0, "--skip-sentences", "1-60")
    ((_, found),) = rows("score", "--sample", "-m", "gleu", "--by-sentence", *run, cwd=folder)
    assert [row["sentence"] for row in found[:12]] == list(range(61, 73))
    tables = dict(rows("refs", "--sample", "-m", "gleu", *run, cwd=folder))
    assert {row["sentence"] for row in tables["disagreements"]} - {None} <= {*range(61, 73)}
    tables = dict(rows("difficulty", "--sample", *run, cwd=folder))
    assert {row["sentence"] for row in tables["hardest"]} <= {*range(61, 73)}
    shown = errata("difficulty", "--sample", *run, "--terminal", "--sentences", "50-61")
    assert {line.split("/")[0] for line in shown.stdout.splitlines()} == {"61"}
    done = errata("difficulty", "--sample", *run, "--terminal", "--sentences", "50-60", code=2)
    assert "all are left out" in done.stderr


@pytest.mark.parametrize("form", ["json", "tsv"])
def test_what_score_printed_is_read_with_the_numbers_it_has(folder: Path, form: str) -> None:
    skip = ("--skip-sentences", "3,7-9,72")
    run = ("--source", "source.txt", "--refs", "reference0.txt", *OUTPUTS, "-m", "gleu", *skip)
    run = (*run, "--resamples", 0)
    printed = errata("score", *run, "--by-sentence", "--format", form, cwd=folder).stdout
    (folder / f"printed.{form}").write_text(printed, "utf-8")
    people = ("--judgments", "judgments.jsonl", "--level", "sentence", "--resamples", 0)
    read = rows("meta", "--scores", f"gleu=printed.{form}", *people, *skip, cwd=folder)
    assert read == rows("meta", *run, *people, cwd=folder)


def test_what_was_stored_stands_where_its_sentences_are(tmp_path: Path) -> None:
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


def test_means_of_sentence_scores_are_of_those_left(tmp_path: Path) -> None:
    (tmp_path / "s.tsv").write_text("A\tB\n1\t4\n2\t5\n6\t0\n")
    (scores,) = read_score_file(tmp_path / "s.tsv")
    fewer = skip_scores(scores, read_skipped("3"))
    assert (scores.values.tolist(), fewer.values.tolist()) == ([3.0, 3.0], [1.5, 4.5])
    assert "skip_sentences:3" in fewer.context
    assert skip_scores(scores, read_skipped("4")) is scores


def test_convert_leaves_them_out(folder: Path) -> None:
    skip = ("--skip-sentences", "3,7-9,72")
    made = errata("convert", "gold.m2", "--only-source", *skip, cwd=folder).stdout
    assert made == (folder / "fewer" / "source.txt").read_text("utf-8")
    texts = ("convert", "--source", "source.txt", "--refs", "reference0.txt")
    assert errata(*texts, *skip, cwd=folder).stdout == errata(*texts, cwd=folder / "fewer").stdout


def test_weights_of_all_sentences_serve_for_some(folder: Path) -> None:
    run = ("difficulty", "--gold", "gold.m2", "--annotator", 0, "eager.txt", "--resamples", 0)
    errata(*run, "noisy.txt", "--write-weights", "w.txt", "--force", cwd=folder)
    run = (*run, "--weights", "w.txt", "--examples", 500)
    whole, some = rows(*run, cwd=folder), rows(*run, "--skip-sentences", "1-9", cwd=folder)
    kept = [row for row in dict(whole)["hardest"] if row["sentence"] > 9]
    assert dict(some)["hardest"] == kept


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1\n73\n", "out2.txt:2: there is no sentence 73 to leave out: the text has 72"),
        ("1\n70-99", "out2.txt:2: there is no sentence 73 to leave out"),
        ("x\n", "out2.txt:1: cannot read 'x' as sentences to leave out"),
        ("3\n9-7\n", "out2.txt:2: cannot read '9-7'"),
        ("0\n", "out2.txt:1: cannot read '0'"),
        ("# none\n", "out2.txt: no sentence is named"),
        ("1-72\n", "all 72 sentences are left out"),
    ],
)
def test_refused(folder: Path, text: str, said: str) -> None:
    (folder / "out2.txt").write_text(text)
    run = ("score", "--gold", "gold.m2", "eager.txt", "--skip-sentences", "out2.txt")
    done = errata(*run, cwd=folder, code=2)
    assert done.stderr.startswith(f"errata: {said}"), done.stderr


def test_judgments_that_none_of_them_touches() -> None:
    done = errata("rank", "--sample", "--skip-sentences", 5000, code=2)
    assert "no judgment is on a sentence to be left out" in done.stderr


@pytest.mark.parametrize("command", ["agree", "rank", "meta", "plan"])
def test_all_judgments_left_out(command: str) -> None:
    line = (
        command,
        "--sample",
        "--skip-sentences",
        "1-72",
        *(["-m", "gleu"] * (command == "meta")),
    )
    said = errata(*line, code=2).stderr
    assert "left out" in said.splitlines()[-1], said
    assert "leave some of them in" in said


def test_an_empty_list_is_no_file() -> None:
    done = errata("rank", "--sample", "--skip-sentences", "", code=2)
    assert "cannot read '' as sentences to leave out" in done.stderr


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
    (few,) = skip_fact(range(0, 38, 2))
    assert few.endswith(",35,37")
    (one,), (other,) = skip_fact(range(0, 100, 2)), skip_fact(range(0, 102, 2))
    assert one.startswith("skip_sentences:50 @")
    assert one.split("@") != other.split("@")
    assert read_skipped("2,1,3-3").fact == "skip_sentences:1-3"
