"""Options change results: a dropped option leaves the rows, files and exit code as they were.

Options that commands share are read by one function into one object (``corpus_options``,
``judgment_options``): all of them are tried with one command, and one or two with each other
command. What a command unpacks itself, such as seeds, is tried with every command. Options with
which ``test_forms.py`` keeps numbers are held there. The cases are in ``option_effects.txt``.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from collecting import fill_with_sample
from command import errata, run
from rated_outputs import rated_csv

NAMES = ("eager", "cautious", "fluent", "noisy", "nothing")
WORDS = {
    "GLEU": "-m gleu --resamples 30",
    "FAST": "-m gleu --resamples 30 --trials 30 --show 2",
    "TEXTS": "--source source.txt --refs reference0.txt",
    "FILES": " ".join(f"{name}.txt" for name in NAMES),
    "SETS": "--set a=annotator:0 --set b=reference1.txt --set both=a+b",
    "AB": "A=eager.txt B=noisy.txt --labels given",
    "FILED": "--scores scores.tsv --human human.tsv --resamples 30",
}


class Change(NamedTuple):
    """A command line, what is added to it, and the tables that must all change."""

    base: str
    added: str
    tables: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.base} + {self.added}"


def changes() -> Iterator[Change]:
    base = ""
    for line in Path(__file__).with_name("option_effects.txt").read_text("utf-8").splitlines():
        if line.startswith("#"):
            continue
        if not line.startswith(" "):
            base = re.sub(r"\b[A-Z]{2,}\b", lambda found: WORDS[found[0]], line)
        else:
            several, _, named = line.strip().partition(" => ")
            for added in several.split(" ; "):
                yield Change(base, added, tuple(named.split()))


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory, chat_server: object) -> Path:
    made = fill_with_sample(tmp_path_factory.mktemp("options"))
    gold, source, reference = (
        (made / name).read_text("utf-8") for name in ("gold.m2", "source.txt", "reference1.txt")
    )
    odd = "S a b c\nS d e f\nA 1 2|||X|||x|||REQUIRED|||-NONE-|||0\n"
    odd += "A 1 2|||X|||y|||REQUIRED|||-NONE-|||1\n\n"
    lines = reference.split("\n")
    marks = "".join(f"{('', 'yes', 'no')[i % 3]}\t{i % 2}\t{'AB'[i % 2]}\n" for i in range(72))
    for name, text in {
        "less.m2": re.sub(r"A .*\|\|\|1\n", "", gold),
        "many.m2": "S a b c\nA 1 2|||X|||b|||REQUIRED|||-NONE-|||0\n\n" * 9,
        "odd.m2": odd,
        "odd/gold.m2": odd,
        "rated_outputs.csv": rated_csv(),
        "odd.txt": "a x c\nd e f\n",
        "odd/outputs/odd.txt": "a x c\nd e f\n",
        "source2.txt": lines[0] + source[source.index("\n") :],
        "marked.txt": "\n".join(["<none>"] * 5 + lines[5:]),
        "marked/ref1.txt": "\n".join(["<none>"] * 5 + lines[5:]),
        "alien.txt": "\n".join([*lines[30:-1], *lines[:30], ""]),
        "alien/ref0.txt": "\n".join([*lines[30:-1], *lines[:30], ""]),
        "human.tsv": "eager\t3\ncautious\t2\nfluent\t4\nnoisy\t1\nnothing\t0\n",
        "other.tsv": "eager\t1\ncautious\t2\nfluent\t9\nnoisy\t5\nnothing\t0\n",
        "scores.tsv": "eager\t1\ncautious\t2\nfluent\t3\nnoisy\t4\nnothing\t6\n",
        "bare.txt": "1\n2\n3\n4\n6\n",
        "fewer.tsv": "eager\t1\ncautious\t2\nfluent\t3\nelse\t4\n",
        "levels.tsv": "level\tdomain\n" + "A\tC\nB\tC\n" * 36,
        "marks.tsv": f"accepted\tclean\tlocale\n{marks}",
    }.items():
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_text(text, encoding="utf-8")
    _write_judgments(made)
    for outputs, name in (
        ("all", "--refs eager.txt --refs noisy.txt"),
        ("one", "--refs eager.txt"),
    ):
        run(f"convert --source source.txt {name} -o {outputs}.m2", cwd=made)
    wide = (made / "one.m2").read_text("utf-8").replace("A 0 1|||", "A 0 2|||", 1)
    (made / "wide.m2").write_text(wide, encoding="utf-8")
    both = (made / "all.m2").read_text("utf-8").replace("A 0 1|||", "A 0 2|||", 1)
    (made / "all.m2").write_text(both, encoding="utf-8")
    for copies in (
        "source.txt=marked/source.txt reference0.txt=marked/ref0.txt source.txt=alien/source.txt",
        "eager.txt=marked/outputs/eager.txt eager.txt=alien/outputs/eager.txt",
        "gold.m2=wide/gold.m2 wide.m2=wide/outputs/wide.m2",
        "gold.m2=judged/gold.m2 judgments1.jsonl=judged/judgments1.jsonl",
        " ".join(f"{name}.txt=judged/outputs/{name}.txt" for name in NAMES),
    ):
        for old, new in (word.split("=") for word in copies.split()):
            (made / new).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(made / old, made / new)
    several = f"--gold gold.m2 eager.txt nothing.txt {WORDS['GLEU']}"
    run(f"scale plan --run planned {several}", cwd=made)
    run(f"scale run --run counted {several} --engine loop", cwd=made)
    return made


def _write_judgments(made: Path) -> None:
    rows = [json.loads(line) for line in (made / "judgments.jsonl").read_text("utf-8").splitlines()]
    later = [row | {"sentence": row["sentence"] + 1} for row in rows if row["sentence"] < 71]
    # Six rankings in which the order of the scores is not that of the mean ranks.
    ranked = [("CDA", "213"), ("BA", "22"), ("DC", "13"), ("AC", "12"), ("BDA", "113")]
    close = [
        {"judge": "j", "sentence": i, "systems": list(names), "ranks": list(map(int, ranks))}
        for i, (names, ranks) in enumerate([*ranked, ("BAC", "111")])
    ]
    for name, several in (("judgments1", later), ("close", close)):
        text = "".join(json.dumps(row) + "\n" for row in several)
        (made / f"{name}.jsonl").write_text(text, encoding="utf-8")
    for name in ("outputs", "wrong", "texts"):
        (made / name).mkdir()
    for name in NAMES:
        shutil.copy(made / f"{name}.txt", made / "outputs" / name)
        lines = (made / f"{name}.txt").read_text("utf-8").split("\n")
        (made / "wrong" / name).write_text("\n".join(lines[::-1][1:]) + "\n", encoding="utf-8")
    for name in "ab":
        (made / "texts" / name.upper()).write_text("".join(f"{name}{i}\n" for i in range(9)))
    head = "WorkerId,HITId,AssignmentStatus,WorkTimeInSeconds,Input.sentID,Input.system1,"
    head += "Input.sentence1,Input.system2,Input.sentence2,Answer.rank_1,Answer.rank_2\n"
    ranks = [("Approved", "1,2"), ("Approved", "2,1"), ("Approved", "1,2"), ("Rejected", "2,1")]
    mturk = (
        f"w{i % 2},h{i},{status},9,{i},A,a{i},B,b{i},{given}\n"
        for i, (status, given) in enumerate(ranks * 3)
    )
    shifted = (
        f"w0,h{i},Approved,9,{i},A,b{i},B,a{i},1,2\nw1,h{i},Approved,9,{i},A,a{i},B,b{i},1,2\n"
        for i in range(9)
    )
    rated = (
        f"w{j},{i},{system},{5 - given},{(given + i * j) % 2}\n"
        for i in range(60)
        for j in range(2)
        for given, system in enumerate("AB")
    )
    (made / "mturk.csv").write_text(head + "".join(mturk))
    (made / "shifted.csv").write_text(head + "".join(shifted))
    (made / "rated.csv").write_text("judge,sentence,system,score,fluency\n" + "".join(rated))


class Outcome(NamedTuple):
    """What is compared of a run."""

    code: int
    tables: dict[str, Any]
    files: dict[str, bytes]
    printed: str
    intervals: frozenset[str]


@cache
def outcome(folder: Path, line: str, text: bool) -> Outcome:
    before = {path.name for path in folder.iterdir()}
    words = shlex.split(line)
    as_json = not text and "--format" not in words
    cached = {"ERRATA_CACHE": str(folder / "cache")}
    done = errata(*words, *(["--json"] * as_json), cwd=folder, code=None, env=cached)
    files = {}
    for path in folder.iterdir():
        if path.name not in before and path.name != "cache":
            if path.is_dir():
                plan = path / "manifest.json"
                files[path.name] = plan.read_bytes() if words[:2] == ["scale", "plan"] else b""
                shutil.rmtree(path)
            else:
                files[path.name] = path.read_bytes()
                path.unlink()
    found: dict[str, Any] = {}
    intervals = set()
    for table in json.loads(done.stdout)["tables"] if done.stdout.startswith("{") else ():
        found.setdefault(table["name"], []).append([list(row.values()) for row in table["rows"]])
        if any(re.search(r"\d %|interval", column) for column in table["columns"]):
            intervals.add(table["name"])
    printed = "\n".join(_body(done.stdout)) if text else "" if found else done.stdout
    printed += done.stderr if done.returncode else ""
    return Outcome(done.returncode, found, files, printed, frozenset(intervals))


def _body(text: str) -> Iterator[str]:
    """The printed lines but titles, headings and signatures, which may name what is not done."""
    inside = "─" not in text
    for line in text.split("\n"):
        if "─" in line:
            inside = True
        elif not line or line.startswith("signature:"):
            inside = "─" not in text
        elif inside:
            yield line


@pytest.mark.parametrize("change", list(changes()), ids=str)
def test_an_option_changes_the_result(inputs: Path, change: Change) -> None:
    if "--figure" in change.base + change.added:
        pytest.importorskip("matplotlib")
    text = change.tables == ("text",)
    before = outcome(inputs, change.base, text)
    after = outcome(inputs, f"{change.base} {change.added}", text)
    assert 0 in (before.code, after.code), before.printed + after.printed
    assert before[:4] != after[:4]
    wanted = set() if text else set(change.tables)
    if change.added.startswith("--confidence"):
        wanted |= before.intervals
    for table in wanted:
        assert before.tables[table] != after.tables[table], f"{table} is as it was"
