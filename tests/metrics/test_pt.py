"""PT-M2 and PT-ERRANT: M2 and ERRANT whose edits weigh what a model says they are worth."""

import json
import zlib
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from errata.core.errors import ErrataError, InputError
from errata.data import Corpus, Edit, Hypotheses, Reference, apply_edits
from errata.datasets.load import sample_corpus, sample_systems
from errata.edits import extract
from errata.edits.errant import open_extractor
from errata.io import read_corpus, read_hypotheses
from errata.metrics import parse
from errata.models.encoder import open_bertscore
from errata.scoring.evaluate import evaluate
from fake_bertscore import FakeBERTScore, weight_of_one
from scored import scored
from slow_maxmatch import edit_path

BOTH = ["pt_m2", "pt_errant(extractor=aligned)"]
Patch = pytest.MonkeyPatch


def likeness(text: str, reference: str) -> float:
    """Some number between 0 and 1 that hangs on both texts."""
    return zlib.crc32(f"{text}|{reference}".encode()) / 2**32


def with_own_edits(metric: str) -> str:
    """The metric with Errata's edits where it would take ERRANT's, which may not be installed."""
    name, _, rest = metric.partition("(")
    if not name.endswith("errant"):
        return metric
    return f"{name}(extractor=aligned, {rest or ')'}".replace(", )", ")")


def random_edits(rng: np.random.Generator, source: Sequence[str]) -> list[Edit]:
    """Edits that change something and do not touch each other."""
    edits, position = [], 0
    while position <= len(source):
        kind = rng.integers(6)
        end = min(position + int(rng.integers(0, 2)), len(source))
        words = " ".join(rng.choice(list("uvwxyz"), int(rng.integers(0, 3))))
        if kind == 0 and (end > position or words):
            edits.append(Edit(position, end, words))
            position = end
        position += 2
    return edits


def random_corpus(seed: int, size: int = 40) -> tuple[Corpus, Hypotheses]:
    rng = np.random.default_rng(seed)
    # No change of one sentence gives another.
    sources = [
        " ".join([*rng.choice(list("abcdefgh"), int(rng.integers(1, 9))), f"s{i}"])
        for i in range(size)
    ]
    references, outputs = [], []
    for source in sources:
        several = [random_edits(rng, source.split()) for _ in range(int(rng.integers(1, 4)))]
        references.append(tuple(Reference(k, tuple(edits)) for k, edits in enumerate(several)))
        mine = [*several[0], *random_edits(rng, source.split())][:: int(rng.integers(1, 3))]
        try:
            outputs.append(" ".join(apply_edits(source.split(), mine)))
        except InputError:
            outputs.append(source)
    return Corpus(tuple(sources), tuple(references)), Hypotheses("A", tuple(outputs))


@pytest.mark.parametrize(
    ("weighed", "plain"),
    [
        ("pt_m2(total=sum)", "m2"),
        ("pt_m2(total=sum, beta=1, max_unchanged=0)", "m2(beta=1, max_unchanged=0)"),
        ("pt_m2(total=sum, ignore_case=True)", "m2(ignore_case=True)"),
        ("pt_m2(total=sum, choice=optimal)", "m2(choice=optimal)"),
        ("pt_m2(total=sum, choice=last)", "m2(choice=last)"),
        ("pt_m2(total=sum, duplicates=official)", "m2(duplicates=official)"),
        ("pt_m2(total=sum, version='3.2')", "m2(version='3.2')"),
        ("pt_m2", "m2(total=mean)"),
        ("pt_errant(total=sum)", "errant"),
        ("pt_errant(total=sum, gold=reextracted)", "errant(gold=reextracted)"),
        ("pt_errant(total=sum, choice=isolated)", "errant(choice=isolated)"),
        ("pt_errant(total=sum, alternatives=any)", "errant(alternatives=any)"),
        ("pt_errant(total=sum, duplicates=True)", "errant(duplicates=True)"),
        ("pt_errant()", "errant(total=mean)"),
    ],
)
def test_edits_that_all_weigh_one_give_the_plain_metric(
    weighed: str, plain: str, monkeypatch: Patch
) -> None:
    weighed, plain = map(with_own_edits, (weighed, plain))
    sample = sample_corpus(), sample_systems()
    for corpus, systems in (sample, *((c, [h]) for c, h in map(random_corpus, range(3)))):
        FakeBERTScore(weight_of_one(corpus.sources)).put(monkeypatch)
        found = scored(weighed, corpus, systems)
        wanted = scored(plain, corpus, systems)
        mean = "mean" in plain
        for name, part in wanted.parts.items():
            assert found.parts[name].tolist() == part.tolist(), name
        # A mean is of fixed-point numbers.
        close = 2.0**-29 if mean else 0.0
        assert np.abs(found.values - wanted.values).max() <= close
        assert np.abs(found.sentences - wanted.sentences).max() <= close
        assert found.headline == wanted.headline


