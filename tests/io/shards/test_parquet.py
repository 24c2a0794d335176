"""Parquet: the same corpus as from texts and M2, its columns checked, its rows with slices."""

from __future__ import annotations

import re
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from errata.core.errors import DataWarning, InputError, MissingExtraError
from errata.data import Hypotheses
from errata.io import write_text
from errata.io.corpus import CorpusFiles, read_corpus
from errata.io.shards.batches import read_shard, stream_batches
from errata.io.shards.parquet import check_parquet, parquet_rows
from errata.io.shards.plan import plan_shards
from errata.io.stored_scores import read_sentence_tables, write_sentence_table
from run_folders import joined

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

EDIT = {"annotator": pa.int64(), "start": pa.int32(), "end": pa.int32()}
EDIT |= {"replacement": pa.string(), "kind": pa.string(), "alternatives": pa.list_(pa.string())}
EDITS = pa.list_(pa.struct(EDIT))
LINE = "A 0 1|||X|||y|||REQUIRED|||-NONE-|||0"
TEXT = st.lists(st.sampled_from(["a", "bé", "dog", "don't", "."]), max_size=5).map(" ".join)


def write(path: Path, columns: dict[str, Any], rows: int = 2, **types: Any) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    arrays = {name: pa.array(values, types.get(name)) for name, values in columns.items()}
    pq.write_table(pa.table(arrays), path, row_group_size=rows)
    return str(path)


@st.composite
def edits(draw, source: str) -> list[dict[str, Any]]:
    length = len(source.split())
    found = []
    for annotator in draw(st.lists(st.sampled_from([0, 1, 5]), max_size=2, unique=True)):
        if draw(st.booleans()):
            found.append(
                {"annotator": annotator, "start": -1, "end": -1, "replacement": "", "kind": "noop"}
            )
            continue
        at = draw(st.integers(0, length))
        found.append(
            {
                "annotator": annotator,
                "start": at,
                "end": min(at + 1, length),
                "replacement": draw(TEXT),
                "kind": draw(st.sampled_from(["", "Nn", "R:VERB"])),
                "alternatives": draw(st.none() | st.lists(TEXT, max_size=2)),
            }
        )
    return found


def a_line(edit: dict[str, Any]) -> str:
    texts = [edit["replacement"], *(edit.get("alternatives") or ())]
    said = "||".join(text or "-NONE-" for text in texts)
    return (
        f"A {edit['start']} {edit['end']}|||{edit['kind']}|||{said}|||REQUIRED|||-NONE-|||"
        f"{edit['annotator']}"
    )


