"""Mutation testing: break the package in hundreds of small ways; the tests must notice each.

    python .ci/mutation.py map                      # which test runs which line (once, minutes)
    python .ci/mutation.py run cli --number 500     # break, run the tests of that line, mend

A mutant changes one spot: a comparison, a sign, a number, a condition, a keyword that is no longer
passed on. Only the tests that run the line are run, quickest first, until one fails. The file is
changed in place and put back; work on a copy of the repository. Needs the package ``coverage``.
"""

from __future__ import annotations

import argparse
import ast
import json
import multiprocessing
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "errata"
PACKAGES = ("io", "metrics", "human", "meta", "scoring", "tables", "reports", "cli", "collect")
PACKAGES += ("scale", "comparison", "difficulty", "references", "leaderboard")

COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}
SIGNS: dict[type[ast.operator], str] = {
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "/",
    ast.Div: "*",
    ast.FloorDiv: "*",
    ast.Mod: "*",
    ast.BitAnd: "|",
    ast.BitOr: "&",
}
# Keywords that no output can show: wording, layout of memory, what only a type checker reads.
UNSEEN = ("help", "metavar", "short_help", "epilog", "strict", "stacklevel", "remedy", "slots")
FIRST = 12  # tests run before the others are imported
# What most tests import, and is imported once for all mutants.
THIRD_PARTY = ("numpy", "scipy.stats", "scipy.optimize", "click.testing", "rich.console")
THIRD_PARTY += ("rapidfuzz", "sacrebleu", "jinja2", "sqlalchemy", "starlette.testclient")
THIRD_PARTY += ("uvicorn", "httpx", "hypothesis", "pyarrow.parquet", "distributed")
# Tests that read or start the package instead of running its lines: options and declarations.
OF_DECLARATIONS = ("tests/repository/test_docs.py::test_the_reference_of_commands_is_up_to_date",)


@dataclass(frozen=True)
class Mutant:
    """One spot of one file, from character to character, and what stands there instead."""

    file: str
    line: int
    start: int
    end: int
    text: str
    kind: str


