"""Rated outputs in a table: what several people think of one output, by criterion.

The columns are those of TMU-GFM (Yoshimura et al. 2020): ``source``, ``output``, ``grammer`` (as
it is spelt there), ``fluency``, ``meaning``, and ``system``. A cell of ratings holds those of
several people apart by commas, 1 (worst) to 4. 0 is "other": the rater could not say, so it is no
rating. It is left out and counted, as in the published means; those (``ave_g`` and so on) are not
read, but made anew.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from errata.errors import InputError
from errata.io.digests import file_digests
from errata.io.files import PathLike, shown_name
from errata.io.sheet import SheetRow, column_key, read_rows, same_width
from errata.io.whole_numbers import whole_number

__all__ = ["CRITERIA", "HIGHEST", "LOWEST", "Criterion", "RatedOutput", "Ratings", "read_ratings"]

Criterion = Literal["grammer", "fluency", "meaning"]
CRITERIA: tuple[Criterion, ...] = get_args(Criterion)
LOWEST, HIGHEST, OTHER = 1, 4, 0
_TITLES = {
    "source": {"source", "input", "original"},
    "output": {"output", "hypothesis", "correction"},
    "grammer": {"grammer", "grammar", "grammaticality"},
    "fluency": {"fluency"},
    "meaning": {"meaning", "meaningpreservation", "adequacy"},
    "system": {"system", "systems"},
}


@dataclass(frozen=True, slots=True)
class RatedOutput:
    """One output of a source, the systems that made it, and what people gave it."""

    source: str
    output: str
    ratings: Mapping[Criterion, tuple[int, ...]]
    systems: tuple[str, ...] = ()
    line: int = 0

    def mean(self, criterion: Criterion) -> float | None:
        """The mean of a criterion's ratings; None where nobody gave one.

        >>> RatedOutput("I is", "I am", {"grammer": (4, 3)}).mean("grammer")
        3.5
        """
        given = self.ratings.get(criterion, ())
        return sum(given) / len(given) if given else None


@dataclass(frozen=True)
class Ratings:
    """The rated outputs of a file, the digest of the file, and how many ratings were "other"."""

    rows: tuple[RatedOutput, ...]
    name: str
    sha256: str
    others: Mapping[Criterion, int]

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """The criteria by which something was rated."""
        return tuple(c for c in CRITERIA if any(row.ratings.get(c) for row in self.rows))

    @property
    def sources(self) -> int:
        """How many different sources there are."""
        return len({row.source for row in self.rows})


def read_ratings(path: PathLike) -> Ratings:
    """Read rated outputs from CSV (or a spreadsheet); see the module for its columns."""
    name = shown_name(path)
    rows, _ = read_rows(path)
    if len(rows) < 2:
        raise InputError(
            "no ratings below the heading", path=name, remedy="give a row for every output"
        )
    same_width(rows, name)
    at = _columns(rows[0], name)
    others: dict[Criterion, int] = {c: 0 for c in CRITERIA if c in at}
    found = tuple(_rated(row, at, name, others) for row in rows[1:] if any(row.cells))
    if not any(row.ratings.get(c) for row in found for c in others):
        raise InputError("no output was rated", path=name, remedy=f"give {_ratings_are()}")
    return Ratings(found, name, file_digests([path])[0].sha256 or _digest(found), others)


def _digest(rows: Sequence[RatedOutput]) -> str:
    """The digest of what came through a pipe, which cannot be read a second time."""
    texts = (repr((row.source, row.output, sorted(row.ratings.items()))) for row in rows)
    return hashlib.sha256("\n".join(texts).encode("utf-8", "surrogatepass")).hexdigest()


def _ratings_are() -> str:
    return f"whole numbers from {LOWEST} (worst) to {HIGHEST}, {OTHER} for none, apart by commas"


def _columns(head: SheetRow, name: str) -> dict[str, int]:
    """Where each column stands, by its title in any case and with any marks."""
    at: dict[str, int] = {}
    for role, titles in _TITLES.items():
        places = [k for k, title in enumerate(head.cells) if column_key(title) in titles]
        if len(places) > 1:
            raise InputError(
                f"two columns of {role}s: {', '.join(head.cells[k] for k in places)}",
                path=name,
                line=head.line,
                remedy="rename or remove one",
            )
        if places:
            at[role] = places[0]
    missing = [role for role in ("source", "output") if role not in at]
    if missing or not any(criterion in at for criterion in CRITERIA):
        raise InputError(
            f"no column {missing[0] if missing else ', '.join(CRITERIA[:-1]) + ' or meaning'}",
            path=name,
            line=head.line,
            remedy="the columns are source, output, and one or more of " + ", ".join(CRITERIA),
        )
    return at


def _rated(
    row: SheetRow, at: Mapping[str, int], name: str, others: dict[Criterion, int]
) -> RatedOutput:
    source, output = (row.cells[at[role]] for role in ("source", "output"))
    for role, text in (("source", source), ("output", output)):
        if {*"\r\n"} & {*text}:
            raise InputError(
                f"the {role} has several lines",
                path=name,
                line=row.line,
                remedy="give one sentence a cell",
            )
    if not source:
        raise InputError(
            "a row without a source",
            path=name,
            line=row.line,
            remedy="give the sentence that was corrected",
        )
    ratings: dict[Criterion, tuple[int, ...]] = {}
    for criterion in others:
        grades = _grades(row.cells[at[criterion]], criterion, name, row.line)
        others[criterion] += grades.count(OTHER)
        ratings[criterion] = tuple(grade for grade in grades if grade != OTHER)
    systems = row.cells[at["system"]].split(",") if "system" in at else []
    return RatedOutput(
        source, output, ratings, tuple(s.strip() for s in systems if s.strip()), row.line
    )


def _grades(text: str, criterion: str, name: str, line: int) -> Sequence[int]:
    grades = []
    for part in text.split(",") if text else ():
        grade = whole_number(part.strip(), OTHER)
        if grade is None or grade > HIGHEST:
            raise InputError(
                f"the rating {part.strip()[:40]!r} in {criterion} is none",
                path=name,
                line=line,
                remedy=f"ratings are {_ratings_are()}",
            )
        grades.append(grade)
    return grades
