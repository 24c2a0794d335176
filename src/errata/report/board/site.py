"""The pages of a leaderboard: a front page, and a report of every system."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

from errata.errors import visible
from errata.io.runs import StoredRun
from errata.report.board.sections import (
    answer_section,
    card_html,
    check_section,
    history_section,
    page_name,
    ranking_section,
    style,
    system_section,
    take_part_section,
)
from errata.report.page import Section, page, table_html
from errata.report.tables.scores import score_table, told_apart
from errata.studies.leaderboard import BoardStanding, RankedSet

__all__ = ["board_pages"]

FRONT = "index.html"


def board_pages(standing: BoardStanding, runs: Mapping[str, Sequence[StoredRun]]) -> dict[str, str]:
    """Every page by its address in the site; ``runs`` are those of each test set, oldest first."""
    board = standing.board
    sections = [answer_section(standing)]
    sections += [
        ranking_section(ranked, board, f"board-{k + 1}") for k, ranked in enumerate(standing.sets)
    ]
    history = history_section(runs)
    sections += [history] if history is not None else []
    sections += [system_section(standing), check_section(standing), take_part_section(board)]
    pages = {FRONT: page(board.title, sections, about=board.about)}
    for each in standing.checked:
        if each.fits and each.submission is not None:
            system = each.submission.card.system
            there = [ranked for ranked in standing.sets if system in ranked.submissions]
            pages[page_name(each.name)] = _system_page(standing, system, there)
    return pages


def _system_page(standing: BoardStanding, system: str, sets: Sequence[RankedSet]) -> str:
    card = sets[0].submissions[system].card
    back = f'<p><a href="../{FRONT}">Back to {html.escape(visible(standing.board.title))}</a></p>\n'
    sections = [Section("card", "Submission", back + card_html(card), styles=(style(),))]
    for k, ranked in enumerate(sets):
        tables = [score_table(scores) for scores in told_apart(ranked.results)]
        body = "\n".join(table_html(t, f"{k}-{t.name}") for t in tables)
        sections.append(Section(f"scores-{k + 1}", f"Scores on {ranked.name}", body, tables=tables))
    return page(system, sections, about=f"A submission to {standing.board.title}")
