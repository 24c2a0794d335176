"""What metrics, rankers and models share: values that print as they are read, known by name.

``name(a=1, b='x')`` is what users write, what a table prints and what builds the object again.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from difflib import get_close_matches
from functools import cache
from typing import (
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    TypeVar,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

from errata.core.errors import ErrataError, InputError

T = TypeVar("T")


@dataclass_transform(frozen_default=True, kw_only_default=True)
def parameterised(cls: type[T]) -> type[T]:
    """Make a class a value with parameters: a frozen, keyword-only dataclass with our repr."""
    return dataclass(frozen=True, kw_only=True, repr=False)(cls)


@dataclass(frozen=True)
class About:
    """What a list of metrics or rankers says of one: its paper, its range, what it needs.

    ``amounts`` names its further figures that are sums; the others are shares.
    """

    paper: str = ""
    range: str = ""
    needs: tuple[str, ...] = ()
    amounts: tuple[str, ...] = ()

    @property
    def share(self) -> bool:
        """Whether the score is a share of one, which people read in percent."""
        return self.range in ("from 0 to 1", "from -1 to 1", "up to 1")


class Parameterised:
    """An object with a name and parameters (its fields); its repr can be parsed again.

    A field whose type is a ``Literal`` takes only those words. A field that decides no number (a
    device, a batch size) is declared with ``compare=False`` and is no part of the signature.
    """

    name: ClassVar[str]
    about: ClassVar[About] = About()

    def __post_init__(self) -> None:
        own: Any = type(self)
        for parameter, words in _word_fields(own).items():
            value = getattr(self, parameter)
            if words and value not in words:
                raise InputError(
                    f"{self.name}: {parameter}={value!r} is unknown",
                    remedy=f"{suggest_name(value, words)}use one of {', '.join(map(repr, words))}",
                )
            several = isinstance(value, tuple) and all(isinstance(word, str) for word in value)
            if not (words or several):
                raise InputError(
                    f"{self.name}: {parameter}={value!r} should be words in brackets",
                    remedy=f"write {parameter}=('M:DET', 'SPELL'), with a comma after a single one",
                )

    def __repr__(self) -> str:
        arguments = [f"{f.name}={getattr(self, f.name)!r}" for f in _signature_fields(self)]
        return f"{self.name}({', '.join(arguments)})"

    @property
    def label(self) -> str:
        """A short name: only the parameters that differ from their defaults."""
        shown = [
            f"{f.name}={getattr(self, f.name)!r}"
            for f in _signature_fields(self)
            if getattr(self, f.name) != f.default
        ]
        return self.name + (f"({', '.join(shown)})" if shown else "")


def _signature_fields(value: Any) -> list[Field[Any]]:
    """The fields that decide numbers and so belong in the signature."""
    return [field for field in fields(value) if field.compare]


@cache
def _word_fields(cls: type[Any]) -> dict[str, tuple[Any, ...]]:
    """Return the words that each field of a ``Literal`` type takes; none for ``tuple[str, ...]``.

    A field of the latter type takes any words, and any number of them.
    """
    return {
        name: get_args(hint) if get_origin(hint) is Literal else ()
        for name, hint in get_type_hints(cls).items()
        if get_origin(hint) is Literal or hint == tuple[str, ...]
    }


def require(what: str, value: object, words: Any) -> None:
    """Refuse a value that is none of a closed set of words, given as a ``Literal``.

    >>> require("unit", "pairs", Literal["pairs", "judges"])
    """
    allowed = get_args(words)
    if value not in allowed:
        raise InputError(
            f"{what} {value!r} is unknown",
            remedy=f"{suggest_name(value, allowed)}use one of {', '.join(map(repr, allowed))}",
        )


def suggest_name(word: object, known: Iterable[object]) -> str:
    """A question that names the word probably meant; empty where none is near.

    >>> suggest_name("gluu", ["m2", "gleu", "bleu"])
    "did you mean 'gleu'? "
    """
    spelt = {str(name).casefold(): name for name in known}
    found = get_close_matches(str(word)[:100].casefold(), list(spelt), n=1)
    return f"did you mean {spelt[found[0]]!r}? " if found else ""


P = TypeVar("P", bound=Parameterised)


def parse_arguments(
    text: str, what: str = "metric", example: str = "m2(beta=0.5)"
) -> tuple[str, dict[str, Any]]:
    """Split ``name(a=1, b='x')`` into the name and its arguments; bare words are strings.

    A name may be a place in Python code, ``package.module:name`` or ``file.py:name``.

    >>> parse_arguments("m2(beta=1, choice=optimal)")
    ('m2', {'beta': 1, 'choice': 'optimal'})
    >>> parse_arguments("mine.py:overlap(n=2)")
    ('mine.py:overlap', {'n': 2})
    """
    place = re.fullmatch(r"\s*([^()'\"]+:[A-Za-z_]\w*)\s*(\(.*\))?\s*", text, re.DOTALL)
    if place:
        arguments = parse_arguments("place" + (place[2] or ""), what, example)[1]
        return place[1], arguments
    problem = InputError(
        f"cannot read the {what} {text!r}",
        remedy=f"write name or name(parameter=value, ...), as in {example}; "
        "put quotes around paths, names with hyphens and the like",
    )
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise problem from None
    if isinstance(node, ast.Name):
        return node.id, {}
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.args):
        raise problem
    given: dict[str, Any] = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            raise problem
        if keyword.arg in given:
            raise InputError(
                f"{keyword.arg!r} is given twice in the {what} {text!r}", remedy="leave one out"
            )
        if isinstance(keyword.value, ast.Name):
            given[keyword.arg] = keyword.value.id
            continue
        try:
            given[keyword.arg] = ast.literal_eval(keyword.value)
        except (ValueError, TypeError, MemoryError, RecursionError):
            raise problem from None
    return node.func.id, given


def name_in(signature: str) -> str:
    """Return the name in a signature; a text without parentheses is a name itself.

    >>> name_in("m2(beta=1)"), name_in("my metric")
    ('m2', 'my metric')
    """
    try:
        return parse_arguments(signature)[0]
    except InputError:
        return signature


class Parameter(NamedTuple):
    """A parameter as a user meets it; ``words`` are empty where any value of the kind goes."""

    name: str
    default: Any
    words: tuple[Any, ...]
    kind: str
    signed: bool


def parameters_of(cls: type[Parameterised]) -> tuple[Parameter, ...]:
    """The parameters of a class, in their order, with defaults and closed sets of words.

    >>> @parameterised
    ... class Toy(Parameterised):
    ...     name = "toy"
    ...     weight: float = 1.0
    >>> parameters_of(Toy)[0][:4]
    ('weight', 1.0, (), 'float')
    """
    own: Any = cls
    words = {name: words for name, words in _word_fields(own).items() if words}
    return tuple(
        Parameter(
            field.name,
            field.default,
            words.get(field.name, ()),
            "choice" if field.name in words else _type_name(field.type),
            field.compare,
        )
        for field in fields(own)
    )


def _type_name(kind: Any) -> str:
    """The name of a type in source code, whether or not annotations are postponed."""
    return kind.__name__ if isinstance(kind, type) else str(kind)


def build(cls: type[P], arguments: dict[str, Any]) -> P:
    """Make one from parsed arguments, with numbers coerced to the type of the default."""
    own: Any = cls
    known = {f.name: f for f in fields(own)}
    for name, value in arguments.items():
        if name not in known:
            raise InputError(
                f"{cls.name} has no parameter {name!r}",
                remedy=f"{suggest_name(name, known)}it has: {', '.join(known) or 'none'}",
            )
        default = None if known[name].default is MISSING else known[name].default
        if isinstance(default, float) and type(value) is int:
            try:
                arguments = {**arguments, name: float(value)}
            except OverflowError:
                raise InputError(f"{cls.name}: {name} is too large a number") from None
        elif type(value) in (int, float) and str(value) in _word_fields(own).get(name, ()):
            arguments = {**arguments, name: str(value)}  # version=3.2 for version='3.2'
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


def class_of(base: type[Parameterised]) -> Callable[[object], bool]:
    """Whether something is a class of such values, made with `parameterised`."""

    def accepts(loaded: object) -> bool:
        return isinstance(loaded, type) and issubclass(loaded, base) and is_dataclass(loaded)

    return accepts
