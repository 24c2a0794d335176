"""CLEME and CLEME2.0: merged chunks, outcomes, length weights.

Ye et al., EMNLP 2023 and ACL 2025. Boundaries of edits that another annotator or extractor would
have drawn differently do not decide, since every text is read over the same chunks.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np

from errata.core.errors import InputError
from errata.core.parallel import parallel_map
from errata.core.parameters import About
from errata.core.stats import Floats, Ints, Progress, ratio
from errata.data import Corpus, Edit, Hypotheses, Reference
from errata.edits import (
    GoldEditing,
    OutputEditing,
    describe_origins,
    edits_of,
    origin_facts,
    split_extractor,
    with_edits,
)
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
    join_unsettled,
    mean_own_score,
    metric,
    pad_lists,
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
from errata.metrics.running_choice import (
    Ratio,
    RunningRule,
    best_alone,
    best_references,
    f_ratio,
    rounded,
)
from errata.models import CachedModel, Options

# ---- One sentence cut at the edits of an output and of all references at once.


class MergedChunk(NamedTuple):
    """What the source has there, and each text: the output first, then the references.

    ``words`` are the tokens of a text, ``changed`` says whether it has an edit there.
    """

    start: int
    length: int
    words: tuple[tuple[str, ...], ...]
    changed: tuple[bool, ...]

    @property
    def size(self) -> int:
        """The longer of source and output, in tokens."""
        return max(self.length, len(self.words[0]))


def counted_references(references: Sequence[Reference], source: str) -> list[int]:
    """The references that count: those that delete every word do not, unless all do."""
    left = [k for k, each in enumerate(references) if each.corrected(source).strip()]
    return left or list(range(len(references)))


def merged_chunks(
    source: Sequence[str], texts: Sequence[Iterable[Edit]]
) -> tuple[list[MergedChunk], int]:
    """The chunks that some text changes, and the number of stretches between them.

    >>> chunks, between = merged_chunks(
    ...     "He go to home".split(), [[Edit(1, 2, "goes")], [Edit(1, 2, "went"), Edit(2, 3, "")]]
    ... )
    >>> chunks[0].words, between
    ((('goes', 'to'), ('went',)), 2)
    """
    ordered = [sorted(edits, key=lambda edit: (edit.start, edit.end)) for edits in texts]
    spans: list[list[int]] = []
    for start, end in sorted((edit.start, edit.end) for edits in ordered for edit in edits):
        if spans and start <= spans[-1][1]:  # touching counts
            spans[-1][1] = max(spans[-1][1], end)
        else:
            spans.append([start, end])
    chunks, position, between = [], 0, 0
    for start, end in spans:
        between += start > position
        position = end
        words, changed = [], []
        for edits in ordered:
            inside = [edit for edit in edits if start <= edit.start and edit.end <= end]
            words.append(_carried_out(source, inside, start, end))
            changed.append(bool(inside))
        chunks.append(MergedChunk(start, end - start, tuple(words), tuple(changed)))
    return chunks, between + (len(source) > position)


def _carried_out(
    source: Sequence[str], edits: Sequence[Edit], start: int, end: int
) -> tuple[str, ...]:
    words: list[str] = []
    position = start
    for edit in edits:
        words += source[position : edit.start]
        words += edit.replacement.split()
        position = max(position, edit.end)
    words += source[position:end]
    return tuple(words)


# ---- What an output did with each chunk, and what that weighs by the likeness of texts.

KINDS = ("TP", "FP", "FN", "TN", "FPne")
TP, FP, FN, TN, FPNE = range(5)


class ComparedChunks(NamedTuple):
    """A sentence of one system: its chunks, the stretches between, and which references count.

    ``corrected`` are the texts of those references.
    """

    source: list[str]
    chunks: list[MergedChunk]
    between: int
    references: list[int]
    columns: int
    corrected: list[str]


WeighChunk = Callable[[int, ComparedChunks, MergedChunk, Sequence[int]], float]
ChunkOutcome = Callable[[MergedChunk, Sequence[int]], tuple[int, bool]]


def compared_chunks(
    gold: Corpus, output: Hypotheses, *, texts: bool = False
) -> list[ComparedChunks]:
    """The chunks of every sentence; ``texts`` also makes the references' texts."""
    result = []
    corrected = reference_texts(gold) if texts else [[]] * len(gold)
    for source, references, written, mine in zip(
        gold.sources, gold.references, corrected, output.edits or (), strict=True
    ):
        if not references:
            raise InputError(
                f"{gold.name}: a sentence has no reference, {source[:60]!r}",
                remedy="give every sentence a reference, or leave the sentence out",
            )
        left = counted_references(references, source)
        several = [mine, *(references[k].edits or () for k in left)]
        tokens = source.split()
        chunks, between = merged_chunks(tokens, several)
        own = [written[k] for k in left] if texts else []
        result.append(ComparedChunks(tokens, chunks, between, left, len(references), own))
    return result


