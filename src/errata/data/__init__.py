"""The nouns: corpus, hypotheses, edits, references, judgments and scores.

No file is read or written here. Tokens are separated by white space.
"""

from errata.data.corpus import Corpus, original_number
from errata.data.edits import Edit, Reference, ReferenceTable, apply_edits
from errata.data.hypotheses import Hypotheses, duplicate_name_errors
from errata.data.judgments import Entry, Judgment, MemberDraw, MemberOrder, Members
from errata.data.scores import Scores, short_names
from errata.data.tokens import Numbers, Tokens, Vocabulary

__all__ = [
    "Corpus",
    "Edit",
    "Entry",
    "Hypotheses",
    "Judgment",
    "MemberDraw",
    "MemberOrder",
    "Members",
    "Numbers",
    "Reference",
    "ReferenceTable",
    "Scores",
    "Tokens",
    "Vocabulary",
    "apply_edits",
    "duplicate_name_errors",
    "original_number",
    "short_names",
]
