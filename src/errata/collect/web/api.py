"""JSON API of judges and organisers, request limits.

Handlers only translate: what is asked is read from the request, what happens is the store's, and
its refusals become statuses. A 2xx for an answer is sent after the store has committed it.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, NamedTuple, TypeVar, get_args

import anyio
import anyio.to_thread
from sqlalchemy import Connection, Row, bindparam, select, update
from sqlalchemy.exc import InterfaceError, InternalError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from errata.collect.answers import AnswerError
from errata.collect.assignment import JudgeView, KeepCurrent
from errata.collect.design import FORMS_OUT
from errata.collect.web.assignment_queries import may_come_back, most_for_one
from errata.collect.web.assignments import (
    completed_lessons,
    expire_leases,
    feedback_on,
    learning_of,
    lessons_in,
    tasks_of,
    view_of,
)
from errata.collect.web.campaign import BudgetBound, change_budget, change_quota, change_texts
from errata.collect.web.dashboard import PARTS, Dashboard
from errata.collect.web.database import error_text, record
from errata.collect.web.exports import export_lines, parts_of, zip_texts
from errata.collect.web.i18n import (
    all_consents,
    choose_language,
    direction_of,
    error_in,
    load_texts,
    localised_text,
    parse_markdown,
    preferred,
)
from errata.collect.web.judges import (
    InvitedJudge,
    JudgeChange,
    add_judges,
    change_judges,
    change_state,
    invited,
    set_state_of_judge,
)
from errata.collect.web.panel import (
    finish_of,
    is_released,
    join_panel,
    lost_place,
    panel_in,
    release_early,
)
from errata.collect.web.schema import judges
from errata.collect.web.store import (
    AssignmentStore,
    Campaign,
    ForbiddenError,
    HeldTask,
    Receipt,
    SubmittedAnswer,
)
from errata.collect.web.tokens import Claims, LinkSigner
from errata.io.records import decode_json

# ---- How much one client may ask of the server: calls a minute, bytes, depth, seconds.

LARGEST_BODY = 64 * 1024  # bytes
DEEPEST = 8  # levels of JSON
WINDOW = 60.0  # seconds
MOST_KEYS = 20_000  # clients remembered at once

# Calls of a kind that one address or token may make in a minute.
PER_MINUTE = {"join": 10, "failure": 20, "call": 240}


@dataclass
class Limiter:
    """Counts calls by kind and client, in windows of a minute."""

    clock: Callable[[], float] = time.monotonic
    limits: dict[str, int] = field(default_factory=lambda: dict(PER_MINUTE))
    _seen: dict[tuple[str, str], tuple[float, int]] = field(default_factory=dict)

    def allowed(self, kind: str, client: str, *, count: bool = True) -> bool:
        """Whether one more call is within the limit; it is counted unless said otherwise."""
        now = self.clock()
        start, calls = self._seen.get((kind, client), (now, 0))
        if now - start >= WINDOW:
            start, calls = now, 0
        if calls >= self.limits[kind]:
            return False
        if count:
            if len(self._seen) >= MOST_KEYS:
                self._forget(now)
            self._seen[kind, client] = (start, calls + 1)
        return True

    def _forget(self, now: float) -> None:
        fresh = {key: seen for key, seen in self._seen.items() if now - seen[0] < WINDOW}
        self._seen = fresh if len(fresh) < MOST_KEYS else {}


class MalformedRequest(Exception):
    """A body that is no JSON of the kind that is taken; the text says why."""


def read_json(body: bytes) -> dict[str, Any]:
    """The object in a body: UTF-8, no deeper than a few levels, no NaN, no key twice.

    >>> read_json(b'{"revision": 1}')
    {'revision': 1}
    """
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        raise MalformedRequest("the body is not UTF-8") from None
    if _depth(text) > DEEPEST:
        raise MalformedRequest(f"the body is nested deeper than {DEEPEST} levels")
    try:
        found = decode_json(text)
        json.dumps(found, allow_nan=False)  # 1e999 is written as a number, and is none
    except ValueError as error:
        raise MalformedRequest(f"the body is no JSON: {error}") from None
    if not isinstance(found, dict):
        raise MalformedRequest("the body is no JSON object")
    return found


def _depth(text: str) -> int:
    """How deep brackets nest, those inside strings not counted."""
    deepest = depth = 0
    inside = escaped = False
    for character in text:
        if inside:
            if escaped:
                escaped = False
            elif character == "\\":
                escaped = True
            elif character == '"':
                inside = False
        elif character == '"':
            inside = True
        elif character in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif character in "]}":
            depth -= 1
    return deepest


# ---- What every call shares: who is calling, work in threads, and refusals as statuses.

T = TypeVar("T")
THREADS = 8  # at work in the database at once; as many connections are kept
LOG = logging.getLogger("errata.collect.web")


class ApiError(Exception):
    """An answer that is no success."""

    def __init__(
        self, status: int, code: str, message: str, remedy: str = "", field: str | None = None
    ) -> None:
        self.status = status
        self.body = {"error": {"code": code, "message": message, "remedy": remedy, "field": field}}


def reply(body: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """An answer in JSON."""
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return Response(text, status, headers, media_type="application/json")


@dataclass
class Served:
    """What the handlers share: the store, the signer of links, limits and threads."""

    store: AssignmentStore
    signer: LinkSigner
    frame: str = ""
    secure: bool = False
    limiter: Limiter = field(default_factory=Limiter)
    threads: anyio.CapacityLimiter | None = None
    health: tuple[float, bool] = (0.0, False)
    strings: dict[str, str] = field(default_factory=dict)  # that the campaign replaces

    async def run(
        self, work: Callable[..., T], *given: Any, abandoned: bool = False, **named: Any
    ) -> T:
        """Work of the database, in a thread; what it refuses becomes a status.

        A call that is given up waits for its work all the same, unless it may be ``abandoned``.
        """
        if self.threads is None:
            self.threads = anyio.CapacityLimiter(THREADS)
        try:
            return await anyio.to_thread.run_sync(
                partial(work, *given, **named), limiter=self.threads, abandon_on_cancel=abandoned
            )
        except ForbiddenError as error:
            code = {401: "link", 404: "not_yours", 410: "closed"}.get(error.status, "refused")
            code = error.code or code
            raise ApiError(error.status, code, error.problem, error.remedy) from None
        except AnswerError as error:
            raise ApiError(422, "invalid", error.problem, error.remedy, error.field) from None
        except (OperationalError, InterfaceError, InternalError, PoolTimeout) as error:
            LOG.warning("the database: %s", error_text(error))
            self.health = (time.monotonic(), False)
            raise ApiError(503, "unavailable", *_trouble(error)) from None

    def claims(self, request: Request, role: str) -> Claims:
        """Return the claims of the caller's token; failures are counted by address.

        A genuine token passes however many others failed at the same address.
        """
        client = request.client.host if request.client else ""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        found = self.signer.read(token) if scheme.lower() == "bearer" else None
        if found is None or found.role != role:
            if not self.limiter.allowed("failure", client):
                raise ApiError(429, "too_many", "too many links that do not work", "wait a minute")
            raise ApiError(401, "link", "this link does not work", "ask for a new one")
        if not self.limiter.allowed("call", f"{found.role}{found.judge}"):
            raise ApiError(429, "too_many", "too many calls", "wait a minute")
        return found

    def judge_claims(self, request: Request) -> Claims:
        """Who the link says is calling; whether it still holds is known in the database alone."""
        claims = self.claims(request, "judge")
        request.state.judge = claims.judge
        return claims

    async def judge(self, request: Request) -> int:
        """Return the judge who calls by a current link."""
        claims = self.judge_claims(request)
        if await self.run(self.store.salt_of_judge, claims.judge) != claims.salt:
            raise ApiError(401, "link", "this link was replaced", "ask for the new one")
        return claims.judge

    async def need_organiser(self, request: Request) -> None:
        """Refuse a call that does not come by the organiser's current link."""
        claims = self.claims(request, "admin")
        if await self.run(self.store.salt_of, "admin") != claims.salt:
            raise ApiError(401, "link", "this link was replaced", "errata collect links prints it")


