"""What each sentence belongs to: a table with a row per sentence and columns as domain or level."""

from __future__ import annotations

from errata.data import Corpus
from errata.errors import InputError
from errata.io.files import PathLike, shown_name
from errata.io.sheet import read_rows, same_width
from errata.io.text import read_text

__all__ = ["MOST_VALUES", "NO_VALUE", "read_slices", "sentences_of"]

MOST_VALUES = 200  # different values of a column; one that has more is a number or a text
NO_VALUE = "(none)"  # what an empty cell says


def read_slices(path: PathLike, corpus: Corpus) -> dict[str, tuple[str, ...]]:
    """The columns of a table with a header and one row per sentence of the corpus.

    Columns are apart by tabs, semicolons or commas; a spreadsheet will do. Where sentences of the
    corpus were left out, the table may have all of them or those that are left.
    """
    rows, _ = read_rows(path)
    name = shown_name(path)
    if len(rows) < 2:
        raise InputError(
            "a table of slices has a header and a row per sentence",
            path=name,
            remedy="write the names of the columns in the first line",
        )
    same_width(rows, name)
    titles = rows[0].cells
    odd = next((t for t in titles if not t or titles.count(t) > 1), None)
    if odd is not None:
        raise InputError(
            f"two columns are called {odd!r}" if odd else "a column has no name",
            path=name,
            line=rows[0].line,
            remedy="give every column a name of its own",
        )
    body = rows[1:]
    whole = corpus.whole or corpus
    if len(body) == len(whole):
        gone = {*corpus.skipped}
        body = [row for i, row in enumerate(body) if i not in gone]
    if len(body) != len(corpus):
        raise InputError(
            f"{len(rows) - 1} rows below the header, but the corpus has {len(whole)} sentences",
            path=name,
            remedy="give one row per sentence, below a line with the names of the columns",
        )
    columns = {
        title: tuple(row.cells[c] or NO_VALUE for row in body) for c, title in enumerate(titles)
    }
    for title, values in columns.items():
        if len({*values}) > MOST_VALUES:
            raise InputError(
                f"the column {title!r} has {len({*values})} different values, "
                f"and a slice is to be more than a few sentences (at most {MOST_VALUES} values)",
                path=name,
                remedy="leave it out, or group its values",
            )
    return columns


def sentences_of(path: PathLike, corpus: Corpus) -> tuple[int, ...]:
    """The sentences of a corpus, from 0, whose sources stand in a file, one a line.

    A line that is no source is refused: a typing error must not make a test pass.
    """
    wanted = read_text(path)
    places: dict[str, list[int]] = {}
    for i, source in enumerate(corpus.sources):
        places.setdefault(source, []).append(i)
    for number, line in enumerate(wanted, 1):
        if line not in places:
            raise InputError(
                "the line is no source sentence of the corpus",
                path=shown_name(path),
                line=number,
                remedy="copy the lines from the sources, spaces and all",
            )
    return tuple(sorted({i for line in wanted for i in places[line]}))
