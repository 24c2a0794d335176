"""`errata logs` as a user runs it."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from command import run, tables

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


LINE = "--source in-*.txt.gz out-*.txt --marked marks.tsv --by locale"


def logs(line: str, cwd: Path) -> dict[str, Any]:
    return {name: table["rows"] for name, table in tables(f"logs {line}", cwd=cwd).items()}


def test_texts_with_marks(folder: Path) -> None:
    found = logs(LINE, folder)
    values = [row["value"] for row in found["logs"]]  # sentences, changed, change rate, edits, ...
    assert values == [4, 3, 0.75, 3, 0.75, 2, 1, 0.5, 2, 1, 0.5]
    kinds = [(row["kind"], row["edits"]) for row in found["logs_by_kind"]]
    assert kinds == [("R:INFL", 2), ("R:OTHER", 1)]
    by_slice = [(row["slice"], row["sentences"]) for row in found["logs_by_slice"]]
    assert by_slice == [("(none)", 1), ("de", 1), ("en", 2)]
    assert len(found["logs_by_slice_and_kind"]) == 3


def test_parquet_gives_the_same(folder: Path) -> None:
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
    texts = logs(LINE, folder)
    assert logs("--parquet logs.parquet --for ours --by locale", folder) == texts
    done = run("logs --parquet logs.parquet", cwd=folder, code=2)
    for word in ("logs.parquet", "--for", "ours, theirs"):
        assert word in done.stderr
