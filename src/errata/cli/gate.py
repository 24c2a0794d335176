"""Options of a gate: conditions under which a build fails, and what is written of them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import click

from errata.cli.options import gathered, refuse_unless
from errata.cli.running import note
from errata.cli.words import choice_of
from errata.errors import InputError

if TYPE_CHECKING:
    from errata.data import Corpus, Hypotheses, Scores
    from errata.studies.comparison import Comparison
    from errata.studies.gate import HeldCondition

__all__ = ["Bound", "GateOptions", "bound_option", "fail_if_option", "gate_options"]

# As errata.studies.gate has it, which is not imported before it is needed.
Bound = Literal["confident", "point", "cautious"]


class GateOptions(NamedTuple):
    """What must not be, what it is held against, and who is told."""

    fail_if: tuple[str, ...]
    bound: Bound
    baseline: str | None
    update_baseline: bool
    junit: str | None
    markdown: str | None
    annotate: bool

    def check_used(self) -> None:
        """Refuse options that say how a gate works where there is none."""
        refuse_unless(bool(self.fail_if), "bound junit annotate", "--fail-if")
        refuse_unless(self.baseline is not None, "update_baseline", "--baseline")
        refuse_unless(self.baseline is None, "old", "outputs only, not --baseline")

    def old(self, corpus: Corpus, new: Sequence[Hypotheses]) -> Hypotheses:
        """The output of the stored run; where one is stored for the first time, the new one."""
        from errata.io.writing import refuse_read_only
        from errata.studies.gate_run import stored_output

        assert self.baseline is not None
        if self.update_baseline:
            if len(new) > 1:
                raise InputError("a baseline is one system", remedy="give one output")
            refuse_read_only(self.baseline)
        if Path(self.baseline).exists():
            return stored_output(self.baseline, corpus, new)
        if not self.update_baseline:
            raise InputError(
                "there is no baseline yet",
                path=self.baseline,
                remedy="store one: --update-baseline",
            )
        note(f"there is no baseline yet: {new[0].system} is compared with itself")
        return replace(new[0], system=f"{new[0].system} (stored)")

    def store(
        self, corpus: Corpus, new: Hypotheses, results: Sequence[Scores], *, confidence: float
    ) -> None:
        """Renew the baseline: what is new now is old next time."""
        from errata.io.runs import run_of, write_run

        assert self.baseline is not None
        write_run(self.baseline, run_of(corpus, new, results, confidence=confidence), renew=True)
        note(f"{new.system} is stored in {self.baseline}")

    def tell(
        self, verdicts: Sequence[HeldCondition], comparisons: Sequence[Comparison], began: float
    ) -> None:
        """Write what build servers read, and annotate the run."""
        from errata.io.writing import write_bytes
        from errata.report import gate_files

        if self.junit is not None:
            write_bytes(gate_files.junit_xml(verdicts, time.monotonic() - began), self.junit)
        if self.markdown is not None:
            text = gate_files.gate_summary(verdicts, comparisons)
            write_bytes(text.encode("utf-8"), self.markdown)
        if self.annotate:
            for line in gate_files.github_annotations(verdicts):
                click.echo(line, err=True)


fail_if_option = click.option(
    "--fail-if",
    metavar="CONDITION",
    multiple=True,
    help="End with code 1 if this holds, as 'm2 < -0.005' (the change), 'R:SPELL recall < "
    "0.8' or 'new false alarms > 0 on clean.txt'; may be repeated.",
)
bound_option = click.option(
    "--bound",
    type=choice_of(Bound),
    default="confident",
    show_default=True,
    help="What a condition must hold of to fail: the whole interval (confident), the value "
    "(point), or any part of the interval (cautious).",
)
gate_options = gathered(
    "gate",
    GateOptions,
    {
        "fail_if": fail_if_option,
        "bound": bound_option,
        "baseline": click.option(
            "--baseline",
            metavar="FILE",
            help="The old system as a stored run (JSON), in place of its output.",
        ),
        "update_baseline": click.option(
            "--update-baseline",
            is_flag=True,
            help="Store the new system in the baseline, unless a condition fails.",
        ),
        "junit": click.option("--junit", metavar="FILE", help="Write the verdicts as JUnit XML."),
        "markdown": click.option(
            "--markdown", metavar="FILE", help="Write what changed, and the verdicts, as Markdown."
        ),
        "annotate": click.option(
            "--annotate",
            is_flag=True,
            help="Tell GitHub of the verdicts (workflow commands on standard error).",
        ),
    },
)
