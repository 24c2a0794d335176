"""Two systems on the same sentences: how far apart they are, how surely, and whether by chance.

Every figure is a function of statistics summed over sentences, so that one pass over resamples
gives the paired bootstrap of all figures, and one pass over swaps their approximate randomisation.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TypeVar

import numpy as np

from errata.core import stats
from errata.core.stats import Bools, Estimate, Floats, Interval, Progress, Seed

PairKey = TypeVar("PairKey", bound=Hashable)
FiguresOf = Callable[[Floats], Mapping[str, Floats]]
ROUNDING = 1e-12  # relative; equal sums in another order may differ by so much


@dataclass(frozen=True)
class Difference:
    """One figure of an old and a new system, and their difference.

    ``difference`` is new minus old with its paired-bootstrap interval; ``p`` is that of approximate
    randomisation, two-sided, ``p_holm`` the same after Holm's correction over the figures it was
    tested with. ``old_interval`` and ``new_interval`` come from the same resamples. What was not
    drawn is NaN. ``lower_is_better`` says which way is up: of false alarms, fewer are better;
    ``share`` that the figure is between 0 and 1, ``percent`` that it is shown in percent.
    """

    label: str
    signature: str
    old: float
    new: float
    difference: Estimate
    p: float
    p_holm: float
    old_interval: Interval = Interval(np.nan, np.nan)  # noqa: RUF009  # a tuple never changes
    new_interval: Interval = Interval(np.nan, np.nan)  # noqa: RUF009
    lower_is_better: bool = False
    share: bool = False
    percent: bool = False


@dataclass(frozen=True, eq=False)
class TwoSystems:
    """Statistics ``[sentence, k]`` of an old and a new system, and the figures of their sums.

    ``drawn`` are the figures of a resample where they are not ``figures``: NaN where it has nothing
    to compute them of. A rare kind is missing from many resamples, and by convention its recall
    would be 1 there, which is no news of the system.
    """

    figures: FiguresOf
    old: Floats
    new: Floats
    drawn: FiguresOf | None = None

    @property
    def changed_count(self) -> int:
        """Return how many sentences have other statistics in the new system."""
        return int((self.old != self.new).any(axis=1).sum())


def draw_swaps(sentences: int, trials: int, rng: Seed) -> Iterator[Bools]:
    """Yield which sentences the systems swap in each trial, ``[trial, sentence]``, in blocks.

    The blocks together are what ``default_rng(seed).integers(2, size=(trials, sentences),
    dtype=bool)`` gives, which is what sacrebleu draws.

    >>> [block.shape for block in draw_swaps(3, 10, 0)]
    [(10, 3)]
    """
    generator = np.random.default_rng(rng)
    # A block of whole words of random bits: a bit left over would be lost between two blocks.
    step = max(32, stats.BLOCK // max(1, sentences) // 32 * 32)
    for start in range(0, trials, step):
        yield generator.integers(2, size=(min(step, trials - start), sentences), dtype=bool)


def swap_p_values(
    pairs: Mapping[PairKey, TwoSystems],
    sentences: int,
    *,
    trials: int,
    rng: Seed = 0,
    progress: Progress | None = None,
) -> dict[PairKey, dict[str, float]]:
    """Return two-sided p-values by approximate randomisation, of every figure of every pair.

    Under the null hypothesis the two systems are exchangeable on every sentence. In each trial a
    coin for every sentence decides whether they swap its statistics, with the references that were
    chosen for the two outputs; the figures are computed of the new sums. ``p = (1 + hits) / (1 +
    trials)``, where a hit is a trial whose difference is at least as large as the one observed, up
    to sign (Noreen 1989; Riezler & Maxwell 2005). The same coins serve all figures. sacrebleu
    counts larger differences only, so that a system against itself is significant there; here that
    has p = 1, and elsewhere the two are the same unless a swap meets the difference exactly.
    """
    # What a swap carries over in each sentence, all pairs side by side, where it is anything.
    moved = np.concatenate([pair.new - pair.old for pair in pairs.values()], axis=1)
    rows = np.flatnonzero(moved.any(axis=1))
    moved, place = _distinct_columns(moved[rows])
    # Whole numbers that add up to less than 2 ** 24 do so in half the time, and as exactly. Of two
    # references some metrics count halves or quarters.
    units = np.where((moved == np.rint(moved)).all(axis=0), 1.0, 4.0)
    moved *= units
    whole = (moved == np.rint(moved)).all(axis=0) & (np.abs(moved).sum(axis=0) < 2**24)
    counts = moved[:, whole].astype(np.float32)
    others = moved[:, ~whole]
    sums = {key: (pair.old.sum(axis=0), pair.new.sum(axis=0)) for key, pair in pairs.items()}
    observed = {key: _figure_gaps(pair.figures, *sums[key]) for key, pair in pairs.items()}
    hits = {key: dict.fromkeys(gaps, 0) for key, gaps in observed.items()}
    done = 0
    for block in draw_swaps(sentences, trials, rng):
        swapped = block[:, rows]
        moves = np.empty((len(block), moved.shape[1]))
        moves[:, whole] = swapped.astype(np.float32) @ counts
        if others.shape[1]:
            moves[:, ~whole] = swapped.astype(np.float64) @ others
        carried_of = np.split((moves / units)[:, place], _pair_bounds(pairs), axis=1)
        for (key, pair), carried in zip(pairs.items(), carried_of, strict=True):
            old, new = sums[key]
            for name, (gap, size) in _figure_gaps(
                pair.figures, old + carried, new - carried
            ).items():
                least = np.abs(observed[key][name][0]) - ROUNDING * np.maximum(1.0, size)
                hits[key][name] += int((np.abs(gap) >= least).sum())
        done += len(block)
        if progress is not None:
            progress(done, trials)
    return {
        key: {
            name: (1 + hits[key][name]) / (1 + trials) if trials and gap == gap else float("nan")
            for name, (gap, _) in gaps.items()
        }
        for key, gaps in observed.items()
    }


def _distinct_columns(table: Floats) -> tuple[Floats, list[int]]:
    """Return the columns of a table, each once, and which of them stands at each place.

    Kinds share many: the words of a sentence, what annotators ask for, and columns of zeros.
    """
    known: dict[bytes, int] = {}
    place = [known.setdefault(column.tobytes(), len(known)) for column in table.T]
    return np.stack([np.frombuffer(column) for column in known], axis=1), place


def _pair_bounds(pairs: Mapping[PairKey, TwoSystems]) -> list[int]:
    """Return where the statistics of each pair but the last end in the row of all statistics."""
    return [*accumulate(pair.old.shape[1] for pair in pairs.values())][:-1]


def _figure_gaps(figures: FiguresOf, old: Floats, new: Floats) -> dict[str, tuple[Floats, Floats]]:
    """Return new minus old of every figure, and how large the figures are."""
    before, after = figures(old), figures(new)
    return {
        name: (after[name] - before[name], np.maximum(np.abs(before[name]), np.abs(after[name])))
        for name in before
    }


def paired_differences(
    pairs: Mapping[PairKey, TwoSystems],
    weights: Callable[[], Iterable[Floats]],
    p_values: Mapping[PairKey, Mapping[str, float]],
    *,
    resamples: int,
    confidence: float,
    signature: str = "",
) -> dict[PairKey, dict[str, Difference]]:
    """Return the difference of every figure of every pair, with bootstrap intervals.

    The sentences of a resample are the same for both systems and all figures (Koehn 2004).
    Resamples that have nothing to compute a figure of are left out of its interval. ``weights``
    gives the same ones whenever it is called: many figures of many resamples would not fit at once.
    """
    found: dict[PairKey, dict[str, Difference]] = {}
    for some in _group_pairs(pairs, max(1, stats.BLOCK // max(1, resamples))):
        drawn = _resample_figures(some, weights() if resamples else ())
        for key, pair in some.items():
            before, after = pair.figures(pair.old.sum(axis=0)), pair.figures(pair.new.sum(axis=0))
            found[key] = {
                name: make_difference(
                    name,
                    signature,
                    float(before[name]),
                    float(after[name]),
                    drawn.pop((key, name), []),
                    p_values[key][name],
                    confidence=confidence,
                )
                for name in before
            }
    return found


def _group_pairs(
    pairs: Mapping[PairKey, TwoSystems], figures: int
) -> Iterator[dict[PairKey, TwoSystems]]:
    """Yield pairs in groups of about ``figures`` figures."""
    group: dict[PairKey, TwoSystems] = {}
    held = 0
    for key, pair in pairs.items():
        group[key] = pair
        held += len(pair.figures(pair.old.sum(axis=0)))
        if held >= figures:
            yield group
            group, held = {}, 0
    if group:
        yield group


def _resample_figures(
    pairs: Mapping[PairKey, TwoSystems], weights: Iterable[Floats]
) -> dict[tuple[PairKey, str], list[tuple[Floats, Floats]]]:
    """Return old and new of every figure in the resamples, in blocks."""
    drawn: dict[tuple[PairKey, str], list[tuple[Floats, Floats]]] = {}
    both = [*(pair.old for pair in pairs.values()), *(pair.new for pair in pairs.values())]
    every, place = _distinct_columns(np.concatenate(both, axis=1))
    step = max(1, stats.BLOCK // max(1, len(place) // 2))
    for block in (each[i : i + step] for each in weights for i in range(0, len(each), step)):
        old_and_new = np.split((block @ every)[:, place], 2, axis=1)
        olds, news = (np.split(side, _pair_bounds(pairs), axis=1) for side in old_and_new)
        for (key, pair), was, now in zip(pairs.items(), olds, news, strict=True):
            figures = pair.drawn or pair.figures
            old, new = figures(was), figures(now)
            for name in old:
                drawn.setdefault((key, name), []).append((old[name], new[name]))
    return drawn


def make_difference(
    label: str,
    signature: str,
    old: float,
    new: float,
    drawn: Sequence[tuple[Floats, Floats]],
    p: float,
    *,
    confidence: float,
) -> Difference:
    """Return the difference of two values, with resamples (old and new, in blocks) and p."""
    ends = [(np.nan, np.nan)] * 3
    if drawn:
        sides = []
        for blocks, value in zip(zip(*drawn, strict=True), (old, new), strict=True):
            some = np.concatenate(blocks)
            # Where no resample has the figure, it is what convention gives.
            sides.append(np.full_like(some, value) if np.isnan(some).all() else some)
        before, after = sides
        ends = [stats.percentiles(s, confidence).tolist() for s in (after - before, before, after)]
    low, mine, theirs = ends
    return Difference(
        label,
        signature,
        old,
        new,
        Estimate(new - old, *low),
        p,
        p,
        Interval(*mine),
        Interval(*theirs),
    )


def holm_adjusted(several: Sequence[Difference]) -> tuple[Difference, ...]:
    """Return the differences with Holm's correction of p-values over all of them."""
    adjusted = stats.holm([each.p for each in several]).tolist()
    return tuple(replace(each, p_holm=p) for each, p in zip(several, adjusted, strict=True))
