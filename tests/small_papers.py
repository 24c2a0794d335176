"""The public data sets in miniature: every file of them, invented, with a few dozen sentences.

They let all experiments run in seconds and without a download. What comes out means nothing; that
it stays the same is what tests ask. The real files are run by tests marked slow.
"""

import csv
import gzip
import io
import random
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from pathlib import Path

from errata.data import Edit
from errata.datasets.catalogue import DataSet, data_set

SYSTEMS = (
    *("AMU", "CAMB", "CUUI", "IITB", "INPUT", "IPN", "NTHU", "PKU", "POST", "RAC", "SJTU"),
    *("UFC", "UMC"),
)
REFERENCES = ("src", "refExptFluent", "refCrwdFluent", "refNUCLE", "refExptMinimal")
KINDS = ("ArtOrDet", "Nn", "Prep", "SVA", "Vform")
WORDS = (
    *("a", "the", "cat", "dog", "cats", "dogs", "sees", "see", "saw", "on", "in", "at", "mat"),
    *("house", "houses", "old", "new", "runs", "run"),
)
SIZE = 52
Choice = Sequence[tuple[str, ...]]


def write_small_papers(folder: Path, seed: int = 5) -> None:
    """Write every file of the catalogue that experiments read, laid out as ERRATA_DATA wants."""
    draw = random.Random(seed)
    sources = [[draw.choice(WORDS) for _ in range(draw.randint(5, 9))] for _ in range(SIZE)]
    gold = [[_edits(draw, source) for _ in range(2)] for source in sources]
    for place in (7, 20):
        gold[place].pop(1 if place == 7 else 0)  # one annotator has nothing to say
    texts = [
        [" ".join(_corrected(source, several[k % len(several)])) for k in (0, 1)]
        for source, several in zip(sources, gold, strict=True)
    ]
    plain = [" ".join(source) for source in sources]
    outputs = {name: _rewrite(draw, sources, gold, 0.08 * k) for k, name in enumerate(SYSTEMS)}
    outputs["INPUT"] = plain
    outputs["NTHU"] = outputs["NTHU"][1:] + outputs["NTHU"][:1]  # shifted, as a part of it is
    write = _writer(folder)

    write("conll14", "conll14st-test.m2", _m2(sources, gold))
    write("conll14", "conll14st-test.tok.src", _lines(plain))
    for k in (0, 1):
        write("conll14", f"refs/conll14st-test.tok.trg{k}", _lines(pair[k] for pair in texts))
    for name, lines in outputs.items():
        write("conll14-outputs", name, _lines(lines))
    _write_judgments(write, draw, outputs, plain)
    _write_references(write, draw, sources, gold)
    _write_scores(write, draw)
    for name, systems in (("conll14_4sys.txt", 4), ("conll14_8sys.txt", 8)):
        rows = [
            " ".join(str(draw.randint(0, systems)) for _ in range(2 * len(s) + 1)) for s in sources
        ]
        write("gts-weights", name, _lines([str(systems), *rows]))
    _write_later(write, random.Random(seed + 1), sources, gold)


def _writer(folder: Path) -> Callable[[str, str, str], None]:
    def write(name: str, file: str, text: str) -> None:
        chosen: DataSet = data_set(name)
        path = folder / chosen.address(chosen.file(file))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(text.encode()) if file.endswith(".gz") else text.encode())

    return write


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _edits(draw: random.Random, source: list[str]) -> list[Edit]:
    """At most two edits: a word replaced, a word left out."""
    places = sorted(draw.sample(range(len(source)), 2))
    found = [Edit(places[0], places[0] + 1, draw.choice(WORDS), draw.choice(KINDS))]
    if draw.random() < 0.6:
        found.append(Edit(places[1], places[1] + 1, "", draw.choice(KINDS)))
    return found


def _corrected(source: Sequence[str], edits: Iterable[Edit]) -> list[str]:
    words = list(source)
    for edit in sorted(edits, key=lambda edit: -edit.start):
        words[edit.start : edit.end] = edit.replacement.split()
    return words


