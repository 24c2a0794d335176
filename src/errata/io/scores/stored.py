"""Scores as we store them: JSON keeps everything, TSV is for spreadsheets."""

from __future__ import annotations

import json
import math
import os
from typing import Any, Literal

import numpy as np

from errata.data import Scores, number_beside
from errata.errors import InputError
from errata.io.checks.findings import raise_or_warn
from errata.io.files import PathLike, decode, read_bytes, read_lines, shown_name
from errata.io.opened import plain_name
from errata.io.scores.checked import add_sentence, cells_under, figure, scored_twice, sentence_table
from errata.io.strict_json import decode_json
from errata.io.writing import write_lines
from errata.numbers import Floats, Ints
from errata.parameters import name_in

__all__ = [
    "STORED",
    "from_stored_json",
    "from_stored_tsv",
    "read_scores",
    "stored_json",
    "write_scores",
]

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


def _from_json(path: PathLike) -> Scores:
    name = shown_name(path)
    try:
        data = decode_json(decode(read_bytes(path), name))
    except ValueError as error:
        raise InputError(
            f"not JSON: {error}", path=name, line=getattr(error, "lineno", None), remedy=_REMEDY
        ) from None
    return from_stored_json(data, name)


def from_stored_json(data: Any, name: str) -> Scores:
    """The scores of a JSON file that `write_scores` wrote."""
    if not isinstance(data, dict) or data.get("format") != STORED:
        raise InputError("not a file of scores", path=name, remedy=_REMEDY)
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
            skipped=_positions(data.get("skipped", [])),
            shares=_strings(data.get("shares", [])),
        )
    except InputError as error:
        raise InputError(error.problem, path=name, remedy=error.remedy) from None
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InputError(
            f"a field is missing or of the wrong kind: {str(error)[:100]}",
            path=name,
            remedy=_REMEDY,
        ) from None


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a string")
    return value


def _strings(values: Any) -> tuple[str, ...]:
    if not isinstance(values, list):
        raise TypeError(f"{values!r} is not a list")
    return tuple(map(_string, values))


def _positions(values: Any) -> tuple[int, ...]:
    if not isinstance(values, list) or any(type(value) is not int or value < 0 for value in values):
        raise TypeError(f"{values!r} are not places of sentences")
    return tuple(sorted({*values}))


def _numbers(values: Any) -> Any:
    """Nested lists of numbers; what JSON has no number for is written as `_plain` does."""
    if isinstance(values, list):
        return [_numbers(value) for value in values]
    if type(values) in (int, float) or values is None:
        return values
    if isinstance(values, str) and values in _NO_NUMBERS:
        return _NO_NUMBERS[values]
    raise TypeError(f"{values!r} is not a number")


def _array(values: Any, shape: tuple[int, ...]) -> Floats:
    array = np.array(_numbers(values), np.float64)
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
                    str(number_beside(scores.skipped, i) - 1),
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
                value = figure(cell, name, number)
            if sentence:
                add_sentence(single[column], system, sentence, value, name, number)
            elif system in overall[column]:
                raise scored_twice(system, name, number)
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
