"""What is known of the edits of several systems, with or without references to judge them by.

Everything that concerns one system alone is counted once, whichever system it is compared with.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from errata.data import Corpus, Edit, Hypotheses
from errata.edits import kind_at
from errata.edits.origins import edits_of, origins
from errata.evaluation import check_inputs, chosen_counts, corpus_facts
from errata.metrics.difficulty.map import weight
from errata.metrics.errant import Edits
from errata.metrics.errant.aimed import (
    AIMED,
    PER_WORDS,
    KindCounts,
    aimed_figures,
    changed_sentences,
    clean_sentences,
    counts_by_kind,
    source_words,
)
from errata.metrics.errant.by_type import comparable
from errata.metrics.errant.tally import FN, FP, TP, matched
from errata.numbers import Bools, Floats, Progress, ratio
from errata.studies.edit_changes import Weigh
from errata.studies.edit_states import JudgedSentence, judged_by
from errata.studies.paired_tests import TwoSystems

__all__ = ["EditFacts", "edits_alone", "edits_judged"]


@dataclass(frozen=True, eq=False)
class EditFacts:
    """The edits of every system, counted by sentence and by kind.

    ``counts[s]`` are TP, FP and FN of each sentence, with the annotators that the score takes;
    without references (``judged`` is False) all edits stand under FP, since nobody asked for them.
    ``by_kind[s]`` are those of each kind by itself, ``by_reference[s]`` those beside each
    reference. ``gold`` and ``found`` have the edits themselves; ``asked`` are the gold's kinds.
    """

    metric: Edits
    systems: tuple[Hypotheses, ...]
    words: Floats
    clean: Bools
    changed: tuple[Bools, ...]
    counts: tuple[Floats, ...]
    by_kind: tuple[dict[str, KindCounts], ...]
    asked: tuple[str, ...]
    weigh: Weigh | None
    judged: bool
    context: tuple[str, ...]
    notes: tuple[str, ...]
    gold: Corpus
    found: tuple[Hypotheses, ...]
    by_reference: tuple[Floats, ...]

    def judge(self, old: int, new: int) -> list[tuple[JudgedSentence, ...]]:
        """Two systems' edits, right, wrong or missed, held against the same annotators."""
        if not self.judged:
            return []
        choice = self.metric.choose(self.by_reference[old] + self.by_reference[new])[0]
        return [judged_by(self.metric, self.gold, self.found[s], choice) for s in (old, new)]

    def figures(self, totals: Floats, *, drawn: bool = False) -> dict[str, Floats]:
        """Figures of summed statistics of one kind, or of a resample of them."""
        if self.judged:
            return aimed_figures(totals, self.metric.beta, drawn=drawn)
        return {"edits": PER_WORDS * ratio(totals[..., FP], totals[..., AIMED.index("words")])}

    def kinds(self, old: int, new: int) -> dict[str, TwoSystems]:
        """The statistics of every kind that the gold or one of two systems has."""
        before, after = self.by_kind[old], self.by_kind[new]
        return {
            kind: TwoSystems(
                self.figures,
                self._statistics(before, kind),
                self._statistics(after, kind),
                partial(self.figures, drawn=True),
            )
            for kind in sorted({*before, *after})
        }

    def _statistics(self, by_kind: Mapping[str, KindCounts], kind: str) -> Floats:
        nothing = KindCounts(kind, np.zeros(0, np.int64), np.zeros((0, len(AIMED) - 1)))
        return by_kind.get(kind, nothing).statistics(self.words)

    def rates(self, old: int, new: int) -> dict[str, TwoSystems]:
        """What edits cost a reader: false alarms, clean sentences touched, sentences changed."""
        found = {"rates": TwoSystems(self._rates, self._touched(old), self._touched(new))}
        if self.judged and self.asked:
            before, after = (self._macro_statistics(self.by_kind[s]) for s in (old, new))
            found["macro"] = TwoSystems(
                self._macro, before, after, partial(self._macro, drawn=True)
            )
        return found

    def _touched(self, s: int) -> Floats:
        columns = (
            self.counts[s][:, FP],
            self.words,
            self.clean & self.changed[s],
            self.clean,
            self.changed[s],
            np.ones(len(self.words)),
        )
        return np.stack([np.asarray(each, np.float64) for each in columns], axis=1)

    def _rates(self, totals: Floats) -> dict[str, Floats]:
        alarms, words, touched, clean, changed, sentences = np.moveaxis(totals, -1, 0)
        often = PER_WORDS * ratio(alarms, words)
        share = {"sentences changed": ratio(changed, sentences)}
        if not self.judged:
            return {"edits": often} | share
        return {"false alarms": often, "clean sentences touched": ratio(touched, clean)} | share

    def _macro_statistics(self, by_kind: Mapping[str, KindCounts]) -> Floats:
        several = [self._statistics(by_kind, kind)[:, [TP, FP, FN]] for kind in self.asked]
        return np.concatenate(several, axis=1)

    def _macro(self, totals: Floats, *, drawn: bool = False) -> dict[str, Floats]:
        each = totals.reshape(*totals.shape[:-1], len(self.asked), 3)
        padded = np.concatenate([each, np.ones((*each.shape[:-1], len(AIMED) - 3))], axis=-1)
        f = aimed_figures(padded, self.metric.beta, drawn=drawn)[f"F{self.metric.beta:g}"]
        known = ~np.isnan(f)
        mean = ratio(np.where(known, f, 0.0).sum(axis=-1), known.sum(axis=-1))
        return {f"mean F{self.metric.beta:g} of kinds": mean}

    def slice(self, old: int, new: int, inside: Bools) -> TwoSystems:
        """The statistics of a part of the sentences."""
        if not self.judged:
            was, now = (self._touched(s) * inside[:, None] for s in (old, new))
            return TwoSystems(self._rates, was, now)

        def figures(totals: Floats, *, drawn: bool = False) -> dict[str, Floats]:
            known = self.metric.parts(totals)
            found = {
                "P": np.asarray(known["P"], np.float64),
                "R": np.asarray(known["R"], np.float64),
                self.metric.headline: self.metric.score(totals),
            }
            if drawn:
                tp, fp, fn = totals[..., TP], totals[..., FP], totals[..., FN]
                below = {"P": tp + fp, "R": tp + fn}
                if self.metric.total != "mean":  # a mean has a score of sentences without edits
                    below[self.metric.headline] = tp + fp + fn
                for name, some in below.items():
                    found[name] = np.where(some == 0, np.nan, found[name])
            return found

        before, after = (self.counts[s] * inside[:, None] for s in (old, new))
        return TwoSystems(figures, before, after, partial(figures, drawn=True))


