"""What is found batch by batch, said once: in the words for the whole file, in bounded memory."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable

from errata.errors import DataWarning
from errata.io.checks.findings import Finding, refused, summarise

__all__ = ["Noted"]

# As many as a summary may name: the first, five more, and whether there are others.
KEPT = 7


class Noted:
    """Findings of one reading, collected until its end.

    An error is raised where it is met. A finding about a line is kept if it is among the first of
    its kind in its file. One about a text as a whole (it looks untokenised, say) was made of a
    batch, and is said if it holds for batches with more than half of the sentences.
    """

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], list[Finding]] = {}
        self._counts: Counter[tuple[str, str]] = Counter()
        self._whole: dict[tuple[str, str], Finding] = {}
        self._holds: Counter[tuple[str, str]] = Counter()
        self._sentences: Counter[str] = Counter()
        self._batch: dict[str, int] = {}
        self._sums: dict[str, tuple[int, Callable[[int], str]]] = {}

    def note(
        self, path: str, before: int, sentences: int, findings: Iterable[Finding], guard: bool
    ) -> None:
        """Take in findings of a batch: so many sentences of a file, after ``before`` of them."""
        if self._batch.get(path) != before:
            self._batch[path] = before
            self._sentences[path] += sentences
        for finding in refused(findings, guard=guard):
            key = finding.code, finding.path
            if finding.severity != "warning":
                continue
            if finding.line is None:
                self._whole.setdefault(key, finding)
                self._holds[key] += sentences
                continue
            self._counts[key] += 1
            kept = self._kept.setdefault(key, [])
            if len(kept) < KEPT:
                kept.append(finding)

    def add(self, what: str, number: int, said: Callable[[int], str]) -> None:
        """Add to a number that is said at the end, unless it is 0."""
        self._sums[what] = (self._sums.get(what, (0, said))[0] + number, said)

    def tell(self) -> None:
        """Warn of what was collected."""
        first = [finding for kept in self._kept.values() for finding in kept]
        for finding in summarise(first, counts=self._counts):
            warnings.warn(str(finding), DataWarning, stacklevel=3)
        for key, finding in self._whole.items():
            if 2 * self._holds[key] > self._sentences[key[1]]:
                warnings.warn(str(finding), DataWarning, stacklevel=3)
        for number, said in self._sums.values():
            if number:
                warnings.warn(said(number), DataWarning, stacklevel=3)
