"""Errata collect and its subcommands."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

import click

from errata.cli.collect_options import (
    AddressOptions,
    DesignOptions,
    address_options,
    design_options,
    needs_web,
    opened_campaign,
    place_argument,
    planned_campaign,
    served_by,
    url_option,
)
from errata.cli.input_options import Inputs, corpus_options
from errata.cli.main import note
from errata.cli.options import FiniteRange, refuse_unless
from errata.cli.output import ProgressBar, emit, format_option, writes_files
from errata.cli.params import choice_of
from errata.collect.budget import link_table, outlook_table, status_table
from errata.collect.design import FileForm
from errata.core.errors import InputError, escape_controls
from errata.core.stats import Progress, plural
from errata.tables.table import Table

if TYPE_CHECKING:
    from errata.collect.web.app import Address
    from errata.collect.web.campaign import CampaignLink, PlannedCampaign
    from errata.collect.web.database import Database
    from errata.tables.table import Form


# ---- Commands on a campaign that is there: links, judges, states, a copy.

JudgeAction = Literal["add", "rotate", "block", "unblock", "forget"]
LinkOwner = Literal["organiser", "panel", "everybody"]


def links_begin(file: Mapping[str, Any] | None = None, *, url: str | None) -> str:
    """What links begin with, where nothing is served yet; the campaign file may say it."""
    needs_web()
    from errata.collect.web.app import Address

    said = {"url": url} if url else {}
    return Address(**{**(file or {}), **said}).links


def campaign_links(
    database: Database, place: str, begin: str, names: tuple[str, ...] = ()
) -> list[CampaignLink]:
    """Return the links; those that a restored copy would revive are replaced first."""
    from errata.collect.web.campaign import count_old_links, link_key, links_of
    from errata.collect.web.database import wall_ms
    from errata.collect.web.judges import end_revived_links

    if many := end_revived_links(database, now=wall_ms()):
        note(f"this is a restored copy: {many} {plural('link', many)} ended since, replaced now")
    if old := count_old_links(database):
        note(
            f"{old} {plural('link', old)} of an earlier version: they work in every campaign that "
            f"has this key until errata collect links {place} --replace everybody"
        )
    return links_of(database, link_key(place), begin, names)


def show_links(
    tables: list[Table], links: list[CampaignLink], form: Form, *, again: str = "", after: str = ""
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
        click.echo(f"{escape_controls(who)}{said}: {link}")
    if after:
        click.echo(after)


def show_links_in_terminal(
    tables: list[Table], links: list[CampaignLink], form: Form, *, again: str, after: str = ""
) -> None:
    """Print tables, and the links if this is a terminal: elsewhere they would be in a log."""
    private = sys.stdout.isatty()
    show_links(tables, links if private else [], form, after=after)
    if not private:
        note(f"links are not written to files and logs; print them: errata collect links {again}")


@click.command("links", epilog="Example:  errata collect links pilot.db judge1")
@place_argument
@click.argument("names", nargs=-1, metavar="[NAME...]")
@click.option(
    "--replace",
    type=choice_of(LinkOwner),
    help="Replace the organiser's link, the panel's or all links; the old ones end.",
)
@url_option
@format_option
def print_links(
    place: str, names: tuple[str, ...], replace: LinkOwner | None, url: str | None, form: Form
) -> None:
    """Print the links: of the judges named, or of the organiser and of all.

    errata collect judges rotate replaces the link of one judge.
    """
    if names and replace:
        raise InputError(
            "--replace does not go with names", remedy="use errata collect judges rotate PLACE NAME"
        )
    with opened_campaign(place) as database:
        from errata.collect.web.database import wall_ms
        from errata.collect.web.judges import replace_links

        if replace:
            replace_links(database, replace, now=wall_ms())
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

    from errata.collect.web.judges import invited

    with database.reading() as connection:
        taken = {judge.name for judge in invited(connection)} | {*names}
    free = (name for k in numbers(1) if (name := f"judge{k}") not in taken)
    return (*names, *islice(free, count or 0))


def _act(database: Database, action: JudgeAction, names: tuple[str, ...], erase: bool) -> None:
    from errata.collect.web import judges
    from errata.collect.web.database import wall_ms

    if action == "add":
        judges.add_judges(database, names, now=wall_ms())
    else:
        judges.change_judges(database, action, names, now=wall_ms(), erase=erase)


@click.command("status", epilog="Example:  errata collect status pilot.db")
@place_argument
@format_option
def show_status(place: str, form: Form) -> None:
    """Say how far a campaign is."""
    with opened_campaign(place) as database:
        print_status(database, form)


def print_status(database: Database, form: Form) -> None:
    """Print how far a campaign is."""
    from errata.collect.web.dashboard import Dashboard
    from errata.collect.web.store import AssignmentStore

    found = Dashboard(AssignmentStore(database)).status()
    emit(status_table(found["title"], found["state"], found["figures"]), form)


def _state_command(name: str, state: str, help: str) -> click.Command:
    """A command that brings a campaign into a state."""

    @place_argument
    @format_option
    def change(place: str, form: Form) -> None:
        with opened_campaign(place) as database:
            from errata.collect.web.database import wall_ms
            from errata.collect.web.judges import change_state

            wanted: Any = state
            change_state(database, wanted, now=wall_ms())
            print_status(database, form)

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
        from errata.collect.web.database import wall_ms
        from errata.collect.web.judges import change_state
        from errata.collect.web.panel import forget_identities

        change_state(database, "closed", now=wall_ms())
        if forget:
            gone = forget_identities(database, now=wall_ms())
            note(f"external ids forgotten: {gone}; the backups you made still know them")
        print_status(database, form)


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
        from errata.collect.web.database import backup

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
        print_status(database, form)


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


# ---- Commands that bring into a campaign what may come later: judges, texts, quotas, a budget.


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
        from errata.collect.web.campaign import invite_listed, read_judge_list
        from errata.collect.web.database import wall_ms

        listed = read_judge_list(table)
        invite_listed(database, listed, now=wall_ms())
        show_links(
            [], campaign_links(database, place, begin, tuple(each.name for each in listed)), form
        )


def _import_judgments(place: str, path: str, form: Form) -> None:
    from errata.io.judgments import read_judgments

    with opened_campaign(place) as database:
        from errata.collect.web.campaign import earlier_counts, store_earlier
        from errata.collect.web.database import wall_ms
        from errata.collect.web.store import AssignmentStore

        campaign = AssignmentStore(database).campaign()
        if campaign.design.policy != "adaptive":
            raise InputError(
                "only adaptive pairs start from earlier judgments",
                path=database.name,
                remedy="give errata rank several files to rank them together",
            )
        counts = earlier_counts(read_judgments(path), campaign.systems, [path])
        store_earlier(database, counts, now=wall_ms())
        note(f"{counts.games.sum() / 2:g} earlier comparisons are known to adaptive pairs")
        print_status(database, form)


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
        from errata.collect.web.campaign import change_budget, change_quota, change_texts
        from errata.collect.web.database import wall_ms

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
        print_status(database, form)


def _changed_words(database: Database, named: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
    """The texts of the files named, as they are to be stored; none where no file is."""
    from errata.cli.collect_options import instruction_texts
    from errata.collect.web.store import AssignmentStore

    if not any(named.values()):
        return {}
    before = AssignmentStore(database).campaign().texts
    words, _ = instruction_texts(named, str(before.get("language", "en")), None)
    translations = {tongue: dict(own) for tongue, own in before.get("translations", {}).items()}
    for tongue, own in words.pop("translations", {}).items():
        translations.setdefault(tongue, {}).update(own)
    if translations:
        words["translations"] = translations
    return words


CHANGING_COMMANDS = (import_judges, change_campaign)


_inputs = corpus_options("gold", "missing", "compatible", "annotators", "skipped", "tokens")
_outputs = click.argument("outputs", nargs=-1, metavar="[[NAME=]OUTPUT...]")


@click.group(
    "collect", epilog="Example:  errata collect run pilot.db --source src.txt --judges 2 out/*.txt"
)
def command() -> None:
    """Collect human judgments: design a campaign, serve it, take files out.

    PLACE is a file (SQLite, made by new), a postgresql:// address, or ERRATA_DATABASE_URL, which
    stands for what that variable holds. Links are all that judges need; whoever has one is that
    judge. Needs pip install 'errata-gec[web]'.
    """


@command.command(
    "new",
    epilog="Example:  errata collect new pilot.db --source src.txt --judges 3 --hours 6 out/*.txt",
)
@place_argument
@_outputs
@_inputs
@design_options
@url_option
@format_option
def new_campaign(
    place: str,
    outputs: tuple[str, ...],
    inputs: Inputs,
    given: DesignOptions,
    url: str | None,
    form: Form,
) -> None:
    """Design a campaign, store it, and say what will happen; nothing is served.

    The inputs are checked as errata score checks them. The same inputs, settings and seed give
    the same items.
    """
    planned = planned_campaign(place, outputs, inputs, given)
    begin = links_begin(served_by(given), url=url)
    database, tables = _founded(place, planned)
    try:
        found = campaign_links(database, place, begin)
        show_links_in_terminal(tables, found, form, again=f"{place} --url {begin}")
    finally:
        database.close()


def _founded(place: str, planned: PlannedCampaign) -> tuple[Database, list[Table]]:
    """Store a campaign that is new; the tables that say what will happen."""
    from errata.collect.web.campaign import create_campaign, design_campaign

    with ProgressBar("items") as progress:
        built, expected = design_campaign(planned, progress=progress)
    database = create_campaign(place, planned, built)
    for said in expected.notes:
        note(said)
    for name in planned.texts.systems:
        if any(c.isspace() or c == "," for c in name):
            note(f"{name!r} cannot stand in Appraise's XML: export --form appraise will refuse it")
    return database, [outlook_table(planned.name, expected, built)]


@command.command("serve", epilog="Example:  errata collect serve pilot.db --port 8800")
@place_argument
@address_options
@click.option(
    "--workers",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    metavar="N",
    help="Processes that serve, on one port; several only where PostgreSQL keeps the campaign.",
)
@format_option
def serve_campaign(place: str, address: AddressOptions, workers: int, form: Form) -> None:
    """Serve a campaign to judges and organiser, until broken off.

    Only this machine can reach it unless --host says otherwise; a public address needs a
    certificate, or a proxy that has one. One process serves a SQLite file.
    """
    needs_web()
    _serve(place, address(), [], form, workers)


@command.command(
    "run", epilog="Example:  errata collect run pilot.db --source src.txt --judges 2 out/*.txt"
)
@place_argument
@_outputs
@_inputs
@design_options
@address_options
@format_option
def run_campaign(
    place: str,
    outputs: tuple[str, ...],
    inputs: Inputs,
    given: DesignOptions,
    address: AddressOptions,
    form: Form,
) -> None:
    """Make a campaign if there is none yet, open it, and serve it.

    Where there is one, the inputs and settings must be the same, or be left out: after a crash
    the same line goes on where it stopped. One that was paused or closed stays so.
    """
    needs_web()
    from errata.collect.web.app import check_listening
    from errata.collect.web.campaign import check_same_campaign
    from errata.collect.web.database import holds_campaign, wall_ms
    from errata.collect.web.judges import change_state
    from errata.collect.web.store import AssignmentStore

    where = address(served_by(given))
    check_listening(where)
    tables: list[Table] = []
    said = bool(outputs or inputs.named or inputs.sample or given.anything)
    if not holds_campaign(place):
        database, tables = _founded(place, planned_campaign(place, outputs, inputs, given))
        database.close()
    elif said:
        with opened_campaign(place) as database:
            check_same_campaign(database, planned_campaign(place, outputs, inputs, given))
    with opened_campaign(place) as database:
        if AssignmentStore(database).campaign().state == "draft":
            change_state(database, "open", now=wall_ms())
    _serve(place, where, tables, form)


def _serve(
    place: str,
    where: Address,
    tables: list[Table],
    form: Form,
    workers: int = 1,
    *,
    show: Any = show_links_in_terminal,
) -> None:
    """Serve until interrupted; print tables and links when the server listens."""
    needs_web()
    from errata.collect.web.app import check_listening, check_workers, serve
    from errata.collect.web.campaign import link_key
    from errata.collect.web.store import AssignmentStore

    check_workers(place, workers)
    with opened_campaign(place) as database:
        key = link_key(place)
        links = campaign_links(database, place, where.links)
        state = AssignmentStore(database).campaign().state
    check_listening(where)
    if state != "open":
        note(f"the campaign is {'not open yet' if state == 'draft' else state}: nobody can judge")
    serve(
        place,
        key,
        where,
        workers=workers,
        ready=lambda: show(
            tables,
            links,
            form,
            again=f"{place} --url {where.links}",
            after=f"serving {where.links} until Ctrl-C",
        ),
    )


@command.command("try", epilog="Example:  errata collect try")
@address_options
@format_option
def try_campaign(address: AddressOptions, form: Form) -> None:
    """Serve a campaign on the built-in sample, in a temporary folder that goes at the end."""
    import tempfile
    from pathlib import Path

    from errata.collect.web.database import wall_ms
    from errata.collect.web.judges import change_state

    given = DesignOptions(settings={"judges": 2})
    with tempfile.TemporaryDirectory(prefix="errata-collect-") as folder:
        place = str(Path(folder, "sample.db"))
        database, tables = _founded(place, planned_campaign(place, (), Inputs(sample=True), given))
        change_state(database, "open", now=wall_ms())
        database.close()
        _serve(place, address(), tables, form, show=show_links)  # they end with the command


@command.command("export", epilog="Example:  errata collect export pilot.db -o judgments.jsonl")
@writes_files("output", stem=True)
@place_argument
@click.option(
    "--form",
    "wanted",
    type=choice_of(FileForm),
    default="jsonl",
    show_default=True,
    help="What to write: judgments that errata rank reads, everything (details), scores, edits, "
    "texts (a file for each instruction and slot, and one that says who wrote which line), or who "
    "finished (people).",
)
@click.option("--with-blocked", is_flag=True, help="With the answers of judges who were blocked.")
@click.option(
    "--mark", metavar="MARK", help="Texts: the line where nothing was written (default: empty)."
)
@click.option(
    "-o",
    "--output",
    metavar="PATH",
    help="The file to write; of texts what their names begin with, or a folder that ends with /. "
    "Default: standard output.",
)
@format_option
def export_answers(
    place: str, wanted: str, with_blocked: bool, mark: str | None, output: str | None, form: Form
) -> None:
    """Write what judges said: last revisions, without controls and tutorials."""
    from errata.io.atomic import write_lines

    refuse_unless(wanted == "texts", "mark", "--form texts")
    written: list[tuple[str, int]] = []
    with opened_campaign(place) as database, ProgressBar("answers") as progress:
        from errata.collect.files import WRITERS, render_writers
        from errata.collect.web.exports import (
            answers_stored,
            export_lines,
            text_files,
            texts_without_room,
            writer_lines,
        )

        if wanted == "texts":
            if output is None:
                raise InputError("texts are several files", remedy="give --output")
            begin = output if output.endswith(("/", os.sep)) else f"{output}."
            for name, lines in text_files(database, mark=mark or "", blocked=with_blocked):
                path = begin + name
                written.append((path, write_lines(lines(), path)))
            wrote = writer_lines(database, begin=os.path.basename(begin), blocked=with_blocked)
            path = begin + WRITERS
            written.append((path, write_lines(render_writers(wrote), path)))
            if late := texts_without_room(database, blocked=with_blocked):
                note(
                    f"{late} {plural('text', late)} came late, when others had taken their place, "
                    "left out here; --form details has all"
                )
        else:
            safe = bool(click.get_current_context().meta.get("errata.safe_cells"))
            some: Any = wanted
            found = export_lines(database, some, blocked=with_blocked, safe_cells=safe)
            if wanted == "edits-m2":
                _tell_left_out(database, with_blocked)
            path = output or "-"
            many = write_lines(_told(found, answers_stored(database), progress), path)
            if path != "-":
                written.append((path, many))
    if written:
        emit(Table(("file", "lines"), tuple(written), title="Written", name="written"), form)


def _tell_left_out(database: Database, blocked: bool) -> None:
    """Say which good edits an M2 does not hold: an annotator's edits must not overlap."""
    from errata.collect.web.exports import omitted_edits

    found = omitted_edits(database, blocked=blocked)
    if not found:
        return
    (start, end, new), (first, last, other) = found[0].edit, found[0].instead
    note(
        f"{len(found)} {plural('edit', len(found))} called good overlap others with as many votes "
        f"or more, and are left out: first {start}-{end} {new!r} of sentence "
        f"{found[0].sentence + 1}, beside {first}-{last} {other!r}; --form edits has all"
    )


def _told(lines: Iterable[str], total: int, progress: Progress) -> Iterator[str]:
    """The lines, and how far they are."""
    for many, line in enumerate(lines, 1):
        yield line
        progress(min(many, total), total)


for _each in (*CAMPAIGN_COMMANDS, *CHANGING_COMMANDS):
    command.add_command(_each)
