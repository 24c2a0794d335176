"""Runs of any size: a folder with a plan, one result file per metric, system and shard, a result.

A task is a pure function from an entry of the plan to files that appear whole, so a run may be
driven by a loop, by processes, by Dask or by the array jobs of a cluster; killed anywhere, it goes
on when the same command is given again. See `docs/scale.md`.
"""
