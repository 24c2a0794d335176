"""``errata refs --set``: several reference sets, the systems, and what people say of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import click

from errata.cli.figures import Figures
from errata.cli.given import Given
from errata.cli.human_scores import People, comparisons_of, judgments_of, over_option, people_scores
from errata.cli.inputs import Inputs
from errata.cli.options import DRAWN, Bootstrap, gathered, refuse_unless
from errata.cli.output import ProgressBar
from errata.cli.people import Chosen, JudgmentInputs, members_option, ranker_option, unit_option
from errata.cli.running import note
from errata.cli.score_files import ScoreFiles, human_option, names_option
from errata.cli.set_options import SetView, read_sets
from errata.errors import InputError

if TYPE_CHECKING:
    from errata.data import Hypotheses, Members, Scores
    from errata.human.comparisons import Unit
    from errata.meta.systems import Over
    from errata.metrics import Metric
    from errata.report.table import Table
    from errata.studies.several_sets import NamedSet, SetAgreements, SetCurve, SetScores

__all__ = ["JUDGED_SETS", "PeopleOfSets", "people_of_sets_options", "tables_of_sets"]

# Options that only a comparison of whole sets makes use of.
JUDGED_SETS = (
    "curves judgments human names ranker members unit over without hide common "
    "base leave_out outputs labels statuses columns"
)


class PeopleOfSets(NamedTuple):
    """Where people's word stands, how it becomes scores, and what intervals resample."""

    judgments: tuple[str, ...]
    human: str | None
    names: str | None
    ranker: str
    members: Members
    unit: Unit
    over: Over

    @property
    def ranked(self) -> People:
        """What judgments become scores by."""
        return People(self.judgments, self.ranker, self.members)


people_of_sets_options = gathered(
    "people",
    PeopleOfSets,
    {
        "judgments": click.option(
            "--judgments",
            multiple=True,
            metavar="FILE",
            help="Human rankings in any form that errata rank reads; may be repeated.",
        ),
        "human": human_option,
        "names": names_option,
        "ranker": ranker_option("How judgments become scores (see errata rank)."),
        "members": members_option,
        "unit": unit_option("What human judgments are resampled by (--over judgments, both)."),
        "over": over_option,
    },
)


def tables_of_sets(
    outputs: tuple[str, ...],
    inputs: Inputs,
    view: SetView,
    metrics: list[Metric],
    people: PeopleOfSets,
    selected: Chosen,
    judged: JudgmentInputs,
    cased: bool,
    figures: Figures,
    bootstrap: Bootstrap,
) -> list[Table]:
    """Compare reference sets; what needs outputs or people is left out where there are none."""
    from errata.report.tables import several_sets as report
    from errata.studies import several_sets as study

    scoring = bool(outputs or inputs.sample)
    _check_used(people, judged, inputs, bootstrap, scoring)
    whole = inputs.whole
    corpus = whole.corpus()
    sets = read_sets(view.sets, corpus, inputs)
    systems = whole.systems(outputs, corpus)
    written = inputs.as_written(outputs, systems)
    given = Given(
        judgments_of(people.ranked, inputs.sample and people.human is None, judged, written),
        ScoreFiles((), people.human, people.names, ()).read()[0],
        [],
        (corpus, systems),
    )
    given = given.skip(inputs.skipped).without(selected.without)
    assert given.scored is not None
    sets = [each.without_sentences(*given.scored[0].skipped) for each in sets]
    systems, before = given.scored[1], len(sets[0].corpus)
    sets, systems = study.on_common_sentences(sets, systems)
    notes = _fewer(before, len(sets[0].corpus))
    tables = [_edit_table(sets, cased, notes, figures)]
    scored = _scored(sets, metrics, systems, bootstrap)
    names = report.metric_names(scored)
    said = _said(given, people, judged, inputs, selected, bootstrap) if systems else None
    agreements = None
    if said is not None:
        agreements = study.correlate_sets(
            said,
            scored,
            over=people.over,
            resamples=bootstrap.resamples,
            confidence=bootstrap.confidence,
            rng=bootstrap.seed,
            common=selected.common,
            hide=selected.hide,
        )
        said = agreements.paired.people
        tables += report.set_correlation_tables(agreements)
    for name, found in zip(names, scored, strict=True):
        tables.append(report.set_score_table(found, name, confidence=bootstrap.confidence))
        tables.append(report.set_rank_table(found, name, said))
    curves = _curves(sets, view.curves, metrics, names, systems, bootstrap, tables)
    _draw(agreements, said, scored, names, curves, figures)
    return tables


def _check_used(
    people: PeopleOfSets,
    judged: JudgmentInputs,
    inputs: Inputs,
    bootstrap: Bootstrap,
    scoring: bool,
) -> None:
    """Refuse whatever was given and would change nothing."""
    refuse_unless(
        scoring, "metrics curves judgments human without hide common resamples seed", "outputs"
    )
    refuse_unless(people.human is None, "judgments", "no --human scores beside it")
    judgments = people.human is None and bool(people.judgments or inputs.sample)
    refuse_unless(judgments, "ranker members unit leave_out", "--judgments")
    judged.check_used(bool(people.judgments), "--judgments")
    refuse_unless(judgments or people.human is not None, "over hide common", "people's word")
    refuse_unless(bootstrap.resamples > 0, "over unit", DRAWN)


