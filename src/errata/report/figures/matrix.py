"""The map of metrics against metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from errata.errors import visible
from errata.meta.matrix import MATRIX_KINDS, MetricMatrix
from errata.report.figures import in_style, new_figure
from errata.report.tables.correlations import TITLES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["matrix_map"]


@in_style
def matrix_map(found: MetricMatrix) -> Figure:
    """Correlations as coloured squares, r and ρ side by side: blue agrees, red contradicts.

    Every number is written in its square, so that the map can be read without colours.
    """
    n = len(found.names)
    size = 1.6 + 0.62 * n
    figure = new_figure(2 * size, size)
    labels = [visible(name) for name in found.names]
    for panel, kind in zip(figure.subplots(1, 2), MATRIX_KINDS[:2], strict=True):
        values = np.where(np.eye(n) > 0, np.nan, found.values[kind])
        panel.imshow(np.ma.masked_invalid(values), cmap="RdBu", vmin=-1, vmax=1)
        panel.set_facecolor("#dddddd")  # what has no number
        for a, b in zip(*np.nonzero(~np.isnan(values)), strict=True):
            panel.text(
                b,
                a,
                f"{values[a, b]:.2f}",
                ha="center",
                va="center",
                color="white" if abs(values[a, b]) > 0.65 else "black",
            )
        panel.set_xticks(range(n), labels, rotation=30, ha="right", parse_math=False)
        panel.set_yticks(range(n), labels, parse_math=False)
        panel.set_title(TITLES[kind])
    return figure
