"""Scores as files: JSON keeps everything, TSV is for spreadsheets, and the tables others publish.

The tables of nusnlp/gecmetrics (the form of the WMT metrics task) have no heading; their columns
are metric, language pair, test set, system, sentence (in sentence tables only) and score.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from errata.data import Scores
from errata.errors import InputError
from errata.io.checks.findings import Finding, raise_or_warn
from errata.io.files import PathLike, decode, read_bytes, read_lines, shown_name
from errata.io.writing import write_lines
from errata.numbers import Floats, Ints
from errata.parameters import name_in

__all__ = ["read_any_scores", "read_published_scores", "read_scores", "write_scores"]

_FORMAT = "errata scores 1"


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
    name = os.fspath(path).removesuffix(".gz")
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


def _as_json(scores: Scores) -> list[str]:
    data = {
        "format": _FORMAT,
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
    return [
        "{",
        *(
            f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}"
            + "," * (i + 1 < len(data))
            for i, (key, value) in enumerate(data.items())
        ),
        "}",
    ]


def _from_json(path: PathLike) -> Scores:
    name = shown_name(path)
    remedy = "give a file written by errata (write_scores)"
    try:
        data = json.loads(decode(read_bytes(path), name))
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"not JSON: {error}", path=name, line=getattr(error, "lineno", None), remedy=remedy
        ) from None
    if not isinstance(data, dict) or data.get("format") != _FORMAT:
        raise InputError("not a file of scores", path=name, remedy=remedy)
    try:
        systems = _strings(data["systems"])
        n = len(systems)
        return Scores(
            scorer=_string(data["scorer"]),
            systems=systems,
            values=_array(data["values"], (n,)),
            sentences=_array_or_none(data["sentences"], (n, -1)),
            parts={_string(key): _part(part, (n,)) for key, part in data["parts"].items()},
            resampled=_array_or_none(data["resampled"], (-1, n)),
            sentence_parts={
                _string(key): _part(part, (n, -1)) for key, part in data["sentence_parts"].items()
            },
            headline=_string(data["headline"]),
            context=_strings(data["context"]),
            notes=_strings(data["notes"]),
            name=_string(data["name"]),
            label=_string(data["label"]),
        )
    except InputError as error:
        raise InputError(error.problem, path=name, remedy=error.remedy) from None
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InputError(
            f"a field is missing or of the wrong kind: {error}", path=name, remedy=remedy
        ) from None


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a string")
    return value


def _strings(values: Any) -> tuple[str, ...]:
    if not isinstance(values, list):
        raise TypeError(f"{values!r} is not a list")
    return tuple(map(_string, values))


def _array(values: Any, shape: tuple[int, ...]) -> Floats:
    array = np.array(values, np.float64)
    if array.size == 0:  # [] and [[], []] say nothing of the other dimension
        array = array.reshape(
            [max(size, 0) if size != -1 else 0 for size in shape]
            if array.ndim != len(shape)
            else array.shape
        )
    if array.ndim != len(shape) or any(
        a != b for a, b in zip(array.shape, shape, strict=True) if b != -1
    ):
        raise ValueError(f"numbers of shape {array.shape} and not {shape}")
    return array


def _part(values: Any, shape: tuple[int, ...]) -> Floats | Ints:
    """A part: whole numbers where all were written as such."""
    array = _array(values, shape)
    flat = values if len(shape) == 1 else [value for row in values for value in row]
    whole = bool(flat) and all(type(value) is int for value in flat)
    return array.astype(np.int64) if whole else array


def _array_or_none(values: Any, shape: tuple[int, ...]) -> Floats | None:
    return None if values is None else _array(values, shape)


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
                    str(i),
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
    name = shown_name(path)
    lines, findings = read_lines(path)
    raise_or_warn(findings, stacklevel=4)
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
        cells = line.split("\t")
        if len(cells) != len(head):
            raise InputError(
                f"{len(cells)} cells under {len(head)} headings",
                path=name,
                line=number,
                remedy="cells are apart by tabs",
            )
        scorer, system, sentence, *figures = cells
        scorers.add(scorer)
        for column, figure in zip(columns, figures, strict=True):
            if not figure and column != columns[0]:
                continue
            if sentence:
                _add(single[column], system, sentence, figure, name, number)
            elif system in overall[column]:
                raise _twice(system, name, number)
            else:
                overall[column][system] = _number(figure, name, number)
    if len(scorers) != 1:
        raise InputError(
            f"the scores of {len(scorers)} scorers, and not of one",
            path=name,
            remedy="keep one scorer per file",
        )
    systems = tuple(overall[columns[0]])

    def table(column: str) -> Floats:
        return _sentence_table(systems, single[column], name)

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


def read_published_scores(
    system_path: PathLike | None = None, *, sentence_path: PathLike | None = None
) -> Scores:
    """Read the published tables of nusnlp/gecmetrics (or of the WMT metrics task).

    Give the table of system scores, of sentence scores, or both of the same metric. Systems stand
    in the order of the system table; without one the overall scores are NaN. A sentence without a
    score is NaN, and warned of.
    """
    if system_path is None and sentence_path is None:
        raise InputError("no table given", remedy="name a table of system or sentence scores")
    names: set[str] = set()
    overall: dict[str, float] = {}
    sentences: dict[str, dict[int, float]] = {}
    if system_path is not None:
        for number, cells in _published_rows(system_path, 5):
            names.add(cells[0])
            if cells[3] in overall:
                raise _twice(cells[3], shown_name(system_path), number)
            overall[cells[3]] = _number(cells[4], shown_name(system_path), number)
    if sentence_path is not None:
        for number, cells in _published_rows(sentence_path, 6):
            names.add(cells[0])
            _add(sentences, cells[3], cells[4], cells[5], shown_name(sentence_path), number)
    if len(names) != 1:
        raise InputError(
            f"scores of {len(names)} metrics: {', '.join(sorted(names))}",
            path=shown_name(sentence_path or system_path or ""),
            remedy="give tables of one metric",
        )
    systems = tuple(overall or sentences)
    table = None
    if sentence_path is not None:
        table = _sentence_table(systems, sentences, shown_name(sentence_path))
    return Scores(
        names.pop(), systems, np.array([overall.get(s, math.nan) for s in systems]), table
    )


def read_any_scores(path: PathLike) -> Scores:
    """Read scores in any known form, told from the file.

    Forms: what `write_scores` writes; the published tables of system or of sentence scores, or
    both of one metric as ``SYSTEMS,SENTENCES``; and two columns, system and score.
    """
    text = os.fspath(path)
    if "," in text and not os.path.exists(text):
        first, _, second = text.partition(",")
        return read_published_scores(first, sentence_path=second)
    if text.removesuffix(".gz").endswith(".json"):
        return read_scores(text)
    lines, _ = read_lines(text)
    cells = lines[0].split("\t") if lines else []
    if cells[:3] == ["scorer", "system", "sentence"]:
        return _from_tsv(text)
    if len(cells) == 2:
        return _two_columns(lines, shown_name(text))
    return (
        read_published_scores(sentence_path=text)
        if len(cells) == 6
        else read_published_scores(text)
    )


def _two_columns(lines: list[str], name: str) -> Scores:
    values: dict[str, float] = {}
    for number, line in enumerate(lines, 1):
        cells = line.split("\t")
        if len(cells) != 2:
            raise InputError(
                f"{len(cells)} columns and not two",
                path=name,
                line=number,
                remedy="write system, tab, score",
            )
        if cells[0] in values:
            raise _twice(cells[0], name, number)
        values[cells[0]] = _number(cells[1], name, number)
    scorer = os.path.basename(name).partition(".")[0]
    return Scores(scorer, tuple(values), np.array(list(values.values())))


def _published_rows(path: PathLike, columns: int) -> list[tuple[int, list[str]]]:
    name = shown_name(path)
    lines, findings = read_lines(path)
    raise_or_warn(findings, stacklevel=4)
    rows = [(number, line.split("\t")) for number, line in enumerate(lines, 1)]
    for number, cells in rows:
        if len(cells) != columns:
            kind = "system" if columns == 5 else "sentence"
            raise InputError(
                f"{len(cells)} columns; a table of {kind} scores has {columns}",
                path=name,
                line=number,
                remedy="columns are apart by tabs: metric, "
                "language pair, test set, system, [sentence,] score",
            )
    if not rows:
        raise InputError("the file is empty", path=name, remedy="fetch it again")
    return rows


def _number(text: str, path: str, line: int) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(
            f"{text!r} is not a number", path=path, line=line, remedy="write scores as 0.3501"
        ) from None


def _twice(system: str, path: str, line: int, sentence: int | None = None) -> InputError:
    where = "" if sentence is None else f" for sentence {sentence}"
    return InputError(
        f"the system {system} has two scores{where}", path=path, line=line, remedy="keep one"
    )


def _add(
    sentences: dict[str, dict[int, float]],
    system: str,
    sentence: str,
    score: str,
    path: str,
    line: int,
) -> None:
    if not (sentence.isascii() and sentence.isdecimal() and len(sentence) < 9):
        raise InputError(
            f"{sentence!r} is not a sentence number",
            path=path,
            line=line,
            remedy="sentences are counted from 0",
        )
    mine = sentences.setdefault(system, {})
    if int(sentence) in mine:
        raise _twice(system, path, line, int(sentence))
    mine[int(sentence)] = _number(score, path, line)


def _sentence_table(
    systems: Sequence[str], sentences: Mapping[str, Mapping[int, float]], path: str
) -> Floats:
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
