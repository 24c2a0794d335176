"""Create, change and import."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from sqlalchemy import Connection, insert, select, update

from errata.collect.answers import is_storable
from errata.collect.budget import Forecast, check_capacity, check_rules, judgments_wanted, outlook
from errata.collect.design import COMPARING, LARGEST_NUMBER, Design, Panel, not_too_large
from errata.collect.files import reviews_without_judge
from errata.collect.items import BuiltCampaign, CampaignTexts, Example, build_items
from errata.collect.web.assignment_queries import required_judgments
from errata.collect.web.database import Database, create_database, record
from errata.collect.web.i18n import choose_language, languages_of
from errata.collect.web.judges import (
    InvitedJudge,
    add_judges,
    fill_campaign,
    link_salts,
    remembered_judges,
    set_quota,
    unknown_judge,
)
from errata.collect.web.panel import panel_in
from errata.collect.web.schema import campaigns, events, identities, judgments
from errata.collect.web.tokens import KEY_VARIABLE, LinkSigner, find_key, is_old_salt
from errata.core.errors import InputError
from errata.core.stats import Progress, plural
from errata.data import Judgment
from errata.human import Comparisons, compare
from errata.human.comparisons import Counts
from errata.io.files import PathLike, shown_name
from errata.io.records import parse_integer
from errata.io.rows import check_width, normalise_title, read_rows

# ---- What may still change in a campaign that was open: texts, quotas, budget; all of it
# events.

BudgetBound = Literal["rankings", "hours", "money"]
TIMES = 1000  # answers whose median is the time of a task: the last ones


def change_texts(database: Database, texts: Mapping[str, Any]) -> None:
    """Replace texts; the event keeps what stood there, so that what was agreed to is known."""
    with database.writing() as connection:
        row = connection.execute(select(campaigns.c.texts, campaigns.c.languages)).one()
        before: dict[str, Any] = row.texts
        after = before | dict(texts)
        spoken = [after.get("language", "en"), *after.get("translations", {})]
        languages = [*dict.fromkeys((*row.languages, *spoken))]
        connection.execute(update(campaigns).values(texts=after, languages=languages))
        old = {name: before.get(name) for name in sorted(texts)}
        record(connection, "organiser", "texts", changed=sorted(texts), before=old)


def change_quota(database: Database, quota: int, names: Sequence[str] = ()) -> int:
    """Change how many tasks these judges get, or all who are there; gives how many they are."""
    if type(quota) is not int or quota < 1:
        raise InputError(f"quota={quota!r} should be a whole number from 1")
    not_too_large("quota", quota)
    with database.at_once() as together, together.reading() as connection:
        people = names or [judge.name for judge in remembered_judges(connection)]
        for name in people:
            set_quota(together, name, quota)
    return len(people)


def own_seconds(connection: Connection) -> list[float]:
    """The active seconds of the last answers."""
    times = connection.execute(
        select(judgments.c.active_ms)
        .where(judgments.c.active_ms.is_not(None))
        .order_by(judgments.c.id.desc())
        .limit(TIMES)
    ).scalars()
    return [ms / 1000 for ms in times]


def change_budget(database: Database, bound: BudgetBound, amount: float) -> tuple[int, int]:
    """Change the budget of the campaign; return the judgments allowed, and those with items.

    Hours and money count as when the campaign was made, at the campaign's own median time once
    there are answers. More than there are items for has no effect beyond them.
    """
    with database.writing() as connection:
        design: Design = connection.execute(select(campaigns.c.design)).scalar_one()
        if bound == "rankings" and float(amount).is_integer():
            amount = int(amount)
        other: dict[str, Any] = {"rankings": None, "hours": None, "money": None, bound: amount}
        bounded = replace(design, **other)
        allowed = judgments_wanted(bounded, own_seconds(connection))
        assert allowed is not None
        connection.execute(update(campaigns).values(budget=allowed))
        record(connection, "organiser", "budget", **{bound: amount}, judgments=allowed)
        return allowed, required_judgments(connection)


# ---- Files into a campaign: judges from a table, and what earlier judgments say of the systems.

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
    would show the id to all readers of an export.
    """
    where = shown_name(path)
    rows, _ = read_rows(path)

    def wrong(problem: str, remedy: str, line: int | None = None) -> InputError:
        return InputError(problem, path=where, line=line, remedy=remedy)

    if not rows:
        raise wrong("the table is empty", "give a heading and judges")
    check_width(rows, where)
    head = [normalise_title(title) for title in rows[0].cells]
    at = {role: k for k, key in enumerate(head) for role, keys in _TITLES.items() if key in keys}
    if "name" not in at and "external" not in at:
        remedy = "the columns are name, quota, language, provider and external id"
        raise wrong("no column name or external id", remedy, rows[0].line)
    found: dict[str, ListedJudge] = {}
    for number, row in enumerate((row for row in rows[1:] if any(row.cells)), 1):
        cells = {role: row.cells[k].strip() for role, k in at.items()}
        quota = parse_integer(cells["quota"], 1) if cells.get("quota") else None
        if cells.get("quota") and (quota is None or quota > LARGEST_NUMBER):
            problem = f"the quota {cells['quota']!r} is no whole number from 1, or too large"
            raise wrong(problem, f"give {LARGEST_NUMBER} at most", row.line)
        name = cells.get("name") or (f"judge {number}" if cells.get("external") else "")
        if not name:
            raise wrong("a judge without a name", "give one, or an external id", row.line)
        if name in found:
            raise wrong(f"the judge {name!r} is there twice", "name them apart", row.line)
        own = (cells.get(role, "") for role in ("provider", "external", "language"))
        found[name] = ListedJudge(name, quota, *own)
    if not found:
        raise wrong("no judge below the heading", "give a row for each")
    return list(found.values())


