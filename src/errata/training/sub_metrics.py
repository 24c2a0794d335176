"""SOME's regressors: what people would give an output, learnt from their ratings.

Yoshimura et al. 2020: grammaticality (``grammer``, as the data spell it) and fluency are read from
the output, meaning from source and output. Heads that read the same text learn in one network with
an output for each, and are taken apart when each is at its best: a text rated badly for the one is
often so for the other, and two ratings teach more than one. The model learns the mean rating of
every output, on a scale of mean 0 and standard deviation 1; the last layer is rescaled at the end,
so that the saved model answers on the scale of the ratings, 1 to 4, as the official models do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from errata.core.correlation import pearson, spearman
from errata.core.errors import InputError
from errata.core.stats import Estimate, Floats, Ints, Progress, plural
from errata.io.judgments.sheets import Criterion, RatedOutput, Ratings
from errata.models.cards import Head, ModelCard, PartSize, TrainedOn, TrainingFolder, part_digest
from errata.models.checkpoint import INSTALL
from errata.models.language import load_extra
from errata.training.fine_tune import (
    Part,
    Recipe,
    TokenisedTexts,
    TrainableEncoder,
    fit,
    held_out_r,
    identify_data,
    limit_by_source,
    negative_length,
    open_trainable,
    part_sizes,
    predictions,
    reproducible,
    split_rows,
)

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
        return part_sizes(sources, split_rows(sources, self.recipe.fold))

    @property
    def baselines(self) -> dict[str, Head]:
        """The heads before anything is learnt: rows to be tested on, and what the length says."""
        nothing = np.zeros(0)
        return {
            head: _Task.of(self.rows, [head], self.recipe.fold).tested(nothing, 0)
            for head in self.heads
        }

    def card(self, encoder: str, heads: dict[str, Head]) -> ModelCard:
        """The card of what was trained."""
        settings = self.recipe.settings | {
            "rows": self.limit,
            "learnt together": "; ".join(map(", ".join, group_heads(self.heads))),
        }
        return ModelCard("some", encoder, self.data, self.sizes, heads, settings)


@dataclass(frozen=True)
class _Task:
    """The rows rated by some criteria: texts, and mean ratings ``[row, head]``, NaN for none."""

    texts: tuple[TokenisedTexts, ...]
    outputs: tuple[str, ...]
    sources: tuple[str, ...]
    ratings: Floats
    split: dict[Part, Ints]

    @classmethod
    def of(cls, rows: Sequence[RatedOutput], heads: Sequence[Criterion], fold: int) -> _Task:
        rated = [row for row in rows if any(row.ratings.get(head) for head in heads)]
        pair = reads_pair(heads[0])
        sources = tuple(row.source for row in rated)
        means = [[row.mean(head) for head in heads] for row in rated]
        return cls(
            tuple((row.source, row.output) if pair else (row.output,) for row in rated),
            tuple(row.output for row in rated),
            sources,
            np.array(means, np.float64).reshape(len(rated), len(heads)),
            split_rows(sources, fold),
        )

    def rows_of(self, part: Part) -> tuple[list[TokenisedTexts], Floats]:
        rows = self.split[part]
        return [self.texts[k] for k in rows.tolist()], self.ratings[rows]

    def tested(self, predicted: Floats, head: int) -> Head:
        """What a head reaches on the test part, and the length."""
        rows = self.split["test"][~np.isnan(self.ratings[self.split["test"], head])]
        known = ~np.isnan(self.ratings[self.split["test"], head])
        people = self.ratings[rows, head]
        sources, outputs = (
            [texts[k] for k in rows.tolist()] for texts in (self.sources, self.outputs)
        )
        length = held_out_r(negative_length(outputs), people, sources)
        if not len(predicted):
            unknown = Estimate(np.nan, np.nan, np.nan)
            return Head("pearson", len(people), unknown, length)
        said = predicted[known]
        value = held_out_r(said, people, sources)
        return Head("pearson", len(people), value, length, float(spearman(said, people)))


def reads_pair(head: Criterion) -> bool:
    """Whether a head reads source and output; the others read the output alone."""
    return head == "meaning"


def group_heads(heads: Sequence[Criterion]) -> list[tuple[Criterion, ...]]:
    """Heads that read the same texts learn in one network, which tells each more.

    >>> group_heads(["grammer", "meaning", "fluency"])
    [('grammer', 'fluency'), ('meaning',)]
    """
    groups = [tuple(h for h in heads if reads_pair(h) == pair) for pair in (False, True)]
    return [group for group in groups if group]


def plan_some(
    ratings: Ratings, recipe: Recipe, *, heads: Sequence[Criterion] = (), rows: int | None = None
) -> SomePlan:
    """Return the plan of a training; refuse data whose parts would be too small.

    ``heads`` are all criteria that were rated unless some are named; ``rows`` limits the rows
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
    parts = split_rows([row.source for row in ratings.rows], recipe.fold)
    learnt = [ratings.rows[k] for k in parts["train"].tolist()]
    left_out = {*range(len(learnt))} - {*limit_by_source([row.source for row in learnt], rows)}
    dropped = {int(parts["train"][k]) for k in left_out}
    taken = tuple(row for k, row in enumerate(ratings.rows) if k not in dropped)
    for head in chosen:
        task = _Task.of(taken, [head], recipe.fold)
        for part, found in task.split.items():
            few = len(found) < FEWEST
            if few or len(np.unique(task.ratings[found])) == 1:
                same = "" if few else ", all with the same rating"
                raise InputError(
                    f"{len(found)} rows of {head} for {part}{same}, of {len(taken)} in all",
                    path=ratings.name,
                    remedy="give more rated outputs of more sources, some hundreds at least",
                )
    return SomePlan(taken, chosen, recipe, _trained_on(ratings, taken, chosen), rows)


