"""Right, wrong and missed edits one by one, against the counts of the metric."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from errata.comparison.compare import compare
from errata.comparison.edits import edit_changes, judged_edits
from errata.core.errors import InputError
from errata.data import Corpus, Edit, Hypotheses, Reference
from errata.datasets import sample_corpus, sample_systems
from errata.metrics.errant import Edits
from errata.metrics.errant_by_type import scores_by_type
from errata.scoring.evaluate import evaluate

WORDS = st.lists(st.sampled_from("abcd"), min_size=1, max_size=5).map(" ".join)
METRICS = [
    Edits(),
    Edits(mode="detection"),
    Edits(mode="token_detection"),
    Edits(types=True, gold="reextracted"),
    Edits(alternatives="any", duplicates=True),
    Edits(choice="isolated", ignore=("M:",)),
]


def states(metric: Edits, corpus: Corpus, systems: list[Hypotheses]) -> list[Counter[str]]:
    return [
        Counter(each.state for sentence in judged for each in sentence.edits)
        for judged in judged_edits(metric, corpus, systems)
    ]


@settings(max_examples=40, deadline=None)
@given(st.data(), st.sampled_from(METRICS))
def test_states_are_the_counts_of_the_metric(data: st.DataObject, metric: Edits) -> None:
    sources = data.draw(st.lists(WORDS, min_size=1, max_size=4))
    texts = st.lists(WORDS, min_size=len(sources), max_size=len(sources))
    corpus = Corpus.from_texts(sources, data.draw(st.lists(texts, min_size=1, max_size=3)))
    systems = [Hypotheses(name, tuple(data.draw(texts))) for name in "AB"]
    scores = evaluate(metric, corpus, systems, resamples=0, guard=False)
    for s, found in enumerate(states(metric, corpus, systems)):
        expected = [int(scores.parts[part][s]) for part in ("TP", "FP", "FN")]
        assert [found["right"], found["wrong"], found["missed"]] == expected


def test_kinds_are_those_of_the_table_by_type() -> None:
    corpus, systems = sample_corpus(), sample_systems()
    for metric in (Edits(), Edits(alternatives="any")):
        for system, judged in zip(systems, judged_edits(metric, corpus, systems), strict=True):
            table = scores_by_type(metric, corpus, system)
            found = Counter((each.kind, each.state) for s in judged for each in s.edits)
            for kind, row in zip(table.kinds, table.counts.tolist(), strict=True):
                assert [found[kind, state] for state in ("right", "wrong", "missed")] == row


def test_together_one_annotator_judges_all() -> None:
    """What two systems wrote alike is judged alike, whatever came before."""
    corpus, systems = sample_corpus(), sample_systems()
    alone = judged_edits(Edits(), corpus, systems)
    assert any(len({s.annotator for s in column}) > 1 for column in zip(*alone, strict=True))
    judged = judged_edits(Edits(), corpus, systems, together=True)
    for i, column in enumerate(zip(*judged, strict=True)):
        assert len({s.annotator for s in column}) == 1
        assert len({tuple(e.gold for e in s.asked) for s in column}) == 1
        by_text: dict[str, set[object]] = {}
        for system, sentence in zip(systems, column, strict=True):
            by_text.setdefault(system.sentences[i], set()).add(sentence)
        assert all(len(several) == 1 for several in by_text.values())
    turned = judged_edits(Edits(), corpus, systems[::-1], together=True)
    assert turned == judged[::-1]  # nobody's edits count for more
    pair = [systems[0], systems[3]]
    (found,) = compare((), corpus, pair[0], pair[1], resamples=0, trials=0)
    changes = edit_changes(*judged_edits(Edits(), corpus, pair, together=True))
    assert [replace(each, difficulty=0.0) for each in found.changes] == [
        replace(each, difficulty=0.0) for each in changes
    ]


def test_an_alternative_is_shown_as_the_system_wrote_it() -> None:
    asked = Edit(1, 2, "goes", "R:INFL", ("went",))
    corpus = Corpus(("He go home",), ((Reference(3, (asked,)),),))
    system = Hypotheses("A", ("He went home",))
    ((found,),) = judged_edits(Edits(alternatives="any"), corpus, [system])
    assert found.annotator == 3
    assert [(e.edit.replacement, e.state, e.gold) for e in found.edits] == [
        ("went", "right", asked)
    ]
    ((found,),) = judged_edits(Edits(), corpus, [system])
    assert [e.state for e in found.edits] == ["missed", "wrong"]
    with pytest.raises(InputError, match="no references"):
        judged_edits(Edits(), replace(corpus, references=((),)), [system])
