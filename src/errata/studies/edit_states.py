"""Which edits of a system are right, wrong or missed: what comparisons, pages and gates read.

An edit of a sentence is *right* if the system made it and the annotator asks for it, *wrong* if
only the system made it, *missed* if only the annotator asks for it: the TP, FP and FN of the metric
(`errata.metrics.errant.Edits`), one by one instead of counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from errata.data import Corpus, Edit, Hypotheses
from errata.evaluation import check_inputs
from errata.metrics.errant import Edits
from errata.metrics.errant.by_type import comparable
from errata.metrics.errant.tally import matched, summed
from errata.numbers import Ints, Progress

__all__ = ["EditState", "JudgedEdit", "JudgedSentence", "judged_by", "judged_edits", "touches"]

EditState = Literal["right", "wrong", "missed"]


@dataclass(frozen=True, slots=True)
class JudgedEdit:
    """One edit of a sentence: what it is, its kind, and whether it is right, wrong or missed.

    ``edit`` is the system's where it made one, else the annotator's; ``kind`` is the annotator's
    where there is one (`errata.metrics.errant.by_type.comparable`); ``gold`` is the annotator's
    edit behind a right or a missed one.
    """

    edit: Edit
    kind: str
    state: EditState
    gold: Edit | None = None


@dataclass(frozen=True, slots=True)
class JudgedSentence:
    """What a system did to one sentence, in the order of the source, and by whose edits.

    ``annotator`` is the number of the annotator whom the metric took for this sentence.
    """

    annotator: int | None
    edits: tuple[JudgedEdit, ...]

    @property
    def asked(self) -> tuple[JudgedEdit, ...]:
        """The edits that the annotator asks for, right or missed: alike for every system."""
        return tuple(each for each in self.edits if each.state != "wrong")

    @property
    def wrong(self) -> tuple[JudgedEdit, ...]:
        """The edits that the annotator does not ask for: false alarms."""
        return tuple(each for each in self.edits if each.state == "wrong")


def judged_edits(
    metric: Edits,
    corpus: Corpus,
    systems: Sequence[Hypotheses],
    *,
    together: bool = False,
    progress: Progress | None = None,
) -> tuple[tuple[JudgedSentence, ...], ...]:
    """Every edit of every system, right, wrong or missed: ``[system][sentence]``.

    Each system is held against the annotators that its score takes, so that states counted are its
    TP, FP and FN. With ``together`` all systems are held against the same annotator, sentence by
    sentence the one with whom their summed counts score best: then a state differs between two
    systems only where their outputs differ.

    Edits that the metric leaves out (``only``, ``ignore``, ``size``) are left out. With
    ``mode="token_detection"`` an edit stands here once for every token it is about.

    >>> corpus = Corpus.from_texts(["He go home"], [["He goes home ."]])
    >>> ((found,),) = judged_edits(Edits(), corpus, [Hypotheses("A", ("He goes to home",))])
    >>> [(each.edit.replacement, each.kind, each.state) for each in found.edits]
    [('goes', 'R:INFL', 'right'), ('to', 'M:OTHER', 'wrong'), ('.', 'M:PUNCT', 'missed')]
    """
    check_inputs(metric, corpus, systems)
    gold, found, _ = comparable(metric, corpus, systems, progress=progress)
    counts = [metric.with_sentence_f(summed(metric.compare(gold, each))) for each in found]
    if together:
        choices = [metric.choose(sum(counts[1:], counts[0]))[0]] * len(found)
    else:
        choices = [metric.choose(each)[0] for each in counts]
    return tuple(
        judged_by(metric, gold, each, choice) for each, choice in zip(found, choices, strict=True)
    )


def judged_by(
    metric: Edits, gold: Corpus, hypotheses: Hypotheses, choice: Ints
) -> tuple[JudgedSentence, ...]:
    """One output held against the references chosen; both sides have edits (`comparable`)."""
    sentences = []
    for edits, references, keyed, at in zip(
        hypotheses.edits or (),
        gold.references,
        metric.keyed_gold(gold),
        choice.tolist(),
        strict=True,
    ):
        reference = references[at]
        asked, needless = matched(
            metric.keyed(edits, gold=False), keyed[at], alternatives=metric.alternatives == "any"
        )
        judged = [
            JudgedEdit(wanted, wanted.kind, "missed", wanted)
            if made is None
            else JudgedEdit(made, wanted.kind, "right", wanted)
            for wanted, made in asked
        ]
        judged += [JudgedEdit(edit, edit.kind, "wrong") for edit in needless]
        judged.sort(key=_place)
        sentences.append(JudgedSentence(reference.annotator, tuple(judged)))
    return tuple(sentences)


def _place(judged: JudgedEdit) -> tuple[int, int]:
    """Where an edit stands, the annotator's where there is one, so that systems sort alike."""
    edit = judged.gold or judged.edit
    return edit.start, edit.end


def touches(edit: Edit, start: int, end: int) -> bool:
    """Whether an edit changes something of a place: overlaps it, or inserts where it is empty.

    >>> touches(Edit(1, 2, "goes"), 2, 2), touches(Edit(2, 2, "to"), 2, 2)
    (False, True)
    >>> touches(Edit(2, 2, "to"), 2, 3)
    False
    """
    inserted = edit.start == edit.end == start == end
    return inserted or (edit.start < end and start < edit.end)
