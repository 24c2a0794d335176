"""Words of the command line: what an option takes, and sentences that several commands say."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

import click

from errata.core.parameters import suggest_name

Command = TypeVar("Command", bound=Callable[..., Any])
Function = Callable[..., Any]
Decorator = Callable[[Function], Function]

if TYPE_CHECKING:  # generic since click 8.2 and 8.4; older ones do
    _Choice = click.Choice[str]
    _Type = click.ParamType[Any]
else:
    _Choice = click.Choice
    _Type = click.ParamType


class NameType(_Choice):
    """One of a closed set of words, in any case; a misspelt one is answered with a suggestion."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            self.fail(f"{error.message} {suggest_name(value, self.choices)}".rstrip(), param, ctx)


def choice_of(literal: Any) -> NameType:
    """The choice of one of a closed set of words."""
    return NameType(get_args(literal), case_sensitive=False)


class Annotator(_Type):
    """The number of an annotator, or all of them."""

    name = "annotator"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | Literal["all"]:
        text = str(value)
        if text == "all":
            return "all"
        if not (text.isdecimal() and text.isascii() and len(text) < 10):
            self.fail(f"{text[:40]!r} is neither the number of an annotator nor all", param, ctx)
        return int(text)


_SCALE = re.compile(r"([^:]+)(?::(-?\d{1,6})-(-?\d{1,6})(?::(.+))?)?")


class ScaleWords(_Type):
    """A scale in words, ``fluency:0-4:bad,good``: its name, its ends, and what stands at them."""

    name = "scale"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> dict[str, Any]:
        found = _SCALE.fullmatch(str(value))
        if found is None:
            self.fail(f"{value!r} is no scale; write fluency or fluency:0-4:bad,good", param, ctx)
        name, low, high, labels = found.groups()
        scale: dict[str, Any] = {"name": name.strip()}
        if low is not None:
            scale |= {"low": int(low), "high": int(high)}
        if labels is not None:
            scale["labels"] = [label.strip() for label in labels.split(",")]
        return scale


def add_help(sentence: str) -> Callable[[Command], Command]:
    """Add a paragraph to the help of a command: what others say in the same words."""

    def decorate(command: Command) -> Command:
        command.__doc__ = f"{inspect.getdoc(command)}\n\n{sentence}"
        return command

    return decorate


def option_group(
    name: str, make: Callable[..., Any], options: Mapping[str, Decorator]
) -> Decorator:
    """Declare options, and give the command one value ``name`` that ``make`` makes of them."""

    def decorate(command: Function) -> Function:
        @wraps(command)
        def run(*arguments: Any, **given: Any) -> Any:
            values = {field: given.pop(field) for field in options}
            return command(*arguments, **{name: make(**values)}, **given)

        decorated: Function = run
        for option in reversed(list(options.values())):
            decorated = option(decorated)
        return decorated

    return decorate
