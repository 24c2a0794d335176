"""``errata check``: a linter for a gold set and the outputs scored against it."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import click

from errata.cli.input_options import Inputs
from errata.cli.output import CommandOptions, echo_findings, emit
from errata.cli.params import argument, flag, group, takes
from errata.tables.table import make_signature


@dataclass(frozen=True)
class CheckOptions(CommandOptions):
    files: tuple[str, ...] = argument(metavar="[NAME=]FILE...", role="outputs", several=True)
    inputs: Inputs = group(
        Inputs,
        "annotators",
        "sample",
        "tokens",
        "normalise",
        "no_guard",
        needs={"compatible": "--gold or files"},
    )
    strict: bool = flag("--strict", "Fail on warnings too.")
    every: bool = flag(
        "--every", "A row for every finding; else the fourth and later of a kind are counted."
    )


@click.command("check", epilog="Example:  errata check --gold gold.m2 baseline.txt ours=out.txt")
@takes(CheckOptions, data=True)
def command(given: CheckOptions) -> None:
    """Look for mistakes in a gold set and its outputs.

    Without --gold and --source, the only .m2 file among FILE is the gold set. Files with errors
    cannot be scored: the exit code is 2. Files with warnings (shifted lines, empty lines, odd
    characters, repeated edits...) can; they fail only with --strict. Notes never fail.
    """
    from errata.io import check_files
    from errata.io.checks import join_similar_findings
    from errata.reports.sections.files import files_table, findings_table, severity_counts_text

    inputs = given.inputs
    if not (given.files or inputs.has_files):
        raise click.UsageError("nothing to check; name some files")
    checked = check_files(given.files, inputs.files())
    facts = ["compatible"] * inputs.compatible
    facts += [] if inputs.missing is None else [f"missing:{inputs.missing!r}"]
    signature = make_signature("check", *facts, *inputs.skip_facts)
    findings = checked.findings if given.every else tuple(join_similar_findings(checked.findings))
    table = files_table(checked, signature=signature)
    if given.display.form == "table":  # a table of sentences would not fit the terminal
        echo_findings(findings)
        click.echo(f"{severity_counts_text(checked)}\n")
        emit(table, given.display)
    else:
        emit([findings_table(checked, findings, signature=signature), table], given.display)
    if checked.count("error") or (given.strict and checked.count("warning")):
        sys.exit(2)
