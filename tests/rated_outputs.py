"""Made-up ratings: outputs whose errors can be read off their words."""

import csv
import json
from io import StringIO
from pathlib import Path

import numpy as np

WORDS = (
    *("the", "a", "dog", "cat", "bird", "sees", "hears", "finds", "near", "under", "big"),
    *("small", "red", "house", "tree", "river"),
)
WRONG = ("teh", "sea", "foundes")


def rated_csv(sources: int = 60, outputs: int = 4, *, seed: int = 0, shuffled: bool = False) -> str:
    """A table of ratings: each wrong word costs a point, and raters differ by chance.

    ``shuffled`` gives every output the ratings of another one.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for number in range(sources):
        words = [str(word) for word in rng.choice(WORDS, 7)]
        source = f"{' '.join(words)} {number} ."
        for _ in range(outputs):
            wrong = int(rng.integers(0, 4))
            made = list(words)
            for place in rng.permutation(7)[:wrong].tolist():
                made[place] = str(rng.choice(WRONG))
            grades = [max(1, min(4, 4 - wrong + int(rng.integers(-1, 2)))) for _ in range(5)]
            rows.append([source, f"{' '.join(made)} {number} .", ",".join(map(str, grades))])
    if shuffled:
        grades_of = [row[2] for row in rows]
        for row, place in zip(rows, rng.permutation(len(rows)).tolist(), strict=True):
            row[2] = grades_of[place]
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["source", "output", "grammer", "fluency", "meaning", "system"])
    for source, output, grades in rows:
        writer.writerow([source, output, grades, grades, f"0,{grades}", "A,B"])
    return text.getvalue()


def write_word_encoder(folder: Path) -> Path:
    """A random BERT of one layer that knows these words, and letters with a z, as whole tokens."""
    import torch
    import transformers

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    words = [*special, *dict.fromkeys([*WORDS, *WRONG, ".", *"abcdefghij"])]
    words += [f"{letter}z" for letter in "abcdefghij"]
    folder.mkdir(parents=True)
    (folder / "vocab.txt").write_text("\n".join(words) + "\n")
    settings = {"tokenizer_class": "BertTokenizer", "do_lower_case": False, "model_max_length": 64}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    config = transformers.BertConfig(
        vocab_size=len(words),
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
        initializer_range=0.2,
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        transformers.BertModel(config).save_pretrained(folder)
    return folder
