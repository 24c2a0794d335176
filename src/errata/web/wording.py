"""What pages say: a catalogue for each language, of which a campaign may replace any string."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from errata.errors import InputError
from errata.parameters import nearest

__all__ = ["LANGUAGES", "direction_of", "error_in", "preferred", "said_with", "wording"]

LANGUAGES = ("en", "de")
RIGHT_TO_LEFT = {"ar", "fa", "he", "ur", "yi", "ps", "sd", "ug", "dv"}


@cache
def _catalogue(language: str) -> dict[str, str]:
    text = resources.files("errata.web").joinpath("strings", f"{language}.json").read_text("utf-8")
    found: dict[str, str] = json.loads(text)
    return found


def wording(language: str, replaced: Mapping[str, str] | None = None) -> dict[str, str]:
    """All strings in a language (English where there is no catalogue), with what was replaced.

    >>> wording("de")["submit"], wording("en", {"submit": "Done"})["submit"]
    ('Abschicken', 'Done')
    """
    known = _catalogue(language if language in LANGUAGES else "en")
    for key in replaced or {}:
        if key not in known:
            raise InputError(
                f"there is no string {key!r} to replace",
                remedy=f"{nearest(key, known)}docs/collect.md lists them",
            )
    return known | dict(replaced or {})


def said_with(text: str, values: Mapping[str, object]) -> str:
    """A string with its {names} filled in, as pages do it; what is not known stays.

    >>> said_with("{done} of {quota} {x}", {"done": 1, "quota": "{done}"})
    '1 of {done} {x}'
    """
    return re.sub(r"\{(\w+)\}", lambda found: str(values.get(found[1], found[0])), text)


def preferred(accepted: str) -> str:
    """The first language of an Accept-Language header that there is a catalogue for; else English.

    >>> preferred("fr, de-AT;q=0.8, en;q=0.9"), preferred("de"), preferred(";q=x,,")
    ('en', 'de', 'en')
    """
    found: list[tuple[float, str]] = []
    for part in accepted[:200].split(","):
        name, _, weight = part.partition(";q=")
        try:
            found.append((-float(weight or 1), name.strip().lower().split("-")[0]))
        except ValueError:
            continue
    known = [(rank, name) for rank, name in found if rank < 0 and name in LANGUAGES]
    return min(known, key=lambda each: each[0])[1] if known else "en"


def error_in(
    language: str, error: Mapping[str, Any], replaced: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """An error of the API in a language; in English it says what exactly is wrong.

    >>> error_in("de", {"code": "full", "message": "full", "remedy": "", "field": None})["message"]
    'Alle Plätze sind vergeben.'
    """
    known, code = wording(language, replaced), f"error.{error['code']}"
    if language not in LANGUAGES or language == "en" or code not in known:
        return dict(error)
    said = {"message": said_with(known[code], {"field": error["field"] or ""})}
    return {**error, **said, "remedy": known[f"{code}.do"]}


def direction_of(language: str) -> str:
    """Whether a language is written from the left or from the right.

    >>> direction_of("he"), direction_of("en-GB")
    ('rtl', 'ltr')
    """
    return "rtl" if language.split("-")[0].lower() in RIGHT_TO_LEFT else "ltr"
