"""Difficulty-weighted measures against the released scorer, and what stands behind them."""

import csv
import gzip
import importlib.util
import json
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conll_texts import SYSTEMS
from errata.core.errors import InputError
from errata.data import Corpus, Edit, Hypotheses, Reference, Scores
from errata.difficulty import study
from errata.edits import retype
from errata.edits.aligner import aligned_edits
from errata.io import read_hypotheses_m2, read_m2
from errata.kernels import chunks as kernel
from errata.metrics.difficulty import (
    CORRECT,
    IGNORED,
    MODIFIED,
    Difficulty,
    DifficultyMap,
    build_difficulty_map,
    chunk_references,
    compare_chunks,
    read_weights,
    weight,
    write_weights,
)
from pure import load_pure
from scored import scored

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "difficulty.json").read_text())
Two = tuple[Corpus, list[Hypotheses]]


@pytest.fixture
def demo() -> Two:
    def edits(rows: list[list[object]]) -> tuple[Edit, ...]:
        return tuple(Edit(*row) for row in rows)  # type: ignore[arg-type]

    corpus = Corpus(
        tuple(GOLDEN["sources"]), tuple((Reference(0, edits(rows)),) for rows in GOLDEN["gold"])
    )
    return corpus, [
        Hypotheses(name, tuple(GOLDEN["sources"]), tuple(map(edits, sentences)))
        for name, sentences in GOLDEN["systems"].items()
    ]


@pytest.fixture(scope="module")
def conll(oracles: Path, conll14: Path) -> Two:
    corpus = read_m2(conll14 / "conll14st-test.m2")
    return corpus, read_hypotheses_m2(oracles / "difficulty" / "hypotheses.m2.gz", SYSTEMS)


def check(scores: Scores, expected: dict[str, dict[str, float]]) -> None:
    """Every figure of the released scorer, to its printed digits."""
    assert set(scores.systems) == set(expected)
    for name, row in expected.items():
        s = scores.systems.index(name)
        for figure, value in row.items():
            if figure == "F1":
                continue
            ours = scores.values[s] if figure == "F05" else scores.parts[figure][s]
            assert round(float(ours), 4) == value, (name, figure)


def test_the_released_demo(demo: Two) -> None:
    corpus, systems = demo
    check(scored(Difficulty(), corpus, systems), GOLDEN["weighted"])
    check(scored(Difficulty(weights="none"), corpus, systems), GOLDEN["unweighted"])
    beta1 = scored(Difficulty(beta=1), corpus, systems)
    for name, row in GOLDEN["weighted"].items():
        assert round(beta1[name], 4) == row["F1"]
    found = build_difficulty_map(corpus, systems)
    assert [
        n.astype(int).tolist() for n in np.split(found.tally.solved, found.chunks.bounds[1:-1])
    ] == GOLDEN["n_correct"]
    assert {
        r.kind: [round(r.mean, 2), round(r.sd, 2), r.frequency]
        for r in study.difficulty_by_kind(found)
    } == GOLDEN["by_kind"]


def test_the_demo_scored_with_its_weight_file(data_sets: Path, oracles: Path) -> None:
    demo = next(data_sets.glob("gotutiyan/GTS/*/demo"))
    corpus = read_m2(demo / "ref.m2")
    systems = read_hypotheses_m2(demo / "hyp_1sys.m2", ["0"])
    scores = scored(Difficulty(weights=str(demo / "weight.txt")), corpus, systems)
    check(
        scores,
        json.loads((oracles / "difficulty" / "scores.json").read_text())["demo_weightfile_1sys"],
    )
    assert "weights:3 systems of weight.txt@" in scores.signature


