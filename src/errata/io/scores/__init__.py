"""Files of scores in any form: one reader that tells them apart."""

from __future__ import annotations

import hashlib
import os
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from errata.data import Scores
from errata.errors import DataWarning, InputError
from errata.io.files import PathLike, peek, shown_name
from errata.io.judgments.names import alike_names
from errata.io.opened import plain_name
from errata.io.outputs import split_name
from errata.io.scores.handmade import from_columns
from errata.io.scores.printed import (
    from_printed_json,
    from_printed_tsv,
    from_tables,
    is_printed_tsv,
)
from errata.io.scores.published import read_published_scores
from errata.io.scores.run_results import RUN_RESULT, scores_in_run
from errata.io.scores.sentence_tables import SENTENCE_TABLE, read_sentence_tables
from errata.io.scores.stored import STORED, from_stored_json, from_stored_tsv
from errata.io.sheet import SheetRow, delimiter_of, read_number, same_width, sheet_rows, table_lines
from errata.io.skipping import Skipped
from errata.io.strict_json import decode_json
from errata.numbers import Floats

__all__ = ["read_score_file", "read_score_files", "skip_scores"]

MEAN = "total:mean"  # what is said of system scores that are means of sentence scores

# A word, blanks, and a decimal comma.
_GLUED = re.compile(r"([^\s,]+) +[+-]?[0-9]+,[0-9]+")
# Lines of tables as a terminal, Markdown, LaTeX and HTML have them.
FOR_READERS = re.compile(r"─{3}|\|\s*:?-{3}|\\begin\{|<table")
_ENDINGS = (".json", ".tsv", ".csv", ".txt", ".xlsx", ".scores")


def read_score_files(
    arguments: Iterable[PathLike], *, names: Sequence[str] = (), lower: Sequence[str] = ()
) -> list[Scores]:
    """Read several files (see `read_score_file`): all their scorers, no two of one name.

    ``lower`` names scorers of which lower is better (``"*"``: all of them); their scores are
    turned round, and their signature says so. A digest of the values is in the signature: a file
    of the same name with other numbers is another scorer.
    """
    found: dict[str, Scores] = {}
    for argument in arguments:
        for scores in read_score_file(argument, names=names):
            if scores.scorer in found:
                raise InputError(
                    f"two inputs hold scores called {scores.label!r}",
                    path=shown_name(split_name(argument)[1]),
                    remedy="name them apart with NAME=FILE",
                )
            found[scores.scorer] = replace(scores, context=(*scores.context, _digest(scores)))
    for name in lower:
        if name != "*" and not any(name in (s.name, s.label, s.scorer) for s in found.values()):
            raise InputError(
                f"there are no scores called {name!r}",
                remedy=f"there are: {', '.join(s.label for s in found.values()) or 'none'}",
            )
    return [
        _turned(scores) if {"*", scores.name, scores.label, scores.scorer} & {*lower} else scores
        for scores in found.values()
    ]


def read_score_file(argument: PathLike, *, names: Sequence[str] = ()) -> list[Scores]:
    """Read scores in any known form, told from the content; one `Scores` per scorer.

    Forms: what `write_scores` writes; ``result.json`` of a run (`errata.cluster`); what
    ``errata score`` and ``errata rank`` print as JSON or TSV; Parquet of sentence scores, or a
    folder of it (`errata.io.scores.sentence_tables`); the published tables of system or of
    sentence scores; and columns (see `errata.io.scores.handmade`), also as a spreadsheet.
    ``NAME=FILE`` names the scorer, ``SYSTEMS,SENTENCES`` puts together the two tables of one
    metric, ``names`` names the systems of bare numbers. Where a file has sentence scores only, a
    system's score is their mean.
    """
    name, text = split_name(argument)
    first, comma, second = text.partition(",")
    if comma and not os.path.exists(text):
        found = [_joined(_read(first, names), _read(second, names), shown_name(second))]
    else:
        found = _read(text, names)
    if name is not None:
        found = [
            replace(
                scores,
                scorer=name if len(found) == 1 else f"{name} {scores.scorer}",
                name=name if len(found) == 1 else f"{name} {scores.name}",
                label=name if len(found) == 1 else f"{name} {scores.label}",
            )
            for scores in found
        ]
    return [_checked(_with_means(scores), shown_name(text)) for scores in found]


