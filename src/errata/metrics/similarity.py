"""What a change is worth: how much nearer to a reference it brings a sentence, or how much farther.

``w = |F(source with the change, reference) - F(source, reference)|`` with F of BERTScore (Gong et
al. 2022 for edits, Ye et al. 2025 for chunks). Every distinct pair of texts goes to the model once,
whatever the number of systems, a window of sentences at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from errata.data import Corpus, Edit, Hypotheses, apply_edits
from errata.edits import corrected_sentence
from errata.metrics.base import Counted, fixed_point
from errata.models import Memo
from errata.models.encoder import paired
from errata.workers import parts

__all__ = [
    "WeighedChange",
    "Weights",
    "cut_note",
    "plain_text",
    "reference_texts",
    "text_windows",
    "weigh",
]

# The same tokens in another batch come out as far apart as this, so what is nearer is no change.
NOISE = 1e-5
WINDOW = 4096  # outputs times references that are asked about at a time
F, CUT = 2, 3  # where they stand in a row of BERTScore


class WeighedChange(NamedTuple):
    """A sentence, what a change makes of it, and the reference that says what that is worth."""

    source: str
    changed: str
    reference: str


class Weights(NamedTuple):
    """What changes are worth, and how many of the pairs of texts behind it were cut short."""

    of: Mapping[WeighedChange, float]
    cut: int


def weigh(memo: Memo, changes: Iterable[WeighedChange]) -> Weights:
    """The weights of changes, as multiples of ``2 ** -30``; ``memo`` is one of BERTScore's.

    Rows of BERTScore are P, R, F and the tokens that were cut off.
    """
    distinct = list(dict.fromkeys(changes))
    pairs = list(
        dict.fromkeys(
            paired(text, change.reference)
            for change in distinct
            if change.changed != change.source
            for text in change[:2]
        )
    )
    rows = memo.rows(pairs)
    known: dict[str, float] = dict(zip(pairs, rows[:, F].tolist(), strict=True))

    def gain(change: WeighedChange) -> float:
        if change.changed == change.source:
            return 0.0
        after, before = (known[paired(text, change.reference)] for text in change[1::-1])
        return abs(after - before)

    values = np.array([gain(change) for change in distinct])
    values[values < NOISE] = 0.0
    weights = dict(zip(distinct, fixed_point(values).tolist(), strict=True))
    return Weights(weights, int((rows[:, CUT] > 0).sum()))


def plain_text(tokens: Sequence[str], edits: Iterable[Edit] = ()) -> str:
    """Tokens as a text with single blanks, after edits.

    >>> plain_text(["He", "go", "home"], [Edit(1, 2, "goes")])
    'He goes home'
    """
    return " ".join(apply_edits(tokens, edits))


def reference_texts(corpus: Corpus) -> list[list[str]]:
    """What every reference makes of its sentence, with single blanks."""
    return [
        [plain_text(corrected_sentence(source, reference).split()) for reference in references]
        for source, references in zip(corpus.sources, corpus.references, strict=True)
    ]


def text_windows(
    corpus: Corpus, systems: Sequence[Hypotheses]
) -> Iterator[tuple[Corpus, list[Hypotheses]]]:
    """The corpus in parts small enough to ask about all outputs of a part at once.

    >>> corpus = Corpus.from_texts(["a"] * 5000, [["b"] * 5000])
    >>> [len(part) for part, _ in text_windows(corpus, [])]
    [4096, 904]
    """
    step = max(8, WINDOW // max(1, len(systems) * corpus.most_references))
    for part in parts(len(corpus), step) or [slice(0, 0)]:
        yield corpus[part], [hypotheses[part] for hypotheses in systems]


def cut_note(cut: int) -> tuple[str, ...]:
    """What a reader of the scores is told of texts that were cut short."""
    if not cut:
        return ()
    why = "longer than the model takes, and cut"
    one, several = f"{{0:,}} pair of texts was {why}", f"{{0:,}} pairs of texts were {why}"
    return (Counted(one, several, cut),)
