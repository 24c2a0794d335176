"""Options of a command, declared once as fields of a frozen dataclass.

A field is an `option`, an `argument` or a `group` of options, which is such a dataclass again::

    @dataclass(frozen=True)
    class GateOptions:
        fail_if: tuple[Condition, ...] = option("--fail-if", multiple=True, parse=parse_conditions)
        junit: str | None = option("--junit", writes="file", needs="--fail-if")

`takes` adds the options of a dataclass to a click command and passes one instance of it. Before the
command runs, values are parsed, files of ``--data`` are filled in, and options that do not go
together are refused.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

import click
from click.core import ParameterSource

from errata.core.errors import InputError
from errata.core.parameters import suggest_name

Command = TypeVar("Command", bound=Callable[..., Any])

if TYPE_CHECKING:  # generic since click 8.2
    _Choice = click.Choice[str]
else:
    _Choice = click.Choice


class NameType(_Choice):
    """One of a closed set of words, in any case; for a misspelt one the nearest is suggested."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            self.fail(f"{error.message} {suggest_name(value, self.choices)}".rstrip(), param, ctx)


@dataclass(frozen=True)
class Parameter:
    """An option or argument of a command.

    ``needs`` and ``excludes`` name other parameters, alternatives separated by " or ": an option by
    its spelling, perhaps with values (``--level system|both``), an argument by its field. ``parse``
    makes the value of what the user wrote. ``role`` is what ``--data`` may fill in; a parameter
    that ``writes`` names a file, or the stem of several.
    """

    flags: tuple[str, ...]
    settings: Mapping[str, Any]
    needs: tuple[str, ...] = ()
    excludes: str = ""
    parse: Callable[[Any], Any] | None = None
    role: str = ""
    writes: Literal["", "file", "stem"] = ""
    name: str = ""
    field: str = ""

    @property
    def label(self) -> str:
        """The spelling that messages use."""
        if self.flags:
            return max(self.flags, key=len).partition("/")[0]
        shown: str = self.settings.get("metavar", self.field)
        return shown[1:-1] if shown.startswith("[") and shown.endswith("]") else shown


def option(
    *spellings: str,
    default: Any = None,
    needs: str | tuple[str, ...] = (),
    excludes: str = "",
    parse: Callable[[Any], Any] | None = None,
    role: str = "",
    writes: Literal["", "file", "stem"] = "",
    **settings: Any,
) -> Any:
    """Declare an option by its spellings (``-o``, ``--output FILE``), help and click settings."""
    *names, last, settings["help"] = spellings
    last, _, metavar = last.partition(" ")
    if metavar:
        settings["metavar"] = metavar
    flags = (*names, last)
    if settings.get("multiple") or "nargs" in settings:
        default = () if default is None else default
    elif default is False:
        settings["is_flag"] = True
    elif default is not None:
        # Recent versions of click take default=None for a value, and then miss that none was given.
        settings |= {"default": default, "show_default": default != ""}
    elif any("/" in flag for flag in flags):
        settings["default"] = None
    needs = (needs,) if isinstance(needs, str) else needs
    declared = Parameter(flags, settings, needs, excludes, parse, role, writes)
    return field(default=default, metadata={"parameter": declared})


def flag(*flags: str, **more: Any) -> Any:
    """Declare an option without a value."""
    return option(*flags, default=False, **more)


def count_option(
    flag: str,
    help: str,
    default: int | None = None,
    *,
    least: int = 1,
    most: int | None = None,
    **more: Any,
) -> Any:
    """Declare an option that takes a whole number."""
    spelling = flag if " " in flag else f"{flag} N"
    return option(spelling, help, type=click.IntRange(least, most), default=default, **more)


def choice_option(flag: str, literal: Any, help: str, default: Any = None, **more: Any) -> Any:
    """Declare an option that takes one of the words of a literal type."""
    words = NameType(get_args(literal), case_sensitive=False)
    return option(flag, help, type=words, default=default, **more)


def argument(
    *,
    required: bool = True,
    several: bool = False,
    parse: Callable[[Any], Any] | None = None,
    role: str = "",
    writes: Literal["", "file"] = "",
    **settings: Any,
) -> Any:
    """Declare an argument; ``several`` may be given, or none."""
    settings |= {"nargs": -1} if several else {"required": required}
    declared = Parameter((), settings, parse=parse, role=role, writes=writes)
    return field(default=() if several else None, metadata={"parameter": declared})


