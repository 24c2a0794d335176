"""The heat map in a real Chromium: a journey through its controls, and its odd cases."""

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
    until,
)
from errata.data import Corpus, Hypotheses
from errata.difficulty.heatmap import heat_map
from errata.io import read_hypotheses_m2, read_m2
from errata.metrics.difficulty import build_difficulty_map
from nasty_texts import NASTY

pytestmark = pytest.mark.browser


@pytest.fixture
def page(browser: Any, tmp_path: Path) -> Any:
    right = ("He goes home .", "She likes tea", NASTY.replace("write", "writes"), "All is well .")
    sources = ("He go home", "She like a tea", NASTY, "All is well .")
    wild = ("He went to home", "She likes a tea", NASTY, "All is very well .")
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
