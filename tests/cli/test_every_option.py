"""Every option of every command does something: changing it changes what comes out.

For each option stands a command line and what is added to it; the rows of the tables (numbers and
words, not titles, headings or signatures), the files written or the exit code must differ. Where
tables are named, each of them must. An option without a line here fails the test.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import click
import pytest

from board_sample import sample_board, submit
from command import errata
from data_server import make_folder
from errata.cli import COMMANDS, cli
from errata.cli.collect_design import SETTINGS
from rated_outputs import rated_csv
from small_experiment import SMALL

SAMPLE = Path(__file__).parents[2] / "src" / "errata" / "datasets" / "sample"
# What changes no number and no word, and why nothing is to be seen of it here.
WITHOUT_TRACE = {
    "--data": "stands for files; tests/cli/test_named_data.py, command by command",
    "--threads": "the numbers are the same in any number of threads, which evaluation's tests hold",
    "score --stream": "the numbers are the same; tests/cli/test_score_streams.py",
    "--force": "concerns files that exist; tests/cli/test_writing.py",
    "errata --version": "prints the version and nothing else; tests/cli/test_cli.py",
    "errata --traceback": "shows where we failed; tests/cli/test_endings.py",
    "--json": "the same as --format json, and how all of this is read",
    "reproduce --extract": "only tables of ERRANT's types read it, which need the data sets",
    "cache clear --format": "as in cache show; nothing is cleared here",
    "--quiet": "concerns standard error; tests/cli/test_endings.py",
    "--verbose": "concerns standard error; tests/cli/test_endings.py",
    "--no-limits": "concerns millions of resamples only; tests/cli/test_limits.py",
    "compare --baseline": "takes the place of a file; tests/cli/test_gate.py",
    "compare --update-baseline": "renews a file; tests/cli/test_gate.py",
    "compare --annotate": "concerns standard error; tests/cli/test_gate.py",
    "--safe-cells": "the same in all commands: `emit` does it; held for score below",
    "--signature": "only what is said below tables; tests/cli/test_cli.py",
    "--digits": "the same in all commands: `emit` does it; held for score below",
    **{
        f"collect {name} {option}": "concerns what is served; tests/cli/test_collect.py, web"
        for name in ("serve", "run", "try")
        for option in ("--host", "--port", "--url", "--certificate", "--key", "--behind-proxy")
        + ("--plain-http", "--format")
    },
    **{
        f"collect new {option}": "seen in what is stored; tests/cli/test_collect.py"
        for option in ("--campaign", "--instructions", "--consent", "--documents", "--quota")
        + ("--policy", "--design-seed", "--url", "--name", "--language", "--text-language")
        + ("--pilot", "--separate", *(each.spelling for each in SETTINGS.values()))
    },
    **{
        f"collect run {option}": "as in collect new, which declares them once"
        for option in ("--source", "--refs", "--sample", "--no-guard", "--campaign", "--consent")
        + ("--instructions", "--documents", "--name", "--language", "--text-language", "--pilot")
        + ("--separate", *(each.spelling for each in SETTINGS.values()))
    },
    **{
        f"collect change {option}": "changes what is kept; tests/cli/test_collect_design.py"
        for option in ("--quota", "--rankings", "--hours", "--money", "--instructions")
        + ("--consent", "--format")
    },
    **{
        f"collect {name} --writers": "of texts for review; tests/cli/test_collect_writers.py"
        for name in ("new", "run")
    },
    "--storage": "concerns object stores; tests/io/shards/test_stores.py",
    "scale plan --run": "where the plan is written to, which is named in every line",
    "scale run --run": "where the run is, which is named in every line; tests/cli/test_scale.py",
    **{
        f"scale {name} --parquet": "needs pyarrow; tests/cli/test_scale.py"
        for name in ("plan", "run")
    },
    **{
        f"scale run {option}": "the numbers are the same; tests/cluster, tests/cli/test_scale.py"
        for option in ("--engine", "--workers", "--scheduler", "--certificates", "--life")
        + ("--allow-failed", "--shard-size", "--shard-sentences")
    },
    **{
        f"scale {option}": "changes what is in the folder; tests/cli/test_scale.py, tests/cluster"
        for option in ("task --run", "task --index", "task --of", "clean --run", "clean --all")
        + ("task --format", "clean --format", "sentences --run", "sentences --format")
    },
    "logs --parquet": "needs pyarrow; tests/cli/test_logs.py",
    "logs --for": "needs pyarrow; tests/cli/test_logs.py",
    "collect serve --workers": "needs PostgreSQL; tests/web/test_workers.py",
    "collect close --forget": "deletes what is kept; tests/cli/test_collect.py",
    "collect import --earlier": "for adaptive pairs; tests/cli/test_collect_design.py",
    "collect import --url": "as in collect judges; tests/cli/test_collect.py",
    "collect import --format": "as in collect links; the judges would be there twice",
    "collect links --url": "seen in what is stored; tests/cli/test_collect.py",
    **{
        f"collect {name} --format": "as in collect new and status; the state would change"
        for name in ("open", "pause", "close", "backup")
    },
    **{
        f"collect export {option}": "needs answers; tests/cli/test_collect.py"
        for option in ("--form", "--with-blocked", "--mark", "--output", "--format")
    },
    **{
        f"collect judges {option}": "changes who judges; tests/cli/test_collect.py"
        for option in ("--count", "--erase", "--url", "--format")
    },
}


class Case(NamedTuple):
    """A command line, what is added to it, and the tables of which each must change."""

    base: str
    added: str
    tables: tuple[str, ...] = ()
    text: bool = False


def case(base: str, added: str, *tables: str, text: bool = False) -> Case:
    return Case(base, added, tables, text)


GLEU = "-m gleu --resamples 30"
FAST = f"{GLEU} --trials 30 --show 2"
TEXTS = "--source source.txt --refs reference0.txt"
RATED = "--sample --resamples 40"
JUDGED = "--source source.txt --refs reference0.txt -m gleu --resamples 30 " + " ".join(
    f"{name}.txt" for name in ("eager", "cautious", "fluent", "noisy", "nothing")
)
SETS = "--set a=annotator:0 --set b=reference1.txt --set both=a+b"
AB = f"{TEXTS} -m gleu --resamples 0 A=eager.txt B=noisy.txt --labels given"
FILED = "--scores scores.tsv --human human.tsv --resamples 30 --level system"
BUILD = f"--gold gold.m2 eager.txt noisy.txt {GLEU} --old eager"
TOLD = "--scores scores.tsv --human human.tsv --resamples 30"
PEOPLE = "--judgments judgments.jsonl --resamples 40"
HARD = "--sample --resamples 30 --examples 200"
TRAIN = {
    "--encoder": "--encoder other",
    "--epochs": "--epochs 3",
    "--batch-size": "--batch-size 7",
    "--learning-rate": "--learning-rate 0.01",
    "--patience": "--patience 5",
    "--max-length": "--max-length 64",
    "--device": "--device cpu",
    "--fold": "--fold 3",
    "--seed": "--seed 1",
    "--rows": "--rows 100",
    "--output": "-o new",
}
GOLD_RUN, RATED_RUN = "--gold gold.m2 --dry-run", "--ratings rated_outputs.csv --dry-run"
LIKELY = """
name = "likely"
title = "How likely a sentence is"
citation = "Nobody. 2025. Nothing. Nowhere."
data = []

