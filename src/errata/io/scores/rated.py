"""Ratings by several judges in one table: a row for each of them and each sentence."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from errata.errors import InputError
from errata.io.sheet import SheetRow

__all__ = ["JUDGE", "one_row_a_sentence"]

JUDGE = {"judge", "judgeid", "annotator", "annotatorid", "user", "worker", "workerid", "rater"}


def one_row_a_sentence(
    rows: Sequence[SheetRow],
    judge: int,
    sentence: int,
    number: Callable[[SheetRow, int], float],
    path: str,
) -> tuple[list[SheetRow], tuple[str, ...]]:
    """The rows of one sentence as one, with the mean of its ratings, and a note that says so.

    Every judge weighs the same in a cell; a blank cell is no rating. The column of judges is gone.
    """
    by_sentence: dict[str, dict[str, SheetRow]] = {}
    for row in rows:
        said = by_sentence.setdefault(row.cells[sentence], {})
        if row.cells[judge] in said:
            raise InputError(
                f"{row.cells[judge]} has rated sentence {row.cells[sentence]} before",
                path=path,
                line=row.line,
                remedy="keep one of the two rows",
            )
        said[row.cells[judge]] = row
    judges = {name for said in by_sentence.values() for name in said}
    merged = []
    for said in by_sentence.values():
        first = next(iter(said.values()))
        cells = []
        for column in range(len(first.cells)):
            given = (
                [number(row, column) for row in said.values() if row.cells[column]]
                if (column not in (judge, sentence))
                else []
            )
            cells.append(repr(sum(given) / len(given)) if given else first.cells[column])
        merged.append(SheetRow(first.line, tuple(c for k, c in enumerate(cells) if k != judge)))
    if len(judges) < 2:
        return merged, ()
    return merged, (f"ratings are means over {len(judges)} judges, each weighing the same",)
