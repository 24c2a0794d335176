"""Who wrote the texts of a review: what fits them, and who is left to review."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.collect import files
from errata.collect.design import Design
from errata.collect.items import CampaignTexts, build_items, different_outputs
from errata.core.errors import InputError

TEXTS = {"m.0": ("He goes .", "She likes it ."), "m.1": ("He  goes .", "She loved it .")}
LINES = [
    files.WrittenLine(0, "ann", "He goes .", "m.0", 1),
    files.WrittenLine(0, "bo", "He  goes .", "m.1", 2),
    files.WrittenLine(1, "bo", "She likes it .", "m.0", 3),
    files.WrittenLine(1, "cy", "She loved it .", "m.1", 4),
    files.WrittenLine(1, "di", "She likes  it .", "", 5),  # came late
]


def test_whoever_wrote_the_same_text_wrote_it() -> None:
    known = files.match_writers(LINES, TEXTS, 2, "w")
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
    assert files.texts_of_known_writers(texts) == (2, 2)
    assert files.texts_of_known_writers(texts._replace(systems={"a": ("He goes .", "x")})) == (1, 2)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (LINES[0]._replace(sentence=2), "sentence 2, and there are 2"),
        (LINES[0]._replace(text="He went ."), "m.0, line 1, is another text than was written"),
        (LINES[0]._replace(sentence=1), "m.0, line 2, is another text"),  # shifted
        (LINES[0]._replace(judge="a\0b"), "cannot be stored"),
    ],
)
def test_what_does_not_fit_is_refused(line: files.WrittenLine, problem: str) -> None:
    with pytest.raises(InputError, match=re.escape(problem)) as refused:
        files.match_writers([line._replace(number=7)], TEXTS, 2, "x.writers.jsonl")
    assert (refused.value.path, refused.value.line) == ("x.writers.jsonl", 7)
    assert refused.value.remedy
    # A file that is not reviewed may say what it likes.
    assert files.match_writers([LINES[0]._replace(file="other", text="x")], TEXTS, 2, "w")


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
    assert files.reviews_without_judge(built, invited) == expected


WORDS = st.text(st.characters(codec="utf-8"), max_size=20)
WRITTEN = st.builds(
    files.WrittenLine,
    st.integers(0, 10**6),
    WORDS.filter(bool),
    WORDS,
    st.sampled_from(["", "m.0"]),
    st.just(0),
)


@given(st.lists(WRITTEN, max_size=8))
def test_what_is_written_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, lines: list[files.WrittenLine]
) -> None:
    path = tmp_path_factory.mktemp("w") / "new.writers.jsonl"
    path.write_bytes("".join(f"{line}\n" for line in files.render_writers(lines)).encode())
    found = list(files.read_writers(path))
    assert [each._replace(number=0) for each in found] == lines
    assert [each.number for each in found] == list(range(1, len(lines) + 1))


GOOD = '{"sentence": 0, "judge": "ann", "text": "He goes .", "file": "m.0"}'


def test_what_is_no_writer_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "x.writers.jsonl"
    for line, problem in (
        ("ann", "not JSON"),
        ("[]", "not a JSON object"),
        (GOOD.replace("0,", "-1,"), "sentence: -1"),
        (GOOD.replace("0,", "true,"), "sentence: True"),
        (GOOD.replace('"ann"', "7"), "judge: 7"),
        (GOOD.replace('"He goes ."', "7"), "text: 7"),
        (GOOD.replace('"ann"', '""'), "by ''"),
        (GOOD.replace('"m.0"', "null"), "file: None"),
        (GOOD.replace("judge", "jugde"), "jugde: unknown key.*'judge'"),
    ):
        path.write_text(f"{GOOD}\n\n{line}\n", encoding="utf-8")
        with pytest.raises(InputError, match=problem) as refused:
            list(files.read_writers(path))
        assert (refused.value.path, refused.value.line) == (str(path), 3)
        assert refused.value.remedy


@pytest.mark.parametrize(
    ("text", "beside"),
    [
        ("new.minimal.0", "new.writers.jsonl"),
        ("new.minimal.0.txt", "new.writers.jsonl"),  # renamed
        ("a.b.reviewed.x.y.1", "a.b.writers.jsonl"),
        ("minimal.0", "writers.jsonl"),  # in a folder of their own
        ("new.minimal.0", "old.writers.jsonl"),
        ("new.minimal.0", "newer.writers.jsonl"),
    ],
)
def test_the_writers_of_a_text_are_beside_it(tmp_path: Path, text: str, beside: str) -> None:
    (tmp_path / beside).touch()
    fits = not beside.startswith(("old", "newer"))
    assert files.find_writers_file(tmp_path / text) == (str(tmp_path / beside) if fits else None)
    assert files.is_writers(tmp_path / beside)
    assert not files.is_writers(tmp_path / text)


def test_the_nearest_of_several_counts(tmp_path: Path) -> None:
    for name in ("writers.jsonl", "a.writers.jsonl", "a.b.writers.jsonl"):
        (tmp_path / name).touch()
    assert files.find_writers_file(tmp_path / "a.b.minimal.0") == str(
        tmp_path / "a.b.writers.jsonl"
    )
    assert files.find_writers_file(tmp_path / "a.minimal.0") == str(tmp_path / "a.writers.jsonl")
