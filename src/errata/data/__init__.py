"""The nouns: corpus, hypotheses, edits, references, judgments and scores."""

from errata.data.corpus import (
    Corpus,
    Edit,
    Entry,
    Hypotheses,
    Judgment,
    MemberDraw,
    MemberOrder,
    Members,
    Reference,
    Scores,
    Tokens,
    Vocabulary,
    apply_edits,
    duplicate_name_errors,
    original_number,
    short_names,
)

__all__ = [
    "Corpus",
    "Edit",
    "Entry",
    "Hypotheses",
    "Judgment",
    "MemberDraw",
    "MemberOrder",
    "Members",
    "Reference",
    "Scores",
    "Tokens",
    "Vocabulary",
    "apply_edits",
    "duplicate_name_errors",
    "original_number",
    "short_names",
]
