"""Commands that bring into a campaign what may come later: judges, texts, quotas, a budget."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from errata.cli.campaigns import campaign_links, links_begin, show_links, show_status_of
from errata.cli.collect_options import opened_campaign, place_argument, url_option
from errata.cli.options import FiniteRange, refuse_unless
from errata.cli.output import format_option
from errata.cli.running import note
from errata.errors import InputError

if TYPE_CHECKING:
    from errata.report.table import Form
    from errata.web.database import Database

__all__ = ["CHANGING_COMMANDS"]


@click.command("import", epilog="Example:  errata collect import pilot.db judges.csv")
@place_argument
@click.argument("table", metavar="FILE")
@click.option(
    "--earlier",
    is_flag=True,
    help="FILE holds earlier judgments, in any form that errata rank reads: adaptive pairs start "
    "from them, and they are not merged into the campaign's.",
)
@url_option
@format_option
def import_judges(place: str, table: str, earlier: bool, url: str | None, form: Form) -> None:
    """Add the judges of a table with a heading: name, quota, language, provider, external id.

    A name or an external id is needed. Ids at a panel are shown nowhere but in export --form
    people.
    """
    if earlier:
        refuse_unless(False, "url", "tables of judges")
        _import_judgments(place, table, form)
        return
    begin = links_begin(url=url)
    with opened_campaign(place) as database:
        from errata.web.clock import wall_ms
        from errata.web.imports import invite_listed, read_judge_list

        listed = read_judge_list(table)
        invite_listed(database, listed, now=wall_ms())
        show_links(
            [], campaign_links(database, place, begin, tuple(each.name for each in listed)), form
        )


def _import_judgments(place: str, path: str, form: Form) -> None:
    from errata.io.judgments import read_judgments

    with opened_campaign(place) as database:
        from errata.web.clock import wall_ms
        from errata.web.imports import earlier_counts, keep_earlier
        from errata.web.store import Store

        campaign = Store(database).campaign()
        if campaign.design.policy != "adaptive":
            raise InputError(
                "only adaptive pairs start from earlier judgments",
                path=database.name,
                remedy="give errata rank several files to rank them together",
            )
        counts = earlier_counts(read_judgments(path), campaign.systems, [path])
        keep_earlier(database, counts, now=wall_ms())
        note(f"{counts.games.sum() / 2:g} earlier comparisons are known to adaptive pairs")
        show_status_of(database, form)


@click.command("change", epilog="Example:  errata collect change pilot.db --quota 60 ana bo")
@place_argument
@click.argument("names", nargs=-1, metavar="[NAME...]")
@click.option(
    "--quota",
    type=click.IntRange(1),
    metavar="N",
    help="Tasks that the judges named get in all, or everybody who is there.",
)
@click.option(
    "--rankings", type=click.IntRange(1), metavar="N", help="The budget: so many judgments."
)
@click.option(
    "--hours", type=FiniteRange(0, min_open=True), metavar="H", help="The budget: hours of judges."
)
@click.option(
    "--money",
    type=FiniteRange(0, min_open=True),
    metavar="MONEY",
    help="The budget: money, at --rate an hour.",
)
@click.option(
    "--instructions",
    multiple=True,
    metavar="[LANGUAGE=]FILE",
    help="What judges read first (Markdown); a file for each language.",
)
@click.option(
    "--consent",
    multiple=True,
    metavar="[LANGUAGE=]FILE",
    help="What judges agree to; everybody is asked again.",
)
@format_option
def change_campaign(
    place: str,
    names: tuple[str, ...],
    quota: int | None,
    instructions: tuple[str, ...],
    consent: tuple[str, ...],
    form: Form,
    **bounds: float | None,
) -> None:
    """Change what is not frozen: texts, quotas and budget, also while it is served.

    Budgets are those of the whole campaign, what is done included. Each change is an event.
    """
    said = {name: amount for name, amount in bounds.items() if amount is not None}
    if len(said) > 1:
        raise InputError(f"{' and '.join(said)} are two budgets", remedy="give one of them")
    if names and quota is None:
        raise InputError("judges are named, and no quota", remedy="give --quota")
    if not (said or quota or instructions or consent):
        raise InputError(
            "nothing to change", remedy="give --quota, a budget, --instructions or --consent"
        )
    with opened_campaign(place) as database:
        from errata.web.changing import change_budget, change_quota, change_texts
        from errata.web.clock import wall_ms

        now = wall_ms()
        words = _changed_words(database, {"instructions": instructions, "consent": consent})
        with database.at_once() as together:  # all of it, or nothing
            if quota is not None:
                change_quota(together, quota, names, now=now)
            budgets: Any = said.items()
            found = [change_budget(together, *each, now=now) for each in budgets]
            if words:
                change_texts(together, words, now=now)
        for allowed, there in found:
            note(f"the budget allows {allowed} judgments")
            if allowed > there:
                note(f"there are items for {there}: more need another campaign")
        show_status_of(database, form)


def _changed_words(database: Database, named: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
    """The texts of the files named, as they are to be stored; none where no file is."""
    from errata.cli.collect_inputs import words_of
    from errata.web.store import Store

    if not any(named.values()):
        return {}
    before = Store(database).campaign().texts
    words, _ = words_of(named, str(before.get("language", "en")), None)
    translations = {tongue: dict(own) for tongue, own in before.get("translations", {}).items()}
    for tongue, own in words.pop("translations", {}).items():
        translations.setdefault(tongue, {}).update(own)
    if translations:
        words["translations"] = translations
    return words


CHANGING_COMMANDS = (import_judges, change_campaign)
