"""Options change results: a dropped option leaves the rows, files and exit code as they were.

Options that commands share are read by one function into one object (``corpus_options``,
``judgment_options``): all of them are tried with one command, and one or two with each other
command. What a command unpacks itself, such as seeds, is tried with every command. Options with
which ``test_forms.py`` keeps numbers are held there.
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
# A command line, and below it what is added to it, one option after the other. Behind => are the
# tables that must all change; "text" compares what a terminal shows.
CHANGES = """
score --sample GLEU
    --bootstrap poisson ; --confidence 0.5
score --sample GLEU --compare
    --seed 1 => gleu gleu_p_values
score --sample GLEU -m bleu
    --confidence 0.5 => text
score --sample -m errant(extractor=aligned) --by-type
    --tier 1
score --gold gold.m2 wide.m2 -m errant(extractor=aligned) --resamples 0
    --extract aligned
score --gold gold.m2 @A=eager.txt GLEU --format tsv
    --safe-cells
score --gold gold.m2 eager.txt GLEU
    --gold less.m2 ; --skip-sentences 3,7-9 ; --tokens characters
score --gold gold.m2 --annotator 0 eager.txt GLEU
    --annotator 1
score TEXTS eager.txt noisy.txt GLEU
    --source source2.txt
score TEXTS --refs marked.txt eager.txt GLEU
    --refs reference1.txt ; --missing <none>
score --gold odd.m2 odd.txt GLEU
    --compatible
score --source source.txt --refs reference1.txt --refs alien.txt eager.txt GLEU
    --no-guard
compare --sample FAST
    --slices levels.tsv ; --tier 1 ; --confidence 0.5
    --seed 1 => eager_metrics eager_kinds
compare --gold gold.m2 wide.m2 x=wide.m2 FAST
    --extract aligned
compare --gold gold.m2 eager.txt noisy.txt FAST
    --skip-sentences 3,7-9
compare --old nothing
    --scores counted/result.json
compare --sample FAST --fail-if gleu>0.19
    --bound point
report FILED
    --scores other.tsv ; --human other.tsv ; --lower-is-better scores => system_level
    --hide noisy => system_level
report FILED --format markdown
    --title Ours => text
report --scores bare.txt --human human.tsv --resamples 0
    --names eager,cautious,fluent,noisy,nothing
report --scores fewer.tsv --human human.tsv --resamples 30
    --common
report --judgments judgments.jsonl --scores scores.tsv --resamples 40
    --ranker net_wins ; --members sample ; --unit judges ; --resamples 41 ; --seed 1 => ranking
    --leave-out ana => ranking agreement
    --without noisy => ranking scores
    --confidence 0.5
report --gold gold.m2 eager.txt noisy.txt GLEU --annotator 0
    --annotator 1
report --gold gold.m2 eager.txt noisy.txt GLEU --old eager --fail-if gleu<-0.4
    --bound point => gate
report --gold gold.m2 one.m2 wide.m2 GLEU
    --extract aligned => kinds
verify m2=0.8±0.04 --sample --for eager
    --confidence 0.5
check many.m2 --every
    --skip-sentences 2-3 => findings files
convert TEXTS --refs reference1.txt
    --tokens characters => text
convert --source source.txt --refs alien.txt
    --no-guard => text
convert gold.m2 -o new --copy-missing --annotator all
    --extract aligned
convert gold.m2 -o new --missing <none>
    --missing <no>
tokenise source.txt --tokens as_is
    --tokens characters => text
rank judgments1.jsonl
    --outputs outputs
rank judgments1.jsonl --outputs outputs
    --base 1
rank shifted.csv --outputs texts
    --labels text
rank mturk.csv
    --status Rejected
rank rated.csv
    --columns score=fluency
rank close.jsonl --resamples 40
    --order mean_rank
rank --sample --resamples 40 --head-to-head
    --leave-out ana ; --skip-sentences 3,7-9 ; --confidence 0.5 ; --seed 1 ; --members sample
    --figure new.svg
    --hide noisy => ranking head_to_head
agree --sample
    --leave-out ana ; --ranker net_wins
agree --sample --group a=ana,bo --group b=*
    --minimum 5000 => groups group_pairs
    --figure new.svg
plan --sample --systems eager cautious --simulations 50
    --leave-out ana ; --confidence 0.6 ; --unit judges ; --largest 2 ; --seed 1
    --ranker net_wins
meta --sample GLEU
    --ranker net_wins => system_level
    --members sample ; --hide noisy ; --leave-out ana ; --seed 1 => system_level sentence_level
    --skip-sentences 3,7-9 => system_level sentence_level
    --unit judges => sentence_level
    --confidence 0.5
meta --sample GLEU --level system --figure scatter=new.svg
    --outlier noisy
meta TEXTS FILES GLEU --human human.tsv
    --judgments judgments.jsonl
meta TEXTS FILES GLEU --judgments judgments1.jsonl
    --base 1
meta TEXTS FILES GLEU --judgments judgments.jsonl
    --outputs wrong
meta TEXTS AB -m gleu --resamples 0 --judgments rated.csv --level system
    --columns score=fluency
meta FILED --level system
    --lower-is-better scores
