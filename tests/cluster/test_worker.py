"""Worker processes and the terminal they are started from."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

DEAF = """
import signal, sys
from multiprocessing import get_context
from errata.cluster.worker import deaf_to_interrupts

def deaf():
    sys.exit(signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ()))

if __name__ == "__main__":
    for _ in range(2):
        with deaf_to_interrupts():
            child = get_context("spawn").Process(target=deaf)
            child.start()
        child.join()
        print(child.exitcode)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="terminals interrupt otherwise there")
def test_the_first_process_too_is_deaf_to_interrupts(tmp_path: Path) -> None:
    program = tmp_path / "deaf.py"
    program.write_text(DEAF)
    found = subprocess.run([sys.executable, str(program)], capture_output=True, text=True)
    assert (found.stdout.split(), found.stderr) == (["0", "0"], "")
