"""Every sentence laid out: its source, its references and its outputs, each as edits of the source.

A text is the source with edits carried out, so that it is shown with its changes in place and takes
little room. Outputs that are the same, and judged the same, share a row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from errata.data import Corpus, Edit, Hypotheses
from errata.edits import extract_all, with_edits
from errata.errors import InputError, visible
from errata.metrics.difficulty.map import DifficultyMap
from errata.metrics.errant import Edits
from errata.studies.edit_states import JudgedSentence

__all__ = ["STATES", "LaidOut", "ShownEdit", "ShownRow", "ShownState", "laid_out"]

# "changed" says what a system changed where nobody judged it, "asked" what an annotator asks for.
ShownState = Literal["right", "missed", "wrong", "changed", "asked"]
STATES: tuple[ShownState, ...] = ("right", "missed", "wrong", "changed", "asked")
EditPlace = tuple[int, int, int, int, str]  # sentence, annotator, start, end, replacement


class ShownEdit(NamedTuple):
    """An edit of the source tokens ``start:end``; ``weight`` is its difficulty, where known.

    ``others`` are corrections that are as good as the first.
    """

    start: int
    end: int
    replacement: str
    kind: str
    state: ShownState
    weight: float | None = None
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class ShownRow:
    """One text: whose it is, by whom it was judged, and its edits.

    ``whose`` numbers systems, or is annotators where it is a reference. ``text`` is given where the
    edits do not make it (edits that overlap, or of which some are left out).
    """

    whose: tuple[int, ...]
    edits: tuple[ShownEdit, ...]
    annotator: int | None = None
    text: str | None = None


@dataclass(frozen=True)
class LaidOut:
    """One sentence: its number in the corpus, from 1, and its texts."""

    number: int
    source: str
    references: tuple[ShownRow, ...]
    outputs: tuple[ShownRow, ...]


def laid_out(
    corpus: Corpus,
    systems: Sequence[Hypotheses],
    *,
    states: Sequence[Sequence[JudgedSentence]] | None = None,
    judge: Edits | None = None,
    difficulty: DifficultyMap | None = None,
) -> list[LaidOut]:
    """Lay out every sentence of a corpus.

    ``states`` are the judged edits of each system (`errata.studies.edit_states.judged_edits` with
    ``judge.single``: then each output is judged by the annotator best for it, whoever wrote it);
    without, outputs show what they changed. Edits that were not judged, because the judge leaves
    their kind out, are shown as such.

    >>> corpus = Corpus.from_texts(["He go home"], [["He goes home"]])
    >>> (found,) = laid_out(corpus, [Hypotheses("A", ("He went home",))])
    >>> found.outputs[0].edits[0][:5], found.references[0].whose
    ((1, 2, 'went', 'R:OTHER', 'changed'), (0,))
    """
    judge = judge or Edits(extractor="aligned")
    for h in systems:
        if len(h) != len(corpus):
            raise InputError(
                f"{h.system} has {len(h)} sentences, the corpus {len(corpus)}",
                remedy="one line per source sentence",
            )
    changes = _changes(corpus, systems, states)
    gold = with_edits(corpus, judge.gold, judge.extractor)
    weights = _weights(difficulty)
    found = []
    for i, source in enumerate(corpus.sources):
        tokens = source.split()
        references = [
            ShownRow(
                (reference.annotator,),
                tuple(_asked(reference.edits or (), i, reference.annotator, weights)),
                text=_left(tokens, reference.edits or (), reference.corrected(source)),
            )
            for reference in gold.references[i]
        ]
        outputs = [
            _judged_row(s, source, h.sentences[i], states[s][i], changes, (i, weights))
            if states is not None
            else ShownRow((s,), _changed(changes.get((source, h.sentences[i]), ())))
            for s, h in enumerate(systems)
        ]
        found.append(
            LaidOut(
                corpus.number(i),
                visible(" ".join(tokens)),
                tuple(_together(references)),
                tuple(_together(outputs)),
            )
        )
    return found


def carried_out(tokens: Sequence[str], edits: Iterable[Edit]) -> list[str] | None:
    """The tokens with edits carried out, or None where they overlap.

    >>> carried_out(["a"], [Edit(0, 1, "b"), Edit(1, 1, "c d")]), carried_out(
    ...     ["a"], [Edit(0, 1, "b"), Edit(0, 1, "c")])
    (['b', 'c', 'd'], None)
    """
    done: list[str] = []
    at = 0
    for edit in sorted(edits, key=lambda e: (e.start, e.end)):
        if edit.start < at:
            return None
        done += tokens[at : edit.start]
        done += edit.replacement.split()
        at = edit.end
    return done + list(tokens[at:])


def _changes(
    corpus: Corpus, systems: Sequence[Hypotheses], states: Sequence[Sequence[JudgedSentence]] | None
) -> dict[tuple[str, str], tuple[Edit, ...]]:
    """What each output changed, where judged edits do not say it."""
    wanted: dict[tuple[str, str], None] = {}
    for s, h in enumerate(systems):
        for i, (source, output) in enumerate(zip(corpus.sources, h.sentences, strict=True)):
            if states is not None:
                made = [each.edit for each in states[s][i].edits if each.state != "missed"]
                if carried_out(source.split(), made) == output.split():
                    continue
            wanted[source, output] = None
    pairs = list(wanted)
    edits = extract_all([source for source, _ in pairs], [output for _, output in pairs])
    return dict(zip(pairs, edits, strict=True))


def _changed(edits: Iterable[Edit]) -> tuple[ShownEdit, ...]:
    return tuple(_shown(edit, edit.kind, "changed") for edit in edits)


def _shown(edit: Edit, kind: str, state: ShownState, weight: float | None = None) -> ShownEdit:
    """An edit as it may be shown; only what is asked for has several corrections."""
    others = edit.alternatives if state in ("missed", "asked") else ()
    return ShownEdit(
        edit.start,
        edit.end,
        visible(edit.replacement),
        visible(kind) or "-",
        state,
        weight,
        tuple(map(visible, others)),
    )


def _judged_row(
    system: int,
    source: str,
    output: str,
    judged: JudgedSentence,
    changes: dict[tuple[str, str], tuple[Edit, ...]],
    where: tuple[int, dict[EditPlace, float]],
) -> ShownRow:
    """The row of one output, with what was judged of it and what was not."""
    sentence, weights = where
    tokens = source.split()
    made: list[Edit] = []
    shown: dict[ShownEdit, None] = {}  # in order, each once
    for each in judged.edits:
        weight = None
        if each.gold is not None and judged.annotator is not None:
            gold = each.gold
            place = (sentence, judged.annotator, gold.start, gold.end, gold.replacement)
            weight = weights.get(place)
        shown[_shown(each.edit, each.kind, each.state, weight)] = None
        if each.state != "missed" and each.edit not in made:
            made.append(each.edit)
    text = None
    if (source, output) in changes and carried_out(tokens, made) != output.split():
        others = [
            edit for edit in changes[source, output] if not any(_touch(edit, mine) for mine in made)
        ]
        shown |= dict.fromkeys(_changed(others))
        text = _left(tokens, [*made, *others], output)
    edits = sorted(shown, key=lambda e: (e.start, e.end, e.state == "missed"))
    return ShownRow((system,), tuple(edits), judged.annotator, text)


def _touch(first: Edit, second: Edit) -> bool:
    """Whether two edits cannot both be carried out, or in no clear order."""
    return (first.start < second.end and second.start < first.end) or (
        first.start == second.start and first.start == first.end == second.end
    )


def _left(tokens: list[str], edits: Iterable[Edit], text: str) -> str | None:
    """The text, where the edits do not make it."""
    return None if carried_out(tokens, edits) == text.split() else visible(text)


def _asked(
    edits: Iterable[Edit], sentence: int, annotator: int, weights: dict[EditPlace, float]
) -> Iterable[ShownEdit]:
    for edit in edits:
        place = (sentence, annotator, edit.start, edit.end, edit.replacement)
        yield _shown(edit, edit.kind, "asked", weights.get(place))


def _weights(found: DifficultyMap | None) -> dict[EditPlace, float]:
    """The weight of every error, by where it stands."""
    if found is None:
        return {}
    chunks = found.chunks
    weights: dict[EditPlace, float] = {}
    rows, unit_of, values = chunks.rows.tolist(), chunks.unit_of.tolist(), found.weights.tolist()
    for (_, _, _, number), unit, value in zip(rows, unit_of, values, strict=True):
        if number >= 0:
            edit = chunks.edits[unit][number]
            i, r = int(chunks.sentences[unit]), int(chunks.references[unit])
            annotator = found.corpus.references[i][r].annotator
            weights[i, annotator, edit.start, edit.end, edit.replacement] = value
    return weights


def _together(rows: Iterable[ShownRow]) -> Iterable[ShownRow]:
    """Rows that read alike as one, in the order of the first of each."""
    alike: dict[object, list[ShownRow]] = {}
    for row in rows:
        alike.setdefault((row.edits, row.annotator, row.text), []).append(row)
    for several in alike.values():
        first = several[0]
        whose = tuple(number for row in several for number in row.whose)
        yield ShownRow(whose, first.edits, first.annotator, first.text)
