"""ERRANT in worker processes, cached.

ERRANT (Bryant, Felice & Briscoe 2017) aligns with a spaCy parse, merges by rules and names error
types by rules, for English. Edits and kinds are kept on disk under the versions of ERRANT and
spaCy and a digest of the pipeline's files, so a second run extracts only new pairs. Sentences
are kept as digests, and corrections as positions in the target: no word can be read there.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, entry_points
from importlib.metadata import version as installed
from importlib.util import find_spec
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from errata.core.cache import BlobCache, cache_folder, folder_digest
from errata.core.errors import InputError, MissingExtraError, install_extra
from errata.core.parallel import chunks
from errata.core.stats import Progress
from errata.data import Edit, apply_edits
from errata.io.files import read_lines

# ---- ERRANT itself, loaded with a spaCy pipeline, and the process that runs it beside this one.

DEFAULT_PIPELINE = "en_core_web_sm"  # the one errant.load("en") loads
Batch = list[list[Any]]  # source and target; source, target and spans where kinds are asked for


def check_installed(pipeline: str) -> None:
    """Refuse to go on without ERRANT and spaCy."""
    try:
        installed("errant")
        installed("spacy")
    except PackageNotFoundError:
        raise MissingExtraError("ERRANT", _install_remedy(pipeline)) from None


def _install_remedy(pipeline: str) -> str:
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
            raise MissingExtraError(
                f"the spaCy pipeline {name}", _install_remedy(pipeline)
            ) from None
        said = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise InputError(
            f"{name} cannot be loaded as a spaCy pipeline for English: {said}",
            remedy="name a pipeline such as en_core_web_sm, or its folder",
        ) from None


def work(pipeline: str, job: Batch) -> list[Any]:
    """The answers to one job: for each pair its edits as lists, or the kinds of its spans."""
    errant = annotator(pipeline)
    try:
        return _annotate_batch(errant, job)
    except Exception as error:  # a pipeline without what ERRANT's rules ask for
        raise InputError(
            f"ERRANT fails with the spaCy pipeline {pipeline or DEFAULT_PIPELINE}: {error!r}",
            remedy="use one for English with tagger, parser and lemmatizer",
        ) from error


def _annotate_batch(errant: Any, job: Batch) -> list[Any]:
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


class AnnotatorProcess:
    """A process of its own that answers jobs, one after the other."""

    def __init__(self, pipeline: str) -> None:
        # The same modules can be imported there, whatever was done to the path here.
        path = os.pathsep.join(entry or os.curdir for entry in sys.path)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "errata.edits.errant", pipeline],
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


# The pipelines looked for where none is named, ERRANT's own first.
PIPELINES = (DEFAULT_PIPELINE, "en_core_web_md", "en_core_web_lg", "en_core_web_trf")
BATCH = 128  # pairs a process works on at a time
WORTH = 4  # batches that make more processes worth it: a pipeline takes two seconds to load
Pair = tuple[str, str]


def open_extractor() -> str | None:
    """The extractor that runs ERRANT here; none without the package or an English pipeline.

    Nothing is imported: it costs a look at the folders of modules.
    """
    if find_spec("errant") is None or find_spec("spacy") is None:
        return None
    pipeline = next((name for name in PIPELINES if find_spec(name) is not None), None)
    if pipeline is None:  # the same models are uploaded to package indices under other names
        known = sorted(each.name for each in entry_points(group="spacy_models"))
        pipeline = next((name for name in known if name.startswith("en_")), None)
    if pipeline is None or pipeline == DEFAULT_PIPELINE:
        return pipeline and "errant"
    return f"errant:{pipeline}"


def annotate(
    pairs: Sequence[Pair],
    pipeline: str = "",
    progress: Progress | None = None,
    processes: int | None = None,
    batch: int = BATCH,
) -> list[tuple[Edit, ...]]:
    """ERRANT's edits (default alignment and merging) for (source, correction) pairs."""
    jobs = [[_single_spaces(text) for text in pair] for pair in pairs]
    answers = _answers("errant edit spans", jobs, _edits, pipeline, progress, processes, batch)
    return [_edits(answer, job) or () for answer, job in zip(answers, jobs, strict=True)]


def classify(
    sources: Sequence[str], edits: Sequence[tuple[Edit, ...]], pipeline: str = ""
) -> list[str]:
    """ERRANT's type for each edit as it stands (not minimised), sentence by sentence."""
    jobs: Batch = []
    for source, several in zip(map(_single_spaces, sources), edits, strict=True):
        target, spans, shift = " ".join(apply_edits(source.split(), several)), [], 0
        for edit in several:
            start, width = edit.start + shift, len(edit.replacement.split())
            spans.append([edit.start, edit.end, start, start + width])
            shift += width - (edit.end - edit.start)
        jobs.append([source, target, spans])
    answers = _answers("errant kinds", jobs, _kinds, pipeline)
    return [kind for answer in answers for kind in answer]


