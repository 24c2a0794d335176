"""The official M2 scorer's procedure, step by step, as slow as it is: for tests only.

Written from a description of what the program does, quirks included: two edit lattices whose
common arcs count twice, a transitive closure over dictionaries, noop arcs removed from a list
while it is walked, penalties added per occurrence, a two-pointer sweep over insertions, and
Bellman-Ford with |V| - 1 passes. The kernel shares no code and no shortcut with it.
"""

from collections import defaultdict
from dataclasses import dataclass, replace
from itertools import product

from errata.data import Edit

EPSILON = 0.001
Cell = tuple[int, int]
Arc = tuple[Cell, Cell]


@dataclass(frozen=True)
class Change:
    """What an arc does: source tokens ``start:end`` become hypothesis tokens ``left:right``."""

    kind: str
    start: int
    end: int
    left: int
    right: int
    unchanged: int
    top: int = 0
    bottom: int = 0


def _edit_graph(source: list[str], hypothesis: list[str], substitution: int) -> set[Arc]:
    """The arcs on some cheapest path of one Levenshtein table."""
    n, m = len(source), len(hypothesis)
    cost: dict[Cell, int] = {}
    before: dict[Cell, list[Cell]] = {}
    for i, j in product(range(n + 1), range(m + 1)):
        ways: dict[Cell, int] = {}
        if i and j:
            equal = source[i - 1] == hypothesis[j - 1]
            ways[i - 1, j - 1] = cost[i - 1, j - 1] + (0 if equal else substitution)
        if i:
            ways[i - 1, j] = cost[i - 1, j] + 1
        if j:
            ways[i, j - 1] = cost[i, j - 1] + 1
        if i == 0 or j == 0:
            assert len(ways) <= 1
        cost[i, j] = min(ways.values(), default=0)
        before[i, j] = [cell for cell, way in ways.items() if way == cost[i, j]]
    arcs: set[Arc] = set()
    stack = [(n, m)]
    seen = {(n, m)}
    while stack:
        cell = stack.pop()
        for other in before[cell]:
            arcs.add((other, cell))
            if other not in seen:
                seen.add(other)
                stack.append(other)
    return arcs


def _elementary(source: list[str], hypothesis: list[str], arc: Arc, release: bool) -> Change:
    (start, left), (end, right) = arc
    real = start, end
    if end > start and right > left:
        equal = source[start] == hypothesis[left]
        return Change("noop" if equal else "sub", start, end, left, right, int(equal), *real)
    if release and end == 0:
        start = end = right - 1  # release 3.2 counts columns on the first row
    kind = "del" if real[1] > real[0] else "ins"
    return Change(kind, start, end, left, right, 0, *real)


