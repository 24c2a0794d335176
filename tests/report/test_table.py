"""Tables in every form."""

from __future__ import annotations

import io
import json
import math
import re
import sys
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.core.errors import InputError, MissingExtraError
from errata.core.stats import Interval
from errata.data import Judgment, Scores
from errata.datasets import sample_corpus, sample_systems
from errata.human import compare, parse_ranker
from errata.human.ranking import Ranking, cluster, rank
from errata.scoring.evaluate import evaluate
from errata.tables.cells import PValue, Ranks
from errata.tables.html_table import plain_table_html
from errata.tables.table import Form, Table, pandas_frame, render, signed, table_of

TABLE = Table(
    ("system", "F_0.5", "n", "ok"),
    (("A & B", 0.123456789, 3, True), ("日本", math.nan, None, False)),
    title="T",
    caption="note|x",
    rules=frozenset({0}),
    formats={"F_0.5": ".2f"},
)


def test_ranks_marks_and_open_intervals() -> None:
    cells = {
        "range": (Ranks(2, 4), "2-4", [2, 4]),
        "place": (Ranks(1, 1), "1", [1, 1]),
        "share": (PValue(0.75, 0.003), "0.75#", {"value": 0.75, "p": 0.003}),
        "other": (PValue(0.5, 0.5), "0.5000", {"value": 0.5, "p": 0.5}),
        "needed": (Interval(-math.inf, 19), "19 or fewer", [None, 19]),
        "beyond": (Interval(1830, math.inf), "more than 1830", [1830, None]),
        "pilot": (183, "183", 183),
    }
    table = Table(
        ("", "value"),
        tuple((name, cell) for name, (cell, _, _) in cells.items()),
        row_formats={"share": ".2f", "needed": ".0f", "beyond": ".0f"},
    )
    shown = [line.split("  ")[-1].strip() for line in render(table).splitlines()[2:]]
    assert shown == [text for _, text, _ in cells.values()]
    [data] = json.loads(render(table, "json"))["tables"]
    assert [row["value"] for row in data["rows"]] == [value for _, _, value in cells.values()]
    assert render(table, "tsv").splitlines()[:4] == [
        "\tvalue\tvalue low\tvalue high\tvalue p",
        "range\t\t2\t4\t",
        "place\t\t1\t1\t",
        "share\t0.75\t\t\t0.003",
    ]


def test_html_takes_nothing_for_markup() -> None:
    text = render(
        Table(("<a>", "n"), (("<b>&", 0.5),), title="<T>", caption='one "1"\n<two>'), "html"
    )
    assert "<tr><th>&lt;a&gt;</th><th>n</th></tr>" in text
    assert "<tr><td>&lt;b&gt;&amp;</td><td>0.5000</td></tr>" in text
    assert ">&lt;T&gt;<br>one &quot;1&quot;<br>&lt;two&gt;</caption>" in text


def test_latex_takes_nothing_for_markup() -> None:
    text = render(TABLE, "latex")
    assert r"A \& B & 0.12 & 3 & yes \\" in text
    assert r"F\_0.5" in text
    assert text.count(r"\midrule") == 2
    assert r"\caption{T. note\textbar{}x}" in text
    text = render(Table(("50 % & more", "n"), (("a%b#c_d$e{f}~^\\", 1),), title="100 %"), "latex")
    assert r"50 \% \& more & n \\" in text
    assert r"a\%b\#c\_d\$e\{f\}\textasciitilde{}\textasciicircum{}\textbackslash{} & 1 \\" in text
    assert r"\caption{100 \%}" in text
    # After a line end or a rule LaTeX looks for [ and *, on the next line too.
    text = render(Table(("[n]", "x"), (("[A]", 1), ("*B", 2), ("C", 3))), "latex")
    assert [line[:3] for line in text.split("\n") if "&" in line] == ["{}[", "{}[", "{}*", "C &"]


def test_markdown_takes_nothing_for_markup() -> None:
    text = render(Table(("a|b", "n"), (("x|y", 1),)), "markdown")
    assert text == "| a\\|b | n |\n| --- | ---: |\n| x\\|y | 1 |"
    text = render(
        Table(("_a_", "b_c"), (("*x*", "<b>`[y]"),), title="*T*", caption="one <i>\ntwo"),
        "markdown",
    )
    assert text == (
        "**\\*T\\***\n\n| \\_a\\_ | b_c |\n| --- | --- |\n"
        "| \\*x\\* | \\<b>\\`\\[y\\] |\n\none \\<i>\n\ntwo"
    )
    name = "~~x~~ $a$ http://e.org HTTPS://e.org www.e.org a@e.org f:g"
    row = render(Table(("s",), ((name,),)), "markdown").split("\n")[2]
    assert row == (r"| \~\~x\~\~ \$a\$ http\://e.org HTTPS\://e.org www\.e.org a\@e.org f:g |")
    # Names and notes may stand at the start of a line below a table.
    remarks = {
        "# head": r"\# head",
        "- item": r"\- item",
        "+ item": r"\+ item",
        "12. item": r"12\. item",
        "3) item": r"3\) item",
        "> quoted": r"\> quoted",
        "---": r"\---",
        "=x": r"\=x",
    }
    text = render(Table(("a",), (("x",),), caption="\n".join(remarks)), "markdown")
    assert [line for line in text.split("\n")[3:] if line] == [*remarks.values()]


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


# Clear the screen, set the clipboard (OSC 52), a C1 introducer, forged rows, turned order, a byte.
STEERING = "\x1b[2J\x1b]52;c;cm0=\x07\x9b\x7f\x00\r\nB\t1\u2028\x85\u202e\u2066\udce9"
STEERED = Table(
    ("system" + STEERING, "n"),
    (("A" + STEERING, 1),),
    title="T" + STEERING,
    caption="one" + STEERING.replace("\n", "") + "\ntwo",
    signature=signed("m2" + STEERING),
)
UNSEEN = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


