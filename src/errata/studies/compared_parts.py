"""Where two systems differ: in which kinds, at which difficulty, in which slices and sentences."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from errata.data import Corpus, Hypotheses, Scores
from errata.edits import extract_all, kind_at
from errata.errors import InputError
from errata.studies.edit_changes import ChangeCounts, EditChange, Weigh, change_counts
from errata.studies.edit_states import JudgedSentence
from errata.studies.paired_tests import Difference, holm_adjusted

__all__ = [
    "BandChange",
    "KindChange",
    "SentenceChange",
    "SliceChange",
    "bands_of",
    "check_slices",
    "kinds_changed",
    "length_slices",
    "sentences_apart",
    "sentences_changed",
    "slices_changed",
]

# Bands of difficulty: the share of systems that do not have an error right, up to here.
BANDS = (("easy", 1 / 3), ("medium", 2 / 3), ("hard", 1.0))
LENGTHS = (10, 20, 30, 40)  # words; the last words of the slices by length
FigureChanges = Mapping[str, Difference]


@dataclass(frozen=True)
class KindChange:
    """One kind of edit: how many ``errors`` of it the annotators ask for, and what changed.

    ``figures`` are by name: P, R, F and success with both sides restricted to the kind, and false
    alarms per 1,000 words (`errata.metrics.errant.aimed`); without references only edits per 1,000
    words. Each has Holm's correction over the kinds.
    """

    kind: str
    errors: int
    changes: ChangeCounts
    figures: FigureChanges


@dataclass(frozen=True)
class BandChange:
    """Errors of like difficulty, from above ``low`` to ``high``: how many were and are right."""

    name: str
    low: float
    high: float
    errors: int
    old_right: int
    new_right: int
    changes: ChangeCounts


@dataclass(frozen=True)
class SliceChange:
    """The sentences that have one value in one column; ``figures`` by name, as P, R and F."""

    column: str
    value: str
    sentences: int
    changes: ChangeCounts
    figures: FigureChanges


@dataclass(frozen=True)
class SentenceChange:
    """A sentence (from 0) that got better or worse, by ``gain`` edits.

    ``gain`` is the difference of right minus wrong edits; ``scores`` are the differences of the
    sentence's score by metric. Without references ``gain`` is 0, and ``size`` says how many words
    stand apart between the two outputs.
    """

    sentence: int
    gain: int
    size: int
    source: str
    old: str
    new: str
    changes: tuple[EditChange, ...]
    scores: Mapping[str, float]


def kinds_changed(
    figures: Mapping[str, FigureChanges],
    changes: Sequence[EditChange],
    errors: Mapping[str, int],
    tier: int,
) -> tuple[KindChange, ...]:
    """The changes of every kind, with Holm's correction of each figure over the kinds."""
    by_kind = defaultdict(list)
    for change in changes:
        by_kind[kind_at(change.kind, tier)].append(change)
    adjusted = _adjusted(figures)
    return tuple(
        KindChange(kind, errors.get(kind, 0), change_counts(by_kind[kind]), adjusted[kind])
        for kind in figures
    )


def _adjusted(figures: Mapping[str, FigureChanges]) -> dict[str, dict[str, Difference]]:
    """Holm's correction of figures of one name, over what they are figures of."""
    found: dict[str, dict[str, Difference]] = {key: {} for key in figures}
    for name in dict.fromkeys(name for each in figures.values() for name in each):
        adjusted = holm_adjusted([each[name] for each in figures.values()])
        for key, difference in zip(figures, adjusted, strict=True):
            found[key][name] = difference
    return found


def bands_of(
    old: Sequence[JudgedSentence],
    new: Sequence[JudgedSentence],
    changes: Sequence[EditChange],
    weigh: Weigh,
) -> tuple[BandChange, ...]:
    """The errors of two systems by difficulty; those without a weight are left out."""
    known, was_right, is_right = ([0] * len(BANDS) for _ in range(3))
    for i, (before, after) in enumerate(zip(old, new, strict=True)):
        for was, now in zip(before.asked, after.asked, strict=True):
            assert now.gold is not None
            band = _band(weigh(i, after.annotator, now.gold))
            if band is not None:
                known[band] += 1
                was_right[band] += was.state == "right"
                is_right[band] += now.state == "right"
    by_band = defaultdict(list)
    for change in changes:
        by_band[_band(change.difficulty)].append(change)
    lows = (0.0, *(high for _, high in BANDS[:-1]))
    return tuple(
        BandChange(name, low, high, known[b], was_right[b], is_right[b], change_counts(by_band[b]))
        for b, ((name, high), low) in enumerate(zip(BANDS, lows, strict=True))
    )


