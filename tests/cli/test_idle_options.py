"""An option that would change nothing is refused in one line, not ignored."""

from __future__ import annotations

from pathlib import Path

import pytest

from command import errata

FROM_FILES = "meta --human h.tsv --scores ter=lo.tsv"
SAMPLE = Path(__file__).parents[2] / "src" / "errata" / "datasets" / "sample"
PRINTED = "meta --human people.json --scores gleu.json"
JUDGMENTS = "--judgments judgments.jsonl"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("idle")
    for file in SAMPLE.iterdir():
        if file.is_file():
            (path / file.name).write_bytes(file.read_bytes())
    (path / "h.tsv").write_text("A\t3\nB\t2\nC\t1\nD\t0\n")
    (path / "lo.tsv").write_text("A\t0.2\nB\t0.1\nC\t0.9\nD\t0.4\n")
    gleu = errata("score", "--sample", "-m", "gleu", "--resamples", 0, "--json")
    (path / "gleu.json").write_text(gleu.stdout)
    (path / "people.json").write_text(
        errata("rank", "--sample", "--resamples", 40, "--json").stdout
    )
    return path


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (f"{FROM_FILES} -m gleu -m nonsense", "--metric goes with outputs to score"),
        (f"{FROM_FILES} --gold gold.m2", "--gold goes with outputs to score"),
        (f"{FROM_FILES} --missing -", "--missing goes with outputs to score"),
        (f"{FROM_FILES} --compatible", "--compatible goes with outputs to score"),
        (f"{FROM_FILES} --tokens characters", "--tokens goes with outputs to score"),
        (f"{FROM_FILES} --no-guard", "--no-guard goes with outputs to score"),
        (f"{FROM_FILES} --annotator 0", "--annotator goes with outputs to score"),
        (f"{FROM_FILES} --skip-sentences 1", "--skip-sentences goes with outputs, judgments"),
        (f"{FROM_FILES} --level system {JUDGMENTS}", "--judgments goes with --level sentence"),
        (f"{FROM_FILES} --ranker trueskill", "--ranker goes with --judgments"),
        (f"{FROM_FILES} {JUDGMENTS} --ranker trueskill", "--ranker goes with --judgments that"),
        (f"{FROM_FILES} --members sample", "--members goes with --judgments"),
        (f"{FROM_FILES} --unit pairs", "--unit goes with --judgments"),
        (f"{FROM_FILES} --base 1", "--base goes with --judgments"),
        (f"{FROM_FILES} --base 0", "--base goes with --judgments"),
        (f"{FROM_FILES} --leave-out ana", "--leave-out goes with --judgments"),
        (f"{FROM_FILES} --labels given", "--labels goes with --judgments"),
        (f"{FROM_FILES} --status Approved", "--status goes with --judgments"),
        (f"{FROM_FILES} --columns judge=J", "--columns goes with --judgments"),
        (f"{FROM_FILES} --outputs .", "--outputs goes with --judgments"),
        (f"{FROM_FILES} --convention tau_b", "--convention goes with --judgments"),
        (f"{PRINTED} --names A,B", "--names goes with files of bare numbers"),
        (f"{FROM_FILES} --outlier A", "--outlier goes with --figure scatter=FILE"),
        ("meta --sample --level system --convention tau_b", "--convention goes with --level"),
        ("meta --sample --level sentence --window 3", "--window goes with --level system"),
        ("meta --sample --level sentence --human h.tsv", "--human goes with --level system"),
        ("meta --sample --base 1", "--base goes with --judgments"),
        ("rank --sample --base 1", "--base goes with files of judgments"),
        ("agree --sample --status Approved", "--status goes with files of judgments"),
        ("plan --sample --columns judge=J", "--columns goes with files of judgments"),
        ("score --sample --tier 2", "--tier goes with --by-type"),
        ("score --sample --by-type --details", "--details goes with scores of systems"),
        ("score --gold gold.m2 eager.txt --missing -", "--missing goes with --refs"),
        (
            "score --source source.txt --refs reference0.txt eager.txt --compatible",
            "--compatible goes with --gold",
        ),
    ],
)
def test_refused(folder: Path, line: str, said: str) -> None:
    done = errata(*line.split(), cwd=folder, code=2)
    assert done.stderr.startswith(f"errata: {said}"), done.stderr
    assert not done.stdout
    assert len(done.stderr.splitlines()) == 1


def test_what_is_used_is_taken(folder: Path) -> None:
    errata(*FROM_FILES.split(), "--common", cwd=folder)
    errata("score", "--sample", "--resamples", 0, "-m", "edits", "--by-type", "--tier", 1)
