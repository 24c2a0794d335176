"""The judge's part of the API: joining, consent, tasks, answers, withdrawing.

Handlers only translate: what is asked is read from the request, what happens is the store's, and
its refusals become statuses. A 2xx for an answer is sent after the store has committed it.
"""

from __future__ import annotations

import hmac
import json
from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, Row, select, update
from starlette.requests import Request
from starlette.responses import Response

from errata.collect.answers import AnswerError
from errata.collect.assigning import Holding, JudgeView
from errata.web.answering import Receipt, SentAnswer
from errata.web.calls import ApiError, Served, body_of, reply, worded
from errata.web.events import record
from errata.web.giving import expire_leases
from errata.web.languages import all_consents, choose_language, text_in
from errata.web.learning import feedback_on
from errata.web.participants import finish_of, join_panel, panel_in, release_early
from errata.web.people import set_state_of_judge
from errata.web.progress import may_come_back
from errata.web.prose import read_prose
from errata.web.schema import judges
from errata.web.standing import JudgeStanding, consent_version, judge_standing
from errata.web.store import Campaign, HeldTask, Store
from errata.web.tokens import campaign_mark, join_key, token_for
from errata.web.wording import direction_of, wording

__all__ = ["JUDGE_CALLS"]

MOST_AHEAD = 2


def _standing(store: Store, judge: int) -> tuple[Campaign, JudgeStanding]:
    with store.database.reading() as connection:
        return judge_standing(store, connection, judge)


def _language(campaign: Campaign, standing: JudgeStanding) -> str:
    return standing.language or str(campaign.texts.get("language", "en"))


async def me(served: Served, request: Request) -> Response:
    judge = await served.judge(request)
    campaign, standing = await served.run(_standing, served.store, judge)
    design, texts = campaign.design, campaign.texts
    language = _language(campaign, standing)
    return reply(
        {
            "state": standing.state,
            "title": campaign.name,
            "campaign": campaign_mark(served.key),
            "name": standing.name,
            "kind": design.kind,
            "language": language,
            "languages": list(campaign.languages),
            "direction": direction_of(language),
            "strings": wording(language, served.strings),
            "progress": standing.progress,
            "consent": {
                "version": consent_version(all_consents(texts)),
                "blocks": read_prose(text_in(texts, "consent", language)),
            },
            "instructions": read_prose(text_in(texts, "instructions", language)),
            "display": {"marks": design.marks, "switch": design.marks_may_change},
            **await served.run(_finish, served.store, campaign, judge, standing.state),
        }
    )


async def language(served: Served, request: Request) -> Response:
    judge = await served.judge(request)
    wanted = (await body_of(request)).get("language")
    store = served.store
    await served.run(choose_language, store.database, judge, wanted, now=store.wall())
    return reply({"language": wanted})


def _finish(store: Store, campaign: Campaign, judge: int, state: str) -> dict[str, str]:
    """The code and the return link, for who has finished and for nobody before."""
    if state != "finished":
        return {}
    with store.database.reading() as connection:
        return finish_of(connection, campaign, judge)


async def join(served: Served, request: Request) -> Response:
    client = request.client.host if request.client else ""
    if not served.limiter.allowed("join", client):
        raise ApiError(429, "too_many", "too many came from this address", "wait a minute")
    sent = await body_of(request)
    key, parameters = sent.get("key"), sent.get("parameters")
    genuine = join_key(served.key).encode()
    if not isinstance(key, str) or not hmac.compare_digest(genuine, key.encode("utf-8", "replace")):
        raise ApiError(404, "link", "this link does not work", "open it from the panel again")
    if not isinstance(parameters, dict):
        raise ApiError(422, "invalid", "no parameters", "open it from the panel", "parameters")
    found = await served.run(join_panel, served.store, parameters)
    return reply({"token": token_for(served.key, "judge", found.id, found.generation)}, 201)


