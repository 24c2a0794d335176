"""Tutorial, qualification, attention checks.

What is expected stands with the item as JSON: the output that is ``worse`` than a ``better`` one, a
range ``between`` which scores lie, the ``texts`` that a correction may be, or whether to ``accept``
one; with it ``why``, and the number of the ``attempt`` that the item belongs to. A judge hears of
it after the first answer is stored, and by that answer the attempt is counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any, Literal, NamedTuple

import numpy as np

from errata.collect.answers import shown_ranks
from errata.collect.design import MOST_OUTPUTS, WRITING, Design, Scale
from errata.collect.items import Example, letters_of, normalise_space, shown_edits
from errata.core.errors import InputError
from errata.core.stats import Floats, ratio
from errata.human.output_pairs import OutputPairs, RankingColumns

# ---- What is known of a judge's care: controls passed, agreement with oneself, ties, first
# places.

MARGIN = 0.1  # of a scale's range, where the campaign sets none


@dataclass(frozen=True)
class ShownCheck:
    """A control or an example of a tutorial as a judge saw it, and what is expected of the answer.

    ``order`` is the order shown, ``expected`` has positions in the item.

    >>> check = ShownCheck(Design(), {"worse": 1, "better": 0}, (1, 0))
    >>> check.lesson_passed({"A": 2, "B": 1}), check.feedback()
    (True, [('feedback.order', {'better': 'B', 'worse': 'A'})])
    """

    design: Design
    expected: Mapping[str, Any]
    order: Sequence[int]
    source: str = ""
    outputs: Sequence[str] = ()

    def control_passed(self, answer: Any, usual: Mapping[str, float] | None = None) -> bool | None:
        """Whether the damaged output stands strictly below the one it is a copy of.

        A single score is compared with the judge's ``usual`` (mean) scores on each scale, and must
        be lower by the margin on every scale; an organiser's own may say ``between`` which scores
        it lies. Of edits, none that only the damage made may be called good. None where nothing
        can be said (skipped, or a single score of a judge without others).
        """
        design, expected = self.design, self.expected
        if answer is None:
            return None
        if "between" in expected:
            ranges = expected["between"].items()
            return all(low <= answer[name] <= high for name, (low, high) in ranges)
        if design.kind == "edits":
            return all(answer[key] != "good" for key in self._damaged_edits)
        worse = self._place("worse")
        if design.kind != "score":
            ranks = shown_ranks(answer, len(self.order))
            return ranks[worse] > ranks[self._place("better")]
        low, high = answer, usual
        if expected.get("better") is not None:
            keys = letters_of(len(self.order))
            low, high = answer[keys[worse]], answer[keys[self._place("better")]]
        if not high:
            return None
        return all(low[s.name] <= high[s.name] - margin_of(design, s) for s in design.scales)

    def lesson_passed(self, answer: Any) -> bool:
        """Whether an answer is what a tutorial expects; a skip is not."""
        if answer is None:
            return False
        if "texts" in self.expected:
            text = self.source if answer.get("unchanged") else answer["text"]
            return normalise_space(text) in map(normalise_space, self.expected["texts"])
        if "accept" in self.expected:
            return ("accept" in answer) is bool(self.expected["accept"])
        return bool(self.control_passed(answer))

    def feedback(self) -> list[tuple[str, dict[str, Any]]]:
        """What is expected, as strings of the catalogue and what they are filled with."""
        expected = self.expected
        if "texts" in expected:
            return [("feedback.text", {"text": text}) for text in expected["texts"]]
        if "accept" in expected:
            return [("feedback.accept" if expected["accept"] else "feedback.improve", {})]
        if "between" in expected:
            return [
                ("feedback.between", {"scale": name, "low": low, "high": high})
                for name, (low, high) in expected["between"].items()
            ]
        if self.design.kind == "edits":
            return [("feedback.edits", {"keys": ", ".join(self._damaged_edits)})]
        keys = letters_of(len(self.order))
        places = {name: keys[self._place(name)] for name in ("better", "worse")}
        return [("feedback.order", places)]

    def _place(self, name: str) -> int:
        return list(self.order).index(self.expected[name])

    @property
    def _damaged_edits(self) -> list[str]:
        """The keys of the edits that only the damaged output has."""
        made = enumerate(shown_edits(self.source, self.outputs), 1)
        return [str(number) for number, (*_, whose) in made if whose == (self._place("worse"),)]


def margin_of(design: Design, scale: Scale) -> float:
    """By how much a damaged output must be scored lower: as set, or a tenth of the range."""
    return design.margin if design.margin is not None else MARGIN * (scale.high - scale.low)


def rule_blocks(rule: tuple[int, int] | None, passed: Sequence[bool | None]) -> bool:
    """Whether a rule (3, 5) blocks: three of the last five controls that say something failed.

    >>> rule_blocks((2, 3), [False, True, False]), rule_blocks((2, 3), [False, False, True, True])
    (True, False)
    """
    if rule is None:
        return False
    known = [each for each in passed if each is not None][-rule[1] :]
    return known.count(False) >= rule[0]


def share_of_ties(pairs: OutputPairs) -> Floats:
    """Of each judge: the share of pairs of outputs put at the same rank; NaN without pairs."""
    many = len(pairs.judges)
    tied = np.bincount(pairs.judge[pairs.outcome == 0], minlength=many)
    return ratio(tied, np.bincount(pairs.judge, minlength=many))


def first_ranked_best(rankings: RankingColumns) -> tuple[Floats, Floats]:
    """Of each judge: how often the output shown first was best alone, and how often by chance.

    Chance is 1 / n for n outputs; rankings in which several are best count for neither.

    >>> from errata.data import Judgment
    >>> from errata.human.output_pairs import ranking_columns
    >>> first_ranked_best(ranking_columns([Judgment("j", 0, (("A",), ("B",)), (1, 2))]))
    (array([1.]), array([0.5]))
    """
    several = np.flatnonzero(rankings.size > 1)
    sizes, judge, many = rankings.size[several], rankings.judge[several], len(rankings.judges)
    if not len(several):
        return np.full(many, np.nan), np.full(many, np.nan)
    # Entries of rankings with fewer outputs stand between: each block ends where its own do.
    starts = (np.cumsum(rankings.size) - rankings.size)[several]
    ranks = rankings.rank[np.repeat(rankings.size > 1, rankings.size)]
    blocks = np.cumsum(sizes) - sizes
    best = np.minimum.reduceat(ranks, blocks)
    alone = np.add.reduceat((ranks == np.repeat(best, sizes)).astype(np.int64), blocks) == 1
    first = (rankings.rank[starts] == best)[alone]
    counted = np.bincount(judge[alone], minlength=many)
    hits = np.bincount(judge[alone], first, minlength=many)
    chance = np.bincount(judge[alone], 1 / sizes[alone], minlength=many)
    return ratio(hits, counted), ratio(chance, counted)


class TutorialState(NamedTuple):
    """The state of a judge's tutorial: the attempt, and how much of it is answered and right."""

    state: Literal["todo", "passed", "failed"]
    attempt: int
    done: int
    right: int


