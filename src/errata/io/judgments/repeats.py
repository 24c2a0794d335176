"""The same judgment twice, in one file or in several: exports overlap every day.

A judge may well rank a sentence again, but then as another item or at another time. What is the
same in every respect (judge, sentence, item, outputs, ranks, time) and has a name or a time is one
judgment written twice: it counts once, and that is said. What has neither name nor time cannot be
told from a judge who is of the same mind again; a few such are let pass with a warning, many are
refused.
"""

from __future__ import annotations

import warnings

from errata.data import Judgment
from errata.errors import DataWarning, InputError

__all__ = ["Repeats"]

REMEMBERED = 1_000_000  # judgments known, so that input of any size takes little memory
FEW, SHARE = 3, 0.05  # no more equal judgments, in number or share, are a judge of the same mind


class Repeats:
    """Remembers the judgments of one or more files; each is counted once.

    >>> repeats = Repeats()
    >>> repeats.start("a.xml")
    >>> judgment = Judgment("ann", 0, (("A",), ("B",)), (1, 2), "item 1")
    >>> repeats.counts(judgment, 3), repeats.counts(judgment, 4)
    (True, False)
    """

    def __init__(self) -> None:
        self._known: list[tuple[str, set[int]]] = []
        self._items: set[int] = set()
        self._size = 0
        self._begin("")

    def _begin(self, name: str) -> None:
        self.name = name
        self._read = self._dropped = self._alike = self._other = 0
        self._first = {"dropped": "", "alike": "", "other": ""}

    def start(self, name: str) -> None:
        """Begin with a file."""
        self._begin(name)
        self._known.append((name, set()))

    def counts(self, judgment: Judgment, line: int) -> bool:
        """Whether a judgment counts: it was not seen before, or may be another one."""
        j = judgment
        whole = hash((j.judge, j.sentence, j.item, j.groups, j.ranks, j.seconds, j.time))
        return self._counts(whole, j, j.item, 1, line)

    def run_counts(self, run: list[Judgment], item: str, line: int) -> bool:
        """Whether judgments that stand together count; ``item`` is their name in the file."""
        first = run[0]
        said = tuple((j.groups, j.ranks) for j in run)
        whole = hash((first.judge, first.sentence, item, said))
        return self._counts(whole, first, item, len(run), line)

    def _counts(self, whole: int, first: Judgment, item: str, size: int, line: int) -> bool:
        self._read += size
        where = None
        for name, known in self._known:
            if whole in known:
                where = name
        if where is not None:
            surely = bool(item) or bool(first.seconds) or first.time is not None
            kind = "dropped" if surely else "alike"
            place = "before" if where == self.name else f"in {where}"
            self._note(kind, f"{_who(first.judge, item)} stands {place}", line)
            self._dropped += size if surely else 0
            self._alike += 0 if surely else size
            return not surely
        # Of one item, several pairs may be compared; a longer ranking is all that was shown.
        pair = frozenset(first.groups) if len(first.groups) == 2 else None
        named = hash((first.judge, first.sentence, item, pair)) if item else None
        if named in self._items:
            self._note("other", _who(first.judge, item), line)
            self._other += 1
        if self._size < REMEMBERED:
            self._size += 1
            self._known[-1][1].add(whole)
            if named is not None:
                self._items.add(named)
        return True

    def _note(self, kind: str, what: str, line: int) -> None:
        self._first[kind] = self._first[kind] or f"{self.name}:{line}: {what}"

    def row_counts(self, judge: str, item: str, line: int, *, same: bool) -> bool:
        """Whether a row counts that names the systems of another row of its item."""
        if not same:
            if item:
                self._note("other", _who(judge, item), line)
                self._other += 1
            return True
        self._note("dropped" if item else "alike", f"{_who(judge, item)} stands before", line)
        self._dropped += bool(item)
        self._alike += not item
        return not item

    def finish(self) -> None:
        """Say what was found in the file; refuse it where too much of it was there before."""
        if self._alike > max(FEW, SHARE * self._read):
            raise InputError(
                f"{self._alike} of {self._read} judgments stand there twice, or in another file "
                f"too ({self._first['alike']})",
                remedy="give every judgment once; if they were made twice, name the items apart",
            )
        for count, message in (
            (self._dropped, f"{self._first['dropped']} in the same words; it counts once"),
            (
                self._alike,
                f"{self._first['alike']} in the same words, without item or time: each time "
                "counts. Remove one if it was made once, or give both the same item",
            ),
            (
                self._other,
                f"{self._first['other']} stands there twice, with other ranks; each time counts. "
                "Remove one, or name the items apart if both were judged",
            ),
        ):
            if count:
                more = f" (so do {count - 1} more)" if count > 1 else ""
                warnings.warn(message + more, DataWarning, stacklevel=4)


def _who(judge: str, item: str) -> str:
    return f"item {item[:60]!r} of {judge[:60]}" if item else f"a judgment of {judge[:60]}"
