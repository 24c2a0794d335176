"""Sentence views, index columns, compressed blocks.

A text is the source with edits carried out, so that it is shown with its changes in place and takes
little room. Outputs that are the same, and judged the same, share a row.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from errata.comparison.compare import check_slice_lengths
from errata.comparison.edits import JudgedSentence, edits_overlap
from errata.core.errors import InputError, escape_controls
from errata.core.stats import Floats, Ints, merge_ties
from errata.data import Corpus, Edit, Hypotheses, Scores, apply_edits
from errata.edits import extract_all, with_edits
from errata.metrics.difficulty import DifficultyMap
from errata.metrics.errant import Edits

# ---- Data of a page in compressed blocks: small in the file, unpacked by the browser as needed.

WHOLE = (np.uint8, np.uint16, np.uint32)
ALIGNED = 8
LEVEL = 6  # zlib's compromise; 9 takes three times as long for 2 % less


@dataclass(frozen=True)
class PackedColumn:
    """The place of an array in a block: the browser's name of its type, first byte, and length."""

    type: str
    at: int
    length: int


def compress_base64(data: bytes) -> str:
    """Data deflated and in base64.

    >>> compress_base64(b"")
    'eJwDAAAAAAE='
    """
    return base64.b64encode(zlib.compress(data, LEVEL)).decode("ascii")


def pack_columns(columns: Mapping[str, NDArray[Any]]) -> tuple[dict[str, PackedColumn], bytes]:
    """Arrays one after another, whole numbers in the smallest type that holds them all.

    >>> manifest, data = pack_columns({"a": np.array([1, 300]), "b": np.array([0.5])})
    >>> manifest["b"], len(data)
    (PackedColumn(type='Float64Array', at=8, length=1), 16)
    """
    manifest: dict[str, PackedColumn] = {}
    pieces: list[bytes] = []
    at = 0
    for name, values in columns.items():
        array = values.ravel()
        kind: Any = np.float64
        if values.dtype.kind != "f":
            top = int(array.max(initial=0))
            kind = next(kind for kind in WHOLE if top <= np.iinfo(kind).max)
        array = array.astype(np.dtype(kind).newbyteorder("<"), copy=False)
        data = array.tobytes()
        of = f"{'Float' if array.dtype.kind == 'f' else 'Uint'}{array.itemsize * 8}Array"
        manifest[name] = PackedColumn(of, at, len(array))
        pieces.append(data + b"\0" * (-len(data) % ALIGNED))
        at += len(pieces[-1])
    return manifest, b"".join(pieces)


# "changed" says what a system changed where nobody judged it, "asked" what an annotator asks for.
ShownState = Literal["right", "missed", "wrong", "changed", "asked"]
STATES: tuple[ShownState, ...] = ("right", "missed", "wrong", "changed", "asked")
EditPlace = tuple[int, int, int, int, str]  # sentence, annotator, start, end, replacement


class ShownEdit(NamedTuple):
    """An edit of the source tokens ``start:end``; ``weight`` is its difficulty, where known.

    ``others`` are corrections that are as good as the first.
    """

    start: int
    end: int
    replacement: str
    kind: str
    state: ShownState
    weight: float | None = None
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class TextView:
    """One text: whose it is, by whom it was judged, and its edits.

    ``whose`` numbers systems, or is annotators where it is a reference. ``text`` is given where the
    edits do not make it (edits that overlap or are left out).
    """

    whose: tuple[int, ...]
    edits: tuple[ShownEdit, ...]
    annotator: int | None = None
    text: str | None = None


@dataclass(frozen=True)
class SentenceView:
    """One sentence: its number in the corpus, from 1, and its texts."""

    number: int
    source: str
    references: tuple[TextView, ...]
    outputs: tuple[TextView, ...]