@pytest.mark.parametrize("form", get_args(Form))
def test_no_control_character_of_the_data_comes_through(form: Form) -> None:
    harmless = Table(("s", "n"), (("A", 1),), title="T", caption="one\ntwo", signature="m2")
    text = render(STEERED, form)
    shown = text.replace("\t", "") if form == "tsv" else text
    assert not UNSEEN.search(shown)
    assert len(text.splitlines()) == len(render(harmless, form).splitlines())
    text.encode("utf-8")
    if form == "tsv":
        assert [line.count("\t") for line in text.split("\n")] == [2, 2]
        odd = render(Table(("a\tb", "c"), (("x\r\ny", "z\u2028"),)), "tsv")
        assert odd == "a\\tb\tc\nx\\r\\ny\tz\\u2028"
    if form == "json":  # written otherwise, and the same text
        [table] = json.loads(text)["tables"]
        assert table["rows"] == [{"system" + STEERING: "A" + STEERING, "n": 1}]


def test_formulas_are_texts_where_asked_for() -> None:
    names = ["=HYPERLINK(1)", "+1", "-1", "@x", "\uff1dx", "a=b", ""]
    table = Table(("=s", "n"), tuple((name, -0.5) for name in names))
    plain, safe = (render(table, "tsv", safe_cells=safe).split("\n") for safe in (False, True))
    assert plain == ["=s\tn", *(f"{name}\t-0.5" for name in names)]
    assert safe == ["'=s\tn", *(f"'{n}\t-0.5" for n in names[:5]), "a=b\t-0.5", "\t-0.5"]


@pytest.mark.parametrize("form", ["table", "latex"])
def test_no_rule_stands_below_the_last_row(form: Form) -> None:
    """Except the table's own; one stands wherever it is asked for between rows."""

    def drawn(*rules: int) -> int:
        text = render(Table(("a",), (("x",), ("y",), ("z",)), rules=frozenset(rules)), form)
        return text.count("┄" if form == "table" else r"\midrule")

    assert drawn(2) == drawn()
    assert drawn(0, 2) == drawn(0) == drawn(1) == drawn() + 1
    assert drawn(0, 1) == drawn() + 2


def test_columns_of_one_name_lose_no_cell() -> None:
    table = Table(("kind", "kind", "kind_2", "kind"), (("a", 1, 2, 3),))
    (found,) = json.loads(render([table], "json"))["tables"]
    assert found["columns"] == ["kind", "kind_3", "kind_2", "kind_4"]
    assert found["rows"] == [{"kind": "a", "kind_3": 1, "kind_2": 2, "kind_4": 3}]


@pytest.fixture(scope="module")
def ranking() -> Ranking:
    judged = [Judgment("ann", i, (("A",), ("B",)), (1, 1 + (i > 0))) for i in range(9)]
    return cluster(rank(parse_ranker("net_wins"), compare(judged), resamples=40))


@pytest.fixture(scope="module")
def gleu() -> Scores:
    return evaluate("gleu", sample_corpus(), sample_systems(), resamples=40)


def test_scores_in_a_notebook_are_escaped() -> None:
    shown = Scores(
        "m2()",
        ("A", "B"),
        np.array([0.5, 0.5]),
        notes=("look <here>",),
        parts={"P": np.array([1.0, 2 / 3]), "gold": np.array([12, 1234567])},
    )._repr_html_()
    assert shown.count("<td>1</td>") == 2  # equal scores share a rank
    for cell in ("1.0000", "0.6667", "12", "1234567"):
        assert f"<td>{cell}</td>" in shown
    assert shown.index("<caption") < shown.index("<thead>")
    assert "look &lt;here&gt;" in shown
    page = Scores("m<b>", ("<script>",), np.array([0.5]))._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "0.5000" in page


def test_notebooks_show_the_table_of_the_report(gleu: Scores, ranking: Ranking) -> None:
    for result in (gleu, ranking):
        assert result._repr_html_() == plain_table_html(table_of(result))
    assert "interval</th>" in gleu._repr_html_()
    assert "<th>cluster</th>" in ranking._repr_html_()


@pytest.mark.parametrize("what", ["scores", "sentences", "ranking"])
def test_frames_are_what_pandas_reads_from_tsv(what: str, gleu: Scores, ranking: Ranking) -> None:
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    how = {"by_sentence": True} if what == "sentences" else {}
    result = ranking if what == "ranking" else gleu
    table = table_of(result, **how)
    read = pandas.read_csv(io.StringIO(render(table, "tsv")), sep="\t")
    frame = result.to_pandas(**how)
    pandas.testing.assert_frame_equal(frame, read, check_exact=True)
    other = result.to_polars(**how)
    assert other.columns == list(frame.columns)
    assert other.schema["system"] == polars.String
    assert other.rows() == [tuple(row) for row in frame.astype(object).values.tolist()]
    assert set(frame["signature"]) == {table.signature}


def test_no_value_and_two_columns_of_one_name() -> None:
    pandas = pytest.importorskip("pandas")
    table = Table(("a", "a", "n"), ((1, None, None), (2, float("nan"), 3)))
    frame = pandas_frame(table)
    assert list(frame.columns) == ["a", "a_2", "n"]
    assert frame["a"].dtype.kind == "i"
    assert pandas.isna(frame["n"][0])
    assert frame["n"][1] == 3


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_missing_is_named(package: str, gleu: Scores, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=rf"pip install 'errata-gec\[{package}\]'"):
        getattr(gleu, f"to_{package}")()
    with pytest.raises(TypeError, match="no table of a int"):
        table_of(3)
