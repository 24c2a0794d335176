"""Several reference sets for the same sentences: which of them, with which metric, is right?

Sakaguchi et al. (2016) score the same systems against the references of experts and of a crowd, of
minimal and of fluent corrections, and ask which pairing of metric and set ranks the systems as
people do (their Table 6 and Figures 2 to 5).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from errata.core.errors import InputError
from errata.core.parameters import suggest_name
from errata.core.signatures import DATA_FACTS
from errata.core.stats import Progress, Seed, seed_name
from errata.data import Corpus, Hypotheses, Reference, Scores
from errata.io.corpus import CorpusFiles, read_reference_set
from errata.meta.matching import MatchedScores, joint_signature, match
from errata.meta.system_level import Over, SystemAgreement, system_agreements
from errata.metrics.base import Metric
from errata.metrics.ngrams import corrections_by_sentence
from errata.metrics.ter import operation_counts
from errata.references.study import CurvePoint, ReferenceSet, reference_curve
from errata.scoring.evaluate import evaluate
from errata.scoring.results import corpus_facts


@dataclass(frozen=True)
class NamedSet:
    """A reference set: the sentences of a corpus with references of its own, by annotator."""

    name: str
    corpus: Corpus

    @property
    def references(self) -> int:
        return len(self.corpus.annotators)

    def without_sentences(self, *sentences: int) -> NamedSet:
        """The same set without some sentences, counted from 0."""
        return NamedSet(self.name, self.corpus.without_sentences(*sentences))


def annotator_set(name: str, corpus: Corpus, annotators: Sequence[int]) -> NamedSet:
    """Return some annotators of a corpus as a set, renumbered in this order.

    >>> corpus = Corpus.from_texts(["a b"], [["a"], ["b"], ["c"]])
    >>> made = annotator_set("two", corpus, [2, 0]).corpus
    >>> [(r.annotator, r.text) for r in made.references[0]]
    [(0, 'c'), (1, 'a')]
    """
    place = {annotator: k for k, annotator in enumerate(annotators)}
    for annotator in annotators:
        if annotator not in corpus.annotators:
            problem = f"{corpus.name} has no annotator {annotator}, named in the set {name!r}"
            remedy = f"it has: {', '.join(map(str, corpus.annotators)) or 'none'}"
            raise InputError(problem, remedy=remedy)

    def renumber(references: tuple[Reference, ...]) -> tuple[Reference, ...]:
        if any(r.implied for r in references):  # nobody found anything to correct
            return (Reference(0, (), implied=True),)
        return tuple(
            replace(r, annotator=place[r.annotator]) for r in references if r.annotator in place
        )

    kept = replace(corpus, references=tuple(map(renumber, corpus.references)), name=name, kept=())
    return NamedSet(name, kept)


def merge_sets(name: str, sets: Sequence[NamedSet]) -> NamedSet:
    """Return the references of several sets as one, in this order: GLEU draws them by position.

    >>> one = NamedSet("one", Corpus.from_texts(["a b"], [["a"]]))
    >>> merge_sets("both", [one, one]).references
    2
    """
    corpora = [each.corpus for each in sets]
    starts = np.cumsum([0, *(max(corpus.annotators, default=-1) + 1 for corpus in corpora)])
    joined = tuple(
        tuple(
            replace(reference, annotator=int(start) + reference.annotator)
            for start, references in zip(starts[:-1], row, strict=True)
            for reference in references
        )
        for row in zip(*(corpus.references for corpus in corpora), strict=True)
    )
    return NamedSet(name, replace(corpora[0], references=joined, name=name, kept=()))


def on_common_sentences(
    sets: Sequence[NamedSet], systems: Sequence[Hypotheses]
) -> tuple[list[NamedSet], list[Hypotheses]]:
    """Return sets and outputs on the sentences that all sets correct."""
    n = len(sets[0].corpus)
    bare = [i for i in range(n) if not all(each.corpus.references[i] for each in sets)]
    if len(bare) == n:
        remedy = "leave out a set, or join it with another (--set both=A+B)"
        raise InputError("there is no sentence that every reference set corrects", remedy=remedy)
    return (
        [each.without_sentences(*bare) for each in sets],
        [system.without_sentences(*bare) for system in systems],
    )


def edit_kinds_by_set(
    sets: Sequence[NamedSet],
    *,
    lowercase: bool = True,
    threads: int | None = None,
    progress: Progress | None = None,
) -> list[ReferenceSet]:
    """Return the kinds of edit by reference set (Sakaguchi et al. 2016, Figure 2), by TER."""
    texts = [
        [
            (" ".join(source.split()), " ".join(corrected.split()))
            for source, several in zip(
                each.corpus.sources, corrections_by_sentence(each.corpus), strict=True
            )
            for corrected in several
        ]
        for each in sets
    ]
    flat = [pair for pairs in texts for pair in pairs]
    counts = operation_counts(flat, lowercase=lowercase, threads=threads, progress=progress)
    ends = np.cumsum([len(pairs) for pairs in texts])
    found = []
    for each, pairs, some in zip(sets, texts, np.split(counts, ends[:-1]), strict=True):
        n = len(pairs)
        sums = some.sum(axis=0)
        changed = sum(source != text for source, text in pairs) / n
        rates = (float(sums.sum() / n), *(sums / n).tolist())
        found.append(ReferenceSet(each.name, each.references, len(each.corpus), changed, *rates))
    return found


@dataclass(frozen=True, eq=False)
class SetScores:
    """The same systems scored by one metric against every set: ``scores[k]`` with set k."""

    metric: Metric
    sets: tuple[NamedSet, ...]
    scores: tuple[Scores, ...]

    @property
    def signature(self) -> str:
        """Return everything that decided the numbers; what the sets share is named once."""
        facts = [f"{s.name}: {' | '.join(corpus_facts(s.corpus))}" for s in self.sets]
        other = [
            fact
            for fact in self.scores[0].context
            if all(fact in scores.context for scores in self.scores)
            and fact.partition(":")[0] not in ("tokens", *DATA_FACTS)
        ]
        return " | ".join((repr(self.metric), *other)) + "; " + "; ".join(facts)


def score_sets(
    metric: Metric,
    sets: Sequence[NamedSet],
    systems: Sequence[Hypotheses],
    *,
    progress: Progress | None = None,
    **drawing: Any,
) -> SetScores:
    """Score the same systems with one metric against each of the sets."""
    scores = []
    for done, each in enumerate(sets):
        if progress is not None:
            progress(done, len(sets))
        scores.append(evaluate(metric, each.corpus, systems, guard=False, **drawing))
    return SetScores(metric, tuple(sets), tuple(scores))


@dataclass(frozen=True, eq=False)
class SetAgreements:
    """How the rankings by each set and metric agree with people's: ``agreements[m][k]``."""

    paired: MatchedScores
    scored: tuple[SetScores, ...]
    agreements: tuple[tuple[SystemAgreement, ...], ...]
    confidence: float
    signature: str

    @property
    def notes(self) -> tuple[str, ...]:
        """Return the notes on people's scores."""
        return (*self.paired.notes, *self.paired.people.notes)


