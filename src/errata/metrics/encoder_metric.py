"""Base of encoder metrics; change weights by BERTScore."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from errata.core.parallel import chunks
from errata.core.stats import Floats, Progress
from errata.data import Corpus, Edit, Hypotheses, apply_edits
from errata.edits import corrected_sentence
from errata.metrics.base import Description, Metric, MetricFacts, count_each, fixed_point
from errata.metrics.fluency import stripped
from errata.models import CachedModel, Options
from errata.models.encoder import is_pair, join_pair, without_breaks


class EncoderRequest(NamedTuple):
    """A model with the texts it is to read; the last number of its rows counts tokens cut off."""

    role: str
    model: CachedModel
    texts: list[str]


class EncoderMetric(Metric):
    """A metric computed by models, which read every distinct text of all systems once.

    Its fields are among ``revision``, ``dtype``, ``device``, ``batch_size`` and ``max_length``.
    """

    dtype: str
    device: str
    batch_size: int
    max_length: int

    @abstractmethod
    def requests(self, corpus: Corpus, systems: Sequence[Hypotheses]) -> list[EncoderRequest]:
        """Return which model reads which texts, without loading anything."""

    def _run_options(self, revision: str = "") -> Options:
        return Options(revision, self.dtype, self.device, self.batch_size)

    def count_all(
        self,
        corpus: Corpus,
        systems: Sequence[Hypotheses],
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> list[Floats]:
        """Every distinct text goes through the models once, all systems together."""
        for _, model, texts in self.requests(corpus, systems):
            model.rows(texts, progress)
        return count_each(self.count, corpus, systems, threads=threads, progress=progress)

    def facts(self, corpus: Corpus, systems: Sequence[Hypotheses]) -> MetricFacts:
        """How many texts were too long for each model, and how many tokens they lost.

        A text that several systems wrote for one sentence counts once, in other sentences again.
        """
        found: dict[str, Any] = {}
        for at, (role, model, texts) in enumerate(self.requests(corpus, systems)):
            found[f"revision of {role}"] = frozenset({model.revision})
            cut = dict(zip(texts, model.rows(texts)[:, -1].astype(int).tolist(), strict=True))
            if not any(cut.values()):
                continue
            alone = (
                self.requests(corpus[i : i + 1], [each[i : i + 1] for each in systems])[at][-1]
                for i in range(len(corpus))
            )
            lost = [cut[text] for own in alone for text in own if cut[text] > 0]
            unit = "pair of texts" if is_pair(texts[0]) else "text"
            found |= {f"{unit} cut by {role}": len(lost), f"tokens cut by {role}": sum(lost)}
        return found

    def describe(self, facts: MetricFacts) -> Description:
        """The exact models, and how many texts were too long for them and lost their ends."""
        revisions = {
            name.removeprefix("revision of "): min(revision)
            for name, revision in facts.items()
            if name.startswith("revision of ")
        }
        notes = []
        for role in revisions:
            for one, several in (("text", "texts"), ("pair of texts", "pairs of texts")):
                lost = facts.get(f"{one} cut by {role}", 0)
                if lost:
                    notes.append(
                        f"{role}: {lost:,} {f'{one} was' if lost == 1 else f'{several} were'} "
                        f"longer than {self.max_length} tokens (max_length) or than the model "
                        f"takes, and {facts[f'tokens cut by {role}']:,} tokens not read"
                    )
        context = tuple(f"{role}:{revision}" for role, revision in revisions.items())
        return Description(context, tuple(notes))


class ReferenceFreeMetric(EncoderMetric):
    """An encoder metric that looks at source and output alone."""

    columns = "none"

    def facts(self, corpus: Corpus, systems: Sequence[Hypotheses]) -> MetricFacts:
        """How many texts were cut, and how many outputs are empty."""
        empty = sum(not text for each in systems for text in stripped(each.sentences))
        return {**super().facts(corpus, systems), "empty": empty}

    def describe(self, facts: MetricFacts) -> Description:
        """The exact models, texts that were cut, and empty outputs: a model rates those too."""
        described = super().describe(facts)
        empty = facts["empty"]
        if not empty:
            return described
        outputs = "empty output" if empty == 1 else "empty outputs"
        note = f"{empty:,} {outputs}, rated like any other text"
        return described._replace(notes=(*described.notes, note))


def lines_of(sentences: Sequence[str]) -> list[str]:
    """Sentences as a model reads them alone: without white space at their ends, one line each."""
    return [without_breaks(text) for text in stripped(sentences)]


def output_lengths(sentences: Sequence[str]) -> Floats:
    """The lengths of sentences, the floor that a metric must beat to have learnt anything.

    >>> output_lengths(["He goes .", ""]).tolist()
    [9.0, 0.0]
    """
    return np.array([len(sentence) for sentence in sentences], np.float64)


# ---- What a change is worth: how much nearer to a reference it brings a sentence, or how much
# farther.

# The same tokens differ by this much between batches: smaller differences are no change.
NOISE = 1e-5
WINDOW = 4096  # outputs times references that are asked about at a time
F, CUT = 2, 3  # columns of a row of BERTScore


class WeightedChange(NamedTuple):
    """A sentence, what a change makes of it, and the reference that says what that is worth."""

    source: str
    changed: str
    reference: str


class Weights(NamedTuple):
    """What changes are worth, and how many of the pairs of texts behind it were cut short."""

    of: Mapping[WeightedChange, float]
    cut: int


def weigh(memo: CachedModel, changes: Iterable[WeightedChange]) -> Weights:
    """The weights of changes, as multiples of ``2 ** -30``; ``memo`` is one of BERTScore's.

    Rows of BERTScore are P, R, F and the tokens that were cut off.
    """
    distinct = list(dict.fromkeys(changes))
    pairs = list(
        dict.fromkeys(
            join_pair(text, change.reference)
            for change in distinct
            if change.changed != change.source
            for text in change[:2]
        )
    )
    rows = memo.rows(pairs)
    known: dict[str, float] = dict(zip(pairs, rows[:, F].tolist(), strict=True))

    def gain(change: WeightedChange) -> float:
        if change.changed == change.source:
            return 0.0
        after, before = (known[join_pair(text, change.reference)] for text in change[1::-1])
        return abs(after - before)

    values = np.array([gain(change) for change in distinct])
    values[values < NOISE] = 0.0
    weights = dict(zip(distinct, fixed_point(values).tolist(), strict=True))
    return Weights(weights, int((rows[:, CUT] > 0).sum()))


def plain_text(tokens: Sequence[str], edits: Iterable[Edit] = ()) -> str:
    """Tokens as a text with single blanks, after edits.

    >>> plain_text(["He", "go", "home"], [Edit(1, 2, "goes")])
    'He goes home'
    """
    return " ".join(apply_edits(tokens, edits))


def reference_texts(corpus: Corpus) -> list[list[str]]:
    """What every reference makes of its sentence, with single blanks."""
    return [
        [plain_text(corrected_sentence(source, reference).split()) for reference in references]
        for source, references in zip(corpus.sources, corpus.references, strict=True)
    ]


def text_windows(
    corpus: Corpus, systems: Sequence[Hypotheses]
) -> Iterator[tuple[Corpus, list[Hypotheses]]]:
    """The corpus in parts small enough to ask about all outputs of a part at once.

    >>> corpus = Corpus.from_texts(["a"] * 5000, [["b"] * 5000])
    >>> [len(part) for part, _ in text_windows(corpus, [])]
    [4096, 904]
    """
    step = max(8, WINDOW // max(1, len(systems) * corpus.most_references))
    for part in chunks(len(corpus), step) or [slice(0, 0)]:
        yield corpus[part], [hypotheses[part] for hypotheses in systems]


def truncation_note(cut: int) -> tuple[str, ...]:
    """Return a note on texts that were cut short, if there are any."""
    if not cut:
        return ()
    texts = "pair of texts was" if cut == 1 else "pairs of texts were"
    return (f"{cut:,} {texts} longer than the model takes, and cut",)
