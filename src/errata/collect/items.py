"""Texts to items, sampled sentences, what a judge is shown."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from errata.collect.design import COMPARING, Allotment, Design, Purpose, Sampling
from errata.collect.schedule import balanced, checks_among, generator_for
from errata.core.errors import InputError
from errata.core.stats import Floats, Ints, Progress
from errata.edits import extract_all
from errata.stress import DAMAGE, Perturbation

# ---- Which sentences are judged, and with which probability each came in.

LENGTHS = (10, 20, 30)  # tokens: the borders between strata of length


class ItemCounts(NamedTuple):
    """How many items each sentence gets, and how probable it was to get one."""

    items: Ints
    probability: Floats


def coverage(groups: Sequence[int], outputs: int) -> float:
    """How many systems ``outputs`` distinct outputs cover on average; ``groups`` are their sizes.

    At most as many as there are: of D distinct outputs of S systems, m are drawn without
    replacement, and each covers S / D on average.

    >>> coverage([1, 1, 1, 5], 2), coverage([1, 1], 5)
    (4.0, 2.0)
    """
    return min(outputs, len(groups)) * sum(groups) / len(groups)


def wmt_weight(groups: Sequence[int], outputs: int) -> float:
    """The WMT's weight of a sentence, ``C(M, 2) / C(Cᵢ, 2)`` (Grundkiewicz et al. 2015).

    M outputs are shown, Cᵢ systems are expected to be covered by them: a sentence on which
    systems agree gives more comparisons an item, and is drawn less often.

    >>> wmt_weight([1] * 12, 5), round(wmt_weight([2] * 6, 5), 3)
    (1.0, 0.222)
    """
    systems = coverage(groups, outputs)
    return outputs * (outputs - 1) / (systems * (systems - 1))


def stratum_of(tokens: int, different: int) -> str:
    """The stratum of a sentence: its length and the number of its different outputs.

    >>> stratum_of(12, 3)
    '10-19 tokens, 3 outputs'
    """
    place = sum(tokens >= border for border in LENGTHS)
    low, high = (0, *LENGTHS)[place], (*LENGTHS, 0)[place]
    length = f"{low}-{high - 1}" if high else f"{low}+"
    return f"{length} tokens, {different} {'output' if different == 1 else 'outputs'}"


def choose_sentences(
    sampling: Sampling,
    weights: Floats,
    strata: Sequence[str],
    wanted: int,
    rng: np.random.Generator,
    *,
    most: int | Ints = 1,
    allotment: Allotment = "proportional",
) -> ItemCounts:
    """Choose sentences for ``wanted`` items, none for more than ``most`` of them.

    They are drawn systematically from a random order, so that the number of items of a sentence is
    its expectation rounded up or down, and the probability of inclusion is exact: the expectation,
    or 1 where that is more. ``all`` and ``uniform`` expect as many of each (in proportion to
    ``most`` where that differs), ``wmt`` in proportion to weights, ``strata`` as many of each
    sentence or (``equal``) of each stratum. Expectations above ``most`` are cut, and the rest
    shared out again.
    """
    many = len(weights)
    if not many:
        raise InputError("there is no sentence to choose from")
    caps = np.broadcast_to(np.asarray(most, np.float64), (many,))
    wanted = min(wanted, int(caps.sum()))
    if sampling == "strata":
        expected = _stratified(strata, wanted, caps, allotment)
    else:
        expected = _expected_numbers(weights if sampling == "wmt" else caps, wanted, caps)
    same = [""] * many
    items = _systematic(expected, strata if sampling == "strata" else same, rng)
    return ItemCounts(items, np.minimum(expected, 1.0))


def _expected_numbers(weights: Floats, wanted: float, most: Floats) -> Floats:
    """Expected numbers of items in proportion to weights, none above its ``most``."""
    expected = np.zeros(len(weights))
    free = np.ones(len(weights), bool)
    while free.any():
        left = max(0.0, wanted - float(most[~free].sum()))
        expected[free] = weights[free] * (left / weights[free].sum())
        over = free & (expected > most * (1 + 1e-12))
        if not over.any():
            break
        expected[over] = most[over]
        free &= ~over
    return np.minimum(expected, most)


def _stratified(strata: Sequence[str], wanted: int, most: Floats, allotment: Allotment) -> Floats:
    if allotment == "proportional":
        return _expected_numbers(most, wanted, most)
    members: dict[str, list[int]] = defaultdict(list)
    for i, name in enumerate(strata):
        members[name].append(i)
    room = np.array([most[places].sum() for places in members.values()])
    shares = _expected_numbers(
        np.ones(len(room)), wanted, room
    )  # what a small one cannot take, others do
    expected = np.zeros(len(strata))
    for share, places in zip(shares.tolist(), members.values(), strict=True):
        expected[places] = _expected_numbers(most[places], share, most[places])
    return expected


def _systematic(expected: Floats, strata: Sequence[str], rng: np.random.Generator) -> Ints:
    """Numbers with these expectations, each rounded up or down (Madow 1949).

    The order is random within strata, which so get their shares, rounded up or down, too.
    """
    number = np.unique(np.asarray(strata), return_inverse=True)[1]
    order = np.lexsort((rng.random(len(expected)), number))
    ends = np.cumsum(expected[order])
    if abs(ends[-1] - round(float(ends[-1]))) < 1e-6:  # rounding must not lose or add an item
        ends[-1] = round(float(ends[-1]))
    ticks = np.ceil(ends - float(rng.random())).astype(np.int64)
    items = np.zeros(len(expected), np.int64)
    items[order] = np.diff(np.maximum(ticks, 0), prepend=0)
    return items


# Damage that anybody sees in one sentence, whatever the output; the others may do nothing to it.
VISIBLE = ("delete words", "repeat a word", "shuffle", "truncate")
SPARE = 2  # controls made for each that a judge gets, so that no two judges need the same


class CampaignTexts(NamedTuple):
    """The texts of a campaign: sources, outputs by system, documents and references shown.

    ``writers`` are the judges who wrote an output, where that is known: by the number of its
    sentence and the text as `normalise_space` gives it.
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
        """Return who does not review it: its writers, and judges with the name of a system."""
        return frozenset((*self.systems, *self.writers))


