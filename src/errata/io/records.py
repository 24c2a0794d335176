"""Typed records from JSON and TOML, strict numbers, safe XML, digests of files."""

from __future__ import annotations

import dataclasses
import datetime
import hashlib
import json
import math
import os
import re
import tomllib
import types
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)
from xml.parsers import expat

from errata.core.errors import InputError
from errata.core.parameters import suggest_name
from errata.io.files import PathLike, decode, file_error, read_bytes, shown_name

T = TypeVar("T")


class FileDigest(NamedTuple):
    """The name, size and SHA-256 of a file; None for standard input and special files."""

    path: str
    size: int | None
    sha256: str | None


def file_digests(paths: Iterable[PathLike]) -> list[FileDigest]:
    """The fingerprints of files as they are on disk, compressed ones as they are.

    >>> file_digests(["-"])
    [FileDigest(path='<stdin>', size=None, sha256=None)]
    """
    found = []
    for path in paths:
        digest = FileDigest(shown_name(path), None, None)
        if digest.path != "<stdin>" and os.path.isfile(path):
            try:
                with Path(path).open("rb") as file:
                    sha256 = hashlib.file_digest(file, "sha256").hexdigest()
                    digest = digest._replace(size=file.tell(), sha256=sha256)
            except OSError as error:
                raise file_error("read", error, digest.path) from None
        found.append(digest)
    return found


def _refuse_duplicate_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice[:40]!r} stands there twice")
    return data


