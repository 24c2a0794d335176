"""The texts that judges wrote, as files with a line a sentence, and who wrote which line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import Any

from sqlalchemy import Select, func, select

from errata.collect.design import Design
from errata.io.writers import WrittenLine
from errata.web.database import Database
from errata.web.exports import BATCH_ROWS, LAST
from errata.web.schema import (
    assignments,
    campaigns,
    item_outputs,
    items,
    judges,
    judgments,
    outputs,
    sentences,
    writers,
)

__all__ = ["text_lines", "text_slots", "texts_left_out", "written_lines"]

_WRITTEN = (  # in the order that slots are filled in: as tasks were given, late ones last
    select(
        sentences.c.number,
        judgments.c.answer,
        items.c.policy,
        outputs.c.id,
        outputs.c.text,
        outputs.c.systems,
        judges.c.name,
        judges.c.state,
    )
    .join(assignments, assignments.c.id == judgments.c.assignment)
    .join(items, items.c.id == assignments.c.item)
    .join(sentences, sentences.c.id == items.c.sentence)
    .join(judges, judges.c.id == assignments.c.judge)
    .outerjoin(item_outputs, item_outputs.c.item == items.c.id)
    .outerjoin(outputs, outputs.c.id == item_outputs.c.output)
    .where(items.c.purpose == "main", judgments.c.answer.is_not(None), LAST)
    .order_by(sentences.c.number, assignments.c.late, assignments.c.id)
)
_EVERYTHING = (  # sentences of the organiser's own examples have no stratum
    select(sentences.c.number, sentences.c.text)
    .where(sentences.c.stratum != "")
    .order_by(sentences.c.number)
)
_WRITERS = (
    select(sentences.c.number, writers.c.output, writers.c.name)
    .join(outputs, outputs.c.id == writers.c.output)
    .join(sentences, sentences.c.id == outputs.c.sentence)
    .order_by(sentences.c.number, writers.c.id)
)
_OPTIONS = {"yield_per": BATCH_ROWS}


def text_slots(database: Database, design: Design) -> list[tuple[str, int]]:
    """The instruction (of reviews the system) and number of each file of texts."""
    if design.kind == "correct":
        return [(name, slot) for name in design.instructions for slot in range(design.slots)]
    with database.reading() as connection:
        names = json.loads(connection.execute(select(campaigns.c.systems)).scalar_one())
        most = connection.execute(
            select(func.max(items.c.wanted)).where(items.c.purpose == "main")
        ).scalar_one()
    return [(name, slot) for name in names for slot in range(most or 0)]


def texts_left_out(database: Database, design: Design, *, blocked: bool) -> int:
    """How many texts no file has room for: late ones, of sentences whose slots were filled."""
    slots = 1 + max((slot for _, slot in text_slots(database, design)), default=0)
    given = (
        select((func.count() - slots).label("beyond"))
        .select_from(assignments)
        .join(items, items.c.id == assignments.c.item)
        .join(judges, judges.c.id == assignments.c.judge)
        .where(
            items.c.purpose == "main",
            assignments.c.state == "done",
            *(() if blocked else (judges.c.state != "blocked",)),
        )
        .group_by(items.c.id)
        .having(func.count() > slots)
        .subquery()
    )
    with database.reading() as connection:
        return int(connection.execute(select(func.sum(given.c.beyond))).scalar() or 0)


def _written(blocked: bool) -> Select[Any]:
    return _WRITTEN if blocked else _WRITTEN.where(judges.c.state != "blocked")


def _at(rows: Iterable[Any]) -> Callable[[int], list[Any]]:
    """Gives the rows of a sentence; sentences are asked for in their order."""
    groups = groupby(rows, key=lambda row: row.number)
    current = next(groups, None)

    def at(number: int) -> list[Any]:
        nonlocal current
        if current is None or current[0] != number:
            return []
        found = list(current[1])
        current = next(groups, None)
        return found

    return at


def _of_file(rows: Iterable[Any], instruction: str, kind: str) -> list[Any]:
    """What files of an instruction (of reviews a system) have of a sentence, slot by slot."""
    if kind == "correct":
        return [row for row in rows if row.policy == instruction]
    return [row for row in rows if instruction in json.loads(row.systems)]


def text_lines(
    database: Database, instruction: str, slot: int, *, mark: str, blocked: bool, kind: str
) -> Iterator[str]:
    """A line for every sentence: the correction in this slot, or the mark.

    Slots are filled in the order the tasks were given, by late corrections last. Of reviews
    ``instruction`` is the system whose texts were reviewed, and an accepted text is itself.
    """
    with database.reading() as connection, database.reading() as other:
        at = _at(connection.execute(_written(blocked), execution_options=_OPTIONS))
        for sentence in other.execute(_EVERYTHING, execution_options=_OPTIONS):
            several = _of_file(at(sentence.number), instruction, kind)
            yield _text_of(several[slot], sentence.text) if slot < len(several) else mark


def _text_of(row: Any, source: str) -> str:
    answer = json.loads(row.answer)
    if "text" in answer:
        return str(answer["text"])
    return str(row.text) if "accept" in answer else source


def written_lines(
    database: Database, design: Design, *, blocked: bool, names: Callable[[str, int], str]
) -> Iterator[WrittenLine]:
    """Who wrote each line of the files, and who wrote what none of them has room for.

    ``names`` gives the name of the file of an instruction (of reviews a system) and slot. An
    accepted text is by whoever wrote it, as far as is known; who was forgotten has no name.
    """
    slots: dict[str, int] = {}
    for instruction, slot in text_slots(database, design):
        slots[instruction] = slot + 1
    with database.reading() as connection, database.reading() as other, database.reading() as third:
        people = set(other.execute(select(judges.c.name)).scalars())
        at = _at(connection.execute(_written(blocked), execution_options=_OPTIONS))
        known = _at(third.execute(_WRITERS, execution_options=_OPTIONS))
        for number, source in other.execute(_EVERYTHING, execution_options=_OPTIONS):
            rows, wrote = at(number), known(number)
            for instruction, many in slots.items():
                for slot, row in enumerate(_of_file(rows, instruction, design.kind)):
                    file = names(instruction, slot) if slot < many else ""
                    for name in _names(row, wrote, people):
                        yield WrittenLine(number, name, _text_of(row, source), file)


def _names(row: Any, wrote: Iterable[Any], people: set[str]) -> list[str]:
    """The writers of a text; a system is one only if a judge is called like it."""
    if "accept" not in json.loads(row.answer):
        return [] if row.state == "forgotten" else [row.name]
    systems = json.loads(row.systems)
    return [
        each.name
        for each in wrote
        if each.output == row.id and (each.name in people or each.name not in systems)
    ]
