"""Errata's own score files: JSON, TSV, printed tables, run results, Parquet."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from errata.core.errors import FORMULAS, InputError
from errata.core.parameters import name_in
from errata.core.stats import Floats, Ints
from errata.data import Scores, original_number
from errata.io.atomic import write_lines
from errata.io.checks import Finding, raise_or_warn
from errata.io.files import PathLike, open_raw, plain_name, read_lines, shown_name
from errata.io.records import Count, RecordReader, read_json
from errata.io.rows import read_number
from errata.io.shards.parquet import check_parquet, require_pyarrow

# ---- What readers of score files share: numbers that are numbers, one score a system and
# sentence.


def parse_score(text: str, path: str, line: int, *, comma: bool = False) -> float:
    """The score a cell holds, which must be a finite number."""
    number = read_number(text, comma=comma)
    if number is None:
        raise InputError(
            f"{text[:40]!r} is not a number",
            path=path,
            line=line,
            remedy="write scores as 0.3501; where there is none leave out the system, or leave the "
            "cell empty in a table of sentences",
        )
    return number


def cells_under(head: Sequence[str], line: str, path: str, number: int) -> list[str]:
    """The cells of a line of TSV, one under each heading."""
    cells = line.rstrip("\r\n").split("\t")
    if len(cells) != len(head):
        raise InputError(
            f"{len(cells)} cells under {len(head)} headings",
            path=path,
            line=number,
            remedy="cells are apart by tabs",
        )
    return cells


def duplicate_score_error(
    system: str, path: str, line: int, sentence: int | None = None
) -> InputError:
    """The error for a second score of a system."""
    where = "" if sentence is None else f" for sentence {sentence}"
    return InputError(
        f"the system {system} has two scores{where}", path=path, line=line, remedy="keep one"
    )


def add_sentence(
    sentences: dict[str, dict[int, float]],
    system: str,
    sentence: str,
    score: float,
    path: str,
    line: int,
) -> None:
    """Note the score of a system on a sentence, once."""
    if not (sentence.isascii() and sentence.isdecimal() and len(sentence) < 9):
        raise InputError(
            f"{sentence[:40]!r} is not a sentence number",
            path=path,
            line=line,
            remedy="sentences are counted from 0",
        )
    mine = sentences.setdefault(system, {})
    if int(sentence) in mine:
        raise duplicate_score_error(system, path, line, int(sentence))
    mine[int(sentence)] = score


def sentence_table(
    systems: Sequence[str], sentences: Mapping[str, Mapping[int, float]], path: str
) -> Floats:
    """Scores ``[system, sentence]``, NaN where there is none, which is warned of."""
    if set(systems) != set(sentences):
        odd = ", ".join(sorted(set(systems) ^ set(sentences)))
        raise InputError(
            f"overall scores and sentence scores are not of the same systems: {odd}",
            path=path,
            remedy="give tables that belong together",
        )
    n = max(max(mine) for mine in sentences.values()) + 1
    scores = sum(map(len, sentences.values()))
    if n > 100 * scores:
        raise InputError(
            f"sentence {n - 1}, but there are {scores} scores",
            path=path,
            remedy="sentences are counted from 0 without large gaps",
        )
    table = np.full((len(systems), n), math.nan)
    for s, system in enumerate(systems):
        for sentence, score in sentences[system].items():
            table[s, sentence] = score
    raise_or_warn(
        [
            Finding(
                "warning",
                path,
                None,
                f"{n - len(sentences[system])} of {n} sentences have no score of {system}",
                "they are left out where this system is compared",
                "missing-score",
            )
            for system in systems
            if len(sentences[system]) < n
        ],
        stacklevel=5,
    )
    return table


# ---- Scores as our commands print them: the tables of ``errata score`` and ``errata rank``.

PrintedTable = dict[str, Any]


def from_printed_json(data: Any, name: str) -> list[Scores]:
    """The scores among the tables of one JSON output."""
    tables = data.get("tables") if isinstance(data, dict) else None
    if not isinstance(tables, list) or not all(map(_is_table, tables)):
        raise InputError(
            "not a file of scores", path=name, remedy="give what errata score or rank printed"
        )
    return from_tables(tables, name)


def _is_table(table: Any) -> bool:
    return (
        isinstance(table, dict)
        and isinstance(columns := table.get("columns"), list)
        and all(isinstance(column, str) for column in columns)
        and isinstance(rows := table.get("rows"), list)
        and all(isinstance(row, dict) and row.keys() == set(columns) for row in rows)
        and isinstance(table.get("signature", ""), str)
        and isinstance(table.get("name", ""), str)
    )


def is_printed_tsv(line: str) -> bool:
    """Whether a line is the heading of a table that a command printed."""
    head = line.rstrip("\r\n").split("\t")
    return "system" in head[:5] and head[-1] == "signature"


def from_printed_tsv(lines: Iterable[str], name: str) -> list[Scores]:
    """The scores among the tables of one TSV output."""
    tables: list[PrintedTable] = []
    head: list[str] | None = None
    for number, line in enumerate(lines, 1):
        if not line.rstrip("\r\n"):
            head = None
        elif head is None:
            head = [*map(_unsafe, line.rstrip("\r\n").split("\t"))]
            kept = [c for c in head if c != "signature" and not c.endswith((" low", " high"))]
            tables.append({"columns": kept, "rows": [], "lines": []})
        else:
            cells = map(_unsafe, cells_under(head, line, name, number))
            row = dict(zip(head, cells, strict=True))
            tables[-1].setdefault("signature", row.get("signature", ""))
            tables[-1]["rows"].append(row)
            tables[-1]["lines"].append(number)
    return from_tables([part for table in tables for part in _parts(table)], name)


def _parts(table: PrintedTable) -> list[PrintedTable]:
    """The tables that share one, by the name in the first column; each with its own columns."""
    by = table["columns"][0]
    if by == "table":
        return [own for part in _split(table) for own in _parts(part)]
    if by != "metric" or "figure" not in table["columns"]:
        return [table]
    parts = _split(table)
    for part in parts:
        headline = part["rows"][0]["figure"] or "score"
        kept = (c for c in part["columns"] if c != "figure")
        part["columns"] = [headline if c == "score" else c for c in kept]
        part["rows"] = [{**row, headline: row["score"]} for row in part["rows"]]
    return parts


def _split(table: PrintedTable) -> list[PrintedTable]:
    """A table by what stands in its first column, each part with the columns it has values in."""
    by, *columns = table["columns"]
    parts: dict[str, PrintedTable] = {}
    for row, line in zip(table["rows"], table["lines"], strict=True):
        new: PrintedTable = {"rows": [], "lines": [], "signature": row.get("signature", "")}
        part = parts.setdefault(row[by], new)
        part["rows"].append(row)
        part["lines"].append(line)
    for part in parts.values():
        part["columns"] = [c for c in columns if any(row[c] for row in part["rows"])]
    return [part for part in parts.values() if part["columns"]]


def _unsafe(cell: str) -> str:
    """A cell as it was before quotation marks, or --safe-cells, kept others from misreading it."""
    if len(cell) > 1 and cell[0] == cell[-1] == '"':
        return cell[1:-1].replace('""', '"')
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(FORMULAS) else cell


def from_tables(tables: list[PrintedTable], name: str) -> list[Scores]:
    """The scores in tables, each with its ``columns``, ``rows`` and ``signature``."""
    found = []
    for table in tables:
        columns = table["columns"]
        if columns[:2] == ["system", "sentence"] and len(columns) > 2:
            found.append(_by_sentence(table, name))
        elif columns[0] == "cluster" and columns[-1] == "date":
            continue  # a board: several metrics side by side, as an overview has them
        elif "system" in columns[1:-1] and columns[0] in ("rank", "cluster"):
            found.append(_of_systems(table, name))
    if not found:
        raise InputError(
            "no table of scores in the file",
            path=name,
            remedy="give what errata score or errata rank printed",
        )
    return found


def _number(row: PrintedTable, column: str, name: str, line: int | None) -> float:
    cell = row[column]
    if isinstance(cell, dict):  # a score with its interval
        cell = cell.get("value")
    if isinstance(cell, str) and line is not None:
        return parse_score(cell, name, line)
    if type(cell) not in (int, float):
        raise InputError(
            f"the {column} of {str(row['system'])[:40]!r} is no number",
            path=name,
            remedy="leave out systems without a score",
        )
    return float(cell)


def _system(row: PrintedTable, name: str) -> str:
    system = row["system"]
    if not isinstance(system, str) or not system:
        raise InputError("a row without the name of a system", path=name)
    return system


def _numbered(table: PrintedTable) -> list[tuple[PrintedTable, int | None]]:
    lines = table.get("lines", [None] * len(table["rows"]))
    return list(zip(table["rows"], lines, strict=True))


def _made(
    table: PrintedTable,
    systems: tuple[str, ...],
    headline: str,
    values: Any,
    sentences: Any,
    name: str,
) -> Scores:
    scorer, *context = (table.get("signature") or headline).split("\n")[0].split(" | ")
    try:
        return Scores(
            scorer,
            systems,
            values,
            sentences,
            headline=headline,
            context=tuple(context),
            name=name_in(scorer),
        )
    except InputError as error:
        raise InputError(error.problem, path=name, remedy=error.remedy) from None


def _of_systems(table: PrintedTable, name: str) -> Scores:
    columns = table["columns"]
    headline = columns[columns.index("system") + 1]
    rows = _numbered(table)
    systems = tuple(_system(row, name) for row, _ in rows)
    values = np.array([_number(row, headline, name, line) for row, line in rows], np.float64)
    return _made(table, systems, headline, values, None, name)


def _by_sentence(table: PrintedTable, name: str) -> Scores:
    headline = table["columns"][2]
    scores: dict[str, dict[int, float]] = {}
    for row, line in _numbered(table):
        number = _number(row, "sentence", name, line)
        if not 1 <= number < 10**8 or number % 1:
            raise InputError(f"{row['sentence']!r} is not a sentence number", path=name, line=line)
        mine = scores.setdefault(_system(row, name), {})
        if row[headline] not in (None, ""):  # a sentence without a score
            mine[int(number) - 1] = _number(row, headline, name, line)
    systems = tuple(scores)
    if not any(scores.values()):
        raise InputError("no sentence has a score", path=name)
    values = np.full(len(systems), np.nan)
    return _made(table, systems, headline, values, sentence_table(systems, scores, name), name)


STORED = "errata scores 1"
_REMEDY = "give a file written by errata (write_scores)"
_NO_NUMBERS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def write_scores(scores: Scores, path: PathLike) -> None:
    """Write scores as JSON (``.json``, ``.json.gz``) or TSV (``.tsv``, ``.tsv.gz``).

    JSON keeps every figure exactly and `read_scores` gives the same scores back. TSV has one row
    per system and one per sentence, with the scorer and all figures; resamples, context and
    notes stay behind.
    """
    form = _form(path)
    if not scores.systems:
        raise InputError("there are no systems to write scores of", path=os.fspath(path))
    write_lines(_as_json(scores) if form == "json" else _as_tsv(scores, os.fspath(path)), path)


def read_scores(path: PathLike) -> Scores:
    """Read what `write_scores` wrote."""
    return _from_json(path) if _form(path) == "json" else _from_tsv(path)


def _form(path: PathLike) -> Literal["json", "tsv"]:
    name = plain_name(path)
    if name.endswith(".json"):
        return "json"
    if name.endswith(".tsv"):
        return "tsv"
    raise InputError(
        "scores are stored as .json or .tsv",
        path=os.fspath(path),
        remedy="give the file one of these endings",
    )


def _plain(values: Floats | Ints | None) -> Any:
    """Nested lists; JSON has no NaN (null here) and no infinity (a string here)."""

    def one(value: Any) -> Any:
        if isinstance(value, list):
            return [one(item) for item in value]
        return None if math.isnan(value) else value if math.isfinite(value) else str(value)

    if values is None:
        return None
    nested = values.tolist()
    return nested if bool(np.isfinite(values).all()) else one(nested)


def stored_json(scores: Scores) -> dict[str, Any]:
    """Scores as JSON keeps them; `from_stored_json` gives them back."""
    data = {
        "format": STORED,
        "scorer": scores.scorer,
        "headline": scores.headline,
        "context": list(scores.context),
        "notes": list(scores.notes),
        "name": scores.name,
        "label": scores.label,
        "systems": list(scores.systems),
        "values": _plain(scores.values),
        "parts": {name: _plain(part) for name, part in scores.parts.items()},
        "sentences": _plain(scores.sentences),
        "sentence_parts": {name: _plain(part) for name, part in scores.sentence_parts.items()},
        "resampled": _plain(scores.resampled),
    }
    if scores.skipped:  # a file of all sentences is as it was
        data["skipped"] = list(scores.skipped)
    if scores.shares:
        data["shares"] = list(scores.shares)
    return data


def _as_json(scores: Scores) -> list[str]:
    data = stored_json(scores)
    return [
        "{",
        *(
            f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}"
            + "," * (i + 1 < len(data))
            for i, (key, value) in enumerate(data.items())
        ),
        "}",
    ]


@dataclass(frozen=True)
class _StoredScores:
    """Scores as JSON keeps them; arrays are nested lists."""

    scorer: str
    headline: str
    context: tuple[str, ...]
    notes: tuple[str, ...]
    name: str
    label: str
    systems: tuple[str, ...]
    values: Any
    parts: Mapping[str, Any]
    sentences: Any
    sentence_parts: Mapping[str, Any]
    resampled: Any
    skipped: tuple[Count, ...] = ()
    shares: tuple[str, ...] = ()


def _from_json(path: PathLike) -> Scores:
    return from_stored_json(read_json(path, "not JSON", _REMEDY), shown_name(path))


def from_stored_json(data: Any, name: str) -> Scores:
    """Return the scores of a JSON file that `write_scores` wrote."""
    reader = RecordReader(name, remedy=_REMEDY)
    if not isinstance(data, dict) or data.get("format") != STORED:
        raise reader.error("not a file of scores")
    kept = reader.decode(_StoredScores, {k: v for k, v in data.items() if k != "format"})
    n = len(kept.systems)

    def array(key: str, values: Any, *shape: int) -> Floats:
        try:
            return _array(values, shape)
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            raise reader.error(str(error)[:100], key) from None

    try:
        return Scores(
            scorer=kept.scorer,
            systems=kept.systems,
            values=array("values", kept.values, n),
            sentences=None if kept.sentences is None else array("sentences", kept.sentences, n, -1),
            parts={key: _part(part, array(key, part, n)) for key, part in kept.parts.items()},
            resampled=None if kept.resampled is None else array("resampled", kept.resampled, -1, n),
            sentence_parts={
                key: _part(part, array(key, part, n, -1))
                for key, part in kept.sentence_parts.items()
            },
            headline=kept.headline,
            context=kept.context,
            notes=kept.notes,
            name=kept.name,
            label=kept.label,
            skipped=tuple(sorted({*kept.skipped})),
            shares=kept.shares,
        )
    except InputError as error:
        raise InputError(error.problem, path=name, remedy=error.remedy) from None


def _numbers(values: Any) -> Any:
    """Return nested lists of numbers, with NaN and infinities as `_plain` writes them."""
    if isinstance(values, list):
        return [_numbers(value) for value in values]
    if type(values) in (int, float) or values is None:
        return values
    if isinstance(values, str) and values in _NO_NUMBERS:
        return _NO_NUMBERS[values]
    raise TypeError(f"{values!r} is not a number")


def _array(values: Any, shape: tuple[int, ...]) -> Floats:
    """Return nested lists as an array of a shape, in which -1 is any size."""
    array = np.array(_numbers(values), np.float64)
    if array.size == 0 and array.ndim != len(shape):  # [] does not say its other dimension
        array = array.reshape([max(size, 0) for size in shape])
    if array.ndim != len(shape) or any(
        a != b for a, b in zip(array.shape, shape, strict=True) if b != -1
    ):
        raise ValueError(f"numbers of shape {array.shape} and not {shape}")
    return array


def _part(values: Any, array: Floats) -> Floats | Ints:
    """Return an array of whole numbers where all were written as such."""
    flat = values if array.ndim == 1 else [value for row in values for value in row]
    whole = bool(flat) and all(type(value) is int for value in flat)
    return array.astype(np.int64) if whole else array


def _as_tsv(scores: Scores, path: str) -> list[str]:
    parts = list(dict.fromkeys((*scores.parts, *scores.sentence_parts)))
    rows = [["scorer", "system", "sentence", scores.headline, *parts]]
    if len(set(rows[0])) < len(rows[0]):
        raise InputError(
            f"two columns would have one name: {', '.join(rows[0])}",
            path=path,
            remedy="rename the part, or write JSON",
        )
    for s, system in enumerate(scores.systems):
        rows.append(
            [
                scores.scorer,
                system,
                "",
                repr(float(scores.values[s])),
                *(
                    repr(float(scores.parts[part][s])) if part in scores.parts else ""
                    for part in parts
                ),
            ]
        )
        if scores.sentences is not None:
            more = [
                scores.sentence_parts[part][s].tolist() if part in scores.sentence_parts else None
                for part in parts
            ]
            rows += [
                [
                    scores.scorer,
                    system,
                    str(original_number(scores.skipped, i) - 1),
                    repr(value),
                    *("" if column is None else repr(column[i]) for column in more),
                ]
                for i, value in enumerate(scores.sentences[s].tolist())
            ]
    for row in rows:
        for cell in row:
            if any(c in cell for c in "\t\r\n"):
                raise InputError(
                    f"{cell!r} holds a tab or a line end",
                    path=path,
                    remedy="rename it, or write JSON",
                )
    return ["\t".join(row) for row in rows]


def _from_tsv(path: PathLike) -> Scores:
    lines, findings = read_lines(path)
    raise_or_warn(findings, stacklevel=4)
    return from_stored_tsv(lines, shown_name(path))


def from_stored_tsv(lines: list[str], name: str) -> Scores:
    """The scores of a TSV file that `write_scores` wrote."""
    head = lines[0].split("\t") if lines else []
    if head[:3] != ["scorer", "system", "sentence"] or len(head) < 4 or len(set(head)) < len(head):
        raise InputError(
            "the first line is not the heading scorer, system, sentence, score...",
            path=name,
            line=1,
            remedy="give a file written by errata (write_scores); "
            "for published tables use read_published_scores",
        )
    columns = head[3:]
    overall: dict[str, dict[str, float]] = {column: {} for column in columns}
    single: dict[str, dict[str, dict[int, float]]] = {column: {} for column in columns}
    scorers: set[str] = set()
    for number, line in enumerate(lines[1:], 2):
        scorer, system, sentence, *figures = cells_under(head, line, name, number)
        scorers.add(scorer)
        for column, cell in zip(columns, figures, strict=True):
            if not cell and column != columns[0]:
                continue
            value = _NO_NUMBERS.get(cell)
            if value is None:
                value = parse_score(cell, name, number)
            if sentence:
                add_sentence(single[column], system, sentence, value, name, number)
            elif system in overall[column]:
                raise duplicate_score_error(system, name, number)
            else:
                overall[column][system] = value
    if len(scorers) != 1:
        raise InputError(
            f"the scores of {len(scorers)} scorers, and not of one",
            path=name,
            remedy="keep one scorer per file",
        )
    systems = tuple(overall[columns[0]])

    def table(column: str) -> Floats:
        return sentence_table(systems, single[column], name)

    scorer = scorers.pop()
    return Scores(
        scorer,
        systems,
        np.array([overall[columns[0]][s] for s in systems]),
        table(columns[0]) if single[columns[0]] else None,
        headline=columns[0],
        name=name_in(scorer),
        parts={
            c: np.array([overall[c].get(s, math.nan) for s in systems])
            for c in columns[1:]
            if overall[c]
        },
        sentence_parts={c: table(c) for c in columns[1:] if single[c]},
    )


# ---- ``result.json`` of a run: the scores of every metric on every test set, in one file.

RUN_RESULT = "errata result 1"
_RUN_REMEDY = "give result.json of a run (errata scale)"


class RunScores(NamedTuple):
    """What every metric says of the systems on one test set."""

    name: str
    scores: tuple[Scores, ...]


def run_result_lines(sets: Sequence[RunScores], manifest: str) -> Iterator[str]:
    """The file, a line for every metric and set; the same scores give the same bytes."""
    yield "{"
    yield f'"format": {json.dumps(RUN_RESULT)},'
    yield f'"manifest": {json.dumps(manifest)},'
    yield '"sets": ['
    for k, (name, scores) in enumerate(sets, 1):
        yield f'{{"name": {json.dumps(name, ensure_ascii=False)}, "scores": ['
        for j, each in enumerate(scores, 1):
            text = json.dumps(stored_json(each), ensure_ascii=False)
            yield text + ("," if j < len(scores) else "")
        yield "]}" + ("," if k < len(sets) else "")
    yield "]}"


class _SetScores(NamedTuple):
    """The stored scores of one test set."""

    name: str
    scores: tuple[Any, ...]


class _RunFile(NamedTuple):
    """``result.json`` of a run."""

    sets: tuple[_SetScores, ...]


def from_run_result(data: Any, name: str) -> list[RunScores]:
    """Return the scores of a run, by test set."""
    run = RecordReader(name, remedy=_RUN_REMEDY, extra=True).decode(_RunFile, data)
    return [
        RunScores(each.name, tuple(from_stored_json(one, name) for one in each.scores))
        for each in run.sets
    ]


def scores_in_run(data: Any, name: str) -> list[Scores]:
    """All scores of a run as one list; of several test sets, scorers are named after theirs."""
    sets = from_run_result(data, name)
    if len(sets) == 1:
        return list(sets[0].scores)
    return [
        replace(
            scores,
            scorer=f"{each.name} {scores.scorer}",
            name=f"{each.name} {scores.name}",
            label=f"{each.name} {scores.label}",
        )
        for each in sets
        for scores in each.scores
    ]


# ---- Scores of single sentences as Parquet, one table for each system: written in pieces, read
# whole.

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
    pyarrow = require_pyarrow()
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
    """A table, or all tables of a folder, as what `errata.io.stored_scores` reads."""
    pyarrow = require_pyarrow()
    from errata.io.shards.inputs import natural_order

    files = [path]
    if os.path.isdir(path):
        names = [name for name in os.listdir(path) if name.endswith(SENTENCE_TABLE)]
        files = [os.path.join(path, name) for name in sorted(names, key=natural_order)]
    rows, columns, signatures = list[dict[str, Any]](), list[str](), set[str]()
    for file in files:
        with (
            open_raw(file) as stream,
            check_parquet(file, "give what errata scale sentences wrote"),
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
