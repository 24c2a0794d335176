"""Pictures of pages for the docs, by Chromium: python docs/screenshots.py [report] [collect].

They are made on the built-in sample. A test sees to it that they are there and shown; pixels differ
from one browser to the next, so what is on them is tested where the pages are.
"""

from __future__ import annotations

import random
import sys
import time
from contextlib import redirect_stdout
from io import BytesIO, StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "pictures"
SIZE = (1100, 1240)


JUDGES = 3  # whose answers are made up, for the picture
ANSWERS = 24  # of each


def main() -> None:
    """Make the pages and look at them."""
    sys.path.insert(0, str(ROOT / "tests"))
    from browser import chromium

    with TemporaryDirectory() as folder, chromium(Path(folder, "profile")) as browser:
        browser.execute_cdp_cmd("Emulation.setScrollbarsHidden", {"hidden": True})
        wanted = sys.argv[1:] or ["report", "collect"]
        if "report" in wanted:
            _report(browser, Path(folder))
        if "collect" in wanted:
            _collect(browser, Path(folder))


def _report(browser: Any, folder: Path) -> None:
    from pictures import _run

    report = folder / "report.html"
    _run(["report", "--sample", "-o", str(report), "-q"])
    for name, fragment in (("report.png", ""), ("explorer.png", "#sentences")):
        browser.set_window_size(*SIZE)
        browser.get(report.as_uri() + fragment)
        time.sleep(1)  # until the first sentences are unpacked
        browser.save_screenshot(str(FOLDER / name))


def _collect(browser: Any, folder: Path) -> None:
    """A judge at work, and what the organiser sees."""
    from pictures import _run

    from browser import until
    from served import Server, free_port

    place = folder / "sample.db"
    with redirect_stdout(StringIO()):
        _run(["collect", "new", str(place), "--sample", "--judges", str(JUDGES)])
        _run(["collect", "open", str(place)])
    key = Path(f"{place}.key").read_bytes().hex()
    server = Server(str(place), free_port(), key=key).start()
    try:
        for judge in range(1, JUDGES + 1):
            _made_up(server, judge)
        browser.set_window_size(1100, 1020)
        browser.get(server.link(1))
        time.sleep(2)
        _rank(browser)
        _taken(browser, "collect-judge.png")
        browser.get(f"{server.address}admin#{server.admin}")
        until(browser, "document.querySelector('#systems table') !== null")
        time.sleep(6)
        browser.set_window_size(1100, 1190)  # down to the end of a table
        _taken(browser, "collect-organiser.png")
    finally:
        server.stop()


def _made_up(server: Any, judge: int) -> None:
    """Rankings by how much was corrected, with a judge's whims, up to a task worth showing."""
    whims = random.Random(judge)
    own = server.token(judge)
    for many in range(2 * ANSWERS):
        tasks = server.call("POST", "tasks", {"ahead": 1}, token=own)[1]["tasks"]
        if not tasks or (many >= ANSWERS and len(tasks[0]["outputs"]) > 3):
            return
        changes = {
            each["key"]: sum(kind != "same" for kind, _ in each["segments"]) + whims.gauss(0, 1)
            for each in tasks[0]["outputs"]
        }
        best = sorted(changes, key=changes.__getitem__, reverse=True)
        ranks = {name: 1 + best.index(name) for name in changes}
        body = {"revision": 1, "answer": ranks}
        server.call("PUT", f"tasks/{tasks[0]['id']}/judgment", body, token=own)


def _rank(browser: Any) -> None:
    from browser import css, press

    if not css(browser, ".outputs"):
        css(browser, "button.main")[0].click()
        time.sleep(1)
    for rank in "2131"[: len(css(browser, ".card")) - 1]:
        press(browser, rank, "j")


def _taken(browser: Any, name: str) -> None:
    """A picture of few colours, which is small."""
    from PIL import Image

    picture = Image.open(BytesIO(browser.get_screenshot_as_png())).convert("RGB")
    picture.quantize(128, dither=Image.Dither.NONE).save(FOLDER / name, optimize=True)


if __name__ == "__main__":
    main()
