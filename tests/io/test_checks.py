"""Damage to whole files is named; sound outputs and gold sets stay without a finding."""

from __future__ import annotations

import ast
import json
import re
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeGuard

import pytest

from command import errata
from errata.data import Corpus, Hypotheses
from errata.datasets import sample_corpus, sample_systems
from errata.io.checks.alignment import check_alignment
from errata.io.checks.damage import check_edit_offsets, check_plain_text

OURS = ("quoted-lines", "prefix", "columns", "case", "cut-lines", "normalisation", "refusal")
SORRY = "I'm sorry, but I can't help with that ."


def codes(corpus: Corpus, lines: list[str]) -> set[str]:
    found = check_alignment(corpus, Hypotheses("ours", tuple(lines)))
    return {each.code for each in found if each.severity != "note"}


DAMAGE: dict[str, tuple[str, Callable[[int, str, str], str]]] = {
    "upper case": ("case", lambda i, s, line: line.upper()),
    "first letters only": ("case", lambda i, s, line: line.capitalize()),
    "a prefix": ("prefix", lambda i, s, line: f"Corrected: {line}"),
    "a prefix of tokens": ("prefix", lambda i, s, line: f"Corrected sentence : {line}"),
    "numbers": ("prefix", lambda i, s, line: f"{i + 1}. {line}"),
    "quotation marks": ("quoted-lines", lambda i, s, line: f'"{line}"'),
    "a Chinese prefix": ("prefix", lambda i, s, line: f"修改后：{line}"),
    "typographic quotation marks": ("quoted-lines", lambda i, s, line: f"“{line}”"),
    "the source beside": ("columns", lambda i, s, line: f"{s}\t{line}"),
    "refusals": ("refusal", lambda i, s, line: SORRY if i % 5 == 4 else line),
    "one text": ("refusal", lambda i, s, line: "Sin cambios ." * 4 if i % 9 == 4 else line),
    "cut lines": ("cut-lines", lambda i, s, line: " ".join(line.split()[:8])),
    "cut letters": ("cut-lines", lambda i, s, line: line[:30]),
}


@pytest.mark.parametrize("what", DAMAGE)
def test_damage_is_named(what: str) -> None:
    code, harm = DAMAGE[what]
    corpus = sample_corpus()
    eager = next(each for each in sample_systems() if each.system == "eager")
    lines = [
        harm(i, source, line)
        for i, (source, line) in enumerate(zip(corpus.sources, eager.sentences, strict=True))
    ]
    assert code in codes(corpus, lines)
    few = [*eager.sentences]
    few[4] = lines[4]  # one such line may be what somebody wrote
    assert not codes(corpus, few) & {*OURS}


def test_lower_case_of_the_gold_is_named() -> None:
    corpus = sample_corpus()
    eager = next(each for each in sample_systems() if each.system == "eager")
    lowered = replace(corpus, sources=tuple(map(str.lower, corpus.sources)))
    assert "case" in codes(lowered, list(eager.sentences))
    # But not where the references bring in capital letters too, as for texts written without them.
    texts = [" ".join(s.lower().split()) for s in corpus.sources]
    chat = Corpus.from_texts(texts, [[s.capitalize() for s in texts]])
    assert "case" not in codes(chat, [s.capitalize() for s in texts])


def test_unicode_forms_are_named_and_normalised(tmp_path: Path) -> None:
    texts = [f"Er gehen nach Köln und kauft schönes Gemüse am Tag {i} ." for i in range(40)]
    right = [text.replace("gehen", "geht") for text in texts]
    (tmp_path / "src").write_text("\n".join(texts) + "\n", encoding="utf-8")
    (tmp_path / "ref").write_text("\n".join(right) + "\n", encoding="utf-8")
    apart = unicodedata.normalize("NFD", "\n".join(right))
    (tmp_path / "out").write_text(f"{apart}\n", encoding="utf-8")
    assert "normalisation" in codes(Corpus.from_texts(texts, [right]), apart.split("\n"))
    files = ["--source", tmp_path / "src", "--refs", tmp_path / "ref", tmp_path / "out"]
    done = errata("score", *files, "-m", "gleu", "--json", "--resamples", "0")
    assert "Unicode form" in done.stderr
    done = errata("score", *files, "-m", "gleu", "--json", "--resamples", "0", "--normalise", "NFC")
    assert "Unicode form" not in done.stderr
    assert "1.0" in done.stdout
    assert "NFC" in done.stdout  # in the signature


