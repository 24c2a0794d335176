"""Campaigns of human judgments: their design, tasks, answers and files.

Everything here is pure but `errata.collect.files` and `errata.collect.planning`, which read files;
the server is `errata.collect.web`. The same design, texts and seed give the same items.
"""
