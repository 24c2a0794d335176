"""The store: what it keeps true whatever happens, and what each call answers."""

from __future__ import annotations

import contextlib
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from sqlalchemy import func, select, update
from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError

from campaigns import material
from errata.collect.answers import AnswerError
from errata.collect.assignment import KeepCurrent, NoTask
from errata.collect.design import Design, Scale
from errata.collect.web.api import judge_state
from errata.collect.web.assignment_queries import SqlReader, may_come_back, without_reviewers
from errata.collect.web.judges import (
    add_judges,
    change_state,
    forget_judges,
    rotate_judges,
    set_quota,
    set_state_of_judge,
)
from errata.collect.web.schema import (
    assignments,
    campaigns,
    events,
    items,
    judges,
    judgments,
    sentences,
)
from errata.collect.web.store import ApiError, SubmittedAnswer, control_results, last_answers
from errata.core.errors import InputError
from stored_campaigns import (
    BOTH_DATABASES,
    Made,
    Make,
    answer_to,
    held_task,
    next_task,
    ranked_alike,
    submit_answer,
    text_of,
)

MINUTE = 60_000
ALONE = {"overlap": 0, "controls": 0, "repeats": 0}


def check_invariants(made: Made, *, late: bool = False) -> None:
    """What must be true at all times, asked of the tables themselves."""
    counts = (assignments.c.item == items.c.id) & assignments.c.state.in_(("open", "done"))
    for row in made.rows(
        select(items, func.count(assignments.c.id).label("counted"))
        .outerjoin(assignments, counts)
        .group_by(items.c.id)
    ):
        assert row.given == row.counted
        assert (row.origin is not None) == (row.purpose == "repeat")
        assert row.wanted is None or late or row.given <= row.wanted
    tasks = defaultdict(list)
    for row in made.rows(
        select(assignments.c.judge, items.c.sentence, items.c.purpose, items.c.origin, items.c.id)
        .join(items, items.c.id == assignments.c.item)
        .order_by(assignments.c.id)
    ):
        tasks[row.judge].append(row)
    design = made.store.campaign().design
    for mine in tasks.values():
        once = [row.sentence for row in mine if row.purpose != "repeat"]
        if not design.other_outputs:
            assert len(set(once)) == len(once)
        for place, row in enumerate(mine):
            if row.purpose == "repeat":
                origin = next(k for k, each in enumerate(mine) if each.id == row.origin)
                assert place - origin >= design.distance
            assert row.purpose != "control" or place >= 3


def work(made: Made, judge: int, rng: np.random.Generator, **sent: Any) -> int | None:
    for task, body in made.tasks(judge):
        answer = None if sent else answer_to(body, made.store.campaign().design, rng)
        assert made.submit(judge, task, answer, **sent).status == 201
        return task
    return None


def row_of(made: Made, assignment: int) -> Any:
    (row,) = made.rows(select(assignments).where(assignments.c.id == assignment))
    return row


@pytest.mark.parametrize("kind", ["rank", "pair", "score", "edits", "correct", "review"])
def test_campaign_of_every_kind_is_finished(make: Make, kind: Any) -> None:
    made = make(Design(kind=kind, judges=2), material(20, 3))
    rng = np.random.default_rng(0)
    working = [judge.id for judge in made.judges]
    while working:
        judge = working[int(rng.integers(len(working)))]
        made.clock.now += 1000
        if work(made, judge, rng) is None:
            working.remove(judge)
    check_invariants(made)
    missing = select(items.c.id).where(items.c.purpose == "main", items.c.given < items.c.wanted)
    assert made.rows(missing) == []


