"""What is known by name: metrics or rankers with papers and needs, and one with its parameters."""

from __future__ import annotations

import inspect
from dataclasses import MISSING
from typing import Any

from errata.errors import ErrataError
from errata.parameters import Parameterised, parameters_of
from errata.plugins import Registry
from errata.report.table import Table

__all__ = ["known_table", "parameter_table"]


def known_table(registry: Registry[Any]) -> Table:
    """All of them; what cannot be loaded is listed with the reason."""
    rows = []
    for name in registry.names():
        package = registry.package(name) or "errata"
        try:
            cls: type[Parameterised] = registry.get(name)
        except ErrataError as error:
            rows.append((name, "", "", "", package, str(error)))
            continue
        about = cls.about
        what = _described(cls).partition("\n")[0].replace("``", "").rstrip(":")
        rows.append((name, "; ".join(about.needs), about.range, about.paper, package, what))
    return Table(
        (registry.what, "needs", "range", "paper", "from", "what"),
        tuple(rows),
        name=f"{registry.what}s",
        caption=f"Parameters and what they mean: errata {registry.what}s NAME",
    )


def parameter_table(registry: Registry[Any], name: str) -> Table:
    """One of them, with every parameter, its default and what it takes."""
    cls: type[Parameterised] = registry.get(name)
    about = cls.about
    facts = (
        ("Paper", about.paper),
        ("Range", about.range),
        ("Needs", "; ".join(about.needs)),
        ("From", registry.package(name)),
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
    """What the class says of itself, up to its examples."""
    return (inspect.getdoc(cls) or "").partition("\n>>> ")[0].strip()
