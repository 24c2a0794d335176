"""Organiser's figures.

Rankings and agreement equal `errata rank` and `errata agree` on the export with their
defaults, digit for digit, because the same functions make them of the same judgments.
"""

from __future__ import annotations

import hashlib
import json
import math
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from statistics import median
from time import monotonic
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import Connection, Integer, cast, func, select

from errata import human
from errata.collect.budget import seconds_per_task
from errata.collect.design import COMPARING, WRITING, Design
from errata.collect.qualification import first_ranked_best, share_of_ties
from errata.collect.web.assignment_queries import main_answers, planned_judgments, without_reviewers
from errata.collect.web.assignments import lessons_in, view_of
from errata.collect.web.campaign import own_seconds
from errata.collect.web.database import Database, iso_time
from errata.collect.web.exports import JUDGED, forms_of, omitted_edits, read_answers
from errata.collect.web.panel import places_taken
from errata.collect.web.schema import answers, assignments, items, judges, judgments, sentences
from errata.collect.web.store import AssignmentStore, Campaign, control_results
from errata.core.errors import InputError
from errata.core.parallel import circles_left
from errata.core.stats import Interval, wilson
from errata.data import Judgment
from errata.human.agreement import judge_agreement
from errata.human.bootstrap import HeadToHead
from errata.human.comparisons import compare_columns
from errata.human.output_pairs import OutputPairs, RankingColumns, output_pairs, ranking_columns
from errata.human.ranking import cluster
from errata.human.tables import agreement_tables, head_to_head_table, ranking_table
from errata.tables.cells import Cell, is_number
from errata.tables.table import Table, render

# ---- The rankings and pairs of a campaign, kept between one look and the next.


class Work(NamedTuple):
    """What a judge has done, checks and changed answers among it."""

    last: int  # the number of the last answer
    time: int  # of it, or of a later one by the clock
    seconds: float | None  # the median of active time, to a tenth


class GatheredJudgments:
    """The last revisions of all answers to main items and repeats; `read` adds the new ones.

    ``ranked`` says that answers are rankings or pairs.
    """

    def __init__(self, database: Database, *, ranked: bool = True) -> None:
        self.database, self.ranked = database, ranked
        self._known: tuple[int, int] = (0, 0)  # revisions, and the number of the last
        self._names: dict[int, str] = {}
        # By assignment: when, by which judge, and the rest without texts of its own.
        self._answers: dict[int, tuple[int, int, Judgment]] = {}
        self._ranks: dict[Any, Any] = {}

    def read(self) -> RankingColumns:
        """What is stored now, in the order of time; blocked judges apart."""
        with self.database.reading() as connection:
            people = connection.execute(select(judges.c.id, judges.c.name, judges.c.state)).all()
            names = {row.id: row.name for row in people}
            if self._has_changed(connection, names):
                self._known, self._answers = (0, 0), {}
            self._names = names
            new = judgments.c.id > self._known[1]
            if self.ranked:
                for stored in read_answers(connection, new, JUDGED):
                    row, found = stored.row, stored.judgment
                    ranks = self._ranks.setdefault(found.ranks, found.ranks)
                    lean = replace(found, item="", time=None, ranks=ranks)
                    self._answers[row.assignment] = row.server_time, row.judge, lean
            self._known = _count_revisions(connection)
        blocked = {row.id for row in people if row.state == "blocked"}
        order = sorted(self._answers, key=lambda number: (self._answers[number][0], number))
        some = (self._answers[number] for number in order)
        return ranking_columns(found for _, judge, found in some if judge not in blocked)

    def _has_changed(self, connection: Connection, names: Mapping[int, str]) -> bool:
        """Whether something is not as it was read: a judge forgotten, or numbers out of order.

        Two transactions of PostgreSQL may end in another order than they took their numbers in.
        """
        renamed = any(names.get(judge) != name for judge, name in self._names.items())
        return renamed or _count_revisions(connection, self._known[1])[0] != self._known[0]

    def work(self) -> dict[int, Work]:
        """What every judge has done, of those who have done anything."""
        numbers = select(
            assignments.c.judge, judgments.c.id, judgments.c.server_time, judgments.c.active_ms
        )
        last: dict[int, tuple[int, int]] = defaultdict(lambda: (0, 0))
        timed: dict[int, list[float]] = defaultdict(list)
        with self.database.reading() as connection:
            for judge, number, time, ms in connection.execute(numbers.select_from(answers)):
                last[judge] = max(last[judge][0], number), max(last[judge][1], time)
                if ms is not None:
                    timed[judge].append(ms / 1000)
        seconds = {judge: round(median(some), 1) for judge, some in timed.items()}
        return {judge: Work(*two, seconds.get(judge)) for judge, two in last.items()}


