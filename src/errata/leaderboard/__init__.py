"""A leaderboard as a folder of pages, and as a bundle for Codabench."""

from __future__ import annotations

from errata.leaderboard.codabench import codabench_bundle
from errata.leaderboard.website import board_pages

__all__ = ["board_pages", "codabench_bundle"]
