"""Files into a campaign: judges from a table, and what earlier judgments say of the systems.

Earlier judgments start ``adaptive`` and ``plan``; they never become judgments of the campaign.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from sqlalchemy import Connection, insert, select

from errata.collect.design import LARGEST_NUMBER
from errata.data import Judgment
from errata.errors import InputError
from errata.human import Comparisons, compare
from errata.human.counts import Counts
from errata.io.files import PathLike, shown_name
from errata.io.sheet import column_key, read_rows, same_width
from errata.io.whole_numbers import whole_number
from errata.web.database import Database
from errata.web.events import record
from errata.web.languages import choose_language, languages_of
from errata.web.people import add_judges, set_quota
from errata.web.schema import events, identities

__all__ = [
    "ListedJudge",
    "counts_between",
    "earlier_counts",
    "invite_listed",
    "keep_earlier",
    "kept_earlier",
    "read_judge_list",
]

_TITLES = {
    "name": {"name", "judge", "pseudonym"},
    "quota": {"quota", "tasks"},
    "language": {"language"},
    "provider": {"provider", "panel"},
    "external": {"externalid", "participant", "participantid", "prolificpid", "id"},
}


class ListedJudge(NamedTuple):
    """A judge of a table: a name, perhaps a quota, an id at a panel, a language."""

    name: str
    quota: int | None = None
    provider: str = ""
    external_id: str = ""
    language: str = ""


def read_judge_list(path: PathLike) -> list[ListedJudge]:
    """Judges of a CSV (or spreadsheet) headed name, quota, language, provider, external id.

    Panel ids need no names: judges are then called by their number in the table, since a name
    would show the id to whoever reads an export.
    """
    where = shown_name(path)
    rows, _ = read_rows(path)
    if not rows:
        raise InputError("the table is empty", path=where, remedy="give a heading and judges")
    same_width(rows, where)
    head = [column_key(title) for title in rows[0].cells]
    at = {role: k for k, key in enumerate(head) for role, keys in _TITLES.items() if key in keys}
    if "name" not in at and "external" not in at:
        raise InputError(
            "no column name or external id",
            path=where,
            line=rows[0].line,
            remedy="the columns are name, quota, language, provider and external id",
        )
    found: list[ListedJudge] = []
    for number, row in enumerate((row for row in rows[1:] if any(row.cells)), 1):
        cells = {role: row.cells[k].strip() for role, k in at.items()}
        quota = whole_number(cells["quota"], 1) if cells.get("quota") else None
        if cells.get("quota") and quota is None:
            raise InputError(
                f"the quota {cells['quota']!r} is no whole number from 1", path=where, line=row.line
            )
        if quota is not None and quota > LARGEST_NUMBER:
            raise InputError(f"the quota {quota} is too large", path=where, line=row.line)
        name = cells.get("name") or (f"judge {number}" if cells.get("external") else "")
        if not name:
            raise InputError("a judge without a name", path=where, line=row.line)
        if name in {judge.name for judge in found}:
            raise InputError(
                f"the judge {name!r} is there twice",
                path=where,
                line=row.line,
                remedy="name them apart",
            )
        own = (cells.get(role, "") for role in ("provider", "external", "language"))
        found.append(ListedJudge(name, quota, *own))
    if not found:
        raise InputError("no judge below the heading", path=where, remedy="give a row for each")
    return found


def invite_listed(database: Database, listed: Sequence[ListedJudge], *, now: int) -> None:
    """Add the judges of a table, with their quotas and ids at a panel: none if one is refused.

    Ids are the only personal data of a campaign; they are kept in a table of their own.
    """
    known: set[tuple[str, str]] = set()
    with database.reading() as connection:
        known |= {
            (row.provider, row.external_id)
            for row in connection.execute(select(identities.c.provider, identities.c.external_id))
        }
        languages = languages_of(connection)
    for each in listed:
        identity = (each.provider, each.external_id)
        if each.external_id and identity in known:
            raise InputError(
                f"the external id of {each.name!r} is there already",
                path=database.name,
                remedy="list each participant once",
            )
        known.add(identity)
        if each.language and each.language not in languages:
            raise InputError(
                f"the campaign has no texts in {each.language!r}",
                path=database.name,
                remedy=f"use one of {', '.join(languages)}",
            )
    with database.at_once() as together:
        judges = add_judges(together, [each.name for each in listed], now=now)
        ids = {judge.name: judge.id for judge in judges}
        with together.writing() as connection:
            for each in listed:
                if each.external_id:
                    connection.execute(
                        insert(identities).values(
                            judge=ids[each.name],
                            campaign=1,
                            provider=each.provider,
                            external_id=each.external_id,
                            session_digest="",
                        )
                    )
        for each in listed:
            if each.quota is not None:
                set_quota(together, each.name, each.quota, now=now)
            if each.language:
                choose_language(together, ids[each.name], each.language, now=now)


def counts_between(comparisons: Comparisons, systems: Sequence[str]) -> Counts:
    """Wins and ties, by the order of these systems; others are left out."""
    counts = comparisons.counts()
    place = {name: k for k, name in enumerate(systems)}
    known = [name for name in comparisons.systems if name in place]
    here = [comparisons.systems.index(name) for name in known]
    there = [place[name] for name in known]
    wins, ties = np.zeros((len(systems),) * 2), np.zeros((len(systems),) * 2)
    wins[np.ix_(there, there)] = counts.wins[np.ix_(here, here)]
    ties[np.ix_(there, there)] = counts.ties[np.ix_(here, here)]
    return Counts(wins, ties)


def earlier_counts(
    judgments: Iterable[Judgment], systems: Sequence[str], files: Iterable[str]
) -> Counts:
    """Wins and ties of earlier judgments; refused where they say nothing of these systems."""
    counts = counts_between(compare(judgments, keep="pairs"), systems)
    if not counts.games.any():
        raise InputError(
            "no earlier judgment compares two systems of the campaign",
            path=", ".join(files),
            remedy="name systems as in the earlier judgments: NAME=FILE",
        )
    return counts


def keep_earlier(database: Database, counts: Counts, *, now: int) -> None:
    """Keep what earlier judgments say as an event: beside the campaign's own, never among them."""
    with database.writing() as connection:
        record(
            connection,
            now,
            "organiser",
            "earlier",
            wins=counts.wins.tolist(),
            ties=counts.ties.tolist(),
        )


def kept_earlier(connection: Connection) -> Counts | None:
    """The sum of all that earlier judgments say; None without any."""
    rows = connection.execute(select(events.c.detail).where(events.c.kind == "earlier")).scalars()
    found = [json.loads(detail) for detail in rows]
    if not found:
        return None
    wins, ties = (np.sum([each[name] for each in found], axis=0) for name in ("wins", "ties"))
    return Counts(wins, ties)
