"""Find duplicates, look-alike names, and labels that do not fit the outputs.

A ranking groups systems with the same output. Given the outputs, a shift of the sentence numbers
shows: the groups then fit the line before or after. The public judgments of Sakaguchi et al. (2016)
are shifted in this way: their texts belong to one sentence, their labels to the next.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from errata.core.errors import InputError, warn_of_data
from errata.core.stats import merge_ties
from errata.data import Judgment, Scores
from errata.io.rows import normalise_title

CLOSE = 0.8  # how alike two words must be to be taken for one: a letter in ten
LONGEST_TIME = 1e9  # seconds; some thirty years


def is_duration(seconds: float) -> bool:
    """Whether this can be a time that somebody took: not negative, for ever or NaN."""
    return 0 <= seconds < LONGEST_TIME


def refuse_duplicate_columns(titles: Sequence[str], name: str) -> None:
    """Refuse a table with two columns of one title, whatever its case, blanks and marks."""
    keys = [normalise_title(title) for title in titles]
    for key, title in zip(keys, titles, strict=True):
        if key and keys.count(key) > 1:
            raise InputError(f"two columns {title}", path=name, line=1, remedy="remove one of them")


class UnknownValues:
    """Words of a file that nobody reads: a slip of the pen is refused, others are reported once.

    >>> UnknownValues("x.xml").record_unread("attribute", "skiped", ("skipped", "user"), 3)
    Traceback (most recent call last):
    errata.core.errors.InputError: x.xml:3: unknown attribute 'skiped'; did you mean 'skipped'?
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._met: dict[str, int] = {}

    def record_unread(self, what: str, word: str, known: Iterable[str], line: int) -> None:
        """Note a word that is none of those known; refuse it where it resembles one of them."""
        shown = f"{what} {word[:60]!r}"
        if shown in self._met:
            return
        spelt = {one.casefold(): one for one in known}
        close = difflib.get_close_matches(word[:60].casefold(), spelt, 1, CLOSE)
        if close:
            remedy = f"did you mean {spelt[close[0]]!r}?"
            raise InputError(f"unknown {shown}", path=self.name, line=line, remedy=remedy)
        if len(self._met) < 20:
            self._met[shown] = line

    def warn(self) -> None:
        """Say what was not read."""
        if self._met:
            line = next(iter(self._met.values()))
            warn_of_data(
                f"{self.name}:{line}: not read: {', '.join(self._met)}; remove it, or check how "
                "it is spelt"
            )


Outputs = Mapping[str, Sequence[str]]
Labels = Literal["check", "text", "given"]
OFFSETS = (0, 1, -1)
BASES = (0, 1)  # sentences are counted from 0 or from 1
_UNSURE = re.compile(r"[\s'\"`‘’“”]+")


def same_text(text: str) -> str:
    """A text without blanks and quotation marks, which collection pages tend to change.

    >>> same_text("the individual `s risk") == same_text("the individual 's  risk")
    True
    """
    return _UNSURE.sub("", text)


@dataclass(frozen=True)
class LabelFit:
    """In how many of ``rankings`` the groups fit the outputs of the sentence ``offset`` further."""

    rankings: int
    fits: Mapping[int, int]

    @property
    def is_good(self) -> bool:
        """Whether the labels fit where they should, in all rankings but one in twenty."""
        return self.fits[0] >= 0.95 * self.rankings


def compare_labels_with_outputs(judgments: Iterable[Judgment], outputs: Outputs) -> LabelFit:
    """Count the rankings whose groups are as the outputs say, here and one sentence off.

    Groups fit when outputs in one group are equal and those of different groups differ. Where no
    judgment groups systems, as in lists of pairs, equal texts may be tied, but not ranked apart.
    """
    texts = {
        name: [" ".join(text.split()) for text in sentences] for name, sentences in outputs.items()
    }
    judgments = list(judgments)
    single = all(len(group) == 1 for judgment in judgments for group in judgment.groups)
    fits = dict.fromkeys(OFFSETS, 0)
    rankings = 0
    for judgment in judgments:
        groups = [[name for name in group if name in texts] for group in judgment.groups]
        sizes = list(map(len, filter(None, groups)))
        if len(sizes) < 2 and max(sizes, default=0) < 2:
            continue
        rankings += 1
        for offset in OFFSETS:
            fits[offset] += _groups_match_outputs(
                groups, judgment.ranks, texts, judgment.sentence + offset, single=single
            )
    return LabelFit(rankings, fits)


