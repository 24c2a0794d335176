"""Tables in every form."""

from __future__ import annotations

import json
import math
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.errors import InputError
from errata.numbers import Estimate, Interval
from errata.report.cells import Marked, Ranks
from errata.report.table import Form, Table, joined_signatures, render

TABLE = Table(
    ("system", "F_0.5", "n", "ok"),
    (("A & B", 0.123456789, 3, True), ("日本", math.nan, None, False)),
    title="T",
    caption="note|x",
    rules=frozenset({0}),
    formats={"F_0.5": ".2f"},
)


def test_terminal() -> None:
    assert render(TABLE) == (
        "T\n"
        "system  F_0.5  n  ok\n"
        "─────────────────────\n"
        "A & B    0.12  3  yes\n"
        "┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄\n"
        "日本              no\n"
        "note|x"
    )
    assert render(TABLE, colour=True).startswith("\x1b[1mT\x1b[0m\n")


def test_json_keeps_the_digits() -> None:
    data = json.loads(render([TABLE, TABLE], "json"))
    assert len(data["tables"]) == 2
    assert data["tables"][0]["rows"] == [
        {"system": "A & B", "F_0.5": 0.123456789, "n": 3, "ok": True},
        {"system": "日本", "F_0.5": None, "n": None, "ok": False},
    ]


def test_tsv_keeps_the_digits() -> None:
    assert render(TABLE, "tsv").splitlines() == [
        "system\tF_0.5\tn\tok",
        "A & B\t0.123456789\t3\tTrue",
        "日本\t\t\tFalse",
    ]


def test_latex_is_escaped() -> None:
    text = render(TABLE, "latex")
    assert r"A \& B & 0.12 & 3 & yes \\" in text
    assert r"F\_0.5" in text
    assert text.count(r"\midrule") == 2
    assert r"\caption{T. note\textbar{}x}" in text


def test_markdown() -> None:
    text = render(Table(("a|b", "n"), (("x|y", 1),)), "markdown")
    assert text == "| a\\|b | n |\n| --- | ---: |\n| x\\|y | 1 |"


UNSURE = Table(
    ("system", "F", "95 %", "m2"),
    (
        ("A", 0.5, Interval(0.41234567, 0.6), Estimate(0.5, 0.41234567, 0.6)),
        ("B", 0.25, None, Estimate(0.25, math.nan, math.nan)),
    ),
    signature="m2() | seed:0",
)


def test_intervals_for_people() -> None:
    assert render(UNSURE).splitlines()[2:] == [
        "A       0.5000  0.4123 – 0.6000  0.5000 ± 0.0938",
        "B       0.2500                            0.2500",
    ]
    assert r"0.4123 -- 0.6000 & 0.5000 $\pm$ 0.0938" in render(UNSURE, "latex")


def test_intervals_for_programs() -> None:
    [table] = json.loads(render(UNSURE, "json"))["tables"]
    assert table["signature"] == "m2() | seed:0"
    assert table["rows"] == [
        {
            "system": "A",
            "F": 0.5,
            "95 %": [0.41234567, 0.6],
            "m2": {"value": 0.5, "low": 0.41234567, "high": 0.6},
        },
        {"system": "B", "F": 0.25, "95 %": None, "m2": {"value": 0.25, "low": None, "high": None}},
    ]
    assert render(UNSURE, "tsv").splitlines() == [
        "system\tF\t95 % low\t95 % high\tm2\tm2 low\tm2 high\tsignature",
        "A\t0.5\t0.41234567\t0.6\t0.5\t0.41234567\t0.6\tm2() | seed:0",
        "B\t0.25\t\t\t0.25\t\t\tm2() | seed:0",
    ]


def test_ranks_marks_and_open_intervals() -> None:
    table = Table(
        ("", "value"),
        (
            ("range", Ranks(2, 4)),
            ("place", Ranks(1, 1)),
            ("share", Marked(0.75, 0.003)),
            ("other", Marked(0.5, 0.5)),
            ("needed", Interval(-math.inf, 19)),
            ("beyond", Interval(1830, math.inf)),
            ("pilot", 183),
        ),
        row_formats={"share": ".2f", "needed": ".0f", "beyond": ".0f"},
    )
    assert [line.split("  ")[-1].strip() for line in render(table).splitlines()[2:]] == [
        *("2-4", "1", "0.75#", "0.5000", "19 or fewer", "more than 1830", "183")
    ]
    [data] = json.loads(render(table, "json"))["tables"]
    assert [row["value"] for row in data["rows"]] == [
        [2, 4],
        [1, 1],
        {"value": 0.75, "p": 0.003},
        {"value": 0.5, "p": 0.5},
        [None, 19],
        [1830, None],
        183,
    ]
    assert render(table, "tsv").splitlines()[:4] == [
        "\tvalue\tvalue low\tvalue high\tvalue p",
        "range\t\t2\t4\t",
        "place\t\t1\t1\t",
        "share\t0.75\t\t\t0.003",
    ]


def test_html_is_escaped() -> None:
    text = render(
        Table(("<a>", "n"), (("<b>&", 0.5),), title="<T>", caption='one "1"\n<two>'), "html"
    )
    assert "<tr><th>&lt;a&gt;</th><th>n</th></tr>" in text
    assert "<tr><td>&lt;b&gt;&amp;</td><td>0.5000</td></tr>" in text
    assert ">&lt;T&gt;<br>one &quot;1&quot;<br>&lt;two&gt;</caption>" in text


def test_a_table_of_several_scorers_names_each_once() -> None:
    assert joined_signatures(["m2()", "gleu()", "m2()"]) == "m2()\ngleu()"


def test_cells_end_no_line() -> None:
    odd = Table(("a\tb", "c"), (("x\r\ny", "z\u2028"),))
    assert [line.split("\t") for line in render(odd, "tsv").splitlines()] == [
        ["a b", "c"],
        ["x  y", "z "],
    ]
    assert len(render(odd, "markdown").splitlines()) == 3


def test_markdown_takes_nothing_for_markup() -> None:
    text = render(
        Table(("_a_", "b_c"), (("*x*", "<b>`[y]"),), title="*T*", caption="one <i>\ntwo"),
        "markdown",
    )
    assert text == (
        "**\\*T\\***\n\n| \\_a\\_ | b_c |\n| --- | --- |\n"
        "| \\*x\\* | \\<b>\\`\\[y\\] |\n\none \\<i>\n\ntwo"
    )


def test_bad_tables() -> None:
    with pytest.raises(InputError, match="row of 1 cells under 2"):
        Table(("a", "b"), (("x",),))
    with pytest.raises(InputError, match="format 'xml' is unknown"):
        render(TABLE, "xml")  # type: ignore[arg-type]


cells = st.one_of(st.none(), st.integers(), st.floats(), st.text(max_size=5), st.booleans())


@given(st.lists(st.tuples(cells, cells), max_size=4), st.sampled_from(get_args(Form)))
def test_any_cell_in_any_form(rows: list[tuple[object, object]], form: Form) -> None:
    text = render(Table(("a", "b"), tuple(rows)), form)  # type: ignore[arg-type]
    if form == "json":
        assert len(json.loads(text)["tables"][0]["rows"]) == len(rows)
