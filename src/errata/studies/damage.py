"""Damage done to good output on purpose, in ways that no reader would accept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["DAMAGE", "Perturbation"]

Damage = Callable[[Sequence[str], Sequence[str], np.random.Generator], list[str]]
DELETED = 0.2  # the share of words that "delete words" takes out
APPENDED = "The weather was fine that day ."


@dataclass(frozen=True)
class Perturbation:
    """One kind of damage: ``damage(sources, sentences, rng)`` gives the damaged sentences."""

    name: str
    what: str
    damage: Damage


def copy_source(
    sources: Sequence[str], sentences: Sequence[str], rng: np.random.Generator
) -> list[str]:
    """Correct nothing."""
    return list(sources)


def delete_words(
    sources: Sequence[str], sentences: Sequence[str], rng: np.random.Generator
) -> list[str]:
    """Take out every fifth word on average, and at least one of each sentence."""
    damaged = []
    for sentence in sentences:
        words = sentence.split()
        keep = rng.random(len(words)) >= DELETED
        if words and keep.all():
            keep[rng.integers(len(words))] = False
        damaged.append(" ".join(word for word, kept in zip(words, keep, strict=True) if kept))
    return damaged


def repeat_word(
    sources: Sequence[str], sentences: Sequence[str], rng: np.random.Generator
) -> list[str]:
    """Put the first word in place of every other; the last mark stays (He He He He He He.).

    >>> repeat_word([], ["He is going to school ."], np.random.default_rng(0))
    ['He He He He He .']
    """
    damaged = []
    for sentence in sentences:
        words = sentence.split()
        end = words[-1:] if len(words) > 1 and not any(map(str.isalnum, words[-1])) else []
        damaged.append(" ".join(words[:1] * (len(words) - len(end)) + end))
    return damaged


def shuffle_words(
    sources: Sequence[str], sentences: Sequence[str], rng: np.random.Generator
) -> list[str]:
    """Put the words in random order."""
    return [" ".join(rng.permutation(sentence.split()).tolist()) for sentence in sentences]


def lower_case(
    sources: Sequence[str], sentences: Sequence[str], rng: np.random.Generator
) -> list[str]:
    """Write everything in lower case."""
    return [sentence.lower() for sentence in sentences]


def truncate(
    sources: Sequence[str], sentences: Sequence[str], rng: np.random.Generator
) -> list[str]:
    """Keep the first half of each sentence.

    >>> truncate([], ["He is going to school ."], np.random.default_rng(0))
    ['He is going']
    """
    return [" ".join(words[: (len(words) + 1) // 2]) for words in map(str.split, sentences)]


def append_sentence(
    sources: Sequence[str], sentences: Sequence[str], rng: np.random.Generator
) -> list[str]:
    """Add one fluent sentence that has nothing to do with the rest."""
    return [f"{sentence} {APPENDED}".strip() for sentence in sentences]


def shift_lines(
    sources: Sequence[str], sentences: Sequence[str], rng: np.random.Generator
) -> list[str]:
    """Put every sentence one line too low, the last one at the top."""
    return [*sentences[-1:], *sentences[:-1]]


DAMAGE = (
    Perturbation("copy the source", "nothing is corrected", copy_source),
    Perturbation("delete words", f"{DELETED:.0%} of the words are taken out", delete_words),
    Perturbation("repeat a word", "the first word in place of all others", repeat_word),
    Perturbation("shuffle", "the words in random order", shuffle_words),
    Perturbation("lower-case", "no capitals", lower_case),
    Perturbation("truncate", "the first half of each sentence", truncate),
    Perturbation("append a sentence", f"“{APPENDED}” at every end", append_sentence),
    Perturbation("shift lines", "every sentence one line too low", shift_lines),
)