def compare_labels_with_scores(judgments: Iterable[Judgment], scores: Scores) -> LabelFit:
    """Count the rankings in which one text has one score, here and one sentence off.

    Systems of a group wrote the same text, which a metric scores alike; other rankings say nothing.

    >>> found = Scores("m", ("A", "B"), np.zeros(2), np.array([[0.5, 0.2, 0.3], [0.5, 0.4, 0.1]]))
    >>> compare_labels_with_scores([Judgment("ann", 1, (("A", "B"),), (1,))], found).fits
    {0: 0, 1: 0, -1: 1}
    """
    assert scores.sentences is not None
    place = {system: k for k, system in enumerate(scores.systems)}
    found = merge_ties(scores.sentences.T)  # for each sentence separately
    fits = dict.fromkeys(OFFSETS, 0)
    rankings = 0
    for judgment in judgments:
        groups = [[place[name] for name in group if name in place] for group in judgment.groups]
        shared = [group for group in groups if len(group) > 1]
        if not shared:
            continue
        rankings += 1
        for offset in OFFSETS:
            sentence = judgment.sentence + offset
            fits[offset] += 0 <= sentence < len(found) and all(
                np.array_equal(own[1:], own[:-1], equal_nan=True)
                for own in (found[sentence, group] for group in shared)
            )
    return LabelFit(rankings, fits)


def _groups_match_outputs(
    groups: Sequence[Sequence[str]],
    ranks: Sequence[int | None],
    texts: Mapping[str, Sequence[str]],
    sentence: int,
    *,
    single: bool,
) -> bool:
    seen: dict[str, int | None] = {}
    for group, rank in zip(groups, ranks, strict=True):
        if not all(0 <= sentence < len(texts[name]) for name in group):
            return False
        own = {texts[name][sentence] for name in group}
        if len(own) > 1 or any(not single or seen[text] != rank for text in own & seen.keys()):
            return False
        seen |= dict.fromkeys(own, rank)
    return True


def require_labels_match_outputs(
    judgments: Sequence[Judgment], outputs: Outputs, name: str, *, base: int = 0, remedy: str = ""
) -> None:
    """Refuse judgments whose labels do not fit the outputs; warn where that says nothing.

    ``base`` is the number of the first sentence; ``remedy`` replaces the advice on a shift by one.
    """
    fit = compare_labels_with_outputs(judgments, outputs)
    if fit.is_good:
        _warn_of_missing_outputs(judgments, outputs, name)
        return
    raise _mismatch_error(fit, "the outputs", name, base, remedy)


def require_labels_match_scores(
    judgments: Sequence[Judgment], scores: Scores, name: str, *, base: int
) -> None:
    """Refuse sentence scores that differ where systems are judged to have written the same."""
    fit = compare_labels_with_scores(judgments, scores)
    if not fit.is_good:
        raise _mismatch_error(fit, f"the scores of {scores.label}", name, base)


def _mismatch_error(fit: LabelFit, what: str, name: str, base: int, remedy: str = "") -> InputError:
    best = max(OFFSETS, key=lambda offset: fit.fits[offset])
    share = f"{fit.fits[0]} of {fit.rankings} rankings"
    problem = f"the systems named fit {what} of the sentence in {share}"
    if best and fit.fits[best] > 0.8 * fit.rankings:
        place = "after" if best > 0 else "before"
        problem += f", those of the sentence {place} it in {fit.fits[best]}: the sentence numbers "
        problem += "are off by one"
        right = base - best
        remedy = remedy or (
            f"count the sentences from {right} (--base {right})"
            if right in BASES
            else "correct the sentence numbers of the judgments"
        )
    else:
        those = what if what.startswith("the scores") else "the outputs that were judged"
        remedy = f"are these {those}? (--labels given takes them as they are)"
    return InputError(problem, path=name, remedy=remedy)


