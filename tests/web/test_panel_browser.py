"""Tutorial, qualification and panels as a participant sees them, in a real Chromium."""

from __future__ import annotations

from typing import Any

import pytest

from browser import assert_accessible, css, narrow, requests, screenshot, until
from errata.collect.design import Design
from errata.collect.panel import Panel
from errata.web.people import change_state
from errata.web.tokens import join_key
from served import KEY, Server, served
from stored_campaigns import LESSONS, Make

pytestmark = pytest.mark.browser
DESIGN = Design(judges=1, quota=1, repeats=0, controls=0)


def visited(browser: Any, address: str) -> None:
    """Open an address anew, with nothing kept on the device and nothing logged before."""
    browser.get("about:blank")
    origin = {"origin": "/".join(address.split("/")[:3]), "storageTypes": "all"}
    browser.execute_cdp_cmd("Storage.clearDataForOrigin", origin)
    for log in ("browser", "performance"):
        browser.get_log(log)
    browser.get(address)


def assert_good(browser: Any, server: Server, *, refused: int = 0) -> None:
    """axe-core finds nothing, the console has only refusals, and nobody else was asked."""
    assert_accessible(browser)
    said = browser.get_log("browser")
    assert len(said) == refused
    assert all("Failed to load resource" in line["message"] for line in said)
    others = [a for a in requests(browser) if not a.startswith((server.address, "about:", "data:"))]
    assert others == []


def titled(browser: Any, words: str) -> None:
    until(browser, "document.querySelector('h1')?.textContent === arguments[0]", words)


def rank(browser: Any, *, right: bool) -> None:
    """Rank the two texts of an example: the one that has "goes" is the better one."""
    until(browser, "document.querySelectorAll('.card').length === 2")
    # The cards of the example before stand there until the notice has told that it was closed.
    until(browser, "!document.querySelector('.submit button.main').disabled")
    for card in css(browser, ".card"):
        good = "goes" in card.text
        key = card.get_attribute("data-key")
        label = css(browser, f"label[for=rank-{key}-{1 if good is right else 2}]")[0]
        browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", label)
        label.click()
    css(browser, ".submit button.main")[0].click()
    until(browser, "document.querySelector('dialog[open]') !== null")


def told(browser: Any) -> str:
    return str(css(browser, "dialog[open]")[0].text)


def go_on(browser: Any) -> None:
    css(browser, "dialog[open] button.main")[0].click()
    until(browser, "document.querySelector('dialog[open]') === null")


def test_the_tutorial_tells_and_fails_politely(browser: Any, make_sqlite: Make) -> None:
    campaign = make_sqlite(Design(judges=1, pass_mark=1.0), examples=LESSONS)
    with served(str(campaign.database.path)) as server:
        visited(browser, server.link())
        for attempt in (1, 2):
            rank(browser, right=True)
            assert "That is how we see it too" in told(browser)
            assert "stands there twice <b>." in told(browser)
            assert_good(browser, server)
            if attempt == 1:
                screenshot(browser, "collect-feedback")
                with narrow(browser):
                    assert_good(browser, server)
            go_on(browser)
            rank(browser, right=False)
            assert "We see it differently" in told(browser)
            assert ("once more" in told(browser)) == (attempt == 1)
            go_on(browser)
        titled(browser, "Thank you for trying")
        assert_good(browser, server)
        screenshot(browser, "collect-failed")


def test_a_tutorial_that_is_passed_leads_to_work(browser: Any, make_sqlite: Make) -> None:
    campaign = make_sqlite(Design(judges=1, pass_mark=1.0), examples=LESSONS)
    with served(str(campaign.database.path)) as server:
        visited(browser, server.link())
        for _ in LESSONS:
            rank(browser, right=True)
            go_on(browser)
        until(browser, "document.querySelector('.counted').textContent.endsWith(' done')")
        until(browser, "!document.querySelector('.counted').textContent.startsWith('Practice')")
        until(browser, "document.querySelectorAll('.card').length > 1")
        assert_good(browser, server)


def test_from_the_panels_link_to_the_code(browser: Any, make_sqlite: Make) -> None:
    panel = Panel("prolific", 1, code="C0DE-77", back="https://example.org/done?cc={code}")
    campaign = make_sqlite(DESIGN, words={"panel": panel.to_json()})
    with served(str(campaign.database.path)) as server:
        door = f"{server.address}join/{join_key(bytes.fromhex(KEY))}"
        visited(browser, f"{door}?PROLIFIC_PID=p1&SESSION_ID=s1&STUDY_ID=x")
        until(browser, "document.querySelectorAll('.card').length > 1")
        assert browser.current_url.startswith(f"{server.address}judge#j")
        assert "p1" not in browser.current_url
        for card in css(browser, ".card"):
            label = css(browser, f"label[for=rank-{card.get_attribute('data-key')}-1]")[0]
            browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", label)
            label.click()
        css(browser, ".submit button.main")[0].click()
        titled(browser, "Thank you")
        assert css(browser, ".code output")[0].text == "C0DE-77"
        assert css(browser, "#status")[0].text == ""  # and not that the last one is being sent
        link = css(browser, "section.screen a")[0]
        assert link.get_attribute("href") == "https://example.org/done?cc=C0DE-77"
        assert_good(browser, server)
        screenshot(browser, "collect-finished")
        browser.refresh()  # the code is there tomorrow too
        titled(browser, "Thank you")
        assert css(browser, ".code output")[0].text == "C0DE-77"
        visited(browser, f"{door}?PROLIFIC_PID=p2&SESSION_ID=s2")
        titled(browser, "This study is full")
        assert browser.current_url == door  # cleaned
        assert_good(browser, server, refused=1)
        screenshot(browser, "collect-full")
        browser.refresh()  # loading it again works without the parameters in the address
        titled(browser, "This study is full")
        browser.get_log("browser")
        visited(browser, door)
        titled(browser, "Something is missing")
        assert_good(browser, server, refused=1)
        change_state(campaign.database, "closed", now=1)
        visited(browser, f"{door}?PROLIFIC_PID=p3&SESSION_ID=s2")
        titled(browser, "This study is over")
        assert_good(browser, server, refused=1)
        visited(browser, f"{server.address}join/wrong?PROLIFIC_PID=p3&SESSION_ID=s2")
        titled(browser, "This link does not work")
        assert_good(browser, server, refused=1)
