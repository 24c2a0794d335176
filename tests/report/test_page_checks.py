"""The checks that every page is put through do find what is wrong with a page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from browser import assert_accessible, assert_fits, assert_quiet, narrow, opened

pytestmark = pytest.mark.browser
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
