"""``result.json`` of a run: the scores of every metric on every test set, in one file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from errata.data import Scores
from errata.errors import InputError
from errata.io.scores.stored import from_stored_json, stored_json

__all__ = ["RUN_RESULT", "RunScores", "from_run_result", "run_result_lines", "scores_in_run"]

RUN_RESULT = "errata result 1"
_REMEDY = "give result.json of a run (errata scale)"


class RunScores(NamedTuple):
    """What every metric says of the systems on one test set."""

    name: str
    scores: tuple[Scores, ...]


def run_result_lines(sets: Sequence[RunScores], manifest: str) -> Iterator[str]:
    """The file, a line for every metric and set; the same scores give the same bytes."""
    yield "{"
    yield f'"format": {json.dumps(RUN_RESULT)},'
    yield f'"manifest": {json.dumps(manifest)},'
    yield '"sets": ['
    for k, (name, scores) in enumerate(sets, 1):
        yield f'{{"name": {json.dumps(name, ensure_ascii=False)}, "scores": ['
        for j, each in enumerate(scores, 1):
            text = json.dumps(stored_json(each), ensure_ascii=False)
            yield text + ("," if j < len(scores) else "")
        yield "]}" + ("," if k < len(sets) else "")
    yield "]}"


def from_run_result(data: Any, name: str) -> list[RunScores]:
    """The scores of a run, by test set."""
    try:
        return [
            RunScores(
                str(each["name"]), tuple(from_stored_json(one, name) for one in each["scores"])
            )
            for each in data["sets"]
        ]
    except (KeyError, TypeError) as error:
        raise InputError(
            f"a field is missing or of the wrong kind: {str(error)[:100]}",
            path=name,
            remedy=_REMEDY,
        ) from None


def scores_in_run(data: Any, name: str) -> list[Scores]:
    """All scores of a run as one list; of several test sets, scorers are named after theirs."""
    sets = from_run_result(data, name)
    if len(sets) == 1:
        return list(sets[0].scores)
    return [
        replace(
            scores,
            scorer=f"{each.name} {scores.scorer}",
            name=f"{each.name} {scores.name}",
            label=f"{each.name} {scores.label}",
        )
        for each in sets
        for scores in each.scores
    ]
