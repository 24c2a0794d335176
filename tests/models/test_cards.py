"""Cards of trained models, and the folders that hold them."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from errata.core.errors import InputError
from errata.core.stats import Estimate
from errata.io.atomic import file_set
from errata.models.cards import (
    GateThreshold,
    Head,
    ModelCard,
    PartSize,
    TrainedOn,
    TrainingFolder,
    card_files,
    read_model_card,
)

UNKNOWN = Estimate(math.nan, math.nan, math.nan)
HEAD = Head("pearson", 9, Estimate(0.45, 0.3, 0.6), Estimate(0.3, 0.1, 0.5), 0.4, 0.5, 7, 20)
CARD = ModelCard(
    "some",
    "minilm@1",
    TrainedOn("rated.csv", "ab" * 32, 100, 40, "CC0", ("Somebody. 2020.",), ("2 left out",)),
    {"train": PartSize(80, 30), "validation": PartSize(11, 5), "test": PartSize(9, 5)},
    {"grammer": HEAD},
    {"epochs": 2, "learning_rate": 1e-4, "rows": None},
)


def _written(folder: Path, card: ModelCard) -> None:
    for name, data in card_files(card).items():
        (folder / name).write_bytes(data)


def test_a_card_is_read_as_it_was_written(tmp_path: Path) -> None:
    _written(tmp_path, CARD)
    assert read_model_card(tmp_path) == CARD
    assert read_model_card(tmp_path / "elsewhere") is None


def test_a_card_says_everything_to_people(tmp_path: Path) -> None:
    text = card_files(CARD)["card.md"].decode()
    for said in (
        "| grammer | r | 0.450 [0.300, 0.600] | 0.300 [0.100, 0.500] | 9 | 7 of 20 |",
        "ab" * 32,
        "Licence: CC0",
        "Somebody. 2020.",
        "| validation | 11 | 5 |",
        "- learning_rate: 0.0001",
        "must not be shipped with a package",
    ):
        assert said in text
    assert CARD.facts == (
        "grammer: r 0.450 on held-out sources [0.300, 0.600], the length alone 0.300 "
        "(9 rows of rated.csv)",
    )


def test_what_is_no_number_is_null(tmp_path: Path) -> None:
    head = Head("accuracy", 0, UNKNOWN, UNKNOWN, math.nan, -math.inf)
    card = ModelCard("impara", "e", CARD.data, CARD.split, {"impara": head})
    data = card_files(card)["card.json"]
    nothing = dict.fromkeys(("value", "low", "high"))
    assert json.loads(data)["heads"]["impara"]["value"] == nothing
    _written(tmp_path, card)
    read = read_model_card(tmp_path)
    assert math.isnan(read.heads["impara"].value.low)
    assert (read.heads["impara"].spearman, read.heads["impara"].validation) == (None, None)


def test_a_card_of_impara_names_a_threshold_for_its_encoder(tmp_path: Path) -> None:
    card = replace(CARD, metric="impara", settings={"encoder": "minilm"})
    assert "## Gate" not in card_files(card)["card.md"].decode()
    gated = replace(card, gate=GateThreshold(0.81, 0.9912, 113))
    said = card_files(gated)["card.md"].decode()
    assert "99.1% of 113 corrections of the validation part have a cosine" in said
    assert "`impara(model=FOLDER, similarity=minilm, threshold=0.81)`" in said
    _written(tmp_path, gated)
    assert read_model_card(tmp_path) == gated
    data = json.loads((tmp_path / "card.json").read_text("utf-8"))
    del data["gate"]  # a card from before there were thresholds
    (tmp_path / "card.json").write_text(json.dumps(data), "utf-8")
    assert read_model_card(tmp_path) == card
    data["gate"] = {"threshold": 0.8, "kept": 1.0, "rows": -1}
    (tmp_path / "card.json").write_text(json.dumps(data), "utf-8")
    with pytest.raises(InputError, match=r"gate\.rows: -1 is below 0"):
        read_model_card(tmp_path)


def test_a_card_says_how_many_texts_were_cut(tmp_path: Path) -> None:
    settings = {"max_length": 128}
    assert replace(CARD, settings=settings).cuts == ()
    card = replace(CARD, heads={"grammer": replace(HEAD, cut=1203)}, settings=settings)
    assert card.cuts == ("grammer: 1,203 texts longer than 128 tokens, cut",)
    assert card.cuts[0] in card_files(card)["card.md"].decode()
    _written(tmp_path, card)
    assert read_model_card(tmp_path) == card
    data = json.loads((tmp_path / "card.json").read_text("utf-8"))
    del data["heads"]["grammer"]["cut"]  # a card from before that was counted
    (tmp_path / "card.json").write_text(json.dumps(data), "utf-8")
    assert read_model_card(tmp_path) == replace(CARD, settings=settings)


@pytest.mark.parametrize(
    "text", ["{", "[]", "{}", '{"kind": "errata model card", "version": 2}', "null"]
)
def test_what_is_no_card_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "card.json").write_text(text, "utf-8")
    with pytest.raises(InputError, match=r"card\.json:(1:)? not a model card"):
        read_model_card(tmp_path)


def test_a_number_too_large_for_a_float_is_refused(tmp_path: Path) -> None:
    text = card_files(CARD)["card.json"].decode().replace("0.45", "9" * 400, 1)
    (tmp_path / "card.json").write_text(text, "utf-8")
    with pytest.raises(InputError, match=r"heads\.grammer\.value\.value: the number is not finite"):
        read_model_card(tmp_path)


def test_parts_are_kept_until_all_are_put_in_place(tmp_path: Path) -> None:
    """A run that was broken off finds what it had finished, and only under the same key."""
    with file_set():
        folder = TrainingFolder.at(tmp_path / "new", ["grammer", "fluency"])
        (folder.start("grammer") / "config.json").write_text("{}")
        folder.finish("grammer", "key", HEAD)
        assert not (tmp_path / "new" / "grammer").exists()
    with file_set():
        again = TrainingFolder.at(tmp_path / "new", ["grammer", "fluency"])
        assert again.finished("grammer", "key") == HEAD
        assert again.finished("grammer", "other") is None
        assert again.finished("fluency", "key") is None
        (again.start("fluency") / "config.json").write_text("{}")
        again.put_card(CARD)
    found = {str(p.relative_to(tmp_path / "new")) for p in (tmp_path / "new").rglob("*")}
    parts = {"grammer", "grammer/config.json", "fluency", "fluency/config.json"}
    assert found == parts | {"card.json", "card.md"}


def test_a_trained_folder_is_replaced_only_on_demand(tmp_path: Path) -> None:
    def train(force: bool) -> None:
        with file_set(force=force):
            folder = TrainingFolder.at(tmp_path, [""])
            (folder.start("") / "config.json").write_text(f'{{"forced": "{force}"}}')
            folder.finish("", "key", HEAD)
            folder.put_card(CARD)

    train(force=False)
    with pytest.raises(InputError, match="the file exists; give --force"):
        train(force=False)
    assert "False" in (tmp_path / "config.json").read_text()
    train(force=True)
    assert "True" in (tmp_path / "config.json").read_text()
    assert not (tmp_path / ".unfinished").exists()
    # A card of other models beside this one would be read as its own.
    with file_set(force=True), pytest.raises(InputError, match=r"another training, config\.json;"):
        TrainingFolder.at(tmp_path, ["grammer"])
