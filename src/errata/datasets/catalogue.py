"""The catalogue of public data sets: what they are, where they stand, how to know them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from errata.core.errors import InputError
from errata.core.parameters import suggest_name
from errata.io.files import decode, read_bytes
from errata.io.records import Count, RecordReader, parse_toml

_COMMIT = re.compile(r"[0-9a-f]{40}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")
_REMEDY = "write it like the entries of errata's own catalogue.toml"


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file of a data set: its name below the root of the set, its size and its SHA-256."""

    name: str
    size: Count
    sha256: str

    def __post_init__(self) -> None:
        # The path is joined to folders of the user: it must stay inside them.
        path = PurePosixPath(self.name)
        if path.is_absolute() or ".." in path.parts or "\\" in self.name or not self.name:
            raise InputError(f"file {self.name!r} is outside the repository")
        if not _SHA256.fullmatch(self.sha256):
            raise InputError(f"file {self.name}: sha256 is not 64 hexadecimal digits")


@dataclass(frozen=True, slots=True)
class DataSet:
    """Files of one commit of a public repository, with licence note and citations."""

    name: str
    title: str
    repository: str
    commit: str
    root: str
    licence: str
    citations: tuple[str, ...]
    files: tuple[DataFile, ...]

    def __post_init__(self) -> None:
        if not _REPOSITORY.fullmatch(self.repository) or ".." in self.repository:
            raise InputError(f"repository {self.repository!r} is not OWNER/REPO")
        if not _COMMIT.fullmatch(self.commit):
            raise InputError(f"commit {self.commit!r} is not 40 hexadecimal digits")
        root = PurePosixPath(self.root)
        if root.is_absolute() or ".." in root.parts or "\\" in self.root:
            raise InputError(f"root {self.root!r} is outside the repository")
        names = [file.name for file in self.files]
        if len({*names}) < len(names):
            raise InputError("two files have the same name")

    @property
    def size(self) -> int:
        """Bytes of all files together."""
        return sum(file.size for file in self.files)

    def file(self, name: str) -> DataFile:
        """A file by its name in the set, or by its last part where only one file ends so.

        >>> data_set("sakaguchi16").file("expert_fluencyA").size
        158938
        """
        found = [f for f in self.files if f.name == name]
        found = found or [f for f in self.files if f.name.endswith("/" + name)]
        if len(found) != 1:
            problem = f"data set {self.name} has {len(found) or 'no'} files {name!r}"
            raise InputError(problem, remedy=f"it has: {', '.join(f.name for f in self.files)}")
        return found[0]

    def address(self, file: DataFile) -> str:
        """``OWNER/REPO/COMMIT/PATH``: below a base address, and below ``ERRATA_DATA``."""
        return f"{self.repository}/{self.commit}/{PurePosixPath(self.root, file.name)}"


@cache
def catalogue() -> Mapping[str, DataSet]:
    """Return the public data sets by name.

    >>> list(catalogue())[:2]
    ['conll14', 'conll14-outputs']
    """
    source = files("errata.datasets") / "catalogue.toml"
    return _parse_catalogue(source.read_text(encoding="utf-8"), "catalogue.toml")


def read_catalogue(path: str | Path) -> Mapping[str, DataSet]:
    """Read a catalogue of one's own, written like `catalogue.toml`."""
    return _parse_catalogue(decode(read_bytes(path), str(path)), str(path))


def data_set(name: str, sets: Mapping[str, DataSet] | None = None) -> DataSet:
    """Return a data set by name; an error about an unknown name lists the known ones."""
    sets = catalogue() if sets is None else sets
    if name not in sets:
        remedy = f"{suggest_name(name, sets)}known are: {', '.join(sorted(sets))}"
        raise InputError(f"no data set {name!r}", remedy=remedy)
    return sets[name]


def _parse_catalogue(text: str, where: str) -> Mapping[str, DataSet]:
    reader = RecordReader(where, text, remedy=_REMEDY)
    content = parse_toml(text, where)
    return MappingProxyType(
        {name: reader.decode(DataSet, entry, name, name=name) for name, entry in content.items()}
    )
