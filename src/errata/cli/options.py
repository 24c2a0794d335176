"""Options shared by commands: bootstrap, figures, data, gate.

A decorator adds the options and hands the command what they say, as resamples in a `Bootstrap`.
Options of corpora are in `errata.cli.input_options`, those of judgments in
`errata.cli.judgment_options`.
"""

from __future__ import annotations

import math
import os
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import click
from click.core import ParameterSource

from errata.cli.main import note
from errata.cli.output import ProgressBar
from errata.cli.params import Decorator, Function, choice_of, option_group
from errata.core.errors import DataWarning, InputError
from errata.core.stats import MOST_RESAMPLES, plural
from errata.scoring.resampling import BootstrapKind

if TYPE_CHECKING:
    from errata.comparison.compare import Comparison
    from errata.comparison.gate import CheckedCondition
    from errata.data import Corpus, Hypotheses, Scores
    from errata.datasets.fetch import Collection, Role


# ---- ``--figure [KIND=]FILE``: what a command can draw, by name, in the form the file's name
# says.

# What to draw, and into which file.
FigureOptions = Sequence[tuple[str, str]]
PAGES = (".html", ".htm")


def is_page(path: str) -> bool:
    """Whether a figure is asked for as a page for a browser.

    >>> is_page("map.HTML")
    True
    """
    return path.lower().endswith(PAGES)


def figure_option(
    kinds: dict[str, str], *, pages: Sequence[str] = ()
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add ``--figure``; the command receives ``figures``, pairs of a kind and a file.

    ``kinds`` says what is drawn under each name; those in ``pages`` can be pages too. KIND may be
    left out where there is only one.
    """

    def read(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> FigureOptions:
        figures = [_figure(text, tuple(kinds), pages) for text in given]
        for path in {path for _, path in figures}:
            if sum(path == other for _, other in figures) > 1:
                raise InputError(
                    f"two figures would be drawn into {path!r}", remedy="name a file for each"
                )
        return figures

    forms = ".svg, .png or .pdf" if not pages else ".svg, .png, .pdf or .html"
    drawn = "; ".join(f"{kind}: {what}" for kind, what in kinds.items())
    return click.option(
        "--figure",
        "figures",
        multiple=True,
        metavar="[KIND=]FILE",
        callback=read,
        help=f"Draw into FILE, whose name ends in {forms}; may be repeated. {drawn}.",
    )


def _figure(text: str, kinds: Sequence[str], pages: Sequence[str]) -> tuple[str, str]:
    """Kind and file of a figure; what cannot be drawn is refused before the work."""
    from errata.core.parameters import suggest_name
    from errata.plots.mpl import figure_form

    kind, equals, path = text.partition("=")
    if not equals or os.sep in kind:  # ./a=b.svg is a file
        if len(kinds) > 1:
            raise InputError(
                f"which figure is to be drawn into {text!r}?",
                remedy=f"write {' or '.join(f'{kind}=FILE' for kind in kinds)}",
            )
        kind, path = kinds[0], text
    if kind not in kinds:
        raise InputError(
            f"there is no figure {kind!r}",
            remedy=f"{suggest_name(kind, kinds)}known: {', '.join(kinds)}",
        )
    if kind not in pages:
        figure_form(path)
    elif not (is_page(path) or path.lower().endswith((".svg", ".png", ".pdf"))):
        raise InputError(
            f"cannot draw into {path!r}", remedy="use a name in .html, .svg, .png or .pdf"
        )
    return kind, path


DRAWN = "--resamples above 0"  # what options need that say how resamples are drawn or shown


class FiniteRange(click.FloatRange):
    """A number in a range, neither infinite nor NaN."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        number: float = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is not a number to compute with.", param, ctx)
        return number


def refuse_unless(used: bool, options: str, goes_with: str) -> None:
    """Refuse the first of these options that stands on the command line, unless it is used.

    ``options`` are their names apart by blanks, as the command receives them; ``goes_with`` says
    what would have made use of it. So nobody believes that an option did something.
    """
    context = click.get_current_context()
    names = options.split()
    known = {parameter.name: parameter for parameter in context.command.params}
    for name in names if not used else ():
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            option = max(known[name].opts, key=len)
            raise InputError(f"{option} goes with {goes_with}", remedy="leave it out otherwise")


