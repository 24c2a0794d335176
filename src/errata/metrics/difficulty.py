"""Difficulty-weighted scores, chunk weights, weight files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from errata.core.errors import InputError
from errata.core.parallel import parallel_map
from errata.core.parameters import About, require
from errata.core.stats import Bools, Floats, Ints, Progress, ratio
from errata.data import Corpus, Edit, Hypotheses, ReferenceTable
from errata.data.edits import offsets
from errata.edits import (
    GoldEditing,
    OutputEditing,
    check_inside,
    describe_origins,
    edits_of,
    origin_facts,
    origins,
    split_extractor,
    with_edits,
)
from errata.io.atomic import write_lines
from errata.io.checks import raise_or_warn
from errata.io.files import PathLike, read_lines, shown_name
from errata.io.records import parse_integer
from errata.kernels import chunks as kernel
from errata.metrics.base import (
    Before,
    Description,
    Metric,
    MetricFacts,
    Scope,
    by_name,
    check_beta,
    f_beta,
    metric,
    precision_recall,
    to_int,
)
from errata.metrics.running_choice import Ratio, RunningRule, best_references, f_ratio

# ---- Files of difficulty weights, as gotutiyan/GTS publishes them.


class WeightFile(NamedTuple):
    """How many systems there were, and how many of them got each chunk of a sentence right."""

    systems: int
    counts: list[NDArray[np.intc]]


def read_weights(path: PathLike) -> WeightFile:
    """The number of systems, and the counts of each sentence."""
    lines, findings = read_lines(path)
    raise_or_warn(findings)
    name = shown_name(path)
    systems = parse_integer(lines[0], 1) if lines else None
    if systems is None:
        raise InputError(
            "the first line is not the number of systems",
            path=name,
            line=1,
            remedy="a weight file starts with one positive whole number",
        )
    counts = []
    for number, line in enumerate(lines[1:], 2):
        row = [parse_integer(word, 0) for word in line.split()]
        if not row:
            raise InputError(
                "the line is empty",
                path=name,
                line=number,
                remedy="give one count per gold chunk of the sentence",
            )
        if any(count is None or count > systems for count in row):
            raise InputError(
                f"{line.strip()[:40]!r} is not a row of whole numbers from 0 to {systems}, "
                "the number of systems",
                path=name,
                line=number,
                remedy="give one count per gold chunk",
            )
        counts.append(np.array(row, np.intc))
    return WeightFile(systems, counts)


def write_weights(
    systems: int, counts: Iterable[Sequence[int] | NDArray[np.intc]], path: PathLike
) -> None:
    """Write a weight file; `read_weights` gives the same back."""
    write_lines([str(systems), *(" ".join(map(str, row)) for row in counts)], path)


# ---- Sentences as chunks, and which of them a system got right: the ground of difficulty
# weights.

MODIFIED, CORRECT = 1, 2
Matching = Literal["released", "elastic"]
IGNORED = ("UNK", "Um")  # detected but not corrected; the released scorer leaves them out
Flags = NDArray[np.int8]
LONGEST = 5000  # tokens of a sentence; elastic matching of twice as many chunks takes 800 MB


@dataclass(frozen=True, eq=False)
class Chunks:
    """The gold chunks of a corpus: unit u is reference u, one of sentence ``sentences[u]``.

    Rows ``bounds[u]:bounds[u + 1]`` of ``rows`` are its chunks: start, end, text, and the number
    of the edit among the unit's sorted edits (-1 for an unchanged token or a dummy). ``edits`` are
    the places of these edits among all gold edits.
    """

    sentences: NDArray[np.intc]
    references: NDArray[np.intc]
    rows: NDArray[np.intc]
    bounds: NDArray[np.int64]
    edits: Ints

    @property
    def erroneous(self) -> NDArray[np.bool_]:
        """Whether each chunk is an error, that is a gold edit."""
        return np.asarray(self.rows[:, 3] >= 0)

    @property
    def unit_of(self) -> NDArray[np.int64]:
        """The unit of each chunk."""
        return np.repeat(np.arange(len(self.sentences)), np.diff(self.bounds))


def chunk_references(corpus: Corpus, ignore: Sequence[str] = IGNORED) -> Chunks:
    """Cut every sentence into chunks, once for each of its references.

    >>> from errata.data import Reference
    >>> corpus = Corpus(("a b",), ((Reference(0, (Edit(1, 2, "B"),)),),))
    >>> chunk_references(corpus).rows[:, :2].tolist()
    [[0, 0], [0, 1], [1, 1], [1, 2], [2, 2]]
    """
    key = ("chunks", tuple(ignore))
    return corpus.derived(key, lambda: _chunk_references(corpus, ignore))


def _chunk_references(corpus: Corpus, ignore: Sequence[str]) -> Chunks:
    table, tokens = corpus.edits, corpus.source_tokens
    sentences = table.sentence_of_reference
    kept = _kept_edits(corpus, table, ignore, "annotator {}")
    rows, bounds = kernel.chunk(
        sentences.astype(np.intc), tokens.ids, tokens.offsets, *kept.columns, _empty(corpus)
    )
    number = rows[:, 3].astype(np.int64)
    before = np.repeat(kept.columns[0][:-1], np.diff(bounds))
    edits = np.append(kept.places, -1)[np.where(number >= 0, before + number, -1)]
    references = np.arange(len(sentences)) - table.reference_offsets[sentences]
    return Chunks(sentences.astype(np.intc), references.astype(np.intc), rows, bounds, edits)


def compare_chunks(
    corpus: Corpus,
    chunks: Chunks,
    edits: Sequence[Sequence[Edit]],
    *,
    matching: Matching = "released",
    ignore: Sequence[str] = IGNORED,
    longest: int = LONGEST,
) -> Flags:
    """For every gold chunk: `MODIFIED` if the system changed it, + `CORRECT` if it is right.

    ``edits`` are the system's, sentence by sentence.
    """
    require("matching", matching, Matching)
    if len(edits) != len(corpus):
        raise InputError(
            f"edits of {len(edits)} sentences, but the corpus has {len(corpus)}",
            remedy="give the edits of every sentence, () where there are none",
        )
    table = ReferenceTable.of_output(edits)
    kept = _kept_edits(corpus, table, ignore, "the system")
    tokens = corpus.source_tokens
    n = int(tokens.lengths.max(initial=0))
    if matching == "elastic" and n > longest:
        raise InputError(
            f"difficulty: sentence {int(tokens.lengths.argmax()) + 1} has {n} tokens, for which "
            f"matching='elastic' asks for about {4 * n * n * 8 / 1e9:.1f} GB",
            remedy=f"give one sentence a line, or lift the limit: longest={n} (--longest {n})",
        )
    check_inside(corpus, table)
    flags: Flags = kernel.compare(
        chunks.sentences,
        tokens.ids,
        tokens.offsets,
        chunks.rows,
        chunks.bounds,
        *kept.columns,
        _empty(corpus),
        matching == "elastic",
    )
    return flags


class _KeptEdits(NamedTuple):
    """The edits that count, in order: their places in a table, and what the kernel takes."""

    places: Ints
    columns: tuple[Ints, NDArray[np.intc], NDArray[np.intc], NDArray[np.intc]]


def _kept_edits(
    corpus: Corpus, table: ReferenceTable, ignore: Sequence[str], whose: str
) -> _KeptEdits:
    """Return the offsets, starts, ends and texts of the edits that are not of ``ignore``."""
    known = {kind: kind not in ignore for kind in set(table.kinds)}
    places = np.flatnonzero(np.array(list(map(known.__getitem__, table.kinds)), np.bool_))
    row = table.reference_of_edit
    places = places[np.lexsort((table.end[places], table.start[places], row[places]))]
    row, start, end = row[places], table.start[places], table.end[places]
    overlap = np.flatnonzero((row[1:] == row[:-1]) & (start[1:] < end[:-1]))
    if len(overlap):
        edit = table.every_edit[places[overlap[0] + 1]]
        reference = int(row[overlap[0]])
        whose = whose.format(table.annotators[reference])
        raise InputError(
            f"sentence {table.sentence_of_reference[reference] + 1}: edit {edit.start}-{edit.end} "
            f"{edit.replacement!r} of {whose} overlaps another",
            remedy="chunks need edits that do not overlap; gold='reextracted' finds such",
        )
    at = offsets(np.bincount(row, minlength=len(table.annotators)))
    # Alternatives stay one literal text, as in the released scorer.
    texts = corpus.vocabulary.number(table.joined_replacements[e] for e in places.tolist())
    columns = (at, start.astype(np.intc), end.astype(np.intc), texts.astype(np.intc))
    return _KeptEdits(places, columns)


def _empty(corpus: Corpus) -> int:
    return int(corpus.vocabulary.number([""])[0])


# ---- Every gold chunk with its weight and what each system did to it: what all of difficulty
# reads.


class Tally(NamedTuple):
    """How many of how many systems got each gold chunk right, and where that comes from."""

    solved: Floats
    systems: int
    origin: str = ""


def weight(
    solved: Floats, systems: float, a: float = 1.0, b: float = 0.0, c: float = 0.0
) -> Floats:
    """``w = a - (n + b) / (N + c)``: the more systems get a chunk right, the less it weighs.

    Where no system is known at all (``N = c = 0``) every chunk weighs ``a``.

    >>> weight(np.array([0.0, 1.0, 3.0]), 3).round(3).tolist()
    [1.0, 0.667, 0.0]
    """
    if systems == c == 0:
        return np.full(np.shape(solved), a)
    if systems + c <= 0:
        raise InputError(
            f"difficulty: N + c must be positive, but N={systems:g} and c={c:g}",
            remedy=f"choose c above {-systems:g}",
        )
    return np.asarray(a - (solved + b) / (systems + c), np.float64)


def outcomes(flags: Flags, erroneous: Bools) -> Floats:
    """Which of TP, FP, FN, TN each chunk is, and whether it is wrong, as ones: ``[chunk, 5]``.

    As in the released scorer a wrong change of an erroneous chunk is a false positive and a
    false negative at once.
    """
    modified, correct = (flags & MODIFIED) > 0, (flags & CORRECT) > 0
    kinds = (
        modified & correct,
        modified & ~correct,
        ~correct & (erroneous | ~modified),
        ~modified & correct,
        ~correct,
    )
    return np.stack(kinds, axis=1).astype(np.float64)


def weigh_units(columns: Floats, weights: Floats, bounds: Ints) -> Floats:
    """What chunks ``[chunk, k]`` weigh together, unit by unit: ``[unit, k]``."""
    if not len(weights):
        return np.zeros((len(bounds) - 1, columns.shape[1]))
    # Every unit has chunks (at least a dummy), so reduceat never sees an empty stretch.
    summed: Floats = np.add.reduceat(columns * weights[:, None], bounds[:-1], axis=0)
    return summed


@dataclass(frozen=True, eq=False)
class DifficultyMap:
    """Every gold chunk of a corpus with its weight and what each system did to it.

    ``flags[s, c]`` holds `MODIFIED` and `CORRECT` of system s on chunk c; ``tally`` says how many
    systems got it right (other systems than ``systems`` where the weights come from a file).
    ``corpus`` is the one with the gold edits that were cut into ``chunks``.
    """

    metric: Difficulty
    corpus: Corpus
    systems: tuple[str, ...]
    edits: tuple[Sequence[tuple[Edit, ...]], ...]
    chunks: Chunks
    flags: NDArray[np.int8]
    tally: Tally

    @cached_property
    def right(self) -> Bools:
        """Whether system s got chunk c right: ``[s, c]``."""
        return np.asarray((self.flags & CORRECT) > 0)

    @cached_property
    def false_positive(self) -> Bools:
        """Whether system s changed chunk c, which is no error, wrongly: ``[s, c]``."""
        wrong = ((self.flags & MODIFIED) > 0) & ~self.right
        return np.asarray(wrong & ~self.chunks.erroneous)

    @cached_property
    def weights(self) -> Floats:
        """The weight of each chunk, of all systems (``leave_out`` concerns scores only)."""
        return self._weights(self.tally.solved, self.tally.systems)

    def _weights(self, solved: Floats, systems: int) -> Floats:
        m = self.metric
        return (
            np.ones(len(solved)) if m.weights == "none" else weight(solved, systems, m.a, m.b, m.c)
        )

    def edit(self, chunk: int) -> Edit | None:
        """The gold edit of a chunk; None where the chunk is no error."""
        place = int(self.chunks.edits[chunk])
        return self.corpus.edits.every_edit[place] if place >= 0 else None

    def counts(self, system: int) -> Floats:
        """The metric's statistics ``[sentence, reference, k]`` of one system."""
        weights = self.weights
        if self.metric.leave_out:
            weights = self._weights(self.tally.solved - self.right[system], self.tally.systems - 1)
        columns = outcomes(self.flags[system], self.chunks.erroneous)
        shape = (len(self.corpus), max(1, self.corpus.most_references), columns.shape[1])
        counts = np.full(shape, np.nan)
        own = weigh_units(columns, weights, self.chunks.bounds)
        counts[self.chunks.sentences, self.chunks.references] = own
        return counts


