"""Right, wrong and missed edits, and how they changed.

Everything that concerns one system alone is counted once, whichever system it is compared with.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np

from errata.comparison.paired_tests import TwoSystems
from errata.core.stats import Bools, Floats, Ints, Progress, ratio
from errata.data import Corpus, Edit, Hypotheses, ReferenceTable
from errata.edits import describe_origins, edits_of, kind_at, origin_facts
from errata.metrics.base import describe_data
from errata.metrics.difficulty import weight
from errata.metrics.errant import FN, FP, TP, Edits, MatchedEdits
from errata.metrics.errant_by_type import (
    PER_WORDS,
    TARGETED_FIGURES,
    KindCounts,
    aimed_figures,
    changed_sentences,
    clean_sentences,
    counts_by_kind,
    source_words,
    with_comparable_types,
)
from errata.scoring.accumulator import chosen_counts
from errata.scoring.contract import check_inputs
from errata.scoring.results import corpus_facts

EditState = Literal["right", "wrong", "missed"]


@dataclass(frozen=True, slots=True)
class JudgedEdit:
    """One edit of a sentence: what it is, its kind, and whether it is right, wrong or missed.

    ``edit`` is the system's where it made one, else the annotator's; ``kind`` is the annotator's
    where there is one (`errata.metrics.errant_by_type.with_comparable_types`); ``gold`` is the
    annotator's edit behind a right or a missed one, and ``difficulty``, where it was asked for, the
    share of systems that do not have that one right.
    """

    edit: Edit
    kind: str
    state: EditState
    gold: Edit | None = None
    difficulty: float = field(default=float("nan"), compare=False)


@dataclass(frozen=True, slots=True)
class JudgedSentence:
    """What a system did to one sentence, in the order of the source, and by whose edits.

    ``annotator`` is the number of the annotator whom the metric took for this sentence.
    """

    annotator: int | None
    edits: tuple[JudgedEdit, ...]

    @property
    def gold_edits(self) -> tuple[JudgedEdit, ...]:
        """The edits that the annotator asks for, right or missed: alike for every system."""
        return tuple(each for each in self.edits if each.state != "wrong")

    @property
    def wrong_edits(self) -> tuple[JudgedEdit, ...]:
        """The edits that the annotator does not ask for: false alarms."""
        return tuple(each for each in self.edits if each.state == "wrong")


def judge_edits(
    metric: Edits,
    corpus: Corpus,
    systems: Sequence[Hypotheses],
    *,
    together: bool = False,
    progress: Progress | None = None,
) -> tuple[tuple[JudgedSentence, ...], ...]:
    """Every edit of every system, right, wrong or missed: ``[system][sentence]``.

    Each system is compared with the annotators that its score takes, so that states counted are its
    TP, FP and FN. With ``together`` all systems are compared with the same annotator, sentence by
    sentence the one with whom their summed counts score best: then a state differs between two
    systems only where their outputs differ.

    Edits that the metric leaves out (``only``, ``ignore``, ``size``) are left out. With
    ``mode="token_detection"`` an edit stands here once for every token it is about.

    >>> corpus = Corpus.from_texts(["He go home"], [["He goes home ."]])
    >>> ((found,),) = judge_edits(Edits(), corpus, [Hypotheses("A", ("He goes to home",))])
    >>> [(each.edit.replacement, each.kind, each.state) for each in found.edits]
    [('goes', 'R:INFL', 'right'), ('to', 'M:OTHER', 'wrong'), ('.', 'M:PUNCT', 'missed')]
    """
    check_inputs(metric, corpus, systems)
    gold, found, _ = with_comparable_types(metric, corpus, systems, progress=progress)
    every = [metric.compare(gold, each) for each in found]
    counts = [metric.with_sentence_f(each.counts) for each in every]
    if together:
        choices = [metric.choose(sum(counts[1:], counts[0]))[0]] * len(found)
    else:
        choices = [metric.choose(each)[0] for each in counts]
    return tuple(
        judge_matched_edits([each], choice)[0] for each, choice in zip(every, choices, strict=True)
    )


def judge_matched_edits(
    outputs: Sequence[MatchedEdits], choice: Ints, difficulty: Floats | None = None
) -> list[tuple[JudgedSentence, ...]]:
    """Judge the edits of outputs by the references chosen.

    ``difficulty`` has a number for every gold entry.
    """
    gold = outputs[0].gold
    table, every = gold.table, gold.table.every_edit
    asked, _ = outputs[0].chosen(choice)
    theirs, asked_sentence = gold.edit[asked], table.sentence_of_reference[gold.row[asked]]
    weights = np.full(len(asked), np.nan) if difficulty is None else difficulty[asked]
    missed = [
        JudgedEdit(every[e], every[e].kind, "missed", every[e], share)
        for e, share in zip(theirs.tolist(), weights.tolist(), strict=True)
    ]
    annotators = table.annotators[table.reference_offsets[:-1] + choice].tolist()
    found = []
    for matched in outputs:
        output = matched.output.table
        _, needless = matched.chosen(choice)
        wrong = matched.output.edit[matched.needless[needless]]
        own, judged = output.every_edit, list(missed)
        for k, by in enumerate(matched.met_by[asked].tolist()):
            if by >= 0:
                edit = own[matched.output.edit[by]]
                judged[k] = replace(missed[k], edit=edit, state="right")
        judged += [JudgedEdit(own[e], own[e].kind, "wrong") for e in wrong.tolist()]
        # By the place of the annotator's edit where there is one, so that systems sort alike.
        start = np.concatenate([table.start[theirs], output.start[wrong]])
        end = np.concatenate([table.end[theirs], output.end[wrong]])
        references = matched.needless_reference[needless]
        sentence = np.concatenate([asked_sentence, table.sentence_of_reference[references]])
        order = np.lexsort((end, start, sentence))
        ordered = [judged[k] for k in order.tolist()]
        bounds = np.searchsorted(sentence[order], np.arange(len(table) + 1)).tolist()
        found.append(
            tuple(
                JudgedSentence(annotator, tuple(ordered[a:b]))
                for annotator, (a, b) in zip(annotators, pairwise(bounds), strict=True)
            )
        )
    return found


def edits_overlap(edit: Edit, start: int, end: int) -> bool:
    """Whether an edit changes something of a place: overlaps it, or inserts where it is empty.

    >>> edits_overlap(Edit(1, 2, "goes"), 2, 2), edits_overlap(Edit(2, 2, "to"), 2, 2)
    (False, True)
    >>> edits_overlap(Edit(2, 2, "to"), 2, 3)
    False
    """
    inserted = edit.start == edit.end == start == end
    return inserted or (edit.start < end and start < edit.end)


# ---- What became of every edit between two systems: found, lost, spoilt, or a false alarm.

Alarms = dict[tuple[int, int, tuple[str, ...]], list[Edit]]


@dataclass(frozen=True)
class EditChange:
    """One error or false alarm whose state changed, in a sentence counted from 0.

    ``before`` and ``after`` of an error that the annotator asks to mend are ``right``, ``missed``
    or ``wrong``: missed with an edit of the system at that place (`error_state`); ``edit`` is the
    annotator's. Of a false alarm one of them is ``wrong`` and the other None; ``edit`` is the
    system's, and ``difficulty``, the share of systems that do not have an error right, is NaN.
    """

    sentence: int
    annotator: int | None
    edit: Edit
    kind: str
    before: EditState | None
    after: EditState | None
    difficulty: float = float("nan")

    @property
    def name(self) -> str:
        """What happened, as ``missed → right``, ``new false alarm`` or ``false alarm gone``."""
        if self.before is None:
            return "new false alarm"
        if self.after is None:
            return "false alarm gone"
        return f"{self.before} → {self.after}"


# How many errors and false alarms changed so: the fields of `ChangeCounts`, and `EditChange.name`.
CHANGES = {
    "missed_right": "missed → right",
    "wrong_right": "wrong → right",
    "right_missed": "right → missed",
    "right_wrong": "right → wrong",
    "missed_wrong": "missed → wrong",
    "wrong_missed": "wrong → missed",
    "new_alarms": "new false alarm",
    "alarms_gone": "false alarm gone",
}


class ChangeCounts(NamedTuple):
    """How many errors and false alarms changed their state, and in which way."""

    missed_right: int = 0
    wrong_right: int = 0
    right_missed: int = 0
    right_wrong: int = 0
    missed_wrong: int = 0
    wrong_missed: int = 0
    new_alarms: int = 0
    alarms_gone: int = 0

    @property
    def gained(self) -> int:
        """Errors that are right now and were not."""
        return self.missed_right + self.wrong_right

    @property
    def lost(self) -> int:
        """Errors that were right and are not any more."""
        return self.right_missed + self.right_wrong


def error_state(asked: JudgedEdit, wrong: Iterable[JudgedEdit]) -> EditState:
    """What a system did about an error: right, wrong where it made another edit there, or missed.

    There is where the two edits share a token, or insert at one place (`edits_overlap`).
    """
    if asked.state == "right" or asked.gold is None:
        return "right"
    place = asked.gold
    return (
        "wrong" if any(edits_overlap(e.edit, place.start, place.end) for e in wrong) else "missed"
    )


def edit_changes(
    old: Sequence[JudgedSentence], new: Sequence[JudgedSentence]
) -> tuple[EditChange, ...]:
    """Every error and every false alarm whose state two systems disagree on, in order.

    Both must have been compared with the same annotators (`judge_edits` with ``together``). The
    errors account for all differences of TP and FN, the false alarms for all of FP: where a right
    edit turns into another one, the error is ``right → wrong`` and the other edit a new alarm.
    """
    changes: list[EditChange] = []
    for i, (before, after) in enumerate(zip(old, new, strict=True)):
        if before.edits == after.edits:
            continue
        was_alarm, is_alarm = _group_by_text(before.wrong_edits), _group_by_text(after.wrong_edits)
        found = []
        for was, now in zip(before.gold_edits, after.gold_edits, strict=True):
            states = error_state(was, before.wrong_edits), error_state(now, after.wrong_edits)
            if states[0] != states[1]:
                assert now.gold is not None
                change = EditChange(i, after.annotator, now.gold, now.kind, *states, now.difficulty)
                found.append(change)
        for edit in _edits_missing_from(was_alarm, is_alarm):
            found.append(EditChange(i, after.annotator, edit, edit.kind, "wrong", None))
        for edit in _edits_missing_from(is_alarm, was_alarm):
            found.append(EditChange(i, after.annotator, edit, edit.kind, None, "wrong"))
        changes += sorted(found, key=lambda change: (change.edit.start, change.edit.end))
    return tuple(changes)


def _group_by_text(several: Sequence[JudgedEdit]) -> Alarms:
    """False alarms by place and text; one that stands for several tokens stands here as often."""
    found: Alarms = {}
    for each in several:
        edit = each.edit
        found.setdefault((edit.start, edit.end, edit.replacements), []).append(edit)
    return found


def _edits_missing_from(mine: Alarms, theirs: Alarms) -> list[Edit]:
    """The edits of one that the other does not have, or not as often."""
    return [edit for key, several in mine.items() for edit in several[len(theirs.get(key, ())) :]]


def change_counts(changes: Iterable[EditChange]) -> ChangeCounts:
    """Changes counted by what happened.

    >>> change_counts([EditChange(0, 0, Edit(1, 2, "goes"), "R:INFL", "missed", "right")]).gained
    1
    """
    counts = Counter(change.name for change in changes)
    return ChangeCounts(*(counts[name] for name in CHANGES.values()))


@dataclass(frozen=True, eq=False)
class EditFigures:
    """The edits of every system, counted by sentence and by kind.

    ``counts[s]`` are TP, FP and FN of each sentence, with the annotators that the score takes;
    without references (``judged`` is False) all edits stand under FP, since nobody asked for them.
    ``by_kind[s]`` are the counts of each kind alone, ``by_reference[s]`` beside each
    reference. ``matched`` has the edits themselves, ``difficulty`` the share of systems that do not
    have each gold entry right; ``asked`` are the gold's kinds.
    """

    metric: Edits
    systems: tuple[Hypotheses, ...]
    words: Floats
    clean: Bools
    changed: tuple[Bools, ...]
    counts: tuple[Floats, ...]
    by_kind: tuple[dict[str, KindCounts], ...]
    asked: tuple[str, ...]
    judged: bool
    context: tuple[str, ...]
    notes: tuple[str, ...]
    matched: tuple[MatchedEdits, ...]
    difficulty: Floats
    by_reference: tuple[Floats, ...]

    def judge_pair(self, old: int, new: int) -> list[tuple[JudgedSentence, ...]]:
        """Two systems' edits, right, wrong or missed, compared with the same annotators."""
        if not self.judged:
            return []
        choice = self.metric.choose(self.by_reference[old] + self.by_reference[new])[0]
        return judge_matched_edits([self.matched[s] for s in (old, new)], choice, self.difficulty)

    def figures_of_totals(self, totals: Floats, *, drawn: bool = False) -> dict[str, Floats]:
        """Figures of summed statistics of one kind, or of a resample of them."""
        if self.judged:
            return aimed_figures(totals, self.metric.beta, drawn=drawn)
        return {
            "edits": PER_WORDS
            * ratio(totals[..., FP], totals[..., TARGETED_FIGURES.index("words")])
        }

    def pairs_by_kind(self, old: int, new: int) -> dict[str, TwoSystems]:
        """The statistics of every kind that the gold or one of two systems has."""
        before, after = self.by_kind[old], self.by_kind[new]
        return {
            kind: TwoSystems(
                self.figures_of_totals,
                self._kind_statistics(before, kind),
                self._kind_statistics(after, kind),
                partial(self.figures_of_totals, drawn=True),
            )
            for kind in sorted({*before, *after})
        }

    def _kind_statistics(self, by_kind: Mapping[str, KindCounts], kind: str) -> Floats:
        nothing = KindCounts(kind, np.zeros(0, np.int64), np.zeros((0, len(TARGETED_FIGURES) - 1)))
        return by_kind.get(kind, nothing).statistics(self.words)

    def rate_pairs(self, old: int, new: int) -> dict[str, TwoSystems]:
        """What edits cost a reader: false alarms, clean sentences touched, sentences changed."""
        found = {
            "rates": TwoSystems(
                self._rates_of_totals, self._rate_statistics(old), self._rate_statistics(new)
            )
        }
        if self.judged and self.asked:
            before, after = (
                np.concatenate(
                    [
                        self._kind_statistics(self.by_kind[s], kind)[:, [TP, FP, FN]]
                        for kind in self.asked
                    ],
                    axis=1,
                )
                for s in (old, new)
            )
            found["macro"] = TwoSystems(
                self._mean_f_of_kinds, before, after, partial(self._mean_f_of_kinds, drawn=True)
            )
        return found

    def _rate_statistics(self, s: int) -> Floats:
        columns = (
            self.counts[s][:, FP],
            self.words,
            self.clean & self.changed[s],
            self.clean,
            self.changed[s],
            np.ones(len(self.words)),
        )
        return np.stack([np.asarray(each, np.float64) for each in columns], axis=1)

    def _rates_of_totals(self, totals: Floats) -> dict[str, Floats]:
        alarms, words, touched, clean, changed, sentences = np.moveaxis(totals, -1, 0)
        often = PER_WORDS * ratio(alarms, words)
        share = {"sentences changed": ratio(changed, sentences)}
        if not self.judged:
            return {"edits": often} | share
        return {"false alarms": often, "clean sentences touched": ratio(touched, clean)} | share

    def _mean_f_of_kinds(self, totals: Floats, *, drawn: bool = False) -> dict[str, Floats]:
        each = totals.reshape(*totals.shape[:-1], len(self.asked), 3)
        padded = np.concatenate(
            [each, np.ones((*each.shape[:-1], len(TARGETED_FIGURES) - 3))], axis=-1
        )
        f = aimed_figures(padded, self.metric.beta, drawn=drawn)[f"F{self.metric.beta:g}"]
        known = ~np.isnan(f)
        mean = ratio(np.where(known, f, 0.0).sum(axis=-1), known.sum(axis=-1))
        return {f"mean F{self.metric.beta:g} of kinds": mean}

    def slice_pair(self, old: int, new: int, inside: Bools) -> TwoSystems:
        """The statistics of a part of the sentences."""
        if not self.judged:
            was, now = (self._rate_statistics(s) * inside[:, None] for s in (old, new))
            return TwoSystems(self._rates_of_totals, was, now)

        def figures(totals: Floats, *, drawn: bool = False) -> dict[str, Floats]:
            known = self.metric.figures(totals)
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


