"""``errata logs``: edits of a deployed system, counted without references."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from errata.cli.options import confidence_option, extract_option
from errata.cli.output import Display, ProgressBar, emit
from errata.cli.params import argument, group, option, takes
from errata.core.errors import InputError

if TYPE_CHECKING:
    from errata.logs import LogCounts


@dataclass(frozen=True)
class LogOptions:
    """Options of ``errata logs``."""

    output: str | None = argument(metavar="[OUTPUT]", required=False)
    source: str | None = option(
        "--source",
        metavar="FILE",
        excludes="--parquet",
        help="The uncorrected sentences, one a line.",
    )
    parquet: str | None = option(
        "--parquet",
        metavar="PATTERN",
        excludes="output",
        help="A folder or pattern of Parquet files with source and hypothesis, instead of texts.",
    )
    system: str | None = option(
        "--for",
        metavar="NAME",
        needs="--parquet",
        help="Which of several systems in Parquet (hyp:NAME).",
    )
    marks: str | None = option(
        "--marked",
        metavar="FILE",
        excludes="--parquet",
        help="For texts, a table with a row per sentence: accepted, clean (yes, no or nothing), "
        "and columns for --by; separated by tabs.",
    )
    slices: tuple[str, ...] = option(
        "--by",
        multiple=True,
        metavar="COLUMN",
        needs="--marked or --parquet",
        help="Count by the values of a column too.",
    )
    extractor: str | None = extract_option("the tool that finds the edits")
    confidence: float = confidence_option()
    display: Display = group(Display)

    def __post_init__(self) -> None:
        """Refuse to count nothing."""
        if self.parquet is None and (self.source is None or self.output is None):
            raise InputError(
                "no logs given",
                remedy="name sources and outputs (--source IN OUT), or Parquet files (--parquet)",
            )


@click.command(
    "logs",
    epilog="Example:  errata logs --source 'in-*.txt.gz' 'out-*.txt.gz' --marked marks.tsv "
    "--by locale",
)
@takes(LogOptions)
def command(given: LogOptions) -> None:
    """Count the edits of a deployed system, without references.

    How often it changes a sentence, by which kinds of edits, how often it changes sentences that
    are marked clean, and which share of its changes people accepted. Logs may be larger than
    memory: files are read once, side by side.
    """
    from errata.logs import log_tables
    from errata.tables.table import signed

    extractor = given.extractor or "aligned"
    read = _text_parts if given.parquet is None else _parquet_parts
    parts = read(given, extractor)
    with ProgressBar("sentences") as progress:
        counts = next(parts)
        for part in parts:
            counts += part
            progress(counts.part().sentences)
    signature = signed("logs", f"extractor:{extractor}", f"confidence:{given.confidence:g}")
    emit(log_tables(counts, confidence=given.confidence, signature=signature), given.display)


def _text_parts(given: LogOptions, extractor: str) -> Iterator[LogCounts]:
    from errata.io.shards.inputs import ShardedInputs
    from errata.io.shards.read import stream_batches
    from errata.io.slices import LogColumns
    from errata.logs import count_logs

    columns = None if given.marks is None else LogColumns(given.marks, given.slices)
    inputs = ShardedInputs(source=given.source, outputs=(("output", given.output or ""),))
    for corpus, (system,) in stream_batches(inputs):
        marks = {} if columns is None else columns.take(len(corpus))
        yield count_logs(corpus.sources, system.sentences, **marks, extractor=extractor)
    if columns is not None:
        columns.finish()


def _parquet_parts(given: LogOptions, extractor: str) -> Iterator[LogCounts]:
    from errata.io.shards.inputs import ShardedInputs
    from errata.io.shards.parquet import parquet_rows
    from errata.logs import count_logs

    empty = True
    for rows in parquet_rows(ShardedInputs(parquet=given.parquet), slices=given.slices):
        known = list(rows.outputs)
        name = given.system
        if name is None and len(known) == 1:
            name = known[0]
        if name is None or name not in known:
            raise InputError(
                f"the files contain {len(known)} systems"
                if name is None
                else f"there is no system {name!r}",
                path=rows.path,
                remedy=f"choose one with --for NAME: {', '.join(known) or 'none'}",
            )
        empty = False
        yield count_logs(
            rows.sources,
            rows.outputs[name],
            accepted=rows.accepted,
            clean=rows.clean,
            slices=rows.slices,
            extractor=extractor,
        )
    if empty:
        raise InputError(
            "the files hold no row", path=given.parquet, remedy="name the files of the logs"
        )