def invite_listed(database: Database, listed: Sequence[ListedJudge]) -> None:
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
        judges = add_judges(together, [each.name for each in listed])
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
                set_quota(together, each.name, each.quota)
            if each.language:
                choose_language(together, ids[each.name], each.language)


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


def store_earlier(database: Database, counts: Counts) -> None:
    """Keep what earlier judgments say as an event: beside the campaign's own, never among them."""
    with database.writing() as connection:
        record(
            connection, "organiser", "earlier", wins=counts.wins.tolist(), ties=counts.ties.tolist()
        )


def load_earlier(connection: Connection) -> Counts | None:
    """The sum of all that earlier judgments say; None without any."""
    query = select(events.c.detail).where(events.c.kind == "earlier")
    found = connection.execute(query).scalars().all()
    if not found:
        return None
    wins, ties = (np.sum([each[name] for each in found], axis=0) for name in ("wins", "ties"))
    return Counts(wins, ties)


LONG_TEXT = 1000  # characters


@dataclass(frozen=True)
class PlannedCampaign:
    """What a campaign is made of, before it is stored."""

    name: str
    design: Design
    texts: CampaignTexts
    examples: tuple[Example, ...] = ()
    words: Mapping[str, Any] = field(default_factory=dict)
    languages: tuple[str, ...] = ("en",)
    earlier: Counts | None = None  # what earlier judgments say of the systems, in their order
    panel: Panel | None = None

    @property
    def lines(self) -> dict[str, Sequence[str]]:
        """The texts that are judged, by what they are called in messages; a line a sentence."""
        texts = self.texts
        systems = {f"system {name}": lines for name, lines in texts.systems.items()}
        beside = {"the documents": texts.documents, "the references": texts.references}
        return {"the sources": texts.sources, **systems, **beside}

    @property
    def digests(self) -> dict[str, str]:
        """Fingerprints of the texts, by which a second run is compared with the first."""
        parts = {**self.lines, "the examples": tuple(map(repr, self.examples))}
        parts["the writers"] = tuple(map(repr, sorted(self.texts.writers.items())))
        if self.earlier is not None:
            parts["the pilot"] = tuple(repr(each.tolist()) for each in self.earlier)
        return {name: _digest_of_texts(texts) for name, texts in parts.items() if texts}


