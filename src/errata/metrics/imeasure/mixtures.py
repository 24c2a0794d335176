"""Best mixture of annotators' corrections.

Corrections that overlap form clusters; a reference takes one alternative from each cluster, or
none where an annotator changed nothing. Their number grows exponentially (3.5·10¹³ for
one sentence of CoNLL-2014), so the sentence is cut.

A chain is the sentence as a list of elements: source tokens that every reference keeps, and
groups of clusters with all texts they can become. A node between two elements has a point
X = (i, j) in source and hypothesis. *If every optimal three-way alignment of every reference goes
through X at that node, the alignment falls into two parts which do not depend on each other, and
so do the counts.* That is checked, not assumed. With X-paths, alignments through the points of
all nodes in use, let V(y) be the least, over all references and all partial alignments up to
the point y at the node, of their cost minus that of the best X-path up to the node; W(y) the same
from the end. A full alignment through y ≠ X costs at least V(y) + W(y) more than the X-path of
the same reference. If that is above 0 for every y ≠ X, no optimal alignment misses X, whatever
the reference, and since all optimal alignments agree on X, so does the one the official program
picks. V and W are found stage by stage (`errata.kernels.cuts`): work grows with the number of
texts, not of references. Where X does not hold the strict minimum of V + W the node is given up,
and V and W are found again, until all nodes hold; see docs/metrics/imeasure.md for the proof.

What lies between nodes is enumerated; `errata.metrics.imeasure.mixtures` finds the best.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, pairwise, product
from math import prod
from operator import mul
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from errata.kernels import cuts, threeway
from errata.metrics.imeasure.references import Change, Cluster, splice

# ---- The best choice of one vector per stage by quotients of their sums, without trying all.

Vector = tuple[int, ...]


def best_mixture(stages: Sequence[Sequence[Vector]], weight: float) -> list[Vector]:
    """The columns of the best reference: the vector to take from each stage.

    Best by (WAcc, I, Acc) of correction, then of detection, compared exactly. Of references
    equal in all that, the one with most columns of the first kind, then of the second...; the
    official program takes whichever comes first in a hash table.

    A vector holds unchanged, missed, needless, right and wrong columns, then unchanged and
    missed ones of the source.
    """
    every = [list(dict.fromkeys(stage)) if len(stage) > 1 else [*stage] for stage in stages]
    # Stages without a choice, as most are, count as one.
    alone = [stage[0] for stage in every if len(stage) == 1]
    left = [[tuple(map(sum, zip(*alone, strict=True)))]] if alone else []
    left += [stage for stage in every if len(stage) > 1]
    for wacc_over_under, acc_over_under in _quotients_of_columns(weight):
        if all(len(stage) == 1 for stage in left):  # nothing to choose
            break
        left, wacc = _maximal(left, *wacc_over_under)
        left = _most_improved(left, wacc)
        left, _ = _maximal(left, *acc_over_under)
    chosen = map(max, left[1:] if alone else left)
    return [stage[0] if len(stage) == 1 else next(chosen) for stage in every]


@lru_cache(maxsize=8)
def _quotients_of_columns(
    weight: float,
) -> list[tuple[tuple[Vector, Vector], tuple[Vector, Vector]]]:
    """WAcc and Acc as quotients of columns, for correction and for detection."""
    w = Fraction(weight)
    one = 2 * w.denominator  # what all coefficients are multiplied by to be whole
    heavy, half = int(w * one), int((w + 1) / 2 * one)
    # In the detection aspect wrong columns are right.
    return [
        (
            ((one, 0, 0, heavy, wrong, 0, 0), (one, one, heavy, heavy, wrong_below, 0, 0)),
            ((1, 0, 0, 1, hit, 0, 0), (1, 1, 1, 1, 1, 0, 0)),
        )
        for wrong, wrong_below, hit in ((0, half, 0), (heavy, heavy, 1))
    ]


def possible_mixtures(stages: Sequence[Sequence[Vector]], weight: float) -> list[Vector]:
    """The sums of one vector per stage that can be best once running totals are added to them.

    Stage by stage, a mixture behind for any totals is left out. For quotients compared one after
    the other, v is behind u if the first quotient in which they differ has for u no smaller
    numerator and no larger denominator: whatever is added to both, u's is then the larger. That
    needs care only where a sum may be 0, and there all are kept. I counts as the share
    of missed columns of the source; where WAcc is 1, so is all else.
    """
    correction, detection = _quotients_of_columns(weight)
    missed = (0, 0, 0, 0, 0, 0, 1), (0, 0, 0, 0, 0, 1, 0)
    quotients = (correction[0], missed, correction[1], *detection)
    sums: list[Vector] = [(0,) * 7]
    for stage in stages:
        options = _undominated(stage, quotients)
        sums = _undominated(
            (tuple(map(sum, zip(v, u, strict=True))) for v in sums for u in options), quotients
        )
    return sorted(sums, reverse=True)


def _undominated(
    vectors: Iterable[Vector], quotients: Sequence[tuple[Vector, Vector]]
) -> list[Vector]:
    """The vectors that none is in front of; of those alike in every quotient the largest."""
    alike: dict[tuple[int, int], dict[Vector, None]] = {}
    over, under = quotients[0]
    for v in vectors:
        alike.setdefault((-_dot(over, v), _dot(under, v)), {})[v] = None
    found: list[Vector] = []
    least = None
    for n, d in sorted(alike):
        if n == 0:
            found += alike[n, d]
        elif least is None or d < least or d == 0:
            least = d
            found += (
                _undominated(alike[n, d], quotients[1:])
                if len(quotients) > 1
                else [max(alike[n, d])]
            )
    return found


def _most_improved(stages: list[list[Vector]], wacc: Fraction) -> list[list[Vector]]:
    """The vectors with the best I where WAcc is the same.

    For 0 < WAcc < 1 I falls strictly as the baseline's WAcc rises; for WAcc = 1 it is 1; for
    WAcc = 0 it is 0 if the baseline's is 0 too, and -1 otherwise.
    """
    if wacc == 1:
        return stages
    left, missed = _maximal(stages, (0, 0, 0, 0, 0, 0, 1), (0, 0, 0, 0, 0, 1, 1))
    return stages if wacc == 0 and missed < 1 else left


def _maximal(
    stages: list[list[Vector]], over: Vector, under: Vector
) -> tuple[list[list[Vector]], Fraction]:
    """The vectors whose sums have the largest quotient ``over·v / under·v``, and the quotient.

    Dinkelbach (1967): with q the best quotient so far, take from each stage the vector with the
    largest over·v - q·under·v; if their sum is above 0 the quotient is better, else q is the
    best there is, and exactly the sums of such vectors reach it. 0/0 counts as 1.
    """
    if all(len(stage) == 1 for stage in stages):
        n, d = (sum(_dot(c, stage[0]) for stage in stages) for c in (over, under))
        return stages, Fraction(n, d) if d else Fraction(1)
    pairs = [list(zip(_dots(over, stage), _dots(under, stage), strict=True)) for stage in stages]
    if len(pairs) == 1:
        pairs = [[pair if pair[1] else (1, 1) for pair in pairs[0]]]
    n, d = (sum(stage[0][part] for stage in pairs) for part in (0, 1))
    while True:
        chosen = [max(stage, key=lambda pair: pair[0] * d - pair[1] * n) for stage in pairs]
        new_n, new_d = sum(pair[0] for pair in chosen), sum(pair[1] for pair in chosen)
        if new_n * d - new_d * n <= 0:
            break
        n, d = new_n, new_d
    best = [max(p * d - q * n for p, q in stage) for stage in pairs]
    return [
        [v for v, (p, q) in zip(stage, pair, strict=True) if p * d - q * n == top]
        for stage, pair, top in zip(stages, pairs, best, strict=True)
    ], Fraction(n, d)


def _dot(coefficients: Vector, vector: Vector) -> int:
    return sum(map(mul, coefficients, vector))


def _dots(coefficients: Vector, vectors: Sequence[Vector]) -> list[int]:
    """The same for many vectors, written out, as most of the time of a choice is spent here."""
    h, i, j, k, m, n, o = coefficients
    return [
        h * a + i * b + j * c + k * d + m * e + n * f + o * g for a, b, c, d, e, f, g in vectors
    ]


Ids = tuple[int, ...]

Point = tuple[int, int]
Costs = NDArray[np.int32] | NDArray[np.int64]

CELLS = 1 << 26  # of the planes of one sentence (256 MB)


class Limits(NamedTuple):
    """How much is tried before a choice is called unproven.

    ``few`` references are all tried, which is faster than cutting; ``most`` texts are enumerated
    between two cuts; ``steps`` from cell to cell are made in the search for the cuts of one
    sentence (seconds).
    """

    few: int = 16
    most: int = 4096
    steps: int = 1 << 27


LIMITS = Limits()


class Element(NamedTuple):
    """A part of the source, of ``length`` tokens, and the texts that references have there."""

    length: int
    texts: tuple[tuple[str, ...], ...]


class Chain(NamedTuple):
    """A sentence as elements; ``complete`` unless texts of one element had to be left out."""

    elements: tuple[Element, ...]
    complete: bool

    @property
    def size(self) -> int:
        """How many references there are, texts that read the same counted apart."""
        return prod(len(element.texts) for element in self.elements)


def chain_of(source: tuple[str, ...], clusters: Sequence[Cluster], limits: Limits) -> Chain:
    """Lay clusters out along the sentence, those that touch the same tokens in one element."""
    groups = _groups(clusters)
    elements: list[Element] = []
    position, complete = 0, True
    for start, end, members in groups:
        elements += [Element(1, ((word,),)) for word in source[position:start]]
        texts = _possible_texts(source[start:end], start, members, limits.most)
        if texts is None:
            return _single_element_chain(source, clusters, limits.most)
        elements.append(Element(end - start, tuple(texts)))
        complete = complete and _count_combinations(members) <= limits.most
        position = end
    elements += [Element(1, ((word,),)) for word in source[position:]]
    if sum(end - start for start, end, _ in groups) == len(source):
        return _single_element_chain(
            source, clusters, limits.most
        )  # a reference might lose all its tokens
    return Chain(tuple(elements), complete)


def _groups(clusters: Sequence[Cluster]) -> list[tuple[int, int, list[Cluster]]]:
    """Clusters that overlap, or change the same span, together: (start, end, clusters)."""
    groups: list[tuple[int, int, list[Cluster]]] = []
    spans = []
    for cluster in clusters:
        changes = [change for alternative in cluster.alternatives for change in alternative]
        spans.append((min(c.start for c in changes), max(c.end for c in changes), cluster))
    for start, end, cluster in sorted(spans, key=lambda span: span[:2]):
        members = [cluster]
        while groups and _groups_touch(groups[-1], (start, end, members)):
            before = groups.pop()
            start, end = min(before[0], start), max(before[1], end)
            members = before[2] + members
        groups.append((start, end, members))
    return groups


def _groups_touch(
    left: tuple[int, int, list[Cluster]], right: tuple[int, int, list[Cluster]]
) -> bool:
    if left[0] < right[1] and right[0] < left[1]:
        return True
    return bool(_spans_of(left[2]) & _spans_of(right[2]))


def _spans_of(clusters: Iterable[Cluster]) -> set[tuple[int, int]]:
    return {
        (change.start, change.end)
        for cluster in clusters
        for alternative in cluster.alternatives
        for change in alternative
    }


def _count_combinations(clusters: Sequence[Cluster]) -> int:
    return prod(len(cluster.alternatives) + cluster.optional for cluster in clusters)


def _combinations_of_changes(clusters: Sequence[Cluster], most: int) -> Iterable[list[Change]]:
    """Combinations of alternatives, at most so many, without those that change a span twice."""
    sets = [
        (*cluster.alternatives, ()) if cluster.optional else cluster.alternatives
        for cluster in clusters
    ]
    for _, chosen in zip(range(most), product(*sets), strict=False):
        changes = [change for alternative in chosen for change in alternative]
        if len({(change.start, change.end) for change in changes}) == len(changes):
            yield changes


def _possible_texts(
    words: tuple[str, ...], offset: int, clusters: Sequence[Cluster], most: int
) -> list[tuple[str, ...]] | None:
    """What the words can become; None if a change reaches beyond them.

    Changes that overlap act on what earlier ones, to their right, left there: a change can then
    remove tokens behind its group.
    """
    texts: dict[tuple[str, ...], None] = {}
    for changes in _combinations_of_changes(clusters, most):
        text = list(words)
        for start, end, new in sorted(changes, key=lambda c: c[:2], reverse=True):
            if end - offset > len(text):
                return None
            text[start - offset : end - offset] = new
        texts[tuple(text)] = None
    return list(texts)


def _single_element_chain(source: tuple[str, ...], clusters: Sequence[Cluster], most: int) -> Chain:
    """A chain of one element, for sentences that cannot be laid out."""
    texts = dict.fromkeys(
        splice(source, changes) for changes in _combinations_of_changes(clusters, most)
    )
    return Chain((Element(len(source), tuple(texts)),), _count_combinations(clusters) <= most)


class NumberedChain(NamedTuple):
    """A chain whose tokens are numbers, and the nodes at which it may be cut.

    ``nodes`` are numbers of elements before which a cut may be; the first and last are the ends.
    """

    source: Ids
    lengths: tuple[int, ...]
    texts: tuple[tuple[Ids, ...], ...]
    nodes: tuple[int, ...]
    complete: bool
    limits: Limits

    def positions(self) -> list[int]:
        """The source position of every node between elements."""
        return list(accumulate(self.lengths, initial=0))

    def between(self, left: int, right: int) -> list[Ids]:
        """All texts of the elements from ``left`` to before ``right``, each once."""
        if right == left + 1:
            return list(self.texts[left])
        several = [at for at in range(left, right) if len(self.texts[at]) > 1]
        if len(several) == 1:  # then no two come out alike
            [choice] = several
            before = sum((text[0] for text in self.texts[left:choice]), ())
            after = sum((text[0] for text in self.texts[choice + 1 : right]), ())
            return [before + text + after for text in self.texts[choice]]
        chosen = product(*self.texts[left:right])
        return list(dict.fromkeys(map(tuple, map(itertools.chain.from_iterable, chosen))))

    def size(self, left: int, right: int) -> int:
        """How many combinations `between` would go through."""
        return prod(map(len, self.texts[left:right]))


def common_cuts(chain: NumberedChain, hypothesis: Ids) -> tuple[list[Point], bool]:
    """Nodes (element, hypothesis position) that all optimal alignments of all references share.

    The second value is False if a limit was hit and not all nodes are proven to be such.
    """
    a, b = np.array(chain.source, np.int32), np.array(hypothesis, np.int32)
    low, high, at, first, last, least = threeway.band(a, b)
    positions = chain.positions()
    points = _chain_points(chain, [(int(first[i]), int(last[i])) for i in positions], int(at[-1]))
    turned = a[::-1].copy(), b[::-1].copy(), *_mirror_band(low, high, len(b))
    spent = 0
    while len(points) > 2:
        xi = np.array([positions[node] for node, _ in points], np.int32)
        xj = np.array([j for _, j in points], np.int32)
        parts = [chain.between(left, right) for (left, _), (right, _) in pairwise(points)]
        spent += int(at[-1]) * sum(len(text) + 1 for part in parts for text in part)
        if spent > chain.limits.steps:
            return points, False
        back = cuts.planes(
            *turned,
            len(a) - xi[::-1],
            len(b) - xj[::-1],
            *_flatten_stages([[text[::-1] for text in part] for part in parts[::-1]]),
            least,
        )
        found = cuts.planes(a, b, low, high, at, xi, xj, *_flatten_stages(parts), least, back)
        holds = cuts.held(found, back, at[xi] + xj - low[xi]).astype(bool).tolist()
        kept = _holding_points(chain, points, holds)
        if len(kept) == len(points):
            return points, all(holds[1:-1])
        points = kept
    return points, True


def _chain_points(chain: NumberedChain, columns: list[tuple[int, int]], cells: int) -> list[Point]:
    """A point for each node; ``columns`` are the first and last hypothesis position there.

    Where the hypothesis inserts something the node is doubtful, unless the insertion can be
    told to belong to an element with several texts on one side. Doubtful nodes, and some where
    their planes would be too large, are left out if the texts allow it.
    """
    several = [False, *(len(texts) > 1 for texts in chain.texts), False]
    step = -(-len(chain.nodes) * cells // CELLS)
    points, sure = [], []
    for node in chain.nodes:
        first, last = columns[node]
        after, before = several[node], several[node + 1]
        points.append((node, last if after else first))
        sure.append((first == last or after != before) and node % step == 0)
    points[0], points[-1] = (0, 0), (len(chain.texts), columns[-1][1])
    return _holding_points(chain, points, sure)


def _holding_points(chain: NumberedChain, points: list[Point], holds: list[bool]) -> list[Point]:
    """The points that hold, and others without which too many texts would meet."""
    kept = [points[0]]
    for m in range(1, len(points) - 1):
        if holds[m] or chain.size(kept[-1][0], points[m + 1][0]) > chain.limits.most:
            kept.append(points[m])
    return [*kept, points[-1]]


def _mirror_band(low: Costs, high: Costs, n: int) -> tuple[Costs, Costs, Costs]:
    """The band read from the end."""
    turned_low, turned_high = n - high[::-1], n - low[::-1]
    at = np.concatenate([[0], np.cumsum(turned_high - turned_low + 1)]).astype(np.int64)
    return turned_low, turned_high, at


def _flatten_stages(parts: list[list[Ids]]) -> tuple[Costs, Costs, Costs]:
    """Texts of stages in the form the kernel takes: stages, options, tokens.

    In order, so that the kernel finds neighbours that begin alike.
    """
    stages = np.cumsum([0, *map(len, parts)]).astype(np.int64)
    texts = [text for part in parts for text in sorted(part)]
    options = np.cumsum([0, *map(len, texts)]).astype(np.int64)
    tokens = np.fromiter(itertools.chain.from_iterable(texts), np.int32, int(options[-1]))
    return stages, options, tokens


def number_chain(
    source: Ids, chain: Chain, texts: tuple[tuple[Ids, ...], ...], limits: Limits
) -> NumberedChain:
    """A chain with its nodes: those at which the alignments of the source itself can be cut."""
    lengths = tuple(element.length for element in chain.elements)
    nodes = tuple(range(len(texts) + 1))
    result = NumberedChain(source, lengths, texts, nodes, chain.complete, limits)
    if chain.size <= limits.few:
        return result
    points, proven = common_cuts(result, source)
    return result._replace(
        nodes=tuple(node for node, _ in points), complete=chain.complete and proven
    )


class Stage(NamedTuple):
    """A part of source and hypothesis, and the texts that references have there."""

    source: Ids
    hypothesis: Ids
    texts: list[Ids]


def stages_of(chain: NumberedChain, hypothesis: Ids) -> tuple[list[Stage], bool]:
    """Cut a sentence into stages to be aligned apart, and whether all cuts are proven.

    With few references it is not cut, which is faster.
    """
    if chain.size(0, len(chain.texts)) <= chain.limits.few:
        texts = chain.between(0, len(chain.texts))
        return [Stage(chain.source, hypothesis, texts)], chain.complete
    positions = chain.positions()
    if hypothesis == chain.source:
        points, proven = [(node, positions[node]) for node in chain.nodes], True
    else:
        points, proven = common_cuts(chain, hypothesis)
    several = [chain.size(left[0], right[0]) > 1 for left, right in pairwise(points)]
    ends = [
        points[0],
        *(
            point
            for point, before, after in zip(points[1:-1], several, several[1:], strict=False)
            if before or after
        ),
        points[-1],
    ]
    stages = [
        Stage(
            chain.source[positions[left] : positions[right]],
            hypothesis[j:end],
            chain.between(left, right),
        )
        for (left, j), (right, end) in pairwise(ends)
    ]
    return stages, proven and chain.complete