@pytest.mark.parametrize("matching", ["released", "elastic"])
def test_example_3_of_the_paper(matching: str) -> None:
    corpus = Corpus.from_texts(["We discussing about its ."], [["We have been discussing it ."]])
    systems = [
        Hypotheses(name, (text,))
        for name, text in (
            ("Sys1", "We have been discussing about it ."),
            ("Sys2", "“ We are discussing it . ”"),
            ("Sys3", "We talking it ."),
        )
    ]
    found = build_difficulty_map(corpus, systems, Difficulty(matching=matching))
    assert found.tally.solved[[2, 5, 7]].tolist() == [1, 1, 3]
    np.testing.assert_allclose(found.weights[[2, 5, 7]], [2 / 3, 2 / 3, 0], atol=1e-15)
    assert found.right[2, 4]  # footnote 3: the dummy that `talking` covers counts as matched


def test_thirteen_systems_with_their_own_weights(conll: Two, oracles: Path) -> None:
    corpus, systems = conll
    expected = json.loads((oracles / "difficulty" / "scores.json").read_text())
    first = corpus.keep_annotators(0)
    check(scored(Difficulty(), first, systems), expected["conll14_13sys_own_weights"])
    check(scored(Difficulty(weights="none"), first, systems), expected["conll14_13sys_unweighted"])


def test_the_weight_file_of_thirteen_systems(conll: Two, oracles: Path, tmp_path: Path) -> None:
    corpus, systems = conll
    found = build_difficulty_map(corpus.keep_annotators(0), systems)
    write_weights(
        13,
        np.split(found.tally.solved.astype(int), found.chunks.bounds[1:-1]),
        tmp_path / "weights.txt",
    )
    with gzip.open(oracles / "difficulty" / "weights_13sys.txt.gz", "rt") as file:
        assert (tmp_path / "weights.txt").read_text() == file.read()


def test_the_published_weights_of_eight_systems(conll14: Path, data_sets: Path) -> None:
    corpus = read_m2(conll14 / "conll14st-test.m2").keep_annotators(0)
    path = next(data_sets.glob("gotutiyan/GTS/*/weight_files/conll14_8sys.txt"))
    found = build_difficulty_map(corpus, [], Difficulty(weights=str(path)))
    assert len(found.weights) == 60410
    right = found.chunks.erroneous
    assert right.sum() == 2379
    assert round(float(found.weights[right].mean()), 4) == 0.7959
    assert (~right).sum() == 58031
    assert round(float(found.weights[~right].mean()), 4) == 0.0129
    assert (found.weights[~right] != 0).sum() == 2869
    kinds = study.difficulty_by_kind(
        build_difficulty_map(retype(corpus, "aligned", IGNORED), [], Difficulty(weights=str(path))),
        tier=2,
    )
    assert sum(row.frequency for row in kinds) == 2379
    assert {row.kind for row in kinds} == {"ORTH", "PUNCT", "OTHER", "SPACE", "WO", "SPELL", "INFL"}
    assert kinds[0].mean > 0.9  # lexical and mechanical errors are harder than inflection,
    assert kinds[-1].kind == "INFL"  # as in the paper's Table 4


def test_weights_of_another_annotator_are_refused(conll14: Path, data_sets: Path) -> None:
    corpus = read_m2(conll14 / "conll14st-test.m2")
    path = str(next(data_sets.glob("gotutiyan/GTS/*/weight_files/conll14_8sys.txt")))
    with pytest.raises(InputError, match=r"conll14_8sys.txt:\d+: \d+ weights, but sentence"):
        build_difficulty_map(corpus.keep_annotators(1), [], Difficulty(weights=path))
    with pytest.raises(InputError, match="belong to one annotator"):
        build_difficulty_map(corpus, [], Difficulty(weights=path))


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        *((content, "1: the first line") for content in ("", "x\n1 2\n", "0\n1\n")),
        ("3\n1 two\n", "2: '1 two' is not a row of whole numbers from 0 to 3"),
        ("3\n1\n\n", "3: the line is empty"),
        ("3\n1 4\n", "2: '1 4' is not a row of whole numbers from 0 to 3"),
        ("3\n-1 0\n", "2: '-1 0' is not a row of whole numbers from 0 to 3"),
        ("3\n99999999999\n", "2: '99999999999' is not a row of whole numbers from 0 to 3"),
    ],
)
def test_bad_weight_files(content: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / "w.txt").write_text(content)
    with pytest.raises(InputError, match=rf"w\.txt:{problem}"):
        read_weights(tmp_path / "w.txt")


