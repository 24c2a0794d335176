"""Campaigns stored in a database, open, with judges and a clock that is set by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from campaigns import material
from errata.collect.design import Design
from errata.collect.items import CampaignTexts, Example, build_items
from errata.web.database import Database, create_database
from errata.web.people import InvitedJudge, add_judges, change_state, fill_campaign
from errata.web.store import Store

WHY = "A *word* stands there twice <b>."
_EXPECTED = {"worse": 1, "better": 0, "why": WHY}
LESSONS = tuple(
    Example(f"He go {k} .", (f"He goes {k} .", f"He go go {k} ."), _EXPECTED) for k in range(2)
)


class Ticks:
    """A clock that is set by hand, in milliseconds."""

    def __init__(self) -> None:
        self.now = 1_000_000

    def __call__(self) -> int:
        return self.now


class Made:
    """An open campaign with its judges and a clock."""

    def __init__(
        self, database: Database, texts: CampaignTexts, judges: list[InvitedJudge]
    ) -> None:
        self.database, self.texts, self.judges = database, texts, judges
        self.clock = Ticks()
        self.store = Store(
            database, rng=np.random.default_rng(0), steady=self.clock, wall=self.clock
        )


Make = Callable[..., Made]


def made(
    place: str,
    design: Design,
    texts: CampaignTexts | None = None,
    *,
    wanted: int | None = None,
    examples: tuple[Example, ...] = (),
    **options: Any,
) -> Made:
    texts = material(60, 5) if texts is None else texts
    built = build_items(design, texts, wanted, examples)
    database = create_database(place)
    fill_campaign(database, design, texts, built, name="test", now=0, **options)
    judges = add_judges(database, [f"j{k}" for k in range(design.judges)], now=0)
    change_state(database, "open", now=0)
    return Made(database, texts, judges)
