"""JSON API of judges and organisers, request limits.

Handlers only translate, each in a thread: what is asked is read from the call, what happens is the
store's, and its refusals become statuses. A 2xx for an answer is sent after the store has
committed it.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import logging
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import chain
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, get_args

import anyio
import anyio.to_thread
from sqlalchemy import Connection, Row, bindparam, select, update
from sqlalchemy.exc import InterfaceError, InternalError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse

from errata.collect.answers import AnswerError
from errata.collect.assignment import JudgeView, KeepCurrent, NoTask
from errata.collect.design import FORMS_OUT
from errata.collect.items import task_of
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
from errata.collect.web.campaign import (
    BudgetBound,
    change_budget,
    change_quota,
    change_texts,
    links_of,
)
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
    JudgeChange,
    add_judges,
    change_judges,
    change_state,
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
    ApiError,
    AssignmentStore,
    Campaign,
    HeldTask,
    Receipt,
    SubmittedAnswer,
    last_answers,
    stored_answer,
)
from errata.collect.web.tokens import Claims, LinkSigner, TokenRole
from errata.core.errors import InputError
from errata.io.records import AtLeast, RecordReader, decode_json

# ---- How much one client may ask of the server: calls a minute, bytes, depth, seconds.

LARGEST_BODY = 64 * 1024  # bytes
DEEPEST = 8  # levels of JSON
WINDOW = 60.0  # seconds
MOST_KEYS = 20_000  # clients remembered at once
SLOWEST = 15.0  # seconds until a body must be there

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


async def read_body(request: Request) -> bytes:
    """The body of a request; one that is too large or too slow is refused."""
    large = ApiError(
        413, "too_large", f"the request is larger than {LARGEST_BODY} bytes", "send less"
    )
    length = request.headers.get("content-length", "0")
    if not length.isdigit() or int(length) > LARGEST_BODY:
        raise large
    content = b""
    try:
        with anyio.fail_after(SLOWEST):
            async for part in request.stream():
                content += part
                if len(content) > LARGEST_BODY:
                    raise large
    except TimeoutError:
        raise ApiError(408, "too_slow", "the request came too slowly", "send it again") from None
    except ClientDisconnect:
        raise ApiError(400, "gone", "the request broke off", "send it again") from None
    return content


def read_json(body: bytes) -> dict[str, Any]:
    """The object in a body: UTF-8, no deeper than a few levels, no NaN, no key twice.

    >>> read_json(b'{"revision": 1}')
    {'revision': 1}
    """
    try:
        found = decode_json(body.decode())
        json.dumps(found, allow_nan=False)  # 1e999 is written as a number, and is none
    except ValueError as error:  # UnicodeDecodeError is one
        problem = f"the body is no JSON: {error}"
    else:
        if _nests_deeper(found, DEEPEST):
            problem = f"the body is nested deeper than {DEEPEST} levels"
        elif isinstance(found, dict):
            return found
        else:
            problem = "the body is no JSON object"
    raise ApiError(400, "malformed", problem, "send a JSON object")


def _nests_deeper(value: Any, levels: int) -> bool:
    if not isinstance(value, dict | list):
        return False
    inner = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_nests_deeper(each, levels - 1) for each in inner)


# ---- What every call shares: who is calling, work in threads, and refusals as statuses.

T = TypeVar("T")
THREADS = 8  # at work in the database at once; as many connections are kept
LOG = logging.getLogger("errata.collect.web")
Role = Literal["judge", "admin", "own", ""]  # own: a judge whose link the handler itself checks
_STALE: dict[str, str] = {"judge": "ask for the new one", "admin": "errata collect links prints it"}


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
    links: str = ""  # what links begin with
    limiter: Limiter = field(default_factory=Limiter)
    threads: anyio.CapacityLimiter | None = None
    health: tuple[float, bool] = (0.0, False)
    strings: dict[str, str] = field(default_factory=dict)  # that the campaign replaces

    def __post_init__(self) -> None:
        self.dashboard = Dashboard(self.store)

    async def run(self, work: Callable[..., T], *given: Any, abandoned: bool = False) -> T:
        """Work of the database, in a thread; what it refuses becomes a status.

        A call that is given up waits for its work all the same, unless it may be ``abandoned``.
        """
        if self.threads is None:
            self.threads = anyio.CapacityLimiter(THREADS)
        try:
            return await anyio.to_thread.run_sync(
                partial(work, *given), limiter=self.threads, abandon_on_cancel=abandoned
            )
        except AnswerError as error:
            raise ApiError(422, "invalid", error.problem, error.remedy, error.field) from None
        except (OperationalError, InterfaceError, InternalError, PoolTimeout) as error:
            LOG.warning("the database: %s", error_text(error))
            self.health = (time.monotonic(), False)
            raise ApiError(503, "unavailable", *_database_problem(error)) from None

    def claims(self, request: Request, role: TokenRole) -> Claims:
        """Return the claims of the caller's token; failures are counted by address.

        A genuine token passes however many others failed at the same address. Whether its link is
        the current one is known in the database alone.
        """
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        found = self.signer.read(token) if scheme.lower() == "bearer" else None
        if found is None or found.role != role:
            if not self.limiter.allowed("failure", _client(request)):
                raise ApiError(429, "too_many", "too many links that do not work", "wait a minute")
            raise ApiError(401, "link", "this link does not work", "ask for a new one")
        if not self.limiter.allowed("call", f"{found.role}{found.judge}"):
            raise ApiError(429, "too_many", "too many calls", "wait a minute")
        return found

    async def answer(
        self, request: Request, handler: Callable[[ApiCall], Any], role: Role
    ) -> Response:
        """Answer a call: who calls is checked first, and the handler works in a thread."""
        content = await read_body(request)
        claims = Claims("judge", 0, "")
        if role:
            claims = self.claims(request, "admin" if role == "admin" else "judge")
        request.state.judge = claims.judge

        def work() -> Response:
            if role in _STALE:
                store, judge = self.store, claims.judge
                salt = store.salt_of_judge(judge) if role == "judge" else store.salt_of("admin")
                if salt != claims.salt:
                    raise ApiError(401, "link", "this link was replaced", _STALE[role])
            found = handler(ApiCall(self, request, content, claims.judge, claims.salt))
            return found if isinstance(found, Response) else reply(found)

        return await self.run(work)


def _client(request: Request) -> str:
    return request.client.host if request.client else ""


@dataclass(frozen=True)
class ApiCall:
    """A call of the API: what is asked, and by which judge (0: the organiser) with which link."""

    served: Served
    request: Request
    content: bytes
    judge: int
    salt: str

    @property
    def store(self) -> AssignmentStore:
        return self.served.store

    @property
    def body(self) -> dict[str, Any]:
        """The JSON object that is sent."""
        return read_json(self.content)

    @property
    def task(self) -> int:
        """The number of the task in the address."""
        text = str(self.request.path_params["task"])
        if not (text.isascii() and text.isdecimal() and len(text) < 18):
            raise ApiError(404, "not_yours", "there is no such task", "load the page again")
        return int(text)

    @property
    def names(self) -> list[str]:
        """The names of judges that are sent."""
        names = self.body.get("names")
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise ApiError(422, "invalid", "no names", "send a list of names", "names")
        return names

    def finish(self, campaign: Campaign, state: str) -> dict[str, str]:
        """The code and the return link, for who has finished and for nobody before."""
        if state != "finished":
            return {}
        with self.store.database.reading() as connection:
            return finish_of(connection, campaign, self.judge)


async def localised_error(served: Served, request: Request, error: ApiError) -> dict[str, Any]:
    """An error in the judge's language; of who is not known, in that of the browser."""
    language = preferred(request.headers.get("accept-language", ""))
    judge = getattr(request.state, "judge", 0)
    if judge:

        def own() -> str:
            with served.store.database.reading() as connection:
                mine = select(judges.c.language).where(judges.c.id == judge)
                said = connection.execute(mine).scalar()
                return str(said or served.store.campaign(connection).texts.get("language", "en"))

        with contextlib.suppress(ApiError):  # the database may be what ails
            language = await served.run(own)
    elif "/admin/" in request.url.path:
        language = "en"  # as the organiser's page is
    return {"error": error_in(language, error.error, served.strings), **error.more}


