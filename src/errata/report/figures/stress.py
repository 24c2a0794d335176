"""The plot of stress cards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from errata.errors import visible
from errata.report.figures import ACCENT, FAINT, INK, in_style, new_figure
from errata.studies.stress import StressCard

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["stress_plot"]

COLOURS = {"lower": INK, "same": FAINT, "HIGHER": ACCENT}


@in_style
def stress_plot(cards: Sequence[StressCard]) -> Figure:
    """The changes with their intervals, one panel per card."""
    height = 0.4 * max(len(card.perturbations) for card in cards) + 1.2
    figure = new_figure(2 + 3.2 * len(cards), height)
    panels = figure.subplots(1, len(cards), sharey=True, squeeze=False)[0]
    for panel, card in zip(panels, cards, strict=True):
        places = range(len(card.perturbations))
        panel.barh(places, card.changes, color=[COLOURS[verdict] for verdict in card.verdicts])
        for place, (low, high) in zip(places, card.intervals, strict=True):
            if not np.isnan(low):
                panel.plot([low, high], [place, place], color="black", linewidth=1)
        panel.axvline(0, color="black", linewidth=0.8)
        names = [visible(perturbation.name) for perturbation in card.perturbations]
        panel.set_yticks(places, names, parse_math=False)
        panel.set_title(visible(card.scores.name), parse_math=False)
        panel.set_xlabel(visible(f"change of {card.scores.headline}"), parse_math=False)
    panels[0].invert_yaxis()
    return figure
