"""Front page, system pages, site writer."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from errata.core.errors import InputError
from errata.core.stats import Estimate, Interval
from errata.data import Hypotheses, Scores
from errata.human.tables import ranking_table
from errata.io.atomic import file_set, write_bytes
from errata.io.corpus import CheckReport
from errata.io.files import PathLike, file_error
from errata.io.stored_runs import StoredRun
from errata.leaderboard import standings
from errata.leaderboard.files import Board, Card, Submission, file_stem
from errata.leaderboard.standings import BoardResult, RankedSet
from errata.plots import Line, Lines
from errata.plots.svg import Chart, chart_html, svg_chart
from errata.reports.page import Section, render_page
from errata.reports.report import build_report_page
from errata.reports.results import ReportInputs
from errata.reports.sections.leaderboard import estimate_of_run, forest_chart
from errata.scoring.tables import metric_heading, unique_labels
from errata.tables.cells import as_text, percent_suffix, score_format, score_formats
from errata.tables.html_table import package_text, render_template, table_html

if TYPE_CHECKING:
    from markupsafe import Markup

MADE = b'<meta name="generator" content="errata'
HEAD = 20_000  # bytes of a page in which it says what made it


def write_site(folder: PathLike, pages: Mapping[str, str]) -> tuple[str, ...]:
    """Write pages by their addresses in a folder; return the addresses of old ones removed.

    Only what Errata made is replaced, and removed only in the site's folders of named pages.
    """
    place = Path(folder)
    for address in pages:
        if (place / address).exists() and not _is_made_by_errata(place / address):
            problem = "this page was not made by Errata, and is not overwritten"
            remedy = "name another folder with --site"
            raise InputError(problem, path=str(place / address), remedy=remedy)
    try:
        for address in pages:
            (place / address).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise file_error("write", error, str(place)) from None
    with file_set(force=True):
        for address, text in pages.items():
            write_bytes(text.encode("utf-8"), place / address)
    removed = []
    folders = sorted({(place / address).parent for address in pages} - {place})
    for path in (path for folder in folders for path in sorted(folder.glob("*.html"))):
        address = path.relative_to(place).as_posix()
        if address not in pages and _is_made_by_errata(path):
            path.unlink()
            removed.append(address)
    return tuple(removed)


def _is_made_by_errata(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return MADE in file.read(HEAD)
    except OSError as error:
        raise file_error("read", error, str(path)) from None


HOME = "errata.leaderboard"
SHOWN_IN_HISTORY = 6  # lines in a chart that remain distinguishable


def board_style() -> str:
    """Return the style that pages of a board have beside that of every page."""
    return package_text(HOME, "templates/board.css")


def page_names(standing: BoardResult) -> dict[str, dict[str, str]]:
    """Return the address of each system's page from the front page, by test set and system.

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


def card_html(card: Card) -> Markup:
    """Return the texts and addresses of a card as a list of terms."""
    facts = {
        "Group": card.group,
        "Description": card.description,
        "Model": card.model,
        "Data": card.data,
        "Licence": card.licence,
    }
    links = {"Link": card.link, "Paper": card.paper}
    return render_template(
        HOME,
        "templates/card.html.j2",
        card=card,
        facts=[(name, text) for name, text in facts.items() if text],
        links=[(name, text) for name, text in links.items() if text],
    )


def leader_section(standing: BoardResult) -> Section:
    """Return who leads on each test set, by which metric, and who is not significantly behind."""
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
            else f"Not significantly different from it: {', '.join(tied)}."
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
    body = render_template(HOME, "templates/answer.html.j2", sentences=said)
    return Section("answer", "Where it stands", body, styles=(board_style(),))


def ranking_section(ranked: RankedSet, board: Board, key: str, links: Mapping[str, str]) -> Section:
    """Return the leaderboard of a test set: all metrics, clusters of the first, details of each."""
    table = standings.board_table(ranked, groups=bool(board.groups))
    details = [ranking_table(ranking) for ranking in ranked.rankings]
    chart = forest_chart(ranked.results[0], ranked.rankings[0], board.confidence, key=key)
    results = unique_labels(ranked.results)
    best = [metric_heading(scores) for scores in results]
    parts = [table_html(table, key, best=best, links=links), chart_html(chart)]
    for scores, detail in zip(results, details, strict=True):
        # With the digits, or the percent, that scores of this metric are shown with.
        formats = score_formats(scores, (scores.headline, *scores.parts), 2)
        spread = [name for name in detail.columns if name.endswith(" interval")]
        formats |= dict.fromkeys(spread, formats[scores.headline])
        title = f"{ranked.name}, {scores.label}: clusters and parts{percent_suffix([scores])}"
        named = replace(detail, formats={**detail.formats, **formats}, title=title)
        parts.append(table_html(named, f"{key}-{scores.label}", folded=True, links=links))
    title = "Leaderboard" if len(board.sets) == 1 else f"Leaderboard: {ranked.name}"
    return Section(
        key,
        title,
        "\n".join(parts),
        lead="Systems between two lines do not differ significantly on these sentences.",
        tables=(table, *details),
    )


def history_section(
    standing: BoardResult, runs: Mapping[str, Sequence[StoredRun]]
) -> Section | None:
    """Return how scores moved from run to run, on every test set."""
    parts, tables = [], []
    for ranked in standing.sets:
        name, several = ranked.name, runs.get(ranked.name, ())
        if not several:
            continue
        results = unique_labels(ranked.results)
        parts.append(chart_html(_score_trend_chart(name, results[0], several)))
        formats = {scores.label: score_format(scores, scores.headline) for scores in results}
        title = f"{name}: every run, the newest first{percent_suffix(results)}"
        table = replace(standings.history_table(several), title=title, formats=formats)
        tables.append(table)
        parts.append(table_html(table, f"history-{name}", folded=len(several) > 12))
    if not parts:
        return None
    lead = "A run is stored whenever an output, the test set or what scores them is new."
    return Section("history", "History", "\n".join(parts), lead=lead, tables=tables)


