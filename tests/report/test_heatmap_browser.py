"""The heat map in a real browser: Chromium from the system packages, without a screen."""

from __future__ import annotations

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
    screenshot,
    until,
)
from errata.data import Corpus, Hypotheses
from errata.io import read_hypotheses_m2, read_m2
from errata.metrics.difficulty import Difficulty
from errata.metrics.difficulty.map import map_difficulty
from errata.report.heatmap.page import heat_map

pytestmark = pytest.mark.browser
NASTY = 'He write <script>document.title="pwned"</script> & "quotes\' <img src=x onerror=alert(1)>'


@pytest.fixture
def page(browser: Any, tmp_path: Path) -> Any:
    """A small map with nasty sentences and names, opened."""
    corpus = Corpus.from_texts(
        ["He go home", "She like a tea", NASTY, "All is well ."],
        [["He goes home .", "She likes tea", NASTY.replace("write", "writes"), "All is well ."]],
    )
    right = tuple(
        refs[0].corrected(s) for s, refs in zip(corpus.sources, corpus.references, strict=True)
    )
    found = map_difficulty(
        corpus,
        [
            Hypotheses("perfect", right),
            Hypotheses("<b>bold</b>", corpus.sources),
            Hypotheses("wild", ("He went to home", "She likes a tea", NASTY, "All is very well .")),
        ],
    )
    path = tmp_path / "map.html"
    path.write_text(heat_map(found), encoding="utf-8")
    return opened(browser, path)


def shown(browser: Any) -> list[str]:
    return [p.get_attribute("id") for p in css(browser, "main p") if p.is_displayed()]


def count(browser: Any) -> str:
    return str(browser.find_element("id", "count").text)


def test_markup_in_a_sentence_is_text(page: Any) -> None:
    assert page.title == "Difficulty heat map"
    sentence = page.find_element("id", "s3").text
    assert '<script>document.title="pwned"</script> & "quotes\'' in sentence
    assert "<img src=x onerror=alert(1)>" in sentence
    assert css(page, "main script, main img, main b") == []
    assert_quiet(page)


def test_a_script_that_is_not_the_page_s_own_is_not_run(page: Any) -> None:
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


def test_the_policy_lets_the_page_itself_work(page: Any) -> None:
    assert css(page, "#count")[0].text  # written by the script
    assert css(page, ".error u")[0].value_of_css_property("background-color") != "rgba(0, 0, 0, 0)"
    assert_quiet(page)


def test_everybody_can_use_it(page: Any) -> None:
    screenshot(page, "heatmap")
    assert_accessible(page)
    with narrow(page):
        screenshot(page, "heatmap-narrow")
        assert_fits(page)
        assert_accessible(page)
    with dark(page):
        screenshot(page, "heatmap-dark")
        assert_accessible(page)


def test_pointing_shows_the_details(page: Any) -> None:
    from selenium.webdriver import ActionChains

    mark = css(page, "#s1 .error")[0]
    tip = page.find_element("id", "tip")
    assert not tip.is_displayed()
    ActionChains(page).move_to_element(mark).perform()
    assert tip.is_displayed()
    for text in ("R:INFL", "goes", "0.667", "1 of 3: perfect", "went to", "wild"):
        assert text in tip.text
    ActionChains(page).move_to_element(page.find_element("tag name", "h1")).perform()
    assert not tip.is_displayed()


def test_filters(page: Any) -> None:
    assert count(page) == "5 errors, 1 false alarm in 4 sentences"
    choose(page, "kind", "R:INFL (3)")
    assert shown(page) == ["s1", "s2", "s3"]
    assert count(page) == "3 errors, 0 false alarms in 3 sentences"
    choose(page, "kind", "all kinds")
    low = page.find_element("id", "low")
    low.clear()
    low.send_keys("0.5")
    assert shown(page) == ["s1", "s2", "s3"]
    assert "off" in css(page, "#s2 .error")[0].get_attribute("class")  # its weight is 1/3
    deleted = css(page, "#s2 .del u")[0]
    assert "line-through" in deleted.value_of_css_property("text-decoration")
    choose(page, "kind", "M:PUNCT (1)")
    assert "line-through" not in deleted.value_of_css_property("text-decoration")
    page.find_element("css selector", "button[type=reset]").click()
    choose(page, "system", "<b>bold</b>")
    assert count(page).startswith("0 errors")
    choose(page, "state", "does not correct it")
    assert count(page).startswith("5 errors")
    choose(page, "system", "wild")
    choose(page, "state", "raises a false alarm")
    assert shown(page) == ["s4"]
    choose(page, "system", "perfect")
    choose(page, "state", "alone corrects it")
    assert count(page) == "4 errors, 0 false alarms in 3 sentences"
    page.find_element("css selector", "button[type=reset]").click()
    page.find_element("id", "text").send_keys("TEA")
    assert shown(page) == ["s2"]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("he go home", ["s1"]),  # as the learner wrote it, over a mark
        ("goes home .", ["s1"]),  # as it is corrected
        ("likes a tea", []),  # neither
        ("is  well", ["s4"]),  # over the place of a false alarm
        ("0.67", []),
        ("2", []),  # weights and numbers of sentences are no text
    ],
)
def test_search_reads_sentences_and_not_marks(page: Any, words: str, found: list[str]) -> None:
    page.find_element("id", "text").send_keys(words)
    assert shown(page) == found


def test_what_a_system_did_can_be_asked_once_a_system_is_chosen(page: Any) -> None:
    state = page.find_element("id", "state")
    assert not state.is_enabled()
    choose(page, "system", "wild")
    assert state.is_enabled()
    page.find_element("css selector", "button[type=reset]").click()
    until(page, "arguments[0].disabled", state)


