"""``errata check``: a linter for a gold set and the outputs scored against it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from errata.cli.input_options import Inputs, corpus_options
from errata.cli.options import CORPUS, data_option
from errata.cli.output import echo_findings, emit, format_option
from errata.tables.table import signed

if TYPE_CHECKING:
    from errata.tables.table import Form


@click.command("check", epilog="Example:  errata check --gold gold.m2 baseline.txt ours=out.txt")
@data_option(*CORPUS, outputs="files")
@click.argument("files", nargs=-1, required=False, metavar="[NAME=]FILE...")
@corpus_options("annotators", "sample", "tokens", "no_guard")
@click.option("--strict", is_flag=True, help="Fail on warnings too.")
@click.option(
    "--every",
    "everything",
    is_flag=True,
    help="A row for every finding; else the fourth and later of a kind are counted.",
)
@format_option
def command(
    files: tuple[str, ...], inputs: Inputs, strict: bool, everything: bool, form: Form
) -> None:
    """Look for mistakes in a gold set and its outputs.

    Without --gold and --source, the only .m2 file among FILE is the gold set. Errors cannot be
    scored: the exit code is 2. Warnings (shifted lines, empty lines, odd characters, repeated
    edits...) can; they fail only with --strict. Notes never fail.
    """
    if not (files or inputs.named):
        raise click.UsageError("nothing to check; name some files")
    from errata.io.checks import summarise
    from errata.reports.sections.files import files_table, findings_table, severities

    checked = inputs.checked(files)
    how = ["compatible"] * inputs.compatible
    how += [] if inputs.missing is None else [f"missing:{inputs.missing!r}"]
    signature = signed("check", *how, *inputs.skip_facts)
    shown = checked.findings if everything else tuple(summarise(checked.findings))
    if form == "table":  # one below the other: a table of sentences would not fit the terminal
        echo_findings(shown)
        click.echo(f"{severities(checked)}\n")
        emit(files_table(checked, signature=signature), form)
    else:
        findings = findings_table(checked, shown, signature=signature)
        emit([findings, files_table(checked, signature=signature)], form)
    if checked.count("error") or (strict and checked.count("warning")):
        sys.exit(2)
