"""How a report was made: the command, the files, the versions and the signatures."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

from errata import __version__
from errata.report.page.section import Section
from errata.report.story.building import Pieces, told
from errata.report.story.results import Results
from errata.report.table import Cell, Table

__all__ = ["made_section"]

LIBRARIES = ("numpy", "scipy", "rapidfuzz", "sacrebleu", "jinja2")


def made_section(results: Results) -> Section:
    """The command that makes the report again, fingerprints of its files, versions, signatures."""
    given = results.material
    pieces = Pieces("made")
    if given.command:
        pieces.heading("The command that makes it again")
        pieces.html(
            f'<div><pre><code>{told(given.command)}</code></pre><button type="button" '
            'data-copy="code">Copy the command</button></div>'
        )
    signatures: list[tuple[Cell, ...]] = [
        (scores.label, scores.signature) for scores in results.scores
    ]
    if results.people is not None:
        signatures.append((results.people.label, results.people.signature))
    if signatures:
        pieces.table(
            Table(
                ("metric", "signature"),
                tuple(signatures),
                title="Signatures: who repeats these settings gets these numbers",
                name="signatures",
            ),
            folded=True,
        )
    if given.files:
        pieces.table(
            Table(
                ("file", "bytes", "SHA-256"),
                tuple(tuple(file) for file in given.files),
                title="Files read, and their fingerprints",
                name="digests",
            ),
            folded=True,
        )
    pieces.table(_versions(), folded=True)
    return pieces.section("How it was made")


def _versions() -> Table:
    rows: list[tuple[Cell, ...]] = [
        ("errata", __version__),
        ("Python", platform.python_version()),
        *((name, known) for name in LIBRARIES if (known := _version(name))),
    ]
    return Table(("what", "version"), tuple(rows), title="Versions", name="versions")


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
