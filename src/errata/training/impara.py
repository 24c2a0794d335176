"""IMPARA's pairs and regressor.

The loss is the mean of ``σ(R(worse) - R(better))`` over pairs of `errata.training.impara`. The
paper starts from bert-base-cased and trains 10 epochs with AdamW at 1e-5 on 4,096 pairs of
CoNLL-2013.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from errata.core.errors import InputError
from errata.core.stats import Estimate, Floats, Ints, Progress, plural
from errata.data import Corpus, Edit, apply_edits
from errata.edits import with_edits
from errata.metrics.impara import cosines
from errata.models.cards import (
    GateThreshold,
    Head,
    ModelCard,
    PartSize,
    TrainedOn,
    TrainingFolder,
    part_digest,
)
from errata.models.checkpoint import INSTALL
from errata.models.encoder import open_encoder
from errata.models.language import Options, load_extra
from errata.training.fine_tune import (
    PARTS,
    Part,
    Recipe,
    TrainableEncoder,
    fit,
    held_out_accuracy,
    identify_data,
    negative_length,
    open_trainable,
    part_of,
    part_sizes,
    predictions,
    reproducible,
    split_rows,
)

# ---- Pairs of a better and a worse text, made from corrections (IMPARA, Maeda et al. 2022).

Embedding = Callable[[Sequence[str]], Floats]
TRIES = 10
# Cosines of the same tokens in another batch differ by this much: nearer ones weigh the same,
# as do edits that the encoder cannot see (of case, where it is uncased).
NOISE = 1e-6


@dataclass(frozen=True, slots=True)
class CorrectedSource:
    """A source and one annotator's edits; each of them changes something."""

    source: str
    edits: tuple[Edit, ...]

    def text(self, chosen: Sequence[bool]) -> str:
        """The source with some of the edits carried out."""
        kept = (edit for edit, own in zip(self.edits, chosen, strict=True) if own)
        return " ".join(apply_edits(self.source.split(), kept))


@dataclass(frozen=True, slots=True)
class ImpactPair:
    """Two texts of one source, and by how much the better one weighs more."""

    source: str
    better: str
    worse: str
    weight: float


def corrected_sources(
    corpus: Corpus, extractor: str = "aligned"
) -> tuple[list[CorrectedSource], int]:
    """Every source with the edits of each annotator who corrected it, and how many had to go.

    Where edits of one annotator overlap (as some of CoNLL-2013 do), no subset of them makes a
    text: such a correction is left out, and counted.
    """
    gold = with_edits(corpus, "as_is", extractor)
    found, overlapping = [], 0
    for source, references in zip(gold.sources, gold.references, strict=True):
        tokens = source.split()
        for reference in references:
            edits = tuple(
                edit
                for edit in dict.fromkeys(reference.edits or ())
                if tokens[edit.start : edit.end] != edit.replacement.split()
            )
            if not edits:
                continue
            try:
                apply_edits(tokens, edits)
            except InputError:
                overlapping += 1
                continue
            found.append(CorrectedSource(source, edits))
    if not found:
        raise InputError("no sentence was corrected", remedy="give gold edits, or corrected texts")
    return found, overlapping


def impact_texts(each: CorrectedSource) -> list[str]:
    """The corrected text, and after it the same without the first, second... edit."""
    n = len(each.edits)
    return [each.text([True] * n), *(each.text([k != left for k in range(n)]) for left in range(n))]


def impacts(vectors: Floats) -> Floats:
    """What each edit does: ``1 - cos`` of the first vector and of those after it.

    >>> impacts(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])).tolist()
    [0.0, 1.0]
    """
    return 1 - cosines(vectors[1:], np.broadcast_to(vectors[0], vectors[1:].shape))


def draw_pairs(
    sources: Sequence[CorrectedSource], embed: Embedding, rng: np.random.Generator
) -> list[ImpactPair]:
    """Pairs of every source, in the order of the sources; ``embed`` gives the vectors of texts."""
    texts = list(dict.fromkeys(text for each in sources for text in impact_texts(each)))
    place = {text: k for k, text in enumerate(texts)}
    vectors = embed(texts)
    found: list[ImpactPair] = []
    for each in sources:
        weights = impacts(vectors[[place[text] for text in impact_texts(each)]])
        found += _pairs_of_source(each, weights, rng)
    return found


