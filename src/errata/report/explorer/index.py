"""What filters and orders need of every sentence, as columns of numbers.

With these the page filters and sorts tens of thousands of sentences without reading a text. Column
``codes`` of a metric numbers its scores from 1 in the order of their values (0: none), so the page
compares whole numbers, and equal is what differs by rounding only (`errata.numbers.settled`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from errata.data import Scores
from errata.errors import InputError, visible
from errata.numbers import Floats, settled
from errata.report.explorer.laid_out import STATES, LaidOut, ShownRow
from errata.studies.compared_parts import check_slices
from errata.studies.disagreement import metric_disagreement

__all__ = ["SentenceIndex", "apart_by_score", "sentence_index"]

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


def sentence_index(
    sentences: Sequence[LaidOut],
    systems: int,
    results: Sequence[Scores],
    slices: Mapping[str, Sequence[str]] | None = None,
) -> SentenceIndex:
    """Index sentences that are laid out, with their scores by several metrics.

    >>> from errata.data import Corpus, Hypotheses
    >>> from errata.report.explorer.laid_out import laid_out
    >>> corpus = Corpus.from_texts(["He go", "I am"], [["He goes", "I am"]])
    >>> found = laid_out(corpus, [Hypotheses("A", ("He went", "I am"))])
    >>> index = sentence_index(found, 1, [], {"level": ["B1", "A2"]})
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
        **_edit_columns(sentences, systems, kinds, weights),
    }
    for m, scores in enumerate(results):
        columns |= _score_columns(m, scores, len(sentences))
    found = metric_disagreement(results)
    columns |= {"discordant": found.discordant, "compared": found.compared}
    check_slices(slices or {}, len(sentences))
    values: dict[str, tuple[str, ...]] = {}
    for k, (name, given) in enumerate((slices or {}).items()):
        words = [visible(str(value)) or "(none)" for value in given]
        values[visible(name)] = tuple(sorted(set(words)))
        number = {word: code for code, word in enumerate(values[visible(name)])}
        columns[f"slice{k}"] = np.array([number[word] for word in words], np.int64)
    return SentenceIndex(columns, kinds, weights, found.pairs, values)


def _edit_columns(
    sentences: Sequence[LaidOut], systems: int, kinds: Sequence[str], weights: Sequence[float]
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


def apart_by_score(sentences: Sequence[LaidOut], results: Sequence[Scores]) -> list[LaidOut]:
    """The sentences with a row of its own for every output that some metric scores differently.

    Metrics that know whose output it is (scores from a file, weights without the system's own
    share) may score the same text differently; a row shows one score of each metric.
    """
    if not results:
        return list(sentences)
    codes = np.stack([_coded(scores, len(sentences))[1] for scores in results])  # [m, s, i]
    return [
        replace(each, outputs=tuple(_split(each.outputs, codes[:, :, i])))
        for i, each in enumerate(sentences)
    ]


def _split(rows: Sequence[ShownRow], codes: NDArray[np.int64]) -> Iterable[ShownRow]:
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


def _score_columns(metric: int, scores: Scores, sentences: int) -> IndexColumns:
    values, codes = _coded(scores, sentences)
    return {f"values{metric}": values, f"codes{metric}": codes}


def _coded(scores: Scores, sentences: int) -> tuple[Floats, NDArray[np.int64]]:
    """The distinct scores in order, and which one each output has, from 1; 0 is none."""
    table = scores.sentences
    if table is None or table.shape[1] != sentences:
        raise InputError(
            f"{scores.scorer} does not score the {sentences} sentences that are shown",
            remedy="give scores of the same sentences",
        )
    values = settled(table.ravel())
    distinct, codes = np.unique(values, return_inverse=True)
    numbered = np.where(np.isnan(values), 0, codes.ravel() + 1).reshape(table.shape)
    return distinct[~np.isnan(distinct)], numbered
