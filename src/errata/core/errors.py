"""What Errata raises and warns with: every message names the place, the value and the remedy."""

from __future__ import annotations

import re
import warnings
from importlib import import_module
from typing import Any

# What steers a terminal, ends a line or turns the order of what follows: control characters
# (C0, DEL, C1), line and paragraph separators, bidirectional embeddings, overrides and isolates,
# and surrogates (bytes of a name that is not UTF-8).
CONTROLS = "\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff"
# What a spreadsheet takes for the start of a formula; --safe-cells puts ' before it.
FORMULAS = tuple("=+-@\uff1d\uff0b\uff0d\uff20")  # the last four are full-width
_CONTROL = re.compile(f"[{CONTROLS}]")
_NAMED = {"\t": r"\t", "\n": r"\n", "\r": r"\r"}
# The level of what the library journals for all to see (between INFO and WARNING), as the costs of
# what it is about to do; the command line shows it as a note.
NOTICE = 25
# The name on the package index, where "errata" is another project.
DISTRIBUTION = "errata-gec"
MOST_SAID, LONGEST_WORD = 1000, 200  # characters of a message, and of a value in it
_LONG_WORD = re.compile(rf"\S{{{LONGEST_WORD},}}")


class ErrataError(Exception):
    """Anything Errata refuses to do; the command line prints it in one line and exits with 2."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what pickle needs to rebuild the error in another process."""
        return _rebuild_error, (type(self), self.args, dict(vars(self)))


def _rebuild_error(
    kind: type[ErrataError], arguments: tuple[Any, ...], known: dict[str, Any]
) -> Any:
    error = kind.__new__(kind)
    error.args = arguments
    vars(error).update(known)
    return error


class InputError(ErrataError):
    """Bad input, with where it stands and what mends it.

    >>> str(InputError("edit 3-9 is outside the sentence of 5 tokens", path="gold.m2", line=12,
    ...                remedy="check the offsets"))
    'gold.m2:12: edit 3-9 is outside the sentence of 5 tokens; check the offsets'
    """

    def __init__(
        self,
        problem: str,
        *,
        path: str | None = None,
        line: int | None = None,
        remedy: str | None = None,
    ) -> None:
        self.problem, self.path, self.line, self.remedy = problem, path, line, remedy
        super().__init__(locate(problem, path, line, remedy))


def install_extra(extra: str) -> str:
    """Return the command that installs an optional extra, such as ``web``."""
    return f"pip install '{DISTRIBUTION}[{extra}]'"


class MissingExtraError(ErrataError):
    """An optional dependency is not installed; the message gives the command that installs it."""

    def __init__(self, what: str, command: str) -> None:
        self.what, self.command = what, command
        super().__init__(escape_controls(f"{what} is not installed; run: {command}"))


def import_extra(module: str, extra: str, what: str = "") -> Any:
    """Import an optional dependency, or say which extra installs ``what`` it is."""
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtraError(what or module, install_extra(extra)) from None


class PluginError(ErrataError):
    """A metric or ranker that is none of ours failed; the command line exits with 70."""

    def __init__(self, problem: str, remedy: str | None = None) -> None:
        super().__init__(locate(problem, remedy=remedy))


class DataWarning(UserWarning):
    """Input that can be scored but probably should be looked at first."""


def warn_of_data(message: str, *, stacklevel: int = 3) -> None:
    """Give a `DataWarning`, as `warnings.warn` does, for the caller of the caller."""
    warnings.warn(message, DataWarning, stacklevel=stacklevel + 1)


def escape_controls(text: str) -> str:
    r"""A text with its control characters written out, so that data cannot steer a terminal.

    >>> print(escape_controls("A\x1b[2J\nB \u202e"), escape_controls("caf\udce9.txt"))
    A\x1b[2J\nB \u202e caf\xe9.txt
    """
    if text.isprintable():
        return text
    return _CONTROL.sub(lambda found: _escape_character(found[0]), text)


def _escape_character(character: str) -> str:
    number = ord(character)
    if 0xDC80 <= number <= 0xDCFF:  # a byte that was not UTF-8, as Python keeps it
        number -= 0xDC00
    return _NAMED.get(character) or (rf"\x{number:02x}" if number < 256 else rf"\u{number:04x}")


def shorten(text: str) -> str:
    """Return a message with overlong values, or an overlong whole, cut in the middle.

    >>> shorten(f"the rank {'9' * 5000} is too large")
    'the rank 9999999999…99999 is too large'
    """
    text = _LONG_WORD.sub(lambda found: f"{found[0][:10]}…{found[0][-5:]}", text)
    half = MOST_SAID // 2
    return text if len(text) <= MOST_SAID else f"{text[:half]}…{text[-half:]}"


def locate(
    problem: str, path: str | None = None, line: int | None = None, remedy: str | None = None
) -> str:
    """Put a problem, its place and its remedy into one line that can be read anywhere."""
    said = shorten(problem) + (f"; {shorten(remedy)}" if remedy else "")
    place = "" if path is None else f"{path}: " if line is None else f"{path}:{line}: "
    return escape_controls(place + said)
