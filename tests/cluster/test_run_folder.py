"""A run folder: planned once, counted wherever, read in order, the digits of `evaluate`."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from errata.cluster.counting import ShardRecord, record_name, run_task
from errata.cluster.driving import clean_run, count_tasks, finish_run, plan_run, planned_run
from errata.cluster.engines import EngineSettings
from errata.cluster.manifest import Manifest, Wanted, read_manifest
from errata.cluster.reducing import reduce_run
from errata.cluster.sentence_scores import write_sentences
from errata.cluster.status import run_status
from errata.data import Corpus, Reference, Scores
from errata.errors import InputError
from errata.evaluation import evaluate
from errata.io.folders import LocalFolder
from errata.io.scores import read_score_file
from errata.io.shards import ShardedInputs
from errata.io.weights import write_weights
from errata.metrics import parse
from errata.metrics.difficulty.map import map_difficulty
from errata.reduction import scores_of_parts
from errata.resampling import BootstrapLimits
from run_folders import planned, result_of, run_of, tiled_sample

# One metric per kind of choice: running, of the whole corpus, drawn, and settled by the whole.
METRICS = ("m2", "m2(choice='optimal')", "gleu(references='official', draws=20)", "cleme")
OWN = """def own(source, hypothesis, references):
    return 1.0
