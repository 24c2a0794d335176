"""Inputs in many files, or too large for memory: planned as shards, read as batches.

`CorpusFiles` says which files; `plan_shards` cuts them into shards that can be read anywhere,
in any order, each by `read_shard`; `stream_batches` reads them in order without a plan.
"""

from errata.io.corpus import CorpusFiles
from errata.io.shards.batches import BATCH, CorpusBatch, read_shard, stream_batches
from errata.io.shards.inputs import Piece, Shard
from errata.io.shards.plan import cut_shards, plan_shards

__all__ = [
    "BATCH",
    "CorpusBatch",
    "CorpusFiles",
    "Piece",
    "Shard",
    "cut_shards",
    "plan_shards",
    "read_shard",
    "stream_batches",
]