def count_judged_edits(
    metric: Edits,
    corpus: Corpus,
    systems: Sequence[Hypotheses],
    counts: Sequence[Floats],
    tier: int,
    progress: Progress | None = None,
) -> EditFigures:
    """The edits of systems beside those that annotators ask for; ``counts`` are the metric's."""
    check_inputs(metric, corpus, systems)
    gold, found, alike = with_comparable_types(metric, corpus, systems, progress=progress)
    by_kind = tuple(counts_by_kind(metric, gold, each, tier=tier) for each in found)
    matched = tuple(metric.compare(gold, each) for each in found)
    kinds_of_gold = gold.edits.kinds
    asked = {kinds_of_gold[e] for e in metric.gold_keys(gold).edit.tolist()}
    solved = sum((each.met_by >= 0).astype(np.float64) for each in matched)
    described = describe_data(metric, corpus, systems)
    retyped = () if alike else (f"kinds:gold retyped by {metric.extractor}",)
    notes = () if alike else ("the gold edits have the kinds that the extractor gives them",)
    return EditFigures(
        metric,
        tuple(systems),
        source_words(corpus),
        clean_sentences(gold),
        tuple(changed_sentences(corpus, each) for each in systems),
        tuple(chosen_counts(each, metric.choose(each)) for each in counts),
        by_kind,
        tuple(sorted({kind_at(kind, tier) for kind in asked})),
        True,
        (*described.context, *corpus_facts(corpus), *retyped, f"tier:{tier}"),
        (*notes, *described.notes),
        matched,
        weight(np.asarray(solved), len(systems)),
        tuple(counts),
    )


