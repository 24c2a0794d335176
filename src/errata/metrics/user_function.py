"""A metric of one's own from a plain function of a sentence: its mean over the sentences."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import field
from typing import Any

import numpy as np

from errata.core.errors import ErrataError, PluginError
from errata.core.parameters import About
from errata.core.registry import load_place, origin
from errata.core.stats import Floats, Progress, ratio
from errata.data import Corpus, Hypotheses
from errata.metrics.base import (
    Description,
    Metric,
    MetricFacts,
    by_name,
    count_each,
    metric,
    stack_counts,
)
from errata.metrics.ngrams import corrections_by_sentence


@metric
class UserFunction(Metric):
    """The mean over sentences of ``f(source, hypothesis, references)``, higher being better.

    ``function`` is where f stands, ``package.module:name`` or ``file.py:name``; ``arguments`` are
    given to it by name. Sentences are strings, references a list of strings, empty where there
    are none. The signature has a digest of the file. The function is called in one thread.

    >>> UserFunction(function="difflib:get_close_matches")
    difflib:get_close_matches
    """

    about = About(range="what the function gives", needs=("a function of yours",))
    columns = "none"

    function: str
    arguments: tuple[tuple[str, Any], ...] = field(default=())

    @property
    def name(self) -> str:  # type: ignore[override]
        """Where the function stands."""
        return self.function

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.arguments)
        return self.function + (f"({given})" if given else "")

    @property
    def label(self) -> str:
        """Return the place of the function and its arguments, as in the signature."""
        return repr(self)

    @property
    def headline(self) -> str:
        """The name of the function."""
        return self.function.rpartition(":")[2]

    @property
    def statistics(self) -> tuple[str, ...]:
        """The sum of the values, and of how many sentences."""
        return ("value", "sentences")

    def count(self, corpus: Corpus, hypotheses: Hypotheses) -> Floats:
        """What the function says of each sentence."""
        function: Callable[..., Any] = load_place(self.function)
        given = dict(self.arguments)
        values = []
        references = list(corrections_by_sentence(corpus))
        for source, hypothesis, several in zip(
            corpus.sources, hypotheses.sentences, references, strict=True
        ):
            try:
                value = function(source, hypothesis, several, **given)
            except (ErrataError, MemoryError):
                raise
            except (Exception, SystemExit) as error:
                raise PluginError(
                    f"{self.function} failed on {hypothesis[:60]!r}: "
                    f"{type(error).__name__}: {error}",
                    remedy="it is called as f(source, hypothesis, references)",
                ) from error
            values.append(_as_score(self.function, hypothesis, value))
        return stack_counts(self.statistics, {"value": values, "sentences": np.ones(len(values))})

    def count_all(
        self,
        corpus: Corpus,
        systems: Sequence[Hypotheses],
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> list[Floats]:
        """The counts of every system, in one thread: a function may not bear several."""
        return count_each(self.count, corpus, systems, threads=1, progress=progress)

    def score(self, totals: Floats) -> Floats:
        """The mean over the sentences."""
        counted = by_name(self.statistics, totals)
        return ratio(counted["value"], counted["sentences"], 0.0)

    @property
    def files(self) -> tuple[str, ...]:
        """Return the file that defines the function, unless it is in a module."""
        place = self.function.rpartition(":")[0]
        return (place,) if place.endswith(".py") else ()

    def describe(self, facts: MetricFacts) -> Description:
        """Where the function comes from, with a digest."""
        return Description(origin(load_place(self.function)))


def metric_from_function(place: str, arguments: dict[str, Any]) -> UserFunction:
    """The metric that a plain function makes."""
    return UserFunction(function=place, arguments=tuple(arguments.items()))


def _as_score(function: str, hypothesis: str, value: object) -> float:
    with suppress(OverflowError):  # a whole number of four hundred digits
        if isinstance(value, bool | int | float | np.number | np.bool_) and math.isfinite(value):
            return float(value)
    raise PluginError(
        f"{function} gives {str(value)[:60]!r} for {hypothesis[:60]!r}",
        remedy="it must give a finite number for every sentence",
    )
