"""Rows of scores, their assembler, and Errata's own files: JSON, TSV, printed tables, Parquet."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from errata.core.errors import FORMULAS, InputError
from errata.core.parameters import name_in
from errata.core.stats import Floats, Ints
from errata.data import Scores, original_number
from errata.io.atomic import write_lines
from errata.io.checks import Finding, raise_or_warn
from errata.io.files import PathLike, open_raw, read_lines, shown_name, unpacked_name
from errata.io.records import Count, RecordReader, read_json
from errata.io.rows import read_number
from errata.io.shards.parquet import check_parquet, require_pyarrow


class ScoreRow(NamedTuple):
    """A figure of a system for a sentence, from 0, or for all (None); ``value`` may be missing."""

    scorer: str
    system: str
    sentence: int | None
    figure: str
    value: float | None
    line: int | None = None


@dataclass
class _Figure:
    """The values of one figure by system and sentence; None is the sentence of the whole text."""

    path: str
    known: dict[str, dict[int | None, float | None]] = field(default_factory=dict)
    gap_line: int | None = None

    def corpus_values(self, systems: Sequence[str]) -> Floats:
        """The values of the whole text, NaN where there is none."""
        return np.array([self.known.get(system, {}).get(None) for system in systems], np.float64)

    @property
    def has_corpus_values(self) -> bool:
        """Whether a system has a value for the whole text."""
        return any(None in values for values in self.known.values())

    def sentence_table(self, systems: Sequence[str]) -> Floats | None:
        """The values ``[system, sentence]``, NaN where there is none; warn about gaps."""
        rows = {
            system: (list(map(int, places)), [values[place] for place in places])
            for system, values in self.known.items()
            if (places := [place for place in values if place is not None])
        }
        if not rows:
            return None
        if odd := {*systems} ^ rows.keys():
            problem = "overall scores and sentence scores are not of the same systems: "
            problem += ", ".join(sorted(odd))
            raise InputError(problem, path=self.path, remedy="give tables that belong together")
        size = 1 + max(max(places) for places, _ in rows.values())
        most = max(len(values) - values.count(None) for _, values in rows.values())
        if size > 100 * max(most, 1):
            problem = f"a score for sentence {size - 1}, but scores for only {most} sentences"
            remedy = "number the sentences from 0 without large gaps"
            raise InputError(problem, path=self.path, remedy=remedy)
        table = np.full((len(systems), size), math.nan)
        gaps = np.ones(table.shape, bool)
        for s, system in enumerate(systems):
            places, values = rows[system]
            table[s, places] = values
            gaps[s, places] = [value is None for value in values] if None in values else False
        if gaps.any():
            self._warn_of_missing_scores(systems, gaps)
        return table

    def _warn_of_missing_scores(self, systems: Sequence[str], gaps: np.ndarray) -> None:
        counts = dict(zip(systems, gaps.sum(axis=1).tolist(), strict=True))
        if len(systems) > 1 and gaps[:, gaps.any(axis=0)].all():
            counts = {"any system": int(gaps[0].sum())}
        remedy = "they are left out where this system is compared"
        path, line, findings = self.path, self.gap_line, []
        for system, count in counts.items():
            problem = f"{count} of {gaps.shape[1]} sentences have no score of {system}"
            if count:
                found = Finding("warning", path, line, problem, remedy, "missing-score")
                findings.append(found)
        raise_or_warn(findings, stacklevel=6)


def scores_from_rows(
    rows: Iterable[ScoreRow], path: str, *, signatures: bool = False
) -> list[Scores]:
    """Return the scores of every scorer in rows; its first figure is the headline.

    With ``signatures`` scorers are signatures of metrics, perhaps with their context.
    """
    found: dict[str, dict[str, _Figure]] = {}
    columns: dict[tuple[str, str, str], tuple[_Figure, dict[int | None, float | None]]] = {}
    for scorer, system, sentence, name, value, line in rows:
        column = columns.get((scorer, name, system))
        if column is None:
            figure = found.setdefault(scorer, {}).setdefault(name, _Figure(path))
            column = figure, figure.known.setdefault(system, {})
            columns[scorer, name, system] = column
        figure, known = column
        if value is None:
            figure.gap_line = figure.gap_line or line
            known.setdefault(sentence, None)
        elif known.get(sentence) is None:
            known[sentence] = value
        else:
            where = "" if sentence is None else " for one sentence"
            problem = f"the system {system} has two scores{where}"
            raise InputError(problem, path=path, line=line, remedy="keep one")
    return [_scores_of_one_scorer(*each, path, signatures) for each in found.items()]


def _scores_of_one_scorer(
    scorer: str, figures: dict[str, _Figure], path: str, signature: bool
) -> Scores:
    headline, *parts = figures
    first = figures[headline]
    whole = first.has_corpus_values
    systems = tuple(name for name, values in first.known.items() if None in values or not whole)
    if not all(systems):
        raise InputError("a system without a name", path=path, remedy="fill in its name")
    scorer, *context = scorer.split(" | ") if signature else [scorer]
    tables = {name: figure.sentence_table(systems) for name, figure in figures.items()}
    return Scores(
        scorer,
        systems,
        first.corpus_values(systems),
        tables.pop(headline),
        {
            name: figures[name].corpus_values(systems)
            for name in parts
            if figures[name].has_corpus_values
        },
        sentence_parts={name: table for name, table in tables.items() if table is not None},
        headline=headline,
        context=tuple(context),
        name=name_in(scorer) if signature else "",
    )


def require_one_scorer(found: Sequence[Scores], path: str) -> Scores:
    if len(found) != 1:
        names = ", ".join(sorted(scores.scorer for scores in found))
        problem = f"the scores of {len(found)} scorers, and not of one: {names}"
        raise InputError(problem, path=path, remedy="keep one scorer per file")
    return found[0]


def parse_score(text: str, path: str, line: int, *, comma: bool = False) -> float:
    """Return the score that a cell holds, which must be a finite number."""
    number = read_number(text, comma=comma)
    if number is None:
        problem = f"{text[:40]!r} is not a number"
        remedy = "write scores as 0.3501; where there is none leave out the system, or in a table "
        remedy += "of sentences leave the cell empty"
        raise InputError(problem, path=path, line=line, remedy=remedy)
    return number


def parse_sentence(text: str, path: str, line: int | None, *, first: int = 0) -> int:
    """Return the number of a sentence, from 0, where a file counts from ``first``."""
    number = int(text) if len(text) < 9 and text.isascii() and text.isdecimal() else -1
    if number < first:
        problem = f"{text[:40]!r} is not a sentence number"
        remedy = f"sentences are counted from {first}"
        raise InputError(problem, path=path, line=line, remedy=remedy)
    return number - first


def _split_tsv_line(head: Sequence[str], line: str, path: str, number: int) -> list[str]:
    """The cells of a line of TSV, one under each heading."""
    cells = line.rstrip("\r\n").split("\t")
    if len(cells) != len(head):
        problem = f"{len(cells)} cells under {len(head)} headings"
        raise InputError(problem, path=path, line=number, remedy="cells are apart by tabs")
    return cells


# ---- What `write_scores` writes: JSON with every figure, or TSV.

STORED = "errata scores 1"
_REMEDY = "give a file written by errata (write_scores)"
_NO_NUMBERS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def write_scores(scores: Scores, path: PathLike) -> None:
    """Write scores as JSON (``.json``, ``.json.gz``) or TSV (``.tsv``, ``.tsv.gz``).

    JSON keeps every figure exactly and `read_scores` gives the same scores back. TSV has one row
    per system and one per sentence, with the scorer and all figures; resamples, context and
    notes stay behind.
    """
    form = _file_form(path)
    if not scores.systems:
        raise InputError("there are no systems to write scores of", path=os.fspath(path))
    shown = os.fspath(path)
    if form == "tsv":
        write_lines(_tsv_lines(scores, shown), path)
        return
    entries = [
        f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}"
        for key, value in stored_json(scores).items()
    ]
    write_lines(["{", *(f"{entry}," for entry in entries[:-1]), entries[-1], "}"], path)


def read_scores(path: PathLike) -> Scores:
    """Read what `write_scores` wrote."""
    name = shown_name(path)
    if _file_form(path) == "json":
        return from_stored_json(read_json(path, "not JSON", _REMEDY), name)
    lines, findings = read_lines(path)
    raise_or_warn(findings)
    return from_stored_tsv(lines, name)


def _file_form(path: PathLike) -> Literal["json", "tsv"]:
    name = unpacked_name(path)
    if name.endswith(".json"):
        return "json"
    if name.endswith(".tsv"):
        return "tsv"
    problem = "scores are stored as .json or .tsv"
    raise InputError(problem, path=os.fspath(path), remedy="give the file one of these endings")


def _to_json_value(value: Any) -> Any:
    """What JSON writes of a field; it has no NaN (null here) and no infinity (a string here)."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None if math.isnan(value) else str(value)
    if isinstance(value, list | tuple):
        return [_to_json_value(each) for each in value]
    if isinstance(value, np.ndarray):
        nested = value.tolist()
        return nested if bool(np.isfinite(value).all()) else _to_json_value(nested)
    if isinstance(value, Mapping):
        return {key: _to_json_value(each) for key, each in value.items()}
    return value