def _answers(
    what: str,
    jobs: Batch,
    check: Callable[[Any, list[Any]], object],
    pipeline: str,
    progress: Progress | None = None,
    processes: int | None = None,
    batch: int = BATCH,
) -> list[Any]:
    """What ERRANT says to each job, from disk or new; ``check`` gives None for no answer."""
    revision = f"{what} {version(pipeline)}"
    cache = BlobCache(cache_folder() / "edits.sqlite3")
    # Within a source jobs stand together, so that it is parsed in one batch.
    keyed = {json.dumps(job): job for job in sorted(jobs)}
    known: dict[str, Any] = {}
    for key, stored in cache.get(revision, keyed).items():
        answer = _read_row(stored)
        if check(answer, keyed[key]) is not None:
            known[key] = answer
    missing = [key for key in keyed if key not in known]
    batches = [missing[part] for part in chunks(len(missing), batch)]
    done = 0
    with _workers(pipeline, len(batches), processes) as run:
        for several, answers in zip(
            batches, run([[keyed[key] for key in several] for several in batches]), strict=True
        ):
            fresh = dict(zip(several, answers, strict=True))
            cache.store(
                revision, {key: json.dumps(answer).encode() for key, answer in fresh.items()}
            )
            known.update(fresh)
            done += len(several)
            if progress is not None:
                progress(done, len(missing))
    return [known[json.dumps(job)] for job in jobs]


@contextmanager
def _workers(
    pipeline: str, batches: int, processes: int | None
) -> Iterator[Callable[[Iterable[Batch]], Iterator[list[Any]]]]:
    """What answers batches: processes beside this one, or this one where they would not pay."""
    count = processes or os.cpu_count() or 1
    if count == 1 or batches <= WORTH or not sys.executable:
        yield lambda jobs: (work(pipeline, job) for job in jobs)
        return
    workers = [AnnotatorProcess(pipeline) for _ in range(count)]
    free: SimpleQueue[AnnotatorProcess] = SimpleQueue()
    for worker in workers:
        free.put(worker)

    def answer(job: Batch) -> list[Any] | None:
        mine = free.get()
        try:
            return mine.work(job)
        finally:
            free.put(mine)

    pool = ThreadPoolExecutor(count)

    def run(jobs: Iterable[Batch]) -> Iterator[list[Any]]:
        listed = list(jobs)
        for job, answers in zip(listed, pool.map(answer, listed), strict=True):
            # A process that was ended from outside leaves its work to this one.
            yield work(pipeline, job) if answers is None else answers

    try:
        yield run
    finally:
        for worker in workers:
            worker.stop()
        pool.shutdown(cancel_futures=True)


@lru_cache(maxsize=8)
def version(pipeline: str = "") -> str:
    """ERRANT, spaCy and pipeline with their versions, and what the pipeline's files contain.

    >>> version()  # doctest: +SKIP
    'errant:3.0.2,spacy:3.8.7,core_web_sm:3.8.0@5f1d0e2a'
    """
    check_installed(pipeline)
    folder = _pipeline_folder(pipeline or DEFAULT_PIPELINE)
    meta = _pipeline_meta(folder) if folder is not None else {}
    if not meta:
        nlp = annotator(pipeline).nlp
        folder, meta = Path(nlp.path), nlp.meta
    # Every pipeline of one's own is called "pipeline 0.0.0": its name says nothing.
    assert folder is not None
    digest = folder_digest(folder, BlobCache(cache_folder() / "edits.sqlite3"))[:8]
    return (
        f"errant:{installed('errant')},spacy:{installed('spacy')},"
        f"{meta['name']}:{meta['version']}@{digest}"
    )


def _pipeline_folder(pipeline: str) -> Path | None:
    """Where the files of a pipeline are, unless only spaCy knows."""
    if os.sep in pipeline:
        return Path(pipeline)
    found = find_spec(pipeline) if pipeline.isidentifier() else None
    return Path(found.origin).parent if found is not None and found.origin else None


def _pipeline_meta(folder: Path) -> dict[str, Any]:
    """What a pipeline says of itself, read from its file: loading spaCy takes seconds.

    Empty where there is no such file; then the pipeline must be loaded to know.
    """
    try:
        meta = json.loads("\n".join(read_lines(folder / "meta.json")[0]))
    except (InputError, ValueError):
        return {}
    return meta if isinstance(meta, dict) and {"name", "version"} <= meta.keys() else {}


def _single_spaces(text: str) -> str:
    return " ".join(text.split())


def _read_row(stored: object) -> Any:
    try:
        return json.loads(stored) if isinstance(stored, bytes) else None
    except ValueError:
        return None


def _edits(answer: Any, job: list[Any]) -> tuple[Edit, ...] | None:
    """The edits of an answer, with the words of the target; None where it is none."""
    words = job[1].split()
    try:
        spans = [(int(a), int(b), int(c), int(d), str(kind)) for a, b, c, d, kind in answer]
        if not all(0 <= c <= d <= len(words) for _, _, c, d, _ in spans):
            return None
        return tuple(Edit(a, b, " ".join(words[c:d]), kind) for a, b, c, d, kind in spans)
    except (TypeError, ValueError, InputError):
        return None


def _kinds(answer: Any, job: list[Any]) -> list[str] | None:
    good = isinstance(answer, list) and all(isinstance(kind, str) for kind in answer)
    return answer if good and len(answer) == len(job[2]) else None
