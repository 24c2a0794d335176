"""The page of a report has the numbers of the commands, digit for digit."""

from __future__ import annotations

import hashlib
import html
import json
import re
import shlex
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from collecting import fill_with_sample
from command import errata, run, tables
from errata import evaluate
from errata.datasets import sample_corpus, sample_systems
from errata.datasets.load import SAMPLE_SYSTEMS
from errata.io.stored_runs import make_run, write_run
from errata.tables.cells import to_json

FEW = ("--resamples", 60)


class Shown(NamedTuple):
    """A table of a page: its headings, and of each cell the text and the exact value."""

    heads: list[str]
    rows: list[list[tuple[str, str | None]]]


TABLE = re.compile(r"<table.*?</table>|<script[^>]*class=\"?data\"?[^>]*>.*?</script>", re.DOTALL)
CELL = re.compile(
    r"<t[dh](?:\s[^>]*?)?(?:\sdata-v=\"([^\"]*)\"[^>]*)?>(.*?)(?=</?t[dhr])", re.DOTALL
)


def tables_of(page: str) -> dict[str, list[Shown]]:
    """Every table of a page by the name in the data that follows it."""
    found: dict[str, list[Shown]] = {}
    last = Shown([], [])
    for part in TABLE.findall(page):
        if part.startswith("<script"):
            name = json.loads(part.partition(">")[2].rpartition("<")[0])["name"]
            found.setdefault(name, []).append(last)
            continue
        heads, *rows = (
            [(html.unescape(re.sub("<[^>]*>", "", text)), value or None) for value, text in row]
            for row in map(CELL.findall, part.split("<tr")[1:])
        )
        last = Shown([text for text, _ in heads], rows)
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return fill_with_sample(tmp_path)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, list[Shown]], str, Any]:
    """The tables of a page on the sample, the page, and what the command printed."""
    path = tmp_path_factory.mktemp("report") / "r.html"
    done = errata("report", "--sample", *FEW, "--old", "eager", "-o", path, "--json")
    page = path.read_text("utf-8")
    return tables_of(page), page, json.loads(done.stdout)


# The command behind a section, and the tables of it that a report does not show.
COMMANDS = {
    "score --resamples 60": ("verdicts", "leads"),
    "score --by-type": ("_aimed", "touched"),  # a reader finds these in the comparison
    "rank --resamples 60 --head-to-head": (),
    "agree": (),
    "meta --resamples 60 --matrix": ("leave_one_out", "_confusion"),
    "difficulty --resamples 60": (),
    "compare --resamples 60 --old eager": ("_figures",),
    "references --resamples 60 -m gleu": ("annotators_as_systems", "self_check", "_curve"),
}


def exact(cell: Any) -> list[float]:
    if isinstance(cell, bool) or cell is None or isinstance(cell, str):
        return []
    if isinstance(cell, int | float):
        return [float(cell)]
    inner = cell.values() if isinstance(cell, dict) else cell
    return [number for each in inner for number in exact(each)]


@pytest.mark.slow
@pytest.mark.parametrize("line", COMMANDS)
def test_numbers_are_those_of_the_command(made: Any, line: str) -> None:
    shown = made[0]
    compared = 0
    for name, table in tables(f"{line} --sample").items():
        if not name.endswith(COMMANDS[line] or ("-",)):
            assert name in shown, sorted(shown)
            fitting = [each for each in shown[name] if len(each.rows) == len(table["rows"])]
            assert any(_same(table, each) for each in fitting), name
            compared += 1
    assert compared


def _same(table: dict[str, Any], shown: Shown) -> bool:
    """Whether a table of the page has the values of a table of a command, all digits of them."""
    if len(shown.heads) != len(table["columns"]):
        return False
    for row, cells in zip(table["rows"], shown.rows, strict=True):
        for value, (text, kept) in zip(row.values(), cells, strict=True):
            numbers = exact(value)
            if numbers:
                if kept is None or float(kept) != numbers[0]:
                    return False
            elif isinstance(value, str) and text.strip() != " ".join(value.split()):
                return False
    return True


def test_it_prints_the_tables_of_the_page(made: Any) -> None:
    shown, _, printed = made
    contents, *others = printed["tables"]
    assert contents["rows"][0]["section"] == "answer"
    assert {row["section"] for row in contents["rows"]} >= {
        "leaderboard", "changes", "people", "metrics", "kinds", "difficulty", "sentences",
        "references", "made",
    }  # fmt: skip
    assert len(others) == sum(row["tables"] for row in contents["rows"])
    assert sum(map(len, shown.values())) == len(others)


def test_every_chart_has_words(made: Any) -> None:
    page = made[1]
    drawn = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert len(drawn) > 12
    for svg in drawn:
        assert re.search(r"<title id=[^>]*>[^<]+</title>", svg)
        assert re.search(r"<desc id=[^>]*>[^<]{5,}</desc>", svg)
    titles = re.findall(r'<svg[^>]*aria-labelledby="([^" ]*)', page)
    assert len(set(titles)) == len(titles)


BUILD = "--gold gold.m2 eager.txt noisy.txt -m gleu --resamples 60 --old eager"


def sections(folder: Path, line: str) -> list[str]:
    found = tables(f"report --resamples 60 --force {line}", cwd=folder)
    return [row["section"] for row in found["report"]["rows"]]


