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
from errata.cli.renamed import RENAMED, with_new_names
from errata.datasets.sample import sample_file

with sample_file("gold.m2") as path:
    GOLD = path

# The same thing to ask for, whose help says what is particular to a command: its default or what
# it draws. Names, values and whether they repeat are the same.
OWN_HELP = {
    "--all",  # of what
    "--consent",  # what is asked again
    "--dry-run",  # what would be done
    "--extract",  # the default; with an M2 file convert finds its edits anew
    "--figure",  # the kinds a command draws
    "--for",  # what is asked of the system
    "--metric",  # the default
    "--old",  # the default
    "--output",  # which names several files get
    "--parquet",  # which columns
    "--quota",  # whose
    "--ranker",  # the default, and what the scores are for
    "--resamples",  # of what
    "--scores",  # instead of what
    "--unit",  # the default, and why
    "--workers",  # what the processes do
}


# What commands may import from the command line.
SHARED = (
    ".campaign_changes",
    ".campaigns",
    ".collect_design",
    ".collect_inputs",
    ".chosen",
    ".named_data",
    "",
    ".figures",
    ".gate",
    ".given",
    ".human_scores",
    ".known",
    ".inputs",
    ".options",
    ".output",
    ".people",
    ".running",
    ".score_files",
    ".set_options",
    ".set_tables",
    ".words",
)


def command(name: str) -> click.Command:
    found = cli.get_command(click.Context(cli), name)
    assert found is not None
    return found


def source(name: str) -> Path:
    return Path(__file__).parents[2] / "src" / "errata" / "cli" / f"{name}.py"


def commands() -> dict[str, click.Command]:
    """Every command and subcommand by its name."""
    found: dict[str, click.Command] = {}
    for name in COMMANDS:
        found[name] = command(name)
        if isinstance(found[name], click.Group):
            group = found[name]
            assert isinstance(group, click.Group)
            found |= {f"{name} {inner}": each for inner, each in group.commands.items()}
    return found


def test_one_spelling_is_one_option() -> None:
    uses: dict[str, dict[str, click.Option]] = defaultdict(dict)
    for name, found in commands().items():
        for parameter in found.params:
            if isinstance(parameter, click.Option):
                for spelling in parameter.opts:
                    uses[spelling][name] = parameter
    for spelling, options in uses.items():
        first, *others = options.values()
        for option in others:
            for field in ("multiple", "metavar", "is_flag", "nargs", "opts"):
                assert getattr(option, field) == getattr(first, field), (spelling, field)
            assert option.type.to_info_dict() == first.type.to_info_dict() or (
                spelling == "--resamples"  # where there must be some, none is refused
            ), spelling
            assert max(option.opts, key=len) in OWN_HELP or option.help == first.help, spelling


def test_every_option_says_what_it_takes() -> None:
    """A file is FILE; a bare TEXT says nothing."""
    for name, found in commands().items():
        for parameter in found.params:
            shown = parameter.make_metavar(click.Context(found))
            takes_value = not (isinstance(parameter, click.Option) and parameter.flag_value)
            assert not (takes_value and "TEXT" in shown), (name, parameter.name)
            if isinstance(parameter, click.Option):
                assert parameter.help, (name, parameter.name)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (("rank", "-m", "net_wins"), ("rank", "--ranker", "net_wins")),
        (("rank", "-mnet_wins"), ("rank", "--ranker", "net_wins")),
        (("agree", "--method=net_wins"), ("agree", "--ranker=net_wins")),
        (
            ("meta", "--method", "net_wins", "-m", "bleu", "--level", "system"),
            ("meta", "--ranker", "net_wins", "-m", "bleu", "--level", "system"),
        ),
        (("agree", "--weights", "linear"), ("agree", "--kappa-weights", "linear")),
        (("score", "-m", "gleu", "--sentences"), ("score", "-m", "gleu", "--by-sentence")),
        (
            ("difficulty", "--leave-out", "--top", 1),
            ("difficulty", "--exclude-own", "--examples", 1),
        ),
    ],
)
def test_old_spellings_work_with_a_notice(old: tuple[object, ...], new: tuple[object, ...]) -> None:
    before, after = (errata(*run, "--sample") for run in (old, new))
    assert before.stdout == after.stdout
    assert any(f" is called {str(word).partition('=')[0]} now" in before.stderr for word in new)
    assert not after.stderr


def test_quiet_commands_give_no_notice() -> None:
    run = ("rank", "--sample", "--resamples", 0, "--method", "net_wins")
    assert "notice" in errata(*run).stderr
    assert not errata(*run, "-q").stderr
    assert not errata("-q", *run).stderr