def _warn_of_missing_outputs(judgments: Sequence[Judgment], outputs: Outputs, name: str) -> None:
    """Warn where too few outputs are there for a wrong label to show.

    It shows only where some of at least three systems wrote one text and the others did not.
    """
    judged = {system for judgment in judgments for group in judgment.groups for system in group}
    missing, there = sorted(judged - outputs.keys()), judged & outputs.keys()
    if not missing or (len(there) > 2 and any(_has_equal_outputs(j, outputs) for j in judgments)):
        return
    warn_of_data(
        f"{name}: in 0 of {len(judgments)} rankings the outputs can tell whether the systems are "
        f"named right: there is no output of {', '.join(missing)}; give the outputs of all systems"
    )


def _has_equal_outputs(judgment: Judgment, outputs: Outputs) -> bool:
    texts = [
        " ".join(outputs[name][judgment.sentence].split())
        for group in judgment.groups
        for name in group
        if name in outputs and judgment.sentence < len(outputs[name])
    ]
    return len(set(texts)) < len(texts)


# ---- Names of judges and systems that look alike and are not the same.

_UNSEEN = re.compile(r"[\u200b-\u200f\u202a-\u202e\u2060\ufeff\u00ad]")

_BROKEN = re.compile(r"[\t\r\n]")


def similar_names(names: Iterable[str]) -> list[str]:
    """Return the oddities of names: two that differ in case, blanks or Unicode form only.

    >>> similar_names(["B", " B", "Ren\u00e9", "Rene\u0301", "C"])
    ["' B' and 'B' differ in blanks or Unicode form only", \
"'Rene\u0301' and 'Ren\u00e9' differ in blanks or Unicode form only"]
    """
    found: dict[str, list[str]] = {}
    cased: dict[str, list[str]] = {}
    for name in sorted(set(names)):
        plain = unicodedata.normalize("NFC", " ".join(_UNSEEN.sub("", name).split()))
        if plain not in found:
            cased.setdefault(plain.casefold(), []).append(name)
        found.setdefault(plain, []).append(name)
    problems = [
        f"{_join_names(same)} differ in case only" for same in cased.values() if len(same) > 1
    ]
    for same in found.values():
        name = same[0]
        if len(same) > 1:
            problems.append(f"{_join_names(same)} differ in blanks or Unicode form only")
        elif name != name.strip():
            problems.append(f"{name[:60]!r} has blanks around it")
        elif _BROKEN.search(name):
            problems.append(f"{name[:60]!r} has a line end or a tab in it")
    return problems


def _join_names(names: list[str]) -> str:
    return " and ".join(repr(name[:60]) for name in names[:3])


def warn_about_similar_names(judgments: Iterable[Judgment], source: str) -> Iterator[Judgment]:
    """Yield the judgments; then refuse blank names and warn about names that look alike."""
    judges: set[str] = set()
    groups: set[tuple[str, ...]] = set()
    for judgment in judgments:
        judges.add(judgment.judge)
        groups.update(judgment.groups)
        yield judgment
    systems = {name for group in groups for name in group}
    for what, names in (("judge", judges), ("system", systems)):
        if not all(name.strip() for name in names):
            raise InputError(f"a {what} without a name", path=source, remedy="give it one")
        for problem in similar_names(names):
            warn_of_data(
                f"{source}: the {what}s {problem}; they count as they are written. Write each in "
                "one way only"
            )


# ---- The same judgment twice, in one file or in several: exports overlap every day.

REMEMBERED = 1_000_000  # judgments known, so that input of any size takes little memory
FEW, SHARE = 3, 0.05  # no more equal judgments, in number or share, are a judge of the same mind


