"""However files are cut, what is read from the parts is what is read from the whole."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from errata.data import Corpus, Hypotheses
from errata.io import read_corpus
from errata.io.corpus import CorpusFiles
from errata.io.outputs import read_systems
from errata.io.shards import plan as shards_plan
from errata.io.shards.batches import read_shard, stream_batches
from errata.io.shards.inputs import Shard
from errata.io.shards.plan import plan_shards
from run_folders import cut_shards, joined

WORDS = st.sampled_from(["a", "bé", "c", "dog", "don't", "。", "ß"])
TEXT = st.lists(WORDS, max_size=6).map(" ".join)
BLANK = st.sampled_from(["\n", "\n", "\n", "\n\n", "\r\n", " \n", "\u3000\n"])
MISSING = "<none>"


@st.composite
def edits(draw, length: int, annotator: int) -> list[str]:
    if draw(st.booleans()):
        return [f"A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||{annotator}"]
    places = sorted(draw(st.sets(st.integers(0, max(length - 1, 0)), max_size=2)))
    return [
        f"A {at} {min(at + 1, length)}|||X|||{draw(TEXT)}|||REQUIRED|||-NONE-|||{annotator}"
        for at in places
    ]


@st.composite
def m2(draw, sources: list[str], annotators: list[int]) -> str:
    text = draw(st.sampled_from(["", "\ufeff", "\n", "\n \n"]))
    for source in sources:
        end = draw(st.sampled_from(["\n", "\n", "\r\n"]))
        lines = [f"S {source}" if source or draw(st.booleans()) else "S"]
        for annotator in draw(st.permutations(annotators)):
            lines += draw(edits(len(source.split()), annotator)) if draw(st.booleans()) else []
        if draw(st.integers(0, 9)) == 0:
            lines.insert(draw(st.integers(0, 1)), "I a line that nobody reads")
        text += "".join(line + end for line in lines) + draw(BLANK)
    return text.rstrip("\n") if draw(st.booleans()) and sources else text


@st.composite
def text_file(draw, lines: list[str]) -> str:
    ends = [draw(st.sampled_from(["\n", "\n", "\r\n"])) for _ in lines]
    text = "".join(line + end for line, end in zip(lines, ends, strict=True))
    if lines and lines[-1] and draw(st.booleans()):
        text = text.removesuffix(ends[-1])
    return draw(st.sampled_from(["", "\ufeff"])) + text


@dataclass
class Given:
    """Texts of files by role, and how they are read."""

    files: dict[str, str]
    sentences: int
    options: dict = field(default_factory=dict)


@st.composite
def givens(draw) -> Given:
    sources = draw(st.lists(TEXT, min_size=1, max_size=12))
    n = len(sources)
    files = {}
    options: dict = {}
    if draw(st.booleans()):
        annotators = draw(st.sampled_from([[0], [0, 1], [3, 1, 10]]))
        files["gold.m2"] = draw(m2(sources, annotators))
        if draw(st.booleans()):
            files["source.txt"] = draw(text_file(sources))
        options["compatible"] = draw(st.booleans())
        options["tokens"] = draw(st.sampled_from(["as_is", "as_is", "characters"]))
    else:
        files["source.txt"] = draw(text_file(sources))
        for k in range(draw(st.integers(0, 3))):
            lines = draw(st.lists(TEXT | st.just(MISSING), min_size=n, max_size=n))
            files[f"ref{k}.txt"] = draw(text_file(lines))
        options["missing"] = draw(st.sampled_from([None, MISSING]))
        options["tokens"] = draw(st.sampled_from(["as_is", "characters"]))
    for k in range(draw(st.integers(0, 2))):
        files[f"sys{k}.txt"] = draw(text_file(draw(st.lists(TEXT, min_size=n, max_size=n))))
    if draw(st.booleans()):
        files["sysm.m2"] = draw(m2(sources, [draw(st.sampled_from([0, 2]))]))
    return Given(files, n, options)


def written(folder: Path, given: Given, pack=lambda data: data, ending: str = "") -> CorpusFiles:
    for name, text in given.files.items():
        (folder / (name + ending)).write_bytes(pack(text.encode()))
    at = {name: str(folder / (name + ending)) for name in given.files}
    return CorpusFiles(
        gold=at.get("gold.m2"),
        source=at.get("source.txt"),
        references=tuple(at[name] for name in at if name.startswith("ref")),
        outputs=tuple((name.partition(".")[0], at[name]) for name in at if name[:3] == "sys"),
        guard=False,
        **given.options,
    )


def whole(inputs: CorpusFiles, **more) -> tuple[Corpus, list[Hypotheses]]:
    names = ("gold", "source", "references", "missing", "compatible", "tokens", "guard")
    given = {name: getattr(inputs, name) for name in names}
    corpus = read_corpus(**given, annotators=inputs.annotators or None)
    outputs = [f"{name}={path}" for name, path in inputs.outputs]
    return corpus, read_systems(outputs, corpus=corpus, guard=inputs.guard)


def read_all(shards, inputs: CorpusFiles, batch: int):
    first = 0
    for k, shard in enumerate(shards):
        again = Shard.from_json(json.loads(json.dumps(shard.to_json())))
        assert (again.index, again.first) == (k, first)
        assert again == shard
        got = list(read_shard(again, inputs, batch=batch))
        assert sum(len(corpus) for corpus, _ in got) == shard.sentences
        first += shard.sentences
        yield from got


@settings(max_examples=40)
@given(givens(), st.data())
def test_parts_are_the_whole(tmp_path_factory, given: Given, data) -> None:
    folder = tmp_path_factory.mktemp("parts")
    chunk = data.draw(st.sampled_from([1, 7, 40, shards_plan.CHUNK]))  # bytes read at a time
    with warnings.catch_warnings(), mock.patch.object(shards_plan, "CHUNK", chunk):
        warnings.simplefilter("ignore")
        inputs = written(folder, given)
        expected = whole(inputs)
        batch = data.draw(st.integers(1, 5))
        assert joined(stream_batches(inputs, batch=batch)) == expected
        cuts = data.draw(st.lists(st.integers(0, given.sentences), max_size=6))
        shards = cut_shards(inputs, cuts)
        if "compatible" not in given.options:
            inner = [cut for cut in cuts if cut < given.sentences]
            assert [shard.first for shard in shards] == [0, *sorted(inner)]
        assert joined(read_all(shards, inputs, batch)) == expected
        size = data.draw(st.integers(1, 60))
        by_bytes = plan_shards(inputs, shard_bytes=size)
        assert all(shard.sentences for shard in by_bytes)
        assert joined(read_all(by_bytes, inputs, batch)) == expected
        by_number = plan_shards(inputs, shard_sentences=size)
        assert [shard.sentences for shard in by_number[:-1]] == [size] * (len(by_number) - 1)
        assert joined(read_all(by_number, inputs, batch)) == expected


def zstd(data: bytes) -> bytes:
    return pytest.importorskip("zstandard").compress(data)


@pytest.mark.parametrize(
    ("pack", "ending"),
    [(gzip.compress, ".gz"), (bz2.compress, ".bz2"), (lzma.compress, ".xz"), (zstd, ".zst")],
)
@settings(max_examples=4)
@given(givens(), st.integers(1, 5))
def test_compressed_files_are_whole_shards(
    tmp_path_factory, pack, ending: str, given: Given, batch: int
) -> None:
    folder = tmp_path_factory.mktemp("packed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        inputs = written(folder, given, pack, ending)
        expected = whole(inputs)
        shards = plan_shards(inputs, shard_bytes=1)
        assert [shard.sentences for shard in shards] == [given.sentences]
        assert joined(read_all(shards, inputs, batch)) == expected
        assert joined(stream_batches(inputs, batch=batch)) == expected
