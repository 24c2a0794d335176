"""Typed records from JSON and TOML, strict numbers, safe XML, digests of files."""

from __future__ import annotations

import hashlib
import json
import os
import re
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple
from xml.parsers import expat

from errata.core.errors import InputError
from errata.io.files import PathLike, decode, file_error, read_bytes, shown_name

# ---- Fingerprints of files, so that a reader can tell whether they have the same ones.

PIECE = 1 << 20


class FileDigest(NamedTuple):
    """A file: what it is called, how many bytes it has, and their SHA-256.

    What came in on standard input, or was no plain file, has neither.
    """

    path: str
    size: int | None
    sha256: str | None


def file_digests(paths: Iterable[PathLike]) -> list[FileDigest]:
    """The fingerprints of files as they are on disk, compressed ones as they are.

    >>> file_digests(["-"])
    [FileDigest(path='<stdin>', size=None, sha256=None)]
    """
    return [_digest(path) for path in paths]


def _digest(path: PathLike) -> FileDigest:
    name = shown_name(path)
    if name == "<stdin>" or not os.path.isfile(path):
        return FileDigest(name, None, None)
    found, size = hashlib.sha256(), 0
    try:
        with Path(path).open("rb") as file:
            while piece := file.read(PIECE):
                found.update(piece)
                size += len(piece)
    except OSError as error:
        raise file_error("read", error, name) from None
    return FileDigest(name, size, found.hexdigest())


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


# ---- TOML files: read whole, with the line where one is no TOML.


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


# ---- Whole numbers as files write them.

LARGEST = 2**31 - 1  # sentences, ranks and offsets are kept as 32-bit numbers


def parse_integer(text: str, least: int) -> int | None:
    """The number that digits write; None for other texts and for numbers out of bounds.

    >>> parse_integer(" 12 ", 1), parse_integer("0", 1), parse_integer("²", 1), parse_integer("", 0)
    (12, None, None, None)
    """
    text = text.strip()
    # Digits are counted first: Python refuses to convert thousands of them.
    if not (text.isascii() and text.isdigit() and len(text.lstrip("0")) <= 10):
        return None
    number = int(text)
    return number if least <= number <= LARGEST else None


# ---- XML as it comes, element by element: no DOCTYPE, and faults named by file and line.


class XmlParser:
    """Feeds handlers with elements; a DOCTYPE, which may hold bombs and addresses, is refused."""

    def __init__(
        self,
        path: str,
        *,
        start: Callable[[str, dict[str, str]], None],
        end: Callable[[str], None],
        characters: Callable[[str], None] | None = None,
    ) -> None:
        self.path = path
        self._expat = expat.ParserCreate()
        self._expat.buffer_text = True
        self._expat.StartElementHandler = start
        self._expat.EndElementHandler = end
        self._expat.CharacterDataHandler = characters
        self._expat.StartDoctypeDeclHandler = self._doctype

    @property
    def line(self) -> int:
        """The line that is being read, from 1."""
        return self._expat.CurrentLineNumber

    def feed(self, text: str, *, last: bool) -> None:
        """Read on; ``last`` says that this is the end of the file."""
        try:
            self._expat.Parse(text, last)
        except expat.ExpatError as error:
            raise InputError(
                f"not well-formed XML: {expat.ErrorString(error.code)}",
                path=self.path,
                line=error.lineno,
                remedy="the file is damaged or cut off",
            ) from None

    def _doctype(self, *_: object) -> None:
        raise InputError(
            "a DOCTYPE is not allowed here", path=self.path, line=self.line, remedy="remove it"
        )
