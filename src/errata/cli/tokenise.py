"""``errata tokenise``: texts split into tokens."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import click

from errata.cli.input_options import tokens_option
from errata.cli.output import Display, ProgressBar, emit_written
from errata.cli.params import argument, group, option, takes
from errata.core.errors import InputError
from errata.tables.table import signed

if TYPE_CHECKING:
    from errata.core.stats import Progress
    from errata.io.tokenisers import Tokeniser


EPILOG = """\b
Examples:
  errata tokenise outputs/*.txt --tokens spacy:en -o tokenised
  errata tokenise german.txt --tokens moses:de > german.tok
  errata tokenise chinese.txt --tokens characters -o chinese.tok
"""


@dataclass(frozen=True)
class TokeniseOptions:
    """Options of ``errata tokenise``."""

    texts: tuple[str, ...] = argument(metavar="FILE...", several=True)
    tokens: str = tokens_option(required=True)
    output: str | None = option(
        "-o",
        "--output",
        metavar="PATH",
        writes="stem",
        help="The file to write; or a folder (FOLDER/, always of several texts) for files of the "
        "same names. Default: standard output.",
    )
    display: Display = group(
        Display, needs=dict.fromkeys(("chosen_form", "json", "safe_cells"), "--output")
    )

    def __post_init__(self) -> None:
        """Refuse to tokenise nothing."""
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
    from errata.io.checks import raise_or_warn
    from errata.io.checks.text import check_segmentation
    from errata.io.corpus import read_text, write_text
    from errata.io.files import shown_name
    from errata.io.tokenisers import tokeniser

    cut = tokeniser(given.tokens)
    targets = _targets(given.texts, given.output)
    tokenised = []
    for path in given.texts:
        sentences = read_text(path)
        with ProgressBar(shown_name(path)) as progress:
            tokenised.append(tuple(_cut(cut, sentences, progress)))
        raise_or_warn(check_segmentation(tokenised[-1], shown_name(path), by=cut.name))
    rows = []
    for target, lines in zip(targets, tokenised, strict=True):
        write_text(lines, target)
        rows.append((target, len(lines), sum(len(line.split()) for line in lines)))
    if given.output not in (None, "-"):
        signature = signed(f"tokens:{cut.signature}")
        emit_written("sentences tokens", rows, given.display, signature)


def _cut(cut: Tokeniser, sentences: Sequence[str], progress: Progress) -> Iterator[str]:
    for done, sentence in enumerate(sentences, 1):
        yield cut(sentence)
        progress(done, len(sentences))


def _targets(texts: Sequence[str], output: str | None) -> list[str]:
    """Return the file for each text; refuse before the work what cannot be written."""
    from errata.io.atomic import check_writable
    from errata.io.files import plain_name
    from errata.io.outputs import is_m2

    for path in texts:
        if is_m2(path):
            raise InputError(
                "the edits of an M2 file refer to its tokens",
                path=path,
                remedy="make texts of it (errata convert), and tokenise those",
            )
    folder = output is not None and (os.path.isdir(output) or output.endswith(("/", os.sep)))
    if len(texts) == 1 and not folder:
        targets = [output or "-"]
    elif output is None or output == "-":
        raise InputError(
            "several files cannot go to standard output", remedy="name a folder with --output"
        )
    else:
        targets = [os.path.join(output, os.path.basename(plain_name(path))) for path in texts]
        for one, other in combinations(range(len(texts)), 2):
            if targets[one] == targets[other]:
                raise InputError(
                    f"{texts[one]} and {texts[other]} would both be written as {targets[one]}",
                    remedy="tokenise them one by one",
                )
        os.makedirs(output, exist_ok=True)
    check_writable(*targets)
    return targets
