"""Everything the commands print on the sample, kept whole in ``tests/golden/printed``.

What a command prints changes only when somebody means it to: after a change that is meant,
``python tests/cli/test_printed.py`` writes the files anew, and their difference is read like code.
Words must be the same; numbers may differ in the last digits, as other machines round.
"""

from __future__ import annotations

import json
import re
import sys
from functools import cache
from io import StringIO
from pathlib import Path

import pandas
import pytest

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from command import Done, errata, errata_in_forms
from errata import __version__
from printed import alike
from small_experiment import SMALL

GOLDEN = Path(__file__).parents[1] / "golden" / "printed"
SAMPLE = Path(__file__).parents[2] / "src" / "errata" / "datasets" / "sample"
EDITS = ("-m", "edits")
TWO = ("cautious.txt", "eager.txt")
TRIALS = ("--resamples", 50, "--trials", 200)
QUICK = ("--resamples", 40)
CONVENTIONS = (
    *("noties", "hties", "wmt12", "wmt13", "wmt14", "kendall_like", "tau_b", "tau_c", "tau_23"),
    *("accuracy", "row_accuracy", "row_calibrated", "calibrated", "seeda", "seeda_tau"),
)
TEXTS = ("--source", "source.txt", "--refs", "reference0.txt", "--refs", "reference1.txt")

