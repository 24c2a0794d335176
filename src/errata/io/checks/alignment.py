"""Check that source, references and output belong together, line by line.

Lines are compared as characters (the share that stays when one is edited into the other, 0 to 1):
unrelated English sentences reach about 0.4 and seldom 0.5, a line and its correction seldom less
than 0.8. What looks wrong alone is compared with the sources around it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, groupby

import numpy as np
from numpy.typing import NDArray

from errata.core.errors import InputError
from errata.core.stats import Bools, Floats, plural, ratio
from errata.data import Corpus, Hypotheses, Reference, Tokens, duplicate_name_errors
from errata.io.checks import OVERRIDE_HINT, Finding, Severity, raise_or_warn, sort_by_severity
from errata.io.checks.damage import check_damage, check_plain_text, check_source_case
from errata.io.checks.text import (
    LineConventions,
    check_characters,
    compare_conventions,
    detect_conventions,
    pair_with_sources,
    source_conventions,
)
from errata.kernels import letters

# Characters of a line that are compared; time grows with the square.
COMPARED = 20_000
MANY = 4096  # lines, before it pays to share them out


def line_similarity(a: Sequence[str], b: Sequence[str], *, threads: int = 1) -> NDArray[np.float64]:
    """Return ``1 - changes / characters of both`` for each pair of lines.

    Changes are the fewest characters to delete and insert.

    >>> line_similarity(["He go ."], ["He goes ."]).tolist()
    [0.875]
    """
    if not len(a):
        return np.zeros(0)
    from rapidfuzz.distance import Indel
    from rapidfuzz.process import cpdist

    if max(map(len, chain(a, b))) > COMPARED:
        a, b = ([line[:COMPARED] for line in each] for each in (a, b))
    sizes = sum(np.fromiter(map(len, each), np.int64, len(a)) for each in (a, b))
    # With one worker it asks for the GIL again and again, and waits for other threads.
    changes: NDArray[np.int64] = cpdist(
        a, b, scorer=Indel.distance, dtype=np.int64, workers=threads if len(a) > MANY else 1
    )
    return 1 - ratio(changes, sizes, 0.0)


def has_same_words(a: Iterable[str], b: Iterable[str]) -> bool:
    """Whether two texts have the same words in every line."""
    return all(x == y or x.split() == y.split() for x, y in zip(a, b, strict=True))


# ---- Whether texts are what they are given as: source, reference or output.

# An output is called worse than its source if so many changed lines, and this share of them, are
# further from every reference. The CoNLL-2014 systems reach 0.45 to 0.90: they did harm.
CHANGED, WORSE = 20, 0.92
# Half of them are enough where the output brings in so many words that no reference has, and that
# many times as often as it takes such words out: learners misspell words, systems seldom do.
UNKNOWN, TIMES = 10, 3
# So many sentences nearly always show that an output is no reference.
FEW = 32
# What people call the file with the uncorrected sentences.
SOURCES = ("source", "src", "orig", "original", "input", "uncorrected", "learner")


def check_output_is_copy(corpus: Corpus, hypotheses: Hypotheses, path: str) -> list[Finding]:
    """Outputs that are the source itself, or a reference."""
    if not len(corpus):
        return []
    if has_same_words(corpus.sources, hypotheses.sentences):
        problem = "every line equals its source"
        remedy = "right for a baseline that corrects nothing; else this is the source, no output"
        return [Finding("note", path, None, problem, remedy, "unchanged")]
    for annotator in corpus.annotators:
        if all(
            _equals_reference(reference, corpus.sources[i], hypotheses.sentences[i])
            for i, reference in _references_by(corpus, annotator)
        ):
            problem = f"every line equals the reference of annotator {annotator}"
            remedy = "a reference scored against itself"
            return [Finding("note", path, None, problem, remedy, "is-reference")]
    return []


def _references_by(corpus: Corpus, annotator: int) -> Iterator[tuple[int, Reference]]:
    """Yield an annotator's references with their sentences, building them only when needed."""
    table = corpus.edits
    which = np.flatnonzero(table.annotators == annotator)
    for many, asked in enumerate((which[:FEW], which[FEW:])):
        for i in (np.searchsorted(table.reference_offsets, asked, side="right") - 1).tolist():
            references = corpus.references[i] if many else table.sentence(i)
            yield i, next(r for r in references if r.annotator == annotator)


