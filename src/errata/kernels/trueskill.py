"""TrueSkill for two players: the update, sampled runs of the WMT procedure, and their limit.

The randomness is SplitMix64 in integer arithmetic, one seed a run, so that compiled and plain
Python give the same numbers on any number of threads.
"""

import cython
import numpy as np
from cython.cimports.libc.math import erfc, exp, fabs, sqrt

from errata.kernels._doors import shaped

# SplitMix64: the step of its state, the factors that mix it, and 2 ** -53. The large ones are not
# const: as such they would be written in decimal, which C compilers warn of.
GAMMA = cython.declare(cython.ulonglong, 0x9E3779B97F4A7C15)
MIX_1 = cython.declare(cython.ulonglong, 0xBF58476D1CE4E5B9)
MIX_2 = cython.declare(cython.ulonglong, 0x94D049BB133111EB)
MASK = cython.declare(cython.ulonglong, 0xFFFFFFFFFFFFFFFF)
UNIT = cython.declare(cython.const_double, 1.0 / 9007199254740992.0)

ROOT_HALF = cython.declare(cython.const_double, 0.7071067811865476)
DENSITY = cython.declare(cython.const_double, 0.3989422804014327)  # 1 / sqrt(2 pi)


@cython.cclass
class _League:
    """The systems, the games they play, and room for one run or for the limit."""

    n: cython.Py_ssize_t
    mean: cython.double[::1]
    variance: cython.double[::1]
    beta: cython.double
    margin: cython.double
    tau: cython.double
    # v and w of the last draw, and v of a win and of a loss at its place
    v: cython.double
    w: cython.double
    v_win: cython.double
    v_loss: cython.double
    # shares of wins and ties of each pair, and which pairs have met
    win: cython.double[:, ::1]
    tie: cython.double[:, ::1]
    met: cython.uchar[:, ::1]
    # a run: which systems have met any, exp(mean) and exp(-mean), summed chances of opponents, and
    # the state of the random numbers
    active: cython.uchar[::1]
    grown: cython.double[::1]
    shrunk: cython.double[::1]
    weight: cython.double[::1]
    state: cython.ulonglong
    # the limit: chances of opponents, what a game changes, games started, and what follows
    chance: cython.double[:, ::1]
    gain: cython.double[:, ::1]
    loss: cython.double[:, ::1]
    slope: cython.double[::1]
    starts: cython.double[::1]
    order: cython.Py_ssize_t[::1]
    change: cython.double[:, ::1]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _uniform(league: _League) -> cython.double:
    """The next number in [0, 1) of SplitMix64 (Steele, Lea & Flood 2014)."""
    z: cython.ulonglong = (league.state + GAMMA) & MASK
    league.state = z
    z = ((z ^ (z >> 30)) * MIX_1) & MASK
    z = ((z ^ (z >> 27)) * MIX_2) & MASK
    z = z ^ (z >> 31)
    return cython.cast(cython.double, z >> 11) * UNIT


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _pdf(x: cython.double) -> cython.double:
    return DENSITY * exp(-0.5 * x * x)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _cdf(x: cython.double) -> cython.double:
    return 0.5 * erfc(-x * ROOT_HALF)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _v_win(x: cython.double) -> cython.double:
    """The mean shift of a normal truncated to the winner's side; x = (difference - margin) / c."""
    below: cython.double = _cdf(x)
    if below < 1e-300:  # far out the ratio tends to -x
        return -x
    return _pdf(x) / below


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _draw(league: _League, t: cython.double, margin: cython.double) -> cython.void:
    """v and w of a draw, into ``league``; t = difference / c, margin likewise."""
    size: cython.double = fabs(t)
    a: cython.double = margin - size
    b: cython.double = -margin - size
    mass: cython.double = _cdf(a) - _cdf(b)
    v: cython.double
    if mass < 1e-300:
        v = a
        league.w = 1.0
    else:
        v = (_pdf(b) - _pdf(a)) / mass
        league.w = v * v + (a * _pdf(a) - b * _pdf(b)) / mass
    league.v = -v if t < 0 else v


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _outcomes(league: _League, t: cython.double, margin: cython.double) -> cython.void:
    """v and w of a draw, and v of a win and of a loss.

    To the last bit what `_draw(t)`, `_v_win(t - margin)` and `_v_win(-t - margin)` give, which
    ask for the same tails: a win of the favourite is at -a, a win of the other at b.
    """
    size: cython.double = fabs(t)
    a: cython.double = margin - size
    b: cython.double = -margin - size
    top: cython.double = _pdf(a)
    bottom: cython.double = _pdf(b)
    below: cython.double = _cdf(b)
    upper: cython.double = _cdf(-a)
    mass: cython.double = _cdf(a) - below
    v: cython.double
    favourite: cython.double = a if upper < 1e-300 else top / upper
    other: cython.double = -b if below < 1e-300 else bottom / below
    if mass < 1e-300:
        v = a
        league.w = 1.0
    else:
        v = (bottom - top) / mass
        league.w = v * v + (a * top - b * bottom) / mass
    if t < 0:
        league.v = -v
        league.v_win = other
        league.v_loss = favourite
    else:
        league.v = v
        league.v_win = favourite
        league.v_loss = other


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _play(
    league: _League, a: cython.Py_ssize_t, b: cython.Py_ssize_t, outcome: cython.int
) -> cython.void:
    """One game: outcome 1 (a wins), 0 (draw) or -1 (b wins)."""
    beta: cython.double = league.beta
    margin: cython.double = league.margin
    tau: cython.double = league.tau
    va: cython.double = league.variance[a] + tau * tau
    vb: cython.double = league.variance[b] + tau * tau
    c2: cython.double = 2 * beta * beta + va + vb
    c: cython.double = sqrt(c2)
    t: cython.double = (league.mean[a] - league.mean[b]) / c
    v: cython.double
    w: cython.double
    if outcome == 0:
        _draw(league, t, margin / c)
        v = league.v
        w = league.w
    elif outcome > 0:
        t = t - margin / c
        v = _v_win(t)
        w = v * (v + t)
    else:
        t = -t - margin / c
        v = _v_win(t)
        w = v * (v + t)
        v = -v
    league.mean[a] += va / c * v
    league.mean[b] -= vb / c * v
    league.variance[a] = va * (1 - va / c2 * w)
    league.variance[b] = vb * (1 - vb / c2 * w)


