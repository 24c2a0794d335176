"""A real Chromium for the tests of pages, and what is asked of every page.

The fixture `browser` (known to every test through ``conftest.py``) starts Chromium from the system
packages once, without a screen, and skips where there is none. A test opens a page with `opened`,
and asks `assert_quiet` (nothing on the console, no request but for the page itself) and
`assert_accessible` (axe-core finds no violation). Dark mode, a narrow window and print are context
managers.
"""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from processes import wait_until

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync "
    "--window-size=1200,900"
)
PATIENCE = 300  # seconds: it only ends a hang
TELEPHONE = (320, 640)  # as narrow as WCAG 1.4.10 asks a page to stay readable


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Chromium, driven by selenium; one for all tests of a process."""
    with chromium(tmp_path_factory.mktemp("profile")) as chrome:
        if chrome is None:
            pytest.skip("needs selenium, chromium and chromium-driver")
        yield chrome


@contextmanager
def chromium(profile: Path) -> Iterator[Any]:
    """Chromium with a profile of its own, or None where something is missing."""
    binary, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if binary is None or driver is None or find_spec("selenium") is None:
        yield None
        return
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for flag in FLAGS.split():
        options.add_argument(flag)
    options.add_argument(f"--user-data-dir={profile}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = webdriver.ChromeService(executable_path=driver)
    chrome = webdriver.Chrome(options=options, service=service)
    chrome.set_script_timeout(PATIENCE)
    try:
        yield chrome
    finally:
        chrome.quit()


def opened(browser: Any, page: Path, fragment: str = "") -> Any:
    """Open a file anew, whatever was open before; what earlier pages logged is forgotten."""
    browser.get("about:blank")  # else another fragment of the same file would not load it
    browser.execute_cdp_cmd("Page.resetNavigationHistory", {})  # a full one forgets new entries
    for log in ("browser", "performance"):
        browser.get_log(log)
    browser.get(page.as_uri() + (f"#{fragment}" if fragment else ""))
    return browser


def until(browser: Any, script: str, *given: object) -> Any:
    """Wait until an expression is true and return its value.

    An expression that fails is not true yet: what it looks for may not be on the page.
    """
    from selenium.common.exceptions import JavascriptException
    from selenium.webdriver.support.ui import WebDriverWait

    return WebDriverWait(browser, PATIENCE, 0.02, [JavascriptException]).until(
        lambda driver: driver.execute_script(f"return {script}", *given)
    )


def css(browser: Any, selector: str) -> list[Any]:
    found: list[Any] = browser.find_elements("css selector", selector)
    return found


def save_into(browser: Any, folder: Path) -> None:
    """Files that a page saves from now on go to this folder, without a question."""
    where = {"behavior": "allow", "downloadPath": str(folder)}
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", where)


def saved(path: Path) -> str:
    """Return what the browser saved there, once it is whole: empty, it only keeps its name free."""
    wait_until(lambda: path.exists() and path.stat().st_size)
    return path.read_text(encoding="utf-8")


def choose(browser: Any, name: str, label: str) -> None:
    """Choose from the list with this id, by what a reader sees."""
    from selenium.webdriver.support.ui import Select

    Select(browser.find_element("id", name)).select_by_visible_text(label)


def press(browser: Any, *keys: str) -> None:
    """Press keys one after another, wherever the focus is."""
    from selenium.webdriver import ActionChains

    ActionChains(browser).send_keys(*keys).perform()


def requests(browser: Any) -> list[str]:
    """Every address asked for since `opened`, but the page's own; a second call starts anew."""
    asked = []
    for entry in browser.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            sent = message["params"]
            if sent["type"] != "Document" or sent["request"]["url"].split(":")[0] != "file":
                asked.append(sent["request"]["url"])
    return asked


def assert_quiet(browser: Any) -> None:
    """Nothing stands on the console and nothing was asked for since `opened`."""
    assert browser.get_log("browser") == []
    assert requests(browser) == []


@cache
def _axe() -> str:
    """axe-core, out of a package that carries it; the package itself is not imported."""
    spec = find_spec("axe_playwright_python")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("needs axe-playwright-python, for its axe-core")
    folder = Path(spec.submodule_search_locations[0])
    return (folder / "axe.min.js").read_text(encoding="utf-8")


def violations(browser: Any, within: str = "") -> list[str]:
    """What axe-core finds wrong, a line each: rule, what it asks, and the first elements."""
    if not browser.execute_script("return typeof axe === 'object'"):
        browser.execute_script(_axe())
    found = browser.execute_async_script(
        "const done = arguments[1];"
        "axe.run(arguments[0] || document, {resultTypes: ['violations']})"
        ".then(result => done(result.violations), error => done(String(error)));",
        within,
    )
    assert isinstance(found, list), found
    return [
        f"{each['id']}: {each['help']}: "
        + "; ".join(f"{' '.join(map(str, n['target']))}" for n in each["nodes"][:3])
        + f" ({len(each['nodes'])})"
        for each in found
    ]


def assert_accessible(browser: Any, within: str = "") -> None:
    """axe-core finds nothing, in all its rules, on the page (or a part) as it is now shown."""
    found = violations(browser, within)
    assert found == [], found  # this module is not rewritten by pytest


@contextmanager
def dark(browser: Any) -> Iterator[None]:
    """As a reader sees it who prefers dark pages."""
    with _media(browser, "", [{"name": "prefers-color-scheme", "value": "dark"}]):
        yield


@contextmanager
def printing(browser: Any) -> Iterator[None]:
    with _media(browser, "print", []):
        yield


@contextmanager
def _media(browser: Any, media: str, features: list[dict[str, str]]) -> Iterator[None]:
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": features})
    try:
        yield
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})


@contextmanager
def narrow(browser: Any, width: int = TELEPHONE[0], height: int = TELEPHONE[1]) -> Iterator[None]:
    """As on a telephone, or as wide as said."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        yield
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def assert_fits(browser: Any) -> None:
    """Nothing has to be scrolled sideways."""
    wide, room = browser.execute_script(
        "const d = document.documentElement; return [d.scrollWidth, d.clientWidth]"
    )
    assert wide <= room
