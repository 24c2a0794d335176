"""Read and write files, each format in a module that is imported when it is first used."""

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

_MODULES = {
    "corpus": "CheckReport check_files read_corpus read_text write_text",
    "checks": "Finding raise_or_warn",
    "checks.alignment": "check_alignment",
    "outputs": "read_hypotheses read_hypotheses_m2",
    "judgments": "read_judgment_files read_judgments write_judgments",
    "m2": "read_m2 write_m2",
    "scores": "read_published_scores read_score_file read_score_files",
    "stored_scores": "read_scores write_scores",
}
_WHERE = {name: module for module, names in _MODULES.items() for name in names.split()}
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
