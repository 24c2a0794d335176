"""``errata reproduce``: the published tables of the field, computed again."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import click

from errata.cli.main import print_stderr
from errata.cli.options import extract_option
from errata.cli.output import CommandOptions, ProgressBar, emit
from errata.cli.params import argument, flag, option, takes


@dataclass(frozen=True)
class ReproduceOptions(CommandOptions):
    experiments: tuple[str, ...] = argument(metavar="[PAPER|FILE.toml|all]...", several=True)
    summary: bool = flag(
        "--summary", "Print the findings and how many cells match, not every cell."
    )
    extractor: str | None = extract_option(
        "the tool for tables with ERRANT's types; without ERRANT these cells are not run"
    )
    model: str = option(
        "--model NAME",
        "The language model that replaces GPT-2 (smollm2, or any other; see errata metrics "
        "scribendi). GPT-2 itself is run too where its weights are on disk.",
        default="trigram",
    )


@click.command("reproduce", epilog="Example:  errata reproduce chollampatt18 --summary")
@takes(ReproduceOptions)
def command(given: ReproduceOptions) -> None:
    """Recompute the published tables of the field.

    Every printed figure is computed again from the raw outputs, references and judgments (and,
    where a paper released its scores, from these too), and printed with the difference and a
    verdict. The exit code is 1 if a figure that should match does not. Without an argument the
    experiments are listed. The data sets come from ERRATA_DATA, the cache or the network (see
    errata data).
    """
    from errata.edits.errant import open_extractor
    from errata.reproduce.experiment import experiment_names, load_experiment
    from errata.reproduce.run import experiment_table, reproduce, reproduction_tables

    if not given.experiments:
        emit(experiment_table(map(load_experiment, experiment_names())), given.display)
        return
    names = [
        each
        for name in given.experiments
        for each in (experiment_names() if name == "all" else (name,))
    ]
    experiments = [load_experiment(name) for name in dict.fromkeys(names)]
    extractor = given.extractor or open_extractor() or "errant"
    with ProgressBar("cells") as progress:
        results = reproduce(experiments, extractor=extractor, model=given.model, progress=progress)
    emit(reproduction_tables(results, summary=given.summary), given.display)
    failed = sum(result.mismatches for result in results)
    if failed:
        print_stderr(f"errata: {failed} figures differ from the published ones")
        sys.exit(1)
