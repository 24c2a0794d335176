"""Where the three-way alignments of all mixtures of corrections can be cut in the same place.

A chain is a sequence of stages, each a list of optional token sequences; every way of taking
one from each stage is a reference. Between stages stand nodes; node m has a point
``X = (xi[m], xj[m])`` in source and hypothesis. `planes` finds, for every node and every point
(i, j), the least, over all references up to the node and all partial alignments ending at
(i, j), of the cost of the alignment minus that of the best one through the points X of all nodes
before. The stages are taken one after the other, so that the work grows with the sum of the
options and not with their product. See `errata.metrics.imeasure.mixtures` for what follows from it.

Only points that lie in a band of the source-hypothesis table are looked at, and of its rows only
those near enough. What three columns cost is what their three pairs cost, a token beside nothing
`GAP` in each: source and hypothesis cost ``least`` or more, however they are aligned, and where
``i`` tokens of the source and ``j`` of the hypothesis are used up beside ``t`` of the reference,
these cost at least ``GAP * (|i - t| + |j - t|)``, and the rest likewise. Where all that is more
than the dearest path through all X, a full alignment costs more than that of its own reference
through X, and cannot be what denies a node: its points count as out of reach. So do, where what
points cost from the end is known (``beyond``), those that together with it cost more than X.
"""

import cython
import numpy as np

from errata.kernels._doors import LARGEST, offsets, refuse, same_size, shaped, within

# What a column costs, as in `errata.kernels.threeway`.
MISMATCH = cython.declare(cython.const_int, 3)
GAP = cython.declare(cython.const_int, 2)
LONE = cython.declare(cython.const_int, 4)
FAR = cython.declare(cython.const_int, 1 << 28)
NO_TOKEN = cython.declare(cython.const_int, (1 << 31) - 1)  # as `LARGEST`, known to C
LARGEST_WORK = cython.declare(cython.const_longlong, 1 << 24)  # cells kept to be shared, 64 MB


