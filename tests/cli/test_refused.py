"""What cannot be done is refused in one line that names the file, the value or the option.

The cases are in ``refused.txt``: a command and, behind the bar, words of the message. Options that
would change nothing are refused, not ignored.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from collecting import fill_with_sample
from command import refused, run
from errata.cli.judgment_options import split_names
from errata.core.errors import InputError
from errata.metrics import parse

NINES = "9" * 5000
SCORED = "meta --human h.tsv --scores ter=lo.tsv"
WORDS = {
    "SCORED": SCORED,
    "GATE": "compare --gold gold.m2 eager.txt noisy.txt --resamples 20 --trials 0",
}
GENERATED = {
    "limits": "\n".join(
        f"{command} --resamples {many} | more than 1,000,000 ... --no-limits"
        for command in ("rank --sample", "score --sample", "meta --sample", "references --sample")
        + ("stress gleu", "difficulty --sample")
        for many in ("1000001", "99999999999999999999")
    ),
    "odd values": "\n".join(
        f"{command} --seed -1 | --seed"
        for command in ("score --sample", "rank --sample", "stress gleu", "difficulty --sample")
        + ("meta --sample", "plan --sample", "references --sample")
    )
    + f"""
        score --sample -m gleu --confidence nan | --confidence
        rank --sample --confidence nan | --confidence
        plan --sample --confidence nan | --confidence
        plan --sample --power nan | --power
        difficulty --sample --annotator {NINES} | annotator
        difficulty --sample --terminal --sentences {NINES} | sentences
        score --sample --seed {NINES} | --seed
        score --sample --resamples {NINES} | --resamples
        score --sample -m m2(beta={{[]}}) | beta
        score --sample -m m2(beta=1{"0" * 400}) | beta
        score --sample -m m2(beta={NINES}) | beta
        score --sample -m m2(beta=1e999) | beta
        score --sample -m 'errant(extractor=aligned, only=(1,2))' | only
        score --sample -m errant(only=(1,2)) | only
        score --sample -m difficulty(ignore=([],)) | ignore
        score --sample -m m2\udce9 | m2
        score --sample -m gleu({"(" * 3000}) | gleu
        score --gold no\udce9such.m2 x | such.m2
        data get --all --base-url http://[::1 | http://
        reproduce no\x1bsuch | no\\x1bsuch
        no\x1b]0;such | such
        score --sam\x1b]0;ple | ple
    """,
}


def cases() -> dict[str, str]:
    """The lines of refused.txt by section, and those that are generated."""
    text = Path(__file__).with_name("refused.txt").read_text("utf-8")
    for word, meaning in WORDS.items():
        text = text.replace(f"\n{word} ", f"\n{meaning} ")
    _, *parts = re.split(r"^\[(.+)\]$", text, flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True)) | GENERATED


REFUSED = cases()


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = fill_with_sample(tmp_path_factory.mktemp("refused"))
    long = " ".join(map(str, range(9000)))
    ties = {"judge": "a", "systems": ["A", "B"], "ranks": [1, 1]}
    for name, text in {
        "one-line.txt": "He goes home .\n",
        "alien.txt": "Nothing of this .\n" * 72,
        "two.m2": "S a\n\nx\n",
        "other.m2": (folder / "gold.m2").read_text("utf-8").replace("S ", "S You ", 1),
        "wide.txt": "a " * 100_000 + "\n",
        "wide2.txt": "b " * 100_000 + "\n",
        "long.txt": f"He go .\n{long}\n",
        "longer.txt": f"He goes .\n{long} .\n",
        "out1": "1\n73\n",
        "out2": "1\n70-99",
        "out3": "x\n",
        "out4": "3\n9-7\n",
        "out5": "0\n",
        "out6": "# none\n",
        "out7": "1-72\n",
        "h.tsv": "A\t3\nB\t2\nC\t1\nD\t0\n",
        "lo.tsv": "A\t0.2\nB\t0.1\nC\t0.9\nD\t0.4\n",
        "gleu.json": run("score --sample -m gleu --resamples 0 --json").stdout,
        "people.json": run("rank --sample --resamples 40 --json").stdout,
        "bad.jsonl": '{"judge": "ann", "sentence": 0, "groups": [["A"]], "ranks": [0]}\n',
        "one.jsonl": json.dumps(ties | {"sentence": 0, "ranks": [1, 2]}) + "\n",
        "ties.jsonl": "".join(json.dumps(ties | {"sentence": s}) + "\n" for s in range(3)),
        "claims.txt": "m2 = 0.5\nm2 is good\n",
        "no-claims.txt": "# none\n",
        "three.txt": "a\nb\nc\n",
        "more.tsv": "clean\nyes\n\n1\n0\nno\n",
        "few.tsv": "clean\nyes\n",
        "odd.tsv": "clean\tlocale\nyes\tx\nmaybe\tx\nno\tx\n",
        "broad.tsv": "clean\nyes\tno\nyes\nno\n",
        "same.tsv": "clean\tclean\n",
    }.items():
        (folder / name).write_text(text, encoding="utf-8")
    run("convert --source source.txt --refs eager.txt -o own.m2", cwd=folder)
    return folder


@pytest.mark.parametrize("name", REFUSED)
def test_commands_refuse_in_one_line(inputs: Path, name: str) -> None:
    wrong = refused(REFUSED[name], inputs)
    assert not wrong, "\n".join(wrong)


def test_what_is_used_is_taken(inputs: Path) -> None:
    run(f"{SCORED} --common", cwd=inputs)
    run("score --sample --resamples 0 -m edits --by-type --tier 1")
    run("rank ties.jsonl --ranker bradley_terry(ties=half)", cwd=inputs)
    run("stress gleu --gold gold.m2 --attack alien.txt --resamples 0", cwd=inputs)
    assert repr(parse("m2(version=3.2)")) == repr(parse("m2(version='3.2')"))


def test_where_a_failure_comes_from() -> None:
    bad = "score --gold nowhere.m2 x.txt"
    assert "Traceback" in run(f"--traceback {bad}", code=2).stderr
    assert "Traceback" in run(bad, code=2, env={"ERRATA_TRACEBACK": "1"}).stderr
    assert "Traceback" not in run(bad, code=2).stderr  # nothing stays set


def test_names_are_a_list_or_a_file(tmp_path: Path) -> None:
    (tmp_path / "names").write_text("A \nB\n")
    assert split_names(None) == []
    assert split_names("A, B") == split_names(str(tmp_path / "names")) == ["A", "B"]
    with pytest.raises(InputError, match="empty name"):
        split_names("A,,B")


@pytest.mark.parametrize("level", ["sentence", "both", "system"])
def test_scores_of_systems_alone_are_judged_as_such(inputs: Path, level: str) -> None:
    code = 2 if level == "sentence" else 0
    line = f"meta --judgments judgments.jsonl --scores m.tsv --level {level} --resamples 0"
    names = ("eager", "cautious", "fluent", "noisy", "nothing")
    (inputs / "m.tsv").write_text("".join(f"{name}\t{k / 7}\n" for k, name in enumerate(names)))
    done = run(line, cwd=inputs, code=code)
    assert ("no sentence scores of m" in done.stderr) == (level != "system")
    assert ("system level" in done.stdout) == (level != "sentence")
    assert "sentence level" not in done.stdout


@pytest.mark.parametrize("body", ["1 / 0", "'good'"])
def test_a_function_that_fails_is_a_fault(body: str, tmp_path: Path) -> None:
    text = f"def broken(source, hypothesis, references):\n    return {body}\n"
    (tmp_path / "own_metric.py").write_text(text)
    done = run("score --sample -m own_metric.py:broken", cwd=tmp_path, code=70)
    assert "own_metric.py:broken " in done.stderr
    assert len(done.stderr.splitlines()) == 1
