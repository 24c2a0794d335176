"""Measures of metrics: their scores, and how they agree with people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from errata.core.correlation import Correlation, correlate
from errata.core.errors import InputError
from errata.core.stats import Floats
from errata.data import Corpus, Edit, Hypotheses, Members, Reference, Scores
from errata.datasets.fetch import fetch_file
from errata.io import read_published_scores
from errata.io.files import read_lines
from errata.meta.matching import match_systems
from errata.meta.pairwise import CONVENTIONS, confusion
from errata.meta.significance import williams_test
from errata.metrics import parse
from errata.metrics.base import f_beta
from errata.reproduce.data import (
    EDITED_SETS,
    NotRun,
    cache_result,
    index_of,
    look_up,
    name_at_position,
    systems_best_first,
)
from errata.reproduce.data import ExperimentData as Data
from errata.reproduce.run import register_measure
from errata.scoring.evaluate import evaluate

# Sakaguchi et al. name reference sets and metrics otherwise in their file of scores.
SET_NAMES = {"N-fluency": "NE-fluency", "N-minimal": "NE-minimal", "All": "all"}
METRIC_NAMES = {"m2": "M2", "gleu": "GLEU", "imeasure": "IM", "bleu": "BLEU"}


def human_scores(data: Data, human: str, people: str) -> Scores:
    """Human scores of the systems: computed from judgments, released, or as printed.

    Computed scores are the limits that published ones, means over random resamples or runs,
    scatter around.
    """
    if people == "released":
        file = fetch_file("gecmetrics-scores", f"system_scores_humans/{human}.txt.gz")
        return data.get_or_make(("people", human), lambda: read_published_scores(file))
    if people == "printed":
        table = look_up(human, {"expected_wins": "table3b", "trueskill": "table3c"})
        return data.printed_scores("grundkiewicz15", table)
    ranker = look_up(human, {"expected_wins": "expected_wins", "trueskill": "trueskill_meanfield"})
    return data.scores_by_ranker("grundkiewicz15", ranker)


def metric_scores(
    data: Data, metric: str, scores: str, *, references: str = "", typo: str = "corrected"
) -> Scores:
    """Scores of a metric by its recipe, as they were printed, or as they were released."""
    if scores == "released":
        return data.released_scores(metric)
    recipe = data.metric_recipe(metric)
    corpus = recipe.get("references", "") or references
    if recipe.get("edits") and f"{corpus}-edits" in EDITED_SETS:
        corpus += "-edits"
    found = data.scores(recipe["metric"], corpus, typo, recipe.get("outputs", ""))
    times, digits = recipe.get("times", 1), recipe.get("digits")

    def as_printed(values: Any) -> Any:
        return values * times if digits is None else np.round(values * times, digits)

    return replace(
        found,
        values=as_printed(found.values),
        sentences=None if found.sentences is None else as_printed(found.sentences),
    )


def correlate_systems(one: Scores, other: Scores, kind: Correlation, without: str = "") -> float:
    """The correlation of two scores of the same systems, perhaps without one of these."""
    if without:
        one, other = one.without(without), other.without(without)
    a, b = match_systems(one, other)
    return float(correlate(kind, a.values, b.values))


@register_measure("correlation")
def correlate_with_people(
    data: Data,
    metric: str,
    human: str,
    kind: Correlation,
    people: str,
    scores: str,
    without: str = "",
) -> float:
    """A metric's scores of the systems against people's."""
    people_scores = human_scores(data, human, people)
    return correlate_systems(people_scores, metric_scores(data, metric, scores), kind, without)


@register_measure("williams_p")
def williams_p(
    data: Data, better: str, worse: str, human: str, kind: Correlation, people: str, scores: str
) -> float:
    """One-sided p of Williams' test that one metric agrees better with people than another."""
    h = human_scores(data, human, people)
    a, b = (
        match_systems(h, metric_scores(data, metric, scores))[1].values
        for metric in (better, worse)
    )
    return williams_test(h.values, a, b, kind=kind).p


@register_measure("tau")
def sentence_tau(
    data: Data, metric: str, members: Members, convention: str, judgments: str, scores: str
) -> float:
    """Agreement with people at sentence level under a convention of the field."""
    table = data.get_or_make(
        ("confusion", *data.recipe_key(metric, judgments), members, scores),
        lambda: confusion(
            data.pairwise_comparisons(judgments, members), metric_scores(data, metric, scores)
        ),
    )
    return float(look_up(convention, CONVENTIONS)(table))


