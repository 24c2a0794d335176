"""The judge's page in a real Chromium: keys, pointer, touch, narrow, offline, two tabs."""

from __future__ import annotations

import time
from typing import Any

import pytest
from sqlalchemy import select

from browser import (
    assert_accessible,
    assert_fits,
    css,
    dark,
    narrow,
    press,
    requests,
    screenshot,
    until,
)
from errata.collect.design import Design
from errata.collect.items import CampaignTexts
from errata.web.schema import judgments
from served import Server, served
from stored_campaigns import Made, Make

pytestmark = pytest.mark.browser
WORDS = {"instructions": "# Rank\n\nRead *all* of them.", "consent": "You take part **freely**."}
NASTY = "<img src=x onerror=alert(1)> </script> &amp; \" ' {{ 7 * 7 }} \u202e"


def visited(browser: Any, address: str) -> Any:
    """Open an address anew, with nothing kept on the device and nothing logged before."""
    browser.get("about:blank")
    browser.execute_cdp_cmd("Storage.clearDataForOrigin", _everything(address))
    for log in ("browser", "performance"):
        browser.get_log(log)
    browser.get(address)
    return browser


def _everything(address: str) -> dict[str, str]:
    return {"origin": "/".join(address.split("/")[:3]), "storageTypes": "all"}


def assert_good(browser: Any, server: Server) -> None:
    """axe-core finds nothing, the console is empty, and nobody else was asked for anything."""
    assert_accessible(browser)
    assert browser.get_log("browser") == []
    others = [a for a in requests(browser) if not a.startswith((server.address, "about:", "data:"))]
    assert others == []


def stored(campaign: Made) -> list[Any]:
    with campaign.database.reading() as connection:
        return list(connection.execute(select(judgments).order_by(judgments.c.id)).all())


def working(browser: Any) -> None:
    until(browser, "document.querySelector('.outputs, textarea') !== null")


def submitted(browser: Any, done: int) -> None:
    until(browser, f"document.querySelector('.counted')?.textContent.startsWith('{done} ')")


def keys_for_ranking(browser: Any) -> None:
    """Rank whatever is shown, by keys alone: the first best, all others second."""
    from selenium.webdriver import Keys

    press(browser, "1")
    while not browser.execute_script("return document.activeElement.matches('button.main')"):
        press(browser, Keys.ENTER)
        if browser.execute_script("return document.activeElement.matches('input[type=radio]')"):
            press(browser, "2")


def keys_shown(browser: Any) -> list[str]:
    return [card.get_attribute("data-key") for card in css(browser, ".card")]


def click(browser: Any, selector: str) -> None:
    """Click something, in the middle of the window, where no line of the page covers it."""
    found = css(browser, selector)[0]
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", found)
    found.click()


def control_enter(browser: Any) -> None:
    from selenium.webdriver import ActionChains, Keys

    ActionChains(browser).key_down(Keys.CONTROL).send_keys(Keys.ENTER).key_up(
        Keys.CONTROL
    ).perform()


def test_consent_instructions_and_rankings_by_keys(browser: Any, make_sqlite: Make) -> None:
    from selenium.webdriver import Keys

    campaign = make_sqlite(Design(judges=1, quota=3, repeats=0, controls=0), words=WORDS)
    with served(str(campaign.database.path)) as server:
        visited(browser, server.link())
        until(browser, "document.querySelector('button.main') !== null")
        assert_good(browser, server)
        screenshot(browser, "collect-consent")
        click(browser, "button.main")
        until(browser, "document.querySelector('em')?.textContent === 'all'")
        assert_good(browser, server)
        click(browser, "button.main")
        working(browser)
        assert_good(browser, server)
        assert css(browser, "input:checked") == []  # nothing is preselected
        keys_for_ranking(browser)
        screenshot(browser, "collect-rank", whole=True)
        press(browser, Keys.ENTER)
        submitted(browser, 1)
        until(browser, "document.getElementById('status').textContent === 'Stored'")
        for done in (2, 3):
            keys_for_ranking(browser)
            control_enter(browser)
            if done < 3:
                submitted(browser, done)
        until(browser, "document.querySelector('h1').textContent === 'Thank you'")
        assert_good(browser, server)
        found = [row.answer for row in stored(campaign)]
        assert len(found) == 3
        assert all('"A": 1' in answer and '"B": 2' in answer for answer in found)
        assert all(0 < row.active_ms <= row.total_ms for row in stored(campaign))