def build_difficulty_map(
    corpus: Corpus,
    systems: Sequence[Hypotheses],
    metric: Difficulty | None = None,
    *,
    part: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
) -> DifficultyMap:
    """Cut the references into chunks, compare every system with them once, and weigh the chunks.

    Weights come from the systems, or from the file that ``metric.weights`` names; systems may then
    be missing, and of a ``part`` of a corpus (`Corpus.first`) the file may have more sentences.

    >>> gold = Corpus.from_texts(["He go home"], [["He goes home"]])
    >>> outputs = [Hypotheses("A", ("He goes home",)), Hypotheses("B", ("He go home",))]
    >>> found = build_difficulty_map(gold, outputs)
    >>> found.weights[found.chunks.erroneous].tolist(), found.right[:, 3].tolist()
    ([0.5], [True, False])
    """
    if metric is None:
        metric = Difficulty()
    own = metric.weights in ("systems", "none")
    if own and not systems:
        raise InputError(
            "difficulty needs systems or a weight file",
            remedy="name one output per system, or give --weights",
        )
    if metric.leave_out and len(systems) < 2:
        raise InputError("difficulty: leave_out needs at least two systems")
    gold = with_edits(corpus, metric.gold, metric.extractor, progress)
    chunks = chunk_references(gold, metric.ignore)
    found = edits_of(corpus, systems, metric.outputs, extractor=metric.extractor, progress=progress)
    edits = tuple(h.edits or () for h in found)

    def compare(several: Sequence[tuple[Edit, ...]]) -> Flags:
        return compare_chunks(
            gold,
            chunks,
            several,
            matching=metric.matching,
            ignore=metric.ignore,
            longest=metric.longest,
        )

    flags = parallel_map(compare, edits, threads=threads)
    each = np.stack(flags) if flags else np.zeros((0, len(chunks.rows)), np.int8)
    solved = ((each & CORRECT) > 0).sum(axis=0).astype(np.float64)
    tally = Tally(solved, len(systems))
    if not own:
        tally = read_tally(metric.weights, gold, chunks, part=part)
    return DifficultyMap(metric, gold, tuple(h.system for h in systems), edits, chunks, each, tally)


