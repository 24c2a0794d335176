"""``errata convert``: M2 to parallel text and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from errata.cli.input_options import Inputs, corpus_options
from errata.cli.options import data_option, extract_option, refuse_unless
from errata.cli.output import ProgressBar, emit, format_option, writes_files
from errata.core.errors import InputError
from errata.tables.table import Table

if TYPE_CHECKING:
    from errata.data import Corpus
    from errata.edits import GoldEditing
    from errata.io.m2 import M2File
    from errata.tables.table import Form


EPILOG = """\b
Examples:
  errata convert gold.m2 -o gold                    (gold.src, gold.ref0, gold.ref1, ...)
  errata convert gold.m2 --annotator 0 -o ref.txt
  errata convert --source s.txt --refs r0.txt --refs r1.txt -o gold.m2
  errata convert --source s.txt --refs out.txt --extract errant -o out.m2
"""


@click.command("convert", epilog=EPILOG)
@data_option("source", "references", gold="m2")
@writes_files("output", stem=True)
@click.argument("m2", required=False, metavar="[FILE]")
@click.option(
    "-o",
    "--output",
    metavar="PATH",
    help="The file to write, or for M2 to text the "
    "start of the names of the files. Default: standard output.",
)
@click.option("--only-source", is_flag=True, help="M2 to text: the sources only, into one file.")
@corpus_options("gold", "sample")
@click.option(
    "--copy-missing",
    is_flag=True,
    help="M2 to text: write the source where an annotator has no reference, as other tools do.",
)
@extract_option(
    "find the edits of texts (by default aligned), or with an M2 file those of its corrections anew"
)
@format_option
def command(
    m2: str | None,
    output: str | None,
    only_source: bool,
    inputs: Inputs,
    copy_missing: bool,
    extractor: str | None,
    form: Form,
) -> None:
    """Convert M2 to parallel text, or text (--source and --refs) to M2.

    M2 becomes one file with the sources and one per annotator with the corrections, or with
    --annotator one file with the corrections of this one alone; text becomes M2 by aligning
    tokens. An annotator may have no reference for some sentence: say with --missing or
    --copy-missing what to write there. The files written are listed as --format says.
    """
    written = _convert(m2, output, only_source, inputs, copy_missing, extractor)
    if output is not None and output != "-":
        emit(Table(("file", "sentences"), tuple(written), title="Written", name="written"), form)


def _convert(
    m2: str | None,
    output: str | None,
    only_source: bool,
    inputs: Inputs,
    copy_missing: bool,
    extractor: str | None,
) -> list[tuple[str, int]]:
    """Do what the options ask for; which files were written, with how many sentences."""
    from errata.io.atomic import check_writable

    if (m2 is None) == (inputs.source is None):
        raise click.UsageError(
            "name an M2 file to make texts of, or --source and --refs to make M2 of"
        )
    if m2 is not None:
        if inputs.refs:
            raise click.UsageError("--refs belongs to --source")
        refuse_unless(False, "tokens no_guard", "--source and --refs")
        from errata.io.checks import raise_or_warn
        from errata.io.m2 import scan_m2, write_m2

        file = scan_m2(m2, compatible=inputs.compatible)
        raise_or_warn(file.findings)
        if inputs.skipped is not None:
            file = file.without_sentences(*inputs.skipped.positions(len(file.corpus)))
        if extractor is not None:
            check_writable(output or "-")
            if inputs.annotators or only_source or copy_missing or inputs.missing is not None:
                raise click.UsageError("--extract makes M2; the other options make texts")
            write_m2(_with_edits(file.corpus, "reextracted", extractor), output or "-")
            return [(output or "-", len(file.corpus))]
        paths = _write_texts(file, output, only_source, inputs, copy_missing)
        return [(path, len(file.corpus)) for path in paths]
    if inputs.annotators or only_source or copy_missing:
        raise click.UsageError("--annotator, --only-source and --copy-missing belong to M2 to text")
    if not inputs.refs:
        raise click.UsageError("give at least one --refs")
    from errata.io.m2 import write_m2

    corpus = inputs.corpus()
    check_writable(output or "-")
    write_m2(_with_edits(corpus, "as_is", extractor or "aligned"), output or "-")
    return [(output or "-", len(corpus))]


def _write_texts(
    file: M2File, output: str | None, only_source: bool, inputs: Inputs, copy_missing: bool
) -> list[str]:
    from errata.io.corpus import corrected_text, write_text

    missing = inputs.missing
    annotators = inputs.chosen or file.corpus.annotators
    if only_source:
        write_text(file.corpus.sources, output or "-")
    elif len(inputs.chosen) == 1:
        write_text(
            corrected_text(file, inputs.chosen[0], missing=missing, copy_missing=copy_missing),
            output or "-",
        )
    elif output is None or output == "-":
        raise InputError(
            "several files cannot go to standard output",
            remedy="name them with --output, or choose --annotator or --only-source",
        )
    else:
        # All texts are made before the first is written: an error leaves no half of them.
        texts = [
            corrected_text(file, k, missing=missing, copy_missing=copy_missing) for k in annotators
        ]
        write_text(file.corpus.sources, f"{output}.src")
        for k, text in zip(annotators, texts, strict=True):
            write_text(text, f"{output}.ref{k}")
        return [f"{output}.src", *(f"{output}.ref{k}" for k in annotators)]
    return [output or "-"]


def _with_edits(corpus: Corpus, gold: GoldEditing, extractor: str) -> Corpus:
    """References as edits, found by an extractor where they are missing or asked for anew."""
    from errata.edits import with_edits, without_texts

    with ProgressBar("edits") as progress:
        return without_texts(with_edits(corpus, gold, extractor, progress))
