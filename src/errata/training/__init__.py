"""Learned metrics trained on data that the user has: recipes, not weights."""