def _m2(sources: Sequence[Sequence[str]], gold: Sequence[Sequence[Sequence[Edit]]]) -> str:
    blocks = []
    for place, (source, several) in enumerate(zip(sources, gold, strict=True)):
        lines = [f"S {' '.join(source)}"]
        for k, edits in enumerate(several):
            end = f"REQUIRED|||-NONE-|||{1 if place == 20 and len(several) == 1 else k}"
            lines += [f"A {e.start} {e.end}|||{e.kind}|||{e.replacement}|||{end}" for e in edits]
        blocks.append(_lines(lines))
    return "\n".join(blocks)


def _rewrite(
    draw: random.Random,
    sources: Sequence[Sequence[str]],
    gold: Sequence[Sequence[Sequence[Edit]]],
    skill: float,
) -> list[str]:
    """Each sentence with some of the gold's edits, some of one's own, or as it was."""
    lines = []
    for source, several in zip(sources, gold, strict=True):
        edits = [edit for edit in draw.choice(several) if draw.random() < skill]
        if draw.random() < 0.3:
            place = draw.randrange(len(source))
            if all(place != edit.start for edit in edits):
                edits.append(Edit(place, place + 1, draw.choice(WORDS), "x"))
        lines.append(" ".join(_corrected(source, edits)) or ".")
    return lines


def _groups(
    draw: random.Random, outputs: dict[str, list[str]], sentence: int, most: int = 5
) -> Choice:
    """The systems of one sentence, those of one text together, as many groups as are shown."""
    by_text: dict[str, list[str]] = {}
    for name, lines in outputs.items():
        by_text.setdefault(lines[sentence], []).append(name)
    groups = [tuple(names) for names in by_text.values()]
    draw.shuffle(groups)
    return groups[:most]


def _rank(draw: random.Random, skill: int) -> int:
    """The rank of a system, by and large the better the further on it stands."""
    return min(5, max(1, round(draw.gauss(4.5 - 0.3 * skill, 0.8))))


def _write_judgments(
    write: Callable[[str, str, str], None],
    draw: random.Random,
    outputs: dict[str, list[str]],
    sources: list[str],
) -> None:
    items, pairs, sampled, experts, tasks = [], [], [], [], []
    for number in range(240):
        judge = f"annotator{1 + number % 8:02d}"
        sentence = draw.randrange(1, SIZE)
        groups = _groups(draw, outputs, sentence)
        ranks = [_rank(draw, SYSTEMS.index(group[0])) for group in groups]
        items.append((judge, sentence, groups, ranks))
        every = [(name, rank) for group, rank in zip(groups, ranks, strict=True) for name in group]
        pairs += [(judge, sentence, number, *two) for two in combinations(every, 2)]
        one = [(draw.choice(group), rank) for group, rank in zip(groups, ranks, strict=True)]
        sampled += [(judge, sentence, number, *two) for two in combinations(one, 2)]
        if number % 3 == 0:
            again = [str(min(5, rank + draw.randint(0, 1))) for rank in ranks]
            text = {"||".join(" ".join(g) for g in groups): [[str(rank) for rank in ranks], again]}
            experts.append(f"{sentence + 1}\t1.0\t{text}")
        if number % 2 == 0:
            tasks.append((number, sentence, groups))
    write("grundkiewicz15", "judgments.xml", _appraise(items))
    for name, several in (("expanded", pairs), ("unexpanded", sampled)):
        file = f"sentence_pairwiseranks_humans/{name}.csv.gz"
        write("gecmetrics-scores", file, _pairwise(several, "conll14st-test.{}.src-trg"))
    write("sakaguchi16", "highAgreedAMU.txt", _lines(experts))
    write("sakaguchi16", "Ctrl_merged.csv", _mturk(draw, tasks, outputs, sources))
    own = {
        name: [f"{name} {i // 3}" for i in range(SIZE)] for name in (*REFERENCES, "refCrwdMinimal")
    }
    main = [(n, n % SIZE, _groups(draw, own, n % SIZE)) for n in range(60)]
    write("sakaguchi16", "Main_merged.csv", _mturk(draw, main, own, sources))
    names = [name.replace("INPUT", "src") for name in SYSTEMS] + ["refmix1"]
    said = []
    for number in range(120):
        ranked = [(name, _rank(draw, names.index(name))) for name in draw.sample(names, 4)]
        said += [
            (f"annot{number % 3}", number % SIZE, number, *two) for two in combinations(ranked, 2)
        ]
    write("napoles15", "all_judgments.csv", _pairwise(said, "{}"))


