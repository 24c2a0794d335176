"""Commands on a campaign that is there: links, judges, states, a copy.

They are added to ``errata collect``, whose own module makes, serves and exports campaigns.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import click

from errata.cli.collect_options import needs_web, opened_campaign, place_argument, url_option
from errata.cli.options import refuse_unless
from errata.cli.output import emit, format_option, writes_files
from errata.cli.running import note
from errata.cli.words import choice_of
from errata.errors import InputError, visible
from errata.report.table import Table
from errata.report.tables.campaigns import link_table, status_table

if TYPE_CHECKING:
    from errata.report.table import Form
    from errata.web.database import Database
    from errata.web.founding import CampaignLink

__all__ = ["CAMPAIGN_COMMANDS", "campaign_links", "links_begin", "show_links", "show_status_of"]

JudgeAction = Literal["add", "rotate", "block", "unblock", "forget"]


def links_begin(file: Mapping[str, Any] | None = None, *, url: str | None) -> str:
    """What links begin with, where nothing is served yet; the campaign file may say it."""
    needs_web()
    from errata.web.address import Address

    said = {"url": url} if url else {}
    return Address(**{**(file or {}), **said}).links


def campaign_links(
    database: Database, place: str, begin: str, names: tuple[str, ...] = ()
) -> list[CampaignLink]:
    from errata.web.founding import link_key, links_of

    return links_of(database, link_key(place), begin, names)


def show_links(
    tables: list[Table], links: list[CampaignLink], form: Form, *, after: str = ""
) -> None:
    """Print tables and links; in a terminal links are lines, which no width cuts."""
    if form != "table":
        emit([*tables, *([link_table(links)] if links else [])], form)
        return
    if tables:
        emit(tables, form)
        click.echo()
    for who, state, link in links:
        said = "" if state in ("", "active") else f" ({state})"
        click.echo(f"{visible(who)}{said}: {link}")
    if after:
        click.echo(after)


@click.command("links", epilog="Example:  errata collect links pilot.db judge1")
@place_argument
@click.argument("names", nargs=-1, metavar="[NAME...]")
@url_option
@format_option
def print_links(place: str, names: tuple[str, ...], url: str | None, form: Form) -> None:
    """Print the links again: of the judges named, or of the organiser and of all."""
    with opened_campaign(place) as database:
        show_links([], campaign_links(database, place, links_begin(url=url), names), form)


@click.command("judges", epilog="Example:  errata collect judges add pilot.db ana bo")
@click.argument("action", type=choice_of(JudgeAction), metavar="add|rotate|block|unblock|forget")
@place_argument
@click.argument("names", nargs=-1, metavar="[NAME...]")
@click.option("--count", type=click.IntRange(1), metavar="N", help="Add so many, named by number.")
@click.option("--erase", is_flag=True, help="Forget the judgments too; their items return.")
@url_option
@format_option
def change_judges(
    action: JudgeAction,
    place: str,
    names: tuple[str, ...],
    count: int | None,
    erase: bool,
    url: str | None,
    form: Form,
) -> None:
    """Add judges, give them new links (rotate), block, unblock or forget them.

    Answers of a judge who is blocked stay, and are left out of exports. Who is forgotten loses
    name, comments and link; with --erase the judgments as well.
    """
    refuse_unless(action == "add", "count", "judges add")
    refuse_unless(action == "forget", "erase", "judges forget")
    begin = links_begin(url=url)
    with opened_campaign(place) as database:
        names = _new_names(database, names, count) if action == "add" else names
        if not names:
            raise InputError("no judge is named", remedy="name some, or give --count to add")
        _act(database, action, names, erase)
        shown = [] if action == "forget" else campaign_links(database, place, begin, names)
    show_links([], shown, form)
    if action == "forget":
        note(f"forgotten: {len(names)}; the backups you made still know them")


def _new_names(database: Database, names: tuple[str, ...], count: int | None) -> tuple[str, ...]:
    """The names given and, for a count, the first numbered ones that are free."""
    from itertools import count as numbers
    from itertools import islice

    from errata.web.people import invited

    with database.reading() as connection:
        taken = {judge.name for judge in invited(connection)} | {*names}
    free = (name for k in numbers(1) if (name := f"judge{k}") not in taken)
    return (*names, *islice(free, count or 0))


def _act(database: Database, action: JudgeAction, names: tuple[str, ...], erase: bool) -> None:
    from errata.web import people
    from errata.web.clock import wall_ms

    if action == "add":
        people.add_judges(database, names, now=wall_ms())
    else:
        people.act_on_judges(database, action, names, now=wall_ms(), erase=erase)


@click.command("status", epilog="Example:  errata collect status pilot.db")
@place_argument
@format_option
def show_status(place: str, form: Form) -> None:
    """Say how far a campaign is."""
    with opened_campaign(place) as database:
        show_status_of(database, form)


def show_status_of(database: Database, form: Form) -> None:
    """Print how far a campaign is."""
    from errata.web.dashboard import Dashboard
    from errata.web.store import Store

    found = Dashboard(Store(database)).status()
    emit(status_table(found["title"], found["state"], found["figures"]), form)


def _state_command(name: str, state: str, help: str) -> click.Command:
    """A command that brings a campaign into a state."""

    @place_argument
    @format_option
    def change(place: str, form: Form) -> None:
        with opened_campaign(place) as database:
            from errata.web.clock import wall_ms
            from errata.web.people import change_state

            wanted: Any = state
            change_state(database, wanted, now=wall_ms())
            show_status_of(database, form)

    change.__doc__ = help
    epilog = f"Example:  errata collect {name} pilot.db"
    return click.command(name, epilog=epilog)(change)


@click.command("close", epilog="Example:  errata collect close study.db --forget")
@place_argument
@click.option(
    "--forget", is_flag=True, help="Delete what a panel calls its participants: pay them first."
)
@format_option
def close_campaign(place: str, forget: bool, form: Form) -> None:
    """End a campaign for good."""
    with opened_campaign(place) as database:
        from errata.web.clock import wall_ms
        from errata.web.participants import forget_identities
        from errata.web.people import change_state

        change_state(database, "closed", now=wall_ms())
        if forget:
            gone = forget_identities(database, now=wall_ms())
            note(f"external ids forgotten: {gone}; the backups you made still know them")
        show_status_of(database, form)


@click.command("backup", epilog="Example:  errata collect backup pilot.db copy.db")
@place_argument
@click.argument("target", metavar="TO")
@format_option
@writes_files("target")
def copy_campaign(place: str, target: str, form: Form) -> None:
    """Copy a SQLite campaign while it is in use: whole, as it is at one time.

    The key of its links (PLACE.key) is not copied: keep it apart.
    """
    from pathlib import Path

    with opened_campaign(place) as database:
        from errata.web.database import backup

        if database.path is None:
            raise InputError(
                "PostgreSQL has its own backups", path=database.name, remedy="use pg_dump"
            )
        try:
            backup(database, Path(target))
        except OSError as error:
            raise InputError(
                f"cannot write the file: {error.strerror}", path=target, remedy="check the path"
            ) from None
        show_status_of(database, form)


CAMPAIGN_COMMANDS = (
    print_links,
    change_judges,
    show_status,
    _state_command("open", "open", "Let judges work. The design of the campaign is frozen then."),
    _state_command(
        "pause", "paused", "Give out no task for a while; answers on their way are stored."
    ),
    close_campaign,
    copy_campaign,
)
