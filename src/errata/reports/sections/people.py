"""People's ranking and agreement; metrics and people."""

from __future__ import annotations

from errata.core.errors import InputError
from errata.core.stats import plural
from errata.human import compare, head_to_head, parse_ranker
from errata.human import tables as human_tables
from errata.human.agreement import judge_correlations
from errata.human.plan import Plan, next_pairs, plan, seconds_per_ranking
from errata.human.ranking import Ranking
from errata.meta import tables as meta_tables
from errata.meta.tables import matrix_tables, rating_table
from errata.plots.svg import svg_chart
from errata.reports.page import Section, SectionBuilder, join_names
from errata.reports.results import ReportResults
from errata.reports.sections.leaderboard import forest_chart
from errata.scoring.tables import score_table


def agreement_section(results: ReportResults) -> Section | None:
    """Which metric to believe: agreement with people on systems and on sentences, and a square."""
    level, sentences = results.system_agreement, results.sentence_agreement
    matrix = results.metric_matrix
    pieces = SectionBuilder("metrics")
    if level is not None and results.matched_scores is not None:
        pieces.heading("Over systems")
        pieces.charts(
            [
                svg_chart(f"metrics-people-{shape.title}", f"{shape.title} against people", shape)
                for shape in meta_tables.scatter_plot(results.matched_scores).shapes
            ]
        )
        pieces.table(meta_tables.system_level_table(level))
        if level.pairs:
            pieces.table(meta_tables.metric_pair_table(level), folded=True)
    if sentences is not None:
        pieces.heading("Sentence by sentence")
        pieces.table(meta_tables.sentence_level_table(sentences))
        if sentences.contests:
            pieces.table(meta_tables.accuracy_pair_table(sentences), folded=True)
    ratings = results.try_or_note("agreement with ratings", lambda: results.meta.ratings)
    if ratings is not None:
        pieces.heading("Output by output")
        pieces.table(rating_table(ratings))
    if matrix is not None:
        pieces.heading("Against each other")
        _, spearman = meta_tables.matrix_map(matrix).shapes
        title = "Spearman's ρ of every two metrics"
        pieces.charts([svg_chart("metrics-matrix", title, spearman)])
        for table in matrix_tables(matrix):
            pieces.table(table, folded=True)
    if not pieces:
        return None
    judged = any(each is not None for each in (level, sentences, ratings))
    heading = "Which metric to believe" if judged else "Metrics against each other"
    return pieces.section(heading, _metrics_lead(results))


def _metrics_lead(results: ReportResults) -> str:
    level = results.system_agreement
    if level is None:
        return ""
    best = max(level.agreements, key=lambda each: each.values["spearman"])
    rho, n = best.values["spearman"], len(level.paired)
    said = f"Over {n} systems {best.metric} orders them most as people do (ρ = {rho:.2f})."
    sure = any(
        pair.better == best.metric and any(p <= 1 - level.confidence for p in pair.holm.values())
        for pair in level.pairs
    )
    if len(level.agreements) > 1 and not sure:
        said += " No test separates it from the other metrics: there are too few systems."
    return said


def people_section(results: ReportResults) -> Section | None:
    """Human rankings with ranges and clusters, agreement, and the judgments needed."""
    people = results.human_scores
    if people is None:
        return None
    given = results.material
    ranking = results.human_ranking
    pieces = SectionBuilder("people")
    pieces.charts([forest_chart(people, ranking, given.confidence, key="people")])
    if not given.judgments:
        pieces.table(score_table(people, confidence=given.confidence))
    elif ranking is not None:
        pieces.table(human_tables.ranking_table(ranking))
    else:
        pieces.table(human_tables.plain_ranking_table(people))
    comparisons = results.meta.comparisons
    if comparisons is not None:
        if len(comparisons.systems) > 1:
            order = ranking.order if ranking is not None else people.order
            head = head_to_head(comparisons)
            table = human_tables.head_to_head_table(head, order, context=comparisons.facts)
            pieces.table(table, folded=True)
        _add_judge_agreement(results, pieces)
        _add_planning(results, ranking, pieces)
    return pieces.section("What people say", _people_lead(results))