RUNS: dict[str, tuple[object, ...]] = {
    "score": ("score", "--sample", *QUICK),
    "score-default-resamples": ("score", "--sample", "-m", "gleu"),
    "score-details": ("score", "--sample", *QUICK, "--details"),
    "score-texts": ("score", *TEXTS, "eager.txt", "B=noisy.txt", *QUICK),
    "score-one": ("score", "--gold", "gold.m2", "eager.txt", "-m", "m2", *QUICK),
    "score-no-intervals": ("score", "--sample", "--resamples", 0, "-m", "m2", "-m", "bleu"),
    "score-confidence": ("score", "--sample", *QUICK, "--confidence", 0.5, "-m", "gleu"),
    "score-compare": ("score", "--sample", *QUICK, "--compare", "-m", "m2", "-m", "gleu"),
    "compare": ("compare", "--sample", "--old", "nothing", "--show", 1, *TRIALS, *EDITS),
    "compare-two": ("compare", "--gold", "gold.m2", *TWO, "--show", 3, *TRIALS),
    "compare-source": ("compare", "--source", "source.txt", *TWO, *TRIALS),
    "compare-by-edit": (
        *("compare", "--gold", "gold.m2", *TWO, *EDITS, "--by-edit"),
        *("--resamples", 0, "--trials", 0),
    ),
    "score-by-type": ("score", "--sample", "--by-type", *EDITS),
    "score-by-type-1": ("score", "--sample", "--by-type", "--tier", 1, *EDITS),
    "score-by-type-2": ("score", "--sample", "--by-type", "--tier", 2, *EDITS),
    "score-by-sentence": ("score", "--sample", "--by-sentence", "-m", "m2", "--resamples", 0),
    "score-by-sentences": (
        *("score", "--gold", "gold.m2", "eager.txt", "--by-sentence", "--resamples", 0),
        *("-m", "gleu", "-m", "imeasure"),
    ),
    "score-annotator": ("score", "--gold", "gold.m2", "--annotator", 0, "eager.txt", *QUICK),
    "score-difficulty": ("score", "--sample", *QUICK, "-m", "difficulty", *EDITS),
    "rank": ("rank", "--sample", *QUICK),
    "rank-default-resamples": ("rank", "--sample"),
    "rank-head-to-head": ("rank", "--sample", *QUICK, "--head-to-head"),
    "rank-trueskill": ("rank", "--sample", *QUICK, "--ranker", "trueskill"),
    "rank-bradley-terry": ("rank", "--sample", *QUICK, "--ranker", "bradley_terry"),
    "rank-pairs": ("rank", "--sample", *QUICK, "--unit", "pairs", "--members", "expected"),
    "rank-mean-rank": ("rank", "--sample", *QUICK, "--order", "mean_rank", "--value", "mean"),
    "rank-without": ("rank", "--sample", *QUICK, "--without", "noisy", "--confidence", 0.5),
    "rank-balanced": ("rank", "--sample", *QUICK, "--balanced", "--seed", 3),
    "agree": ("agree", "--sample"),
    "agree-weighted": ("agree", "--sample", "--kappa-weights", "linear", "--chance", "cohen"),
    "agree-groups": ("agree", "--sample", "--group", "two=ana,bo", "--group", "rest=*"),
    "agree-minimum": ("agree", "--sample", "--minimum", 60),
    "agree-two": ("agree", "two.jsonl"),
    "plan": ("plan", "--sample", "--systems", "eager", "cautious", "--simulations", 50),
    "plan-little": ("plan", "--sample", "--systems", "fluent", "noisy", "--simulations", 50),
    "plan-pairs": (
        *("plan", "--sample", "--systems", "eager", "cautious", "--simulations", 60),
        *("--pairs", 2, "--batch", 50, "--power", 0.5),
    ),
    "refs": ("refs", "--sample", *QUICK),
    "refs-sets": (
        *("refs", "--sample", *QUICK, "--set", "first=annotator:0", "--set", "second=annotator:1"),
        *("--set", "both=first+second", "--curve", "both"),
    ),
    "refs-cased": ("refs", "--sample", *QUICK, "--cased", "--worst", 2, "-m", "gleu"),
    "corpora": (
        *("corpora", "--sample", *QUICK, "-m", "gleu", "-m", "difficulty(measure=A)"),
        *("--against", "m2", "--tier", 2, "--kinds", 5),
    ),
    "corpora-folders": ("corpora", "list.toml", "-m", "gleu", "--resamples", 0, "--kinds", 0),
    "stress": ("stress", "--sample", "gleu", *QUICK),
    "stress-several": ("stress", "--sample", "m2", "bleu", *QUICK),
    "difficulty": ("difficulty", "--sample", *QUICK),
    "difficulty-system": ("difficulty", "--sample", *QUICK, "--system", "eager", "--tier", 1),
    "difficulty-examples": ("difficulty", "--sample", *QUICK, "--examples", 3, "--exclude-own"),
    "difficulty-terminal": ("difficulty", "--sample", "--terminal", "--sentences", "2-9"),
    "meta": ("meta", "--sample", *QUICK),
    "meta-system": ("meta", "--sample", *QUICK, "--level", "system", "--window", 3),
    "meta-top": ("meta", "--sample", *QUICK, "--level", "system", "--top", 4, "--no-tests"),
    "meta-without": ("meta", "--sample", *QUICK, "--without", "noisy", "--over", "sentences"),
    "meta-sentence": ("meta", "--sample", *QUICK, "--level", "sentence", "-m", "gleu", "-m", "m2"),
    "meta-no-tests": ("meta", "--sample", *QUICK, "--no-tests", "-m", "gleu", "-m", "m2"),
    "meta-one": ("meta", "--sample", *QUICK, "-m", "gleu"),
    "meta-conventions": (
        *("meta", "--sample", *QUICK, "--level", "sentence", "-m", "gleu", "-m", "m2"),
        *(word for name in CONVENTIONS for word in ("--convention", name)),
    ),
    "meta-matrix": ("meta", "--sample", *QUICK, "--level", "system", "--no-tests", "--matrix"),
    "meta-ensemble": ("meta", "--sample", *QUICK, "--level", "system", "--no-tests", "--ensemble"),
    "align": ("align", "--sample", "--sentences", "3,24"),
    "align-dummies": ("align", "--sample", "--sentences", "5", "-m", "difficulty", "--dummies"),
    "meta-alone": ("meta", "--scores", "scores.tsv", "--scores", "people.tsv", *QUICK),
    "meta-scores": ("meta", "--scores", "scores.tsv", "--human", "people.tsv", *QUICK),
    "benchmark": ("benchmark", "--sample", *QUICK, "-m", "gleu", "-m", "m2", "--contests"),
    "check": ("check", "--gold", "gold.m2", "eager.txt"),
    "check-shifted": ("check", "--gold", "gold.m2", "eager.txt", "shifted.txt"),
    "check-odd": ("check", "odd.m2"),
    "check-texts": ("check", *TEXTS, "eager.txt", "--every"),
    "convert": ("convert", "gold.m2", "--only-source", "-o", "-"),
    "convert-annotator": ("convert", "gold.m2", "--annotator", 1, "--copy-missing", "-o", "-"),
    "convert-extract": ("convert", "odd.m2", "--compatible", "--extract", "aligned"),
    "convert-texts": ("convert", "--source", "source.txt", "--refs", "eager.txt", "-o", "-"),
    "data-list": ("data", "list"),
    "data-set": ("data", "list", "sakaguchi16"),
    "metrics-m2": ("metrics", "m2"),
    "metrics-gleu": ("metrics", "gleu"),
    "metrics-scribendi": ("metrics", "scribendi"),
    "rankers": ("rankers",),
    "rankers-trueskill": ("rankers", "trueskill"),
    "reproduce-list": ("reproduce",),
    "reproduce-small": ("reproduce", "small.toml"),
    "reproduce-summary": ("reproduce", "small.toml", "--summary"),
}
FORMS = ("json", "tsv", "latex", "markdown", "html")
IN_ALL_FORMS = {
    *("score", "score-details", "score-compare", "score-by-type", "score-one", "compare-two"),
    *("rank-head-to-head", "agree", "plan", "refs", "stress", "difficulty-system", "meta"),
    *("meta-system", "check-shifted", "reproduce-small", "data-list", "metrics-m2", "rankers"),
    *("plan-pairs", "meta-top", "meta-alone", "corpora", "align", "benchmark"),
}
CASES = (*RUNS, *(f"{name}.{form}" for name in sorted(IN_ALL_FORMS) for form in FORMS))
ODD = """S He go home .
A 1 2|||Verb|||goes|||REQUIRED|||-NONE-|||0
A 9 10|||Verb|||goes|||REQUIRED|||-NONE-|||0

S She\u200bgo “ home ” .A 1 2|||V|||goes|||REQUIRED|||-NONE-|||0

"""
LISTED = """[edits]
gold = "gold.m2"
outputs = ["eager.txt", "cautious.txt", "noisy.txt"]

[texts]
source = "source.txt"
references = "reference?.txt"
outputs = { cautious = "cautious.txt", noisy = "nothing.txt", other = "fluent.txt" }
"""


