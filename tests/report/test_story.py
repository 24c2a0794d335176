"""Reports from Python: what is told, what is left out, and how it shows itself."""

from __future__ import annotations

import html
import json
import re
import sys
import warnings
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest

import errata
from errata.core.errors import DataWarning, InputError, MissingExtraError
from errata.core.stats import Estimate, Interval
from errata.data import Corpus, Hypotheses, Judgment
from errata.datasets import sample_corpus, sample_judgments, sample_systems
from errata.reports.page import Section, page
from errata.reports.report import ReportPage, make_report
from errata.reports.results import ReportInputs, captured_warnings
from errata.scoring.decisions import too_few_to_rank
from errata.tables import html_table
from errata.tables.html_table import (
    glossary,
    plain_table_html,
    policy_hash,
    render_template,
    table_html,
    term_of,
    terms_used,
)
from errata.tables.table import Table, render

CORPUS = Corpus.from_texts(
    [f"He go home {i} ." for i in range(8)], [[f"He goes home {i} ." for i in range(8)]]
)
GOOD = Hypotheses("good", tuple(f"He goes home {i} ." for i in range(8)))
BAD = Hypotheses("bad", CORPUS.sources)
# Headings that say what they mean.
PLAIN = {
    "ahead", "annotator", "behind", "better", "change", "corrected", "corrected by",
    "correction", "figure", "first", "in context", "judge", "new", "old", "pairs", "people",
    "rankings", "remark", "row", "second", "sentence", "sentences", "test", "text", "value",
    "version", "what", "worse",
}  # fmt: skip


@pytest.fixture(scope="module")
def sample() -> ReportPage:
    return errata.report(
        sample_corpus(), sample_systems(), judgments=sample_judgments(), base="eager", resamples=60
    )


@pytest.mark.slow
def test_every_heading_is_explained_or_plain(sample: ReportPage) -> None:
    named = {system.system for system in sample_systems()} | {j.judge for j in sample_judgments()}
    headings = {name for table in sample.tables for name in table.columns} - named
    assert {name for name in headings if term_of(name) is None} == PLAIN & headings


def test_report_shows_itself_apart_from_the_notebook(sample: ReportPage, tmp_path: Path) -> None:
    assert "report" in dir(errata)
    shown = sample._repr_html_()
    assert shown.startswith('<iframe title="5 systems on sample" sandbox="allow-scripts ')
    assert "allow-same-origin" not in shown
    inside = shown.partition('srcdoc="')[2].removesuffix('"></iframe>')
    assert '"' not in inside
    assert html.unescape(inside) == sample.html
    sample.save(tmp_path / "r.html")
    assert (tmp_path / "r.html").read_text("utf-8") == sample.html
    assert repr(sample).startswith("<ReportPage '5 systems on sample': answer, leaderboard")


def answer(made: ReportPage) -> str:
    body = next(section.body for section in made.sections if section.key == "answer")
    return html.unescape(re.sub(r"<[^>]+>", "", body.replace("</li>", "\n")))


@pytest.mark.slow
def test_the_answer_is_written_from_the_numbers() -> None:
    corpus = Corpus(CORPUS.sources * 5, tuple(CORPUS.references) * 5)
    bad, good = (Hypotheses(each.system, each.sentences * 5) for each in (BAD, GOOD))
    both = errata.report(corpus, [bad, good], metrics=["m2"], resamples=60)
    who, sure, _ = answer(both).strip().split("\n")
    assert who == "good is best of 2 systems by m2 (F0.5 100.0\N{NO-BREAK SPACE}%)."
    assert sure.startswith("That is sure at the 95\N{NO-BREAK SPACE}% level: it is ahead of bad by")
    alone = errata.report(corpus, [good], metrics=["m2"], resamples=60)
    assert answer(alone).startswith("good scores F0.5 100.0")
    assert "between 100.0 and 100.0" in answer(alone)
    tied = errata.report(corpus, [good, Hypotheses("as good", good.sentences)], metrics=["m2"])
    assert "share the first place of 2 systems" in answer(tied)
    unsure = errata.report(corpus, [bad, good], metrics=["m2"], resamples=0)
    assert "cannot be said: nothing was resampled" in answer(unsure)
    one = CORPUS.without_sentences(*range(1, 8))
    first = Hypotheses("good", GOOD.sentences[:1])
    short = answer(errata.report(one, [first], metrics=["m2"], resamples=60))
    assert "How sure that is cannot be said from 1 sentence." in short
    few = answer(errata.report(CORPUS, [BAD, GOOD], metrics=["m2"], resamples=60))
    assert few.startswith(too_few_to_rank(2, 8))  # as errata score says
    bare = Corpus(CORPUS.sources, ((),) * 8)
    unscored = answer(errata.report(bare, [BAD, GOOD]))
    assert unscored.startswith("Who is best cannot be said: there are no references")
    assert "bad changes 0 of 8, good changes 8 of 8 sentences." in unscored
    assert "by every other metric" in answer(
        errata.report(corpus, [bad, good], metrics=["m2", "gleu", "bleu"], resamples=60)
    )


