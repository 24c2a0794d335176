"""Gold edits as I-measure's own XML (Felice & Briscoe 2015), read as an M2 file is.

::

    <scripts><script id="1"><sentence id="1" numann="2">
      <text>He go home .</text>
      <error-list>
        <error id="1" req="yes" type="V">
          <alt ann="0"><c start="1" end="2">goes</c></alt>
          <alt ann="1"><c start="1" end="2">went</c></alt>
        </error>
      </error-list>
    </sentence></script></scripts>

An ``alt`` belongs to the annotator it names, or else, as the k-th of its error, to annotator k.
``numann`` counts the annotators of a sentence: those without an alternative left it unchanged.
``req`` follows from both and is not read. The converter that writes such files has tokenised the
corrections, so `IMeasure` takes them as they are.
"""

from __future__ import annotations

from itertools import chain

from errata.core.errors import InputError, warn_of_data
from errata.data import Corpus, Edit, Reference
from errata.io.m2 import M2File
from errata.io.records import XmlParser, parse_integer

MOST_ANNOTATORS = 1000
# Element -> the elements inside it.
_INSIDE = {
    "": {"scripts"},
    "scripts": {"script", "sentence"},
    "script": {"sentence"},
    "sentence": {"text", "error-list", "error"},
    "error-list": {"error"},
    "error": {"alt"},
    "alt": {"c"},
    "c": set(),
    "text": set(),
}
# Element -> its attributes.
_ATTRIBUTES = {
    "script": {"id"},
    "sentence": {"id", "numann"},
    "error": {"id", "req", "type"},
    "alt": {"ann"},
    "c": {"start", "end"},
}


def parse_imeasure_xml(lines: list[str], path: str, *, name: str = "corpus") -> M2File:
    """Read the lines of an XML gold file; ``path`` is what messages call it."""
    reader = _Reader(path)
    reader.xml.feed("\n".join(lines), last=True)
    reader.unknown.warn()
    if not reader.sources:
        raise InputError("the file holds no <sentence>", path=path, remedy="fetch it again")
    corpus = Corpus(tuple(reader.sources), tuple(reader.references), name, tokenised_edits=True)
    return M2File(path, corpus, tuple(reader.lines), ())


class _Reader:
    """Collects a sentence until its end."""

    def __init__(self, path: str) -> None:
        from errata.io.judgments.checks import UnknownValues

        self.path = path
        self.unknown = UnknownValues(path)
        self.sources: list[str] = []
        self.references: list[tuple[Reference, ...]] = []
        self.lines: list[int] = []
        self._open: list[str] = []
        self._text: list[str] | None = None
        self._source: str | None = None
        self._annotators = 0
        self._alternative = 0
        self._annotator = 0
        self._span = (0, 0)
        self._kind = ""
        self._edits: dict[int, list[Edit]] = {}
        self.xml = XmlParser(path, start=self._on_start, end=self._on_end, characters=self._on_text)

    def _error(self, problem: str, remedy: str = "") -> InputError:
        return InputError(problem, path=self.path, line=self.xml.line, remedy=remedy or None)

    def _number(self, attributes: dict[str, str], key: str, default: str = "") -> int:
        text = attributes.get(key, default)
        number = parse_integer(text, 0)
        if number is None:
            raise self._error(f"{key} {text[:40]!r} is not a whole number from 0")
        return number

    def _on_start(self, tag: str, attributes: dict[str, str]) -> None:
        above = self._open[-1] if self._open else ""
        if tag not in _INSIDE.get(above, ()):
            inside = ", ".join(f"<{name}>" for name in sorted(_INSIDE[above])) or "text only"
            problem = f"<{tag[:40]}> inside {f'<{above}>' if above else 'the file'}"
            raise self._error(problem, f"expected is {inside}: is this an I-measure gold file?")
        self._open.append(tag)
        known = _ATTRIBUTES.get(tag, set())
        for word in attributes.keys() - known:
            self.unknown.record_unread("attribute", word, known, self.xml.line)
        if tag == "sentence":
            self._source, self._edits = None, {}
            self._annotators = self._number(attributes, "numann", "0")
            if self._annotators > MOST_ANNOTATORS:
                raise self._error(f"{self._annotators} annotators")
            self.lines.append(self.xml.line)
        elif tag == "error":
            self._kind, self._alternative = attributes.get("type", ""), -1
        elif tag == "alt":
            self._alternative += 1
            self._annotator = self._number(attributes, "ann", str(self._alternative))
        elif tag == "c":
            self._span = (self._number(attributes, "start"), self._number(attributes, "end"))
        self._text = [] if tag in ("c", "text") else None

    def _on_text(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)
        elif text.strip():
            raise self._error(f"text outside <text> and <c>: {text.strip()[:40]!r}")

    def _on_end(self, tag: str) -> None:
        self._open.pop()
        text = " ".join("".join(self._text or ()).split())
        self._text = None
        if tag == "text":
            if self._source is not None:
                raise self._error("a second <text> in one sentence")
            self._source = text
        elif tag == "c":
            if text == "-NONE-":
                text = ""
                warn_of_data(
                    f"{self.path}:{self.xml.line}: -NONE- is read as a deletion; "
                    "the official program inserts that word"
                )
            try:
                edit = Edit(*self._span, text, self._kind)
            except InputError as error:
                raise self._error(error.problem, error.remedy or "") from None
            self._edits.setdefault(self._annotator, []).append(edit)
        elif tag == "sentence":
            self._finish_sentence()

    def _finish_sentence(self) -> None:
        if self._source is None:
            raise self._error("a sentence without <text>")
        length = len(self._source.split())
        for edit in chain.from_iterable(self._edits.values()):
            if edit.end > length:
                problem = f"edit {edit.start}-{edit.end} is outside the sentence of {length} tokens"
                raise self._error(problem, "check offsets and tokenisation")
        numbers = sorted(self._edits)
        free = (k for k in range(len(numbers) + self._annotators) if k not in self._edits)
        numbers += [next(free) for _ in range(self._annotators - len(numbers))]
        references = tuple(
            Reference(k, tuple(sorted(self._edits.get(k, ()), key=lambda e: (e.start, e.end))))
            for k in sorted(numbers)
        )
        self.sources.append(self._source)
        self.references.append(references or (Reference(0, (), implied=True),))
