"""Rankings as our own JSONL, one a line::

    {"item": "s23", "judge": "ann", "sentence": 23, "groups": [["A", "B"], ["C"]],
     "ranks": [1, 2], "seconds": 25.8, "time": "2025-03-03T09:03:20Z"}

``groups`` lists the systems that share an output, ``ranks`` the rank of each group: lower is
better, equal is a tie, null is "shown but not ranked". ``systems`` instead of ``groups`` names one
system per rank. Sentences count from 0. No groups (or ``"skipped": true``) is a skipped item.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from errata.data import Judgment
from errata.errors import InputError
from errata.io.judgments.fields import UnknownWords, is_duration
from errata.io.judgments.repeats import Repeats
from errata.io.strict_json import decode_json
from errata.io.whole_numbers import LARGEST

__all__ = ["parse_jsonl", "render_jsonl"]

_KEYS = frozenset(
    ("item", "judge", "sentence", "groups", "systems", "ranks", "seconds", "time", "skipped")
)
_LIST, _RANK = {list}, {int, type(None)}
Groups = tuple[tuple[str, ...], ...]
KNOWN = 50_000  # groups remembered, so that a file of any size takes little memory


def parse_jsonl(
    lines: Iterable[str], name: str, *, base: int = 0, repeats: Repeats | None = None
) -> Iterator[Judgment]:
    """Read our own form; blank lines are allowed, unknown keys warned of once."""
    unread = UnknownWords(name)
    repeats = repeats or Repeats()
    repeats.start(name)
    known: dict[Groups, Groups] = {}
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text:
            continue
        data = _decode(text, name, number)
        for key in data.keys() - _KEYS:
            unread.meet("key", key, _KEYS, number)
        judgment = _from_json(data, name, number, base, known)
        if repeats.counts(judgment, number):
            yield judgment
    unread.warn()
    repeats.finish()


def _decode(text: str, name: str, line: int) -> dict[str, Any]:
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
            seconds is not None and (type(seconds) not in (int, float) or not is_duration(seconds))
        ) or (time is not None and type(time) is not str):
            raise InputError(f"seconds {seconds!r} should be a number and time {time!r} a string")
        groups, ranks = _ranked_groups(data, known)
        return Judgment(judge, sentence - base, groups, ranks, item, seconds, time)
    except InputError as problem:
        place = f"item {item!r}: " if item else ""
        raise InputError(
            place + problem.problem, path=name, line=line, remedy=problem.remedy
        ) from None


def _ranked_groups(
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
    for j in judgments:
        data = {
            "item": j.item or None,
            "judge": j.judge,
            "sentence": j.sentence,
            "groups": [list(group) for group in j.groups],
            "ranks": list(j.ranks),
            "seconds": j.seconds,
            "time": j.time,
        }
        yield json.dumps(
            {key: value for key, value in data.items() if value is not None}, ensure_ascii=False
        )