def _read(path: str, names: Sequence[str]) -> list[Scores]:
    shown = shown_name(path)
    if path.endswith(SENTENCE_TABLE) or os.path.isdir(path):
        return from_tables([read_sentence_tables(path)], shown)
    remarks, lines = _without_remarks(table_lines(path))
    start, lines = peek(lines)
    if not start.strip():
        raise InputError("the file is empty", path=shown, remedy="give a file of scores")
    if start.lstrip().startswith(("{", "[")):
        return _from_json("".join(lines), shown)
    rest = list(lines)
    if is_printed_tsv(start):
        return from_printed_tsv(rest, shown)
    cells = start.rstrip("\r\n").split("\t")
    if len(cells) > 1 and cells[-1] == "signature":
        raise InputError(
            "the file holds no table of scores",
            path=shown,
            remedy="give what errata score or errata rank printed",
        )
    if cells[:3] == ["scorer", "system", "sentence"]:
        return [from_stored_tsv([line.rstrip("\r\n") for line in rest], shown)]
    if len(cells) in (5, 6) and read_number(cells[-1]) is not None and not cells[0].isdecimal():
        if len(cells) == 6:
            return [read_published_scores(sentence_path=path)]
        if all(read_number(cell) is None for cell in cells[:4]):
            return [read_published_scores(path)]
    if any(map(FOR_READERS.match, rest)):
        raise InputError(
            "the file holds a table for readers",
            path=shown,
            remedy="write scores for other commands with --json or --format tsv",
        )
    mark = delimiter_of(start)
    rows = _by_blanks(rest) or list(sheet_rows(rest, shown, mark))
    rows = [replace(row, line=_line_in_file(row.line, remarks)) for row in rows]
    same_width(rows, shown)
    if mark == ",":
        _refuse_glued(rows, shown)
    return from_columns(rows, shown, scorer=_stem(path), comma=mark == ";", names=names)


def _without_remarks(lines: Iterable[str]) -> tuple[list[int], Iterator[str]]:
    """The lines that are no remarks, and, as they are read, how many came before each remark."""
    before: list[int] = []

    def others() -> Iterator[str]:
        read = 0
        for line in lines:
            if line.startswith("# "):
                before.append(read)
            else:
                read += 1
                yield line

    return before, others()


def _line_in_file(line: int, remarks: Sequence[int]) -> int:
    """The number of a line in the file, remarks among them."""
    return line + sum(before < line for before in remarks)


def _refuse_glued(rows: Sequence[SheetRow], name: str) -> None:
    """Refuse ``A 0,35``, where the comma would separate ``A 0`` from ``35``."""
    found = [_GLUED.fullmatch(",".join(row.cells)) for row in rows]
    words = {match[1] for match in found if match}
    if rows and len(words) == len(rows):  # else the word is one of several systems: team 1, team 2
        raise InputError(
            f"{','.join(rows[0].cells)[:40]!r} may be one score or two cells",
            path=name,
            line=rows[0].line,
            remedy="write 0.35 for 0,35, or add a heading (system,score) if it is two",
        )


def _by_blanks(lines: list[str]) -> list[SheetRow]:
    """Rows of cells that blanks separate, where no line has another separator."""
    if any(mark in line for line in lines for mark in ",;\t"):
        return []
    rows = [SheetRow(k, tuple(line.split())) for k, line in enumerate(lines, 1) if line.strip()]
    return rows if len({len(row.cells) for row in rows}) == 1 else []


def _from_json(text: str, name: str) -> list[Scores]:
    remedy = "give what errata score or rank printed, or write_scores wrote"
    try:
        data: Any = decode_json(text)
    except ValueError as error:
        raise InputError(
            f"not JSON: {error}", path=name, line=getattr(error, "lineno", None), remedy=remedy
        ) from None
    if isinstance(data, dict) and data.get("format") == STORED:
        return [_in_place(from_stored_json(data, name))]
    if isinstance(data, dict) and data.get("format") == RUN_RESULT:
        return [_in_place(scores) for scores in scores_in_run(data, name)]
    return from_printed_json(data, name)