def rate(
    mean_a: cython.double,
    variance_a: cython.double,
    mean_b: cython.double,
    variance_b: cython.double,
    outcome: cython.int,
    beta: cython.double,
    margin: cython.double,
    tau: cython.double = 0.0,
):
    """Means and variances of two players after one game (1: a won, 0: draw, -1: b won)."""
    mean = np.array([mean_a, mean_b])
    variance = np.array([variance_a, variance_b])
    league: _League = _League()
    league.mean, league.variance = mean, variance
    league.beta, league.margin, league.tau = beta, margin, tau
    _play(league, 0, 1, outcome)
    return float(mean[0]), float(variance[0]), float(mean[1]), float(variance[1])


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _most_uncertain(league: _League) -> cython.Py_ssize_t:
    """The system with the largest variance; equal ones are drawn from, names have no say."""
    i: cython.Py_ssize_t
    best: cython.Py_ssize_t = -1
    largest: cython.double = -1
    equal: cython.int = 0
    for i in range(league.n):
        if not league.active[i]:
            continue
        if league.variance[i] > largest:
            best = i
            largest = league.variance[i]
            equal = 1
        elif league.variance[i] == largest:
            equal += 1
            if _uniform(league) * equal < 1:
                best = i
    return best


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _one_run(league: _League, games: cython.longlong) -> cython.void:
    """Play so many games: the most uncertain system against one of about its strength."""
    win: cython.double[:, ::1] = league.win
    tie: cython.double[:, ::1] = league.tie
    met: cython.uchar[:, ::1] = league.met
    mean: cython.double[::1] = league.mean
    grown: cython.double[::1] = league.grown
    shrunk: cython.double[::1] = league.shrunk
    weight: cython.double[::1] = league.weight
    n: cython.Py_ssize_t = league.n
    _game: cython.longlong
    a: cython.Py_ssize_t
    b: cython.Py_ssize_t
    j: cython.Py_ssize_t
    total: cython.double
    u: cython.double
    outcome: cython.int
    for j in range(n):
        grown[j] = exp(mean[j])
        shrunk[j] = 1 / grown[j]
    for _game in range(games):
        a = _most_uncertain(league)
        if a < 0:  # nobody has met anybody, or no variance is a number
            return
        total = 0
        for j in range(n):
            # exp(-|mean_a - mean_j|), from exponentials kept up to date: two new ones a game.
            if not met[a, j]:
                u = 0
            elif grown[j] > grown[a]:
                u = grown[a] * shrunk[j]
            else:
                u = grown[j] * shrunk[a]
            total += u
            weight[j] = total
        u = _uniform(league) * total
        b = 0
        while weight[b] <= u and b < n - 1:
            b += 1
        u = _uniform(league)
        if u < win[a, b]:
            outcome = 1
        elif u < win[a, b] + tie[a, b]:
            outcome = 0
        else:
            outcome = -1
        _play(league, a, b, outcome)
        grown[a] = exp(mean[a])
        grown[b] = exp(mean[b])
        shrunk[a] = 1 / grown[a]
        shrunk[b] = 1 / grown[b]


