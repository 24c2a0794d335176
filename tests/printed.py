"""Read printed tables back: rows of every form, and numbers that agree but for the last digits."""

import csv
import re
from html.parser import HTMLParser
from io import StringIO
from itertools import zip_longest
from typing import Any

import pytest

NUMBER = re.compile(r"([-−+]?\d+\.\d+(?:e[-+]?\d+)?)")
DASHES = str.maketrans({"−": "-", "–": "--", "—": "---", "±": " to "})


def alike(first: str, second: str) -> bool:
    """Whether words are the same and numbers very nearly, as other machines round."""
    pieces = zip_longest(NUMBER.split(first), NUMBER.split(second), fillvalue="")
    return all(
        one == other
        or (
            NUMBER.fullmatch(one) is not None
            and NUMBER.fullmatch(other) is not None
            and float(one.replace("−", "-"))
            == pytest.approx(float(other.replace("−", "-")), rel=1e-9, abs=1e-12)
        )
        for one, other in pieces
    )


def same_numbers(first: Any, second: Any) -> bool:
    """Whether two JSON values are the same, numbers but for the last digits."""
    if isinstance(first, float) or isinstance(second, float):
        return (
            isinstance(first, int | float)
            and isinstance(second, int | float)
            and first == pytest.approx(second, rel=1e-9, abs=1e-12)
        )
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(same_numbers, first, second))
    if isinstance(first, dict) and isinstance(second, dict):
        return [*first] == [*second] and same_numbers([*first.values()], [*second.values()])
    return bool(first == second)


def flat(value: Any) -> list[Any]:
    """The plain values of a cell of JSON, without missing ones and marks of the best."""
    if isinstance(value, dict):
        value = [each for key, each in value.items() if key != "lead"]
    if isinstance(value, list):
        return [each for inner in value for each in flat(inner)]
    return [] if value is None else [value]


def tsv_rows(text: str) -> list[dict[str, str]]:
    return [
        {name: cell for name, cell in row.items() if cell}
        for row in csv.DictReader(StringIO(text), delimiter="\t")
    ]


def cells(text: str, form: str) -> list[list[list[str]]]:
    """The tables of LaTeX, Markdown or HTML: rows of cells, the heads first.

    Of a cell only ASCII letters, digits, dots, dashes and brackets are kept, which no form
    replaces.
    """
    if form == "html":
        parser = _Tables()
        parser.feed(text)
        found = parser.found
    elif form == "markdown":
        blocks = re.findall(r"(?:^\|.*\|\n)+", text, re.MULTILINE)
        found = [
            [re.split(r"(?<!\\) \| ", line[2:-2]) for line in (head, *rows)]
            for head, _, *rows in map(str.splitlines, blocks)
        ]
    else:
        found = [
            [
                re.split(r" (?<!\\)& ", line.removesuffix(r" \\"))
                for line in table.splitlines()
                if line.endswith(r" \\")
            ]
            for table in text.split(r"\begin{tabular}")[1:]
        ]
    return [[[_plain(cell) for cell in row] for row in table] for table in found]


def _plain(text: str) -> str:
    text = re.sub(r"\\[A-Za-z]+", "", text.replace(r"\pm", "±").translate(DASHES))
    return re.sub(r"[^A-Za-z0-9.()\[\]-]", "", text)


class _Tables(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[list[list[str]]] = []
        self.inside = False

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag == "table":
            self.found.append([])
        elif tag == "tr":
            self.found[-1].append([])
        elif tag in ("td", "th"):
            self.found[-1][-1].append("")
            self.inside = True

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self.inside = False

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.found[-1][-1][-1] += data
