"""Synonyms of English words: WordNet as nltk reads it, from nltk's data or Debian's package."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from errata.errors import MissingExtraError, install_extra
from errata.models.language import load_extra

__all__ = ["Synonyms", "open_wordnet"]

INSTALL = install_extra("meteor")
DEBIAN = Path("/usr/share/wordnet")
LEXICOGRAPHERS = 45  # files of the lexicographers in WordNet 3.0, whose list Debian leaves out


class _Lemma(NamedTuple):
    text: str

    def name(self) -> str:
        """The word, as nltk's lemmas give it."""
        return self.text


class _Synset(NamedTuple):
    words: tuple[_Lemma, ...]

    def lemmas(self) -> tuple[_Lemma, ...]:
        """The words of one meaning."""
        return self.words


class Synonyms:
    """What nltk's METEOR asks of WordNet, each word looked up once; ``reader=None`` knows none."""

    def __init__(self, reader: Any = None, edition: str = "none") -> None:
        self.edition = edition
        self._reader = reader
        self._known: dict[str, tuple[_Synset, ...]] = {}

    def synsets(self, word: str) -> Iterable[_Synset]:
        """One meaning with all synonyms of the word: METEOR does not tell meanings apart."""
        if self._reader is None:
            return ()
        if word not in self._known:
            names = {
                lemma.name() for synset in self._reader.synsets(word) for lemma in synset.lemmas()
            }
            self._known[word] = (_Synset(tuple(map(_Lemma, sorted(names)))),)
        return self._known[word]


@cache
def open_wordnet() -> Synonyms:
    """WordNet from nltk's data, or where Debian's wordnet-base puts it; read once."""
    load_extra("nltk", "METEOR", INSTALL)
    data = load_extra("nltk.data", "METEOR", INSTALL)
    for place in ("corpora/wordnet.zip/wordnet/", "corpora/wordnet"):
        try:
            found = data.find(place)
        except LookupError:
            continue
        return _opened(found)
    if (DEBIAN / "data.noun").exists():
        if str(DEBIAN) not in data.path:
            data.path.append(str(DEBIAN))  # nltk reads nothing outside of these
        return _opened(str(DEBIAN))
    raise MissingExtraError(
        "METEOR with synonyms needs WordNet, which",
        "python -m nltk.downloader wordnet, or apt install wordnet-base; or set synonyms='none'",
    )


def _opened(root: Any) -> Synonyms:
    wordnet = load_extra("nltk.corpus.reader.wordnet", "METEOR", INSTALL)

    class Reader(wordnet.WordNetCorpusReader):  # type: ignore[misc, name-defined]
        def open(self, file: str) -> Any:
            # Which lexicographer wrote an entry decides nothing here.
            if file == "lexnames":
                return io.StringIO("".join(f"{k:02}\t-\t0\n" for k in range(LEXICOGRAPHERS)))
            return super().open(file)

        def map_wn(self, version: str = "") -> None:
            """No map to WordNets of other languages, which are not asked."""

    with warnings.catch_warnings():  # that other languages are missing
        warnings.simplefilter("ignore")
        reader = Reader(root, None)
        return Synonyms(reader, reader.get_version())