def test_clicks_skips_comments_undo_and_the_way_back(browser: Any, make_sqlite: Make) -> None:
    campaign = make_sqlite(Design(judges=1, quota=6, repeats=0, controls=0))
    with served(str(campaign.database.path)) as server:
        visited(browser, server.link())
        working(browser)
        for key in keys_shown(browser):
            click(browser, f"label[for=rank-{key}-1]")
        click(browser, "button[aria-keyshortcuts=z]")
        click(browser, "button.main")
        until(browser, "document.querySelector('.problem').textContent.includes('Please give')")
        click(browser, f"label[for=rank-{keys_shown(browser)[-1]}-2]")
        click(browser, "button[aria-keyshortcuts=c]")
        css(browser, "#comment")[0].send_keys("hm")
        click(browser, "button.main")
        submitted(browser, 1)
        click(browser, "button[aria-keyshortcuts=x]")
        assert_accessible(browser)
        click(browser, "dialog button.main")  # without a reason: refused
        assert css(browser, "dialog .problem")[0].text
        click(browser, "#reason-boundary")
        click(browser, "dialog button.main")
        submitted(browser, 2)
        click(browser, "button[aria-keyshortcuts=p]")
        until(browser, "document.querySelector('.submit .main').textContent.includes('change')")
        click(browser, "button[aria-keyshortcuts=p]")
        until(browser, "document.querySelector('#comment')?.value === 'hm'")
        click(browser, f"label[for=rank-{keys_shown(browser)[-1]}-1]")
        click(browser, "button.main")
        until(browser, "document.getElementById('status').textContent === 'Stored'")
        end = time.monotonic() + 60
        while len(stored(campaign)) < 3 and time.monotonic() < end:
            time.sleep(0.05)
        first, skip, changed = stored(campaign)
        assert (first.comment, skip.skip, changed.revision) == ("hm", "boundary", 2)
        assert set(changed.answer) != set(first.answer)
        assert_good(browser, server)


def test_letters_are_dragged_by_mouse_and_finger(browser: Any, make_sqlite: Make) -> None:
    campaign = make_sqlite(Design(judges=1, quota=3, repeats=0, controls=0))
    with served(str(campaign.database.path)) as server:
        visited(browser, server.link())
        working(browser)
        from selenium.webdriver import ActionChains

        chip, slot = css(browser, ".chip")[0], css(browser, ".slot")[2]
        ActionChains(browser).drag_and_drop(chip, slot).perform()
        assert css(browser, "#rank-A-2")[0].is_selected()
        where = browser.execute_script(
            "return [...document.querySelectorAll('.chip[data-key=B], .slot[data-rank=\"1\"]')]"
            ".map(e => { const r = e.getBoundingClientRect();"
            " return [r.x + r.width / 2, r.y + r.height / 2]; })"
        )
        (bx, by), (sx, sy) = sorted(where)
        for kind, points in (
            ("touchStart", [{"x": bx, "y": by}]),
            ("touchMove", [{"x": sx, "y": sy}]),
            ("touchEnd", []),
        ):
            browser.execute_cdp_cmd(
                "Input.dispatchTouchEvent", {"type": kind, "touchPoints": points}
            )
        until(browser, "document.getElementById('rank-B-1').checked")
        assert_good(browser, server)


