"""Data to work on: the built-in sample, and the public sets by name."""

from errata.datasets.sample import sample_corpus, sample_judgments, sample_systems, sample_texts

__all__ = ["sample_corpus", "sample_judgments", "sample_systems", "sample_texts"]