class Spots(ast.NodeVisitor):
    """Finds what can be broken; annotations, messages and `__all__` are left alone."""

    def __init__(self, file: Path) -> None:
        self.text = file.read_text(encoding="utf-8")
        self.name = file.relative_to(SOURCE).as_posix()
        self.starts = [0]
        for line in self.text.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.lines = self.text.splitlines()
        self.found: list[Mutant] = []
        self.visit(ast.parse(self.text))

    def _at(self, line: int, column: int) -> int:
        # The syntax tree counts bytes.
        return self.starts[line - 1] + len(self.lines[line - 1].encode()[:column].decode())

    def _span(self, node: ast.AST) -> tuple[int, int]:
        return (
            self._at(node.lineno, node.col_offset),  # type: ignore[attr-defined]
            self._at(node.end_lineno, node.end_col_offset),  # type: ignore[attr-defined]
        )

    def _put(self, node: ast.AST, start: int, end: int, text: str, kind: str) -> None:
        self.found.append(Mutant(self.name, node.lineno, start, end, text, kind))  # type: ignore[attr-defined]

    def _between(self, left: ast.expr, right: ast.expr, text: str, kind: str) -> None:
        start, end = self._span(left)[1], self._span(right)[0]
        gap = self.text[start:end]
        # Brackets and line breaks around the sign stay.
        bare = gap.strip("() \n")
        if bare and "#" not in gap:
            begin = start + gap.index(bare)
            self._put(left, begin, begin + len(bare), text, kind)

    def visit_Compare(self, node: ast.Compare) -> None:
        left = node.left
        for sign, right in zip(node.ops, node.comparators, strict=True):
            self._between(left, right, COMPARISONS[type(sign)], "comparison")
            left = right
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if type(node.op) in SIGNS and not isinstance(node.left, ast.JoinedStr):
            self._between(node.left, node.right, SIGNS[type(node.op)], "sign")
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        other = "or" if isinstance(node.op, ast.And) else "and"
        self._between(node.values[0], node.values[1], other, "and/or")
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not | ast.USub):
            start, end = self._span(node)
            self._put(node, start, end, f"({ast.unparse(node.operand)})", "not/minus")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        start, end = self._span(node)
        if isinstance(node.value, bool):
            self._put(node, start, end, str(not node.value), "truth")
        elif isinstance(node.value, int | float):
            self._put(node, start, end, f"({node.value!r} + 1)", "number")

    def _condition(self, test: ast.expr) -> None:
        start, end = self._span(test)
        if not isinstance(test, ast.Compare | ast.UnaryOp | ast.NamedExpr):
            self._put(test, start, end, f"(not ({self.text[start:end]}))", "condition")

    def visit_If(self, node: ast.If) -> None:
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return
        self._condition(node.test)
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._condition(node.test)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        name = ast.unparse(node.func)
        if name.endswith(("Error", "Warning", "warn", "TypeVar", "cast", "dataclass")):
            return
        for word in node.keywords:
            if word.arg in (None, *UNSEEN):
                continue
            start, end = self._span(word)
            while self.text[end : end + 1] in (",", " "):
                end += 1
            self._put(word.value, start, end, "", "keyword")
        for part in (node.func, *node.args, *(w for w in node.keywords if w.arg not in UNSEEN)):
            self.visit(part)

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is not None and not isinstance(node.value, ast.Constant):
            start, end = self._span(node.value)
            self._put(node.value, start, end, "None", "return")
        self.generic_visit(node)

    def _body(self, node: ast.FunctionDef | ast.ClassDef) -> None:
        for part in (*getattr(node, "decorator_list", ()), *node.body):
            self.visit(part)
        if isinstance(node, ast.FunctionDef):
            for value in (*node.args.defaults, *node.args.kw_defaults):
                if value is not None:
                    self.visit(value)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if node.name not in ("__repr__",):
            self._body(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._body(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        if not (isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__all__"):
            self.generic_visit(node)

    def visit_Assert(self, node: ast.Assert) -> None:
        """What is said to the type checker is no behaviour."""

    def visit_Raise(self, node: ast.Raise) -> None:
        """The wording of a message is no behaviour."""


def spots(packages: tuple[str, ...]) -> list[Mutant]:
    """Everything that can be broken in these packages; not all of it can be compiled then."""
    places = [SOURCE / package for package in packages]
    files = [sorted(p.rglob("*.py")) if p.is_dir() else [p.with_suffix(".py")] for p in places]
    return [mutant for several in files for file in several for mutant in Spots(file).found]


def broken_text(mutant: Mutant) -> str:
    """The text of the file with the mutant in it."""
    text = (SOURCE / mutant.file).read_text(encoding="utf-8")
    return text[: mutant.start] + mutant.text + text[mutant.end :]


def is_compiled(mutant: Mutant) -> bool:
    """Whether Python takes the text with the mutant in it."""
    try:
        compile(broken_text(mutant), "x", "exec")
    except SyntaxError:
        return False
    return True


def make_map(target: Path) -> None:
    """Run the standard tests once, and keep which test runs which line and how long it takes."""
    plugin = ROOT / ".ci"
    environment = os.environ | {"PYTHONPATH": f"{plugin}{os.pathsep}{os.environ['PYTHONPATH']}"}
    environment["ERRATA_MUTATION_MAP"] = str(target)
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "-p", "mutation_map"]
    command += ["-p", "no:cacheprovider", "-m", "not lm"]
    subprocess.run(command, cwd=ROOT, env=environment, check=True)
    lines: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    seconds: dict[str, float] = {}
    for path in sorted(target.parent.glob(f"{target.name}.*")):
        seen = json.loads(path.read_text(encoding="utf-8"))
        seconds |= seen["seconds"]
        for file, tests_of in seen["lines"].items():
            for line, tests in tests_of.items():
                lines[file][line] += tests
        path.unlink()
    target.write_text(json.dumps({"lines": lines, "seconds": seconds}), encoding="utf-8")


@dataclass
class Map:
    """Which tests run which line, and how long each takes."""

    lines: dict[str, dict[str, list[str]]]
    seconds: dict[str, float]

    def tests(self, mutant: Mutant, most: int) -> list[str]:
        """The tests of the line; for one that runs at import, of the lines with its first word.

        The first cases of all functions come first, the quickest of them first.
        """
        lines = self.lines.get(mutant.file, {})
        found, more = lines.get(str(mutant.line), []), list[str]()
        if not found:
            text = (SOURCE / mutant.file).read_text(encoding="utf-8").splitlines()
            word = re.search(r"\w+|$", text[mutant.line - 1])
            same = [n for n, each in enumerate(text, 1) if word and word[0] in each]
            found = sorted({test for n in same for test in lines.get(str(n), [])})
            more = sorted({test for tests in lines.values() for test in tests} - {*found})
        in_order = [*self._cases_first(found), *self._cases_first(more)][:most]
        return in_order + (list(OF_DECLARATIONS) if more else [])

    def _cases_first(self, tests: list[str]) -> list[str]:
        cases = Counter[str]()

        def case(test: str) -> int:
            cases[test.split("[")[0]] += 1
            return cases[test.split("[")[0]]

        return sorted(sorted(tests, key=lambda test: self.seconds.get(test, 9)), key=case)


def _run_pytest(tests: list[str]) -> None:
    """Be a pytest of these tests, in a process group with all that they start."""
    os.setsid()
    for stream in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
    sys.dont_write_bytecode, os.environ["PYTHONDONTWRITEBYTECODE"] = True, "1"
    sys.modules["__main__"] = ModuleType("__main__")  # processes that tests spawn would run this
    # Third-party packages are imported already: plug-ins among them cannot be rewritten.
    quiet = [
        "-q",
        "-x",
        "-p",
        "no:cacheprovider",
        "-W",
        "ignore::pytest.PytestAssertRewriteWarning",
    ]
    sys.exit(pytest.main([*quiet, *tests]))


def run_tests(tests: list[str], limit: float) -> str:
    """Run tests in a fork of this process, which imported what they need but Errata."""
    process = multiprocessing.get_context("fork").Process(target=_run_pytest, args=(tests,))
    process.start()
    process.join(limit)
    with suppress(ProcessLookupError):  # and all that tests left behind
        os.killpg(process.pid or 0, signal.SIGKILL)
    process.join()
    return {0: "survived", 1: "killed", 2: "killed"}.get(process.exitcode or 0, "unclear")


def run_mutant(mutant: Mutant, tests: list[str], limit: float) -> str:
    """Break, run, mend: "killed", "survived", "unclear" or "unseen" (no test runs it).

    Tests that hang, or cannot be run, count as a kill if they pass without the mutant.
    """
    if not tests:
        return "unseen"
    file = SOURCE / mutant.file
    text, times = file.read_text(encoding="utf-8"), file.stat()
    file.write_text(broken_text(mutant), encoding="utf-8")
    try:
        # Most mutants fall to the first few tests, which import less.
        result = run_tests(some := tests[:FIRST], limit)
        if result == "survived" and tests[FIRST:]:
            result = run_tests(some := tests[FIRST:], limit)
    finally:
        file.write_text(text, encoding="utf-8")
        os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))  # its compiled form stays valid
    if result == "unclear" and run_tests(some, 4 * limit) == "survived":
        return "killed"
    return result


