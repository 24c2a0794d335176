"""Campaign files: settings become a design, and what is wrong is said with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from errata.collect.design import Design, Scale, design_of
from errata.errors import InputError
from errata.io.campaign_files import read_campaign_file

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
    found = read_campaign_file(write(tmp_path, GOOD), design_of)
    assert found.design == Design(
        kind="score", judges=3, overlap=0.5, scales=(Scale("fluency", 0, 4),)
    )
    assert found.inputs == {"source": "src.txt", "outputs": ("a.txt", "b.txt")}
    (example,) = found.examples
    assert (example.purpose, example.worse, example.better) == ("tutorial", 2, 1)


def test_texts_by_language_and_where_to_listen(tmp_path: Path) -> None:
    text = "[inputs]\nconsent = 'c.md'\ninstructions = {en = 'e.md', de = 'd.md'}\n"
    found = read_campaign_file(write(tmp_path, text + "[serve]\nport = 80\n"), design_of)
    assert found.inputs["consent"] == {"": "c.md"}
    assert found.inputs["instructions"] == {"en": "e.md", "de": "d.md"}
    assert found.serve == {"port": 80}


def test_the_command_line_wins(tmp_path: Path) -> None:
    assert read_campaign_file(write(tmp_path, GOOD), design_of, judges=7).design.judges == 7


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("judges = 3\noverlapp = 0.2\n", 2, "did you mean 'overlap'"),
        ("judges = 3\n\noutputs = 12\n", 3, "2 to 9"),
        ("judges = 'x'\n", 1, "should be int"),
        ("judges = 3\nkind = rank\n", 2, "not TOML"),
        ("rankings = 3\nhours = 2.0\n", None, "two budgets"),
        ("inputs = 3\n", 1, "a table"),
        ("[inputs]\nsauce = 'x'\n", 2, "did you mean 'source'"),
        ("[inputs]\noutputs = 3\n", 2, "outputs=3 should be a list of words"),
        ("[inputs]\nconsent = ['a']\n", 2, "a file, or a table of files by language"),
        ("[inputs]\nconsent = {en = 3}\n", 2, "a file, or a table of files by language"),
        ("[serve]\nhots = 'x'\n", 2, "did you mean 'host'"),
        ("[serve]\nport = '80'\n", 2, "port='80' should be a whole number"),
        ("serve = 3\n", 1, "serve should be a table"),
        ("tutorial = 3\n", 1, "list of tables"),
        ("[[tutorial]]\nsource = 'a'\n", None, "a source and outputs"),
        ("[[control]]\nsource = 'a'\noutputs = ['b', 'c']\nworse = 1\n", None, "worse than which"),
        (
            "[[control]]\nsource = 'a'\noutputs = ['b', 'c']\nworse = 1\nbetter = 1\n",
            None,
            "worse than which",
        ),
        (
            "[[control]]\nsource = 'a'\noutputs = ['b', 'c']\nworse = 1\nbetter = 2\nbest = 1\n",
            6,
            "has no 'best'",
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_line(
    tmp_path: Path, text: str, line: int | None, words: str
) -> None:
    path = write(tmp_path, text)
    with pytest.raises(InputError) as refused:
        read_campaign_file(path, design_of)
    assert words in str(refused.value)
    assert (refused.value.path, refused.value.line) == (str(path), line)
