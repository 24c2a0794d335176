"""Explorer section."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from errata.comparison.compare import length_slices
from errata.comparison.edits import JudgedSentence, judge_edits
from errata.core.errors import InputError, escape_controls
from errata.data import Corpus, Hypotheses, Scores
from errata.difficulty.heatmap import STEPS, shade_of_weight
from errata.metrics.difficulty import DifficultyMap
from errata.metrics.errant import Edits
from errata.reports.explorer import rows
from errata.reports.page import Section
from errata.reports.results import ReportResults
from errata.tables.html_table import package_text, render_template, script_json

HOME = "errata.reports.explorer"
SCRIPTS = ("store.js", "cards.js", "list.js", "explorer.js")
BLOCK = 200  # sentences: unpacked in a few milliseconds
MOST_PRINTED = 100  # sentences
TALL = 15_000_000  # pixels of the list; some browsers lose their way a little above
DIGITS = 4  # of scores, as tables show them
ORDERS = {
    "number": "number",
    "score": "score",
    "difference": "difference to the base",
    "disagreement": "disagreement of metrics",
    "length": "length",
}


def explorer_section(
    corpus: Corpus,
    systems: Sequence[Hypotheses],
    results: Sequence[Scores] = (),
    *,
    states: Sequence[Sequence[JudgedSentence]] | None = None,
    judge: Edits | None = None,
    difficulty: DifficultyMap | None = None,
    base: str | None = None,
    slices: Mapping[str, Sequence[str]] | None = None,
) -> Section:
    """Every source, reference and output of a corpus, to be filtered, searched and linked to.

    ``results`` are the scores of the metrics to show beside each output, the first one chosen at
    first; those without scores of single sentences are left out. ``states`` are the judged edits,
    ``judged_edits(judge.for_sentences, corpus, systems)``: judged by the annotator best for the
    sentence, as sentence scores are; without them outputs show what they changed. ``difficulty``
    weighs the errors, ``base`` is the system that others are compared with at first, ``slices``
    are columns (a name, one value per sentence) to filter by.

    The section holds the texts in compressed blocks; a browser unpacks what it shows. It works
    with gold edits, with references, and without any.
    """
    names = [h.system for h in systems]
    if base is not None and base not in names:
        raise InputError(f"the base {base!r} is none of the systems", remedy="name one of them")
    scored = [each.select(names) for each in results if each.sentences is not None]
    sentences = rows.split_texts_by_score(
        rows.build_sentence_views(
            corpus, systems, states=states, judge=judge, difficulty=difficulty
        ),
        scored,
    )
    index = rows.build_filter_index(sentences, len(systems), scored, slices)
    manifest, columns = rows.pack_columns(index.columns)
    references = len(corpus.annotators)
    settings = {
        "sentences": len(sentences),
        "size": BLOCK,
        "blocks": -(-len(sentences) // BLOCK),
        "printed": MOST_PRINTED,
        "tallest": TALL,
        "digits": DIGITS,
        "steps": STEPS,
        "systems": [escape_controls(name) for name in names],
        "metrics": [{"label": each.label, "signature": each.scorer} for each in scored],
        "kinds": [{"name": kind} for kind in index.kinds],
        "states": rows.STATES,
        "pairs": index.pairs,
        "references": references,
        "slices": [{"name": name, "values": values} for name, values in index.slices.items()],
        "columns": {name: asdict(column) for name, column in manifest.items()},
    }
    body = render_template(
        HOME,
        "explorer.html.j2",
        settings=script_json(settings),
        index=rows.compress_base64(columns),
        blocks=_pack_sentences(sentences, index),
        judged=states is not None,
        references=references,
        steps=STEPS,
        base="" if base is None else escape_controls(base),
        **_filter_choices(index, names, scored, states is not None),
    )
    return Section(
        "sentences",
        "Sentence by sentence",
        body,
        lead="Source, references and outputs, with what was right, missed and wrong."
        if states is not None
        else "Source and outputs, with what they changed.",
        styles=(package_text(HOME, "explorer.css"), _difficulty_shades()),
        scripts=tuple(package_text(HOME, name) for name in SCRIPTS),
        wide=True,
    )


def _difficulty_shades() -> str:
    """The shades of the difficulty map: as in the heat map, on dark paper the other way round.

    There marks have to be light; a printer's paper is white.
    """

    def ramp(turned: bool) -> str:
        rules = []
        for step in range(STEPS + 1):
            tint, white = shade_of_weight((STEPS - step if turned else step) / STEPS)
            ink = "#fff" if white else "#111"
            rules.append(f".x-with-difficulty .x-d{step}{{background:{tint};color:{ink}}}")
        return "\n".join(rules)

    return f"{ramp(False)}\n@media screen and (prefers-color-scheme: dark) {{\n{ramp(True)}\n}}"


def _filter_choices(
    index: rows.SentenceIndex, names: Sequence[str], scored: Sequence[Scores], judged: bool
) -> dict[str, Any]:
    """What the lists of the form offer."""
    labels = [escape_controls(each.label) for each in scored]
    systems = [escape_controls(name) for name in names]
    several = len(systems) > 1 and bool(scored)
    disagree = len(systems) > 1 and len(scored) > 1
    left_out = {"score": not scored, "difference": not several, "disagreement": not disagree}
    states = [("right", "right"), ("missed", "missed"), ("wrong", "wrong")] if judged else []
    return {
        "orders": [row for row in ORDERS.items() if not left_out.get(row[0])],
        "metrics": [(label, label) for label in labels],
        "systems": [(name, name) for name in systems],
        "states": [*states, ("made", "right or wrong" if judged else "changed")],
        "kinds": [
            (kind, f"{kind} ({n:,})")
            for kind, n in zip(index.kinds, index.sentences_by_kind, strict=True)
        ],
        "difficulty": [f"{index.weights[0]:.2g}", f"{index.weights[-1]:.2g}"]
        if index.weights
        else [],
        "bases": [(name, name) for name in systems] if several else [],
        "disagreements": [
            ("some", "some two"),
            *((f"{labels[a]} and {labels[b]}",) * 2 for a, b in index.pairs),
        ]
        if disagree
        else [],
        "slices": list(index.slices.items()),
    }


def _pack_sentences(sentences: list[rows.SentenceView], index: rows.SentenceIndex) -> Iterable[str]:
    """The sentences in compressed blocks of JSON; what repeats is numbered."""
    kinds = {kind: code for code, kind in enumerate(index.kinds)}
    weights = {weight: code for code, weight in enumerate(index.weights, 1)}
    states = {state: code for code, state in enumerate(rows.STATES)}

    def edit(each: rows.ShownEdit) -> list[int | str | tuple[str, ...]]:
        weight = 0 if each.weight is None else weights[each.weight]
        kind, state = kinds[each.kind], states[each.state]
        others = [each.others] if each.others else []
        return [each.start, each.end, each.replacement, kind, state, weight, *others]

    def row(each: rows.TextView) -> list[Any]:
        return [each.whose, [edit(one) for one in each.edits], each.annotator, each.text]

    for start in range(0, len(sentences), BLOCK):
        block = [
            [one.number, one.source, [*map(row, one.references)], [*map(row, one.outputs)]]
            for one in sentences[start : start + BLOCK]
        ]
        compact = json.dumps(block, ensure_ascii=False, separators=(",", ":"))
        yield rows.compress_base64(compact.encode("utf-8"))


def sentences_section(results: ReportResults) -> Section | None:
    """Every sentence with every output, where there are outputs."""
    given = results.material
    if given.corpus is None or not given.systems:
        return None
    corpus, systems = given.corpus, given.systems
    judge = results.edit_metric.for_sentences
    states = None
    if results.reference_corpus is not None:
        states = results.try_or_note("judged edits", lambda: judge_edits(judge, corpus, systems))
    names = {system.system for system in given.systems}
    return explorer_section(
        corpus,
        systems,
        [scores for scores in results.scores if names <= {*scores.systems}],
        states=states,
        judge=judge if states is not None else None,
        difficulty=None if results.difficulty is None else results.difficulty[0],
        base=given.base,
        slices={"length": length_slices(corpus)} | dict(given.slices or {}),
    )
