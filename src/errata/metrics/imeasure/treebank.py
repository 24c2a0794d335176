"""Penn Treebank tokenisation of corrections, as the official I-measure converter applies it.

The converter passes every correction through NLTK's ``word_tokenize``, which follows the
conventions of the Penn Treebank: punctuation stands alone, the period only at the end of the
sentence, quotation marks become `` and '', contractions are taken apart. This is a scanner of
our own for the same conventions; tests compare it with NLTK on every CoNLL-2014 correction and
on made-up English. NLTK also divides the text into sentences with a trained model, which we do
not: a period in the middle of a correction that touches the word before it stays there. None of
the CoNLL-2014 corrections has one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

__all__ = ["treebank_tokens"]

PIECE = re.compile(
    r"""(?P<open>(?:(?<=[\s(\[{<`])(?:"|'')|(?<!.)"))   # a quotation mark that opens
      | (?P<close>"|'')                               # ... or closes
      | (?P<alone>``|\.{2,}|--|[][(){}<>;@#$%&?!*`«»“”‘’„‒-―])
      | (?P<stop>[,:](?!\d))                          # but 1,000 and 10:30 are words
      | (?P<word>(?:(?!''|--|\.\.)[^\s][^\s"\]\[(){}<>;@#$%&?!*`«»“”‘’„‒-―,:.'-]*
                    (?:[,:](?=\d))?)+?
           (?=$|\s|["\]\[(){}<>;@#$%&?!*`«»“”‘’„‒-―]|''|--|\.\.|[,:](?!\d)))""",
    re.VERBOSE | re.DOTALL,
)
CLITIC = re.compile(r"(.*[^'])('[sSmMdD]?|'ll|'LL|'re|'RE|'ve|'VE|n't|N'T)", re.DOTALL)
QUOTED = re.compile(r"'(?!(?:re|ve|ll|m|t|s|d|n)\b)(?=\w)", re.IGNORECASE)
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


def _words(word: str) -> Iterator[str]:
    """One word without punctuation, taken apart at its apostrophes."""
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
    yield from _words(clitic[1])
    yield clitic[2]


def _scan(text: str) -> Iterator[str]:
    body = text.rstrip()
    end = re.search(r"(?<!\.)\.([\])}>\"'»”’ ]*)$", body)
    tail = ""
    if end is not None and end.start() > 0:
        body, tail = body[: end.start()], end[1]
    for piece in PIECE.finditer(body):
        if piece.lastgroup == "word":
            yield from _words(piece[0])
        else:
            yield {"open": "``", "close": "''"}.get(piece.lastgroup or "", piece[0])
    if end is not None and end.start() > 0:
        yield "."
        yield from re.findall(r"''|.", tail.replace('"', "''").replace(" ", ""))


@lru_cache(maxsize=1 << 16)
def treebank_tokens(text: str) -> tuple[str, ...]:
    """The tokens of a correction.

    >>> treebank_tokens("known,the")
    ('known', ',', 'the')
    >>> treebank_tokens("It wasn't the doctor's.")
    ('It', 'was', "n't", 'the', 'doctor', "'s", '.')
    """
    return tuple(_scan(text))
