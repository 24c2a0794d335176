"""M2 against the official scorer, row by row, and what it promises beyond."""

import csv
import json
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from errata.core.errors import InputError
from errata.data import Corpus, Edit, Hypotheses, Reference, ReferenceTable
from errata.io import read_hypotheses, read_m2
from errata.io.m2 import parse_m2, read_m2_text
from errata.metrics import parse
from errata.metrics.base import describe_data
from errata.metrics.m2 import M2, optimal_choice
from errata.metrics.m2.matching import _reachable_corrections, shrink
from errata.scoring.evaluate import evaluate
from m2_texts import line
from scored import scored

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "m2_edge_cases.json").read_text())
Conll = tuple[Corpus, dict[str, Hypotheses]]
OPTIONS = {"--beta": ("beta", float), "--max_unchanged_words": ("max_unchanged", int)}


def metric_of(options: list[str], **more: Any) -> M2:
    known: dict[str, Any] = dict(more)
    if "--ignore_whitespace_casing" in options:
        known["ignore_case"] = True
    for flag, value in pairwise(options):
        if flag in OPTIONS:
            name, kind = OPTIONS[flag]
            known[name] = kind(value)
    return M2(**known)


def edge_case(case: dict[str, Any]) -> tuple[Corpus, Hypotheses]:
    file = parse_m2(case["m2"].split("\n"), compatible=case["name"] == "multi_S_paragraph")
    return file.corpus, Hypotheses("A", tuple(case["hypotheses"].splitlines()))


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: case["name"])
def test_edge_cases(case: dict[str, Any]) -> None:
    corpus, hypotheses = edge_case(case)
    m2 = metric_of(case["options"], duplicates="official")
    counts = m2.count(corpus, hypotheses)
    choice = m2.choose(counts)[0]
    ids = [refs[k].annotator for refs, k in zip(corpus.references, choice, strict=True)]
    assert ids == case["annotators"]
    totals = counts[np.arange(len(corpus)), choice].sum(axis=0)
    assert totals.tolist() == [case["correct"], case["proposed"], case["gold"]]
    parts = m2.figures(totals)
    shown = [f"{x:.4f}" for x in (parts["P"], parts["R"], m2.score(totals))]
    assert shown == [f"{case[x]:.4f}" for x in "PRF"]
    m2 = metric_of(case["options"])
    counts = m2.count(corpus, hypotheses)
    picked = counts[np.arange(len(corpus)), m2.choose(counts)[0]]
    for (correct, proposed, gold), edits in zip(
        picked, m2.explain(corpus, hypotheses), strict=True
    ):
        assert [len(edits.correct), len(edits.wrong)] == [correct, proposed - correct]
        assert len(edits.missed) == gold - correct


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: case["name"])
def test_edits_shown_in_edge_cases(case: dict[str, Any]) -> None:
    corpus, hypotheses = edge_case(case)
    m2 = metric_of(case["options"], duplicates="official")
    shown = iter(case["edits"])
    for i, refs in enumerate(corpus.references):
        for reference in sorted(refs, key=lambda r: r.annotator):
            one = Corpus((corpus.sources[i],), ((reference,),))
            source = corpus.sources[i].split()
            found = m2.explain(one, hypotheses[i : i + 1])[0]
            edits = {shrink(edit, source) for edit in (*found.correct, *found.wrong)}
            assert found.annotator == reference.annotator
            assert {
                (e.start, e.end, " ".join(source[e.start : e.end]), e.replacement) for e in edits
            } == {tuple(edit) for edit in next(shown)}


def test_edge_cases_of_release_3_2(oracles: Path) -> None:
    differing = set()
    for case in json.loads((oracles / "m2" / "edge_cases.json").read_text()):
        if "error" in case["v32"]:
            continue
        corpus, hypotheses = edge_case({**case, "hypotheses": case["hyp"]})
        m2 = metric_of(case["options"], duplicates="official", version="3.2")
        scores = scored(m2, corpus, hypotheses)
        for name in ("correct", "proposed", "gold"):
            assert scores.parts[name][0] == case["v32"][name], case["name"]
        if case["v32"] != case["head"]:
            differing.add(case["name"])
    assert differing == {"initial_insert_two_phrase_gold"}


