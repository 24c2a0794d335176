"""``errata logs``: what a system did in use, counted without references."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from errata.cli.options import confidence_option, extract_option, refuse_unless
from errata.cli.output import ProgressBar, emit, format_option
from errata.core.errors import InputError

if TYPE_CHECKING:
    from errata.logs import LogCounts
    from errata.tables.table import Form


@click.command(
    "logs",
    epilog="Example:  errata logs --source 'in-*.txt.gz' 'out-*.txt.gz' --marked marks.tsv "
    "--by locale",
)
@click.argument("output", required=False, metavar="[OUTPUT]")
@click.option("--source", metavar="FILE", help="The uncorrected sentences, one a line.")
@click.option(
    "--parquet",
    metavar="PATTERN",
    help="A folder or pattern of Parquet files with source and hypothesis, instead of texts.",
)
@click.option(
    "--for", "system", metavar="NAME", help="Which of several systems in Parquet (hyp:NAME)."
)
@click.option(
    "--marked",
    "marks",
    metavar="FILE",
    help="For texts, a table with a row per sentence: accepted, clean (yes, no or nothing), and "
    "columns for --by; apart by tabs.",
)
@click.option(
    "--by", "slices", multiple=True, metavar="COLUMN", help="Count by the values of a column too."
)
@extract_option("who finds the edits")
@confidence_option
@format_option
def command(
    output: str | None,
    source: str | None,
    parquet: str | None,
    system: str | None,
    marks: str | None,
    slices: tuple[str, ...],
    extractor: str | None,
    confidence: float,
    form: Form,
) -> None:
    """Count what a system did in use, without references.

    How often it changes a sentence, by which kinds of edits, how often it changes sentences that
    are marked clean, and which share of its changes people accepted. Logs may be longer than
    memory: files are read once, side by side.
    """
    from errata.logs import log_tables
    from errata.tables.table import signed

    refuse_unless(parquet is not None, "system", "--parquet")
    refuse_unless(parquet is None, "source marks", "texts, not --parquet")
    extractor = extractor or "aligned"
    if parquet is not None:
        if output is not None:
            raise InputError(
                "both an output and Parquet files are given", remedy="leave out one of them"
            )
        parts = _parquet_parts(parquet, system, slices, extractor)
    else:
        if source is None or output is None:
            raise InputError(
                "no logs given",
                remedy="name sources and outputs (--source IN OUT), or Parquet files (--parquet)",
            )
        parts = _text_parts(source, output, marks, slices, extractor)
    with ProgressBar("sentences") as progress:
        counts = next(parts)
        for part in parts:
            counts += part
            progress(counts.part().sentences)
    signature = signed("logs", f"extractor:{extractor}", f"confidence:{confidence:g}")
    emit(log_tables(counts, confidence=confidence, signature=signature), form)


def _text_parts(
    source: str, output: str, marks: str | None, slices: tuple[str, ...], extractor: str
) -> Iterator[LogCounts]:
    from errata.io.corpus import CorpusFiles
    from errata.io.shards.read import stream_batches
    from errata.io.slices import LogColumns
    from errata.logs import count_logs

    if slices and marks is None:
        raise InputError(
            "--by needs columns, and texts have none", remedy="give a table of them (--marked)"
        )
    known = None if marks is None else LogColumns(marks, slices)
    inputs = CorpusFiles(source=source, outputs=(("output", output),))
    for corpus, (system,) in stream_batches(inputs):
        beside = {} if known is None else known.take(len(corpus))
        yield count_logs(corpus.sources, system.sentences, **beside, extractor=extractor)
    if known is not None:
        known.finish()


def _parquet_parts(
    parquet: str, system: str | None, slices: tuple[str, ...], extractor: str
) -> Iterator[LogCounts]:
    from errata.io.corpus import CorpusFiles
    from errata.io.shards.parquet import parquet_rows
    from errata.logs import count_logs

    none = True
    for rows in parquet_rows(CorpusFiles(parquet=parquet), slices=slices):
        known = list(rows.outputs)
        name = system if system is not None else known[0] if len(known) == 1 else None
        if name is None or name not in known:
            raise InputError(
                "which of the systems?" if system is None else f"there is no system {system!r}",
                path=rows.path,
                remedy=f"--for is one of: {', '.join(known) or 'none'}",
            )
        none = False
        yield count_logs(
            rows.sources,
            rows.outputs[name],
            accepted=rows.accepted,
            clean=rows.clean,
            slices=rows.slices,
            extractor=extractor,
        )
    if none:
        raise InputError("the files hold no row", path=parquet, remedy="name the files of the logs")
