"""Edits between a sentence and its correction, whatever the language."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from errata.core.errors import InputError
from errata.data import Edit, Vocabulary, apply_edits
from errata.edits.aligner import _features, aligned_edits, extract_aligned
from errata.kernels import aligned_edits as edit_kernel
from errata.kernels import alignment
from pure import load_pure

WORDS = [
    *("the", "The", "cat", "cats", "can", "not", "cannot", "sat", ",", ".", "-", "on", "no", "mat"),
    *("teh", "2", "20", "κόσμος", "كتاب", "الكتاب", "x" * 70, "x" * 69 + "y"),
]
sentences = st.lists(st.sampled_from(WORDS), max_size=12)


def triples(source: str, target: str) -> list[tuple[str, str, str]]:
    """(old, new, kind) of each edit."""
    tokens = source.split()
    return [
        (" ".join(tokens[e.start : e.end]), e.replacement, e.kind)
        for e in aligned_edits(tokens, target.split())
    ]


@settings(deadline=None)
@given(sentences, sentences)
def test_edits_give_the_target_back(source: list[str], target: list[str]) -> None:
    edits = aligned_edits(source, target)
    assert apply_edits(source, edits) == target
    assert all(source[e.start : e.end] != e.replacement.split() for e in edits)
    assert [(e.start, e.end) for e in edits] == sorted((e.start, e.end) for e in edits)


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("He go home .", "He goes home .", [("go", "goes", "R:INFL")]),
        ("I recieve it", "I receive it", [("recieve", "receive", "R:SPELL")]),
        ("teh cat", "the cat", [("teh", "the", "R:SPELL")]),
        ("the facebook page", "the Facebook page", [("facebook", "Facebook", "R:ORTH")]),
        ("I can not go", "I cannot go", [("can not", "cannot", "R:SPACE")]),
        (
            "face-to-face talk",
            "face - to - face talk",
            [("face-to-face", "face - to - face", "R:SPACE")],
        ),
        ("it is , we know", "it is . We know", [(", we", ". We", "R:PUNCT")]),
        ("he also can go", "he can also go", [("also can", "can also", "R:WO")]),
        ("he go", "he go .", [("", ".", "M:PUNCT")]),
        ("the the cat", "the cat", [("the", "", "U:OTHER")]),
        ("He likes cat", "He likes the cat", [("", "the", "M:OTHER")]),
        ("inheriting a gene", "passing on a gene", [("inheriting", "passing on", "R:OTHER")]),
        (
            "big house here",
            "tiny garden here",
            [("big", "tiny", "R:OTHER"), ("house", "garden", "R:OTHER")],
        ),
        (
            "We discussing about its .",
            "We have been discussing it .",
            [("", "have been", "M:OTHER"), ("about", "", "U:OTHER"), ("its", "it", "R:INFL")],
        ),
        ("Unlike him , she was", "Like him , she was", [("Unlike", "Like", "R:INFL")]),
        ("in 2010 he", "in 2011 he", [("2010", "2011", "R:OTHER")]),
        ("studys here", "studies here", [("studys", "studies", "R:SPELL")]),
        # Punctuation in a word, as in text that is not tokenised
        (
            "Mr Smith left",
            "Mr. Smith left.",
            [("Mr", "Mr.", "R:PUNCT"), ("left", "left.", "R:PUNCT")],
        ),
        (
            "In 1990 i dont",
            "In 1990, I don't",
            [("1990", "1990,", "R:PUNCT"), ("i", "I", "R:ORTH"), ("dont", "don't", "R:PUNCT")],
        ),
        ("an e-mail", "an email", [("e-mail", "email", "R:SPACE")]),
        ("C C++", "C++ C", [("C C++", "C++ C", "R:WO")]),
        # A common stem draws words together more than common letters do.
        ("act", "actors cat", [("act", "actors", "R:INFL"), ("", "cat", "M:OTHER")]),
        # Words longer than a machine word are compared whole.
        (
            "a" * 65 + "b" * 35,
            "a" * 65 + "c" * 35,
            [("a" * 65 + "b" * 35, "a" * 65 + "c" * 35, "R:OTHER")],
        ),
        (
            "a" * 65 + "b" * 35,
            "a" * 65 + "c" * 15 + "b" * 20,
            [("a" * 65 + "b" * 35, "a" * 65 + "c" * 15 + "b" * 20, "R:SPELL")],
        ),
        ("", "New text", [("", "New text", "M:OTHER")]),
        ("Old text", "", [("Old text", "", "U:OTHER")]),
    ],
)
def test_kinds(source: str, target: str, expected: list[tuple[str, str, str]]) -> None:
    assert triples(source, target) == expected


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        # Ukrainian: an ending, a capital, a comma
        (
            "я бачу велике будинок який стоїть у києві",
            "я бачу великий будинок , який стоїть у Києві",
            [("велике", "великий", "R:INFL"), ("", ",", "M:PUNCT"), ("києві", "Києві", "R:ORTH")],
        ),
        # Greek: a spelling; final sigma folds to sigma, so a capital word is a change of case
        (
            "ο κόζμος είναι ΜΕΓΆΛΟΣ",
            "ο κόσμος είναι μεγάλος",
            [("κόζμος", "κόσμος", "R:SPELL"), ("ΜΕΓΆΛΟΣ", "μεγάλος", "R:ORTH")],
        ),
        # Arabic: the article as a prefix, and the Arabic comma
        (
            "قرأت كتاب ثم نمت",
            "قرأت الكتاب ، ثم نمت",
            [("كتاب", "الكتاب", "R:INFL"), ("", "،", "M:PUNCT")],
        ),
        # Chinese, one character per token: another order
        ("他 学 生 是", "他 是 学 生", [("学 生 是", "是 学 生", "R:WO")]),
        # Hindi: combining vowel signs are letters, not punctuation
        ("लड़का जाता हैं", "लड़का जाता है", [("हैं", "है", "R:INFL")]),
        ("क ि", "क ी", [("ि", "ी", "R:OTHER")]),
    ],
)
def test_other_scripts(source: str, target: str, expected: list[tuple[str, str, str]]) -> None:
    assert triples(source, target) == expected


def test_exact_matches_beat_changes_of_case() -> None:
    assert aligned_edits(["the", "The", "end"], ["The", "end"]) == (Edit(0, 1, "", "U:OTHER"),)
    assert aligned_edits(["the", "The", "end"], ["the", "end"]) == (Edit(1, 2, "", "U:OTHER"),)


def kernel_arguments(
    sources: list[list[str]], targets: list[list[str]]
) -> tuple[list[object], list[object]]:
    """What the alignment of pairs takes, and what merging its steps takes besides them."""
    vocabulary = Vocabulary()
    a, b = vocabulary.intern_tokens(sources), vocabulary.intern_tokens(targets)
    words, batch = _features(vocabulary.words()), [a.ids, a.offsets, b.ids, b.offsets]
    return [*batch, *words[:4], len(words.flags)], [*batch, *words[1:]]


@pytest.mark.slow
@settings(deadline=None)
@given(st.lists(st.tuples(sentences, sentences), max_size=4))
def test_the_kernel_gives_the_same_uncompiled(pairs: list[tuple[list[str], list[str]]]) -> None:
    arguments, others = kernel_arguments([s for s, _ in pairs], [t for _, t in pairs])
    steps = alignment.align(*arguments)
    np.testing.assert_array_equal(steps, load_pure("alignment").align(*arguments))
    pure = load_pure("aligned_edits")
    for whole in (False, True):
        np.testing.assert_array_equal(
            edit_kernel.merge_steps(steps, *others, whole), pure.merge_steps(steps, *others, whole)
        )


@settings(deadline=None)
@given(st.lists(st.sampled_from(["a", "A", "b", "c", "d", "ab"]), max_size=9), st.data())
def test_the_kernel_gives_what_the_whole_table_gives(
    source: list[str], data: st.DataObject
) -> None:
    target = data.draw(st.permutations(source) | st.lists(st.sampled_from([*source, "x"])))
    arguments, _ = kernel_arguments([source], [target])
    pure = load_pure("alignment")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pure, "ROOM", 99)
        whole = pure.align(*arguments)
    np.testing.assert_array_equal(alignment.align(*arguments), whole)


def test_a_text_too_long_to_align_is_refused() -> None:
    with pytest.raises(InputError, match="2 sources but 1 targets"):
        extract_aligned(["a", "b"], ["a"])
    with pytest.raises(InputError, match=r"the target of 'a a a a a'\.\.\. has 8000 tokens"):
        extract_aligned(["a", "a " * 8000], ["a", "b " * 8000])
