"""Languages, texts, Markdown."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from sqlalchemy import Connection, select, update

from errata.collect.answers import AnswerError
from errata.collect.web.database import Database, record
from errata.collect.web.schema import campaigns, judges
from errata.core.errors import InputError
from errata.core.parameters import suggest_name

# ---- The languages of a campaign: which there are, which a judge chose, and the texts in each.


def languages_of(connection: Connection) -> list[str]:
    """The languages that judges may choose, the campaign's own first."""
    found: list[str] = connection.execute(select(campaigns.c.languages)).scalar_one()
    return found


def choose_language(database: Database, judge: int, language: Any) -> None:
    """Show a judge the pages in another language from now on."""
    with database.writing() as connection:
        known = languages_of(connection)
        if language not in known:
            raise AnswerError("there is no such language", "language", f"send {', '.join(known)}")
        connection.execute(update(judges).where(judges.c.id == judge).values(language=language))
        record(connection, "judge", "language", judge=judge, language=language)


def localised_text(texts: Mapping[str, Any], name: str, language: str) -> str:
    """A text of a campaign in a language, or in the campaign's own where there is none in it.

    >>> texts = {"consent": "Yes?", "translations": {"de": {"consent": "Ja?"}}}
    >>> localised_text(texts, "consent", "de")
    'Ja?'
    """
    own = texts.get("translations", {}).get(language, {})
    return str(own.get(name, texts.get(name, "")))


def all_consents(texts: Mapping[str, Any]) -> str:
    """The texts of consent in all languages, whose digest is the version: if one changes, all do.

    >>> all_consents({"consent": "Yes?"})
    'Yes?'
    """
    others = texts.get("translations", {})
    return "\n".join(
        text
        for text in (
            texts.get("consent", ""),
            *(others[k].get("consent", "") for k in sorted(others)),
        )
        if text
    )


# ---- Instructions and consent in Markdown, read into blocks that a page builds from text nodes.

Block = dict[str, Any]  # kind, and inline parts or items
ProsePart = list[str]  # [kind, text], and for a link the address

_HEADING = re.compile(r"(#{1,3})\s+(.*?)\s*#*")
_ITEM = re.compile(r"(?:([-*+])|(\d{1,4})[.)])\s+(.*)")
_QUOTE = re.compile(r">\s?(.*)")
_INLINE = re.compile(
    r"`(?P<code>[^`]+)`"
    r"|\*\*(?P<strong>[^*]+)\*\*"
    r"|\*(?P<em>[^*\s](?:[^*]*[^*\s])?)\*"
    r"|\[(?P<text>[^\]]+)\]\((?P<link>(?:https?://|mailto:)[^\s()]+)\)"
)


def parse_markdown(markdown: str) -> list[Block]:
    """The blocks of a text.

    >>> parse_markdown("# Hello\\n\\nRank *all*.")
    [{'kind': 'h1', 'inline': [['text', 'Hello']]}, \
{'kind': 'p', 'inline': [['text', 'Rank '], ['em', 'all'], ['text', '.']]}]
    >>> parse_markdown("<b>no</b>")
    [{'kind': 'p', 'inline': [['text', '<b>no</b>']]}]
    """
    blocks: list[Block] = []
    for lines in _paragraphs(markdown):
        blocks += _block(lines)
    return blocks


def _paragraphs(markdown: str) -> list[list[str]]:
    """Lines that stand together; a heading stands alone."""
    groups: list[list[str]] = [[]]
    for line in markdown.splitlines():
        if not line.strip():
            groups.append([])
        elif _HEADING.fullmatch(line.strip()):
            groups += [[line.strip()], []]
        else:
            groups[-1].append(line.strip())
    return [group for group in groups if group]


def _block(lines: list[str]) -> list[Block]:
    heading = _HEADING.fullmatch(lines[0])
    if heading:
        return [{"kind": f"h{len(heading[1])}", "inline": _inline(heading[2])}]
    if all(_QUOTE.fullmatch(line) for line in lines):
        return [{"kind": "quote", "inline": _inline(" ".join(line[1:].strip() for line in lines))}]
    first = _ITEM.fullmatch(lines[0])
    if first:
        items: list[str] = []
        for line in lines:
            item = _ITEM.fullmatch(line)
            if item:
                items.append(item[3])
            else:
                items[-1] += " " + line
        kind = "ol" if first[2] else "ul"
        return [{"kind": kind, "items": [_inline(item) for item in items]}]
    at = next((k for k, line in enumerate(lines) if _ITEM.fullmatch(line)), None)
    if at is not None and _ITEM.fullmatch(lines[at])[1]:  # type: ignore[index]
        return _block(lines[:at]) + _block(lines[at:])
    return [{"kind": "p", "inline": _inline(" ".join(lines))}]


def _inline(text: str) -> list[ProsePart]:
    parts: list[ProsePart] = []
    position = 0
    for found in _INLINE.finditer(text):
        if found.start() > position:
            parts.append(["text", text[position : found.start()]])
        if found["link"]:
            parts.append(["link", found["text"], found["link"]])
        else:
            kind = str(found.lastgroup)
            parts.append([kind, found[kind]])
        position = found.end()
    if position < len(text):
        parts.append(["text", text[position:]])
    return parts


LANGUAGES = ("en", "de")
RIGHT_TO_LEFT = {"ar", "fa", "he", "ur", "yi", "ps", "sd", "ug", "dv"}


@cache
def _catalogue(language: str) -> dict[str, str]:
    text = (
        resources.files("errata.collect.web")
        .joinpath("strings", f"{language}.json")
        .read_text("utf-8")
    )
    found: dict[str, str] = json.loads(text)
    return found


def load_texts(language: str, replaced: Mapping[str, str] | None = None) -> dict[str, str]:
    """All strings in a language (English where there is no catalogue), with what was replaced.

    >>> load_texts("de")["submit"], load_texts("en", {"submit": "Done"})["submit"]
    ('Abschicken', 'Done')
    """
    known = _catalogue(language if language in LANGUAGES else "en")
    for key in replaced or {}:
        if key not in known:
            raise InputError(
                f"there is no string {key!r} to replace",
                remedy=f"{suggest_name(key, known)}docs/collect.md lists them",
            )
    return known | dict(replaced or {})


def format_text(text: str, values: Mapping[str, object]) -> str:
    """A string with its {names} filled in, as pages do it; what is not known stays.

    >>> format_text("{done} of {quota} {x}", {"done": 1, "quota": "{done}"})
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
    known, code = load_texts(language, replaced), f"error.{error['code']}"
    if language not in LANGUAGES or language == "en" or code not in known:
        return dict(error)
    said = {"message": format_text(known[code], {"field": error["field"] or ""})}
    return {**error, **said, "remedy": known[f"{code}.do"]}


def direction_of(language: str) -> str:
    """Whether a language is written from the left or from the right.

    >>> direction_of("he"), direction_of("en-GB")
    ('rtl', 'ltr')
    """
    return "rtl" if language.split("-")[0].lower() in RIGHT_TO_LEFT else "ltr"
