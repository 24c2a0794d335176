"""``errata metrics``: the metrics that are known, and the parameters of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from errata.cli.known import known_command

if TYPE_CHECKING:
    from errata.plugins import Registry

__all__ = ["command"]


def _registry() -> Registry[Any]:
    from errata.metrics import METRICS

    return METRICS


command = known_command("metric", _registry, example="gleu")
