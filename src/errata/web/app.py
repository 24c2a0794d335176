"""The application: pages, the API of judges, and health; the organiser's part is in `organising`.

Handlers only translate: what is asked is read from the request, what happens is the store's, and
its refusals become statuses. A 2xx for an answer is sent after the store has committed it.
"""

from __future__ import annotations

import contextlib
import hmac
import json
import logging
import shutil
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, TypeVar

import anyio
import anyio.to_thread
from sqlalchemy import select, update
from sqlalchemy.exc import InterfaceError, InternalError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from errata.collect.answers import AnswerError
from errata.collect.assigning import Holding
from errata.errors import ErrataError, InputError
from errata.web.answering import SentAnswer
from errata.web.database import said_by
from errata.web.events import record
from errata.web.headers import Guarded, answer_headers
from errata.web.languages import all_consents, choose_language, text_in
from errata.web.learning import feedback_on
from errata.web.limits import Limiter, Malformed, read_json
from errata.web.pages import render_page, static_files
from errata.web.participants import finish_of, join_panel, release_early
from errata.web.people import set_state_of_judge
from errata.web.prose import read_prose
from errata.web.schema import judges, schemas
from errata.web.standing import JudgeStanding, consent_version, judge_standing
from errata.web.store import Campaign, ForbiddenError, Store
from errata.web.tokens import Claims, campaign_mark, join_key, read_token, token_for
from errata.web.wording import direction_of, error_in, preferred, wording

__all__ = ["Served", "application"]

T = TypeVar("T")
HEALTH_REMEMBERED = 5.0  # seconds
HEALTH_PATIENCE = 1.0
HEALTH_ROOM = 1 << 20  # bytes on the disk of a SQLite file
THREADS = 8  # at work in the database at once; as many connections are kept
MOST_AHEAD = 2
LOG = logging.getLogger("errata.web")


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
    """What the handlers share: the store, the key of the tokens, limits and threads."""

    store: Store
    key: bytes
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
            LOG.warning("the database: %s", said_by(error))
            self.health = (time.monotonic(), False)
            raise ApiError(503, "unavailable", *_trouble(error)) from None

    def claims(self, request: Request, role: str) -> Claims:
        """Who is calling, by the token; failures are counted by address."""
        client = request.client.host if request.client else ""
        if not self.limiter.allowed("failure", client, count=False):
            raise ApiError(429, "too_many", "too many links that do not work", "wait a minute")
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        found = read_token(self.key, token) if scheme.lower() == "bearer" else None
        if found is None or found.role != role:
            self.limiter.allowed("failure", client)
            raise ApiError(401, "link", "this link does not work", "ask for a new one")
        if not self.limiter.allowed("call", f"{found.role}{found.judge}"):
            raise ApiError(429, "too_many", "too many calls", "wait a minute")
        return found

    async def judge(self, request: Request) -> int:
        """The judge who calls, by a link that still holds."""
        claims = self.claims(request, "judge")
        request.state.judge = claims.judge
        if await self.run(self.store.generation, claims.judge) != claims.generation:
            raise ApiError(401, "link", "this link was replaced", "ask for the new one")
        return claims.judge


async def _worded(served: Served, request: Request, error: ApiError) -> dict[str, Any]:
    """An error in the judge's language; of who is not known, in that of the browser."""
    language = preferred(request.headers.get("accept-language", ""))
    judge = getattr(request.state, "judge", None)
    if judge is not None:

        def own(store: Store) -> str:
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
    said = said_by(error).lower()
    if "full" in said or "no space" in said:
        return "there is no room to store anything", "the organiser must make room on the disk"
    return "the database cannot be reached", "the page tries again by itself"


async def body_of(request: Request) -> dict[str, Any]:
    """The JSON object of a request."""
    try:
        return read_json(await request.body())
    except Malformed as error:
        raise ApiError(400, "malformed", str(error), "send a JSON object") from None


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
    judge = await served.judge(request)
    if request.method == "GET":
        return await _earlier(served, judge, request)
    sent = await body_of(request)
    ahead = sent.get("ahead", 1)
    if type(ahead) is not int or not 1 <= ahead <= MOST_AHEAD:
        raise ApiError(422, "invalid", "ahead is 1 or 2", "send one of them", "ahead")

    def claim(store: Store) -> dict[str, Any]:
        campaign, standing = _standing(store, judge)
        if standing.state not in ("working", "tutorial"):
            finish = _finish(store, campaign, judge, standing.state)
            return {"tasks": [], "state": standing.state, "progress": standing.progress, **finish}
        known: list[int] = []
        why = ""
        for _ in range(1 if standing.state == "tutorial" else ahead):
            found = store.claim(judge, known=known, ahead=ahead)
            if not isinstance(found, Holding):
                why = found.reason  # type: ignore[union-attr]
                break
            known.append(found.assignment)
        taken = [_sent(campaign, store.task(judge, assignment)) for assignment in known]
        state = standing.state if taken else _after(why)
        if why in ("nothing", "budget") and not taken and release_early(store, campaign, judge):
            state = "finished"  # whoever came from a panel is not kept waiting
        finish = _finish(store, campaign, judge, state)
        return {"tasks": taken, "state": state, "progress": standing.progress, **finish}

    return reply(await served.run(claim, served.store))