@cython.cclass
class _Band:
    """Source and hypothesis, and the cells of their table that are looked at (see `planes`)."""

    a: cython.int[::1]
    b: cython.int[::1]
    low: cython.int[::1]
    high: cython.int[::1]
    at: cython.longlong[::1]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _relax_inner(
    row: cython.Py_ssize_t,
    row_above: cython.Py_ssize_t,
    first: cython.Py_ssize_t,
    last: cython.Py_ssize_t,
    s: cython.int,
    r: cython.int,
    b: cython.int[::1],
    old: cython.int[::1],
    new: cython.int[::1],
) -> cython.void:
    """Cells with all their neighbours, which need no check.

    What comes from the left is added last: all else compilers do for several cells at once.
    """
    j: cython.Py_ssize_t
    h: cython.int
    ac: cython.int = 0 if s == r else MISMATCH
    ab: cython.int
    bc: cython.int
    best: cython.int
    cost: cython.int
    left: cython.int
    for j in range(first, last + 1):
        h = b[j - 1]
        ab = 0 if s == h else MISMATCH
        bc = 0 if h == r else MISMATCH
        best = old[row + j]
        cost = new[row_above + j]
        best = cost if cost < best else best
        cost = old[row_above + j] + ac
        best = cost if cost < best else best
        cost = new[row_above + j - 1] + ab
        best = cost if cost < best else best
        cost = old[row + j - 1] + bc
        best = (cost if cost < best else best) + LONE
        cost = old[row_above + j - 1] + ab + ac + bc
        best = cost if cost < best else best
        new[row + j] = best if best < FAR else FAR
    left = new[row + first - 1]
    for j in range(first, last + 1):
        best = new[row + j]
        left = left + LONE if left + LONE < best else best
        new[row + j] = left


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _relax(
    band: _Band,
    r: cython.int,
    i0: cython.int,
    i1: cython.int,
    j0: cython.int,
    j1: cython.int,
    old: cython.int[::1],
    new: cython.int[::1],
) -> cython.void:
    """Go on by one token ``r`` of the reference (-1: by none) in rows i0..i1, columns j0..j1."""
    a: cython.int[::1] = band.a
    b: cython.int[::1] = band.b
    low: cython.int[::1] = band.low
    high: cython.int[::1] = band.high
    at: cython.longlong[::1] = band.at
    i: cython.int
    j: cython.int
    here: cython.longlong
    above: cython.longlong
    row: cython.longlong = 0  # where cell (i, 0) would stand
    row_above: cython.longlong
    first: cython.int
    last: cython.int
    first_above: cython.int = 1
    last_above: cython.int = 0
    inner_first: cython.int
    inner_last: cython.int
    best: cython.int
    cost: cython.int
    s: cython.int
    h: cython.int
    ab: cython.int
    ac: cython.int
    bc: cython.int
    for i in range(i0, i1 + 1):
        row_above = row
        row = at[i] - low[i]
        first = low[i] if low[i] > j0 else j0
        last = high[i] if high[i] < j1 else j1
        s = a[i - 1] if i > i0 else -2
        ac = 0 if s == r else MISMATCH
        # Most cells of a wide band have all their neighbours, and nothing is asked of them.
        inner_first = (first if first > first_above else first_above) + 1
        inner_last = last if last < last_above else last_above
        if i == i0 or r < 0:
            inner_last = -1
        j = first
        while j <= last:
            if inner_first <= j <= inner_last:
                _relax_inner(row, row_above, inner_first, inner_last, s, r, b, old, new)
                j = inner_last + 1
                continue
            here = row + j
            above = row_above + j
            h = b[j - 1] if j > j0 else -3
            ab = 0 if s == h else MISMATCH
            bc = 0 if h == r else MISMATCH
            best = old[here] if r < 0 else old[here] + LONE
            if i > i0:
                if first_above <= j <= last_above:
                    cost = new[above] + LONE
                    if cost < best:
                        best = cost
                    if r >= 0:
                        cost = old[above] + LONE + ac
                        if cost < best:
                            best = cost
                if first_above <= j - 1 <= last_above:
                    cost = new[above - 1] + LONE + ab
                    if cost < best:
                        best = cost
                    if r >= 0:
                        cost = old[above - 1] + ab + ac + bc
                        if cost < best:
                            best = cost
            if j > first:
                cost = new[here - 1] + LONE
                if cost < best:
                    best = cost
                if r >= 0:
                    cost = old[here - 1] + LONE + bc
                    if cost < best:
                        best = cost
            new[here] = best if best < FAR else FAR
            j += 1
        first_above = first
        last_above = last


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _measure(
    stages: cython.longlong[::1], options: cython.longlong[::1], reach: cython.longlong[:, ::1]
) -> cython.void:
    """How many tokens references have before each node and after it: least and most of both."""
    nodes: cython.Py_ssize_t = reach.shape[0]
    m: cython.Py_ssize_t
    o: cython.Py_ssize_t
    length: cython.longlong
    least: cython.longlong
    most: cython.longlong
    reach[0, 0] = 0
    reach[0, 1] = 0
    for m in range(nodes - 1):
        least = 0
        most = 0
        for o in range(stages[m], stages[m + 1]):
            length = options[o + 1] - options[o]
            if o == stages[m] or length < least:
                least = length
            if length > most:
                most = length
        reach[m + 1, 0] = reach[m, 0] + least
        reach[m + 1, 1] = reach[m, 1] + most
    for m in range(nodes):
        reach[m, 2] = reach[nodes - 1, 0] - reach[m, 0]
        reach[m, 3] = reach[nodes - 1, 1] - reach[m, 1]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _apart(
    low: cython.longlong,
    high: cython.longlong,
    p: cython.longlong,
    q: cython.longlong,
    r: cython.longlong,
    s: cython.longlong,
) -> cython.longlong:
    """The least distance of a number in ``low..high`` from p..q and from r..s together."""
    x: cython.longlong = p if p > r else r
    y: cython.longlong = q if q < s else s
    z: cython.longlong
    if x > y:
        z = x
        x = y
        y = z
    z = x if high < x else high  # any number from x to y is as near as can be
    z = y if z > y else z
    z = high if z > high else z
    z = low if z < low else z
    x = p - z if z < p else (z - q if z > q else 0)
    y = r - z if z < r else (z - s if z > s else 0)
    return x + y


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _near(
    band: _Band,
    i: cython.longlong,
    p: cython.longlong,
    q: cython.longlong,
    r: cython.longlong,
    s: cython.longlong,
    slack: cython.longlong,
) -> cython.bint:
    """Whether row i can matter where references have p to q tokens before, and r to s after."""
    n1: cython.longlong = band.a.shape[0]
    n2: cython.longlong = band.b.shape[0]
    apart: cython.longlong = _apart(i, i, p, q, n1 - s, n1 - r)
    apart += _apart(band.low[i], band.high[i], p, q, n2 - s, n2 - r)
    return GAP * apart <= slack


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _bound(
    band: _Band, beyond: cython.int[::1], plane: cython.int[::1], ends: cython.longlong[::1]
) -> cython.void:
    """Put out of reach what costs more than X, and find the first and last row left.

    ``beyond`` has the last cell first.
    """
    i: cython.Py_ssize_t
    x: cython.Py_ssize_t
    last: cython.Py_ssize_t = beyond.shape[0] - 1
    ends[0] = band.a.shape[0]
    ends[1] = 0
    for i in range(band.a.shape[0] + 1):
        for x in range(band.at[i], band.at[i + 1]):
            if plane[x] + beyond[last - x] > 0:
                plane[x] = FAR
            else:
                ends[1] = i
                if i < ends[0]:
                    ends[0] = i


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _alike(
    options: cython.longlong[::1], tokens: cython.int[::1], o: cython.Py_ssize_t
) -> cython.longlong:
    """How many tokens an option begins with that the one before it has too: these are done."""
    done: cython.longlong = 0
    while (
        done < options[o + 1] - options[o]
        and done < options[o] - options[o - 1]
        and tokens[options[o] + done] == tokens[options[o - 1] + done]
    ):
        done += 1
    return done


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _fill_planes(
    band: _Band,
    xi: cython.int[::1],
    xj: cython.int[::1],
    stages: cython.longlong[::1],
    options: cython.longlong[::1],
    tokens: cython.int[::1],
    reach: cython.longlong[:, ::1],
    rows: cython.longlong[:, ::1],
    work: cython.int[:, ::1],
    through: cython.int[::1],
    least: cython.longlong,
    beyond: cython.int[:, ::1],
    ends: cython.longlong[::1],
    found: cython.int[:, ::1],
) -> cython.void:
    """Fill ``found[m, cell]`` for every node m.

    ``reach[m]`` are the least and most tokens that references have before node m, and after it;
    ``rows`` is room for those in reach after so many tokens of a stage, ``through`` for what each
    option costs; ``work`` has a plane for as many tokens as ``rows``, or two; ``ends`` has room for
    two rows. ``beyond`` is empty where nothing is known of what follows, and else has the last node
    and the last cell first.
    """
    n1: cython.longlong = band.a.shape[0]
    n2: cython.int = cython.cast(cython.int, band.b.shape[0])
    cells: cython.Py_ssize_t = work.shape[1]
    m: cython.Py_ssize_t
    o: cython.Py_ssize_t
    t: cython.Py_ssize_t
    x: cython.Py_ssize_t
    x0: cython.longlong
    now: cython.Py_ssize_t
    done: cython.longlong
    rest: cython.longlong
    lo: cython.longlong
    hi: cython.longlong
    longest: cython.longlong
    shortest: cython.longlong
    shared: cython.bint = work.shape[0] >= rows.shape[0]
    p: cython.longlong
    q: cython.longlong
    r: cython.longlong
    s: cython.longlong
    slack: cython.longlong = -least
    dearest: cython.longlong
    i0: cython.int
    i1: cython.int
    j0: cython.int
    j1: cython.int
    cost: cython.int
    for x in range(cells):
        work[0, x] = FAR
    work[0, 0] = 0
    _relax(band, -1, 0, cython.cast(cython.int, n1), 0, n2, work[0], found[0])
    # What the best alignment of each option between its two points costs.
    for m in range(xi.shape[0] - 1):
        i0, i1, j0, j1 = xi[m], xi[m + 1], xj[m], xj[m + 1]
        dearest = 0
        for o in range(stages[m], stages[m + 1]):
            done = _alike(options, tokens, o) if shared and o > stages[m] else 0
            if o == stages[m] or not shared:
                for x in range(band.at[i0], band.at[i1 + 1]):
                    work[0, x] = FAR
                work[0, band.at[i0] + j0 - band.low[i0]] = 0
                _relax(band, -1, i0, i1, j0, j1, work[0], work[0])
            for t in range(options[o] + done, options[o + 1]):
                now = done if shared else done % 2
                done += 1
                _relax(
                    band, tokens[t], i0, i1, j0, j1, work[now], work[now + 1 if shared else 1 - now]
                )
            now = done if shared else done % 2
            through[o] = work[now, band.at[i1] + j1 - band.low[i1]]
            if through[o] > dearest:
                dearest = through[o]
        slack += dearest
    # Any other, less that.
    for m in range(xi.shape[0] - 1):
        for x in range(cells):
            found[m + 1, x] = FAR
        longest = 0
        shortest = -1
        for o in range(stages[m], stages[m + 1]):
            rest = options[o + 1] - options[o]
            longest = rest if rest > longest else longest
            shortest = rest if shortest < 0 or rest < shortest else shortest
        ends[0] = 0
        ends[1] = n1
        if beyond.shape[0]:
            _bound(band, beyond[xi.shape[0] - 1 - m], found[m], ends)
        for x in range(cells):
            work[0, x] = found[m, x]
        rows[0, 0] = ends[0]
        rows[0, 1] = ends[1]
        lo = ends[0]
        for done in range(1, longest + 1):
            p = reach[m, 0] + done
            q = reach[m, 1] + done
            r = reach[m + 1, 2] + (shortest - done if shortest > done else 0)
            s = reach[m + 1, 3] + longest - done
            while lo < n1 and not _near(band, lo, p, q, r, s, slack):
                lo += 1
            hi = n1
            while hi > lo and not _near(band, hi, p, q, r, s, slack):
                hi -= 1
            # The first row of a plane is reached from the one above it, a token before.
            rows[done, 0] = lo - 1 if lo > ends[0] else ends[0]
            rows[done, 1] = hi
        for o in range(stages[m], stages[m + 1]):
            done = _alike(options, tokens, o) if shared and o > stages[m] else 0
            if not shared and options[o + 1] > options[o]:
                for x in range(cells):
                    work[0, x] = found[m, x]
            while done < options[o + 1] - options[o]:
                now = done if shared else done % 2
                t = options[o] + done
                lo = rows[done, 0]
                hi = rows[done, 1]
                done += 1
                # Rows that come into reach only now.
                for x in range(band.at[rows[done, 0]], band.at[lo]):
                    work[now, x] = FAR
                x0 = band.at[hi + 1]
                lo = rows[done, 0]
                hi = rows[done, 1]
                for x in range(x0 if x0 > band.at[lo] else band.at[lo], band.at[hi + 1]):
                    work[now, x] = FAR
                _relax(
                    band,
                    tokens[t],
                    cython.cast(cython.int, lo),
                    cython.cast(cython.int, hi),
                    0,
                    n2,
                    work[now],
                    work[now + 1 if shared else 1 - now],
                )
            now = done if shared else done % 2
            for x in range(band.at[rows[done, 0]], band.at[rows[done, 1] + 1]):
                cost = work[now, x] - through[o]
                if cost < found[m + 1, x]:
                    found[m + 1, x] = cost