"""


def same(found: Scores, wanted: Scores) -> None:
    """All digits, and all of the signature but for the order of the files."""
    assert found.systems == wanted.systems
    np.testing.assert_array_equal(found.values, wanted.values)
    assert found.parts.keys() == wanted.parts.keys()
    for name, part in wanted.parts.items():
        np.testing.assert_array_equal(found.parts[name], part)
        assert found.parts[name].dtype == part.dtype
    assert (found.resampled is None) == (wanted.resampled is None)
    if found.resampled is not None and wanted.resampled is not None:
        np.testing.assert_array_equal(found.resampled, wanted.resampled)
    contexts = [[f for f in each.context if not f.startswith("order:")] for each in (found, wanted)]
    assert sorted(contexts[0]) == sorted(contexts[1])
    assert (found.notes, found.label, found.name) == (wanted.notes, wanted.label, wanted.name)
    assert (found.headline, found.shares) == (wanted.headline, wanted.shares)


@pytest.mark.parametrize("metric", METRICS)
def test_every_partition_has_the_digits_of_evaluate(metric: str, tmp_path: Path) -> None:
    files = tiled_sample(tmp_path / "in")
    wanted = evaluate(metric, *files.read(), resamples=100)
    signatures = set()
    for size in (1000, 7):
        outcome = run_of(tmp_path / str(size), files, metric, shard_sentences=size)
        assert outcome.tasks == -(-72 // size)
        (scores,) = outcome.sets[0].scores
        same(scores, wanted)
        signatures.add(scores.signature)
    assert len(signatures) == 1


@pytest.mark.filterwarnings("ignore:.*sentences have no annotation by annotator 0")
def test_a_file_of_weights_goes_by_the_places_of_sentences(tmp_path: Path) -> None:
    files = tiled_sample(tmp_path / "in", 2)
    corpus, systems = files.read()
    corpus = corpus.keep_annotators(0)
    found = map_difficulty(corpus, systems)
    sizes = np.diff(found.chunks.bounds).tolist()
    rows = [[(i + c) % 6 for c in range(n)] for i, n in enumerate(sizes)]
    write_weights(5, rows, tmp_path / "weights.txt")
    metric = repr(parse(f"difficulty(weights={str(tmp_path / 'weights.txt')!r})"))
    wanted = evaluate(metric, corpus, systems, resamples=100)
    folder = LocalFolder(str(tmp_path / "run"))
    inputs = [("gold", files.inputs(annotators=(0,)))]
    manifest = plan_run(folder, Wanted((metric,), resamples=100), inputs, shard_sentences=21)
    same(finish_run(folder, manifest, EngineSettings("loop")).sets[0].scores[0], wanted)
    # What is left out of a shard leaves the others in their places.
    run_task(folder, manifest, 2, left_out=[4, 9])
    found = finish_run(folder, manifest, EngineSettings("loop")).sets[0].scores[0]
    gone = [2 * 21 + 4, 2 * 21 + 9]
    rest = [each.without_sentences(*gone) for each in systems]
    wanted = evaluate(metric, corpus.without_sentences(*gone), rest, resamples=100)
    np.testing.assert_array_equal(found.values, wanted.values)
    assert "failed:47,52" in found.context


@pytest.mark.parametrize("metric", ["difficulty(weights={!r})", "{}:own"])
def test_files_of_metrics_that_changed_are_refused(metric: str, tmp_path: Path) -> None:
    """Like inputs: by a task, by what reads counts, and by another plan."""
    files = tiled_sample(tmp_path / "in", 1, ("eager",))
    beside = tmp_path / "beside.py"
    beside.write_text(OWN)
    place, text = tmp_path / "run", repr(parse(metric.format(str(beside))))
    text = f"interpolate(first={text!r}, second='m2', weight=0.5)" if "own" in text else text
    folder, manifest = planned(place, files, text, shard_sentences=30)
    assert planned_run(folder) == manifest
    assert [name for name, _ in manifest.wanted.files] == [str(beside)]
    later = beside.stat().st_mtime + 9
    os.utime(beside, (later, later))  # the same content
    manifest.wanted.check_files()
    beside.write_text(f"{OWN}\n")
    for act in (
        partial(run_task, folder, manifest, 0),
        partial(reduce_run, folder, manifest),
        partial(write_sentences, folder, manifest),
    ):
        with pytest.raises(InputError, match=r"beside\.py: .*changed since.*written again; plan"):
            act()
    with pytest.raises(InputError, match="other files that metrics read; name another folder"):
        planned(place, files, text, shard_sentences=30)
    beside.unlink()
    with pytest.raises(InputError, match=r"beside\.py: .*it is gone"):
        run_task(folder, manifest, 0)
    with pytest.raises(InputError, match=r"beside\.py: .*"):
        planned(tmp_path / "other", files, text)


@pytest.mark.filterwarnings("ignore:.*are source and output swapped")
def test_blocks_are_those_of_documents(tmp_path: Path) -> None:
    """A column of documents; a sentence without one is a document of its own."""
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    files = tiled_sample(tmp_path / "in", 2)
    corpus, systems = files.read()
    names = [None if i % 10 == 9 else f"essay {i // 10}" for i in range(144)]
    texts = [
        [r.corrected(s) for r in refs]
        for s, refs in zip(corpus.sources, corpus.references, strict=True)
    ]
    columns = {
        "source": corpus.sources,
        "references": texts,
        "document": names,
        **{f"hyp:{each.system}": each.sentences for each in systems},
    }
    table = pyarrow.table(columns)
    for k, part in enumerate((table.slice(0, 63), table.slice(63))):
        write_table(part, tmp_path / f"{k}.parquet", row_group_size=30)
    folder = LocalFolder(str(tmp_path / "run"))
    wanted = Wanted(("m2()",), resamples=50, bootstrap="blocks")
    inputs = [("logs", ShardedInputs(parquet=str(tmp_path / "*.parquet"), guard=False))]
    manifest = plan_run(folder, wanted, inputs, shard_sentences=25)
    (scores,) = finish_run(folder, manifest, EngineSettings("loop")).sets[0].scores
    plain = Corpus(
        corpus.sources,
        tuple(tuple(Reference(k, text=t) for k, t in enumerate(several)) for several in texts),
        documents=tuple(
            f"row {i + 1}" if name is None else f"document {name}" for i, name in enumerate(names)
        ),
    )
    drawn = evaluate("m2", plain, systems, resamples=50, bootstrap="blocks", guard=False)
    same(scores, drawn)
    assert "bootstrap:blocks of documents" in scores.context
    write_table(table.drop_columns("document"), tmp_path / "2.parquet")
    folder = LocalFolder(str(tmp_path / "some"))
    manifest = plan_run(folder, wanted, inputs)
    with pytest.raises(InputError, match="logs: only some sentences have a document; give every"):
        finish_run(folder, manifest, EngineSettings("loop"))


def test_the_order_of_files_is_signed_wherever_they_are(tmp_path: Path) -> None:
    """Files of one name and size in two folders; moved together they are the same."""

    def order(root: Path, *days: str) -> str:
        for day, word in (("day=1", "a"), ("day=2", "b")):
            (root / day).mkdir(parents=True, exist_ok=True)
            (root / day / "s.txt").write_text(f"{word} .\n")
        places = tuple(str(root / day / "s.txt") for day in days)
        inputs = ShardedInputs(source=places, references=(places,), outputs=(("A", places),))
        folder = LocalFolder(str(tmp_path / f"run of {root.name} {days}"))
        return plan_run(folder, Wanted(("m2()",)), [("days", inputs)]).sets[0].order

    first = order(tmp_path / "one", "day=1", "day=2")
    assert order(tmp_path / "two", "day=1", "day=2") == first
    assert order(tmp_path / "one", "day=2", "day=1") != first
    assert order(tmp_path / "one", "day=1") != first


def test_the_result_is_read_where_scores_are(tmp_path: Path) -> None:
    files = tiled_sample(tmp_path / "in")
    outcome = run_of(tmp_path / "run", files, "m2", "gleu", shard_sentences=30)
    read = read_score_file(str(tmp_path / "run" / "result.json"))
    assert [each.scorer for each in read] == [each.scorer for each in outcome.sets[0].scores]
    np.testing.assert_array_equal(read[1].values, outcome.sets[0].scores[1].values)


def test_a_plan_is_made_once(tmp_path: Path) -> None:
    files = tiled_sample(tmp_path / "in")
    folder, manifest = planned(tmp_path / "run", files, "m2", shard_sentences=30)
    assert planned(tmp_path / "run", files, "m2", shard_sentences=30)[1].digest == manifest.digest
    assert read_manifest(folder) == manifest
    assert planned_run(folder).digest == manifest.digest
    for metrics, cuts, said in (
        (("gleu",), {"shard_sentences": 30}, "other metrics"),
        (("m2",), {"shard_sentences": 30, "resamples": 7}, "other settings"),
        (("m2",), {"shard_sentences": 20}, "cut elsewhere"),
    ):
        with pytest.raises(InputError, match=f"{said}.*; name another folder"):
            planned(tmp_path / "run", files, *metrics, **cuts)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"seed":0', '"seed":1', "changed by hand or damaged"),
        ('"errata": "', '"errata": "0.0.', "planned by Errata 0.0."),
        ("errata run 1", "errata run 9", "no plan of a run"),
        ("]}", "]", "not JSON"),
        ('"batch":', '"bitch":', "missing or of the wrong kind"),
    ],
)
def test_a_plan_that_was_changed_is_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    folder, _ = planned(tmp_path / "run", tiled_sample(tmp_path / "in"), "m2")
    path = tmp_path / "run" / "manifest.json"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(InputError, match=said) as caught:
        planned_run(folder)
    assert "manifest.json" in str(caught.value)


def test_what_cannot_be_planned_leaves_no_folder(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    folder, gold = LocalFolder(str(tmp_path / "run")), tiled_sample(tmp_path / "in").inputs()
    write_table(pyarrow.table({"source": ["a"], "references": [["b"]]}), tmp_path / "x.parquet")
    no_system = ShardedInputs(parquet=str(tmp_path / "x.parquet"))
    for metric, inputs, said in (
        ("m3()", gold, "m3"),
        ("judge()", gold, "judge.*whole corpus.*fewer sentences"),
        ("m2()", no_system, "logs: there is no system to score; .*hyp:NAME"),
    ):
        with pytest.raises(InputError, match=said):
            plan_run(folder, Wanted((metric,)), [("logs", inputs)])
        assert read_manifest(folder) is None
    with pytest.raises(InputError, match=r"no run in this folder.*errata scale plan"):
        planned_run(folder)
    assert not (tmp_path / "run").exists()


def test_tasks_of_an_array_job_make_the_same_result(tmp_path: Path) -> None:
    files = tiled_sample(tmp_path / "in", 3)
    metrics = ("m2", "gleu")
    run_of(tmp_path / "loop", files, *metrics, shard_sentences=20)
    folder, manifest = planned(tmp_path / "array", files, *metrics, shard_sentences=20)
    with pytest.raises(InputError, match="11 of 11 tasks are not counted"):
        finish_run(folder, manifest, counting=False)
    for start in (2, 0, 1):
        count_tasks(folder, manifest, range(start, len(manifest.tasks), 3))
    assert count_tasks(folder, manifest, [0]).missing == ()
    outcome = finish_run(folder, manifest, counting=False)
    assert (outcome.tasks, outcome.counted, outcome.damaged) == (11, 0, 0)
    assert result_of(tmp_path / "array") == result_of(tmp_path / "loop")


def _flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def _truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-3])


@pytest.mark.parametrize("harm", [_flip, _truncate, Path.unlink], ids=["flip", "cut", "gone"])
@pytest.mark.parametrize("what", ["counts", "records"])
def test_damaged_files_are_counted_again(harm: object, what: str, tmp_path: Path) -> None:
    files = tiled_sample(tmp_path / "in", 2)
    place = tmp_path / "run"
    run_of(place, files, "m2", "gleu", shard_sentences=30)
    whole = result_of(place)
    hurt = sorted(path for path in (place / what).rglob("*") if path.is_file())[2]
    (place / "result.json").unlink()
    harm(hurt)  # type: ignore[operator]
    folder = LocalFolder(str(place))
    status = run_status(folder, planned_run(folder))
    seen = {("counts", _truncate), ("counts", Path.unlink), ("records", _flip)}
    assert len(status.damaged) == ((what, harm) in {*seen, ("records", _truncate)})
    outcome = run_of(place, files, "m2", "gleu", shard_sentences=30)
    assert outcome.counted == 1
    assert outcome.damaged == (0 if what == "records" and harm is Path.unlink else 1)
    assert result_of(place) == whole


def test_files_of_another_plan_do_not_count(tmp_path: Path) -> None:
    files = tiled_sample(tmp_path / "in", 2)
    run_of(tmp_path / "one", files, "m2", shard_sentences=30)
    run_of(tmp_path / "two", files, "m2", shard_sentences=24)
    for name in ("records", "counts"):
        shutil.rmtree(tmp_path / "two" / name)
        shutil.copytree(tmp_path / "one" / name, tmp_path / "two" / name)
    outcome = run_of(tmp_path / "two", files, "m2", shard_sentences=24)
    assert outcome.counted == outcome.tasks == 6


def test_inputs_that_changed_are_refused(tmp_path: Path) -> None:
    files = tiled_sample(tmp_path / "in", 2)
    folder, manifest = planned(tmp_path / "run", files, "m2", shard_sentences=30)
    path = files.output("eager")
    path.write_text(path.read_text().replace("a", "an", 1))
    with pytest.raises(InputError, match=r"eager\.txt"):
        finish_run(folder, manifest, EngineSettings("loop"))


def test_the_same_shard_has_the_same_bytes(tmp_path: Path) -> None:
    files = tiled_sample(tmp_path / "in", 2)
    folder, manifest = planned(tmp_path / "run", files, "m2", "gleu", shard_sentences=50)
    first = run_task(folder, manifest, 1)
    again = run_task(folder, manifest, 1)
    assert first.files == again.files
    assert not list((tmp_path / "run").glob(".waiting/*"))


def test_a_kill_while_reading_goes_on_at_the_cursor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from errata.cluster import counted as counted_files
    from errata.cluster import reducing

    files = tiled_sample(tmp_path / "in", 3)
    run_of(tmp_path / "whole", files, "m2", shard_sentences=20)
    folder, manifest = planned(tmp_path / "run", files, "m2", shard_sentences=20)
    count_tasks(folder, manifest, range(len(manifest.tasks)))
    monkeypatch.setattr(reducing, "CURSOR_SECONDS", 0.0)
    seen: list[int] = []

    def stop(done: int, total: int) -> None:
        seen.append(done)
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reducing.reduce_run(folder, manifest, progress=stop)
    cursor = json.loads((tmp_path / "run" / "reduce" / "0000-0000.json").read_text())
    assert cursor["record"]["next"] == 4
    read = []
    original = counted_files.read_count_file

    def counted(*arguments: object) -> object:
        read.append(arguments[3])
        return original(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(counted_files, "read_count_file", counted)
    finish_run(folder, manifest, counting=False)
    assert read[0] == 4
    assert min(read[: 7 * len(files.systems)]) == 4  # then all of it, being small
    assert result_of(tmp_path / "run") == result_of(tmp_path / "whole")
    assert not (tmp_path / "run" / "reduce").exists()


def read_half(folder: LocalFolder, manifest: Manifest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read some shards as those of a large corpus are, and leave a cursor."""
    from errata.cluster import reducing

    monkeypatch.setattr(reducing, "CURSOR_SECONDS", 0.0)
    held = BootstrapLimits(held=10)  # otherwise all is read again, being small
    start = reducing.Standing.start
    monkeypatch.setattr(reducing, "scores_of_parts", partial(scores_of_parts, limits=held))
    monkeypatch.setattr(
        reducing.Standing,
        "start",
        lambda metric, systems, limits=held: start(metric, systems, limits),
    )

    def stop(done: int, total: int) -> None:
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reducing.reduce_run(folder, manifest, progress=stop)


