"""F over edits, ERRANT's comparison."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np

from errata.core.errors import InputError, install_extra
from errata.core.parameters import About
from errata.core.stats import Bools, Floats, Ints, Progress
from errata.data import Corpus, Hypotheses, Numbers, ReferenceTable
from errata.data.edits import members, offsets
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
from errata.metrics.ngrams import per_reference
from errata.metrics.running_choice import RunningRule, best_references, f_ratio, rounded

# ---- Edits compared by span, correction and kind, as ERRANT compares them.

TP, FP, FN = range(3)  # where the statistics stand


def is_kind(kind: str, name: str) -> bool:
    """Whether a kind goes by this name: in full, without the operation, or as operation only."""
    return name in (kind, kind[2:]) or (len(name) == 2 and name[1] == ":" and kind[:2] == name)


@dataclass(frozen=True, eq=False)
class EditKeys:
    """The compared parts of edits: ``edit[e]`` of sentence or reference ``row[e]`` has ``key[e]``.

    ``table`` has the edits themselves, and those that do not count. An edit of several tokens may
    have several entries. The keys ``further``, of the entries ``further_of``, are as good as
    theirs.
    """

    table: ReferenceTable
    row: Ints
    edit: Ints
    key: Ints
    further_of: Ints
    further: Ints

    def select(self, kept: Bools) -> EditKeys:
        """Return some of the entries."""
        own = kept[self.further_of]
        place = np.cumsum(kept) - 1
        moved = place[self.further_of[own]]
        parts = (self.row[kept], self.edit[kept], self.key[kept], moved, self.further[own])
        return EditKeys(self.table, *parts)

    @cached_property
    def groups(self) -> tuple[Ints, Ints, Ints]:
        """The group of each entry, by row and key; the keys that meet a group, and which group.

        A key that meets two groups meets the one of further keys, and of these the last.
        """
        own, first, group = np.unique(
            _row_and_key(self.row, self.key), return_index=True, return_inverse=True
        )
        some = first[group[self.further_of]] == self.further_of  # others repeat an earlier entry
        of, further = self.further_of[some], self.further[some]
        keys = np.concatenate([own, _row_and_key(self.row[of], further)])[::-1]
        meets = np.concatenate([np.arange(len(own)), group[of]])[::-1]
        accepted, last = np.unique(keys, return_index=True)
        return group, accepted, meets[last]


def _row_and_key(row: Ints, key: Ints) -> Ints:
    """Return rows and keys as one number each."""
    return np.asarray(row << 32 | key)


@dataclass(frozen=True, eq=False)
class MatchedEdits:
    """The edits of an output compared with the edits of every reference.

    Gold entry e is met by entry ``met_by[e]`` of the output, -1 where it is missed. The entries
    ``needless`` of the output meet nothing of the references ``needless_reference``.
    """

    output: EditKeys
    gold: EditKeys
    first: Ints
    met_by: Ints
    needless: Ints
    needless_reference: Ints

    @classmethod
    def of(cls, output: EditKeys, gold: EditKeys, first: Ints) -> MatchedEdits:
        """Match keys; sentence i has the references ``first[i]:first[i + 1]``.

        One key of the output meets a group of equal gold keys; of two for one group, which have
        different corrections of several, the second is needless.
        """
        group, accepted, meets = gold.groups
        entry = np.repeat(np.arange(len(output.row)), np.diff(first)[output.row])
        reference = members(first, output.row)
        wanted = _row_and_key(reference, output.key[entry])
        at = np.searchsorted(accepted, wanted)
        hit = np.append(accepted, -1)[at] == wanted
        met_by = np.full(len(accepted), -1)
        groups, by = meets[at[hit]], entry[hit]
        met_by[groups[::-1]] = by[::-1]  # the first of several
        hit[hit] = output.key[met_by[groups]] == output.key[by]
        return cls(output, gold, first, met_by[group], entry[~hit], reference[~hit])

    @property
    def counts(self) -> Floats:
        """TP, FP and FN, ``[sentence, reference, k]``; NaN where there is no reference."""
        right = self.met_by >= 0
        rows = (self.gold.row[right], self.needless_reference, self.gold.row[~right])
        columns = [np.bincount(row, minlength=int(self.first[-1])) for row in rows]
        return per_reference(np.stack(columns, axis=1), self.first)

    def chosen(self, choice: Ints) -> tuple[Ints, Ints]:
        """Return the gold entries, and the places in ``needless``, of the references chosen."""
        taken = np.zeros(int(self.first[-1]), np.bool_)
        taken[(self.first[:-1] + choice)[choice >= 0]] = True
        return np.flatnonzero(taken[self.gold.row]), np.flatnonzero(taken[self.needless_reference])


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
        return self.with_sentence_f(self.compare(gold, hypotheses).counts)

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
    def for_sentences(self) -> Self:
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
            found["gold kinds"] = frozenset(kinds_of(gold.edits.kinds))
            for h in systems:
                if h.edits is not None and self.outputs != "reextracted":
                    found[f"kinds of {h.system}"] = frozenset(
                        kinds_of(e.kind for several in h.edits for e in several)
                    )
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
                    "only= and ignore= go by kinds, and the kinds of gold file and outputs "
                    "are of two inventories (gold='reextracted' makes them one)"
                )
        if self.gold == "reextracted" and any(given.values()):
            notes.append(
                f"gold edits found again ({self.extractor}) are compared with edits that came with "
                "the outputs (outputs='reextracted' or --extract finds those again too, "
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
        mine = None if given is None else kinds_of(e.kind for some in given for e in some)
        theirs = kinds_of(gold.edits.kinds)
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
                f"{self.name}: types=True compares kinds, and the kinds of the gold file are not "
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

    def compare(self, gold: Corpus, hypotheses: Hypotheses) -> MatchedEdits:
        """Compare the edits of an output with every reference's; both must have edits."""
        mine = self.keys(gold, ReferenceTable.of_output(hypotheses.edits or ()), gold=False)
        return MatchedEdits.of(mine, self.gold_keys(gold), gold.edits.reference_offsets)

    def gold_keys(self, gold: Corpus) -> EditKeys:
        """Return the keys of the gold edits."""
        # The same for all systems, and whatever is then made of the counts.
        alike = replace(self, beta=0.5, choice="sequential", total="sum")
        return gold.derived(("keys", alike), lambda: self.keys(gold, gold.edits, gold=True))

    def keys(
        self, corpus: Corpus, table: ReferenceTable, *, gold: bool, groups: Ints | None = None
    ) -> EditKeys:
        """Return the keys of the edits that count, of an output or of the ``gold``.

        Given ``groups`` of edits, an edit is a double only of another one of its group.
        """
        numbers: Numbers[Hashable] = corpus.derived("edit keys", Numbers)
        row, texts = table.reference_of_edit, table.joined_replacements
        starts, ends = table.start.tolist(), table.end.tolist()
        same = numbers.number(zip(starts, ends, texts, strict=True))
        edit = np.flatnonzero(self._counting_edits(table))
        if not self.duplicates:
            alike = same
            if groups is not None:
                alike = numbers.number(zip(same.tolist(), groups.tolist(), strict=True))
            codes = _row_and_key(row[edit], alike[edit])
            edit = edit[np.sort(np.unique(codes, return_index=True)[1])]
        keys: Ints = same[edit]
        further_of, further = np.zeros((2, 0), np.int64)
        if self.mode == "detection":
            keys = numbers.number((starts[e], ends[e]) for e in edit.tolist())
        elif self.mode == "token_detection":  # an insertion belongs to the token on its right
            width = np.maximum(table.end - table.start, 1)[edit]
            before = np.repeat(offsets(width)[:-1], width)
            edit = np.repeat(edit, width)
            token = table.start[edit] + np.arange(len(edit)) - before
            keys = numbers.number((k, k + 1) for k in token.tolist())
        elif gold and self.alternatives == "any" and table.alternatives:
            several = [table.all_replacements(e) for e in edit.tolist()]
            places = [(starts[e], ends[e]) for e in edit.tolist()]
            keys = numbers.number(
                (*place, frozenset(some) if len(some) > 1 else some[0])
                for place, some in zip(places, several, strict=True)
            )
            more = [(e, text) for e, some in enumerate(several) for text in some if len(some) > 1]
            further_of = np.array([e for e, _ in more], np.int64)
            further = numbers.number((*places[e], text) for e, text in more)
        if self.types:
            kinds = [table.kinds[e] for e in edit.tolist()]
            keys = numbers.number(zip(keys.tolist(), kinds, strict=True))
            of_further = (kinds[e] for e in further_of.tolist())
            further = numbers.number(zip(further.tolist(), of_further, strict=True))
        return EditKeys(table, row[edit], edit, keys, further_of, further)

    def _counting_edits(self, table: ReferenceTable) -> Bools:
        """Return which edits count."""

        def wanted(kind: str) -> bool:
            if kind == "UNK" and self.mode == "correction":
                return False  # detected but not corrected
            if any(is_kind(kind, name) for name in self.ignore):
                return False
            return not self.only or any(is_kind(kind, name) for name in self.only)

        known = {kind: wanted(kind) for kind in set(table.kinds)}
        found = np.array(list(map(known.__getitem__, table.kinds)), np.bool_)
        if self.size != "all":
            words = np.array([len(text.split()) for text in table.joined_replacements])
            multi = (table.end - table.start >= 2) | (words >= 2)
            found &= multi == (self.size == "multi")
        return found


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
