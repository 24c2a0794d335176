"""M2 as arrays: the same as line by line in everything, and references only for those who ask."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import errata.io.m2_arrays
from errata.data import Corpus, Hypotheses
from errata.data.edits import ReferenceTable
from errata.io.checks.alignment import check_alignment
from errata.io.checks.text import letter_flags, source_letter_flags
from errata.io.m2 import M2File, read_m2_text
from errata.io.m2_arrays import Scanned, TextPart, scan_part
from errata.metrics.m2.matching import gold_edits, gold_references
from m2_texts import NOOP, by_lines, line, m2_texts, refused
from pure import load_pure

# Sound ones, one out of order, and some that are read line by line.
MIXED = "\n\n".join(
    [
        f"S a b c d\n{line('0 1')}\n{line('2 3', 'y z')}\n{line('1 2', 'v', 1)}",
        f"S e é g\n{line('1 2', 'x||y||-NONE-', 1)}\n{NOOP}0\n{line('0 1', 'w', 3)}",
        "S h i",
        f"S j k\n{line('0 1', 'x', 4)}\n{line('1 2', '-NONE-', 2)}\n{NOOP}3",
        f"S l m\n{line('0 1')}\n{line('0 1')}",
        "S n\u00a0o p",
        f"S q r\n{NOOP}0",
        f"S s t\n{line('0 2', 's', 0, 'Ö')}",
    ]
)
SOUND = "\n\n".join(
    f"S w{k} go home .\n{line('1 2', 'goes', k % 3, f'K{k % 5}')}\n{line('3 4', '', k % 3)}"
    for k in range(60)
)


def same_corpus(ours: Corpus, theirs: Corpus) -> None:
    """Check that two corpora are the same, as columns and as objects."""
    assert ours.sources == theirs.sources
    np.testing.assert_array_equal(source_letter_flags(ours), letter_flags(theirs.sources))
    assert repr(ours) == repr(theirs)
    assert (ours.annotators, ours.most_references) == (theirs.annotators, theirs.most_references)
    mine, other = ours.edits, ReferenceTable.of(theirs.references)
    for each in fields(ReferenceTable):
        one, two = getattr(mine, each.name), getattr(other, each.name)
        if isinstance(two, np.ndarray):
            np.testing.assert_array_equal(one, two, each.name)
            assert one.dtype == two.dtype, each.name
        else:
            assert list(one) == list(two), each.name
    np.testing.assert_array_equal(mine.replacement_flags, other.replacement_flags)
    assert [mine.sentence(i) for i in range(len(ours))] == list(theirs.references)
    assert ours.references == theirs.references
    assert ours == theirs
    assert hash(ours) == hash(theirs)


def same_file(ours: Any, theirs: Any) -> None:
    if not isinstance(theirs, M2File):
        assert ours == theirs  # what the errors say
        return
    assert isinstance(ours, M2File)
    assert (ours.path, ours.lines, ours.findings) == (theirs.path, theirs.lines, theirs.findings)
    assert all(type(number) is int for number in ours.lines)
    same_corpus(ours.corpus, theirs.corpus)


def scanned(text: str) -> Scanned | None:
    """What the kernel reads of a text, all at once."""
    data = np.frombuffer(text.encode(), np.uint8)
    return scan_part(data, TextPart(0, len(data), 0))


@settings(max_examples=400)
@given(
    text=m2_texts(),
    first_line=st.sampled_from([1, 1, 7, 2**31 - 1, 2**40]),
    compatible=st.booleans(),
    collect=st.booleans(),
    size=st.sampled_from([1, 1, 30, 100, 2**21]),
    threads=st.sampled_from([1, 1, 2]),
)
def test_any_text_is_read_as_line_by_line(
    text: str, first_line: int, compatible: bool, collect: bool, size: int, threads: int
) -> None:
    given = {"first_line": first_line, "compatible": compatible, "collect": collect, "name": "gold"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("errata.io.m2_arrays.TOGETHER", size)
        same_file(
            refused(read_m2_text, text, "gold.m2", threads=threads, **given),
            refused(by_lines, text, "gold.m2", **given),
        )


@settings(max_examples=60)
@given(text=m2_texts(), compatible=st.booleans(), collect=st.booleans())
def test_the_plain_kernel_reads_the_same(text: str, compatible: bool, collect: bool) -> None:
    given = {"compatible": compatible, "collect": collect}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(errata.io.m2_arrays, "paragraphs", load_pure("paragraphs"))
        same_file(refused(read_m2_text, text, **given), refused(by_lines, text, **given))


@settings(max_examples=150)
@given(
    text=m2_texts(),
    bounds=st.tuples(*[st.none() | st.integers(-7, 7)] * 2),
    more=st.tuples(*[st.none() | st.integers(-4, 4)] * 2),
    step=st.sampled_from([None, 1, 1, 2, -1]),
    made=st.booleans(),
)
def test_parts_are_those_of_an_ordinary_corpus(
    text: str, bounds: Any, more: Any, step: Any, made: bool
) -> None:
    theirs = refused(by_lines, text, collect=True, compatible=True)
    if not isinstance(theirs, M2File):
        return
    ours = read_m2_text(text, collect=True, compatible=True).corpus
    if made:
        ours.edits.rows  # noqa: B018
    which = slice(*bounds, step)
    same_corpus(ours[which], theirs.corpus[which])
    part, other = ours[which][slice(*more)], theirs.corpus[which][slice(*more)]
    assert part.references == other.references
    same_corpus(ours[which][slice(*more)], other)
    moved = ours[which].starting_at(5)
    assert moved.first == 5
    same_corpus(moved, theirs.corpus[which])


def test_what_is_sound_is_read_by_the_kernel_and_the_rest_is_not() -> None:
    found = scanned(MIXED)
    assert found is not None
    assert found.unsound_paragraphs == [1, 4, 5]
    assert not found.odd_breaks
    assert found.paragraph_lines(4, 11) == [(28, "S l m"), (29, line("0 1")), (30, line("0 1"))]
    for text in (MIXED, REPEATED, f"{SOUND}\n\n{REPEATED}"):
        same_file(read_m2_text(text), by_lines(text))


def test_a_text_too_long_for_the_kernel_is_read_line_by_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("errata.kernels._doors.LARGEST", len(MIXED.encode()) - 1)
    monkeypatch.setattr("errata.io.m2_arrays.COUNTED", len(MIXED.encode()) - 1)
    same_file(read_m2_text(MIXED), by_lines(MIXED))
    assert len(read_m2_text("S a\n").corpus) == 1


# --- a corpus whose references are columns ---------------------------------------------------


@pytest.fixture
def ours() -> Corpus:
    return read_m2_text(MIXED, name="gold").corpus


@pytest.fixture
def theirs() -> Corpus:
    return by_lines(MIXED, name="gold").corpus


CHANGES: list[Callable[[Corpus], Corpus]] = [
    lambda c: c.keep_annotators(0),
    lambda c: c.keep_annotators(3, 1),
    lambda c: c.without_sentences(0, 4),
    lambda c: c.without_sentences(2).without_sentences(1),
    lambda c: replace(c, documents=tuple("aabbccdd"))[2:6],
    lambda c: replace(c, sources=c.sources[:2], references=c.references[:2]),
    lambda c: c[2:6].keep_annotators(0),
    lambda c: c[3:].without_sentences(1),
    copy.copy,
]


@pytest.mark.parametrize("change", CHANGES)
def test_changed_corpora(change: Callable[[Corpus], Corpus], ours: Corpus, theirs: Corpus) -> None:
    mine, other = change(ours), change(theirs)
    same_corpus(mine, other)
    same_corpus(ours, theirs)
    for name in ("kept", "skipped", "tokens", "first", "documents"):
        assert getattr(change(ours), name) == getattr(other, name)
    numbers = range(len(other))
    assert [*map(mine.number, numbers)] == [*map(other.number, numbers)]


# --- who asks -----------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 31, 32, 33, 60])
def test_an_output_that_is_a_reference_is_recognised(size: int) -> None:
    """Of the first sentences references are made one by one, of more all at once."""
    text = "\n\n".join(
        f"S w{k} go\n{line('1 2', 'goes', 0)}\n{line('1 2', 'went', 2)}" for k in range(size)
    )
    ours, theirs = read_m2_text(text).corpus, by_lines(text).corpus
    for word in ("goes", "went", "gone"):
        for wrong in {None, 0, size - 1}:
            lines = tuple(f"w{k} {'go' if k == wrong else word}" for k in range(size))
            found = check_alignment(ours, Hypotheses("A", lines))
            assert found == check_alignment(theirs, Hypotheses("A", lines))
            told = [f.problem for f in found if f.code == "is-reference"]
            expected = {"goes": 0, "went": 2}.get(word) if wrong is None else None
            assert [t[-1] for t in told] == ([] if expected is None else [str(expected)])


# --- repeated edits, alternatives, and who asks for edits as such ---------------------------------

REPEATED = "\n\n".join(
    [
        f"S a b c\n{line('0 1')}\n{line('0 1')}\n{line('1 2', 'y||z')}\n{line('1 2', 'z||y')}",
        f"S a b c\n{line('0 0', 'x')}\n{line('0 0', 'x')}\n{line('2 3', 'w', 1)}",
        f"S a b c\n{line('2 3', 'q', 1)}\n{line('2 3', 'q', 1)}\n{line('0 1', 'a  b', 1)}",
        f"S a b c\n{line('1 2', 'B')}\n{line('1 2', 'B', 1)}",
    ]
)


def test_repeated_edits_are_left_out_once() -> None:
    corpus = read_m2_text(REPEATED).corpus
    gold = gold_edits(corpus, "once")
    assert gold.repeats == {0: {1, 3}, 3: {1}}
    assert gold.arrays.gold_at.tolist() == [0, 2, 4, 5, 7, 8, 9]
    found = gold_references(corpus, gold)
    assert [len(edits) for _, edits in found] == [2, 2, 1, 2, 1, 1]
    assert [reference.annotator for reference, _ in found] == [0, 0, 1, 1, 0, 1]
    assert [len(r.edits or ()) for r, _ in found] == [4, 2, 1, 3, 1, 1]
    assert [e.replacements for e in found[0][1]] == [("x",), ("y", "z")]
    every = gold_edits(corpus, "official")
    assert every.repeats == {}
    assert [len(edits) for _, edits in gold_references(corpus, every)] == [4, 2, 1, 3, 1, 1]