def test_the_mean_over_sentences() -> None:
    one, two = Reference(0, (Edit(0, 1, "A"),)), Reference(1, (Edit(0, 1, "B"), Edit(1, 2, "C")))
    corpus = Corpus(("a b", "a b", "c"), ((one, two), (one,), (Reference(0, ()),)))
    system = Hypotheses("s", ("B b", "a b", "c"))
    for choice in ("sequential", "optimal", "isolated"):
        scores = evaluate(M2(total="mean", choice=choice), corpus, system, resamples=10)
        assert scores.sentences[0].tolist() == [1.25 * 0.5 / (0.25 + 0.5), 0.0, 1.0]
        assert scores["s"] == scores.sentences[0].mean()
        assert [scores.parts[n][0] for n in ("correct", "proposed", "gold")] == [1, 1, 3]


def test_only_repeated_gold_edits_count_otherwise_by_default() -> None:
    differing = {}
    for case in GOLDEN["cases"]:
        corpus, hypotheses = edge_case(case)
        ours = metric_of(case["options"]).count(corpus, hypotheses)
        official = metric_of(case["options"], duplicates="official").count(corpus, hypotheses)
        if not np.array_equal(ours, official, equal_nan=True):
            differing[case["name"]] = ours[0, 0].tolist()
    assert differing == {
        "duplicate_gold_doublecount": [1, 1, 1],
        "duplicate_insertion_gold": [1, 1, 2],
    }


