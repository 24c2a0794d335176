"""The alignment guard: do this corpus and this output belong together, line by line?

Lines are compared as characters (the share of characters that stay when one is edited into the
other, 0 to 1): unrelated English sentences reach about 0.4 and seldom 0.5, a line and its
correction seldom less than 0.8. What looks wrong alone is compared with the sources around it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from errata.data import Corpus, Hypotheses
from errata.io.checks.characters import check_characters
from errata.io.checks.conventions import (
    LineShapes,
    check_conventions,
    lines_beside,
    shapes_of,
    source_shapes,
)
from errata.io.checks.findings import GO_ON, Finding, Severity, raise_or_warn, worst_first
from errata.io.checks.likeness import likeness_of, same_words
from errata.io.checks.roles import check_sameness, check_worse
from errata.kernels import letters
from errata.numbers import Bools, plural
from errata.spelling import all_alike

__all__ = [
    "check_alignment",
    "check_lines",
    "check_once",
    "look_no_more",
    "settle_once",
    "unlike_lines",
    "was_looked_at",
]

# A line is out of place if a source at most WINDOW lines away is ALIKE, and by MARGIN more so than
# its own. The 12 sound CoNLL-2014 outputs and 8 sets of human rewrites of the same text (Sakaguchi
# et al. 2016) have no such line; NTHU, which is shifted, has 6.
ALIKE, MARGIN, WINDOW = 0.8, 0.2, 10
# Lines too short to say anything about where they belong.
SHORTEST = 15
# Fewer lines are too few to call a whole file unrelated.
FEWEST = 10
# Findings about a line that are none about where it belongs.
BY_THEMSELVES = ("empty-line", "broken-encoding", "invisible-character", "unusual-space")


def check_alignment(
    corpus: Corpus,
    hypotheses: Hypotheses,
    *,
    path: str | None = None,
    before: int = 0,
    threads: int = 1,
) -> list[Finding]:
    """Everything suspicious about one system's output, errors first; line numbers are 1-based.

    ``path`` is what findings call the file (default: the system's name), ``before`` how many of
    its lines stand before these, where they are a part. The codes are explained in
    `docs/checks.md`.

    >>> corpus = Corpus.from_texts(["He go home .", "I likes it ."])
    >>> for finding in check_alignment(corpus, Hypotheses("ours", ("He goes home .",))):
    ...     print(finding.severity, finding)
    error ours:2: 1 line, but the corpus has 2 sentences; 1 is missing at the end
    """
    path = path or hypotheses.system
    findings = check_lines(
        corpus.spelled_sources,
        hypotheses.spelled,
        path,
        before=before,
        look=source_shapes(corpus),
        threads=threads,
    )
    if len(corpus) == len(hypotheses):
        findings += check_sameness(corpus, hypotheses, path) or check_worse(
            corpus, hypotheses, path
        )
    return worst_first(findings)


def check_once(corpus: Corpus, hypotheses: Hypotheses, *, path: str | None = None) -> None:
    """Raise or warn of an output that does not fit, unless it was looked at before.

    Of what `check_alignment` finds this leaves out what is odd about single lines by themselves.
    """
    settle_once(corpus, hypotheses, unlike_lines(corpus, hypotheses, path=path))


def unlike_lines(
    corpus: Corpus, hypotheses: Hypotheses, *, path: str | None = None, threads: int = 1
) -> list[Finding]:
    """What `check_once` speaks of, unsaid yet; nothing of an output that was looked at before."""
    if was_looked_at(corpus, hypotheses):
        return []
    found = check_alignment(corpus, hypotheses, path=path, threads=threads)
    return [finding for finding in found if finding.code not in BY_THEMSELVES]


def settle_once(corpus: Corpus, hypotheses: Hypotheses, found: Sequence[Finding]) -> None:
    """Raise or warn of what `unlike_lines` found; not again of the same output."""
    if not was_looked_at(corpus, hypotheses):
        raise_or_warn(found, stacklevel=5)
        look_no_more(corpus, hypotheses)  # what was refused is so the next time too


def was_looked_at(corpus: Corpus, hypotheses: Hypotheses) -> bool:
    """Whether an output that says the same was compared with a corpus already."""
    return any(all_alike(seen, hypotheses.spelled) for seen in _looked_at(corpus))


def look_no_more(corpus: Corpus, *systems: Hypotheses) -> None:
    """Keep with a corpus that these outputs were compared with it."""
    for system in systems:
        if not was_looked_at(corpus, system):  # each of them keeps its text
            _looked_at(corpus).append(system.spelled)


def _looked_at(corpus: Corpus) -> list[Sequence[str]]:
    # Two outputs nearly always differ in one of the first lines: soon seen, where to find them in a
    # set would read every byte.
    return corpus.derived("outputs looked at", list)


def check_lines(
    sources: Sequence[str],
    lines: Sequence[str],
    path: str,
    *,
    reference: bool = False,
    before: int = 0,
    look: LineShapes | None = None,
    threads: int = 1,
) -> list[Finding]:
    """The same for any text that should run parallel to the sources.

    In a reference an empty line is only a note: an annotator may delete a whole sentence.
    ``look`` is how the sources look, where that is known.
    """
    if len(sources) != len(lines):
        return [_count_finding(sources, lines, path)]
    look = shapes_of(sources) if look is None else look
    beside = lines_beside(sources, lines, look)
    likeness, shown = np.ones(len(lines)), beside.shown
    likeness[beside.changed] = likeness_of(beside.theirs, beside.ours, threads=threads)
    filled = _filled(lines, shown)
    displaced = _displaced(sources, lines, likeness)
    findings = _check_unrelated(sources, lines, filled, likeness, displaced, path) or _check_shifts(
        sources, lines, likeness, displaced, path, before
    )
    findings += _check_empty(sources, filled, path, reference)
    if reference and len(sources) >= FEWEST and same_words(sources, lines):
        findings.append(
            Finding(
                "warning",
                path,
                None,
                "every line equals its source: a reference that corrects nothing",
                "is this the right file?",
                "reference-is-source",
            )
        )
    findings += check_conventions(sources, lines, path, look=look, beside=beside)
    findings += check_characters(lines, path, beside=sources, shown=shown)
    if not before:
        return findings
    return [f if f.line is None else replace(f, line=f.line + before) for f in findings]


def _filled(lines: Sequence[str], shown: NDArray[np.uint8]) -> Bools:
    """Which lines have more than white space; what lies beyond ASCII is Python's to know."""
    filled: Bools = (shown & letters.FILLED) != 0
    for i in np.flatnonzero(shown & letters.BEYOND).tolist():
        filled[i] = not lines[i].isspace()
    return filled


def _check_unrelated(
    sources: Sequence[str],
    lines: Sequence[str],
    there: Bools,
    likeness: NDArray[np.float64],
    displaced: NDArray[np.int64],
    path: str,
) -> list[Finding]:
    """A file whose lines are no more like their own sources than like any others."""
    if np.count_nonzero(there) < FEWEST or likeness[there].mean() >= ALIKE - MARGIN:
        return []
    n, filled = len(sources), np.flatnonzero(there).tolist()
    elsewhere = [sources[(i + n // 2) % n] for i in filled]
    chance = likeness_of(elsewhere, [lines[i] for i in filled])
    # Twice the standard error of the mean difference: what chance alone easily gives.
    difference = likeness[filled] - chance
    margin = 2 * difference.std() / np.sqrt(len(filled))
    if difference.mean() > max(margin, 0.05):
        return []
    if 2 * np.count_nonzero(displaced) > len(filled):
        return []
    return [
        Finding(
            "error",
            path,
            None,
            f"the lines resemble their own sources ({likeness.mean():.2f}) no "
            f"more than sources elsewhere ({chance.mean():.2f})",
            "this is the output for another text, or its lines are in another order" + GO_ON,
            "unrelated",
        )
    ]


def _displaced(
    sources: Sequence[str], lines: Sequence[str], likeness: NDArray[np.float64]
) -> NDArray[np.int64]:
    """For each line how many lines further its source stands; 0 where it is in its place."""
    n = len(sources)
    shifts = np.zeros(len(lines), np.int64)
    suspects = [
        i for i in np.flatnonzero(likeness <= 1 - MARGIN).tolist() if len(lines[i]) >= SHORTEST
    ]
    best = np.maximum(likeness + MARGIN, ALIKE)
    # Nearest first, and only strictly better replaces: a repeated source takes its nearest place.
    for shift in sorted((d for d in range(-WINDOW, WINDOW + 1) if d), key=abs):
        here = [i for i in suspects if 0 <= i + shift < n]
        found = likeness_of([sources[i + shift] for i in here], [lines[i] for i in here])
        for i, value in zip(here, found.tolist(), strict=True):
            if value > best[i] or (value == best[i] and not shifts[i]):
                best[i], shifts[i] = value, shift
    return shifts


def _check_shifts(
    sources: Sequence[str],
    lines: Sequence[str],
    likeness: NDArray[np.float64],
    displaced: NDArray[np.int64],
    path: str,
    before: int,
) -> list[Finding]:
    """Lines that belong to a source some lines away, joined into runs of one shift."""
    findings = []
    wrong = np.count_nonzero(displaced)
    severity: Severity = "error" if wrong >= FEWEST and 2 * wrong > len(lines) else "warning"
    for shift in np.unique(displaced[displaced != 0]).tolist():
        runs = _runs(np.flatnonzero(displaced == shift).tolist(), shift, sources, lines, likeness)
        for first, last, hits in runs:
            findings.append(_shift_finding(first, last, shift, hits, path, severity, before))
    return sorted(findings, key=lambda f: f.line or 0)


def _runs(
    hits: list[int],
    shift: int,
    sources: Sequence[str],
    lines: Sequence[str],
    likeness: NDArray[np.float64],
) -> list[tuple[int, int, int]]:
    """Join hits with what lies between, and with neighbours, if they fit the shift as well."""

    def fits(i: int) -> bool:
        return 0 <= i + shift < len(sources) and bool(
            likeness_of([sources[i + shift]], [lines[i]])[0] >= likeness[i]
        )

    def better(i: int) -> bool:
        return (
            0 <= i < len(lines)
            and 0 <= i + shift < len(sources)
            and bool(likeness_of([sources[i + shift]], [lines[i]])[0] >= max(ALIKE, likeness[i]))
        )

    runs: list[list[int]] = []
    for i in hits:
        if runs and (i - runs[-1][1] <= 2 or all(map(fits, range(runs[-1][1] + 1, i)))):
            runs[-1][1] = i
            runs[-1][2] += 1
        else:
            runs.append([i, i, 1])
    for run in runs:
        while run[0] < run[1] and better(run[0] - 1):
            run[0], run[2] = run[0] - 1, run[2] + 1
        while run[0] < run[1] and better(run[1] + 1):
            run[1], run[2] = run[1] + 1, run[2] + 1
    return [(first, last, count) for first, last, count in runs]


def _shift_finding(
    first: int, last: int, shift: int, hits: int, path: str, severity: Severity, before: int
) -> Finding:
    a = _span(first + before, last + before)
    b = _span(first + before + shift, last + before + shift)
    lines = plural("line", abs(shift))
    away = f"{abs(shift)} {lines} {'later' if shift < 0 else 'earlier'}"
    if first == last:
        problem = f"output line {a} looks like source line {b}"
    else:
        problem = (
            f"output lines {a} look like source lines {b} ({hits} of {last - first + 1} "
            f"lines): the text stands {away} than it should"
        )
    remedy = (
        "lines changed places"
        if first == last
        else f"a line was {'lost' if shift > 0 else 'added'} before them"
    )
    return Finding(
        severity,
        path,
        first + 1,
        problem,
        f"{remedy}; put the lines back"
        + (GO_ON if severity == "error" else ", or score knowing that they count as errors"),
        "shifted",
    )


def _span(first: int, last: int) -> str:
    return str(first + 1) if first == last else f"{first + 1}–{last + 1}"


def _count_finding(sources: Sequence[str], lines: Sequence[str], path: str) -> Finding:
    """Say by how much the number of lines is wrong, and guess why."""
    n, m = len(sources), len(lines)
    blank = 0
    while blank < m and not lines[m - 1 - blank].strip():
        blank += 1
    few, many = min(n, m), abs(n - m)
    if any("\r" in line for line in lines[:50]) and m < n:
        where, remedy = (
            1,
            (
                "lines end with carriage returns alone: convert them, for instance "
                r"with tr '\r' '\n'"
            ),
        )
    elif m > n and blank >= many:
        where, remedy = (
            n + 1,
            (
                "the last line is blank: remove it"
                if many == 1
                else f"the last {many} lines are blank: remove them"
            ),
        )
    elif any(line.startswith("A ") for line in lines[:50]) and lines[0][:2] == "S ":
        where, remedy = 1, "this looks like an M2 file: name it .m2"
    elif (first := _first_shift(sources, lines)) is not None:
        place, shift = first
        where, remedy = (
            place + 1,
            (
                f"from line {place + 1} on the lines look like sources {abs(shift)} "
                f"{'later' if shift > 0 else 'earlier'}: a line was "
                f"{'lost' if shift > 0 else 'added'} there"
            ),
        )
    else:
        verb = "is" if many == 1 else "are"
        where, remedy = (
            few + 1,
            (
                f"{many} {verb} missing at the end"
                if m < n
                else f"{many} {verb} too many at the end"
            ),
        )
    return Finding(
        "error",
        path,
        where,
        f"{m} {plural('line', m)}, but the corpus has {n} {plural('sentence', n)}",
        remedy,
        "line-count",
    )


def _first_shift(sources: Sequence[str], lines: Sequence[str]) -> tuple[int, int] | None:
    """Where the first run of at least two lines out of place starts, and its shift."""
    few = min(len(sources), len(lines))
    lines = lines[:few]
    displaced = _displaced(sources, lines, likeness_of(sources[:few], lines))
    for shift, group in groupby(np.flatnonzero(displaced).tolist(), lambda i: displaced[i]):
        hits = list(group)
        if len(hits) > 1 or hits[0] == few - 1:
            return hits[0], int(shift)
    return None


def _check_empty(
    sources: Sequence[str], filled: Bools, path: str, reference: bool
) -> list[Finding]:
    empty = [i + 1 for i in np.flatnonzero(~filled).tolist() if sources[i].strip()]
    if reference:
        return [
            Finding(
                "note",
                path,
                i,
                "the line is empty: a reference that deletes every word",
                "mark a missing reference in another way, see docs/formats.md",
                "empty-reference",
            )
            for i in empty
        ]
    return [
        Finding(
            "warning",
            path,
            i,
            "the line is empty, its source is not; it counts as deleting every word",
            "look whether the system failed here",
            "empty-line",
        )
        for i in empty
    ]
