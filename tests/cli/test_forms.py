"""What commands print: every form has the same rows, and the numbers are those kept.

``tests/golden/printed`` has the numbers of each run (``NAME.json``, a line per row), and what a
terminal shows once for each kind of table (``NAME.txt``). After a change that is meant,
``make golden`` writes them again; read the difference like code. Numbers may differ in the last
digits, as other machines round.
"""

from __future__ import annotations

import html
import json
import re
import shlex
import sys
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

import pandas
import pytest

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from board_sample import sample_board
from collecting import fill_with_sample
from command import Done, errata, errata_in_forms, run
from errata import __version__
from errata.cli import COMMANDS
from errata.datasets.sample import SAMPLE_SYSTEMS
from errata.report.signatures import signature_id
from printed import alike, cells, flat, same_numbers, tsv_rows
from rated_outputs import rated_csv
from small_experiment import SMALL

GOLDEN = Path(__file__).parents[1] / "golden" / "printed"
CONVENTIONS = " ".join(
    f"--convention {name}"
    for name in ("noties", "hties", "wmt12", "wmt13", "wmt14", "kendall_like", "tau_b", "tau_c")
    + ("tau_23", "accuracy", "row_accuracy", "row_calibrated", "calibrated", "seeda", "seeda_tau")
)
WORDS = {
    "TEXTS": "--source source.txt --refs reference0.txt --refs reference1.txt",
    "TWO": "--gold gold.m2 cautious.txt eager.txt",
    "SHARDS": "--run new --gold gold.m2 eager.txt noisy.txt",
    "CONVENTIONS": CONVENTIONS,
    "QUICK": "--resamples 40",
}
# A star: what a terminal shows is kept too. Two stars: it is kept alone, as nothing is computed.
RUNS = """
score*: score --sample QUICK
score-default-resamples: score --sample -m gleu
score-details*: score --sample QUICK --details
score-texts: score TEXTS eager.txt B=noisy.txt QUICK
score-one*: score --gold gold.m2 eager.txt -m m2 QUICK
score-no-intervals*: score --sample --resamples 0 -m m2 -m bleu
score-confidence: score --sample QUICK --confidence 0.5 -m gleu
score-compare*: score --sample QUICK --compare -m m2 -m gleu
score-by-type: score --sample --by-type -m edits
score-by-type-1*: score --sample --by-type --tier 1 -m edits
score-by-type-2: score --sample --by-type --tier 2 -m edits
score-by-sentence: score --sample --by-sentence -m m2 --resamples 0
score-by-sentences: score --gold gold.m2 eager.txt --by-sentence --resamples 0 -m gleu -m imeasure
score-annotator: score --gold gold.m2 --annotator 0 eager.txt QUICK
score-difficulty: score --sample QUICK -m difficulty -m edits
compare: compare --sample --old nothing --show 1 --resamples 50 --trials 200 -m edits
compare-two*: compare TWO --show 3 --resamples 50 --trials 200
compare-source: compare --source source.txt cautious.txt eager.txt --resamples 50 --trials 200
compare-by-edit: compare TWO -m edits --by-edit --resamples 0 --trials 0
compare-gate*: compare TWO -m gleu QUICK --trials 0 --fail-if gleu<-0.9 --show 0
verify*: verify 'm2=0.8165 ± 0.044' --sample --for eager
board: board board
collect: collect new pilot.db --sample --judges 2
rank*: rank --sample QUICK
rank-default-resamples: rank --sample
rank-head-to-head*: rank --sample QUICK --head-to-head
rank-trueskill: rank --sample QUICK --ranker trueskill
rank-bradley-terry: rank --sample QUICK --ranker bradley_terry
rank-pairs: rank --sample QUICK --unit pairs --members expected
rank-mean-rank*: rank --sample QUICK --order mean_rank --value mean
rank-without: rank --sample QUICK --without noisy --confidence 0.5
rank-balanced: rank --sample QUICK --balanced --seed 3
agree: agree --sample
agree-weighted: agree --sample --kappa-weights linear --chance cohen
agree-groups*: agree --sample --group two=ana,bo --group rest=*
agree-minimum: agree --sample --minimum 60
agree-two: agree two.jsonl
plan*: plan --sample --systems eager cautious --simulations 50
plan-little: plan --sample --systems fluent noisy --simulations 50
plan-pairs: plan --sample --systems eager cautious --simulations 60 --pairs 2 --batch 50 --power 0.5
refs*: refs --sample QUICK
refs-sets*: refs --sample QUICK --set a=annotator:0 --set b=annotator:1 --set both=a+b --curve both
refs-cased: refs --sample QUICK --cased --worst 2 -m gleu
corpora*: corpora --sample QUICK -m gleu -m difficulty(measure=A) --against m2 --tier 2 --kinds 5
corpora-folders: corpora list.toml -m gleu --resamples 0 --kinds 0
scale: scale run SHARDS -m gleu -m m2 QUICK --engine loop
scale-plan: scale plan SHARDS
logs*: logs --source source.txt eager.txt
stress*: stress --sample gleu QUICK
stress-several: stress --sample m2 bleu QUICK
difficulty: difficulty --sample QUICK
difficulty-system*: difficulty --sample QUICK --system eager --tier 1
difficulty-examples: difficulty --sample QUICK --examples 3 --exclude-own
judge: judge --sample -m judge(repeats=1) -m 'judge(mode=edit, repeats=1)'
judge-dry-run: judge --sample --dry-run
meta*: meta --sample QUICK
meta-system: meta --sample QUICK --level system --window 3
meta-top*: meta --sample QUICK --level system --top 4 --no-tests
meta-without: meta --sample QUICK --without noisy --over sentences
meta-sentence: meta --sample QUICK --level sentence -m gleu -m m2
meta-no-tests: meta --sample QUICK --no-tests -m gleu -m m2
meta-one: meta --sample QUICK -m gleu
meta-conventions: meta --sample QUICK --level sentence -m gleu -m m2 CONVENTIONS
meta-matrix*: meta --sample QUICK --level system --no-tests --matrix
meta-ensemble*: meta --sample QUICK --level system --no-tests --ensemble
meta-alone*: meta --scores scores.tsv --scores people.tsv QUICK
meta-scores: meta --scores scores.tsv --human people.tsv QUICK
align: align --sample --sentences 3,24
align-dummies*: align --sample --sentences 5 -m difficulty --dummies
benchmark*: benchmark --sample QUICK -m gleu -m m2 --contests
train: train some --ratings rated.csv --dry-run
train-impara: train impara --gold gold.m2 --dry-run
report: report --sample -m gleu QUICK --force
check: check --gold gold.m2 eager.txt
check-shifted*: check --gold gold.m2 eager.txt shifted.txt
check-odd*: check odd.m2
check-texts: check TEXTS eager.txt --every
convert: convert gold.m2 --only-source -o out.txt --force
convert-extract**: convert odd.m2 --compatible --extract aligned
tokenise: tokenise source.txt --tokens characters -o cut.txt --force
difficulty-terminal**: difficulty --sample --terminal --sentences 2-9
data: data list
data-set**: data list sakaguchi16
metrics: metrics
metrics-gleu**: metrics gleu
rankers**: rankers
rankers-trueskill: rankers trueskill
cache: cache show
reproduce**: reproduce
reproduce-small*: reproduce small.toml
reproduce-summary*: reproduce small.toml --summary
"""
FORMS = ("json", "tsv", "latex", "markdown", "html")
# What is listed or counted, and not computed, has nothing that made it.
LISTED = {"cache", "collect", "convert", "data", "metrics", "rankers", "reproduce"}
# Their numbers depend on the time, the version or on keys that are drawn.
NOT_KEPT = {*LISTED, "board", "report", "tokenise", "train", "train-impara", "scale-plan"}
NOT_KEPT |= {"judge", "judge-dry-run"}
# What a report lists of itself.
CONTENTS = {"report", "signatures", "digests", "versions"}
# Names, which may be made of digits, and what a paper prints.
NAMES = {"annotator", "value", "first", "second", "printed", "published"}
# Words of sentences, which may be numbers.
TEXTS = {"source", "gold", "hypothesis", "reference", "correction", "old to new", *SAMPLE_SYSTEMS}
NUMBER = r"[+\-−]?(\d[\d,]*(\.\d+)?|\.\d+)([eE][+-]?\d+)?\s?%?"
NUMBER_OR_INTERVAL = re.compile(
    rf"\s*[(\[]?{NUMBER}(\s*(–|-|\.\.|,|to|±)\s*{NUMBER})?[)\]]?[*+#]?\s*"
)
ODD = """S He go home .
A 1 2|||Verb|||goes|||REQUIRED|||-NONE-|||0
A 9 10|||Verb|||goes|||REQUIRED|||-NONE-|||0

S She\u200bgo “ home ” .A 1 2|||V|||goes|||REQUIRED|||-NONE-|||0

"""
LIST = """[edits]
gold = "gold.m2"
outputs = ["eager.txt", "cautious.txt", "noisy.txt"]

[texts]
source = "source.txt"
references = "reference?.txt"
outputs = { cautious = "cautious.txt", noisy = "nothing.txt", other = "fluent.txt" }
"""


