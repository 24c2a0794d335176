"""The documentation holds what it says: links, commands, examples, the reference of commands."""

from __future__ import annotations

import re
import runpy
import shlex
import subprocess
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from types import ModuleType

import click
import pytest

from errata.cli import COMMANDS, cli
from errata.errors import ErrataError
from errata.metrics import METRICS, parse

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
IDS = [str(p.relative_to(ROOT)) for p in PAGES]


def blocks(page: Path, *languages: str) -> list[str]:
    """The fenced blocks of these languages."""
    found = re.findall(r"^```(\w*)\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)
    return [text for language, text in found if language in languages]


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def commands(page: Path) -> list[str]:
    """Whole commands in blocks; a mention in running text need not be complete."""
    lines = [
        line.removeprefix("$ ").split("  #")[0].strip()
        for text in blocks(page, "sh", "console")
        for line in text.splitlines()
    ]
    return [
        line
        for line in lines
        if line.startswith("errata ")
        and not line.endswith("\\")
        and "|" not in line
        and "…" not in line
        and "..." not in line
        and "$(" not in line
        and "[" not in line
        and ">" not in line
    ]


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_commands_exist_with_these_options(page: Path) -> None:
    for line in commands(page):
        name, *arguments = shlex.split(line)[1:]
        if name.startswith("-"):
            continue
        assert name in COMMANDS, line
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        if isinstance(command, click.Group):
            if not arguments or arguments[0].startswith("-"):
                continue
            command = command.get_command(click.Context(command), arguments.pop(0))
            assert command is not None, line
        if "--help" in arguments:
            continue
        try:
            command.make_context(name, arguments, resilient_parsing=False)
        except click.UsageError as error:
            pytest.fail(f"{line}: {error.message}")


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_metrics_written_in_the_docs_can_be_read(page: Path) -> None:
    names = "|".join(METRICS.builtin)
    for text in set(re.findall(rf"`((?:{names})\([^`]*\))`", page.read_text(encoding="utf-8"))):
        if "..." not in text and "…" not in text:
            try:
                parse(text)
            except ErrataError as error:
                pytest.fail(f"{text}: {error}")


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


def test_wheels_of_weights_are_pinned_alike() -> None:
    pinned = (ROOT / "requirements" / "lm-models.txt").read_text(encoding="utf-8").splitlines()
    page = (ROOT / "docs" / "language-models.md").read_text(encoding="utf-8").splitlines()
    shown = {line for line in page if "--hash=" in line}
    assert len(shown) == 2
    assert shown <= set(pinned)
