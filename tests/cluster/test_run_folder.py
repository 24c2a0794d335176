"""A run folder: planned once, counted wherever, read in order, the digits of `evaluate`."""

from __future__ import annotations

import itertools
import json
import os
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from command import errata
from errata.core.errors import InputError
from errata.data import Corpus, Reference, Scores
from errata.io.corpus import CorpusFiles
from errata.io.scores import read_score_file
from errata.io.storage import Folder
from errata.metrics import parse
from errata.metrics.difficulty import build_difficulty_map, write_weights
from errata.scale import reduce, shard_job
from errata.scale import run as scale_run
from errata.scale.executors import EngineSettings, WorkerLostError
from errata.scale.manifest import Manifest, MetricPlan, read_manifest
from errata.scale.reduce import write_sentences
from errata.scale.run import count_tasks, finish_run, plan_run, planned_run
from errata.scale.shard_job import ShardRecord, record_name, run_job, run_status
from errata.scoring.evaluate import evaluate
from run_folders import PlannedRun, planned, result_of, run_of, tiled_sample

# One metric per kind of choice: running, of the whole corpus, drawn, and settled by the whole.
MakeRun = Callable[..., PlannedRun]
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
    found = build_difficulty_map(corpus, systems)
    sizes = np.diff(found.chunks.bounds).tolist()
    rows = [[(i + c) % 6 for c in range(n)] for i, n in enumerate(sizes)]
    write_weights(5, rows, tmp_path / "weights.txt")
    metric = repr(parse(f"difficulty(weights={str(tmp_path / 'weights.txt')!r})"))
    wanted = evaluate(metric, corpus, systems, resamples=100)
    folder = Folder(str(tmp_path / "run"))
    inputs = [("gold", files.inputs(annotators=(0,)))]
    manifest = plan_run(folder, MetricPlan((metric,), resamples=100), inputs, shard_sentences=21)
    same(finish_run(folder, manifest, EngineSettings("loop")).sets[0].scores[0], wanted)
    # What is left out of a shard leaves the others in their places.
    run_job(folder, manifest, 2, left_out=[4, 9])
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
        partial(run_job, folder, manifest, 0),
        partial(reduce.reduce_run, folder, manifest),
        partial(write_sentences, folder, manifest),
    ):
        with pytest.raises(InputError, match=r"beside\.py: .*changed since.*written again; plan"):
            act()
    with pytest.raises(InputError, match="other files that metrics read; name another folder"):
        planned(place, files, text, shard_sentences=30)
    beside.unlink()
    with pytest.raises(InputError, match=r"beside\.py: .*it is gone"):
        run_job(folder, manifest, 0)
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
    columns = {"source": corpus.sources, "references": texts, "document": names}
    table = pyarrow.table(columns | {f"hyp:{each.system}": each.sentences for each in systems})
    for k, part in enumerate((table.slice(0, 63), table.slice(63))):
        write_table(part, tmp_path / f"{k}.parquet", row_group_size=30)
    folder = Folder(str(tmp_path / "run"))
    wanted = MetricPlan(("m2()",), resamples=50, bootstrap="blocks")
    inputs = [("logs", CorpusFiles(parquet=str(tmp_path / "*.parquet"), guard=False))]
    manifest = plan_run(folder, wanted, inputs, shard_sentences=25)
    (scores,) = finish_run(folder, manifest, EngineSettings("loop")).sets[0].scores
    documents = [f"document {name}" if name else f"row {i}" for i, name in enumerate(names, 1)]
    references = [tuple(Reference(k, text=t) for k, t in enumerate(each)) for each in texts]
    plain = Corpus(corpus.sources, tuple(references), documents=tuple(documents))
    drawn = evaluate("m2", plain, systems, resamples=50, bootstrap="blocks", guard=False)
    same(scores, drawn)
    assert "bootstrap:blocks of documents" in scores.context
    write_table(table.drop_columns("document"), tmp_path / "2.parquet")
    folder = Folder(str(tmp_path / "some"))
    manifest = plan_run(folder, wanted, inputs)
    with pytest.raises(InputError, match="logs: only some sentences have a document; give every"):
        finish_run(folder, manifest, EngineSettings("loop"))


