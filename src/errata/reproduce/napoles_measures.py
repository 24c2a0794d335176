"""Measures of Napoles et al. (2015): three judges, and metrics against each other and against them.

The judgments are the released XML without the judge who is no native speaker. A system that shared
its output with others counts with the mean over the draw of one of them (``members="expected"``),
unless a measure says otherwise.
"""

from __future__ import annotations

import numpy as np

from errata.correlation import Correlation, correlate
from errata.data import Hypotheses, Scores
from errata.evaluation import evaluate
from errata.human import compare, parse_ranker, rank
from errata.meta.paired import match_systems
from errata.reproduce.lookup import at_position, best_first, pick, place
from errata.reproduce.material import Material
from errata.reproduce.measures import measure
from errata.reproduce.metric_measures import system_at

__all__ = ["napoles_people"]

NAMES = {"src": "INPUT"}
REFERENCE = "refmix1"  # one of the two references stood among the systems


def napoles_people(material: Material, judge: str = "", members: str = "expected") -> Scores:
    """The systems ranked by the three judges, or by one; the reference is ranked, then left out."""

    def make() -> Scores:
        mine = [j for j in material.judgments("napoles15-xml") if judge in ("", j.judge)]
        chosen = pick(members, {"expected": "expected", "all": "all"})
        found = rank(
            parse_ranker("trueskill_meanfield"),
            compare(mine, members=chosen),  # type: ignore[arg-type]
            resamples=0,
        )
        named = Scores(
            "people", tuple(NAMES.get(name, name) for name in found.systems), found.values
        )
        return named.without(REFERENCE)

    return material.keep(("napoles", judge, members), make)


@measure
def napoles_rank(material: Material, metric: str, position: str) -> str:
    """Table 2: the system at a place by people (without the reference) or by a metric."""
    if metric != "Human":
        return system_at(material, metric, position)
    return at_position(position, best_first(napoles_people(material)))


@measure
def order_correlation(material: Material, experiment: str, table: str, column: str) -> float:
    """Spearman's ρ of people's computed order with the printed one."""
    printed = [t for (_, c), t in material.printed(experiment, table).items() if c == column]
    names = best_first(napoles_people(material))
    return float(
        correlate("spearman", [printed.index(name) for name in names], np.arange(len(names)))
    )


@measure
def judges_correlation(
    material: Material, judges: str, kind: Correlation, members: str = "all"
) -> float:
    """Table 1: the scores of the systems by two judges, ``"1-2"``."""
    first, second = (napoles_people(material, f"annot{k}", members) for k in judges.split("-"))
    a, b = match_systems(first, second)
    return float(correlate(kind, a.values, b.values))


@measure
def people_correlation(
    material: Material, metric: str, kind: Correlation, members: str = "expected"
) -> float:
    """Table 3: a metric against people, both computed."""
    a, b = match_systems(napoles_people(material, "", members), material.scores_by(metric))
    return float(correlate(kind, a.values, b.values))


@measure
def metrics_correlation(material: Material, first: str, second: str, kind: Correlation) -> float:
    """Figure 1: two metrics against each other on the 12 systems."""
    a, b = (material.scores_by(metric).without("INPUT") for metric in (first, second))
    a, b = match_systems(a, b)
    return float(correlate(kind, a.values, b.values))


@measure
def sentence_score(material: Material, metric: str, system: str, sentence: int) -> float:
    """Table 4: the score of one sentence (from 1) of a system."""
    found = material.scores_by(metric)
    assert found.sentences is not None
    return float(found.sentences[place(system, found.systems), sentence - 1])


@measure
def constant_score(material: Material, metric: str, part: str, text: str) -> float:
    """Footnote 3: the score, or a part of it, of a system that always says the same."""
    recipe = material.recipe(metric)

    def make() -> Scores:
        corpus = material.corpus(recipe["references"])
        output = Hypotheses("constant", (text,) * len(corpus))
        return evaluate(recipe["metric"], corpus, [output], resamples=0, guard=False)

    found = material.keep(("constant", *material.described(metric), text), make)
    return float((found.values if part == "score" else pick(part, found.parts))[0])


@measure
def constant_place(material: Material, metric: str, text: str, what: str) -> int:
    """Footnote 3: its place (from 1) among the systems; ``what`` names the column."""
    value = constant_score(material, metric, "score", text)
    others = material.scores_by(metric).without("INPUT").values
    return 1 + int((others > value).sum())
