"""Mutated files through every reader, and mutated command lines through the program.

Allowed are a result, an error in one line (`ErrataError`) and a `DataWarning`; whatever else
comes, hangs or takes much memory is a fault. The standard tests put a few thousand inputs through,
``make long`` many; ``ERRATA_FUZZ=100000 make long`` as many as you like for each reader.
"""

from __future__ import annotations

import gzip
import random
import resource
import signal
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from command import errata
from errata.core.errors import DataWarning, ErrataError
from fuzz_targets import SAMPLE, Target, first_sentences, head

LARGEST = 200_000  # bytes of a mutated file

# What readers trip over: numbers that are none, separators, marks, halves of things.
TOKENS = (
    b"", b" ", b"nan", b"inf", b"-inf", b"1e999", b"-1", b"0", b"1_000", b"\xd9\xa3", b"true",
    b"null", b"9" * 20, b"9" * 400, b"9" * 5000, b"0." + b"0" * 400 + b"1", b"1" + b"0" * 4400,
    b"-0.0", b"\x00", b"\x1b[2J", b"\xe2\x80\xa8", b"\xc2\x85", b"\x1c", b"\r", b"\r\n",
    b"\xef\xbb\xbf", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\\ud800", b"\\u0000", b"e\xcc\x81",
    b"\xc3\xa9", b"\xe2\x80\xae", b"\xc2\xa0", b",", b";", b"\t", b"|||", b"||", b"\"", b"'",
    b"=", b"=1+1", b"<", b">", b"&", b"&amp;", b"&#0;", b"<!DOCTYPE a>", b"<!--", b"]]>", b"{",
    b"}", b"[", b"]", b"[" * 3000, b":", b"S ", b"A ", b"\n", b"\n\n", b"-NONE-", b"noop",
    b"A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0", b"system", b"sentence", b"rank",
    b"score", b"judge", b"signature", b"ranks", b"skipped", b"# ", b"###", b"PK\x03\x04",
    b"\x1f\x8b", b"BZh9", b"\xfd7zXZ\x00", b"2147483648", b"99999999", b"1e308", b"1e-320",
)  # fmt: skip


