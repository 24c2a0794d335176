"""``errata rankers``: list the rankers, or the parameters of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from errata.cli.listing import listing_command

if TYPE_CHECKING:
    from errata.core.registry import Registry


def _registry() -> Registry[Any]:
    from errata.human import RANKERS

    return RANKERS


command = listing_command("ranker", _registry, example="bradley_terry")
