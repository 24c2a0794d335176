"""Write the pages that follow from the package: commands, glossary, gallery.

``python docs/reference.py`` writes them; ``--check`` only says whether they are up to date.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import click

from errata.cli.main import COMMANDS, cli


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


def glossary_page() -> str:
    """The words of the field, as reports explain them."""
    from errata.tables.html_table import glossary

    text = [
        "# Glossary\n\nThe words that tables and [reports](report.md) use; a report explains them "
        "where they stand. This page is made from what reports say.\n"
    ]
    for term in sorted(glossary().values(), key=lambda each: each.name.lower()):
        others = [other for other in term.also if other.lower() != term.name.lower()]
        also = f" Also: {', '.join(others)}." if others else ""
        text.append(f"**{term.name}**{{ #{term.key} }}\n:   {term.says}{also}\n")
    return "\n".join(text)


def gallery_page() -> str:
    """Every picture of the documentation, with the command that draws it."""
    pictures = runpy.run_path(str(Path(__file__).with_name("pictures.py")))["PICTURES"]
    text = [
        "# Gallery\n\nEvery picture here is drawn on the built-in sample by the command above it; "
        "a test draws them again and compares their words and numbers. Names that end in `.png` or "
        "`.pdf` draw the same in those forms.\n"
    ]
    for name, words in pictures.items():
        shown = (Path(word).name if "/" in word else word for word in words)
        command = " ".join(shown).replace("FILE", name)
        title = name.removesuffix(".svg").replace("-", " ").capitalize()
        text.append(f"## {title}\n\n```sh\nerrata {command}\n```\n")
        text.append(f"![{title}, as errata {words[0]} draws it](pictures/{name})\n")
    return "\n".join(text)


MADE = {"cli.md": page, "glossary.md": glossary_page, "gallery.md": gallery_page}


if __name__ == "__main__":
    for name, make in MADE.items():
        path = Path(__file__).with_name(name)
        if "--check" not in sys.argv:
            path.write_text(make(), encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != make():
            sys.exit(f"docs/{name} is out of date: run python docs/reference.py")
