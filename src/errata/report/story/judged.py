"""What people say: their ranking, how far they agree, and how many judgments are still needed."""

from __future__ import annotations

from errata.errors import InputError
from errata.human import compare, head_to_head, parse_ranker
from errata.human.clusters import Ranking
from errata.human.judge_rankings import judge_correlations
from errata.human.planning import Plan, next_pairs, plan, seconds_per_ranking
from errata.numbers import plural
from errata.report.page.section import Section
from errata.report.story.building import Pieces, one_of
from errata.report.story.leaderboard import forest_of
from errata.report.story.results import Results
from errata.report.tables import rankings as report
from errata.report.tables.scores import score_table

__all__ = ["closest_pair", "people_section"]


def people_section(results: Results) -> Section | None:
    """Human rankings with ranges and clusters, agreement, suspicious judges, and what is needed."""
    people = results.people
    if people is None:
        return None
    given = results.material
    ranking = results.people_ranked
    pieces = Pieces("people")
    pieces.charts([forest_of(people, ranking, given.confidence, key="people")])
    if not given.judgments:
        pieces.table(score_table(people, confidence=given.confidence))
    elif ranking is not None:
        pieces.table(report.ranking_table(ranking))
    else:
        pieces.table(report.plain_ranking_table(people))
    comparisons = results.comparisons
    if comparisons is not None:
        if len(comparisons.systems) > 1:
            order = ranking.order if ranking is not None else people.order
            head = head_to_head(comparisons)
            table = report.head_to_head_table(head, order, context=comparisons.facts)
            pieces.table(table, folded=True)
        _agreement(results, pieces)
        _needed(results, ranking, pieces)
    return pieces.section("What people say", _lead(results))


def _lead(results: Results) -> str:
    given, people = results.material, results.people
    assert people is not None
    if not given.judgments:
        return f"People's scores of {len(people)} systems, as they were given."
    judges = len({judgment.judge for judgment in given.judgments})
    count = len(given.judgments)
    said = (
        f"{count:,} {plural('judgment', count)} by {judges} {plural('judge', judges)}, ranked by "
        f"{people.label}."
    )
    ranking = results.people_ranked
    if ranking is None:
        return said
    n = int(ranking.cluster.max())
    apart = "no two systems surely apart" if n == 1 else f"{n} clusters that are surely apart"
    return f"{said} They make {apart}."


def _agreement(results: Results, pieces: Pieces) -> None:
    found = results.agreement
    if found is None:
        return
    pieces.heading("How far judges agree")
    if found.outsiders:
        several = len(found.outsiders) > 1
        pieces.say(
            f"{one_of(found.outsiders)} {'agree' if several else 'agrees'} with no other judge "
            "better than chance: look at their judgments before you count them (--leave-out)."
        )
    else:
        pieces.say("No judge stands apart from all others.")
    context = results.material.origin
    summary, matrix, judges = report.agreement_tables(found, context=context)
    pieces.table(summary)
    pieces.table(judges, folded=not found.outsiders)
    pieces.table(matrix, folded=True)
    judgments = results.material.judgments or ()
    comparisons = compare(judgments, keep="judges", origin=context)
    ranker = parse_ranker("expected_wins(denominator='beaten')")
    try:
        correlations = judge_correlations(comparisons, ranker)
    except InputError as error:
        results.missing.append(f"judges' rankings: {error}")
        return
    pieces.table(report.correlation_table(correlations, context=comparisons.facts), folded=True)


def closest_pair(ranking: Ranking | None) -> tuple[str, str] | None:
    """The best two neighbours that the judgments do not tell apart."""
    if ranking is None:
        return None
    groups = ranking.cluster.tolist()
    for k in range(1, len(groups)):
        if groups[k] == groups[k - 1]:
            return ranking.systems[k - 1], ranking.systems[k]
    return None


def _needed(results: Results, ranking: Ranking | None, pieces: Pieces) -> None:
    given, comparisons, people = results.material, results.comparisons, results.people
    pair = closest_pair(ranking)
    if comparisons is None or people is None or people.resampled is None:
        return
    pieces.heading("How many judgments are still needed")
    if pair is not None:
        try:
            planned = plan(
                comparisons,
                parse_ranker(given.ranker),
                *pair,
                confidence=given.confidence,
                unit=given.unit,
                rng=given.seed,
                seconds=seconds_per_ranking(given.judgments or ()),
            )
        except InputError as error:
            results.missing.append(f"planning: {error}")
        else:
            pieces.say(_said(planned))
            first, *rest = report.plan_tables(planned)
            pieces.table(first)
            for table in rest:
                pieces.table(table, folded=True)
    else:
        pieces.say("None to tell these systems apart: every cluster holds one system.")
    if len(comparisons.systems) > 1:
        pieces.table(
            report.next_pairs_table(next_pairs(people, comparisons), signature=people.signature)
        )


def _said(planned: Plan) -> str:
    pair = f"{planned.better} and {planned.worse}"
    if planned.rankings is None:
        return (
            f"{pair} may never be told apart: even {int(planned.sizes[-1]):,} rankings would not "
            "do it, by what these say."
        )
    if not planned.more:
        return f"There should be enough to tell {pair} apart already."
    hours = "" if planned.hours is None else f", about {planned.hours:.0f} hours of work"
    return f"To tell {pair} apart takes about {planned.more:,} more rankings{hours}."
