"""Where release 3.2 of the M2 scorer differs from the later program: insertions before all words.

The release numbers an insertion of the j-th hypothesis token before the first source token as
standing at j - 1, not at 0. So an insertion of two words or more at the start of a sentence never
meets its gold edit. Nothing else differs, and few sentences begin so: for these the official
procedure is carried out step by step, for all others the kernel's edits equal the release's.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from errata.data import Edit

EPSILON = 0.001
LARGEST = 300_000  # arcs of one pair; beyond it the later program's edits are taken
Place = tuple[int, int]
Arc = tuple[Place, Place]


class Phrase(NamedTuple):
    """An arc: the ends that the release reports, and the span it really covers."""

    kind: str
    start: int
    end: int
    unchanged: int
    far: int


def concerned(source: Sequence[str], hypothesis: Sequence[str]) -> bool:
    """Whether some cheapest alignment begins with two insertions.

    >>> concerned("b c".split(), "x y b c".split()), concerned("b c".split(), "x b c".split())
    (True, False)
    """
    if len(hypothesis) < 2:
        return False
    from rapidfuzz.distance import Indel, Levenshtein

    return any(
        measure.distance(source, hypothesis[2:]) + 2 == measure.distance(source, hypothesis)
        for measure in (Levenshtein, Indel)
    )


def proposed_edits(
    source: Sequence[str], hypothesis: Sequence[str], gold: Sequence[Edit], max_unchanged: int
) -> list[tuple[Arc, list[int]]] | None:
    """The edits on the best path as (cells, gold edits that equal it), from left to right.

    None where the graph of the pair is too large.
    """
    graph = _Graph(source, hypothesis)
    if not graph.close(max_unchanged):
        return None
    graph.remove_noops()
    weight = graph.weights(gold)
    return [(arc, graph.equal(arc, gold)) for arc in graph.path(weight)]


class _Graph:
    """The arcs of a pair in the official order, an arc of both lattices twice."""

    def __init__(self, source: Sequence[str], hypothesis: Sequence[str]) -> None:
        self.source, self.hypothesis = source, hypothesis
        self.arcs = sorted(arc for price in (1, 2) for arc in _cheapest(source, hypothesis, price))
        self.cells = sorted({(0, 0), *(cell for arc in self.arcs for cell in arc)})
        self.steps = {arc: self._phrase_of_arc(arc) for arc in self.arcs}

    def _phrase_of_arc(self, arc: Arc) -> Phrase:
        (i, j), (k, m) = arc
        if k > i and m > j:
            equal = self.source[i] == self.hypothesis[j]
            return Phrase("noop" if equal else "sub", i, k, int(equal), 1)
        if k > i:
            return Phrase("del", i, k, 0, 1)
        at = j if i == 0 else i  # the accident of the release
        return Phrase("ins", at, at, 0, 1)

    def close(self, max_unchanged: int) -> bool:
        """Add phrase edits over few unchanged words; False where they are too many."""
        into: dict[Place, list[Place]] = defaultdict(list)
        out: dict[Place, list[Place]] = defaultdict(list)
        for i, k in dict.fromkeys(self.arcs):
            into[k].append(i)
            out[i].append(k)
        for k in self.cells:
            for i in sorted(into[k]):
                for j in sorted(out[k]):
                    a, b = self.steps[i, k], self.steps[k, j]
                    far, unchanged = a.far + b.far, a.unchanged + b.unchanged
                    known = self.steps.get((i, j))
                    if unchanged > max_unchanged or (known is not None and far >= known.far):
                        continue
                    if known is None:
                        into[j].append(i)
                        out[i].append(j)
                    kind = a.kind if a.kind == b.kind else "sub"
                    self.arcs.append((i, j))
                    self.steps[i, j] = Phrase(kind, a.start, b.end, unchanged, far)
            if len(self.arcs) > LARGEST:
                return False
        return True

    def remove_noops(self) -> None:
        """Drop longer unchanged stretches, skipping what comes after each, as the program does."""
        kept: list[Arc] = []
        gone: set[Arc] = set()
        skip = False
        for arc in self.arcs:
            step = self.steps[arc]
            if not skip and step.kind == "noop" and step.far > 1:
                gone.add(arc)
                skip = True
                continue
            skip = False
            kept.append(arc)
        self.arcs = [arc for arc in kept if arc not in gone]

    def equal(self, arc: Arc, gold: Sequence[Edit]) -> list[int]:
        """Which gold edits an arc equals: in place, old words and new words."""
        step = self.steps[arc]
        (i, j), (k, m) = arc
        old, new = list(self.source[i:k]), " ".join(self.hypothesis[j:m])
        return [
            x
            for x, edit in enumerate(gold)
            if (step.start, step.end) == (edit.start, edit.end)
            and old == list(self.source[edit.start : edit.end])
            and new in edit.replacements
        ]

    def weights(self, gold: Sequence[Edit]) -> dict[Arc, float]:
        weight = {arc: float(self.steps[arc].far) for arc in self.arcs}
        groups: dict[tuple[int, int], list[Arc]] = defaultdict(list)
        for arc in self.arcs:
            groups[self.steps[arc].start, self.steps[arc].end].append(arc)
        for (start, end), group in groups.items():
            group.sort()
            if start == end:
                self._meet_insertions(group, gold, weight)
                continue
            for arc in group:
                if self.equal(arc, gold):
                    weight[arc] = -float(len(self.arcs))
                elif self.steps[arc].kind != "noop":
                    weight[arc] += EPSILON
        return weight

    def _meet_insertions(
        self, group: list[Arc], gold: Sequence[Edit], weight: dict[Arc, float]
    ) -> None:
        """Let every gold insertion at one place be met once, from both ends of the group."""
        left, right, now = 0, len(group) - 1, 0
        first, last = 0, len(gold) - 1
        while left <= right:
            arc, at_left = group[now], now == left
            hits = [x for x in self.equal(arc, gold) if first <= x <= last]
            if hits and at_left:
                weight[arc] = -float(len(self.arcs))
                first, left = hits[0] + 1, left + 1
                while left < len(group) and group[left][0] != arc[1]:
                    weight[group[left]] += EPSILON
                    left += 1
                now = left
            elif hits:
                weight[arc] = -float(len(self.arcs))
                last, right = hits[-1] - 1, right - 1
                while right >= 0 and group[right][1] != arc[0]:
                    weight[group[right]] += EPSILON
                    right -= 1
                now = right
            else:
                if self.steps[arc].kind != "noop":
                    weight[arc] += EPSILON
                left, right = (left + 1, right) if at_left else (left, right - 1)
                now = right if at_left else left

    def path(self, weight: dict[Arc, float]) -> list[Arc]:
        """The cheapest way to the last cell; passes end with the first that changes nothing."""
        distance = dict.fromkeys(self.cells, float("inf"))
        distance[0, 0] = 0.0
        before: dict[Place, Place] = {}
        changed = True
        while changed:
            changed = False
            for a, b in self.arcs:
                through = distance[a] + weight[a, b]
                if through < distance[b]:
                    distance[b], before[b], changed = through, a, True
        found, cell = [], self.cells[-1]
        while cell in before:
            arc = (before[cell], cell)
            if self.steps[arc].kind != "noop":
                found.append(arc)
            cell = before[cell]
        return found[::-1]


def _cheapest(source: Sequence[str], hypothesis: Sequence[str], price: int) -> set[Arc]:
    """The arcs on some cheapest path of the Levenshtein table with this price of substitutions."""
    rows, columns = len(source) + 1, len(hypothesis) + 1
    cost = [list(range(columns))]
    for i in range(1, rows):
        row = [i]
        for j in range(1, columns):
            other = 0 if source[i - 1] == hypothesis[j - 1] else price
            row.append(min(cost[-1][j - 1] + other, cost[-1][j] + 1, row[-1] + 1))
        cost.append(row)
    arcs: set[Arc] = set()
    todo, seen = [(rows - 1, columns - 1)], {(rows - 1, columns - 1)}
    while todo:
        i, j = todo.pop()
        ways = []
        if i and j:
            other = 0 if source[i - 1] == hypothesis[j - 1] else price
            ways.append(((i - 1, j - 1), other))
        ways += [((i - 1, j), 1)] * bool(i) + [((i, j - 1), 1)] * bool(j)
        for cell, added in ways:
            if cost[cell[0]][cell[1]] + added == cost[i][j]:
                arcs.add((cell, (i, j)))
                if cell not in seen:
                    seen.add(cell)
                    todo.append(cell)
    return arcs
