"""From texts and a design to items: outputs grouped, sentences drawn, controls made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from errata.collect.design import COMPARING, Design, Purpose
from errata.collect.policies import balanced
from errata.collect.sampling import ItemCounts, choose_sentences, stratum_of, wmt_weight
from errata.collect.schedule import checks_among, drawn_for
from errata.edits import extract_all
from errata.errors import InputError
from errata.numbers import Floats, Ints, Progress
from errata.studies.damage import DAMAGE, Perturbation

__all__ = [
    "Built",
    "CampaignTexts",
    "DistinctOutput",
    "Example",
    "PlannedItem",
    "SampledSentence",
    "ShownOutput",
    "build_items",
    "different_outputs",
    "judges_of_overlap",
    "shown_edits",
    "squeezed",
]

# Damage that anybody sees in one sentence, whatever the output; the others may do nothing to it.
VISIBLE = ("delete words", "repeat a word", "shuffle", "truncate")
SPARE = 2  # controls made for each that a judge gets, so that no two judges need the same


class CampaignTexts(NamedTuple):
    """The texts of a campaign: sources, outputs by system, documents and references shown.

    ``writers`` are the judges who wrote an output, where that is known: by the number of its
    sentence and the text as `squeezed` gives it.
    """

    sources: tuple[str, ...]
    systems: dict[str, tuple[str, ...]]
    documents: tuple[str, ...] = ()
    references: tuple[str, ...] = ()  # shown beside the sources, where the campaign says so
    writers: Mapping[tuple[int, str], tuple[str, ...]] = {}


class DistinctOutput(NamedTuple):
    """An output of a sentence (from 0) with all the systems that wrote it, sorted.

    Of corrections ``writers`` are the judges who did, as far as is known.
    """

    sentence: int
    text: str
    systems: tuple[str, ...]
    writers: tuple[str, ...] = ()

    @property
    def kept_from(self) -> frozenset[str]:
        """Who is not asked to review it: its writers, and whoever is called like its systems."""
        return frozenset((*self.systems, *self.writers))


class ShownOutput(NamedTuple):
    """An output of an item, by its number in `Built.outputs`; of a control the text instead."""

    output: int
    replacement: str = ""


class SampledSentence(NamedTuple):
    """A sentence of the campaign and how probable it was to be in.

    The probability is among the sentences that are not kept for controls; those are drawn with
    equal probability from all that fit, and have 0.
    """

    number: int
    text: str
    document: str
    stratum: str
    probability: float
    reference: str = ""


@dataclass(frozen=True)
class PlannedItem:
    """A task to be given: what is shown, how many judges are wanted (None: all), what is expected.

    ``policy`` is how the outputs were chosen, or the instruction for writing. ``outputs`` may be
    empty where they are chosen when the item is given (``adaptive``), or where nothing is shown.
    ``expected`` of a control is ``{"worse": position, "better": position or None}``; what else it
    may be, of an organiser's own, says `errata.collect.lessons`.
    """

    sentence: int
    purpose: Purpose
    policy: str
    wanted: int | None
    outputs: tuple[ShownOutput, ...] = ()
    expected: dict[str, Any] | None = None


@dataclass(frozen=True)
class Example:
    """A tutorial or control of the organiser's own: source, outputs, and what is expected.

    ``instruction`` is how a text is to be corrected, of tutorials in writing.
    """

    source: str
    outputs: tuple[str, ...]
    expected: dict[str, Any]
    purpose: Purpose = "tutorial"
    instruction: str = ""
    reference: str = ""


@dataclass(frozen=True)
class Built:
    """All that a new campaign holds. ``alike`` sentences had no two different outputs."""

    sentences: tuple[SampledSentence, ...]
    outputs: tuple[DistinctOutput, ...]
    items: tuple[PlannedItem, ...]
    alike: int
    reserved: int

    @property
    def judgments(self) -> int:
        """How many main judgments are wanted."""
        return sum(i.wanted or 0 for i in self.items if i.purpose == "main")


def squeezed(text: str) -> str:
    """A text without extra blanks, by which outputs are told apart.

    >>> squeezed(" He  goes home .")
    'He goes home .'
    """
    return " ".join(text.split())


def different_outputs(material: CampaignTexts, sentence: int) -> tuple[DistinctOutput, ...]:
    """The different outputs of a sentence, with their systems; sorted by the first system.

    >>> material = CampaignTexts(("a",), {"B": ("x",), "A": ("x ",), "C": ("y",)})
    >>> [each.systems for each in different_outputs(material, 0)]
    [('A', 'B'), ('C',)]
    """
    found: dict[str, tuple[str, list[str]]] = {}
    for name in sorted(material.systems):
        text = material.systems[name][sentence]
        found.setdefault(squeezed(text), (text, []))[1].append(name)
    return tuple(
        DistinctOutput(sentence, text, tuple(who), material.writers.get((sentence, key), ()))
        for key, (text, who) in found.items()
    )


def build_items(
    design: Design,
    material: CampaignTexts,
    wanted: int | None = None,
    examples: Sequence[Example] = (),
    damages: Sequence[Perturbation] = DAMAGE,
    progress: Progress | None = None,
) -> Built:
    """Draw the sentences and make the items of a campaign, from the seed of the design.

    ``wanted`` is the number of main judgments (see `errata.collect.budget.judgments_wanted`); None
    gives every usable sentence its items.
    """
    rng = drawn_for(design.seed, "items")
    groups = [different_outputs(material, i) for i in range(len(material.sources))]
    usable = [i for i, several in enumerate(groups) if _usable(design, material, i, several)]
    if not usable:
        raise InputError(
            "no sentence has two different outputs"
            if design.kind in COMPARING
            else "no sentence has anything to judge",
            remedy="check that the outputs are of these sources, and not all the same",
        )
    kept, reserved = _reserve(design, groups, usable, wanted, rng)
    drawn = _drawn(design, material, groups, kept, wanted, rng)
    numbers = {i: k for k, i in enumerate(sorted({*kept, *reserved}))}
    base = np.cumsum([0, *(len(groups[i]) for i in numbers)]).tolist()
    outputs = tuple(output for i in numbers for output in groups[i])
    first = {i: base[k] for i, k in numbers.items()}
    probability = dict(zip(kept, drawn.probability.tolist(), strict=True))
    sentences = [
        SampledSentence(
            i,
            material.sources[i],
            material.documents[i] if material.documents else "",
            _stratum(material, groups, i),
            probability.get(i, 0.0),
            material.references[i] if material.references else "",
        )
        for i in range(len(groups))  # all of them: neighbours are shown as context
    ]
    main = _main_items(
        design, groups, kept, drawn.items, first, sorted(material.systems), rng, progress
    )
    controls = _controls(design, material, groups, reserved, first, damages, rng)
    own = _own(_by_attempt(design, examples), len(material.sources), len(outputs))
    return Built(
        (*sentences, *own[0]),
        (*outputs, *own[1]),
        (*own[2], *main, *controls),
        len(groups) - len(usable),
        len(reserved),
    )


def _usable(
    design: Design, material: CampaignTexts, i: int, several: tuple[DistinctOutput, ...]
) -> bool:
    if design.kind in COMPARING:
        return len(several) > 1
    if design.kind == "edits":
        return any(squeezed(o.text) != squeezed(material.sources[i]) for o in several)
    return True


def _stratum(material: CampaignTexts, groups: Sequence[Sequence[DistinctOutput]], i: int) -> str:
    return stratum_of(len(material.sources[i].split()), len(groups[i]))


def _reserve(
    design: Design,
    groups: Sequence[Sequence[DistinctOutput]],
    usable: list[int],
    wanted: int | None,
    rng: np.random.Generator,
) -> tuple[list[int], list[int]]:
    """Sentences to be judged, and others for controls: no judge sees a sentence twice."""
    fit = [i for i in usable if len(groups[i]) > 1 or design.kind == "score"]
    tasks = design.quota or -(-(wanted or len(usable)) // design.judges)
    many = SPARE * checks_among(tasks, design.control_share)
    many = min(many, len(fit) // 4 if len(usable) > 3 else 0)
    reserved = {fit[k] for k in rng.permutation(len(fit))[:many].tolist()}
    return [i for i in usable if i not in reserved], sorted(reserved)


def _drawn(
    design: Design,
    material: CampaignTexts,
    groups: Sequence[Sequence[DistinctOutput]],
    kept: list[int],
    wanted: int | None,
    rng: np.random.Generator,
) -> ItemCounts:
    each = 1 + design.overlap * (judges_of_overlap(design) - 1)
    if design.kind == "correct":  # an item for each instruction, judged by a judge for each slot
        each = float(len(design.instructions) * design.slots)
    most = np.full(len(kept), 1)
    if design.kind in COMPARING:  # other outputs of a sentence go to other judges
        most[:] = max(1, design.judges // judges_of_overlap(design))
        if design.other_outputs:
            most *= [max(1, len(groups[i]) // design.outputs) for i in kept]
    elif design.one_output:
        most = np.array([len(groups[i]) for i in kept])
    items = int(most.sum() if design.one_output else len(kept))
    if wanted is not None:
        items = max(1, int(wanted / each))
    if design.sample is not None:
        items = min(items, design.sample)
    return choose_sentences(
        design.sampling,
        np.array([wmt_weight([len(o.systems) for o in groups[i]], design.outputs) for i in kept])
        if design.sampling == "wmt"
        else np.ones(len(kept)),
        [_stratum(material, groups, i) for i in kept],
        items,
        rng,
        most=most,
        allotment=design.strata,
    )


def judges_of_overlap(design: Design) -> int:
    """How many judges an item of the overlap gets: never more than there are."""
    return max(1, min(design.judges_per_item, design.judges))


def _main_items(
    design: Design,
    groups: Sequence[Sequence[DistinctOutput]],
    kept: list[int],
    counts: Ints,
    first: dict[int, int],
    systems: list[str],
    rng: np.random.Generator,
    progress: Progress | None,
) -> list[PlannedItem]:
    places = [i for i, count in zip(kept, counts.tolist(), strict=True) for _ in range(count)]
    places = [places[k] for k in rng.permutation(len(places)).tolist()]
    if design.kind == "correct":
        return [
            PlannedItem(i, "main", instruction, design.slots)
            for i in places
            for instruction in design.instructions
        ]
    several = judges_of_overlap(design)
    shared = {*rng.permutation(len(places))[: round(design.overlap * len(places))].tolist()}
    number = {name: k for k, name in enumerate(systems)}
    met: Floats = np.zeros((len(systems), len(systems)))
    judged: Floats = np.zeros(sum(map(len, groups)) + 1)
    found = []
    for place, i in enumerate(places):
        if progress is not None:
            progress(place, len(places))
        wanted = several if place in shared else 1
        members = [[number[name] for name in output.systems] for output in groups[i]]
        if design.policy == "adaptive":
            chosen: tuple[int, ...] = ()
        else:
            chosen = _outputs(design, members, met, judged[first[i] :][: len(members)], rng)
        for k, a in enumerate(chosen):
            judged[first[i] + a] += wanted
            for b in chosen[k + 1 :]:
                met[np.ix_(members[a], members[b])] += wanted
                met[np.ix_(members[b], members[a])] += wanted
        shown = tuple(ShownOutput(first[i] + k) for k in chosen)
        found.append(PlannedItem(i, "main", design.policy, wanted, shown))
    return found


def _outputs(
    design: Design, members: list[list[int]], met: Floats, judged: Floats, rng: np.random.Generator
) -> tuple[int, ...]:
    """The outputs of an item: all for edits, one for single scores and reviews, else some."""
    size = len(members)
    if design.kind == "edits":
        return tuple(range(size))
    many = min(design.outputs, size)
    if design.one_output:
        many = 1
    if design.policy == "random":
        return tuple(rng.permutation(size)[:many].tolist())
    if design.kind in COMPARING:
        return balanced(members, many, met, rng)
    least = np.lexsort((rng.random(size), judged))  # what was judged least
    return tuple(least[:many].tolist())


def _controls(
    design: Design,
    material: CampaignTexts,
    groups: Sequence[Sequence[DistinctOutput]],
    reserved: list[int],
    first: dict[int, int],
    damages: Sequence[Perturbation],
    rng: np.random.Generator,
) -> list[PlannedItem]:
    """Ordinary items in which one output is replaced by a damaged copy of another shown one."""
    kinds = [each for each in damages if each.name in VISIBLE]
    found = []
    for i in (reserved[k] for k in rng.permutation(len(reserved)).tolist()):
        size = len(groups[i])
        alone = design.one_output
        many = size if design.kind == "edits" else 1 if alone else min(design.outputs, size)
        chosen = rng.permutation(size)[:many].tolist()
        better, worse = (0, 0) if alone else rng.permutation(many)[:2].tolist()
        good = groups[i][chosen[better]].text
        others = {squeezed(groups[i][k].text) for k in chosen} | {squeezed(material.sources[i])}
        spoilt = _spoilt(material.sources[i], good, others, kinds, rng)
        if spoilt is None:  # a sentence of one word: nothing visible can be done to it
            continue
        shown = tuple(
            ShownOutput(first[i] + k, spoilt if place == worse else "")
            for place, k in enumerate(chosen)
        )
        expected = {"worse": worse, "better": None if alone else better}
        found.append(PlannedItem(i, "control", design.policy, None, shown, expected))
    return found


def _spoilt(
    source: str,
    good: str,
    others: set[str],
    kinds: Sequence[Perturbation],
    rng: np.random.Generator,
) -> str | None:
    for k in rng.permutation(len(kinds)).tolist():
        text: str = kinds[k].damage([source], [good], rng)[0]
        if text.strip() and squeezed(text) not in others:
            return text
    return None


def _by_attempt(design: Design, examples: Sequence[Example]) -> list[Example]:
    """Controls, and the tutorial once for each attempt at it: a judge gets an item only once."""
    lessons = [each for each in examples if each.purpose == "tutorial"]
    return [
        *(
            replace(each, expected=each.expected | {"attempt": attempt})
            for attempt in range(1, design.tutorial_attempts + 1)
            for each in lessons
        ),
        *(each for each in examples if each.purpose != "tutorial"),
    ]


def _own(
    examples: Sequence[Example], numbers: int, outputs: int
) -> tuple[list[SampledSentence], list[DistinctOutput], list[PlannedItem]]:
    """The organiser's own tutorials and controls: sentences after the last of the texts."""
    sentences, items = list[SampledSentence](), list[PlannedItem]()
    shown: list[DistinctOutput] = []
    for k, example in enumerate(examples):
        number = numbers + k
        sentences.append(SampledSentence(number, example.source, "", "", 0.0, example.reference))
        texts = {squeezed(text) for text in example.outputs}
        if len(texts) < len(example.outputs):
            raise InputError(
                f"two outputs of the {example.purpose} {example.source[:40]!r} are the same",
                remedy="give different ones",
            )
        places = range(outputs + len(shown), outputs + len(shown) + len(example.outputs))
        shown += [DistinctOutput(number, text, ()) for text in example.outputs]
        items.append(
            PlannedItem(
                number,
                example.purpose,
                example.instruction or "own",
                None,
                tuple(map(ShownOutput, places)),
                example.expected,
            )
        )
    return sentences, shown, items


def shown_edits(source: str, outputs: Sequence[str]) -> list[tuple[int, int, str, tuple[int, ...]]]:
    """Each different edit of some outputs once: start, end, replacement, and whose it is.

    >>> shown_edits("He go home", ["He goes home", "He goes to home"])
    [(1, 2, 'goes', (0, 1)), (2, 2, 'to', (1,))]
    """
    found: dict[tuple[int, int, str], list[int]] = {}
    for k, edits in enumerate(extract_all([source] * len(outputs), outputs)):
        for edit in edits:
            found.setdefault((edit.start, edit.end, edit.replacement), []).append(k)
    return [(*key, tuple(whose)) for key, whose in sorted(found.items())]
