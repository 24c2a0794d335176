"""The tables of a campaign, as numbered steps from one schema to the next.

JSON is kept as text, so that both databases compare and keep it alike; times are whole
milliseconds since 1970, UTC. One database holds one campaign.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from sqlalchemy import (
    DDL,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Connection,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
    cast,
    event,
    insert,
    inspect,
    select,
    text,
    update,
)

from errata.collect.design import Design, design_of

VERSION = 3
metadata = MetaData()
Id = BigInteger().with_variant(Integer, "sqlite")


class Json(TypeDecorator[Any]):
    """A text that holds JSON; NULL and an empty text are None."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: object) -> str | None:
        return None if value is None else json.dumps(value, ensure_ascii=False)

    def process_result_value(self, value: str | None, dialect: object) -> Any:
        return json.loads(value) if value else None


@lru_cache(10_000)
def _parse_tuple(text: str) -> tuple[Any, ...]:
    return tuple(json.loads(text))


class JsonTuple(Json):
    """A text that holds a JSON list of names or numbers: a tuple, the same for the same text."""

    cache_ok = True

    def process_result_value(self, value: str | None, dialect: object) -> Any:
        return None if value is None else _parse_tuple(value)


@lru_cache(64)
def _parse_design(text: str) -> Design:
    return design_of(json.loads(text))


class DesignJson(Json):
    """A text that holds a design; each text is parsed once."""

    cache_ok = True

    def process_bind_param(self, value: Any, dialect: object) -> str | None:
        return json.dumps(value.to_json(), sort_keys=True)

    def process_result_value(self, value: str | None, dialect: object) -> Any:
        return _parse_design(str(value))


def _one_of_words(column: str, *words: str) -> CheckConstraint:
    several = ", ".join(f"'{word}'" for word in words)
    return CheckConstraint(f"{column} IN ({several})")


def _id_column() -> Column[int]:
    return Column("id", Id, primary_key=True)


def _foreign_key(
    name: str, table: str, *, index: bool = False, unique: bool = False
) -> Column[int]:
    key = ForeignKey(f"{table}.id")
    return Column(name, Id, key, nullable=False, index=index or None, unique=unique or None)


def new_salt() -> str:
    """Return 96 random bits for a link, as 16 characters."""
    return secrets.token_urlsafe(12)


