"""LanguageTool, a rule-based checker for many languages, asked over HTTP: how many errors?

The server is the user's own (LanguageTool is LGPL and written in Java; nothing of it is bundled).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlencode
from urllib.request import Request

import numpy as np

from errata.errors import InputError
from errata.models.harper import detokenize
from errata.models.memo import Cache, Memo, default_cache, shared
from errata.models.servers import (
    AGAIN,
    Trouble,
    as_signed,
    checked_address,
    exchange,
    on_this_machine,
    opener_for,
)
from errata.numbers import Floats

__all__ = ["NAPOLES", "open_languagetool"]

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
) -> Memo:
    """A LanguageTool server with a cache: ``rows(sentences)[:, 0]`` is the number of matches.

    ``disabled`` are rules that are switched off; ``tokenized`` takes out the blanks that
    tokenisation puts before punctuation. The version that the server reports is part of the
    revision, its address is not.
    """
    address = checked_address(url, "url", "LanguageTool server", start=START, secrets="")
    where = cache or default_cache()

    def make() -> Memo:
        ask = _asker(address, language, disabled)
        software = ask("").get("software")
        known = software if isinstance(software, dict) else {}
        version = as_signed(f"{known.get('version', 'unknown')}-{known.get('buildDate', '')}")
        rules = ",".join(sorted(disabled))
        revision = (
            f"languagetool@{version} language:{language} disabled:{rules} tokenized:{tokenized}"
        )

        def count(sentences: Sequence[str]) -> Floats:
            texts = map(detokenize, sentences) if tokenized else sentences
            found = [[len(ask(text)["matches"])] for text in texts]
            return np.array(found, np.float64)

        return Memo(count, revision, where, columns=1, batch_size=64)

    return shared(("languagetool", address, language, tuple(disabled), tokenized, where), make)


def _asker(address: str, language: str, disabled: Sequence[str]) -> Callable[[str], dict[str, Any]]:
    """What the server says of a text (``POST /v2/check``)."""
    opener = opener_for(on_this_machine(address))
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
                remedy=_remedy(outcome.status),
            )
        try:
            said = json.loads(outcome.data)
        except (ValueError, RecursionError):
            said = None
        if not isinstance(said, dict) or not isinstance(said.get("matches"), list):
            raise InputError(f"what answers at {address} is no LanguageTool server", remedy=START)
        return said

    return ask


def _remedy(status: int) -> str:
    if status < 400:
        return "give its own address: no redirect is followed"
    return AGAIN if status == 429 or status >= 500 else "check url, language and disabled"