def test_gold_offsets_counted_from_1_are_named() -> None:
    corpus = sample_corpus()
    assert not check_edit_offsets(corpus, "gold.m2")
    moved = tuple(
        tuple(
            replace(
                reference,
                edits=tuple(
                    replace(edit, start=edit.start + 1, end=edit.end + 1)
                    for edit in reference.edits or ()
                    if edit.end < len(source.split())
                ),
            )
            for reference in references
        )
        for source, references in zip(corpus.sources, corpus.references, strict=True)
    )
    (found,) = check_edit_offsets(replace(corpus, references=moved), "gold.m2")
    assert (found.code, found.path) == ("shifted-edits", "gold.m2")


def test_sound_samples_have_no_finding() -> None:
    corpus = sample_corpus()
    for system in sample_systems():
        assert not codes(corpus, list(system.sentences)) & {*OURS}, system
    assert "columns" not in codes(Corpus.from_texts(["  "] * 20), ["\t"] * 20)  # no text at all


SENTENCES = ["He go home .", "I likes it .", "She have a dog ."]
OBJECTS = [json.dumps({"source": s, "output": s}) for s in SENTENCES]
REFUSED = {
    "JSON lines": (OBJECTS, "JSON object"),
    "JSON": (json.dumps([{"a": 1}, {"a": 2}], indent=1).split("\n"), "the file is JSON"),
    "CSV": (["id,Source,Prediction", *(f"{i},{s},{s}" for i, s in enumerate(SENTENCES))], "CSV"),
    "TSV": (["src\tref_1", *(f"{s}\t{s}" for s in SENTENCES)], "CSV"),
    "essays": (["### essay_id = e1", *SENTENCES], "essay heading"),
    "M2": (["S He go .", "A 1 2|||V|||goes|||REQUIRED|||-NONE-|||0", ""], "this is M2"),
}
TEXTS = (
    SENTENCES,
    ["{ a } is a set , and so is { b } .", "[ 1 ] See the first chapter ."],
    ["Source , target , and output are words .", "source , target , and output ."],
    ["### is not a heading", "A 3 4 is a size ."],
    ["S is a letter .", "A 3 4 is a size ."],
    ["source, the", "target"],
    ["", "  "],
    ["[", '"a"', "]"],
    [],
)


@pytest.mark.parametrize("what", REFUSED)
def test_containers_are_refused_in_every_role(what: str, tmp_path: Path) -> None:
    lines, message = REFUSED[what]
    (tmp_path / "odd.txt").write_text("".join(f"{line}\n" for line in lines))
    fine = [SENTENCES[i % 3] for i in range(len(lines))]
    (tmp_path / "fine.txt").write_text("".join(f"{line}\n" for line in fine))
    for roles in (("odd", "fine", "fine"), ("fine", "odd", "fine"), ("fine", "fine", "odd")):
        source, refs, output = (f"{role}.txt" for role in roles)
        run = ("score", "--source", source, "--refs", refs, f"ours={output}", "-m", "gleu")
        done = errata(*run, "--resamples", "0", cwd=tmp_path, code=2)
        assert "odd.txt:1: " in done.stderr
        assert message in done.stderr
        checked = errata("check", *run[1:6], cwd=tmp_path, code=2)
        assert "[container]" in checked.stdout


@pytest.mark.parametrize("lines", TEXTS)
def test_texts_are_no_containers(lines: list[str]) -> None:
    assert check_plain_text(lines, "text") == []


ROOT = Path(__file__).resolve().parents[2]
# Where a code stands among the arguments of a call, by the name of what is called.
POSITION = {"Finding": 5, "warn": 1}


def codes_in_source() -> set[str]:
    """The codes of calls that make findings, and of the tables of checks."""
    found = set()
    for path in (ROOT / "src" / "errata" / "io").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "id", getattr(node.func, "attr", ""))
                place = POSITION.get(name, len(node.args))
                found |= {a.value for a in node.args[place : place + 1] if is_code(a)}
            elif isinstance(node, ast.Tuple) and path.parts[-2:] == ("checks", "text.py"):
                found |= {e.value for e in node.elts[-1:] if is_code(e)}
                found |= {e.value for e in node.elts if is_code(e) and "-" in e.value}
            elif isinstance(node, ast.Tuple) and path.parts[-2:] == ("checks", "damage.py"):
                found |= {e.value for e in node.elts[:1] if is_code(e)}
    return found


def is_code(node: ast.AST) -> TypeGuard[ast.Constant]:
    return isinstance(node, ast.Constant) and bool(re.fullmatch("[a-z-]+", str(node.value)))


def test_every_code_is_documented():
    page = (ROOT / "docs" / "checks.md").read_text()
    documented = set(re.findall(r"^\| `([a-z-]+)` \|", page, re.MULTILINE))
    assert documented == codes_in_source()
    assert {"shifted", "unsorted-edits", "double-space"} <= documented
