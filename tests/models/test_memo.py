"""The cache on disk: several processes, crashes, and no sentence twice."""

import os
import re
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from errata.core.cache import BlobCache, folder_digest
from errata.core.errors import DataWarning, InputError
from errata.core.stats import Floats
from errata.models import CachedModel, default_cache
from errata.models.language import Cache
from fake_lm import FakeModel


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "new" / "rows.sqlite3")


def test_what_is_put_is_there_and_stays(cache: Cache) -> None:
    assert cache.get("m@1", ["a"]) == {}
    assert not cache.path.exists()
    cache.store("m@1", {"a": np.array([-1.5, 3.0]), "": np.array([0.0, 0.0])})
    found = cache.get("m@1", ["a", "", "b"])
    assert {k: v.tolist() for k, v in found.items()} == {"a": [-1.5, 3.0], "": [0.0, 0.0]}
    assert cache.get("m@2", ["a"]) == cache.get("m@0", ["a"]) == {}


def test_more_sentences_than_fit_into_one_query(cache: Cache) -> None:
    rows = {f"sentence {i}": np.array([float(i), 1.0]) for i in range(2345)}
    cache.store("m", rows)
    found = cache.get("m", list(rows))
    assert {k: v.tolist() for k, v in found.items()} == {k: v.tolist() for k, v in rows.items()}


@pytest.mark.slow
@settings(max_examples=30)
@given(
    st.dictionaries(
        st.text(alphabet=st.characters(), max_size=20),
        st.floats(allow_nan=False, allow_infinity=False),
        max_size=20,
    )
)
def test_any_text_and_any_number_survive(
    tmp_path_factory: pytest.TempPathFactory, rows: dict[str, float]
) -> None:
    cache = Cache(tmp_path_factory.mktemp("any") / "rows.sqlite3")
    cache.store("m", {text: np.array([value]) for text, value in rows.items()})
    assert {k: v.item() for k, v in cache.get("m", list(rows)).items()} == rows


def test_texts_are_not_stored(cache: Cache) -> None:
    cache.store("m", {"a secret of a learner": np.array([1.0])})
    assert b"secret" not in cache.path.read_bytes()