[[table]]
name = "one"
title = "Perplexity"
origin = "Table 1"
measure = "sentence_perplexity"
by = ["example", "side"]
matrix = '''
     source
he   12.5
'''
    [table.arguments.examples.he]
    source = "He goes home ."
    [[table.way]]
    from = "a model"
    software = "model"
"""
JUDGE = "-m judge(repeats=1)"
BY_JUDGE = f"--gold gold.m2 eager.txt noisy.txt {JUDGE}"
# A corpus is named in the same way everywhere: what follows is given to each command that has it.
CORPUS = {
    "--gold": case("--gold gold.m2 {more}", "--gold less.m2"),
    "--source": case(f"{TEXTS} --refs reference1.txt {{more}}", "--source source2.txt"),
    "--refs": case(f"{TEXTS} --refs marked.txt {{more}}", "--refs reference1.txt"),
    "--missing": case(f"{TEXTS} --refs marked.txt {{more}}", "--missing <none>"),
    "--annotator": case("--gold gold.m2 --annotator 0 {more}", "--annotator 1"),
    "--compatible": case("--gold odd.m2 {odd}", "--compatible"),
    "--skip-sentences": case("--gold gold.m2 {more}", "--skip-sentences 3,7-9"),
    "--tokens": case("--gold gold.m2 {more}", "--tokens characters"),
    "--no-guard": case(
        "--source source.txt --refs reference1.txt --refs alien.txt {more}", "--no-guard"
    ),
}
MORE = {
    "score": (f"eager.txt noisy.txt {GLEU}", f"odd.txt {GLEU}"),
    "refs": (f"eager.txt {GLEU}", f"odd.txt {GLEU}"),
    "difficulty": ("eager.txt noisy.txt --resamples 0", "odd.txt --resamples 0"),
    "stress": (GLEU, GLEU),
    "train impara": ("--dry-run", "--gold odd_many.m2 --dry-run"),
    "compare": (f"eager.txt noisy.txt {FAST}", f"odd.txt x=odd.txt {FAST}"),
    "verify": ("gleu=0.2 noisy.txt", "gleu=0 odd.txt"),
    "report": (f"eager.txt noisy.txt {GLEU}", f"odd.txt {GLEU}"),
    "align": ("eager.txt -m difficulty --sentences 1-72", "odd.txt -m difficulty"),
    "meta": (
        f"eager.txt cautious.txt fluent.txt noisy.txt nothing.txt {GLEU} "
        "--human human.tsv --level system",
        f"odd.txt x=odd.txt y=odd.txt --human odd.tsv --level system {GLEU}",
    ),
}
JUDGMENTS = {
    "--base": case("judgments1.jsonl --outputs outputs", "--base 1"),
    "--leave-out": case("--sample", "--leave-out ana"),
    "--outputs": case("judgments1.jsonl", "--outputs outputs"),
    "--labels": case("shifted.csv --outputs texts", "--labels text"),
    "--status": case("mturk.csv", "--status Rejected"),
    "--columns": case("rated.csv", "--columns score=fluency"),
    "--without": case("--sample", "--without noisy"),
    "--sample": case("", "--sample"),
    "--skip-sentences": case("--sample", "--skip-sentences 3,7-9"),
    "--format": case("--sample", "--format tsv", text=True),
}
CASES: dict[str, dict[str, Case | list[Case]]] = {
    "score": {
        "--sample": case(GLEU, "--sample"),
        "--metric": case(f"--sample {GLEU}", "-m bleu"),
        "--by-sentence": case(f"--sample {GLEU}", "--by-sentence"),
        "--compare": case(f"--sample {GLEU}", "--compare"),
        "--by-type": case("--sample -m errant(extractor=aligned) --resamples 0", "--by-type"),
        "--extract": case(
            "--gold gold.m2 wide.m2 -m errant(extractor=aligned) --resamples 0", "--extract aligned"
        ),
        "--tier": case("--sample -m errant(extractor=aligned) --by-type", "--tier 1"),
        "--details": case(f"--sample {GLEU} -m bleu", "--details", text=True),
        "--resamples": case(f"--sample {GLEU}", "--resamples 31"),
        "--bootstrap": case(f"--sample {GLEU}", "--bootstrap poisson"),
        "--confidence": [
            case(f"--sample {GLEU}", "--confidence 0.5"),
            case(f"--sample {GLEU} -m bleu", "--confidence 0.5", text=True),
        ],
        "--seed": case(f"--sample {GLEU} --compare", "--seed 1", "gleu", "gleu_p_values"),
        "--format": case(f"--sample {GLEU}", "--format tsv", text=True),
        "--safe-cells": case(f"--gold gold.m2 @A=eager.txt {GLEU} --format tsv", "--safe-cells"),
        "--digits": case(f"--gold gold.m2 eager.txt {GLEU}", "--digits 3", text=True),
    },
    "compare": {
        "--sample": case(FAST, "--sample"),
        "--metric": case(f"--sample {FAST}", "-m bleu"),
        "--old": case(f"--sample {FAST}", "--old fluent"),
        "--slices": case(f"--sample {FAST}", "--slices levels.tsv"),
        "--extract": case(f"--gold gold.m2 wide.m2 x=wide.m2 {FAST}", "--extract aligned"),
        "--tier": case(f"--sample {FAST}", "--tier 1"),
        "--show": case(f"--sample {FAST}", "--show 3"),
        "--by-edit": case(f"--sample {FAST}", "--by-edit"),
        "--resamples": case(f"--sample {FAST}", "--resamples 31"),
        "--confidence": case(f"--sample {FAST}", "--confidence 0.5"),
        "--seed": case(f"--sample {FAST}", "--seed 1", "eager_metrics", "eager_kinds"),
        "--trials": case(f"--sample {FAST}", "--trials 31"),
        "--scores": case("--old nothing", "--scores counted/result.json"),
        "--fail-if": case(f"--sample {FAST}", "--fail-if gleu>0.9"),
        "--bound": case(f"--sample {FAST} --fail-if gleu>0.19", "--bound point"),
        "--junit": case(f"--sample {FAST} --fail-if gleu>0.9", "--junit new.xml"),
        "--markdown": case(f"--sample {FAST}", "--markdown new.md"),
        "--format": case(f"--sample {FAST}", "--format tsv", text=True),
    },
    # The page itself says by which command it was made: what must differ are its tables.
    "report": {
        "--sample": case(GLEU, "--sample"),
        "--output": case(TOLD, "-o new.html"),
        "--title": case(f"{TOLD} --format markdown", "--title Ours", text=True),
        "--old": case(f"--gold gold.m2 eager.txt noisy.txt {GLEU}", "--old eager"),
        "--slices": case(BUILD, "--slices levels.tsv"),
        "--fail-if": case(BUILD, "--fail-if gleu<1"),
        "--bound": case(f"{BUILD} --fail-if gleu<-0.4", "--bound point", "gate"),
        "--runs": case(TOLD, "--runs runs"),
        "--metric": case(f"--gold gold.m2 eager.txt {GLEU}", "-m bleu"),
        "--extract": case(f"--gold gold.m2 one.m2 wide.m2 {GLEU}", "--extract aligned", "kinds"),
        "--judgments": case(TOLD, "--judgments judgments.jsonl"),
        "--ranker": case(PEOPLE, "--ranker net_wins", "ranking"),
        "--members": case(PEOPLE, "--members sample", "ranking"),
        "--unit": case(PEOPLE, "--unit judges", "ranking"),
        "--leave-out": case(PEOPLE, "--leave-out ana", "ranking", "agreement"),
        "--scores": case(TOLD, "--scores other.tsv", "system_level"),
        "--human": case(TOLD, "--human other.tsv", "system_level"),
        "--names": case(
            "--scores bare.txt --human human.tsv --resamples 0",
            "--names eager,cautious,fluent,noisy,nothing",
        ),
        "--lower-is-better": case(TOLD, "--lower-is-better scores", "system_level"),
        "--without": case(f"{PEOPLE} --scores scores.tsv", "--without noisy", "ranking", "scores"),
        "--hide": case(TOLD, "--hide noisy", "system_level"),
        "--common": case("--scores fewer.tsv --human human.tsv --resamples 30", "--common"),
        "--base": case("--judgments judgments1.jsonl --outputs outputs --resamples 30", "--base 1"),
        "--outputs": case("--judgments judgments1.jsonl --resamples 30", "--outputs outputs"),
        "--labels": case("--judgments shifted.csv --outputs texts --resamples 30", "--labels text"),
        "--status": case("--judgments mturk.csv --resamples 30", "--status Rejected"),
        "--columns": case("--judgments rated.csv --resamples 30", "--columns score=fluency"),
        "--resamples": case(PEOPLE, "--resamples 31", "ranking"),
        "--confidence": case(f"{PEOPLE} --scores scores.tsv", "--confidence 0.5"),
        "--seed": case(PEOPLE, "--seed 1", "ranking"),
        "--format": case(TOLD, "--format tsv", text=True),
    },
    "verify": {
        "--sample": case("gleu=0.64 --for eager", "--sample"),
        "--for": case("m2=0.8165 --sample", "--for eager"),
        "--confidence": case("m2=0.8±0.04 --sample --for eager", "--confidence 0.5"),
        "--format": case("m2=0.8165 --sample --for eager", "--format tsv", text=True),
    },
    "board": {
        "--check": case("board", "--check oddly"),
        "--strict": case("board --check oddly", "--strict"),
        "--site": case("board", "--site new"),
        "--codabench": case("board", "--codabench new.zip"),
        "--format": case("board", "--format tsv", text=True),
    },
    "metrics": {"--format": case("gleu", "--format tsv", text=True)},
    "cache show": {"--format": case("", "--format tsv", text=True)},
    "rankers": {"--format": case("trueskill", "--format tsv", text=True)},
    "check": {
        "--gold": case("eager.txt", "--gold gold.m2"),
        "--source": case("eager.txt --refs reference0.txt", "--source source.txt"),
        "--refs": case("eager.txt --source source.txt", "--refs reference0.txt"),
        "--missing": case("--source source.txt --refs marked.txt", "--missing <none>"),
        "--compatible": case("odd.m2", "--compatible"),
        "--strict": case("many.m2", "--strict"),
        "--skip-sentences": case("many.m2 --every", "--skip-sentences 2-3", "findings", "files"),
        "--every": case("many.m2", "--every"),
        "--format": case("many.m2", "--format tsv", text=True),
    },
    "convert": {
        "--output": case("gold.m2 --only-source", "-o new.txt"),
        "--only-source": case("gold.m2 -o new --copy-missing", "--only-source"),
        "--source": case(f"{TEXTS} -o new.m2", "--source source2.txt"),
        "--refs": case(f"{TEXTS} -o new.m2", "--refs reference1.txt"),
        "--missing": [
            case(f"{TEXTS} --refs marked.txt -o new.m2", "--missing <none>"),
            case("gold.m2 -o new --missing <none>", "--missing <no>"),
        ],
        "--compatible": case("odd.m2 --annotator 0", "--compatible", text=True),
        "--annotator": case("gold.m2 -o new --copy-missing", "--annotator 0"),
        "--copy-missing": case("gold.m2 -o new", "--copy-missing"),
        "--skip-sentences": [
            case("gold.m2 -o new --copy-missing", "--skip-sentences 3"),
            case(f"{TEXTS} -o new.m2", "--skip-sentences 3"),
        ],
        "--extract": case("gold.m2 -o new --copy-missing --annotator all", "--extract aligned"),
        "--format": case("gold.m2 -o new --copy-missing", "--format tsv", text=True),
        "--tokens": case(f"{TEXTS} --refs reference1.txt", "--tokens characters", text=True),
        "--no-guard": case("--source source.txt --refs alien.txt", "--no-guard", text=True),
    },
    "tokenise": {
        "--tokens": case("source.txt --tokens as_is", "--tokens characters", text=True),
        "--output": case("source.txt --tokens characters", "-o new.txt", text=True),
        "--format": case("source.txt --tokens characters -o new.txt", "--format tsv", text=True),
    },
    "data": {"--catalogue": case("list", "")},
    "data list": {"--format": case("", "--format tsv", text=True)},
    "data path": {
        "--format": case("sample", "--format tsv", text=True),
        "--base-url": case("toy --base-url http://127.0.0.1:9", "--base-url http://127.0.0.1:1"),
    },
    "data get": {
        "--all": case("--base-url http://127.0.0.1:9", "--all"),
        "--format": case("toy", "--format tsv", text=True),
        "--base-url": case("toy --base-url http://127.0.0.1:9", "--base-url http://127.0.0.1:1"),
    },
    "data check": {"--format": case("", "--format tsv", text=True)},
    "rank": {
        **JUDGMENTS,
        "--ranker": case(RATED, "--ranker net_wins"),
        "--unit": case(RATED, "--unit pairs"),
        "--resamples": case(RATED, "--resamples 41"),
        "--confidence": case(RATED, "--confidence 0.5"),
        "--seed": case(RATED, "--seed 1"),
        "--members": case(RATED, "--members sample"),
        "--value": case(RATED, "--value mean"),
        "--balanced": case(RATED, "--balanced"),
        "--order": case("close.jsonl --resamples 40", "--order mean_rank"),
        "--hide": case(f"{RATED} --head-to-head", "--hide noisy", "ranking", "head_to_head"),
        "--head-to-head": case(RATED, "--head-to-head"),
        "--figure": case(RATED, "--figure new.svg"),
        "--without": case(f"{RATED} --head-to-head", "--without noisy", "ranking", "head_to_head"),
    },
    "agree": {
        **JUDGMENTS,
        "--chance": case("--sample", "--chance cohen"),
        "--kappa-weights": case("--sample", "--kappa-weights quadratic"),
        "--minimum": case(
            "--sample --group a=ana,bo --group b=*", "--minimum 5000", "groups", "group_pairs"
        ),
        "--group": case("--sample", "--group a=ana,bo --group b=*"),
        "--figure": case("--sample --group a=ana,bo --group b=*", "--figure new.svg"),
        "--ranker": case("--sample", "--ranker net_wins"),
    },
    "plan": {
        **JUDGMENTS,
        **{
            option: case("--sample --systems eager cautious --simulations 50", added)
            for option, added in {
                "--confidence": "--confidence 0.6",
                "--power": "--power 0.3",
                "--unit": "--unit judges",
                "--largest": "--largest 2",
                "--simulations": "--simulations 90",
                "--batch": "--batch 7",
                "--pairs": "--pairs 2",
                "--seed": "--seed 1",
                "--ranker": "--ranker net_wins",
            }.items()
        },
        "--systems": case("--sample", "--systems eager cautious --simulations 50"),
    },
    "meta": {
        "--sample": case(GLEU, "--sample"),
        "--metric": case(f"--sample {GLEU}", "-m bleu"),
        "--judgments": case(f"{JUDGED} --human human.tsv", "--judgments judgments.jsonl"),
        "--names": case(
            "--scores bare.txt --human human.tsv --level system --resamples 0",
            "--names eager,cautious,fluent,noisy,nothing",
        ),
        "--lower-is-better": case(FILED, "--lower-is-better scores"),
        "--human": case(FILED, "--human other.tsv"),
        "--scores": case(FILED, "--scores other.tsv"),
        "--ranker": case(f"--sample {GLEU}", "--ranker net_wins", "system_level"),
        "--members": case(f"--sample {GLEU}", "--members sample", "system_level", "sentence_level"),
        "--level": case(f"--sample {GLEU}", "--level system"),
        "--over": case(f"--sample {GLEU}", "--over sentences", "system_level"),
        "--window": case(f"--sample {GLEU}", "--window 3"),
        "--top": case(f"--sample {GLEU}", "--top 3"),
        "--tests": case(f"--sample {GLEU} -m bleu", "--no-tests"),
        "--matrix": case(f"--sample {GLEU} -m bleu", "--matrix"),
        "--ensemble": case(f"--sample {GLEU} -m bleu", "--ensemble"),
        "--convention": case(f"--sample {GLEU}", "--convention wmt14"),
        "--unit": case(f"--sample {GLEU}", "--unit judges", "sentence_level"),
        "--without": case(f"--sample {GLEU}", "--without noisy", "system_level", "sentence_level"),
        "--hide": case(f"--sample {GLEU}", "--hide noisy", "system_level", "sentence_level"),
        "--common": case("--scores fewer.tsv --human human.tsv --level system", "--common"),
        "--figure": case(f"--sample {GLEU} --level system", "--figure scatter=new.svg"),
        "--outlier": case(
            f"--sample {GLEU} --level system --figure scatter=new.svg", "--outlier noisy"
        ),
        "--base": case(f"{JUDGED} --judgments judgments1.jsonl", "--base 1"),
        "--leave-out": case(
            f"--sample {GLEU}", "--leave-out ana", "system_level", "sentence_level"
        ),
        "--outputs": case(f"{JUDGED} --judgments judgments.jsonl", "--outputs wrong"),
        "--labels": case(f"{JUDGED} --judgments judgments1.jsonl", "--labels given"),
        "--columns": case(f"{AB} --judgments rated.csv --level system", "--columns score=fluency"),
        "--status": case(f"{AB} --judgments mturk.csv --level system", "--status Rejected"),
        "--resamples": case(f"--sample {GLEU}", "--resamples 31", "system_level", "sentence_level"),
        "--confidence": case(f"--sample {GLEU}", "--confidence 0.5"),
        "--seed": case(f"--sample {GLEU}", "--seed 1", "system_level", "sentence_level"),
        "--format": case(f"--sample {GLEU}", "--format tsv", text=True),
    },
    "benchmark": {
        "--sample": case(GLEU, "--sample"),
        "--metric": case(f"--sample {GLEU}", "-m bleu"),
        "--base": case(f"judged {GLEU}", "--base 1"),
        "--skip-sentences": case(f"--sample {GLEU}", "--skip-sentences 3,7-9", "benchmark_sets"),
        "--ranker": case(f"--sample {GLEU}", "--ranker net_wins", "benchmark_pearson"),
        "--contests": case(f"--sample {GLEU}", "--contests"),
        "--figure": case(f"--sample {GLEU}", "--figure accuracy=new.svg"),
        "--resamples": case(f"--sample {GLEU}", "--resamples 31", "benchmark_kendall"),
        "--confidence": case(f"--sample {GLEU}", "--confidence 0.5", "benchmark_kendall"),
        "--seed": case(f"--sample {GLEU}", "--seed 1", "benchmark_pearson", "benchmark_kendall"),
        "--format": case(f"--sample {GLEU}", "--format tsv", text=True),
    },
    "reproduce": {
        # A model that is not there leaves its figures out.
        "--model": case("likely.toml", "--model not/there"),
        "--summary": case("small.toml", "--summary"),
        "--format": case("small.toml", "--format tsv", text=True),
    },
    "refs": {
        "--sample": case(GLEU, "--sample"),
        "--metric": case(f"--sample {GLEU}", "-m bleu"),
        "--worst": case(f"--sample {GLEU}", "--worst 2"),
        "--cased": [
            case(f"--sample {GLEU}", "--cased", "reference_sets"),
            case(f"--sample {SETS} {GLEU}", "--cased", "set_edits"),
        ],
        "--set": case(f"--sample {GLEU}", SETS),
        "--curve": case(f"--sample {SETS} {GLEU}", "--curve both"),
        "--judgments": case(f"{SETS} {JUDGED}", "--judgments judgments.jsonl"),
        "--human": case(f"{SETS} {JUDGED}", "--human human.tsv"),
        "--names": case(
            f"{SETS} {JUDGED} --human bare.txt", "--names eager,cautious,fluent,noisy,nothing"
        ),
        "--ranker": case(f"--sample {SETS} {GLEU}", "--ranker net_wins", "set_correlations"),
        "--members": case(f"--sample {SETS} {GLEU}", "--members sample", "set_correlations"),
        "--unit": case(
            f"--sample {SETS} {GLEU} --over both", "--unit judges", "set_correlation_intervals"
        ),
        "--over": case(f"--sample {SETS} {GLEU}", "--over both", "set_correlation_intervals"),
        "--without": case(f"--sample {SETS} {GLEU}", "--without noisy", "set_correlations"),
        "--hide": case(f"--sample {SETS} {GLEU}", "--hide noisy", "set_correlations"),
        "--common": case(f"{SETS} {JUDGED} --human fewer.tsv", "--common"),
        "--base": case(f"{SETS} {JUDGED} --judgments judgments1.jsonl", "--base 1"),
        "--leave-out": case(f"--sample {SETS} {GLEU}", "--leave-out ana", "set_correlations"),
        "--outputs": case(f"{SETS} {JUDGED} --judgments judgments.jsonl", "--outputs wrong"),
        "--labels": case(f"{SETS} {JUDGED} --judgments judgments1.jsonl", "--labels given"),
        "--columns": case(f"{SETS} {AB} --judgments rated.csv", "--columns score=fluency"),
        "--status": case(f"{SETS} {AB} --judgments mturk.csv", "--status Rejected"),
        "--figure": [
            case(f"--sample {SETS} {GLEU} --curve both", f"--figure {kind}=new.svg")
            for kind in ("edits", "curve", "correlations", "rankings")
        ]
        + [case(f"--sample {GLEU}", f"--figure {kind}=new.svg") for kind in ("edits", "curve")],
        "--resamples": case(f"--sample {GLEU}", "--resamples 31", "annotators_as_systems"),
        "--confidence": case(f"--sample {GLEU}", "--confidence 0.5"),
        "--seed": case(f"--sample {GLEU}", "--seed 1", "annotators_as_systems"),
        "--format": case(f"--sample {GLEU}", "--format tsv", text=True),
    },
    "align": {
        "--sample": case("-m m2", "--sample"),
        "--metric": case("--sample -m m2", "-m imeasure"),
        "--sentences": case("--sample", "--sentences 2,5-7", "imeasure", "difficulty", "m2"),
        "--skip-sentences": case("--sample", "--skip-sentences 2,5-7"),
        "--extract": case(
            "--gold gold.m2 wide.m2 -m difficulty(outputs=mixed)", "--extract aligned"
        ),
        "--dummies": case("--sample", "--dummies", "difficulty"),
        "--format": case("--sample", "--format tsv", text=True),
    },
    "corpora": {
        "--sample": case(GLEU, "--sample"),
        "--metric": case(f"--sample {GLEU}", "-m bleu"),
        "--annotator": case(f"--sample {GLEU} --annotator 0", "--annotator 1", "corpora", "gleu"),
        "--missing": case(f"marked {GLEU}", "--missing <none>"),
        "--compatible": case(f"odd {GLEU}", "--compatible"),
        "--skip-sentences": case(f"--sample {GLEU}", "--skip-sentences 2,5-7", "corpora", "gleu"),
        "--tokens": case(f"--sample {GLEU}", "--tokens characters", "corpora", "gleu"),
        "--no-guard": case(f"alien {GLEU}", "--no-guard"),
        "--extract": case("wide -m edits --resamples 0", "--extract aligned"),
        "--against": case(f"--sample {GLEU} -m m2", "--against m2", "gleu"),
        "--types": case(f"--sample {GLEU}", "--types aligned", "corpora", "kinds"),
        "--tier": case(f"--sample {GLEU}", "--tier 1", "corpora", "kinds"),
        "--kinds": case(f"--sample {GLEU}", "--kinds 2", "kinds"),
        "--figure": case(f"--sample {GLEU}", "--figure new.svg"),
        "--resamples": case(f"--sample {GLEU}", "--resamples 31", "gleu", "stability"),
        "--confidence": case(f"--sample -m m2 {GLEU}", "--confidence 0.1", "gleu", "stability"),
        "--seed": case(f"--sample {GLEU}", "--seed 1", "gleu", "stability"),
        "--format": case(f"--sample {GLEU}", "--format tsv", text=True),
    },
    "difficulty": {
        "--sample": case("--resamples 0", "--sample"),
        "--names": case("--gold gold.m2 all.m2 --resamples 0", "--names A,B"),
        "--weights": case(HARD, "--weights none"),
        "--exclude-own": case(HARD, "--exclude-own"),
        "--matching": case(HARD, "--matching elastic"),
        "--longest": case(f"{HARD} --matching elastic", "--longest 3"),
        "--a": case(HARD, "--a 2"),
        "--b": case(HARD, "--b 0.5"),
        "--c": case(HARD, "--c 1"),
        "--extract": case("--gold gold.m2 all.m2 --resamples 0", "--extract aligned"),
        "--mixed": case("--gold gold.m2 one.m2 noisy.txt --resamples 0", "--mixed"),
        "--reextract": case(HARD, "--reextract"),
        "--write-weights": case(f"{HARD} --annotator 0", "--write-weights new.txt"),
        "--types": case(HARD, "--types aligned", "kinds"),
        "--tier": case(HARD, "--tier 1", "kinds"),
        "--examples": case(HARD, "--examples 2", "hardest", "easiest"),
        "--system": case(HARD, "--system eager"),
        "--figure": case(HARD, "--figure new.html"),
        "--terminal": case(HARD, "--terminal", text=True),
        "--sentences": [
            case(f"{HARD} --terminal", "--sentences 2-3", text=True),
            case(f"{HARD} --figure new.html", "--sentences 2-3"),
        ],
        "--conceal": case(f"{HARD} --terminal", "--conceal alarms", text=True),
        "--resamples": case(HARD, "--resamples 31", "kinds", "hardest", "easiest"),
        "--confidence": case(HARD, "--confidence 0.5"),
        "--seed": case(HARD, "--seed 1", "difficulty", "kinds", "hardest", "easiest"),
        "--format": case(HARD, "--format tsv", text=True),
    },
    "train some": {
        **{option: case(RATED_RUN, TRAIN[option]) for option in TRAIN},
        "--ratings": case("--dry-run", "--ratings rated_outputs.csv"),
        "--head": case(RATED_RUN, "--head fluency"),
        "--dry-run": case("--ratings rated_outputs.csv", "--dry-run"),
        "--format": case(RATED_RUN, "--format tsv", text=True),
    },
    "train impara": {
        **{option: case(GOLD_RUN, TRAIN[option]) for option in TRAIN},
        "--dry-run": case("--gold gold.m2", "--dry-run"),
        "--extract": case(GOLD_RUN, "--extract aligned"),
        "--format": case(GOLD_RUN, "--format tsv", text=True),
    },
    "judge": {
        "--gold": case(f"eager.txt noisy.txt {JUDGE}", "--gold gold.m2"),
        "--source": case(
            f"--source source.txt eager.txt noisy.txt {JUDGE}", "--source source2.txt"
        ),
        "--compatible": case(f"--gold odd.m2 odd.txt {JUDGE}", "--compatible"),
        "--skip-sentences": case(BY_JUDGE, "--skip-sentences 3,7-9"),
        "--tokens": case(BY_JUDGE, "--tokens characters"),
        "--no-guard": case(f"--source source.txt alien.txt eager.txt {JUDGE}", "--no-guard"),
        "--sample": case(JUDGE, "--sample"),
        "--metric": case(BY_JUDGE, "-m judge(seed=1,repeats=1)", "judge_scores", "judge_trust"),
        "--extract": case(
            "--gold gold.m2 wide.m2 -m judge(mode=edit,repeats=1)", "--extract aligned"
        ),
        "--output": case(BY_JUDGE, "-o new.jsonl"),
        "--dry-run": case(BY_JUDGE, "--dry-run"),
        "--format": case(BY_JUDGE, "--format tsv", text=True),
    },
    "stress": {
        "--sample": case(f"{GLEU} --gold gold.m2", "--sample"),
        "--damage": case(f"--gold gold.m2 {GLEU}", "--damage eager.txt"),
        "--attack": case(f"--gold gold.m2 {GLEU}", "--attack eager.txt"),
        "--metric": case(GLEU, "-m bleu"),
        "--resamples": case(GLEU, "--resamples 31"),
        "--confidence": case(GLEU, "--confidence 0.5"),
        "--seed": case(GLEU, "--seed 1"),
        "--figure": case(GLEU, "--figure new.svg"),
        "--format": case(GLEU, "--format tsv", text=True),
    },
}
LOGGED = "--source source.txt eager.txt"
CASES["logs"] = {
    "--source": case("eager.txt", "--source source.txt"),
    "--marked": case(LOGGED, "--marked marks.tsv"),
    "--by": case(f"{LOGGED} --marked marks.tsv", "--by locale"),
    "--extract": case(f"{LOGGED} --extract aligned", "--extract unknown"),
    "--confidence": case(f"{LOGGED} --marked marks.tsv", "--confidence 0.5"),
    "--format": case(LOGGED, "--format tsv", text=True),
}
# A plan is seen in its file, a run in its tables.
NEW_RUN = f"--run new --gold gold.m2 eager.txt noisy.txt {GLEU}"
for _name, _engine in (("plan", ""), ("run", " --engine loop")):
    CASES[f"scale {_name}"] = {
        "--sets": case(f"--run new {GLEU}{_engine}", "--sets judged"),
        "--format": case(NEW_RUN + _engine, "--format tsv", text=True),
        **{
            option: case(NEW_RUN + _engine, added, *(("gleu",) if _engine else ()))
            for option, added in {
                "--resamples": "--resamples 31",
                "--bootstrap": "--bootstrap poisson",
                "--seed": "--seed 1",
            }.items()
        },
        "--metric": case(NEW_RUN + _engine, "-m bleu"),
    }
    MORE[f"scale {_name}"] = tuple(
        f"{outputs} --run new {GLEU}{_engine}" for outputs in ("eager.txt noisy.txt", "odd.txt")
    )
CASES["scale plan"] |= {
    option: case(NEW_RUN, f"{option} {size}")
    for option, size in (("--shard-size", "1k"), ("--shard-sentences", "5"))
}
CASES["scale run"]["--confidence"] = case(f"{NEW_RUN} --engine loop", "--confidence 0.5", "gleu")
CASES["scale status"] = {
    "--run": case("--run counted", "--run planned"),
    "--format": case("--run counted", "--format tsv", text=True),
}
CASES["scale reduce"] = {
    "--run": case("--run counted", "--run planned"),
    "--confidence": case("--run counted", "--confidence 0.5", "gleu"),
    "--format": case("--run counted", "--format tsv", text=True),
}
CORPUS_OF_ALL = {"--refs", "--missing"}  # difficulty takes the first annotator unless told
for _name, (_more, _odd) in MORE.items():
    for _option, _case in CORPUS.items():
        if _name.startswith("scale ") and _option == "--skip-sentences":
            continue  # what a run scores are whole files
        _all = " --annotator all" if _name == "difficulty" and _option in CORPUS_OF_ALL else ""
        CASES[_name][_option] = _case._replace(base=_case.base.format(more=_more, odd=_odd) + _all)
# Beside texts of other sentences a score is another one.
_alien = CASES["verify"]["--no-guard"]
CASES["verify"]["--no-guard"] = _alien._replace(base=_alien.base.replace("gleu=0.2", "gleu=0.1"))
# Keys and links are drawn anew in every campaign, so that only what is counted can be held.
_OUTLOOK = {
    "--kind": "--kind pair",
    "--outputs-per-item": "--outputs-per-item 2",
    "--judges": "--judges 4",
    "--overlap": "--overlap 0.5",
    "--repeats": "--repeats 0.2",
    "--controls": "--controls 0.2",
    "--items": "--items 20",
    "--rankings": "--rankings 20",
    "--hours": "--hours 0.5",
    "--rate": "--rate 12",
}
CASES["collect new"] = {
    "--sample": case("new.db", "--sample"),
    "--source": case("new.db eager.txt noisy.txt", "--source source.txt"),
    "--refs": case("new.db --source source.txt eager.txt noisy.txt", "--refs reference0.txt"),
    "--no-guard": case("new.db --source source.txt eager.txt alien.txt", "--no-guard"),
    "--format": case("new.db --sample", "--format markdown", text=True),
    **{
        option: case("new.db --sample --judges 2", words, "outlook")
        for option, words in _OUTLOOK.items()
    },
}
for _name in ("links", "status"):
    CASES[f"collect {_name}"] = {"--format": case("kept.db", "--format markdown", text=True)}
# The seed decides damage itself, not only intervals.
CASES["stress"]["--seed"] = [case(GLEU, "--seed 1"), case("-m gleu --resamples 0", "--seed 1")]


def commands() -> Iterator[tuple[str, click.Command]]:
    yield "errata", cli
    for name in COMMANDS:
        found = cli.get_command(click.Context(cli), name)
        assert found is not None
        yield name, found
        if isinstance(found, click.Group):
            yield from ((f"{name} {inner}", each) for inner, each in found.commands.items())


def options() -> list[tuple[str, str]]:
    return [
        (name, max(parameter.opts, key=len))
        for name, found in commands()
        for parameter in found.params
        if isinstance(parameter, click.Option)
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, chat_server: object) -> Path:
    made = tmp_path_factory.mktemp("options")
    for file in SAMPLE.iterdir():
        if file.is_file():
            shutil.copy(file, made)
    _write_judgments(made)
    errata("collect", "new", "kept.db", "--sample", cwd=made)
    gold = (made / "gold.m2").read_text("utf-8")
    less = "\n".join(line for line in gold.split("\n") if not line.endswith("|||1"))
    many = "S a b c\nA 1 2|||X|||b|||REQUIRED|||-NONE-|||0\n\n" * 9
    odd = "S a b c\nS d e f\nA 1 2|||X|||x|||REQUIRED|||-NONE-|||0\n"
    odd += "A 1 2|||X|||y|||REQUIRED|||-NONE-|||1\n\n"
    source = (made / "source.txt").read_text("utf-8").split("\n")
    reference = (made / "reference1.txt").read_text("utf-8").split("\n")
    for name, text in {
        "less.m2": less,
        "many.m2": many,
        "odd.m2": odd,
        "odd_many.m2": "".join(odd.replace("a b c", f"a b c{k}") for k in range(60)),
        "rated_outputs.csv": rated_csv(),
        "odd.txt": "a x c\nd e f\n",
        "odd.tsv": "odd\t1\nx\t2\ny\t3\n",
        "source2.txt": "\n".join([reference[0], *source[1:]]),
        "marked.txt": "\n".join(["<none>"] * 5 + reference[5:]),
        "alien.txt": "\n".join([*reference[30:-1], *reference[:30], ""]),
        "small.toml": SMALL,
        "likely.toml": LIKELY,
        "human.tsv": "eager\t3\ncautious\t2\nfluent\t4\nnoisy\t1\nnothing\t0\n",
        "other.tsv": "eager\t1\ncautious\t2\nfluent\t9\nnoisy\t5\nnothing\t0\n",
        "scores.tsv": "eager\t1\ncautious\t2\nfluent\t3\nnoisy\t4\nnothing\t6\n",
        "bare.txt": "1\n2\n3\n4\n6\n",
        "fewer.tsv": "eager\t1\ncautious\t2\nfluent\t3\nelse\t4\n",
    }.items():
        (made / name).write_text(text, encoding="utf-8")
    for corpus, names in {
        "marked": {
            "source.txt": "source.txt",
            "ref0.txt": "reference0.txt",
            "ref1.txt": "marked.txt",
        },
        "alien": {"source.txt": "source.txt", "ref0.txt": "alien.txt"},
        "odd": {"gold.m2": "odd.m2"},
    }.items():
        (made / corpus / "outputs").mkdir(parents=True)
        for name, file in names.items():
            shutil.copy(made / file, made / corpus / name)
        output = "odd.txt" if corpus == "odd" else "eager.txt"
        shutil.copy(made / output, made / corpus / "outputs")
    (made / "judged" / "outputs").mkdir(parents=True)
    for file in ("gold.m2", "judgments1.jsonl"):
        shutil.copy(made / file, made / "judged")
    for system in ("eager", "cautious", "fluent", "noisy", "nothing"):
        shutil.copy(made / f"{system}.txt", made / "judged" / "outputs")
    run = ("convert", "--source", "source.txt")
    errata(*run, "--refs", "eager.txt", "--refs", "noisy.txt", "-o", "all.m2", cwd=made)
    errata(*run, "--refs", "eager.txt", "-o", "one.m2", cwd=made)
    all_m2 = (made / "all.m2").read_text("utf-8")
    (made / "all.m2").write_text(all_m2.replace("A 0 1|||", "A 0 2|||", 1), encoding="utf-8")
    one_m2 = (made / "one.m2").read_text("utf-8")
    (made / "wide.m2").write_text(one_m2.replace("A 0 1|||", "A 0 2|||", 1), encoding="utf-8")
    (made / "wide" / "outputs").mkdir(parents=True)
    shutil.copy(made / "gold.m2", made / "wide")
    shutil.copy(made / "wide.m2", made / "wide" / "outputs")
    sample_board(made / "board")
    eager = (made / "eager.txt").read_text("utf-8").split("\n")
    submit(made / "board", "oddly", "\n".join(["", *eager[1:]]))
    rows = "".join(f"{'AB'[i % 2]}\tC\n" for i in range(72))
    (made / "levels.tsv").write_text(f"level\tdomain\n{rows}")
    marks = "".join(f"{('', 'yes', 'no')[i % 3]}\t{i % 2}\t{'AB'[i % 2]}\n" for i in range(72))
    (made / "marks.tsv").write_text(f"accepted\tclean\tlocale\n{marks}")
    several = ("--gold", "gold.m2", "eager.txt", "nothing.txt", *GLEU.split())
    errata("scale", "plan", "--run", "planned", *several, cwd=made)
    errata("scale", "run", "--run", "counted", *several, "--engine", "loop", cwd=made)
    stored = {"errata run": 1, "system": "eager", "when": "2026-01-01T00:00:00Z", "errata": "1"}
    stored |= {"remark": "", "sentences": 1, "corpus": {}, "figures": [], "changed": {}}
    (made / "runs").mkdir()
    (made / "runs" / "a.json").write_text(json.dumps(stored))
    make_folder(made / "origin").rename(made / "catalogue.toml")
    return made


def _write_judgments(made: Path) -> None:
    rows = [json.loads(line) for line in (made / "judgments.jsonl").read_text("utf-8").splitlines()]
    later = [row | {"sentence": row["sentence"] + 1} for row in rows if row["sentence"] < 71]
    # Six rankings in which the order of the scores is not that of the mean ranks.
    ranked = [("CDA", "213"), ("BA", "22"), ("DC", "13"), ("AC", "12"), ("BDA", "113")]
    close = [
        {"judge": "j", "sentence": i, "systems": list(names), "ranks": list(map(int, ranks))}
        for i, (names, ranks) in enumerate([*ranked, ("BAC", "111")])
    ]
    for name, several in (("judgments1", later), ("close", close)):
        text = "".join(json.dumps(row) + "\n" for row in several)
        (made / f"{name}.jsonl").write_text(text, encoding="utf-8")
    for name in ("outputs", "wrong", "texts"):
        (made / name).mkdir()
    for name in ("eager", "cautious", "fluent", "noisy", "nothing"):
        shutil.copy(made / f"{name}.txt", made / "outputs" / name)
        lines = (made / f"{name}.txt").read_text("utf-8").split("\n")
        (made / "wrong" / name).write_text("\n".join(lines[::-1][1:]) + "\n", encoding="utf-8")
    head = "WorkerId,HITId,AssignmentStatus,WorkTimeInSeconds,Input.sentID,Input.system1,"
    head += "Input.sentence1,Input.system2,Input.sentence2,Answer.rank_1,Answer.rank_2\n"
    ranks = [("Approved", "1,2"), ("Approved", "2,1"), ("Approved", "1,2"), ("Rejected", "2,1")]
    (made / "mturk.csv").write_text(
        head
        + "".join(
            f"w{i % 2},h{i},{status},9,{i},A,a{i},B,b{i},{given}\n"
            for i, (status, given) in enumerate(ranks * 3)
        )
    )
    (made / "rated.csv").write_text(
        "judge,sentence,system,score,fluency\n"
        + "".join(
            f"w{j},{i},{system},{5 - given},{(given + i * j) % 2}\n"
            for i in range(60)
            for j in range(2)
            for given, system in enumerate("AB")
        )
    )
    (made / "shifted.csv").write_text(
        head
        + "".join(
            f"w0,h{i},Approved,9,{i},A,b{i},B,a{i},1,2\nw1,h{i},Approved,9,{i},A,a{i},B,b{i},1,2\n"
            for i in range(9)
        )
    )
    for name in "ab":
        text = "".join(f"{name}{i}\n" for i in range(9))
        (made / "texts" / name.upper()).write_text(text)


class Outcome(NamedTuple):
    """What is seen of a run: its end, its tables' values, what it wrote, or all it printed."""

    code: int
    tables: dict[str, Any]
    files: dict[str, bytes]
    printed: str


