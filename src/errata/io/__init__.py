"""Readers and writers; nothing is dropped or repaired silently.

Each is imported when it is first asked for: a command that scores texts reads no rankings.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from errata.io.checks import Finding, raise_or_warn
    from errata.io.checks.alignment import check_alignment
    from errata.io.corpus import CheckReport, check_files, read_corpus, read_text, write_text
    from errata.io.judgments import read_judgment_files, read_judgments, write_judgments
    from errata.io.m2 import read_m2, write_m2
    from errata.io.outputs import read_hypotheses, read_hypotheses_m2
    from errata.io.scores import read_published_scores, read_score_file, read_score_files
    from errata.io.stored_scores import read_scores, write_scores

_WHERE = {
    "CheckReport": "corpus",
    "Finding": "checks",
    "check_alignment": "checks.alignment",
    "check_files": "corpus",
    "raise_or_warn": "checks",
    "read_corpus": "corpus",
    "read_hypotheses": "outputs",
    "read_hypotheses_m2": "outputs",
    "read_judgment_files": "judgments",
    "read_judgments": "judgments",
    "read_m2": "m2",
    "read_published_scores": "scores",
    "read_score_file": "scores",
    "read_score_files": "scores",
    "read_scores": "stored_scores",
    "read_text": "corpus",
    "write_judgments": "judgments",
    "write_m2": "m2",
    "write_scores": "stored_scores",
    "write_text": "corpus",
}
__all__ = [
    "CheckReport",
    "Finding",
    "check_alignment",
    "check_files",
    "raise_or_warn",
    "read_corpus",
    "read_hypotheses",
    "read_hypotheses_m2",
    "read_judgment_files",
    "read_judgments",
    "read_m2",
    "read_published_scores",
    "read_score_file",
    "read_score_files",
    "read_scores",
    "read_text",
    "write_judgments",
    "write_m2",
    "write_scores",
    "write_text",
]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'errata.io' has no attribute {name!r}")
    return getattr(import_module(f"errata.io.{_WHERE[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