def stored_json(scores: Scores) -> dict[str, Any]:
    """Return scores as JSON keeps them; `from_stored_json` gives them back."""
    keys = (
        *("scorer", "headline", "context", "notes", "name", "label", "systems"),
        *("values", "parts", "sentences", "sentence_parts", "resampled"),
    )
    data = {"format": STORED, **{key: _to_json_value(getattr(scores, key)) for key in keys}}
    if scores.skipped:  # a file of all sentences is as it was
        data["skipped"] = list(scores.skipped)
    if scores.shares:
        data["shares"] = list(scores.shares)
    return data


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


def from_stored_json(data: Any, name: str) -> Scores:
    """Return the scores of a JSON file that `write_scores` wrote."""
    reader = RecordReader(name, remedy=_REMEDY)
    if not isinstance(data, dict) or data.get("format") != STORED:
        raise reader.error("not a file of scores")
    stored = reader.decode(_StoredScores, {k: v for k, v in data.items() if k != "format"})
    n = len(stored.systems)

    def array(key: str, values: Any, *shape: int) -> Floats:
        try:
            # Return nested lists as an array of a shape, in which -1 is any size.
            array = np.array(_from_json_numbers(values), np.float64)
            if array.size == 0 and array.ndim != len(shape):  # [] does not say its other dimension
                array = array.reshape([max(size, 0) for size in shape])
            if array.ndim != len(shape) or any(
                a != b for a, b in zip(array.shape, shape, strict=True) if b != -1
            ):
                raise ValueError(f"numbers of shape {array.shape} and not {shape}")
            return array
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            raise reader.error(str(error)[:100], key) from None

    def part_arrays(given: Mapping[str, Any], *shape: int) -> dict[str, Floats | Ints]:
        found: dict[str, Floats | Ints] = {}
        for key, values in given.items():
            made = array(key, values, *shape)
            flat = values if made.ndim == 1 else [value for row in values for value in row]
            whole = bool(flat) and all(type(value) is int for value in flat)
            found[key] = made.astype(np.int64) if whole else made
        return found

    plain = ("scorer", "systems", "headline", "context", "notes", "name", "label", "shares")
    sentences, resampled = stored.sentences, stored.resampled
    try:
        return Scores(
            values=array("values", stored.values, n),
            sentences=None if sentences is None else array("sentences", sentences, n, -1),
            parts=part_arrays(stored.parts, n),
            resampled=None if resampled is None else array("resampled", resampled, -1, n),
            sentence_parts=part_arrays(stored.sentence_parts, n, -1),
            skipped=tuple(sorted({*stored.skipped})),
            **{key: getattr(stored, key) for key in plain},
        )
    except InputError as error:
        raise InputError(error.problem, path=name, remedy=error.remedy) from None


