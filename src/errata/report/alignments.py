"""Alignments as rows of text whose columns line up in a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from errata.errors import visible
from errata.metrics.imeasure.three_way import ThreeWay
from errata.report.cells import display_width
from errata.studies.alignments import ChunkedSentence

__all__ = ["GAP", "chunk_text", "lined_up", "three_way_text"]

GAP = "∅"  # where a row has nothing


def lined_up(
    rows: Sequence[tuple[str, Sequence[str]]], *, width: int | None = None, gap: str = "  "
) -> str:
    """Named rows of as many cells, each column as wide as its widest cell.

    Where a line would be longer than ``width``, all rows go on below, after an empty line.

    >>> print(lined_up([("A", ["he", "goes"]), ("long", ["日本", "x"])]))
    A     he    goes
    long  日本  x
    """
    shown = [(visible(name), [visible(cell) for cell in cells]) for name, cells in rows]
    left = max((display_width(name) for name, _ in shown), default=0)
    n = len(shown[0][1]) if shown else 0
    widths = [max(display_width(cells[c]) for _, cells in shown) for c in range(n)]
    blocks: list[list[int]] = [[]]
    used = left
    for c in range(n):
        if width is not None and blocks[-1] and used + len(gap) + widths[c] > width:
            blocks.append([])
            used = left
        blocks[-1].append(c)
        used += len(gap) + widths[c]

    def padded(text: str, size: int) -> str:
        return text + " " * (size - display_width(text))

    return "\n\n".join(
        "\n".join(
            gap.join([padded(name, left), *(padded(cells[c], widths[c]) for c in block)]).rstrip()
            for name, cells in shown
        )
        for block in blocks
    )


def three_way_text(found: ThreeWay, *, number: int, width: int | None = None) -> str:
    """The three rows of I-measure with their positions above and what they count as below."""
    rows: list[tuple[str, list[str]]] = [
        ("", [str(k) for k in range(1, len(found.columns) + 1)]),
        ("source", [GAP if c.source is None else c.source for c in found.columns]),
        ("hypothesis", [GAP if c.hypothesis is None else c.hypothesis for c in found.columns]),
        ("reference", [GAP if c.reference is None else c.reference for c in found.columns]),
        ("", ["" if c.kind == "unchanged" else c.counts_as(found.aspect) for c in found.columns]),
    ]
    title = f"sentence {number}, {found.system}, annotator {found.annotator}: I {found.score:.4f}"
    return f"{visible(title)}\n{lined_up(rows, width=width)}"


def chunk_text(
    found: ChunkedSentence,
    systems: Sequence[str],
    *,
    number: int,
    dummies: bool = False,
    width: int | None = None,
) -> str:
    """Gold chunks as columns: source, gold, what each system wrote and whether it is right.

    Dummies that no system filled are left out, and counted, unless ``dummies``.
    """
    shown = [chunk for chunk in found.chunks if dummies or chunk.touched]
    hidden = len(found.chunks) - len(shown)
    rows: list[tuple[str, list[str]]] = [
        ("", [str(k) for k, chunk in enumerate(found.chunks) if dummies or chunk.touched]),
        ("source", [chunk.source or GAP for chunk in shown]),
        ("gold", [chunk.gold or GAP for chunk in shown]),
    ]
    for s, system in enumerate(systems):
        rows.append((system, [chunk.written[s] or GAP for chunk in shown]))
        rows.append(("", [str(int(chunk.right[s])) for chunk in shown]))
    rows.append(("right", [f"{chunk.solved:g}" for chunk in shown]))
    rows.append(("weight", [f"{chunk.weight:.2f}" for chunk in shown]))
    left_out = f" ({hidden} empty places that nobody filled are not shown)" if hidden else ""
    title = f"sentence {number}, annotator {found.annotator}{left_out}"
    return f"{title}\n{lined_up(rows, width=width)}"
