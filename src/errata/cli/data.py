"""``errata data``: the public data sets by name, on disk or fetched."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from errata.cli.output import CommandOptions, ProgressBar, emit
from errata.cli.params import argument, flag, option, takes
from errata.core.errors import InputError
from errata.tables.table import Table

if TYPE_CHECKING:
    from errata.datasets.catalogue import DataSet

SAMPLE = "sample"


def _base_url_option() -> Any:
    return option(
        "--base-url URL",
        "Download from URL/OWNER/REPO/COMMIT/PATH; default: ERRATA_DATA_URL or "
        "https://raw.githubusercontent.com.",
    )


@dataclass(frozen=True)
class CatalogueOptions:
    catalogue: str | None = option(
        "--catalogue FILE", "Use the sets of this catalogue instead of the built-in ones."
    )


@dataclass(frozen=True)
class ListOptions(CommandOptions):
    name: str | None = argument(metavar="[SET]", required=False)


@dataclass(frozen=True)
class GetOptions(CommandOptions):
    names: tuple[str, ...] = argument(metavar="SET...", several=True)
    everything: bool = flag("--all", "Fetch every set of the catalogue.")
    base_url: str | None = _base_url_option()


@dataclass(frozen=True)
class PathOptions(CommandOptions):
    name: str = argument(metavar="SET")
    file: str | None = argument(metavar="[FILE]", required=False)
    base_url: str | None = _base_url_option()


@dataclass(frozen=True)
class VerifyOptions(CommandOptions):
    """Options of ``errata data check``."""

    names: tuple[str, ...] = argument(metavar="[SET]...", several=True)


@click.group(
    "data",
    epilog="Example:  errata score --gold $(errata data path conll14 conll14st-test.m2) ours.txt",
)
@takes(CatalogueOptions)
def command(given: CatalogueOptions) -> None:
    """List, download and locate the public data sets.

    A file is taken from the folder ERRATA_DATA names (laid out OWNER/REPO/COMMIT/PATH), else
    from the cache (ERRATA_CACHE, or the user's cache folder), else downloaded into the cache.
    """
    from errata.datasets.catalogue import catalogue, read_catalogue

    own = given.catalogue
    click.get_current_context().obj = catalogue() if own is None else read_catalogue(own)


def _catalogue_sets() -> Mapping[str, DataSet]:
    sets: Mapping[str, DataSet] = click.get_current_context().obj
    return sets


@command.command("list", epilog="Example:  errata data list conll14")
@takes(ListOptions)
def list_sets(given: ListOptions) -> None:
    """List the data sets and collections, or the files of one of them."""
    from errata.datasets import fetch
    from errata.datasets.catalogue import data_set

    sets, name = _catalogue_sets(), given.name
    collections = fetch.collections_of_catalogue(sets)
    if name is None:
        tables = [fetch.sets_table(sets)]
        tables += [fetch.collections_table(collections)] if collections else []
    else:
        tables = [fetch.member_table(collections[name], sets)] if name in collections else []
        if name in sets or not tables:
            tables.append(fetch.files_table(data_set(name, sets)))
    emit(tables, given.display)


@command.command("get", epilog="Example:  errata data get conll14 conll14-outputs")
@takes(GetOptions)
def get_sets(given: GetOptions) -> None:
    """Download sets and collections, verifying their checksums.

    Files on disk are not downloaded again; an interrupted download is resumed.
    """
    from errata.datasets.fetch import fetch_file, files_named, find_file, storage_name

    sets = _catalogue_sets()
    if bool(given.names) == given.everything:
        remedy = "name sets (see errata data list), or give --all"
        raise InputError("no set named to fetch", remedy=remedy)
    names = sets if given.everything else given.names
    rows = []
    for chosen, file in dict.fromkeys(pair for name in names for pair in files_named(name, sets)):
        with ProgressBar(f"{chosen.name} {file.name}", after=0.3) as progress:
            place = fetch_file(
                chosen.name, file.name, base_url=given.base_url, sets=sets, progress=progress
            )
        found = storage_name(find_file(chosen, file))
        rows.append((chosen.name, file.name, file.size, found, str(place)))
    columns = ("set", "file", "bytes", "on disk", "path")
    emit(Table(columns, tuple(rows), name="files"), given.display)


@command.command("path", epilog="Example:  errata data path conll14 conll14st-test.m2")
@takes(PathOptions)
def show_path(given: PathOptions) -> None:
    """Print where files are, fetching them first.

    One path a line. FILE is a file's name in the set, or its last part; without it, the paths of
    all files are printed. The set "sample" comes with Errata.
    """
    from errata.datasets.load import sample_paths

    paths = sample_paths(given.file) if given.name == SAMPLE else _fetch_paths(given)
    if given.display.form == "table":
        for path in paths.values():
            click.echo(os.fsencode(path))  # the bytes of the name, for the shell
    else:
        rows = tuple((name, str(path)) for name, path in paths.items())
        emit(Table(("file", "path"), rows, name=given.name), given.display)


@command.command("check", epilog="Example:  errata data check conll14")
@takes(VerifyOptions)
def verify_checksums(given: VerifyOptions) -> None:
    """Verify checksums of files on disk.

    The exit code is 1 if a file differs from the catalogue; a missing file is no error.
    """
    from errata.datasets.catalogue import data_set
    from errata.datasets.fetch import check_file, find_file

    sets = _catalogue_sets()
    rows = []
    for chosen in [data_set(name, sets) for name in given.names or sets]:
        for file in chosen.files:
            found = find_file(chosen, file)
            path = None if found is None else str(found.path)
            rows.append((chosen.name, file.name, check_file(chosen, file), path))
    wrong = sum(row[2] == "wrong" for row in rows)
    present = sum(row[2] != "missing" for row in rows)
    caption = f"{present} of {len(rows)} files on disk, {wrong} of them wrong"
    columns = ("set", "file", "content", "path")
    emit(Table(columns, tuple(rows), name="files", caption=caption), given.display)
    if wrong:
        click.get_current_context().exit(1)


def _fetch_paths(given: PathOptions) -> dict[str, Path]:
    from errata.datasets.fetch import fetch_data_set, fetch_file

    name, file, sets, url = given.name, given.file, _catalogue_sets(), given.base_url
    with ProgressBar(name, after=0.3) as progress:
        if file is None:
            return fetch_data_set(name, base_url=url, sets=sets, progress=progress)
        return {file: fetch_file(name, file, base_url=url, sets=sets, progress=progress)}