# Messages about judgments that are there twice, by what becomes of them.
_REPEATED = {
    "dropped": "in the same words; it counts once",
    "alike": "in the same words, without item or time: each time counts. Remove one if it was "
    "made once, or give both the same item",
    "other": "stands there twice, with other ranks; each time counts. Remove one, or name the "
    "items apart if both were judged",
}


class DuplicateFilter:
    """Remembers the judgments of one or more files; each is counted once.

    >>> repeats = DuplicateFilter()
    >>> repeats.start_file("a.xml")
    >>> judgment = Judgment("ann", 0, (("A",), ("B",)), (1, 2), "item 1")
    >>> repeats.is_new(judgment, 3), repeats.is_new(judgment, 4)
    (True, False)
    """

    def __init__(self) -> None:
        self._known: list[tuple[str, set[int]]] = []
        self._items: set[int] = set()
        self._size = 0

    def start_file(self, name: str) -> None:
        """Begin with a file."""
        self.name, self._read = name, 0
        self._counted: Counter[str] = Counter()
        self._first: dict[str, str] = {}
        self._known.append((name, set()))

    def is_new(self, judgment: Judgment, line: int) -> bool:
        """Whether a judgment counts: it was not seen before, or may be another one."""
        j = judgment
        whole = hash((j.judge, j.sentence, j.item, j.groups, j.ranks, j.seconds, j.time))
        return self._is_new(whole, j, j.item, 1, line)

    def is_new_run(self, run: list[Judgment], item: str, line: int) -> bool:
        """Whether judgments that stand together count; ``item`` is their name in the file."""
        first = run[0]
        said = tuple((j.groups, j.ranks) for j in run)
        whole = hash((first.judge, first.sentence, item, said))
        return self._is_new(whole, first, item, len(run), line)

    def _is_new(self, whole: int, first: Judgment, item: str, size: int, line: int) -> bool:
        self._read += size
        where = next((name for name, known in reversed(self._known) if whole in known), None)
        if where is not None:
            surely = bool(item) or bool(first.seconds) or first.time is not None
            place = "before" if where == self.name else f"in {where}"
            what = f"{_describe_judgment(first.judge, item)} stands {place}"
            self._record_repeat("dropped" if surely else "alike", what, line, size)
            return not surely
        # Of one item, several pairs may be compared; a longer ranking is all that was shown.
        pair = frozenset(first.groups) if len(first.groups) == 2 else None
        named = hash((first.judge, first.sentence, item, pair)) if item else None
        if named in self._items:
            self._record_repeat("other", _describe_judgment(first.judge, item), line)
        if self._size < REMEMBERED:
            self._size += 1
            self._known[-1][1].add(whole)
            if named is not None:
                self._items.add(named)
        return True

    def _record_repeat(self, kind: str, what: str, line: int, size: int = 1) -> None:
        self._first.setdefault(kind, f"{self.name}:{line}: {what}")
        self._counted[kind] += size

    def is_new_row(self, judge: str, item: str, line: int, *, same: bool) -> bool:
        """Whether a row counts that names the systems of another row of its item."""
        if not same:
            if item:
                self._record_repeat("other", _describe_judgment(judge, item), line)
            return True
        kind = "dropped" if item else "alike"
        self._record_repeat(kind, f"{_describe_judgment(judge, item)} stands before", line)
        return not item

    def report_repeats(self) -> None:
        """Say what was found in the file; refuse it where too much of it was there before."""
        if self._counted["alike"] > max(FEW, SHARE * self._read):
            raise InputError(
                f"{self._counted['alike']} of {self._read} judgments stand there twice, or in "
                f"another file too ({self._first['alike']})",
                remedy="give every judgment once; if they were made twice, name the items apart",
            )
        for kind, message in _REPEATED.items():
            if count := self._counted[kind]:
                more = f" (so do {count - 1} more)" if count > 1 else ""
                text = f"{self._first[kind]} {message}{more}"
                warn_of_data(text, stacklevel=4)


def _describe_judgment(judge: str, item: str) -> str:
    return f"item {item[:60]!r} of {judge[:60]}" if item else f"a judgment of {judge[:60]}"
