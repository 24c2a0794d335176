"""Rankings as Appraise exports them: XML with one ``ranking-item`` per ranked sentence.

The systems of one output are in one attribute, separated by blanks (Grundkiewicz et al. 2015,
SEEDA) or by commas (Napoles et al. 2015). The sentence is ``src-id``, or ``id`` where there is no
``src-id``. Items marked ``skipped`` are judgments without ranks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from xml.sax.saxutils import quoteattr

from errata.core.errors import InputError
from errata.data import Judgment
from errata.io.judgments.checks import DuplicateFilter, UnknownValues, is_duration
from errata.io.records import XmlParser, parse_integer

Attributes = dict[str, str]
# What the exports hold; the texts of source, reference and translations are not needed.
_CONTAINERS = ("appraise-results", "ranking-item")
_ELEMENTS = ("appraise-results", "source", "reference", "context")
_RESULT = re.compile(r"([a-z]+-)*ranking-result")
_ATTRIBUTES = {
    "ranking-item": {"doc-id", "id", "src-id", "user", "duration", "time", "skipped"},
    "translation": {"rank", "system"},
}
_YES, _NO = ("true", "1", "yes"), ("false", "0", "no", "")
_DURATION = re.compile(r"(?:(\d+):)?(\d+):(\d+(?:\.\d+)?)|(\d+(?:\.\d+)?)")


def parse_appraise(
    lines: Iterable[str], name: str, *, base: int = 0, repeats: DuplicateFilter | None = None
) -> Iterator[Judgment]:
    """Read rankings from the lines of an Appraise file; ``base`` is the first sentence's number."""
    parser = _Parser(name, base, repeats or DuplicateFilter())
    for line in lines:
        yield from parser.feed(line, last=False)
    yield from parser.feed("", last=True)
    parser.repeats.report_repeats()
    parser.unread.warn()
    if not parser.items:
        remedy = "is this an Appraise ranking export?"
        raise InputError("there is no <ranking-item>", path=name, remedy=remedy)


class _Parser:
    """Collects the translations of an item until its end."""

    def __init__(self, name: str, base: int, repeats: DuplicateFilter) -> None:
        self.name, self.base = name, base
        self.items = 0
        self.repeats = repeats
        repeats.start_file(name)
        self.unread = UnknownValues(name)
        self._done: list[Judgment] = []
        self._item: Attributes | None = None
        self._line = 0
        self._translations: list[tuple[int, Attributes]] = []
        self._open: list[str] = []
        self._xml = XmlParser(
            name, start=self._on_start, end=self._on_end, characters=self._on_text
        )

    def feed(self, text: str, *, last: bool) -> list[Judgment]:
        self._xml.feed(text, last=last)
        done, self._done = self._done, []
        return done

    def _on_text(self, text: str) -> None:
        """Texts belong to translations, sources and the like; elsewhere they are not read."""
        inside = self._open[-1]
        if text.strip() and (inside in _CONTAINERS or _RESULT.fullmatch(inside)):
            self.unread.record_unread("text", " ".join(text.split()), (), self._xml.line)

    def _on_start(self, tag: str, attributes: Attributes) -> None:
        line = self._xml.line
        self._open.append(tag)
        if tag == "ranking-item":
            if self._item is not None:
                raise self._error("a <ranking-item> inside another")
            self._item, self._line = attributes, line
            self._translations = []
        elif tag == "translation":
            if self._item is None:
                problem = "a <translation> outside a <ranking-item>"
                remedy = "put it into the item it belongs to"
                raise InputError(problem, path=self.name, line=line, remedy=remedy)
            self._translations.append((line, attributes))
        elif tag not in _ELEMENTS and not _RESULT.fullmatch(tag):
            self.unread.record_unread("element", tag, ("ranking-item", "translation"), line)
        for key in attributes.keys() - _ATTRIBUTES.get(tag, attributes.keys()):
            self.unread.record_unread("attribute", key, _ATTRIBUTES[tag], line)

    def _on_end(self, tag: str) -> None:
        self._open.pop()
        if tag == "ranking-item" and self._item is not None:
            self.items += 1
            judgment = self._make_judgment(self._item)
            if self.repeats.is_new(judgment, self._line):
                self._done.append(judgment)
            self._item = None

    def _error(
        self, problem: str, line: int | None = None, remedy: str | None = None
    ) -> InputError:
        item = self._item or {}
        keys = ("doc-id", "id", "src-id", "user")
        known = " ".join(f"{key}={item[key]!r}" for key in keys if key in item)
        problem = f"ranking item {known or self.items + 1}: {problem}"
        return InputError(problem, path=self.name, line=line or self._line, remedy=remedy)

    def _make_judgment(self, item: Attributes) -> Judgment:
        mark = item.get("skipped", "false")
        if mark.lower() not in (*_YES, *_NO):
            raise self._error(f"skipped={mark!r}", remedy='write "true" or "false"')
        skipped = mark.lower() in _YES
        groups, ranks = [], []
        for line, attributes in self._translations:
            if skipped and attributes.get("rank"):
                remedy = "leave out the ranks, or skipped"
                raise self._error("skipped, and yet ranked", line, remedy)
            groups.append(self._system_names(attributes, line))
            ranks.append(None if skipped else self._read_rank(attributes, line))
        if not groups and not skipped:
            remedy = 'mark it with skipped="true" or give its translations'
            raise self._error("no translation, and not marked as skipped", remedy=remedy)
        judge = item.get("user")
        if judge is None:
            raise self._error("no user", remedy='name the judge with user="..."')
        try:
            sentence, seconds = (
                self._sentence_number(item),
                self._read_seconds(item.get("duration")),
            )
            said = tuple(groups), tuple(ranks)
            # ``doc-id/id``; where ``id`` is the sentence (no src-id), an item has no name.
            keys = ("doc-id", "id") if "src-id" in item else ()
            name = "/".join(item[key] for key in keys if key in item)
            return Judgment(judge, sentence, *said, name, seconds, item.get("time"))
        except InputError as error:
            if error.path is not None:
                raise
            raise self._error(error.problem, remedy=error.remedy) from None

    def _system_names(self, attributes: Attributes, line: int) -> tuple[str, ...]:
        text = attributes.get("system", "")
        names = text.split(",") if "," in text else text.split()
        names = [name.strip() for name in names]
        if not names or not all(names):
            problem = f"a translation without a system (system={text!r})"
            raise self._error(problem, line, "separate the systems with blanks or with commas")
        return tuple(names)

    def _read_rank(self, attributes: Attributes, line: int) -> int:
        text = attributes.get("rank", "")
        rank = parse_integer(text, 1)
        if rank is None:
            remedy = 'mark an item that was not ranked with skipped="true"'
            raise self._error(f"rank {text!r} is not a whole number from 1", line, remedy)
        return rank

    def _sentence_number(self, item: Attributes) -> int:
        text = item.get("src-id", item.get("id", ""))
        number = parse_integer(text, self.base)
        if number is None:
            problem = f"sentence number {text!r} is not a whole number from {self.base}"
            raise self._error(problem, remedy="sentences are counted from 0, or from 1 with base=1")
        return number - self.base

    def _read_seconds(self, text: str | None) -> float | None:
        if text is None:
            return None
        match = _DURATION.fullmatch(text.strip())
        if match is None:
            raise self._error(f"duration {text!r}", remedy="write it as hours:minutes:seconds")
        hours, minutes, seconds, plain = match.groups()
        if plain is None:
            whole = round(float(hours or 0) * 3600 + float(minutes) * 60 + float(seconds), 6)
        else:
            whole = float(plain)
        if not is_duration(whole):
            raise self._error(f"duration {text!r} is no time that somebody took")
        return whole


