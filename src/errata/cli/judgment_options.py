"""Judgments, how they become scores of systems, which are compared, and files of scores."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from errata.cli.input_options import Inputs, refuse_beside_sample, sample_option, skip_option
from errata.cli.params import argument, choice_option, count_option, flag, group, option
from errata.core.errors import InputError
from errata.data import Members
from errata.human import DEFAULT_RANKER
from errata.human.comparisons import Unit
from errata.io.judgments import FORMS
from errata.io.judgments.checks import Labels
from errata.meta.system_level import Over

if TYPE_CHECKING:
    from errata.data import Corpus, Hypotheses, Judgment, Scores
    from errata.io.slices import SkippedSentences
    from errata.meta.inputs import MetaInputs


def judgments_argument() -> Any:
    return argument(metavar="FILE...", role="judgments", several=True)


# Explains the files of `judgments_argument`.
JUDGMENT_FORMS = (
    f"Judgments are {FORMS}, with commas, semicolons or tabs, or .xlsx; the form is recognised by "
    "the content."
)


def first_sentence_option(needs: str = "") -> Any:
    return count_option(
        "--base",
        "The number of the first sentence in the files.",
        0,
        least=0,
        most=1,
        needs=needs or (),
    )


def without_system_option() -> Any:
    return option(
        "--without SYSTEM",
        "Remove this system and all its comparisons before anything is ranked; may be repeated.",
        multiple=True,
    )


def hide_system_option(**more: Any) -> Any:
    return option(
        "--hide SYSTEM",
        "Rank this system with the others, but do not show or compare it; may be repeated.",
        multiple=True,
        **more,
    )


def ranker_option(help: str, default: str = DEFAULT_RANKER, **more: Any) -> Any:
    """Declare ``--ranker``: how judgments become scores."""
    return option("--ranker RANKER", help, default=default, **more)


def resampled_unit_option(help: str, **more: Any) -> Any:
    """Declare ``--unit``: the units of a bootstrap of human judgments."""
    return choice_option("--unit", Unit, help, "sentences", **more)


def group_members_option(**more: Any) -> Any:
    return choice_option(
        "--members",
        Members,
        "Which systems of a shared output are compared: all of them, one drawn at random, or the "
        "mean over that draw.",
        "all",
        **more,
    )


def resample_over_option(**more: Any) -> Any:
    return choice_option("--over", Over, "What system-level intervals resample.", "systems", **more)


@dataclass(frozen=True)
class JudgmentInputs:
    """How files of rankings are read."""

    sample: bool = sample_option()
    base: int = first_sentence_option(needs="judgments")
    leave_out: tuple[str, ...] = option(
        "--leave-out JUDGE", "Leave out this judge; may be repeated.", multiple=True
    )
    outputs: tuple[str, ...] = option(
        "--outputs FOLDER|[NAME=]FILE",
        "The systems' outputs; the labels are checked against them.",
        multiple=True,
        needs="judgments",
    )
    labels: Labels = choice_option(
        "--labels",
        Labels,
        "Check the systems named, name them by the text shown (MTurk files), or take them as "
        "given.",
        "check",
        needs="judgments",
    )
    statuses: tuple[str, ...] = option(
        "--status STATUS",
        "MTurk assignments that count; default: Approved.",
        multiple=True,
        needs="judgments",
    )
    columns: tuple[str, ...] = option(
        "--columns ROLE=TITLE,...",
        "Columns of a table of judgments: judge, sentence, system, rank, score, better, "
        "worse, item or seconds, as in judge=Annotator,sentence=ID.",
        multiple=True,
        needs="judgments",
    )
    without: tuple[str, ...] = without_system_option()
    skipped: SkippedSentences | None = skip_option()

    @property
    def signature_facts(self) -> tuple[str, ...]:
        """The settings that decide numbers and differ from the default, for the signature."""
        return (
            *((f"base:{self.base}",) if self.base else ()),
            *(f"leave_out:{judge}" for judge in self.leave_out),
            *((f"labels:{self.labels}",) if self.labels != "check" else ()),
            *(f"status:{status}" for status in self.statuses),
            *(f"columns:{columns}" for columns in self.columns),
            *(f"without:{system}" for system in self.without),
            *((self.skipped.signature_fact,) if self.skipped is not None else ()),
        )

    def read_judgments(
        self, files: tuple[str, ...], systems: Sequence[Hypotheses] = ()
    ) -> Iterator[Judgment]:
        """Read judgments without what is left out; check them against outputs, also ``systems``."""
        judgments = self._read_files(files, systems)
        if self.without:
            from errata.human.comparisons import drop_systems

            judgments = drop_systems(judgments, self.without)
        if self.skipped is None:
            return judgments
        from errata.meta.inputs import skipped_judgments

        every = list(judgments)
        remaining = skipped_judgments(every, self.skipped)
        if len(remaining) == len(every):
            problem = "no judgment is on a sentence to be left out"
            remedy = "sentences are counted from 1; leave out --skip-sentences otherwise"
            raise InputError(problem, path=self.skipped.path, remedy=remedy)
        return iter(remaining)

    def _read_files(
        self, files: tuple[str, ...], systems: Sequence[Hypotheses]
    ) -> Iterator[Judgment]:
        from errata.io.judgments import read_judgment_files, read_outputs_by_system, without_judges

        if self.sample:
            from errata.datasets import sample_judgments

            refuse_beside_sample(files)
            return without_judges(iter(sample_judgments()), self.leave_out, "--sample")
        from errata.io.columns import parse_columns

        if not files:
            raise InputError("no judgments given", remedy="name a file, or use --sample")
        texts = dict(read_outputs_by_system(*self.outputs)) if self.outputs else {}
        for system in systems:
            if tuple(texts.setdefault(system.system, system.sentences)) != system.sentences:
                problem = f"the output of {system.system} in --outputs differs from the one scored"
                remedy = "leave out --outputs: judgments are checked against the outputs scored"
                raise InputError(problem, remedy=remedy)
        return read_judgment_files(
            files,
            leave_out=self.leave_out,
            base=self.base,
            statuses=self.statuses or None,
            labels=self.labels,
            outputs=texts or None,
            columns=parse_columns(self.columns),
        )


JUDGED = "--judgments or --sample"
PEOPLE = "--judgments or --human or --sample"


@dataclass(frozen=True)
class PeopleOptions:
    """Judgments, how they become scores of systems, and which systems are compared."""

    judgments: tuple[str, ...] = option(
        "--judgments FILE",
        "Human rankings in any form that errata rank reads; may be repeated.",
        multiple=True,
        role="judgments",
    )
    ranker: str = ranker_option("How judgments become scores (see errata rank).", needs=JUDGED)
    members: Members = group_members_option(needs=JUDGED)
    unit: Unit = resampled_unit_option(
        "The units that a bootstrap of judgments draws.", needs=JUDGED
    )
    without: tuple[str, ...] = without_system_option()
    hide: tuple[str, ...] = hide_system_option(needs="outputs or --scores or --sample")
    common: bool = flag(
        "--common",
        "Compare only systems that people and all metrics scored. (A system that only people "
        "scored is always left out.)",
        needs="outputs or --scores or --sample",
    )
    files: JudgmentInputs = group(
        JudgmentInputs,
        "sample",
        "without",
        "skipped",
        needs={
            **dict.fromkeys(("base", "outputs", "labels", "statuses", "columns"), "--judgments"),
            "leave_out": JUDGED,
        },
    )

    def settings(self, inputs: Inputs) -> dict[str, Any]:
        """Return the settings of `errata.meta.evaluate.meta_evaluate`."""
        without = (f"without:{name}" for name in self.without)
        return {
            "ranker": self.ranker,
            "members": self.members,
            "unit": self.unit,
            "hide": self.hide,
            "common": self.common,
            "origin": (*self.files.signature_facts, *inputs.skip_facts, *without),
        }


# ---- Files of scores, of metrics or of people.


def split_names(text: str | None, option: str = "--names") -> list[str]:
    """Split names at commas, or read a file with one a line and ``# `` before comments."""
    if text is None:
        return []
    if os.path.isfile(text):
        from errata.io import read_text

        lines = [line.strip() for line in read_text(text)]
        names = [line for line in lines if line and not line.startswith("# ")]
        if not names:
            raise InputError("no name", path=text, remedy="write one a line")
        return names
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        remedy = "write names as in A,B,C"
        raise InputError(f"{option} {text[:100]!r} has an empty name", remedy=remedy)
    return names


