"""Options of one spelling are one option, and every command gets few values from them."""

from __future__ import annotations

import ast
import inspect
import json
from collections import defaultdict
from pathlib import Path

import click
import pytest

from command import errata
from errata.cli import COMMANDS, cli

# Spelled alike and something else: one annotator or all, a judge or oneself, a level to reach...
HOMONYMS = {
    "--annotator",
    "--confidence",
    "--leave-out",
    "--map",
    "--missing",
    "--output",
    "--sentences",
    "--top",
    "--weights",
}
# Shown for another reason, or what is drawn differs.
OWN_HELP = {"--extract", "--figure", "--metric", "--ranker", "--resamples", "--unit"}


def command(name: str) -> click.Command:
    found = cli.get_command(click.Context(cli), name)
    assert found is not None
    return found


def source(name: str) -> Path:
    return Path(__file__).parents[2] / "src" / "errata" / "cli" / f"{name}.py"


def test_one_spelling_is_one_option() -> None:
    uses: dict[str, dict[str, click.Option]] = defaultdict(dict)
    for name in COMMANDS:
        for parameter in command(name).params:
            if isinstance(parameter, click.Option):
                uses[max(parameter.opts, key=len)][name] = parameter
    for spelling, options in uses.items():
        if spelling in HOMONYMS:
            continue
        first, *others = options.values()
        for option in others:
            for field in ("multiple", "metavar", "is_flag", "nargs"):
                assert getattr(option, field) == getattr(first, field), (spelling, field)
            assert option.type.to_info_dict().get("choices") == first.type.to_info_dict().get(
                "choices"
            ), spelling
            assert spelling in OWN_HELP or option.help == first.help, spelling


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_imports_another(name: str) -> None:
    shared = {"errata.cli", "errata.cli.options", "errata.cli.output"}
    for node in ast.walk(ast.parse(source(name).read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("errata.cli"):
            assert node.module in shared


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_takes_few_values(name: str) -> None:
    callback = command(name).callback
    assert callback is not None
    assert len(inspect.signature(inspect.unwrap(callback)).parameters) <= 17


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in (
        ("s.txt", "He go .\nI am .\n"),
        ("r0.txt", "He goes .\nI am .\n"),
        ("r1.txt", "<none>\nI was .\n"),
        ("odd.m2", "S a b c\nS d e f\nA 1 2|||X|||x|||REQUIRED|||-NONE-|||0\n\n"),
        ("odd.txt", "a x c\nd e f\n"),
    ):
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize("name", ["score", "refs", "difficulty", "stress", "check"])
def test_missing_references_are_marked_everywhere(folder: Path, name: str) -> None:
    texts = ("--source", "s.txt", "--refs", "r0.txt", "--refs", "r1.txt")
    more = {"stress": ["gleu", "--output", "r0.txt"], "check": []}.get(name, ["r0.txt"])
    more += {"difficulty": ["--annotator", "all"]}.get(name, [])
    if name in ("score", "refs"):
        more += ["-m", "gleu"]
    done = errata(name, *more, *texts, "--missing", "<none>", "--json", cwd=folder)
    tables = {table["name"]: table for table in json.loads(done.stdout)["tables"]}
    if name == "refs":
        assert tables["reference_sets"]["rows"][1]["sentences"] == 1
    elif name == "check":
        assert tables["files"]["rows"][2]["changed"] == 0.5  # the mark changes nothing
    else:
        assert "references:1-2" in next(iter(tables.values()))["signature"]


@pytest.mark.parametrize("name", ["score", "refs", "difficulty", "stress", "check", "convert"])
def test_odd_gold_can_be_read_everywhere(folder: Path, name: str) -> None:
    arguments: dict[str, list[str]] = {
        "stress": ["gleu", "--gold", "odd.m2"],
        "convert": ["odd.m2", "--annotator", "0"],
    }
    run = [name, *arguments.get(name, ["--gold", "odd.m2", "odd.txt"])]
    refused = errata(*run, code=2, cwd=folder)
    assert "a second 'S ' line" in refused.stdout + refused.stderr
    done = errata(*run, "--compatible", code=None, cwd=folder)
    assert "'S ' lines in one paragraph share its edits" in done.stdout + done.stderr
    # One annotator cannot be compared with others; that the file was read is said before.
    assert done.returncode == (2 if name == "refs" else 0)


def test_the_sample_takes_no_files(folder: Path) -> None:
    for name in ("score", "refs", "difficulty"):
        done = errata(name, "--sample", "s.txt", code=2, cwd=folder)
        assert "--sample takes no files" in done.stderr
    done = errata("stress", "gleu", "--sample", "--gold", "odd.m2", code=2, cwd=folder)
    assert "--sample takes no files" in done.stderr


def test_one_annotator_everywhere() -> None:
    done = errata("stress", "m2", "--annotator", 1, "--resamples", 0)
    assert "references:1 of annotator 1" in done.stdout
    done = errata("refs", "--sample", "-m", "gleu", "--annotator", 0, "--annotator", 1, "--json")
    first = json.loads(done.stdout)["tables"][0]
    assert [row["annotator"] for row in first["rows"]] == ["0", "1"]


def test_the_level_of_intervals() -> None:
    done = errata(
        "refs", "--sample", "-m", "gleu", "--confidence", 0.8, "--resamples", 40, "--json"
    )
    table = next(
        table
        for table in json.loads(done.stdout)["tables"]
        if table["name"] == "annotators_as_systems"
    )
    assert "80 % interval" in table["columns"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("rank", "missing", "--plot", "x.doc"),
        ("stress", "gleu", "--gold", "missing", "--plot", "x.doc"),
        ("difficulty", "--gold", "missing", "--figure", "x.doc"),
    ],
)
def test_a_figure_that_cannot_be_drawn_is_refused_before_the_work(
    arguments: tuple[str, ...],
) -> None:
    assert "use a name in .svg" in errata(*arguments, code=2).stderr
