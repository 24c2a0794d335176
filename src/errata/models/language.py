"""LanguageModel, batches, disk cache of rows.

A model turns sentences into rows of numbers; `in_batches` hands it the longest sentences first
and halves the batch where the memory is too small.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from errata.core.cache import BlobCache, cache_folder
from errata.core.errors import DataWarning, InputError, MissingExtraError
from errata.core.stats import Floats, Progress

# A token of a text that a model was made for has more bytes (SmolLM2, an English model, has 4.4 a
# token in English, 2.7 in German, 2.3 in Russian, 2.0 in Czech, 1.5 in Chinese), and a word that it
# knows a higher log-probability (the trigram model gives -5 to learners' words, -22 to others).
FEWEST_BYTES, LOWEST = 2.5, -16.0
SINGLE = 0.9  # share of tokens of one character, in a text that was cut into characters


class LanguageModel(Protocol):
    """Anything that gives sentences a probability.

    ``revision`` names the weights and everything else that decides the numbers: results computed
    is kept on disk under it. ``batch_size`` is how many sentences the model takes at a time.
    """

    @property
    def revision(self) -> str:
        """The model, its weights and its settings in one line."""

    @property
    def batch_size(self) -> int:
        """How many sentences `log_probs` should be given in one call."""

    def log_probs(self, sentences: Sequence[str]) -> Floats:
        """``[sentence, 2]``: the summed natural log-probability, and of how many tokens."""


@dataclass(frozen=True)
class Options:
    """How to run a model. ``revision`` is a tag, branch or commit of a model hub, '' its newest.

    ``device`` 'auto' takes a CUDA device where there is one. ``batch_size`` 32 is what the
    public reimplementations of Scribendi use.
    """

    revision: str = ""
    dtype: str = "float32"
    device: str = "auto"
    batch_size: int = 32

    def __post_init__(self) -> None:
        if self.batch_size < 1:
            raise InputError(f"batch_size={self.batch_size} should be 1 or more")


def warn_of_foreign(
    model: str, sentences: Sequence[str], log_probs: Sequence[Floats] | Floats
) -> None:
    """Warn where a model knows almost no word of a text, so that its numbers say nothing.

    Then it cuts the text into single bytes or gives every word the probability of an unknown one;
    ``log_probs`` are its rows for the sentences.
    """
    total, tokens = np.asarray(log_probs, np.float64).reshape(-1, 2).sum(axis=0).tolist()
    if not tokens:
        return
    size = sum(len(sentence.encode("utf-8", "replace")) for sentence in sentences)
    # The end of a sentence is a token that every model knows.
    words = max(1.0, tokens - len(sentences))
    if size / tokens >= FEWEST_BYTES and total / words > LOWEST:
        return
    cut = [token for sentence in sentences for token in sentence.split()]
    why, remedy = (
        ("the text is cut into characters", "leave out --tokens characters for this metric")
        if sum(len(token) == 1 for token in cut) > SINGLE * len(cut)
        else ("is it a model of another language?", "name one of this language with model=")
    )
    warnings.warn(
        f"the language model {model} knows almost no word of the source: {why} (A token has "
        f"{size / tokens:.1f} bytes and a mean log-probability of {total / tokens:.1f}.); {remedy}",
        DataWarning,
        stacklevel=3,
    )


def perplexity(log_probs: Floats, per: str = "token") -> Floats:
    """``exp(-Σ ln p / n)``, or ``-Σ ln p`` (``per='sentence'``); infinite without tokens.

    The perplexity of the papers is per token. The negative log-probability of the whole sentence
    does not reward a text for being cut into more tokens; it is on a logarithmic scale because
    its exponential would not fit into a number. Lower is better in both.

    >>> perplexity(np.array([[-6.0, 3.0], [0.0, 0.0]])).round(3).tolist()
    [7.389, inf]
    """
    total, tokens = log_probs[..., 0], log_probs[..., 1]
    if per == "sentence":
        return np.where(tokens > 0, -total, np.inf)
    with np.errstate(over="ignore"):
        values = np.exp(-total / np.maximum(tokens, 1))
    return np.where(tokens > 0, values, np.inf)


def in_batches(
    compute: Callable[[Sequence[str]], Floats],
    sentences: Sequence[str],
    batch_size: int,
    columns: int = 2,
    sort: bool = True,
) -> Iterator[tuple[list[str], Floats]]:
    """Yield sentences and their rows batch by batch, the longest sentences first.

    Sentences of like length stand together, so little is padded; ``sort=False`` leaves them in
    their order, for what makes batches itself. A batch that does not fit into
    memory is tried again with half as many sentences, and a warning says so.

    >>> [batch for batch, _ in in_batches(lambda s: np.zeros((len(s), 2)), ["a", "ccc", "bb"], 2)]
    [['ccc', 'bb'], ['a']]
    """
    queue = sorted(sentences, key=len, reverse=True) if sort else list(sentences)
    start = 0
    while start < len(queue):
        batch = queue[start : start + batch_size]
        try:
            rows = compute(batch)
        except Exception as error:
            if not _out_of_memory(error):
                raise
            if len(batch) == 1:
                raise InputError(
                    f"out of memory on a single sentence of {len(batch[0])} characters: "
                    f"{batch[0][:60]!r}",
                    remedy="use a smaller model or dtype='bfloat16', or split the sentence",
                ) from error
            batch_size = len(batch) // 2
            warnings.warn(
                f"out of memory with {len(batch)} sentences at a time; going on with {batch_size}",
                RuntimeWarning,
                stacklevel=2,
            )
            continue
        rows = np.asarray(rows, np.float64)
        if rows.shape != (len(batch), columns) or not np.isfinite(rows).all():
            raise InputError(
                f"the model gave an array of shape {rows.shape} (or infinite values) "
                f"for {len(batch)} sentences",
                remedy=f"it must give finite numbers [{len(batch)}, {columns}]",
            )
        yield batch, rows
        start += len(batch)


def _out_of_memory(error: Exception) -> bool:
    # torch's own class without importing torch; its CPU allocator raises a bare RuntimeError.
    return (
        isinstance(error, MemoryError)
        or type(error).__name__ == "OutOfMemoryError"
        or (isinstance(error, RuntimeError) and "can't allocate memory" in str(error))
    )


def require_modules(modules: Sequence[str], what: str, command: str) -> None:
    """Say what to install if one of the modules is missing; imports nothing."""
    for module in modules:
        if find_spec(module) is None:
            raise MissingExtraError(f"{what} needs {module}, which", command)


def load_extra(module: str, what: str, command: str) -> Any:
    """Import an optional module, or say what to install."""
    require_modules([module.partition(".")[0]], what, command)
    return import_module(module)


# ---- Numbers per sentence on disk, so that no sentence goes through a model twice.


def default_cache() -> Cache:
    """The cache in ERRATA_CACHE, or in the user's cache folder."""
    return Cache(cache_folder() / "sentences.sqlite3")


