"""What commands print: tables in the form asked for, and a bar while they work."""

from __future__ import annotations

import codecs
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import wraps
from types import TracebackType
from typing import TYPE_CHECKING, Any, cast

import click
from click.core import ParameterSource

from errata.cli.main import verbosity
from errata.cli.params import Command, choice_of, option_group
from errata.core.errors import InputError, escape_controls, shorten
from errata.tables.table import Form, SignatureForm, Table, escaped_json, render
from errata.tables.terminal import dim

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

    from errata.io.checks import Finding


# What stands in tables and not in old code pages, with something as wide that does.
PLAIN = {"─": "-", "┄": "-", "–": "-", "−": "-", "—": "-", "…": "~", "→": ">", "↑": "+", "↓": "-"}


def format_option(command: Command) -> Command:
    """Add ``--format`` and its short form ``--json``; the command receives ``form``."""
    command = click.option(
        "--safe-cells",
        is_flag=True,
        expose_value=False,
        callback=_remember,
        help="TSV: put ' before texts that a spreadsheet would take for formulas.",
    )(command)
    command = click.option(
        "--signature",
        type=choice_of(SignatureForm),
        default="short",
        show_default=True,
        envvar="ERRATA_SIGNATURE",
        expose_value=False,
        callback=_remember,
        help="What people read under a table: a name to paste, or all that made the numbers.",
    )(command)
    command = click.option(
        "--digits",
        type=click.IntRange(0, 15),
        expose_value=False,
        callback=_remember,
        help="Decimals that people are shown; JSON and TSV have all.",
    )(command)
    options = {
        "form": click.option(
            "--format",
            "form",
            type=choice_of(Form),
            default="table",
            show_default=True,
            help="How to print the result.",
        ),
        "json": click.option("--json", is_flag=True, help="The same as --format json."),
    }
    return cast(Command, option_group("form", _one_form, options)(command))


def _one_form(form: Form, json: bool) -> Form:
    """The form asked for, which may be said in two ways but not be two."""
    if not json:
        return form
    given = click.get_current_context().get_parameter_source("form")
    if form != "json" and given is ParameterSource.COMMANDLINE:
        raise InputError(f"--json and --format {form} are given", remedy="leave out either of them")
    return "json"


def _remember(ctx: click.Context, parameter: click.Parameter, value: Any) -> Any:
    """Keep for `emit` what only decides how results are printed."""
    ctx.meta[f"errata.{parameter.name}"] = value
    return value


def writes_files(
    *fields: str, stem: bool = False, around: Collection[str] = ()
) -> Callable[[Command], Command]:
    """Add ``--force``, and let what the command writes appear together or not at all.

    ``fields`` are its parameters that name files to write. A name that must not be overwritten
    (an input, or without --force any file that exists) is refused before the work; a
    ``stem`` of several names is left to the command. Of folders that stand ``around`` inputs and
    results not every file is an input. Stands above the other options, so that it
    sees their values as they were given.
    """

    def decorate(command: Command) -> Command:
        @wraps(command)
        def run(*arguments: Any, force: bool, **given: Any) -> Any:
            from errata.io.atomic import check_writable, file_set

            inputs = frozenset(
                file
                for field, value in given.items()
                if field not in (*fields, *around)
                for file in _named_files(value)
            )
            targets = [] if stem else [n for field in fields for n in _targets(given[field])]
            with file_set(force=force, inputs=inputs):
                check_writable(*targets)
                return command(*arguments, **given)

        option = click.option("--force", is_flag=True, help="Overwrite files that exist.")
        return cast(Command, option(run))

    return decorate


def _targets(value: Any) -> list[str]:
    """The files an option names: none, one, or several, perhaps each with what is drawn."""
    if isinstance(value, str):
        return [value]
    return [one if isinstance(one, str) else one[-1] for one in value or ()]


