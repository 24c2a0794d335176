"""The ERRANT package behind Errata's interface: parsed once per sentence, batched, in processes.

ERRANT (Bryant, Felice & Briscoe 2017) aligns with a spaCy parse, merges by rules and names error
types by rules, for English. Parses and edits are kept on disk under the versions of ERRANT, spaCy
and the pipeline, so a second run, or one more system, parses only what is new.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from errata.cache import BlobCache, cache_folder
from errata.data import Edit, apply_edits
from errata.errors import InputError, MissingExtraError
from errata.io.files import read_lines
from errata.numbers import Progress
from errata.workers import parts

if TYPE_CHECKING:
    from spacy.tokens import Doc

__all__ = ["annotate", "classify", "version"]

DEFAULT_PIPELINE = "en_core_web_sm"  # the one errant.load("en") loads
BATCH = 128  # sentences a process works on at a time
WORTH = 4  # batches that make more processes worth it: a pipeline takes two seconds to load
Pair = tuple[str, str]
Map = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]


def annotate(
    pairs: Sequence[Pair],
    pipeline: str = "",
    progress: Progress | None = None,
    processes: int | None = None,
    batch: int = BATCH,
) -> list[tuple[Edit, ...]]:
    """ERRANT's edits (default alignment and merging) for (source, correction) pairs."""
    revision = "errant edits " + version(pipeline)
    cache = _cache()
    keys = {pair: "\n".join(" ".join(text.split()) for text in pair) for pair in pairs}
    stored = cache.get(revision, keys.values())
    missing = [pair for pair in pairs if keys[pair] not in stored]
    if missing:
        fresh: dict[str, bytes] = {}
        jobs = [missing[part] for part in parts(len(missing), batch)]
        sentences = {" ".join(text.split()) for pair in missing for text in pair}
        with _workers(len(jobs), processes) as run:
            parses = _parse(sentences, pipeline, run, batch)
            tasks = [
                (
                    pipeline,
                    [keys[pair] for pair in job],
                    _needed(parses, (keys[pair] for pair in job)),
                )
                for job in jobs
            ]
            for done, edits in enumerate(run(_annotate, tasks), 1):
                fresh.update(edits)
                if progress is not None:
                    progress(min(done * batch, len(missing)), len(missing))
        cache.put(revision, fresh)
        stored.update(fresh)
    return [_load_edits(stored[keys[pair]]) for pair in pairs]


def classify(
    sources: Sequence[str], edits: Sequence[tuple[Edit, ...]], pipeline: str = ""
) -> list[str]:
    """ERRANT's type for each edit as it stands (not minimised), sentence by sentence."""
    annotator = _annotator(pipeline)
    sentences = [" ".join(source.split()) for source in sources]
    targets = [" ".join(apply_edits(s.split(), e)) for s, e in zip(sentences, edits, strict=True)]
    with _workers(len(sources), None) as run:
        parses = _parse({*sentences, *targets}, pipeline, run)
    kinds = []
    for source, target, several in zip(sentences, targets, edits, strict=True):
        shift = 0
        orig, cor = (_doc(annotator, parses[text]) for text in (source, target))
        for edit in several:
            start, width = edit.start + shift, len(edit.replacement.split())
            span = [edit.start, edit.end, start, start + width]
            kinds.append(str(annotator.import_edit(orig, cor, span, min=False).type))
            shift += width - (edit.end - edit.start)
    return kinds


@lru_cache(maxsize=8)
def version(pipeline: str = "") -> str:
    """ERRANT, spaCy and pipeline with their versions.

    >>> version()  # doctest: +SKIP
    'errant:3.0.2,spacy:3.8.7,core_web_sm:3.8.0'
    """
    _check_installed(pipeline)
    meta = _meta(pipeline or DEFAULT_PIPELINE) or _annotator(pipeline).nlp.meta
    return (
        f"errant:{installed('errant')},spacy:{installed('spacy')},{meta['name']}:{meta['version']}"
    )


