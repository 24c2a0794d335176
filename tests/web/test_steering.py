"""What a campaign learns while it runs: strengths of systems, and stop rules at fixed looks."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import select

from campaigns import material
from errata.collect.design import Design
from errata.collect.web.app import BackgroundUpdates
from errata.collect.web.campaign import earlier_counts, store_earlier
from errata.collect.web.exports import judgments_in
from errata.collect.web.schema import events
from errata.core.errors import InputError
from errata.data import Judgment
from stored_campaigns import Made, Make, text_of

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


def test_adaptive_pairs_start_from_what_is_known_of_old(make_sqlite: Make) -> None:
    """Earlier judgments move the strengths, add up, and are in no export and no figure."""
    design = Design(kind="pair", policy="adaptive", judges=2, repeats=0, controls=0)
    made = make_sqlite(design, material(60, 3, sharing=0.0))
    earlier = [Judgment("old", k, (("S2",), ("S0",), ("other",)), (1, 2, 1)) for k in range(30)]
    counts = earlier_counts(earlier, made.store.campaign().systems, ["old.jsonl"])
    for many in (1, 2):
        store_earlier(made.database, counts)
        steering = BackgroundUpdates(made.store)
        assert steering.renew_strengths()
        assert made.store.strengths is not None
        assert made.store.strengths.met[2, 0] == 30 * many
        assert made.store.strengths.strength.argmax() == 2
        assert made.store.strengths.strength.argmin() == 0
    assert list(judgments_in(made.database)) == []
    with pytest.raises(InputError, match=r"old\.jsonl: no earlier judgment compares two systems"):
        earlier_counts(earlier, ["S1", "S3"], ["old.jsonl"])


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


@pytest.mark.slow
def test_a_rule_that_is_not_met_is_looked_at_no_more_often_than_said(make_sqlite: Make) -> None:
    made = make_sqlite(TWO_LOOKS, material(80, 2, sharing=0.0))
    steering = BackgroundUpdates(made.store)
    judge_all(made, 50, best=None)
    steering.steer()
    steering.steer()
    assert [look["met"] for look in told(made)] == [False]
    judge_all(made, 30, best=None)
    steering.steer()
    steering.steer()
    assert [look["met"] for look in told(made)] == [False, False]
    assert made.store.campaign().state == "open"
