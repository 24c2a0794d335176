"""Every reader, with files that it reads well."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import fuzz_runs

XLSX = find_spec("openpyxl") is not None  # spreadsheets need the extra
SAMPLE = Path(__file__).resolve().parents[1] / "src" / "errata" / "datasets" / "sample"


@dataclass(frozen=True)
class Target:
    """A reader: what it reads well, and how it is called with a path."""

    name: str
    seeds: Callable[[], list[bytes]]
    read: Callable[[Path], object]
    ending: str = ""
    refuses: bool = True


def _sample(*names: str) -> list[bytes]:
    return [(SAMPLE / name).read_bytes() for name in names]


def head(data: bytes, lines: int) -> bytes:
    """The first lines of a file."""
    return b"".join(data.splitlines(keepends=True)[:lines])


def first_sentences(count: int) -> bytes:
    """The first sentences of the sample, with their edits."""
    paragraphs = (SAMPLE / "gold.m2").read_bytes().split(b"\n\n")
    return b"\n\n".join(paragraphs[:count]) + b"\n\n"


def _judgments() -> list[bytes]:
    from errata.io.judgments import parse_jsonl, render_jsonl
    from errata.io.judgments.appraise import render_appraise
    from errata.io.judgments.pairwise import render_pairwise

    lines = (SAMPLE / "judgments.jsonl").read_text("utf-8").splitlines()[:8]
    found = [j for j in parse_jsonl(lines, "sample") if None not in j.ranks]
    texts = [
        "\n".join(render(found)) for render in (render_jsonl, render_appraise, render_pairwise)
    ]
    turk = (
        "HITId,WorkerId,AssignmentStatus,WorkTimeInSeconds,Input.sentID,Input.system1,"
        "Input.sentence1,Input.system2,Input.sentence2,Answer.rank_1,Answer.rank_2\n"
        'h1,ann,Approved,65,3,"A B","He goes , home .",C,He go home .,1,2\n'
        "h2,bob,Rejected,7,4,A,x,###,,1,\n"
    )
    tables = (
        "judge,sentence,system,rank\nann,0,A,2\nann,0,B,1\nbob,1,A,1\nbob,1,B,2\n",
        'sentence;system;score\n0;"A,B";3,5\n0;C;4\n1;A;2\n1;B;1\n',
        "judge\tsentence\tbetter\tworse\titem\nann\t0\tA\tB\tx\nbob\t1\tB\tC\ty\n",
        "A,B,C\n50.5,75,50.5\n,,\n1,2,3.5\n",
        'sentence,system,score\nHe go .,"A,B","3, 4"\nHe go .,C,"4, 4"\nI am .,A,"1, 2"\n',
    )
    return [text.encode() for text in (*texts, turk, *tables)]


def _scores() -> list[bytes]:
    import numpy as np

    from errata.data import Scores
    from errata.io import write_scores

    scores = Scores(
        "m2(beta=0.5)",
        ("A", "B"),
        np.array([0.3, 0.4]),
        np.array([[0.1, 0.5], [np.nan, 0.25]]),
        parts={"P": np.array([1.0, 0.5])},
        resampled=np.array([[0.2, 0.3], [0.4, 0.5]]),
    )
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for name in ("s.json", "s.tsv"):
            write_scores(scores, Path(folder, name))
            found.append(Path(folder, name).read_bytes())
    printed = {
        "tables": [
            {
                "name": "m2",
                "signature": "m2(beta=0.5) | sentences:2",
                "columns": ["rank", "system", "F0.5", "95 % interval"],
                "rows": [
                    {"rank": 1, "system": s, "F0.5": v, "95 % interval": [0.1, 0.5]}
                    for s, v in (("A", 0.4), ("B", 0.3))
                ],
            }
        ]
    }
    texts = (
        json.dumps(printed),
        "rank\tsystem\tF0.5\tF0.5 low\tsignature\n1\tA\t0.4\t0.3\tm2()\n2\tB\t0.3\t0.2\tm2()\n",
        "system\tsentence\tGLEU\tsignature\nA\t1\t0.5\tgleu()\nB\t1\t0.25\tgleu()\n",
        "A\t0.1\nB\t0.4\n", "system;m2;gleu\nA;0,1;1\nB;0,4;2\n", "A 0 1\nA 1 0.5\nB 0 1\nB 1 1\n",
        "A,B\n1,0.25\n,\n0.5,0.75\n", "0.1\n0.4\n0.3\n",
        "m\ten\tt\tA\t0\t0.5\nm\ten\tt\tB\t0\t0.25\n", "m\ten\tt\tA\t0.5\nm\ten\tt\tB\t0.25\n",
    )  # fmt: skip
    return [*found, *(text.encode() for text in texts)]


XML_GOLD = b"""<scripts><script id="1"><sentence id="1" numann="2"><text>He go home .</text>
<error-list><error id="1" req="yes" type="V"><alt ann="0"><c start="1" end="2">goes</c></alt>
<alt ann="1"><c start="1" end="2">went</c></alt></error></error-list></sentence>
<sentence id="2" numann="1"><text>I am .</text><error-list/></sentence></script></scripts>
"""


RATED_OUTPUTS = b"""source,output,grammer,fluency,meaning,system,ave_g
He go home .,He goes home .,"3,4,0","4,4,4","0,1,2","lstm,cnn",3.5
"I, am .",I am .,4,3,,smt,4
"""
RATINGS = b"judge,sentence,A,B\nx,0,50,60\ny,0,40,\nx,1,80,75\ny,1,90,10\n"
CORPORA = b"""[essays]
gold = "gold.m2"
outputs = ["out/*.txt", "b.txt"]
[exams]
title = "second"
source = "s.txt"
references = "refs.txt"
[exams.outputs]
ours = "x.txt"
"""


def _experiments() -> list[bytes]:
    folder = SAMPLE.parents[1] / "reproduce" / "experiments"
    return sorted((path.read_bytes() for path in folder.glob("*.toml")), key=len)[:4]


def _catalogue() -> bytes:
    """The first entry."""
    first, _, _ = (SAMPLE.parent / "catalogue.toml").read_bytes().partition(b"\n[conll14-outputs")
    return first + b"\n"


def _edits() -> bytes:
    """Sentences of the sample with the edits of one annotator."""
    paragraphs = first_sentences(8).split(b"\n\n")
    return b"\n\n".join(
        b"\n".join(line for line in part.split(b"\n") if line[:1] == b"S" or line[-4:] == b"|||0")
        for part in paragraphs
    )


def _m2(path: Path) -> object:
    from errata.io import read_m2

    return read_m2(path), read_m2(path, compatible=True)


def _output(path: Path) -> object:
    from errata.data import Corpus
    from errata.io import read_hypotheses

    sources = head((SAMPLE / "source.txt").read_bytes(), 8).decode().splitlines()
    return read_hypotheses(path, corpus=Corpus.from_texts(sources))


def _runs() -> list[bytes]:
    from errata.data import Edit, Hypotheses
    from errata.datasets import sample_corpus
    from errata.io.stored_runs import make_run, write_run
    from errata.scoring.evaluate import evaluate

    corpus = sample_corpus()[:3]
    edits = ((Edit(0, 1, "x", "R:X"),), (), ())
    out = Hypotheses("ours", ("x", *corpus.sources[1:]), edits)
    scores = evaluate("gleu", corpus, [out], resamples=10, guard=False)
    with TemporaryDirectory() as folder:
        write_run(
            Path(folder, "r.json"), make_run(corpus, out, [scores], when="2026-01-01T00:00:00Z")
        )
        return [Path(folder, "r.json").read_bytes()]


def _check(path: Path) -> object:
    from errata.io import check_files
    from errata.io.corpus import CorpusFiles

    files = CorpusFiles(source=str(path)), CorpusFiles(gold=str(path))
    return check_files([path], files[0]), check_files([], files[1])


def _listed_corpora(path: Path) -> object:
    from errata.datasets.evaluation_sets import evaluation_files

    (path.parent / "out").mkdir(exist_ok=True)
    (path.parent / "out" / "a.txt").touch()
    return evaluation_files(str(path))


BOARD = b"""title = "A board"
about = "What it is"
metrics = ["m2", "gleu(n=2)"]
groups = ["open"]
resamples = 200
confidence = 0.9