def _texts(value: Any) -> Iterator[str]:
    """The texts an option was given: none, one, or several."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple | list):
        for one in value:
            yield from _texts(one)


def _named_files(value: Any) -> Iterator[tuple[int, int]]:
    """The files that the texts of an option may stand for: FILE, NAME=FILE, or a folder."""
    from errata.io.files import file_id

    for text in _texts(value):
        for name in {text, text.partition("=")[2]} - {""}:
            with suppress(OSError, ValueError):
                inside = os.scandir(name) if os.path.isdir(name) else ()
                for path in (name, *inside):
                    yield file_id(os.stat(path))


def emit(tables: Table | Sequence[Table], form: Form, *, after: str = "") -> None:
    """Print tables to standard output, after writing the files they may speak of.

    ``after`` is what a user may do next, said below tables in a terminal.
    """
    from errata.io.atomic import write_pending

    write_pending()
    colour = sys.stdout.isatty()
    text = render(
        tables,
        form,
        colour=colour,
        safe_cells=_remembered("safe_cells", False),
        signature=_remembered("signature", "short"),
        digits=shown_digits(),
        width=_columns(),
    )
    if after and form == "table" and verbosity.get() >= 0:
        text += "\n" + dim(after, colour)
    click.echo(_encodable(text, form, sys.stdout.encoding or "utf-8"))


def echo_findings(findings: Iterable[Finding]) -> None:
    """Print findings one below the other, for which no terminal is too narrow."""
    for finding in findings:
        click.echo(
            f"{finding.severity}  {escape_controls(finding.place)}  [{finding.code}]\n"
            f"    {escape_controls(shorten(finding.problem))}\n"
            f"    → {escape_controls(shorten(finding.remedy))}"
        )


def emit_texts(shown: Sequence[tuple[Table, Sequence[str]]]) -> None:
    """Print texts between title and signature of their table, or the table that has none.

    For what is easier to read than its table, in a terminal.
    """
    colour = sys.stdout.isatty()
    signature: SignatureForm = _remembered("signature", "short")
    parts = []
    for table, texts in shown:
        if texts:
            title = escape_controls(table.title)
            parts += [f"\x1b[1m{title}\x1b[0m" if colour else title, *texts]
            parts += [dim(line, colour) for line in table.signature_lines(signature)]
        else:
            parts.append(
                render(table, "table", colour=colour, signature=signature, width=_columns())
            )
    click.echo(_encodable("\n\n".join(parts), "table", sys.stdout.encoding or "utf-8"))


def shown_digits() -> int | None:
    """How many decimals people are shown, where the user said so (``--digits``)."""
    digits: int | None = _remembered("digits", None)
    return digits


def _remembered(name: str, default: Any) -> Any:
    """How results are to be printed, as the user said (`_remember`)."""
    ctx = click.get_current_context(silent=True)
    return default if ctx is None else ctx.meta.get(f"errata.{name}", default)


def _columns() -> int:
    """The places of a line: those of the terminal, what COLUMNS says, or 80."""
    return max(40, shutil.get_terminal_size((80, 24)).columns)


def _encodable(text: str, form: Form, encoding: str) -> str:
    """A rendered table in the characters of a legacy code page; in UTF-8 it stays as it is.

    What has no plain counterpart is written out by the stream, in JSON as JSON writes it.
    """
    if codecs.lookup(encoding).name.startswith("utf"):
        return text
    if form == "json":
        return escaped_json(text, re.compile("[^\x00-\x7f]"))
    for character, plain in PLAIN.items():
        try:
            character.encode(encoding)
        except UnicodeEncodeError:
            text = text.replace(character, plain)
    return text


class ProgressBar:
    """A bar on standard error that shows itself only if the work takes over two seconds.

    Call it with (done, total), or without a total where nobody knows it; it may be called from
    several threads.
    """

    def __init__(self, label: str, *, after: float = 2.0) -> None:
        self.label, self.after = escape_controls(label), after
        self._bar: RichProgress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> ProgressBar:
        self._start = time.monotonic()
        return self

    def __call__(self, done: int, total: int | None = None) -> None:
        if self._bar is None:
            late = time.monotonic() - self._start >= self.after
            if not late or verbosity.get() < 0 or sys.stderr is None or not sys.stderr.isatty():
                return
            self._bar = _rich_bar()
            self._task = self._bar.add_task(self.label, total=total)
            self._bar.start()
        assert self._task is not None
        self._bar.update(self._task, completed=done, total=total)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()


def _rich_bar() -> RichProgress:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        Task,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class Speed(ProgressColumn):
        """Sentences per second, once there is a speed."""

        def render(self, task: Task) -> Text:
            return Text(f"{task.speed:.1f}/s" if task.speed else "", style="progress.data.speed")

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        Speed(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
