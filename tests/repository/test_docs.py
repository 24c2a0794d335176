"""The documentation is true: metrics, examples, pictures and generated pages."""

from __future__ import annotations

import doctest
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

import errata
from errata.cli.main import COMMANDS, EXIT_CODES
from errata.core.errors import ErrataError
from errata.metrics import METRICS, parse

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(page: Path, *languages: str) -> list[str]:
    """The fenced blocks of these languages."""
    found = re.findall(r"^```(\w*)\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)
    return [text for language, text in found if language in languages]


def test_exit_codes_are_those_of_the_docs() -> None:
    page = (ROOT / "docs" / "limits.md").read_text(encoding="utf-8")
    rows = [f"| {code} | {meaning} |" for code, meaning in EXIT_CODES.items()]
    assert "\n".join(["|---|---|", *rows, ""]) in page


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


DOCS = Path(__file__).resolve().parents[2] / "docs"
NOUNS = (DOCS / "nouns.md").read_text(encoding="utf-8")
API = (DOCS / "api.md").read_text(encoding="utf-8")


def test_the_examples_of_the_nouns_run() -> None:
    code = "\n".join(re.findall(r"^```python\n(.*?)^```", NOUNS, re.M | re.S))
    examples = doctest.DocTestParser().get_doctest(code, {}, "nouns.md", "docs/nouns.md", 0)
    assert len(examples.examples) > 20
    output: list[str] = []
    doctest.DocTestRunner(verbose=False).run(examples, out=output.append)  # else pytest -v decides
    assert output == []


def test_every_page_is_in_the_menu_and_reached_from_the_first() -> None:
    pages = {
        p.relative_to(DOCS).as_posix() for p in DOCS.rglob("*") if p.suffix in (".md", ".ipynb")
    }
    menu = (DOCS.parent / "mkdocs.yml").read_text("utf-8").partition("\nnav:\n")[2]
    assert {
        line.rpartition(": ")[2] for line in menu.splitlines() if not line.endswith(":")
    } == pages
    index = (DOCS / "index.md").read_text("utf-8")
    assert {*re.findall(r"\]\(([^)#]+)", index)} >= pages - {"index.md"}


def named() -> list[str]:
    return re.findall(r"^::: (\S+)$", API, re.M)


def test_what_the_interface_page_names_exists() -> None:
    for name in named():
        module, _, attribute = name.rpartition(".")
        if module == "errata":
            assert import_module(name).__all__, name
        else:
            assert getattr(import_module(module), attribute).__doc__, name


def test_the_interface_page_has_every_public_name() -> None:
    listed = {name.rpartition(".")[2] for name in named()}
    public = set(errata.__all__) - {"__version__"} | set(import_module("errata.testing").__all__)
    assert public <= listed
    for module in ("errata.io", "errata.human"):
        assert module in named()
        bare = [
            name
            for name in import_module(module).__all__
            if callable(thing := getattr(import_module(module), name)) and not thing.__doc__
        ]
        assert bare == [], "without a docstring they are left out"
