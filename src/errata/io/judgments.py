"""Human rankings: one reader for all forms, our own JSONL, and the writers.

JSONL has one ranking a line::

    {"item": "s23", "judge": "ann", "sentence": 23, "groups": [["A", "B"], ["C"]],
     "ranks": [1, 2], "seconds": 25.8, "time": "2025-03-03T09:03:20Z"}

``groups`` lists the systems that share an output, ``ranks`` the rank of each group: lower is
better, equal is a tie, null is "shown but not ranked". ``systems`` instead of ``groups`` names one
system per rank. Sentences count from 0. No groups (or ``"skipped": true``) is a skipped item.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from errata.data import Judgment
from errata.errors import DataWarning, InputError
from errata.io.appraise import parse_appraise, render_appraise
from errata.io.files import shown_name, write_lines
from errata.io.labels import Outputs, require_fit
from errata.io.mturk import parse_mturk
from errata.io.pairwise import parse_pairwise, render_pairwise
from errata.io.stream import peek, stream_lines

__all__ = ["JUDGMENT_FORMS", "parse_jsonl", "read_judgments", "read_outputs", "render_jsonl",
           "write_judgments"]

PathLike = str | os.PathLike[str]
JUDGMENT_FORMS = ("appraise", "jsonl", "pairwise", "mturk")
_KEYS = frozenset(("item", "judge", "sentence", "groups", "systems", "ranks", "seconds", "time",
                   "skipped"))


def read_judgments(path: PathLike, *, form: str | None = None, base: int = 0,
                   leave_out: Iterable[str] = (), statuses: tuple[str, ...] | None = None,
                   labels: str = "check", outputs: Outputs | None = None) -> Iterator[Judgment]:
    """Read judgments one by one from a file in any known form; ``-`` is standard input.

    The form is told from the content: Appraise XML, JSONL, pairwise CSV or MTurk CSV. ``base`` is
    the number of the first sentence in the file (SEEDA counts from 1). ``leave_out`` names judges
    whose rankings do not count. With ``outputs`` (system -> sentences) the groups are compared
    with them and refused where they do not fit, unless ``labels`` says otherwise; ``statuses``
    and ``labels="text"`` are for MTurk files (see `errata.io.mturk.parse_mturk`).
    """
    name = shown_name(path)
    start, lines = peek(stream_lines(path))
    form = form or _guess(start, name)
    if labels == "text" and form != "mturk":
        raise InputError(f"labels='text' needs the texts, which a file of the form {form} has not",
                         path=name, remedy="give another base, or correct the file")
    if form == "mturk":
        stream = parse_mturk(lines, name, base=base, statuses=statuses, labels=labels,
                             outputs=outputs)
    elif form == "appraise":
        stream = parse_appraise(lines, name, base=base)
    elif form == "pairwise":
        stream = parse_pairwise(lines, name, base=base)
    elif form == "jsonl":
        stream = parse_jsonl(lines, name, base=base)
    else:
        raise InputError(f"unknown form {form!r}", remedy=f"use {', '.join(JUDGMENT_FORMS)}")
    if outputs is not None and labels == "check" and form != "mturk":
        judgments = list(stream)
        require_fit(judgments, outputs, name)
        stream = iter(judgments)
    return _without(stream, tuple(leave_out), name)


def read_outputs(*paths: PathLike) -> Outputs:
    """The outputs of systems, by name: text files (also ``name=path``), or folders of them."""
    from errata.io.load import read_hypotheses

    files: list[PathLike] = []
    for path in paths:
        files += (sorted(p for p in Path(path).iterdir() if p.is_file())
                  if Path(path).is_dir() else [path])
    outputs = {}
    for file in files:
        hypotheses = read_hypotheses(file)
        if hypotheses.system in outputs:
            raise InputError(f"two outputs of the system {hypotheses.system}", path=os.fspath(file),
                             remedy="name them apart with name=path")
        outputs[hypotheses.system] = hypotheses.sentences
    return outputs


def _guess(start: str, name: str) -> str:
    text = start.lstrip()
    if not text:
        raise InputError("the file is empty", path=name, remedy="give a file with judgments")
    if text.startswith("<"):
        return "appraise"
    if text.startswith("{"):
        return "jsonl"
    if "Input.system1" in text:
        return "mturk"
    if "system1Id" in text:
        return "pairwise"
    raise InputError("the form of the file is not known", path=name, line=1,
                     remedy="it should be Appraise XML, JSONL, pairwise CSV (with system1Id, "
                            "system1rank, ...) or MTurk CSV (with Input.system1, ...)")


def _without(judgments: Iterator[Judgment], judges: tuple[str, ...], name: str
             ) -> Iterator[Judgment]:
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
        raise InputError(f"no judgment by {', '.join(sorted(missing))}, to be left out",
                         path=name, remedy="check the names of the judges")


def parse_jsonl(lines: Iterable[str], name: str, *, base: int = 0) -> Iterator[Judgment]:
    """Read our own form; blank lines are allowed, unknown keys warned of once."""
    warned = False
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            data = json.loads(line)
        except ValueError as error:
            raise InputError(f"not JSON: {error}", path=name, line=number,
                             remedy="one ranking a line") from None
        if not isinstance(data, dict):
            raise InputError("not a JSON object", path=name, line=number,
                             remedy="one ranking a line")
        unknown = data.keys() - _KEYS
        if unknown and not warned:
            warned = True
            warnings.warn(f"{name}:{number}: unknown keys {', '.join(sorted(unknown))}; they are "
                          f"not read (known: {', '.join(sorted(_KEYS))})", DataWarning,
                          stacklevel=2)
        yield _from_json(data, name, number, base)


def _from_json(data: dict[str, Any], name: str, line: int, base: int) -> Judgment:
    item = data.get("item", "")

    def error(problem: str, remedy: str | None = None) -> InputError:
        place = f"item {item!r}: " if item else ""
        return InputError(place + problem, path=name, line=line, remedy=remedy)

    sentence, judge = data.get("sentence"), data.get("judge")
    if type(sentence) is not int or sentence < base:
        raise error(f"sentence {sentence!r} is not a whole number from {base}")
    if not isinstance(judge, str) or not isinstance(item, str):
        raise error(f"judge {judge!r} and item {item!r} should be strings")
    groups = data.get("groups", ())
    if "systems" in data:
        if "groups" in data:
            raise error("both systems and groups", "give one of them")
        groups = [[system] for system in data["systems"]]
    ranks = data.get("ranks", ())
    if data.get("skipped"):
        ranks = [None] * len(groups)
    seconds, time = data.get("seconds"), data.get("time")
    if (seconds is not None and (type(seconds) not in (int, float) or seconds < 0)) or (
            time is not None and not isinstance(time, str)):
        raise error(f"seconds {seconds!r} should be a number and time {time!r} a string")
    try:
        if not all(type(rank) is int or rank is None for rank in ranks):
            raise error(f"ranks {ranks!r} are not all whole numbers or null")
        if not all(type(group) is list and all(type(s) is str for s in group)
                   for group in groups):
            raise error("groups are lists of system names")
        return Judgment(judge, sentence - base, tuple(map(tuple, groups)), tuple(ranks), item,
                        seconds, time)
    except InputError as problem:
        if problem.path is not None:
            raise
        raise error(problem.problem, problem.remedy) from None
    except TypeError:
        raise error("groups and ranks should be lists") from None


def render_jsonl(judgments: Iterable[Judgment]) -> Iterator[str]:
    """The lines of a JSONL file; what was not recorded is left out."""
    for j in judgments:
        data = {"item": j.item or None, "judge": j.judge, "sentence": j.sentence,
                "groups": [list(group) for group in j.groups], "ranks": list(j.ranks),
                "seconds": j.seconds, "time": j.time}
        yield json.dumps({key: value for key, value in data.items() if value is not None},
                         ensure_ascii=False)


def write_judgments(judgments: Iterable[Judgment], path: PathLike, *, form: str = "jsonl",
                    base: int = 0, members: str = "all", order: str = "name", names: str = "{}",
                    rng: int | np.random.Generator = 0) -> None:
    """Write judgments as JSONL, Appraise XML or pairwise CSV (gzip for ``.gz``).

    JSONL keeps everything and counts sentences from 0. ``members``, ``order``, ``names`` and
    ``rng`` are for pairwise CSV (see `errata.io.pairwise.render_pairwise`).
    """
    if form == "jsonl":
        lines = render_jsonl(judgments)
    elif form == "appraise":
        lines = render_appraise(judgments, base=base)
    elif form == "pairwise":
        lines = render_pairwise(judgments, base=base, members=members, order=order, names=names,
                                rng=rng)
    else:
        raise InputError(f"judgments cannot be written as {form!r}",
                         remedy="use jsonl, appraise or pairwise")
    write_lines(lines, path)