def _band(weight: float) -> int | None:
    """The band of a weight; 1 - 2/3 is a third, whatever its last bits."""
    return next((b for b, (_, high) in enumerate(BANDS) if weight <= high + 1e-9), None)


def length_slices(corpus: Corpus) -> list[str]:
    """The slice by length that each source belongs to.

    >>> length_slices(Corpus.from_texts(["a b", " ".join("abcdefghijkl")]))
    ['1-10', '11-20']
    """
    starts = (1, *(last + 1 for last in LENGTHS[:-1]))
    names = [f"{first}-{last}" for first, last in zip(starts, LENGTHS, strict=True)]
    names.append(f"{LENGTHS[-1] + 1} or more")
    at = np.searchsorted(np.array(LENGTHS), corpus.source_tokens.lengths)
    return [names[each] for each in at.tolist()]


def check_slices(columns: Mapping[str, Sequence[str]], sentences: int) -> None:
    """Refuse columns that do not say of every sentence what it belongs to."""
    for name, values in columns.items():
        if len(values) != sentences:
            raise InputError(
                f"{name} is known of {len(values)} sentences, the corpus has {sentences}",
                remedy="give one row per sentence",
            )


def slices_changed(
    columns: Mapping[str, Sequence[str]],
    figures: Mapping[tuple[str, str], FigureChanges],
    changes: Sequence[EditChange],
) -> tuple[SliceChange, ...]:
    """The changes of every slice, with Holm's correction of each figure over a column's values."""
    found = []
    for column, values in columns.items():
        by_value = defaultdict(list)
        for change in changes:
            by_value[values[change.sentence]].append(change)
        own = {value: each for (name, value), each in figures.items() if name == column}
        adjusted = _adjusted(own)
        found += [
            SliceChange(
                column, value, list(values).count(value), change_counts(by_value[value]), each
            )
            for value, each in adjusted.items()
        ]
    return tuple(found)


def sentences_changed(
    corpus: Corpus,
    pair: tuple[Hypotheses, Hypotheses],
    judged: Sequence[Sequence[JudgedSentence]],
    changes: Sequence[EditChange],
    scores: Mapping[str, tuple[Scores, int, int]],
) -> tuple[SentenceChange, ...]:
    """The sentences with more or fewer right edits, less the wrong ones; largest change first."""
    of_sentence = defaultdict(list)
    for change in changes:
        of_sentence[change.sentence].append(change)
    found = []
    for i in sorted(of_sentence):
        before, after = (_balance(each[i]) for each in judged)
        if after != before:
            sentence = _sentence(corpus, pair, i, scores)
            found.append(replace(sentence, gain=after - before, changes=tuple(of_sentence[i])))
    return _sorted(found)


def _balance(judged: JudgedSentence) -> int:
    return sum({"right": 1, "wrong": -1, "missed": 0}[each.state] for each in judged.edits)


def sentences_apart(
    corpus: Corpus,
    pair: tuple[Hypotheses, Hypotheses],
    scores: Mapping[str, tuple[Scores, int, int]],
) -> tuple[SentenceChange, ...]:
    """The sentences that two systems wrote differently, those furthest apart first."""
    texts = zip(pair[0].sentences, pair[1].sentences, strict=True)
    apart = [i for i, (old, new) in enumerate(texts) if old != new]
    edits = extract_all(
        [pair[0].sentences[i] for i in apart], [pair[1].sentences[i] for i in apart]
    )
    return _sorted(
        [
            replace(
                _sentence(corpus, pair, i, scores),
                size=sum(max(e.end - e.start, len(e.replacement.split())) for e in several),
            )
            for i, several in zip(apart, edits, strict=True)
        ]
    )


def _sentence(
    corpus: Corpus,
    pair: tuple[Hypotheses, Hypotheses],
    i: int,
    scores: Mapping[str, tuple[Scores, int, int]],
) -> SentenceChange:
    alone = {}
    for label, (each, old, new) in scores.items():
        if each.sentences is not None:
            alone[label] = float(each.sentences[new, i] - each.sentences[old, i])
    texts = (corpus.sources[i], pair[0].sentences[i], pair[1].sentences[i])
    return SentenceChange(i, 0, 0, *texts, (), alone)


def _sorted(found: list[SentenceChange]) -> tuple[SentenceChange, ...]:
    def largest(change: SentenceChange) -> tuple[float, ...]:
        first = next(iter(change.scores.values()), 0.0)
        moved = abs(first) if first == first else 0.0
        return -abs(change.gain), -change.size, -moved, change.sentence

    return tuple(sorted(found, key=largest))
