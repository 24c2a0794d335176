"""Records decoded from JSON and TOML: types, defaults, and errors with key, line and remedy."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import pytest

from errata.core.errors import InputError
from errata.io.records import Count, RecordReader, Texts, line_of_key, parse_toml


class Point(NamedTuple):
    x: float
    y: float = 0.5


@dataclass(frozen=True)
class Record:
    name: str
    origin: str = field(default="", metadata={"key": "from"})
    size: Count = 0
    kind: Literal["a", "b"] = "a"
    words: Texts = ()
    points: tuple[Point, ...] = ()
    pair: tuple[int, str] | None = None
    by: Mapping[str, Point] = field(default_factory=dict)
    day: datetime.date | str = ""
    flag: bool | None = None
    anything: Any = None

    def __post_init__(self) -> None:
        if self.name == "odd":
            raise InputError("the name is odd", remedy="take another")


GOOD = """\
name = "n"
from = "f"
size = 3
kind = "b"
words = "one"
pair = [1, "x"]
day = 2026-11-16
flag = true
by.first = { x = 1 }
[[points]]
x = 1
[[points]]
x = 2.5
y = 0
"""


def read(text: str) -> Record:
    return RecordReader("r.toml", text).decode(Record, parse_toml(text, "r.toml"))


def test_every_kind_of_field_is_decoded() -> None:
    assert read(GOOD) == Record(
        "n", "f", 3, "b", ("one",), (Point(1.0), Point(2.5, 0.0)), (1, "x"),
        {"first": Point(1.0)}, datetime.date(2026, 11, 16), True,
    )  # fmt: skip
    assert read('name = "n"') == Record("n")
    assert math.isnan(RecordReader("p.json").decode(Point, {"x": None}).x)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('name = "n"', "", "r.toml: there is no 'name'; the keys are: name, from"),
        ('name = "n"', 'name = "odd"', "r.toml: the name is odd; take another"),
        ('name = "n"', "name = 1", "r.toml:1: name: 1 is not a text"),
        ('from = "f"', 'form = "f"', "r.toml:2: form: unknown key; did you mean 'from'?"),
        ("size = 3", "size = true", "r.toml:3: size: True is not a whole number"),
        ("size = 3", "size = -1", "r.toml:3: size: -1 is below 0"),
        ('kind = "b"', 'kind = "c"', "r.toml:4: kind: 'c' is unknown"),
        ('words = "one"', "words = 1", "r.toml:5: words: 1 is not a text or a list of texts"),
        ('words = "one"', "words = ['a', 1]", "r.toml:5: words[2]: 1 is not a text"),
        ('[1, "x"]', "[1]", "r.toml:6: pair: 1 values instead of 2"),
        ("day = 2026-11-16", "day = 3", "r.toml:7: day: 3 is not a date (2026-11-16) or a text"),
        ("x = 1 }", "x = 'a' }", "r.toml:9: by.first.x: 'a' is not a number"),
        ("x = 2.5", "x = nan", "r.toml:13: points[2].x: the number is not finite"),
        ("x = 2.5", "z = 2", "r.toml:13: points[2].z: unknown key"),
        ("x = 2.5", "", "r.toml:12: points[2]: there is no 'x'"),
    ],
)
def test_an_error_names_key_line_and_value(old: str, new: str, message: str) -> None:
    assert old in GOOD
    with pytest.raises(InputError) as error:
        read(GOOD.replace(old, new, 1))
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "p.jsonl:7: [] is not a JSON object; help"),
        ({"x": 10**400}, "p.jsonl:7: x: the number is not finite; help"),
        ({}, "p.jsonl:7: there is no 'x'; help"),
    ],
)
def test_a_line_of_json(data: Any, message: str) -> None:
    with pytest.raises(InputError) as error:
        RecordReader("p.jsonl", line=7, remedy="help").decode(Point, data)
    assert str(error.value) == message
    with pytest.raises(InputError, match="z: unknown key"):
        RecordReader("p.jsonl").decode(Point, {"x": 1, "z": 1})
    assert RecordReader("p.jsonl", extra=True).decode(Point, {"x": 1, "z": 1}) == Point(1.0)


def test_lines_of_keys() -> None:
    text = "a.b = 1\n[sets.one]\ngold = 2\n[sets.two]\n'go ld' = 3\n[[t]]\n[[t.u]]\n[[t]]\nk = 1\n"
    for keys, line in (
        (("a",), 1),
        (("sets", "two", "go ld"), 5),
        (("sets", "two", "none"), 4),
        (("t", 0, "u", 0, "x"), 7),
        (("t", 1, "k"), 9),
        (("none",), None),
    ):
        assert line_of_key(text, *keys) == line
