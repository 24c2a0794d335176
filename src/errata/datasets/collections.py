"""What is studied together: files of the catalogue, each in the part it plays.

A `DataSet` is what one repository holds; a `Collection` is what one evaluates on: the gold of one
set, the outputs of another, the judgments of a third.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Literal, get_args

from errata.datasets.catalogue import data_set
from errata.datasets.fetch import path
from errata.datasets.transfer import Report
from errata.errors import InputError
from errata.parameters import nearest

__all__ = ["Collection", "Member", "Role", "collection", "collections", "role_files"]

Role = Literal[
    "gold", "source", "references", "outputs", "judgments", "human", "scores", "attacks", "ratings"
]


@dataclass(frozen=True, slots=True)
class Member:
    """A file of a data set, with the name it goes by where it is not the file's own."""

    data_set: str
    file: str
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Collection:
    """A corpus, outputs and people's word on them, by role.

    ``base`` is the number of the first sentence in the judgments, ``names`` the systems of a file
    of bare scores.
    """

    name: str
    title: str
    members: Mapping[Role, tuple[Member, ...]]
    base: int = 0
    names: str | None = None

    @property
    def roles(self) -> tuple[Role, ...]:
        """What it has.

        >>> collection("seeda-edit").roles
        ('gold', 'outputs', 'judgments')
        """
        return tuple(self.members)

    def __repr__(self) -> str:
        return f"Collection({self.name!r}, {', '.join(self.roles)})"


@cache
def collections() -> Mapping[str, Collection]:
    """The collections by name.

    >>> collections()["jfleg"]
    Collection('jfleg', source, references, outputs)
    """
    text = (files("errata.datasets") / "collections.toml").read_text(encoding="utf-8")
    return MappingProxyType(
        {name: _collection(name, entry) for name, entry in tomllib.loads(text).items()}
    )


def collection(name: str) -> Collection:
    """A collection by name; an unknown name is an error that lists the known ones."""
    known = collections()
    if name not in known:
        raise InputError(
            f"no collection of data {name!r}",
            remedy=f"{nearest(name, known)}known are: {', '.join(known)}",
        )
    return known[name]


def role_files(chosen: Collection, role: Role, progress: Report | None = None) -> tuple[str, ...]:
    """Where the files of a role are, fetched first if need be: ``path`` or ``NAME=path``."""
    found = []
    for member in chosen.members.get(role, ()):
        place = str(path(member.data_set, member.file, progress=progress))
        found.append(place if member.name is None else f"{member.name}={place}")
    return tuple(found)


def _collection(name: str, entry: dict[str, Any]) -> Collection:
    members: dict[Role, tuple[Member, ...]] = {}
    for role in get_args(Role):
        given = entry.get(role)
        if isinstance(given, dict):
            members[role] = tuple(
                member for key, text in given.items() for member in _members(text, key)
            )
        elif given is not None:
            texts = [given] if isinstance(given, str) else given
            members[role] = tuple(member for text in texts for member in _members(text))
    return Collection(name, entry["title"], members, entry.get("base", 0), entry.get("names"))


def _members(text: str, name: str | None = None) -> list[Member]:
    of, _, pattern = text.partition(":")
    return [
        Member(of, file.name, name)
        for file in data_set(of).files
        if fnmatchcase(file.name, pattern)
    ]
