"""What the organiser's figures read bit by bit is what an export reads whole."""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
import pytest

from errata.collect.assigning import Holding
from errata.collect.design import Design
from errata.human import compare
from errata.web.answering import SentAnswer
from errata.web.dashboard import PARTS, Dashboard
from errata.web.exports import judgments_in
from errata.web.gathering import GatheredJudgments
from errata.web.people import forget_judge, set_state_of_judge
from large_campaign import large_campaign
from stored_campaigns import Made, made

FIGURES_S = 3  # of processor time


def answer(campaign: Made, rng: np.random.Generator, judge: int, *, again: bool) -> None:
    """A judge answers a task, skips it, or thinks better of an earlier answer."""
    who, store = campaign.judges[judge].id, campaign.store
    campaign.clock.now += int(rng.integers(1, 5000))
    held = store.claim(who)
    assert isinstance(held, Holding)
    task = store.task(who, held.assignment)
    many = [output["key"] for output in task.body["outputs"]]
    for revision in (1, 2) if again else (1,):
        ranks = {key: int(rng.integers(1, 4)) for key in many}
        skip = rng.random() < 0.1
        sent = SentAnswer(revision, None if skip else ranks, "undecided" if skip else None)
        store.submit(who, held.assignment, sent)


def test_it_holds_what_is_stored_whatever_happens(tmp_path: Path) -> None:
    campaign = made(str(tmp_path / "x.db"), Design(judges=5, overlap=0.5, repeats=0.2, distance=1))
    gathered, dashboard = GatheredJudgments(campaign.database), Dashboard(campaign.store)
    rng = np.random.default_rng(2)
    happens = {
        3: lambda: set_state_of_judge(campaign.database, "j1", "blocked", now=1),
        5: lambda: set_state_of_judge(campaign.database, "j1", "active", now=2),
        6: lambda: forget_judge(campaign.database, "j2", now=3),
        8: lambda: forget_judge(campaign.database, "j3", now=4, erase=True),
    }
    for step in range(10):
        happens.get(step, lambda: None)()
        for _ in range(8):
            left = [0, 1, 2, 3, 4] if step < 6 else [0, 1, 4]
            left = [judge for judge in left if judge != 1 or not 3 <= step < 5]
            answer(campaign, rng, int(rng.choice(left)), again=bool(rng.random() < 0.3))
        found = gathered.read()
        assert found == list(judgments_in(campaign.database))
        bit_by_bit, whole = gathered.compared(found), compare(found, keep="sentences")
        assert (bit_by_bit.systems, bit_by_bit.facts) == (whole.systems, whole.facts)
        for one, other in zip(bit_by_bit.counts(), whole.counts(), strict=True):
            np.testing.assert_array_equal(one, other)
        dashboard.refresh()
        fresh = Dashboard(campaign.store)
        fresh.refresh()
        for part in PARTS:
            assert json.loads(dashboard.part(part)[1]) == json.loads(fresh.part(part)[1]), part
    assert len(found) > 40
    campaign.database.close()


@pytest.mark.load
@pytest.mark.slow
def test_figures_of_a_large_campaign_are_soon_worked_out(tmp_path: Path) -> None:
    """100,000 judgments, 15 systems, 300 judges: after the first time, that reads them all."""
    campaign = Made(large_campaign(tmp_path / "large.db"), None, [])  # type: ignore[arg-type]
    dashboard = Dashboard(campaign.store)
    start = time.process_time()
    assert dashboard.refresh()
    first = time.process_time() - start
    taken = []
    for judge in (1, 2, 3):
        held = campaign.store.claim(judge)
        assert isinstance(held, Holding)
        keys = [
            output["key"] for output in campaign.store.task(judge, held.assignment).body["outputs"]
        ]
        campaign.store.submit(judge, held.assignment, SentAnswer(1, dict.fromkeys(keys, 1)))
        start = time.process_time()
        assert dashboard.refresh()
        taken.append(time.process_time() - start)
    print(f"\nfigures: {first:.1f} s the first time, then {', '.join(f'{t:.1f}' for t in taken)} s")
    assert min(taken) <= FIGURES_S
    campaign.database.close()
