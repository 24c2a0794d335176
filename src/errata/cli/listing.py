"""A command that lists what a registry knows, or shows one of it."""

from __future__ import annotations

import inspect
import re
from dataclasses import MISSING, dataclass, replace
from importlib import import_module
from typing import Any

import click

from errata.cli.output import CommandOptions, emit
from errata.cli.params import argument, takes
from errata.core.errors import ErrataError
from errata.core.parameters import Parameterised, parameters_of
from errata.core.registry import Registry
from errata.tables.table import Table


@dataclass(frozen=True)
class ListingOptions(CommandOptions):
    """Options of a command that lists what a registry knows."""

    name: str | None = argument(metavar="[NAME]", required=False)


def listing_command(what: str, place: str, *, example: str) -> click.Command:
    """Return the command that lists a registry, at ``place`` (module:name), or shows one entry."""

    @click.command(
        f"{what}s",
        epilog=f"Example:  errata {what}s {example}",
        help=f"List the {what}s, or the parameters of one of them.\n\n"
        "Each with what it needs and its paper; with a name, its range and every parameter with "
        "its default and what it takes.",
    )
    @takes(ListingOptions)
    def command(given: ListingOptions) -> None:
        module, _, name = place.partition(":")
        registry = getattr(import_module(module), name)
        if given.name is None:
            table = listing_table(registry, brief=given.display.form == "table")
        else:
            table = parameter_table(registry, given.name)
        emit(table, given.display)

    return command


TERMINAL = 80
NARROW = {"needs": 20, "paper": 17}  # places in a terminal; the description gets the rest


def listing_table(registry: Registry[Any], *, brief: bool) -> Table:
    """Return the table of all entries (``brief``: for a terminal), or why one cannot be loaded."""
    rows = []
    for name in registry.names():
        package = registry.package(name) or "errata"
        try:
            cls: type[Parameterised] = registry.get(name)
        except ErrataError as error:
            rows.append((name, "", "", "", package, str(error)))
            continue
        about = cls.about
        what = _docstring_text(cls).partition("\n")[0].replace("`", "").rstrip(":")
        rows.append((name, "; ".join(about.needs), about.range, about.paper, package, what))
    table = Table(
        (registry.what, "needs", "range", "paper", "from", "what"),
        tuple(rows),
        name=f"{registry.what}s",
        caption=f"Parameters, range and more of one: errata {registry.what}s NAME",
    )
    return _narrow_table(table) if brief else table


def _narrow_table(table: Table) -> Table:
    """Return the columns that distinguish the entries, as narrow as a terminal."""
    rows = tuple(
        (name, needs, paper, what if package == "errata" else f"{what} (from {package})")
        for name, needs, _, paper, package, what in table.rows
    )
    columns = (table.columns[0], *NARROW, "what")
    taken = [
        min(NARROW.get(name, TERMINAL), max(map(len, (name, *(str(row[c]) for row in rows)))))
        for c, name in enumerate(columns[:-1])
    ]
    left = max(12, TERMINAL - sum(taken) - 2 * len(taken))
    return replace(table, columns=columns, rows=rows, widths={**NARROW, "what": left})


def parameter_table(registry: Registry[Any], name: str) -> Table:
    """Return the table of one entry: every parameter, its default and what it takes."""
    cls: type[Parameterised] = registry.resolve(name)
    about = cls.about
    facts = (
        ("Paper", about.paper),
        ("Range", about.range),
        ("Needs", "; ".join(about.needs)),
        ("From", name if ":" in name else registry.package(name)),
    )
    lines = "\n".join(f"{what}: {text}" for what, text in facts if text)
    rows = [
        (
            parameter.name,
            _default(parameter.default),
            ", ".join(map(str, parameter.words)) or parameter.kind,
            "yes" if parameter.signed else "no",
        )
        for parameter in parameters_of(cls)
    ]
    return Table(
        ("parameter", "default", "takes", "in the signature"),
        tuple(rows),
        title=cls.name,
        formats={"default": "g"},
        name=cls.name,
        caption=f"{_docstring_text(cls)}\n\n{lines}".strip(),
    )


def _default(value: object) -> int | float | str | None:
    """Return a default as a cell: numbers as numbers, no default as None."""
    if value is MISSING or value is None:
        return None
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    return value if isinstance(value, str) else repr(value)


def _docstring_text(cls: type[Any]) -> str:
    """Return the docstring of a class up to its examples, each paragraph in one line."""
    text = (inspect.getdoc(cls) or "").partition("\n>>> ")[0].strip()
    return re.sub(r"(?<!\n)\n(?![\n ]|``\w+``:)", " ", text)
