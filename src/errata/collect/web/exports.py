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
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from io import StringIO
from itertools import groupby
from typing import IO, Any, NamedTuple, get_args

from sqlalchemy import ColumnElement, Connection, bindparam, func, select

from errata.collect.answers import shown_ranks
from errata.collect.design import COMPARING, WRITING, Design, ExportForm, Kind
from errata.collect.files import WRITERS, WrittenLine, render_writers
from errata.collect.items import letters_of, shown_edits
from errata.collect.qualification import ShownCheck
from errata.collect.web.assignments import view_of
from errata.collect.web.database import Database, iso_time
from errata.collect.web.panel import panel_in, released_participants
from errata.collect.web.schema import (
    answers,
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
from errata.io.judgments import render_jsonl
from errata.io.judgments.appraise import render_appraise
from errata.io.judgments.pairwise import render_pairwise
from errata.io.m2 import format_m2

BATCH_ROWS = 500
_OPTIONS = {"yield_per": BATCH_ROWS}

# ---- Answers as they are stored, with the outputs that were shown.


class StoredAnswer(NamedTuple):
    """A revision with all that is known of it; outputs in the order shown."""

    row: Any
    systems: tuple[tuple[str, ...], ...]
    texts: tuple[str, ...]
    damaged: tuple[bool, ...]

    @property
    def item(self) -> str:
        """The name of the item; a repeat has its origin's name and ``#2``."""
        origin, number = self.row.origin, self.row.number
        return f"s{number}.{self.row.item}" if origin is None else f"s{number}.{origin}#2"

    @property
    def judgment(self) -> Judgment:
        """A ranking or pair; what was skipped has no ranks."""
        row, many = self.row, len(self.systems)
        return Judgment(
            row.name,
            row.number,
            self.systems,
            (None,) * many if row.skip is not None else shown_ranks(row.answer, many),
            self.item,
            None if row.active_ms is None else row.active_ms / 1000,
            iso_time(row.server_time),
        )


_later = judgments.alias("later")
LAST = ~(  # the last revision of an answer
    select(_later.c.id)
    .where(_later.c.assignment == judgments.c.assignment, _later.c.revision > judgments.c.revision)
    .exists()
)
JUDGED = items.c.purpose.in_(("main", "repeat"))  # neither controls nor tutorials
_ROWS = select(
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
).select_from(answers)
_SHOWN = (
    select(item_outputs.c.item, item_outputs.c.replacement, outputs.c.text, outputs.c.systems)
    .join(outputs, outputs.c.id == item_outputs.c.output)
    .where(item_outputs.c.item.in_(bindparam("items", expanding=True)))
    .order_by(item_outputs.c.item, item_outputs.c.position)
)


def _with_blocked(blocked: bool) -> tuple[ColumnElement[bool], ...]:
    """The condition on judges: without it the answers of those who were blocked come too."""
    return () if blocked else (judges.c.state != "blocked",)


def read_answers(
    connection: Connection, *conditions: ColumnElement[bool], by_sentence: bool = False
) -> Iterator[StoredAnswer]:
    """The answers that meet conditions, in the order tasks were given (or by sentence)."""
    first = (sentences.c.number,) if by_sentence else ()
    query = _ROWS.where(*conditions).order_by(*first, assignments.c.id, judgments.c.revision)
    for part in connection.execute(query, execution_options=_OPTIONS).partitions(BATCH_ROWS):
        known: dict[int, list[Any]] = defaultdict(list)
        for each in connection.execute(_SHOWN, {"items": list({row.item for row in part})}):
            known[each.item].append(each)
        for row in part:
            shown = [known[row.item][place] for place in row.shown]
            yield StoredAnswer(
                row,
                tuple(each.systems for each in shown),
                tuple(each.replacement or each.text for each in shown),
                tuple(bool(each.replacement) for each in shown),
            )


def _last_answers(
    database: Database, *, blocked: bool, by_sentence: bool = False
) -> Iterator[StoredAnswer]:
    """The last revisions without controls and tutorials, as they are at one time."""
    with database.reading() as connection:
        conditions = (LAST, JUDGED, *_with_blocked(blocked))
        yield from read_answers(connection, *conditions, by_sentence=by_sentence)


def judgments_in(database: Database, *, blocked: bool = False) -> Iterator[Judgment]:
    """The rankings or pairs of a campaign, as `errata.io.judgments` writes them."""
    return (stored.judgment for stored in _last_answers(database, blocked=blocked))


def answers_stored(database: Database) -> int:
    """How many answers there are, revisions and checks among them."""
    with database.reading() as connection:
        return int(connection.execute(select(func.count(judgments.c.id))).scalar_one())


class Export(NamedTuple):
    """What lines of a form are asked for.

    ``safe_cells`` puts an apostrophe before what a spreadsheet would take for a formula.
    """

    database: Database
    design: Design
    blocked: bool
    safe_cells: bool


# ---- Verdicts on edits as files: every verdict, and M2 of what the majority calls good.

EditKey = tuple[int, int, str]  # start, end, replacement


def edit_lines(export: Export) -> Iterator[str]:
    """JSON lines: a verdict of a judge on an edit, with the systems that made it."""
    for stored in _last_answers(export.database, blocked=export.blocked):
        row = stored.row
        for number, edit in enumerate(shown_edits(row.source, stored.texts), 1):
            start, end, replacement, whose = edit
            found: dict[str, Any] = {
                "item": stored.item,
                "sentence": row.number,
                "start": start,
                "end": end,
                "replacement": replacement,
                "systems": sorted(name for k in whose for name in stored.systems[k]),
                "judge": row.name,
                "verdict": None if row.answer is None else row.answer[str(number)],
            }
            if row.skip is not None:
                found["skipped"] = True
            yield json.dumps(found, ensure_ascii=False)


def _majorities(
    database: Database, *, blocked: bool
) -> Iterator[tuple[int, str, Counter[EditKey]]]:
    """The judged sentences with their edits: how many more judges call each good than do not."""
    rows = _last_answers(database, blocked=blocked, by_sentence=True)
    for number, several in groupby(rows, key=lambda stored: int(stored.row.number)):
        votes: Counter[EditKey] = Counter()
        source = None
        for stored in several:
            if stored.row.answer is None or stored.row.purpose == "repeat":
                continue
            source = str(stored.row.source)
            for place, edit in enumerate(shown_edits(source, stored.texts), 1):
                votes[edit[:3]] += 1 if stored.row.answer[str(place)] == "good" else -1
        if source is not None:
            yield number, source, votes


def majority_m2(export: Export) -> Iterator[str]:
    """M2 of the judged sentences with the edits that more judges call good than do not.

    Of good edits that overlap the one with most votes stands (then the first): edits of an
    annotator must not overlap. `omitted_edits` says which ones do not stand.
    """
    for _, source, votes in _majorities(export.database, blocked=export.blocked):
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
    for key, count in votes.most_common():  # equal ones stay in the order of the text
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


def details_lines(export: Export) -> Iterator[str]:
    """Everything, one assignment a line, with all its revisions."""
    usual: dict[int, dict[str, float]] = {}
    with export.database.reading() as connection:
        rows = read_answers(connection, *_with_blocked(export.blocked))
        for _, several in groupby(rows, key=lambda stored: stored.row.assignment):
            details = _details(connection, export.design, list(several), usual)
            yield json.dumps(details, ensure_ascii=False)


def _details(
    connection: Connection,
    design: Design,
    revisions: list[StoredAnswer],
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
        "order": row.shown,
        "state": row.state,
        "late": row.late,
        "blocked": row.judge_state == "blocked",
        "revisions": [_revision(each.row) for each in revisions],
    }
    if row.reference:
        found["reference"] = row.reference
    if row.expected is not None:
        found["expected"] = row.expected
    check = ShownCheck(design, row.expected or {}, row.shown, row.source, last.texts)
    if row.purpose == "tutorial":
        found["passed"] = check.lesson_passed(revisions[0].row.answer)
    if row.purpose == "control":
        if row.judge not in usual:
            usual[row.judge] = usual_scores(connection, design, row.judge)
        found["passed"] = check.control_passed(row.answer, usual[row.judge])
    return found


def _revision(row: Any) -> dict[str, Any]:
    return {
        "revision": row.revision,
        "answer": row.answer,
        "skip": row.skip,
        "comment": row.comment,
        "active_ms": row.active_ms,
        "total_ms": row.total_ms,
        "flagged": row.flagged,
        "display": row.display or {},
        "client_time": row.client_time,
        "time": iso_time(row.server_time),
    }


def _scored_outputs(export: Export) -> Iterator[dict[str, Any]]:
    """One output at a time, with the values of every scale in the order they were given."""
    shown = answers.join(item_outputs, item_outputs.c.item == items.c.id).join(
        outputs, outputs.c.id == item_outputs.c.output
    )
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
        .select_from(shown)
        .where(JUDGED, LAST, judgments.c.answer.is_not(None), *_with_blocked(export.blocked))
        .order_by(outputs.c.id, judgments.c.id)
    )
    design = export.design
    with export.database.reading() as connection:
        rows = connection.execute(query, execution_options=_OPTIONS)
        for _, several in groupby(rows, key=lambda row: row.id):
            answered = list(several)
            first, values = answered[0], [_scores_of_output(design, row) for row in answered]
            yield {
                "sentence": first.number,
                "source": first.source,
                "output": first.text,
                "systems": first.systems,
                "values": {s.name: [each[s.name] for each in values] for s in design.scales},
            }


