"""Inputs in many files, or too large for memory: planned as shards, read as batches.

`ShardedInputs` says which files; `plan_shards` cuts them into shards that can be read anywhere,
in any order, each by `read_shard`; `stream_batches` reads them in order without a plan.
"""

from errata.io.shards.corpus_batches import BATCH, CorpusBatch
from errata.io.shards.cutting import cut_shards, plan_shards
from errata.io.shards.named import Piece, Shard, ShardedInputs
from errata.io.shards.reading import read_shard, stream_batches

__all__ = [
    "BATCH",
    "CorpusBatch",
    "Piece",
    "Shard",
    "ShardedInputs",
    "cut_shards",
    "plan_shards",
    "read_shard",
    "stream_batches",
]