def sample(found: list[Mutant], number: int, seed: int) -> Iterator[Mutant]:
    """As many of each package, and of each kind within it, as there are to be had."""
    draw = random.Random(seed)
    by_kind: dict[tuple[str, str], list[Mutant]] = defaultdict(list)
    for mutant in found:
        by_kind[mutant.file.split("/")[0], mutant.kind].append(mutant)
    for each in by_kind.values():
        draw.shuffle(each)
    while number and any(by_kind.values()):
        for key in list(by_kind):
            while by_kind[key] and number:
                mutant = by_kind[key].pop()
                if is_compiled(mutant):
                    yield mutant
                    number -= 1
                    break


def main() -> None:
    """Read the command line; results are lines of JSON, so that a run can be gone on with."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=("map", "run", "count"))
    parser.add_argument("--map", type=Path, default=ROOT / "build" / "mutation-map.json")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "mutants.jsonl")
    parser.add_argument("--number", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--part", default="0/1", help="K/N: every Nth mutant, from K on")
    parser.add_argument("--limit", type=float, default=120, help="seconds a mutant may take")
    parser.add_argument("--most", type=int, default=80, help="tests run per mutant")
    parser.add_argument("packages", nargs="*", default=PACKAGES)
    given = parser.parse_intermixed_args()
    if given.action == "map":
        given.map.parent.mkdir(exist_ok=True)
        make_map(given.map.resolve())
        return
    found = spots(tuple(given.packages))
    if given.action == "count":
        print(len(found))
        return
    known = Map(**json.loads(given.map.read_text(encoding="utf-8")))
    for name in THIRD_PARTY:
        with suppress(ImportError):
            import_module(name)
    part, parts = map(int, given.part.split("/"))
    tally: dict[str, int] = defaultdict(int)
    with given.out.open("a", encoding="utf-8") as out:
        for mutant in list(sample(found, given.number, given.seed))[part::parts]:
            began = time.monotonic()
            result = run_mutant(mutant, known.tests(mutant, given.most), given.limit)
            tally[result] += 1
            row = asdict(mutant) | {"result": result, "seconds": round(time.monotonic() - began, 1)}
            out.write(json.dumps(row) + "\n")
            out.flush()
    print(dict(tally))


if __name__ == "__main__":
    main()