def _scores_of_output(design: Design, row: Any) -> Any:
    if not design.side_by_side:
        return row.answer
    return row.answer[letters_of(len(row.shown))[row.shown.index(row.position)]]


def _mean(values: list[int]) -> float:
    return sum(values) / len(values)


def score_lines(export: Export) -> Iterator[str]:
    """JSON lines: an output, its systems, and for each scale the values and their mean."""
    for each in _scored_outputs(export):
        values = each.pop("values")
        scales = {name: {"values": some, "mean": _mean(some)} for name, some in values.items()}
        yield json.dumps(each | {"scales": scales}, ensure_ascii=False)


def score_csv(export: Export) -> Iterator[str]:
    """CSV that `errata.io.judgments.sheets` reads; commas separate the values of a cell."""
    names = [scale.name for scale in export.design.scales]
    titles = ["sentence", "source", "output", "systems", *names, *(f"mean {n}" for n in names)]
    yield _csv_row(titles)
    for each in _scored_outputs(export):
        values = [each["values"][name] for name in names]
        cells = [each["sentence"], each["source"], each["output"], ",".join(each["systems"])]
        cells += [",".join(map(str, some)) for some in values]
        yield _csv_row([*cells, *(f"{_mean(some):.6g}" for some in values)], safe=export.safe_cells)


