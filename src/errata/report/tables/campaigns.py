"""Campaigns as tables: what will happen, how far they are, and the links."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from errata.report.table import Table

if TYPE_CHECKING:
    from errata.collect.budget import Outlook
    from errata.collect.items import Built

__all__ = ["link_table", "outlook_table", "status_table"]


def outlook_table(name: str, found: Outlook, built: Built) -> Table:
    """Items, judgments, hours and cost of a campaign, before anybody works."""
    rows = [
        ("items", found.items),
        ("judgments", found.judgments),
        ("tasks, checks among them", found.tasks),
        ("seconds a task", found.seconds),
        ("hours of judges", None if found.hours is None else round(found.hours, 2)),
        ("cost", None if found.cost is None else round(found.cost, 2)),
        ("items two judges share", round(found.common_items, 2)),
        ("pairs of outputs two judges share", round(found.common_pairs, 2)),
        ("sentences left out, all outputs alike", built.alike),
        ("sentences kept for controls", built.reserved),
    ]
    return Table(
        ("figure", "value"),
        tuple(row for row in rows if row[1] is not None),
        title=f"{name}: what will happen",
        name="outlook",
        row_formats={
            "seconds a task": ".0f",
            "hours of judges": ".1f",
            "cost": ".2f",
            "items two judges share": ".0f",
            "pairs of outputs two judges share": ".0f",
        },
    )


def status_table(name: str, state: str, figures: Sequence[Sequence[str]]) -> Table:
    """How far a campaign is."""
    rows = [("State", state, ""), *(tuple(row) for row in figures)]
    return Table(("figure", "value", "note"), tuple(rows), title=name, name="status")


def link_table(links: Iterable[tuple[str, str, str]]) -> Table:
    """Who has which link."""
    return Table(("who", "state", "link"), tuple(links), title="Links", name="links")
