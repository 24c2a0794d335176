"""Files that do not fit together are refused by name, line and count; oddities come once."""

from __future__ import annotations

import gzip
import io
import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from errata.core.errors import InputError, MissingExtraError
from errata.io import read_corpus, read_text
from errata.io.corpus import CorpusFiles
from errata.io.outputs import read_systems
from errata.io.shards.batches import read_shard, stream_batches
from errata.io.shards.plan import plan_shards
from run_folders import cut_shards

WORDS = "river stone bread cloud music garden window letter market winter candle forest"
SOURCES = [
    f"Sentence number {k} : {' '.join(WORDS.split()[(k * k * j + k) % 12] for j in range(1, 7))} ."
    for k in range(40)
]
A_LINE = "A 0 1|||X|||Phrase|||REQUIRED|||-NONE-|||"


def m2(sources: list[str]) -> str:
    return "".join(f"S {s}\n{A_LINE}0\n\n" for s in sources)


def lines(several: list[str]) -> str:
    return "".join(f"{line}\n" for line in several)


def write(folder: Path, **texts: str) -> Callable[[str], str]:
    """Write files such as ``gold_m2``; return what gives their paths, as ``at("gold.m2")``."""
    for name, text in texts.items():
        (folder / name.replace("_", ".")).write_text(text, encoding="utf-8")
    return lambda name: str(folder / name)


def read(inputs: CorpusFiles, **options: Any) -> list[Any]:
    return list(stream_batches(inputs, **options))


def said(act: Callable[[], object]) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        act()
    return sorted(str(each.message) for each in caught)


@pytest.mark.parametrize("act", [plan_shards, read], ids=["plan", "stream"])
def test_files_that_do_not_fit_are_named(tmp_path: Path, act: Callable[..., object]) -> None:
    at = write(
        tmp_path,
        gold_m2=m2(SOURCES),
        few_txt=lines(SOURCES[:-1]),
        many_txt=lines([*SOURCES, "one", "two"]),
        few_m2=m2(SOURCES[:3]),
        text_m2="He go home .\n",
        xml_m2="<scripts>\n",
        none_m2="",
        blank_m2="\n\n",
        g1_m2=f"S a\n{A_LINE}1\n",
        g2_m2=f"S a\n{A_LINE}2\n",
        **{f"s{k}_txt": "a\n" for k in range(3)},
    )
    gold, two, several = at("gold.m2"), at("g?.m2"), at("s?.txt")
    for given, message in (
        ({"gold": gold, "outputs": "few.txt"}, r"few\.txt: 39 lines, .*gold\.m2 \(gold\) has 40"),
        ({"gold": gold, "outputs": "many.txt"}, r"many\.txt: 42 lines, .*gold\.m2 \(gold\) has 40"),
        ({"source": at("few.txt"), "outputs": "few.m2"}, r"few\.m2: 3 sentences, .*\(source\) has"),
        ({"source": several, "outputs": "s0.txt"}, r"source 3 files .*output:o 1 file"),
        ({"gold": at("text.m2")}, r"text\.m2:1: no line starts with 'S '"),
        ({"gold": at("xml.m2")}, r"xml\.m2:1: I-measure's XML is not read in parts"),
        ({"gold": at("none.m2")}, "hold no sentence"),
        ({"gold": at("blank.m2")}, "hold no sentence"),
        ({"gold": two, "annotators": (7,)}, r"g\? has no annotator 7; it has: 1, 2"),
        ({"source": at("s[12].txt"), "outputs": "g?.m2"}, "edits of 2 annotators, so of that many"),
    ):
        if "outputs" in given:
            given["outputs"] = (("o", at(given["outputs"])),)
        with pytest.raises(InputError, match=message):
            act(CorpusFiles(**given))
    inputs = CorpusFiles(gold=two, annotators=(2,))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        corpora = [c for shard in plan_shards(inputs) for c, _ in read_shard(shard, inputs)]
    assert [[r.implied for r in c.references[0]] for c in corpora] == [[True], [False]]
    (warning,) = said(lambda: read(inputs))
    assert warning.startswith("g?: 1 sentences have no annotation by annotator 2;")


