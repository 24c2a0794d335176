"""What a judge said as rankings, which are ranked, compared and planned like those of people."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from errata.data import Corpus, Hypotheses, Judgment
from errata.metrics.judge.trust import Judged, Showing

__all__ = ["rankings_of"]


def rankings_of(
    judged: Judged,
    corpus: Corpus,
    systems: Sequence[Hypotheses],
    judge: str,
    *,
    absolute: bool = False,
) -> list[Judgment]:
    """One ranking for every request: the higher the score, the better; equal scores are ties.

    Systems with the same output are one group. What could not be read was shown and not ranked.
    ``absolute`` scores (``group=1``) were given to each output alone: all outputs of a sentence
    are then one ranking a turn. Sentences have the numbers of the whole corpus, from 0.
    """
    members: dict[tuple[int, str], list[str]] = defaultdict(list)
    for system, targets in zip(systems, judged.shown, strict=True):
        for i, target in enumerate(targets):
            members[i, target].append(system.system)
    rankings = []
    asked: dict[tuple[int, int], int] = defaultdict(int)
    for showing in _joined(judged.showings) if absolute else judged.showings:
        i, turn = showing.sentence, showing.turn
        asked[i, turn] += 1
        number = corpus.number(i)
        rankings.append(
            Judgment(
                judge,
                number - 1,
                tuple(tuple(members[i, target]) for target in showing.targets),
                _ranks(showing),
                item=f"{number}.{turn + 1}.{asked[i, turn]}",
            )
        )
    return rankings


def _joined(showings: Sequence[Showing]) -> list[Showing]:
    """The showings of a sentence in one turn, as one.

    Targets without a score are left out, unless no target has one.
    """
    found: dict[tuple[int, int], list[Showing]] = defaultdict(list)
    for showing in showings:
        found[showing.sentence, showing.turn].append(showing)
    joined = []
    for place, several in found.items():
        read = [each for each in several if each.scores is not None]
        targets = tuple(target for each in read or several for target in each.targets)
        scores = tuple(score for each in read for score in each.scores or ())
        joined.append(Showing(*place, targets, scores if read else None))
    return joined


def _ranks(showing: Showing) -> tuple[int | None, ...]:
    """1 and how many are better.

    >>> _ranks(Showing(0, 0, ("a", "b", "c"), (3, 5, 3))), _ranks(Showing(0, 0, ("a",), None))
    ((2, 1, 2), (None,))
    """
    scores = showing.scores
    if scores is None:
        return (None,) * len(showing.targets)
    return tuple(1 + sum(other > score for other in scores) for score in scores)
