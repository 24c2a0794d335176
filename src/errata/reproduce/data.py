"""Corpora, scores and judgments of experiments, cached."""

from __future__ import annotations

import csv
import inspect
import warnings
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from typing import Any, TypeVar

import numpy as np

from errata.core.errors import DataWarning, ErrataError, MissingExtraError
from errata.data import Corpus, Hypotheses, Judgment, Members, Reference, Scores
from errata.datasets import load_conll14, load_conll14_systems
from errata.datasets.fetch import collection, collections, fetch_file, role_files
from errata.datasets.load import read_collection, read_collection_outputs
from errata.edits import extractor_version
from errata.human import Comparisons, compare, parse_ranker, rank
from errata.io import read_m2, read_published_scores, read_text
from errata.io.corpus import CorpusFiles
from errata.io.files import read_lines
from errata.io.judgments import read_judgment_files, read_judgments
from errata.io.outputs import read_systems
from errata.models import CachedModel, open_model
from errata.models.checkpoint import is_available
from errata.reproduce.experiment import OwnFiles, load_experiment
from errata.scoring.evaluate import evaluate

T = TypeVar("T")


class NotRun(ErrataError):
    """A cell that cannot be recomputed here, with the reason."""


class UnknownName(ErrataError):
    """A name in an experiment file that stands for nothing."""


def index_of(name: str, names: Iterable[str]) -> int:
    """The position of a name among those known."""
    known = list(names)
    if name not in known:
        raise UnknownName(f"{name!r} is not one of {', '.join(known)}")
    return known.index(name)


def look_up(name: str, choices: Mapping[str, T]) -> T:
    index_of(name, choices)
    return choices[name]


def name_at_position(position: str, names: Sequence[str]) -> str:
    """The name at a position written from 1."""
    if not position.isdecimal() or not 1 <= int(position) <= len(names):
        raise UnknownName(f"position {position!r} is not among 1 to {len(names)}")
    return names[int(position) - 1]


def systems_best_first(scores: Scores) -> list[str]:
    """The systems by their scores; the unchanged input is ``source``, as papers call it."""
    return [scores.systems[i].replace("INPUT", "source") for i in scores.order]


# Sakaguchi et al. (2016): the two texts of each set, as the catalogue names them.
REFERENCE_SETS = {
    "E-fluency": ("expert_fluencyA", "expert_fluencyB"),
    "N-fluency": ("turker_fluencyA", "turker_fluencyB"),
    "E-minimal": ("expert_minimalA", "expert_minimalB"),
    "N-minimal": ("turker_minimalA", "turker_minimalB"),
    "NUCLE": ("NUCLE-A", "NUCLE-B"),
    "BN15": tuple(f"BN15-{k}" for k in range(10)),
}
# GLEU draws references by their place: in this order the released scores come out.
REFERENCE_SETS["All"] = tuple(
    text
    for name in ("BN15", "NUCLE", "E-fluency", "E-minimal", "N-fluency", "N-minimal")
    for text in REFERENCE_SETS[name]
)
# Rewrites of experts as the paper's own converter aligned them; the others are not public.
CONVERTED = {"E-fluency-edits": "EXPFLUENCY.m2", "E-minimal-edits": "EXPMIN.m2"}
EDITED_SETS = ("NUCLE-edits", "BN15-edits", "All-edits", *CONVERTED)


Make = TypeVar("Make", bound=Callable[..., Any])


def cache_result(make: Make) -> Make:
    """Make what a function returns once for its arguments, and keep it in the data it gets first.

    Warnings are heard where an argument names files of one's own: the oddities of public data are
    reproduced too.
    """
    signature = inspect.signature(make)

    @wraps(make)
    def get_cached(data: ExperimentData, /, *args: Any, **options: Any) -> Any:
        call = signature.bind(data, *args, **options)
        call.apply_defaults()
        given = tuple(call.arguments.values())[1:]
        own = tuple(data.files.get(name) for name in given if isinstance(name, str))
        key = (make.__qualname__, given, own)
        return data.get_or_make(key, lambda: make(data, *args, **options), known=not any(own))

    return get_cached  # type: ignore[return-value]


