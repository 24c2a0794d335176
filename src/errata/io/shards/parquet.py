"""Read Parquet as shards of row groups and as batches; see `docs/sharded-inputs.md`."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any
from urllib.parse import unquote

from errata.core.errors import InputError, import_extra
from errata.core.parameters import suggest_name
from errata.core.stats import Progress
from errata.data import Corpus
from errata.io.corpus import CorpusFiles
from errata.io.files import RemoteFile, open_raw
from errata.io.m2 import M2File, read_m2_text
from errata.io.shards.batches import BATCH, BatchBuilder, CorpusBatch, PartReading
from errata.io.shards.inputs import Piece, Shard, group_files_by_position
from errata.io.shards.plan import check_equal_counts
from errata.io.slices import NO_VALUE


def require_pyarrow() -> Any:
    """The module pyarrow, with ``pyarrow.parquet``."""
    what = "pyarrow, which reads and writes Parquet,"
    import_extra("pyarrow.parquet", "parquet", what)
    return import_extra("pyarrow", "parquet", what)


@contextmanager
def check_parquet(path: str, remedy: str) -> Iterator[None]:
    """Refuse a file that is not Parquet; errors of a disk or a store pass through."""
    pyarrow = require_pyarrow()
    try:
        yield
    except (pyarrow.ArrowException, OSError) as error:
        # Of a damaged end pyarrow says OSError, without the number that the system gives.
        own = type(error) is OSError and error.errno is None
        if not own and not isinstance(error, pyarrow.ArrowException):
            raise
        said = str(error).strip().splitlines() or [type(error).__name__]
        raise InputError(f"this is no Parquet file: {said[0]}", path=path, remedy=remedy) from None


# ---- The columns of a Parquet file: whether they are what they should be, and their values.

HYPOTHESIS, BY_NAME = "hypothesis", "hyp:"
_PARTITION = re.compile(r"([^=/\\]+)=([^/\\]*)(?=[/\\])")
_NO_PARTITION = "__HIVE_DEFAULT_PARTITION__"
_EDIT_FIELDS = {
    "annotator": "integer",
    "start": "integer",
    "end": "integer",
    "replacement": "string",
    "kind": "string",
    "alternatives": "list<string>",
}
_OPTIONAL_FIELDS = ("annotator", "kind", "alternatives")
# What the columns of certain names must be; of all others nothing is known.
_TYPES = {
    "id": "string or integer",
    "source": "string",
    HYPOTHESIS: "string",
    "references": "list<string>",
    "edits": "list<struct<annotator, start, end, replacement, kind, alternatives>>",
    "m2": "string",
    "document": "string or integer",
    "weight": "number",
    "accepted": "bool",
    "clean": "bool",
}
_BESIDE = ("id", "references", "edits", "m2", "document", "weight", "accepted", "clean")


@dataclass(frozen=True)
class ParquetColumns:
    path: str
    names: tuple[str, ...]
    systems: Mapping[str, str]  # system to column
    source: bool

    def columns_to_read(self, slices: Sequence[str]) -> list[str]:
        """The columns to read, these slices among them."""
        known = [name for name in _BESIDE if name in self.names] if self.source else ["id"]
        found = [*(["source"] if self.source else ()), *self.systems.values()]
        found += [name for name in known if name in self.names]
        for name in slices if self.source else ():
            if name not in self.names:
                problem = f"there is no column {name!r} to slice by"
                remedy = f"{suggest_name(name, self.names)}there are: {', '.join(self.names)}"
                raise InputError(problem, path=self.path, remedy=remedy)
            found += [name] if name not in found else []
        return found

    def read_rows(
        self, table: Any, before: int, slices: Sequence[str], parts: Mapping[str, str]
    ) -> dict[str, Any]:
        """The values of a table of these columns, by what they are for."""

        def column(name: str) -> tuple[Any, ...] | None:
            return tuple(table[name].to_pylist()) if name in table.column_names else None

        def required(name: str) -> tuple[Any, ...]:
            values = column(name) or ()
            if table[name].null_count:
                self._refuse_null(name, before + values.index(None) + 1)
            return values

        a_lines = None
        if (edits := column("edits")) is not None:
            a_lines = tuple(
                self._edits_as_m2(several or (), row)
                for row, several in enumerate(edits, before + 1)
            )
        elif (lines := column("m2")) is not None:
            texts = ((text or "").split("\n") for text in lines)
            a_lines = tuple(tuple(line for line in each if line.strip()) for each in texts)
        references = column("references")
        by_slice = {
            name: (parts[name],) * len(table)
            if name in parts
            else tuple(NO_VALUE if v is None or v == "" else str(v) for v in column(name) or ())
            for name in slices
        }
        return {
            "sources": required("source") if self.source else (),
            "outputs": {system: required(name) for system, name in self.systems.items()},
            "references": references
            and tuple(None if texts is None else tuple(texts) for texts in references),
            "a_lines": a_lines,
            "ids": required("id") if "id" in table.column_names else None,
            "weight": required("weight") if "weight" in table.column_names else None,
            **{name: column(name) for name in ("document", "accepted", "clean")},
            "slices": by_slice,
        }

    def _refuse_null(self, name: str, row: int) -> None:
        problem = f"the column {name!r} has no value (null) in this row"
        remedy = "fill it, or leave the row out; an empty text is an empty sentence"
        raise InputError(problem, path=self.path, line=row, remedy=remedy)

    def _edits_as_m2(self, edits: Sequence[Mapping[str, Any] | None], row: int) -> tuple[str, ...]:
        """Edits as the lines of M2, whose reader checks them."""
        lines = []
        for edit in edits:
            values = {} if edit is None else {**edit}
            for name in _EDIT_FIELDS:
                if values.get(name) is None and name not in _OPTIONAL_FIELDS:
                    self._refuse_null(f"edits.{name}", row)
            texts = [values["replacement"], *(values.get("alternatives") or ())]
            kind = values.get("kind") or ""
            if any(t is None or "||" in t or "\n" in t for t in texts) or "|||" in kind + "|":
                problem = f"an edit that M2 cannot say: {texts!r} of kind {kind!r}"
                remedy = "texts and kinds hold no '||' and no line end"
                raise InputError(problem, path=self.path, line=row, remedy=remedy)
            span = f"{values['start']} {values['end']}"
            said = "||".join(text or "-NONE-" for text in texts)
            annotator = values.get("annotator") or 0
            lines.append(f"A {span}|||{kind}|||{said}|||REQUIRED|||-NONE-|||{annotator}")
        return tuple(lines)


def check_columns(schema: Any, path: str, role: str) -> ParquetColumns:
    """Return the columns of a file, which have known types and the texts that its role needs."""
    names = tuple(schema.names)
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"two columns are called {twice!r}", path=path, remedy="rename one")
    for name in names:
        expected = _TYPES.get(HYPOTHESIS if name.startswith(BY_NAME) else name)
        kind = schema.field(name).type
        if expected is not None and str(kind) != "null" and not _has_type(kind, expected):
            problem = f"the column {name!r} is of type {kind} and not {expected}"
            raise InputError(problem, path=path, remedy="write it as that, or rename the column")
    lead = role == "parquet"
    required = "source" if lead else HYPOTHESIS
    if required not in names:
        remedy = f"{suggest_name(required, names)}the columns are: {', '.join(names) or 'none'}"
        raise InputError(f"there is no column {required!r}", path=path, remedy=remedy)
    gold = [name for name in ("references", "edits", "m2") if name in names]
    if lead and len(gold) > 1:
        problem = f"both columns {gold[0]!r} and {gold[1]!r} are given"
        raise InputError(problem, path=path, remedy="keep one")
    systems = {HYPOTHESIS: HYPOTHESIS} if HYPOTHESIS in names else {}
    if lead:
        systems |= {name.removeprefix(BY_NAME): name for name in names if name.startswith(BY_NAME)}
    return ParquetColumns(path, names, systems, lead)


def hive_partitions(path: str) -> dict[str, str]:
    """The Hive partitions of a path, by name.

    >>> hive_partitions("s3://logs/day=2026-11-17/locale=de%20AT/part-0.parquet")
    {'day': '2026-11-17', 'locale': 'de AT'}
    """
    found = {name: unquote(value) for name, value in _PARTITION.findall(path)}
    return {
        name: NO_VALUE if value in ("", _NO_PARTITION) else value for name, value in found.items()
    }


def _has_type(kind: Any, expected: str) -> bool:
    """Whether a column of pyarrow's type ``kind`` is what `_TYPES` and `_EDIT_FIELDS` say."""
    from pyarrow import types

    if expected == "string":
        if types.is_dictionary(kind):
            kind = kind.value_type
        return str(kind) in ("string", "large_string", "string_view")
    if expected == "integer":
        return bool(types.is_integer(kind))
    if expected == "string or integer":
        return _has_type(kind, "string") or _has_type(kind, "integer")
    if expected == "number":
        return bool(types.is_integer(kind) or types.is_floating(kind))
    if expected == "bool":
        return bool(types.is_boolean(kind))
    if not (types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)):
        return False
    items = kind.value_type
    if expected == "list<string>":
        return _has_type(items, "string") or bool(types.is_null(items))
    fields = {field.name: field.type for field in items} if types.is_struct(items) else {}
    return bool(fields) and all(
        _has_type(fields[name], wanted) if name in fields else name in _OPTIONAL_FIELDS
        for name, wanted in _EDIT_FIELDS.items()
    )


