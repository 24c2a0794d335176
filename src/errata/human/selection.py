"""Which systems judgments are about: leaving some out before anything is made of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from errata.data import Judgment
from errata.errors import InputError

__all__ = ["check_named", "unknown_system", "without_systems"]


def unknown_system(name: str, systems: Iterable[str]) -> InputError:
    """The error to raise for a system that nobody named."""
    return InputError(
        f"nothing is known of the system {name!r}", remedy=f"there are: {', '.join(systems)}"
    )


def without_systems(judgments: Iterable[Judgment], systems: Sequence[str]) -> Iterator[Judgment]:
    """The judgments as if these systems had never been judged; naming none that was is an error."""
    seen: set[str] = set()
    for judgment in judgments:
        seen.update(name for group in judgment.groups for name in group)
        yield judgment.without(*systems)
    check_named(systems, seen)


def check_named(systems: Iterable[str], known: Iterable[str]) -> None:
    """Refuse names of systems that are not among those known."""
    there = sorted(known)
    for name in systems:
        if name not in there:
            raise unknown_system(name, there)
