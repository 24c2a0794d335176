"""Commands that list what is known by name: metrics, rankers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from errata.cli.output import emit, format_option

if TYPE_CHECKING:
    from errata.plugins import Registry
    from errata.report.table import Form

__all__ = ["known_command"]


def known_command(
    what: str, registry: Callable[[], Registry[Any]], *, example: str
) -> click.Command:
    """The command that lists every ``what``, or shows one of them.

    The registry is asked for when it runs.
    """

    @click.command(
        f"{what}s",
        epilog=f"Example:  errata {what}s {example}",
        help=f"List the {what}s, or the parameters of one of them.\n\n"
        "Each with what it needs and its paper; with a name, its range and every parameter with "
        "its default and what it takes.",
    )
    @click.argument("name", required=False, metavar="[NAME]")
    @format_option
    def command(name: str | None, form: Form) -> None:
        from errata.report.tables.known import known_table, parameter_table

        known = registry()
        emit(
            known_table(known, brief=form == "table")
            if name is None
            else parameter_table(known, name),
            form,
        )

    return command
