"""Write docs/cli.md from the commands' own help, so that the two cannot differ.

``python docs/reference.py`` writes it; ``--check`` only says whether it is up to date.
"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from errata.cli import COMMANDS, cli

PAGE = Path(__file__).with_name("cli.md")


def sections(command: click.Command, name: str, depth: int = 2) -> list[str]:
    """Help of a command and of its subcommands, one section each."""
    context = click.Context(
        command, info_name=name, terminal_width=88, max_content_width=88, **cli.context_settings
    )
    found = [f"{'#' * depth} `{name}`\n\n```text\n{command.get_help(context)}\n```\n"]
    if isinstance(command, click.Group):
        for inner in command.list_commands(context):
            child = command.get_command(context, inner)
            assert child is not None
            found += sections(child, f"{name} {inner}", depth + 1)
    return found


def page() -> str:
    """The whole page."""
    context = click.Context(cli)
    commands = [(name, cli.get_command(context, name)) for name in COMMANDS]
    text = [
        "# Command line\n\nEvery command prints a table, or with `--format` JSON, TSV, LaTeX, "
        "Markdown or HTML (`--json` for short). Bad input ends with one line on standard error "
        "and exit code 2.\n\nThis page is made from the commands' own help by "
        "`docs/reference.py`.\n"
    ]
    for name, command in commands:
        assert command is not None
        text += sections(command, f"errata {name}")
    return "\n".join(text)


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(
            0
            if PAGE.exists() and PAGE.read_text(encoding="utf-8") == page()
            else "docs/cli.md is out of date: run python docs/reference.py"
        )
    PAGE.write_text(page(), encoding="utf-8")
