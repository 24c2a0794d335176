"""The organiser's part of the API: figures, links, judges, texts, exports."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, get_args

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from errata.web.calls import ApiError, Served, body_of, reply
from errata.web.changing import BudgetBound, change_budget, change_quota, change_texts
from errata.web.dashboard import PARTS, Dashboard
from errata.web.export_archive import archived_texts, parts_of
from errata.web.exports import export_lines
from errata.web.forms import FORMS_OUT
from errata.web.participants import panel_in
from errata.web.people import (
    InvitedJudge,
    JudgeChange,
    act_on_judges,
    add_judges,
    change_state,
    invited,
)
from errata.web.store import Store
from errata.web.tokens import join_key, token_for

__all__ = ["Organiser"]

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
        served.claims(request, "admin")
        name = str(request.path_params["part"])
        if name not in PARTS:
            raise ApiError(404, "no_page", "there is no such part")
        tag, body = await served.run(self.dashboard.part, name)
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers={"etag": tag})
        return Response(body, media_type="application/json", headers={"etag": tag})

    async def change(self, served: Served, request: Request) -> Response:
        served.claims(request, "admin")
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

        def work(store: Store) -> None:
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
        served.claims(request, "admin")
        names = await self._names(request, some=False)

        def work(store: Store) -> list[InvitedJudge]:
            with store.database.reading() as connection:
                return [j for j in invited(connection) if not names or j.name in names]

        found = await served.run(work, served.store)
        campaign = await served.run(served.store.campaign)
        door = []
        if not names and (panel := panel_in(campaign.texts)) is not None:
            link = f"{self.links}join/{join_key(served.key)}"
            door = [{"name": f"panel {panel.provider}", "link": link}]
        return self._links(served, found, door)

    async def added(self, served: Served, request: Request) -> Response:
        served.claims(request, "admin")
        names = await self._names(request)
        found = await served.run(
            lambda store: add_judges(store.database, names, now=store.wall()), served.store
        )
        return self._links(served, found)

    async def acted(self, served: Served, request: Request) -> Response:
        served.claims(request, "admin")
        names = await self._names(request)
        action = str(request.path_params["action"])
        if action not in get_args(JudgeChange):
            raise ApiError(404, "no_page", "there is no such action")
        wanted: Any = action
        store = served.store
        rotated = await served.run(act_on_judges, store.database, wanted, names, now=store.wall())
        return self._links(served, rotated)

    async def export(self, served: Served, request: Request) -> Response:
        served.claims(request, "admin")
        form: Any = request.query_params.get("form", "jsonl")
        if form == "texts":  # several files, so as one
            file = await served.run(archived_texts, served.store.database)
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
        key: Callable[[InvitedJudge], str] = lambda judge: token_for(  # noqa: E731
            served.key, "judge", judge.id, judge.generation
        )
        links = [{"name": each.name, "link": f"{self.links}judge#{key(each)}"} for each in found]
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
