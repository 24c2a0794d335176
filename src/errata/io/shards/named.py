"""What a user names and what a plan cuts it into: inputs, pieces of files, shards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from types import MappingProxyType
from typing import Any

from errata.data import namesakes
from errata.errors import InputError
from errata.io.m2 import corpus_name
from errata.io.tokenising import AS_IS

__all__ = ["Pattern", "Piece", "Shard", "ShardedInputs", "name_of", "patterns_of"]

# A path, a glob or a URL; several where the option was repeated, in that order.
Pattern = str | tuple[str, ...]


@dataclass(frozen=True)
class ShardedInputs:
    """A corpus and outputs in as many files as there are: what a user names.

    Everything that changes a number when files are read is a field. The gold standard is M2
    (``gold``), or ``source`` and ``references``, one pattern per reference set; ``outputs`` are
    pairs of a system's name and its pattern. ``parquet`` (files, or a folder of them) stands for
    all of them; outputs beside it are Parquet files too. ``storage`` are options for fsspec
    (``endpoint_url``, ``anon``...), which are neither shown nor written.

    >>> inputs = ShardedInputs(gold="gold-*.m2", outputs=(("ours", "ours-*.txt"),))
    >>> list(inputs.roles)
    ['gold', 'output:ours']
    """

    gold: Pattern | None = None
    source: Pattern | None = None
    references: tuple[Pattern, ...] = ()
    outputs: tuple[tuple[str, Pattern], ...] = ()
    parquet: Pattern | None = None
    missing: str | None = None
    compatible: bool = False
    annotators: tuple[int, ...] = ()
    tokens: str = AS_IS
    guard: bool = True
    name: str | None = None
    storage: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.parquet is not None and (self.gold or self.source or self.references):
            raise InputError(
                "both Parquet files and texts are given",
                remedy="leave out the Parquet files, or gold, source and references",
            )
        if self.gold is not None and self.references:
            raise InputError(
                "both an M2 gold file and reference texts are given",
                remedy="leave out --gold or --refs",
            )
        if self.gold is None and self.source is None and self.parquet is None:
            raise InputError(
                "no corpus given",
                remedy="name an M2 gold file (--gold), or a source "
                "and its references (--source, --refs)",
            )
        places = [" ".join(patterns_of(pattern)) for _, pattern in self.outputs]
        for error in namesakes([name for name, _ in self.outputs], places):
            raise error

    @property
    def roles(self) -> Mapping[str, tuple[str, ...]]:
        """The patterns of each role: ``gold``, ``source``, ``refs:0``..., ``output:NAME``."""
        return MappingProxyType(dict(self._roles()))

    def _roles(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        if self.parquet is not None:
            yield "parquet", patterns_of(self.parquet)
        if self.gold is not None:
            yield "gold", patterns_of(self.gold)
        if self.source is not None:
            yield "source", patterns_of(self.source)
        for k, pattern in enumerate(self.references):
            yield f"refs:{k}", patterns_of(pattern)
        for name, pattern in self.outputs:
            yield f"output:{name}", patterns_of(pattern)

    def to_json(self) -> dict[str, Any]:
        """The fields as plain data, but for ``storage``, which may hold secrets."""
        return {one.name: getattr(self, one.name) for one in fields(self) if one.name != "storage"}

    @classmethod
    def from_json(
        cls, data: Mapping[str, Any], *, storage: Mapping[str, Any] | None = None
    ) -> ShardedInputs:
        """What `to_json` gave, also after it was written and read."""
        return cls(**{key: _tuples(value) for key, value in data.items()}, storage=storage or {})


def patterns_of(pattern: Pattern) -> tuple[str, ...]:
    """The patterns of a role, one or several."""
    return (pattern,) if isinstance(pattern, str) else tuple(pattern)


def name_of(inputs: ShardedInputs) -> str:
    """The name of the corpus: as given, or that of its file or pattern."""
    if inputs.name is not None:
        return inputs.name
    return corpus_name(next(iter(inputs.roles.values()))[0])


def _tuples(value: Any) -> Any:
    """Lists, as JSON has them, as tuples."""
    return tuple(map(_tuples, value)) if isinstance(value, list | tuple) else value


@dataclass(frozen=True)
class Piece:
    """One stretch of one file.

    ``mark`` tells that the file has changed (an etag, the time of its last change...).
    ``start`` and ``stop`` count bytes; a compressed file is one piece, from 0 to its size. The
    piece begins with line ``first_line`` of the file, after ``before`` of its sentences.
    ``groups`` are the row groups of a Parquet file.
    """

    uri: str
    size: int
    mark: str
    start: int
    stop: int
    first_line: int = 1
    groups: tuple[int, ...] = ()
    before: int = 0

    @property
    def whole(self) -> bool:
        """Whether this is all of the file."""
        return self.start == 0 and self.stop == self.size


@dataclass(frozen=True)
class Shard:
    """Sentences that are read together, by role the pieces of files that hold them.

    ``first`` is the number of its first sentence, from 0, among those of all shards.
    """

    index: int
    first: int
    sentences: int
    pieces: Mapping[str, tuple[Piece, ...]]

    def pieces_of(self, inputs: ShardedInputs) -> dict[str, Piece]:
        """The piece of each role in the order of the inputs, whatever order a manifest has."""
        return {role: self.pieces[role][0] for role in inputs.roles}

    def to_json(self) -> dict[str, Any]:
        """Plain data, for a manifest."""
        return {
            "index": self.index,
            "first": self.first,
            "sentences": self.sentences,
            "pieces": {role: [*map(asdict, several)] for role, several in self.pieces.items()},
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Shard:
        """What `to_json` gave, also after it was written and read."""
        pieces = {
            role: tuple(Piece(**{**one, "groups": tuple(one["groups"])}) for one in several)
            for role, several in data["pieces"].items()
        }
        return cls(data["index"], data["first"], data["sentences"], pieces)
