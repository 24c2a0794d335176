"""The page of the benchmark has what the command gives."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from command import errata
from errata.benchmark import BENCHMARKED

DOCS = Path(__file__).parents[2] / "docs"
SCRIPT = runpy.run_path(str(DOCS / "benchmark.py"))
SLOW = {
    "harper",
    "scribendi",
    "fluency",
    "cleme",
    "cleme2",
    "meteor",
}  # or with a model to be fetched
Rows = dict[str, dict[str, str]]


def rows(table: str) -> Rows:
    """A table in Markdown: its rows by their first cell."""
    head, _, *lines = ([c.strip() for c in line[1:-1].split(" | ")] for line in table.splitlines())
    return {line[0]: dict(zip(head, line, strict=True)) for line in lines}


def page() -> dict[str, Rows]:
    """The tables of the page by the heading above each."""
    text = re.sub(r"^## (.+)$", r"**\1**", (DOCS / "benchmark.md").read_text("utf-8"), flags=re.M)
    return {title: rows(table) for title, table in SCRIPT["tables"](text).items()}


def printed(data_sets: Path, *arguments: object) -> dict[str, Rows]:
    """The tables that the command prints by their titles."""
    done = errata(
        *("benchmark", *arguments, "--format", "markdown", "-q"),
        env={"ERRATA_DATA": str(data_sets)},
    )
    return {title: rows(table) for title, table in SCRIPT["tables"](done.stdout).items()}


def bare(cell: str) -> str:
    """A cell without the place, which depends on what else is compared."""
    return re.sub(r" \(\d+\)", "", cell)


def compare(name: str, kept: dict[str, Rows], now: dict[str, Rows], metrics: int) -> None:
    sets, *figures = now
    assert len(figures) == 4
    assert kept[sets][name] == now[sets][name]
    for title in figures:
        assert len(now[title]) == metrics + 3  # one judge, length, chance
        for metric, row in now[title].items():
            assert bare(kept[title][metric][name]) == bare(row[name]), (title, metric)


def test_the_page_has_what_the_command_gives(data_sets: Path) -> None:
    """Values and intervals do not depend on what else is compared."""
    now = printed(data_sets, "gmeg-fce", "-m", "gleu", "-m", "m2")
    compare("gmeg-fce", page(), now, 2)


def test_the_page_has_edit_rates_in_a_table_of_their_own(data_sets: Path) -> None:
    text = (DOCS / "benchmark.md").read_text("utf-8")
    section = text.partition("## Edit rate, METEOR")[2].partition("\n## ")[0]
    kept = [rows(table) for table in re.findall(r"^(?:\|.*\n)+", section, re.M)]
    now = printed(data_sets, "gmeg-fce", "-m", "ter")
    _, pearson, _, kendall, _ = now.values()
    for table, found in zip(kept, (pearson, kendall), strict=True):
        for metric in ("ter", "length", "one judge", "chance"):
            assert bare(table[metric]["gmeg-fce"]) == bare(found[metric]["gmeg-fce"]), metric


@pytest.mark.slow
def test_the_page_has_all_metrics_that_are_quick(data_sets: Path) -> None:
    quick = [metric for metric in BENCHMARKED if metric not in SLOW]
    chosen = [word for metric in quick for word in ("-m", metric)]
    compare("gmeg-wiki", page(), printed(data_sets, "gmeg-wiki", *chosen), len(quick))


def test_the_page_is_filled_under_its_headings() -> None:
    kept = "# A\n\n## One\n\nText.\n\n| a |\n| - |\n| 1 |\n\n## Two\n\n| b |\n| - |\n\nEnd.\n"
    found = SCRIPT["tables"]("**One**\n\n| a |\n| - |\n| 2 |\n| 3 |\n\nsignature: x\n")
    assert SCRIPT["filled"](kept, found) == kept.replace("| 1 |\n", "| 2 |\n| 3 |\n")
    with pytest.raises(SystemExit, match="no table under 'Three'"):
        SCRIPT["filled"](kept, {"Three": "| c |\n"})
