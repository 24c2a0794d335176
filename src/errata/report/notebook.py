"""Scores as tables in a notebook: told to IPython, so that the nouns need know nothing of HTML."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from errata.data import Scores

__all__ = ["register_scores", "scores_html"]


def scores_html(scores: Scores) -> str:
    """The table of a metric as HTML, every text escaped."""
    from errata.report.table import render
    from errata.report.tables.scores import score_table

    return render(score_table(scores), "html")


def register_scores() -> bool:
    """Let the running IPython, if there is one, show `Scores` as tables; whether it does now.

    The class is named and not imported: nothing is loaded before there are scores to show.
    """
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if shell is None:
        return False
    formatter = shell.display_formatter.formatters["text/html"]
    formatter.for_type_by_name("errata.data", "Scores", scores_html)
    return True