def counted_chunks(
    sentences: Sequence[ComparedChunks], weigh: WeighChunk, *, at_once: bool
) -> Floats:
    """The weights of chunks by fate, ``[sentence, reference, k]``; ``at_once`` has one column."""
    columns = 1 if at_once else max((each.columns for each in sentences), default=1)
    counts = np.full((len(sentences), columns, len(KINDS)), np.nan)
    for row, each in zip(counts, sentences, strict=True):
        for column, which, fate_of in chunk_outcomes(each, at_once=at_once):
            row[column] = _fates(each, weigh, which, fate_of)
    return counts


def chunk_outcomes(
    each: ComparedChunks, *, at_once: bool
) -> Iterator[tuple[int, Sequence[int], ChunkOutcome]]:
    """The columns of a sentence: for each its place, the texts it looks at, and how it judges."""
    if at_once:
        yield 0, range(1, len(each.references) + 1), _of_all
        return
    for k, reference in enumerate(each.references, 1):
        yield reference, (k,), _of_one


def _of_one(chunk: MergedChunk, which: Sequence[int]) -> tuple[int, bool]:
    """The fate of a chunk beside one reference, and whether that changes it."""
    (k,) = which
    same = chunk.words[0] == chunk.words[k]
    if chunk.changed[0]:
        return (TP if same else FP), chunk.changed[k]
    return (TN if same else FN), chunk.changed[k]


def _of_all(chunk: MergedChunk, which: Sequence[int]) -> tuple[int, bool]:
    """Compare with all references at once; any of them may be right."""
    due = any(chunk.changed[k] for k in which)
    if chunk.changed[0]:
        return (TP if any(chunk.words[0] == chunk.words[k] for k in which) else FP), due
    return (FN if all(chunk.changed[k] for k in which) else TN), due


def _fates(
    each: ComparedChunks, weigh: WeighChunk, which: Sequence[int], fate_of: ChunkOutcome
) -> list[float]:
    counts = [0.0] * len(KINDS)
    counts[TN] = float(each.between)
    for chunk in each.chunks:
        fate, due = fate_of(chunk, which)
        weight = weigh(fate, each, chunk, which)
        counts[fate] += weight
        if fate == FP and due:
            counts[FPNE] += weight
    return counts


def weigh_by_similarity(weights: Weights, *, nothing: float) -> WeighChunk:
    """Weights by similarity; ``nothing`` is that of a chunk which makes no difference.

    Beside several references at once it is the mean over those that decide: the ones that agree
    where the output is right, all elsewhere.
    """

    def weight(fate: int, each: ComparedChunks, chunk: MergedChunk, which: Sequence[int]) -> float:
        if fate == TN:
            return 1.0
        worth = [weights.of[change] for change in changes(fate, each, chunk, which)]
        mean = float(fixed_point(np.array(sum(worth) / len(worth))))
        return mean or nothing

    return weight


def changes(
    fate: int, each: ComparedChunks, chunk: MergedChunk, which: Sequence[int]
) -> Iterator[WeightedChange]:
    """What the weight of a chunk hangs on: the output's words there, or those it should have."""
    if fate == TN:
        return
    before = plain_text(each.source)
    for k in which:
        if fate == TP and chunk.words[k] != chunk.words[0]:
            continue
        words = " ".join(chunk.words[k if fate == FN else 0])
        edit = Edit(chunk.start, chunk.start + chunk.length, words)
        yield WeightedChange(before, plain_text(each.source, [edit]), each.corrected[k - 1])