[sets.one]
gold = "gold.m2"
skip = "3,7-9"

[codabench]
docker_image = "python:3.12"
start = 2026-12-01
"""
CARD = b"""system = "Ours"
authors = ["A. Author", "B. Author"]
date = 2026-11-16
group = "open"
description = "What it is"
link = "https://example.org/ours"
output = "out.txt"
"""
CLAIMS = b"""# of a paper
ours\tm2(beta=0.5) | sentences:72 | references:2 of annotator 0,1 | errata:0.1.0 = 37.33
gleu(n=2)#1a2b3c4d = 64.1 %
bleu | resamples:10 | seed:3 = 0.41 \xc2\xb1 0.02
m2 = .5 [0.4, 0.6]
"""


CAMPAIGN = b"""kind = "score"
judges = 3
overlap = 0.5
until = []
[[scales]]
name = "fluency"
high = 4
[inputs]
source = "src.txt"
outputs = ["a.txt", "b.txt"]
[[tutorial]]
source = "He go ."
outputs = ["He goes .", "He go go ."]
worse = 2
better = 1
why = "a word twice"
[panel]
provider = "sona"
places = 3
"""
WRITERS = (
    b'{"sentence": 0, "judge": "ann", "text": "He goes .", "file": "new.minimal.0"}\n'
    b'{"sentence": 1, "judge": "bo", "text": "She likes it .", "file": "new.minimal.0"}\n'
    b'{"sentence": 1, "judge": "cy", "text": "She loves it ."}\n'
)
JUDGE_LIST = b"name,quota,provider,external id\nann,10,,\n,5,panel,P1\nbob,,,\n"


def _campaign(path: Path) -> object:
    from errata.collect.files import read_campaign_file

    return read_campaign_file(path)


def _writers(path: Path) -> object:
    from errata.collect.files import match_writers, read_writers

    lines = {"new.minimal.0": ("He goes .", "She likes it .")}
    return match_writers(read_writers(path), lines, 2, str(path))


def _board(path: Path) -> object:
    from errata.leaderboard.files import read_board

    path.replace(path.with_name("board.toml"))
    return read_board(path.parent)


def _card(path: Path) -> object:
    from errata.io.corpus import CorpusFiles
    from errata.leaderboard.files import Board, card_of

    path.replace(path.with_name("card.toml"))
    path.with_name("out.txt").touch()
    board = Board(path.parent, "A board", (CorpusFiles(name="one"),), groups=("open",))
    return card_of(board, path.parent)


def _claims(path: Path) -> object:
    from errata.io.files import read_lines
    from errata.verify import read_claims

    return [
        (claim.value_text, claim.tokens, claim.skipped, claim.annotators, claim.scale(0.5))
        for claim in read_claims(read_lines(path)[0], str(path))
    ]


def _judged(path: Path) -> object:
    from errata.io.judgments import read_judgments

    return list(read_judgments(path, base=path.stat().st_size % 2))


def _judged_by_columns(path: Path) -> object:
    from errata.io.judgments import read_judgments

    columns = {"judge": "judge", "sentence": "sentence", "system": "system"}
    return list(read_judgments(path, columns=columns))


def _scored(path: Path) -> object:
    from errata.io.scores import read_score_file

    return read_score_file(path), read_score_file(path, names=("A", "B", "C"))


def _model_card() -> bytes:
    from errata.core.stats import Estimate
    from errata.models.cards import Head, ModelCard, PartSize, TrainedOn, card_files

    head = Head("pearson", 9, Estimate(0.5, 0.25, 0.75), Estimate(0.25, 0.0, 0.5), 0.5, 0.5, 7, 20)
    data = TrainedOn("r.csv", "ab" * 32, 100, 40, "CC0", ("Somebody.",), ("2 left out",))
    card = ModelCard("some", "e", data, {"test": PartSize(9, 5)}, {"fluency": head}, {"epochs": 2})
    return card_files(card)["card.json"]


def _model_card_in(path: Path) -> object:
    from errata.models.cards import read_model_card

    (path.parent / "card.json").write_bytes(path.read_bytes())
    return read_model_card(path.parent)


def _reader(module: str, name: str) -> Callable[[Path], object]:
    def read(path: Path) -> object:
        from importlib import import_module

        return getattr(import_module(module), name)(path)

    return read


def _spreadsheets() -> list[bytes]:
    from io import BytesIO

    from openpyxl import Workbook

    found = []
    for rows in (
        (("system", "score"), ("A", 0.1), ("B", 0.4)),
        (("judge", "sentence", "system", "rank"), ("ann", 0, "A", 1), ("ann", 0, "B", 2)),
    ):
        book, buffer = Workbook(), BytesIO()
        for row in rows:
            book.active.append(row)
        book.save(buffer)
        found.append(buffer.getvalue())
    return found


def _spreadsheet(path: Path) -> object:
    from errata.core.errors import InputError

    try:
        return _scored(path)
    except InputError:
        return _judged(path)


def _sliced(path: Path) -> object:
    from errata.data import Corpus
    from errata.io.slices import read_slices

    return read_slices(path, Corpus.from_texts(["a", "b", "c"]))


TARGETS = (
    Target("run", _runs, _reader("errata.io.stored_runs", "read_run"), ".json"),
    Target("text", lambda: _sample("eager.txt"), _reader("errata.io", "read_text")),
    Target("m2", lambda: [head(_sample("gold.m2")[0], 30)], _m2),
    Target("imeasure", lambda: [XML_GOLD], _m2),
    Target("output", lambda: [head(d, 8) for d in _sample("eager.txt", "noisy.txt")], _output),
    Target("output.m2", lambda: [_edits()], _output, ".m2"),
    Target("check", lambda: [head(d, 12) for d in _sample("gold.m2", "eager.txt")], _check,
           refuses=False),
    Target("judgments", _judgments, _judged),
    Target("columns", _judgments, _judged_by_columns),
    Target("scores", _scores, _scored),
    Target("ratings", lambda: [RATINGS], _scored),
    Target(
        "rated outputs",
        lambda: [RATED_OUTPUTS],
        _reader("errata.io.judgments.sheets", "read_ratings"),
        ".csv",
    ),
    Target("model card", lambda: [_model_card()], _model_card_in, ".json"),
    Target("stored.json", lambda: _scores()[:1], _reader("errata.io", "read_scores"), ".json"),
    Target("stored.tsv", lambda: _scores()[1:2], _reader("errata.io", "read_scores"), ".tsv"),
    Target("published", lambda: _scores()[-1:], _reader("errata.io", "read_published_scores")),
    Target(
        "weights",
        lambda: [b"5\n1 2 3\n0 5\n4\n", b"2\n0\n1 2\n"],
        _reader("errata.metrics.difficulty", "read_weights"),
    ),
    Target(
        "skipped",
        lambda: [b"# out\n76\n7-9, 12 # more\n\n418\n"],
        _reader("errata.io.slices", "read_skipped"),
    ),
    Target("slices", lambda: [b"domain\tlevel\nnews\tA1\nmail\t\nnews\tB2\n"], _sliced),
    Target(
        "catalogue",
        lambda: [_catalogue()],
        _reader("errata.datasets.catalogue", "read_catalogue"),
    ),
    Target("corpora", lambda: [CORPORA], _listed_corpora, ".toml"),
    Target(
        "experiment", _experiments, _reader("errata.reproduce.experiment", "read_experiment")
    ),
    Target("board", lambda: [BOARD], _board, ".toml"),
    Target("card", lambda: [CARD], _card, ".toml"),
    Target("claims", lambda: [CLAIMS], _claims, ".txt"),
    Target("campaign", lambda: [CAMPAIGN], _campaign, ".toml"),
    Target("writers", lambda: [WRITERS], _writers, ".jsonl"),
    *(
        [
            Target(
                "judges",
                lambda: [JUDGE_LIST],
                _reader("errata.collect.web.campaign", "read_judge_list"),
            )
        ]
        if find_spec("sqlalchemy")
        else ()
    ),
    *([Target("spreadsheet", _spreadsheets, _spreadsheet, ".xlsx")] if XLSX else ()),
    Target("counts", fuzz_runs.packed_counts, fuzz_runs.unpacked, ".cnt"),
    Target("count file", fuzz_runs.count_files, fuzz_runs.count_in, ".cnt"),
    Target("plan of a run", fuzz_runs.manifests, fuzz_runs.plan_in, ".json"),
    Target("record", fuzz_runs.records, fuzz_runs.record_in, ".json", refuses=False),
    Target("shards", lambda: [head(_sample("gold.m2")[0], 40)], fuzz_runs.read_shards, ".m2"),
    *(
        [Target("parquet", fuzz_runs.parquets, fuzz_runs.parquet_in, ".parquet")]
        if find_spec("pyarrow")
        else ()
    ),
)  # fmt: skip
