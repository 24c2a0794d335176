"""Every command that a page shows is run on the sample, or the page has a mark with the reason.

A mark is an HTML comment, which readers do not see. ``<!-- not run: REASON -->`` before a block
holds for the block; ``<!-- not run (WORDS): REASON -->`` anywhere on a page holds for its commands
that contain the words. ``<!-- run long: ... -->`` leaves commands to ``make long``, with the public
data sets. What a page shows below a command must be printed by it.
"""

from __future__ import annotations

import glob
import gzip
import re
import shlex
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import click
import pytest

from board_sample import sample_board
from command import Done, errata
from errata.cli.main import COMMANDS, cli
from errata.core import registry
from errata.datasets import sample_judgments
from errata.datasets.fetch import collections
from errata.io.judgments import write_judgments
from errata.metrics import parse
from errata.testing import check_metric

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
SAMPLE = ROOT / "src" / "errata" / "datasets" / "sample"
# cli.md is the commands' own help; test_docs.py draws gallery.md; test_studies.py runs studies.
PAGES = [
    path
    for path in (ROOT / "README.md", *sorted(DOCS.rglob("*.md")))
    if path.name not in ("cli.md", "gallery.md") and path.parent.name != "studies"
]
BLOCK = re.compile(
    r"(?P<marks>(?:^<!--[^\n]*-->\n)*)"
    r"^ *```(?P<language>\w*)\n(?P<text>.*?)^ *```$",
    re.M | re.S,
)
MARK = re.compile(r"<!-- (not run|run long)(?: \((.+?)\))?: (.+?) -->")
SHELL = ("", "sh", "bash", "console", "text")


@dataclass
class Command:
    """A command line of a page, the output shown below it, and its mark ("" if there is none)."""

    line: str
    shown: list[str] = field(default_factory=list)
    mark: str = ""


def read_commands(text: str, *, tables: bool = True) -> list[Command]:
    """Return the commands in the blocks of a page, and the whole ones in the cells of its tables.

    >>> read_commands("| all | `errata score --sample`, `errata score ...` |")
    [Command(line='errata score --sample', shown=[], mark='')]
    """
    found = []
    for block in BLOCK.finditer(text):
        if block["language"] not in SHELL:
            continue
        marks = [mark[1] for mark in MARK.finditer(block["marks"]) if not mark[2]]
        lines = re.sub(r"\\\n *", "", block["text"]).splitlines()
        prompt = "$ " if any(line.startswith("$ ") for line in lines) else ""
        last: list[str] = []
        for line in lines:
            if re.match(rf"{re.escape(prompt)}(?:[A-Z_]+=\S+ )?errata ", line):
                command = re.split(r" +# ", line.removeprefix(prompt))[0]
                found.append(Command(command, mark=marks[0] if marks else ""))
                last = found[-1].shown
            elif prompt and line.strip(" ─┄"):
                last.append(line)
    for row in re.findall(r"^\|.*\|$", text, re.M) if tables else ():
        for line in re.findall(r"`(errata \w+ [^`]+)`", row.replace("\\|", "|")):
            if "..." not in line and not re.search(r"\b[A-Z]{4,}\b", line):
                found.append(Command(line))
    for mark in MARK.finditer(text):
        if mark[2]:
            meant = [command for command in found if mark[2] in command.line]
            assert meant, f"no command contains {mark[2]!r}"
            for command in meant:
                command.mark = mark[1]
    return found


@cache
def page_commands(page: Path) -> list[Command]:
    tables = page.name in ("README.md", "recipes.md")  # others only mention commands in tables
    return read_commands(page.read_text(encoding="utf-8"), tables=tables)


def find_command(words: list[str]) -> tuple[click.Command, list[str]]:
    """Return the command that these words call, and the words that are left for it."""
    command: click.Command | None = cli
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        command, words = command.get_command(click.Context(command), words[0]), words[1:]
    assert command is not None, words
    return command, words


def split(line: str, folder: Path) -> Iterator[str]:
    """Split a command line into words, as a shell in this folder does."""
    for word in re.findall(r"""(?:[^\s"']|'[^']*'|"[^"]*")+""", line):
        if "*" in word and not {'"', "'"} & {*word}:
            yield from sorted(glob.glob(word, root_dir=folder)) or [word]
        else:
            yield from shlex.split(word)