def correlate_sets(
    people: Scores,
    scored: Sequence[SetScores],
    *,
    over: Over = "systems",
    resamples: int = 1000,
    confidence: float = 0.95,
    rng: Seed = 0,
    common: bool = False,
    hide: Sequence[str] = (),
) -> SetAgreements:
    """Correlate human scores with the scores of every metric and set (Sakaguchi et al., Table 6).

    Options as in `errata.meta.system_level.system_level` and `errata.meta.matching.match`; in every
    resample all sets and metrics see the same systems or sentences.
    """
    apart = [
        replace(scores, context=(*scores.context, f"set:{each.name}"))
        for found in scored
        for each, scores in zip(found.sets, found.scores, strict=True)
    ]
    paired = match(people, apart, common=common, hide=hide)
    flat = system_agreements(paired, over, resamples, confidence, rng)
    width = len(scored[0].sets)
    drawn = (f"over:{over}", f"resamples:{resamples}", f"seed:{seed_name(rng)}")
    own = ("level:system", f"systems:{len(paired)}", *(f"hide:{name}" for name in paired.hidden))
    people_said = joint_signature((*own, *(drawn if resamples else ())), people.signature, ())
    return SetAgreements(
        paired,
        tuple(scored),
        tuple(flat[k : k + width] for k in range(0, len(flat), width)),
        confidence,
        "; ".join((people_said, *(f"metric: {found.signature}" for found in scored))),
    )


