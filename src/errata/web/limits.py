"""How much one client may ask of the server: calls a minute, bytes, depth, seconds.

Windows of a minute are kept in memory, per process: enough against guessing and loops, no more.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from errata.io.strict_json import decode_json

__all__ = ["LARGEST_BODY", "Limiter", "Malformed", "read_json"]

LARGEST_BODY = 64 * 1024  # bytes
DEEPEST = 8  # levels of JSON
WINDOW = 60.0  # seconds
MOST_KEYS = 20_000  # clients remembered at once

# Calls of a kind that one address or token may make in a minute.
PER_MINUTE = {"join": 10, "failure": 20, "call": 240}


@dataclass
class Limiter:
    """Counts calls by kind and client, in windows of a minute."""

    clock: Callable[[], float] = time.monotonic
    limits: dict[str, int] = field(default_factory=lambda: dict(PER_MINUTE))
    _seen: dict[tuple[str, str], tuple[float, int]] = field(default_factory=dict)

    def allowed(self, kind: str, client: str, *, count: bool = True) -> bool:
        """Whether one more call is within the limit; it is counted unless said otherwise."""
        now = self.clock()
        start, calls = self._seen.get((kind, client), (now, 0))
        if now - start >= WINDOW:
            start, calls = now, 0
        if calls >= self.limits[kind]:
            return False
        if count:
            if len(self._seen) >= MOST_KEYS:
                self._forget(now)
            self._seen[kind, client] = (start, calls + 1)
        return True

    def _forget(self, now: float) -> None:
        fresh = {key: seen for key, seen in self._seen.items() if now - seen[0] < WINDOW}
        self._seen = fresh if len(fresh) < MOST_KEYS else {}


class Malformed(Exception):
    """A body that is no JSON of the kind that is taken; the text says why."""


def read_json(body: bytes) -> dict[str, Any]:
    """The object in a body: UTF-8, no deeper than a few levels, no NaN, no key twice.

    >>> read_json(b'{"revision": 1}')
    {'revision': 1}
    """
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        raise Malformed("the body is not UTF-8") from None
    if _depth(text) > DEEPEST:
        raise Malformed(f"the body is nested deeper than {DEEPEST} levels")
    try:
        found = decode_json(text)
        json.dumps(found, allow_nan=False)  # 1e999 is written as a number, and is none
    except ValueError as error:
        raise Malformed(f"the body is no JSON: {error}") from None
    if not isinstance(found, dict):
        raise Malformed("the body is no JSON object")
    return found


def _depth(text: str) -> int:
    """How deep brackets nest, those inside strings not counted."""
    deepest = depth = 0
    inside = escaped = False
    for character in text:
        if inside:
            if escaped:
                escaped = False
            elif character == "\\":
                escaped = True
            elif character == '"':
                inside = False
        elif character == '"':
            inside = True
        elif character in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif character in "]}":
            depth -= 1
    return deepest
