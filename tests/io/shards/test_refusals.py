"""What does not fit together is refused with files, lines and counts; what is odd is said once."""

from __future__ import annotations

import gzip
import io
import os
import sys
import warnings
from pathlib import Path

import pytest

from errata.errors import InputError, MissingExtraError
from errata.io import read_corpus, read_text
from errata.io.outputs import read_systems
from errata.io.shards import ShardedInputs, cut_shards, plan_shards, read_shard, stream_batches

WORDS = [
    "river",
    "stone",
    "bread",
    "cloud",
    "music",
    "garden",
    "window",
    "letter",
    "market",
    "winter",
    "candle",
    "forest",
]
SOURCES = [
    f"Sentence number {k} : {' '.join(WORDS[(k * k * j + k) % 12] for j in range(1, 7))} ."
    for k in range(40)
]
REST = "REQUIRED|||-NONE-|||0"


def m2(sources: list[str]) -> str:
    return "".join(f"S {s}\nA 0 1|||X|||Phrase|||{REST}\n\n" for s in sources)


def write(path: Path, lines: list[str]) -> str:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(path)


def read(inputs: ShardedInputs, **options):
    return list(stream_batches(inputs, **options))


BOTH = pytest.mark.parametrize("act", [plan_shards, read], ids=["plan", "stream"])


def said(act) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        act()
    return sorted(str(each.message) for each in caught)


def test_files_are_taken_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for k in (1, 2, 10):
        write(tmp_path / f"source-{k}.txt", [f"s {k}"])
        (tmp_path / f"ours-{k}.txt.gz").write_bytes(gzip.compress(f"o {k}\n".encode()))
    inputs = ShardedInputs(
        source=str(tmp_path / "source-*.txt"), outputs=(("ours", str(tmp_path / "ours-*.txt.gz")),)
    )
    texts = [(c.sources, s[0].sentences) for c, s in read(inputs)]
    assert texts == [((f"s {k}",), (f"o {k}",)) for k in (1, 2, 10)]
    assert [shard.first for shard in plan_shards(inputs)] == [0, 1, 2]
    several = tuple(str(tmp_path / f"source-{k}.txt") for k in (10, 1))
    assert [c.sources for c, _ in read(ShardedInputs(source=several))] == [("s 10",), ("s 1",)]


@BOTH
def test_unequal_counts_name_files(tmp_path: Path, act) -> None:
    (tmp_path / "gold.m2").write_text(m2(SOURCES))
    write(tmp_path / "ours.txt", SOURCES[:-1])
    inputs = ShardedInputs(
        gold=str(tmp_path / "gold.m2"), outputs=(("ours", str(tmp_path / "ours.txt")),)
    )
    with pytest.raises(InputError, match=r"ours\.txt: 39 lines, but .*gold\.m2 \(gold\) has 40"):
        act(inputs)
    write(tmp_path / "ours.txt", [*SOURCES, "one", "two"])
    with pytest.raises(InputError, match=r"ours\.txt: 42 lines, but .*gold\.m2 \(gold\) has 40"):
        act(inputs)
    (tmp_path / "ours.m2").write_text(m2(SOURCES[:3]))
    inputs = ShardedInputs(
        source=write(tmp_path / "s.txt", SOURCES), outputs=(("o", str(tmp_path / "ours.m2")),)
    )
    with pytest.raises(InputError, match=r"ours\.m2: 3 sentences, but .*s\.txt \(source\) has 40"):
        act(inputs)


@BOTH
def test_unequal_numbers_of_files(tmp_path: Path, act) -> None:
    for k in range(3):
        write(tmp_path / f"s{k}.txt", ["a"])
    write(tmp_path / "o0.txt", ["a"])
    inputs = ShardedInputs(
        source=str(tmp_path / "s*.txt"), outputs=(("o", str(tmp_path / "o*.txt")),)
    )
    with pytest.raises(InputError, match=r"source 3 files .*output:o 1 file"):
        act(inputs)


@BOTH
@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("gold.m2", "He go home .\n", r"gold\.m2:1: no line starts with 'S '"),
        ("gold.m2", "<scripts>\n", r"gold\.m2:1: I-measure's XML is not read in parts"),
        ("gold.m2", "", "hold no sentence"),
        ("gold.m2", "\n\n", "hold no sentence"),
    ],
)
def test_what_is_no_m2(tmp_path: Path, act, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=message):
        act(ShardedInputs(gold=str(tmp_path / name)))


