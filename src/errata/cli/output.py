"""What commands print: tables in the form asked for, and a bar while they work."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar, get_args

import click

from errata.report.table import Form, Table, render

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

__all__ = ["ProgressBar", "emit", "format_option"]

Command = TypeVar("Command", bound=Callable[..., Any])


def format_option(command: Command) -> Command:
    """Add ``--format`` and its short form ``--json``; the command receives ``form``."""
    command = click.option("--json", "form", flag_value="json", help="The same as --format json.")(
        command
    )
    return click.option(
        "--format",
        "form",
        type=click.Choice(get_args(Form)),
        default="table",
        show_default=True,
        help="How to print the result.",
    )(command)


def emit(tables: Table | Sequence[Table], form: Form) -> None:
    """Print tables to standard output."""
    click.echo(render(tables, form, colour=sys.stdout.isatty()))


class ProgressBar:
    """A bar on standard error that shows itself only if the work takes over two seconds.

    Call it with (done, total); it may be called from several threads.
    """

    def __init__(self, label: str, *, after: float = 2.0) -> None:
        self.label, self.after = label, after
        self._bar: RichProgress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> ProgressBar:
        self._start = time.monotonic()
        return self

    def __call__(self, done: int, total: int) -> None:
        if self._bar is None:
            if time.monotonic() - self._start < self.after or not sys.stderr.isatty():
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
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        Speed(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
