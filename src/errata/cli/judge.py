"""``errata judge``: outputs in, rankings by a language model out, with what speaks against it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from errata.cli.input_options import Inputs, corpus_options, extracting, reject_duplicates
from errata.cli.options import data_option, extract_option, metric_option
from errata.cli.output import ProgressBar, emit, format_option, writes_files
from errata.core.errors import InputError

if TYPE_CHECKING:
    from errata.metrics.judge import Judge
    from errata.tables.table import Form


EPILOG = """\b
Examples:
  errata judge --source src.txt A.txt B.txt -o judgments.jsonl
  errata judge --gold gold.m2 A.txt B.txt -m 'judge(mode=edit, criterion=impact)' --dry-run
"""


@click.command("judge", epilog=EPILOG)
@data_option("gold", "source", outputs="outputs")
@writes_files("output")
@click.argument("outputs", nargs=-1, metavar="[NAME=]FILE...")
@corpus_options("refs", "missing", "annotators")
@metric_option("judge")
@extract_option("for judge(mode=edit), find the edits of all outputs alike")
@click.option(
    "-o",
    "--output",
    metavar="PATH",
    help="The file of judgments to write, as JSON lines, for errata rank and the like.",
)
@click.option(
    "--dry-run",
    is_flag=True,
    help="Say what would be asked and what it costs; ask nothing. Needs no server where the "
    "metric names its model.",
)
@format_option
def command(
    outputs: tuple[str, ...],
    inputs: Inputs,
    metrics: tuple[str, ...],
    extractor: str | None,
    output: str | None,
    dry_run: bool,
    form: Form,
) -> None:
    """Let a language model judge outputs, and say how far to trust it.

    The server is the one in OPENAI_BASE_URL (vLLM, llama.cpp, ollama, OpenAI), its key in
    OPENAI_API_KEY. Nothing that was answered once is asked again. Judgments are rankings, like
    those of people; -m judge in errata score gives the same judge's scores with intervals.
    """
    from errata.io.judgments import write_judgments
    from errata.metrics.judge.reliability import Session, cost_table, judge_tables, rankings_of
    from errata.scoring.evaluate import evaluate

    judges = _judges(metrics or ("judge",), extractor)
    if dry_run and output is not None:
        raise InputError("--dry-run writes nothing", remedy="leave out --output")
    corpus, systems = inputs.scored(outputs)
    if dry_run:
        emit(cost_table([(judge, judge.costs(corpus, systems)) for judge in judges]), form)
        return
    sessions, rankings = [], []
    for judge in judges:
        with ProgressBar(judge.name) as progress:
            scores = evaluate(judge, corpus, systems, resamples=0, progress=progress)
        judged = judge.judged(corpus, systems)
        name = _name(judge, judged.models)
        sessions.append(Session(name, scores, judged))
        rankings += rankings_of(judged, corpus, systems, name, absolute=judge.group == 1)
    if output is not None:
        write_judgments(rankings, output)
    if output != "-":
        after = f"next: errata rank {output}, errata agree {output}" if output else ""
        written = [f"{len(rankings)} rankings are in {output}"] if output else []
        emit(judge_tables(sessions, written), form, after=after)


def _judges(metrics: tuple[str, ...], extractor: str | None) -> list[Judge]:
    from errata.metrics import parse
    from errata.metrics.judge import Judge

    judges = []
    chosen = [parse(text) for text in metrics]
    for metric in extracting(chosen, extractor) if extractor is not None else chosen:
        if not isinstance(metric, Judge):
            raise InputError(
                f"{metric.name} is no judge", remedy="errata judge takes -m 'judge(...)' only"
            )
        judges.append(metric)
    reject_duplicates(judges)
    return judges


def _name(judge: Judge, models: tuple[str, ...]) -> str:
    """The model, and what was asked of it beyond what is usual."""
    more = judge.label.partition("(")[2].rstrip(")")
    return "+".join(models) + (f" ({more})" if more else "")
