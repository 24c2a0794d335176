"""The published tables of the field, recomputed from the raw files and put beside the print."""
