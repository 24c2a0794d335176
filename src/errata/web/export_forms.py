"""The lines of each exported form that no reader of rankings shares."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from io import StringIO
from itertools import groupby
from typing import Any

from sqlalchemy import func, select

from errata.collect.checks import control_passed
from errata.collect.design import Design, design_of
from errata.collect.lessons import lesson_passed
from errata.collect.tasks import letters_of
from errata.errors import FORMULAS
from errata.web.answering import usual_scores
from errata.web.clock import iso_time
from errata.web.database import Database
from errata.web.exports import BATCH_ROWS, LAST, StoredRow, stored_rows
from errata.web.giving import view_of
from errata.web.participants import panel_in, released
from errata.web.schema import (
    assignments,
    campaigns,
    identities,
    item_outputs,
    items,
    judges,
    judgments,
    outputs,
    sentences,
)

__all__ = ["details_lines", "people_lines", "score_csv", "score_lines"]


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
    """CSV with the columns that `errata.io.ratings` reads: values of a cell apart by commas."""
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
        early = released(connection)
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