def _appraise(items: Sequence[tuple[str, int, Choice, Sequence[int]]]) -> str:
    rows = ['<?xml version="1.0" encoding="UTF-8"?>', "<appraise-results>"]
    rows.append('<error-correction-ranking-result source-language="err" target-language="cor">')
    for number, (judge, sentence, groups, ranks) in enumerate(items):
        rows.append(f'<ranking-item id="{number}" src-id="{sentence}" user="{judge}">')
        rows += [
            f'<translation rank="{rank}" system="{" ".join(group)}"/>'
            for group, rank in zip(groups, ranks, strict=True)
        ]
        rows.append("</ranking-item>")
    return _lines([*rows, "</error-correction-ranking-result>", "</appraise-results>"])


def _pairwise(rows: Iterable[tuple[object, ...]], system: str) -> str:
    titles = (
        "srclang,trglang,srcIndex,segmentId,judgeID,system1Id,system1rank,system2Id,system2rank"
    )
    lines = [f"{titles},rankingID"]
    for judge, sentence, number, (a, one), (b, other) in rows:  # type: ignore[misc]
        two = f"{system.format(a)},{one},{system.format(b)},{other}"  # type: ignore[has-type]
        lines.append(f"src,trg,{sentence},{sentence},{judge},{two},{number}")
    return _lines(lines)


def _mturk(
    draw: random.Random,
    tasks: Iterable[tuple[int, int, Choice]],
    outputs: dict[str, list[str]],
    sources: list[str],
) -> str:
    """Most labels are those of the sentence before, as in the file that was released."""
    titles = ["HITId", "WorkerId", "AssignmentStatus", "WorkTimeInSeconds", "Input.sentID"]
    for part in ("Input.system", "Input.sentence", "Answer.rank_"):
        titles += [f"{part}{k}" for k in range(1, 6)]
    out = io.StringIO()
    sheet = csv.DictWriter(out, [*titles, "Input.source"], lineterminator="\n")
    sheet.writeheader()
    for number, sentence, groups in tasks:
        for worker in range(2):
            row: dict[str, object] = {
                "HITId": f"H{number}",
                "WorkerId": f"W{(number + worker) % 5}",
            }
            row["AssignmentStatus"] = "Rejected" if number % 23 == 0 else "Approved"
            row["WorkTimeInSeconds"] = draw.randint(10, 90)
            row["Input.sentID"] = sentence - 1 if number % 7 and sentence else sentence
            row["Input.source"] = sources[sentence]
            for k in range(1, 6):
                there = k <= len(groups)
                row[f"Input.system{k}"] = " ".join(groups[k - 1]) if there else "###"
                row[f"Input.sentence{k}"] = outputs[groups[k - 1][0]][sentence] if there else "###"
                skill = 2 * list(outputs).index(groups[k - 1][0]) if there else 0
                row[f"Answer.rank_{k}"] = _rank(draw, skill) if there else ""
            sheet.writerow(row)
    return out.getvalue()


def _write_references(
    write: Callable[[str, str, str], None],
    draw: random.Random,
    sources: Sequence[Sequence[str]],
    gold: Sequence[Sequence[Sequence[Edit]]],
) -> None:
    for skill, kind in ((0.9, "fluency"), (0.6, "minimal")):
        for people in ("expert", "turker"):
            for letter in "AB":
                name = f"{people}_{kind}{letter}"
                write("sakaguchi16", name, _lines(_rewrite(draw, sources, gold, skill)))
    write("sakaguchi16", "merged_ids", _lines(["3", "4", "48"]))


