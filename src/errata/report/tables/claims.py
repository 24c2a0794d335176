"""Claims and what came out for them, a row each."""

from __future__ import annotations

from collections.abc import Sequence

from errata.report.table import Table, joined_signatures
from errata.studies.claims import Recomputed

__all__ = ["claim_table"]


def claim_table(checked: Sequence[Recomputed]) -> Table:
    """Whether each claim holds, what came out instead, and which facts differ."""
    return Table(
        ("metric", "system", "printed", "recomputed", "holds", "differs"),
        tuple(
            (
                each.scores.label,
                each.system,
                each.claim.said,
                each.as_printed,
                each.holds,
                "; ".join(each.differences) or None,
            )
            for each in checked
        ),
        title="Claims recomputed",
        name="claims",
        caption="\n".join(dict.fromkeys(f"note: {r}" for each in checked for r in each.remarks)),
        signature=joined_signatures(each.scores.signature for each in checked),
        formats={"recomputed": ".6g"},
        widths={"differs": 30},
    )
