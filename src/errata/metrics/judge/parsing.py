"""Reading a judge's answer without ever guessing: all scores, or none."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import Any

from errata.models.chat import Choice

__all__ = ["LOWEST_SCORE", "TOP_SCORE", "expected_scores", "parse_scores"]

LOWEST_SCORE, TOP_SCORE = 1, 5
# target3_score as the prompt says, target_score3 or 3 as models also write.
_NAMED = re.compile(r"(?:target(\d+)_score|target_score(\d+)|(\d+))", re.ASCII)
_NUMBER = re.compile(r"\s*([1-5])(?:\.0+)?\s*", re.ASCII)
_PLACE = re.compile(
    r'"(?:target(\d+)_score|target_score(\d+)|(\d+))"\s*:\s*"?\s*([1-5])(?![\d.]*[1-9])', re.ASCII
)


def parse_scores(text: str, targets: int) -> tuple[int, ...] | None:
    """The scores of targets 1, 2, ... in an answer, or None where one is missing or unclear.

    Read is the first balanced JSON object; what stands before it (a fence, prose) and after it is
    passed over. Scores are whole numbers from 1 to 5, perhaps in quotes. A target that has two
    scores, or one that was never shown, makes all of the answer unclear.

    >>> parse_scores('Sure! ```json\\n{"target1_score": 4, "target2_score": "2"}\\n```', 2)
    (4, 2)
    >>> parse_scores('{"target1_score": 4.5}', 1), parse_scores('{"target1_score": 4}', 2)
    (None, None)
    """
    found = _object_in(text)
    if found is None:
        return None
    scores: dict[int, int] = {}
    for key, value in found:
        named = _NAMED.fullmatch(key.strip())
        if named is None:
            continue
        target, score = _target(named), _score(value)
        if score is None or not 1 <= target <= targets or scores.get(target, score) != score:
            return None
        scores[target] = score
    if len(scores) < targets:
        return None
    return tuple(scores[target] for target in range(1, targets + 1))


def expected_scores(tokens: Sequence[Choice], targets: int) -> tuple[float, ...] | None:
    """``Σ k p(k) / Σ p(k)`` over the digits 1 to 5 where each score stands, or None.

    The probabilities of other tokens (and of digits that are not among those the server gives) are
    left out, and the rest sums to one: a score stays within 1 to 5.
    """
    text = "".join(token.text for token in tokens)
    scores = parse_scores(text, targets)
    if scores is None:
        return None
    end = json.JSONDecoder().raw_decode(text, text.index("{"))[1]
    places = list(_PLACE.finditer(text, text.index("{"), end))
    if sorted(map(_target, places)) != [*range(1, targets + 1)]:
        return None  # a score stands at no place, or at more than one
    ends, end = [], 0
    for token in tokens:
        end += len(token.text)
        ends.append(end)
    expected: dict[int, float] = {}
    for place in places:
        target, at = _target(place), place.start(4)
        which = next(i for i, stop in enumerate(ends) if at < stop)
        token = tokens[which]
        offset = at - (ends[which] - len(token.text))
        before, after = token.text[:offset], token.text[offset + 1 :]
        mass = dict.fromkeys(range(LOWEST_SCORE, TOP_SCORE + 1), 0.0)
        for other, logarithm in token.likely:
            for score in mass:
                if other == f"{before}{score}{after}" and logarithm <= 1e-6:
                    mass[score] = math.exp(logarithm)
        if not mass[scores[target - 1]] > 0:
            return None
        expected[target] = sum(k * p for k, p in mass.items()) / sum(mass.values())
    return tuple(expected[target] for target in range(1, targets + 1))


def _object_in(text: str) -> list[tuple[str, Any]] | None:
    """Keys and values of the first balanced object, twice those that stand there twice."""
    start = text.find("{")
    if start < 0:
        return None
    try:
        pairs, _ = json.JSONDecoder(object_pairs_hook=list).raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    return pairs if isinstance(pairs, list) else None


def _target(named: re.Match[str]) -> int:
    """Which target is meant; a number of a thousand digits is none."""
    digits = next(group for group in named.groups()[:3] if group is not None)
    return int(digits) if len(digits) < 5 else 0


def _score(value: object) -> int | None:
    """A whole number from 1 to 5, also as a float or in quotes."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    written = value if isinstance(value, str) else repr(value)
    read = _NUMBER.fullmatch(written)
    return int(read[1]) if read else None
