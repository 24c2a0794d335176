"""What people said of systems: comparisons, rankers, ranges, agreement and planning.

Rankers are known by name and imported when they are asked for.
"""

from __future__ import annotations

from importlib import import_module

from errata.errors import InputError
from errata.human.comparisons import Comparisons, Counts, compare
from errata.human.head_to_head import head_to_head
from errata.human.ranking import Ranker, rank
from errata.parameters import build, parse_arguments

__all__ = [
    "RANKERS",
    "Comparisons",
    "Counts",
    "Ranker",
    "compare",
    "head_to_head",
    "parse_ranker",
    "rank",
]

RANKERS = {
    "expected_wins": "errata.human.expected_wins:ExpectedWins",
    "trueskill": "errata.human.trueskill:TrueSkill",
    "trueskill_meanfield": "errata.human.trueskill:TrueSkillMeanField",
    "bradley_terry": "errata.human.bradley_terry:BradleyTerry",
    "net_wins": "errata.human.expected_wins:NetWins",
}


def parse_ranker(text: str) -> Ranker:
    """Read a ranker from its signature: ``parse_ranker(repr(r)) == r``.

    >>> parse_ranker("expected_wins(denominator=beaten)")
    expected_wins(denominator='beaten', ties='ignored')
    """
    name, arguments = parse_arguments(text, "ranker", "expected_wins(denominator='all')")
    if name not in RANKERS:
        raise InputError(f"there is no ranker {name!r}", remedy=f"known: {', '.join(RANKERS)}")
    module, _, attribute = RANKERS[name].partition(":")
    cls: type[Ranker] = getattr(import_module(module), attribute)
    return build(cls, arguments)
