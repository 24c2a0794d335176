"""People and metrics over the same systems, matched once and read by everything after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from errata import __version__
from errata.data import Scores, short_names
from errata.errors import InputError
from errata.human.comparisons import Comparisons

__all__ = ["Paired", "joint_signature", "match", "match_comparisons", "match_systems"]


@dataclass(frozen=True, eq=False)
class Paired:
    """What people and some metrics say of the same systems, in the order of the human scores.

    ``without`` are the systems that were left out.
    """

    people: Scores
    metrics: tuple[Scores, ...]
    without: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.people)

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems that both sides scored."""
        return self.people.systems

    @property
    def names(self) -> tuple[str, ...]:
        """The metrics as a heading names them."""
        return short_names(self.metrics)

    def signature(self, *settings: str) -> str:
        """Everything that decided the numbers made with these settings, in one line."""
        left_out = (f"without:{name}" for name in self.without)
        own = ("level:system", f"systems:{len(self)}", *left_out, *settings)
        return joint_signature(own, self.people.signature, self.metrics)


def joint_signature(settings: Sequence[str], people: str, metrics: Sequence[Scores]) -> str:
    """One line for numbers that people and metrics made together: settings; people; metrics."""
    own = " | ".join((*settings, f"errata:{__version__}"))
    return "; ".join((own, f"people: {people}", *(f"metric: {m.signature}" for m in metrics)))


def match(
    people: Scores, metrics: Sequence[Scores], *, common: bool = False, without: Sequence[str] = ()
) -> Paired:
    """Put people and metrics side by side over the same systems.

    Systems that people or a metric alone know are an error; ``common`` leaves them out on
    purpose. Systems named in ``without`` are left out on whichever side they are.

    >>> import numpy as np
    >>> people = Scores("people", ("A", "B", "C"), np.array([3.0, 2.0, 1.0]))
    >>> metric = Scores("m2()", ("D", "B", "A"), np.array([0.1, 0.2, 0.4]))
    >>> paired = match(people, [metric], common=True)
    >>> paired.systems, paired.metrics[0].values.tolist(), paired.without
    (('A', 'B'), [0.4, 0.2], ('C', 'D'))
    """
    if not metrics:
        raise InputError("no metric to judge", remedy="give at least one")
    known = {name for scores in (people, *metrics) for name in scores.systems}
    for name in without:
        if name not in known:
            people.without(name)  # which says what there is
    stay = known - set(without)
    sides = [s.select([name for name in s.systems if name in stay]) for s in (people, *metrics)]
    for metric in sides[1:]:
        _check(sides[0], metric, common)
    shared = [name for name in sides[0].systems if all(name in s.systems for s in sides)]
    if len(shared) < 2:
        raise InputError(
            f"people and all metrics together share {len(shared)} systems",
            remedy="score the same systems with every metric",
        )
    matched, *rest = (scores.select(shared) for scores in sides)
    return Paired(matched, tuple(rest), tuple(sorted(known - set(shared))))


def match_comparisons(
    comparisons: Comparisons,
    metrics: Sequence[Scores],
    *,
    common: bool = False,
    without: Sequence[str] = (),
) -> Comparisons:
    """The comparisons of the systems that are to be judged (see `match`)."""
    named = set(comparisons.systems)
    elsewhere = {name for scores in metrics for name in scores.systems} - named
    out = [name for name in without if name not in elsewhere]  # of a name nobody knows it is said
    if common:
        out += sorted({name for s in metrics for name in named - set(s.systems)} - set(out))
    return comparisons.without(*out)


def match_systems(human: Scores, metric: Scores, *, common: bool = False) -> tuple[Scores, Scores]:
    """Two sides over the same systems, in the order of the first (see `match`)."""
    paired = match(human, [metric], common=common)
    return paired.people, paired.metrics[0]


def _check(people: Scores, metric: Scores, common: bool) -> None:
    alone = sorted(set(people.systems) ^ set(metric.systems))
    if alone and not common:
        raise InputError(
            f"{', '.join(alone)}: known to only one of {people.scorer} and {metric.scorer}",
            remedy="score the same systems, or ask for the common ones only (--common)",
        )
    shared = len(set(people.systems) & set(metric.systems))
    if shared < 2:
        raise InputError(
            f"{people.scorer} and {metric.scorer} share {shared} systems",
            remedy="use the same system names on both sides",
        )
