"""``errata tokenise``: texts cut into tokens, as every metric wants them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import click

from errata.cli.input_options import tokens_option
from errata.cli.options import refuse_unless
from errata.cli.output import ProgressBar, emit, format_option, writes_files
from errata.core.errors import InputError
from errata.tables.table import Table, signed

if TYPE_CHECKING:
    from errata.core.stats import Progress
    from errata.io.tokenisers import Tokeniser
    from errata.tables.table import Form


EPILOG = """\b
Examples:
  errata tokenise outputs/*.txt --tokens spacy:en -o tokenised
  errata tokenise german.txt --tokens moses:de > german.tok
  errata tokenise chinese.txt --tokens characters -o chinese.tok
"""


@click.command("tokenise", epilog=EPILOG)
@writes_files("output", stem=True)
@click.argument("texts", nargs=-1, required=True, metavar="FILE...")
@tokens_option(required=True)
@click.option(
    "-o",
    "--output",
    metavar="PATH",
    help="The file to write; or a folder (FOLDER/, always of several texts) for files of the same "
    "names. Default: standard output.",
)
@format_option
def command(texts: tuple[str, ...], tokens: str, output: str | None, form: Form) -> None:
    """Cut texts into tokens, one sentence a line, a space between tokens.

    Metrics compare what spaces separate, so that source, references and outputs must be cut
    alike. Commands that score take --tokens too, and then cut what they read; their signature names
    the tokeniser and its version. The files written are listed as --format says.
    """
    from errata.io.checks import raise_or_warn
    from errata.io.checks.text import check_segmentation
    from errata.io.corpus import read_text, write_text
    from errata.io.files import shown_name
    from errata.io.tokenisers import tokeniser

    refuse_unless(output not in (None, "-"), "form json safe_cells", "--output")
    cut = tokeniser(tokens)
    targets = _targets(texts, output)
    made = []
    for path in texts:
        sentences = read_text(path)
        with ProgressBar(shown_name(path)) as progress:
            made.append(tuple(_cut(cut, sentences, progress)))
        raise_or_warn(check_segmentation(made[-1], shown_name(path), by=cut.name))
    rows = []
    for target, lines in zip(targets, made, strict=True):
        write_text(lines, target)
        rows.append((target, len(lines), sum(len(line.split()) for line in lines)))
    if output is not None and output != "-":
        emit(
            Table(
                ("file", "sentences", "tokens"),
                tuple(rows),
                title="Written",
                name="written",
                signature=signed(f"tokens:{cut.signature}"),
            ),
            form,
        )


def _cut(cut: Tokeniser, sentences: Sequence[str], progress: Progress) -> Iterator[str]:
    for done, sentence in enumerate(sentences, 1):
        yield cut(sentence)
        progress(done, len(sentences))


def _targets(texts: Sequence[str], output: str | None) -> list[str]:
    """Where each text goes; refused before the work where it cannot."""
    from errata.io.atomic import check_writable
    from errata.io.files import plain_name
    from errata.io.outputs import is_m2

    for path in texts:
        if is_m2(path):
            raise InputError(
                "the edits of an M2 file stand on its tokens",
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