meta --scores bare.txt --human human.tsv --level system --resamples 0
    --names eager,cautious,fluent,noisy,nothing
meta --scores fewer.tsv --human human.tsv --level system
    --common
benchmark --sample GLEU
    --skip-sentences 3,7-9 => benchmark_sets
    --ranker net_wins => benchmark_pearson
    --figure accuracy=new.svg
    --confidence 0.5 => benchmark_kendall
    --seed 1 => benchmark_pearson benchmark_kendall
benchmark judged GLEU
    --base 1
refs --sample GLEU
    --figure edits=new.svg ; --confidence 0.5 ; --skip-sentences 3,7-9
    --seed 1 => annotators_as_systems
refs --sample SETS GLEU
    --cased => set_edits
    --ranker net_wins ; --members sample ; --without noisy ; --hide noisy => set_correlations
    --leave-out ana => set_correlations
    --over both => set_correlation_intervals
    --figure rankings=new.svg ; --figure correlations=new.svg
refs --sample SETS GLEU --over both
    --unit judges => set_correlation_intervals
refs --sample SETS GLEU --curve both
    --figure curve=new.svg
refs SETS TEXTS FILES GLEU
    --judgments judgments.jsonl ; --human human.tsv
refs SETS TEXTS FILES GLEU --human bare.txt
    --names eager,cautious,fluent,noisy,nothing
refs SETS TEXTS FILES GLEU --human fewer.tsv
    --common
align --sample
    --skip-sentences 2,5-7
align --gold gold.m2 wide.m2 -m difficulty(outputs=mixed)
    --extract aligned
corpora --sample GLEU --annotator 0
    --annotator 1 => corpora gleu
corpora --sample GLEU
    --skip-sentences 2,5-7 ; --tokens characters => corpora gleu
    --types aligned => corpora kinds
    --figure new.svg
    --seed 1 => gleu stability
corpora --sample GLEU -m m2
    --confidence 0.1 => gleu stability
corpora marked GLEU
    --missing <none>
corpora odd GLEU
    --compatible
corpora alien GLEU
    --no-guard
corpora wide -m edits --resamples 0
    --extract aligned
difficulty --sample --resamples 30 --examples 200
    --weights none ; --matching elastic ; --a 2 ; --b 0.5 ; --c 1 ; --reextract
    --figure new.html ; --confidence 0.5 ; --skip-sentences 3,7-9
    --types aligned => kinds
    --seed 1 => difficulty kinds hardest easiest
difficulty --sample --resamples 30 --examples 200 --matching elastic
    --longest 3
difficulty --sample --resamples 30 --terminal
    --conceal alarms => text
difficulty --sample --resamples 30 --figure new.html
    --sentences 2-3
difficulty --gold gold.m2 all.m2 --resamples 0
    --names A,B ; --extract aligned
difficulty --gold gold.m2 one.m2 noisy.txt --resamples 0
    --mixed
train some --ratings rated_outputs.csv --dry-run
    --encoder other ; --epochs 3 ; --batch-size 7 ; --learning-rate 0.01 ; --patience 5
    --max-length 64 ; --device cpu ; --fold 3 ; --seed 1 ; --rows 100 ; -o new ; --head fluency
train impara --gold gold.m2 --dry-run
    --epochs 3 ; --seed 1 ; --rows 100 ; --extract aligned ; --annotator 0
judge --gold gold.m2 eager.txt noisy.txt -m judge(repeats=1)
    --skip-sentences 3,7-9 ; --tokens characters ; -o new.jsonl ; --dry-run
    -m judge(seed=1,repeats=1) => judge_scores judge_trust
judge --gold gold.m2 wide.m2 -m judge(mode=edit,repeats=1)
    --extract aligned
stress GLEU
    --confidence 0.5 ; --seed 1 ; --figure new.svg
stress -m gleu --resamples 0
    --seed 1
stress --gold gold.m2 GLEU
    --damage eager.txt ; --attack eager.txt ; --skip-sentences 3,7-9
logs --source source.txt eager.txt
    --marked marks.tsv
logs --source source.txt eager.txt --marked marks.tsv
    --by locale ; --confidence 0.5
logs --source source.txt eager.txt --extract aligned
    --extract unknown
scale plan --run new GLEU
    --sets judged
scale plan --run new --gold gold.m2 eager.txt noisy.txt GLEU
    --resamples 31 ; --bootstrap poisson ; --seed 1 ; --shard-size 1k ; --shard-sentences 5
scale run --run new --engine loop --gold gold.m2 eager.txt noisy.txt GLEU
    --bootstrap poisson ; --seed 1 ; --confidence 0.5 => gleu
    --tokens characters
scale run --run new --engine loop TEXTS --refs marked.txt eager.txt GLEU
    --missing <none>
scale run --run new --engine loop --gold odd.m2 odd.txt GLEU
    --compatible
scale status --run counted
    --run planned
scale reduce --run counted
    --confidence 0.5 => gleu
"""


class Change(NamedTuple):
    """A command line, what is added to it, and the tables that must all change."""

    base: str
    added: str
    tables: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.base} + {self.added}"


def changes() -> Iterator[Change]:
    base = ""
    for line in CHANGES.strip().splitlines():
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
