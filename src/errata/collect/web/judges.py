"""What an organiser does: make a campaign, open and close it, invite, block and forget judges."""

from __future__ import annotations

import hashlib
import itertools
import secrets
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from sqlalchemy import Connection, delete, func, insert, select, update

from errata.collect.answers import is_storable
from errata.collect.design import Design
from errata.collect.items import BuiltCampaign, CampaignTexts, normalise_space
from errata.collect.web.assignments import free_leases_of
from errata.collect.web.database import Database, drop_snapshots, record, wall_ms
from errata.collect.web.schema import (
    assignments,
    campaigns,
    identities,
    item_outputs,
    items,
    judges,
    judgments,
    links,
    new_salt,
    outputs,
    sentences,
    writers,
)
from errata.collect.web.tokens import Link, read_ended, write_ended
from errata.core.errors import InputError

CampaignState = Literal["draft", "open", "paused", "closed"]
JudgeChange = Literal["rotate", "block", "unblock", "forget"]
LinkOwner = Literal["organiser", "panel", "everybody"]
# From which states a campaign comes into each.
_FROM: dict[str, tuple[str, ...]] = {
    "open": ("draft", "paused"),
    "paused": ("open",),
    "closed": ("draft", "open", "paused"),
}
ROWS = 500  # inserted at a time


class InvitedJudge(NamedTuple):
    """A judge as the organiser knows one, with the salt of the link."""

    id: int
    name: str
    salt: str
    state: str


def fill_campaign(
    database: Database,
    design: Design,
    texts: CampaignTexts,
    built: BuiltCampaign,
    *,
    name: str,
    languages: Sequence[str] = ("en",),
    words: Mapping[str, Any] | None = None,
    digests: Mapping[str, str] | None = None,
) -> None:
    """Store a campaign that was designed: its texts, outputs and items. It is a draft then."""
    with database.writing() as connection:
        connection.execute(
            insert(campaigns).values(
                id=1,
                name=name,
                kind=design.kind,
                state="draft",
                languages=list(languages),
                design=design,
                texts=dict(words or {}),
                seed=design.seed,
                digests=dict(digests or {}),
                systems=sorted(texts.systems),
            )
        )
        place = {sentence.number: k for k, sentence in enumerate(built.sentences, 1)}
        _insert_rows(
            connection,
            sentences,
            [{"id": place[s.number], "campaign": 1, **s._asdict()} for s in built.sentences],
        )
        _insert_rows(
            connection,
            outputs,
            [
                {
                    "id": k,
                    "sentence": place[o.sentence],
                    "text": o.text,
                    "systems": o.systems,
                    "digest": hashlib.sha256(normalise_space(o.text).encode()).hexdigest()[:32],
                }
                for k, o in enumerate(built.outputs, 1)
            ],
        )
        if design.kind == "review":
            _insert_rows(
                connection,
                writers,
                [
                    {"output": k, "name": name}
                    for k, o in enumerate(built.outputs, 1)
                    for name in sorted(o.kept_from)
                ],
            )
        _fill_items(connection, built, place)
        _move_sequences(connection, database)
        record(connection, "organiser", "new", items=len(built.items))


def _fill_items(connection: Connection, built: BuiltCampaign, place: Mapping[int, int]) -> None:
    _insert_rows(
        connection,
        items,
        [
            {
                "id": k,
                "sentence": place[item.sentence],
                "purpose": item.purpose,
                "policy": item.policy,
                "wanted": item.wanted,
                "expected": item.expected,
            }
            for k, item in enumerate(built.items, 1)
        ],
    )
    _insert_rows(
        connection,
        item_outputs,
        [
            {
                "item": k,
                "position": position,
                "output": shown.output + 1,
                "replacement": shown.replacement,
            }
            for k, item in enumerate(built.items, 1)
            for position, shown in enumerate(item.outputs)
        ],
    )


def _insert_rows(connection: Connection, table: Any, rows: list[dict[str, Any]]) -> None:
    for start in range(0, len(rows), ROWS):
        connection.execute(insert(table), rows[start : start + ROWS])


def _move_sequences(connection: Connection, database: Database) -> None:
    """PostgreSQL counts ids by itself, and does not know of those that were given."""
    if database.path is not None:
        return
    for table in (campaigns, sentences, outputs, items):
        last = connection.execute(select(func.max(table.c.id))).scalar_one()
        connection.execute(select(func.setval(func.pg_get_serial_sequence(table.name, "id"), last)))


def change_state(database: Database, state: CampaignState) -> None:
    """Open, pause or close a campaign; after opening its design is frozen."""
    with database.writing() as connection:
        before = connection.execute(select(campaigns.c.state)).scalar_one()
        if before == state:
            return
        if before not in _FROM.get(state, ()):
            raise InputError(
                f"a campaign that is {before} cannot become {state}",
                path=database.name,
                remedy="start another campaign; errata rank reads several files",
            )
        connection.execute(update(campaigns).values(state=state))
        record(connection, "organiser", "state", before=before, after=state)