def test_where_it_lies(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ERRATA_CACHE", str(tmp_path / "here"))
    assert default_cache().path == tmp_path / "here" / "sentences.sqlite3"
    monkeypatch.setenv("ERRATA_CACHE", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert default_cache().path.parent.name == "errata"


def test_a_broken_file_is_warned_of_once_and_the_run_goes_on(cache: Cache) -> None:
    cache.path.parent.mkdir()
    cache.path.write_bytes(b"not a database, but long enough to be taken for one" * 100)
    model = FakeModel()
    with pytest.warns(DataWarning) as caught:
        rows = CachedModel(model.log_probs, "m", cache).rows(["a", "b", "a"])
    assert rows.shape == (3, 2)
    read, written = (str(warning.message) for warning in caught)
    assert re.search(r"rows\.sqlite3: the cache cannot be read: .*; the run goes on", read)
    assert re.search(r"cannot be written: .*delete the file .* set ERRATA_CACHE", written)
    assert CachedModel(model.log_probs, "m", cache).rows(["a"]).tolist() == rows[:1].tolist()


def test_a_folder_that_cannot_be_made_is_no_reason_to_stop(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    cache = Cache(tmp_path / "file" / "rows.sqlite3")
    assert cache.get("m", ["a"]) == {}
    with pytest.warns(DataWarning, match=r"rows\.sqlite3: the cache cannot be written: File"):
        cache.store("m", {"a": np.array([1.0])})
    assert cache.get("m", ["a"]) == {}


def test_a_cache_that_stays_locked_is_left_alone(
    cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("errata.core.cache.BUSY_SECONDS", 0.1)
    cache.store("m", {"a": np.array([1.0, 2.0])})
    holder = sqlite3.connect(cache.path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.warns(DataWarning, match="cannot be written: database is locked"):
        cache.store("m", {"b": np.array([2.0, 3.0])})
    cache.store("m", {"c": np.array([2.0, 3.0])})  # not tried again, not said again
    assert set(cache.get("m", ["a", "b", "c"])) == {"a"}  # but read
    holder.close()


@pytest.mark.parametrize(
    "value", [b"1234567", b"\0" * 24, "text", None, 3, np.array([np.nan, 2.0]).tobytes()]
)
def test_a_broken_row_is_computed_anew_and_mended(cache: Cache, value: object) -> None:
    model = FakeModel()
    right = CachedModel(model.log_probs, "m", cache).rows(["a b"])
    with sqlite3.connect(cache.path) as connection:
        connection.execute("UPDATE blobs SET value = ?", (value,))
    for _ in range(2):
        np.testing.assert_array_equal(CachedModel(model.log_probs, "m", cache).rows(["a b"]), right)
    assert model.asked == ["a b", "a b"]


@pytest.mark.skipif(os.name == "nt", reason="modes are POSIX")
def test_only_the_user_may_read_a_cache(cache: Cache) -> None:
    before = os.umask(0)
    try:
        cache.store("m", {"a": np.array([1.0])})
        assert cache.path.stat().st_mode & 0o777 == 0o600
        assert cache.path.parent.stat().st_mode & 0o777 == 0o700
        cache.path.chmod(0o644)  # as an earlier version left it
        cache.store("m", {"b": np.array([1.0])})
        assert cache.path.stat().st_mode & 0o777 == 0o600
    finally:
        os.umask(before)


def test_each_sentence_is_computed_once(cache: Cache) -> None:
    model = FakeModel()
    memo = CachedModel(model.log_probs, model.revision, cache, batch_size=2)
    first = memo.rows(["a b", "c", "a b", "d go"])
    assert first.tolist() == [[-2.0, 2.0], [-1.0, 1.0], [-2.0, 2.0], [-5.0, 2.0]]
    assert sorted(model.asked) == ["a b", "c", "d go"]
    second = CachedModel(model.log_probs, model.revision, cache).rows(["d go", "c", "e"])
    assert second.tolist() == [[-5.0, 2.0], [-1.0, 1.0], [-1.0, 1.0]]
    assert sorted(model.asked) == ["a b", "c", "d go", "e"]
    CachedModel(model.log_probs, "fake@2", cache).rows(["c"])
    assert model.asked.count("c") == 2
    assert memo.rows([]).shape == (0, 2)


def test_progress_counts_what_is_computed(cache: Cache) -> None:
    model = FakeModel()
    memo = CachedModel(model.log_probs, model.revision, cache, batch_size=2)
    memo.rows(["known"])
    seen: list[tuple[int, int]] = []
    memo.rows(["known", "1", "22", "333"], lambda done, total: seen.append((done, total)))
    assert seen == [(2, 3), (3, 3)]


def test_threads_do_not_compute_the_same_sentence(cache: Cache) -> None:
    model = FakeModel()

    def slowly(sentences: Sequence[str]) -> Floats:
        time.sleep(0.002)
        return model.log_probs(sentences)

    memo = CachedModel(slowly, model.revision, cache, batch_size=3)
    sentences = [f"s {i}" for i in range(40)]
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda i: memo.rows(sentences[i : i + 20]), range(0, 20, 2)))
    assert all((rows == [-2.0, 2.0]).all() for rows in results)
    assert sorted(model.asked) == sorted(set(model.asked))


def test_an_interrupt_loses_nothing_that_was_computed(cache: Cache) -> None:
    model = FakeModel()

    def compute(sentences: Sequence[str]) -> Floats:
        if len(model.asked) >= 6:
            raise KeyboardInterrupt
        return model.log_probs(sentences)

    sentences = ["x" * n for n in range(1, 12)]
    with pytest.raises(KeyboardInterrupt):
        CachedModel(compute, "m", cache, batch_size=2).rows(sentences)
    assert sorted(cache.get("m", sentences)) == sorted(model.asked)
    assert len(model.asked) == 6
    CachedModel(model.log_probs, "m", cache, batch_size=2).rows(sentences)
    assert sorted(model.asked) == sorted(sentences)


WRITER = """
import sys, numpy as np
from pathlib import Path
from errata.models.language import Cache
cache, who, n = Cache(Path(sys.argv[1])), int(sys.argv[2]), int(sys.argv[3])
for i in range(n):
    # Every fourth sentence is one that all processes write.
    texts = [f"{'all' if i % 4 == 0 else who} {i} {k}" for k in range(5)]
    cache.store("m", {text: np.array([float(i), 5.0]) for text in texts})
    print(i, flush=True)
"""


def writer(path: Path, who: int, n: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), str(who), str(n)],
        stdout=subprocess.PIPE,
        text=True,
    )


def written(cache: Cache, who: int, n: int) -> bool:
    texts = {
        f"{'all' if i % 4 == 0 else who} {i} {k}": float(i) for i in range(n) for k in range(5)
    }
    found = cache.get("m", list(texts))
    return {text: row[0] for text, row in found.items()} == texts


@pytest.mark.slow
def test_several_processes_write_at_once(cache: Cache) -> None:
    running = [writer(cache.path, who, 40) for who in range(4)]
    for process in running:
        process.communicate(timeout=120)
        assert process.returncode == 0
    assert all(written(cache, who, 40) for who in range(4))


@pytest.mark.slow
def test_a_killed_process_leaves_what_it_had_finished(cache: Cache) -> None:
    process = writer(cache.path, 7, 100_000)
    finished = -1
    for line in process.stdout:
        finished = int(line)
        if finished >= 20:
            break
    process.send_signal(signal.SIGKILL)
    rest = process.communicate(timeout=60)[0].split()
    finished = int(rest[-1]) if rest else finished
    assert process.returncode == -signal.SIGKILL
    assert written(cache, 7, finished + 1)
    with sqlite3.connect(cache.path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        n = connection.execute("SELECT count(*) FROM blobs").fetchone()[0]
    connection.close()
    assert n % 5 == 0  # whole batches only
    cache.store("m", {"after": np.array([1.0])})
    assert cache.get("m", ["after"])


def test_the_digest_of_a_model_follows_its_content(cache: Cache, tmp_path: Path) -> None:
    folder, blobs = tmp_path / "model", BlobCache(cache.path)
    folder.mkdir()
    with pytest.raises(InputError, match="no model in this folder"):
        folder_digest(folder, blobs)
    (folder / "config.json").write_text("{}")
    (folder / "weights.bin").write_bytes(b"\x01" * 1000)
    first = folder_digest(folder, blobs)
    assert len(first) == 64
    assert folder_digest(folder, blobs) == first
    assert folder_digest(folder, BlobCache(tmp_path / "other")) == first
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "loader.pyc").write_bytes(b"compiled today")
    assert folder_digest(folder, blobs) == first
    before = (folder / "weights.bin").stat()
    (folder / "weights.bin").write_bytes(b"\x01" * 999 + b"\x02")
    os.utime(folder / "weights.bin", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert folder_digest(folder, blobs) != first
    assert folder_digest(folder / "config.json", blobs) not in (first, "")


def test_what_is_no_file_is_left_alone(tmp_path: Path) -> None:
    """A link to /dev/null keeps nothing; whoever is root must not take it from everybody else."""
    os.mkfifo(tmp_path / "device", 0o666)
    (tmp_path / "device").chmod(0o666)
    (tmp_path / "link.sqlite3").symlink_to("device")
    cache = Cache(tmp_path / "link.sqlite3")
    with pytest.warns(DataWarning, match="the cache cannot be written: it is not a file"):
        cache.store("r", {"a": np.ones(2)})
    with pytest.warns(DataWarning, match="the cache cannot be read: it is not a file"):
        assert cache.get("r", ["a"]) == {}
    assert stat.S_IMODE((tmp_path / "device").stat().st_mode) == 0o666
