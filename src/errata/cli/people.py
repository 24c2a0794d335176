"""Options of the commands that read what people said: which judgments count, and how."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from errata.cli.inputs import read_skip_option, sample_option, skip_option
from errata.cli.options import (
    Decorator,
    Function,
    choice_of,
    gathered,
    refuse_beside_sample,
    refuse_unless,
)
from errata.cli.running import note
from errata.cli.words import also_says
from errata.errors import InputError
from errata.human import DEFAULT_RANKER
from errata.numbers import plural

if TYPE_CHECKING:
    from errata.data import Hypotheses, Judgment
    from errata.io.judgments.labels import Labels
    from errata.io.skipping import Skipped

__all__ = [
    "Chosen",
    "JudgmentInputs",
    "base_option",
    "choice_options",
    "hide_option",
    "judgment_options",
    "judgments_argument",
    "members_option",
    "note_skipped_judgments",
    "ranker_option",
    "unit_option",
    "without_option",
]


@dataclass(frozen=True)
class JudgmentInputs:
    """How rankings are read; the files themselves are arguments of the command."""

    sample: bool = False
    base: int = 0
    leave_out: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    labels: Labels = "check"
    statuses: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    skipped: Skipped | None = None

    @property
    def facts(self) -> tuple[str, ...]:
        """What of it decides numbers, for the signature: whatever is not as usual."""
        return (
            *((f"base:{self.base}",) if self.base else ()),
            *(f"leave_out:{judge}" for judge in self.leave_out),
            *((f"labels:{self.labels}",) if self.labels != "check" else ()),
            *(f"status:{status}" for status in self.statuses),
            *(f"columns:{columns}" for columns in self.columns),
            *(f"without:{system}" for system in self.without),
            *((self.skipped.fact,) if self.skipped is not None else ()),
        )

    def check_used(self, files: bool, goes_with: str = "files of judgments") -> None:
        """Refuse options on the reading of files where no file of judgments is read."""
        refuse_unless(files, "base outputs labels statuses columns", goes_with)

    def read(
        self, files: tuple[str, ...], systems: Sequence[Hypotheses] = ()
    ) -> Iterator[Judgment]:
        """The judgments of all files, one after the other, without the systems to be removed.

        They are checked against the outputs named and against ``systems``, which are read already.
        """
        found = self._read(files, systems)
        if self.without:
            from errata.human.selection import without_systems

            found = without_systems(found, self.without)
        return found if self.skipped is None else self._on_other_sentences(found, self.skipped)

    def _on_other_sentences(
        self, judgments: Iterator[Judgment], skipped: Skipped
    ) -> Iterator[Judgment]:
        """The judgments on sentences that are not left out; of the others a note is made."""
        from errata.io.skipping import skip_judgments

        read = list(judgments)
        left = list(skip_judgments(read, skipped))
        if len(left) == len(read):
            raise InputError(
                "no judgment is on a sentence to be left out",
                path=skipped.path,
                remedy="sentences are counted from 1; leave out --skip-sentences otherwise",
            )
        note_skipped_judgments(read, left)
        return iter(left)

    def _read(self, files: tuple[str, ...], systems: Sequence[Hypotheses]) -> Iterator[Judgment]:
        if self.sample:
            refuse_beside_sample(files)
            from errata.datasets import sample_judgments
            from errata.io.judgments import without_judges

            return without_judges(iter(sample_judgments()), self.leave_out, "--sample")
        from errata.io.judgments import read_judgment_files, read_outputs
        from errata.io.judgments.sheet_columns import parse_columns

        if not files:
            raise InputError("no judgments given", remedy="name a file, or use --sample")
        texts = dict(read_outputs(*self.outputs)) if self.outputs else {}
        for system in systems:
            if tuple(texts.setdefault(system.system, system.sentences)) != system.sentences:
                raise InputError(
                    f"the output of {system.system} in --outputs is not the one scored",
                    remedy="leave out --outputs: judgments are checked against what is scored",
                )
        return read_judgment_files(
            files,
            leave_out=self.leave_out,
            base=self.base,
            statuses=self.statuses or None,
            labels=self.labels,
            outputs=texts or None,
            columns=parse_columns(self.columns),
        )


base_option = click.option(
    "--base",
    type=click.IntRange(0, 1),
    default=0,
    show_default=True,
    help="The number of the first sentence in the files.",
)


def judgment_options(*leave_out: str) -> Decorator:
    """Add the options that say how rankings are read; the command receives ``judged``.

    ``leave_out`` names fields of `JudgmentInputs` that the command has no option for.
    """
    from errata.io.judgments.labels import Labels

    options = {
        "sample": sample_option,
        "base": base_option,
        "leave_out": click.option(
            "--leave-out",
            "leave_out",
            multiple=True,
            metavar="JUDGE",
            help="Leave out this judge; may be repeated.",
        ),
        "outputs": click.option(
            "--outputs",
            multiple=True,
            metavar="FOLDER|[NAME=]FILE",
            help="The systems' outputs; the labels are checked against them.",
        ),
        "labels": click.option(
            "--labels",
            type=choice_of(Labels),
            default="check",
            show_default=True,
            help="Check the systems named, name them by the text "
            "shown (MTurk files), or take them as given.",
        ),
        "statuses": click.option(
            "--status",
            "statuses",
            multiple=True,
            metavar="STATUS",
            help="MTurk assignments that count; default: Approved.",
        ),
        "columns": click.option(
            "--columns",
            multiple=True,
            metavar="ROLE=TITLE,...",
            help="Columns of a table of judgments: judge, sentence, system, rank, score, better, "
            "worse, item or seconds, as in judge=Annotator,sentence=ID.",
        ),
        "without": without_option,
        "skipped": skip_option,
    }
    for field in leave_out:
        del options[field]
    return gathered("judged", _judgment_inputs, options)


def _judgment_inputs(skipped: str | None = None, **given: Any) -> JudgmentInputs:
    return JudgmentInputs(**given, skipped=read_skip_option(skipped))


def note_skipped_judgments(read: Sequence[Judgment], left: Sequence[Judgment]) -> None:
    """Say on standard error how many judgments ``--skip-sentences`` left out, but not all."""
    count = len(read) - len(left)
    if count and not left:
        raise InputError(
            f"all {count} judgments are on sentences to be left out", remedy="leave some of them in"
        )
    word = "is on a sentence" if count == 1 else "are on sentences"
    note(f"{count} {plural('judgment', count)} {word} to be skipped, and left out")


def judgments_argument(command: Function) -> Function:
    """Take files of judgments, and say in the help of the command which forms they may have."""
    from errata.io.judgments import FORMS

    said = (
        f"Judgments are {FORMS}, with commas, semicolons or tabs, or .xlsx; the form is told from "
        "the content."
    )
    return click.argument("judgments", nargs=-1, metavar="FILE...")(also_says(said)(command))


UNIT = "sentences"
without_option = click.option(
    "--without",
    multiple=True,
    metavar="SYSTEM",
    help="Remove this system and all its comparisons before anything is ranked; may be repeated.",
)
hide_option = click.option(
    "--hide",
    multiple=True,
    metavar="SYSTEM",
    help="Rank this system with the others, and leave it out of what is shown and compared; "
    "may be repeated.",
)


class Chosen(NamedTuple):
    """Which systems are judged."""

    without: tuple[str, ...]
    hide: tuple[str, ...]
    common: bool


choice_options = gathered(
    "selected",
    Chosen,
    {
        "without": without_option,
        "hide": hide_option,
        "common": click.option(
            "--common",
            is_flag=True,
            help="Judge the systems that people and all metrics know. (One that people alone know "
            "is left out in any case.)",
        ),
    },
)


def ranker_option(help: str, default: str = DEFAULT_RANKER) -> Decorator:
    """Add ``--ranker``: what makes scores of judgments, with its parameters."""
    return click.option("--ranker", default=default, show_default=True, metavar="RANKER", help=help)


def unit_option(help: str) -> Decorator:
    """Add ``--unit``: what is drawn when human judgments are resampled."""
    from errata.human.comparisons import Unit

    return click.option("--unit", type=choice_of(Unit), default=UNIT, show_default=True, help=help)


def members_option(command: Function) -> Function:
    """Add ``--members``: who speaks of systems that share an output."""
    from errata.data import Members

    return click.option(
        "--members",
        type=choice_of(Members),
        default="all",
        show_default=True,
        help="Which systems of a shared output are compared: all of them, one drawn at random, "
        "or the mean over that draw.",
    )(command)