def _digest_of_texts(texts: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(texts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def design_campaign(
    planned: PlannedCampaign, *, progress: Progress | None = None
) -> tuple[BuiltCampaign, Forecast]:
    """Make the items of a campaign, and say what will happen; what cannot work is refused."""
    design, systems = planned.design, planned.texts.systems
    if design.kind in COMPARING and len(systems) < 2:
        raise InputError(
            f"{'one system only' if systems else 'no system'}, and judges compare systems",
            remedy="name two or more files of outputs",
        )
    if not systems and design.kind != "correct":
        raise InputError("no outputs to judge", remedy="name one file per system")
    check_rules(design, systems)
    _refuse_unstorable(planned)
    if planned.panel is not None and design.quota is None:
        raise InputError(
            "a panel without a quota: nobody would ever have finished",
            remedy="say how many tasks a participant gets: quota = 30",
        )
    if design.pass_mark > 0 and not any(e.purpose == "tutorial" for e in planned.examples):
        raise InputError(
            f"pass_mark={design.pass_mark}, and there is no tutorial to pass",
            remedy="give examples as [[tutorial]] in the campaign file",
        )
    wanted = judgments_wanted(design)
    built = build_items(design, planned.texts, wanted, planned.examples, progress=progress)
    check_capacity(design, built)
    expected = outlook(design, built)
    notes = (
        *expected.notes,
        *_note_on_own_texts(planned, built),
        *_note_on_long_texts(planned.texts),
    )
    return built, replace(expected, notes=notes)


def _invited_names(planned: PlannedCampaign) -> list[str]:
    """Who is invited from the start; of a panel those who join are the judges."""
    many = 0 if planned.panel is not None else planned.design.judges
    return [f"judge{k + 1}" for k in range(many)]


def _note_on_own_texts(planned: PlannedCampaign, built: BuiltCampaign) -> list[str]:
    """A note on reviews that nobody who is invited can give, having written the texts."""
    names = _invited_names(planned)
    if planned.design.kind != "review" or not names:
        return []
    lacking = reviews_without_judge(built, names)
    if not lacking:
        return []
    return [
        f"{lacking} of {built.judgments} reviews can be given by none of {len(names)} "
        f"{plural('judge', len(names))}, who wrote the texts: invite others, errata collect judges "
        "add"
    ]


def _refuse_unstorable(planned: PlannedCampaign) -> None:
    """Refuse what not every database can hold: NUL, and bytes that are no UTF-8 (in names)."""
    for name in (planned.name, *planned.texts.systems):
        if not is_storable(name):
            raise InputError(
                f"the name {name!r} cannot be stored",
                remedy="name systems NAME=FILE and the campaign --name NAME, in UTF-8",
            )
    own = tuple(text for each in planned.examples for text in (each.source, *each.outputs))
    for name, lines in {**planned.lines, "the examples": own}.items():
        for number, line in enumerate(lines, 1):
            if not is_storable(line):
                raise InputError(
                    f"{name}, line {number}: the character U+0000 cannot be stored",
                    remedy="remove it",
                )


def _note_on_long_texts(texts: CampaignTexts) -> list[str]:
    """A note on texts that nobody likes to judge: often two sentences, or a whole document."""
    several = {"the sources": texts.sources, **texts.systems}
    found = [
        (name, number)
        for name, lines in several.items()
        for number, line in enumerate(lines, 1)
        if len(line) > LONG_TEXT
    ]
    if not found:
        return []
    name, number = found[0]
    return [
        f"{len(found)} {plural('text', len(found))} of more than {LONG_TEXT} characters, the first "
        f"in {name}, line {number}: check that lines are sentences"
    ]


def create_campaign(place: str, planned: PlannedCampaign, built: BuiltCampaign) -> Database:
    """Make the database of a campaign, its key and its judges; it is a draft then."""
    words = os.environ.get(KEY_VARIABLE)
    if words or _key_neighbour(place) is None:
        link_key(place)  # a missing key is reported before anything is made
    panel = planned.panel

    def fill(database: Database) -> None:
        link_key(place, create=True)
        fill_campaign(
            database,
            planned.design,
            planned.texts,
            built,
            name=planned.name,
            languages=planned.languages,
            words={**planned.words, **({"panel": panel.to_json()} if panel else {})},
            digests=planned.digests,
        )
        if planned.earlier is not None:
            store_earlier(database, planned.earlier)
        if panel is None:  # else those who join are the judges
            add_judges(database, _invited_names(planned))

    return create_database(place, fill=fill)


def check_same_campaign(database: Database, planned: PlannedCampaign) -> None:
    """Refuse texts and settings that are not those the campaign was made of."""
    with database.reading() as connection:
        row = connection.execute(
            select(campaigns.c.design, campaigns.c.digests, campaigns.c.texts)
        ).one()
    remedy = "give the same again, or nothing; another campaign needs another name"
    before: dict[str, str] = row.digests
    after = planned.digests
    for name in (*before, *after):
        if before.get(name) != after.get(name):
            how = "new" if name not in before else "missing" if name not in after else "changed"
            raise InputError(
                f"{name}: {how} since the campaign was made", path=database.name, remedy=remedy
            )
    stored = row.design.to_json()
    for name, value in planned.design.to_json().items():
        if stored[name] != value:
            raise InputError(
                f"the campaign was made with {name}={stored[name]!r}, not {value!r}",
                path=database.name,
                remedy=remedy,
            )
    if panel_in(row.texts) != planned.panel:
        raise InputError(
            "the panel: changed since the campaign was made", path=database.name, remedy=remedy
        )


def _key_neighbour(place: str) -> Path | None:
    """The file whose neighbour holds the key; none for PostgreSQL."""
    return None if "://" in place else Path(place)


def link_key(place: str, *, create: bool = False) -> bytes:
    """The key of the links of a campaign: from the environment, or beside the file."""
    return find_key(_key_neighbour(place), os.environ.get(KEY_VARIABLE), create=create)


class CampaignLink(NamedTuple):
    """Whose link, in which state, and the link itself; the organiser has no state."""

    who: str
    state: str
    link: str


def links_of(
    database: Database, key: bytes, begin: str, names: Sequence[str] = ()
) -> list[CampaignLink]:
    """Return the links of the judges named; without names, of the organiser and of everybody."""
    with database.reading() as connection:
        people = remembered_judges(connection)
        salts = link_salts(connection)
        panel = panel_in(connection.execute(select(campaigns.c.texts)).scalar_one())
    for name in names:
        if name not in {judge.name for judge in people}:
            raise unknown_judge(database, name)

    signer = LinkSigner(key, salts["campaign"])

    def link(judge: InvitedJudge) -> CampaignLink:
        token = signer.token("judge", judge.id, judge.salt)
        return CampaignLink(judge.name, judge.state, f"{begin}judge#{token}")

    found = [link(judge) for judge in people if not names or judge.name in names]
    if names:
        return found
    own = signer.token("admin", 0, salts["admin"])
    doors = [CampaignLink("organiser", "", f"{begin}admin#{own}")]
    if panel is not None:
        join = f"{begin}join/{signer.join_key(salts['join'])}"
        doors.append(CampaignLink(f"panel {panel.provider}", "", join))
    return [*doors, *found]


def count_old_links(database: Database) -> int:
    """Return how many current links were made before schema 3, and are not bound to a campaign."""
    with database.reading() as connection:
        salts = [judge.salt for judge in remembered_judges(connection)]
        salts.append(link_salts(connection)["admin"])
    return sum(map(is_old_salt, salts))
