"""Campaign files: settings become a design, and what is wrong is said with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from errata.collect.design import Design, Scale
from errata.collect.files import read_campaign_file
from errata.core.errors import InputError

GOOD = """\
kind = "score"
judges = 3
overlap = 0.5

[[scales]]
name = "fluency"
high = 4

[inputs]
source = "src.txt"
outputs = ["a.txt", "b.txt"]

[[tutorial]]
source = "He go ."
outputs = ["He goes .", "He go go ."]
worse = 2
better = 1
why = "a word stands there twice"
"""


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "c.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_campaign_file_is_read(tmp_path: Path) -> None:
    found = read_campaign_file(write(tmp_path, GOOD))
    assert found.design == Design(
        kind="score", judges=3, overlap=0.5, scales=(Scale("fluency", 0, 4),)
    )
    assert found.inputs == {"source": "src.txt", "outputs": ("a.txt", "b.txt")}
    (example,) = found.examples
    assert (example.purpose, example.worse, example.better) == ("tutorial", 2, 1)


def test_texts_by_language_and_where_to_listen(tmp_path: Path) -> None:
    text = "[inputs]\nconsent = 'c.md'\ninstructions = {en = 'e.md', de = 'd.md'}\n"
    found = read_campaign_file(write(tmp_path, text + "[serve]\nport = 80\n"))
    assert found.inputs["consent"] == {"": "c.md"}
    assert found.inputs["instructions"] == {"en": "e.md", "de": "d.md"}
    assert found.serve == {"port": 80}


def test_the_command_line_wins(tmp_path: Path) -> None:
    assert read_campaign_file(write(tmp_path, GOOD), judges=7).design.judges == 7


TASK = "source = 'a'\noutputs = ['b', 'c']\n"
ERRORS = [
    ("judges = 3\noverlapp = 0.2\n", 2, "'overlap'"),
    ("judges = 3\n\noutputs = 12\n", 3, "2 to 9"),
    ("judges = 'x'\n", 1, "not a whole number"),
    ("judges = 3\nkind = rank\n", 2, "TOML"),
    ("rankings = 3\nhours = 2.0\n", None, "two budgets"),
    ("inputs = 3\n", 1, "table"),
    ("[inputs]\nsauce = 'x'\n", 2, "'source'"),
    ("[inputs]\noutputs = 3\n", 2, "3 is not a text or a list of texts"),
    ("[inputs]\nconsent = ['a']\n", 2, "consent"),
    ("[inputs]\nconsent = {en = 3}\n", 2, "consent"),
    ("[serve]\nhots = 'x'\n", 2, "'host'"),
    ("[serve]\nport = '80'\n", 2, "port: '80' is not a whole number"),
    ("serve = 3\n", 1, "serve"),
    ("tutorial = 3\n", 1, "list of tables"),
    ("[[tutorial]]\nsource = 'a'\n", 1, "outputs"),
    (f"[[control]]\n{TASK}worse = 1\n", 1, "worse"),
    (f"[[control]]\n{TASK}worse = 1\nbetter = 1\n", 1, "worse"),
    (f"[[control]]\n{TASK}worse = 1\nbetter = 2\nbest = 1\n", 6, "best: unknown"),
]


def test_errors_name_line_and_value(tmp_path: Path) -> None:
    for text, line, words in ERRORS:
        path = write(tmp_path, text)
        with pytest.raises(InputError, match=words) as refused:
            read_campaign_file(path)
        assert (refused.value.path, refused.value.line) == (str(path), line)
