"""The application of a campaign, called within this process, whose clock can be set."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx

from errata.web.address import Address
from errata.web.calls import Served
from errata.web.serving import application_of
from errata.web.tokens import token_for
from stored_campaigns import Made

KEY = b"k" * 32


class Client:
    """Calls of the application within this process, one at a time."""

    def __init__(self, campaign: Made) -> None:
        self.served = Served(campaign.store, KEY)
        self.app, self.dashboard = application_of(self.served, Address())

    def __call__(self, method: str, path: str, body: Any = None, *, who: int = 1) -> httpx.Response:
        role: Any = "judge" if who else "admin"
        headers = {"authorization": f"Bearer {token_for(KEY, role, who)}"}

        async def call() -> httpx.Response:
            self.served.threads = None  # belongs to one loop
            transport = httpx.ASGITransport(app=self.app)
            async with httpx.AsyncClient(transport=transport, base_url="http://x/api/v1/") as made:
                return await made.request(method, path, json=body, headers=headers)

        return asyncio.run(call())
