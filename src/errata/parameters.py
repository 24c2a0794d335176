"""What metrics and rankers share: a frozen dataclass whose repr is its signature and can be read.

``name(a=1, b='x')`` is what users write, what a table prints and what builds the object again.
"""

from __future__ import annotations

import ast
from dataclasses import fields
from typing import Any, ClassVar, TypeVar, get_args

from errata.errors import ErrataError, InputError

__all__ = ["Parameterised", "build", "name_in", "parse_arguments", "require"]


class Parameterised:
    """Something with a name and parameters (its fields), printed as it is written."""

    name: ClassVar[str]

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(f'{n}={v!r}' for n, v in self._parameters())})"

    @property
    def label(self) -> str:
        """A short name: only the parameters that differ from their defaults."""
        defaults = {f.name: f.default for f in fields(self)}  # type: ignore[arg-type]
        shown = [f"{n}={v!r}" for n, v in self._parameters() if v != defaults[n]]
        return self.name + (f"({', '.join(shown)})" if shown else "")

    def _parameters(self) -> list[tuple[str, Any]]:
        return [(f.name, getattr(self, f.name)) for f in fields(self)]  # type: ignore[arg-type]

    def _check_choice(self, parameter: str, allowed: tuple[str, ...]) -> None:
        value = getattr(self, parameter)
        if value not in allowed:
            raise InputError(
                f"{self.name}: {parameter}={value!r} is unknown",
                remedy=f"use one of {', '.join(map(repr, allowed))}",
            )


def require(what: str, value: object, words: Any) -> None:
    """Refuse a value that is none of a closed set of words, given as a ``Literal``.

    >>> from typing import Literal
    >>> require("unit", "pairs", Literal["pairs", "judges"])
    """
    allowed = get_args(words)
    if value not in allowed:
        raise InputError(
            f"{what} {value!r} is unknown", remedy=f"use one of {', '.join(map(repr, allowed))}"
        )


P = TypeVar("P", bound=Parameterised)


def parse_arguments(
    text: str, what: str = "metric", example: str = "m2(beta=0.5)"
) -> tuple[str, dict[str, Any]]:
    """Split ``name(a=1, b='x')`` into the name and its arguments; bare words are strings.

    >>> parse_arguments("m2(beta=1, choice=optimal)")
    ('m2', {'beta': 1, 'choice': 'optimal'})
    """
    problem = InputError(
        f"cannot read the {what} {text!r}",
        remedy=f"write name or name(parameter=value, ...), as in {example}; "
        "put quotes around paths and the like",
    )
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise problem from None
    if isinstance(node, ast.Name):
        return node.id, {}
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.args):
        raise problem
    arguments: dict[str, Any] = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            raise problem
        if isinstance(keyword.value, ast.Name):
            arguments[keyword.arg] = keyword.value.id
            continue
        try:
            arguments[keyword.arg] = ast.literal_eval(keyword.value)
        except ValueError:
            raise problem from None
    return node.func.id, arguments


def name_in(signature: str) -> str:
    """The bare name in a signature; what is no signature is a name itself.

    >>> name_in("m2(beta=1)"), name_in("my metric")
    ('m2', 'my metric')
    """
    try:
        return parse_arguments(signature)[0]
    except InputError:
        return signature


def build(cls: type[P], arguments: dict[str, Any]) -> P:
    """Make one from parsed arguments, with numbers coerced to the type of the default."""
    known = {f.name: f for f in fields(cls)}  # type: ignore[arg-type]
    for name, value in arguments.items():
        if name not in known:
            raise InputError(
                f"{cls.name} has no parameter {name!r}",
                remedy=f"it has: {', '.join(known) or 'none'}",
            )
        default = known[name].default
        if isinstance(default, float) and type(value) is int:
            arguments = {**arguments, name: float(value)}
        elif default is not None and type(value) is not type(default):
            raise InputError(
                f"{cls.name}: {name}={value!r} should be a "
                f"{type(default).__name__}, like {default!r}"
            )
    try:
        return cls(**arguments)
    except ErrataError:
        raise
    except (TypeError, ValueError) as error:
        raise InputError(f"{cls.name}: {error}") from error
