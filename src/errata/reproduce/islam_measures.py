"""Measures of Islam & Magnani (2021): likeness and perplexity of their examples, and Scribendi.

The paper ran GPT-2. A ``model`` of a measure is ``gpt2`` (only where its weights are at hand) or,
if it is empty, the one that was chosen for the run.
"""

from __future__ import annotations

from collections.abc import Mapping

from errata.correlation import Correlation, correlate
from errata.data import Scores
from errata.meta.paired import match_systems
from errata.metrics.scribendi import levenshtein_distance_ratio, token_sort_ratio
from errata.models import perplexity
from errata.reproduce.lookup import NotRun, at_position, best_first, pick
from errata.reproduce.material import Material
from errata.reproduce.measures import measure
from errata.reproduce.metric_measures import human_scores
from errata.reproduce.napoles_measures import napoles_people

__all__: list[str] = []

THRESHOLD = 0.8  # of the likeness, section 4.2


@measure
def likeness(
    material: Material,
    example: str,
    what: str,
    examples: Mapping[str, Mapping[str, str]],
    times: int = 1,
) -> float:
    """Table 1 and section 5: the token sort ratio or the Levenshtein distance ratio of a pair."""
    pair = pick(example, examples)
    ratio = pick(what, {"TSR": token_sort_ratio, "LDR": levenshtein_distance_ratio})
    return times * ratio(pair["source"], pair["target"])


@measure
def sentence_perplexity(
    material: Material,
    example: str,
    side: str,
    examples: Mapping[str, Mapping[str, str]],
    model: str = "",
) -> float:
    """Table 1 and section 5: the perplexity of the source or the target of a pair."""
    pair = pick(example, examples)
    rows = material.language_model(model).rows([pick(side, pair)])
    return float(perplexity(rows)[0])


@measure
def scribendi_of_pair(
    material: Material, example: str, metric: str, examples: Mapping[str, Mapping[str, str]]
) -> int:
    """Table 4: the Scribendi of a target so unlike its source that no model has a say.

    ``metric`` names the column.
    """
    pair = pick(example, examples)
    source, target = pair["source"], pair["target"]
    alike = max(token_sort_ratio(source, target), levenshtein_distance_ratio(source, target))
    if source != target and alike >= THRESHOLD:
        raise NotRun("the pair is so alike that a language model must decide")
    return 0 if source == target else -1


def _scribendi(material: Material, model: str) -> Scores:
    material.language_model(model)  # says so where it cannot be had
    return material.scores(f"scribendi(model={model or material.model})", "conll14")


@measure
def scribendi_rank(material: Material, position: str, metric: str, model: str = "") -> str:
    """Table 5: the system at a place by Scribendi; ``metric`` names the column."""
    return at_position(position, best_first(_scribendi(material, model)))


@measure
def scribendi_correlation(
    material: Material, people: str, kind: Correlation, model: str = ""
) -> float:
    """Tables 2 and 3: Scribendi against the people of Napoles or of Grundkiewicz et al."""
    human = (
        napoles_people(material)
        if people == "napoles15"
        else human_scores(material, pick(people, {"grundkiewicz15": "trueskill"}), "computed")
    )
    a, b = match_systems(human, _scribendi(material, model))
    return float(correlate(kind, a.values, b.values))


@measure
def not_to_be_had(material: Material, metric: str, what: str, software: str) -> float:
    """A figure of software or weights that are not public; says which."""
    raise NotRun(software)
