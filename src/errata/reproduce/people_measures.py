"""Measures of judgments and of noise."""

from __future__ import annotations

import ast
import csv
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from errata.core.correlation import Correlation
from errata.data import Judgment, Members, Scores
from errata.datasets.fetch import fetch_file
from errata.human import parse_ranker
from errata.human.agreement import KappaWeights, judge_agreement, judge_correlations, kappa
from errata.human.bootstrap import head_to_head
from errata.human.output_pairs import Orientation, OutputPairs, output_pairs
from errata.human.ranking import Ranking, cluster, ranks_of
from errata.io.files import read_lines
from errata.io.judgments import read_judgments
from errata.io.judgments.checks import LabelFit, compare_labels_with_outputs, same_text
from errata.meta.matching import match_systems
from errata.reproduce import metric_measures
from errata.reproduce.data import ExperimentData as Data
from errata.reproduce.data import (
    cache_result,
    index_of,
    look_up,
    name_at_position,
    systems_best_first,
)
from errata.reproduce.run import register_measure

# ---- Measures of noise: how far figures of random runs scatter.


def _largest_difference(one: Scores, other: Scores) -> float:
    a, b = match_systems(one, other)
    return float(np.abs(a.values - b.values).max())


@register_measure("human_distance")
def human_score_difference(data: Data, human: str, people: str) -> float:
    """The largest difference over systems between computed and released (or printed) scores."""
    computed = metric_measures.human_scores(data, human, "computed")
    return _largest_difference(metric_measures.human_scores(data, human, people), computed)


@register_measure("released_distance")
def released_score_difference(data: Data, metric: str, file: str) -> float:
    """The largest difference between our scores and those that Grundkiewicz et al. released."""
    computed = metric_measures.metric_scores(data, metric, "computed")
    return _largest_difference(metric_measures.read_grundkiewicz_scores(data, file), computed)


def _resample_scores(data: Data, judgments: str, ranker: str, resamples: int) -> tuple[Scores, Any]:
    scores = data.scores_by_ranker(judgments, ranker, resamples)
    assert scores.resampled is not None
    return scores, scores.resampled


@register_measure("standard_error")
def error_of_mean(data: Data, judgments: str, ranker: str, resamples: int, runs: int) -> float:
    """The standard error of a mean of so many random runs, the largest over the systems."""
    _, drawn = _resample_scores(data, judgments, ranker, resamples)
    return float(drawn.std(axis=0, ddof=1).max() / np.sqrt(runs))


@register_measure("runs_ahead")
def count_runs_ahead(
    data: Data, judgments: str, ranker: str, resamples: int, first: str, second: str
) -> int:
    """In how many runs one system is ahead of another."""
    scores, drawn = _resample_scores(data, judgments, ranker, resamples)
    a, b = (index_of(name, scores.systems) for name in (first, second))
    return int((drawn[:, a] > drawn[:, b]).sum())


@register_measure("runs_at")
def count_runs_at_rank(
    data: Data, judgments: str, ranker: str, resamples: int, system: str, rank: int
) -> int:
    """In how many runs a system has this rank or a better one."""
    scores, drawn = _resample_scores(data, judgments, ranker, resamples)
    return int((ranks_of(drawn)[0][:, index_of(system, scores.systems)] <= rank).sum())


MARKS = ((0.01, "#"), (0.05, "+"), (0.10, "*"))


@register_measure("pairs")
def count_pairs(data: Data, judgments: str, members: Members = "all", ties: str = "all") -> int:
    """How many comparisons there are: all of them, only ties, or none of these."""
    found = data.pairwise_comparisons(judgments, members)
    rows = {"all": found.outcome == found.outcome, "only": found.outcome == 0}
    chosen = look_up(ties, {**rows, "none": ~rows["only"]})
    return round(float(found.weight[chosen].sum()))


@register_measure("how_many")
def count_sentences_or_judgments(known: Data, data: str, what: str) -> int:
    """How many sentences, rankings or comparisons: of judgments, the test set, or left out."""
    if data in ("test", "left-out"):
        return len(known.gold() if data == "test" else known.left_out_sentences())
    if what == "pairs":
        return count_pairs(known, data)
    mine = known.judgments(data)
    return look_up(what, {"rankings": len(mine), "sentences": len({j.sentence for j in mine})})


@register_measure("games")
def count_trueskill_games(data: Data, judgments: str) -> int:
    """How many games TrueSkill plays with these judgments: one more than there are pairs."""
    return count_pairs(data, judgments) + 1


