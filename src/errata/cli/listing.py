"""A command that lists what a registry knows, or shows one of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from errata.cli.output import CommandOptions, emit
from errata.cli.params import argument, takes

if TYPE_CHECKING:
    from errata.core.registry import Registry


@dataclass(frozen=True)
class ListingOptions(CommandOptions):
    """Options of a command that lists what a registry knows."""

    name: str | None = argument(metavar="[NAME]", required=False)


def listing_command(
    what: str, registry: Callable[[], Registry[Any]], *, example: str
) -> click.Command:
    """Return the command that lists every ``what``, or shows one.

    ``registry`` is called when the command runs.
    """

    @click.command(
        f"{what}s",
        epilog=f"Example:  errata {what}s {example}",
        help=f"List the {what}s, or the parameters of one of them.\n\n"
        "Each with what it needs and its paper; with a name, its range and every parameter with "
        "its default and what it takes.",
    )
    @takes(ListingOptions)
    def command(given: ListingOptions) -> None:
        from errata.tables.listing import listing_table, parameter_table

        if given.name is None:
            table = listing_table(registry(), brief=given.display.form == "table")
        else:
            table = parameter_table(registry(), given.name)
        emit(table, given.display)

    return command