def _database_problem(error: Exception) -> tuple[str, str]:
    """What ails the database, and what to do."""
    said = error_text(error).lower()
    if "full" in said or "no space" in said:
        return "there is no room to store anything", "the organiser must make room on the disk"
    if "moved" in said:
        return "the file of the campaign is gone", "the organiser must put it back"
    return "the database cannot be reached", "the page tries again by itself"


# ---- Where a judge stands: which page is due, and how much is done.

_JUDGE = select(judges).where(judges.c.id == bindparam("judge"))


class JudgeState(NamedTuple):
    """The state of a judge for the page, with the number of tasks done and wanted."""

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
    """Return the campaign and a judge's state in it; what is not given is read."""
    campaign = store.campaign(connection) if campaign is None else campaign
    if row is None:
        row = connection.execute(_JUDGE, {"judge": judge}).first()
    if row is None or row.state == "forgotten":
        raise ApiError(401, "link", "this link does not hold any more", "ask for a new one")
    done = {True: 0, False: 0}  # of tutorials, and of all else
    counts = tasks_of(connection, judge)
    for (purpose, state), many in counts.items():
        if state in ("done", "skipped"):
            done[purpose == "tutorial"] += many
    view = view_of(connection, campaign.design, row, counts)
    learning = view.tutorial == "todo"
    quota = view.quota
    if quota is None:
        # The items of a campaign are fixed; of reviews only the texts of others count.
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


