"""Print tables in the form asked for, and a progress bar."""

from __future__ import annotations

import codecs
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

import click

from errata.cli.main import verbosity
from errata.cli.params import choice_option, count_option, flag, group
from errata.core.errors import escape_controls, shorten
from errata.tables.table import Form, SignatureForm, Table, escaped_json, render
from errata.tables.terminal import dim_text

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

    from errata.core.stats import Progress
    from errata.io.checks import Finding
    from errata.metrics import Metric

M = TypeVar("M", bound="Metric")
T = TypeVar("T")
# Characters of tables that old code pages lack, and replacements of the same width.
PLAIN = {"─": "-", "┄": "-", "–": "-", "−": "-", "—": "-", "…": "~", "→": ">", "↑": "+", "↓": "-"}


@dataclass(frozen=True)
class Display:
    """How results are printed."""

    chosen_form: Form = choice_option("--format", Form, "How to print the result.", "table")
    json: bool = flag(
        "--json", "The same as --format json.", excludes="--format table|tsv|latex|markdown|html"
    )
    digits: int | None = count_option(
        "--digits", "Decimals in tables for people; JSON and TSV have all.", least=0, most=15
    )
    signature: SignatureForm = choice_option(
        "--signature",
        SignatureForm,
        "Print short or full signatures under tables.",
        "short",
        envvar="ERRATA_SIGNATURE",
    )
    safe_cells: bool = flag(
        "--safe-cells", "TSV: put ' before texts that a spreadsheet would take for formulas."
    )

    @property
    def form(self) -> Form:
        return "json" if self.json else self.chosen_form


@dataclass(frozen=True)
class CommandOptions:
    """Options that every command has; they are listed last."""

    display: Display = group(Display)


def emit(tables: Table | Sequence[Table], display: Display, *, after: str = "") -> None:
    """Write pending files, then print tables; ``after``, the next step, only in a terminal."""
    from errata.io.atomic import place_pending_files

    place_pending_files()
    colour = sys.stdout.isatty()
    text = render(
        tables,
        display.form,
        colour=colour,
        safe_cells=display.safe_cells,
        signature=display.signature,
        digits=display.digits,
        width=_terminal_width(),
    )
    if after and display.form == "table" and verbosity.get() >= 0:
        text += "\n" + dim_text(after, colour)
    click.echo(_replace_unencodable(text, display.form, sys.stdout.encoding or "utf-8"))


def emit_written(
    unit: str, rows: Iterable[tuple[Any, ...]], display: Display, signature: str = ""
) -> None:
    """Print which files were written, with the number of their ``unit`` and what follows it."""
    columns = ("file", *unit.split())
    table = Table(columns, tuple(rows), title="Written", name="written", signature=signature)
    emit(table, display)


def echo_findings(findings: Iterable[Finding]) -> None:
    """Print findings one below the other, so that they fit any terminal."""
    for finding in findings:
        click.echo(
            f"{finding.severity}  {escape_controls(finding.place)}  [{finding.code}]\n"
            f"    {escape_controls(shorten(finding.problem))}\n"
            f"    → {escape_controls(shorten(finding.remedy))}"
        )


def emit_texts(views: Sequence[tuple[Table, Sequence[str]]], display: Display) -> None:
    """Print the texts of views with title and signature, or tables that have no texts."""
    colour = sys.stdout.isatty()
    parts = []
    for table, texts in views:
        if texts:
            title = escape_controls(table.title)
            parts += [f"\x1b[1m{title}\x1b[0m" if colour else title, *texts]
            parts += [dim_text(line, colour) for line in table.signature_lines(display.signature)]
        else:
            parts.append(
                render(
                    table,
                    "table",
                    colour=colour,
                    signature=display.signature,
                    width=_terminal_width(),
                )
            )
    click.echo(_replace_unencodable("\n\n".join(parts), "table", sys.stdout.encoding or "utf-8"))


def _terminal_width() -> int:
    """Return the places of a line: of the terminal, what COLUMNS says, or 80."""
    return max(40, shutil.get_terminal_size((80, 24)).columns)


def _replace_unencodable(text: str, form: Form, encoding: str) -> str:
    """Return a rendered table in the characters of a code page; the stream escapes the rest."""
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
    """A bar on standard error for work of over two seconds; call it with (done, total), or done."""

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


def track(items: Iterable[T], total: int, progress: Progress) -> Iterator[T]:
    """Yield the items, and report how many there were."""
    for many, item in enumerate(items, 1):
        yield item
        progress(min(many, total), total)


def map_with_progress(metrics: Iterable[M], make: Callable[..., T]) -> list[T]:
    """Return ``make(metric, progress=...)`` of each metric, with a bar for each that takes long."""
    results = []
    for metric in metrics:
        with ProgressBar(metric.name) as progress:
            results.append(make(metric, progress=progress))
    return results


def _rich_bar() -> RichProgress:
    from rich import progress
    from rich.console import Console
    from rich.text import Text

    class Speed(progress.ProgressColumn):
        """Sentences per second, once there is a speed."""

        def render(self, task: progress.Task) -> Text:
            return Text(f"{task.speed:.1f}/s" if task.speed else "", style="progress.data.speed")

    shown = progress.TextColumn("{task.description}", markup=False), progress.BarColumn()
    times = progress.MofNCompleteColumn(), Speed(), progress.TimeRemainingColumn()
    return progress.Progress(*shown, *times, console=Console(stderr=True), transient=True)