def names_option() -> Any:
    return option(
        "--names A,B,...|FILE",
        "The systems' names in their order, where a file has none: bare columns of scores, "
        "an M2 file with the edits of several systems.",
    )


@dataclass(frozen=True)
class ScoreFiles:
    """Files of scores: of metrics, of people, and how to read them."""

    files: tuple[str, ...] = option(
        "--scores [NAME=]FILE",
        "Scores of a metric from a file instead of computing them: what errata score "
        "printed or wrote, columns, published tables; may be repeated.",
        multiple=True,
        role="scores",
    )
    human: str | None = option(
        "--human [NAME=]FILE",
        "Human scores instead of judgments: what errata rank printed, columns, or ratings "
        "with a row for each sentence and a column for each system.",
        role="human",
    )
    names: str | None = names_option()
    lower: tuple[str, ...] = option(
        "--lower-is-better [NAME]",
        "In these --scores (in all, without a name) lower is better.",
        multiple=True,
        is_flag=False,
        flag_value="*",
    )

    def read_scores(self) -> tuple[Scores | None, list[Scores]]:
        """Return human scores, if a file of them is named, and the scores of metrics."""
        from errata.io.scores import read_score_files

        names = split_names(self.names)
        people = [] if self.human is None else read_score_files([self.human], names=names)
        if len(people) > 1:
            labels = ", ".join(scores.label for scores in people)
            problem = f"human scores in {len(people)} columns: {labels}"
            raise InputError(problem, path=self.human, remedy="keep one of them")
        turned = {scores.label for scores in people} & {*self.lower}
        lower = [name for name in self.lower if name not in turned]
        if turned and self.human is not None:
            people = read_score_files([self.human], names=names, lower=list(turned))
        metrics = read_score_files(self.files, names=names, lower=lower)
        if names and not any([*scores.systems] == names for scores in (*people, *metrics)):
            problem = "--names goes with files of bare numbers, and every file names its systems"
            raise InputError(problem, remedy="leave it out")
        return people[0] if people else None, metrics


def read_meta_inputs(
    inputs: Inputs,
    outputs: tuple[str, ...],
    people: PeopleOptions,
    files: ScoreFiles,
    scored: tuple[Corpus, list[Hypotheses]] | None,
) -> MetaInputs:
    """Read judgments (or the sample's), checked against the outputs, and scores."""
    from errata.meta.inputs import MetaInputs

    judgments = None
    if people.judgments or inputs.sample:
        written = inputs.untokenised_systems(outputs, scored[1]) if scored else []
        reading = replace(people.files, sample=not people.judgments)
        judgments = list(reading.read_judgments(people.judgments, written))
    return MetaInputs(judgments, *files.read_scores(), scored)
