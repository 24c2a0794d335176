"""Plan inputs in many files, or too large for memory, as shards, and read them as batches.

`plan_shards` cuts `CorpusFiles` into shards, which `read_shard` reads anywhere, in any order;
`stream_batches` reads them in order without a plan.
"""
