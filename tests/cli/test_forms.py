"""What commands print: every form has the same rows, and the numbers are those kept.

The commands are in ``runs.txt``. ``tests/golden/printed`` has the numbers of each (``NAME.json``, a
line per row), and what a terminal shows once for each kind of table (``NAME.txt``). After an
intended change, ``make golden`` writes them again; read the difference like code. Numbers may
differ in the last digits, as other machines round.
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
from command import errata_in_forms, run
from errata import __version__
from errata.cli.main import COMMANDS
from errata.core.signatures import short_signature
from errata.datasets.load import SAMPLE_SYSTEMS
from printed import alike, cells, flat, same_numbers, tsv_rows
from rated_outputs import rated_csv
from small_experiment import SMALL

Tables = list[dict[str, Any]]
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
FORMS = ("json", "tsv", "latex", "markdown", "html")
# What is listed or counted, and not computed, has nothing that made it.
LISTED = {"cache", "collect", "convert", "data", "metrics", "rankers", "reproduce"}
# Their numbers depend on the time, the version or on keys that are drawn.
NOT_KEPT = {*LISTED, "leaderboard", "report", "tokenise", "train", "train-impara", "scale-plan"}
NOT_KEPT |= {"judge", "judge-dry-run"}
# What a report lists of itself.
CONTENTS = {"report", "signatures", "digests", "versions"}
# Names, which may be made of digits, and what a paper prints.
NAMES = {"annotator", "value", "first", "second", "printed", "published"}
# Words of sentences, which may be numbers.
TEXTS = {"source", "gold", "hypothesis", "reference", "correction", "old to new", *SAMPLE_SYSTEMS}
COUNTS = {"pairs of decisions", "rankings", "compared", "cluster", "wins", "ties", "losses"}
COUNTS |= {"pairs", "metric agrees", "metric ties", "metric disagrees"}
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
    text = Path(__file__).with_name("runs.txt").read_text("utf-8")
    lines = (line.split(": ", 1) for line in text.splitlines() if not line.startswith("#"))
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


def _in_forms(folder: Path, name: str) -> dict[str, str]:
    """Run a command once and return what it prints in every form but that of terminals."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("ERRATA_DATA", raising=False)
        done = errata_in_forms(FORMS, *shlex.split(LINES[name]), cwd=folder)
    for path in (*folder.glob("new"), *folder.glob("pilot.db*")):  # what one run leaves
        path.rename(folder.parent / f"{folder.name}-{name}-{path.name}")
    return {form: each.stdout for form, each in done.items()}


def _numbers(found: Tables) -> dict[str, list[list[Any]]]:
    """The rows of the tables; of texts only short ones, which are names."""
    return {
        table["name"]: [
            [v for v in row.values() if not isinstance(v, str) or len(v) < 25]
            for row in table["rows"]
        ]
        for table in found
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


@pytest.mark.parametrize("name", COMPUTED)
def test_numbers_are_those_kept_and_the_same_in_every_form(user: Path, name: str) -> None:
    printed = _in_forms(user, name)
    found: Tables = json.loads(printed["json"])["tables"]
    assert len({table["name"] for table in found}) == len(found) > 0
    if name not in NOT_KEPT:
        kept, now = json.loads((GOLDEN / f"{name}.json").read_text("utf-8")), _numbers(found)
        assert [*now] == [*kept]
        for table in kept:
            if not same_numbers(now[table], kept[table]):
                assert now[table] == kept[table], "if this is meant: make golden"
    _check_cells(printed, found)
    _check_tsv(printed["tsv"], found)
    _check_signatures(name, printed, found)
    _check_types(name, found)
    _check_documented(LINES[name].split()[0], found)


@pytest.mark.parametrize("name", TERMINAL)
def test_a_terminal_shows_what_is_kept(user: Path, name: str) -> None:
    before = (GOLDEN / f"{name}.txt").read_text("utf-8")
    now = _printed(user, name)
    if not alike(before, now):
        assert now == before, "if this is meant: make golden"


def _check_cells(printed: dict[str, str], found: Tables) -> None:
    """Markdown, HTML and LaTeX show the cells of JSON."""
    markdown = cells(printed["markdown"], "markdown")
    assert markdown == cells(printed["html"], "html")
    assert markdown == cells(printed["latex"], "latex")
    assert len(markdown) == len(found)
    for shown, table in zip(markdown, found, strict=True):
        assert len(shown[0]) == len(table["columns"])
        for texts, row in zip(shown[1:], table["rows"], strict=True):
            for text, value in zip(texts, row.values(), strict=True):
                assert _shows(text, value), (table["name"], text, value)


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


def _check_tsv(text: str, found: Tables) -> None:
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


def _check_signatures(name: str, printed: dict[str, str], found: Tables) -> None:
    """What was computed has a signature in every form, in short where people read."""
    unsigned = {table["name"] for table in found if not table.get("signature")}
    if LINES[name].split()[0] in LISTED and not name.startswith("reproduce-"):
        assert len(unsigned) == len(found)
    else:
        assert unsigned <= (CONTENTS if name == "report" else set())
    lines = [line for t in found if "signature" in t for line in t["signature"].split("\n")]
    for form in FORMS[1:]:
        text = html.unescape(printed[form])
        text = re.sub(r"\\textbar\{\}|\\\|", "|", text).replace("\\", "")
        for line in set(lines):
            short = short_signature(line)[-17:]
            shown = short if form == "markdown" else line.replace("\\", "")
            assert text.count(shown) >= lines.count(line), (form, line)


def _check_types(name: str, found: Tables) -> None:
    """No number is a text, and counts are whole numbers."""
    counting = name in ("agree", "plan", "rank", "meta-one")
    for table in found:
        for row in table["rows"]:
            for column, cell in row.items():
                if isinstance(cell, str) and column not in NAMES | TEXTS:
                    assert not NUMBER_OR_INTERVAL.fullmatch(cell), (table["name"], column, cell)
                    assert not re.search(r"\d (–|±) [+-]?\d", cell), (table["name"], column, cell)
                if counting and column in COUNTS:
                    assert cell is None or type(cell) is int, (table["name"], column, cell)


@cache
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


def _check_documented(command: str, found: Tables) -> None:
    """docs/json.md names every table and its columns."""
    rows = _documented()
    shares = command == "report"  # a report has the tables of the commands behind its sections
    own = [row for row in rows if row[0] == command or (shares and row[0] != "reproduce")]
    for table in found:
        keys = "".join(f"{column}\x1f" for column in table["columns"])
        called = re.sub(r"^stress_\d$", "stress", table["name"])  # the second of a name
        named = any(n.fullmatch(called) and k.fullmatch(keys) for _, n, k in own)
        assert named, (table["name"], *table["columns"])


def test_the_page_on_json_names_every_command() -> None:
    assert {command for command, _, _ in _documented()} == COMMANDS.keys()


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
                found = json.loads(_in_forms(folder, name)["json"])["tables"]
                text = ",\n".join(
                    f"{json.dumps(table)}:[\n"
                    + ",\n".join(
                        json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows
                    )
                    + "]"
                    for table, rows in _numbers(found).items()
                )
                (GOLDEN / f"{name}.json").write_text(f"{{{text}}}\n", encoding="utf-8")


if __name__ == "__main__":
    _write()
