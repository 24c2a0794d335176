"""Readers and writers; nothing is dropped or repaired silently."""

from errata.io.findings import Finding, raise_or_warn
from errata.io.guard import check_alignment
from errata.io.load import read_corpus, read_hypotheses, read_hypotheses_m2
from errata.io.m2 import read_m2, write_m2
from errata.io.text import read_text, write_text

__all__ = ["Finding", "check_alignment", "raise_or_warn", "read_corpus", "read_hypotheses",
           "read_hypotheses_m2", "read_m2", "read_text", "write_m2", "write_text"]
