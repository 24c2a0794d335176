"""Options are declared alike in all commands."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import click
import pytest

from command import run, tables
from errata.cli.main import COMMANDS, cli


def command(name: str) -> click.Command:
    found = cli.get_command(click.Context(cli), name)
    assert found is not None
    return found


def commands() -> dict[str, click.Command]:
    """Every command and subcommand by its name."""
    found: dict[str, click.Command] = {}
    for name in COMMANDS:
        found[name] = group = command(name)
        if isinstance(group, click.Group):
            found |= {f"{name} {inner}": each for inner, each in group.commands.items()}
    return found


def test_every_option_has_help_and_says_what_it_takes() -> None:
    """A file is FILE; a bare TEXT says nothing. One spelling is one option everywhere."""
    uses: dict[str, list[click.Option]] = defaultdict(list)
    for name, found in commands().items():
        for parameter in found.params:
            is_option = isinstance(parameter, click.Option)
            shown = parameter.make_metavar(click.Context(found))
            assert "TEXT" not in shown or (is_option and parameter.flag_value), (name, parameter)
            if is_option:
                assert parameter.help, (name, parameter.name)
                for spelling in parameter.opts:
                    uses[spelling].append(parameter)
    assert len(uses) > 150
    for spelling, (first, *others) in uses.items():
        for option in others:
            for field in ("multiple", "metavar", "is_flag", "nargs", "opts"):
                assert getattr(option, field) == getattr(first, field), (spelling, field)
            assert option.type.to_info_dict() == first.type.to_info_dict() or (
                spelling == "--resamples"  # where there must be some, none is refused
            ), spelling


def test_texts_are_normalised_wherever_they_are_tokenised() -> None:
    """Elsewhere the option would do nothing; ``errata tokenise`` writes tokens only."""
    for name, found in commands().items():
        spelt = {spelling for option in found.params for spelling in option.opts}
        assert ("--normalise" in spelt) == ("--tokens" in spelt) or name == "tokenise", name


def test_every_command_shows_an_example_and_prints_json() -> None:
    for name, found in commands().items():
        assert f"errata {name.partition(' ')[0]}" in (found.epilog or "") or name == "data", name
        assert "Example" in (found.epilog or ""), name
        if not isinstance(found, click.Group):
            assert any("--json" in option.opts for option in found.params), name


def test_equal_options_give_equal_results() -> None:
    line = "score --sample --resamples 0 -m gleu --json"
    wanted = run(line).stdout
    for more in ("--format json", "--annotator all", "--annotator all --annotator all"):
        assert run(f"{line} {more}").stdout == wanted
    assert run("stress gleu --resamples 0").stdout == run("stress -m gleu --resamples 0").stdout
    line = "rank --sample --resamples 20 --signature full --unit"  # words are read in any case
    assert "unit:pairs" in run(f"{line} pairs").stdout
    assert run(f"{line} Pairs").stdout == run(f"{line} pairs").stdout


def test_a_figure_may_be_a_file_with_an_equals_sign(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    run("rank --sample --figure ./a=b.svg --resamples 20", cwd=tmp_path)
    assert (tmp_path / "a=b.svg").exists()


def rows(line: str, table: str) -> Any:
    return tables(line)[table]["rows"]


@pytest.mark.parametrize(
    "line",
    [
        "difficulty --sample | --types aligned",
        "difficulty --sample | --tier 1",
        "score --sample --by-type | --tier 1",
        "references --sample | --annotator 0 --annotator 1",
        "corpora --sample -m gleu | --types aligned --seed 1",
        "corpora --sample -m gleu | --tier 1 --annotator 0",
        "align --sample | --annotator 1",
        "rank --sample --head-to-head | --leave-out bo",
        "agree --sample | --leave-out bo",
        "plan --sample --systems eager cautious | --leave-out bo",
    ],
)
def test_what_changes_a_table_is_in_its_signature(line: str) -> None:
    base, _, option = line.partition(" | ")
    plain, changed = tables(base), tables(f"{base} {option}")
    differ = [name for name in plain if plain[name]["rows"] != changed.get(name, {}).get("rows")]
    assert differ
    for name in differ:
        if name in changed:
            assert plain[name]["signature"] != changed[name]["signature"], name