def build_sentence_views(
    corpus: Corpus,
    systems: Sequence[Hypotheses],
    *,
    states: Sequence[Sequence[JudgedSentence]] | None = None,
    judge: Edits | None = None,
    difficulty: DifficultyMap | None = None,
) -> list[SentenceView]:
    """Lay out every sentence of a corpus.

    ``states`` are the judged edits of each system (`errata.comparison.edits.judge_edits` with
    ``judge.for_sentences``: then each output is judged by the annotator who is best for it);
    without, outputs show what they changed. Edits that were not judged, because the judge leaves
    their kind out, are shown as such.

    >>> corpus = Corpus.from_texts(["He go home"], [["He goes home"]])
    >>> (found,) = build_sentence_views(corpus, [Hypotheses("A", ("He went home",))])
    >>> found.outputs[0].edits[0][:5], found.references[0].whose
    ((1, 2, 'went', 'R:OTHER', 'changed'), (0,))
    """
    judge = judge or Edits(extractor="aligned")
    for h in systems:
        if len(h) != len(corpus):
            problem = f"{h.system} has {len(h)} sentences, the corpus {len(corpus)}"
            raise InputError(problem, remedy="one line per source sentence")
    changes = _extract_output_edits(corpus, systems, states)
    gold = with_edits(corpus, judge.gold, judge.extractor)
    weights = _difficulty_weights(difficulty)
    found = []
    for i, source in enumerate(corpus.sources):
        tokens = source.split()
        references = []
        for reference in gold.references[i]:
            edits, text = reference.edits or (), None
            if reference.text is None:
                apply_edits(tokens, edits)  # they cannot overlap
            else:
                text = _text_if_edits_differ(tokens, edits, reference.text)
            whose = reference.annotator
            places = [(i, whose, e.start, e.end, e.replacement) for e in edits]
            shown = tuple(
                _show_edit(edit, edit.kind, "asked", weights.get(place))
                for edit, place in zip(edits, places, strict=True)
            )
            references.append(TextView((whose,), shown, text=text))
        outputs = [
            _judged_row(s, (source, tokens), h.sentences[i], states[s][i], changes, (i, weights))
            if states is not None
            else TextView((s,), _as_changed_edits(changes.get((source, h.sentences[i]), ())))
            for s, h in enumerate(systems)
        ]
        texts = (tuple(_merge_equal_texts(references)), tuple(_merge_equal_texts(outputs)))
        found.append(SentenceView(corpus.number(i), escape_controls(" ".join(tokens)), *texts))
    return found


def apply_if_disjoint(tokens: Sequence[str], edits: Iterable[Edit]) -> list[str] | None:
    """The tokens with edits carried out, or None if edits overlap.

    >>> apply_if_disjoint(["a"], [Edit(0, 1, "b"), Edit(1, 1, "c d")]), apply_if_disjoint(
    ...     ["a"], [Edit(0, 1, "b"), Edit(0, 1, "c")])
    (['b', 'c', 'd'], None)
    """
    try:
        return apply_edits(tokens, edits)
    except InputError:
        return None


def _extract_output_edits(
    corpus: Corpus, systems: Sequence[Hypotheses], states: Sequence[Sequence[JudgedSentence]] | None
) -> dict[tuple[str, str], tuple[Edit, ...]]:
    """What each output changed, where judged edits do not say it."""
    wanted: dict[tuple[str, str], None] = {}
    for s, h in enumerate(systems):
        for i, (source, output) in enumerate(zip(corpus.sources, h.sentences, strict=True)):
            if states is not None:
                made = [each.edit for each in states[s][i].edits if each.state != "missed"]
                if apply_if_disjoint(source.split(), made) == output.split():
                    continue
            wanted[source, output] = None
    pairs = list(wanted)
    edits = extract_all([source for source, _ in pairs], [output for _, output in pairs])
    return dict(zip(pairs, edits, strict=True))


def _as_changed_edits(edits: Iterable[Edit]) -> tuple[ShownEdit, ...]:
    return tuple(_show_edit(edit, edit.kind, "changed") for edit in edits)


def _show_edit(edit: Edit, kind: str, state: ShownState, weight: float | None = None) -> ShownEdit:
    """An edit for display; only gold edits keep their alternative corrections."""
    others = edit.alternatives if state in ("missed", "asked") else ()
    return ShownEdit(
        edit.start,
        edit.end,
        escape_controls(edit.replacement),
        escape_controls(kind) or "-",
        state,
        weight,
        tuple(map(escape_controls, others)),
    )