def _lines() -> dict[str, str]:
    """Each name with its stars, and the command line."""
    lines = (line.split(": ", 1) for line in RUNS.strip().splitlines())
    return {
        name: re.sub(r"\b[A-Z]{3,}\b", lambda found: WORDS[found[0]], line) for name, line in lines
    }


LINES = {name.rstrip("*"): line for name, line in _lines().items()}
TERMINAL = [name.rstrip("*") for name in _lines() if name.endswith("*")]
TABLES = [name for name in _lines() if not name.endswith("**")]
COMPUTED = [name.rstrip("*") for name in TABLES]


def _fill(folder: Path) -> Path:
    """The sample as files of a user, a shifted output and a gold file with faults."""
    fill_with_sample(folder)
    lines = (folder / "noisy.txt").read_text("utf-8").splitlines(keepends=True)
    judgments = (folder / "judgments.jsonl").read_text("utf-8").splitlines()
    names = sorted({json.loads(line)["judge"] for line in judgments})[:2]
    for name, text in {
        "shifted.txt": "".join(lines[1:] + lines[:1]),
        "odd.m2": ODD,
        "two.jsonl": "\n".join(line for line in judgments if json.loads(line)["judge"] in names),
        "scores.tsv": "system\tm\nA\t.3\nB\t.1\nC\t.2\nD\t.2\n",
        "people.tsv": "system\tp\nA\t1\nB\t3\nC\t2\nD\t4\n",
        "small.toml": SMALL,
        "list.toml": LIST,
        "rated.csv": rated_csv(),
    }.items():
        (folder / name).write_text(text, encoding="utf-8")
    sample_board(folder / "board")
    return folder


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory, chat_server: object) -> Path:
    """A folder of a user who copied the sample."""
    return _fill(tmp_path_factory.mktemp("user"))


