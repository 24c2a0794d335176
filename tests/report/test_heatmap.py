"""The difficulty heat map as a page, in a terminal and as a picture."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from browser import (
    assert_accessible,
    assert_fits,
    assert_quiet,
    choose,
    css,
    dark,
    narrow,
    opened,
    press,
    printing,
    until,
)
from errata.core.errors import DataWarning, InputError
from errata.data import Corpus, Hypotheses
from errata.difficulty.heatmap import (
    Segment,
    heat_map,
    heat_map_figure,
    heat_map_text,
    marked_sentences,
    parse_range,
    shade_of_weight,
)
from errata.io import read_hypotheses_m2, read_m2
from errata.io.m2 import parse_m2
from errata.metrics.difficulty import DifficultyMap, build_difficulty_map
from nasty_texts import NASTY as MARKUP

NASTY = 'He write <script>alert("x")</script> & "quotes\' {{data}} </script><!--'


@pytest.fixture
def found() -> DifficultyMap:
    right = ("He goes home .", "She likes tea", NASTY.replace("write", "writes"), "All is well .")
    right += ("Tag <img/src=x>",)
    sources = ("He go home", "She like a tea", NASTY, "All is well .", "Tag it")
    wild = ("He went to home", "She likes a tea", NASTY, "All is very well .", "Tag it")
    outputs = {"perfect": right, "</script><b>bold</b>": sources, "wild": wild}
    systems = [Hypotheses(name, texts) for name, texts in outputs.items()]
    return build_difficulty_map(Corpus.from_texts(sources, [right]), systems)


class Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.inside: list[str] = []
        self.main = ""
        self.data = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.inside.append("data" if dict(attrs).get("id") == "data" else tag)

    def handle_endtag(self, tag: str) -> None:
        if self.inside:
            self.inside.pop()

    def handle_data(self, data: str) -> None:
        if "data" in self.inside:
            self.data += data
        elif "main" in self.inside:
            self.main += data


def test_pieces(found: DifficultyMap) -> None:
    first = marked_sentences(found)[0].pieces
    assert first == (
        Segment("plain", "He"),
        Segment("error", "go", 1 - 1 / 3, "R:INFL", "goes", (0,), (("went to", (2,)),)),
        Segment("plain", "home"),
        Segment("error", "", 1 - 1 / 3, "M:PUNCT", ".", (0,)),
    )
    alarm = marked_sentences(found)[3].pieces[1]
    assert (alarm.what, alarm.text, alarm.wrong) == ("alarm", "", (("very", (2,)),))
    assert [row.sentence for row in marked_sentences(found, range(1, 3))] == [1, 2]
    for row in marked_sentences(found):
        text = " ".join(p.text for p in row.pieces if p.text)
        assert text.split() == found.corpus.sources[row.sentence].split()


def test_the_page_shows_every_text_as_text(found: DifficultyMap) -> None:
    text = heat_map(found, title='<i>"title"</i>', signature="a<b")
    assert "<h1>&lt;i&gt;&#34;title&#34;&lt;/i&gt;</h1>" in text
    assert ">a&lt;b</footer>" in text
    page = Page(text)
    assert [tag for tag, _ in page.tags].count("script") == 2  # data and code, nothing smuggled
    assert '<script>alert("x")</script> & "quotes\' {{data}} </script><!--' in page.main
    data = json.loads(page.data)
    assert data["systems"] == ["perfect", "</script><b>bold</b>", "wild"]
    errors = [mark for mark in data["marks"] if mark[0] == 0]
    assert [mark[3:6] for mark in errors][:2] == [["go", "goes", [0]], ["", ".", [0]]]


def test_page_needs_nothing_else_and_is_known_by_its_hashes(found: DifficultyMap) -> None:
    text = heat_map(found)
    page = Page(text)
    assert not {"link", "img", "iframe", "object", "embed", "base"} & {t for t, _ in page.tags}
    assert not any("src" in attributes for _, attributes in page.tags)
    assert all((a.get("href") or "#").startswith("#") for t, a in page.tags if t == "a")
    assert not re.search(r"https?:|url\(|@import|fetch\(|XMLHttp|innerHTML|document\.write", text)
    policy = next(a["content"] for t, a in page.tags if a.get("http-equiv"))
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    for element, directive in (("style", "style-src"), ("script", "script-src")):
        [content] = re.findall(rf"<{element}>(.*?)</{element}>", text, re.S)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}';" in policy
    assert not re.search(r"<[^>]* (style|on[a-z]+)=", text)  # nothing that a hash does not cover


def test_kinds_and_names_are_texts_in_the_menus_and_in_the_data() -> None:
    nasty = "<img src=x onerror=alert(1)>"
    corpus = parse_m2(["S a b", f"A 0 1|||{nasty}|||A|||REQUIRED|||-NONE-|||0"]).corpus
    page = heat_map(build_difficulty_map(corpus, [Hypotheses(f"</option>{nasty}", ("a b",))]))
    escaped = "&lt;img src=x onerror=alert(1)&gt;"
    assert f'<option value="0">{escaped} (1)</option>' in page
    assert f'<option value="0">&lt;/option&gt;{escaped}</option>' in page
    assert "<img" not in page
    data = page.partition('<script id="data" type="application/json">')[2].partition("</script>")[0]
    assert not set(data) & set("<>&")
    assert json.loads(data)["kinds"] == [nasty]


@pytest.mark.parametrize("show", [heat_map, heat_map_text])
def test_no_control_character_reaches_a_map(show: Callable[[DifficultyMap], str]) -> None:
    steering = "\x1b]0;x\x07\x9b\u202e"
    corpus = parse_m2(
        f"S a b{steering} c\nA 0 1|||K{steering}|||A{steering}|||REQUIRED|||-|||0\n".split("\n")
    ).corpus
    system = Hypotheses(f"S{steering}", (f"a{steering} b c",))
    shown = show(build_difficulty_map(corpus, [system]))
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", shown)
    assert r"\x1b]0;x\x07\x9b\u202e" in shown


def test_a_part_of_the_page(found: DifficultyMap) -> None:
    assert "She" not in Page(heat_map(found, sentences=range(1))).main
    assert "1 sentence, 2 errors; weights from 3 systems" in heat_map(found, sentences=range(1))


def test_bad_ranges() -> None:
    for text in ("", "x", "0-3", "3-2", "2-", "1-5", "-2"):
        with pytest.raises(InputError):
            parse_range(text, 4)


def test_long_lines_go_on_below_the_first_word(found: DifficultyMap) -> None:
    wrapped = heat_map_text(found, width=24, sentences=range(2))
    assert wrapped.splitlines() == [
        "1  He [go → goes .67]",
        "   home [‸ → . .67]",
        "2  She",
        "   [like → likes .33]",
        "   [a → ∅ .67] tea",
    ]
    coloured = heat_map_text(found, width=24, sentences=range(2), colours=True)
    assert "\x1b[48;2;" in coloured
    assert re.sub("\x1b\\[[0-9;]*m", "", coloured) == wrapped
    chinese = Corpus.from_texts(["他 昨天 去 了"], [["他 昨天 去 了"]])
    narrow = heat_map_text(
        build_difficulty_map(chinese, [Hypotheses("A", chinese.sources)]), width=12
    )
    assert narrow.splitlines() == ["1  他 昨天", "   去 了"]  # a character takes two cells


def test_pictures(found: DifficultyMap) -> None:
    pytest.importorskip("matplotlib")
    assert heat_map_figure(found, range(4)).startswith(b"\x89PNG")
    drawn = heat_map_figure(found, range(4), form="svg")
    assert drawn == heat_map_figure(found, range(4), form="svg")
    svg = drawn.decode()
    for word in ("goes", "likes", "alert", "well", "by no system"):
        assert word in svg
    assert shade_of_weight(2 / 3)[0] in svg
    with pytest.raises(InputError, match="'svg', 'png', 'pdf'"):
        heat_map_figure(found, range(4), form="gif")  # type: ignore[arg-type]


def test_characters_that_cannot_be_drawn_are_named_once() -> None:
    pytest.importorskip("matplotlib")
    found = build_difficulty_map(
        Corpus.from_texts(["\U0001e2d0 \U0001e2d1 a"], [["a"]]), [Hypotheses("A", ("a",))]
    )
    with pytest.warns(DataWarning, match="font has \U0001e2d0 \U0001e2d1: boxes") as said:
        heat_map_figure(found, range(1))
    assert len(said) == 1
    arabic = build_difficulty_map(
        Corpus.from_texts(["كتاب"], [["الكتاب"]]), [Hypotheses("A", ("كتاب",))]
    )
    with pytest.warns(DataWarning, match="from left to right"):
        heat_map_figure(arabic, range(1))


@pytest.fixture
def page(browser: Any, tmp_path: Path) -> Any:
    right = ("He goes home .", "She likes tea", MARKUP.replace("write", "writes"), "All is well .")
    sources = ("He go home", "She like a tea", MARKUP, "All is well .")
    wild = ("He went to home", "She likes a tea", MARKUP, "All is very well .")
    outputs = {"perfect": right, "<b>bold</b>": sources, "wild": wild}
    systems = [Hypotheses(name, texts) for name, texts in outputs.items()]
    found = build_difficulty_map(Corpus.from_texts(sources, [right]), systems)
    return shown_map(browser, tmp_path, heat_map(found))


def shown_map(browser: Any, folder: Path, text: str, fragment: str = "") -> Any:
    (folder / "map.html").write_text(text, encoding="utf-8")
    return opened(browser, folder / "map.html", fragment)


def shown(browser: Any) -> list[str]:
    return [p.get_attribute("id") for p in css(browser, "main p") if p.is_displayed()]


def count(browser: Any) -> str:
    return str(browser.find_element("id", "count").text)


def reset(browser: Any) -> None:
    browser.find_element("css selector", "button[type=reset]").click()


@pytest.mark.browser
def test_journey_through_a_map(page: Any) -> None:
    """Texts, details, filters and keys of a page that is quiet and accessible."""
    from selenium.webdriver import ActionChains, Keys

    assert page.title == "Difficulty heat map"
    sentence = page.find_element("id", "s3").text
    assert '<script>document.title="pwned"</script> & "quotes\'' in sentence
    assert "<img src=x onerror=alert(1)>" in sentence
    assert css(page, "main script, main img, main b") == []
    assert css(page, ".error u")[0].value_of_css_property("background-color") != "rgba(0, 0, 0, 0)"
    assert_quiet(page)
    assert_accessible(page)
    with narrow(page):
        assert_fits(page)
    tip = page.find_element("id", "tip")
    assert not tip.is_displayed()
    ActionChains(page).move_to_element(css(page, "#s1 .error")[0]).perform()
    for text in ("R:INFL", "goes", "0.667", "1 of 3: perfect", "went to", "wild"):
        assert text in tip.text
    ActionChains(page).move_to_element(page.find_element("tag name", "h1")).perform()
    assert not tip.is_displayed()

    assert count(page) == "5 errors, 1 false alarm in 4 sentences"
    choose(page, "kind", "R:INFL (3)")
    assert shown(page) == ["s1", "s2", "s3"]
    assert count(page) == "3 errors, 0 false alarms in 3 sentences"
    choose(page, "kind", "all kinds")
    low = page.find_element("id", "low")
    low.clear()
    assert count(page) == "5 errors, 1 false alarm in 4 sentences"  # an empty bound is no bound
    low.send_keys("0.5")
    assert shown(page) == ["s1", "s2", "s3"]
    assert "off" in css(page, "#s2 .error")[0].get_attribute("class")  # its weight is 1/3
    deleted = css(page, "#s2 .del u")[0]
    assert "line-through" in deleted.value_of_css_property("text-decoration")
    choose(page, "kind", "M:PUNCT (1)")
    assert "line-through" not in deleted.value_of_css_property("text-decoration")
    reset(page)
    state = page.find_element("id", "state")
    assert not state.is_enabled()
    choose(page, "system", "<b>bold</b>")
    assert state.is_enabled()
    assert count(page).startswith("0 errors")
    choose(page, "state", "does not correct it")
    assert count(page).startswith("5 errors")
    choose(page, "system", "wild")
    choose(page, "state", "raises a false alarm")
    assert shown(page) == ["s4"]
    choose(page, "system", "perfect")
    choose(page, "state", "alone corrects it")
    assert count(page) == "4 errors, 0 false alarms in 3 sentences"
    reset(page)
    until(page, "arguments[0].disabled", state)

    def after(key: str) -> str:
        press(page, key)
        return str(page.execute_script("return document.activeElement.dataset.i"))

    page.find_element("tag name", "body").click()
    assert [after(Keys.ARROW_RIGHT) for _ in range(6)] == ["0", "1", "2", "3", "4", "5"]
    assert tip.is_displayed()
    assert after(Keys.ARROW_LEFT) == "4"
    assert after(Keys.ARROW_UP) == "3"  # the sentence before
    assert after(Keys.ARROW_DOWN) == "4"
    after(Keys.ESCAPE)
    assert not tip.is_displayed()
    after("/")
    assert page.execute_script("return document.activeElement.id") == "text"
    # Tab from the last control goes to one mark only, not through thousands.
    assert len(css(page, 'main .m[tabindex="0"]')) == 1


@pytest.mark.browser
@pytest.mark.long
def test_page_in_every_light_in_print_and_under_its_policy(page: Any) -> None:
    with narrow(page):
        assert_accessible(page)
    with dark(page):
        assert_accessible(page)
    weight, correction, alarm = (css(page, each)[0] for each in ("#s1 sup", "#s1 i", "#s4 .alarm"))
    with printing(page):
        assert not page.find_element("id", "filters").is_displayed()
        assert weight.is_displayed()
        assert correction.is_displayed()
    for name, what, before in (
        ("alarms", alarm, True),
        ("corrections", correction, True),
        ("weights", weight, False),
    ):
        assert what.is_displayed() is before
        page.find_element("id", name).click()
        assert what.is_displayed() is not before

    # The policy lets no script run but the page's own.
    page.execute_script(
        "const s = document.createElement('script'); s.textContent = 'document.title = \"run\"';"
        "document.body.append(s);"
        "document.body.insertAdjacentHTML('beforeend', '<b id=t style=\"color:red\">x</b>');"
    )
    assert page.title != "run"
    red = page.execute_script("return getComputedStyle(document.getElementById('t')).color")
    assert red != "rgb(255, 0, 0)"
    refused = [entry["message"] for entry in page.get_log("browser")]
    assert len(refused) == 2
    assert all("Content Security Policy" in message for message in refused)


@pytest.mark.browser
@pytest.mark.long
def test_a_test_set_is_shown(browser: Any, oracles: Path, conll14: Path, tmp_path: Path) -> None:
    corpus = read_m2(conll14 / "conll14st-test.m2").keep_annotators(0)
    systems = read_hypotheses_m2(oracles / "difficulty" / "hypotheses.m2.gz")
    shown_map(browser, tmp_path, heat_map(build_difficulty_map(corpus, systems)))
    assert count(browser) == "2,379 errors, 5,612 false alarms in 1,312 sentences"
    assert len(css(browser, "main p")) == 1312
    assert_quiet(browser)
    filtering = browser.execute_script(
        "const t = performance.now(); apply(); return performance.now() - t"
    )
    print(f"{filtering:.0f} ms for one filter over everything")
