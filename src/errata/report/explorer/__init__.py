"""The sentence explorer: every source, reference and output of a corpus, side by side."""

from __future__ import annotations

from errata.report.explorer.as_section import explorer_section

__all__ = ["explorer_section"]
