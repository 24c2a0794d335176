"""Options that name a corpus and outputs: a file is named in the same way in every command."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import click

from errata.cli.options import Decorator, gathered, refuse_beside_sample, refuse_unless
from errata.cli.words import Annotator
from errata.errors import InputError

if TYPE_CHECKING:
    from errata.data import Corpus, Hypotheses
    from errata.io import Checked
    from errata.io.shards import ShardedInputs
    from errata.io.skipping import Skipped

__all__ = [
    "Inputs",
    "corpus_options",
    "read_skip_option",
    "sample_option",
    "skip_option",
    "tokens_option",
]

skip_option = click.option(
    "--skip-sentences",
    "skipped",
    metavar="FILE|RANGES",
    help="Leave out these sentences, as 3,7-9, counted from 1 whatever --base says of judgments; "
    "or a file with a number or a range a line, # before comments.",
)


def tokens_option(*, required: bool = False) -> Decorator:
    """Add ``--tokens``: what cuts texts into tokens."""
    # Recent versions of click take default=None for a value, and then miss that none was given.
    settings: dict[str, Any] = (
        {"required": True} if required else {"default": "as_is", "show_default": True}
    )
    return click.option(
        "--tokens",
        metavar="NAME",
        **settings,
        help="What a token is: as_is (what spaces separate), characters, or what spacy:LANGUAGE or "
        "moses:LANGUAGE makes of all texts.",
    )


@dataclass(frozen=True)
class Inputs:
    """Where a corpus is: files named by the user, or the built-in sample."""

    gold: str | None = None
    source: str | None = None
    refs: tuple[str, ...] = ()
    missing: str | None = None
    compatible: bool = False
    annotators: tuple[int | Literal["all"], ...] = ()
    sample: bool = False
    skipped: Skipped | None = None
    tokens: str = "as_is"
    no_guard: bool = False

    def __post_init__(self) -> None:
        numbers = [str(annotator) for annotator in self.annotators if annotator != "all"]
        if numbers and "all" in self.annotators:
            raise InputError(
                f"--annotator all and --annotator {', '.join(numbers)} are given",
                remedy="leave out either of them",
            )

    @property
    def named(self) -> bool:
        """Whether there are files at all."""
        return bool(self.gold or self.source or self.refs)

    @property
    def chosen(self) -> tuple[int, ...]:
        """The annotators asked for by number; none where all are meant."""
        if "all" in self.annotators:
            return ()
        return tuple(annotator for annotator in self.annotators if annotator != "all")

    def check_used(self) -> None:
        """Refuse options on the reading of a file where no such file is read."""
        refuse_unless(bool(self.refs), "missing", "--refs")
        refuse_unless(self.gold is not None, "compatible", "--gold")

    @property
    def skip_facts(self) -> tuple[str, ...]:
        """What a signature says of the sentences left out, if any."""
        return () if self.skipped is None else (self.skipped.fact,)

    @property
    def whole(self) -> Inputs:
        """The same with no sentence left out."""
        return replace(self, skipped=None)

    def corpus(self, threads: int | None = None) -> Corpus:
        """Read the corpus, with the annotators and without the sentences asked for."""
        corpus = self._corpus(threads)
        if self.skipped is None:
            return corpus
        return corpus.without_sentences(*self.skipped.positions(len(corpus)))

    def annotated(self, corpus: Corpus) -> Corpus:
        """A corpus with the annotators asked for."""
        from errata.io.corpus import keep_annotators

        return keep_annotators(corpus, self.chosen) if self.chosen else corpus

    def _corpus(self, threads: int | None) -> Corpus:
        from errata.io.corpus import read_corpus
        from errata.io.tokenising import tokenised, tokeniser

        if self.sample:
            refuse_beside_sample(self.named)
            from errata.datasets import sample_corpus

            return self.annotated(tokenised(sample_corpus(), tokeniser(self.tokens)))
        return read_corpus(
            gold=self.gold,
            source=self.source,
            references=self.refs,
            annotators=self.chosen or None,
            missing=self.missing,
            compatible=self.compatible,
            guard=not self.no_guard,
            tokens=self.tokens,
            threads=threads,
        )

    def systems(
        self,
        outputs: tuple[str, ...],
        corpus: Corpus,
        *,
        names: list[str] | None = None,
        several: bool = False,
        threads: int | None = None,
    ) -> list[Hypotheses]:
        """Read the outputs of systems, or those of the sample."""
        if self.sample:
            refuse_beside_sample(outputs)
            from errata.datasets import sample_corpus, sample_systems
            from errata.io.tokenising import tokenised_output, tokeniser

            cut, sources = tokeniser(corpus.tokens), sample_corpus().sources
            return [
                tokenised_output(system, sources, cut).without_sentences(*corpus.skipped)
                for system in sample_systems()
            ]
        from errata.io.outputs import read_systems

        return read_systems(
            outputs,
            names=names,
            several=several,
            corpus=corpus,
            guard=not self.no_guard,
            threads=threads,
        )

    def as_written(self, outputs: tuple[str, ...], systems: list[Hypotheses]) -> list[Hypotheses]:
        """The same systems with the texts that people saw, whatever they were cut into since."""
        if self.tokens == "as_is":
            return systems
        if self.sample:
            from errata.datasets import sample_systems

            return sample_systems()
        from errata.io.outputs import read_systems

        return read_systems(outputs)

    def checked(self, outputs: tuple[str, ...]) -> Checked:
        """What the file check finds in the corpus and the outputs."""
        from errata.io import check_files

        return check_files(
            outputs,
            gold=self.gold,
            source=self.source,
            references=self.refs,
            missing=self.missing,
            compatible=self.compatible,
            skipped=self.skipped,
        )

    def scored(
        self, outputs: tuple[str, ...], threads: int | None = None
    ) -> tuple[Corpus, list[Hypotheses]]:
        """The corpus and the systems to score on it, of which there must be one."""
        if not (outputs or self.sample):
            raise InputError(
                "no output to score", remedy="name one file per system, or use --sample"
            )
        self.check_used()
        corpus = self.corpus(threads)
        return corpus, self.systems(outputs, corpus, threads=threads)

    def size(self, outputs: tuple[str, ...]) -> int:
        """The bytes of the corpus and of these outputs, as far as they are known."""
        from errata.io.outputs import split_name

        named = (self.gold, self.source, *self.refs, *(split_name(path)[1] for path in outputs))
        return sum(os.path.getsize(path) for path in named if path and os.path.isfile(path))

    def sharded(self, outputs: tuple[str, ...]) -> ShardedInputs:
        """The same files, to be read batch by batch."""
        from errata.io.outputs import files_in, split_name, system_name
        from errata.io.shards import ShardedInputs

        self.check_used()
        files = [split_name(path) for path in files_in(outputs)]
        return ShardedInputs(
            gold=self.gold,
            source=self.source,
            references=self.refs,
            outputs=tuple((name or system_name(path), path) for name, path in files),
            missing=self.missing,
            compatible=self.compatible,
            annotators=self.chosen,
            tokens=self.tokens,
            guard=not self.no_guard,
        )


sample_option = click.option(
    "--sample", is_flag=True, help="Use the built-in sample instead of files."
)


def corpus_options(*leave_out: str) -> Decorator:
    """Add the options that name a corpus; the command receives ``inputs``.

    ``leave_out`` names fields of `Inputs` that the command has no option for.
    """
    options: dict[str, Decorator] = {
        "gold": click.option(
            "--gold",
            metavar="FILE",
            help="Gold edits: an M2 file with one or more annotators, or I-measure's XML.",
        ),
        "source": click.option(
            "--source", metavar="FILE", help="The uncorrected sentences, one a line."
        ),
        "refs": click.option(
            "--refs",
            multiple=True,
            metavar="FILE",
            help="A file of corrected sentences; repeat it for several references.",
        ),
        "missing": click.option(
            "--missing",
            metavar="MARK",
            help="The line that stands in a text where a sentence has no reference; an empty "
            "line is an empty reference.",
        ),
        "compatible": click.option(
            "--compatible",
            is_flag=True,
            help="Read odd M2 as the official scorer does: several S lines share their edits, "
            "edits outside the sentence are dropped with a warning.",
        ),
        "annotators": click.option(
            "--annotator",
            "annotators",
            multiple=True,
            type=Annotator(),
            metavar="ID",
            help="Only this annotator of the gold; may be repeated; all takes every one.",
        ),
        "sample": sample_option,
        "skipped": skip_option,
        "tokens": tokens_option(),
        "no_guard": click.option(
            "--no-guard",
            is_flag=True,
            help="Take texts that look unrelated to their sources, or shifted, all the same.",
        ),
    }
    for field in leave_out:
        del options[field]
    return gathered("inputs", _inputs, options)


def _inputs(skipped: str | None = None, **given: Any) -> Inputs:
    return Inputs(**given, skipped=read_skip_option(skipped))


def read_skip_option(given: str | None) -> Skipped | None:
    """The sentences that ``--skip-sentences`` names, if it was given."""
    if given is None:
        return None
    from errata.io.skipping import read_skipped

    return read_skipped(given)
