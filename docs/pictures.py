"""The pictures of the documentation, drawn on the built-in sample: python docs/pictures.py.

A test draws them again and compares the words and numbers in them.
"""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

FOLDER = Path(__file__).parent / "pictures"
FILE = "FILE"  # where a command names it
RATINGS = str(Path(__file__).parents[1] / "src/errata/datasets/sample/ratings.csv")
# File -> the command that draws it.
PICTURES = {
    "corpora.svg": ("corpora", "--sample", "-m", "m2", "-m", "gleu", "--figure", FILE),
    "scatter.svg": ("meta", "--sample", "--level", "system", "--figure", f"scatter={FILE}"),
    "significance.svg": (
        *("meta", "--sample", "--level", "system", "--figure", f"significance={FILE}"),
    ),
    "sentences.svg": (
        *("meta", "--sample", "--level", "sentence", "--figure", f"sentences={FILE}"),
        *("--convention", "noties", "--convention", "accuracy"),
    ),
    "ratings.svg": (
        *("meta", "--sample", "--human", RATINGS, "--level", "sentence"),
        *("--figure", f"ratings={FILE}"),
    ),
    "ranking.svg": ("rank", "--sample", "--figure", FILE),
    "stress.svg": ("stress", "m2", "gleu", "--sample", "--figure", FILE),
    "map.svg": (
        *("difficulty", "--sample", "--annotator", "0", "--sentences", "2-7", "--figure", FILE),
        *("--conceal", "omissions", "--conceal", "alarms"),
    ),
    "groups.svg": (
        *("agree", "--sample", "--group", "two=ana,bo", "--group", "rest=*", "--figure", FILE),
    ),
    **{
        f"sets-{kind}.svg": (
            *(
                "references",
                "--sample",
                "--set",
                "first=annotator:0",
                "--set",
                "second=annotator:1",
            ),
            *("--set", "both=first+second", "--curve", "both", "--figure", f"{kind}={FILE}"),
        )
        for kind in ("edits", "correlations", "rankings", "curve")
    },
    "matrix.svg": ("meta", "--sample", "--level", "system", "--figure", f"matrix={FILE}"),
}
# Those drawn on the data sets, which take long, and the script that draws them.
FROM_DATA = {"benchmark.svg": "docs/benchmark.py"}


# What a terminal shows, as a picture of it.
TERMINALS = {"terminal.svg": ("score", "--sample")}
# Pages as a browser shows them: python docs/screenshots.py, which needs Chromium.
SCREENSHOTS = ("report.png", "explorer.png", "collect-judge.png", "collect-organiser.png")


def draw(name: str, folder: Path) -> None:
    """Draw one picture into a folder."""
    if name in TERMINALS:
        (folder / name).write_text(_terminal(TERMINALS[name]), encoding="utf-8")
        return
    words = (word.replace(FILE, str(folder / name)) for word in PICTURES[name])
    _run([*words, "--force", "-q"])


def _run(words: list[str]) -> None:
    from errata.cli.main import main

    try:
        main(words)
    except SystemExit as stop:
        if stop.code:
            raise


def _terminal(words: tuple[str, ...]) -> str:
    """What a command prints, as rich draws a terminal."""
    from rich.console import Console
    from rich.text import Text

    printed = StringIO()
    with redirect_stdout(printed):
        _run([*words])
    console = Console(record=True, width=80, file=StringIO())
    console.print(Text(f"$ errata {' '.join(words)}", style="bold"))
    console.print(Text(printed.getvalue().rstrip()), highlight=False)
    return console.export_svg(title="errata", unique_id="terminal")


if __name__ == "__main__":
    for picture in sys.argv[1:] or [*PICTURES, *TERMINALS]:
        draw(picture, FOLDER)