def slow_sums(
    source: str, proposed: set[Edit], gold: set[Edit], reference: str, *, shared: bool
) -> tuple[Fraction, Fraction, Fraction]:
    """What is right, proposed and asked for, by the description: weights of the union."""
    tokens = source.split()
    weights = {}
    for start, end, words in {(e.start, e.end, e.replacement) for e in proposed | gold}:
        text = " ".join([*tokens[:start], *words.split(), *tokens[end:]])
        weight = abs(likeness(text, reference) - likeness(source, reference))
        fixed = Fraction(round((weight if weight >= 1e-5 else 0) * 2**30), 2**30)
        weights[start, end, words] = fixed
    if shared and weights and not any(weights.values()):
        weights = dict.fromkeys(weights, Fraction(1, len(weights)))
    mine, asked = ({(e.start, e.end, e.replacement) for e in side} for side in (proposed, gold))
    return tuple(
        sum((weights[e] for e in side), Fraction()) for side in (mine & asked, mine, asked)
    )  # type: ignore[return-value]


def slow_f(right: Fraction, proposed: Fraction, asked: Fraction) -> Fraction:
    p = right / proposed if proposed else Fraction(1)
    r = right / asked if asked else Fraction(1)
    return 5 * p * r / (p + 4 * r) if p + r else Fraction()


Found = Callable[[str, str, Sequence[Edit]], set[Edit]]


def by_m2(source: str, output: str, gold: Sequence[Edit]) -> set[Edit]:
    words = output.split()
    path = edit_path(source, output, list(gold), 2)
    return {Edit(a, b, " ".join(words[left:right])) for a, b, left, right in path}


def by_alignment(source: str, output: str, gold: Sequence[Edit]) -> set[Edit]:
    return {Edit(e.start, e.end, e.replacement) for e in extract(source, output)}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("metric", "found"), [(BOTH[0], by_m2), (BOTH[1], by_alignment)])
def test_a_slow_computation_agrees(
    metric: str, found: Found, seed: int, monkeypatch: Patch
) -> None:
    corpus, output = random_corpus(seed)
    FakeBERTScore(likeness).put(monkeypatch)
    total, best_of_each = [Fraction()] * 3, []
    for source, references, text in zip(
        corpus.sources, corpus.references, output.sentences, strict=True
    ):
        sums = []
        for reference in references:
            gold = {Edit(e.start, e.end, e.replacement) for e in reference.edits or ()}
            mine = found(source, text, reference.edits or ())
            written = reference.corrected(source)
            sums.append(
                [slow_sums(source, mine, gold, written, shared=share) for share in (True, False)]
            )
        best_of_each.append(max(slow_f(*shared) for shared, _ in sums))

        def rank(
            each: tuple[Fraction, ...], so_far: Sequence[Fraction] = total
        ) -> tuple[Fraction | float, ...]:
            summed = [a + b for a, b in zip(so_far, each, strict=True)]
            f = slow_f(*summed)
            right, proposed, asked = each
            if metric == BOTH[0]:
                return f, right, -(asked / 4 + proposed)
            return round(float(f), 4), right, right - proposed, right - asked

        taken = max((kept for _, kept in sums), key=rank)
        total = [a + b for a, b in zip(total, taken, strict=True)]
    mean = float(sum(best_of_each) / len(best_of_each))
    assert evaluate(metric, corpus, output)["A"] == pytest.approx(mean, abs=1e-8)
    summed = metric.replace("pt_m2", "pt_m2()").replace("(", "(total=sum, ").replace(", )", ")")
    scores = evaluate(summed, corpus, output)
    assert scores["A"] == pytest.approx(float(slow_f(*total)), abs=1e-12)
    right, proposed, asked = map(float, total)
    wanted = {"correct": right, "proposed": proposed, "gold": asked, "TP": right}
    for name in set(wanted) & set(scores.parts):
        assert float(scores.parts[name][0]) == pytest.approx(wanted[name], abs=1e-12)


@pytest.mark.parametrize("metric", BOTH)
def test_no_edits_at_all(metric: str, monkeypatch: Patch) -> None:
    fake = FakeBERTScore(likeness).put(monkeypatch)
    corpus = Corpus(("a b", ""), ((Reference(0, ()), Reference(1, ())), (Reference(0, ()),)))
    assert evaluate(metric, corpus, Hypotheses("A", ("a b", "")))["A"] == 1.0
    assert fake.asked == []


def test_edits_without_weight_share_one(monkeypatch: Patch) -> None:
    FakeBERTScore(lambda text, reference: likeness(text.lower(), reference)).put(monkeypatch)
    corpus = Corpus(("a b c",), ((Reference(0, (Edit(0, 1, "A"), Edit(2, 3, "C"))),),))
    half = Hypotheses("A", ("A b c",))  # with 2 edits, P = 1 and R = 1/2
    assert evaluate("pt_m2", corpus, half)["A"] == pytest.approx(5 / 6)
    assert evaluate("pt_m2", corpus, half).parts["gold"][0] == 1.0
    for kept in ("pt_m2(zeros=kept)", "pt_m2(total=sum)"):
        assert evaluate(kept, corpus, half)["A"] == 1.0


