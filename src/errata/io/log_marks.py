"""What is known of logged sentences: a table with a row each, read beside their texts.

The first line names the columns, apart by tabs: ``accepted``, ``clean`` and whatever logs are
sliced by. Rows are read as they are asked for, so that the table may be longer than memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from errata.errors import InputError
from errata.io.files import PathLike, decode, shown_name
from errata.io.opened import opened
from errata.io.slices import NO_VALUE
from errata.parameters import nearest

__all__ = ["LogMarks"]

_YES, _NO = ("true", "yes", "1"), ("false", "no", "0")


class LogMarks:
    """The columns of a table of marks, so many rows at a time."""

    def __init__(self, path: PathLike, slices: Sequence[str] = ()) -> None:
        self.path, self.slices = shown_name(path), tuple(slices)
        self.row = 1
        self._lines = _lines(path, self.path)
        self.titles = next(self._lines, [])
        if len({*self.titles}) < len(self.titles) or "" in self.titles:
            raise InputError(
                "a column has no name, or the name of another",
                path=self.path,
                line=1,
                remedy="write the names of the columns in the first line, apart by tabs",
            )
        for name in slices:
            if name not in self.titles:
                raise InputError(
                    f"there is no column {name!r} to slice by",
                    path=self.path,
                    line=1,
                    remedy=f"{nearest(name, self.titles)}there are: {', '.join(self.titles)}",
                )

    def take(self, n: int) -> dict[str, Any]:
        """What the next ``n`` rows say: ``accepted``, ``clean`` and ``slices``."""
        rows = list(islice(self._lines, n))
        first = self.row + 1
        self.row += len(rows)
        for k, cells in enumerate(rows):
            if len(cells) != len(self.titles):
                raise InputError(
                    f"{len(cells)} cells below {len(self.titles)} names of columns",
                    path=self.path,
                    line=first + k,
                    remedy="cells are apart by tabs, and empty where nothing is known",
                )
        if len(rows) < n:
            self._refuse(f"{self.row - 1} rows below the names of columns, and more sentences")
        by_title = {title: [row[c] for row in rows] for c, title in enumerate(self.titles)}
        return {
            "accepted": self._marks(by_title, "accepted", first),
            "clean": self._marks(by_title, "clean", first),
            "slices": {
                name: tuple(cell or NO_VALUE for cell in by_title[name]) for name in self.slices
            },
        }

    def _marks(
        self, columns: Mapping[str, Sequence[str]], name: str, first: int
    ) -> list[bool | None] | None:
        if name not in columns:
            return None
        return [self._mark(cell, name, first + k) for k, cell in enumerate(columns[name])]

    def finish(self) -> None:
        """Refuse rows beyond the last sentence."""
        if next(self._lines, None) is not None:
            self._refuse(f"more rows than the {self.row - 1} sentences")

    def _refuse(self, problem: str) -> None:
        raise InputError(problem, path=self.path, remedy="give one row per sentence")

    def _mark(self, cell: str, name: str, line: int) -> bool | None:
        word = cell.strip().lower()
        if word in _YES or word in _NO or not word:
            return word in _YES if word else None
        raise InputError(
            f"{name} is {cell[:40]!r}, neither yes nor no",
            path=self.path,
            line=line,
            remedy="write true or false, yes or no, 1 or 0, or nothing where it is not known",
        )


def _lines(path: PathLike, name: str) -> Iterator[list[str]]:
    with opened(path, bounded=False) as file:
        for number, line in enumerate(file, 1):
            text = decode(line, name, first_line=number).rstrip("\n").removesuffix("\r")
            yield text.split("\t")
