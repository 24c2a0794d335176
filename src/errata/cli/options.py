"""Options that several commands share: figures, bootstrap, metrics, edits, gate."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import click

from errata.cli.params import choice_option, count_option, flag, option
from errata.core.errors import DataWarning, InputError
from errata.core.stats import MOST_RESAMPLES, plural
from errata.scoring.resampling import BootstrapKind

if TYPE_CHECKING:
    from errata.comparison.gate import Condition


# ---- ``--figure [KIND=]FILE``.

# What to draw, and into which file.
FigureOptions = Sequence[tuple[str, str]]
PAGES = (".html", ".htm")


def is_html_path(path: str) -> bool:
    """Return whether a figure is asked for as a page for a browser.

    >>> is_html_path("map.HTML")
    True
    """
    return path.lower().endswith(PAGES)


def figure_option(kinds: dict[str, str], *, pages: Sequence[str] = (), needs: str = "") -> Any:
    """Declare ``--figure``, whose value is pairs of a kind and a file.

    ``kinds`` says what each name draws, ``pages`` which of them can be HTML pages too.
    """
    forms = ".svg, .png or .pdf" if not pages else ".svg, .png, .pdf or .html"
    drawn = "; ".join(f"{kind}: {what}" for kind, what in kinds.items())
    return option(
        "--figure [KIND=]FILE",
        f"Draw into FILE, whose name ends in {forms}; may be repeated. {drawn}.",
        multiple=True,
        parse=partial(_parse_figures, kinds=tuple(kinds), pages=pages),
        needs=needs or (),
        writes="file",
    )


def _parse_figures(
    texts: tuple[str, ...], kinds: Sequence[str], pages: Sequence[str]
) -> FigureOptions:
    figures = [_parse_figure(text, kinds, pages) for text in texts]
    paths = [path for _, path in figures]
    for path in paths:
        if paths.count(path) > 1:
            remedy = "name a file for each"
            raise InputError(f"two figures would be drawn into {path!r}", remedy=remedy)
    return figures


def _parse_figure(text: str, kinds: Sequence[str], pages: Sequence[str]) -> tuple[str, str]:
    """Return the kind and the file of a figure; refuse what cannot be drawn before the work."""
    from errata.core.parameters import suggest_name
    from errata.plots.mpl import figure_form_of_path

    kind, equals, path = text.partition("=")
    if not equals or os.sep in kind:  # ./a=b.svg is a file
        if len(kinds) > 1:
            remedy = f"write {' or '.join(f'{kind}=FILE' for kind in kinds)}"
            raise InputError(f"which figure is to be drawn into {text!r}?", remedy=remedy)
        kind, path = kinds[0], text
    if kind not in kinds:
        remedy = f"{suggest_name(kind, kinds)}known: {', '.join(kinds)}"
        raise InputError(f"there is no figure {kind!r}", remedy=remedy)
    if kind not in pages:
        figure_form_of_path(path)
    elif not (is_html_path(path) or path.lower().endswith((".svg", ".png", ".pdf"))):
        remedy = "use a name in .html, .svg, .png or .pdf"
        raise InputError(f"cannot draw into {path!r}", remedy=remedy)
    return kind, path


# ---- Numbers, seeds and resamples.


class FiniteRange(click.FloatRange):
    """A number in a range, neither infinite nor NaN."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        number: float = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is not a number to compute with.", param, ctx)
        return number


def seed_option() -> Any:
    return count_option("--seed", "Seed of everything random.", 0, least=0)


def confidence_option(needs: str = "") -> Any:
    return option(
        "--confidence",
        "Level of intervals and of tests between systems.",
        type=FiniteRange(0, 1, min_open=True, max_open=True),
        default=0.95,
        needs=needs or (),
    )


def threads_option() -> Any:
    return count_option("--threads", "Default: all cores.")


