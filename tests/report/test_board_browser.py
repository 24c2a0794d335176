"""A leaderboard in a real Chromium: quiet, accessible, sortable, linked, in any light and width."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from board_sample import sample_board, submit
from browser import assert_accessible, assert_fits, assert_quiet, css, dark, narrow, opened
from command import errata

pytest.importorskip("jinja2")
pytestmark = pytest.mark.browser
HOSTILE = '<script>alert(1)</script> "quoted" \u05d0\u05d1 ' + "w" * 1000


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two days of a board, with a card that tries to do harm and a submission that does not fit."""
    folder = sample_board(tmp_path_factory.mktemp("board"))
    errata("leaderboard", folder, env={"SOURCE_DATE_EPOCH": "1763200000"})
    better = (folder / "submissions/eager/output.txt").read_text("utf-8")
    odd = submit(
        folder, "<b>odd & ends", better.replace("the", "a"), more="description = '''x'''\n"
    )
    card = (odd / "card.toml").read_text("utf-8")
    (odd / "card.toml").write_text(card.replace("'''x'''", f"'''{HOSTILE}'''"), encoding="utf-8")
    submit(folder, "short", "one line\n")
    errata("leaderboard", folder, env={"SOURCE_DATE_EPOCH": "1763300000"}, code=1)
    return folder / "site"


def test_journey_through_a_leaderboard(browser: Any, site: Path) -> None:
    opened(browser, site / "index.html")
    assert_quiet(browser)
    assert_accessible(browser)
    assert_fits(browser)
    with dark(browser):
        assert_accessible(browser)
    with narrow(browser):
        assert_fits(browser)
    assert not css(browser, "script:not([src]) ~ b")
    assert browser.title == "The sample's leaderboard"

    # Tables are sorted, and systems have pages.
    def names() -> list[str]:
        return [each.text for each in css(browser, "#t-board-1 tbody th")]

    before = names()
    assert before[0] == "eager"
    assert len(before) == 6
    (button,) = [b for b in css(browser, "#t-board-1 .sort") if b.text == "system"]
    button.click()
    assert names() == sorted(before, key=str.casefold)
    css(browser, "#t-board-1 tbody th a")[1].click()
    assert "/systems/" in browser.current_url
    assert browser.title == sorted(before, key=str.casefold)[1]
    assert_quiet(browser)
    assert_accessible(browser)
    css(browser, "#card a")[0].click()
    assert browser.current_url.endswith("index.html")
    # A card that tries to do harm is text.
    (page,) = [p for p in (site / "systems").iterdir() if "odd" in p.name]
    opened(browser, page)
    assert browser.title == "<b>odd & ends"
    assert HOSTILE in css(browser, ".card")[0].get_attribute("textContent")
    assert_quiet(browser)
    with narrow(browser):
        assert_fits(browser)


WELL = (
    '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Well</title></head>'
    "<body><main><h1>Well</h1>{}</main></body></html>"
)


WRONG = {
    "<script>console.log('said')</script>": assert_quiet,
    "<script>nothing.there()</script>": assert_quiet,
    "<script>new Image().src = 'https://example.org/a.png'</script>": assert_quiet,
    "<script>fetch('other.json').catch(() => 0)</script>": assert_quiet,
    "<input>": assert_accessible,
    '<p style="color: #bbb">pale</p>': assert_accessible,
    '<div style="width: 400px">wide</div>': assert_fits,
}


def test_what_is_wrong_is_found(browser: Any, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    with narrow(browser):
        for inside, check in WRONG.items():
            page.write_text(WELL.format(inside), encoding="utf-8")
            opened(browser, page)
            with pytest.raises(AssertionError):
                check(browser)
        page.write_text(WELL.format("<p>fine</p>"), encoding="utf-8")
        opened(browser, page)
        for check in (assert_quiet, assert_accessible, assert_fits):
            check(browser)