def run(command: Command, folder: Path) -> Done:
    """Run a command of a page; with few resamples where the page does not show what it prints."""
    line = re.sub(
        r"\$\(errata (.*?)\)",
        lambda inner: " ".join(errata(*shlex.split(inner[1]), cwd=folder).stdout.split()),
        command.line,
    )
    line, *target = re.split(r" > (?=\S+$)", line)
    words = list(split(line, folder))
    env = {}
    while "=" in words[0]:
        name, _, env[name] = words.pop(0).partition("=")
    called, _ = find_command(words[1:])
    options = {name for option in called.params for name in option.opts}
    if "--resamples" in options and not {"--resamples", "verify", "--fail-if"} & {*words}:
        words += [] if command.shown else ["--resamples", "20"]
    if "--force" in options and "-o" in words:
        words.append("--force")  # another command of the page may have written the file
    env["COLUMNS"] = "100" if any(len(line) > 80 for line in command.shown) else "80"
    done = errata(*words[1:], cwd=folder, code=None, env=env)
    if target:
        (folder / target[0]).write_text(done.stdout, encoding="utf-8")
    return done


def problems(command: Command, done: Done) -> Iterator[str]:
    """Say what is wrong with what a command did."""
    if done.returncode:
        yield f"exit code {done.returncode}: {done.stderr[-300:] or done.stdout[-300:]}"
        return
    printed = {" ".join(line.split()) for line in (done.stdout + done.stderr).splitlines()}
    for line in command.shown:
        if " ".join(line.split()) not in printed:
            yield f"not printed: {line}"


# -- the files that pages name ------------------------------------------------------------------

SYSTEMS = ("cautious", "eager", "fluent", "noisy", "nothing")
FILES = {
    "gold.m2": "gold.m2",
    "source.txt": "source.txt src.txt s.txt quelle.txt 原文.txt chinese.txt",
    "reference0.txt": "reference.txt ref.txt ref0.txt r0.txt a.txt annotatorA.txt korrektur.txt",
    "reference1.txt": "ref1.txt r1.txt b.txt c.txt d.txt annotatorB.txt 修改.txt",
    "cautious.txt": "ours.txt baseline.txt old.txt v1.txt A.txt",
    "eager.txt": "theirs.txt new.txt out.txt v2.txt B.txt run7.txt output.txt system.txt",
    "fluent.txt": "other.txt v3.txt C.txt",
    "judgments.jsonl": "judgments.jsonl",
    "ratings.csv": "ratings.csv",
}
CORPORA = "".join(
    f'[{name}]\ngold = "{name}/gold.m2"\noutputs = ["{name}/outputs/*.txt"]\n'
    for name in ("essays", "exams")
)
PEOPLE = "system\tscore\ncautious\t2\neager\t4\nfluent\t5\nnoisy\t1\nnothing\t0\n"
CLAIMS = "eager\tm2#b0b5099b@9295bd2b = 81.65\nfluent\tm2#b0b5099b@9295bd2b = 71.9\n"


def write_corpus(folder: Path) -> None:
    """Write a corpus with outputs, as `errata corpora` reads it."""
    shutil.copytree(SAMPLE, folder / "outputs", ignore=lambda _, names: {*names} - OUTPUTS)
    shutil.copy(SAMPLE / "gold.m2", folder)