def _write_later(
    write: Callable[[str, str, str], None],
    draw: random.Random,
    sources: Sequence[Sequence[str]],
    gold: Sequence[Sequence[Sequence[Edit]]],
) -> None:
    """What came after: more annotators, more rewrites, later systems, other corpora."""
    ten = [[_edits(draw, s) if draw.random() < 0.8 else [] for _ in range(10)] for s in sources]
    write("bn15", "BN_corrected.m2", _m2(sources, ten))
    for k, file in enumerate(("EXPFLUENCY.m2", "EXPMIN.m2")):
        write("rewrites-m2", file, _m2(sources, [several[2 * k : 2 * k + 2] for several in ten]))
    more = [[*g, _edits(draw, s)] for s, g in zip(sources, gold, strict=True)]
    file = "alt/official-2014.combined-withalt.m2"
    write("conll14-alternatives", file, _m2(sources, more))
    write("conll13", "official-preprocessed.m2", _m2(sources[:9], gold[:9]))
    rewrites = [_rewrite(draw, sources, gold, 0.5) for _ in range(6)]
    out = io.StringIO()
    sheet = csv.writer(out, lineterminator="\n")
    sheet.writerow(["Input.sentID", "Answer.Q1MultiLineTextInput"])
    sheet.writerows([i + 1, each[i]] for i in (4, 9, 17) for each in rewrites)
    write("sakaguchi16-extra", "results_extra-HITs.csv", out.getvalue())
    write("jfleg", "test/test.src", _lines(map(" ".join, sources[:8])))
    for k in range(4):
        write("jfleg", f"test/test.ref{k}", _lines(_rewrite(draw, sources[:8], gold[:8], 0.7)))
    for name, file in (
        ("kiyono19", "pretlarge+sse+r2l/conll14.test.out"),
        ("kiyono19", "pretlarge+sse+r2l+sed/conll14.test.out"),
        ("junczys18", "test2014.out"),
        ("ge18", "conll/conll_fb_learning.txt"),
        ("junczys16", "outputs/cclm/best.sparse+cclm.out"),
    ):
        write(name, file, _lines(_rewrite(draw, sources, gold, draw.uniform(0.3, 0.9))))
    names = [name.replace("INPUT", "src") for name in SYSTEMS]
    items = []
    for number in range(160):
        drawn = draw.sample(names, 7)
        groups = (tuple(drawn[:3]), *((name,) for name in drawn[3:6]), ("refmix1",))
        ranks = [_rank(draw, [*names, "refmix1"].index(group[0])) for group in groups]
        judge = ("annot1", "annot2", "annot3", "non-native")[number % 4]
        items.append((judge, number % SIZE, groups, ranks))
    write("napoles15", "all_judgments.xml", _appraise(items))


def _write_scores(write: Callable[[str, str, str], None], draw: random.Random) -> None:
    def some(least: float = 0.1, most: float = 0.9) -> str:
        return f"{draw.uniform(least, most):.4f}"

    head = "src-trg\tconll14st-test"
    for human in ("expected_wins", "trueskill"):
        rows = [f"human\t{head}\t{name}\t{some()}" for name in SYSTEMS]
        write("gecmetrics-scores", f"system_scores_humans/{human}.txt.gz", _lines(rows))
    for metric in ("gleu", "imeasure", "m2score"):
        rows = [f"{metric}\t{head}\t{name}\t{some()}" for name in SYSTEMS]
        write("gecmetrics-scores", f"system_scores_metrics/{metric}.txt.gz", _lines(rows))
        rows = [
            f"{metric}\t{head}\t{name}\t{i}\t{draw.randint(0, 4) / 4}"
            for name in SYSTEMS
            for i in range(SIZE)
        ]
        write("gecmetrics-scores", f"sentence_scores_metrics/{metric}.txt.gz", _lines(rows))
    for name in ("bleu", "iwacc", "meteor"):
        write("grundkiewicz15", f"scores.{name}", _lines(f"{s} {some()}" for s in SYSTEMS))
    rows = [f"{s} {some()} {some()} {some()}" for s in SYSTEMS]
    write("grundkiewicz15", "scores.m2", _lines(rows))
    sets = ("BN15", "E-fluency", "E-minimal", "NE-fluency", "NE-minimal", "NUCLE", "all")
    rows = [
        f"{metric}\t{references}\t{name.replace('INPUT', 'source')}\t{some()}"
        for metric in ("BLEU", "GLEU", "IM", "M2")
        for references in sets
        for name in SYSTEMS
    ]
    write("sakaguchi16", "metric_scores", _lines(rows))