@cache
def run(folder: Path, name: str, line: str, text: bool) -> Outcome:
    before = {path.name for path in folder.iterdir()}
    own = ("--catalogue", folder / "catalogue.toml")
    first, *inner = name.split()
    arguments = line.split()
    whole = (first, *(own if first == "data" and "sample" not in arguments else ()), *inner)
    if name == "data":
        whole = (first, *(own if line.endswith(" ") else ()), "list")
        arguments = []
    origin = None if "--base-url" in arguments else str(folder / "origin")
    cached = {"ERRATA_DATA": origin, "ERRATA_CACHE": str(folder / "cache")}
    asked = ["--json"] if not text and "--format" not in arguments else []
    done = errata(*whole, *arguments, *asked, cwd=folder, code=None, env=cached)
    files = {}
    for path in folder.iterdir():
        if path.name not in before and path.name != "cache":
            if path.is_dir():
                plan = path / "manifest.json"
                files[path.name] = plan.read_bytes() if name == "scale plan" else b"a folder"
                shutil.rmtree(path)
                continue
            files[path.name] = path.read_bytes()
            path.unlink()
    tables: dict[str, Any] = {}
    if asked and done.stdout.startswith("{"):
        for table in json.loads(done.stdout)["tables"]:
            values = [list(row.values()) for row in table["rows"]]
            tables.setdefault(table["name"], []).append((tuple(table["columns"]), values))
    body = "\n".join(_body(done.stdout)) if text else "" if tables else done.stdout
    return Outcome(done.returncode, tables, files, body + (done.stderr if done.returncode else ""))