def _pairs_of_source(
    each: CorrectedSource, weights: Floats, rng: np.random.Generator
) -> list[ImpactPair]:
    n = len(each.edits)
    seen: dict[tuple[str, str], ImpactPair] = {}
    for _ in range(min(TRIES, max(1, n * (n - 1) // 2))):
        one = np.zeros(n, bool)
        one[rng.permutation(n)[: int(rng.integers(0, n + 1))]] = True
        other = one ^ (rng.random(n) < 1 / n)
        margin = float(weights[one].sum() - weights[other].sum())
        if abs(margin) < NOISE:
            continue
        better, worse = (one, other) if margin > 0 else (other, one)
        pair = ImpactPair(
            each.source, each.text(better.tolist()), each.text(worse.tolist()), abs(margin)
        )
        if pair.better != pair.worse:
            seen.setdefault((pair.better, pair.worse), pair)
    return list(seen.values())


HEAD = "impara"
PAIRS = 4096  # learnt from, as in the paper
FEWEST = 2  # pairs of a part
KEPT = 0.99  # of corrections, by the threshold that a card names


@dataclass(frozen=True)
class ImparaPlan:
    """What would be trained on what."""

    sources: tuple[CorrectedSource, ...]
    recipe: Recipe
    data: TrainedOn
    limit: int = PAIRS

    @property
    def sizes(self) -> dict[str, PartSize]:
        """Corrections and sources of each part; pairs are drawn when the training begins."""
        texts = [each.source for each in self.sources]
        return part_sizes(texts, split_rows(texts, self.recipe.fold))

    def card(
        self, encoder: str, head: Head, pairs: dict[Part, list[ImpactPair]], gate: GateThreshold
    ) -> ModelCard:
        """The card of what was trained."""
        sizes: dict[str, PartSize] = {
            part: PartSize(len(found), len({pair.source for pair in found}))
            for part, found in pairs.items()
        }
        settings = self.recipe.settings | {"pairs": self.limit}
        return ModelCard("impara", encoder, self.data, sizes, {HEAD: head}, settings, gate)


def plan_impara(
    corpus: Corpus,
    recipe: Recipe,
    *,
    name: str,
    sha256: str | None = None,
    rows: int | None = None,
    extractor: str = "aligned",
) -> ImparaPlan:
    """Return the plan of a training on a corpus with gold edits or corrected texts.

    ``rows`` are the pairs to learn from at most (4,096). Refused where a part has no correction.
    """
    listed, overlapping = corrected_sources(corpus, extractor)
    found = tuple(listed)
    for part in PARTS:
        count = sum(part_of(each.source, recipe.fold) == part for each in found)
        if count < FEWEST:
            raise InputError(
                f"{count} corrected sentences for {part}, of {len(found)} in all",
                path=name,
                remedy="give more corrected sentences, some hundreds at least",
            )
    digest = sha256 or _digest_of_sources(found)
    notes = (
        (
            f"{overlapping} {plural('correction', overlapping)} left out: edits of one annotator "
            "overlap",
        )
        if overlapping
        else ()
    )
    data = identify_data(name, digest, len(found), len({each.source for each in found}), notes)
    return ImparaPlan(found, recipe, data, PAIRS if rows is None else rows)


def _digest_of_sources(sources: tuple[CorrectedSource, ...]) -> str:
    texts = (repr((each.source, each.edits)) for each in sources)
    return hashlib.sha256("\n".join(texts).encode("utf-8", "surrogatepass")).hexdigest()


def train_impara(
    plan: ImparaPlan, folder: TrainingFolder, progress: Progress | None = None
) -> ModelCard:
    """Train the regressor, put it into the folder with its card, and return that."""
    recipe = plan.recipe
    network = open_trainable(
        recipe.encoder, seed=recipe.seed, max_length=recipe.max_length, device=recipe.device
    )
    key = part_digest(
        data=plan.data.sha256, pairs=plan.limit, encoder=network.revision, settings=recipe.settings
    )
    with reproducible(recipe.seed, recipe.workers):
        embed = _embedding(recipe)
        pairs, gate = _sample_pairs(plan, embed), _gate_before_training(plan, embed)
        head = folder.finished("", key)
        if head is None:
            work = folder.start("")
            head = _train_pairs(network, pairs, recipe, progress)
            network.save(work)
            folder.finish("", key, head)
    card = plan.card(network.revision, head, pairs, gate)
    folder.put_card(card)
    return card


def gate_threshold(alike: Floats, kept: float = KEPT) -> GateThreshold:
    """The highest threshold of two decimals that at least so many cosines lie above.

    >>> gate_threshold(np.array([0.5, 0.75, 0.8, 0.9]), 0.75)
    GateThreshold(threshold=0.74, kept=0.75, rows=4)
    """
    below = math.floor((1 - kept) * len(alike) + 1e-9)
    threshold = (math.ceil(float(np.sort(alike)[below]) * 100 - 1e-9) - 1) / 100
    return GateThreshold(threshold, float((alike > threshold).mean()), len(alike))


def _gate_before_training(plan: ImparaPlan, embed: Embedding) -> GateThreshold:
    """Of the encoder as it was: the gate of the metric does not use what was trained."""
    chosen = [
        each for each in plan.sources if part_of(each.source, plan.recipe.fold) == "validation"
    ]
    corrected = [each.text([True] * len(each.edits)) for each in chosen]
    return gate_threshold(cosines(embed([each.source for each in chosen]), embed(corrected)))


def _embedding(recipe: Recipe) -> Embedding:
    encoder = open_encoder(
        recipe.encoder,
        Options(device=recipe.device, batch_size=recipe.batch_size),
        max_length=recipe.max_length,
    )
    return lambda texts: encoder.rows(texts)[:, :-1]


def _sample_pairs(plan: ImparaPlan, embed: Embedding) -> dict[Part, list[ImpactPair]]:
    recipe = plan.recipe
    rng = np.random.default_rng(recipe.seed)
    found = draw_pairs(plan.sources, embed, rng)
    pairs: dict[Part, list[ImpactPair]] = {part: [] for part in PARTS}
    for pair in found:
        pairs[part_of(pair.source, recipe.fold)].append(pair)
    for part, drawn in pairs.items():
        if len(drawn) < FEWEST:
            raise InputError(
                f"{len(drawn)} pairs could be made for {part}",
                remedy="give more corrected sentences, some hundreds at least",
            )
    if len(pairs["train"]) > plan.limit:
        chosen = np.sort(rng.permutation(len(pairs["train"]))[: plan.limit])
        pairs["train"] = [pairs["train"][k] for k in chosen.tolist()]
    return pairs


def _train_pairs(
    network: TrainableEncoder,
    pairs: dict[Part, list[ImpactPair]],
    recipe: Recipe,
    progress: Progress | None,
) -> Head:
    torch = load_extra("torch", "training", INSTALL)
    learnt = pairs["train"]
    lengths = np.maximum(
        network.lengths([(pair.better,) for pair in learnt]),
        network.lengths([(pair.worse,) for pair in learnt]),
    )

    def loss(rows: Ints) -> object:
        chosen = [learnt[k] for k in rows.tolist()]
        said = network.outputs([(p.better,) for p in chosen] + [(p.worse,) for p in chosen])[:, 0]
        better, worse = said[: len(chosen)], said[len(chosen) :]
        return torch.sigmoid(worse - better).mean()

    def margins(part: Part) -> Floats:
        better, worse = (
            predictions(network, [(text,) for text in texts], recipe.batch_size)[:, 0]
            for texts in _better_and_worse(pairs[part])
        )
        return better - worse

    def judge() -> tuple[float]:
        # The accuracy has few values; where it ties, the loss decides.
        apart = margins("validation")
        right = float((np.sign(apart) + 1).mean() / 2)
        return (right - 1e-6 * float((1 / (1 + np.exp(np.clip(apart, -50, 50)))).mean()),)

    (fitted,) = fit(network, lengths, loss, judge, recipe, progress)
    network.load(fitted.weights)
    read = [text for found in pairs.values() for side in _better_and_worse(found) for text in side]
    return Head(
        "accuracy",
        len(pairs["test"]),
        _held_out_estimate(margins("test"), pairs["test"]),
        _held_out_estimate(_length_margins(pairs["test"]), pairs["test"]),
        None,
        fitted.validation,
        fitted.step,
        fitted.steps,
        network.count_too_long([(text,) for text in dict.fromkeys(read)]),
    )


def _better_and_worse(pairs: list[ImpactPair]) -> tuple[list[str], list[str]]:
    return [pair.better for pair in pairs], [pair.worse for pair in pairs]


def _length_margins(pairs: list[ImpactPair]) -> Floats:
    better, worse = map(negative_length, _better_and_worse(pairs))
    return better - worse


def _held_out_estimate(margins: Floats, pairs: list[ImpactPair]) -> Estimate:
    return held_out_accuracy(margins, [pair.source for pair in pairs])
