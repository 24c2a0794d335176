"""The organiser's page in a real Chromium: figures that renew themselves, people, links, files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
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
    save_into,
    saved,
    until,
)
from campaigns import material
from errata.collect.web.schema import judges
from judge_pages import ServedCampaign, assert_fine, campaign_served, design_for, fresh, status
from processes import wait_until

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedCampaign]:
    """A campaign in which three judges have answered, skipped and commented."""
    design = design_for("rank", 4, quota=20, controls=0.2, judges_per_item=3, rate=20.0)
    folder = tmp_path_factory.mktemp("watched")
    with campaign_served(folder, design, material(40, 4, sharing=0.0)) as one:
        for judge in (1, 2, 3):
            _answers(one, judge, 10)
        yield one


def _answers(one: ServedCampaign, judge: int, many: int) -> None:
    own = one.server.token(judge)
    for k in range(many):
        (task,) = one.server.call("POST", "tasks", {"ahead": 1}, token=own)[1]["tasks"]
        ranks = {each["key"]: 1 + (at + judge) % 3 for at, each in enumerate(task["outputs"])}
        body: dict[str, Any] = {"revision": 1, "answer": ranks, "active": 30_000, "total": 40_000}
        if k == 3:
            body = {"revision": 1, "skip": "boundary", "comment": "<b>cut</b> here"}
        assert one.server.call("PUT", f"tasks/{task['id']}/judgment", body, token=own)[0] == 201


def organiser(browser: Any, one: ServedCampaign) -> None:
    fresh(browser, f"{one.server.address}admin#{one.server.admin}")
    until(browser, "document.querySelector('#judges table') !== null")


def button(browser: Any, name: str) -> Any:
    found = [b for b in css(browser, "button") if b.accessible_name == name]
    assert len(found) == 1, (name, [b.accessible_name for b in css(browser, "button")])
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", found[0])
    return found[0]


def click_named(browser: Any, name: str) -> None:
    """Press a button; the page may draw it anew meanwhile, as it does every five seconds."""
    from selenium.common.exceptions import StaleElementReferenceException

    for last in (False, False, True):
        try:
            button(browser, name).click()
            return
        except StaleElementReferenceException:
            if last:
                raise


def test_parts_are_shown_and_saved(browser: Any, watched: ServedCampaign, tmp_path: Path) -> None:
    organiser(browser, watched)
    assert browser.current_url == f"{watched.server.address}admin"  # the token left the address
    until(browser, "document.querySelector('#systems table') !== null")
    assert_fine(browser, watched.server)
    titles = [each.text for each in css(browser, "h3")]
    assert titles == [
        *("Ranking", "Head to head: share of decided comparisons in which the column wins"),
        *("Comparisons of every two systems", "Judges", "Agreement", "κ of every two judges"),
        *("Agreement of each judge", "Where judges disagree most"),
        *("Skips and comments, newest first", "Parked after three skips"),
    ]
    assert "not corrected for looking" in css(browser, "#systems .note")[0].text
    columns = [
        each.text for each in css(browser, "#judges table")[0].find_elements("tag name", "th")
    ]
    for name in ("done", "skipped", "seconds", "checks passed", "ties", "first is best"):
        assert name in columns
    assert "pasted" not in columns  # nothing is written in a ranking
    assert "<b>cut</b> here" in css(browser, "#items")[0].text
    forms = [each.text for each in css(browser, "#export button") if each.is_displayed()]
    assert forms == ["jsonl", "appraise", "pairwise", "details", "people"]
    save_into(browser, tmp_path)
    click_named(browser, "jsonl")
    status(browser, "judgments.jsonl saved")
    lines = [json.loads(line) for line in saved(tmp_path / "judgments.jsonl").splitlines()]
    assert {line["judge"] for line in lines} == {"j0", "j1", "j2"}
    with narrow(browser, 1280, 900):  # what can be done with a judge is seen beside the figures
        hidden = browser.execute_script(
            "const places = [...document.querySelectorAll('.scroll')];"
            "return places.map(place => place.scrollWidth - place.clientWidth)"
        )
        assert set(hidden) == {0}
    with narrow(browser):
        assert_fits(browser)
        assert_accessible(browser)
    with dark(browser):
        assert_accessible(browser)


@pytest.mark.long
def test_people_links_and_texts(browser: Any, tmp_path: Path) -> None:
    with campaign_served(tmp_path, design_for("rank", 3)) as one:
        organiser(browser, one)
        server = one.server

        def names() -> list[tuple[str, str, str]]:
            with one.campaign.database.reading() as connection:
                query = select(judges.c.name, judges.c.state, judges.c.salt)
                return [tuple(row) for row in connection.execute(query.order_by(judges.c.id))]

        css(browser, "#new-judges")[0].send_keys("an")
        _answers(one, 1, 2)
        until(browser, "document.querySelector('.figures dd').textContent.startsWith('2 of')")
        press(browser, "a, bo\n")  # figures renew themselves: what is written stays, and the focus
        until(browser, "document.querySelectorAll('.links li').length === 2")
        assert [n for n, _, _ in names()][3:] == ["ana", "bo"]
        assert (
            server.call("GET", "me", token=css(browser, ".links code")[0].text.split("#")[1])[0]
            == 200
        )
        assert_fine(browser, server)
        click_named(browser, "Show all links")
        until(browser, "document.querySelectorAll('.links li').length === 5")
        css(browser, "#new-judges")[0].send_keys("ana\n")  # is there already
        until(browser, "document.getElementById('status').dataset.kind === 'warn'")
        click_named(browser, "Link: j0")
        until(browser, "document.querySelectorAll('.links li').length === 1")
        assert css(browser, ".links code")[0].text == server.link(1)
        for words, after in (
            ("New link: j0", ""),
            ("Block: j1", "blocked"),
            ("Forget: j2", "forgotten"),
        ):
            click_named(browser, words)
            assert_accessible(browser)
            css(browser, "dialog button")[1].click()  # no
            before = names()
            click_named(browser, words)
            css(browser, "dialog button.main")[0].click()
            wait_until(lambda before=before: names() != before)
            assert not after or after in [x for row in names() for x in row]
        until(browser, "document.querySelector('[data-focus=\"Unblock j1\"]') !== null")
        click_named(browser, "Unblock: j1")
        until(browser, "document.querySelector('[data-focus=\"Block j1\"]') !== null")
        field = css(browser, "#text-instructions")[0]
        field.clear()
        field.send_keys("Read *twice*.")
        click_named(browser, "Save texts")
        wait_until(lambda: "twice" in str(server.call("GET", "me", token=server.token(2))))
        for words, state in (("Pause", "paused"), ("Open", "open"), ("Close", "closed")):
            click_named(browser, words)
            if words == "Close":
                css(browser, "dialog button.main")[0].click()
            until(browser, "document.querySelector('.state').textContent === arguments[0]", state)
        assert_fine(browser, server, refused=None)


@pytest.mark.long
def test_link_outlives_a_server_that_is_late(browser: Any, watched: ServedCampaign) -> None:
    """The token has left the address: the page must not throw it away for a call that failed."""
    browser.execute_cdp_cmd("Network.enable", {})
    browser.execute_cdp_cmd("Network.setBlockedURLs", {"urls": ["*/api/v1/admin/status"]})
    try:
        fresh(browser, f"{watched.server.address}admin#{watched.server.admin}")
        status(browser, "the server cannot be reached; trying again")
        assert_accessible(browser)
    finally:
        browser.execute_cdp_cmd("Network.setBlockedURLs", {"urls": []})
    until(browser, "document.querySelector('#systems table') !== null")
    assert css(browser, "#status")[0].text == ""
