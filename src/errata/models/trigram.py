"""The English trigram model inside the pocketsphinx wheel: small, fast, and of narrow sight.

It was made for recognising speech: 72,544 words in lower case, no punctuation, no digits, three
words of context. A correction of commas, capitals or anything further apart than three words
does not change its perplexity, or not for a good reason.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from importlib.metadata import version
from typing import Any

import numpy as np

from errata.errors import InputError, install_extra
from errata.models.language import Options, load_extra, require_modules
from errata.numbers import Floats

__all__ = ["TrigramModel", "words"]

INSTALL = install_extra("trigram")
# ln p of the rarest word in the model (a surname); words it does not know get the same.
UNKNOWN = -21.804909772678815
_CONTRACTION = re.compile(r"(?<!\s)\s++(?=(?:n't|'(?:s|re|ve|ll|d|m))(?!\w))")
_WORD = re.compile(r"\w+(?:['\-]\w+)*")


def words(sentence: str) -> list[str]:
    """The words the model sees: lower-case, contractions joined, no punctuation.

    >>> words("It 's well-known , they do n't care .")
    ["it's", 'well-known', 'they', "don't", 'care']
    """
    text = sentence.lower().replace("’", "'")
    return _WORD.findall(_CONTRACTION.sub("", text))


class TrigramModel:
    """The model, loaded when first needed (a fraction of a second)."""

    batch_size = 4096

    def __init__(self, options: Options) -> None:
        default = Options(batch_size=options.batch_size)
        if options != default:
            raise InputError("trigram has no revision, dtype or device", remedy="leave them out")
        require_modules(["pocketsphinx"], "the language model trigram", INSTALL)

    @property
    def revision(self) -> str:
        """The version of the wheel, and of the rules by which words are made."""
        return f"trigram@pocketsphinx-{version('pocketsphinx')} words:1"

    def log_probs(self, sentences: Sequence[str]) -> Floats:
        """Summed log-probability and number of words; the end of the sentence is one of them.

        A hyphenated word that the model does not know is taken apart; other unknown words count
        as much as the rarest known one. A sentence without any word has no tokens.
        """
        return np.array([self._sentence(sentence) for sentence in sentences]).reshape(-1, 2)

    def _sentence(self, sentence: str) -> tuple[float, float]:
        model, log_math, _ = self._loaded
        zero = log_math.get_zero() // 2  # impossible, give or take back-off weights
        known = []
        for word in words(sentence):
            if "-" in word and model.prob([word]) < zero:
                known += word.split("-")
            else:
                known.append(word)
        if not known:
            return 0.0, 0.0
        chain = ["<s>", *known, "</s>"]
        total = 0.0
        for i in range(1, len(chain)):
            log = model.prob(chain[max(0, i - 2) : i + 1][::-1])  # the word first, then its past
            total += UNKNOWN if log < zero else log_math.log_to_ln(log)
        return total, float(len(chain) - 1)

    @cached_property
    def _loaded(self) -> tuple[Any, Any, Any]:
        sphinx = load_extra("pocketsphinx", "the language model trigram", INSTALL)
        sphinx.set_loglevel("ERROR")
        config, log_math = sphinx.Config(), sphinx.LogMath()
        path = sphinx.get_model_path("en-us/en-us.lm.bin")
        # The model borrows the other two; all three must live as long as it does.
        return sphinx.NGramModel(config, log_math, path), log_math, config
