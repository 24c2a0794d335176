"""The readers of runs, shards and tables, with files that they read well."""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory


def packed_counts() -> list[bytes]:
    """Counts of whole numbers, of fractions, with references that are missing, and of nothing."""
    import numpy as np

    from errata.io.shards.counts import pack_counts

    some = np.arange(24.0).reshape(4, 2, 3)
    missing = some.copy()
    missing[1, 1] = np.nan
    return [pack_counts(each) for each in (some, missing, some / 7, some * 1000, some[:0])]


def unpacked(path: Path) -> object:
    """Bytes as counts: as they are, or, where that is all that is wrong, with a new checksum."""
    from errata.core.errors import InputError
    from errata.io.shards.counts import CHECKSUM, HEADER, unpack_counts

    data = path.read_bytes()
    try:
        return unpack_counts(data)
    except InputError:
        start, body = data[: HEADER.size], data[HEADER.size + CHECKSUM.size :]
        return unpack_counts(start + CHECKSUM.pack(zlib.crc32(body, zlib.crc32(start))) + body)


def count_files() -> list[bytes]:
    """Batches of counts one after the other, each with its length before it."""
    packed = packed_counts()
    parts = [len(each).to_bytes(8, "little") + each for each in packed]
    return [b"".join(parts), b"".join(parts[:2]), b""]


def count_in(path: Path) -> object:
    """All batches of a file that a record names by its true digest."""
    from errata.io.storage import LocalFolder
    from errata.scale.shard_job import CountFile, read_count_file

    data = path.read_bytes()
    known = CountFile(len(data), hashlib.sha256(data).hexdigest())
    return [*read_count_file(LocalFolder(str(path.parent)), path.name, known, 0)]


@contextmanager
def _run() -> Iterator[Path]:
    """A run with one task done, from files with the same names and times at any place."""
    with TemporaryDirectory() as name, chdir(name):
        yield _planned(Path())


def _planned(folder: Path) -> Path:
    from errata.io.corpus import CorpusFiles
    from errata.io.storage import LocalFolder
    from errata.scale.manifest import MetricPlan
    from errata.scale.run import plan_run
    from errata.scale.shard_job import run_job

    gold, out = folder / "gold.m2", folder / "A.txt"
    gold.write_text("S a b\nA 0 1|||R|||c|||REQUIRED|||-NONE-|||0\n\nS d e\n\n")
    out.write_text("c b\nd e\n")
    for each in (gold, out):
        os.utime(each, (0, 0))  # plans name when files were changed
    inputs = CorpusFiles(gold=str(gold), outputs=(("A", str(out)),))
    place = LocalFolder(str(folder / "run"))
    manifest = plan_run(place, MetricPlan(("m2()",)), [("gold", inputs)], shard_sentences=1)
    run_job(place, manifest, 0)
    return folder / "run"


def manifests() -> list[bytes]:
    """The plan of a small run."""
    with _run() as run:
        return [(run / "manifest.json").read_bytes()]


def plan_in(path: Path) -> object:
    """The plan, once as it is and once with a digest that fits."""
    from errata.core.errors import InputError
    from errata.io.storage import LocalFolder
    from errata.scale.manifest import Manifest, read_manifest

    folder = LocalFolder(str(path.parent))
    plan = path.parent / "manifest.json"
    plan.write_bytes(path.read_bytes())
    try:
        return read_manifest(folder)
    except InputError as error:
        if "its digest is another" not in str(error):
            raise
        digest = Manifest.digest
        Manifest.digest = property(lambda _: json.loads(plan.read_bytes())["digest"])  # type: ignore[assignment,method-assign]
        try:
            found = read_manifest(folder)
        finally:
            Manifest.digest = digest  # type: ignore[method-assign]
        return found and [*found.lines()]


def records() -> list[bytes]:
    """What a task says of itself."""
    from errata.scale.manifest import seal

    with _run() as run:
        told = json.loads((run / "records" / "00000000.json").read_bytes())["record"]
    return [seal(told | {"host": "here", "peak_bytes": 1, "processor": 0.5, "seconds": 0.5})]


def record_in(path: Path) -> object:
    """A record, sealed anew where it is JSON; none where it cannot be read."""
    from types import SimpleNamespace
    from typing import Any

    from errata.io.records import decode_json
    from errata.io.storage import LocalFolder
    from errata.scale.manifest import seal
    from errata.scale.shard_job import read_record, record_name

    data = path.read_bytes()
    plan: Any = SimpleNamespace(digest="")
    try:
        inner = decode_json(data.decode("utf-8"))["record"]
        plan.digest = inner["manifest"]
        data = seal(inner)
    except (ValueError, KeyError, TypeError, UnicodeError):
        pass
    target = path.parent / record_name(0)
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(data)
    found = read_record(LocalFolder(str(path.parent)), plan, 0)
    return None if found is None else found.to_json()


def parquets() -> list[bytes]:
    """Tables with references, edits and documents, in several row groups."""
    import pyarrow
    from pyarrow.parquet import write_table

    edit = {"annotator": 0, "start": 0, "end": 1, "replacement": "c", "kind": "R"}
    tables = [
        {"source": ["a b", "d"], "hypothesis": ["c b", ""], "references": [["c b"], None]},
        {"source": ["a b", "d"], "hyp:A": ["c b", "d"], "edits": [[edit], []], "id": [1, 2]},
        {"source": ["a b"], "hyp:A": ["c"], "m2": ["A 0 1|||R|||c|||REQUIRED|||-NONE-|||0"],
         "document": ["x"]},
    ]  # fmt: skip
    found = []
    for columns in tables:
        buffer = BytesIO()
        write_table(pyarrow.table(columns), buffer, row_group_size=1, compression="none")
        found.append(buffer.getvalue())
    return found


def parquet_in(path: Path) -> object:
    """All batches of a table."""
    from errata.io.corpus import CorpusFiles
    from errata.io.shards.batches import stream_batches

    return [*stream_batches(CorpusFiles(parquet=str(path), guard=False), batch=1)]


def read_shards(path: Path) -> object:
    """M2 as gold, cut into small shards and as one stream: the same sentences."""
    from errata.io.corpus import CorpusFiles
    from errata.io.shards.batches import read_shard, stream_batches
    from errata.io.shards.plan import plan_shards

    inputs = CorpusFiles(gold=str(path), guard=False)
    whole = [source for corpus, _ in stream_batches(inputs, batch=2) for source in corpus.sources]
    shards = plan_shards(inputs, shard_bytes=150)
    parts = [
        source for shard in shards for corpus, _ in read_shard(shard, inputs, batch=3)
        for source in corpus.sources
    ]  # fmt: skip
    assert parts == whole
    return parts
