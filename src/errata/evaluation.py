"""From counts to scores, the same way for every metric.

The only caller of `Metric.count_all`, `choose` and `score`: the corpus score is the score of the
chosen counts summed over sentences (mean over draws), sentence scores are the scores of the
chosen counts with the metric set for single sentences, and the bootstrap weighs them
(`errata.resampling`). Corpora that come in parts go through `errata.reduction`, to the same scores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from errata import __version__
from errata.data import Corpus, Hypotheses, Scores
from errata.errors import ErrataError, InputError
from errata.io.checks.lines import check_once
from errata.io.skipping import skip_fact
from errata.metrics import METRICS, parse
from errata.metrics.base import Metric, scored_alone
from errata.numbers import BLOCK, Floats, Ints, Progress, Seed, bootstrap_weights, seed_name
from errata.plugins import attributed, blamed, fault, origin
from errata.resampling import (
    LIMITS,
    BootstrapKind,
    BootstrapLimits,
    DrawnKind,
    GrowingHistogram,
    Histogram,
    bootstrap_kind,
    document_blocks,
    resample,
)
from errata.sums import Sums, summable

__all__ = [
    "SaidOfScores",
    "assembled",
    "checked_choice",
    "checked_counts",
    "chosen_counts",
    "corpus_facts",
    "different_draws",
    "draw_totals",
    "evaluate",
    "facts_said",
    "resample_weights",
    "scores_of",
    "sentence_scores",
    "systems_in",
    "vectors",
]


def evaluate(
    metric: Metric | str,
    corpus: Corpus,
    systems: Hypotheses | Sequence[Hypotheses] | Sequence[str] | Mapping[str, Sequence[str]],
    *,
    resamples: int = 1000,
    rng: Seed = 0,
    bootstrap: BootstrapKind = "auto",
    guard: bool = True,
    threads: int | None = None,
    progress: Progress | None = None,
    limits: BootstrapLimits = LIMITS,
) -> Scores:
    """ScoreOfTotals one or more systems with one metric: overall, per sentence, and in resamples.

    ``metric`` may be its signature (``"m2(beta=1)"``). ``systems`` may be plain sentences, of a
    system then called ``hypotheses``, or a mapping from names to sentences. ``rng`` seeds the
    bootstrap, whose kind the data decide (see `errata.resampling`); with ``bootstrap="sentences"``
    and the same seed every metric sees the same resamples. Unless ``guard=False``,
    outputs that do not fit the corpus line by line are refused or warned of, once (see
    `errata.io.check_alignment`). ``threads`` defaults to the number of cores. ``progress`` is
    called with (done, total).

    >>> from errata import Corpus, Hypotheses
    >>> corpus = Corpus.from_texts(["He go home ."], [["He goes home ."]])
    >>> scores = evaluate("m2", corpus, Hypotheses("A", ("He goes home .",)))
    >>> scores["A"]
    1.0
    >>> evaluate("m2", corpus, {"B": ["He go home ."]})["B"]
    0.0
    """
    if isinstance(metric, str):
        metric = parse(metric)
    systems = systems_in(systems)
    counts = checked_counts(
        metric, corpus, systems, guard=guard, threads=threads, progress=progress
    )
    with blamed(metric):
        return _scores_of(metric, corpus, systems, counts, resamples, rng, bootstrap, limits)


def checked_counts(
    metric: Metric,
    corpus: Corpus,
    systems: Sequence[Hypotheses],
    *,
    guard: bool = True,
    threads: int | None = None,
    progress: Progress | None = None,
    part: bool = False,
) -> list[Floats]:
    """The counts ``[sentence, reference, k]`` of every system, checked; for `scores_of`.

    Of a ``part`` of a corpus they are unsettled where only the whole settles them.
    """
    check_inputs(metric, corpus, systems)
    for hypotheses in systems if guard else ():
        check_once(corpus, hypotheses)
    with blamed(metric):
        if part and metric.unsettled is not None:
            return metric.unsettled.count_all(corpus, systems, threads=threads, progress=progress)
        counts = metric.count_all(corpus, systems, threads=threads, progress=progress)
        _check_counts(metric, corpus, systems, counts, fault)
    return [summable(each) for each in counts]


def systems_in(given: object) -> list[Hypotheses]:
    """Outputs as people have them: with names or without, as sentences or as `Hypotheses`."""
    if isinstance(given, Hypotheses):
        return [given]
    if isinstance(given, Mapping):
        return [
            replace(each, system=str(name))
            if isinstance(each, Hypotheses)
            else Hypotheses(str(name), _lines(f"{name}: ", each))
            for name, each in given.items()
        ]
    if isinstance(given, str | bytes):
        return [Hypotheses("hypotheses", _lines("", given))]
    several: list[Any] = list(given) if isinstance(given, Iterable) else [given]
    if several and all(isinstance(each, str) for each in several):
        return [Hypotheses("hypotheses", tuple(several))]
    odd = [each for each in several if not isinstance(each, Hypotheses)]
    if odd:
        raise InputError(
            "systems are Hypotheses or sentences, not Hypotheses together with texts"
            if isinstance(odd[0], str)
            else f"a system is Hypotheses or a list of sentences, not a {type(odd[0]).__name__}",
            remedy="name several systems in a dict: {'ours': sentences, 'theirs': sentences}",
        )
    return several


def _lines(whose: str, given: Any) -> tuple[str, ...]:
    """Sentences of a system, refusing the text of one that would be taken for its characters."""
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        what = "a single text" if isinstance(given, str | bytes) else f"a {type(given).__name__}"
        raise InputError(
            f"{whose}{what} is no list of sentences",
            remedy="give a list of them, one per source; errata.io.read_hypotheses reads a file",
        )
    sentences = tuple(given)
    odd = [each for each in sentences if not isinstance(each, str)]
    if odd:
        raise InputError(f"{whose}a sentence is a text, not a {type(odd[0]).__name__}")
    return sentences


def scores_of(
    metric: Metric,
    corpus: Corpus,
    systems: Sequence[Hypotheses],
    counts: Sequence[Floats],
    *,
    resamples: int = 1000,
    rng: Seed = 0,
    bootstrap: BootstrapKind = "auto",
    limits: BootstrapLimits = LIMITS,
) -> Scores:
    """The scores that follow from counts ``[sentence, reference, k]``, one array per system.

    This is the entry for counts made elsewhere: on other machines, in a cache, or by a study
    that needs them itself.
    """
    _check_counts(metric, corpus, systems, counts, _misfit)
    return _scores_of(metric, corpus, systems, counts, resamples, rng, bootstrap, limits)


class SaidOfScores(NamedTuple):
    """What scores say beside their numbers: of the data, of the sentences left out, to readers."""

    context: tuple[str, ...]
    notes: tuple[str, ...]
    skipped: tuple[int, ...]


def _scores_of(
    metric: Metric,
    corpus: Corpus,
    systems: Sequence[Hypotheses],
    counts: Sequence[Floats],
    resamples: int,
    rng: Seed,
    bootstrap: BootstrapKind,
    limits: BootstrapLimits,
) -> Scores:
    METRICS.refuse_disguise(metric)
    totals, picked = [], []
    for each in counts:
        choice = checked_choice(metric, each, metric.choose(each))
        totals.append(different_draws(draw_totals(each, choice)))
        if resamples:
            picked.append(chosen_counts(each, choice))
    resampled, kind = None, None
    if resamples:
        stacked = np.concatenate(picked, axis=1)
        histogram = vectors(stacked, bootstrap, limits)
        kind = bootstrap_kind(bootstrap, len(corpus), histogram, limits)
        resampled = resample(
            metric.score,
            [stacked],
            len(systems),
            kind,
            sentences=len(corpus),
            histogram=histogram,
            resamples=resamples,
            rng=rng,
            weights=lambda: resample_weights(corpus, resamples, rng),
            blocks=[document_blocks(corpus.documents)] if corpus.documents else None,
        )
    return assembled(
        metric,
        [each.system for each in systems],
        totals,
        resampled,
        drawn_facts(resamples, rng, kind, documents=bool(corpus.documents)),
        SaidOfScores(
            (*metric.context(corpus, systems), *corpus_facts(corpus)),
            metric.notes(corpus, systems),
            corpus.skipped,
        ),
        [sentence_scores(metric, each, corpus) for each in counts],
    )


def vectors(
    stacked: Floats, bootstrap: BootstrapKind = "auto", limits: BootstrapLimits = LIMITS
) -> Histogram | None:
    """The histogram of what sentences took, where the kind of bootstrap may ask for it."""
    if bootstrap not in ("auto", "histogram"):
        return None
    return GrowingHistogram(stacked.shape[1], limits).added(Histogram.of(stacked)).histogram


def drawn_facts(
    resamples: int, rng: Seed, kind: DrawnKind | None, *, documents: bool = False
) -> tuple[str, ...]:
    """What a signature says of resamples; ``documents``: blocks are of these.

    >>> drawn_facts(9, 0, "blocks", documents=True)
    ('resamples:9', 'seed:0', 'bootstrap:blocks of documents')
    """
    if not resamples:
        return ()
    of = " of documents" if kind == "blocks" and documents else ""
    return (f"resamples:{resamples}", f"seed:{seed_name(rng)}", f"bootstrap:{kind}{of}")


def assembled(
    metric: Metric,
    systems: Sequence[str],
    totals: Sequence[Floats],
    resampled: Floats | None,
    drawn: tuple[str, ...],
    told: SaidOfScores,
    alone: Sequence[tuple[Floats, dict[str, Floats | Ints]]] = (),
) -> Scores:
    """The scores of summed counts ``[draw, k]`` of each system, with what is said of them.

    ``alone`` are the scores and the figures of the sentences of each system, if they are wanted.
    """
    METRICS.refuse_disguise(metric)
    values = [metric.score(each).mean() for each in totals]
    parts = _gather(
        [{name: _over_draws(part) for name, part in metric.parts(each).items()} for each in totals]
    )
    return Scores(
        scorer=repr(metric),
        systems=tuple(systems),
        values=np.array(values),
        sentences=np.stack([scores for scores, _ in alone]) if alone else None,
        parts=parts,
        resampled=resampled,
        sentence_parts=_gather([more for _, more in alone]) if alone else {},
        headline=metric.headline,
        context=(*origin(type(metric)), *told.context, *drawn, f"errata:{__version__}"),
        notes=(*told.notes, *_undefined(systems, values)),
        name=metric.name,
        label=metric.label,
        skipped=told.skipped,
        shares=_shares(metric, parts),
    )


def different_draws(totals: Floats) -> Floats:
    """Totals ``[draw, k]``; of draws that are all alike, one."""
    return totals[:1] if bool((totals == totals[:1]).all()) else totals


def _shares(metric: Metric, parts: Mapping[str, Floats | Ints]) -> tuple[str, ...]:
    """Which figures are shares of one: the score and its fractions, but for what are sums."""
    if not metric.about.share:
        return ()
    fractions = (name for name, part in parts.items() if part.dtype.kind == "f")
    return metric.headline, *(name for name in fractions if name not in metric.about.amounts)


def _undefined(systems: Sequence[str], values: Sequence[float]) -> tuple[str, ...]:
    """What a reader must know of scores that are no numbers."""
    without = [name for name, value in zip(systems, values, strict=True) if not np.isfinite(value)]
    return (f"no score, being no number: {', '.join(without)}",) if without else ()


def check_inputs(metric: Metric, corpus: Corpus, systems: Sequence[Hypotheses]) -> None:
    """Refuse what no score can be made of."""
    if not systems:
        raise InputError("there is no system to score", remedy="give at least one output file")
    if not len(corpus):
        raise InputError("the corpus is empty", remedy="give at least one sentence")
    for hypotheses in systems:
        if len(hypotheses) != len(corpus):
            raise InputError(
                f"{hypotheses.system} has {len(hypotheses)} sentences, the corpus {len(corpus)}",
                remedy="one line per source sentence",
            )
    if metric.columns == "none":
        return
    if not corpus.most_references:
        raise InputError(
            f"there are no references, and {metric.name} needs them",
            remedy="give corrected texts (--refs) or an M2 file (--gold)",
        )
    bare = next((i for i, refs in enumerate(corpus.references) if not refs), None)
    if bare is not None:
        raise InputError(
            f"sentence {corpus.number(bare)} has no reference, and {metric.name} needs one",
            remedy="give references or leave the sentence out",
        )


def _misfit(metric: Metric, problem: str, remedy: str | None = None) -> ErrataError:
    """The error for counts that were made elsewhere, which are input."""
    return InputError(f"{attributed(metric)}: {problem}", remedy=remedy)


def _check_counts(
    metric: Metric,
    corpus: Corpus,
    systems: Sequence[Hypotheses],
    counts: Sequence[Floats],
    wrong: Callable[..., ErrataError],
) -> None:
    """Refuse counts that are not what the contract says, in every run and from wherever."""
    if len(counts) != len(systems):
        raise wrong(metric, f"counts of {len(counts)} systems for {len(systems)}")
    wanted = (len(corpus), len(metric.statistics))
    for hypotheses, each in zip(systems, counts, strict=True):
        whose = f"counts of {hypotheses.system}"
        if not isinstance(each, np.ndarray) or each.dtype != np.float64:
            kind = each.dtype if isinstance(each, np.ndarray) else type(each).__name__
            raise wrong(metric, f"{whose} are {kind}", "count must return float64 arrays")
        if each.ndim != 3 or (each.shape[0], each.shape[2]) != wanted or not each.shape[1]:
            raise wrong(
                metric,
                f"{whose} have the shape {each.shape}, which does not fit "
                f"{wanted[0]} sentences and {wanted[1]} statistics",
                "counts are [sentence, reference, statistic]",
            )
        missing = np.isnan(each)
        partly = missing.any(axis=2) != missing.all(axis=2)
        bad = partly | np.isinf(each).any(axis=2) | missing.all(axis=(1, 2)).reshape(-1, 1)
        if bad.any():
            raise wrong(
                metric,
                f"{whose} are no numbers in sentence {int(bad.any(axis=1).argmax()) + 1}",
                "only the statistics of a reference that is missing are NaN, and then all",
            )


def checked_choice(metric: Metric, counts: Floats, choice: Ints) -> Ints:
    """The choice of references, which must be there."""
    good = isinstance(choice, np.ndarray) and choice.ndim == 2 and choice.dtype.kind == "i"
    if not good or choice.shape[1] != len(counts) or not len(choice):
        raise fault(
            metric,
            "choose must give whole numbers [draw, sentence]",
            "see errata.testing.check_metric",
        )
    if (choice < -1).any() or (choice >= counts.shape[1]).any():
        raise fault(metric, "choose gave a reference that is not there")
    missing = np.isnan(counts[:, :, 0])
    if not missing.any():  # nor was one taken
        return choice
    taken = missing[np.arange(len(counts)), choice] & (choice >= 0)
    if taken.any():
        sentence = int(taken.any(axis=0).argmax()) + 1
        raise fault(metric, f"choose took a missing reference in sentence {sentence}")
    return choice


def corpus_facts(corpus: Corpus) -> tuple[str, ...]:
    """What every signature says of a corpus: its size, references, and how it was read."""
    sizes = {len(refs) for refs in corpus.references}
    return facts_said(
        len(corpus), min(sizes), max(sizes), corpus.kept, corpus.skipped, corpus.tokens
    )


def facts_said(
    sentences: int,
    fewest: int,
    most: int,
    kept: Sequence[int] = (),
    skipped: tuple[int, ...] = (),
    tokens: str = "as_is",
) -> tuple[str, ...]:
    """The same, of what is known of a corpus.

    >>> facts_said(1312, 2, 3)
    ('sentences:1312', 'references:2-3')
    """
    whose = f" of annotator {','.join(map(str, kept))}" if kept else ""
    spread = f"-{most}" if most > fewest else ""
    return (
        f"sentences:{sentences}",
        f"references:{fewest}{spread}{whose}",
        *skip_fact(skipped),
        *((f"tokens:{tokens}",) if tokens != "as_is" else ()),
    )


def _over_draws(part: Floats | Ints) -> Floats | Ints:
    """The mean over draws; whole numbers stay whole where there is one draw."""
    if len(part) == 1:
        only: Floats | Ints = part[0]
        return only
    mean: Floats = part.mean(axis=0)
    return mean


def _gather(rows: list[dict[str, Floats | Ints]]) -> dict[str, Floats | Ints]:
    def column(name: str) -> Floats | Ints:
        stacked: Any = np.stack([row[name] for row in rows])
        return stacked  # type: ignore[no-any-return]

    return {name: column(name) for name in rows[0]}


def draw_totals(counts: Floats, choice: Ints, *, block: int = BLOCK) -> Floats:
    """Chosen counts summed over sentences, for each draw: ``[draw, k]``."""
    return Sums.of(counts, choice, block=block).floats


def chosen_counts(counts: Floats, choice: Ints) -> Floats:
    """Chosen counts of each sentence, mean over draws: ``[sentence, k]``."""
    picked = np.zeros((counts.shape[0], counts.shape[2]))
    known = _there(counts)
    for r in range(counts.shape[1]):
        share = (choice == r).mean(axis=0)
        picked += share[:, None] * known[:, r]
    return picked


def _there(counts: Floats) -> Floats:
    """Counts with 0 for missing references, which no choice takes: 0 times NaN would be NaN."""
    return np.where(np.isnan(counts).all(axis=2, keepdims=True), 0.0, counts)


def sentence_scores(
    metric: Metric, counts: Floats, corpus: Corpus | None = None
) -> tuple[Floats, dict[str, Floats | Ints]]:
    """Scores and further figures of every sentence scored alone (mean over draws).

    Among the figures is the annotator whose reference was taken, where the corpus is given.
    """
    single = metric.single
    choice = checked_choice(single, counts, single.choose(counts))
    mean = scored_alone(metric, counts, choice)
    more = dict(single.parts(chosen_counts(counts, choice)))
    if corpus is None:
        return mean, more
    # With one reference there is no choice to speak of.
    several = counts.shape[1] > 1 and corpus.most_references > 1
    if metric.columns == "annotators" and len(choice) == 1 and several:
        more["annotator"] = _annotators(corpus, choice[0])
    return mean, more


def _annotators(corpus: Corpus, chosen: Ints) -> Floats | Ints:
    """The numbers of the annotators whose references were taken; NaN where none was."""
    named = [
        np.nan if at < 0 else refs[at].annotator
        for refs, at in zip(corpus.references, chosen.tolist(), strict=True)
    ]
    if (chosen < 0).any():
        return np.array(named, np.float64)
    return np.array(named, np.int64)


def resample_weights(corpus: Corpus, resamples: int, rng: Seed) -> Iterable[Floats]:
    """Bootstrap weights of the sentences; every metric with one seed sees the same, drawn once."""
    n = len(corpus)
    if not isinstance(rng, int) or n * resamples > BLOCK:
        return bootstrap_weights(n, resamples, rng)
    key = ("bootstrap weights", resamples, rng)
    return corpus.derived(key, lambda: list(bootstrap_weights(n, resamples, rng)))
