"""Files out of a campaign, line by line at constant memory: any size can be streamed.

Rankings and pairs go through the writers of `errata.io.judgments`, so that `errata rank`, `agree`
and `plan` read them as they read everybody's.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, bindparam, func, select

from errata.collect.design import Design, design_of
from errata.collect.readings import StoredAnswer, item_name, judgment_of
from errata.data import Judgment
from errata.errors import InputError
from errata.io.writers import WrittenLine
from errata.web.clock import iso_time
from errata.web.database import Database
from errata.web.forms import FORMS_OUT, ExportForm
from errata.web.schema import (
    assignments,
    campaigns,
    item_outputs,
    items,
    judges,
    judgments,
    outputs,
    sentences,
)

__all__ = [
    "LAST",
    "StoredRow",
    "answers_stored",
    "export_lines",
    "forms_of",
    "judgments_in",
    "stored_rows",
    "text_files",
    "texts_without_room",
    "writer_lines",
]

BATCH_ROWS = 500


class StoredRow(NamedTuple):
    """A last revision with all that is known of it; outputs in the order shown."""

    row: Any
    systems: tuple[tuple[str, ...], ...]
    texts: tuple[str, ...]
    damaged: tuple[bool, ...]

    @property
    def answer(self) -> Any:
        return None if self.row.answer is None else json.loads(self.row.answer)

    @property
    def item(self) -> str:
        return item_name(self.row.number, self.row.item, self.row.origin)


_later = judgments.alias("later")
_ROWS = (
    select(
        judgments,
        assignments.c.item,
        assignments.c.judge,
        assignments.c.shown,
        assignments.c.state,
        assignments.c.late,
        assignments.c.opened,
        items.c.purpose,
        items.c.policy,
        items.c.origin,
        items.c.expected,
        sentences.c.number,
        sentences.c.text.label("source"),
        sentences.c.document,
        sentences.c.stratum,
        sentences.c.probability,
        sentences.c.reference,
        judges.c.name,
        judges.c.state.label("judge_state"),
    )
    .join(assignments, assignments.c.id == judgments.c.assignment)
    .join(items, items.c.id == assignments.c.item)
    .join(sentences, sentences.c.id == items.c.sentence)
    .join(judges, judges.c.id == assignments.c.judge)
)
LAST = ~(  # the last revision of an answer
    select(_later.c.id)
    .where(_later.c.assignment == judgments.c.assignment, _later.c.revision > judgments.c.revision)
    .exists()
)
_SHOWN = (
    select(item_outputs.c.item, item_outputs.c.replacement, outputs.c.text, outputs.c.systems)
    .join(outputs, outputs.c.id == item_outputs.c.output)
    .where(item_outputs.c.item.in_(bindparam("items", expanding=True)))
    .order_by(item_outputs.c.item, item_outputs.c.position)
)


def _query(*, checks: bool, blocked: bool, revisions: bool, by_sentence: bool) -> Select[Any]:
    conditions = [] if revisions else [LAST]
    if not checks:
        conditions.append(items.c.purpose.in_(("main", "repeat")))
    if not blocked:
        conditions.append(judges.c.state != "blocked")
    first = (sentences.c.number,) if by_sentence else ()
    order = (*first, assignments.c.id, judgments.c.revision)
    return _ROWS.where(*conditions).order_by(*order)


def stored_rows(
    database: Database,
    *,
    checks: bool = False,
    blocked: bool = False,
    revisions: bool = False,
    by_sentence: bool = False,
) -> Iterator[StoredRow]:
    """What was stored, in the order it was given (or by sentence): last revisions, no checks.

    With ``checks`` controls and tutorials come too, with ``blocked`` the answers of judges who were
    blocked, with ``revisions`` every revision. What is read is the state at one time.
    """
    query = _query(checks=checks, blocked=blocked, revisions=revisions, by_sentence=by_sentence)
    with database.reading() as connection:
        rows = connection.execute(query, execution_options={"yield_per": BATCH_ROWS})
        for part in rows.partitions(BATCH_ROWS):
            yield from _with_outputs(connection, part)


def _with_outputs(connection: Connection, part: Sequence[Any]) -> Iterator[StoredRow]:
    known: dict[int, list[Any]] = {}
    wanted = list({row.item for row in part})
    for each in connection.execute(_SHOWN, {"items": wanted}):
        known.setdefault(each.item, []).append(each)
    for row in part:
        shown = [known[row.item][place] for place in json.loads(row.shown)]
        yield StoredRow(
            row,
            tuple(tuple(json.loads(each.systems)) for each in shown),
            tuple(each.replacement or each.text for each in shown),
            tuple(bool(each.replacement) for each in shown),
        )


def judgments_in(database: Database, *, blocked: bool = False) -> Iterator[Judgment]:
    """The rankings or pairs of a campaign, as `errata.io.judgments` writes them."""
    for stored in stored_rows(database, blocked=blocked):
        row = stored.row
        yield judgment_of(
            StoredAnswer(
                stored.item,
                row.name,
                row.number,
                stored.systems,
                stored.answer,
                row.skip,
                row.active_ms,
                iso_time(row.server_time),
            )
        )


def export_lines(
    database: Database, form: ExportForm, *, blocked: bool = False, safe_cells: bool = False
) -> Iterator[str]:
    """The lines of a form (without their ends); what a form cannot hold is refused.

    ``safe_cells`` puts an apostrophe before what a spreadsheet would take for a formula.
    """
    from errata.web import export_edits as edits
    from errata.web import export_forms as forms

    design = _design(database)
    _refuse(design, form)
    if form == "people":
        return forms.people_lines(database, safe_cells=safe_cells)
    if form == "details":
        return forms.details_lines(database, design, blocked=blocked)
    if form == "scores":
        return forms.score_lines(database, design, blocked=blocked)
    if form == "scores-csv":
        return forms.score_csv(database, design, blocked=blocked, safe_cells=safe_cells)
    if form == "edits":
        return edits.edit_lines(database, blocked=blocked)
    if form == "edits-m2":
        return edits.majority_m2(database, blocked=blocked)
    return _judgment_lines(database, form, blocked=blocked)


def _judgment_lines(database: Database, form: str, *, blocked: bool) -> Iterator[str]:
    from errata.io.judgments.appraise import render_appraise
    from errata.io.judgments.jsonl import render_jsonl
    from errata.io.judgments.pairwise import render_pairwise

    found = judgments_in(database, blocked=blocked)
    if form == "appraise":
        return render_appraise(found)
    return render_pairwise(found) if form == "pairwise" else render_jsonl(found)


def text_files(
    database: Database, *, mark: str = "", blocked: bool = False
) -> Iterator[tuple[str, Callable[[], Iterator[str]]]]:
    """A name and the lines of each file of corrections: one for each instruction and slot.

    Of reviews one for each system, and where several review a text, for each of them.

    There is a line for every sentence of the campaign; ``mark`` stands where nothing was written.
    """
    from errata.web import export_texts as texts

    design = _design(database)
    if design.kind not in ("correct", "review"):
        raise InputError(
            f"a campaign of the kind {design.kind!r} has no texts",
            path=database.name,
            remedy="choose another form",
        )
    name = _namer(database, design)
    for instruction, slot in texts.text_slots(database, design):

        def lines(instruction: str = instruction, slot: int = slot) -> Iterator[str]:
            return texts.text_lines(
                database, instruction, slot, mark=mark, blocked=blocked, kind=design.kind
            )

        yield name(instruction, slot), lines


def _namer(database: Database, design: Design) -> Callable[[str, int], str]:
    """Names the file of an instruction (of reviews a system) and slot."""
    from errata.web import export_texts as texts

    once = all(slot == 0 for _, slot in texts.text_slots(database, design))

    def name(instruction: str, slot: int) -> str:
        if design.kind == "correct":
            return f"{instruction}.{slot}"
        system = instruction.replace("/", "_")  # which may stand in a name, and not in a file's
        return f"reviewed.{system}" if once else f"reviewed.{system}.{slot}"

    return name


def writer_lines(
    database: Database, *, begin: str = "", blocked: bool = False
) -> Iterator[WrittenLine]:
    """Who wrote which line of the `text_files`, whose names begin so; for whoever reviews them."""
    from errata.web import export_texts as texts

    design = _design(database)
    name = _namer(database, design)
    return texts.written_lines(
        database, design, blocked=blocked, names=lambda *which: begin + name(*which)
    )


def texts_without_room(database: Database, *, blocked: bool = False) -> int:
    """How many corrections or reviews stand in none of the `text_files`, and in details alone."""
    from errata.web import export_texts as texts

    return texts.texts_left_out(database, _design(database), blocked=blocked)


def answers_stored(database: Database) -> int:
    """How many answers there are, revisions and checks among them."""
    with database.reading() as connection:
        return int(connection.execute(select(func.count(judgments.c.id))).scalar_one())


def _design(database: Database) -> Design:
    with database.reading() as connection:
        return design_of(json.loads(connection.execute(select(campaigns.c.design)).scalar_one()))


_KINDS = {
    "jsonl": ("rank", "pair"),
    "appraise": ("rank", "pair"),
    "pairwise": ("rank", "pair"),
    "scores": ("score",),
    "scores-csv": ("score",),
    "edits": ("edits",),
    "edits-m2": ("edits",),
}


def forms_of(design: Design) -> list[str]:
    """The forms that the answers of a campaign can be written in, texts aside."""
    return [form for form in FORMS_OUT if design.kind in _KINDS.get(form, (design.kind,))]


def _refuse(design: Design, form: str) -> None:
    if form not in FORMS_OUT:
        raise InputError(f"there is no form {form!r}", remedy=f"use one of {', '.join(FORMS_OUT)}")
    if design.kind not in _KINDS.get(form, (design.kind,)):
        fit = forms_of(design)
        raise InputError(
            f"answers of the kind {design.kind!r} cannot be written as {form}",
            remedy=f"use {' or '.join(fit)}"
            + (", or texts" if design.kind in ("correct", "review") else ""),
        )