def _after(why: str) -> str:
    """The state of the page when there is no task."""
    return {"nothing": "waiting", "leases": "waiting", "budget": "finished"}.get(why, why)


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
    judge = await served.judge(request)
    assignment = _number(request)
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
        receipt = store.submit(judge, assignment, submission)
        campaign, standing = _standing(store, judge)
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
        return reply(await _worded(served, request, error) | {"stored": body["stored"]}, 409)
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


async def health(served: Served, request: Request) -> Response:
    """200 if a write succeeds within a second; remembered for some seconds."""
    then, well = served.health
    if time.monotonic() - then > HEALTH_REMEMBERED or not then:

        def write(store: Store) -> None:
            with store.database.writing() as connection:
                connection.execute(update(schemas).values(program=schemas.c.program))
            path = store.database.path  # a page may fit where an answer does not
            if path is not None and shutil.disk_usage(path.parent).free < HEALTH_ROOM:
                raise ApiError(503, "unavailable", "there is hardly any room")

        well = False
        with anyio.move_on_after(HEALTH_PATIENCE):
            try:
                # Not waited for to its end: a write that hangs is told after a second.
                await served.run(write, served.store, abandoned=True)
                well = True
            except ApiError:
                pass
        served.health = (time.monotonic(), well)
    return reply({"status": "ok" if well else "unavailable"}, 200 if well else 503)


def _page(name: str) -> Callable[[Served, Request], Awaitable[Response]]:
    async def page(served: Served, request: Request) -> Response:
        campaign = await served.run(served.store.campaign)
        language = str(campaign.texts.get("language", "en"))
        text = render_page(
            f"{name}.html.j2",
            title=campaign.name,
            language=language,
            direction=direction_of(language),
            strings=wording(language, served.strings),
        )
        return Response(text, media_type="text/html")

    return page


async def static(served: Served, request: Request) -> Response:
    """Scripts and styles, out of the package; nothing else is reachable."""
    name = str(request.path_params["name"])
    found = static_files().get(name)
    if found is None:
        raise ApiError(404, "no_page", "there is no such file")
    tag, content, kind = found
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers={"etag": tag})
    return Response(content, media_type=kind, headers={"etag": tag})


def application(served: Served, more: Sequence[tuple[str, Any, Sequence[str]]] = ()) -> Any:
    """The ASGI application of a campaign; ``more`` are handlers below the API."""

    def route(path: str, handler: Any, *methods: str) -> Route:
        async def handled(request: Request) -> Response:
            try:
                answer: Response = await handler(served, request)
                return answer
            except ApiError as error:
                headers = {"retry-after": "5"} if error.status in (429, 503) else None
                return reply(await _worded(served, request, error), error.status, headers)
            except InputError as error:
                refused = ApiError(422, "refused", str(error))
                return reply(refused.body, 422)
            except ErrataError as error:
                return reply(ApiError(500, "error", str(error)).body, 500)

        return Route(path, handled, methods=list(methods))

    api = "/api/v1"
    routes = [
        route("/judge", _page("judge"), "GET"),
        route("/admin", _page("admin"), "GET"),
        route("/join/{key}", _page("join"), "GET"),
        route("/static/{name:path}", static, "GET"),
        route(f"{api}/me", me, "GET"),
        route(f"{api}/me", withdraw, "DELETE"),
        route(f"{api}/language", language, "POST"),
        route(f"{api}/join", join, "POST"),
        route(f"{api}/consent", consent, "POST"),
        route(f"{api}/tasks", tasks, "POST", "GET"),
        route(f"{api}/tasks/{{task}}/judgment", judgment, "PUT"),
        route(f"{api}/tasks/{{task}}/ping", ping, "POST"),
        route(f"{api}/tasks/{{task}}/return", give_back, "POST"),
        route(f"{api}/health", health, "GET"),
        *(route(f"{api}/{path}", handler, *methods) for path, handler, methods in more),
    ]
    app = Starlette(routes=routes)
    return Guarded(app, answer_headers(served.frame, served.secure))
