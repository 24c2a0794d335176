"""Bradley–Terry strengths with ties: the order of the judgments plays no part, nothing is drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from errata.core.errors import InputError
from errata.core.parameters import About, parameterised
from errata.core.stats import Floats
from errata.human.comparisons import Counts
from errata.human.ranking import Ranker

STEPS = 100
TOLERANCE = 1e-11
FAR = 30.0  # a log strength beyond this is on its way to infinity
# Of each pair: the log-likelihood, its derivatives by the difference of strengths and by the tie
# parameter, and the second derivatives with the sign turned (difference twice, mixed, tie twice).
Terms = tuple[Floats, Floats, Floats, Floats, Floats, Floats]
Index = NDArray[np.intp]


@parameterised
class BradleyTerry(Ranker):
    """Maximum-likelihood log strengths λ (mean 0): i beats j the more often the larger λi − λj.

    ``ties="davidson"`` (Davidson 1970): win, loss and tie are as ``e^(d/2) : e^(-d/2) : ν`` with
    d = λi − λj. ``"rao_kupper"`` (Rao & Kupper 1967): ``P(i beats j) = 1 / (1 + θ e^-d)``, the
    rest being ties. ``"half"`` counts a tie as half a win for both, ``"ignored"`` leaves ties out
    (Bradley & Terry 1952). ``prior`` is the precision of a normal prior on λ; 0 is none, and then
    a set in which one system never lost (or never won) has no finite answer and is refused.
    """

    name: ClassVar[str] = "bradley_terry"
    about = About(
        paper="Bradley & Terry 1952; Davidson 1970; Rao & Kupper 1967",
        range="any number, mean 0",
        needs=("judgments",),
    )
    ties: Literal["davidson", "rao_kupper", "half", "ignored"] = "davidson"
    prior: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.prior >= 0:
            raise InputError(f"{self.name}: prior={self.prior} is below 0")

    @property
    def headline(self) -> str:
        return "log strength"

    def score(self, counts: Counts) -> Floats:
        return self.solve(counts)[0]

    def figures(self, counts: Counts) -> dict[str, Floats]:
        """The strengths themselves, as shares that sum to one."""
        strength = np.exp(self.score(counts))
        return {"share": strength / strength.sum(-1, keepdims=True)}

    def context(self, counts: Counts) -> tuple[str, ...]:
        if self.ties not in ("davidson", "rao_kupper"):
            return ()
        tie = float(np.exp(self.solve(counts)[1]))
        return (f"{'nu' if self.ties == 'davidson' else 'theta'}:{tie:.4f}",)

    def solve(self, counts: Counts) -> tuple[Floats, Floats]:
        """Log strengths ``[..., n]`` and log tie parameters ``[...]`` (log ν or log θ)."""
        n = counts.wins.shape[-1]
        wins, ties = (table.reshape(-1, n, n) for table in counts)
        if self.ties == "half":
            wins = wins + ties / 2
        if self.ties in ("half", "ignored"):
            ties = np.zeros_like(ties)
        terms = _davidson if self.ties == "davidson" else _rao_kupper
        strength, tie = _newton(wins, ties, terms, self.prior)
        bad = np.asarray(~np.isfinite(strength).all(axis=1))
        if bad.any():
            raise self._unbounded(bad, only_ties=not wins[bad].any(axis=(1, 2)).all())
        return strength.reshape(counts.wins.shape[:-1]), tie.reshape(counts.wins.shape[:-2])

    def _unbounded(self, bad: NDArray[np.bool_], *, only_ties: bool) -> InputError:
        """What to say where there is no finite answer, and what would give one."""
        where = "" if len(bad) == 1 else f" in {bad.sum()} of {len(bad)} resamples"
        if only_ties:
            return InputError(
                f"{self.name}: no finite strengths{where}: nobody beat anybody, so ties have no "
                "finite likelihood",
                remedy=f"count a tie as half a win for both, {self.name}(ties=half)",
            )
        return InputError(
            f"{self.name}: no finite strengths{where}: some systems never lost to, or never "
            "beat, the others",
            remedy=f"give a prior, as in {self.name}(prior=0.1)"
            if not self.prior
            else f"give a larger prior than {self.prior:g}",
        )

    def chances(self, counts: Counts) -> tuple[Floats, Floats]:
        """The model's chances that a beats b, and that they tie: ``[..., a, b]``."""
        strength, tie = self.solve(counts)
        d = strength[..., :, None] - strength[..., None, :]
        eta = tie[..., None, None]
        if self.ties == "davidson":
            total = np.exp(d / 2) + np.exp(-d / 2) + np.exp(eta)
            return np.exp(d / 2) / total, np.exp(eta) / total
        win = _logistic(d - eta)
        return win, 1 - win - _logistic(-d - eta)


def _logistic(x: Floats) -> Floats:
    return 1 / (1 + np.exp(-x))


def _davidson(d: Floats, eta: Floats, wins: Floats, losses: Floats, ties: Floats) -> Terms:
    games = wins + losses + ties
    a, b, t = np.exp(d / 2), np.exp(-d / 2), np.exp(eta)
    total = a + b + t
    p, q, r = a / total, b / total, t / total
    value = (wins - losses) * d / 2 + ties * np.where(ties > 0, eta, 0) - games * np.log(total)
    mean = (p - q) / 2
    return (
        value,
        (wins - losses) / 2 - games * mean,
        ties - games * r,
        games * ((p + q) / 4 - mean**2),
        -games * r * mean,
        games * r * (1 - r),
    )


