"""Parquet files as shards of row groups, and as batches of a corpus or of plain rows.

Which columns there are, and of which types, is said in `docs/sharded-inputs.md`. pyarrow is
imported when a file is read and not before.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

from errata.data import Corpus
from errata.errors import InputError
from errata.io.m2 import M2File, scan_m2_text
from errata.io.opened import opened_raw
from errata.io.parquet_files import found_pyarrow, parquet_only
from errata.io.shards.corpus_batches import BATCH, BatchMaker, CorpusBatch, PartReading
from errata.io.shards.cutting import refuse_unequal
from errata.io.shards.listing import check_unchanged, groups_of
from errata.io.shards.named import Piece, Shard, ShardedInputs, name_of
from errata.io.shards.parquet_columns import HYPOTHESIS, ParquetColumns, checked_columns, partitions
from errata.io.stores import Listed
from errata.numbers import Progress

__all__ = ["ParquetRows", "parquet_batches", "parquet_rows", "plan_parquet"]


def plan_parquet(
    inputs: ShardedInputs,
    shard_bytes: int,
    shard_sentences: int | None,
    progress: Progress | None = None,
) -> tuple[Shard, ...]:
    """Cut Parquet files into shards of whole row groups, by their bytes before compression.

    With ``shard_sentences`` a shard ends with the row group that reaches so many rows.
    """
    shards: list[Shard] = []
    first = 0
    groups = groups_of(inputs)
    one: _Table | None = None
    for done, group in enumerate(groups, 1):
        with ExitStack() as stack:
            tables = {role: _table(role, file, inputs, stack) for role, file in group.items()}
        lead = tables["parquet"]
        one = one or lead
        _refuse_other_systems(lead, one)
        for role, table in tables.items():
            refuse_unequal(
                (role, table.file.uri, table.rows), ("parquet", lead.file.uri, lead.rows)
            )
        for start, stop in _spans(lead, shard_bytes, shard_sentences):
            pieces = {role: (table.piece(start, stop),) for role, table in tables.items()}
            shards.append(Shard(len(shards), first + start, stop - start, pieces))
        first += lead.rows
        if progress is not None:
            progress(done, len(groups))
    if not first:
        raise InputError(
            "the inputs hold no sentence",
            path=groups[0]["parquet"].uri,
            remedy="give at least one sentence",
        )
    return tuple(shards)


def _refuse_other_systems(table: _Table, one: _Table) -> None:
    """Refuse a file with the outputs of other systems than the first one; their order is free."""
    here, there = ({*each.columns.systems} for each in (table, one))
    if here != there:
        names = ", ".join(sorted(here ^ there))
        raise InputError(
            f"only one of this file and {one.file.uri} has the outputs of {names}",
            path=table.file.uri,
            remedy="give every file a column hyp:NAME for every system",
        )


def _spans(lead: _Table, most_bytes: int, most_rows: int | None) -> Iterator[tuple[int, int]]:
    """From which row to which a shard goes, at the ends of row groups."""
    start, held = 0, 0
    for number, stop in enumerate(lead.starts[1:]):
        held += lead.bytes[number]
        full = held >= most_bytes if most_rows is None else stop - start >= most_rows
        if full or stop == lead.rows:
            if stop > start or not lead.rows:
                yield start, stop
            start, held = stop, 0
    if not lead.bytes:
        yield 0, 0


@dataclass(frozen=True)
class _Table:
    """What is known of a Parquet file before its rows are read."""

    file: Listed
    columns: ParquetColumns
    starts: tuple[int, ...]  # the first row of every row group, and the number of rows
    bytes: tuple[int, ...]
    parquet: Any

    @property
    def rows(self) -> int:
        return self.starts[-1]

    def piece(self, start: int, stop: int) -> Piece:
        """The row groups that hold the rows ``start:stop``."""
        held = [
            k
            for k in range(len(self.bytes))
            if self.starts[k] < stop and self.starts[k + 1] > start
        ]
        return Piece(*self.file, 0, self.file.size, 1, groups=tuple(held), before=start)

    def take(self, piece: Piece | None, wanted: Sequence[str], batch: int) -> Callable[[int], Any]:
        """A function that gives the next so many rows of these columns; fewer at the end."""
        groups = [*range(len(self.bytes))] if piece is None else [*piece.groups]
        skip = 0 if piece is None or not groups else piece.before - self.starts[groups[0]]
        chunks = self.parquet.iter_batches(batch, row_groups=groups, columns=[*wanted])
        return _Taker(chunks, self.parquet.schema_arrow, wanted, skip)


class _Taker:
    """Rows from record batches of any size, so many at a time."""

    def __init__(
        self, chunks: Iterator[Any], schema: Any, wanted: Sequence[str], skip: int
    ) -> None:
        self.chunks, self.skip = chunks, skip
        import pyarrow

        self.empty = pyarrow.schema([schema.field(name) for name in wanted]).empty_table()
        self.rest: list[Any] = []
        self.held = 0

    def __call__(self, n: int) -> Any:
        import pyarrow

        while self.held < n and (chunk := next(self.chunks, None)) is not None:
            gone = min(self.skip, len(chunk))
            self.skip -= gone
            self.rest.append(chunk.slice(gone))
            self.held += len(chunk) - gone
        if not self.rest:
            return self.empty
        table = pyarrow.Table.from_batches(self.rest)
        self.rest = table.slice(n).to_batches()
        self.held = max(self.held - n, 0)
        return table.slice(0, n)


def _table(role: str, file: Listed, inputs: ShardedInputs, stack: ExitStack) -> _Table:
    pyarrow = found_pyarrow()
    if file.uri == "-":
        raise InputError("Parquet cannot be read from standard input", remedy="name files")
    stream = stack.enter_context(opened_raw(file.uri, storage=inputs.storage))
    with parquet_only(file.uri, "name Parquet files, as those of a folder by folder/*.parquet"):
        parquet = pyarrow.parquet.ParquetFile(stream)
    meta = parquet.metadata
    sizes = [meta.row_group(k).num_rows for k in range(meta.num_row_groups)]
    held = tuple(meta.row_group(k).total_byte_size for k in range(meta.num_row_groups))
    columns = checked_columns(parquet.schema_arrow, file.uri, role)
    return _Table(file, columns, tuple(accumulate(sizes, initial=0)), held, parquet)


def parquet_batches(
    pieces: Mapping[str, Piece], reading: PartReading, batch: int, first: int
) -> Iterator[CorpusBatch]:
    """The batches of Parquet files that belong together, or of the same rows of each."""
    name = name_of(reading.inputs)

    def unweighed(_: int) -> str:
        return f"{name}: the column 'weight' is not used: every sentence counts once"

    for rows in _rows(pieces, reading.inputs, batch, first):
        guard = reading.inputs.guard and (rows.start or 2 * len(rows.sources) >= batch)
        maker = BatchMaker(reading, len(rows.sources), rows.before, rows.first, bool(guard))
        corpus = _documented(_corpus(rows, maker), rows)
        # Nothing is left aside without a word.
        reading.noted.add("weights", len(rows.weight or ()), unweighed)
        yield (
            corpus,
            [
                maker.output(name, lines, rows.paths[name], corpus)
                for name, lines in rows.outputs.items()
            ],
        )


def _documented(corpus: Corpus, rows: ParquetRows) -> Corpus:
    """The corpus with its documents; a sentence that has none is one by itself."""
    if rows.document is None:
        return corpus
    return corpus.in_documents(
        [
            f"row {rows.first + row + 1}" if name is None else f"document {name}"
            for row, name in enumerate(rows.document)
        ]
    )


def _corpus(rows: ParquetRows, maker: BatchMaker) -> Corpus:
    if rows.a_lines is not None:
        file = _gold(rows, maker.reading.inputs)
        return maker.gold(file)
    sets: list[list[str | None]] = []
    if rows.references is not None:
        most = max((len(texts or ()) for texts in rows.references), default=0)
        sets = [
            [texts[k] if texts and k < len(texts) else None for texts in rows.references]
            for k in range(most)
        ]
    return maker.parallel(rows.sources, sets, [rows.path] * (len(sets) + 1))


def _gold(rows: ParquetRows, inputs: ShardedInputs) -> M2File:
    """Gold edits as the M2 reader reads them, with rows in the place of lines."""
    assert rows.a_lines is not None
    starts, text, line = [], [], 1
    for row, (source, lines) in enumerate(zip(rows.sources, rows.a_lines, strict=True)):
        if "\n" in source or any(not each.startswith("A ") for each in lines):
            raise InputError(
                "the source holds a line end" if "\n" in source else "a line is not an 'A ' line",
                path=rows.path,
                line=rows.before + row + 1,
                remedy="a sentence with gold edits is one line, its m2 the 'A ' lines below it",
            )
        starts.append(line)
        text.append("\n".join([f"S {source}", *lines, "", ""]))
        line += len(lines) + 2

    def row_of(number: int | None) -> int | None:
        return None if number is None else rows.before + bisect_right(starts, number)

    try:
        file = scan_m2_text(
            "".join(text), rows.path, name=name_of(inputs), compatible=inputs.compatible, threads=1
        )
    except InputError as error:
        raise InputError(
            error.problem, path=error.path, line=row_of(error.line), remedy=error.remedy
        ) from None
    return replace(
        file,
        lines=tuple(range(rows.before + 1, rows.before + len(rows.sources) + 1)),
        findings=tuple(replace(found, line=row_of(found.line)) for found in file.findings),
    )


@dataclass(frozen=True)
class ParquetRows:
    """Some rows of Parquet files: texts by system, and what stands beside them.

    ``first`` counts the rows before them in all files, ``before`` in their own; ``path`` is the
    file, ``paths`` those of the systems. A column that is not there is None.
    """

    first: int
    before: int
    start: bool
    path: str
    paths: Mapping[str, str]
    sources: tuple[str, ...]
    outputs: Mapping[str, tuple[str, ...]]
    references: tuple[tuple[str | None, ...] | None, ...] | None = None
    a_lines: tuple[tuple[str, ...], ...] | None = None
    ids: tuple[str | int, ...] | None = None
    document: tuple[str | int | None, ...] | None = None
    weight: tuple[float, ...] | None = None
    accepted: tuple[bool | None, ...] | None = None
    clean: tuple[bool | None, ...] | None = None
    slices: Mapping[str, tuple[str, ...]] | None = None


def parquet_rows(
    inputs: ShardedInputs,
    *,
    shard: Shard | None = None,
    slices: Sequence[str] = (),
    batch: int = BATCH,
) -> Iterator[ParquetRows]:
    """The rows of Parquet inputs, or of one shard of them, in order, ``batch`` at a time.

    ``slices`` are the columns, or Hive partitions, to give beside the texts.
    """
    if shard is not None:
        pieces = shard.pieces_of(inputs)
        for piece in pieces.values():
            check_unchanged(piece, inputs.storage)
        if shard.sentences:
            yield from _rows(pieces, inputs, batch, shard.first, slices)
        return
    first = 0
    for group in groups_of(inputs):
        pieces = {role: Piece(*file, 0, file.size) for role, file in group.items()}
        for rows in _rows(pieces, inputs, batch, first, slices):
            yield rows
            first += len(rows.sources)


def _rows(
    pieces: Mapping[str, Piece],
    inputs: ShardedInputs,
    batch: int,
    first: int,
    slices: Sequence[str] = (),
) -> Iterator[ParquetRows]:
    with ExitStack() as stack:
        tables = {
            role: _table(role, Listed(piece.uri, piece.size, piece.mark), inputs, stack)
            for role, piece in pieces.items()
        }
        lead = tables["parquet"]
        for role, table in tables.items():
            refuse_unequal(
                (role, table.file.uri, table.rows), ("parquet", lead.file.uri, lead.rows)
            )
        parts = partitions(lead.file.uri)
        wanted = {
            role: table.columns.wanted([name for name in slices if name not in parts])
            for role, table in tables.items()
        }
        takers = {
            role: table.take(pieces[role] if pieces[role].groups else None, wanted[role], batch)
            for role, table in tables.items()
        }
        begun = before = pieces["parquet"].before
        groups = pieces["parquet"].groups
        stop = lead.starts[groups[-1] + 1] if groups else lead.rows
        while before < stop:
            n = min(batch, stop - before)
            given = {role: take(n) for role, take in takers.items()}
            beside = {
                role.removeprefix("output:"): (tables[role].columns, given[role])
                for role in given
                if role != "parquet"
            }
            texts = lead.columns.read(given["parquet"], before, slices, parts)
            yield _together(texts, beside, lead, before, first, before == begun)
            before += n
            first += n


def _together(
    texts: Mapping[str, Any],
    beside: Mapping[str, tuple[ParquetColumns, Any]],
    lead: _Table,
    before: int,
    first: int,
    start: bool,
) -> ParquetRows:
    """The rows of one file, with the outputs of the others once their ids are the same."""
    outputs = dict(texts["outputs"])
    paths = dict.fromkeys(outputs, lead.file.uri)
    for name, (columns, table) in beside.items():
        found = columns.read(table, before, (), {})
        theirs, ours = found["ids"], texts["ids"]
        if theirs is not None and ours is not None and theirs != ours:
            row = next(k for k, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != b)
            raise InputError(
                f"the id is {theirs[row]!r}, but that of {lead.file.uri} is {ours[row]!r}",
                path=columns.path,
                line=before + row + 1,
                remedy="give the rows of all files in one order",
            )
        if name in outputs:
            raise InputError(
                f"the system {name!r} is given twice, as a column and as a file",
                path=columns.path,
                remedy="rename one of them",
            )
        outputs[name] = found["outputs"][HYPOTHESIS]
        paths[name] = columns.path
    return ParquetRows(
        first,
        before,
        start,
        lead.file.uri,
        paths,
        texts["sources"],
        outputs,
        *(texts[key] for key in ("references", "a_lines", "ids", "document", "weight")),
        *(texts[key] for key in ("accepted", "clean", "slices")),
    )
