"""``errata verify``: a pasted score, computed again from its files."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from errata.cli.input_options import Inputs, corpus_options, read_skip_option
from errata.cli.options import CORPUS, confidence_option, data_option, threads_option
from errata.cli.output import ProgressBar, emit, format_option
from errata.core.errors import InputError

if TYPE_CHECKING:
    from errata.data import Corpus, Hypotheses
    from errata.tables.table import Form
    from errata.verify import ScoreClaim


@click.command(
    "verify", epilog="Example:  errata verify 'm2#1a2b3c4d = 37.33' --gold gold.m2 ours.txt"
)
@data_option(*CORPUS, outputs="outputs")
@click.argument("claim", metavar="CLAIM")
@click.argument("outputs", nargs=-1, metavar="[NAME=]FILE...")
@corpus_options()
@click.option(
    "--for",
    "whose",
    metavar="NAME",
    help="Whose score it is, where there are outputs of several systems.",
)
@confidence_option
@threads_option
@format_option
def command(
    claim: str,
    outputs: tuple[str, ...],
    inputs: Inputs,
    whose: str | None,
    confidence: float,
    threads: int | None,
    form: Form,
) -> None:
    """Recompute a pasted score from its files.

    CLAIM is 'SIGNATURE = VALUE', the signature whole or short, the value a fraction or per cent
    with as many digits as it was printed with, perhaps with its interval (± 1.2, or [36.1,
    38.5]); or a file (- is standard input) with one a line; or what errata score printed as JSON
    or TSV, of which every system is looked up among the outputs. What the signature says of tokens,
    annotators and sentences left out is done unless an option says otherwise; every other fact
    is compared with the files. The exit code is 1 where a claim does not hold.
    """
    from errata.verify import claim_table, verify_claim

    read: dict[Inputs, tuple[Corpus, list[Hypotheses]]] = {}
    checked = []
    for each in _claims(claim):
        wanted = _as_claimed(inputs, each)
        if wanted not in read:
            read[wanted] = wanted.scored(outputs, threads)
        corpus, systems = read[wanted]
        with ProgressBar(each.metric.name) as progress:
            checked.append(
                verify_claim(
                    each,
                    corpus,
                    systems,
                    _whose(each.system or whose, systems),
                    confidence=confidence,
                    threads=threads,
                    progress=progress,
                )
            )
    emit(claim_table(checked), form)
    if not all(each.holds for each in checked):
        sys.exit(1)


def _claims(given: str) -> list[ScoreClaim]:
    """The claim itself, or those in the file it names."""
    from errata.io.files import read_lines, shown_name
    from errata.io.scores import read_score_file
    from errata.verify import claims_of, parse_claim, read_claims

    if "=" in given:
        return [parse_claim(given)]
    lines = read_lines(given)[0]
    start = next(filter(str.strip, lines), "").lstrip()
    if given != "-" and (start.startswith("{") or ("\t" in start and "=" not in start)):
        return [claim for scores in read_score_file(given) for claim in claims_of(scores)]
    found = list(read_claims(lines, shown_name(given)))
    if not found:
        raise InputError(
            "there is no claim in this file",
            path=shown_name(given),
            remedy="write SIGNATURE = VALUE, one a line",
        )
    return found


def _as_claimed(inputs: Inputs, claim: ScoreClaim) -> Inputs:
    """The inputs, read as the signature says where no option says how to."""
    if claim.tokens is not None and inputs.tokens == "as_is":
        inputs = replace(inputs, tokens=claim.tokens)
    if claim.skipped is not None and inputs.skipped is None:
        inputs = replace(inputs, skipped=read_skip_option(claim.skipped))
    if claim.annotators and not inputs.annotators:
        inputs = replace(inputs, annotators=claim.annotators)
    return inputs


def _whose(name: str | None, systems: list[Hypotheses]) -> str:
    names = [each.system for each in systems]
    if name is None and len(names) == 1:
        return names[0]
    if name is None:
        raise InputError(
            f"a score of which of {len(names)} systems?",
            remedy=f"say --for NAME, one of: {', '.join(names)}",
        )
    if name not in names:
        raise InputError(f"there is no system {name!r}", remedy=f"there are: {', '.join(names)}")
    return name
