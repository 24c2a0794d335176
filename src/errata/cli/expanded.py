"""What a shell makes of ``--refs test.ref?``: one option, and several files behind it."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterator, Sequence

import click

from errata.cli.running import tell
from errata.errors import DataWarning

__all__ = ["with_repeated_refs"]

OPTION = "--refs"


def with_repeated_refs(arguments: Sequence[str], command: click.Command | None = None) -> list[str]:
    """The same with ``--refs`` before each file that follows one and is named like it.

    Only numbers may differ (and, in names with ``ref``, one letter): a shell turns ``test.ref?``
    into such a row of names, and all but the first would be scored as systems. What is really an
    output can be named as ``name=path``. Of files that are named otherwise, but seem to be such a
    row all the same, the user is warned; ``command`` knows which options have a value.

    >>> with_repeated_refs(["--refs", "r0.txt", "r1.txt", "out.txt"])
    ['--refs', 'r0.txt', '--refs', 'r1.txt', 'out.txt']
    """
    if isinstance(command, click.Group):
        command = next((command.commands[a] for a in arguments if a in command.commands), None)
    done = list(_repeated(arguments))
    more = len(done) - len(arguments)
    if more:
        tell(
            f"notice: {more} more {'file is' if more == 1 else 'files are'} taken for {OPTION}, "
            "being named like the one before; write name=path for an output"
        )
    doubtful = [] if command is None else _doubtful(done, command)
    if doubtful:
        warnings.warn(
            f"{', '.join(doubtful)} {'is' if len(doubtful) == 1 else 'are'} scored as "
            f"{'a system' if len(doubtful) == 1 else 'systems'}, though right after {OPTION} in "
            f"the folder of the references, or named like them; write {OPTION} FILE {OPTION} FILE "
            "for references, name=path for an output",
            DataWarning,
            stacklevel=2,
        )
    return done


def _doubtful(arguments: Sequence[str], command: click.Command) -> list[str]:
    """Outputs that stand right after ``--refs FILE`` in its folder, where outputs seem not to be.

    Or further on, if they are named like a reference (a notice is for those right after it). They
    seem not to be there if another output is elsewhere, or if the folder is called ``refs``
    or the like. The source itself is often scored, and may be there.
    """
    valued = {
        name
        for option in command.params
        if isinstance(option, click.Option) and not (option.is_flag or option.count)
        for name in option.opts
    }
    behind: list[str] = []
    others: list[str] = []
    unnamed: list[str] = []
    references: list[str] = []
    sources: list[str] = []
    folder: str | None = None  # of the references, while nothing else came after them
    at = 0
    while at < len(arguments) and arguments[at] != "--":
        argument, _, value = arguments[at].partition("=")
        at += 1
        if argument.startswith("-") and argument != "-":
            if argument in valued and not value and at < len(arguments):
                value = arguments[at]
                at += 1
            folder = os.path.dirname(value) if argument == OPTION else None
            sources += [value] if argument == "--source" else []
            references += [value] if argument == OPTION else []
        elif folder is not None and not value and os.path.dirname(argument) == folder:
            behind.append(argument)
        else:
            folder = None
            others.append(value or argument)
            unnamed += [] if value else [argument]
    home = {os.path.dirname(file) for file in behind}
    elsewhere = any(os.path.dirname(file.rstrip("/")) not in home for file in others)

    def seems(file: str) -> bool:
        if any(_alike(reference, file) for reference in references):
            return file not in references
        in_its_place = elsewhere or _of_references(os.path.dirname(file))
        return file in behind and in_its_place and not os.path.isdir(file)

    return [file for file in (*behind, *unnamed) if file not in sources and seems(file)]


def _of_references(folder: str) -> bool:
    return os.path.basename(folder).lower().startswith("ref")


def _repeated(arguments: Sequence[str]) -> Iterator[str]:
    before: str | None = None
    value = False  # whether this argument is the value of the option before it
    for k, argument in enumerate(arguments):
        if argument == "--":
            yield from arguments[k:]
            return
        if value:
            before, value = argument, False
        elif argument == OPTION:
            value = True
        elif argument.startswith(OPTION + "="):
            before = argument.removeprefix(OPTION + "=")
        elif before is not None and _alike(before, argument):
            yield OPTION
        else:
            before = None
        yield argument


def _alike(one: str, other: str) -> bool:
    if one == other or os.path.dirname(one) != os.path.dirname(other):
        return False
    first, second = os.path.basename(one), os.path.basename(other)
    if re.search(r"\d", first) and re.sub(r"\d+", "0", first) == re.sub(r"\d+", "0", second):
        return True
    differing = [a + b for a, b in zip(first, second, strict=False) if a != b]
    return (
        len(first) == len(second)
        and len(differing) == 1
        and differing[0].isalnum()
        and "ref" in first.lower()
        and "ref" in second.lower()
    )
