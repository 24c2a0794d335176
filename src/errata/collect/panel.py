"""Panels: who sends participants, how many places there are, and what whoever finished gets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any
from urllib.parse import quote, urlsplit

from errata.errors import InputError
from errata.parameters import unknown_key

__all__ = ["PROVIDERS", "Panel", "panel_of"]

# The parameters of a provider's links that hold participant and session.
PROVIDERS = {
    "prolific": ("PROLIFIC_PID", "SESSION_ID"),
    "sona": ("survey_code", ""),
    "cloudresearch": ("participantId", "assignmentId"),
}
LONGEST_PARAMETER = 200  # characters of an id that a panel sends
_NAME = re.compile(r"\w[\w.-]{0,63}", re.ASCII)
_ORIGIN = re.compile(r"https?://[\w.-]+(:\d{1,5})?", re.ASCII)


@dataclass(frozen=True)
class Panel:
    """The ``[panel]`` of a campaign file.

    ``participant`` and ``session`` are names of parameters; those of known providers need not be
    said. ``back`` is the return link (``return`` in the file) in which ``{code}`` and
    ``{participant}`` are filled in. A place without a sign of life for ``idle`` minutes is free
    again unless its holder has finished. ``frame`` is the one page that may frame ours.

    >>> Panel("prolific", 20).participant, Panel("sona", 20).session
    ('PROLIFIC_PID', '')
    """

    provider: str
    places: int
    participant: str = ""
    session: str = ""
    code: str = ""
    back: str = ""
    idle: int = 60
    frame: str = ""

    def __post_init__(self) -> None:
        if self.provider in PROVIDERS:
            usual = PROVIDERS[self.provider]
            object.__setattr__(self, "participant", self.participant or usual[0])
            object.__setattr__(self, "session", self.session or usual[1])
        if not _NAME.fullmatch(self.provider) or not self.participant:
            raise InputError(
                f"nothing is known of the panel {self.provider[:40]!r}",
                remedy=f"use {', '.join(PROVIDERS)}, or say participant = 'PARAMETER' too",
            )
        for name in ("participant", "session"):
            value = getattr(self, name)
            if value and not _NAME.fullmatch(value):
                raise InputError(f"{name}={value[:40]!r} is no name of a parameter")
        for name in ("places", "idle"):
            value = getattr(self, name)
            if type(value) is not int or value < 1:
                raise InputError(f"{name}={value!r} should be a whole number from 1")
        if self.back and urlsplit(self.back).scheme not in ("http", "https"):
            raise InputError(
                f"return={self.back[:60]!r} is no address", remedy="write it as https://…"
            )
        if self.frame and not _ORIGIN.fullmatch(self.frame):
            raise InputError(
                f"frame={self.frame[:60]!r} is no origin", remedy="write it as https://example.org"
            )

    def to_json(self) -> dict[str, Any]:
        """The settings as JSON holds them."""
        return asdict(self)

    def return_link(self, participant: str) -> str:
        """Where a participant who has finished goes back to; empty if nowhere.

        >>> Panel("sona", 9, back="https://x.org/?id={participant}").return_link("a&b")
        'https://x.org/?id=a%26b'
        """
        values = {"{code}": quote(self.code, safe=""), "{participant}": quote(participant, safe="")}
        return re.sub(r"\{\w+\}", lambda found: values.get(found[0], found[0]), self.back)


def panel_of(settings: Mapping[str, Any]) -> Panel:
    """A panel from what a campaign file or a database holds; what is unknown is refused.

    >>> panel_of({"provider": "prolific", "places": 20, "return": "https://x.org/"}).back
    'https://x.org/'
    """
    known = {f.name: int if f.name in ("places", "idle") else str for f in fields(Panel)}
    given = {"back" if name == "return" else name: value for name, value in settings.items()}
    shown = ["return" if name == "back" else name for name in known]
    for name, value in given.items():
        if name not in known:
            raise unknown_key("a panel", name, shown)
        if type(value) is not known[name]:
            said = "return" if name == "back" else name
            raise InputError(f"{said}={value!r} should be {known[name].__name__}")
    if not given.get("provider") or "places" not in given:
        raise InputError(
            "a panel without provider and places", remedy="provider = 'prolific', places = 20"
        )
    return Panel(**given)
