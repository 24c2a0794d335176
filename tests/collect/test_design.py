"""The settings of a campaign: what is refused, and that they survive being stored."""

from __future__ import annotations

import json

import pytest

from errata.collect.design import Design, Scale, design_of
from errata.core.errors import InputError

BAD: list[tuple[dict[str, object], str]] = [
    ({"kind": "ranks"}, "did you mean 'rank'"),
    ({"outputs": 1}, "2 to 9"),
    ({"outputs": 10}, "2 to 9"),
    ({"kind": "pair", "outputs": 3}, "a pair is two"),
    ({"overlap": 1.5}, "a share"),
    ({"repeats": -0.1}, "a share"),
    ({"repeats": 0.3, "controls": 0.3}, "less than half"),
    ({"judges": 0}, "from 1"),
    ({"lease": 10}, "from 60"),
    ({"quota": 0}, "from 1"),
    ({"hours": -1.0}, "above 0"),
    ({"quota": 1_000_001}, "give 1000000 at most"),
    ({"judges": 10**30}, "too large"),
    ({"rankings": 10**30}, "too large"),
    ({"lease": 10**30}, "too large"),
    ({"hours": 1e300}, "too large"),
    ({"money": 10**400, "rate": 1.0}, "not finite"),
    ({"alpha": 0.9}, "at most 0.5"),
    ({"policy": "adaptive"}, "is for pairs"),
    ({"scales": [{"name": "x"}]}, "kind = 'score'"),
    ({"kind": "score", "scales": [{"name": "x"}, {"name": "x"}]}, "same name"),
    ({"kind": "score", "scales": [{"name": "x", "low": 4, "high": 4}]}, "from 4 to 4"),
    ({"kind": "score", "scales": [{"name": "x", "lowest": 4}]}, "name, low, high"),
    ({"instructions": ["minimal"]}, "kind = 'correct'"),
    ({"kind": "correct", "instructions": ["least"]}, "unknown"),
    ({"kind": "correct", "instructions": ["minimal", "minimal"]}, "twice"),
    ({"slots": 2}, "kind = 'correct'"),
    ({"block": "3 out of 5"}, "3 of 5"),
    ({"block": "6 of 5"}, "3 of 5"),
    ({"until": "A better than B"}, "A>B"),
    ({"until": ["clusters=0"]}, "clusters=3"),
    ({"kind": "score", "until": "A>B"}, "rankings and pairs"),
    ({"rankings": 10, "hours": 2.0}, "two budgets"),
    ({"money": 10.0}, "rate"),
    ({"overlapp": 0.2}, "did you mean 'overlap'"),
    ({"judges": "three"}, "not a whole number"),
    ({"judges": True}, "not a whole number"),
    ({"kind": 3}, "3 is unknown"),
    ({"marks": 1}, "not true or false"),
]


def test_bad_settings_are_refused_in_one_line() -> None:
    for settings, words in BAD:
        with pytest.raises(InputError) as refused:
            design_of(settings)
        assert words in str(refused.value)
        assert "\n" not in str(refused.value)


def test_designs_survive_being_stored() -> None:
    for design in (
        Design(),
        Design(kind="score", scales=(Scale("fluency", 0, 4, ("bad", "good")),), margin=2),
        Design(kind="correct", instructions=("minimal", "fluency"), slots=2, judges=4),
        Design(kind="pair", policy="adaptive", until=("A>B", "clusters=3"), block="3 of 5"),
    ):
        assert design_of(json.loads(json.dumps(design.to_json()))) == design