@BOTH
def test_annotators_and_systems_of_all_files(tmp_path: Path, act) -> None:
    line = "A 0 1|||X|||y|||REQUIRED|||-NONE-|||"
    (tmp_path / "g1.m2").write_text(f"S a\n{line}1\n")
    (tmp_path / "g2.m2").write_text(f"S a\n{line}2\n")
    inputs = ShardedInputs(gold=str(tmp_path / "g*.m2"), annotators=(2,))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        corpora = [c for shard in plan_shards(inputs) for c, _ in read_shard(shard, inputs)]
    assert [[r.implied for r in c.references[0]] for c in corpora] == [[True], [False]]
    assert said(lambda: read(inputs)) == [
        "g*: 1 sentences have no annotation by annotator 2; they count as having nothing to "
        "correct, as in a file with these annotators only"
    ]
    with pytest.raises(InputError, match=r"g\* has no annotator 7; it has: 1, 2"):
        act(ShardedInputs(gold=str(tmp_path / "g*.m2"), annotators=(7,)))
    both = (("o", str(tmp_path / "g*.m2")),)
    (tmp_path / "s1.txt").write_text("a\n")
    (tmp_path / "s2.txt").write_text("a\n")
    with pytest.raises(InputError, match="edits of 2 annotators, so of that many systems"):
        act(ShardedInputs(source=str(tmp_path / "s*.txt"), outputs=both))


def test_an_output_is_cut_where_the_gold_is(tmp_path: Path) -> None:
    """Two sentences in a paragraph cannot be put into two shards."""
    (tmp_path / "gold.m2").write_text("S a b\n\nS c d\n\nS e f\n\n")
    (tmp_path / "sys.m2").write_text("S a b\n\nS c d\nS e f\n\n")
    inputs = ShardedInputs(
        gold=str(tmp_path / "gold.m2"), outputs=(("ours", str(tmp_path / "sys.m2")),)
    )
    with pytest.raises(InputError, match=r"sys\.m2: the paragraph of sentence 2 .*; put a blank"):
        plan_shards(inputs, shard_sentences=1)
    (shard,) = plan_shards(inputs)
    assert shard.sentences == 3


def test_a_changed_file_is_not_read(tmp_path: Path) -> None:
    path = write(tmp_path / "s.txt", SOURCES)
    inputs = ShardedInputs(source=path)
    shards = plan_shards(inputs, shard_sentences=15)
    assert [shard.sentences for shard in shards] == [15, 15, 10]
    os.utime(path, ns=(1, 1))
    with pytest.raises(InputError, match=r"s\.txt: the file has changed .*: it was written again"):
        list(read_shard(shards[1], inputs))
    write(tmp_path / "s.txt", SOURCES[1:])
    with pytest.raises(InputError, match=r"it had [\d,]+ bytes and has"):
        list(read_shard(shards[0], inputs))
    Path(path).unlink()
    with pytest.raises(InputError, match=r"s\.txt: cannot read the file"):
        list(read_shard(shards[0], inputs))


def test_errors_name_the_line_of_the_file(tmp_path: Path) -> None:
    text = m2(SOURCES)
    bad = text.replace("A 0 1|||X", "A 0 99|||X").split("\n\n")
    good = text.split("\n\n")
    (tmp_path / "gold.m2").write_text("\n\n".join([*good[:30], bad[30], *good[31:]]))
    inputs = ShardedInputs(gold=str(tmp_path / "gold.m2"))
    for batch in (1, 7, 100):
        with pytest.raises(InputError, match=r"gold\.m2:92: edit 0-99 is outside"):
            read(inputs, batch=batch)
    shards = cut_shards(inputs, [11, 29])
    assert sum(len(c) for c, _ in read_shard(shards[1], inputs)) == 18
    with pytest.raises(InputError, match=r"gold\.m2:92: edit 0-99 is outside"):
        list(read_shard(shards[2], inputs))
    data = "".join(f"{line}\n" for line in SOURCES).encode()
    (tmp_path / "s.txt").write_bytes(data.replace(b"number 33", b"number \xff"))
    inputs = ShardedInputs(source=str(tmp_path / "s.txt"))
    with pytest.raises(InputError, match=r"s\.txt:34: byte 17 of the line \(0xff\) is not UTF-8"):
        list(read_shard(cut_shards(inputs, [25])[1], inputs, batch=4))


def test_the_guard_names_true_lines(tmp_path: Path) -> None:
    """Two lines that changed places, in the second shard and in a later batch."""
    lines = list(SOURCES)
    lines[30], lines[31] = "Something else entirely is said here , friends .", lines[30]
    inputs = ShardedInputs(
        source=write(tmp_path / "s.txt", SOURCES),
        outputs=(("o", write(tmp_path / "o.txt", lines)),),
    )
    corpus = read_corpus(source=tmp_path / "s.txt")
    whole = said(lambda: read_systems([f"o={tmp_path / 'o.txt'}"], corpus=corpus))
    assert said(lambda: read(inputs)) == whole
    shard = cut_shards(inputs, [20])[1]
    assert said(lambda: list(read_shard(shard, inputs))) == whole
    assert any("o.txt:32: output line 32 looks like source line 31" in each for each in whole)