def _judge_name(number: str) -> str:
    return f"annotator{number.zfill(2)}"


@register_measure("judge_count")
def judge_count(data: Data, judge: str, what: str) -> int:
    """Grundkiewicz et al., Table 1: rankings and pairs of one judge, or in total."""
    mine = [
        j
        for j in data.judgments("grundkiewicz15")
        if judge == "total" or j.judge == _judge_name(judge)
    ]
    if what == "rankings":
        return len(mine)
    members, _, ties = what.partition("-")
    found = data.pairwise_comparisons(
        "grundkiewicz15", look_up(members, {"expanded": "all", "unexpanded": "sample"})
    )
    assert found.judge is not None
    rows = np.ones(len(found), bool)
    if judge != "total":
        rows &= found.judge == index_of(_judge_name(judge), found.judges)
    if ties:
        rows &= found.outcome == 0
    return int(rows.sum())


@register_measure("judge_kappa")
def judge_kappa(data: Data, first: str, second: str) -> float:
    """Grundkiewicz et al., Table 2: agreement of two judges; ``mean`` over judges."""
    judgments = data.judgments("grundkiewicz15")
    found = data.get_or_make("agreement", lambda: judge_agreement(judgments))
    if first == "mean":
        return look_up(second, {"between": found.between, "within": found.within})
    a, b = (index_of(_judge_name(number), found.judges) for number in (first, second))
    return float(found.kappa[a, b])


@register_measure("ranking")
def human_ranking_figure(
    data: Data,
    system: str,
    what: str,
    judgments: str,
    ranker: str,
    resamples: int = 0,
    names: dict[str, str] | None = None,
) -> float | int | str:
    """The score of a system by people, its range of ranks or its cluster."""
    system = (names or {}).get(system, system)
    index_of(what, ("score", "range", "cluster"))
    scores = data.scores_by_ranker(judgments, ranker, resamples)
    if what == "score":
        return float(scores.values[index_of(system, scores.systems)])
    key = ("clusters", judgments, ranker, resamples)
    found: Ranking = data.get_or_make(key, lambda: cluster(scores))
    at = index_of(system, found.systems)
    return found.ranges[at] if what == "range" else int(found.cluster[at])


@register_measure("ranked_at")
def ranked_at(data: Data, position: str, judgments: str, ranker: str) -> str:
    """The system at a position (from 1) of the human ranking by score."""
    return name_at_position(position, systems_best_first(data.scores_by_ranker(judgments, ranker)))


@register_measure("ranking_correlation")
def compare_rankings(data: Data, kind: Correlation, first: str, second: str, ranker: str) -> float:
    """Two human rankings of the same systems against each other.

    ``"printed"`` are the printed TrueSkill scores of Grundkiewicz et al. (Table 3c).
    """

    def scores(judgments: str) -> Scores:
        if judgments == "printed":
            return data.printed_scores("grundkiewicz15", "table3c")
        return data.scores_by_ranker(judgments, ranker)

    return metric_measures.correlate_systems(scores(first), scores(second), kind)


@register_measure("head_to_head_cell")
def head_to_head_cell(data: Data, row: str, column: str, what: str) -> float | str:
    """Grundkiewicz et al., Table 3d: how often the column's system beat the row's, and its mark."""
    found = data.get_or_make(
        "head_to_head", lambda: head_to_head(data.pairwise_comparisons("grundkiewicz15"))
    )
    a, b = index_of(column, found.systems), index_of(row, found.systems)
    if what == "fraction":
        return float(found.fraction[a, b])
    return next((mark for level, mark in MARKS if found.p[a, b] <= level), "o")


@register_measure("judge_correlation")
def judge_correlation(
    data: Data, first: str, second: str, kind: str = "", denominator: str = "beaten"
) -> float:
    """Grundkiewicz et al., Table 6: rankings of two judges, of one and the ``rest``, or ``mean``.

    Without a kind ρ stands above the diagonal and r below it, as printed.
    """
    ranker = parse_ranker(f"expected_wins(denominator={denominator})")
    comparisons = data.pairwise_comparisons("grundkiewicz15")
    found = data.get_or_make(
        ("judges", denominator), lambda: judge_correlations(comparisons, ranker, digits=4)
    )
    if "rest" in (first, second):
        rest = found.rest_rho if second == "rest" else found.rest_r
        number = first if second == "rest" else second
        if number != "mean":
            return float(rest[index_of(_judge_name(number), found.judges)])
        # The printed means weigh judges by their comparisons.
        counts = comparisons.per_judge().games.sum((1, 2))
        order = np.argsort(comparisons.judges)
        return float(np.average(rest, weights=counts[order]))
    a, b = (index_of(_judge_name(number), found.judges) for number in (first, second))
    rho = kind == "spearman" or (not kind and a < b)
    return float((found.rho if rho else found.r)[a, b])