def test_weight_files_of_another_length(demo: Two, tmp_path: Path) -> None:
    write_weights(3, GOLDEN["n_correct"][:1], tmp_path / "w.txt")
    with pytest.raises(InputError, match="weights of 1 sentences, but the corpus has 2"):
        scored(Difficulty(weights=str(tmp_path / "w.txt")), *demo)


def with_weights_of(found: DifficultyMap, path: Path) -> Difficulty:
    """The metric with the weights of these systems, for others."""
    counts = np.split(found.tally.solved.astype(int), found.chunks.bounds[1:-1])
    write_weights(found.tally.systems, counts, path)
    return Difficulty(weights=str(path))


def test_leaving_a_system_out_of_its_own_weights(demo: Two, tmp_path: Path) -> None:
    corpus, systems = demo
    scores = scored(Difficulty(leave_out=True), corpus, systems)
    for k, system in enumerate(systems):
        others = build_difficulty_map(corpus, systems[:k] + systems[k + 1 :])
        metric = with_weights_of(others, tmp_path / "w.txt")
        alone = scored(metric, corpus, [system])
        assert scores[system.system] == alone[system.system]
    with pytest.raises(InputError, match="at least two"):
        scored(Difficulty(leave_out=True), corpus, systems[:1])
    with pytest.raises(InputError, match="leave_out needs weights from the systems"):
        Difficulty(leave_out=True, weights="none")
    with pytest.raises(InputError, match="systems or a weight file"):
        build_difficulty_map(corpus, [])


def test_the_weight_function() -> None:
    n = np.array([0.0, 2.0, 4.0])
    assert weight(n, 4).tolist() == [1, 0.5, 0]
    assert weight(n, 4, a=2, b=1, c=6).tolist() == [1.9, 1.7, 1.5]
    assert weight(n, 0).tolist() == [1, 1, 1]
    with pytest.raises(InputError, match="N \\+ c must be positive, but N=4 and c=-4"):
        weight(n, 4, c=-4)


def test_negative_weights_are_noted(demo: Two) -> None:
    corpus, systems = demo
    scores = scored(Difficulty(b=1), corpus, systems)
    assert "make weights negative (down to -0.333" in scores.notes[0]
    assert scored(Difficulty(a=2, b=1), corpus, systems).notes == ()


tokens = st.lists(st.sampled_from(["a", "b", "c", "d"]), min_size=0, max_size=5)
pairs = st.tuples(tokens, tokens, st.lists(tokens, min_size=1, max_size=2))
Plain = list[tuple[int, int, str, bool]]
Batch = list[tuple[list[str], list[str], list[list[str]]]]


def corpus_of(batch: Batch) -> Corpus:
    references = (
        tuple(Reference(k, aligned_edits(s, t)) for k, t in enumerate(several))
        for s, _, several in batch
    )
    return Corpus(tuple(" ".join(s) for s, _, _ in batch), tuple(references))


def plain_chunks(source: list[str], edits: tuple[Edit, ...]) -> Plain:
    """The description of the chunks, taken literally and slowly."""
    chunks = [(e.start, e.end, e.replacement, True) for e in edits]
    covered = {k for e in edits for k in range(e.start, e.end)}
    chunks += [(k, k + 1, t, False) for k, t in enumerate(source) if k not in covered]
    # Python's sort is stable: at one place insertions come first.
    chunks.sort(key=lambda c: (c[0], c[1]))
    result: Plain = []
    for k, chunk in enumerate(chunks):
        inserts = chunk[0] == chunk[1]
        after = k > 0 and chunks[k - 1][0] == chunks[k - 1][1]
        if not inserts and not after:
            result.append((chunk[0], chunk[0], "", False))
        result.append(chunk)
    if not chunks or chunks[-1][0] < chunks[-1][1]:
        result.append((len(source), len(source), "", False))
    return result