@dataclass(frozen=True)
class Cache:
    """Rows of numbers by model revision and sentence, in one file."""

    path: Path

    def get(self, revision: str, sentences: Sequence[str]) -> dict[str, Floats]:
        """The rows of those sentences that are there; bytes that are no numbers are not."""
        found = BlobCache(self.path).get(revision, sentences)
        return {
            sentence: np.frombuffer(row, "<f8")
            for sentence, row in found.items()
            if len(row) % 8 == 0
        }

    def store(self, revision: str, rows: Mapping[str, Floats]) -> None:
        """Store rows, replacing existing ones."""
        BlobCache(self.path).store(
            revision, {sentence: np.asarray(row, "<f8").tobytes() for sentence, row in rows.items()}
        )


@dataclass(frozen=True)
class CachedModel:
    """A computation on sentences that remembers its results on disk.

    ``compute`` gives ``columns`` numbers per sentence; ``revision`` must change whenever its
    results would. Threads take turns, so a sentence is computed once. ``sort`` as in `in_batches`.
    """

    compute: Callable[[Sequence[str]], Floats]
    revision: str
    cache: Cache
    columns: int = 2
    batch_size: int = 32
    sort: bool = True
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def rows(self, sentences: Sequence[str], progress: Progress | None = None) -> Floats:
        """One row per sentence; ``progress`` counts the sentences that had to be computed."""
        distinct = list(dict.fromkeys(sentences))
        with self._lock:
            known = {
                sentence: row
                for sentence, row in self.cache.get(self.revision, distinct).items()
                if row.shape == (self.columns,) and np.isfinite(row).all()
            }
            missing = [sentence for sentence in distinct if sentence not in known]
            done = 0
            for batch, rows in in_batches(
                self.compute, missing, self.batch_size, self.columns, self.sort
            ):
                found = dict(zip(batch, rows, strict=True))
                self.cache.store(self.revision, found)
                known.update(found)
                done += len(batch)
                if progress is not None:
                    progress(done, len(missing))
        return np.array([known[sentence] for sentence in sentences], np.float64).reshape(
            len(sentences), self.columns
        )

    def log_probs(self, sentences: Sequence[str]) -> Floats:
        """The rows of a language model: a `CachedModel` of one is one."""
        return self.rows(sentences)


_shared: dict[tuple[Hashable, ...], CachedModel] = {}
_sharing = threading.Lock()


def shared_model(key: tuple[Hashable, ...], make: Callable[[], CachedModel]) -> CachedModel:
    """The memo under this key, made when it is first asked for: a model is loaded once."""
    with _sharing:
        if key not in _shared:
            _shared[key] = make()
        return _shared[key]


def drop_memos(first: Hashable) -> None:
    """Drop the memos whose key starts with this."""
    with _sharing:
        for key in [key for key in _shared if key[0] == first]:
            del _shared[key]