@cython.cfunc
@cython.exceptval(check=False)
def _fits(
    a: cython.int[::1],
    b: cython.int[::1],
    low: cython.int[::1],
    high: cython.int[::1],
    at: cython.longlong[::1],
    xi: cython.int[::1],
    xj: cython.int[::1],
    stages: cython.longlong[::1],
    options: cython.longlong[::1],
    tokens: cython.int[::1],
) -> cython.bint:
    """Whether the arguments of `planes` fit one another, in no time; `_doors` says why not."""
    i: cython.Py_ssize_t
    rows: cython.Py_ssize_t = low.shape[0]
    nodes: cython.Py_ssize_t = xi.shape[0]
    if rows != a.shape[0] + 1 or high.shape[0] != rows or at.shape[0] != rows + 1 or at[0] != 0:
        return False
    for i in range(rows):
        if low[i] < 0 or high[i] < low[i] or high[i] > b.shape[0]:
            return False
        if at[i + 1] != at[i] + high[i] - low[i] + 1:
            return False
    if not nodes or xj.shape[0] != nodes or stages.shape[0] != nodes or not options.shape[0]:
        return False
    for i in range(nodes):
        if xi[i] < 0 or xi[i] >= rows or xj[i] < low[xi[i]] or xj[i] > high[xi[i]]:
            return False
        if i and (xi[i] < xi[i - 1] or xj[i] < xj[i - 1] or stages[i] < stages[i - 1]):
            return False
    if stages[0] < 0 or stages[nodes - 1] >= options.shape[0]:
        return False
    for i in range(1, options.shape[0]):
        if options[i] < options[i - 1]:
            return False
    if options[0] < 0 or options[options.shape[0] - 1] > tokens.shape[0]:
        return False
    for i in range(tokens.shape[0]):
        if tokens[i] < 0 or tokens[i] == NO_TOKEN:
            return False
    return tokens.shape[0] < NO_TOKEN


