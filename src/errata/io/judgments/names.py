"""Names of judges and systems that look alike and are not the same."""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections.abc import Iterable, Iterator

from errata.data import Judgment
from errata.errors import DataWarning, InputError

__all__ = ["alike_names", "with_clear_names"]

_UNSEEN = re.compile(r"[\u200b-\u200f\u202a-\u202e\u2060\ufeff\u00ad]")

_BROKEN = re.compile(r"[\t\r\n]")


def alike_names(names: Iterable[str]) -> list[str]:
    """What is odd about some names: those that differ only in what nobody sees.

    Blanks, marks without width and Unicode's two ways to write an accent make two of one system.

    >>> alike_names(["B", " B", "Ren\u00e9", "Rene\u0301", "C"])
    ["' B' and 'B' differ in blanks or Unicode form only", \
"'Rene\u0301' and 'Ren\u00e9' differ in blanks or Unicode form only"]
    """
    found: dict[str, list[str]] = {}
    for name in sorted(set(names)):
        plain = unicodedata.normalize("NFC", " ".join(_UNSEEN.sub("", name).split()))
        found.setdefault(plain, []).append(name)
    return [
        f"{_listed(same)} differ in blanks or Unicode form only"
        if len(same) > 1
        else f"{same[0][:60]!r} has blanks around it"
        if same[0] != same[0].strip()
        else f"{same[0][:60]!r} has a line end or a tab in it"
        for same in found.values()
        if len(same) > 1 or same[0] != same[0].strip() or _BROKEN.search(same[0])
    ]


def _listed(names: list[str]) -> str:
    return " and ".join(repr(name[:60]) for name in names[:3])


def with_clear_names(judgments: Iterable[Judgment], source: str) -> Iterator[Judgment]:
    """The same judgments; at their end it is said which names are hard to tell apart.

    A judge or a system whose name is blank is refused.
    """
    judges: set[str] = set()
    groups: set[tuple[str, ...]] = set()
    for judgment in judgments:
        judges.add(judgment.judge)
        groups.update(judgment.groups)
        yield judgment
    systems = {name for group in groups for name in group}
    for what, names in (("judge", judges), ("system", systems)):
        if not all(name.strip() for name in names):
            raise InputError(f"a {what} without a name", path=source, remedy="give it one")
        for problem in alike_names(names):
            warnings.warn(
                f"{source}: the {what}s {problem}; they count as they are written. Write each in "
                "one way only",
                DataWarning,
                stacklevel=2,
            )
