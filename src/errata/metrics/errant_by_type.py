"""P, R, F by type; targeted measures.

F by kind of `errata.metrics.errant_by_type` reads the annotators that the score over all edits
takes, so a system's other edits partly decide which annotator its articles are compared with.
Targeted measures restrict both sides to the kind first, as in GECLens (Gautam et al. 2026,
``type_only``), and add the share of sentences with all errors of the kind mended, and false alarms.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from errata.core.exact_sums import select_reference
from errata.core.stats import Bools, Floats, Ints, Progress, ratio
from errata.data import Corpus, Hypotheses, ReferenceTable
from errata.edits import kind_at, retyped_for
from errata.metrics.base import f_beta, precision_recall
from errata.metrics.errant import FN, FP, TP, Edits, MatchedEdits

# ---- P, R and F for each kind of edit.

Kinds = Literal["comparable", "as_is"]


@dataclass(frozen=True)
class TypeScores:
    """One system's counts and scores by kind of edit; ``macro`` is the mean F over the kinds.

    ``retyped`` says whether the gold edits got their kinds from the extractor.
    """

    system: str
    kinds: tuple[str, ...]
    counts: Floats
    precision: Floats
    recall: Floats
    f: Floats
    micro: float
    macro: float
    retyped: bool = False


def with_comparable_types(
    metric: Edits,
    corpus: Corpus,
    systems: Sequence[Hypotheses],
    kinds: Kinds = "comparable",
    *,
    progress: Progress | None = None,
) -> tuple[Corpus, list[Hypotheses], bool]:
    """The corpus and the outputs with edits whose kinds can be compared, and whether they could be.

    Gold edits whose kinds are of another inventory than the systems' are the same edits under the
    kinds that the extractor gives them.
    """
    gold, found = metric.prepared(corpus, systems, progress)
    each_alike = [kinds == "as_is" or metric.kinds_alike(gold, each) for each in systems]
    alike = all(each_alike)
    return gold if alike else retyped_for(gold, metric.extractor), found, alike


def scores_by_type(
    metric: Edits,
    corpus: Corpus,
    hypotheses: Hypotheses,
    *,
    tier: int = 3,
    kinds: Kinds = "comparable",
) -> TypeScores:
    """Counts, P, R and F for each kind of edit, with the references the corpus score takes.

    ``tier`` 1 groups by operation (M, R, U), 2 by kind without operation (``DET``), 3 shows full
    kinds, as ``errant_compare -cat``. Kinds without an operation (``UNK``) stay as they are.
    Gold kinds of another inventory than the extractor's are replaced by the extractor's, and
    refused where the system's kinds were given; ``kinds="as_is"`` leaves them as they are, as
    ``errant_compare`` does.
    """
    gold, (system,), alike = with_comparable_types(metric, corpus, [hypotheses], kinds)
    matched = metric.compare(gold, system)
    choice = metric.choose(metric.with_sentence_f(matched.counts))[0]
    asked, needless = matched.chosen(choice)
    made = matched.met_by[asked] >= 0
    by_column = (
        (TP, matched.gold, asked[made]),
        (FP, matched.output, matched.needless[needless]),
        (FN, matched.gold, asked[~made]),
    )
    totals: dict[str, list[int]] = {}
    for column, keys, entries in by_column:
        edits = keys.edit[entries].tolist()
        for kind, number in Counter(keys.table.kinds[e] for e in edits).items():
            totals.setdefault(kind_at(kind, tier), [0, 0, 0])[column] += number
    named = tuple(sorted(totals))
    counts = np.array([totals[kind] for kind in named], np.float64).reshape(-1, 3)
    precision, recall = precision_recall(counts[:, TP], counts[:, FP], counts[:, FN], 1.0)
    f = f_beta(precision, recall, metric.beta)
    total = counts.sum(axis=0)
    p, r = precision_recall(total[TP], total[FP], total[FN], 1.0)
    return TypeScores(
        hypotheses.system,
        named,
        counts,
        precision,
        recall,
        f,
        float(f_beta(p, r, metric.beta)),
        float(f.mean()) if named else 0.0,
        not alike,
    )


PER_WORDS = 1000  # false alarms are counted per so many words of the source
# The statistics of one kind and sentence, in this order.
TARGETED_FIGURES = ("TP", "FP", "FN", "asked", "solved", "words")
ASKED, SOLVED, WORDS = 3, 4, 5
_QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'"})


@dataclass(frozen=True, eq=False)
class KindCounts:
    """The counts of one kind in one system's output, where anything of the kind is.

    Row k belongs to the sentence ``sentences[k]`` and holds TP, FP and FN with both sides
    restricted to the kind, of the annotator best for it; whether some annotator asks for edits of
    the kind; and whether the system made all that one of those asks for. Elsewhere all are 0.
    """

    kind: str
    sentences: Ints
    rows: Floats

    def statistics(self, words: Floats) -> Floats:
        """Return the counts ``[sentence, TARGETED_FIGURES]``, beside the words of each source."""
        table = np.zeros((len(words), len(TARGETED_FIGURES)))
        table[self.sentences, :WORDS] = self.rows
        table[:, WORDS] = words
        return table


@dataclass(frozen=True, eq=False)
class TargetedScores:
    """One system's measures by kind, each with both sides restricted to the kind.

    ``counts`` are TP, FP and FN; ``success`` is the share of the ``asked`` sentences, in which some
    annotator asks for edits of the kind, where all such edits of one annotator were made (NaN
    without any); ``alarms`` are wrong edits of the kind per 1,000 words of the source.
    ``overcorrected`` is the share of the ``clean`` sentences, which no annotator changed, that the
    system changed; ``changed`` that of all sentences; ``all_alarms`` are the false alarms of the
    score over all kinds.
    """

    system: str
    kinds: tuple[str, ...]
    counts: Ints
    precision: Floats
    recall: Floats
    f: Floats
    asked: Ints
    solved: Ints
    success: Floats
    alarms: Floats
    clean: int
    overcorrected: float
    changed: float
    all_alarms: float

    def macro(self, figure: Floats) -> float:
        """The mean of a figure over the kinds that some annotator asks for, each counting alike.

        What a system alone has is no kind to be good at; its false alarms are counted elsewhere.
        """
        known = figure[self.asked > 0]
        return float(known.mean()) if len(known) else float("nan")


def source_words(corpus: Corpus) -> Floats:
    """How many words each source has."""
    return corpus.source_tokens.lengths.astype(np.float64)


def clean_sentences(gold: Corpus) -> Bools:
    """Which sentences no annotator changed: any change of them is one too many."""
    table = gold.edits
    edits = np.diff(table.edit_offsets[table.reference_offsets])
    return np.asarray((table.sizes > 0) & (edits == 0))


def changed_sentences(corpus: Corpus, hypotheses: Hypotheses) -> Bools:
    """Which sentences a system changed, but for spaces and the form of quotation marks.

    These change where a text is tokenised differently, which is no correction.

    >>> corpus = Corpus.from_texts(["He said `` go ''", "He go"])
    >>> changed_sentences(corpus, Hypotheses("A", ('He said " go "', "He goes"))).tolist()
    [False, True]
    """
    return np.array(
        [
            s != t and _untokenised(s) != _untokenised(t)
            for s, t in zip(corpus.sources, hypotheses.sentences, strict=True)
        ],
        np.bool_,
    )


def _untokenised(text: str) -> str:
    """A text without what tokenising changes."""
    plain = text.replace("``", '"').replace("''", '"')
    return "".join((plain if plain.isascii() else plain.translate(_QUOTES)).split())


def counts_by_kind(
    metric: Edits, gold: Corpus, hypotheses: Hypotheses, *, tier: int = 3
) -> dict[str, KindCounts]:
    """Return the counts of every kind in the gold or the output, which must have edits.

    Annotators are chosen for each kind separately, by its edits alone.
    """
    table, output = gold.edits, ReferenceTable.of_output(hypotheses.edits or ())
    first, sentence_of = table.reference_offsets, table.sentence_of_reference
    names = {kind: kind_at(kind, tier) for kind in {*table.kinds, *output.kinds}}
    kinds = sorted({*names.values()})
    number = {kind: kinds.index(name) for kind, name in names.items()}
    theirs, own = (
        np.array([number[kind] for kind in each.kinds], np.int64) for each in (table, output)
    )
    asked = metric.keys(gold, table, gold=True, groups=theirs)
    proposed = metric.keys(gold, output, gold=False, groups=own)
    made = metric.keys(gold, output, gold=False)
    found = {}
    for k, kind in enumerate(kinds):
        there = np.zeros(len(gold), np.bool_)
        there[sentence_of[table.reference_of_edit[theirs == k]]] = True
        there[output.reference_of_edit[own == k]] = True
        of_kind = asked.select(theirs[asked.edit] == k)
        counts = MatchedEdits.of(proposed.select(own[proposed.edit] == k), of_kind, first).counts
        counts = counts[there]
        # Sentences without the kind add nothing to the running sums that decide.
        choice = metric.choose(metric.with_sentence_f(counts))[0]
        # Success may come from edits of any kind: what counts is what was made.
        missed = MatchedEdits.of(made.select(there[made.row]), of_kind, first).met_by < 0
        wanted, unsolved = (
            np.bincount(row, minlength=len(sentence_of)) > 0
            for row in (of_kind.row, of_kind.row[missed])
        )
        success = [
            np.bincount(sentence_of[each], minlength=len(gold))[there] > 0
            for each in (wanted, wanted & ~unsolved)
        ]
        rows = np.concatenate([select_reference(counts, choice), np.stack(success, axis=1)], axis=1)
        found[kind] = KindCounts(kind, np.flatnonzero(there), rows)
    return found


def aimed_figures(totals: Floats, beta: float, *, drawn: bool = False) -> dict[str, Floats]:
    """What summed statistics (`TARGETED_FIGURES`) of a kind say: P, R, F, success and false alarms.

    Of nothing, P, R and F are 1 by convention; in resamples (``drawn``) they are NaN there.

    >>> figures = aimed_figures(np.array([3.0, 1.0, 1.0, 4.0, 2.0, 500.0]), 0.5)
    >>> {name: float(value) for name, value in figures.items()}
    {'P': 0.75, 'R': 0.75, 'F0.5': 0.75, 'success': 0.5, 'false alarms': 2.0}
    """
    tp, fp, fn = totals[..., TP], totals[..., FP], totals[..., FN]
    precision, recall = precision_recall(tp, fp, fn, 1.0)
    f = f_beta(precision, recall, beta)
    if drawn:
        precision, recall = precision_recall(tp, fp, fn, np.nan)
        f = np.where(tp + fp + fn == 0, np.nan, f)
    return {
        "P": precision,
        "R": recall,
        f"F{beta:g}": f,
        "success": ratio(totals[..., SOLVED], totals[..., ASKED]),
        "false alarms": PER_WORDS * ratio(totals[..., FP], totals[..., WORDS]),
    }


def targeted_scores(
    metric: Edits, corpus: Corpus, hypotheses: Hypotheses, *, tier: int = 3
) -> TargetedScores:
    """Measures of each kind of edit, and of changes where none were needed.

    ``tier`` groups kinds as in `errata.metrics.errant_by_type.scores_by_type`.

    >>> corpus = Corpus.from_texts(["He go home", "Fine ."], [["He goes home", "Fine ."]])
    >>> found = targeted_scores(Edits(), corpus, Hypotheses("A", ("He goes home", "Very fine .")))
    >>> dict(zip(found.kinds, found.f.tolist())), found.overcorrected
    ({'M:OTHER': 0.0, 'R:INFL': 1.0, 'R:ORTH': 0.0}, 1.0)
    """
    gold, (system,), _ = with_comparable_types(metric, corpus, [hypotheses])
    by_kind = counts_by_kind(metric, gold, system, tier=tier)
    words = source_words(corpus)
    totals = np.array(
        [[*each.rows.sum(axis=0), words.sum()] for each in by_kind.values()], np.float64
    ).reshape(-1, len(TARGETED_FIGURES))
    figures = aimed_figures(totals, metric.beta)
    clean, changed = clean_sentences(gold), changed_sentences(corpus, system)
    whole = np.rint(totals).astype(np.int64)
    return TargetedScores(
        hypotheses.system,
        tuple(by_kind),
        whole[:, [TP, FP, FN]],
        figures["P"],
        figures["R"],
        figures[f"F{metric.beta:g}"],
        whole[:, ASKED],
        whole[:, SOLVED],
        figures["success"],
        figures["false alarms"],
        int(clean.sum()),
        float(ratio((clean & changed).sum(), clean.sum())),
        float(changed.mean()),
        float(PER_WORDS * ratio(_wrong_edits(metric, gold, system), words.sum())),
    )


def _wrong_edits(metric: Edits, gold: Corpus, hypotheses: Hypotheses) -> float:
    """The false positives of the score over all kinds."""
    counts = metric.with_sentence_f(metric.compare(gold, hypotheses).counts)
    return float(select_reference(counts, metric.choose(counts)[0])[:, FP].sum())
