"""Pictures of pages for the documentation, by Chromium: python docs/screenshots.py.

They are made on the built-in sample. A test sees to it that they are there and shown; pixels differ
from one browser to the next, so what is on them is tested where the pages are.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "pictures"
SIZE = (1100, 1240)


def main() -> None:
    """Make the pages and look at them."""
    sys.path.insert(0, str(ROOT / "tests"))
    from pictures import _run

    from browser import chromium

    with TemporaryDirectory() as folder:
        report = Path(folder, "report.html")
        _run(["report", "--sample", "-o", str(report), "-q"])
        with chromium(Path(folder, "profile")) as browser:
            for name, fragment in (("report.png", ""), ("explorer.png", "#sentences")):
                browser.set_window_size(*SIZE)
                browser.get(report.as_uri() + fragment)
                browser.execute_cdp_cmd("Emulation.setScrollbarsHidden", {"hidden": True})
                time.sleep(1)  # until the first sentences are unpacked
                browser.save_screenshot(str(FOLDER / name))


if __name__ == "__main__":
    main()
