"""Harper and LanguageTool error counts.

The server is the user's own (LanguageTool is LGPL and written in Java; nothing of it is bundled).
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any
from urllib.parse import urlencode
from urllib.request import Request

import numpy as np

from errata.core.errors import InputError, install_extra
from errata.core.stats import Floats
from errata.models.language import (
    Cache,
    CachedModel,
    default_cache,
    load_extra,
    require_modules,
    shared_model,
)
from errata.models.servers import (
    AGAIN,
    Trouble,
    address_for_signature,
    checked_address,
    exchange,
    is_local,
    opener_for,
)

# ---- Harper, an offline rule-based checker of English, counted: how many errors does it report?

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
def _silence_harper() -> Iterator[None]:
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
) -> CachedModel:
    """Harper with a cache: ``rows(sentences)[:, 0]`` is the number of errors in each.

    ``tokenized`` takes out the blanks before punctuation first: Harper reports them as errors.
    """
    if dialect not in DIALECTS:
        raise InputError(f"dialect={dialect!r} is unknown", remedy=f"use one of {DIALECTS}")
    require_modules(["harper"], "the grammar checker Harper", INSTALL)
    where = cache or default_cache()
    revision = f"harper@{version('harper-py')} dialect:{dialect} tokenized:{tokenized}"

    def make() -> CachedModel:
        linter: list[Any] = []  # made when first needed: it takes about a second

        def count(sentences: Sequence[str]) -> Floats:
            if not linter:
                harper = load_extra("harper", "the grammar checker Harper", INSTALL)
                linter.append(harper.Linter(harper.Dialect[dialect.upper()]))
            texts = map(detokenize, sentences) if tokenized else sentences
            with _silence_harper():
                found = [[len(linter[0].lint(text, language="plaintext"))] for text in texts]
            return np.array(found, np.float64)

        return CachedModel(count, revision, where, columns=1, batch_size=256)

    return shared_model(("harper", dialect, tokenized, where), make)


# Rules that Napoles et al. (2016b) switch off: they fire on tokenised text, or on brackets alone.
NAPOLES = ("COMMA_PARENTHESIS_WHITESPACE", "EN_QUOTES", "EN_UNPAIRED_BRACKETS", "WHITESPACE_RULE")
START = "start one, and name it: url='http://localhost:8081'"
SECONDS = 60.0


def open_languagetool(
    url: str,
    language: str = "en-US",
    disabled: Sequence[str] = NAPOLES,
    tokenized: bool = True,
    cache: Cache | None = None,
) -> CachedModel:
    """A LanguageTool server with a cache: ``rows(sentences)[:, 0]`` is the number of matches.

    ``disabled`` are rules that are switched off; ``tokenized`` takes out the blanks that
    tokenisation puts before punctuation. The version that the server reports is part of the
    revision, its address is not.
    """
    address = checked_address(url, "url", "LanguageTool server", start=START, secrets="")
    where = cache or default_cache()

    def make() -> CachedModel:
        ask = _languagetool_client(address, language, disabled)
        software = ask("").get("software")
        known = software if isinstance(software, dict) else {}
        version = address_for_signature(
            f"{known.get('version', 'unknown')}-{known.get('buildDate', '')}"
        )
        rules = ",".join(sorted(disabled))
        revision = (
            f"languagetool@{version} language:{language} disabled:{rules} tokenized:{tokenized}"
        )

        def count(sentences: Sequence[str]) -> Floats:
            texts = map(detokenize, sentences) if tokenized else sentences
            found = [[len(ask(text)["matches"])] for text in texts]
            return np.array(found, np.float64)

        return CachedModel(count, revision, where, columns=1, batch_size=64)

    return shared_model(
        ("languagetool", address, language, tuple(disabled), tokenized, where), make
    )


def _languagetool_client(
    address: str, language: str, disabled: Sequence[str]
) -> Callable[[str], dict[str, Any]]:
    """What the server says of a text (``POST /v2/check``)."""
    opener = opener_for(is_local(address))
    asked = {"language": language}
    if disabled:
        asked["disabledRules"] = ",".join(disabled)

    def ask(text: str) -> dict[str, Any]:
        request = Request(f"{address}/v2/check", data=urlencode({"text": text, **asked}).encode())
        outcome = exchange(opener, request, SECONDS)
        if isinstance(outcome, Trouble):
            problem = "no LanguageTool server at" if outcome.absent else "no answer from"
            raise InputError(
                f"{problem} {address}: {outcome.problem}", remedy=START if outcome.absent else AGAIN
            )
        if not 200 <= outcome.status < 300:
            why = " ".join(outcome.data[:200].decode("utf-8", "replace").split())
            raise InputError(
                f"the LanguageTool server at {address} answers {outcome.status}"
                + (f": {why}" if why else ""),
                remedy=_remedy_for_status(outcome.status),
            )
        try:
            said = json.loads(outcome.data)
        except (ValueError, RecursionError):
            said = None
        if not isinstance(said, dict) or not isinstance(said.get("matches"), list):
            raise InputError(f"what answers at {address} is no LanguageTool server", remedy=START)
        return said

    return ask


def _remedy_for_status(status: int) -> str:
    if status < 400:
        return "give its own address: no redirect is followed"
    return AGAIN if status == 429 or status >= 500 else "check url, language and disabled"
