"""A worked example of a leaderboard: the systems of the sample, each with a card."""

import shutil
from pathlib import Path

from errata.datasets.load import SAMPLE_SYSTEMS, sample_file

BOARD = """\
title = "The sample's leaderboard"
about = "Made-up systems on made-up sentences."
metrics = ["m2", "gleu"]
groups = ["restricted", "open"]
resamples = 100

[sets.sample]
gold = "gold.m2"
"""


def sample_board(folder: Path, *, text: str = BOARD) -> Path:
    """Write the board and a submission of every system."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "board.toml").write_text(text, encoding="utf-8")
    with sample_file("gold.m2") as gold:
        shutil.copy(gold, folder / "gold.m2")
    for nth, system in enumerate(SAMPLE_SYSTEMS):
        with sample_file(f"{system}.txt") as output:
            submit(folder, system, output.read_text("utf-8"), day=10 + nth)
    return folder


def submit(board: Path, system: str, output: str, *, day: int = 10, more: str = "") -> Path:
    """Write a submission: a folder with its card and its output."""
    folder = board / "submissions" / system
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "output.txt").write_text(output, encoding="utf-8")
    card = f'system = "{system}"\nauthors = ["A. Author", "B. Author"]\ndate = 2026-11-{day}\n'
    card += f'group = "open"\nlink = "https://example.org/{system}"\n{more}'
    (folder / "card.toml").write_text(card, encoding="utf-8")
    return folder