def _rao_kupper(d: Floats, eta: Floats, wins: Floats, losses: Floats, ties: Floats) -> Terms:
    w, k = wins + ties, losses + ties
    p, q = _logistic(d - eta), _logistic(-d - eta)
    grown = np.expm1(2 * eta)
    tied = ties > 0
    safe = np.where(tied, grown, 1.0)
    value = (
        -w * np.logaddexp(0, eta - d)
        - k * np.logaddexp(0, eta + d)
        + np.where(tied, ties * np.log(safe), 0)
    )
    push = np.where(tied, 2 * ties * (grown + 1) / safe, 0)
    bend = np.where(tied, 4 * ties * (grown + 1) / safe**2, 0)
    return (
        value,
        w * (1 - p) - k * (1 - q),
        push - w * (1 - p) - k * (1 - q),
        w * p * (1 - p) + k * q * (1 - q),
        k * q * (1 - q) - w * p * (1 - p),
        w * p * (1 - p) + k * q * (1 - q) + bend,
    )


def _newton(
    wins: Floats, ties: Floats, terms: Callable[..., Terms], prior: float
) -> tuple[Floats, Floats]:
    """Newton's method with step halving, for a batch; NaN where the answer is not finite."""
    batch, n = wins.shape[:2]
    i, j = np.triu_indices(n, 1)
    data = wins[:, i, j], wins[:, j, i], ties[:, i, j]
    free = ties.sum((1, 2)) > 0  # without ties their parameter stays where it has no effect
    none = -np.inf if terms is _davidson else 0.0
    x = np.concatenate([np.zeros((batch, n)), np.where(free, 0.5, none)[:, None]], axis=1)
    todo = np.arange(batch)
    for _ in range(STEPS):
        part = tuple(column[todo] for column in data)
        step, value = _newton_step(x[todo], part, terms, prior, free[todo], i, j)
        x[todo] += _halve_step(x[todo], step, value, part, terms, prior, i, j)
        todo = todo[np.abs(step).max(axis=1) > TOLERANCE]
        if not len(todo):
            break
    far = np.abs(x[:, :n]).max(axis=1) > FAR
    far[todo] = True
    x[far] = np.nan
    return x[:, :n], x[:, n]


def _objective(
    x: Floats,
    data: tuple[Floats, ...],
    terms: Callable[..., Terms],
    prior: float,
    i: Index,
    j: Index,
) -> Floats:
    value = terms(x[:, i] - x[:, j], x[:, -1:], *data)[0].sum(axis=1)
    result: Floats = value - prior / 2 * (x[:, :-1] ** 2).sum(axis=1)
    return result


def _newton_step(
    x: Floats,
    data: tuple[Floats, ...],
    terms: Callable[..., Terms],
    prior: float,
    free: NDArray[np.bool_],
    i: Index,
    j: Index,
) -> tuple[Floats, Floats]:
    """Newton's step, at most 2 in any direction, and the value where it starts."""
    batch, n = len(x), x.shape[1] - 1
    value, by_d, by_t, dd, dt, tt = terms(x[:, i] - x[:, j], x[:, -1:], *data)
    gradient = np.zeros_like(x)
    curve = np.zeros((batch, n + 1, n + 1))
    rows = np.arange(batch)[:, None]
    for a, sign in ((i, 1.0), (j, -1.0)):
        np.add.at(gradient, (rows, a[None]), sign * by_d)
        np.add.at(curve, (rows, a[None], a[None]), dd)
        np.add.at(curve, (rows, a[None], np.full_like(a, n)[None]), sign * dt)
    np.add.at(curve, (rows, i[None], j[None]), -dd)
    curve[:, j, i] = curve[:, i, j]
    curve[:, n, :n] = curve[:, :n, n]
    curve[:, n, n] = tt.sum(axis=1)
    gradient[:, n] = by_t.sum(axis=1)
    gradient[:, :n] -= prior * x[:, :n]
    curve[:, range(n), range(n)] += prior
    # Only differences of strengths matter: this keeps their mean where it is.
    curve[:, :n, :n] += (
        np.maximum(1.0, np.abs(curve[:, range(n), range(n)]).mean(1))[:, None, None] / n
    )
    stuck = ~free
    curve[stuck, n, :] = curve[stuck, :, n] = gradient[stuck, n] = 0
    curve[stuck, n, n] = 1
    curve[:, range(n + 1), range(n + 1)] += 1e-12
    step = np.linalg.solve(curve, gradient[..., None])[..., 0]
    largest = np.abs(step).max(axis=1, keepdims=True)
    penalty = prior / 2 * (x[:, :-1] ** 2).sum(axis=1)
    return step * np.minimum(1, 2 / np.maximum(largest, 1e-300)), value.sum(axis=1) - penalty


def _halve_step(
    x: Floats,
    step: Floats,
    value: Floats,
    data: tuple[Floats, ...],
    terms: Callable[..., Terms],
    prior: float,
    i: Index,
    j: Index,
) -> Floats:
    """The step, halved until it does not lead downhill (nor the tie parameter below its bound)."""
    step = step.copy()
    for _ in range(40):
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            new = _objective(x + step, data, terms, prior, i, j)
        worse = ~(new >= value - 1e-9 * np.abs(value) - 1e-12)
        if not worse.any():
            break
        step[worse] /= 2
    return step