class ExperimentData:
    """Texts, scores and judgments by name, each made once; ``recipes`` say how metrics were run."""

    def __init__(
        self,
        extractor: str = "errant",
        model: str = "trigram",
        tick: Callable[[], object] | None = None,
    ) -> None:
        self.extractor = extractor
        self.model = model
        self.tick = tick or (lambda: None)
        self.recipes: Mapping[str, Mapping[str, Any]] = {}
        self.files: Mapping[str, OwnFiles] = {}
        self._kept: dict[Hashable, Any] = {}

    def get_or_make(self, key: Hashable, make: Callable[[], T], *, known: bool = True) -> T:
        """What ``make`` gives, made once; of data that are not ``known`` warnings are heard."""
        if key not in self._kept:
            self.tick()
            with warnings.catch_warnings():
                if known:
                    # The oddities of these files are reproduced too.
                    warnings.simplefilter("ignore", DataWarning)
                try:
                    self._kept[key] = make()
                except (NotRun, MissingExtraError) as reason:
                    self._kept[key] = reason  # what cannot be had is not tried again
            self.tick()
        found = self._kept[key]
        if isinstance(found, NotRun | MissingExtraError):
            raise found
        kept: T = found
        return kept

    def metric_recipe(self, metric: str) -> Mapping[str, Any]:
        return look_up(metric, self.recipes)

    def recipe_key(self, metric: str, *sets: str) -> tuple[Hashable, ...]:
        """What a metric and sets are called in this experiment, and what they stand for there."""
        recipe = self.recipes.get(metric, {})
        names = (str(recipe.get("references", "")), str(recipe.get("outputs", "")), *sets)
        own = tuple(self.files.get(name) for name in names)
        return (metric, *sets, tuple(sorted(recipe.items())), own)

    # Software

    def software_version(self, software: str, arguments: Mapping[str, Any]) -> str:
        """What a figure depends on beside our own code: an extractor or a language model."""
        if software == "extractor":
            return self.get_or_make("extractor", lambda: extractor_version(self.extractor))
        if software == "model":
            return self.language_model(arguments.get("model", "")).revision
        return ""

    def language_model(self, name: str = "") -> CachedModel:
        """The language model that was chosen, or another by name; GPT-2 only if it is at hand."""
        chosen = name or self.model
        if chosen == "gpt2" and not is_available(chosen):
            raise NotRun("the weights of GPT-2 are not on this machine")
        return self.get_or_make(("model", chosen), lambda: open_model(chosen))

    # Texts

    @cache_result
    def systems(self) -> list[Hypotheses]:
        """The outputs of the 12 CoNLL-2014 systems and INPUT."""
        return load_conll14_systems(check=False)

    @cache_result
    def outputs_of(self, name: str) -> list[Hypotheses]:
        """The outputs that belong to a corpus: one's own, or a collection's."""
        if name in self.files:
            return read_systems(self.files[name].outputs, corpus=self.corpus(name))
        return read_collection_outputs(name)

    @cache_result
    def gold(self) -> Corpus:
        """The CoNLL-2014 test set with gold edits."""
        return load_conll14()

    def left_out_sentences(self, typo: str = "corrected") -> set[int]:
        """The sentences (from 0) that Sakaguchi et al. left out, counted from 1 in merged_ids.

        ``typo="corrected"`` reads the 48 among them as the 418 it stands for.
        """
        numbers = [int(line) for line in read_lines(fetch_file("sakaguchi16", "merged_ids"))[0]]
        return {(418 if n == 48 and typo == "corrected" else n) - 1 for n in numbers}

    def kept_sentences(self, typo: str = "corrected") -> list[int]:
        """The sentences that Sakaguchi et al. kept."""
        out = self.left_out_sentences(typo)
        return [i for i in range(len(self.gold())) if i not in out]

    @cache_result
    def sentences(self, name: str) -> Sequence[str]:
        """All 1,312 sentences of a text: ``source``, an output, or a reference."""
        if name in ("NUCLE-A", "NUCLE-B"):
            return self._nucle_texts()[name == "NUCLE-B"]
        if name in ("released-A", "released-B"):
            references = self.corpus("conll14-texts").references
            return [refs[name == "released-B"].corrected("") for refs in references]
        if name == "source":
            return self.gold().sources
        for system in self.systems():
            if system.system == name:
                return system.sentences
        if name in REFERENCE_SETS["BN15"]:
            return self._ten_annotator_texts()[REFERENCE_SETS["BN15"].index(name)]
        return read_text(fetch_file("sakaguchi16", name))

    @cache_result
    def _nucle_texts(self) -> tuple[list[str], list[str]]:
        """Both annotators' texts; where one has no line, the text of the other."""
        gold = self.gold()
        found = [
            {r.annotator: r.corrected(source) for r in refs}
            for source, refs in zip(gold.sources, gold.references, strict=True)
        ]
        first, second = (
            [texts.get(k, next(iter(texts.values()))) for texts in found] for k in (0, 1)
        )
        return first, second

    @cache_result
    def _ten_annotator_texts(self) -> list[list[str]]:
        """The texts of Bryant & Ng's ten annotators; who has no line changed nothing."""
        ten = self.ten_annotators()
        return [
            [
                next((r.corrected(source) for r in refs if r.annotator == k), source)
                for source, refs in zip(ten.sources, ten.references, strict=True)
            ]
            for k in range(10)
        ]

    @cache_result
    def ten_annotators(self) -> Corpus:
        """The CoNLL-2014 test set with the edits of Bryant & Ng's ten annotators."""
        return read_m2(fetch_file("bn15", "BN_corrected.m2"))

    @cache_result
    def ten_rewrites(self) -> tuple[list[int], list[list[str]]]:
        """Twenty sentences (from 0) and ten fluency rewrites of them, six of these raw texts."""
        from errata.metrics.imeasure.references import treebank_tokens

        lines = read_lines(fetch_file("sakaguchi16-extra", "results_extra-HITs.csv"))[0]
        found: dict[int, list[str]] = {}
        for row in csv.DictReader(lines):
            text = " ".join(treebank_tokens(row["Answer.Q1MultiLineTextInput"]))
            found.setdefault(int(row["Input.sentID"]) - 1, []).append(text)
        numbers = sorted(found)
        six = [[found[number][k] for number in numbers] for k in range(6)]
        fluent = (*REFERENCE_SETS["E-fluency"], *REFERENCE_SETS["N-fluency"])
        return numbers, [*six, *([self.sentences(name)[i] for i in numbers] for name in fluent)]

    # Metrics

    @cache_result
    def corpus(self, name: str, typo: str = "corrected") -> Corpus:
        """A corpus by name: files of one's own, a collection of data, a reference set, or edits.

        Reference sets (and their edits, NUCLE-edits...) have Sakaguchi's sentences only.
        """
        if name == "conll14":
            return self.gold()
        if name in self.files:
            own = self.files[name]
            texts = own.gold or None, own.source or None, own.references
            return CorpusFiles(*texts, name=own.name).read_corpus()
        if name in collections():
            return read_collection(name)
        known = {*REFERENCE_SETS, *sum(REFERENCE_SETS.values(), ())}
        if name not in EDITED_SETS and not set(name.split("+")) <= known:
            raise UnknownName(f"there are no references {name!r}")
        kept = self.kept_sentences(typo)
        gold = self.gold()
        if name == "All-edits":
            return self._twenty_references(kept)
        if name == "BN15-edits":
            gold = self.ten_annotators()
        if name in CONVERTED:
            # One edit lies outside its sentence; scorers drop it.
            gold = read_m2(fetch_file("rewrites-m2", CONVERTED[name]), compatible=True)
        if name.endswith("-edits"):
            return Corpus(
                tuple(gold.sources[i] for i in kept), tuple(gold.references[i] for i in kept), name
            )
        names = [text for part in name.split("+") for text in REFERENCE_SETS.get(part, (part,))]
        return Corpus.from_texts(
            [gold.sources[i] for i in kept],
            [[text[i] for i in kept] for text in map(self.sentences, names)],
            name=name,
        )

    def _twenty_references(self, kept: list[int]) -> Corpus:
        """All twenty references: edits where they are public, the rest as texts to be aligned.

        As in M2 files, who changed nothing has no line, and so no say, where others have.
        """
        sets = [
            self.corpus(f"{name}-edits") for name in ("BN15", "NUCLE", "E-fluency", "E-minimal")
        ]
        texts = [self.sentences(t) for n in ("N-fluency", "N-minimal") for t in REFERENCE_SETS[n]]
        references = []
        for row, i in enumerate(kept):
            source = sets[0].sources[row]
            mine = [r for each in sets for r in each.references[row] if r.edits]
            mine += [Reference(0, text=text[i]) for text in texts if text[i] != source]
            numbered = [replace(r, annotator=k) for k, r in enumerate(mine)]
            references.append(tuple(numbered) or (Reference(0, ()),))
        return Corpus(sets[0].sources, tuple(references), "All-edits")

    # Scores

    @cache_result
    def scores(
        self, metric: str, corpus: str, typo: str = "corrected", outputs: str = ""
    ) -> Scores:
        """Systems scored with a metric of ours on a corpus by name.

        They are the user's where the corpus is, or of the set ``outputs`` where it is named, and
        the 13 of CoNLL-2014 otherwise.
        """
        data = self.corpus(corpus, typo)
        if outputs or corpus in self.files:
            return evaluate(metric, data, self.outputs_of(outputs or corpus), resamples=0)
        systems = self.systems()
        if len(data) < len(self.gold()):
            kept = self.kept_sentences(typo)
            systems = [Hypotheses(s.system, tuple(s.sentences[i] for i in kept)) for s in systems]
        # The published numbers are of these outputs as they are, NTHU's shifted lines and all.
        return evaluate(metric, data, systems, resamples=0, guard=False)

    def scores_by_recipe(self, metric: str) -> Scores:
        """Systems scored as this experiment's recipe says."""
        recipe = self.metric_recipe(metric)
        outputs = recipe.get("outputs", "")
        return self.scores(recipe["metric"], recipe["references"], outputs=outputs)

    @cache_result
    def released_scores(self, metric: str) -> Scores:
        """The scores of a metric that Chollampatt & Ng released, with sentence scores."""
        systems, sentences = (
            fetch_file("gecmetrics-scores", f"{level}_scores_metrics/{metric}.txt.gz")
            for level in ("system", "sentence")
        )
        return read_published_scores(systems, sentence_path=sentences)

    # People

    @cache_result
    def judgments(self, name: str) -> list[Judgment]:
        """Rankings by name: one's own, a data set, main, ctrl (as labelled), ctrl-text, experts."""
        if name in self.files:
            own = self.files[name]
            return list(read_judgment_files(own.judgments, base=own.base))
        if name == "grundkiewicz15":
            return list(read_judgments(fetch_file(name, "judgments.xml")))
        if name == "napoles15":
            return list(read_judgments(fetch_file(name, "all_judgments.csv")))
        if name == "napoles15-xml":
            file = fetch_file("napoles15", "all_judgments.xml")
            return list(read_judgments(file, leave_out=("non-native",)))
        if name == "main":
            return list(
                read_judgments(fetch_file("sakaguchi16", "Main_merged.csv"), labels="given")
            )
        if name in ("ctrl", "ctrl-text"):
            ctrl = fetch_file("sakaguchi16", "Ctrl_merged.csv")
            if name == "ctrl":
                return list(read_judgments(ctrl, labels="given"))
            outputs = {s.system: s.sentences for s in self.systems()}
            return list(read_judgments(ctrl, labels="text", outputs=outputs))
        if name in ("experts", "experts-unshifted"):
            # The released expert rankings took items whose number, less one, was judged again.
            shift = 1 if name == "experts" else 0
            again = {j.sentence for j in self.judgments("ctrl")}
            return [j for j in self.judgments("grundkiewicz15") if j.sentence - shift in again]
        if name in collections() and (files := role_files(collection(name), "judgments")):
            return list(read_judgment_files(files, base=collection(name).base))
        raise UnknownName(f"there are no judgments {name!r}")

    @cache_result
    def pairwise_comparisons(self, judgments: str, members: Members = "all") -> Comparisons:
        """Pairwise comparisons of judgments; ``released`` takes the file of Chollampatt & Ng."""
        if judgments == "released":
            file = look_up(members, {"all": "expanded", "sample": "unexpanded"})
            folder = "sentence_pairwiseranks_humans"
            return compare(
                read_judgments(fetch_file("gecmetrics-scores", f"{folder}/{file}.csv.gz"))
            )
        return compare(self.judgments(judgments), members=members)

    @cache_result
    def scores_by_ranker(self, judgments: str, ranker: str, resamples: int = 0) -> Scores:
        """Systems scored from judgments, resampled by pairs as published."""
        pairs = self.pairwise_comparisons(judgments)
        return rank(parse_ranker(ranker), pairs, unit="pairs", resamples=resamples)

    @cache_result
    def printed_cells(self, experiment: str, table: str) -> Mapping[tuple[str, ...], str | None]:
        """The printed cells of another experiment's table."""
        for found in load_experiment(experiment).tables:
            if found.name == table:
                return found.cells
        raise UnknownName(f"{experiment} has no table {table!r}")

    def printed_scores(self, experiment: str, table: str) -> Scores:
        """A printed column of scores, one row a system."""
        cells = {key[0]: text for key, text in self.printed_cells(experiment, table).items()}
        values = np.array([float(text or "nan") for text in cells.values()])
        return Scores(f"{experiment} {table}", tuple(cells), values)
