"""Difficulty-weighted precision, recall, F and accuracy (Gotou et al. 2020, GoToScorer)."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from errata.data import Corpus, Hypotheses
from errata.edits import (
    Gold,
    extract_all,
    extract_systems,
    extractor_version,
    split_extractor,
    with_edits,
)
from errata.errors import InputError
from errata.io.weights import read_weights
from errata.metrics.base import Metric, f_beta, metric
from errata.metrics.choice import choose_alone, choose_running
from errata.metrics.difficulty.chunks import (
    CORRECT,
    IGNORED,
    MATCHINGS,
    MODIFIED,
    Chunks,
    Flags,
    WeightedCorpus,
    chunk_references,
    compare_chunks,
    joined_counts,
)
from errata.numbers import Floats, Ints, Progress, ratio

__all__ = ["Difficulty", "classify", "weight"]


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


def classify(flags: Flags, erroneous: np.ndarray) -> Floats:
    """Which of TP, FP, FN, TN each chunk is, as ones: ``[chunk, 4]``.

    As in the released scorer a wrong change of an erroneous chunk is a false positive and a
    false negative at once.
    """
    modified, correct = (flags & MODIFIED) > 0, (flags & CORRECT) > 0
    return np.stack(
        [
            modified & correct,
            modified & ~correct,
            ~correct & (erroneous | ~modified),
            ~modified & correct,
        ],
        axis=1,
    ).astype(np.float64)


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
    ``"elastic"`` aligns them as the paper describes. ``gold``, ``extractor`` are those of
    `errata.metrics.errant.Errant`; edits of the kinds ``ignore`` are left out, in gold and
    output (as in the released scorer).

    With several references each sentence takes the one with the best score over the sentences so
    far; weights are counted for each reference by itself.
    """

    name = "difficulty"
    weights: str = "systems"
    leave_out: bool = False
    a: float = 1.0
    b: float = 0.0
    c: float = 0.0
    beta: float = 0.5
    measure: str = "F"
    matching: str = "released"
    gold: Gold = "as_is"
    extractor: str = "aligned"
    ignore: tuple[str, ...] = IGNORED

    def __post_init__(self) -> None:
        if not self.beta > 0:
            raise InputError(f"difficulty: beta={self.beta!r} must be positive")
        for name in "abc":
            if not math.isfinite(getattr(self, name)):
                raise InputError(f"difficulty: {name}={getattr(self, name)!r} must be a number")
        if self.leave_out and self.weights != "systems":
            raise InputError(
                "difficulty: leave_out needs weights from the systems themselves",
                remedy="leave weights='systems' as it is",
            )
        self._check_choice("measure", ("F", "A"))
        self._check_choice("matching", MATCHINGS)
        self._check_choice("gold", ("as_is", "reextracted"))
        split_extractor(self.extractor)

    @property
    def statistics(self) -> tuple[str, ...]:
        return ("TP", "FP", "FN", "TN", "wrong")

    @property
    def headline(self) -> str:
        return f"F{self.beta:g}" if self.measure == "F" else "A"

    def prepare(
        self, corpus: Corpus, systems: Sequence[Hypotheses], progress: Progress | None = None
    ) -> None:
        """Extract the edits of all systems in one go, which ERRANT can do in processes."""
        texts = [h for h in systems if h.edits is None]
        extract_all(
            corpus.sources * len(texts),
            [s for h in texts for s in h.sentences],
            extractor=self.extractor,
            progress=progress,
        )

    def adapt(
        self, corpus: Corpus, systems: Sequence[Hypotheses], progress: Progress | None = None
    ) -> Corpus:
        """The corpus with its weights: counted from the systems, or read from the file.

        A corpus that has weights keeps them: those of one set of systems can score another.
        """
        if self.weights == "none" or isinstance(corpus, WeightedCorpus):
            return corpus
        if self.weights != "systems":
            return self._with_file(corpus)
        if self.leave_out and len(systems) < 2:
            raise InputError("difficulty: leave_out needs at least two systems")
        self.prepare(corpus, systems, progress)
        corpus = with_edits(corpus, self.gold, self.extractor)
        chunks = chunk_references(corpus, self.ignore)
        solved = np.zeros(len(chunks.rows), np.intc)
        for hypotheses in systems:
            solved += (self.compare(corpus, chunks, hypotheses) & CORRECT) > 0
        return weighted(corpus, chunks, solved, len(systems), tuple(h.system for h in systems), "")

    def compare(self, corpus: Corpus, chunks: Chunks, hypotheses: Hypotheses) -> Flags:
        """What a system did to each gold chunk (see `compare_chunks`)."""
        edits = extract_systems(corpus, [hypotheses], extractor=self.extractor)[0].edits or ()
        return compare_chunks(corpus, chunks, edits, matching=self.matching, ignore=self.ignore)

    def chunk_weights(
        self, corpus: Corpus, chunks: Chunks, flags: Flags | None = None, system: str | None = None
    ) -> Floats:
        """The weight of each gold chunk; for a system that is left out, give its flags too."""
        if self.weights == "none":
            return np.ones(len(chunks.rows))
        solved: Floats = np.zeros(len(chunks.rows))
        systems = 0
        if isinstance(corpus, WeightedCorpus):
            solved, systems = joined_counts(corpus, chunks), corpus.systems_counted
            if self.leave_out and system in corpus.systems and flags is not None:
                solved, systems = solved - ((flags & CORRECT) > 0), systems - 1
        return weight(solved, systems, self.a, self.b, self.c)

    def count(self, corpus: Corpus, hypotheses: Hypotheses) -> Floats:
        weighted_corpus = corpus
        corpus = with_edits(corpus, self.gold, self.extractor)
        chunks = chunk_references(corpus, self.ignore)
        flags = self.compare(corpus, chunks, hypotheses)
        w = self.chunk_weights(weighted_corpus, chunks, flags, hypotheses.system)
        wrong = (flags & CORRECT) == 0
        columns = np.concatenate([classify(flags, chunks.erroneous), wrong[:, None]], axis=1)
        counts = np.full((len(corpus), max(1, corpus.most_references), 5), np.nan)
        # Every unit has chunks (at least a dummy), so reduceat never sees an empty stretch.
        counts[chunks.sentences, chunks.references] = (
            np.add.reduceat(columns * w[:, None], chunks.bounds[:-1], axis=0) if len(w) else 0.0
        )
        return counts

    def choose(self, counts: Floats) -> Ints:
        return choose_running(counts, self._value)

    def choose_sentences(self, counts: Floats) -> Ints:
        return choose_alone(counts, self._value)

    def score(self, totals: Floats) -> Floats:
        if self.measure == "A":
            return _accuracy(totals)
        precision, recall = _precision_recall(totals)
        return f_beta(precision, recall, self.beta)

    def parts(self, totals: Floats) -> dict[str, Floats]:
        precision, recall = _precision_recall(totals)
        other = {"A": _accuracy(totals)}
        if self.measure == "A":
            other = {f"F{self.beta:g}": f_beta(precision, recall, self.beta)}
        return {
            "P": precision,
            "R": recall,
            **other,
            **{name: totals[..., k] for k, name in enumerate(self.statistics[:4])},
        }

    def context(self, corpus: Corpus) -> tuple[str, ...]:
        known = []
        if isinstance(corpus, WeightedCorpus):
            origin = f" of {corpus.origin}" if corpus.origin else ""
            known.append(f"weights:{corpus.systems_counted} systems{origin}")
        if self.extractor.startswith("errant"):
            known.append(f"extractor:{extractor_version(self.extractor)}")
        return tuple(known)

    def notes(self, corpus: Corpus) -> tuple[str, ...]:
        if self.weights == "none" or not isinstance(corpus, WeightedCorpus):
            return ()
        lowest = float(
            weight(
                np.array([float(corpus.systems_counted)]),
                corpus.systems_counted,
                self.a,
                self.b,
                self.c,
            )[0]
        )
        if lowest >= 0:
            return ()
        return (
            f"a, b and c make weights negative (down to {lowest:.3f}, where all systems are "
            "right): P, R and A need not lie between 0 and 1",
        )

    def _value(self, totals: Sequence[float]) -> float:
        tp, fp, fn, tn, wrong = totals
        if self.measure == "A":
            return (tp + tn) / (tp + tn + wrong) if tp + tn + wrong else 0.0
        p = tp / (tp + fp) if tp + fp else 0.0
        r = tp / (tp + fn) if tp + fn else 0.0
        square = self.beta * self.beta
        return (1 + square) * p * r / (square * p + r) if p + r else 0.0

    def _with_file(self, corpus: Corpus) -> WeightedCorpus:
        systems, counts = read_weights(self.weights)
        if len(counts) != len(corpus):
            raise InputError(
                f"weights of {len(counts)} sentences, but the corpus has {len(corpus)}",
                path=self.weights,
                remedy="weights belong to one gold file; use that one",
            )
        if corpus.most_references > 1:
            raise InputError(
                "the weights are those of one annotator, but the corpus has "
                f"{corpus.most_references}",
                path=self.weights,
                remedy="choose the annotator they were made for (--annotator 0)",
            )
        digest = hashlib.sha256(b" ".join(n.astype("<i4").tobytes() for n in counts)).hexdigest()
        corpus = with_edits(corpus, self.gold, self.extractor)
        chunks = chunk_references(corpus, self.ignore)
        for i, (n, size) in enumerate(zip(counts, np.diff(chunks.bounds), strict=True)):
            if len(n) != size:
                raise InputError(
                    f"{len(n)} weights, but sentence {i + 1} of the corpus has {size} chunks",
                    path=self.weights,
                    line=i + 2,
                    remedy="weights belong to one gold file, annotator and "
                    "extractor; use those they were made with",
                )
        return weighted(
            corpus,
            chunks,
            np.concatenate(counts),
            systems,
            (),
            f"{Path(self.weights).name}@{digest[:8]}",
        )


def weighted(
    corpus: Corpus,
    chunks: Chunks,
    solved: np.ndarray,
    systems: int,
    names: tuple[str, ...],
    origin: str,
) -> WeightedCorpus:
    """Put counts, in the order of the chunks, into a corpus."""
    pieces = np.split(solved, chunks.bounds[1:-1])
    grouped: list[list[np.ndarray]] = [[] for _ in corpus.sources]
    for sentence, piece in zip(chunks.sentences, pieces, strict=True):
        grouped[sentence].append(piece)
    return WeightedCorpus(
        corpus.sources,
        corpus.references,
        corpus.name,
        corpus.vocabulary,
        tuple(map(tuple, grouped)),
        systems,
        names,
        origin,
        kept=corpus.kept,
    )


def _accuracy(totals: Floats) -> Floats:
    # FP and FN overlap, so the weights of all chunks are those of right and of wrong ones.
    right = totals[..., 0] + totals[..., 3]
    return ratio(right, right + totals[..., 4], 0.0)


def _precision_recall(totals: Floats) -> tuple[Floats, Floats]:
    tp, fp, fn = totals[..., 0], totals[..., 1], totals[..., 2]
    return ratio(tp, tp + fp, 0.0), ratio(tp, tp + fn, 0.0)
