"""Options for judgments, the same for every command that reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

import click

from errata.errors import InputError

if TYPE_CHECKING:
    from errata.data import Judgment

__all__ = ["judgment_options", "load_judgments"]

Command = TypeVar("Command", bound=Callable[..., Any])


def judgment_options(command: Command) -> Command:
    """Add the options `load_judgments` reads; the command receives them as keywords."""
    options = (
        click.option("--sample", is_flag=True, help="Use the built-in sample instead of files."),
        click.option(
            "--base",
            type=click.IntRange(0, 1),
            default=0,
            show_default=True,
            help="The number of the first sentence in the files.",
        ),
        click.option(
            "--leave-out",
            "leave_out",
            multiple=True,
            metavar="JUDGE",
            help="Leave out this judge; may be repeated.",
        ),
        click.option(
            "--outputs",
            multiple=True,
            metavar="FOLDER|[NAME=]FILE",
            help="The systems' outputs; the labels are checked against them.",
        ),
        click.option(
            "--labels",
            type=click.Choice(("check", "text", "given")),
            default="check",
            show_default=True,
            help="Check the systems named, name them by the text "
            "shown (MTurk files), or take them as given.",
        ),
        click.option(
            "--status",
            "statuses",
            multiple=True,
            metavar="STATUS",
            help="MTurk assignments that count; default: Approved.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def load_judgments(
    files: tuple[str, ...],
    *,
    sample: bool,
    base: int,
    leave_out: tuple[str, ...],
    outputs: tuple[str, ...],
    labels: str,
    statuses: tuple[str, ...],
) -> Iterator[Judgment]:
    """The judgments of all files, one after the other."""
    if sample:
        if files:
            raise InputError("--sample takes no files", remedy="leave out either of them")
        from errata.datasets import sample_judgments
        from errata.io.judgments import without_judges

        return without_judges(iter(sample_judgments()), leave_out, "--sample")
    from errata.io.judgments import read_judgments, read_outputs

    if not files:
        raise InputError("no judgments given", remedy="name a file, or use --sample")
    texts = read_outputs(*outputs) if outputs else None
    return chain.from_iterable(
        read_judgments(
            file,
            base=base,
            leave_out=leave_out,
            statuses=statuses or None,
            labels=labels,
            outputs=texts,
        )
        for file in files
    )
