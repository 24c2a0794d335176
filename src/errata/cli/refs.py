"""``errata refs``: reference sets as objects of study."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from errata.cli.chosen import refuse_twins
from errata.cli.figures import Figures, figure_option
from errata.cli.inputs import Inputs, corpus_options
from errata.cli.named_data import CORPUS, data_option
from errata.cli.options import Bootstrap, bootstrap_options, metric_option, refuse_unless
from errata.cli.output import ProgressBar, emit, format_option, writes_files
from errata.cli.people import Chosen, JudgmentInputs, choice_options, judgment_options
from errata.cli.set_options import SetView, set_options
from errata.cli.set_tables import JUDGED_SETS, PeopleOfSets, people_of_sets_options, tables_of_sets
from errata.errors import InputError

if TYPE_CHECKING:
    from errata.data import Corpus, Hypotheses
    from errata.metrics import Metric
    from errata.report.table import Form, Table
    from errata.studies.reference_sets import CurvePoint, ReferenceStudy

__all__ = ["command"]

METRICS = ("m2", "gleu")
EPILOG = """\b
Examples:
  errata refs --source src.txt --refs a.txt --refs b.txt
  errata refs --source src.txt --set experts=a.txt,b.txt --set crowd=c.txt,d.txt
    --set all=experts+crowd --judgments judgments.xml outputs/* --figure rankings=r.svg
  errata refs --gold gold.m2 --set first=annotator:0 --set others=annotator:1,2 out/*
"""


@click.command("refs", epilog=EPILOG)
@data_option(*CORPUS, "judgments", "human", outputs="systems")
@writes_files("figures")
@click.argument("systems", nargs=-1, metavar="[NAME=]FILE...")
@corpus_options()
@set_options
@metric_option(*METRICS)
@people_of_sets_options
@choice_options
@judgment_options("sample", "without", "skipped")
@click.option(
    "--worst",
    type=click.IntRange(0),
    default=5,
    show_default=True,
    help="How many sentences with the largest disagreement to show.",
)
@click.option("--cased", is_flag=True, help="Count changes of case as edits in sTER.")
@figure_option(
    {
        "edits": "the kinds of edit by annotator or set",
        "curve": "scores against the number of references",
        "correlations": "agreement with people by set",
        "rankings": "the ranks of the systems by people and by each set, joined by lines",
    }
)
@bootstrap_options("the sentences, and of what --over names")
@format_option
def command(
    systems: tuple[str, ...],
    inputs: Inputs,
    view: SetView,
    metrics: tuple[str, ...],
    people: PeopleOfSets,
    selected: Chosen,
    judged: JudgmentInputs,
    worst: int,
    cased: bool,
    figures: Figures,
    bootstrap: Bootstrap,
    form: Form,
) -> None:
    """Compare reference sets with the source and with each other.

    How much annotators change and by which operations, how often they agree, what each would
    score against the others, whether every reference scores perfectly against itself, and where
    they disagree most. With system outputs also: their scores against the number of references.

    With --set whole sets are compared, on the sentences that all of them correct: what they
    change; with outputs the scores and ranks of the systems by each set; with people's word also
    which pairing of metric and set agrees with it (Sakaguchi et al. 2016).
    """
    from errata.metrics import parse

    chosen = [parse(text) for text in metrics or METRICS]
    refuse_twins(chosen)
    if view.sets:
        refuse_unless(False, "worst", "annotators, not --set")
        emit(
            tables_of_sets(
                systems, inputs, view, chosen, people, selected, judged, cased, figures, bootstrap
            ),
            form,
        )
        return
    refuse_unless(False, JUDGED_SETS, "--set")
    for kind, _ in figures:
        if kind in ("correlations", "rankings"):
            raise InputError(f"--figure {kind}= goes with --set", remedy="name the sets to compare")
    corpus = inputs.corpus()
    outputs = inputs.systems(systems, corpus)
    emit(_tables(corpus, outputs, chosen, inputs, worst, cased, figures, bootstrap), form)


def _tables(
    corpus: Corpus,
    systems: list[Hypotheses],
    chosen: list[Metric],
    inputs: Inputs,
    worst: int,
    cased: bool,
    figures: Figures,
    bootstrap: Bootstrap,
) -> list[Table]:
    """The annotators of one corpus."""
    from errata.evaluation import corpus_facts
    from errata.report.table import signed
    from errata.report.tables import reference_sets as report
    from errata.studies import reference_sets as study

    if len(study.annotators_of(corpus)) < 2:
        raise InputError(
            "one reference set cannot be compared with others", remedy="give two or more"
        )
    names = _names(inputs)
    with ProgressBar("TER") as progress:
        found = study.study_references(
            corpus, names=names, lowercase=not cased, worst=worst, progress=progress
        )
    tables = report.study_tables(
        found, signature=signed(f"ster(lowercase={not cased})", *corpus_facts(corpus))
    )
    resamples, _, seed, _ = bootstrap
    alike = []
    for metric in chosen:
        with ProgressBar(metric.name) as progress:
            alike.append(
                study.annotators_as_systems(
                    corpus, metric, names=names, resamples=resamples, rng=seed, progress=progress
                )
            )
    tables += [
        report.annotator_table(alike, confidence=bootstrap.confidence),
        report.self_check_table(
            [study.self_check(corpus, metric, names=names) for metric in chosen]
        ),
    ]
    curves: dict[str, tuple[CurvePoint, ...]] = {}
    for metric in chosen if systems else ():
        with ProgressBar(f"{metric.name}, references") as progress:
            curve = study.reference_curve(corpus, metric, systems, rng=seed, progress=progress)
        curves[metric.label] = curve
        facts = study.curve_facts(corpus, metric, systems)
        signature = signed(repr(metric), *facts, f"seed:{seed}")
        called = [h.system for h in systems]
        tables.append(report.curve_table(curve, called, metric, signature=signature))
    _draw(found, corpus, chosen, curves, figures)
    return tables


def _draw(
    found: ReferenceStudy,
    corpus: Corpus,
    metrics: list[Metric],
    curves: dict[str, tuple[CurvePoint, ...]],
    figures: Figures,
) -> None:
    from errata.report.figures import save_figure
    from errata.report.figures import several_sets as plots
    from errata.studies.several_sets import SetCurve, annotator_operations

    for kind, path in figures:
        if kind == "edits":
            save_figure(plots.edit_bars(annotator_operations(found)), path)
            continue
        if not curves:
            raise InputError("--figure curve= needs outputs to score", remedy="name one per system")
        drawn = {name: [SetCurve(corpus.name, points)] for name, points in curves.items()}
        save_figure(plots.curve_plot(drawn, [metric.headline for metric in metrics]), path)


def _names(inputs: Inputs) -> list[str] | None:
    """What the annotators are called: their files, with folders where these are needed."""
    if inputs.chosen or not inputs.refs:
        return None
    names = [os.path.basename(path) for path in inputs.refs]
    return names if len(set(names)) == len(names) else list(inputs.refs)
