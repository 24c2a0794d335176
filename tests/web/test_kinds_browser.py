"""Every kind of task in a real Chromium: each key of the table, pointer, finger, marks, sizes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from browser import assert_fits, css, dark, narrow, press, until
from errata.collect.items import CampaignTexts
from judge_pages import (
    KINDS,
    ServedCampaign,
    answer_by_keys,
    assert_fine,
    at_work,
    campaign_served,
    click,
    control_enter,
    design_for,
    focused,
    stored,
    submit_done,
)

pytestmark = [pytest.mark.browser, pytest.mark.long]


@pytest.fixture(scope="module")
def campaigns_of(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with ExitStack() as stack:
        known: dict[str, ServedCampaign] = {}

        def find(kind: str) -> ServedCampaign:
            if kind not in known:
                folder = tmp_path_factory.mktemp(kind)
                known[kind] = stack.enter_context(campaign_served(folder, design_for(kind)))
            return known[kind]

        yield find


def answered(browser: Any) -> Any:
    """What is marked as chosen, in the order of the page: ids, and values of what is written."""
    return browser.execute_script(
        "return [...document.querySelectorAll('.number, .outputs input:checked')]"
        ".map(e => e.matches('.number') ? e.value : e.id)"
    )


MEASURED = """
return [...document.querySelectorAll('button, input, select, textarea, label[for], a')]
  .filter(e => e.checkVisibility() && !e.control?.matches('textarea, [type=range], [type=text]'))
  .map(e => [e.id || e.textContent, e.getBoundingClientRect()])
  .map(([name, box]) => [name, box.width, box.height])
  .filter(([, w, h]) => w > 0 && (w < 24 || h < 24));
