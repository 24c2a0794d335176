"""``--data``: public data by name, wherever a command takes files."""

from __future__ import annotations

from collections.abc import Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from errata.cli.options import Decorator, Function
from errata.cli.output import ProgressBar
from errata.errors import InputError

if TYPE_CHECKING:
    from errata.datasets.collections import Collection, Role

__all__ = ["CORPUS", "data_option"]

CORPUS: tuple[Role, ...] = ("gold", "source", "references")


def data_option(*roles: Role, **parameters: str) -> Decorator:
    """Add ``--data``, which stands for whatever files the command takes and was not given.

    ``parameters`` say in which parameter of the command a role goes, as ``outputs="systems"``;
    those of ``roles`` are called like the role. A corpus is taken whole or not at all. Stands above
    all other options, so that it sees their values as they were given, and they see its files.
    """
    places = {role: {"references": "refs"}.get(role, role) for role in roles} | parameters

    def decorate(command: Function) -> Function:
        @wraps(command)
        def run(*arguments: Any, data: str | None, **given: Any) -> Any:
            if data is not None:
                from errata.datasets.collections import collection

                given |= _filled(collection(data), places, given)
            return command(*arguments, **given)

        return click.option(
            "--data",
            metavar="NAME",
            help="Public data by name (see errata data list), for all files that are not named.",
        )(run)

    return decorate


def _filled(
    chosen: Collection, places: Mapping[str, str], given: Mapping[str, Any]
) -> dict[str, Any]:
    """The files of a collection for the parameters that are still empty."""
    from errata.datasets.collections import role_files

    if given.get("sample"):
        raise InputError("--data and --sample are given", remedy="leave out either of them")
    taken = {role for role, parameter in places.items() if given[parameter]}
    if taken & {*CORPUS}:
        taken |= {*CORPUS}
    if taken & {"judgments", "human"}:
        taken |= {"judgments", "human"}
    if "scores" in taken and not given["metrics"]:
        taken.add("outputs")
    filled: dict[str, Any] = {}
    for role in chosen.roles:
        if role in places and role not in taken:
            with ProgressBar(chosen.name, after=0.3) as progress:
                found = role_files(chosen, role, progress)
            several = isinstance(given[places[role]], tuple)
            filled[places[role]] = found if several else found[0]
    if not filled:
        raise InputError(
            f"--data {chosen.name} has nothing that is missing here: it has "
            + ", ".join(chosen.roles),
            remedy="leave it out, or leave out the files that are to come from it",
        )
    source = click.get_current_context().get_parameter_source
    if "judgments" in filled and source("base") is not ParameterSource.COMMANDLINE:
        filled["base"] = chosen.base
    if "human" in filled and not given["names"]:
        filled["names"] = chosen.names
    return filled
