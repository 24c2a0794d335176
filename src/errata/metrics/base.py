"""The metric contract: count, choose, score.

``count`` turns a corpus and one system's output into sufficient statistics per sentence and
reference; ``choose`` says which reference each sentence takes; ``score`` is a pure function of
summed statistics. Corpus scores, sentence scores, bootstrap intervals and distributed runs all
read the same counts (see `errata.evaluate`).

A metric is a frozen dataclass: its fields are its parameters, and its repr is its signature and
what `parse` reads.
"""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, TypeVar, dataclass_transform

import numpy as np
from numpy.typing import NDArray

from errata.data import Corpus, Hypotheses
from errata.errors import ErrataError, InputError

__all__ = ["Floats", "Ints", "Metric", "f_beta", "metric", "parse_arguments", "ratio"]

T = TypeVar("T")
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass_transform(frozen_default=True, kw_only_default=True)
def metric(cls: type[T]) -> type[T]:
    """Make a class a metric: a frozen, keyword-only dataclass with `Metric`'s repr."""
    return dataclass(frozen=True, kw_only=True, repr=False)(cls)


class Metric(ABC):
    """One way of scoring a system; see the module for the contract.

    ``name`` is what users write; ``statistics`` names the k counts. Missing references are NaN
    in the counts and are never chosen.
    """

    name: ClassVar[str]
    needs_references: ClassVar[bool] = True

    @property
    @abstractmethod
    def statistics(self) -> tuple[str, ...]:
        """The names of the sufficient statistics, in the order of the last axis of `count`."""

    @property
    def headline(self) -> str:
        """The name of what `score` returns, as a table heads it."""
        return self.name

    @abstractmethod
    def count(self, corpus: Corpus, hypotheses: Hypotheses) -> Floats:
        """Sufficient statistics ``[sentence, reference, k]``; a missing reference is NaN."""

    def choose(self, counts: Floats) -> Ints:
        """The reference each sentence takes: ``[draw, sentence]``; -1 takes none.

        Several draws are several equally valid choices; the corpus score is their mean.
        """
        return np.zeros((1, counts.shape[0]), np.int64)

    @abstractmethod
    def score(self, totals: Floats) -> Floats:
        """The score of summed statistics, ``[..., k] -> [...]``; higher is better."""

    def parts(self, totals: Floats) -> dict[str, Floats]:
        """Further figures of the same totals (P, R, counts...), in the order to be shown."""
        return {}

    def choose_sentences(self, counts: Floats) -> Ints:
        """The choice of reference when every sentence is scored alone; as in the corpus."""
        return self.choose(counts)

    def score_sentences(self, picked: Floats) -> Floats:
        """The score of single sentences where it differs from `score` (smoothing)."""
        return self.score(picked)

    def sentence_parts(self, picked: Floats) -> dict[str, Floats]:
        """Further figures of single sentences, shown beside their scores."""
        return self.parts(picked)

    def prepare(self, corpus: Corpus, systems: Sequence[Hypotheses],
                progress: Callable[[int, int], None] | None = None) -> None:
        """Do, before anything is counted, what is cheaper for all systems at once."""
        return

    def context(self, corpus: Corpus) -> tuple[str, ...]:
        """What of this corpus decided the numbers and belongs in the signature."""
        return ()

    def notes(self, corpus: Corpus) -> tuple[str, ...]:
        """What a reader of the scores should know (a limit that was hit, say)."""
        return ()

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(f'{n}={v!r}' for n, v in self._parameters())})"

    @property
    def label(self) -> str:
        """A short name: only the parameters that differ from their defaults."""
        defaults = {f.name: f.default for f in fields(self)}  # type: ignore[arg-type]
        shown = [f"{n}={v!r}" for n, v in self._parameters() if v != defaults[n]]
        return self.name + (f"({', '.join(shown)})" if shown else "")

    def _parameters(self) -> list[tuple[str, Any]]:
        return [(f.name, getattr(self, f.name)) for f in fields(self)]  # type: ignore[arg-type]

    def _check_choice(self, parameter: str, allowed: tuple[str, ...]) -> None:
        value = getattr(self, parameter)
        if value not in allowed:
            raise InputError(f"{self.name}: {parameter}={value!r} is unknown",
                             remedy=f"use one of {', '.join(map(repr, allowed))}")


def parse_arguments(text: str) -> tuple[str, dict[str, Any]]:
    """Split ``name(a=1, b='x')`` into the name and its arguments; bare words are strings.

    >>> parse_arguments("m2(beta=1, choice=optimal)")
    ('m2', {'beta': 1, 'choice': 'optimal'})
    """
    problem = InputError(f"cannot read the metric {text!r}",
                         remedy="write name or name(parameter=value, ...), as in m2(beta=0.5)")
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise problem from None
    if isinstance(node, ast.Name):
        return node.id, {}
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.args):
        raise problem
    arguments: dict[str, Any] = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            raise problem
        if isinstance(keyword.value, ast.Name):
            arguments[keyword.arg] = keyword.value.id
            continue
        try:
            arguments[keyword.arg] = ast.literal_eval(keyword.value)
        except ValueError:
            raise problem from None
    return node.func.id, arguments


def build(cls: type[Metric], arguments: dict[str, Any]) -> Metric:
    """Make a metric from parsed arguments, with numbers coerced to the type of the default."""
    known = {f.name: f for f in fields(cls)}  # type: ignore[arg-type]
    for name, value in arguments.items():
        if name not in known:
            raise InputError(f"{cls.name} has no parameter {name!r}",
                             remedy=f"it has: {', '.join(known) or 'none'}")
        default = known[name].default
        if isinstance(default, float) and type(value) is int:
            arguments = {**arguments, name: float(value)}
        elif default is not None and type(value) is not type(default):
            raise InputError(f"{cls.name}: {name}={value!r} should be a "
                             f"{type(default).__name__}, like {default!r}")
    try:
        return cls(**arguments)
    except ErrataError:
        raise
    except (TypeError, ValueError) as error:
        raise InputError(f"{cls.name}: {error}") from error


def ratio(numerator: Floats, denominator: Floats, empty: float) -> Floats:
    """Divide, with ``empty`` where the denominator is 0."""
    safe = np.where(denominator == 0, 1.0, denominator)
    return np.where(denominator == 0, empty, numerator / safe)


def f_beta(precision: Floats, recall: Floats, beta: float) -> Floats:
    """``(1 + β²)PR / (β²P + R)``, 0 where both are 0 (the M2 scorer's rule).

    >>> float(f_beta(np.array(0.5), np.array(0.25), 0.5))
    0.4166666666666667
    """
    square = beta * beta
    return ratio((1 + square) * precision * recall, square * precision + recall, 0.0)
