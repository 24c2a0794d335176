"""A whole report in a real browser, with names and texts that try to break it."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

from browser import (
    assert_accessible,
    assert_fits,
    assert_quiet,
    css,
    dark,
    narrow,
    opened,
    printing,
    until,
)
from errata.core.errors import DataWarning
from errata.data import Corpus, Hypotheses, Judgment
from errata.io.stored_runs import make_run
from errata.metrics import parse
from errata.reports.report import build_report_page
from errata.reports.results import GateVerdict, ReportInputs
from errata.scoring.evaluate import evaluate
from errata.tables.table import Table, render
from nasty_texts import CORRECT, LONG, NASTY, SOURCES, WILD

pytestmark = pytest.mark.browser
SYSTEMS = (
    Hypotheses("<b>bold</b> & 'right'", CORRECT),
    Hypotheses("النظام", SOURCES[:4] + CORRECT[4:]),
    Hypotheses("x" * 1000, WILD),
)
NAMES = [system.system for system in SYSTEMS]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    corpus = Corpus.from_texts(SOURCES, [CORRECT, SOURCES[:2] + CORRECT[2:]])
    judgments = tuple(
        Judgment(judge, i, tuple((name,) for name in NAMES), (1, 2 + i % 2, 3 - i % 2))
        for i in range(len(SOURCES))
        for judge in ("ann", "<i>bob</i>")
    )
    runs = []
    for day, system in enumerate(SYSTEMS, 1):
        scores = [evaluate("gleu", corpus, system, resamples=20)]
        runs.append(make_run(corpus, system, scores, when=f"2026-01-0{day}T00:00:00Z"))
    limits = Table(("threshold", "holds"), (("m2 < -0.005", False),), title="Thresholds")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        report = build_report_page(
            ReportInputs(
                corpus=corpus,
                systems=SYSTEMS,
                metrics=[parse("m2"), parse("gleu")],
                compared=[parse("m2")],
                judgments=judgments,
                base=NAMES[1],
                runs=runs,
                gate=GateVerdict(False, limits),
                warnings=[f"{NASTY} {LONG}"],
                command="errata report '<script>'",
                title=f"Ours <b>& {NASTY}",
                resamples=60,
            )
        )
    path = tmp_path_factory.mktemp("report") / "report.html"
    report.save(path)
    return path, report


@pytest.fixture
def page(browser: Any, made: tuple[Path, Any]) -> Any:
    return opened(browser, made[0])


def test_every_section_is_there_and_the_page_is_quiet(page: Any, made: Any) -> None:
    assert [section.get_attribute("id") for section in css(page, "main > section")] == [
        "findings", "answer", "gate", "leaderboard", "changes", "people", "metrics", "kinds",
        "difficulty", "sentences", "references", "trend", "made", "terms",
    ]  # fmt: skip
    assert page.title.startswith("Ours <b>& He write <script>")
    assert css(page, "main script:not([type]), main img, main b b, h1 b") == []
    assert "<b>bold</b> & 'right'" in css(page, "#answer")[0].text
    assert_quiet(page)
    assert_accessible(page, "#answer")
    text = made[0].read_text("utf-8")  # without scripts everything is there to read
    assert "<noscript>" in text
    assert text.count("<table>") == len(made[1].tables)


@pytest.mark.long
def test_it_is_readable_for_everybody(page: Any) -> None:
    with dark(page):
        for part in ("header", "nav", "#findings", "#answer", "#gate", "#leaderboard", "#people"):
            assert_accessible(page, part)
    with printing(page):
        folded = css(page, "details:not([open]) > summary")
        assert folded
        assert not any(each.is_displayed() for each in folded)  # nothing stands below them
    unfolded = "for (const d of document.querySelectorAll('details')) d.open = true"
    page.execute_script(unfolded)
    assert_accessible(page)
    with narrow(page):
        assert_fits(page)
    with printing(page):
        assert_fits(page)
        assert not css(page, "nav")[0].is_displayed()
    assert_quiet(page)


def rows(page: Any, table: str, column: int) -> list[str]:
    found: list[str] = page.execute_script(
        "return [...document.querySelectorAll(arguments[0] + ' tbody tr')]"
        ".map(row => row.cells[arguments[1]].textContent)",
        f"#{table}",
        column,
    )
    return found


def test_tables_are_sorted_by_their_exact_values(page: Any) -> None:
    table = "t-leaderboard-overview"
    given = rows(page, table, 0)
    button = css(page, f"#{table} th:nth-child(3) .sort")[0]
    head = css(page, f"#{table} th:nth-child(3)")[0]
    assert head.get_attribute("aria-sort") == "none"
    button.click()
    assert head.get_attribute("aria-sort") == "descending"
    values = page.execute_script(
        "return [...document.querySelectorAll(arguments[0])].map(cell => +cell.dataset.v)",
        f"#{table} tbody td:nth-child(3)",
    )
    assert values == sorted(values, reverse=True)
    assert not page.execute_script(f"return document.querySelector('#{table} .ruled')")
    button.click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert rows(page, table, 0) == [
        name for _, name in sorted(zip(values, rows(page, table, 0)[::-1], strict=True))
    ] or len(set(values)) < len(values)
    button.click()
    assert rows(page, table, 0) == given
    css(page, f"#{table} th:nth-child(1) .sort")[0].click()  # names: from A to Z first
    assert css(page, f"#{table} th:nth-child(1)")[0].get_attribute("aria-sort") == "ascending"
    assert_quiet(page)


def copied(page: Any, selector: str) -> str:
    page.execute_script(
        "window.kept = null;"
        "navigator.clipboard.writeText = text => { window.kept = text; return Promise.resolve(); };"
        "document.querySelector(arguments[0]).click();",
        selector,
    )
    return str(page.execute_script("return window.kept"))


def saved(page: Any, selector: str) -> tuple[str, str]:
    name, text = page.execute_async_script(
        "const done = arguments[1]; const make = URL.createObjectURL; let blob;"
        "URL.createObjectURL = b => { blob = b; return make.call(URL, b); };"
        "HTMLAnchorElement.prototype.click = function () {"
        "  blob.text().then(text => done([this.download, text])); };"
        "document.querySelector(arguments[0]).click();",
        selector,
    )
    return str(name), str(text)


@pytest.mark.long
def test_tables_and_charts_can_be_taken_away(page: Any, made: Any) -> None:
    overview = next(table for table in made[1].tables if table.name == "overview")
    inside = "#t-leaderboard-overview"
    assert copied(page, f"{inside} [data-copy=tsv]") == render(overview, "tsv")
    assert copied(page, f"{inside} [data-copy=latex]") == render(overview, "latex")
    assert copied(page, f"{inside} [data-copy=signature]") == overview.signature
    assert saved(page, f"{inside} [data-save=tsv]") == (
        "overview.tsv",
        render(overview, "tsv") + "\n",
    )
    assert saved(page, f"{inside} [data-save=latex]")[0] == "overview.tex"
    assert copied(page, "#made [data-copy=code]") == "errata report '<script>'"
    name, text = saved(page, "#leaderboard [data-save=svg]")
    assert name.endswith(".svg")
    assert text.startswith("<svg ")
    assert "--c-1:" in text
    kind = page.execute_script(
        "const d = new DOMParser().parseFromString(arguments[0], 'image/svg+xml');"
        "return d.documentElement.tagName + d.querySelectorAll('parsererror').length",
        text,
    )
    assert kind == "svg0"
    assert_quiet(page)


def test_a_regression_leads_to_its_sentence(page: Any) -> None:
    link = css(page, "#changes .texts a.what")[0]
    number = link.get_attribute("href").rpartition("n=")[2]
    page.execute_script("arguments[0].click()", link)
    until(page, "document.getElementById('sentences').textContent.includes(arguments[0])", number)
    seen = "(b => Boolean(b) && b.top >= 0 && b.top < innerHeight)"
    box = "document.querySelector(arguments[0])?.getBoundingClientRect()"
    until(page, f"{seen}({box})", ".x-current")
    assert css(page, ".x-current h3")[0].text == f"Sentence {number}"
    page.execute_script("scrollTo(0, 0)")
    to_the_map = css(page, "#difficulty a[href^='#sentences?']")[0]
    page.execute_script("arguments[0].click()", to_the_map)
    until(page, "document.getElementById('x-difficulty').checked")
    until(page, f"{seen}({box})", "#sentences")
    assert css(page, ".x-scale")[0].is_displayed()
    assert_quiet(page)