def _trained_on(
    ratings: Ratings, rows: Sequence[RatedOutput], heads: Sequence[Criterion]
) -> TrainedOn:
    """The data, and what of them says nothing, or says it twice."""
    unrated = {head: sum(not row.ratings.get(head) for row in rows) for head in heads}
    repeated = len(rows) - len({(row.source, row.output) for row in rows})
    notes = [
        f"{said}: {', '.join(f'{count} of {name}' for name, count in counts.items() if count)}"
        for said, counts in (
            ("left out as no ratings (0, other)", ratings.others),
            ("outputs that nobody rated, left out", unrated),
        )
        if any(counts.values())
    ]
    if repeated:
        rate = "rates" if repeated == 1 else "rate"
        notes.append(
            f"{repeated} {plural('row', repeated)} {rate} an output of a source once more: every "
            "row counts"
        )
    return identify_data(
        ratings.name, ratings.sha256, len(rows), len({row.source for row in rows}), tuple(notes)
    )


def train_some(
    plan: SomePlan, folder: TrainingFolder, progress: Progress | None = None
) -> ModelCard:
    """Train every head, put the models into the folder with their card, and return it.

    Heads that an earlier run finished with the same data and settings are taken as they are.
    """
    recipe = plan.recipe
    heads: dict[str, Head] = {}
    encoder = ""
    groups = group_heads(plan.heads)
    for done, group in enumerate(groups):

        def report(step: int, steps: int, done: int = done) -> None:
            if progress is not None:
                progress(done * steps + step, len(groups) * steps)

        network = open_trainable(
            recipe.encoder,
            outputs=len(group),
            seed=recipe.seed,
            max_length=recipe.max_length,
            device=recipe.device,
        )
        encoder = network.revision
        key = part_digest(
            heads=group,
            data=plan.data.sha256,
            rows=plan.limit,
            encoder=encoder,
            settings=recipe.settings,
        )
        found = {name: folder.finished(name, key) for name in group}
        if None in found.values():
            with reproducible(recipe.seed, recipe.workers):
                _train_heads(
                    network,
                    _Task.of(plan.rows, group, recipe.fold),
                    group,
                    plan,
                    folder,
                    key,
                    report,
                )
            found = {name: folder.finished(name, key) for name in group}
        heads |= {name: head for name, head in found.items() if head is not None}
    card = plan.card(encoder, {name: heads[name] for name in plan.heads})
    folder.put_card(card)
    return card


def _train_heads(
    network: TrainableEncoder,
    task: _Task,
    heads: Sequence[Criterion],
    plan: SomePlan,
    folder: TrainingFolder,
    key: str,
    progress: Progress,
) -> None:
    """Train heads that read the same texts, and keep each at its best."""
    torch = load_extra("torch", "training", INSTALL)
    size = plan.recipe.batch_size
    texts, ratings = task.rows_of("train")
    mean = np.nanmean(ratings, axis=0)
    deviation = np.where((spread := np.nanstd(ratings, axis=0)) > 0, spread, 1.0)
    known = torch.tensor(~np.isnan(ratings))
    wanted = torch.tensor(np.nan_to_num((ratings - mean) / deviation), dtype=torch.float32)
    seen, judged = task.rows_of("validation")

    def loss(rows: Ints) -> object:
        said = network.outputs([texts[k] for k in rows.tolist()])
        there = known[rows].to(said.device)
        error = torch.where(there, said - wanted[rows].to(said.device), 0.0)
        return (error**2).sum() / there.sum()

    def judge() -> list[float]:
        said = predictions(network, seen, size)
        return [
            float(pearson(said[there, k], judged[there, k]))
            for k in range(len(heads))
            for there in [~np.isnan(judged[:, k])]
        ]

    fitted = fit(network, network.lengths(texts), loss, judge, plan.recipe, progress)
    unseen, _ = task.rows_of("test")
    cut = network.count_too_long(task.texts)
    for k, (name, best) in enumerate(zip(heads, fitted, strict=True)):
        network.load(best.weights)
        work = folder.start(name)
        network.save(work, k, float(deviation[k]), float(mean[k]))
        head = task.tested(predictions(network, unseen, size)[:, k], k)
        head = replace(head, validation=best.validation, step=best.step, steps=best.steps, cut=cut)
        folder.finish(name, key, head)