def _fill(folder: Path) -> None:
    """The sample as files of a user, a shifted output and a gold file with faults."""
    for file in SAMPLE.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    lines = (SAMPLE / "noisy.txt").read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / "shifted.txt").write_text("".join(lines[1:] + lines[:1]), encoding="utf-8")
    (folder / "odd.m2").write_text(ODD, encoding="utf-8")
    said = (SAMPLE / "judgments.jsonl").read_text(encoding="utf-8").splitlines()
    names = sorted({json.loads(line)["judge"] for line in said})[:2]
    kept = [line for line in said if json.loads(line)["judge"] in names]
    (folder / "two.jsonl").write_text("\n".join(kept), encoding="utf-8")
    (folder / "scores.tsv").write_text("system\tm\nA\t.3\nB\t.1\nC\t.2\nD\t.2\n")
    (folder / "people.tsv").write_text("system\tp\nA\t1\nB\t3\nC\t2\nD\t4\n")
    (folder / "small.toml").write_text(SMALL, encoding="utf-8")
    (folder / "list.toml").write_text(LISTED, encoding="utf-8")


@cache
def _in_forms(folder: Path, name: str) -> dict[str, Done]:
    return errata_in_forms(FORMS, *RUNS[name], cwd=folder)


def _printed(folder: Path, name: str) -> str:
    """All that the user sees: output, messages, and the exit code where it is not 0."""
    run, _, form = name.partition(".")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("ERRATA_DATA", raising=False)
        if form:
            done = _in_forms(folder, run)[form]
        else:
            done = errata(*RUNS[run], cwd=folder, code=None, terminal=100)
    text = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout)
    text = text.replace(f"errata:{__version__}", "errata:VERSION")
    text = "\n".join(line.rstrip() for line in text.splitlines()) + "\n"
    if done.stderr:
        text += "--- messages\n" + done.stderr
    return text + (f"--- exit code {done.returncode}\n" if done.returncode else "")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of a user who copied the sample."""
    place = tmp_path_factory.mktemp("user")
    _fill(place)
    return place


@pytest.mark.parametrize("name", CASES)
def test_a_command_prints_what_it_printed(name: str, folder: Path) -> None:
    before = (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")
    now = _printed(folder, name)
    if not alike(before, now):
        assert now == before, "if this is meant: python tests/cli/test_printed.py"


@pytest.mark.parametrize("name", sorted(IN_ALL_FORMS))
def test_pandas_reads_every_table(name: str) -> None:
    """One table, a row a line, every column under a name of its own."""
    text = (GOLDEN / f"{name}.tsv.txt").read_text(encoding="utf-8").partition("--- ")[0]
    head, *lines = text.splitlines()
    frame = pandas.read_csv(StringIO(text), sep="\t")
    assert len(frame) == len(lines)
    assert [*frame.columns] == head.split("\t")
    assert not frame.isna().all(axis=1).any()


def test_every_kept_text_has_its_command() -> None:
    assert {file.stem for file in GOLDEN.glob("*.txt")} == set(CASES)


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("a 0.1234567891", "a 0.1234567892", True),
        ("a 0.12", "a 0.13", False),
        ("a 0.12", "b 0.12", False),
        ("a 0.12 5", "a 0.12 6", False),
        ("a -0.12", "a 0.12", False),
        ("0.5 0.5", "0.5", False),
    ],
)
def test_what_counts_as_the_same(first: str, second: str, same: bool) -> None:
    assert alike(first, second) == same


@pytest.mark.parametrize(
    ("line", "columns"),
    [
        ("agree --sample", {"pairs of decisions", "rankings"}),
        ("plan --sample", {"compared"}),
        ("rank --sample --resamples 40", {"cluster", "wins", "ties", "losses"}),
        (
            "meta --sample -m gleu --resamples 0",
            {"pairs", "metric agrees", "metric ties", "metric disagrees"},
        ),
    ],
)
def test_counts_are_whole_numbers(line: str, columns: set[str]) -> None:
    seen = set()
    for table in errata(*line.split(), "--format", "tsv").stdout.split("\n\n"):
        head, *rows = (row.split("\t") for row in table.splitlines())
        for row in rows:
            for name, cell in zip(head, row, strict=True):
                if name in columns and cell:
                    assert cell.isdecimal(), (name, cell)
                    seen.add(name)
    assert seen == columns


def _write() -> None:
    import tempfile

    GOLDEN.mkdir(exist_ok=True, parents=True)
    for file in GOLDEN.glob("*.txt"):
        file.unlink()
    with tempfile.TemporaryDirectory() as place:
        _fill(Path(place))
        for name in CASES:
            (GOLDEN / f"{name}.txt").write_text(_printed(Path(place), name), encoding="utf-8")


if __name__ == "__main__":
    _write()