OUTPUTS = {f"{system}.txt" for system in SYSTEMS}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that pages name, made from the sample."""
    folder = tmp_path_factory.mktemp("files")
    for given, names in FILES.items():
        for name in names.split():
            shutil.copy(SAMPLE / given, folder / name)
    for name in OUTPUTS:
        shutil.copy(SAMPLE / name, folder)
    shutil.copytree(SAMPLE, folder / "out", ignore=lambda _, names: {*names} - OUTPUTS)
    for place in (".", "essays", "exams"):
        write_corpus(folder / place)
    texts = {
        **dict.fromkeys(("ours.toml", "sets.toml"), CORPORA),
        **dict.fromkeys(("people.tsv", "metricA.tsv", "metricB.tsv", "ours.tsv"), PEOPLE),
        "claims.txt": CLAIMS,
        "merged.txt": "7\n31\n",
        "experts.txt": "ana\n",
        "judges.csv": "name,quota\ncy,10\n",
        "rank.md": "Rank the corrections.",
        "consent.md": "I take part.",
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    sample_board(folder / "essays")
    metric = blocks(DOCS / "extending.md", "python")[0] + "\n\nMyMetric = overlap\n"
    (folder / "mine.py").write_text(metric, encoding="utf-8")
    judgments = (SAMPLE / "judgments.jsonl").read_text(encoding="utf-8")
    for system, name in (("eager", "ours"), ("cautious", "baseline")):
        judgments = judgments.replace(f'"{system}"', f'"{name}"')
    (folder / "pilot.jsonl").write_text(judgments, encoding="utf-8")
    complete = [judgment for judgment in sample_judgments() if None not in judgment.ranks]
    write_judgments(complete, folder / "judgments.xml", form="appraise")
    write_judgments(complete, folder / "pairs.csv", form="pairwise")
    shutil.copy(folder / "judgments.xml", folder / "j.xml")
    write_logs(folder)
    baseline = ("--baseline", "main.json", "--update-baseline")
    errata("compare", "--gold", "gold.m2", *baseline, "ours.txt", cwd=folder)
    for name in ("scores.json", "theirs.json"):
        outputs = sorted(OUTPUTS) if name == "theirs.json" else ["eager.txt", "fluent.txt"]
        done = errata("score", "--gold", "gold.m2", *outputs, "--json", cwd=folder)
        (folder / name).write_text(done.stdout, encoding="utf-8")
    errata("convert", "--source", "src.txt", "--refs", "out.txt", "-o", "output.m2", cwd=folder)
    return folder


def write_logs(folder: Path) -> None:
    """Write a log, what is known of its sentences, and the ones that need no correction."""
    sources = (SAMPLE / "source.txt").read_text(encoding="utf-8")
    outputs = (SAMPLE / "eager.txt").read_text(encoding="utf-8")
    for name, text in (("in-0.txt.gz", sources), ("out-0.txt.gz", outputs)):
        (folder / name).write_bytes(gzip.compress(text.encode()))
    for name in ("gold.m2", "ours.txt", "theirs.txt"):
        shutil.copy(folder / name, folder / name.replace(".", "-0."))
    rows = ["accepted\tclean\tlocale"]
    rows += ["yes\tno\ten" for _ in sources.splitlines()]
    (folder / "marks.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    pairs = zip(sources.splitlines(), outputs.splitlines(), strict=True)
    clean = [source for source, output in pairs if source == output]
    (folder / "clean.txt").write_text("\n".join(clean) + "\n", encoding="utf-8")


@pytest.fixture
def folder(files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of these files, in which the commands of one page run."""
    place = tmp_path / "page"
    shutil.copytree(files, place)
    monkeypatch.chdir(place)
    yield place
    registry._load_module.cache_clear()  # which takes mine.py of another folder for this one


def blocks(page: Path, *languages: str) -> list[str]:
    """Return the blocks of a page in these languages."""
    text = page.read_text(encoding="utf-8")
    return [block["text"] for block in BLOCK.finditer(text) if block["language"] in languages]


def write_named_blocks(page: Path, folder: Path) -> None:
    """Write the blocks whose first line is a comment with a file name."""
    for text in blocks(page, "python", "toml"):
        if name := re.match(r"# (\w+\.\w+)\n", text):
            (folder / name[1]).write_text(text, encoding="utf-8")


def prepare_board(page: Path, folder: Path) -> None:
    shutil.rmtree(folder / "essays")
    (code,) = blocks(page, "python")
    exec(code, {})
    for place in ("ours", "submissions/ours"):
        shutil.copytree(folder / "essays/submissions/eager", folder / place)
        card = folder / place / "card.toml"
        card.write_text(card.read_text("utf-8").replace("eager", "ours"), encoding="utf-8")


def prepare_alignments(page: Path, folder: Path) -> None:
    """Write the sentence of the published example."""
    text = page.read_text(encoding="utf-8")
    for row, name in (("source", "source"), ("hypothesis", "ours"), ("reference", "reference")):
        shown = re.search(rf"^{row} +(Thus .*)$", text, re.M)
        assert shown
        words = shown[1].replace("∅", "").split()
        (folder / f"thus-{name}.txt").write_text(" ".join(words) + "\n", encoding="utf-8")


def prepare_formats(_: Path, folder: Path) -> None:
    """Write gold in which every annotator has corrected every sentence."""
    given = ("--source", "s.txt", "--refs", "r0.txt", "--refs", "r1.txt")
    errata("convert", *given, "-o", "gold.m2", "--force", cwd=folder)


def prepare_campaigns(page: Path, folder: Path) -> None:
    for name, system in zip("abc", SYSTEMS, strict=False):
        shutil.copy(SAMPLE / f"{system}.txt", folder / "out" / f"{name}.txt")
    (text,) = [text for text in blocks(page, "toml") if "[panel]" in text and "code =" in text]
    (folder / "study.toml").write_text(text, encoding="utf-8")


PREPARE: dict[str, Callable[[Path, Path], None]] = {
    "leaderboard.md": prepare_board,
    "alignments.md": prepare_alignments,
    "formats.md": prepare_formats,
    "collecting.md": prepare_campaigns,
}


# -- tests --------------------------------------------------------------------------------------


def run_page(page: Path, folder: Path, mark: str) -> list[str]:
    write_named_blocks(page, folder)
    if prepare := PREPARE.get(page.name):
        prepare(page, folder)
    return [
        f"{command.line}: {problem}"
        for command in page_commands(page)
        if command.mark == mark
        for problem in problems(command, run(command, folder))
    ]


