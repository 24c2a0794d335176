"""The scores of every sentence of a run, as tables that are read where scores are."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from command import errata
from errata.core.errors import InputError
from errata.io.scores import read_score_file
from errata.metrics import parse
from errata.scale.reduce import write_sentences
from errata.scale.run import count_tasks, finish_run
from errata.scale.shard_job import run_job
from errata.scoring.evaluate import evaluate
from run_folders import PlannedRun, planned, tiled_sample

pytest.importorskip("pyarrow")

# Counts as they are, draws, and weights that the whole settles.
METRICS = ("m2", "gleu(references='official', draws=20)", "cleme")


@pytest.mark.parametrize("metric", METRICS)
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
    assert {*table.column_names} >= {*wanted.sentence_parts}
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
    errata("scale", "run", *run, *files.arguments, "-m", "m2")
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
