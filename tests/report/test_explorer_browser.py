"""The sentence explorer in a real browser."""

from __future__ import annotations

import re
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
    until,
)
from errata.comparison.edits import judge_edits
from errata.data import Corpus, Hypotheses
from errata.metrics.difficulty import build_difficulty_map
from errata.metrics.errant import Edits
from errata.reports import explorer as reports_explorer
from errata.reports.explorer import explorer_section
from errata.reports.page import Section, render_page
from errata.scoring.evaluate import evaluate
from nasty_texts import CORRECT, SOURCES, WILD

pytestmark = pytest.mark.browser
SYSTEMS = (
    Hypotheses("perfect", CORRECT),
    Hypotheses("silent", SOURCES),
    Hypotheses("wild", WILD),
    Hypotheses("<b>bold</b>", CORRECT),
)
LEVELS = ["A1" if i % 2 else "B2" for i in range(len(SOURCES))]


def made() -> Section:
    corpus = Corpus.from_texts(SOURCES, [CORRECT])
    judge = Edits()
    return explorer_section(
        corpus,
        SYSTEMS,
        [evaluate(metric, corpus, list(SYSTEMS), resamples=0) for metric in ("edits", "gleu")],
        states=judge_edits(judge.for_sentences, corpus, SYSTEMS),
        difficulty=build_difficulty_map(corpus, SYSTEMS),
        base="silent",
        slices={"level": LEVELS},
    )


@pytest.fixture(scope="module")
def explorer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reports_explorer, "BLOCK", 20)
        text = render_page("Explorer", [Section("before", "Before", "<p>text</p>"), made()])
    path = tmp_path_factory.mktemp("explorer") / "page.html"
    path.write_text(text, encoding="utf-8")
    return path


def ready(browser: Any, path: Path, fragment: str = "sentences") -> Any:
    opened(browser, path, fragment)
    until(browser, "document.querySelector('[data-ready] .x-card table')")
    return browser


@pytest.fixture
def at(browser: Any, explorer: Path) -> Any:
    return ready(browser, explorer)


def said(browser: Any, count: str) -> None:
    until(browser, "document.getElementById('x-count').textContent === arguments[0]", count)


def numbers(browser: Any) -> list[int]:
    found = browser.execute_script(
        "return [...document.querySelectorAll('#x-rows h3')].map(h => h.textContent)"
    )
    return [int(title.split()[1]) for title in found]


def row(browser: Any, number: int, name: str) -> Any:
    found = browser.execute_script(
        "const card = document.getElementById(`x-title-${arguments[0]}`).closest('article');"
        "return [...card.querySelectorAll('tbody tr')]"
        ".find(row => row.cells[0].textContent.includes(arguments[1]))",
        number,
        name,
    )
    assert found is not None
    return found


def marks(browser: Any, element: Any) -> list[tuple[str, str]]:
    found = browser.execute_script(
        "return [...arguments[0].querySelectorAll('.x-edit')]"
        ".map(e => [e.className, e.textContent])",
        element,
    )
    return [(classes.split("x-")[-1], re.sub(r"\s+", " ", text)) for classes, text in found]


def current(browser: Any, number: int) -> None:
    title = "document.querySelector('.x-current h3')?.textContent"
    until(browser, f"{title} === arguments[0]", f"Sentence {number}")


def reset(browser: Any) -> None:
    browser.find_element("css selector", "#x-filters [type=reset]").click()
    said(browser, f"{ALL} sentences")


ALL = len(SOURCES)


def test_texts_are_aligned_and_edits_differ_by_state(at: Any) -> None:
    assert_quiet(at)
    assert_accessible(at)
    assert at.title == "Explorer"
    assert css(at, "#x-rows script, #x-rows img, #x-rows b") == []
    nasty = row(at, 3, "source").text
    assert '<script>document.title="pwned"</script> & "quotes\'' in nasty
    assert "<img src=x onerror=alert(1)>" in nasty
    both = row(at, 1, "perfect")
    assert "perfect, <b>bold</b>" in both.text  # one row: their outputs are the same
    ((state, spoken),) = marks(at, both)
    assert state == "right"
    assert "[right, R:INFL, difficulty 0.500: go goes]" in spoken
    assert [state for state, _ in marks(at, row(at, 1, "silent"))] == ["missed"]
    assert sorted(state for state, _ in marks(at, row(at, 1, "wild"))) == ["missed", "wrong"]
    assert [state for state, _ in marks(at, row(at, 1, "reference"))] == ["asked"]
    signs = {
        state: at.execute_script(
            "const e = document.querySelector(`#x-rows .x-${arguments[0]}`);"
            "return [e.querySelector('.x-sign').textContent, getComputedStyle("
            "e.querySelector('ins, .x-kept')).textDecorationStyle]",
            state,
        )
        for state in ("right", "missed", "wrong")
    }
    assert signs == {"right": ["✓", "solid"], "missed": ["○", "dotted"], "wrong": ["✗", "wavy"]}
    scores = [cell.text for cell in row(at, 1, "silent").find_elements("class name", "x-score")]
    exact = [
        evaluate(metric, Corpus.from_texts(SOURCES, [CORRECT]), [SYSTEMS[1]], resamples=0)
        for metric in ("edits", "gleu")
    ]
    assert scores == [f"{found.sentences[0, 0]:.4f}" for found in exact]  # type: ignore[index]
    # A right-to-left sentence that starts with an edit runs from the right, although what is said
    # of edits is English.
    until(at, "document.getElementById('x-title-4')")
    cell = row(at, 4, "perfect").find_element("class name", "x-text")
    assert cell.value_of_css_property("direction") == "rtl"
    at.execute_script("document.getElementById('x-list').scrollTop = 1e3")
    until(at, "document.getElementById('x-title-5')")
    room, *ends = at.execute_script(
        "return [...document.querySelectorAll('#x-list, #x-rows .x-text')]"
        ".map(e => e.getBoundingClientRect().right)"
    )
    assert max(ends) <= room  # the word of 1,000 characters wraps
    assert_fits(at)
    assert_quiet(at)