def plan_parquet(
    inputs: CorpusFiles,
    shard_bytes: int,
    shard_sentences: int | None,
    progress: Progress | None = None,
) -> tuple[Shard, ...]:
    """Cut Parquet files into shards of row groups, by uncompressed bytes or by sentences."""
    shards: list[Shard] = []
    first = 0
    groups = group_files_by_position(inputs)
    one: _Table | None = None
    for done, group in enumerate(groups, 1):
        with _open_tables(group, inputs) as tables:
            lead = tables["parquet"]
        one = one or lead
        _refuse_different_systems(lead, one)
        for start, stop in _shard_spans(lead, shard_bytes, shard_sentences):
            pieces = {role: (table.piece_of_rows(start, stop),) for role, table in tables.items()}
            shards.append(Shard(len(shards), first + start, stop - start, pieces))
        first += lead.rows
        if progress is not None:
            progress(done, len(groups))
    if not first:
        path, remedy = groups[0]["parquet"].uri, "give at least one sentence"
        raise InputError("the inputs hold no sentence", path=path, remedy=remedy)
    return tuple(shards)


def _refuse_different_systems(table: _Table, one: _Table) -> None:
    """Refuse a file with the outputs of other systems than the first one; their order is free."""
    here, there = ({*each.columns.systems} for each in (table, one))
    if here != there:
        names = ", ".join(sorted(here ^ there))
        problem = f"only one of this file and {one.file.uri} has the outputs of {names}"
        remedy = "give every file a column hyp:NAME for every system"
        raise InputError(problem, path=table.file.uri, remedy=remedy)


