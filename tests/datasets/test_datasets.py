"""The public data sets: catalogue and collections are right; fetching is checked and safe."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from data_server import DataServer, make_folder, serve
from errata.core.errors import DataWarning, InputError
from errata.datasets import (
    fetch,
    load_conll14,
    load_conll14_systems,
    load_conll14_texts,
    sample_corpus,
    sample_texts,
)
from errata.datasets.catalogue import catalogue, data_set, read_catalogue
from errata.datasets.fetch import Collection, collection, collections, role_files
from errata.io import write_m2

LARGE = "deep #1/large.bin"


@pytest.fixture(autouse=True)
def _own_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ERRATA_DATA", raising=False)
    monkeypatch.delenv("ERRATA_DATA_URL", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


class Toy:
    """A made-up data set on a server on loopback."""

    def __init__(self, origin: Path, server: DataServer) -> None:
        self.origin, self.server = origin, server
        self.sets = read_catalogue(origin / "toy.toml")

    def fetch(self, name: str = LARGE, **more: Any) -> Path:
        return fetch.fetch_file("toy", name, sets=self.sets, **more)

    def check(self, name: str) -> str:
        return fetch.check_file(self.sets["toy"], self.sets["toy"].file(name))

    def original(self, name: str) -> Path:
        (path,) = self.origin.glob(f"*/*/*/data/{name}")
        return path

    @property
    def part(self) -> Path:
        """Where a part of the large file is kept."""
        chosen = self.sets["toy"]
        target = fetch.download_folder() / chosen.address(chosen.file(LARGE))
        return target.with_name("large.bin.part")

    def has_large(self, path: Path) -> bool:
        """Whether a file is the large one, and nothing is left beside what was fetched."""
        names = {p.name for p in fetch.download_folder().rglob("*") if p.is_file()}
        known = {".lock", "small.txt", "large.bin"}
        return names <= known and path.read_bytes() == self.original(LARGE).read_bytes()


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Toy]:
    make_folder(tmp_path / "origin")
    with serve(tmp_path / "origin") as server:
        monkeypatch.setenv("ERRATA_DATA_URL", server.url)
        yield Toy(tmp_path / "origin", server)


# The catalogue


def test_the_catalogue_describes_the_real_files(
    data_sets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ERRATA_DATA", str(data_sets))
    for chosen in catalogue().values():
        for file in chosen.files:
            assert fetch.check_file(chosen, file) == "ok", file
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


def test_the_users_folder_is_verified_once(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ERRATA_DATA", str(toy.origin))
    path = toy.fetch("small.txt")
    assert path == toy.original("small.txt")
    assert not fetch.download_folder().exists()
    with monkeypatch.context() as never:
        never.setattr(fetch, "_sha256", None)  # what was verified is not read again
        assert toy.fetch("small.txt") == path
    path.write_bytes(b"changed by the user")
    for _ in range(2):
        with pytest.raises(InputError, match=r"small.txt: the content is not that of small.txt of"):
            toy.fetch("small.txt")
    assert toy.check("small.txt") == "wrong"
    monkeypatch.setenv("ERRATA_DATA_CHECK", "off")
    assert toy.fetch("small.txt") == path
    assert not toy.server.requests
    monkeypatch.setenv("ERRATA_DATA", "no/such/folder")
    with pytest.raises(InputError, match=r"ERRATA_DATA names 'no/such/folder'.*unset it"):
        toy.fetch("small.txt")


def test_downloads_once_and_keeps_it(toy: Toy) -> None:
    assert toy.check("small.txt") == "missing"
    seen: list[tuple[int, int]] = []
    paths = fetch.fetch_data_set("toy", sets=toy.sets, progress=lambda *step: seen.append(step))
    for name, path in paths.items():
        assert path.read_bytes() == toy.original(name).read_bytes()
        assert path.is_relative_to(fetch.download_folder())
        assert toy.check(name) == "ok"
    assert seen == sorted(seen)
    assert seen[-1] == (512006, 512006)
    assert len(toy.server.requests) == 2
    assert fetch.fetch_data_set("toy", sets=toy.sets) == paths
    assert len(toy.server.requests) == 2
    paths[LARGE].write_bytes(paths[LARGE].read_bytes()[:-1] + b"x")
    assert toy.has_large(toy.fetch())  # what is spoilt is fetched again
    assert len(toy.server.requests) == 3


# Downloads that go wrong


def test_a_cut_connection_is_resumed_at_once(toy: Toy) -> None:
    toy.server.cuts = [200_000, 100_000]
    assert toy.has_large(toy.fetch())
    assert [status for _, _, status in toy.server.requests] == [200, 206, 206]
    first, second = (
        int(asked.removeprefix("bytes=").rstrip("-")) for _, asked, _ in toy.server.requests[1:]
    )
    assert 0 < first <= 200_000
    assert first < second <= first + 100_000


@pytest.mark.parametrize("came", [1000, 150_000])
def test_a_download_that_broke_off_goes_on_later(toy: Toy, came: int) -> None:
    toy.server.cuts = [came, 0]
    with pytest.raises(InputError, match="broke off; what came is kept"):
        toy.fetch()
    assert not toy.part.with_suffix("").exists()
    kept = toy.part.stat().st_size
    assert 0 < kept <= came
    assert came > 1000 or kept == came  # so little comes in one piece
    toy.server.cuts = []
    assert toy.has_large(toy.fetch())
    assert toy.server.requests[-1][1:] == (f"bytes={kept}-", 206)


@pytest.mark.slow
@pytest.mark.parametrize("headers", [False, True])
def test_a_slow_server_is_given_up_on(
    toy: Toy, monkeypatch: pytest.MonkeyPatch, headers: bool
) -> None:
    """A byte now and then is an answer in time, for ever; so the whole has a limit."""
    monkeypatch.setenv("ERRATA_DATA_SECONDS", "1")
    toy.server.drip, toy.server.endless_headers = 0.02, headers
    with pytest.raises(InputError, match=r"too slow; what came is kept.*ERRATA_DATA_SECONDS"):
        toy.fetch()
    assert not headers or not toy.part.exists()
    assert headers or 10 < toy.part.stat().st_size < 1000
    monkeypatch.setenv("ERRATA_DATA_SECONDS", "soon")
    with pytest.raises(InputError, match="is not a number of seconds"):
        toy.fetch()


def test_a_server_without_ranges_starts_again(toy: Toy) -> None:
    toy.server.ranges = False
    toy.server.cuts = [300_000]
    assert toy.has_large(toy.fetch())
    assert [status for _, _, status in toy.server.requests] == [200, 200]


@pytest.mark.parametrize("size", [1, 300_000, 512_000, 600_000])
def test_a_false_piece_does_not_spoil_the_file(toy: Toy, size: int) -> None:
    toy.part.parent.mkdir(parents=True)
    toy.part.write_bytes(b"?" * size)
    assert toy.has_large(toy.fetch())


@pytest.mark.parametrize("other", [b"", b"cafe\n\n", b"caf\n", b"x" * 5_000_000])
def test_a_wrong_checksum_names_file_and_remedy(toy: Toy, other: bytes) -> None:
    """An endless file is not downloaded to its end."""
    toy.original("small.txt").write_bytes(other)
    pieces: list[int] = []
    with pytest.raises(InputError, match=r"checksum of small.txt of toy is wrong.*ERRATA_DATA"):
        toy.fetch("small.txt", progress=lambda done, _: pieces.append(done))
    assert not other or max(pieces) <= 6
    assert {p.name for p in fetch.download_folder().rglob("*") if p.is_file()} <= {".lock"}


def test_a_missing_file_says_404(toy: Toy) -> None:
    toy.original("small.txt").unlink()
    with pytest.raises(InputError, match=r"cannot fetch small.txt of toy.*HTTP 404"):
        toy.fetch("small.txt")


def test_offline_says_what_to_set(toy: Toy) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(InputError) as caught:
        toy.fetch(base_url=url)
    assert str(caught.value) == (
        f"cannot fetch {LARGE} of toy from {url}: no connection; set ERRATA_DATA to a folder "
        "laid out OWNER/REPO/COMMIT/PATH, or ERRATA_DATA_URL (--base-url) to a mirror"
    )


@pytest.mark.parametrize("url", ["ftp://example.org", "/some/folder", "http://", "http://[::1"])
def test_a_bad_base_address_is_refused(toy: Toy, url: str) -> None:
    with pytest.raises(InputError, match="ERRATA_DATA"):
        toy.fetch(base_url=url)


def test_a_cache_that_cannot_be_written_is_an_error(
    toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ERRATA_CACHE", str(toy.origin / "toy.toml"))
    with pytest.raises(InputError, match="set ERRATA_CACHE to a folder"):
        toy.fetch()


@pytest.mark.slow
def test_processes_at_once_download_one_time(toy: Toy) -> None:
    toy.server.cuts = [100_000]
    program = (
        "import sys; from errata.datasets import fetch; "
        "from errata.datasets.catalogue import read_catalogue; "
        f"print(fetch.fetch_file('toy', {LARGE!r}, sets=read_catalogue(sys.argv[1])))"
    )
    started = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(toy.origin / "toy.toml")],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    ended = [process.communicate(timeout=60) for process in started]
    assert [errors for _, errors in ended] == ["", "", ""]
    (path,) = {output.strip() for output, _ in ended}
    assert toy.has_large(Path(path))
    assert [status for _, _, status in toy.server.requests] == [200, 206]


# The real sets


def test_conll14_loads(data_sets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ERRATA_DATA", str(data_sets))
    gold, texts = load_conll14(), load_conll14_texts()
    assert (len(gold), gold.most_references, gold.name) == (1312, 2, "conll14")
    assert [s.split() for s in texts.sources] == [s.split() for s in gold.sources]
    assert texts.most_references == 2


def test_conll14_systems_load(data_sets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ERRATA_DATA", str(data_sets))
    with pytest.warns(DataWarning, match="NTHU:"), pytest.warns(DataWarning, match="POST:"):
        systems = load_conll14_systems()
    names = "AMU CAMB CUUI IITB INPUT IPN NTHU PKU POST RAC SJTU UFC UMC"
    assert [system.system for system in systems] == names.split()
    assert {len(system) for system in systems} == {1312}
    assert not any("\r" in sentence for system in systems for sentence in system.sentences)
    unchecked = load_conll14_systems(check=False)
    assert [s.sentences for s in unchecked] == [s.sentences for s in systems]


@pytest.mark.parametrize("chosen", collections().values(), ids=lambda c: c.name)
def test_every_part_has_its_files(chosen: Collection) -> None:
    for role, members in chosen.members.items():
        assert members, f"no file of the catalogue is {role} of {chosen.name}"
        for member in members:
            assert catalogue()[member.data_set].file(member.file).size > 0
    names = [member.name or Path(member.file).stem for member in chosen.members.get("outputs", ())]
    assert len({*names}) == len(names)
    texts = {"source", "references"} & {*chosen.roles}
    assert texts in (set(), {"source", "references"})  # a corpus is gold or texts
    assert not (texts and "gold" in chosen.roles)
    assert "outputs" not in chosen.roles or texts or "gold" in chosen.roles


def test_collections_by_name() -> None:
    files = [member.file for member in collection("bn15-texts").members["references"]]
    assert files == [f"BN{k}" for k in range(1, 11)]
    with pytest.raises(InputError, match="seeda-edit"):
        collection("seeda-edits")


def test_systems_keep_their_names(data_sets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ERRATA_DATA", str(data_sets))
    names = [text.partition("=")[0] for text in role_files(collection("jfleg"), "outputs")]
    assert names == ["kiyono19", "junczys18", "ge18", "junczys16"]
    assert role_files(collection("jfleg"), "judgments") == ()


ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "src/errata/datasets/sample"


def test_the_gold_of_the_sample_is_that_of_its_texts(tmp_path: Path) -> None:
    corpus, texts = sample_corpus(), sample_texts()
    write_m2(corpus, tmp_path / "again.m2")
    assert (tmp_path / "again.m2").read_bytes() == (FOLDER / "gold.m2").read_bytes()
    assert texts.sources == corpus.sources
    for source, edits, plain in zip(
        corpus.sources, corpus.references, texts.references, strict=True
    ):
        assert [r.corrected(source) for r in edits[:2]] == [r.text for r in plain]
