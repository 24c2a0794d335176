"""The public data sets: catalogue and collections are right; fetching is checked and safe."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from data_server import DataServer, make_folder, serve
from errata.core.errors import DataWarning, InputError
from errata.data import Corpus
from errata.datasets import (
    fetch,
    load_conll14,
    load_conll14_systems,
    load_conll14_texts,
    sample_corpus,
    sample_judgments,
    sample_systems,
    sample_texts,
)
from errata.datasets.catalogue import DataSet, catalogue, data_set, read_catalogue
from errata.datasets.fetch import Collection, collection, collections, role_files
from errata.io import write_m2
from errata.io.judgments import write_judgments

LARGE = "deep #1/large.bin"


@pytest.fixture(autouse=True)
def _own_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ERRATA_DATA", raising=False)
    monkeypatch.delenv("ERRATA_DATA_URL", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def toy(tmp_path: Path) -> Mapping[str, DataSet]:
    return read_catalogue(make_folder(tmp_path / "origin"))


@pytest.fixture
def server(
    toy: Mapping[str, DataSet], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[DataServer]:
    with serve(tmp_path / "origin") as state:
        monkeypatch.setenv("ERRATA_DATA_URL", state.url)
        yield state


def content(tmp_path: Path, name: str) -> bytes:
    (path,) = (tmp_path / "origin").glob(f"*/*/*/data/{name}")
    return path.read_bytes()


def leftovers() -> list[str]:
    return sorted(
        p.name
        for p in fetch.download_folder().rglob("*")
        if p.is_file() and p.name not in {".lock", "small.txt", "large.bin"}
    )


# The catalogue


def test_the_catalogue_describes_the_real_files(
    data_sets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ERRATA_DATA", str(data_sets))
    for chosen in catalogue().values():
        for file in chosen.files:
            assert fetch.check(chosen, file) == "ok", file
            assert (data_sets / chosen.address(file)).stat().st_size == file.size


def test_files_go_by_their_last_part_too() -> None:
    chosen = data_set("conll14")
    assert chosen.file("conll14st-test.tok.trg0") is chosen.file("refs/conll14st-test.tok.trg0")
    with pytest.raises(InputError, match=r"no files 'trg0'; it has: conll14st-test.m2"):
        chosen.file("trg0")
    with pytest.raises(InputError, match="no data set 'conll15'; did you mean 'conll14'"):
        data_set("conll15")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("[toy]", "[toy", "not TOML"),
        ('licence = "CC0"', "", "no 'licence'"),
        ('title = "A made-up set"', "title = 3", "toy.title: 3 is not a text"),
        ("some-one/some.thing", "../elsewhere", "not OWNER/REPO"),
        ("0123456789abcdef", "main", "not 40 hexadecimal"),
        ('"small.txt"', '"../../../../etc/small.txt"', "outside the repository"),
        ('"data"', '"/data"', "outside the repository"),
        ("size = 6", "size = -6", "size: -6"),
        ("sha256 = ", "md5 = ", "md5: unknown key; known: name, size, sha256"),
        ('sha256 = "', 'sha256 = "0', "sha256 is not"),
        (LARGE, "small.txt", "two files"),
    ],
)
def test_a_bad_catalogue_is_refused(tmp_path: Path, old: str, new: str, says: str) -> None:
    path = make_folder(tmp_path)
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")
    with pytest.raises(InputError, match=says) as caught:
        read_catalogue(path)
    assert str(caught.value).startswith(str(path))


# Where files come from


def test_the_users_folder_is_verified_once(
    toy: Mapping[str, DataSet], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ERRATA_DATA", str(tmp_path / "origin"))
    monkeypatch.setenv("ERRATA_DATA_URL", "http://127.0.0.1:9")
    path = fetch.path("toy", "small.txt", sets=toy)
    assert path.is_relative_to(tmp_path / "origin")
    assert not fetch.download_folder().exists()
    with monkeypatch.context() as never:
        never.setattr(fetch, "_sha256", None)  # what was verified is not read again
        assert fetch.path("toy", "small.txt", sets=toy) == path
    path.write_bytes(b"changed by the user")
    for _ in range(2):
        with pytest.raises(InputError, match=r"small.txt: the content is not that of small.txt of"):
            fetch.path("toy", "small.txt", sets=toy)
    assert fetch.check(toy["toy"], toy["toy"].file("small.txt")) == "wrong"
    monkeypatch.setenv("ERRATA_DATA_CHECK", "off")
    assert fetch.path("toy", "small.txt", sets=toy) == path


def test_a_users_folder_that_is_not_there_is_an_error(
    toy: Mapping[str, DataSet], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ERRATA_DATA", "no/such/folder")
    with pytest.raises(InputError, match=r"ERRATA_DATA names 'no/such/folder'.*unset it"):
        fetch.path("toy", "small.txt", sets=toy)


def test_downloads_once_and_keeps_it(
    toy: Mapping[str, DataSet], server: DataServer, tmp_path: Path
) -> None:
    assert fetch.check(toy["toy"], toy["toy"].files[0]) == "missing"
    seen: list[tuple[int, int]] = []
    paths = fetch.get("toy", sets=toy, progress=lambda done, total: seen.append((done, total)))
    for name, path in paths.items():
        assert path.read_bytes() == content(tmp_path, name)
        assert path.is_relative_to(fetch.download_folder())
        assert fetch.check(toy["toy"], toy["toy"].file(name)) == "ok"
    assert seen == sorted(seen)
    assert seen[-1] == (512006, 512006)
    assert len(server.requests) == 2
    assert fetch.get("toy", sets=toy) == paths
    assert len(server.requests) == 2
    assert leftovers() == []


def test_a_spoilt_file_in_the_cache_is_fetched_again(
    toy: Mapping[str, DataSet], server: DataServer, tmp_path: Path
) -> None:
    path = fetch.path("toy", LARGE, sets=toy)
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    assert fetch.path("toy", LARGE, sets=toy).read_bytes() == content(tmp_path, LARGE)
    assert len(server.requests) == 2


# Downloads that go wrong


def test_a_cut_connection_is_resumed_at_once(
    toy: Mapping[str, DataSet], server: DataServer, tmp_path: Path
) -> None:
    server.cuts = [200_000, 100_000]
    assert fetch.path("toy", LARGE, sets=toy).read_bytes() == content(tmp_path, LARGE)
    assert [status for _, _, status in server.requests] == [200, 206, 206]
    first, second = (
        int(asked.removeprefix("bytes=").rstrip("-")) for _, asked, _ in server.requests[1:]
    )
    assert 0 < first <= 200_000
    assert first < second <= first + 100_000
    assert leftovers() == []


@pytest.mark.parametrize("came", [1000, 150_000])
def test_a_download_that_broke_off_goes_on_later(
    toy: Mapping[str, DataSet], server: DataServer, tmp_path: Path, came: int
) -> None:
    server.cuts = [came, 0]
    with pytest.raises(InputError, match="broke off; what came is kept"):
        fetch.path("toy", LARGE, sets=toy)
    target = fetch.download_folder() / toy["toy"].address(toy["toy"].file(LARGE))
    assert not target.exists()
    kept = target.with_name("large.bin.part").stat().st_size
    assert 0 < kept <= came
    assert came > 1000 or kept == came  # so little comes in one piece
    server.cuts = []
    assert fetch.path("toy", LARGE, sets=toy).read_bytes() == content(tmp_path, LARGE)
    assert server.requests[-1][1:] == (f"bytes={kept}-", 206)
    assert leftovers() == []


@pytest.mark.slow
@pytest.mark.parametrize("headers", [False, True])
def test_a_slow_server_is_given_up_on(
    toy: Mapping[str, DataSet], server: DataServer, monkeypatch: pytest.MonkeyPatch, headers: bool
) -> None:
    """A byte now and then is an answer in time, for ever; so the whole has a limit."""
    monkeypatch.setenv("ERRATA_DATA_SECONDS", "1")
    server.drip, server.endless_headers = 0.02, headers
    began = time.monotonic()
    with pytest.raises(InputError, match=r"too slow; what came is kept.*ERRATA_DATA_SECONDS"):
        fetch.path("toy", LARGE, sets=toy)
    assert time.monotonic() - began < 5
    part = fetch.download_folder() / toy["toy"].address(toy["toy"].file(LARGE))
    part = part.with_name("large.bin.part")
    assert not headers or not part.exists()
    assert headers or 10 < part.stat().st_size < 1000
    monkeypatch.setenv("ERRATA_DATA_SECONDS", "soon")
    with pytest.raises(InputError, match="is not a number of seconds"):
        fetch.path("toy", LARGE, sets=toy)


def test_a_server_without_ranges_starts_again(
    toy: Mapping[str, DataSet], server: DataServer, tmp_path: Path
) -> None:
    server.ranges = False
    server.cuts = [300_000]
    assert fetch.path("toy", LARGE, sets=toy).read_bytes() == content(tmp_path, LARGE)
    assert [status for _, _, status in server.requests] == [200, 200]


@pytest.mark.parametrize("size", [1, 300_000, 512_000, 600_000])
def test_a_false_piece_does_not_spoil_the_file(
    toy: Mapping[str, DataSet], server: DataServer, tmp_path: Path, size: int
) -> None:
    target = fetch.download_folder() / toy["toy"].address(toy["toy"].file(LARGE))
    target.parent.mkdir(parents=True)
    target.with_name("large.bin.part").write_bytes(b"?" * size)
    assert fetch.path("toy", LARGE, sets=toy).read_bytes() == content(tmp_path, LARGE)
    assert leftovers() == []


@pytest.mark.parametrize("other", [b"", b"cafe\n\n", b"caf\n", b"something far longer than it"])
def test_a_wrong_checksum_names_file_and_remedy(
    toy: Mapping[str, DataSet], server: DataServer, tmp_path: Path, other: bytes
) -> None:
    (origin,) = (tmp_path / "origin").glob("*/*/*/data/small.txt")
    origin.write_bytes(other)
    with pytest.raises(InputError, match=r"checksum of small.txt of toy is wrong.*ERRATA_DATA"):
        fetch.path("toy", "small.txt", sets=toy)
    assert not any(p.name == "small.txt" for p in fetch.download_folder().rglob("*"))
    assert leftovers() == []


def test_an_endless_file_is_not_downloaded_to_its_end(
    toy: Mapping[str, DataSet], server: DataServer, tmp_path: Path
) -> None:
    (origin,) = (tmp_path / "origin").glob("*/*/*/data/small.txt")
    origin.write_bytes(b"x" * 5_000_000)
    pieces: list[int] = []
    with pytest.raises(InputError, match="checksum"):
        fetch.path("toy", "small.txt", sets=toy, progress=lambda done, _: pieces.append(done))
    assert pieces == [6]
    assert leftovers() == []


def test_a_file_that_shrank_on_the_server(
    toy: Mapping[str, DataSet], server: DataServer, tmp_path: Path
) -> None:
    target = fetch.download_folder() / toy["toy"].address(toy["toy"].file(LARGE))
    target.parent.mkdir(parents=True)
    target.with_name("large.bin.part").write_bytes(b"?" * 1000)
    (origin,) = (tmp_path / "origin").glob("*/*/*/data/deep #1/large.bin")
    origin.write_bytes(b"short")
    with pytest.raises(InputError, match="checksum"):
        fetch.path("toy", LARGE, sets=toy)
    assert server.requests[0][2] == 416
    assert leftovers() == []


def test_a_missing_file_says_404(
    toy: Mapping[str, DataSet], server: DataServer, tmp_path: Path
) -> None:
    (origin,) = (tmp_path / "origin").glob("*/*/*/data/small.txt")
    origin.unlink()
    with pytest.raises(InputError, match=r"cannot fetch small.txt of toy.*HTTP 404"):
        fetch.path("toy", "small.txt", sets=toy)


def test_offline_says_what_to_set(toy: Mapping[str, DataSet]) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(InputError) as caught:
        fetch.path("toy", "small.txt", base_url=url, sets=toy)
    assert str(caught.value) == (
        f"cannot fetch small.txt of toy from {url}: no connection; set ERRATA_DATA to a folder "
        "laid out OWNER/REPO/COMMIT/PATH, or ERRATA_DATA_URL (--base-url) to a mirror"
    )


@pytest.mark.parametrize("url", ["ftp://example.org", "/some/folder", "http://", "http://[::1"])
def test_a_bad_base_address_is_refused(toy: Mapping[str, DataSet], url: str) -> None:
    with pytest.raises(InputError, match="ERRATA_DATA"):
        fetch.path("toy", "small.txt", base_url=url, sets=toy)


def test_a_cache_that_cannot_be_written_is_an_error(
    toy: Mapping[str, DataSet], server: DataServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("ERRATA_CACHE", str(tmp_path / "file"))
    with pytest.raises(InputError, match="set ERRATA_CACHE to a folder"):
        fetch.path("toy", "small.txt", sets=toy)


@pytest.mark.slow
def test_processes_at_once_download_one_time(
    toy: Mapping[str, DataSet], server: DataServer, tmp_path: Path
) -> None:
    server.cuts = [100_000]
    program = (
        "import sys; from errata.datasets import fetch; "
        "from errata.datasets.catalogue import read_catalogue; "
        f"print(fetch.path('toy', {LARGE!r}, sets=read_catalogue(sys.argv[1])))"
    )
    started = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(tmp_path / "origin" / "toy.toml")],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=dict(os.environ),
        )
        for _ in range(3)
    ]
    ended = [process.communicate(timeout=60) for process in started]
    assert [errors for _, errors in ended] == ["", "", ""]
    (path,) = {output.strip() for output, _ in ended}
    assert Path(path).read_bytes() == content(tmp_path, LARGE)
    assert [status for _, _, status in server.requests] == [200, 206]
    assert leftovers() == []


# The real sets


def test_conll14_loads(data_sets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ERRATA_DATA", str(data_sets))
    gold, texts = load_conll14(), load_conll14_texts()
    assert (len(gold), gold.most_references, gold.name) == (1312, 2, "conll14")
    edits = [
        sum(len(r.edits or ()) for refs in gold.references for r in refs if r.annotator == k)
        for k in (0, 1)
    ]
    assert edits == [2391, 3207]
    assert [s.split() for s in texts.sources] == [s.split() for s in gold.sources]
    assert texts.most_references == 2


def test_conll14_systems_load(data_sets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ERRATA_DATA", str(data_sets))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        systems = load_conll14_systems()
    assert {w.category for w in caught} == {DataWarning}
    assert {
        name for name in ("NTHU", "POST") if any(f"{name}:" in str(w.message) for w in caught)
    } == {"NTHU", "POST"}
    assert " ".join(s.system for s in systems) == (
        "AMU CAMB CUUI IITB INPUT IPN NTHU PKU POST RAC SJTU UFC UMC"
    )
    assert {len(s) for s in systems} == {1312}
    assert not any("\r" in sentence for s in systems for sentence in s.sentences)
    assert [s.sentences for s in load_conll14_systems(check=False)] == [
        s.sentences for s in systems
    ]


@pytest.mark.parametrize("chosen", collections().values(), ids=lambda c: c.name)
def test_every_part_has_its_files(chosen: Collection) -> None:
    for role, members in chosen.members.items():
        assert members, f"no file of the catalogue is {role} of {chosen.name}"
        for member in members:
            assert catalogue()[member.data_set].file(member.file).size > 0
    names = [member.name or Path(member.file).stem for member in chosen.members.get("outputs", ())]
    assert len({*names}) == len(names)


@pytest.mark.parametrize("chosen", collections().values(), ids=lambda c: c.name)
def test_a_corpus_is_gold_or_texts(chosen: Collection) -> None:
    texts = {"source", "references"} & {*chosen.roles}
    assert texts in (set(), {"source", "references"})
    assert not (texts and "gold" in chosen.roles)
    assert "outputs" not in chosen.roles or texts or "gold" in chosen.roles


def test_ten_annotators_in_order() -> None:
    files = [member.file for member in collection("bn15-texts").members["references"]]
    assert files == [f"BN{k}" for k in range(1, 11)]


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(InputError, match="seeda-edit"):
        collection("seeda-edits")


def test_systems_keep_their_names(data_sets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ERRATA_DATA", str(data_sets))
    names = [text.partition("=")[0] for text in role_files(collection("jfleg"), "outputs")]
    assert names == ["kiyono19", "junczys18", "ge18", "junczys16"]
    assert role_files(collection("jfleg"), "judgments") == ()


ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "src/errata/datasets/sample"


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return sample_corpus()


def test_the_gold_file_survives_a_round_trip(corpus: Corpus, tmp_path: Path) -> None:
    write_m2(corpus, tmp_path / "again.m2")
    assert (tmp_path / "again.m2").read_bytes() == (FOLDER / "gold.m2").read_bytes()


def test_reference_texts_are_the_first_two_annotators(corpus: Corpus) -> None:
    texts = sample_texts()
    assert texts.sources == corpus.sources
    for source, edits, plain in zip(
        corpus.sources, corpus.references, texts.references, strict=True
    ):
        assert [r.corrected(source) for r in edits[:2]] == [r.text for r in plain]


def test_judgments_group_identical_outputs() -> None:
    outputs = {system.system: system.sentences for system in sample_systems()}
    for judgment in sample_judgments():
        texts = []
        for group in judgment.groups:
            found = {outputs[name][judgment.sentence] for name in group}
            assert len(found) == 1, judgment
            text = found.pop()
            same = {name for name in outputs if outputs[name][judgment.sentence] == text}
            assert set(group) == same, judgment
            texts.append(text)
        assert len(set(texts)) == len(texts), judgment
        given = {rank for rank in judgment.ranks if rank is not None}
        assert given == set(range(1, len(given) + 1)), judgment
        assert len(judgment.groups) != 1


def test_the_judgments_survive_a_round_trip(tmp_path: Path) -> None:
    write_judgments(sample_judgments(), tmp_path / "again.jsonl")
    again = (tmp_path / "again.jsonl").read_text("utf-8").splitlines()
    lines = (FOLDER / "judgments.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line) for line in again] == [json.loads(line) for line in lines]
