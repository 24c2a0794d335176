"""The store: what it keeps true whatever happens, and what each call answers."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from sqlalchemy import func, select, update
from sqlalchemy.exc import DBAPIError, IntegrityError

from campaigns import material
from errata.collect.answers import AnswerError
from errata.collect.assigning import Holding, Nothing
from errata.collect.design import Design, Scale
from errata.collect.items import Example
from errata.collect.policies import standing_of
from errata.errors import InputError
from errata.human.counts import Counts
from errata.web.answering import SentAnswer, controls_of
from errata.web.claims import SqlReader
from errata.web.people import (
    add_judges,
    change_state,
    forget_judge,
    rotate_judge,
    set_quota,
    set_state_of_judge,
)
from errata.web.progress import may_come_back, without_reviewers
from errata.web.schema import assignments, campaigns, events, items, judges, judgments, sentences
from errata.web.standing import judge_standing
from errata.web.store import ForbiddenError
from stored_campaigns import Made, Make

MINUTE = 60_000


def answer_to(body: dict[str, Any], design: Design, rng: np.random.Generator) -> Any:
    """Some valid answer to a task."""
    many = len(body["outputs"])
    if design.kind == "rank":
        return {o["key"]: int(rng.integers(1, many + 1)) for o in body["outputs"]}
    if design.kind == "pair":
        return str(rng.choice(["A", "B", "equal", "bad"]))
    if design.kind == "score":
        return {s.name: int(rng.integers(s.low, s.high + 1)) for s in design.scales}
    if design.kind == "edits":
        return {e["key"]: "good" for e in body["edits"]}
    if design.kind == "correct":
        return {"text": body["source"] + " ."}
    return {"accept": True}


def check_invariants(made: Made, *, late: bool = False) -> None:
    """What must be true at all times, asked of the tables themselves."""
    with made.database.reading() as connection:
        rows = connection.execute(
            select(items, func.count(assignments.c.id).label("counted"))
            .outerjoin(
                assignments,
                (assignments.c.item == items.c.id) & assignments.c.state.in_(("open", "done")),
            )
            .group_by(items.c.id)
        ).all()
        for row in rows:
            assert row.given == row.counted
            assert (row.origin is not None) == (row.purpose == "repeat")
            if row.wanted is not None and not late:
                assert row.given <= row.wanted
        given = connection.execute(
            select(
                assignments.c.judge, items.c.sentence, items.c.purpose, items.c.origin, items.c.id
            )
            .join(items, items.c.id == assignments.c.item)
            .order_by(assignments.c.id)
        ).all()
        design = made.store.campaign(connection).design
    tasks = defaultdict(list)
    for row in given:
        tasks[row.judge].append(row)
    for mine in tasks.values():
        once = [row.sentence for row in mine if row.purpose != "repeat"]
        if not design.other_outputs:
            assert len(set(once)) == len(once)
        for place, row in enumerate(mine):
            if row.purpose == "repeat":
                origin = next(k for k, each in enumerate(mine) if each.id == row.origin)
                assert place - origin >= design.distance
            if row.purpose == "control":
                assert place >= 3


def work(made: Made, judge: int, rng: np.random.Generator, **sent: Any) -> int | None:
    """Claim a task and answer it; None where there is none."""
    held = made.store.claim(judge)
    if not isinstance(held, Holding):
        return None
    task = made.store.task(judge, held.assignment)
    answer = answer_to(task.body, made.store.campaign().design, rng)
    receipt = made.store.submit(
        judge, held.assignment, SentAnswer(task.revision, **({"answer": answer} | sent))
    )
    assert receipt.status == 201
    return held.assignment


@pytest.mark.parametrize("kind", ["rank", "pair", "score", "edits", "correct", "review"])
def test_a_campaign_of_every_kind_is_finished(make: Make, kind: str) -> None:
    made = make(Design(kind=kind, judges=2), material(30, 3))  # type: ignore[arg-type]
    rng = np.random.default_rng(0)
    working = [judge.id for judge in made.judges]
    while working:
        judge = working[int(rng.integers(len(working)))]
        made.clock.now += 1000
        if work(made, judge, rng) is None:
            working.remove(judge)
    check_invariants(made)
    with made.database.reading() as connection:
        missing = connection.execute(
            select(func.count())
            .select_from(items)
            .where(items.c.purpose == "main", items.c.given < items.c.wanted)
        ).scalar_one()
    assert missing == 0


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["rank", "score"])
def test_nothing_that_happens_breaks_the_counts(make: Make, kind: str, seed: int) -> None:
    """Claims, answers, skips, returns, expiry, late answers, revisions, blocks, at random."""
    rng = np.random.default_rng(seed)
    made = make(Design(kind=kind, judges=3, seed=seed), material(25, 4, seed))  # type: ignore[arg-type]
    design = made.store.campaign().design
    known: list[tuple[int, int]] = []
    for step in range(220):
        judge = made.judges[int(rng.integers(3))]
        made.clock.now += int(rng.integers(5)) * MINUTE
        what = rng.choice(["claim", "claim", "answer", "answer", "skip", "return", "late", "again"])
        held = made.store.claim(judge.id, ahead=2) if what == "claim" else None
        if isinstance(held, Holding):
            known.append((judge.id, held.assignment))
        elif what == "late":
            made.clock.now += 31 * MINUTE
        elif what != "claim" and known:
            who, assignment = known[int(rng.integers(len(known)))]
            if what == "return":
                made.store.give_back(who, assignment)
            elif what == "again":
                made.store.ping(who, assignment)
            else:
                task = made.store.task(who, assignment)
                answer = answer_to(task.body, design, rng)
                sent = SentAnswer(task.revision, answer=answer)
                if what == "skip":
                    sent = SentAnswer(task.revision, skip="undecided")
                assert made.store.submit(who, assignment, sent).status == 201
                assert made.store.submit(who, assignment, sent).status == 200
        if step == 150:
            set_state_of_judge(made.database, "j2", "blocked", now=1)
        if step % 20 == 0:
            check_invariants(made, late=True)
    forget_judge(made.database, "j0", now=1, erase=True)
    check_invariants(made, late=True)
    with made.database.reading() as connection:
        many = connection.execute(
            select(items.c.id, items.c.given, items.c.wanted, func.sum(1).label("late"))
            .join(assignments, assignments.c.item == items.c.id)
            .where(assignments.c.late)
            .group_by(items.c.id)
        ).all()
        over = connection.execute(
            select(items.c.id).where(items.c.given > items.c.wanted)
        ).scalars()
        # Above what is wanted only by answers that came late.
        assert set(over) <= {row.id for row in many}


def test_answers_are_idempotent(make: Make) -> None:
    made = make(Design())
    judge = made.judges[0].id
    held = made.store.claim(judge)
    assert isinstance(held, Holding)
    task = made.store.task(judge, held.assignment)
    assert task.revision == 1
    first = {output["key"]: 1 for output in task.body["outputs"]}
    other = first | {"A": 2}
    submit = made.store.submit
    assert submit(judge, held.assignment, SentAnswer(1, first)).status == 201
    again = submit(judge, held.assignment, SentAnswer(1, first, active_ms=5))
    assert (again.status, again.stored["answer"]) == (200, first)
    conflict = submit(judge, held.assignment, SentAnswer(1, other))
    assert (conflict.status, conflict.stored["answer"]) == (409, first)
    assert submit(judge, held.assignment, SentAnswer(1, first, comment="x")).status == 409
    assert submit(judge, held.assignment, SentAnswer(2, other)).status == 201
    assert made.store.task(judge, held.assignment).revision == 3
    with pytest.raises(AnswerError, match="send revision 3"):
        submit(judge, held.assignment, SentAnswer(4, other))
    for revision in (0, True, "1", None, 1.0, 10**9):
        with pytest.raises(AnswerError, match="revision"):
            submit(judge, held.assignment, SentAnswer(revision, other))
    assert [each["revision"] for each in made.store.last_answers(judge)] == [2]
    check_invariants(made)


def test_a_task_of_another_judge_is_not_there(make: Make) -> None:
    made = make(Design(judges=2))
    first, second = (judge.id for judge in made.judges)
    held = made.store.claim(first)
    assert isinstance(held, Holding)
    for call in (
        lambda: made.store.task(second, held.assignment),
        lambda: made.store.submit(second, held.assignment, SentAnswer(1, skip="undecided")),
        lambda: made.store.ping(second, held.assignment),
        lambda: made.store.give_back(second, held.assignment),
        lambda: made.store.task(first, 10**9),
        lambda: made.store.claim(10**9),
    ):
        with pytest.raises(ForbiddenError) as refused:
            call()
        assert refused.value.status == 404


def test_invalid_answers_change_nothing(make: Make) -> None:
    made = make(Design())
    judge = made.judges[0].id
    held = made.store.claim(judge)
    assert isinstance(held, Holding)
    for sent in (
        SentAnswer(1, {"A": 1}),
        SentAnswer(1, skip="bored"),
        SentAnswer(1, skip="other"),
        SentAnswer(1),
        SentAnswer(1, skip="undecided", active_ms=-1),
        SentAnswer(1, skip="undecided", total_ms="long"),
    ):
        with pytest.raises(AnswerError):
            made.store.submit(judge, held.assignment, sent)
    with made.database.reading() as connection:
        assert connection.execute(select(func.count()).select_from(judgments)).scalar_one() == 0


def test_leases_expire_and_late_answers_are_kept(make: Make) -> None:
    made = make(Design(judges=2, overlap=0, controls=0, repeats=0))
    first, second = (judge.id for judge in made.judges)
    held = made.store.claim(first)
    assert isinstance(held, Holding)
    task = made.store.task(first, held.assignment)
    made.clock.now += 29 * MINUTE
    made.store.ping(first, held.assignment)
    made.clock.now += 29 * MINUTE  # alive 29 minutes ago
    other = made.store.claim(second)
    assert isinstance(other, Holding)
    with made.database.reading() as connection:
        item, state = _row(connection, held.assignment)
        assert state == "open"
        assert _row(connection, other.assignment)[0] != item
    made.store.give_back(second, other.assignment)
    made.clock.now += 2 * MINUTE
    third = made.store.claim(
        second
    )  # ends the lease; what was given back is not for the same judge
    assert isinstance(third, Holding)
    with made.database.reading() as connection:
        assert _row(connection, held.assignment)[1] == "expired"
        assert _row(connection, third.assignment)[0] == item
    ranks = {output["key"]: 1 for output in task.body["outputs"]}
    for judge, assignment in ((second, third.assignment), (first, held.assignment)):
        assert made.store.submit(judge, assignment, SentAnswer(1, ranks)).status == 201
    with made.database.reading() as connection:
        row = connection.execute(select(items).where(items.c.id == item)).one()
        assert (row.wanted, row.given) == (1, 2)
        rows = connection.execute(select(assignments.c.id, assignments.c.late))
        late = {row.id: row.late for row in rows}
    assert (late[held.assignment], late[third.assignment]) == (True, False)
    check_invariants(made, late=True)


def _row(connection: Any, assignment: int) -> tuple[int, str]:
    row = connection.execute(select(assignments).where(assignments.c.id == assignment)).one()
    return row.item, row.state


def test_what_expired_is_taken_up_again_by_its_own_judge(make: Make) -> None:
    made = make(Design())
    judge = made.judges[0].id
    held = made.store.claim(judge)
    made.clock.now += 31 * MINUTE
    assert made.store.claim(judge) == held
    check_invariants(made)
    assert isinstance(held, Holding)
    with made.database.reading() as connection:
        assert _row(connection, held.assignment)[1] == "open"


def test_skipped_items_go_to_others_and_are_parked(make: Make) -> None:
    made = make(Design(judges=4, overlap=0, controls=0, repeats=0))
    seen = []
    for judge in made.judges:
        held = made.store.claim(judge.id)
        assert isinstance(held, Holding)
        with made.database.reading() as connection:
            seen.append(_row(connection, held.assignment)[0])
        sent = SentAnswer(1, skip="other", comment="strange")
        assert made.store.submit(judge.id, held.assignment, sent).status == 201
    assert seen[0] == seen[1] == seen[2] != seen[3]
    with made.database.reading() as connection:
        row = connection.execute(select(items).where(items.c.id == seen[0])).one()
        assert (row.parked, row.given) == (True, 0)
        kinds = list(connection.execute(select(events.c.kind)).scalars())
    assert "parked" in kinds
    check_invariants(made)


def test_a_skip_taken_back_when_others_have_it_is_late(make: Make) -> None:
    made = make(Design(judges=2, overlap=0, controls=0, repeats=0))
    rng = np.random.default_rng(0)
    first, second = (judge.id for judge in made.judges)
    skipped = work(made, first, rng, answer=None, skip="undecided")
    assert skipped is not None
    other = work(made, second, rng)
    assert other is not None
    task = made.store.task(first, skipped)
    answer = answer_to(task.body, made.store.campaign().design, rng)
    assert made.store.submit(first, skipped, SentAnswer(2, answer)).status == 201
    with made.database.reading() as connection:
        rows = [
            connection.execute(select(assignments).where(assignments.c.id == each)).one()
            for each in (skipped, other)
        ]
    assert rows[0].item == rows[1].item
    assert [row.late for row in rows] == [True, False]
    check_invariants(made, late=True)


def test_what_is_parked_does_not_come_back_to_who_let_it_expire(make: Make) -> None:
    made = make(Design(judges=4, overlap=0, controls=0, repeats=0))
    rng = np.random.default_rng(0)
    slow, *others = (judge.id for judge in made.judges)
    held = made.store.claim(slow)
    assert isinstance(held, Holding)
    made.clock.now += 31 * 60 * 1000
    for judge in others:
        assert work(made, judge, rng, answer=None, skip="undecided") is not None
    with made.database.reading() as connection:
        parked = list(connection.execute(select(items.c.id).where(items.c.parked)).scalars())
        assert parked == [_row(connection, held.assignment)[0]]
    assert made.store.claim(slow) != held


def test_the_distance_of_a_repeat_is_exact(make: Make) -> None:
    made = make(Design(quota=20, controls=0, repeats=0))
    rng = np.random.default_rng(0)
    judge = made.judges[0].id
    found = []
    for _ in range(6):
        campaign = made.store.campaign()
        with made.database.reading() as connection:
            reader = SqlReader(connection, campaign.design, campaign.systems, "open", "j0")
            found.append(reader.repeatable(judge, 5) is not None)
        work(made, judge, rng)
    assert found == [False] * 5 + [True]


def test_two_tasks_are_held_at_most(make: Make) -> None:
    made = make(Design())
    judge = made.judges[0].id
    first = made.store.claim(judge, ahead=2)
    assert isinstance(first, Holding)
    second = made.store.claim(judge, known=[first.assignment], ahead=2)
    assert isinstance(second, Holding)
    assert second != first
    both = [first.assignment, second.assignment]
    assert made.store.claim(judge, known=both, ahead=2) == Nothing("leases")
    assert made.store.claim(judge) == first  # another device, which knows nothing


def test_times_longer_than_the_task_was_out_are_cut(make: Make) -> None:
    made = make(Design())
    judge = made.judges[0].id
    held = made.store.claim(judge)
    assert isinstance(held, Holding)
    made.clock.now += 5000
    for revision, active, total in ((1, 9000, 4000), (2, 3000, 9000)):
        sent = SentAnswer(revision, skip="undecided", active_ms=active, total_ms=total)
        made.store.submit(judge, held.assignment, sent)
    with made.database.reading() as connection:
        rows = connection.execute(select(judgments).order_by(judgments.c.revision)).all()
    found = [(row.active_ms, row.total_ms, row.flagged) for row in rows]
    assert found == [(5000, 4000, True), (3000, 5000, False)]


def test_states_of_a_campaign(make: Make) -> None:
    made = make(Design())
    judge = made.judges[0].id
    held = made.store.claim(judge)
    assert isinstance(held, Holding)
    change_state(made.database, "paused", now=1)
    assert made.store.claim(judge) == held  # what is held may be finished
    assert made.store.submit(judge, held.assignment, SentAnswer(1, skip="broken")).status == 201
    assert made.store.claim(judge) == Nothing("paused")
    change_state(made.database, "open", now=1)
    other = made.store.claim(judge)
    assert isinstance(other, Holding)
    change_state(made.database, "closed", now=1)
    assert made.store.claim(judge) == Nothing("closed")
    with pytest.raises(ForbiddenError) as refused:
        made.store.submit(judge, other.assignment, SentAnswer(1, skip="broken"))
    assert refused.value.status == 410
    known = made.store.submit(judge, held.assignment, SentAnswer(1, skip="broken"))
    assert known.status == 200  # a retry is told that it was stored
    with pytest.raises(InputError, match="closed cannot become open"):
        change_state(made.database, "open", now=1)


def test_the_database_keeps_what_must_not_change(make: Make) -> None:
    made = make(Design())
    work(made, made.judges[0].id, np.random.default_rng(0))
    for statement in (
        update(campaigns).values(design="{}"),
        update(judgments).values(answer='"A"'),
        update(judgments).values(comment="new"),
        update(events).values(kind="x"),
        update(items).values(given=-1),
        update(items).where(items.c.id == 1).values(origin=2),
        update(campaigns).values(state="ajar"),
        update(assignments).values(judge=10**6),
        update(assignments).values(item=10**6),
    ):
        with pytest.raises(DBAPIError), made.database.writing() as connection:
            connection.execute(statement)


@pytest.mark.parametrize("table", [sentences, judges, judgments, assignments])
def test_what_is_unique_is_unique(make: Make, table: Any) -> None:
    made = make(Design())
    work(made, made.judges[0].id, np.random.default_rng(0))
    with made.database.reading() as connection:
        row = connection.execute(select(table)).first()
        assert row is not None
        copy = {name: value for name, value in row._mapping.items() if name != "id"}
    with pytest.raises(IntegrityError), made.database.writing() as connection:
        connection.execute(table.insert().values(**copy))


def test_blocked_judges_get_nothing_and_their_tasks_go_on(make: Make) -> None:
    made = make(Design(judges=2, overlap=0, controls=0, repeats=0))
    first, second = made.judges
    held = made.store.claim(first.id)
    assert isinstance(held, Holding)
    set_state_of_judge(made.database, "j0", "blocked", now=1)
    assert made.store.claim(first.id) == Nothing("blocked")
    other = made.store.claim(second.id)
    assert isinstance(other, Holding)
    with made.database.reading() as connection:
        assert _row(connection, held.assignment)[0] == _row(connection, other.assignment)[0]
    set_state_of_judge(made.database, "j0", "active", now=1)
    assert isinstance(made.store.claim(first.id), Holding)
    check_invariants(made)


def test_a_rule_blocks_who_fails_controls(make: Make) -> None:
    design = Design(judges=1, quota=40, controls=0.2, repeats=0, block="2 of 3")
    made = make(design, material(80, 4))
    judge = made.judges[0].id
    for _ in range(40):
        held = made.store.claim(judge)
        if held == Nothing("blocked"):
            break
        assert isinstance(held, Holding)
        made.clock.now += 1000
        task = made.store.task(judge, held.assignment)
        ranks = {output["key"]: 1 for output in task.body["outputs"]}  # all the same: fails
        made.store.claim(judge, known=[held.assignment], ahead=2)
        made.store.submit(judge, held.assignment, SentAnswer(1, ranks))
    else:
        raise AssertionError("nobody was blocked")
    with made.database.reading() as connection:
        assert controls_of(connection, design, judge) == [False, False]
        blocked = connection.execute(select(events).where(events.c.kind == "blocked")).one()
        states = connection.execute(select(assignments.c.state)).scalars().all()
    assert "open" not in states  # what was fetched ahead goes to others at once
    assert states[-1] == "returned"
    check_invariants(made)
    assert (blocked.actor, json.loads(blocked.detail)) == ("rule", {"judge": judge})


def test_single_scores_are_compared_with_the_usual_ones(make: Make) -> None:
    design = Design(kind="score", scales=(Scale("x"),), quota=40, controls=0.2, repeats=0)
    made = make(design, material(40, 3))
    judge = made.judges[0].id
    for _ in range(40):
        held = made.store.claim(judge)
        if not isinstance(held, Holding):
            break
        made.store.submit(judge, held.assignment, SentAnswer(1, {"x": 50}))
    with made.database.reading() as connection:
        found = controls_of(connection, design, judge)
    assert found
    assert set(found) == {False}


def test_a_repeat_waits_for_something_old_enough(make: Make) -> None:
    """Who skipped all early tasks has nothing to repeat that lies 20 tasks back."""
    made = make(Design(quota=60, repeats=0.3, controls=0), material(120, 4))
    rng = np.random.default_rng(0)
    judge = made.judges[0].id
    for task in range(60):
        sent = {"answer": None, "skip": "undecided"} if task < 25 else {}
        assert work(made, judge, rng, **sent) is not None
    check_invariants(made)
    with made.database.reading() as connection:
        purposes = list(
            connection.execute(
                select(items.c.purpose)
                .join(assignments, assignments.c.item == items.c.id)
                .order_by(assignments.c.id)
            ).scalars()
        )
    assert "repeat" not in purposes[:45]
    assert "repeat" in purposes[45:]


def test_quotas_and_budgets(make: Make) -> None:
    made = make(Design(quota=3))
    rng = np.random.default_rng(0)
    judge = made.judges[0].id
    assert [work(made, judge, rng) is not None for _ in range(4)] == [True, True, True, False]
    assert made.store.claim(judge) == Nothing("finished")
    set_quota(made.database, "j0", 10, now=1)
    with made.database.writing() as connection:
        connection.execute(update(campaigns).values(budget=5))
    assert [work(made, judge, rng) is not None for _ in range(3)] == [True, True, False]
    assert made.store.claim(judge) == Nothing("budget")


def test_what_is_given_back_is_no_part_of_a_quota(make: Make) -> None:
    made = make(Design(quota=2, controls=0, repeats=0))
    judge = made.judges[0].id
    for _ in range(3):
        held = made.store.claim(judge)
        assert isinstance(held, Holding)
        made.store.give_back(judge, held.assignment)
    rng = np.random.default_rng(0)
    assert [work(made, judge, rng) is not None for _ in range(3)] == [True, True, False]
    assert made.store.claim(judge) == Nothing("finished")
    check_invariants(made)


def test_a_sentence_comes_again_with_other_outputs_alone(make_sqlite: Make) -> None:
    design = Design(
        outputs=2, other_outputs=True, policy="random", overlap=0, controls=0, repeats=0
    )
    made = make_sqlite(design, material(6, 6, sharing=0), wanted=18)
    judge, seen = made.judges[0].id, set()
    sources: Counter[str] = Counter()
    while isinstance(held := made.store.claim(judge), Holding):
        body = made.store.task(judge, held.assignment).body
        sources[body["source"]] += 1
        for each in body["outputs"]:
            text = tuple(word for kind, word in each["segments"] if kind not in ("old", "del"))
            assert (body["source"], text) not in seen
            seen.add((body["source"], text))
        sent = SentAnswer(1, {"A": 1, "B": 2})
        made.store.submit(judge, held.assignment, sent)
    assert len(sources) == 6
    assert max(sources.values()) > 1
    assert sum(sources.values()) < 18  # items that share an output are for others


def test_a_name_like_another_is_another(make: Make) -> None:
    """Reviews are kept from who wrote the text, and from nobody whose name only looks alike."""
    texts = material(8, 1, sharing=0)
    texts = texts._replace(systems={"a.b": texts.systems["S0"]})
    made = make(Design(kind="review", judges=1, overlap=0, repeats=0), texts)
    for name, many in (("a.b", 0), ("a_b", 8)):
        (judge,) = add_judges(made.database, [name], now=0)
        tasks = 0
        while isinstance(held := made.store.claim(judge.id), Holding):
            made.store.submit(judge.id, held.assignment, SentAnswer(1, {"accept": True}))
            tasks += 1
        assert tasks == many, name


def test_the_tutorial_comes_first(make: Make) -> None:
    example = Example("He go .", ("He goes .", "He go go ."), {"worse": 1, "better": 0})
    made = make(Design(), examples=(example,))
    judge = made.judges[0].id
    held = made.store.claim(judge)
    assert isinstance(held, Holding)
    task = made.store.task(judge, held.assignment)
    assert task.body["source"] == "He go ."
    assert made.store.claim(judge, known=[held.assignment], ahead=2) == Nothing("leases")
    made.store.submit(judge, held.assignment, SentAnswer(1, {"A": 1, "B": 2}))
    following = made.store.claim(judge)
    assert isinstance(following, Holding)
    assert made.store.task(judge, following.assignment).body["source"] != "He go ."


def test_adaptive_pairs_are_chosen_as_they_are_given(make: Make) -> None:
    made = make(Design(kind="pair", policy="adaptive", judges=2), material(40, 4, sharing=0))
    nothing = np.zeros((4, 4))
    made.store.strengths = standing_of(Counts(nothing, nothing))
    rng = np.random.default_rng(0)
    for judge in made.judges:
        while work(made, judge.id, rng) is not None:
            made.clock.now += 1
    check_invariants(made)


def test_nobody_reviews_a_text_of_his_own(make: Make) -> None:
    texts = material(20, 2, sharing=0)
    texts = texts._replace(systems={"j0": texts.systems["S0"], "j1": texts.systems["S1"]})
    made = make(Design(kind="review", judges=2, overlap=0, repeats=0), texts)
    rng = np.random.default_rng(0)
    for judge in made.judges:
        while (held := made.store.claim(judge.id)) and isinstance(held, Holding):
            task = made.store.task(judge.id, held.assignment)
            shown = " ".join(
                text
                for kind, text in task.body["outputs"][0]["segments"]
                if kind not in ("old", "del")
            )
            assert shown not in texts.systems[judge.name]
            made.store.submit(judge.id, held.assignment, SentAnswer(1, {"accept": True}))
    check_invariants(made)
    assert rng is not None


def shown_in(task: Any) -> str:
    """The text that a task of a review shows."""
    segments = task.body["outputs"][0]["segments"]
    return " ".join(text for kind, text in segments if kind not in ("old", "del"))


def test_nobody_reviews_what_they_wrote_in_files_of_several_writers(make: Make) -> None:
    """A line is by one, by the other or, where they wrote the same, by both; names are exact."""
    several = ("j0", "J0", "j1", 'j"1', "j_", ", ", "j0 ")  # two of them are judges
    texts = material(42, 2, sharing=0)
    wrote = {
        (number, text): tuple(sorted({several[(number + slot) % 7], several[number // 7]}))
        for slot, system in enumerate(texts.systems.values())
        for number, text in enumerate(system)
    }
    made = make(
        Design(kind="review", judges=2, overlap=0.5, repeats=0.1), texts._replace(writers=wrote)
    )
    people = add_judges(made.database, ["J0", ", ", "stranger"], now=0)
    given: Counter[str] = Counter()
    for judge in (*made.judges, *people):
        while isinstance(held := made.store.claim(judge.id), Holding):
            task = made.store.task(judge.id, held.assignment)
            number = texts.sources.index(task.body["source"])
            assert judge.name not in wrote[number, shown_in(task)]
            made.store.submit(judge.id, held.assignment, SentAnswer(1, skip="undecided"))
            given[judge.name] += 1
    check_invariants(made)
    assert set(given) == {"j0", "j1", "J0", ", ", "stranger"}
    with made.database.reading() as connection:  # three of the five may see each text, or more
        left = connection.execute(select(items.c.id).where(items.c.parked.is_(False))).all()
    assert left == []


def test_what_is_left_is_counted_without_own_texts(make: Make) -> None:
    texts = material(10, 1, sharing=0)
    wrote = {(k, text): ("j0",) for k, text in enumerate(texts.systems["S0"]) if k < 7}
    made = make(
        Design(kind="review", judges=2, overlap=0, repeats=0), texts._replace(writers=wrote)
    )
    one, other = (judge.id for judge in made.judges)
    with made.database.reading() as connection:
        quotas = [judge_standing(made.store, connection, k)[1].quota for k in (one, other, one)]
        assert quotas == [3, 10, 3]
        assert without_reviewers(connection) == 0
    set_state_of_judge(made.database, "j1", "blocked", now=1)
    with made.database.reading() as connection:
        assert without_reviewers(connection) == 7
    set_state_of_judge(made.database, "j1", "active", now=2)
    held = made.store.claim(other)
    assert isinstance(held, Holding)
    number = texts.sources.index(made.store.task(other, held.assignment).body["source"])
    made.store.submit(other, held.assignment, SentAnswer(1, skip="undecided"))
    with made.database.reading() as connection:
        assert without_reviewers(connection) == (number < 7)
    rng = np.random.default_rng(0)
    while work(made, one, rng) is not None:
        pass
    assert made.store.claim(one) == Nothing("nothing")
    held = made.store.claim(other)
    assert isinstance(held, Holding)
    with made.database.reading() as connection:  # it will never be given to its writer
        design = made.store.campaign(connection).design
        assert not may_come_back(connection, design, one)
        assert may_come_back(connection, design, 99)


def test_context_is_shown_within_a_document(make: Make) -> None:
    texts = material(12, 3)._replace(documents=("a",) * 6 + ("b",) * 6)
    made = make(Design(context=2, controls=0), texts)
    judge = made.judges[0].id
    for _ in range(10):
        held = made.store.claim(judge)
        if not isinstance(held, Holding):
            break
        body = made.store.task(judge, held.assignment).body
        number = texts.sources.index(body["source"])
        start = number - number % 6
        assert body["before"] == list(texts.sources[max(start, number - 2) : number])
        assert body["after"] == list(texts.sources[number + 1 : min(start + 6, number + 3)])
        made.store.submit(judge, held.assignment, SentAnswer(1, skip="undecided"))


def test_tasks_of_all_purposes_look_alike(make_sqlite: Make) -> None:
    made = make_sqlite(Design(controls=0.2, repeats=0.1, quota=60), material(120, 4, sharing=0))
    judge = made.judges[0].id
    shapes: dict[str, set[str]] = defaultdict(set)
    for _ in range(60):
        held = made.store.claim(judge)
        assert isinstance(held, Holding)
        task = made.store.task(judge, held.assignment)
        with made.database.reading() as connection:
            purpose = connection.execute(
                select(items.c.purpose)
                .join(assignments, assignments.c.item == items.c.id)
                .where(assignments.c.id == held.assignment)
            ).scalar_one()
        shapes[purpose].add(json.dumps([sorted(task.body), sorted(task.body["outputs"][0])]))
        made.clock.now += 1
        ranks = {output["key"]: 1 for output in task.body["outputs"]}
        made.store.submit(judge, held.assignment, SentAnswer(1, ranks))
    assert set(shapes) == {"main", "control", "repeat"}
    assert shapes["control"] <= shapes["main"]
    assert shapes["repeat"] <= shapes["main"]


def test_many_at_once_get_what_is_wanted_and_no_more(make: Make) -> None:
    made = make(Design(judges=8, overlap=0.5), material(40, 4))

    def run(judge: int) -> int:
        rng = np.random.default_rng(judge)
        done = 0
        while work(made, judge, rng) is not None:
            done += 1
        return done

    with ThreadPoolExecutor(8) as pool:
        done = sum(pool.map(run, [judge.id for judge in made.judges]))
    check_invariants(made)
    with made.database.reading() as connection:
        stored = connection.execute(select(func.count()).select_from(judgments)).scalar_one()
        rows = connection.execute(
            select(items.c.given, items.c.wanted).where(items.c.purpose == "main")
        ).all()
    assert stored == done
    assert sum(row.given for row in rows) >= sum(row.wanted for row in rows) - 8


def test_the_same_answer_from_many_threads_is_stored_once(make: Make) -> None:
    made = make(Design())
    judge = made.judges[0].id
    held = made.store.claim(judge)
    assert isinstance(held, Holding)
    task = made.store.task(judge, held.assignment)
    ranks = {output["key"]: 1 for output in task.body["outputs"]}
    sent = SentAnswer(1, ranks)
    with ThreadPoolExecutor(6) as pool:
        jobs = [pool.submit(made.store.submit, judge, held.assignment, sent) for _ in range(12)]
        statuses = Counter(job.result().status for job in jobs)
    assert statuses == {201: 1, 200: 11}


def test_links_and_names(make: Make) -> None:
    made = make(Design(judges=2))
    assert made.store.generation(made.judges[0].id) == 1
    assert rotate_judge(made.database, "j0", now=1).generation == 2
    assert made.store.generation(made.judges[0].id) == 2
    assert made.store.generation(99) is None
    for names in (["j0"], ["x", "x"], [" "], ["a\nb"], ["y" * 101]):
        with pytest.raises(InputError):
            add_judges(made.database, names, now=1)
    with pytest.raises(InputError, match="no judge 'nobody'"):
        rotate_judge(made.database, "nobody", now=1)


@pytest.mark.parametrize("judges", [1, 2])
def test_progress_is_of_what_one_judge_can_have(make_sqlite: Make, judges: int) -> None:
    """Without a quota: checks are counted on both sides, and what others do is not."""
    made = make_sqlite(Design(judges=judges, overlap=1.0))
    rng = np.random.default_rng(0)
    judge = made.judges[0].id
    with made.database.reading() as connection:
        first = judge_standing(made.store, connection, judge)[1].progress
    done = 0
    while work(made, judge, rng) is not None:
        done += 1
    with made.database.reading() as connection:
        last = judge_standing(made.store, connection, judge)[1].progress
    assert last["done"] == done <= last["quota"]
    assert first["done"] == 0
    assert abs(first["quota"] - done) <= done // 10  # some checks cannot be had
