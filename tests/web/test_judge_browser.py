"""Pages of judges, participants and the organiser in a real Chromium; states and bad days."""

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
from errata.collect.design import Design, Panel
from errata.collect.web.i18n import load_texts
from errata.collect.web.judges import change_state, rotate_judges
from errata.collect.web.schema import judges
from judge_pages import (
    PAGE_WORDS,
    ServedCampaign,
    answer_by_keys,
    assert_fine,
    at_work,
    campaign_served,
    click,
    control_enter,
    design_for,
    fetched_ahead,
    fresh,
    headed,
    network,
    scripted,
    status,
    stored,
    submit,
    submit_done,
)
from processes import wait_until
from served import KEY, LocalServer
from stored_campaigns import LESSONS, join_key_of

pytestmark = pytest.mark.browser
KEYS_OF_TITLES = {"none": "link.none.title", "bad": "link.bad.title", "working": "kind.rank"}
SOURCE = ".source .text"


@pytest.fixture(scope="module")
def ranking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedCampaign]:
    with campaign_served(tmp_path_factory.mktemp("rank"), design_for("rank")) as one:
        yield one


def test_journey_of_a_judge(browser: Any, tmp_path: Path) -> None:
    """Consent, instructions, keys, clicks, a draft, a skip, a server that is gone, a change."""
    words = PAGE_WORDS | {"consent": "You take part **freely**."}
    with campaign_served(tmp_path, design_for("rank", 1, quota=4), words=words) as one:
        fresh(browser, one.server.link())
        until(browser, "document.querySelector('strong')?.textContent === 'freely'")
        assert_fine(browser, one.server)
        click(browser, "button.main")
        until(browser, "document.querySelector('em')?.textContent === 'all'")
        click(browser, "button.main")
        until(browser, "document.querySelector('.work .outputs') !== null")
        assert_fine(browser, one.server)
        assert css(browser, "input:checked") == []  # nothing is preselected
        press(browser, "2")
        status(browser, "Draft kept")
        browser.refresh()
        until(browser, "document.getElementById('rank-A-2')?.checked")
        assert one.answers(1) == []
        submit(browser)
        submit_done(browser, 1)
        stored(browser)
        fetched_ahead(browser)
        one.server.kill()
        for key in "ABC":
            click(browser, f"label[for=rank-{key}-1]")
        click(browser, "button[aria-keyshortcuts=z]")
        click(browser, "button.main")
        assert "Please give" in css(browser, ".problem")[0].text
        click(browser, "label[for=rank-C-2]")
        click(browser, "button[aria-keyshortcuts=c]")
        css(browser, "#comment")[0].send_keys("hm")
        click(browser, "button.main")
        status(browser, "Not sent yet (1), trying again")
        assert len(one.answers(1)) == 1
        one.server.start()
        submit_done(browser, 2)
        click(browser, "button[aria-keyshortcuts=x]")
        click(browser, "dialog button.main")  # without a reason: refused
        assert css(browser, "dialog .problem")[0].text
        click(browser, "#reason-boundary")
        click(browser, "dialog button.main")
        submit_done(browser, 3)
        for back in (1, 2):
            click(browser, "button[aria-keyshortcuts=p]")
            until(browser, f"document.querySelector('.earlier').textContent.includes('({back} of')")
        assert css(browser, "#comment")[0].get_attribute("value") == "hm"
        click(browser, "label[for=rank-C-3]")
        click(browser, "button.main")
        until(browser, "document.querySelector('.earlier').textContent.includes('(1 of')")
        stored(browser)
        next(b for b in css(browser, ".submit button") if "open task" in b.text).click()
        until(browser, "document.querySelector('.earlier').hidden")
        submit(browser)
        headed(browser, "Thank you")
        browser.get_log("browser")  # what Chromium notes of calls that failed
        assert_fine(browser, one.server)
        first, second, skip, changed, last = one.answers(1)
        assert first.answer == last.answer == {"A": 1, "B": 2, "C": 2}
        assert (second.comment, second.answer["C"]) == ("hm", 2)
        assert (skip.skip, changed.assignment) == ("boundary", second.assignment)
        assert (changed.revision, changed.answer["C"]) == (2, 3)
        assert 0 < first.active_ms <= first.total_ms


@pytest.mark.long
@pytest.mark.parametrize("language", ["en", "de"])
def test_every_state(browser: Any, tmp_path: Path, language: str) -> None:
    words = PAGE_WORDS | {"consent": "You take part **freely**.", "language": language}
    with campaign_served(tmp_path, design_for("rank", 6, quota=1), words=words) as one:
        server, admin = one.server, one.server.admin

        def seen(state: str) -> None:
            """The page as it is now: wide, narrow, zoomed and dark."""
            headed(browser, load_texts(language)[KEYS_OF_TITLES.get(state, f"{state}.title")])
            assert css(browser, "html")[0].get_attribute("lang") == language
            # A link that does not work is a call that is refused, which the browser itself notes.
            assert_fine(browser, server, refused=None)
            for height in (640, 256):
                with narrow(browser, 320, height):
                    assert_fits(browser)
            with dark(browser):
                assert_accessible(browser)

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