def _from_json_numbers(values: Any) -> Any:
    """Return nested lists of numbers, with NaN and infinities as `_to_json_value` writes them."""
    if isinstance(values, list):
        return [_from_json_numbers(value) for value in values]
    if type(values) in (int, float) or values is None:
        return values
    if isinstance(values, str) and values in _NO_NUMBERS:
        return _NO_NUMBERS[values]
    raise TypeError(f"{values!r} is not a number")


def _tsv_lines(scores: Scores, path: str) -> list[str]:
    columns = [scores.headline, *dict.fromkeys((*scores.parts, *scores.sentence_parts))]
    rows = [["scorer", "system", "sentence", *columns]]
    if len(set(rows[0])) < len(rows[0]):
        problem = f"two columns would have one name: {', '.join(rows[0])}"
        raise InputError(problem, path=path, remedy="rename the part, or write JSON")
    whole = {scores.headline: scores.values, **scores.parts}
    single = {**scores.sentence_parts}
    if scores.sentences is not None:
        single[scores.headline] = scores.sentences
    for s, system in enumerate(scores.systems):
        cells = (repr(float(whole[c][s])) if c in whole else "" for c in columns)
        rows.append([scores.scorer, system, "", *cells])
        values = {c: array[s].tolist() for c, array in single.items()}
        for i in range(len(values.get(scores.headline, ()))):
            number = str(original_number(scores.skipped, i) - 1)
            cells = (repr(values[c][i]) if c in values else "" for c in columns)
            rows.append([scores.scorer, system, number, *cells])
    for cell in (cell for row in rows for cell in row):
        if any(c in cell for c in "\t\r\n"):
            problem = f"{cell!r} holds a tab or a line end"
            raise InputError(problem, path=path, remedy="rename it, or write JSON")
    return ["\t".join(row) for row in rows]


