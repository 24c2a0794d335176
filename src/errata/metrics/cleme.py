"""CLEME and CLEME2.0: merged chunks, outcomes, length weights.

Ye et al., EMNLP 2023 and ACL 2025. Boundaries of edits that another annotator or extractor would
have drawn differently do not decide, since every text is read over the same chunks.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from operator import itemgetter
from typing import Any, ClassVar, Literal, Self

import numpy as np

from errata.core.errors import InputError
from errata.core.parallel import parallel_map
from errata.core.parameters import About
from errata.core.stats import Bools, Floats, Ints, Progress, ratio
from errata.data import Corpus, Edit, Hypotheses, ReferenceTable, Tokens
from errata.data.edits import members, offsets
from errata.edits import (
    GoldEditing,
    OutputEditing,
    check_inside,
    describe_origins,
    edits_of,
    origin_facts,
    split_extractor,
    with_edits,
)
from errata.kernels import merged_chunks as kernel
from errata.metrics.base import (
    Before,
    Columns,
    Description,
    Metric,
    MetricFacts,
    Scope,
    Unsettled,
    append_score,
    by_name,
    check_beta,
    f_beta,
    fixed_point,
    join_counts,
    mean_own_score,
    metric,
    precision_recall,
    to_int,
)
from errata.metrics.encoder_metric import (
    WeightedChange,
    Weights,
    plain_text,
    reference_texts,
    text_windows,
    truncation_note,
    weigh,
)
from errata.metrics.ngrams import per_reference
from errata.metrics.running_choice import (
    Ratio,
    RunningRule,
    best_alone,
    best_references,
    f_ratio,
    rounded,
)
from errata.models import CachedModel, Options

# ---- Sentences cut at the edits of an output and of all references at once.

KINDS = ("TP", "FP", "FN", "TN", "FPne")
TP, FP, FN, TN, FPNE = range(5)
Mode = Literal["dependent", "independent"]


@dataclass(frozen=True, eq=False)
class MergedChunks:
    """The chunks of the sentences of one output, and what output and references have there.

    Chunk c replaces the tokens ``start[c]:end[c]`` of its sentence; ``between`` are the unchanged
    stretches of each sentence. ``words``, ``sizes`` and ``changed`` (whether there is an edit) have
    an entry for every text and chunk: ``output_entries[c]`` for the output, ``gold_entries`` for
    the references that are ``counted``, each of a ``chunk`` and a ``reference``, and the ``same``
    as the output's or not.
    """

    gold: Corpus
    counted: Bools
    between: Ints
    sentence: Ints
    start: Ints
    end: Ints
    output_entries: Ints
    gold_entries: Ints
    chunk: Ints
    reference: Ints
    same: Bools
    changed: Bools
    word_at: Ints
    word_ids: Ints

    @property
    def sizes(self) -> Ints:
        """The number of words of each entry."""
        return np.diff(self.word_at)

    @property
    def longest(self) -> Ints:
        """The longer of source and output in each chunk, in tokens."""
        return np.asarray(np.maximum(self.end - self.start, self.sizes[self.output_entries]))

    def words(self, entry: int, known: Sequence[str]) -> str:
        """Return the words of an entry; ``known`` are the words of the vocabulary."""
        ids = self.word_ids[self.word_at[entry] : self.word_at[entry + 1]]
        return " ".join(known[k] for k in ids.tolist())


def counted_references(corpus: Corpus) -> Bools:
    """Return which references count: not those that delete every word, unless all do.

    Then the first counts, as in the program.
    """
    table = corpus.edits
    if table.has_overlaps():
        raise InputError(
            f"{corpus.name}: edits of one annotator overlap",
            remedy="chunks need edits that do not overlap; gold='reextracted' finds such",
        )
    sentence, row = table.sentence_of_reference, table.reference_of_edit
    grown = corpus.vocabulary.intern(table.replacements).lengths - (table.end - table.start)
    sizes = corpus.source_tokens.lengths[sentence] + np.bincount(row, grown, len(sentence))
    written = sizes > 0
    for r, text in enumerate(table.texts):
        if text is not None:
            written[r] = bool(text.strip())
    left = np.bincount(sentence[written], minlength=len(corpus)) > 0
    first = np.diff(sentence, prepend=-1) > 0
    return np.asarray(written | (first & ~left[sentence]))


def merge_chunks(gold: Corpus, output: Hypotheses) -> MergedChunks:
    """Cut each sentence at the edits of the output and of its references, which must have some.

    >>> from errata.data import Reference
    >>> gold = Corpus(("He go to home",), ((Reference(0, (Edit(1, 2, "went"), Edit(2, 3, ""))),),))
    >>> found = merge_chunks(gold, Hypotheses("A", ("",), ((Edit(1, 2, "goes"),),)))
    >>> [found.words(e, gold.vocabulary.words()) for e in (0, 1)], found.between.tolist()
    (['goes to', 'went'], [2])
    """
    table, mine = gold.edits, ReferenceTable.of_output(output.edits or ())
    without = np.flatnonzero(table.sizes == 0)
    if len(without):
        source = gold.sources[int(without[0])]
        raise InputError(
            f"{gold.name}: a sentence has no reference, {source[:60]!r}",
            remedy="give every sentence a reference, or leave the sentence out",
        )
    check_inside(gold, mine)
    tokens, vocabulary = gold.source_tokens, gold.vocabulary
    # The texts of a sentence: the output, then the references that count.
    counted = gold.derived("counted references", lambda: counted_references(gold))
    references = np.flatnonzero(counted)
    sentence = table.sentence_of_reference[references]
    text_at = offsets(1 + np.bincount(sentence, minlength=len(gold)))
    number = np.arange(len(references)) + sentence + 1  # one output before, and each sentence's own
    reference_of = np.full(int(text_at[-1]), -1)
    reference_of[number] = references
    text_of = np.full(len(counted), -1)
    text_of[references] = number
    kept = np.flatnonzero(counted[table.reference_of_edit])
    text = np.concatenate([text_at[mine.reference_of_edit], text_of[table.reference_of_edit[kept]]])
    start = np.concatenate([mine.start, table.start[kept]])
    end = np.concatenate([mine.end, table.end[kept]])
    order = np.lexsort((end, start, text))
    replacements = Tokens.joined(
        vocabulary.intern(mine.replacements),
        gold.derived("replacements", lambda: vocabulary.intern(table.replacements)),
    )
    edits = np.concatenate([np.arange(len(mine.start)), len(mine.start) + kept])[order]
    chunks, entries, words, between = kernel.merge(
        tokens.ids,
        tokens.offsets,
        text_at,
        offsets(np.bincount(text, minlength=int(text_at[-1]))),
        start[order].astype(np.intc),
        end[order].astype(np.intc),
        offsets(replacements.lengths[edits]),
        replacements.ids[members(replacements.offsets, edits)],
    )
    sentences, own = chunks[:, 0].astype(np.int64), chunks[:, 3].astype(np.int64)
    sizes = np.diff(text_at)[sentences]
    chunk = np.repeat(np.arange(len(chunks)), sizes)
    theirs = np.flatnonzero(np.arange(len(entries)) != own[chunk])
    chunk = chunk[theirs]
    return MergedChunks(
        gold,
        counted,
        between.astype(np.int64),
        sentences,
        chunks[:, 1].astype(np.int64),
        chunks[:, 2].astype(np.int64),
        own,
        theirs,
        chunk,
        reference_of[text_at[sentences[chunk]] + theirs - own[chunk]],
        entries[theirs, 3] > 0,
        entries[:, 2] > 0,
        np.append(entries[:, 0], len(words)).astype(np.int64),
        words,
    )


# ---- What an output did with each chunk, and what that weighs.


@dataclass(frozen=True, eq=False)
class ChunkFates:
    """What an output did with each chunk beside each reference, or beside all ``at_once``.

    Chunk ``chunk[k]`` counts as ``fate[k]`` for place ``place[k]``, a reference or, at once, a
    sentence; ``due`` says whether a reference changes it.
    """

    chunks: MergedChunks
    at_once: bool
    place: Ints
    chunk: Ints
    fate: Ints
    due: Bools

    @classmethod
    def of(cls, chunks: MergedChunks, *, at_once: bool) -> ChunkFates:
        """Compare the words of the output with the references'.

        At once, any reference may be right, and one that leaves a chunk alone excuses the output.
        """
        due, made = chunks.changed[chunks.gold_entries], chunks.changed[chunks.output_entries]
        if not at_once:
            same, changed = chunks.same, made[chunks.chunk]
            fate = np.where(changed, np.where(same, TP, FP), np.where(same, TN, FN))
            return cls(chunks, at_once, chunks.reference, chunks.chunk, fate, due)
        if not len(made):
            return cls(chunks, at_once, chunks.sentence, chunks.chunk, chunks.chunk, due)
        first = np.searchsorted(chunks.chunk, np.arange(len(made)))
        same = np.logical_or.reduceat(chunks.same, first)
        missed = np.logical_and.reduceat(due, first)
        fate = np.where(made, np.where(same, TP, FP), np.where(missed, FN, TN))
        due = np.logical_or.reduceat(due, first)
        return cls(chunks, at_once, chunks.sentence, np.arange(len(made)), fate, due)

    def counts(self, weights: Floats | None = None) -> Floats:
        """Return the weights, 1 each by default, by fate: ``[sentence, reference, k]``."""
        between, size = self._between(), len(KINDS)
        if weights is None:
            weights = np.ones(len(self.place))
        by_fate = np.bincount(self.place * size + self.fate, weights, size * len(between))
        counts = by_fate.reshape(-1, size).astype(np.float64)
        counts[:, TN] += between
        wrong = (self.fate == FP) & self.due
        counts[:, FPNE] = np.bincount(self.place[wrong], weights[wrong], len(between))
        return self.by_sentence(counts)

    def changes_by_references(self) -> tuple[Ints, Ints]:
        """Return the place of every change that a reference makes, and its length."""
        chunks = self.chunks
        changed = chunks.changed[chunks.gold_entries]
        place = chunks.sentence[chunks.chunk] if self.at_once else chunks.reference
        sizes = np.maximum(
            (chunks.end - chunks.start)[chunks.chunk], chunks.sizes[chunks.gold_entries]
        )
        return place[changed], sizes[changed]

    def weights_by_length(self, middle: float | None) -> Floats:
        """Return what each chunk weighs by its length, with the mean of these changes in between.

        ``middle`` takes its place, where it is given.
        """
        if middle is None:
            _, changes = self.changes_by_references()
            middle = middle_of(int(changes.sum()), len(changes))
        sizes = self.chunks.longest[self.chunk]
        return np.where(self.fate == TN, 1.0, length_weights(sizes, middle, wrong=self.fate == FP))

    def lengths(self) -> Floats:
        """Return what length weights hang on, ``[sentence, reference, k]``: see `SIZES`."""
        between = self._between()
        place, sizes = self.changes_by_references()
        listed = np.flatnonzero(self.fate != TN)
        listed = listed[np.argsort(self.place[listed], kind="stable")]
        of, fate = self.place[listed], self.fate[listed]
        numbers = np.bincount(of, minlength=len(between))
        found = np.zeros((len(between), CHUNKS + int(numbers.max(initial=0))))
        found[:, SIZES] = np.bincount(place, sizes, len(between))
        found[:, CHANGES] = np.bincount(place, minlength=len(between))
        kept = np.bincount(self.place[self.fate == TN], minlength=len(between))
        found[:, UNTOUCHED] = between + kept
        kind = np.where((fate == FP) & self.due[listed], FPNE, fate)
        at = CHUNKS + np.arange(len(listed)) - offsets(numbers)[of]
        found[of, at] = 1 + len(KINDS) * self.chunks.longest[self.chunk[listed]] + kind
        return self.by_sentence(found)

    def _between(self) -> Ints:
        """The unchanged stretches of the sentence of each place."""
        chunks = self.chunks
        if self.at_once:
            return chunks.between
        return chunks.between[chunks.gold.edits.sentence_of_reference]

    def by_sentence(self, numbers: Floats) -> Floats:
        """Return the numbers of each place by sentence; NaN for references that do not count."""
        if self.at_once:
            return numbers[:, None]
        numbers[~self.chunks.counted] = np.nan
        return per_reference(numbers, self.chunks.gold.edits.reference_offsets)

    def changes(self, texts: Sequence[Sequence[str]]) -> list[tuple[int, list[WeightedChange]]]:
        """Return the texts that decide what each chunk weighs by similarity, and its number here.

        These are the output's words there, or those it should have. At once, the references that
        agree decide where the output is right, all elsewhere. ``texts`` are the
        references'.
        """
        chunks, known = self.chunks, self.chunks.gold.vocabulary.words()
        first = np.searchsorted(chunks.chunk, np.arange(len(chunks.sentence) + 1)).tolist()
        begins = chunks.gold.edits.reference_offsets
        order = np.lexsort((self.chunk, self.place)).tolist()
        found = []
        for k in order:
            c, fate = int(self.chunk[k]), self.fate[k]
            if fate == TN:
                continue
            i = int(chunks.sentence[c])
            tokens = chunks.gold.sources[i].split()
            several = []
            for e in range(first[c], first[c + 1]) if self.at_once else (k,):
                if fate == TP and not chunks.same[e]:
                    continue
                entry = int(chunks.gold_entries[e] if fate == FN else chunks.output_entries[c])
                edit = Edit(int(chunks.start[c]), int(chunks.end[c]), chunks.words(entry, known))
                reference = texts[i][int(chunks.reference[e] - begins[i])]
                several.append(
                    WeightedChange(plain_text(tokens), plain_text(tokens, [edit]), reference)
                )
            found.append((k, several))
        return found

    def weights_by_similarity(
        self, changes: Sequence[tuple[int, list[WeightedChange]]], weights: Weights, nothing: float
    ) -> Floats:
        """Return what each chunk weighs; ``nothing`` if it makes no difference."""
        found = np.ones(len(self.place))
        for k, several in changes:
            mean = sum(weights.of[change] for change in several) / len(several)
            found[k] = float(fixed_point(np.array(mean))) or nothing
        return found


# ---- Weights of chunks by their lengths, which the mean length in the whole corpus decides.

# The length weights of the released program: other values that its papers name never take effect.
SHARPNESS, LIGHTEST, HEAVIEST = 2.0, 0.75, 1.25
BITS = 40  # behind the point of weights: the sum of a corpus keeps the program's six digits
# Of each reference: the lengths of what it changes, summed and counted, and chunks nobody touches.
# Then its chunks: their lengths, five times, and their kind, from 1 on; 0 is none.
SIZES, CHANGES, UNTOUCHED, CHUNKS = range(4)


class ChunkLengths(Unsettled):
    """Chunks by fate and length, and the weights they come to."""

    def __init__(self, metric: CLEME) -> None:
        self.metric = metric

    def count_all(
        self,
        corpus: Corpus,
        systems: Sequence[Hypotheses],
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> list[Floats]:
        """The chunks of every system; edits of all of them are found in one go."""
        gold, found = self.metric.edited(corpus, systems, progress)
        return parallel_map(
            lambda system: self.metric.fates(gold, system).lengths(),
            found,
            threads=threads,
            progress=progress,
        )

    def summarise(self, parts: Iterable[Floats]) -> tuple[int, ...]:
        """The lengths of what references change: their sum, and how many they are."""
        total = np.zeros(2, np.int64)
        for part in parts:
            total += np.nansum(part[..., SIZES:UNTOUCHED], axis=(0, 1)).astype(np.int64)
        return tuple(total.tolist())

    def settle(self, part: Floats, whole: tuple[int, ...]) -> Floats:
        """The weights of chunks by fate, ``[sentence, reference, k]``."""
        middle = self.metric.middle
        if middle is None:
            middle = middle_of(*whole)
        missing = np.isnan(part[..., SIZES])
        listed = np.where(missing[..., None], 0, part[..., CHUNKS:]).astype(np.int64)
        size, kind = np.divmod(np.maximum(listed - 1, 0), len(KINDS))
        weights = length_weights(size, middle, wrong=np.isin(kind, (FP, FPNE)))
        weights[listed == 0] = 0
        counts = np.zeros((*part.shape[:2], len(KINDS)))
        counts[..., TN] = part[..., UNTOUCHED]
        for fate, kinds in ((TP, (TP,)), (FP, (FP, FPNE)), (FN, (FN,)), (FPNE, (FPNE,))):
            counts[..., fate] = (weights * np.isin(kind, kinds)).sum(axis=-1)
        counts[missing] = np.nan
        return self.metric.completed(counts)


def middle_of(total: int, number: int) -> float:
    """Return the mean length of so many changes, 0 if there are none."""
    return total / number if number else 0.0


def length_weights(sizes: Ints, middle: float, *, wrong: Bools) -> Floats:
    """Return what chunks of these sizes weigh, as FP where they are ``wrong``, else as TP or FN."""
    known, place = np.unique(sizes, return_inverse=True)
    # Far from the middle the result is clipped anyway.
    away = np.clip(known - middle, -50, 50)
    values = SHARPNESS / (1 + (SHARPNESS - 1) * np.exp(np.stack([-away, away])))
    weights = fixed_point(np.clip(values, LIGHTEST, HEAVIEST), BITS)
    return np.asarray(weights[wrong.astype(np.int64), place.reshape(sizes.shape)])


# ---- What CLEME and CLEME2.0 share: edits, chunks, and what an output did with each.


class ChunkMetric(Metric):
    """What CLEME and CLEME2.0 share: chunks, and what an output did with each."""

    mode: Mode
    weights: str
    gold: GoldEditing
    extractor: str
    outputs: OutputEditing
    choice: Literal["sequential", "isolated"]
    total: Literal["sum", "mean"]
    model: str
    layer: int | None
    revision: str
    dtype: str
    device: str
    batch_size: int
    _nothing: ClassVar[float]  # the weight of a chunk that makes no difference

    @property
    def scope(self) -> Scope:
        """The sentences before, unless each takes the reference best for it alone."""
        # A mean over sentences is best where each of them is.
        return "sentence" if self.choice == "isolated" or self.total == "mean" else "running"

    @property
    def columns(self) -> Columns:
        """The annotators, or all of them as one."""
        return "annotators" if self.mode == "dependent" else "readings"

    def count_all(
        self,
        corpus: Corpus,
        systems: Sequence[Hypotheses],
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> list[Floats]:
        """Edits of all systems are found in one go; a system is then counted as a whole."""
        gold, found = self.edited(corpus, systems, progress)
        if self.weights == "similarity":
            counts, cut = self._likened(gold, found, threads, progress)
            self._cuts(corpus)[tuple(h.system for h in systems)] = cut
            return counts
        return parallel_map(
            lambda system: self.completed(self.weighed(self.fates(gold, system))),
            found,
            threads=threads,
            progress=progress,
        )

    def edited(
        self, corpus: Corpus, systems: Sequence[Hypotheses], progress: Progress | None = None
    ) -> tuple[Corpus, list[Hypotheses]]:
        """Return the corpus with its gold edits, and the outputs with theirs."""
        gold = with_edits(corpus, self.gold, self.extractor, progress)
        return gold, edits_of(
            corpus, systems, self.outputs, extractor=self.extractor, progress=progress
        )

    def weighed(self, fates: ChunkFates) -> Floats:
        """Return the weights of chunks by fate, where no similarity decides them."""
        return fates.counts()

    def count(self, corpus: Corpus, hypotheses: Hypotheses) -> Floats:
        """What became of the chunks of each sentence: TP, FP, FN, TN, and FP where one is due."""
        return self.count_all(corpus, [hypotheses])[0]

    def facts(self, corpus: Corpus, systems: Sequence[Hypotheses]) -> MetricFacts:
        """Where edits come from, and how many texts were too long for the model."""
        return {
            "texts": int(corpus.edits.bare.sum()),
            "cut": self._cuts(corpus).get(tuple(h.system for h in systems), 0),
            **origin_facts(systems, self.outputs),
        }

    def describe(self, facts: MetricFacts) -> Description:
        """Where the edits come from, the exact model where one weighs, and texts it cut."""
        gold = self.gold == "reextracted" or bool(facts["texts"])
        context = describe_origins(facts, self.extractor, gold=gold)
        if self.weights == "similarity":
            context += (f"model:{self.open_model().revision}",)
        return Description(context, truncation_note(facts["cut"]))

    def extracting(self, extractor: str) -> Self:
        """The same with the edits of all outputs found by this extractor."""
        own: Any = self
        changed: Self = replace(own, extractor=extractor, outputs="reextracted")
        return changed

    def open_model(self) -> CachedModel:
        """BERTScore, with its cache."""
        from errata.models.encoder import open_bertscore

        options = Options(self.revision, self.dtype, self.device, self.batch_size)
        return open_bertscore(self.model, options, layer=self.layer)

    def _cuts(self, corpus: Corpus) -> dict[tuple[str, ...], int]:
        """How many texts were cut when these systems were counted."""
        return corpus.derived(("cut", self), dict)

    def fates(self, gold: Corpus, output: Hypotheses) -> ChunkFates:
        """Return what an output did with each chunk; both must have edits."""
        return ChunkFates.of(merge_chunks(gold, output), at_once=self.mode == "independent")

    def _likened(
        self,
        gold: Corpus,
        outputs: Sequence[Hypotheses],
        threads: int | None,
        progress: Progress | None,
    ) -> tuple[list[Floats], int]:
        """The counts with weights by similarity, and how many texts were cut for them."""
        memo = self.open_model()
        result, cut, done = [], 0, 0
        for window, several in text_windows(gold, outputs):
            texts = reference_texts(window)
            fates = [self.fates(window, output) for output in several]
            changes = [each.changes(texts) for each in fates]
            by_sentence = sorted(
                (
                    (int(each.chunks.sentence[each.chunk[k]]), change)
                    for each, own in zip(fates, changes, strict=True)
                    for k, some in own
                    for change in some
                ),
                key=itemgetter(0),
            )
            weights = weigh(memo, [change for _, change in by_sentence])
            counts = [
                each.counts(each.weights_by_similarity(own, weights, self._nothing))
                for each, own in zip(fates, changes, strict=True)
            ]
            result.append(counts)
            cut, done = cut + weights.cut, done + len(window)
            if progress is not None:
                progress(done, len(gold))
        joined = [join_counts(each) for each in zip(*result, strict=True)]
        return [self.completed(each) for each in joined], cut

    def completed(self, counts: Floats) -> Floats:
        """Counts with what ``total="mean"`` needs, where it is asked for."""
        if self.total == "sum":
            return counts
        own = np.where(np.isnan(counts[..., TP]), np.nan, self._own_score(np.nan_to_num(counts)))
        return append_score(counts, own)

    @abstractmethod
    def _own_score(self, counts: Floats) -> Floats:
        """Return the score of each sentence alone."""


TIES = ((TP, 1), (FP, -1), (FN, -1), (TN, 1))
DIGITS = 4  # to which the program rounds P, R, F and accuracy
NOISE = 12  # digits beyond which two scores differ by rounding only


def _rounded(values: Floats, digits: int) -> Floats:
    """Round as Python does, which NumPy does not always."""
    rounded = [round(value, digits) for value in values.ravel().tolist()]
    return np.array(rounded, np.float64).reshape(values.shape)


@metric
class CLEME(ChunkMetric):
    """F over chunks that are the same for output and references (Ye et al. 2023).

    Beside a reference (``mode="dependent"``) a chunk that the output changes is TP if both have the
    same words there and FP otherwise; one it leaves alone is FN if they differ and TN otherwise.
    Each sentence takes the reference best for F of the sentences so far, of equals that with most
    TP, fewest FP, fewest FN, most TN. ``mode="independent"`` takes the references at once: TP is
    equal to any of them, FN what all of them change. P and R are 1 where nothing is there, and
    rounded to four digits together with F while references are chosen, as in the program.

    ``weights="length"``, the program's default: a chunk of ℓ tokens (the longer of source and
    output) weighs ``2 / (1 + e^(b - ℓ))`` as TP or FN and ``2 / (1 + e^(ℓ - b))`` as FP, between
    .75 and 1.25, with b the mean ℓ of what references change in the whole corpus. The chunks hang
    on the output too, and so does b; ``middle`` gives another b to all. ``weights="similarity"``:
    as in `CLEME2`, except that a chunk which makes no difference weighs 1, as in the program.
    ``total="mean"`` is the mean of the sentences' F, each rounded to four digits.

    >>> from errata.scoring.evaluate import evaluate
    >>> from errata import Corpus
    >>> corpus = Corpus.from_texts(["He go to home"], [["He goes home"]])
    >>> evaluate("cleme(weights=none)", corpus, {"A": ["He goes to home"]}).parts["P"].item()
    0.0
    """

    name = "cleme"
    about = About(
        paper="Ye et al. 2023",
        range="from 0 to 1",
        needs=("gold edits or references",),
        amounts=("TP", "FP", "FN", "TN"),
    )
    _nothing = 1.0  # as in the program

    mode: Mode = "dependent"
    weights: Literal["length", "similarity", "none"] = "length"
    middle: float | None = None
    beta: float = 0.5
    gold: GoldEditing = "as_is"
    extractor: str = "aligned"
    outputs: OutputEditing = "alike"
    choice: Literal["sequential", "isolated"] = "sequential"
    total: Literal["sum", "mean"] = "sum"
    model: str = "bert-base-uncased"
    layer: int | None = None
    revision: str = ""
    dtype: str = "float32"
    device: str = field(default="auto", compare=False)
    batch_size: int = field(default=64, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_beta(self.name, self.beta)
        split_extractor(self.extractor)

    @property
    def statistics(self) -> tuple[str, ...]:
        """Weights of the chunks by fate; with ``total="mean"`` also the sentence's own F."""
        return (*KINDS, *(("F", "sentences") if self.total == "mean" else ()))

    @property
    def headline(self) -> str:
        """F with its beta."""
        return f"F{self.beta:g}"

    def _own_score(self, counts: Floats) -> Floats:
        return self._figures(counts)[2].round(DIGITS)

    def weighed(self, fates: ChunkFates) -> Floats:
        """Return the weights of chunks by fate, all 1 or by their lengths."""
        weights = fates.weights_by_length(self.middle) if self.weights == "length" else None
        return fates.counts(weights)

    @property
    def unsettled(self) -> ChunkLengths | None:
        """Chunks by their lengths, where these decide what they weigh."""
        return ChunkLengths(self) if self.weights == "length" else None

    def choose(self, counts: Floats, before: Before | None = None) -> Ints:
        """The reference of each sentence (see the class)."""
        if self.scope == "sentence":
            p, r, f, accuracy = self._figures(counts)
            return best_alone(counts, [_rounded(x, DIGITS) for x in (f, p, r, accuracy)], TIES)
        share = f_ratio(self.beta, len(self.statistics), empty=1)

        def ranked(totals: Sequence[Fraction]) -> int:
            return rounded(share.of(totals), DIGITS, lambda: self._so_far(totals))

        return best_references(counts, RunningRule(ranked, (share,), DIGITS, TIES), before=before)

    @property
    def for_sentences(self) -> Self:
        """With the reference best for the sentence alone."""
        return replace(self, choice="isolated")

    def score(self, totals: Floats) -> Floats:
        """F of summed weights, or the mean of the sentences' F."""
        if self.total == "mean":
            return mean_own_score(totals)
        return self._figures(totals)[2]

    def figures(self, totals: Floats) -> dict[str, Floats | Ints]:
        """Precision, recall, accuracy, and the weights behind them."""
        p, r, _, accuracy = self._figures(totals)
        counts: dict[str, Floats | Ints] = dict(by_name(KINDS[:FPNE], totals))
        if self.weights == "none":
            counts = {name: to_int(count) for name, count in by_name(KINDS[:FPNE], totals).items()}
        return {"P": p, "R": r, "accuracy": accuracy, **counts}

    def _figures(self, totals: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        tp, fp, fn, tn = (totals[..., k] for k in (TP, FP, FN, TN))
        p, r = precision_recall(tp, fp, fn, 1.0)
        return p, r, f_beta(p, r, self.beta), ratio(tp + tn, tp + fp + fn + tn, 0.0)

    def _so_far(self, totals: Sequence[Fraction]) -> float:
        return float(self._figures(np.array(totals, np.float64))[2])


@metric
class CLEME2(ChunkMetric):
    """Hits, errors, omissions and overcorrections over merged chunks (Ye et al. 2025).

    With the fates of `CLEME`, FP split into those where a change is due (ne) and not (un)::

        hit   = TP / (TP + FPne + FN)      wrong = FPne / (TP + FPne + FN)
        under = FN / (TP + FPne + FN)      over  = FPun / (TP + FP)
        score = .45 hit + .35 (1 - wrong) + .15 (1 - under) + .05 (1 - over)

    each 0 where nothing is there; for single sentences the factors are .35, .25, .20 and .20.
    ``factors`` of the corpus score replace the paper's. An output that changes
    nothing scores .40 there. The reference is chosen by the score so far, ties as in `CLEME`; for a
    single sentence by its score, and of equals, as in the program, by the larger share of over.
    ``total="mean"`` is the mean of the sentences' scores.

    ``weights="similarity"``: a chunk weighs as much as it alone brings the source nearer to the
    reference or takes it away, by BERTScore's F (not rescaled)::

        TP, FP:  |F(source with the output's words, reference) - F(source, reference)|
        FN:      |F(source with the reference's words, reference) - F(source, reference)|      TN: 1

    ``mode="independent"`` knows no single reference: there it is the mean over those that decide,
    the ones that agree for TP and all of them for FP and FN. ``model`` and ``layer``: see
    `errata.models.encoder`; a weight below 0.00001 is 0.

    >>> from errata.scoring.evaluate import evaluate
    >>> from errata import Corpus
    >>> corpus = Corpus.from_texts(["He go to home"], [["He goes home"]])
    >>> round(evaluate("cleme2", corpus, {"A": ["He go to home"]})["A"], 4)
    0.4
    """

    name = "cleme2"
    about = About(
        paper="Ye et al. 2025",
        range="from 0 to 1",
        needs=("gold edits or references",),
        amounts=KINDS,
    )
    headline = "CLEME2.0"
    _nothing = 0.0

    mode: Mode = "dependent"
    weights: Literal["none", "similarity"] = "none"
    factors: tuple[float, ...] = (0.45, 0.35, 0.15, 0.05)
    sentence_factors: tuple[float, ...] = (0.35, 0.25, 0.2, 0.2)
    gold: GoldEditing = "as_is"
    extractor: str = "aligned"
    outputs: OutputEditing = "alike"
    choice: Literal["sequential", "isolated"] = "sequential"
    total: Literal["sum", "mean"] = "sum"
    model: str = "bert-base-uncased"
    layer: int | None = None
    revision: str = ""
    dtype: str = "float32"
    device: str = field(default="auto", compare=False)
    batch_size: int = field(default=64, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        split_extractor(self.extractor)
        for name in ("factors", "sentence_factors"):
            given = getattr(self, name)
            if len(given) != 4 or min(given) < 0 or not 0.999 < sum(given) < 1.001:
                raise InputError(
                    f"cleme2: {name}={given} are not four shares of 1",
                    remedy="give the weights of hit, wrong, under and over, as "
                    "(0.45, 0.35, 0.15, 0.05)",
                )

    @property
    def statistics(self) -> tuple[str, ...]:
        """Chunks by fate; with ``total="mean"`` also the sentence's own score."""
        return (*KINDS, *(("score", "sentences") if self.total == "mean" else ()))

    def _own_score(self, counts: Floats) -> Floats:
        return fixed_point(self._weighed(counts, self.sentence_factors), BITS)

    def choose(self, counts: Floats, before: Before | None = None) -> Ints:
        """The reference of each sentence (see the class)."""
        factors = self.sentence_factors if self.total == "mean" else self.factors

        if self.scope == "sentence":
            keys = (self._weighed(counts, factors), _shares_of_fates(counts)[3])
            return best_alone(counts, [_rounded(x, NOISE) for x in keys])
        shares = self._exact_shares()

        def ranked(totals: Sequence[Fraction]) -> Fraction:
            return sum((share.of(totals) for share in shares), Fraction(0))

        rule = RunningRule(ranked, shares, ties=TIES)
        return best_references(counts, rule, before=before)

    def _exact_shares(self) -> tuple[Ratio, Ratio]:
        """Return the score as two quotients, without terms that are the same for all references."""
        hit, wrong, under, over = (Fraction(repr(float(factor))) for factor in self.factors)
        none, one = Fraction(0), Fraction(1)

        def share(above: dict[int, Fraction], below: tuple[int, ...]) -> Ratio:
            every = range(len(self.statistics))
            return Ratio(
                tuple(above.get(k, none) for k in every),
                tuple(one if k in below else none for k in every),
            )

        needed = share({TP: hit, FPNE: -wrong, FN: -under}, (TP, FPNE, FN))
        return needed, share({FP: -over, FPNE: over}, (TP, FP))

    @property
    def for_sentences(self) -> Self:
        """With the factors and the reference of single sentences."""
        return replace(self, choice="isolated", factors=self.sentence_factors)

    def score(self, totals: Floats) -> Floats:
        """The weighed shares of summed chunks, or the mean of the sentences' scores."""
        if self.total == "mean":
            return mean_own_score(totals)
        return self._weighed(totals, self.factors)

    def figures(self, totals: Floats) -> dict[str, Floats | Ints]:
        """The four shares, and the chunks behind them."""
        shares = dict(zip(("hit", "wrong", "under", "over"), _shares_of_fates(totals), strict=True))
        counts: dict[str, Floats | Ints] = dict(by_name(KINDS, totals))
        if self.weights == "none":
            counts = {name: to_int(count) for name, count in by_name(KINDS, totals).items()}
        return {**shares, **counts}

    def _weighed(self, totals: Floats, factors: tuple[float, ...]) -> Floats:
        hit, wrong, under, over = _shares_of_fates(totals)
        a, b, c, d = factors
        return np.asarray(a * hit + b * (1 - wrong) + c * (1 - under) + d * (1 - over))


def _shares_of_fates(totals: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Hit, wrong, under and over."""
    tp, fp, fn, due = (totals[..., k] for k in (TP, FP, FN, FPNE))
    needed = tp + due + fn
    return (
        ratio(tp, needed, 0.0),
        ratio(due, needed, 0.0),
        ratio(fn, needed, 0.0),
        ratio(fp - due, tp + fp, 0.0),
    )