class Graph:
    """All arcs in the official order, with their distances and changes."""

    def __init__(
        self, source: list[str], hypothesis: list[str], max_unchanged: int, release: bool = False
    ) -> None:
        self.source, self.hypothesis = source, hypothesis
        one = _edit_graph(source, hypothesis, 1)
        two = _edit_graph(source, hypothesis, 2)
        self.cells = sorted({(0, 0)} | {cell for arc in one | two for cell in arc})
        self.arcs: list[Arc] = sorted([*one, *two])
        self.length = dict.fromkeys(self.arcs, 1)
        self.change = {arc: _elementary(source, hypothesis, arc, release) for arc in self.arcs}
        self._close(max_unchanged)
        self._remove_noops()

    def _close(self, max_unchanged: int) -> None:
        for k in self.cells:
            for i in self.cells:
                if (i, k) not in self.length:
                    continue
                for j in self.cells:
                    if (k, j) not in self.length:
                        continue
                    far = self.length[i, k] + self.length[k, j]
                    a, b = self.change[i, k], self.change[k, j]
                    unchanged = a.unchanged + b.unchanged
                    if far < self.length.get((i, j), 10**9) and unchanged <= max_unchanged:
                        kind = a.kind if a.kind == b.kind else "sub"
                        self.arcs.append((i, j))
                        self.length[i, j] = far
                        self.change[i, j] = replace(
                            a,
                            kind=kind,
                            end=b.end,
                            right=b.right,
                            unchanged=unchanged,
                            bottom=b.bottom,
                        )

    def _remove_noops(self) -> None:
        for arc in self.arcs:  # the list shrinks under the loop: that is the official behaviour
            if self.change[arc].kind == "noop" and self.length[arc] > 1:
                self.arcs.remove(arc)
                del self.change[arc]

    def matches(self, arc: Arc, edit: Edit) -> bool:
        change = self.change[arc]
        return self.equals(change, edit)

    def equals(self, change: Change, edit: Edit) -> bool:
        text = " ".join(self.hypothesis[change.left : change.right])
        old = self.source[change.top : change.bottom]
        return (
            (change.start, change.end) == (edit.start, edit.end)
            and old == self.source[edit.start : edit.end]
            and text in edit.replacements
        )

    def weights(self, gold: list[Edit]) -> dict[Arc, float]:
        weight = {arc: float(self.length[arc]) for arc in self.arcs}
        groups: dict[tuple[int, int], list[Arc]] = defaultdict(list)
        for arc in self.arcs:
            groups[self.change[arc].start, self.change[arc].end].append(arc)
        for (start, end), group in groups.items():
            group.sort()
            here = [edit for edit in gold if (edit.start, edit.end) == (start, end)]
            if start == end:
                self._sweep(group, here, weight)
                continue
            for arc in group:
                if any(self.matches(arc, edit) for edit in here):
                    weight[arc] = -float(len(self.arcs))
                elif self.change[arc].kind != "noop":
                    weight[arc] += EPSILON
        return weight

    def _sweep(self, group: list[Arc], gold: list[Edit], weight: dict[Arc, float]) -> None:
        left, right, now = 0, len(group) - 1, 0
        first, last = 0, len(gold) - 1
        while left <= right:
            arc = group[now]
            at_left = now == left
            order = range(first, last + 1) if at_left else range(last, first - 1, -1)
            hit = next((i for i in order if self.matches(arc, gold[i])), None)
            if hit is not None:
                weight[arc] = -float(len(self.arcs))
                if at_left:
                    first = hit + 1
                    left += 1
                    while left < len(group) and group[left][0] != arc[1]:
                        weight[group[left]] += EPSILON
                        left += 1
                    now = left
                else:
                    last = hit - 1
                    right -= 1
                    while right >= 0 and group[right][1] != arc[0]:
                        weight[group[right]] += EPSILON
                        right -= 1
                    now = right
                continue
            if self.change[arc].kind != "noop":
                weight[arc] += EPSILON
            if at_left:
                left += 1
                now = right
            else:
                right -= 1
                now = left

    def best_path(self, weight: dict[Arc, float]) -> list[Change]:
        distance = dict.fromkeys(self.cells, float("inf"))
        distance[0, 0] = 0.0
        before: dict[Cell, Cell] = {}
        for _ in range(len(self.cells) - 1):
            for arc in self.arcs:
                a, b = arc
                if distance[a] + weight[arc] < distance[b]:
                    distance[b] = distance[a] + weight[arc]
                    before[b] = a
        path: list[Change] = []
        cell = self.cells[-1]
        while cell in before:
            change = self.change[before[cell], cell]
            if change.kind != "noop":
                path.append(change)
            cell = before[cell]
        return path[::-1]


def edit_path(
    source: str, hypothesis: str, gold: list[Edit], max_unchanged: int
) -> list[tuple[int, int, int, int]]:
    """The proposed edits as (start, end, left, right), as the official scorer finds them."""
    graph = Graph(source.split(), hypothesis.split(), max_unchanged)
    return [(c.start, c.end, c.left, c.right) for c in graph.best_path(graph.weights(gold))]


def official_counts(
    source: str, hypothesis: str, gold: list[Edit], max_unchanged: int = 2, *, release: bool = False
) -> tuple[int, int, int]:
    """(correct, proposed, gold) as the official scorer counts them, repeated edits twice."""
    graph = Graph(source.split(), hypothesis.split(), max_unchanged, release)
    correct = pointer = 0
    path = graph.best_path(graph.weights(gold))
    for change in path:
        for i in range(pointer, len(gold)):
            if graph.equals(change, gold[i]):
                correct += 1
                pointer = i + 1
    return correct, len(path), len(gold)
