"""The command line: fast to start, helpful, and clear about bad input."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from command import errata, python_process
from errata.cli import COMMANDS
from errata.report.signatures import short_signature
from errata.report.table import Form

HEAVY = (
    "numpy",
    "scipy",
    "rich",
    "sacrebleu",
    "rapidfuzz",
    "pooch",
    "matplotlib",
    "spacy",
    "torch",
    "transformers",
    "cython",
    "Cython",
)


RUN = "from errata.cli import main; main({})"


def loaded(code: str) -> set[str]:
    """The modules that are there after some code has run."""
    program = f"import sys\ntry:\n {code}\nexcept SystemExit: pass\nprint(*sys.modules)"
    return set(python_process(program).stdout.splitlines()[-1].split())


@pytest.mark.parametrize(
    "code",
    ["import errata", "import errata.cli", RUN.format(["--help"]), RUN.format(["--version"])],
)
def test_nothing_heavy_is_imported_at_the_start(code: str) -> None:
    assert loaded(code) & set(HEAVY) == set()


def test_scoring_asks_for_no_reader_of_rankings() -> None:
    found = loaded(RUN.format(["score", "--sample", "-m", "gleu", "--resamples", "0"]))
    assert "errata.io.corpus" in found
    for name in ("appraise", "jsonl", "mturk", "pairwise"):
        assert f"errata.io.judgments.{name}" not in found


def test_scoring_does_not_import_scipy() -> None:
    """It took a quarter of a second of every start."""
    found = loaded(RUN.format(["score", "--sample"]))
    assert "errata.metrics.gleu" in found
    assert "scipy" not in found


SCALE = ("dask", "distributed", "pyarrow", "fsspec", "zstandard")


@pytest.mark.parametrize(
    "code",
    [
        "import errata",
        RUN.format(["--help"]),
        RUN.format(["score", "--sample"]),
        RUN.format(["score", "--help"]),
        RUN.format(["scale", "--help"]),
    ],
)
def test_the_extras_of_scale_are_imported_where_they_are_used(code: str) -> None:
    """Who scores a file does not pay for clusters, tables and object stores."""
    assert loaded(code) & set(SCALE) == set()


def test_help_lists_every_command() -> None:
    text = errata("--help").stdout
    for name in COMMANDS:
        assert f"\n  {name} " in text


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(name: str) -> None:
    text = errata(name, "--help").stdout
    assert "Example" in text
    assert f"errata {name}" in text.split("Example")[1]
    # Of groups the commands print, and are held in test_options.
    if name not in ("cache", "collect", "data", "scale", "train"):
        assert "--json" in text
        assert "--format" in text


def test_version() -> None:
    import errata as package

    assert errata("--version").stdout.strip() == f"errata, version {package.__version__}"


def test_unknown_command() -> None:
    result = errata("scoer", code=None)
    assert result.returncode == 2
    assert "No such command" in result.stderr


def test_scores_of_the_sample() -> None:
    tables = json.loads(errata("score", "--sample", "--json").stdout)["tables"]
    assert [t["name"] for t in tables] == [
        *("overview", "m2", "imeasure", "gleu", "bleu", "verdicts")
    ]
    assert {row["system"] for row in tables[0]["rows"]} >= {"cautious", "eager", "nothing"}
    m2 = {row["system"]: row for row in tables[1]["rows"]}
    assert m2["nothing"]["F0.5"] == 0.0
    assert 0 < m2["cautious"]["F0.5"] < 1


@pytest.mark.parametrize("form", get_args(Form))
def test_every_form(form: str) -> None:
    text = errata("score", "--sample", "-m", "m2", "--format", form, "--resamples", "50").stdout
    assert "cautious" in text
    assert {"latex": "$F_{0.5}$"}.get(form, "F0.5") in text


def test_from_files(tmp_path: Path) -> None:
    (tmp_path / "gold.m2").write_text(
        "S He go home .\nA 1 2|||R:VERB:SVA|||goes|||REQUIRED|||-NONE-|||0\n\nS Fine .\n"
    )
    (tmp_path / "a.txt").write_text("He goes home .\r\nFine .\r\n")
    result = errata(
        "score",
        "--gold",
        str(tmp_path / "gold.m2"),
        str(tmp_path / "a.txt"),
        f"theirs={tmp_path / 'a.txt'}",
        "-m",
        "m2",
        "-m",
        "m2(beta=1)",
        "--json",
    )
    rows = json.loads(result.stdout)["tables"][0]["rows"]
    assert [row["system"] for row in rows] == ["a", "theirs"]
    assert rows[0]["m2 F0.5"]["value"] == rows[0]["m2(beta=1.0) F1"]["value"] == 1.0


def test_signatures_are_short_unless_asked_for() -> None:
    run = ("score", "--sample", "-m", "m2(beta=1)", "-m", "gleu", "--resamples", "40")
    whole = json.loads(errata(*run, "--json").stdout)["tables"][0]["signature"].split("\n")
    short = " ".join(map(short_signature, whole))
    assert short.startswith("m2(beta=1.0)#")
    assert f"\nsignature: {short}\n" in errata(*run).stdout
    for long in (
        errata(*run, "--signature", "full"),
        errata(*run, env={"ERRATA_SIGNATURE": "full"}),
    ):
        assert [f"signature: {line}" for line in whole] == [
            line for line in long.stdout.splitlines() if line.startswith("signature")
        ]


def test_digits_can_be_chosen() -> None:
    run = ("score", "--sample", "-m", "m2", "-m", "bleu", "--resamples", "0")
    assert re.search(r"eager +82 \* +85 \*", errata(*run, "--digits", 0).stdout)
    latex = errata(*run, "--digits", 3, "--format", "latex").stdout
    assert r"eager & \textbf{81.646} & \textbf{84.745} \\" in latex
    assert r"\label{tab:overview}" in latex


def test_alone_it_says_what_to_type() -> None:
    lines = errata().stdout.splitlines()
    typed = [line.split("  ")[0].split() for line in lines if line.startswith("errata ")]
    assert [name for _, name, *_ in typed[:3]] == ["score", "score", "report"]
    assert {name for _, name, *_ in typed[:3]} <= {*COMMANDS, "report"}
    errata(*typed[0][1:])


@pytest.mark.parametrize("columns", [80, 60, 200])
def test_tables_keep_to_the_terminal(columns: int) -> None:
    metrics = [word for name in ("m2", "gleu", "bleu", "ter", "green") for word in ("-m", name)]
    run = ("score", "--sample", "--resamples", "40", *metrics)
    shown = errata(*run, "--compare", env={"COLUMNS": str(columns)}).stdout
    lines = [x for x in shown.splitlines() if not x.startswith(("signature:", "next:"))]
    assert max(map(len, lines)) <= columns
    assert ("note: not shown in" in shown) == (columns < 80)


def test_the_overview_fits_a_terminal() -> None:
    text = errata("score", "--sample").stdout
    table = [line for line in text.splitlines() if not line.startswith("note")]
    assert len(table) == 15  # title, heads, rule, systems, marks, verdicts, signature, next
    assert max(map(len, table)) <= 80


def test_numbers_are_numbers_for_programs() -> None:
    arguments = ("score", "--sample", "-m", "m2", "--resamples", "50")
    table, verdicts = json.loads(errata(*arguments, "--json").stdout)["tables"]
    assert verdicts["rows"][0]["better"] == "eager"
    best = table["rows"][0]
    low, high = best["95 % interval"]
    assert low < best["F0.5"] < high
    assert f"{low:.4f}" != repr(low)
    assert isinstance(best["gold"], int)
    assert table["signature"].startswith("m2(beta=0.5, ")
    head, first, *_ = errata(*arguments, "--format", "tsv").stdout.splitlines()
    row = dict(zip(head.split("\t"), first.split("\t"), strict=True))
    assert row["95 % interval low"] == repr(low)
    assert row["gold"] == str(best["gold"])
    assert row["signature"] == table["signature"]


def test_counts_are_shown_whole_and_no_empty_interval(tmp_path: Path) -> None:
    (tmp_path / "gold.m2").write_text("S a b\nA 0 1|||X|||c|||REQUIRED|||-NONE-|||0\n")
    (tmp_path / "x.txt").write_text("c b\n")
    text = errata(
        "score",
        "--gold",
        str(tmp_path / "gold.m2"),
        str(tmp_path / "x.txt"),
        "-m",
        "m2",
        "--resamples",
        "0",
    ).stdout
    assert text.splitlines()[1].split() == [
        "rank",
        "system",
        "F0.5",
        "P",
        "R",
        "correct",
        "proposed",
        "gold",
    ]
    assert text.splitlines()[3].split() == ["1", "x", "100.00", "100.00", "100.00", "1", "1", "1"]


def test_the_signature_names_the_annotator() -> None:
    assert (
        "of annotator 1 |"
        in errata(
            *("score", "--sample", "-m", "m2", "--annotator", "1", "--signature", "full")
        ).stdout
    )


def test_references_as_text_say_so(tmp_path: Path) -> None:
    for name, text in (("s", "He go home .\n"), ("r", "He goes home .\n")):
        (tmp_path / name).write_text(text)
    result = errata(
        "score",
        "--source",
        str(tmp_path / "s"),
        "--refs",
        str(tmp_path / "r"),
        str(tmp_path / "r"),
        *("-m", "m2", "--signature", "full"),
    )
    assert "edits:aligned" in result.stdout
    assert "100.00" in result.stdout


def test_standard_input(tmp_path: Path) -> None:
    (tmp_path / "gold.m2").write_text("S a b\nA 0 1|||X|||c|||REQUIRED|||-NONE-|||0\n")
    result = errata(
        "score", "--gold", str(tmp_path / "gold.m2"), "mine=-", "-m", "m2", "--json", stdin="c b\n"
    )
    assert json.loads(result.stdout)["tables"][0]["rows"][0]["F0.5"] == 1.0


def test_missing_references_are_marked(tmp_path: Path) -> None:
    for name, text in (
        ("s", "He go .\nI am .\n"),
        ("r0", "He goes .\nI am .\n"),
        ("r1", "<none>\nI was .\n"),
    ):
        (tmp_path / name).write_text(text)
    result = errata(
        "score",
        "--source",
        str(tmp_path / "s"),
        "--refs",
        str(tmp_path / "r0"),
        "--refs",
        str(tmp_path / "r1"),
        "--missing",
        "<none>",
        str(tmp_path / "r0"),
        *("-m", "m2", "--signature", "full"),
    )
    assert "references:1-2" in result.stdout


def test_sentences() -> None:
    text = errata("score", "--sample", "-m", "m2", "--by-sentence", "--format", "tsv").stdout
    lines = text.splitlines()
    assert lines[0].split("\t")[:3] == ["system", "sentence", "F0.5"]
    assert len(lines) - 1 >= 5 * 60


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("score",), "no output to score"),
        (("score", "--gold", "missing.m2", "x.txt"), "missing.m2"),
        (("score", "--sample", "x.txt"), "--sample takes no files"),
        (("score", "--sample", "-m", "m3"), "there is no metric 'm3'"),
        (("score", "--sample", "-m", "m2(beta=0)"), "beta"),
        (("score", "--sample", "--annotator", "9"), "has no annotator 9"),
    ],
)
def test_bad_input_is_one_clear_line(arguments: tuple[str, ...], problem: str) -> None:
    result = errata(*arguments, code=None)
    assert result.returncode == 2
    assert problem in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert result.stdout == ""


def test_wrong_line_counts_are_refused(tmp_path: Path) -> None:
    (tmp_path / "gold.m2").write_text("S a b\n\nS c d\n")
    (tmp_path / "short.txt").write_text("a b\n")
    result = errata(
        "score", "--gold", str(tmp_path / "gold.m2"), str(tmp_path / "short.txt"), code=None
    )
    assert result.returncode == 2
    assert "short.txt" in result.stderr


def test_public_names_are_what_they_are_called() -> None:
    """A submodule of the same name must not take a function's place once it is imported."""
    program = (
        "import errata, errata.evaluation, errata.metrics, errata.data\n"
        "import errata.report.table\n"
        "print(all(callable(getattr(errata, n)) for n in errata.__all__ if n != '__version__'))\n"
        "print(all(getattr(errata, n) is getattr(errata, n) for n in errata.__all__))"
    )
    assert python_process(program).stdout.split() == ["True", "True"]


