"""Readers and writers; nothing is dropped or repaired silently."""

from errata.io.checks.findings import Finding, raise_or_warn
from errata.io.checks.lines import check_alignment
from errata.io.corpus import read_corpus, read_hypotheses, read_hypotheses_m2
from errata.io.judgments import read_judgments, write_judgments
from errata.io.linter import Checked, check_files
from errata.io.m2 import read_m2, write_m2
from errata.io.scores import read_published_scores, read_scores, write_scores
from errata.io.text import read_text, write_text

__all__ = [
    "Checked",
    "Finding",
    "check_alignment",
    "check_files",
    "raise_or_warn",
    "read_corpus",
    "read_hypotheses",
    "read_hypotheses_m2",
    "read_judgments",
    "read_m2",
    "read_published_scores",
    "read_scores",
    "read_text",
    "write_judgments",
    "write_m2",
    "write_scores",
    "write_text",
]
