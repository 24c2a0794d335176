"""The sentences that show something first, against a look at one after the other."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from errata.data import Corpus, Edit, Hypotheses, Reference
from errata.scoring.results import Facts, find_witnesses

KINDS = st.lists(st.sampled_from("NVD"), max_size=2)
REFERENCES = st.lists(
    st.one_of(
        KINDS.map(lambda kinds: Reference(0, tuple(Edit(0, 1, "x", kind) for kind in kinds))),
        KINDS.map(lambda kinds: Reference(0, tuple(Edit(0, 1, "x", k) for k in kinds), "x")),
        st.just(Reference(0, text="b")),
        st.just(Reference(0, (), implied=True)),
    ),
    max_size=2,
)
SENTENCES = st.lists(st.tuples(REFERENCES, KINDS), min_size=1, max_size=8)


@given(SENTENCES)
def test_witnesses_are_the_first_to_show_a_thing(
    sentences: list[tuple[list[Reference], list[str]]],
) -> None:
    references = tuple(
        tuple(Reference(k, r.edits, r.text, r.implied) for k, r in enumerate(several))
        for several, _ in sentences
    )
    edits = tuple(tuple(Edit(0, 1, "y", kind) for kind in kinds) for _, kinds in sentences)
    corpus = Corpus(tuple(f"a{i}" for i in range(len(sentences))), references)
    plain = Hypotheses("plain", corpus.sources)
    edited = Hypotheses("edited", corpus.sources, edits)
    known: set[object] = set()
    wanted = []
    for i, several in enumerate(references):
        things: set[object] = {
            tuple((r.edits is None, r.text is None, r.implied) for r in several),
            *(("gold", edit.kind) for r in several for edit in r.edits or ()),
            *(("system", edit.kind) for edit in edits[i]),
        }
        if not things <= known:
            wanted.append(f"a{i}")
        known |= things
    found = find_witnesses([], corpus, [plain, edited], [])
    # What is told of a sentence has its references one by one: some tell nothing new.
    assert {each.source for each in found} <= {*wanted}
    told = {thing for each in found for thing in each.shows}
    for i, several in enumerate(references):
        assert f"references:{len(several)}" in told
        assert {f"kind:{e.kind}" for r in several for e in r.edits or ()} <= told
        assert {f"kind of 1:{e.kind}" for e in edits[i]} <= told
        assert {str((r.edits is None, r.text is None, r.implied)) for r in several} <= told


@given(SENTENCES)
def test_places_of_annotators_are_known_where_they_agree(
    sentences: list[tuple[list[Reference], list[str]]],
) -> None:
    references = tuple(
        tuple(Reference(3 * k + len(kinds), ()) for k, _ in enumerate(several))
        for several, kinds in sentences
    )
    corpus = Corpus(("a",) * len(sentences), references)
    facts = Facts.of([], corpus, [Hypotheses("A", corpus.sources)])
    for place in range(corpus.most_references):
        there = {refs[place].annotator for refs in references if len(refs) > place}
        assert facts.places[place] == (there.pop() if len(there) == 1 else None)


def test_a_sentence_shows_what_it_has_itself() -> None:
    kinds = ["N", "V", "D"]
    references = tuple((Reference(0, (Edit(0, 1, "x", kind),)),) for kind in kinds)
    corpus = Corpus(("a", "b", "c"), references)
    found = find_witnesses([], corpus, [Hypotheses("A", corpus.sources)], [])
    shape = "(False, True, False)"  # edits and no text, and not implied
    assert [each.shows for each in found] == [
        ("references:1", shape, f"kind:{kind}") for kind in kinds
    ]
