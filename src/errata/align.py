"""What a metric compared in a sentence: three-way alignment, chunks, M2 edits; text and tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np

from errata.comparison.edits import edits_overlap
from errata.core.errors import InputError, escape_controls
from errata.core.stats import Progress
from errata.data import Corpus, Edit, Hypotheses, Vocabulary
from errata.kernels import threeway
from errata.metrics import Metric
from errata.metrics.base import describe_data
from errata.metrics.difficulty import MODIFIED, Difficulty, DifficultyMap, build_difficulty_map
from errata.metrics.imeasure import Aspect, IMeasure
from errata.metrics.imeasure.references import nomix_references
from errata.metrics.m2 import M2
from errata.metrics.ngrams import split_words
from errata.scoring.contract import check_inputs
from errata.scoring.results import corpus_facts
from errata.tables.cells import display_width
from errata.tables.table import Column, Table, make_signature

ColumnKind = Literal["unchanged", "missed", "needless", "right", "wrong"]
Prefixes = tuple[int, int, int]
GAP_COST, MISMATCH = 2, 3  # what a pair of tokens costs in a column (`errata.kernels.threeway`)
# Which rows have a token, in the order in which steps are preferred.
STEPS: tuple[Prefixes, ...] = (
    *((1, 1, 1), (1, 1, 0), (1, 0, 1), (0, 1, 1)),
    *((1, 0, 0), (0, 1, 0), (0, 0, 1)),
)


class AlignedColumn(NamedTuple):
    """One column: the tokens of the three rows, None for a gap, and the kind of column."""

    source: str | None
    hypothesis: str | None
    reference: str | None

    @property
    def kind(self) -> ColumnKind:
        """Return what became of it: unchanged, missed, needlessly changed, right, or wrong."""
        s, h, r = self
        if s == h:
            return "unchanged" if s == r else "missed"
        return "needless" if s == r else "right" if h == r else "wrong"

    def count_label(self, aspect: Aspect = "correction") -> str:
        """Return what the paper counts the column as; a wrong correction is FP, FN and FPN at once.

        >>> column = AlignedColumn("go", "went", "goes")
        >>> column.count_label(), column.count_label("detection")
        ('FPN', 'TP')
        """
        wrong = "FPN" if aspect == "correction" else "TP"
        words = {"unchanged": "TN", "missed": "FN", "needless": "FP", "right": "TP", "wrong": wrong}
        return words[self.kind]


def align_three(
    source: Sequence[str], hypothesis: Sequence[str], reference: Sequence[str]
) -> tuple[AlignedColumn, ...]:
    """Return the alignment that I-measure counts, as the program of Felice & Briscoe makes it.

    It is read from its end: the first of `STEPS` that keeps the least cost.

    >>> [column[1:] for column in align_three("a b c".split(), "a c".split(), "a B c".split())]
    [('a', 'a'), (None, 'B'), ('c', 'c')]
    """
    words = Vocabulary()
    rows = [words.intern_tokens([tokens])[0].tolist() for tokens in (source, hypothesis, reference)]
    texts = (source, hypothesis, reference)
    at: Prefixes = (len(source), len(hypothesis), len(reference))
    least = _prefix_cost(rows, at)
    columns = []
    while any(at):
        if min(at) and len({row[k - 1] for row, k in zip(rows, at, strict=True)}) == 1:
            at = (at[0] - 1, at[1] - 1, at[2] - 1)  # equal ends cost nothing, and come first
            columns.append(AlignedColumn(*[source[at[0]]] * 3))
            continue
        for step in STEPS:
            before = (at[0] - step[0], at[1] - step[1], at[2] - step[2])
            if min(before) < 0:
                continue
            cost = _prefix_cost(rows, before)
            if cost + _column_cost(rows, at, step) == least:
                break
        columns.append(
            AlignedColumn(
                *(text[k - 1] if s else None for text, k, s in zip(texts, at, step, strict=True))
            )
        )
        at, least = before, cost
    return tuple(reversed(columns))


def _prefix_cost(rows: Sequence[Sequence[int]], at: Prefixes) -> int:
    """Return the least cost of aligning the beginnings of three sentences."""
    parts = [row[:end] for row, end in zip(rows, at, strict=True)]
    ids = np.array([token for part in parts for token in part], np.int32)
    offsets = np.cumsum([0, *map(len, parts)]).astype(np.int64)
    found, _ = threeway.count_columns(ids, offsets, np.array([[0, 1, 2]]))
    return int(found[0, -1])


def _column_cost(rows: Sequence[Sequence[int]], at: Prefixes, step: Prefixes) -> int:
    tokens = [row[k - 1] if s else None for row, k, s in zip(rows, at, step, strict=True)]
    cost = 0
    for a, b in ((0, 1), (0, 2), (1, 2)):
        if tokens[a] != tokens[b]:
            cost += GAP_COST if None in (tokens[a], tokens[b]) else MISMATCH
    return cost


class ThreeWay(NamedTuple):
    """The alignment of one sentence (from 0) of a system with the reference that it takes."""

    sentence: int
    system: str
    annotator: int
    score: float
    columns: tuple[AlignedColumn, ...]
    aspect: Aspect


def align_sentences(
    metric: IMeasure, corpus: Corpus, hypotheses: Hypotheses, sentences: Sequence[int]
) -> list[ThreeWay]:
    """Return the alignments of some sentences, with the reference that each takes."""
    if metric.references == "mix":
        problem = "imeasure: a mixture of several annotators has no alignment to show"
        raise InputError(problem, remedy="leave references='nomix' unchanged")
    counts = metric.count(corpus, hypotheses)
    chosen = metric.choose(counts)[0]
    found = []
    for i in sentences:
        source = tuple(corpus.sources[i].split())
        references = nomix_references(source, corpus.references[i], metric.tokenise)
        r = int(chosen[i])
        annotator = corpus.references[i][r].annotator
        score = float(metric.for_sentences.score(counts[i, r]))
        words = split_words(hypotheses.sentences[i], metric.spaces)
        columns = align_three(source, words, references[r])
        found.append(ThreeWay(i, hypotheses.system, annotator, score, columns, metric.aspect))
    return found


EditVerdict = Literal["correct", "missed", "wrong"]


class Chunk(NamedTuple):
    """One gold chunk: the source there, the correction, and what each system made of it.

    ``source`` is empty where something can only be inserted; a dummy is such a place where the gold
    inserts nothing. ``written`` and ``right`` go by system, ``solved`` of all systems got it right.
    """

    start: int
    end: int
    source: str
    gold: str
    kind: str
    error: bool
    written: tuple[str, ...]
    right: tuple[bool, ...]
    solved: float
    weight: float

    @property
    def is_dummy(self) -> bool:
        """Whether nothing stands here, neither in the source nor in the gold."""
        return not (self.source or self.gold)

    @property
    def is_worth_showing(self) -> bool:
        """Whether there is anything to see: more than a dummy that no system filled."""
        return not self.is_dummy or any(self.written)


class ChunkedSentence(NamedTuple):
    """A sentence (from 0) as one annotator corrected it, in chunks."""

    sentence: int
    annotator: int
    chunks: tuple[Chunk, ...]


def chunk_sentences(found: DifficultyMap, sentences: Sequence[int]) -> list[ChunkedSentence]:
    """Return the chunks of some sentences, once for each of their references.

    >>> from errata.metrics.difficulty import build_difficulty_map
    >>> gold = Corpus.from_texts(["He go home"], [["He goes home"]])
    >>> found = build_difficulty_map(gold, [Hypotheses("A", ("He goes to home",))])
    >>> [(c.source, c.gold, c.written, c.right) for c in chunk_sentences(found, [0])[0].chunks[3:5]]
    [('go', 'goes', ('goes',), (True,)), ('', '', ('to',), (False,))]
    """
    all_chunks = found.chunks
    result = []
    for u, i in enumerate(all_chunks.sentences.tolist()):
        if i not in sentences:
            continue
        first, last = all_chunks.bounds[u : u + 2].tolist()
        reference = found.corpus.references[i][int(all_chunks.references[u])]
        several = tuple(_make_chunk(found, i, c) for c in range(first, last))
        result.append(ChunkedSentence(i, reference.annotator, several))
    return result


def _make_chunk(found: DifficultyMap, sentence: int, c: int) -> Chunk:
    start, end = found.chunks.rows[c, :2].tolist()
    source = " ".join(found.corpus.sources[sentence].split()[start:end])
    edit = found.edit(c)
    written = tuple(
        " … ".join(e.replacement for e in found.edits[s][sentence] if edits_overlap(e, start, end))
        if found.flags[s, c] & MODIFIED
        else source
        for s in range(len(found.systems))
    )
    return Chunk(
        start,
        end,
        source,
        source if edit is None else edit.replacement,
        "" if edit is None else edit.kind,
        edit is not None,
        written,
        tuple(found.right[:, c].tolist()),
        float(found.tally.solved[c]),
        float(found.weights[c]),
    )


class M2EditOutcome(NamedTuple):
    """An edit of a sentence (from 0) of a system: gold and made, gold and missed, or made only."""

    sentence: int
    system: str
    annotator: int
    edit: Edit
    verdict: EditVerdict


def m2_edit_outcomes(
    metric: M2, corpus: Corpus, hypotheses: Hypotheses, sentences: Sequence[int]
) -> list[M2EditOutcome]:
    """Return the edits that M2 chose for some sentences, and those of the annotator it took.

    >>> gold = Corpus.from_texts(["He go home ."], [["He goes home ."]])
    >>> found = m2_edit_outcomes(M2(), gold, Hypotheses("A", ("He goes to home .",)), [0])
    >>> [(each.edit.replacement, each.verdict) for each in found]
    [('goes', 'correct'), ('to', 'wrong')]
    """
    explained = metric.explain(corpus, hypotheses)
    result = []
    for i in sentences:
        of = explained[i]
        marked: list[tuple[Edit, EditVerdict]] = [
            *((edit, "correct") for edit in of.correct),
            *((edit, "missed") for edit in of.missed),
            *((edit, "wrong") for edit in of.wrong),
        ]
        result += [
            M2EditOutcome(i, hypotheses.system, of.annotator, edit, verdict)
            for edit, verdict in sorted(marked, key=lambda each: (each[0].start, each[0].end))
        ]
    return result


GAP_MARK = "∅"  # where a row has nothing


def align_columns(
    rows: Sequence[tuple[str, Sequence[str]]], *, width: int | None = None, gap: str = "  "
) -> str:
    """Return rows with names, each column as wide as its widest cell.

    Where a line would be longer than ``width``, all rows go on below, after an empty line.

    >>> print(align_columns([("A", ["he", "goes"]), ("long", ["日本", "x"])]))
    A     he    goes
    long  日本  x
    """
    shown = [
        (escape_controls(name), [escape_controls(cell) for cell in cells]) for name, cells in rows
    ]
    left = max((display_width(name) for name, _ in shown), default=0)
    n = len(shown[0][1]) if shown else 0
    widths = [max(display_width(cells[c]) for _, cells in shown) for c in range(n)]
    blocks: list[list[int]] = [[]]
    used = left
    for c in range(n):
        if width is not None and blocks[-1] and used + len(gap) + widths[c] > width:
            blocks.append([])
            used = left
        blocks[-1].append(c)
        used += len(gap) + widths[c]

    def padded(text: str, size: int) -> str:
        return text + " " * (size - display_width(text))

    return "\n\n".join(
        "\n".join(
            gap.join([padded(name, left), *(padded(cells[c], widths[c]) for c in block)]).rstrip()
            for name, cells in shown
        )
        for block in blocks
    )


def three_way_text(found: ThreeWay, *, number: int, width: int | None = None) -> str:
    """Return the three rows of I-measure with positions above and what they count as below."""
    rows: list[tuple[str, list[str]]] = [
        ("", [str(k) for k in range(1, len(found.columns) + 1)]),
        ("source", [GAP_MARK if c.source is None else c.source for c in found.columns]),
        ("hypothesis", [GAP_MARK if c.hypothesis is None else c.hypothesis for c in found.columns]),
        ("reference", [GAP_MARK if c.reference is None else c.reference for c in found.columns]),
        ("", ["" if c.kind == "unchanged" else c.count_label(found.aspect) for c in found.columns]),
    ]
    title = f"sentence {number}, {found.system}, annotator {found.annotator}: I {found.score:.4f}"
    return f"{escape_controls(title)}\n{align_columns(rows, width=width)}"


def chunk_text(
    found: ChunkedSentence,
    systems: Sequence[str],
    *,
    number: int,
    dummies: bool = False,
    width: int | None = None,
) -> str:
    """Return gold chunks as columns: source, gold, what each system wrote and whether it is right.

    Dummies that no system filled are left out, and counted, unless ``dummies``.
    """
    shown = [chunk for chunk in found.chunks if dummies or chunk.is_worth_showing]
    hidden = len(found.chunks) - len(shown)
    rows: list[tuple[str, list[str]]] = [
        ("", [str(k) for k, chunk in enumerate(found.chunks) if dummies or chunk.is_worth_showing]),
        ("source", [chunk.source or GAP_MARK for chunk in shown]),
        ("gold", [chunk.gold or GAP_MARK for chunk in shown]),
    ]
    for s, system in enumerate(systems):
        rows.append((system, [chunk.written[s] or GAP_MARK for chunk in shown]))
        rows.append(("", [str(int(chunk.right[s])) for chunk in shown]))
    rows.append(("right", [f"{chunk.solved:g}" for chunk in shown]))
    rows.append(("weight", [f"{chunk.weight:.2f}" for chunk in shown]))
    left_out = f" ({hidden} empty places that nobody filled are not shown)" if hidden else ""
    title = f"sentence {number}, annotator {found.annotator}{left_out}"
    return f"{title}\n{align_columns(rows, width=width)}"


Number = Callable[[int], int]  # the number a sentence has for people


def three_way_table(
    several: Sequence[ThreeWay], label: str, number: Number, *, signature: str
) -> Table:
    """Return one row per column of the alignment; a gap is empty."""
    rows = [(each, k, column) for each in several for k, column in enumerate(each.columns, 1)]
    return Table.of(
        [
            Column("sentence", [number(each.sentence) for each, _, _ in rows]),
            Column("system", [each.system for each, _, _ in rows]),
            Column("annotator", [each.annotator for each, _, _ in rows]),
            Column("position", [k for _, k, _ in rows]),
            Column("source", [column.source for _, _, column in rows]),
            Column("hypothesis", [column.hypothesis for _, _, column in rows]),
            Column("reference", [column.reference for _, _, column in rows]),
            Column("counts as", [column.count_label(each.aspect) for each, _, column in rows]),
        ],
        title=f"{label}: source, hypothesis and reference aligned",
        name=label,
        signature=signature,
    )


def chunk_table(
    several: Sequence[ChunkedSentence],
    systems: Sequence[str],
    label: str,
    number: Number,
    *,
    dummies: bool,
    signature: str,
) -> Table:
    """Return one row per gold chunk, with what each system made of it."""
    rows = [
        (each, k, chunk)
        for each in several
        for k, chunk in enumerate(each.chunks)
        if dummies or chunk.is_worth_showing
    ]
    by_system = [
        (Column(name, [c.written[s] for _, _, c in rows]),)
        + (Column(f"{name} right", [c.right[s] for _, _, c in rows]),)
        for s, name in enumerate(systems)
    ]
    return Table.of(
        [
            Column("sentence", [number(each.sentence) for each, _, _ in rows]),
            Column("annotator", [each.annotator for each, _, _ in rows]),
            Column("chunk", [k for _, k, _ in rows]),
            Column("source", [c.source for _, _, c in rows]),
            Column("gold", [c.gold for _, _, c in rows]),
            Column("error", [c.error for _, _, c in rows]),
            *(column for pair in by_system for column in pair),
            Column("right", [int(c.solved) for _, _, c in rows]),  # of how many systems
            Column("weight", [c.weight for _, _, c in rows]),
        ],
        title=f"{label}: gold chunks, and who gets them right",
        name=label,
        signature=signature,
    )


def judged_edit_table(
    several: Sequence[M2EditOutcome],
    sources: Sequence[str],
    label: str,
    number: Number,
    *,
    signature: str,
) -> Table:
    """Return one row per edit: what it changes, and whether it is in the gold, output or both."""
    edits = [each.edit for each in several]
    tokens = [sources[each.sentence].split() for each in several]
    words = [" ".join(t[e.start : e.end]) for t, e in zip(tokens, edits, strict=True)]
    columns = [
        Column("sentence", [number(each.sentence) for each in several]),
        Column("system", [each.system for each in several]),
        Column("annotator", [each.annotator for each in several]),
        Column("start", [edit.start for edit in edits]),
        Column("end", [edit.end for edit in edits]),
        Column("source", words),
        Column("correction", [edit.replacement for edit in edits]),
        Column("kind", [edit.kind for edit in edits]),
        Column("edit is", [each.verdict for each in several]),
    ]
    return Table.of(
        columns, title=f"{label}: the edits that were compared", name=label, signature=signature
    )


class AlignmentView(NamedTuple):
    """What a metric compared, as a table, and as texts where these are easier to read."""

    table: Table
    texts: tuple[str, ...] = ()


def alignment_view(
    metric: Metric,
    corpus: Corpus,
    systems: Sequence[Hypotheses],
    sentences: Sequence[int],
    *,
    dummies: bool,
    width: int | None = None,
    progress: Progress | None = None,
) -> AlignmentView:
    """Return what imeasure, difficulty or m2 compared in these sentences.

    With ``dummies``, difficulty shows also empty places between tokens that nobody filled.
    """
    check_inputs(metric, corpus, systems)
    context = describe_data(metric, corpus, systems).context
    signature = make_signature(repr(metric), *context, *corpus_facts(corpus))
    if isinstance(metric, Difficulty):
        difficulties = build_difficulty_map(corpus, systems, metric, progress=progress)
        chunked = chunk_sentences(difficulties, sentences)
        names = [system.system for system in systems]
        return AlignmentView(
            chunk_table(
                chunked, names, metric.label, corpus.number, dummies=dummies, signature=signature
            ),
            tuple(
                chunk_text(
                    each, names, number=corpus.number(each.sentence), dummies=dummies, width=width
                )
                for each in chunked
            ),
        )
    aligned: list[ThreeWay] = []
    verdicts: list[M2EditOutcome] = []
    for done, system in enumerate(systems):
        if progress is not None:
            progress(done, len(systems))
        if isinstance(metric, IMeasure):
            aligned += align_sentences(metric, corpus, system, sentences)
        elif isinstance(metric, M2):
            verdicts += m2_edit_outcomes(metric, corpus, system, sentences)
    if isinstance(metric, M2):
        verdicts.sort(key=lambda each: each.sentence)
        return AlignmentView(
            judged_edit_table(
                verdicts, corpus.sources, metric.label, corpus.number, signature=signature
            )
        )
    aligned.sort(key=lambda each: each.sentence)
    return AlignmentView(
        three_way_table(aligned, metric.label, corpus.number, signature=signature),
        tuple(
            three_way_text(each, number=corpus.number(each.sentence), width=width)
            for each in aligned
        ),
    )