def test_a_damaged_cursor_is_not_gone_on_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One digit of a sum that was kept."""
    files = tiled_sample(tmp_path / "in", 3)
    folder, manifest = planned(tmp_path / "run", files, "m2", shard_sentences=20)
    count_tasks(folder, manifest, range(len(manifest.tasks)))
    read_half(folder, manifest, monkeypatch)
    cursor = tmp_path / "run" / "reduce" / "0000-0000.json"
    kept = cursor.read_text()
    finish_run(folder, manifest, counting=False)
    whole = result_of(tmp_path / "run")
    sums = re.search(r'"sums":\s*\[\[\[\[(\d)', kept)
    assert sums is not None
    at = sums.start(1)
    cursor.parent.mkdir()
    cursor.write_text(f"{kept[:at]}{(int(kept[at]) + 1) % 10}{kept[at + 1 :]}")
    finish_run(folder, manifest, counting=False)
    assert result_of(tmp_path / "run") == whole


def test_the_counts_of_another_are_told_from_what_was_written(tmp_path: Path) -> None:
    """Sound files of the right size, in each other's place."""
    files = tiled_sample(tmp_path / "in", 2)
    place = tmp_path / "run"
    run_of(place, files, "m2", shard_sentences=30)
    whole = result_of(place)
    counts = sorted((place / "counts").rglob("*.cnt"))
    one, other = next(
        (a, b)
        for a, b in itertools.combinations(counts, 2)
        if a.stat().st_size == b.stat().st_size and a.read_bytes() != b.read_bytes()
    )
    ours, theirs = one.read_bytes(), other.read_bytes()
    one.write_bytes(theirs)
    other.write_bytes(ours)
    outcome = run_of(place, files, "m2", shard_sentences=30)
    assert outcome.damaged == len({one.name, other.name})
    assert result_of(place) == whole


