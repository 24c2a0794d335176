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
from collections import Counter
from contextlib import closing
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
from errata.collect.web.judges import add_judges, change_state, fill_campaign
from errata.collect.web.schema import assignments, items, judgments
from errata.collect.web.store import AssignmentStore, SubmittedAnswer
from processes import wait_until
from served import Server, served_by_process
from stored_campaigns import held_task, next_task, submit_answer

LIMIT_MS = 15  # of processor time, usually less
MEGABYTES = 250  # that a server may take
PLAIN_S = 0.125  # of processor time, for `plain_work`, where these limits were set
GENEROUS = 10
EXPORT = "api/v1/admin/export?form=jsonl"


def processor_ms(server: Server) -> float:
    """Processor time that a server has taken, all its threads together."""
    assert server.process is not None
    words = Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) * 1000 / os.sysconf("SC_CLK_TCK")


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


def large_campaign(path: Path, most: int, systems: int, judges: int) -> None:
    """Make a campaign with nine tenths of its items judged; no judge sees a sentence twice."""
    design = Design(judges=judges, rankings=round(most / 0.9), seed=1)
    texts = material(max(200, most // 40), systems, 1, sharing=0.1)
    built = build_items(design, texts, design.rankings)
    database = create_database(str(path))
    fill_campaign(database, design, texts, built, name="large")
    people = [each.id for each in add_judges(database, [f"judge {k}" for k in range(judges)])]
    rng = np.random.default_rng(0)
    seen: set[tuple[int, int]] = set()
    given, answers = [], []
    for k, item in enumerate(built.items, 1):
        if item.purpose != "main":
            continue
        for nth in range(item.wanted or 0):
            number = len(given) + 1
            if number > most or (nth and rng.random() < 0.1):  # some wait for a second
                break
            judge = next(j for j in rng.choice(people, 200) if (j, item.sentence) not in seen)
            seen.add((judge, item.sentence))
            order = rng.permutation(len(item.outputs)).tolist()
            letters = "ABCDE"[: len(order)]
            answer = {letter: int(rng.integers(1, 6)) for letter in letters}
            row = {"id": number, "item": k, "judge": int(judge), "shown": order, "letters": letters}
            given.append({**row, "state": "done", "opened": number, "expires": number})
            row = {"assignment": number, "revision": 1, "answer": answer, "comment": ""}
            times = {"active_ms": 5000 + number % 50_000, "server_time": 1_700_000_000_000 + number}
            answers.append({**row, **times, "digest": content_digest(answer, None, "")})
    with database.writing() as connection:
        connection.execute(insert(assignments), given)
        connection.execute(insert(judgments), answers)
        for k, done in Counter(each["item"] for each in given).items():
            connection.execute(update(items).where(items.c.id == k).values(given=done))
    change_state(database, "open")
    database.close()


def cost_of_requests(database: Database) -> dict[str, float]:
    """Processor milliseconds of claims, of reading tasks and of answers: the 95th percentile."""
    store = AssignmentStore(database, rng=np.random.default_rng(1))
    design = store.campaign().design
    times = []
    for judge in range(1, 201):
        clock = [time.process_time()]
        held = next_task(store, judge)
        clock.append(time.process_time())
        assert isinstance(held, KeepCurrent), held
        task = held_task(store, judge, held.assignment)
        clock.append(time.process_time())
        ranks = {output["key"]: 1 for output in task_of(design, task.shown)["outputs"]}
        sent = SubmittedAnswer(task.last + 1, ranks, active_ms=9000)
        submit_answer(store, judge, held.assignment, sent)
        clock.append(time.process_time())
        times.append(np.diff(clock) * 1000)
    found = np.quantile(times, 0.95, axis=0).tolist()
    return dict(zip(("claim", "task", "submit"), found, strict=True))


@pytest.mark.long
def test_large_campaign_is_served_soon_and_in_little_memory(tmp_path: Path) -> None:
    large = tmp_path / "large.db"
    large_campaign(large, 100_000, 15, 300)
    with closing(open_database(str(large))) as database:
        costs = cost_of_requests(database)
    with served_by_process(str(large)) as server:
        wait_until(lambda: server.call("GET", "admin/ranking", token=server.admin)[1]["tables"])
        judges = server.call("GET", "admin/judges", token=server.admin)[1]
        assert len(judges["tables"][0]["rows"]) == 300
        before = processor_ms(server)
        for _ in range(50):
            for part in ("status", "ranking", "judges", "items"):
                assert server.call("GET", f"admin/{part}", token=server.admin)[0] == 200
        costs["organiser"] = (processor_ms(server) - before) / 200
        headers = {"Authorization": f"Bearer {server.admin}"}
        asked = urllib.request.Request(f"{server.address}{EXPORT}", headers=headers)
        with urllib.request.urlopen(asked, timeout=300) as answer:  # read as it comes
            assert sum(1 for _ in answer) >= 100_000
        assert server.process is not None
        lines = Path(f"/proc/{server.process.pid}/status").read_text().splitlines()
        held = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024
        print(f"{held:.0f} MB with figures and an export")
        assert held <= MEGABYTES
    slower = max(1.0, plain_work() / PLAIN_S)
    print(f"{costs} ms of processor time, on a machine {slower:.1f} times slower than usual")
    assert max(costs.values()) < GENEROUS * LIMIT_MS * slower


@pytest.mark.long
@pytest.mark.parametrize("form", ["jsonl", "details"])
def test_form_is_written_without_being_held(tmp_path: Path, form: str) -> None:
    """The export command keeps batches of rows in memory, whatever the size of the form."""
    large_campaign(tmp_path / "x.db", 10_000, 12, 60)
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
