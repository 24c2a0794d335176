"""``errata tokenise``: texts split into tokens."""

from __future__ import annotations

from dataclasses import dataclass

import click

from errata.cli.input_options import tokeniser_option
from errata.cli.output import Display, ProgressBar, emit_written, track
from errata.cli.params import argument, group, option, takes
from errata.tables.table import make_signature

EPILOG = """\b
Examples:
  errata tokenise outputs/*.txt --tokens spacy:en -o tokenised
  errata tokenise german.txt --tokens moses:de > german.tok
  errata tokenise chinese.txt --tokens characters -o chinese.tok
"""


@dataclass(frozen=True)
class TokeniseOptions:
    texts: tuple[str, ...] = argument(metavar="FILE...", several=True)
    tokens: str = tokeniser_option(required=True)
    output: str | None = option(
        "-o",
        "--output PATH",
        "The file to write; or a folder (FOLDER/, always of several texts) for files of the "
        "same names. Default: standard output.",
        writes="stem",
    )
    display: Display = group(
        Display, needs=dict.fromkeys(("chosen_form", "json", "safe_cells"), "--output")
    )

    def __post_init__(self) -> None:
        if not self.texts:
            raise click.UsageError("Missing argument 'FILE...'.")


@click.command("tokenise", epilog=EPILOG)
@takes(TokeniseOptions)
def command(given: TokeniseOptions) -> None:
    """Split texts into tokens, one sentence a line, a space between tokens.

    Metrics compare what spaces separate, so that source, references and outputs need the same
    tokeniser. Commands that score take --tokens too, and then tokenise what they read; their
    signature names the tokeniser and its version. The files written are listed as --format says.
    """
    from errata.io.atomic import check_writable
    from errata.io.checks import raise_or_warn
    from errata.io.checks.text import check_segmentation
    from errata.io.corpus import read_text, write_text
    from errata.io.files import shown_name
    from errata.io.outputs import output_names
    from errata.io.tokenisers import tokeniser

    cut = tokeniser(given.tokens)
    targets = output_names(given.texts, given.output)
    check_writable(*targets)
    tokenised = []
    for path in given.texts:
        sentences = read_text(path)
        with ProgressBar(shown_name(path)) as progress:
            tokenised.append(tuple(track(map(cut, sentences), len(sentences), progress)))
        raise_or_warn(check_segmentation(tokenised[-1], shown_name(path), by=cut.name))
    rows = []
    for target, lines in zip(targets, tokenised, strict=True):
        write_text(lines, target)
        rows.append((target, len(lines), sum(len(line.split()) for line in lines)))
    if given.output not in (None, "-"):
        signature = make_signature(f"tokens:{cut.signature}")
        emit_written("sentences tokens", rows, given.display, signature)
