"""METEOR and WordNet synonyms."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from errata.core.errors import InputError, MissingExtraError, install_extra
from errata.core.parameters import About
from errata.core.stats import Floats, Ints, Progress, ratio
from errata.data import Corpus, Hypotheses
from errata.metrics.base import (
    Before,
    Description,
    Metric,
    MetricFacts,
    append_score,
    by_name,
    count_each,
    fixed_point,
    mean_own_score,
    metric,
    to_int,
)
from errata.metrics.ngrams import check_references, corrections, per_reference
from errata.models.language import load_extra

# ---- Synonyms of English words: WordNet as nltk reads it, from nltk's data or Debian's package.

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
        self._synonyms: dict[str, tuple[_Synset, ...]] = {}

    def synsets(self, word: str) -> Iterable[_Synset]:
        """One meaning with all synonyms of the word: METEOR does not tell meanings apart."""
        if self._reader is None:
            return ()
        if word not in self._synonyms:
            names = {
                lemma.name() for synset in self._reader.synsets(word) for lemma in synset.lemmas()
            }
            self._synonyms[word] = (_Synset(tuple(map(_Lemma, sorted(names)))),)
        return self._synonyms[word]


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
        return _open_wordnet_folder(found)
    if (DEBIAN / "data.noun").exists():
        if str(DEBIAN) not in data.path:
            data.path.append(str(DEBIAN))  # nltk reads nothing outside of these
        return _open_wordnet_folder(str(DEBIAN))
    raise MissingExtraError(
        "METEOR with synonyms needs WordNet, which",
        "python -m nltk.downloader wordnet, or apt install wordnet-base; or set synonyms='none'",
    )


def _open_wordnet_folder(root: Any) -> Synonyms:
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


COUNTS = ("matches", "output", "reference", "chunks")


@metric
class METEOR(Metric):
    """Words of the output that a reference has too: the same word, its stem or a synonym.

    With m matched words in c chunks (words next to each other in both texts)::

        P = m / output words      R = m / reference words      F = P R / (α P + (1 - α) R)
        score = (1 - γ (c / m)^β) F                            (0 if m = 0)

    Words are matched by ``nltk.translate.meteor_score`` (Lavie & Agarwal 2007, lower case,
    Porter's stems, WordNet's synonyms), and every sentence scored alone has nltk's score;
    METEOR 1.5, a Java program with weights and paraphrases of its own, gives other figures. Each
    sentence takes its best reference. nltk knows no score of a corpus: ``total="sum"`` is that of
    the summed counts, as METEOR's own programs have it, ``"mean"`` the mean of sentences, as the
    package evaluate. ``synonyms="none"`` goes without WordNet.

    >>> from errata.scoring.evaluate import evaluate
    >>> corpus = Corpus.from_texts(["He go home now"], [["He goes home now"]])
    >>> evaluate("meteor(synonyms=none)", corpus, {"A": ["He go home now"]})["A"]
    0.6388888888888888
    """

    name = "meteor"
    about = About(
        paper="Lavie & Agarwal 2007",
        range="from 0 to 1",
        needs=("references", "errata-gec[meteor]", "WordNet"),
    )
    headline = "METEOR"

    alpha: float = 0.9
    beta: float = 3.0
    gamma: float = 0.5
    synonyms: Literal["wordnet", "none"] = "wordnet"
    total: Literal["sum", "mean"] = "sum"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (0 <= self.alpha <= 1 and 0 <= self.gamma <= 1 and 0 <= self.beta <= 100):
            raise InputError(
                f"meteor: alpha={self.alpha}, beta={self.beta}, gamma={self.gamma}",
                remedy="alpha and gamma lie between 0 and 1, beta between 0 and 100",
            )

    @property
    def statistics(self) -> tuple[str, ...]:
        """Matched words, words of both texts, chunks; for a mean also the sentence's own score."""
        return (*COUNTS, *(("score", "sentences") if self.total == "mean" else ()))

    def count_all(
        self,
        corpus: Corpus,
        systems: Sequence[Hypotheses],
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> list[Floats]:
        """The counts of every system, in one thread: nltk reads WordNet from one open file."""
        return count_each(self.count, corpus, systems, threads=1, progress=progress)

    def count(self, corpus: Corpus, hypotheses: Hypotheses) -> Floats:
        """Matches, words and chunks beside every reference."""
        first = check_references(corpus)
        outputs = np.repeat(np.arange(len(corpus)), np.diff(first)).tolist()
        align = load_extra("nltk.translate.meteor_score", "METEOR", INSTALL).align_words
        known = self._synonyms()
        rows = [
            _match_words(align, known, hypotheses.sentences[i], reference)
            for i, reference in zip(outputs, corrections(corpus), strict=True)
        ]
        counts = per_reference(np.array(rows, np.float64).reshape(-1, len(COUNTS)), first)
        if self.total == "sum":
            return counts
        return append_score(counts, fixed_point(self._figures(counts)[2]))

    def choose(self, counts: Floats, before: Before | None = None) -> Ints:
        """The reference with the best score for the sentence; of equals the first."""
        own = self._figures(counts)[2]
        best: Ints = np.where(np.isnan(own), -1.0, own).argmax(axis=1)[None]
        return best

    def score(self, totals: Floats) -> Floats:
        """METEOR of the summed counts, or the mean of the sentences'."""
        return mean_own_score(totals) if self.total == "mean" else self._figures(totals)[2]

    def figures(self, totals: Floats) -> dict[str, Floats | Ints]:
        """Precision, recall, and how many matched words lie in how many chunks."""
        precision, recall, _ = self._figures(totals)
        counted = by_name(COUNTS, totals)
        return {
            "P": precision,
            "R": recall,
            "matches": to_int(counted["matches"]),
            "chunks": to_int(counted["chunks"]),
        }

    def describe(self, facts: MetricFacts) -> Description:
        """The versions of nltk and of WordNet."""
        return Description((f"nltk:{version('nltk')}", f"wordnet:{self._synonyms().edition}"))

    def _synonyms(self) -> Synonyms:
        return open_wordnet() if self.synonyms == "wordnet" else Synonyms()

    def _figures(self, totals: Floats) -> tuple[Floats, Floats, Floats]:
        counted = by_name(COUNTS, totals)
        matches = counted["matches"]
        precision = ratio(matches, counted["output"], 0.0)
        recall = ratio(matches, counted["reference"], 0.0)
        f = ratio(precision * recall, self.alpha * precision + (1 - self.alpha) * recall, 0.0)
        penalty = self.gamma * ratio(counted["chunks"], matches, 0.0) ** self.beta
        return precision, recall, np.asarray((1 - penalty) * f)


def _match_words(align: Any, known: Synonyms, output: str, reference: str) -> tuple[int, ...]:
    words, wanted = output.lower().split(), reference.lower().split()
    matches = align(words, wanted, wordnet=known)[0]
    joined = sum(after == (a + 1, b + 1) for (a, b), after in pairwise(matches))
    return len(matches), len(words), len(wanted), len(matches) - joined
