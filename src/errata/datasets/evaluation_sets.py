"""Corpora with the outputs of systems on them: a folder, public data by name, or a list in TOML.

A folder has ``gold.m2``, or ``source.txt`` and reference texts (``refs/*``, or ``ref*.txt`` beside
it), and a folder ``outputs``. A TOML file has a table for each corpus (`docs/corpora.md`), with the
roles that collections of data have and paths relative to the file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from glob import escape, glob, has_magic
from pathlib import Path
from typing import Any, Literal, get_args

from errata.core.errors import InputError, warn_of_data
from errata.core.parameters import suggest_name
from errata.data import Corpus, Hypotheses
from errata.datasets.fetch import Collection, Report, collections, role_files
from errata.io.corpus import CorpusFiles
from errata.io.files import unpacked_name
from errata.io.outputs import list_files_in, read_systems, split_name
from errata.io.records import RecordReader, Texts, read_toml
from errata.io.shards.inputs import natural_sort_key
from errata.io.slices import join_skipped, read_skipped
from errata.io.tokenisers import Tokeniser, tokenise_corpus, tokenise_output

CorpusRole = Literal["gold", "source", "references", "outputs"]
LONGEST_SKIP = 1000  # characters of a list, or of a file's name


@dataclass(frozen=True, eq=False)
class EvaluationSet:
    """A corpus under the name it goes by, and the systems that corrected it."""

    name: str
    corpus: Corpus
    systems: tuple[Hypotheses, ...] = ()

    def without_sentences(self, *sentences: int) -> EvaluationSet:
        """Return the set without some sentences, counted from 0."""
        systems = tuple(system.without_sentences(*sentences) for system in self.systems)
        return EvaluationSet(self.name, self.corpus.without_sentences(*sentences), systems)

    def tokenise(self, cut: Tokeniser) -> EvaluationSet:
        """Return the set with all its texts cut into tokens."""
        sources = self.corpus.sources
        systems = tuple(tokenise_output(system, sources, cut) for system in self.systems)
        return EvaluationSet(self.name, tokenise_corpus(self.corpus, cut), systems)

    def __repr__(self) -> str:
        sizes = f"{len(self.corpus)} sentences, {len(self.systems)} systems"
        return f"EvaluationSet({self.name!r}, {sizes})"


def read_evaluation_set(files: CorpusFiles) -> EvaluationSet:
    """Read the corpus and the outputs of files; the error of no one file names the corpus."""
    try:
        corpus = files.read_corpus()
    except InputError as error:
        if error.path not in (None, files.skipped and files.skipped.path):
            raise
        problem, path = f"{files.title}: {error.problem}", error.path or files.place
        raise InputError(problem, path=path, line=error.line, remedy=error.remedy) from None
    systems = read_systems(files.output_paths, corpus=corpus, guard=files.guard)
    return EvaluationSet(files.title, corpus, tuple(systems))


def read_evaluation_sets(
    places: Iterable[str], how: CorpusFiles | None = None, *, progress: Report | None = None
) -> list[EvaluationSet]:
    """Read the corpora that places name (see `evaluation_files`), no two of one name.

    ``how`` says how to read them: annotators, tokens, guard... The sentences that it skips are
    left out beside those that a place leaves out.
    """
    how = how or CorpusFiles()
    found = []
    for files in files_of_sets(places, progress):
        names = "gold", "source", "references", "outputs", "name", "place"
        chosen = {name: getattr(files, name) for name in names}
        skipped = join_skipped(files.skipped, how.skipped)
        found.append(read_evaluation_set(replace(how, **chosen, skipped=skipped)))
    return found


def files_of_sets(places: Iterable[str], progress: Report | None = None) -> list[CorpusFiles]:
    """Return the files of the corpora that places name, no two of one name."""
    found = [files for place in places for files in evaluation_files(place, progress)]
    for k, files in enumerate(found):
        if any(files.name == other.name for other in found[:k]):
            problem = f"two corpora are called {files.name!r}"
            raise InputError(problem, path=files.place, remedy="name them apart with NAME=FOLDER")
    return found


def evaluation_files(place: str, progress: Report | None = None) -> list[CorpusFiles]:
    """Return the files of a folder, of each corpus in a TOML file, or of public data.

    ``place`` may be ``NAME=PLACE``. Public data are downloaded if need be.
    """
    name, where = split_name(place)
    path = Path(where)
    if path.is_dir():
        if where in collections():
            warn_of_data(f"{where} is a folder here and a name of public data; the folder is read")
        return [_find_files_in_folder(path, name)]
    if unpacked_name(where).endswith(".toml"):
        return _read_toml_corpora(where, name, progress)
    known = collections()
    if where not in known:
        remedy = "give a folder with gold.m2 and outputs/, or a name of errata data list"
        problem = f"{where!r} is no folder, no .toml file and no name of public data"
        raise InputError(problem, remedy=suggest_name(where, known) + remedy)
    return [_collection_files(known[where], name or where, progress)]


def _collection_files(chosen: Collection, name: str, progress: Report | None) -> CorpusFiles:
    found = {role: role_files(chosen, role, progress) for role in get_args(CorpusRole)}
    if not (found["gold"] or found["source"]):
        problem = f"{chosen.name} has no corpus: it has {', '.join(chosen.roles)}"
        remedy = "choose one with gold, or with source and references (errata data list)"
        raise InputError(problem, remedy=remedy)
    return _corpus_files(name, found, chosen.name)


def _corpus_files(name: str, found: Mapping[str, Sequence[str]], place: str) -> CorpusFiles:
    gold, source = (next(iter(found.get(role, ())), None) for role in ("gold", "source"))
    outputs = tuple((name or "", path) for name, path in map(split_name, found.get("outputs", ())))
    references = tuple(found.get("references", ()))
    return CorpusFiles(gold, source, references, outputs, name=name, place=place)


def _sorted_entries(folder: Path) -> list[Path]:
    """List a folder, ``ref10`` behind ``ref2``: the order says which annotator a text is."""
    return sorted(folder.iterdir(), key=lambda path: natural_sort_key(path.name))


def _find_files_in_folder(folder: Path, name: str | None) -> CorpusFiles:
    inside = _sorted_entries(folder)
    plain = {Path(unpacked_name(path)).name: path for path in inside if path.is_file()}
    gold, source = plain.get("gold.m2"), plain.get("source.txt")
    refs = folder / "refs"
    if refs.is_dir():
        references = [
            path for path in _sorted_entries(refs) if path.is_file() and path.name[0] != "."
        ]
    else:
        references = [path for name, path in plain.items() if re.fullmatch(r"ref.*\.txt", name)]
    if gold is None and (source is None or not references):
        there = ", ".join(path.name for path in inside[:8]) or "nothing"
        remedy = "put gold.m2 there, or source.txt and refs/*.txt; outputs go into outputs/"
        problem = f"no corpus in the folder, which has {there}"
        raise InputError(problem, path=str(folder), remedy=remedy)
    if gold is not None and references:
        warn_of_data(f"{folder}: gold.m2 is read, and the reference texts beside it are not")
        references = []
    found = {"references": list(map(str, references))}
    found |= {"gold": [str(gold)]} if gold else {}
    found |= {"source": [str(source)]} if source else {}
    if (outputs := folder / "outputs").is_dir():
        found["outputs"] = [str(outputs)]
    return _corpus_files(name or folder.resolve().name, found, str(folder))


def _read_toml_corpora(where: str, name: str | None, progress: Report | None) -> list[CorpusFiles]:
    tables, text = read_toml(where)
    if not tables:
        remedy = 'write a table for each: [name], gold = "gold.m2", outputs = ["outputs/*"]'
        raise InputError("no corpus in the file", path=where, remedy=remedy)
    if name is not None:
        problem = f"{name!r} would name every corpus of it"
        raise InputError(problem, path=where, remedy="the corpora have the names of their tables")
    reader = RecordReader(where, text)
    return [
        decode_listed_corpus(reader, entry, each, progress=progress)
        for each, entry in tables.items()
    ]


@dataclass(frozen=True)
class _ListedCorpus:
    """A corpus as a table of a TOML file lists it."""

    gold: Texts = ()
    source: Texts = ()
    references: Texts = ()
    outputs: Texts | Mapping[str, Texts] = ()
    data: str = ""
    skip: str = ""
    title: str = ""


def decode_listed_corpus(
    reader: RecordReader, entry: Any, *keys: str, progress: Report | None = None
) -> CorpusFiles:
    """Return the corpus that the table at ``keys`` of a TOML file lists."""
    name, folder = keys[-1], Path(reader.path).parent
    listed = reader.decode(_ListedCorpus, entry, *keys)
    found: dict[str, list[str]] = {}
    for role in get_args(CorpusRole):
        given = getattr(listed, role)
        named = given if isinstance(given, dict) else {"": given}
        found[role] = []
        for label, paths in named.items():
            for path in paths:
                files = _expand_pattern(path, folder)
                if not files:
                    remedy = "paths are relative to the folder of this file"
                    raise reader.error(f"no file matches {path}", *keys, role, remedy=remedy)
                found[role] += [f"{label}={file}" if label else file for file in files]
        if role in ("gold", "source") and given and len(found[role]) != 1:
            raise reader.error(f"{len(found[role])} files", *keys, role, remedy="name one")
    made = _corpus_files(name, found, reader.path)
    if "skip" in entry:
        if len(listed.skip) > LONGEST_SKIP:
            remedy = 'skip = "3,7-9", or the name of a file'
            raise reader.error("the text is too long", *keys, "skip", remedy=remedy)
        numbers = re.fullmatch(r"[\d\s,-]+", listed.skip)
        place = listed.skip if numbers else str(folder / listed.skip)
        made = replace(made, skipped=read_skipped(place))
    if "data" in entry:
        made = _fill_from_collection(made, reader, listed.data, *keys, progress=progress)
    if made.gold is None and made.source is None:
        remedy = "give gold, or source and references"
        raise reader.error("neither gold nor source", *keys, remedy=remedy)
    return made


def _fill_from_collection(
    made: CorpusFiles, reader: RecordReader, data: str, *keys: str, progress: Report | None
) -> CorpusFiles:
    """Return the files with a collection's corpus or outputs where they have none."""
    if data not in collections():
        remedy = f"{suggest_name(data, collections())}see errata data list"
        raise reader.error(f"no collection of data {data!r}", *keys, "data", remedy=remedy)
    known = _collection_files(collections()[data], made.title, progress)
    if made.gold is None and made.source is None and not made.references:
        made = replace(made, gold=known.gold, source=known.source, references=known.references)
    return made if made.outputs else replace(made, outputs=known.outputs)


def _expand_pattern(text: str, folder: Path) -> list[str]:
    """Return the files that a path or a pattern below ``folder`` names."""
    name, path = split_name(text)
    files = [str(folder / path)]
    if has_magic(path) and not os.path.exists(files[0]):
        try:
            found = glob(str(Path(escape(str(folder))) / path))
        except (re.error, RecursionError):  # thousands of brackets
            found = []
        files = sorted(found, key=lambda file: natural_sort_key(Path(file).name))
    return [f"{name}={file}" if name else file for file in files]


def sets_to_score(places: Sequence[str]) -> Iterator[CorpusFiles]:
    """Yield the files of whole test sets with outputs, every output on its own."""
    for each in files_of_sets(places):
        if each.skipped is not None:
            problem = f"{each.title}: sentences are left out, which a run cannot do"
            remedy = "leave them out of the files, or score this set with errata corpora"
            raise InputError(problem, path=each.place, remedy=remedy)
        outputs = tuple(
            (name or "", path) for name, path in map(split_name, list_files_in(each.output_paths))
        )
        if not outputs:
            problem = f"{each.title} has no outputs to score"
            raise InputError(problem, path=each.place, remedy="give some")
        yield replace(each, outputs=outputs)
