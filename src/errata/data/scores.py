"""Scores of systems by a metric or by people, with resamples and a signature."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from errata.core.errors import InputError
from errata.core.stats import BLOCK, Floats, Ints, merge_ties, percentiles
from errata.data.corpus import check_skipped, describe_briefly, original_number
from errata.data.hypotheses import duplicate_name_errors

if TYPE_CHECKING:
    import pandas
    import polars


@dataclass(frozen=True, eq=False)
class Scores:
    """What one scorer, a metric or people, says of some systems.

    ``values[s]`` is the overall score of system ``s``, ``sentences[s, i]`` its score on sentence
    ``i`` (NaN where there is none), ``parts`` further figures per system (P, R, counts...), and
    ``resampled[b, s]`` the overall score in bootstrap resample ``b``, the same sentences (or
    judgments) for every system, so that intervals and paired tests read the same numbers;
    ``sentence_parts`` holds further figures ``[system, sentence]``.
    Parts that count something are whole numbers. ``scorer`` is the signature of the metric or
    ranker, ``name`` its bare name and ``label`` that with the parameters that are not as usual;
    ``context`` is what else decided the numbers (sentences, references, seed, version);
    ``notes`` what the user should know; ``skipped`` are the sentences of the whole text that are
    not among ``sentences`` because they were left out, by their place in it; ``shares`` names the
    figures (``headline`` and parts) that are shares of one, which people read in percent.

    >>> Scores("m2()", ("A", "B"), np.array([0.3, 0.4])).order
    (1, 0)
    >>> Scores("m2()", ("A", "B"), np.array([0.3, 0.4]))
    <Scores 'm2()': A 0.3000, B 0.4000>
    """

    scorer: str
    systems: tuple[str, ...]
    values: Floats
    sentences: Floats | None = None
    parts: Mapping[str, Floats | Ints] = field(default_factory=dict)
    resampled: Floats | None = None
    sentence_parts: Mapping[str, Floats | Ints] = field(default_factory=dict)
    headline: str = "score"
    context: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    name: str = ""
    label: str = ""
    skipped: tuple[int, ...] = ()
    shares: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        n = len(self.systems)
        for error in duplicate_name_errors(self.systems):
            raise error
        shapes = [
            self.values.shape,
            *(part.shape for part in self.parts.values()),
            *(part.shape[:1] for part in self.sentence_parts.values()),
        ]
        if self.sentences is not None:
            shapes.append(self.sentences.shape[:1])
        if self.resampled is not None:
            shapes.append(self.resampled.shape[1:])
        if any(shape != (n,) for shape in shapes):
            raise InputError(f"{self.scorer}: {n} systems but arrays of shapes {shapes}")
        for name in ("parts", "sentence_parts"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))
        object.__setattr__(self, "name", self.name or self.scorer)
        object.__setattr__(self, "label", self.label or self.name)

    def __repr__(self) -> str:
        return describe_briefly(self, self.label, *(f"{name} {value:.4f}" for name, value in self))

    def __len__(self) -> int:
        return len(self.systems)

    def __iter__(self) -> Iterator[tuple[str, float]]:
        return iter(zip(self.systems, self.values.tolist(), strict=True))

    def __getitem__(self, system: str) -> float:
        return float(self.values[self.systems.index(system)])

    @property
    def order(self) -> tuple[int, ...]:
        """Positions of the systems, best score first; equal scores keep the given order.

        Equal is what differs by rounding only (`errata.core.stats.merge_ties`), here and below.
        """
        return tuple(np.argsort(-merge_ties(self.values), kind="stable").tolist())

    @property
    def ranks(self) -> tuple[int | None, ...]:
        """The rank of each system; equal scores share one, and the next is counted on from it.

        NaN has no rank.

        >>> Scores("m2()", ("A", "B", "C"), np.array([0.3, np.nan, 0.3])).ranks
        (1, None, 1)
        """
        values = merge_ties(self.values)
        return tuple(
            None if np.isnan(value) else 1 + int((values > value).sum()) for value in values
        )

    def select(self, systems: Sequence[str]) -> Scores:
        """The scores of these systems, in this order.

        >>> Scores("m2()", ("A", "B"), np.array([0.3, 0.4])).select(["B"]).values.tolist()
        [0.4]
        """
        at = [self._position(system) for system in systems]
        return replace(
            self,
            systems=tuple(systems),
            values=self.values[at],
            sentences=None if self.sentences is None else self.sentences[at],
            parts={name: part[at] for name, part in self.parts.items()},
            resampled=None if self.resampled is None else self.resampled[:, at],
            sentence_parts={name: part[at] for name, part in self.sentence_parts.items()},
        )

    def without_sentences(self, *sentences: int) -> Scores:
        """Return the scores without these sentences (0-based); overall scores stay.

        >>> table = np.array([[0.1, 0.2, 0.3]])
        >>> fewer = Scores("m2()", ("A",), np.array([0.2]), table).without_sentences(1)
        >>> fewer.sentences.tolist(), fewer.skipped
        ([[0.1, 0.3]], (1,))
        """
        if self.sentences is None or not sentences:
            return self
        size = self.sentences.shape[1]
        gone = {*sentences}
        check_skipped(gone, size)
        stay = [i for i in range(size) if i not in gone]
        out = {original_number(self.skipped, i) - 1 for i in gone}
        return replace(
            self,
            sentences=self.sentences[:, stay],
            sentence_parts={name: part[:, stay] for name, part in self.sentence_parts.items()},
            skipped=tuple(sorted(out.union(self.skipped))),
        )

    def without(self, *systems: str) -> Scores:
        """The scores of all systems but these, which are to have no part in anything after it."""
        return self._fewer("without", systems)

    def hide(self, *systems: str) -> Scores:
        """The scores of all systems but these, which had a part in them and are not looked at."""
        return self._fewer("hide", systems)

    def _fewer(self, word: str, systems: Sequence[str]) -> Scores:
        for system in systems:
            self._position(system)
        left = self.select([system for system in self.systems if system not in systems])
        return replace(left, context=(*self.context, *(f"{word}:{name}" for name in systems)))

    def _position(self, system: str) -> int:
        if system not in self.systems:
            raise InputError(
                f"{self.scorer} knows no system {system!r}",
                remedy=f"it has: {', '.join(self.systems)}",
            )
        return self.systems.index(system)

    @property
    def signature(self) -> str:
        """Everything that decided the numbers, in one line."""
        return " | ".join((self.scorer, *self.context))

    def interval(self, confidence: float = 0.95) -> Floats:
        """Percentile bootstrap interval: ``[system, (low, high)]``; NaN without resamples."""
        if self.resampled is None:
            return np.full((len(self), 2), np.nan)
        return percentiles(self.resampled, confidence)

    def p_values(self) -> Floats:
        """Paired bootstrap: ``p[a, b]``, one-sided, small where ``a`` is better than ``b``.

        The share of resamples in which ``a`` does not beat ``b`` (ties count half), with the
        usual +1 so that no p is 0 (Koehn 2004; Davison & Hinkley 1997). Resamples in which one of
        them has no score are left out.
        """
        if self.resampled is None:
            return np.full((len(self), len(self)), np.nan)
        n, drawn = len(self), merge_ties(self.resampled)
        worse, known = np.zeros((n, n)), np.zeros((n, n))
        step = max(1, BLOCK // max(1, n * n))
        for start in range(0, len(drawn), step):
            a, b = drawn[start : start + step, :, None], drawn[start : start + step, None, :]
            worse += (a < b).sum(0) + 0.5 * (a == b).sum(0)
            known += (~(np.isnan(a) | np.isnan(b))).sum(0)
        return np.asarray((worse + 1) / (known + 1), np.float64)

    def to_pandas(self, *, by_sentence: bool = False) -> pandas.DataFrame:
        """The table of the scores, best first, as a data frame; or a row for every sentence.

        >>> scores = Scores("m2()", ("A", "B"), np.array([0.3, 0.4]))
        >>> scores.to_pandas()[["rank", "system", "score"]].values.tolist()
        [[1, 'B', 0.4], [2, 'A', 0.3]]
        """
        import errata

        frame: pandas.DataFrame = errata._display(self, "pandas", by_sentence=by_sentence)
        return frame

    def to_polars(self, *, by_sentence: bool = False) -> polars.DataFrame:
        """The same as a frame of polars."""
        import errata

        frame: polars.DataFrame = errata._display(self, "polars", by_sentence=by_sentence)
        return frame

    def _repr_html_(self) -> str:
        """What a notebook shows: the table of a report."""
        import errata

        return str(errata._display(self, "html"))


def short_names(scorers: Sequence[Scores]) -> tuple[str, ...]:
    """Names for headings: bare where that is enough, then labels, then whole signatures.

    Bare is what the label begins with: ``errant`` without ERRANT's edits is labelled ``edits``.

    >>> short_names([Scores("m2(beta=1)", (), np.zeros(0), name="m2"),
    ...              Scores("gleu()", (), np.zeros(0), name="gleu")])
    ('m2', 'gleu')
    """
    spellings = [
        [
            scores.name if scores.label.startswith(scores.name) else scores.label.partition("(")[0]
            for scores in scorers
        ],
        [scores.label for scores in scorers],
        [scores.scorer for scores in scorers],
    ]
    return tuple(
        next((names[i] for names in spellings if names.count(names[i]) == 1), spellings[-1][i])
        for i in range(len(scorers))
    )