def test_a_cursor_does_not_count_what_was_counted_again_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shard that was read, then damaged, and counted again with another sentence left out."""
    files = tiled_sample(tmp_path / "in", 3)
    places = []
    for name, left_out in (("once", [7]), ("twice", [2])):
        folder, manifest = planned(tmp_path / name, files, "m2", shard_sentences=20)
        count_tasks(folder, manifest, range(len(manifest.tasks)))
        run_task(folder, manifest, 1, left_out=left_out)
        places.append(folder)
    read_half(places[1], manifest, monkeypatch)
    run_task(places[1], manifest, 1, left_out=[7])
    for folder in places:
        finish_run(folder, manifest, counting=False)
    assert result_of(tmp_path / "twice") == result_of(tmp_path / "once")


def test_what_was_left_out_before_is_no_longer_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that goes on may leave out no more than its ``--allow-failed`` in all."""
    files = tiled_sample(tmp_path / "in")
    folder, manifest = planned(tmp_path / "run", files, "m2", shard_sentences=20)
    run_task(folder, manifest, 1, left_out=[3, 5])
    told: list[object] = []

    def count(
        _: object, manifest: Manifest, tasks: list[int], **more: object
    ) -> Iterator[ShardRecord]:
        told.extend((more["allow_failed"], more["left_out"]))
        return (run_task(folder, manifest, task) for task in tasks)

    monkeypatch.setattr("errata.cluster.engines.run_processes", count)
    outcome = finish_run(folder, manifest, EngineSettings("local", allow_failed=2))
    assert told == [2, 2]
    assert outcome.left_out == (("gold", 24), ("gold", 26))


