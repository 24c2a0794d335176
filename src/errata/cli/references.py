"""Errata references."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, NamedTuple

import click

from errata.cli.input_options import (
    Inputs,
    ScoreFiles,
    corpus_options,
    human_option,
    names_option,
    reject_duplicates,
)
from errata.cli.judgment_options import (
    JudgmentInputs,
    JudgmentSource,
    MetaInputs,
    SystemSelection,
    choice_options,
    judgment_options,
    judgments_of,
    members_option,
    over_option,
    ranker_option,
    unit_option,
)
from errata.cli.main import note
from errata.cli.options import (
    CORPUS,
    DRAWN,
    Bootstrap,
    FigureOptions,
    bootstrap_options,
    data_option,
    figure_option,
    metric_option,
    refuse_unless,
)
from errata.cli.output import ProgressBar, emit, format_option, writes_files
from errata.cli.params import option_group
from errata.core.errors import InputError
from errata.core.parameters import suggest_name

if TYPE_CHECKING:
    from errata.data import Corpus, Hypotheses, Members, Scores
    from errata.human.comparisons import Unit
    from errata.meta.system_level import Over
    from errata.metrics import Metric
    from errata.references.sets import NamedSet, SetAgreements, SetCurve, SetScores
    from errata.references.study import CurvePoint, ReferenceStudy
    from errata.tables.table import Form, Table


# ---- ``--set NAME=...``: reference sets of files, of annotators, or of other sets.

ANNOTATORS, PUBLIC = "annotator:", "data:"
RESERVED = ("people", "system", "set")  # headings of the tables that sets stand in
SetSource = Literal["files", "annotators", "data", "sets"]


class SetRequest(NamedTuple):
    """A set as it was asked for: its name, and the files, annotators or sets it is made of."""

    name: str
    source: SetSource
    parts: tuple[str, ...]


class SetView(NamedTuple):
    """The sets to compare, and of which of them a curve is wanted."""

    sets: tuple[SetRequest, ...]
    curves: tuple[str, ...]


def named_sets(texts: Sequence[str]) -> tuple[SetRequest, ...]:
    """What each ``--set`` asks for; a set may be made of those that stand before it."""
    found: dict[str, SetRequest] = {}
    for text in texts:
        name, equals, rest = text.partition("=")
        name = name.strip()
        if not (equals and name and rest) or {*name} & {*"+,:"}:
            raise InputError(
                f"--set {text[:100]!r} does not name a reference set",
                remedy="write NAME=FILE,FILE, NAME=annotator:0,1 or NAME=SET+SET, and no + , : in "
                "the name",
            )
        if name in found or name.lower() in RESERVED:
            raise InputError(
                f"two reference sets are called {name!r}"
                if name in found
                else f"a reference set cannot be called {name!r}",
                remedy="give each a name of its own",
            )
        found[name] = _request(name, rest, tuple(found))
        _refuse_twice(found[name], found)
    return tuple(found.values())


def _refuse_twice(request: SetRequest, known: Mapping[str, SetRequest]) -> None:
    """Refuse a set with the same references twice, which would weigh more than the others."""
    owner: dict[str, str] = {}
    for holder, part in _held(request, known):
        rivals = [one for one in owner if _overlap(one, part)]
        if rivals and request.source != "annotators":  # of which there is more to say
            shown = rivals[0] if part == f"{ANNOTATORS}all" else part
            where = f": in {owner[rivals[0]]} and {holder}" if request.source == "sets" else ""
            raise InputError(
                f"the set {request.name!r} holds {shown!r} twice{where}",
                remedy="a set holds each reference once: leave one of them out",
            )
        owner[part] = holder


def _overlap(one: str, other: str) -> bool:
    """Whether two parts of a set are the same references, or some of one are the other's."""
    if one.startswith(ANNOTATORS) and other.startswith(ANNOTATORS):
        return one == other or f"{ANNOTATORS}all" in (one, other)
    if any(part.startswith((ANNOTATORS, PUBLIC)) for part in (one, other)):
        return one == other
    return os.path.realpath(one) == os.path.realpath(other)


def _held(request: SetRequest, known: Mapping[str, SetRequest]) -> Iterator[tuple[str, str]]:
    """Every file, annotator and collection of a set, with the part that it stands in."""
    for part in request.parts:
        if request.source == "sets":
            yield from ((part, thing) for _, thing in _held(known[part], known))
        else:
            mark = {"annotators": ANNOTATORS, "data": PUBLIC}.get(request.source, "")
            yield request.name, mark + part


