"""GLEU of 2016 and of 2015.

This is not Google's GLEU (nltk ``corpus_gleu``, ``google_bleu``), a sentence score for machine
translation that only shares the name.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from errata.core.errors import InputError
from errata.core.parameters import About
from errata.core.stats import Floats, Ints, Progress
from errata.data import Corpus, Hypotheses
from errata.kernels.ngrams import ADDED, GAINED, KEPT, LEFT, MATCHED, SURPLUS, WANTED
from errata.kernels.normal import log_ndtr
from errata.metrics.base import Before, Columns, Metric, Scope, count_together, metric
from errata.metrics.ngrams import (
    Spaces,
    closest_lengths,
    overlaps,
    per_reference,
    reference_tokens,
    source_tokens,
    split_tokens,
)

Brevity = Literal["fixed", "inverse"]
# Where the statistics stand: the two lengths, then a numerator and a denominator of each order.
HYPOTHESIS, REFERENCE = 0, 1
NUMERATORS, DENOMINATORS = slice(2, None, 2), slice(3, None, 2)
SEED = 101  # draw j of the released script is seeded with 101 j
SKIPPED = 65536  # numbers that are drawn at a time to get past sentences
MOST_DRAWN = 10_000_000  # sentences for which the script's draws are repeated
EXPECTED = "take references=expected, which has no sampling error"
ENUMERATED = 1024  # sentences of a corpus whose combinations of references may be gone through


@metric
class GLEU(Metric):
    """GLEU without tuning ("GLEU+", Napoles et al. 2016), as released after June 2017.

    For a hypothesis H, its source S and one reference R (multisets of n-grams)::

        num_n = max(0, |H & R| - sum of min(H, S) over n-grams of H and S that R lacks)
        GLEU  = exp(min(0, 1 - r/h) + 1/N sum_n log(sum num_n / sum max(0, h + 1 - n)))

    with sums over sentences, 0 if any sum is 0. Which reference a sentence takes is drawn at
    random, and the score is the expectation over these draws.

    ``n``: the longest n-gram N (4, as in the script; other values are true N-gram scores, which
    the script's ``-n`` are not).
    ``references``: ``"expected"`` computes the expectation, in closed form and without drawing
    (see `expected_gleu`); where at most ``draws`` combinations of references exist, of at most
    1,024 sentences, as the plain mean over all of them. ``"official"`` repeats the script's draws,
    number for number: published scores come out digit for digit, with their sampling error;
    ``"python3"`` draws as the script does when it is run by Python 3, whose ``randint`` is another.
    ``formula``: ``"released"`` is the formula above; ``"paper"`` is Eq. 1 of the 2016 paper, which
    takes off ``max(0, min(H, S) - min(H, R))`` and so punishes surplus copies too.
    ``brevity``: ``"fixed"``, or ``"inverse"`` for the versions from May 2016 to June 2017, which
    by mistake punished hypotheses longer than the reference; published tables used it (Sakaguchi
    et al. 2016).

    ``level``: ``"sentence"`` are the script's sentence scores (``-d``): for each reference the
    score of the sentence alone with every zero statistic replaced by 1, and the mean over
    references. Single sentences are always scored so.

    ``spaces``: ``"ascii"`` splits tokens as the script does, which reads bytes: a no-break space
    is part of a token.

    >>> corpus = Corpus.from_texts(["He go home now ."], [["He goes home now ."]])
    >>> gleu = GLEU()
    >>> counts = gleu.count(corpus, Hypotheses("A", ("He goes home now .",)))
    >>> float(gleu.score(counts[:, 0].sum(axis=0)))
    1.0
    """

    name = "gleu"
    about = About(paper="Napoles et al. 2015, 2016", range="from 0 to 1", needs=("references",))
    headline = "GLEU"

    n: int = 4
    references: Literal["expected", "official", "python3"] = "expected"
    draws: int = 500
    formula: Literal["released", "paper"] = "released"
    brevity: Brevity = "fixed"
    level: Literal["corpus", "sentence"] = "corpus"
    spaces: Spaces = "unicode"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (1 <= self.n <= 100 and 1 <= self.draws <= 1_000_000):
            raise InputError(
                f"gleu: n={self.n} must lie between 1 and 100, draws={self.draws} between 1 and "
                "1000000"
            )

    @property
    def statistics(self) -> tuple[str, ...]:
        """Lengths, then numerator and denominator of each order, then the covariances."""
        orders = range(1, self.n + 1)
        names = ("hypothesis", "reference", *(f"{x}{n}" for n in orders for x in ("num", "den")))
        if self.references != "expected":
            return names
        drawn = ("reference", *(f"num{n}" for n in orders))
        return (*names, *(f"cov({a},{b})" for i, a in enumerate(drawn) for b in drawn[i:]))

    @property
    def columns(self) -> Columns:
        """The annotators; of the expectation the first column is that of no annotator."""
        return "annotators" if self.references != "expected" else "readings"

    @property
    def scope(self) -> Scope:
        """The whole corpus for the draws of Python 3, which go on from sentence to sentence."""
        if self.level == "sentence":
            return "sentence"
        return "corpus" if self.references == "python3" else "running"

    @property
    def for_sentences(self) -> Self:
        """The script's scores of single sentences."""
        return replace(self, level="sentence")

    def count(self, corpus: Corpus, hypotheses: Hypotheses) -> Floats:
        """Statistics per reference; for the expectation, in column 0, their mean and covariance.

        Only the reference's length and the numerators differ between the references of a
        sentence, so that these have covariances, which add up over sentences like the means.
        """
        return self._count(corpus, [hypotheses])[0]

    def count_all(
        self,
        corpus: Corpus,
        systems: Sequence[Hypotheses],
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> list[Floats]:
        """The counts of every system; n-grams of sources and references are counted once."""
        return count_together(self._count, corpus, systems, threads=threads, progress=progress)

    def _count(self, corpus: Corpus, systems: Sequence[Hypotheses]) -> list[Floats]:
        references, first = reference_tokens(corpus, self.spaces)
        texts = [sentence for hypotheses in systems for sentence in hypotheses.sentences]
        hypothesis = split_tokens(corpus, texts, self.spaces)
        source = source_tokens(corpus, self.spaces)
        found = overlaps(source, hypothesis, references, first, order=self.n)
        unwanted = found[..., KEPT] if self.formula == "released" else found[..., SURPLUS]
        numerators = np.maximum(0, found[..., MATCHED] - unwanted)
        lengths = hypothesis.lengths.reshape(len(systems), len(corpus))
        counts = []
        for k, own in enumerate(np.repeat(lengths, np.diff(first), axis=1)):
            rows = np.empty((len(own), 2 + 2 * self.n))
            rows[:, HYPOTHESIS] = own
            rows[:, REFERENCE] = references.lengths
            rows[:, NUMERATORS] = numerators[k * len(own) : (k + 1) * len(own)]
            rows[:, DENOMINATORS] = np.maximum(0, own[:, None] - np.arange(self.n))
            each = per_reference(rows, first)
            counts.append(each if self.references != "expected" else _with_moments(each))
        return counts

    def choose(self, counts: Floats, before: Before | None = None) -> Ints:
        """The script's draws, or column 0, or every combination of references if they are few.

        A single sentence takes every reference once.
        """
        if self.level == "sentence":
            given = ~np.isnan(counts[:, :, HYPOTHESIS].T)
            choice = np.where(given, np.arange(len(given))[:, None], -1)
            return choice if self.references != "expected" else choice[1:]
        if self.references != "expected":
            numbers = (~np.isnan(counts[:, :, HYPOTHESIS])).sum(axis=1)
            draws = self.draws if before is not None or numbers.max(initial=1) > 1 else 1
            skipped = before.sentences if before is not None else 0
            if skipped + len(counts) > MOST_DRAWN:
                raise InputError(
                    f"gleu: references={self.references} draws for at most {MOST_DRAWN:,} "
                    "sentences",
                    remedy=EXPECTED,
                )
            if self.references == "official":
                return official_draws(tuple(numbers.tolist()), draws, skipped)
            return python3_draws(tuple(numbers.tolist()), draws)
        if before is not None or len(counts) > ENUMERATED:
            return np.zeros((1, len(counts)), np.int64)
        return _every_combination(counts, self.draws)

    def score(self, totals: Floats) -> Floats:
        """GLEU of summed statistics, or its expectation over the choice of references.

        With the script's smoothing of single sentences every zero statistic counts as 1.
        """
        if self.level == "sentence":
            own = totals[..., : 2 + 2 * self.n]
            return _gleu(np.where(own == 0, 1.0, own), self.n, self.brevity)
        if self.references != "expected":
            return _gleu(totals, self.n, self.brevity)
        return expected_gleu(totals, self.n, self.brevity)[0]

    def figures(self, totals: Floats) -> dict[str, Floats | Ints]:
        """The spread of the score over the choice of references, and the error of its mean.

        ``totals`` are ``[..., draw, k]``. The error is that of 500 draws (SD / sqrt 500), or
        what the closed form leaves out; a mean over every combination has none. The references
        of a single sentence are not drawn, so there is nothing to add.
        """
        if self.level == "sentence":
            return {}
        if self.references != "expected":
            scores, within, error = self.score(totals), np.zeros(()), np.zeros(())
        else:
            scores, within, error = expected_gleu(totals, self.n, self.brevity)
        between = scores.var(axis=-1, keepdims=True) if scores.ndim else np.zeros(())
        spread = np.sqrt(np.broadcast_to(between + within**2, scores.shape))
        if self.references != "expected":
            error = spread / np.sqrt(scores.shape[-1] if scores.ndim else 1)
        return {"SD over references": spread, "error": error}


def _gleu(totals: Floats, n: int, brevity: Brevity) -> Floats:
    """GLEU of summed statistics; 0 where any is 0 (no clamp is needed: none is negative)."""
    counted = totals[..., : 2 + 2 * n]  # two lengths, and two statistics of each order
    there = np.asarray((counted > 0).all(axis=-1))
    safe = np.where(there[..., None], counted, 1.0)
    h, r = safe[..., HYPOTHESIS], safe[..., REFERENCE]
    longer = r / h if brevity == "fixed" else h / r
    logs = np.log(safe[..., NUMERATORS] / safe[..., DENOMINATORS]).sum(axis=-1) / n
    return np.where(there, np.exp(np.minimum(0.0, 1 - longer) + logs), 0.0)


def expected_gleu(
    totals: Floats, n: int, brevity: Brevity = "fixed"
) -> tuple[Floats, Floats, Floats]:
    """Expectation and standard deviation of GLEU over random references; the former's error.

    ``totals`` are the sums of means and covariances. To second order (the delta method) the log
    of the geometric mean, L, and the brevity term, X = 1 - r/h, are normal; GLEU is
    ``exp(min(0, X) + L)``, whose moments have a closed form on both sides of the kink X = 0:
    with ``X ~ N(m, s²)``, ``L ~ N(l, t²)`` and covariance c::

        E[GLEU^q] = exp(q(l + m) + q²/2 (t² + 2c + s²)) Phi(-(m + q(s² + c))/s)
                  + exp(q l + q²/2 t²) Phi((m + q c)/s)

    Away from the kink this is ``f(mu) + tr(H Sigma)/2``. The error is of third order in
    the relative spread of the numerators, and near the kink that sums are not quite normal. The
    error given, ``E (mean_n (sd_n/num_n)³ + 4 s² exp(-m²/2s²))``, is no proven bound; its
    factors were set on small samples with every combination enumerated (see the documentation).
    """
    means, covariances = totals[..., : 2 + 2 * n], totals[..., 2 + 2 * n :]
    there = np.asarray((means > 0).all(axis=-1))
    mean = np.where(there[..., None], means, 1.0)
    covariance = np.zeros((*there.shape, n + 1, n + 1))  # symmetric; its upper triangle is given
    row, column = np.triu_indices(n + 1)
    covariance[..., row, column] = np.where(there[..., None], covariances, 0.0)
    covariance[..., column, row] = covariance[..., row, column]
    h, r = mean[..., HYPOTHESIS], mean[..., REFERENCE]
    num, den = mean[..., NUMERATORS], mean[..., DENOMINATORS]
    variance = np.diagonal(covariance, axis1=-2, axis2=-1)
    relative = variance[..., 1:] / num**2
    slopes = 1 / (n * num)
    log_mean = (np.log(num / den) - relative / 2).sum(axis=-1) / n
    log_variance = np.einsum("...i,...ij,...j->...", slopes, covariance[..., 1:, 1:], slopes)
    if brevity == "fixed":
        x, slope = 1 - r / h, -1 / h
    else:
        x, slope = 1 - h / r - h / r**3 * variance[..., 0], h / r**2
    s2 = slope**2 * variance[..., 0]
    c = slope * np.einsum("...i,...i->...", slopes, covariance[..., 0, 1:])
    s = np.sqrt(np.where(s2 > 0, s2, 1.0))

    def moment(q: int) -> Floats:
        short = q * (log_mean + x) + q * q / 2 * (log_variance + 2 * c + s2)
        full = q * log_mean + q * q / 2 * log_variance
        # In logs, as the factors may overflow where their product does not. Without spread the
        # hypothesis is on one side of the kink.
        is_short = np.where(s2 > 0, _log_phi(-(x + q * (s2 + c)) / s), np.where(x < 0, 0, -np.inf))
        is_full = np.where(s2 > 0, _log_phi((x + q * c) / s), np.where(x < 0, -np.inf, 0))
        return np.asarray(np.exp(short + is_short) + np.exp(full + is_full), np.float64)

    value = moment(1)
    near = np.exp(-((x / s) ** 2) / 2)
    error = value * ((relative**1.5).mean(axis=-1) + 4 * s2 * near)
    variance_left = np.where((log_variance > 0) | (s2 > 0), moment(2) - value**2, 0.0)
    spread = np.sqrt(np.maximum(0, variance_left))
    return np.where(there, value, 0.0), np.where(there, spread, 0.0), np.where(there, error, 0.0)


def _log_phi(values: Floats) -> Floats:
    """The logarithm of the normal distribution function."""
    found: Floats = log_ndtr(np.ascontiguousarray(values, np.float64).ravel())
    return found.reshape(np.shape(values))


def _with_moments(counts: Floats) -> Floats:
    """Put mean and covariance over references before the references, which have none."""
    sentences, references, k = counts.shape
    row, column = np.triu_indices(k // 2)
    result = np.zeros((sentences, references + 1, k + len(row)))
    result[:, 1:, :k] = counts
    missing = np.isnan(counts[:, :, HYPOTHESIS])
    average = np.nanmean if missing.any() else np.mean  # the same, and ten times as fast
    result[:, 1:, k:][missing] = np.nan
    mean = average(counts, axis=1)
    drawn = [REFERENCE, *range(k)[NUMERATORS]]  # what differs between references
    away = (counts - mean[:, None])[:, :, drawn]
    result[:, 0, :k] = mean
    result[:, 0, k:] = average(away[:, :, row] * away[:, :, column], axis=1)
    return result


def _every_combination(counts: Floats, limit: int) -> Ints:
    """Every choice among references that count differently, if at most ``limit``; or column 0."""
    own = counts[:, 1:]
    given = ~np.isnan(own[:, :, HYPOTHESIS])
    differ = np.flatnonzero(((own != own[:, :1]).any(axis=2) & given).any(axis=1))
    numbers = given[differ].sum(axis=1)
    if not 0 < len(differ) < limit.bit_length() or numbers.prod() > limit:
        return np.zeros((1, len(counts)), np.int64)
    choice = np.ones((numbers.prod(), len(counts)), np.int64)
    choice[:, differ] += np.indices(numbers).reshape(len(differ), -1).T
    return choice


@lru_cache(maxsize=2)
def official_draws(numbers: tuple[int, ...], draws: int, skipped: int = 0) -> Ints:
    """The released script's choices: ``[draw, sentence]`` for so many references per sentence.

    ``skipped`` are sentences before these, for which it has drawn already.

    Draw j seeds Python 2's generator with 101 j and takes ``randint(0, K - 1)`` for each
    sentence, which is ``int(random() * K)``. NumPy's Mersenne Twister, seeded with an array, is
    the same generator; the `randint` of Python 3 is another.

    >>> official_draws((2, 2, 2, 3), 2).tolist()
    [[1, 1, 0, 0], [1, 0, 1, 2]]
    >>> official_draws((2, 3), 2, 2).tolist()
    [[0, 0], [1, 2]]
    """
    kind = np.int8 if max(numbers, default=1) < 128 else np.int64  # 500 draws of many sentences
    result = np.empty((draws, len(numbers)), kind)
    sizes = np.array(numbers)
    generators = _generators(draws, skipped)
    for j, generator in enumerate(generators):
        result[j] = generator.random_sample(len(numbers)) * sizes
    _drawn_for[draws] = (skipped + len(numbers), generators)
    result.setflags(write=False)
    choice: NDArray[np.int64] = result
    return choice


# The generators of so many draws, and the sentences they have drawn for, where they stopped last: a
# corpus in parts would else be drawn for from its start in every part. Who takes them owns them.
_drawn_for: dict[int, tuple[int, list[np.random.RandomState]]] = {}


def _generators(draws: int, skipped: int) -> list[np.random.RandomState]:
    """The generators of all draws, after those for so many sentences."""
    done, generators = _drawn_for.pop(draws, (0, []))
    if not generators or done > skipped:
        # The legacy class, because its stream is frozen.
        done, generators = 0, [np.random.RandomState([SEED * j]) for j in range(draws)]
    for generator in generators:
        for start in range(done, skipped, SKIPPED):
            generator.random_sample(min(SKIPPED, skipped - start))
    return generators


@lru_cache(maxsize=2)
def python3_draws(numbers: tuple[int, ...], draws: int) -> Ints:
    """What the script draws when Python 3 runs it: ``randint`` takes bits and rejects.

    >>> python3_draws((2, 2, 2, 3), 2).tolist()
    [[1, 1, 0, 1], [0, 1, 1, 0]]
    """
    kind = np.int8 if max(numbers, default=1) < 128 else np.int64
    result = np.empty((draws, len(numbers)), kind)
    for j in range(draws):
        generator = random.Random(SEED * j)
        result[j] = [generator.randint(0, size - 1) for size in numbers]
    result.setflags(write=False)
    choice: NDArray[np.int64] = result
    return choice


# ---- The GLEU of 2015, with its weight λ (Napoles, Sakaguchi, Post & Tetreault, ACL 2015).


@metric
class GLEU2015(Metric):
    """GLEU as first published, in the two versions of its script.

    H, S and R are multisets of n-grams of hypothesis, source and all references (largest
    counts); sums run over sentences, the score is 0 if any sum is not positive::

        "2015-06"  num_n = |H & (R - S)| + |H & R| - λ |H & (S - R)|
                   den_n = |R - S| + max(0, h + 1 - n)
                   GLEU  = exp(1/4 sum_n log(num_n / den_n))
        "2016-03"  num_n = |H & R\\S| + max(0, |H & R| - λ |H & S\\R|)
                   den_n = |H & R\\S| + max(0, h + 1 - n)
                   GLEU  = exp(min(0, 1 - h/r) + 1/4 sum_n log(num_n / den_n))

    ``-`` is the difference of multisets; ``R\\S`` keeps the n-grams of R that S lacks
    altogether. ``lam`` is the paper's λ; the paper reports 0.1 and 0. ``version="2015-06"`` is
    what the paper's tables were made with: it has no working brevity penalty. ``"2016-03"``
    (``scripts/original_gleu``) takes the closest reference length r (of two, the first), and its
    brevity penalty is inverted: it punishes hypotheses longer than the reference. The paper's
    Eq. 1 differs from both. Sentence scores are not smoothed, as in the scripts.
    ``spaces``: ``"ascii"`` splits tokens as the scripts do, which read bytes.

    >>> corpus = Corpus.from_texts(["He go home now ."], [["He goes home now ."]])
    >>> gleu = GLEU2015(lam=0)
    >>> counts = gleu.count(corpus, Hypotheses("A", ("He goes home now .",)))
    >>> float(gleu.score(counts[:, 0].sum(axis=0)))
    1.0
    """

    name = "gleu2015"
    about = About(paper="Napoles et al. 2015", range="from 0 to 1", needs=("references",))
    columns = "readings"

    lam: float = 0.1
    version: Literal["2015-06", "2016-03"] = "2015-06"
    spaces: Spaces = "unicode"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.lam <= 1000:
            raise InputError(f"gleu2015: lam={self.lam} must be a number from 0 to 1000")

    @property
    def headline(self) -> str:
        """GLEU and its weight."""
        return f"GLEU {self.lam:g} (2015)"

    @property
    def statistics(self) -> tuple[str, ...]:
        """Lengths, then numerator and denominator of each order."""
        return (
            "hypothesis",
            "reference",
            *(f"{x}{n}" for n in (1, 2, 3, 4) for x in ("num", "den")),
        )

    def count(self, corpus: Corpus, hypotheses: Hypotheses) -> Floats:
        """Statistics with the references merged: one column."""
        references, first = reference_tokens(corpus, self.spaces)
        hypothesis = split_tokens(corpus, hypotheses.sentences, self.spaces)
        source = source_tokens(corpus, self.spaces)
        found = overlaps(source, hypothesis, references, first, merged=True)
        h = hypothesis.lengths
        total = np.maximum(0, h[:, None] - np.arange(4))
        counts = np.empty((len(h), 1, 10))
        counts[:, 0, HYPOTHESIS] = h
        if self.version == "2015-06":
            counts[:, 0, REFERENCE] = h
            counts[:, 0, NUMERATORS] = (
                found[..., ADDED] + found[..., MATCHED] - self.lam * found[..., LEFT]
            )
            counts[:, 0, DENOMINATORS] = found[..., WANTED] + total
        else:
            counts[:, 0, REFERENCE] = closest_lengths(h, references.lengths, first, shorter=False)
            kept = np.maximum(0, found[..., MATCHED] - self.lam * found[..., KEPT])
            counts[:, 0, NUMERATORS] = found[..., GAINED] + kept
            counts[:, 0, DENOMINATORS] = found[..., GAINED] + total
        return counts

    def score(self, totals: Floats) -> Floats:
        """GLEU of summed statistics."""
        there = np.asarray((totals > 0).all(axis=-1))
        safe = np.where(there[..., None], totals, 1.0)
        logs = np.log(safe[..., NUMERATORS] / safe[..., DENOMINATORS]).sum(axis=-1) / 4
        # In "2015-06" both lengths are the hypothesis's.
        brevity = np.minimum(0.0, 1 - safe[..., HYPOTHESIS] / safe[..., REFERENCE])
        return np.where(there, np.exp(brevity + logs), 0.0)