@dataclass(frozen=True)
class Bootstrap:
    """How much is resampled, from which seed, at which level intervals are given, and how."""

    resamples: int = count_option(
        "--resamples",
        "Bootstrap resamples; 0 leaves intervals out. At most "
        f"{MOST_RESAMPLES:,} without --no-limits.",
        1000,
        least=0,
    )
    confidence: float = confidence_option(needs="--resamples above 0")
    seed: int = seed_option()
    kind: BootstrapKind = choice_option(
        "--bootstrap",
        BootstrapKind,
        "What a resample draws: histogram (distinct counts, as many sentences have few), "
        "sentences, poisson (weights by sentence number) or blocks of neighbours; auto chooses by "
        "the data.",
        "auto",
        needs="--resamples above 0",
    )
    no_limits: bool = flag("--no-limits", "Allow any number of resamples, however long it takes.")

    def __post_init__(self) -> None:
        """Refuse what would take days, and warn about intervals from too few resamples."""
        if self.resamples > MOST_RESAMPLES and not self.no_limits:
            many = f"{self.resamples:.3g}" if self.resamples > 10**12 else f"{self.resamples:,}"
            remedy = "1,000 serve most purposes; --no-limits takes any number"
            raise InputError(f"{many} resamples are more than {MOST_RESAMPLES:,}", remedy=remedy)
        # With fewer, the ends of the interval are the smallest and the largest value drawn.
        enough = 2 / (1 - self.confidence) - 1e-9
        if 0 < self.resamples < enough:
            more = f"--resamples {max(1000, round(enough + 0.5))}"
            warnings.warn(
                f"{self.resamples} {plural('resample', self.resamples)} cannot show what lies in "
                f"{self.confidence * 100:g} % of cases: intervals are too narrow; use "
                f"{more if enough <= MOST_RESAMPLES else 'a lower --confidence'}",
                DataWarning,
                stacklevel=2,
            )

    @property
    def resample_settings(self) -> dict[str, Any]:
        """The number of resamples and their seed, as functions of the library take them."""
        return {"resamples": self.resamples, "rng": self.seed}

    @property
    def interval_settings(self) -> dict[str, Any]:
        """The same with the level of intervals."""
        return {**self.resample_settings, "confidence": self.confidence}


# ---- Metrics, edits and slices.


def metric_option(*default: str, **more: Any) -> Any:
    """Declare ``-m``, whose value is empty where the defaults are meant."""
    return option(
        "-m",
        "--metric METRIC",
        "A metric with its parameters, as m2 or 'm2(beta=1)'; may be repeated."
        + (f" Default: {', '.join(default)}." if default else ""),
        multiple=True,
        **more,
    )


def extract_option(what: str, **more: Any) -> Any:
    """Declare ``--extract``: the tool that finds edits."""
    return option(
        "--extract NAME",
        f"{what[0].upper()}{what[1:]}: aligned, errant, or errant:PIPELINE with another "
        "spaCy pipeline.",
        **more,
    )


def tier_option(**more: Any) -> Any:
    return option(
        "--tier",
        "Group kinds by operation (1), without it (2), or in full (3).",
        type=click.IntRange(1, 3),
        default=3,
        **more,
    )


def types_option() -> Any:
    return option(
        "--types NAME",
        "Kinds of the gold edits: as_is, or assigned by aligned, errant or errant:PIPELINE.",
        default="as_is",
    )


def sentences_option(**more: Any) -> Any:
    return option(
        "--sentences 3,5-7",
        "The sentences to show, from 1. Default: all in a map, the first ten in a picture of "
        "it, the first three as alignments.",
        **more,
    )


def slices_option(**more: Any) -> Any:
    return option(
        "--slices FILE",
        "A table with a header and a row for every sentence: domain, level... Length is "
        "always one of the slices.",
        **more,
    )


def old_system_option(help: str, **more: Any) -> Any:
    """Declare ``--old``: the name of the system that others are compared with."""
    return option("--old NAME", help, **more)


# ---- The gate: conditions under which a build fails.

# As in errata.comparison.gate, which is not imported before it is needed.
Bound = Literal["confident", "point", "cautious"]


def _parse_conditions(texts: tuple[str, ...]) -> tuple[Condition, ...]:
    from errata.comparison.gate import parse_condition

    return tuple(map(parse_condition, texts))


def fail_if_option(**more: Any) -> Any:
    """Declare ``--fail-if``; conditions are read before anything is computed."""
    return option(
        "--fail-if CONDITION",
        "End with exit code 1 if this is true, as 'm2 < -0.005' (the change), 'R:SPELL recall "
        "< 0.8' or 'new false alarms > 0 on clean.txt'; may be repeated.",
        multiple=True,
        parse=_parse_conditions,
        **more,
    )


def gate_bound_option() -> Any:
    return choice_option(
        "--bound",
        Bound,
        "Fail if the condition is true of the whole interval (confident), of the value "
        "(point), or of any part of the interval (cautious).",
        "confident",
        needs="--fail-if",
    )
