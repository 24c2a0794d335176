"""``errata collect``: human judgments, from texts to files that `errata rank` reads."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import click

from errata.cli.campaign_changes import CHANGING_COMMANDS
from errata.cli.campaigns import CAMPAIGN_COMMANDS, campaign_links, links_begin, show_links
from errata.cli.collect_design import DesignGiven, design_options
from errata.cli.collect_inputs import planned_campaign, served_by
from errata.cli.collect_options import (
    SaidAddress,
    address_options,
    needs_web,
    opened_campaign,
    place_argument,
    url_option,
)
from errata.cli.inputs import Inputs, corpus_options
from errata.cli.options import refuse_unless
from errata.cli.output import ProgressBar, emit, format_option, writes_files
from errata.cli.running import note
from errata.cli.words import choice_of
from errata.errors import InputError
from errata.numbers import Progress, plural
from errata.report.table import Table
from errata.report.tables.campaigns import outlook_table
from errata.web.forms import FileForm

if TYPE_CHECKING:
    from errata.report.table import Form
    from errata.web.address import Address
    from errata.web.database import Database
    from errata.web.founding import PlannedCampaign

__all__ = ["command"]

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
    given: DesignGiven,
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
        show_links(tables, campaign_links(database, place, begin), form)
    finally:
        database.close()


def _founded(place: str, planned: PlannedCampaign) -> tuple[Database, list[Table]]:
    """Store a campaign that is new; the tables that say what will happen."""
    from errata.web.founding import design_campaign, store_campaign

    with ProgressBar("items") as progress:
        built, expected = design_campaign(planned, progress=progress)
    database = store_campaign(place, planned, built)
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
def serve_campaign(place: str, address: SaidAddress, workers: int, form: Form) -> None:
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
    given: DesignGiven,
    address: SaidAddress,
    form: Form,
) -> None:
    """Make a campaign if there is none yet, open it, and serve it.

    Where there is one, the inputs and settings must be the same, or be left out: after a crash
    the same line goes on where it stopped. One that was paused or closed stays so.
    """
    needs_web()
    from errata.web.address import check_listening
    from errata.web.clock import wall_ms
    from errata.web.database import holds_campaign
    from errata.web.founding import check_same_campaign
    from errata.web.people import change_state
    from errata.web.store import Store

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
        if Store(database).campaign().state == "draft":
            change_state(database, "open", now=wall_ms())
    _serve(place, where, tables, form)


def _serve(place: str, where: Address, tables: list[Table], form: Form, workers: int = 1) -> None:
    """Serve until broken off; links are printed when the server listens."""
    needs_web()
    from errata.web.address import check_listening
    from errata.web.founding import link_key, links_of
    from errata.web.processes import check_workers
    from errata.web.serving import serve
    from errata.web.store import Store

    check_workers(place, workers)
    with opened_campaign(place) as database:
        key = link_key(place)
        links = links_of(database, key, where.links)
        state = Store(database).campaign().state
    check_listening(where)
    if state != "open":
        note(f"the campaign is {'not open yet' if state == 'draft' else state}: nobody can judge")
    serve(
        place,
        key,
        where,
        workers=workers,
        ready=lambda: show_links(tables, links, form, after="serving; Ctrl-C ends it"),
    )


@command.command("try", epilog="Example:  errata collect try")
@address_options
@format_option
def try_campaign(address: SaidAddress, form: Form) -> None:
    """Serve a campaign on the built-in sample, in a temporary folder that goes at the end."""
    import tempfile
    from pathlib import Path

    from errata.web.clock import wall_ms
    from errata.web.people import change_state

    given = DesignGiven(settings={"judges": 2})
    with tempfile.TemporaryDirectory(prefix="errata-collect-") as folder:
        place = str(Path(folder, "sample.db"))
        database, tables = _founded(place, planned_campaign(place, (), Inputs(sample=True), given))
        change_state(database, "open", now=wall_ms())
        database.close()
        _serve(place, address(), tables, form)


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
    from errata.io.writing import write_streamed

    refuse_unless(wanted == "texts", "mark", "--form texts")
    written: list[tuple[str, int]] = []
    with opened_campaign(place) as database, ProgressBar("answers") as progress:
        from errata.io.writers import WRITERS, render_writers
        from errata.web.exports import (
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
                written.append((path, write_streamed(lines(), path)))
            wrote = writer_lines(database, begin=os.path.basename(begin), blocked=with_blocked)
            path = begin + WRITERS
            written.append((path, write_streamed(render_writers(wrote), path)))
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
            many = write_streamed(_told(found, answers_stored(database), progress), path)
            if path != "-":
                written.append((path, many))
    if written:
        emit(Table(("file", "lines"), tuple(written), title="Written", name="written"), form)


def _tell_left_out(database: Database, blocked: bool) -> None:
    """Say which good edits an M2 does not hold: an annotator's edits must not overlap."""
    from errata.web.export_edits import edits_left_out

    found = edits_left_out(database, blocked=blocked)
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
