"""``errata reproduce``: the published tables of the field beside what comes out now."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from errata.cli.main import print_stderr
from errata.cli.output import ProgressBar, emit, format_option

if TYPE_CHECKING:
    from errata.tables.table import Form


@click.command("reproduce", epilog="Example:  errata reproduce chollampatt18 --summary")
@click.argument("experiments", nargs=-1, metavar="[PAPER|FILE.toml|all]...")
@click.option(
    "--summary",
    is_flag=True,
    help="Print the findings and how many cells came out how, not every cell.",
)
@click.option(
    "--extract",
    "extractor",
    metavar="NAME",
    help="Where a table needs ERRANT's types: errant, or errant:PIPELINE with another "
    "spaCy pipeline. Default: what is installed; without ERRANT these cells are not run.",
)
@click.option(
    "--model",
    default="trigram",
    show_default=True,
    metavar="NAME",
    help="Which language model stands in for GPT-2 (smollm2, or any other; see errata metrics "
    "scribendi). GPT-2 itself is run too where its weights are at hand.",
)
@format_option
def command(
    experiments: tuple[str, ...], summary: bool, extractor: str | None, model: str, form: Form
) -> None:
    """Recompute the published tables of the field.

    Every printed figure is computed again from the raw outputs, references and judgments (and,
    where a paper released its scores, from these too), and printed with the difference and a
    verdict. The exit code is 1 if a figure that should match does not. Without an argument the
    experiments are listed. The data sets come from ERRATA_DATA, the cache or the network (see
    errata data).
    """
    from errata.edits.errant import open_extractor
    from errata.reproduce import run as report
    from errata.reproduce.experiment import experiment_names, load_experiment

    if not experiments:
        emit(report.experiment_table(map(load_experiment, experiment_names())), form)
        return
    names = [
        known
        for name in experiments
        for known in (experiment_names() if name == "all" else (name,))
    ]
    chosen = [load_experiment(name) for name in dict.fromkeys(names)]
    from errata.reproduce.run import reproduce

    with ProgressBar("cells") as progress:
        results = reproduce(
            chosen,
            extractor=extractor or open_extractor() or "errant",
            model=model,
            progress=progress,
        )
    emit(report.reproduction_tables(results, summary=summary), form)
    failed = sum(result.mismatches for result in results)
    if failed:
        print_stderr(f"errata: {failed} figures do not come out as they should")
        sys.exit(1)