async def localised_error(served: Served, request: Request, error: ApiError) -> dict[str, Any]:
    """An error in the judge's language; of who is not known, in that of the browser."""
    language = preferred(request.headers.get("accept-language", ""))
    judge = getattr(request.state, "judge", None)
    if judge is not None:

        def own(store: AssignmentStore) -> str:
            with store.database.reading() as connection:
                mine = select(judges.c.language).where(judges.c.id == judge)
                said = connection.execute(mine).scalar()
                return str(said or store.campaign(connection).texts.get("language", "en"))

        with contextlib.suppress(ApiError):  # the database may be what ails
            language = await served.run(own, served.store)
    elif "/admin/" in request.url.path:
        language = "en"  # as the organiser's page is
    return {"error": error_in(language, error.body["error"], served.strings)}


def _trouble(error: Exception) -> tuple[str, str]:
    """What ails the database, and what to do."""
    said = error_text(error).lower()
    if "full" in said or "no space" in said:
        return "there is no room to store anything", "the organiser must make room on the disk"
    return "the database cannot be reached", "the page tries again by itself"


async def body_of(request: Request) -> dict[str, Any]:
    """The JSON object of a request."""
    try:
        return read_json(await request.body())
    except MalformedRequest as error:
        raise ApiError(400, "malformed", str(error), "send a JSON object") from None


