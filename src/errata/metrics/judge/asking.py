"""Asking a judge: what it will cost, every question once, and every answer kept."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from errata.cache import BlobCache, cache_folder
from errata.data import signature_id
from errata.errors import NOTICE, InputError
from errata.metrics.judge.parsing import LOWEST_SCORE, TOP_SCORE, expected_scores, parse_scores
from errata.metrics.judge.prompting import Prompt, answer_schema
from errata.models.chat import ChatServer, Reply, ServerRefusal, model_name
from errata.numbers import Progress, plural

__all__ = ["Answer", "Asker", "Forecast", "Question", "answer_cache"]

JOURNAL = logging.getLogger(__name__)
BYTES_A_TOKEN = 3.3  # about: what SmolLM2 has in these prompts; larger vocabularies have more
UNKNOWN_FIELD = {400, 422, 501}  # what servers answer to a field that they do not take
FIRST_LOOK, HOPELESS = 50, 0.5  # answers after which a judge that cannot be read is given up


class Question(NamedTuple):
    """One request: what is asked, how many targets it has, and the seed."""

    prompt: str
    targets: int
    seed: int


@dataclass(frozen=True)
class Answer:
    """What came back: the scores where it could be read, and what it took."""

    text: str
    model: str
    scores: tuple[float, ...] | None
    requests: int
    prompt_tokens: int
    completion_tokens: int
    plain: bool  # asked without a schema


class Forecast(NamedTuple):
    """What is still to be asked, about; ``kept`` questions have their answers already."""

    requests: int
    kept: int
    prompt_tokens: int
    completion_tokens: int

    @property
    def said(self) -> str:
        """The costs in words."""
        more = f" ({self.kept:,} more {'is' if self.kept == 1 else 'are'} kept)"
        return (
            f"{self.requests:,} {plural('request', self.requests)}{more if self.kept else ''}, "
            f"about {self.prompt_tokens:,} tokens in and at most {self.completion_tokens:,} out"
        )


class _Meter:
    """What a run has cost so far, and whether the server refused the schema.

    Every attempt is a request. Tokens of what is under way are those it may take at most, so that
    many at a time do not exceed together what each alone would not.
    """

    def __init__(self, plain: bool, max_requests: int, max_tokens: int) -> None:
        self.plain = plain
        self.max_requests, self.max_tokens = max_requests, max_tokens
        self.requests = self.tokens = 0
        self.lock = threading.Lock()

    def count_request(self) -> None:
        """One more request, if that is allowed."""
        with self.lock:
            if 0 < self.max_requests <= self.requests:
                raise _used_up("max_requests", self.max_requests)
            self.requests += 1

    def reserve(self, tokens: int) -> None:
        """As many tokens more, if that is allowed."""
        with self.lock:
            if 0 < self.max_tokens < self.tokens + tokens:
                raise _used_up("max_tokens", self.max_tokens)
            self.tokens += tokens

    def settle(self, reserved: int, spent: int) -> None:
        """What was reserved has cost this much; of a server that does not say, all of it."""
        with self.lock:
            self.tokens += (spent or reserved) - reserved


def _used_up(what: str, most: int) -> InputError:
    return InputError(
        f"judge: {what}={most} is used up",
        remedy="allow more and run it again: what was answered is kept",
    )


def answer_cache() -> BlobCache:
    """Where answers are kept: prompts as digests, answers as they came."""
    return BlobCache(cache_folder() / "answers.sqlite3")


@dataclass(frozen=True)
class Asker:
    """A judge behind a server: questions in, answers out, each asked once and kept.

    ``model`` is what the server calls it. Without ``schema``, or where the server refuses it, the
    prompt alone says what form the answer has. ``max_requests`` and ``max_tokens`` are what one run
    may cost, 0 any amount.
    """

    server: ChatServer
    model: str
    prompt: Prompt
    schema: bool = True
    expectation: bool = False
    concurrency: int = 4
    max_requests: int = 0
    max_tokens: int = 0
    cache: BlobCache = field(default_factory=answer_cache)

    @property
    def revision(self) -> str:
        """What answers: the model, the words of the prompt, and what else decides the answer."""
        return (
            f"judge {model_name(self.model)} prompt:{self.prompt.name} schema:{self.schema} "
            f"expectation:{self.expectation}"
        )

    def costs(self, questions: Iterable[Question]) -> Forecast:
        """What asking these will cost, before anything is asked."""
        distinct = list(dict.fromkeys(questions))
        return self._costs(distinct, self._kept(distinct))

    def _costs(self, distinct: Sequence[Question], kept: dict[Question, Answer]) -> Forecast:
        missing = [question for question in distinct if question not in kept]
        return Forecast(
            len(missing),
            len(kept),
            sum(_tokens(q.prompt) for q in missing),
            sum(_most_tokens(q.targets) for q in missing),
        )

    def answers(
        self, questions: Iterable[Question], progress: Progress | None = None
    ) -> dict[Question, Answer]:
        """The answer to every question; those that are kept cost nothing."""
        distinct = list(dict.fromkeys(questions))
        known = self._kept(distinct)
        costs = self._costs(distinct, known)
        if not costs.requests:
            return known
        self._check_budget(costs)
        JOURNAL.log(NOTICE, "judge %s: %s", model_name(self.model), costs.said)
        missing = [question for question in distinct if question not in known]
        plain = not self.schema or any(each.plain for each in known.values())
        meter = _Meter(plain, self.max_requests, self.max_tokens)
        pool = ThreadPoolExecutor(min(self.concurrency, len(missing)))
        asked = {pool.submit(self._ask_and_keep, question, meter): question for question in missing}
        unread = done = 0
        try:
            for done, future in enumerate(as_completed(asked), 1):
                answer = future.result()
                if answer is None:  # another has failed, and comes
                    continue
                known[asked[future]] = answer
                unread += answer.scores is None
                if progress is not None:
                    progress(done, len(missing))
                if done >= FIRST_LOOK and unread > HOPELESS * done:
                    raise InputError(
                        f"{unread} of the first {done} answers cannot be read",
                        remedy="take another model, or leave schema on",
                    )
        except BaseException as error:
            self.server.stopped.set()
            pool.shutdown(cancel_futures=True)  # what is under way is paid for, and kept
            if isinstance(error, InputError) and not isinstance(error, ServerRefusal):
                kept = self._costs(distinct, self._kept(distinct)).kept
                raise InputError(
                    f"{error.problem} ({kept} of {len(distinct)} answers are kept)",
                    remedy=error.remedy,
                ) from None
            raise
        pool.shutdown()
        return known

    def _check_budget(self, costs: Forecast) -> None:
        """Refuse before the first request what would cost more than it may."""
        tokens = costs.prompt_tokens + costs.completion_tokens
        for what, needed, most in (
            ("max_requests", costs.requests, self.max_requests),
            ("max_tokens", tokens, self.max_tokens),
        ):
            if most and needed > most:
                raise InputError(
                    f"judge: {costs.said}: more than {what}={most}",
                    remedy=f"allow more, take fewer sentences or systems, or leave out {what}",
                )

    def _ask_and_keep(self, question: Question, meter: _Meter) -> Answer | None:
        """Ask, and keep the answer; not once anything has failed."""
        if self.server.stopped.is_set():
            return None
        try:
            answer = self._ask(question, meter)
        except BaseException as error:
            self.server.stopped.set()
            if isinstance(error, ServerRefusal):
                error.question = question
            raise
        data = {
            "text": answer.text,
            "model": answer.model,
            "scores": answer.scores,
            "requests": answer.requests,
            "tokens": [answer.prompt_tokens, answer.completion_tokens],
            "plain": answer.plain,
            "file": signature_id(self.model),
        }
        self.cache.put(self.revision, {_key(question): json.dumps(data).encode()})
        return answer

    def _ask(self, question: Question, meter: _Meter) -> Answer:
        """Ask, and once more where the answer cannot be read; then it stays unread."""
        messages = [{"role": "user", "content": question.prompt}]
        replies: list[Reply] = []
        scores, plain = None, False
        while scores is None and len(replies) < 2:
            if replies:
                messages.append({"role": "assistant", "content": replies[0].text or "(nothing)"})
                repair = self.prompt.repairing(question.targets)
                messages.append({"role": "user", "content": repair})
            reply, plain = self._reply(messages, question, meter)
            replies.append(reply)
            scores = self._read(reply, question.targets)
        return Answer(
            replies[-1].text,
            model_name(replies[-1].model),
            scores,
            len(replies),
            sum(reply.prompt_tokens for reply in replies),
            sum(reply.completion_tokens for reply in replies),
            plain,
        )

    def _reply(
        self, messages: list[dict[str, str]], question: Question, meter: _Meter
    ) -> tuple[Reply, bool]:
        """A reply, and whether it was asked for without a schema."""
        plain = meter.plain
        body = self._body(messages, question, plain)
        needed = sum(_tokens(each["content"]) for each in messages) + body["max_tokens"]
        meter.reserve(needed)
        try:
            reply = self.server.ask(body, meter.count_request)
        except ServerRefusal as refusal:
            if plain or refusal.status not in UNKNOWN_FIELD:
                raise
            # Perhaps it is the schema; if not, the server says the same again.
            del body["response_format"]
            reply = self.server.ask(body, meter.count_request)
            plain = meter.plain = True
        meter.settle(needed, reply.prompt_tokens + reply.completion_tokens)
        return reply, plain

    def _body(
        self, messages: list[dict[str, str]], question: Question, plain: bool
    ) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self.model,
            "messages": messages,
            "temperature": 0,
            "seed": question.seed,
            "max_tokens": _most_tokens(question.targets),
        }
        if self.expectation:
            body |= {"logprobs": True, "top_logprobs": 5}
        if not plain:
            body["response_format"] = answer_schema(question.targets)
        return body

    def _read(self, reply: Reply, targets: int) -> tuple[float, ...] | None:
        if not self.expectation:
            return parse_scores(reply.text, targets)
        if reply.text and not reply.tokens:
            raise InputError(
                f"the server at {self.server.host} gives no log-probabilities",
                remedy="leave out expectation",
            )
        return expected_scores(reply.tokens, targets)

    def _kept(self, questions: Sequence[Question]) -> dict[Question, Answer]:
        """The answers that are kept; what others wrote into the file is not one."""
        keys = {_key(question): question for question in questions}
        found = self.cache.get(self.revision, keys)
        kept = {keys[key]: self._loaded(data, keys[key]) for key, data in found.items()}
        return {question: answer for question, answer in kept.items() if answer is not None}

    def _loaded(self, data: bytes, question: Question) -> Answer | None:
        try:
            said = json.loads(data)
            if model_name(self.model) != self.model and said["file"] != signature_id(self.model):
                return None  # of another file of the same name
            scores = said["scores"]
            if scores is not None:
                scores = tuple(float(score) for score in scores)
                right = all(LOWEST_SCORE <= score <= TOP_SCORE for score in scores)
                if len(scores) != question.targets or not right:
                    return None
            return Answer(
                str(said["text"]),
                str(said["model"]),
                scores,
                int(said["requests"]),
                int(said["tokens"][0]),
                int(said["tokens"][1]),
                bool(said["plain"]),
            )
        except (ValueError, LookupError, TypeError, RecursionError):
            return None


def _tokens(prompt: str) -> int:
    return 10 + round(len(prompt.encode("utf-8", "replace")) / BYTES_A_TOKEN)


def _most_tokens(targets: int) -> int:
    return 16 + 12 * targets


def _key(question: Question) -> str:
    return json.dumps(question)
