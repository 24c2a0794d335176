"""Every reader, with files that it reads well."""

import hashlib
import json
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import numpy as np

from errata.collect.files import match_writers, read_campaign_file, read_writers
from errata.core.errors import InputError
from errata.core.stats import Estimate
from errata.data import Corpus, Edit, Hypotheses, Scores
from errata.datasets import sample_corpus
from errata.datasets.evaluation_sets import evaluation_files
from errata.io import check_files, read_hypotheses, read_m2, write_scores
from errata.io.corpus import CorpusFiles
from errata.io.files import read_lines
from errata.io.judgments import parse_jsonl, read_judgments, render_jsonl
from errata.io.judgments.appraise import render_appraise
from errata.io.judgments.pairwise import render_pairwise
from errata.io.records import decode_json
from errata.io.scores import read_score_file
from errata.io.shards.batches import read_shard, stream_batches
from errata.io.shards.counts import CHECKSUM, HEADER, pack_counts, unpack_counts
from errata.io.shards.plan import plan_shards
from errata.io.slices import read_slices
from errata.io.storage import Folder
from errata.io.stored_runs import make_run, write_run
from errata.leaderboard.files import Board, read_board, read_submission
from errata.models.cards import Head, ModelCard, PartSize, TrainedOn, card_files, read_model_card
from errata.scale.manifest import Manifest, MetricPlan, read_manifest, seal
from errata.scale.run import plan_run
from errata.scale.shard_job import CountFile, read_count_file, read_record, record_name, run_job
from errata.scoring.evaluate import evaluate
from errata.verify import read_claims

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
    return b"".join(data.splitlines(keepends=True)[:lines])


def first_sentences(count: int) -> bytes:
    """The first sentences of the sample, with their edits."""
    paragraphs = (SAMPLE / "gold.m2").read_bytes().split(b"\n\n")
    return b"\n\n".join(paragraphs[:count]) + b"\n\n"


def _judgments() -> list[bytes]:
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
    scores = Scores(
        "m2(beta=0.5)",
        ("A", "B"),
        np.array([0.3, 0.4]),
        np.array([[0.1, 0.5], [np.nan, 0.25]]),
        parts={"P": np.array([1.0, 0.5])},
        resampled=np.array([[0.2, 0.3], [0.4, 0.5]]),
    )
    found = []
    with TemporaryDirectory() as folder:
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
    return read_m2(path), read_m2(path, compatible=True)


def _output(path: Path) -> object:
    sources = head((SAMPLE / "source.txt").read_bytes(), 8).decode().splitlines()
    return read_hypotheses(path, corpus=Corpus.from_texts(sources))


def _runs() -> list[bytes]:
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
    files = CorpusFiles(source=str(path)), CorpusFiles(gold=str(path))
    return check_files([path], files[0]), check_files([], files[1])


def _listed_corpora(path: Path) -> object:
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
gleu(n=2)#1a2b3c4d@9295bd2b = 64.1 %
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
    return read_campaign_file(path)


def _writers(path: Path) -> object:
    lines = {"new.minimal.0": ("He goes .", "She likes it .")}
    return match_writers(read_writers(path), lines, 2, str(path))


def _board(path: Path) -> object:
    path.replace(path.with_name("board.toml"))
    return read_board(path.parent)


def _card(path: Path) -> object:
    path.replace(path.with_name("card.toml"))
    path.with_name("out.txt").touch()
    board = Board(path.parent, "A board", (CorpusFiles(name="one"),), groups=("open",))
    return read_submission(board, path.parent)


def _claims(path: Path) -> object:
    return [
        (claim.value_text, claim.tokens, claim.skipped, claim.annotators, claim.percent_factor(0.5))
        for claim in read_claims(read_lines(path)[0], str(path))
    ]


def _judged(path: Path) -> object:
    return list(read_judgments(path, base=path.stat().st_size % 2))


def _judged_by_columns(path: Path) -> object:
    columns = {"judge": "judge", "sentence": "sentence", "system": "system"}
    return list(read_judgments(path, columns=columns))


def _scored(path: Path) -> object:
    return read_score_file(path), read_score_file(path, names=("A", "B", "C"))


def _model_card() -> bytes:
    head = Head("pearson", 9, Estimate(0.5, 0.25, 0.75), Estimate(0.25, 0.0, 0.5), 0.5, 0.5, 7, 20)
    data = TrainedOn("r.csv", "ab" * 32, 100, 40, "CC0", ("Somebody.",), ("2 left out",))
    card = ModelCard("some", "e", data, {"test": PartSize(9, 5)}, {"fluency": head}, {"epochs": 2})
    return card_files(card)["card.json"]


def _model_card_in(path: Path) -> object:
    (path.parent / "card.json").write_bytes(path.read_bytes())
    return read_model_card(path.parent)


def _reader(module: str, name: str) -> Callable[[Path], object]:
    def read(path: Path) -> object:
        return getattr(import_module(module), name)(path)

    return read


def _spreadsheets() -> list[bytes]:
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
    try:
        return _scored(path)
    except InputError:
        return _judged(path)


def _sliced(path: Path) -> object:
    return read_slices(path, Corpus.from_texts(["a", "b", "c"]))


def packed_counts() -> list[bytes]:
    """Counts of whole numbers, of fractions, with references that are missing, and of nothing."""
    some = np.arange(24.0).reshape(4, 2, 3)
    missing = some.copy()
    missing[1, 1] = np.nan
    return [pack_counts(each) for each in (some, missing, some / 7, some * 1000, some[:0])]


