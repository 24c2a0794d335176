"""``errata metrics``: list the metrics, or the parameters of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from errata.cli.listing import listing_command

if TYPE_CHECKING:
    from errata.core.registry import Registry


def _registry() -> Registry[Any]:
    from errata.metrics import METRICS

    return METRICS


command = listing_command("metric", _registry, example="gleu")