def example_for(design: Design, example: Example) -> Example:
    """Return an example as the kind of the campaign needs it, or refuse it."""
    expected, many = example.expected, len(example.outputs)

    def wrong(problem: str, remedy: str) -> InputError:
        said = f"the {example.purpose} {example.source[:40]!r} {problem}"
        return InputError(said, remedy=remedy)

    if design.kind in WRITING and example.purpose == "control":
        raise wrong("checks what is written", "use [[tutorial]]: there are no controls of texts")
    if design.kind == "correct":
        if not many or expected.get("worse") is not None:
            raise wrong("has no texts to expect", "give outputs = ['…'], the texts that are right")
        if example.instruction and example.instruction not in design.instructions:
            raise wrong(
                f"is for {example.instruction!r}", f"use {' or '.join(design.instructions)}"
            )
        texts = {"texts": list(example.outputs)}
        return replace(
            example,
            outputs=(),
            expected=_explanation(expected) | texts,
            instruction=example.instruction or design.instructions[0],
        )
    if design.kind == "review":
        if many != 1 or type(expected.get("accept")) is not bool:
            raise wrong("does not say whether a text is right", "give one output, and accept")
        return replace(example, expected=_explanation(expected) | {"accept": expected["accept"]})
    if design.one_output:
        if many != 1 or not expected.get("between"):
            raise wrong("does not say which scores", "give one output, and between.SCALE = [0, 40]")
        ranges = _ranges_of_scales(design.scales, expected["between"], wrong)
        return replace(example, expected=_explanation(expected) | {"between": ranges})
    most = 2 if design.kind == "pair" else MOST_OUTPUTS
    if not 2 <= many <= most:
        raise wrong(f"has {many} outputs", f"give {'two' if most == 2 else f'2 to {most}'}")
    places = {name: expected.get(name) for name in ("worse", "better")}
    good = all(type(place) is int and 0 <= place < many for place in places.values())
    if not good or places["worse"] == places["better"]:
        raise wrong(
            "does not say which output is worse than which",
            "give worse and better as numbers of outputs, from 1",
        )
    return replace(example, expected=_explanation(expected) | places)


def _explanation(expected: Mapping[str, Any]) -> dict[str, Any]:
    return {"why": expected["why"]} if expected.get("why") else {}


def _ranges_of_scales(scales: Sequence[Scale], given: Any, wrong: Any) -> dict[str, list[int]]:
    known = {scale.name: scale for scale in scales}
    if not isinstance(given, Mapping):
        raise wrong("does not say which scores", "give between.SCALE = [0, 40]")
    for name, limits in given.items():
        if name not in known:
            raise wrong(f"has no scale {name!r}", f"scales are: {', '.join(known)}")
        scale = known[name]
        good = isinstance(limits, list | tuple) and [type(x) for x in limits] == [int, int]
        if not good or not scale.low <= limits[0] <= limits[1] <= scale.high:
            raise wrong(
                f"expects scores that {name} does not have",
                f"give two numbers from {scale.low} to {scale.high}",
            )
    return {name: list(limits) for name, limits in given.items()}


def lessons_needed(design: Design, lessons: int) -> int:
    """How many examples must be right.

    >>> lessons_needed(Design(pass_mark=0.7), 10), lessons_needed(Design(), 10)
    (7, 0)
    """
    return ceil(design.pass_mark * lessons - 1e-9)


def tutorial_state(design: Design, lessons: int, results: Sequence[bool | None]) -> TutorialState:
    """How a tutorial stands after some examples, in the order they were given.

    Results are whether the first answer was right; None while there is no answer yet.

    >>> tutorial_state(Design(pass_mark=0.5), 2, [False, False, True])
    TutorialState(state='todo', attempt=2, done=1, right=1)
    >>> tutorial_state(Design(pass_mark=0.5), 2, [False] * 4).state
    'failed'
    """
    attempt, done, right = 1, 0, 0
    for attempt in range(1, design.tutorial_attempts + 1):
        some = results[(attempt - 1) * lessons : attempt * lessons]
        done, right = len(some) - some.count(None), some.count(True)
        if done < lessons:
            return TutorialState("todo", attempt, done, right)
        if right >= lessons_needed(design, lessons):
            return TutorialState("passed", attempt, done, right)
    return TutorialState("failed", attempt, done, right)
