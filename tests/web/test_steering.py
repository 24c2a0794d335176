"""What a campaign learns while it runs: strengths, stop rules, and the organiser's figures."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from sqlalchemy import select

from called import Client
from campaigns import material
from errata.collect.design import Design
from errata.collect.web import dashboard
from errata.collect.web.app import BackgroundUpdates
from errata.collect.web.campaign import change_budget
from errata.collect.web.dashboard import PARTS, Dashboard, GatheredJudgments
from errata.collect.web.exports import judgments_in
from errata.collect.web.judges import forget_judges, set_state_of_judge
from errata.collect.web.schema import events
from errata.human.output_pairs import ranking_columns
from stored_campaigns import BOTH_DATABASES, Made, Make, text_of

TWO_LOOKS = Design(
    kind="pair", judges=2, repeats=0, controls=0, overlap=0, until=("S0>S1",), looks=2
)


def judge_all(made: Made, most: int, best: str | None = "S0") -> int:
    """Judges answer until so many are done: the one system is better, or all are equal."""
    done = 0
    for judge in [each.id for each in made.judges] * most:
        task, body = next(made.tasks(judge), (0, {}))
        if body and done < most:
            number = made.texts.sources.index(body["source"])
            good = made.texts.systems[best][number] if best else None
            better = [o["key"] for o in body["outputs"] if text_of(o) == good]
            made.submit(judge, task, better[0] if better else "equal")
            done += 1
    return done


def told(made: Made) -> list[dict[str, Any]]:
    return made.scalars(select(events.c.detail).where(events.c.kind == "look"))


@pytest.mark.slow
def test_adaptive_pairs_follow_what_is_known(make_sqlite: Make) -> None:
    design = Design(kind="pair", policy="adaptive", judges=3, repeats=0, controls=0)
    made = make_sqlite(design, material(120, 4, sharing=0.0))
    steering = BackgroundUpdates(made.store)
    steering.steer()
    assert made.store.strengths is not None
    assert made.store.strengths.met.sum() == 0
    assert judge_all(made, 30) == 30
    assert steering.renew_strengths()
    assert made.store.strengths.strength.argmax() == 0
    assert made.store.strengths.met.sum() >= 2 * 30  # systems may share an output
    assert not steering.renew_strengths()  # not before another 25
    judge_all(made, 24)
    assert not steering.renew_strengths()
    judge_all(made, 1)
    assert steering.renew_strengths()
    assert len(list(judgments_in(made.database))) == 55


def test_a_rule_that_is_met_pauses_the_campaign(make_sqlite: Make) -> None:
    made = make_sqlite(TWO_LOOKS, material(80, 2, sharing=0.0))
    steering = BackgroundUpdates(made.store)
    assert not steering.look()
    apart = sum(a != b for a, b in zip(*made.texts.systems.values(), strict=True))
    judge_all(made, apart // 2 - 1)
    assert not steering.look()  # half of all is the first look
    judge_all(made, 1)
    steering.steer()
    (look,) = told(made)
    assert (look["judgments"], look["met"]) == (apart // 2, True)
    assert look["said"][0].startswith("S0>S1: ")
    assert made.store.campaign().state == "paused"
    steering.steer()
    assert len(told(made)) == 1


def answer(campaign: Made, rng: np.random.Generator, judge: int, *, again: bool) -> None:
    """A judge answers a task, skips it, or thinks better of an earlier answer."""
    who = campaign.judges[judge].id
    campaign.clock.now += int(rng.integers(1, 5000))
    task = campaign.claim(who)
    many = [output["key"] for output in campaign.body(who, task)["outputs"]]
    for revision in (1, 2) if again else (1,):
        ranks = {key: int(rng.integers(1, len(many) + 1)) for key in many}
        active = None if rng.random() < 0.2 else int(rng.integers(1, 4000))
        answer = None if rng.random() < 0.1 else ranks
        campaign.submit(who, task, answer, revision=revision, active_ms=active)


@pytest.mark.slow
@BOTH_DATABASES
def test_figures_hold_what_is_stored_whatever_happens(make: Make) -> None:
    campaign = make(Design(judges=5, overlap=0.5, repeats=0.2, distance=1))
    gathered, page = GatheredJudgments(campaign.database), Dashboard(campaign.store)
    rng = np.random.default_rng(2)
    happens = {
        3: lambda: set_state_of_judge(campaign.database, "j1", "blocked"),
        5: lambda: set_state_of_judge(campaign.database, "j1", "active"),
        6: lambda: forget_judges(campaign.database, ["j2"]),
        8: lambda: forget_judges(campaign.database, ["j3"], erase=True),
    }
    for step in range(9):
        happens.get(step, lambda: None)()
        for _ in range(8):
            left = [0, 1, 2, 3, 4] if step < 6 else [0, 1, 4]
            left = [judge for judge in left if judge != 1 or not 3 <= step < 5]
            answer(campaign, rng, int(rng.choice(left)), again=bool(rng.random() < 0.3))
        found, whole = gathered.read(), ranking_columns(judgments_in(campaign.database))
        np.testing.assert_equal(vars(found), vars(whole))
        page.refresh()
        fresh = Dashboard(campaign.store)
        fresh.refresh()
        for part in PARTS:
            assert json.loads(page.part(part)[1]) == json.loads(fresh.part(part)[1]), part
    assert len(found) > 40
    assert len({*gathered.work()}) >= 3


def test_figures_rest_unless_looked_at(make_sqlite: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    campaign, now = make_sqlite(Design(judges=1)), [1000.0]
    monkeypatch.setattr(dashboard, "monotonic", lambda: now[0])
    page = Dashboard(campaign.store)
    assert page.due  # the first time
    page.refresh()
    assert not page.due
    now[0] += 20
    assert not page.due
    page.part("status")  # somebody looks
    assert page.due
    assert page.asked.is_set()  # and is not kept waiting
    page.asked.clear()
    now[0] += 5
    page.refresh()
    page.part("status")
    assert page.due
    assert not page.asked.is_set()
    now[0] += 31
    assert not page.due
    now[0] += 30
    assert page.due  # so that who comes does not see what is old


def test_no_request_works_figures_out(make_sqlite: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    call = Client(make_sqlite(Design(judges=1)))
    call.dashboard.refresh()
    monkeypatch.delattr(Dashboard, "refresh")
    for part in PARTS:
        assert call("GET", f"admin/{part}", who=0).status_code == 200
    assert call("PATCH", "admin/campaign", {"state": "paused"}, who=0).status_code == 200


def test_the_overview_knows_of_the_budget_and_of_the_hour(make_sqlite: Make) -> None:
    """What changes without an answer: a budget, and how many answers the last hour has seen."""
    campaign = make_sqlite(Design(judges=1, repeats=0, controls=0))
    page = Dashboard(campaign.store)

    def figure(name: str) -> str:
        page.refresh()
        figures = json.loads(page.part("status")[1])["figures"]
        return str(next(value for label, value, _ in figures if label == name))

    campaign.submit(1, campaign.claim())
    assert figure("Last hour") == "1"
    change_budget(campaign.database, "rankings", 7)
    assert figure("Done") == "0 of 7"
    assert figure("Still to do") == f"{7 * 54 / 3600:.1f} h"
    campaign.clock.now += 3_600_001
    assert figure("Last hour") == "0"
