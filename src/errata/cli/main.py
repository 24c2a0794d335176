"""Run the command line: lazy commands, exit codes, streams."""

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
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from importlib import import_module
from itertools import pairwise, takewhile
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

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
    0: "success",
    1: "a check failed (compare, reproduce, verify, leaderboard, data check)",
    2: "invalid input or command line",
    70: "a fault in Errata or a plug-in; the message says how to report it",
    130: "interrupted (Ctrl-C)",
    141: "output pipe closed",
}
FAULT, INTERRUPTED, UNREAD = 70, 130, 141
ISSUES = "https://github.com/errata-gec/errata/issues"
# NumPy warnings about numbers outside the range of floating point.
_NUMERIC = re.compile(r"encountered in|empty slice|[Dd]egrees of freedom|divide by zero")

# -1 is quiet, 1 verbose.
verbosity: ContextVar[int] = ContextVar("verbosity", default=0)
show_traceback: ContextVar[bool] = ContextVar("show_traceback", default=False)


class OutputClosed(Exception):
    """The reader of our output went away."""


def set_verbosity(_: click.Context, __: click.Parameter, value: int | None) -> None:
    """Apply ``-q`` or ``-v``; the last one counts."""
    if value is None:
        return
    verbosity.set(value)
    if value < 0:
        _log_to(logging.NOTSET, [])
    else:
        handler = logging.StreamHandler(_SafeStderr())
        handler.setFormatter(logging.Formatter("errata: %(message)s"))
        _log_to(logging.INFO, [handler])


def _log_to(level: int, handlers: list[logging.Handler]) -> None:
    """Send the log messages of the library to these handlers only."""
    logger = logging.getLogger("errata")
    logger.handlers = handlers
    logger.setLevel(level)
    logger.propagate = not handlers


class _NoteHandler(logging.Handler):
    """Print notices of the library, such as the cost of a run, as notes."""

    def emit(self, record: logging.LogRecord) -> None:
        note(record.getMessage())


class _SafeStderr:
    """Standard error with control characters escaped."""

    def write(self, text: str) -> None:
        print_stderr(escape_controls(text.rstrip("\n")))


def run_command_line(command: click.Command, arguments: list[str] | None) -> int:
    """Run a command line and return its exit code; every failure is printed as one line."""
    _prepare_streams()
    warnings.simplefilter("always", DataWarning)
    warnings.showwarning = _warner()
    show_traceback.set(bool(os.environ.get("ERRATA_TRACEBACK")))
    verbosity.set(0)
    _log_to(NOTICE, [_NoteHandler()])
    began = time.monotonic()
    try:
        result = command.main(arguments, prog_name="errata", standalone_mode=False)
        sys.stdout.flush()
        _note_uncompiled_kernels()
        return result if isinstance(result, int) else 0
    except SystemExit as stop:
        _note_uncompiled_kernels()
        return stop.code if isinstance(stop.code, int) else 0
    except BaseException as error:
        if show_traceback.get():
            print_stderr("\n".join(map(escape_controls, traceback.format_exc().splitlines())))
        return _report_failure(error)
    finally:
        if verbosity.get() > 0:
            _print_error(f"{_versions()}; {time.monotonic() - began:.1f} s")
        _log_to(logging.NOTSET, [])


def _note_uncompiled_kernels() -> None:
    """Print a note if the kernels ran as plain Python."""
    kernels = [
        module
        for name, module in sys.modules.items()
        if name.startswith("errata.kernels.") and not name.endswith("._doors")
    ]
    if any((getattr(module, "__file__", "") or "").endswith(".py") for module in kernels):
        note("the kernels run uncompiled, slowly; with a C compiler, pip install builds them")


def _report_failure(error: BaseException) -> int:
    """Print an error and return the exit code."""
    match error:
        case BrokenPipeError() | OutputClosed():
            _redirect_to_null("stdout")
            return UNREAD
        case click.Abort() | KeyboardInterrupt():
            _print_error("interrupted")
            return INTERRUPTED
        case click.ClickException():
            # Print a usage error as click does, with control characters escaped.
            context = getattr(error, "ctx", None)
            if context is not None:
                print_stderr(context.get_usage())
                names = context.help_option_names
                if names:
                    print_stderr(f"Try '{context.command_path} {names[-1]}' for help.\n")
            print_stderr(f"Error: {escape_controls(shorten(error.format_message()))}")
            return error.exit_code
        case PluginError():
            _print_error(str(error))
            return FAULT
        case ErrataError():
            _print_error(str(error))
        case OSError():
            name = error.filename  # a number in some libraries
            place = os.fsdecode(name) if isinstance(name, str | bytes) else "output"
            _print_error(f"{place}: {error.strerror or str(error) or type(error).__name__}")
            _redirect_to_null("stdout")
        case MemoryError():
            _print_error(
                f"out of memory: {error or 'none is left'}; use fewer systems, sentences or "
                "resamples, shorter lines or smaller parameters"
            )
        case _:
            _print_error(_describe_fault(error))
            return FAULT
    return 2


