"""Options that name files of scores, of metrics or of people."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

import click

from errata.cli.options import gathered
from errata.errors import InputError

if TYPE_CHECKING:
    from errata.data import Scores

__all__ = ["ScoreFiles", "human_option", "names_option", "score_file_options", "split_names"]


class ScoreFiles(NamedTuple):
    """Where scores stand, who the systems of bare numbers are, and of what lower is better."""

    files: tuple[str, ...]
    human: str | None
    names: str | None
    lower: tuple[str, ...]

    def read(self) -> tuple[Scores | None, list[Scores]]:
        """The scores of people, where a file of them was given, and those of metrics."""
        from errata.io.scores import read_score_files

        names = split_names(self.names)
        people = [] if self.human is None else read_score_files([self.human], names=names)
        if len(people) > 1:
            raise InputError(
                f"people's word in {len(people)} columns: "
                f"{', '.join(scores.label for scores in people)}",
                path=self.human,
                remedy="keep the one that is meant",
            )
        turned = {scores.label for scores in people} & {*self.lower}
        lower = [name for name in self.lower if name not in turned]
        if turned and self.human is not None:
            people = read_score_files([self.human], names=names, lower=list(turned))
        metrics = read_score_files(self.files, names=names, lower=lower)
        if names and not any([*scores.systems] == names for scores in (*people, *metrics)):
            raise InputError(
                "--names goes with files of bare numbers, and every file here names its systems",
                remedy="leave it out",
            )
        return people[0] if people else None, metrics


def split_names(text: str | None, option: str = "--names") -> list[str]:
    """Names of systems or judges: a file with one a line, or names apart by commas.

    In a file, empty lines and those that begin with ``#`` and a blank are no names.
    """
    if text is None:
        return []
    if os.path.isfile(text):
        from errata.io import read_text

        lines = [line.strip() for line in read_text(text)]
        names = [line for line in lines if line and not line.startswith("# ")]
        if not names:
            raise InputError("no name", path=text, remedy="write one a line")
        return names
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise InputError(
            f"{option} {text[:100]!r} has an empty name", remedy="write names as in A,B,C"
        )
    return names


names_option = click.option(
    "--names",
    metavar="A,B,...|FILE",
    help="The systems' names in their order, where a file has none: bare columns of scores, an M2 "
    "file with the edits of several systems.",
)
human_option = click.option(
    "--human",
    metavar="[NAME=]FILE",
    help="Human scores instead of judgments: what errata rank printed, columns, or ratings with a "
    "row for each sentence and a column for each system.",
)
score_file_options = gathered(
    "score_files",
    ScoreFiles,
    {
        "files": click.option(
            "--scores",
            "files",
            multiple=True,
            metavar="[NAME=]FILE",
            help="Scores of a metric from a file instead of computing them: what errata score "
            "printed or wrote, columns, published tables; may be repeated.",
        ),
        "human": human_option,
        "names": names_option,
        "lower": click.option(
            "--lower-is-better",
            "lower",
            multiple=True,
            is_flag=False,
            flag_value="*",
            metavar="[NAME]",
            help="Of these --scores (of all, without a name) lower is better.",
        ),
    },
)
