"""Reports: the numbers of the commands, what is told and left out, what pages carry."""

from __future__ import annotations

import hashlib
import html
import json
import re
import shlex
import sys
import warnings
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from collecting import fill_with_sample
from command import errata, run, tables
from errata import evaluate, report
from errata.core.errors import DataWarning, InputError, MissingExtraError
from errata.core.stats import Estimate, Interval
from errata.data import Corpus, Hypotheses, Judgment
from errata.datasets import sample_corpus, sample_judgments, sample_systems
from errata.datasets.load import SAMPLE_SYSTEMS
from errata.io.stored_runs import make_run, write_run
from errata.reports.page import Section, render_page
from errata.reports.report import ReportPage, build_report_page
from errata.reports.results import ReportInputs, captured_warnings
from errata.scoring.decisions import too_few_to_rank
from errata.tables import html_table
from errata.tables.cells import to_json
from errata.tables.html_table import (
    glossary,
    plain_table_html,
    policy_hash,
    table_html,
    term_of,
    terms_used,
)
from errata.tables.table import Table, render

FEW = ("--resamples", 60)


class Shown(NamedTuple):
    """A table of a page: its headings, and of each cell the text and the exact value."""

    heads: list[str]
    rows: list[list[tuple[str, str | None]]]


TABLE = re.compile(r"<table.*?</table>|<script[^>]*class=\"?data\"?[^>]*>.*?</script>", re.DOTALL)
CELL = re.compile(
    r"<t[dh](?:\s[^>]*?)?(?:\sdata-v=\"([^\"]*)\"[^>]*)?>(.*?)(?=</?t[dhr])", re.DOTALL
)


def tables_of(page: str) -> dict[str, list[Shown]]:
    found: dict[str, list[Shown]] = {}
    last = Shown([], [])
    for part in TABLE.findall(page):
        if part.startswith("<script"):
            name = json.loads(part.partition(">")[2].rpartition("<")[0])["name"]
            found.setdefault(name, []).append(last)
            continue
        heads, *rows = (
            [(html.unescape(re.sub("<[^>]*>", "", text)), value or None) for value, text in row]
            for row in map(CELL.findall, part.split("<tr")[1:])
        )
        last = Shown([text for text, _ in heads], rows)
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return fill_with_sample(tmp_path)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, list[Shown]], str, Any]:
    path = tmp_path_factory.mktemp("report") / "r.html"
    done = errata("report", "--sample", *FEW, "--old", "eager", "-o", path, "--json")
    page = path.read_text("utf-8")
    return tables_of(page), page, json.loads(done.stdout)


# The command behind a section, and the tables of it that a report does not show.
COMMANDS = {
    "score --resamples 60": ("verdicts", "leads"),
    "score --by-type": ("_aimed", "touched"),  # a reader finds these in the comparison
    "rank --resamples 60 --head-to-head": (),
    "agree": (),
    "meta --resamples 60 --matrix": ("leave_one_out", "_confusion"),
    "difficulty --resamples 60": (),
    "compare --resamples 60 --old eager": ("_figures",),
    "references --resamples 60 -m gleu": ("annotators_as_systems", "self_check", "_curve"),
}


def exact(cell: Any) -> list[float]:
    if isinstance(cell, bool) or cell is None or isinstance(cell, str):
        return []
    if isinstance(cell, int | float):
        return [float(cell)]
    inner = cell.values() if isinstance(cell, dict) else cell
    return [number for each in inner for number in exact(each)]


@pytest.mark.slow
@pytest.mark.parametrize("line", COMMANDS)
def test_numbers_are_those_of_the_command(made: Any, line: str) -> None:
    shown = made[0]
    compared = 0
    for name, table in tables(f"{line} --sample").items():
        if not name.endswith(COMMANDS[line] or ("-",)):
            assert name in shown, sorted(shown)
            fitting = [each for each in shown[name] if len(each.rows) == len(table["rows"])]
            assert any(_same(table, each) for each in fitting), name
            compared += 1
    assert compared


def _same(table: dict[str, Any], shown: Shown) -> bool:
    """Whether a table of the page has the values of a table of a command, all digits of them."""
    if len(shown.heads) != len(table["columns"]):
        return False
    for row, cells in zip(table["rows"], shown.rows, strict=True):
        for value, (text, kept) in zip(row.values(), cells, strict=True):
            numbers = exact(value)
            if numbers:
                if kept is None or float(kept) != numbers[0]:
                    return False
            elif isinstance(value, str) and text.strip() != " ".join(value.split()):
                return False
    return True


