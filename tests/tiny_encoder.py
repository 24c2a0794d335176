"""Checkpoints of the official layout, tiny and random, as tests write them: a BERT of two layers.

A folder holds config.json, the weights, vocab.txt and tokenizer_config.json, as the folders of the
hub and of the official SOME do. The heads of `write_some` and `write_impara` are fitted (by least
squares, on the vectors of the random encoder) to like the texts of `errata.testing` in their order.
"""

import json
import string
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from errata.testing import example_corpus, example_systems

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = ["The", "cat", "on", "the", "mat", "tea", "Fine", "home", "late", "She", "gone", "school"]
PIECES = [*string.ascii_letters, ".", ",", "!"]
VOCABULARY = [*SPECIAL, *WORDS, *PIECES, *(f"##{letter}" for letter in string.ascii_lowercase)]
POSITIONS = 160
# Metrics with the models of `tiny_models`, as a user writes them who is in that folder.
LEARNED = [
    "some(models=some)",
    "some(models=some, weights=(1, 0, 0))",
    "some(models=some, weights=(0.2, 0.3, 0.5), max_length=16)",
    "impara(model=impara, similarity=encoder, threshold=0.5)",
    "impara(model=impara, similarity=encoder, gate='>=', output=logit, threshold=-1)",
    "impara(model=impara, gate=none)",
    "bertscore(model=encoder, layer=2)",
    "bertscore(model=encoder, layer=1, measure=R)",
]


def write_tokenizer(folder: Path) -> Path:
    """A vocabulary as BERT has it: words, letters, and letters within a word."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n")
    settings = {"tokenizer_class": "BertTokenizer", "do_lower_case": False, "model_max_length": 512}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    return folder


def write_encoder(folder: Path, seed: int = 0, *, tokenizer: bool = True) -> Path:
    import transformers

    return _written(folder, seed, transformers.BertModel, tokenizer=tokenizer)


def write_roberta_of_bytes(folder: Path, seed: int = 0) -> Path:
    """A random RoBERTa with the tokenizer of one: bytes, and a blank is part of a word."""
    import tokenizers
    import torch
    import transformers

    special = {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3}
    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    vocabulary = special | {letter: k for k, letter in enumerate(letters, len(special))}
    vocabulary |= {f"Ġ{letter}": k for k, letter in enumerate("abcht", len(vocabulary))}
    made = tokenizers.Tokenizer(
        tokenizers.models.BPE(vocabulary, [("Ġ", letter) for letter in "abcht"], unk_token="<unk>")
    )
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.post_processor = tokenizers.processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=made,
        cls_token="<s>",
        sep_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        model_max_length=64,
    ).save_pretrained(folder)
    config = transformers.RobertaConfig(
        vocab_size=len(vocabulary),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=66,
        initializer_range=0.3,
        pad_token_id=1,
    )
    torch.manual_seed(seed)
    transformers.RobertaModel(config).save_pretrained(folder)
    return folder


def write_regressor(
    folder: Path,
    seed: int = 0,
    *,
    outputs: int = 1,
    tokenizer: bool = True,
    wanted: Mapping[tuple[str, ...], float] | None = None,
) -> Path:
    """A random regressor; ``wanted`` are values of texts (or pairs) that its last layer learns."""
    import transformers

    kind = transformers.BertForSequenceClassification
    return _written(folder, seed, kind, num_labels=outputs, tokenizer=tokenizer, wanted=wanted)


def _written(
    folder: Path,
    seed: int,
    kind: Any,
    *,
    tokenizer: bool,
    wanted: Mapping[tuple[str, ...], float] | None = None,
    **more: Any,
) -> Path:
    import torch
    import transformers

    config = transformers.BertConfig(
        vocab_size=len(VOCABULARY),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=POSITIONS,
        initializer_range=0.3,  # else all texts are nearly the same
        **more,
    )
    torch.manual_seed(seed)
    model = kind(config).eval()
    write_tokenizer(folder)
    if wanted:
        _fit(model, transformers.AutoTokenizer.from_pretrained(folder, config=config), wanted)
    model.save_pretrained(folder)
    if not tokenizer:
        (folder / "vocab.txt").unlink()
        (folder / "tokenizer_config.json").unlink()
    return folder


def _fit(model: Any, tokenizer: Any, wanted: Mapping[tuple[str, ...], float]) -> None:
    import torch

    rows = []
    with torch.inference_mode():
        for text in wanted:
            rows.append(model.bert(**tokenizer(*text, return_tensors="pt")).pooler_output[0])
    vectors = np.c_[torch.stack(rows).numpy().astype(float), np.ones(len(rows))]
    # Ridge, and not least squares alone: weights in the thousands would blow up what rounding does.
    gram = vectors @ vectors.T + 0.05 * np.eye(len(rows))
    solved = vectors.T @ np.linalg.solve(gram, np.array([*wanted.values()]))
    model.classifier.weight.data = torch.tensor(solved[None, :-1], dtype=torch.float32)
    model.classifier.bias.data = torch.tensor(solved[-1:], dtype=torch.float32)


def _liked(values: Sequence[float], pairs: bool) -> dict[tuple[str, ...], float]:
    """Outputs of perfect, unchanged and erring system, with a value for each; the first stands."""
    wanted: dict[tuple[str, ...], float] = {}
    for system, value in zip(example_systems(), values, strict=True):
        for source, output in zip(example_corpus().sources, system.sentences, strict=True):
            wanted.setdefault((source, output) if pairs else (output,), value)
    return wanted


def write_roberta(folder: Path) -> Path:
    """A random RoBERTa over two words, with 12 positions."""
    import torch
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    words = {name: i for i, name in enumerate(["<s>", "<pad>", "</s>", "<unk>", "a", "b"])}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        eos_token="</s>",
        cls_token="<s>",
        sep_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
    ).save_pretrained(folder)
    torch.manual_seed(0)
    config = transformers.RobertaConfig(
        vocab_size=6, hidden_size=8, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=8, max_position_embeddings=12, pad_token_id=1,
    )  # fmt: skip
    transformers.RobertaModel(config).save_pretrained(folder)
    return folder


def write_some(folder: Path, *, tokenizer: bool = True) -> Path:
    """The three folders of SOME; without ``tokenizer`` as in the authors' zip."""
    for seed, head in enumerate(("grammer", "fluency", "meaning")):
        wanted = _liked((4.0, 3.0, 1.5), pairs=head == "meaning")
        write_regressor(folder / head, seed, tokenizer=tokenizer, wanted=wanted)
    return folder


def write_impara(folder: Path) -> Path:
    return write_regressor(folder, 7, wanted=_liked((3.0, 1.0, -2.0), pairs=False))


@pytest.fixture(scope="session")
def tiny_models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the folders ``some`` (of three), ``impara`` and ``encoder``."""
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("tiny_models")
    write_encoder(folder / "encoder")
    write_some(folder / "some")
    write_impara(folder / "impara")
    return folder
