"""Print what changed in a version, or stop where its tag, version, changelog, citation disagree.

``python .ci/release.py v1.2.3``; needs nothing but Python.
"""

import re
import sys
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def changes(tag: str, root: Path = ROOT) -> str:
    """The section of the changelog that belongs to a tag, checked."""

    def read(name: str) -> str:
        return (root / name).read_text(encoding="utf-8")

    def field(pattern: str, name: str) -> str:
        found = re.search(pattern, read(name), re.M)
        return found[1] if found else "nothing"

    stands = {
        "src/errata/__init__.py": field(r'^__version__ = "(.+)"$', "src/errata/__init__.py"),
        "CITATION.cff": field(r"^version: (.+)$", "CITATION.cff"),
        "CHANGELOG.md": field(r"^## (\S+)", "CHANGELOG.md"),
    }
    for name, version in stands.items():
        if tag != f"v{version}":
            raise SystemExit(f"the tag is {tag}, but {name} has {version}")
    released = field(r"^## \S+ \((.+)\)$", "CHANGELOG.md")
    try:
        date.fromisoformat(released)
    except ValueError:
        raise SystemExit(f"CHANGELOG.md gives no date for {tag}: {released}") from None
    if field(r"^date-released: (.+)$", "CITATION.cff") != released:
        raise SystemExit(f"CITATION.cff does not have date-released: {released}")
    section = re.split(r"^## .*\n", read("CHANGELOG.md"), flags=re.M)[1]
    return section.strip()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python .ci/release.py TAG")
    print(changes(sys.argv[1]))
