"""Edits between a sentence and its correction, in any language: alignment, merging, kinds.

No tagger and no word list is needed. Tokens are aligned by `errata.kernels.alignment`; here the
steps are merged into edits and each edit gets a kind: ``M:`` (missing), ``U:`` (unnecessary) or
``R:`` (replacement), then

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
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from errata.core.errors import InputError
from errata.data import Edit, Vocabulary
from errata.kernels import alignment

INSERT, DELETE, SUBSTITUTE, TRANSPOSE = 1, 2, 3, 4
UNRELATED, CASE, INFLECTION, SPELLING = 0, 1, 2, 3
RELATIONS = {CASE: "ORTH", INFLECTION: "INFL", SPELLING: "SPELL"}
LONGEST = 50_000_000  # cells of one alignment table (400 MB); 7,000 tokens against 7,000
WIDEST = 16  # steps of a change of spacing
JOINERS = str.maketrans("", "", "-‐‑–'’`")
HYPHENS = str.maketrans("", "", "-‐‑–")


class Step(NamedTuple):
    """One step of an alignment that changes something: source and target ranges, relation."""

    operation: int
    start: int
    end: int
    target_start: int
    target_end: int
    relation: int


def aligned_edits(source_tokens: Sequence[str], target_tokens: Sequence[str]) -> tuple[Edit, ...]:
    """The edits that turn a tokenised sentence into its correction, each with a kind.

    >>> aligned_edits("He go home yesterday".split(), "He went home , yesterday .".split())
    ... # doctest: +NORMALIZE_WHITESPACE
    (Edit(start=1, end=2, replacement='went', kind='R:OTHER'),
     Edit(start=3, end=3, replacement=',', kind='M:PUNCT'),
     Edit(start=4, end=4, replacement='.', kind='M:PUNCT'))
    """
    return _extract([source_tokens], [target_tokens])[0]


def extract_aligned(sources: Sequence[str], targets: Sequence[str]) -> list[tuple[Edit, ...]]:
    """The edits of many sentences at once; tokens are what whitespace separates.

    Carrying out the edits of a sentence always gives the tokens of its target.
    """
    if len(sources) != len(targets):
        raise InputError(
            f"{len(sources)} sources but {len(targets)} targets",
            remedy="give one target per source",
        )
    return _extract([s.split() for s in sources], [t.split() for t in targets])


def _extract(
    sources: Sequence[Sequence[str]], targets: Sequence[Sequence[str]]
) -> list[tuple[Edit, ...]]:
    return [
        tuple(_edits(steps, source, target)) if steps else ()
        for steps, source, target in zip(
            _changing_steps(sources, targets), sources, targets, strict=True
        )
    ]


def check_length(source: Sequence[str], target: Sequence[str], what: str) -> None:
    """Refuse a pair of sentences whose tables would not fit; ``what`` names the target."""
    if (len(source) + 1) * (len(target) + 1) > LONGEST:
        raise InputError(
            f"{what} has {len(target)} tokens, its source {len(source)}: too long to align",
            remedy="give one sentence a line",
        )


def _changing_steps(
    sources: Sequence[Sequence[str]], targets: Sequence[Sequence[str]]
) -> list[Sequence[Step]]:
    """The changing steps of each pair of sentences."""
    found: list[Sequence[Step]] = [()] * len(sources)
    changed = [i for i, (s, t) in enumerate(zip(sources, targets, strict=True)) if s != t]
    for i in changed:
        check_length(sources[i], targets[i], f"the target of {' '.join(sources[i][:5])!r}...")
    vocabulary = Vocabulary()
    a = vocabulary.intern_tokens(sources[i] for i in changed)
    b = vocabulary.intern_tokens(targets[i] for i in changed)
    steps = alignment.align(a.ids, a.offsets, b.ids, b.offsets, *_word_features(vocabulary.words()))
    bounds = np.searchsorted(steps[:, 0], np.arange(len(changed) + 1)).tolist()
    rows = list(map(Step._make, steps[:, 1:].tolist()))
    for k, i in enumerate(changed):
        found[i] = rows[bounds[k] : bounds[k + 1]]
    return found


def aligned_kinds(old: Sequence[Sequence[str]], new: Sequence[Sequence[str]]) -> list[str]:
    """The kind of each change from some tokens into others, taken as one edit.

    >>> aligned_kinds([["go"], ["can", "not"], []], [["goes"], ["cannot"], [","]])
    ['R:INFL', 'R:SPACE', 'M:PUNCT']
    """
    return [
        _with_operation(_kind_of_run(steps, a, b) if steps else "OTHER", a, b)
        for steps, a, b in zip(_changing_steps(old, new), old, new, strict=True)
    ]


def _word_features(
    words: Sequence[str],
) -> tuple[NDArray[np.intc], NDArray[np.intc], NDArray[np.intc], NDArray[np.intc], int]:
    """What the kernel compares of each word: folded number, class, characters."""
    folded_words = [word.casefold() for word in words]
    numbers: dict[str, int] = {}
    folded = [numbers.setdefault(word, len(numbers)) for word in folded_words]
    letters: dict[str, int] = {}
    chars = [letters.setdefault(c, len(letters)) for word in folded_words for c in word]
    starts = np.zeros(len(words) + 1, np.intc)
    np.cumsum([len(word) for word in folded_words], out=starts[1:], dtype=np.intc)
    return (
        np.array(folded, np.intc),
        np.array([_word_class(word) for word in words], np.intc),
        np.array(chars, np.intc),
        starts,
        len(letters),
    )


@lru_cache(maxsize=1 << 16)
def _word_class(word: str) -> int:
    """0 for words, 1 for punctuation and symbols, 2 for anything with a digit."""
    if any(c.isdigit() for c in word):
        return 2
    return int(all(unicodedata.category(c)[0] in "PS" for c in word))


def _punctuation(words: Sequence[str]) -> bool:
    return all(_word_class(word) == 1 for word in words)


def _letters_of(words: Sequence[str]) -> str:
    text = "".join(words).casefold()
    return text.translate(JOINERS) or text


def _kind_of_attached_punctuation(old: str, new: str) -> str:
    """The kind of a change of punctuation inside or at the edge of a word, else nothing."""
    old, new = old.casefold(), new.casefold()
    if old == new:
        return ""
    if old.translate(HYPHENS) == new.translate(HYPHENS):
        return "SPACE"
    bare = ["".join(c for c in word if unicodedata.category(c)[0] != "P") for word in (old, new)]
    return "PUNCT" if bare[0] == bare[1] else ""


def _edits(steps: Sequence[Step], source: Sequence[str], target: Sequence[str]) -> Iterator[Edit]:
    first = 0
    for k in range(1, len(steps) + 1):
        if k < len(steps) and _are_adjacent(steps[k - 1], steps[k]):
            continue
        for run in _merge(steps[first:k], source, target):
            yield _edit_of_run(run, source, target)
        first = k


def _are_adjacent(a: Step, b: Step) -> bool:
    """Whether two steps follow each other without an unchanged token between them."""
    return a.end == b.start and a.target_end == b.target_start


def _words_of_run(
    run: Sequence[Step], source: Sequence[str], target: Sequence[str]
) -> tuple[Sequence[str], Sequence[str]]:
    return (source[run[0].start : run[-1].end], target[run[0].target_start : run[-1].target_end])


def _merge(
    run: Sequence[Step], source: Sequence[str], target: Sequence[str]
) -> list[Sequence[Step]]:
    """Cut a run of changes into edits.

    In the spirit of ERRANT's rules (Felice et al. 2016), without parts of speech: the widest
    stretches that only change spacing come first; punctuation with the capital after it stays
    together; reorderings, related words and punctuation stand alone; neighbouring exchanges of
    unrelated words are single edits unless a token is inserted or deleted beside them.
    """
    if len(run) == 1:
        return [run]
    for width in range(min(len(run), WIDEST), 1, -1):
        for k in range(len(run) - width + 1):
            part = run[k : k + width]
            if _spacing(*_words_of_run(part, source, target)) or _new_sentence(
                part, source, target
            ):
                return [
                    *(_merge(run[:k], source, target) if k else []),
                    part,
                    *(_merge(run[k + width :], source, target) if k + width < len(run) else []),
                ]
    pieces: list[Sequence[Step]] = []
    first = 0
    for k, step in enumerate(run):
        if _stands_alone(step, source, target):
            pieces += _join(run[first:k])
            pieces.append([step])
            first = k + 1
    return pieces + _join(run[first:])


def _join(run: Sequence[Step]) -> list[Sequence[Step]]:
    if not run:
        return []
    if all(step.operation == SUBSTITUTE for step in run):
        return [[step] for step in run]
    return [run]


def _stands_alone(step: Step, source: Sequence[str], target: Sequence[str]) -> bool:
    old, new = source[step.start : step.end], target[step.target_start : step.target_end]
    return step.operation == TRANSPOSE or step.relation != UNRELATED or _punctuation([*old, *new])


def _spacing(old: Sequence[str], new: Sequence[str]) -> bool:
    return bool(old and new) and len(old) != len(new) and _letters_of(old) == _letters_of(new)


def _new_sentence(part: Sequence[Step], source: Sequence[str], target: Sequence[str]) -> bool:
    """Whether punctuation changes and the next word takes or loses its capital for it."""
    return (
        len(part) == 2
        and part[1].relation == CASE
        and _punctuation(
            [
                *source[part[0].start : part[0].end],
                *target[part[0].target_start : part[0].target_end],
            ]
        )
    )


def _edit_of_run(run: Sequence[Step], source: Sequence[str], target: Sequence[str]) -> Edit:
    old, new = _words_of_run(run, source, target)
    return Edit(
        run[0].start,
        run[-1].end,
        " ".join(new),
        _with_operation(_kind_of_run(run, old, new), old, new),
    )


def _with_operation(kind: str, old: Sequence[str], new: Sequence[str]) -> str:
    return f"{'M' if not old else 'U' if not new else 'R'}:{kind}"


def _kind_of_run(run: Sequence[Step], old: Sequence[str], new: Sequence[str]) -> str:
    if _punctuation([*old, *new]):
        return "PUNCT"
    if _spacing(old, new):
        return "SPACE"
    if len(run) == 1:
        if run[0].operation == SUBSTITUTE and (
            attached := _kind_of_attached_punctuation(old[0], new[0])
        ):
            return attached
        return "WO" if run[0].operation == TRANSPOSE else RELATIONS.get(run[0].relation, "OTHER")
    if all(step.relation == CASE for step in run):
        return "ORTH"
    return (
        "PUNCT"
        if len(run) == 2 and run[1].relation == CASE and _punctuation([*old[:-1], *new[:-1]])
        else "OTHER"
    )
