"""Fonts for names and sentences in any script."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from errata.errors import DataWarning

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["installed_fonts", "named_glyphs", "set_fonts"]

# Tried in this order for characters that matplotlib's own font lacks, where installed.
FONTS = (
    "DejaVu Sans",
    "Noto Sans",
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Sans SC",
    "WenQuanYi Zen Hei",
    "IPAexGothic",
    "Noto Sans Arabic",
    "Noto Sans Hebrew",
    "Noto Sans Devanagari",
    "Arial Unicode MS",
    "PingFang SC",
    "Microsoft YaHei",
    "MS Gothic",
)


def installed_fonts() -> list[str]:
    """The fonts that are tried one after the other, of those that are installed."""
    from matplotlib.font_manager import get_font_names

    there = set(get_font_names())
    return [name for name in FONTS if name in there]


def set_fonts(figure: Figure) -> None:
    """Give texts that matplotlib's own font cannot set the other fonts beside it.

    The others stay as they are, so that the same data give the same file on most machines.
    """
    from matplotlib.font_manager import findfont, get_font
    from matplotlib.text import Text

    known = get_font(findfont(FONTS[0])).get_charmap()
    for text in figure.findobj(Text):
        if any(ord(c) not in known for c in text.get_text() if not c.isspace()):
            text.set_fontfamily(installed_fonts())


@contextmanager
def named_glyphs(remedy: str | None) -> Iterator[None]:
    """One warning that names the characters no font has, where matplotlib gives one for each.

    ``remedy`` is what can be done instead of installing a font; None leaves the warning out.
    """
    missing: dict[str, None] = {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        if glyph := re.match(r"Glyph (\d+) ", str(warning.message)):
            missing[chr(int(glyph[1]))] = None
        else:
            warnings.warn(warning.message, stacklevel=4)
    if missing and remedy is not None:
        first = " ".join(list(missing)[:10]) + (" …" if len(missing) > 10 else "")
        warnings.warn(
            f"no installed font has {first}: boxes stand for them; install a font that "
            f"has them, such as Noto Sans CJK, or {remedy}",
            DataWarning,
            stacklevel=4,
        )
