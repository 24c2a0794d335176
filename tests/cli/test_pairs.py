"""Every command reads what another writes if it is of the right kind, and refuses the rest.

The pairs are tried with real output on the sample: where kinds match the run ends well, and
where they do not it ends in one line, with the exit code of bad input.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from collecting import fill_with_sample
from command import run
from errata.datasets import sample_corpus, sample_judgments, sample_systems
from errata.io import write_judgments, write_scores
from errata.scoring.evaluate import evaluate

# A kind, a file and the command that prints it; behind an empty kind is what no command reads.
PRINTED = """
scores      score.json       score --sample -m gleu FEW --json
scores      score.tsv        score --sample -m gleu FEW --format tsv
scores      several.json     score --sample -m gleu -m m2 --compare FEW --json
scores      difficulty.json  difficulty --sample FEW --json
scores      scale.json       scale run --run run --gold gold.m2 OUTPUTS -m gleu --json
scores      bleu.json        score --sample -m bleu FEW --json
sentences   sentences.json   score --sample -m gleu --by-sentence --json
sentences   sentences.tsv    score --sample -m gleu --by-sentence --format tsv
ranking     rank.json        rank --sample --head-to-head FEW --json
ranking     rank.tsv         rank --sample FEW --format tsv
other       kinds.json       score --sample -m edits --by-type --json
other       agree.json       agree --sample --json
other       meta.json        meta --sample -m gleu FEW --json
other       check.json       check --gold gold.m2 eager.txt --json
other       metrics.json     metrics --json
"""
# What commands write themselves, and what the library stores.
WRITTEN = """
judgments   judge.jsonl      judge --sample -o judge.jsonl
weights     weights          difficulty --sample --annotator 0 FEW --write-weights weights
gold        made.m2          convert --source source.txt --refs reference0.txt -o made.m2
text        made.txt         convert gold.m2 --annotator 1 --copy-missing -o made.txt
text        cut.txt          tokenise reference1.txt --tokens as_is -o cut.txt
"""
STORED = {
    "stored.json": "scores",
    "stored.tsv": "scores",
    "human.jsonl": "judgments",
    "human.xml": "judgments",
    "human.csv": "judgments",
    "run/result.json": "scores",
}
# Which kinds a command takes as FILE.
READ = """
scores ranking sentences   meta --level system --judgments human.jsonl --scores FILE FEW
sentences                  meta --level sentence --judgments human.jsonl --scores FILE
scores ranking sentences   meta --level system --human FILE --scores bleu.json FEW
judgments                  meta --level system --judgments FILE --scores bleu.json FEW
judgments                  rank FILE FEW
judgments                  agree FILE
judgments                  plan FILE --systems eager fluent
scores ranking sentences   report --judgments human.jsonl --scores FILE FEW --force
scores ranking sentences   report --human FILE --scores bleu.json FEW --force
judgments                  report --judgments FILE FEW --force
gold                       report --gold FILE eager.txt -m gleu FEW --force
text gold                  report TEXTS FILE eager.txt -m gleu --extract aligned FEW --force
weights                    difficulty --sample --annotator 0 --weights FILE FEW
gold                       score --gold FILE eager.txt fluent.txt -m gleu FEW
gold                       compare --gold FILE eager.txt fluent.txt -m gleu FEW
gold                       check --gold FILE eager.txt fluent.txt
gold                       difficulty --gold FILE eager.txt fluent.txt FEW
gold                       stress gleu --gold FILE FEW
gold                       align --gold FILE eager.txt fluent.txt
gold                       verify gleu=1 --gold FILE eager.txt
scores                     verify FILE --sample
gold                       train impara --gold FILE --dry-run
gold                       convert FILE --only-source
text                       score --source source.txt --refs FILE eager.txt -m gleu FEW
text                       score --source FILE --refs reference1.txt eager.txt -m gleu
text gold                  scale plan --run 'of FILE' TEXTS FILE eager.txt -m gleu
text gold                  logs --source source.txt FILE
text gold                  score TEXTS FILE eager.txt -m gleu
text gold                  compare TEXTS FILE eager.txt -m gleu --extract aligned
text gold judgments        check TEXTS FILE eager.txt
text gold                  difficulty TEXTS FILE eager.txt --extract aligned
gold                       judge --gold FILE eager.txt fluent.txt
text gold                  judge --source source.txt FILE eager.txt
text gold                  stress gleu TEXTS --attack FILE FEW
text gold                  stress gleu TEXTS --damage FILE FEW
"""
WORDS = {
    "FEW": "--resamples 20",
    "TEXTS": "--source source.txt --refs reference0.txt",
    "OUTPUTS": "cautious.txt eager.txt fluent.txt noisy.txt nothing.txt",
}


def lines(table: str) -> list[list[str]]:
    for word, meaning in WORDS.items():
        table = table.replace(word, meaning)
    return [[part.strip() for part in line.split("  ", 1)] for line in table.strip().splitlines()]


MADE = {
    file: (kind, command.strip())
    for kind, rest in lines(PRINTED + WRITTEN.lstrip())
    for file, command in [rest.split(maxsplit=1)]
}
KINDS = {file: kind for file, (kind, _) in MADE.items()} | STORED
READERS = {command: set(kinds.split()) for kinds, command in lines(READ)}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, chat_server: object) -> Path:
    """The sample, and what commands and the library write about it."""
    folder = fill_with_sample(tmp_path_factory.mktemp("pairs"))
    for file, (_, command) in MADE.items():
        printed = run(command, cwd=folder).stdout
        if not (folder / file).exists():
            (folder / file).write_text(printed, "utf-8")
    scores = evaluate("gleu", sample_corpus(), sample_systems())
    for name in ("stored.json", "stored.tsv"):
        write_scores(scores, folder / name)
    judgments = sample_judgments()
    write_judgments(judgments, folder / "human.jsonl")
    whole = [judgment for judgment in judgments if None not in judgment.ranks]
    write_judgments(whole, folder / "human.xml", form="appraise")
    write_judgments(whole, folder / "human.csv", form="pairwise")
    return folder


def takes(command: str, file: str) -> bool:
    kinds = READERS[command]
    stored_sentences = file.startswith("stored") and "sentences" in kinds
    # The second table of several has no single scorer.
    return (KINDS[file] in kinds or stored_sentences) and not (
        file == "several.json" and "--human FILE" in command
    )


@pytest.mark.slow
@pytest.mark.parametrize("command", READERS)
def test_what_is_written_is_read(made: Path, command: str) -> None:
    codes = (0, 1) if command.startswith("verify") else (0,)  # 1: read, and the score is another
    for file in filter(lambda file: takes(command, file), KINDS):
        done = run(command.replace("FILE", file), cwd=made, code=None)
        assert done.returncode in codes, (file, done.stderr)


@pytest.mark.slow
@pytest.mark.parametrize("command", READERS)
def test_what_is_something_else_is_refused(made: Path, command: str) -> None:
    for file in KINDS:
        if takes(command, file):
            continue
        done = run(command.replace("FILE", file), cwd=made, code=None)
        assert done.returncode == 2, (file, done.stdout)
        if not command.startswith("check"):  # which lists what it found
            *before, last = done.stderr.strip().splitlines()
            assert last.startswith("errata: "), (file, done.stderr)
            assert len(last) < 1000, (file, last)
            assert all(line.startswith(("warning: ", "notice: ")) for line in before), file
