"""Plain re-implementations of two released scorers, to run beside ours in one and the same run.

The scripts themselves are no part of this project and are on no package index. What stands here
was written from a description of what they compute, in the way a script does it: Python's lists,
Counters and loops, with nothing done twice that they do once. Their numbers are those of the
released scripts (`tests/metrics/test_difficulty.py` compares them), their speed need not be: the
seconds that the scripts themselves took elsewhere stand in the benchmarks too.
"""

from __future__ import annotations

import gzip
import math
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

__all__ = ["plain_difficulty", "plain_gleu"]

ORDERS = range(1, 5)


def _ngrams(words: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[i : i + n]) for i in range(len(words) + 1 - n))


def _statistics(
    hypothesis: list[str],
    grams: list[Counter[tuple[str, ...]]],
    source: list[Counter[tuple[str, ...]]],
    reference: list[str],
    theirs: list[Counter[tuple[str, ...]]],
) -> list[int]:
    """Two lengths, then numerator and denominator of each order."""
    found = [len(hypothesis), len(reference)]
    for n, h, s, r in zip(ORDERS, grams, source, theirs, strict=True):
        matched = sum((h & r).values())
        kept = sum(min(count, s[gram]) for gram, count in h.items() if gram in s and gram not in r)
        found += [max(0, matched - kept), max(0, len(hypothesis) + 1 - n)]
    return found


def _score(totals: Sequence[int]) -> float:
    if 0 in totals:
        return 0.0
    logs = sum(math.log(totals[2 * n] / totals[2 * n + 1]) for n in ORDERS)
    return math.exp(min(0.0, 1 - totals[1] / totals[0]) + logs / 4)


def plain_gleu(
    source: Path, references: Sequence[Path], hypothesis: Path, draws: int = 500
) -> float:
    """GLEU of one system from files, the mean of so many draws of references.

    A draw seeds Python's generator with 101 times its number and takes, sentence after sentence,
    one reference at random; its score is that of the summed statistics. Those of a sentence with
    one reference are counted once and kept.
    """
    texts = [[line.split() for line in _lines(path)] for path in (source, *references, hypothesis)]
    counted = [[[_ngrams(words, n) for n in ORDERS] for words in text] for text in texts]
    size = len(references)
    statistics = [
        [
            _statistics(
                texts[-1][i], counted[-1][i], counted[0][i], texts[1 + k][i], counted[1 + k][i]
            )
            for k in range(size)
        ]
        for i in range(len(texts[-1]))
    ]
    scores = []
    for draw in range(draws if size > 1 else 1):
        rng = random.Random(101 * draw)
        totals = [0] * (2 + 2 * len(ORDERS))
        for each in statistics:
            chosen = each[int(rng.random() * size)]  # as Python 2 draws
            totals = [a + b for a, b in zip(totals, chosen, strict=True)]
        scores.append(_score(totals))
    return sum(scores) / len(scores)


def _lines(path: Path) -> list[str]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8", newline="\n") as file:
        return file.read().removesuffix("\n").split("\n")


class _Chunk(NamedTuple):
    start: int
    end: int
    text: str
    changed: bool


def _paragraphs(lines: Iterable[str]) -> Iterable[tuple[list[str], dict[int, list[_Chunk]]]]:
    """The tokens of each sentence of an M2 file, and its edits by annotator."""
    tokens: list[str] | None = None
    edits: dict[int, list[_Chunk]] = {}
    for line in [*lines, ""]:
        if line.startswith("S "):
            tokens = line[2:].split(" ")
        elif line.startswith("A "):
            span, kind, text, _, _, annotator = line[2:].split("|||")
            start, end = map(int, span.split())
            own = edits.setdefault(int(annotator), [])
            if kind not in ("noop", "UNK", "Um"):
                own.append(_Chunk(start, end, "" if text == "-NONE-" else text, True))
        elif not line and tokens is not None:
            yield tokens, edits
            tokens, edits = None, {}


def _chunks(tokens: list[str], edits: Sequence[_Chunk]) -> list[_Chunk]:
    """Edits, untouched tokens, and a dummy at every boundary that no insertion occupies."""
    place, rest = 0, list(edits)
    plain: list[_Chunk] = []
    while place < len(tokens) or rest:
        if rest and rest[0].start == place:
            plain.append(rest.pop(0))
            place = plain[-1].end
        else:
            plain.append(_Chunk(place, place + 1, tokens[place], False))
            place += 1
    chunks: list[_Chunk] = []
    inserted = False
    for chunk in plain:
        insertion = chunk.start == chunk.end
        if not insertion and not inserted:
            chunks.append(_Chunk(chunk.start, chunk.start, "", False))
        chunks.append(chunk)
        inserted = insertion
    if not inserted:
        chunks.append(_Chunk(len(tokens), len(tokens), "", False))
    return chunks


def _outcome(gold: _Chunk, system: Sequence[_Chunk]) -> tuple[bool, bool]:
    """Whether a system changed a gold chunk, and whether it has it right."""
    changed = found = False
    for chunk in system:
        if (chunk.start, chunk.end) == (gold.start, gold.end):
            if chunk.text == gold.text:
                return chunk.changed, True
            found = True
            changed |= chunk.changed
        elif gold.start < gold.end and (
            gold.start <= chunk.start < gold.end or chunk.start <= gold.start < chunk.end
        ):
            found = True
            changed |= chunk.changed
    return changed, not found and not gold.changed


def plain_difficulty(gold: Path, systems: Path) -> list[dict[str, float]]:
    """Weighted P, R, F0.5 and A of every system of an M2 file, beside annotator 0 of another.

    A gold chunk weighs the share of systems that have it wrong.
    """
    outcomes, golds = [], []
    outputs = list(_paragraphs(_lines(systems)))
    count = 1 + max(annotator for _, theirs in outputs for annotator in theirs)
    for (tokens, mine), (_, theirs) in zip(_paragraphs(_lines(gold)), outputs, strict=True):
        chunks = _chunks(tokens, mine.get(0, []))
        golds.append(chunks)
        outcomes.append(
            [
                [_outcome(chunk, system) for chunk in chunks]
                for system in (_chunks(tokens, theirs.get(k, [])) for k in range(count))
            ]
        )
    found = []
    weights = [
        [1 - sum(system[c][1] for system in each) / count for c in range(len(chunks))]
        for chunks, each in zip(golds, outcomes, strict=True)
    ]
    for k in range(count):
        tp = fp = fn = tn = 0.0
        for chunks, each, own in zip(golds, outcomes, weights, strict=True):
            for chunk, (changed, correct), weight in zip(chunks, each[k], own, strict=True):
                tp += weight * (changed and correct)
                tn += weight * (correct and not changed)
                fp += weight * (changed and not correct)
                fn += weight * (not correct and (chunk.changed or not changed))
        p, r = tp / (tp + fp) if tp + fp else 0.0, tp / (tp + fn) if tp + fn else 0.0
        f = 1.25 * p * r / (0.25 * p + r) if p + r else 0.0
        found.append({"P": p, "R": r, "F05": f, "A": (tp + tn) / sum(map(sum, weights))})
    return found
