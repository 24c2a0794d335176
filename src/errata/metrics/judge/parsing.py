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
MOST_BRACES = 1000  # that may begin an object after the first; what has more is no answer
# target3_score as the prompt says, target_score3 or 3 as models also write.
_NAMED = re.compile(r"(?:target(\d+)_score|target_score(\d+)|(\d+))", re.ASCII)
_NUMBER = re.compile(r"\s*([1-5])(?:\.0+)?\s*", re.ASCII)
_PLACE = re.compile(
    r'"(?:target(\d+)_score|target_score(\d+)|(\d+))"\s*:\s*"?\s*([1-5])(?![\d.]*[1-9])', re.ASCII
)


def parse_scores(text: str, targets: int) -> tuple[int, ...] | None:
    """The scores of targets 1, 2, ... in an answer, or None where one is missing or unclear.

    Read is the first balanced JSON object; what stands before it (a fence, prose) and after it is
    passed over, and so is all that was thought aloud (up to ``</think>``). Scores are whole numbers
    from 1 to 5, perhaps in quotes. A target that has two scores, or one that was never shown,
    makes all of the answer unclear, and so does another object with other scores.

    >>> parse_scores('Sure! ```json\\n{"target1_score": 4, "target2_score": "2"}\\n```', 2)
    (4, 2)
    >>> parse_scores('{"target1_score": 4.5}', 1), parse_scores('{"target1_score": 4}', 2)
    (None, None)
    >>> parse_scores('{"target1_score": 4} No: {"target1_score": 2}', 1)
    """
    start = _start(text)
    found = _object_at(text, start)
    if found is None:
        return None
    pairs, end = found
    scores = _scores(pairs)
    if scores is None or sorted(scores) != [*range(1, targets + 1)]:
        return None
    for _ in range(MOST_BRACES):
        later = text.find("{", end)
        if later < 0:
            return tuple(scores[target] for target in range(1, targets + 1))
        pairs, end = _object_at(text, later) or ([], later + 1)
        if any(map(_named, pairs)) and _scores(pairs) != scores:
            return None
    return None


def expected_scores(tokens: Sequence[Choice], targets: int) -> tuple[float, ...] | None:
    """``Σ k p(k) / Σ p(k)`` over the digits 1 to 5 where each score stands, or None.

    The probabilities of other tokens (and of digits that are not among those the server gives) are
    left out, and the rest sums to one: a score stays within 1 to 5.
    """
    text = "".join(token.text for token in tokens)
    scores = parse_scores(text, targets)
    if scores is None:
        return None
    start = _start(text)
    end = json.JSONDecoder().raw_decode(text, start)[1]
    places = list(_PLACE.finditer(text, start, end))
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


def _start(text: str) -> int:
    """Where the answer begins, after what was thought; -1 where nothing was said, or only begun."""
    thought = text.rfind("</think>")
    return -1 if thought < text.rfind("<think>") else text.find("{", max(thought, 0))


def _object_at(text: str, start: int) -> tuple[list[tuple[str, Any]], int] | None:
    """Keys and values of an object, twice those that stand there twice, and where it ends."""
    if start < 0:
        return None
    try:
        return json.JSONDecoder(object_pairs_hook=list).raw_decode(text, start)
    except (ValueError, RecursionError):
        return None


def _named(pair: tuple[str, Any]) -> re.Match[str] | None:
    return _NAMED.fullmatch(pair[0].strip())


def _scores(pairs: list[tuple[str, Any]]) -> dict[int, int] | None:
    """The score of every target that is named, or None where one is none, or is another's."""
    scores: dict[int, int] = {}
    for pair in pairs:
        if (named := _named(pair)) is None:
            continue
        target, score = _target(named), _score(pair[1])
        if score is None or scores.get(target, score) != score:
            return None
        scores[target] = score
    return scores


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
