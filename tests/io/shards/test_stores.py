"""Inputs in object stores: in memory for the small things, and a real server on loopback."""

from __future__ import annotations

import gzip
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from command import errata, errata_process
from errata.core.errors import InputError, MissingExtraError
from errata.io import read_text
from errata.io.corpus import CorpusFiles
from errata.io.files import is_url
from errata.io.shards.batches import read_shard, stream_batches
from errata.io.shards.plan import plan_shards
from errata.io.storage import WAITING, open_folder

fsspec = pytest.importorskip("fsspec")

SOURCES = [f"This be sentence {k} ." for k in range(50)]
GOLD = "".join(f"S {s}\nA 1 2|||V|||is|||REQUIRED|||-NONE-|||0\n\n" for s in SOURCES)


@pytest.fixture
def memory():
    store = fsspec.filesystem("memory")
    yield store
    store.rm("/errata", recursive=True)


def test_patterns_in_a_store(memory) -> None:
    for k in (2, 10):
        memory.pipe(f"/errata/gold-{k}.m2", GOLD.encode())
        memory.pipe(
            f"/errata/ours-{k}.txt.gz", gzip.compress("".join(f"{s}\n" for s in SOURCES).encode())
        )
    inputs = CorpusFiles(
        gold="memory://errata/gold-*.m2", outputs=(("ours", "memory://errata/ours-*.txt.gz"),)
    )
    shards = plan_shards(inputs)
    names = [shard.pieces["gold"][0].uri.rpartition("/")[2] for shard in shards]
    assert names == ["gold-2.m2", "gold-10.m2"]
    got = [corpus for shard in shards for corpus, _ in read_shard(shard, inputs)]
    assert [corpus.sources for corpus in got] == [tuple(SOURCES)] * 2
    assert [len(corpus) for corpus, _ in stream_batches(inputs, batch=30)] == [30, 20, 30, 20]
    plain = CorpusFiles(gold="memory://errata/gold-2.m2")
    cut = plan_shards(plain, shard_sentences=20)
    assert [len(c) for shard in cut for c, _ in read_shard(shard, plain)] == [20, 20, 10]
    memory.pipe("/errata/gold-2.m2", GOLD.encode() + b"\n")
    with pytest.raises(InputError, match="has changed since the run was planned"):
        list(read_shard(cut[0], plain))


def test_one_file_by_url_everywhere(memory, tmp_path: Path) -> None:
    memory.pipe("/errata/s.txt", b"a\nb\n")
    assert read_text("memory://errata/s.txt") == ("a", "b")
    (tmp_path / "s.txt").write_text("c\n")
    assert read_text(f"file://{tmp_path}/s.txt") == ("c",)


def test_what_is_not_there(memory, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.pipe("/errata/x", b"")
    with pytest.raises(InputError, match=r"memory://errata/no\.txt: .*there is no such file"):
        read_text("memory://errata/no.txt")
    with pytest.raises(InputError, match="no file fits the pattern"):
        plan_shards(CorpusFiles(source="memory://errata/no-*.txt"))
    with pytest.raises(InputError, match="nowhere://x: "):
        read_text("nowhere://x")
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'errata-gec\[scale\]'"):
        read_text("memory://errata/s.txt")


def test_paths_are_no_urls() -> None:
    paths = ["a.txt", "C:\\a.txt", "a:b/c", "dir/a://b", "-", "://x", "1a://b"]
    assert [path for path in (*paths, "s3://b") if is_url(path)] == ["s3://b"]


@pytest.fixture(scope="module")
def bucket():
    """A server that speaks S3, on a free port of this machine."""
    pytest.importorskip("s3fs")
    server = pytest.importorskip("moto.server")
    running = server.ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    running.start()
    try:
        host, port = running.get_host_and_port()
        storage = {"endpoint_url": f"http://{host}:{port}", "key": "test", "secret": "test"}
        store = fsspec.filesystem("s3", **storage)
        store.mkdir("errata-logs")
        yield store, storage
    finally:
        running.stop()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_run_whose_folder_and_inputs_are_in_a_store(bucket, tmp_path: Path) -> None:
    """Worker processes read and write there; what opens the store is not written."""
    store, storage = bucket
    text = "".join(f"{s.replace('be', 'is')}\n" for s in SOURCES)
    for name, content in (("g.m2", GOLD), ("o.txt", text)):
        store.pipe(f"errata-logs/whole/{name}", content.encode())
        (tmp_path / name).write_text(content)
    given = [part for key, value in storage.items() for part in ("--storage", f"{key}={value}")]
    run = ("--run", "s3://errata-logs/run")
    what = ["--gold", "s3://errata-logs/whole/g.m2", "ours=s3://errata-logs/whole/o.txt"]
    done = errata_process("scale", "run", *run, *what, "-m", "m2", *given, "--format", "tsv")
    whole = errata(
        "score", "--gold", "g.m2", "ours=o.txt", "-m", "m2", "--format", "tsv", cwd=tmp_path
    )
    assert done.stdout.split("\t")[:15] == whole.stdout.split("\t")[:15]
    plan = store.cat("errata-logs/run/manifest.json")
    assert b"secret" not in plan
    errata_process("scale", "clean", *run, *given, "--all")
    store.invalidate_cache()
    assert store.find("errata-logs/run") == []
    with pytest.raises(InputError, match="s3://errata-logs/none"):
        list(stream_batches(CorpusFiles(source="s3://errata-logs/none", storage=storage)))


@pytest.mark.slow
def test_many_may_write_side_by_side(tmp_path: Path) -> None:
    """The folder in which files wait is taken away by whoever leaves it empty."""
    folder = open_folder(str(tmp_path))

    def write(number: int) -> None:
        for _ in range(300):
            with folder.temporary_folder() as beside:
                (beside / "file").write_text(str(number))

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(write, range(8)))
    assert not (tmp_path / WAITING).exists()