@pytest.mark.long
def test_answers_outlive_a_closed_tab(browser: Any, tmp_path: Path) -> None:
    """The server is gone, the tab closed, the link replaced, and the study rests in the end."""
    with campaign_served(tmp_path, design_for("rank", 1)) as one:
        at_work(browser, one)
        fetched_ahead(browser)
        one.server.kill()
        answered = []
        for many in (1, 2):
            answered.append(css(browser, SOURCE)[0].text)
            submit(browser)
            status(browser, f"Not sent yet ({many})")
        change_state(one.campaign.database, "paused")
        rotate_judges(one.campaign.database, ["j0"])
        one.server.start()
        headed(browser, "This link does not work")
        assert_accessible(browser)
        assert css(browser, "a[download]")
        assert one.answers(1) == []
        browser.get("about:blank")
        browser.get(one.server.link())
        headed(browser, "Paused")
        until(browser, "document.querySelector('a[download]') === null")
        assert len({row.assignment for row in one.answers(1)}) == len(one.answers(1)) == 2
        change_state(one.campaign.database, "open")
        browser.refresh()
        submit_done(browser, 2)
        assert css(browser, SOURCE)[0].text not in answered


@pytest.mark.long
def test_page_works_where_storage_is_forbidden(browser: Any, ranking: ServedCampaign) -> None:
    forbidden = (
        "Object.defineProperty(window, 'localStorage',"
        " {get() { throw new DOMException('no', 'SecurityError'); }})"
    )
    with scripted(browser, forbidden):
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


@pytest.mark.long
def test_active_time_is_visible_and_busy(browser: Any, ranking: ServedCampaign) -> None:
    stopped = (
        "window.later = 0; performance.now = () => window.later;"
        "window.unseen = false; Object.defineProperty(document, 'hidden', {get: () => unseen})"
    )
    with scripted(browser, stopped):
        at_work(browser, ranking)

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
        submit(browser)
        stored(browser)
        logged = [json.loads(e["message"])["message"] for e in browser.get_log("performance")]
        sent = [m["params"] for m in logged if m["method"] == "Network.requestWillBeSent"]
        (put,) = (each["request"] for each in sent if each["request"]["method"] == "PUT")
        times = json.loads(put["postData"])
        assert (times["active"], times["total"]) == (130_000, 1_570_000)


@pytest.mark.long
def test_answers_of_another_campaign_are_not_sent(browser: Any, tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("one", "two")]
    for folder in folders:
        folder.mkdir()
    with campaign_served(folders[0], design_for("rank", 1)) as one:
        at_work(browser, one)
        one.server.kill()
        submit(browser)
        status(browser, "Not sent yet (1)")
        browser.get("about:blank")
        with campaign_served(folders[1], design_for("rank", 1)) as two:
            two.server.stop()
            other = LocalServer(two.server.place, one.server.port, key="f" * 64).start()
            try:
                browser.get(other.link())
                until(browser, "document.querySelector('button.main')")  # instructions again
                css(browser, "button.main")[0].click()
                until(browser, "document.querySelector('.outputs')")
                assert css(browser, ".counted")[0].text.startswith("0 ")
                submit(browser)
                submit_done(browser, 1)
                stored(browser)
                assert len(two.answers(1)) == 1
            finally:
                other.stop()


@pytest.mark.long
def test_second_tab_takes_over(browser: Any, ranking: ServedCampaign) -> None:
    judge = at_work(browser, ranking)
    first = browser.current_window_handle
    browser.switch_to.new_window("tab")
    try:
        browser.get(ranking.server.link(judge))
        until(browser, "document.querySelector('.outputs')")
        browser.switch_to.window(first)
        headed(browser, "Open in another tab")
        assert_accessible(browser)
        click(browser, "button")
        until(browser, "document.querySelector('.outputs')")
    finally:
        for handle in browser.window_handles:
            if handle != first:
                browser.switch_to.window(handle)
                browser.close()
        browser.switch_to.window(first)


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
def test_tutorial_ends_or_leads_to_work(browser: Any, tmp_path: Path) -> None:
    design = Design(judges=2, pass_mark=1.0)
    with campaign_served(tmp_path, design, examples=LESSONS, words={}) as one:
        fresh(browser, one.server.link(1))
        for attempt in (1, 2):
            told = rank(browser, right=True, words="That is how we see it too")
            assert "stands there twice <b>." in told
            assert_fine(browser, one.server)
            go_on(browser)
            told = rank(browser, right=False, words="We see it differently")
            assert ("once more" in told) == (attempt == 1)
            go_on(browser)
        headed(browser, "Thank you for trying")
        assert_fine(browser, one.server)
        fresh(browser, one.server.link(2))
        for _ in LESSONS:
            rank(browser, right=True, words="That is how we see it too")
            go_on(browser)
        until(browser, "!document.querySelector('.counted').textContent.startsWith('Practice')")


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


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedCampaign]:
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
