"""``errata data``: the public data sets by name, on disk or fetched."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from errata.cli.output import ProgressBar, emit, format_option
from errata.core.errors import InputError
from errata.tables.table import Table

if TYPE_CHECKING:
    from pathlib import Path

    from errata.datasets.catalogue import DataFile, DataSet
    from errata.datasets.fetch import Collection, LocatedFile, Member
    from errata.tables.table import Form


SAMPLE = "sample"
_base_option = click.option(
    "--base-url",
    metavar="URL",
    help="Download from URL/OWNER/REPO/COMMIT/PATH; default: "
    "ERRATA_DATA_URL or https://raw.githubusercontent.com.",
)


@click.group(
    "data",
    epilog="Example:  errata score --gold $(errata data path conll14 conll14st-test.m2) ours.txt",
)
@click.option(
    "--catalogue",
    "own",
    metavar="FILE",
    help="Use the sets of this catalogue instead of the built-in ones.",
)
@click.pass_context
def command(ctx: click.Context, own: str | None) -> None:
    """List, fetch, locate and check the public data sets.

    A file is taken from the folder ERRATA_DATA names (laid out OWNER/REPO/COMMIT/PATH), else
    from the cache (ERRATA_CACHE, or the user's cache folder), else downloaded into the cache.
    """
    from errata.datasets.catalogue import catalogue, read_catalogue

    ctx.obj = catalogue() if own is None else read_catalogue(own)


@command.command("list", epilog="Example:  errata data list conll14")
@click.argument("name", required=False, metavar="[SET]")
@format_option
@click.pass_obj
def list_sets(sets: Mapping[str, DataSet], name: str | None, form: Form) -> None:
    """List the data sets and collections, or the files of one of them."""
    from errata.datasets.catalogue import data_set

    together = _collections(sets)
    if name is None:
        emit([_sets_table(sets), *([_collections_table(together)] if together else [])], form)
        return
    tables = [_member_table(together[name], sets)] if name in together else []
    if name in sets or not tables:
        tables.append(_files_table(data_set(name, sets)))
    emit(tables, form)


@command.command("get", epilog="Example:  errata data get conll14 conll14-outputs")
@click.argument("names", nargs=-1, metavar="SET...")
@click.option("--all", "everything", is_flag=True, help="Fetch every set of the catalogue.")
@_base_option
@format_option
@click.pass_obj
def get_sets(
    sets: Mapping[str, DataSet],
    names: tuple[str, ...],
    everything: bool,
    base_url: str | None,
    form: Form,
) -> None:
    """Download sets and collections, verifying their checksums.

    What is on disk already is not downloaded again; a download that broke off is resumed.
    """
    from errata.datasets.fetch import find, path

    if bool(names) == everything:
        raise InputError("say what to fetch", remedy="name sets (see errata data list), or --all")
    rows = []
    wanted = dict.fromkeys(
        pair for name in (sets if everything else names) for pair in _files_of(name, sets)
    )
    for chosen, file in wanted:
        with ProgressBar(f"{chosen.name} {file.name}", after=0.3) as progress:
            place = path(chosen.name, file.name, base_url=base_url, sets=sets, progress=progress)
        rows.append((chosen.name, file.name, file.size, _where(find(chosen, file)), str(place)))
    emit(Table(("set", "file", "bytes", "on disk", "path"), tuple(rows), name="files"), form)


@command.command("path", epilog="Example:  errata data path conll14 conll14st-test.m2")
@click.argument("name", metavar="SET")
@click.argument("file", required=False)
@_base_option
@format_option
@click.pass_obj
def show_path(
    sets: Mapping[str, DataSet], name: str, file: str | None, base_url: str | None, form: Form
) -> None:
    """Print where files are, fetching them first.

    One path a line. FILE is a file's name in the set, or its last part; without it, all files
    are meant. The set "sample" is the one that comes with Errata.
    """
    paths = _sample(file) if name == SAMPLE else _paths(sets, name, file, base_url)
    if form == "table":
        for path in paths.values():
            click.echo(os.fsencode(path))  # the bytes of the name, for the shell
    else:
        emit(Table(("file", "path"), tuple((n, str(p)) for n, p in paths.items()), name=name), form)


@command.command("check", epilog="Example:  errata data check conll14")
@click.argument("names", nargs=-1, metavar="[SET]...")
@format_option
@click.pass_context
def check_sets(ctx: click.Context, names: tuple[str, ...], form: Form) -> None:
    """Verify checksums of files on disk.

    The exit code is 1 if a file is not what the catalogue records; a missing file is no error.
    """
    from errata.datasets.catalogue import data_set
    from errata.datasets.fetch import check, find

    rows = []
    for chosen in [data_set(name, ctx.obj) for name in names or ctx.obj]:
        for file in chosen.files:
            found = find(chosen, file)
            rows.append(
                (
                    chosen.name,
                    file.name,
                    check(chosen, file),
                    None if found is None else str(found.path),
                )
            )
    wrong = sum(row[2] == "wrong" for row in rows)
    present = sum(row[2] != "missing" for row in rows)
    emit(
        Table(
            ("set", "file", "content", "path"),
            tuple(rows),
            name="files",
            caption=f"{present} of {len(rows)} files on disk, {wrong} of them wrong",
        ),
        form,
    )
    if wrong:
        ctx.exit(1)


def _sets_table(sets: Mapping[str, DataSet]) -> Table:
    from errata.datasets.fetch import find

    rows = []
    for chosen in sets.values():
        places = {_where(find(chosen, file)) for file in chosen.files}
        place = places.pop() if len(places) == 1 else "partly"
        rows.append((chosen.name, len(chosen.files), chosen.size, place, chosen.title))
    return Table(
        ("set", "files", "bytes", "on disk", "what"),
        tuple(rows),
        name="sets",
        caption="The sample comes with Errata: errata data path sample",
    )


def _files_table(chosen: DataSet) -> Table:
    from errata.datasets.fetch import find

    about = (
        f"Source: {chosen.repository} at {chosen.commit}",
        f"Licence: {chosen.licence}",
        *(f"Cite: {citation}" for citation in chosen.citations),
    )
    return Table(
        ("file", "bytes", "on disk", "sha256"),
        tuple((f.name, f.size, _where(find(chosen, f)), f.sha256) for f in chosen.files),
        title=chosen.title,
        name=chosen.name,
        caption="\n".join(about),
    )


def _collections_table(together: Mapping[str, Collection]) -> Table:
    return Table(
        ("collection", "has", "what"),
        tuple((c.name, ", ".join(c.roles), c.title) for c in together.values()),
        title="Studied together: for --data of any command",
        name="collections",
    )


def _collections(sets: Mapping[str, DataSet]) -> Mapping[str, Collection]:
    """The collections; they are of the built-in sets."""
    from errata.datasets.catalogue import catalogue
    from errata.datasets.fetch import collections

    return collections() if sets is catalogue() else {}


def _file_of(member: Member, sets: Mapping[str, DataSet]) -> tuple[DataSet, DataFile]:
    chosen = sets[member.data_set]
    return chosen, chosen.file(member.file)


def _files_of(name: str, sets: Mapping[str, DataSet]) -> list[tuple[DataSet, DataFile]]:
    """The files of a set, of a collection, or of both where they share a name."""
    from errata.datasets.catalogue import data_set

    together = _collections(sets).get(name)
    members = () if together is None else together.members.values()
    found = [_file_of(member, sets) for several in members for member in several]
    if together is None or name in sets:
        chosen = data_set(name, sets)
        found = [*((chosen, file) for file in chosen.files), *found]
    return found


def _member_table(together: Collection, sets: Mapping[str, DataSet]) -> Table:
    from errata.datasets.fetch import find

    rows = [
        (role, member.name, member.data_set, member.file, _where(find(*_file_of(member, sets))))
        for role, members in together.members.items()
        for member in members
    ]
    return Table(
        ("role", "name", "set", "file", "on disk"),
        tuple(rows),
        title=together.title,
        name=f"{together.name} together",
        caption=f"Any command takes it: --data {together.name}",
    )


def _where(found: LocatedFile | None) -> str:
    return "no" if found is None else {"data": "ERRATA_DATA", "cache": "cache"}[found.origin]


def _paths(
    sets: Mapping[str, DataSet], name: str, file: str | None, base_url: str | None
) -> dict[str, Path]:
    from errata.datasets.fetch import get, path

    with ProgressBar(name, after=0.3) as progress:
        if file is None:
            return get(name, base_url=base_url, sets=sets, progress=progress)
        return {file: path(name, file, base_url=base_url, sets=sets, progress=progress)}


def _sample(file: str | None) -> dict[str, Path]:
    from errata.datasets.load import SAMPLE_FILES, sample_file

    if file is not None and file not in SAMPLE_FILES:
        raise InputError(
            f"the sample has no file {file!r}", remedy=f"it has: {', '.join(SAMPLE_FILES)}"
        )
    found = {}
    for name in (file,) if file else SAMPLE_FILES:
        with sample_file(name) as path:
            found[name] = path
    return found