def play_runs(
    win: cython.double[:, ::1],
    tie: cython.double[:, ::1],
    met: cython.uchar[:, ::1],
    seeds: cython.ulonglong[::1],
    games: cython.longlong,
    sigma: cython.double,
    beta: cython.double,
    margin: cython.double,
    tau: cython.double,
    means: cython.double[:, ::1],
    variances: cython.double[:, ::1],
):
    """Sampled runs, one a seed, into ``means[run, system]`` and ``variances``.

    ``win[a, b]`` and ``tie[a, b]`` are the shares of the pair's comparisons, ``met`` which pairs
    have any. All runs are played without the interpreter's lock.
    """
    shaped("win", win, len(win), len(win))
    shaped("tie", tie, len(win), len(win))
    shaped("met", met, len(win), len(win))
    shaped("means", means, -1, len(win))
    shaped("variances", variances, len(means), len(win))
    shaped("seeds", seeds, len(means))
    n: cython.Py_ssize_t = win.shape[0]
    r: cython.Py_ssize_t
    i: cython.Py_ssize_t
    league: _League = _League()
    league.n = n
    league.win, league.tie, league.met = win, tie, met
    league.beta, league.margin, league.tau = beta, margin, tau
    league.active = np.asarray(met).any(axis=1).astype(np.uint8)
    league.grown, league.shrunk, league.weight = np.zeros((3, n))
    if not cython.compiled:  # plain integers: NumPy's would overflow
        seeds = seeds.tolist()
    with cython.nogil:
        for r in range(means.shape[0]):
            league.state = seeds[r]
            league.mean = means[r]
            league.variance = variances[r]
            for i in range(n):
                means[r, i] = 0
                variances[r, i] = sigma * sigma
            _one_run(league, games)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _share_games(league: _League, games: cython.double) -> cython.void:
    """Share out games as the matchmaker does, always to the system with the largest variance.

    ``slope[i]`` is how much one game lowers variance i (0: i does not play). Games go to the
    largest variances until they stand level: ``starts[i] = max(0, (variance[i] - level) / slope)``.
    """
    variance: cython.double[::1] = league.variance
    slope: cython.double[::1] = league.slope
    starts: cython.double[::1] = league.starts
    order: cython.Py_ssize_t[::1] = league.order
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    k: cython.Py_ssize_t
    active: cython.Py_ssize_t = 0
    level: cython.double = 0
    heights: cython.double = 0
    widths: cython.double = 0
    for i in range(league.n):
        starts[i] = 0
        if slope[i] > 0:
            j = active
            while j > 0 and variance[order[j - 1]] < variance[i]:
                order[j] = order[j - 1]
                j -= 1
            order[j] = i
            active += 1
    for k in range(active):
        i = order[k]
        heights += variance[i] / slope[i]
        widths += 1 / slope[i]
        level = (heights - games) / widths
        if k + 1 < active and level < variance[order[k + 1]]:
            continue
        for j in range(k + 1):
            starts[order[j]] = (variance[order[j]] - level) / slope[order[j]]
        break


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _flow(league: _League, games: cython.double, steps: cython.Py_ssize_t) -> cython.void:
    """Play the expected games in so many portions."""
    win: cython.double[:, ::1] = league.win
    tie: cython.double[:, ::1] = league.tie
    met: cython.uchar[:, ::1] = league.met
    mean: cython.double[::1] = league.mean
    variance: cython.double[::1] = league.variance
    chance: cython.double[:, ::1] = league.chance
    gain: cython.double[:, ::1] = league.gain
    loss: cython.double[:, ::1] = league.loss
    slope: cython.double[::1] = league.slope
    starts: cython.double[::1] = league.starts
    change: cython.double[:, ::1] = league.change
    beta: cython.double = league.beta
    margin: cython.double = league.margin
    tau: cython.double = league.tau
    n: cython.Py_ssize_t = league.n
    _step: cython.Py_ssize_t
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    total: cython.double
    c2: cython.double
    c: cython.double
    t: cython.double
    x: cython.double
    v: cython.double
    w: cython.double
    lost: cython.double
    far: cython.double
    played: cython.double
    each: cython.double = games / steps
    for _step in range(steps):
        for i in range(n):
            for j in range(i + 1):
                chance[i, j] = exp(-fabs(mean[i] - mean[j])) if met[i, j] else 0.0
                chance[j, i] = chance[i, j]
        for i in range(n):
            total = 0
            for j in range(n):
                total += chance[i, j]
            slope[i] = 0
            for j in range(n):
                if total > 0:
                    chance[i, j] /= total
        for i in range(n):
            for j in range(i):
                if not met[i, j]:
                    continue
                c2 = 2 * beta * beta + variance[i] + variance[j] + 2 * tau * tau
                c = sqrt(c2)
                t = (mean[i] - mean[j]) / c
                far = margin / c
                _outcomes(league, t, far)
                lost = 1 - win[i, j] - tie[i, j]
                x = t - far
                v = league.v_win
                w = tie[i, j] * league.w + win[i, j] * v * (v + x)
                total = tie[i, j] * league.v + win[i, j] * v
                x = -t - far
                v = league.v_loss
                gain[i, j] = (total - lost * v) / c
                loss[i, j] = (w + lost * v * (v + x)) / c2
                gain[j, i] = -gain[i, j]
                loss[j, i] = loss[i, j]
                slope[i] += chance[i, j] * loss[i, j] * variance[i] * variance[i]
                slope[j] += chance[j, i] * loss[i, j] * variance[j] * variance[j]
        _share_games(league, each)
        for i in range(n):
            change[0, i] = 0
            change[1, i] = 0
            for j in range(n):
                if met[i, j]:
                    played = starts[i] * chance[i, j] + starts[j] * chance[j, i]
                    change[0, i] += played * variance[i] * gain[i, j]
                    change[1, i] += played * (tau * tau - variance[i] * variance[i] * loss[i, j])
        for i in range(n):
            mean[i] += change[0, i]
            variance[i] += change[1, i]