def _doors(a, b, low, high, at, xi, xj, stages, options, tokens):
    """Refuse what does not fit."""
    same_size(low=low, high=high)
    shaped("low", low, len(a) + 1)
    rows = np.asarray(high) - np.asarray(low) + 1
    if len(at) != len(low) + 1 or at[0] != 0 or (np.diff(at) != rows).any():
        raise refuse("at must count the cells of the rows")
    within("low", low, len(b) + 1)
    within("high", high, len(b) + 1)
    within("cells of a row", rows, LARGEST, 1)
    same_size(xi=xi, xj=xj, stages=stages)
    if not len(xi):
        raise refuse("there must be nodes")
    within("xi", xi, len(low))
    points = np.asarray(xi), np.asarray(xj)
    outside = (points[1] < np.asarray(low)[points[0]]) | (points[1] > np.asarray(high)[points[0]])
    if outside.any() or any((np.diff(each) < 0).any() for each in points):
        raise refuse("nodes must go forward inside the band")
    offsets("stages", stages, max(0, len(options) - 1))
    offsets("options", options, len(tokens))
    within("tokens", tokens, LARGEST)


def held(found: cython.int[:, ::1], back: cython.int[:, ::1], cells: cython.longlong[::1]):
    """Which nodes every alignment that costs least goes through, ``cells`` being X's.

    ``found`` are the planes from the beginning, ``back`` those from the end: last node, last cell
    first.
    """
    shaped("back", back, found.shape[0], found.shape[1])
    shaped("cells", cells, found.shape[0])
    within("cells", cells, found.shape[1])
    result = np.empty(found.shape[0], np.uint8)
    holds: cython.uchar[::1] = result
    m: cython.Py_ssize_t
    x: cython.Py_ssize_t
    n: cython.Py_ssize_t = found.shape[0] - 1
    last: cython.Py_ssize_t = found.shape[1] - 1
    own: cython.int
    with cython.nogil:
        for m in range(n + 1):
            own = found[m, cells[m]] + back[n - m, last - cells[m]]
            holds[m] = 1
            for x in range(last + 1):
                if found[m, x] + back[n - m, last - x] <= own and x != cells[m]:
                    holds[m] = 0
                    break
    return result


