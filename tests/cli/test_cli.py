"""The command line: fast to start, helpful, and as wide as the terminal."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from command import errata, errata_process, python_process, run, tables
from errata import __version__
from errata.cli import options
from errata.cli.main import COMMANDS
from errata.core.signatures import short_signature

HEAVY = (
    "numpy scipy rich sacrebleu rapidfuzz pooch matplotlib spacy torch transformers cython Cython"
)
SCALE = "dask distributed pyarrow fsspec zstandard"
JUDGMENTS = " ".join(f"errata.io.judgments.{n}" for n in ("appraise", "jsonl", "mturk", "pairwise"))


@pytest.mark.parametrize(
    ("code", "absent"),
    [
        ("import errata", f"{HEAVY} {SCALE}"),
        ("--help", f"{HEAVY} {SCALE}"),
        ("--version", HEAVY),
        ("scale --help", SCALE),
        ("collect new --help", "sqlalchemy starlette uvicorn jinja2"),
        ("score --sample", f"scipy {SCALE} {JUDGMENTS}"),  # SciPy took a quarter of a second
    ],
)
def test_nothing_heavy_is_imported_unless_it_is_used(code: str, absent: str) -> None:
    if "import" not in code:
        code = f"from errata.cli.main import main; main({code.split()})"
    program = f"import sys\ntry:\n {code}\nexcept SystemExit: pass\nprint(*sys.modules)"
    loaded = set(python_process(program).stdout.splitlines()[-1].split())
    assert "errata" in loaded
    assert loaded & set(absent.split()) == set()


def test_public_names_are_what_they_are_called() -> None:
    """A submodule of the same name must not take a function's place once it is imported."""
    program = (
        "import errata, errata.scoring.evaluate, errata.metrics, errata.data\n"
        "import errata.tables.table\n"
        "print(all(callable(getattr(errata, n)) for n in errata.__all__ if n != '__version__'))\n"
        "print(all(getattr(errata, n) is getattr(errata, n) for n in errata.__all__))"
    )
    assert python_process(program).stdout.split() == ["True", "True"]


def test_help_lists_every_command_with_an_example() -> None:
    text = errata("--help").stdout
    for name in COMMANDS:
        assert f"\n  {name} " in text
        assert f"errata {name}" in errata(name, "--help").stdout.split("Example")[1]
    assert __version__ in run("--version").stdout == run("-V").stdout


def test_alone_it_prints_what_to_type() -> None:
    lines = errata().stdout.splitlines()
    typed = [line.split("  ")[0].split() for line in lines if line.startswith("errata ")]
    assert [name for _, name, *_ in typed[:3]] == ["score", "score", "report"]
    errata(*typed[0][1:])


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("errata sc", "plain,score"),
        ("errata rank --un", "plain,--unit"),
        ("errata rank --unit pa", "plain,pairs"),
    ],
)
def test_the_shell_completes(words: str, completed: str) -> None:
    place = str(len(words.split()) - 1)
    env = {"_ERRATA_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": place}
    start = errata_process if words == "errata sc" else errata
    assert completed in start(env=env, code=None).stdout.splitlines()


def test_signatures_are_short_unless_asked_for() -> None:
    line = "score --sample -m m2(beta=1) -m gleu --resamples 40"
    whole = next(iter(tables(line).values()))["signature"].split("\n")
    short = " ".join(map(short_signature, whole))
    assert short.startswith("m2(beta=1.0)#")
    assert f"\nsignature: {short}\n" in run(line).stdout
    for long in (run(f"{line} --signature full"), run(line, env={"ERRATA_SIGNATURE": "full"})):
        assert [f"signature: {line}" for line in whole] == [
            line for line in long.stdout.splitlines() if line.startswith("signature")
        ]


@pytest.mark.parametrize("columns", [80, 60, 200])
def test_tables_keep_to_the_terminal(columns: int) -> None:
    line = "score --sample --resamples 40 --compare -m m2 -m gleu -m bleu -m ter -m green"
    shown = run(line, env={"COLUMNS": str(columns)}).stdout
    lines = [x for x in shown.splitlines() if not x.startswith(("signature:", "next:"))]
    assert max(map(len, lines)) <= columns
    assert ("note: not shown in" in shown) == (columns < 80)


def test_one_metric_is_shown_with_its_parameters(tmp_path: Path) -> None:
    (table,) = tables("metrics GLEU").values()
    first = {"parameter": "n", "default": 4, "takes": "int", "in the signature": "yes"}
    assert table["rows"][0] == first
    assert table["rows"][1]["takes"] == "expected, official, python3"
    (table,) = tables("metrics fluency").values()
    (batch,) = (row for row in table["rows"] if row["parameter"] == "batch_size")
    assert (batch["default"], batch["in the signature"]) == (32, "no")
    assert "Koehn 2012" in run("rankers expected_wins").stdout
    (tmp_path / "own.py").write_text(
        "from errata.metrics.bleu import BLEU\nfrom errata.metrics.base import metric\n"
        "def f(source, hypothesis, references):\n    return 1.0\n"
        "@metric\nclass Mine(BLEU):\n    'Mine.'\n    name = 'mine'\n    extra: int = 3\n"
    )
    shown = run("metrics own.py:Mine", cwd=tmp_path).stdout
    assert ["extra", "3", "int", "yes"] in [line.split() for line in shown.splitlines()]
    assert "own.py:f" in run("metrics own.py:f", cwd=tmp_path, code=2).stderr


def test_a_plug_in_that_cannot_be_loaded_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib.metadata import EntryPoint

    point = EntryPoint("broken", "no_such_module:X", "errata.metrics")
    monkeypatch.setattr("errata.core.registry.entry_points", lambda group: [point])
    (table,) = tables("metrics").values()
    assert "cannot be loaded from no_such_module:X" in table["rows"][-1]["what"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_is_one_clear_line() -> None:
    with Path("/dev/full").open("w") as full:
        result = subprocess.run(
            [sys.executable, "-m", "errata", "data", "list"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert result.returncode == 2
    assert "No space left" in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_the_limit_of_resamples_can_be_lifted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(options, "MOST_RESAMPLES", 50)
    run("rank --sample --resamples 51", code=2)
    for order in ("--no-limits --resamples 51", "--resamples 51 --no-limits"):
        assert "resamples:51" in run(f"rank --sample --signature full {order}").stdout


@pytest.mark.parametrize(
    ("resamples", "confidence", "words"),
    [
        (1, 0.95, "1 resample cannot show what lies in 95 % of cases"),
        (39, 0.95, "too narrow; use --resamples 1000"),
        (40, 0.95, ""),
        (199, 0.99, "in 99 % of cases"),
        (2000, 0.999, ""),
        (1000, 0.9999999999, "too narrow; use a lower --confidence"),
    ],
)
def test_intervals_from_few_resamples_cause_a_warning(
    resamples: int, confidence: float, words: str
) -> None:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        options.Bootstrap(resamples, confidence)
    assert [words in str(each.message) for each in found] == ([True] if words else [])
