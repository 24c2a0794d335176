"""What a request to a large campaign costs in processor time and memory.

Times are printed; they are asserted only within ten times what they usually are, in processor time
relative to plain Python, so that nothing fails because a machine is slow or busy.
"""

from __future__ import annotations

import json
import os
import time
import tracemalloc
import urllib.request
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from sqlalchemy import insert, update

from campaigns import material
from errata.cli.collect import command
from errata.collect.answers import content_digest
from errata.collect.assignment import KeepCurrent
from errata.collect.design import Design
from errata.collect.items import build_items, task_of
from errata.collect.web.database import Database, create_database, open_database
from errata.collect.web.judges import add_judges, change_state, fill_campaign, invited
from errata.collect.web.schema import assignments, items, judgments
from errata.collect.web.store import AssignmentStore, SubmittedAnswer
from processes import wait_until
from served import Server, served_by_process
from stored_campaigns import held_task, next_task, submit_answer

REQUEST_MS, CLAIM_MS = 8, 15  # of processor time, usually less
MEGABYTES = 250  # that a server may take
PLAIN_S = 0.125  # of processor time, for `plain_work`, where these limits were set
GENEROUS = 10


def processor_ms(server: Server) -> float:
    """Processor time that a server has taken, all its threads together."""
    assert server.process is not None
    words = Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def megabytes(server: Server) -> float:
    """The most memory that a server has had."""
    assert server.process is not None
    lines = Path(f"/proc/{server.process.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def plain_work() -> float:
    """Seconds of processor time for a piece of plain Python, the least of three."""
    page = {str(k): [k, str(k) * 3, {"a": k}] for k in range(300)}
    taken = []
    for _ in range(3):
        start = time.process_time()
        for _ in range(300):
            json.loads(json.dumps(page))
            sorted(page, key=lambda k: str(page[k][1]))
        taken.append(time.process_time() - start)
    return min(taken)


def assert_cheap(**costs: tuple[float, float]) -> None:
    """Print what each costs relative to its limit; fail only where it is many times as much."""
    slower = max(1.0, plain_work() / PLAIN_S)
    for what, (cost, limit) in costs.items():
        print(f"{what}: {cost:.2f}, {cost / slower / limit:.2f} of its limit")
    assert not [w for w, (cost, limit) in costs.items() if cost / slower > GENEROUS * limit]


def lines_of(server: Server, path: str) -> int:
    """How many lines an export has, read as it comes."""
    headers = {"Authorization": f"Bearer {server.admin}"}
    asked = urllib.request.Request(f"{server.address}api/v1/{path}", headers=headers)
    with urllib.request.urlopen(asked, timeout=300) as answer:
        return sum(1 for _ in answer)


def large_campaign(
    path: Path, *, judgments_: int = 100_000, systems: int = 15, judges: int = 300
) -> Database:
    """Make a campaign with nine tenths of its items judged; no judge sees a sentence twice."""
    sentences = max(200, judgments_ // 40)
    design = Design(judges=judges, rankings=round(judgments_ / 0.9), seed=1)
    texts = material(sentences, systems, 1, sharing=0.1)
    built = build_items(design, texts, design.rankings)
    database = create_database(str(path))
    fill_campaign(database, design, texts, built, name="large")
    invited = add_judges(database, [f"judge {k}" for k in range(judges)])
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
                    "shown": order,
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
                    "answer": answer,
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
    change_state(database, "open")
    return database


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign of 100,000 judgments, which takes a minute to make."""
    path = tmp_path_factory.mktemp("large") / "large.db"
    large_campaign(path).close()
    return path


def cost_of_requests(database: Database, requests: int = 200) -> dict[str, list[float]]:
    """Processor milliseconds of claims, of reading tasks and of answers, by different judges."""
    store = AssignmentStore(database, rng=np.random.default_rng(1))
    design = store.campaign().design
    with database.reading() as connection:
        judges = [judge.id for judge in invited(connection)]
    found: dict[str, list[float]] = {"claim": [], "task": [], "submit": []}
    for k in range(requests):
        judge = judges[k * 7 % len(judges)]
        times = [time.process_time()]
        held = next_task(store, judge)
        times.append(time.process_time())
        assert isinstance(held, KeepCurrent), held
        task = held_task(store, judge, held.assignment)
        times.append(time.process_time())
        ranks = {output["key"]: 1 for output in task_of(design, task.shown)["outputs"]}
        submit_answer(
            store, judge, held.assignment, SubmittedAnswer(task.last + 1, ranks, active_ms=9000)
        )
        times.append(time.process_time())
        for what, taken in zip(found, np.diff(times), strict=True):
            found[what].append(1000 * float(taken))
    return found


@pytest.mark.long
def test_large_campaign_is_served_soon_and_in_little_memory(large: Path) -> None:
    database = open_database(str(large))
    costs = cost_of_requests(database)
    database.close()
    limits = {"claim": CLAIM_MS, "task": REQUEST_MS, "submit": REQUEST_MS}
    assert_cheap(**{k: (float(np.quantile(costs[k], 0.95)), limits[k]) for k in limits})
    with served_by_process(str(large)) as server:
        wait_until(lambda: server.call("GET", "admin/ranking", token=server.admin)[1]["tables"])
        judges = server.call("GET", "admin/judges", token=server.admin)[1]
        assert len(judges["tables"][0]["rows"]) == 300
        before = processor_ms(server)
        for _ in range(50):
            for part in ("status", "ranking", "judges", "items"):
                assert server.call("GET", f"admin/{part}", token=server.admin)[0] == 200
        cost = (processor_ms(server) - before) / 200
        assert lines_of(server, "admin/export?form=jsonl") >= 100_000
        print(f"{megabytes(server):.0f} MB with figures and an export")
        assert megabytes(server) <= MEGABYTES
    assert_cheap(organiser=(cost, REQUEST_MS))


@pytest.mark.long
@pytest.mark.parametrize("form", ["jsonl", "details"])
def test_form_is_written_without_being_held(tmp_path: Path, form: str) -> None:
    """The export command keeps batches of rows in memory, whatever the size of the form."""
    large_campaign(tmp_path / "x.db", judgments_=10_000, systems=12, judges=60).close()
    path = tmp_path / "out.jsonl"
    wanted = ["export", str(tmp_path / "x.db"), "--form", form, "-o", str(path)]
    CliRunner().invoke(command, [*wanted[:-1], str(tmp_path / "first.jsonl")])  # imports aside
    tracemalloc.start()
    try:
        result = CliRunner().invoke(command, wanted)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert result.exit_code == 0, result.output
    written = path.read_bytes()
    assert written.count(b"\n") > 5_000
    print(f"{form}: {len(written) / 1e6:.1f} MB written, {most / 1e6:.1f} MB held")
    assert most < 3.6e6
    assert (tmp_path / "first.jsonl").read_bytes() == written