def _fewer(before: int, after: int) -> tuple[str, ...]:
    """The note on sentences that some set does not correct."""
    if after == before:
        return ()
    said = f"compared on the {after} of {before} sentences that every set corrects"
    note(said)
    return (said,)


def _edit_table(
    sets: Sequence[NamedSet], cased: bool, notes: tuple[str, ...], figures: Figures
) -> Table:
    from errata.evaluation import corpus_facts
    from errata.report.figures import save_figure
    from errata.report.figures.several_sets import edit_bars
    from errata.report.table import signed
    from errata.report.tables.several_sets import set_operation_table
    from errata.studies.several_sets import set_operations

    with ProgressBar("TER") as progress:
        found = set_operations(sets, lowercase=not cased, progress=progress)
    for kind, path in figures:
        if kind == "edits":
            save_figure(edit_bars(found), path)
    facts = "; ".join(f"{each.name}: {' | '.join(corpus_facts(each.corpus))}" for each in sets)
    signature = signed(f"ster(lowercase={not cased})") + f"; {facts}"
    return set_operation_table(found, notes=notes, signature=signature)


def _scored(
    sets: Sequence[NamedSet],
    metrics: list[Metric],
    systems: Sequence[Hypotheses],
    bootstrap: Bootstrap,
) -> list[SetScores]:
    from errata.studies.several_sets import score_sets

    resamples, _, seed, _ = bootstrap
    found = []
    for metric in metrics if systems else ():
        with ProgressBar(metric.name) as progress:
            found.append(
                score_sets(metric, sets, systems, resamples=resamples, rng=seed, progress=progress)
            )
    return found


def _said(
    given: Given,
    people: PeopleOfSets,
    judged: JudgmentInputs,
    inputs: Inputs,
    selected: Chosen,
    bootstrap: Bootstrap,
) -> Scores | None:
    """People's scores of the systems, if there are any."""
    if given.human is None and given.judgments is None:
        return None
    origin = (*judged.facts, *inputs.skip_facts, *(f"without:{n}" for n in selected.without))
    comparisons = comparisons_of(given.judgments, people.ranked, origin, bootstrap.seed)
    return people_scores(given.human, comparisons, people.ranked, people.unit, bootstrap)


def _curves(
    sets: Sequence[NamedSet],
    wanted: Sequence[str],
    metrics: list[Metric],
    names: Sequence[str],
    systems: Sequence[Hypotheses],
    bootstrap: Bootstrap,
    tables: list[Table],
) -> dict[str, tuple[str, list[SetCurve]]]:
    """Scores against the number of references, by metric; each becomes a table."""
    from errata.report.table import signed
    from errata.report.tables.several_sets import set_curve_table
    from errata.studies.reference_sets import curve_facts
    from errata.studies.several_sets import set_curve

    found: dict[str, tuple[str, list[SetCurve]]] = {}
    chosen = [each for each in sets if each.name in wanted]
    if not chosen or not systems:
        return found
    for name, metric in zip(names, metrics, strict=True):
        curves = []
        for each in chosen:
            with ProgressBar(f"{metric.name}, {each.name}") as progress:
                curves.append(
                    set_curve(each, metric, systems, rng=bootstrap.seed, progress=progress)
                )
        facts = "; ".join(
            f"{each.name}: {' | '.join(curve_facts(each.corpus, metric, systems))}"
            for each in chosen
        )
        signature = signed(repr(metric), f"seed:{bootstrap.seed}") + f"; {facts}"
        tables.append(set_curve_table(curves, name, signature=signature))
        found[name] = (metric.headline, curves)
    return found


def _draw(
    agreements: SetAgreements | None,
    said: Scores | None,
    scored: Sequence[SetScores],
    names: Sequence[str],
    curves: dict[str, tuple[str, list[SetCurve]]],
    figures: Figures,
) -> None:
    from errata.report.figures import save_figure
    from errata.report.figures import several_sets as plots
    from errata.report.tables.several_sets import PEOPLE

    for kind, path in figures:
        if kind == "correlations":
            if agreements is None:
                raise InputError(
                    "--figure correlations= needs people's word",
                    remedy="give outputs, and --judgments or --human",
                )
            save_figure(plots.correlation_bars(agreements, names), path)
        elif kind == "curve":
            if not curves:
                raise InputError(
                    "--figure curve= needs a curve", remedy="name outputs, and a set with --curve"
                )
            drawn = {name: several for name, (_, several) in curves.items()}
            save_figure(plots.curve_plot(drawn, [line for line, _ in curves.values()]), path)
        elif kind == "rankings":
            if not scored:
                raise InputError(
                    "--figure rankings= needs outputs to rank", remedy="name one file per system"
                )
            systems = scored[0].scores[0].systems if said is None else said.systems
            rankings = {
                name: ({} if said is None else {PEOPLE: said})
                | {
                    each.name: scores.select(systems)
                    for each, scores in zip(found.sets, found.scores, strict=True)
                }
                for name, found in zip(names, scored, strict=True)
            }
            save_figure(plots.slope_graph(rankings), path)
