"""Human rankings: one reader and one writer for all forms, each form in a module of its own."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, Literal

from errata.data import Judgment, MemberOrder, Members
from errata.errors import InputError
from errata.io.files import PathLike, peek, shown_name
from errata.io.judgments.labels import Labels, Outputs, require_fit
from errata.io.judgments.names import with_clear_names
from errata.io.judgments.repeats import Repeats
from errata.io.opened import opened
from errata.io.outputs import read_systems
from errata.io.sheet import column_key, delimiter_of, read_number, table_lines
from errata.io.writing import write_lines
from errata.numbers import Seed
from errata.parameters import require

__all__ = [
    "FORMS",
    "JudgmentForm",
    "WrittenForm",
    "holds_judgments",
    "read_judgment_files",
    "read_judgments",
    "read_outputs",
    "without_judges",
    "write_judgments",
]

JudgmentForm = Literal["appraise", "jsonl", "pairwise", "mturk", "table"]
WrittenForm = Literal["appraise", "jsonl", "pairwise"]
_FORMS: dict[JudgmentForm, str] = {
    "appraise": "Appraise XML",
    "pairwise": "pairwise CSV (WMT, JFLEG: system1Id, system1rank, ...)",
    "mturk": "MTurk results (Input.system1, ...)",
    "jsonl": "JSON lines",
    "table": "a table with a heading (judge, sentence, system and rank or score; better and worse; "
    "or a column of ratings per system)",
}
LOOKED_AT = 4096  # bytes of a file by which its form is told
FORMS = " or ".join((", ".join([*_FORMS.values()][:-1]), [*_FORMS.values()][-1]))


def read_judgments(
    path: PathLike,
    *,
    form: JudgmentForm | None = None,
    base: int = 0,
    leave_out: Iterable[str] = (),
    statuses: tuple[str, ...] | None = None,
    labels: Labels = "check",
    outputs: Outputs | None = None,
    columns: Mapping[str, str] | None = None,
    repeats: Repeats | None = None,
) -> Iterator[Judgment]:
    """Read judgments one by one from a file in any known form; ``-`` is standard input.

    The form (see `FORMS`) is told from the content; the ``columns`` of a table may be named (see
    `errata.io.judgments.spreadsheet`). Tables may have commas, semicolons or tabs, or be a
    spreadsheet (.xlsx). ``base`` is the number of the first sentence in the file (SEEDA counts
    from 1). ``leave_out`` names judges whose rankings do not count. With ``outputs`` (system ->
    sentences) the groups are compared with them and refused where they do not fit, unless
    ``labels`` says otherwise; ``statuses`` and ``labels="text"`` are for MTurk files (see
    `errata.io.judgments.mturk.parse_mturk`). A judgment that stands there twice counts once, with
    a warning; ``repeats`` remembers those of other files too (see `read_judgment_files`).
    """
    require("labels", labels, Labels)
    name = shown_name(path)
    start, lines = peek(table_lines(path))
    delimiter = delimiter_of(start)
    if columns and form in (None, "table") and start.lstrip().startswith(("{", "<")):
        what = "JSON lines" if start.lstrip().startswith("{") else "XML"
        raise InputError(
            f"--columns goes with tables, and the file is {what}",
            path=name,
            remedy="leave out --columns",
        )
    form = form or ("table" if columns else _guess(start, delimiter, name))
    require("form", form, JudgmentForm)
    if labels == "text" and form != "mturk":
        raise InputError(
            f"labels='text' needs the texts, which a file of the form {form} has not",
            path=name,
            remedy="leave it out (--labels), or give the file with the texts",
        )
    # A reader is imported where it is used: no run needs more than one or two of them.
    if form == "mturk":
        from errata.io.judgments.mturk import parse_mturk

        stream = parse_mturk(
            lines,
            name,
            delimiter=delimiter,
            base=base,
            statuses=statuses,
            labels=labels,
            outputs=outputs,
            repeats=repeats,
        )
    elif form == "appraise":
        from errata.io.judgments.appraise import parse_appraise

        stream = parse_appraise(lines, name, base=base, repeats=repeats)
    elif form == "pairwise":
        from errata.io.judgments.pairwise import parse_pairwise

        stream = parse_pairwise(lines, name, delimiter=delimiter, base=base, repeats=repeats)
    elif form == "table":
        from errata.io.judgments.spreadsheet import parse_table

        stream = parse_table(
            lines, name, delimiter=delimiter, base=base, columns=columns, repeats=repeats
        )
    else:
        from errata.io.judgments.jsonl import parse_jsonl

        stream = parse_jsonl(lines, name, base=base, repeats=repeats)
    if outputs is not None and labels == "check" and form != "mturk":
        judgments = list(stream)
        require_fit(judgments, outputs, name, base=base)
        stream = iter(judgments)
    if repeats is None:  # else whoever reads several files looks at the names of all of them
        stream = with_clear_names(stream, name)
    return without_judges(stream, tuple(leave_out), name)


def holds_judgments(path: PathLike) -> bool:
    """Whether a file holds judgments by the look of it: JSON lines, Appraise's XML, pairwise CSV.

    Other tables may be anything; a pipe can be read only once, and is not looked at.
    """
    if not os.path.isfile(path):
        return False
    with opened(path) as file:
        start = file.peek(LOOKED_AT)[:LOOKED_AT].lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(b"<"):
        return b"<appraise-results" in start
    first = start.split(b"\n")[0]
    if b"system1Id" in first and b"system2Id" in first and b"judgeID" in first:
        return True
    return start.startswith(b"{") and b'"judge"' in first and b'"sentence"' in first


def read_judgment_files(
    paths: Iterable[PathLike], *, leave_out: Iterable[str] = (), **options: Any
) -> Iterator[Judgment]:
    """Read the judgments of several files, each once (see `read_judgments` for the options).

    A file that is given twice is refused; judgments that stand in two files count once. A judge
    to be left out must be in one of the files.
    """
    paths = list(paths)
    seen = set[str]()
    for path in paths:
        place = os.path.realpath(path) if os.fspath(path) != "-" else "-"
        if place in seen:
            raise InputError(
                "the same file is given twice", path=shown_name(path), remedy="give it once"
            )
        seen.add(place)
    repeats = Repeats()
    stream = chain.from_iterable(read_judgments(path, repeats=repeats, **options) for path in paths)
    names = ", ".join(map(shown_name, paths))
    return without_judges(with_clear_names(stream, names), tuple(leave_out), names)


def read_outputs(*paths: PathLike) -> Outputs:
    """The outputs of systems, by name: text files (also ``name=path``), or folders of them."""
    return {system.system: system.sentences for system in read_systems(paths)}


def _guess(start: str, delimiter: str, name: str) -> JudgmentForm:
    text = start.lstrip()
    if not text:
        raise InputError("the file is empty", path=name, remedy="give a file with judgments")
    if text.startswith("<"):
        return "appraise"
    if text.startswith("{"):
        return "jsonl"
    try:
        titles = next(csv.reader([text], delimiter=delimiter), [])
    except csv.Error:
        titles = []
    keys = {column_key(title) for title in titles}
    if "inputsystem1" in keys:
        return "mturk"
    if "system1id" in keys:
        return "pairwise"
    if len(titles) > 1 and not any(map(_is_number, titles)):
        return "table"
    raise InputError(
        "the form of the file is not known", path=name, line=1, remedy=f"it should be {FORMS}"
    )


def _is_number(text: str) -> bool:
    return read_number(text) is not None


def without_judges(
    judgments: Iterator[Judgment], judges: tuple[str, ...], name: str
) -> Iterator[Judgment]:
    """The judgments by others; a judge who made none is a mistake."""
    if not judges:
        yield from judgments
        return
    missing = set(judges)
    for judgment in judgments:
        if judgment.judge in judges:
            missing.discard(judgment.judge)
        else:
            yield judgment
    if missing:
        raise InputError(
            f"no judgment by {', '.join(sorted(missing))}, to be left out",
            path=name,
            remedy="check the names of the judges",
        )


def write_judgments(
    judgments: Iterable[Judgment],
    path: PathLike,
    *,
    form: WrittenForm = "jsonl",
    base: int = 0,
    members: Members = "all",
    order: MemberOrder = "name",
    names: str = "{}",
    rng: Seed = 0,
) -> None:
    """Write judgments as JSONL, Appraise XML or pairwise CSV (gzip for ``.gz``).

    JSONL keeps everything and counts sentences from 0. ``members``, ``order``, ``names`` and
    ``rng`` are for pairwise CSV (see `errata.io.judgments.pairwise.render_pairwise`).
    """
    require("form", form, WrittenForm)
    if form == "appraise":
        from errata.io.judgments.appraise import render_appraise

        lines = render_appraise(judgments, base=base)
    elif form == "pairwise":
        from errata.io.judgments.pairwise import render_pairwise

        lines = render_pairwise(
            judgments, base=base, members=members, order=order, names=names, rng=rng
        )
    else:
        from errata.io.judgments.jsonl import render_jsonl

        lines = render_jsonl(judgments)
    write_lines(lines, path)
