"""Data to work on: the built-in sample, and the public sets by name."""

from errata.datasets.load import (
    load_conll14,
    load_conll14_systems,
    load_conll14_texts,
    sample_corpora,
    sample_corpus,
    sample_judgments,
    sample_systems,
    sample_texts,
)

__all__ = [
    "load_conll14",
    "load_conll14_systems",
    "load_conll14_texts",
    "sample_corpora",
    "sample_corpus",
    "sample_judgments",
    "sample_systems",
    "sample_texts",
]
