"""What changed between two versions of a system: figures, edits, kinds, slices and sentences.

A `Comparison` holds a new system against an old one on the same sentences. Figures come with the
interval of a paired bootstrap and the p-value of approximate randomisation
(`errata.studies.paired_tests`); edits are held against the same annotator in both outputs
(`errata.studies.edit_changes`), so that only what the systems wrote differently can change.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from errata import __version__
from errata.data import Corpus, Hypotheses, Scores, namesakes
from errata.edits import kind_at
from errata.errors import InputError
from errata.evaluation import checked_counts, chosen_counts, resample_weights, scores_of, systems_in
from errata.io.checks.lines import check_once
from errata.metrics import Metric, parse
from errata.metrics.errant import Edits
from errata.numbers import Floats, Progress, Seed, seed_name
from errata.studies.compared_parts import (
    BandChange,
    KindChange,
    SentenceChange,
    SliceChange,
    bands_of,
    check_slices,
    kinds_changed,
    length_slices,
    sentences_apart,
    sentences_changed,
    slices_changed,
)
from errata.studies.edit_changes import ChangeCounts, EditChange, change_counts, edit_changes
from errata.studies.edit_facts import EditFacts, edits_alone, edits_judged
from errata.studies.paired_tests import (
    Difference,
    TwoSystems,
    difference_of,
    holm_adjusted,
    paired_differences,
    swap_p_values,
)

if TYPE_CHECKING:
    import pandas
    import polars

__all__ = ["Comparison", "compare"]

LOWER_IS_BETTER = ("false alarms", "clean sentences touched")
PER_THOUSAND = ("false alarms", "edits")  # words; all other figures of edits are shares


@dataclass(frozen=True)
class Comparison:
    """A system against the one it is to replace; see the module.

    ``differences`` has one `Difference` for every metric, in the order given, with Holm's
    correction over them. ``rates`` are figures of the edits: false alarms per 1,000 words, the
    share of clean sentences touched, of sentences changed, and the mean F over kinds; without
    references edits per 1,000 words and sentences changed. ``changes`` lists every error and false
    alarm whose state changed, ``counts`` how many in which way. ``kinds``, ``bands`` of difficulty
    and ``slices`` say where. ``sentences`` are those that got better or worse, the largest change
    first, or without references those that differ. ``edits`` is the signature behind the edits,
    ``tests`` that of what was swapped for p-values; empty where nothing was.
    """

    base: str
    system: str
    size: int
    differing: int
    differences: tuple[Difference, ...]
    rates: tuple[Difference, ...]
    changes: tuple[EditChange, ...]
    counts: ChangeCounts
    kinds: tuple[KindChange, ...]
    bands: tuple[BandChange, ...]
    slices: tuple[SliceChange, ...]
    sentences: tuple[SentenceChange, ...]
    edits: str
    tests: str
    judged: bool
    confidence: float
    skipped: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def better(self) -> tuple[SentenceChange, ...]:
        """The sentences that gained more edits than they lost, the largest gain first."""
        return tuple(each for each in self.sentences if each.gain > 0)

    @property
    def worse(self) -> tuple[SentenceChange, ...]:
        """The sentences that lost more edits than they gained, the largest loss first."""
        return tuple(each for each in self.sentences if each.gain < 0)

    def kind(self, name: str) -> KindChange | None:
        """What changed in one kind of edit; None where neither system nor gold has any."""
        return next((each for each in self.kinds if each.kind == name), None)

    def to_pandas(self, table: str | None = None) -> pandas.DataFrame:
        """One of the tables as a data frame: ``metrics`` (the default), ``rates``, ``kinds``...

        The names are those that ``errata compare --json`` has behind the name of the system.
        """
        import errata

        frame: pandas.DataFrame = errata._shown(self, "pandas", table=table)
        return frame

    def to_polars(self, table: str | None = None) -> polars.DataFrame:
        """The same as a frame of polars."""
        import errata

        frame: polars.DataFrame = errata._shown(self, "polars", table=table)
        return frame

    def _repr_html_(self) -> str:
        """What a notebook shows: the first table of a report."""
        import errata

        return str(errata._shown(self, "html"))

    def __repr__(self) -> str:
        shown = ", ".join(f"{d.label} {d.difference.value:+.4f}" for d in self.differences[:4])
        return (
            f"<Comparison {self.base!r} → {self.system!r}: {shown or f'{self.differing} differ'}>"
        )


def compare(
    metrics: Metric | str | Sequence[Metric | str],
    corpus: Corpus,
    base: Any,
    systems: Any,
    *,
    edits: Edits | None = None,
    slices: Mapping[str, Sequence[str]] | None = None,
    tier: int = 3,
    resamples: int = 1000,
    trials: int = 10_000,
    confidence: float = 0.95,
    rng: Seed = 0,
    guard: bool = True,
    threads: int | None = None,
    progress: Progress | None = None,
) -> tuple[Comparison, ...]:
    """Compare systems with an old one, the ``base``: one `Comparison` for each.

    ``metrics`` are one or several, as `errata.evaluate` takes them, or none; ``base`` and
    ``systems`` are outputs as it takes them. ``edits`` finds and compares the edits; the first of
    the metrics that does is the default, else ``edits()``. ``slices`` name for every sentence
    what it belongs to, by column (domain, level); length is always one of them. ``tier`` groups
    kinds (3: in full). ``resamples`` of the sentences give intervals, ``trials`` of swaps p-values,
    both from the seed ``rng``; 0 leaves them out. Difficulty of an error is the share of the
    systems given, the base among them, that do not have it right.

    Without references there is nothing to judge edits by: then edits are counted by kind, and
    sentences shown that the systems changed differently.

    >>> corpus = Corpus.from_texts(["He go home .", "Fine ."], [["He goes home .", "Fine ."]])
    >>> old, new = ["He go home .", "Fine ."], ["He goes home .", "Very fine ."]
    >>> (found,) = compare("m2", corpus, {"v1": old}, {"v2": new})
    >>> found
    <Comparison 'v1' → 'v2': m2 +0.5556>
    >>> [(change.name, change.kind) for change in found.changes]
    [('missed → right', 'R:INFL'), ('new false alarm', 'M:OTHER'), ('new false alarm', 'R:ORTH')]
    >>> [(each.label, each.new) for each in found.rates[:2]]
    [('false alarms', 333.3333333333333), ('clean sentences touched', 1.0)]
    """
    chosen = _metrics(metrics)
    every = [*_base(base), *systems_in(systems)]
    for error in namesakes([each.system for each in every]):
        raise error
    if len(every) < 2:
        raise InputError("there is no system to compare with the base", remedy="give its output")
    if not len(corpus):
        raise InputError("the corpus is empty", remedy="give at least one sentence")
    for hypotheses in every if guard else ():
        check_once(corpus, hypotheses)
    seed = rng if isinstance(rng, int) else int(rng.integers(2**32))
    keeper = edits or next((each for each in chosen if isinstance(each, Edits)), Edits())
    scored = [_scored(each, corpus, every, resamples, seed, threads, progress) for each in chosen]
    if corpus.most_references:
        of_edits = next((each for each in scored if each.metric == keeper), None)
        of_edits = of_edits or _scored(keeper, corpus, every, 0, seed, threads, progress)
        facts = edits_judged(keeper, corpus, every, of_edits.counts, tier, progress)
    else:
        facts = edits_alone(keeper, corpus, every, tier, progress)
    columns = {"length": length_slices(corpus)} | dict(slices or {})
    check_slices(columns, len(corpus))
    drawn = _Drawn(resamples, trials, seed, seed_name(rng), confidence)
    return tuple(
        _compared(corpus, facts, s, scored, columns, tier, drawn, progress)
        for s in range(1, len(every))
    )


class _Drawn(NamedTuple):
    """What is drawn, and how sure intervals are."""

    resamples: int
    trials: int
    seed: int
    seed_name: str
    confidence: float


class _Scored(NamedTuple):
    """A metric, its scores, and its counts: beside every reference, and of those it took."""

    metric: Metric
    scores: Scores
    counts: list[Floats]
    picked: list[Floats]


def _metrics(given: Metric | str | Sequence[Metric | str]) -> list[Metric]:
    several = [given] if isinstance(given, Metric | str) else list(given)
    return [parse(each) if isinstance(each, str) else each for each in several]


def _base(given: Any) -> list[Hypotheses]:
    found = systems_in(given)
    if len(found) != 1:
        raise InputError(f"the base is one system, not {len(found)}", remedy="give one output")
    plain = not isinstance(given, Mapping | Hypotheses) and found[0].system == "hypotheses"
    return [replace(found[0], system="base")] if plain else found


def _scored(
    metric: Metric,
    corpus: Corpus,
    systems: Sequence[Hypotheses],
    resamples: int,
    seed: int,
    threads: int | None,
    progress: Progress | None,
) -> _Scored:
    counts = checked_counts(
        metric, corpus, systems, guard=False, threads=threads, progress=progress
    )
    scores = scores_of(metric, corpus, systems, counts, resamples=resamples, rng=seed)
    picked = [chosen_counts(each, metric.choose(each)) for each in counts]
    return _Scored(metric, scores, counts, picked)


ComparedKey = tuple[str, ...]


def _pairs(
    facts: EditFacts, s: int, scored: Sequence[_Scored], columns: Mapping[str, Sequence[str]]
) -> dict[ComparedKey, TwoSystems]:
    """Everything that is compared between the base and system ``s``."""
    pairs: dict[ComparedKey, TwoSystems] = {}
    for m, each in enumerate(scored):
        picked = each.picked
        pairs["metric", str(m)] = TwoSystems(_score_of(each.metric), picked[0], picked[s])
    for name, pair in facts.rates(0, s).items():
        pairs["rate", name] = pair
    for kind, pair in facts.kinds(0, s).items():
        pairs["kind", kind] = pair
    for column, values in columns.items():
        known = np.array(values, np.str_)
        for value in sorted({*values}, key=_natural):
            pairs["slice", column, value] = facts.slice(0, s, known == value)
    return pairs


def _score_of(metric: Metric) -> Callable[[Floats], dict[str, Floats]]:
    return lambda totals: {metric.headline: metric.score(totals)}


def _natural(value: str) -> tuple[int, str]:
    """Numbers by their size, then texts by the alphabet: 1-10, 11-20, 41 or more."""
    digits = re.match(r"[0-9]{1,9}", value)
    return (int(digits[0]) if digits else 10**9, value)


def _compared(
    corpus: Corpus,
    facts: EditFacts,
    s: int,
    scored: Sequence[_Scored],
    columns: Mapping[str, Sequence[str]],
    tier: int,
    drawn: _Drawn,
    progress: Progress | None,
) -> Comparison:
    pairs = _pairs(facts, s, scored, columns)
    p_values = swap_p_values(
        pairs, len(corpus), trials=drawn.trials, rng=drawn.seed, progress=progress
    )
    others = {key: pair for key, pair in pairs.items() if key[0] != "metric"}
    signature = _signature(facts, drawn)
    found = paired_differences(
        others,
        lambda: resample_weights(corpus, drawn.resamples, drawn.seed),
        p_values,
        resamples=drawn.resamples,
        confidence=drawn.confidence,
        signature=signature,
    )
    pair = (facts.systems[0], facts.systems[s])
    judged = facts.judge(0, s)
    changes = edit_changes(judged[0], judged[1], facts.weigh) if judged else ()
    errors = Counter(kind_at(e.kind, tier) for one in judged[:1] for j in one for e in j.asked)
    by_label = {each.scores.label: (each.scores, 0, s) for each in scored}
    kinds = {key[1]: _turned(each) for key, each in found.items() if key[0] == "kind"}
    in_slices = {(key[1], key[2]): each for key, each in found.items() if key[0] == "slice"}
    rates = [
        each for key, several in found.items() if key[0] == "rate" for each in several.values()
    ]
    return Comparison(
        pair[0].system,
        pair[1].system,
        len(corpus),
        sum(a != b for a, b in zip(pair[0].sentences, pair[1].sentences, strict=True)),
        holm_adjusted(
            [_metric_difference(each, m, s, p_values, drawn) for m, each in enumerate(scored)]
        ),
        holm_adjusted([*_turned({each.label: each for each in rates}).values()]),
        changes,
        change_counts(changes),
        kinds_changed(kinds, changes, errors, tier),
        bands_of(judged[0], judged[1], changes, facts.weigh) if judged and facts.weigh else (),
        slices_changed(columns, in_slices, changes),
        sentences_changed(corpus, pair, judged, changes, by_label)
        if judged
        else sentences_apart(corpus, pair, by_label),
        signature,
        _tests(drawn, len(corpus)),
        facts.judged,
        drawn.confidence,
        corpus.skipped,
        tuple(dict.fromkeys((*facts.notes, *(n for each in scored for n in each.scores.notes)))),
    )


def _turned(figures: Mapping[str, Difference]) -> dict[str, Difference]:
    """Figures that know of which of them less is better, and which are shares."""
    return {
        name: replace(each, lower_is_better=name in LOWER_IS_BETTER, share=name not in PER_THOUSAND)
        for name, each in figures.items()
    }


def _metric_difference(
    scored: _Scored,
    m: int,
    s: int,
    p_values: Mapping[ComparedKey, Mapping[str, float]],
    drawn: _Drawn,
) -> Difference:
    scores = scored.scores
    resampled = scores.resampled
    found = difference_of(
        scores.label,
        scores.signature,
        float(scores.values[0]),
        float(scores.values[s]),
        [] if resampled is None else [(resampled[:, 0], resampled[:, s])],
        p_values["metric", str(m)][scored.metric.headline],
        confidence=drawn.confidence,
    )
    return replace(found, share=scored.metric.about.range == "from 0 to 1")


def _signature(facts: EditFacts, drawn: _Drawn) -> str:
    """What decided the edits and what was drawn."""
    shared = ("annotators:shared",) if facts.judged else ()
    resampled = (f"resamples:{drawn.resamples}",) if drawn.resamples else ()
    swapped = (f"trials:{drawn.trials}",) if drawn.trials else ()
    seed = (f"seed:{drawn.seed_name}",) if drawn.resamples or drawn.trials else ()
    parts = (repr(facts.metric), *facts.context, *shared, *resampled, *swapped, *seed)
    return " | ".join((*parts, f"errata:{__version__}"))


def _tests(drawn: _Drawn, sentences: int) -> str:
    """What decided the p-values, beside the scores; nothing where none was asked for."""
    if not drawn.trials:
        return ""
    facts = (f"sentences:{sentences}", f"trials:{drawn.trials}", f"seed:{drawn.seed_name}")
    return " | ".join(("approximate randomisation", *facts, f"errata:{__version__}"))