def test_two_systems_of_one_name_are_told_apart_by_their_files(tmp_path: Path) -> None:
    (tmp_path / "gold.m2").write_text("S a b\n")
    (tmp_path / "x.txt").write_text("a b\n")
    (tmp_path / "y.txt").write_text("a b\n")
    result = errata(
        "score",
        "--gold",
        str(tmp_path / "gold.m2"),
        str(tmp_path / "x.txt"),
        f"x={tmp_path / 'y.txt'}",
        code=None,
    )
    assert result.returncode == 2
    assert "'x'" in result.stderr
    assert "x.txt" in result.stderr
    assert "y.txt" in result.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize(
    "arguments", [("score", "--sample", "-m", "m2", "--resamples", "0"), ("data", "list")]
)
def test_a_full_disk_is_one_clear_line(arguments: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        result = subprocess.run(
            [sys.executable, "-m", "errata", *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert result.returncode == 2
    assert "No space left" in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_too_little_memory_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "s").write_text("a " * 100_000 + "\n")
    (tmp_path / "r").write_text("b " * 100_000 + "\n")
    result = errata(
        "score",
        "--source",
        str(tmp_path / "s"),
        "--refs",
        str(tmp_path / "r"),
        str(tmp_path / "s"),
        "-m",
        "imeasure",
        code=None,
    )
    assert result.returncode == 2
    assert "asks for about 360.0 GB; give one sentence a line" in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("gold", "problem"), [("no S here\n", "this is not an M2 file"), ("S a\n\nx\n", "no 'S ' line")]
)
def test_a_text_given_as_gold(tmp_path: Path, gold: str, problem: str) -> None:
    (tmp_path / "g").write_text(gold)
    result = errata("score", "--gold", str(tmp_path / "g"), str(tmp_path / "g"), code=None)
    assert result.returncode == 2
    assert problem in result.stderr


def test_no_references_at_all(tmp_path: Path) -> None:
    (tmp_path / "s").write_text("a b\n")
    result = errata("score", "--source", str(tmp_path / "s"), str(tmp_path / "s"), code=None)
    assert result.returncode == 2
    assert "--refs" in result.stderr


def test_odd_gold_is_read_as_the_official_scorer_reads_it_on_request(tmp_path: Path) -> None:
    """Edge case multi_S_paragraph of the official scorer: 1 correct, 1 proposed, 2 gold."""
    (tmp_path / "gold.m2").write_text("S a b c\nS d e f\nA 1 2|||X|||x|||REQUIRED|||-NONE-|||0\n\n")
    (tmp_path / "out.txt").write_text("a x c\nd e f\n")
    files = ("score", "--gold", str(tmp_path / "gold.m2"), str(tmp_path / "out.txt"), "-m", "m2")
    refused = errata(*files, code=None)
    assert refused.returncode == 2
    row = json.loads(errata(*files, "--compatible", "--json").stdout)["tables"][0]["rows"][0]
    assert (row["correct"], row["proposed"], row["gold"]) == (1, 1, 2)
