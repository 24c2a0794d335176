"""Stress cards as a table and as a plot."""

from __future__ import annotations

import io
from collections.abc import Sequence

from errata.errors import MissingExtraError
from errata.numbers import Interval
from errata.report.table import Cell, Table
from errata.studies.stress import StressCard

__all__ = ["stress_plot", "stress_table"]


def stress_table(card: StressCard) -> Table:
    """One row per perturbation: the score, how far it moved, and the verdict."""
    headline, values = card.scores.headline, card.scores.values
    interval = f"{card.confidence * 100:g} % interval"
    rows: list[tuple[Cell, ...]] = [
        (f"({card.base})", float(values[0]), None, None, None, None, None)
    ]
    for p, perturbation in enumerate(card.perturbations):
        rows.append(
            (
                perturbation.name,
                float(values[p + 1]),
                float(card.changes[p]),
                Interval(*card.intervals[p].tolist()),
                card.verdicts[p],
                float(card.altered[p]),
                float(card.rewarded[p]),
            )
        )
    return Table(
        ("damage", headline, "change", interval, "score is", "altered", "rewarded"),
        tuple(rows),
        title=f"Stress card of {card.scores.name}, on {card.corpus}",
        name="stress",
        rules=frozenset({0}),
        formats={
            headline: ".4f",
            "change": "+.4f",
            interval: "+.4f",
            "altered": ".0%",
            "rewarded": ".0%",
        },
        caption="altered: share of sentences the damage changes; rewarded: share of "
        f"these that score higher than before\nsignature: {card.scores.signature}",
        signature=card.scores.signature,
    )


def stress_plot(cards: Sequence[StressCard], form: str = "svg") -> bytes:
    """The changes with their intervals, one panel per card, as an image (svg, png or pdf)."""
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError(
            "matplotlib, which draws plots,", "pip install 'errata[plot]'"
        ) from None
    height = 0.4 * max(len(card.perturbations) for card in cards) + 1.2
    figure = Figure(figsize=(2 + 3.2 * len(cards), height), layout="constrained")
    axes = figure.subplots(1, len(cards), sharey=True, squeeze=False)[0]
    colours = {"lower": "#33658a", "same": "#999999", "HIGHER": "#c1292e"}
    for axis, card in zip(axes, cards, strict=True):
        places = range(len(card.perturbations))
        axis.barh(places, card.changes, color=[colours[verdict] for verdict in card.verdicts])
        for p in places:
            low, high = card.intervals[p]
            if low == low:
                axis.plot([low, high], [p, p], color="black", linewidth=1)
        axis.axvline(0, color="black", linewidth=0.8)
        axis.set_yticks(places, [perturbation.name for perturbation in card.perturbations])
        axis.set_title(card.scores.name)
        axis.set_xlabel(f"change of {card.scores.headline}")
    axes[0].invert_yaxis()
    image = io.BytesIO()
    # No date in the file, and the same names of its parts, so that equal plots are equal files.
    with rc_context({"svg.hashsalt": "errata"}):
        figure.savefig(image, format=form, metadata={"Date": None} if form == "svg" else None)
    return image.getvalue()
