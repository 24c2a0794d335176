"""Events: what happened to a campaign, for whoever asks later."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import Connection

from errata.web.schema import events

__all__ = ["record"]


def record(connection: Connection, now: int, actor: str, kind: str, **detail: Any) -> None:
    """Write an event; never with tokens, names or external ids."""
    connection.execute(
        events.insert(),
        {"time": now, "actor": actor, "kind": kind, "detail": json.dumps(detail, sort_keys=True)},
    )
