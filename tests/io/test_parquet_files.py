"""What is said of Parquet is said in the same words, whatever the table is for."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from errata.core.errors import ErrataError, InputError, MissingExtraError
from errata.io.corpus import CorpusFiles
from errata.io.shards.parquet import check_parquet
from errata.io.shards.plan import plan_shards
from errata.io.stored_scores import read_sentence_tables, write_sentence_table


def refusal(kind: type[ErrataError], read: Callable[[str], object], path: str) -> ErrataError:
    with pytest.raises(kind) as raised:
        read(path)
    return raised.value


def sharded(path: str) -> object:
    return plan_shards(CorpusFiles(parquet=path))


def written(path: str) -> object:
    return write_sentence_table(Path(path), "A", "F0.5", "m2", [])


def test_that_pyarrow_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.parquet"
    path.write_bytes(b"PAR1")
    said = "pyarrow, which reads and writes Parquet, is not installed; run: pip install "
    for missing in ("pyarrow.parquet", "pyarrow"):
        monkeypatch.setitem(sys.modules, missing, None)
        for read in (sharded, read_sentence_tables, written):
            refused = refusal(MissingExtraError, read, str(path))
            assert str(refused) == f"{said}'errata-gec[parquet]'"


@pytest.mark.parametrize("content", [b"", b"id,source\n1,a\n", b"PAR1" + bytes(8) + b"PAR1"])
def test_that_a_file_is_no_parquet(content: bytes, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    path = tmp_path / "x.parquet"
    path.write_bytes(content)
    one, other = (refusal(InputError, read, str(path)) for read in (sharded, read_sentence_tables))
    assert isinstance(one, InputError)
    assert isinstance(other, InputError)
    assert one.problem.startswith("this is no Parquet file: ")
    assert (one.problem, one.path) == (other.problem, other.path)
    assert one.remedy != other.remedy  # of each what it wants


def test_what_the_system_says_of_a_file_stays(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    refused = refusal(InputError, read_sentence_tables, str(tmp_path / "x.parquet"))
    assert "cannot read the file: No such file" in str(refused)
    with pytest.raises(TimeoutError), check_parquet("s3://x/y.parquet", "name another"):
        raise TimeoutError  # of a store, without a number of the system