def test_cleaning_leaves_the_result(tmp_path: Path) -> None:
    files = tiled_sample(tmp_path / "in")
    run_of(tmp_path / "run", files, "m2", shard_sentences=30)
    folder = LocalFolder(str(tmp_path / "run"))
    clean_run(folder)
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == [
        "manifest.json",
        "result.json",
    ]
    manifest = planned_run(folder)
    assert len(run_status(folder, manifest).missing) == 3
    clean_run(folder, everything=True)
    assert not list((tmp_path / "run").iterdir())


def test_a_record_says_what_it_took(tmp_path: Path) -> None:
    files = tiled_sample(tmp_path / "in")
    folder, manifest = planned(tmp_path / "run", files, "m2", shard_sentences=30)
    run_task(folder, manifest, 0)
    record = json.loads(folder.read(record_name(0)))["record"]
    assert record["sentences"] == 30
    assert record["peak_bytes"] > 2**20
    assert set(record["files"]) == {
        f"counts/0000-gold/0000-m2/{s:04d}-{name}/00000000.cnt"
        for s, name in enumerate(files.systems)
    }
    assert isinstance(manifest, Manifest)


@pytest.mark.parametrize("known", [0, 5, 20_000])
def test_records_are_read_once_as_long_as_they_name_few_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, known: int
) -> None:
    from errata.cluster import counted as counted_files

    files = tiled_sample(tmp_path / "in", 3)
    folder, manifest = planned(tmp_path / "run", files, "m2", shard_sentences=20)
    count_tasks(folder, manifest, range(len(manifest.tasks)))
    read: list[int] = []
    original = counted_files.read_record

    def record(*arguments: Any) -> Any:
        read.append(arguments[2])
        return original(*arguments)

    monkeypatch.setattr(counted_files, "read_record", record)
    monkeypatch.setattr(counted_files, "KNOWN", known)
    reduce_run(folder, manifest)
    tasks = [task.number for task in manifest.tasks]
    assert len(tasks) > 4
    assert read[: len(tasks)] == tasks
    assert (read == tasks) == (known == 20_000)
    run_of(tmp_path / "whole", files, "m2", shard_sentences=20)
    assert result_of(tmp_path / "run") == result_of(tmp_path / "whole")