# ---- Where a judge stands: which page is due, and how much is done.

_JUDGE = select(judges).where(judges.c.id == bindparam("judge"))


class JudgeState(NamedTuple):
    """What a judge's page is told: the state, and what is done of how much."""

    state: str
    name: str
    language: str
    done: int
    quota: int
    view: JudgeView  # what a claim knows of the judge
    learns: bool = False  # whether any example of a tutorial was answered

    @property
    def progress(self) -> dict[str, int]:
        return {"done": self.done, "quota": self.quota}


def consent_version(text: str) -> str:
    """The version of a consent text: its digest, so that a changed text is asked for again.

    >>> consent_version("") == consent_version("  ")
    True
    """
    return hashlib.sha256(text.strip().encode()).hexdigest()[:16]


def judge_state(
    store: AssignmentStore,
    connection: Connection,
    judge: int,
    campaign: Campaign | None = None,
    row: Row[Any] | None = None,
) -> tuple[Campaign, JudgeState]:
    """The campaign and where a judge stands in it; both are read where they are not known."""
    campaign = store.campaign(connection) if campaign is None else campaign
    if row is None:
        row = connection.execute(_JUDGE, {"judge": judge}).first()
    if row is None or row.state == "forgotten":
        raise ForbiddenError(401, "this link does not hold any more", "ask for a new one")
    done = {True: 0, False: 0}  # of tutorials, and of all else
    counts = tasks_of(connection, judge)
    for (purpose, state), many in counts.items():
        if state in ("done", "skipped"):
            done[purpose == "tutorial"] += many
    view = view_of(connection, campaign.design, row, counts)
    learning = view.tutorial == "todo"
    quota = view.quota
    if quota is None:
        # The items of a campaign stay as many as they are; of reviews those of others count.
        whose = row.name if campaign.design.kind == "review" else ""
        if whose not in store.most:
            store.most[whose] = most_for_one(connection, campaign.design, whose)
        quota = max(store.most[whose], done[False])
    state = _state(campaign, row, view, learning, done[False])
    if state in ("consent", "tutorial", "working") and lost_place(
        connection, campaign, row, store.steady()
    ):
        state = "full"
    elif state == "working" and panel_in(campaign.texts) and is_released(connection, judge):
        state = "finished"
    learns = bool(done[True])
    if learning:
        had = completed_lessons(connection, judge)
        ready = learning_of(connection, campaign.design, had).done
        lessons = lessons_in(connection, campaign.design)
        return campaign, JudgeState(state, row.name, row.language, ready, lessons, view, learns)
    ready = done[False]
    return campaign, JudgeState(state, row.name, row.language, ready, quota, view, learns)