def test_it_prints_the_tables_of_the_page(made: Any) -> None:
    shown, _, printed = made
    contents, *others = printed["tables"]
    assert contents["rows"][0]["section"] == "answer"
    assert {row["section"] for row in contents["rows"]} >= {
        "leaderboard", "changes", "people", "metrics", "kinds", "difficulty", "sentences",
        "references", "made",
    }  # fmt: skip
    assert len(others) == sum(row["tables"] for row in contents["rows"])
    assert sum(map(len, shown.values())) == len(others)


def test_every_chart_has_words(made: Any) -> None:
    page = made[1]
    drawn = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert len(drawn) > 12
    for svg in drawn:
        assert re.search(r"<title id=[^>]*>[^<]+</title>", svg)
        assert re.search(r"<desc id=[^>]*>[^<]{5,}</desc>", svg)
    titles = re.findall(r'<svg[^>]*aria-labelledby="([^" ]*)', page)
    assert len(set(titles)) == len(titles)


BUILD = "--gold gold.m2 eager.txt noisy.txt -m gleu --resamples 60 --old eager"


def sections(folder: Path, line: str) -> list[str]:
    found = tables(f"report --resamples 60 --force {line}", cwd=folder)
    return [row["section"] for row in found["report"]["rows"]]


def page_of(folder: Path) -> str:
    return (folder / "report.html").read_text("utf-8")


def test_any_part_of_the_inputs_makes_a_report(folder: Path) -> None:
    texts = "--source source.txt eager.txt"
    assert sections(folder, "--judgments judgments.jsonl") == ["answer", "people", "made"]
    assert sections(folder, texts) == ["answer", "sentences", "findings", "made"]
    assert "changes" in sections(folder, f"{texts} noisy.txt --old noisy")


def test_files_have_fingerprints_and_a_command_that_makes_it_again(folder: Path) -> None:
    arguments = ("report", "--gold", "gold.m2", "o&<b>.txt=eager.txt", "-m", "gleu", *FEW)
    arguments += ("-o", "report.html")
    errata(*arguments, cwd=folder)
    page = page_of(folder)
    known = {row[0][0]: row[2][0] for row in tables_of(page)["digests"][0].rows}
    assert known == {
        name: hashlib.sha256((folder / name).read_bytes()).hexdigest()
        for name in ("gold.m2", "eager.txt")
    }
    command = html.unescape(re.search(r"<pre><code>(.*?)</code>", page)[1])  # type: ignore[index]
    assert command == f"errata {shlex.join(map(str, arguments))}"
    assert "o&<b>" not in page
    assert "exists" in errata(*arguments, cwd=folder, code=2).stderr
    errata(*arguments, "--force", cwd=folder)
    assert page_of(folder).replace(" --force", "") == page  # the same command, the same page


def test_findings_of_the_file_check_come_first(folder: Path) -> None:
    lines = (folder / "eager.txt").read_text("utf-8").split("\n")
    lines[3] = ""
    (folder / "eager.txt").write_text("\n".join(lines), "utf-8")
    assert sections(folder, "--gold gold.m2 eager.txt -m gleu")[0] == "findings"
    assert "line 4: the line is empty" in page_of(folder)
    assert 'href="#findings">1 finding' in page_of(folder)


@pytest.mark.parametrize(
    ("condition", "code", "word"), [("gleu<-0.9", 0, "✓ Pass"), ("gleu<-0.01", 1, "✗ Fail")]
)
def test_a_failed_condition_is_shown(folder: Path, condition: str, code: int, word: str) -> None:
    line = f"{BUILD} --fail-if {condition}"
    reported = tables(f"report --force {line}", cwd=folder, code=code)
    assert word in page_of(folder)
    compared = tables(f"compare {line}", cwd=folder, code=code)
    assert reported["gate"]["rows"] == compared["gate"]["rows"]


@pytest.mark.slow
def test_slices_are_those_of_compare_and_filter_the_sentences(folder: Path) -> None:
    (folder / "levels.tsv").write_text("level\n" + "A1\nB2\n" * 36)
    line = f"{BUILD} --slices levels.tsv"
    fail = ("--fail-if", "gleu score < 0.01 on level=B2")
    reported = tables(f"report --force {line}", *fail, cwd=folder)
    compared = tables(f"compare {line}", *fail, cwd=folder)
    for name in ("noisy_slices", "gate"):
        assert reported[name]["rows"] == compared[name]["rows"]
    rows = reported["noisy_slices"]["rows"]
    assert {row["value"] for row in rows if row["slice"] == "level"} == {"A1", "B2"}
    for name in ("slice:length", "slice:level"):
        assert f'name="{name}"' in page_of(folder)


def test_ratings_of_outputs_are_those_of_meta(folder: Path) -> None:
    outputs = " ".join(f"{name}.txt" for name in SAMPLE_SYSTEMS)
    line = f"--gold gold.m2 {outputs} -m gleu --resamples 60 --human ratings.csv"
    run(f"report {line}", cwd=folder)
    shown = tables_of(page_of(folder))
    for name, table in tables(f"meta {line}", cwd=folder).items():
        if name != "leave_one_out":
            assert any(_same(table, each) for each in shown[name]), name