def from_stored_tsv(lines: list[str], name: str) -> Scores:
    """Return the scores of a TSV file that `write_scores` wrote."""
    head = lines[0].split("\t") if lines else []
    if head[:3] != ["scorer", "system", "sentence"] or len(head) < 4 or len(set(head)) < len(head):
        problem = "the first line is not the heading scorer, system, sentence, score..."
        remedy = "give a file written by errata (write_scores); for published tables use "
        remedy += "read_published_scores"
        raise InputError(problem, path=name, line=1, remedy=remedy)
    columns = head[3:]

    def rows() -> Iterator[ScoreRow]:
        whole, single = set[str](), set[str]()
        for number, line in enumerate(lines[1:], 2):
            scorer, system, sentence, *figures = _split_tsv_line(head, line, name, number)
            place = parse_sentence(sentence, name, number) if sentence else None
            (single if sentence else whole).add(system)
            for column, cell in zip(columns, figures, strict=True):
                if cell or column == columns[0]:
                    value = read_number(cell)
                    if value is None and (value := _NO_NUMBERS.get(cell)) is None:
                        value = parse_score(cell, name, number)
                    yield ScoreRow(scorer, system, place, column, value, number)
        if single - whole:
            problem = f"no overall score of {', '.join(sorted(single - whole))}"
            remedy = "keep the rows without a sentence, which hold the scores of the whole text"
            raise InputError(problem, path=name, remedy=remedy)

    return require_one_scorer(scores_from_rows(rows(), name, signatures=True), name)


# ---- ``result.json`` of a run: the scores of every metric on every test set, in one file.

RUN_RESULT = "errata result 1"


class RunScores(NamedTuple):
    """The scores of every metric on one test set."""

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
    name: str
    scores: tuple[Any, ...]