@settings(max_examples=20)
@given(st.lists(TEXT, min_size=1, max_size=9), st.data())
def test_gold_edits_are_those_of_m2(tmp_path_factory, sources: list[str], data) -> None:
    folder = tmp_path_factory.mktemp("edits")
    gold = [data.draw(edits(source)) for source in sources]
    lines = [[a_line(edit) for edit in several] for several in gold]
    (folder / "gold.m2").write_text(
        "".join(
            "\n".join([f"S {s}", *several, "", ""])
            for s, several in zip(sources, lines, strict=True)
        ),
        encoding="utf-8",
    )
    rows = data.draw(st.integers(1, 4))
    batch = data.draw(st.integers(1, 5))
    outputs = data.draw(st.lists(TEXT, min_size=len(sources), max_size=len(sources)))
    kept = data.draw(st.sampled_from([(), (), (1,)]))
    if data.draw(st.booleans()):
        beside = {"edits": gold}
    else:
        beside = {"m2": ["\n".join(several) or None for several in lines]}
    columns = {"source": sources, **beside, "hyp:ours": outputs, "hyp:theirs": sources}
    path = write(folder / "gold.parquet", columns, rows, edits=EDITS, m2=pa.string())
    inputs = CorpusFiles(parquet=path, guard=False, annotators=kept, name="gold")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            expected = read_corpus(gold=folder / "gold.m2", annotators=kept or None)
        except InputError as error:
            with pytest.raises(InputError, match=re.escape(error.problem)):
                list(stream_batches(inputs, batch=batch))
            return
        systems = [Hypotheses("ours", tuple(outputs)), Hypotheses("theirs", tuple(sources))]
        assert joined(stream_batches(inputs, batch=batch)) == (expected, systems)
        for size in (1, 1 << 30):
            shards = plan_shards(inputs, shard_bytes=size)
            found = [pair for shard in shards for pair in read_shard(shard, inputs, batch=batch)]
            assert joined(found) == (expected, systems)
        assert len(plan_shards(inputs, shard_bytes=1)) == -(-len(sources) // rows)


@settings(max_examples=15)
@given(st.lists(TEXT, min_size=1, max_size=9), st.data())
def test_references_are_those_of_texts(tmp_path_factory, sources: list[str], data) -> None:
    folder = tmp_path_factory.mktemp("references")
    n = len(sources)
    sets = [data.draw(st.lists(TEXT | st.none(), min_size=n, max_size=n)) for _ in range(2)]
    write_text(sources, folder / "source.txt")
    for k, texts in enumerate(sets):
        write_text(["<none>" if text is None else text for text in texts], folder / f"{k}.txt")
    references = [[texts[i] for texts in sets] for i in range(n)]
    for several in references:  # what is missing at the end may be left out
        if several[-1] is None and data.draw(st.booleans()):
            several.pop()
    columns = {"source": sources, "references": references, "hypothesis": sources}
    kind = pa.list_(pa.string())
    path = write(folder / "x.parquet", columns, data.draw(st.integers(1, 4)), references=kind)
    inputs = CorpusFiles(parquet=path, guard=False, name="source.txt", tokens="characters")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = read_corpus(
            source=folder / "source.txt",
            references=[folder / "0.txt", folder / "1.txt"],
            missing="<none>",
            guard=False,
            tokens="characters",
        )
        found, systems = joined(stream_batches(inputs, batch=data.draw(st.integers(1, 5))))
    assert (found.sources, found.references) == (expected.sources, expected.references)
    assert [system.system for system in systems] == ["hypothesis"]


def test_rows_have_slices_partitions_and_marks(tmp_path: Path) -> None:
    for day, first in (("9", 0), ("10", 3)):
        write(
            tmp_path / f"day={day}" / "locale=de%20AT" / "part.parquet",
            {
                "id": [f"s{first + k}" for k in range(3)],
                "source": ["a b", "c", "d"],
                "hypothesis": ["a b", "c c", "d"],
                "accepted": [None, True, False],
                "clean": [True, None, False],
                "level": ["A1", None, "B2"],
                "weight": [1.0, 2.0, 0.5],
                "document": [1, 1, 2],
            },
        )
    inputs = CorpusFiles(parquet=str(tmp_path))
    rows = list(parquet_rows(inputs, slices=("day", "locale", "level"), batch=2))
    assert [row.first for row in rows] == [0, 2, 3, 5]
    assert [row.before for row in rows] == [0, 2, 0, 2]
    assert sum((row.ids for row in rows), ()) == ("s0", "s1", "s2", "s3", "s4", "s5")
    assert sum((row.slices["day"] for row in rows), ()) == ("9",) * 3 + ("10",) * 3
    assert {value for row in rows for value in row.slices["locale"]} == {"de AT"}
    assert sum((row.slices["level"] for row in rows[:2]), ()) == ("A1", "(none)", "B2")
    assert sum((row.accepted for row in rows[:2]), ()) == (None, True, False)
    assert sum((row.clean for row in rows[:2]), ()) == (True, None, False)
    assert sum((row.weight for row in rows[:2]), ()) == (1.0, 2.0, 0.5)
    assert sum((row.document for row in rows[:2]), ()) == (1, 1, 2)


def test_outputs_in_files_of_their_own(tmp_path: Path) -> None:
    ids = [10, 11, 12, 13, 14]
    main = write(tmp_path / "s.parquet", {"id": ids, "source": list("abcde")}, 2)
    ours = write(tmp_path / "o.parquet", {"id": ids, "hypothesis": list("abcdf")}, 3)
    inputs = CorpusFiles(parquet=main, outputs=(("ours", ours),))
    for shard_bytes in (1, 1 << 30):
        found = [
            pair
            for shard in plan_shards(inputs, shard_bytes=shard_bytes)
            for pair in read_shard(shard, inputs, batch=2)
        ]
        assert joined(found)[1] == [Hypotheses("ours", tuple("abcdf"))]
    write(tmp_path / "o.parquet", {"id": [10, 11, 13, 12, 14], "hypothesis": list("abcdf")}, 3)
    with pytest.raises(InputError, match=r"o\.parquet:3: the id is 13, but that of .*is 12"):
        list(stream_batches(inputs))
    write(tmp_path / "o.parquet", {"id": [10], "hypothesis": ["a"]})
    for read in (plan_shards, lambda inputs: list(stream_batches(inputs))):
        with pytest.raises(InputError, match=r"o\.parquet: 1 line, but .*s\.parquet .*has 5"):
            read(inputs)
    write(tmp_path / "o.parquet", {"id": ids, "source": list("abcde")})
    with pytest.raises(InputError, match="no column 'hypothesis'"):
        plan_shards(inputs)


BAD_COLUMNS = [
    ({"sources": ["a"]}, "no column 'source'; did you mean 'sources'"),
    ({"source": [1]}, "the column 'source' is of type int64 and not string"),
    ({"source": ["a"], "hyp:A": [1.5]}, "'hyp:A' is of type double and not string"),
    ({"source": ["a"], "references": ["a"]}, "'references' is of type string and not list<str"),
    ({"source": ["a"], "references": [[1]]}, "not list<string>"),
    ({"source": ["a"], "edits": [[{"start": 0}]]}, "'edits' is of type .* not list<struct"),
    ({"source": ["a"], "accepted": ["yes"]}, "'accepted' is of type string and not bool"),
    ({"source": ["a"], "weight": ["1"]}, "'weight' is of type string and not number"),
    ({"source": ["a"], "m2": ["x"], "references": [["a"]]}, "both columns 'references' and 'm"),
    ({"source": ["a", "b", None]}, "x.parquet:3: the column 'source' has no value"),
    ({"source": ["a", "b"], "hypothesis": ["a", None]}, "x.parquet:2: the column 'hypothesis'"),
    (
        {"source": ["a", "b"], "m2": [None, LINE.replace("0 1", "0 9")]},
        "x.parquet:2: edit 0-9 is outside the sentence of 1 tokens",
    ),
    ({"source": ["a", "b"], "m2": [None, "S b"]}, "x.parquet:2: a line is not an 'A ' line"),
    ({"source": ["a", "b\nc"], "m2": [None, None]}, "x.parquet:2: the source holds a line end"),
    (
        {"source": ["a"], "edits": [[{"start": 0, "end": 1, "replacement": "b||c"}]]},
        "x.parquet:1: an edit that M2 cannot say",
    ),
    (
        {
            "source": ["a"],
            "edits": [[{"start": 0, "end": e, "replacement": ""} for e in (None, 1)]],
        },
        "x.parquet:1: the column 'edits.end' has no value",
    ),
]


def test_bad_columns_are_named(tmp_path: Path) -> None:
    for columns, message in BAD_COLUMNS:
        inputs = CorpusFiles(parquet=write(tmp_path / "x.parquet", columns))
        with pytest.raises(InputError, match=message) as caught:
            list(stream_batches(inputs))
        assert "x.parquet" in str(caught.value)


def test_files_have_the_outputs_of_the_same_systems(tmp_path: Path) -> None:
    columns = {"source": ["a"], "hyp:A": ["b"], "hyp:B": ["c"]}
    write(tmp_path / "x-1.parquet", columns)
    write(tmp_path / "x-2.parquet", {name: columns[name] for name in ("hyp:B", "source", "hyp:A")})
    inputs = CorpusFiles(parquet=str(tmp_path / "x-*.parquet"))
    assert len(plan_shards(inputs)) == 2
    write(tmp_path / "x-3.parquet", {"source": ["a"], "hyp:A": ["b"], "hyp:C": ["c"]})
    with pytest.raises(
        InputError, match=r"x-3\.parquet: only one .*x-1\.parquet has the outputs of B, C; give"
    ):
        plan_shards(inputs)


def test_weights_are_not_left_aside_in_silence(tmp_path: Path) -> None:
    path = write(tmp_path / "x.parquet", {"source": ["a"], "hyp:A": ["b"], "weight": [2.5]})
    inputs = CorpusFiles(parquet=path)
    (shard,) = plan_shards(inputs)
    with pytest.warns(DataWarning, match=r"x\.parquet: the column 'weight' is not used"):
        list(read_shard(shard, inputs))


def test_findings_name_rows(tmp_path: Path) -> None:
    for line, message in (
        (f"{LINE}\n{LINE}", "annotator 0 has the edit .* twice"),
        (LINE.replace("y", "y\u200b"), r".*U\+200B"),
    ):
        columns = {"source": ["a", "b", "c"], "m2": [None, LINE, line]}
        inputs = CorpusFiles(parquet=write(tmp_path / "x.parquet", columns, 1))
        for batch in (1, 3):
            with pytest.warns(DataWarning, match=rf"x\.parquet:3: {message}"):
                list(stream_batches(inputs, batch=batch))


def test_files_without_rows(tmp_path: Path) -> None:
    full = write(tmp_path / "rows" / "1.parquet", {"source": ["a"]})
    write(tmp_path / "rows" / "2.parquet", {"source": pa.array([], pa.string())})
    inputs = CorpusFiles(parquet=str(tmp_path / "rows"))
    shards = plan_shards(inputs)
    assert [shard.sentences for shard in shards] == [1, 0]
    assert [len(list(read_shard(shard, inputs))) for shard in shards] == [1, 0]
    (tmp_path / "empty").mkdir()
    Path(full).unlink()
    for place, message in (
        (tmp_path / "rows", "hold no sentence"),
        (tmp_path / "empty", "no file fits the pattern"),
    ):
        with pytest.raises(InputError, match=message):
            plan_shards(CorpusFiles(parquet=str(place)))


# What is said of Parquet is said in the same words, whatever the table is for.
READ = (lambda path: plan_shards(CorpusFiles(parquet=path)), read_sentence_tables)


def test_that_pyarrow_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.parquet").write_bytes(b"PAR1")
    for missing in ("pyarrow.parquet", "pyarrow"):
        monkeypatch.setitem(sys.modules, missing, None)
        for act in (*READ, lambda path: write_sentence_table(Path(path), "A", "F0.5", "m2", [])):
            with pytest.raises(MissingExtraError, match=r"pip install 'errata-gec\[parquet\]'"):
                act(str(tmp_path / "x.parquet"))


@pytest.mark.parametrize("content", [b"", b"id,source\n1,a\n", b"PAR1" + bytes(8) + b"PAR1"])
def test_that_a_file_is_no_parquet(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "x.parquet").write_bytes(content)
    for read in READ:
        with pytest.raises(InputError, match=r"x\.parquet: this is no Parquet file: "):
            read(str(tmp_path / "x.parquet"))


def test_what_the_system_says_of_a_file_stays(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read the file: No such file"):
        read_sentence_tables(str(tmp_path / "x.parquet"))
    with pytest.raises(TimeoutError), check_parquet("s3://x/y.parquet", "name another"):
        raise TimeoutError  # of a store, without a number of the system
