"""The sections of a leaderboard's front page."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from errata.data import Scores
from errata.datasets.boards import Board, Card, file_stem
from errata.errors import visible
from errata.io.runs import StoredRun
from errata.numbers import Estimate, Interval
from errata.report.cells import as_text
from errata.report.charts import Chart, Track, chart_html, trend_chart
from errata.report.page import Section, filled, packaged, table_html
from errata.report.story.leaderboard import forest_of
from errata.report.table import Table
from errata.report.tables.formats import score_format, score_formats, unit
from errata.report.tables.leaderboard import (
    board_table,
    finding_table,
    history_table,
    submission_table,
)
from errata.report.tables.rankings import ranking_table
from errata.report.tables.scores import metric_heading, told_apart
from errata.studies.leaderboard import BoardStanding, RankedSet

__all__ = [
    "answer_section",
    "card_html",
    "check_section",
    "history_section",
    "page_names",
    "ranking_section",
    "system_section",
    "take_part_section",
]

HERE = "errata.report.board"
SHOWN_IN_HISTORY = 6  # lines in a chart that can still be told apart


def style() -> str:
    """The style that pages of a board have beside that of every page."""
    return packaged(HERE, "board.css")


def page_names(standing: BoardStanding) -> dict[str, dict[str, str]]:
    """The address of each system's page, as seen from the front page, by test set and system.

    On the first of its test sets it is called like its folder, on others like both.
    """
    taken = {each.name for each in standing.checked}
    found: dict[str, dict[str, str]] = {}
    seen: set[str] = set()
    for ranked in standing.sets:
        found[ranked.name] = {}
        for system, submission in ranked.submissions.items():
            name = submission.name
            while name in taken and submission.name in seen:
                name += f".{ranked.name}"
            seen.add(submission.name)
            taken.add(name)
            found[ranked.name][system] = f"systems/{file_stem(name)}.html"
    return found


def card_html(card: Card) -> str:
    """What a card says, as a list of terms; only texts that are there, only addresses that are."""
    facts = {
        "Group": card.group,
        "Description": card.description,
        "Model": card.model,
        "Data": card.data,
        "Licence": card.licence,
    }
    links = {"Link": card.link, "Paper": card.paper}
    return filled(
        HERE,
        "card.html.j2",
        card=card,
        facts=[(name, visible(text)) for name, text in facts.items() if text],
        links=[(name, visible(text)) for name, text in links.items() if text],
    )


def answer_section(standing: BoardStanding) -> Section:
    """Who leads on each test set, by which metric, and who cannot be told from the leader."""
    said = []
    for ranked in standing.sets:
        first = ranked.rankings[0]
        scores = first.scores
        best = first.order[0]
        spec = score_format(scores, scores.headline)
        bounds = Interval(*scores.interval(first.confidence)[best].tolist())
        value = as_text(float(scores.values[best]), spec)
        percent = " percent" if spec.endswith("p") else ""
        tied = [first.systems[k] for k in range(1, len(first.order)) if first.cluster[k] == 1]
        alone = (
            "No other system is in its cluster."
            if not tied
            else f"Not told apart from it: {', '.join(tied)}."
        )
        said.append(
            f"On {ranked.name} ({len(ranked.corpus)} sentences), {first.systems[0]} leads by "
            f"{scores.label}: {value}{percent} ({as_text(bounds, spec)}). {alone}"
        )
    refused = len(standing.refused)
    if refused:
        said.append(
            f"{refused} of {len(standing.checked)} submissions were refused; see the checks below."
        )
    body = "\n".join(f"<p>{html.escape(visible(text))}</p>" for text in said)
    return Section("answer", "Where it stands", body, styles=(style(),))


def ranking_section(ranked: RankedSet, board: Board, key: str, links: Mapping[str, str]) -> Section:
    """The leaderboard of a test set: all metrics, clusters of the first, details of each."""
    table = board_table(ranked, groups=bool(board.groups))
    details = [ranking_table(ranking) for ranking in ranked.rankings]
    chart = forest_of(ranked.results[0], ranked.rankings[0], board.confidence, key=key)
    results = told_apart(ranked.results)
    best = [metric_heading(scores) for scores in results]
    parts = [table_html(table, key, best=best, links=links), chart_html(chart)]
    for scores, detail in zip(results, details, strict=True):
        named = _called(detail, f"{ranked.name}, {scores.label}: clusters and parts")
        named = _as_shown(named, scores)
        parts.append(table_html(named, f"{key}-{scores.label}", folded=True, links=links))
    title = "Leaderboard" if len(board.sets) == 1 else f"Leaderboard: {ranked.name}"
    return Section(
        key,
        title,
        "\n".join(parts),
        lead="Systems between two lines cannot be told apart by these sentences.",
        tables=(table, *details),
    )


def _as_shown(table: Table, scores: Scores) -> Table:
    """A ranking with the digits, or the percent, that scores of this metric are shown with."""
    formats = score_formats(scores, (scores.headline, *scores.parts), 2)
    intervals = [name for name in table.columns if name.endswith(" interval")]
    own = formats | dict.fromkeys(intervals, formats[scores.headline])
    return replace(table, formats={**table.formats, **own}, title=table.title + unit([scores]))


def _called(table: Table, title: str) -> Table:
    return replace(table, title=title)


def history_section(
    standing: BoardStanding, runs: Mapping[str, Sequence[StoredRun]]
) -> Section | None:
    """How scores moved from run to run, on every test set."""
    parts, tables = [], []
    for ranked in standing.sets:
        name, several = ranked.name, runs.get(ranked.name, ())
        if not several:
            continue
        results = told_apart(ranked.results)
        parts.append(chart_html(_trend(name, results[0], several)))
        formats = {scores.label: score_format(scores, scores.headline) for scores in results}
        title = f"{name}: every run, the newest first{unit(results)}"
        table = replace(_called(history_table(several), title), formats=formats)
        tables.append(table)
        parts.append(table_html(table, f"history-{name}", folded=len(several) > 12))
    if not parts:
        return None
    lead = "A run is stored whenever an output, the test set or what scores them is new."
    return Section("history", "History", "\n".join(parts), lead=lead, tables=tables)


def _trend(name: str, scores: Scores, runs: Sequence[StoredRun]) -> Chart:
    label = scores.label
    by = 100 if score_format(scores, scores.headline).endswith("p") else 1
    moments = list(dict.fromkeys(run.when[:10] for run in runs))
    lines: dict[str, list[Estimate | None]] = {}
    for run in runs:
        figure = next((f for f in run.figures if f.label == label and f.value is not None), None)
        if figure is not None and figure.value is not None:
            low, high = (math.nan if v is None else by * v for v in (figure.low, figure.high))
            line = lines.setdefault(run.system, [None] * len(moments))
            line[moments.index(run.when[:10])] = Estimate(by * figure.value, low, high)
    for line in lines.values():  # what was not handed in anew stands as it did
        for k in range(1, len(line)):
            before = line[k - 1]
            if line[k] is None and before is not None:
                line[k] = Estimate(before.value, math.nan, math.nan)
    newest = sorted(lines.items(), key=lambda item: -_last(item[1]))[:SHOWN_IN_HISTORY]
    tracks = [Track(system, values) for system, values in newest]
    which = f", the best {SHOWN_IN_HISTORY}" if len(lines) > SHOWN_IN_HISTORY else ""
    return trend_chart(
        f"history-{name}-chart", f"{name}: {label} by day{which}{unit([scores])}", moments, tracks
    )


def _last(values: Sequence[Estimate | None]) -> float:
    return next((v.value for v in reversed(values) if v is not None), float("-inf"))


def system_section(standing: BoardStanding) -> Section:
    """Every system that was scored: its card, and the way to its page."""
    names = page_names(standing)
    items = []
    for each in standing.checked:
        if each.fits and each.submission is not None:
            system = each.submission.card.system
            name = html.escape(visible(system))
            where = html.escape(next(of[system] for of in names.values() if system in of))
            items.append(
                f'<li><h3><a href="{where}" dir="auto">{name}</a></h3>\n'
                f"{card_html(each.submission.card)}</li>"
            )
    return Section("systems", "Systems", f'<ul class="systems">{"".join(items)}</ul>')


def check_section(standing: BoardStanding) -> Section:
    """What the guard said of every submission."""
    tables = [submission_table(standing)]
    if any(each.findings for each in standing.checked):
        tables.append(finding_table(standing.checked))
    body = "\n".join(table_html(table, table.name) for table in tables)
    return Section("checks", "Checks of submissions", body, tables=tables)


def take_part_section(board: Board) -> Section:
    """How to hand in a submission, and how to check it before."""
    sets = [each.name for each in board.sets]
    files = ["output.txt"] if len(sets) == 1 else [f"{name}.txt" for name in sets]
    group = f'group = "{board.groups[0]}"\n' if board.groups else ""
    card = (
        "# submissions/ours/card.toml\n"
        'system = "Ours"\nauthors = ["A. Author", "B. Author"]\ndate = 2026-11-16\n'
        f'{group}description = "What it is"\nlink = "https://example.org/ours"\n'
        'licence = "MIT"\n'
    )
    listed = html.escape(visible(", ".join(files)))
    body = (
        f"<p>A submission is a folder with a card and {listed}: one "
        "corrected sentence a line, in the order of the test set.</p>\n"
        f'<pre class="example" tabindex="0"><code>{html.escape(card)}</code></pre>\n'
        "<p>What would be refused, and why, is said by:</p>\n"
        '<pre class="example" tabindex="0"><code>errata board FOLDER --check submissions/ours'
        "</code></pre>"
    )
    return Section("take-part", "Take part", body)