def _state(campaign: Campaign, row: Any, view: Any, learning: bool, done: int) -> str:
    if row.state in ("blocked", "withdrawn"):
        return str(row.state)
    if campaign.state == "closed":
        return "closed"
    if campaign.state != "open":
        return "paused"
    consent = all_consents(campaign.texts).strip()
    if consent and row.consent_version != consent_version(consent):
        return "consent"
    if view.tutorial == "failed":
        return "failed"
    if learning:
        return "tutorial"
    if view.quota is not None and done >= view.quota and not view.open:
        return "finished"
    return "working"


MOST_AHEAD = 2


def _standing(store: AssignmentStore, judge: int) -> tuple[Campaign, JudgeState]:
    with store.database.reading() as connection:
        return judge_state(store, connection, judge)


def _language(campaign: Campaign, standing: JudgeState) -> str:
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
            "campaign": served.signer.mark,
            "name": standing.name,
            "kind": design.kind,
            "language": language,
            "languages": list(campaign.languages),
            "direction": direction_of(language),
            "strings": load_texts(language, served.strings),
            "progress": standing.progress,
            "consent": {
                "version": consent_version(all_consents(texts)),
                "blocks": parse_markdown(localised_text(texts, "consent", language)),
            },
            "instructions": parse_markdown(localised_text(texts, "instructions", language)),
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


def _finish(store: AssignmentStore, campaign: Campaign, judge: int, state: str) -> dict[str, str]:
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
    salt = await served.run(served.store.salt_of, "join")
    genuine = served.signer.join_key(salt).encode()
    if not isinstance(key, str) or not hmac.compare_digest(genuine, key.encode("utf-8", "replace")):
        raise ApiError(404, "link", "this link does not work", "open it from the panel again")
    if not isinstance(parameters, dict):
        raise ApiError(422, "invalid", "no parameters", "open it from the panel", "parameters")
    found = await served.run(join_panel, served.store, parameters)
    return reply({"token": served.signer.token("judge", found.id, found.salt)}, 201)


def _withdraw(store: AssignmentStore, judge: int) -> None:
    with store.database.reading() as connection:
        name = connection.execute(select(judges.c.name).where(judges.c.id == judge)).scalar_one()
    set_state_of_judge(store.database, name, "withdrawn", now=store.wall(), actor="judge")


async def consent(served: Served, request: Request) -> Response:
    judge = await served.judge(request)
    sent = await body_of(request)
    if type(sent.get("agreed")) is not bool:
        raise ApiError(422, "invalid", "neither yes nor no", "send agreed", "agreed")

    def agree(store: AssignmentStore) -> None:
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

    def claim_in(connection: Connection) -> tuple[Campaign, JudgeState, list[HeldTask], str]:
        """All of it in one transaction: whose link it is, what is due, and the tasks."""
        store = served.store
        row = store.locked_judge(connection, judge, link.salt)
        expire_leases(connection, store.steady())
        campaign, standing = judge_state(store, connection, judge, row=row)
        view: JudgeView | None = standing.view
        known: list[int] = []
        why = ""
        if standing.state in ("working", "tutorial"):
            for _ in range(1 if standing.state == "tutorial" else ahead):
                found = store.claim_in(
                    connection, campaign, judge, known=known, ahead=ahead, row=row, view=view
                )
                view = None  # it holds one more
                if not isinstance(found, KeepCurrent):
                    why = found.reason  # type: ignore[union-attr]
                    break
                known.append(found.assignment)
        design = campaign.design
        taken = [store.task_in(connection, design, judge, assignment) for assignment in known]
        if why == "nothing" and not may_come_back(connection, design, judge):
            why = "all"  # nothing is left, now or later
        return campaign, standing, taken, why

    def claim(store: AssignmentStore) -> dict[str, Any]:
        campaign, standing, found, why = store.retried(claim_in)
        if standing.state not in ("working", "tutorial"):
            finish = _finish(store, campaign, judge, standing.state)
            return {"tasks": [], "state": standing.state, "progress": standing.progress, **finish}
        taken = [_task_json(campaign, task.taken(campaign.design)) for task in found]
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


