"""What a shell makes of ``--refs test.ref?``: one option, and several files behind it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

import click

__all__ = ["with_repeated_refs"]

OPTION = "--refs"


def with_repeated_refs(arguments: Sequence[str]) -> list[str]:
    """The same with ``--refs`` before each file that follows one and is named like it.

    Only numbers may differ (and, in names with ``ref``, one letter): a shell turns ``test.ref?``
    into such a row of names, and all but the first would be scored as systems. What is really an
    output can be named as ``name=path``.

    >>> with_repeated_refs(["--refs", "r0.txt", "r1.txt", "out.txt"])
    ['--refs', 'r0.txt', '--refs', 'r1.txt', 'out.txt']
    """
    done = list(_repeated(arguments))
    more = len(done) - len(arguments)
    if more:
        click.echo(
            f"notice: {more} more {'file is' if more == 1 else 'files are'} taken for {OPTION}, "
            "being named like the one before; write name=path for an output",
            err=True,
        )
    return done


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
