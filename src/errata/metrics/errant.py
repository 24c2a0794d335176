"""ERRANT's F: edits of a system against edits of annotators, by span and correction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Self

import numpy as np

from errata.data import Corpus, Edit, Hypotheses
from errata.edits import (
    GoldEditing,
    extract_systems,
    extractor_version,
    kind_at,
    split_extractor,
    with_edits,
)
from errata.errors import InputError
from errata.metrics.base import Metric, by_name, count_each, f_beta, metric, precision_recall, whole
from errata.metrics.choice import best_references
from errata.numbers import Floats, Ints, Progress
from errata.parameters import About

__all__ = ["Errant", "TypeScores", "scores_by_type"]

TP, FP, FN = range(3)  # where the statistics stand
Keyed = dict[Hashable, list[str]]


@metric
class Errant(Metric):
    """F-score over edits, as ERRANT 3.0.2's ``errant_compare`` (Bryant et al. 2017).

    ``P = TP / (TP + FP)``, ``R = TP / (TP + FN)``, 1 where nothing is false; the annotator of
    each sentence is the one with the best F (rounded to four digits) over the sentences so far.
    A hypothesis edit is right if an annotator has the same edit: same span and correction
    (``mode="correction"``), same span (``"detection"``) or same tokens (``"token_detection"``),
    and with ``types=True`` also the same kind.

    Fields: ``only`` and ``ignore`` keep or leave out kinds of edits, written in full
    (``M:DET``), without the operation (``DET``) or as operation only (``M:``); ``size`` keeps
    edits of at most one token on both sides (``"single"``) or the others (``"multi"``);
    ``gold="reextracted"`` replaces the annotators' spans and kinds by the extractor's, so that a
    perfect system reaches 1; ``extractor`` finds the edits of text (see `errata.edits`);
    ``alternatives="any"`` accepts each of several gold corrections, where ERRANT compares the
    unsplit string ``a||b``; ``duplicates=True`` counts an edit that stands twice in the file
    twice, as ERRANT does; ``choice="isolated"`` takes the annotator best for each sentence alone,
    as single sentences always do.

    >>> corpus = Corpus.from_texts(["He go home"], [["He goes home"]])
    >>> Errant().count(corpus, Hypotheses("A", ("He goes home .",))).tolist()
    [[[1.0, 1.0, 0.0]]]
    """

    name = "errant"
    about = About(
        paper="Bryant et al. 2017",
        range="from 0 to 1",
        needs=("gold edits or references", "errata[errant] for extractor=errant"),
    )
    beta: float = 0.5
    mode: Literal["correction", "detection", "token_detection"] = "correction"
    types: bool = False
    only: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    size: Literal["all", "single", "multi"] = "all"
    gold: GoldEditing = "as_is"
    extractor: str = "aligned"
    alternatives: Literal["literal", "any"] = "literal"
    duplicates: bool = False
    choice: Literal["sequential", "isolated"] = "sequential"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.beta > 0:
            raise InputError(f"errant: beta={self.beta!r} must be positive")
        split_extractor(self.extractor)

    @property
    def statistics(self) -> tuple[str, ...]:
        """Right, needless and missed edits."""
        return ("TP", "FP", "FN")

    @property
    def headline(self) -> str:
        """F with its beta, as F0.5."""
        return f"F{self.beta:g}"

    def count_all(
        self,
        corpus: Corpus,
        systems: Sequence[Hypotheses],
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> list[Floats]:
        """Edits are found before anything is counted, those of all systems in one go."""
        gold = with_edits(corpus, self.gold, self.extractor, progress)
        found = extract_systems(corpus, systems, extractor=self.extractor, progress=progress)
        # What was found anew is not to be found anew once more.
        plain = replace(self, gold="as_is")
        return count_each(plain.count, gold, found, threads=threads, progress=progress)

    def count(self, corpus: Corpus, hypotheses: Hypotheses) -> Floats:
        """Right, needless and missed edits of each sentence, by annotator."""
        return _counts(self._compare(corpus, hypotheses))

    def choose(self, counts: Floats) -> Ints:
        """The annotator with the best F, rounded as ERRANT does, of the sentences so far."""
        return best_references(counts, self._rounded_f, alone=self.choice == "isolated")

    @property
    def single(self) -> Self:
        """With the annotator best for the sentence alone."""
        return replace(self, choice="isolated")

    def score(self, totals: Floats) -> Floats:
        """F of summed counts; P is 1 without false positives (ERRANT's rule)."""
        return f_beta(*precision_recall(*self._counted(totals), 1.0), self.beta)

    def _counted(self, totals: Floats) -> tuple[Floats, Floats, Floats]:
        counts = by_name(self.statistics, totals)
        return counts["TP"], counts["FP"], counts["FN"]

    def parts(self, totals: Floats) -> dict[str, Floats | Ints]:
        """Precision, recall, and the counts behind them."""
        precision, recall = precision_recall(*self._counted(totals), 1.0)
        counts = by_name(self.statistics, totals)
        return {
            "P": precision,
            "R": recall,
            **{name: whole(count) for name, count in counts.items()},
        }

    def context(self, corpus: Corpus, systems: Sequence[Hypotheses]) -> tuple[str, ...]:
        """The exact extractor, where it is ERRANT."""
        if self.extractor.startswith("errant"):
            return (f"extractor:{extractor_version(self.extractor)}",)
        return ()

    def notes(self, corpus: Corpus, systems: Sequence[Hypotheses]) -> tuple[str, ...]:
        """Whether kinds of two origins are compared."""
        if self.types and self.gold == "as_is" and self.extractor == "aligned":
            return (
                "types=True compares the kinds of the gold file with the system's: they must "
                "come from one source (gold='reextracted' makes them)",
            )
        return ()

    def _rounded_f(self, totals: Sequence[float]) -> float:
        # ERRANT compares F rounded to four digits, of unrounded P and R.
        tp, fp, fn = totals
        p = tp / (tp + fp) if fp else 1.0
        r = tp / (tp + fn) if fn else 1.0
        square = self.beta**2
        return round(float((1 + square) * p * r) / (square * p + r), 4) if p + r else 0.0

    def _compare(self, corpus: Corpus, hypotheses: Hypotheses) -> list[list[dict[str, list[int]]]]:
        """[TP, FP, FN] by kind, for every sentence and reference."""
        corpus = with_edits(corpus, self.gold, self.extractor)
        proposed = extract_systems(corpus, [hypotheses], extractor=self.extractor)[0].edits or ()
        result = []
        for edits, references in zip(proposed, corpus.references, strict=True):
            mine = self._keyed(edits, alternatives=False)
            result.append(
                [
                    _tally(
                        mine, self._keyed(r.edits or (), alternatives=self.alternatives == "any")
                    )
                    for r in references
                ]
            )
        return result

    def _keyed(self, edits: Sequence[Edit], *, alternatives: bool) -> Keyed:
        """What is compared of each edit, with the kinds of the edits it stands for."""
        keyed: Keyed = {}
        seen: set[tuple[int, int, str]] = set()
        for edit in edits:
            text = "||".join(edit.replacements)
            if not self._kept(edit, text):
                continue
            if not self.duplicates and (edit.start, edit.end, text) in seen:
                continue
            seen.add((edit.start, edit.end, text))
            kind = (edit.kind,) if self.types else ()
            for key in self._keys(edit, text, alternatives):
                keyed.setdefault((*key, *kind), []).append(edit.kind)
        return keyed

    def _keys(self, edit: Edit, text: str, alternatives: bool) -> list[tuple[Hashable, ...]]:
        if self.mode == "detection":
            return [(edit.start, edit.end)]
        if self.mode == "token_detection":  # an insertion belongs to the token on its right
            return [(k, k + 1) for k in range(edit.start, max(edit.end, edit.start + 1))]
        if alternatives and edit.alternatives:
            return [(edit.start, edit.end, frozenset(edit.replacements))]
        return [(edit.start, edit.end, text)]

    def _kept(self, edit: Edit, text: str) -> bool:
        if edit.kind == "UNK" and self.mode == "correction":
            return False  # detected but not corrected
        if self.size != "all":
            multi = edit.end - edit.start >= 2 or len(text.split()) >= 2
            if multi != (self.size == "multi"):
                return False
        if any(_is_kind(edit.kind, name) for name in self.ignore):
            return False
        return not self.only or any(_is_kind(edit.kind, name) for name in self.only)


def _is_kind(kind: str, name: str) -> bool:
    return name in (kind, kind[2:]) or (len(name) == 2 and name[1] == ":" and kind[:2] == name)


def _counts(tables: list[list[dict[str, list[int]]]]) -> Floats:
    """TP, FP and FN over all kinds, ``[sentence, reference, k]``; NaN where there is none."""
    counts = np.full((len(tables), max([1, *map(len, tables)]), 3), np.nan)
    for i, several in enumerate(tables):
        for r, table in enumerate(several):
            counts[i, r] = np.sum(list(table.values()), axis=0) if table else 0.0
    return counts


def _tally(proposed: Keyed, gold: Keyed) -> dict[str, list[int]]:
    """[TP, FP, FN] by kind: the gold kind where an edit is right, its own elsewhere."""
    several = {
        (k[0], k[1], text, *k[3:]): k
        for k in gold
        if isinstance(k, tuple) and len(k) > 2 and isinstance(k[2], frozenset)
        for text in k[2]
    }
    table: dict[str, list[int]] = {}

    def add(kinds: Sequence[str], column: int) -> None:
        for kind in kinds:
            table.setdefault(kind, [0, 0, 0])[column] += 1

    hit = set()
    for key, kinds in proposed.items():
        match = several.get(key, key)  # type: ignore[call-overload]
        if match in gold and match not in hit:
            add(gold[match], TP)
            hit.add(match)
        else:
            add(kinds, FP)
    for key, kinds in gold.items():
        if key not in hit:
            add(kinds, FN)
    return table


@dataclass(frozen=True)
class TypeScores:
    """One system's counts and scores by kind of edit; ``macro`` is the mean F over the kinds."""

    system: str
    kinds: tuple[str, ...]
    counts: Floats
    precision: Floats
    recall: Floats
    f: Floats
    micro: float
    macro: float


def scores_by_type(
    errant: Errant, corpus: Corpus, hypotheses: Hypotheses, *, tier: int = 3
) -> TypeScores:
    """Counts, P, R and F for each kind of edit, with the references the corpus score takes.

    ``tier`` 1 groups by operation (M, R, U), 2 by kind without operation (``DET``), 3 shows full
    kinds, as ``errant_compare -cat``. Kinds without an operation (``UNK``) stay as they are.
    """
    compared = errant._compare(corpus, hypotheses)
    choice = errant.choose(_counts(compared))[0]
    totals: dict[str, Counter[int]] = {}
    for tables, chosen in zip(compared, choice, strict=True):
        for kind, row in tables[chosen].items():
            name = kind_at(kind, tier)
            totals.setdefault(name, Counter()).update(dict(enumerate(row)))
    kinds = tuple(sorted(totals))
    counts = np.array([[totals[k][c] for c in range(3)] for k in kinds], np.float64).reshape(-1, 3)
    precision, recall = precision_recall(counts[:, TP], counts[:, FP], counts[:, FN], 1.0)
    f = f_beta(precision, recall, errant.beta)
    return TypeScores(
        hypotheses.system,
        kinds,
        counts,
        precision,
        recall,
        f,
        float(errant.score(counts.sum(axis=0))),
        float(f.mean()) if kinds else 0.0,
    )
