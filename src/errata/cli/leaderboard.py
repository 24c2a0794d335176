"""``errata leaderboard``: a folder of submissions as a leaderboard."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from errata.cli.main import note
from errata.cli.options import threads_option
from errata.cli.output import ProgressBar, echo_findings, emit, format_option, writes_files
from errata.core.errors import InputError, escape_controls

if TYPE_CHECKING:
    from errata.leaderboard.files import Board
    from errata.tables.table import Form


@click.command("leaderboard", epilog="Example:  errata leaderboard essays/ --site public/")
@writes_files("bundle", around=("folder",))
@click.argument("folder", metavar="FOLDER")
@click.option(
    "--check",
    "submissions",
    multiple=True,
    metavar="SUBMISSION",
    help="Only check this submission (a folder with card.toml), or all in a folder; may be "
    "repeated.",
)
@click.option("--strict", is_flag=True, help="Fail on warnings too.")
@click.option(
    "--site", metavar="FOLDER", help="Where the pages go. Default: site in the board's folder."
)
@click.option(
    "--codabench", "bundle", metavar="FILE.zip", help="Write a bundle for Codabench as well."
)
@threads_option
@format_option
def command(
    folder: str,
    submissions: tuple[str, ...],
    strict: bool,
    site: str | None,
    bundle: str | None,
    threads: int | None,
    form: Form,
) -> None:
    """Make a leaderboard of a folder of submissions.

    FOLDER has board.toml (title, metrics, test sets) and submissions/NAME with card.toml and the
    output. Each submission is checked, scored once, and shown on static pages with clusters and
    history; a second run scores only what is new. The exit code is 1 where a submission is refused.
    """
    from errata.leaderboard.files import read_board

    if bundle is not None and not bundle.lower().endswith(".zip"):
        raise InputError(
            "a bundle is a ZIP archive", path=bundle, remedy="give it a name that ends in .zip"
        )
    board = read_board(folder)
    if submissions:
        _check(board, submissions, strict, form)
        return
    from errata.core.cache import BlobCache
    from errata.io.atomic import write_bytes
    from errata.io.checks import summarise
    from errata.leaderboard.codabench import codabench_bundle
    from errata.leaderboard.standings import (
        board_runs,
        board_table,
        finding_table,
        read_standing,
        store_runs,
        submission_table,
    )
    from errata.leaderboard.website import board_pages, write_site

    if bundle is not None:
        write_bytes(codabench_bundle(board), bundle)
    with ProgressBar("submissions") as progress:
        standing = read_standing(
            board,
            BlobCache(board.folder / "kept.sqlite"),
            threads=threads,
            progress=lambda _: progress,
        )
    store_runs(standing)
    place = Path(site) if site is not None else board.folder / "site"
    removed = write_site(place, board_pages(standing, board_runs(standing)))
    for address in removed:
        note(f"{place / address}: removed, its system is not on the board any more")
    tables = [board_table(each, groups=bool(board.groups)) for each in standing.sets]
    tables.append(submission_table(standing))
    found = [f for each in standing.checked for f in each.findings if f.severity != "note"]
    if form != "table" and any(each.findings for each in standing.checked):
        tables.append(finding_table(standing.checked))
    emit(tables, form)
    if form == "table":
        echo_findings(summarise(found))
    note(
        f"{place / 'index.html'}: scored {len(standing.new)} new of "
        f"{sum(each.fits for each in standing.checked)}, refused {len(standing.refused)}"
    )
    if standing.refused or (strict and found):
        sys.exit(1)


def _check(board: Board, submissions: tuple[str, ...], strict: bool, form: Form) -> None:
    """The findings of submissions, and the code that continuous integration goes by."""
    from errata.io.checks import summarise
    from errata.leaderboard.standings import check_submissions, finding_table

    places = [place for given in submissions for place in _places(board, given)]
    checked = check_submissions(board, places)
    if form == "table":
        echo_findings(summarise([finding for each in checked for finding in each.findings]))
        click.echo(
            ", ".join(
                f"{escape_controls(c.name)}: {'fits' if c.fits else 'refused'}" for c in checked
            )
        )
    else:
        emit(finding_table(checked), form)
    bad = {"error", "warning"} if strict else {"error"}
    if any(finding.severity in bad for each in checked for finding in each.findings):
        sys.exit(1)


def _places(board: Board, given: str) -> list[Path]:
    """The folder of a submission, by its path or its name; or those in a folder of several."""
    tried = [Path(given), board.folder / given, board.folder / "submissions" / given]
    place = next((each for each in tried if each.is_dir()), None)
    if place is None:
        raise InputError(
            "there is no such folder",
            path=given,
            remedy="a submission is a folder with card.toml and an output",
        )
    inside = sorted(card.parent for card in place.glob("*/card.toml"))
    return [place] if (place / "card.toml").exists() or not inside else inside
