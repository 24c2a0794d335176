"""I-measure: its three rows, the official program's numbers, mixtures against enumeration."""

import csv
import gzip
import json
import random
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from conll_texts import SYSTEMS, read_conll
from errata.align import align_sentences, align_three
from errata.core.errors import InputError
from errata.core.exact_sums import ExactSums
from errata.core.stats import Floats
from errata.data import Corpus, Edit, Hypotheses, Reference
from errata.io.m2 import parse_m2, read_m2
from errata.kernels import threeway
from errata.metrics.base import describe_data
from errata.metrics.imeasure import IMeasure
from errata.metrics.imeasure.alignment_counts import KINDS, STATISTICS, align_all, prepare_mix
from errata.metrics.imeasure.mixtures import (
    Limits,
    NumberedChain,
    best_mixture,
    possible_mixtures,
    stages_of,
)
from errata.metrics.imeasure.references import (
    Change,
    clusters_of,
    nomix_references,
    splice,
    treebank_tokens,
)
from errata.scoring.accumulator import chosen_counts
from errata.scoring.evaluate import evaluate
from scored import scored
from slow_threeway import align_slowly

GOLDEN = Path(__file__).parents[1] / "golden" / "imeasure_edge_cases.json"
ASPECTS = {"c": "correction", "d": "detection"}


def edge_cases() -> Iterator[Any]:
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    for case in golden["cases"]:
        for mode in ("nomix", "mix"):
            yield pytest.param(case, mode, golden["columns"], id=f"{case['name']}-{mode}")


def edge_corpus(case: dict[str, Any]) -> Corpus:
    if "NONE" in case["name"]:  # our reader takes -NONE- as a deletion, as M2 scorers do
        return Corpus(("a b c",), ((Reference(0, (Edit(1, 2, "-NONE-"),)),),))
    return parse_m2(case["m2"].split("\n")).corpus


@pytest.mark.parametrize(("case", "mode", "columns"), list(edge_cases()))
def test_edge_cases_as_the_official_program(
    case: dict[str, Any], mode: str, columns: list[str]
) -> None:
    corpus = edge_corpus(case)
    lines = case["hypothesis"].split("\n")[: len(corpus)]
    lines += [""] * (len(corpus) - len(lines))
    names = {"acc": "Acc", "wacc": "WAcc", "wacc_b": "WAcc base"}
    for aspect in ("correction", "detection"):
        metric = IMeasure(references=mode, aspect=aspect)
        counts = metric.count(corpus, Hypotheses("A", tuple(lines)))
        choice = metric.choose(counts)
        for totals, expected in (
            (chosen_counts(counts, choice), case[mode]["sentences"][aspect]),
            (ExactSums.of(counts, choice).floats, [case[mode]["overall"][aspect]]),
        ):
            found = {**metric.figures(totals), "I": metric.score(totals)}
            for row, values in enumerate(expected):
                for column, value in zip(columns, values, strict=True):
                    ours = float(
                        found[names.get(column, column if column == "F1" else column.upper())][row]
                    )
                    if isinstance(value, float):
                        ours = round(100 * ours, 2)
                    assert ours == value, (aspect, row, column)


@cache
def counted(gold: Path, folder: Path, mode: str) -> tuple[Corpus, list[Floats]]:
    corpus = read_m2(gold / "conll14st-test.m2")
    return corpus, IMeasure(references=mode).count_all(corpus, read_conll(gold, folder)[1])