def _count_revisions(connection: Connection, last: int | None = None) -> tuple[int, int]:
    """How many revisions there are (up to ``last``), and the number of the last."""
    query = select(func.count(), func.coalesce(func.max(judgments.c.id), 0))
    query = query.select_from(judgments)
    many, last = connection.execute(
        query if last is None else query.where(judgments.c.id <= last)
    ).one()
    return many, last


# ---- Figures of the organiser's page that no command prints: who met whom, where judges
# disagree.

ROWS_SHOWN = 20  # of disagreements that are shown


def comparisons_table(head: HeadToHead, order: Sequence[int]) -> Table:
    """How often every two systems were compared, ties among them."""
    wins = head.counts.wins
    met = wins + wins.T + head.counts.ties
    rows: list[tuple[Cell, ...]] = [
        (head.systems[a], *(None if a == b else int(met[a, b]) for b in order)) for a in order
    ]
    return Table(
        ("system", *(head.systems[b] for b in order)),
        tuple(rows),
        title="Comparisons of every two systems",
        name="comparisons",
    )


def disagreement_table(
    pairs: OutputPairs, texts: Callable[[Sequence[int]], Mapping[int, str]]
) -> Table:
    """Sentences on which judges differ most: the share of pairs of outputs put in another order.

    Two judges agree on a pair if both prefer the same output, or both call them equal; of a judge
    the first decision on a pair counts. Only what several judges ranked is looked at; ``texts``
    gives the sentences of some numbers.

    >>> from errata.data import Judgment
    >>> from errata.human.output_pairs import output_pairs
    >>> one = Judgment("ann", 0, (("A",), ("B",)), (1, 2))
    >>> two = Judgment("bo", 0, (("B",), ("A",)), (1, 2))
    >>> disagreement_table(output_pairs([one, two]), lambda some: {0: "He go ."}).rows
    ((0, 'He go .', 2, 1.0),)
    """
    again = pairs.decided_again
    of_key, many = again.codes[:, 0], len(pairs.sentences)
    said = again.first.tallies()
    decided = said.sum(1)
    alike = np.bincount(of_key, (said * (said - 1) / 2).sum(1), minlength=many)
    compared = np.bincount(of_key, decided * (decided - 1) / 2, minlength=many)
    judged = np.zeros((many, len(pairs.judges)), bool)
    judged[pairs.codes[pairs.key, 0], pairs.judge] = True
    judges = judged.sum(1)
    worst: list[tuple[float, int, int]] = []
    for k in np.flatnonzero(alike < compared).tolist():
        share = 1 - float(alike[k]) / float(compared[k])
        worst.append((-share, -int(judges[k]), pairs.sentences[k]))
    worst = sorted(worst)[:ROWS_SHOWN]
    known = texts([sentence for *_, sentence in worst])
    rows = [(number, known.get(number, ""), -many, -share) for share, many, number in worst]
    return Table(
        ("sentence", "text", "judges", "pairs that differ"),
        tuple(rows),
        title="Where judges disagree most",
        name="disagreement",
        formats={"pairs that differ": ".2f"},
    )


def without_empty_columns(table: Table) -> Table:
    """A table without the columns in which nothing stands yet."""
    kept = [c for c in range(len(table.columns)) if any(row[c] is not None for row in table.rows)]
    return replace(
        table,
        columns=tuple(table.columns[c] for c in kept),
        rows=tuple(tuple(row[c] for c in kept) for row in table.rows),
        formats={k: v for k, v in table.formats.items() if table.columns.index(k) in kept},
    )


