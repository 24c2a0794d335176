"""People and metrics over the same systems, matched once and read by everything after it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from errata import __version__
from errata.core.errors import InputError
from errata.core.stats import plural
from errata.data import Scores, short_names
from errata.human.comparisons import Comparisons


@dataclass(frozen=True, eq=False)
class MatchedScores:
    """What people and some metrics say of the same systems, in the order of their names.

    ``hidden`` are the systems that one side or both know and that are not looked at; ``notes`` say
    why, where nobody asked for it.
    """

    people: Scores
    metrics: tuple[Scores, ...]
    hidden: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

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
        hidden = (f"hide:{name}" for name in self.hidden)
        own = ("level:system", f"systems:{len(self)}", *hidden, *settings)
        return joint_signature(own, self.people.signature, self.metrics)


def notes_of_metrics(metrics: Sequence[Scores]) -> tuple[str, ...]:
    """What metrics say that go by another name than they were asked for by (see `short_names`)."""
    return tuple(
        f"{name}: {note}"
        for name, scores in zip(short_names(metrics), metrics, strict=True)
        if not scores.label.startswith(scores.name)
        for note in scores.notes
    )


def joint_signature(settings: Sequence[str], people: str, metrics: Sequence[Scores]) -> str:
    """One line for numbers that people and metrics made together: settings; people; metrics."""
    own = " | ".join((*settings, f"errata:{__version__}"))
    return "; ".join((own, f"people: {people}", *(f"metric: {m.signature}" for m in metrics)))


def match(
    people: Scores, metrics: Sequence[Scores], *, common: bool = False, hide: Sequence[str] = ()
) -> MatchedScores:
    """Put people and metrics side by side over the same systems.

    A system that people alone know (a reference, a control) is left out, and a note says so. One
    that a metric alone knows, or that some metrics do not, is an error; ``common`` leaves those
    out on purpose. Systems named in ``hide`` are left out on whichever side they are. Systems
    left out had a part in the scores of the others as far as these depend on each other; to rank
    without a system, leave it out of the judgments.

    >>> import numpy as np
    >>> people = Scores("people", ("A", "B", "C"), np.array([3.0, 2.0, 1.0]))
    >>> metric = Scores("m2()", ("D", "B", "A"), np.array([0.1, 0.2, 0.4]))
    >>> paired = match(people, [metric], common=True)
    >>> paired.systems, paired.metrics[0].values.tolist(), paired.hidden
    (('A', 'B'), [0.4, 0.2], ('C', 'D'))
    """
    if not metrics:
        raise InputError("no metric to judge", remedy="give at least one")
    known = {name for scores in (people, *metrics) for name in scores.systems}
    for name in hide:
        if name not in known:
            people.hide(name)  # which says what there is
    alone = only_people([name for name in people.systems if name not in hide], metrics)
    stay = known - set(hide) - set(alone)
    sides = [s.select([name for name in s.systems if name in stay]) for s in (people, *metrics)]
    _check_scorers(sides[0], sides[1:])
    for metric in sides[1:]:
        _check_same_systems(sides[0], metric, common)
    # In the order of their names, so that no draw depends on the order of a file.
    shared = sorted(name for name in sides[0].systems if all(name in s.systems for s in sides))
    if len(shared) < 2:
        raise InputError(
            f"people and all metrics together share {len(shared)} {plural('system', len(shared))}",
            remedy="score the same systems with every metric",
        )
    matched, *rest = (scores.select(shared) for scores in sides)
    hidden = tuple(sorted(known - set(shared)))
    return MatchedScores(matched, tuple(rest), hidden, unmatched_notes(alone))


def only_people(systems: Sequence[str], metrics: Sequence[Scores]) -> tuple[str, ...]:
    """The systems that no metric scored."""
    scored = {name for scores in metrics for name in scores.systems}
    return tuple(name for name in systems if name not in scored)


def unmatched_notes(systems: Sequence[str]) -> tuple[str, ...]:
    """The note on systems that people alone know, if there are any."""
    if not systems:
        return ()
    return (
        f"no metric scored {', '.join(systems)}: ranked by people with the others, and left out "
        "where metrics are judged",
    )


def _check_scorers(people: Scores, metrics: Sequence[Scores]) -> None:
    """Refuse two metrics of one name, and systems without a number: NaN has no rank."""
    for k, metric in enumerate(metrics):
        if any(metric.signature == other.signature for other in metrics[:k]):
            raise InputError(
                f"two metrics are called {metric.label!r}",
                remedy="name them apart (--scores NAME=FILE), or leave one out",
            )
    for scores in (people, *metrics):
        for system, value in scores:
            if not math.isfinite(value):
                raise InputError(
                    f"{scores.label} has no score of {system!r}",
                    remedy="leave the system out (--without)",
                )


def match_comparisons(
    comparisons: Comparisons, metrics: Sequence[Scores], *, common: bool, hide: Sequence[str] = ()
) -> Comparisons:
    """The comparisons of the systems that are to be judged (see `match`).

    As there, a system that a metric alone knows is an error unless ``common`` leaves it out.
    """
    named = set(comparisons.systems)
    elsewhere = {name for scores in metrics for name in scores.systems} - named
    for scores in metrics if not common else ():
        alone = sorted(set(scores.systems) - named - set(hide))
        if alone:
            raise _unmatched_error("people", scores, alone)
    out = [name for name in hide if name not in elsewhere]  # unknown names are reported
    if common:
        out += sorted({name for s in metrics for name in named - set(s.systems)} - set(out))
    return comparisons.hide(*out)


def match_systems(human: Scores, metric: Scores, *, common: bool = False) -> tuple[Scores, Scores]:
    """Two sides over the same systems, in the order of the first (see `match`)."""
    paired = match(human, [metric], common=common)
    order = [name for name in human.systems if name in paired.systems]
    return paired.people.select(order), paired.metrics[0].select(order)


def _check_same_systems(people: Scores, metric: Scores, common: bool) -> None:
    alone = sorted(set(people.systems) ^ set(metric.systems))
    if alone and not common:
        raise _unmatched_error(people.label, metric, alone)
    shared = len(set(people.systems) & set(metric.systems))
    if shared < 2:
        raise InputError(
            f"{people.label} and {metric.label} share {shared} {plural('system', shared)}",
            remedy="score two or more of the systems that were judged"
            if shared == len(metric)
            else "use the same system names on both sides",
        )


def _unmatched_error(people: str, metric: Scores, alone: Sequence[str]) -> InputError:
    return InputError(
        f"{', '.join(alone)}: known to only one of {people} and {metric.label}",
        remedy="score the same systems, or ask for the common ones only (--common)",
    )