def read_oracle(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


@pytest.fixture(scope="module")
def conll(conll14: Path, submissions: Path) -> Conll:
    corpus = read_m2(next(conll14.glob("*.m2")))
    systems = [read_hypotheses(path) for path in sorted(submissions.iterdir())]
    return corpus, {system.system: system for system in systems}


def test_every_sentence_of_every_system(oracles: Path, conll: Conll) -> None:
    corpus, systems = conll
    rows = read_oracle(oracles / "m2" / "sentences.tsv")
    assert len(rows) == 17_056
    m2, last = M2(), M2(sentences="last")
    for name in sorted({row["system"] for row in rows}):
        mine = [row for row in rows if row["system"] == name]
        assert [int(row["sid"]) for row in mine] == list(range(1312))
        counts = m2.count(corpus, systems[name])
        for prefix, choice in (
            ("", m2.choose(counts)[0]),
            ("iso_", m2.for_sentences.choose(counts)[0]),
        ):
            ids = [refs[k].annotator for refs, k in zip(corpus.references, choice, strict=True)]
            column = "iso_annotator" if prefix else "chosen_annotator"
            assert ids == [int(row[column]) for row in mine]
            expected = [[int(row[prefix + x]) for x in m2.statistics] for row in mine]
            np.testing.assert_array_equal(counts[np.arange(1312), choice], expected)
        for metric, column in ((m2, "iso_F0.5"), (last, "last_annotator_F0.5")):
            choice = metric.for_sentences.choose(counts)[0]
            scores = metric.for_sentences.score(counts[np.arange(1312), choice])
            np.testing.assert_allclose(
                scores, [float(row[column]) for row in mine], rtol=1e-12, atol=1e-12
            )


@pytest.mark.parametrize("gold", ["both", "ann0"])
def test_every_corpus_score(gold: str, oracles: Path, conll: Conll) -> None:
    corpus, systems = conll
    if gold == "ann0":
        # the official run had only annotator 0's lines, and no line means nothing to correct
        corpus = Corpus(
            corpus.sources,
            tuple(
                tuple(r for r in refs if r.annotator == 0) or (Reference(0, ()),)
                for refs in corpus.references
            ),
        )
    rows = [row for row in read_oracle(oracles / "m2" / "corpus.tsv") if row["gold"] == gold]
    assert len(rows) == 13
    scores = scored(M2(), corpus, [systems[row["system"]] for row in rows])
    for i, row in enumerate(rows):
        for part, column in (
            ("correct", "correct"),
            ("proposed", "proposed"),
            ("gold", "gold_edits"),
            ("P", "P"),
            ("R", "R"),
        ):
            assert scores.parts[part][i] == float(row[column])
        assert scores.values[i] == pytest.approx(float(row["F0.5"]), abs=1e-15)
        if row["published_F0.5"]:
            assert f"{scores.values[i]:.4f}" == row["published_F0.5"]


@pytest.mark.parametrize(
    ("system", "metric", "expected"),
    [
        ("AMU", "m2(max_unchanged=0)", (509, 1272, 2378)),
        ("AMU", "m2(max_unchanged=3)", (509, 1200, 2378)),
        ("CUUI", "m2(max_unchanged=0)", (623, 1556, 2504)),
        ("CUUI", "m2(max_unchanged=3)", (623, 1478, 2504)),
        ("AMU", "m2(beta=1)", (508, 1225, 2367)),
        ("CUUI", "m2(beta=1)", (623, 1495, 2496)),
        ("AMU", "m2(ignore_case=True)", (507, 1220, 2374)),
        ("CUUI", "m2(ignore_case=True)", (597, 1453, 2465)),
    ],
)
def test_options(system: str, metric: str, expected: tuple[int, int, int], conll: Conll) -> None:
    corpus, systems = conll
    scores = scored(parse(metric), corpus, [systems[system]])
    assert tuple(int(scores.parts[x][0]) for x in ("correct", "proposed", "gold")) == expected


@pytest.mark.parametrize(
    ("system", "metric", "expected"),
    [
        *(("AMU", "m2(choice=isolated)", "0.3500"), ("CAMB", "m2(choice=isolated)", "0.3730")),
        *(("CUUI", "m2(choice=isolated)", "0.3675"), ("AMU", "m2(sentences=last)", "0.3501")),
    ],
)
def test_choices(system: str, metric: str, expected: str, conll: Conll) -> None:
    corpus, systems = conll
    assert f"{scored(parse(metric), corpus, [systems[system]]).values[0]:.4f}" == expected


small = arrays.arrays(np.float64, (5, 2, 3), elements=st.integers(0, 4).map(float))


@pytest.mark.slow
@given(small, st.sampled_from([0.5, 1.0, 2.0, 0.3]), st.integers(0, 2**10 - 1))
@settings(max_examples=150, deadline=None)
def test_optimal_choice_is_the_best_of_all(counts: np.ndarray, beta: float, missing: int) -> None:
    counts[..., 1] += counts[..., 0]  # correct edits are proposed and gold
    counts[..., 2] += counts[..., 0]
    gone = np.array([missing >> i & 1 for i in range(10)], bool).reshape(5, 2)
    gone[:, 0] &= ~gone[:, 1]
    counts[gone] = np.nan
    m2 = M2(beta=beta, choice="optimal")
    rows = np.arange(5)
    best = max(
        float(m2.score(counts[rows, list(columns)].sum(axis=0)))
        for columns in product((0, 1), repeat=5)
        if not gone[rows, list(columns)].any()
    )
    chosen = m2.choose(counts)[0]
    assert float(m2.score(counts[rows, chosen].sum(axis=0))) == pytest.approx(best, abs=1e-12)


def test_optimal_choice_beats_the_official_order() -> None:
    cases = {case["name"]: case for case in GOLDEN["cases"]}
    for name in ("order_dep_X_first", "order_dep_X_last"):
        corpus, hypotheses = edge_case(cases[name])
        scores = scored(M2(choice="optimal"), corpus, [hypotheses])
        assert f"{scores.values[0]:.4f}" == "0.8065"  # the better of the two official results


@pytest.mark.parametrize("beta", ["0.5", "0.123456789", "3.7"])
def test_optimal_choice_is_exact_with_large_numbers(beta: str) -> None:
    """Also where products leave 64 bits."""
    rng = np.random.default_rng(5)
    square = Fraction(beta) ** 2
    for _ in range(40):
        counts = rng.integers(10**6 - 3, 10**6, (4, 2, 3))
        counts[..., 1:] += 10**6
        choices = np.array(list(product((0, 1), repeat=4)))
        totals = counts[np.arange(4), choices].sum(axis=1).tolist()
        values = [(1 + square) * c / (p + square * g) for c, p, g in totals]
        chosen = optimal_choice(counts.astype(float), float(beta))
        assert values[choices.tolist().index(chosen.tolist())] == max(values)


def test_missing_references_are_never_chosen() -> None:
    counts = np.full((4, 2, 3), np.nan)
    counts[1, 1] = counts[2, 0] = [1, 2, 3]
    for choice in ("sequential", "optimal", "isolated", "last"):
        m2 = M2(choice=choice)
        assert m2.choose(counts)[0].tolist() == [-1, 1, 0, -1]
        assert m2.for_sentences.choose(counts)[0].tolist() == [-1, 1, 0, -1]


@pytest.mark.parametrize(
    ("totals", "expected"),
    [
        ((0, 0, 0), (1, 1, 1)),
        ((0, 0, 5), (1, 0, 0)),
        ((0, 4, 0), (0, 1, 0)),
        ((0, 4, 5), (0, 0, 0)),
        ((2, 4, 8), (0.5, 0.25, 1.25 * 0.125 / 0.375)),
    ],
)
def test_zero_rules(totals: tuple[int, int, int], expected: tuple[float, float, float]) -> None:
    values = np.array(totals, float)
    parts = M2().figures(values)
    assert (parts["P"], parts["R"], M2().score(values)) == expected


@pytest.mark.parametrize("sentences", [(), ("a", "b")])
def test_sentences_must_be_as_many(sentences: tuple[str, ...]) -> None:
    corpus = Corpus(("a",), ((Reference(0, ()),),))
    for method in (M2().count, M2().explain):
        with pytest.raises(InputError, match=f"{len(sentences)} sentences, the corpus 1"):
            method(corpus, Hypotheses("A", sentences))


def test_headline_names_beta() -> None:
    assert [M2(beta=beta).headline for beta in (0.5, 1.0, 2.0)] == ["F0.5", "F1", "F2"]


def test_text_references_are_aligned_and_the_signature_says_so() -> None:
    texts = Corpus.from_texts(["He go home .", "Fine ."], [["He goes home .", "Fine ."]])
    output = Hypotheses("A", ("He goes home now .", "Fine ."))
    assert M2().count(texts, output).tolist() == [[[1, 2, 1]], [[0, 0, 0]]]
    assert describe_data(M2(), texts, ()).context == ("edits:aligned",)
    edits = (Reference(0, (Edit(1, 2, "goes"),)), Reference(0, ()))
    gold = Corpus(texts.sources, tuple((r,) for r in edits))
    assert describe_data(M2(), gold, ()).context == ("edits:gold",)
    np.testing.assert_array_equal(M2().count(gold, output), M2().count(texts, output))
    mixed = Corpus(texts.sources, ((edits[0],), texts.references[1]))
    assert describe_data(M2(), mixed, ()).context == ("edits:gold+aligned",)
    np.testing.assert_array_equal(M2().count(mixed, output), M2().count(texts, output))


def test_columns_follow_the_annotators_numbers() -> None:
    corpus = Corpus(
        ("a b", "a b"),
        ((Reference(7, (Edit(0, 1, "x"),)), Reference(2, ())), (Reference(5, (Edit(0, 1, "x"),)),)),
    )
    counts = M2().count(corpus, Hypotheses("A", ("x b", "x b")))
    np.testing.assert_array_equal(counts, [[[0, 1, 0], [1, 1, 1]], [[1, 1, 1], [np.nan] * 3]])
    assert [e.annotator for e in M2().explain(corpus, Hypotheses("A", ("x b", "x b")))] == [7, 5]


def test_explain_says_what_and_where() -> None:
    gold = (Edit(3, 4, "diseases", "Nn", ("illness",)), Edit(6, 6, "the", "ArtOrDet"))
    corpus = Corpus(("People get certain disease because of gene .",), ((Reference(0, gold),),))
    found = M2().explain(
        corpus, Hypotheses("A", ("People get certain illness because of a gene !",))
    )[0]
    assert found.correct == (Edit(3, 4, "illness", "Nn"),)
    assert found.missed == (Edit(6, 6, "the", "ArtOrDet"),)
    assert found.wrong == (Edit(6, 8, "a gene !"),)


def test_explain_needs_a_reference() -> None:
    corpus = Corpus(("a b",), ((),))
    with pytest.raises(InputError, match="no reference"):
        M2().explain(corpus, Hypotheses("A", ("a b",)))


def test_shrinking() -> None:
    source = ["what", "we", "want", "is", "this"]
    assert shrink(Edit(0, 3, "what you want"), source) == Edit(1, 2, "you")
    assert shrink(Edit(0, 3, "what want"), source) == Edit(1, 2, "")
    assert shrink(Edit(1, 2, "we we"), source) == Edit(2, 2, "we")
    assert shrink(Edit(1, 2, "we"), source) == Edit(2, 2, "")


def test_too_long_is_an_error_and_unchanged_is_not() -> None:
    source = "a " * 9000
    corpus = Corpus((source,), ((Reference(0, ()),),))
    assert M2().count(corpus, Hypotheses("A", (source,))).tolist() == [[[0, 0, 0]]]
    with pytest.raises(InputError, match="9000 tokens, the source 9000: too long"):
        M2().count(corpus, Hypotheses("A", ("b " * 9000,)))


@pytest.mark.parametrize(
    ("rows", "taken"),
    [
        # As good for F (F = 1): most right edits, then the first.
        ([(1, 1, 1), (2, 2, 2)], 1),
        ([(2, 2, 2), (1, 1, 1)], 0),
        ([(1, 1, 1), (1, 1, 1)], 0),
        ([(np.nan,) * 3, (1, 1, 1), (1, 1, 1)], 1),
        # Nothing right anywhere (F = 0): the least proposed and gold edits, then the first.
        ([(0, 2, 4), (0, 1, 4)], 1),
        ([(0, 1, 4), (0, 1, 8)], 0),
        ([(0, 1, 4), (0, 1, 4)], 0),
        # Nothing proposed and nothing to correct (F = 1).
        ([(0, 1, 1), (0, 0, 0)], 1),
        ([(1, 2, 2), (0, 0, 0)], 1),
    ],
)
def test_of_equally_good_annotators(rows: list[tuple[float, ...]], taken: int) -> None:
    counts = np.array([rows], float)
    for choice in ("sequential", "isolated", "optimal"):
        assert M2(choice=choice).choose(counts).tolist() == [[taken]], choice


# Texts of corrections, whose space is irregular in some.
ODD = ["a", "a b", "a  b", " a", "a ", "", "\ta", "a\tb", "a\u00a0b", "é b", "é  b", "\u3000"]
ODD += ["a\x1fb", "a\x7fb", "中 文", "  ", "a \u00a0", "\x85", "\ud800 b", "\ud800  b", "a\u2028b"]
ODD += ["\x1c", "a \x00 b"]


@given(
    st.lists(
        st.tuples(st.sampled_from(ODD), st.lists(st.sampled_from(ODD), max_size=3), st.booleans()),
        max_size=6,
    )
)
def test_corrections_are_those_without_irregular_space(
    drawn: list[tuple[str, list[str], bool]],
) -> None:
    edits = tuple(Edit(0, 1, text, "", tuple(others)) for text, others, _ in drawn)
    table = ReferenceTable.of([[Reference(0, edits)]])
    wanted, ends = [], [0]
    for edit, (_, _, stays) in enumerate(drawn):
        if stays:
            for text in table.all_replacements(edit):
                parts = text.split()
                if len(parts) < 2 or " ".join(parts) == text.strip():
                    wanted.append(text)
            ends.append(len(wanted))
    found, at = _reachable_corrections(table, np.array([stays for *_, stays in drawn], np.bool_))
    assert list(found) == wanted
    assert at.tolist() == ends


@pytest.mark.parametrize(
    ("edits", "output", "counts"),
    [
        ([line("1 2", "x y")], "a x y c", [1, 1, 1]),
        ([line("1 2", "x\ty")], "a x y c", [0, 1, 1]),
        ([line("1 2", "x\u00a0y")], "a x y c", [0, 1, 1]),
        ([line("1 2", "q||x  y")], "a x y c", [0, 1, 1]),
        ([line("0 1", "x||y")] * 2 + [line("2 3", "z")], "a b z", [1, 1, 2]),
        ([line("0 1", "é")] * 2 + [line("2 3", "z")], "a b z", [1, 1, 2]),
    ],
)
def test_what_irregular_corrections_count(edits: list[str], output: str, counts: list[int]) -> None:
    corpus = read_m2_text("\n".join(["S a b c", *edits, ""])).corpus
    assert M2().count(corpus, Hypotheses("A", (output,))).tolist() == [[counts]]