@cache
def _in_forms(folder: Path, name: str) -> dict[str, Done]:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("ERRATA_DATA", raising=False)
        done = errata_in_forms(FORMS, *shlex.split(LINES[name]), cwd=folder)
    for path in (*folder.glob("new"), *folder.glob("pilot.db*")):  # what one run leaves
        path.rename(folder.parent / f"{folder.name}-{name}-{path.name}")
    return done


def _tables(folder: Path, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(_in_forms(folder, name)["json"].stdout)["tables"]
    return found


def _numbers(folder: Path, name: str) -> dict[str, list[list[Any]]]:
    """The rows of the tables; of texts only short ones, which are names."""
    return {
        table["name"]: [
            [v for v in row.values() if not isinstance(v, str) or len(v) < 25]
            for row in table["rows"]
        ]
        for table in _tables(folder, name)
    }


def _printed(folder: Path, name: str) -> str:
    """All that the user sees: output, messages, and the exit code where it is not 0."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("ERRATA_DATA", raising=False)
        done = run(LINES[name], cwd=folder, code=None, terminal=100)
    text = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout)
    text = text.replace(f"errata:{__version__}", "errata:VERSION")
    text = "\n".join(line.rstrip() for line in text.splitlines()) + "\n"
    if done.stderr:
        text += "--- messages\n" + done.stderr
    return text + (f"--- exit code {done.returncode}\n" if done.returncode else "")


def test_every_command_is_run() -> None:
    assert {line.split()[0] for line in LINES.values()} == COMMANDS.keys()
    kept = {f"{name}.txt" for name in TERMINAL}
    kept |= {f"{name}.json" for name in COMPUTED if name not in NOT_KEPT}
    assert {file.name for file in GOLDEN.iterdir()} == kept


@pytest.mark.parametrize("name", [name for name in COMPUTED if name not in NOT_KEPT])
def test_numbers_are_those_kept(user: Path, name: str) -> None:
    kept, found = json.loads((GOLDEN / f"{name}.json").read_text("utf-8")), _numbers(user, name)
    assert [*found] == [*kept]
    for table in kept:
        if not same_numbers(found[table], kept[table]):
            assert found[table] == kept[table], "if this is meant: make golden"


@pytest.mark.parametrize("name", TERMINAL)
def test_a_terminal_shows_what_is_kept(user: Path, name: str) -> None:
    before = (GOLDEN / f"{name}.txt").read_text("utf-8")
    now = _printed(user, name)
    if not alike(before, now):
        assert now == before, "if this is meant: make golden"


@pytest.mark.parametrize("name", COMPUTED)
def test_every_form_has_the_same_rows(user: Path, name: str) -> None:
    printed, found = _in_forms(user, name), _tables(user, name)
    _check_tsv(printed["tsv"].stdout, found)
    markdown = cells(printed["markdown"].stdout, "markdown")
    assert markdown == cells(printed["html"].stdout, "html")
    assert markdown == cells(printed["latex"].stdout, "latex")
    assert len(markdown) == len(found)
    for shown, table in zip(markdown, found, strict=True):
        assert len(shown[0]) == len(table["columns"])
        for texts, row in zip(shown[1:], table["rows"], strict=True):
            for text, value in zip(texts, row.values(), strict=True):
                assert _shows(text, value), (table["name"], text, value)
    _check_signatures(name, printed, found)


def _shows(text: str, value: Any) -> bool:
    """Whether a cell shows a number rounded, as it is or in percent."""
    if isinstance(value, dict):
        value = value.get("value")
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value is not None or text in ("", "-", "---")
    found = re.match(r"-?\d*\.?\d+", text)
    if found is None:
        return isinstance(value, int)  # places moved, shown as arrows
    most = 0.5000001 * 10.0 ** -len(found[0].partition(".")[2])
    return any(abs(float(found[0]) - scale * value) <= most for scale in (1, 100, -1))


def _check_tsv(text: str, found: list[dict[str, Any]]) -> None:
    """One table, a row a line, every column under a name of its own; pandas reads it."""
    rows = tsv_rows(text)
    frame = pandas.read_csv(StringIO(text), sep="\t", dtype=str)
    assert len(frame) == len(rows) == sum(len(table["rows"]) for table in found)
    assert [*frame.columns] == text.splitlines()[0].split("\t")
    named = ((table, row) for table in found for row in table["rows"])
    for (table, row), got in zip(named, rows, strict=True):
        if len(found) > 1:
            assert got.pop("table") == table["name"]
        if "signature" not in row:
            assert got.pop("signature", "") == " ".join(table.get("signature", "").split("\n"))
        wanted = [str(value) for value in flat([*row.values()]) if value != ""]
        shown = [cell for cell in got.values() if cell not in ("inf", "-inf")]  # null in JSON
        assert sorted(shown) == sorted(wanted), table["name"]


def _check_signatures(name: str, printed: dict[str, Done], found: list[dict[str, Any]]) -> None:
    """What was computed has a signature in every form, in short where people read."""
    unsigned = {table["name"] for table in found if not table.get("signature")}
    if LINES[name].split()[0] in LISTED and not name.startswith("reproduce-"):
        assert len(unsigned) == len(found)
    else:
        assert unsigned <= (CONTENTS if name == "report" else set())
    lines = [line for t in found if "signature" in t for line in t["signature"].split("\n")]
    for form in FORMS[1:]:
        text = html.unescape(printed[form].stdout)
        text = re.sub(r"\\textbar\{\}|\\\|", "|", text).replace("\\", "")
        for line in set(lines):
            short = f"#{signature_id(line)}"
            shown = short if form == "markdown" else line.replace("\\", "")
            assert text.count(shown) >= lines.count(line), (form, line)


def test_no_number_is_a_text(user: Path) -> None:
    """And every table has a name of its own."""
    texts = []
    for name in COMPUTED:
        found = _tables(user, name)
        assert len({table["name"] for table in found}) == len(found) > 0
        texts += [
            f"{name}: {table['name']}, {column}: {cell!r}"
            for table in found
            for row in table["rows"]
            for column, cell in row.items()
            if column not in NAMES | TEXTS
            and isinstance(cell, str)
            and (NUMBER_OR_INTERVAL.fullmatch(cell) or re.search(r"\d (–|±) [+-]?\d", cell))
        ]
    assert texts == []
    for text in ("0.849 – 0.920", "-0.1 – +0.2", "0.44#", "2-5", "183", ".5", "12 %", "1,312"):
        assert NUMBER_OR_INTERVAL.fullmatch(text), text
    for text in ("eager", "eager > cautious", "M:DET", "of 12 systems"):
        assert not NUMBER_OR_INTERVAL.fullmatch(text), text


def test_counts_are_whole_numbers(user: Path) -> None:
    """In JSON and so in TSV."""
    counts = {"pairs of decisions", "rankings", "compared", "cluster", "wins", "ties", "losses"}
    counts |= {"pairs", "metric agrees", "metric ties", "metric disagrees"}
    seen = set()
    for name in ("agree", "plan", "rank", "meta-one"):
        for table in _tables(user, name):
            for row in table["rows"]:
                for column in counts & row.keys():
                    seen.add(column)
                    assert row[column] is None or type(row[column]) is int, (name, column)
    assert seen == counts


def _documented() -> list[tuple[str, re.Pattern[str], re.Pattern[str]]]:
    """The rows of docs/json.md: a command, and what matches a name and the columns of its table."""

    def name(text: str) -> str:
        # A word in capitals, as SYSTEM_metrics has one; TP and F are names of their own.
        return re.sub(
            r"(?:(?<=_)|\b)(?:SYSTEM|METRIC|FIGURE|PART|JUDGE|SET|CORPUS|CORRELATION|PAPER|TABLE"
            r"|RANKER)(?=_|\b)",
            "[^\x1f]+",
            re.escape(text).replace("95\\ %", "[0-9.]+\\ %"),
        )

    def columns(text: str) -> str:
        found = ""
        for word, optional in re.findall(r"`([^`]+)`(\??)", text):
            several = word.endswith("...")
            one = f"(?:{name(word.removesuffix('...'))}\x1f)"
            found += f"{one}{'*' if several and optional else '+' if several else optional}"
        return found

    page = (Path(__file__).parents[2] / "docs" / "json.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([^`]+)` \| `([^`]+)` \| (`.+) \|$", page, re.MULTILINE)
    return [(c.split()[0], re.compile(name(n)), re.compile(columns(k))) for c, n, k in rows]


def test_the_page_on_json_names_every_table_and_its_columns(user: Path) -> None:
    rows = _documented()
    assert {command for command, _, _ in rows} == COMMANDS.keys()
    missing = set()
    for name in COMPUTED:
        command = LINES[name].split()[0]
        shares = command == "report"  # a report has the tables of the commands behind its sections
        own = [row for row in rows if row[0] == command or (shares and row[0] != "reproduce")]
        for table in _tables(user, name):
            keys = "".join(f"{column}\x1f" for column in table["columns"])
            called = re.sub(r"^stress_\d$", "stress", table["name"])  # the second of a name
            if not any(n.fullmatch(called) and k.fullmatch(keys) for _, n, k in own):
                missing.add((command, table["name"], *table["columns"]))
    assert not missing, "\n".join(map(str, sorted(missing)))


def test_a_terminal_shows_short_signatures(user: Path) -> None:
    done = errata(*shlex.split(LINES["score-compare"]), cwd=user)
    for table in _tables(user, "score-compare"):
        for line in table["signature"].split("\n"):
            assert f"#{signature_id(line)}" in done.stdout


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
    numbers = [
        [float(word) if "." in word else word for word in text.split()] for text in (first, second)
    ]
    assert same_numbers(*numbers) == same


def _write() -> None:
    import tempfile

    GOLDEN.mkdir(exist_ok=True, parents=True)
    for file in GOLDEN.iterdir():
        file.unlink()
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / "user").mkdir()
        folder = _fill(Path(place) / "user")
        for name in TERMINAL:
            (GOLDEN / f"{name}.txt").write_text(_printed(folder, name), encoding="utf-8")
        for name in COMPUTED:
            if name not in NOT_KEPT:
                text = ",\n".join(
                    f"{json.dumps(table)}:[\n"
                    + ",\n".join(
                        json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows
                    )
                    + "]"
                    for table, rows in _numbers(folder, name).items()
                )
                (GOLDEN / f"{name}.json").write_text(f"{{{text}}}\n", encoding="utf-8")


if __name__ == "__main__":
    _write()
