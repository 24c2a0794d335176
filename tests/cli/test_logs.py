"""`errata logs` as a user runs it."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from command import errata

SOURCES = ["He go home .", "I is fine .", "All good .", "Same here ."]
OUTPUTS = ["He goes home .", "I am fine .", "All goods .", "Same here ."]
MARKS = "accepted\tclean\tlocale\nyes\tno\tde\nno\t\ten\n\tyes\ten\n\t1\t\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for k, part in enumerate((slice(0, 3), slice(3, 4)), 9):
        text = "".join(f"{line}\n" for line in SOURCES[part])
        (tmp_path / f"in-{k}.txt.gz").write_bytes(gzip.compress(text.encode()))
        (tmp_path / f"out-{k}.txt").write_text("".join(f"{line}\n" for line in OUTPUTS[part]))
    (tmp_path / "marks.tsv").write_text(MARKS)
    return tmp_path


def logs(*arguments: object, cwd: Path, code: int = 0) -> dict:
    done = errata("logs", *arguments, "--json", cwd=cwd, code=code)
    return {table["name"]: table["rows"] for table in json.loads(done.stdout)["tables"]}


def test_texts_with_marks(folder: Path) -> None:
    found = logs(
        "--source",
        "in-*.txt.gz",
        "out-*.txt",
        "--marked",
        "marks.tsv",
        "--by",
        "locale",
        cwd=folder,
    )
    values = {row["figure"]: row["value"] for row in found["logs"]}
    assert values == {
        "sentences": 4,
        "changed": 3,
        "change rate": 0.75,
        "edits": 3,
        "edits per sentence": 0.75,
        "marked clean": 2,
        "false alarms": 1,
        "false alarm rate": 0.5,
        "answered": 2,
        "accepted": 1,
        "accepted share": 0.5,
    }
    assert [(row["kind"], row["edits"]) for row in found["logs_by_kind"]] == [
        ("R:INFL", 2),
        ("R:OTHER", 1),
    ]
    by_slice = [(row["slice"], row["sentences"]) for row in found["logs_by_slice"]]
    assert by_slice == [("(none)", 1), ("de", 1), ("en", 2)]
    assert len(found["logs_by_slice_and_kind"]) == 3


def test_parquet_says_the_same(folder: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    columns = {
        "source": SOURCES,
        "hyp:ours": OUTPUTS,
        "hyp:theirs": SOURCES,
        "accepted": [True, False, None, None],
        "clean": [False, None, True, True],
        "locale": ["de", "en", "en", None],
    }
    write_table(pa.table(columns), folder / "logs.parquet", row_group_size=3)
    texts = logs(
        "--source",
        "in-*.txt.gz",
        "out-*.txt",
        "--marked",
        "marks.tsv",
        "--by",
        "locale",
        cwd=folder,
    )
    found = logs("--parquet", "logs.parquet", "--for", "ours", "--by", "locale", cwd=folder)
    assert found == texts
    done = errata("logs", "--parquet", "logs.parquet", cwd=folder, code=2)
    assert "logs.parquet: which of the systems?; --for is one of: ours, theirs" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no logs given"),
        (["--source", "in-*.txt.gz", "out-9.txt"], "different numbers of files"),
        (["--source", "in-9.txt.gz", "out-10.txt"], "out-10.txt: 1 line, but in-9.txt.gz"),
        (["--source", "in-9.txt.gz", "out-9.txt", "--by", "x"], "--by needs columns"),
        (["--parquet", "x", "--source", "y"], "--source"),
        (["--source", "in-9.txt.gz", "out-9.txt", "--for", "x"], "--for"),
        (["--source", "in-9.txt.gz", "out-9.txt", "--marked", "marks.tsv"],
         "marks.tsv: more rows than the 3 sentences"),
        (["--source", "in-9.txt.gz", "out-9.txt", "--marked", "marks.tsv", "--by", "local"],
         "marks.tsv:1: there is no column 'local' to slice by; did you mean 'locale'"),
        (["--source", "in-9.txt.gz", "out-9.txt", "--marked", "few.tsv"],
         "few.tsv: 1 rows below the names of columns, and more sentences"),
        (["--source", "in-9.txt.gz", "out-9.txt", "--marked", "odd.tsv"],
         "odd.tsv:3: clean is 'maybe', neither yes nor no"),
        (["--source", "in-9.txt.gz", "out-9.txt", "--marked", "wide.tsv"],
         "wide.tsv:2: 2 cells below 1 names of columns"),
        (["--source", "in-9.txt.gz", "out-9.txt", "--marked", "same.tsv"],
         "same.tsv:1: a column has no name, or the name of another"),
    ],
)  # fmt: skip
def test_what_is_refused(folder: Path, arguments: list[str], message: str) -> None:
    (folder / "few.tsv").write_text("clean\nyes\n")
    (folder / "odd.tsv").write_text("clean\nyes\nmaybe\nno\n")
    (folder / "wide.tsv").write_text("clean\nyes\tno\nyes\nno\n")
    (folder / "same.tsv").write_text("clean\tclean\n")
    done = errata("logs", *arguments, cwd=folder, code=2)
    assert message in done.stderr