def _csv_row(cells: Iterable[object], *, safe: bool = False) -> str:
    """A row; with ``safe`` an apostrophe stands before what could be a formula."""
    row = [
        f"'{cell}" if safe and isinstance(cell, str) and cell.startswith(FORMULAS) else cell
        for cell in cells
    ]
    buffer = StringIO()
    csv.writer(buffer, lineterminator="").writerow(row)
    return buffer.getvalue()


def people_lines(export: Export) -> Iterator[str]:
    """CSV of who finished (or failed the tutorial), with code and external id, for paying."""
    done = (
        select(assignments.c.judge, func.count().label("done"))
        .join(items, items.c.id == assignments.c.item)
        .where(assignments.c.state.in_(("done", "skipped")), items.c.purpose != "tutorial")
        .group_by(assignments.c.judge)
        .subquery()
    )
    query = (
        select(judges, identities.c.provider, identities.c.external_id, done.c.done)
        .outerjoin(identities, identities.c.judge == judges.c.id)
        .outerjoin(done, done.c.judge == judges.c.id)
        .where(judges.c.state != "forgotten")
        .order_by(judges.c.id)
    )
    yield _csv_row(
        ["judge", "provider", "external id", "state", "done", "quota", "finished", "code"]
    )
    design = export.design
    with export.database.reading() as connection:
        panel = panel_in(connection.execute(select(campaigns.c.texts)).scalar_one())
        code = panel.code if panel else ""
        early = released_participants(connection)
        for row in connection.execute(query, execution_options=_OPTIONS):
            quota = design.quota if row.quota is None else row.quota
            state, many = row.state, row.done or 0
            if state == "active" and design.pass_mark and not many:
                failed = view_of(connection, design, row).tutorial == "failed"
                state = "failed" if failed else state
            finished = row.id in early or (quota is not None and many >= quota)
            cells = [row.name, row.provider or "", row.external_id or "", state, many]
            cells += ["" if quota is None else quota, "yes" if finished else "no"]
            cells.append(code if finished and row.external_id else "")
            yield _csv_row(cells, safe=export.safe_cells)


