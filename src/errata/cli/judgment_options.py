"""Judgment files, selection of judges and systems."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from errata.cli.input_options import read_skip_option, sample_option, skip_option
from errata.cli.main import note
from errata.cli.options import refuse_beside_sample, refuse_unless
from errata.cli.params import Decorator, Function, add_help, choice_of, option_group
from errata.core.errors import InputError
from errata.core.stats import plural
from errata.human import DEFAULT_RANKER
from errata.meta.system_level import Over

if TYPE_CHECKING:
    from errata.data import Corpus, Hypotheses, Judgment, Members, Scores
    from errata.io.judgments.checks import Labels
    from errata.io.slices import SkippedSentences


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
    skipped: SkippedSentences | None = None

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
            from errata.human.comparisons import drop_systems

            found = drop_systems(found, self.without)
        return found if self.skipped is None else self._on_other_sentences(found, self.skipped)

    def _on_other_sentences(
        self, judgments: Iterator[Judgment], skipped: SkippedSentences
    ) -> Iterator[Judgment]:
        """The judgments on sentences that are not left out; of the others a note is made."""
        from errata.io.slices import skip_judgments

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
        from errata.io.columns import parse_columns
        from errata.io.judgments import read_judgment_files, read_outputs

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
    from errata.io.judgments.checks import Labels

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
    return option_group("judged", _judgment_inputs, options)


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
    return click.argument("judgments", nargs=-1, metavar="FILE...")(add_help(said)(command))


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


class SystemSelection(NamedTuple):
    """Which systems are judged."""

    without: tuple[str, ...]
    hide: tuple[str, ...]
    common: bool


choice_options = option_group(
    "selected",
    SystemSelection,
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


# ---- What was given to a command that takes metrics and people, before anything is computed.


class MetaInputs(NamedTuple):
    """What was read, before anything is computed."""

    judgments: list[Judgment] | None
    human: Scores | None
    scores: list[Scores]
    scored: tuple[Corpus, list[Hypotheses]] | None

    def skip(self, skipped: SkippedSentences | None) -> MetaInputs:
        """The same without some sentences, on every side that has sentences."""
        if skipped is None:
            return self
        from errata.io.scores import drop_sentences
        from errata.io.slices import skip_judgments

        places = skipped.positions(len(self.scored[0])) if self.scored is not None else ()
        scores = [drop_sentences(each, skipped) for each in self.scores]
        human = None if self.human is None else drop_sentences(self.human, skipped)
        judgments = None
        if self.judgments is not None:
            judgments = list(skip_judgments(self.judgments, skipped))
            note_skipped_judgments(self.judgments, judgments)
        same = scores == self.scores and judgments == self.judgments and human is self.human
        if same and not places:
            raise InputError(
                "--skip-sentences goes with outputs, judgments or sentence scores of these",
                remedy="leave it out otherwise",
            )
        return MetaInputs(
            judgments,
            human,
            scores,
            None
            if self.scored is None
            else (
                self.scored[0].without_sentences(*places),
                [system.without_sentences(*places) for system in self.scored[1]],
            ),
        )

    @property
    def rated(self) -> Scores | None:
        """People's scores where they are ratings of single sentences too."""
        return self.human if self.human is not None and self.human.sentences is not None else None

    def without(self, systems: Sequence[str]) -> MetaInputs:
        """The same with these systems gone from every side that has them."""
        if not systems:
            return self
        from errata.human.comparisons import check_named, drop_systems

        tables = [*self.scores, *([] if self.human is None else [self.human])]
        outputs = self.scored[1] if self.scored is not None else []
        judged = {name for j in self.judgments or () for group in j.groups for name in group}
        known = judged.union(*(s.systems for s in tables), (h.system for h in outputs))
        check_named(systems, known)

        def fewer(scores: Scores) -> Scores:
            return scores.without(*(name for name in systems if name in scores.systems))

        return MetaInputs(
            None
            if self.judgments is None
            else list(drop_systems(self.judgments, [n for n in systems if n in judged])),
            None if self.human is None else fewer(self.human),
            [fewer(scores) for scores in self.scores],
            None
            if self.scored is None
            else (self.scored[0], [h for h in outputs if h.system not in systems]),
        )


# ---- Judgments and rankers, for the commands that judge metrics by them.


class JudgmentSource(NamedTuple):
    """Where people's word stands, and how it becomes scores of systems."""

    judgments: tuple[str, ...]
    ranker: str
    members: Members


people_options = option_group(
    "people",
    JudgmentSource,
    {
        "judgments": click.option(
            "--judgments",
            multiple=True,
            metavar="FILE",
            help="Human rankings in any form that errata rank reads; may be repeated.",
        ),
        "ranker": ranker_option("How judgments become scores (see errata rank)."),
        "members": members_option,
    },
)
over_option = click.option(
    "--over",
    type=choice_of(Over),
    default="systems",
    show_default=True,
    help="What system-level intervals resample.",
)


def judgments_of(
    people: JudgmentSource, sample: bool, judged: JudgmentInputs, outputs: Sequence[Hypotheses]
) -> list[Judgment] | None:
    """The judgments that were given, or those of the sample; checked against the outputs."""
    if not people.judgments and not sample:
        return None
    return list(replace(judged, sample=not people.judgments).read(people.judgments, outputs))
