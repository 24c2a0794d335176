"""Find errors in the pages that were made by running notebooks.

``python docs/check_site.py site`` lists each one and exits with code 1.
"""

from __future__ import annotations

import html
import re
import sys
from pathlib import Path

# Python errors, in a cell or in a program that a cell ran; the messages of errata and of Click.
_ERRORS = re.compile(r"^.*Traceback \(most recent call last\)|^errata: .*|^Usage: errata .*", re.M)
_ERROR_OUTPUT = re.compile(r'<div [^>]*data-mime-type="application/vnd\.jupyter\.(?:stderr|error)"')
_OUTPUTS = re.compile(r'class="[^"]*jp-OutputArea-output[^>]*>\s*<pre>(.*?)</pre>', re.S)


def page_errors(page: str) -> list[str]:
    """Return the errors in the outputs of an executed page.

    >>> page_errors('<div class="jp-OutputArea-output"><pre>errata: a.txt: no file</pre></div>')
    ['errata: a.txt: no file']
    >>> page_errors("<pre>Traceback (most recent call last)</pre> explained in the text")
    []
    """
    found = _ERROR_OUTPUT.findall(page)[:1] and ["a cell wrote to standard error"]
    for output in _OUTPUTS.findall(page):
        found += _ERRORS.findall(html.unescape(re.sub(r"<[^>]+>", "", output)))
    return found


def site_errors(site: Path, docs: Path) -> list[str]:
    """Return the errors of every page of ``site`` that comes from a notebook in ``docs``."""
    found = []
    for notebook in sorted(docs.rglob("*.ipynb")):
        page = site / notebook.relative_to(docs).with_suffix("") / "index.html"
        text = page.read_text(encoding="utf-8")
        if not _OUTPUTS.search(text):
            found.append(f"{page}: no output: the notebook was not executed")
        found += [f"{page}: {error}" for error in page_errors(text)]
    return found


if __name__ == "__main__":
    errors = site_errors(Path(sys.argv[1]), Path(__file__).parent)
    sys.exit("\n".join(errors) if errors else 0)
