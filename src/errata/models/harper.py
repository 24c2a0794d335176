"""Harper, an offline rule-based checker of English, counted: how many errors does it report?"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any

import numpy as np

from errata.errors import InputError, install_extra
from errata.models.language import load_extra, require_modules
from errata.models.memo import Cache, Memo, default_cache, shared
from errata.numbers import Floats

__all__ = ["DIALECTS", "detokenize", "open_harper"]

INSTALL = install_extra("harper")
DIALECTS = ("american", "british", "australian", "canadian", "indian")
# A run of blanks is looked at once, from its first on, and not from each of them.
_BEFORE = re.compile(
    r"(?<!\s)\s++([.,;:!?%)\]}…]+(?!\S)|n't(?!\w)|'(?:s|re|ve|ll|d|m)(?!\w))", re.I
)
_AFTER = re.compile(r"([(\[{])\s+")


def detokenize(sentence: str) -> str:
    """Take out the blanks that tokenisation puts before punctuation and contractions.

    >>> detokenize("They do n't ( often ) care , it 's said .")
    "They don't (often) care, it's said."
    """
    return _AFTER.sub(r"\1", _BEFORE.sub(r"\1", sentence))


@contextmanager
def _quiet_library() -> Iterator[None]:
    """Keep what Harper itself prints (notes of its own on single words) out of our output.

    It writes past Python, into the file that standard output is, where it would spoil JSON.
    """
    try:
        kept = os.dup(1)
    except OSError:  # standard output is closed
        yield
        return
    if sys.stdout is not None:
        sys.stdout.flush()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        yield
    finally:
        os.dup2(kept, 1)
        os.close(nowhere)
        os.close(kept)


def open_harper(
    dialect: str = "american", tokenized: bool = True, cache: Cache | None = None
) -> Memo:
    """Harper with a cache: ``rows(sentences)[:, 0]`` is the number of errors in each.

    ``tokenized`` takes out the blanks before punctuation first: Harper reports them as errors.
    """
    if dialect not in DIALECTS:
        raise InputError(f"dialect={dialect!r} is unknown", remedy=f"use one of {DIALECTS}")
    require_modules(["harper"], "the grammar checker Harper", INSTALL)
    where = cache or default_cache()
    revision = f"harper@{version('harper-py')} dialect:{dialect} tokenized:{tokenized}"

    def make() -> Memo:
        linter: list[Any] = []  # made when first needed: it takes about a second

        def count(sentences: Sequence[str]) -> Floats:
            if not linter:
                harper = load_extra("harper", "the grammar checker Harper", INSTALL)
                linter.append(harper.Linter(harper.Dialect[dialect.upper()]))
            texts = map(detokenize, sentences) if tokenized else sentences
            with _quiet_library():
                found = [[len(linter[0].lint(text, language="plaintext"))] for text in texts]
            return np.array(found, np.float64)

        return Memo(count, revision, where, columns=1, batch_size=256)

    return shared(("harper", dialect, tokenized, where), make)
