"""``errata references``: reference sets compared with each other."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from errata.cli.input_options import Inputs, parse_metrics
from errata.cli.judgment_options import (
    PEOPLE,
    PeopleOptions,
    ScoreFiles,
    read_meta_inputs,
    resample_over_option,
)
from errata.cli.main import note
from errata.cli.options import Bootstrap, FigureOptions, figure_option, metric_option
from errata.cli.output import CommandOptions, ProgressBar, emit, map_with_progress
from errata.cli.params import argument, count_option, flag, goes_with, group, option, takes
from errata.core.errors import InputError
from errata.core.parameters import suggest_name

if TYPE_CHECKING:
    from errata.data import Hypotheses, Scores
    from errata.meta.system_level import Over
    from errata.metrics import Metric
    from errata.plots import Panels
    from errata.references.sets import NamedSet, SetCurve, SetRequest
    from errata.tables.table import Table

METRICS = ("m2", "gleu")
SCORED = "outputs or --sample"
EPILOG = """\b
Examples:
  errata references --source src.txt --refs a.txt --refs b.txt
  errata references --source src.txt --set experts=a.txt,b.txt --set crowd=c.txt,d.txt
    --set all=experts+crowd --judgments judgments.xml outputs/* --figure rankings=r.svg
  errata references --gold gold.m2 --set first=annotator:0 --set others=annotator:1,2 out/*
"""


@dataclass(frozen=True)
class ReferencesOptions(CommandOptions):
    outputs: tuple[str, ...] = argument(metavar="[NAME=]FILE...", role="outputs", several=True)
    inputs: Inputs = group(
        Inputs, needs={"missing": "--refs or --set", "compatible": "--gold or --set"}
    )
    sets: tuple[SetRequest, ...] = option(
        "--set NAME=...",
        "Compare whole reference sets: NAME=FILE,FILE (texts or M2), NAME=annotator:0,1 (of "
        "--gold or --refs; annotator:all), NAME=data:COLLECTION (public data), or NAME=SET+SET "
        "(sets named before); repeat it.",
        multiple=True,
        parse=lambda texts: import_module("errata.references.sets").parse_sets(texts),
    )
    curves: tuple[str, ...] = option(
        "--curve SET",
        "With --set: scores against the number of references of this set; may be repeated.",
        multiple=True,
        needs=("--set", SCORED),
    )
    metrics: tuple[str, ...] = metric_option(*METRICS)
    people: PeopleOptions = group(PeopleOptions, needs={"*": "--set", "without": SCORED})
    scores: ScoreFiles = group(ScoreFiles, "files", "lower", needs={"*": "--set"})
    over: Over = resample_over_option(needs=("--set", PEOPLE, "--resamples above 0"))
    worst: int = count_option(
        "--worst",
        "How many sentences with the largest disagreement to show.",
        5,
        least=0,
        excludes="--set",
    )
    cased: bool = flag("--cased", "Count changes of case as edits in sTER.")
    figures: FigureOptions = figure_option(
        {
            "edits": "the kinds of edit by annotator or set",
            "curve": "scores against the number of references",
            "correlations": "agreement with people by set",
            "rankings": "the ranks of the systems by people and by each set, joined by lines",
        }
    )
    bootstrap: Bootstrap = group(Bootstrap, "kind")

    def __post_init__(self) -> None:
        """Refuse unknown sets, figures without data, and settings of scores that are not made."""
        known = [each.name for each in self.sets]
        for name in self.curves:
            if name not in known:
                remedy = f"{suggest_name(name, known)}there are: {', '.join(known) or 'none'}"
                raise InputError(f"--curve {name}: there is no such set", remedy=remedy)
        scored = bool(self.outputs or self.inputs.sample)
        people = self.people.judgments or self.scores.human
        if people and (self.people.judgments and self.scores.human):
            raise InputError("--judgments and --human are given", remedy="leave out one of them")
        if people and not scored:
            remedy = "leave them out otherwise"
            raise InputError("--judgments and --human go with outputs to score", remedy=remedy)
        if self.sets and self.metrics and not scored:
            raise goes_with("--metric", "outputs to score")
        usual = Bootstrap()
        if self.sets and not scored:
            for name in ("resamples", "seed", "confidence"):
                if getattr(self.bootstrap, name) != getattr(usual, name):
                    raise goes_with(f"--{name}", "outputs to score")
        for kind, _ in self.figures:
            if kind in ("correlations", "rankings") and not self.sets:
                remedy = "name the sets to compare"
                raise InputError(f"--figure {kind}= goes with --set", remedy=remedy)

    def draw_figure(
        self, kind: str, panels: Callable[[], Panels[Any] | None], needs: str = "", remedy: str = ""
    ) -> None:
        """Draw the figures of a kind; ``needs`` says what is missing where there are no panels."""
        from errata.plots.mpl import save_figure

        for path in (path for each, path in self.figures if each == kind):
            drawn = panels()
            if drawn is None:
                raise InputError(f"--figure {kind}= needs {needs}", remedy=remedy)
            save_figure(drawn, path)


@click.command("references", epilog=EPILOG)
@takes(ReferencesOptions, data=True)
def command(given: ReferencesOptions) -> None:
    """Compare reference sets with the source and with each other.

    How much annotators change and by which operations, how often they agree, the score of each
    against the others, whether every reference scores perfectly against itself, and where
    they disagree most. With system outputs also: their scores against the number of references.

    With --set whole sets are compared, on the sentences that all of them correct: what they
    change; with outputs the scores and ranks of the systems by each set; with human data also
    which pairing of metric and set agrees with it (Sakaguchi et al. 2016).
    """
    metrics = parse_metrics(given.metrics, METRICS)
    tables = _compare_sets(given, metrics) if given.sets else _compare_annotators(given, metrics)
    emit(tables, given.display)


# ---- Annotators of one corpus.


def _compare_annotators(given: ReferencesOptions, metrics: list[Metric]) -> list[Table]:
    from errata.references import sets, study
    from errata.references import tables as report
    from errata.scoring.results import corpus_facts
    from errata.tables.table import make_signature

    corpus = given.inputs.corpus()
    systems = given.inputs.systems(given.outputs, corpus)
    if len(study.annotators_of(corpus)) < 2:
        remedy = "give two or more"
        raise InputError("one reference set cannot be compared with others", remedy=remedy)
    names = _annotator_names(given.inputs)
    with ProgressBar("TER") as progress:
        compared = study.study_references(
            corpus, names=names, lowercase=not given.cased, worst=given.worst, progress=progress
        )
    signature = make_signature(f"ster(lowercase={not given.cased})", *corpus_facts(corpus))
    tables = report.study_tables(compared, signature=signature)
    score = partial(
        study.annotators_as_systems, corpus, names=names, **given.bootstrap.resample_settings
    )
    scores = map_with_progress(metrics, score)
    tables.append(report.annotator_table(scores, confidence=given.bootstrap.confidence))
    checks = [study.score_against_self(corpus, metric, names=names) for metric in metrics]
    tables.append(report.self_check_table(checks))
    seed = given.bootstrap.seed
    curves: dict[str, list[SetCurve]] = {}
    for metric in metrics if systems else ():
        with ProgressBar(f"{metric.name}, references") as progress:
            curve = study.reference_curve(corpus, metric, systems, rng=seed, progress=progress)
        curves[metric.label] = [sets.SetCurve(corpus.name, curve)]
        facts = study.curve_context(corpus, metric, systems)
        signature = make_signature(repr(metric), *facts, f"seed:{seed}")
        system_names = [system.system for system in systems]
        tables.append(report.curve_table(curve, system_names, metric, signature=signature))
    given.draw_figure("edits", lambda: report.edit_bars(compared.sets))
    headlines = [metric.headline for metric in metrics]
    given.draw_figure(
        "curve",
        lambda: report.curve_plot(curves, headlines) if curves else None,
        "outputs to score",
        "name one per system",
    )
    return tables


def _annotator_names(inputs: Inputs) -> list[str] | None:
    """Return the names of the annotators: their files, with folders if these are needed."""
    if inputs.annotator_numbers or not inputs.refs:
        return None
    names = [os.path.basename(path) for path in inputs.refs]
    return names if len(set(names)) == len(names) else list(inputs.refs)


# ---- Whole sets.


def _compare_sets(given: ReferencesOptions, metrics: list[Metric]) -> list[Table]:
    """Return the tables of sets; without outputs or human data those on them are left out."""
    from errata.human import parse_ranker
    from errata.meta.evaluate import meta_evaluate
    from errata.references import sets as study
    from errata.references import tables as report
    from errata.scoring.results import corpus_facts
    from errata.tables.table import make_signature

    inputs, people, bootstrap = given.inputs, given.people, given.bootstrap
    corpus = inputs.with_all_sentences.corpus()
    with ProgressBar("data", after=0.3) as progress:
        sets = study.read_sets(given.sets, corpus, inputs.files(), progress=progress)
    scored = (corpus, inputs.with_all_sentences.systems(given.outputs, corpus))
    found = read_meta_inputs(inputs, given.outputs, people, given.scores, scored)
    found = found.skip(inputs.skipped).without(people.without)
    assert found.scored is not None
    sets = [each.without_sentences(*found.scored[0].skipped) for each in sets]
    before = len(sets[0].corpus)
    sets, systems = study.on_common_sentences(sets, found.scored[1])
    notes: tuple[str, ...] = ()
    if (common := len(sets[0].corpus)) < before:
        notes = (f"compared on the {common} of {before} sentences that every set corrects",)
        note(notes[0])
    with ProgressBar("TER") as progress:
        operations = study.edit_kinds_by_set(sets, lowercase=not given.cased, progress=progress)
    given.draw_figure("edits", lambda: report.edit_bars(operations))
    facts = "; ".join(f"{each.name}: {' | '.join(corpus_facts(each.corpus))}" for each in sets)
    signature = make_signature(f"ster(lowercase={not given.cased})") + f"; {facts}"
    tables = [report.set_operation_table(operations, notes=notes, signature=signature)]
    score = partial(study.score_sets, sets=sets, systems=systems, **bootstrap.resample_settings)
    set_scores = map_with_progress(metrics if systems else (), score)
    names = report.metric_names(set_scores)
    ranked, agreements = None, None
    if systems and (found.human is not None or found.judgments is not None):
        ranker = parse_ranker(people.ranker)
        with ProgressBar(ranker.name) as progress:
            ranked = meta_evaluate(
                (),
                found.judgments,
                human=found.human,
                **people.settings(inputs),
                **bootstrap.resample_settings,
                progress=progress,
            ).people
        assert ranked is not None
        agreements = study.correlate_sets(
            ranked,
            set_scores,
            over=given.over,
            common=people.common,
            hide=people.hide,
            **bootstrap.interval_settings,
        )
        ranked = agreements.paired.people
        tables += report.set_correlation_tables(agreements)
    for name, scores in zip(names, set_scores, strict=True):
        tables.append(report.set_score_table(scores, name, confidence=bootstrap.confidence))
        tables.append(report.set_rank_table(scores, name, ranked))
    curves, curve_tables = _reference_curves(sets, metrics, names, systems, given)

    def rankings() -> Panels[Any] | None:
        if not set_scores:
            return None
        shown = set_scores[0].scores[0].systems if ranked is None else ranked.systems
        by_metric: dict[str, dict[str, Scores]] = {}
        for name, by_set in zip(names, set_scores, strict=True):
            by_metric[name] = {} if ranked is None else {report.PEOPLE: ranked}
            for each, scores in zip(by_set.sets, by_set.scores, strict=True):
                by_metric[name][each.name] = scores.select(shown)
        return report.slope_graph(by_metric)

    given.draw_figure(
        "correlations",
        lambda: None if agreements is None else report.correlation_bars(agreements, names),
        "human data",
        "give outputs, and --judgments or --human",
    )
    headlines = [metric.headline for metric in metrics]
    given.draw_figure(
        "curve",
        lambda: report.curve_plot(curves, headlines) if curves else None,
        "a curve",
        "name outputs, and a set with --curve",
    )
    given.draw_figure("rankings", rankings, "outputs to rank", "name one file per system")
    return tables + curve_tables


def _reference_curves(
    sets: Sequence[NamedSet],
    metrics: list[Metric],
    names: Sequence[str],
    systems: Sequence[Hypotheses],
    given: ReferencesOptions,
) -> tuple[dict[str, list[SetCurve]], list[Table]]:
    """Return scores against the number of references by metric, and a table of each."""
    from errata.references.sets import set_curve
    from errata.references.study import curve_context
    from errata.references.tables import set_curve_table
    from errata.tables.table import make_signature

    curves: dict[str, list[SetCurve]] = {}
    tables: list[Table] = []
    chosen = [each for each in sets if each.name in given.curves]
    seed = given.bootstrap.seed
    for name, metric in zip(names, metrics, strict=True) if chosen and systems else ():
        lines = []
        for each in chosen:
            with ProgressBar(f"{metric.name}, {each.name}") as progress:
                lines.append(set_curve(each, metric, systems, rng=seed, progress=progress))
        facts = "; ".join(
            f"{each.name}: {' | '.join(curve_context(each.corpus, metric, systems))}"
            for each in chosen
        )
        signature = make_signature(repr(metric), f"seed:{seed}") + f"; {facts}"
        tables.append(set_curve_table(lines, name, signature=signature))
        curves[name] = lines
    return curves, tables