SLOW = ("README", "tokens", "meteor", "meta-evaluation", "leaderboard", "heatmap", "compare")


def with_mark(mark: str) -> list[Any]:
    """The pages that have commands with this mark."""
    return [
        pytest.param(page, id=page.stem, marks=[pytest.mark.slow] if page.stem in SLOW else [])
        for page in PAGES
        if any(command.mark == mark for command in page_commands(page))
    ]


@pytest.mark.parametrize("page", with_mark(""))
def test_commands_do_what_the_page_says(page: Path, folder: Path) -> None:
    if wrong := run_page(page, folder, ""):
        pytest.fail("\n".join(wrong), pytrace=False)


@pytest.mark.long
@pytest.mark.parametrize("page", with_mark("run long"))
def test_long_commands_do_what_the_page_says(
    page: Path, folder: Path, data_sets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ERRATA_DATA", str(data_sets))
    output = errata("data", "path", "conll14-outputs", "AMU").stdout.strip()
    shutil.copy(output, folder / "ours.txt")
    if wrong := run_page(page, folder, "run long"):
        pytest.fail("\n".join(wrong), pytrace=False)


def test_commands_that_are_not_run_have_the_options_they_name() -> None:
    wrong = []
    for page in PAGES:
        for line in (command.line for command in page_commands(page) if command.mark):
            try:
                parse_only(line, page.parent)
            except (click.UsageError, AssertionError) as error:
                wrong.append(f"{page.name}: {line}: {error}")
    assert wrong == []


def parse_only(line: str, folder: Path) -> None:
    line = re.sub(r"\$\(.*?\)", "FILE", line).partition(" > ")[0]
    words = list(split(line, folder))
    command, arguments = find_command(words[words.index("errata") + 1 :])
    command.make_context(command.name, arguments)


def test_running_text_names_commands_options_and_data_that_exist() -> None:
    wrong = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for line in re.findall(r"`errata ([a-z][^`]*)`", text):
            words = line.split()
            if words[0] not in COMMANDS:
                wrong.append(f"{page.name}: errata {line}: no such command")
                continue
            command, words = find_command([word for word in words if word != "..."])
            known = {
                name for option in command.params for name in (*option.opts, *option.secondary_opts)
            }
            options = {word.partition("=")[0] for word in words if word.startswith("--")}
            wrong += [
                f"{page.name}: errata {line}: {name}" for name in options - known - {"--help"}
            ]
        names = re.findall(r"--data ([a-z0-9-]+)", text)
        wrong += [f"{page.name}: --data {name}" for name in {*names} - collections().keys()]
    assert wrong == []


def test_no_command_in_a_block_is_overlooked() -> None:
    """Behind a pipe or in a loop, or in an unusual block: mark it, or write it on its own line."""
    called = re.compile(rf"(?<![\w/.`-])errata (?:{'|'.join(COMMANDS)})\b")
    overlooked = []
    for page in PAGES:
        known = [command.line for command in page_commands(page)]
        for block in BLOCK.finditer(page.read_text(encoding="utf-8")):
            if block["language"] in ("", "sh", "bash") and not MARK.search(block["marks"]):
                lines = re.sub(r"\\\n *", "", block["text"]).splitlines()
                wrong = [line for line in lines if called.search(line)]
                overlooked += [
                    f"{page.name}: {line}"
                    for line in wrong
                    if not any(line.startswith(each) for each in known)
                ]
    assert overlooked == []


@pytest.mark.usefixtures("folder")
def test_the_metrics_of_one_s_own_are_scored_and_keep_the_contract(folder: Path) -> None:
    write_named_blocks(DOCS / "extending.md", folder)
    run_again = page_commands(DOCS / "extending.md")[0].line.removeprefix("errata ")
    printed = errata(*shlex.split(run_again)).stdout
    assert re.search(r"eager +0\.9235 ± 0\.0243 \* +0\.9324", printed)
    assert "from:" in errata(*shlex.split(run_again), "--signature", "full").stdout
    check_metric(parse("kept.py:Kept"))
    nearest = "nearest.py:Nearest"
    check_metric(parse(nearest))
    gold, outputs = SAMPLE / "gold.m2", [SAMPLE / f"{name}.txt" for name in ("eager", "nothing")]
    run = ("score", "--gold", gold, *outputs, "-m", nearest)
    printed = errata(*run, "--no-stream", "--json").stdout
    assert errata(*run, "--stream", "--json").stdout == printed
    both = "interpolate(first='kept.py:Kept', second='nearest.py:Nearest', weight=0.5)"
    check_metric(parse(both))
