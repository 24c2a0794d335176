"""One name, one thing: among public classes, functions and types, and among modules."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

SRC = Path(__file__).resolve().parents[2] / "src" / "errata"
MODULES = sorted(SRC.rglob("*.py"))
# Systems are compared by errata.compare, judgments are made comparisons by errata.human.compare.
# Every command is `command` in a module of its own: the group imports it under that name.
SHARED = {"command", "compare"}
# Two floors of one house: the same subject in another layer. Whoever adds a row says which.
# (A command's module is named after the command.)
FLOORS = {
    "__main__": "what runs as a module: the command line, and where adapters are",
    "alignments": "what is shown, its text and its tables",
    "benchmark": "the study, its tables, its figure",
    "bertscore": "of two texts, and of a system",
    "checks": "of files, and their tables",
    "chunks": "difficulty's units, and the kernel that cuts and compares them",
    "claims": "a pasted score computed again, and its table",
    "comparison": "the study, and its tables",
    "corpora": "the study, its tables, its figure",
    "correlations": "tables and figures of how metrics agree with people",
    "counts": "what metrics count, as files; how often people judged one system better",
    "difficulty": "the metric, and its tables",
    "ensembles": "metrics combined, and their table",
    "errant": "ERRANT's edits, and the F over them",
    "gate": "conditions, their options and their table",
    "harper": "the checker, and the metric that counts its findings",
    "judge": "the metric, and its tables",
    "leaderboard": "the study, and its tables",
    "logs": "the study, and its tables",
    "m2": "the file format, and the metric it was made for",
    "matrix": "metric against metric, its tables, its figure",
    "ngrams": "overlaps of n-grams, and the kernel that counts them",
    "page": "of the heat map, and of reports",
    "rankings": "tables and figures of what people say",
    "ratings": "rated outputs in files, metrics against ratings, their table, their figure",
    "reference_sets": "the study, and its tables",
    "running": "references chosen by running totals: the kernel, and how it goes on part by part",
    "several_sets": "the study, its tables, its figures",
    "scores": "score files, and score tables",
    "stress": "the study, its table, its figure",
    "ter": "TER between texts, and the kernel that counts it",
    "training": "the room, and the tables of what was trained",
    "trueskill": "the ranker, and the kernel that plays",
    "writers": "who wrote which line, as files; who is left to review it",
}


def defined(path: Path) -> set[str]:
    """The public classes, functions and types that a module defines."""
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign):
            names = {target.id for target in node.targets if isinstance(target, ast.Name)}
            found |= {name for name in names if name[:1].isupper() and not name.isupper()}
    return {name for name in found if not name.startswith("_") and len(name) > 1}


def test_every_public_name_is_defined_once() -> None:
    places = defaultdict(list)
    for path in MODULES:
        if path.parent.name != "kernels":  # C types are spelt out in every kernel
            for name in defined(path) - SHARED:
                places[name].append(str(path.relative_to(SRC)))
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def test_modules_of_one_name_are_floors_of_one_subject() -> None:
    places = defaultdict(list)
    for path in MODULES:
        place = path.relative_to(SRC)
        if place.parts[0] == "cli":
            continue
        name = path.stem if path.stem != "__init__" else path.parent.name
        if len(place.parts) > 1 or path.stem != "__init__":
            places[name].append(str(place))
    several = {name for name, where in places.items() if len(where) > 1}
    assert several == set(FLOORS)
