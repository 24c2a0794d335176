"""Run the command line: lazy commands, exit codes, streams.

Exit codes: 0 all is well, 1 a check did not hold, 2 the input or the command line is at fault, 70
Errata (or a plug-in, which is named) is, 130 the user broke off, 141 nobody reads the output.
"""

from __future__ import annotations

import errno
import io
import logging
import os
import re
import sys
import sysconfig
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn, TextIO

import click

from errata import __version__
from errata.core.errors import (
    NOTICE,
    DataWarning,
    ErrataError,
    PluginError,
    escape_controls,
    shorten,
)
from errata.core.parameters import suggest_name

EXIT_CODES = {
    0: "all is well",
    1: "a check did not hold (compare, reproduce, verify, board, data check)",
    2: "the input or the command line is at fault",
    70: "Errata or a plug-in is; the message says how to report it",
    130: "broken off (Ctrl-C)",
    141: "nobody reads the output any more",
}
FAULT, INTERRUPTED, UNREAD = 70, 130, 141
ISSUES = "https://github.com/errata-gec/errata/issues"
# What NumPy says where numbers leave the range of floating point.
_NUMERIC = re.compile(r"encountered in|empty slice|[Dd]egrees of freedom|divide by zero")

# -1 is quiet, 1 verbose.
verbosity: ContextVar[int] = ContextVar("loudness", default=0)
show_traceback: ContextVar[bool] = ContextVar("show_traceback", default=False)


class OutputClosed(Exception):
    """The reader of our output went away."""


def set_loudness(_: click.Context, __: click.Parameter, value: int | None) -> None:
    """Be as loud as ``-q`` or ``-v`` says, the last of them."""
    if value is None:
        return
    verbosity.set(value)
    if value < 0:
        _journal(logging.NOTSET, [])
    else:
        handler = logging.StreamHandler(_Visible())
        handler.setFormatter(logging.Formatter("errata: %(message)s"))
        _journal(logging.INFO, [handler])


def _journal(level: int, handlers: list[logging.Handler]) -> None:
    """Where what the library notes on its way is shown; nowhere, unless asked for."""
    journal = logging.getLogger("errata")
    journal.handlers = handlers
    journal.setLevel(level)
    journal.propagate = not handlers


class _Noting(logging.Handler):
    """Shows what the library wants to be known before it goes on, as what a run will cost."""

    def emit(self, record: logging.LogRecord) -> None:
        note(record.getMessage())


class _Visible:
    """Standard error, for texts that may hold anything."""

    def write(self, text: str) -> None:
        print_stderr(escape_controls(text.rstrip("\n")))


def run(command: click.Command, arguments: list[str] | None) -> int:
    """Run a command line and say how it ended; whatever happens, in one line and a code."""
    _prepare_streams()
    warnings.simplefilter("always", DataWarning)
    warnings.showwarning = _warner()
    show_traceback.set(bool(os.environ.get("ERRATA_TRACEBACK")))
    verbosity.set(0)
    _journal(NOTICE, [_Noting()])
    began = time.monotonic()
    try:
        result = command.main(arguments, prog_name="errata", standalone_mode=False)
        sys.stdout.flush()
        _say_uncompiled()
        return result if isinstance(result, int) else 0
    except SystemExit as stop:
        _say_uncompiled()
        return stop.code if isinstance(stop.code, int) else 0
    except BaseException as error:
        if show_traceback.get():
            print_stderr("\n".join(map(escape_controls, traceback.format_exc().splitlines())))
        return _failed(error)
    finally:
        if verbosity.get() > 0:
            _say(f"{_versions()}; {time.monotonic() - began:.1f} s")
        _journal(logging.NOTSET, [])


def _say_uncompiled() -> None:
    """Say once, at the end, that the inner loops ran as plain Python, if they did."""
    kernels = [
        module
        for name, module in sys.modules.items()
        if name.startswith("errata.kernels.") and not name.endswith("._doors")
    ]
    if any((getattr(module, "__file__", "") or "").endswith(".py") for module in kernels):
        note("the kernels run uncompiled, slowly; with a C compiler, pip install builds them")