def planes(
    a: cython.int[::1],
    b: cython.int[::1],
    low: cython.int[::1],
    high: cython.int[::1],
    at: cython.longlong[::1],
    xi: cython.int[::1],
    xj: cython.int[::1],
    stages: cython.longlong[::1],
    options: cython.longlong[::1],
    tokens: cython.int[::1],
    least: cython.longlong = 0,
    beyond: cython.int[:, ::1] = None,
):
    """The planes of all nodes, ``[node, cell]``; cell (i, j) is ``at[i] + j - low[i]``.

    ``a`` and ``b`` are source and hypothesis, and ``least`` is what any alignment of the two
    costs; stage m has the options ``stages[m]`` to ``stages[m + 1]``, option o the tokens
    ``options[o]`` to ``options[o + 1]``. ``beyond`` are the planes found from the end, where
    all that is given is turned round.
    """
    if not _fits(a, b, low, high, at, xi, xj, stages, options, tokens):
        _doors(a, b, low, high, at, xi, xj, stages, options, tokens)
    if not 0 <= least < LARGEST:
        raise refuse(f"least is {least}, not 0 to {LARGEST - 1}")
    band: _Band = _Band()
    band.a, band.b = a, b
    band.low, band.high, band.at = low, high, at
    cells = int(at[len(low)])
    planes_array = np.empty((len(xi), cells), np.int32)
    found: cython.int[:, ::1] = planes_array
    longest = int(np.diff(options).max(initial=1)) + 1
    kept = longest if longest * cells <= LARGEST_WORK else 2
    work: cython.int[:, ::1] = np.empty((kept, cells), np.int32)
    within_reach: cython.longlong[:, ::1] = np.zeros((longest, 2), np.int64)
    through: cython.int[::1] = np.zeros(max(1, len(options)), np.int32)
    reach: cython.longlong[:, ::1] = np.zeros((len(xi), 4), np.int64)
    ends: cython.longlong[::1] = np.zeros(2, np.int64)
    known: cython.int[:, ::1] = np.zeros((0, 1), np.int32) if beyond is None else beyond
    if beyond is not None:
        shaped("beyond", beyond, len(xi), cells)
    with cython.nogil:
        _measure(stages, options, reach)
        _fill_planes(
            band,
            xi,
            xj,
            stages,
            options,
            tokens,
            reach,
            within_reach,
            work,
            through,
            least,
            known,
            ends,
            found,
        )
    return planes_array
