"""The plot of systems over several corpora."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from errata.errors import visible
from errata.report.figures import in_style
from errata.report.figures.panels import add_legend, panel_title, panels_in_rows
from errata.studies.corpora import AcrossCorpora

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["corpora_plot"]

MARKERS = "osD^vP*Xp<>h8"  # as many as leave no look to two systems before the 105th
WIDTH = 3.4  # inches of a panel
# Eight colours that people with any colour vision tell apart (Okabe & Ito 2008), without yellow.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#777777")


@in_style
def corpora_plot(several: Sequence[AcrossCorpora], *, confidence: float = 0.95) -> Figure:
    """A panel for each metric, corpora side by side, a line for each system, with intervals.

    Gotou et al. (2020), Figure 3. Systems have the same colour and mark in every panel.
    """
    systems = several[0].systems
    corpora = several[0].corpora
    figure, panels = panels_in_rows(len(several), WIDTH, 3.6, beside=1.6, names=len(systems))
    step = min(0.03, 0.5 / len(systems))  # so that intervals do not hide each other
    for panel, across in zip(panels, several, strict=True):
        for s, system in enumerate(systems):
            found = [across.estimate(k, system, confidence) for k in range(len(corpora))]
            at = [k for k, each in enumerate(found) if each is not None]
            there = np.array([each for each in found if each is not None])
            shift = step * (s - (len(systems) - 1) / 2)
            style: dict[str, Any] = {"color": COLOURS[s % len(COLOURS)], "linewidth": 1.2}
            panel.plot(
                np.array(at) + shift,
                there[:, 0],
                marker=MARKERS[s % len(MARKERS)],
                markersize=5,
                **style,
            )
            if not np.isnan(there[:, 1:]).any():
                panel.vlines(np.array(at) + shift, there[:, 1], there[:, 2], **style)
        labels = [visible(name) for name in corpora]
        slanted: dict[str, Any] = {"rotation": 30, "ha": "right"} if len(corpora) > 3 else {}
        panel.set_xticks(range(len(corpora)), labels, parse_math=False, **slanted)
        panel.set_title(panel_title(across.label, WIDTH), parse_math=False)
        panel.set_ylabel(visible(across.scores[0].headline), parse_math=False)
        panel.margins(x=0.15)
        panel.grid(axis="y")
    add_legend(figure, panels[0].get_lines(), systems, loc="outside right upper")
    return figure
