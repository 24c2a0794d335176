"""Texts whose tokens are not apart: printed as people write them, or in a script without spaces."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from errata.io.checks.conventions import APART, GLUED, SPACELESS, Letters, letters_in
from errata.io.checks.findings import Finding
from errata.kernels import letters

__all__ = ["check_segmentation"]

LETTER = re.compile(f"[{SPACELESS}]")
# Longer than any word of segmented text, long names in katakana included.
RUN = re.compile(f"[{SPACELESS}、。，！？]{{12}}")
# More than half of the lines that could show it must; one in a short text says little.
FEWEST = 3


def check_segmentation(
    lines: Sequence[str], path: str, *, by: str | None = None, shown: Letters | None = None
) -> list[Finding]:
    """A text that looks unsegmented, or untokenised, as a whole.

    ``by`` names what has cut the text already; only what that left in one piece is of note then.
    ``shown`` is what `letters_in` the lines is, where that is known.

    >>> check_segmentation(["He go home.", "I likes it!", "So do I."], "src.txt")[0].problem
    'punctuation is glued to words in 3 of 3 lines that have some: the text looks untokenised'
    """
    if shown is None:
        shown = letters_in(lines)
    beyond = np.flatnonzero(shown & letters.BEYOND).tolist()  # what lies in ASCII is known
    spaceless = [lines[i] for i in beyond if LETTER.search(lines[i])]
    runs = sum(RUN.search(line) is not None for line in spaceless)
    if runs >= FEWEST and 2 * runs > len(lines):
        return [
            Finding(
                "warning",
                path,
                None,
                (
                    "no space for 12 characters or more"
                    if by is None
                    else f"{by} leaves 12 characters or more without a space"
                )
                + f" in {runs} of {len(lines)} lines: the text "
                "looks unsegmented, and a whole sentence counts as one word",
                "give --tokens characters, or segment all texts alike (errata tokenise)",
                "unsegmented",
            )
        ]
    if by is not None:
        return []
    parted, together = ((shown & flag) != 0 for flag in (letters.APART, letters.GLUED))
    for i in beyond:
        parted[i] = APART.search(lines[i]) is not None
        together[i] = GLUED.search(lines[i]) is not None
    glued = int(np.count_nonzero(together & ~parted))
    asked = glued + int(np.count_nonzero(parted))
    if glued >= FEWEST and 2 * glued > asked:
        return [
            Finding(
                "warning",
                path,
                None,
                f"punctuation is glued to words in {glued} of {asked} lines that have some: the "
                "text looks untokenised",
                "tokenise all texts alike: --tokens spacy:en for English, or errata tokenise; "
                "scores compare tokens",
                "untokenised",
            )
        ]
    return []
