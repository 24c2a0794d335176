"""What every call shares: who is calling, work in threads, and refusals as statuses."""

from __future__ import annotations

import contextlib
import json
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import anyio
import anyio.to_thread
from sqlalchemy import select
from sqlalchemy.exc import InterfaceError, InternalError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.requests import Request
from starlette.responses import Response

from errata.collect.answers import AnswerError
from errata.web.database import said_by
from errata.web.limits import Limiter, Malformed, read_json
from errata.web.schema import judges
from errata.web.store import ForbiddenError, Store
from errata.web.tokens import Claims, read_token
from errata.web.wording import error_in, preferred

__all__ = ["ApiError", "Served", "body_of", "reply", "worded"]

T = TypeVar("T")
THREADS = 8  # at work in the database at once; as many connections are kept
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

    def judge_claims(self, request: Request) -> Claims:
        """Who the link says is calling; whether it still holds is known in the database alone."""
        claims = self.claims(request, "judge")
        request.state.judge = claims.judge
        return claims

    async def judge(self, request: Request) -> int:
        """The judge who calls, by a link that still holds."""
        claims = self.judge_claims(request)
        if await self.run(self.store.generation, claims.judge) != claims.generation:
            raise ApiError(401, "link", "this link was replaced", "ask for the new one")
        return claims.judge


async def worded(served: Served, request: Request, error: ApiError) -> dict[str, Any]:
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
