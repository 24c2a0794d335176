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

from command import errata
from errata.core.errors import InputError, MissingExtraError
from errata.core.signatures import short_signature
from errata.core.stats import Interval
from errata.data import Corpus, Edit, Hypotheses, Judgment, Scores
from errata.datasets import sample_corpus, sample_systems
from errata.difficulty import study as difficulty_study
from errata.difficulty.heatmap import system_text_at
from errata.difficulty.study import gold_errors as hard_errors
from errata.human import compare, parse_ranker
from errata.human import tables as human_tables
from errata.human.plan import Plan
from errata.human.ranking import Ranking, cluster, rank
from errata.meta import tables as meta_tables
from errata.meta.sentence_level import sentence_levels
from errata.metrics import parse
from errata.metrics.difficulty import DifficultyMap, build_difficulty_map
from errata.scoring import tables as scoring_tables
from errata.scoring.evaluate import evaluate
from errata.scoring.tables import displayed_scores, summary_table
from errata.scoring.verdicts import lead_over, tied_with_best, verdict_sentence
from errata.tables.cells import PValue, Ranks, display_width
from errata.tables.html_table import plain_table_html
from errata.tables.table import Form, Table, make_signature, pandas_frame, render, table_of

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
    signature=make_signature("m2" + STEERING),
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


DRAWN = np.array([[0.2, 0.5, 0.5, 0.1], [0.4, 0.5, 0.3, 0.1], [0.6, 0.5, 0.4, 0.2]])
SCORES = Scores(
    "m(x=1)",
    ("A", "B", "C", "D"),
    np.array([0.4, 0.5, 0.4, 0.1]),
    sentences=np.array([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6], [0.7, np.nan]]),
    parts={"P": np.array([0.1, 0.2, 0.3, 0.4]), "TP": np.array([1, 2, 3, 4])},
    resampled=DRAWN,
    sentence_parts={"R": np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]])},
    headline="F",
    name="m",
)


def test_equal_scores_share_a_rank_and_the_next_is_counted_on() -> None:
    table = scoring_tables.score_table(SCORES, confidence=0.5)
    assert table.columns == ("rank", "system", "F", "50 % interval", "P", "TP")
    assert [row[:3] for row in table.rows] == [
        (1, "B", 0.5),
        (2, "A", 0.4),
        (2, "C", 0.4),
        (4, "D", 0.1),
    ]
    low, high = np.percentile(DRAWN[:, 0], [25, 75])
    assert table.rows[1][3] == Interval(pytest.approx(low), pytest.approx(high))
    assert [row[4:] for row in table.rows] == [(0.2, 2), (0.1, 1), (0.3, 3), (0.4, 4)]


def test_signs_against_people_are_counted_where_they_belong() -> None:
    """Agreement twice, a tie of the metric, of people, of both, and disagreement."""
    said = [
        Judgment("j", 0, (("A",), ("B",)), (1, 2)),
        Judgment("j", 1, (("A",), ("B",)), (1, 2)),
        Judgment("j", 2, (("A",), ("B",)), (1, 1)),
        Judgment("j", 3, (("A",), ("B",)), (2, 1)),
        Judgment("j", 4, (("A",), ("B",)), (1, 2)),
        Judgment("j", 5, (("A",), ("B",)), (1, 1)),
    ]
    metric = Scores(
        "m()",
        ("A", "B"),
        np.array([0.5, 0.4]),
        sentences=np.array([[0.9, 0.5, 0.7, 0.8, 0.9, 0.4], [0.1, 0.5, 0.2, 0.3, 0.2, 0.4]]),
        name="m",
    )
    found = sentence_levels(compare(said), [metric], ["noties"], resamples=0)
    (table,) = meta_tables.confusion_tables(found)
    assert table.columns == ("people", "metric agrees", "metric ties", "metric disagrees")
    assert table.rows == (("one is better", 2, 1, 1), ("tie", None, 1, 1))
    assert [type(cell) for row in table.rows for cell in row[2:]] == [int] * 4


def test_what_is_needed_may_lie_beyond_what_was_tried() -> None:
    sizes, power = np.array([20, 40, 80]), np.array([0.1, 0.5, 0.9])
    beyond, below = Interval(80, np.inf), Interval(-np.inf, 20)
    for needed, shown in ((None, beyond), (20, below), (40, 40), (80, 80)):
        found = Plan("A", "B", 0.1, 20, sizes, power, needed, None, None, None, ())
        rows = {str(row[0]): row[1] for row in human_tables.plan_tables(found)[0].rows}
        assert rows["rankings needed"] == shown


SOURCES = ["He go home .", "I likes tea .", "They was late ."]
CORPUS = Corpus.from_texts(SOURCES, [["He goes home .", "I like tea .", "They were late ."]])


@pytest.fixture(scope="module")
def errors() -> DifficultyMap:
    """A corrects all three, B the second, C nothing."""
    return build_difficulty_map(
        CORPUS,
        [
            Hypotheses("A", ("He goes home .", "I like tea .", "They were late .")),
            Hypotheses("B", (SOURCES[0], "I like tea .", "They were late .")),
            Hypotheses("C", (SOURCES[0], SOURCES[1], "They were late .")),
        ],
    )


