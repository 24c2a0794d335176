"""A campaign of 100,000 judgments, 15 systems and 300 judges."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import numpy as np
from sqlalchemy import insert, update

from campaigns import material
from errata.collect.answers import content_digest
from errata.collect.design import Design
from errata.collect.items import build_items
from errata.collect.web.database import Database, create_database
from errata.collect.web.judges import add_judges, change_state, fill_campaign
from errata.collect.web.schema import assignments, items, judgments


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
