"""The forms that answers are written in, by name; importable without any web package."""

from __future__ import annotations

from typing import Literal, get_args

__all__ = ["FORMS_OUT", "ExportForm", "FileForm"]

ExportForm = Literal[
    "jsonl",
    "appraise",
    "pairwise",
    "details",
    "scores",
    "scores-csv",
    "edits",
    "edits-m2",
    "people",
]
FileForm = Literal[ExportForm, "texts"]  # texts are several files
FORMS_OUT: tuple[str, ...] = get_args(ExportForm)