def test_advice_names_what_is_missed_most_and_leads_there(sample: ReportPage) -> None:
    """Of the leader, as its table by kind has it."""
    next_ = answer(sample).strip().split("\n")[2]
    table = next(each for each in sample.tables if each.name == "eager_by_type")
    rows = [row for row in table.rows if ":" in str(row[0])]
    kind, tp, _, fn, *_ = max(rows, key=lambda row: row[3])
    assert kind == "R:OTHER"
    assert f"most is missed in {kind}: {fn} of {tp + fn}." in next_
    link = "#sentences?system=eager&amp;state=missed&amp;kind=R%3AOTHER"
    assert f'<a href="{link}">R:OTHER</a>' in sample.html
    perfect = errata.report(CORPUS, [GOOD], metrics=["m2"], resamples=0)
    assert "missed in" not in answer(perfect)
    leads = {section.key: section.lead for section in sample.sections}
    assert leads["kinds"].startswith(f"eager misses most in {kind}: {fn} of the {tp + fn}")


def test_harm_to_clean_sentences_is_counted_as_the_rate_is() -> None:
    """The form of quotation marks is no change, in the table and below it."""
    sources = ['He said " yes " .', "All fine .", "He go ."]
    corpus = Corpus.from_texts(sources, [[*sources[:2], "He goes ."]])
    old = Hypotheses("old", tuple(sources))
    new = Hypotheses("new", ("He said “ yes ” .", "All is fine .", "He goes ."))
    made = errata.report(corpus, [old, new], metrics=["m2"], base="old", resamples=0)
    body = next(section.body for section in made.sections if section.key == "changes")
    assert "new changed 1 of 2 sentences" in body
    rates = next(table for table in made.tables if table.name == "new_rates")
    assert {row[0]: row[2] for row in rates.rows}["clean sentences touched"] == 0.5


def test_people_who_disagree_are_heard() -> None:
    judgments = [
        Judgment(judge, i, (("good",), ("bad",)), (2, 1)) for i in range(8) for judge in "ab"
    ]
    made = errata.report(CORPUS, [BAD, GOOD], metrics=["m2"], judgments=judgments, resamples=60)
    assert "people put bad first" in answer(made)
    alone = errata.report(judgments=judgments, resamples=60)
    assert answer(alone).startswith("bad is best of 2 systems by people")
    assert "sentences below" not in answer(alone)  # there are none
    assert [section.key for section in alone.sections] == ["answer", "people", "made"]


def test_what_cannot_be_told_is_said_and_costs_nothing_else() -> None:
    strangers = [Judgment("a", i, (("x",), ("y",)), (1, 2)) for i in range(8)]
    made = errata.report(CORPUS, [BAD, GOOD], metrics=["m2"], judgments=strangers, resamples=60)
    assert {"leaderboard", "people", "findings"} <= {section.key for section in made.sections}
    assert "<b>left out</b> metrics against people: " in made.html


def test_a_metric_that_cannot_be_computed_is_refused() -> None:
    with pytest.raises(InputError, match="there are no references, and m2 needs them"):
        errata.report(Corpus.from_texts(["a b"]), [Hypotheses("A", ("a",))], metrics=["m2"])
    with pytest.raises(InputError, match="nothing to hold conditions against"):
        errata.report(CORPUS, [BAD, GOOD], metrics=["m2"], fail_if=["m2 < 0"])


def test_warnings_are_shown_as_before_and_heard() -> None:
    with pytest.warns(DataWarning, match="odd"), captured_warnings() as heard:
        warnings.warn("odd", DataWarning, stacklevel=1)
    made = make_report(ReportInputs(corpus=CORPUS, systems=[GOOD], warnings=["<odd>"]))
    assert made.sections[0].key == "findings"
    assert "&lt;odd&gt;" in made.html
    assert heard in (["odd"], [])  # pytest records warnings before anybody can show them


NASTY = "<script>alert(1)</script> & \"quotes' \u202e\x1b[2J"
TABLE = Table(
    ("rank", "system", "F0.5", "95 % interval", "m2 ±"),
    (
        (1, NASTY, 0.35006123456789, Interval(0.25, 0.5), Estimate(0.5, 0.25, 0.75)),
        (2, "B", 1 / 3, Interval(0.1, 0.2), Estimate(2 / 3, 0.5, 0.75)),
    ),
    title=f"Scores {NASTY}",
    caption="signature: m2(beta=1)\nnote: a remark",
    signature="m2(beta=1)",
    rules=frozenset({0}),
    name="m2",
)