def _shard_spans(lead: _Table, most_bytes: int, most_rows: int | None) -> Iterator[tuple[int, int]]:
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
    """The facts of a Parquet file before its rows are read."""

    file: RemoteFile
    columns: ParquetColumns
    starts: tuple[int, ...]  # the first row of every row group, and the number of rows
    bytes: tuple[int, ...]
    parquet: Any

    @property
    def rows(self) -> int:
        return self.starts[-1]

    def piece_of_rows(self, start: int, stop: int) -> Piece:
        """The row groups that hold the rows ``start:stop``."""
        starts = self.starts
        held = [k for k in range(len(starts) - 1) if starts[k] < stop and starts[k + 1] > start]
        return Piece(*self.file, 0, self.file.size, 1, groups=tuple(held), before=start)

    def row_taker(
        self, piece: Piece | None, wanted: Sequence[str], batch: int
    ) -> Callable[[int], Any]:
        """A function that gives the next so many rows of these columns; fewer at the end."""
        groups = [*range(len(self.bytes))] if piece is None else [*piece.groups]
        skip = 0 if piece is None or not groups else piece.before - self.starts[groups[0]]
        chunks = self.parquet.iter_batches(batch, row_groups=groups, columns=[*wanted])
        pyarrow, schema = require_pyarrow(), self.parquet.schema_arrow
        held = pyarrow.schema([schema.field(name) for name in wanted]).empty_table()

        def take_rows(n: int) -> Any:
            nonlocal held, skip
            parts = held.to_batches()
            while sum(map(len, parts)) < n and (chunk := next(chunks, None)) is not None:
                gone = min(skip, len(chunk))
                parts.append(chunk.slice(gone))
                skip -= gone
            table = pyarrow.Table.from_batches(parts) if parts else held
            held = table.slice(n)
            return table.slice(0, n)

        return take_rows


