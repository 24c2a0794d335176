"""Options that several commands have: declared once, and given to the command as one value.

A decorator adds the options and hands the command what they say, as resamples in a `Bootstrap`.
Options of corpora are in `errata.cli.inputs`, those of judgments in `errata.cli.people`.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from click.core import ParameterSource

from errata.cli.words import choice_of
from errata.errors import DataWarning, InputError
from errata.metrics import DEFAULT_METRICS
from errata.numbers import MOST_RESAMPLES, plural
from errata.resampling import BootstrapKind

if TYPE_CHECKING:
    pass

__all__ = [
    "DEFAULT_METRICS",
    "DRAWN",
    "Bootstrap",
    "FiniteRange",
    "bootstrap_options",
    "choice_of",
    "confidence_option",
    "extract_option",
    "gathered",
    "metric_option",
    "old_option",
    "refuse_beside_sample",
    "refuse_unless",
    "seed_option",
    "sentences_option",
    "slices_option",
    "threads_option",
    "tier_option",
    "types_option",
]

Function = Callable[..., Any]
Decorator = Callable[[Function], Function]
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


def gathered(name: str, make: Callable[..., Any], options: Mapping[str, Decorator]) -> Decorator:
    """Declare options, and give the command one value ``name`` that ``make`` makes of them."""

    def decorate(command: Function) -> Function:
        @wraps(command)
        def run(*arguments: Any, **given: Any) -> Any:
            values = {field: given.pop(field) for field in options}
            return command(*arguments, **{name: make(**values)}, **given)

        decorated: Function = run
        for option in reversed(list(options.values())):
            decorated = option(decorated)
        return decorated

    return decorate


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
    gather = gathered("bootstrap", _bootstrap, options)
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
