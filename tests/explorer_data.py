"""The explorer's data out of a page again: what a browser unpacks, unpacked in Python."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from errata.reports.explorer.rows import PackedColumn
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


def uncompressed(text: str) -> bytes:
    return zlib.decompress(base64.b64decode(text))


def unpacked_columns(manifest: Mapping[str, PackedColumn], data: bytes) -> dict[str, NDArray[Any]]:
    found = {}
    for name, column in manifest.items():
        kind = np.dtype(column.type.removesuffix("Array").lower()).newbyteorder("<")
        found[name] = np.frombuffer(data, kind, column.length, column.at)
    return found


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