class _RunFile(NamedTuple):
    sets: tuple[_SetScores, ...]


def from_run_result(data: Any, name: str) -> list[Scores]:
    """Return all scores of a run; of several test sets, scorers are named after theirs."""
    reader = RecordReader(name, remedy="give result.json of a run (errata scale)", extra=True)
    sets = reader.decode(_RunFile, data).sets
    found = [(each.name, from_stored_json(scores, name)) for each in sets for scores in each.scores]
    if len(sets) == 1:
        return [scores for _, scores in found]
    return [prefix_names(scores, name) for name, scores in found]


def prefix_names(scores: Scores, prefix: str) -> Scores:
    """Return scores with a word before the names of their scorer."""
    names = scores.scorer, scores.name, scores.label
    scorer, name, label = (f"{prefix} {text}" for text in names)
    return replace(scores, scorer=scorer, name=name, label=label)


# ---- Scores as our commands print them: the tables of ``errata score`` and ``errata rank``.

_PRINTED = "give what errata score or errata rank printed"


@dataclass(frozen=True)
class PrintedTable:
    """A table that a command printed; ``lines`` has the line of each row in a TSV file."""

    columns: tuple[str, ...]
    rows: tuple[Mapping[str, Any], ...]
    signature: str = ""
    lines: tuple[int, ...] = ()

    def score_rows(self, path: str) -> list[ScoreRow]:
        """The scores of the table, which must have some."""
        sentences = self.columns[1] == "sentence"
        headline = self.columns[self.columns.index("system") + 1 + sentences]
        signature = (self.signature or headline).split("\n")[0]
        found = []
        for k, row in enumerate(self.rows):
            line = self.lines[k] if self.lines else None
            system, place, value = row.get("system"), None, None
            if not isinstance(system, str) or not system:
                raise InputError("a row without the name of a system", path=path, line=line)
            if sentences:
                place = parse_sentence(str(row.get("sentence")), path, line, first=1)
            if not sentences or row.get(headline) not in (None, ""):
                value = _parse_printed_score(
                    row.get(headline), f"the {headline} of {system[:40]!r}", path, line
                )
            found.append(ScoreRow(signature, system, place, headline, value, line))
        if all(row.value is None for row in found):
            unit = "sentence" if sentences else "system"
            raise InputError(f"no {unit} has a score", path=path)
        return found


def _parse_printed_score(cell: Any, what: str, path: str, line: int | None) -> float:
    if isinstance(cell, dict):  # a score with its interval
        cell = cell.get("value")
    if isinstance(cell, str) and line is not None:
        return parse_score(cell, path, line)
    if type(cell) not in (int, float):
        remedy = "leave out systems without a score"
        raise InputError(f"{what} is no number", path=path, remedy=remedy)
    return float(cell)


class _Printed(NamedTuple):
    tables: tuple[PrintedTable, ...]


def from_printed_json(data: Any, name: str) -> list[Scores]:
    """Return the scores among the tables of one JSON output."""
    reader = RecordReader(name, remedy=_PRINTED, extra=True)
    return scores_from_tables(reader.decode(_Printed, data).tables, name)


def is_printed_tsv(line: str) -> bool:
    """Whether a line is the heading of a table that a command printed."""
    head = line.rstrip("\r\n").split("\t")
    return "system" in head[:5] and head[-1] == "signature"


def from_printed_tsv(lines: Iterable[str], name: str) -> list[Scores]:
    """Return the scores among the tables of one TSV output."""
    tables: list[PrintedTable] = []
    for filled, block in groupby(enumerate(lines, 1), lambda each: bool(each[1].rstrip("\r\n"))):
        if filled:
            (_, first), *below = block
            head = [_unquote_cell(cell) for cell in first.rstrip("\r\n").split("\t")]
            cells = [map(_unquote_cell, _split_tsv_line(head, line, name, k)) for k, line in below]
            rows = tuple(dict(zip(head, row, strict=True)) for row in cells)
            columns = (c for c in head if c != "signature" and not c.endswith((" low", " high")))
            numbers = tuple(number for number, _ in below)
            signature = rows[0].get("signature", "") if rows else ""
            tables += _split_table(PrintedTable(tuple(columns), rows, signature, numbers))
    return scores_from_tables(tables, name)