# ---- The judge's part of the API.

MOST_AHEAD = 2


def _standing(call: ApiCall) -> tuple[Campaign, JudgeState]:
    with call.store.database.reading() as connection:
        return judge_state(call.store, connection, call.judge)


def _language(campaign: Campaign, standing: JudgeState) -> str:
    return standing.language or str(campaign.texts.get("language", "en"))


def me(call: ApiCall) -> dict[str, Any]:
    campaign, standing = _standing(call)
    design, texts = campaign.design, campaign.texts
    language = _language(campaign, standing)
    return {
        "state": standing.state,
        "title": campaign.name,
        "campaign": call.served.signer.mark,
        "name": standing.name,
        "kind": design.kind,
        "language": language,
        "languages": list(campaign.languages),
        "direction": direction_of(language),
        "strings": load_texts(language, call.served.strings),
        "progress": standing.progress,
        "consent": {
            "version": consent_version(all_consents(texts)),
            "blocks": parse_markdown(localised_text(texts, "consent", language)),
        },
        "instructions": parse_markdown(localised_text(texts, "instructions", language)),
        "display": {"marks": design.marks, "switch": design.marks_may_change},
        **call.finish(campaign, standing.state),
    }


def language(call: ApiCall) -> dict[str, Any]:
    wanted = call.body.get("language")
    choose_language(call.store.database, call.judge, wanted)
    return {"language": wanted}


def join(call: ApiCall) -> Response:
    if not call.served.limiter.allowed("join", _client(call.request)):
        raise ApiError(429, "too_many", "too many came from this address", "wait a minute")
    sent = call.body
    key, parameters = sent.get("key"), sent.get("parameters")
    genuine = call.served.signer.join_key(call.store.salt_of("join")).encode()
    if not isinstance(key, str) or not hmac.compare_digest(genuine, key.encode("utf-8", "replace")):
        raise ApiError(404, "link", "this link does not work", "open it from the panel again")
    if not isinstance(parameters, dict):
        raise ApiError(422, "invalid", "no parameters", "open it from the panel", "parameters")
    found = join_panel(call.store, parameters)
    return reply({"token": call.served.signer.token("judge", found.id, found.salt)}, 201)


def withdraw(call: ApiCall) -> dict[str, Any]:
    store = call.store
    with store.database.reading() as connection:
        mine = select(judges.c.name).where(judges.c.id == call.judge)
        name = connection.execute(mine).scalar_one()
    set_state_of_judge(store.database, name, "withdrawn", actor="judge")
    return {"state": "withdrawn"}


def consent(call: ApiCall) -> dict[str, Any]:
    sent, store = call.body, call.store
    if type(sent.get("agreed")) is not bool:
        raise ApiError(422, "invalid", "neither yes nor no", "send agreed", "agreed")
    version = consent_version(all_consents(store.campaign().texts))
    if sent.get("version") != version:
        raise AnswerError("the text has changed", "version", "read it again")
    if not sent["agreed"]:
        return withdraw(call)
    agreed = {"consent_version": version, "consent_time": store.wall()}
    with store.database.writing() as connection:
        connection.execute(update(judges).where(judges.c.id == call.judge).values(**agreed))
        record(connection, "judge", "consent", judge=call.judge, version=version)
    return {"state": _standing(call)[1].state}