def unpacked(path: Path) -> object:
    """Bytes as counts: as they are, or, where that is all that is wrong, with a new checksum."""
    data = path.read_bytes()
    try:
        return unpack_counts(data)
    except InputError:
        start, body = data[: HEADER.size], data[HEADER.size + CHECKSUM.size :]
        return unpack_counts(start + CHECKSUM.pack(zlib.crc32(body, zlib.crc32(start))) + body)


def count_files() -> list[bytes]:
    """Batches of counts one after the other, each with its length before it."""
    packed = packed_counts()
    parts = [len(each).to_bytes(8, "little") + each for each in packed]
    return [b"".join(parts), b"".join(parts[:2]), b""]


def count_in(path: Path) -> object:
    """All batches of a file that a record names by its true digest."""
    data = path.read_bytes()
    known = CountFile(len(data), hashlib.sha256(data).hexdigest())
    return [*read_count_file(Folder(str(path.parent)), path.name, known, 0)]


@contextmanager
def _run() -> Iterator[Path]:
    """A run with one task done, from files with the same names and times at any place."""
    with TemporaryDirectory() as name, chdir(name):
        yield _planned(Path())


def _planned(folder: Path) -> Path:
    gold, out = folder / "gold.m2", folder / "A.txt"
    gold.write_text("S a b\nA 0 1|||R|||c|||REQUIRED|||-NONE-|||0\n\nS d e\n\n")
    out.write_text("c b\nd e\n")
    for each in (gold, out):
        os.utime(each, (0, 0))  # plans name when files were changed
    inputs = CorpusFiles(gold=str(gold), outputs=(("A", str(out)),))
    place = Folder(str(folder / "run"))
    manifest = plan_run(place, MetricPlan(("m2()",)), [("gold", inputs)], shard_sentences=1)
    run_job(place, manifest, 0)
    return folder / "run"


def manifests() -> list[bytes]:
    with _run() as run:
        return [(run / "manifest.json").read_bytes()]


def plan_in(path: Path) -> object:
    """The plan, once as it is and once with a digest that fits."""
    folder = Folder(str(path.parent))
    plan = path.parent / "manifest.json"
    plan.write_bytes(path.read_bytes())
    try:
        return read_manifest(folder)
    except InputError as error:
        if "its digest is another" not in str(error):
            raise
        digest = Manifest.digest
        Manifest.digest = property(lambda _: json.loads(plan.read_bytes())["digest"])  # type: ignore[assignment,method-assign]
        try:
            found = read_manifest(folder)
        finally:
            Manifest.digest = digest  # type: ignore[method-assign]
        return found and [*found.lines()]


def records() -> list[bytes]:
    with _run() as run:
        told = json.loads((run / "records" / "00000000.json").read_bytes())["record"]
    return [seal(told | {"host": "here", "peak_bytes": 1, "processor": 0.5, "seconds": 0.5})]


def record_in(path: Path) -> object:
    """A record, sealed anew where it is JSON; none where it cannot be read."""
    data = path.read_bytes()
    plan: Any = SimpleNamespace(digest="")
    try:
        inner = decode_json(data.decode("utf-8"))["record"]
        plan.digest = inner["manifest"]
        data = seal(inner)
    except (ValueError, KeyError, TypeError, UnicodeError):
        pass
    target = path.parent / record_name(0)
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(data)
    found = read_record(Folder(str(path.parent)), plan, 0)
    return None if found is None else found.to_json()


def parquets() -> list[bytes]:
    """Tables with references, edits and documents, in several row groups."""
    import pyarrow
    from pyarrow.parquet import write_table

    edit = {"annotator": 0, "start": 0, "end": 1, "replacement": "c", "kind": "R"}
    tables = [
        {"source": ["a b", "d"], "hypothesis": ["c b", ""], "references": [["c b"], None]},
        {"source": ["a b", "d"], "hyp:A": ["c b", "d"], "edits": [[edit], []], "id": [1, 2]},
        {"source": ["a b"], "hyp:A": ["c"], "m2": ["A 0 1|||R|||c|||REQUIRED|||-NONE-|||0"],
         "document": ["x"]},
    ]  # fmt: skip
    found = []
    for columns in tables:
        buffer = BytesIO()
        write_table(pyarrow.table(columns), buffer, row_group_size=1, compression="none")
        found.append(buffer.getvalue())
    return found


def parquet_in(path: Path) -> object:
    return [*stream_batches(CorpusFiles(parquet=str(path), guard=False), batch=1)]


def read_shards(path: Path) -> object:
    """M2 as gold, cut into small shards and as one stream: the same sentences."""
    inputs = CorpusFiles(gold=str(path), guard=False)
    whole = [source for corpus, _ in stream_batches(inputs, batch=2) for source in corpus.sources]
    shards = plan_shards(inputs, shard_bytes=150)
    parts = [
        source for shard in shards for corpus, _ in read_shard(shard, inputs, batch=3)
        for source in corpus.sources
    ]  # fmt: skip
    assert parts == whole
    return parts


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
    Target("counts", packed_counts, unpacked, ".cnt"),
    Target("count file", count_files, count_in, ".cnt"),
    Target("plan of a run", manifests, plan_in, ".json"),
    Target("record", records, record_in, ".json", refuses=False),
    Target("shards", lambda: [head(_sample("gold.m2")[0], 40)], read_shards, ".m2"),
    *(
        [Target("parquet", parquets, parquet_in, ".parquet")]
        if find_spec("pyarrow")
        else ()
    ),
)  # fmt: skip
