"""Numbers per sentence on disk, so that no sentence goes through a model twice.

The file is one of `errata.cache`. What is kept is written batch by batch, so a run that was
interrupted or killed goes on where it stopped.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from errata.cache import BlobCache, cache_folder
from errata.models.language import in_batches
from errata.numbers import Floats, Progress

__all__ = ["Cache", "Memo", "default_cache", "forget", "shared"]


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

    def put(self, revision: str, rows: Mapping[str, Floats]) -> None:
        """Keep rows, in place of what is there."""
        BlobCache(self.path).put(
            revision, {sentence: np.asarray(row, "<f8").tobytes() for sentence, row in rows.items()}
        )


@dataclass(frozen=True)
class Memo:
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
                self.cache.put(self.revision, found)
                known.update(found)
                done += len(batch)
                if progress is not None:
                    progress(done, len(missing))
        return np.array([known[sentence] for sentence in sentences], np.float64).reshape(
            len(sentences), self.columns
        )

    def log_probs(self, sentences: Sequence[str]) -> Floats:
        """The rows of a language model: a `Memo` of one is one."""
        return self.rows(sentences)


_shared: dict[tuple[Hashable, ...], Memo] = {}
_sharing = threading.Lock()


def shared(key: tuple[Hashable, ...], make: Callable[[], Memo]) -> Memo:
    """The memo under this key, made when it is first asked for: a model is loaded once."""
    with _sharing:
        if key not in _shared:
            _shared[key] = make()
        return _shared[key]


def forget(first: Hashable) -> None:
    """Drop the memos whose key starts with this."""
    with _sharing:
        for key in [key for key in _shared if key[0] == first]:
            del _shared[key]