@contextmanager
def _open_tables(
    files: Mapping[str, RemoteFile], inputs: CorpusFiles
) -> Iterator[dict[str, _Table]]:
    """Open the files of all roles, which have equally many rows."""
    with ExitStack() as stack:
        tables = {role: _open_table(role, file, inputs, stack) for role, file in files.items()}
        lead = tables["parquet"]
        counts = [(role, table.file.uri, table.rows) for role, table in tables.items()]
        for each in counts:
            check_equal_counts(each, ("parquet", lead.file.uri, lead.rows))
        yield tables


def _open_table(role: str, file: RemoteFile, inputs: CorpusFiles, stack: ExitStack) -> _Table:
    pyarrow = require_pyarrow()
    if file.uri == "-":
        raise InputError("Parquet cannot be read from standard input", remedy="name files")
    stream = stack.enter_context(open_raw(file.uri, storage=inputs.storage))
    with check_parquet(file.uri, "name Parquet files, for a whole folder folder/*.parquet"):
        parquet = pyarrow.parquet.ParquetFile(stream)
    meta = parquet.metadata
    sizes = [meta.row_group(k).num_rows for k in range(meta.num_row_groups)]
    held = tuple(meta.row_group(k).total_byte_size for k in range(meta.num_row_groups))
    columns = check_columns(parquet.schema_arrow, file.uri, role)
    return _Table(file, columns, tuple(accumulate(sizes, initial=0)), held, parquet)


def parquet_batches(
    pieces: Mapping[str, Piece], reading: PartReading, batch: int, first: int
) -> Iterator[CorpusBatch]:
    """The batches of Parquet files that belong together, or of the same rows of each."""
    unused = f"{reading.inputs.title}: the column 'weight' is not used: every sentence counts once"
    for rows in _read_rows(pieces, reading.inputs, batch, first):
        guard = reading.inputs.guard and (rows.start or 2 * len(rows.sources) >= batch)
        maker = BatchBuilder(reading, len(rows.sources), rows.before, rows.first, bool(guard))
        corpus = _build_corpus(rows, maker)
        if rows.document is not None:  # a sentence without one is its own document
            names = enumerate(rows.document, rows.first + 1)
            corpus = corpus.in_documents(
                [f"row {row}" if name is None else f"document {name}" for row, name in names]
            )
        # Nothing is left aside without a word.
        reading.warnings.add_to_sum("weights", len(rows.weight or ()), lambda _: unused)
        systems = [
            maker.build_output(name, lines, rows.paths[name], corpus)
            for name, lines in rows.outputs.items()
        ]
        yield corpus, systems


def _build_corpus(rows: ParquetRows, maker: BatchBuilder) -> Corpus:
    if rows.a_lines is not None:
        return maker.build_gold(_build_gold(rows, maker.reading.inputs))
    sets: list[list[str | None]] = []
    if rows.references is not None:
        most = max((len(texts or ()) for texts in rows.references), default=0)
        sets = [
            [texts[k] if texts and k < len(texts) else None for texts in rows.references]
            for k in range(most)
        ]
    return maker.build_parallel(rows.sources, sets, [rows.path] * (len(sets) + 1))


