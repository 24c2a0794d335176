"""LanguageTool, a rule-based checker for many languages, asked over HTTP: how many errors?

The server is the user's own (LanguageTool is LGPL and written in Java; nothing of it is bundled).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode, urlsplit
from urllib.request import Request, urlopen

import numpy as np

from errata.errors import InputError
from errata.models.harper import detokenize
from errata.models.memo import Cache, Memo, default_cache, shared
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
    if urlsplit(url).scheme not in ("http", "https"):
        raise InputError(f"no address of a LanguageTool server: {url!r}", remedy=START)
    where = cache or default_cache()

    def make() -> Memo:
        software = _check(url, "", language, disabled).get("software", {})
        version = f"{software.get('version', 'unknown')}-{software.get('buildDate', '')}"
        rules = ",".join(sorted(disabled))
        revision = (
            f"languagetool@{version} language:{language} disabled:{rules} tokenized:{tokenized}"
        )

        def count(sentences: Sequence[str]) -> Floats:
            texts = map(detokenize, sentences) if tokenized else sentences
            found = [[len(_check(url, text, language, disabled)["matches"])] for text in texts]
            return np.array(found, np.float64)

        return Memo(count, revision, where, columns=1, batch_size=64)

    return shared(("languagetool", url, language, tuple(disabled), tokenized, where), make)


def _check(url: str, text: str, language: str, disabled: Sequence[str]) -> dict[str, Any]:
    """What the server says of a text (``POST /v2/check``)."""
    asked = {"text": text, "language": language}
    if disabled:
        asked["disabledRules"] = ",".join(disabled)
    request = Request(f"{url.rstrip('/')}/v2/check", data=urlencode(asked).encode())
    try:
        with urlopen(request, timeout=SECONDS) as answer:
            said = json.loads(answer.read())
    except HTTPError as error:
        with error:
            why = error.read(200).decode("utf-8", "replace").strip()
        raise InputError(
            f"the LanguageTool server at {url} answers {error.code}: {why or error.reason}",
            remedy="check language and disabled",
        ) from None
    except (URLError, HTTPException, OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        raise InputError(f"no LanguageTool server at {url}: {reason}", remedy=START) from None
    if not isinstance(said, dict) or not isinstance(said.get("matches"), list):
        raise InputError(f"what answers at {url} is no LanguageTool server", remedy=START)
    return said