def count_unjudged_edits(
    metric: Edits,
    corpus: Corpus,
    systems: Sequence[Hypotheses],
    tier: int,
    progress: Progress | None = None,
) -> EditFigures:
    """The edits of systems by kind, where nobody said which are right."""
    found = edits_of(corpus, systems, metric.outputs, extractor=metric.extractor, progress=progress)
    counts: list[Floats] = []
    by_kind: list[dict[str, KindCounts]] = []
    for each in found:
        table = ReferenceTable.of_output(each.edits or ())
        keys = metric.keys(corpus, table, gold=False)
        names = np.array([kind_at(table.kinds[e], tier) for e in keys.edit.tolist()], np.str_)
        alone = np.zeros((len(corpus), 3))
        alone[:, FP] = np.bincount(keys.row, minlength=len(corpus))
        counts.append(alone)
        by_kind.append({})
        for kind in np.unique(names).tolist():
            sentences, often = np.unique(keys.row[names == kind], return_counts=True)
            rows = np.zeros((len(sentences), len(TARGETED_FIGURES) - 1))
            rows[:, FP] = often
            by_kind[-1][kind] = KindCounts(kind, sentences, rows)
    facts = origin_facts(systems, metric.outputs)
    context = describe_origins(facts, metric.extractor, gold=False)
    return EditFigures(
        metric,
        tuple(systems),
        source_words(corpus),
        np.zeros(len(corpus), np.bool_),
        tuple(changed_sentences(corpus, each) for each in systems),
        tuple(counts),
        tuple(by_kind),
        (),
        False,
        (*context, *corpus_facts(corpus), f"tier:{tier}"),
        ("there are no references: edits are counted, and nothing says which of them are right",),
        (),
        np.zeros(0),
        (),
    )