def test_unrelated_texts_are_refused_unless_meant(tmp_path: Path) -> None:
    other = [f"{chr(97 + k % 26) * 9} {'xyzw' * (k % 5)} {k}" for k in range(40)]
    files = {
        "source": write(tmp_path / "s.txt", SOURCES),
        "outputs": (("o", write(tmp_path / "o.txt", other)),),
    }
    with pytest.raises(InputError, match=r"o\.txt: the lines resemble their own sources"):
        read(ShardedInputs(**files))
    warned = said(lambda: read(ShardedInputs(**files, guard=False)))
    assert any("o.txt: the lines resemble" in each for each in warned)
    # A few lines at the end are no reason to refuse the rest.
    write(tmp_path / "o.txt", [*SOURCES[:30], *other[30:]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert [len(c) for c, _ in read(ShardedInputs(**files), batch=30)] == [30, 10]


def test_warnings_are_those_of_the_whole_files_and_said_once(tmp_path: Path) -> None:
    odd = [f"{line[:-2]} \u200b." if k % 3 == 0 else line for k, line in enumerate(SOURCES)]
    glued = [line.replace(" .", ".") for line in SOURCES]
    for name, lines in (("odd", odd), ("glued", glued)):
        path = write(tmp_path / f"{name}.txt", lines)
        inputs = ShardedInputs(source=path, references=(path,))
        whole = said(lambda path=path: read_corpus(source=path, references=[path]))
        assert whole
        assert said(lambda inputs=inputs: read(inputs)) == whole
        parts = said(lambda inputs=inputs: read(inputs, batch=10))
        # Of a whole text the first part speaks, with its own numbers.
        assert [w.split(" in ")[0] for w in parts] == [w.split(" in ")[0] for w in whole]
    assert any("(and 13 more like it: lines 4, 7, 10, 13, 16, ...)" in w for w in said(
        lambda: read(ShardedInputs(source=str(tmp_path / "odd.txt")), batch=10)
    ))  # fmt: skip


def test_standard_input_is_streamed_and_not_planned(tmp_path: Path, monkeypatch) -> None:
    inputs = ShardedInputs(source=write(tmp_path / "s.txt", SOURCES), outputs=(("o", "-"),))
    text = "".join(f"{line}\n" for line in SOURCES)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert [len(s[0]) for _, s in read(inputs, batch=15)] == [15, 15, 10]
    with pytest.raises(InputError, match=r"standard input \(output:o\) can be read once only"):
        plan_shards(inputs)
    with pytest.raises(InputError, match="standard input is given as source and as output:o"):
        read(ShardedInputs(source="-", outputs=(("o", "-"),)))


def test_streams_have_no_limit_and_other_inputs_have(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("ERRATA_MAX_BYTES", "1k")
    path = write(tmp_path / "s.txt", SOURCES * 10)
    (tmp_path / "s.txt.gz").write_bytes(gzip.compress(Path(path).read_bytes()))
    for name in (path, f"{path}.gz"):
        inputs = ShardedInputs(source=name)
        assert sum(len(c) for c, _ in read(inputs)) == 400
        assert sum(shard.sentences for shard in plan_shards(inputs, shard_bytes=3000)) == 400
        with pytest.raises(InputError, match="more than 1,024 bytes"):
            read_text(name)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "no corpus given"),
        ({"gold": "a", "references": ("b",)}, "both an M2 gold file and reference texts"),
        ({"parquet": "a", "source": "b"}, "both Parquet files and texts"),
        ({"source": "a", "outputs": (("o", "x"), ("o", "y"))}, "'o'"),
    ],
)
def test_inputs_that_contradict_each_other(given, message: str) -> None:
    with pytest.raises(InputError, match=message):
        ShardedInputs(**given)


def test_what_is_written_of_inputs_holds_no_secret() -> None:
    inputs = ShardedInputs(source="s3://b/*", outputs=(("o", "x"),), storage={"secret": "hush"})
    assert "hush" not in repr(inputs)
    assert "storage" not in inputs.to_json()
    assert ShardedInputs.from_json(inputs.to_json(), storage={"secret": "hush"}) == inputs


def test_zstd_needs_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    zstandard = pytest.importorskip("zstandard")
    path = tmp_path / "s.txt.zst"
    packed = zstandard.compress(b"a\nb\n") + zstandard.compress(b"c\n")
    path.write_bytes(packed)
    assert read_text(path) == ("a", "b", "c")
    path.write_bytes(packed[:-3])
    with pytest.raises(InputError, match=r"damaged zstd file: .*cut short"):
        read_text(path)
    path.write_bytes(b"a\n")
    with pytest.raises(InputError, match=r"named \.zst but is not zstd-compressed"):
        read_text(path)
    path.write_bytes(packed)
    monkeypatch.setitem(sys.modules, "zstandard", None)
    monkeypatch.setitem(sys.modules, "compression", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'errata-gec\[scale\]'"):
        read_text(path)