def numbered_names(database: Database, names: Sequence[str], count: int) -> tuple[str, ...]:
    """Return the first free names of the form judge1, beside ``names``."""
    with database.reading() as connection:
        taken = {judge.name for judge in remembered_judges(connection)} | {*names}
    free = (name for k in itertools.count(1) if (name := f"judge{k}") not in taken)
    return tuple(itertools.islice(free, count))


def add_judges(
    database: Database, names: Sequence[str], *, quota: int | None = None
) -> list[InvitedJudge]:
    """Add judges by their pseudonyms; a name that is there, or is given twice, is refused."""
    for name in names:
        good = name.strip() and len(name) <= 100 and is_storable(name)
        if not good or any(ord(c) < 32 for c in name):
            raise InputError(
                f"{name!r} is no name of a judge", remedy="use up to 100 characters, in UTF-8"
            )
    with database.writing() as connection:
        known = set(connection.execute(select(judges.c.name)).scalars())
        for k, name in enumerate(names):
            if name in known or name in names[:k]:
                raise InputError(
                    f"there are two judges {name!r}", path=database.name, remedy="name them apart"
                )
        for name in names:
            connection.execute(insert(judges).values(campaign=1, name=name, quota=quota))
        record(connection, "organiser", "judges", added=len(names))
        return [judge for judge in remembered_judges(connection) if judge.name in names]


def remembered_judges(connection: Connection) -> list[InvitedJudge]:
    """All judges but those who were forgotten, in the order they came."""
    rows = connection.execute(
        select(judges).where(judges.c.state != "forgotten").order_by(judges.c.id)
    )
    return [InvitedJudge(row.id, row.name, row.salt, row.state) for row in rows]


def _judge_row(connection: Connection, database: Database, name: str) -> Any:
    row = connection.execute(select(judges).where(judges.c.name == name).with_for_update()).first()
    if row is None or row.state == "forgotten":
        raise unknown_judge(database, name)
    return row


def unknown_judge(database: Database, name: str) -> InputError:
    """Return the error for a name that no judge has."""
    return InputError(
        f"there is no judge {name!r}",
        path=database.name,
        remedy="errata collect links lists the judges",
    )


def rotate_judges(database: Database, names: Sequence[str]) -> list[InvitedJudge]:
    """Give judges new links, which ends the old ones; return the judges with the new salts."""
    found, ended = [], []
    with database.writing() as connection:
        for name in names:
            row, salt = _judge_row(connection, database, name), new_salt()
            connection.execute(update(judges).where(judges.c.id == row.id).values(salt=salt))
            record(connection, "organiser", "rotated", judge=row.id)
            found.append(InvitedJudge(row.id, row.name, salt, row.state))
            ended.append(Link("judge", row.id, row.salt))
    write_ended(database.path, ended)
    return found


def link_salts(connection: Connection) -> dict[str, str]:
    """Return the salts of the organiser's and the panel's link, and the id of the campaign."""
    return {row.role: row.salt for row in connection.execute(select(links))}


def replace_links(database: Database, whose: LinkOwner) -> None:
    """Replace the organiser's link, the panel's, or all links of the campaign."""
    roles = {"organiser": ["admin"], "panel": ["join"], "everybody": ["admin", "join"]}[whose]
    with database.writing() as connection:
        salts = link_salts(connection)
        for role in roles:
            connection.execute(update(links).where(links.c.role == role).values(salt=new_salt()))
            record(connection, "organiser", "rotated", role=role)
        names = [judge.name for judge in remembered_judges(connection)]
    write_ended(database.path, [Link(role, 0, salts[role]) for role in roles])
    if whose == "everybody":
        rotate_judges(database, names)


def end_revived_links(database: Database) -> int:
    """Replace links that were ended and are current again: the database is a restored copy.

    Return how many there were.
    """
    ended = read_ended(database.path)
    if not ended:
        return 0
    renewed = []
    with database.writing() as connection:
        for row in connection.execute(select(judges.c.id, judges.c.salt)).all():
            if Link("judge", row.id, row.salt).digest in ended:
                renewed.append(update(judges).where(judges.c.id == row.id))
        for row in connection.execute(select(links)).all():
            if Link(row.role, 0, row.salt).digest in ended:
                renewed.append(update(links).where(links.c.role == row.role))
        for each in renewed:
            connection.execute(each.values(salt=new_salt()))
        if renewed:
            record(connection, "store", "rotated", restored=len(renewed))
    return len(renewed)


def set_quota(database: Database, name: str, quota: int | None) -> None:
    """Change how many tasks a judge gets."""
    with database.writing() as connection:
        row = _judge_row(connection, database, name)
        connection.execute(update(judges).where(judges.c.id == row.id).values(quota=quota))
        record(connection, "organiser", "quota", judge=row.id, quota=quota)


