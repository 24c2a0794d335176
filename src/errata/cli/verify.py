"""``errata verify``: a pasted score, computed again from its files."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click

from errata.cli.input_options import Inputs, check_system_name, read_skip_option
from errata.cli.options import confidence_option, threads_option
from errata.cli.output import CommandOptions, ProgressBar, emit
from errata.cli.params import argument, group, option, takes
from errata.core.errors import InputError

if TYPE_CHECKING:
    from errata.data import Corpus, Hypotheses
    from errata.verify import ScoreClaim


@dataclass(frozen=True)
class VerifyOptions(CommandOptions):
    claim: str = argument(metavar="CLAIM")
    outputs: tuple[str, ...] = argument(metavar="[NAME=]FILE...", role="outputs", several=True)
    inputs: Inputs = group(Inputs)
    system: str | None = option(
        "--for NAME", "The system with the score, where there are outputs of several systems."
    )
    confidence: float = confidence_option()
    threads: int | None = threads_option()


@click.command(
    "verify", epilog="Example:  errata verify 'm2#1a2b3c4d@5e6f7a8b = 37.3' --gold gold.m2 ours.txt"
)
@takes(VerifyOptions, data=True)
def command(given: VerifyOptions) -> None:
    """Recompute a pasted score from its files.

    CLAIM is 'SIGNATURE = VALUE', the signature whole or short, the value a fraction or per cent
    with as many digits as it was printed with, perhaps with its interval (± 1.2, or [36.1,
    38.5]); or a file (- is standard input) with one a line; or what errata score printed as JSON
    or TSV: every system in it is looked up among the outputs. Tokeniser, annotators and skipped
    sentences follow the signature unless an option says otherwise; every other fact is compared
    with the files. The exit code is 1 if a claim is not confirmed.
    """
    from errata.verify import claim_table, claims_from_text_or_file, verify_claim

    read: dict[Inputs, tuple[Corpus, list[Hypotheses]]] = {}
    checked = []
    for claim in claims_from_text_or_file(given.claim):
        inputs = _inputs_of_claim(given.inputs, claim)
        if inputs not in read:
            read[inputs] = inputs.read_corpus_and_systems(given.outputs, given.threads)
        corpus, systems = read[inputs]
        with ProgressBar(claim.metric.name) as progress:
            checked.append(
                verify_claim(
                    claim,
                    corpus,
                    systems,
                    _choose_system(claim.system or given.system, systems),
                    confidence=given.confidence,
                    threads=given.threads,
                    progress=progress,
                )
            )
    emit(claim_table(checked), given.display)
    if not all(each.holds for each in checked):
        sys.exit(1)


def _inputs_of_claim(inputs: Inputs, claim: ScoreClaim) -> Inputs:
    """Return the inputs, read as the signature says where no option says how to."""
    if claim.tokens is not None and inputs.tokens == "as_is":
        inputs = replace(inputs, tokens=claim.tokens)
    if claim.skipped is not None and inputs.skipped is None:
        inputs = replace(inputs, skipped=read_skip_option(claim.skipped))
    if claim.annotators and not inputs.annotators:
        inputs = replace(inputs, annotators=claim.annotators)
    return inputs


def _choose_system(name: str | None, systems: list[Hypotheses]) -> str:
    names = check_system_name(name, systems)
    if name is None and len(names) != 1:
        remedy = f"choose one with --for: {', '.join(names)}"
        raise InputError(f"the files contain {len(names)} systems", remedy=remedy)
    return name or names[0]