def test_the_order_of_files_is_signed_wherever_they_are(tmp_path: Path) -> None:
    """Files of one name and size in two folders; moved together they are the same."""

    def order(root: Path, *days: str) -> str:
        for day, word in (("day=1", "a"), ("día=2", "b")):
            (root / day).mkdir(parents=True, exist_ok=True)
            (root / day / "s.txt").write_text(f"{word} .\n")
        places = tuple(str(root / day / "s.txt") for day in days)
        inputs = CorpusFiles(source=places, references=(places,), outputs=(("A", places),))
        folder = Folder(str(tmp_path / f"run of {root.name} {days}"))
        return plan_run(folder, MetricPlan(("m2()",)), [("days", inputs)]).sets[0].order

    first = order(tmp_path / "one", "day=1", "día=2")
    assert first.startswith("11d2cbfb4f2a")  # part of signatures
    assert order(tmp_path / "two", "day=1", "día=2") == first
    assert order(tmp_path / "one", "día=2", "day=1") != first
    assert order(tmp_path / "one", "day=1") != first


@pytest.fixture
def make(tmp_path: Path) -> MakeRun:
    files = tiled_sample(tmp_path / "in", 1, ("eager", "noisy"))
    metrics = ("m2", "gleu")
    return lambda name="run": PlannedRun.of(tmp_path / name, files, *metrics, shard_sentences=20)


@pytest.fixture
def run(make: MakeRun) -> PlannedRun:
    return make()


def test_plan_is_made_once(make: MakeRun, run: PlannedRun) -> None:
    assert make().manifest.digest == run.manifest.digest
    assert read_manifest(run.folder) == planned_run(run.folder) == run.manifest
    for metrics, cuts, said in (
        (("gleu",), {"shard_sentences": 20}, "other metrics"),
        (("m2", "gleu"), {"shard_sentences": 20, "resamples": 7}, "other settings"),
        (("m2", "gleu"), {"shard_sentences": 30}, "cut elsewhere"),
    ):
        with pytest.raises(InputError, match=f"{said}.*; name another folder"):
            planned(run.place, run.files, *metrics, **cuts)


def test_changed_plan_is_refused(run: PlannedRun) -> None:
    path = run.place / "manifest.json"
    text = path.read_text()
    for old, new, said in (
        ('"seed":0', '"seed":1', "changed by hand or damaged"),
        ('"errata": "', '"errata": "0.0.', "planned by Errata 0.0."),
        ("errata run 1", "errata run 9", "no plan of a run"),
        ("]}", "]", "not JSON"),
        ('"batch":', '"bitch":', "missing or of the wrong kind"),
    ):
        assert old in text
        path.write_text(text.replace(old, new))
        with pytest.raises(InputError, match=rf"manifest\.json.*{said}"):
            planned_run(run.folder)


def test_what_cannot_be_planned_leaves_no_folder(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    folder, gold = Folder(str(tmp_path / "run")), tiled_sample(tmp_path / "in").inputs()
    write_table(pyarrow.table({"source": ["a"], "references": [["b"]]}), tmp_path / "x.parquet")
    no_system = CorpusFiles(parquet=str(tmp_path / "x.parquet"))
    for metric, inputs, said in (
        ("m3()", gold, "m3"),
        ("judge()", gold, "judge.*whole corpus.*fewer sentences"),
        ("m2()", no_system, "logs: there is no system to score; .*hyp:NAME"),
    ):
        with pytest.raises(InputError, match=said):
            plan_run(folder, MetricPlan((metric,)), [("logs", inputs)])
        assert read_manifest(folder) is None
    with pytest.raises(InputError, match=r"no run in this folder.*errata scale plan"):
        planned_run(folder)
    assert not (tmp_path / "run").exists()


def _flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def _truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-3])


def test_damaged_files_are_counted_again(run: PlannedRun, monkeypatch: pytest.MonkeyPatch) -> None:
    """Damage that changes the size or the record is seen before anything is read."""
    whole = run.count().result()
    for what, harm, seen, damaged in (
        ("counts", _flip, 0, 1),
        ("counts", _truncate, 1, 1),
        ("counts", Path.unlink, 1, 1),
        ("records", _flip, 1, 1),
        ("records", _truncate, 1, 1),
        ("records", Path.unlink, 0, 0),
    ):
        hurt = sorted(path for path in (run.place / what).rglob("*") if path.is_file())[2]
        (run.place / "result.json").unlink()
        harm(hurt)
        assert len(run_status(run.folder, planned_run(run.folder)).damaged) == seen, (what, harm)
        outcome = run.finish(counting=True)
        assert (outcome.counted, outcome.damaged) == (1, damaged), (what, harm)
        assert result_of(run.place) == whole
    # More damaged tasks than rounds: a round is for one task.
    monkeypatch.setattr(scale_run, "ROUNDS", 2)
    for path in (run.place / "counts").rglob("*.cnt"):
        _flip(path)
    assert run.finish(counting=True).damaged == 4
    assert result_of(run.place) == whole


