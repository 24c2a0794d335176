"""Judges as a program: many at once, with pauses, retries and lost connections.

What a judge notes as stored is exactly what the server called stored, which the tests compare with
the database.
"""

import asyncio
import random
import ssl
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx

CONTEXT = ssl.create_default_context()  # made once: nothing here is encrypted
PATIENCE = 20.0  # seconds for an answer, after which a call counts as lost


@dataclass
class Noted:
    """What the judges know: stored answers by (task, revision), and everything else they met."""

    stored: dict[tuple[str, int], Any] = field(default_factory=dict)
    lost: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
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
    """A judge who works until nothing is left, or until told to stop.

    A twentieth of the tasks is skipped, a tenth of the answers is changed, and a tenth sent twice,
    as after a lost reply.
    """

    port: int
    token: str
    seed: int
    noted: Noted
    pause: float = 0.0

    async def work(self, stop: Callable[[], bool]) -> None:
        rng = random.Random(self.seed)
        await asyncio.sleep(self.pause * rng.random() * 2)  # nobody comes at the same moment
        async with httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{self.port}/api/v1/",
            headers={"Authorization": f"Bearer {self.token}"},
            timeout=PATIENCE,
            trust_env=False,
            verify=CONTEXT,
        ) as client:

            async def call(method: str, path: str, body: Any) -> tuple[int, Any]:
                """Call until there is an answer that is no refusal for the moment."""
                while not stop():
                    try:
                        answer = await client.request(method, path, json=body)
                        status = answer.status_code
                        self.noted.statuses[status] += 1
                        if status not in (408, 429) and status < 500:
                            return status, answer.json()
                    except (httpx.TransportError, OSError, ValueError):
                        self.noted.lost += 1  # nothing is known of the call
                    await asyncio.sleep(0.05 + rng.random() * 0.3)
                return 0, None

            while not stop():
                status, body = await call("POST", "tasks", {"ahead": 2})
                if status != 200 or body["state"] in ("finished", "closed", "waiting"):
                    return
                await asyncio.sleep(0 if body["tasks"] else 0.05)
                for task in body["tasks"]:
                    await asyncio.sleep(self.pause * rng.random() * 2)  # to read it
                    await self._answer(task, call, rng)

    async def _answer(self, task: dict[str, Any], call: Any, rng: random.Random) -> None:
        for revision in (1, 2) if rng.random() < 0.1 else (1,):
            reply = {"skip": "undecided"} if rng.random() < 0.05 else {"answer": ranked(task, rng)}
            body = {"revision": revision, "active": 100, "total": 200, "comment": "", **reply}
            for _ in range(2 if rng.random() < 0.1 else 1):
                status, _ = await call("PUT", f"tasks/{task['id']}/judgment", body)
                if status not in (200, 201):
                    return
                key = (task["id"], revision)
                if status == 201 and key in self.noted.stored:
                    self.noted.forgotten.append(key)
                self.noted.stored[key] = reply


async def all_at_work(judges: list[SimulatedJudge], stop: Callable[[], bool]) -> None:
    """Let them work side by side."""
    await asyncio.gather(*(judge.work(stop) for judge in judges))