def _request(name: str, rest: str, known: Sequence[str]) -> SetRequest:
    if rest.startswith(ANNOTATORS):
        return SetRequest(name, "annotators", tuple(rest.removeprefix(ANNOTATORS).split(",")))
    if rest.startswith(PUBLIC):
        return SetRequest(name, "data", (rest.removeprefix(PUBLIC),))
    joined = tuple(rest.split("+"))
    if len(joined) > 1 and os.sep not in rest and not os.path.exists(rest):
        for part in joined:
            if part not in known:
                raise InputError(
                    f"the set {name!r} is to hold {part!r}, and no --set before it has this name",
                    remedy=f"{suggest_name(part, known)}"
                    f"before it are: {', '.join(known) or 'none'}; a file with + in its name is "
                    "written with its folder (./a+b)",
                )
        if len({*joined}) < len(joined):
            raise InputError(f"the set {name!r} holds a set twice", remedy="name each once")
        return SetRequest(name, "sets", joined)
    paths = tuple(rest.split(","))
    if not all(paths):
        raise InputError(f"the set {name!r} names an empty file", remedy="write NAME=FILE,FILE")
    return SetRequest(name, "files", paths)


def read_sets(requests: Sequence[SetRequest], corpus: Corpus, inputs: Inputs) -> list[NamedSet]:
    """The sets that were asked for, on the sentences of a corpus."""
    from errata.io.corpus import read_reference_set
    from errata.references.sets import NamedSet, annotator_set, merge_sets

    made: dict[str, NamedSet] = {}
    for name, source, parts in requests:
        if source == "sets":
            made[name] = merge_sets(name, [made[part] for part in parts])
        elif source == "annotators":
            made[name] = annotator_set(name, corpus, _annotators(name, parts, corpus))
        else:
            files = _public(parts[0]) if source == "data" else parts
            made[name] = NamedSet(
                name,
                read_reference_set(replace(inputs.files(), references=files, name=name), corpus),
            )
    return list(made.values())


def _public(name: str) -> tuple[str, ...]:
    """The files with the references of public data."""
    from errata.datasets.fetch import collection, role_files

    chosen = collection(name)
    for role in ("references", "gold"):
        if role in chosen.roles:
            with ProgressBar(name, after=0.3) as progress:
                return role_files(chosen, role, progress)
    raise InputError(
        f"the data {name} have no references", remedy=f"they have {', '.join(chosen.roles)}"
    )


def _annotators(name: str, parts: Sequence[str], corpus: Corpus) -> list[int]:
    if not corpus.annotators:
        raise InputError(
            f"the set {name!r} names annotators, and there are none",
            remedy="give their corrections with --gold or --refs",
        )
    if tuple(parts) == ("all",):
        return list(corpus.annotators)
    if not all(part.isascii() and part.isdecimal() and len(part) < 10 for part in parts):
        raise InputError(
            f"the set {name!r} names annotators by {','.join(parts)[:60]!r}",
            remedy="write annotator:0,1 with their numbers, or annotator:all",
        )
    numbers = [int(part) for part in parts]
    if len({*numbers}) < len(numbers):
        raise InputError(f"the set {name!r} names an annotator twice", remedy="name each once")
    return numbers


def _view(sets: tuple[str, ...], curves: tuple[str, ...]) -> SetView:
    found = named_sets(sets)
    known = [each.name for each in found]
    for name in curves:
        if name not in known:
            raise InputError(
                f"--curve {name}: there is no such set",
                remedy=f"{suggest_name(name, known)}there are: {', '.join(known) or 'none'}",
            )
    return SetView(found, tuple(dict.fromkeys(curves)))


set_options = option_group(
    "view",
    _view,
    {
        "sets": click.option(
            "--set",
            "sets",
            multiple=True,
            metavar="NAME=...",
            help="Compare whole reference sets: NAME=FILE,FILE (texts or M2), NAME=annotator:0,1 "
            "(of --gold or --refs; annotator:all), NAME=data:COLLECTION (public data), or "
            "NAME=SET+SET (sets named before); repeat it.",
        ),
        "curves": click.option(
            "--curve",
            "curves",
            multiple=True,
            metavar="SET",
            help="With --set: scores against the number of references of this set; may be "
            "repeated.",
        ),
    },
)


# Options that only a comparison of whole sets makes use of.
JUDGED_SETS = (
    "curves judgments human names ranker members unit over without hide common "
    "base leave_out outputs labels statuses columns"
)


class SetJudgments(NamedTuple):
    """Where people's word stands, how it becomes scores, and what intervals resample."""

    judgments: tuple[str, ...]
    human: str | None
    names: str | None
    ranker: str
    members: Members
    unit: Unit
    over: Over

    @property
    def ranked(self) -> JudgmentSource:
        """What judgments become scores by."""
        return JudgmentSource(self.judgments, self.ranker, self.members)


