"""What the organiser sees: figures that are worked out in the background, never in a request.

Rankings and agreement are those of `errata rank` and `errata agree` on the export with their
defaults, digit for digit, because the same functions make them of the same judgments.
"""

from __future__ import annotations

import hashlib
import json
import math
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from time import monotonic
from typing import Any

from sqlalchemy import Connection, Integer, cast, func, select

from errata import human
from errata.collect.budget import seconds_per_task
from errata.collect.design import COMPARING, WRITING
from errata.errors import InputError
from errata.human.agreement import judge_agreement
from errata.human.clusters import cluster
from errata.human.decisions import OutputPairs, output_pairs
from errata.human.ranking_columns import RankingColumns
from errata.numbers import Interval
from errata.report.cells import is_number
from errata.report.table import Table, render
from errata.report.tables.rankings import agreement_tables, head_to_head_table, ranking_table
from errata.web.care import CareOfJudges
from errata.web.changing import own_seconds
from errata.web.database import Database
from errata.web.export_edits import edits_left_out
from errata.web.exports import forms_of
from errata.web.gathering import GatheredJudgments
from errata.web.giving import view_of
from errata.web.learning import lessons_in
from errata.web.participants import places_taken
from errata.web.progress import budgeted, main_answers, without_reviewers
from errata.web.schema import assignments, items, judges, judgments, sentences
from errata.web.store import Campaign, Store
from errata.web.tallies import comparisons_table, disagreement_table, without_empty_columns
from errata.workers import circles_left

__all__ = ["PARTS", "Dashboard"]

PARTS = ("status", "ranking", "judges", "items")
SHARES = ("checks passed", "95 % interval", "ties", "first is best", "by chance", "pasted")
HOUR = 3_600_000  # milliseconds
WORRYING = 0.9  # a judge whose share of passed checks lies below it is marked
LOOKING = 30.0  # seconds that a look lasts: a page that is seen asks every five
UNSEEN = 60.0  # seconds after which figures that nobody looks at are worked out anew
MOST_COLUMNS = 15  # of a table that is still read on a page
TIMES = "Seconds are the median of active time"
HABITS = (
    f"{TIMES}; checks passed have Wilson's 95 % interval; first is best: how often the output "
    "shown first was ranked best alone."
)
PASTED = f"{TIMES}; pasted: the share of answers with pasted text."
LOOKED = (
    "Ranges that are looked at again and again are not corrected for looking; a stop rule with "
    "looks fixed beforehand is."
)


