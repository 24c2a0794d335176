"""TrueSkill as the WMT runs it, and the limit that its random runs scatter around."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from errata.core.errors import InputError
from errata.core.parallel import chunks, parallel_map
from errata.core.parameters import About, parameterised
from errata.core.stats import Floats, Progress, Seed
from errata.human.bootstrap import Draw
from errata.human.comparisons import Comparisons, Counts
from errata.human.ranking import Ranker

# By how much the limit is off, measured: about 15 / comparisons, and .001 where it is not given.
OFF = 15.0
ENOUGH = 10_000
LARGEST = 1e6  # of the settings; one over it is the smallest
MOST_RUNS = 10_000_000
MOST_STEPS = 1_000_000


class Shares(NamedTuple):
    """Per pair the shares of comparisons won and tied, which pairs met, and the settings."""

    win: Floats
    tie: Floats
    met: NDArray[np.uint8]
    games: Floats
    beta: Floats
    margin: Floats


@parameterised
class _WMT(Ranker):
    """The parameters of Sakaguchi, Post & Van Durme (2014), as their released script sets them.

    A game draws the system with the largest variance, an opponent with probability proportional
    to ``exp(-|difference of means|)`` and one comparison of that pair at random. N comparisons
    make N + 1 games. ``sigma`` is the first standard deviation; ``beta=None`` stands for
    ``sigma * games / spread`` (spread = 40), which grows with the data: 1363.7 for 109,099 games.
    """

    sigma: float = 0.5
    tau: float = 0.0
    draw_probability: float = 0.25
    beta: float | None = None
    spread: float = 40.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (
            self.sigma > 0
            and self.tau >= 0
            and 0 < self.draw_probability < 1
            and self.spread > 0
            and (self.beta is None or self.beta > 0)
        ):
            raise InputError(
                f"{self.name}: sigma, spread and beta are above 0, tau is not below "
                "0, draw_probability is between 0 and 1"
            )
        for name in ("sigma", "spread", "beta"):
            value = getattr(self, name)
            if value is not None and not 1 / LARGEST <= value <= LARGEST:
                raise InputError(
                    f"{self.name}: {name}={value:g} must lie between {1 / LARGEST:g} and "
                    f"{LARGEST:g}: beyond, no scores come out"
                )
        if self.tau > LARGEST:
            raise InputError(f"{self.name}: tau={self.tau:g} must not be above {LARGEST:g}")
        if isinstance(self.beta, int):
            object.__setattr__(self, "beta", float(self.beta))

    @property
    def headline(self) -> str:
        return "TrueSkill"

    def _win_shares(self, counts: Counts) -> Shares:
        from scipy.special import ndtri

        n = counts.wins.shape[-1]
        wins, ties = (np.reshape(table, (-1, n, n)) for table in counts)
        total = wins + wins.swapaxes(1, 2) + ties
        met = total > 0
        total[~met] = 1
        games = np.floor(wins.sum((1, 2)) + ties.sum((1, 2)) / 2) + 1
        beta = (
            np.full(len(games), self.beta)
            if self.beta is not None
            else self.sigma * games / self.spread
        )
        margin = ndtri((self.draw_probability + 1) / 2) * np.sqrt(2) * beta
        return Shares(
            np.ascontiguousarray(wins / total),
            np.ascontiguousarray(ties / total),
            np.ascontiguousarray(met, np.uint8),
            games,
            beta,
            margin,
        )


@parameterised
class TrueSkillMeanField(_WMT):
    """What TrueSkill's runs scatter around: opponents and outcomes replaced by expectations.

    The games are shared out among the systems as the matchmaker does (always to the largest
    variance) in ``steps`` portions, and the result is extrapolated from ``steps`` and half as
    many (Richardson), which leaves an error of about 1e-5 on the published data.

    It is a limit: with few comparisons a run moves far enough for expectations not to be the mean
    of runs. Against the mean of up to 100,000 runs on parts of the published judgments the worst of
    13 scores was off by .028 at 500 comparisons, .011 at 1,000, .0065 at 2,000 (.0056 in another
    part, .003 to .005 in further ones), .002 at 5,000 and .001 from 10,000 on, which is about
    ``15 / comparisons``; a note says so below 10,000.
    """

    name: ClassVar[str] = "trueskill_meanfield"
    about = About(
        paper="Sakaguchi, Post & Van Durme 2014, its expectation",
        range="any number",
        needs=("judgments",),
    )
    steps: int = 100

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 2 <= self.steps <= MOST_STEPS or self.steps % 2:
            raise InputError(
                f"{self.name}: steps={self.steps} should be even, at least 2 and at most "
                f"{MOST_STEPS:,}"
            )

    def notes(self, counts: Counts) -> tuple[str, ...]:
        games = counts.total
        if games >= ENOUGH:
            return ()
        return (
            f"{self.name} is the limit of many comparisons; with {games:.0f} of them it may differ "
            f"from the mean of trueskill's runs by about {min(0.05, OFF / games):.1g}",
        )

    def score(self, counts: Counts) -> Floats:
        shape = counts.wins.shape[:-1]
        return self.solve(self._win_shares(counts), 1).reshape(shape)

    def resampled(self, comparisons: Comparisons, draw: Draw) -> Floats:
        found: list[Floats] = []
        for counts in draw.counts(comparisons):
            before = sum(map(len, found))

            def progress(done: int, _: int, before: int = before) -> None:
                if draw.progress is not None:
                    draw.progress(before + done, draw.resamples)

            found.append(self.solve(self._win_shares(counts), draw.threads, progress))
        return np.concatenate(found)

    def solve(
        self, shares: Shares, threads: int | None = None, progress: Progress | None = None
    ) -> Floats:
        """The limit for a batch of data sets, in threads."""
        from errata.kernels import trueskill as kernel

        n = shares.win.shape[1]

        def run(part: slice) -> Floats:
            means = [np.zeros((part.stop - part.start, n)) for _ in range(2)]
            for steps, into in zip((self.steps, self.steps // 2), means, strict=True):
                kernel.mean_field(
                    shares.win[part],
                    shares.tie[part],
                    shares.met[part],
                    shares.games[part],
                    steps,
                    self.sigma,
                    shares.beta[part],
                    shares.margin[part],
                    self.tau,
                    into,
                )
            return 2 * means[0] - means[1]

        return np.concatenate(_map_chunks(run, len(shares.games), threads, progress))


@parameterised
class TrueSkill(_WMT):
    """TrueSkill by the WMT procedure: the mean over sampled ``runs``.

    With ``unit="pairs"`` the runs themselves are the resamples, as published: a run draws single
    comparisons with replacement. Other units are resampled whole and each resample is scored by
    the mean-field limit, since sampled games would add the noise of single comparisons again.
    """

    name: ClassVar[str] = "trueskill"
    about = About(
        paper="Herbrich et al. 2006; Sakaguchi, Post & Van Durme 2014",
        range="any number",
        needs=("judgments",),
    )
    runs: int = 1000

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.runs <= MOST_RUNS:
            raise InputError(
                f"{self.name}: runs={self.runs} should be at least 1 and at most {MOST_RUNS:,}"
            )

    def score(self, counts: Counts) -> Floats:
        """The mean over runs seeded with 0; `rank` seeds them with its own ``rng``."""
        n = counts.wins.shape[-1]
        each = [
            self.play(Counts(wins, ties)).mean(axis=0)
            for wins, ties in zip(
                counts.wins.reshape(-1, n, n), counts.ties.reshape(-1, n, n), strict=True
            )
        ]
        return np.array(each).reshape(counts.wins.shape[:-1])

    def resampled(self, comparisons: Comparisons, draw: Draw) -> Floats:
        """The runs, which are resamples of pairs; how many are drawn ``runs`` says."""
        return self.play(comparisons.counts(), draw.rng, draw.threads, draw.progress)

    @property
    def stand_in(self) -> TrueSkillMeanField:
        """What these runs scatter around."""
        return TrueSkillMeanField(
            sigma=self.sigma,
            tau=self.tau,
            beta=self.beta,
            draw_probability=self.draw_probability,
            spread=self.spread,
        )

    def play(
        self,
        counts: Counts,
        rng: Seed = 0,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Floats:
        """The means after each sampled run, ``[run, system]``, whatever the number of threads."""
        from errata.kernels import trueskill as kernel

        shares = self._win_shares(counts)
        n = len(counts.wins)
        seeds = np.random.default_rng(rng).integers(0, 2**64, self.runs, np.uint64)

        def run(part: slice) -> Floats:
            means, variances = (np.zeros((part.stop - part.start, n)) for _ in range(2))
            kernel.play_runs(
                shares.win[0],
                shares.tie[0],
                shares.met[0],
                seeds[part],
                int(shares.games[0]),
                self.sigma,
                float(shares.beta[0]),
                float(shares.margin[0]),
                self.tau,
                means,
                variances,
            )
            return means

        return np.concatenate(_map_chunks(run, self.runs, threads, progress))


def _map_chunks(
    run: Callable[[slice], Floats], jobs: int, threads: int | None, progress: Progress | None
) -> list[Floats]:
    """Call ``run`` with consecutive chunks of ``range(jobs)``, several at a time, in order."""
    workers = min(threads or os.cpu_count() or 1, jobs)
    step = max(1, min(25, jobs // (4 * workers)))  # small: none waits long for the slowest
    return parallel_map(
        run,
        chunks(jobs, step),
        threads=threads,
        progress=progress,
        size=lambda part: int(part.stop - part.start),
    )
