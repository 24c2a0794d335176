"""What cannot be done is refused in one line that names the file, the value or the option.

Each line is a command and, behind the bar, words of the message. Options that would change
nothing are refused, not ignored.
"""

from __future__ import annotations

import json
import re
import types
from pathlib import Path

import pytest

from collecting import fill_with_sample
from command import errata, refused, run
from errata.cli.running import _fault
from errata.cli.score_files import split_names
from errata.errors import InputError
from errata.metrics import parse

NINES = "9" * 5000
SCORED = "meta --human h.tsv --scores ter=lo.tsv"
GATE = "compare --gold gold.m2 eager.txt noisy.txt --resamples 20 --trials 0"
REFUSED = {
    "score": """
        score | no output
        score --gold missing.m2 x.txt | missing.m2
        score --sample x.txt | --sample
        score --sample -m m3 | 'm3'
        score --sample -m m2(beta=0) | beta
        score --sample -m m2(version=3.3) | version=3.3
        score --sample --annotator 9 | 9
        score --sample --annotator x | 'x' ... all
        score --sample --annotator -1 | '-1' ... all
        score --sample --annotator ² | '²' ... all
        score --gold gold.m2 one-line.txt | one-line.txt
        score --gold source.txt eager.txt | source.txt ... M2
        score --gold two.m2 one-line.txt | two.m2:3 ... 'S '
        score --source source.txt eager.txt | --refs
        score --gold gold.m2 eager.txt eager=noisy.txt | 'eager' ... eager.txt
        score --source wide.txt --refs wide2.txt wide.txt -m imeasure | GB
        score --source long.txt --refs long.txt ours=longer.txt -m edits | sentence 2 ... 9001
        score --source long.txt --refs longer.txt ours=long.txt -m edits | reference 0 of sentence 2
        score --sample --by-type --compare -m edits | --compare
        score --sample --by-type --by-sentence -m edits | --by-sentence
        score --sample --by-type --details | --details
        score --sample --by-type -m m2 | --by-type ... errant
        score --sample --tier 2 | --tier ... --by-type
        score --sample --compare --resamples 0 -m m2 | --compare ... --resamples 0
        score --sample --json --format tsv -m gleu | --json ... --format tsv
        score --sample --format table --json -m gleu | --json ... --format table
        score --sample --annotator 0 --annotator all -m gleu | --annotator all ... --annotator 0
        score --sample -m m2 -m m2(beta=0.5) | m2 ... twice
        score --sample -m edits -m errant(extractor=aligned,gold=as_is) | edits ... twice
        score --gold gold.m2 own.m2 -m m2 --extract aligned | -m errant
        score --gold gold.m2 eager.txt --missing - | --missing ... --refs
        score --source source.txt --refs reference0.txt eager.txt --compatible | --compatible
        score --source source.txt eager.txt -m edits --by-type --json | no references
        score --sample --format jsn | 'json'
        score --sampl | --sample
        scor | 'scor' ... 'score'
    """,
    "skipped sentences": """
        score --gold gold.m2 eager.txt --skip-sentences out1 | out1:2 ... 73 ... 72
        score --gold gold.m2 eager.txt --skip-sentences out2 | out2:2 ... 73
        score --gold gold.m2 eager.txt --skip-sentences out3 | out3:1 ... 'x'
        score --gold gold.m2 eager.txt --skip-sentences out4 | out4:2 ... '9-7'
        score --gold gold.m2 eager.txt --skip-sentences out5 | out5:1 ... '0'
        score --gold gold.m2 eager.txt --skip-sentences out6 | out6: no sentence
        score --gold gold.m2 eager.txt --skip-sentences out7 | all 72
        rank --sample --skip-sentences 5000 | no judgment
        rank --sample --skip-sentences '' | ''
        rank --sample --skip-sentences 1-72 | left out
        agree --sample --skip-sentences 1-72 | left out
        plan --sample --skip-sentences 1-72 | left out
        meta --sample -m gleu --skip-sentences 1-72 | left out
        difficulty --sample --terminal --skip-sentences 1-60 --sentences 50-60 | left out
    """,
    "compare": """
        compare --gold gold.m2 eager.txt | one output
        compare --gold gold.m2 eager.txt cautious.txt --old v1 | 'v1'
        compare --source source.txt eager.txt cautious.txt --by-edit | no edit
        compare --source source.txt eager.txt cautious.txt -m m2 | no references
        compare --sample -m m2 -m edits -m edits | twice
        compare --sample --slices source.txt | 2 cells under 1 columns
        GATE --fail-if 'm2 < 0 on nowhere.txt' | nowhere.txt
        GATE --fail-if 'm2 < 0 on length=9' | 'length=9'
        GATE --fail-if 'm2 << 0' | m2 << 0
        GATE --junit x.xml | --fail-if
        GATE --update-baseline | --baseline
        GATE --fail-if 'm2 < 0 on eager.txt' | eager.txt:1
    """.replace("GATE", GATE),
    "report": """
        report --force | nothing to report on
        report --sample --old nobody --force | 'nobody'
        report --sample --fail-if 'm2 < 0' --force | --fail-if ... --old
        report --judgments judgments.jsonl --slices h.tsv --force | --slices ... outputs
    """,
    "verify": """
        verify 'm2 = high' --gold gold.m2 eager.txt | 'm2 = high'
        verify 'm3() | sentences:72 = 0.4' --gold gold.m2 eager.txt | 'm3'
        verify 'trueskill() | sentences:72 = 0.4' --gold gold.m2 eager.txt | errata rank
        verify 'm2() | resamples:many | seed:0 = 0.4 ± 0.1' --gold gold.m2 eager.txt | interval
        verify nowhere.txt --gold gold.m2 eager.txt | nowhere.txt
        verify claims.txt --gold gold.m2 eager.txt | claims.txt:2
        verify no-claims.txt --gold gold.m2 eager.txt | no claim
        verify 'm2 = 1.0' --sample | 5 systems
        verify 'm2 = 1' --sample --for us | 'us'
    """,
    "rank, agree, plan": "\n".join(
        f"""
        {name} | no judgments given
        {name} --sample --leave-out eve | eve
        {name} --sample --without X | 'X'
        {name} x --sample | --sample
        {name} bad.jsonl | bad.jsonl:1
        {name} --sample --base 1 | --base ... judgments
        """
        for name in ("rank", "agree", "plan")
    )
    + "\n".join(
        f"rank --sample --resamples 0 {option} | {option.split()[0]} ... --resamples above 0"
        for option in ("--confidence .9", "--unit pairs", "--balanced", "--order mean_rank")
        + ("--figure x.svg", "--value mean")
    )
    + """
        rank --sample --unit pair | 'pairs'
        rank --sample --ranker expected_win | 'expected_wins'
        rank --sample --balanced --unit pairs --ranker trueskill | freely
        rank missing --figure x.doc | .svg
        rank --sample --figure x.svg --figure ranking=x.svg | two figures
        rank judgments.jsonl judgments.jsonl | given twice
        rank ties.jsonl --ranker bradley_terry(ties=davidson,prior=0.1) | nobody beat anybody
        rank ties.jsonl --ranker bradley_terry(ties=rao_kupper,prior=0.0) | nobody beat anybody
        agree --sample --status Approved | --status
        plan --sample --columns judge=J | --columns
        plan --sample --systems a b | a
        plan --sample --systems eager noisy --largest inf | --largest
        plan --sample --systems eager noisy --largest nan | --largest
        plan --sample --systems eager noisy --largest 1e300 | --largest
        plan --sample --systems eager noisy --largest 0.5 | --largest
    """
    + "\n".join(
        f"plan one.jsonl --systems A B --unit {unit} | one"
        for unit in ("pairs", "rankings", "sentences", "judges")
    ),
    "meta": f"""
        meta | no metric
        meta --sample --convention tau | 'tau'
        meta --sample --convention nooties | 'noties'
        meta --sample --without X | 'X'
        meta --sample --level sentence --without X | 'X'
        meta --sample --hide X | 'X'
        meta --sample --ranker elo | 'elo'
        meta --sample --figure scatter=x.txt | x.txt
        meta --sample --figure x.svg | 'x.svg' ... scatter=FILE
        meta --sample --figure scater=x.svg | 'scater' ... 'scatter'
        meta --sample --figure scatter=x.html | 'x.html' ... .svg
        meta --sample --figure scatter=x.svg --outlier X | 'X'
        meta --sample --top 9 | 5 systems
        meta --human h.tsv --scores h.tsv --level sentence | judgments
        meta --judgments nowhere.xml --gold gold.m2 eager.txt | nowhere.xml
        meta --human nowhere.tsv --gold gold.m2 eager.txt | nowhere.tsv
        meta --sample --level system --convention tau_b | --convention ... --level
        meta --sample --level sentence --window 3 | --window ... --level system
        meta --sample --level sentence --human h.tsv | --human ... --level system
        meta --sample --base 1 | --base ... --judgments
        meta --human people.json --scores gleu.json --names A,B | --names
        {SCORED} -m gleu -m nonsense | --metric
        {SCORED} --level system --judgments judgments.jsonl | --judgments ... --level sentence
        {SCORED} --judgments judgments.jsonl --ranker trueskill | --ranker ... --judgments
        {SCORED} --outlier A | --outlier ... --figure scatter=FILE
    """
    + "\n".join(
        f"{SCORED} {option} | {option.split()[0]}"
        for option in ("--gold gold.m2", "--missing -", "--compatible", "--tokens characters")
        + ("--no-guard", "--annotator 0", "--skip-sentences 1")
    )
    + "\n"
    + "\n".join(
        f"{SCORED} {option} | {option.split()[0]} ... --judgments"
        for option in ("--ranker trueskill", "--members sample", "--unit pairs", "--base 1")
        + ("--base 0", "--leave-out ana", "--labels given", "--status Approved", "--outputs .")
        + ("--columns judge=J", "--convention tau_b")
    ),
    "difficulty": """
        difficulty --gold gold.m2 | weight file
        difficulty --gold gold.m2 gold.m2 --names a,b | 2 names ... 3
        difficulty --gold gold.m2 eager.txt noisy.txt --names a,b | --names
        difficulty --gold gold.m2 gold.m2 --names A,,B | 'A,,B'
        difficulty --gold gold.m2 gold.m2 --names A,B,A | 'A'
        difficulty --gold gold.m2 A=eager.txt A=noisy.txt | noisy.txt ... 'A' ... eager.txt
        difficulty --gold gold.m2 gold.m2 --annotator 4 | 4
        difficulty --gold gold.m2 gold.m2 --weights eager.txt | eager.txt:1
        difficulty --sample --exclude-own --weights none | leave_out
        difficulty --sample --figure map.gif | .html
        difficulty --gold missing --figure x.doc | .html
        difficulty --sample --figure no/such/folder.html | no/such/folder.html
        difficulty --sample --figure m.html --sentences 73 | 73
        difficulty --sample --system x | 'x'
        difficulty --gold gold.m2 other.m2 | other.m2:1
        difficulty --sample --extract magic | 'magic'
        difficulty --sample --a inf | a=inf
        difficulty --sample --c nan | c=nan
        difficulty --sample --c -5 | N=5 ... c=-5
        difficulty --sample --c -4 --exclude-own | N=4 ... c=-4
        difficulty --sample --annotator all --write-weights w.txt | annotator
        difficulty --sample --annotator x | 'x' ... all
        difficulty --sample s.txt | --sample
    """,
    "logs": """
        logs | no logs
        logs --source source.txt eager.txt noisy.txt | noisy.txt
        logs --source cautious.txt reference*.txt | files
        logs --source source.txt one-line.txt | one-line.txt ... source.txt
        logs --source source.txt eager.txt --by x | --by
        logs --parquet x --source y | --source
        logs --source source.txt eager.txt --for x | --for
        logs --source three.txt three.txt --marked more.tsv | more.tsv ... 3
        logs --source three.txt three.txt --marked odd.tsv --by local | odd.tsv:1 ... 'local'
        logs --source three.txt three.txt --marked few.tsv | few.tsv ... 1 row
        logs --source three.txt three.txt --marked odd.tsv | odd.tsv:3 ... 'maybe'
        logs --source three.txt three.txt --marked broad.tsv | broad.tsv:2 ... 2 cells
        logs --source three.txt three.txt --marked same.tsv | same.tsv:1
    """,
    "other commands": """
        refs --sample --annotator x | 'x' ... all
        refs --sample s.txt | --sample
        stress | no metric
        stress gleu --sample --gold gold.m2 | --sample
        stress gleu --gold missing --figure x.doc | .svg
        judge --source source.txt eager.txt noisy.txt -m gleu | gleu
        judge --source source.txt eager.txt noisy.txt -m judge -m judge | twice
        judge --source source.txt eager.txt noisy.txt --dry-run -o x | --dry-run ... --output
        convert gold.m2 --extract aligned --annotator 0 | texts
        convert gold.m2 --extract aligned --only-source | texts
        convert gold.m2 --extract aligned --copy-missing | texts
        convert gold.m2 --extract aligned --missing X | texts
        convert --source source.txt --refs eager.txt --annotator 0 | M2
        convert --source source.txt --refs eager.txt --only-source | M2
        convert --source source.txt --refs eager.txt --copy-missing | M2
        convert | M2
        convert gold.m2 --source source.txt | M2
        convert gold.m2 --refs eager.txt | --source
        convert --source source.txt | --refs
        convert gold.m2 --annotator 7 | 7 ... 0, 1
        convert gold.m2 | -o
        metrics blue | 'bleu'
        data list conl14 | 'conll14'
        reproduce gotou21 | 'gotou20'
        reproduce nothing | 'nothing' ... chollampatt18
        reproduce none.toml | none.toml
    """,
    "limits": "\n".join(
        f"{command} --resamples {many} | more than 1,000,000 ... --no-limits"
        for command in ("rank --sample", "score --sample", "meta --sample", "refs --sample")
        + ("stress gleu", "difficulty --sample")
        for many in ("1000001", "99999999999999999999")
    ),
    "odd values": "\n".join(
        f"{command} --seed -1 | --seed"
        for command in ("score --sample", "rank --sample", "stress gleu", "difficulty --sample")
        + ("meta --sample", "plan --sample", "refs --sample")
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


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = fill_with_sample(tmp_path_factory.mktemp("refused"))
    long = " ".join(map(str, range(9000)))
    ties = {"judge": "a", "systems": ["A", "B"], "ranks": [1, 1]}
    for name, text in {
        "one-line.txt": "He goes home .\n",
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


def test_verbose_reports_how_long_it_took() -> None:
    seconds = re.search(r"; (\d+\.\d) s$", errata("metrics", "-v").stderr.strip())
    assert seconds is not None


@pytest.mark.parametrize(
    ("module", "whose"), [("their_metric", "plug-in their_metric"), ("__main__", "fault of Errata")]
)
def test_whose_fault_it_is(module: str, whose: str, tmp_path: Path) -> None:
    place = tmp_path / "x.py"
    place.write_text("def fail():\n    return 1 / 0\n")
    theirs = types.ModuleType(module)
    exec(compile(place.read_text(), str(place), "exec"), theirs.__dict__)
    with pytest.raises(ZeroDivisionError) as caught:
        theirs.fail()
    message = _fault(caught.value.with_traceback(caught.tb.tb_next))  # without this test's frame
    assert whose in message
    assert ("x.py:2" in message) == (module != "__main__")
    assert "ZeroDivisionError: division by zero" in message


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