def test_two_sentences_in_a_paragraph_are_not_cut(tmp_path: Path) -> None:
    at = write(tmp_path, gold_m2="S a b\n\nS c d\n\nS e f\n\n", o_m2="S a b\n\nS c d\nS e f\n\n")
    inputs = CorpusFiles(gold=at("gold.m2"), outputs=(("ours", at("o.m2")),))
    with pytest.raises(InputError, match=r"o\.m2: the paragraph of sentence 2 .*; put a blank"):
        plan_shards(inputs, shard_sentences=1)
    (shard,) = plan_shards(inputs)
    assert shard.sentences == 3


def test_changed_file_is_not_read(tmp_path: Path) -> None:
    path = write(tmp_path, s_txt=lines(SOURCES))("s.txt")
    inputs = CorpusFiles(source=path)
    shards = plan_shards(inputs, shard_sentences=15)
    assert [shard.sentences for shard in shards] == [15, 15, 10]
    os.utime(path, ns=(1, 1))  # the same text
    assert sum(len(corpus) for corpus, _ in read_shard(shards[1], inputs)) == 15

    def exchange() -> None:
        """Other text in the second shard, of the same size and time."""
        Path(path).write_bytes(lines([*SOURCES[:20], SOURCES[20][::-1], *SOURCES[21:]]).encode())
        os.utime(path, ns=(1, 1))

    for change, message in (
        (exchange, "the file has changed .*: its text is another"),
        (lambda: write(tmp_path, s_txt=lines(SOURCES[1:])), r"it had [\d,]+ bytes and has"),
        (lambda: Path(path).unlink(), "cannot read the file"),
    ):
        change()
        with pytest.raises(InputError, match=rf"s\.txt: .*{message}"):
            list(read_shard(shards[1], inputs))


def test_errors_name_the_line_of_the_file(tmp_path: Path) -> None:
    good = m2(SOURCES).split("\n\n")
    bad = good[30].replace("A 0 1|||X", "A 0 99|||X")
    at = write(tmp_path, gold_m2="\n\n".join([*good[:30], bad, *good[31:]]))
    inputs = CorpusFiles(gold=at("gold.m2"))
    shards = cut_shards(inputs, [11, 29])
    assert sum(len(c) for c, _ in read_shard(shards[1], inputs)) == 18
    for act in (
        *(lambda batch=batch: read(inputs, batch=batch) for batch in (1, 7, 100)),
        lambda: list(read_shard(shards[2], inputs)),
    ):
        with pytest.raises(InputError, match=r"gold\.m2:92: edit 0-99 is outside"):
            act()
    data = lines(SOURCES).encode().replace(b"number 33", b"number \xff")
    (tmp_path / "s.txt").write_bytes(data)
    inputs = CorpusFiles(source=at("s.txt"))
    with pytest.raises(InputError, match=r"s\.txt:34: byte 17 of the line \(0xff\) is not UTF-8"):
        list(read_shard(cut_shards(inputs, [25])[1], inputs, batch=4))


def test_guard_names_true_lines(tmp_path: Path) -> None:
    """Two lines that changed places, in the second shard and in a later batch."""
    swapped = list(SOURCES)
    swapped[30:32] = "Something else entirely is said here , friends .", SOURCES[30]
    at = write(tmp_path, s_txt=lines(SOURCES), o_txt=lines(swapped))
    inputs = CorpusFiles(source=at("s.txt"), outputs=(("o", at("o.txt")),))
    corpus = read_corpus(source=at("s.txt"))
    whole = said(lambda: read_systems([f"o={at('o.txt')}"], corpus=corpus))
    assert said(lambda: read(inputs)) == whole
    shard = cut_shards(inputs, [20])[1]
    assert said(lambda: list(read_shard(shard, inputs))) == whole
    assert any("o.txt:32: output line 32 looks like source line 31" in each for each in whole)


