"""Corpora with the outputs of systems on them: a folder, public data by name, or a list in TOML.

What commands read that look at several corpora at once. A folder has ``gold.m2``, or
``source.txt`` and reference texts (``refs/*``, or ``ref*.txt`` beside it), and a folder
``outputs``. A TOML file has a table for each corpus, with the roles that collections of data have
and paths relative to the file; an output may have a name, a pattern stands for files, ``data`` for
whatever is not given; ``skip`` leaves sentences out by number::

    [essays]
    gold = "essays/gold.m2"
    outputs = ["essays/outputs/*.txt"]
    skip = "3,7-9"

    [jfleg]
    data = "jfleg"
    outputs = { ours = "jfleg/ours.txt" }
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from glob import escape, glob, has_magic
from pathlib import Path
from typing import Any, Literal, get_args

from errata.core.errors import DataWarning, InputError
from errata.core.parameters import suggest_name
from errata.data import Corpus, Hypotheses
from errata.datasets.fetch import Collection, Report, collections, role_files
from errata.io.corpus import read_corpus
from errata.io.files import plain_name
from errata.io.outputs import read_systems, split_name
from errata.io.records import read_toml
from errata.io.slices import SkippedSentences, read_skipped
from errata.io.tokenisers import AS_IS, Tokeniser, tokenise_corpus, tokenise_output

CorpusRole = Literal["gold", "source", "references", "outputs"]
LONGEST_SKIP = 1000  # characters of a list, or of a file's name
KNOWN: tuple[str, ...] = (*get_args(CorpusRole), "data", "skip", "title")


@dataclass(frozen=True)
class EvaluationFiles:
    """Where a corpus and the outputs on it are; ``place`` is where that was said."""

    name: str
    gold: str | None = None
    source: str | None = None
    references: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    place: str = ""
    skipped: SkippedSentences | None = None

    def read(
        self,
        *,
        annotators: Sequence[int] = (),
        missing: str | None = None,
        compatible: bool = False,
        skipped: SkippedSentences | None = None,
        tokens: str = AS_IS,
        guard: bool = True,
    ) -> EvaluationSet:
        """The sentences and the outputs; what is wrong with a file is said as elsewhere.

        Left out are the sentences ``skipped`` beside those that the place itself leaves out.
        """
        with self._named():
            corpus = read_corpus(
                gold=self.gold,
                source=self.source,
                references=self.references,
                annotators=annotators or None,
                missing=missing,
                name=self.name,
                compatible=compatible,
                tokens=tokens,
                guard=guard,
            )
            left_out = [each.positions(len(corpus)) for each in (self.skipped, skipped) if each]
            corpus = corpus.without_sentences(*{i for each in left_out for i in each})
        systems = read_systems(self.outputs, corpus=corpus, guard=guard)
        return EvaluationSet(self.name, corpus, tuple(systems))

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Say which corpus is meant where something is wrong with it and not with one file."""
        try:
            yield
        except InputError as error:
            if error.path not in (None, self.skipped and self.skipped.path):
                raise
            raise InputError(
                f"{self.name}: {error.problem}",
                path=error.path or self.place,
                line=error.line,
                remedy=error.remedy,
            ) from None


@dataclass(frozen=True, eq=False)
class EvaluationSet:
    """A corpus under the name it goes by, and the systems that corrected it."""

    name: str
    corpus: Corpus
    systems: tuple[Hypotheses, ...] = ()

    def without_sentences(self, *sentences: int) -> EvaluationSet:
        """The same without these sentences, counted from 0."""
        return EvaluationSet(
            self.name,
            self.corpus.without_sentences(*sentences),
            tuple(system.without_sentences(*sentences) for system in self.systems),
        )

    def tokenised(self, cut: Tokeniser) -> EvaluationSet:
        """The same with its texts cut into tokens."""
        sources = self.corpus.sources
        return EvaluationSet(
            self.name,
            tokenise_corpus(self.corpus, cut),
            tuple(tokenise_output(system, sources, cut) for system in self.systems),
        )

    def __repr__(self) -> str:
        sizes = f"{len(self.corpus)} sentences, {len(self.systems)} systems"
        return f"EvaluationSet({self.name!r}, {sizes})"