def _task_json(campaign: Campaign, task: Any) -> dict[str, Any]:
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

    def read(store: AssignmentStore) -> list[dict[str, Any]]:
        found = []
        campaign = store.campaign()
        for answer in reversed(store.last_answers(judge, int(many))):
            task = _task_json(campaign, store.task(judge, answer["task"]))
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
    submission = SubmittedAnswer(
        sent.get("revision"),
        sent.get("answer"),
        sent.get("skip"),
        sent.get("comment", ""),
        sent.get("active"),
        sent.get("total"),
        sent.get("time"),
        display,
    )

    def store_it(store: AssignmentStore) -> tuple[int, dict[str, Any]]:
        def store_in(connection: Connection) -> tuple[Receipt, Campaign, JudgeState]:
            row: Row[Any] | None = store.locked_judge(connection, judge, link.salt)
            campaign = store.campaign(connection)
            receipt = store.submit_in(connection, campaign, judge, assignment, submission)
            if campaign.design.block_rule is not None or panel_in(campaign.texts) is not None:
                row = None  # the rule may block, and whoever answers keeps a place
            return receipt, *judge_state(store, connection, judge, campaign, row)

        receipt, campaign, standing = store.retried(store_in)
        answer = {"stored": receipt.stored, "state": standing.state, "progress": standing.progress}
        answer |= _finish(store, campaign, judge, standing.state)
        if receipt.status != 409 and standing.learns:
            strings = load_texts(_language(campaign, standing), served.strings)
            with store.database.reading() as connection:
                told = feedback_on(connection, campaign.design, judge, assignment, strings)
            answer |= {"feedback": told} if told else {}
        return receipt.status, answer

    status, body = await served.run(store_it, served.store)
    if status == 409:
        message = "another answer is stored under this revision"
        error = ApiError(409, "conflict", message, "send the next revision")
        return reply(
            await localised_error(served, request, error) | {"stored": body["stored"]}, 409
        )
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


# ---- The organiser's part of the API: figures, links, judges, texts, exports.

TEXTS = ("instructions", "consent")
CHANGES = ("texts", "quota", "budget", "state")
BOUNDS: tuple[BudgetBound, ...] = get_args(BudgetBound)
LONGEST_TEXT = 20_000  # characters