@dataclass(frozen=True)
class SetCurve:
    """Scores against the number of references of one set."""

    name: str
    points: tuple[CurvePoint, ...]


def set_curve(
    chosen: NamedSet,
    metric: Metric,
    systems: Sequence[Hypotheses],
    *,
    rng: int = 0,
    progress: Progress | None = None,
) -> SetCurve:
    """Scores against 1, 2, ... references of a set (Sakaguchi et al. 2016, Figure 5)."""
    points = reference_curve(chosen.corpus, metric, systems, rng=rng, progress=progress)
    return SetCurve(chosen.name, points)


# ---- Sets that a user names: made of files, annotators, public data or other sets.

ANNOTATORS, PUBLIC = "annotator:", "data:"
RESERVED = ("people", "system", "set")  # headings of the tables that show sets
SetSource = Literal["files", "annotators", "data", "sets"]


class SetRequest(NamedTuple):
    """A set as it was asked for: its name, and the files, annotators or sets it is made of."""

    name: str
    source: SetSource
    parts: tuple[str, ...]


def parse_sets(texts: Sequence[str]) -> tuple[SetRequest, ...]:
    """Read texts such as ``NAME=FILE,FILE``; a set may be made of those before it.

    >>> parse_sets(["experts=annotator:0,1"])[0].parts
    ('0', '1')
    """
    requests: dict[str, SetRequest] = {}
    for text in texts:
        name, equals, rest = text.partition("=")
        name = name.strip()
        if not (equals and name and rest) or {*name} & {*"+,:"}:
            raise InputError(
                f"--set {text[:100]!r} does not name a reference set",
                remedy="write NAME=FILE,FILE, NAME=annotator:0,1 or NAME=SET+SET, and no + , : in "
                "the name",
            )
        if name in requests or name.lower() in RESERVED:
            raise InputError(
                f"two reference sets are called {name!r}"
                if name in requests
                else f"a reference set cannot be called {name!r}",
                remedy="give each a name of its own",
            )
        requests[name] = _parse_set(name, rest, tuple(requests))
        _reject_duplicates(requests[name], requests)
    return tuple(requests.values())


def _parse_set(name: str, rest: str, known: Sequence[str]) -> SetRequest:
    if rest.startswith(ANNOTATORS):
        return SetRequest(name, "annotators", tuple(rest.removeprefix(ANNOTATORS).split(",")))
    if rest.startswith(PUBLIC):
        return SetRequest(name, "data", (rest.removeprefix(PUBLIC),))
    joined = tuple(rest.split("+"))
    if len(joined) > 1 and os.sep not in rest and not os.path.exists(rest):
        for part in joined:
            if part not in known:
                raise InputError(
                    f"the set {name!r} is to hold {part!r}, and no --set before it has this name",
                    remedy=f"{suggest_name(part, known)}"
                    f"before it are: {', '.join(known) or 'none'}; a file with + in its name is "
                    "written with its folder (./a+b)",
                )
        if len({*joined}) < len(joined):
            raise InputError(f"the set {name!r} holds a set twice", remedy="name each once")
        return SetRequest(name, "sets", joined)
    paths = tuple(rest.split(","))
    if not all(paths):
        raise InputError(f"the set {name!r} names an empty file", remedy="write NAME=FILE,FILE")
    return SetRequest(name, "files", paths)


