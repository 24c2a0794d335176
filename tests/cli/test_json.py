"""What programs read: ``--json`` of every command has numbers, pairs and signatures."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest

from board_sample import sample_board
from command import errata, errata_in_forms
from errata.cli import COMMANDS
from errata.datasets.sample import SAMPLE_SYSTEMS
from errata.report.signatures import signature_id
from errata.report.table import Form
from rated_outputs import rated_csv
from small_experiment import SMALL

SAMPLE = Path(__file__).parents[2] / "src" / "errata" / "datasets" / "sample"
RUNS: dict[str, tuple[object, ...]] = {
    "score": ("score", "--sample", "--compare", "--resamples", 40),
    "score --sentences": ("score", "--sample", "-m", "m2", "--by-sentence", "--resamples", 0),
    "score --by-type": ("score", "--sample", "--by-type", "-m", "errant(extractor=aligned)"),
    "compare": ("compare", "--sample", "-m", "gleu", "-m", "edits", "--resamples", 40),
    "compare --by-edit": ("compare", "--sample", "--by-edit", "--resamples", 0, "--trials", 0),
    "compare --fail-if": (
        *("compare", "--sample", "-m", "gleu", "--resamples", 40, "--trials", 0),
        *("--fail-if", "gleu < -0.9", "--show", 0),
    ),
    "verify": ("verify", "m2=0.8165 ± 0.044", "--sample", "--for", "eager"),
    "board": ("board", "board"),
    "collect": ("collect", "new", "pilot.db", "--sample", "--judges", 2),
    "rank": ("rank", "--sample", "--head-to-head", "--resamples", 40),
    "agree": ("agree", "--sample"),
    "plan": ("plan", "--sample", "--systems", "eager", "cautious", "--simulations", 50),
    "plan, little": ("plan", "--sample", "--systems", "fluent", "noisy", "--simulations", 50),
    "refs": ("refs", "--sample", "--resamples", 40),
    "corpora": ("corpora", "--sample", "--against", "m2", "-m", "gleu", "--resamples", 40),
    "scale": (
        *("scale", "run", "--run", "new", "--gold", SAMPLE / "gold.m2", SAMPLE / "eager.txt"),
        *(SAMPLE / "noisy.txt", "-m", "gleu", "-m", "m2", "--resamples", 40, "--engine", "loop"),
    ),
    "scale plan": (
        *("scale", "plan", "--run", "new", "--gold", SAMPLE / "gold.m2", SAMPLE / "eager.txt"),
    ),
    "logs": ("logs", "--source", SAMPLE / "source.txt", SAMPLE / "eager.txt"),
    "align": ("align", "--sample"),
    "stress": ("stress", "gleu", "--resamples", 40),
    "difficulty": ("difficulty", "--sample", "--system", "eager", "--resamples", 40),
    "judge": ("judge", "--sample", "-m", "judge(repeats=1)", "-m", "judge(mode=edit, repeats=1)"),
    "judge --dry-run": ("judge", "--sample", "--dry-run"),
    "meta": ("meta", "--sample", "--window", 3, "--resamples", 40),
    "meta, matrix": ("meta", "--sample", "--matrix", "--level", "system", "--resamples", 40),
    "benchmark": ("benchmark", "--sample", "-m", "gleu", "-m", "m2", "--resamples", 40),
    "train": ("train", "some", "--ratings", "rated.csv", "--dry-run"),
    "train, impara": ("train", "impara", "--gold", SAMPLE / "gold.m2", "--dry-run"),
    "report": ("report", "--sample", "-m", "gleu", "--resamples", 40, "--force"),
    "check": ("check", SAMPLE / "gold.m2", SAMPLE / "eager.txt"),
    "convert": ("convert", SAMPLE / "gold.m2", "--only-source", "-o"),
    "tokenise": ("tokenise", SAMPLE / "source.txt", "--tokens", "characters", "-o"),
    "data": ("data", "list"),
    "metrics": ("metrics",),
    "cache": ("cache", "show"),
    "rankers": ("rankers", "trueskill"),
    "reproduce": ("reproduce",),
    "reproduce, run": ("reproduce", "small.toml"),
}
FORMS = ("json", "tsv", "latex", "markdown", "html")
# What is listed or counted, and not computed, has nothing that made it.
LISTED = {"cache", "collect", "convert", "data", "metrics", "rankers", "reproduce"}
# What a report says of itself.
CONTENTS = {"report", "signatures", "digests", "versions"}
# Names, which may be made of digits, and what a paper prints.
NAMES = {"annotator", "value", "first", "second", "printed", "published"}
# Words of sentences, which may be numbers.
WORDS = {"source", "gold", "hypothesis", "reference", "correction", "old to new", *SAMPLE_SYSTEMS}
NUMBER = r"[+\-−]?(\d[\d,]*(\.\d+)?|\.\d+)([eE][+-]?\d+)?\s?%?"
NUMBER_OR_INTERVAL = re.compile(
    rf"\s*[(\[]?{NUMBER}(\s*(–|-|\.\.|,|to|±)\s*{NUMBER})?[)\]]?[*+#]?\s*"
)


@pytest.fixture(scope="module", params=RUNS)
def printed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, chat_server: object
) -> Any:
    """The name of a run, and what it prints in each form but that of terminals."""
    folder = tmp_path_factory.mktemp("run")
    (folder / "small.toml").write_text(SMALL, encoding="utf-8")
    (folder / "rated.csv").write_text(rated_csv(), encoding="utf-8")
    if request.param == "board":
        sample_board(folder / "board")
    arguments = RUNS[request.param]
    if request.param in {"convert", "tokenise"}:
        arguments += (folder / "out",)
    return request.param, errata_in_forms(FORMS, *arguments, cwd=folder)


@pytest.fixture(scope="module")
def tables(printed: Any) -> Any:
    """The name of a run, and its tables."""
    return printed[0], json.loads(printed[1]["json"].stdout)["tables"]


def test_every_command_is_looked_at() -> None:
    assert {str(arguments[0]) for arguments in RUNS.values()} == COMMANDS.keys()


@pytest.mark.parametrize(
    ("text", "caught"),
    [
        ("0.849 – 0.920", True),
        ("-0.1000 – +0.2", True),
        ("0.44#", True),
        ("2-5", True),
        ("183", True),
        (".5", True),
        ("12 %", True),
        ("1,312", True),
        ("0.5 ± 0.1", True),
        ("eager", False),
        ("eager > cautious", False),
        ("M:DET", False),
        ("of 12 systems", False),
    ],
)
def test_the_test_sees_numbers(text: str, caught: bool) -> None:
    assert bool(NUMBER_OR_INTERVAL.fullmatch(text)) == caught


def _documented() -> list[tuple[str, re.Pattern[str], re.Pattern[str]]]:
    """The rows of docs/json.md: a command, and what matches a name and the columns of its table."""

    def name(text: str) -> str:
        # A word in capitals, as SYSTEM_metrics has one; TP and F are names of their own.
        return re.sub(
            r"(?:(?<=_)|\b)(?:SYSTEM|METRIC|FIGURE|PART|JUDGE|SET|CORPUS|CORRELATION|PAPER|TABLE"
            r"|RANKER)(?=_|\b)",
            "[^\x1f]+",
            re.escape(text).replace("95\\ %", "[0-9.]+\\ %"),
        )

    def columns(text: str) -> str:
        found = ""
        for word, optional in re.findall(r"`([^`]+)`(\??)", text):
            several = word.endswith("...")
            one = f"(?:{name(word.removesuffix('...'))}\x1f)"
            found += f"{one}{'*' if several and optional else '+' if several else optional}"
        return found

    page = (Path(__file__).parents[2] / "docs" / "json.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([^`]+)` \| `([^`]+)` \| (`.+) \|$", page, re.MULTILINE)
    return [(c.split()[0], re.compile(name(n)), re.compile(columns(k))) for c, n, k in rows]


def test_the_page_on_json_names_every_table_and_its_columns(tables: Any) -> None:
    run, found = tables
    command = str(RUNS[run][0])
    rows = _documented()
    shares = command == "report"  # a report has the tables of the commands behind its sections
    own = [row for row in rows if row[0] == command or (shares and row[0] != "reproduce")]
    for table in found:
        keys = "".join(f"{column}\x1f" for column in table["columns"])
        assert any(n.fullmatch(table["name"]) and k.fullmatch(keys) for _, n, k in own), (
            table["name"],
            table["columns"],
        )


def test_the_page_on_json_names_every_command() -> None:
    assert {command for command, _, _ in _documented()} == COMMANDS.keys()


def test_no_number_is_a_text(tables: Any) -> None:
    run, found = tables
    assert found
    texts = [
        f"{table['name']}, {column}: {cell!r}"
        for table in found
        for row in table["rows"]
        for column, cell in row.items()
        if column not in NAMES | WORDS
        and isinstance(cell, str)
        and (NUMBER_OR_INTERVAL.fullmatch(cell) or re.search(r"\d (–|±) [+-]?\d", cell))
    ]
    assert texts == [], run


def test_every_number_says_what_made_it(tables: Any) -> None:
    run, found = tables
    unsigned = [
        table["name"]
        for table in found
        if not table.get("signature") and not (run == "report" and table["name"] in CONTENTS)
    ]
    assert unsigned == ([table["name"] for table in found] if run in LISTED else [])


@pytest.mark.parametrize("form", ["table", *FORMS[1:]])
def test_every_form_says_what_made_it(
    printed: Any, tables: Any, form: Form, tmp_path: Path
) -> None:
    """Each table in forms that are cut apart; on a terminal one of those that share a signature."""
    run, found = tables
    if form != "table":
        text = printed[1][form].stdout
    elif run in {"board", "convert", "report", "reproduce, run", "tokenise", "train"}:
        pytest.skip("writes files, or takes long")
    else:
        text = errata(*RUNS[run], "--format", form, cwd=tmp_path).stdout
    lines = [line for t in found if "signature" in t for line in t["signature"].split("\n")]
    flat = re.sub(r"\\textbar\{\}|\\\|", "|", html.unescape(text)).replace("\\", "")
    for line in set(lines):
        wanted = 1 if form == "table" else lines.count(line)
        short = form in ("table", "markdown")
        shown = f"#{signature_id(line)}" if short else line.replace("\\", "")
        assert flat.count(shown) >= wanted, (run, line)


def test_every_table_has_a_name_of_its_own(tables: Any) -> None:
    _, found = tables
    names = [table["name"] for table in found]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("command", "option"),
    [
        (("difficulty", "--sample"), ("--types", "aligned")),
        (("difficulty", "--sample"), ("--tier", "1")),
        (("score", "--sample", "--by-type"), ("--tier", "1")),
        (("refs", "--sample"), ("--annotator", "0", "--annotator", "1")),
        (("corpora", "--sample", "-m", "gleu"), ("--types", "aligned", "--seed", "1")),
        (("corpora", "--sample", "-m", "gleu"), ("--tier", "1", "--annotator", "0")),
        (("align", "--sample"), ("--annotator", "1")),
        (("rank", "--sample", "--head-to-head"), ("--leave-out", "bo")),
        (("agree", "--sample"), ("--leave-out", "bo")),
        (("plan", "--sample", "--systems", "eager", "cautious"), ("--leave-out", "bo")),
    ],
)
def test_what_changes_a_table_is_in_its_signature(
    command: tuple[str, ...], option: tuple[str, ...]
) -> None:
    plain, changed = (
        {t["name"]: t for t in json.loads(errata(*command, *more, "--json").stdout)["tables"]}
        for more in ((), option)
    )
    differ = [name for name in plain if plain[name]["rows"] != changed.get(name, {}).get("rows")]
    assert differ
    for name in differ:
        if name in changed:
            assert plain[name]["signature"] != changed[name]["signature"], name