def check_worse_than_source(corpus: Corpus, hypotheses: Hypotheses, path: str) -> list[Finding]:
    """Find an output that is further from the references than its source nearly everywhere.

    Only with reference texts: gold edits come with their sources, which cannot be swapped.
    """
    table = corpus.edits
    if len(table.texts) < len(table.annotators) or corpus.derived(
        "some references have no text", lambda: None in table.texts
    ):
        return []
    output = corpus.vocabulary.intern(hypotheses.sentences)
    there = corpus.derived(
        "sentences with references",
        lambda: np.array([bool(refs) for refs in corpus.references], bool),
    )
    changed = np.flatnonzero(output.differ(corpus.source_tokens) & there).tolist()
    if len(changed) < CHANGED:
        return []
    every = corpus.derived(
        "likeness of sources to references",
        lambda: _similarity_to_nearest(corpus, corpus.sources, range(len(corpus))),
    )
    before = every[changed]
    after = _similarity_to_nearest(corpus, hypotheses.sentences, changed)
    worse, better = np.count_nonzero(after < before), np.count_nonzero(after > before)
    said = ""
    if worse < WORSE * len(changed):
        if 2 * worse < len(changed) or worse <= better:
            return []
        brought, taken = _count_unknown_words(corpus, output, changed)
        if brought < max(UNKNOWN, TIMES * taken):
            return []
        said = f", and it brings in {brought} words that no reference has, taking out {taken}"
    problem = f"{worse} of {len(changed)} changed lines are further from every reference than "
    problem += f"their sources{said}"
    remedy = "are source and output swapped?"
    return [Finding("warning", path, None, problem, remedy, "worse")]


def _similarity_to_nearest(corpus: Corpus, lines: Sequence[str], which: Sequence[int]) -> Floats:
    """How alike these of the lines are to the reference nearest to each; 0 where there is none."""
    there = [i for i in which if corpus.references[i]]
    pairs = [(lines[i], r.text or "") for i in there for r in corpus.references[i]]
    starts = np.cumsum([0, *(len(corpus.references[i]) for i in there)])[:-1]
    alike = line_similarity([line for line, _ in pairs], [text for _, text in pairs])
    nearest = np.zeros(len(which))
    if there:
        bare = np.array([not corpus.references[i] for i in which])
        nearest[~bare] = np.maximum.reduceat(alike, starts)
    return nearest


def _count_unknown_words(corpus: Corpus, output: Tokens, changed: Sequence[int]) -> tuple[int, int]:
    """How many words that no reference has an output brings in, and takes out."""
    known = corpus.derived("words of references", lambda: _words_of_references(corpus))
    size = max(len(known), len(corpus.vocabulary))
    unknown = np.ones(size, bool)
    unknown[: len(known)] = ~known
    asked = np.zeros(len(corpus), bool)
    asked[changed] = True
    places, signs = [], []
    for tokens, sign in ((output, 1), (corpus.source_tokens, -1)):
        line = np.repeat(np.arange(len(tokens)), tokens.lengths)
        at = np.flatnonzero(unknown[tokens.ids] & asked[line])
        places.append(line[at] * size + tokens.ids[at])
        signs.append(np.full(len(at), sign))
    _, which = np.unique(np.concatenate(places), return_inverse=True)
    more = np.bincount(which, np.concatenate(signs))
    return int(more[more > 0].sum()), -int(more[more < 0].sum())


def _words_of_references(corpus: Corpus) -> Bools:
    """Of each word of the vocabulary, by its number, whether a reference has it."""
    texts = [
        reference.corrected(source)
        for source, refs in zip(corpus.sources, corpus.references, strict=True)
        for reference in refs
    ]
    words = corpus.vocabulary.intern(texts).ids
    known = np.zeros(len(corpus.vocabulary), bool)
    known[words] = True
    return known


