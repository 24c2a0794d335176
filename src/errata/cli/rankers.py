"""``errata rankers``: the rankers that are known, and the parameters of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from errata.cli.output import emit, format_option

if TYPE_CHECKING:
    from errata.report.table import Form

__all__ = ["command"]


@click.command("rankers", epilog="Example:  errata rankers bradley_terry")
@click.argument("name", required=False, metavar="[NAME]")
@format_option
def command(name: str | None, form: Form) -> None:
    """List the rankers, or the parameters of one of them.

    Each with what it needs, its range and its paper; with a name, every parameter with its
    default and what it takes.
    """
    from errata.human import RANKERS
    from errata.report.tables.known import known_table, parameter_table

    emit(known_table(RANKERS) if name is None else parameter_table(RANKERS, name), form)
