"""Corpora, outputs, metrics and score files."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import click

from errata.cli.options import refuse_beside_sample, refuse_unless
from errata.cli.output import ProgressBar
from errata.cli.params import Annotator, Decorator, option_group
from errata.core.errors import InputError
from errata.core.registry import origin

if TYPE_CHECKING:
    from errata.cli.options import Bootstrap
    from errata.data import Corpus, Hypotheses, Scores
    from errata.io import CheckReport
    from errata.io.corpus import CorpusFiles
    from errata.io.slices import SkippedSentences
    from errata.metrics import Metric


# ---- What was asked for: metrics, no two alike, with the edits that --extract finds; a system.


def same_metric(one: Metric, other: Metric) -> bool:
    """Whether two metrics give the same numbers under one name.

    Without a pipeline of ERRANT's, errant is edits by another name.
    """
    return one == other or (
        type(one) is not type(other)
        and one.label == other.label
        and repr(one).partition("(")[2] == repr(other).partition("(")[2]
        and origin(type(one)) == origin(type(other))
    )


def reject_duplicates(metrics: Sequence[Metric]) -> None:
    """Refuse to compute the same numbers twice, in two columns of one name."""
    for one, other in combinations(metrics, 2):
        if same_metric(one, other):
            raise InputError(
                f"{one.label} is given twice", remedy="leave one out, or give it other parameters"
            )


def extracting(metrics: Sequence[Metric], extractor: str) -> list[Metric]:
    """Metrics with the edits of all outputs found by this extractor, where they go by edits."""
    from errata.edits import split_extractor

    split_extractor(extractor)
    if not any(map(finds_edits, metrics)):
        raise InputError(
            "--extract finds edits, and no metric here goes by edits that are found",
            remedy="it goes with -m errant, edits, difficulty, cleme, cleme2, pt_errant or "
            "judge(mode=edit)",
        )
    changed: list[Metric] = []
    for metric in metrics:
        own: Any = metric
        changed.append(own.extracting(extractor) if finds_edits(metric) else metric)
    return changed


def finds_edits(metric: Metric) -> bool:
    """Whether a metric goes by edits that an extractor finds."""
    return callable(getattr(metric, "extracting", None))


def score_metrics(
    metrics: Sequence[Metric],
    corpus: Corpus,
    systems: Sequence[Hypotheses],
    bootstrap: Bootstrap,
    threads: int | None = None,
) -> list[Scores]:
    """What each metric says of the systems, with a bar for each that takes long."""
    from errata.scoring.evaluate import evaluate

    results = []
    for metric in metrics:
        with ProgressBar(metric.name) as progress:
            results.append(
                evaluate(
                    metric,
                    corpus,
                    systems,
                    resamples=bootstrap.resamples,
                    rng=bootstrap.seed,
                    bootstrap=bootstrap.kind,
                    threads=threads,
                    progress=progress,
                )
            )
    return results


def scored_in_batches(
    metrics: Sequence[Metric],
    inputs: Inputs,
    outputs: tuple[str, ...],
    bootstrap: Bootstrap,
    threads: int | None = None,
) -> list[Scores]:
    """The same of files that are read batch by batch, and never held."""
    from errata.io.shards.read import stream_batches
    from errata.scoring.evaluate import evaluate_batches

    sharded = inputs.sharded(outputs)
    total = Inputs().size(outputs[:1])
    with ProgressBar("scored") as progress:
        done = 0

        def batches() -> Iterator[tuple[Corpus, list[Hypotheses]]]:
            nonlocal done
            for corpus, systems in stream_batches(sharded):
                yield corpus, systems
                done += sum(map(len, systems[0].sentences)) + len(corpus)
                progress(min(done, total), total)

        return evaluate_batches(
            metrics,
            batches(),
            resamples=bootstrap.resamples,
            rng=bootstrap.seed,
            bootstrap=bootstrap.kind,
            guard=not inputs.no_guard,
            threads=threads,
        )


def check_old(old: str | None, systems: Sequence[Hypotheses]) -> list[str]:
    """The names of the systems, among which is that of --old, if one is given."""
    names = [each.system for each in systems]
    if old is not None and old not in names:
        raise InputError(f"there is no system {old!r}", remedy=f"known: {', '.join(names)}")
    return names


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
    skipped: SkippedSentences | None = None
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
        from errata.io.tokenisers import tokenise_corpus, tokeniser

        if self.sample:
            refuse_beside_sample(self.named)
            from errata.datasets import sample_corpus

            return self.annotated(tokenise_corpus(sample_corpus(), tokeniser(self.tokens)))
        return replace(self.files(), skipped=None).read(threads=threads)

    def files(self, outputs: Iterable[tuple[str, str]] = ()) -> CorpusFiles:
        """Return where the corpus and outputs, by name, are and how they are read."""
        from errata.io.corpus import CorpusFiles

        return CorpusFiles(
            self.gold,
            self.source,
            self.refs,
            tuple(outputs),
            missing=self.missing,
            compatible=self.compatible,
            annotators=self.chosen,
            tokens=self.tokens,
            guard=not self.no_guard,
            skipped=self.skipped,
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
            from errata.io.tokenisers import tokenise_output, tokeniser

            cut, sources = tokeniser(corpus.tokens), sample_corpus().sources
            return [
                tokenise_output(system, sources, cut).without_sentences(*corpus.skipped)
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

    def checked(self, outputs: tuple[str, ...]) -> CheckReport:
        """What the file check finds in the corpus and the outputs."""
        from errata.io import check_files

        return check_files(outputs, self.files())

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

    def sharded(self, outputs: tuple[str, ...]) -> CorpusFiles:
        """The same files, to be read batch by batch."""
        from errata.io.outputs import files_in, split_name, system_name

        self.check_used()
        files = [split_name(path) for path in files_in(outputs)]
        return self.files((name or system_name(path), path) for name, path in files)


sample_option = click.option(
    "--sample", is_flag=True, help="Use the built-in sample instead of files."
)


def _expand_patterns(
    _: click.Context, __: click.Parameter, paths: tuple[str, ...]
) -> tuple[str, ...]:
    """Replace folders and patterns by their files, with numbers in names sorted by value."""
    if not any(os.path.isdir(path) or glob.has_magic(path) for path in paths):
        return paths
    from errata.io.shards.inputs import natural_order

    found: list[str] = []
    for path in paths:
        if os.path.isdir(path):
            pattern = os.path.join(glob.escape(path), "*")
        elif glob.has_magic(path) and not os.path.exists(path) and "://" not in path:
            pattern = path
        else:
            found.append(path)
            continue
        files = sorted(filter(os.path.isfile, glob.glob(pattern)), key=natural_order)
        if not files:
            raise InputError("no reference file here", path=path, remedy="check the name")
        found += files
    return tuple(found)


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
            metavar="FILE|FOLDER|PATTERN",
            callback=_expand_patterns,
            help="References: a file of corrected sentences, a folder of such files, or a pattern "
            "in quotes ('test.ref*'); may be repeated.",
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
    return option_group("inputs", _inputs, options)


def _inputs(skipped: str | None = None, **given: Any) -> Inputs:
    return Inputs(**given, skipped=read_skip_option(skipped))


def read_skip_option(given: str | None) -> SkippedSentences | None:
    """The sentences that ``--skip-sentences`` names, if it was given."""
    if given is None:
        return None
    from errata.io.slices import read_skipped

    return read_skipped(given)


# ---- Options that name files of scores, of metrics or of people.


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
score_file_options = option_group(
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
