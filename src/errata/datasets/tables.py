"""Tables of data sets and collections, with the place of their files on disk."""

from __future__ import annotations

from collections.abc import Mapping

from errata.datasets.catalogue import DataFile, DataSet, catalogue, data_set
from errata.datasets.fetch import Collection, LocatedFile, Member, collections, find
from errata.tables.table import Table


def sets_table(sets: Mapping[str, DataSet]) -> Table:
    """Return the table of all data sets."""
    rows = []
    for each in sets.values():
        places = {place_of(find(each, file)) for file in each.files}
        place = places.pop() if len(places) == 1 else "partly"
        rows.append((each.name, len(each.files), each.size, place, each.title))
    return Table(
        ("set", "files", "bytes", "on disk", "what"),
        tuple(rows),
        name="sets",
        caption="The sample comes with Errata: errata data path sample",
    )


def files_table(data_set: DataSet) -> Table:
    """Return the table of the files of a data set."""
    about = (
        f"Source: {data_set.repository} at {data_set.commit}",
        f"Licence: {data_set.licence}",
        *(f"Cite: {citation}" for citation in data_set.citations),
    )
    return Table(
        ("file", "bytes", "on disk", "sha256"),
        tuple((f.name, f.size, place_of(find(data_set, f)), f.sha256) for f in data_set.files),
        title=data_set.title,
        name=data_set.name,
        caption="\n".join(about),
    )


def collections_table(collections: Mapping[str, Collection]) -> Table:
    """Return the table of all collections."""
    return Table(
        ("collection", "has", "what"),
        tuple((c.name, ", ".join(c.roles), c.title) for c in collections.values()),
        title="Studied together: for --data of any command",
        name="collections",
    )


def member_table(collection: Collection, sets: Mapping[str, DataSet]) -> Table:
    """Return the table of the files of a collection."""
    rows = [
        (role, each.name, each.data_set, each.file, place_of(find(*file_of(each, sets))))
        for role, members in collection.members.items()
        for each in members
    ]
    return Table(
        ("role", "name", "set", "file", "on disk"),
        tuple(rows),
        title=collection.title,
        name=f"{collection.name} together",
        caption=f"Any command takes it: --data {collection.name}",
    )


def file_of(member: Member, sets: Mapping[str, DataSet]) -> tuple[DataSet, DataFile]:
    """Return the file of a member of a collection, and its data set."""
    data_set = sets[member.data_set]
    return data_set, data_set.file(member.file)


def collections_of(sets: Mapping[str, DataSet]) -> Mapping[str, Collection]:
    """Return the collections, which consist of built-in sets."""
    return collections() if sets is catalogue() else {}


def files_named(name: str, sets: Mapping[str, DataSet]) -> list[tuple[DataSet, DataFile]]:
    """Return the files of a set, of a collection, or of both where they share a name."""
    collection = collections_of(sets).get(name)
    members = () if collection is None else collection.members.values()
    files = [file_of(member, sets) for several in members for member in several]
    if collection is None or name in sets:
        chosen = data_set(name, sets)
        files = [*((chosen, file) for file in chosen.files), *files]
    return files


def place_of(file: LocatedFile | None) -> str:
    """Return in which place a file is on disk."""
    return "no" if file is None else {"data": "ERRATA_DATA", "cache": "cache"}[file.origin]
