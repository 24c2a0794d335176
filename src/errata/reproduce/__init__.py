"""The published tables of the field, recomputed from the raw files and put beside the print."""

from errata.reproduce.run import CellResult, ClaimResult, Reproduction, TableResult, reproduce

__all__ = ["CellResult", "ClaimResult", "Reproduction", "TableResult", "reproduce"]
