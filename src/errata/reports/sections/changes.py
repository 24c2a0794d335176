"""Changes against a base; gate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from errata.comparison.compare import Comparison, SentenceChange
from errata.comparison.gate import compare_and_check_gate, gate_table
from errata.comparison.tables import comparison_tables, diff_pieces
from errata.core.errors import InputError
from errata.core.stats import plural
from errata.data import Corpus, Hypotheses
from errata.metrics import Metric
from errata.metrics.errant import Edits
from errata.metrics.errant_by_type import changed_sentences
from errata.plots import Forest, ForestRow
from errata.plots.svg import Chart, svg_chart
from errata.reports.page import Section, SectionBuilder
from errata.reports.results import GateVerdict, ReportResults

WORST = 20  # sentences shown in full
KINDS_DRAWN = 12
OPEN = ("_metrics", "_rates")  # the tables that are shown at once; the others are folded


def metrics_to_compare(metrics: Sequence[Metric], *, usual: bool) -> list[Metric]:
    """The metrics of a comparison: with the usual ones go edits, as in `errata compare`."""
    return [*metrics, Edits()] if usual and metrics else list(metrics)


def compare_with_base(results: ReportResults) -> tuple[tuple[Comparison, ...], GateVerdict | None]:
    """Every system against the base, and the verdict, as `errata compare` says them."""
    given = results.material
    corpus = given.corpus
    if given.base is None or corpus is None or len(given.systems) < 2:
        if given.fail_if and corpus is not None:
            remedy = "say which system is --old"
            raise InputError("there is nothing to hold conditions against", remedy=remedy)
        return (), given.gate
    edits = Edits() if given.extractor is None else Edits().extracting(given.extractor)
    own = [metric for metric in given.compared if isinstance(metric, Edits)]
    found, verdicts = compare_and_check_gate(
        given.fail_if,
        given.compared,
        corpus,
        next(each for each in given.systems if each.system == given.base),
        [each for each in given.systems if each.system != given.base],
        slices=given.slices,
        bound=given.bound,
        edits=own[0] if own else edits,
        **given.interval_options,
        threads=given.threads,
        progress=given.progress,
        scored=results.scored,
    )
    if not given.fail_if:
        return found, given.gate
    table = gate_table(verdicts, signature=found[0].edits)
    return found, GateVerdict(not any(each.failed for each in verdicts), table)


def changes_section(results: ReportResults, compared: Sequence[Comparison]) -> Section | None:
    """The differences of every system to the base, and the sentences to look at first."""
    corpus = results.material.corpus
    if not compared or corpus is None:
        return None
    pieces = SectionBuilder("changes")
    if len(compared) > 1:
        pieces.charts(_metric_charts(compared))
    for found in compared:
        if len(compared) > 1:
            pieces.heading(f"{found.system} against {found.base}")
        elif found.judged:
            pieces.charts([_draw_f_changes_by_kind(found)])
        for table in comparison_tables(found):
            pieces.table(table, folded=not table.name.endswith(OPEN) or len(compared) > 1)
        if found.judged:
            _add_regressions(pieces, found, corpus)
            outputs = {each.system: each for each in results.material.systems}
            _add_harmed_sentences(pieces, found, corpus, outputs.get(found.system))
    return pieces.section("What changed", _changes_lead(compared))


def _changes_lead(compared: Sequence[Comparison]) -> str:
    said = []
    for found in compared[:3]:
        if not found.judged:
            said.append(f"{found.differing:,} of {found.size:,} sentences of {found.system} differ")
            continue
        n = len(found.worse)
        said.append(
            f"{found.system} corrects {found.counts.gained:,} errors that were not corrected, and "
            f"no longer {found.counts.lost:,} that were; {found.counts.new_alarms:,} false alarms "
            f"are new; {n:,} {plural('sentence', n)} got worse"
        )
    return f"Against {compared[0].base}: {'. '.join(said)}."


def _metric_charts(compared: Sequence[Comparison]) -> list[Chart]:
    charts = []
    for m, metric in enumerate(compared[0].differences):
        rows = [
            ForestRow(found.system, found.differences[m].difference)
            for found in compared
            if m < len(found.differences)
        ]
        rows.sort(key=lambda row: -row.estimate.value)
        title = f"{metric.label}: difference to {compared[0].base}"
        forest = Forest(rows, spec="+.4f", zero=True)
        charts.append(svg_chart(f"changes-{metric.label}", title, forest))
    return charts


def _draw_f_changes_by_kind(found: Comparison) -> Chart:
    """The kinds that changed most, by the figure that stands for the others."""
    rows = []
    for kind in found.kinds:
        figure = next((f for name, f in kind.figures.items() if name.startswith("F")), None)
        if figure is not None and figure.difference.value == figure.difference.value:
            rows.append((sum(kind.changes), ForestRow(kind.kind or "-", figure.difference)))
    rows.sort(key=lambda row: -row[0])
    shown = sorted((row for _, row in rows[:KINDS_DRAWN]), key=lambda row: -row.estimate.value)
    title = "F of the kinds with the most changes, new less old"
    forest = Forest(shown, "difference", spec="+.3f", zero=True)
    return svg_chart("changes-kinds", title, forest)


def _add_regressions(pieces: SectionBuilder, found: Comparison, corpus: Corpus) -> None:
    worse = found.worse[:WORST]
    if not worse:
        pieces.paragraph("No sentence got worse.")
        return
    pieces.heading(f"The {len(worse)} worst regressions" if len(worse) > 1 else "A regression")
    pieces.template(
        "changed_sentences.html.j2",
        sentences=[_regression_values(change, corpus) for change in worse],
    )


def _regression_values(change: SentenceChange, corpus: Corpus) -> dict[str, Any]:
    """Return what the template shows of a sentence that got worse."""
    changes = dict.fromkeys(f"{each.name} ({each.kind or '-'})" for each in change.changes)
    references = corpus.references[change.sentence]
    source = corpus.sources[change.sentence]
    return {
        "number": corpus.number(change.sentence),
        "gain": f"{change.gain:+d} {plural('edit', abs(change.gain))}",
        "changes": ", ".join(changes),
        "texts": [
            ("source", change.source),
            *(
                (f"reference {r.annotator}" if len(references) > 1 else "reference", corrected)
                for r in references[:2]
                for corrected in [r.corrected(source, overlapping=True)]
            ),
        ],
        "diff_name": "old to new",
        "diff": diff_pieces(change.old, change.new),
    }


def _add_harmed_sentences(
    pieces: SectionBuilder, found: Comparison, corpus: Corpus, output: Hypotheses | None
) -> None:
    """Add the sentences that no annotator changes but the new system does."""
    if output is None:
        return
    clean = [
        i
        for i, (source, refs) in enumerate(zip(corpus.sources, corpus.references, strict=True))
        if refs and all(r.corrected(source, overlapping=True) == source for r in refs)
    ]
    if not clean:
        return
    changed = changed_sentences(corpus, output)
    harmed = [i for i in clean if changed[i]]
    pieces.heading("Harm to clean sentences")
    if not harmed:
        pieces.paragraph(f"None: {found.system} left all {len(clean):,} clean sentences alone.")
        return
    pieces.paragraph(
        f"{found.system} changed {len(harmed):,} of {len(clean):,} sentences that no annotator "
        "corrects" + (f"; the first {WORST}:" if len(harmed) > WORST else ":")
    )
    sentences = [
        {
            "number": corpus.number(i),
            "texts": [],
            "diff_name": "source to new",
            "diff": diff_pieces(corpus.sources[i], output.sentences[i]),
        }
        for i in harmed[:WORST]
    ]
    pieces.template("changed_sentences.html.j2", sentences=sentences)


def gate_section(gate: GateVerdict | None) -> Section | None:
    """What a gate says: one word, and one row per threshold."""
    if gate is None:
        return None
    pieces = SectionBuilder("gate")
    word, kind = ("✓ Pass", "pass") if gate.passed else ("✗ Fail", "fail")
    pieces.paragraph(word, f"verdict {kind}")
    pieces.table(gate.table)
    return pieces.section("Pass or fail")