def _withdraw(store: Store, judge: int) -> None:
    with store.database.reading() as connection:
        name = connection.execute(select(judges.c.name).where(judges.c.id == judge)).scalar_one()
    set_state_of_judge(store.database, name, "withdrawn", now=store.wall(), actor="judge")


async def consent(served: Served, request: Request) -> Response:
    judge = await served.judge(request)
    sent = await body_of(request)
    if type(sent.get("agreed")) is not bool:
        raise ApiError(422, "invalid", "neither yes nor no", "send agreed", "agreed")

    def agree(store: Store) -> None:
        version = consent_version(all_consents(store.campaign().texts))
        if sent.get("version") != version:
            raise AnswerError("the text has changed", "version", "read it again")
        if not sent["agreed"]:
            _withdraw(store, judge)
            return
        with store.database.writing() as connection:
            connection.execute(
                update(judges)
                .where(judges.c.id == judge)
                .values(consent_version=version, consent_time=store.wall())
            )
            record(connection, store.wall(), "judge", "consent", judge=judge, version=version)

    await served.run(agree, served.store)
    _, standing = await served.run(_standing, served.store, judge)
    return reply({"state": standing.state})


async def tasks(served: Served, request: Request) -> Response:
    if request.method == "GET":
        return await _earlier(served, await served.judge(request), request)
    link = served.judge_claims(request)
    judge, sent = link.judge, await body_of(request)
    ahead = sent.get("ahead", 1)
    if type(ahead) is not int or not 1 <= ahead <= MOST_AHEAD:
        raise ApiError(422, "invalid", "ahead is 1 or 2", "send one of them", "ahead")

    def claim_in(connection: Connection) -> tuple[Campaign, JudgeStanding, list[HeldTask], str]:
        """All of it in one transaction: whose link it is, what is due, and the tasks."""
        store = served.store
        row = store.locked_judge(connection, judge, link.generation)
        expire_leases(connection, store.steady())
        campaign, standing = judge_standing(store, connection, judge, row=row)
        view: JudgeView | None = standing.view
        known: list[int] = []
        why = ""
        if standing.state in ("working", "tutorial"):
            for _ in range(1 if standing.state == "tutorial" else ahead):
                found = store.claim_in(
                    connection, campaign, judge, known=known, ahead=ahead, row=row, view=view
                )
                view = None  # it holds one more
                if not isinstance(found, Holding):
                    why = found.reason  # type: ignore[union-attr]
                    break
                known.append(found.assignment)
        design = campaign.design
        taken = [store.task_in(connection, design, judge, assignment) for assignment in known]
        if why == "nothing" and not may_come_back(connection, design, judge):
            why = "all"  # nothing is left, now or later
        return campaign, standing, taken, why

    def claim(store: Store) -> dict[str, Any]:
        campaign, standing, found, why = store.retried(claim_in)
        if standing.state not in ("working", "tutorial"):
            finish = _finish(store, campaign, judge, standing.state)
            return {"tasks": [], "state": standing.state, "progress": standing.progress, **finish}
        taken = [_sent(campaign, task.taken(campaign.design)) for task in found]
        state = standing.state if taken else _after(why)
        if (
            why in ("nothing", "all", "budget")
            and not taken
            and release_early(store, campaign, judge)
        ):
            state = "finished"  # whoever came from a panel is not kept waiting
        finish = _finish(store, campaign, judge, state)
        return {"tasks": taken, "state": state, "progress": standing.progress, **finish}

    return reply(await served.run(claim, served.store))


def _after(why: str) -> str:
    """The state of the page when there is no task."""
    return {"nothing": "waiting", "leases": "waiting", "budget": "finished", "all": "finished"}.get(
        why, why
    )


def _sent(campaign: Campaign, task: Any) -> dict[str, Any]:
    """A task as the page gets it: fields are alike whatever the task is for."""
    scales = [asdict(scale) for scale in campaign.design.scales]
    return {
        "id": str(task.id),
        "revision": task.revision,
        "expires": task.expires,
        "language": campaign.texts.get("text_language", "en"),
        **({"scales": scales} if scales else {}),
        **task.body,
    }