def tasks(call: ApiCall) -> dict[str, Any]:
    """Claim one or two tasks."""
    store, judge = call.store, call.judge
    ahead = call.body.get("ahead", 1)
    if type(ahead) is not int or not 1 <= ahead <= MOST_AHEAD:
        raise ApiError(422, "invalid", "ahead is 1 or 2", "send one of them", "ahead")

    def claim_in(connection: Connection) -> tuple[Campaign, JudgeState, list[HeldTask], str]:
        """All of it in one transaction: whose link it is, what is due, and the tasks."""
        row = store.locked_judge(connection, judge, call.salt)
        expire_leases(connection, store.steady())
        campaign, standing = judge_state(store, connection, judge, row=row)
        view: JudgeView | None = standing.view
        known: list[int] = []
        why = ""
        if standing.state in ("working", "tutorial"):
            for _ in range(1 if standing.state == "tutorial" else ahead):
                found = store.claim(connection, campaign, row, known=known, ahead=ahead, view=view)
                view = None  # it holds one more
                if isinstance(found, KeepCurrent):
                    known.append(found.assignment)
                    continue
                assert isinstance(found, NoTask)
                why = found.reason
                break
        design = campaign.design
        taken = [store.task(connection, design, judge, assignment) for assignment in known]
        if why == "nothing" and not may_come_back(connection, design, judge):
            why = "all"  # nothing is left, now or later
        return campaign, standing, taken, why

    campaign, standing, found, why = store.retried(claim_in)
    taken = [_task_json(campaign, task) for task in found]
    state = standing.state
    if state in ("working", "tutorial") and not taken:
        state = _AFTER.get(why, why)
        if why in ("nothing", "all", "budget") and release_early(store, campaign, judge):
            state = "finished"  # participants of a panel are not kept waiting
    finish = call.finish(campaign, state)
    return {"tasks": taken, "state": state, "progress": standing.progress, **finish}


# The state of the page when there is no task.
_AFTER = {"nothing": "waiting", "leases": "waiting", "budget": "finished", "all": "finished"}


def _task_json(campaign: Campaign, task: HeldTask) -> dict[str, Any]:
    """A task as the page gets it: fields are alike whatever the task is for."""
    scales = [asdict(scale) for scale in campaign.design.scales]
    return {
        "id": str(task.id),
        "revision": task.last + 1,
        "expires": task.expires,
        "language": campaign.texts.get("text_language", "en"),
        **({"scales": scales} if scales else {}),
        **task_of(campaign.design, task.shown),
    }


def earlier_tasks(call: ApiCall) -> dict[str, Any]:
    many = call.request.query_params.get("last", "5")
    if not many.isdecimal() or not 1 <= int(many) <= 5:
        raise ApiError(422, "invalid", "last is 1 to 5", "send such a number", "last")
    store, found = call.store, []
    with store.database.reading() as connection:
        campaign = store.campaign(connection)
        for row in reversed(last_answers(connection, call.judge, int(many))):
            held = store.task(connection, campaign.design, call.judge, row.assignment)
            found.append(_task_json(campaign, held) | stored_answer(row))
    return {"tasks": found}


def judgment(call: ApiCall) -> Response:
    store, judge, assignment, sent = call.store, call.judge, call.task, call.body
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

    def store_in(connection: Connection) -> tuple[Receipt, Campaign, JudgeState]:
        row: Row[Any] | None = store.locked_judge(connection, judge, call.salt)
        campaign = store.campaign(connection)
        receipt = store.submit(connection, campaign, judge, assignment, submission)
        if campaign.design.block_rule is not None or panel_in(campaign.texts) is not None:
            row = None  # the rule may block, and an answer keeps the place
        return receipt, *judge_state(store, connection, judge, campaign, row)

    receipt, campaign, standing = store.retried(store_in)
    stored = {"stored": receipt.stored}
    if receipt.status == 409:
        message = "another answer is stored under this revision"
        raise ApiError(409, "conflict", message, "send the next revision", more=stored)
    answer = {**stored, "state": standing.state, "progress": standing.progress}
    answer |= call.finish(campaign, standing.state)
    if standing.learns:
        strings = load_texts(_language(campaign, standing), call.served.strings)
        with store.database.reading() as connection:
            feedback = feedback_on(connection, campaign.design, judge, assignment, strings)
        answer |= {"feedback": feedback} if feedback else {}
    return reply(answer, receipt.status)


def ping(call: ApiCall) -> dict[str, Any]:
    return {"expires": call.store.ping(call.judge, call.task)}


def give_back(call: ApiCall) -> dict[str, Any]:
    call.store.give_back(call.judge, call.task)
    return {}


# ---- The organiser's part of the API: figures, links, judges, texts, exports.

LONGEST_TEXT = 20_000  # characters


@dataclass(frozen=True)
class TextChanges:
    """Texts that take the place of others; None leaves one as it is."""

    instructions: str | None = None
    consent: str | None = None

    def __post_init__(self) -> None:
        if any(len(text or "") > LONGEST_TEXT for text in vars(self).values()):
            raise InputError("the text is too long", remedy=f"use {LONGEST_TEXT} characters")


