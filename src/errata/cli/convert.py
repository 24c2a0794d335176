"""``errata convert``: M2 to parallel text and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from errata.cli.input_options import Inputs
from errata.cli.options import extract_option
from errata.cli.output import CommandOptions, ProgressBar, emit_written
from errata.cli.params import argument, flag, group, option, takes
from errata.core.errors import InputError

if TYPE_CHECKING:
    from errata.data import Corpus
    from errata.edits import GoldEditing
    from errata.io.m2 import M2File

EPILOG = """\b
Examples:
  errata convert gold.m2 -o gold                    (gold.src, gold.ref0, gold.ref1, ...)
  errata convert gold.m2 --annotator 0 -o ref.txt
  errata convert --source s.txt --refs r0.txt --refs r1.txt -o gold.m2
  errata convert --source s.txt --refs out.txt --extract errant -o out.m2
"""


@dataclass(frozen=True)
class ConvertOptions(CommandOptions):
    m2: str | None = argument(metavar="[FILE]", role="gold", required=False)
    output: str | None = option(
        "-o",
        "--output PATH",
        "The file to write, or for M2 to text the start of the names of the files. Default: "
        "standard output.",
        writes="stem",
    )
    only_source: bool = flag("--only-source", "M2 to text: the sources only, into one file.")
    inputs: Inputs = group(
        Inputs,
        "gold",
        "sample",
        needs={
            "missing": "",
            "compatible": "m2",
            **dict.fromkeys(("tokens", "normalise", "no_guard"), "--source"),
        },
    )
    copy_missing: bool = flag(
        "--copy-missing",
        "M2 to text: write the source where an annotator has no reference, as other tools do.",
    )
    extractor: str | None = extract_option(
        "find the edits of texts (by default aligned), or with an M2 file find new edits of its "
        "corrections"
    )

    @property
    def makes_texts(self) -> bool:
        """Whether an option is given that makes texts of an M2 file."""
        return bool(self.inputs.annotators or self.only_source or self.copy_missing)

    def __post_init__(self) -> None:
        if (self.m2 is None) == (self.inputs.source is None):
            raise click.UsageError(
                "name an M2 file to make texts of, or --source and --refs to make M2 of"
            )
        if self.m2 is None:
            if self.makes_texts:
                raise click.UsageError(
                    "--annotator, --only-source and --copy-missing belong to M2 to text"
                )
            if not self.inputs.refs:
                raise click.UsageError("give at least one --refs")
        elif self.inputs.refs:
            raise click.UsageError("--refs belongs to --source")
        elif self.extractor and (self.makes_texts or self.inputs.missing is not None):
            raise click.UsageError("--extract makes M2; the other options make texts")


@click.command("convert", epilog=EPILOG)
@takes(ConvertOptions, data=True)
def command(given: ConvertOptions) -> None:
    """Convert M2 to parallel text, or text (--source and --refs) to M2.

    M2 becomes one file with the sources and one per annotator with the corrections, or with
    --annotator one file with the corrections of this annotator; text becomes M2 by aligning
    tokens. An annotator may have no reference for some sentence: choose with --missing or
    --copy-missing what to write there. The files written are listed as --format says.
    """
    from errata.io.m2 import read_m2_file

    target = given.output or "-"
    if given.m2 is None:
        corpus = given.inputs.corpus()
        _write_m2(corpus, "as_is", given.extractor or "aligned", target)
        written = [target]
    else:
        from errata.io.checks import raise_or_warn

        file = read_m2_file(given.m2, compatible=given.inputs.compatible)
        raise_or_warn(file.findings)
        if given.inputs.skipped is not None:
            file = file.without_sentences(*given.inputs.skipped.positions(len(file.corpus)))
        corpus, written = file.corpus, [target]
        if given.extractor is not None:
            _write_m2(corpus, "reextracted", given.extractor, target)
        else:
            written = _write_texts(file, given, target)
    if target != "-":
        emit_written("sentences", [(path, len(corpus)) for path in written], given.display)


def _write_texts(file: M2File, given: ConvertOptions, target: str) -> list[str]:
    """Write the texts of an M2 file; return the names of the files."""
    from errata.io.corpus import corrected_text, write_text

    numbers = given.inputs.annotator_numbers

    def text(annotator: int) -> list[str] | tuple[str, ...]:
        missing, copy = given.inputs.missing, given.copy_missing
        return corrected_text(file, annotator, missing=missing, copy_missing=copy)

    if given.only_source:
        write_text(file.corpus.sources, target)
        return [target]
    if len(numbers) == 1:
        write_text(text(numbers[0]), target)
        return [target]
    if target == "-":
        remedy = "name them with --output, or choose --annotator or --only-source"
        raise InputError("several files cannot go to standard output", remedy=remedy)
    # All texts are made before the first is written: after an error there are no partial results.
    texts = {f"{target}.ref{k}": text(k) for k in numbers or file.corpus.annotators}
    texts = {f"{target}.src": file.corpus.sources, **texts}
    for path, lines in texts.items():
        write_text(lines, path)
    return list(texts)


def _write_m2(corpus: Corpus, gold: GoldEditing, extractor: str, target: str) -> None:
    """Write references as edits, found by an extractor where that is asked for."""
    from errata.edits import with_edits, without_texts
    from errata.io.atomic import check_writable
    from errata.io.m2 import write_m2

    check_writable(target)
    with ProgressBar("edits") as progress:
        edited = without_texts(with_edits(corpus, gold, extractor, progress))
    write_m2(edited, target)
