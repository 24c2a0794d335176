"""Corpora, outputs, metrics and score files."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

from errata.cli.output import map_with_progress
from errata.cli.params import choice_option, flag, option
from errata.core.errors import InputError
from errata.core.registry import origin

if TYPE_CHECKING:
    from errata.cli.options import Bootstrap
    from errata.data import Corpus, Hypotheses, Scores
    from errata.io.corpus import CorpusFiles
    from errata.io.slices import SkippedSentences
    from errata.metrics import Metric
    from errata.scoring.resampling import BootstrapKind


def parse_metrics(
    texts: Sequence[str], default: Sequence[str] = (), extractor: str | None = None
) -> list[Metric]:
    """Return the metrics named, or the default ones, no two alike; ``extractor`` finds edits."""
    from errata.metrics import parse

    metrics = [parse(text) for text in texts or default]
    if extractor is not None:
        metrics = with_extractor(metrics, extractor)
    for one, other in combinations(metrics, 2):
        if same_metric(one, other):
            remedy = "leave one out, or give it other parameters"
            raise InputError(f"{one.label} is given twice", remedy=remedy)
    return metrics


def same_metric(one: Metric, other: Metric) -> bool:
    """Return whether two metrics give the same numbers under one name.

    Without a pipeline of ERRANT's, errant is edits by another name.
    """
    return one == other or (
        type(one) is not type(other)
        and one.label == other.label
        and repr(one).partition("(")[2] == repr(other).partition("(")[2]
        and origin(type(one)) == origin(type(other))
    )


def with_extractor(metrics: Sequence[Any], extractor: str) -> list[Metric]:
    """Return the metrics, those that count edits with the edits that an extractor finds."""
    from errata.edits import split_extractor

    split_extractor(extractor)
    if not any(map(accepts_extractor, metrics)):
        problem = "--extract finds edits, and no metric here counts edits that are found"
        names = "errant, edits, difficulty, cleme, cleme2, pt_errant or judge(mode=edit)"
        raise InputError(problem, remedy=f"it goes with -m {names}")
    return [each.extracting(extractor) if accepts_extractor(each) else each for each in metrics]


def accepts_extractor(metric: Metric) -> bool:
    """Return whether a metric counts edits that an extractor finds."""
    return callable(getattr(metric, "extracting", None))


def score_metrics(
    metrics: Sequence[Metric],
    corpus: Corpus,
    systems: Sequence[Hypotheses],
    bootstrap: Bootstrap,
    threads: int | None = None,
    *,
    kind: BootstrapKind | None = None,
) -> list[Scores]:
    """Return the scores of the systems by each metric, with a bar for each that takes long."""
    from errata.scoring.evaluate import evaluate

    settings = {
        **bootstrap.resample_settings,
        "bootstrap": kind or bootstrap.kind,
        "threads": threads,
    }
    return map_with_progress(metrics, partial(evaluate, corpus=corpus, systems=systems, **settings))


def check_system_name(old: str | None, systems: Sequence[Hypotheses]) -> list[str]:
    """Return the names of the systems; refuse a name that is none of them."""
    names = [each.system for each in systems]
    if old is not None and old not in names:
        raise InputError(f"there is no system {old!r}", remedy=f"known: {', '.join(names)}")
    return names


# ---- Options of a corpus.


def read_skip_option(text: str) -> SkippedSentences:
    from errata.io.slices import read_skipped

    return read_skipped(text)


def skip_option() -> Any:
    return option(
        "--skip-sentences FILE|RANGES",
        "Leave out these sentences, as 3,7-9, counted from 1 whatever --base says of "
        "judgments; or a file with a number or a range a line, # before comments.",
        parse=read_skip_option,
    )


def sample_option() -> Any:
    return flag("--sample", "Use the built-in sample instead of files.")


def tokeniser_option(*, required: bool = False, **more: Any) -> Any:
    return option(
        "--tokens NAME",
        "How texts are tokenised: as_is (at spaces), characters, spacy:LANGUAGE or moses:LANGUAGE.",
        **{"required": True} if required else {"default": "as_is"},
        **more,
    )


def refuse_beside_sample(files: object) -> None:
    """Refuse files, if there are any, beside the built-in sample."""
    if files:
        raise InputError("--sample takes no files", remedy="leave out either of them")


def _expand_patterns(paths: tuple[str, ...]) -> tuple[str, ...]:
    """Replace folders and patterns by their files, with numbers in names sorted by value."""
    if not any(os.path.isdir(path) or glob.has_magic(path) for path in paths):
        return paths
    from errata.io.shards.inputs import natural_sort_key

    expanded: list[str] = []
    for path in paths:
        if os.path.isdir(path):
            pattern = os.path.join(glob.escape(path), "*")
        elif glob.has_magic(path) and not os.path.exists(path) and "://" not in path:
            pattern = path
        else:
            expanded.append(path)
            continue
        files = sorted(filter(os.path.isfile, glob.glob(pattern)), key=natural_sort_key)
        if not files:
            raise InputError("no reference file here", path=path, remedy="check the name")
        expanded += files
    return tuple(expanded)


def _parse_annotators(texts: tuple[str, ...]) -> tuple[int | Literal["all"], ...]:
    for text in texts:
        if text != "all" and not (text.isdecimal() and text.isascii() and len(text) < 10):
            problem = f"--annotator {text[:40]!r} is neither a number nor all"
            raise InputError(problem, remedy="write the number of an annotator")
    numbers = [text for text in texts if text != "all"]
    if numbers and "all" in texts:
        problem = f"--annotator all and --annotator {', '.join(numbers)} are given"
        raise InputError(problem, remedy="leave out either of them")
    return tuple("all" if text == "all" else int(text) for text in texts)


@dataclass(frozen=True)
class Inputs:
    """The files of a corpus and how they are read, or the built-in sample."""

    gold: str | None = option(
        "--gold FILE",
        "Gold edits: an M2 file with one or more annotators, or I-measure's XML.",
        role="gold",
    )
    source: str | None = option(
        "--source FILE", "The uncorrected sentences, one a line.", role="source"
    )
    refs: tuple[str, ...] = option(
        "--refs FILE|FOLDER|PATTERN",
        "References: a file of corrected sentences, a folder of such files, or a pattern "
        "in quotes ('test.ref*'); may be repeated.",
        multiple=True,
        role="references",
        parse=_expand_patterns,
    )
    missing: str | None = option(
        "--missing MARK",
        "The line that marks a sentence without a reference; an empty line is an empty reference.",
        needs="--refs",
    )
    compatible: bool = flag(
        "--compatible",
        "Read odd M2 as the official scorer does: several S lines share their edits, "
        "edits outside the sentence are dropped with a warning.",
        needs="--gold",
    )
    annotators: tuple[int | Literal["all"], ...] = option(
        "--annotator ID",
        "Only this annotator of the gold; may be repeated; all takes every one.",
        multiple=True,
        parse=_parse_annotators,
    )
    sample: bool = sample_option()
    skipped: SkippedSentences | None = skip_option()
    tokens: str = tokeniser_option()
    normalise: str | None = choice_option(
        "--normalise",
        Literal["NFC", "NFD"],
        "Put all characters into this Unicode form first: accents composed or apart.",
    )
    no_guard: bool = flag("--no-guard", "Skip the alignment check.")

    @property
    def tokenised_by(self) -> str:
        """The tokeniser, with the Unicode form of its texts."""
        if self.normalise is None:
            return self.tokens
        return f"{self.tokens.partition(',')[0]},{self.normalise}"

    @property
    def has_files(self) -> bool:
        return bool(self.gold or self.source or self.refs)

    @property
    def annotator_numbers(self) -> tuple[int, ...]:
        """The annotators asked for by number; none where all are meant."""
        return tuple(annotator for annotator in self.annotators if annotator != "all")

    @property
    def skip_facts(self) -> tuple[str, ...]:
        """What a signature says about the sentences left out, if any."""
        return () if self.skipped is None else (self.skipped.signature_fact,)

    @property
    def with_all_sentences(self) -> Inputs:
        """The same with no sentence left out."""
        return replace(self, skipped=None)

    def require_source(self) -> None:
        """Refuse references without the sentences they correct."""
        if self.refs and not (self.gold or self.source or self.sample):
            problem = "--source is missing: references correct the sentences of a source"
            raise InputError(problem, remedy="add --source FILE, one uncorrected sentence a line")

    def corpus(self, threads: int | None = None) -> Corpus:
        """Read the corpus, with the annotators and without the sentences asked for."""
        if self.sample:
            from errata.datasets import sample_corpus
            from errata.io.tokenisers import tokenise_corpus, tokeniser

            refuse_beside_sample(self.has_files)
            corpus = tokenise_corpus(sample_corpus(), tokeniser(self.tokenised_by))
            if self.annotator_numbers:
                from errata.io.corpus import keep_annotators

                corpus = keep_annotators(corpus, self.annotator_numbers)
        else:
            self.require_source()
            corpus = replace(self.files(), skipped=None).read_corpus(threads=threads)
        if self.skipped is None:
            return corpus
        return corpus.without_sentences(*self.skipped.positions(len(corpus)))

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
            annotators=self.annotator_numbers,
            tokens=self.tokenised_by,
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
        """Read the outputs of systems, or the sample's."""
        if self.sample:
            from errata.datasets import sample_corpus, sample_systems
            from errata.io.tokenisers import tokenise_output, tokeniser

            refuse_beside_sample(outputs)
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

    def untokenised_systems(
        self, outputs: tuple[str, ...], systems: list[Hypotheses]
    ) -> list[Hypotheses]:
        """Return the systems with the texts that people saw, before any tokenisation."""
        if self.tokenised_by == "as_is":
            return systems
        if self.sample:
            from errata.datasets import sample_systems

            return sample_systems()
        from errata.io.outputs import read_systems

        return read_systems(outputs)

    def read_corpus_and_systems(
        self, outputs: tuple[str, ...], threads: int | None = None
    ) -> tuple[Corpus, list[Hypotheses]]:
        """Return the corpus and the systems to score on it; there must be one."""
        if not (outputs or self.sample):
            remedy = "name one file per system, or use --sample"
            raise InputError("no output to score", remedy=remedy)
        corpus = self.corpus(threads)
        return corpus, self.systems(outputs, corpus, threads=threads)

    def total_bytes(self, outputs: tuple[str, ...]) -> int:
        """Return the bytes of the corpus and of these outputs, as far as they are known."""
        from errata.io.outputs import split_name

        named = (self.gold, self.source, *self.refs, *(split_name(path)[1] for path in outputs))
        return sum(os.path.getsize(path) for path in named if path and os.path.isfile(path))
