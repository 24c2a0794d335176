"""Judges as a program: many at once, with pauses, retries and lost connections.

What a judge notes as stored is exactly what the server called stored, which the tests compare with
the database.
"""

from __future__ import annotations

import asyncio
import random
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx

CONTEXT = ssl.create_default_context()  # made once: nothing here is encrypted
PATIENCE = 20.0  # seconds for an answer, after which a call counts as lost


class Lost(Exception):
    """The connection broke, or no answer came: nothing is known of the call."""


class Connection:
    """A kept-alive connection to a server on loopback."""

    def __init__(self, port: int, token: str) -> None:
        self.client = httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{port}/api/v1/",
            headers={"Authorization": f"Bearer {token}"},
            timeout=PATIENCE,
            trust_env=False,
            verify=CONTEXT,
        )

    async def call(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Return the status and the JSON of an answer; raise `Lost` where there is none."""
        try:
            answer = await self.client.request(method, path, json=body)
            return answer.status_code, answer.json() if answer.content else None
        except (httpx.TransportError, OSError, ValueError) as error:
            raise Lost(str(error)) from None

    async def close(self) -> None:
        await self.client.aclose()


@dataclass
class Noted:
    """What the judges know: stored answers by (task, revision), and everything else they met."""

    stored: dict[tuple[str, int], Any] = field(default_factory=dict)
    repeated: int = 0
    lost: int = 0
    statuses: dict[int, int] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    finished: int = 0
    forgotten: list[tuple[str, int]] = field(default_factory=list)  # stored, and then as if not


def ranked(task: dict[str, Any], rng: random.Random) -> Any:
    """An answer to a task of any kind, by chance."""
    keys = [output["key"] for output in task["outputs"]]
    if task["kind"] == "rank":
        return {key: rng.randint(1, len(keys)) for key in keys}
    if task["kind"] == "pair":
        return rng.choice(["A", "B", "equal", "bad"])
    if task["kind"] == "edits":
        return {each["key"]: rng.choice(["good", "bad", "unsure"]) for each in task["edits"]}
    if task["kind"] == "correct":
        return {"text": task["source"] + " !"} if rng.random() < 0.7 else {"unchanged": True}
    if task["kind"] == "review":
        return {"accept": True}
    return {s["name"]: rng.randint(s["low"], s["high"]) for s in task["scales"]}


@dataclass
class SimulatedJudge:
    """A judge who works until nothing is left, or until told to stop."""

    port: int
    token: str
    seed: int
    noted: Noted
    pause: float = 0.0
    change: float = 0.1  # share of answers that are changed once more
    again: float = 0.1  # share of stored answers that are sent a second time, as a lost reply is
    skip: float = 0.05
    most: int | None = None

    async def work(self, stop: Callable[[], bool]) -> None:
        rng = random.Random(self.seed)
        connection = Connection(self.port, self.token)
        done = 0
        await asyncio.sleep(self.pause * rng.random() * 2)  # nobody comes at the same moment
        try:
            while not stop() and (self.most is None or done < self.most):
                answer = await self._patiently(connection, "POST", "tasks", {"ahead": 2}, stop, rng)
                if answer is None:
                    return
                status, body = answer
                if status != 200 or not body["tasks"]:
                    if status == 200 and body["state"] in ("finished", "closed", "waiting"):
                        self.noted.finished += body["state"] == "finished"
                        return
                    await asyncio.sleep(0.05)
                    continue
                for task in body["tasks"]:
                    await asyncio.sleep(self.pause * rng.random() * 2)  # to read it
                    await self._answer(connection, task, stop, rng)
                    done += 1
        finally:
            await connection.close()

    async def _answer(
        self, connection: Connection, task: dict[str, Any], stop: Callable[[], bool], rng: Any
    ) -> None:
        for revision in (1, 2) if rng.random() < self.change else (1,):
            reply = (
                {"skip": "undecided"} if rng.random() < self.skip else {"answer": ranked(task, rng)}
            )
            body = {"revision": revision, "active": 100, "total": 200, "comment": "", **reply}
            for time in range(2 if rng.random() < self.again else 1):
                path = f"tasks/{task['id']}/judgment"
                answer = await self._patiently(connection, "PUT", path, body, stop, rng)
                if answer is None:
                    return
                status, _ = answer
                if status in (200, 201):
                    key = (task["id"], revision)
                    if status == 201 and key in self.noted.stored:
                        self.noted.forgotten.append(key)
                    self.noted.stored[key] = reply
                    self.noted.repeated += time
                else:
                    return

    async def _patiently(
        self,
        connection: Connection,
        method: str,
        path: str,
        body: Any,
        stop: Callable[[], bool],
        rng: random.Random,
    ) -> tuple[int, Any] | None:
        """Call until there is an answer that is no refusal for the moment."""
        loop = asyncio.get_running_loop()
        while not stop():
            start = loop.time()
            try:
                status, found = await connection.call(method, path, body)
            except Lost:
                self.noted.lost += 1
                await asyncio.sleep(0.05 + rng.random() * 0.3)
                continue
            self.noted.seconds.append(loop.time() - start)
            self.noted.statuses[status] = self.noted.statuses.get(status, 0) + 1
            if status in (408, 429) or status >= 500:
                await asyncio.sleep(0.05 + rng.random() * 0.3)
                continue
            return status, found
        return None


async def all_at_work(judges: list[SimulatedJudge], stop: Callable[[], bool]) -> None:
    """Let them work side by side."""
    await asyncio.gather(*(judge.work(stop) for judge in judges))