def test_filters(at: Any) -> None:
    """Each choice adds to those before it, until they are reset."""
    for chosen, count, first in (
        ([("state", "wrong")], 3, [1, 2, 6]),
        ([("system", "perfect")], 0, []),
        ([("state", "right")], ALL - 1, [1]),
        (None, ALL, [1]),
        ([("kind", "U:OTHER (1)")], 1, [2]),
        (None, ALL, [1]),
        ([("from", 0.2), ("to", 0.3)], 1, [2]),  # "likes": three of four systems have it
        (None, ALL, [1]),
        ([("slice0", "A1")], ALL // 2, [2, 4, 6]),
        (None, ALL, [1]),
        ([("system", "wild"), ("change", "worse")], 1, [6]),
        ([("change", "equal")], ALL - 2, []),
    ):
        if chosen is None:
            reset(at)
        for name, value in chosen or ():
            if isinstance(value, str):
                choose(at, f"x-{name}", value)
            else:
                at.find_element("id", f"x-{name}").send_keys(str(value))
        said(at, f"{count} of {ALL} sentences" if count < ALL else f"{ALL} sentences")
        assert numbers(at)[: len(first)] == first
        assert css(at, "#x-none")[0].is_displayed() == (count == 0)
    at.find_element("id", "x-others").click()
    until(at, "!document.querySelector('#x-rows').textContent.includes('perfect')")
    assert "silent" in css(at, "#x-rows")[0].text  # the base stays
    assert_quiet(at)


def test_links_carry_everything_and_the_browser_goes_back(browser: Any, explorer: Path) -> None:
    missed = f"{ALL - 1} of {ALL} sentences"
    at = ready(browser, explorer, "sentences?system=wild&state=wrong&n=6")
    said(at, f"3 of {ALL} sentences")
    assert at.find_element("id", "x-system").get_attribute("value") == "wild"
    current(at, 6)
    assert at.execute_script("return document.activeElement.className").startswith("x-card")
    choose(at, "x-state", "missed")
    said(at, missed)
    until(at, "location.hash.includes('state=missed')")
    choose(at, "x-kind", "R:INFL (4)")
    until(at, "decodeURIComponent(location.hash).includes('kind=R:INFL')")
    at.back()
    said(at, missed)
    assert at.find_element("id", "x-kind").get_attribute("value") == ""
    at.back()
    until(at, "location.hash.includes('state=wrong')")
    current(at, 6)
    at.forward()
    until(at, "location.hash.includes('state=missed')")
    said(at, missed)
    # A link that was copied opens the same in another window.
    at.execute_script("navigator.clipboard.writeText = async text => { window.copied = text; };")
    at.execute_script("document.querySelectorAll('#x-rows .x-link')[1].click()")
    copied = until(at, "window.copied")
    number = numbers(at)[1]
    assert copied.endswith(f"&n={number}")
    again = ready(browser, explorer, copied.partition("#")[2])
    current(again, number)
    said(again, missed)
    # What this page does not have is reported and does no harm.
    ready(browser, explorer, "sentences?n=999&system=nobody&sort=nothing&from=x&state=wrong")
    said(again, f"sentence 999 is not among those shown: 3 of {ALL} sentences")
    assert_quiet(again)
    # Going back and links of the page respect what was chosen.
    at = ready(browser, explorer, "")  # at the top of the page
    choose(at, "x-state", "wrong")
    said(at, f"3 of {ALL} sentences")
    for name in ("before", "sentences"):  # to another section and back by the page's own links
        at.execute_script("document.querySelector(`nav a[href='#${arguments[0]}']`).click()", name)
    until(at, "location.hash.includes('state=wrong')")
    said(at, f"3 of {ALL} sentences")
    for address in ("#before", "#sentences?state=wrong", ""):
        at.back()
        until(at, "location.hash === arguments[0]", address)
    said(at, f"{ALL} sentences")
    assert_quiet(at)


@pytest.mark.long
@pytest.mark.parametrize("tall", [reports_explorer.TALL, 5000])
def test_sentence_far_below(browser: Any, explorer: Path, tmp_path: Path, tall: int) -> None:
    """Also where the list would be taller than a browser can scroll."""
    text = explorer.read_text(encoding="utf-8")
    changed = re.sub(r'"tallest":\d+', f'"tallest":{tall}', text)
    assert (changed == text) == (tall == reports_explorer.TALL)
    (tmp_path / "page.html").write_text(changed, encoding="utf-8")
    at = ready(browser, tmp_path / "page.html", "sentences?n=61")
    current(at, 61)

    until(
        at,
        "Math.abs(document.querySelector('.x-current').getBoundingClientRect().top"
        " - document.getElementById('x-list').getBoundingClientRect().top) < 4",
    )
    assert 1 not in numbers(at)
    assert len(numbers(at)) < 20
    # Scrolling makes rows without holes, and the last one is reached.
    at.execute_script("document.getElementById('x-list').scrollTop = 1e9")
    until(at, "document.getElementById('x-title-66')")
    gaps = at.execute_script(
        "const boxes = [...document.querySelectorAll('#x-rows article')]"
        ".map(a => a.getBoundingClientRect());"
        "return boxes.slice(1).map((box, k) => Math.abs(box.top - boxes[k].bottom))"
    )
    assert max(gaps) < 1
    assert at.execute_script("return document.getElementById('x-list').scrollHeight") <= tall + 4


@pytest.mark.long
def test_keys_alone_are_enough(at: Any) -> None:
    from selenium.webdriver import Keys

    for keys, number in (("j", 1), ("jjj", 4), (Keys.ARROW_UP, 3), ("k", 2)):
        press(at, *keys)
        title = "document.activeElement.querySelector('h3')?.textContent"
        until(at, f"{title} === arguments[0]", f"Sentence {number}")
    until(at, "location.hash.endsWith('n=2')")
    press(at, "/", *"tea?")  # keys of one character are letters there
    said(at, f"0 of {ALL} sentences")
    press(at, Keys.BACKSPACE)
    said(at, f"1 of {ALL} sentences")
    press(at, Keys.ESCAPE, "?")
    assert css(at, "#x-help")[0].is_displayed()
    assert_accessible(at)
    at.find_element("id", "x-keys").click()
    press(at, Keys.ESCAPE, "/")  # turned off
    assert at.execute_script("return document.activeElement.id") != "x-q"
    assert_quiet(at)
    reset(at)
    # Everybody can use it.
    feed = at.find_element("id", "x-list")
    assert feed.get_attribute("role") == "feed"
    first = css(at, "#x-rows article")[0]
    assert first.get_attribute("aria-posinset") == "1"
    assert first.get_attribute("aria-setsize") == str(ALL)
    assert first.accessible_name == "Sentence 1"
    for name in ("x-kinds", "x-difficulty"):
        at.find_element("id", name).click()
    until(at, "getComputedStyle(document.querySelector('#x-rows .x-kind')).display === 'inline'")
    assert_accessible(at)
    with dark(at):
        assert_accessible(at)
    with narrow(at):
        at.execute_script("document.getElementById('x-list').scrollIntoView({behavior: 'instant'})")
        until(at, "document.querySelector('#x-rows .x-card table')")
        assert_fits(at)
        assert_accessible(at)


@pytest.mark.long
def test_the_difficulty_map_is_a_link_away(browser: Any, explorer: Path) -> None:
    """Errors are shaded by their weight, as the legend says, and keep their marks."""
    at = ready(browser, explorer)
    assert not css(at, ".x-scale")[0].is_displayed()
    plain = marks(at, row(at, 2, "wild"))
    at = ready(browser, explorer, "sentences?difficulty=true")

    def tints(root: str) -> dict[str, str]:
        found = at.execute_script(
            f"return [...document.querySelectorAll('{root} [class*=\" x-d\"]')]"
            ".map(e => [e.className.match(/ x-d([0-9]+)/)[1], getComputedStyle(e).backgroundColor])"
        )
        assert len({*map(tuple, found)}) == len({step for step, _ in found})
        return dict(found)

    assert css(at, ".x-scale")[0].is_displayed()
    shown, legend = tints("#x-rows"), tints(".x-scale")
    assert {*shown} == {"3", "5"}  # one or two of four systems miss it
    assert {*legend} == {"0", "2", "4", "6", "8", "10"}
    assert shown["5"] == "rgb(239, 101, 72)"
    assert [state for state, _ in marks(at, row(at, 2, "wild"))] == [state for state, _ in plain]
    wrong = css(at, "#x-rows .x-wrong")[0]
    assert wrong.value_of_css_property("background-color") == "rgba(0, 0, 0, 0)"  # no error
    assert_accessible(at)
    with dark(at):
        assert tints("#x-rows")["3"] == "rgb(199, 65, 51)"  # what is hard is light there
        assert_accessible(at)
    assert_quiet(at)
