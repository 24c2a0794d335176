"""Pages of one file: sections of tables and charts that need nothing else to be read."""

from __future__ import annotations

from errata.report.page.inline import content_policy, policy_hash, script_json
from errata.report.page.section import Section
from errata.report.page.table_view import table_html, term_html
from errata.report.page.templates import filled, packaged
from errata.report.page.whole import page

__all__ = [
    "Section",
    "content_policy",
    "filled",
    "packaged",
    "page",
    "policy_hash",
    "script_json",
    "table_html",
    "term_html",
]
