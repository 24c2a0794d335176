"""The pages for programmers: the nouns' examples run, the interface page has every public name."""

from __future__ import annotations

import doctest
import re
from importlib import import_module
from pathlib import Path

import errata

DOCS = Path(__file__).resolve().parents[2] / "docs"
NOUNS = (DOCS / "nouns.md").read_text(encoding="utf-8")
PAGES = (".md", ".ipynb")
API = (DOCS / "api.md").read_text(encoding="utf-8")


def test_the_examples_of_the_nouns_run() -> None:
    code = "\n".join(re.findall(r"^```python\n(.*?)^```", NOUNS, re.M | re.S))
    examples = doctest.DocTestParser().get_doctest(code, {}, "nouns.md", "docs/nouns.md", 0)
    assert len(examples.examples) > 20
    output: list[str] = []
    doctest.DocTestRunner(verbose=False).run(examples, out=output.append)  # else pytest -v decides
    assert output == []


def test_every_noun_has_its_section_in_which_it_is_made_and_checked() -> None:
    sections = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", NOUNS, re.M | re.S))
    nouns = ["Edit", "Reference", "Corpus", "Hypotheses", "Metric", "Judgment", "Scores"]
    assert list(sections) == nouns
    assert set(nouns) <= set(errata.__all__)
    for section in sections.values():
        assert ">>> " in section
        assert "Checked: " in section


def test_every_page_is_in_the_menu_and_reached_from_the_first() -> None:
    pages = {p.relative_to(DOCS).as_posix() for p in DOCS.rglob("*") if p.suffix in PAGES}
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
