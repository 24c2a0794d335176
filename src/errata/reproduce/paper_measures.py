"""Measures special to Napoles 2015 and Islam 2021.

The judgments are the released XML without the judge who is no native speaker. A system that shared
its output with others counts with the mean over the draw of one of them (``members="expected"``),
unless a measure says otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from errata.core.correlation import Correlation, correlate
from errata.data import Hypotheses, Scores
from errata.human import compare, parse_ranker, rank
from errata.metrics.scribendi import levenshtein_distance_ratio, token_sort_ratio
from errata.models import perplexity
from errata.reproduce.data import ExperimentData as Data
from errata.reproduce.data import (
    NotRun,
    cache_result,
    index_of,
    look_up,
    name_at_position,
    systems_best_first,
)
from errata.reproduce.metric_measures import correlate_systems, human_scores, system_at
from errata.reproduce.run import register_measure
from errata.scoring.evaluate import evaluate

NAMES = {"src": "INPUT"}
REFERENCE = "refmix1"  # one of the two references stood among the systems


@cache_result
def napoles_human_scores(data: Data, judge: str = "", members: str = "expected") -> Scores:
    """The systems ranked by the three judges, or by one; the reference is ranked, then left out."""

    mine = [j for j in data.judgments("napoles15-xml") if judge in ("", j.judge)]
    chosen = look_up(members, {"expected": "expected", "all": "all"})
    ranker = parse_ranker("trueskill_meanfield")
    found = rank(ranker, compare(mine, members=chosen), resamples=0)  # type: ignore[arg-type]
    names = tuple(NAMES.get(name, name) for name in found.systems)
    return Scores("people", names, found.values).without(REFERENCE)


@register_measure("napoles_rank")
def napoles_rank(data: Data, metric: str, position: str) -> str:
    """Table 2: the system at a place by people (without the reference) or by a metric."""
    if metric != "Human":
        return system_at(data, metric, position)
    return name_at_position(position, systems_best_first(napoles_human_scores(data)))


@register_measure("order_correlation")
def correlate_with_printed_order(data: Data, experiment: str, table: str, column: str) -> float:
    """Spearman's ρ of people's computed order with the printed one."""
    printed = [t for (_, c), t in data.printed_cells(experiment, table).items() if c == column]
    names = systems_best_first(napoles_human_scores(data))
    return float(
        correlate("spearman", [printed.index(name) for name in names], np.arange(len(names)))
    )


@register_measure("judges_correlation")
def judges_correlation(data: Data, judges: str, kind: Correlation, members: str = "all") -> float:
    """Table 1: the scores of the systems by two judges, ``"1-2"``."""
    first, second = (napoles_human_scores(data, f"annot{k}", members) for k in judges.split("-"))
    return correlate_systems(first, second, kind)


@register_measure("people_correlation")
def people_correlation(
    data: Data, metric: str, kind: Correlation, members: str = "expected"
) -> float:
    """Table 3: a metric against people, both computed."""
    people = napoles_human_scores(data, "", members)
    return correlate_systems(people, data.scores_by_recipe(metric), kind)


@register_measure("metrics_correlation")
def metrics_correlation(data: Data, first: str, second: str, kind: Correlation) -> float:
    """Figure 1: two metrics against each other on the 12 systems."""
    a, b = (data.scores_by_recipe(metric) for metric in (first, second))
    return correlate_systems(a, b, kind, "INPUT")


@register_measure("sentence_score")
def sentence_score(data: Data, metric: str, system: str, sentence: int) -> float:
    """Table 4: the score of one sentence (from 1) of a system."""
    found = data.scores_by_recipe(metric)
    assert found.sentences is not None
    return float(found.sentences[index_of(system, found.systems), sentence - 1])


@register_measure("constant_score")
def score_of_constant_output(data: Data, metric: str, part: str, text: str) -> float:
    """Footnote 3: the score, or a part of it, of a system that always says the same."""
    recipe = data.metric_recipe(metric)

    def score_constant() -> Scores:
        corpus = data.corpus(recipe["references"])
        output = Hypotheses("constant", (text,) * len(corpus))
        return evaluate(recipe["metric"], corpus, [output], resamples=0, guard=False)

    found = data.get_or_make(("constant", *data.recipe_key(metric), text), score_constant)
    return float((found.values if part == "score" else look_up(part, found.parts))[0])


@register_measure("constant_place")
def rank_of_constant_output(data: Data, metric: str, text: str, what: str) -> int:
    """Footnote 3: its place (from 1) among the systems; ``what`` names the column."""
    value = score_of_constant_output(data, metric, "score", text)
    others = data.scores_by_recipe(metric).without("INPUT").values
    return 1 + int((others > value).sum())


# ---- Measures of Islam & Magnani (2021).

THRESHOLD = 0.8  # of the likeness, section 4.2


@register_measure("likeness")
def source_target_similarity(
    data: Data, example: str, what: str, examples: Mapping[str, Mapping[str, str]], times: int = 1
) -> float:
    """Table 1 and section 5: the token sort ratio or the Levenshtein distance ratio of a pair."""
    pair = look_up(example, examples)
    ratio = look_up(what, {"TSR": token_sort_ratio, "LDR": levenshtein_distance_ratio})
    return times * ratio(pair["source"], pair["target"])


@register_measure("sentence_perplexity")
def sentence_perplexity(
    data: Data, example: str, side: str, examples: Mapping[str, Mapping[str, str]], model: str = ""
) -> float:
    """Table 1 and section 5: the perplexity of the source or the target of a pair."""
    pair = look_up(example, examples)
    rows = data.language_model(model).rows([look_up(side, pair)])
    return float(perplexity(rows)[0])


@register_measure("scribendi_of_pair")
def scribendi_of_pair(
    data: Data, example: str, metric: str, examples: Mapping[str, Mapping[str, str]]
) -> int:
    """Table 4: the Scribendi of a target so unlike its source that no model has a say.

    ``metric`` names the column.
    """
    pair = look_up(example, examples)
    source, target = pair["source"], pair["target"]
    alike = max(token_sort_ratio(source, target), levenshtein_distance_ratio(source, target))
    if source != target and alike >= THRESHOLD:
        raise NotRun("the pair is so alike that a language model must decide")
    return 0 if source == target else -1


def _scribendi_scores(data: Data, model: str) -> Scores:
    data.language_model(model)  # says so where it cannot be had
    return data.scores(f"scribendi(model={model or data.model})", "conll14")


@register_measure("scribendi_rank")
def scribendi_rank(data: Data, position: str, metric: str, model: str = "") -> str:
    """Table 5: the system at a place by Scribendi; ``metric`` names the column."""
    return name_at_position(position, systems_best_first(_scribendi_scores(data, model)))


@register_measure("scribendi_correlation")
def scribendi_correlation(data: Data, people: str, kind: Correlation, model: str = "") -> float:
    """Tables 2 and 3: Scribendi against the people of Napoles or of Grundkiewicz et al."""
    human = (
        napoles_human_scores(data)
        if people == "napoles15"
        else human_scores(data, look_up(people, {"grundkiewicz15": "trueskill"}), "computed")
    )
    return correlate_systems(human, _scribendi_scores(data, model), kind)


@register_measure("not_to_be_had")
def raise_unavailable(data: Data, metric: str, what: str, software: str) -> float:
    """A figure of software or weights that are not public; says which."""
    raise NotRun(software)
