"""Errors, parameters, registries, threads, caches and statistics; imports nothing of Errata."""
