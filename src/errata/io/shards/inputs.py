"""ShardedInputs, Shard, Piece; files behind patterns."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from types import MappingProxyType
from typing import Any

from errata.core.errors import InputError, shorten
from errata.core.stats import plural
from errata.data import duplicate_name_errors
from errata.io.files import RemoteFile, file_error, is_url, list_url
from errata.io.m2 import corpus_name
from errata.io.tokenisers import AS_IS

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
        for error in duplicate_name_errors([name for name, _ in self.outputs], places):
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


def set_name(inputs: ShardedInputs) -> str:
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


# ---- The files behind patterns, in natural order, and whether they are still the same.

_NUMBER = re.compile(r"([0-9]+)")


def natural_order(name: str) -> tuple[list[tuple[str, int]], str]:
    """A key that sorts names with the numbers in them by value.

    >>> sorted(["out-10.txt", "out-9.txt", "out-09.txt"], key=natural_order)
    ['out-09.txt', 'out-9.txt', 'out-10.txt']
    """
    parts = _NUMBER.split(name)
    numbers = [int(number) for number in parts[1::2]]
    return [*zip(parts[::2], [*numbers, -1], strict=True)], name


def files_of(
    patterns: Sequence[str], storage: Mapping[str, Any], *, inside: str | None = None
) -> list[RemoteFile]:
    """The files of patterns: pattern after pattern, those of one in natural order.

    ``-`` is standard input. A pattern that fits no file is refused, and so is a file named twice.
    A folder stands for the files of the ending ``inside``, in it and in its folders; without one
    it is refused.
    """
    found: list[RemoteFile] = []
    for pattern in patterns:
        if pattern == "-":
            found.append(RemoteFile("-", 0, ""))
            continue
        if inside is not None and (pattern.endswith("/") or os.path.isdir(pattern)):
            pattern = f"{pattern.rstrip('/')}/**/*{inside}"
        here = list_url(pattern, storage) if is_url(pattern) else _local(pattern)
        if not here:
            raise InputError(
                "no file fits the pattern",
                path=pattern,
                remedy="check it, and put it between quotation marks so that no shell expands it",
            )
        found += sorted(here, key=lambda file: natural_order(file.uri))
    names = [file.uri for file in found]
    twice = (
        next((name for name in names if names.count(name) > 1), None)
        if len({*names}) < len(names)
        else None
    )
    if twice is not None:
        raise InputError("the file is named twice", path=twice, remedy="name it once")
    return found


def _local(pattern: str) -> list[RemoteFile]:
    if os.path.isdir(pattern):
        raise InputError(
            "this is a folder",
            path=pattern,
            remedy=f"name its files by a pattern, as {os.path.join(pattern, '*.txt')}",
        )
    names = [pattern] if os.path.exists(pattern) else glob.glob(pattern, recursive=True)
    if not names and not glob.has_magic(pattern):
        names = [pattern]  # the system says best why it cannot be read
    return [file_status(name) for name in names if not os.path.isdir(name)]


def file_status(name: str) -> RemoteFile:
    try:
        status = os.stat(name)
    except OSError as error:
        raise file_error("read", error, name) from None
    return RemoteFile(name, status.st_size, f"mtime:{status.st_mtime_ns}")


def groups_of(inputs: ShardedInputs) -> list[dict[str, RemoteFile]]:
    """The files that belong together, by role: the k-th of each."""
    inside = None if inputs.parquet is None else ".parquet"
    files = {
        role: files_of(names, inputs.storage, inside=inside) for role, names in inputs.roles.items()
    }
    sizes = {role: len(several) for role, several in files.items()}
    if len({*sizes.values()}) > 1:
        said = ", ".join(
            f"{role} {count} {plural('file', count)} ({shorten(files[role][0].uri)}"
            + (f" to {shorten(files[role][-1].uri)})" if count > 1 else ")")
            for role, count in sizes.items()
        )
        raise InputError(
            f"the inputs have different numbers of files: {said}",
            remedy="the first files belong together, the second files, and so on; give as many "
            "of each",
        )
    stdin = [role for role, several in files.items() if any(f.uri == "-" for f in several)]
    if len(stdin) > 1:
        raise InputError(
            f"standard input is given as {' and as '.join(stdin)}", remedy="name a file for one"
        )
    return [
        {role: several[k] for role, several in files.items()}
        for k in range(next(iter(sizes.values())))
    ]


def check_unchanged(piece: Piece, storage: Mapping[str, Any]) -> None:
    """Refuse a file that is not the one a plan was made of."""
    found = list_url(piece.uri, storage) if is_url(piece.uri) else [file_status(piece.uri)]
    now = found[0] if len(found) == 1 else RemoteFile(piece.uri, -1, "")
    if now.size != piece.size or now.mark != piece.mark:
        what = (
            f"it had {piece.size:,} bytes and has {now.size:,}"
            if now.size != piece.size
            else "it was written again"
        )
        raise InputError(
            f"the file has changed since the run was planned: {what}",
            path=piece.uri,
            remedy="plan the run anew, or bring back the file",
        )