def readings(mode: str, picked: Floats) -> dict[str, Floats]:
    """Everything an oracle row holds, under its names."""
    found: dict[str, Floats] = {}
    for letter, aspect in ASPECTS.items():
        metric = IMeasure(references=mode, aspect=aspect)
        parts = metric.figures(picked)
        for name in ("TP", "TN", "FP", "FN", "FPN"):
            found[f"{letter}_{name.lower()}"] = parts[name]
            found[f"base_{letter}_{name.lower()}"] = {
                "TN": picked[..., 5],
                "FN": picked[..., 6],
            }.get(name, np.zeros(len(picked)))
        found |= {
            f"{letter}_wacc": parts["WAcc"],
            f"{letter}_wacc_b": parts["WAcc base"],
            f"{letter}_i": metric.score(picked),
        }
    return found


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::errata.core.errors.DataWarning")
@pytest.mark.parametrize(
    ("mode", "file", "rows"), [("nomix", "nomix", 17056), ("mix", "mix_excl5", 16991)]
)
def test_every_sentence_as_the_official_program(
    conll14: Path, submissions: Path, oracles: Path, mode: str, file: str, rows: int
) -> None:
    _, counts = counted(conll14, submissions, mode)
    metric = IMeasure(references=mode)
    found = [readings(mode, chosen_counts(each, metric.choose(each))) for each in counts]
    seen = 0
    with gzip.open(oracles / "imeasure" / f"sentences_{file}.tsv.gz", "rt") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            ours = found[SYSTEMS.index(row["system"])]
            wrong = {
                name: (float(row[name]), value[int(row["sid"])])
                for name, value in ours.items()
                if float(row[name]) != value[int(row["sid"])]
            }
            assert not wrong, (row["system"], row["sid"])
            seen += 1
    assert seen == rows
    assert all((each[..., 7] == 0)[~np.isnan(each[..., 7])].all() for each in counts)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::errata.core.errors.DataWarning")
