"""F over edits, ERRANT's comparison."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import fields, replace
from fractions import Fraction
from typing import Any, Literal, Self

import numpy as np

from errata.core.errors import InputError, install_extra
from errata.core.parameters import About
from errata.core.stats import Floats, Ints, Progress
from errata.data import Corpus, Edit, Hypotheses
from errata.edits import (
    GoldEditing,
    OutputEditing,
    describe_origins,
    edits_of,
    has_comparable_types,
    kinds_of,
    origin_facts,
    origins,
    split_extractor,
    with_edits,
)
from errata.edits.errant import open_extractor
from errata.metrics.base import (
    Before,
    Description,
    Metric,
    MetricFacts,
    Scope,
    append_score,
    check_beta,
    count_each,
    f_beta,
    mean_own_score,
    metric,
    precision_recall,
    to_int,
)
from errata.metrics.running_choice import RunningRule, best_references, f_ratio, rounded

# ---- Edits compared by span, correction and kind, as ERRANT compares them.

TP, FP, FN = range(3)  # where the statistics stand
Keyed = dict[Hashable, list[Edit]]  # edits by the key that is compared
Tables = list[list[dict[str, list[int]]]]  # [TP, FP, FN] by kind, of every sentence and reference


def is_kind(kind: str, name: str) -> bool:
    """Whether a kind goes by this name: in full, without the operation, or as operation only."""
    return name in (kind, kind[2:]) or (len(name) == 2 and name[1] == ":" and kind[:2] == name)


def keys_of(edit: Edit, text: str, mode: str, *, alternatives: bool) -> list[tuple[Hashable, ...]]:
    """What is compared of an edit: its span, its tokens, or its span and correction."""
    if mode == "detection":
        return [(edit.start, edit.end)]
    if mode == "token_detection":  # an insertion belongs to the token on its right
        return [(k, k + 1) for k in range(edit.start, max(edit.end, edit.start + 1))]
    if alternatives and edit.alternatives:
        return [(edit.start, edit.end, frozenset(edit.replacements))]
    return [(edit.start, edit.end, text)]


def gold_kinds(gold: Corpus) -> set[str]:
    """Return the kinds of all gold edits, without those that only detect."""
    return kinds_of(r.edits or () for references in gold.references for r in references)


def sum_tables(tables: Sequence[Sequence[dict[str, list[int]]]]) -> Floats:
    """TP, FP and FN over all kinds, ``[sentence, reference, k]``; NaN where there is none."""
    counts = np.full((len(tables), max([1, *map(len, tables)]), 3), np.nan)
    for i, several in enumerate(tables):
        for r, table in enumerate(several):
            counts[i, r] = [sum(column) for column in zip(*table.values(), strict=True)] or 0.0
    return counts


def match_edits(
    proposed: Keyed, gold: Keyed, *, alternatives: bool = True
) -> tuple[list[tuple[Edit, Edit | None]], list[Edit]]:
    """Every gold edit with the proposed one that is the same, or None; and the proposed others.

    Gold edits come in the order of the file, whatever was proposed. One proposal meets one gold
    edit (or those that stand for it twice in the file); of two for one the second is needless.
    Without ``alternatives`` no gold edit is known to have several corrections.
    """
    several = {
        (k[0], k[1], text, *k[3:]): k
        for k in (gold if alternatives else ())
        if isinstance(k, tuple) and len(k) > 2 and isinstance(k[2], frozenset)
        for text in k[2]
    }
    met: dict[Hashable, Edit] = {}
    needless: list[Edit] = []
    for key, edits in proposed.items():
        match = several.get(key, key)  # type: ignore[call-overload]
        if match in gold and match not in met:
            met[match] = edits[0]
        else:
            needless += edits
    return [(edit, met.get(key)) for key, edits in gold.items() for edit in edits], needless


def tally(proposed: Keyed, gold: Keyed, *, alternatives: bool = True) -> dict[str, list[int]]:
    """[TP, FP, FN] by kind: the gold kind where an edit is right, its own elsewhere."""
    table: dict[str, list[int]] = {}
    asked, needless = match_edits(proposed, gold, alternatives=alternatives)
    for edit, made in asked:
        table.setdefault(edit.kind, [0, 0, 0])[FN if made is None else TP] += 1
    for edit in needless:
        table.setdefault(edit.kind, [0, 0, 0])[FP] += 1
    return table


DIGITS = 4  # to which ERRANT rounds F before it compares annotators

INSTALL = f"{install_extra('errant')} && python -m spacy download en_core_web_sm"


@metric
class Edits(Metric):
    """F-score over edits, compared as ERRANT 3.0.2's ``errant_compare`` does.

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
    ``outputs`` says what to do where some outputs come with edits and some as text (see
    `errata.edits.edits_of`); ``alternatives="any"`` accepts each of several gold
    corrections, where ERRANT compares the unsplit string ``a||b``; ``duplicates=True`` counts an
    edit that stands twice in the file twice, as ERRANT does; ``choice="isolated"`` takes the
    annotator best for each sentence alone, as single sentences always do; ``total="mean"`` is the
    mean of the sentences' F (as SEEDA's SentERRANT), each with the annotator best for it.

    >>> corpus = Corpus.from_texts(["He go home"], [["He goes home"]])
    >>> Edits().count(corpus, Hypotheses("A", ("He goes home .",))).tolist()
    [[[1.0, 1.0, 0.0]]]
    """

    name = "edits"
    about = About(
        paper="Bryant et al. 2017", range="from 0 to 1", needs=("gold edits or references",)
    )
    beta: float = 0.5
    mode: Literal["correction", "detection", "token_detection"] = "correction"
    types: bool = False
    only: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    size: Literal["all", "single", "multi"] = "all"
    gold: GoldEditing = "as_is"
    extractor: str = "aligned"
    outputs: OutputEditing = "alike"
    alternatives: Literal["literal", "any"] = "literal"
    duplicates: bool = False
    choice: Literal["sequential", "isolated"] = "sequential"
    total: Literal["sum", "mean"] = "sum"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_beta(self.name, self.beta)
        split_extractor(self.extractor)

    @property
    def statistics(self) -> tuple[str, ...]:
        """Right, needless and missed edits; with ``total="mean"`` also the sentence's own F."""
        return ("TP", "FP", "FN", *(("F", "sentences") if self.total == "mean" else ()))

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
        """Extract the edits of all systems together, then count."""
        gold, found = self.prepared(corpus, systems, progress)
        for hypotheses in systems if self.types else ():
            self._require_alike(gold, hypotheses)
        # Edits that were extracted again are not extracted once more.
        plain = replace(self, gold="as_is", outputs="mixed")
        return count_each(plain._count, gold, found, threads=threads, progress=progress)

    def count(self, corpus: Corpus, hypotheses: Hypotheses) -> Floats:
        """Right, needless and missed edits of each sentence, by annotator."""
        gold, (found,) = self.prepared(corpus, [hypotheses])
        if self.types:
            self._require_alike(gold, hypotheses)
        return self._count(gold, found)

    def _count(self, gold: Corpus, hypotheses: Hypotheses) -> Floats:
        return self.with_sentence_f(sum_tables(self.compare(gold, hypotheses)))

    def prepared(
        self, corpus: Corpus, systems: Sequence[Hypotheses], progress: Progress | None = None
    ) -> tuple[Corpus, list[Hypotheses]]:
        """The corpus with its gold edits, and the outputs with theirs."""
        gold = with_edits(corpus, self.gold, self.extractor, progress)
        return gold, edits_of(
            corpus, systems, self.outputs, extractor=self.extractor, progress=progress
        )

    def extracting(self, extractor: str) -> Self:
        """The same with all outputs' edits found by this extractor, whether some came or not."""
        return replace(self, extractor=extractor, outputs="reextracted")

    def with_sentence_f(self, counts: Floats) -> Floats:
        """Counts with what the mean over sentences needs, where it is asked for."""
        if self.total == "sum":
            return counts
        f = f_beta(*precision_recall(*self._columns(counts), 1.0), self.beta)
        return append_score(counts, f)

    def choose(self, counts: Floats, before: Before | None = None) -> Ints:
        """The annotator with the best F, rounded as ERRANT does, of the sentences so far."""
        share = f_ratio(self.beta, len(self.statistics), empty=1)

        def ranked(totals: Sequence[Fraction]) -> int:
            return rounded(share.of(totals), DIGITS, lambda: self._official_f(totals))

        rule = RunningRule(ranked, (share,), DIGITS)
        return best_references(counts, rule, alone=self.scope == "sentence", before=before)

    @property
    def scope(self) -> Scope:
        """The sentences before, unless each takes the annotator best for it alone."""
        # A mean over sentences is best where each of them is.
        return "sentence" if self.choice == "isolated" or self.total == "mean" else "running"

    @property
    def single(self) -> Self:
        """With the annotator best for the sentence alone."""
        return replace(self, choice="isolated")

    def score(self, totals: Floats) -> Floats:
        """F of summed counts; P is 1 without false positives (ERRANT's rule)."""
        if self.total == "mean":
            return mean_own_score(totals)
        return f_beta(*precision_recall(*self._columns(totals), 1.0), self.beta)

    def _columns(self, totals: Floats) -> tuple[Floats, Floats, Floats]:
        return totals[..., TP], totals[..., FP], totals[..., FN]

    def figures(self, totals: Floats) -> dict[str, Floats | Ints]:
        """Precision, recall, and the counts behind them."""
        precision, recall = precision_recall(*self._columns(totals), 1.0)
        counts = dict(zip(("TP", "FP", "FN"), self._columns(totals), strict=True))
        return {
            "P": precision,
            "R": recall,
            **{name: to_int(count) for name, count in counts.items()},
        }

    def facts(self, corpus: Corpus, systems: Sequence[Hypotheses]) -> MetricFacts:
        """Where edits come from, and the kinds they have where kinds decide."""
        found: dict[str, Any] = {
            "texts": int(corpus.edits.bare.sum()),
            **origin_facts(systems, self.outputs),
        }
        if self.only or self.ignore:
            gold = with_edits(corpus, self.gold, self.extractor)
            found["gold kinds"] = frozenset(gold_kinds(gold))
            for h in systems:
                if h.edits is not None and self.outputs != "reextracted":
                    found[f"kinds of {h.system}"] = frozenset(kinds_of(h.edits))
        return found

    def describe(self, facts: MetricFacts) -> Description:
        """Where the edits come from, the exact extractor, and what two origins of edits mean."""
        gold = self._finds_gold(facts)
        context = describe_origins(facts, self.extractor, gold=gold)
        given = origins(facts)
        notes = []
        if "gold kinds" in facts:
            kinds = (facts.get(f"kinds of {name}") for name in given)
            alike = (has_comparable_types(facts["gold kinds"], k, self.extractor) for k in kinds)
            if not all(alike):
                notes.append(
                    "only= and ignore= go by kinds, and those of the gold file and of the outputs "
                    "are of two inventories (gold='reextracted' makes them one)"
                )
        if self.gold == "reextracted" and any(given.values()):
            notes.append(
                f"gold edits found anew ({self.extractor}) are compared with edits that came with "
                "the outputs (outputs='reextracted' or --extract finds those anew too, "
                "gold='as_is' takes both as they are)"
            )
        return Description(context, tuple(notes))

    def _finds_gold(self, facts: MetricFacts) -> bool:
        return self.gold == "reextracted" or bool(facts["texts"])

    def kinds_alike(self, gold: Corpus, hypotheses: Hypotheses, *, refuse: bool = True) -> bool:
        """Whether the kinds of gold and output are of one inventory.

        Where they are not and both were given, nothing here can make them so: that is refused.
        """
        given = hypotheses.edits if self.outputs != "reextracted" else None
        mine = None if given is None else kinds_of(given)
        theirs = gold_kinds(gold)
        alike = has_comparable_types(theirs, mine, self.extractor)
        if not alike and mine is not None and refuse:
            raise InputError(
                f"the gold edits have kinds such as {min(theirs)}, those that came with "
                f"{hypotheses.system} such as {min(mine)}: two inventories cannot be compared",
                remedy="find and name the edits alike with --extract NAME (or "
                "outputs='reextracted')",
            )
        return alike

    def _require_alike(self, gold: Corpus, hypotheses: Hypotheses) -> None:
        if not self.kinds_alike(gold, hypotheses):
            raise InputError(
                f"{self.name}: types=True compares kinds, and those of the gold file are not "
                f"the extractor's ({self.extractor})",
                remedy="gold='reextracted' finds and names the gold edits alike",
            )

    def _official_f(self, totals: Sequence[Fraction]) -> float:
        """F as ERRANT computes it, of unrounded P and R, before it rounds it to four digits."""
        tp, fp, fn = map(float, totals[:3])
        p = tp / (tp + fp) if fp else 1.0
        r = tp / (tp + fn) if fn else 1.0
        square = self.beta**2
        return float((1 + square) * p * r) / (square * p + r) if p + r else 0.0

    def compare(self, gold: Corpus, hypotheses: Hypotheses) -> Tables:
        """[TP, FP, FN] by kind, for every sentence and reference; edits must be there."""
        result: Tables = []
        several = self.alternatives == "any"
        for edits, asked in zip(hypotheses.edits or (), self.keyed_gold(gold), strict=True):
            mine = self.keyed(edits, gold=False)
            result.append([tally(mine, each, alternatives=several) for each in asked])
        return result

    def keyed_gold(self, gold: Corpus) -> list[list[Keyed]]:
        """Return the gold edits that count, by their keys, for every reference."""

        def keyed() -> list[list[Keyed]]:
            return [
                [self.keyed(r.edits or (), gold=True) for r in references]
                for references in gold.references
            ]

        # The same for all systems, and whatever is then made of the counts.
        alike = replace(self, beta=0.5, choice="sequential", total="sum")
        return gold.derived(("keyed", alike), keyed)

    def keyed(self, edits: Sequence[Edit], *, gold: bool) -> Keyed:
        """Return the edits that count, proposed or ``gold``, by their keys."""
        alternatives = gold and self.alternatives == "any"
        keyed: Keyed = {}
        seen: set[tuple[int, int, str]] = set()
        for edit in edits:
            text = "||".join(edit.replacements)
            if not self._counts_edit(edit, text):
                continue
            if not self.duplicates and (edit.start, edit.end, text) in seen:
                continue
            seen.add((edit.start, edit.end, text))
            kind = (edit.kind,) if self.types else ()
            for key in keys_of(edit, text, self.mode, alternatives=alternatives):
                keyed.setdefault((*key, *kind), []).append(edit)
        return keyed

    def _counts_edit(self, edit: Edit, text: str) -> bool:
        if edit.kind == "UNK" and self.mode == "correction":
            return False  # detected but not corrected
        if self.size != "all":
            multi = edit.end - edit.start >= 2 or len(text.split()) >= 2
            if multi != (self.size == "multi"):
                return False
        if any(is_kind(edit.kind, name) for name in self.ignore):
            return False
        return not self.only or any(is_kind(edit.kind, name) for name in self.only)