def _split_table(table: PrintedTable) -> list[PrintedTable]:
    """The tables that share one, by the name in the first column; each with its own columns."""
    by, *columns = table.columns
    if by != "table" and (by != "metric" or "figure" not in columns):
        return [table]
    found: list[PrintedTable] = []
    for name in dict.fromkeys(row[by] for row in table.rows):
        numbered = [(r, n) for r, n in zip(table.rows, table.lines, strict=True) if r[by] == name]
        rows, lines = tuple(row for row, _ in numbered), tuple(line for _, line in numbered)
        filled = [c for c in columns if any(row[c] for row in rows)]
        if by == "metric":  # the score of every metric stands under one title
            headline = rows[0]["figure"] or "score"
            filled = [headline if c == "score" else c for c in filled if c != "figure"]
            rows = tuple({**row, headline: row["score"]} for row in rows)
        if filled:
            signature = rows[0].get("signature", "")
            part = PrintedTable(tuple(filled), rows, signature, lines)
            found += [part] if by == "metric" else _split_table(part)
    return found


def _unquote_cell(cell: str) -> str:
    """A cell as it was before quotation marks, or --safe-cells, kept others from misreading it."""
    if len(cell) > 1 and cell[0] == cell[-1] == '"':
        return cell[1:-1].replace('""', '"')
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(FORMULAS) else cell


def scores_from_tables(tables: Iterable[PrintedTable], name: str) -> list[Scores]:
    """Return the scores in printed tables."""
    found = []
    for table in tables:
        columns = table.columns
        if columns[:1] == ("cluster",) and columns[-1] == "date":
            continue  # a board: several metrics side by side, as an overview has them
        by_sentence = columns[:2] == ("system", "sentence") and len(columns) > 2
        if by_sentence or ("system" in columns[1:-1] and columns[0] in ("rank", "cluster")):
            found += scores_from_rows(table.score_rows(name), name, signatures=True)
    if not found:
        raise InputError("no table of scores in the file", path=name, remedy=_PRINTED)
    return found


# ---- Scores of single sentences as Parquet, one table for each system.
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
                kind = pyarrow.int64() if name == "annotator" else None  # some may be missing
                columns.setdefault(name, pyarrow.array(figure, kind, from_pandas=True))
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


def read_sentence_tables(path: str) -> PrintedTable:
    """Read a table, or all tables of a folder as one."""
    pyarrow = require_pyarrow()
    from errata.io.shards.inputs import natural_sort_key

    files = [path]
    if os.path.isdir(path):
        names = [name for name in os.listdir(path) if name.endswith(SENTENCE_TABLE)]
        files = [os.path.join(path, name) for name in sorted(names, key=natural_sort_key)]
    rows, columns, signatures = list[dict[str, Any]](), list[str](), set[str]()
    for file in files:
        wrote = "give what errata scale sentences wrote"
        with open_raw(file) as stream, check_parquet(file, wrote):
            table = pyarrow.parquet.ParquetFile(stream).read()
        columns = table.column_names
        signatures.add((table.schema.metadata or {}).get(SIGNATURE, b"").decode("utf-8"))
        rows += table.to_pylist()
    if columns[:2] != ["system", "sentence"] or len(columns) < 3 or len(signatures) > 1:
        problem = "no table of sentence scores, or of several metrics"
        if not files:
            problem = "no Parquet file"
        remedy = "give what errata scale sentences wrote for one metric: a file, or their folder"
        raise InputError(problem, path=path, remedy=remedy)
    return PrintedTable(tuple(columns), tuple(rows), signatures.pop())