@register_measure("example_score")
def example_score(
    data: Data,
    metric: str,
    example: str,
    hypothesis: str,
    examples: Mapping[str, Mapping[str, Any]],
    level: str = "corpus",
) -> float:
    """The score of one hypothesis of a worked example (source, edits of each reference).

    At the ``level`` of the sentence, metrics that need it smooth.
    """
    case = look_up(example, examples)
    corpus = Corpus(
        (case["source"],),
        (tuple(Reference(k, (Edit(*edit),)) for k, edit in enumerate(case["edits"])),),
    )
    output = Hypotheses("A", (name_at_position(hypothesis, case["hypotheses"]),))
    recipe = data.metric_recipe(metric)
    found = evaluate(parse(recipe["metric"]), corpus, [output], resamples=0)
    assert found.sentences is not None
    value = float(look_up(level, {"corpus": found["A"], "sentence": found.sentences[0, 0]}))
    return value * float(recipe.get("times", 1))


@register_measure("system_score")
def system_score(data: Data, metric: str, system: str, part: str = "score") -> float:
    """The score of a system, or one of its parts (P, R)."""
    recipe, found = data.metric_recipe(metric), data.scores_by_recipe(metric)
    values = found.values if part == "score" else look_up(part, found.parts)
    value = float(values[index_of(system, found.systems)]) * float(recipe.get("times", 1))
    return round(value, recipe["digits"]) if "digits" in recipe else value


def system_at(data: Data, metric: str, position: str, without: str = "") -> str:
    """The system at a place (from 1) of a metric's ranking; the unchanged input is ``source``."""
    names = systems_best_first(data.scores_by_recipe(metric))
    return name_at_position(position, [name for name in names if name != without])


@register_measure("agreement")
def correlate_with_judgments(
    data: Data, metric: str, judgments: str, kind: Correlation, ranker: str
) -> float:
    """A metric's scores of systems against those that a ranker makes of judgments of them."""
    human = data.scores_by_ranker(judgments, ranker)
    return correlate_systems(human, metric_scores(data, metric, "computed"), kind)


@register_measure("place_of")
def rank_of_system(data: Data, metric: str, system: str) -> int:
    """The place (from 1) of a system in a metric's ranking."""
    found = data.scores_by_recipe(metric)
    return index_of(system, [found.systems[i] for i in found.order]) + 1


@register_measure("printed_rank_correlation")
def printed_rank_correlation(
    data: Data,
    metric: str,
    experiment: str,
    table: str,
    human: str = "Human",
    kind: Correlation = "spearman",
    move: str = "",
) -> float:
    """Spearman's ρ of two printed columns of a table of rankings.

    ``move = "source/5"`` puts a system at another place of the metric's column first.
    """
    if kind != "spearman":
        raise NotRun("printed rankings have no scores, and so no Pearson's r")
    columns: dict[str, list[str]] = {}
    for key, text in data.printed_cells(experiment, table).items():
        columns.setdefault(key[1], []).append(text or "")
    people, ranked = look_up(human, columns), look_up(metric, columns)
    if move:
        system, place = move.split("/")
        ranked = [name for name in ranked if name != system]
        ranked.insert(int(place) - 1, system)
    return float(
        correlate("spearman", [people.index(s) for s in people], [ranked.index(s) for s in people])
    )


@register_measure("same_places")
def equal_printed_ranks(data: Data, metric: str, without: str, column: str = "") -> int:
    """How many systems stand where the printed ranking has them, one system left out of both.

    ``column`` is the printed ranking where it is not called like the metric.
    """
    printed = [
        text
        for (_, name), text in data.printed_cells("napoles15", "table2").items()
        if name == (column or metric) and text != without
    ]
    return sum(
        system_at(data, metric, str(position), without) == name
        for position, name in enumerate(printed, 1)
    )


@register_measure("released_places")
def equal_released_ranks(data: Data, file: str, experiment: str, table: str, column: str) -> int:
    """How many systems have the same place in a printed ranking and in released scores."""
    printed = [
        t for (_, name), t in data.printed_cells(experiment, table).items() if name == column
    ]
    released = systems_best_first(read_grundkiewicz_scores(data, file))
    return sum(a == b for a, b in zip(printed, released, strict=True))


@register_measure("printed_cell")
def printed_cell(data: Data, experiment: str, table: str, cell: str) -> float:
    """A figure as another table prints it."""
    cells = {"/".join(key): text for key, text in data.printed_cells(experiment, table).items()}
    return float(look_up(cell, cells) or "nan")


@cache_result
def _read_sakaguchi_scores(data: Data) -> dict[tuple[str, str], dict[str, float]]:
    table: dict[tuple[str, str], dict[str, float]] = {}
    for line in read_lines(fetch_file("sakaguchi16", "metric_scores"))[0]:
        name, refs, system, value = line.split("\t")
        table.setdefault((name, refs), {})[system.replace("source", "INPUT")] = float(value)
    return table


def _select_sakaguchi_scores(data: Data, metric: str, references: str) -> Scores:
    key = (look_up(metric, METRIC_NAMES), SET_NAMES.get(references, references))
    table = _read_sakaguchi_scores(data)
    found = look_up("/".join(key), {"/".join(known): scores for known, scores in table.items()})
    return Scores(metric, tuple(found), np.array(list(found.values())))