def _refuse_nan(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")


_QUICK = json.JSONDecoder(parse_constant=_refuse_nan)
_DECODER = json.JSONDecoder(object_pairs_hook=_refuse_duplicate_keys, parse_constant=_refuse_nan)


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


def read_json(path: PathLike, problem: str, remedy: str) -> Any:
    """Return the content of a JSON file; the error for another file begins with ``problem``."""
    name = shown_name(path)
    try:
        return decode_json(decode(read_bytes(path), name))
    except ValueError as error:
        line = getattr(error, "lineno", None)
        raise InputError(f"{problem}: {error}", path=name, line=line, remedy=remedy) from None


# ---- TOML: the file with its text, and the line of a key.


def parse_toml(text: str, where: str) -> dict[str, Any]:
    """Return the content of a TOML text; ``where`` names it in messages."""
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise InputError("not TOML: nested too deeply", path=where) from None
    except ValueError as error:  # also numbers of thousands of digits
        at = re.search(r"at line (\d+)", str(error))
        problem = f"not TOML: {error}"
        raise InputError(problem, path=where, line=int(at[1]) if at else None) from None


def read_toml(path: PathLike) -> tuple[dict[str, Any], str]:
    """Return the content of a TOML file, and its text."""
    where = shown_name(path)
    text = decode(read_bytes(path), where)
    return parse_toml(text, where), text


Keys = tuple[str | int, ...]
_HEADER = re.compile(r"\s*(\[\[?)\s*([^\[\]]+?)\s*\]")
_SETTING = re.compile(
    r"""\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*="""
)
_NAME = re.compile(r"""[^."'\s]+|"[^"]*"|'[^']*'""")


def line_of_key(text: str, *keys: str | int) -> int | None:
    """Return the line of a TOML text that sets a key, else of the nearest table around it.

    >>> line_of_key('title = "a"\\n[sets.one]\\ngold = "g"', "sets", "one", "gold")
    3
    >>> line_of_key("[[table]]\\n[[table]]\\nby = 1", "table", 1, "known")
    2
    >>> line_of_key("a = 1", "b") is None
    True
    """
    table: Keys = ()
    arrays: Counter[Keys] = Counter()
    best, best_line = 0, None
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            table = ()
            names = [name.strip("\"'") for name in _NAME.findall(header[2])]
            for depth, name in enumerate(names, 1):
                table = (*table, name)
                if header[1] == "[[" and depth == len(names):
                    arrays[table] += 1
                if arrays[table]:
                    table = (*table, arrays[table] - 1)
            place = table
        elif setting := _SETTING.match(line):
            names = [name.strip("\"'") for name in _NAME.findall(setting[1])]
            place = (*table, *names)
        else:
            continue
        shared = len(keys) if place[: len(keys)] == keys else len(place)
        if shared > best and place[:shared] == keys[:shared]:
            best, best_line = shared, number
    return best_line


# ---- Records: frozen dataclasses and named tuples from parsed JSON or TOML.


class AtLeast(NamedTuple):
    """The smallest value of a number, as in ``Annotated[int, AtLeast(0)]``."""

    least: float


class ListOfOne:
    """Marks a list that may be written as its only element."""


Count = Annotated[int, AtLeast(0)]
Texts = Annotated[tuple[str, ...], ListOfOne]  # "a" or ["a", "b"]
_KINDS: dict[Any, str] = {
    str: "a text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    datetime.date: "a date (2026-11-16)",
    types.NoneType: "nothing",
}


class _Mismatch(Exception):
    """A value is not what its place asks for."""

    def __init__(self, keys: Keys, problem: str, remedy: str = "") -> None:
        self.keys, self.problem, self.remedy = keys, problem, remedy


@dataclass(frozen=True)
class RecordReader:
    """Decodes the parsed content of one file; errors name file, line, key and remedy.

    ``text`` is the parsed TOML, for the lines of keys; ``line`` the line of a JSON value. Keys
    without a field are an error unless ``extra`` allows them. Null is NaN where JSON should have a
    number.

    >>> class Point(NamedTuple):
    ...     x: float
    ...     name: str = ""
    >>> RecordReader("p.json").decode(Point, {"x": 1})
    Point(x=1.0, name='')
    >>> RecordReader("p.toml", text="x = 1\\nnane = 2").decode(Point, {"x": 1, "nane": 2})
    Traceback (most recent call last):
    errata.core.errors.InputError: p.toml:2: nane: unknown key; did you mean 'name'? known: x, name
    """

    path: str
    text: str = ""
    line: int | None = None
    remedy: str = ""
    extra: bool = False

    def decode(self, kind: type[T], data: Any, *keys: str | int, **fixed: Any) -> T:
        """Return ``data`` at ``keys`` of the file as a ``kind``; ``fixed`` are fields it lacks."""
        try:
            return self._decode_value(kind, data, (), fixed)  # type: ignore[no-any-return]
        except _Mismatch as error:
            raise self.error(error.problem, *keys, *error.keys, remedy=error.remedy) from None

    def error(self, problem: str, *keys: str | int, remedy: str = "") -> InputError:
        """Return the error for the value at ``keys``."""
        where = ""
        for key in keys:
            where += f"[{key + 1}]" if isinstance(key, int) else f".{key}" if where else key
        line = line_of_key(self.text, *keys) if self.text else self.line
        remedy = remedy or self.remedy
        if where:
            problem = f"{where[:100]}: {problem}"
        return InputError(problem, path=self.path, line=line, remedy=remedy)

    def _decode_value(self, kind: Any, data: Any, keys: Keys, fixed: Mapping[str, Any]) -> Any:
        marks: tuple[Any, ...] = ()
        if get_origin(kind) is Annotated:
            kind, *rest = get_args(kind)
            marks = tuple(rest)
        if kind is Any:
            return data
        if dataclasses.is_dataclass(kind) or hasattr(kind, "_fields"):
            return self._decode_record(kind, data, keys, fixed)
        origin, args = get_origin(kind), get_args(kind)
        if origin in (Union, types.UnionType):
            return self._decode_union(args, data, keys)
        if origin is Literal:
            if data in args and type(data) in map(type, args):
                return data
            remedy = f"{suggest_name(data, args)}use one of: {', '.join(filter(None, args))}"
            raise _Mismatch(keys, f"{_show_value(data)} is unknown", remedy)
        if origin is tuple:
            return self._decode_tuple(kind, args, data, keys, ListOfOne in marks)
        if isinstance(origin, type) and issubclass(origin, Mapping):
            if not isinstance(data, dict):
                raise self._mismatch(kind, data, keys)
            return {
                key: self._decode_value(args[1], each, (*keys, key), {})
                for key, each in data.items()
            }
        return self._decode_scalar(kind, data, keys, marks)

    def _decode_scalar(self, kind: type, data: Any, keys: Keys, marks: tuple[Any, ...]) -> Any:
        if kind is float and data is None and not self.text:
            return math.nan
        fits = type(data) in (int, float) if kind is float else isinstance(data, kind)
        if not fits or (kind is not bool and isinstance(data, bool)):
            raise self._mismatch(kind, data, keys)
        if kind is float:
            try:
                data = float(data)
            except OverflowError:
                data = math.inf
            if not math.isfinite(data):
                raise _Mismatch(keys, "the number is not finite")
        for mark in marks:
            if isinstance(mark, AtLeast) and data < mark.least:
                raise _Mismatch(keys, f"{data} is below {mark.least:g}")
        return data

    def _decode_union(self, kinds: tuple[Any, ...], data: Any, keys: Keys) -> Any:
        if data is None and types.NoneType in kinds:
            return None
        failed = []
        for kind in kinds:
            try:
                return self._decode_value(kind, data, keys, {})
            except _Mismatch as error:
                failed.append(error)
        deepest = max(failed, key=lambda error: len(error.keys))
        if len(deepest.keys) > len(keys):
            raise deepest
        several = [kind for kind in kinds if kind is not types.NoneType]
        if len(several) == 1:
            raise failed[0]
        raise _Mismatch(keys, f"{_show_value(data)} is not {' or '.join(map(_kind_name, several))}")

    def _decode_tuple(
        self, kind: Any, args: tuple[Any, ...], data: Any, keys: Keys, one: bool
    ) -> tuple[Any, ...]:
        if one and not isinstance(data, list):
            try:
                return (self._decode_value(args[0], data, keys, {}),)
            except _Mismatch:
                what = f"{_kind_name(args[0])} or {_kind_name(kind)}"
                raise _Mismatch(keys, f"{_show_value(data)} is not {what}") from None
        if not isinstance(data, list):
            raise self._mismatch(kind, data, keys)
        kinds = [args[0]] * len(data) if args[1:] == (...,) else args
        if len(kinds) != len(data):
            raise _Mismatch(keys, f"{len(data)} values instead of {len(kinds)}")
        return tuple(
            self._decode_value(each, value, (*keys, k), {})
            for k, (each, value) in enumerate(zip(kinds, data, strict=True))
        )

    def _decode_record(self, kind: Any, data: Any, keys: Keys, fixed: Mapping[str, Any]) -> Any:
        if not isinstance(data, dict):
            raise self._mismatch(kind, data, keys)
        fields = {k: each for k, each in _fields_by_key(kind).items() if each[0] not in fixed}
        for key in data:
            if key not in fields and not self.extra:
                remedy = f"{suggest_name(key, fields)}known: {', '.join(fields)}"
                raise _Mismatch((*keys, key), "unknown key", remedy)
        values = dict(fixed)
        for key, (name, wanted, required) in fields.items():
            if key in data:
                values[name] = self._decode_value(wanted, data[key], (*keys, key), {})
            elif required:
                remedy = self.remedy or f"the keys are: {', '.join(fields)}"
                raise _Mismatch(keys, f"there is no {key!r}", remedy)
        try:
            return kind(**values)
        except InputError as error:
            raise _Mismatch(keys, error.problem, error.remedy or "") from None

    def _mismatch(self, kind: Any, data: Any, keys: Keys) -> _Mismatch:
        what = _kind_name(kind)
        if what == "a table" and not self.text:
            what = "a JSON object"
        return _Mismatch(keys, f"{_show_value(data)} is not {what}")


@cache
def _fields_by_key(kind: Any) -> dict[str, tuple[str, Any, bool]]:
    """Return name, type and whether required of the fields by key (``metadata={"key": ...}``)."""
    hints = get_type_hints(kind, include_extras=True)
    if hasattr(kind, "_fields"):
        optional = kind._field_defaults
        return {name: (name, hints[name], name not in optional) for name in kind._fields}
    missing = dataclasses.MISSING
    found = {}
    for field in dataclasses.fields(kind):
        if field.init and not field.metadata.get("derived"):
            required = field.default is missing and field.default_factory is missing
            key = field.metadata.get("key", field.name)
            found[key] = field.name, hints[field.name], required
    return found


def _show_value(data: Any) -> str:
    text = repr(data)
    return text if len(text) <= 60 else text[:57] + "..."


def _kind_name(kind: Any) -> str:
    if get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    if get_origin(kind) is tuple:
        return f"a list of {_kind_name(get_args(kind)[0]).removeprefix('a ')}s"
    return _KINDS.get(kind, "a table")


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
            problem = f"not well-formed XML: {expat.ErrorString(error.code)}"
            remedy = "the file is damaged or cut off"
            raise InputError(problem, path=self.path, line=error.lineno, remedy=remedy) from None

    def _doctype(self, *_: object) -> None:
        problem = "a DOCTYPE is not allowed here"
        raise InputError(problem, path=self.path, line=self.line, remedy="remove it")
