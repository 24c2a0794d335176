"""The application: headers, pages, the API, and work in the background."""

from __future__ import annotations

import contextlib
import logging
import mimetypes
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

import anyio
from sqlalchemy import Connection, func, select, update
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from errata.collect.budget import check_interim, interim_points
from errata.collect.schedule import AFTER, strengths_of
from errata.collect.web.api import API_CALLS, ApiCall, Role, Served, localised_error, reply
from errata.collect.web.assignment_queries import main_answers, planned_judgments
from errata.collect.web.campaign import counts_between, load_earlier
from errata.collect.web.dashboard import Dashboard, GatheredJudgments
from errata.collect.web.database import Snapshots, error_text, record
from errata.collect.web.i18n import direction_of, load_texts
from errata.collect.web.judges import change_state
from errata.collect.web.schema import campaigns, events, schemas
from errata.collect.web.store import ApiError, AssignmentStore
from errata.core.errors import ErrataError, InputError, MissingExtraError, install_extra
from errata.human import DEFAULT_RANKER, parse_ranker
from errata.human.comparisons import Comparisons, Counts, compare_columns

# ---- What every answer carries: an ASGI layer around the application.

NOBODY = "'none'"


def answer_headers(frame: str = "", secure: bool = False) -> dict[str, str]:
    """The headers of every answer; ``frame`` is the one page that may frame ours, if any.

    >>> answer_headers()["x-content-type-options"]
    'nosniff'
    """
    policy = (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; form-action 'none'; base-uri 'none'; "
        f"frame-ancestors {frame or NOBODY}; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    )
    headers = {
        "content-security-policy": policy,
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "permissions-policy": "camera=(), microphone=(), geolocation=(), interest-cohort=()",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "x-robots-tag": "noindex",
    }
    if not frame:
        headers["x-frame-options"] = "DENY"
    if secure:
        headers["strict-transport-security"] = "max-age=31536000"
    return headers


class HeadersMiddleware:
    """The application with headers on every answer, also on those to its own faults."""

    def __init__(self, app: ASGIApp, headers: Mapping[str, str]) -> None:
        self.app, self.headers = app, headers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sent(message: Any) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self.headers)
            await send(message)

        await self.app(scope, receive, sent)


# ---- The application: pages out of templates that escape everything, files, and the API.

HEALTH_REMEMBERED = 5.0  # seconds
HEALTH_PATIENCE = 1.0
HEALTH_ROOM = 1 << 20  # bytes on the disk of a SQLite file
API = "/api/v1"


