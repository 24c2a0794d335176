"""Participants of panels: places reserved on joining, one judge for each, codes at the end.

What a panel calls a participant is kept in ``identity`` alone: no event, name or log has it. A
place is held by a participant who finished, or gave a sign of life (joined, claimed, answered,
wrote) within the panel's ``idle`` minutes; who withdraws, is blocked or fails the tutorial gives it
up at once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, delete, func, insert, select, update

from errata.collect.answers import AnswerError
from errata.collect.design import LONGEST_PARAMETER, Design, Panel, panel_of
from errata.collect.web.assignments import tasks_of, view_of
from errata.collect.web.database import Database, record
from errata.collect.web.judges import rewrite_files
from errata.collect.web.schema import campaigns, events, identities, judges, new_salt
from errata.collect.web.store import ApiError, AssignmentStore, Campaign
from errata.collect.web.tokens import Link, write_ended


class JoinedJudge(NamedTuple):
    """The judge that a participant is, and the salt of the link."""

    id: int
    salt: str


def panel_in(texts: Mapping[str, Any]) -> Panel | None:
    """The panel of a campaign, if it has one."""
    return panel_of(texts["panel"]) if texts.get("panel") else None


def join_panel(store: AssignmentStore, parameters: Mapping[str, Any]) -> JoinedJudge:
    """The judge of a participant, who is made if there is a place: 409 if not, 403 if not open.

    The same session gets the same link again; another session gets a new one, unless the first is
    at work.
    """
    ended: list[Link] = []

    def join(connection: Connection) -> JoinedJudge:
        campaign = store.campaign(connection)
        panel = panel_in(campaign.texts)
        if panel is None:
            raise ApiError(404, "not_yours", "this study takes no panel", "ask for a link")
        if campaign.state != "open":
            code = "closed" if campaign.state == "closed" else "paused"
            raise ApiError(403, code, f"the study is {code}", "come back later")
        # One at a time: of two who come for the last place, one hears that it is full.
        connection.execute(select(campaigns.c.id).with_for_update())
        participant = _read_parameter(parameters, panel.participant)
        session = _read_parameter(parameters, panel.session) if panel.session else ""
        known = connection.execute(
            select(judges, identities.c.session_digest)
            .join(identities, identities.c.judge == judges.c.id)
            .where(identities.c.provider == panel.provider, identities.c.external_id == participant)
        ).first()
        digest = hashlib.sha256(session.encode()).hexdigest()[:32]
        if known is None:
            return _join_first_time(connection, store, campaign, panel, participant, digest)
        ended[:] = [Link("judge", known.id, known.salt)]
        return _join_again(connection, store, campaign, panel, known, digest)

    joined = store.retried(join)
    write_ended(store.database.path, [link for link in ended if link.salt != joined.salt])
    return joined


def _read_parameter(parameters: Mapping[str, Any], name: str) -> str:
    value = parameters.get(name)
    good = isinstance(value, str) and 0 < len(value) <= LONGEST_PARAMETER and value.isprintable()
    if not good:
        raise AnswerError(
            "the link lacks what the panel sends", f"parameters.{name}", "open it from the panel"
        )
    assert isinstance(value, str)
    return value


def _join_first_time(
    connection: Connection,
    store: AssignmentStore,
    campaign: Campaign,
    panel: Panel,
    participant: str,
    digest: str,
) -> JoinedJudge:
    now = store.steady()
    if _count_places_taken(connection, campaign.design, panel, now) >= panel.places:
        raise _no_place_left()
    many = connection.execute(select(func.count()).select_from(judges)).scalar_one()
    taken = set(connection.execute(select(judges.c.name)).scalars())
    name = next(n for k in range(many + 1) if (n := f"panel{many + 1 + k}") not in taken)
    salt = new_salt()
    made = connection.execute(
        insert(judges).values(campaign=campaign.id, name=name, seen=now, salt=salt)
    )
    assert made.inserted_primary_key is not None
    judge = int(made.inserted_primary_key[0])
    connection.execute(
        insert(identities).values(
            judge=judge,
            campaign=campaign.id,
            provider=panel.provider,
            external_id=participant,
            session_digest=digest,
        )
    )
    record(connection, "panel", "joined", judge=judge)
    return JoinedJudge(judge, salt)


def _join_again(
    connection: Connection,
    store: AssignmentStore,
    campaign: Campaign,
    panel: Panel,
    known: Row[Any],
    digest: str,
) -> JoinedJudge:
    now, salt = store.steady(), str(known.salt)
    design = campaign.design
    if lost_place(connection, campaign, known, now):
        raise _no_place_left()
    if known.session_digest != digest:
        if known.seen is not None and now - known.seen < design.lease * 1000:
            raise ApiError(
                409,
                "active",
                "you are at work in another session",
                "go on there, or come back when it has rested for half an hour",
            )
        salt = new_salt()
        connection.execute(
            update(identities).where(identities.c.judge == known.id).values(session_digest=digest)
        )
        record(connection, "panel", "rejoined", judge=known.id)
    connection.execute(update(judges).where(judges.c.id == known.id).values(seen=now, salt=salt))
    return JoinedJudge(int(known.id), salt)


def _no_place_left() -> ApiError:
    return ApiError(409, "full", "all places are taken", "look again later")


def places_taken(connection: Connection, campaign: Campaign, now: int) -> tuple[int, int] | None:
    """How many places of the panel are taken, and how many there are; None without a panel."""
    panel = panel_in(campaign.texts)
    if panel is None:
        return None
    return _count_places_taken(connection, campaign.design, panel, now), panel.places


def _count_places_taken(connection: Connection, design: Design, panel: Panel, now: int) -> int:
    """How many places are taken."""
    rows = connection.execute(
        select(judges)
        .join(identities, identities.c.judge == judges.c.id)
        .where(
            identities.c.provider == panel.provider,
            judges.c.state == "active",
            judges.c.seen.is_not(None),
        )
    ).all()
    held = 0
    for row in rows:
        if row.seen < now - panel.idle * 60_000:
            held += _has_finished(connection, design, row)
        elif held < panel.places:
            held += design.pass_mark == 0 or view_of(connection, design, row).tutorial != "failed"
    return held


def _has_finished(connection: Connection, design: Design, row: Any) -> bool:
    quota = design.quota if row.quota is None else row.quota
    counts = tasks_of(connection, row.id).items()
    done = sum(
        many
        for (purpose, state), many in counts
        if state in ("done", "skipped") and purpose != "tutorial"
    )
    if quota is not None and done >= quota:
        return True
    return is_released(connection, row.id)


def lost_place(connection: Connection, campaign: Campaign, row: Any, now: int) -> bool:
    """Whether a participant was away for too long, and all places went to others."""
    panel = panel_in(campaign.texts)
    if panel is None or row.state != "active":
        return False
    if row.seen is not None and row.seen >= now - panel.idle * 60_000:
        return False
    mine = select(identities.c.id).where(identities.c.judge == row.id)
    if connection.execute(mine).first() is None or _has_finished(connection, campaign.design, row):
        return False
    return _count_places_taken(connection, campaign.design, panel, now) >= panel.places


def finish_of(connection: Connection, campaign: Campaign, judge: int) -> dict[str, str]:
    """The code and the return link of a participant who has finished; nothing for others."""
    panel = panel_in(campaign.texts)
    if panel is None:
        return {}
    mine = select(identities.c.external_id).where(identities.c.judge == judge)
    participant = connection.execute(mine).scalar()
    if participant is None:
        return {}
    found = {"code": panel.code, "back": panel.return_link(participant)}
    return {name: value for name, value in found.items() if value}


def release_early(store: AssignmentStore, campaign: Campaign, judge: int) -> bool:
    """Let a participant finish for whom nothing is left to do; False of others than participants.

    An event records it, for payment.
    """
    if panel_in(campaign.texts) is None:
        return False
    with store.database.writing() as connection:
        mine = select(identities.c.id).where(identities.c.judge == judge)
        if connection.execute(mine).first() is None:
            return False
        if not is_released(connection, judge):
            record(connection, "store", "released", judge=judge)
        return True


def is_released(connection: Connection, judge: int) -> bool:
    """Return whether a judge was let go before the quota, because nothing was left."""
    query = select(events.c.id).where(
        events.c.kind == "released", events.c.detail == {"judge": judge}
    )
    return connection.execute(query).first() is not None


def released_participants(connection: Connection) -> set[int]:
    """The judges who were let go before their quota, because nothing was left."""
    rows = connection.execute(select(events.c.detail).where(events.c.kind == "released"))
    return {int(detail["judge"]) for (detail,) in rows}


def forget_identities(database: Database) -> int:
    """Delete what panels call their participants: from the file, its log and its snapshots."""
    with database.writing() as connection:
        gone = connection.execute(delete(identities)).rowcount
        record(connection, "organiser", "identities forgotten", many=gone)
    rewrite_files(database)
    return int(gone)