def test_runs_are_drawn_over_time(tmp_path: Path) -> None:
    corpus, systems = sample_corpus(), sample_systems()
    (tmp_path / "runs").mkdir()
    for day, system in enumerate(systems[:3], 1):
        scores = evaluate("gleu", corpus, system, resamples=20)
        stored = make_run(corpus, system, [scores], when=f"2026-01-0{day}T00:00:00Z")
        write_run(tmp_path / "runs" / f"{day}.json", stored)
    assert "trend" in sections(tmp_path, "--runs runs")
    shown = tables_of(page_of(tmp_path))["runs"][0]
    first = evaluate("gleu", corpus, systems[0], resamples=0)
    assert float(shown.rows[0][2][1] or 0) == to_json(first.values[0].item())


def test_without_input_it_says_which_is_missing(tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text("mine")
    message = run("report", cwd=tmp_path, code=2).stderr
    assert "outputs, judgments and scores are all missing" in message
    assert "--gold" in message
    assert (tmp_path / "report.html").read_text() == "mine"


def test_no_number_is_shown_as_nan(made: Any) -> None:
    cells = [
        text for several in made[0].values() for t in several for row in t.rows for text, _ in row
    ]
    assert not [text for text in cells if re.search(r"\b(nan|inf)\b", text)]
    assert not re.search(r'="(nan|inf)', made[1])


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
    return report(
        sample_corpus(), sample_systems(), judgments=sample_judgments(), base="eager", resamples=60
    )


@pytest.mark.slow
def test_every_heading_is_explained_or_plain(sample: ReportPage) -> None:
    named = {system.system for system in sample_systems()} | {j.judge for j in sample_judgments()}
    headings = {name for table in sample.tables for name in table.columns} - named
    assert {name for name in headings if term_of(name) is None} == PLAIN & headings


def test_report_shows_itself_apart_from_the_notebook(sample: ReportPage, tmp_path: Path) -> None:
    assert "report" in dir(sys.modules["errata"])
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
    both = report(corpus, [bad, good], metrics=["m2"], resamples=60)
    who, sure, _ = answer(both).strip().split("\n")
    assert who == "good is best of 2 systems by m2 (F0.5 100.0\N{NO-BREAK SPACE}%)."
    assert sure.startswith("That is sure at the 95\N{NO-BREAK SPACE}% level: it is ahead of bad by")
    alone = report(corpus, [good], metrics=["m2"], resamples=60)
    assert answer(alone).startswith("good scores F0.5 100.0")
    assert "between 100.0 and 100.0" in answer(alone)
    tied = report(corpus, [good, Hypotheses("as good", good.sentences)], metrics=["m2"])
    assert "share the first place of 2 systems" in answer(tied)
    unsure = report(corpus, [bad, good], metrics=["m2"], resamples=0)
    assert "cannot be said: nothing was resampled" in answer(unsure)
    one = CORPUS.without_sentences(*range(1, 8))
    first = Hypotheses("good", GOOD.sentences[:1])
    short = answer(report(one, [first], metrics=["m2"], resamples=60))
    assert "How sure that is cannot be said from 1 sentence." in short
    few = answer(report(CORPUS, [BAD, GOOD], metrics=["m2"], resamples=60))
    assert few.startswith(too_few_to_rank(2, 8))  # as errata score says
    bare = Corpus(CORPUS.sources, ((),) * 8)
    unscored = answer(report(bare, [BAD, GOOD]))
    assert unscored.startswith("Who is best cannot be said: there are no references")
    assert "bad changes 0 of 8, good changes 8 of 8 sentences." in unscored
    assert "by every other metric" in answer(
        report(corpus, [bad, good], metrics=["m2", "gleu", "bleu"], resamples=60)
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
    perfect = report(CORPUS, [GOOD], metrics=["m2"], resamples=0)
    assert "missed in" not in answer(perfect)
    leads = {section.key: section.lead for section in sample.sections}
    assert leads["kinds"].startswith(f"eager misses most in {kind}: {fn} of the {tp + fn}")


def test_harm_to_clean_sentences_is_counted_as_the_rate_is() -> None:
    """The form of quotation marks is no change, in the table and below it."""
    sources = ['He said " yes " .', "All fine .", "He go ."]
    corpus = Corpus.from_texts(sources, [[*sources[:2], "He goes ."]])
    old = Hypotheses("old", tuple(sources))
    new = Hypotheses("new", ("He said “ yes ” .", "All is fine .", "He goes ."))
    made = report(corpus, [old, new], metrics=["m2"], base="old", resamples=0)
    body = next(section.body for section in made.sections if section.key == "changes")
    assert "new changed 1 of 2 sentences" in body
    rates = next(table for table in made.tables if table.name == "new_rates")
    assert {row[0]: row[2] for row in rates.rows}["clean sentences touched"] == 0.5


def test_people_who_disagree_are_heard() -> None:
    judgments = [
        Judgment(judge, i, (("good",), ("bad",)), (2, 1)) for i in range(8) for judge in "ab"
    ]
    made = report(CORPUS, [BAD, GOOD], metrics=["m2"], judgments=judgments, resamples=60)
    assert "people put bad first" in answer(made)
    alone = report(judgments=judgments, resamples=60)
    assert answer(alone).startswith("bad is best of 2 systems by people")
    assert "sentences below" not in answer(alone)  # there are none
    assert [section.key for section in alone.sections] == ["answer", "people", "made"]


def test_what_cannot_be_told_is_said_and_costs_nothing_else() -> None:
    strangers = [Judgment("a", i, (("x",), ("y",)), (1, 2)) for i in range(8)]
    made = report(CORPUS, [BAD, GOOD], metrics=["m2"], judgments=strangers, resamples=60)
    assert {"leaderboard", "people", "findings"} <= {section.key for section in made.sections}
    assert "<b>left out</b> metrics against people: " in made.html


def test_a_metric_that_cannot_be_computed_is_refused() -> None:
    with pytest.raises(InputError, match="there are no references, and m2 needs them"):
        report(Corpus.from_texts(["a b"]), [Hypotheses("A", ("a",))], metrics=["m2"])
    with pytest.raises(InputError, match="nothing to hold conditions against"):
        report(CORPUS, [BAD, GOOD], metrics=["m2"], fail_if=["m2 < 0"])


def test_warnings_are_shown_as_before_and_heard() -> None:
    with pytest.warns(DataWarning, match="odd"), captured_warnings() as heard:
        warnings.warn("odd", DataWarning, stacklevel=1)
    made = build_report_page(ReportInputs(corpus=CORPUS, systems=[GOOD], warnings=["<odd>"]))
    assert made.sections[0].key == "findings"
    assert "&lt;odd&gt;" in made.html
    assert heard in (["odd"], [])  # pytest records warnings before anybody can show them


NASTY = "<script>alert(1)</script> & \"quotes' \u202e\x1b[2J"
SCORED = Table(
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
    made = render_page(
        NASTY,
        [
            Section("a", NASTY, table_html(SCORED, "a"), styles=["b{}"], scripts=["1;", "2;"]),
            Section("b", "B", table_html(SCORED, "b", folded=True), scripts=["1;"]),
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
    made = table_html(SCORED, "key", best=["F0.5"])
    assert 'data-v="0.35006123456789">0.3501<' in made
    assert '<td class="n best" data-v="0.35006123456789">' in made
    assert 'data-v="0.5">0.5000 ± 0.2500<' in made
    assert 'data-v="0.25">0.2500 – 0.5000<' in made
    held = json.loads(re.search(r'class="data">(.*?)</script>', made)[1])  # type: ignore[index]
    assert held["tsv"] == render(SCORED, "tsv")
    assert held["latex"] == render(SCORED, "latex")
    assert "a remark" in made
    assert '<tr class="rule">' in made
    assert made.count("<tr") == 3
    assert ">a()\nb()</code>" in table_html(replace(SCORED, signature="a()\nb()"), "key")
    plain = plain_table_html(SCORED)
    assert plain == render(SCORED, "html")
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
    made = render_page("x", [Section("a", "A", table_html(SCORED, "a"))])
    used = terms_used([made])
    assert {"rank", "confidence interval", "F0.5", "system"} <= {term.name for term in used}
    for term in used:
        assert made.count(f'id="term-{term.key}"') == 1
    assert 'id="term-kappa"' not in made  # what no heading names is not explained


def test_sections_have_addresses_that_differ() -> None:
    with pytest.raises(InputError, match="two sections have the key 'a'"):
        render_page("x", [Section("a", "A", ""), Section("a", "B", "")])
    with pytest.raises(InputError, match="invalid section key"):
        Section("A b", "A", "")


def test_without_jinja2_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    html_table._jinja_environment.cache_clear()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'errata-gec\[report\]'"):
        render_page("x", [])
    assert "0.3501" in plain_table_html(SCORED)  # a notebook needs none
    monkeypatch.undo()
    html_table._jinja_environment.cache_clear()


def test_what_wide_gaps_part_stays_apart() -> None:
    """Of '* best   = not significantly different from it' HTML would make one sentence."""
    table = Table(("a",), ((1,),), caption="* best   = not told apart\n  note: below")
    for shown in (table_html(table, "t"), plain_table_html(table)):
        assert "* best \N{MIDDLE DOT} = not told apart" in shown
        assert "\N{MIDDLE DOT} note" not in shown