# ---- The forms, and which kinds of answers fit each.


def _judgments_as(
    render: Callable[[Iterable[Judgment]], Iterator[str]],
) -> Callable[[Export], Iterator[str]]:
    return lambda export: render(judgments_in(export.database, blocked=export.blocked))


_FORMS: dict[str, tuple[tuple[Kind, ...], Callable[[Export], Iterator[str]]]] = {
    "jsonl": (COMPARING, _judgments_as(render_jsonl)),
    "appraise": (COMPARING, _judgments_as(render_appraise)),
    "pairwise": (COMPARING, _judgments_as(render_pairwise)),
    "details": (get_args(Kind), details_lines),
    "scores": (("score",), score_lines),
    "scores-csv": (("score",), score_csv),
    "edits": (("edits",), edit_lines),
    "edits-m2": (("edits",), majority_m2),
    "people": (get_args(Kind), people_lines),
}


def forms_of(design: Design) -> list[str]:
    """The forms that the answers of a campaign can be written in, texts aside."""
    return [form for form, (kinds, _) in _FORMS.items() if design.kind in kinds]


def export_lines(
    database: Database, form: ExportForm, *, blocked: bool = False, safe_cells: bool = False
) -> Iterator[str]:
    """The lines of a form (without their ends); what a form cannot hold is refused."""
    with database.reading() as connection:
        design: Design = connection.execute(select(campaigns.c.design)).scalar_one()
    if form not in _FORMS:
        raise InputError(f"there is no form {form!r}", remedy=f"use one of {', '.join(_FORMS)}")
    kinds, lines = _FORMS[form]
    if design.kind not in kinds:
        others = ", or texts" if design.kind in WRITING else ""
        raise InputError(
            f"answers of the kind {design.kind!r} cannot be written as {form}",
            remedy=f"use {' or '.join(forms_of(design))}{others}",
        )
    return lines(Export(database, design, blocked, safe_cells))


# ---- The texts that judges wrote, as files with a line a sentence, and who wrote which line.

_WRITTEN = (  # in the order that slots are filled in: as tasks were given, late ones last
    select(
        sentences.c.number,
        sentences.c.text.label("source"),
        judgments.c.answer,
        items.c.policy,
        outputs.c.id,
        outputs.c.text,
        outputs.c.systems,
        judges.c.name,
        judges.c.state,
    )
    .select_from(
        answers.outerjoin(item_outputs, item_outputs.c.item == items.c.id).outerjoin(
            outputs, outputs.c.id == item_outputs.c.output
        )
    )
    .where(items.c.purpose == "main", judgments.c.answer.is_not(None), LAST)
    .order_by(sentences.c.number, assignments.c.late, assignments.c.id)
)
_NUMBERS = (  # sentences of the organiser's own examples have no stratum
    select(sentences.c.number).where(sentences.c.stratum != "").order_by(sentences.c.number)
)


class TextFile(NamedTuple):
    """A file of texts: of an instruction (of reviews a system), one for each slot."""

    instruction: str
    slot: int
    name: str


def _plan_text_files(connection: Connection) -> list[TextFile]:
    campaign = connection.execute(select(campaigns.c.design, campaigns.c.systems)).one()
    design = campaign.design
    if design.kind == "correct":
        return [
            TextFile(name, slot, f"{name}.{slot}")
            for name in design.instructions
            for slot in range(design.slots)
        ]
    most = select(func.max(items.c.wanted)).where(items.c.purpose == "main")
    slots = range(connection.execute(most).scalar_one() or 0)
    return [
        # A system may have a name that no file can have.
        TextFile(name, k, f"reviewed.{name.replace('/', '_')}" + (f".{k}" if slots[1:] else ""))
        for name in campaign.systems
        for k in slots
    ]


def _written_texts(
    connection: Connection, instruction: str, *, blocked: bool
) -> dict[int, list[Any]]:
    """By sentence the texts of an instruction (of reviews a system), slot by slot."""
    found: dict[int, list[Any]] = defaultdict(list)
    query = _WRITTEN.where(*_with_blocked(blocked))
    for row in connection.execute(query, execution_options=_OPTIONS):
        if instruction == row.policy if row.systems is None else instruction in row.systems:
            found[row.number].append(row)
    return found