def plain_match(gold: Plain, system: Plain) -> list[int]:
    flags = []
    for start, end, text, erroneous in gold:
        same = [s for s in system if s[:2] == (start, end)]
        exact = [s for s in same if s[2] == text]
        if exact:
            flags.append(CORRECT + MODIFIED * exact[0][3])
            continue
        others = (
            []
            if start == end
            else [s for s in system if (s[0] < end and start < s[1]) or start <= s[0] < end]
        )
        if same or others:
            flags.append(MODIFIED * any(s[3] for s in same + others))
        else:
            flags.append(0 if erroneous else CORRECT)
    return flags


@settings(deadline=None)
@given(st.lists(pairs, min_size=1, max_size=3))
def test_chunks_and_matching_follow_the_description(batch: Batch) -> None:
    corpus = corpus_of(batch)
    chunks = chunk_references(corpus)
    edits = [aligned_edits(s, h) for s, h, _ in batch]
    gold = [
        plain_chunks(corpus.sources[i].split(), r.edits or ())
        for i, refs in enumerate(corpus.references)
        for r in refs
    ]
    words = corpus.vocabulary.words()
    assert [(a, b, words[t], e >= 0) for a, b, t, e in chunks.rows.tolist()] == [
        c for unit in gold for c in unit
    ]
    expected = [
        flag
        for unit, i in zip(gold, chunks.sentences, strict=True)
        for flag in plain_match(unit, plain_chunks(corpus.sources[i].split(), edits[i]))
    ]
    assert compare_chunks(corpus, chunks, edits).tolist() == expected


def plain_paths(gold: Plain, system: Plain) -> list[list[tuple[int, int]]]:
    """The elastic matchings of least cost, then most matches, then least distance."""
    best: dict[tuple[int, int], tuple[tuple[int, int, int], list[list[tuple[int, int]]]]] = {}
    for i, g in enumerate(gold):
        for j, s in enumerate(system):
            same = g[:3] == s[:3]
            own = (int(not same), -int(same), 0 if same else abs(g[0] - s[0]) + abs(g[1] - s[1]))
            before = [best[k] for k in ((i - 1, j - 1), (i - 1, j), (i, j - 1)) if k in best]
            if not before:
                best[i, j] = own, [[(i, j)]]
                continue
            least = min(cost for cost, _ in before)
            total = (least[0] + own[0], least[1] + own[1], least[2] + own[2])
            best[i, j] = (
                total,
                [[*path, (i, j)] for cost, paths in before if cost == least for path in paths],
            )
    return best[len(gold) - 1, len(system) - 1][1]


def plain_flags(gold: Plain, system: Plain, path: list[tuple[int, int]]) -> list[int]:
    flags = []
    for i, g in enumerate(gold):
        mine = [j for k, j in path if k == i]
        exact = [j for j in mine if system[j][:3] == g[:3]]
        shared = any(sum(other == j for _, other in path) > 1 for j in mine)
        if exact:
            flags.append(CORRECT + MODIFIED * system[exact[0]][3])
        elif g[0] == g[1] and not g[3] and shared:
            flags.append(CORRECT)
        else:
            flags.append(MODIFIED * any(system[j][3] for j in mine))
    return flags


short = st.lists(st.sampled_from(["a", "b", "c"]), max_size=4)


@pytest.mark.slow
@settings(deadline=None, max_examples=200)
@given(short, short, short)
def test_elastic_matching_follows_the_paper(
    source: list[str], target: list[str], hyp: list[str]
) -> None:
    """The flags are those of one of the best of all matchings, listed one by one."""
    corpus = Corpus((" ".join(source),), ((Reference(0, aligned_edits(source, target)),),))
    edits = [aligned_edits(source, hyp)]
    gold = plain_chunks(source, corpus.references[0][0].edits or ())
    system = plain_chunks(source, edits[0])
    flags = compare_chunks(corpus, chunk_references(corpus), edits, matching="elastic").tolist()
    assert flags in [plain_flags(gold, system, path) for path in plain_paths(gold, system)]
    if hyp == target:
        assert all(flag & CORRECT for flag in flags)


