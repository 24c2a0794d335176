"""Results as tables, plots and pages; nothing is computed here.

The package is also a function: ``errata.report(corpus, systems)`` makes a page of what is given
(see `errata.report.story.whole_report.report`).
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from errata.report.story.whole_report import ReportPage


class _CallableModule(ModuleType):
    """A package that can be called, so that ``errata.report`` is a verb as well as a place."""

    def __call__(self, *arguments: Any, **options: Any) -> ReportPage:
        from errata.report.story.whole_report import report

        return report(*arguments, **options)


sys.modules[__name__].__class__ = _CallableModule
