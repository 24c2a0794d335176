"""What a paper printed and how each of its figures is recomputed: the parts of an experiment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = [
    "ELSEWHERE",
    "IN_WORDS",
    "Claim",
    "Evidence",
    "Experiment",
    "Key",
    "Known",
    "OwnFiles",
    "PublishedTable",
    "Way",
]

Key = tuple[str, ...]
IN_WORDS = "~"
ELSEWHERE = "="


@dataclass(frozen=True)
class Way:
    """One way to recompute a table: where from, and how far it may be off, and why.

    ``software`` says that figures depend on the version of an ``extractor`` or of a language
    ``model``; then they are held to what is pinned for the version that ran.
    """

    origin: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    tolerance: float = 0.0
    software: str = ""
    reason: str = ""
    raw: bool = False
    finding: str = ""


@dataclass(frozen=True)
class Known:
    """A cell that comes out otherwise: what it comes out as, why, and the finding that shows it."""

    found: str
    reason: str
    finding: str = ""


@dataclass(frozen=True)
class PublishedTable:
    """The printed cells of one table and how to recompute them.

    ``cells`` maps a key (the values of ``by``) to the printed text, None where the paper prints
    no digits; ``known[way][key]`` are the cells known to differ, ``pinned[way, version][key]``
    those of a way whose figures depend on software. A table that ``repeats`` figures of another
    one is not counted among what was printed.
    """

    name: str
    title: str
    origin: str
    measure: str
    by: tuple[str, ...]
    cells: Mapping[Key, str | None]
    ways: tuple[Way, ...]
    known: Mapping[str, Mapping[Key, Known]]
    rounding: str = "half"
    pinned: Mapping[tuple[str, str], Mapping[Key, Known]] = field(default_factory=dict)
    repeats: bool = False


@dataclass(frozen=True)
class Evidence:
    """One figure behind a finding: the measure, what is printed, what we found."""

    what: str
    measure: str
    arguments: Mapping[str, Any]
    printed: str
    found: str


@dataclass(frozen=True)
class Claim:
    """Something a paper or its data got wrong, with the figures that show it."""

    name: str
    title: str
    text: str
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True)
class OwnFiles:
    """Files of one's own under one name: a corpus, outputs of systems and judgments of them.

    ``base`` is the number of the first sentence in the judgments.
    """

    name: str
    gold: str = ""
    source: str = ""
    references: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    judgments: tuple[str, ...] = ()
    base: int = 0


@dataclass(frozen=True)
class Experiment:
    """The tables and findings of one paper; ``recipes`` say how it ran its metrics.

    ``files`` are those of one's own. Papers of one ``group`` are counted together. Where nothing
    was ``published`` the figures are those of an earlier run of one's own, and one that comes out
    otherwise is no mistake.
    """

    name: str
    title: str
    citation: str
    data: tuple[str, ...]
    tables: tuple[PublishedTable, ...]
    findings: tuple[Claim, ...]
    recipes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    group: str = ""
    published: bool = True
    files: Mapping[str, OwnFiles] = field(default_factory=dict)

    @property
    def cells(self) -> int:
        """How many cells are recomputed, each way counted."""
        return sum(len(table.cells) * len(table.ways) for table in self.tables)