@settings(deadline=None, max_examples=50)
@given(st.lists(pairs, min_size=1, max_size=3), st.booleans())
def test_the_kernel_gives_the_same_uncompiled(batch: Batch, elastic: bool) -> None:
    corpus = corpus_of(batch)
    edits = [aligned_edits(s, h) for s, h, _ in batch]
    matching = "elastic" if elastic else "released"
    chunks = chunk_references(corpus)
    flags = compare_chunks(corpus, chunks, edits, matching=matching)
    pure = load_pure("chunks")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("errata.metrics.difficulty.kernel", pure)
        again = chunk_references(corpus)
        np.testing.assert_array_equal(chunks.rows, again.rows)
        np.testing.assert_array_equal(chunks.bounds, again.bounds)
        np.testing.assert_array_equal(
            flags, compare_chunks(corpus, again, edits, matching=matching)
        )
    assert pure is not kernel


def test_edits_that_cannot_be_compared() -> None:
    gold = (Edit(0, 1, "x", "Um"), Edit(1, 2, "", "UNK"), Edit(2, 3, "z", "R:OTHER"))
    corpus = Corpus(("a b c",), ((Reference(0, gold),),))
    assert chunk_references(corpus).erroneous.sum() == 1  # what was only detected is left out
    assert chunk_references(corpus, ignore=()).erroneous.sum() == 3
    corpus = Corpus(("a b c",), ((Reference(3, (Edit(0, 2, "x"), Edit(1, 3, "y"))),),))
    with pytest.raises(InputError, match="sentence 1: edit 1-3 'y' of annotator 3 overlaps"):
        chunk_references(corpus)
    fine = Corpus(("a b c",), ((Reference(0, ()),),))
    with pytest.raises(InputError, match="of the system overlaps"):
        compare_chunks(fine, chunk_references(fine), [(Edit(0, 2, "x"), Edit(1, 3, "y"))])
    with pytest.raises(InputError, match="ends at token 4, but the sentence has 3"):
        compare_chunks(fine, chunk_references(fine), [(Edit(0, 1, "x"), Edit(3, 4, "y"))])
    with pytest.raises(InputError, match="edits of 2 sentences, but the corpus has 1"):
        compare_chunks(fine, chunk_references(fine), [(), ()])
    with pytest.raises(InputError, match="matching 'dp' is unknown"):
        compare_chunks(fine, chunk_references(fine), [()], matching="dp")


def test_who_corrects_what(demo: Two) -> None:
    found = build_difficulty_map(*demo)
    every = study.gold_errors(found)
    assert [(e.tokens, e.edit.replacement, e.corrected_by) for e in every] == [
        *(("", "have been", ("0",)), ("about", "", ("1",)), ("its", "it", ("0", "1", "2"))),
        *(("have been", "go", ("0",)), ("", "the", ("0", "1", "2")), ("tomorrow", "", ())),
    ]
    assert [e.edit.replacement for e in study.only_corrected_by(found, "0")] == ["have been", "go"]
    assert [e.tokens for e in study.only_corrected_by(found, "1")] == ["about"]
    assert study.missed_only_by(found, "2") == []
    few = build_difficulty_map(demo[0], [demo[1][0], demo[1][2]])
    assert [e.tokens for e in study.missed_only_by(few, "2")] == ["", "have been"]
    assert [e.tokens for e in study.missed_by(found, "0")] == ["about", "tomorrow"]
    with pytest.raises(InputError, match="no system 'x'"):
        study.only_corrected_by(found, "x")


def test_agreement_between_systems(demo: Two) -> None:
    kappa, jaccard = study.correction_agreement(build_difficulty_map(*demo))
    # 0 corrects errors 0, 2, 3, 4 and 1 corrects 1, 2, 4: alike on 2, 4 (both) and 5 (neither).
    assert jaccard[0, 1] == pytest.approx(2 / 5)
    observed, expected = 3 / 6, (4 / 6) * (3 / 6) + (2 / 6) * (3 / 6)
    assert kappa[0, 1] == pytest.approx((observed - expected) / (1 - expected))
    assert np.diag(kappa).tolist() == [1, 1, 1]
    np.testing.assert_array_equal(kappa, kappa.T)


