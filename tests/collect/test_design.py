"""The settings of a campaign: what is refused, and that they survive being stored."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from errata.collect.design import Design, Scale, design_of
from errata.collect.files import read_campaign_file
from errata.collect.planning import read_references
from errata.core.errors import InputError

BAD: list[tuple[dict[str, object], str]] = [
    ({"kind": "ranks"}, "did you mean 'rank'"),
    *(({"outputs": many}, "2 to 9") for many in (1, 10)),
    ({"kind": "pair", "outputs": 3}, "a pair is two"),
    ({"overlap": 1.5}, "a share"),
    ({"repeats": -0.1}, "a share"),
    ({"repeats": 0.3, "controls": 0.3}, "less than half"),
    *(({name: 0}, "from 1") for name in ("judges", "judges_per_item", "distance", "slots")),
    *(({name: 0}, "from 1") for name in ("looks", "attempts", "sample", "rankings", "margin")),
    *(({name: -1}, "from 0") for name in ("context", "seed")),
    ({"lease": 59}, "from 60"),
    ({"quota": 0}, "from 1"),
    ({"hours": -1.0}, "above 0"),
    ({"quota": 1_000_001}, "give 1000000 at most"),
    *(({name: 10**30}, "too large") for name in ("judges", "rankings", "lease")),
    ({"hours": 1e300}, "too large"),
    ({"money": 10**400, "rate": 1.0}, "not finite"),
    ({"alpha": 0.9}, "at most 0.5"),
    ({"policy": "adaptive"}, "is for pairs"),
    ({"scales": [{"name": "x"}]}, "kind = 'score'"),
    ({"kind": "score", "scales": [{"name": "x"}, {"name": "x"}]}, "same name"),
    ({"kind": "score", "scales": [{"name": "x", "low": 4, "high": 4}]}, "from 4 to 4"),
    ({"kind": "score", "scales": [{"name": "x", "lowest": 4}]}, "name, low, high"),
    ({"instructions": ["minimal"]}, "kind = 'correct'"),
    ({"kind": "correct", "instructions": ["least"]}, "unknown"),
    ({"kind": "correct", "instructions": ["minimal", "minimal"]}, "twice"),
    ({"slots": 2}, "kind = 'correct'"),
    *(({"block": rule}, "3 of 5") for rule in ("3 out of 5", "6 of 5")),
    ({"until": "A better than B"}, "A>B"),
    ({"until": ["clusters=0"]}, "clusters=3"),
    ({"kind": "score", "until": "A>B"}, "rankings and pairs"),
    ({"rankings": 10, "hours": 2.0}, "two budgets"),
    ({"money": 10.0}, "rate"),
    ({"overlapp": 0.2}, "did you mean 'overlap'"),
    *(({"judges": many}, "not a whole number") for many in ("three", True)),
    ({"kind": 3}, "3 is unknown"),
    ({"marks": 1}, "not true or false"),
]


def test_bad_settings_are_refused_in_one_line() -> None:
    for settings, words in BAD:
        with pytest.raises(InputError) as refused:
            design_of(settings)
        assert words in str(refused.value)
        assert "\n" not in str(refused.value)


def test_designs_survive_being_stored() -> None:
    for design in (
        Design(),
        Design(kind="score", scales=(Scale("fluency", 0, 4, ("bad", "good")),), margin=2),
        Design(kind="correct", instructions=("minimal", "fluency"), slots=2, judges=4),
        Design(kind="pair", policy="adaptive", until=("A>B", "clusters=3"), block="3 of 5"),
        # The least and the largest numbers that are taken.
        Design(outputs=2, repeats=0.25, controls=0.25, margin=1, sample=1, quota=1, lease=60),
        Design(outputs=9, rankings=1, context=0, looks=1, attempts=1, alpha=0.5, block="5 of 5"),
        Design(quota=1_000_000, money=1e12, rate=1e12, overlap=1.0, pass_mark=1.0, distance=1),
    ):
        assert design_of(json.loads(json.dumps(design.to_json()))) == design


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


def test_references_are_systems_or_shown(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).write_text(f"{name} .\n")
    one, both = [str(tmp_path / "a")], [str(tmp_path / name) for name in "ab"]
    system, shown = Design(reference_is_system=True), Design(show_reference=True)
    a, b = ("a .",), ("b .",)
    assert read_references(Design(), (), set()) == ({}, ())
    assert read_references(system, one, {"A"}) == ({"reference": a}, ())
    assert read_references(system, both, {"A"}) == ({"reference0": a, "reference1": b}, ())
    assert read_references(shown, both, {"reference0"}) == ({}, a)
    for design, paths, words in (
        (system, both, "a system is called 'reference1'; give it another name"),
        (Design(), one, "references are no systems"),
        (shown, (), "show_reference is set, and there is no reference"),
    ):
        with pytest.raises(InputError, match=words):
            read_references(design, paths, {"reference1"})
