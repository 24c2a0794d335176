"""JSON as it is meant: no key twice, no NaN, no halves of characters."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["decode_json"]


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice[:40]!r} stands there twice")
    return data


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")


_QUICK = json.JSONDecoder(parse_constant=_no_constant)
_DECODER = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_no_constant)


def decode_json(text: str) -> Any:
    r"""The one value that a text writes; whatever is wrong is a ValueError in a few words.

    >>> decode_json('{"ranks": [1, 2]}')
    {'ranks': [1, 2]}
    >>> decode_json('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ValueError: the key 'a' stands there twice
    """
    start = len(text) - len(text.lstrip())
    try:
        value, end = _QUICK.raw_decode(text, start)
        # As many colons as keys: no key was lost. Else (times, objects within) it is looked at.
        if type(value) is not dict or text.count(":") != len(value):
            value, end = _DECODER.raw_decode(text, start)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except ValueError as error:
        if "int_max_str_digits" in str(error):
            raise ValueError("a number of thousands of digits") from None
        raise
    if text[end:].strip():
        raise ValueError(f"more than one value (column {end + 1})")
    if "\\u" in text:  # an escape may write half a character, which no file can hold
        try:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError:
            raise ValueError("a lone surrogate (\\ud800 to \\udfff) is not a character") from None
    return value