def refuse_beside_sample(files: object) -> None:
    """Refuse files, of which there are some or none, where the built-in sample is asked for."""
    if files:
        raise InputError("--sample takes no files", remedy="leave out either of them")


class Bootstrap(NamedTuple):
    """How much is resampled, from which seed, at which level intervals are given, and how."""

    resamples: int
    confidence: float
    seed: int
    kind: BootstrapKind = "auto"


seed_option = click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Seed of everything random.",
)
confidence_option = click.option(
    "--confidence",
    type=FiniteRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Level of intervals, and at which systems are told apart.",
)
threads_option = click.option("--threads", type=click.IntRange(1), help="Default: all cores.")
tier_option = click.option(
    "--tier",
    type=click.IntRange(1, 3),
    default=3,
    show_default=True,
    help="Group kinds by operation (1), without it (2), or in full (3).",
)

sentences_option = click.option(
    "--sentences",
    metavar="3,5-7",
    help="The sentences to show, from 1. Default: all in a map, the first ten in a picture of it, "
    "the first three as alignments.",
)
types_option = click.option(
    "--types",
    default="as_is",
    show_default=True,
    metavar="NAME",
    help="Kinds of the gold edits: as_is, or given anew by aligned, errant or errant:PIPELINE.",
)


def _lift_limits(ctx: click.Context, _: click.Parameter, lifted: bool) -> None:
    ctx.meta["errata.no_limits"] = lifted


def _bounded(ctx: click.Context, _: click.Parameter, resamples: int) -> int:
    """Refuse, before anything is drawn, what would take days, unless it is meant."""
    if resamples > MOST_RESAMPLES and not ctx.meta.get("errata.no_limits"):
        raise InputError(
            f"{resamples:.3g} resamples are more than {MOST_RESAMPLES:,}"
            if resamples > 10**12
            else f"{resamples:,} resamples are more than {MOST_RESAMPLES:,}",
            remedy="1,000 serve most purposes; --no-limits takes any number",
        )
    return resamples


def _bootstrap(
    resamples: int, seed: int, confidence: float = 0.95, kind: BootstrapKind = "auto"
) -> Bootstrap:
    refuse_unless(resamples > 0, "confidence", DRAWN)
    refuse_unless(resamples > 0 or kind == "auto", "kind", DRAWN)
    # Below this many the ends of the interval are the smallest and the largest that was drawn.
    enough = 2 / (1 - confidence) - 1e-9
    if 0 < resamples < enough:
        more = f"--resamples {max(1000, round(enough + 0.5))}"
        warnings.warn(
            f"{resamples} {plural('resample', resamples)} cannot show what lies in "
            f"{confidence * 100:g} % of cases: intervals are too narrow; use "
            f"{more if enough <= MOST_RESAMPLES else 'a lower --confidence'}",
            DataWarning,
            stacklevel=2,
        )
    return Bootstrap(resamples, confidence, seed, kind)


def bootstrap_options(
    of: str = "the sentences", *, kinds: bool = False, shown: bool = True
) -> Decorator:
    """Add ``--resamples``, ``--confidence`` and ``--seed``; the command receives ``bootstrap``.

    With ``kinds`` also ``--bootstrap``, what is drawn; without ``--confidence`` where no interval
    is ``shown``.
    """
    options: dict[str, Decorator] = {
        "resamples": click.option(
            "--resamples",
            type=click.IntRange(0),
            default=1000,
            show_default=True,
            callback=_bounded,
            help=f"Bootstrap resamples of {of}; 0 leaves intervals out. "
            f"At most {MOST_RESAMPLES:,}.",
        ),
        **({"confidence": confidence_option} if shown else {}),
        "seed": seed_option,
    }
    if kinds:
        options["kind"] = click.option(
            "--bootstrap",
            "kind",
            type=choice_of(BootstrapKind),
            default="auto",
            show_default=True,
            help="What a resample draws: histogram (distinct counts, as many sentences have few), "
            "sentences, poisson (weights by sentence number) or blocks of neighbours; auto goes by "
            "the data.",
        )
    lift = click.option(
        "--no-limits",
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_lift_limits,
        help="Take more resamples than that, however long it takes.",
    )
    gather = option_group("bootstrap", _bootstrap, options)
    return lambda command: gather(lift(command))