@pytest.mark.slow
def test_judges_share_items_evenly_in_orders_of_their_own(make_sqlite: Make) -> None:
    made = make_sqlite(Design(judges=3, overlap=0.5, controls=0, repeats=0), material(60, 6, 1))
    orders: dict[str, dict[int, str]] = defaultdict(dict)
    working = {judge.id: made.tasks(judge.id) for judge in made.judges}
    while working:
        for judge in list(working):
            task, body = next(working[judge], (0, {}))
            if not body:
                del working[judge]
                continue
            made.submit(judge, task, ranked_alike(body))
            orders[body["source"]][judge] = str([text_of(o) for o in body["outputs"]])
    pairs = Counter(tuple(sorted(each)) for each in orders.values() if len(each) == 2)
    assert set(pairs) == {(1, 2), (1, 3), (2, 3)}
    assert max(pairs.values()) - min(pairs.values()) <= 4
    both = [set(each.values()) for each in orders.values() if len(each) == 2]
    assert sum(len(each) == 1 for each in both) < len(both) / 4


def test_items_that_others_have_begun_name_them(make_sqlite: Make) -> None:
    made = make_sqlite(Design(judges=4, **ALONE | {"overlap": 1, "judges_per_item": 4}))
    for judge in (1, 2, 1):
        task = made.claim(judge)
        made.submit(judge, task, ranked_alike(made.body(judge, task)))
    who = defaultdict[int, set[int]](set)
    for row in made.rows(assignments):
        who[row.item].add(row.judge)
    with made.database.reading() as connection:
        reader = SqlReader(connection, made.store.campaign().design, (), "open", "j2")
        found = reader.candidates(3, "begun", 9)
        assert {each.item: {*each.judges} for each in found} == who
        assert reader.candidates(3, "freed", 9) == []
        assert reader.shared(1) == {2: sum(len(each) == 2 for each in who.values())}


@pytest.mark.slow
@BOTH_DATABASES
@pytest.mark.parametrize("seed", [1, *(pytest.param(k, marks=pytest.mark.long) for k in (2, 3))])
@pytest.mark.parametrize("kind", ["rank", "score"])
def test_no_event_breaks_the_counts(make: Make, kind: Any, seed: int) -> None:
    """Claims, answers, skips, returns, expiry, late answers, revisions, blocks, at random."""
    rng, steps = np.random.default_rng(seed), 110
    design = Design(kind=kind, judges=3, seed=seed)
    made = make(design, material(25, 4, seed))
    known: list[tuple[int, int]] = []
    for step in range(steps):
        judge = made.judges[int(rng.integers(3))]
        made.clock.now += int(rng.integers(5)) * MINUTE
        what = rng.choice(["claim", "claim", "answer", "answer", "skip", "return", "late", "again"])
        held = next_task(made.store, judge.id, ahead=2) if what == "claim" else None
        if isinstance(held, KeepCurrent):
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
                task, body = held_task(made.store, who, assignment), made.body(who, assignment)
                answer = None if what == "skip" else answer_to(body, design, rng)
                for status in (201, 200):
                    sent = made.submit(who, assignment, answer, revision=task.last + 1)
                    assert sent.status == status
        if step == steps * 2 // 3:
            set_state_of_judge(made.database, "j2", "blocked")
        if step % 20 == 0:
            check_invariants(made, late=True)
    forget_judges(made.database, ["j0"], erase=True)
    check_invariants(made, late=True)
    # Above what is wanted only by answers that came late.
    late = made.scalars(select(assignments.c.item).where(assignments.c.late))
    assert {*made.scalars(select(items.c.id).where(items.c.given > items.c.wanted))} <= {*late}


def test_answers_are_idempotent(make: Make) -> None:
    made = make(Design())
    task = made.claim()
    assert held_task(made.store, 1, task).last == 0
    first = ranked_alike(made.body(1, task))
    other = first | {"A": 2}
    assert made.submit(1, task, first).status == 201
    again = made.submit(1, task, first, active_ms=5)
    assert (again.status, again.stored["answer"]) == (200, first)
    conflict = made.submit(1, task, other)
    assert (conflict.status, conflict.stored["answer"]) == (409, first)
    assert made.submit(1, task, first, comment="x").status == 409
    assert made.submit(1, task, other, revision=2).status == 201
    assert held_task(made.store, 1, task).last == 2
    with pytest.raises(AnswerError, match="send revision 3"):
        made.submit(1, task, other, revision=4)
    for revision in (0, True, "1", None, 1.0, 10**9):
        with pytest.raises(AnswerError, match="revision"):
            made.submit(1, task, other, revision=revision)  # type: ignore[arg-type]
    with made.database.reading() as connection:
        assert [row.revision for row in last_answers(connection, 1, 5)] == [2]
    check_invariants(made)