def mean_field(
    wins: cython.double[:, :, ::1],
    ties: cython.double[:, :, ::1],
    met: cython.uchar[:, :, ::1],
    games: cython.double[::1],
    steps: cython.Py_ssize_t,
    sigma: cython.double,
    betas: cython.double[::1],
    margins: cython.double[::1],
    tau: cython.double,
    means: cython.double[:, ::1],
):
    """The deterministic limit for a batch of data sets, into ``means[data set, system]``.

    Opponents and outcomes are replaced by their expectations, and the games are shared out in
    ``steps`` portions.
    """
    many = len(means)
    shaped("wins", wins, many, wins.shape[1], wins.shape[1])
    shaped("ties", ties, many, wins.shape[1], wins.shape[1])
    shaped("met", met, many, wins.shape[1], wins.shape[1])
    shaped("means", means, -1, wins.shape[1])
    shaped("games", games, many)
    shaped("betas", betas, many)
    shaped("margins", margins, many)
    batch: cython.Py_ssize_t = wins.shape[0]
    n: cython.Py_ssize_t = wins.shape[1]
    r: cython.Py_ssize_t
    i: cython.Py_ssize_t
    league: _League = _League()
    league.n = n
    league.tau = tau
    league.variance, league.slope, league.starts = np.zeros((3, n))
    league.chance, league.gain, league.loss = np.zeros((3, n, n))
    league.change = np.zeros((2, n))
    league.order = np.zeros(n, np.intp)
    with cython.nogil:
        for r in range(batch):
            league.win = wins[r]
            league.tie = ties[r]
            league.met = met[r]
            league.beta = betas[r]
            league.margin = margins[r]
            league.mean = means[r]
            for i in range(n):
                means[r, i] = 0
                league.variance[i] = sigma * sigma
            _flow(league, games[r], steps)