def weighted_changes(
    systems: Sequence[Sequence[ComparedChunks]], *, at_once: bool
) -> list[WeightedChange]:
    """Everything that `weigh_by_similarity` will ask for, sentence by sentence."""
    found: list[WeightedChange] = []

    def note(fate: int, each: ComparedChunks, chunk: MergedChunk, which: Sequence[int]) -> float:
        found.extend(changes(fate, each, chunk, which))
        return 0.0

    for sentences in zip(*systems, strict=True):
        counted_chunks(sentences, note, at_once=at_once)
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
        gold, found = self._edited(corpus, systems, progress)
        return parallel_map(
            lambda system: join_unsettled([*self._list_batches(gold, system)]),
            found,
            threads=threads,
            progress=progress,
        )

    def settle_all(
        self,
        corpus: Corpus,
        systems: Sequence[Hypotheses],
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> list[Floats]:
        """The counts of a whole corpus."""
        gold, found = self._edited(corpus, systems, progress)

        def count(system: Hypotheses) -> Floats:
            parts = [*self._list_batches(gold, system)]
            whole = self.summarise(parts)
            return join_counts([self.settle(part, whole) for part in parts])

        return parallel_map(count, found, threads=threads, progress=progress)

    def _edited(
        self, corpus: Corpus, systems: Sequence[Hypotheses], progress: Progress | None
    ) -> tuple[Corpus, list[Hypotheses]]:
        m = self.metric
        gold = with_edits(corpus, m.gold, m.extractor, progress)
        return gold, edits_of(corpus, systems, m.outputs, extractor=m.extractor, progress=progress)

    def _list_batches(self, gold: Corpus, system: Hypotheses) -> Iterator[Floats]:
        """The chunks of batches: one sentence with very many makes few others wide."""
        start = 0
        for batch in gold.batches:
            own = system[start : start + len(batch)]
            yield _list_chunks(
                compared_chunks(batch, own), at_once=self.metric.mode == "independent"
            )
            start += len(batch)

    def summarise(self, parts: Iterable[Floats]) -> tuple[int, ...]:
        """The lengths of what references change: their sum, and how many they are."""
        total = np.zeros(2, np.int64)
        for part in parts:
            total += np.nansum(part[..., SIZES:UNTOUCHED], axis=(0, 1)).astype(np.int64)
        return tuple(total.tolist())

    def settle(self, part: Floats, whole: tuple[int, ...]) -> Floats:
        """The weights of chunks by fate, ``[sentence, reference, k]``."""
        total, number = whole
        middle = total / number if number else 0.0
        if self.metric.middle is not None:
            middle = self.metric.middle
        missing = np.isnan(part[..., SIZES])
        listed = np.where(missing[..., None], 0, part[..., CHUNKS:]).astype(np.int64)
        size, kind = np.divmod(np.maximum(listed - 1, 0), len(KINDS))
        counts = np.zeros((*part.shape[:2], len(KINDS)))
        counts[..., TN] = part[..., UNTOUCHED]
        sizes, place = np.unique(size, return_inverse=True)
        for fate, kinds in ((TP, (TP,)), (FP, (FP, FPNE)), (FN, (FN,)), (FPNE, (FPNE,))):
            weights = _weights(sizes, middle, wrong=fate in (FP, FPNE))[place].reshape(size.shape)
            counts[..., fate] = (weights * (np.isin(kind, kinds) & (listed > 0))).sum(axis=-1)
        counts[missing] = np.nan
        return self.metric.completed(counts)


def _list_chunks(sentences: Sequence[ComparedChunks], *, at_once: bool) -> Floats:
    columns = 1 if at_once else max((each.columns for each in sentences), default=1)
    nothing: list[int] = []
    lists = [[nothing] * columns for _ in sentences]
    for row, each in zip(lists, sentences, strict=True):
        for column, which, fate_of in chunk_outcomes(each, at_once=at_once):
            row[column] = _of_reference(each, which, fate_of)
    flat = [numbers for row in lists for numbers in row]
    found = pad_lists(flat)
    found[[not numbers for numbers in flat]] = np.nan
    return found.reshape(len(sentences), columns, -1)


def _of_reference(each: ComparedChunks, which: Sequence[int], fate_of: ChunkOutcome) -> list[int]:
    sizes = [
        max(chunk.length, len(chunk.words[k]))
        for chunk in each.chunks
        for k in which
        if chunk.changed[k]
    ]
    found = [sum(sizes), len(sizes), each.between]
    for chunk in each.chunks:
        fate, due = fate_of(chunk, which)
        if fate == TN:
            found[UNTOUCHED] += 1
        else:
            found.append(1 + len(KINDS) * chunk.size + (FPNE if fate == FP and due else fate))
    return found


def _weights(sizes: Floats, middle: float, *, wrong: bool) -> Floats:
    """What chunks of these sizes weigh, as FP where they are ``wrong``, else as TP or FN."""
    away = sizes - middle if wrong else middle - sizes
    # Far from the middle the result is clipped anyway.
    steep = np.exp(np.clip(away, -50, 50))
    value = SHARPNESS / (1 + (SHARPNESS - 1) * steep)
    return fixed_point(np.clip(value, LIGHTEST, HEAVIEST), BITS)


# ---- What CLEME and CLEME2.0 share: edits, chunks, and what an output did with each.

Mode = Literal["dependent", "independent"]


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
        gold = with_edits(corpus, self.gold, self.extractor, progress)
        found = edits_of(corpus, systems, self.outputs, extractor=self.extractor, progress=progress)
        if self.weights == "similarity":
            counts, cut = self._likened(gold, found, threads, progress)
            self._cuts(corpus)[tuple(h.system for h in systems)] = cut
            return counts
        return parallel_map(
            lambda system: self._unweighted_counts(gold, system),
            found,
            threads=threads,
            progress=progress,
        )

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

    def _unweighted_counts(self, gold: Corpus, output: Hypotheses) -> Floats:
        """The counts with every chunk of one weight."""
        at_once = self.mode == "independent"
        counts = counted_chunks(compared_chunks(gold, output), lambda *_: 1.0, at_once=at_once)
        return self.completed(counts)

    def _likened(
        self,
        gold: Corpus,
        outputs: Sequence[Hypotheses],
        threads: int | None,
        progress: Progress | None,
    ) -> tuple[list[Floats], int]:
        """The counts with weights by similarity, and how many texts were cut for them."""
        memo, at_once = self.open_model(), self.mode == "independent"
        result, cut, done = [], 0, 0
        for window, several in text_windows(gold, outputs):
            of_window = [compared_chunks(window, output, texts=True) for output in several]
            weights = weigh(memo, weighted_changes(of_window, at_once=at_once))
            worth = weigh_by_similarity(weights, nothing=self._nothing)
            result.append([counted_chunks(each, worth, at_once=at_once) for each in of_window])
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
    those of `CLEME2`, except that a chunk which makes no difference weighs 1, as in the program.
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

    def count_all(
        self,
        corpus: Corpus,
        systems: Sequence[Hypotheses],
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> list[Floats]:
        """As the others, or with weights by length."""
        if self.weights == "length":
            lengths = ChunkLengths(self)
            return lengths.settle_all(corpus, systems, threads=threads, progress=progress)
        return super().count_all(corpus, systems, threads=threads, progress=progress)

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
    def single(self) -> Self:
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
    ``factors`` are those of the corpus score in place of the paper's. An output that changes
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
            keys = (self._weighed(counts, factors), _shares(counts)[3])
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
    def single(self) -> Self:
        """With the factors and the reference of single sentences."""
        return replace(self, choice="isolated", factors=self.sentence_factors)

    def score(self, totals: Floats) -> Floats:
        """The weighed shares of summed chunks, or the mean of the sentences' scores."""
        if self.total == "mean":
            return mean_own_score(totals)
        return self._weighed(totals, self.factors)

    def figures(self, totals: Floats) -> dict[str, Floats | Ints]:
        """The four shares, and the chunks behind them."""
        shares = dict(zip(("hit", "wrong", "under", "over"), _shares(totals), strict=True))
        counts: dict[str, Floats | Ints] = dict(by_name(KINDS, totals))
        if self.weights == "none":
            counts = {name: to_int(count) for name, count in by_name(KINDS, totals).items()}
        return {**shares, **counts}

    def _weighed(self, totals: Floats, factors: tuple[float, ...]) -> Floats:
        hit, wrong, under, over = _shares(totals)
        a, b, c, d = factors
        return np.asarray(a * hit + b * (1 - wrong) + c * (1 - under) + d * (1 - over))


def _shares(totals: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Hit, wrong, under and over."""
    tp, fp, fn, due = (totals[..., k] for k in (TP, FP, FN, FPNE))
    needed = tp + due + fn
    return (
        ratio(tp, needed, 0.0),
        ratio(due, needed, 0.0),
        ratio(fn, needed, 0.0),
        ratio(fp - due, tp + fp, 0.0),
    )