def test_intervals_of_weights_resample_the_systems(demo: Two, tmp_path: Path) -> None:
    corpus, systems = demo
    found = build_difficulty_map(corpus, systems)
    chunks = [e.chunk for e in study.gold_errors(found)]
    low_high = study.weight_intervals(found, chunks, resamples=4000, rng=1)
    # n of 3 systems: the bootstrap distribution of a weight is 1 - Binomial(3, n/3) / 3.
    for (low, high), n in zip(low_high, found.tally.solved[chunks], strict=True):
        assert (low, high) == {0: (1, 1), 1: (0, 1), 3: (0, 0)}[int(n)]
    rows = study.difficulty_by_kind(found, tier=1, resamples=500, rng=1)
    assert {r.kind for r in rows} == {"M", "R", "U"}
    for row in rows:
        assert row.low <= row.mean <= row.high
    again = study.difficulty_by_kind(found, tier=1, resamples=500, rng=1)
    assert again == rows
    with pytest.raises(InputError, match="systems behind the weights"):
        study.weight_intervals(
            build_difficulty_map(corpus, systems, Difficulty(weights="none")), chunks
        )
    others = build_difficulty_map(corpus, systems[:1], with_weights_of(found, tmp_path / "w.txt"))
    with pytest.raises(InputError, match="systems behind the weights"):
        study.weight_intervals(others, chunks)


def test_kinds_are_grouped_by_tier(demo: Two) -> None:
    found = build_difficulty_map(*demo)
    assert {r.kind for r in study.difficulty_by_kind(found, tier=2)} == {
        "VERB",
        "PREP",
        "PRON",
        "DET",
        "NOUN",
    }
    verb = next(r for r in study.difficulty_by_kind(found, tier=2) if r.kind == "VERB")
    assert (verb.frequency, round(verb.mean, 4)) == (2, 0.6667)
    replaced = next(r for r in study.difficulty_by_kind(found, tier=1) if r.kind == "R")
    assert replaced.sd == pytest.approx(np.std([0, 2 / 3], ddof=1))  # of the sample
    with pytest.raises(InputError, match="tier 4"):
        study.difficulty_by_kind(found, tier=4)


def test_elastic_matching_of_endless_sentences_is_refused_before_memory_is_asked_for() -> None:
    long = " ".join(f"w{i}" for i in range(29_000))
    corpus = Corpus.from_texts([long], [[long]])
    systems = [Hypotheses("A", (long,))]
    with pytest.raises(InputError, match=r"29000 tokens.*26\.9 GB.*longest=29000"):
        build_difficulty_map(corpus, systems, Difficulty(matching="elastic"))
    assert build_difficulty_map(corpus, systems).right.all()  # no table is needed


ROOT = Path(__file__).resolve().parents[2]


def plain() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bench_plain", ROOT / "bench" / "plain.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_plain_gleu_is_the_script(conll14: Path, submissions: Path, oracles: Path) -> None:
    references = [conll14 / "refs" / f"conll14st-test.tok.trg{k}" for k in (0, 1)]
    with (oracles / "gleu" / "gleu2016_system.tsv").open(encoding="utf-8") as file:
        rows = {row["system"]: row for row in csv.DictReader(file, delimiter="\t")}
    for system in ("AMU", "POST"):
        score = plain().plain_gleu(
            conll14 / "conll14st-test.tok.src", references, submissions / system
        )
        assert score == pytest.approx(float(rows[system]["port_mean"]), abs=1e-10)


@pytest.mark.long
def test_plain_difficulty_is_the_released_scorer(conll14: Path, oracles: Path) -> None:
    folder = oracles / "difficulty"
    found = plain().plain_difficulty(conll14 / "conll14st-test.m2", folder / "hypotheses.m2.gz")
    scores = json.loads((folder / "scores.json").read_text(encoding="utf-8"))
    expected = scores["conll14_13sys_own_weights"]
    assert len(found) == len(expected) == 13
    for own, theirs in zip(found, expected.values(), strict=True):
        for name, value in own.items():
            assert value == pytest.approx(theirs[name], abs=6e-5), name