@register_measure("label_fit")
def count_fitting_labels(data: Data, judgments: str, offset: int) -> int:
    """In how many rankings the labels fit the outputs of the sentence so far further on."""

    def fit_task_labels() -> LabelFit:
        rows = list(_read_all_assignments()) if judgments == "ctrl" else data.judgments(judgments)
        return compare_labels_with_outputs(rows, {s.system: s.sentences for s in data.systems()})

    return data.get_or_make(("labels", judgments), fit_task_labels).fits[offset]


@register_measure("shown_source_fit")
def count_fitting_sources(data: Data, offset: int) -> int:
    """In how many tasks the source shown is the CoNLL-2014 sentence so far from its number."""
    lines = read_lines(fetch_file("sakaguchi16", "Ctrl_merged.csv"))[0]
    sources = [same_text(text) for text in data.gold().sources]
    fits = 0
    for row in csv.DictReader(lines):
        number = int(row["Input.sentID"]) + offset
        fits += 0 <= number < len(sources) and sources[number] == same_text(row["Input.source"])
    return fits


@register_measure("assignments")
def count_released_tasks(data: Data, file: str = "Ctrl_merged.csv", status: str = "") -> int:
    """How many tasks Sakaguchi et al. released, on system outputs if no other file is named."""
    rows = csv.DictReader(read_lines(fetch_file("sakaguchi16", file))[0])
    return sum(status in ("", row["AssignmentStatus"]) for row in rows)


# Sakaguchi et al., Table 7


def _read_all_assignments() -> Iterator[Judgment]:
    """The judgments of all tasks, the rejected too, with the labels of the task."""
    file, statuses = fetch_file("sakaguchi16", "Ctrl_merged.csv"), ("Approved", "Rejected")
    return read_judgments(file, labels="given", statuses=statuses)


@cache_result
def _expert_and_crowd_pairs(data: Data, match: str) -> OutputPairs:
    """Judgments of experts and non-experts on the same outputs.

    ``match="published"`` pairs them as computeIAA.py did; ``"text"`` by sentence and text.
    """
    if match == "published":
        # Expert rankings as computeIAA.py reads them: the first of each line, its number less one.
        found = []
        for line in read_lines(fetch_file("sakaguchi16", "highAgreedAMU.txt"))[0]:
            number, _, text = line.split("\t")
            groups, several = next(iter(ast.literal_eval(text).items()))
            names = tuple(tuple(group.split()) for group in groups.split("||"))
            found += [
                Judgment("expert", int(number) - 1, names, tuple(map(int, ranks)))
                for ranks in several
            ]
        experts = found
        others = _read_all_assignments()
        orientation: Orientation = "presented"
    else:
        experts = data.judgments("grundkiewicz15")
        others = iter(data.judgments("ctrl-text"))
        orientation = "consistent"
    everybody = [replace(j, judge="expert") for j in experts] + [
        replace(j, judge="other") for j in others
    ]
    return output_pairs(everybody, orientation=orientation)


@register_measure("expert_kappa")
@cache_result
def expert_kappa(data: Data, judges: str, weights: KappaWeights, match: str = "published") -> float:
    """κ within experts, within others, pooled over both, or across the two groups only."""
    found = _expert_and_crowd_pairs(data, match)
    tallies = {
        name: found.select(found.judge == found.judges.index(name)).tallies()
        for name in ("expert", "other")
    }
    if match == "published":
        # Only outputs that two experts and two others judged, as in the paper.
        both = (tallies["expert"].sum(1) >= 2) & (tallies["other"].sum(1) >= 2)
        tallies = {name: table[both] for name, table in tallies.items()}
    if judges == "across":
        return kappa(tallies["expert"].T @ tallies["other"], weights=weights).value
    table = tallies["expert"] + tallies["other"] if judges == "both" else look_up(judges, tallies)
    within = (table.T @ table - np.diag(table.sum(0))) / 2
    return kappa(within, weights=weights).value
