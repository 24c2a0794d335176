"""Tutorial, qualification and panels as a participant sees them, in a real Chromium."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from browser import css, narrow, until
from errata.collect.design import Design, Panel
from errata.collect.web.judges import change_state
from judge_pages import assert_fine, campaign_served, click, fresh, headed
from served import KEY
from stored_campaigns import LESSONS, join_key_of

pytestmark = pytest.mark.browser


def rank(browser: Any, *, right: bool, words: str) -> str:
    """Rank the two texts of an example, read what is told of it, and go on.

    The text that has "goes" is the better one.
    """
    until(browser, "document.querySelectorAll('.card').length === 2")
    # The cards of the example before stand there until the notice has told that it was closed.
    until(browser, "!document.querySelector('.submit button.main').disabled")
    for card in css(browser, ".card"):
        chosen = 1 if ("goes" in card.text) is right else 2
        click(browser, f"label[for=rank-{card.get_attribute('data-key')}-{chosen}]")
    css(browser, ".submit button.main")[0].click()
    until(browser, "document.querySelector('dialog[open]') !== null")
    told = str(css(browser, "dialog[open]")[0].text)
    assert words in told
    return told


def go_on(browser: Any) -> None:
    css(browser, "dialog[open] button.main")[0].click()
    until(browser, "document.querySelector('dialog[open]') === null")


@pytest.mark.long
@pytest.mark.parametrize("passes", [False, True])
def test_tutorial_leads_to_work_or_ends(browser: Any, tmp_path: Path, passes: bool) -> None:
    design = Design(judges=1, pass_mark=1.0)
    with campaign_served(tmp_path, design, examples=LESSONS, words={}) as one:
        fresh(browser, one.server.link())
        for attempt in (1, 2):
            told = rank(browser, right=True, words="That is how we see it too")
            assert "stands there twice <b>." in told
            assert_fine(browser, one.server)
            with narrow(browser):
                assert_fine(browser, one.server)
            go_on(browser)
            if passes:
                rank(browser, right=True, words="That is how we see it too")
                go_on(browser)
                break
            told = rank(browser, right=False, words="We see it differently")
            assert ("once more" in told) == (attempt == 1)
            go_on(browser)
        if passes:
            until(browser, "document.querySelector('.counted').textContent.endsWith(' done')")
            until(browser, "!document.querySelector('.counted').textContent.startsWith('Practice')")
            until(browser, "document.querySelectorAll('.card').length > 1")
        else:
            headed(browser, "Thank you for trying")
        assert_fine(browser, one.server)


def test_from_the_panels_link_to_the_code(browser: Any, tmp_path: Path) -> None:
    panel = Panel("prolific", 1, code="C0DE-77", back="https://example.org/done?cc={code}")
    design = Design(judges=1, quota=1, repeats=0, controls=0)
    with campaign_served(tmp_path, design, words={"panel": panel.to_json()}) as one:
        server = one.server
        door = f"{server.address}join/{join_key_of(one.campaign.database, bytes.fromhex(KEY))}"
        fresh(browser, f"{door}?PROLIFIC_PID=p1&SESSION_ID=s1&STUDY_ID=x")
        until(browser, "document.querySelectorAll('.card').length > 1")
        assert browser.current_url.startswith(f"{server.address}judge#j")
        assert "p1" not in browser.current_url
        for card in css(browser, ".card"):
            click(browser, f"label[for=rank-{card.get_attribute('data-key')}-1]")
        css(browser, ".submit button.main")[0].click()
        headed(browser, "Thank you")
        assert css(browser, ".code output")[0].text == "C0DE-77"
        assert css(browser, "#status")[0].text == ""  # and not that the last one is being sent
        link = css(browser, "section.screen a")[0]
        assert link.get_attribute("href") == "https://example.org/done?cc=C0DE-77"
        assert_fine(browser, server)
        browser.refresh()  # the code is there tomorrow too
        headed(browser, "Thank you")
        assert css(browser, ".code output")[0].text == "C0DE-77"
        fresh(browser, f"{door}?PROLIFIC_PID=p2&SESSION_ID=s2")
        headed(browser, "This study is full")
        assert browser.current_url == door  # cleaned
        assert_fine(browser, server, refused=1)
        browser.refresh()  # loading it again works without the parameters in the address
        headed(browser, "This study is full")
        for state, address, title in (
            ("open", door, "Something is missing"),
            ("closed", f"{door}?PROLIFIC_PID=p3&SESSION_ID=s2", "This study is over"),
            ("closed", f"{server.address}join/wrong?PROLIFIC_PID=p3", "This link does not work"),
        ):
            if state == "closed" and "wrong" not in address:
                change_state(one.campaign.database, "closed")
            fresh(browser, address)
            headed(browser, title)
            assert_fine(browser, server, refused=1)