def metric_option(*default: str) -> Decorator:
    """Add ``-m``; the command receives ``metrics``, nothing where the defaults are meant."""
    return click.option(
        "-m",
        "--metric",
        "metrics",
        multiple=True,
        metavar="METRIC",
        help="A metric with its parameters, as m2 or 'm2(beta=1)'; may be repeated."
        + (f" Default: {', '.join(default)}." if default else ""),
    )


def old_option(help: str) -> Decorator:
    """Add ``--old``: the system that others are compared with, by its name."""
    return click.option("--old", metavar="NAME", help=help)


slices_option = click.option(
    "--slices",
    metavar="FILE",
    help="A table with a header and a row for every sentence: domain, level... Length is always "
    "one of the slices.",
)


def extract_option(what: str) -> Decorator:
    """Add ``--extract``: who finds edits; the command receives ``extractor``, or nothing."""
    return click.option(
        "--extract",
        "extractor",
        metavar="NAME",
        help=f"{what[0].upper()}{what[1:]}: aligned, errant, or errant:PIPELINE with another "
        "spaCy pipeline.",
    )


# ---- Options of a gate: conditions under which a build fails, and what is written of them.

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
        from errata.comparison.gate import stored_output
        from errata.io.atomic import refuse_read_only

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
        from errata.io.stored_runs import make_run, write_run

        assert self.baseline is not None
        write_run(self.baseline, make_run(corpus, new, results, confidence=confidence), renew=True)
        note(f"{new.system} is stored in {self.baseline}")

    def tell(
        self, verdicts: Sequence[CheckedCondition], comparisons: Sequence[Comparison], began: float
    ) -> None:
        """Write what build servers read, and annotate the run."""
        from errata.comparison import gate
        from errata.io.atomic import write_bytes

        if self.junit is not None:
            write_bytes(gate.junit_xml(verdicts, time.monotonic() - began), self.junit)
        if self.markdown is not None:
            text = gate.gate_summary(verdicts, comparisons)
            write_bytes(text.encode("utf-8"), self.markdown)
        if self.annotate:
            for line in gate.github_annotations(verdicts):
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
gate_options = option_group(
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


# ---- ``--data``: public data by name, wherever a command takes files.

CORPUS: tuple[Role, ...] = ("gold", "source", "references")


def data_option(*roles: Role, **parameters: str) -> Decorator:
    """Add ``--data``, which stands for whatever files the command takes and was not given.

    ``parameters`` say in which parameter of the command a role goes, as ``outputs="systems"``;
    those of ``roles`` are called like the role. A corpus is taken whole or not at all. Stands above
    all other options, so that it sees their values as they were given, and they see its files.
    """
    places = {role: {"references": "refs"}.get(role, role) for role in roles} | parameters

    def decorate(command: Function) -> Function:
        @wraps(command)
        def run(*arguments: Any, data: str | None, **given: Any) -> Any:
            if data is not None:
                from errata.datasets.fetch import collection

                given |= _filled(collection(data), places, given)
            return command(*arguments, **given)

        return click.option(
            "--data",
            metavar="NAME",
            help="Public data by name (see errata data list), for all files that are not named.",
        )(run)

    return decorate


def _filled(
    chosen: Collection, places: Mapping[str, str], given: Mapping[str, Any]
) -> dict[str, Any]:
    """The files of a collection for the parameters that are still empty."""
    from errata.datasets.fetch import role_files

    if given.get("sample"):
        raise InputError("--data and --sample are given", remedy="leave out either of them")
    taken = {role for role, parameter in places.items() if given[parameter]}
    if taken & {*CORPUS}:
        taken |= {*CORPUS}
    if taken & {"judgments", "human"}:
        taken |= {"judgments", "human"}
    if "scores" in taken and not given["metrics"]:
        taken.add("outputs")
    filled: dict[str, Any] = {}
    for role in chosen.roles:
        if role in places and role not in taken:
            with ProgressBar(chosen.name, after=0.3) as progress:
                found = role_files(chosen, role, progress)
            several = isinstance(given[places[role]], tuple)
            filled[places[role]] = found if several else found[0]
    if not filled:
        raise InputError(
            f"--data {chosen.name} has nothing that is missing here: it has "
            + ", ".join(chosen.roles),
            remedy="leave it out, or leave out the files that are to come from it",
        )
    source = click.get_current_context().get_parameter_source
    if "judgments" in filled and source("base") is not ParameterSource.COMMANDLINE:
        filled["base"] = chosen.base
    if "human" in filled and not given["names"]:
        filled["names"] = chosen.names
    return filled
