"""``errata score --stream``: the same words and digits, in bounded memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from command import errata, python_process
from run_folders import tiled_sample

# A process that scores and then says how much memory it had at most, in MB. What getrusage says
# is at least what the process had that started it.
WEIGHED = """
import sys
from errata.cli.main import main
try:
    main({arguments})
except SystemExit as end:
    assert not end.code
held = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(int(held.split()[1]) // 1024, file=sys.stderr)
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiled_sample(tmp_path_factory.mktemp("streamed"), 60).folder


@pytest.mark.slow
@pytest.mark.parametrize("form", ["json", "table"])
def test_stream_prints_what_files_do(files: Path, form: str) -> None:
    """4,320 sentences are more than a batch."""
    given = ("score", "--gold", "gold.m2", "eager.txt", "odd=noisy.txt", "--compare")
    given += ("-m", "m2", "-m", "m2(choice=optimal)", "-m", "gleu", "-m", "cleme", "-m", "bleu")
    held, streamed = (
        errata(*given, "--format", form, "--resamples", 20, how, cwd=files)
        for how in ("--no-stream", "--stream")
    )
    assert streamed.stdout == held.stdout
    assert streamed.stderr == held.stderr
    assert len(held.stdout) > 100


def test_what_needs_the_whole_is_not_streamed(files: Path) -> None:
    gold = ("--gold", "gold.m2", "eager.txt")
    for given, problem in (
        ((*gold, "--by-sentence"), "--by-sentence shows all sentences"),
        ((*gold, "--by-type"), "--by-type compares all edits at once"),
        ((*gold, "--skip-sentences", "3"), "--skip-sentences numbers all sentences"),
        ((*gold, "-m", "judge"), "score fewer sentences"),
        (("--sample",), "--sample is no file"),
    ):
        done = errata("score", *given, "--stream", cwd=files, code=2)
        assert problem in done.stderr
        assert done.stderr.count("\n") == 1


@pytest.mark.slow
def test_large_files_are_streamed_unless_they_must_be_held(
    files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[bool] = []
    monkeypatch.setattr("errata.cli.score.LARGE", 1000)
    from errata.cli import score

    usual = score._score_batches

    def streamed(*given: object) -> object:
        read.append(True)
        return usual(*given)  # type: ignore[arg-type]

    monkeypatch.setattr("errata.cli.score._score_batches", streamed)
    given = ("score", "--gold", "gold.m2", "eager.txt", "-m", "m2", "--resamples", 0)
    errata(*given, cwd=files)
    assert read == [True]
    errata(*given, "--by-sentence", cwd=files)
    errata(*given, "--no-stream", cwd=files)
    assert read == [True]


@pytest.mark.slow
def test_bootstrap_is_the_kind_that_is_asked_for(files: Path) -> None:
    given = ("score", "--gold", "gold.m2", "eager.txt", "-m", "m2", "--resamples", 20, "--json")
    for kind in ("histogram", "sentences", "poisson", "blocks"):
        done = errata(*given, "--bootstrap", kind, cwd=files)
        assert f"bootstrap:{kind}" in done.stdout
        assert errata(*given, "--bootstrap", kind, "--stream", cwd=files).stdout == done.stdout


@pytest.mark.long
@pytest.mark.parametrize("tiles", [1_400, 13_900], ids=["100,800 sentences", "1,000,800 sentences"])
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
def test_memory_is_bounded(tmp_path: Path, tiles: int) -> None:
    """Held, 100,000 sentences of CoNLL-2014 take 218 MB."""
    files = tiled_sample(tmp_path, tiles, ("eager",))
    given = ["score", *files.arguments, "-m", "m2", "--stream"]
    done = python_process(WEIGHED.format(arguments=given))
    assert int(done.stderr.splitlines()[-1]) < (150 if tiles < 2000 else 250)
