"""The published tables of the field, recomputed from the raw files and put beside the print."""

from errata.reproduce.run import Cell, FindingResult, Reproduction, TableResult, reproduce

__all__ = ["Cell", "FindingResult", "Reproduction", "TableResult", "reproduce"]
