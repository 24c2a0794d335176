"""How a run begins and ends: streams that can always be written to, and one line for every failure.

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
from collections.abc import Callable
from contextvars import ContextVar
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn, TextIO

import click

from errata.errors import NOTICE, DataWarning, ErrataError, PluginError, shortened, visible

__all__ = [
    "EXIT_CODES",
    "Unread",
    "loudness",
    "note",
    "run",
    "set_loudness",
    "show_traceback",
    "tell",
]

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
loudness: ContextVar[int] = ContextVar("loudness", default=0)
show_traceback: ContextVar[bool] = ContextVar("show_traceback", default=False)


class Unread(Exception):
    """The reader of our output went away."""


def set_loudness(_: click.Context, __: click.Parameter, value: int | None) -> None:
    """Be as loud as ``-q`` or ``-v`` says, the last of them."""
    if value is None:
        return
    loudness.set(value)
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
        tell(visible(text.rstrip("\n")))


def run(command: click.Command, arguments: list[str] | None) -> int:
    """Run a command line and say how it ended; whatever happens, in one line and a code."""
    _prepare_streams()
    warnings.simplefilter("always", DataWarning)
    warnings.showwarning = _warner()
    show_traceback.set(bool(os.environ.get("ERRATA_TRACEBACK")))
    loudness.set(0)
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
            tell("\n".join(map(visible, traceback.format_exc().splitlines())))
        return _failed(error)
    finally:
        if loudness.get() > 0:
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
        case BrokenPipeError() | Unread():
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


def tell(text: str) -> None:
    """Print on standard error; if nobody can read it, that changes nothing else."""
    try:
        click.echo(text, err=True)
    except OSError:
        _drop("stderr")


def note(message: str) -> None:
    """Tell the user what a result does not say of itself, unless quiet is asked for."""
    if loudness.get() >= 0:
        tell(f"note: {visible(shortened(message))}")


def _say(message: str) -> None:
    tell(f"errata: {visible(shortened(message))}")


def _show_usage(error: click.ClickException) -> None:
    """As click shows its errors, with nothing in them that steers a terminal."""
    context = getattr(error, "ctx", None)
    if context is not None:
        tell(context.get_usage())
        names = context.help_option_names
        if names:
            tell(f"Try '{context.command_path} {names[-1]}' for help.\n")
    tell(f"Error: {visible(shortened(error.format_message()))}")


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
    from errata.parameters import Parameterised

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
        text = visible(shortened(str(message)))
        if issubclass(category, RuntimeWarning) and _NUMERIC.search(text):
            text = (
                f"some numbers are too large, too small or too few to compute with ({text}); "
                "check the parameters and the input before you use the results"
            )
        ours = issubclass(category, DataWarning)
        if loudness.get() < 0 or (not ours and text in said):
            return
        said.add(text)
        tell(f"warning: {text}")

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
