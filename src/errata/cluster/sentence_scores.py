"""The scores of every sentence of a run, from its counts: a table for each metric and system."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from errata.cluster.counted import CountedSystem, SetCounts
from errata.cluster.counting import DamagedFileError, folder_of
from errata.cluster.manifest import Manifest
from errata.cluster.status import check_counted, run_status
from errata.errors import InputError
from errata.evaluation import sentence_scores, whole_context
from errata.io.folders import Folder
from errata.io.scores.sentence_tables import SENTENCE_TABLE, ScoredSentences, write_sentence_table
from errata.metrics import Metric, parse
from errata.numbers import Progress
from errata.plugins import blamed
from errata.reduction import CountParts, PartFacts, settled_parts

__all__ = ["SENTENCES", "write_sentences"]

SENTENCES = "sentences"


def write_sentences(
    folder: Folder, manifest: Manifest, *, progress: Progress | None = None
) -> dict[str, int]:
    """Write ``sentences/SET/METRIC/SYSTEM.parquet`` in the folder of a run that was counted.

    The scores are those of ``errata score --by-sentence``, but for the annotators, of which counts
    know nothing. Gives the files with how many sentences they have.
    """
    manifest.wanted.check_files()
    check_counted(folder, run_status(folder, manifest))
    total = sum(len(each.systems) for each in manifest.sets) * len(manifest.wanted.metrics)
    written: dict[str, int] = {}
    try:
        for each in manifest.sets:
            counts = SetCounts(folder, manifest, each)
            # Each of these reads all records.
            facts, signed, gone = counts.facts(), counts.signed, {*counts.left_out()}
            for m in range(len(manifest.wanted.metrics)):
                for name, sentences in _written(counts, m, facts, signed, gone):
                    written[name] = sentences
                    if progress is not None:
                        progress(len(written), total)
    except DamagedFileError as error:
        again = "count its shard again: errata scale run --run FOLDER"
        raise InputError(error.problem, path=error.path, remedy=again) from None
    return written


def _written(
    counts: SetCounts, m: int, facts: PartFacts, signed: tuple[str, ...], gone: set[int]
) -> Iterator[tuple[str, int]]:
    """Write the tables of one metric, system by system."""
    folder, manifest, tested = counts.folder, counts.manifest, counts.set
    metric = parse(manifest.wanted.metrics[m])
    said = whole_context(metric, *facts.told(metric)[0], *facts.corpus_facts, *signed)
    signature = " | ".join((repr(metric), *said))
    systems = [CountedSystem(counts, m, s) for s in range(len(tested.systems))]
    with blamed(metric):
        for s, parts in enumerate(settled_parts(metric, [*systems])):
            name = f"{SENTENCES}/{folder_of(manifest, tested, m, s)}{SENTENCE_TABLE}"
            rows = _scored(metric, parts, gone)
            with folder.waiting() as place:
                file, system = place / "table", tested.systems[s]
                sentences = write_sentence_table(file, system, metric.headline, signature, rows)
                folder.put(file, name)
            yield name, sentences


def _scored(metric: Metric, parts: CountParts, gone: set[int]) -> Iterator[ScoredSentences]:
    """The scores of sentences batch by batch, numbered as in the text with those left out."""
    last = 0
    for counts in parts:
        if not len(counts):
            continue
        numbers: list[int] = []
        while len(numbers) < len(counts):
            last += 1
            if last not in gone:
                numbers.append(last)
        yield ScoredSentences(np.array(numbers, np.int64), *sentence_scores(metric, counts))