def test_errors_that_share_the_first_weight_are_counted(errors: DifficultyMap) -> None:
    assert [title for title, *_ in difficulty_study.hardest_and_easiest(errors, 2)] == [
        "The hardest errors",
        "The easiest errors",
    ]
    nobody = build_difficulty_map(CORPUS, [Hypotheses("A", tuple(SOURCES))])
    (title, *_), _ = difficulty_study.hardest_and_easiest(nobody, 2)
    assert title == "The hardest errors (3 weigh 1.000)"


def test_error_stands_between_six_words_on_either_side() -> None:
    words = [str(k) for k in range(20)]
    for place, shown in (
        (0, "[x] 1 2 3 4 5 6 …"),
        (6, "0 1 2 3 4 5 [x] 7 8 9 10 11 12 …"),
        (7, "… 1 2 3 4 5 6 [x] 8 9 10 11 12 13 …"),
        (13, "… 7 8 9 10 11 12 [x] 14 15 16 17 18 19"),
        (12, "… 6 7 8 9 10 11 [x] 13 14 15 16 17 18 …"),
        (19, "… 13 14 15 16 17 18 [x]"),
    ):
        source = " ".join([*words[:place], "x", *words[place + 1 :]])
        corpus = Corpus.from_texts([source], [[" ".join(words)]])
        found = build_difficulty_map(corpus, [Hypotheses("A", (source,))])
        table = difficulty_study.error_table(found, hard_errors(found), title="t", name="n")
        assert table.rows[0][table.columns.index("in context")] == shown


def test_what_a_system_wrote_at_a_spot_is_what_touches_it() -> None:
    edits = [Edit(0, 1, "x"), Edit(1, 1, "v"), Edit(1, 2, "y"), Edit(2, 2, "w"), Edit(2, 3, "")]
    spots = {(1, 2): "v … y", (0, 1): "x", (2, 3): "w … ∅", (0, 3): "x … v … y … w … ∅", (5, 6): ""}
    assert {spot: system_text_at(edits, *spot) for spot in spots} == spots


@pytest.mark.parametrize("text", ["m2", "m2(beta=1)", "gleu(n=2)", "imeasure(weight=1.5)", "bleu"])
def test_a_short_signature_makes_its_metric_again(text: str) -> None:
    metric = parse(text)
    short = short_signature(f"{metric!r} | sentences:72 | errata:0.1.0")
    assert short.partition("#")[0] == metric.label
    assert parse(short.partition("#")[0]) == metric


@pytest.mark.parametrize("width", [40, 47, 60, 80])
@pytest.mark.parametrize(
    "name", ["日本語のとても長い名前のシステムです", "a_name_" * 9, "many short words " * 4]
)
def test_no_line_is_wider_than_the_terminal(name: str, width: int) -> None:
    """Wide characters take two places; a name without blanks is cut in the end."""
    values = np.array([0.5, 0.25])
    results = [
        Scores(f"{m}()", (name.strip(), "B"), values, headline=f"{m} score", shares=(f"{m} score",))
        for m in ("m2", "gleu", "imeasure")
    ]
    table = displayed_scores(results)[0]
    lines = render(table, width=width).splitlines()
    shown = [line for line in lines if not line.startswith("signature: ")]
    assert max(map(display_width, shown)) <= max(width, 16 + display_width(name) * ("_" in name))
    grid = shown[: next(i for i, line in enumerate(shown) if line.startswith(("note", "*")))]
    assert max(map(display_width, grid)) <= width
    assert "".join(name.split()) in "".join("".join(shown).split())


def test_verdicts_have_the_digits_asked_for() -> None:
    one = Scores("m2()", ("A",), np.array([0.5]), headline="F", shares=("F",), label="m2")
    # No place is kept for marks that nobody has.
    assert render(summary_table([one])).splitlines()[1:4:2] == ["system  m2 F", "A       50.0"]
    two = Scores(
        "m2()", ("A", "B"), np.array([0.51234, 0.25]), headline="F", shares=("F",), label="m2"
    )
    assert verdict_sentence(two) == "m2: A is ahead of B by 26.2"
    assert verdict_sentence(two, digits=3) == "m2: A is ahead of B by 26.234"
    shown = errata("score", "--sample", "-m", "m2", "--digits", 3).stdout
    assert re.search(r"m2: eager is tied with cautious: \d+\.\d{3} \[", shown)


@pytest.mark.parametrize("metric", ["m2", "gleu", "bleu"])
def test_marks_intervals_and_p_values_say_the_same(metric: str) -> None:
    """Against a slow count over the resamples, for every pair of systems."""
    scores = evaluate(metric, sample_corpus(), sample_systems(), resamples=200, rng=1)
    assert scores.resampled is not None
    drawn = scores.resampled.tolist()
    one_sided = scores.p_values()
    alike = tied_with_best(scores)
    best = scores.order[0]
    for a in range(len(scores)):
        for b in set(range(len(scores))) - {a}:
            apart = sorted(row[a] - row[b] for row in drawn)
            lost = sum(d < -1e-12 for d in apart) + sum(abs(d) <= 1e-12 for d in apart) / 2
            assert one_sided[a, b] == pytest.approx((lost + 1) / 201)
            lead = lead_over(scores, a, b)
            other = (200 - lost + 1) / 201
            assert lead.p == pytest.approx(min(1, 2 * min((lost + 1) / 201, other)))
            assert lead.by.low == pytest.approx(np.quantile(apart, 0.025))
            assert (lead.p > 0.05) == (lead.by.low <= 0 <= lead.by.high)
            if a == best:
                assert alike[b] == (lead.p > 0.05)
