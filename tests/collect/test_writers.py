"""Who wrote the texts of a review: what fits them, and who is left to review."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.collect.design import Design
from errata.collect.files import (
    WrittenLine,
    match_writers,
    reviews_without_judge,
    texts_of_known_writers,
)
from errata.collect.items import CampaignTexts, build_items, different_outputs
from errata.core.errors import InputError

TEXTS = {"m.0": ("He goes .", "She likes it ."), "m.1": ("He  goes .", "She loved it .")}
LINES = [
    WrittenLine(0, "ann", "He goes .", "m.0", 1),
    WrittenLine(0, "bo", "He  goes .", "m.1", 2),
    WrittenLine(1, "bo", "She likes it .", "m.0", 3),
    WrittenLine(1, "cy", "She loved it .", "m.1", 4),
    WrittenLine(1, "di", "She likes  it .", "", 5),  # came late
]


def test_whoever_wrote_the_same_text_wrote_it() -> None:
    known = match_writers(LINES, TEXTS, 2, "w")
    assert known == {
        (0, "He goes ."): ("ann", "bo"),
        (1, "She likes it ."): ("bo", "di"),
        (1, "She loved it ."): ("cy",),
    }
    texts = CampaignTexts(("He go .", "She like it ."), {"a": TEXTS["m.0"]}, writers=known)
    assert [each.writers for n in (0, 1) for each in different_outputs(texts, n)] == [
        ("ann", "bo"),
        ("bo", "di"),
    ]
    assert texts_of_known_writers(texts) == (2, 2)
    assert texts_of_known_writers(texts._replace(systems={"a": ("He goes .", "x")})) == (1, 2)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (LINES[0]._replace(sentence=2), "sentence 2, and there are 2"),
        (LINES[0]._replace(text="He went ."), "m.0, line 1, is another text than was written"),
        (LINES[0]._replace(sentence=1), "m.0, line 2, is another text"),  # shifted
        (LINES[0]._replace(judge="a\0b"), "cannot be stored"),
    ],
)
def test_what_does_not_fit_is_refused(line: WrittenLine, problem: str) -> None:
    with pytest.raises(InputError, match=re.escape(problem)) as refused:
        match_writers([line._replace(number=7)], TEXTS, 2, "x.writers.jsonl")
    assert (refused.value.path, refused.value.line) == ("x.writers.jsonl", 7)
    assert refused.value.remedy
    # A file that is not reviewed may say what it likes.
    assert match_writers([LINES[0]._replace(file="other", text="x")], TEXTS, 2, "w")


PEOPLE = ("ann", "bo", "cy")


@given(st.data())
def test_reviews_that_nobody_can_give_are_counted(data: Any) -> None:
    many = data.draw(st.integers(1, 6))
    sources = tuple(f"s {k}" for k in range(many))
    names = data.draw(st.lists(st.sampled_from((*PEOPLE, "zoe")), min_size=many, max_size=many))
    written = tuple(f"{source} by" for source in sources)
    writers = {
        (k, text): tuple(sorted({name, data.draw(st.sampled_from(PEOPLE))}))
        for k, (text, name) in enumerate(zip(written, names, strict=True))
    }
    invited = data.draw(st.sets(st.sampled_from(PEOPLE), min_size=1))
    design = Design(kind="review", judges=len(invited), overlap=data.draw(st.sampled_from((0, 1))))
    texts = CampaignTexts(sources, {"bo": written}, writers=writers)
    built = build_items(design, texts)
    expected = 0
    for item in built.items:
        if item.purpose == "main":
            own = {"bo", *writers[item.sentence, written[item.sentence]]}
            expected += max(0, (item.wanted or 0) - sum(name not in own for name in invited))
    assert reviews_without_judge(built, invited) == expected
