"""The page of a report has the numbers of the commands, digit for digit."""

from __future__ import annotations

import html
import json
import re
import shutil
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from command import errata
from errata.report.cells import as_data

FEW = ("--resamples", 60)
RATED = ("cautious", "eager", "fluent", "noisy", "nothing")
SAMPLE = Path(__file__).parents[2] / "src" / "errata" / "datasets" / "sample"


class Shown(NamedTuple):
    """A table of a page: its headings, and of each cell the text and the exact value."""

    heads: list[str]
    rows: list[list[tuple[str, str | None]]]


class Tables(HTMLParser):
    """Reads every table of a page by the name that its copies have."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, list[Shown]] = {}
        self.table: Shown | None = None
        self.cell: list[Any] | None = None
        self.head = self.data = False
        self.copies = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "table":
            self.table = Shown([], [])
        elif tag == "thead":
            self.head = True
        elif tag == "tr" and self.table is not None and not self.head:
            self.table.rows.append([])
        elif tag in ("td", "th") and self.table is not None:
            self.cell = ["", given.get("data-v")]
        elif tag == "script" and given.get("class") == "data":
            self.data, self.copies = True, ""

    def handle_data(self, data: str) -> None:
        if self.cell is not None:
            self.cell[0] += data
        if self.data:
            self.copies += data

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th") and self.cell is not None and self.table is not None:
            if self.head:
                self.table.heads.append(self.cell[0])
            else:
                self.table.rows[-1].append((self.cell[0], self.cell[1]))
            self.cell = None
        elif tag == "thead":
            self.head = False
        elif tag == "script" and self.data:
            self.data = False
            assert self.table is not None
            self.found.setdefault(json.loads(self.copies)["name"], []).append(self.table)


def tables_of(page: str) -> dict[str, list[Shown]]:
    parser = Tables()
    parser.feed(page)
    return parser.found


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, list[Shown]], str, Any]:
    """The tables of a page on the sample, the page, and what the command printed."""
    path = tmp_path_factory.mktemp("report") / "r.html"
    done = errata("report", "--sample", *FEW, "--old", "eager", "-o", path, "--json")
    page = path.read_text("utf-8")
    return tables_of(page), page, json.loads(done.stdout)


COMMANDS = {
    "score": ("score", "--sample", *FEW),
    "by type": ("score", "--sample", "--by-type"),
    "rank": ("rank", "--sample", *FEW, "--head-to-head"),
    "agree": ("agree", "--sample"),
    "meta": ("meta", "--sample", *FEW, "--matrix"),
    "difficulty": ("difficulty", "--sample", *FEW),
    "compare": ("compare", "--sample", *FEW, "--old", "eager"),
    "refs": ("refs", "--sample", *FEW, "-m", "gleu"),
}
# What a command prints and a report does not show; what is missing besides is a fault.
LEFT_OUT = {
    "score": ("verdicts", "leads"),
    "by type": ("_aimed", "touched"),  # what a reader meets of it is in the comparison
    "meta": ("leave_one_out", "_confusion"),
    "compare": ("_figures",),
    "refs": ("annotators_as_systems", "self_check", "_curve"),
}


def exact(cell: Any) -> list[float]:
    """The numbers of a cell of JSON."""
    if isinstance(cell, bool) or cell is None or isinstance(cell, str):
        return []
    if isinstance(cell, int | float):
        return [float(cell)]
    inner = cell.values() if isinstance(cell, dict) else cell
    return [number for each in inner for number in exact(each)]


@pytest.mark.parametrize("name", COMMANDS)
def test_numbers_are_those_of_the_command(made: Any, name: str) -> None:
    shown = made[0]
    printed = json.loads(errata(*COMMANDS[name], "--json").stdout)["tables"]
    compared = 0
    for table in printed:
        if table["name"].endswith(LEFT_OUT.get(name, ("-",))):
            continue
        assert table["name"] in shown, (name, table["name"], sorted(shown))
        fitting = [each for each in shown[table["name"]] if len(each.rows) == len(table["rows"])]
        assert any(_same(table, each) for each in fitting), (name, table["name"])
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


def test_what_it_prints_are_the_tables_of_the_page(made: Any) -> None:
    shown, _, printed = made
    contents, *tables = printed["tables"]
    assert contents["rows"][0]["section"] == "answer"
    assert {row["section"] for row in contents["rows"]} >= {
        "leaderboard", "changes", "people", "metrics", "kinds", "difficulty", "sentences",
        "references", "made",
    }  # fmt: skip
    assert len(tables) == sum(row["tables"] for row in contents["rows"])
    assert sum(map(len, shown.values())) == len(tables)


def test_every_chart_has_words(made: Any) -> None:
    page = made[1]
    drawn = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert len(drawn) > 12
    for svg in drawn:
        assert re.search(r"<title id=[^>]*>[^<]+</title>", svg)
        assert re.search(r"<desc id=[^>]*>[^<]{5,}</desc>", svg)
    titles = re.findall(r'<svg[^>]*aria-labelledby="([^" ]*)', page)
    assert len(set(titles)) == len(titles)


def folder_with_sample(folder: Path) -> Path:
    for file in SAMPLE.iterdir():
        if file.is_file():
            shutil.copy(file, folder)
    return folder


def sections(folder: Path, *arguments: object) -> list[str]:
    done = errata("report", *arguments, "--json", "--force", cwd=folder)
    return [row["section"] for row in json.loads(done.stdout)["tables"][0]["rows"]]


def test_any_part_of_what_there_is_is_told(tmp_path: Path) -> None:
    folder = folder_with_sample(tmp_path)
    only = ("--resamples", 60)
    assert sections(folder, "--judgments", "judgments.jsonl", *only) == ["answer", "people", "made"]
    assert sections(folder, "--source", "source.txt", "eager.txt", *only) == [
        "answer", "sentences", "findings", "made",
    ]  # fmt: skip
    found = sections(
        folder, "--source", "source.txt", "eager.txt", "noisy.txt", "--old", "noisy", *only
    )
    assert "changes" in found
    refused = errata("report", "--force", cwd=folder, code=2)
    assert "nothing to report on" in refused.stderr
    refused = errata("report", "--sample", "--old", "nobody", "--force", cwd=folder, code=2)
    assert "there is no system 'nobody'" in refused.stderr


def test_files_have_fingerprints_and_a_command_that_makes_it_again(tmp_path: Path) -> None:
    import hashlib

    folder = folder_with_sample(tmp_path)
    arguments = ("report", "--gold", "gold.m2", "o&<b>.txt=eager.txt", "-m", "gleu", *FEW)
    errata(*arguments, "-o", "r.html", cwd=folder)
    page = (folder / "r.html").read_text("utf-8")
    shown = tables_of(page)["digests"][0]
    known = {row[0][0]: row[2][0] for row in shown.rows}
    assert known == {
        name: hashlib.sha256((folder / name).read_bytes()).hexdigest()
        for name in ("gold.m2", "eager.txt")
    }
    command = html.unescape(re.search(r"<pre><code>(.*?)</code>", page)[1])  # type: ignore[index]
    assert command == (
        "errata report --gold gold.m2 'o&<b>.txt=eager.txt' -m gleu --resamples 60 -o r.html"
    )
    assert "o&<b>" not in page
    again = errata(*arguments, "-o", "r.html", cwd=folder, code=2)
    assert "exists" in again.stderr
    before = (folder / "r.html").read_bytes()
    errata(*arguments, "-o", "r.html", "--force", cwd=folder)
    changed = (folder / "r.html").read_bytes().replace(b" --force", b"")
    assert changed == before  # the same command makes the same page, byte for byte


def test_what_is_wrong_with_the_files_stands_on_top(tmp_path: Path) -> None:
    folder = folder_with_sample(tmp_path)
    lines = (folder / "eager.txt").read_text("utf-8").split("\n")
    lines[3] = ""
    (folder / "eager.txt").write_text("\n".join(lines), "utf-8")
    found = sections(folder, "--gold", "gold.m2", "eager.txt", "-m", "gleu", *FEW)
    assert found[0] == "findings"
    page = (folder / "report.html").read_text("utf-8")
    assert "line 4: the line is empty" in page
    assert 'href="#findings">1 finding of the file check' in page


def test_a_condition_that_fails_ends_the_command_and_the_page_says_so(tmp_path: Path) -> None:
    folder = folder_with_sample(tmp_path)
    build = ("--gold", "gold.m2", "eager.txt", "noisy.txt", "-m", "gleu", *FEW, "--old", "eager")
    for condition, code, word in (("gleu < -0.9", 0, "✓ Pass"), ("gleu < -0.01", 1, "✗ Fail")):
        told = ("report", *build, "--fail-if", condition, "--force", "--json")
        done = errata(*told, cwd=folder, code=code)
        page = (folder / "report.html").read_text("utf-8")
        assert word in page
        (gate,) = (t for t in json.loads(done.stdout)["tables"] if t["name"] == "gate")
        held = errata("compare", *build, "--fail-if", condition, "--json", cwd=folder, code=code)
        assert gate["rows"] == json.loads(held.stdout)["tables"][0]["rows"]
    refused = errata("report", "--sample", "--fail-if", "m2 < 0", "--force", cwd=folder, code=2)
    assert "--fail-if goes with --old" in refused.stderr


def test_slices_are_those_of_compare_and_filter_the_sentences(tmp_path: Path) -> None:
    folder = folder_with_sample(tmp_path)
    size = len((folder / "source.txt").read_text("utf-8").splitlines())
    (folder / "levels.tsv").write_text("level\n" + "A1\nB2\n" * (size // 2))
    build = ("--gold", "gold.m2", "eager.txt", "noisy.txt", "-m", "gleu", *FEW, "--old", "eager")
    told, held = (
        {t["name"]: t for t in json.loads(errata(*command, cwd=folder).stdout)["tables"]}
        for command in (
            ("report", *build, "--slices", "levels.tsv", "--force", "--json"),
            ("compare", *build, "--slices", "levels.tsv", "--json"),
        )
    )
    rows = told["noisy_slices"]["rows"]
    assert rows == held["noisy_slices"]["rows"]
    assert {row["value"] for row in rows if row["slice"] == "level"} == {"A1", "B2"}
    page = (folder / "report.html").read_text("utf-8")
    assert 'name="slice:length"' in page
    assert 'name="slice:level"' in page
    value = rows[-1]["value"]
    on = (
        "--slices",
        "levels.tsv",
        "--fail-if",
        f"gleu score < 0.01 on {rows[-1]['slice']}={value}",
    )
    gates = [
        next(
            t for t in json.loads(errata(*run, cwd=folder).stdout)["tables"] if t["name"] == "gate"
        )
        for run in (
            ("report", *build, *on, "--force", "--json"),
            ("compare", *build, *on, "--json"),
        )
    ]
    assert gates[0]["rows"] == gates[1]["rows"]
    people = ("--judgments", "judgments.jsonl", "--slices", "levels.tsv")
    refused = errata("report", *people, "--force", cwd=folder, code=2)
    assert "--slices goes with outputs to score" in refused.stderr


def test_ratings_of_outputs_are_those_of_meta(tmp_path: Path) -> None:
    folder = folder_with_sample(tmp_path)
    rated = ("--gold", "gold.m2", *(f"{name}.txt" for name in RATED), "-m", "gleu", *FEW)
    people = ("--human", "ratings.csv")
    errata("report", *rated, *people, cwd=folder)
    shown = tables_of((folder / "report.html").read_text("utf-8"))
    printed = json.loads(errata("meta", *rated, *people, "--json", cwd=folder).stdout)["tables"]
    for table in printed:
        if table["name"] != "leave_one_out":
            assert any(_same(table, each) for each in shown[table["name"]]), table["name"]


def test_runs_are_drawn_over_time(tmp_path: Path) -> None:
    from errata import evaluate
    from errata.datasets import sample_corpus, sample_systems
    from errata.io.runs import run_of, write_run

    corpus, systems = sample_corpus(), sample_systems()
    runs = tmp_path / "runs"
    runs.mkdir()
    for day, system in enumerate(systems[:3], 1):
        scores = evaluate("gleu", corpus, system, resamples=20)
        run = run_of(corpus, system, [scores], when=f"2026-01-0{day}T00:00:00Z")
        write_run(runs / f"{day}.json", run)
    assert "trend" in sections(tmp_path, "--runs", "runs")
    shown = tables_of((tmp_path / "report.html").read_text("utf-8"))["runs"][0]
    first = evaluate("gleu", corpus, systems[0], resamples=0)
    assert float(shown.rows[0][2][1] or 0) == as_data(first.values[0].item())


def every_cell(shown: dict[str, list[Shown]]) -> Iterator[str]:
    for several in shown.values():
        for table in several:
            for row in table.rows:
                yield from (text for text, _ in row)


def test_no_number_is_shown_as_nan(made: Any) -> None:
    assert not [text for text in every_cell(made[0]) if re.search(r"\b(nan|inf)\b", text)]
    assert not re.search(r'="(nan|inf)', made[1])
