"""What one command writes, every command reads that takes such a thing, and no other does.

All pairs are walked, with real output on the sample: where kinds match the run ends well, and
where they do not it ends in one line, with the code of bad input.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import pytest

from board_sample import sample_board
from command import Done, errata
from errata.cli import COMMANDS
from errata.datasets import sample_judgments
from errata.datasets.sample import SAMPLE_FILES, sample_file
from errata.io import write_judgments, write_scores
from errata.io.scores import read_score_file

FEW = ("--resamples", 20)
OUTPUTS = ("cautious.txt", "eager.txt", "fluent.txt", "noisy.txt", "nothing.txt")
SCORES, SENTENCES, RANKING = "scores", "sentence scores", "ranking"
JUDGMENTS, WEIGHTS, GOLD, TEXT = "judgments", "weights", "gold", "text"
NOTHING = "no input of any command"

# What commands write: a file's name -> its kind, and the arguments that make it.
PRINTED: dict[str, tuple[str, tuple[object, ...]]] = {
    "score.json": (SCORES, ("score", "--sample", "-m", "gleu", *FEW, "--json")),
    "score.tsv": (SCORES, ("score", "--sample", "-m", "gleu", *FEW, "--format", "tsv")),
    "several.json": (
        SCORES,
        ("score", "--sample", "-m", "gleu", "-m", "m2", "--compare", *FEW, "--json"),
    ),
    "sentences.json": (SENTENCES, ("score", "--sample", "-m", "gleu", "--by-sentence", "--json")),
    "sentences.tsv": (
        SENTENCES,
        ("score", "--sample", "-m", "gleu", "--by-sentence", "--format", "tsv"),
    ),
    "difficulty.json": (SCORES, ("difficulty", "--sample", *FEW, "--json")),
    "rank.json": (RANKING, ("rank", "--sample", "--head-to-head", *FEW, "--json")),
    "rank.tsv": (RANKING, ("rank", "--sample", *FEW, "--format", "tsv")),
    "kinds.json": (NOTHING, ("score", "--sample", "-m", "errant", "--by-type", "--json")),
    "compare.json": (NOTHING, ("compare", "--sample", "-m", "gleu", *FEW, "--json")),
    "agree.json": (NOTHING, ("agree", "--sample", "--json")),
    "plan.json": (NOTHING, ("plan", "--sample", "--systems", "eager", "fluent", "--json")),
    "judge.json": (NOTHING, ("judge", "--sample", "--json")),
    "meta.json": (NOTHING, ("meta", "--sample", "-m", "gleu", *FEW, "--json")),
    "refs.json": (NOTHING, ("refs", "--sample", "-m", "gleu", *FEW, "--json")),
    "corpora.json": (NOTHING, ("corpora", "--sample", "-m", "gleu", *FEW, "--json")),
    "align.json": (NOTHING, ("align", "--sample", "-m", "m2", "--json")),
    "benchmark.json": (NOTHING, ("benchmark", "--sample", "-m", "gleu", *FEW, "--json")),
    "stress.json": (NOTHING, ("stress", "gleu", *FEW, "--json")),
    "train.json": (NOTHING, ("train", "impara", "--gold", "gold.m2", "--dry-run", "--json")),
    "data.json": (NOTHING, ("data", "list", "--json")),
    "metrics.json": (NOTHING, ("metrics", "--json")),
    "rankers.json": (NOTHING, ("rankers", "--json")),
    "verify.json": (NOTHING, ("verify", "m2=0.8165", "--sample", "--for", "eager", "--json")),
    "board.json": (NOTHING, ("board", "board", "--json")),
    "report.json": (NOTHING, ("report", "--sample", "-m", "gleu", *FEW, "--json", "--force")),
    "scale.json": (
        SCORES,
        ("scale", "run", "--run", "run", "--gold", "gold.m2", *OUTPUTS, "-m", "gleu", "--json"),
    ),
    "logs.json": (NOTHING, ("logs", "--source", "source.txt", "eager.txt", "--json")),
    "check.json": (NOTHING, ("check", "--gold", "gold.m2", "eager.txt", "--json")),
    "reproduce.json": (NOTHING, ("reproduce", "--json")),
}
WRITTEN: dict[str, tuple[str, tuple[object, ...]]] = {
    "judge.jsonl": (JUDGMENTS, ("judge", "--sample", "-o", "judge.jsonl")),
    "weights": (
        WEIGHTS,
        ("difficulty", "--sample", "--annotator", 0, *FEW, "--write-weights", "weights"),
    ),
    "made.m2": (
        GOLD,
        ("convert", "--source", "source.txt", "--refs", "reference0.txt", "-o", "made.m2"),
    ),
    "made.txt": (
        TEXT,
        ("convert", "gold.m2", "--annotator", 1, "--copy-missing", "-o", "made.txt"),
    ),
    "cut.txt": (TEXT, ("tokenise", "reference1.txt", "--tokens", "as_is", "-o", "cut.txt")),
}
STORED = {
    "stored.json": SCORES,
    "stored.tsv": SCORES,
    "judgments.jsonl": JUDGMENTS,
    "judgments.xml": JUDGMENTS,
    "judgments.csv": JUDGMENTS,
    "run/result.json": SCORES,
}
KINDS = {**{name: kind for name, (kind, _) in {**PRINTED, **WRITTEN}.items()}, **STORED}
# What commands read: the command's name and what it is -> the kinds taken, and the arguments.
ARGUMENTS = Callable[[str], tuple[object, ...]]
OF_TEXTS = ("--source", "source.txt", "--refs", "reference0.txt")
READ: dict[str, tuple[set[str], ARGUMENTS]] = {
    "meta --scores": (
        {SCORES, RANKING, SENTENCES},
        lambda f: ("meta", "--level", "system", "--judgments", "human.jsonl", "--scores", f, *FEW),
    ),
    "meta --scores by sentence": (
        {SENTENCES},
        lambda f: ("meta", "--level", "sentence", "--judgments", "human.jsonl", "--scores", f),
    ),
    "meta --human": (
        {SCORES, RANKING, SENTENCES},
        lambda f: ("meta", "--level", "system", "--human", f, "--scores", "bleu.json", *FEW),
    ),
    "rank": ({JUDGMENTS}, lambda f: ("rank", f, *FEW)),
    "agree": ({JUDGMENTS}, lambda f: ("agree", f)),
    "plan": ({JUDGMENTS}, lambda f: ("plan", f, "--systems", "eager", "fluent")),
    "meta --judgments": (
        {JUDGMENTS},
        lambda f: ("meta", "--level", "system", "--judgments", f, "--scores", "bleu.json", *FEW),
    ),
    "report --scores": (
        {SCORES, RANKING, SENTENCES},
        lambda f: ("report", "--judgments", "human.jsonl", "--scores", f, *FEW, "--force"),
    ),
    "report --human": (
        {SCORES, RANKING, SENTENCES},
        lambda f: ("report", "--human", f, "--scores", "bleu.json", *FEW, "--force"),
    ),
    "report --judgments": ({JUDGMENTS}, lambda f: ("report", "--judgments", f, *FEW, "--force")),
    "report --gold": (
        {GOLD},
        lambda f: ("report", "--gold", f, "eager.txt", "-m", "gleu", *FEW, "--force"),
    ),
    "report output": (
        {TEXT, GOLD},
        lambda f: (
            "report", *OF_TEXTS, f, "eager.txt", "-m", "gleu", "--extract", "aligned", *FEW,
            "--force",
        ),
    ),
    "difficulty --weights": (
        {WEIGHTS},
        lambda f: ("difficulty", "--sample", "--annotator", 0, "--weights", f, *FEW),
    ),
    **{
        f"{command} --gold": (
            {GOLD},
            lambda f, command=command: (  # type: ignore[misc]
                command, *(("gleu",) if command == "stress" else ()), "--gold", f,
                *(("eager.txt", "fluent.txt") if command != "stress" else ()),
                *(("-m", "gleu") if command in ("score", "compare") else ()),
                *(FEW if command not in ("check", "align") else ()),
            ),
        )
        for command in ("score", "compare", "check", "difficulty", "stress", "align")
    },
    "verify --gold": ({GOLD}, lambda f: ("verify", "gleu=1", "--gold", f, "eager.txt")),
    "verify": ({SCORES}, lambda f: ("verify", f, "--sample")),
    "train --gold": ({GOLD}, lambda f: ("train", "impara", "--gold", f, "--dry-run")),
    "convert": ({GOLD}, lambda f: ("convert", f, "--only-source")),
    "score --refs": (
        {TEXT},
        lambda f: ("score", "--source", "source.txt", "--refs", f, "eager.txt", "-m", "gleu", *FEW),
    ),
    "scale plan": (
        {TEXT, GOLD},
        lambda f: ("scale", "plan", "--run", f"of {f}", *OF_TEXTS, f, "eager.txt", "-m", "gleu"),
    ),
    "logs": ({TEXT, GOLD}, lambda f: ("logs", "--source", "source.txt", f)),
    "score --source": (
        {TEXT},
        lambda f: ("score", "--source", f, "--refs", "reference1.txt", "eager.txt", "-m", "gleu"),
    ),
    **{
        f"{command} output": (
            # Gold of one annotator is the edits of a system, too; judgments are checked as such.
            {TEXT, GOLD, JUDGMENTS} if command == "check" else {TEXT, GOLD},
            lambda f, command=command: (  # type: ignore[misc]
                command, *OF_TEXTS, f, "eager.txt",
                *(("-m", "gleu") if command in ("score", "compare") else ()),
                *(("--extract", "aligned") if command in ("difficulty", "compare") else ()),
            ),
        )
        for command in ("score", "compare", "check", "difficulty")
    },
    "judge --gold": ({GOLD}, lambda f: ("judge", "--gold", f, "eager.txt", "fluent.txt")),
    "judge output": ({TEXT, GOLD}, lambda f: ("judge", "--source", "source.txt", f, "eager.txt")),
    "stress --attack": ({TEXT, GOLD}, lambda f: ("stress", "gleu", *OF_TEXTS, "--attack", f, *FEW)),
    "stress --damage": ({TEXT, GOLD}, lambda f: ("stress", "gleu", *OF_TEXTS, "--damage", f, *FEW)),
}  # fmt: skip
# The second table of the others has no single scorer, which is refused in one line.
REFUSED = {("several.json", "meta --human"), ("several.json", "report --human")}
# Commands that read no files, or whose files are not of these kinds.
OWN_FILES = {
    "board",
    "benchmark",
    "collect",
    "corpora",
    "data",
    "reproduce",
    "metrics",
    "rankers",
    "refs",
    "cache",
    "tokenise",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, chat_server: object) -> Path:
    """A folder with the sample and with whatever the commands make of it."""
    folder = tmp_path_factory.mktemp("pairs")
    for name in SAMPLE_FILES:
        with sample_file(name) as path:
            target = "human.jsonl" if name == "judgments.jsonl" else name
            (folder / target).write_bytes(path.read_bytes())
    sample_board(folder / "board")
    for name, (_, arguments) in PRINTED.items():
        (folder / name).write_text(errata(*arguments, cwd=folder).stdout, "utf-8")
    for _, arguments in WRITTEN.values():
        errata(*arguments, cwd=folder)
    done = errata("score", "--sample", "-m", "bleu", *FEW, "--json")
    (folder / "bleu.json").write_text(done.stdout, "utf-8")
    _store(folder)
    return folder


def _store(folder: Path) -> None:
    from errata.datasets import sample_corpus, sample_systems
    from errata.evaluation import evaluate
    from errata.metrics import parse

    scores = evaluate(parse("gleu"), sample_corpus(), sample_systems())
    for name in ("stored.json", "stored.tsv"):
        write_scores(scores, folder / name)
    judgments = sample_judgments()
    write_judgments(judgments, folder / "judgments.jsonl")
    whole = [judgment for judgment in judgments if None not in judgment.ranks]
    write_judgments(whole, folder / "judgments.xml", form="appraise")
    write_judgments(whole, folder / "judgments.csv", form="pairwise")


def test_every_command_is_in_the_lists() -> None:
    readers = {name.split()[0] for name in READ}
    writers = {str(arguments[0]) for _, arguments in (PRINTED | WRITTEN).values()}
    assert set(COMMANDS) <= readers | OWN_FILES
    # What people judged is read again in tests/cli/test_collect.py, for which it must be served.
    assert set(COMMANDS) <= writers | {"cache", "collect"}


def takes(reader: str, file: str) -> bool:
    kinds, _ = READ[reader]
    stored_sentences = file.startswith("stored") and SENTENCES in kinds
    return (KINDS[file] in kinds or stored_sentences) and (file, reader) not in REFUSED


def run(folder: Path, reader: str, file: str) -> Done:
    return errata(*READ[reader][1](file), code=None, cwd=folder)


@pytest.mark.parametrize("reader", READ)
def test_what_is_written_is_read(folder: Path, reader: str) -> None:
    for file in filter(lambda file: takes(reader, file), KINDS):
        done = run(folder, reader, file)
        read = (0, 1) if reader.startswith("verify") else (0,)  # 1: read, and the score is another
        assert done.returncode in read, (file, done.stderr)


@pytest.mark.slow
@pytest.mark.parametrize("reader", READ)
def test_what_is_something_else_is_refused(folder: Path, reader: str) -> None:
    for file in KINDS:
        if takes(reader, file):
            continue
        done = run(folder, reader, file)
        assert done.returncode == 2, (file, done.stdout)
        said = done.stderr.strip().splitlines()
        if not reader.startswith("check"):  # which lists what it found
            assert said[-1].startswith("errata: "), (file, done.stderr)
            assert len(said[-1]) < 1000, (file, said[-1])
            assert all(line.startswith(("warning: ", "notice: ")) for line in said[:-1]), file


def test_cells_made_safe_for_spreadsheets_are_read_as_they_were(tmp_path: Path) -> None:
    names = {"+A": "cautious", "@B": "eager", "'C": "fluent"}
    sample = Path(str(files("errata.datasets"))) / "sample"
    given = [f"{name}={sample / text}.txt" for name, text in names.items()]
    run = ("score", "--gold", sample / "gold.m2", "-m", "gleu", *given, "--resamples", 0)
    for more in ((), ("--safe-cells",), ("--by-sentence", "--safe-cells")):
        (tmp_path / "m.tsv").write_text(errata(*run, "--format", "tsv", *more).stdout)
        (scores,) = read_score_file(tmp_path / "m.tsv")
        assert set(scores.systems) == set(names)