def test_an_empty_bound_is_no_bound(page: Any) -> None:
    for name in ("low", "high"):
        page.find_element("id", name).clear()
    assert count(page) == "5 errors, 1 false alarm in 4 sentences"


def test_a_link_to_a_sentence_shows_it_below_the_filters(browser: Any, tmp_path: Path) -> None:
    gold = Corpus.from_texts(["He go home"] * 60, [["He goes home"] * 60])
    found = map_difficulty(gold, [Hypotheses("A", gold.sources)])
    (tmp_path / "long.html").write_text(heat_map(found), encoding="utf-8")
    opened(browser, tmp_path / "long.html", "s30")
    top, bottom = browser.execute_script(
        "return [document.getElementById('s30').getBoundingClientRect().top,"
        " document.querySelector('header').getBoundingClientRect().bottom]"
    )
    assert top >= bottom


def test_weights_above_one_are_shown(browser: Any, tmp_path: Path) -> None:
    gold = Corpus.from_texts(["He go home"], [["He goes home"]])
    found = map_difficulty(gold, [Hypotheses("A", gold.sources)], Difficulty(a=2.5))
    (tmp_path / "a.html").write_text(heat_map(found), encoding="utf-8")
    opened(browser, tmp_path / "a.html")
    assert count(browser) == "1 error, 0 false alarms in 1 sentence"


def test_what_is_concealed_at_first_can_be_shown(browser: Any, tmp_path: Path) -> None:
    gold = Corpus.from_texts(["He go home", "I am here"], [["He goes to home", "I am here"]])
    found = map_difficulty(gold, [Hypotheses("A", ("He goes home", "I was here"))])
    (tmp_path / "c.html").write_text(heat_map(found, conceal=["omissions", "alarms"]), "utf-8")
    opened(browser, tmp_path / "c.html")
    assert count(browser) == "1 error, 0 false alarms in 2 sentences"
    omission, alarm = css(browser, "main .error.ins")[0], css(browser, "main .alarm u")[0]
    assert not omission.is_displayed()
    assert alarm.value_of_css_property("background-color") == "rgba(0, 0, 0, 0)"
    for name in ("omissions", "alarms"):
        browser.find_element("id", name).click()
    assert omission.is_displayed()
    assert count(browser) == "2 errors, 1 false alarm in 2 sentences"


def test_false_alarms_corrections_and_weights_can_be_switched(page: Any) -> None:
    alarm = css(page, "#s4 .alarm")[0]
    assert alarm.is_displayed()
    page.find_element("id", "alarms").click()
    assert not alarm.is_displayed()
    correction = css(page, "#s1 i")[0]
    assert correction.is_displayed()
    page.find_element("id", "corrections").click()
    assert not correction.is_displayed()
    weight = css(page, "#s1 sup")[0]
    assert not weight.is_displayed()
    page.find_element("id", "weights").click()
    assert weight.is_displayed()


def test_the_keyboard_reaches_every_mark(page: Any) -> None:
    from selenium.webdriver import Keys

    def after(key: str) -> str:
        press(page, key)
        return str(page.execute_script("return document.activeElement.dataset.i"))

    page.find_element("tag name", "body").click()
    assert [after(Keys.ARROW_RIGHT) for _ in range(6)] == ["0", "1", "2", "3", "4", "5"]
    assert page.find_element("id", "tip").is_displayed()
    assert after(Keys.ARROW_LEFT) == "4"
    assert after(Keys.ARROW_UP) == "3"  # the sentence before
    assert after(Keys.ARROW_DOWN) == "4"
    after(Keys.ESCAPE)
    assert not page.find_element("id", "tip").is_displayed()
    after("/")
    assert page.execute_script("return document.activeElement.id") == "text"
    # Tab from the last control goes to one mark only, not through thousands.
    assert len(css(page, 'main .m[tabindex="0"]')) == 1


def test_print_shows_weights_and_corrections_without_controls(page: Any) -> None:
    with printing(page):
        assert not page.find_element("id", "filters").is_displayed()
        assert css(page, "#s1 sup")[0].is_displayed()
        assert css(page, "#s1 i")[0].is_displayed()


def test_a_whole_test_set_stays_quick(
    browser: Any, oracles: Path, conll14: Path, tmp_path: Path
) -> None:
    corpus = read_m2(conll14 / "conll14st-test.m2").keep_annotators(0)
    systems = read_hypotheses_m2(oracles / "difficulty" / "hypotheses.m2.gz")
    (tmp_path / "map.html").write_text(heat_map(map_difficulty(corpus, systems)), "utf-8")
    opened(browser, tmp_path / "map.html")
    assert count(browser) == "2,379 errors, 5,612 false alarms in 1,312 sentences"
    assert len(css(browser, "main p")) == 1312
    assert_quiet(browser)
    # Milliseconds of script for one filter over everything, and per frame of scrolling.
    filtering = browser.execute_script(
        "const t = performance.now(); apply(); return performance.now() - t"
    )
    frames = browser.execute_async_script("""
        const done = arguments[0], times = []; let last = performance.now(), n = 0;
        function step(now) { times.push(now - last); last = now; scrollBy(0, 400);
          if (++n < 60) requestAnimationFrame(step);
          else { times.sort((a, b) => a - b); done(times[30]); } }
        requestAnimationFrame(step);""")
    print(f"filter {filtering:.0f} ms, median frame {frames:.0f} ms")
    # Bounds a hundred times what is measured: they catch a page that hangs, not a busy machine.
    assert filtering < 3000
    assert frames < 1000