def _meta(pipeline: str) -> dict[str, Any]:
    """What a pipeline says of itself, read from its file: loading spaCy takes seconds.

    Empty where there is no such file; then the pipeline must be loaded to know.
    """
    folder = Path(pipeline)
    if os.sep not in pipeline:
        found = find_spec(pipeline) if pipeline.isidentifier() else None
        if found is None or found.origin is None:
            return {}
        folder = Path(found.origin).parent
    try:
        meta = json.loads("\n".join(read_lines(folder / "meta.json")[0]))
    except (InputError, ValueError):
        return {}
    return meta if isinstance(meta, dict) and {"name", "version"} <= meta.keys() else {}


@lru_cache(maxsize=2)
def _annotator(pipeline: str) -> Any:
    _check_installed(pipeline)
    import errant
    import spacy

    try:
        nlp = spacy.load(pipeline or DEFAULT_PIPELINE, disable=["ner"])
    except OSError as error:
        if pipeline and os.sep in pipeline:
            raise InputError(f"cannot load the spaCy pipeline: {error}", path=pipeline) from None
        raise MissingExtraError(
            f"the spaCy pipeline {pipeline or DEFAULT_PIPELINE}", _remedy(pipeline)
        ) from None
    return errant.load("en", nlp)


def _check_installed(pipeline: str) -> None:
    try:
        installed("errant")
        installed("spacy")
    except PackageNotFoundError:
        raise MissingExtraError("ERRANT", _remedy(pipeline)) from None


def _remedy(pipeline: str) -> str:
    return (
        f"pip install 'errata[errant]' && python -m spacy download {pipeline or DEFAULT_PIPELINE}"
    )


def _cache() -> BlobCache:
    return BlobCache(cache_folder() / "edits.sqlite3")


@contextmanager
def _workers(tasks: int, processes: int | None) -> Iterator[Map]:
    """A map over tasks in worker processes, or in this one where they would not pay."""
    count = processes or os.cpu_count() or 1
    if count == 1 or tasks <= WORTH:
        yield map
        return
    pool = ProcessPoolExecutor(count)
    try:
        yield pool.map
    finally:
        pool.shutdown(cancel_futures=True)


def _parse(
    sentences: Iterable[str], pipeline: str, run: Map, batch: int = BATCH
) -> dict[str, bytes]:
    """The spaCy parse of each sentence, from disk or new."""
    revision = "spacy parses " + version(pipeline)
    cache = _cache()
    wanted = sorted(sentences)
    parses = cache.get(revision, wanted)
    missing = [sentence for sentence in wanted if sentence not in parses]
    tasks = [(pipeline, missing[part]) for part in parts(len(missing), batch)]
    for fresh in run(_parse_batch, tasks):
        cache.put(revision, fresh)
        parses.update(fresh)
    return parses


def _parse_batch(task: tuple[str, list[str]]) -> dict[str, bytes]:
    from spacy.tokens import Doc

    pipeline, sentences = task
    nlp = _annotator(pipeline).nlp
    docs = nlp.pipe(Doc(nlp.vocab, sentence.split()) for sentence in sentences)
    return {
        sentence: zlib.compress(doc.to_bytes(exclude=["tensor", "user_data"]), 1)
        for sentence, doc in zip(sentences, docs, strict=True)
    }


def _doc(annotator: Any, parse: bytes) -> Doc:
    from spacy.tokens import Doc

    return Doc(annotator.nlp.vocab).from_bytes(zlib.decompress(parse))


def _needed(parses: dict[str, bytes], keys: Iterable[str]) -> dict[str, bytes]:
    return {text: parses[text] for key in keys for text in key.split("\n")}


def _annotate(task: tuple[str, list[str], dict[str, bytes]]) -> dict[str, bytes]:
    pipeline, keys, parses = task
    annotator = _annotator(pipeline)
    docs = {text: _doc(annotator, parse) for text, parse in parses.items()}
    found = {}
    for key in keys:
        orig, cor = (docs[text] for text in key.split("\n"))
        edits = [] if orig.text.strip() == cor.text.strip() else annotator.annotate(orig, cor)
        found[key] = json.dumps(
            [[e.o_start, e.o_end, " ".join(t.text for t in e.c_toks), e.type] for e in edits],
            ensure_ascii=False,
        ).encode()
    return found


def _load_edits(data: bytes) -> tuple[Edit, ...]:
    return tuple(
        Edit(start, end, replacement, kind) for start, end, replacement, kind in json.loads(data)
    )