def read_tally(path: str, gold: Corpus, chunks: Chunks, *, part: bool) -> Tally:
    """The counts of a weight file, which must have been made for these chunks."""
    file, origin = read_weight_file(path, gold)
    if gold.most_references > 1:
        raise InputError(
            f"the weights belong to one annotator, but the corpus has {gold.most_references}",
            path=path,
            remedy="choose the annotator they were made for (--annotator 0)",
        )
    last = gold.first + len(gold)
    if not part or last > len(file.counts):
        check_weighed_sentences(path, len(file.counts), last)
    counts = file.counts[gold.first : last]
    for i, (n, size) in enumerate(zip(counts, np.diff(chunks.bounds).tolist(), strict=True)):
        if len(n) != size:
            raise InputError(
                f"{len(n)} weights, but sentence {gold.number(i)} of the corpus has {size} chunks",
                path=path,
                line=gold.first + i + 2,
                remedy="weights belong to one gold file, annotator and extractor; use those they "
                "were made with",
            )
    solved = np.concatenate([*counts, np.zeros(0)]).astype(np.float64)
    return Tally(solved, file.systems, origin)


def check_weighed_sentences(path: str, weighed: int, sentences: int) -> None:
    """Refuse a weight file of another number of sentences."""
    if weighed != sentences:
        raise InputError(
            f"weights of {weighed} sentences, but the corpus has {sentences}",
            path=path,
            remedy="weights belong to one gold file; use that one",
        )


