"""``errata compare``: what it reads, what it refuses, and the keys that programs rely on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import command
from command import errata
from errata.data import Corpus
from errata.io.slices import MOST_VALUES, NO_VALUE, read_slices

FEW = ("--resamples", "20", "--trials", "20")


def tables(folder: Path, *arguments: object) -> dict[str, Any]:
    return command.tables("compare", *arguments, cwd=folder)


def test_keys_are_the_same_where_there_is_nothing_to_say(tmp_path: Path) -> None:
    """A clean sentence that one system touches, beside a metric called like a column."""
    (tmp_path / "clean.m2").write_text("S All fine .\n\n")
    (tmp_path / "a.txt").write_text("All fine .\n")
    (tmp_path / "b.txt").write_text("All is fine .\n")
    found = tables(tmp_path, "--gold", "clean.m2", "a.txt", "b.txt", "-m", "edits", *FEW)
    assert found["b_worse"]["columns"] == ["sentence", "gain", "edits", "old to new", "source"]
    (row,) = found["b_worse"]["rows"]
    assert (row["gain"], row["edits"], row["old to new"]) == (-1, -1.0, "All {+is+} fine .")
    assert found["b_better"]["rows"] == []
    rates = {row["figure"]: row["new"] for row in found["b_rates"]["rows"]}
    assert rates == {
        "alarms per 1,000 words": 1000 / 3,
        "clean sentences touched": 1.0,
        "sentences changed": 1.0,
    }
    mended = tables(tmp_path, "--source", "b.txt", "--refs", "a.txt", "b.txt", "n=a.txt", *FEW)
    assert mended["n_changes"]["title"] == "n against b: 1 error gained, 0 lost"
    same = tables(tmp_path, "--source", "a.txt", "a.txt", "c=a.txt", *FEW)
    assert same["c_kinds"]["rows"] == []
    assert same["c_kinds"]["columns"][1:] == same["c_rates"]["columns"][1:]


def test_several_systems_against_a_base(sample: Path) -> None:
    outputs = ("cautious.txt", "eager.txt", "fluent.txt")
    some = ("--gold", "gold.m2", "-m", "m2", *FEW)
    found = tables(sample, *some, *outputs, "--old", "eager")
    metrics = [name for name in found if name.endswith("_metrics")]
    assert metrics == ["cautious_metrics", "fluent_metrics"]
    turned = tables(sample, *some, "cautious.txt", "eager.txt")
    back, forth = (t["rows"][0]["difference"] for t in (found[metrics[0]], turned["eager_metrics"]))
    assert back == -forth
    bare = tables(sample, *some[:4], *outputs, "--resamples", "0", "--trials", "0")
    assert bare["eager_metrics"]["columns"] == ["metric", "old", "new", "difference"]


def test_sentences_keep_their_numbers_where_some_are_left_out(sample: Path) -> None:
    alone = ("--gold", "gold.m2", "--annotator", "0", "-m", "edits")
    some = (*alone, "cautious.txt", "eager.txt", "--by-edit", *FEW)
    every, left = (tables(sample, *some, *skip) for skip in ((), ("--skip-sentences", "1-3,9")))
    numbers, known = ({row["sentence"] for row in t["eager_edits"]["rows"]} for t in (left, every))
    assert numbers == known - {1, 2, 3, 9}


def test_the_score_behind_a_difference_can_be_verified(sample: Path) -> None:
    found = tables(sample, "--gold", "gold.m2", "-m", "m2", "cautious.txt", "eager.txt", *FEW)
    table = found["eager_metrics"]
    signature = table["signature"].split("\n")[0]
    claim = f"{signature} = {table['rows'][0]['new']}"
    errata("verify", claim, "--gold", "gold.m2", "eager.txt", cwd=sample)


def test_slices_are_read(tmp_path: Path) -> None:
    corpus = Corpus.from_texts(["a", "b", "c"])
    table = tmp_path / "slices.tsv"
    table.write_text("domain\tlevel\nnews\tA1\nmail\t\nnews\tB2\n")
    read = read_slices(table, corpus)
    assert read == {"domain": ("news", "mail", "news"), "level": ("A1", NO_VALUE, "B2")}
    left = read_slices(table, corpus.without_sentences(1))
    assert left["domain"] == ("news", "news")
    many = Corpus.from_texts(["a"] * (MOST_VALUES + 1))
    table.write_text("id\n1\n" + "".join(f"{i + 1}\n" for i in range(MOST_VALUES)))
    assert len({*read_slices(table, many)["id"]}) == MOST_VALUES
    for text, said, given in (
        ("domain\nnews\n", "1 rows below the header, but the corpus has 3", corpus),
        ("domain\tdomain\na\tb\nc\td\ne\tf\n", "two columns are called 'domain'", corpus),
        ("domain\t\na\tb\nc\td\ne\tf\n", "a column has no name", corpus),
        ("domain\n", "a header and a row per sentence", corpus),
        ("id\n" + "".join(f"{i}\n" for i in range(len(many))), "201 different values", many),
    ):
        table.write_text(text)
        with pytest.raises(Exception, match=said):
            read_slices(table, given)
