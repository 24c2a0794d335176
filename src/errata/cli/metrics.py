"""Errata metrics; the listing that rankers shares."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import MISSING, replace
from typing import TYPE_CHECKING, Any

import click

from errata.cli.output import emit, format_option
from errata.core.errors import ErrataError
from errata.core.parameters import Parameterised, parameters_of
from errata.core.registry import Registry
from errata.tables.table import Table

if TYPE_CHECKING:
    from errata.tables.table import Form


# ---- Commands that list what is known by name: metrics, rankers.


def listing_command(
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

        known = registry()
        emit(
            listing_table(known, brief=form == "table")
            if name is None
            else parameter_table(known, name),
            form,
        )

    return command


def _registry() -> Registry[Any]:
    from errata.metrics import METRICS

    return METRICS


command = listing_command("metric", _registry, example="gleu")


# ---- What is known by name: metrics or rankers with papers and needs, and one with its
# parameters.

TERMINAL = 80
NARROW = {"needs": 20, "paper": 17}  # places in a terminal; what is left goes to what they are


def listing_table(registry: Registry[Any], *, brief: bool = False) -> Table:
    """All of them; what cannot be loaded is listed with the reason.

    ``brief`` fits a terminal: what is known of one of them in full is left to `parameter_table`.
    """
    rows = []
    for name in registry.names():
        package = registry.package(name) or "errata"
        try:
            cls: type[Parameterised] = registry.get(name)
        except ErrataError as error:
            rows.append((name, "", "", "", package, str(error)))
            continue
        about = cls.about
        what = _described(cls).partition("\n")[0].replace("`", "").rstrip(":")
        rows.append((name, "; ".join(about.needs), about.range, about.paper, package, what))
    table = Table(
        (registry.what, "needs", "range", "paper", "from", "what"),
        tuple(rows),
        name=f"{registry.what}s",
        caption=f"Parameters, range and more of one: errata {registry.what}s NAME",
    )
    return _brief(table) if brief else table


def _brief(table: Table) -> Table:
    """The columns that tell one from the others, as narrow as a terminal."""
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
    """One of them, with every parameter, its default and what it takes."""
    cls: type[Parameterised] = registry.placed(name)
    about = cls.about
    facts = (
        ("Paper", about.paper),
        ("Range", about.range),
        ("Needs", "; ".join(about.needs)),
        ("From", name if ":" in name else registry.package(name)),
    )
    said = "\n".join(f"{what}: {text}" for what, text in facts if text)
    return Table(
        ("parameter", "default", "takes", "in the signature"),
        tuple(
            (
                parameter.name,
                _default(parameter.default),
                ", ".join(map(str, parameter.words)) or parameter.kind,
                "yes" if parameter.signed else "no",
            )
            for parameter in parameters_of(cls)
        ),
        title=cls.name,
        formats={"default": "g"},
        name=cls.name,
        caption=f"{_described(cls)}\n\n{said}".strip(),
    )


def _default(value: object) -> int | float | str | None:
    """A default as a cell: a number is one, nothing stays empty."""
    if value is MISSING or value is None:
        return None
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    return value if isinstance(value, str) else repr(value)


def _described(cls: type[Any]) -> str:
    """What the class says of itself, up to its examples.

    A paragraph is one line, to be filled as wide as there is room; formulas and fields stay apart.
    """
    said = (inspect.getdoc(cls) or "").partition("\n>>> ")[0].strip()
    return re.sub(r"(?<!\n)\n(?![\n ]|``\w+``:)", " ", said)
