"""Every export form, streamed.

Rankings and pairs go through the writers of `errata.io.judgments`, so that `errata rank`, `agree`
and `plan` read them as they read everybody's.
"""

from __future__ import annotations

import csv
import json
import os
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from io import StringIO
from itertools import groupby
from typing import IO, Any, NamedTuple

from sqlalchemy import Connection, Select, bindparam, func, select

from errata.collect.design import FORMS_OUT, Design, ExportForm, design_of
from errata.collect.files import WRITERS, WrittenLine, render_writers
from errata.collect.items import letters_of, shown_edits
from errata.collect.judgments import StoredAnswer, item_name, to_judgment
from errata.collect.qualification import control_passed, lesson_passed
from errata.collect.web.assignments import view_of
from errata.collect.web.database import Database, iso_time
from errata.collect.web.panel import panel_in, released_participants
from errata.collect.web.schema import (
    assignments,
    campaigns,
    identities,
    item_outputs,
    items,
    judges,
    judgments,
    outputs,
    sentences,
    writers,
)
from errata.collect.web.store import usual_scores
from errata.core.errors import FORMULAS, InputError
from errata.data import Corpus, Edit, Judgment, Reference
from errata.edits import classify_all
from errata.io.atomic import write_lines
from errata.io.m2 import format_m2

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
        yield to_judgment(
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

    design = _design(database)
    _refuse(design, form)
    if form == "people":
        return people_lines(database, safe_cells=safe_cells)
    if form == "details":
        return details_lines(database, design, blocked=blocked)
    if form == "scores":
        return score_lines(database, design, blocked=blocked)
    if form == "scores-csv":
        return score_csv(database, design, blocked=blocked, safe_cells=safe_cells)
    if form == "edits":
        return edit_lines(database, blocked=blocked)
    if form == "edits-m2":
        return majority_m2(database, blocked=blocked)
    return _judgment_lines(database, form, blocked=blocked)


def _judgment_lines(database: Database, form: str, *, blocked: bool) -> Iterator[str]:
    from errata.io.judgments import render_jsonl
    from errata.io.judgments.appraise import render_appraise
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

    design = _design(database)
    if design.kind not in ("correct", "review"):
        raise InputError(
            f"a campaign of the kind {design.kind!r} has no texts",
            path=database.name,
            remedy="choose another form",
        )
    name = _namer(database, design)
    for instruction, slot in output_files(database, design):

        def lines(instruction: str = instruction, slot: int = slot) -> Iterator[str]:
            return text_lines(
                database, instruction, slot, mark=mark, blocked=blocked, kind=design.kind
            )

        yield name(instruction, slot), lines


def _namer(database: Database, design: Design) -> Callable[[str, int], str]:
    """Names the file of an instruction (of reviews a system) and slot."""

    once = all(slot == 0 for _, slot in output_files(database, design))

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

    design = _design(database)
    name = _namer(database, design)
    return written_lines(
        database, design, blocked=blocked, names=lambda *which: begin + name(*which)
    )


def write_texts(
    database: Database, start: str, *, mark: str = "", blocked: bool = False
) -> list[tuple[str, int]]:
    """Write the texts of a campaign and the file of their writers; return files and lines."""
    written = [
        (start + name, write_lines(lines(), start + name))
        for name, lines in text_files(database, mark=mark, blocked=blocked)
    ]
    writers = writer_lines(database, begin=os.path.basename(start), blocked=blocked)
    path = start + WRITERS
    return [*written, (path, write_lines(render_writers(writers), path))]


def texts_without_room(database: Database, *, blocked: bool = False) -> int:
    """How many corrections or reviews stand in none of the `text_files`, and in details alone."""

    return omitted_texts(database, _design(database), blocked=blocked)


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


# ---- The texts of a campaign as one file, for a page that saves one at a time.

PART = 1 << 16  # bytes sent at a time


def zip_texts(database: Database) -> IO[bytes]:
    """A zip of all `text_files` and who wrote their lines; it waits on the disk, without a name."""
    file = tempfile.TemporaryFile()  # noqa: SIM115 - whoever sends it closes it
    try:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, lines in text_files(database):
                _add(archive, name, lines)
            _add(archive, WRITERS, lambda: render_writers(writer_lines(database)))
        file.seek(0)
    except BaseException:
        file.close()
        raise
    return file


def _add(archive: zipfile.ZipFile, name: str, lines: Callable[[], Iterator[str]]) -> None:
    if name in archive.namelist():
        raise InputError(
            f"two files would be called {name}", remedy="take details: two systems are alike but /"
        )
    with archive.open(name, "w", force_zip64=True) as member:
        for line in lines():
            member.write(f"{line}\n".encode())


def parts_of(file: IO[bytes]) -> Iterator[bytes]:
    """A file bit by bit; it is closed at the end, and when nobody asks for more."""
    with file:
        while part := file.read(PART):
            yield part


# ---- Verdicts on edits as files: every verdict, and M2 of what the majority calls good.

EditKey = tuple[int, int, str]  # start, end, replacement


def edit_lines(database: Database, *, blocked: bool) -> Iterator[str]:
    """JSON lines: a verdict of a judge on an edit, with the systems that made it."""
    for stored in stored_rows(database, blocked=blocked):
        for number, edit in enumerate(shown_edits(stored.row.source, stored.texts), 1):
            start, end, replacement, whose = edit
            found: dict[str, Any] = {
                "item": stored.item,
                "sentence": stored.row.number,
                "start": start,
                "end": end,
                "replacement": replacement,
                "systems": sorted(name for k in whose for name in stored.systems[k]),
                "judge": stored.row.name,
                "verdict": None if stored.answer is None else stored.answer[str(number)],
            }
            if stored.row.skip is not None:
                found["skipped"] = True
            yield json.dumps(found, ensure_ascii=False)


def _majorities(
    database: Database, *, blocked: bool
) -> Iterator[tuple[int, str, Counter[EditKey]]]:
    """The judged sentences with their edits: how many more judges call each good than do not."""
    rows = stored_rows(database, blocked=blocked, by_sentence=True)
    for number, several in groupby(rows, key=lambda stored: int(stored.row.number)):
        votes: Counter[EditKey] = Counter()
        source = None
        for stored in several:
            if stored.answer is None or stored.row.purpose == "repeat":
                continue
            source = str(stored.row.source)
            for place, edit in enumerate(shown_edits(source, stored.texts), 1):
                votes[edit[:3]] += 1 if stored.answer[str(place)] == "good" else -1
        if source is not None:
            yield number, source, votes


def majority_m2(database: Database, *, blocked: bool) -> Iterator[str]:
    """M2 of the judged sentences with the edits that more judges call good than do not.

    Of good edits that overlap the one with most votes stands (then the first): edits of an
    annotator must not overlap. `omitted_edits` says which ones do not stand.
    """
    for _, source, votes in _majorities(database, blocked=blocked):
        chosen = tuple(Edit(*key) for key in sorted(_compatible(votes)[0]))
        edits = classify_all([source], [chosen])[0]
        corpus = Corpus((" ".join(source.split()),), ((Reference(0, edits),),))
        yield from format_m2(corpus)


class LeftOutEdit(NamedTuple):
    """A good edit that is not in the M2: its sentence (from 0), votes, and what stands instead."""

    sentence: int
    edit: EditKey
    votes: int
    instead: EditKey


def omitted_edits(database: Database, *, blocked: bool = False) -> list[LeftOutEdit]:
    """The good edits that are not in the M2, because they overlap others."""
    return [
        LeftOutEdit(number, edit, votes[edit], instead)
        for number, _, votes in _majorities(database, blocked=blocked)
        for edit, instead in _compatible(votes)[1]
    ]


def _compatible(votes: Counter[EditKey]) -> tuple[list[EditKey], list[tuple[EditKey, EditKey]]]:
    """The good edits that stand together, and those that do not, each with one in its way."""
    chosen: list[EditKey] = []
    dropped: list[tuple[EditKey, EditKey]] = []
    for key, count in sorted(votes.items(), key=lambda vote: (-vote[1], vote[0])):
        if count <= 0:
            break
        start, end, _ = key
        for other in chosen:
            if (start < other[1] and other[0] < end) or (start, end) == other[:2]:
                dropped.append((key, other))
                break
        else:
            chosen.append(key)
    return chosen, dropped


# ---- The lines of each exported form that no reader of rankings shares.


def details_lines(database: Database, design: Design, *, blocked: bool) -> Iterator[str]:
    """Everything, one assignment a line, with all its revisions."""
    usual: dict[int, dict[str, float]] = {}
    rows = stored_rows(database, checks=True, blocked=blocked, revisions=True)
    for _, several in groupby(rows, key=lambda stored: stored.row.assignment):
        revisions = list(several)
        yield json.dumps(_details(database, design, revisions, usual), ensure_ascii=False)


def _details(
    database: Database,
    design: Design,
    revisions: list[StoredRow],
    usual: dict[int, dict[str, float]],
) -> dict[str, Any]:
    last = revisions[-1]
    row = last.row
    found: dict[str, Any] = {
        "item": last.item,
        "judge": row.name,
        "sentence": row.number,
        "purpose": row.purpose,
        "policy": row.policy,
        "document": row.document,
        "stratum": row.stratum,
        "probability": row.probability,
        "source": row.source,
        "outputs": [
            {"key": key, "text": text, "systems": list(systems), "damaged": damaged}
            for key, text, systems, damaged in zip(
                letters_of(len(last.texts)), last.texts, last.systems, last.damaged, strict=True
            )
        ],
        "order": json.loads(row.shown),
        "state": row.state,
        "late": row.late,
        "blocked": row.judge_state == "blocked",
        "revisions": [_revision(each) for each in revisions],
    }
    if row.reference:
        found["reference"] = row.reference
    if row.expected is not None:
        found["expected"] = json.loads(row.expected)
    if row.purpose == "tutorial":
        found["passed"] = lesson_passed(
            design,
            found["expected"],
            found["order"],
            revisions[0].answer,
            source=row.source,
            outputs=last.texts,
        )
    if row.purpose == "control":
        if row.judge not in usual:
            with database.reading() as connection:
                usual[row.judge] = usual_scores(connection, design, row.judge)
        found["passed"] = control_passed(
            design,
            found["expected"],
            found["order"],
            last.answer,
            source=row.source,
            outputs=last.texts,
            usual=usual[row.judge],
        )
    return found


def _revision(stored: StoredRow) -> dict[str, Any]:
    row = stored.row
    return {
        "revision": row.revision,
        "answer": stored.answer,
        "skip": row.skip,
        "comment": row.comment,
        "active_ms": row.active_ms,
        "total_ms": row.total_ms,
        "flagged": row.flagged,
        "display": json.loads(row.display or "{}"),
        "client_time": row.client_time,
        "time": iso_time(row.server_time),
    }


def _scored(database: Database, design: Design, *, blocked: bool) -> Iterator[dict[str, Any]]:
    """One output at a time, with the values of every scale in the order they were given."""
    query = (
        select(
            outputs.c.id,
            outputs.c.text,
            outputs.c.systems,
            sentences.c.number,
            sentences.c.text.label("source"),
            item_outputs.c.position,
            assignments.c.shown,
            judgments.c.answer,
        )
        .join(sentences, sentences.c.id == outputs.c.sentence)
        .join(item_outputs, item_outputs.c.output == outputs.c.id)
        .join(items, items.c.id == item_outputs.c.item)
        .join(assignments, assignments.c.item == items.c.id)
        .join(judges, judges.c.id == assignments.c.judge)
        .join(judgments, judgments.c.assignment == assignments.c.id)
        .where(
            items.c.purpose.in_(("main", "repeat")),
            judgments.c.answer.is_not(None),
            LAST,
            *(() if blocked else (judges.c.state != "blocked",)),
        )
        .order_by(outputs.c.id, judgments.c.id)
    )
    with database.reading() as connection:
        rows = connection.execute(query, execution_options={"yield_per": BATCH_ROWS})
        for _, several in groupby(rows, key=lambda row: row.id):
            answered = list(several)
            values = [_of_output(design, row) for row in answered]
            first = answered[0]
            yield {
                "sentence": first.number,
                "source": first.source,
                "output": first.text,
                "systems": json.loads(first.systems),
                "values": {s.name: [each[s.name] for each in values] for s in design.scales},
            }


def _of_output(design: Design, row: Any) -> dict[str, int]:
    answer = json.loads(row.answer)
    if design.side_by_side:
        order = json.loads(row.shown)
        answer = answer[letters_of(len(order))[order.index(row.position)]]
    found: dict[str, int] = answer
    return found


def _mean(values: list[int]) -> float:
    return sum(values) / len(values)


def score_lines(database: Database, design: Design, *, blocked: bool) -> Iterator[str]:
    """JSON lines: an output, its systems, and for each scale the values and their mean."""
    for each in _scored(database, design, blocked=blocked):
        values = each.pop("values")
        scales = {name: {"values": some, "mean": _mean(some)} for name, some in values.items()}
        yield json.dumps(each | {"scales": scales}, ensure_ascii=False)


def score_csv(
    database: Database, design: Design, *, blocked: bool, safe_cells: bool
) -> Iterator[str]:
    """CSV that `errata.io.judgments.sheets` reads; commas separate the values of a cell."""
    names = [scale.name for scale in design.scales]
    titles = ["sentence", "source", "output", "systems", *names, *(f"mean {n}" for n in names)]
    yield _csv(titles, safe=False)
    for each in _scored(database, design, blocked=blocked):
        values = each["values"]
        yield _csv(
            [
                each["sentence"],
                each["source"],
                each["output"],
                ",".join(each["systems"]),
                *(",".join(map(str, values[name])) for name in names),
                *(f"{_mean(values[name]):.6g}" for name in names),
            ],
            safe=safe_cells,
        )


def _csv(cells: Iterable[object], *, safe: bool) -> str:
    """A row; with ``safe`` an apostrophe stands before what could be a formula."""
    row = [
        f"'{cell}" if safe and isinstance(cell, str) and cell.startswith(FORMULAS) else cell
        for cell in cells
    ]
    buffer = StringIO()
    csv.writer(buffer, lineterminator="").writerow(row)
    return buffer.getvalue()


def people_lines(database: Database, *, safe_cells: bool) -> Iterator[str]:
    """CSV of who finished (or failed the tutorial), with code and external id, for paying."""
    done = (
        select(assignments.c.judge, func.count().label("done"))
        .join(items, items.c.id == assignments.c.item)
        .where(assignments.c.state.in_(("done", "skipped")), items.c.purpose != "tutorial")
        .group_by(assignments.c.judge)
        .subquery()
    )
    query = (
        select(
            judges.c.id,
            judges.c.name,
            judges.c.state,
            judges.c.quota,
            identities.c.provider,
            identities.c.external_id,
            done.c.done,
        )
        .outerjoin(identities, identities.c.judge == judges.c.id)
        .outerjoin(done, done.c.judge == judges.c.id)
        .where(judges.c.state != "forgotten")
        .order_by(judges.c.id)
    )
    yield _csv(
        ["judge", "provider", "external id", "state", "done", "quota", "finished", "code"],
        safe=False,
    )
    with database.reading() as connection:
        campaign = connection.execute(select(campaigns.c.design, campaigns.c.texts)).one()
        design = design_of(json.loads(campaign.design))
        panel = panel_in(json.loads(campaign.texts))
        code = panel.code if panel else ""
        early = released_participants(connection)
        for row in connection.execute(query, execution_options={"yield_per": BATCH_ROWS}):
            quota = design.quota if row.quota is None else row.quota
            state = row.state
            if state == "active" and design.pass_mark and not row.done:
                judge: Any = row
                failed = view_of(connection, design, judge).tutorial == "failed"
                state = "failed" if failed else state
            finished = row.id in early or (quota is not None and (row.done or 0) >= quota)
            yield _csv(
                [
                    row.name,
                    row.provider or "",
                    row.external_id or "",
                    state,
                    row.done or 0,
                    "" if quota is None else quota,
                    "yes" if finished else "no",
                    code if finished and row.external_id else "",
                ],
                safe=safe_cells,
            )


# ---- The texts that judges wrote, as files with a line a sentence, and who wrote which line.

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


def output_files(database: Database, design: Design) -> list[tuple[str, int]]:
    """The instruction (of reviews the system) and number of each file of texts."""
    if design.kind == "correct":
        return [(name, slot) for name in design.instructions for slot in range(design.slots)]
    with database.reading() as connection:
        names = json.loads(connection.execute(select(campaigns.c.systems)).scalar_one())
        most = connection.execute(
            select(func.max(items.c.wanted)).where(items.c.purpose == "main")
        ).scalar_one()
    return [(name, slot) for name in names for slot in range(most or 0)]


def omitted_texts(database: Database, design: Design, *, blocked: bool) -> int:
    """How many texts no file has room for: late ones, of sentences whose slots were filled."""
    slots = 1 + max((slot for _, slot in output_files(database, design)), default=0)
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


def _stored_answers(blocked: bool) -> Select[Any]:
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
        at = _at(connection.execute(_stored_answers(blocked), execution_options=_OPTIONS))
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
    for instruction, slot in output_files(database, design):
        slots[instruction] = slot + 1
    with database.reading() as connection, database.reading() as other, database.reading() as third:
        people = set(other.execute(select(judges.c.name)).scalars())
        at = _at(connection.execute(_stored_answers(blocked), execution_options=_OPTIONS))
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
