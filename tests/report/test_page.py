"""Pages: what they carry, what they forbid, and the one HTML of a table."""

from __future__ import annotations

import html
import json
import re
import sys
from collections import Counter
from html.parser import HTMLParser

import pytest

from errata.core.errors import InputError, MissingExtraError
from errata.core.stats import Estimate, Interval
from errata.reports.page import Section, page
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
