"""Show the examples of docstrings as code on the page that is made from them.

In Markdown a line that begins with ``>>>`` is a quotation in a quotation in a quotation.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

# A prompt at the beginning of a line, and everything until the next blank line.
_EXAMPLE = re.compile(r"^>>> .*(?:\n.+)*", re.M)


def fenced(text: str) -> str:
    """The text with its examples between fences.

    >>> print(fenced("Add.\\n\\n>>> 1 + 1\\n2").replace("`", "'"))
    Add.
    <BLANKLINE>
    '''python
    >>> 1 + 1
    2
    '''
    """
    return _EXAMPLE.sub(lambda found: f"```python\n{found[0]}\n```", text)


class Doctests(griffe.Extension):
    """Puts fences around the examples of every docstring that is loaded."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