class Dashboard:
    """The parts of the page, each as JSON with its tag; `refresh` works them out anew."""

    def __init__(self, store: Store) -> None:
        self.store = store
        ranked = store.campaign().design.kind in COMPARING
        self.gathered = GatheredJudgments(store.database, ranked=ranked)
        self.care = CareOfJudges()
        self._parts: dict[str, tuple[str, bytes]] = {}
        self._state: object = None
        self.asked = threading.Event()  # to look at once, for whoever works in the background
        self._looked = self._begun = -math.inf  # when somebody asked, and when it was worked out

    @property
    def due(self) -> bool:
        """Whether figures are to be worked out: somebody looks at them, or nobody has for long."""
        now = monotonic()
        return now - self._looked <= LOOKING or now - self._begun >= UNSEEN

    def part(self, name: str) -> tuple[str, bytes]:
        """The tag and the body of a part, as it was last worked out; nothing is worked out here."""
        found, now = self._parts.get(name), monotonic()
        if found is None or now - self._looked > LOOKING:
            self.asked.set()
        self._looked = now
        if found is None:
            return _tagged(self._not_yet(name))
        return found

    def _not_yet(self, name: str) -> dict[str, Any]:
        if name != "status":
            return {"notes": ["The figures are being worked out."], "tables": []}
        return _overview(self.store.campaign(), [])

    def refresh(self) -> bool:
        """Work out what has changed since the last time; says whether anything has.

        The overview is worked out every time: hours pass and places fall vacant, and a budget
        changes, without an answer.
        """
        self._begun = monotonic()
        state = self._fingerprint()
        if state == self._state:
            self._parts["status"] = _tagged(self.status())
            return False
        with circles_left():  # hundreds of thousands of rankings and tables, none in a circle
            self._work_out()
        self._state = state
        return True

    def _work_out(self) -> None:
        campaign = self.store.campaign()
        found = self.gathered.read()
        pairs = output_pairs(found)
        parts = {
            "status": self._status(campaign),
            "ranking": self._ranking(campaign, found),
            "judges": self._judges(campaign, found, pairs),
            "items": self._items(pairs),
        }
        if campaign.design.kind == "edits":
            left_out = _laid_out(_left_out_table(self.store.database))
            parts["items"]["tables"].append(left_out)
        for name, body in parts.items():
            self._parts[name] = _tagged(body)

    def status(self) -> dict[str, Any]:
        """The overview alone, as it is now."""
        return self._status(self.store.campaign())

    def _fingerprint(self) -> object:
        with self.store.database.reading() as connection:
            counts = connection.execute(
                select(
                    select(func.max(judgments.c.id)).scalar_subquery(),
                    select(func.max(assignments.c.id)).scalar_subquery(),
                    select(func.sum(cast(items.c.parked, Integer))).scalar_subquery(),
                )
            ).one()
            people = connection.execute(
                select(judges.c.id, judges.c.name, judges.c.state, judges.c.generation)
            ).all()
        campaign = self.store.campaign()
        words = json.dumps(campaign.texts, sort_keys=True)
        return tuple(counts), tuple(map(tuple, people)), campaign.state, words

    def _status(self, campaign: Campaign) -> dict[str, Any]:
        with self.store.database.reading() as connection:
            wanted, done = budgeted(connection), main_answers(connection)
            skipped = main_answers(connection, "skipped")
            now = self.store.wall()
            recent = connection.execute(
                select(func.count()).where(judgments.c.server_time > now - HOUR)
            ).scalar_one()
            seconds = own_seconds(connection)
            people = _people_figures(connection, campaign, self.store.steady())
        pace = seconds_per_task(campaign.design, seconds)
        left = max(0, wanted - done)
        figures = [
            ["Done", f"{done} of {wanted}", f"{100 * done / max(1, wanted):.0f} %"],
            ["Last hour", str(recent), "answers, changes among them"],
            ["A task takes", "" if pace is None else f"{pace:.0f} s", "median of active time"
             if seconds else "published median"],
            ["Still to do", "" if pace is None else f"{left * pace / 3600:.1f} h", "of judges"],
            ["Skipped", str(skipped), ""],
        ]  # fmt: skip
        rate = campaign.design.rate
        if rate is not None and pace is not None:
            figures.append(
                ["Cost so far", f"{done * pace / 3600 * rate:.2f}", f"at {rate:g} an hour"]
            )
        return _overview(campaign, figures + people)

    def _ranking(self, campaign: Campaign, found: RankingColumns) -> dict[str, Any]:
        if campaign.design.blind and campaign.state != "closed":
            return {
                "notes": ["Blind: the ranking is shown when the campaign is closed."],
                "tables": [],
            }
        if not len(found):
            return {"notes": ["No ranking yet."], "tables": []}
        comparisons = self.gathered.compared(found)
        try:
            scores = human.rank(human.parse_ranker(human.DEFAULT_RANKER), comparisons, threads=1)
            ranking = cluster(scores)
        except InputError as error:  # one sentence only, or systems that nobody compared
            return {"notes": [f"No ranking yet: {error}"], "tables": []}
        head = human.head_to_head(comparisons)
        tables = (
            replace(ranking_table(ranking), title="Ranking"),
            head_to_head_table(head, ranking.order, context=comparisons.facts),
            comparisons_table(head, ranking.order),
        )
        return {
            "notes": [LOOKED],
            "tables": [_laid_out(each) for each in tables],
            "values": _values(tables[:2]),
        }

    def _judges(
        self, campaign: Campaign, found: RankingColumns, pairs: OutputPairs
    ) -> dict[str, Any]:
        work = self.gathered.work()
        with self.store.database.reading() as connection:
            people = connection.execute(
                select(judges).where(judges.c.state != "forgotten").order_by(judges.c.id)
            ).all()
            rows = self.care.rows(connection, campaign.design, people, work, found, pairs)
        keys = [
            {
                "key": row.name,
                "state": row.state,
                "flag": isinstance(cells[6], Interval) and cells[6].high < WORRYING,
            }
            for row, cells in zip(people, rows, strict=True)
        ]
        table = Table(
            (
                *("judge", "state", "done", "skipped", "seconds", "checks passed", "95 % interval"),
                *("ties", "first is best", "by chance", "pasted", "last answer"),
            ),
            tuple(rows),
            title="Judges",
            formats={"seconds": ".1f"} | dict.fromkeys(SHARES, ".2f"),
            caption=PASTED if campaign.design.kind in WRITING else HABITS,
        )
        tables = [_laid_out(without_empty_columns(table), keys)]
        if len(found):
            agreement = judge_agreement(found, pairs=pairs)
            *several, each_one = agreement_tables(agreement, matrix_of=MOST_COLUMNS - 1)
            several.append(replace(each_one, title="Agreement of each judge"))
            tables += [_laid_out(_narrow(each)) for each in several]
            return {"tables": tables, "values": _values(several)}
        return {"tables": tables}

    def _items(self, pairs: OutputPairs) -> dict[str, Any]:
        with self.store.database.reading() as connection:
            rows = connection.execute(
                select(
                    sentences.c.number,
                    sentences.c.text,
                    judges.c.name,
                    judgments.c.skip,
                    judgments.c.comment,
                )
                .select_from(
                    judgments.join(assignments, assignments.c.id == judgments.c.assignment)
                    .join(items, items.c.id == assignments.c.item)
                    .join(sentences, sentences.c.id == items.c.sentence)
                    .join(judges, judges.c.id == assignments.c.judge)
                )
                .where((judgments.c.skip.is_not(None)) | (judgments.c.comment != ""))
                .order_by(judgments.c.id.desc())
                .limit(200)
            ).all()
            parked = connection.execute(
                select(sentences.c.number, sentences.c.text)
                .join(items, items.c.sentence == sentences.c.id)
                .where(items.c.parked.is_(True))
            ).all()
        said = Table(
            ("sentence", "text", "judge", "skipped", "comment"),
            tuple((r.number, r.text, r.name, r.skip or "", r.comment) for r in rows),
            title="Skips and comments, newest first",
        )
        put_by = Table(
            ("sentence", "text"),
            tuple((r.number, r.text) for r in parked),
            title="Parked after three skips",
        )
        tables = (disagreement_table(pairs, self._texts), said, put_by)
        return {"tables": [_laid_out(each) for each in tables]}

    def _texts(self, some: Sequence[int]) -> dict[int, str]:
        """The sentences with these numbers."""
        query = select(sentences.c.number, sentences.c.text).where(sentences.c.number.in_(some))
        with self.store.database.reading() as connection:
            return {row.number: row.text for row in connection.execute(query)}