def share_passed(passed: Sequence[bool]) -> tuple[float | None, Interval | None]:
    """The share of checks that were passed, and Wilson's interval, which has no middle."""
    if not passed:
        return None, None
    found = wilson(sum(passed), len(passed))
    return found.value, Interval(found.low, found.high)


def share_pasted(displays: Sequence[Mapping[str, Any] | None]) -> float | None:
    """The share of answers in which something was pasted.

    >>> share_pasted([{"pasted": 12}, {"marks": True}, None])
    0.3333333333333333
    """
    pasted = [(each or {}).get("pasted", 0) > 0 for each in displays]
    return sum(pasted) / len(pasted) if pasted else None


# ---- What is known of the work and care of every judge, a row of the organiser's page for each.

_STATES = select(assignments.c.judge, assignments.c.state, func.count()).group_by(
    assignments.c.judge, assignments.c.state
)
_DISPLAYS = select(assignments.c.judge, judgments.c.display).select_from(answers)
_CHECKED = (  # who has answered controls, how many answers to them there are, and which is the last
    select(assignments.c.judge, func.count(), func.max(judgments.c.id))
    .select_from(answers)
    .where(assignments.c.state == "done", items.c.purpose == "control")
    .group_by(assignments.c.judge)
)


class JudgeQuality:
    """Rows of judges; what controls said is kept until a judge has answered one again."""

    def __init__(self) -> None:
        self._controls: dict[int, tuple[object, list[bool]]] = {}

    def rows(
        self,
        connection: Connection,
        design: Design,
        people: Sequence[Any],
        work: Mapping[int, Work],
        rankings: RankingColumns,
        pairs: OutputPairs,
    ) -> list[tuple[Cell, ...]]:
        """A row for each of ``people``, in their order."""
        states = {(judge, state): many for judge, state, many in connection.execute(_STATES)}
        displays: dict[int, list[Any]] = defaultdict(list)
        if design.kind in WRITING:
            for judge, display in connection.execute(_DISPLAYS):
                displays[judge].append(display)
        checked = {judge: known for judge, *known in connection.execute(_CHECKED)}
        first, chance = first_ranked_best(rankings)
        habits = np.stack([share_of_ties(pairs), first, chance], axis=1).tolist()
        number = {name: k for k, name in enumerate(rankings.judges)}
        rows: list[tuple[Cell, ...]] = []
        for row in people:
            own = work.get(row.id)
            passed = list[bool]()
            if own is not None and row.id in checked:
                # Where a control is compared with a judge's usual scores, any answer counts.
                state = (*checked[row.id], own.last if design.kind == "score" else None)
                passed = self._passed_controls(connection, design, row.id, state)
            rows.append(
                (
                    row.name,
                    row.state,
                    states.get((row.id, "done"), 0),
                    states.get((row.id, "skipped"), 0),
                    None if own is None else own.seconds,
                    *share_passed(passed),
                    *(habits[number[row.name]] if row.name in number else (None,) * 3),
                    share_pasted(displays[row.id]),
                    None if own is None else iso_time(own.time)[:19].replace("T", " "),
                )
            )
        return rows

    def _passed_controls(
        self, connection: Connection, design: Design, judge: int, state: object
    ) -> list[bool]:
        """Whether a judge passed the controls; ``state`` is another one when that may change."""
        before, passed = self._controls.get(judge, (None, []))
        if before != state:
            found = control_results(connection, design, judge)
            passed = [each for each in found if each is not None]
            self._controls[judge] = state, passed
        return passed


