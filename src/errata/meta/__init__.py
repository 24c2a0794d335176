"""Metrics against people: correlations, tests, sentence level, and the references themselves."""