def read_evaluation_sets(
    places: Iterable[str],
    *,
    annotators: Sequence[int] = (),
    missing: str | None = None,
    compatible: bool = False,
    skipped: SkippedSentences | None = None,
    tokens: str = AS_IS,
    guard: bool = True,
    progress: Report | None = None,
) -> list[EvaluationSet]:
    """Read the corpora that places name (see `evaluation_files`), no two of one name.

    The sentences ``skipped`` are left out of every corpus; for the others see `read_corpus`.
    """
    return [
        files.read(
            annotators=annotators,
            missing=missing,
            compatible=compatible,
            skipped=skipped,
            tokens=tokens,
            guard=guard,
        )
        for files in files_of_sets(places, progress)
    ]


def files_of_sets(places: Iterable[str], progress: Report | None = None) -> list[EvaluationFiles]:
    """Where the corpora are that places name, no two of one name."""
    found = [files for place in places for files in evaluation_files(place, progress)]
    for k, files in enumerate(found):
        if any(files.name == other.name for other in found[:k]):
            raise InputError(
                f"two corpora are called {files.name!r}",
                path=files.place,
                remedy="name them apart with NAME=FOLDER",
            )
    return found


def evaluation_files(place: str, progress: Report | None = None) -> list[EvaluationFiles]:
    """What a place names: a folder, a TOML file with one or more corpora, or public data.

    ``place`` may be ``NAME=PLACE``. Public data are fetched where they are not at hand.
    """
    name, where = split_name(place)
    path = Path(where)
    if path.is_dir():
        if where in collections():
            warnings.warn(
                f"{where} is a folder here and a name of public data; the folder is read",
                DataWarning,
                stacklevel=2,
            )
        return [_folder(path, name)]
    if plain_name(where).endswith(".toml"):
        return _listed(where, name, progress)
    known = collections()
    if where not in known:
        raise InputError(
            f"{where!r} is no folder, no .toml file and no name of public data",
            remedy=f"{suggest_name(where, known)}give a folder with gold.m2 and outputs/, or a "
            "name of errata data list",
        )
    return [_collected(known[where], name or where, progress)]


def _collected(chosen: Collection, name: str, progress: Report | None) -> EvaluationFiles:
    found = {role: role_files(chosen, role, progress) for role in get_args(CorpusRole)}
    if not (found["gold"] or found["source"]):
        raise InputError(
            f"{chosen.name} has no corpus: it has {', '.join(chosen.roles)}",
            remedy="choose one with gold, or with source and references (errata data list)",
        )
    return _files(name, found, chosen.name)


def _files(name: str, found: Mapping[str, Sequence[str]], place: str) -> EvaluationFiles:
    return EvaluationFiles(
        name,
        next(iter(found.get("gold", ())), None),
        next(iter(found.get("source", ())), None),
        tuple(found.get("references", ())),
        tuple(found.get("outputs", ())),
        place,
    )


def _folder(folder: Path, name: str | None) -> EvaluationFiles:
    inside = sorted(folder.iterdir(), key=_in_numbers)
    plain = {Path(plain_name(path)).name: path for path in inside if path.is_file()}
    gold, source = plain.get("gold.m2"), plain.get("source.txt")
    refs = folder / "refs"
    references = [
        path
        for path in (sorted(refs.iterdir(), key=_in_numbers) if refs.is_dir() else plain.values())
        if path.is_file()
        and not path.name.startswith(".")
        and (refs.is_dir() or re.fullmatch(r"ref.*\.txt", Path(plain_name(path)).name))
    ]
    if gold is None and (source is None or not references):
        there = ", ".join(path.name for path in inside[:8]) or "nothing"
        raise InputError(
            f"no corpus in the folder, which has {there}",
            path=str(folder),
            remedy="put gold.m2 there, or source.txt and refs/*.txt; outputs go into outputs/",
        )
    if gold is not None and references:
        warnings.warn(
            f"{folder}: gold.m2 is read, and the reference texts beside it are not",
            DataWarning,
            stacklevel=3,
        )
        references = []
    outputs = folder / "outputs"
    return EvaluationFiles(
        name or folder.resolve().name,
        None if gold is None else str(gold),
        None if source is None else str(source),
        tuple(map(str, references)),
        (str(outputs),) if outputs.is_dir() else (),
        str(folder),
    )


def _in_numbers(path: Path) -> list[tuple[int, str]]:
    """A key that puts ``ref10`` behind ``ref2``: the order says which annotator a text is."""
    return [
        (int(part), "") if part.isdecimal() else (-1, part)
        for part in re.split(r"(\d+)", path.name)
    ]


def _listed(where: str, name: str | None, progress: Report | None) -> list[EvaluationFiles]:
    tables, text = read_toml(where)
    if not tables or name is not None:
        raise InputError(
            "no corpus in the file" if not tables else f"{name!r} would name every corpus of it",
            path=where,
            remedy='write a table for each: [name], gold = "gold.m2", outputs = ["outputs/*"]'
            if not tables
            else "the corpora have the names of their tables",
        )
    return [listed_files(each, entry, where, text, progress) for each, entry in tables.items()]