def _people_figures(connection: Connection, campaign: Campaign, now: int) -> list[list[str]]:
    """Places of a panel that are taken, and how judges came through the tutorial."""
    figures = []
    if campaign.design.kind == "review" and (lacking := without_reviewers(connection)):
        rest = "the judges who are left wrote these texts, or had them: invite others"
        figures.append(["Nobody can review", str(lacking), rest])
    places = places_taken(connection, campaign, now)
    if places is not None:
        figures.append(["Places", f"{places[0]} of {places[1]}", "taken"])
    if lessons_in(connection, campaign.design):
        rows = connection.execute(select(judges).where(judges.c.state != "forgotten")).all()
        views = [view_of(connection, campaign.design, row) for row in rows]
        stand = Counter(view.tutorial for view in views)
        rest = f"{stand['failed']} failed, {stand['todo']} not through it yet"
        figures.append(["Tutorial", f"{stand['passed']} passed", rest])
    return figures


def _overview(campaign: Campaign, figures: list[list[str]]) -> dict[str, Any]:
    kind = campaign.design.kind
    return {
        "title": campaign.name,
        "state": campaign.state,
        "forms": [*forms_of(campaign.design), *(["texts"] if kind in WRITING else [])],
        "figures": figures,
        "warnings": [],
        "tables": [],
        "texts": {name: campaign.texts.get(name, "") for name in ("instructions", "consent")},
    }


def _tagged(body: dict[str, Any]) -> tuple[str, bytes]:
    """A part as it is sent, with the tag by which a page knows that nothing has changed."""
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
    return f'"{hashlib.sha256(text).hexdigest()[:24]}"', text


def _narrow(table: Table) -> Table:
    """The table, or where it is to be had if it is too wide for a page."""
    if len(table.columns) <= MOST_COLUMNS:
        return table
    many = len(table.columns)
    said = f"{many} columns are too wide for a page; errata agree shows them of the export"
    return replace(table, columns=table.columns[:1], rows=(), caption=said)


def _left_out_table(database: Database) -> Table:
    """Edits that the majority calls good, and that the M2 of an export does not hold."""
    return Table(
        ("sentence", "start", "end", "edit", "votes", "instead"),
        tuple(
            (each.sentence, *each.edit, each.votes, each.instead[2])
            for each in edits_left_out(database)
        ),
        title="Good edits that edits-m2 leaves out, because they overlap",
    )


def _values(tables: Sequence[Table]) -> list[dict[str, Any]]:
    """The numbers that the tables show, unrounded, as ``--json`` of the commands has them."""
    narrow = [each for each in tables if len(each.columns) <= MOST_COLUMNS]
    found: list[dict[str, Any]] = json.loads(render(narrow, "json"))["tables"]
    return found


def _laid_out(table: Table, keys: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
    """A table as the page builds it: texts as people read them, numbers marked as such."""
    numeric = [
        bool(table.rows) and all(is_number(row[c]) or row[c] is None for row in table.rows)
        for c in range(len(table.columns))
    ]
    rows = []
    for k, texts in enumerate(table.texts()):
        rows.append({"cells": [text.strip() for text in texts], **(keys[k] if keys else {})})
    return {
        "title": table.title,
        "columns": [
            {"name": name, "numeric": right}
            for name, right in zip(table.columns, numeric, strict=True)
        ],
        "rows": rows,
        "rules": sorted(table.rules),
        "note": table.caption or None,
    }
