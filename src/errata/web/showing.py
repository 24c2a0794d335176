"""What an assignment shows, read from the database."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import Connection, Row, bindparam, select

from errata.collect.design import Design
from errata.collect.tasks import Shown
from errata.web.schema import item_outputs, items, outputs, sentences

__all__ = ["shown_by"]

# A row for each output, the sentence in all of them; one row without an output where none is shown.
_SHOWN = (
    select(
        sentences.c.campaign,
        sentences.c.number,
        sentences.c.document,
        sentences.c.text.label("source"),
        sentences.c.reference,
        items.c.policy,
        item_outputs.c.replacement,
        outputs.c.text,
    )
    .join(items, items.c.sentence == sentences.c.id)
    .outerjoin(item_outputs, item_outputs.c.item == items.c.id)
    .outerjoin(outputs, outputs.c.id == item_outputs.c.output)
    .where(items.c.id == bindparam("item"))
    .order_by(item_outputs.c.position)
)
_NEAR = (
    select(sentences.c.number, sentences.c.text)
    .where(
        sentences.c.campaign == bindparam("campaign"),
        sentences.c.number.between(bindparam("first"), bindparam("last")),
        sentences.c.document == bindparam("document"),
    )
    .order_by(sentences.c.number)
)


def shown_by(connection: Connection, design: Design, row: Row[Any]) -> Shown:
    """The texts of an assignment, outputs in the order shown; ``row`` has its item and order.

    Context is shown where documents are known, and only within one.
    """
    texts = connection.execute(_SHOWN, {"item": row.item}).all()
    sentence = texts[0]
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    if sentence.document and design.context:
        near = connection.execute(
            _NEAR,
            {
                "campaign": sentence.campaign,
                "first": sentence.number - design.context,
                "last": sentence.number + design.context,
                "document": sentence.document,
            },
        ).all()
        before = tuple(each.text for each in near if each.number < sentence.number)
        after = tuple(each.text for each in near if each.number > sentence.number)
    shown = (texts[place] for place in json.loads(row.shown))
    return Shown(
        sentence.source,
        tuple(each.replacement or each.text for each in shown),
        before,
        after,
        sentence.policy if design.kind == "correct" else "",
        sentence.reference,
    )