def render_appraise(judgments: Iterable[Judgment], *, base: int = 0) -> Iterator[str]:
    """The lines of an Appraise file; `parse_appraise` reads the same judgments back."""
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield "<appraise-results>"
    yield '<error-correction-ranking-result source-language="err" target-language="cor">'
    for judgment in judgments:
        doc, slash, number = judgment.item.rpartition("/")
        attributes: dict[str, str | None] = {
            "doc-id": (doc if slash else judgment.item) or None,
            "id": number if slash else None,
            "src-id": str(judgment.sentence + base),
            "user": judgment.judge,
            "duration": _format_duration(judgment.seconds),
            "time": judgment.time,
            "skipped": None if any(r is not None for r in judgment.ranks) else "true",
        }
        start = "  <ranking-item" + _attributes_text(attributes)
        if not judgment.groups:
            yield start + "/>"
            continue
        yield start + ">"
        for group, rank in zip(judgment.groups, judgment.ranks, strict=True):
            yield _translation_line(judgment, group, rank)
        yield "  </ranking-item>"
    yield "</error-correction-ranking-result>"
    yield "</appraise-results>"


def _translation_line(judgment: Judgment, group: tuple[str, ...], rank: int | None) -> str:
    if rank is None and any(other is not None for other in judgment.ranks):
        problem = f"item {judgment.item or '?'} of {judgment.judge}: Appraise XML has no place "
        problem += "for an output that was shown but not ranked"
        raise InputError(problem, remedy="write JSONL instead")
    bad = next((name for name in group if re.search(r"[\s,]", name)), None)
    if bad is not None:
        remedy = "Appraise XML separates names with them; write JSONL instead"
        raise InputError(f"the system name {bad!r} holds a blank or a comma", remedy=remedy)
    known = {"rank": None if rank is None else str(rank), "system": " ".join(group)}
    return f"    <translation{_attributes_text(known)}/>"


def _attributes_text(attributes: dict[str, str | None]) -> str:
    return "".join(
        f" {key}={quoteattr(value)}" for key, value in attributes.items() if value is not None
    )


def _format_duration(seconds: float | None) -> str | None:
    if seconds is None:
        return None
    micros = round(seconds * 1_000_000)
    whole, micro = divmod(micros, 1_000_000)
    return f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}.{micro:06d}"