def _score_trend_chart(name: str, scores: Scores, runs: Sequence[StoredRun]) -> Chart:
    label = scores.label
    by = 100 if score_format(scores, scores.headline).endswith("p") else 1
    moments = list(dict.fromkeys(run.when[:10] for run in runs))
    lines: dict[str, list[Estimate | None]] = {}
    for run in runs:
        known = estimate_of_run(run, label)
        if known is not None:
            line = lines.setdefault(run.system, [None] * len(moments))
            line[moments.index(run.when[:10])] = Estimate(*(by * part for part in known))
    for line in lines.values():  # an output that was not submitted again keeps its score
        for k in range(1, len(line)):
            before = line[k - 1]
            if line[k] is None and before is not None:
                line[k] = Estimate(before.value, math.nan, math.nan)
    newest = sorted(lines.items(), key=lambda item: -_last_score(item[1]))[:SHOWN_IN_HISTORY]
    drawn = [Line(system, values) for system, values in newest]
    which = f", the best {SHOWN_IN_HISTORY}" if len(lines) > SHOWN_IN_HISTORY else ""
    title = f"{name}: {label} by day{which}{percent_suffix([scores])}"
    return svg_chart(f"history-{name}-chart", title, Lines(drawn, moments, title))


def _last_score(values: Sequence[Estimate | None]) -> float:
    return next((v.value for v in reversed(values) if v is not None), float("-inf"))


def system_section(standing: BoardResult) -> Section:
    """Return the cards of all scored systems, with links to their pages."""
    names = page_names(standing)
    cards = [
        {
            "system": card.system,
            "page": next(of[card.system] for of in names.values() if card.system in of),
            "html": card_html(card),
        }
        for card in (each.card for each in standing.scored)
    ]
    body = render_template(HOME, "templates/systems.html.j2", cards=cards)
    return Section("systems", "Systems", body)


def check_section(standing: BoardResult) -> Section:
    """Return the findings of the guard in every submission."""
    tables = [standings.submission_table(standing)]
    if any(each.findings for each in standing.checked):
        tables.append(standings.finding_table(standing.checked))
    body = "\n".join(table_html(table, table.name) for table in tables)
    return Section("checks", "Checks of submissions", body, tables=tables)


def take_part_section(board: Board) -> Section:
    """Return how to submit outputs, and how to check them first."""
    sets = [each.name for each in board.sets]
    files = ["output.txt"] if len(sets) == 1 else [f"{name}.txt" for name in sets]
    body = render_template(
        HOME, "templates/take_part.html.j2", files=files, group=next(iter(board.groups), "")
    )
    return Section("take-part", "Take part", body)


FRONT = "index.html"


def board_pages(standing: BoardResult, runs: Mapping[str, Sequence[StoredRun]]) -> dict[str, str]:
    """Return every page by its address in the site; ``runs`` are the runs of each test set."""
    board = standing.board
    links = page_names(standing)
    sections = [leader_section(standing)]
    sections += [
        ranking_section(ranked, board, f"board-{k + 1}", links[ranked.name])
        for k, ranked in enumerate(standing.sets)
    ]
    history = history_section(standing, runs)
    sections += [history] if history is not None else []
    sections += [system_section(standing), check_section(standing), take_part_section(board)]
    pages = {FRONT: render_page(board.title, sections, about=board.about)}
    for each in standing.scored:
        system = each.card.system
        there = [ranked for ranked in standing.sets if system in ranked.submissions]
        names = {ranked.name: links[ranked.name][system] for ranked in there}
        for ranked in there:
            pages[names[ranked.name]] = _system_page(
                standing, each, ranked, names, runs.get(ranked.name, ())
            )
    return pages


def _system_page(
    standing: BoardResult,
    submission: Submission,
    ranked: RankedSet,
    names: Mapping[str, str],
    runs: Sequence[StoredRun],
) -> str:
    """Return the report of a system on a test set, beside the best of the others."""
    card, board = submission.card, standing.board
    checked = next(each for each in standing.checked if each.submission is submission)
    others = [name for name in ranked.rankings[0].systems if name != card.system]
    by_name = {each.system: each for each in ranked.systems}
    shown: list[Hypotheses] = [by_name[name] for name in (card.system, *others[:1])]
    made = build_report_page(
        ReportInputs(
            corpus=ranked.corpus,
            systems=tuple(shown),
            scores=ranked.results,
            base=others[0] if others else None,
            runs=tuple(run for run in runs if run.system == card.system),
            checked=CheckReport(checked.findings, ()),
            command=f"errata leaderboard {board.folder.name}",
            resamples=board.resamples,
            confidence=board.confidence,
            rng=board.seed,
        )
    )
    body = render_template(
        HOME,
        "templates/system_top.html.j2",
        front=f"../{FRONT}",
        board=board.title,
        card=card_html(card),
        others=[
            (name, PurePosixPath(address).name)
            for name, address in names.items()
            if name != ranked.name
        ],
    )
    top = Section("card", "Submission", body, styles=[board_style()])
    beside = f", beside {others[0]}" if others else ""
    about = f"{board.title}: {ranked.name}{beside}"
    return render_page(card.system, [top, *made.sections], about=about)
