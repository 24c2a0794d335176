"""``errata rankers``: the rankers that are known, and the parameters of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from errata.cli.known import known_command

if TYPE_CHECKING:
    from errata.plugins import Registry

__all__ = ["command"]


def _registry() -> Registry[Any]:
    from errata.human import RANKERS

    return RANKERS


command = known_command("ranker", _registry, example="bradley_terry")