def mutated(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    """A file with one to six things wrong: bytes, tokens, lines, or a part of another file."""
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        data = rng.choice(MUTATIONS)(data, others, rng)
    return data[:LARGEST]


def _span(data: bytes, rng: random.Random, most: int = 40) -> tuple[int, int]:
    start = rng.randrange(len(data) + 1)
    return start, min(len(data), start + rng.randrange(most))


def _byte(data: bytes, _: list[bytes], rng: random.Random) -> bytes:
    if not data:
        return data
    at = rng.randrange(len(data))
    return data[:at] + bytes((rng.randrange(256),)) + data[at + 1 :]


def _insert(data: bytes, _: list[bytes], rng: random.Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice(TOKENS) + data[at:]


def _delete(data: bytes, _: list[bytes], rng: random.Random) -> bytes:
    start, end = _span(data, rng)
    return data[:start] + data[end:]


def _repeat(data: bytes, _: list[bytes], rng: random.Random) -> bytes:
    start, end = _span(data, rng, 200)
    return data[:end] + data[start:end] * rng.choice((1, 1, 2, 30)) + data[end:]


def _cut(data: bytes, _: list[bytes], rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _token(data: bytes, _: list[bytes], rng: random.Random) -> bytes:
    """Replace one word, cell or value by something odd."""
    marks = b' \t\n,;|"<>=:{}[]'
    edges = [0, *(i + 1 for i, byte in enumerate(data[:5000]) if byte in marks), len(data)]
    k = rng.randrange(len(edges) - 1) if len(edges) > 1 else 0
    start, end = edges[k], max(edges[k], edges[min(k + 1, len(edges) - 1)] - 1)
    return data[:start] + rng.choice(TOKENS) + data[end:]


def _lines(data: bytes, _: list[bytes], rng: random.Random) -> bytes:
    lines = data.split(b"\n")
    i, j = (rng.randrange(len(lines)) for _ in range(2))
    kind = rng.randrange(5)
    if kind == 0:
        lines[i], lines[j] = lines[j], lines[i]
    elif kind == 1:
        del lines[i]
    elif kind == 2:
        lines.insert(i, lines[j])
    elif kind == 3:
        lines[i] += lines[j]
    else:
        rng.shuffle(lines)
    return b"\n".join(lines)


def _splice(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    other = rng.choice(others)
    start, end = _span(other, rng, 300)
    at = rng.randrange(len(data) + 1)
    return data[:at] + other[start:end] + data[at:]


def _pack(data: bytes, _: list[bytes], rng: random.Random) -> bytes:
    packed = gzip.compress(data[:5000], 1)
    return packed if rng.random() < 0.3 else _byte(packed, [], rng)


MUTATIONS: tuple[Callable[[bytes, list[bytes], random.Random], bytes], ...] = (
    _byte, _byte, _insert, _insert, _delete, _repeat, _cut, _token, _token, _token, _lines, _lines,
    _splice, _pack,
)  # fmt: skip


SECONDS = 60.0  # of processor time that one small input may take, on a busy machine too
WAIT = 300.0  # seconds until an input is interrupted
MEGABYTES = 1024  # that all of them together may take


@dataclass
class Tally:
    """What came of the inputs."""

    inputs: int = 0
    read: int = 0
    refused: int = 0
    slowest: float = 0.0
    faults: list[tuple[str, bytes, str]] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        self.inputs += other.inputs
        self.read += other.read
        self.refused += other.refused
        self.slowest = max(self.slowest, other.slowest)
        self.faults += other.faults


class Stuck(BaseException):
    """One input took so long that it was broken off; no handler of errors may catch it."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Break off what takes longer, so that a hang is a fault like others."""

    def stop(*_: object) -> None:
        raise Stuck(f"still at work after {seconds:.0f} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _quiet() -> None:
    warnings.resetwarnings()
    warnings.simplefilter("error")
    warnings.simplefilter("ignore", DataWarning)


def fuzz_reader(target: Target, inputs: int, seed: int, folder: Path) -> Tally:
    """Put mutations of what a reader reads well through it."""
    rng = random.Random(f"{target.name} {seed}")
    seeds = target.seeds()
    path = folder / f"mutant{target.ending}"
    tally = Tally()
    with warnings.catch_warnings():
        _quiet()
        for _ in range(inputs):
            data = mutated(rng.choice(seeds), seeds, rng)
            path.write_bytes(data)
            began = time.process_time()
            try:
                with at_most(WAIT):
                    target.read(path)
                tally.read += 1
            except ErrataError as error:
                tally.refused += 1
                if len(str(error)) > 2000:
                    tally.faults.append((target.name, data, f"a message of {len(str(error))}"))
            except (Exception, Stuck):
                tally.faults.append((target.name, data, traceback.format_exc()))
            took = time.process_time() - began
            tally.inputs += 1
            tally.slowest = max(tally.slowest, took)
            if took > SECONDS:
                tally.faults.append((target.name, data, f"took {took:.1f} s"))
    return tally


FILES = ("gold.m2", "source.txt", "reference0.txt", "eager.txt", "noisy.txt", "judgments.jsonl")
VALUES = (
    "", "-1", "0", "1", "2", "nan", "inf", "1e999", "9" * 30, "9" * 5000, "x", "m2", "gleu",
    "--", "-", "m2(beta=1)", "m2(beta=nan)", "m2(", "all", "a=b", "=", ",", "judge=x",
    "\x1b]0;x\x07", "caf\udce9", "0.5", "json", "tsv", "given", "sentences", "eager", "*",
    "/dev/zero", ".", "no/such/file", "٣", "1_0",
)  # fmt: skip


def command_lines() -> list[list[str]]:
    """Sound command lines over files of a folder, quick ones."""
    few = ["--resamples", "3"]
    return [
        ["score", "--gold", "gold.m2", "eager.txt", "noisy.txt", "-m", "m2", *few],
        ["score", "--source", "source.txt", "--refs", "reference0.txt", "eager.txt", "-m", "gleu",
         "--by-sentence", "--json"],
        ["check", "--gold", "gold.m2", "eager.txt", "--strict"],
        ["convert", "gold.m2", "--annotator", "0", "--copy-missing"],
        ["rank", "judgments.jsonl", *few, "--format", "tsv"],
        ["agree", "judgments.jsonl", "--json"],
        ["plan", "judgments.jsonl", "--systems", "eager", "noisy"],
        ["meta", "--judgments", "judgments.jsonl", "--scores", "scores.tsv", "--level", "system",
         *few],
        ["meta", "--human", "scores.tsv", "--scores", "m=scores.tsv", "--lower-is-better", "m",
         *few],
        ["difficulty", "--gold", "gold.m2", "eager.txt", "noisy.txt", "--annotator", "1", *few],
        ["stress", "gleu", "--source", "source.txt", "--refs", "reference0.txt", *few],
        ["data", "list", "--json"],
        ["metrics", "m2"],
        ["rankers"],
    ]  # fmt: skip


def _mutated_line(line: list[str], options: list[str], rng: random.Random) -> list[str]:
    line = list(line)
    for _ in range(rng.choice((0, 1, 1, 2, 3))):
        at = rng.randrange(1, len(line) + 1)
        kind = rng.randrange(5)
        if kind == 0 and at < len(line):
            line[at] = rng.choice(VALUES)
        elif kind == 1:
            line.insert(at, rng.choice(VALUES))
        elif kind == 2 and len(line) > 2:
            del line[at - 1 if at > 1 else 1]
        elif kind == 3:
            line[at:at] = [rng.choice(options)]
        else:
            line[at:at] = [rng.choice(options), rng.choice((*VALUES, *FILES))]
    return line


def _options() -> dict[str, list[str]]:
    import click

    from errata.cli.main import COMMANDS, cli

    found = {}
    for name in COMMANDS:
        command = cli.get_command(click.Context(cli), name)
        found[name] = [opt for p in command.params for opt in (*p.opts, *p.secondary_opts)
                       if opt.startswith("-")] or ["--help"]  # fmt: skip
    return found


def fuzz_commands(inputs: int, seed: int, folder: Path) -> Tally:
    """Put mutated command lines over mutated files through the program, in this process."""
    rng = random.Random(f"commands {seed}")
    good = {name: head((SAMPLE / name).read_bytes(), 40 if "m2" in name else 12) for name in FILES}
    good["scores.tsv"] = b"eager\t0.1\nnoisy\t0.4\nfluent\t0.3\ncautious\t0.2\nnothing\t0\n"
    good["gold.m2"] = first_sentences(12)
    options, lines = _options(), command_lines()
    tally = Tally()
    for _ in range(inputs):
        broken = rng.choice((None, *good)) if rng.random() < 0.7 else None
        for name, data in good.items():
            others = list(good.values())
            (folder / name).write_bytes(mutated(data, others, rng) if name == broken else data)
        line = rng.choice(lines)
        line = _mutated_line(line, options[line[0]], rng)
        if {"--force", "-o", "--all", "--base-url"} & {*line} or "get" in line:
            continue  # no test writes elsewhere, or asks a server
        began = time.process_time()
        try:
            with at_most(WAIT):
                done = errata(*line, code=None, cwd=folder)
            fault = "" if done.returncode in (0, 1, 2) else f"{done.returncode}: {done.stderr}"
            if "Traceback" in done.stderr:
                fault = done.stderr
        except (Exception, Stuck):
            fault = traceback.format_exc()
        took = time.process_time() - began
        tally.inputs += 1
        tally.slowest = max(tally.slowest, took)
        if took > SECONDS:
            fault = fault or f"took {took:.1f} s"
        if fault:
            held = (folder / broken).read_bytes() if broken else b""
            tally.faults.append((" ".join(map(repr, line)) + f" [{broken}]", held, fault))
        else:
            tally.read += done.returncode == 0
            tally.refused += done.returncode != 0
    return tally


def megabytes() -> float:
    """The most memory this process has taken so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