def test_counts_in_the_place_of_others_are_counted_again(run: PlannedRun) -> None:
    """Sound files of the right size that were exchanged, and the files of another plan."""
    whole = run.count().result()
    counts = sorted((run.place / "counts").rglob("*.cnt"))
    one, other = next(
        (a, b)
        for a, b in itertools.combinations(counts, 2)
        if a.stat().st_size == b.stat().st_size and a.read_bytes() != b.read_bytes()
    )
    ours, theirs = one.read_bytes(), other.read_bytes()
    one.write_bytes(theirs)
    other.write_bytes(ours)
    assert run.finish(counting=True).damaged == len({one.name, other.name})
    assert result_of(run.place) == whole
    folder, manifest = planned(run.place.parent / "two", run.files, "m2", shard_sentences=24)
    for name in ("records", "counts"):
        shutil.copytree(run.place / name, run.place.parent / "two" / name)
    assert finish_run(folder, manifest, EngineSettings("loop")).counted == 3


def test_record_names_files_whose_bytes_are_always_the_same(
    run: PlannedRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shard_job, "_batch_size", lambda manifest, task: 7)
    first = run_job(run.folder, run.manifest, 1)
    monkeypatch.setattr(shard_job, "HELD", 0)  # each batch is written at once
    again = run_job(run.folder, run.manifest, 1)
    assert first.files == again.files
    assert not list(run.place.glob(".waiting/*"))
    record = json.loads(run.folder.read_file(record_name(1)))["record"]
    assert record["sentences"] == 20
    assert record["peak_bytes"] > 2**20
    assert {*record["files"]} == {
        f"counts/0000-gold/000{m}-{metric}/000{s}-{system}/00000001.cnt"
        for m, metric in enumerate(("m2", "gleu"))
        for s, system in enumerate(run.files.systems)
    } | {"counts/0000-gold/annotators/00000001.cnt"}
    odd = (("v1.0/\u00e9-x_" + "y" * 60, str(run.files.output("eager"))),)
    inputs = CorpusFiles(gold=str(run.files.gold), outputs=odd)
    folder = Folder(str(run.place.parent / "odd"))
    manifest = plan_run(folder, MetricPlan(("m2()",)), [("my set", inputs)])
    name, _ = run_job(folder, manifest, 0).files
    assert name == f"counts/0000-my_set/0000-m2/0000-v1.0__-x_{'y' * 51}/00000000.cnt"


