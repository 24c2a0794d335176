"""Options that several commands have: declared once, and given to the command as one value.

A decorator adds the options and hands the command what they say: a corpus as `Inputs`, resamples as
`Bootstrap`. So a file is named in the same way everywhere. Options of judgments are in
`errata.cli.people`.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import click
from click.core import ParameterSource

from errata.cli.words import Annotator, choice_of
from errata.errors import DataWarning, InputError
from errata.numbers import plural

if TYPE_CHECKING:
    from errata.data import Corpus, Hypotheses
    from errata.io.skipping import Skipped

__all__ = [
    "DEFAULT_METRICS",
    "DRAWN",
    "Bootstrap",
    "FiniteRange",
    "Inputs",
    "bootstrap_options",
    "choice_of",
    "confidence_option",
    "corpus_options",
    "extract_option",
    "gathered",
    "metric_option",
    "read_skip_option",
    "refuse_unless",
    "sample_option",
    "seed_option",
    "sentences_option",
    "skip_option",
    "threads_option",
    "tier_option",
    "tokens_option",
    "types_option",
]

Function = Callable[..., Any]
Decorator = Callable[[Function], Function]
MOST_RESAMPLES = 1_000_000
DRAWN = "--resamples above 0"  # what options need that say how resamples are drawn or shown
DEFAULT_METRICS = ("m2", "imeasure", "gleu", "bleu")


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


skip_option = click.option(
    "--skip-sentences",
    "skipped",
    metavar="FILE|RANGES",
    help="Leave out these sentences, as 3,7-9, counted from 1 whatever --base says of judgments; "
    "or a file with a number or a range a line, # before comments.",
)


def tokens_option(*, required: bool = False) -> Decorator:
    """Add ``--tokens``: what cuts texts into tokens."""
    return click.option(
        "--tokens",
        metavar="NAME",
        required=required,
        default=None if required else "as_is",
        show_default=not required,
        help="What a token is: as_is (what spaces separate), characters, or what spacy:LANGUAGE or "
        "moses:LANGUAGE makes of all texts.",
    )


@dataclass(frozen=True)
class Inputs:
    """Where a corpus is: files named by the user, or the built-in sample."""

    gold: str | None = None
    source: str | None = None
    refs: tuple[str, ...] = ()
    missing: str | None = None
    compatible: bool = False
    annotators: tuple[int | Literal["all"], ...] = ()
    sample: bool = False
    skipped: Skipped | None = None
    tokens: str = "as_is"
    no_guard: bool = False

    def __post_init__(self) -> None:
        numbers = [str(annotator) for annotator in self.annotators if annotator != "all"]
        if numbers and "all" in self.annotators:
            raise InputError(
                f"--annotator all and --annotator {', '.join(numbers)} are given",
                remedy="leave out either of them",
            )

    @property
    def named(self) -> bool:
        """Whether there are files at all."""
        return bool(self.gold or self.source or self.refs)

    @property
    def chosen(self) -> tuple[int, ...]:
        """The annotators asked for by number; none where all are meant."""
        if "all" in self.annotators:
            return ()
        return tuple(annotator for annotator in self.annotators if annotator != "all")

    def check_used(self) -> None:
        """Refuse options on the reading of a file where no such file is read."""
        refuse_unless(bool(self.refs), "missing", "--refs")
        refuse_unless(self.gold is not None, "compatible", "--gold")

    @property
    def skip_facts(self) -> tuple[str, ...]:
        """What a signature says of the sentences left out, if any."""
        return () if self.skipped is None else (self.skipped.fact,)

    @property
    def whole(self) -> Inputs:
        """The same with no sentence left out."""
        return replace(self, skipped=None)

    def corpus(self) -> Corpus:
        """Read the corpus, with the annotators and without the sentences asked for."""
        corpus = self._corpus()
        if self.skipped is None:
            return corpus
        return corpus.without_sentences(*self.skipped.positions(len(corpus)))

    def annotated(self, corpus: Corpus) -> Corpus:
        """A corpus with the annotators asked for."""
        from errata.io.corpus import keep_annotators

        return keep_annotators(corpus, self.chosen) if self.chosen else corpus

    def _corpus(self) -> Corpus:
        from errata.io.corpus import read_corpus
        from errata.io.tokenising import tokenised, tokeniser

        if self.sample:
            if self.named:
                raise InputError("--sample takes no files", remedy="leave out either of them")
            from errata.datasets import sample_corpus

            return self.annotated(tokenised(sample_corpus(), tokeniser(self.tokens)))
        return read_corpus(
            gold=self.gold,
            source=self.source,
            references=self.refs,
            annotators=self.chosen or None,
            missing=self.missing,
            compatible=self.compatible,
            guard=not self.no_guard,
            tokens=self.tokens,
        )

    def systems(
        self,
        outputs: tuple[str, ...],
        corpus: Corpus,
        *,
        names: list[str] | None = None,
        several: bool = False,
    ) -> list[Hypotheses]:
        """Read the outputs of systems, or those of the sample."""
        if self.sample:
            if outputs:
                raise InputError("--sample takes no files", remedy="leave out either of them")
            from errata.datasets import sample_corpus, sample_systems
            from errata.io.tokenising import tokenised_output, tokeniser

            cut, sources = tokeniser(corpus.tokens), sample_corpus().sources
            return [
                tokenised_output(system, sources, cut).without_sentences(*corpus.skipped)
                for system in sample_systems()
            ]
        from errata.io.corpus import read_systems

        return read_systems(
            outputs, names=names, several=several, corpus=corpus, guard=not self.no_guard
        )

    def as_written(self, outputs: tuple[str, ...], systems: list[Hypotheses]) -> list[Hypotheses]:
        """The same systems with the texts that people saw, whatever they were cut into since."""
        if self.tokens == "as_is":
            return systems
        if self.sample:
            from errata.datasets import sample_systems

            return sample_systems()
        from errata.io.corpus import read_systems

        return read_systems(outputs)

    def scored(self, outputs: tuple[str, ...]) -> tuple[Corpus, list[Hypotheses]]:
        """The corpus and the systems to score on it, of which there must be one."""
        if not (outputs or self.sample):
            raise InputError(
                "no output to score", remedy="name one file per system, or use --sample"
            )
        self.check_used()
        corpus = self.corpus()
        return corpus, self.systems(outputs, corpus)


sample_option = click.option(
    "--sample", is_flag=True, help="Use the built-in sample instead of files."
)


def corpus_options(*leave_out: str) -> Decorator:
    """Add the options that name a corpus; the command receives ``inputs``.

    ``leave_out`` names fields of `Inputs` that the command has no option for.
    """
    options: dict[str, Decorator] = {
        "gold": click.option(
            "--gold",
            metavar="FILE",
            help="Gold edits: an M2 file with one or more annotators, or I-measure's XML.",
        ),
        "source": click.option(
            "--source", metavar="FILE", help="The uncorrected sentences, one a line."
        ),
        "refs": click.option(
            "--refs",
            multiple=True,
            metavar="FILE",
            help="A file of corrected sentences; repeat it for several references.",
        ),
        "missing": click.option(
            "--missing",
            metavar="MARK",
            help="The line that stands in a text where a sentence has no reference; an empty "
            "line is an empty reference.",
        ),
        "compatible": click.option(
            "--compatible",
            is_flag=True,
            help="Read odd M2 as the official scorer does: several S lines share their edits, "
            "edits outside the sentence are dropped with a warning.",
        ),
        "annotators": click.option(
            "--annotator",
            "annotators",
            multiple=True,
            type=Annotator(),
            metavar="ID",
            help="Only this annotator of the gold; may be repeated; all takes every one.",
        ),
        "sample": sample_option,
        "skipped": skip_option,
        "tokens": tokens_option(),
        "no_guard": click.option(
            "--no-guard",
            is_flag=True,
            help="Take texts that look unrelated to their sources, or shifted, all the same.",
        ),
    }
    for field in leave_out:
        del options[field]
    return gathered("inputs", _inputs, options)


def _inputs(skipped: str | None = None, **given: Any) -> Inputs:
    return Inputs(**given, skipped=read_skip_option(skipped))


def read_skip_option(given: str | None) -> Skipped | None:
    """The sentences that ``--skip-sentences`` names, if it was given."""
    if given is None:
        return None
    from errata.io.skipping import read_skipped

    return read_skipped(given)


class Bootstrap(NamedTuple):
    """How much is resampled, from which seed, and at which level intervals are given."""

    resamples: int
    confidence: float
    seed: int


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


def _bootstrap(resamples: int, confidence: float, seed: int) -> Bootstrap:
    refuse_unless(resamples > 0, "confidence", DRAWN)
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
    return Bootstrap(resamples, confidence, seed)


def bootstrap_options(of: str = "the sentences") -> Decorator:
    """Add ``--resamples``, ``--confidence`` and ``--seed``; the command receives ``bootstrap``."""
    options = {
        "resamples": click.option(
            "--resamples",
            type=click.IntRange(0),
            default=1000,
            show_default=True,
            callback=_bounded,
            help=f"Bootstrap resamples of {of}; 0 leaves intervals out. "
            f"At most {MOST_RESAMPLES:,}.",
        ),
        "confidence": confidence_option,
        "seed": seed_option,
    }
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


def extract_option(what: str) -> Decorator:
    """Add ``--extract``: who finds edits; the command receives ``extractor``, or nothing."""
    return click.option(
        "--extract",
        "extractor",
        metavar="NAME",
        help=f"{what[0].upper()}{what[1:]}: aligned, errant, or errant:PIPELINE with another "
        "spaCy pipeline.",
    )
