"""Files that say who wrote which line: written, found beside the texts, and read again."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.collect.files import (
    WrittenLine,
    find_writers_file,
    is_writers,
    read_writers,
    render_writers,
)
from errata.core.errors import InputError

WORDS = st.text(st.characters(codec="utf-8"), max_size=20)
LINES = st.builds(
    WrittenLine,
    st.integers(0, 10**6),
    WORDS.filter(bool),
    WORDS,
    st.sampled_from(["", "m.0"]),
    st.just(0),
)


@given(st.lists(LINES, max_size=8))
def test_what_is_written_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, lines: list[WrittenLine]
) -> None:
    path = tmp_path_factory.mktemp("w") / "new.writers.jsonl"
    path.write_bytes("".join(f"{line}\n" for line in render_writers(lines)).encode())
    found = list(read_writers(path))
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
            list(read_writers(path))
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
    assert find_writers_file(tmp_path / text) == (str(tmp_path / beside) if fits else None)
    assert is_writers(tmp_path / beside)
    assert not is_writers(tmp_path / text)


def test_the_nearest_of_several_counts(tmp_path: Path) -> None:
    for name in ("writers.jsonl", "a.writers.jsonl", "a.b.writers.jsonl"):
        (tmp_path / name).touch()
    assert find_writers_file(tmp_path / "a.b.minimal.0") == str(tmp_path / "a.b.writers.jsonl")
    assert find_writers_file(tmp_path / "a.minimal.0") == str(tmp_path / "a.writers.jsonl")
