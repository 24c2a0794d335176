"""Human judgments of systems: comparisons, rankers, ranges, agreement and planning.

Rankers are known by name and imported when they are asked for; other packages add theirs with an
entry point in the group ``errata.rankers``.
"""

from __future__ import annotations

from errata.core.parameters import class_of
from errata.core.registry import Registry
from errata.human.bootstrap import head_to_head
from errata.human.comparisons import Comparisons, Counts, compare
from errata.human.ranking import Ranker, rank

__all__ = [
    "DEFAULT_RANKER",
    "RANKERS",
    "Comparisons",
    "Counts",
    "Ranker",
    "compare",
    "head_to_head",
    "parse_ranker",
    "rank",
]

DEFAULT_RANKER = "expected_wins"  # of rank, plan and meta, of stop rules and the organiser's page
RANKERS: Registry[type[Ranker]] = Registry(
    what="ranker",
    builtin={
        "expected_wins": "errata.human.ranking:ExpectedWins",
        "trueskill": "errata.human.trueskill:TrueSkill",
        "trueskill_meanfield": "errata.human.trueskill:TrueSkillMeanField",
        "bradley_terry": "errata.human.bradley_terry:BradleyTerry",
        "net_wins": "errata.human.ranking:NetWins",
    },
    group="errata.rankers",
    accepts=class_of(Ranker),
    must="it must be a Ranker with @ranker",
    example="expected_wins(denominator='all')",
)


def parse_ranker(text: str) -> Ranker:
    """Read a ranker from its signature: ``parse_ranker(repr(r)) == r``.

    >>> parse_ranker("expected_wins(denominator=beaten)")
    expected_wins(denominator='beaten', ties='ignored')
    """
    found: Ranker = RANKERS.parse(text)
    return found