def group(cls: type, *without: str, needs: Mapping[str, str] | None = None) -> Any:
    """Declare the options of another dataclass, except the fields ``without``.

    ``needs`` replaces what single fields need; ``*`` adds to what all others need.
    """
    return field(default_factory=cls, metadata={"group": (cls, without, needs or {})})


def parameters_in(
    cls: Any, without: Collection[str] = (), needs: Mapping[str, str] | None = None, path: str = ""
) -> Iterator[Parameter]:
    """Yield the options and arguments of a dataclass and its groups, with their names in click."""
    needs = needs or {}
    for each in fields(cls):
        if each.name in without:
            continue
        if "group" in each.metadata:
            inner, left_out, inner_needs = each.metadata["group"]
            yield from parameters_in(inner, left_out, inner_needs, f"{path}{each.name}_")
        elif "parameter" in each.metadata:
            declared: Parameter = each.metadata["parameter"]
            own = (*declared.needs, needs.get("*", ""))
            if each.name in needs:
                own = (needs[each.name],)
            needed = tuple(filter(None, own))
            yield replace(declared, needs=needed, name=path + each.name, field=each.name)


def takes(
    cls: type, *, data: bool = False, around: Collection[str] = (), more_help: str = ""
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add the options of a dataclass to a command, which gets one instance of it.

    With ``data`` also ``--data``, for all parameters with a role; where a parameter writes, also
    ``--force``. Not every file in the folders named by ``around`` is an input. ``more_help`` is the
    last paragraph of the help, which several commands share.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        parameters = sorted(parameters_in(cls), key=lambda each: each.name.startswith("display_"))
        if any(each.writes for each in parameters):
            force = {"is_flag": True, "help": "Overwrite files that exist."}
            parameters.append(Parameter(("--force",), force, name="force"))
        if data:
            help = "Public data by name (see errata data list), for all files that are not named."
            named = {"metavar": "NAME", "help": help}
            parameters.insert(0, Parameter(("--data",), named, name="data"))

        writing = [each for each in parameters if each.writes]

        def parse_values(texts: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
            """Return the instance that the command gets, and the values it was made of."""
            values = {
                each.name: each.parse(texts[each.name])
                if each.parse is not None and texts[each.name] not in (None, ())
                else texts[each.name]
                for each in parameters
            }
            if values.get("data") is not None:
                _fill_from_data(values["data"], parameters, values)
            _check_combinations(parameters, values)
            return _build_options(cls, values), values

        def run(**texts: Any) -> Any:
            if not writing:
                return command(parse_values(texts)[0])
            from errata.io.atomic import check_writable, file_set

            others = {*texts} - {each.name for each in writing} - {*around}
            with file_set(
                force=texts["force"], inputs=_file_ids([texts[n] for n in others])
            ) as files:
                given, values = parse_values(texts)
                files.inputs |= {*_file_ids([values[name] for name in others])}
                check_writable(*_files_to_write(writing, values))
                return command(given)

        run.__name__ = command.__name__
        run.__doc__ = f"{inspect.getdoc(command)}\n\n{more_help}".strip()
        for each in reversed(parameters):
            declare = click.option if each.flags else click.argument
            run = declare(*each.flags, each.name, **each.settings)(run)
        return run

    return decorate


def _build_options(cls: Any, values: Mapping[str, Any], path: str = "") -> Any:
    """Return an instance of a dataclass from the values of its options and groups."""
    found = {}
    for each in fields(cls):
        name = path + each.name
        if "group" in each.metadata:
            found[each.name] = _build_options(each.metadata["group"][0], values, f"{name}_")
        elif name in values:
            found[each.name] = values[name]
    return cls(**found)


# ---- What goes together.


def _check_combinations(parameters: Sequence[Parameter], values: Mapping[str, Any]) -> None:
    """Refuse options that would have no effect, and options that contradict each other."""
    source = click.get_current_context().get_parameter_source
    known = {spelling: each for each in parameters for spelling in each.flags or (each.field,)}

    def present(alternative: str, *, written: bool = False) -> bool:
        name, _, wanted = alternative.partition(" ")
        if name not in known or (written and not is_written(known[name])):
            return False
        value = values[known[name].name]
        if wanted in ("", "above 0"):
            return bool(value)
        words = value if isinstance(value, tuple | list) else (value,)
        heads = {each[0] if isinstance(each, tuple) else each for each in words}
        return bool(heads & {*wanted.split("|")})

    def shown(alternative: str) -> str:
        name, _, words = alternative.partition(" ")
        return alternative if known[name].flags else words or known[name].label

    def is_written(parameter: Parameter) -> bool:
        if not parameter.flags:
            return bool(values[parameter.name])
        return source(parameter.name) is ParameterSource.COMMANDLINE

    for each in filter(is_written, parameters):
        for needed in each.needs:
            own = [one for one in needed.split(" or ") if one.partition(" ")[0] in known]
            if not any(map(present, own)):
                raise goes_with(each.label, " or ".join(map(shown, own)))
        for other in filter(None, each.excludes.split(" or ")):
            if present(other, written=True):
                name, _, words = other.partition(" ")
                value = f" {values[known[name].name]}" if words else ""
                remedy = "leave out one of them"
                raise InputError(f"{each.label} and {shown(name)}{value} are given", remedy=remedy)


def goes_with(name: str, needed: str) -> InputError:
    """Return the error for an option that has no effect without something else."""
    return InputError(f"{name} goes with {needed}", remedy="leave it out otherwise")


# ---- ``--data``: public data by name.

CORPUS_ROLES = {"gold", "source", "references"}
PEOPLE_ROLES = {"judgments", "human"}


def _fill_from_data(name: str, parameters: Sequence[Parameter], values: dict[str, Any]) -> None:
    """Fill empty parameters with the files of a collection; a corpus is filled whole or not."""
    from errata.cli.output import ProgressBar
    from errata.datasets.fetch import collection, role_files

    chosen = collection(name)
    by_flag = {flag: each.name for each in parameters for flag in each.flags}
    if values.get(by_flag.get("--sample", "")):
        raise InputError("--data and --sample are given", remedy="leave out one of them")
    places = {each.role: each.name for each in parameters if each.role}
    named = {role for role, place in places.items() if values[place]}
    for roles in (CORPUS_ROLES, PEOPLE_ROLES):
        named |= roles if named & roles else set()
    if "scores" in named and not values[by_flag["--metric"]]:
        named.add("outputs")
    filled: set[str] = set()
    for role in chosen.roles:
        if role in places and role not in named:
            with ProgressBar(chosen.name, after=0.3) as progress:
                files = role_files(chosen, role, progress)
            several = isinstance(values[places[role]], tuple)
            values[places[role]] = files if several else files[0]
            filled.add(role)
    if not filled:
        has = ", ".join(chosen.roles)
        problem = f"--data {chosen.name} has nothing that is missing here: it has {has}"
        remedy = "leave it out, or leave out the files that are to come from it"
        raise InputError(problem, remedy=remedy)
    source = click.get_current_context().get_parameter_source
    if "judgments" in filled and source(by_flag["--base"]) is not ParameterSource.COMMANDLINE:
        values[by_flag["--base"]] = chosen.base
    if "human" in filled and not values[by_flag["--names"]]:
        values[by_flag["--names"]] = chosen.names


def _files_to_write(parameters: Sequence[Parameter], values: Mapping[str, Any]) -> list[str]:
    """Return the files that will be written; the names of a stem are left to the command."""
    named = [values[each.name] for each in parameters if each.writes == "file"]
    several = [(value,) if isinstance(value, str) else value or () for value in named]
    return [one if isinstance(one, str) else one[-1] for value in several for one in value]


def _file_ids(value: Any) -> Iterator[tuple[int, int]]:
    """Yield the files that the texts of a value may name: FILE, NAME=FILE, or a folder."""
    from errata.io.files import file_id

    if isinstance(value, tuple | list):
        for one in value:
            yield from _file_ids(one)
    elif isinstance(value, str):
        for name in {value, value.partition("=")[2]} - {""}:
            with suppress(OSError, ValueError):
                inside = os.scandir(name) if os.path.isdir(name) else ()
                for path in (name, *inside):
                    yield file_id(os.stat(path))
