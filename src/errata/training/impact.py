"""IMPARA's regressor: which of two corrections of a source does more (Maeda et al. 2022).

The loss is the mean of ``σ(R(worse) - R(better))`` over pairs of `errata.training.pairs`. The paper
starts from bert-base-cased and trains 10 epochs with AdamW at 1e-5 on 4,096 pairs of CoNLL-2013.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass

import numpy as np

from errata.data import Corpus
from errata.errors import InputError
from errata.io.model_cards import GateThreshold, Head, ModelCard, PartSize, TrainedOn
from errata.io.model_folders import ModelFolder, key_of
from errata.metrics.learned.impara import cosines
from errata.models.checkpoint import INSTALL
from errata.models.encoder import open_encoder
from errata.models.language import Options, load_extra
from errata.models.trainable import Trainable, open_trainable, reproducible
from errata.numbers import Estimate, Floats, Ints, Progress, plural
from errata.training.fine_tune import fit, predictions
from errata.training.held_out import held_out_accuracy, minus_length
from errata.training.pairs import (
    CorrectedSource,
    Embedding,
    ImpactPair,
    corrected_sources,
    draw_pairs,
)
from errata.training.provenance import known_data
from errata.training.recipe import Recipe
from errata.training.split import PARTS, Part, part_of, part_sizes, split_rows

__all__ = ["PAIRS", "ImparaPlan", "gate_threshold", "plan_impara", "train_impara"]

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
    """Say what is to be trained on a corpus with gold edits, or with corrected texts.

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
    digest = sha256 or _digest(found)
    notes = (
        (
            f"{overlapping} {plural('correction', overlapping)} left out: edits of one annotator "
            "overlap",
        )
        if overlapping
        else ()
    )
    data = known_data(name, digest, len(found), len({each.source for each in found}), notes)
    return ImparaPlan(found, recipe, data, PAIRS if rows is None else rows)


def _digest(sources: tuple[CorrectedSource, ...]) -> str:
    texts = (repr((each.source, each.edits)) for each in sources)
    return hashlib.sha256("\n".join(texts).encode("utf-8", "surrogatepass")).hexdigest()


def train_impara(
    plan: ImparaPlan, folder: ModelFolder, progress: Progress | None = None
) -> ModelCard:
    """Train the regressor, put it into the folder with its card, and return that."""
    recipe = plan.recipe
    network = open_trainable(
        recipe.encoder, seed=recipe.seed, max_length=recipe.max_length, device=recipe.device
    )
    key = key_of(
        data=plan.data.sha256, pairs=plan.limit, encoder=network.revision, settings=recipe.settings
    )
    with reproducible(recipe.seed, recipe.workers):
        embed = _embedding(recipe)
        pairs, gate = _drawn(plan, embed), _gate(plan, embed)
        head = folder.finished("", key)
        if head is None:
            work = folder.start("")
            head = _train(network, pairs, recipe, progress)
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


def _gate(plan: ImparaPlan, embed: Embedding) -> GateThreshold:
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


def _drawn(plan: ImparaPlan, embed: Embedding) -> dict[Part, list[ImpactPair]]:
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


def _train(
    network: Trainable,
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
            for texts in _sides(pairs[part])
        )
        return better - worse

    def judge() -> tuple[float]:
        # The accuracy has few values; where it ties, the loss decides.
        apart = margins("validation")
        right = float((np.sign(apart) + 1).mean() / 2)
        return (right - 1e-6 * float((1 / (1 + np.exp(np.clip(apart, -50, 50)))).mean()),)

    (fitted,) = fit(network, lengths, loss, judge, recipe, progress)
    network.load(fitted.weights)
    read = [text for found in pairs.values() for side in _sides(found) for text in side]
    return Head(
        "accuracy",
        len(pairs["test"]),
        _tested(margins("test"), pairs["test"]),
        _tested(_length_margins(pairs["test"]), pairs["test"]),
        None,
        fitted.validation,
        fitted.step,
        fitted.steps,
        network.cut([(text,) for text in dict.fromkeys(read)]),
    )


def _sides(pairs: list[ImpactPair]) -> tuple[list[str], list[str]]:
    return [pair.better for pair in pairs], [pair.worse for pair in pairs]


def _length_margins(pairs: list[ImpactPair]) -> Floats:
    better, worse = map(minus_length, _sides(pairs))
    return better - worse


def _tested(margins: Floats, pairs: list[ImpactPair]) -> Estimate:
    return held_out_accuracy(margins, [pair.source for pair in pairs])