def test_noise_of_the_model_is_no_weight(monkeypatch: Patch) -> None:
    FakeBERTScore(lambda text, reference: 0.5 + 9e-6 * likeness(text, reference)).put(monkeypatch)
    corpus, output = random_corpus(1)
    assert evaluate("pt_m2(total=sum)", corpus, output).parts["gold"][0] == 0.0


@pytest.mark.parametrize("metric", [*BOTH, "cleme2(weights=similarity)"])
def test_every_pair_is_asked_for_once(metric: str, monkeypatch: Patch) -> None:
    monkeypatch.setattr("errata.metrics.encoder_metric.WINDOW", 1)  # windows of eight sentences
    fake = FakeBERTScore(likeness, cut=2.0).put(monkeypatch)
    corpus, systems = sample_corpus(), sample_systems()
    together = scored(metric, corpus, systems)
    assert len(fake.asked) == len(set(fake.asked)) > len(corpus)
    asked = len(fake.asked)
    again = scored(metric, corpus, systems[:1])
    assert len(fake.asked) == asked
    assert again.values[0] == together.values[0]
    assert f"{asked:,} pairs of texts were longer than the model takes, and cut" in together.notes
    assert f"model:{fake.memo.revision}" in together.context


def slow_bertscore(folder: Path, layer: int) -> Callable[[str, str], float]:
    """BERTScore's F by the paper: unit vectors of a layer; special tokens count on one side."""
    import torch
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder, output_hidden_states=True).eval()

    def vectors(text: str) -> Any:
        with torch.inference_mode():
            states = model(**tokenizer(text, return_tensors="pt")).hidden_states[layer][0]
        return torch.nn.functional.normalize(states, dim=-1)

    def f(text: str, reference: str) -> float:
        like = vectors(text) @ vectors(reference).T
        p, r = like.max(1).values[1:-1].mean(), like.max(0).values[1:-1].mean()
        return float(2 * p * r / (p + r))

    return f


@pytest.mark.lm
def test_weights_of_a_checkpoint_and_a_second_run_without_it(
    tiny_models: Path, monkeypatch: Patch
) -> None:
    source, reference = "The cat sit on mat .", "The cats sit on the mat ."
    output = "The cats sat on mat ."
    f = slow_bertscore(tiny_models / "encoder", 1)

    def weight(text: str) -> float:
        return abs(f(text, reference) - f(source, reference))

    right, wrong = weight("The cats sit on mat ."), weight("The cat sat on mat .")
    missed = weight("The cat sit on the mat .")
    gold = Reference(0, (Edit(1, 2, "cats"), Edit(4, 4, "the")))
    corpus, system = Corpus((source,), ((gold,),)), Hypotheses("A", (output,))
    metric = parse(f"pt_m2(model={str(tiny_models / 'encoder')!r}, layer=1, total=sum)")
    found = metric.count(corpus, system)[0, 0].tolist()
    assert found == pytest.approx([right, right + wrong, right + missed], abs=1e-5)
    assert min(right, wrong, missed) > 1e-3  # not within the noise

    def gone(_: object) -> None:
        raise AssertionError("the weights were loaded")

    monkeypatch.setattr("errata.models.encoder.Encoder.loaded", property(gone))
    assert metric.count(corpus, system)[0, 0].tolist() == found


@pytest.fixture(scope="module")
def bert() -> str:
    """The model of the published figures, where it is on the machine or a hub can be reached."""
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    name = "bert-base-uncased"
    try:
        open_bertscore(name)
    except ErrataError as error:
        pytest.skip(f"needs {name}, from a hub: {error}")
    return name


@pytest.mark.lm
@pytest.mark.slow
def test_the_authors_demonstration(bert: str, conll14: Path, submissions: Path) -> None:
    """Its output file is AMU's submission, byte for byte; ``sentm2`` with BERTScore is .3756."""
    corpus = read_corpus(gold=conll14 / "conll14st-test.m2")
    found = evaluate(f"pt_m2(model={bert!r})", corpus, read_hypotheses(submissions / "AMU"))
    assert found["AMU"] == pytest.approx(0.3756, abs=6e-5)


@pytest.mark.lm
@pytest.mark.errant
def test_the_unit_test_of_gec_metrics(bert: str, oracles: Path) -> None:
    """Of gec-metrics 0.1.2: P, R and F of three sentences, and their F one by one."""
    found = json.loads((oracles / "learned" / "gec-metrics-anchors.json").read_text("utf-8"))
    corpus = Corpus.from_texts(found["sources"], found["references"])
    if open_extractor() is None:
        pytest.skip("needs ERRANT and a spaCy pipeline for English")
    metric = f"pt_errant(model={bert!r}, total=sum)"
    scores = evaluate(metric, corpus, Hypotheses("A", tuple(found["hypotheses"])))
    wanted = found["pt-errant"]
    assert scores["A"] == pytest.approx(wanted["weights by"]["F"], abs=1e-5)
    for name in ("P", "R"):
        assert float(scores.parts[name][0]) == pytest.approx(wanted["weights by"][name], abs=1e-5)
    assert scores.sentences[0].tolist() == pytest.approx(wanted["sentences by F"], abs=1e-5)
