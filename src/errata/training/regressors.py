"""SOME's regressors: what people would give an output, learnt from their ratings.

Yoshimura et al. 2020: grammaticality (``grammer``, as the data spell it) and fluency are told from
the output, meaning from source and output. The model learns the mean rating of every output, on a
scale of mean 0 and standard deviation 1; the last layer is rescaled at the end, so that what is
saved answers on the scale of the ratings, 1 to 4, as the official models do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from errata.correlation import pearson, spearman
from errata.errors import InputError
from errata.io.model_cards import Head, ModelCard, PartSize, TrainedOn
from errata.io.model_folders import ModelFolder, key_of
from errata.io.ratings import Criterion, RatedOutput, Ratings
from errata.models.trainable import TextsRead, Trainable, open_trainable, reproducible
from errata.numbers import Estimate, Floats, Ints, Progress
from errata.training.fine_tune import fit, predictions
from errata.training.held_out import held_out_r, minus_length
from errata.training.provenance import known_data
from errata.training.recipe import Recipe
from errata.training.split import Part, part_of, part_sizes, split_rows, whole_sources

__all__ = ["SomePlan", "plan_some", "train_some"]

FEWEST = 3  # rows of a part, below which nothing can be correlated


@dataclass(frozen=True)
class SomePlan:
    """What would be trained on what: the rows, the criteria, and how."""

    rows: tuple[RatedOutput, ...]
    heads: tuple[Criterion, ...]
    recipe: Recipe
    data: TrainedOn
    limit: int | None = None

    @property
    def sizes(self) -> dict[str, PartSize]:
        """Rows and sources of each part."""
        sources = [row.source for row in self.rows]
        return part_sizes(sources, split_rows(sources))

    @property
    def baselines(self) -> dict[str, Head]:
        """The heads before anything is learnt: rows to be tested on, and what the length says."""
        return {head: self._untrained(_Task.of(self.rows, head)) for head in self.heads}

    def _untrained(self, task: _Task) -> Head:
        unknown = Estimate(np.nan, np.nan, np.nan)
        return Head("pearson", len(task.split["test"]), unknown, task.length_baseline())

    def card(self, encoder: str, heads: dict[str, Head]) -> ModelCard:
        """The card of what was trained."""
        settings = self.recipe.settings | {"rows": self.limit}
        return ModelCard("some", encoder, self.data, self.sizes, heads, settings)


@dataclass(frozen=True)
class _Task:
    """The rows that have a rating by one criterion, as texts and numbers."""

    texts: tuple[TextsRead, ...]
    outputs: tuple[str, ...]
    sources: tuple[str, ...]
    ratings: Floats
    split: dict[Part, Ints]

    @classmethod
    def of(cls, rows: Sequence[RatedOutput], head: Criterion) -> _Task:
        rated = [(row, mean) for row in rows if (mean := row.mean(head)) is not None]
        pair = head == "meaning"
        sources = tuple(row.source for row, _ in rated)
        return cls(
            tuple((row.source, row.output) if pair else (row.output,) for row, _ in rated),
            tuple(row.output for row, _ in rated),
            sources,
            np.array([mean for _, mean in rated], np.float64),
            split_rows(sources),
        )

    def part(self, part: Part) -> tuple[list[TextsRead], Floats]:
        rows = self.split[part]
        return [self.texts[k] for k in rows.tolist()], self.ratings[rows]

    def tested(self, predicted: Floats) -> Estimate:
        rows = self.split["test"]
        sources = [self.sources[k] for k in rows.tolist()]
        return held_out_r(predicted, self.ratings[rows], sources)

    def length_baseline(self) -> Estimate:
        outputs = [self.outputs[k] for k in self.split["test"].tolist()]
        return self.tested(minus_length(outputs))


def plan_some(
    ratings: Ratings, recipe: Recipe, *, heads: Sequence[Criterion] = (), rows: int | None = None
) -> SomePlan:
    """Say what is to be trained; refused where a part of the data would be too small.

    ``heads`` are all criteria that were rated unless some are named; ``rows`` limits what is
    learnt from to so many rows, whole sources at a time, while the other parts stay whole: so
    models that learnt from more and from less can be compared.
    """
    chosen = tuple(dict.fromkeys(heads)) or ratings.criteria
    missing = [head for head in chosen if head not in ratings.criteria]
    if missing:
        raise InputError(
            f"nothing was rated for {missing[0]}",
            path=ratings.name,
            remedy=f"it has: {', '.join(ratings.criteria)}",
        )
    parts = split_rows([row.source for row in ratings.rows])
    learnt = [ratings.rows[k] for k in parts["train"].tolist()]
    kept = {learnt[k].line for k in whole_sources([row.source for row in learnt], rows)}
    taken = tuple(row for row in ratings.rows if row.line in kept or part_of(row.source) != "train")
    for head in chosen:
        for part, found in _Task.of(taken, head).split.items():
            if len(found) < FEWEST:
                raise InputError(
                    f"{len(found)} rows of {head} for {part}, of {len(taken)} in all",
                    path=ratings.name,
                    remedy="give more rated outputs of more sources, some hundreds at least",
                )
    return SomePlan(taken, chosen, recipe, _trained_on(ratings, taken), rows)


def _trained_on(ratings: Ratings, rows: Sequence[RatedOutput]) -> TrainedOn:
    others = [f"{count} of {name}" for name, count in ratings.others.items() if count]
    notes = (f"left out as no ratings (0, other): {', '.join(others)}",) if others else ()
    return known_data(
        ratings.name, ratings.sha256, len(rows), len({row.source for row in rows}), notes
    )


def train_some(plan: SomePlan, folder: ModelFolder, progress: Progress | None = None) -> ModelCard:
    """Train every head, put the models into the folder with their card, and return it.

    Heads that an earlier run finished with the same data and settings are taken as they are.
    """
    recipe = plan.recipe
    heads: dict[str, Head] = {}
    encoder = ""
    for done, name in enumerate(plan.heads):

        def report(step: int, steps: int, done: int = done) -> None:
            if progress is not None:
                progress(done * steps + step, len(plan.heads) * steps)

        network = open_trainable(
            recipe.encoder, seed=recipe.seed, max_length=recipe.max_length, device=recipe.device
        )
        encoder = network.revision
        key = key_of(
            head=name,
            data=plan.data.sha256,
            rows=plan.limit,
            encoder=encoder,
            settings=recipe.settings,
        )
        head = folder.finished(name, key)
        if head is None:
            work = folder.start(name)
            with reproducible(recipe.seed, recipe.workers):
                head = _train(network, _Task.of(plan.rows, name), recipe, report)
            network.save(work)
            folder.finish(name, key, head)
        heads[name] = head
    card = plan.card(encoder, heads)
    folder.put_card(card)
    return card


def _train(network: Trainable, task: _Task, recipe: Recipe, progress: Progress | None) -> Head:
    from errata.models.language import load_extra

    torch = load_extra("torch", "training", "pip install 'errata[lm]'")
    texts, ratings = task.part("train")
    mean, deviation = float(ratings.mean()), float(ratings.std()) or 1.0
    wanted = torch.tensor((ratings - mean) / deviation, dtype=torch.float32).to(
        network.model.device
    )
    seen, judged = task.part("validation")

    def loss(rows: Ints) -> object:
        error = network.outputs([texts[k] for k in rows.tolist()]) - wanted[rows]
        return (error**2).mean()

    def judge() -> float:
        return float(pearson(predictions(network, seen, recipe.batch_size), judged))

    fitted = fit(network, network.lengths(texts), loss, judge, recipe, progress)
    network.rescale(deviation, mean)
    unseen, people = task.part("test")
    predicted = predictions(network, unseen, recipe.batch_size)
    return Head(
        "pearson",
        len(people),
        task.tested(predicted),
        task.length_baseline(),
        float(spearman(predicted, people)),
        fitted.validation,
        fitted.step,
        fitted.steps,
    )
