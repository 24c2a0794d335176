"""``errata score`` in bounded memory, and ``errata verify``: what was printed holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from command import errata, python_process
from errata.core.signatures import short_signature
from errata.datasets.load import sample_file
from run_folders import tiled_sample

with sample_file("gold.m2") as path:
    FOLDER = path.parent
OLD_CLAIMS = Path(__file__).parents[1] / "golden" / "signatures.txt"
FILES = ("--gold", FOLDER / "gold.m2", FOLDER / "eager.txt")


def printed(*arguments: object) -> tuple[str, float, list[float]]:
    """Signature, score and interval of the first system, as score prints them for programs."""
    done = errata("score", *arguments, "--json")
    table = json.loads(done.stdout)["tables"][0]
    row = table["rows"][0]
    interval = next((row[key] for key in row if "interval" in key), [0.0, 0.0])
    return table["signature"], row[table["columns"][2]], interval


def verified(claim: str, *arguments: object, code: int = 0, **more: Any) -> dict[str, Any]:
    done = errata("verify", claim, *arguments, "--json", code=code, **more)
    row: dict[str, Any] = json.loads(done.stdout)["tables"][0]["rows"][0]
    assert row["holds"] is (code == 0)
    return row


@pytest.fixture(scope="module")
def m2() -> tuple[str, float, list[float]]:
    return printed(*FILES, "-m", "m2", "--resamples", 50, "--seed", 3)


def test_every_precision_holds_and_a_wrong_digit_does_not(m2: Any) -> None:
    signature, value, (low, high) = m2
    assert round(value, 4) == 0.8165
    for said in ("0.8165", ".816", "81.65", "81.6 %", "82%", "0.8", f"{value!r}", "+0.8165"):
        verified(f"{signature} = {said}", *FILES)
    verified(f"m2 F0.5 = {value * 100:.2f}", *FILES)  # the head of the column
    for said in ("1", "0"):  # no roundings of a share
        verified(f"{signature} = {said}", *FILES, code=1)
    verified("bleu = 84.7 %", *FILES)  # goes to 100 by itself
    verified(f"% signature: {signature} = {value:.3f}", *FILES)  # from LaTeX
    verified(f"signature: {signature} = {value:.3f} [{low:.3f}, {high:.3f}]", *FILES)
    verified(f"{signature} = {value * 100:.1f} ± {(high - low) * 50:.1f} %", *FILES)
    printed_too = f"{value * 100:.1f} percent ({low * 100:.1f} – {high * 100:.1f})"
    for said in (printed_too, f"{value * 100:.1f} ± {(high - low) * 50:.1f} *", "81.6 ="):
        verified(f"{signature} = {said}", *FILES)
    for said in ("0.8166", "81.7", "0.8165 %", "0.008", "8.165", "-0.8165"):
        row = verified(f"{signature} = {said}", *FILES, code=1)
        scale = 100 if said in ("81.7", "0.8165 %", "8.165") else 1
        assert row["recomputed"]["value"] == value * scale
    assert verified(f"{signature} = 0.8165 ± 0.9", *FILES, code=1)["differs"] is None
    claim = f"{signature} = 0.8165 [{low:.3f}, {high:.3f}]"
    wider = verified(claim, *FILES, "--confidence", 0.5, code=1)["recomputed"]
    assert low < wider["low"] < wider["high"] < high


def test_what_differs_is_named(m2: Any, tmp_path: Path) -> None:
    signature, value, _ = m2
    other = signature.replace("sentences:72", "sentences:71").replace("errata:", "errata:9.")
    row = verified(f"{other} = {value:.4f}", *FILES, code=1)
    assert row["differs"] == "sentences: 71 in the signature, 72 in the files"
    done = errata("verify", f"{other} = {value:.4f}", *FILES, code=1)
    assert "computed by errata 9." in done.stdout
    assert "71 in the signature" in " ".join(done.stdout.split())  # in 80 columns too
    row = verified(f"{signature} | blessed = {value:.4f}", *FILES, code=1)
    assert row["differs"] == "blessed: yes in the signature, not in the files"
    assert verified(f"m2(beta=1) = {value:.4f}", *FILES, code=1)["recomputed"] != row["recomputed"]


def test_the_signature_says_how_files_are_read() -> None:
    options = ("--tokens", "characters", "--skip-sentences", "3,7-9", "--annotator", 1)
    signature, value, _ = printed(*FILES, "-m", "m2", "--resamples", 0, *options)
    assert verified(f"{signature} = {value:.4f}", *FILES)["differs"] is None
    assert verified(f"{signature} = {value:.4f}", *FILES, *options)["differs"] is None
    row = verified(f"{signature} = {value:.4f}", *FILES, "--skip-sentences", "3", code=1)
    assert "skip_sentences: 3,7-9 in the signature, 3 in the files" in row["differs"]


def test_another_unicode_form_than_that_of_the_signature() -> None:
    signature, value, _ = printed(*FILES, "-m", "m2", "--resamples", 0, "--normalise", "NFC")
    assert verified(f"{signature} = {value:.4f}", *FILES)["differs"] is None
    row = verified(f"{signature} = {value:.4f}", *FILES, "--normalise", "NFD", code=1)
    assert row["differs"] == "tokens: as_is,NFC in the signature, as_is,NFD in the files"


def test_short_signatures() -> None:
    """One id for the metric, whatever was drawn, and one for the data: each is checked."""
    signature, value, _ = printed(*FILES, "-m", "m2(beta=1)", "--resamples", 0)
    short = short_signature(signature)
    assert short == short_signature(printed(*FILES, "-m", "m2(beta=1)", "--resamples", 1000)[0])
    verified(f"{short} = {value:.4f}", *FILES)
    row = verified(f"{short} = {value:.4f}", *FILES, "--skip-sentences", 5, code=1)
    assert row["differs"].startswith("other data")
    row = verified(f"m2#{short[-17:]} = {value:.4f}", *FILES, code=1)
    assert row["differs"].startswith("other settings")


@pytest.mark.parametrize("claim", OLD_CLAIMS.read_text(encoding="utf-8").splitlines()[1:])
def test_signatures_of_earlier_versions_hold(claim: str) -> None:
    """For ever; those that do not identify their data are answered with the new signature."""
    shown = " ".join(errata("verify", claim, "--sample", "--for", "eager").stdout.split())
    assert " yes " in shown
    assert ("@9295bd2b instead" in shown) == ("9295bd2b" not in claim)
    errata("verify", claim, "--sample", "--for", "noisy", code=1)


def test_several_claims_and_systems(m2: Any, tmp_path: Path) -> None:
    signature, value, _ = m2
    lines = [
        "# what the paper says",
        "",
        f"eager\t{signature} = {value:.4f}",
        "nothing\tm2 = 0.0",
        "gleu = 64.1",
    ]
    claims = tmp_path / "claims.txt"
    claims.write_text("\n".join(lines), encoding="utf-8")
    shown = errata("verify", claims, "--sample", "--for", "eager").stdout
    assert shown.count(" yes") == 3
    assert (
        errata("verify", "-", "--sample", "--for", "eager", stdin="\n".join(lines)).stdout == shown
    )
    failing = errata("verify", claims, "--sample", "--for", "noisy", code=1).stdout
    assert failing.count(" yes") == 2


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


@pytest.mark.long
@pytest.mark.parametrize("tiles", [1_400, 13_900], ids=["100,800 sentences", "1,000,800 sentences"])
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
def test_memory_is_bounded(tmp_path: Path, tiles: int) -> None:
    """Held, 100,000 sentences of CoNLL-2014 take 218 MB."""
    files = tiled_sample(tmp_path, tiles, ("eager",))
    given = ["score", *files.arguments, "-m", "m2", "--stream"]
    done = python_process(WEIGHED.format(arguments=given))
    assert int(done.stderr.splitlines()[-1]) < (150 if tiles < 2000 else 250)