def test_invalid_answers_change_nothing(make: Make) -> None:
    made = make(Design(judges=2))
    task = made.claim()
    for sent in (
        SubmittedAnswer(1, {"A": 1}),
        SubmittedAnswer(1, skip="bored"),
        SubmittedAnswer(1, skip="other"),
        SubmittedAnswer(1),
        SubmittedAnswer(1, skip="undecided", active_ms=-1),
        SubmittedAnswer(1, skip="undecided", total_ms="long"),  # type: ignore[arg-type]
    ):
        with pytest.raises(AnswerError):
            submit_answer(made.store, 1, task, sent)
    for call in (
        lambda: held_task(made.store, 2, task),
        lambda: made.submit(2, task),
        lambda: held_task(made.store, 1, 10**9),
        lambda: next_task(made.store, 10**9),
    ):
        with pytest.raises(ApiError) as refused:
            call()
        assert refused.value.status == 404
    assert made.rows(judgments) == []


def test_leases_expire_and_late_answers_are_kept(make: Make) -> None:
    made = make(Design(judges=2, **ALONE))
    held = made.claim(1)
    made.clock.now += 29 * MINUTE
    made.store.ping(1, held)
    made.clock.now += 29 * MINUTE  # alive 29 minutes ago
    other = made.claim(2)
    item = row_of(made, held).item
    assert row_of(made, held).state == "open"
    assert row_of(made, other).item != item
    made.store.give_back(2, other)
    made.clock.now += 2 * MINUTE
    third = made.claim(2)  # ends the lease; what was given back is not for the same judge
    assert row_of(made, held).state == "expired"
    assert row_of(made, third).item == item
    ranks = ranked_alike(made.body(1, held))
    for judge, task in ((2, third), (1, held)):
        assert made.submit(judge, task, ranks).status == 201
    ((wanted, given),) = made.rows(select(items.c.wanted, items.c.given).where(items.c.id == item))
    assert (wanted, given) == (1, 2)
    assert (row_of(made, held).late, row_of(made, third).late) == (True, False)
    check_invariants(made, late=True)


def test_skipped_items_go_to_others_and_are_parked(make: Make) -> None:
    made = make(Design(judges=4, **ALONE))
    held = made.claim(1)
    made.clock.now += 31 * MINUTE
    for judge in (2, 3, 4):
        task = made.claim(judge)
        assert made.submit(judge, task, skip="other", comment="strange").status == 201
    (row,) = made.rows(select(items).where(items.c.parked))
    assert (row.id, row.given) == (row_of(made, held).item, 0)
    assert made.claim(1) != held  # nor does it come back to the judge whose lease ended
    assert "parked" in made.scalars(select(events.c.kind))
    check_invariants(made)


def test_two_tasks_are_held_and_times_longer_than_they_were_out_are_cut(make: Make) -> None:
    made = make(Design())
    task = made.claim(ahead=2)
    second = made.claim(known=[task], ahead=2)
    assert next_task(made.store, 1, known=[task, second], ahead=2) == NoTask("leases")
    assert made.claim() == task != second  # another device, which knows nothing
    made.clock.now += 5000
    for revision, active, total in ((1, 9000, 4000), (2, 3000, 9000)):
        made.submit(1, task, revision=revision, active_ms=active, total_ms=total)
    rows = made.rows(select(judgments).order_by(judgments.c.revision))
    found = [(row.active_ms, row.total_ms, row.flagged) for row in rows]
    assert found == [(5000, 4000, True), (3000, 5000, False)]
    made.clock.now += 31 * MINUTE
    assert made.claim() == second  # which had expired


