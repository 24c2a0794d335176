"""The command line: thin shells over the library, each in a module of its own.

A command is imported when it is called; `errata --help` imports none of them.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any, NoReturn

import click

from errata import __version__
from errata.cli.expanded import with_repeated_refs
from errata.cli.renamed import with_new_names
from errata.cli.running import EXIT_CODES, Unread, run, set_loudness, show_traceback
from errata.parameters import nearest

__all__ = ["COMMANDS", "cli", "main"]

# Name -> one line of help. The command object stands in errata.cli.NAME as `command`.
COMMANDS = {
    "score": "Score systems with M2, I-measure, GLEU, BLEU and more.",
    "scale": "Score any number of sentences, systems and sets, on many machines.",
    "verify": "Recompute a pasted score: 'SIGNATURE = VALUE'.",
    "board": "Make a leaderboard of a folder of submissions.",
    "compare": "Say what changed between an old system and a new one.",
    "logs": "Count what a system did in use, without references.",
    "report": "Make one page of everything that is known of systems.",
    "metrics": "List the metrics, or the parameters of one.",
    "check": "Look for mistakes in a gold set and its hypotheses.",
    "convert": "Convert between M2 and parallel text.",
    "tokenise": "Cut texts into tokens, for any language.",
    "data": "List, fetch and locate the public data sets.",
    "cache": "Show or clear what is kept between runs.",
    "judge": "Let a language model judge outputs.",
    "collect": "Collect judgments from people, in their browsers.",
    "rank": "Rank systems from human judgments.",
    "rankers": "List the rankers, or the parameters of one.",
    "agree": "Say how well judges agree with each other and with themselves.",
    "plan": "Plan how many more judgments are needed.",
    "meta": "Judge metrics by how well they agree with people.",
    "benchmark": "Judge every metric on all data that people judged.",
    "reproduce": "Recompute the published tables of the field.",
    "refs": "Compare reference sets with each other.",
    "corpora": "Compare corpora, and the ranking of systems on them.",
    "align": "Show what a metric compared in a sentence.",
    "difficulty": "Show which errors are hard and who corrects them.",
    "train": "Train a learned metric on ratings or corrections.",
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
        return _with_loudness(command)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            # click would exit with 1, which means that a check did not hold.
            raise Unread from error

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        ctx.meta["errata.arguments"] = tuple(args)  # for what says how it was made
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            ctx.fail(f"No such command {args[0][:60]!r}. {nearest(args[0], COMMANDS)}".rstrip())
        name, command, rest = super().resolve_command(ctx, args)
        return name, command, with_repeated_refs(with_new_names(name or "", rest), command)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _loudness_options() -> list[click.Parameter]:
    """``-q`` and ``-v``, which every command has."""
    return [
        click.Option(
            [short, long],
            flag_value=value,
            type=int,
            expose_value=False,
            callback=set_loudness,
            help=help,
        )
        for short, long, value, help in (
            ("-q", "--quiet", -1, "Print no warnings and no progress."),
            ("-v", "--verbose", 1, "Say which files are read and written, and how long it took."),
        )
    ]


def _with_loudness(command: click.Command) -> click.Command:
    """Give a command, and those below it, the options that every command has."""
    if isinstance(command, click.Group):
        for inner in command.commands.values():
            _with_loudness(inner)
    if not any("--quiet" in parameter.opts for parameter in command.params):
        command.params += _loudness_options()
    return command


EPILOG = "\b\nExit codes:\n" + "\n".join(
    f"  {code:>3}  {meaning}" for code, meaning in EXIT_CODES.items()
)


FIRST = """\
errata score --sample                       what it looks like, on a small sample
errata score --gold gold.m2 out/*.txt       your systems, scored
errata report --gold gold.m2 out/*.txt      the same as one page (report.html)

errata --help lists the other commands."""


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=EPILOG,
    invoke_without_command=True,
)
@click.version_option(__version__, "-V", "--version", prog_name="errata")
@click.option(
    "--traceback",
    is_flag=True,
    expose_value=False,
    callback=lambda ctx, parameter, value: show_traceback.set(True) if value else None,
    help="Show where in the program a failure comes from (as ERRATA_TRACEBACK=1 does).",
)
@click.pass_context
def cli(ctx: click.Context) -> None:
    """How good is this grammatical error correction system, and how do we know?

    Start with:  errata score --sample
    """
    if ctx.invoked_subcommand is None:
        click.echo(FIRST)


cli.params += _loudness_options()


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line; however it ends, with one line on standard error at most."""
    sys.exit(run(cli, arguments))