PARTS = ("status", "ranking", "judges", "items")
SHARES = ("checks passed", "95 % interval", "ties", "first is best", "by chance", "pasted")
HOUR = 3_600_000  # milliseconds
WORRYING = 0.9  # a judge whose share of passed checks lies below it is marked
LOOKING = 30.0  # seconds that a look lasts: a page that is seen asks every five
UNSEEN = 60.0  # seconds after which figures that nobody looks at are computed again
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
    """The parts of the page, each as JSON with its tag; `refresh` computes them."""

    def __init__(self, store: AssignmentStore) -> None:
        self.store = store
        ranked = store.campaign().design.kind in COMPARING
        self.gathered = GatheredJudgments(store.database, ranked=ranked)
        self.care = JudgeQuality()
        self._parts: dict[str, tuple[str, bytes]] = {}
        self._state: object = None
        self.asked = threading.Event()  # tells the background to look at once
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
            return _body_with_tag(self._pending_part(name))
        return found

    def _pending_part(self, name: str) -> dict[str, Any]:
        if name != "status":
            return {"notes": ["The figures are being worked out."], "tables": []}
        return _campaign_overview(self.store.campaign(), [])

    def refresh(self) -> bool:
        """Work out what has changed since the last time; says whether anything has.

        The overview is worked out every time: hours pass and places fall vacant, and a budget
        changes, without an answer.
        """
        self._begun = monotonic()
        state = self._fingerprint()
        if state == self._state:
            self._parts["status"] = _body_with_tag(self.status())
            return False
        with circles_left():  # hundreds of thousands of rankings and tables, none in a circle
            self._compute_parts()
        self._state = state
        return True

    def _compute_parts(self) -> None:
        campaign = self.store.campaign()
        found = self.gathered.read()
        parts = {"status": self._status(campaign), "ranking": self._ranking(campaign, found)}
        pairs = output_pairs(found)  # only now: it is large
        parts |= {"judges": self._judges(campaign, found, pairs), "items": self._items(pairs)}
        if campaign.design.kind == "edits":
            left_out = _table_for_page(_left_out_table(self.store.database))
            parts["items"]["tables"].append(left_out)
        for name, body in parts.items():
            self._parts[name] = _body_with_tag(body)

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
                select(judges.c.id, judges.c.name, judges.c.state, judges.c.salt)
            ).all()
        campaign = self.store.campaign()
        words = json.dumps(campaign.texts, sort_keys=True)
        return tuple(counts), tuple(map(tuple, people)), campaign.state, words

    def _status(self, campaign: Campaign) -> dict[str, Any]:
        with self.store.database.reading() as connection:
            wanted, done = planned_judgments(connection), main_answers(connection)
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
        return _campaign_overview(campaign, figures + people)

    def _ranking(self, campaign: Campaign, found: RankingColumns) -> dict[str, Any]:
        if campaign.design.blind and campaign.state != "closed":
            return {
                "notes": ["Blind: the ranking is shown when the campaign is closed."],
                "tables": [],
            }
        if not len(found):
            return {"notes": ["No ranking yet."], "tables": []}
        comparisons = compare_columns(found)
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
            "tables": [_table_for_page(each) for each in tables],
            "values": _table_values(tables[:2]),
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
        tables = [_table_for_page(without_empty_columns(table), keys)]
        if len(found):
            agreement = judge_agreement(found, pairs=pairs)
            *several, each_one = agreement_tables(agreement, matrix_of=MOST_COLUMNS - 1)
            several.append(replace(each_one, title="Agreement of each judge"))
            tables += [_table_for_page(_fit_to_page(each)) for each in several]
            return {"tables": tables, "values": _table_values(several)}
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
                .select_from(answers)
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
        tables = (disagreement_table(pairs, self._sentence_texts), said, put_by)
        return {"tables": [_table_for_page(each) for each in tables]}

    def _sentence_texts(self, some: Sequence[int]) -> dict[int, str]:
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


def _campaign_overview(campaign: Campaign, figures: list[list[str]]) -> dict[str, Any]:
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


def _body_with_tag(body: dict[str, Any]) -> tuple[str, bytes]:
    """A part as it is sent, with the tag by which a page knows that nothing has changed."""
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
    return f'"{hashlib.sha256(text).hexdigest()[:24]}"', text


def _fit_to_page(table: Table) -> Table:
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
            for each in omitted_edits(database)
        ),
        title="Good edits that edits-m2 leaves out, because they overlap",
    )


def _table_values(tables: Sequence[Table]) -> list[dict[str, Any]]:
    """The numbers that the tables show, unrounded, as ``--json`` of the commands has them."""
    narrow = [each for each in tables if len(each.columns) <= MOST_COLUMNS]
    found: list[dict[str, Any]] = json.loads(render(narrow, "json"))["tables"]
    return found


def _table_for_page(table: Table, keys: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
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