def is_named_source(corpus: Corpus, hypotheses: Hypotheses, name: str, path: str) -> list[Finding]:
    """An output whose file is called ``source`` or the like, though it is not the source given."""
    called = name.casefold()
    exactly = called in SOURCES
    if not exactly and called.rpartition(".")[2] not in SOURCES[:3]:
        return []
    if len(hypotheses) != len(corpus) or has_same_words(corpus.sources, hypotheses.sentences):
        return []
    problem = "the file is called a source and given as an output, but is not the source given"
    remedy = "swap them; if it is an output, name it: ours=FILE"
    return [Finding("error" if exactly else "warning", path, None, problem, remedy, "swapped")]


def _equals_reference(reference: Reference, source: str, line: str) -> bool:
    try:
        return reference.corrected(source).split() == line.split()
    except InputError:  # overlapping edits give no text to compare
        return False


def match_sources(
    sources: Sequence[str],
    others: Sequence[str],
    path: str,
    numbers: Sequence[int] | None = None,
    *,
    than: str = "the corpus",
    before: int = 0,
) -> list[Finding]:
    """Find sources of a second copy that differ in their tokens.

    ``before`` is the number of sentences before these, where they are a part of a file.
    """
    if len(sources) != len(others):
        few = min(len(sources), len(others))
        line = few + 1 if numbers is None else numbers[few] if few < len(numbers) else None
        problem = f"{len(others)} source sentences, but {than} has {len(sources)}"
        remedy = "give files of the same text"
        return [Finding("error", path, line, problem, remedy, "line-count")]
    remedy = "give the same sources; is this the output of a system?"
    findings = []
    for i, (a, b) in enumerate(zip(sources, others, strict=True)):
        if a != b and a.split() != b.split():
            problem = f"source sentence {before + i + 1} differs from that of {than}"
            line = before + i + 1 if numbers is None else numbers[i]
            findings.append(Finding("error", path, line, problem, remedy, "other-source"))
    return findings


def find_equal_systems(systems: Sequence[tuple[str, Hypotheses]]) -> list[Finding]:
    """Outputs, given with their paths, that are the same or have the same name."""
    findings = [
        Finding("error", error.path or "", None, error.problem, error.remedy or "", "same-name")
        for error in duplicate_name_errors(
            [h.system for _, h in systems], [path for path, _ in systems]
        )
    ]
    for k, (path, hypotheses) in enumerate(systems):
        for earlier, other in systems[:k]:
            texts = other.sentences, hypotheses.sentences
            if len(other) == len(hypotheses) and has_same_words(*texts):
                problem = f"the same text as {earlier}"
                remedy = "is one of them the wrong file?"
                findings.append(Finding("warning", path, None, problem, remedy, "same-text"))
    return findings


# A line is out of place if a source at most WINDOW lines away is ALIKE, and by MARGIN more so than
# its own. The 12 sound CoNLL-2014 outputs and 8 sets of human rewrites of the same text (Sakaguchi
# et al. 2016) have no such line; NTHU, which is shifted, has 6.
ALIKE, MARGIN, WINDOW = 0.8, 0.2, 10
# Lines too short to say anything about where they belong.
SHORTEST = 15
# Fewer lines are too few to call a whole file unrelated.
FEWEST = 10
# Findings about a line that are none about where it belongs.
CHECKED = "checked outputs"  # the key of those that a corpus remembers
BY_THEMSELVES = ("empty-line", "broken-encoding", "invisible-character", "unusual-space")