class OutputOnItem(NamedTuple):
    """An output of an item by its number in `BuiltCampaign.outputs`; a control has its text."""

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
    may be, of an organiser's own, says `errata.collect.qualification`.
    """

    sentence: int
    purpose: Purpose
    policy: str
    wanted: int | None
    outputs: tuple[OutputOnItem, ...] = ()
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
class BuiltCampaign:
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


def normalise_space(text: str) -> str:
    """Return a text without extra blanks: outputs with the same such text are one.

    >>> normalise_space(" He  goes home .")
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
        found.setdefault(normalise_space(text), (text, []))[1].append(name)
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
) -> BuiltCampaign:
    """Draw the sentences and make the items of a campaign, from the seed of the design.

    ``wanted`` is the number of main judgments (see `errata.collect.budget.judgments_wanted`); None
    gives every usable sentence its items.
    """
    rng = generator_for(design.seed, "items")
    groups = [different_outputs(material, i) for i in range(len(material.sources))]
    usable = [i for i, several in enumerate(groups) if _is_usable(design, material, i, several)]
    if not usable:
        raise InputError(
            "no sentence has two different outputs"
            if design.kind in COMPARING
            else "no sentence has anything to judge",
            remedy="check that the outputs are of these sources, and not all the same",
        )
    kept, reserved = _reserve_for_controls(design, groups, usable, wanted, rng)
    drawn = _sample_sentences(design, material, groups, kept, wanted, rng)
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
    controls = _control_items(design, material, groups, reserved, first, damages, rng)
    own = _own_tutorials(_repeat_tutorial(design, examples), len(material.sources), len(outputs))
    return BuiltCampaign(
        (*sentences, *own[0]),
        (*outputs, *own[1]),
        (*own[2], *main, *controls),
        len(groups) - len(usable),
        len(reserved),
    )


def _is_usable(
    design: Design, material: CampaignTexts, i: int, several: tuple[DistinctOutput, ...]
) -> bool:
    if design.kind in COMPARING:
        return len(several) > 1
    if design.kind == "edits":
        return any(normalise_space(o.text) != normalise_space(material.sources[i]) for o in several)
    return True


def _stratum(material: CampaignTexts, groups: Sequence[Sequence[DistinctOutput]], i: int) -> str:
    return stratum_of(len(material.sources[i].split()), len(groups[i]))


