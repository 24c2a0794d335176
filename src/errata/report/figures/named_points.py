"""Names beside points, moved until none covers another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from errata.errors import MissingExtraError, install_extra, visible
from errata.numbers import Floats
from errata.report.figures import FAINT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

__all__ = ["label_points"]

# Steps, not seconds: the same data give the same figure on any machine.
STEPS = 400


def label_points(panel: Axes, names: Sequence[str], x: Floats, y: Floats) -> list[Text]:
    """Write names beside their points, apart from each other, with a line where one had to move.

    To be called last: what changes the size or limits of the panel afterwards moves points under
    the names.
    """
    texts = [
        panel.text(a, b, visible(name), fontsize=7, parse_math=False)  # $ starts no formula
        for name, a, b in zip(names, x.tolist(), y.tolist(), strict=True)
    ]
    for text in texts:
        text.set_in_layout(False)  # a long name does not shrink the panel
    _push_apart(panel, texts, x, y)
    return texts


def _push_apart(panel: Axes, texts: list[Text], x: Floats, y: Floats) -> None:
    try:
        from adjustText import adjust_text
    except ImportError:
        raise MissingExtraError("adjustText", install_extra("plot")) from None
    adjust_text(
        texts,
        x=x,
        y=y,
        ax=panel,
        iter_lim=STEPS,
        expand=(1.15, 1.3),
        force_text=(0.3, 0.5),
        arrowprops={"arrowstyle": "-", "color": FAINT, "linewidth": 0.5},
    )