def check_alignment(
    corpus: Corpus,
    hypotheses: Hypotheses,
    *,
    path: str | None = None,
    before: int = 0,
    threads: int = 1,
) -> list[Finding]:
    """Return everything suspicious about one system's output, errors first.

    ``path`` names the file (default: the system), ``before`` is the number of its lines before
    these, where they are a part. `docs/checks.md` explains the codes.

    >>> corpus = Corpus.from_texts(["He go home .", "I likes it ."])
    >>> for finding in check_alignment(corpus, Hypotheses("ours", ("He goes home .",))):
    ...     print(finding.severity, finding)
    error ours:2: 1 line, but the corpus has 2 sentences; 1 is missing at the end
    """
    path = path or hypotheses.system
    texts, look = (corpus.sources, hypotheses.sentences), source_conventions(corpus)
    findings = compare_lines(*texts, path, before=before, look=look, threads=threads)
    if len(corpus) == len(hypotheses):
        findings += check_source_case(corpus, hypotheses.sentences, path)
        same = check_output_is_copy(corpus, hypotheses, path)
        findings += same or check_worse_than_source(corpus, hypotheses, path)
    return sort_by_severity(findings)


def check_alignment_once(
    corpus: Corpus,
    hypotheses: Hypotheses,
    found: Sequence[Finding] | None = None,
    *,
    stacklevel: int = 4,
) -> None:
    """Raise or warn about an output, unless it was checked; ``found`` are the known findings."""
    if not is_aligned(corpus, hypotheses):
        found = check_text_alignment(corpus, hypotheses) if found is None else found
        raise_or_warn(found, stacklevel=stacklevel)
        mark_aligned(corpus, hypotheses)  # what was refused is so the next time too


def check_text_alignment(
    corpus: Corpus, hypotheses: Hypotheses, *, threads: int = 1
) -> list[Finding]:
    """Return findings of `check_alignment` except on single lines; none if checked before."""
    if is_aligned(corpus, hypotheses):
        return []
    found = check_alignment(corpus, hypotheses, threads=threads)
    return [finding for finding in found if finding.code not in BY_THEMSELVES]


def is_aligned(corpus: Corpus, hypotheses: Hypotheses) -> bool:
    """Whether an output that says the same was compared with a corpus already."""
    # Two outputs nearly always differ in one of the first lines: soon seen, where to find them in a
    # set would read every byte.
    return hypotheses.sentences in corpus.derived(CHECKED, list[Sequence[str]])


def mark_aligned(corpus: Corpus, *systems: Hypotheses) -> None:
    """Remember that these outputs passed the alignment check."""
    for system in systems:
        if not is_aligned(corpus, system):  # each of them keeps its text
            corpus.derived(CHECKED, list[Sequence[str]]).append(system.sentences)


def compare_lines(
    sources: Sequence[str],
    lines: Sequence[str],
    path: str,
    *,
    reference: bool = False,
    before: int = 0,
    look: LineConventions | None = None,
    threads: int = 1,
) -> list[Finding]:
    """Find what is wrong with a text that should run parallel to the sources.

    In a reference an empty line is only a note: an annotator may delete a whole sentence.
    """
    container = [] if before else check_plain_text(lines, path)
    if len(sources) != len(lines):
        return [*container, _line_count_finding(sources, lines, path)]
    look = detect_conventions(sources) if look is None else look
    beside = pair_with_sources(sources, lines, look)
    likeness, shown = np.ones(len(lines)), beside.shown
    likeness[beside.changed] = line_similarity(beside.theirs, beside.ours, threads=threads)
    filled: Bools = (shown & letters.FILLED) != 0
    for i in np.flatnonzero(shown & letters.BEYOND).tolist():  # str.isspace decides beyond ASCII
        filled[i] = not lines[i].isspace()
    displaced = _find_line_shifts(sources, lines, likeness)
    findings = container or (
        _find_unrelated_text(sources, lines, filled, likeness, displaced, path)
        or _check_shifts(sources, lines, likeness, displaced, path, before)
    )
    empty = [i + 1 for i in np.flatnonzero(~filled).tolist() if sources[i].strip()]
    if reference:
        problem = "the line is empty: a reference that deletes every word"
        remedy = "mark a missing reference in another way, see docs/formats.md"
        findings += [Finding("note", path, i, problem, remedy, "empty-reference") for i in empty]
    else:
        problem = "the line is empty, its source is not; it counts as deleting every word"
        remedy = "look whether the system failed here"
        findings += [Finding("warning", path, i, problem, remedy, "empty-line") for i in empty]
    if reference and len(sources) >= FEWEST and has_same_words(sources, lines):
        problem = "every line equals its source: a reference that corrects nothing"
        remedy = "is this the right file?"
        findings.append(Finding("warning", path, None, problem, remedy, "reference-is-source"))
    findings += compare_conventions(look, beside, path)
    pairs = list(zip(beside.theirs, beside.ours, strict=True))
    findings += check_damage(sources, lines, likeness, path, pairs)
    findings += check_characters(lines, path, beside=sources, shown=shown)
    if not before:
        return findings
    return [f if f.line is None else replace(f, line=f.line + before) for f in findings]


