"""The edits behind M2: gold edits as arrays, proposed edits, and what met what."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from errata.core.errors import InputError
from errata.core.stats import Bools, Ints
from errata.data import Corpus, Edit, Hypotheses, Reference, Tokens
from errata.data.edits import ReferenceTable, offsets
from errata.edits import with_edits
from errata.kernels import letters, maxmatch
from errata.metrics.m2.release_3_2 import concerned, proposed_edits

LIMIT = 2_000_000  # phrase edits of one pair that are listed; 100 MB, and hours for m2scorer
LARGEST = 200_000_000  # bytes of tables for one pair: 5,700 tokens against 5,700
LONGEST = 30_000  # tokens of a source and its hypothesis together


class GoldEdits(NamedTuple):
    """The edits of many references as arrays, in the order the kernels take them.

    Edits of reference r are ``gold_at[r]:gold_at[r + 1]``, corrections of edit x
    ``alternative_at[x]:alternative_at[x + 1]``, tokens of correction y ``token_at[y]:...``.
    """

    gold_at: NDArray[np.int64]
    start: NDArray[np.intc]
    end: NDArray[np.intc]
    alternative_at: NDArray[np.int64]
    token_at: NDArray[np.int64]
    tokens: NDArray[np.intc]


class Gold(NamedTuple):
    """References by sentence (``first[i]:first[i + 1]``), and their edits as arrays.

    ``repeats`` are the places of edits, in their references, that are not among the arrays.
    """

    first: NDArray[np.int64]
    arrays: GoldEdits
    repeats: Mapping[int, set[int]]


class MatchedEdits(NamedTuple):
    """Proposed edits as rows (start, end, left, right) by reference, and what they met."""

    hypothesis: Tokens
    edits: NDArray[np.intc]
    edit_at: NDArray[np.int64]
    keep: NDArray[np.uint8]
    counts: NDArray[np.int64]
    met: NDArray[np.int64]


@dataclass(frozen=True)
class SentenceEdits:
    """What one annotator finds in one sentence of a system: right, missed and wrong edits.

    ``correct`` and ``missed`` are the annotator's edits (a correct one with the correction that
    was proposed); ``wrong`` are proposed edits, shrunk to what really changed.
    """

    annotator: int
    correct: tuple[Edit, ...]
    missed: tuple[Edit, ...]
    wrong: tuple[Edit, ...]


def gold_edits(corpus: Corpus, duplicates: str) -> Gold:
    """The references of each sentence, by annotator, and their edits; kept with the corpus.

    References without edits get them by token alignment. Unless ``duplicates="official"``, an
    edit that changes the same tokens in the same way as an earlier one counts as one with it.
    """
    return corpus.derived(("m2 gold", duplicates), lambda: _gold_of_corpus(corpus, duplicates))


def gold_references(corpus: Corpus, gold: Gold) -> list[tuple[Reference, tuple[Edit, ...]]]:
    """Return the references of a corpus, each with its edits that are in the arrays."""
    references = list(itertools.chain.from_iterable(with_edits(corpus).references))
    found = [(reference, reference.edits or ()) for reference in references]
    for r, several in gold.repeats.items():
        reference, edits = found[r]
        found[r] = reference, tuple([edit for k, edit in enumerate(edits) if k not in several])
    return found


def _gold_of_corpus(corpus: Corpus, duplicates: str) -> Gold:
    edited = with_edits(corpus)
    table = edited.edits
    repeats: dict[int, set[int]] = {}
    if duplicates == "once":
        several = {r: _repeated_edits(table, r) for r in _with_repeated_spans(table)}
        repeats = {r: found for r, found in several.items() if found}
    stay = np.ones(len(table.start), np.bool_)
    stay[[table.edit_offsets[r] + k for r, found in repeats.items() for k in found]] = False
    texts, ends = _reachable_corrections(table, stay)
    tokens = corpus.vocabulary.intern(texts)
    packed = GoldEdits(
        offsets(stay)[table.edit_offsets],
        table.start[stay].astype(np.intc),
        table.end[stay].astype(np.intc),
        ends,
        tokens.offsets,
        tokens.ids.astype(np.intc, copy=False),
    )
    return Gold(table.reference_offsets, packed, repeats)


def _with_repeated_spans(table: ReferenceTable) -> list[int]:
    """Return the references with two edits, not insertions, of the same tokens; few have any."""
    changing = table.start != table.end
    at = table.edit_offsets
    owner = np.repeat(np.arange(len(at) - 1), np.diff(at))[changing]
    size = int(table.end.max(initial=0)) + 1
    each = (owner * size + table.start[changing]) * size + table.end[changing]
    if (each[1:] > each[:-1]).all():  # in order, as in most files
        return []
    order = np.argsort(each, kind="stable")
    ordered = each[order]
    twice: Ints = np.unique(owner[order[1:][ordered[1:] == ordered[:-1]]])
    return [int(reference) for reference in twice]


def _repeated_edits(table: ReferenceTable, reference: int) -> set[int]:
    """Return the edits that repeat an earlier one; a word may be inserted twice."""
    first, last = table.edit_offsets[reference : reference + 2].tolist()
    seen: set[tuple[int, int, frozenset[str]]] = set()
    repeated = set()
    for k, edit in enumerate(range(first, last)):
        start, end = int(table.start[edit]), int(table.end[edit])
        key = (start, end, frozenset(table.all_replacements(edit)))
        if start != end and key in seen:
            repeated.add(k)
        seen.add(key)
    return repeated


def _reachable_corrections(
    table: ReferenceTable, stay: Bools
) -> tuple[Sequence[str], NDArray[np.int64]]:
    """Return the corrections, of edits that stay, that outputs can have, with their offsets.

    A correction with irregular spaces matches nothing, so it is left out.
    """
    texts = table.replacements
    many = stay.astype(np.int64)
    # Of what the others hold, a plain space is the only white space, and one at a time.
    odd = (table.replacement_flags & (letters.BEYOND | letters.UNPRINTABLE | letters.DOUBLED)) != 0
    for edit in np.flatnonzero(stay & odd).tolist():
        many[edit] = _has_single_spaces(texts[edit])
    main = many != 0
    others = {
        edit: list(filter(_has_single_spaces, several))
        for edit, several in enumerate(table.alternatives)
        if several and stay[edit]
    }
    if others:
        kept = main.tolist()  # each of them is followed by the alternatives of its edit
        texts = [
            text
            for edit, own in enumerate(texts)
            for text in (*((own,) if kept[edit] else ()), *others.get(edit, ()))
        ]
        many[list(others)] += list(map(len, others.values()))
    elif not main.all():
        texts = list(itertools.compress(texts, main))
    return texts, offsets(many[stay])


def _has_single_spaces(text: str) -> bool:
    """Whether a correction has no white space between its words but single spaces."""
    parts = text.split()
    return len(parts) < 2 or " ".join(parts) == text.strip()


def match_edits(
    corpus: Corpus,
    hypotheses: Hypotheses,
    gold: Gold,
    *,
    max_unchanged: int,
    ignore_case: bool,
    once: bool,
    release: bool = False,
    limit: int = LIMIT,
) -> MatchedEdits:
    """Find the proposed edits against every reference and count the gold ones among them.

    ``release`` finds the edits of m2scorer 3.2.
    """
    if len(hypotheses) != len(corpus):
        raise InputError(
            f"{hypotheses.system} has {len(hypotheses)} sentences, the corpus {len(corpus)}",
            remedy="one line per source sentence",
        )
    source = corpus.source_tokens
    hypothesis = corpus.vocabulary.intern(hypotheses.sentences)
    _check_size(corpus, hypotheses, source, hypothesis, max_unchanged)
    edits, edit_at = maxmatch.propose(
        source.ids,
        source.offsets,
        hypothesis.ids,
        hypothesis.offsets,
        gold.first,
        gold.arrays,
        max_unchanged,
        limit,
    )
    equals: dict[int, list[list[int]]] = {}
    if release:
        equals, edits, edit_at = _match_like_release(
            corpus, hypotheses, gold, max_unchanged, edits, edit_at
        )
    keep = np.ones(len(edits), np.uint8)
    if ignore_case:
        _drop_case_changes(corpus, hypotheses, gold.first, edits, edit_at, keep)
    counts, met = maxmatch.tally(
        edits, edit_at, keep, hypothesis.ids, hypothesis.offsets, gold.first, gold.arrays, once
    )
    for r, several in equals.items():
        counts[r, 0] = _meet_in_order(
            several, edit_at[r], keep, met[slice(*gold.arrays.gold_at[r : r + 2])], once
        )
    return MatchedEdits(hypothesis, edits, edit_at, keep, counts, met)


def proposals(
    hypothesis: Sequence[str], gold: Gold, matched: MatchedEdits, r: int
) -> tuple[dict[int, Edit], list[int]]:
    """What was proposed beside reference r, by number, and which of it each gold edit met (or -1).

    ``hypothesis`` are the words of the output.
    """
    first, last = matched.edit_at[r : r + 2].tolist()
    proposed = {
        e: Edit(start, end, " ".join(hypothesis[left:right]))
        for e, (start, end, left, right) in enumerate(matched.edits[first:last].tolist(), first)
        if matched.keep[e]
    }
    return proposed, matched.met[slice(*gold.arrays.gold_at[r : r + 2])].tolist()


def _match_like_release(
    corpus: Corpus,
    hypotheses: Hypotheses,
    gold: Gold,
    max_unchanged: int,
    edits: NDArray[np.intc],
    edit_at: NDArray[np.int64],
) -> tuple[dict[int, list[list[int]]], NDArray[np.intc], NDArray[np.int64]]:
    """The edits of release 3.2, and for those references where it matters what they equal."""
    rows = [edits[a:b] for a, b in itertools.pairwise(edit_at.tolist())]
    references = gold_references(corpus, gold)
    equals = {}
    for i, (source, output) in enumerate(zip(corpus.sources, hypotheses.sentences, strict=True)):
        before, after = source.split(), output.split()
        if not concerned(before, after):
            continue
        for r in range(gold.first[i], gold.first[i + 1]):
            found = proposed_edits(before, after, references[r][1], max_unchanged)
            if found is not None:
                rows[r] = np.array(
                    [(a, b, left, right) for ((a, left), (b, right)), _ in found], np.intc
                ).reshape(-1, 4)
                equals[r] = [equal for _, equal in found]
    ends = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    return equals, np.concatenate([np.zeros((0, 4), np.intc), *rows]), ends


def _meet_in_order(
    equals: list[list[int]], first: int, keep: NDArray[np.uint8], met: NDArray[np.int64], once: bool
) -> int:
    """Let proposed edits of one reference meet gold edits from left to right, as `tally` does."""
    met[:] = -1
    correct = behind = 0
    for e, equal in enumerate(equals, first):
        hits = [x for x in equal if x >= behind] if keep[e] else []
        for x in hits[:1] if once else hits:
            met[x] = e
            correct += 1
            behind = x + 1
    return correct


def _check_size(
    corpus: Corpus, hypotheses: Hypotheses, source: Tokens, hypothesis: Tokens, max_unchanged: int
) -> None:
    n, m = source.lengths, hypothesis.lengths
    states = np.where(np.minimum(n, m) <= max_unchanged, 1, max_unchanged + 1)
    large = (n + 1) * (m + 1) * (states + 3) > LARGEST
    for i in np.flatnonzero(large | (n + m > LONGEST)).tolist():
        if not np.array_equal(source[i], hypothesis[i]):
            raise InputError(
                f"{hypotheses.system}: the output for {corpus.sources[i][:40]!r}... has {m[i]} "
                f"tokens, the source {n[i]}: too long to compare",
                remedy="give one sentence a line",
            )


def _drop_case_changes(
    corpus: Corpus,
    hypotheses: Hypotheses,
    first: NDArray[np.int64],
    edits: NDArray[np.intc],
    edit_at: NDArray[np.int64],
    keep: NDArray[np.uint8],
) -> None:
    """Drop proposed edits that change only case and spaces."""
    sentence_at = edit_at[first]
    for i in np.flatnonzero(np.diff(sentence_at)):
        source, hypothesis = corpus.sources[i].split(), hypotheses.sentences[i].split()
        for e in range(sentence_at[i], sentence_at[i + 1]):
            start, end, left, right = edits[e]
            old, new = "".join(source[start:end]), "".join(hypothesis[left:right])
            keep[e] = old.lower() != new.lower()


def shrink(edit: Edit, source: Sequence[str]) -> Edit:
    """Take words that stay the same off both ends of an edit.

    >>> shrink(Edit(0, 3, "what you want"), "what we want".split())
    Edit(start=1, end=2, replacement='you', kind='')
    """
    start, end, words = edit.start, edit.end, edit.replacement.split()
    while start < end and words and source[start] == words[0]:
        start, words = start + 1, words[1:]
    while start < end and words and source[end - 1] == words[-1]:
        end, words = end - 1, words[:-1]
    return Edit(start, end, " ".join(words), edit.kind)
