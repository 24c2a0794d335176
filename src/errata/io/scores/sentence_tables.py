"""Scores of single sentences as Parquet, one table for each system: written in pieces, read whole.

The columns are those of ``errata score --by-sentence``: ``system``, ``sentence`` (counted from 1),
the score under its name, and the figures beside it. What the scores are is said in the table's own
words (the key ``errata signature`` of its metadata).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from errata.errors import InputError
from errata.io.opened import opened_raw
from errata.io.parquet_files import found_pyarrow, parquet_only
from errata.numbers import Floats, Ints

__all__ = ["SENTENCE_TABLE", "ScoredSentences", "read_sentence_tables", "write_sentence_table"]

SENTENCE_TABLE = ".parquet"
SIGNATURE = b"errata signature"
GROUP = 65_536  # rows of a group


class ScoredSentences(NamedTuple):
    """Some sentences of a system: their numbers from 1, scores, and figures by name."""

    numbers: Ints
    scores: Floats
    figures: Mapping[str, Floats | Ints]


def write_sentence_table(
    path: Path, system: str, headline: str, signature: str, parts: Iterable[ScoredSentences]
) -> int:
    """Write the scores of one system, part by part as they come; how many sentences they are."""
    pyarrow = found_pyarrow()
    writer, held, written = None, list[Any](), 0
    try:
        for part in parts:
            columns = {
                "system": pyarrow.repeat(system, len(part.numbers)),
                "sentence": part.numbers,
                headline: pyarrow.array(part.scores, from_pandas=True),  # nothing for no score
            }
            for name, figure in part.figures.items():
                columns.setdefault(name, pyarrow.array(figure, from_pandas=True))
            held.append(pyarrow.table(columns))
            written += len(part.numbers)
            if writer is None:
                schema = held[0].schema.with_metadata({SIGNATURE: signature.encode("utf-8")})
                writer = pyarrow.parquet.ParquetWriter(path, schema)
            if sum(map(len, held)) >= GROUP:
                writer.write_table(pyarrow.concat_tables(held))
                held = []
        if writer is not None and held:
            writer.write_table(pyarrow.concat_tables(held))
    finally:
        if writer is not None:
            writer.close()
    return written


def read_sentence_tables(path: str) -> dict[str, Any]:
    """A table, or all tables of a folder, as what `errata.io.scores.printed` reads."""
    pyarrow = found_pyarrow()
    from errata.io.shards.listing import natural_order

    files = [path]
    if os.path.isdir(path):
        names = [name for name in os.listdir(path) if name.endswith(SENTENCE_TABLE)]
        files = [os.path.join(path, name) for name in sorted(names, key=natural_order)]
    rows, columns, signatures = list[dict[str, Any]](), list[str](), set[str]()
    for file in files:
        with (
            opened_raw(file) as stream,
            parquet_only(file, "give what errata scale sentences wrote"),
        ):
            table = pyarrow.parquet.ParquetFile(stream).read()
        columns = table.column_names
        signatures.add((table.schema.metadata or {}).get(SIGNATURE, b"").decode("utf-8"))
        rows += table.to_pylist()
    if columns[:2] != ["system", "sentence"] or len(columns) < 3 or len(signatures) > 1:
        raise InputError(
            "no table of sentence scores, or of several metrics" if files else "no Parquet file",
            path=path,
            remedy="give what errata scale sentences wrote for one metric: a file, or their folder",
        )
    return {"columns": columns, "rows": rows, "signature": signatures.pop()}