def _text_of(row: Any) -> str:
    """The text that was written; an accepted one is itself, an unchanged one the source."""
    if "text" in row.answer:
        return str(row.answer["text"])
    return str(row.text if "accept" in row.answer else row.source)


def text_files(
    database: Database, *, mark: str = "", blocked: bool = False
) -> Iterator[tuple[str, Callable[[], Iterator[str]]]]:
    """A name and the lines of each file of corrections: one for each instruction and slot.

    Of reviews one for each system, and where several review a text, for each of them. There is a
    line for every sentence of the campaign; ``mark`` stands where nothing was written. Slots are
    filled in the order the tasks were given, by late corrections last.
    """

    def lines(file: TextFile) -> Iterator[str]:
        with database.reading() as connection:
            written = _written_texts(connection, file.instruction, blocked=blocked)
            for number in connection.execute(_NUMBERS).scalars():
                several = written.get(number, [])
                yield _text_of(several[file.slot]) if file.slot < len(several) else mark

    with database.reading() as connection:
        kind = connection.execute(select(campaigns.c.kind)).scalar_one()
        files = _plan_text_files(connection)
    if kind not in WRITING:
        raise InputError(
            f"a campaign of the kind {kind!r} has no texts",
            path=database.name,
            remedy="choose another form",
        )
    for file in files:
        yield file.name, partial(lines, file)


def writer_lines(
    database: Database, *, begin: str = "", blocked: bool = False
) -> Iterator[WrittenLine]:
    """Who wrote each line of the `text_files`, whose names start with ``begin``.

    What none of the files has room for comes too. An accepted text is by its writers, as far as
    they are known; a forgotten judge has no name.
    """
    query = select(writers.c.output, writers.c.name).order_by(writers.c.id)
    with database.reading() as connection:
        files: dict[str, list[TextFile]] = defaultdict(list)
        for file in _plan_text_files(connection):
            files[file.instruction].append(file)
        people = set(connection.execute(select(judges.c.name)).scalars())
        known: dict[int, list[str]] = defaultdict(list)
        for output, name in connection.execute(query):
            known[output].append(name)
        texts = {name: _written_texts(connection, name, blocked=blocked) for name in files}
        for number in connection.execute(_NUMBERS).scalars():
            for instruction, slots in files.items():
                for slot, row in enumerate(texts[instruction].get(number, [])):
                    file_name = begin + slots[slot].name if slot < len(slots) else ""
                    for name in _writer_names(row, known[row.id], people):
                        yield WrittenLine(number, name, _text_of(row), file_name)


def _writer_names(row: Any, wrote: Iterable[str], people: set[str]) -> list[str]:
    """The writers of a text; a system is one only if a judge is called like it."""
    if "accept" in row.answer:
        return [name for name in wrote if name in people or name not in row.systems]
    return [] if row.state == "forgotten" else [row.name]


def write_texts(
    database: Database, start: str, *, mark: str = "", blocked: bool
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
    """How many texts are in none of the `text_files`: late ones, of sentences with full slots."""
    with database.reading() as connection:
        slots = 1 + max((file.slot for file in _plan_text_files(connection)), default=0)
        given = (
            select((func.count() - slots).label("beyond"))
            .select_from(assignments.join(items).join(judges))
            .where(
                items.c.purpose == "main", assignments.c.state == "done", *_with_blocked(blocked)
            )
            .group_by(items.c.id)
            .having(func.count() > slots)
            .subquery()
        )
        return int(connection.execute(select(func.sum(given.c.beyond))).scalar() or 0)


# ---- The texts of a campaign as one file, for a page that saves one at a time.

PART = 1 << 16  # bytes sent at a time


def zip_texts(database: Database) -> IO[bytes]:
    """A zip of all `text_files` and who wrote their lines; it waits on the disk, without a name."""
    file = tempfile.TemporaryFile()  # noqa: SIM115 - closed after sending
    try:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, lines in text_files(database):
                _add_to_archive(archive, name, lines)
            _add_to_archive(archive, WRITERS, lambda: render_writers(writer_lines(database)))
        file.seek(0)
    except BaseException:
        file.close()
        raise
    return file


def _add_to_archive(
    archive: zipfile.ZipFile, name: str, lines: Callable[[], Iterator[str]]
) -> None:
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
