"""The command line: thin shells over the library, each in a module of its own.

A command is imported when it is called; `errata --help` imports none of them.
"""

from __future__ import annotations

import os
import sys
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any, TextIO

import click

from errata import __version__
from errata.cli.expanded import with_repeated_refs
from errata.cli.renamed import with_new_names
from errata.errors import DataWarning, ErrataError, shortened, visible
from errata.parameters import nearest

__all__ = ["COMMANDS", "cli", "main"]

# Name -> one line of help. The command object stands in errata.cli.NAME as `command`.
COMMANDS = {
    "score": "Score systems with M2, I-measure, GLEU, BLEU and more.",
    "metrics": "List the metrics, or the parameters of one.",
    "check": "Look for mistakes in a gold set and its hypotheses.",
    "convert": "Convert between M2 and parallel text.",
    "data": "List, fetch and locate the public data sets.",
    "rank": "Rank systems from human judgments.",
    "rankers": "List the rankers, or the parameters of one.",
    "agree": "Say how well judges agree with each other and with themselves.",
    "plan": "Plan how many more judgments are needed.",
    "meta": "Judge metrics by how well they agree with people.",
    "reproduce": "Recompute the published tables of the field.",
    "refs": "Compare reference sets with each other.",
    "difficulty": "Show which errors are hard and who corrects them.",
    "stress": "Show how a metric reacts to damaged output.",
}


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports one only to run it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"errata.cli.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            ctx.fail(f"No such command {args[0][:60]!r}. {nearest(args[0], COMMANDS)}".rstrip())
        name, command, rest = super().resolve_command(ctx, args)
        return name, command, with_repeated_refs(with_new_names(name or "", rest))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="errata")
def cli() -> None:
    """How good is this grammatical error correction system, and how do we know?

    Start with:  errata score --sample
    """


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    said = visible(shortened(str(message)))
    if issubclass(category, DataWarning | RuntimeWarning):
        click.echo(f"warning: {said}", err=True)
    else:
        click.echo(f"{category.__name__}: {said} ({Path(filename).name}:{lineno})", err=True)


def main(arguments: list[str] | None = None) -> Any:
    """Run the command line; bad input ends with one line on stderr and exit code 2."""
    warnings.simplefilter("always", DataWarning)
    warnings.showwarning = _show_warning
    try:
        return cli.main(arguments, prog_name="errata", standalone_mode=True)
    except ErrataError as error:
        click.echo(f"errata: {error}", err=True)
    except OSError as error:
        place = "output" if error.filename is None else error.filename
        click.echo(f"errata: {place}: {error.strerror or error}", err=True)
        _drop_output()
    except MemoryError as error:
        click.echo(
            f"errata: too little memory: {error or 'none is left'}; are the texts one "
            "sentence a line? else score fewer systems or parts of the text",
            err=True,
        )
    sys.exit(2)


def _drop_output() -> None:
    """Let go of what standard output could not take, so that Python's end is quiet."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