def edits_judged(
    metric: Edits,
    corpus: Corpus,
    systems: Sequence[Hypotheses],
    counts: Sequence[Floats],
    tier: int,
    progress: Progress | None = None,
) -> EditFacts:
    """The edits of systems beside those that annotators ask for; ``counts`` are the metric's."""
    check_inputs(metric, corpus, systems)
    gold, found, alike = comparable(metric, corpus, systems, progress=progress)
    by_kind = tuple(counts_by_kind(metric, gold, each, tier=tier) for each in found)
    asked = {
        kind_at(edit.kind, tier)
        for refs in gold.references
        for r in refs
        for several in metric.keyed(r.edits or (), gold=True).values()
        for edit in several
    }
    retyped = () if alike else (f"kinds:gold retyped by {metric.extractor}",)
    notes = () if alike else ("the gold edits have the kinds that the extractor gives them",)
    return EditFacts(
        metric,
        tuple(systems),
        source_words(corpus),
        clean_sentences(gold),
        tuple(changed_sentences(corpus, each) for each in systems),
        tuple(chosen_counts(each, metric.choose(each)) for each in counts),
        by_kind,
        tuple(sorted(asked)),
        _difficulty(metric, gold, found),
        True,
        (*metric.context(corpus, systems), *corpus_facts(corpus), *retyped, f"tier:{tier}"),
        (*notes, *metric.notes(corpus, systems)),
        gold,
        tuple(found),
        tuple(counts),
    )


def _difficulty(metric: Edits, gold: Corpus, systems: Sequence[Hypotheses]) -> Weigh:
    """How hard every gold edit is, by its place: the share of systems that have it not right."""
    solved: Counter[tuple[object, ...]] = Counter()
    for i, references in enumerate(gold.references):
        made = [metric.keyed((each.edits or ())[i], gold=False) for each in systems]
        for reference in references:
            asked = metric.keyed(reference.edits or (), gold=True)
            for proposed in made:
                for edit, by in matched(proposed, asked)[0]:
                    solved[_place(i, reference.annotator, edit)] += by is not None

    def weigh(sentence: int, annotator: int | None, edit: Edit) -> float:
        right = solved[_place(sentence, annotator, edit)]
        return float(weight(np.array(float(right)), len(systems)))

    return weigh


def _place(sentence: int, annotator: int | None, edit: Edit) -> tuple[object, ...]:
    return sentence, annotator, edit.start, edit.end, edit.replacements


def edits_alone(
    metric: Edits,
    corpus: Corpus,
    systems: Sequence[Hypotheses],
    tier: int,
    progress: Progress | None = None,
) -> EditFacts:
    """The edits of systems by kind, where nobody said which are right."""
    found = edits_of(corpus, systems, metric.outputs, extractor=metric.extractor, progress=progress)
    counts, by_kind = [], []
    for each in found:
        table = np.zeros((len(corpus), 3))
        of_kind: dict[str, dict[int, int]] = {}
        for i, edits in enumerate(each.edits or ()):
            for several in metric.keyed(edits, gold=False).values():
                table[i, FP] += len(several)
                for edit in several:
                    tally = of_kind.setdefault(kind_at(edit.kind, tier), {})
                    tally[i] = tally.get(i, 0) + 1
        counts.append(table)
        by_kind.append({kind: _unjudged(kind, tally) for kind, tally in sorted(of_kind.items())})
    facts = origins(systems, metric.outputs, metric.extractor, gold=False)
    return EditFacts(
        metric,
        tuple(systems),
        source_words(corpus),
        np.zeros(len(corpus), np.bool_),
        tuple(changed_sentences(corpus, each) for each in systems),
        tuple(counts),
        tuple(by_kind),
        (),
        None,
        False,
        (*facts, *corpus_facts(corpus), f"tier:{tier}"),
        ("there are no references: edits are counted, and nothing says which of them are right",),
        corpus,
        tuple(found),
        (),
    )


def _unjudged(kind: str, tally: Mapping[int, int]) -> KindCounts:
    rows = np.zeros((len(tally), len(AIMED) - 1))
    rows[:, FP] = list(tally.values())
    return KindCounts(kind, np.array(list(tally), np.int64), rows)