def _versions() -> str:
    """Return the versions of Errata, Python and the numeric libraries."""
    import platform
    from importlib.metadata import version

    parts = (f"errata {__version__}", f"Python {platform.python_version()}")
    return ", ".join((*parts, f"NumPy {version('numpy')}", f"SciPy {version('scipy')}"))


def print_stderr(text: str) -> None:
    """Print on standard error; ignore a closed stream."""
    if sys.stderr is None:  # it was closed when Python started; older versions of click fail
        return
    try:
        click.echo(text, err=True)
    except OSError:
        _redirect_to_null("stderr")


def note(message: str) -> None:
    """Print a note on standard error, unless -q was given."""
    if verbosity.get() >= 0:
        print_stderr(f"note: {escape_controls(shorten(message))}")


def _print_error(message: str) -> None:
    print_stderr(f"errata: {escape_controls(shorten(message))}")


def _describe_fault(error: BaseException) -> str:
    """Describe an unexpected exception: what, where, whose code, and where to report it."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    what = f"{type(error).__name__}: {str(error).strip() or 'no message'}"
    for frame in reversed(frames):
        if owner := _find_plugin(frame):
            where = _frame_place(frame)
            return f"{owner} failed ({where}): {what}; tell its author, or leave it out"
    own = [frame for frame in frames if _frame_module(frame).startswith("errata.")]
    where = f" ({_frame_place(own[-1])})" if own else ""
    return (
        f"this is a fault of Errata{where}: {what}; please report it at {ISSUES} with what "
        "ERRATA_TRACEBACK=1 shows"
    )


def _find_plugin(frame: FrameType) -> str:
    """Return the plug-in whose code a frame runs, or an empty string."""
    from errata.core.parameters import Parameterised

    owner = frame.f_locals.get("self")
    if isinstance(owner, Parameterised) and not type(owner).__module__.startswith("errata."):
        return f"{owner.name} of {type(owner).__module__}"
    path = os.path.realpath(frame.f_code.co_filename)
    libraries = {sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")}
    at_home = [str(Path(__file__).resolve().parents[1]), *map(os.path.realpath, libraries)]
    if any(path.startswith(home + os.sep) for home in at_home) or not os.path.exists(path):
        return ""
    name = _frame_module(frame)
    return f"the plug-in {name}" if name not in ("__main__", "errata.__main__") else ""


def _frame_module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))


def _frame_place(frame: FrameType) -> str:
    return f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"


def _warner() -> Callable[..., None]:
    """Return a ``warnings.showwarning`` that prints one line, numeric warnings only once."""
    printed: set[str] = set()

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        text = escape_controls(shorten(str(message)))
        if issubclass(category, RuntimeWarning) and _NUMERIC.search(text):
            text = (
                f"some numbers are too large, too small or too few to compute with ({text}); "
                "check the parameters and the input before you use the results"
            )
        ours = issubclass(category, DataWarning)
        if verbosity.get() < 0 or (not ours and text in printed):
            return
        printed.add(text)
        print_stderr(f"warning: {text}")

    return show


class _ClosedStream(io.RawIOBase):
    """A standard stream that was closed before the start."""

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def readinto(self, _: Any) -> NoReturn:
        raise OSError(errno.EBADF, "it is closed")

    def write(self, _: Any) -> NoReturn:
        raise OSError(errno.EBADF, "standard output is closed")


def _prepare_streams() -> None:
    """Let every text be printed, whatever the encoding of the terminal."""
    if sys.stdin is None:
        sys.stdin = io.TextIOWrapper(io.BufferedReader(_ClosedStream()), "utf-8")
    if sys.stdout is None:
        sys.stdout = io.TextIOWrapper(_ClosedStream(), "utf-8", write_through=True)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _redirect_to_null(name: str) -> None:
    """Redirect a broken standard stream to the null device, so that Python exits quietly."""
    try:
        getattr(sys, name).flush()
    except (OSError, ValueError):
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), getattr(sys, name).fileno())
        except (OSError, ValueError):
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115


COMMANDS_BY_JOB = {
    "Score systems": {
        "score": "Score systems with M2, I-measure, GLEU, BLEU and more.",
        "compare": "Show what changed between an old system and a new one.",
        "report": "Build a one-page HTML report on the systems.",
        "leaderboard": "Build a leaderboard from a folder of submissions.",
        "scale": "Score any number of sentences and systems on many machines.",
        "verify": "Recompute a pasted score: 'SIGNATURE = VALUE'.",
    },
    "Look into results": {
        "align": "Show what a metric compared in a sentence.",
        "difficulty": "Show which errors are hard and which systems correct them.",
        "corpora": "Compare corpora, and the ranks of systems on them.",
        "references": "Compare reference sets with each other.",
        "logs": "Count the edits of a deployed system, without references.",
    },
    "Ask people": {
        "collect": "Collect judgments from people in their browsers.",
        "rank": "Rank systems from human judgments.",
        "agree": "Measure how well judges agree.",
        "plan": "Plan how many more judgments are needed.",
        "rankers": "List the rankers, or the parameters of one.",
    },
    "Evaluate metrics": {
        "meta": "Measure how well metrics agree with people.",
        "benchmark": "Evaluate every metric on all judged data sets.",
        "reproduce": "Recompute the published tables of the field.",
        "stress": "Show how a metric reacts to damaged output.",
        "judge": "Let a language model judge outputs.",
        "train": "Train a learned metric on ratings or corrections.",
        "metrics": "List the metrics, or the parameters of one.",
    },
    "Prepare data": {
        "check": "Look for mistakes in gold files and outputs.",
        "convert": "Convert between M2 and parallel text.",
        "tokenise": "Split texts into tokens, for any language.",
        "data": "List, download and locate public data sets.",
        "cache": "Show or clear the cache.",
    },
}
COMMANDS = {name: line for job in COMMANDS_BY_JOB.values() for name, line in job.items()}


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports one only to run it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        return _add_verbosity(import_module(f"errata.cli.{cmd_name}").command)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            # click would exit with 1, which means that a check failed.
            raise OutputClosed from error

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        ctx.meta["errata.arguments"] = tuple(args)  # shown in reports
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            ctx.fail(
                f"No such command {args[0][:60]!r}. {suggest_name(args[0], COMMANDS)}".rstrip()
            )
        warn_about_unquoted_pattern(args)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for job, commands in COMMANDS_BY_JOB.items():
            with formatter.section(job):
                formatter.write_dl(list(commands.items()), col_max=13)


def warn_about_unquoted_pattern(arguments: Sequence[str]) -> None:
    """Warn about files after ``--refs FILE`` in its folder if other inputs are elsewhere.

    A shell turns ``--refs refs/*`` into one reference and several files that would be scored as
    systems. Where all inputs share a folder, ``--refs ref.txt out.txt`` is normal.
    """
    words = [
        part
        for word in arguments
        for part in (word.split("=", 1) if word.startswith("--refs=") else (word,))
    ]
    references: list[str] = []
    suspects: list[str] = []
    for at, (option, value) in enumerate(pairwise(words)):
        if option == "--refs":
            references.append(value)
            following = takewhile(lambda word: not word.startswith("-"), words[at + 2 :])
            suspects += [
                word
                for word in following
                if "=" not in word
                and os.path.isfile(word)
                and _absolute_folder(word) == _absolute_folder(value)
            ]
    others = {word.rpartition("=")[2] for word in words} - {*references, *suspects}
    folders = {_absolute_folder(path) for path in others if os.path.exists(path)}
    if suspects and folders - {_absolute_folder(word) for word in suspects}:
        warnings.warn(
            f"{', '.join(suspects)}: scored as {'a system' if len(suspects) == 1 else 'systems'}, "
            "though right after --refs and in its folder; for several references put the pattern "
            "in quotes (--refs 'refs/*') or repeat --refs, for an output write NAME=FILE",
            DataWarning,
            stacklevel=2,
        )


def _absolute_folder(path: str) -> str:
    return os.path.abspath(path if os.path.isdir(path) else os.path.dirname(path))


# Options that every command has.
VERBOSITY = [
    click.Option(
        [short, long],
        flag_value=value,
        type=int,
        expose_value=False,
        callback=set_verbosity,
        help=help,
    )
    for short, long, value, help in (
        ("-q", "--quiet", -1, "Print no warnings and no progress."),
        ("-v", "--verbose", 1, "Print which files are read and written, and how long it took."),
    )
]


def _add_verbosity(command: click.Command) -> click.Command:
    """Add ``-q`` and ``-v`` to a command and its subcommands."""
    if isinstance(command, click.Group):
        for inner in command.commands.values():
            _add_verbosity(inner)
    if VERBOSITY[0] not in command.params:
        command.params += VERBOSITY
    return command


EPILOG = "\b\nExit codes:\n" + "\n".join(
    f"  {code:>3}  {meaning}" for code, meaning in EXIT_CODES.items()
)


FIRST = """\
errata score --sample                       try it on a small sample
errata score --gold gold.m2 out/*.txt       score your systems
errata report --gold gold.m2 out/*.txt      build a page with everything (report.html)

errata --help lists all commands."""


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
    help="Print a Python traceback on failure (same as ERRATA_TRACEBACK=1).",
)
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Evaluate grammatical error correction systems.

    Start with:  errata score --sample
    """
    if ctx.invoked_subcommand is None:
        click.echo(FIRST)


cli.params += VERBOSITY


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit."""
    # NumPy's products are small here: threads that wait for each other take more than they give.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.exit(run_command_line(cli, arguments))