def _judged_row(
    system: int,
    given: tuple[str, list[str]],
    output: str,
    judged: JudgedSentence,
    changes: dict[tuple[str, str], tuple[Edit, ...]],
    where: tuple[int, dict[EditPlace, float]],
) -> TextView:
    """The row of one output, with what was judged of it and what was not."""
    sentence, weights = where
    source, tokens = given
    made: list[Edit] = []
    shown: dict[ShownEdit, None] = {}  # in order, each once
    for each in judged.edits:
        weight = None
        if each.gold is not None and judged.annotator is not None:
            gold = each.gold
            place = (sentence, judged.annotator, gold.start, gold.end, gold.replacement)
            weight = weights.get(place)
        shown[_show_edit(each.edit, each.kind, each.state, weight)] = None
        if each.state != "missed" and each.edit not in made:
            made.append(each.edit)
    text = None
    if (source, output) in changes and apply_if_disjoint(tokens, made) != output.split():
        others = [
            edit
            for edit in changes[source, output]
            if not any(edits_overlap(edit, mine.start, mine.end) for mine in made)
        ]
        shown |= dict.fromkeys(_as_changed_edits(others))
        text = _text_if_edits_differ(tokens, [*made, *others], output)
    edits = sorted(shown, key=lambda e: (e.start, e.end, e.state == "missed"))
    return TextView((system,), tuple(edits), judged.annotator, text)


def _text_if_edits_differ(tokens: list[str], edits: Iterable[Edit], text: str) -> str | None:
    """The text, where the edits do not make it."""
    return None if apply_if_disjoint(tokens, edits) == text.split() else escape_controls(text)


def _difficulty_weights(found: DifficultyMap | None) -> dict[EditPlace, float]:
    """The weight of every error, by where it stands."""
    if found is None:
        return {}
    chunks, table = found.chunks, found.corpus.edits
    at = np.flatnonzero(chunks.erroneous)
    unit = chunks.unit_of[at]
    columns = (chunks.sentences[unit], table.annotators[unit], chunks.edits[at], found.weights[at])
    weights: dict[EditPlace, float] = {}
    for i, annotator, number, value in zip(*(each.tolist() for each in columns), strict=True):
        edit = table.every_edit[number]
        weights[i, annotator, edit.start, edit.end, edit.replacement] = value
    return weights


def _merge_equal_texts(rows: Iterable[TextView]) -> Iterable[TextView]:
    """Rows that read alike as one, in the order of the first of each."""
    alike: dict[object, list[TextView]] = {}
    for row in rows:
        alike.setdefault((row.edits, row.annotator, row.text), []).append(row)
    for several in alike.values():
        first = several[0]
        whose = tuple(number for row in several for number in row.whose)
        yield TextView(whose, first.edits, first.annotator, first.text)


# ---- Where metrics disagree on a sentence: which of two outputs is better?

BLOCK_OF_PAIRS = 1 << 22  # signs that are held at a time, in bytes


@dataclass(frozen=True, eq=False)
class MetricDisagreement:
    """How often two metrics order two systems' outputs of a sentence in opposite ways.

    ``pairs`` numbers the metrics that are compared; ``compared[p, i]`` counts the pairs of systems
    that both metrics of pair ``p`` tell apart on sentence ``i``, ``discordant[p, i]`` the pairs
    that they order in opposite ways.
    """

    pairs: tuple[tuple[int, int], ...]
    discordant: Ints
    compared: Ints

    @property
    def shares_by_pair(self) -> Floats:
        """``discordant / compared`` of each pair of metrics and sentence; 0 where none is compared.

        ``(1 - γ) / 2`` with Goodman and Kruskal's γ: 0 the same order, 1 the opposite one.
        """
        return self.discordant / np.maximum(self.compared, 1)

    @property
    def largest_share(self) -> Floats:
        """The largest share of any pair of metrics, of each sentence."""
        return np.asarray(self.shares_by_pair.max(axis=0, initial=0.0), np.float64)


