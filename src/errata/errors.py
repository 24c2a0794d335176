"""What Errata raises and warns with: every message names the place, the value and the remedy."""

from __future__ import annotations

__all__ = ["DataWarning", "ErrataError", "InputError", "MissingExtraError"]


class ErrataError(Exception):
    """Anything Errata refuses to do; the command line prints it in one line and exits with 2."""


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


class MissingExtraError(ErrataError):
    """An optional dependency is not installed; the message gives the command that installs it."""

    def __init__(self, what: str, command: str) -> None:
        self.what, self.command = what, command
        super().__init__(f"{what} is not installed; run: {command}")


class DataWarning(UserWarning):
    """Input that can be scored but probably should be looked at first."""


def locate(
    problem: str, path: str | None = None, line: int | None = None, remedy: str | None = None
) -> str:
    """Put a problem, its place and its remedy into one line."""
    place = "" if path is None else f"{path}: " if line is None else f"{path}:{line}: "
    return f"{place}{problem}" + (f"; {remedy}" if remedy else "")
