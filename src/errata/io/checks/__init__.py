"""Finding with a stable code; raise, warn or collect."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from errata.core.errors import InputError, locate, warn_of_data

Severity = Literal["error", "warning", "note"]
# What looks wrong as a whole and can be scored nevertheless, if it is meant.
OVERRULED = ("unrelated", "shifted", "container")
OVERRIDE_HINT = "; if it is meant, --no-guard (in Python, guard=False) skips this check"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing found in a file, where it stands (1-based line) and what mends it.

    An ``error`` cannot be scored, a ``warning`` can but probably should not be, a ``note`` is
    worth knowing. ``code`` names the kind of finding; `docs/checks.md` lists all of them.

    >>> str(Finding("warning", "out.txt", 24, "the line is empty", "check it", "empty-line"))
    'out.txt:24: the line is empty; check it'
    """

    severity: Severity
    path: str
    line: int | None
    problem: str
    remedy: str
    code: str

    def __str__(self) -> str:
        return locate(self.problem, self.path, self.line, self.remedy)

    @property
    def place(self) -> str:
        """File and line, as editors and terminals understand them."""
        return self.path if self.line is None else f"{self.path}:{self.line}"


def sort_by_severity(findings: Iterable[Finding]) -> list[Finding]:
    """Return errors, then warnings, then notes; findings of one severity keep their order."""
    return sorted(findings, key=lambda finding: get_args(Severity).index(finding.severity))


def join_similar_findings(
    findings: Iterable[Finding], shown: int = 3, counts: Mapping[tuple[str, str], int] | None = None
) -> list[Finding]:
    """Join findings of one kind in one file when there are more than ``shown``.

    ``counts`` are the numbers by code and path, where only the first findings are given.
    """
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.code, finding.path), []).append(finding)
    result: list[Finding] = []
    for key, group in groups.items():
        number = len(group) if counts is None else counts[key]
        if number <= shown:
            result += group
            continue
        first = group[0]
        places = [str(f.line) for f in group[1:6] if f.line is not None]
        lines = ", ".join(places) + (", ..." if number > 6 else "")
        where = f": lines {lines})" if places else ")"
        problem = f"{first.problem} (and {number - 1} more like it{where}"
        result.append(replace(first, problem=problem))
    return result


def raise_first_error(findings: Iterable[Finding], *, guard: bool = True) -> list[Finding]:
    """Raise the first error; otherwise return the findings to report.

    With ``guard=False`` text that only looks wrong (unrelated, shifted) is no error but a warning.
    """
    findings = [
        replace(finding, severity="warning", remedy=finding.remedy.removesuffix(OVERRIDE_HINT))
        if finding.code in OVERRULED and not guard
        else finding
        for finding in findings
    ]
    for finding in findings:
        if finding.severity == "error":
            remedy = finding.remedy
            raise InputError(finding.problem, path=finding.path, line=finding.line, remedy=remedy)
    return findings


def raise_or_warn(findings: Iterable[Finding], *, guard: bool = True, stacklevel: int = 3) -> None:
    """Raise the first error (see `raise_first_error`), or warn about every warning."""
    for finding in join_similar_findings(raise_first_error(findings, guard=guard)):
        if finding.severity == "warning":
            warn_of_data(str(finding), stacklevel=stacklevel)


def warn_unless_zero(what: str, number: int, message: Callable[[int], str]) -> None:
    """Warn of a number, unless it is 0; readers of parts add them up by ``what`` first."""
    if number:
        warn_of_data(message(number), stacklevel=4)


@dataclass
class FindingSink:
    """Raises errors and warns about warnings, or collects all findings for ``errata check``."""

    collect: bool = False
    guard: bool = True
    findings: list[Finding] = field(default_factory=list)

    def add(self, findings: Iterable[Finding]) -> None:
        """Take findings of one file."""
        if self.collect:
            self.findings += findings
        else:
            raise_or_warn(findings, guard=self.guard, stacklevel=6)

    @contextmanager
    def collecting_errors(self, path: str) -> Iterator[None]:
        """Collect the error of a file that cannot be read, which else is raised."""
        try:
            yield
        except InputError as error:
            if not self.collect:
                raise
            remedy = error.remedy or ""
            place = error.path or path
            found = Finding("error", place, error.line, error.problem, remedy, "unreadable")
            self.findings.append(found)