def test_states_of_a_campaign(make: Make) -> None:
    made = make(Design())
    held = made.claim()
    change_state(made.database, "paused")
    assert made.claim() == held  # what is held may be finished
    assert made.submit(1, held).status == 201
    assert next_task(made.store, 1) == NoTask("paused")
    change_state(made.database, "open")
    other = made.claim()
    change_state(made.database, "closed")
    assert next_task(made.store, 1) == NoTask("closed")
    with pytest.raises(ApiError) as refused:
        made.submit(1, other)
    assert refused.value.status == 410
    assert made.submit(1, held).status == 200  # a retry hears that it was stored
    with pytest.raises(InputError, match="closed cannot become open"):
        change_state(made.database, "open")


@BOTH_DATABASES
def test_constraints_and_triggers_hold(make: Make) -> None:
    made = make(Design())
    work(made, 1, made.store.rng)
    for statement in (
        update(campaigns).values(design=Design(seed=1)),
        update(judgments).values(answer="A"),
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
    for table in (sentences, judges, judgments, assignments):
        copy = {k: value for k, value in made.rows(table)[0]._mapping.items() if k != "id"}
        with pytest.raises(IntegrityError), made.database.writing() as connection:
            connection.execute(table.insert().values(**copy))


def test_rule_blocks_a_judge_who_fails_controls(make: Make) -> None:
    design = Design(judges=1, quota=40, controls=0.2, repeats=0, block="2 of 3")
    made = make(design, material(80, 4))
    for task, body in made.tasks():
        made.clock.now += 1000
        next_task(made.store, 1, known=[task], ahead=2)
        made.submit(1, task, ranked_alike(body))  # all the same: fails
    assert next_task(made.store, 1) == NoTask("blocked")
    with made.database.reading() as connection:
        assert control_results(connection, design, 1) == [False, False]
    (blocked,) = made.rows(select(events).where(events.c.kind == "blocked"))
    assert (blocked.actor, blocked.detail) == ("rule", {"judge": 1})
    states = made.scalars(select(assignments.c.state).order_by(assignments.c.id))
    assert "open" not in states  # what was fetched ahead goes to others at once
    assert states[-1] == "returned"
    check_invariants(made)


def test_single_scores_are_compared_with_the_usual_ones(make: Make) -> None:
    design = Design(kind="score", scales=(Scale("x"),), quota=40, controls=0.2, repeats=0)
    made = make(design, material(40, 3))
    for task, _ in made.tasks():
        made.submit(1, task, {"x": 50})
    with made.database.reading() as connection:
        found = control_results(connection, design, 1)
    assert found
    assert set(found) == {False}


def test_repeat_waits_for_an_answer_that_is_old_enough(make: Make) -> None:
    """A judge who skipped all early tasks has nothing to repeat that lies 20 tasks back."""
    made = make(Design(quota=60, repeats=0.3, controls=0), material(120, 4))
    shown: dict[str, list[list[str]]] = defaultdict(list)
    for number, (task, body) in enumerate(made.tasks()):
        made.submit(1, task, None if number < 25 else ranked_alike(body))
        shown[body["source"]].append([text_of(output) for output in body["outputs"]])
    again = [each for each in shown.values() if len(each) == 2]
    assert all(sorted(first) == sorted(second) for first, second in again)
    assert [each for each in again if each[0] != each[1]]  # in a new order
    check_invariants(made)
    given = select(items.c.purpose).join(assignments, assignments.c.item == items.c.id)
    purposes = made.scalars(given.order_by(assignments.c.id))
    assert "repeat" not in purposes[:45]
    assert "repeat" in purposes[45:]


def test_quotas_and_budgets(make: Make) -> None:
    made = make(Design(quota=3, controls=0, repeats=0))

    def done(many: int) -> list[bool]:
        return [work(made, 1, made.store.rng) is not None for _ in range(many)]

    for _ in range(3):  # what is given back is no part of a quota
        made.store.give_back(1, made.claim())
    assert done(4) == [True, True, True, False]
    assert next_task(made.store, 1) == NoTask("finished")
    set_quota(made.database, "j0", 10)
    with made.database.writing() as connection:
        connection.execute(update(campaigns).values(budget=5))
    assert done(3) == [True, True, False]
    assert next_task(made.store, 1) == NoTask("budget")
    check_invariants(made)


def test_sentence_comes_again_only_with_other_outputs(make_sqlite: Make) -> None:
    design = Design(outputs=2, other_outputs=True, policy="random", **ALONE)
    made = make_sqlite(design, material(6, 6, sharing=0), wanted=18)
    seen, sources = set(), Counter[str]()
    for task, body in made.tasks():
        sources[body["source"]] += 1
        for each in body["outputs"]:
            assert (body["source"], text_of(each)) not in seen
            seen.add((body["source"], text_of(each)))
        made.submit(1, task, {"A": 1, "B": 2})
    assert len(sources) == 6
    assert max(sources.values()) > 1
    assert sum(sources.values()) < 18  # items that share an output are for others


def test_judge_reviews_no_text_of_their_own(make: Make) -> None:
    """A line is by one, by the other or, where they wrote the same, by both; names are exact."""
    several = ("j0", "J0", "j1", 'j"1', "j_", ", ", "j0 ")  # two of them are judges
    texts = material(42, 2, sharing=0)
    texts = texts._replace(systems={"a.b": texts.systems["S0"], "S1": texts.systems["S1"]})
    wrote = {
        (number, text): tuple(sorted({several[(number + slot) % 7], several[number // 7]}))
        for slot, system in enumerate(texts.systems.values())
        for number, text in enumerate(system)
    }
    design = Design(kind="review", judges=2, overlap=0.5, repeats=0.1)
    made = make(design, texts._replace(writers=wrote))
    # A system wrote its texts too, and a name that only looks alike is another name.
    people = add_judges(made.database, ["J0", ", ", "stranger", "a.b", "a_b"])
    given: Counter[str] = Counter()
    systems = set()
    for judge in (*people, *made.judges):
        for task, body in made.tasks(judge.id):
            number, shown = texts.sources.index(body["source"]), text_of(body["outputs"][0])
            assert judge.name not in wrote[number, shown]
            systems |= {(judge.name, n) for n, t in texts.systems.items() if t[number] == shown}
            made.submit(judge.id, task)
            given[judge.name] += 1
    check_invariants(made)
    assert {*given} >= {"J0", ", ", "stranger", "a.b"}
    assert ("a.b", "S1") in systems
    assert ("a.b", "a.b") not in systems
    assert made.rows(select(items.c.id).where(items.c.parked.is_(False))) == []


def test_what_is_left_is_counted_without_own_texts(make: Make) -> None:
    texts = material(10, 1, sharing=0)
    wrote = {(k, text): ("j0",) for k, text in enumerate(texts.systems["S0"]) if k < 7}
    design = Design(kind="review", judges=2, overlap=0, repeats=0)
    made = make(design, texts._replace(writers=wrote))

    def nobody_reviews() -> int:
        with made.database.reading() as connection:
            return without_reviewers(connection)

    with made.database.reading() as connection:
        quotas = [judge_state(made.store, connection, k)[1].quota for k in (1, 2, 1)]
    assert (quotas, nobody_reviews()) == ([3, 10, 3], 0)
    set_state_of_judge(made.database, "j1", "blocked")
    assert nobody_reviews() == 7
    set_state_of_judge(made.database, "j1", "active")
    held = made.claim(2)
    number = texts.sources.index(made.body(2, held)["source"])
    made.submit(2, held)
    assert nobody_reviews() == (number < 7)
    while work(made, 1, made.store.rng) is not None:
        pass
    assert next_task(made.store, 1) == NoTask("nothing")
    made.claim(2)
    with made.database.reading() as connection:  # it will never be given to its writer
        assert not may_come_back(connection, design, 1)
        assert may_come_back(connection, design, 99)


def test_context_is_shown_within_a_document(make: Make) -> None:
    texts = material(12, 3)._replace(documents=("a",) * 6 + ("b",) * 6)
    made = make(Design(context=2, controls=0), texts)
    seen = 0
    for task, body in made.tasks():
        number = texts.sources.index(body["source"])
        start = number - number % 6
        assert body["before"] == list(texts.sources[max(start, number - 2) : number])
        assert body["after"] == list(texts.sources[number + 1 : min(start + 6, number + 3)])
        made.submit(1, task)
        seen += 1
    assert seen > 8


@BOTH_DATABASES
def test_judges_at_once_get_what_is_wanted_and_no_more(make: Make) -> None:
    made = make(Design(judges=8, overlap=0.5), material(30, 4))

    def run(judge: int) -> int:
        rng = np.random.default_rng(judge)
        done = 0
        while work(made, judge, rng) is not None:
            done += 1
        return done

    with ThreadPoolExecutor(8) as pool:
        done = sum(pool.map(run, [judge.id for judge in made.judges]))
    check_invariants(made)
    rows = made.rows(select(items.c.given, items.c.wanted).where(items.c.purpose == "main"))
    assert len(made.rows(judgments)) == done
    assert sum(row.given for row in rows) >= sum(row.wanted for row in rows) - 8


@BOTH_DATABASES
def test_same_answer_from_many_threads_is_stored_once(make: Make) -> None:
    made = make(Design())
    task = made.claim()
    ranks = ranked_alike(made.body(1, task))
    with ThreadPoolExecutor(6) as pool:
        jobs = [pool.submit(made.submit, 1, task, ranks) for _ in range(12)]
        statuses = Counter(job.result().status for job in jobs)
    assert statuses == {201: 1, 200: 11}


def test_call_that_lost_a_race_is_tried_again(campaign: Made) -> None:
    for error, words, tries in (
        (IntegrityError, "UNIQUE constraint failed", 2),
        (OperationalError, "database is locked", 2),
        (OperationalError, "disk is full", 1),
    ):
        begun: list[int] = []

        def work(_: object, begun=begun, error=error, words=words) -> int:
            begun.append(1)
            if len(begun) == 1:
                raise error("x", None, Exception(words))
            return len(begun)

        with contextlib.suppress(OperationalError):
            assert campaign.store.retried(work) == tries
        assert len(begun) == tries, words


def test_links_and_names(make: Make) -> None:
    made = make(Design(judges=2))
    before = made.store.salt_of_judge(1)
    (judge,) = rotate_judges(made.database, ["j0"])
    assert made.store.salt_of_judge(1) == judge.salt != before
    assert made.store.salt_of_judge(99) is None
    for names in (["j0"], ["x", "x"], [" "], ["a\nb"], ["y" * 101]):
        with pytest.raises(InputError):
            add_judges(made.database, names)
    with pytest.raises(InputError, match="no judge 'nobody'"):
        rotate_judges(made.database, ["nobody"])


@pytest.mark.parametrize("judges", [1, 2])
def test_progress_is_of_what_one_judge_can_have(make_sqlite: Make, judges: int) -> None:
    """Without a quota: checks are counted on both sides, and what others do is not."""
    made = make_sqlite(Design(judges=judges, overlap=1.0))

    def progress() -> dict[str, int]:
        with made.database.reading() as connection:
            return dict(judge_state(made.store, connection, 1)[1].progress)

    first = progress()
    done = sum(1 for task, _ in made.tasks() if made.submit(1, task))
    last = progress()
    assert first["done"] == 0 < last["done"] == done <= last["quota"]
    assert abs(first["quota"] - done) <= done // 10  # some checks cannot be had