def _stem(path: str) -> str:
    """What a scorer is called after its file: no folder and no usual ending."""
    name = "stdin" if path == "-" else Path(plain_name(path)).name
    for ending in _ENDINGS:
        if name.endswith(ending) and len(name) > len(ending):
            return name.removesuffix(ending)
    return name


def _joined(systems: list[Scores], sentences: list[Scores], name: str) -> Scores:
    """The scores of systems from one file with those of sentences from another."""
    if len(systems) != 1 or len(sentences) != 1 or sentences[0].sentences is None:
        raise InputError(
            "SYSTEMS,SENTENCES needs a table of one metric's system scores and one of its "
            "sentence scores",
            path=name,
        )
    overall, single = systems[0], sentences[0]
    if {*overall.systems} != {*single.systems}:
        odd = ", ".join(sorted({*overall.systems} ^ {*single.systems}))
        raise InputError(
            f"overall scores and sentence scores are not of the same systems: {odd}",
            path=name,
            remedy="give tables that belong together",
        )
    return replace(overall, sentences=single.select(overall.systems).sentences)


def _with_means(scores: Scores) -> Scores:
    """Mean sentence scores as system scores where a file has no others."""
    if scores.sentences is None or not np.isnan(scores.values).all():
        return scores
    if np.isnan(scores.sentences).all(axis=1).any():
        return scores
    return replace(
        scores,
        values=_means(scores.sentences),
        context=(*scores.context, MEAN),
        notes=(*scores.notes, "system scores are the means of the sentence scores"),
    )


def _in_place(scores: Scores) -> Scores:
    """Sentence scores where their sentences stand in the whole text: none of those left out."""
    if scores.sentences is None or not scores.skipped:
        return scores
    width = scores.sentences.shape[1] + len(scores.skipped)
    there = [i for i in range(width) if i not in scores.skipped]
    whole = np.full((len(scores), width), np.nan)
    whole[:, there] = scores.sentences[:, : len(there)]
    return replace(scores, sentences=whole, sentence_parts={}, skipped=())


def _means(sentences: Floats) -> Floats:
    """The mean of each system over the sentences that have a score."""
    known = ~np.isnan(sentences)
    return np.asarray(np.nansum(sentences, axis=1) / np.maximum(known.sum(axis=1), 1), np.float64)


def skip_scores(scores: Scores, skipped: Skipped) -> Scores:
    """Scores that were read without those of some sentences, where they have any there.

    Scores of systems stay as they are, but for those that are means of sentence scores.
    """
    if scores.sentences is None:
        return scores
    places = [i for i in range(scores.sentences.shape[1]) if skipped.holds(i)]
    fewer = scores.without_sentences(*places)
    if fewer.sentences is None or fewer is scores:
        return scores
    values = _means(fewer.sentences) if MEAN in scores.context else scores.values
    return replace(fewer, values=values, context=(*scores.context, skipped.fact))


def _checked(scores: Scores, name: str) -> Scores:
    """Refuse systems without a score: NaN and infinities have no rank. Say which look alike."""
    for problem in alike_names(scores.systems):
        warnings.warn(
            f"{name}: the systems {problem}; write each in one way only", DataWarning, stacklevel=4
        )
    for system, value in scores:
        if not np.isfinite(value):
            raise InputError(
                f"{scores.label}: the system {system!r} has no score",
                path=name,
                remedy="leave the system out of the file",
            )
    return scores


def _digest(scores: Scores) -> str:
    """What tells these numbers from others of the same name, whatever the order of systems."""
    ordered = scores.select(sorted(scores.systems))
    digest = hashlib.sha256("\0".join(ordered.systems).encode("utf-8", "surrogatepass"))
    for numbers in (ordered.values, ordered.sentences):
        if numbers is not None:
            digest.update((numbers + 0.0).astype("<f8").tobytes())
    return f"values:@{digest.hexdigest()[:12]}"


def _turned(scores: Scores) -> Scores:
    """The same scores with their sign changed, so that higher is better."""
    return replace(
        scores,
        values=-scores.values,
        sentences=None if scores.sentences is None else -scores.sentences,
        resampled=None if scores.resampled is None else -scores.resampled,
        context=(*scores.context, "lower is better: sign changed"),
    )
