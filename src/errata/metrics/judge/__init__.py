"""A language model as the judge of corrections, without references.

Kobayashi, Mita & Komachi 2024, "Large Language Models Are State-of-the-Art Evaluator for
Grammatical Error Correction" (BEA): targets of one source get scores from 1 to 5, whole sentences
or their edits, perhaps by one criterion. Any server answers that speaks OpenAI's protocol.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from itertools import combinations
from typing import Literal, Self

import numpy as np

from errata.core.errors import InputError
from errata.core.parameters import About
from errata.core.signatures import signature_id
from errata.core.stats import Floats, Ints, Progress, plural, ratio
from errata.data import Corpus, Hypotheses
from errata.edits import (
    OutputEditing,
    describe_origins,
    edits_of,
    origin_facts,
    origins,
    split_extractor,
)
from errata.metrics.base import (
    Before,
    Description,
    Metric,
    MetricFacts,
    by_name,
    fixed_point,
    metric,
    to_int,
)
from errata.metrics.judge.client import (
    Forecast,
    JudgeClient,
    Question,
    bracketed,
    group_outputs,
    read_prompt,
)
from errata.metrics.judge.reliability import (
    SAME,
    JudgeRun,
    Planned,
    assign_answers,
    kendall_of_pairs,
    pair_outcomes,
)
from errata.models.servers import ADDRESS, ChatServer, ServerRefusal, model_name

__all__ = ["Judge"]

CRITERIA = {
    "sentence": ("none", "grammaticality", "fluency", "meaning"),
    "edit": ("none", "difficulty", "impact"),
}
MOST_TARGETS = 20  # in one request; the paper has 5


@metric
class Judge(Metric):
    """The mean score, from 1 to 5, that a language model gives to the outputs.

    ``mode`` shows it corrected sentences or the edits in brackets (found by ``extractor`` where
    the outputs are texts; ``outputs`` as in `edits`); ``criterion`` asks for one thing alone.
    ``model`` is a name that the server knows, '' the only one it has; the server is that of
    OPENAI_BASE_URL or ``url``. ``neighbours`` adds as many sentences before and after the source.
    Distinct outputs of a source are shown together, at most ``group``, each ``repeats`` times in
    orders drawn with ``seed`` (see `errata.metrics.judge.client`): what an output gets may depend
    on those beside it, and ``group=1`` scores every output alone. ``schema`` has the server hold
    the answer to its form; ``expectation`` takes ``Σ k p(k)`` over the digits instead of the one
    that was written, which breaks ties. ``max_requests`` and ``max_tokens`` limit what a run may
    cost (0: no limit); ``insecure`` lets a key go over plain HTTP to another machine.

    Statistics: the score (the mean over repeats), whether the output was judged, showings that
    could not be read, pairs with others of its group that were won by the later one, the earlier
    one, or tied, pairs of repeats and how many of them agree, whether the output speaks to the
    judge, and for each position the score against the mean of the group, and how often.
    """

    name = "judge"
    about = About(
        paper="Kobayashi et al. 2024",
        range="from 1 to 5",
        needs=("a server with a chat model (OPENAI_BASE_URL)",),
    )
    columns = "none"

    mode: Literal["sentence", "edit"] = "sentence"
    criterion: Literal["none", "grammaticality", "fluency", "meaning", "difficulty", "impact"] = (
        "none"
    )
    model: str = ""
    neighbours: int = 0
    group: int = 5  # Kobayashi et al. 2024: five targets a prompt
    repeats: int = 2
    seed: int = 0
    schema: bool = True
    expectation: bool = False
    extractor: str = "aligned"
    outputs: OutputEditing = "alike"
    url: str = field(default="", compare=False)
    insecure: bool = field(default=False, compare=False)
    concurrency: int = field(default=4, compare=False)
    timeout: float = field(default=120.0, compare=False)
    max_requests: int = field(default=0, compare=False)
    max_tokens: int = field(default=0, compare=False)
    level: Literal["corpus", "sentence"] = "corpus"

    def __post_init__(self) -> None:
        super().__post_init__()
        known = CRITERIA[self.mode]
        if self.criterion not in known:
            raise InputError(
                f"judge: criterion={self.criterion!r} does not go with mode={self.mode!r}",
                remedy=f"use one of {', '.join(map(repr, known))}, or the other mode",
            )
        for name, least, most in (
            ("group", 1, MOST_TARGETS),
            ("repeats", 1, 100),
            ("seed", 0, 2**31),
            ("neighbours", 0, 10),
            ("concurrency", 1, 256),
            ("max_requests", 0, 2**53),
            ("max_tokens", 0, 2**53),
            ("timeout", 0.01, 86400),
        ):
            if not least <= getattr(self, name) <= most:
                raise InputError(
                    f"judge: {name}={getattr(self, name)!r} is not between {least} and {most}"
                )
        split_extractor(self.extractor)

    @property
    def statistics(self) -> tuple[str, ...]:
        """See the class."""
        figures = ("score", "judged", "unparsed", "later", "earlier", "tied")
        places = [f"{what}@{p}" for p in range(1, self.group + 1) for what in ("beside", "seen")]
        return (*figures, "repeated", "agreeing", "injections", *places)

    @property
    def headline(self) -> str:
        """The criterion, or that it is the judge's score."""
        return "judge" if self.criterion == "none" else self.criterion

    @property
    def divisible(self) -> bool:
        """Return False: how reliable the judge is follows from all its answers."""
        return False

    @property
    def for_sentences(self) -> Self:
        """Without a score where the judge gave none."""
        return replace(self, level="sentence")

    @property
    def extracting(self) -> Callable[[str], Self] | None:
        """The same with all outputs' edits found by an extractor, where it is shown edits."""
        if self.mode == "sentence":
            return None
        return lambda extractor: replace(self, extractor=extractor, outputs="reextracted")

    def choose(self, counts: Floats, before: Before | None = None) -> Ints:
        """All of it; a single sentence that was not judged has no score."""
        chosen = super().choose(counts, before)
        if self.level == "corpus":
            return chosen
        return np.where(by_name(self.statistics, counts[:, 0])["judged"] > 0, chosen, -1)

    def count(self, corpus: Corpus, hypotheses: Hypotheses) -> Floats:
        """``[sentence, 1, k]``, of a system that is judged alone."""
        return self.count_all(corpus, [hypotheses])[0]

    def count_all(
        self,
        corpus: Corpus,
        systems: Sequence[Hypotheses],
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> list[Floats]:
        """Outputs of all systems are judged together, every distinct one once a turn."""
        judged = self.judged(corpus, systems, progress)
        return [self._counts(judged, s) for s in range(len(systems))]

    def judged(
        self, corpus: Corpus, systems: Sequence[Hypotheses], progress: Progress | None = None
    ) -> JudgeRun:
        """What the judge was shown and said; kept with the corpus."""

        def ask() -> JudgeRun:
            shown = self._target_texts(corpus, systems)
            planned = self._plan_questions(corpus, shown)
            try:
                answers = self._client().answers([each.question for each in planned], progress)
            except ServerRefusal as refusal:
                of = (each.sentence for each in planned if each.question == refusal.question)
                raise _refusal_error(refusal, corpus.number(next(of))) from None
            return assign_answers(planned, answers, shown, systems, schema=self.schema)

        where = self.url or os.environ.get(ADDRESS, "")
        key = ("judged", replace(self, level="corpus"), where, tuple(systems))
        return corpus.derived(key, ask)

    def costs(self, corpus: Corpus, systems: Sequence[Hypotheses]) -> Forecast:
        """How much is to be asked for these systems, before anything is."""
        planned = self._plan_questions(corpus, self._target_texts(corpus, systems))
        return self._client().costs([each.question for each in planned])

    def _target_texts(self, corpus: Corpus, systems: Sequence[Hypotheses]) -> list[list[str]]:
        """What stands for every output: its text, or the source with its edits in brackets."""
        if self.mode == "sentence":
            return [[text.strip() for text in h.sentences] for h in systems]
        found = edits_of(corpus, systems, self.outputs, extractor=self.extractor)
        return [
            [bracketed(*pair) for pair in zip(corpus.sources, h.edits or (), strict=True)]
            for h in found
        ]

    def _plan_questions(self, corpus: Corpus, shown: Sequence[Sequence[str]]) -> list[Planned]:
        prompt = read_prompt(self.mode)
        planned = []
        for i, source in enumerate(map(str.strip, corpus.sources)):
            turns = group_outputs(
                source,
                (texts[i] for texts in shown),
                group=self.group,
                repeats=self.repeats,
                seed=self.seed,
            )
            around = self._context_sentences(corpus, i)
            for turn, groups in enumerate(turns):
                for targets in groups:
                    text = prompt.fill(source, targets, self.criterion, around)
                    # The seed tells turns apart that show the same.
                    question = Question(text, len(targets), self.seed + turn)
                    planned.append(Planned(i, turn, targets, question))
        return planned

    def _context_sentences(self, corpus: Corpus, i: int) -> tuple[list[str], list[str]]:
        """The sentences that stand around one; those that were left out are not bridged."""
        near = [i + step for step in range(-self.neighbours, self.neighbours + 1) if step]
        numbers = {j: corpus.number(j) - corpus.number(i) for j in near if 0 <= j < len(corpus)}
        there = [(j, corpus.sources[j].strip()) for j, away in numbers.items() if away == j - i]
        return [text for j, text in there if j < i], [text for j, text in there if j > i]

    def _client(self) -> JudgeClient:
        server = ChatServer(self.url, self.timeout, insecure=self.insecure)
        return JudgeClient(
            server,
            _model_on_server(server, self.model),
            read_prompt(self.mode),
            self.schema,
            self.expectation,
            self.concurrency,
            self.max_requests,
            self.max_tokens,
        )

    def _counts(self, judged: JudgeRun, system: int) -> Floats:
        """The statistics of one system, sentence by sentence."""
        targets = judged.shown[system]
        counts = np.zeros((len(targets), 1, len(self.statistics)))
        column = by_name(self.statistics, counts[:, 0])
        for i, target in enumerate(targets):
            scores = []
            for showing, at in judged.views[i, target]:
                if showing.scores is None:
                    column["unparsed"][i] += 1
                    continue
                scores.append(showing.scores[at])
                if len(showing.scores) == 1:  # it has no position to speak of
                    continue
                column[f"seen@{at + 1}"][i] += 1
                beside = showing.scores[at] - np.mean(showing.scores)
                column[f"beside@{at + 1}"][i] += fixed_point(np.asarray(beside)).item()
                for a, b, sign in pair_outcomes(showing.scores):
                    if at in (a, b):
                        column[("earlier", "tied", "later")[sign + 1]][i] += 1
            apart = [abs(a - b) for a, b in combinations(scores, 2)]
            column["repeated"][i] = len(apart)
            column["agreeing"][i] = sum(each < SAME for each in apart)
            column["judged"][i] = bool(scores)
            if scores:
                column["score"][i] = fixed_point(np.asarray(np.mean(scores))).item()
        column["injections"][:] = judged.injections[system]
        return counts

    def score(self, totals: Floats) -> Floats:
        """The mean over the outputs that were judged."""
        figures = by_name(self.statistics, totals)
        return ratio(figures["score"], figures["judged"], 0.0)

    def figures(self, totals: Floats) -> dict[str, Floats | Ints]:
        """What was judged and read, and how far the judge can be trusted; see `Trust`."""
        figures = by_name(self.statistics, totals)
        pairs = figures["later"] + figures["earlier"] + figures["tied"]
        beside = [
            ratio(figures[f"beside@{p}"], figures[f"seen@{p}"]) for p in range(1, self.group + 1)
        ]
        seen = np.stack([figures[f"seen@{p}"] for p in range(1, self.group + 1)])
        stacked = np.stack(beside)
        highest = np.where(seen > 0, stacked, -np.inf).max(axis=0)
        lowest = np.where(seen > 0, stacked, np.inf).min(axis=0)
        some = (seen > 0).any(axis=0)
        return {
            "judged": to_int(figures["judged"]),
            "unparsed": to_int(figures["unparsed"]),
            "ties": ratio(figures["tied"], pairs),
            "τ": kendall_of_pairs(figures["later"], figures["earlier"], figures["tied"]),
            "spread": np.where(
                some, np.where(some, highest, 0) - np.where(some, lowest, 0), np.nan
            ),
            "agreement": ratio(figures["agreeing"], figures["repeated"]),
            "injections": to_int(figures["injections"]),
            **{f"@{p}": value for p, value in enumerate(beside, 1)},
        }

    def facts(self, corpus: Corpus, systems: Sequence[Hypotheses]) -> MetricFacts:
        """The model as the server calls it, what the answers were like, and what they cost."""
        judged = self.judged(corpus, systems)
        together = signature_id("\n".join(sorted("\t".join(texts) for texts in judged.shown)))
        return {
            "model": frozenset({"+".join(judged.models)}),
            "together": frozenset({together}),
            "usage": frozenset({str(judged.usage)}),
            "refused": int(judged.refused),
            "unread": judged.unread,
            "answers": len(judged.showings),
            **{
                f"injections of {system.system}": sum(each)
                for system, each in zip(systems, judged.injections, strict=True)
            },
            "warning": frozenset({judged.trust.warning} if judged.trust.remark else ()),
            **origin_facts(systems, self.outputs),
        }

    def describe(self, facts: MetricFacts) -> Description:
        """Model, prompt, schema and who was judged together; usage, bias and attacks."""
        systems, schema = len(origins(facts)), "yes" if self.schema else "no"
        if facts["refused"] and self.schema:
            schema = "refused"
        context = [f"model:{min(facts['model'])}", f"prompt:{read_prompt(self.mode).name}"]
        context.append(f"schema:{schema}")
        if self.group > 1:
            context.append(f"together:{systems}@{min(facts['together'])}")
        if self.mode == "edit":
            context += describe_origins(facts, self.extractor, gold=False)
        notes = [f"the judge took {min(facts['usage'])}"]
        if self.group > 1 and systems > 1:
            notes.append(
                "what an output gets may depend on the systems judged beside it, which the "
                "signature names (group=1 scores each alone)"
            )
        if facts["refused"]:
            notes.append("the server refused the schema: answers were held to their form by words")
        if facts["unread"]:
            notes.append(
                f"{facts['unread']} of {facts['answers']} answers could not be read and gave no "
                "score"
            )
        injections = {
            name.removeprefix("injections of "): number
            for name, number in facts.items()
            if name.startswith("injections of ") and number
        }
        if injections:
            total = sum(injections.values())
            attacks = ", ".join(f"{number} of {name}" for name, number in injections.items())
            notes.append(
                f"{total} {plural('output', total)} {'tells' if total == 1 else 'tell'} the judge "
                f"to ignore its instructions: {attacks}"
            )
        return Description(tuple(context), (*notes, *facts["warning"]))


def _refusal_error(refusal: ServerRefusal, number: int) -> InputError:
    """Which sentence was refused: one that is too long, or that a filter stops, ends every run."""
    alone = f"if it is the sentence, leave it out (--skip-sentences {number}), and run it again"
    return InputError(
        f"{refusal.problem} (of sentence {number})",
        remedy=f"{refusal.remedy}; {alone}" if refusal.remedy else alone,
    )


def _model_on_server(server: ChatServer, asked: str) -> str:
    """The model to ask, by the name the server gives it."""
    try:
        there = server.models()
    except InputError:
        if asked:  # stored answers can be read without a server
            return asked
        raise
    for name in there:
        if asked in (name, model_name(name)):
            return name
    if len(there) == 1 and not asked:
        return there[0]
    if len(there) == 1:  # llama.cpp would answer with it, whatever was asked for
        raise InputError(
            f"the server at {server.host} has no model {asked!r} but {model_name(there[0])!r}",
            remedy="leave out model=, or start the server with the other one",
        )
    if asked:  # a name may stand for another; the server knows
        return asked
    raise InputError(
        f"the server at {server.host} has {len(there) or 'no'} models"
        + (f" ({', '.join(there[:5])}...)" if there else " that it names"),
        remedy="name one with model=",
    )