def page_of(folder: Path) -> str:
    return (folder / "report.html").read_text("utf-8")


def test_any_part_of_the_inputs_makes_a_report(folder: Path) -> None:
    texts = "--source source.txt eager.txt"
    assert sections(folder, "--judgments judgments.jsonl") == ["answer", "people", "made"]
    assert sections(folder, texts) == ["answer", "sentences", "findings", "made"]
    assert "changes" in sections(folder, f"{texts} noisy.txt --old noisy")


def test_files_have_fingerprints_and_a_command_that_makes_it_again(folder: Path) -> None:
    arguments = ("report", "--gold", "gold.m2", "o&<b>.txt=eager.txt", "-m", "gleu", *FEW)
    arguments += ("-o", "report.html")
    errata(*arguments, cwd=folder)
    page = page_of(folder)
    known = {row[0][0]: row[2][0] for row in tables_of(page)["digests"][0].rows}
    assert known == {
        name: hashlib.sha256((folder / name).read_bytes()).hexdigest()
        for name in ("gold.m2", "eager.txt")
    }
    command = html.unescape(re.search(r"<pre><code>(.*?)</code>", page)[1])  # type: ignore[index]
    assert command == f"errata {shlex.join(map(str, arguments))}"
    assert "o&<b>" not in page
    assert "exists" in errata(*arguments, cwd=folder, code=2).stderr
    errata(*arguments, "--force", cwd=folder)
    assert page_of(folder).replace(" --force", "") == page  # the same command, the same page


def test_findings_of_the_file_check_come_first(folder: Path) -> None:
    lines = (folder / "eager.txt").read_text("utf-8").split("\n")
    lines[3] = ""
    (folder / "eager.txt").write_text("\n".join(lines), "utf-8")
    assert sections(folder, "--gold gold.m2 eager.txt -m gleu")[0] == "findings"
    assert "line 4: the line is empty" in page_of(folder)
    assert 'href="#findings">1 finding' in page_of(folder)


@pytest.mark.parametrize(
    ("condition", "code", "word"), [("gleu<-0.9", 0, "✓ Pass"), ("gleu<-0.01", 1, "✗ Fail")]
)
def test_a_failed_condition_is_shown(folder: Path, condition: str, code: int, word: str) -> None:
    line = f"{BUILD} --fail-if {condition}"
    reported = tables(f"report --force {line}", cwd=folder, code=code)
    assert word in page_of(folder)
    compared = tables(f"compare {line}", cwd=folder, code=code)
    assert reported["gate"]["rows"] == compared["gate"]["rows"]


@pytest.mark.slow
def test_slices_are_those_of_compare_and_filter_the_sentences(folder: Path) -> None:
    (folder / "levels.tsv").write_text("level\n" + "A1\nB2\n" * 36)
    line = f"{BUILD} --slices levels.tsv"
    fail = ("--fail-if", "gleu score < 0.01 on level=B2")
    reported = tables(f"report --force {line}", *fail, cwd=folder)
    compared = tables(f"compare {line}", *fail, cwd=folder)
    for name in ("noisy_slices", "gate"):
        assert reported[name]["rows"] == compared[name]["rows"]
    rows = reported["noisy_slices"]["rows"]
    assert {row["value"] for row in rows if row["slice"] == "level"} == {"A1", "B2"}
    for name in ("slice:length", "slice:level"):
        assert f'name="{name}"' in page_of(folder)


def test_ratings_of_outputs_are_those_of_meta(folder: Path) -> None:
    outputs = " ".join(f"{name}.txt" for name in SAMPLE_SYSTEMS)
    line = f"--gold gold.m2 {outputs} -m gleu --resamples 60 --human ratings.csv"
    run(f"report {line}", cwd=folder)
    shown = tables_of(page_of(folder))
    for name, table in tables(f"meta {line}", cwd=folder).items():
        if name != "leave_one_out":
            assert any(_same(table, each) for each in shown[name]), name


def test_runs_are_drawn_over_time(tmp_path: Path) -> None:
    corpus, systems = sample_corpus(), sample_systems()
    (tmp_path / "runs").mkdir()
    for day, system in enumerate(systems[:3], 1):
        scores = evaluate("gleu", corpus, system, resamples=20)
        stored = make_run(corpus, system, [scores], when=f"2026-01-0{day}T00:00:00Z")
        write_run(tmp_path / "runs" / f"{day}.json", stored)
    assert "trend" in sections(tmp_path, "--runs runs")
    shown = tables_of(page_of(tmp_path))["runs"][0]
    first = evaluate("gleu", corpus, systems[0], resamples=0)
    assert float(shown.rows[0][2][1] or 0) == to_json(first.values[0].item())


def test_without_input_it_says_which_is_missing(tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text("mine")
    message = run("report", cwd=tmp_path, code=2).stderr
    assert "outputs, judgments and scores are all missing" in message
    assert "--gold" in message
    assert (tmp_path / "report.html").read_text() == "mine"


def test_no_number_is_shown_as_nan(made: Any) -> None:
    cells = [
        text for several in made[0].values() for t in several for row in t.rows for text, _ in row
    ]
    assert not [text for text in cells if re.search(r"\b(nan|inf)\b", text)]
    assert not re.search(r'="(nan|inf)', made[1])