def _people_lead(results: ReportResults) -> str:
    given, people = results.material, results.human_scores
    assert people is not None
    if not given.judgments:
        return f"People's scores of {len(people)} systems, as they were given."
    judges = len({judgment.judge for judgment in given.judgments})
    count = len(given.judgments)
    said = (
        f"{count:,} {plural('judgment', count)} by {judges} {plural('judge', judges)}, ranked by "
        f"{people.label}."
    )
    ranking = results.human_ranking
    if ranking is None:
        return said
    n = int(ranking.cluster.max())
    apart = "one cluster" if n == 1 else f"{n} significantly different clusters"
    return f"{said} They make {apart}."


def _add_judge_agreement(results: ReportResults, pieces: SectionBuilder) -> None:
    found = results.agreement
    if found is None:
        return
    pieces.heading("How far judges agree")
    if found.outsiders:
        several = len(found.outsiders) > 1
        pieces.paragraph(
            f"{join_names(found.outsiders)} {'agree' if several else 'agrees'} with no other judge "
            "better than chance: look at their judgments before you count them (--leave-out)."
        )
    else:
        pieces.paragraph("No judge stands apart from all others.")
    context = results.material.people.get("origin", ())
    summary, matrix, judges = human_tables.agreement_tables(found, context=context)
    pieces.table(summary)
    pieces.table(judges, folded=not found.outsiders)
    pieces.table(matrix, folded=True)
    judgments = results.material.judgments or ()
    comparisons = compare(judgments, keep="judges", origin=context)
    ranker = parse_ranker("expected_wins(denominator='beaten')")
    try:
        correlations = judge_correlations(comparisons, ranker)
    except InputError as error:
        results.missing_notes.append(f"judges' rankings: {error}")
        return
    table = human_tables.correlation_table(correlations, context=comparisons.facts)
    pieces.table(table, folded=True)


def undecided_neighbours(ranking: Ranking | None) -> tuple[str, str] | None:
    """The best two neighbours that do not differ significantly."""
    if ranking is None:
        return None
    groups = ranking.cluster.tolist()
    for k in range(1, len(groups)):
        if groups[k] == groups[k - 1]:
            return ranking.systems[k - 1], ranking.systems[k]
    return None


def _add_planning(results: ReportResults, ranking: Ranking | None, pieces: SectionBuilder) -> None:
    given, comparisons, people = results.material, results.meta.comparisons, results.human_scores
    pair = undecided_neighbours(ranking)
    if comparisons is None or people is None or people.resampled is None:
        return
    pieces.heading("How many judgments are still needed")
    if pair is not None:
        try:
            planned = plan(
                comparisons,
                results.meta.ranker,
                *pair,
                confidence=given.confidence,
                unit=results.meta.unit,
                rng=given.rng,
                seconds=seconds_per_ranking(given.judgments or ()),
            )
        except InputError as error:
            results.missing_notes.append(f"planning: {error}")
        else:
            pieces.paragraph(_judgments_needed_sentence(planned))
            first, *rest = human_tables.plan_tables(planned)
            pieces.table(first)
            for table in rest:
                pieces.table(table, folded=True)
    else:
        pieces.paragraph("None to separate these systems: every cluster holds one system.")
    if len(comparisons.systems) > 1:
        pairs = next_pairs(people, comparisons)
        pieces.table(human_tables.next_pairs_table(pairs, signature=people.signature))


def _judgments_needed_sentence(planned: Plan) -> str:
    pair = f"{planned.better} and {planned.worse}"
    if planned.rankings is None:
        return (
            f"{pair} may never differ significantly: {int(planned.sizes[-1]):,} rankings would not "
            "suffice, judging by these."
        )
    if not planned.more:
        return f"There should be enough already to separate {pair}."
    hours = "" if planned.hours is None else f", about {planned.hours:.0f} hours of work"
    return f"To separate {pair} takes about {planned.more:,} more rankings{hours}."