@metric
class Errant(Edits):
    """ERRANT's F (Bryant et al. 2017): `Edits` with ERRANT's edits, of the output and the gold.

    What the field means by it: edits found by the ERRANT package in output and gold alike, then
    compared (``errant_parallel``, ``errant_m2 -auto`` and ``errant_compare``). So where ERRANT and
    an English spaCy pipeline are installed, ``extractor`` is that (``errant``, or
    ``errant:PIPELINE``) and ``gold`` is ``"reextracted"``. Elsewhere Errata's own extractor and the
    gold edits as they are take their place, the score is called ``edits``, and a note says so.
    Both are settled when the metric is made and always named in its signature.

    >>> Errant(extractor="aligned").label
    'edits'
    """

    name = "errant"
    about = About(
        paper="Bryant et al. 2017",
        range="from 0 to 1",
        needs=("gold edits or references", "errata-gec[errant] and a spaCy pipeline for English"),
    )
    gold: GoldEditing = "auto"  # type: ignore[assignment]  # settled when it is made
    extractor: str = "auto"

    def __post_init__(self) -> None:
        if self.extractor == "auto":
            object.__setattr__(self, "extractor", open_extractor() or "aligned")
        gold: str = self.gold
        if gold == "auto":
            object.__setattr__(self, "gold", "reextracted" if self._is_errant else "as_is")
        super().__post_init__()

    def extracting(self, extractor: str) -> Self:
        """The same for outputs; gold edits follow the extractor unless they were spoken of."""
        usual = self.gold == Errant(extractor=self.extractor).gold
        gold = Errant(extractor=extractor).gold if usual else self.gold
        return replace(super().extracting(extractor), gold=gold)

    @property
    def _is_errant(self) -> bool:
        return split_extractor(self.extractor)[0] == "errant"

    @property
    def label(self) -> str:
        """``errant`` where the edits are ERRANT's, else ``edits``; then the unusual parameters."""
        usual = Errant(extractor=self.extractor)
        changed = [f.name for f in fields(self) if getattr(self, f.name) != getattr(usual, f.name)]
        if self._is_errant and self.extractor not in ("errant", open_extractor()):
            changed.append("extractor")
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in changed)
        return ("errant" if self._is_errant else "edits") + (f"({shown})" if shown else "")

    def describe(self, facts: MetricFacts) -> Description:
        """Whether these are ERRANT's edits at all, and what `Edits` describes."""
        described = super().describe(facts)
        if self._is_errant or not (self._finds_gold(facts) or not all(origins(facts).values())):
            return described
        why = "" if open_extractor() else f"; {INSTALL}"
        note = f"Errata's own edits, not ERRANT's: extractor={self.extractor!r}{why}"
        return described._replace(notes=(note, *described.notes))
