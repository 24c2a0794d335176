"""What tests of the pages of `errata collect` share: campaigns that are served once, and judges."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import select

from browser import assert_accessible, css, press, requests, until
from campaigns import material
from errata.collect.design import Design, Scale
from errata.collect.items import CampaignTexts
from errata.collect.web.schema import assignments, judgments
from served import Server, served
from stored_campaigns import Made, made

KINDS = ("rank", "pair", "score", "edits", "correct", "review")
PAGE_WORDS = {"instructions": "# Rank\n\nRead *all* of them."}
SCALES = (Scale("grammaticality"), Scale("fluency", 0, 4, ("bad", "good")))


class ServedCampaign:
    """A campaign with its server, and a new judge for every test."""

    def __init__(self, campaign: Made, server: Server) -> None:
        self.campaign, self.server = campaign, server
        self._next = 0

    def judge(self) -> int:
        self._next += 1
        return self.campaign.judges[self._next - 1].id

    def answers(self, judge: int) -> list[Any]:
        with self.campaign.database.reading() as connection:
            query = (
                select(judgments)
                .join(assignments, assignments.c.id == judgments.c.assignment)
                .where(assignments.c.judge == judge)
                .order_by(judgments.c.id)
            )
            return list(connection.execute(query).all())


def design_for(kind: str, judges: int = 20, **more: Any) -> Design:
    options: dict[str, Any] = {
        "kind": kind,
        "judges": judges,
        "quota": 6,
        "repeats": 0,
        "controls": 0,
        "overlap": 1.0,
        "judges_per_item": judges,
        "outputs": {"rank": 3, "pair": 2}.get(kind, 0),
        "scales": SCALES if kind == "score" else (),
    }
    return Design(**(options | more))


@contextmanager
def campaign_served(
    folder: Path, design: Design, texts: CampaignTexts | None = None, **options: Any
) -> Iterator[ServedCampaign]:
    """A campaign in a new file of a folder, behind a server of its own."""
    place = folder / "campaign.db"
    if texts is None:
        texts = material(12, 4, sharing=0.0)
    campaign = made(str(place), design, texts, **({"words": PAGE_WORDS} | options))
    try:
        with served(str(place)) as server:
            yield ServedCampaign(campaign, server)
    finally:
        campaign.database.close()


def fresh(browser: Any, address: str) -> None:
    """Open an address with nothing kept on the device and nothing logged before."""
    browser.get("about:blank")
    origin = "/".join(address.split("/")[:3])
    browser.execute_cdp_cmd("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})
    for log in ("browser", "performance"):
        browser.get_log(log)
    browser.get(address)


def at_work(browser: Any, served_campaign: ServedCampaign, judge: int | None = None) -> int:
    """A new judge's page, instructions read; gives the judge."""
    judge = served_campaign.judge() if judge is None else judge
    fresh(browser, served_campaign.server.link(judge))
    until(browser, "document.querySelector('button.main, .outputs')")
    if not css(browser, ".outputs"):
        css(browser, "button.main")[0].click()
    until(browser, "document.querySelector('.work .outputs') !== null")
    return judge


def assert_fine(browser: Any, server: Server, *, refused: int | None = 0) -> None:
    """axe-core finds nothing, no other host was asked for anything, and the console is empty.

    The browser notes each call that was ``refused``; None where it does not matter how many.
    """
    assert_accessible(browser)
    noted = browser.get_log("browser")
    assert all("Failed to load resource" in line["message"] for line in noted), noted
    assert refused is None or len(noted) == refused, noted
    own = (server.address, "about:", "data:", f"blob:{server.address}")
    assert [asked for asked in requests(browser) if not asked.startswith(own)] == []


def click(browser: Any, selector: str) -> None:
    """Click something, in the middle of the window, where no line of the page covers it."""
    found = css(browser, selector)[0]
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", found)
    found.click()


@contextmanager
def network(browser: Any, *, offline: bool = False, latency: int = 0) -> Iterator[None]:
    def emulate(offline: bool, latency: int) -> None:
        conditions = {"offline": offline, "latency": latency}
        conditions |= {"downloadThroughput": -1, "uploadThroughput": -1}
        browser.execute_cdp_cmd("Network.emulateNetworkConditions", conditions)

    browser.execute_cdp_cmd("Network.enable", {})
    emulate(offline, latency)
    try:
        yield
    finally:
        emulate(False, 0)


@contextmanager
def scripted(browser: Any, source: str) -> Iterator[None]:
    """Run a script in every new page before its own."""
    script = browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": source})
    try:
        yield
    finally:
        browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)
        browser.get("about:blank")


def fetched_ahead(browser: Any) -> None:
    """Wait until the page has asked for the task after the one it shows."""
    asked = "performance.getEntriesByType('resource').filter(e => e.name.endsWith('/tasks'))"
    until(browser, f"{asked}.length > 1")


def stored(browser: Any) -> None:
    """Wait until the line at the bottom says that everything is stored."""
    until(browser, "document.getElementById('status').textContent === 'Stored'")


def submit(browser: Any, kind: str = "rank") -> None:
    """Answer what is shown with keys alone, and send it."""
    answer_by_keys(browser, kind)
    control_enter(browser)


def status(browser: Any, text: str) -> None:
    """Wait until the line at the bottom contains this."""
    until(browser, "document.getElementById('status').textContent.includes(arguments[0])", text)


def headed(browser: Any, title: str) -> None:
    until(browser, "document.querySelector('h1')?.textContent === arguments[0]", title)


def focused(browser: Any) -> str:
    """The id of what has the focus, or its class."""
    found: str = browser.execute_script(
        "const a = document.activeElement; return a.id || a.dataset.key || a.className || a.tagName"
    )
    return found


def control_enter(browser: Any) -> None:
    from selenium.webdriver import ActionChains, Keys

    chain = ActionChains(browser).key_down(Keys.CONTROL).send_keys(Keys.ENTER)
    chain.key_up(Keys.CONTROL).perform()


def answer_by_keys(browser: Any, kind: str) -> None:
    """Answer what is shown with keys alone, and go to the button that submits, where Enter does."""
    from selenium.webdriver import Keys

    if kind == "pair":
        press(browser, Keys.ARROW_LEFT, Keys.ENTER)
    elif kind == "score":
        press(browser, Keys.END, Keys.ENTER, "3", Keys.ENTER)
    elif kind in ("rank", "edits"):
        many = len(css(browser, ".card"))
        first, rest = ("1", "2") if kind == "rank" else ("g", "b")
        press(browser, first, Keys.ENTER)
        for _ in range(many - 1):
            press(browser, rest, Keys.ENTER)
    elif kind == "correct":
        press(browser, Keys.END, " too")
    else:
        press(browser, " ")


def submit_done(browser: Any, done: int) -> None:
    """Wait until so many are counted, and the next is shown."""
    until(
        browser,
        "document.querySelector('.counted')?.textContent.startsWith(arguments[0] + ' ')"
        " && document.querySelector('.work .outputs') !== null"
        " || document.querySelector('h1').textContent === 'Thank you'",
        str(done),
    )
