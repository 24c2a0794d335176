"""``errata collect``: judgments from people in their browsers."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import click

from errata.cli.collect_options import (
    AddressOptions,
    DesignOptions,
    DesignSettings,
    campaign_place_argument,
    opened_campaign,
    planned_campaign,
    positive_option,
    require_web_packages,
    text_files_option,
    url_option,
)
from errata.cli.input_options import Inputs
from errata.cli.main import note
from errata.cli.output import CommandOptions, Display, ProgressBar, emit, emit_written, track
from errata.cli.params import (
    NameType,
    argument,
    choice_option,
    count_option,
    flag,
    group,
    option,
    takes,
)
from errata.collect.budget import link_table, outlook_table, status_table
from errata.collect.design import FileForm
from errata.core.errors import InputError, escape_controls
from errata.core.stats import plural
from errata.tables.table import Table

if TYPE_CHECKING:
    from errata.collect.web.campaign import CampaignLink, PlannedCampaign
    from errata.collect.web.database import Database
    from errata.collect.web.server import Address

JudgeAction = Literal["add", "rotate", "block", "unblock", "forget"]
LinkOwner = Literal["organiser", "panel", "everybody"]


def _judges_argument() -> Any:
    return argument(metavar="[NAME...]", several=True)


@click.group(
    "collect", epilog="Example:  errata collect run pilot.db --source src.txt --judges 2 out/*.txt"
)
def command() -> None:
    """Collect human judgments: design a campaign, serve it, export files.

    PLACE is a file (SQLite, made by new), a postgresql:// address, or ERRATA_DATABASE_URL, which
    stands for the value of that variable. A judge needs only a link; anyone who has the link works
    as that judge. Needs pip install 'errata-gec[web]'.
    """


@dataclass(frozen=True)
class PlaceOptions(CommandOptions):
    """Options of commands on a campaign."""

    place: str = campaign_place_argument()


@dataclass(frozen=True)
class CampaignOptions(PlaceOptions):
    """What a campaign is made of."""

    outputs: tuple[str, ...] = argument(metavar="[[NAME=]OUTPUT...]", several=True)
    inputs: Inputs = group(
        Inputs, *("gold", "missing", "compatible", "annotators", "skipped", "tokens", "normalise")
    )
    design: DesignOptions = group(DesignOptions)

    def plan_campaign(self) -> PlannedCampaign:
        return planned_campaign(self.place, self.outputs, self.inputs, self.design)


@dataclass(frozen=True)
class NewOptions(CampaignOptions):
    url: str | None = url_option()


@command.command(
    "new",
    epilog="Example:  errata collect new pilot.db --source src.txt --judges 3 --hours 6 out/*.txt",
)
@takes(NewOptions)
def new_campaign(given: NewOptions) -> None:
    """Design a campaign, store it, and print what will happen; nothing is served.

    The inputs are checked as errata score checks them. The same inputs, settings and seed give
    the same items.
    """
    place, file = given.place, given.design.campaign_file()
    planned = given.plan_campaign()
    start = link_base_url(file.serve if file else {}, url=given.url)
    database, tables = _store_campaign(place, planned)
    try:
        links = campaign_links(database, place, start)
        show_links(tables, links, given.display, again=f"{place} --url {start}")
    finally:
        database.close()


def _store_campaign(place: str, planned: PlannedCampaign) -> tuple[Database, list[Table]]:
    """Store a new campaign; return it, and the tables of what will happen."""
    from errata.collect.web.campaign import create_campaign, design_campaign

    with ProgressBar("items") as progress:
        built, expected = design_campaign(planned, progress=progress)
    database = create_campaign(place, planned, built)
    for message in expected.notes:
        note(message)
    for name in planned.texts.systems:
        if any(c.isspace() or c == "," for c in name):
            note(f"{name!r} is no name in Appraise's XML: export --form appraise will refuse it")
    return database, [outlook_table(planned.name, expected, built)]


@dataclass(frozen=True)
class ServeOptions(PlaceOptions):
    address: AddressOptions = group(AddressOptions)
    workers: int = count_option(
        "--workers",
        "Processes that serve, on one port; several only if PostgreSQL stores the campaign.",
        1,
    )


@command.command("serve", epilog="Example:  errata collect serve pilot.db --port 8800")
@takes(ServeOptions)
def serve_campaign(given: ServeOptions) -> None:
    """Serve a campaign to judges and organiser, until interrupted.

    Only this machine can reach it without --host; a public address needs a certificate, or a
    proxy that has one. One process serves a SQLite file.
    """
    require_web_packages()
    _run_server(given.place, given.address.address(), [], given.display, given.workers)


@dataclass(frozen=True)
class RunOptions(CampaignOptions):
    address: AddressOptions = group(AddressOptions)


@command.command(
    "run", epilog="Example:  errata collect run pilot.db --source src.txt --judges 2 out/*.txt"
)
@takes(RunOptions)
def run_campaign(given: RunOptions) -> None:
    """Make a campaign if there is none yet, open it, and serve it.

    Where there is one, the inputs and settings must be the same, or be left out: after a crash
    the same line continues it. A campaign that was paused or closed stays so.
    """
    require_web_packages()
    from errata.collect.web.campaign import check_same_campaign
    from errata.collect.web.database import holds_campaign
    from errata.collect.web.judges import change_state
    from errata.collect.web.server import check_listening
    from errata.collect.web.store import AssignmentStore

    place, inputs, design = given.place, given.inputs, given.design
    file = design.campaign_file()
    address = given.address.address(file.serve if file else None)
    check_listening(address)
    tables: list[Table] = []
    if not holds_campaign(place):
        database, tables = _store_campaign(place, given.plan_campaign())
        database.close()
    elif given.outputs or inputs.has_files or inputs.sample or not design.is_empty:
        with opened_campaign(place) as database:
            check_same_campaign(database, given.plan_campaign())
    with opened_campaign(place) as database:
        if AssignmentStore(database).campaign().state == "draft":
            change_state(database, "open")
    _run_server(place, address, tables, given.display)


@dataclass(frozen=True)
class TryOptions(CommandOptions):
    address: AddressOptions = group(AddressOptions)


@command.command("try", epilog="Example:  errata collect try")
@takes(TryOptions)
def serve_sample_campaign(given: TryOptions) -> None:
    """Serve a campaign on the built-in sample, in a temporary folder that goes at the end."""
    import tempfile

    require_web_packages()
    from errata.collect.web.judges import change_state

    design = DesignOptions(settings=DesignSettings(judges=2))
    with tempfile.TemporaryDirectory(prefix="errata-collect-") as folder:
        place = str(Path(folder, "sample.db"))
        planned = planned_campaign(place, (), Inputs(sample=True), design)
        database, tables = _store_campaign(place, planned)
        change_state(database, "open")
        database.close()
        # These links end with the command, so they are printed anywhere.
        _run_server(place, given.address.address(), tables, given.display, everywhere=True)


def _run_server(
    place: str,
    address: Address,
    tables: list[Table],
    display: Display,
    workers: int = 1,
    *,
    everywhere: bool = False,
) -> None:
    """Serve until interrupted; print tables and links when the server listens."""
    from errata.collect.web.campaign import link_key
    from errata.collect.web.server import check_listening, check_workers, serve
    from errata.collect.web.store import AssignmentStore

    check_workers(place, workers)
    with opened_campaign(place) as database:
        key = link_key(place)
        links = campaign_links(database, place, address.links)
        state = AssignmentStore(database).campaign().state
    check_listening(address)
    if state != "open":
        note(f"the campaign is {'not open yet' if state == 'draft' else state}: nobody can judge")
    again = "" if everywhere else f"{place} --url {address.links}"
    after = f"serving {address.links} until Ctrl-C"
    ready = partial(show_links, tables, links, display, again=again, after=after)
    serve(place, key, address, workers=workers, ready=ready)


# ---- Links and judges.


def link_base_url(entries: Mapping[str, Any] | None = None, *, url: str | None) -> str:
    """Return the start of links while nothing is served; a campaign file may have entries."""
    require_web_packages()
    from errata.collect.web.server import Address

    own = {"url": url} if url else {}
    return Address(**{**(entries or {}), **own}).links


def campaign_links(
    database: Database, place: str, start: str, names: tuple[str, ...] = ()
) -> list[CampaignLink]:
    """Return the links; those that a restored copy would revive are replaced first."""
    from errata.collect.web.campaign import count_old_links, link_key, links_of
    from errata.collect.web.judges import end_revived_links

    if many := end_revived_links(database):
        note(f"this is a restored copy: {many} {plural('link', many)} ended since, replaced now")
    if old := count_old_links(database):
        note(
            f"{old} {plural('link', old)} of an earlier version: they work in every campaign that "
            f"has this key until errata collect links {place} --replace everybody"
        )
    return links_of(database, link_key(place), start, names)


def show_links(
    tables: list[Table],
    links: list[CampaignLink],
    display: Display,
    *,
    again: str = "",
    after: str = "",
) -> None:
    """Print tables and links, which are lines in a terminal.

    Elsewhere, links are left out if ``again``, the command that prints them, is given: logs are
    read.
    """
    hidden = bool(again) and not sys.stdout.isatty()
    shown = [] if hidden else links
    if display.form != "table":
        emit([*tables, *([link_table(shown)] if shown else [])], display)
    else:
        if tables:
            emit(tables, display)
            click.echo()
        for name, state, link in shown:
            remark = "" if state in ("", "active") else f" ({state})"
            click.echo(f"{escape_controls(name)}{remark}: {link}")
        if after:
            click.echo(after)
    if hidden:
        note(f"links are not written to files and logs; print them: errata collect links {again}")


@dataclass(frozen=True)
class LinksOptions(PlaceOptions):
    names: tuple[str, ...] = _judges_argument()
    replace: LinkOwner | None = choice_option(
        "--replace",
        LinkOwner,
        "Replace the organiser's link, the panel's or all links; the old ones end.",
    )
    url: str | None = url_option()

    def __post_init__(self) -> None:
        """Refuse to replace the links of single judges, for which there is another command."""
        if self.names and self.replace:
            remedy = "use errata collect judges rotate PLACE NAME"
            raise InputError("--replace does not go with names", remedy=remedy)


@command.command("links", epilog="Example:  errata collect links pilot.db judge1")
@takes(LinksOptions)
def print_links(given: LinksOptions) -> None:
    """Print the links: of the judges named, or of the organiser and of all.

    errata collect judges rotate replaces the link of one judge.
    """
    with opened_campaign(given.place) as database:
        from errata.collect.web.judges import replace_links

        if given.replace:
            replace_links(database, given.replace)
        start = link_base_url(url=given.url)
        show_links([], campaign_links(database, given.place, start, given.names), given.display)


@dataclass(frozen=True)
class JudgesOptions(CommandOptions):
    action: JudgeAction = argument(
        type=NameType(get_args(JudgeAction), case_sensitive=False),
        metavar="add|rotate|block|unblock|forget",
    )
    place: str = campaign_place_argument()
    names: tuple[str, ...] = _judges_argument()
    count: int | None = count_option("--count", "Add so many, named by number.", needs="action add")
    erase: bool = flag(
        "--erase", "Forget the judgments too; their items return.", needs="action forget"
    )
    url: str | None = url_option()


@command.command("judges", epilog="Example:  errata collect judges add pilot.db ana bo")
@takes(JudgesOptions)
def change_judges(given: JudgesOptions) -> None:
    """Add judges, give them new links (rotate), block, unblock or forget them.

    Answers of a blocked judge are kept, but left out of exports. A forgotten judge loses
    name, comments and link; with --erase the judgments as well.
    """
    start = link_base_url(url=given.url)
    with opened_campaign(given.place) as database:
        from errata.collect.web import judges

        names = given.names
        if given.action == "add":
            names += judges.numbered_names(database, names, given.count or 0)
        if not names:
            raise InputError("no judge is named", remedy="name some, or give --count to add")
        if given.action == "add":
            judges.add_judges(database, names)
        else:
            judges.change_judges(database, given.action, names, erase=given.erase)
        links = []
        if given.action != "forget":
            links = campaign_links(database, given.place, start, names)
    show_links([], links, given.display)
    if given.action == "forget":
        note(f"forgotten: {len(names)}; the backups you made still contain them")


# ---- The state of a campaign, and a copy.


@command.command("status", epilog="Example:  errata collect status pilot.db")
@takes(PlaceOptions)
def show_status(given: PlaceOptions) -> None:
    """Print how far a campaign is."""
    with opened_campaign(given.place) as database:
        print_status(database, given.display)


def print_status(database: Database, display: Display) -> None:
    """Print how far a campaign is."""
    from errata.collect.web.dashboard import Dashboard
    from errata.collect.web.store import AssignmentStore

    status = Dashboard(AssignmentStore(database)).status()
    emit(status_table(status["title"], status["state"], status["figures"]), display)


def _change_state(given: PlaceOptions, state: Literal["open", "paused"]) -> None:
    with opened_campaign(given.place) as database:
        from errata.collect.web.judges import change_state

        change_state(database, state)
        print_status(database, given.display)


@command.command("open", epilog="Example:  errata collect open pilot.db")
@takes(PlaceOptions)
def open_campaign(given: PlaceOptions) -> None:
    """Let judges work. From now on the design of the campaign is frozen."""
    _change_state(given, "open")


@command.command("pause", epilog="Example:  errata collect pause pilot.db")
@takes(PlaceOptions)
def pause_campaign(given: PlaceOptions) -> None:
    """Give out no task for a while; answers in transit are stored."""
    _change_state(given, "paused")


@dataclass(frozen=True)
class CloseOptions(PlaceOptions):
    forget: bool = flag("--forget", "Delete the ids of a panel's participants: pay them first.")


@command.command("close", epilog="Example:  errata collect close study.db --forget")
@takes(CloseOptions)
def close_campaign(given: CloseOptions) -> None:
    """End a campaign for good."""
    with opened_campaign(given.place) as database:
        from errata.collect.web.judges import change_state
        from errata.collect.web.panel import forget_identities

        change_state(database, "closed")
        if given.forget:
            gone = forget_identities(database)
            note(f"external ids forgotten: {gone}; the backups you made still contain them")
        print_status(database, given.display)


@dataclass(frozen=True)
class BackupOptions(PlaceOptions):
    target: str = argument(metavar="TO", writes="file")


@command.command("backup", epilog="Example:  errata collect backup pilot.db copy.db")
@takes(BackupOptions)
def copy_campaign(given: BackupOptions) -> None:
    """Copy a SQLite campaign while it is in use: complete, and consistent.

    The key of its links (PLACE.key) is not copied: keep it in another place.
    """
    with opened_campaign(given.place) as database:
        from errata.collect.web.database import backup

        if database.path is None:
            remedy = "use pg_dump"
            raise InputError("PostgreSQL has its own backups", path=database.name, remedy=remedy)
        try:
            backup(database, Path(given.target))
        except OSError as error:
            problem = f"cannot write the file: {error.strerror}"
            raise InputError(problem, path=given.target, remedy="check the path") from None
        print_status(database, given.display)


# ---- What may come later: judges, earlier judgments, texts, quotas, a budget.


@dataclass(frozen=True)
class ImportOptions(PlaceOptions):
    table: str = argument(metavar="FILE")
    earlier: bool = flag(
        "--earlier",
        "FILE holds earlier judgments, in any form that errata rank reads: adaptive pairs "
        "start from them, and they are not merged into the campaign's.",
    )
    url: str | None = url_option(excludes="--earlier")


@command.command("import", epilog="Example:  errata collect import pilot.db judges.csv")
@takes(ImportOptions)
def import_judges(given: ImportOptions) -> None:
    """Add the judges of a table with a heading: name, quota, language, provider, external id.

    A name or an external id is needed. Ids at a panel are shown only in export --form people.
    """
    if given.earlier:
        _import_judgments(given)
        return
    start = link_base_url(url=given.url)
    with opened_campaign(given.place) as database:
        from errata.collect.web.campaign import invite_listed, read_judge_list

        listed = read_judge_list(given.table)
        invite_listed(database, listed)
        names = tuple(each.name for each in listed)
        show_links([], campaign_links(database, given.place, start, names), given.display)


def _import_judgments(given: ImportOptions) -> None:
    from errata.io.judgments import read_judgments

    with opened_campaign(given.place) as database:
        from errata.collect.web.campaign import earlier_counts, store_earlier
        from errata.collect.web.store import AssignmentStore

        campaign = AssignmentStore(database).campaign()
        if campaign.design.policy != "adaptive":
            problem = "only adaptive pairs start from earlier judgments"
            remedy = "give errata rank several files to rank them together"
            raise InputError(problem, path=database.name, remedy=remedy)
        counts = earlier_counts(read_judgments(given.table), campaign.systems, [given.table])
        store_earlier(database, counts)
        note(f"adaptive pairs start from {counts.games.sum() / 2:g} earlier comparisons")
        print_status(database, given.display)


@dataclass(frozen=True)
class ChangeOptions(PlaceOptions):
    names: tuple[str, ...] = _judges_argument()
    quota: int | None = count_option(
        "--quota", "Tasks in all for the judges named, or for everybody."
    )
    rankings: int | None = count_option("--rankings", "The budget: so many judgments.")
    hours: float | None = positive_option("--hours H", "The budget: hours of judges.")
    money: float | None = positive_option("--money MONEY", "The budget: money, at --rate an hour.")
    instructions: tuple[str, ...] = text_files_option(
        "--instructions", "What judges read first (Markdown); a file for each language."
    )
    consent: tuple[str, ...] = text_files_option(
        "--consent", "What judges agree to; everybody is asked again."
    )

    @property
    def new_budgets(self) -> dict[str, float]:
        """The new budget by its name."""
        bounds = {"hours": self.hours, "money": self.money, "rankings": self.rankings}
        return {name: amount for name, amount in bounds.items() if amount is not None}

    def __post_init__(self) -> None:
        """Refuse two budgets, and no change."""
        if len(self.new_budgets) > 1:
            remedy = "give one of them"
            raise InputError(f"{' and '.join(self.new_budgets)} are two budgets", remedy=remedy)
        if self.names and self.quota is None:
            raise InputError("judges are named, and no quota", remedy="give --quota")
        if not (self.new_budgets or self.quota or self.instructions or self.consent):
            remedy = "give --quota, a budget, --instructions or --consent"
            raise InputError("nothing to change", remedy=remedy)


@command.command("change", epilog="Example:  errata collect change pilot.db --quota 60 ana bo")
@takes(ChangeOptions)
def change_campaign(given: ChangeOptions) -> None:
    """Change settings that are not frozen: texts, quotas and budget, also while it is served.

    A budget is for the whole campaign, including finished tasks. Each change is an event.
    """
    from errata.collect.planning import changed_texts

    with opened_campaign(given.place) as database:
        from errata.collect.web.campaign import change_budget, change_quota, change_texts
        from errata.collect.web.store import AssignmentStore

        named = {"instructions": given.instructions, "consent": given.consent}
        words = changed_texts(AssignmentStore(database).campaign().texts, named)
        with database.at_once() as together:  # all of it, or nothing
            if given.quota is not None:
                change_quota(together, given.quota, given.names)
            budgets: Any = given.new_budgets.items()
            limits = [change_budget(together, *each) for each in budgets]
            if words:
                change_texts(together, words)
        for allowed, available in limits:
            note(f"the budget allows {allowed} judgments")
            if allowed > available:
                note(f"there are items for {available}: more need another campaign")
        print_status(database, given.display)


@dataclass(frozen=True)
class ExportOptions(PlaceOptions):
    wanted: FileForm = choice_option(
        "--form",
        FileForm,
        "What to write: judgments that errata rank reads, everything (details), scores, "
        "edits, texts (a file for each instruction and slot, and one with the writer of each "
        "line), or who finished (people).",
        "jsonl",
    )
    with_blocked: bool = flag("--with-blocked", "With the answers of judges who were blocked.")
    mark: str | None = option(
        "--mark MARK",
        "Texts: the line where nothing was written (default: empty).",
        needs="--form texts",
    )
    output: str | None = option(
        "-o",
        "--output PATH",
        "The file to write; of texts the start of their names, or a folder that ends with /. "
        "Default: standard output.",
        writes="stem",
    )

    def __post_init__(self) -> None:
        """Refuse several files without a name."""
        if self.wanted == "texts" and self.output is None:
            raise InputError("texts are several files", remedy="give --output")


@command.command("export", epilog="Example:  errata collect export pilot.db -o judgments.jsonl")
@takes(ExportOptions)
def export_answers(given: ExportOptions) -> None:
    """Write the answers of judges: last revisions, without controls and tutorials."""
    from errata.io.atomic import write_lines

    output, blocked, written = given.output or "-", given.with_blocked, []
    with opened_campaign(given.place) as database, ProgressBar("answers") as progress:
        from errata.collect.web import exports

        if given.wanted == "texts":
            start = output if output.endswith(("/", os.sep)) else f"{output}."
            written = exports.write_texts(database, start, mark=given.mark or "", blocked=blocked)
            if late := exports.texts_without_room(database, blocked=blocked):
                note(
                    f"{late} {plural('text', late)} came late, when others had taken their place, "
                    "left out here; --form details has all"
                )
        else:
            form: Any = given.wanted
            safe = given.display.safe_cells
            lines = exports.export_lines(database, form, blocked=blocked, safe_cells=safe)
            if given.wanted == "edits-m2":
                _note_omitted_edits(database, blocked)
            counted = track(lines, exports.answers_stored(database), progress)
            many = write_lines(counted, output)
            if output != "-":
                written.append((output, many))
    if written:
        emit_written("lines", written, given.display)


def _note_omitted_edits(database: Database, blocked: bool) -> None:
    """Print which good edits an M2 file lacks: an annotator's edits must not overlap."""
    from errata.collect.web.exports import omitted_edits

    omitted = omitted_edits(database, blocked=blocked)
    if not omitted:
        return
    (start, end, new), (first, last, other) = omitted[0].edit, omitted[0].instead
    note(
        f"{len(omitted)} {plural('edit', len(omitted))} called good overlap others with as many "
        f"votes or more, and are left out: first {start}-{end} {new!r} of sentence "
        f"{omitted[0].sentence + 1}, beside {first}-{last} {other!r}; --form edits has all"
    )
