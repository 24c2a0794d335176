"""The languages of a campaign: which there are, which a judge chose, and the texts in each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, select, update

from errata.collect.answers import AnswerError
from errata.web.database import Database
from errata.web.events import record
from errata.web.schema import campaigns, judges

__all__ = ["all_consents", "choose_language", "languages_of", "text_in"]


def languages_of(connection: Connection) -> list[str]:
    """The languages that judges may choose, the campaign's own first."""
    found: list[str] = json.loads(connection.execute(select(campaigns.c.languages)).scalar_one())
    return found


def choose_language(database: Database, judge: int, language: Any, *, now: int) -> None:
    """Show a judge the pages in another language from now on."""
    with database.writing() as connection:
        known = languages_of(connection)
        if language not in known:
            raise AnswerError("there is no such language", "language", f"send {', '.join(known)}")
        connection.execute(update(judges).where(judges.c.id == judge).values(language=language))
        record(connection, now, "judge", "language", judge=judge, language=language)


def text_in(texts: Mapping[str, Any], name: str, language: str) -> str:
    """A text of a campaign in a language, or in the campaign's own where there is none in it.

    >>> text_in({"consent": "Yes?", "translations": {"de": {"consent": "Ja?"}}}, "consent", "de")
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
        for text in (texts.get("consent", ""), *(others[k].get("consent", "") for k in others))
        if text
    )
