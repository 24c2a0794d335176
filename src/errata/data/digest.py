"""The digest that identifies data in a signature: SHA-256 over sources and references."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Literal, Self

from errata.data.corpus import Corpus

Covered = Literal["references", "sources"]
_ESCAPES = str.maketrans({"\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r"})


class DataDigest:
    r"""The digest of a corpus that may come in parts, in order.

    Hashed are a first line and, for each sentence, ``S⇥source``, a line for each reference text
    (``R⇥annotator⇥text``) or each edit (``A⇥annotator⇥start⇥end⇥replacement[⇥alternative…]``;
    ``A⇥annotator`` without edits), and an empty line. Texts are taken as they were read, before
    any tokenisation, so the same data have one digest in any container. Kinds, comments and names
    are not hashed. Metrics that need no references take the digest of the ``sources`` alone.

    >>> corpus = Corpus.from_texts(["He go ."], [["He goes ."]])
    >>> corpus_digest(corpus)[:8]
    '59cd76e3'
    """

    def __init__(self, covered: Covered = "references") -> None:
        self._lines = _source_lines if covered == "sources" else _corpus_lines
        self._hash = hashlib.sha256(b"errata data 1\n")

    def add(self, corpus: Corpus) -> Self:
        """Continue with the next part of the corpus."""
        lines = [*self._lines(corpus.raw or corpus), ""]
        self._hash.update("\n".join(lines).encode("utf-8", "surrogatepass"))
        return self

    def hexdigest(self) -> str:
        """Return the digest of the parts so far."""
        return self._hash.hexdigest()


def corpus_digest(corpus: Corpus, covered: Covered = "references") -> str:
    """Return the digest of a whole corpus, which is kept with it."""
    key = ("digest", covered)
    return corpus.derived(key, lambda: DataDigest(covered).add(corpus).hexdigest())


def _source_lines(corpus: Corpus) -> Iterator[str]:
    for source in _escape(corpus.sources):
        yield f"S\t{source}"
        yield ""


def _corpus_lines(corpus: Corpus) -> Iterator[str]:
    table = corpus.edits
    annotators, edits_of = table.annotators.tolist(), table.edit_offsets.tolist()
    starts, ends = table.start.tolist(), table.end.tolist()
    replacements = _escape(table.replacements)
    texts = [None if text is None else _escape([text])[0] for text in table.texts]
    offsets = table.reference_offsets.tolist()
    for i, source in enumerate(_escape(corpus.sources)):
        yield f"S\t{source}"
        for r in range(offsets[i], offsets[i + 1]):
            head, edits = annotators[r], range(edits_of[r], edits_of[r + 1])
            if texts and texts[r] is not None:
                yield f"R\t{head}\t{texts[r]}"
                continue
            if not edits:
                yield f"A\t{head}"
            for e in edits:
                line = f"A\t{head}\t{starts[e]}\t{ends[e]}\t{replacements[e]}"
                others = table.alternatives[e] if table.alternatives else ()
                yield "\t".join((line, *_escape(others))) if others else line
        yield ""


def _escape(texts: Sequence[str]) -> Sequence[str]:
    """Return the texts with backslashes, tabs and line ends written out."""
    together = "".join(texts)
    if not any(character in together for character in "\\\t\n\r"):
        return texts
    return [text.translate(_ESCAPES) for text in texts]