def _reject_duplicates(request: SetRequest, known: Mapping[str, SetRequest]) -> None:
    """Refuse a set with the same references twice, which would weigh more than the others."""
    owner: dict[str, str] = {}
    for holder, part in _list_parts(request, known):
        rivals = [one for one in owner if _parts_overlap(one, part)]
        if rivals and request.source != "annotators":  # `_annotator_numbers` checks those
            shown = rivals[0] if part == f"{ANNOTATORS}all" else part
            where = f": in {owner[rivals[0]]} and {holder}" if request.source == "sets" else ""
            problem = f"the set {request.name!r} holds {shown!r} twice{where}"
            remedy = "a set holds each reference once: leave one of them out"
            raise InputError(problem, remedy=remedy)
        owner[part] = holder


def _parts_overlap(one: str, other: str) -> bool:
    """Return whether two parts of a set share references."""
    if one.startswith(ANNOTATORS) and other.startswith(ANNOTATORS):
        return one == other or f"{ANNOTATORS}all" in (one, other)
    if any(part.startswith((ANNOTATORS, PUBLIC)) for part in (one, other)):
        return one == other
    return os.path.realpath(one) == os.path.realpath(other)


def _list_parts(request: SetRequest, known: Mapping[str, SetRequest]) -> Iterator[tuple[str, str]]:
    """Yield every file, annotator and collection of a set, with the set that names it."""
    for part in request.parts:
        if request.source == "sets":
            yield from ((part, thing) for _, thing in _list_parts(known[part], known))
        else:
            mark = {"annotators": ANNOTATORS, "data": PUBLIC}.get(request.source, "")
            yield request.name, mark + part


def read_sets(
    requests: Sequence[SetRequest],
    corpus: Corpus,
    how: CorpusFiles,
    *,
    progress: Progress | None = None,
) -> list[NamedSet]:
    """Return the sets that were asked for, on the sentences of a corpus, read as ``how`` says."""
    sets: dict[str, NamedSet] = {}
    for name, source, parts in requests:
        if source == "sets":
            sets[name] = merge_sets(name, [sets[part] for part in parts])
        elif source == "annotators":
            sets[name] = annotator_set(name, corpus, _annotator_numbers(name, parts, corpus))
        else:
            files = _collection_references(parts[0], progress) if source == "data" else parts
            references = read_reference_set(replace(how, references=files, name=name), corpus)
            sets[name] = NamedSet(name, references)
    return list(sets.values())


def _collection_references(name: str, progress: Progress | None) -> tuple[str, ...]:
    from errata.datasets.fetch import collection, role_files

    chosen = collection(name)
    for role in ("references", "gold"):
        if role in chosen.roles:
            return role_files(chosen, role, progress)
    remedy = f"they have {', '.join(chosen.roles)}"
    raise InputError(f"the data {name} have no references", remedy=remedy)


def _annotator_numbers(name: str, parts: Sequence[str], corpus: Corpus) -> list[int]:
    if not corpus.annotators:
        remedy = "give their corrections with --gold or --refs"
        raise InputError(f"the set {name!r} names annotators, and there are none", remedy=remedy)
    if tuple(parts) == ("all",):
        return list(corpus.annotators)
    if not all(part.isascii() and part.isdecimal() and len(part) < 10 for part in parts):
        problem = f"the set {name!r} names annotators by {','.join(parts)[:60]!r}"
        raise InputError(problem, remedy="write annotator:0,1 with their numbers, or annotator:all")
    numbers = [int(part) for part in parts]
    if len({*numbers}) < len(numbers):
        raise InputError(f"the set {name!r} names an annotator twice", remedy="name each once")
    return numbers
