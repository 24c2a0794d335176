"""One reader and writer for all forms; Errata's JSONL."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, Literal

from errata.core.errors import InputError
from errata.core.parameters import require
from errata.core.stats import Seed
from errata.data import Judgment, MemberOrder, Members
from errata.io.atomic import write_lines
from errata.io.files import PathLike, open_unpacked, peek_first_nonblank_line, shown_name
from errata.io.judgments import checks
from errata.io.outputs import read_systems
from errata.io.records import LARGEST, decode_json
from errata.io.rows import delimiter_of, normalise_title, read_number, table_lines

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
LOOKED_AT = 4096  # bytes of a file that show its form
FORMS = " or ".join((", ".join([*_FORMS.values()][:-1]), [*_FORMS.values()][-1]))


def read_judgments(
    path: PathLike,
    *,
    form: JudgmentForm | None = None,
    base: int = 0,
    leave_out: Iterable[str] = (),
    statuses: tuple[str, ...] | None = None,
    labels: checks.Labels = "check",
    outputs: checks.Outputs | None = None,
    columns: Mapping[str, str] | None = None,
    repeats: checks.DuplicateFilter | None = None,
) -> Iterator[Judgment]:
    """Read judgments one by one from a file in any known form; ``-`` is standard input.

    The form (see `FORMS`) is detected. Tables may have commas, semicolons or tabs, or be a
    spreadsheet (.xlsx); ``columns`` names their columns (see `errata.io.judgments.sheets`).
    ``base`` is the number of the first sentence (SEEDA counts from 1). Rankings of judges in
    ``leave_out`` do not count. Groups that do not fit ``outputs`` (system -> sentences) are
    refused, unless ``labels`` says otherwise; ``statuses`` and ``labels="text"`` are for MTurk
    files (see `errata.io.judgments.sheets.parse_mturk`). A repeated judgment counts once, with a
    warning; ``repeats`` also remembers other files (see `read_judgment_files`).
    """
    require("labels", labels, checks.Labels)
    name = shown_name(path)
    start, lines = peek_first_nonblank_line(table_lines(path))
    delimiter = delimiter_of(start)
    if columns and form in (None, "table") and start.lstrip().startswith(("{", "<")):
        what = "JSON lines" if start.lstrip().startswith("{") else "XML"
        problem = f"--columns goes with tables, and the file is {what}"
        raise InputError(problem, path=name, remedy="leave out --columns")
    form = form or ("table" if columns else _detect_form(start, delimiter, name))
    require("form", form, JudgmentForm)
    if labels == "text" and form != "mturk":
        problem = f"labels='text' needs the texts, which a file of the form {form} has not"
        remedy = "leave it out (--labels), or give the file with the texts"
        raise InputError(problem, path=name, remedy=remedy)
    # A reader is imported where it is used: no run needs more than one or two of them.
    if form == "mturk":
        from errata.io.judgments.sheets import parse_mturk

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
        from errata.io.judgments.sheets import parse_table

        stream = parse_table(
            lines, name, delimiter=delimiter, base=base, columns=columns, repeats=repeats
        )
    else:
        stream = parse_jsonl(lines, name, base=base, repeats=repeats)
    if outputs is not None and labels == "check" and form != "mturk":
        judgments = list(stream)
        checks.require_labels_match_outputs(judgments, outputs, name, base=base)
        stream = iter(judgments)
    if repeats is None:  # else `read_judgment_files` compares the names in all files
        stream = checks.warn_about_similar_names(stream, name)
    return without_judges(stream, tuple(leave_out), name)


def holds_judgments(path: PathLike) -> bool:
    """Return whether a file looks like judgments: JSON lines, Appraise or pairwise CSV."""
    if not os.path.isfile(path):
        return False
    with open_unpacked(path) as file:
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
    """Read the judgments of several different files (options: see `read_judgments`).

    Judgments in two files count once. A judge to leave out must be in one of the files.
    """
    paths = list(paths)
    seen = set[str]()
    for path in paths:
        place = os.path.realpath(path) if os.fspath(path) != "-" else "-"
        if place in seen:
            remedy = "give it once"
            raise InputError("the same file is given twice", path=shown_name(path), remedy=remedy)
        seen.add(place)
    repeats = checks.DuplicateFilter()
    stream = chain.from_iterable(read_judgments(path, repeats=repeats, **options) for path in paths)
    names = ", ".join(map(shown_name, paths))
    return without_judges(checks.warn_about_similar_names(stream, names), tuple(leave_out), names)


def read_outputs_by_system(*paths: PathLike) -> checks.Outputs:
    """The outputs of systems, by name: text files (also ``name=path``), or folders of them."""
    return {system.system: system.sentences for system in read_systems(paths)}


def _detect_form(start: str, delimiter: str, name: str) -> JudgmentForm:
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
    keys = {normalise_title(title) for title in titles}
    if "inputsystem1" in keys:
        return "mturk"
    if "system1id" in keys:
        return "pairwise"
    if len(titles) > 1 and all(read_number(title) is None for title in titles):
        return "table"
    remedy = f"it should be {FORMS}"
    raise InputError("the form of the file is not known", path=name, line=1, remedy=remedy)


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
        problem = f"no judgment by {', '.join(sorted(missing))}, to be left out"
        raise InputError(problem, path=name, remedy="check the names of the judges")


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
        lines = render_jsonl(judgments)
    write_lines(lines, path)


# ---- Rankings as our own JSONL, one a line::

_KEYS = {*["item", "judge", "sentence", "groups", "systems", "ranks", "seconds", "time", "skipped"]}
_LIST, _RANK = {list}, {int, type(None)}
Groups = tuple[tuple[str, ...], ...]
KNOWN = 50_000  # groups remembered, so that a file of any size takes little memory


def parse_jsonl(
    lines: Iterable[str], name: str, *, base: int = 0, repeats: checks.DuplicateFilter | None = None
) -> Iterator[Judgment]:
    """Read our own form; blank lines are allowed, unknown keys cause one warning."""
    unread = checks.UnknownValues(name)
    repeats = repeats or checks.DuplicateFilter()
    repeats.start_file(name)
    known: dict[Groups, Groups] = {}
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text:
            continue
        data = _decode_json_line(text, name, number)
        for key in data.keys() - _KEYS:
            unread.record_unread("key", key, _KEYS, number)
        judgment = _from_json(data, name, number, base, known)
        if repeats.is_new(judgment, number):
            yield judgment
    unread.warn()
    repeats.report_repeats()


def _decode_json_line(text: str, name: str, line: int) -> dict[str, Any]:
    problem = "not a JSON object"
    try:
        data = decode_json(text)
        if type(data) is dict:
            return data
    except ValueError as error:
        problem = f"not JSON: {error}"
    raise InputError(problem, path=name, line=line, remedy="one ranking a line")


def _from_json(
    data: dict[str, Any], name: str, line: int, base: int, known: dict[Groups, Groups]
) -> Judgment:
    sentence, judge, item = data.get("sentence"), data.get("judge"), data.get("item", "")
    seconds, time = data.get("seconds"), data.get("time")
    try:
        if type(sentence) is not int or not base <= sentence <= LARGEST:
            raise InputError(f"sentence {sentence!r} is not a whole number from {base}")
        if type(judge) is not str or type(item) is not str:
            raise InputError(f"judge {judge!r} and item {item!r} should be strings")
        if (
            seconds is not None
            and (type(seconds) not in (int, float) or not checks.is_duration(seconds))
        ) or (time is not None and type(time) is not str):
            raise InputError(f"seconds {seconds!r} should be a number and time {time!r} a string")
        groups, ranks = _read_groups_and_ranks(data, known)
        return Judgment(judge, sentence - base, groups, ranks, item, seconds, time)
    except InputError as problem:
        place = f"item {item!r}: " if item else ""
        remedy = problem.remedy
        raise InputError(place + problem.problem, path=name, line=line, remedy=remedy) from None


def _read_groups_and_ranks(
    data: dict[str, Any], known: dict[Groups, Groups]
) -> tuple[Groups, tuple[int | None, ...]]:
    groups, ranks = data.get("groups", []), data.get("ranks", [])
    if "systems" in data:
        if "groups" in data:
            raise InputError("both systems and groups", remedy="give one of them")
        groups = data["systems"]
        if type(groups) is list:
            groups = [[system] for system in groups]
    if type(groups) is not list or type(ranks) is not list:
        raise InputError("groups and ranks should be lists")
    # The same groups come again and again in millions of lines: they are checked and kept once.
    key = tuple(map(tuple, groups)) if {*map(type, groups)} <= _LIST else None
    try:
        checked = known.get(key)  # type: ignore[arg-type]
    except TypeError:  # a list within a list
        checked = None
    if checked is None:
        if key is None or not all(type(name) is str and name for group in key for name in group):
            raise InputError("groups are lists of system names")
        if len(known) >= KNOWN:
            known.clear()
        checked = known[key] = key
    if "skipped" in data:
        if type(data["skipped"]) is not bool:
            raise InputError(f"skipped {data['skipped']!r} should be true or false")
        if data["skipped"]:
            if any(rank is not None for rank in ranks):
                raise InputError("skipped, and yet ranked", remedy="leave out ranks or skipped")
            ranks = [None] * len(groups)
    if not {*map(type, ranks)} <= _RANK or max(filter(None, ranks), default=1) > LARGEST:
        raise InputError(f"ranks {ranks!r} are not all whole numbers or null")
    return checked, tuple(ranks)


def render_jsonl(judgments: Iterable[Judgment]) -> Iterator[str]:
    """The lines of a JSONL file; what was not recorded is left out."""
    keys = ("item", "judge", "sentence", "groups", "ranks", "seconds", "time")
    for judgment in judgments:
        data = {key: getattr(judgment, key) for key in keys} | {"item": judgment.item or None}
        known = {key: value for key, value in data.items() if value is not None}
        yield json.dumps(known, ensure_ascii=False)