def read_weight_file(path: str, gold: Corpus) -> tuple[WeightFile, str]:
    """A weight file without the sentences that the corpus leaves out, and what to call it."""
    file = read_weights(path)
    counts = file.counts
    if gold.whole is not None and len(counts) == len(gold.whole):
        counts = [n for i, n in enumerate(counts) if i not in gold.skipped]
    digest = hashlib.sha256(b" ".join(n.astype("<i4").tobytes() for n in counts)).hexdigest()
    return WeightFile(file.systems, counts), f"{Path(path).name}@{digest[:8]}"


@metric
class Difficulty(Metric):
    """P, R, F and accuracy in which an error weighs more the fewer systems correct it.

    Sentences are cut into chunks (edits, unchanged tokens, and dummies between them); n_i of N
    systems get gold chunk i right, which then weighs ``w_i = a - (n_i + b) / (N + c)``. Summed
    weights of right and wrong chunks are TP, FP, FN and TN; ``P = TP / (TP + FP)``,
    ``R = TP / (TP + FN)``, ``A = (TP + TN) / all weights``, each 0 where nothing is there.

    ``weights="systems"`` takes N and n_i from the systems scored together (the default of the
    released scorer, gotutiyan/GTS), ``"none"`` gives every chunk the weight 1 (its
    ``-no_weight``), anything else is the path of a weight file. ``leave_out=True`` leaves the
    scored system itself out of N and n_i. ``measure`` is the score: ``"F"`` (of ``beta``) or
    ``"A"``. ``matching="released"`` compares chunks by position as the released scorer does,
    ``"elastic"`` aligns them as the paper describes (sentences of more than ``longest`` tokens
    are then refused before memory is asked for). ``gold``, ``extractor``, ``outputs``
    are as in `errata.metrics.errant.Edits`; edits of the kinds ``ignore`` are left out, in gold
    and output (as in the released scorer).

    With several references each sentence takes the one with the best score over the sentences so
    far, or the one best for it alone (``choice="isolated"``, as single sentences always do);
    weights are counted for each reference separately.
    """

    name = "difficulty"
    about = About(
        paper="Gotou et al. 2020",
        range="from 0 to 1",
        amounts=("TP", "TN", "FP", "FN", "wrong"),
        needs=("gold edits or references", "several systems, or a weight file"),
    )
    weights: str = "systems"
    leave_out: bool = False
    a: float = 1.0
    b: float = 0.0
    c: float = 0.0
    beta: float = 0.5
    measure: Literal["F", "A"] = "F"
    matching: Matching = "released"
    gold: GoldEditing = "as_is"
    extractor: str = "aligned"
    outputs: OutputEditing = "alike"
    ignore: tuple[str, ...] = IGNORED
    choice: Literal["sequential", "isolated"] = "sequential"
    longest: int = field(default=LONGEST, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_beta(self.name, self.beta)
        for name in "abc":
            if not abs(getattr(self, name)) <= 1e6:
                raise InputError(
                    f"difficulty: {name}={getattr(self, name)!r} must be a number up to a million"
                )
        if self.leave_out and self.weights != "systems":
            raise InputError(
                "difficulty: leave_out needs weights from the systems themselves",
                remedy="leave weights='systems' unchanged",
            )
        split_extractor(self.extractor)

    @property
    def statistics(self) -> tuple[str, ...]:
        """Summed weights of right and wrong chunks; FP and FN overlap, ``wrong`` is both."""
        return ("TP", "FP", "FN", "TN", "wrong")

    @property
    def headline(self) -> str:
        """F with its beta, as F0.5, or A."""
        return f"F{self.beta:g}" if self.measure == "F" else "A"

    def count_all(
        self,
        corpus: Corpus,
        systems: Sequence[Hypotheses],
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> list[Floats]:
        """What an error weighs depends on all systems: they are compared with the gold together."""
        found = build_difficulty_map(
            corpus, systems, self, part=True, threads=threads, progress=progress
        )
        return [found.counts(s) for s in range(len(systems))]

    @property
    def files(self) -> tuple[str, ...]:
        """The file of weights."""
        return () if self.weights in ("none", "systems") else (self.weights,)

    def extracting(self, extractor: str) -> Self:
        """The same with all outputs' edits found by this extractor, whether some came or not."""
        return replace(self, extractor=extractor, outputs="reextracted")

    def count(self, corpus: Corpus, hypotheses: Hypotheses) -> Floats:
        """Return the counts of one system; without a weight file it alone makes the weights."""
        plain = replace(self, leave_out=False)
        return build_difficulty_map(corpus, [hypotheses], plain, part=True, threads=1).counts(0)

    def choose(self, counts: Floats, before: Before | None = None) -> Ints:
        """The reference with the best score of the sentences so far, or of the sentence alone."""
        rule = RunningRule(self._value, (self._share,))
        return best_references(counts, rule, alone=self.scope == "sentence", before=before)

    @property
    def scope(self) -> Scope:
        """The sentences before, unless each takes the reference best for it alone."""
        return "sentence" if self.choice == "isolated" else "running"

    @property
    def for_sentences(self) -> Self:
        """With the reference best for the sentence alone."""
        return replace(self, choice="isolated")

    def score(self, totals: Floats) -> Floats:
        """F or A of summed weights."""
        if self.measure == "A":
            return self._accuracy(totals)
        return f_beta(*self._precision_recall(totals), self.beta)

    def figures(self, totals: Floats) -> dict[str, Floats | Ints]:
        """Precision, recall, the other measure, and the weights behind them."""
        precision, recall = self._precision_recall(totals)
        other = {"A": self._accuracy(totals)}
        if self.measure == "A":
            other = {f"F{self.beta:g}": f_beta(precision, recall, self.beta)}
        weights = by_name(self.statistics[:4], totals)
        counted = self.weights == "none"  # then the weights are numbers of chunks
        return {
            "P": precision,
            "R": recall,
            **other,
            **{name: to_int(w) if counted else w for name, w in weights.items()},
        }

    def _precision_recall(self, totals: Floats) -> tuple[Floats, Floats]:
        w = by_name(self.statistics, totals)
        return precision_recall(w["TP"], w["FP"], w["FN"], 0.0)

    def _accuracy(self, totals: Floats) -> Floats:
        # FP and FN overlap, so the total is the weight of right and wrong chunks.
        w = by_name(self.statistics, totals)
        right = w["TP"] + w["TN"]
        return ratio(right, right + w["wrong"], 0.0)

    def facts(self, corpus: Corpus, systems: Sequence[Hypotheses]) -> MetricFacts:
        """Where edits and weights come from."""
        found: dict[str, Any] = {
            "texts": int(corpus.edits.bare.sum()),
            **origin_facts(systems, self.outputs),
        }
        if self.weights not in ("none", "systems"):
            file, name = read_weight_file(self.weights, corpus)
            found |= {
                "weighing systems": frozenset({str(file.systems)}),
                "file": frozenset({name}),
                "weighed": frozenset({str(len(file.counts))}),
                "sentences": len(corpus),
                "places": frozenset({f"{corpus.first}-{corpus.first + len(corpus)}"}),
            }
        return found

    def describe(self, facts: MetricFacts) -> Description:
        """The systems behind the weights, the exact extractor, and weights to be careful with."""
        gold = self.gold == "reextracted" or bool(facts["texts"])
        context = describe_origins(facts, self.extractor, gold=gold)
        if self.weights == "none":
            return Description(context)
        if self.weights == "systems":
            systems = len(origins(facts))
            context = (f"weights:{systems} systems", *context)
        else:
            self._check_places(facts)
            systems = int(max(facts["weighing systems"]))
            context = (f"weights:{systems} systems of {'+'.join(sorted(facts['file']))}", *context)
        return Description(context, self._weight_notes(systems))

    def _check_places(self, facts: MetricFacts) -> None:
        """Refuse parts that do not follow one another, or end before the weights do."""
        places = sorted(tuple(map(int, place.split("-"))) for place in facts["places"])
        ends = [0, *(last for _, last in places)]  # sentences that failed are between two parts
        apart = all(first >= end for (first, _), end in zip(places, ends, strict=False))
        if not apart or sum(last - first for first, last in places) != facts["sentences"]:
            raise InputError(
                "the parts of the corpus do not say where in it they begin",
                remedy="give each the number of sentences before it: replace(part, first=...)",
            )
        check_weighed_sentences(self.weights, int(max(facts["weighed"])), ends[-1])

    def _weight_notes(self, systems: int) -> tuple[str, ...]:
        """Notes on weights of one system alone, and on weights that are negative."""
        if self.weights == "systems" and systems == 1:
            return (
                "the weights come from the one system that is scored: what it corrects weighs "
                "least; give more systems, a weight file, or weights='none'",
            )
        all_right = np.array([float(systems)])
        lowest = float(weight(all_right, systems, self.a, self.b, self.c)[0])
        if lowest >= 0:
            return ()
        return (
            f"a, b and c make weights negative (down to {lowest:.3f}, where all systems are "
            "right): P, R and A need not lie between 0 and 1",
        )

    @property
    def _share(self) -> Ratio:
        """The score as a quotient of sums, where no weight is negative."""
        if self.measure == "F":
            return f_ratio(self.beta, len(self.statistics), empty=0)
        one, none = Fraction(1), Fraction(0)
        return Ratio((one, none, none, one, none), (one, none, none, one, one))

    def _value(self, totals: Sequence[Fraction]) -> Fraction:
        """The score of exact sums; weights below 0, which a, b and c can make, are no shares."""
        if self.measure == "A":
            return self._share.of(totals)
        tp, fp, fn = totals[:3]
        p, r = (tp / (tp + x) if tp + x else Fraction(0) for x in (fp, fn))
        square = Fraction(repr(float(self.beta))) ** 2
        below = square * p + r
        return (1 + square) * p * r / below if below else Fraction(0)


def write_map_weights(weighed: DifficultyMap, path: PathLike) -> None:
    """Write the counts behind the weights of a map with one annotator."""
    if weighed.corpus.most_references > 1:
        raise InputError(
            "a weight file holds one annotator's weights", remedy="choose one with --annotator"
        )
    counts = np.split(weighed.tally.solved.astype(int), weighed.chunks.bounds[1:-1])
    write_weights(weighed.tally.systems, counts, path)