def set_state_of_judge(
    database: Database,
    name: str,
    state: Literal["active", "blocked", "withdrawn"],
    *,
    actor: str = "organiser",
) -> None:
    """Block, unblock or withdraw a judge: what is open goes to others, what is done stays."""
    with database.writing() as connection:
        row = _judge_row(connection, database, name)
        connection.execute(update(judges).where(judges.c.id == row.id).values(state=state))
        if state != "active":
            free_leases_of(connection, row.id, wall_ms())
        record(connection, actor, state, judge=row.id)


def change_judges(
    database: Database, action: JudgeChange, names: Sequence[str], *, erase: bool = False
) -> None:
    """Do the same to several judges: to all of them or, where one is not there, to none."""
    if action == "forget":
        forget_judges(database, names, erase=erase)
    elif action == "rotate":
        rotate_judges(database, names)
    else:
        with database.at_once() as together:
            for name in names:
                state: Literal["active", "blocked"] = "blocked" if action == "block" else "active"
                set_state_of_judge(together, name, state)


def forget_judges(database: Database, names: Sequence[str], *, erase: bool = False) -> list[str]:
    """Delete what is known of judges: identity, comments, link; gives the random names left.

    With ``erase`` the judgments go too, and their items return. Afterwards the old names are in no
    file of the database and in no snapshot: SQLite's is rewritten, and snapshots are dropped.
    PostgreSQL's tables are rewritten too; its log and its backups are its administrator's.
    Who only wrote what others review here is forgotten alike, and leaves no name.
    """
    left, ended = [], []
    with database.writing() as connection:
        for name in names:
            if not _forget_writer(connection, name):
                row = _judge_row(connection, database, name)
                left.append(_forget(connection, row.id, erase))
                ended.append(Link("judge", row.id, row.salt))
    write_ended(database.path, ended)
    rewrite_files(database)
    return left


def _forget_writer(connection: Connection, name: str) -> bool:
    """Delete who wrote which texts; says whether that was all there was of this name."""
    gone = connection.execute(delete(writers).where(writers.c.name == name)).rowcount
    systems = connection.execute(select(campaigns.c.systems)).scalar_one()
    judge = select(judges.c.id).where(judges.c.name == name)
    if not gone or name in systems or connection.execute(judge).first() is not None:
        return False
    record(connection, "organiser", "forgotten", texts=gone)
    return True


def _forget(connection: Connection, judge: int, erase: bool) -> str:
    """What `forget_judges` does within a transaction."""
    new = f"forgotten-{secrets.token_hex(6)}"
    free_leases_of(connection, judge, wall_ms())
    connection.execute(delete(identities).where(identities.c.judge == judge))
    mine = select(assignments.c.id).where(assignments.c.judge == judge)
    if erase:
        _erase(connection, judge)
    else:
        connection.execute(
            update(judgments).where(judgments.c.assignment.in_(mine)).values(comment="", digest="")
        )
    connection.execute(
        update(judges)
        .where(judges.c.id == judge)
        .values(
            name=new,
            state="forgotten",
            salt=new_salt(),
            language="",
            consent_version=None,
            consent_time=None,
            seen=None,
        )
    )
    record(connection, "organiser", "forgotten", judge=judge, erased=erase)
    return new


def _erase(connection: Connection, judge: int) -> None:
    """Delete the judgments of a judge; items whose answers they were are wanted again."""
    mine = select(assignments.c.id).where(assignments.c.judge == judge)
    connection.execute(delete(judgments).where(judgments.c.assignment.in_(mine)))
    done = select(assignments.c.item).where(
        assignments.c.judge == judge, assignments.c.state == "done"
    )
    connection.execute(
        update(items).where(items.c.id.in_(done)).values(given=items.c.given - 1, freed=wall_ms())
    )
    had = select(assignments.c.item).where(assignments.c.judge == judge)
    again = select(items.c.id).where(items.c.purpose == "repeat", items.c.id.in_(had))
    repeats = list(connection.execute(again).scalars())
    connection.execute(delete(assignments).where(assignments.c.judge == judge))
    for item in repeats:  # repeats were this judge's alone
        connection.execute(delete(item_outputs).where(item_outputs.c.item == item))
        connection.execute(delete(items).where(items.c.id == item))


def rewrite_files(database: Database) -> None:
    """Rewrite the files, empty SQLite's log, drop snapshots: nothing deleted is left in any.

    Of PostgreSQL those tables that name a judge, and what its planner noted of them.
    """
    if database.path is None:
        with database.engine.connect() as plain:
            connection = plain.execution_options(isolation_level="AUTOCOMMIT")
            connection.exec_driver_sql("VACUUM (FULL, ANALYZE) judge, identity, judgment, writer")
        return
    raw = database.engine.raw_connection()
    try:
        cursor = raw.cursor()
        cursor.execute("VACUUM")
        busy = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        cursor.close()
    finally:
        raw.close()
    drop_snapshots(database.path)
    if busy:  # an export that is still being read, for one, needs the log as it was
        raise InputError(
            "it is done, and the log beside the file may still hold what was deleted: somebody "
            "reads the campaign",
            path=f"{database.path}-wal",
            remedy="end the server and the exports that run: the log goes with the last of them",
        )