def listed_files(
    name: str, entry: Any, where: str, text: str, progress: Report | None
) -> EvaluationFiles:
    """The corpus that a table of a TOML file names; ``text`` is that file's, for line numbers."""

    def wrong(problem: str, key: str = "", remedy: str = "") -> InputError:
        return InputError(
            f"{name}: {problem}",
            path=where,
            line=_line_of(text, name, key),
            remedy=remedy or f"a corpus has {', '.join(KNOWN)}",
        )

    if not isinstance(entry, dict):
        raise wrong("this is no table of a corpus", name, f"write [{name}] above it")
    found: dict[str, Sequence[str]] = {}
    for key, value in entry.items():
        if key not in KNOWN:
            raise wrong(
                f"there is no {key!r}", key, f"{suggest_name(key, KNOWN)}known: {', '.join(KNOWN)}"
            )
        named = value if isinstance(value, dict) and key == "outputs" else {"": value}
        texts = {each: [one] if isinstance(one, str) else one for each, one in named.items()}
        if key != "skip" and not all(
            isinstance(several, list) and all(isinstance(one, str) for one in several)
            for several in texts.values()
        ):
            raise wrong(f"{key} is neither a text nor a list of texts", key, f'{key} = "FILE"')
        if key in get_args(CorpusRole):
            found[key] = [
                f"{each}={file}" if each else file
                for each, several in texts.items()
                for one in several
                for file in _beside(
                    one, where, lambda said, remedy, key=key: wrong(said, key, remedy)
                )
            ]
            if key in ("gold", "source") and len(found[key]) != 1:
                raise wrong(f"{key} is {len(found[key])} files", key, "name one")
    made = _files(name, found, where)
    if "skip" in entry:
        made = replace(made, skipped=_left_out(entry["skip"], where, wrong))
    if "data" in entry:
        made = _completed(made, entry["data"], wrong, progress)
    if made.gold is None and made.source is None:
        raise wrong("no gold, and no source", remedy="give gold, or source and references")
    return made


def _left_out(given: Any, where: str, wrong: Any) -> SkippedSentences:
    if not isinstance(given, str) or len(given) > LONGEST_SKIP:
        raise wrong(
            "skip is no text" if not isinstance(given, str) else "skip is too long",
            "skip",
            'skip = "3,7-9", or the name of a file',
        )
    numbers = re.fullmatch(r"[\d\s,-]+", given)
    return read_skipped(given if numbers else str(Path(where).parent / given))


def _completed(
    made: EvaluationFiles, data: str, wrong: Any, progress: Report | None
) -> EvaluationFiles:
    """The files of a collection for the roles that are not given; a corpus whole or not at all."""
    if not isinstance(data, str) or data not in collections():
        raise wrong(
            f"no collection of data {data!r}",
            "data",
            f"{suggest_name(str(data), collections())}see errata data list",
        )
    known = _collected(collections()[data], made.name, progress)
    if made.gold is None and made.source is None and not made.references:
        made = replace(made, gold=known.gold, source=known.source, references=known.references)
    return made if made.outputs else replace(made, outputs=known.outputs)


def _beside(text: str, where: str, wrong: Any) -> list[str]:
    """The files that a path or a pattern of a TOML file names, which counts from its folder."""
    name, path = split_name(text)
    whole = str(Path(escape(str(Path(where).parent))) / path)
    plain = Path(where).parent / path
    if has_magic(path) and not plain.exists():
        files = sorted(glob(whole), key=lambda file: _in_numbers(Path(file)))
        if not files:
            raise wrong(
                f"no file is called like {path}", "paths count from the folder of this file"
            )
    else:
        files = [str(plain)]
    return [f"{name}={file}" if name else file for file in files]


def _line_of(text: str, table: str, key: str) -> int | None:
    """Where in a TOML file a key of a table stands, or the table itself."""
    inside, head = False, None
    for number, line in enumerate(text.splitlines(), 1):
        words = line.strip()
        if words.startswith("["):
            named = re.split(r"[.\]]", words.lstrip("["))[0].strip().strip("\"'")
            inside = named == table
            head = head or (number if inside else None)
            if inside and key and re.search(rf"\.\s*[\"']?{re.escape(key)}\b", words):
                return number
        elif key and (inside or key == table) and re.match(rf"[\"']?{re.escape(key)}\b", words):
            return number
    return head