def test_unrelated_texts_are_refused_unless_meant(tmp_path: Path) -> None:
    other = [f"{chr(97 + k % 26) * 9} {'xyzw' * (k % 5)} {k}" for k in range(40)]
    at = write(tmp_path, s_txt=lines(SOURCES), o_txt=lines(other))
    files: dict[str, Any] = {"source": at("s.txt"), "outputs": (("o", at("o.txt")),)}
    with pytest.raises(InputError, match=r"o\.txt: the lines resemble their own sources"):
        read(CorpusFiles(**files))
    warned = said(lambda: read(CorpusFiles(**files, guard=False)))
    assert any("o.txt: the lines resemble" in each for each in warned)
    # A few lines at the end are no reason to refuse the rest.
    write(tmp_path, o_txt=lines([*SOURCES[:30], *other[30:]]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert [len(c) for c, _ in read(CorpusFiles(**files), batch=30)] == [30, 10]


def test_warnings_are_those_of_the_whole_files_and_come_once(tmp_path: Path) -> None:
    odd = [f"{line[:-2]} \u200b." if k % 3 == 0 else line for k, line in enumerate(SOURCES)]
    at = write(tmp_path, odd_txt=lines(odd), glued_txt=lines(SOURCES).replace(" .", "."))
    for path in (at("odd.txt"), at("glued.txt")):
        inputs = CorpusFiles(source=path, references=(path,))
        whole = said(lambda path=path: read_corpus(source=path, references=[path]))
        assert whole
        assert said(lambda inputs=inputs: read(inputs)) == whole
        parts = said(lambda inputs=inputs: read(inputs, batch=10))
        # The first part gives a warning about a whole text, with its own numbers.
        assert [w.split(" in ")[0] for w in parts] == [w.split(" in ")[0] for w in whole]
    found = said(lambda: read(CorpusFiles(source=at("odd.txt")), batch=10))
    assert any("(and 13 more like it: lines 4, 7, 10, 13, 16, ...)" in each for each in found)


def test_standard_input_is_streamed_and_not_planned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = write(tmp_path, s_txt=lines(SOURCES))
    inputs = CorpusFiles(source=at("s.txt"), outputs=(("o", "-"),))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines(SOURCES).encode())))
    assert [len(s[0]) for _, s in read(inputs, batch=15)] == [15, 15, 10]
    with pytest.raises(InputError, match=r"standard input \(output:o\) can be read once only"):
        plan_shards(inputs)
    with pytest.raises(InputError, match="standard input is given as source and as output:o"):
        read(CorpusFiles(source="-", outputs=(("o", "-"),)))


def test_streams_have_no_limit_and_other_inputs_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ERRATA_MAX_BYTES", "1k")
    path = write(tmp_path, s_txt=lines(SOURCES * 10))("s.txt")
    (tmp_path / "s.txt.gz").write_bytes(gzip.compress(Path(path).read_bytes()))
    for name in (path, f"{path}.gz"):
        inputs = CorpusFiles(source=name)
        assert sum(len(c) for c, _ in read(inputs)) == 400
        assert sum(shard.sentences for shard in plan_shards(inputs, shard_bytes=3000)) == 400
        with pytest.raises(InputError, match="more than 1,024 bytes"):
            read_text(name)


def test_inputs_that_contradict_each_other_are_refused() -> None:
    for given, message in (
        ({}, "no corpus given"),
        ({"gold": "a", "references": ("b",)}, "both an M2 gold file and reference texts"),
        ({"parquet": "a", "source": "b"}, "both Parquet files and texts"),
        ({"source": "a", "outputs": (("o", "x"), ("o", "y"))}, "'o'"),
    ):
        with pytest.raises(InputError, match=message):
            CorpusFiles(**given).refuse_contradictions()


def test_what_is_written_of_inputs_holds_no_secret() -> None:
    inputs = CorpusFiles(source="s3://b/*", outputs=(("o", "x"),), storage={"secret": "hush"})
    assert "hush" not in repr(inputs)
    assert "storage" not in inputs.to_json()
    assert CorpusFiles.from_json(inputs.to_json(), storage={"secret": "hush"}) == inputs


def test_zstd_is_read_and_needs_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    zstandard = pytest.importorskip("zstandard")
    path = tmp_path / "s.txt.zst"
    packed = zstandard.compress(b"a\nb\n") + zstandard.compress(b"c\n")
    path.write_bytes(packed)
    assert read_text(path) == ("a", "b", "c")
    for data, message in (
        (packed[:-3], "damaged zstd file: .*cut short"),
        (b"a\n", r"named \.zst but is not zstd-compressed"),
    ):
        path.write_bytes(data)
        with pytest.raises(InputError, match=message):
            read_text(path)
    path.write_bytes(packed)
    monkeypatch.setitem(sys.modules, "zstandard", None)
    monkeypatch.setitem(sys.modules, "compression", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'errata-gec\[scale\]'"):
        read_text(path)