def test_the_server_is_gone_for_a_while(browser: Any, make_sqlite: Make) -> None:
    campaign = make_sqlite(Design(judges=1, quota=6, repeats=0, controls=0))
    with served(str(campaign.database.path)) as server:
        visited(browser, server.link())
        working(browser)
        time.sleep(0.5)  # the next task is fetched ahead
        server.kill()
        answered = [css(browser, ".source .text")[0].text]
        keys_for_ranking(browser)
        control_enter(browser)
        until(browser, "document.getElementById('status').textContent.includes('Not sent yet (1)')")
        working(browser)  # the one that was fetched ahead
        answered.append(css(browser, ".source .text")[0].text)
        keys_for_ranking(browser)
        control_enter(browser)
        until(browser, "document.getElementById('status').textContent.includes('(2)')")
        browser.get("about:blank")  # the tab is closed, and opened again when the server is back
        server.start()
        browser.get(server.link())
        until(browser, "document.querySelector('.counted')?.textContent.startsWith('2 ')")
        working(browser)
        # What was on its way is not asked for again, though the server did not know it yet.
        assert css(browser, ".source .text")[0].text not in answered
        found = stored(campaign)
        assert len(found) == 2
        assert len({row.assignment for row in found}) == 2


def test_a_draft_is_there_after_a_reload(browser: Any, make_sqlite: Make) -> None:
    campaign = make_sqlite(Design(judges=1, quota=6, repeats=0, controls=0))
    with served(str(campaign.database.path)) as server:
        visited(browser, server.link())
        working(browser)
        press(browser, "2")
        until(browser, "document.getElementById('status').textContent.includes('Draft kept')")
        browser.refresh()
        working(browser)
        until(browser, "document.getElementById('rank-A-2')?.checked")
        assert stored(campaign) == []


def test_the_second_tab_takes_over(browser: Any, make_sqlite: Make) -> None:
    campaign = make_sqlite(Design(judges=1, quota=6, repeats=0, controls=0))
    with served(str(campaign.database.path)) as server:
        visited(browser, server.link())
        working(browser)
        first = browser.current_window_handle
        browser.switch_to.new_window("tab")
        try:
            browser.get(server.link())
            working(browser)
            browser.switch_to.window(first)
            until(browser, "document.querySelector('h1').textContent === 'Open in another tab'")
            assert_accessible(browser)
            click(browser, "button")
            working(browser)
        finally:
            for handle in browser.window_handles:
                if handle != first:
                    browser.switch_to.window(handle)
                    browser.close()
            browser.switch_to.window(first)


def test_narrow_dark_and_from_the_right(browser: Any, make_sqlite: Make) -> None:
    texts = CampaignTexts(
        ("הוא הולך הביתה .", f"{NASTY} a b c"),
        {
            "A": ("הוא הלך הביתה .", f"{NASTY} a b d"),
            "B": ("היא הולכת הביתה .", f"{NASTY} a b e <b>x</b>"),
            "C": ("הוא הולך לביתו .", f"{NASTY} a c e"),
        },
    )
    campaign = make_sqlite(
        Design(judges=1, repeats=0, controls=0, sentences="all"),
        texts,
        words={"language": "de", "text_language": "he"},
    )
    with served(str(campaign.database.path)) as server:
        visited(browser, server.link())
        working(browser)
        assert css(browser, "h1")[0].text.startswith("Ordnen")
        for done in (1, 2):
            with narrow(browser):
                assert_fits(browser)
                assert_accessible(browser)
            with dark(browser):
                assert_accessible(browser)
            assert css(browser, "img, b, .text script") == []
            source = css(browser, ".source .text")[0]
            if NASTY[:10] in source.get_attribute("textContent"):
                assert source.get_attribute("textContent") == texts.sources[1]
            else:
                direction = browser.execute_script(
                    "return getComputedStyle(arguments[0]).direction", source
                )
                assert direction == "rtl"
            keys_for_ranking(browser)
            control_enter(browser)
            if done == 1:
                submitted(browser, 1)
        assert_good(browser, server)
