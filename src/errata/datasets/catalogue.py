"""The catalogue of public data sets: what they are, where they stand, how to know them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any

from errata.core.errors import InputError
from errata.core.parameters import suggest_name
from errata.io.files import decode, read_bytes

_COMMIT = re.compile(r"[0-9a-f]{40}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")
_FIELDS = {
    "title": str,
    "repository": str,
    "commit": str,
    "root": str,
    "licence": str,
    "citations": list,
    "files": list,
}


@dataclass(frozen=True, slots=True)
class DataFile:
    """One file of a set: its name in the set, where it stands in the repository, its content."""

    name: str
    path: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class DataSet:
    """Some files of one commit of a public repository, with licence note and citations."""

    name: str
    title: str
    repository: str
    commit: str
    licence: str
    citations: tuple[str, ...]
    files: tuple[DataFile, ...]

    @property
    def size(self) -> int:
        """Bytes of all files together."""
        return sum(file.size for file in self.files)

    def file(self, name: str) -> DataFile:
        """A file by its name in the set, or by its last part where only one file ends so.

        >>> data_set("sakaguchi16").file("expert_fluencyA").size
        158938
        """
        found = [f for f in self.files if f.name == name] or [
            f for f in self.files if f.name.endswith("/" + name)
        ]
        if len(found) != 1:
            raise InputError(
                f"data set {self.name} has {len(found) or 'no'} files {name!r}",
                remedy=f"it has: {', '.join(f.name for f in self.files)}",
            )
        return found[0]

    def address(self, file: DataFile) -> str:
        """``OWNER/REPO/COMMIT/PATH``: below a base address, and below ``ERRATA_DATA``."""
        return f"{self.repository}/{self.commit}/{file.path}"


@cache
def catalogue() -> Mapping[str, DataSet]:
    """The public data sets by name.

    >>> list(catalogue())[:2]
    ['conll14', 'conll14-outputs']
    """
    source = files("errata.datasets") / "catalogue.toml"
    return _parse(source.read_text(encoding="utf-8"), "catalogue.toml")


def read_catalogue(path: str | Path) -> Mapping[str, DataSet]:
    """Read a catalogue of one's own, written like `catalogue.toml`."""
    return _parse(decode(read_bytes(path), str(path)), str(path))


def data_set(name: str, sets: Mapping[str, DataSet] | None = None) -> DataSet:
    """A data set by name; an unknown name is an error that lists the known ones."""
    sets = catalogue() if sets is None else sets
    if name not in sets:
        raise InputError(
            f"no data set {name!r}",
            remedy=f"{suggest_name(name, sets)}known are: {', '.join(sorted(sets))}",
        )
    return sets[name]


def _parse(text: str, where: str) -> Mapping[str, DataSet]:
    try:
        content = tomllib.loads(text)
    except ValueError as error:  # also of numbers of thousands of digits
        raise InputError(f"not TOML: {error}", path=where) from None
    except RecursionError:
        raise InputError("not TOML that can be read: nested too deep", path=where) from None
    return MappingProxyType(
        {name: _data_set(name, entry, where) for name, entry in content.items()}
    )


def _data_set(name: str, entry: Any, where: str) -> DataSet:
    def wrong(problem: str) -> InputError:
        return InputError(
            f"data set {name}: {problem}",
            path=where,
            remedy="write it like the entries of errata's own catalogue.toml",
        )

    if not isinstance(entry, dict) or set(entry) != set(_FIELDS):
        raise wrong(f"needs exactly the fields {', '.join(_FIELDS)}")
    for field, kind in _FIELDS.items():
        if not isinstance(entry[field], kind):
            raise wrong(f"{field} is not a {'text' if kind is str else kind.__name__}")
    if not _REPOSITORY.fullmatch(entry["repository"]) or ".." in entry["repository"]:
        raise wrong(f"repository {entry['repository']!r} is not OWNER/REPO")
    if not _COMMIT.fullmatch(entry["commit"]):
        raise wrong(f"commit {entry['commit']!r} is not 40 hexadecimal digits")
    found = []
    for file in entry["files"]:
        if not isinstance(file, dict) or set(file) != {"name", "size", "sha256"}:
            raise wrong("a file needs exactly name, size and sha256")
        path = PurePosixPath(entry["root"], str(file["name"]))
        # The path is joined to folders of the user: it must stay inside them.
        if path.is_absolute() or ".." in path.parts or "\\" in str(path) or not file["name"]:
            raise wrong(f"file {file['name']!r} leaves the repository")
        if not isinstance(file["size"], int) or file["size"] < 0:
            raise wrong(f"file {file['name']}: size is not a number of bytes")
        if not _SHA256.fullmatch(str(file["sha256"])):
            raise wrong(f"file {file['name']}: sha256 is not 64 hexadecimal digits")
        found.append(DataFile(file["name"], str(path), file["size"], file["sha256"]))
    if len({file.name for file in found}) < len(found):
        raise wrong("a file is named twice")
    return DataSet(
        name,
        entry["title"],
        entry["repository"],
        entry["commit"],
        entry["licence"],
        tuple(map(str, entry["citations"])),
        tuple(found),
    )