def metric_disagreement(results: Sequence[Scores]) -> MetricDisagreement:
    """Compare how every two metrics order the systems' outputs, sentence by sentence.

    A pair of systems counts where both metrics give the two outputs different scores (not only by
    rounding, `errata.core.stats.merge_ties`); where a score is missing, or a metric sees a tie,
    nothing is compared: a metric that is silent does not disagree.

    >>> first = Scores("a()", ("A", "B"), np.zeros(2), np.array([[0.1, 0.2], [0.2, 0.2]]))
    >>> second = Scores("b()", ("A", "B"), np.zeros(2), np.array([[0.9, 0.1], [0.3, 0.2]]))
    >>> found = metric_disagreement([first, second])
    >>> found.discordant.tolist(), found.compared.tolist(), found.largest_share.tolist()
    ([[1, 0]], [[1, 0]], [1.0, 0.0])
    """
    pairs = tuple(combinations(range(len(results)), 2))
    tables = [_merged_sentence_scores(scores, results[0]) for scores in results]
    n = tables[0].shape[1] if tables else 0
    discordant, compared = (np.zeros((len(pairs), n), np.int64) for _ in range(2))
    two = np.array(list(combinations(range(len(tables[0]) if tables else 0), 2)), np.intp)
    if len(two) and pairs:
        step = max(1, BLOCK_OF_PAIRS // len(two))
        for start in range(0, n, step):
            part = slice(start, start + step)
            sides = [(table[two[:, 0], part], table[two[:, 1], part]) for table in tables]
            # 1 where the first is better, -1 the second, 0 neither or not known.
            signs = [(a > b).astype(np.int8) - (a < b).astype(np.int8) for a, b in sides]
            for p, (a, b) in enumerate(pairs):
                both = signs[a] * signs[b]
                compared[p, part] = np.count_nonzero(both, axis=0)
                discordant[p, part] = np.count_nonzero(both < 0, axis=0)
    return MetricDisagreement(pairs, discordant, compared)


def _merged_sentence_scores(scores: Scores, first: Scores) -> Floats:
    """The sentence scores ``[system, sentence]``, those that differ by rounding made equal."""
    if scores.sentences is None or first.sentences is None:
        raise InputError(f"{scores.scorer} has no scores of single sentences")
    if scores.systems != first.systems or scores.sentences.shape != first.sentences.shape:
        problem = f"{scores.scorer} and {first.scorer} score other systems or sentences"
        raise InputError(problem, remedy="compare scores of the same outputs")
    return merge_ties(scores.sentences.T).T


# ---- What filters and orders need of every sentence, as columns of numbers.

IndexColumns = dict[str, NDArray[Any]]
WORD = 32  # systems in one number of a mask


@dataclass(frozen=True, eq=False)
class SentenceIndex:
    """The columns, and the words their numbers stand for.

    ``kinds`` are in the order of their names, ``weights`` of their size, ``slices`` give each
    column's values in the order of their names.
    """

    columns: IndexColumns
    kinds: tuple[str, ...]
    weights: tuple[float, ...]
    pairs: tuple[tuple[int, int], ...]
    slices: Mapping[str, tuple[str, ...]]

    @property
    def sentences_by_kind(self) -> tuple[int, ...]:
        """In how many sentences some system has an edit of each kind, made or missed."""
        first, kind = self.columns["first"], self.columns["kind"]
        sentence = np.repeat(np.arange(len(first) - 1), np.diff(first))
        found = np.unique(np.stack([kind, sentence]), axis=1)[0]
        return tuple(np.bincount(found, minlength=len(self.kinds)).tolist())


def build_filter_index(
    sentences: Sequence[SentenceView],
    systems: int,
    results: Sequence[Scores],
    slices: Mapping[str, Sequence[str]] | None = None,
) -> SentenceIndex:
    """Index sentences that are laid out, with their scores by several metrics.

    >>> from errata.data import Corpus, Hypotheses
    >>> from errata.reports.explorer.rows import build_sentence_views
    >>> corpus = Corpus.from_texts(["He go", "I am"], [["He goes", "I am"]])
    >>> found = build_sentence_views(corpus, [Hypotheses("A", ("He went", "I am"))])
    >>> index = build_filter_index(found, 1, [], {"level": ["B1", "A2"]})
    >>> index.kinds, index.columns["first"].tolist(), index.slices["level"]
    (('R:INFL', 'R:OTHER'), [0, 1, 1], ('A2', 'B1'))
    """
    rows = [row for each in sentences for row in (*each.references, *each.outputs)]
    edits = [edit for row in rows for edit in row.edits]
    kinds = tuple(sorted({edit.kind for edit in edits}))
    weights = tuple(sorted({edit.weight for edit in edits if edit.weight is not None}))
    columns: IndexColumns = {
        "number": np.array([each.number for each in sentences], np.int64),
        "length": np.array([len(each.source) for each in sentences], np.int64),
        "rows": np.array([1 + len(s.references) + len(s.outputs) for s in sentences], np.int64),
        "weights": np.array(weights, np.float64),
        **_edit_index_columns(sentences, systems, kinds, weights),
    }
    for m, scores in enumerate(results):
        columns[f"values{m}"], columns[f"codes{m}"] = _number_scores(scores, len(sentences))
    found = metric_disagreement(results)
    columns |= {"discordant": found.discordant, "compared": found.compared}
    check_slice_lengths(slices or {}, len(sentences))
    values: dict[str, tuple[str, ...]] = {}
    for k, (name, given) in enumerate((slices or {}).items()):
        words = [escape_controls(str(value)) or "(none)" for value in given]
        values[escape_controls(name)] = tuple(sorted(set(words)))
        number = {word: code for code, word in enumerate(values[escape_controls(name)])}
        columns[f"slice{k}"] = np.array([number[word] for word in words], np.int64)
    return SentenceIndex(columns, kinds, weights, found.pairs, values)


def _edit_index_columns(
    sentences: Sequence[SentenceView], systems: int, kinds: Sequence[str], weights: Sequence[float]
) -> IndexColumns:
    """What systems did, each kind, state and weight once per sentence, with who did it.

    Entries of sentence ``i`` are ``first[i]:first[i + 1]``; ``who`` holds the systems as bits of as
    many whole numbers as they need.
    """
    kind_of = {kind: code for code, kind in enumerate(kinds)}
    weight_of = {weight: code for code, weight in enumerate(weights, 1)}
    state_of = {state: code for code, state in enumerate(STATES)}
    words = max(1, -(-systems // WORD))
    first, entries, masks = [0], [], []
    for each in sentences:
        found: dict[tuple[int, int, int], int] = {}
        for row in each.outputs:
            mask = sum(1 << system for system in row.whose)
            for edit in row.edits:
                weight = 0 if edit.weight is None else weight_of[edit.weight]
                key = (kind_of[edit.kind], state_of[edit.state], weight)
                found[key] = found.get(key, 0) | mask
        entries += list(found)
        masks += list(found.values())
        first.append(len(entries))
    table = np.array(entries, np.int64).reshape(-1, 3)
    who = [mask >> (WORD * word) & (1 << WORD) - 1 for mask in masks for word in range(words)]
    return {
        "first": np.array(first, np.int64),
        "kind": table[:, 0],
        "state": table[:, 1],
        "weight": table[:, 2],
        "who": np.array(who, np.int64),
    }


def split_texts_by_score(
    sentences: Sequence[SentenceView], results: Sequence[Scores]
) -> list[SentenceView]:
    """The sentences with a row of its own for every output that some metric scores differently.

    Metrics that know whose output it is (scores from a file, weights without the system's own
    share) may score the same text differently; a row shows one score of each metric.
    """
    if not results:
        return list(sentences)
    codes = np.stack([_number_scores(scores, len(sentences))[1] for scores in results])  # [m, s, i]
    return [
        replace(each, outputs=tuple(_split_texts(each.outputs, codes[:, :, i])))
        for i, each in enumerate(sentences)
    ]


def _split_texts(rows: Sequence[TextView], codes: NDArray[np.int64]) -> Iterable[TextView]:
    for row in rows:
        mine = codes[:, row.whose]
        if (mine == mine[:, :1]).all():
            yield row
            continue
        alike: dict[tuple[int, ...], list[int]] = {}
        for system, scores in zip(row.whose, mine.T.tolist(), strict=True):
            alike.setdefault(tuple(scores), []).append(system)
        for several in alike.values():
            yield replace(row, whose=tuple(several))


def _number_scores(scores: Scores, sentences: int) -> tuple[Floats, NDArray[np.int64]]:
    """The distinct scores in order, and which one each output has, from 1; 0 is none."""
    table = scores.sentences
    if table is None or table.shape[1] != sentences:
        problem = f"{scores.scorer} does not score the {sentences} sentences that are shown"
        raise InputError(problem, remedy="give scores of the same sentences")
    values = merge_ties(table.ravel())
    distinct, codes = np.unique(values, return_inverse=True)
    numbered = np.where(np.isnan(values), 0, codes.ravel() + 1).reshape(table.shape)
    return distinct[~np.isnan(distinct)], numbered
