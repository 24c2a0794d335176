"""``errata judge``: rankings by a language model, and how far to trust them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from errata.cli.input_options import Inputs, parse_metrics
from errata.cli.options import extract_option, metric_option
from errata.cli.output import CommandOptions, ProgressBar, emit
from errata.cli.params import argument, flag, group, option, takes
from errata.core.errors import InputError

if TYPE_CHECKING:
    from errata.metrics.judge import Judge

EPILOG = """\b
Examples:
  errata judge --source src.txt A.txt B.txt -o judgments.jsonl
  errata judge --gold gold.m2 A.txt B.txt -m 'judge(mode=edit, criterion=impact)' --dry-run
"""


@dataclass(frozen=True)
class JudgeOptions(CommandOptions):
    outputs: tuple[str, ...] = argument(metavar="[NAME=]FILE...", role="outputs", several=True)
    inputs: Inputs = group(Inputs, "refs", "missing", "annotators")
    metrics: tuple[str, ...] = metric_option("judge")
    extractor: str | None = extract_option(
        "for judge(mode=edit), find the edits of all outputs with one tool"
    )
    output: str | None = option(
        "-o",
        "--output PATH",
        "The file of judgments to write, as JSON lines, for errata rank and the like.",
        writes="file",
        excludes="--dry-run",
    )
    dry_run: bool = flag(
        "--dry-run",
        "Print how many requests would be sent and what they cost; send none. Needs no server "
        "where the metric names its model.",
    )


@click.command("judge", epilog=EPILOG)
@takes(JudgeOptions, data=True)
def command(given: JudgeOptions) -> None:
    """Let a language model judge outputs, and measure how far to trust it.

    The server is the one in OPENAI_BASE_URL (vLLM, llama.cpp, ollama, OpenAI), its key in
    OPENAI_API_KEY. Answers are kept, so no question is sent twice. Judgments are rankings, like
    people's; -m judge in errata score gives the same judge's scores with intervals.
    """
    from errata.io.judgments import write_judgments
    from errata.metrics.judge.reliability import Session, cost_table, judge_tables, rankings_of
    from errata.scoring.evaluate import evaluate

    judges = _parse_judges(given.metrics, given.extractor)
    output = given.output
    corpus, systems = given.inputs.read_corpus_and_systems(given.outputs)
    if given.dry_run:
        costs = [(judge, judge.costs(corpus, systems)) for judge in judges]
        emit(cost_table(costs), given.display)
        return
    sessions, rankings = [], []
    for judge in judges:
        with ProgressBar(judge.name) as progress:
            scores = evaluate(judge, corpus, systems, resamples=0, progress=progress)
        judged = judge.judged(corpus, systems)
        # Return the name of the model, with the parameters that differ from the defaults.
        more = judge.label.partition("(")[2].rstrip(")")
        name = "+".join(judged.models) + (f" ({more})" if more else "")
        sessions.append(Session(name, scores, judged))
        rankings += rankings_of(judged, corpus, systems, name, absolute=judge.group == 1)
    if output is not None:
        write_judgments(rankings, output)
    if output != "-":
        after = f"next: errata rank {output}, errata agree {output}" if output else ""
        written = [f"{len(rankings)} rankings are in {output}"] if output else []
        emit(judge_tables(sessions, written), given.display, after=after)


def _parse_judges(texts: tuple[str, ...], extractor: str | None) -> list[Judge]:
    from errata.metrics.judge import Judge

    judges = []
    for metric in parse_metrics(texts, ("judge",), extractor):
        if not isinstance(metric, Judge):
            remedy = "errata judge takes -m 'judge(...)' only"
            raise InputError(f"{metric.name} is no judge", remedy=remedy)
        judges.append(metric)
    return judges
