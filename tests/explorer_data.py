"""The explorer's data out of a page again: what a browser unpacks, unpacked in Python."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from errata.reports.explorer.rows import PackedColumn, uncompressed, unpacked_columns
from errata.reports.page import Section

BLOCK = re.compile(
    r'<script type="application/(?:json|octet-stream)" id="explorer-([\w-]+)">([^<]*)</script>'
)


@dataclass
class Unpacked:
    """Settings, columns, and every sentence: number, source, references, outputs."""

    settings: dict[str, Any]
    columns: dict[str, Any]
    sentences: list[list[Any]]

    def score(self, metric: int, system: int, sentence: int) -> float:
        code = int(self.columns[f"codes{metric}"][system * len(self.sentences) + sentence])
        return float(self.columns[f"values{metric}"][code - 1]) if code else float("nan")

    def text(self, source: str, row: list[Any]) -> str:
        """A text as it reads, from its edits."""
        _, edits, _, text = row
        if text is not None:
            return str(text)
        tokens, done, at = source.split(), [], 0
        for start, end, replacement, _, state, *_ in edits:
            if self.settings["states"][state] != "missed":
                done += [*tokens[at:start], *replacement.split()]
                at = end
        return " ".join([*done, *tokens[at:]])


def unpack(section: Section) -> Unpacked:
    parts = dict(BLOCK.findall(section.body))
    settings = json.loads(parts["settings"])
    manifest = {name: PackedColumn(**column) for name, column in settings["columns"].items()}
    columns = unpacked_columns(manifest, uncompressed(parts["index"]))
    sentences = [
        sentence
        for block in range(settings["blocks"])
        for sentence in json.loads(uncompressed(parts[f"block-{block}"]))
    ]
    return Unpacked(settings, dict(columns), sentences)