def _failed(error: BaseException) -> int:
    """Print what went wrong, and return the code to exit with."""
    match error:
        case BrokenPipeError() | OutputClosed():
            _drop("stdout")
            return UNREAD
        case click.Abort() | KeyboardInterrupt():
            _say("interrupted")
            return INTERRUPTED
        case click.ClickException():
            _show_usage(error)
            return error.exit_code
        case PluginError():
            _say(str(error))
            return FAULT
        case ErrataError():
            _say(str(error))
        case OSError():
            name = error.filename  # which some libraries put a number into
            place = os.fsdecode(name) if isinstance(name, str | bytes) else "output"
            _say(f"{place}: {error.strerror or str(error) or type(error).__name__}")
            _drop("stdout")
        case MemoryError():
            _say(
                f"too little memory: {error or 'none is left'}; ask for less at a time: fewer "
                "systems, sentences or resamples, shorter lines, smaller parameters"
            )
        case _:
            _say(_fault(error))
            return FAULT
    return 2


def _versions() -> str:
    """What computed the numbers, for whoever compares them with those of another machine."""
    import platform
    from importlib.metadata import version

    from errata import __version__

    parts = (f"errata {__version__}", f"Python {platform.python_version()}")
    return ", ".join((*parts, f"NumPy {version('numpy')}", f"SciPy {version('scipy')}"))


def print_stderr(text: str) -> None:
    """Print on standard error; if nobody can read it, that changes nothing else."""
    try:
        click.echo(text, err=True)
    except OSError:
        _drop("stderr")


def note(message: str) -> None:
    """Tell the user what a result does not say of itself, unless quiet is asked for."""
    if verbosity.get() >= 0:
        print_stderr(f"note: {escape_controls(shorten(message))}")


def _say(message: str) -> None:
    print_stderr(f"errata: {escape_controls(shorten(message))}")


def _show_usage(error: click.ClickException) -> None:
    """As click shows its errors, with nothing in them that steers a terminal."""
    context = getattr(error, "ctx", None)
    if context is not None:
        print_stderr(context.get_usage())
        names = context.help_option_names
        if names:
            print_stderr(f"Try '{context.command_path} {names[-1]}' for help.\n")
    print_stderr(f"Error: {escape_controls(shorten(error.format_message()))}")


def _fault(error: BaseException) -> str:
    """What is said of a failure that nobody foresaw: what, where, whose, and what to do."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    what = f"{type(error).__name__}: {str(error).strip() or 'no message'}"
    for frame in reversed(frames):
        if owner := _plugin(frame):
            return f"{owner} failed ({_place(frame)}): {what}; tell its author, or leave it out"
    own = [frame for frame in frames if _module(frame).startswith("errata.")]
    where = f" ({_place(own[-1])})" if own else ""
    return (
        f"this is a fault of Errata{where}: {what}; please report it at {ISSUES} with what "
        "ERRATA_TRACEBACK=1 shows"
    )


def _plugin(frame: FrameType) -> str:
    """Whose code a frame runs, if it is neither ours nor that of the libraries we stand on."""
    from errata.core.parameters import Parameterised

    owner = frame.f_locals.get("self")
    if isinstance(owner, Parameterised) and not type(owner).__module__.startswith("errata."):
        return f"{owner.name} of {type(owner).__module__}"
    path = os.path.realpath(frame.f_code.co_filename)
    libraries = {sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")}
    at_home = [str(Path(__file__).resolve().parents[1]), *map(os.path.realpath, libraries)]
    if any(path.startswith(home + os.sep) for home in at_home) or not os.path.exists(path):
        return ""
    name = _module(frame)
    return f"the plug-in {name}" if name not in ("__main__", "errata.__main__") else ""


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))


def _place(frame: FrameType) -> str:
    return f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"


def _warner() -> Callable[..., None]:
    """What prints warnings: ours as they are, those about numbers once and in our words."""
    said: set[str] = set()

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        text = escape_controls(shorten(str(message)))
        if issubclass(category, RuntimeWarning) and _NUMERIC.search(text):
            text = (
                f"some numbers are too large, too small or too few to compute with ({text}); "
                "check the parameters and the input before you use the results"
            )
        ours = issubclass(category, DataWarning)
        if verbosity.get() < 0 or (not ours and text in said):
            return
        said.add(text)
        print_stderr(f"warning: {text}")

    return show


class _Closed(io.RawIOBase):
    """A standard stream that was closed before we began."""

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def readinto(self, _: Any) -> NoReturn:
        raise OSError(errno.EBADF, "it is closed")

    def write(self, _: Any) -> NoReturn:
        raise OSError(errno.EBADF, "standard output is closed")


def _prepare_streams() -> None:
    """Let every text be printed, whatever the terminal or the redirect can show."""
    if sys.stdin is None:
        sys.stdin = io.TextIOWrapper(io.BufferedReader(_Closed()), "utf-8")
    if sys.stdout is None:
        sys.stdout = io.TextIOWrapper(_Closed(), "utf-8", write_through=True)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _drop(name: str) -> None:
    """Let go of what a standard stream could not take, so that Python's end is quiet."""
    try:
        getattr(sys, name).flush()
    except (OSError, ValueError):
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), getattr(sys, name).fileno())
        except (OSError, ValueError):
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115


