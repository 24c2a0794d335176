"""What every reader makes of good files and of damaged ones, and what writers write.

Kept are results, and the facts of messages: class, file, line, values and options.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from errata.data import Corpus, Edit, Hypotheses, Judgment, Reference, Scores
from errata.io import (
    check_alignment,
    check_files,
    read_corpus,
    read_hypotheses_m2,
    read_text,
    write_scores,
)
from errata.io.checks import Finding, join_similar_findings, sort_by_severity
from errata.io.checks.alignment import (
    compare_lines,
    find_equal_systems,
    is_named_source,
    match_sources,
)
from errata.io.checks.text import check_gold_characters, lint_edits
from errata.io.corpus import CorpusFiles, corrected_text
from errata.io.files import max_input_bytes, stream_lines
from errata.io.judgments import read_judgment_files, write_judgments
from errata.io.judgments.checks import compare_labels_with_outputs, require_labels_match_outputs
from errata.io.m2 import format_m2, read_m2_file
from errata.io.outputs import read_systems
from errata.io.rows import delimiter_of, read_number, read_rows
from fuzz_targets import SAMPLE, TARGETS, Target
from recorded import brief, check, facts

CELL = re.compile(rb"[^\s,;|<>=\"{}\[\]():/]+")
INSTEAD = (b"", b"0", b"-1", b"x", b"1", b"99", b"A", b"2.5", b"a b", b"\xc3\xa9", b"nan", b"300")
SPOTS, LINES = 15, 6  # of a file that are damaged, at most
# Much of what is said of Parquet is said by pyarrow, and may be said otherwise tomorrow.
UNRECORDED = ("parquet", "catalogue", "experiment", "spreadsheet")
UNRECORDED += ("check", "board", "card", "claims")
READERS = [t for t in TARGETS if t.name not in UNRECORDED]
# Forms that the seeds of `fuzz_targets` leave out.
MORE = {
    "scores": (
        "sentence;A;B\n1;1;0,25\n2;0,5;0,75\n",
        "sentence;A;B\n1;1;0,25\n200;0,5;0,75\n",
        "sentence;A;B\n1;1;0,25\n201;0,5;0,75\n",
        "system,comment,score\nA,good,1\nB,bad,2\nC,,3\n",
        "system,rank\nA,1\nB,3\nC,2\n",
        "system\t0\t1\t2\nA\t1\t0.5\t0\nB\t0.25\t0.75\t1\n",
        "0.1\tA\n0.4\tB\n0.3\tC\n",
        "m2\tA\t0.1\nm2\tB\t0.4\ngleu\tA\t1\ngleu\tB\t2\n",
        "sentence,system,score\n1,A,1\n2,A,0.5\n1,B,0.25\n2,B,0.75\n",
        "metric,system,sentence,score\nm,A,0,1\nm,A,1,2\nm,B,0,3\nm,B,1,4\nn,A,0,5\n",
        "# by hand\nA 0.1\nB 0.4\n\n",
        "A,B,C\n1,2,3\n",
        "1 2\n3 4\n5 6\n",
    ),
    "judgments": (
        '{"judge": "a", "sentence": 1, "systems": ["A", "B"], "ranks": [2, 1], "seconds": 3}\n'
        '{"judge": "a", "sentence": 2, "groups": [["A"]], "skipped": true}\n'
        '{"judge": "b", "sentence": 1, "item": "i", "groups": [["A"], ["B"]], "ranks": [1, null]}\n'
        '{"judge": "b", "sentence": 1, "item": "i", "groups": [["A"], ["C"]], "ranks": [1, 2]}\n',
        '<appraise-results><ranking-item doc-id="d" duration="00:01:07.5" id="7" src-id="3" '
        'user="ann">\n<translation rank="3" system="A"/>\n<translation rank="1" system="B,C"/>\n'
        '</ranking-item>\n<ranking-item doc-id="e" id="8" skipped="true" src-id="4" user="bob"/>\n'
        '<ranking-item id="9" user="bob"><translation rank="1" system="A"/></ranking-item>\n'
        "</appraise-results>\n",
        "segmentId,judgeID,system1Id,system1rank,system2Id,system2rank,rankingID\n"
        "5,ann,A,1,B,2,1\n5,ann,A,1,C,2,1\n5,ann,B,2,C,2,1\n5,ann,A,3,B,1,2\n6,bob,A,1,B,1,3\n",
        "srclang,trglang,srcIndex,judgeID,system1Id,system1rank,system2Id,system2rank,system3Id,"
        "system3rank\ncs,en,9,ann,t.my.system.cs-en,1,t.B.cs-en,2,t.C.cs-en,2\n"
        "cs,en,8,bob,t.B.cs-en,1,t.C.cs-en,-1,t.my.system.cs-en,2\n",
        "HITId,WorkerId,AssignmentStatus,Input.sentID,Input.system1,Input.system2,Input.system3,"
        "Answer.rank_1,Answer.rank_2,Answer.rank_3\nh1,ann,Approved,3,A,B C,D,1,2,3\n"
        "h2,bob,Submitted,4,A,B,C,1,1,\nh2,eve,Rejected,4,A,B,C,1,1,2\n",
        "judge,sentence,system,score,time\nann,1,A,3,x\nann,1,B,5,y\nann,2,A,1,z\nann,1,A,4,x\n",
        "judge,sentence,A,B\nann,0,1,2.5\nann,1,2,1\nbob,1,,1\n",
        "worse\tbetter\tsentence\nA\tB\t0\nB\tC\t0\nB\tA\t1\n",
        "judge,sentence,item,system,rank\na,x,1,A,1\na,x,1,B,2\na,y,2,A,2\na,y,2,B,1\n",
    ),
    "m2": (
        "S He go to home .\nA 1 2|||V|||goes||went|||REQUIRED|||c|||0\n"
        "A 2 3|||X||||||OPTIONAL|||-NONE-|||0\nA -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||2\n\n"
        "S I is .\nA 1 2|||V|||am|||REQUIRED|||-NONE-|||1\nA 0 0|||P|||Yes ,|||REQUIRED|||x|||1\n"
        "A 1 2|||V|||was|||REQUIRED|||-NONE-|||2\nA 1 3|||V|||were !|||REQUIRED|||-NONE-|||2\n\n"
        "S Fine .\n\nS\nA 0 0|||M|||Oh|||REQUIRED|||-NONE-|||0\n",
    ),
    "imeasure": (
        "<scripts><script><sentence id='1' numann='3'>\n<text> He go home now . </text>\n"
        "<error-list>\n<error req='yes' type='V'>\n<alt><c start='1' end='2'>goes</c></alt>\n"
        "<alt><c start='1' end='2'>went</c><c start='3' end='4'/></alt>\n</error>\n"
        "<error id='2' req='no' type='P'><alt ann='2'><c start='2' end='2'>to</c></alt></error>\n"
        "</error-list></sentence></script></scripts>\n",
    ),
    "weights": ("3\n0 1 2 3\n3\n",),
}
SEEDS = {t.name: [*t.seeds(), *(m.encode() for m in MORE.get(t.name, ()))] for t in READERS}


def some(found: list[Any], most: int) -> list[Any]:
    """No more than so many, from all over."""
    return found[:: -(-len(found) // most) or 1]


def damaged(data: bytes) -> Iterator[tuple[str, bytes]]:
    """The file, and with a line lost, doubled, emptied or moved, or a cell that says otherwise."""
    yield "good", data
    lines = data.split(b"\n")
    for i in some(list(range(len(lines))), LINES):
        for how, new in (
            ("lost", []),
            ("doubled", [lines[i]] * 2),
            ("emptied", [b""]),
            ("cut", [lines[i][: len(lines[i]) // 2]]),
        ):
            yield f"line {i + 1} {how}", b"\n".join([*lines[:i], *new, *lines[i + 1 :]])
        if i:
            moved = [*lines[: i - 1], lines[i], lines[i - 1], *lines[i + 1 :]]
            yield f"line {i + 1} moved", b"\n".join(moved)
    for k, cell in enumerate(some(list(CELL.finditer(data)), SPOTS)):
        for new in (INSTEAD[k % len(INSTEAD)], INSTEAD[(3 * k + 1) % len(INSTEAD)]):
            yield f"byte {cell.start()}: {new!r}", data[: cell.start()] + new + data[cell.end() :]


def read_damaged(target: Target) -> dict[str, str]:
    """What a reader makes of its files and of all that may become of them."""
    path = Path(f"file{target.ending}")
    found = {}
    for number, seed in enumerate(SEEDS[target.name]):
        for how, data in damaged(seed):
            path.write_bytes(data)
            found[f"{number} {how}"] = brief(facts(partial(target.read, path)))
    return found


SOURCES = (SAMPLE / "source.txt").read_text("utf-8").splitlines()
EAGER = (SAMPLE / "eager.txt").read_text("utf-8").splitlines()
CORPUS = Corpus.from_texts(SOURCES)


CHANGES: dict[str, Callable[[str], str]] = {
    "lower": str.lower,
    "upper": str.upper,
    "blank": lambda line: " ",
    "untokenised": lambda line: re.sub(r" (?=[.,!?'])", "", line),
    "quoted": lambda line: f'"{line}"',
    "spaced": lambda line: line.replace(" ", "  "),
    "curly": lambda line: line.replace("'", "\u2019"),
    "broken": lambda line: line.replace("e", "Ã©", 1),
    "hidden": lambda line: line.replace(" ", "\u200b ", 1),
    "hard": lambda line: line.replace(" ", "\u00a0", 1),
}


def outputs() -> Iterator[tuple[str, list[str]]]:
    """An output of the sample, spoilt as outputs are."""
    yield "sound", EAGER
    for start, by in product((0, 1, 9, 20), (1, 2, 5, 11)):
        yield f"{by} lost from {start}", EAGER[:start] + EAGER[start + by :]
        yield f"{by} added at {start}", EAGER[:start] + ["Another line ."] * by + EAGER[start:]
        for run in (3, 12):
            end = start + run
            later = EAGER[:start] + ["Another line ."] * by + EAGER[start:end] + EAGER[end + by :]
            yield f"{run} from {start} {by} later", later
            sooner = EAGER[:start] + EAGER[start + by : end + by] + ["x"] * by + EAGER[end + by :]
            yield f"{run} from {start} {by} sooner", sooner
    for seed, share in product(range(3), (0.2, 0.5, 0.8, 1.0)):
        draw = random.Random(seed)
        some_ = sorted(draw.sample(range(len(EAGER)), int(share * len(EAGER))))
        mixed = list(EAGER)
        for i, j in zip(some_, draw.sample(some_, len(some_)), strict=True):
            mixed[i] = EAGER[j]
        yield f"{share} mixed {seed}", mixed
        words = [" ".join(draw.sample(line.split(), len(line.split()))) for line in EAGER]
        yield (
            f"{share} scrambled {seed}",
            [w if draw.random() < share else line for w, line in zip(words, EAGER, strict=True)],
        )
    for share, (how, change) in product((0.1, 0.3, 0.6, 1.0), CHANGES.items()):
        many = int(share * len(EAGER))
        yield f"{share} {how}", [*map(change, EAGER[:many]), *EAGER[many:]]
    yield "source", SOURCES
    yield "ten lines of the source", SOURCES[:10] + EAGER[10:]
    yield "blank at the end", [*EAGER, "", " "]
    yield "carriage returns", ["\r".join(EAGER[:9]), *EAGER[9:]]
    yield "M2", ["S a", "A 0 1|||X|||b|||REQUIRED|||-NONE-|||0", ""]
    yield "empty", []


def of_output(lines: list[str]) -> object:
    return check_alignment(CORPUS, Hypotheses("sys", tuple(lines)), path="out")


def undone(worse: int, fill: str, unknown: bool) -> object:
    """An output whose first lines are further from the reference than the sources are."""
    sources = [f"{line} They are here ." for line in SOURCES[:40]]
    references = [line.replace("They are", "They is now") for line in sources]
    change = {"better": "They is", "equal": "They \u00d6\u00d6\u00d6", "same": "They are"}[fill]
    lines = [line.replace("They are", change) for line in sources]
    for i in range(worse):
        lines[i] = sources[i].replace("They ", f"Q{i} " if unknown and i % 3 else "")
    corpus = Corpus.from_texts(sources, [references])
    return check_alignment(corpus, Hypotheses("sys", tuple(lines)), path="out")


def of_reference(lines: list[str]) -> object:
    return compare_lines(SOURCES, lines, "ref", reference=True)


def gold() -> Corpus:
    """References that are absent, empty, optional and alternatives."""
    edits = (Edit(1, 2, "goes", "V", ("went",)), Edit(2, 3, "", "X", (), "OPTIONAL"))
    return Corpus(
        ("He go to home .", "I is .", "Fine ."),
        (
            (Reference(0, edits), Reference(2, ())),
            (Reference(2, (Edit(0, 0, "Yes ,", "P"), Edit(1, 2, "am", "V"))),),
            (Reference(0, ()), Reference(2, ())),
        ),
        "gold",
    )


def written_scores(ending: str) -> object:
    table = np.array([[0.1, np.nan, 1.0], [0.5, 0.25, np.inf]])
    scores = Scores(
        "m2(beta=0.5)",
        ("A", "B"),
        np.array([0.3, -np.inf]),
        table,
        parts={"P": np.array([1.0, 0.5])},
        resampled=np.array([[0.2, 0.3], [0.4, 0.5]]),
        sentence_parts={"hits": np.array([[1, 2, 3], [4, 5, 6]])},
        notes=("a note",),
        context=("sentences:3",),
    )
    path = Path(f"scores{ending}")
    write_scores(scores, path)
    return path.read_text("utf-8")


def some_judgments() -> list[Judgment]:
    return [
        Judgment("ann", 0, (("A", "B"), ("C",)), (1, 2), "i1", 12.5, "2025-03-03T09:03:20Z"),
        Judgment("Ren\u00e9", 1, (("C",), ("A",), ("B",)), (2, None, 1), "d/7"),
        Judgment("ann", 1, (("C",), ("A",)), (1, 1)),
        Judgment("eve", 2, (("B",), ("A", "C")), (None, None), "", 3.0),
    ]


def written_judgments(form: str, **options: object) -> object:
    write_judgments(some_judgments(), "j", form=form, **options)  # type: ignore[arg-type]
    return Path("j").read_text("utf-8")


def judged_again(**options: object) -> object:
    """Judgments of two files, some of them in both."""
    found = some_judgments()
    write_judgments(found[:3], "one.jsonl")
    write_judgments(found[1:], "two.jsonl")
    return list(read_judgment_files(["one.jsonl", "two.jsonl"], **options))


def fitted() -> object:
    texts = {"A": ("x", "y", "z"), "B": ("x", "q", "r"), "C": ("w", "y", "z")}
    found = []
    for shift, outs in product(
        (0, 1), (texts, {k: v[:2] for k, v in texts.items()}, {"A": ("x",)})
    ):
        said = [replace(j, sentence=j.sentence + shift) for j in some_judgments()]
        found.append(facts(lambda s=said, o=outs: compare_labels_with_outputs(s, o)))
        for base in (0, 1):
            found.append(
                facts(
                    lambda s=said, o=outs, b=base: require_labels_match_outputs(s, o, "f", base=b)
                )
            )
    return found


def files() -> None:
    """Some files beside each other."""
    Path("gold.m2").write_text("\n".join(format_m2(gold())) + "\n", "utf-8")
    for name, lines in (
        ("src.txt", gold().sources),
        ("ref0.txt", ("He goes home .", "<none>", "Fine .")),
        ("ref1.txt", ("He went home .", "Yes , I am .", "")),
        ("ours.txt", ("He goes to home .", "I am .", "Fine .")),
        ("theirs.out.txt", ("He goes to home .", "I am .", "Fine .")),
        ("short.hyp", ("He goes to home .",)),
        ("notes.md", ("not an output",)),
    ):
        folder = Path("outputs") if name.startswith(("ours", "theirs", "notes")) else Path()
        folder.mkdir(exist_ok=True)
        (folder / name).write_text("".join(f"{line}\n" for line in lines), "utf-8")


BYTES = (
    b"",
    b"\n",
    b"one\ntwo",
    b"one\r\n\r\ntwo\r\n",
    b"\xef\xbb\xbfone\n\xef\xbb\xbftwo\n",
    b"one\ntwo \xe9 three\n",
    b"\n\nab\xff\n",
    "one\n".encode("utf-16"),
    b"one\x0btwo\nthree\rfour\n\xe2\x80\xa8five\n",
    b"PK\x03\x04",
    b"%PDF\xff",
    b"BZh9 is no archive\n",
    gzip.compress(b"one\n\ntwo\n", mtime=0),
    bz2.compress(b""),
    lzma.compress(b"one\n"),
    *(pack(b"one\n" * 99)[:-9] for pack in (gzip.compress, bz2.compress, lzma.compress)),
)


def read_bytes_as_text() -> object:
    """Texts at the edges of what is text, whole and line by line, by name or not."""
    found = []
    for data, ending in product(BYTES, ("", ".gz", ".xz")):
        Path(f"text{ending}").write_bytes(data)
        for read in (read_text, lambda path: list(stream_lines(path))):
            said = facts(partial(read, f"text{ending}"))
            # What libraries say of damage is not ours.
            found.append(said.partition(" file:")[0] if isinstance(said, str) else said)
    return found


def limited(data: bytes) -> object:
    """A file at the limit, and just beside it."""
    Path("text").write_bytes(data)
    found = {}
    for limit in ("", "1", "9", "10", "11", "1k", "1K", "2m", " 3G ", "1T", "0", "-1", "5Q", "1.5"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("ERRATA_MAX_BYTES", limit)
            read = (max_input_bytes, partial(read_text, "text"), lambda: list(stream_lines("text")))
            found[limit] = [facts(each) for each in read]
    return found


def sheets(*books: dict[str, Any]) -> object:
    """The rows of spreadsheets."""
    openpyxl = pytest.importorskip("openpyxl")
    found = []
    for book in books:
        made = openpyxl.Workbook()
        made.remove(made.active)
        for title, rows in book.items():
            sheet = made.create_sheet(title)
            for row in rows:
                sheet.append(row)
        made.save("book.xlsx")
        found.append(facts(lambda: read_rows("book.xlsx")))
    return found


ROWS = [
    ("judge", "score", None, "", None),
    ("a,b", 1.0, None, "x"),
    (None, None),
    (2, 1e15, 2.5, True),
    (-3.0, 123456789012345.0, 1e-3, 'say "x"'),
    (None, None, None),
]
REFS = {"source": "src.txt", "references": ["ref0.txt", "ref1.txt"]}
CORPORA: dict[str, dict[str, Any]] = {
    "gold": {"gold": "gold.m2"},
    "gold, annotator 2": {"gold": "gold.m2", "annotators": [2]},
    "gold, annotator 1": {"gold": "gold.m2", "annotators": [1]},
    "gold and source": {"gold": "gold.m2", "source": "src.txt", "name": "mine"},
    "gold and another source": {"gold": "gold.m2", "source": "ref1.txt"},
    "gold and references": {"gold": "gold.m2", **REFS},
    "gold, compatible": {"gold": "gold.m2", "compatible": True},
    "gold, missing": {"gold": "gold.m2", "missing": "<none>"},
    "texts": REFS,
    "texts, compatible": {**REFS, "compatible": True},
    "texts, missing": {**REFS, "missing": "<none>"},
    "texts, annotator 1": {**REFS, "missing": "<none>", "annotators": [1]},
    "texts of other lengths": {"source": "src.txt", "references": ["short.hyp"]},
    "source alone": {"source": "src.txt"},
    "references alone": {"references": ["ref0.txt"]},
    "nothing": {},
    "no file": {"gold": "none.m2"},
}
CHECKED: dict[str, dict[str, Any]] = {
    "gold": {"outputs": [], "gold": "gold.m2"},
    "all": {"outputs": ["outputs", "short.hyp"], "gold": "gold.m2"},
    "named": {"outputs": ["a=outputs/ours.txt", "a=outputs/theirs.out.txt"], "gold": "gold.m2"},
    "found": {"outputs": ["gold.m2", "outputs/ours.txt"]},
    "texts": {"outputs": ["outputs/ours.txt", "src.txt", "short.hyp"]},
    "parallel": {"outputs": ["outputs"], **REFS},
    "parallel, missing": {"outputs": ["outputs"], **REFS, "missing": "<none>"},
    "sources": {"outputs": ["outputs/ours.txt"], "gold": "gold.m2", "source": "src.txt"},
    "other sources": {"outputs": ["outputs/ours.txt"], "gold": "gold.m2", "source": "ref1.txt"},
    "compatible": {"outputs": ["gold.m2"], "gold": "gold.m2", "compatible": True},
}
FOUND = [
    Finding(severity, path, line, f"problem {line}", "cure", code)  # type: ignore[arg-type]
    for severity, path, line, code in (
        ("note", "a", 3, "x"),
        ("warning", "a", None, "y"),
        *(("warning", "a", k, "x") for k in range(9, 2, -1)),
        ("error", "b", 2, "x"),
        ("error", "b", 1, "z"),
    )
]


def in_all(read: Any, several: dict[str, Any]) -> dict[str, Any]:
    """The facts of a call with each of these keywords, beside the files."""
    files()
    return {name: facts(partial(read, **keywords)) for name, keywords in several.items()}


def checked(
    outputs: list[str], references: list[str] | tuple[str, ...] = (), **more: Any
) -> object:
    """What the file check finds."""
    return check_files(outputs, CorpusFiles(references=tuple(references), **more))


def of_m2() -> object:
    """What is made of M2: texts, systems, corpora."""
    files()
    missing: tuple[dict[str, Any], ...]
    missing = ({}, {"missing": "-"}, {"copy_missing": True}, {"missing": "Fine ."})
    return [
        format_m2(gold()),
        [*check_gold_characters(gold(), "g", [1, 5, 9]), *lint_edits(gold(), "g", [1, 5, 9])],
        read_m2_file("gold.m2"),
        read_m2_file("gold.m2", compatible=True),
        *(
            facts(partial(corrected_text, read_m2_file("gold.m2"), annotator, **options))
            for annotator in (0, 1, 2)
            for options in missing
        ),
        *(
            facts(partial(read_hypotheses_m2, "gold.m2", names))
            for names in (None, ["x"], ["x", "y"], ["x", "y", "z"])
        ),
    ]


def of_systems() -> object:
    """Which outputs belong to which system, and to the corpus."""
    files()
    outputs = (["outputs"], ["x=outputs/ours.txt", "short.hyp"], ["gold.m2"], ["none"])
    alike = enumerate(("xc", "yc", "xd"))
    names = ["Source", "a.src", "a.orig", "a.original", "original", "learner", "a.input", "x"]
    texts = (gold().sources, ("He go to home .", "I is."), ("a", "b", "c"), ("a",) * 9)
    return [
        *(facts(partial(read_systems, paths)) for paths in outputs),
        find_equal_systems([(f"f{k}", Hypotheses(name, ("a", "b", s))) for k, (name, s) in alike]),
        *(
            is_named_source(CORPUS, Hypotheses(name, tuple(lines)), name, "f")
            for name in names
            for lines in (EAGER, SOURCES, EAGER[1:])
        ),
        *(
            match_sources(gold().sources, sources, "s", numbers)
            for sources in texts
            for numbers in (None, [1, 5, 9])
        ),
    ]


def of_tables() -> object:
    """Cells, numbers and separators."""
    numbers = ["1", " 1.5 ", ".5", "5.", "1,5", "1e3", "1e999", "+2", "--2", "", "1" * 400]
    return [
        sheets({"a": ROWS}, {"a": [], "b": ROWS[1:]}, {"a": ROWS, "b": ROWS}, {"a": [(None,)]}),
        [(text, read_number(text), read_number(text, comma=True)) for text in numbers],
        read_number("1" * 401),
        [delimiter_of(text) for text in ("a", "a,b;c", "a\tb;c", 'a,"b;c;d"', "a;b;c,d")],
    ]


WRITTEN: dict[str, tuple[str, dict[str, Any]]] = {
    "jsonl": ("jsonl", {}),
    "appraise": ("appraise", {}),
    "appraise from 1": ("appraise", {"base": 1}),
    "pairwise": ("pairwise", {}),
    "named": ("pairwise", {"base": 1, "order": "given", "names": "s.{}.x"}),
    "sample": ("pairwise", {"members": "sample", "rng": 3}),
    "expected": ("pairwise", {"members": "expected"}),
    "two names": ("pairwise", {"names": "a {}"}),
    "no place": ("pairwise", {"names": "a"}),
}
CASES = {
    "outputs": lambda: {how: facts(partial(of_output, lines)) for how, lines in outputs()},
    "references": lambda: {
        how: facts(partial(of_reference, lines))
        for how, lines in outputs()
        if not re.match(r"0.1|0.6|1.0|.* (lost|from)", how)
    },
    "outputs undone": lambda: [
        undone(worse, fill, unknown)
        for worse in (0, 10, 19, 20, 21, 24, 28, 31, 32, 36, 38, 40)
        for fill in ("better", "equal", "same")
        for unknown in (False, True)
    ],
    "M2": of_m2,
    "systems": of_systems,
    "corpora": partial(in_all, read_corpus, CORPORA),
    "checks": partial(in_all, checked, CHECKED),
    "scores": lambda: [facts(partial(written_scores, end)) for end in (".json", ".tsv", ".txt")],
    "judgments": lambda: {
        name: facts(partial(written_judgments, form, **options))
        for name, (form, options) in WRITTEN.items()
    },
    "judgments of two files": lambda: [
        facts(partial(judged_again, leave_out=judges)) for judges in ((), ("ann",), ("zoe", "ann"))
    ],
    "judgments that fit": fitted,
    "bytes": read_bytes_as_text,
    "limits": lambda: [
        limited(data)
        for data in (b"123456789\n", b"1234567890\n", gzip.compress(b"1234567890" * 5))
    ],
    "tables": of_tables,
    "findings": lambda: [
        sort_by_severity(FOUND),
        *(join_similar_findings(FOUND, shown) for shown in (0, 1, 3, 9)),
    ],
}
GROUPS = {
    "io": {name: partial(facts, make) for name, make in CASES.items()},
    "damaged": {target.name: partial(read_damaged, target) for target in READERS},
}


@pytest.mark.parametrize(
    ("group", "case"), [(group, case) for group, cases in GROUPS.items() for case in cases]
)
def test_results_and_facts_stay_the_same(
    group: str, case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    check(group, case, GROUPS[group][case]())
