"""Typed tables in six forms; they know no result type."""
