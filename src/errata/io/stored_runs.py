"""Store what a system put out and scored on a day in a small JSON file.

A run holds the sentences that the system changed, so that a later run is compared with it sentence
by sentence, in paired tests. Gates, trends of reports and leaderboards keep such files.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from errata import __version__
from errata.core.errors import InputError
from errata.data import Corpus, Edit, Hypotheses, Scores
from errata.io.atomic import overwrite_input, write_bytes
from errata.io.files import PathLike, shown_name
from errata.io.records import Count, RecordReader, parse_integer, read_json

VERSION = 1
KIND = "errata run"


class RunFigure(NamedTuple):
    """A score of a run; without an interval, its bounds are None."""

    label: str
    headline: str
    signature: str
    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class StoredRun:
    """One system on one corpus on one day.

    ``corpus`` are digests by name (`corpus_digests`); ``changed`` the sentences that differ from
    their sources, from 0; ``edits`` those of the output, where it came as M2.
    """

    system: str
    when: str
    sentences: int
    corpus: Mapping[str, str]
    figures: tuple[RunFigure, ...]
    changed: Mapping[int, str]
    edits: Mapping[int, tuple[Edit, ...]] | None = None
    remark: str = ""
    errata: str = __version__
    path: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        for name in ("corpus", "changed", *(["edits"] if self.edits is not None else [])):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def output(self, corpus: Corpus, *, name: str | None = None) -> Hypotheses:
        """The output of that day; refused where the sources are not the same any more.

        >>> corpus = Corpus.from_texts(["He go home", "Fine ."], [["He goes home", "Fine ."]])
        >>> out = Hypotheses("ours", ("He goes home", "Fine ."))
        >>> run = make_run(corpus, out, (), when="2026-01-01T00:00:00Z")
        >>> dict(run.changed), run.output(corpus) == out
        ({0: 'He goes home'}, True)
        """
        self.check_corpus(corpus, "sources")
        texts = list(corpus.sources)
        for i, text in self.changed.items():
            texts[i] = text
        edits = self.edits
        found = None if edits is None else tuple(edits.get(i, ()) for i in range(self.sentences))
        return Hypotheses(name or self.system, tuple(texts), found)

    def check_corpus(self, corpus: Corpus, *what: str) -> None:
        """Refuse another corpus than that of the run: ``sources``, ``references``, ``tokens``."""
        now = corpus_digests(corpus)
        for name in what or tuple(now):
            if self.corpus.get(name) != now[name]:
                problem = f"the run was made with other {name} than those given"
                remedy = "give the files it was made with, or store it again (--update-baseline)"
                raise InputError(problem, path=self.path or None, remedy=remedy)


def corpus_digests(corpus: Corpus) -> dict[str, str]:
    """Return the digests of sources and references, and the tokeniser, that identify a corpus."""
    sources = "\n".join(corpus.sources)
    references = repr(tuple(corpus.references)) if any(corpus.references) else ""
    return {
        "sources": _digest_text(sources),
        "references": _digest_text(references),
        "tokens": corpus.tokens,
    }


def _digest_text(text: str) -> str:
    return "sha256:" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def utc_time() -> str:
    """Return the time as runs write it: now, or what ``SOURCE_DATE_EPOCH`` says it is."""
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    seconds = float(given) if given.isdigit() else time.time()
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def make_run(
    corpus: Corpus,
    hypotheses: Hypotheses,
    results: Sequence[Scores],
    *,
    confidence: float = 0.95,
    when: str | None = None,
    remark: str = "",
) -> StoredRun:
    """The run of a system: its output beside its sources, and its scores by each metric."""
    pairs = zip(corpus.sources, hypotheses.sentences, strict=True)
    figures = []
    for scores in results:
        s = scores.systems.index(hypotheses.system)
        bounds = (_nan_to_none(bound) for bound in scores.interval(confidence)[s])
        value = _nan_to_none(scores.values[s])
        figures.append(RunFigure(scores.label, scores.headline, scores.signature, value, *bounds))
    edits = None
    if hypotheses.edits is not None:
        edits = {i: found for i, found in enumerate(hypotheses.edits) if found}
    when = when or utc_time()
    changed = {i: output for i, (source, output) in enumerate(pairs) if source != output}
    about = len(corpus), corpus_digests(corpus)
    return StoredRun(hypotheses.system, when, *about, tuple(figures), changed, edits, remark)


def _nan_to_none(value: float) -> float | None:
    return None if value != value else float(value)


def write_run(path: PathLike, run: StoredRun, *, renew: bool = False) -> None:
    """Write a run, a line per figure and changed sentence; ``renew`` overwrites the run read."""
    plain = ("system", "when", "errata", "remark", "sentences")
    data: dict[str, Any] = {
        KIND: VERSION,
        **{key: getattr(run, key) for key in plain},
        "corpus": dict(run.corpus),
        "figures": [figure._asdict() for figure in run.figures],
        "changed": {str(i + 1): text for i, text in run.changed.items()},
    }
    if run.edits is not None:
        data["edits"] = {
            str(i + 1): [[e.start, e.end, e.replacement, e.kind] for e in edits]
            for i, edits in run.edits.items()
        }
    lines = []
    for key, value in data.items():
        shown = _to_json(value)
        if key in ("figures", "changed", "edits") and value:
            items: Iterable[str] = map(_to_json, value)
            if isinstance(value, dict):
                items = (f"{_to_json(number)}: {_to_json(each)}" for number, each in value.items())
            shown = f"{shown[0]}\n  " + ",\n  ".join(items) + f"\n {shown[-1]}"
        lines.append(f"{_to_json(key)}: {shown}")
    data_bytes = ("{\n " + ",\n ".join(lines) + "\n}\n").encode("utf-8")
    (overwrite_input if renew else write_bytes)(data_bytes, path)


def _to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True)
class _RunFile:
    """A stored run as JSON has it: sentences are counted from 1."""

    system: str
    when: str
    errata: str
    remark: str
    sentences: Count
    corpus: Mapping[str, str]
    figures: tuple[RunFigure, ...]
    changed: Mapping[str, str]
    edits: Mapping[str, tuple[tuple[int, int, str, str], ...]] | None = None


def read_run(path: PathLike) -> StoredRun:
    """Read a stored run."""
    remedy = "errata compare --update-baseline FILE writes a run"
    reader = RecordReader(shown_name(path), remedy=remedy)
    data = read_json(path, "not a stored run", remedy)
    if not isinstance(data, dict) or data.get(KIND) != VERSION:
        raise reader.error(f'not a stored run: it has no "{KIND}": {VERSION}')
    file = reader.decode(_RunFile, {k: v for k, v in data.items() if k != KIND})

    def sentence_index(key: str, number: str) -> int:
        i = parse_integer(number, 1)
        if i is None or i > file.sentences:
            raise reader.error(f"there is no sentence {number[:20]!r} of {file.sentences}", key)
        return i - 1

    edits = None
    if file.edits is not None:
        try:
            edits = {
                sentence_index("edits", number): tuple(Edit(*each) for each in found)
                for number, found in file.edits.items()
            }
        except InputError as error:
            raise reader.error(error.problem) from None
    plain = ("system", "when", "sentences", "corpus", "figures", "remark", "errata")
    return StoredRun(
        **{key: getattr(file, key) for key in plain},
        changed={sentence_index("changed", number): text for number, text in file.changed.items()},
        edits=edits,
        path=reader.path,
    )


def read_runs(folder: PathLike) -> tuple[StoredRun, ...]:
    """All runs of a folder (``*.json``), the oldest first."""
    found = sorted(Path(os.fspath(folder)).glob("*.json"))
    if not found:
        problem = "there is no stored run here (*.json)"
        remedy = "errata compare --update-baseline FOLDER/NAME.json stores one"
        raise InputError(problem, path=shown_name(folder), remedy=remedy)
    return tuple(sorted((read_run(path) for path in found), key=lambda run: (run.when, run.path)))
