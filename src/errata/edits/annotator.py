"""ERRANT itself, loaded with a spaCy pipeline, and the process that runs it beside this one.

``python -m errata.edits.annotator PIPELINE`` answers lines of JSON on standard input: a list of
pairs with one of edits, or, where a pair comes with spans, of kinds. A process that is started
and not forked takes no locks of other threads along, so it may be started from any of them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from functools import lru_cache
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed
from typing import Any

from errata.errors import InputError, MissingExtraError, install_extra

__all__ = ["DEFAULT_PIPELINE", "Annotating", "annotator", "check_installed", "work"]

DEFAULT_PIPELINE = "en_core_web_sm"  # the one errant.load("en") loads
Batch = list[list[Any]]  # source and target; source, target and spans where kinds are asked for


def check_installed(pipeline: str) -> None:
    """Refuse to go on without ERRANT and spaCy."""
    try:
        installed("errant")
        installed("spacy")
    except PackageNotFoundError:
        raise MissingExtraError("ERRANT", _remedy(pipeline)) from None


def _remedy(pipeline: str) -> str:
    return f"{install_extra('errant')} && python -m spacy download {pipeline or DEFAULT_PIPELINE}"


@lru_cache(maxsize=2)
def annotator(pipeline: str) -> Any:
    """ERRANT with this pipeline; loading takes seconds."""
    check_installed(pipeline)
    import errant
    import spacy

    name = pipeline or DEFAULT_PIPELINE
    try:
        return errant.load("en", spacy.load(name, disable=["ner"]))
    except Exception as error:  # whatever a folder or module that is no pipeline makes of it
        if isinstance(error, OSError) and os.sep not in name:
            raise MissingExtraError(f"the spaCy pipeline {name}", _remedy(pipeline)) from None
        said = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise InputError(
            f"{name} cannot be loaded as a spaCy pipeline for English: {said}",
            remedy="name a pipeline such as en_core_web_sm, or its folder",
        ) from None


def work(pipeline: str, job: Batch) -> list[Any]:
    """The answers to one job: for each pair its edits as lists, or the kinds of its spans."""
    errant = annotator(pipeline)
    try:
        return _answers(errant, job)
    except Exception as error:  # a pipeline without what ERRANT's rules ask for
        raise InputError(
            f"ERRANT fails with the spaCy pipeline {pipeline or DEFAULT_PIPELINE}: {error!r}",
            remedy="use one for English with tagger, parser and lemmatizer",
        ) from error


def _answers(errant: Any, job: Batch) -> list[Any]:
    from spacy.tokens import Doc

    sentences = sorted({text for pair in job for text in pair[:2]})
    parsed = errant.nlp.pipe(Doc(errant.nlp.vocab, sentence.split()) for sentence in sentences)
    docs = dict(zip(sentences, parsed, strict=True))
    answers: list[Any] = []
    for source, target, *spans in job:
        orig, cor = docs[source], docs[target]
        if spans:
            edits = [errant.import_edit(orig, cor, list(span), min=False) for span in spans[0]]
            answers.append([str(edit.type) for edit in edits])
            continue
        edits = [] if orig.text.strip() == cor.text.strip() else errant.annotate(orig, cor)
        answers.append([[e.o_start, e.o_end, e.c_start, e.c_end, str(e.type)] for e in edits])
    return answers


class Annotating:
    """A process of its own that answers jobs, one after the other."""

    def __init__(self, pipeline: str) -> None:
        # The same modules can be imported there, whatever was done to the path here.
        path = os.pathsep.join(entry or os.curdir for entry in sys.path)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "errata.edits.annotator", pipeline],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path, "PYTHONIOENCODING": "utf-8:surrogatepass"},
        )

    def work(self, job: Batch) -> list[Any] | None:
        """The answers, or nothing where the process has ended or failed."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(job).encode() + b"\n")
            self._process.stdin.flush()
            answers = json.loads(self._process.stdout.readline())
        except (OSError, ValueError):
            return None
        return answers if isinstance(answers, list) and len(answers) == len(job) else None

    def stop(self) -> None:
        """End the process, at work or not."""
        self._process.kill()
        self._process.communicate()


def _serve(pipeline: str, jobs: Sequence[bytes] | Any) -> None:
    # Whatever libraries print must not get between the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    for line in jobs:
        answers.write(json.dumps(work(pipeline, json.loads(line))).encode() + b"\n")
        answers.flush()


if __name__ == "__main__":
    _serve(sys.argv[1], sys.stdin.buffer)