"""
CONTROLS = ("button", "checkbox", "combobox", "link", "radio", "slider", "spinbutton", "textbox")


def screen_reader(browser: Any) -> list[dict[str, Any]]:
    browser.execute_cdp_cmd("Accessibility.enable", {})
    found = browser.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    browser.execute_cdp_cmd("Accessibility.disable", {})
    return [
        {
            "role": node["role"]["value"],
            "name": node.get("name", {}).get("value", "").strip(),
            "value": node.get("value", {}).get("value"),
            **{each["name"]: each["value"].get("value") for each in node.get("properties", ())},
        }
        for node in found
        if not node["ignored"]
    ]


STORED = {
    "rank": "'A': 1",
    "pair": "A",
    "score": "{'grammaticality': 100, 'fluency': 3}",
    "edits": "'1': 'good'",
    "correct": " too",
    "review": "{'accept': True}",
}


def click_answers(browser: Any, kind: str) -> None:
    if kind == "rank":
        for k, card in enumerate(css(browser, ".card")):
            click(browser, f"label[for=rank-{card.get_attribute('data-key')}-{k + 1}]")
    elif kind == "pair":
        click(browser, ".card[data-key=B]")
        assert answered(browser) == ["pair-B"]
        click(browser, "label[for=pair-equal]")
    elif kind == "score":
        click(browser, ".slider input[type=range]")
        click(browser, ".scale label[for$='-4']")
    elif kind == "edits":
        for card in css(browser, ".card"):
            click(browser, f"label[for=edit-{card.get_attribute('data-key')}-unsure]")
    elif kind == "correct":
        click(browser, "#unchanged")
    else:
        click(browser, "#accept")
    click(browser, ".submit .main")


@pytest.mark.parametrize("kind", KINDS)
def test_kind_by_keys_clicks_and_screen_reader(browser: Any, campaigns_of: Any, kind: str) -> None:
    """No person with a screen reader was at hand: the tree that Chromium gives it is checked."""
    one = campaigns_of(kind)
    judge = at_work(browser, one)
    assert "".join(answered(browser)) == ""  # nothing is preselected
    before = screen_reader(browser)
    controls = [node for node in before if node["role"] in CONTROLS]
    assert controls
    for node in controls:
        assert node["name"]
        assert node["role"] not in ("radio", "checkbox") or "checked" in node, node
    assert all(node["name"] for node in before if node["role"] == "radiogroup")
    assert [node for node in before if node.get("live") == "polite"]  # the status line
    if kind in ("rank", "pair", "review"):
        words = " ".join(node["name"] for node in before)
        assert "inserted" in words or "deleted" in words or "changed" in words, words
    answer_by_keys(browser, kind)
    after = [node for node in screen_reader(browser) if node["role"] in CONTROLS]
    assert after != controls  # what was chosen is told
    for width, height in ((320, 640), (320, 256)):  # a telephone; 1280 × 1024 at 400 %
        with narrow(browser, width, height):
            assert_fits(browser)
            assert browser.execute_script(MEASURED) == []
    with dark(browser):
        assert_fine(browser, one.server)
    assert_fine(browser, one.server)
    texts = css(browser, ".source .text, .card .text")
    assert all(t.get_attribute("dir") == "auto" and t.get_attribute("lang") for t in texts)
    spoken = browser.execute_script(
        "return [...document.querySelectorAll('ins, del')].map(e => e.textContent.split(':')[0])"
    )
    assert set(spoken) <= {"inserted", "deleted"}
    assert bool(spoken) == (kind != "correct")
    control_enter(browser)
    submit_done(browser, 1)
    stored(browser)
    click_answers(browser, kind)
    submit_done(browser, 2)
    stored(browser)
    row, other = one.answers(judge)
    assert other.skip is None
    assert STORED[kind] in str(row.answer)


# The table of keys: what is pressed, what is chosen then, and what has the focus (None: whatever).
RANK_KEYS = [
    (("j", "j"), [], "rank-B-1"),
    (("DOWN", "DOWN", "UP"), [], "rank-A-1"),
    (("END", "k"), [], "rank-B-1"),
    (("END", "HOME"), [], "rank-A-1"),
    (("2",), ["rank-A-2"], "rank-A-2"),
    (("2", "BACKSPACE"), [], None),
    (("2", "j", "="), ["rank-A-2", "rank-B-2"], "rank-B-2"),
    (("=",), [], None),
    (("9",), [], None),
    (("1", "ENTER"), ["rank-A-1"], "rank-B-1"),
    (("1", "ENTER", "1", "ENTER", "1", "ENTER"), ["rank-A-1", "rank-B-1", "rank-C-1"], "main"),
    (("1", "2", "z"), ["rank-A-1"], None),
]
PAIR_KEYS = [
    (("RIGHT",), ["pair-B"], "pair-B"),
    (("LEFT", "RIGHT"), ["pair-equal"], "pair-equal"),
    (("1",), ["pair-A"], "pair-A"),
    (("2",), ["pair-B"], "pair-B"),
    (("=",), ["pair-equal"], "pair-equal"),
    (("1", "0"), [], None),
    (("1", "ENTER"), ["pair-A"], "main"),
    (("1", "2", "z"), ["pair-A"], None),
]
EDITS_KEYS = [
    (("g",), ["edit-1-good"], "edit-1-good"),
    (("b",), ["edit-1-bad"], "edit-1-bad"),
    (("u",), ["edit-1-unsure"], "edit-1-unsure"),
    (("RIGHT", "RIGHT"), ["edit-1-bad"], "edit-1-bad"),
    (("g", "RIGHT", "LEFT"), ["edit-1-good"], "edit-1-good"),
    (("g", "BACKSPACE"), [], None),
    (("g", "ENTER"), ["edit-1-good"], "edit-2-good"),
    (("j", "j", "b", "k"), ["edit-2-bad"], "edit-1-good"),
    (("DOWN", "DOWN", "UP"), [], "edit-1-good"),
    (("g", "u", "z"), ["edit-1-good"], None),
]
SCORE_KEYS = [  # what is chosen is the number beside the first scale, and steps of the second
    (("RIGHT",), ["51"], None),
    (("LEFT",), ["49"], None),
    (("PAGE_UP",), ["60"], None),
    (("PAGE_DOWN",), ["40"], None),
    (("HOME",), ["0"], None),
    (("END", "RIGHT"), ["100"], None),
    (("END", "BACKSPACE"), [""], None),
    (("HOME", "END", "z"), ["0"], None),
    (("END", "ENTER", "3", "RIGHT", "ENTER"), ["100", "score-A-1-4"], "main"),
]
TABLES = {"rank": RANK_KEYS, "pair": PAIR_KEYS, "edits": EDITS_KEYS, "score": SCORE_KEYS}
EARLY = {
    "rank": ("1", "2", ["rank-A-1", "rank-B-2"]),
    "edits": ("g", "b", ["edit-1-good", "edit-2-bad"]),
    "score": ("END", "3", ["100", "score-A-1-3"]),
}


def pressed(browser: Any, names: tuple[str, ...]) -> None:
    from selenium.webdriver import Keys

    press(browser, *(getattr(Keys, n) if len(n) > 1 else n for n in names))


def again(browser: Any) -> None:
    browser.execute_script(
        "for (const k of Object.keys(localStorage)) if (k.includes(':draft:'))"
        " localStorage.removeItem(k)"
    )
    browser.refresh()
    until(browser, "document.querySelector('.work .outputs') !== null")


@pytest.mark.parametrize("kind", TABLES)
def test_every_key_of_the_table(browser: Any, campaigns_of: Any, kind: str) -> None:
    """Whoever submits too early is told what is missing, and is there: the next key answers it."""
    at_work(browser, campaigns_of(kind))
    for keys, chosen, focus in TABLES[kind]:
        again(browser)
        pressed(browser, keys)
        assert answered(browser) == chosen, keys
        if focus:
            assert focused(browser) == focus, keys
    if kind in EARLY:
        first, then, chosen = EARLY[kind]
        again(browser)
        pressed(browser, (first,))
        control_enter(browser)
        assert css(browser, ".problem")[0].text
        pressed(browser, (then,))
        assert answered(browser) == chosen


def test_letters_for_the_tools(browser: Any, campaigns_of: Any) -> None:
    from selenium.webdriver import Keys

    one = campaigns_of("rank")
    at_work(browser, one)
    assert css(browser, "ins, del")
    press(browser, "3", "m")  # nothing jumps: the choice, the focus and what can be undone stay
    assert css(browser, "ins, del") == []
    assert (answered(browser), focused(browser)) == (["rank-A-3"], "rank-A-3")
    press(browser, "z")
    assert answered(browser) == []
    for key, title in (("i", "Instructions"), ("x", "Skip"), ("?", "Keys")):
        press(browser, key)
        assert css(browser, "dialog h2")[0].text == title
        assert_fine(browser, one.server)
        press(browser, Keys.ESCAPE)
        assert css(browser, "dialog") == []
        assert focused(browser) == "rank-A-3"  # where it was
    press(browser, "c", "m1z")  # keys are off in text
    assert focused(browser) == "comment"
    assert css(browser, "#comment")[0].get_attribute("value") == "m1z"
    at_work(browser, one)  # keys rest during composition, and when they are switched off
    browser.execute_script(
        "document.activeElement.dispatchEvent(new KeyboardEvent('keydown',"
        " {key: '1', isComposing: true, bubbles: true}))"
    )
    assert answered(browser) == []
    press(browser, "?")
    css(browser, "#keys-on")[0].click()
    press(browser, Keys.ESCAPE)
    until(browser, "document.querySelector('dialog') === null")
    browser.refresh()  # it is remembered
    until(browser, "document.querySelector('.work .outputs') !== null")
    press(browser, "1", "x")
    assert answered(browser) == css(browser, "dialog") == []


NASTY = "<img src=x onerror=alert(1)> </script> &amp; \" ' {{ 7 * 7 }} \u202e"


@pytest.mark.parametrize("language", ["he", "de"])
def test_page_and_texts_from_the_right(browser: Any, tmp_path: Path, language: str) -> None:
    """In a language that is written from the right the page is turned round, and arrows with it."""
    from selenium.webdriver import Keys

    texts = CampaignTexts(
        ("היא אוהב את הספר הזה .", f"{NASTY} a b c"),
        {
            "A": ("היא אוהבת את הספר הזה .", f"{NASTY} a b d"),
            "B": ("היא אוהב ספר הזה .", f"{NASTY} a b e <b>x</b>"),
        },
    )
    words = {"language": language, "text_language": "he"}
    with campaign_served(tmp_path, design_for("pair", 1, quota=None), texts, words=words) as one:
        at_work(browser, one)
        seen = set()
        for _ in range(2):
            first, second = (
                browser.execute_script("return arguments[0].getBoundingClientRect().left", card)
                for card in css(browser, ".card")
            )
            assert (first < second) == (language == "de")
            press(browser, Keys.ARROW_LEFT)
            assert answered(browser) == ["pair-B" if language == "he" else "pair-A"]
            assert css(browser, "img, b, .text script") == []
            source = css(browser, ".source .text")[0]
            source_text = source.get_attribute("textContent")
            seen.add(source_text)
            turned = source.value_of_css_property("direction") == "rtl"
            assert turned or NASTY in source_text
            assert_fine(browser, one.server)
            with narrow(browser):
                assert_fits(browser)
            control_enter(browser)
            changed = "document.querySelector('.source .text')?.textContent !== arguments[0]"
            until(browser, changed, source_text)
        assert seen == {*texts.sources}
