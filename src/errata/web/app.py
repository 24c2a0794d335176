"""The application: pages and health; calls of judges are in `judging`, others in `organising`."""

from __future__ import annotations

import shutil
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import anyio
from sqlalchemy import update
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from errata.errors import ErrataError, InputError
from errata.web.calls import ApiError, Served, reply, worded
from errata.web.headers import Guarded, answer_headers
from errata.web.judging import JUDGE_CALLS
from errata.web.pages import render_page, static_files
from errata.web.schema import schemas
from errata.web.store import Store
from errata.web.wording import direction_of, wording

__all__ = ["application"]

HEALTH_REMEMBERED = 5.0  # seconds
HEALTH_PATIENCE = 1.0
HEALTH_ROOM = 1 << 20  # bytes on the disk of a SQLite file


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
                return reply(await worded(served, request, error), error.status, headers)
            except InputError as error:
                refused = ApiError(422, "refused", str(error))
                return reply(refused.body, 422)
            except ErrataError as error:
                return reply(ApiError(500, "error", str(error)).body, 500)

        return Route(path, handled, methods=list(methods))

    api, calls = "/api/v1", (*JUDGE_CALLS, *more)
    routes = [
        route("/judge", _page("judge"), "GET"),
        route("/admin", _page("admin"), "GET"),
        route("/join/{key}", _page("join"), "GET"),
        route("/static/{name:path}", static, "GET"),
        route(f"{api}/health", health, "GET"),
        *(route(f"{api}/{path}", handler, *methods) for path, handler, methods in calls),
    ]
    app = Starlette(routes=routes)
    return Guarded(app, answer_headers(served.frame, served.secure))
