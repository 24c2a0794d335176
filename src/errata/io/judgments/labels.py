"""Do judgments name the systems that really wrote what was judged?

A ranking groups the systems whose outputs are the same text. Where the outputs are at hand that
can be checked, and a shift of the sentence numbers shows at once: the groups then fit the outputs
of the line before or after. The public judgments of Sakaguchi et al. (2016) on system outputs are
shifted in this way: their texts belong to one sentence, their labels to the next.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from errata.data import Judgment, Scores
from errata.errors import DataWarning, InputError
from errata.numbers import settled

__all__ = [
    "LabelFit",
    "Labels",
    "Outputs",
    "fit_labels",
    "fit_scores",
    "require_fit",
    "require_scores_fit",
    "same_text",
]

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
    def good(self) -> bool:
        """Whether the labels fit where they should, in all rankings but one in twenty."""
        return self.fits[0] >= 0.95 * self.rankings


def fit_labels(judgments: Iterable[Judgment], outputs: Outputs) -> LabelFit:
    """Count the rankings whose groups are as the outputs say, here and one sentence off.

    Groups fit when the outputs of the systems in one group are the same text and those of
    different groups differ. Where no judgment groups systems, as in lists of pairs, equal texts
    may be tied, but not ranked apart. Systems without outputs are left out.
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
            fits[offset] += _fits(
                groups, judgment.ranks, texts, judgment.sentence + offset, single=single
            )
    return LabelFit(rankings, fits)


def fit_scores(judgments: Iterable[Judgment], scores: Scores) -> LabelFit:
    """Count the rankings in which one text has one score, here and one sentence off.

    Systems of a group wrote the same text, so that a metric gives them the same score (different
    texts may share one too). Where no group has two systems with scores, nothing is counted.

    >>> found = Scores("m", ("A", "B"), np.zeros(2), np.array([[0.5, 0.2, 0.3], [0.5, 0.4, 0.1]]))
    >>> fit_scores([Judgment("ann", 1, (("A", "B"),), (1,))], found).fits
    {0: 0, 1: 0, -1: 1}
    """
    assert scores.sentences is not None
    place = {system: k for k, system in enumerate(scores.systems)}
    found = settled(scores.sentences.T)  # of each sentence by itself
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


def _fits(
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


def require_fit(
    judgments: Sequence[Judgment], outputs: Outputs, name: str, *, base: int = 0, remedy: str = ""
) -> None:
    """Refuse judgments whose labels do not fit the outputs; warn where that says nothing.

    ``base`` is what the sentences were counted from, so that the base that fits can be named;
    ``remedy`` is for a shift by one where that is not what helps.
    """
    fit = fit_labels(judgments, outputs)
    if fit.good:
        _warn_if_untold(judgments, outputs, name)
        return
    raise _misfit(fit, "the outputs", name, base, remedy)


def require_scores_fit(
    judgments: Sequence[Judgment], scores: Scores, name: str, *, base: int = 0
) -> None:
    """Refuse sentence scores that differ where systems are judged to have written the same."""
    fit = fit_scores(judgments, scores)
    if not fit.good:
        raise _misfit(fit, f"the scores of {scores.label}", name, base)


def _misfit(fit: LabelFit, what: str, name: str, base: int, remedy: str = "") -> InputError:
    best = max(OFFSETS, key=lambda offset: fit.fits[offset])
    problem = (
        f"the systems named fit {what} of the sentence in {fit.fits[0]} of {fit.rankings} rankings"
    )
    if best and fit.fits[best] > 0.8 * fit.rankings:
        problem += (
            f", those of the sentence {'after' if best > 0 else 'before'} it in {fit.fits[best]}"
        )
        problem += ": the sentence numbers are off by one"
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


def _warn_if_untold(judgments: Sequence[Judgment], outputs: Outputs, name: str) -> None:
    """Warn where too few outputs are there for a wrong label to show.

    It shows where one text was written by some of at least three systems and not by the others:
    texts that all differ, and two systems in any case, fit under each other's names as well.
    """
    judged = {system for judgment in judgments for group in judgment.groups for system in group}
    missing, there = sorted(judged - outputs.keys()), judged & outputs.keys()
    if not missing or (len(there) > 2 and any(_tells(j, outputs) for j in judgments)):
        return
    warnings.warn(
        f"{name}: in 0 of {len(judgments)} rankings the outputs can tell whether the systems are "
        f"named right: there is no output of {', '.join(missing)}; give the outputs of all systems",
        DataWarning,
        stacklevel=3,
    )


def _tells(judgment: Judgment, outputs: Outputs) -> bool:
    texts = [
        " ".join(outputs[name][judgment.sentence].split())
        for group in judgment.groups
        for name in group
        if name in outputs and judgment.sentence < len(outputs[name])
    ]
    return len(set(texts)) < len(texts)
