"""References from edits, Treebank tokens.

What the official converter (``m2_to_ixml.py``) and candidate generator (``candgen.py``) make of
gold edits. Only an edit's first correction counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from errata.data import Reference

# ---- Penn Treebank tokenisation of corrections, as the official I-measure converter applies it.
# It reads bytes: typographic quotation marks and dashes are parts of words there.

PIECE = re.compile(
    r"""(?P<open>(?:(?<=[\s(\[{<`])(?:"|'')|(?<!.)"))   # a quotation mark that opens
      | (?P<close>"|'')                               # ... or closes
      | (?P<alone>``|\.{2,}|--|[][(){}<>;@#$%&?!*`])
      | (?P<stop>[,:](?!\d))                          # but 1,000 and 10:30 are words
      | (?P<word>(?:(?!''|--|\.\.)[^\s][^\s"\]\[(){}<>;@#$%&?!*`,:.'-]*
                    (?:[,:](?=\d))?)+?
           (?=$|\s|["\]\[(){}<>;@#$%&?!*`]|''|--|\.\.|[,:](?!\d)))""",
    re.VERBOSE | re.DOTALL | re.ASCII,
)
CLITIC = re.compile(r"(.*[^'])('[sSmMdD]?|'ll|'LL|'re|'RE|'ve|'VE|n't|N'T)", re.DOTALL)
QUOTED = re.compile(r"'(?!(?:re|ve|ll|m|t|s|d|n)\b)(?=\w)", re.IGNORECASE | re.ASCII)
COMPOUND = {
    "cannot": 3,
    "d'ye": 1,
    "gimme": 3,
    "gonna": 3,
    "gotta": 3,
    "lemme": 3,
    "more'n": 4,
    "wanna": 3,
    "'tis": 2,
    "'twas": 2,
}


def _split_word(word: str) -> Iterator[str]:
    """Split one word without punctuation at its apostrophes."""
    if QUOTED.match(word) and word.lower() not in COMPOUND:
        yield "'"
        word = word[1:]
    if word.lower() in COMPOUND:
        at = COMPOUND[word.lower()]
        yield from (word[:at], word[at:])
        return
    clitic = CLITIC.fullmatch(word)
    if clitic is None:
        yield word
        return
    yield from _split_word(clitic[1])
    yield clitic[2]


@lru_cache(maxsize=1 << 16)
def treebank_tokens(text: str) -> tuple[str, ...]:
    """The tokens of a correction.

    >>> treebank_tokens("known,the")
    ('known', ',', 'the')
    >>> treebank_tokens("It wasn't the doctor's.")
    ('It', 'was', "n't", 'the', 'doctor', "'s", '.')
    """
    tokens: list[str] = []
    body = text.rstrip()
    end = re.search(r"(?<!\.)\.([\])}>\"' ]*)$", body)
    tail = ""
    if end is not None and end.start() > 0:
        body, tail = body[: end.start()], end[1]
    for piece in PIECE.finditer(body):
        if piece.lastgroup == "word":
            tokens += _split_word(piece[0])
        else:
            tokens.append({"open": "``", "close": "''"}.get(piece.lastgroup or "", piece[0]))
    if end is not None and end.start() > 0:
        tokens += (".", *re.findall(r"''|.", tail.replace('"', "''").replace(" ", "")))
    return tuple(tokens)


Words = tuple[str, ...]


class Change(NamedTuple):
    """An edit whose correction is tokenised."""

    start: int
    end: int
    words: Words


class Cluster(NamedTuple):
    """Edits of all annotators that overlap: one alternative per annotator that has any.

    ``optional`` says that leaving the source unchanged is right too, because some annotator who
    looked at the sentence left it.
    """

    alternatives: tuple[tuple[Change, ...], ...]
    optional: bool


def changes_of(source: Words, reference: Reference, tokenise: str) -> list[Change]:
    """Return the edits of a reference; the edits of a plain text come from an alignment."""
    if reference.edits is None:
        from errata.edits.aligner import aligned_edits

        assert reference.text is not None
        edits = aligned_edits(source, reference.text.split())
        return [Change(e.start, e.end, tuple(e.replacement.split())) for e in edits]
    cut = treebank_tokens if tokenise == "official" else lambda text: tuple(text.split())
    return [Change(e.start, e.end, cut(e.replacement)) for e in reference.edits]


def joined_changes(changes: Iterable[Change]) -> tuple[Change, ...]:
    """Corrections of one span, one after the other in their order, as one change."""
    spans: dict[tuple[int, int], Words] = {}
    for change in changes:
        span = change.start, change.end
        spans[span] = spans.get(span, ()) + change.words
    return tuple(Change(start, end, words) for (start, end), words in spans.items())


def splice(source: Words, changes: Iterable[Change]) -> Words:
    """Carry out changes as the official program does, from the last to the first.

    A change that would leave no token is not made. Overlapping changes act on whatever stands at
    their offsets after the changes to their right.

    >>> splice(("a", "b", "c"), [Change(0, 1, ("x", "y")), Change(2, 3, ())])
    ('x', 'y', 'b')
    """
    words = list(source)
    for start, end, new in sorted(changes, key=lambda c: c[:2], reverse=True):
        if new or len(words) > len(words[start:end]):
            words[start:end] = new
    return tuple(words) or source


def nomix_references(source: Words, references: Sequence[Reference], tokenise: str) -> list[Words]:
    """The corrected sentence of each annotator: the source where nothing is to be changed."""
    return [
        splice(source, joined_changes(changes_of(source, reference, tokenise)))
        if reference.text is None or reference.edits is not None
        else tuple(reference.text.split())
        for reference in references
    ]


def overlap(new: Change, old: Change) -> bool:
    """Whether two edits belong together, by the converter's rule."""
    if (new.start, new.end) == (old.start, old.end):
        return True
    if new.start == new.end or old.start == old.end:
        return (old.start < new.start and new.end < old.end) or (
            new.start < old.start and old.end < new.end
        )
    return old.start < new.end <= old.end or old.start <= new.start < old.end


def clusters_of(source: Words, references: Sequence[Reference], tokenise: str) -> list[Cluster]:
    """Sort the edits of all annotators into clusters, left to right, by the converter's rule.

    Longest edits first, each joins the first cluster in which it overlaps an edit.
    """
    edits = [
        (annotator, change)
        for annotator, reference in enumerate(references)
        for change in changes_of(source, reference, tokenise)
    ]
    ordered = sorted(edits, key=lambda e: e[1].start - e[1].end)
    clusters: list[list[tuple[int, Change]]] = []
    for annotator, change in ordered:
        for cluster in clusters:
            if any(overlap(change, old) for _, old in cluster):
                cluster.append((annotator, change))
                break
        else:
            clusters.append([(annotator, change)])
    clusters.sort(key=lambda cluster: cluster[0][1][:2])
    order = {id(change): i for i, (_, change) in enumerate(edits)}
    result = []
    for cluster in clusters:
        by_annotator: dict[int, list[Change]] = {}
        for annotator, change in sorted(cluster, key=lambda e: order[id(e[1])]):
            by_annotator.setdefault(annotator, []).append(change)
        result.append(
            Cluster(
                tuple(joined_changes(changes) for changes in by_annotator.values()),
                len(by_annotator) < len(references),
            )
        )
    return result