class Strict(HTMLParser):
    """Refuses tags that do not close in order; collects what scripts and styles hold."""

    VOID = frozenset({"meta", "br", "img", "input", "hr", "link", "wbr"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.held: dict[str, list[str]] = {"style": [], "script": []}
        self.ids: Counter[str] = Counter()
        self.runs = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        assert not [name for name in given if name.startswith("on") or name == "style"]
        if "id" in given:
            self.ids[given["id"] or ""] += 1
        if tag not in self.VOID:
            self.open.append(tag)
        self.runs = tag in self.held and "type" not in given
        if self.runs:
            self.held[tag].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        self.runs = False

    def handle_data(self, data: str) -> None:
        if self.runs:
            self.held[self.open[-1]][-1] += data


def parsed(text: str) -> Strict:
    parser = Strict()
    parser.feed(text)
    parser.close()
    assert not parser.open
    return parser


def test_every_style_and_script_is_known_by_its_hash_and_nothing_else_may_run() -> None:
    made = page(
        NASTY,
        [
            Section("a", NASTY, table_html(TABLE, "a"), styles=["b{}"], scripts=["1;", "2;"]),
            Section("b", "B", table_html(TABLE, "b", folded=True), scripts=["1;"]),
        ],
        about=NASTY,
    )
    found = parsed(made)
    policy = html.unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', made)[1])  # type: ignore[index]
    assert policy.startswith("default-src 'none'; ")
    for kind in ("style", "script"):
        allowed = re.search(rf"{kind}-src ([^;]*)", policy)[1].split()  # type: ignore[index]
        assert allowed == [policy_hash(text) for text in found.held[kind]]
    assert len(found.held["script"]) == 3  # the page's own, and each of the others once
    assert set(found.ids.values()) == {1}
    assert "alert(1)</script>" not in made
    assert "http-equiv" in made
    assert not re.search(r'(?:src|href)="(?!#)', made)


def test_a_table_keeps_all_digits_and_can_be_taken_away() -> None:
    made = table_html(TABLE, "key", best=["F0.5"])
    assert 'data-v="0.35006123456789">0.3501<' in made
    assert '<td class="n best" data-v="0.35006123456789">' in made
    assert 'data-v="0.5">0.5000 ± 0.2500<' in made
    assert 'data-v="0.25">0.2500 – 0.5000<' in made
    held = json.loads(re.search(r'class="data">(.*?)</script>', made)[1])  # type: ignore[index]
    assert held["tsv"] == render(TABLE, "tsv")
    assert held["latex"] == render(TABLE, "latex")
    assert "a remark" in made
    assert '<tr class="rule">' in made
    assert made.count("<tr") == 3
    plain = plain_table_html(TABLE)
    assert plain == render(TABLE, "html")
    assert "<button" not in plain


def test_words_are_explained_once_and_without_doubt() -> None:
    spelt = Counter(
        word for name, term in glossary().items() for word in {name, term.name, *term.also}
    )
    assert [word for word, many in spelt.items() if many > 1] == []
    keys = Counter(term.key for term in glossary().values())
    assert set(keys.values()) == {1}
    for name, term in glossary().items():
        assert term.says.endswith("."), name
        assert len(term.says) < 200, name
        assert term_of(name) is term
    made = page("x", [Section("a", "A", table_html(TABLE, "a"))])
    used = terms_used([made])
    assert {"rank", "confidence interval", "F0.5", "system"} <= {term.name for term in used}
    for term in used:
        assert made.count(f'id="term-{term.key}"') == 1
    assert 'id="term-kappa"' not in made  # what no heading names is not explained


def test_sections_have_addresses_that_differ() -> None:
    with pytest.raises(InputError, match="two sections have the key 'a'"):
        page("x", [Section("a", "A", ""), Section("a", "B", "")])
    with pytest.raises(InputError, match="invalid section key"):
        Section("A b", "A", "")


def test_without_jinja2_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    html_table._environment.cache_clear()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'errata-gec\[report\]'"):
        page("x", [])
    assert "0.3501" in plain_table_html(TABLE)  # a notebook needs none
    monkeypatch.undo()
    html_table._environment.cache_clear()


def test_a_place_that_nothing_fills_is_an_error() -> None:
    from jinja2 import UndefinedError

    with pytest.raises(UndefinedError, match="policy"):
        render_template("errata.reports", "templates/page.html.j2")


def test_what_wide_gaps_part_stays_apart() -> None:
    """Of '* best   = not significantly different from it' HTML would make one sentence."""
    table = Table(("a",), ((1,),), caption="* best   = not told apart\n  note: below")
    for shown in (table_html(table, "t"), plain_table_html(table)):
        assert "* best \N{MIDDLE DOT} = not told apart" in shown
        assert "\N{MIDDLE DOT} note" not in shown
