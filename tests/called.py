"""The application of a campaign, called within this process, whose clock can be set."""

import asyncio
import json
from typing import Any

import httpx

from errata.collect.web.api import Served
from errata.collect.web.app import application
from errata.collect.web.panel import panel_in
from errata.collect.web.server import Address
from stored_campaigns import Made, signer_of, token_of

KEY = b"k" * 32


class Client:
    """Calls of the application within this process, one at a time; judge 0 is the organiser."""

    def __init__(self, campaign: Made, calls: int = 1_000_000) -> None:
        panel = panel_in(campaign.store.campaign().texts)
        self.served = Served(
            campaign.store,
            signer_of(campaign.database, KEY),
            panel.frame if panel else "",
            links=Address().links,
        )
        self.served.limiter.limits["call"] = calls
        self.app, self.dashboard = application(self.served), self.served.dashboard

    def __call__(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        who: int = 1,
        token: str | None = None,
        **headers: str,
    ) -> httpx.Response:
        token = token_of(self.served.store.database, KEY, who) if token is None else token
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        headers |= {"authorization": f"Bearer {token}"} if token else {}
        content = body if isinstance(body, bytes | None) else json.dumps(body).encode()

        async def call() -> httpx.Response:
            self.served.threads = None  # belongs to one loop
            transport = httpx.ASGITransport(app=self.app)
            async with httpx.AsyncClient(transport=transport, base_url="http://x/api/v1/") as made:
                return await made.request(method, path, headers=headers, content=content)

        return asyncio.run(call())

    def claim(self, who: int = 1) -> dict[str, Any] | None:
        """Return the next task of a judge; None where there is none."""
        answer = self("POST", "tasks", {"ahead": 1}, who=who)
        assert answer.status_code == 200, answer.text
        return next(iter(answer.json()["tasks"]), None)

    def task(self, who: int = 1) -> dict[str, Any]:
        """Return the next task of a judge, which there must be."""
        found = self.claim(who)
        assert found is not None
        return found

    def answer(
        self, task: dict[str, Any], answer: Any = None, *, who: int = 1, **more: Any
    ) -> httpx.Response:
        """Send an answer: ranks of 1 for everything unless another is given."""
        if answer is None and "skip" not in more:
            answer = {output["key"]: 1 for output in task["outputs"]}
        body = {"revision": 1, "answer": answer} | more
        if "skip" in more:
            del body["answer"]
        return self("PUT", f"tasks/{task['id']}/judgment", body, who=who)

    def state(self, who: int = 1) -> str:
        """Return what a judge's page is told when it asks for a task."""
        body = self("POST", "tasks", {"ahead": 1}, who=who).json()
        assert not body["tasks"] or body["state"] in ("working", "tutorial")
        return str(body["state"])
