"""Errata: how good is this grammatical error correction system, and how do we know?"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from errata.comparison.compare import compare
    from errata.core.errors import DataWarning, ErrataError, InputError, MissingExtraError
    from errata.data import Corpus, Edit, Hypotheses, Judgment, Reference, Scores
    from errata.meta.evaluate import meta_evaluate
    from errata.metrics import Metric, parse
    from errata.reports.report import report
    from errata.scoring.evaluate import evaluate

# The one place of the version; pyproject.toml reads it here, `errata --version` without NumPy.
__version__ = "0.1.0"

# Name -> module. Imported on first use, so that `import errata` costs nothing.
_WHERE = {
    "Corpus": "errata.data",
    "Edit": "errata.data",
    "Hypotheses": "errata.data",
    "Judgment": "errata.data",
    "Reference": "errata.data",
    "Scores": "errata.data",
    "DataWarning": "errata.core.errors",
    "ErrataError": "errata.core.errors",
    "InputError": "errata.core.errors",
    "MissingExtraError": "errata.core.errors",
    "Metric": "errata.metrics",
    "parse": "errata.metrics",
    "evaluate": "errata.scoring.evaluate",
    "compare": "errata.comparison.compare",
    "meta_evaluate": "errata.meta.evaluate",
    "report": "errata.reports.report",
}
__all__ = [
    "Corpus",
    "DataWarning",
    "Edit",
    "ErrataError",
    "Hypotheses",
    "InputError",
    "Judgment",
    "Metric",
    "MissingExtraError",
    "Reference",
    "Scores",
    "__version__",
    "compare",
    "evaluate",
    "meta_evaluate",
    "parse",
    "report",
]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'errata' has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)


def _display(result: Any, form: Literal["html", "pandas", "polars"], **how: Any) -> Any:
    """A result as its table shows it: the one door from the nouns up to the reports.

    The package stands above all layers; nothing is loaded before something is to be shown.
    """
    frames = import_module("errata.tables.table")
    if form == "html":
        return frames.render(frames.table_of(result), "html")
    return getattr(frames, f"{form}_frame")(frames.table_of(result, **how))


def __dir__() -> list[str]:
    return sorted(__all__)