@register_measure("reference_correlation")
def correlate_reference_set(
    data: Data, metric: str, references: str, kind: Correlation, scores: str
) -> float:
    """Sakaguchi et al., Table 6: a metric with one reference set against people.

    People are the printed TrueSkill scores of Grundkiewicz et al. (2015, Table 3c).
    """
    if scores == "released":
        found = _select_sakaguchi_scores(data, metric, references)
    else:
        found = metric_scores(data, metric, scores, references=references)
    return correlate_systems(human_scores(data, "trueskill", "printed"), found, kind)


@register_measure("reference_ranking")
def system_at_with_references(data: Data, metric: str, references: str, position: str) -> str:
    """Sakaguchi et al., Figure 4: the system at a place by a metric and a reference set."""
    found = metric_scores(data, metric, "computed", references=references)
    return name_at_position(position, systems_best_first(found))


@register_measure("score_distance")
def largest_score_difference(data: Data, metric: str, references: str, typo: str) -> float:
    """The largest difference between our scores and the released ones over the systems."""
    ours = metric_scores(data, metric, "computed", references=references, typo=typo)
    theirs, mine = match_systems(_select_sakaguchi_scores(data, metric, references), ours)
    return float(np.abs(theirs.values - mine.values).max())


def _aggregate_systems(values: Floats, what: str) -> float:
    index_of(what, ("mean", "max", "min"))
    return float(getattr(values, what)())


@register_measure("score_with_references")
def score_with_references(
    data: Data, number: str, what: str, metric: str, texts: Sequence[str]
) -> float:
    """The mean (max, min) score of the 12 systems with so many references of ``texts``.

    All choices of so many texts are scored and their scores averaged.
    """

    def compute() -> Any:
        each = [
            data.scores(metric, "+".join(chosen)) for chosen in combinations(texts, int(number))
        ]
        return np.mean([scores.without("INPUT").values for scores in each], axis=0)

    values = data.get_or_make(("curve", number, metric, tuple(texts)), compute)
    return _aggregate_systems(values, what)


@register_measure("score_with_rewrites")
def score_with_rewrites(data: Data, number: str, what: str, metric: str) -> float:
    """The same with the ten fluency rewrites that 20 sentences have."""

    def compute() -> Any:
        numbers, texts = data.ten_rewrites()
        sources = [data.sentences("source")[i] for i in numbers]
        systems = [
            Hypotheses(s.system, tuple(s.sentences[i] for i in numbers))
            for s in data.systems()
            if s.system != "INPUT"
        ]
        each = []
        for chosen in combinations(texts, int(number)):
            corpus = Corpus.from_texts(sources, chosen)
            each.append(evaluate(metric, corpus, systems, resamples=0, guard=False).values)
        return np.mean(each, axis=0)

    values = data.get_or_make(("ten", number, metric), compute)
    return _aggregate_systems(values, what)


@register_measure("grundkiewicz_correlation")
def grundkiewicz_correlation(
    data: Data, metric: str, kind: Correlation, people: str, scores: str
) -> float:
    """Grundkiewicz et al., Table 5: M2 with several β, I-WAcc, BLEU and METEOR against people."""
    human = human_scores(data, "expected_wins", people)
    beta = float(metric.removeprefix("F")) if metric.startswith("F") else None
    if metric == "METEOR" and scores != "released":
        raise NotRun("METEOR 1.5 is a Java program with a paraphrase table, in no Python package")
    if scores == "released":
        file = "m2" if beta is not None else metric.lower().replace("-", "")
        found = read_grundkiewicz_scores(data, file)
    elif beta is None:
        found = metric_scores(data, metric, "computed")
    else:  # the annotators are chosen for F0.5, as in the released scores
        found = data.scores("m2", "conll14")
    if beta is not None:
        found = replace(found, values=f_beta(found.parts["P"], found.parts["R"], beta))
    return correlate_systems(human, found, kind)


@cache_result
def read_grundkiewicz_scores(data: Data, file: str) -> Scores:
    """The scores of the systems that Grundkiewicz et al. released: m2, iwacc, bleu or meteor.

    A line has a system, then F0.5, P and R for M2, or one score.
    """
    rows = [line.split() for line in read_lines(fetch_file("grundkiewicz15", f"scores.{file}"))[0]]
    parts = {"P": 2, "R": 3} if file == "m2" else {}
    if any(len(row) != 2 + len(parts) for row in rows):
        raise InputError("not a file of system and score", path=f"scores.{file}")

    def column(k: int) -> Floats:
        return np.array([float(row[k]) for row in rows])

    named = {part: column(k) for part, k in parts.items()}
    return Scores(file, tuple(row[0] for row in rows), column(1), parts=named)