@cache
def _template_environment() -> Any:
    try:
        import jinja2
    except ImportError:
        raise MissingExtraError("jinja2", install_extra("web")) from None
    return jinja2.Environment(
        loader=jinja2.PackageLoader("errata.collect.web", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
    )


def _page_handler(name: str) -> Callable[[ApiCall], Response]:
    def page(call: ApiCall) -> Response:
        campaign = call.store.campaign()
        language = str(campaign.texts.get("language", "en"))
        text = (
            _template_environment()
            .get_template(f"{name}.html.j2")
            .render(
                title=campaign.name,
                language=language,
                direction=direction_of(language),
                strings=load_texts(language, call.served.strings),
            )
        )
        return Response(text, media_type="text/html")

    return page


async def health(request: Request) -> Response:
    """200 if a write succeeds within a second; remembered for some seconds."""
    served: Served = request.app.state.served
    then, well = served.health
    if time.monotonic() - then > HEALTH_REMEMBERED or not then:

        def write() -> None:
            database = served.store.database
            with database.writing() as connection:
                connection.execute(update(schemas).values(program=schemas.c.program))
            path = database.path  # a page may fit where an answer does not
            if path is not None and shutil.disk_usage(path.parent).free < HEALTH_ROOM:
                raise ApiError(503, "unavailable", "there is hardly any room")

        well = False
        with anyio.move_on_after(HEALTH_PATIENCE), contextlib.suppress(ApiError):
            # Not waited for to its end: a write that hangs is reported after a second.
            await served.run(write, abandoned=True)
            well = True
        served.health = (time.monotonic(), well)
    return reply({"status": "ok" if well else "unavailable"}, 200 if well else 503)


async def _error_response(request: Request, error: Exception) -> Response:
    """The answer to what a handler refused, or could not do."""
    if not isinstance(error, ApiError):
        status, code = (422, "refused") if isinstance(error, InputError) else (500, "error")
        return reply({"error": ApiError(status, code, str(error)).error}, status)
    headers = {}
    if error.status in (429, 503):
        headers["retry-after"] = "5"
    if error.status in (400, 408, 413):  # the rest of the body, if any, is not read
        headers["connection"] = "close"
    body = await localised_error(request.app.state.served, request, error)
    return reply(body, error.status, headers)


def application(served: Served) -> ASGIApp:
    """The ASGI application of a campaign."""

    def route(path: str, method: str, handler: Callable[[ApiCall], Any], role: Role) -> Route:
        async def handled(request: Request) -> Response:
            return await served.answer(request, handler, role)

        return Route(path, handled, methods=[method])

    mimetypes.add_type("text/javascript", ".js")  # whatever this machine calls it
    app = Starlette(
        routes=[
            route("/judge", "GET", _page_handler("judge"), ""),
            route("/admin", "GET", _page_handler("admin"), ""),
            route("/join/{key}", "GET", _page_handler("join"), ""),
            Mount("/static", StaticFiles(packages=[("errata.collect.web", "static")])),
            Route(f"{API}/health", health),
            *(route(f"{API}/{path}", how, what, who) for path, how, what, who in API_CALLS),
        ],
        exception_handlers={ApiError: _error_response, ErrataError: _error_response},
    )
    app.state.served = served
    return HeadersMiddleware(app, answer_headers(served.frame, served.secure))


# ---- What a campaign learns while it runs: strengths for ``adaptive`` pairs, and stop rules.


class BackgroundUpdates:
    """Renews what claims know of the systems, and looks at stop rules when a look is due."""

    def __init__(self, store: AssignmentStore, gathered: GatheredJudgments | None = None) -> None:
        self.store = store
        self.gathered = GatheredJudgments(store.database) if gathered is None else gathered
        self._counted = -AFTER

    def steer(self) -> None:
        """Do what is due; cheap where nothing is."""
        campaign = self.store.campaign()
        if campaign.design.policy == "adaptive":
            self.renew_strengths()
        if campaign.design.until and campaign.state == "open":
            self.look()

    def renew_strengths(self) -> bool:
        """Compute the strengths of the systems after every 25 judgments; return whether it did."""
        with self.store.database.reading() as connection:
            done, earlier = main_answers(connection), load_earlier(connection)
        if done - self._counted < AFTER:
            return False
        systems = self.store.campaign().systems
        counts = counts_between(compare_columns(self.gathered.read()), systems)
        if earlier is not None:  # started from, and not merged: nothing else sees them
            counts = Counts(counts.wins + earlier.wins, counts.ties + earlier.ties)
        self.store.strengths = strengths_of(counts)
        self._counted = done
        return True

    def look(self) -> bool:
        """Look at the stop rules if a look is due; says whether one was."""
        design = self.store.campaign().design
        with self.store.database.reading() as connection:
            done, wanted = main_answers(connection), planned_judgments(connection)
            made = _count_interim_looks(connection)
        due = sum(done >= at for at in interim_points(design, wanted))
        if made >= due:
            return False
        said, met = self._evaluated(compare_columns(self.gathered.read()))
        with self.store.database.writing() as connection:
            connection.execute(select(campaigns.c.id).with_for_update())  # one process looks
            if _count_interim_looks(connection) != made:
                return False
            for _ in range(due - made):  # looks that fell together are one, and count as all
                record(connection, "rule", "look", judgments=done, met=met, said=said)
        if met:
            change_state(self.store.database, "paused")
        return True

    def _evaluated(self, judged: Comparisons) -> tuple[list[str], bool]:
        design = self.store.campaign().design
        try:
            found = check_interim(design, judged, parse_ranker(DEFAULT_RANKER))
        except (InputError, ValueError) as error:  # too little to resample, or a system unmet
            return [str(error)], False
        return [look.found for look in found], all(look.met for look in found)


def _count_interim_looks(connection: Connection) -> int:
    made = select(func.count()).where(events.c.kind == "look")
    return int(connection.execute(made).scalar_one())


EVERY = 5.0  # seconds between two looks at what has changed
RESTING = 20  # times as long as the last one took, where that is longer: a twentieth of a core
# A database that is away or locked, a disk that is full: not the program's fault.
TROUBLES = (OperationalError, PoolTimeout, sqlite3.OperationalError, OSError)
LOG = logging.getLogger("errata.collect.web")


@contextmanager
def background(store: AssignmentStore, dashboard: Dashboard) -> Iterator[None]:
    """Snapshots and figures, now and then, until the server ends."""
    over = threading.Event()
    snapshots = Snapshots(store.database)
    steering = BackgroundUpdates(store, dashboard.gathered)
    steering.steer()  # before the first claim, which may need strengths

    def figures() -> None:
        if dashboard.due:
            dashboard.refresh()

    def work() -> None:
        jobs: tuple[Callable[[], object], ...] = (
            lambda: snapshots.take_if_due(store.wall()),
            steering.steer,
            figures,
        )
        while not over.is_set():
            dashboard.asked.clear()
            start = time.thread_time()
            for job in jobs:
                try:
                    job()
                except TROUBLES as error:  # a line: it may go on for hours
                    LOG.warning("in the background: %s", error_text(error))
                except Exception:  # the server goes on; what failed is tried again
                    LOG.exception("in the background")
            spent = time.thread_time() - start
            dashboard.asked.wait(max(EVERY, spent * RESTING))

    thread = threading.Thread(target=work, name="errata-background", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        dashboard.asked.set()
        thread.join(10)
