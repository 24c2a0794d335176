"""From a design and texts to a stored campaign with its judges and links."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import select

from errata.collect.answers import storable
from errata.collect.budget import Outlook, check_capacity, check_rules, judgments_wanted, outlook
from errata.collect.design import COMPARING, Design, design_of
from errata.collect.items import Built, CampaignTexts, Example, build_items
from errata.collect.panel import Panel
from errata.collect.writers import reviews_without_judge
from errata.errors import InputError
from errata.human.counts import Counts
from errata.numbers import Progress, plural
from errata.web.clock import wall_ms
from errata.web.database import Database, create_database
from errata.web.imports import keep_earlier
from errata.web.participants import panel_in
from errata.web.people import InvitedJudge, add_judges, fill_campaign, invited
from errata.web.schema import campaigns
from errata.web.tokens import KEY_VARIABLE, find_key, join_key, token_for

__all__ = [
    "CampaignLink",
    "PlannedCampaign",
    "check_same_campaign",
    "design_campaign",
    "link_key",
    "links_of",
    "store_campaign",
]

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
        """Fingerprints of the texts, by which a second run is held against the first."""
        parts = {**self.lines, "the examples": tuple(map(repr, self.examples))}
        parts["the writers"] = tuple(map(repr, sorted(self.texts.writers.items())))
        if self.earlier is not None:
            parts["the pilot"] = tuple(repr(each.tolist()) for each in self.earlier)
        return {name: _digest(texts) for name, texts in parts.items() if texts}


def _digest(texts: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(texts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def design_campaign(
    planned: PlannedCampaign, *, progress: Progress | None = None
) -> tuple[Built, Outlook]:
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
    notes = (*expected.notes, *_own_texts(planned, built), *_long_texts(planned.texts))
    return built, replace(expected, notes=notes)


def _names_of_judges(planned: PlannedCampaign) -> list[str]:
    """Who is invited from the start; of a panel those who join are the judges."""
    many = 0 if planned.panel is not None else planned.design.judges
    return [f"judge{k + 1}" for k in range(many)]


def _own_texts(planned: PlannedCampaign, built: Built) -> list[str]:
    """A note on reviews that nobody who is invited can give, having written the texts."""
    names = _names_of_judges(planned)
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
        if not storable(name):
            raise InputError(
                f"the name {name!r} cannot be stored",
                remedy="name systems NAME=FILE and the campaign --name NAME, in UTF-8",
            )
    own = tuple(text for each in planned.examples for text in (each.source, *each.outputs))
    for name, lines in {**planned.lines, "the examples": own}.items():
        for number, line in enumerate(lines, 1):
            if not storable(line):
                raise InputError(
                    f"{name}, line {number}: the character U+0000 cannot be stored",
                    remedy="remove it",
                )


def _long_texts(texts: CampaignTexts) -> list[str]:
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


def store_campaign(place: str, planned: PlannedCampaign, built: Built) -> Database:
    """Make the database of a campaign, its key and its judges; it is a draft then."""
    words = os.environ.get(KEY_VARIABLE)
    if words or _beside(place) is None:
        link_key(place)  # a key that is missing is told before anything is made
    now, panel = wall_ms(), planned.panel

    def fill(database: Database) -> None:
        link_key(place, create=True)
        fill_campaign(
            database,
            planned.design,
            planned.texts,
            built,
            name=planned.name,
            now=now,
            languages=planned.languages,
            words={**planned.words, **({"panel": panel.to_json()} if panel else {})},
            digests=planned.digests,
        )
        if planned.earlier is not None:
            keep_earlier(database, planned.earlier, now=now)
        if panel is None:  # else those who join are the judges
            add_judges(database, _names_of_judges(planned), now=now)

    return create_database(place, fill=fill)


def check_same_campaign(database: Database, planned: PlannedCampaign) -> None:
    """Refuse texts and settings that are not those the campaign was made of."""
    with database.reading() as connection:
        row = connection.execute(
            select(campaigns.c.design, campaigns.c.digests, campaigns.c.texts)
        ).one()
    remedy = "give the same again, or nothing; another campaign needs another name"
    before: dict[str, str] = json.loads(row.digests)
    after = planned.digests
    for name in (*before, *after):
        if before.get(name) != after.get(name):
            how = "new" if name not in before else "missing" if name not in after else "changed"
            raise InputError(
                f"{name}: {how} since the campaign was made", path=database.name, remedy=remedy
            )
    stored = design_of(json.loads(row.design)).to_json()
    for name, value in planned.design.to_json().items():
        if stored[name] != value:
            raise InputError(
                f"the campaign was made with {name}={stored[name]!r}, not {value!r}",
                path=database.name,
                remedy=remedy,
            )
    if panel_in(json.loads(row.texts)) != planned.panel:
        raise InputError(
            "the panel: changed since the campaign was made", path=database.name, remedy=remedy
        )


def _beside(place: str) -> Path | None:
    """The file whose neighbour holds the key; none for PostgreSQL."""
    return None if "://" in place else Path(place)


def link_key(place: str, *, create: bool = False) -> bytes:
    """The key of the links of a campaign: from the environment, or beside the file."""
    return find_key(_beside(place), os.environ.get(KEY_VARIABLE), create=create)


class CampaignLink(NamedTuple):
    """Whose link, in which state, and the link itself; the organiser has no state."""

    who: str
    state: str
    link: str


def links_of(
    database: Database, key: bytes, begin: str, names: Sequence[str] = ()
) -> list[CampaignLink]:
    """The links of the judges named; of the organiser and of all where none is."""
    with database.reading() as connection:
        people = invited(connection)
        panel = panel_in(json.loads(connection.execute(select(campaigns.c.texts)).scalar_one()))
    for name in names:
        if name not in {judge.name for judge in people}:
            raise InputError(
                f"there is no judge {name!r}",
                path=database.name,
                remedy="errata collect links lists the judges",
            )

    def link(judge: InvitedJudge) -> CampaignLink:
        token = token_for(key, "judge", judge.id, judge.generation)
        return CampaignLink(judge.name, judge.state, f"{begin}judge#{token}")

    found = [link(judge) for judge in people if not names or judge.name in names]
    if names:
        return found
    doors = [CampaignLink("organiser", "", f"{begin}admin#{token_for(key, 'admin')}")]
    if panel is not None:
        doors.append(CampaignLink(f"panel {panel.provider}", "", f"{begin}join/{join_key(key)}"))
    return [*doors, *found]
