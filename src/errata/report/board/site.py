"""The pages of a leaderboard: a front page, and a report of every system."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from errata.data import Hypotheses
from errata.errors import visible
from errata.io.linter import Checked
from errata.io.runs import StoredRun
from errata.report.board.sections import (
    answer_section,
    card_html,
    check_section,
    history_section,
    page_names,
    ranking_section,
    style,
    system_section,
    take_part_section,
)
from errata.report.page import Section, page
from errata.report.story.story_material import StoryMaterial
from errata.report.story.whole_report import make_report
from errata.studies.leaderboard import BoardStanding, CheckedSubmission, RankedSet

__all__ = ["board_pages"]

FRONT = "index.html"


def board_pages(standing: BoardStanding, runs: Mapping[str, Sequence[StoredRun]]) -> dict[str, str]:
    """Every page by its address in the site; ``runs`` are those of each test set, oldest first."""
    board = standing.board
    links = page_names(standing)
    sections = [answer_section(standing)]
    sections += [
        ranking_section(ranked, board, f"board-{k + 1}", links[ranked.name])
        for k, ranked in enumerate(standing.sets)
    ]
    history = history_section(standing, runs)
    sections += [history] if history is not None else []
    sections += [system_section(standing), check_section(standing), take_part_section(board)]
    pages = {FRONT: page(board.title, sections, about=board.about)}
    for each in standing.checked:
        if each.fits and each.submission is not None:
            system = each.submission.card.system
            there = [ranked for ranked in standing.sets if system in ranked.submissions]
            names = {ranked.name: links[ranked.name][system] for ranked in there}
            for ranked in there:
                pages[names[ranked.name]] = _system_page(
                    standing, each, ranked, names, runs.get(ranked.name, ())
                )
    return pages


def _system_page(
    standing: BoardStanding,
    checked: CheckedSubmission,
    ranked: RankedSet,
    names: Mapping[str, str],
    runs: Sequence[StoredRun],
) -> str:
    """The report of a system on a test set, beside the best of the others, under its card."""
    assert checked.submission is not None
    card, board = checked.submission.card, standing.board
    others = [name for name in ranked.rankings[0].systems if name != card.system]
    by_name = {each.system: each for each in ranked.systems}
    shown: list[Hypotheses] = [by_name[name] for name in (card.system, *others[:1])]
    made = make_report(
        StoryMaterial(
            corpus=ranked.corpus,
            systems=tuple(shown),
            scores=ranked.results,
            base=others[0] if others else None,
            runs=tuple(run for run in runs if run.system == card.system),
            checked=Checked(checked.findings, ()),
            command=f"errata board {board.folder.name}",
            resamples=board.resamples,
            confidence=board.confidence,
            seed=board.seed,
        )
    )
    top = Section(
        "card", "Submission", _top(standing, ranked, names, card_html(card)), styles=[style()]
    )
    beside = f", beside {others[0]}" if others else ""
    about = f"{board.title}: {ranked.name}{beside}"
    return page(card.system, [top, *made.sections], about=about)


def _top(standing: BoardStanding, ranked: RankedSet, names: Mapping[str, str], card: str) -> str:
    """The way back, the card, and the ways to the reports on other test sets."""
    back = html.escape(visible(standing.board.title))
    parts = [f'<p><a href="../{FRONT}">Back to {back}</a></p>', card]
    others = [
        f'<a href="{html.escape(PurePosixPath(where).name)}">{html.escape(visible(name))}</a>'
        for name, where in names.items()
        if name != ranked.name
    ]
    if others:
        parts.append(f"<p>This system on other test sets: {', '.join(others)}</p>")
    return "\n".join(parts)