def _reserve_for_controls(
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


def _sample_sentences(
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
            chosen = _outputs_of_item(design, members, met, judged[first[i] :][: len(members)], rng)
        for k, a in enumerate(chosen):
            judged[first[i] + a] += wanted
            for b in chosen[k + 1 :]:
                met[np.ix_(members[a], members[b])] += wanted
                met[np.ix_(members[b], members[a])] += wanted
        shown = tuple(OutputOnItem(first[i] + k) for k in chosen)
        found.append(PlannedItem(i, "main", design.policy, wanted, shown))
    return found


def _outputs_of_item(
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


def _control_items(
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
        others = {normalise_space(groups[i][k].text) for k in chosen} | {
            normalise_space(material.sources[i])
        }
        spoilt = _damaged_output(material.sources[i], good, others, kinds, rng)
        if spoilt is None:  # a sentence of one word: nothing visible can be done to it
            continue
        shown = tuple(
            OutputOnItem(first[i] + k, spoilt if place == worse else "")
            for place, k in enumerate(chosen)
        )
        expected = {"worse": worse, "better": None if alone else better}
        found.append(PlannedItem(i, "control", design.policy, None, shown, expected))
    return found


def _damaged_output(
    source: str,
    good: str,
    others: set[str],
    kinds: Sequence[Perturbation],
    rng: np.random.Generator,
) -> str | None:
    for k in rng.permutation(len(kinds)).tolist():
        text: str = kinds[k].damage([source], [good], rng)[0]
        if text.strip() and normalise_space(text) not in others:
            return text
    return None


def _repeat_tutorial(design: Design, examples: Sequence[Example]) -> list[Example]:
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


def _own_tutorials(
    examples: Sequence[Example], numbers: int, outputs: int
) -> tuple[list[SampledSentence], list[DistinctOutput], list[PlannedItem]]:
    """The organiser's own tutorials and controls: sentences after the last of the texts."""
    sentences, items = list[SampledSentence](), list[PlannedItem]()
    shown: list[DistinctOutput] = []
    for k, example in enumerate(examples):
        number = numbers + k
        sentences.append(SampledSentence(number, example.source, "", "", 0.0, example.reference))
        texts = {normalise_space(text) for text in example.outputs}
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
                tuple(map(OutputOnItem, places)),
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


# ---- What a judge is shown: texts in marked segments, outputs under letters, edits under
# numbers.

LETTERS = "ABCDEFGHI"
Segment = list[str]  # [kind, text]; the kinds are same, ins, del, old and new


class TaskView(NamedTuple):
    """What an assignment shows: outputs in the order shown, context and instruction."""

    source: str
    outputs: tuple[str, ...]
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    instruction: str = ""
    reference: str = ""


def letters_of(many: int) -> tuple[str, ...]:
    """The letters of outputs, in the order shown.

    >>> letters_of(3)
    ('A', 'B', 'C')
    """
    return tuple(LETTERS[:many]) if many <= len(LETTERS) else tuple(f"O{k}" for k in range(many))


def drawn_order(many: int, rng: np.random.Generator) -> tuple[int, ...]:
    """The order in which the outputs of an item are shown to one judge: a random one."""
    return tuple(rng.permutation(many).tolist())


def mark_segments(source: str, outputs: Sequence[str]) -> list[list[Segment]]:
    """Each output as segments: what is the same, inserted, deleted, and changed (old, then new).

    The text of an output is its ``same``, ``ins`` and ``new`` segments, joined by blanks.

    >>> mark_segments("He go to home .", ["He goes home ."])[0]
    [['same', 'He'], ['old', 'go'], ['new', 'goes'], ['del', 'to'], ['same', 'home .']]
    """
    tokens = source.split()
    found = []
    for edits in extract_all([source] * len(outputs), list(outputs)):
        segments: list[Segment] = []
        position = 0
        for edit in edits:
            if edit.start > position:
                segments.append(["same", " ".join(tokens[position : edit.start])])
            old, new = " ".join(tokens[edit.start : edit.end]), edit.replacement
            if old:
                segments.append(["old" if new else "del", old])
            if new:
                segments.append(["new" if old else "ins", new])
            position = edit.end
        if position < len(tokens):
            segments.append(["same", " ".join(tokens[position:])])
        found.append(segments)
    return found


def task_of(design: Design, shown: TaskView) -> dict[str, Any]:
    """The part of a task that depends on its texts, as the API sends it."""
    task: dict[str, Any] = {
        "kind": design.kind,
        "source": shown.source,
        "before": list(shown.before),
        "after": list(shown.after),
    }
    if design.show_reference:
        task["reference"] = mark_segments(shown.source, [shown.reference])[0]
    if design.kind == "correct":
        return task | {"instruction": shown.instruction, "outputs": []}
    if design.kind == "edits":
        tokens = shown.source.split()
        edits = shown_edits(shown.source, shown.outputs)
        return task | {
            "outputs": [],
            "edits": [
                {
                    "key": str(number),
                    "start": start,
                    "end": end,
                    "old": " ".join(tokens[start:end]),
                    "new": replacement,
                }
                for number, (start, end, replacement, _) in enumerate(edits, 1)
            ],
        }
    keys = letters_of(len(shown.outputs))
    segments = mark_segments(shown.source, shown.outputs)
    return task | {
        "outputs": [
            {"key": key, "segments": each} for key, each in zip(keys, segments, strict=True)
        ]
    }
