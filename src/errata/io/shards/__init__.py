"""Inputs in many files, or too large for memory: planned as shards, read as batches.

`CorpusFiles` says which files; `plan_shards` cuts them into shards that can be read anywhere,
in any order, each by `read_shard`; `stream_batches` reads them in order without a plan.
"""