class Organiser:
    """Handlers that share the dashboard, and know what links begin with."""

    def __init__(self, links: str, dashboard: Dashboard) -> None:
        self.links, self.dashboard = links, dashboard

    def routes(self) -> list[tuple[str, Any, tuple[str, ...]]]:
        """Paths, handlers and methods, below the API."""
        return [
            ("admin/campaign", self.change, ("PATCH",)),
            ("admin/links", self.printed, ("POST",)),
            ("admin/judges", self.added, ("POST",)),
            ("admin/judges/{action}", self.acted, ("POST",)),
            ("admin/export", self.export, ("GET",)),
            ("admin/{part}", self.part, ("GET",)),
        ]

    async def part(self, served: Served, request: Request) -> Response:
        await served.need_organiser(request)
        name = str(request.path_params["part"])
        if name not in PARTS:
            raise ApiError(404, "no_page", "there is no such part")
        tag, body = await served.run(self.dashboard.part, name)
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers={"etag": tag})
        return Response(body, media_type="application/json", headers={"etag": tag})

    async def change(self, served: Served, request: Request) -> Response:
        await served.need_organiser(request)
        sent = await body_of(request)
        for name in sent:
            if name not in CHANGES:
                said = f"{name[:40]!r} cannot be changed"
                raise ApiError(422, "invalid", said, f"send {', '.join(CHANGES)}", name[:40])
        texts = sent.get("texts", {})
        good = isinstance(texts, dict) and all(
            name in TEXTS and isinstance(text, str) and len(text) <= LONGEST_TEXT
            for name, text in texts.items()
        )
        if not good:
            raise ApiError(422, "invalid", "no such texts", f"send {', '.join(TEXTS)}", "texts")
        quota, budget = _quota(sent.get("quota")), _budget(sent.get("budget"))
        state = sent.get("state")
        if state not in (None, "open", "paused", "closed"):
            raise ApiError(422, "invalid", "no such state", "open, paused or closed", "state")

        def work(store: AssignmentStore) -> None:
            now = store.wall()
            with store.database.at_once() as database:
                if texts:
                    change_texts(database, texts, now=now)
                if quota is not None:
                    change_quota(database, *quota, now=now)
                if budget is not None:
                    change_budget(database, *budget, now=now)
                if state is not None:
                    change_state(database, state, now=now)

        await served.run(work, served.store)
        self.dashboard.asked.set()
        return reply({})

    async def printed(self, served: Served, request: Request) -> Response:
        await served.need_organiser(request)
        names = await self._names(request, some=False)

        def work(store: AssignmentStore) -> list[InvitedJudge]:
            with store.database.reading() as connection:
                return [j for j in invited(connection) if not names or j.name in names]

        found = await served.run(work, served.store)
        campaign = await served.run(served.store.campaign)
        door = []
        if not names and (panel := panel_in(campaign.texts)) is not None:
            salt = await served.run(served.store.salt_of, "join")
            link = f"{self.links}join/{served.signer.join_key(salt)}"
            door = [{"name": f"panel {panel.provider}", "link": link}]
        return self._links(served, found, door)

    async def added(self, served: Served, request: Request) -> Response:
        await served.need_organiser(request)
        names = await self._names(request)
        found = await served.run(
            lambda store: add_judges(store.database, names, now=store.wall()), served.store
        )
        return self._links(served, found)

    async def acted(self, served: Served, request: Request) -> Response:
        await served.need_organiser(request)
        names = await self._names(request)
        action = str(request.path_params["action"])
        if action not in get_args(JudgeChange):
            raise ApiError(404, "no_page", "there is no such action")
        wanted: Any = action
        store = served.store
        rotated = await served.run(change_judges, store.database, wanted, names, now=store.wall())
        return self._links(served, rotated)

    async def export(self, served: Served, request: Request) -> Response:
        await served.need_organiser(request)
        form: Any = request.query_params.get("form", "jsonl")
        if form == "texts":  # several files, so as one
            file = await served.run(zip_texts, served.store.database)
            return StreamingResponse(parts_of(file), media_type="application/zip")
        if form not in FORMS_OUT:
            raise ApiError(422, "invalid", "no such form", ", ".join((*FORMS_OUT, "texts")), "form")
        lines = export_lines(served.store.database, form)
        # What a form cannot hold is refused before anything is sent.
        first = await served.run(_first, lines)

        def ended() -> Iterator[str]:
            if first is not None:
                yield first + "\n"
            for line in lines:
                yield line + "\n"

        return StreamingResponse(ended(), media_type="text/plain; charset=utf-8")

    async def _names(self, request: Request, *, some: bool = True) -> list[str]:
        names = (await body_of(request)).get("names")
        good = isinstance(names, list) and all(isinstance(name, str) for name in names)
        if not good or (some and not names):
            raise ApiError(422, "invalid", "no names", "send a list of names", "names")
        assert isinstance(names, list)
        return names

    def _links(
        self, served: Served, found: list[InvitedJudge], door: list[dict[str, str]] | None = None
    ) -> Response:
        token = served.signer.token
        links = [
            {"name": j.name, "link": f"{self.links}judge#{token('judge', j.id, j.salt)}"}
            for j in found
        ]
        return reply({"links": [*(door or []), *links]})


def _first(lines: Iterator[str]) -> str | None:
    return next(lines, None)


def _quota(sent: Any) -> tuple[int, list[str]] | None:
    """``{"tasks": 40, "names": [...]}``: of these judges, or of all."""
    if sent is None:
        return None
    names = sent.get("names", []) if isinstance(sent, dict) else None
    tasks = sent.get("tasks") if isinstance(sent, dict) else None
    good = isinstance(names, list) and all(isinstance(name, str) for name in names)
    if not good or type(tasks) is not int or tasks < 1:
        raise ApiError(422, "invalid", "no such quota", "send tasks, and names", "quota")
    assert isinstance(names, list)
    return tasks, names


def _budget(sent: Any) -> tuple[BudgetBound, float] | None:
    """``{"rankings": 400}``, or hours or money: the whole campaign's."""
    if sent is None:
        return None
    good = isinstance(sent, dict) and len(sent) == 1
    for bound in BOUNDS if good else ():
        if type(amount := sent.get(bound)) in (int, float):
            return bound, amount
    raise ApiError(422, "invalid", "no such budget", f"send one of {', '.join(BOUNDS)}", "budget")