def _find_unrelated_text(
    sources: Sequence[str],
    lines: Sequence[str],
    there: Bools,
    likeness: NDArray[np.float64],
    displaced: NDArray[np.int64],
    path: str,
) -> list[Finding]:
    """A file whose lines are no more like their own sources than like any others."""
    if np.count_nonzero(there) < FEWEST or likeness[there].mean() >= ALIKE - MARGIN:
        return []
    n, filled = len(sources), np.flatnonzero(there).tolist()
    elsewhere = [sources[(i + n // 2) % n] for i in filled]
    chance = line_similarity(elsewhere, [lines[i] for i in filled])
    # Twice the standard error of the mean difference: what chance alone easily gives.
    difference = likeness[filled] - chance
    margin = 2 * difference.std() / np.sqrt(len(filled))
    if difference.mean() > max(margin, 0.05):
        return []
    if 2 * np.count_nonzero(displaced) > len(filled):
        return []
    problem = f"the lines resemble their own sources ({likeness.mean():.2f}) no more than "
    problem += f"sources elsewhere ({chance.mean():.2f})"
    remedy = "this is the output for another text, or in another order of lines" + OVERRIDE_HINT
    return [Finding("error", path, None, problem, remedy, "unrelated")]


def _find_line_shifts(
    sources: Sequence[str], lines: Sequence[str], likeness: NDArray[np.float64]
) -> NDArray[np.int64]:
    """For each line how many lines further its source stands; 0 where it is in its place."""
    n = len(sources)
    shifts = np.zeros(len(lines), np.int64)
    unlike = np.flatnonzero(likeness <= 1 - MARGIN).tolist()
    suspects = [i for i in unlike if len(lines[i]) >= SHORTEST]
    best = np.maximum(likeness + MARGIN, ALIKE)
    # Nearest first, and only strictly better replaces: a repeated source takes its nearest place.
    for shift in sorted((d for d in range(-WINDOW, WINDOW + 1) if d), key=abs):
        here = [i for i in suspects if 0 <= i + shift < n]
        found = line_similarity([sources[i + shift] for i in here], [lines[i] for i in here])
        for i, value in zip(here, found.tolist(), strict=True):
            if value > best[i] or (value == best[i] and not shifts[i]):
                best[i], shifts[i] = value, shift
    return shifts


def _check_shifts(
    sources: Sequence[str],
    lines: Sequence[str],
    likeness: NDArray[np.float64],
    displaced: NDArray[np.int64],
    path: str,
    before: int,
) -> list[Finding]:
    """Lines that belong to a source some lines away, joined into runs of one shift."""
    findings = []
    wrong = np.count_nonzero(displaced)
    severity: Severity = "error" if wrong >= FEWEST and 2 * wrong > len(lines) else "warning"
    for shift in np.unique(displaced[displaced != 0]).tolist():
        runs = _find_shifted_runs(
            np.flatnonzero(displaced == shift).tolist(), shift, sources, lines, likeness
        )
        for first, last, hits in runs:
            findings.append(_shift_finding(first, last, shift, hits, path, severity, before))
    return sorted(findings, key=lambda f: f.line or 0)


def _find_shifted_runs(
    hits: list[int],
    shift: int,
    sources: Sequence[str],
    lines: Sequence[str],
    likeness: NDArray[np.float64],
) -> list[tuple[int, int, int]]:
    """Join hits with what lies between, and with neighbours, if they fit the shift as well."""

    def fits_shift(i: int, least: float = 0.0) -> bool:
        if not (0 <= i < len(lines) and 0 <= i + shift < len(sources)):
            return False
        return bool(line_similarity([sources[i + shift]], [lines[i]])[0] >= max(least, likeness[i]))

    runs: list[list[int]] = []
    for i in hits:
        if runs and (i - runs[-1][1] <= 2 or all(map(fits_shift, range(runs[-1][1] + 1, i)))):
            runs[-1][1] = i
            runs[-1][2] += 1
        else:
            runs.append([i, i, 1])
    for run in runs:
        while run[0] < run[1] and fits_shift(run[0] - 1, ALIKE):
            run[0], run[2] = run[0] - 1, run[2] + 1
        while run[0] < run[1] and fits_shift(run[1] + 1, ALIKE):
            run[1], run[2] = run[1] + 1, run[2] + 1
    return [(first, last, count) for first, last, count in runs]


def _shift_finding(
    first: int, last: int, shift: int, hits: int, path: str, severity: Severity, before: int
) -> Finding:
    starts = first + before, first + before + shift
    lines, sources = (
        f"{start + 1}" if first == last else f"{start + 1}–{start + last - first + 1}"
        for start in starts
    )
    problem = f"output line {lines} looks like source line {sources}"
    remedy = "lines changed places"
    if first != last:
        away = f"{abs(shift)} {plural('line', abs(shift))} {'later' if shift < 0 else 'earlier'}"
        problem = (
            f"output lines {lines} look like source lines {sources} ({hits} of {last - first + 1} "
            f"lines): the text stands {away} than it should"
        )
        remedy = f"a line was {'lost' if shift > 0 else 'added'} before them"
    accept = ", or score knowing that they count as errors"
    remedy += f"; put the lines back{OVERRIDE_HINT if severity == 'error' else accept}"
    return Finding(severity, path, first + 1, problem, remedy, "shifted")


def _line_count_finding(sources: Sequence[str], lines: Sequence[str], path: str) -> Finding:
    """Say by how much the number of lines is wrong, and guess why."""
    n, m = len(sources), len(lines)
    blank = 0
    while blank < m and not lines[m - 1 - blank].strip():
        blank += 1
    few, many = min(n, m), abs(n - m)
    if any("\r" in line for line in lines[:50]) and m < n:
        where = 1
        remedy = r"lines end with carriage returns alone: convert them, as with tr '\r' '\n'"
    elif m > n and blank >= many:
        where = n + 1
        last = "line is blank: remove it" if many == 1 else f"{many} lines are blank: remove them"
        remedy = f"the last {last}"
    elif (first := _first_shift(sources, lines)) is not None:
        where, shift = first[0] + 1, first[1]
        way, what = ("later", "lost") if shift > 0 else ("earlier", "added")
        remedy = f"from line {where} on the lines look like sources {abs(shift)} {way}: "
        remedy += f"a line was {what} there"
    else:
        where = few + 1
        off = "missing" if m < n else "too many"
        remedy = f"{many} {'is' if many == 1 else 'are'} {off} at the end"
    problem = f"{m} {plural('line', m)}, but the corpus has {n} {plural('sentence', n)}"
    return Finding("error", path, where, problem, remedy, "line-count")


def _first_shift(sources: Sequence[str], lines: Sequence[str]) -> tuple[int, int] | None:
    """Where the first run of at least two lines out of place starts, and its shift."""
    few = min(len(sources), len(lines))
    lines = lines[:few]
    displaced = _find_line_shifts(sources, lines, line_similarity(sources[:few], lines))
    for shift, group in groupby(np.flatnonzero(displaced).tolist(), lambda i: displaced[i]):
        hits = list(group)
        if len(hits) > 1 or hits[0] == few - 1:
            return hits[0], int(shift)
    return None