def test_old_figures_are_drawn_with_a_notice(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    run = ("meta", "--sample", "-m", "gleu", "-m", "bleu", "--level", "system", "--resamples", 0)
    done = errata(*run, "--map", "map.svg", "--scatter=scatter.svg", cwd=tmp_path)
    assert "notice: --map is called --figure significance= now\n" in done.stderr
    new = ("--figure", "significance=map2.svg", "--figure", "scatter=scatter2.svg")
    errata(*run, *new, cwd=tmp_path)
    for name in ("map", "scatter"):
        old, today = tmp_path / f"{name}.svg", tmp_path / f"{name}2.svg"
        assert old.read_bytes() == today.read_bytes()
    errata("difficulty", "--sample", "--map", "m.html", "--resamples", 0, cwd=tmp_path)
    assert (tmp_path / "m.html").read_text().startswith("<!DOCTYPE html>")


def test_every_new_name_is_an_option() -> None:
    for name, renamed in RENAMED.items():
        spellings = {spelling for option in command(name).params for spelling in option.opts}
        for old, new in renamed.items():
            assert new.partition(" ")[0] in spellings
            assert old not in spellings


def test_nothing_is_renamed_behind_two_dashes() -> None:
    assert with_new_names("rank", ["--", "--plot"]) == ["--", "--plot"]
    assert with_new_names("rank", ["x", "--plot"]) == ["x", "--figure"]
    assert with_new_names("meta", ["--map"]) == ["--figure"]


def test_old_names_in_every_spelling() -> None:
    new = ["--ranker=a=b", "--ranker", "x", "--ranker=x", "y", "-x", "--mm", "--"]
    assert (
        with_new_names("rank", ["-ma=b", "-m", "x", "--method=x", "y", "-x", "--mm", "--"]) == new
    )
    assert with_new_names("meta", ["--map=x", "--map", "y", "-m", "z"]) == [
        *("--figure=significance=x", "--figure", "significance=y", "-m", "z")
    ]


@pytest.mark.parametrize(
    ("figure", "problem"),
    [
        ("x.svg", "which figure is to be drawn into 'x.svg'?; write scatter=FILE or"),
        ("scater=x.svg", "there is no figure 'scater'; did you mean 'scatter'? known: scatter,"),
        ("scatter=x.html", "cannot draw into 'x.html'; use a name in .svg, .png or .pdf"),
    ],
)
def test_figures_that_cannot_be_drawn(figure: str, problem: str) -> None:
    assert problem in errata("meta", "--sample", "--figure", figure, code=2).stderr


def test_a_figure_may_be_a_file_with_an_equals_sign(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    errata("rank", "--sample", "--figure", "./a=b.svg", "--resamples", 20, cwd=tmp_path)
    assert (tmp_path / "a=b.svg").exists()
    twice = ("--figure", "x.svg", "--figure", "ranking=x.svg")
    assert "two figures" in errata("rank", "--sample", *twice, code=2, cwd=tmp_path).stderr


@pytest.mark.parametrize("given", ["x", "-1", "²", "1" * 5000])
def test_an_annotator_is_a_number_or_all(given: str) -> None:
    for name in ("score", "difficulty", "refs"):
        done = errata(name, "--sample", "--annotator", given, code=2)
        assert "is neither the number of an annotator nor all" in done.stderr
        assert len(done.stderr) < 400


def test_all_annotators_are_all() -> None:
    run = ("score", "--sample", "-m", "m2", "--resamples", 0)
    assert errata(*run, "--annotator", "all").stdout == errata(*run).stdout


def test_several_annotators_are_several_files(tmp_path: Path) -> None:
    errata(
        "convert",
        GOLD,
        "--annotator",
        0,
        "--annotator",
        1,
        "--copy-missing",
        "-o",
        "x",
        cwd=tmp_path,
    )
    assert {path.name for path in tmp_path.iterdir()} == {"x.src", "x.ref0", "x.ref1"}


def test_a_metric_is_named_alike_in_stress() -> None:
    run = ("--resamples", 0)
    assert errata("stress", "gleu", *run).stdout == errata("stress", "-m", "gleu", *run).stdout
    assert "no metric to test" in errata("stress", code=2).stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_imports_another(name: str) -> None:
    shared = {f"errata.cli{room}" for room in (*SHARED, f".{name}_options")}
    for node in ast.walk(ast.parse(source(name).read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("errata.cli"):
            assert node.module in shared


@pytest.mark.parametrize("name", commands())
def test_every_command_shows_an_example_and_prints_json(name: str) -> None:
    found = commands()[name]
    assert f"errata {name.partition(' ')[0]}" in (found.epilog or "") or name == "data"
    assert "Example" in (found.epilog or "")
    if not isinstance(found, click.Group):
        assert any("--json" in option.opts for option in found.params)


# These answer at once, whatever they are given: nothing is counted or resampled.
AT_ONCE = {"agree", "cache", "check", "metrics", "rankers"}


@pytest.mark.parametrize("name", COMMANDS)
def test_what_may_take_long_shows_how_far_it_is(name: str) -> None:
    assert ("ProgressBar(" in source(name).read_text("utf-8")) == (name not in AT_ONCE)


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
    more = {"stress": ["gleu", "--damage", "r0.txt"], "check": []}.get(name, ["r0.txt"])
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
    done = errata("stress", "m2", "--annotator", 1, "--resamples", 0, "--signature", "full")
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
        ("rank", "missing", "--figure", "x.doc"),
        ("stress", "gleu", "--gold", "missing", "--figure", "x.doc"),
        ("difficulty", "--gold", "missing", "--figure", "x.doc"),
    ],
)
def test_a_figure_that_cannot_be_drawn_is_refused_before_the_work(
    arguments: tuple[str, ...],
) -> None:
    assert "use a name in ." in errata(*arguments, code=2).stderr
