"""Edits between a sentence and its correction, in any language: alignment, merging, kinds.

No tagger and no word list is needed. Tokens are aligned by `errata.kernels.alignment`, and its
steps are merged into edits by `errata.kernels.aligned_edits`. Each edit has a kind: ``M:``
(missing), ``U:`` (unnecessary) or ``R:`` (replacement), then

- ``PUNCT`` punctuation only (also in a word: dont/don't), or punctuation and the capital letter
  that goes with it,
- ``ORTH`` case only,
- ``SPACE`` the same characters spaced, hyphenated or joined differently,
- ``WO`` the same tokens in another order,
- ``INFL`` one word with another ending or beginning (go/goes, city/cities),
- ``SPELL`` one word spelt otherwise (recieve/receive),
- ``OTHER`` everything else.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from errata.core.errors import InputError
from errata.core.stats import Ints
from errata.data import Edit, ReferenceTable, Tokens, Vocabulary
from errata.data.edits import members, offsets
from errata.kernels import alignment
from errata.kernels.aligned_edits import merge_steps

KINDS = ("OTHER", "ORTH", "INFL", "SPELL", "PUNCT", "SPACE", "WO")  # by the kernel's numbers
NAMES = [f"{operation}:{kind}" for operation in "MUR" for kind in KINDS]
HYPHENS = frozenset("-‐‑–")
JOINERS = HYPHENS | frozenset("'’`")
HYPHEN, JOINER, MARK = 1, 2, 4  # flags of characters
LONGEST = 50_000_000  # cells of one alignment table (400 MB); 7,000 tokens against 7,000


def aligned_edits(source_tokens: Sequence[str], target_tokens: Sequence[str]) -> tuple[Edit, ...]:
    """The edits that turn a tokenised sentence into its correction, each with a kind.

    >>> aligned_edits("He go home yesterday".split(), "He went home , yesterday .".split())
    ... # doctest: +NORMALIZE_WHITESPACE
    (Edit(start=1, end=2, replacement='went', kind='R:OTHER'),
     Edit(start=3, end=3, replacement=',', kind='M:PUNCT'),
     Edit(start=4, end=4, replacement='.', kind='M:PUNCT'))
    """
    words = Vocabulary()
    source, target = (words.intern_tokens([each]) for each in (source_tokens, target_tokens))
    return tuple(_extract(words, source, target).every_edit)


def extract_aligned(sources: Sequence[str], targets: Sequence[str]) -> ReferenceTable:
    """The edits of many sentences at once, a row each; tokens are what whitespace separates.

    Carrying out the edits of a sentence always gives the tokens of its target.
    """
    if len(sources) != len(targets):
        raise InputError(
            f"{len(sources)} sources but {len(targets)} targets",
            remedy="give one target per source",
        )
    words = Vocabulary()
    return _extract(words, words.intern(sources), words.intern(targets))


def aligned_kinds(old: Sequence[str], new: Sequence[str]) -> list[str]:
    """The kind of each change from some words into others, taken as one edit.

    >>> aligned_kinds(["go", "can not", ""], ["goes", "cannot", ","])
    ['R:INFL', 'R:SPACE', 'M:PUNCT']
    """
    words = Vocabulary()
    sources, targets = words.intern(old), words.intern(new)
    pair, *_, kind = _edit_columns(words, sources, targets, whole=True)
    kinds = np.zeros(len(old), np.int64)
    kinds[pair] = kind
    return _kind_names(kinds, sources.lengths, targets.lengths)


def check_length(source: int, target: int, what: str) -> None:
    """Refuse a pair of sentences with so many tokens that tables would not fit.

    ``what`` names the target.
    """
    if (source + 1) * (target + 1) > LONGEST:
        raise InputError(
            f"{what} has {target} tokens, its source {source}: too long to align",
            remedy="give one sentence a line",
        )


def _extract(words: Vocabulary, sources: Tokens, targets: Tokens) -> ReferenceTable:
    """Return the edits of each pair of sentences."""
    pair, start, end, first, last, kind = _edit_columns(words, sources, targets, whole=False)
    sizes = last - first
    at = offsets(sizes)
    begins = targets.offsets[pair] + first - at[:-1]
    known = words.words()
    new = [known[k] for k in targets.ids[np.repeat(begins, sizes) + np.arange(at[-1])].tolist()]
    return ReferenceTable.of_columns(
        offsets(np.bincount(pair, minlength=len(sources))),
        start=start,
        end=end,
        replacements=[
            new[a] if b - a == 1 else " ".join(new[a:b]) for a, b in pairwise(at.tolist())
        ],
        kinds=_kind_names(kind, end - start, sizes),
    )


def _kind_names(kinds: Ints, old: Ints, new: Ints) -> list[str]:
    """Return the names of kinds; ``old`` and ``new`` are numbers of words."""
    operation = np.where(old == 0, 0, np.where(new == 0, 1, 2))
    return [NAMES[k] for k in (operation * len(KINDS) + kinds).tolist()]


def _edit_columns(words: Vocabulary, sources: Tokens, targets: Tokens, *, whole: bool) -> Ints:
    """Return the edits of the pairs that differ: pair, source and target places, kind.

    With ``whole`` each pair is one edit.
    """
    changed = np.flatnonzero(sources.differ(targets))
    a, b = (
        Tokens(each.ids[members(each.offsets, changed)], offsets(each.lengths[changed]))
        for each in (sources, targets)
    )
    long = np.flatnonzero((a.lengths + 1) * (b.lengths + 1) > LONGEST)
    if len(long):
        i, known = int(long[0]), words.words()
        start = " ".join(known[k] for k in a[i][:5].tolist())
        check_length(int(a.lengths[i]), int(b.lengths[i]), f"the target of {start!r}...")
    vocabulary = _features(words.words())
    batch = (a.ids, a.offsets, b.ids, b.offsets)
    steps = alignment.align(*batch, *vocabulary[:4], len(vocabulary.flags))
    found = np.ascontiguousarray(merge_steps(steps, *batch, *vocabulary[1:], whole).T, np.int64)
    found[0] = changed[found[0]]
    return found


class Features(NamedTuple):
    """What the kernels compare of each word: folded number, class, and characters with flags."""

    folded: NDArray[np.intc]
    classes: NDArray[np.intc]
    chars: NDArray[np.intc]
    starts: NDArray[np.intc]
    flags: NDArray[np.intc]


def _features(words: Sequence[str]) -> Features:
    folded_words = [word.casefold() for word in words]
    numbers: dict[str, int] = {}
    folded = [numbers.setdefault(word, len(numbers)) for word in folded_words]
    letters: dict[str, int] = {}
    chars = [letters.setdefault(c, len(letters)) for word in folded_words for c in word]
    starts = np.zeros(len(words) + 1, np.intc)
    np.cumsum([len(word) for word in folded_words], out=starts[1:], dtype=np.intc)
    return Features(
        np.array(folded, np.intc),
        np.array([_word_class(word) for word in words], np.intc),
        np.array(chars, np.intc),
        starts,
        np.array([_letter_flags(letter) for letter in letters], np.intc),
    )


@lru_cache(maxsize=1 << 16)
def _word_class(word: str) -> int:
    """0 for words, 1 for punctuation and symbols, 2 for anything with a digit."""
    if any(c.isdigit() for c in word):
        return 2
    return int(all(unicodedata.category(c)[0] in "PS" for c in word))


def _letter_flags(letter: str) -> int:
    """What the kernel leaves out of words: hyphens, what joins words, and punctuation."""
    found = HYPHEN if letter in HYPHENS else 0
    found |= JOINER if letter in JOINERS else 0
    return found | (MARK if unicodedata.category(letter)[0] == "P" else 0)
