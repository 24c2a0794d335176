"""What may be answered to a task of each kind; what else comes is refused, with its field."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, get_args

from errata.collect.design import Design
from errata.collect.items import TaskView, letters_of, normalise_space, shown_edits
from errata.core.errors import ErrataError
from errata.io.checks.text import check_characters

SkipReason = Literal[
    "undecided", "not_understood", "boundary", "language", "offensive", "broken", "other"
]
SKIPS: tuple[str, ...] = get_args(SkipReason)
EditOpinion = Literal["good", "bad", "unsure"]
PAIR = ("A", "B", "equal", "bad")
LONGEST_COMMENT = 2000  # characters
LONGEST_TEXT = 1000  # characters that a correction may have beyond four times its source
TIMES_SOURCE = 4


class AnswerError(ErrataError):
    """An answer that cannot be taken (422); ``field`` is where the trouble is."""

    def __init__(self, problem: str, field: str, remedy: str) -> None:
        self.problem, self.field, self.remedy = problem, field, remedy
        super().__init__(f"{field}: {problem}; {remedy}")


class CheckedReply(NamedTuple):
    """A checked reply: an answer, or the reason for skipping (``other`` with words)."""

    answer: Any
    skip: str | None
    comment: str


def check_answer(
    design: Design, shown: TaskView, answer: Any, skip: Any = None, comment: Any = ""
) -> CheckedReply:
    """The reply to a task if it is valid: an answer or a skip, and not both; else `AnswerError`."""
    comment = "" if comment is None else comment
    if not isinstance(comment, str) or not is_storable(comment):
        raise AnswerError("the comment is no text", "comment", "write words")
    if len(comment) > LONGEST_COMMENT:
        raise AnswerError(
            f"the comment has {len(comment)} characters", "comment", f"use {LONGEST_COMMENT}"
        )
    if skip is not None:
        if answer is not None:
            raise AnswerError("both an answer and a skip", "skip", "send one of them")
        return CheckedReply(None, _checked_skip(skip, comment), comment)
    if answer is None:
        raise AnswerError("no answer", "answer", "answer, or skip with a reason")
    if design.kind == "rank":
        return CheckedReply(_checked_ranks(answer, letters_of(len(shown.outputs))), None, comment)
    if design.kind == "pair":
        if not isinstance(answer, str) or answer not in PAIR:
            raise AnswerError("unknown choice", "answer", f"use one of {', '.join(PAIR)}")
        return CheckedReply(answer, None, comment)
    if design.kind == "score":
        return CheckedReply(_checked_scores(design, shown, answer), None, comment)
    if design.kind == "edits":
        many = len(shown_edits(shown.source, shown.outputs))
        return CheckedReply(_checked_verdicts(answer, many), None, comment)
    if design.kind == "correct":
        return CheckedReply(_checked_text(answer, shown.source, shown.source), None, comment)
    return CheckedReply(_checked_review(answer, shown), None, comment)


def _checked_skip(skip: Any, comment: str) -> str:
    if not isinstance(skip, str) or skip not in SKIPS:
        raise AnswerError("unknown reason to skip", "skip", f"use one of {', '.join(SKIPS)}")
    if skip == "other" and not comment.strip():
        raise AnswerError("another reason needs words", "comment", "say it in the comment")
    return skip


def _checked_ranks(answer: Any, keys: Sequence[str]) -> dict[str, int]:
    _only_keys(answer, keys)
    for key in keys:
        rank = answer[key]
        if type(rank) is not int or not 1 <= rank <= len(keys):
            raise AnswerError(
                f"rank of {key} is not from 1 to {len(keys)}", f"answer.{key}", "give such a rank"
            )
    return {key: answer[key] for key in keys}


def _only_keys(answer: Any, keys: Sequence[str]) -> None:
    if not isinstance(answer, dict):
        raise AnswerError("the answer is no object", "answer", f"give {', '.join(keys)}")
    for key in answer:
        if key not in keys:
            raise AnswerError(
                f"there is no {key[:40]!r} here", "answer", f"keys are {', '.join(keys)}"
            )
    for key in keys:
        if key not in answer:
            raise AnswerError(f"nothing is said of {key}", f"answer.{key}", "answer all of them")


def _checked_scores(design: Design, shown: TaskView, answer: Any) -> dict[str, Any]:
    if not design.side_by_side:
        return _checked_scales(design, answer, "answer")
    keys = letters_of(len(shown.outputs))
    _only_keys(answer, keys)
    return {key: _checked_scales(design, answer[key], f"answer.{key}") for key in keys}


def _checked_scales(design: Design, answer: Any, field: str) -> dict[str, int]:
    _only_keys(answer, [scale.name for scale in design.scales])
    for scale in design.scales:
        value = answer[scale.name]
        if type(value) is not int or not scale.low <= value <= scale.high:
            raise AnswerError(
                f"{scale.name} is not a whole number from {scale.low} to {scale.high}",
                f"{field}.{scale.name}",
                "move the slider",
            )
    return {scale.name: answer[scale.name] for scale in design.scales}


def _checked_verdicts(answer: Any, many: int) -> dict[str, str]:
    keys = [str(number) for number in range(1, many + 1)]
    _only_keys(answer, keys)
    for key in keys:
        if not isinstance(answer[key], str) or answer[key] not in get_args(EditOpinion):
            raise AnswerError("no verdict", f"answer.{key}", "say good, bad or unsure")
    return {key: answer[key] for key in keys}


def _checked_text(answer: Any, source: str, unchanged: str) -> dict[str, Any]:
    """A written text, or the button that says there is nothing to correct."""
    if answer == {"unchanged": True} and type(answer["unchanged"]) is bool:
        return {"unchanged": True}
    if not isinstance(answer, dict) or set(answer) != {"text"} or type(answer["text"]) is not str:
        raise AnswerError("no text", "answer", "send text, or unchanged")
    text: str = answer["text"]
    if not text.strip() or not is_storable(text):
        raise AnswerError("no text", "answer.text", "write the corrected sentence")
    if len(text.splitlines()) > 1 or text != text.strip("\r\n\v\f\x1c\x1d\x1e\x85\u2028\u2029"):
        raise AnswerError("a line break", "answer.text", "write it in one line")
    if len(text) > TIMES_SOURCE * len(source) + LONGEST_TEXT:
        raise AnswerError(f"{len(text)} characters", "answer.text", "write less")
    for found in check_characters([text], "", beside=[source]):
        if found.severity == "warning":  # of which `errata check` would warn in the export
            raise AnswerError(found.problem, "answer.text", found.remedy)
    if normalise_space(text) == normalise_space(unchanged):
        raise AnswerError(
            "the text is unchanged", "answer.text", "use the button if nothing is to be corrected"
        )
    return {"text": text}


def _checked_review(answer: Any, shown: TaskView) -> dict[str, Any]:
    if answer == {"accept": True} and type(answer["accept"]) is bool:
        return {"accept": True}
    if isinstance(answer, dict) and "text" in answer:
        return _checked_text(answer, shown.source, shown.outputs[0])
    raise AnswerError("neither accepted nor a better text", "answer", "send accept, or text")


def is_storable(text: str) -> bool:
    """Whether a text can be stored anywhere: no lone surrogates, no NUL.

    >>> is_storable("café"), is_storable("caf\\udce9"), is_storable("a\\0")
    (True, False, False)
    """
    return "\x00" not in text and not any("\ud800" <= c <= "\udfff" for c in text)


def content_digest(answer: Any, skip: str | None, comment: str) -> str:
    """The digest by which a retry is known: of answer, skip and comment.

    >>> content_digest({"A": 1, "B": 2}, None, "") == content_digest({"B": 2, "A": 1}, None, "")
    True
    """
    text = json.dumps([answer, skip, comment], ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def pair_ranks(answer: str) -> tuple[int, int]:
    """A choice between two as ranks; both bad is a tie.

    >>> pair_ranks("B"), pair_ranks("bad")
    ((2, 1), (1, 1))
    """
    return {"A": (1, 2), "B": (2, 1)}.get(answer, (1, 1))


def shown_ranks(answer: Any, many: int) -> tuple[int, ...]:
    """The rank of each output in the order shown, of a ranking or a pair.

    >>> shown_ranks({"A": 2, "B": 1}, 2), shown_ranks("equal", 2)
    ((2, 1), (1, 1))
    """
    if isinstance(answer, str):
        return pair_ranks(answer)
    return tuple(answer[key] for key in letters_of(many))