people_of_sets_options = option_group(
    "people",
    SetJudgments,
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
    people: SetJudgments,
    selected: SystemSelection,
    judged: JudgmentInputs,
    cased: bool,
    figures: FigureOptions,
    bootstrap: Bootstrap,
) -> list[Table]:
    """Compare reference sets; what needs outputs or people is left out where there are none."""
    from errata.references import sets as study
    from errata.references import tables as report

    scoring = bool(outputs or inputs.sample)
    _check_used(people, judged, inputs, bootstrap, scoring)
    whole = inputs.whole
    corpus = whole.corpus()
    sets = read_sets(view.sets, corpus, inputs)
    systems = whole.systems(outputs, corpus)
    written = inputs.as_written(outputs, systems)
    given = MetaInputs(
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
    _draw_sets(agreements, said, scored, names, curves, figures)
    return tables


def _check_used(
    people: SetJudgments,
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
    sets: Sequence[NamedSet], cased: bool, notes: tuple[str, ...], figures: FigureOptions
) -> Table:
    from errata.plots.mpl import save_figure
    from errata.references.sets import set_operations
    from errata.references.tables import edit_bars, set_operation_table
    from errata.scoring.results import corpus_facts
    from errata.tables.table import signed

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
    from errata.references.sets import score_sets

    resamples, _, seed, _ = bootstrap
    found = []
    for metric in metrics if systems else ():
        with ProgressBar(metric.name) as progress:
            found.append(
                score_sets(metric, sets, systems, resamples=resamples, rng=seed, progress=progress)
            )
    return found


def _said(
    given: MetaInputs,
    people: SetJudgments,
    judged: JudgmentInputs,
    inputs: Inputs,
    selected: SystemSelection,
    bootstrap: Bootstrap,
) -> Scores | None:
    """People's scores of the systems, if there are any."""
    if given.human is None and given.judgments is None:
        return None
    from errata.human import parse_ranker
    from errata.meta.evaluate import meta_evaluate

    ranker = parse_ranker(people.ranker)
    with ProgressBar(ranker.name) as progress:
        return meta_evaluate(
            (),
            given.judgments,
            human=given.human,
            ranker=ranker,
            members=people.members,
            unit=people.unit,
            origin=(*judged.facts, *inputs.skip_facts, *(f"without:{n}" for n in selected.without)),
            resamples=bootstrap.resamples,
            rng=bootstrap.seed,
            progress=progress,
        ).people


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
    from errata.references.sets import set_curve
    from errata.references.study import curve_facts
    from errata.references.tables import set_curve_table
    from errata.tables.table import signed

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


def _draw_sets(
    agreements: SetAgreements | None,
    said: Scores | None,
    scored: Sequence[SetScores],
    names: Sequence[str],
    curves: dict[str, tuple[str, list[SetCurve]]],
    figures: FigureOptions,
) -> None:
    from errata.plots.mpl import save_figure
    from errata.references import tables as plots
    from errata.references.tables import PEOPLE

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


# ---- ``errata references``: reference sets as objects of study.

METRICS = ("m2", "gleu")
EPILOG = """\b
Examples:
  errata references --source src.txt --refs a.txt --refs b.txt
  errata references --source src.txt --set experts=a.txt,b.txt --set crowd=c.txt,d.txt
    --set all=experts+crowd --judgments judgments.xml outputs/* --figure rankings=r.svg
  errata references --gold gold.m2 --set first=annotator:0 --set others=annotator:1,2 out/*
"""


@click.command("references", epilog=EPILOG)
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
    people: SetJudgments,
    selected: SystemSelection,
    judged: JudgmentInputs,
    worst: int,
    cased: bool,
    figures: FigureOptions,
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
    reject_duplicates(chosen)
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
    figures: FigureOptions,
    bootstrap: Bootstrap,
) -> list[Table]:
    """The annotators of one corpus."""
    from errata.references import study
    from errata.references import tables as report
    from errata.scoring.results import corpus_facts
    from errata.tables.table import signed

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
    _draw_study(found, corpus, chosen, curves, figures)
    return tables


def _draw_study(
    found: ReferenceStudy,
    corpus: Corpus,
    metrics: list[Metric],
    curves: dict[str, tuple[CurvePoint, ...]],
    figures: FigureOptions,
) -> None:
    from errata.plots.mpl import save_figure
    from errata.references import tables as plots
    from errata.references.sets import SetCurve

    for kind, path in figures:
        if kind == "edits":
            save_figure(plots.edit_bars(found.sets), path)
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
