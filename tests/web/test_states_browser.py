"""Every state of the judge's page in a real Chromium, and what becomes of answers on bad days."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from browser import (
    assert_accessible,
    assert_fits,
    css,
    dark,
    narrow,
    press,
    save_into,
    saved,
    screenshot,
    until,
)
from campaigns import material
from errata.web.people import change_state
from errata.web.wording import wording
from judge_pages import (
    PAGE_WORDS,
    ServedCampaign,
    answer_by_keys,
    assert_fine,
    at_work,
    campaign_served,
    control_enter,
    design_for,
    fresh,
    headed,
    status,
    submit_done,
)
from served import Server

pytestmark = pytest.mark.browser
KEYS_OF_TITLES = {"none": "link.none.title", "bad": "link.bad.title", "working": "kind.rank"}


@pytest.fixture(scope="module")
def ranking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedCampaign]:
    with campaign_served(tmp_path_factory.mktemp("rank"), design_for("rank")) as one:
        yield one


def fine_everywhere(browser: Any, server: Server, name: str) -> None:
    """The page as it is now: wide, narrow, zoomed and dark."""
    console = browser.get_log("browser")
    # A link that does not work is a call that is refused, which the browser itself notes.
    assert [e for e in console if "401" not in e["message"]] == []
    assert_fine(browser, server, console=False)
    screenshot(browser, f"state-{name}")
    for height in (640, 256):
        with narrow(browser, 320, height):
            assert_fits(browser)
    with narrow(browser):
        screenshot(browser, f"state-{name}-narrow")
    with dark(browser):
        assert_accessible(browser)
        screenshot(browser, f"state-{name}-dark")


@pytest.mark.parametrize("language", ["en", "de"])
def test_every_state(browser: Any, tmp_path: Path, language: str) -> None:
    words = PAGE_WORDS | {"consent": "You take part **freely**.", "language": language}
    with campaign_served(tmp_path, design_for("rank", 6, quota=1), words=words) as one:
        server, admin = one.server, one.server.admin

        def seen(state: str) -> None:
            headed(browser, wording(language)[KEYS_OF_TITLES.get(state, f"{state}.title")])
            assert css(browser, "html")[0].get_attribute("lang") == language
            fine_everywhere(browser, server, f"{state}-{language}")

        def patch(state: str) -> None:
            assert server.call("PATCH", "admin/campaign", {"state": state}, token=admin)[0] == 200

        fresh(browser, f"{server.address}judge")
        seen("none")
        fresh(browser, server.link(1) + "x")
        seen("bad")
        fresh(browser, server.link(1))
        seen("consent")
        css(browser, ".buttons button")[1].click()  # no
        until(browser, "!document.querySelector('.buttons')")
        seen("withdrawn")
        fresh(browser, server.link(2))
        seen("consent")
        css(browser, "button.main")[0].click()
        until(browser, "document.querySelector('em')?.textContent === 'all'")
        seen("instructions")
        css(browser, "button.main")[0].click()
        until(browser, "document.querySelector('.outputs')")
        seen("working")
        answer_by_keys(browser, "rank")
        patch("paused")
        browser.refresh()
        until(browser, "!document.querySelector('.work') && document.querySelector('.buttons')")
        seen("paused")
        patch("open")
        css(browser, ".buttons button")[0].click()
        until(browser, "document.querySelectorAll('.outputs input:checked').length === 3")
        control_enter(browser)
        until(browser, "!document.querySelector('.work')")
        seen("finished")
        body = {"names": ["j1"]}
        assert server.call("POST", "admin/judges/block", body, token=admin)[0] == 200
        browser.refresh()
        until(browser, "document.querySelector('h1')")
        seen("blocked")
        patch("closed")
        fresh(browser, server.link(3))
        seen("closed")


def test_waiting_for_others_and_going_on_by_itself(browser: Any, tmp_path: Path) -> None:
    """Two judges, and one sentence left that the other one holds."""
    design = design_for("rank", 2, overlap=0.0, quota=None)
    with campaign_served(tmp_path, design, material(1, 4, sharing=0.0)) as one:
        other = one.server.token(2)
        (task,) = one.server.call("POST", "tasks", {"ahead": 1}, token=other)[1]["tasks"]
        fresh(browser, one.server.link(1))
        until(browser, "document.querySelector('button.main')")
        css(browser, "button.main")[0].click()
        headed(browser, "Nothing to do just now")
        fine_everywhere(browser, one.server, "waiting")
        status, _ = one.server.call("POST", f"tasks/{task['id']}/return", {}, token=other)
        assert status == 200
        css(browser, ".buttons button")[0].click()
        until(browser, "document.querySelector('.outputs')")


def test_without_scripts(browser: Any, ranking: ServedCampaign) -> None:
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get(f"{ranking.server.address}judge")
        assert "needs scripts" in css(browser, "main")[0].text
        browser.get(f"{ranking.server.address}admin")
        assert "needs scripts" in css(browser, "main")[0].text
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
        browser.get("about:blank")


@contextmanager
def network(browser: Any, *, offline: bool = False, latency: int = 0) -> Iterator[None]:
    conditions = {"offline": offline, "latency": latency, "downloadThroughput": -1}
    browser.execute_cdp_cmd("Network.enable", {})
    browser.execute_cdp_cmd(
        "Network.emulateNetworkConditions", {**conditions, "uploadThroughput": -1}
    )
    try:
        yield
    finally:
        plain = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
        browser.execute_cdp_cmd("Network.emulateNetworkConditions", plain)


def test_the_five_things_the_line_says(browser: Any, ranking: ServedCampaign) -> None:
    judge = at_work(browser, ranking)
    line = css(browser, "#status")[0]
    assert (line.get_attribute("role"), line.get_attribute("aria-live")) == ("status", "polite")
    assert line.text == ""
    answer_by_keys(browser, "rank")
    status(browser, "Draft kept on this device")
    with network(browser, latency=1500):
        control_enter(browser)
        status(browser, "Sending")
        status(browser, "Stored")
    submit_done(browser, 1)
    with network(browser, offline=True):
        status(browser, "Offline")  # though nothing waits
        answer_by_keys(browser, "rank")
        control_enter(browser)
        status(browser, "Offline: 1 not sent yet")
        assert_accessible(browser)
        screenshot(browser, "line-offline")
        press(browser, "1")  # a draft of the next does not hide what is in danger
        status(browser, "Offline: 1 not sent yet")
    submit_done(browser, 2)  # it went by itself when the network was back
    assert len(ranking.answers(judge)) == 2
    ranking.server.kill()
    try:
        answer_by_keys(browser, "rank")
        control_enter(browser)
        status(browser, "Not sent yet (1), trying again")
        screenshot(browser, "line-waiting")
    finally:
        ranking.server.start()
    submit_done(browser, 3)
    rows = ranking.answers(judge)
    assert len({row.assignment for row in rows}) == len(rows) == 3
    browser.get_log("browser")  # what Chromium notes of calls that failed


def test_closed_while_answers_wait(browser: Any, tmp_path: Path) -> None:
    with campaign_served(tmp_path, design_for("rank", 1)) as one:
        at_work(browser, one)
        time.sleep(0.3)
        with network(browser, offline=True):
            for many in (1, 2):
                answer_by_keys(browser, "rank")
                control_enter(browser)
                status(browser, f"Offline: {many} not sent yet")
            one.server.call("PATCH", "admin/campaign", {"state": "closed"}, token=one.server.admin)
        headed(browser, "This study is over")
        save_into(browser, tmp_path)
        for _ in range(2):  # also when the page is opened again
            link = until(browser, "document.querySelector('a[download]')")
            assert_accessible(browser)
            link.click()
            offered = json.loads(saved(tmp_path / "answers.json"))
            (tmp_path / "answers.json").unlink()
            assert len(offered) == 2
            assert all(set(each["body"]["answer"]) == {"A", "B", "C"} for each in offered)
            screenshot(browser, "state-closed-unsent")
            browser.refresh()
            headed(browser, "This study is over")
        assert one.answers(1) == []


def test_answers_are_sent_though_there_is_nothing_to_do(browser: Any, tmp_path: Path) -> None:
    """The server is gone, the tab is closed, and the study rests when both are back."""
    with campaign_served(tmp_path, design_for("rank", 1)) as one:
        at_work(browser, one)
        one.server.kill()
        answer_by_keys(browser, "rank")
        control_enter(browser)
        status(browser, "Not sent yet (1)")
        browser.get("about:blank")
        change_state(one.campaign.database, "paused", now=1)
        one.server.start()
        browser.get(one.server.link())
        headed(browser, "Paused")
        until(browser, "document.querySelector('a[download]') === null")
        assert len(one.answers(1)) == 1


def test_storage_forbidden(browser: Any, ranking: ServedCampaign) -> None:
    script = browser.execute_cdp_cmd(
        "Page.addScriptToEvaluateOnNewDocument",
        {
            "source": "Object.defineProperty(window, 'localStorage',"
            " {get() { throw new DOMException('no', 'SecurityError'); }})"
        },
    )
    try:
        judge = at_work(browser, ranking)
        status(browser, "This browser keeps nothing on this device")
        answer_by_keys(browser, "rank")
        status(browser, "This browser keeps nothing on this device")
        with network(browser, offline=True):
            control_enter(browser)
            status(browser, "This browser keeps nothing on this device")
            status(browser, "1 not sent yet")
        submit_done(browser, 1)
        assert len(ranking.answers(judge)) == 1
    finally:
        browser.execute_cdp_cmd(
            "Page.removeScriptToEvaluateOnNewDocument", {"identifier": script["identifier"]}
        )
        browser.get("about:blank")


def test_back_through_five_and_forward_again(browser: Any, tmp_path: Path) -> None:
    with campaign_served(tmp_path, design_for("rank", 1, quota=9)) as one:
        at_work(browser, one)
        for done in range(1, 7):
            answer_by_keys(browser, "rank")
            control_enter(browser)
            submit_done(browser, done)
        until(browser, "document.getElementById('status').textContent === 'Stored'")
        press(browser, "2")
        here = css(browser, ".source .text")[0].text
        for back in range(1, 6):
            press(browser, "p")
            until(browser, f"document.querySelector('.earlier').textContent.includes('({back} of')")
        assert_fine(browser, one.server)
        screenshot(browser, "working-earlier")
        press(browser, "p")
        status(browser, "Earlier answers cannot be changed")
        assert css(browser, "#rank-A-1")[0].is_selected()  # what was answered
        next(b for b in css(browser, ".submit button") if "open task" in b.text).click()
        until(browser, "document.querySelector('.earlier').hidden")
        assert css(browser, ".source .text")[0].text == here
        assert css(browser, "#rank-A-2")[0].is_selected()  # the draft
        assert len(one.answers(1)) == 6  # looking changes nothing
        press(browser, "p")
        until(browser, "!document.querySelector('.earlier').hidden")
        press(browser, "3")
        control_enter(browser)
        until(browser, "document.querySelector('.earlier').hidden")
        until(browser, "document.getElementById('status').textContent === 'Stored'")
        rows = one.answers(1)
        assert [row.revision for row in rows] == [1] * 6 + [2]
        assert rows[-1].assignment == rows[-2].assignment
        assert json.loads(rows[-1].answer)["A"] == 3


def test_skips_with_every_reason_by_keys(browser: Any, tmp_path: Path) -> None:
    from selenium.webdriver import Keys

    reasons = ["undecided", "not_understood", "boundary", "language", "offensive", "broken"]
    with campaign_served(tmp_path, design_for("rank", 1, quota=9)) as one:
        at_work(browser, one)
        for k in range(7):
            press(browser, "x", " ", *[Keys.ARROW_DOWN] * k, Keys.ENTER)
            if k == 6:  # another reason: in words
                assert css(browser, "dialog .problem")[0].text == "Please say why."
                css(browser, "#skip-words")[0].send_keys("so")
                control_enter(browser)
            submit_done(browser, k + 1)
        until(browser, "document.getElementById('status').textContent === 'Stored'")
        rows = one.answers(1)
        assert [row.skip for row in rows] == [*reasons, "other"]
        assert rows[-1].comment == "so"


def test_nothing_jumps_until_it_is_sorted(browser: Any, ranking: ServedCampaign) -> None:
    at_work(browser, ranking)
    order = "return [...document.querySelectorAll('.card')].map(c => c.dataset.key).join('')"
    tops = (
        "return [...document.querySelectorAll('.card, .submit, .strip, .source')]"
        ".map(e => e.getBoundingClientRect().top)"
    )
    before = browser.execute_script(tops)
    press(browser, "3", "j", "2", "j", "1")
    assert browser.execute_script(tops) == before
    assert browser.execute_script(order) == "ABC"
    control_enter(browser)
    submit_done(browser, 1)
    press(browser, "3", "j", "2", "j", "1")
    next(b for b in css(browser, ".tools button") if b.text.startswith("Sort")).click()
    assert browser.execute_script(order) == "CBA"
    assert css(browser, "#rank-C-1")[0].is_selected()


def test_active_time_is_visible_and_busy(browser: Any, ranking: ServedCampaign) -> None:
    script = browser.execute_cdp_cmd(
        "Page.addScriptToEvaluateOnNewDocument",
        {
            "source": "window.later = 0; const now = performance.now.bind(performance);"
            "performance.now = () => now() + window.later;"
            "window.unseen = false; Object.defineProperty(document, 'hidden', {get: () => unseen})"
        },
    )
    try:
        judge = at_work(browser, ranking)

        def pass_by(seconds: int) -> None:
            browser.execute_script("window.later += arguments[0] * 1000", seconds)

        def seen(visible: bool) -> None:
            browser.execute_script(
                "window.unseen = !arguments[0];"
                "document.dispatchEvent(new Event('visibilitychange'))",
                visible,
            )

        press(browser, "1")
        pass_by(40)  # within a minute of an input: 40
        press(browser, "1")
        pass_by(1000)  # a minute of it: 60
        press(browser, "1")
        pass_by(10)  # 10
        seen(False)
        pass_by(500)  # elsewhere: none
        seen(True)
        pass_by(20)  # 20
        answer_by_keys(browser, "rank")
        control_enter(browser)
        until(browser, "document.getElementById('status').textContent === 'Stored'")
        sent = _last_put(browser)
        assert 130_000 <= sent["active"] < 145_000
        assert 1_570_000 <= sent["total"] < 1_600_000
        (row,) = ranking.answers(judge)
        assert row.active_ms < 60_000  # more than the server saw pass is cut
    finally:
        browser.execute_cdp_cmd(
            "Page.removeScriptToEvaluateOnNewDocument", {"identifier": script["identifier"]}
        )
        browser.get("about:blank")


def _last_put(browser: Any) -> dict[str, Any]:
    found = None
    for entry in browser.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            asked = message["params"]["request"]
            if asked["method"] == "PUT":
                found = json.loads(asked["postData"])
    assert found is not None
    return dict(found)


def test_a_link_that_is_replaced_keeps_what_waits(browser: Any, tmp_path: Path) -> None:
    with campaign_served(tmp_path, design_for("rank", 1)) as one:
        at_work(browser, one)
        with network(browser, offline=True):
            answer_by_keys(browser, "rank")
            control_enter(browser)
            status(browser, "Offline: 1 not sent yet")
            body = {"names": ["j0"]}
            answer = one.server.call("POST", "admin/judges/rotate", body, token=one.server.admin)
        headed(browser, "This link does not work")
        assert_accessible(browser)
        assert css(browser, "a[download]")
        assert one.answers(1) == []
        token = answer[1]["links"][0]["link"].split("#")[1]
        browser.get(f"{one.server.address}judge#{token}")
        submit_done(browser, 1)
        assert len(one.answers(1)) == 1


def test_another_campaign_at_the_same_address(browser: Any, tmp_path: Path) -> None:
    """What was kept for a campaign is never sent to the next that is served there."""
    folders = [tmp_path / name for name in ("one", "two")]
    for folder in folders:
        folder.mkdir()
    with campaign_served(folders[0], design_for("rank", 1)) as one:
        at_work(browser, one)
        one.server.kill()
        answer_by_keys(browser, "rank")
        control_enter(browser)
        status(browser, "Not sent yet (1)")
        browser.get("about:blank")
        with campaign_served(folders[1], design_for("rank", 1)) as two:
            two.server.stop()
            key = "f" * 64
            other = Server(two.server.place, one.server.port, key=key).start()
            try:
                browser.get(other.link())
                until(browser, "document.querySelector('button.main')")  # instructions, anew
                css(browser, "button.main")[0].click()
                until(browser, "document.querySelector('.outputs')")
                time.sleep(1.5)
                assert two.answers(1) == []
                assert css(browser, ".counted")[0].text.startswith("0 ")
            finally:
                other.stop()


def test_a_judge_stops_taking_part(browser: Any, tmp_path: Path) -> None:
    with campaign_served(tmp_path, design_for("rank", 1)) as one:
        at_work(browser, one)
        press(browser, "1")
        button = next(b for b in css(browser, ".tools button") if b.text == "Stop taking part")
        button.click()
        assert_accessible(browser)
        screenshot(browser, "dialog-withdraw")
        css(browser, "dialog button")[1].click()
        assert css(browser, ".outputs")
        button.click()
        css(browser, "dialog button.main")[0].click()
        headed(browser, "You have withdrawn")
        kept = browser.execute_script("return Object.keys(localStorage)")
        assert [key for key in kept if "draft" in key] == []


@pytest.mark.long
def test_the_server_is_gone_for_a_minute(browser: Any, ranking: ServedCampaign) -> None:
    """Stopped for a whole minute, with nobody touching the page: each answer arrives once."""
    judge = at_work(browser, ranking)
    time.sleep(0.5)
    ranking.server.kill()
    gone = time.monotonic()
    try:
        for many in (1, 2):
            answer_by_keys(browser, "rank")
            control_enter(browser)
            status(browser, f"Not sent yet ({many}), trying again")
        time.sleep(60 - (time.monotonic() - gone))
        assert len(ranking.answers(judge)) == 0
    finally:
        ranking.server.start()
    end = time.monotonic() + 150
    while len(ranking.answers(judge)) < 2 and time.monotonic() < end:
        time.sleep(0.2)
    rows = ranking.answers(judge)
    assert len({row.assignment for row in rows}) == len(rows) == 2
    until(browser, "document.getElementById('status').textContent === 'Stored'")
