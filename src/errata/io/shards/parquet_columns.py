"""The columns of a Parquet file: which it has, whether they are what they should be, their values.

    id           string or integer         compared where sources and outputs are in two files
    source       string                    required; no nulls
    hypothesis   string                    or one column hyp:NAME per system
    references   list<string>              the k-th is of annotator k, null where there is none
    edits        list<struct<...>>         annotator, start, end, replacement, kind, alternatives
    m2           string                    the ``A `` lines of the sentence, in the place of edits
    document, weight, accepted, clean      what the sentence belongs to, its weight, two marks

Every other column, and every Hive partition of the path, can be asked for as a slice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from errata.errors import InputError
from errata.io.slices import NO_VALUE
from errata.parameters import nearest

__all__ = ["HYPOTHESIS", "ParquetColumns", "checked_columns", "partitions"]

HYPOTHESIS, BY_NAME = "hypothesis", "hyp:"
_PARTITION = re.compile(r"([^=/\\]+)=([^/\\]*)(?=[/\\])")
_NO_PARTITION = "__HIVE_DEFAULT_PARTITION__"
_EDIT_FIELDS = {
    "annotator": "integer",
    "start": "integer",
    "end": "integer",
    "replacement": "string",
    "kind": "string",
    "alternatives": "list<string>",
}
_OPTIONAL_FIELDS = ("annotator", "kind", "alternatives")
# What the columns of certain names must be; of all others nothing is known.
_TYPES = {
    "id": "string or integer",
    "source": "string",
    HYPOTHESIS: "string",
    "references": "list<string>",
    "edits": "list<struct<annotator, start, end, replacement, kind, alternatives>>",
    "m2": "string",
    "document": "string or integer",
    "weight": "number",
    "accepted": "bool",
    "clean": "bool",
}
_BESIDE = ("id", "references", "edits", "m2", "document", "weight", "accepted", "clean")


@dataclass(frozen=True)
class ParquetColumns:
    """The columns of one file by what they are for."""

    path: str
    names: tuple[str, ...]
    systems: Mapping[str, str]  # system to column
    source: bool

    def wanted(self, slices: Sequence[str]) -> list[str]:
        """The columns to read, these slices among them."""
        known = [name for name in _BESIDE if name in self.names] if self.source else ["id"]
        found = [*(["source"] if self.source else ()), *self.systems.values()]
        found += [name for name in known if name in self.names]
        for name in slices if self.source else ():
            if name not in self.names:
                raise InputError(
                    f"there is no column {name!r} to slice by",
                    path=self.path,
                    remedy=f"{nearest(name, self.names)}there are: {', '.join(self.names)}",
                )
            found += [name] if name not in found else []
        return found

    def read(
        self, table: Any, before: int, slices: Sequence[str], parts: Mapping[str, str]
    ) -> dict[str, Any]:
        """The values of a table of these columns, by what they are for."""

        def column(name: str) -> tuple[Any, ...] | None:
            return tuple(table[name].to_pylist()) if name in table.column_names else None

        def filled(name: str) -> tuple[Any, ...]:
            values = column(name) or ()
            if table[name].null_count:
                self._refuse_null(name, before + values.index(None) + 1)
            return values

        edits = column("edits")
        lines = column("m2")
        a_lines = None
        if edits is not None:
            a_lines = tuple(
                self._a_lines(several or (), before + row + 1) for row, several in enumerate(edits)
            )
        elif lines is not None:
            a_lines = tuple(tuple((text or "").split("\n")) if text else () for text in lines)
            a_lines = tuple(tuple(line for line in each if line.strip()) for each in a_lines)
        references = column("references")
        return {
            "sources": filled("source") if self.source else (),
            "outputs": {system: filled(name) for system, name in self.systems.items()},
            "references": None if references is None else tuple(map(_tuple, references)),
            "a_lines": a_lines,
            "ids": filled("id") if "id" in table.column_names else None,
            "weight": filled("weight") if "weight" in table.column_names else None,
            **{name: column(name) for name in ("document", "accepted", "clean")},
            "slices": {
                name: (parts[name],) * len(table)
                if name in parts
                else tuple(NO_VALUE if v is None or v == "" else str(v) for v in column(name) or ())
                for name in slices
            },
        }

    def _refuse_null(self, name: str, row: int) -> None:
        raise InputError(
            f"the column {name!r} has no value (null) in this row",
            path=self.path,
            line=row,
            remedy="fill it, or leave the row out; an empty text is an empty sentence",
        )

    def _a_lines(self, edits: Sequence[Mapping[str, Any] | None], row: int) -> tuple[str, ...]:
        """Edits as the lines of M2, whose reader checks them."""
        lines = []
        for edit in edits:
            values = {} if edit is None else {**edit}
            for name in _EDIT_FIELDS:
                if values.get(name) is None and name not in _OPTIONAL_FIELDS:
                    self._refuse_null(f"edits.{name}", row)
            texts = [values["replacement"], *(values.get("alternatives") or ())]
            kind = values.get("kind") or ""
            if any(t is None or "||" in t or "\n" in t for t in texts) or "|||" in kind + "|":
                raise InputError(
                    f"an edit that M2 cannot say: {texts!r} of kind {kind!r}",
                    path=self.path,
                    line=row,
                    remedy="texts and kinds hold no '||' and no line end",
                )
            span = f"{values['start']} {values['end']}"
            said = "||".join(text or "-NONE-" for text in texts)
            annotator = values.get("annotator") or 0
            lines.append(f"A {span}|||{kind}|||{said}|||REQUIRED|||-NONE-|||{annotator}")
        return tuple(lines)


def _tuple(values: Sequence[Any] | None) -> tuple[Any, ...] | None:
    return None if values is None else tuple(values)


def checked_columns(schema: Any, path: str, role: str) -> ParquetColumns:
    """The columns of a file, once those that are known by name are what they should be.

    In the role ``parquet`` a file has sources; in that of an output it has a hypothesis.
    """
    names = tuple(schema.names)
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"two columns are called {twice!r}", path=path, remedy="rename one")
    for name in names:
        expected = (
            _TYPES[HYPOTHESIS if name.startswith(BY_NAME) else name]
            if (name in _TYPES or name.startswith(BY_NAME))
            else None
        )
        kind = schema.field(name).type
        if expected is not None and str(kind) != "null" and not _CHECKS[expected](kind):
            raise InputError(
                f"the column {name!r} is of type {kind} and not {expected}",
                path=path,
                remedy="write it as that, or rename the column",
            )
    lead = role == "parquet"
    required = "source" if lead else HYPOTHESIS
    if required not in names:
        raise InputError(
            f"there is no column {required!r}",
            path=path,
            remedy=f"{nearest(required, names)}the columns are: {', '.join(names) or 'none'}",
        )
    gold = [name for name in ("references", "edits", "m2") if name in names]
    if lead and len(gold) > 1:
        raise InputError(
            f"both columns {gold[0]!r} and {gold[1]!r} are given", path=path, remedy="keep one"
        )
    systems = {HYPOTHESIS: HYPOTHESIS} if HYPOTHESIS in names else {}
    if lead:
        systems |= {name.removeprefix(BY_NAME): name for name in names if name.startswith(BY_NAME)}
    return ParquetColumns(path, names, systems, lead)


def partitions(path: str) -> dict[str, str]:
    """The Hive partitions of a path, by name.

    >>> partitions("s3://logs/day=2026-11-17/locale=de%20AT/part-0.parquet")
    {'day': '2026-11-17', 'locale': 'de AT'}
    """
    found = {name: unquote(value) for name, value in _PARTITION.findall(path)}
    return {
        name: NO_VALUE if value in ("", _NO_PARTITION) else value for name, value in found.items()
    }


def _is_string(kind: Any) -> bool:
    from pyarrow import types

    if types.is_dictionary(kind):
        kind = kind.value_type
    return bool(types.is_string(kind) or types.is_large_string(kind)) or str(kind) == "string_view"


def _is_integer(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_integer(kind))


def _is_number(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_integer(kind) or types.is_floating(kind))


def _is_bool(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_boolean(kind))


def _items(kind: Any) -> Any:
    """What a list is a list of; None for what is no list."""
    from pyarrow import types

    lists = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
    return kind.value_type if lists else None


def _is_strings(kind: Any) -> bool:
    from pyarrow import types

    items = _items(kind)
    return items is not None and (_is_string(items) or bool(types.is_null(items)))


def _is_edits(kind: Any) -> bool:
    from pyarrow import types

    items = _items(kind)
    if items is None or not types.is_struct(items):
        return False
    fields = {field.name: field.type for field in items}
    return all(
        _CHECKS[expected](fields[name]) if name in fields else name in _OPTIONAL_FIELDS
        for name, expected in _EDIT_FIELDS.items()
    )


_CHECKS: dict[str, Callable[[Any], bool]] = {
    "string": _is_string,
    "integer": _is_integer,
    "string or integer": lambda kind: _is_string(kind) or _is_integer(kind),
    "number": _is_number,
    "bool": _is_bool,
    "list<string>": _is_strings,
    _TYPES["edits"]: _is_edits,
}