@dataclass(frozen=True)
class QuotaChange:
    """The tasks that some judges get, or all of them."""

    tasks: Annotated[int, AtLeast(1)]
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class CampaignChanges:
    """What an organiser changes at once: the budget is that of the whole campaign."""

    texts: TextChanges | None = None
    quota: QuotaChange | None = None
    budget: Mapping[str, float] | None = None
    state: Literal["open", "paused", "closed"] | None = None

    def __post_init__(self) -> None:
        bounds = get_args(BudgetBound)
        if self.budget is not None and (len(self.budget) != 1 or not {*self.budget} <= {*bounds}):
            raise InputError("budget: no such budget", remedy=f"send one of {', '.join(bounds)}")


def change_campaign(call: ApiCall) -> dict[str, Any]:
    sent = call.body
    try:
        changes = RecordReader("").decode(CampaignChanges, sent)
    except InputError as error:
        name = re.match(r"\w*", error.problem)
        wrong = name[0] if name else None
        raise ApiError(422, "invalid", error.problem, error.remedy or "", wrong) from None
    with call.store.database.at_once() as database:
        if changes.texts is not None:
            texts = {name: text for name, text in vars(changes.texts).items() if text is not None}
            change_texts(database, texts)
        if changes.quota is not None:
            change_quota(database, changes.quota.tasks, changes.quota.names)
        for bound, amount in (changes.budget or {}).items():
            change_budget(database, bound, amount)  # type: ignore[arg-type]
        if changes.state is not None:
            change_state(database, changes.state)
    call.served.dashboard.asked.set()
    return {}


def page_part(call: ApiCall) -> Response:
    name = str(call.request.path_params["part"])
    if name not in PARTS:
        raise ApiError(404, "no_page", "there is no such part")
    tag, body = call.served.dashboard.part(name)
    if call.request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers={"etag": tag})
    return Response(body, media_type="application/json", headers={"etag": tag})


def _links(call: ApiCall, names: list[str]) -> dict[str, Any]:
    """The links of the judges named, or of all and of the panel; never the organiser's own."""
    found = links_of(call.store.database, call.served.signer.key, call.served.links, names)
    shown = found if names else found[1:]
    return {"links": [{"name": who, "link": link} for who, _, link in shown]}


def current_links(call: ApiCall) -> dict[str, Any]:
    return _links(call, call.names)


def change_named_judges(call: ApiCall) -> dict[str, Any]:
    """Add judges, or do the same to several of them; the answer has the links that are new."""
    action: Any = call.request.path_params.get("action")
    if not (names := call.names):
        raise ApiError(422, "invalid", "no names", "send a list of names", "names")
    if action is None:
        add_judges(call.store.database, names)
    elif action in get_args(JudgeChange):
        change_judges(call.store.database, action, names)
    else:
        raise ApiError(404, "no_page", "there is no such action")
    return _links(call, names) if action in (None, "rotate") else {"links": []}


def export(call: ApiCall) -> Response:
    form: Any = call.request.query_params.get("form", "jsonl")
    database = call.store.database
    if form == "texts":  # several files, so as one
        return StreamingResponse(parts_of(zip_texts(database)), media_type="application/zip")
    if form not in FORMS_OUT:
        raise ApiError(422, "invalid", "no such form", ", ".join((*FORMS_OUT, "texts")), "form")
    lines: Iterator[str] = (f"{line}\n" for line in export_lines(database, form))
    # What a form cannot hold is refused before anything is sent.
    first = [line for line in [next(lines, None)] if line is not None]
    return StreamingResponse(chain(first, lines), media_type="text/plain; charset=utf-8")


API_CALLS: tuple[tuple[str, str, Callable[[ApiCall], Any], Role], ...] = (
    ("me", "GET", me, "judge"),
    ("me", "DELETE", withdraw, "judge"),
    ("language", "POST", language, "judge"),
    ("join", "POST", join, ""),
    ("consent", "POST", consent, "judge"),
    ("tasks", "POST", tasks, "own"),
    ("tasks", "GET", earlier_tasks, "judge"),
    ("tasks/{task}/judgment", "PUT", judgment, "own"),
    ("tasks/{task}/ping", "POST", ping, "judge"),
    ("tasks/{task}/return", "POST", give_back, "judge"),
    ("admin/campaign", "PATCH", change_campaign, "admin"),
    ("admin/links", "POST", current_links, "admin"),
    ("admin/judges", "POST", change_named_judges, "admin"),
    ("admin/judges/{action}", "POST", change_named_judges, "admin"),
    ("admin/export", "GET", export, "admin"),
    ("admin/{part}", "GET", page_part, "admin"),
)
