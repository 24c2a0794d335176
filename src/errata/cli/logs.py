"""``errata logs``: edits of a deployed system, counted without references."""

from __future__ import annotations

from dataclasses import dataclass

import click

from errata.cli.options import confidence_option, extract_option
from errata.cli.output import CommandOptions, ProgressBar, emit
from errata.cli.params import argument, option, takes
from errata.core.errors import InputError


@dataclass(frozen=True)
class LogOptions(CommandOptions):
    output: str | None = argument(metavar="[OUTPUT]", required=False)
    source: str | None = option(
        "--source FILE", "The uncorrected sentences, one a line.", excludes="--parquet"
    )
    parquet: str | None = option(
        "--parquet PATTERN",
        "A folder or pattern of Parquet files with source and hypothesis, instead of texts.",
        excludes="output",
    )
    system: str | None = option(
        "--for NAME", "Which of several systems in Parquet (hyp:NAME).", needs="--parquet"
    )
    marks: str | None = option(
        "--marked FILE",
        "For texts, a table with a row per sentence: accepted, clean (yes, no or nothing), "
        "and columns for --by; separated by tabs.",
        excludes="--parquet",
    )
    slices: tuple[str, ...] = option(
        "--by COLUMN",
        "Count by the values of a column too.",
        multiple=True,
        needs="--marked or --parquet",
    )
    extractor: str | None = extract_option("the tool that finds the edits")
    confidence: float = confidence_option()

    def __post_init__(self) -> None:
        """Refuse to count nothing."""
        if self.parquet is None and (self.source is None or self.output is None):
            remedy = "name sources and outputs (--source IN OUT), or Parquet files (--parquet)"
            raise InputError("no logs given", remedy=remedy)


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
    from errata.logs import count_parquet_logs, count_text_logs, log_tables
    from errata.tables.table import make_signature

    extractor = given.extractor or "aligned"
    if given.parquet is not None:
        parts = count_parquet_logs(
            given.parquet, system=given.system, slices=given.slices, extractor=extractor
        )
    else:
        assert given.source is not None
        assert given.output is not None
        parts = count_text_logs(
            given.source, given.output, given.marks, slices=given.slices, extractor=extractor
        )
    with ProgressBar("sentences") as progress:
        counts = next(parts)
        for part in parts:
            counts += part
            progress(counts.totals().sentences)
    signature = make_signature("logs", f"extractor:{extractor}", f"confidence:{given.confidence:g}")
    emit(log_tables(counts, confidence=given.confidence, signature=signature), given.display)
