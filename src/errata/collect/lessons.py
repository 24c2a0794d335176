"""Tutorials and qualification: what an example expects, whether an answer is right, what is told.

What is expected stands with the item as JSON: the output that is ``worse`` than a ``better`` one, a
range ``between`` which scores lie, the ``texts`` that a correction may be, or whether to ``accept``
one; with it ``why``, and the number of the ``attempt`` that the item belongs to. A judge hears of
it after the first answer is stored, and by that answer the attempt is counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil
from typing import Any, Literal, NamedTuple

from errata.collect.checks import control_passed
from errata.collect.design import MOST_OUTPUTS, WRITING, Design, Scale
from errata.collect.items import Example, shown_edits, squeezed
from errata.collect.tasks import letters_of
from errata.errors import InputError

__all__ = [
    "Learning",
    "example_for",
    "learning_after",
    "lesson_passed",
    "lessons_needed",
    "told_after",
]


class Learning(NamedTuple):
    """How a judge's tutorial stands: in which attempt, and what is answered and right in it."""

    state: Literal["todo", "passed", "failed"]
    attempt: int
    done: int
    right: int


def example_for(design: Design, example: Example) -> Example:
    """An example that fits the kind of the campaign, or what is wrong with it."""
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
            expected=_kept(expected) | texts,
            instruction=example.instruction or design.instructions[0],
        )
    if design.kind == "review":
        if many != 1 or type(expected.get("accept")) is not bool:
            raise wrong("does not say whether a text is right", "give one output, and accept")
        return replace(example, expected=_kept(expected) | {"accept": expected["accept"]})
    if design.one_output:
        if many != 1 or not expected.get("between"):
            raise wrong("does not say which scores", "give one output, and between.SCALE = [0, 40]")
        ranges = _ranges(design.scales, expected["between"], wrong)
        return replace(example, expected=_kept(expected) | {"between": ranges})
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
    return replace(example, expected=_kept(expected) | places)


def _kept(expected: Mapping[str, Any]) -> dict[str, Any]:
    return {"why": expected["why"]} if expected.get("why") else {}


def _ranges(scales: Sequence[Scale], given: Any, wrong: Any) -> dict[str, list[int]]:
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


def learning_after(design: Design, lessons: int, results: Sequence[bool | None]) -> Learning:
    """How a tutorial stands after some examples, in the order they were given.

    Results are whether the first answer was right; None while there is no answer yet.

    >>> learning_after(Design(pass_mark=0.5), 2, [False, False, True])
    Learning(state='todo', attempt=2, done=1, right=1)
    >>> learning_after(Design(pass_mark=0.5), 2, [False] * 4).state
    'failed'
    """
    attempt, done, right = 1, 0, 0
    for attempt in range(1, design.tutorial_attempts + 1):
        some = results[(attempt - 1) * lessons : attempt * lessons]
        done, right = len(some) - some.count(None), some.count(True)
        if done < lessons:
            return Learning("todo", attempt, done, right)
        if right >= lessons_needed(design, lessons):
            return Learning("passed", attempt, done, right)
    return Learning("failed", attempt, done, right)


def lesson_passed(
    design: Design,
    expected: Mapping[str, Any],
    order: Sequence[int],
    answer: Any,
    *,
    source: str = "",
    outputs: Sequence[str] = (),
) -> bool:
    """Whether an answer is what a tutorial expects; a skip is not.

    >>> lesson_passed(Design(), {"worse": 1, "better": 0}, (1, 0), {"A": 2, "B": 1})
    True
    """
    if answer is None:
        return False
    if "texts" in expected:
        text = source if answer.get("unchanged") else answer["text"]
        return squeezed(text) in {squeezed(each) for each in expected["texts"]}
    if "accept" in expected:
        return ("accept" in answer) is bool(expected["accept"])
    return bool(control_passed(design, expected, order, answer, source=source, outputs=outputs))


def told_after(
    design: Design,
    expected: Mapping[str, Any],
    order: Sequence[int],
    *,
    source: str = "",
    outputs: Sequence[str] = (),
) -> list[tuple[str, dict[str, Any]]]:
    """What is expected, as strings of the catalogue and what they are filled with.

    >>> told_after(Design(), {"worse": 1, "better": 0}, (1, 0))
    [('feedback.order', {'better': 'B', 'worse': 'A'})]
    """
    if "texts" in expected:
        return [("feedback.text", {"text": text}) for text in expected["texts"]]
    if "accept" in expected:
        return [("feedback.accept" if expected["accept"] else "feedback.improve", {})]
    if "between" in expected:
        return [
            ("feedback.between", {"scale": name, "low": low, "high": high})
            for name, (low, high) in expected["between"].items()
        ]
    worse = list(order).index(expected["worse"])
    if design.kind == "edits":
        made = enumerate(shown_edits(source, outputs), 1)
        bad = [str(number) for number, (*_, whose) in made if whose == (worse,)]
        return [("feedback.edits", {"keys": ", ".join(bad)})]
    keys = letters_of(len(order))
    better = keys[list(order).index(expected["better"])]
    return [("feedback.order", {"better": better, "worse": keys[worse]})]
