"""A campaign of 100,000 judgments, 15 systems and 300 judges: what does a request cost?"""

from __future__ import annotations

import json
import sys
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
from sqlalchemy import insert, update

from campaigns import material
from errata.collect.answers import content_digest
from errata.collect.assigning import Holding
from errata.collect.design import Design
from errata.collect.items import build_items
from errata.web.answering import SentAnswer
from errata.web.database import Database, create_database
from errata.web.people import add_judges, change_state, fill_campaign
from errata.web.schema import assignments, items, judgments
from errata.web.store import Store


def large_campaign(
    path: Path, *, judgments_: int = 100_000, systems: int = 15, judges: int = 300
) -> Database:
    """Make it: all items but the last tenth are judged, by judges who saw no sentence twice."""
    sentences = max(200, judgments_ // 40)
    design = Design(judges=judges, rankings=round(judgments_ / 0.9), seed=1)
    texts = material(sentences, systems, 1, sharing=0.1)
    built = build_items(design, texts, design.rankings)
    database = create_database(str(path))
    fill_campaign(database, design, texts, built, name="large", now=0)
    invited = add_judges(database, [f"judge {k}" for k in range(judges)], now=0)
    rng = np.random.default_rng(0)
    seen: dict[int, set[int]] = defaultdict(set)
    given, answers, counts = [], [], []
    number = 0
    for k, item in enumerate(built.items, 1):
        if item.purpose != "main" or number >= judgments_:
            continue
        done = 0
        for _ in range(item.wanted or 0):
            if number >= judgments_ or (done and rng.random() < 0.1):  # some wait for a second
                break
            judge = int(rng.integers(judges))
            while item.sentence in seen[judge]:
                judge = int(rng.integers(judges))
            seen[judge].add(item.sentence)
            number += 1
            done += 1
            order = rng.permutation(len(item.outputs)).tolist()
            answer = {"ABCDE"[place]: int(rng.integers(1, 6)) for place in range(len(order))}
            given.append(
                {
                    "id": number,
                    "item": k,
                    "judge": invited[judge].id,
                    "shown": json.dumps(order),
                    "letters": "ABCDE"[: len(order)],
                    "state": "done",
                    "opened": number,
                    "expires": number,
                }
            )
            answers.append(
                {
                    "assignment": number,
                    "revision": 1,
                    "answer": json.dumps(answer),
                    "comment": "",
                    "active_ms": int(rng.integers(5000, 60000)),
                    "server_time": 1_700_000_000_000 + number,
                    "digest": content_digest(answer, None, ""),
                }
            )
        counts.append((k, done))
    with database.writing() as connection:
        connection.execute(insert(assignments), given)
        connection.execute(insert(judgments), answers)
        for k, done in counts:
            connection.execute(update(items).where(items.c.id == k).values(given=done))
    change_state(database, "open", now=1)
    return database


def cost_of_requests(database: Database, requests: int = 200) -> dict[str, list[float]]:
    """Processor milliseconds of claims, of reading tasks and of answers, by different judges."""
    store = Store(database, rng=np.random.default_rng(1))
    store.rehearse()
    from errata.web.people import invited

    with database.reading() as connection:
        judges = [judge.id for judge in invited(connection)]
    found: dict[str, list[float]] = {"claim": [], "task": [], "submit": []}

    def timed(what: str, start: float) -> None:
        found[what].append((time.process_time() - start) * 1000)

    for k in range(requests):
        judge = judges[k * 7 % len(judges)]
        start = time.process_time()
        held = store.claim(judge)
        timed("claim", start)
        assert isinstance(held, Holding), held
        start = time.process_time()
        task = store.task(judge, held.assignment)
        timed("task", start)
        ranks = {output["key"]: 1 for output in task.body["outputs"]}
        start = time.process_time()
        store.submit(judge, held.assignment, SentAnswer(task.revision, ranks, active_ms=9000))
        timed("submit", start)
    return found


def main() -> None:
    path = Path(sys.argv[1])
    start = time.process_time()
    if not path.exists():
        large_campaign(path)
        print(f"made in {time.process_time() - start:.1f} s")
    from errata.web.database import open_database

    for what, times in cost_of_requests(open_database(str(path))).items():
        middle, most = np.median(times), np.quantile(times, 0.95)
        print(f"{what}: {middle:.2f} ms (95 %: {most:.2f}, largest {max(times):.2f})")


if __name__ == "__main__":
    main()