def _body(text: str) -> Iterator[str]:
    """What is printed but titles, headings and signatures, which may name what is not done."""
    inside = "─" not in text
    for line in text.split("\n"):
        if "─" in line:
            inside = True
        elif not line or line.startswith("signature:"):
            inside = "─" not in text
        elif inside:
            yield line


@pytest.mark.parametrize(("name", "option"), options())
def test_an_option_changes_what_comes_out(folder: Path, name: str, option: str) -> None:
    found = CASES.get(name, {}).get(option)
    if found is None:
        why = {option, f"{name} {option}"} & WITHOUT_TRACE.keys()
        assert why, f"say what {option} of {name} changes, or why nothing"
        return
    if option == "--figure" or "--figure" in str(found):
        pytest.importorskip("matplotlib")
    for base, added, tables, text in found if isinstance(found, list) else [found]:
        before = run(folder, name, base, text)
        after = run(folder, name, f"{base} {added}", text)
        assert 0 in (before.code, after.code) or name.startswith("data"), (
            before.printed + after.printed
        )
        values = [
            {n: [v for _, v in several] for n, several in o.tables.items()} for o in (before, after)
        ]
        assert (before.code, values[0], before.files, before.printed) != (
            after.code,
            values[1],
            after.files,
            after.printed,
        ), f"{option} of {name} changes nothing"
        wanted = set(tables)
        if option == "--confidence":
            wanted |= {n for n, several in before.tables.items() if _has_intervals(several)}
        for table in wanted:
            assert values[0][table] != values[1][table], f"{option} leaves {table} as it was"


def _has_intervals(several: list[tuple[tuple[str, ...], Any]]) -> bool:
    return any(re.search(r"\d %|interval", column) for columns, _ in several for column in columns)


def test_nothing_stands_here_that_is_no_option() -> None:
    known = set(options())
    assert {(name, option) for name, found in CASES.items() for option in found} <= known
    spelt = {option for _, option in known} | {" ".join(each) for each in known}
    assert WITHOUT_TRACE.keys() <= spelt