@pytest.mark.parametrize(("mode", "file"), [("nomix", "nomix"), ("mix", "mix_excl5")])
def test_systems_as_the_official_program(
    conll14: Path, submissions: Path, oracles: Path, mode: str, file: str
) -> None:
    _, counts = counted(conll14, submissions, mode)
    left_out = [331, 332, 333, 334, 1242] if mode == "mix" else []
    with open(oracles / "imeasure" / f"corpus_{file}.tsv", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    assert len(rows) == 26
    for row in rows:
        metric = IMeasure(references=mode, aspect=row["aspect"])
        each = np.delete(counts[SYSTEMS.index(row["system"])], left_out, axis=0)
        totals = ExactSums.of(each, metric.choose(each)).floats[0]
        parts = metric.figures(totals)
        parts |= {"I": metric.score(totals), "base_TN": totals[5], "base_FN": totals[6]}
        for theirs, ours in (
            *(("tp", "TP"), ("tn", "TN"), ("fp", "FP"), ("fn", "FN"), ("fpn", "FPN")),
            *(("base_tn", "base_TN"), ("base_fn", "base_FN"), ("P", "P"), ("R", "R")),
            *(("F1", "F1"), ("acc", "Acc"), ("wacc", "WAcc"), ("wacc_base", "WAcc base")),
            ("I", "I"),
        ):
            assert float(parts[ours]) == float(row[theirs]), (row["system"], theirs)
        if row["published_I_pct"]:
            assert f"{100 * float(parts['I']):.2f}" == row["published_I_pct"].replace("+", "") or (
                float(row["published_I_pct"]) == 0.0 == float(parts["I"])
            )


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::errata.core.errors.DataWarning")
def test_options_that_published_figures_turn_on(conll14: Path, submissions: Path) -> None:
    """-opt:corpus gives CAMB -5.41; without the converter's tokenisation IPN has -3.17."""
    corpus = read_m2(conll14 / "conll14st-test.m2")
    camb, ipn = (
        next(h for h in read_conll(conll14, submissions)[1] if h.system == name)
        for name in ("CAMB", "IPN")
    )
    running = IMeasure(choice="corpus")
    counts = running.count(corpus, camb)
    value = running.score(ExactSums.of(counts, running.choose(counts)).floats)[0]
    assert round(100 * float(value), 2) == -5.41
    untouched = scored(IMeasure(tokenise="none"), corpus, [ipn])
    assert round(100 * untouched["IPN"], 2) == -3.17
    assert not any("tokenised anew" in fact for fact in untouched.context)
    assert "corrections:tokenised anew" in describe_data(IMeasure(), corpus, ()).context


def rank(vector: tuple[int, ...], w: Fraction) -> tuple[Fraction, ...]:
    """What references are compared by, by the definition, in fractions."""

    def quotient(over: Fraction | int, under: Fraction | int) -> Fraction:
        return Fraction(over) / Fraction(under) if under else Fraction(1)

    unchanged, missed, needless, right, wrong, kept_right, kept_wrong = vector
    base = quotient(kept_right, kept_right + kept_wrong)
    values = []
    for tp, fpn in ((right, wrong), (right + wrong, 0)):
        fp, fn = needless + fpn, missed + fpn
        wacc = quotient(
            w * tp + unchanged, w * (tp + fp) + unchanged + fn - Fraction(w + 1) * fpn / 2
        )
        gain = (
            Fraction(int(wacc))
            if wacc == base
            else (wacc - base) / (1 - base)
            if wacc > base
            else wacc / base - 1
        )
        values += [wacc, gain, quotient(tp + unchanged, tp + unchanged + fp + fn - fpn)]
    return tuple(values)


def enumerated(corpus: Corpus, sentence: str, w: Fraction) -> tuple[int, ...]:
    """The columns of the best mixture, found by trying all of them on the whole sentence."""
    return max((rank(vector, w), vector) for vector in mixtures(corpus, sentence))[1]


def mixtures(corpus: Corpus, sentence: str) -> list[tuple[int, ...]]:
    source, words = tuple(corpus.sources[0].split()), tuple(sentence.split())
    candidates: dict[tuple[str, ...], None] = {}
    for chosen in product(
        *(
            (*c.alternatives, ()) if c.optional else c.alternatives
            for c in clusters_of(source, corpus.references[0], "none")
        )
    ):
        changes = [change for alternative in chosen for change in alternative]
        if len({change[:2] for change in changes}) == len(changes):
            candidates[splice(source, changes)] = None
    number: dict[str, int] = {}
    a, b, *rest = (
        tuple(number.setdefault(word, len(number)) for word in text)
        for text in (source, words, *candidates)
    )
    found = align_all(dict.fromkeys(((a, b), (a, a)), dict.fromkeys(rest)))
    return [found[a, b][c] + found[a, a][c][:2] for c in rest]


def random_case(rng: random.Random) -> tuple[Corpus, str]:
    """A source, one to three annotators, some with overlapping edits, and an output."""
    words = [str(w) for w in range(rng.choice([2, 3, 6, 40]))]
    n = rng.randrange(15)
    source = rng.choices(words, k=n)
    references = []
    for annotator in range(rng.choice([1, 2, 2, 2, 3])):
        wild, edits, at = rng.random() < 0.3, [], 0
        while at <= n:
            if rng.random() < 0.25:
                start = rng.randrange(n + 1) if wild else at
                end = min(n, start + rng.randrange(3))
                edits.append(Edit(start, end, " ".join(rng.choices(words, k=rng.randrange(3)))))
                at = max(at, end)
            at += 1
        references.append(Reference(annotator, tuple(edits)))
    output = list(source)
    if rng.random() < 0.5:
        output = list(rng.choice(nomix_references(tuple(source), references, "none")))
    for _ in range(rng.randrange(4)):
        at = rng.randrange(len(output) + 1)
        output[at : at + rng.randrange(2)] = rng.choices(words, k=rng.randrange(2))
    return Corpus((" ".join(source),), (tuple(references),)), " ".join(output)


def limited(corpus: Corpus, limits: Limits, tokenise: str = "none") -> list[NumberedChain]:
    """Lay the mixtures of a corpus out with limits of our own, which stay with it."""
    return corpus.derived(
        ("imeasure", "mix", tokenise), lambda: prepare_mix(corpus, tokenise, limits)
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed", [0, 1, 2, *(pytest.param(s, marks=pytest.mark.long) for s in range(3, 30))]
)
def test_mixtures_equal_enumeration(seed: int) -> None:
    rng = random.Random(seed)
    cut = 0
    for _ in range(1000 if seed else 200):
        corpus, output = random_case(rng)
        clusters = clusters_of(tuple(corpus.sources[0].split()), corpus.references[0], "none")
        if prod(len(c.alternatives) + c.optional for c in clusters) > 2000:
            continue
        weight = rng.choice([2.0, 2.0, 1.0, 0.3])
        metric = IMeasure(references="mix", tokenise="none", weight=weight)
        limited(corpus, Limits(few=0))
        counts = metric.count(corpus, Hypotheses("A", (output,)))[0, 0]
        assert counts[7] == 0
        assert tuple(counts[:7]) == enumerated(corpus, output, Fraction(weight)), (corpus, output)
        chain = limited(corpus, Limits(few=0))[0]
        stages, _ = stages_of(chain, tuple(corpus.vocabulary.intern([output])[0].tolist()))
        cut += sum(len(stage.texts) > 1 for stage in stages) > 1
    assert cut > 25  # many are cut into parts that are chosen apart


@pytest.mark.slow
def test_mixtures_by_running_totals_equal_enumeration() -> None:
    """Corpora of several sentences: each takes the mixture best for what is summed so far."""
    rng = random.Random(12)
    metric = IMeasure(references="mix", tokenise="none", choice="corpus")
    options = otherwise = 0
    for _ in range(60):
        cases = [random_case(rng) for _ in range(4)]
        total = (0,) * 7
        for one, output in cases:
            every = [
                tuple(map(sum, zip(total, vector, strict=True))) for vector in mixtures(one, output)
            ]
            best = max(rank(vector, Fraction(2)) for vector in every)
            tied = {vector for vector in every if rank(vector, Fraction(2)) == best}
            if len(tied) > 1:
                break
            total = tied.pop()
        else:
            corpus = Corpus(
                tuple(one.sources[0] for one, _ in cases),
                tuple(one.references[0] for one, _ in cases),
            )
            outputs = Hypotheses("A", tuple(output for _, output in cases))
            limited(corpus, Limits(few=0))
            counts = metric.count(corpus, outputs)
            assert tuple(ExactSums.of(counts, metric.choose(counts)).floats[0, :7]) == total
            options = max(options, counts.shape[1])
            alone = IMeasure(references="mix", tokenise="none").count(corpus, outputs)
            np.testing.assert_array_equal(
                chosen_counts(counts, metric.for_sentences.choose(counts)), alone[:, 0]
            )
            otherwise += tuple(alone[:, 0, :7].sum(axis=0)) != total
    assert options > 2
    assert otherwise > 1  # running totals do change the choice


@pytest.mark.slow
def test_every_mixture_that_totals_can_make_the_best_is_kept() -> None:
    rng = random.Random(5)
    dropped = 0
    for _ in range(400):
        w = rng.choice([2.0, 1.0, 0.5])
        stages = [
            [
                tuple(rng.choice([0, 0, 0, 1, 2]) for _ in range(7))
                for _ in range(rng.randrange(1, 4))
            ]
            for _ in range(2)
        ]
        every = {tuple(map(sum, zip(*chosen, strict=True))) for chosen in product(*stages)}
        left = possible_mixtures(stages, w)
        assert set(left) <= every
        dropped += len(every) - len(left)
        for most in (1, 2, 2, 9):  # 1 is for no totals at all
            totals = tuple(rng.randrange(most) for _ in range(7))
            best, ours = (
                max(
                    rank(tuple(map(sum, zip(v, totals, strict=True))), Fraction(w)) for v in vectors
                )
                for vectors in (every, left)
            )
            assert best == ours, (stages, totals)
    assert dropped > 400


def test_limits_are_said() -> None:
    """With too many texts to try, the counts are right but the choice is marked as unproven."""
    rng = random.Random(9)
    metric = IMeasure(references="mix", tokenise="none")
    unproven = below = 0
    for _ in range(150):
        corpus, output = random_case(rng)
        limited(corpus, Limits(few=0, most=6))
        counts = metric.count(corpus, Hypotheses("A", (output,)))[0, 0]
        best = enumerated(corpus, output, Fraction(2))
        vector = tuple(int(value) for value in counts[:7])
        assert rank(vector, Fraction(2)) <= rank(best, Fraction(2))
        if counts[7]:
            unproven += 1
            below += vector != best
        else:
            assert vector == best
    assert unproven > below > 0
    scores = scored(metric, corpus, [Hypotheses("A", (output,))])
    assert "unproven" in scores.parts


@pytest.mark.slow
def test_hopeless_output_ends() -> None:
    """An output that has nothing to do with a long, much corrected sentence."""
    n = 120
    source = " ".join(str(i % 7) for i in range(n))
    references = tuple(
        Reference(a, tuple(Edit(i, i + 1, f"{a} {i % 5}") for i in range(0, n, 2)))
        for a in range(3)
    )
    corpus = Corpus((source,), (references,))
    output = " ".join(str((i * i) % 7) for i in range(n))
    limited(corpus, Limits(steps=1 << 20), "official")
    counts = IMeasure(references="mix").count(corpus, Hypotheses("A", (output,)))
    assert counts[0, 0, 7] == 1
    assert counts[0, 0, :5].sum() >= n


@pytest.mark.slow
def test_quotients_equal_trying_all() -> None:
    rng = random.Random(3)
    for _ in range(300):
        w = rng.choice([2.0, 1.0, 0.5, 0.1])
        stages = [
            [
                tuple(rng.choice([0, 0, 1, 2, 5]) for _ in range(5))
                + (rng.randrange(4), rng.randrange(1, 4))
                for _ in range(rng.randrange(1, 5))
            ]
            for _ in range(3)
        ]
        stages[0] = [(max(v[0], 1), *v[1:]) for v in stages[0]]
        every = [tuple(map(sum, zip(*chosen, strict=True))) for chosen in product(*stages)]
        best = max((rank(vector, Fraction(w)), vector) for vector in every)
        chosen = best_mixture(stages, w)
        assert tuple(map(sum, zip(*chosen, strict=True))) == best[1]
        assert all(vector in stage for vector, stage in zip(chosen, stages, strict=True))


def test_nothing_right_is_no_damage_only_where_nothing_was_right() -> None:
    """I of WAcc 0 is 0 if the baseline's WAcc is 0 as well, and -1 otherwise."""
    stages = [[(0, 1, 1, 0, 0, 1, 1), (0, 1, 1, 0, 0, 0, 2)], [(0, 0, 1, 0, 0, 0, 1)]]
    assert best_mixture(stages, 2.0) == [stages[0][1], stages[1][0]]
    stages[1] = [(0, 0, 1, 0, 0, 1, 1)]
    assert best_mixture(stages, 2.0) == [stages[0][0], stages[1][0]]


def test_changes_that_overlap_reach_beyond_their_place() -> None:
    """From the right: 2-4 goes, then 1-3 takes what has moved there."""
    source = tuple("abcde")
    assert splice(source, [Change(1, 3, ("x",)), Change(2, 4, ())]) == ("a", "x")
    assert splice(source, [Change(0, 5, ())]) == source
    assert splice(("a", "b"), [Change(0, 1, ()), Change(1, 2, ())]) == ("a",)


def test_references_as_text() -> None:
    corpus = Corpus.from_texts(
        ["He go home ."] * 2,
        [["He goes home .", "He go home ."], ["He went home .", "He go home ."]],
    )
    output = Hypotheses("A", ("He went home .", "He go home"))
    for mode in ("nomix", "mix"):
        scores = scored(IMeasure(references=mode), corpus, [output])
        np.testing.assert_array_equal(scores.sentences[0], [1.0, 0.6 - 1])
        assert "gold:text" in scores.context


def test_nothing_in_nothing_out() -> None:
    corpus = Corpus(
        ("", "", "a"),
        (
            (Reference(0, ()),),
            (Reference(0, (Edit(0, 0, "b"),)),),
            (Reference(0, (Edit(0, 1, ""),)),),
        ),
    )
    for mode in ("nomix", "mix"):
        metric = IMeasure(references=mode)
        scores = evaluate(metric, corpus, [Hypotheses("A", ("", "b", ""))], resamples=10)
        # An empty sentence left alone is right; a reference never loses its last token.
        np.testing.assert_array_equal(scores.sentences[0], [1.0, 1.0, -1.0])


WORDS = [
    *("a", "the", "doctor", "Mr.", "e.g.", "U.S.", "cannot", "gonna", "1,000", "10:30", "3.5"),
    *("don't", "won't", "it's", "I'm", "they'll", "we've", "doctors'", "well-known", "and/or"),
    *("$5", "50%", "R&D", "#1", "...", "a.b", "known,the", "(b)", "“q”", "It’s", "‘no’.", "«so»"),
    *("a–b", "naïve,the", "été's", "'été'", "'quoted'", "relatives.These", ".Early", "x--y"),
    "wanna,you",
]


def tokenise_bytes(text: str) -> list[str]:
    """Return NLTK's tokens of text that it sees as bytes: no letter or sign outside ASCII.

    Characters of private use stand for them, since NLTK for Python 3 takes text only.
    """
    nltk = pytest.importorskip("nltk.tokenize")
    hidden = "".join(c if c.isascii() else chr(0xF0000 + ord(c)) for c in text)
    return [
        "".join(c if c.isascii() else chr(ord(c) - 0xF0000) for c in token)
        for token in nltk.NLTKWordTokenizer().tokenize(hidden)
    ]


@pytest.mark.slow
def test_tokenises_as_nltk() -> None:
    rng = random.Random(0)
    for _ in range(3000):
        text = " ".join(
            rng.choice(["", "", "", '"', "(", "["])
            + rng.choice(WORDS)
            + rng.choice(["", "", "", "", ",", "?", "!", ":", ";", ")", "]"])
            for _ in range(rng.randrange(1, 6))
        ) + rng.choice(["", ".", '."', ".)"])
        assert list(treebank_tokens(text)) == tokenise_bytes(text), text


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::errata.core.errors.DataWarning")
def test_tokenises_corrections_as_nltk(conll14: Path) -> None:
    corpus = read_m2(conll14 / "conll14st-test.m2")
    texts = {edit.replacement for refs in corpus.references for r in refs for edit in r.edits or ()}
    assert len(texts) > 1500
    for text in texts | set(corpus.sources):
        assert list(treebank_tokens(text)) == tokenise_bytes(text), text
    assert sum(treebank_tokens(text) != tuple(text.split()) for text in texts) == 9


def test_typographic_quotes_in_m2_are_parts_of_tokens() -> None:
    """The official converter reads bytes: with “It’s” as three tokens I was -60."""
    edit = "A 0 1|||Orth|||It’s|||REQUIRED|||-NONE-|||0"
    corpus = parse_m2(["S Its a word .", edit, ""], "gold.m2").corpus
    counts = IMeasure().count(corpus, Hypotheses("A", ("It’s a word .",)))
    assert IMeasure().score(counts[0, 0]) == 1


def test_sentences_name_the_annotator_they_take() -> None:
    """Also where an annotator has nothing to correct, or corrects as another one does."""
    fix, other = Edit(1, 2, "x"), Edit(0, 1, "y")
    corpus = Corpus(
        ("a b c d",) * 3,
        (
            (Reference(0, ()), Reference(1, (fix,))),
            (Reference(0, (fix,)), Reference(1, (fix,)), Reference(2, (other,))),
            (Reference(3, (other,)), Reference(1, (fix,))),
        ),
    )
    scores = scored(
        IMeasure(),
        corpus,
        [
            Hypotheses("A", ("a x c d", "y b c d", "a x c d")),
            Hypotheses("B", ("a b c d", "a x c d", "y b c d")),
        ],
    )
    assert scores.sentence_parts["annotator"].tolist() == [[1, 2, 1], [0, 0, 3]]
    mixed = scored(
        IMeasure(references="mix", choice="corpus"),
        corpus,
        [Hypotheses("A", ("a x c d", "y b c d", "a x c d"))],
    )
    assert "annotator" not in mixed.sentence_parts


def test_a_no_break_space_is_part_of_an_output_token_for_the_program() -> None:
    corpus = Corpus(("about 10\u00a0km of road",), ((Reference(0, ()),),))
    same = Hypotheses("A", corpus.sources)
    assert scored("imeasure", corpus, same)["A"] == 1.0
    for references in ("nomix", "mix"):
        metric = f"imeasure(references={references}, spaces=ascii)"
        assert scored(metric, corpus, same)["A"] < 0


@pytest.mark.parametrize("references", ["nomix", "mix"])
def test_sentences_too_long_are_refused_before_memory_is_asked_for(references: str) -> None:
    long = " ".join(f"w{i}" for i in range(29_000))
    corpus = Corpus.from_texts(["a b", "a b"], [["a c", long]])
    system = Hypotheses("A", ("a c", long))
    metric = IMeasure(references=references)
    with pytest.raises(
        InputError, match=r"sentence 2 of A has 29000 tokens.* 30\.3 GB.*longest=29000"
    ):
        metric.count(corpus, system)
    few = IMeasure(references=references, longest=2)
    assert repr(few) == repr(metric)  # it decides no number
    with pytest.raises(InputError, match="has 3 tokens"):
        few.count(Corpus.from_texts(["a b"], [["a c"]]), Hypotheses("A", ("a b c",)))


LETTERS = st.lists(st.sampled_from("abc"), max_size=5)


def test_the_example_of_chollampatt_and_ng() -> None:
    """Their Table 1, thirteen positions."""
    shown = (
        "Thus , advice from hospital plays the important role for this .",
        "Thus , advice from hospital plays an important role for this .",
        "Thus , advice from the hospital plays an important role in this .",
    )
    columns = align_three(*(text.split() for text in shown))
    source, hypothesis, reference = (
        " ".join(word or "∅" for word in row) for row in zip(*columns, strict=True)
    )
    assert source == "Thus , advice from ∅ hospital plays the important role for this ."
    assert hypothesis == "Thus , advice from ∅ hospital plays an important role for this ."
    assert reference == "Thus , advice from the hospital plays an important role in this ."
    counted = Counter(column.count_label() for column in columns)
    assert counted == {"TN": 10, "TP": 1, "FN": 2}
    assert [k for k, c in enumerate(columns, 1) if c.kind != "unchanged"] == [5, 8, 11]


@example(list("ab"), list("ba"), list("aaaa"))
@example(list("b"), list("bba"), list("bab"))
@given(LETTERS, LETTERS, LETTERS)
def test_columns_are_those_of_the_recurrence_and_add_up_to_the_counts(
    s: list[str], h: list[str], r: list[str]
) -> None:
    columns = align_three(s, h, r)
    assert [tuple(column) for column in columns] == align_slowly(s, h, r)[1]
    for row, words in zip(range(3), (s, h, r), strict=True):
        assert [column[row] for column in columns if column[row] is not None] == words
    ids = np.array([ord(word) for words in (s, h, r) for word in words], np.int32)
    offsets = np.cumsum([0, len(s), len(h), len(r)]).astype(np.int64)
    counted = threeway.count_columns(ids, offsets, np.array([[0, 1, 2]]))[0][0, KINDS]
    kinds = Counter(column.kind for column in columns)
    assert [kinds[name] for name in STATISTICS[KINDS]] == counted.tolist()  # type: ignore[index]


def test_parameters_of_the_metric_are_kept() -> None:
    corpus = Corpus.from_texts(["He go home ."], [["He goes home ."]])
    went = Hypotheses("A", ("He\u00a0x went home .",))
    (found,) = align_sentences(IMeasure(spaces="ascii", aspect="detection"), corpus, went, [0])
    assert [column.hypothesis for column in found.columns] == ["He\u00a0x", "went", "home", "."]
    assert [column.count_label(found.aspect) for column in found.columns] == [
        "FP",
        "TP",
        "TN",
        "TN",
    ]
    with pytest.raises(InputError, match="a mixture of several annotators has no alignment"):
        align_sentences(IMeasure(references="mix"), corpus, went, [0])


@pytest.mark.slow
def test_a_long_sentence_is_aligned_where_it_differs() -> None:
    source = [f"w{k % 50}" for k in range(3000)]
    hypothesis, reference = [*source], [*source]
    hypothesis[700], reference[2000] = "x", "y"
    columns = align_three(source, hypothesis, reference)
    kinds = [column.kind for column in columns if column.kind != "unchanged"]
    assert kinds == ["needless", "missed"]
