"""``errata rankers``: list the rankers, or the parameters of one."""

from __future__ import annotations

from errata.cli.listing import listing_command

command = listing_command("ranker", "errata.human:RANKERS", example="bradley_terry")