def test_left_out_before_is_left_out(run: PlannedRun, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that goes on may leave out no more than its ``--allow-failed`` in all."""
    run_job(run.folder, run.manifest, 1, left_out=[3, 5])
    given: list[object] = []
    said: list[str] = []

    def count(
        _: object, manifest: Manifest, tasks: list[int], **more: Any
    ) -> Iterator[ShardRecord]:
        given.extend((more["allow_failed"], more["left_out"]))
        more["lost"](WorkerLostError(1, "ended"))
        return (run_job(run.folder, manifest, task) for task in tasks)

    monkeypatch.setattr("errata.scale.executors.run_processes", count)
    steps: list[tuple[int, int]] = []
    outcome = finish_run(
        run.folder,
        run.manifest,
        EngineSettings("local", allow_failed=2),
        progress=lambda done, total: steps.append((done, total)),
        said=said.append,
    )
    assert (given, outcome.workers_lost, said) == ([2, 2], 1, ["task 1: the worker ended"])
    assert steps == [(2, 4), (3, 4), (4, 4)]
    assert outcome.left_out == (("gold", 24), ("gold", 26))


@pytest.mark.parametrize("metric", [METRICS[0], *METRICS[2:]])
def test_sentences_have_the_digits_of_evaluate(metric: str, tmp_path: Path) -> None:
    files = tiled_sample(tmp_path / "in")
    run = PlannedRun.of(tmp_path / "run", files, metric, shard_sentences=30).count()
    written = write_sentences(run.folder, run.manifest)
    corpus, systems = files.read()
    wanted = evaluate(parse(metric), corpus, systems, resamples=0)
    assert list(written.values()) == [len(corpus)] * len(systems)
    place = (tmp_path / "run" / next(iter(written))).parent
    (found,) = read_score_file(str(place))
    assert found.systems == wanted.systems
    assert wanted.sentences is not None
    np.testing.assert_array_equal(found.sentences, wanted.sentences)
    assert (found.scorer, found.headline) == (wanted.scorer, wanted.headline)
    assert {*wanted.context} <= {*found.context}
    from pyarrow.parquet import read_table

    table = read_table(tmp_path / "run" / next(iter(written)))
    assert table.column_names == ["system", "sentence", wanted.headline, *wanted.sentence_parts]
    for name, part in wanted.sentence_parts.items():
        np.testing.assert_array_equal(
            np.array(table[name].to_pylist(), np.float64), part[0].astype(np.float64)
        )


def test_annotators_that_differ_by_sentence(tmp_path: Path) -> None:
    """The columns of counts are not the same people in every sentence, and some have one."""
    for shard, gold in enumerate(
        (
            "S a b\nA 0 1|||R|||x|||REQUIRED|||-NONE-|||3\n\nS c d\n"
            "A 0 1|||R|||y|||REQUIRED|||-NONE-|||7\n",
            "S a b\nA 0 1|||R|||z|||REQUIRED|||-NONE-|||2\n"
            "A 0 1|||R|||x|||REQUIRED|||-NONE-|||9\n\n",
        )
    ):
        (tmp_path / f"gold{shard}.m2").write_text(gold)
        (tmp_path / f"out{shard}.txt").write_text("x b\ny d\n" if shard == 0 else "x b\n")
    run = ["--run", str(tmp_path / "run")]
    files = ["--gold", str(tmp_path / "gold*.m2"), f"A={tmp_path}/out*.txt", "-m", "m2"]
    errata("scale", "run", *run, *files, "--engine", "loop")
    (table,) = json.loads(errata("scale", "sentences", *run, "--json").stdout)["tables"]
    from pyarrow.parquet import read_table

    found = read_table(tmp_path / "run" / table["rows"][0]["file"])
    assert found["annotator"].to_pylist() == [3, 7, 9]


def test_sentences_left_out_keep_their_numbers(tmp_path: Path) -> None:
    files = tiled_sample(tmp_path / "in")
    run = PlannedRun.of(tmp_path / "run", files, "m2", shard_sentences=20).count()
    run_job(run.folder, run.manifest, 1, left_out=[7])
    (name, *_) = write_sentences(run.folder, run.manifest)
    from pyarrow.parquet import read_table

    numbers = read_table(tmp_path / "run" / name)["sentence"].to_pylist()
    assert numbers == [number for number in range(1, 73) if number != 28]


@pytest.mark.slow
def test_what_is_not_counted_has_no_sentences(tmp_path: Path) -> None:
    files = tiled_sample(tmp_path / "in")
    folder, manifest = planned(tmp_path / "run", files, "m2", shard_sentences=30)
    count_tasks(folder, manifest, [0])
    with pytest.raises(InputError, match=r"tasks are not counted.*errata scale run"):
        write_sentences(folder, manifest)
    finish_run(folder, manifest)
    counts = next((tmp_path / "run" / "counts").rglob("*.cnt"))
    counts.write_bytes(counts.read_bytes()[:-1] + b"?")
    with pytest.raises(InputError, match=r"count its shard again: errata scale run"):
        write_sentences(folder, manifest)


@pytest.mark.slow
def test_tables_of_several_metrics_are_refused(tmp_path: Path) -> None:
    files = tiled_sample(tmp_path / "in")
    folder, manifest = planned(tmp_path / "run", files, "m2", "gleu")
    count_tasks(folder, manifest, [0])
    names = [*write_sentences(folder, manifest)]
    mixed = tmp_path / "mixed"
    mixed.mkdir()
    for k, name in enumerate((names[0], names[-1])):
        (tmp_path / "run" / name).rename(mixed / f"{k}.parquet")
    with pytest.raises(InputError, match="of several metrics"):
        read_score_file(str(mixed))
    with pytest.raises(InputError, match="no Parquet file"):
        read_score_file(str(tmp_path))
    (mixed / "2.parquet").write_bytes(b"no table")
    with pytest.raises(InputError, match="this is no Parquet file"):
        read_score_file(str(mixed / "2.parquet"))


def test_the_command_writes_what_meta_reads(tmp_path: Path) -> None:
    files = tiled_sample(tmp_path / "in")
    run = ["--run", str(tmp_path / "run")]
    errata("scale", "plan", *run, *files.arguments, "-m", "m2")
    assert "not reduced yet" in errata("scale", "status", *run).stdout
    errata("scale", "run", *run, *files.arguments, "-m", "m2")
    assert "result.json is there" in errata("scale", "status", *run).stdout
    (table,) = json.loads(errata("scale", "sentences", *run, "--json").stdout)["tables"]
    sentences = len(files.read()[0])
    assert [row["sentences"] for row in table["rows"]] == [sentences] * len(files.systems)
    place = tmp_path / "run" / Path(table["rows"][0]["file"]).parent
    people = tmp_path / "people.tsv"
    rows = "".join(f"{system}\t{k}\n" for k, system in enumerate(files.systems))
    people.write_text(f"system\tscore\n{rows}")
    errata("meta", "--scores", place, "--human", people)
    errata("scale", "clean", *run)
    assert place.exists()
    errata("scale", "clean", *run, "--all")
    assert not place.exists()
