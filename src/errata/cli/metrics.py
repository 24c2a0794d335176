"""``errata metrics``: list the metrics, or the parameters of one."""

from __future__ import annotations

from errata.cli.listing import listing_command

command = listing_command("metric", "errata.metrics:METRICS", example="gleu")
