"""Results as data frames and in notebooks: the report's own table of each, for programs.

The nouns know nothing of tables: they ask the package (`errata.shown`), which asks here, so that
nothing is loaded before a frame or a table is asked for. A frame holds what TSV does, with the
signature as its last column: no number without what made it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import TYPE_CHECKING, Any

from errata.data import Scores
from errata.errors import InputError, MissingExtraError, install_extra
from errata.human.clusters import Ranking
from errata.report.table import Cell, Table, render, told_apart_names
from errata.report.tables.comparison import comparison_tables
from errata.report.tables.rankings import ranking_table
from errata.report.tables.scores import score_table, sentence_score_table
from errata.studies.comparison import Comparison

if TYPE_CHECKING:
    import pandas
    import polars

__all__ = ["html_of", "pandas_frame", "polars_frame", "table_of"]


@singledispatch
def table_of(result: Any, *, by_sentence: bool = False) -> Table:
    """The table that a result is shown as; of scores also ``by_sentence``."""
    raise TypeError(f"there is no table of a {type(result).__name__}")


@table_of.register
def _(result: Scores, *, by_sentence: bool = False) -> Table:
    return sentence_score_table(result) if by_sentence else score_table(result)


@table_of.register
def _(result: Ranking, *, by_sentence: bool = False) -> Table:
    return ranking_table(result)


@table_of.register
def _of_comparison(result: Comparison, *, table: str | None = None) -> Table:
    everything = comparison_tables(result, largest=len(result.sentences), every_figure=True)
    known = {each.name.removeprefix(f"{result.system}_"): each for each in everything}
    if table is not None and table not in known:
        raise InputError(
            f"a comparison has no table {table!r}", remedy=f"it has: {', '.join(known)}"
        )
    return everything[0] if table is None else known[table]


def pandas_frame(table: Table) -> pandas.DataFrame:
    """A table as pandas has it: what ``pandas.read_csv`` makes of the TSV."""
    try:
        import pandas
    except ModuleNotFoundError:
        raise MissingExtraError("pandas", install_extra("pandas")) from None
    return pandas.DataFrame(_columns(table))


def polars_frame(table: Table) -> polars.DataFrame:
    """A table as polars has it; no value is null."""
    try:
        import polars
    except ModuleNotFoundError:
        raise MissingExtraError("polars", install_extra("polars")) from None
    return polars.DataFrame(_columns(table), strict=False)


def html_of(result: Any) -> str:
    """A result as a notebook shows it: the plain form of the table in a report."""
    return render(table_of(result), "html")


def _columns(table: Table) -> dict[str, Sequence[Cell]]:
    head, lines = table.flat()
    return {name: [line[c] for line in lines] for c, name in enumerate(told_apart_names(head))}