# ---- What a shell makes of ``--refs test.ref?``: one option, and several files behind it.

OPTION = "--refs"


def expand_refs(arguments: Sequence[str], command: click.Command | None = None) -> list[str]:
    """The same with ``--refs`` before each file that follows one and is named like it.

    Only numbers may differ (and, in names with ``ref``, one letter): a shell turns ``test.ref?``
    into such a row of names, and all but the first would be scored as systems. What is really an
    output can be named as ``name=path``. Of files that are named otherwise, but seem to be such a
    row all the same, the user is warned; ``command`` knows which options have a value.

    >>> expand_refs(["--refs", "r0.txt", "r1.txt", "out.txt"])
    ['--refs', 'r0.txt', '--refs', 'r1.txt', 'out.txt']
    """
    if isinstance(command, click.Group):
        command = next((command.commands[a] for a in arguments if a in command.commands), None)
    done = list(_repeated(arguments))
    more = len(done) - len(arguments)
    if more:
        print_stderr(
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


# ---- Options that had another name: still understood, with a notice on standard error.

_RANKER = {"-m": "--ranker", "--method": "--ranker"}
# Command -> old spelling -> new one; what follows a blank is put before the option's value.
RENAMED: dict[str, dict[str, str]] = {
    "score": {"--sentences": "--by-sentence"},
    "check": {"--all": "--every"},
    "rank": {**_RANKER, "--plot": "--figure"},
    "agree": {**_RANKER, "--weights": "--kappa-weights"},
    "plan": _RANKER,
    "meta": {
        "--method": "--ranker",
        "--scatter": "--figure scatter=",
        "--map": "--figure significance=",
    },
    "reproduce": {"--extractor": "--extract"},
    "difficulty": {"--map": "--figure", "--leave-out": "--exclude-own", "--top": "--examples"},
    "stress": {"--plot": "--figure", "--output": "--damage"},
}


def with_new_names(command: str, arguments: Sequence[str]) -> list[str]:
    """The arguments of a command as they are spelt today.

    >>> with_new_names("rank", ["x.xml", "--ranker=trueskill"])
    ['x.xml', '--ranker=trueskill']
    """
    return list(_rewritten(RENAMED.get(command, {}), arguments))


def _rewritten(renamed: dict[str, str], arguments: Sequence[str]) -> Iterator[str]:
    rest = iter(arguments)
    # The options are not parsed yet, and -q in front of the command is.
    quiet = verbosity.get() < 0 or not {"-q", "--quiet"}.isdisjoint(arguments)
    for argument in rest:
        if argument == "--":
            yield argument
            break
        old, equals, value = argument.partition("=")
        if old not in renamed and argument[:2] in renamed and not argument.startswith("--"):
            old, equals, value = argument[:2], "=", argument[2:]  # -mVALUE
        if old not in renamed:
            yield argument
            continue
        new, _, before = renamed[old].partition(" ")
        if not quiet:
            print_stderr(f"notice: {old} is called {new} {before}".rstrip() + " now")
        if equals:
            yield f"{new}={before}{value}"
        else:
            yield new
            if before:
                yield from (before + value for value in (next(rest, None),) if value is not None)
    yield from rest


# ---- The command line: thin shells over the library, each in a module of its own.

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


# Commands whose module has another name.
MODULES = {"board": "leaderboard", "refs": "references"}


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports one only to run it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(
            f"errata.cli.{MODULES.get(cmd_name, cmd_name)}"
        ).command
        return _with_loudness(command)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            # click would exit with 1, which means that a check did not hold.
            raise OutputClosed from error

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        ctx.meta["errata.arguments"] = tuple(args)  # for what says how it was made
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            ctx.fail(
                f"No such command {args[0][:60]!r}. {suggest_name(args[0], COMMANDS)}".rstrip()
            )
        name, command, rest = super().resolve_command(ctx, args)
        return name, command, expand_refs(with_new_names(name or "", rest), command)

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
