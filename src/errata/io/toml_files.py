"""TOML files: read whole, with the line where one is no TOML."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from errata.errors import InputError
from errata.io.files import PathLike, decode, read_bytes, shown_name

__all__ = ["key_line", "read_toml"]


def read_toml(path: PathLike) -> tuple[dict[str, Any], str]:
    """What a TOML file holds, and its text."""
    where = shown_name(path)
    text = decode(read_bytes(path), where)
    try:
        return tomllib.loads(text), text
    except (ValueError, RecursionError) as error:
        at = re.search(r"at line (\d+)", str(error))
        raise InputError(
            f"not TOML: {error}", path=where, line=int(at[1]) if at else None
        ) from None


def key_line(text: str, key: str) -> int | None:
    """The first line of a TOML text that gives this key a value.

    >>> key_line('title = "a"\\ndate = 2026-11-16', "date")
    2
    """
    given = re.compile(rf"\s*[\"']?{re.escape(key)}[\"']?\s*[=.]")
    return next((n for n, line in enumerate(text.splitlines(), 1) if given.match(line)), None)