def _build_gold(rows: ParquetRows, inputs: CorpusFiles) -> M2File:
    """Gold edits as the M2 reader reads them, with rows in the place of lines."""
    assert rows.a_lines is not None
    starts, text, line = [], [], 1
    for row, (source, lines) in enumerate(zip(rows.sources, rows.a_lines, strict=True)):
        if "\n" in source or any(not each.startswith("A ") for each in lines):
            broken = "\n" in source
            problem = "the source holds a line end" if broken else "a line is not an 'A ' line"
            remedy = "a sentence with gold edits is one line, its m2 the 'A ' lines below it"
            place = rows.before + row + 1
            raise InputError(problem, path=rows.path, line=place, remedy=remedy)
        starts.append(line)
        text.append("\n".join([f"S {source}", *lines, "", ""]))
        line += len(lines) + 2

    def row_of_line(number: int | None) -> int | None:
        return None if number is None else rows.before + bisect_right(starts, number)

    try:
        file = read_m2_text(
            "".join(text), rows.path, name=inputs.title, compatible=inputs.compatible, threads=1
        )
    except InputError as error:
        at = row_of_line(error.line)
        raise InputError(error.problem, path=error.path, line=at, remedy=error.remedy) from None
    numbers = tuple(range(rows.before + 1, rows.before + len(rows.sources) + 1))
    findings = tuple(replace(found, line=row_of_line(found.line)) for found in file.findings)
    return replace(file, lines=numbers, findings=findings)


@dataclass(frozen=True)
class ParquetRows:
    """Rows of Parquet files: texts by system, and other columns, None where missing.

    ``first`` counts the rows before them in all files, ``before`` in their file ``path``; ``paths``
    are the files of the systems.
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
    inputs: CorpusFiles, *, slices: Sequence[str] = (), batch: int = BATCH
) -> Iterator[ParquetRows]:
    """Yield the rows of Parquet inputs, ``batch`` at a time; ``slices`` are columns to add."""
    first = 0
    for group in group_files_by_position(inputs):
        pieces = {role: Piece(*file, 0, file.size) for role, file in group.items()}
        for rows in _read_rows(pieces, inputs, batch, first, slices):
            yield rows
            first += len(rows.sources)


def _read_rows(
    pieces: Mapping[str, Piece],
    inputs: CorpusFiles,
    batch: int,
    first: int,
    slices: Sequence[str] = (),
) -> Iterator[ParquetRows]:
    files = {role: RemoteFile(each.uri, each.size, each.mark) for role, each in pieces.items()}
    with _open_tables(files, inputs) as tables:
        lead = tables["parquet"]
        parts = hive_partitions(lead.file.uri)
        wanted = {
            role: table.columns.columns_to_read([name for name in slices if name not in parts])
            for role, table in tables.items()
        }
        takers = {
            role: table.row_taker(
                pieces[role] if pieces[role].groups else None, wanted[role], batch
            )
            for role, table in tables.items()
        }
        begun = before = pieces["parquet"].before
        groups = pieces["parquet"].groups
        stop = lead.starts[groups[-1] + 1] if groups else lead.rows
        while before < stop:
            n = min(batch, stop - before)
            given = {role: take(n) for role, take in takers.items()}
            texts = lead.columns.read_rows(given.pop("parquet"), before, slices, parts)
            beside = {
                role.removeprefix("output:"): (tables[role].columns, table)
                for role, table in given.items()
            }
            yield _join_files(texts, beside, lead, before, first, before == begun)
            before += n
            first += n


def _join_files(
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
        found = columns.read_rows(table, before, (), {})
        theirs, ours = found["ids"], texts["ids"]
        if theirs is not None and ours is not None and theirs != ours:
            row = next(k for k, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != b)
            problem = f"the id is {theirs[row]!r}, but that of {lead.file.uri} is {ours[row]!r}"
            remedy = "give the rows of all files in one order"
            raise InputError(problem, path=columns.path, line=before + row + 1, remedy=remedy)
        if name in outputs:
            problem = f"the system {name!r} is given twice, as a column and as a file"
            raise InputError(problem, path=columns.path, remedy="rename one of them")
        outputs[name] = found["outputs"][HYPOTHESIS]
        paths[name] = columns.path
    known = {**texts, "outputs": outputs}
    return ParquetRows(first, before, start, lead.file.uri, paths, **known)
