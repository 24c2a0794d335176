"""``errata leaderboard``: a leaderboard from a folder of submissions."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from errata.cli.main import note
from errata.cli.options import threads_option
from errata.cli.output import CommandOptions, ProgressBar, echo_findings, emit
from errata.cli.params import argument, flag, option, takes
from errata.core.errors import InputError, escape_controls

if TYPE_CHECKING:
    from errata.leaderboard.files import Board


@dataclass(frozen=True)
class LeaderboardOptions(CommandOptions):
    folder: str = argument(metavar="FOLDER")
    submissions: tuple[str, ...] = option(
        "--check SUBMISSION",
        "Only check this submission (a folder with card.toml), or all in a folder; may be "
        "repeated.",
        multiple=True,
    )
    strict: bool = flag("--strict", "Fail on warnings too.")
    site: str | None = option(
        "--site FOLDER", "The folder for the pages. Default: site in the leaderboard's folder."
    )
    bundle: str | None = option(
        "--codabench FILE.zip", "Write a bundle for Codabench as well.", writes="file"
    )
    threads: int | None = threads_option()

    def __post_init__(self) -> None:
        """Refuse a bundle that would not be called a ZIP archive."""
        if self.bundle is not None and not self.bundle.lower().endswith(".zip"):
            remedy = "give it a name that ends in .zip"
            raise InputError("a bundle is a ZIP archive", path=self.bundle, remedy=remedy)


@click.command("leaderboard", epilog="Example:  errata leaderboard essays/ --site public/")
@takes(LeaderboardOptions, around=("folder",))
def command(given: LeaderboardOptions) -> None:
    """Build a leaderboard from a folder of submissions.

    FOLDER has board.toml (title, metrics, test sets) and submissions/NAME with card.toml and the
    output. Each submission is checked, scored once, and shown on static pages with clusters and
    history; a second run scores only new submissions. The exit code is 1 if one is refused.
    """
    from errata.leaderboard.files import read_board

    board = read_board(given.folder)
    failed = _check_submissions(board, given) if given.submissions else _build_pages(board, given)
    if failed:
        sys.exit(1)


def _build_pages(board: Board, given: LeaderboardOptions) -> bool:
    """Score new submissions and write the pages; return whether a submission failed."""
    from errata.core.cache import BlobCache
    from errata.io.atomic import write_bytes
    from errata.io.checks import join_similar_findings
    from errata.leaderboard import standings
    from errata.leaderboard.codabench import codabench_bundle
    from errata.leaderboard.website import board_pages, write_site

    if given.bundle is not None:
        write_bytes(codabench_bundle(board), given.bundle)
    cache = BlobCache(board.folder / "kept.sqlite")
    with ProgressBar("submissions") as progress:
        standing = standings.read_standing(
            board, cache, threads=given.threads, progress=lambda _: progress
        )
    standings.store_runs(standing)
    site = Path(given.site) if given.site is not None else board.folder / "site"
    for address in write_site(site, board_pages(standing, standings.board_runs(standing))):
        note(f"{site / address}: removed, its system is no longer on the leaderboard")
    tables = [standings.board_table(each, groups=bool(board.groups)) for each in standing.sets]
    tables.append(standings.submission_table(standing))
    serious = [f for each in standing.checked for f in each.findings if f.severity != "note"]
    if given.display.form != "table" and any(each.findings for each in standing.checked):
        tables.append(standings.finding_table(standing.checked))
    emit(tables, given.display)
    if given.display.form == "table":
        echo_findings(join_similar_findings(serious))
    note(
        f"{site / 'index.html'}: scored {len(standing.newly_scored)} new of "
        f"{sum(each.can_be_scored for each in standing.checked)}, refused {len(standing.refused)}"
    )
    return bool(standing.refused or (given.strict and serious))


def _check_submissions(board: Board, given: LeaderboardOptions) -> bool:
    """Print the findings of submissions; return whether a build should fail."""
    from errata.io.checks import join_similar_findings
    from errata.leaderboard import standings

    folders = [folder for name in given.submissions for folder in _submission_folders(board, name)]
    checked = standings.check_submissions(board, folders)
    findings = [finding for each in checked for finding in each.findings]
    if given.display.form == "table":
        echo_findings(join_similar_findings(findings))
        verdicts = ((c.name, "fits" if c.can_be_scored else "refused") for c in checked)
        click.echo(", ".join(f"{escape_controls(name)}: {text}" for name, text in verdicts))
    else:
        emit(standings.finding_table(checked), given.display)
    bad = {"error", "warning"} if given.strict else {"error"}
    return any(finding.severity in bad for finding in findings)


def _submission_folders(board: Board, name: str) -> list[Path]:
    """Return the folder of a submission, by its path or its name, or those in it."""
    tried = [Path(name), board.folder / name, board.folder / "submissions" / name]
    folder = next((each for each in tried if each.is_dir()), None)
    if folder is None:
        remedy = "a submission is a folder with card.toml and an output"
        raise InputError("there is no such folder", path=name, remedy=remedy)
    inside = sorted(card.parent for card in folder.glob("*/card.toml"))
    return [folder] if (folder / "card.toml").exists() or not inside else inside
