"""Options are declared alike in all commands, and what cannot be done is refused in one line.

The refused cases are in ``refused.txt``: a command and, behind the bar, words of the message that
names the file, the value or the option. Options that would change nothing are refused, not ignored.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import click
import pytest

from collecting import fill_with_sample
from command import refused, run, tables
from errata.cli.judgment_options import split_names
from errata.cli.main import COMMANDS, cli
from errata.core.errors import InputError


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
            context = click.Context(found)
            shown = (parameter.get_help_record(context) or parameter.get_usage_pieces(context))[0]
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


NINES = "9" * 5000
SCORED = "meta --human h.tsv --scores ter=lo.tsv"
WORDS = {
    "SCORED": SCORED,
    "GATE": "compare --gold gold.m2 eager.txt noisy.txt --resamples 20 --trials 0",
}
GENERATED = {
    "limits": "\n".join(
        f"{command} --resamples {many} | more than 1,000,000 ... --no-limits"
        for command in ("rank --sample", "score --sample", "meta --sample", "references --sample")
        + ("stress gleu", "difficulty --sample")
        for many in ("1000001", "99999999999999999999")
    ),
    "odd values": "\n".join(
        f"{command} --seed -1 | --seed"
        for command in ("score --sample", "rank --sample", "stress gleu", "difficulty --sample")
        + ("meta --sample", "plan --sample", "references --sample")
    )
    + f"""
        score --sample -m gleu --confidence nan | --confidence
        rank --sample --confidence nan | --confidence
        plan --sample --confidence nan | --confidence
        plan --sample --power nan | --power
        difficulty --sample --annotator {NINES} | annotator
        difficulty --sample --terminal --sentences {NINES} | sentences
        score --sample --seed {NINES} | --seed
        score --sample --resamples {NINES} | --resamples
        score --sample -m m2(beta={{[]}}) | beta
        score --sample -m m2(beta=1{"0" * 400}) | beta
        score --sample -m m2(beta={NINES}) | beta
        score --sample -m m2(beta=1e999) | beta
        score --sample -m 'errant(extractor=aligned, only=(1,2))' | only
        score --sample -m errant(only=(1,2)) | only
        score --sample -m difficulty(ignore=([],)) | ignore
        score --sample -m m2\udce9 | m2
        score --sample -m gleu({"(" * 3000}) | gleu
        score --gold no\udce9such.m2 x | such.m2
        data get --all --base-url http://[::1 | http://
        reproduce no\x1bsuch | no\\x1bsuch
        no\x1b]0;such | such
        score --sam\x1b]0;ple | ple
    """,
}


def cases() -> dict[str, str]:
    """The lines of refused.txt by section, and those that are generated."""
    text = Path(__file__).with_name("refused.txt").read_text("utf-8")
    for word, meaning in WORDS.items():
        text = text.replace(f"\n{word} ", f"\n{meaning} ")
    _, *parts = re.split(r"^\[(.+)\]$", text, flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True)) | GENERATED


REFUSED = cases()


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = fill_with_sample(tmp_path_factory.mktemp("refused"))
    long = " ".join(map(str, range(9000)))
    ties = {"judge": "a", "systems": ["A", "B"], "ranks": [1, 1]}
    for name, text in {
        "one-line.txt": "He goes home .\n",
        "alien.txt": "Nothing of this .\n" * 72,
        "two.m2": "S a\n\nx\n",
        "other.m2": (folder / "gold.m2").read_text("utf-8").replace("S ", "S You ", 1),
        "wide.txt": "a " * 100_000 + "\n",
        "wide2.txt": "b " * 100_000 + "\n",
        "long.txt": f"He go .\n{long}\n",
        "longer.txt": f"He goes .\n{long} .\n",
        "out1": "1\n73\n",
        "out2": "1\n70-99",
        "out3": "x\n",
        "out4": "3\n9-7\n",
        "out5": "0\n",
        "out6": "# none\n",
        "out7": "1-72\n",
        "h.tsv": "A\t3\nB\t2\nC\t1\nD\t0\n",
        "lo.tsv": "A\t0.2\nB\t0.1\nC\t0.9\nD\t0.4\n",
        "gleu.json": run("score --sample -m gleu --resamples 0 --json").stdout,
        "people.json": run("rank --sample --resamples 40 --json").stdout,
        "bad.jsonl": '{"judge": "ann", "sentence": 0, "groups": [["A"]], "ranks": [0]}\n',
        "one.jsonl": json.dumps(ties | {"sentence": 0, "ranks": [1, 2]}) + "\n",
        "ties.jsonl": "".join(json.dumps(ties | {"sentence": s}) + "\n" for s in range(3)),
        "claims.txt": "m2 = 0.5\nm2 is good\n",
        "no-claims.txt": "# none\n",
        "three.txt": "a\nb\nc\n",
        "more.tsv": "clean\nyes\n\n1\n0\nno\n",
        "few.tsv": "clean\nyes\n",
        "odd.tsv": "clean\tlocale\nyes\tx\nmaybe\tx\nno\tx\n",
        "broad.tsv": "clean\nyes\tno\nyes\nno\n",
        "same.tsv": "clean\tclean\n",
    }.items():
        (folder / name).write_text(text, encoding="utf-8")
    run("convert --source source.txt --refs eager.txt -o own.m2", cwd=folder)
    return folder


@pytest.mark.parametrize("name", REFUSED)
def test_commands_refuse_in_one_line(inputs: Path, name: str) -> None:
    wrong = refused(REFUSED[name], inputs)
    assert not wrong, "\n".join(wrong)


def test_where_a_failure_comes_from() -> None:
    bad = "score --gold nowhere.m2 x.txt"
    assert "Traceback" in run(f"--traceback {bad}", code=2).stderr
    assert "Traceback" in run(bad, code=2, env={"ERRATA_TRACEBACK": "1"}).stderr
    assert "Traceback" not in run(bad, code=2).stderr  # nothing stays set


def test_names_are_a_list_or_a_file(tmp_path: Path) -> None:
    (tmp_path / "names").write_text("A \nB\n")
    assert split_names(None) == []
    assert split_names("A, B") == split_names(str(tmp_path / "names")) == ["A", "B"]
    with pytest.raises(InputError, match="empty name"):
        split_names("A,,B")


@pytest.mark.parametrize("level", ["sentence", "both", "system"])
def test_scores_of_systems_alone_are_judged_as_such(inputs: Path, level: str) -> None:
    code = 2 if level == "sentence" else 0
    line = f"meta --judgments judgments.jsonl --scores m.tsv --level {level} --resamples 0"
    names = ("eager", "cautious", "fluent", "noisy", "nothing")
    (inputs / "m.tsv").write_text("".join(f"{name}\t{k / 7}\n" for k, name in enumerate(names)))
    done = run(line, cwd=inputs, code=code)
    assert ("no sentence scores of m" in done.stderr) == (level != "system")
    assert ("system level" in done.stdout) == (level != "sentence")
    assert "sentence level" not in done.stdout


@pytest.mark.parametrize("body", ["1 / 0", "'good'"])
def test_a_function_that_fails_is_a_fault(body: str, tmp_path: Path) -> None:
    text = f"def broken(source, hypothesis, references):\n    return {body}\n"
    (tmp_path / "own_metric.py").write_text(text)
    done = run("score --sample -m own_metric.py:broken", cwd=tmp_path, code=70)
    assert "own_metric.py:broken " in done.stderr
    assert len(done.stderr.splitlines()) == 1
