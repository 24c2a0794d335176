"""A comparison of two systems written down as it is defined, sentence by sentence, with sets.

Slow, and shares with the package only the extraction of edits and the reading of files.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from errata.data import Corpus, Edit, Hypotheses
from errata.edits import extract, retype, with_edits

Triple = tuple[int, int, str]


@dataclass
class Slow:
    """What `compared` counts."""

    states: Counter[tuple[str | None, str | None]] = field(default_factory=Counter)
    by_kind: Counter[tuple[str, str | None, str | None]] = field(default_factory=Counter)
    by_length: Counter[tuple[str, str | None, str | None]] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    gains: dict[int, int] = field(default_factory=dict)
    clean: list[int] = field(default_factory=list)


def triples(edits: Sequence[Edit]) -> dict[Triple, str]:
    """Edits without doubles and without those that only detect, with their kinds."""
    found: dict[Triple, str] = {}
    for edit in edits:
        if edit.kind != "UNK":
            found.setdefault((edit.start, edit.end, "||".join(edit.replacements)), edit.kind)
    return found


def f_half(tp: int, fp: int, fn: int) -> float:
    p = tp / (tp + fp) if fp else 1.0
    r = tp / (tp + fn) if fn else 1.0
    return round(1.25 * p * r / (0.25 * p + r), 4) if p + r else 0.0


def chosen(rows: list[list[list[int]]]) -> list[int]:
    """The reference of each sentence with the best F over the sentences so far."""
    totals, taken = [0, 0, 0], []
    for counts in rows:
        best: Any = None
        for r, row in enumerate(counts):
            sums = [a + b for a, b in zip(totals, row, strict=True)]
            key = (f_half(*sums), row[0], -row[1], -row[2], -r)
            if best is None or key > best:
                best = key
        taken.append(-best[-1])
        totals = [a + b for a, b in zip(totals, counts[taken[-1]], strict=True)]
    return taken


def counts(mine: set[Triple], theirs: set[Triple]) -> list[int]:
    return [len(mine & theirs), len(mine - theirs), len(theirs - mine)]


def places(triple: Triple) -> set[tuple[str, int]]:
    """The tokens an edit is about, or the gap it fills and the gaps inside it."""
    start, end, _ = triple
    tokens = {("token", k) for k in range(start, end)}
    gaps = {("gap", k) for k in range(start + 1, end)}
    return tokens | gaps if end > start else {("gap", start)}


def state(asked: Triple, made: set[Triple], theirs: set[Triple]) -> str:
    if asked in made:
        return "right"
    near = [each for each in made - theirs if places(each) & places(asked)]
    return "wrong" if near else "missed"


def length(source: str) -> str:
    words = len(source.split())
    bounds = ((10, "1-10"), (20, "11-20"), (30, "21-30"), (40, "31-40"))
    return next((name for most, name in bounds if words <= most), "41 or more")


@cache
def made_by(sources: tuple[str, ...], sentences: tuple[str, ...]) -> list[dict[Triple, str]]:
    return [triples(extract(s, t)) for s, t in zip(sources, sentences, strict=True)]


@cache
def asked_in(corpus: Corpus) -> list[list[dict[Triple, str]]]:
    gold = retype(with_edits(corpus), "aligned", ("UNK",))
    return [[triples(r.edits or ()) for r in refs] for refs in gold.references]


def compared(corpus: Corpus, old: Hypotheses, new: Hypotheses) -> Slow:
    """Both systems against one annotator a sentence, the best for their summed counts."""
    made = [made_by(corpus.sources, each.sentences) for each in (old, new)]
    asked = asked_in(corpus)
    rows = []
    for i, several in enumerate(asked):
        rows.append([])
        for theirs in several:
            pair = [counts({*each[i]}, {*theirs}) for each in made]
            rows[-1].append([a + b for a, b in zip(*pair, strict=True)])
    slow = Slow()
    for i, at in enumerate(chosen(rows)):
        theirs = asked[i][at]
        before, after = made[0][i], made[1][i]
        moves: list[tuple[str, str | None, str | None]] = []
        for edit, kind in theirs.items():
            slow.errors[kind] += 1
            was, now = (state(edit, {*each}, {*theirs}) for each in (before, after))
            if was != now:
                moves.append((kind, was, now))
        moves += [(kind, "wrong", None) for e, kind in before.items() if e not in {*theirs, *after}]
        moves += [(kind, None, "wrong") for e, kind in after.items() if e not in {*theirs, *before}]
        for kind, *move in moves:
            slow.states[move[0], move[1]] += 1
            slow.by_kind[kind, move[0], move[1]] += 1
            slow.by_length[length(corpus.sources[i]), move[0], move[1]] += 1
        balance = [len({*each} & {*theirs}) - len({*each} - {*theirs}) for each in (before, after)]
        if balance[1] != balance[0]:
            slow.gains[i] = balance[1] - balance[0]
        if not any(asked[i]):
            slow.clean.append(i)
    return slow


def alone(corpus: Corpus, system: Hypotheses, kind: str) -> tuple[list[int], int, int]:
    """TP, FP and FN with both sides restricted to a kind, then success and of how many."""
    rows, success, positive = [], 0, 0
    everything = made_by(corpus.sources, system.sentences)
    for made, refs in zip(everything, asked_in(corpus), strict=True):
        mine = {e for e, k in made.items() if k == kind}
        theirs = [{e for e, k in each.items() if k == kind} for each in refs]
        rows.append([counts(mine, each) for each in theirs])
        if any(theirs):
            positive += 1
            success += any(each <= {*made} for each in theirs if each)
    totals = [0, 0, 0]
    for row, at in zip(rows, chosen(rows), strict=True):
        totals = [a + b for a, b in zip(totals, row[at], strict=True)]
    return totals, success, positive
