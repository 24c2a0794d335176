"""The CoNLL-2014 test set as text: source, two reference texts, the outputs of 13 systems."""

import csv
import gzip
import warnings
from functools import lru_cache
from pathlib import Path

from errata.core.errors import DataWarning
from errata.data import Corpus, Hypotheses
from errata.io import read_corpus, read_hypotheses

SYSTEMS = (
    *("AMU", "CAMB", "CUUI", "IITB", "IPN", "NTHU", "PKU", "POST", "RAC", "SJTU", "UFC", "UMC"),
    "INPUT",
)


@lru_cache(maxsize=1)
def read_conll(conll14: Path, submissions: Path) -> tuple[Corpus, tuple[Hypotheses, ...]]:
    """Corpus and outputs; what the reader warns of (CRLF, an empty line) is known."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        corpus = read_corpus(
            source=conll14 / "conll14st-test.tok.src",
            references=[conll14 / "refs" / f"conll14st-test.tok.trg{k}" for k in (0, 1)],
        )
        return corpus, tuple(read_hypotheses(submissions / name) for name in SYSTEMS)


def read_table(path: Path) -> list[dict[str, str]]:
    """The rows of a TSV file with a header, packed or not."""
    data = path.read_bytes()
    text = gzip.decompress(data) if path.suffix == ".gz" else data
    return list(csv.DictReader(text.decode().splitlines(), delimiter="\t"))