async def _earlier(served: Served, judge: int, request: Request) -> Response:
    many = request.query_params.get("last", "5")
    if not many.isdecimal() or not 1 <= int(many) <= 5:
        raise ApiError(422, "invalid", "last is 1 to 5", "send such a number", "last")

    def read(store: Store) -> list[dict[str, Any]]:
        found = []
        campaign = store.campaign()
        for answer in reversed(store.last_answers(judge, int(many))):
            task = _sent(campaign, store.task(judge, answer["task"]))
            found.append(task | {k: answer[k] for k in ("revision", "answer", "skip", "comment")})
        return found

    return reply({"tasks": await served.run(read, served.store)})


async def judgment(served: Served, request: Request) -> Response:
    link = served.judge_claims(request)
    judge, assignment = link.judge, _number(request)
    sent = await body_of(request)
    shown = sent.get("display")
    display = dict(shown) if isinstance(shown, dict) and len(json.dumps(shown)) < 500 else {}
    if type(sent.get("pasted")) is int and sent["pasted"] > 0:
        display["pasted"] = sent["pasted"]
    submission = SentAnswer(
        sent.get("revision"),
        sent.get("answer"),
        sent.get("skip"),
        sent.get("comment", ""),
        sent.get("active"),
        sent.get("total"),
        sent.get("time"),
        display,
    )

    def store_it(store: Store) -> tuple[int, dict[str, Any]]:
        def store_in(connection: Connection) -> tuple[Receipt, Campaign, JudgeStanding]:
            row: Row[Any] | None = store.locked_judge(connection, judge, link.generation)
            campaign = store.campaign(connection)
            receipt = store.submit_in(connection, campaign, judge, assignment, submission)
            if campaign.design.block_rule is not None or panel_in(campaign.texts) is not None:
                row = None  # the rule may block, and whoever answers keeps a place
            return receipt, *judge_standing(store, connection, judge, campaign, row)

        receipt, campaign, standing = store.retried(store_in)
        answer = {"stored": receipt.stored, "state": standing.state, "progress": standing.progress}
        answer |= _finish(store, campaign, judge, standing.state)
        if receipt.status != 409 and standing.learns:
            strings = wording(_language(campaign, standing), served.strings)
            with store.database.reading() as connection:
                told = feedback_on(connection, campaign.design, judge, assignment, strings)
            answer |= {"feedback": told} if told else {}
        return receipt.status, answer

    status, body = await served.run(store_it, served.store)
    if status == 409:
        message = "another answer is stored under this revision"
        error = ApiError(409, "conflict", message, "send the next revision")
        return reply(await worded(served, request, error) | {"stored": body["stored"]}, 409)
    return reply(body, status)


def _number(request: Request) -> int:
    text = str(request.path_params["task"])
    if not (text.isascii() and text.isdecimal() and len(text) < 18):
        raise ApiError(404, "not_yours", "there is no such task", "load the page again")
    return int(text)


async def ping(served: Served, request: Request) -> Response:
    judge = await served.judge(request)
    return reply({"expires": await served.run(served.store.ping, judge, _number(request))})


async def give_back(served: Served, request: Request) -> Response:
    judge = await served.judge(request)
    await served.run(served.store.give_back, judge, _number(request))
    return reply({})


async def withdraw(served: Served, request: Request) -> Response:
    judge = await served.judge(request)
    await served.run(_withdraw, served.store, judge)
    return reply({"state": "withdrawn"})


JUDGE_CALLS: tuple[tuple[str, Any, tuple[str, ...]], ...] = (
    ("me", me, ("GET",)),
    ("me", withdraw, ("DELETE",)),
    ("language", language, ("POST",)),
    ("join", join, ("POST",)),
    ("consent", consent, ("POST",)),
    ("tasks", tasks, ("POST", "GET")),
    ("tasks/{task}/judgment", judgment, ("PUT",)),
    ("tasks/{task}/ping", ping, ("POST",)),
    ("tasks/{task}/return", give_back, ("POST",)),
)