schemas = Table(
    "schema",
    metadata,
    Column("id", Integer, CheckConstraint("id = 1"), primary_key=True),
    Column("version", Integer, nullable=False),
    Column("program", Text, nullable=False),
)
campaigns = Table(
    "campaign",
    metadata,
    _id_column(),
    Column("name", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column(
        "state", Text, _one_of_words("state", "draft", "open", "paused", "closed"), nullable=False
    ),
    Column("languages", JsonTuple, nullable=False),
    Column("design", DesignJson, nullable=False),
    Column("texts", Json, nullable=False),
    Column("seed", BigInteger, nullable=False),
    Column("digests", Json, nullable=False),
    Column("systems", JsonTuple, nullable=False),
    Column("budget", Integer),  # main judgments; the only bound that may change after opening
)
sentences = Table(
    "sentence",
    metadata,
    _id_column(),
    _foreign_key("campaign", "campaign"),
    Column("number", Integer, CheckConstraint("number >= 0"), nullable=False),
    Column("text", Text, nullable=False),
    Column("document", Text, nullable=False),
    Column("stratum", Text, nullable=False),
    Column("probability", Float, nullable=False),
    Column("reference", Text, nullable=False, server_default=""),  # where one is shown
    UniqueConstraint("campaign", "number"),
)
outputs = Table(
    "output",
    metadata,
    _id_column(),
    _foreign_key("sentence", "sentence"),
    Column("text", Text, nullable=False),
    Column("systems", JsonTuple, nullable=False),
    Column("digest", Text, nullable=False),
    UniqueConstraint("sentence", "digest"),
)
# From whom a text is kept when it is reviewed: names, exactly as judges have them. An output that
# several wrote has several rows; forgetting somebody deletes them.
writers = Table(
    "writer",
    metadata,
    _id_column(),
    _foreign_key("output", "output"),
    Column("name", Text, nullable=False),
    UniqueConstraint("output", "name"),
)
items = Table(
    "item",
    metadata,
    _id_column(),
    _foreign_key("sentence", "sentence", index=True),
    Column(
        "purpose",
        Text,
        _one_of_words("purpose", "main", "repeat", "control", "tutorial"),
        nullable=False,
    ),
    Column("policy", Text, nullable=False),
    Column("wanted", Integer),  # none: as many as there are judges
    Column("given", Integer, CheckConstraint("given >= 0"), nullable=False, server_default="0"),
    Column("parked", Boolean, nullable=False, server_default=text("false")),
    Column("expected", Json),
    Column("origin", Id, ForeignKey("item.id")),
    Column("freed", BigInteger),  # when it was last given back, while nobody has it instead
    CheckConstraint("(origin IS NOT NULL) = (purpose = 'repeat')"),
)
# What a claim asks for is found by these alone, however many items are done. The statements use the
# very same words, by which both databases see that an index fits.
FRESH = text("purpose = 'main' AND given = 0 AND NOT parked")
BEGUN = text("purpose = 'main' AND given > 0 AND given < wanted AND NOT parked")
FREED = text("purpose = 'main' AND freed IS NOT NULL AND given < wanted AND NOT parked")
CONTROL = text("purpose = 'control' AND NOT parked")
TUTORIAL = text("purpose = 'tutorial' AND NOT parked")
for _name, _where in (
    ("fresh", FRESH),
    ("begun", BEGUN),
    ("freed", FREED),
    ("control", CONTROL),
    ("tutorial", TUTORIAL),
):
    Index(f"item_{_name}", items.c.id, sqlite_where=_where, postgresql_where=_where)
Index("item_origin", items.c.origin)

item_outputs = Table(
    "item_output",
    metadata,
    _id_column(),
    _foreign_key("item", "item"),
    Column("position", Integer, nullable=False),
    _foreign_key("output", "output", index=True),
    Column("replacement", Text, nullable=False, server_default=""),
    UniqueConstraint("item", "position"),
    UniqueConstraint("item", "output", "replacement"),
)
judges = Table(
    "judge",
    metadata,
    _id_column(),
    _foreign_key("campaign", "campaign"),
    Column("name", Text, nullable=False),
    Column("generation", Integer, nullable=False, server_default="1"),  # before schema 3
    Column("salt", Text, nullable=False, default=new_salt),  # a new one ends the judge's link
    Column(
        "state",
        Text,
        _one_of_words("state", "active", "blocked", "withdrawn", "forgotten"),
        nullable=False,
        server_default="active",
    ),
    Column("quota", Integer),
    Column("language", Text, nullable=False, server_default=""),
    Column("consent_version", Text),
    Column("consent_time", BigInteger),
    Column("seen", BigInteger),
    UniqueConstraint("campaign", "name"),
)
# Salts of the links that belong to no judge, and the random id that binds links to the campaign.
links = Table(
    "link",
    metadata,
    Column("role", Text, _one_of_words("role", "campaign", "admin", "join"), primary_key=True),
    Column("salt", Text, nullable=False),
)
identities = Table(
    "identity",
    metadata,
    _id_column(),
    _foreign_key("judge", "judge", unique=True),
    _foreign_key("campaign", "campaign"),
    Column("provider", Text, nullable=False),
    Column("external_id", Text, nullable=False),
    Column("session_digest", Text, nullable=False),
    UniqueConstraint("campaign", "provider", "external_id"),
)
assignments = Table(
    "assignment",
    metadata,
    _id_column(),
    _foreign_key("item", "item"),
    _foreign_key("judge", "judge"),
    Column("shown", JsonTuple, nullable=False),  # positions of the item, in the order shown
    Column("letters", Text, nullable=False),
    Column(
        "state",
        Text,
        _one_of_words("state", "open", "done", "skipped", "returned", "expired"),
        nullable=False,
        server_default="open",
    ),
    Column("late", Boolean, nullable=False, server_default=text("false")),
    Column("opened", BigInteger, nullable=False),
    Column("expires", BigInteger, nullable=False),
    UniqueConstraint("item", "judge"),
)
Index(
    "assignment_judge",
    assignments.c.judge,
    assignments.c.state,
    assignments.c.id,
    assignments.c.item,
)
_OPEN = text("state = 'open'")
Index("assignment_open", assignments.c.expires, sqlite_where=_OPEN, postgresql_where=_OPEN)
judgments = Table(
    "judgment",
    metadata,
    _id_column(),
    _foreign_key("assignment", "assignment"),
    Column("revision", Integer, CheckConstraint("revision >= 1"), nullable=False),
    Column("answer", Json),
    Column("skip", Text),
    Column("comment", Text, nullable=False),
    Column("active_ms", BigInteger),
    Column("total_ms", BigInteger),
    Column("client_time", Text),
    Column("server_time", BigInteger, nullable=False),
    Column("digest", Text, nullable=False),
    Column("display", Json, nullable=False, server_default=""),
    Column("flagged", Boolean, nullable=False, server_default=text("false")),
    CheckConstraint("(answer IS NULL) = (skip IS NOT NULL)"),
    UniqueConstraint("assignment", "revision"),
)
# Every revision with its assignment, item, sentence and judge.
answers = judgments.join(assignments).join(items).join(sentences).join(judges)
events = Table(
    "event",
    metadata,
    _id_column(),
    Column("time", BigInteger, nullable=False),
    Column("actor", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("detail", Json, nullable=False),
)

# Comments of a judge who is forgotten may be emptied (with the digest they are in), nothing else.
_SQLITE = (
    "CREATE TRIGGER design_is_frozen BEFORE UPDATE OF design, kind, seed, digests ON campaign "
    "WHEN old.state <> 'draft' AND (new.design, new.kind, new.seed, new.digests) IS NOT "
    "(old.design, old.kind, old.seed, old.digests) "
    "BEGIN SELECT RAISE(ABORT, 'the design is frozen'); END",
    "CREATE TRIGGER judgments_stay BEFORE UPDATE ON judgment "
    "WHEN new.comment <> '' OR new.digest <> '' OR (new.id, new.assignment, new.revision, "
    "new.answer, new.skip, new.active_ms, new.total_ms, new.server_time) IS NOT (old.id, "
    "old.assignment, old.revision, old.answer, old.skip, old.active_ms, old.total_ms, "
    "old.server_time) "
    "BEGIN SELECT RAISE(ABORT, 'judgments are never updated'); END",
    "CREATE TRIGGER events_stay BEFORE UPDATE ON event "
    "BEGIN SELECT RAISE(ABORT, 'events are never updated'); END",
)
_POSTGRES = (
    "CREATE FUNCTION errata_refuse() RETURNS trigger LANGUAGE plpgsql AS "
    "$$ BEGIN RAISE EXCEPTION '%% is never updated', TG_TABLE_NAME; END $$",
    "CREATE TRIGGER design_is_frozen BEFORE UPDATE OF design, kind, seed, digests ON campaign "
    "FOR EACH ROW WHEN (old.state <> 'draft' AND (new.design, new.kind, new.seed, new.digests) "
    "IS DISTINCT FROM (old.design, old.kind, old.seed, old.digests)) "
    "EXECUTE FUNCTION errata_refuse()",
    "CREATE TRIGGER judgments_stay BEFORE UPDATE ON judgment FOR EACH ROW "
    "WHEN (new.comment <> '' OR new.digest <> '' OR (new.id, new.assignment, new.revision, "
    "new.answer, new.skip, new.active_ms, new.total_ms, new.server_time) IS DISTINCT FROM "
    "(old.id, old.assignment, old.revision, old.answer, old.skip, old.active_ms, old.total_ms, "
    "old.server_time)) EXECUTE FUNCTION errata_refuse()",
    "CREATE TRIGGER events_stay BEFORE UPDATE ON event FOR EACH ROW "
    "EXECUTE FUNCTION errata_refuse()",
)
_ddl: Any = DDL  # which has no types
for _dialect, _statements in (("sqlite", _SQLITE), ("postgresql", _POSTGRES)):
    for _statement in _statements:
        event.listen(metadata, "after_create", _ddl(_statement).execute_if(dialect=_dialect))


def _first(connection: Connection) -> None:
    later = (writers, links)
    metadata.create_all(connection, tables=[t for t in metadata.sorted_tables if t not in later])


def _second(connection: Connection) -> None:
    """Writers have a table; before, a judge with the name of a system wrote its texts."""
    writers.create(connection)
    query = (
        select(outputs.c.id, outputs.c.systems)
        .join(sentences, sentences.c.id == outputs.c.sentence)
        .join(campaigns, campaigns.c.id == sentences.c.campaign)
        .where(campaigns.c.kind == "review")
    )
    rows = [
        {"output": row.id, "name": name}
        for row in connection.execute(query)
        for name in row.systems
    ]
    if rows:
        connection.execute(insert(writers), rows)


def _third(connection: Connection) -> None:
    """Links have random salts; one made before keeps its generation as salt until replaced."""
    links.create(connection)
    if "salt" not in {column["name"] for column in inspect(connection).get_columns("judge")}:
        connection.exec_driver_sql("ALTER TABLE judge ADD COLUMN salt TEXT NOT NULL DEFAULT ''")
        connection.execute(update(judges).values(salt=cast(judges.c.generation, Text)))
    salts = {role: new_salt() for role in ("campaign", "admin", "join")}
    if connection.execute(select(campaigns.c.id)).first() is not None:
        salts = {"campaign": "", "admin": "1", "join": "1"}
    connection.execute(insert(links), [{"role": r, "salt": s} for r, s in salts.items()])


# The step that leads to each version; a released one is never changed.
MIGRATIONS: dict[int, Callable[[Connection], None]] = {1: _first, 2: _second, 3: _third}
