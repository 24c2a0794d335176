"""From the files a user names to the outputs of systems, checked against their corpus."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path

from errata.core.errors import InputError, escape_controls, shorten, warn_of_data
from errata.core.parallel import usual_threads
from errata.data import Corpus, Edit, Hypotheses, apply_edits, duplicate_name_errors
from errata.io.checks import Finding, raise_or_warn
from errata.io.checks.alignment import check_alignment, is_named_source, mark_aligned, match_sources
from errata.io.files import PathLike, read_lines, shown_name, unpacked_name
from errata.io.m2 import M2File, read_m2_file
from errata.io.tokenisers import AS_IS, tokenise_output, tokeniser

# Endings that are no part of a system's name.
_ENDINGS = (".txt", ".m2", ".out", ".hyp", ".tok", ".cor")


def split_name(argument: PathLike) -> tuple[str | None, str]:
    """Split ``name=path``; an existing file of that whole name is a path.

    >>> split_name("ours=out/run3.txt"), split_name("out/run3.txt")
    (('ours', 'out/run3.txt'), (None, 'out/run3.txt'))
    >>> split_name("ours=" + 300 * "x")[0]  # too long for a file name
    'ours'
    """
    text = os.fspath(argument)
    name, equals, path = text.partition("=")
    if not equals or not name or os.sep in name or not path or os.path.exists(text):
        return None, text
    return name, path


def system_name(path: PathLike) -> str:
    """A system's name from its file: no folder, no usual ending.

    >>> system_name("out/AMU.txt.gz"), system_name("v1.2")
    ('AMU', 'v1.2')
    """
    return file_stem(path, _ENDINGS)


def file_stem(path: PathLike, endings: Iterable[str]) -> str:
    """The name of a file without its folder, its compression and the first of some endings."""
    name = "stdin" if os.fspath(path) == "-" else Path(unpacked_name(path)).name
    ending = next((end for end in endings if name.endswith(end) and name != end), "")
    return name.removesuffix(ending)


def read_hypotheses(
    path: PathLike,
    *,
    name: str | None = None,
    corpus: Corpus | None = None,
    guard: bool = True,
    threads: int | None = None,
) -> Hypotheses:
    """Read one system's output: text, one sentence per line, or its edits as M2 (``.m2``).

    ``path`` may be ``name=path``. With a ``corpus`` the output is checked against it (see
    `errata.io.check_alignment`): errors are raised, the rest are warnings. With ``guard=False``
    text that looks unrelated or shifted is a warning. ``threads`` defaults to the number of cores.
    """
    names = None if name is None else [name]
    systems, findings = read_output_file(path, names=names, corpus=corpus, threads=threads)
    check_single_annotator(split_name(path)[1], len(systems))
    _raise_or_warn(findings, corpus, systems, guard)
    return systems[0]


def check_single_annotator(path: str, systems: int) -> None:
    """Refuse an M2 file with the edits of several systems where one is asked for."""
    if systems > 1:
        problem = f"edits of {systems} annotators, so of that many systems"
        remedy = "make a text of each system (errata convert FILE --annotator ID); in Python use "
        remedy += "read_hypotheses_m2"
        raise InputError(problem, path=path, remedy=remedy)


def _raise_or_warn(
    findings: Sequence[Finding], corpus: Corpus | None, systems: Sequence[Hypotheses], guard: bool
) -> None:
    raise_or_warn(findings, guard=guard, stacklevel=4)
    if corpus is not None and not guard:  # let through once, let through always
        mark_aligned(corpus, *systems)


def read_systems(
    paths: Iterable[PathLike],
    *,
    names: Sequence[str] | None = None,
    several: bool = False,
    corpus: Corpus | None = None,
    guard: bool = True,
    threads: int | None = None,
) -> list[Hypotheses]:
    """Read the outputs of systems, one file each (see `read_hypotheses`), no two of one name.

    A folder stands for its files in the order of names. With ``several`` an M2 file may hold
    several systems; ``names`` are then their names, in the order of annotator numbers.
    """
    systems: list[Hypotheses] = []
    places: list[str] = []
    for path in list_files_in(paths):
        found, findings = read_output_file(path, names=names, corpus=corpus, threads=threads)
        if not several:
            check_single_annotator(split_name(path)[1], len(found))
        _raise_or_warn(findings, corpus, found, guard)
        systems += found
        places += [shown_name(split_name(path)[1])] * len(found)
    for error in duplicate_name_errors([system.system for system in systems], places):
        raise error
    return systems


def list_files_in(paths: Iterable[PathLike]) -> list[PathLike]:
    """Files as they are; in the place of a folder the files in it, but for hidden ones."""
    found: list[PathLike] = []
    for path in paths:
        name, where = split_name(path)
        if where == "-" or not os.path.isdir(where):
            found.append(path)
            continue
        entries = [entry for entry in os.scandir(where) if not entry.name.startswith(".")]
        inside = sorted(entry.path for entry in entries if entry.is_file())
        others = sorted(escape_controls(entry.name) for entry in entries if not entry.is_file())
        if inside and others:
            warn_of_data(
                f"{escape_controls(where)}: not read, being no files: "
                f"{shorten(', '.join(others))}; name a folder inside it separately"
            )
        if name is not None or not inside:
            problem = "there is no file in the folder"
            if name is not None:
                problem = "a folder of outputs cannot have the name of one"
            raise InputError(problem, path=where, remedy="name a folder with one file per system")
        found += inside
    return found


def read_output_file(
    path: PathLike,
    *,
    names: Sequence[str] | None = None,
    corpus: Corpus | None = None,
    threads: int | None = None,
) -> tuple[list[Hypotheses], list[Finding]]:
    """Read the one system of a text file or all systems of an M2 file, with the findings.

    The file has all sentences of the corpus, also skipped ones, and is tokenised like it. A stored
    run (``.json``, `errata.io.stored_runs`) is the output it was made of.
    """
    if corpus is not None and unpacked_name(split_name(path)[1]).endswith(".json"):
        return [_read_stored_output(path, names, corpus)], []
    if corpus is not None and corpus.whole is not None:
        systems, findings = read_output_file(
            path, names=names, corpus=corpus.whole, threads=threads
        )
        if all(len(system) == len(corpus.whole) for system in systems):
            systems = [system.without_sentences(*corpus.skipped) for system in systems]
            mark_aligned(corpus, *systems)
        return systems, findings
    given, where = split_name(path)
    shown = shown_name(where)
    if names is None and given is not None:
        names = [given]
    cut = None if corpus is None or corpus.tokens == AS_IS else tokeniser(corpus.tokens)
    if is_m2(where):
        file = read_m2_file(where, threads=threads)
        systems, findings = systems_in_m2(file, where, names)
        sources = file.corpus.sources
        if cut is not None:
            systems = [tokenise_output(system, sources, cut) for system in systems]
            sources = tuple(map(cut, sources))
        if corpus is not None:
            findings += match_sources(corpus.sources, sources, shown, file.lines)
    else:
        called = names[0] if names else system_name(where)
        lines, findings = read_lines(where)
        systems = [Hypotheses(called, tuple(lines if cut is None else map(cut, lines)))]
    if corpus is not None and all(finding.severity != "error" for finding in findings):
        for system in systems:
            found = check_alignment(corpus, system, path=shown, threads=usual_threads(threads))
            if all(finding.severity != "error" for finding in found):
                mark_aligned(corpus, system)
            findings += found
            if given is None and names is None and not is_m2(where):
                findings += is_named_source(corpus, system, system_name(where), shown)
    return systems, findings


def _read_stored_output(path: PathLike, names: Sequence[str] | None, corpus: Corpus) -> Hypotheses:
    given, where = split_name(path)
    from errata.io.stored_runs import read_run

    run = read_run(where)
    name = names[0] if names else given
    if corpus.whole is not None and run.sentences == len(corpus.whole):
        return run.output(corpus.whole, name=name).without_sentences(*corpus.skipped)
    return run.output(corpus, name=name)


def is_m2(path: PathLike) -> bool:
    """Whether a file is M2 by its name."""
    return unpacked_name(path).endswith(".m2")


def read_hypotheses_m2(path: PathLike, names: Sequence[str] | None = None) -> list[Hypotheses]:
    """Read the edits of one or more systems from an M2 file: each annotator is a system.

    ``names`` are in the order of annotator numbers; with one name, or none (the file's), several
    systems are numbered. Output sentences are the sources with the first alternatives applied.
    """
    systems, findings = systems_in_m2(read_m2_file(path), path, names)
    raise_or_warn(findings)
    return systems


def systems_in_m2(
    file: M2File, path: PathLike, names: Sequence[str] | None
) -> tuple[list[Hypotheses], list[Finding]]:
    """The systems whose edits an M2 file, or a part of it, holds, with what was found."""
    annotators = sorted(
        {r.annotator for refs in file.corpus.references for r in refs if not r.implied}
    ) or [0]
    if names is None or (len(names) == 1 and len(annotators) > 1):
        stem = names[0] if names else system_name(path)
        names = [stem] if len(annotators) == 1 else [f"{stem}.{k}" for k in annotators]
    if len(names) != len(annotators):
        problem = f"{len(names)} names for the edits of {len(annotators)} systems"
        raise InputError(problem, path=file.path, remedy="give one name per annotator number")
    edits: list[dict[int, tuple[Edit, ...]]] = [
        {r.annotator: r.edits for r in refs if r.edits} for refs in file.corpus.references
    ]
    systems = [
        _apply_system_edits(file, *each, edits) for each in zip(annotators, names, strict=True)
    ]
    remedy = "write a noop line for a sentence left as it is"
    absent = [
        (line, f"no line of annotator {k} for this sentence; it is read as unchanged")
        for line, refs in zip(file.lines, file.corpus.references, strict=True)
        if not refs[0].implied and len(refs) < len(annotators)
        for k in annotators
        if all(r.annotator != k for r in refs)
    ]
    found = [
        Finding("warning", file.path, line, problem, remedy, "absent-system")
        for line, problem in absent
    ]
    return systems, [*file.findings, *found]


def _apply_system_edits(
    file: M2File, annotator: int, name: str, every: Sequence[Mapping[int, tuple[Edit, ...]]]
) -> Hypotheses:
    sentences, edits = [], []
    for source, several, line in zip(file.corpus.sources, every, file.lines, strict=True):
        mine = several.get(annotator, ())
        edits.append(mine)
        try:
            sentences.append(" ".join(apply_edits(source.split(), mine)) if mine else source)
        except InputError as error:
            problem = f"the edits of annotator {annotator} cannot be carried out: {error.problem}"
            raise InputError(problem, path=file.path, line=line, remedy=error.remedy) from None
    return Hypotheses(name, tuple(sentences), tuple(edits))


def output_names(texts: Sequence[str], output: str | None) -> list[str]:
    """Return the file for each text to tokenise: one, or those in a folder, which is made."""
    for path in texts:
        if is_m2(path):
            problem = "the edits of an M2 file refer to its tokens"
            remedy = "make texts of it (errata convert), and tokenise those"
            raise InputError(problem, path=path, remedy=remedy)
    folder = output is not None and (os.path.isdir(output) or output.endswith(("/", os.sep)))
    if len(texts) == 1 and not folder:
        targets = [output or "-"]
    elif output is None or output == "-":
        remedy = "name a folder with --output"
        raise InputError("several files cannot go to standard output", remedy=remedy)
    else:
        targets = [os.path.join(output, os.path.basename(unpacked_name(path))) for path in texts]
        for one, other in combinations(range(len(texts)), 2):
            if targets[one] == targets[other]:
                problem = f"{texts[one]} and {texts[other]} would both be written as {targets[one]}"
                raise InputError(problem, remedy="tokenise them one by one")
        os.makedirs(output, exist_ok=True)
    return targets
